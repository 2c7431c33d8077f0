//! Conversations of other clients, copied by the program and gone on with.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::native_tools::{says, text};
use crate::support::bench::TestDir;
use crate::support::server::Server;

const SECRET: &str = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c";

fn run(bench: &TestDir, args: &[&str]) -> Output {
    let claude = bench.path("claude");
    bench
        .command(args)
        .env("CLAUDE_CONFIG_DIR", claude)
        .env("CODEX_HOME", bench.path("codex"))
        .output()
        .unwrap()
}

/// A conversation of Claude Code in the working folder.
fn write_claude(bench: &TestDir) {
    let line = |uuid: &str, parent: Option<&str>, role: &str, content: Value| {
        json!({
            "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "cwd": bench.work(),
            "timestamp": "2026-10-01T10:00:00Z", "message": { "role": role, "content": content },
        })
        .to_string()
    };
    let call = json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "cat key.txt" } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t1", "content": format!("OPENAI_API_KEY={SECRET}") }]);
    let lines = [
        line("u1", None, "user", json!("What is in the zebra file?\u{1b}]0;evil\u{7}")),
        line("a1", Some("u1"), "assistant", call),
        line("r1", Some("a1"), "user", result),
        line("a2", Some("r1"), "assistant", json!([{ "type": "text", "text": "A striped key." }])),
        "{\"type\":\"assistant\",\"uu".to_owned(),
    ];
    let folder = bench.path("claude/projects/-w");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("s-1.jsonl"), lines.join("\n")).unwrap();
}

#[test]
fn a_conversation_is_shown_first_then_copied_once_and_gone_on_with() {
    let bench = TestDir::new();
    write_claude(&bench);
    let shown = run(&bench, &["import", "claude", "--dry-run"]);
    let said = text(&shown.stdout);
    assert!(said.contains("zebra") && said.contains("1 message, 1 step"), "{said}");
    assert!(
        said.contains("1 line or part that cannot be read") && !said.contains('\u{1b}'),
        "{said}"
    );
    assert!(text(&run(&bench, &["session", "list"]).stdout).trim().lines().count() <= 1);

    let unsure = run(&bench, &["import", "claude"]);
    assert!(text(&unsure.stderr).contains("--yes"), "{}", text(&unsure.stderr));
    let done = run(&bench, &["import", "claude", "--yes"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let again = run(&bench, &["import", "claude", "--yes"]);
    assert!(text(&again.stderr).contains("copied before"), "{}", text(&again.stderr));

    let listed = run(&bench, &["--json", "session", "list"]);
    let listed = text(&listed.stdout);
    assert_eq!(listed.matches("zebra").count(), 1, "{listed}");
    let server = Server::start(vec![says("Still striped.")]);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "gpt-4o", "-c", "-p", "and now?"];
    let went_on = run(&bench, &args);
    assert!(went_on.status.success(), "{}", text(&went_on.stderr));
    let body = &server.requests()[0].body;
    for expected in ["What is in the zebra file?", "cat key.txt", "A striped key.", "and now?"] {
        assert!(body.contains(expected), "{expected}: {body}");
    }
    assert!(!body.contains(SECRET) && !body.contains("\\u001b"), "{body}");
}

#[test]
fn a_client_without_conversations_is_told_in_a_sentence() {
    let bench = TestDir::new();
    let none = run(&bench, &["import", "codex"]);
    assert!(text(&none.stderr).contains("No conversation of `codex`"), "{}", text(&none.stderr));
    assert!(none.status.success());
}
