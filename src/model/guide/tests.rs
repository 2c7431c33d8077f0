//! The guide in conversation: messages and results in, replies out.

use futures_util::FutureExt;

use super::*;
use avocet_core::i18n::{agent, guide as words_of};

fn results(wish: &str, results: &[Value]) -> Vec<Message> {
    let mut messages = vec![Message::system("The protocol."), Message::user(wish)];
    for result in results {
        messages.push(Message::assistant("{\"type\":\"cmd\"}"));
        messages.push(Message::user(result.to_string()));
        messages.push(Message::user(json!({ "_event": "continue" }).to_string()));
    }
    messages
}

fn reply(wish: &str, so_far: &[Value]) -> Value {
    answer(&results(wish, so_far), Lang::En)
}

fn result(line: &str, exit: i64, stdout: &str) -> Value {
    let mut words = line.split(' ');
    json!({
        "_event": "tool_result", "tool": "cmd", "id": "cmd_001", "cwd": "/w",
        "program": words.next(), "args": words.collect::<Vec<_>>(),
        "exitCode": exit, "durationMs": 3, "stdoutTail": stdout, "stderrTail": "",
        "truncated": false, "parsed": null,
        "risk": { "tier": "L0", "rule": "r", "reason": "because" }, "outcome": "ran",
    })
}

fn not_run(line: &str, outcome: &str) -> Value {
    let mut value = result(line, 0, "");
    value["exitCode"] = Value::Null;
    value["outcome"] = json!(outcome);
    value
}

/// The proposed commands, one per line; empty for an answer.
fn lines(reply: &Value) -> Vec<String> {
    let commands = reply["data"]["commands"].as_array().cloned().unwrap_or_default();
    let line = |command: &Value| {
        let args = command["args"].as_array().cloned().unwrap_or_default();
        let args = args.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        format!("{} {args}", command["program"].as_str().unwrap_or_default()).trim_end().to_owned()
    };
    commands.iter().map(line).collect()
}

fn message_of(reply: &Value) -> &str {
    assert_eq!(reply["type"], "chat", "{reply}");
    reply["message"].as_str().unwrap_or_default()
}

#[test]
fn each_request_begins_with_its_steps() {
    let cases: &[(&str, &[&str])] = &[
        ("what changed?", &["git status --short --branch", "git diff --stat"]),
        ("recent commits", &["git log --oneline -n 15"]),
        ("find TODO", &["rg -n TODO ."]),
        ("find 'a.b(' in src", &["rg -n -F a.b( src"]),
        ("find '-x' in src", &["rg -n -- -x src"]),
        ("show src/lib.rs", &["head -n 200 src/lib.rs"]),
        ("show src/lib.rs:5-9", &["sed -n 5,9p src/lib.rs"]),
        ("list the files", &["ls"]),
        ("list the files in src", &["ls src"]),
        ("count lines of src/lib.rs", &["wc -l src/lib.rs"]),
        ("how many lines?", &["git ls-files"]),
        ("run the tests", &["ls"]),
        ("run git commit -m x", &["git commit -m x"]),
    ];
    for (wish, expected) in cases {
        assert_eq!(lines(&reply(wish, &[])), *expected, "{wish}");
    }
}

#[test]
fn a_reply_is_the_protocol_and_comes_in_small_pieces() {
    let guide = Guide::new(Lang::Zh);
    let request = Request { messages: results("改了什么？", &[]), ..Request::default() };
    let chunks = guide.stream(request).collect::<Vec<_>>().now_or_never().unwrap_or_default();
    assert!(chunks.len() > 5);
    assert_eq!(chunks.last(), Some(&Ok(Chunk::Finished(None))));
    let text: String = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Ok(Chunk::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(value["type"], "cmd");
    assert_eq!(value["message"], words_of::WHY_CHANGES.zh);
    assert_eq!(value["data"]["cwd"], Value::Null);
    assert_eq!(value["data"]["commands"][0]["requires"]["confirm"], false);
}

#[test]
fn changes_are_summarised() {
    let status =
        result("git status --short --branch", 0, "## main...origin/main\n M src/a.rs\n?? b\n");
    let stat = result("git diff --stat", 0, " src/a.rs | 2 +-\n 1 file changed, 1 insertion(+)\n");
    let answer = reply("what changed?", &[status.clone(), stat]);
    assert!(message_of(&answer).starts_with("**2 changed** on `main`:"), "{answer}");
    assert!(message_of(&answer).ends_with("1 file changed, 1 insertion(+)"), "{answer}");
    assert_eq!(answer["data"]["suggestions"][0], "Show src/a.rs");
    let clean = result("git status --short --branch", 0, "## main\n");
    assert_eq!(message_of(&reply("what changed?", &[clean])), words_of::CLEAN.en);
}

#[test]
fn a_folder_without_git_is_recognised() {
    let mut status = result("git status --short --branch", 128, "");
    status["stderrTail"] = json!("fatal: not a git repository (or any of the parents)");
    let answer = reply("what changed?", &[status]);
    assert_eq!(message_of(&answer), words_of::NO_REPOSITORY.en);
}

#[test]
fn matches_are_shown_as_parsed_or_from_the_output() {
    let printed = result("rg -n TODO .", 0, "./src/a.rs:3:  // TODO: x\n./src/a.rs:9:y\n");
    let mut parsed = result("rg -n TODO .", 0, "");
    let item = json!({ "file": "src/a.rs", "line": 3, "text": "  // TODO: x" });
    parsed["parsed"] = json!({ "kind": "search_matches", "total": 2, "items": [item] });
    let heads = [
        (printed, "Found `TODO` on **2 lines** in 1 file:"),
        (parsed, "Found `TODO` on **2 lines**; here are the first:"),
    ];
    for (finding, head) in heads {
        let answer = reply("find TODO", &[finding]);
        let expected = format!("{head}\n\n```\nsrc/a.rs:3: // TODO: x");
        assert!(message_of(&answer).starts_with(&expected), "{answer}");
        assert_eq!(answer["data"]["suggestions"][0], "Show src/a.rs:1-13");
    }
    let nothing = reply("find TODO", &[result("rg -n TODO .", 1, "")]);
    assert_eq!(message_of(&nothing), "`TODO` was not found here.");
}

#[test]
fn grep_searches_where_rg_is_unavailable() {
    for finding in [not_run("rg -n TODO .", "refused"), not_run("rg -n TODO .", "ran")] {
        let second = reply("find TODO", std::slice::from_ref(&finding));
        assert_eq!(lines(&second), ["grep -rn TODO ."]);
        let third = reply("find TODO", &[finding, not_run("grep -rn TODO .", "refused")]);
        assert_eq!(message_of(&third), "`grep -rn TODO .` was refused: because");
    }
}

#[test]
fn a_file_is_shown_in_a_fence_it_cannot_close() {
    let read = result("head -n 200 a.md", 0, "# Title\n```sh\nls\n```\n");
    let answer = reply("show a.md", &[read]);
    assert_eq!(message_of(&answer), "`a.md`:\n\n````md\n# Title\n```sh\nls\n```\n````");
}

#[test]
fn a_missing_file_is_searched_by_name() {
    let missing = result("head -n 200 main.rs", 1, "");
    assert_eq!(
        lines(&reply("show main.rs", std::slice::from_ref(&missing))),
        ["find . -name main.rs"]
    );
    let found = result("find . -name main.rs", 0, "./src/main.rs\n");
    let answer = reply("show main.rs", &[missing.clone(), found]);
    assert_eq!(answer["data"]["suggestions"], json!(["Show src/main.rs"]));
    let nothing = result("find . -name main.rs", 0, "");
    assert_eq!(
        message_of(&reply("show main.rs", &[missing, nothing])),
        "There is no `main.rs` here."
    );
}

#[test]
fn lines_are_counted_in_the_files_of_a_kind() {
    let mut files = result("git ls-files", 0, "");
    files["parsed"] =
        json!({ "kind": "file_list", "total": 3, "items": ["a.rs", { "path": "b.rs" }, "c.md"] });
    let second = reply("how many lines of rust?", &[files.clone()]);
    assert_eq!(lines(&second), ["wc -l a.rs b.rs"]);
    let counts = result("wc -l a.rs b.rs", 0, "   3 a.rs\n  40 b.rs\n  43 total\n");
    let answer = reply("how many lines of rust?", &[files, counts]);
    assert!(message_of(&answer).starts_with("**43 lines** in 2 files."), "{answer}");
    assert!(message_of(&answer).contains("     40  b.rs\n      3  a.rs"), "{answer}");
}

#[test]
fn the_test_command_depends_on_the_files_in_the_folder() {
    let cases = [
        ("Cargo.toml\nsrc\n", "cargo test"),
        ("package.json\n", "npm test"),
        ("go.mod\n", "go test ./..."),
        ("pyproject.toml\n", "python3 -m pytest"),
    ];
    for (listing, line) in cases {
        let listing = result("ls", 0, listing);
        assert_eq!(lines(&reply("run the tests", std::slice::from_ref(&listing))), [line]);
        let passed = reply("run the tests", &[listing.clone(), result(line, 0, "ok")]);
        assert!(
            message_of(&passed).starts_with(&format!("The tests passed (`{line}`).")),
            "{passed}"
        );
        let failed = reply("run the tests", &[listing, result(line, 101, "1 failed")]);
        assert!(
            message_of(&failed).contains("ended with 101")
                && message_of(&failed).contains("1 failed")
        );
    }
    assert_eq!(
        message_of(&reply("run the tests", &[result("ls", 0, "x\n")])),
        words_of::NO_TESTS.en
    );
}

#[test]
fn a_rejected_step_is_acknowledged() {
    let listing = result("ls", 0, "Cargo.toml\n");
    let mut declined = not_run("cargo test", "declined");
    declined["note"] = json!(agent::DECLINED.en);
    let answer = reply("run the tests", &[listing.clone(), declined.clone()]);
    assert_eq!(message_of(&answer), "OK, `cargo test` was not run.");
    declined["note"] = json!(agent::DECLINED_WORD.with("word", "not now").text(Lang::En));
    let answer = reply("run the tests", &[listing, declined]);
    assert!(message_of(&answer).ends_with("was not run. You said: not now"), "{answer}");
}

#[test]
fn hidden_files_are_not_counted_as_code() {
    let files = result("git ls-files", 0, ".env\n.github/ci.yml\na.rs\nb/.keep\n");
    let second = reply("how many lines of code?", std::slice::from_ref(&files));
    assert_eq!(lines(&second), ["wc -l a.rs"]);
    let counts = result("wc -l a.rs", 0, "3 a.rs\n");
    let answer = reply("how many lines of code?", &[files, counts]);
    assert_eq!(message_of(&answer), "**3 lines** in 1 file.");
}

#[test]
fn the_step_that_ended_a_list_is_named() {
    let results = [
        not_run("git status --short --branch", "declined"),
        not_run("git diff --stat", "cancelled"),
    ];
    let answer = reply("what changed?", &results);
    let expected = "`git status --short --branch` was not run";
    assert!(message_of(&answer).contains(expected), "{answer}");
}

#[test]
fn all_results_in_one_message_are_read() {
    let both = [
        result("git status --short --branch", 0, "## main\n").to_string(),
        result("git diff --stat", 0, "").to_string(),
        json!({ "_event": "continue" }).to_string(),
    ];
    for glue in ["\n", "", "\n\n"] {
        let messages = [Message::user("what changed?"), Message::user(both.join(glue))];
        assert_eq!(message_of(&answer(&messages, Lang::En)), words_of::CLEAN.en);
    }
    let messages =
        [Message::user("what changed?"), Message::user(format!("Results:\n{}", both.join("\n")))];
    assert_eq!(message_of(&answer(&messages, Lang::En)), words_of::CLEAN.en);
}

#[test]
fn an_earlier_turn_does_not_count() {
    let mut messages = results("run the tests", &[result("ls", 0, "Cargo.toml")]);
    messages.push(Message::assistant("done"));
    messages.push(Message::user("list the files"));
    assert_eq!(lines(&answer(&messages, Lang::En)), ["ls"]);
}

#[test]
fn the_guide_understands_every_suggestion() {
    let offers = avocet_core::i18n::all().filter(|word| word.key.starts_with("guide.TRY_"));
    let mut count = 0;
    for word in offers {
        for lang in [Lang::En, Lang::Zh] {
            let wish = word.with("file", "src/a.rs:1-2").text(lang);
            assert_ne!(intent::parse_intent(&wish), intent::GuideIntent::Other, "{wish}");
            count += 1;
        }
    }
    assert!(count > 10);
}

#[test]
fn it_says_that_it_is_not_a_model() {
    for wish in ["hello", "help", "write me a poem", ""] {
        for lang in [Lang::En, Lang::Zh] {
            let answer = answer(&[Message::user(wish)], lang);
            let label =
                if lang == Lang::En { "not a language model" } else { "不是语言模型" };
            assert!(message_of(&answer).contains(label), "{answer}");
        }
    }
}

#[test]
fn every_turn_ends() {
    for wish in
        ["what changed?", "find x", "show a.rs", "how many lines?", "run the tests", "run x"]
    {
        for (exit, stdout) in [(0, "Cargo.toml\na.rs\n"), (1, ""), (127, "")] {
            let mut so_far = Vec::new();
            for _ in 0..4 {
                let next = reply(wish, &so_far);
                so_far.extend(lines(&next).iter().map(|line| result(line, exit, stdout)));
            }
            assert_eq!(reply(wish, &so_far)["type"], "chat", "{wish} {exit}");
        }
    }
}

#[test]
fn malformed_results_are_survived() {
    for event in [
        json!({ "_event": "tool_result" }),
        json!({ "_event": "tool_result", "args": 3, "parsed": [], "exitCode": "x", "risk": null }),
        json!({ "_event": 7 }),
    ] {
        for wish in ["what changed?", "find x", "show a.rs", "how many lines?", "run the tests"] {
            let answer = reply(wish, &[event.clone(), event.clone()]);
            assert!(answer["message"].is_string());
        }
    }
}

#[test]
fn the_guide_and_the_readme_begin_with_the_same_local_model() {
    let readme = include_str!("../../../README.md");
    for lang in [Lang::En, Lang::Zh] {
        let connect = avocet_core::i18n::guide::CONNECT.text(lang);
        let pulled = connect.lines().find(|line| line.starts_with("ollama pull")).unwrap();
        assert!(readme.contains(&format!("`{pulled}`")), "{pulled}");
    }
}
