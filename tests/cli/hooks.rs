//! Hooks through the program: what they are told, what their answers change, and what they cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::skip::{Reason, skip};

use super::native_tools::{ask, call, says, text};

/// A folder whose user has these hooks, as Claude Code keeps them: event, matcher, command.
fn with_hooks(hooks: &[(&str, &str, &str)]) -> TestDir {
    let bench = TestDir::new();
    write_hooks(&bench, "home/.claude/settings.json", hooks);
    bench
}

fn write_hooks(bench: &TestDir, file: &str, hooks: &[(&str, &str, &str)]) {
    let mut events = json!({});
    for (event, matcher, command) in hooks {
        let handler = json!({ "type": "command", "command": command, "timeout": 2 });
        let group = json!({ "matcher": matcher, "hooks": [handler] });
        match events[event].as_array_mut() {
            Some(groups) => groups.push(group),
            None => events[event] = json!([group]),
        }
    }
    let file = bench.path(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, json!({ "hooks": events }).to_string()).unwrap();
}

/// What a program printed for the user.
fn shown(done: &Output) -> String {
    text(&done.stderr)
}

fn exec(program: &str, args: &[&str]) -> Reply {
    call("exec", &json!({ "program": program, "args": args }))
}

/// What the model reads of its first step, and what the user saw.
fn result(bench: &TestDir, step: Reply, options: &[&str]) -> (String, String) {
    let server = Server::start(vec![step, says("Done."), says("Done.")]);
    let done = ask(bench, &server, &[&["-p", "go"], options].concat());
    let requests = server.requests();
    let messages = requests.get(1).unwrap_or_else(|| panic!("{}", shown(&done))).json();
    let messages = messages["messages"].as_array().unwrap().clone();
    let result = messages.iter().rev().find(|message| message["role"] == "tool").unwrap();
    (result["content"].as_str().unwrap().to_owned(), shown(&done))
}

fn read(bench: &TestDir, file: &str) -> String {
    fs::read_to_string(bench.work().join(file)).unwrap_or_default()
}

fn read_json(bench: &TestDir, file: &str) -> Value {
    serde_json::from_str(&read(bench, file)).unwrap_or_default()
}

fn decides(decision: &str, more: Value) -> String {
    let mut own = json!({ "hookEventName": "PreToolUse", "permissionDecision": decision });
    own["permissionDecisionReason"] = json!("because");
    for (name, value) in more.as_object().unwrap() {
        own[name] = value.clone();
    }
    format!("echo '{}'", json!({ "hookSpecificOutput": own }))
}

#[test]
fn a_hook_for_bash_sees_the_command_and_may_decline_it() {
    let bench = with_hooks(&[("PreToolUse", "Bash", "cat > seen.json; echo not here >&2; exit 2")]);
    let (result, _) = result(&bench, exec("ls", &["-a", "b c"]), &[]);
    assert!(result.contains("declined") && result.contains("not here"), "{result}");
    let seen = read_json(&bench, "seen.json");
    assert_eq!(seen["hook_event_name"], "PreToolUse");
    assert_eq!(seen["tool_name"], "Bash");
    assert_eq!(seen["tool_input"]["command"], "ls -a 'b c'");
    assert_eq!(seen["permission_mode"], "default");
    assert_eq!(seen["cwd"], json!(bench.work().canonicalize().unwrap()));
    assert!(seen["session_id"].is_string() && seen["tool_use_id"].is_string(), "{seen}");
}

#[test]
fn a_hook_for_another_tool_does_not_run() {
    let bench = with_hooks(&[("PreToolUse", "Edit|Write", "exit 2")]);
    let (result, _) = result(&bench, exec("ls", &[]), &[]);
    assert!(!result.contains("declined"), "{result}");
}

#[test]
fn a_hook_for_write_sees_the_names_of_claude_code() {
    let bench = with_hooks(&[("PreToolUse", "Write", "cat > seen.json; exit 2")]);
    let step = call("file_write", &json!({ "path": "a.txt", "content": "x" }));
    let (result, _) = result(&bench, step, &[]);
    assert!(result.contains("declined"), "{result}");
    let input = read_json(&bench, "seen.json")["tool_input"].clone();
    let path = bench.work().canonicalize().unwrap().join("a.txt");
    assert_eq!(input, json!({ "file_path": path, "content": "x" }));
}

#[test]
fn an_allow_answers_an_ordinary_question() {
    let bench = with_hooks(&[("PreToolUse", "Bash", &decides("allow", json!({})))]);
    let (result, _) = result(&bench, exec("touch", &["made"]), &[]);
    assert!(bench.work().join("made").exists(), "{result}");
}

#[test]
fn an_allow_never_overrides_a_refusal() {
    let bench = with_hooks(&[("PreToolUse", "*", &decides("allow", json!({})))]);
    let (result, _) = result(&bench, exec("git", &["reset", "--hard"]), &[]);
    assert!(result.contains("refused"), "{result}");
}

#[test]
fn an_allow_never_answers_a_grave_question() {
    let bench = with_hooks(&[("PreToolUse", "*", &decides("allow", json!({})))]);
    let outside = bench.path("home/outside").display().to_string();
    let (result, _) = result(&bench, exec("touch", &[&outside]), &[]);
    assert!(!bench.path("home/outside").exists(), "{result}");
}

#[test]
fn an_allow_answers_no_question_about_a_file_that_steers_what_runs_later() {
    let bench = with_hooks(&[("PreToolUse", "*", &decides("allow", json!({})))]);
    fs::write(bench.work().join("a.sh"), "x").unwrap();
    for name in [".envrc", ".vscode/tasks.json", ".git/hooks/pre-push", "AGENTS.md"] {
        let (result, _) = result(&bench, exec("cp", &["a.sh", name]), &[]);
        assert!(result.contains("declined"), "{name}: {result}");
    }
}

#[test]
fn an_ask_makes_a_question_of_a_step_that_would_run() {
    let bench = with_hooks(&[("PreToolUse", "Bash", &decides("ask", json!({})))]);
    let (result, seen) = result(&bench, exec("ls", &[]), &[]);
    assert!(result.contains("declined"), "{result}");
    assert!(seen.contains("because"), "{seen}");
}

#[test]
fn a_deny_counts_before_an_allow() {
    let bench = with_hooks(&[
        ("PreToolUse", "Bash", &decides("allow", json!({}))),
        ("PreToolUse", "", &decides("deny", json!({}))),
    ]);
    let (result, _) = result(&bench, exec("ls", &[]), &[]);
    assert!(result.contains("declined") && result.contains("because"), "{result}");
}

#[test]
fn a_changed_input_runs_in_place_of_the_step() {
    let changed = decides("allow", json!({ "updatedInput": { "command": "echo changed" } }));
    let bench = with_hooks(&[("PreToolUse", "Bash", &changed)]);
    let (result, seen) = result(&bench, exec("ls", &[]), &[]);
    assert!(result.contains("changed"), "{result}");
    assert!(seen.contains("echo changed"), "{seen}");
}

#[test]
fn a_changed_input_is_judged_again() {
    let changed = json!({ "updatedInput": { "command": "git reset --hard" } });
    let bench = with_hooks(&[("PreToolUse", "Bash", &decides("allow", changed))]);
    let (result, _) = result(&bench, exec("ls", &[]), &[]);
    assert!(result.contains("refused"), "{result}");
}

#[test]
fn a_hook_after_a_step_tells_the_model_something_about_it() {
    let hook = r#"cat > seen.json; echo '{"decision":"block","reason":"run the formatter"}'"#;
    let bench = with_hooks(&[("PostToolUse", "Bash", hook)]);
    let (result, _) = result(&bench, exec("echo", &["printed"]), &[]);
    assert!(result.contains("printed") && result.contains("run the formatter"), "{result}");
    let seen = read_json(&bench, "seen.json");
    assert_eq!(seen["tool_response"]["stdout"], "printed\n");
    assert_eq!(seen["tool_response"]["success"], true);
}

#[test]
fn a_hook_adds_to_a_message_or_does_not_let_it_pass() {
    let bench = with_hooks(&[("UserPromptSubmit", "", "cat > seen.json; echo the branch is red")]);
    let server = Server::start(vec![says("Done.")]);
    let done = ask(&bench, &server, &["-p", "go"]);
    assert!(done.status.success(), "{}", shown(&done));
    let sent = server.requests()[0].json()["messages"].to_string();
    assert!(sent.contains("the branch is red"), "{sent}");
    assert_eq!(read_json(&bench, "seen.json")["prompt"], "go");

    let bench = with_hooks(&[("UserPromptSubmit", "", "echo no secrets >&2; exit 2")]);
    let server = Server::start(vec![says("Done.")]);
    let done = ask(&bench, &server, &["-p", "go"]);
    assert!(!done.status.success());
    assert!(shown(&done).contains("no secrets"), "{}", shown(&done));
    assert!(server.requests().is_empty());
}

#[test]
fn a_hook_at_the_end_makes_the_turn_go_on_a_few_times() {
    let hook = "cat >> seen.txt; echo >> seen.txt; echo test it >&2; exit 2";
    let bench = with_hooks(&[("Stop", "", hook)]);
    let server = Server::start((0..6).map(|_| says("Done.")).collect());
    let done = ask(&bench, &server, &["-p", "go"]);
    assert!(done.status.success(), "{}", shown(&done));
    let requests = server.requests();
    assert_eq!(requests.len(), 4, "{}", shown(&done));
    assert!(requests[1].json()["messages"].to_string().contains("test it"));
    let seen = read(&bench, "seen.txt");
    let active: Vec<bool> = seen
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|seen| seen["stop_hook_active"].as_bool().unwrap())
        .collect();
    assert_eq!(active, [false, true, true, true]);
}

#[test]
fn the_start_and_the_end_of_a_session_run_hooks() {
    let bench = with_hooks(&[
        ("SessionStart", "startup", "cat > start.json; echo remember the milk"),
        ("SessionStart", "resume", "touch wrong"),
        ("SessionEnd", "", "cat > end.json"),
    ]);
    let server = Server::start(vec![says("Done.")]);
    let done = ask(&bench, &server, &["-p", "go"]);
    assert!(done.status.success(), "{}", shown(&done));
    let sent = server.requests()[0].json()["messages"].to_string();
    assert!(sent.contains("remember the milk"), "{sent}");
    assert_eq!(read_json(&bench, "start.json")["source"], "startup");
    assert_eq!(read_json(&bench, "end.json")["hook_event_name"], "SessionEnd");
    assert!(!bench.work().join("wrong").exists());
}

#[test]
fn the_end_of_an_agent_runs_its_hooks_and_the_end_of_the_turn_its_own() {
    let bench = with_hooks(&[
        ("SubagentStop", "", "cat > agent.json"),
        ("Stop", "", "cat >> turn.json; echo >> turn.json"),
    ]);
    let task = json!({ "description": "Look", "prompt": "Look.", "agent": "explore" });
    let server = Server::start(vec![call("task", &task), says("Nothing."), says("Done.")]);
    let done = ask(&bench, &server, &["-p", "go"]);
    assert!(done.status.success(), "{}", shown(&done));
    assert_eq!(read_json(&bench, "agent.json")["hook_event_name"], "SubagentStop");
    let turn = read(&bench, "turn.json");
    assert_eq!(turn.matches("hook_event_name").count(), 1, "{turn}");
}

#[test]
fn a_question_asks_hooks_first() {
    let allow = json!({ "hookSpecificOutput": { "decision": { "behavior": "allow" } } });
    let bench = with_hooks(&[("PermissionRequest", "Bash", &format!("echo '{allow}'"))]);
    let (result, _) = result(&bench, exec("touch", &["made"]), &[]);
    assert!(bench.work().join("made").exists(), "{result}");
}

/// Runs a script that makes a folder, and reads a file.
fn run_script(bench: &TestDir) -> Output {
    let steps = "$exec: {program: mkdir, args: [made]}\n$print: \"?='it printed ' + LatestResult\"\n$readFile: a.txt\n$print: \"?='it read ' + LatestResult\"\n";
    fs::write(bench.work().join("makes.ai.yaml"), steps).unwrap();
    fs::write(bench.work().join("a.txt"), "the file").unwrap();
    bench.command(&["run", "./makes.ai.yaml"]).output().unwrap()
}

#[test]
fn hooks_decline_allow_and_change_the_steps_of_a_script() {
    let bench = with_hooks(&[("PreToolUse", "Bash", "cat > seen.json; echo not here >&2; exit 2")]);
    let done = run_script(&bench);
    assert!(!done.status.success() && shown(&done).contains("not here"), "{}", shown(&done));
    assert_eq!(read_json(&bench, "seen.json")["tool_input"]["command"], "mkdir made");
    assert!(!bench.work().join("made").exists());

    let allow = json!({ "hookSpecificOutput": { "decision": { "behavior": "allow" } } });
    let bench = with_hooks(&[
        ("PermissionRequest", "Bash", &format!("echo '{allow}'")),
        ("PostToolUse", "Read", "cat > read.json"),
    ]);
    let done = run_script(&bench);
    assert!(done.status.success(), "{}", shown(&done));
    assert!(bench.work().join("made").is_dir());
    assert_eq!(read_json(&bench, "read.json")["tool_response"]["stdout"], "the file");

    let changed = json!({ "updatedInput": { "command": "echo changed" } });
    let bench = with_hooks(&[("PreToolUse", "Bash", &decides("allow", changed))]);
    let done = run_script(&bench);
    assert!(text(&done.stdout).contains("it printed changed"), "{}", text(&done.stdout));
    assert!(!bench.work().join("made").exists());
}

#[test]
fn a_hook_may_end_a_script() {
    let stop = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
    let bench = with_hooks(&[("PreToolUse", "Bash", stop)]);
    let done = run_script(&bench);
    assert!(!done.status.success() && shown(&done).contains("enough"), "{}", shown(&done));
    assert!(!bench.work().join("made").exists());
}

#[test]
fn a_hook_that_hangs_is_ended_and_the_turn_goes_on() {
    let bench = with_hooks(&[("PreToolUse", "", "sleep 600 & sleep 600")]);
    let (result, seen) = result(&bench, exec("echo", &["printed"]), &[]);
    assert!(result.contains("printed"), "{result}");
    assert!(seen.contains("sleep 600"), "{seen}");
}

#[test]
fn a_hook_that_floods_or_fails_costs_a_line() {
    for (command, said) in [
        ("yes x | head -c 3000000", "printed more"),
        ("echo broken >&2; exit 1", "broken"),
        ("exit 49", "49"),
        (r#"echo '{"decision": "block", '"#, "JSON"),
        (r#"printf '{"systemMessage":"look \\u001b[31mhere"}'"#, "look here"),
    ] {
        let bench = with_hooks(&[("PreToolUse", "", command)]);
        let (result, seen) = result(&bench, exec("echo", &["printed"]), &[]);
        assert!(result.contains("printed"), "{command}: {result}");
        assert!(seen.contains(said) && !seen.contains('\u{1b}'), "{command}: {seen}");
    }
}

/// Copies the conversation that a hook is told of.
const COPIES: &str = r#"cat "$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/')" > copy.jsonl"#;

#[test]
fn a_hook_reads_the_conversation_in_the_shape_of_claude_code() {
    let bench = with_hooks(&[("Stop", "", COPIES)]);
    let server = Server::start(vec![exec("echo", &["printed"]), says("It is done.")]);
    let done = ask(&bench, &server, &["-p", "print it"]);
    assert!(done.status.success(), "{}", shown(&done));
    let copy = read(&bench, "copy.jsonl");
    let lines: Vec<Value> = copy.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [asked, called, came, answered] = &lines[..] else { panic!("{copy}{}", shown(&done)) };
    assert_eq!(
        (&asked["type"], &asked["message"]["content"]),
        (&json!("user"), &json!("print it"))
    );
    let call = &called["message"]["content"][0];
    assert_eq!((&call["type"], &call["name"]), (&json!("tool_use"), &json!("Bash")));
    assert_eq!(call["input"]["command"], "echo printed");
    let result = &came["message"]["content"][0];
    assert_eq!((&result["tool_use_id"], &result["content"]), (&call["id"], &json!("printed")));
    assert_eq!(answered["type"], "assistant");
    assert_eq!(answered["message"]["content"][0]["text"], "It is done.");
}

#[test]
fn a_hook_of_the_end_has_the_whole_conversation_and_nothing_writes_it_without_hooks() {
    let bench = with_hooks(&[("SessionEnd", "", COPIES)]);
    let server = Server::start(vec![says("It is done.")]);
    assert!(ask(&bench, &server, &["-p", "go"]).status.success());
    assert!(read(&bench, "copy.jsonl").contains("It is done."), "{}", read(&bench, "copy.jsonl"));
    let bench = TestDir::new();
    let server = Server::start(vec![says("It is done.")]);
    assert!(ask(&bench, &server, &["-p", "go"]).status.success());
    let found = std::process::Command::new("find")
        .arg(bench.root.path())
        .args(["-name", "transcript.jsonl"])
        .output()
        .unwrap();
    assert_eq!(text(&found.stdout), "");
}

#[test]
fn a_hook_may_end_the_turn() {
    let stop = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
    let claude = with_hooks(&[("PreToolUse", "", stop)]);
    let crush = TestDir::new();
    let hooks =
        json!({ "PreToolUse": [{ "matcher": "^bash$", "command": "echo enough >&2; exit 49" }] });
    fs::create_dir_all(crush.path("home/.config/crush")).unwrap();
    fs::write(crush.path("home/.config/crush/crush.json"), json!({ "hooks": hooks }).to_string())
        .unwrap();
    for bench in [claude, crush] {
        let server = Server::start(vec![exec("echo", &["printed"]), says("Done.")]);
        let done = ask(&bench, &server, &["-p", "go"]);
        assert!(!done.status.success());
        assert!(shown(&done).contains("enough"), "{}", shown(&done));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_hook_writes_in_the_folder_and_not_outside() {
    let bench = TestDir::new();
    let outside = bench.path("home/outside");
    let script = bench.path("home/.claude/hooks/check.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    let line = format!("#!/bin/sh\necho x > inside\necho x > {}\nexit 0\n", outside.display());
    fs::write(&script, line).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    write_hooks(
        &bench,
        "home/.claude/settings.json",
        &[("PreToolUse", "", &script.display().to_string())],
    );
    let (_, seen) = result(&bench, exec("echo", &["printed"]), &[]);
    assert!(bench.work().join("inside").exists(), "{seen}");
    let doctor = bench.command(&["doctor"]).output().unwrap();
    if !text(&doctor.stdout).contains("`work`") {
        return skip(Reason::NoSandbox);
    }
    assert!(!outside.exists(), "{seen}");
}

#[test]
fn hooks_of_the_project_do_not_run_before_the_user_was_asked() {
    let bench = TestDir::new();
    write_hooks(&bench, "work/.claude/settings.json", &[("PreToolUse", "", "touch ran")]);
    let (_, seen) = result(&bench, exec("echo", &["printed"]), &[]);
    assert!(!bench.work().join("ran").exists());
    assert!(seen.contains(".claude/settings.json"), "{seen}");
}

#[test]
fn nothing_runs_in_a_folder_that_is_not_trusted() {
    let bench = with_hooks(&[("SessionStart", "", "touch ran")]);
    let server = Server::start(vec![says("Done.")]);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "gpt-4o", "-p", "go"];
    assert!(bench.untrusted_command(&args).output().unwrap().status.success());
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn a_run_without_a_screen_lists_hooks_and_servers_and_needs_no_model() {
    let bench = with_hooks(&[("PreToolUse", "Bash", "./check.sh"), ("TeammateIdle", "", "true")]);
    bench.settings("[mcp.far]\nurl = \"http://127.0.0.1:1/mcp\"\nenabled = false\n");
    for (command, parts) in [
        ("/hooks", ["PreToolUse Bash", "./check.sh", "TeammateIdle"]),
        ("/mcp", ["far", "http://127.0.0.1:1/mcp", "off"]),
    ] {
        let done = bench.command(&["-p", command]).output().unwrap();
        assert!(done.status.success(), "{}", shown(&done));
        let page = text(&done.stdout);
        assert!(parts.iter().all(|part| page.contains(part)), "{page}");
    }
}

#[test]
fn doctor_says_which_hooks_are_used_and_why_others_are_not() {
    let bench = with_hooks(&[
        ("PreToolUse", "Bash", "true"),
        ("TeammateIdle", "", "true"),
        ("PreToolUse", "(", "true"),
    ]);
    let doctor = bench.command(&["doctor"]).output().unwrap();
    let page = text(&doctor.stdout);
    for part in [".claude/settings.json", "PreToolUse", "TeammateIdle", "not a regular expression"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn what_the_permissions_of_claude_code_deny_is_refused_and_what_they_allow_still_asks() {
    let bench = TestDir::new();
    let file = bench.path("home/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let permissions = json!({ "deny": ["Bash(ls -a:*)"], "allow": ["Bash(touch:*)"] });
    fs::write(file, json!({ "permissions": permissions }).to_string()).unwrap();
    let (denied, _) = result(&bench, exec("ls", &["-a"]), &[]);
    assert!(denied.contains("refused") && denied.contains("ls -a"), "{denied}");
    let (runs, _) = result(&bench, exec("ls", &["-l"]), &[]);
    assert!(!runs.contains("refused"), "{runs}");
    let (asks, _) = result(&bench, exec("touch", &["a"]), &[]);
    assert!(!bench.work().join("a").exists(), "{asks}");
    let doctor = bench.command(&["doctor"]).output().unwrap();
    let said = text(&doctor.stdout);
    assert!(said.contains("ls -a *") && said.contains("permissions.allow"), "{said}");
}

/// The permissions of a user of Claude Code.
fn with_permissions(permissions: &Value) -> TestDir {
    let bench = TestDir::new();
    let file = bench.path("home/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, json!({ "permissions": permissions }).to_string()).unwrap();
    fs::create_dir(bench.work().join("notes")).unwrap();
    fs::write(bench.work().join("notes/a.txt"), "the text").unwrap();
    std::os::unix::fs::symlink("notes/a.txt", bench.work().join("link")).unwrap();
    bench
}

#[test]
fn a_file_that_claude_code_may_not_read_or_change_is_refused_here_too() {
    let read = |path: &str| call("file_read", &json!({ "path": path }));
    let deny = json!({ "deny": ["Read(./notes/**)", "Edit(*.lock)"] });
    for (step, is_refused) in [
        (read("notes/a.txt"), true),
        (read("link"), true),
        (exec("cat", &["notes/../notes/a.txt"]), true),
        (exec("bash", &["-c", "ls; cat notes/a.txt"]), true),
        (call("file_write", &json!({ "path": "x/b.lock", "content": "x" })), true),
        (exec("touch", &["b.lock"]), true),
        (exec("ls", &["-l"]), false),
    ] {
        let bench = with_permissions(&deny);
        let (said, _) = result(&bench, step, &[]);
        assert_eq!(said.contains("refused"), is_refused, "{said}");
    }
}

#[test]
fn what_claude_code_asks_about_is_asked_about_whatever_allows_it() {
    let ask = json!({ "ask": ["Bash(ls:*)", "Write(./notes/**)"] });
    let write = |path: &str| call("file_write", &json!({ "path": path, "content": "x" }));
    for (step, asks) in [
        (exec("ls", &["-l"]), true),
        (exec("cat", &["notes/a.txt"]), false),
        (write("notes/b.txt"), true),
        (write("b.txt"), false),
    ] {
        let bench = with_permissions(&ask);
        bench.settings("[safety]\nallow = [\"ls *\"]\n");
        let (said, _) = result(&bench, step, &["--mode", "edits"]);
        assert_eq!(said.contains("declined"), asks, "{said}");
    }
}
