use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use avocet_core::i18n::{Lang, Localize};
use avocet_core::protocol::{Requires, Step, StepAction};

use super::permissions::permissions_of;
use super::*;

fn folders(root: &Path) -> HookFolders {
    let home = root.join("home");
    let workspace = root.join("work");
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&workspace).unwrap();
    let settings = root.join("avocet/config.toml");
    HookFolders { config_home: home.join(".config"), home, settings, workspace }
}

fn write(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn group(matcher: &str, command: &str) -> Value {
    json!([{ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }])
}

fn hook(matcher: &str) -> Hook {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let text = json!({ "hooks": { "PreToolUse": group(matcher, "true") } }).to_string();
    write(root.path(), "home/.claude/settings.json", &text);
    read_hooks(&folders, true).files.remove(0).hooks.remove(0)
}

fn step(work: StepAction) -> Step {
    Step { id: "cmd_001".to_owned(), work, requires: Requires::default(), cwd: None }
}

fn tool(name: &str, input: Value) -> StepAction {
    StepAction::Tool { name: name.to_owned(), input }
}

#[test]
fn hooks_are_read_from_the_files_of_four_programs_in_two_places() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let table = |command: &str| json!({ "hooks": { "Stop": group("", command) } }).to_string();
    write(root.path(), "home/.claude/settings.json", &table("a"));
    write(root.path(), "home/.codex/hooks.json", &table("b"));
    let flat = json!({ "hooks": { "Stop": [{ "command": "c" }] } }).to_string();
    write(root.path(), "home/.config/crush/crush.json", &flat);
    let own = "[[hooks.Stop]]\nmatcher = \"\"\ncommand = \"d\"\ntimeout = 5\n";
    write(root.path(), "avocet/config.toml", own);
    write(root.path(), "work/.claude/settings.local.json", &table("e"));
    let commands = |read: &HookFiles| -> Vec<String> {
        read.files.iter().flat_map(|file| &file.hooks).map(|hook| hook.command.clone()).collect()
    };
    let read = read_hooks(&folders, true);
    assert_eq!(read.diagnostics, []);
    assert_eq!(commands(&read), ["d", "a", "b", "c", "e"]);
    assert_eq!(commands(&read_hooks(&folders, false)), ["d", "a", "b", "c"]);
    assert_eq!(read.files[0].hooks[0].timeout.as_secs(), 5);
    assert!(read.files[4].origin.is_from_repository && !read.files[3].origin.is_from_repository);
}

#[test]
fn hooks_beside_the_settings_of_codex_and_gemini_are_read_or_named() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let codex =
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"a\"\n[hooks.state.x]\nhash = 1\n";
    write(root.path(), "home/.codex/config.toml", codex);
    let mut gemini = json!({ "hooks": {
        "disabled": ["x"],
        "BeforeTool": group("write_file", "b"),
        "SessionEnd": [{ "hooks": [{ "command": "c", "timeout": 5000 }] }],
    } });
    write(root.path(), "work/.gemini/settings.json", &gemini.to_string());
    let read = read_hooks(&folders, true);
    let hooks: Vec<_> = read.files.iter().flat_map(|file| &file.hooks).collect();
    let commands: Vec<&str> = hooks.iter().map(|hook| hook.command.as_str()).collect();
    assert_eq!((commands, hooks[1].timeout.as_secs()), (vec!["a", "c"], 5));
    let [fault] = &read.diagnostics[..] else { panic!("{:?}", read.diagnostics) };
    assert!(fault.localized().text(Lang::En).contains("`BeforeTool`"));
    gemini["hooksConfig"] = json!({ "enabled": false });
    write(root.path(), "work/.gemini/settings.json", &gemini.to_string());
    assert_eq!(read_hooks(&folders, true).files.len(), 1);
}

#[test]
fn what_is_not_used_is_said_with_its_reason() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let prompt = json!([{ "hooks": [{ "type": "prompt", "prompt": "x" }] }]);
    let conditional =
        json!([{ "hooks": [{ "type": "command", "command": "x", "if": "Bash(x)" }] }]);
    let text = json!({ "hooks": {
        "TeammateIdle": group("", "x"),
        "Stop": prompt,
        "PreToolUse": group("(", "x"),
        "PostToolUse": conditional,
        "PreCompact": group("", " "),
    } });
    write(root.path(), "home/.claude/settings.json", &text.to_string());
    write(root.path(), "home/.codex/hooks.json", "{ no");
    let read = read_hooks(&folders, true);
    assert_eq!(read.files, []);
    let said: Vec<String> =
        read.diagnostics.iter().map(|fault| fault.localized().text(Lang::En)).collect();
    let said = said.join("\n");
    for part in ["TeammateIdle", "`prompt`", "`(`", "`if`", "no command", "hooks.json"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn matchers_made_to_take_long_are_not_compiled_and_faults_have_an_end() {
    let root = tempfile::tempdir().unwrap();
    let one = json!({ "matcher": "(a{999}){99}", "hooks": [{ "command": "x" }] });
    let unknown: serde_json::Map<String, serde_json::Value> =
        (0..500).map(|n| (format!("Event{n}"), json!([]))).collect();
    for hooks in [json!({ "PreToolUse": vec![one; 3000] }), json!(unknown)] {
        let text = json!({ "hooks": hooks }).to_string();
        write(root.path(), "work/.claude/settings.json", &text);
        let read = read_hooks(&folders(root.path()), true);
        assert_eq!(read.files, []);
        assert!((100..=101).contains(&read.diagnostics.len()), "{}", read.diagnostics.len());
    }
}

#[test]
fn another_command_or_script_is_another_content() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let hash = |command: &str| {
        let text = json!({ "hooks": { "Stop": group("", command) } }).to_string();
        write(root.path(), "work/.claude/settings.json", &text);
        read_hooks(&folders, true).files.remove(0)
    };
    write(root.path(), "work/check.sh", "exit 0");
    let before = hash("\"$CLAUDE_PROJECT_DIR\"/check.sh --all");
    assert_ne!(before.hash, hash("./check.sh").hash);
    assert!(before.is_unchanged(&folders));
    write(root.path(), "work/check.sh", "exit 1");
    assert!(!before.is_unchanged(&folders));
    assert_ne!(before.hash, hash("\"$CLAUDE_PROJECT_DIR\"/check.sh --all").hash);
    // What a script takes in runs with it.
    write(root.path(), "work/check.sh", ". ./lib.sh");
    write(root.path(), "work/lib.sh", "exit 0");
    let before = hash("./check.sh");
    write(root.path(), "work/lib.sh", "exit 1");
    assert!(!before.is_unchanged(&folders));
}

#[test]
fn a_script_that_changes_counts_whatever_its_name_its_place_in_the_command_and_its_length() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let others: String = (0..20).map(|n| format!(" ./data{n}")).collect();
    for n in 0..20 {
        write(root.path(), &format!("work/data{n}"), "");
    }
    for (command, filler) in [
        ("sh run".to_owned(), 0),
        (format!("cat{others}; sh ./run"), 0),
        ("./run".to_owned(), 2 << 20),
    ] {
        let text = json!({ "hooks": { "Stop": group("", &command) } }).to_string();
        write(root.path(), "work/.claude/settings.json", &text);
        let script = |end: &str| write(root.path(), "work/run", &("#".repeat(filler) + "\n" + end));
        script("exit 0");
        let file = read_hooks(&folders, true).files.remove(0);
        assert!(file.is_unchanged(&folders), "{command}");
        script("exit 1");
        assert!(!file.is_unchanged(&folders), "{command}");
    }
}

#[test]
fn a_matcher_is_a_name_several_or_a_pattern() {
    let exec = step(StepAction::exec("ls", &[]));
    let write = step(tool("file.write", json!({ "path": "a", "content": "" })));
    let remote = step(tool("mcp.git.log", json!({})));
    for (matcher, step, follows) in [
        ("", &exec, true),
        ("*", &exec, true),
        ("Bash", &exec, true),
        ("bash", &exec, true),
        ("exec", &exec, true),
        ("Bas", &exec, false),
        ("Edit|Write", &exec, false),
        ("Edit|Write", &write, true),
        ("Edit, Write", &write, true),
        ("^(Write|Edit)$", &write, true),
        ("file.write", &write, true),
        ("mcp__git__.*", &remote, true),
        ("mcp__git__log", &remote, true),
        ("mcp__hub__.*", &remote, false),
    ] {
        let call = HookCall::of_step(HookEvent::PreToolUse, step, Path::new("/w"));
        assert_eq!(call.is_for(&hook(matcher)), follows, "{matcher} {:?}", step.work);
    }
}

#[test]
fn a_step_is_told_in_the_names_of_claude_code_and_read_back() {
    let session = HookSession::default();
    let cases = [
        (StepAction::exec("bash", &["-lc", "ls | wc"]), "Bash", json!({ "command": "ls | wc" })),
        (StepAction::exec("ls", &["a b"]), "Bash", json!({ "command": "ls 'a b'" })),
        (
            tool("file.read", json!({ "path": "a", "from": 3 })),
            "Read",
            json!({ "file_path": "/w/a", "offset": 3 }),
        ),
        (
            tool("file.edit", json!({ "path": "a", "edits": [{ "old": "x", "new": "y" }] })),
            "Edit",
            json!({ "file_path": "/w/a", "old_string": "x", "new_string": "y" }),
        ),
        (
            tool("file.search", json!({ "query": "x", "path": "src" })),
            "Grep",
            json!({ "pattern": "x", "path": "/w/src" }),
        ),
        (tool("mcp.git.log", json!({ "n": 1 })), "mcp__git__log", json!({ "n": 1 })),
    ];
    for (work, name, input) in cases {
        let step = step(work);
        let call = HookCall::of_step(HookEvent::PreToolUse, &step, Path::new("/w"));
        let told: Value = serde_json::from_str(&call.input(&session, &hook(""))).unwrap();
        assert_eq!((told["tool_name"].as_str(), &told["tool_input"]), (Some(name), &input));
        assert_eq!(call.changed_step(&step, &input).unwrap(), step);
    }
    let exec = step(StepAction::exec("ls", &[]));
    let call = HookCall::of_step(HookEvent::PreToolUse, &exec, Path::new("/w"));
    let changed = call.changed_step(&exec, &json!({ "command": "rm -rf x" })).unwrap();
    assert_eq!(changed.work, StepAction::exec("bash", &["-lc", "rm -rf x"]));
}

fn reply(exit: i32, stdout: &str, stderr: &str) -> HookReply {
    let run = HookRun {
        exit: HookExit::Code(exit),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    };
    read_reply(&hook(""), &run)
}

#[test]
fn exit_codes_and_json_mean_what_claude_code_says() {
    assert_eq!(reply(0, "plain text", ""), HookReply::default());
    let denied = reply(2, "{\"decision\":\"approve\"}", "no\u{1b}[31m way\n");
    assert_eq!((denied.decision, denied.reason.as_str()), (Some(HookDecision::Deny), "no way"));
    for (exit, stdout) in [(1, "x"), (49, ""), (0, "{ \"decision\": ")] {
        let failed = reply(exit, stdout, "");
        assert_eq!((failed.decision, failed.notices.len()), (None, 1), "{exit} {stdout}");
    }
    for (said, decision) in [
        (json!({ "decision": "block", "reason": "r" }), Some(HookDecision::Deny)),
        (json!({ "decision": "approve" }), Some(HookDecision::Allow)),
        (json!({ "decision": "allow", "context": "c" }), Some(HookDecision::Allow)),
        (json!({ "hookSpecificOutput": { "permissionDecision": "ask" } }), Some(HookDecision::Ask)),
        (json!({ "hookSpecificOutput": { "permissionDecision": "defer" } }), None),
        (
            json!({ "hookSpecificOutput": { "decision": { "behavior": "deny", "message": "r" } } }),
            Some(HookDecision::Deny),
        ),
        (json!({ "systemMessage": "m" }), None),
    ] {
        assert_eq!(reply(0, &said.to_string(), "").decision, decision, "{said}");
    }
    let halted = reply(0, "{\"continue\":false,\"stopReason\":\"enough\"}", "");
    assert_eq!(halted.halt.as_deref(), Some("enough"));
}

#[test]
fn the_strictest_of_several_answers_counts() {
    let answer = |decision, reason: &str| HookReply {
        decision: Some(decision),
        reason: reason.to_owned(),
        context: reason.to_owned(),
        ..HookReply::default()
    };
    let all = join_replies([
        answer(HookDecision::Allow, "a"),
        answer(HookDecision::Deny, "b"),
        answer(HookDecision::Ask, "c"),
        answer(HookDecision::Deny, "d"),
    ]);
    assert_eq!((all.decision, all.reason.as_str()), (Some(HookDecision::Deny), "b"));
    assert_eq!(all.context, "a\nb\nc\nd");
}

#[test]
fn a_path_after_one_slash_counts_from_both_places_it_may_mean() {
    let document = json!({ "permissions": { "deny": ["Edit(/etc/**)"] } });
    let found = permissions_of(&document, Path::new("/w"));
    assert_eq!(found.denied, ["file.edit '/etc/**'", "file.edit '/w/etc/**'"]);
}

#[test]
fn a_rule_about_editing_counts_for_each_tool_that_changes_files() {
    let document = json!({ "permissions": { "ask": ["Edit"] } });
    let found = permissions_of(&document, Path::new("/w"));
    assert_eq!(found.asked, ["file.edit *", "file.write *"]);
}

#[test]
fn permissions_of_claude_code_only_make_stricter() {
    let root = tempfile::tempdir().unwrap();
    let folders = folders(root.path());
    let rules = [
        ("Bash(curl:*)", Some("curl *")),
        ("Bash(git push *)", Some("git push *")),
        ("Bash(npm run build)", Some("npm run build")),
        ("WebFetch(domain:example.com)", Some("web.fetch example.com")),
        ("WebFetch", Some("web.fetch *")),
        ("WebSearch", Some("web.search *")),
        ("Write", Some("file.write *")),
        ("Grep", Some("file.search *")),
        ("mcp__docs", Some("mcp.docs.*")),
        ("mcp__hub__*", Some("mcp.hub.*")),
        ("mcp__hub__get_*", Some("mcp.hub.get_*")),
        ("mcp__*", Some("mcp.*")),
        ("mcp__*__get", None),
        ("mcp__hub__", None),
        ("mcp__hub__a*b", None),
        ("mcp__git__push", Some("mcp.git.push")),
        ("Bash", None),
        ("Bash(rm -rf $HOME:*)", None),
        ("Bash(a; b)", None),
        ("Bash(curl", None),
        ("Read(./.env)", Some("file.read ./.env")),
        ("Read(~/.ssh/**)", Some("file.read '~/.ssh/**'")),
        ("Edit(//etc/**)", Some("file.edit '/etc/**'")),
        ("Write(*.pem)", Some("file.write '*.pem'")),
        ("Read(*.{a,b})", None),
        ("", None),
    ];
    let names: Vec<&str> = rules.iter().map(|(rule, _)| *rule).collect();
    let permissions = json!({ "deny": names, "allow": ["Bash(ls:*)", "Edit"], "ask": ["Write"] });
    let text = json!({ "permissions": permissions }).to_string();
    write(root.path(), "home/.claude/settings.json", &text);
    let found = read_hooks(&folders, true);
    let denied: Vec<&str> = found.denied.iter().map(|(_, rule)| rule.as_str()).collect();
    let expected: Vec<&str> = rules.iter().filter_map(|(_, rule)| *rule).collect();
    assert_eq!(denied, expected);
    let faults: Vec<String> =
        found.diagnostics.iter().map(|fault| fault.localized().text(Lang::En)).collect();
    let asked: Vec<&str> = found.asked.iter().map(|(_, rule)| rule.as_str()).collect();
    assert_eq!(asked, ["file.write *"]);
    assert_eq!(faults.len(), rules.len() - expected.len() + 1, "{faults:?}");
    assert!(faults.iter().any(|fault| fault.contains("Read(*.{a,b})")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.contains("`permissions.allow`")), "{faults:?}");
    assert!(found.files.is_empty());
}
