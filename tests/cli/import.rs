//! Conversations of other clients, copied by the program and gone on with.

use std::fs;
use std::process::{Command, Output};

use rusqlite::Connection;
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
            "timestamp": "2020-10-01T10:00:00Z", "message": { "role": role, "content": content },
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

#[test]
fn an_imported_conversation_is_listed_with_those_of_its_own_day() {
    let bench = TestDir::new();
    write_claude(&bench);
    let server = Server::start(vec![says("Today.")]);
    let url = server.base_url();
    let today = run(&bench, &["--base-url", &url, "--model", "gpt-4o", "-p", "of today"]);
    assert!(today.status.success(), "{}", text(&today.stderr));
    assert!(run(&bench, &["import", "claude", "--yes"]).status.success());
    let listed = run(&bench, &["--json", "session", "list"]);
    let listed = text(&listed.stdout);
    let at = |word: &str| listed.find(word).unwrap_or_else(|| panic!("{word}: {listed}"));
    assert!(at("of today") < at("zebra"), "{listed}");
    assert_eq!(listed.matches("2020-10-01").count(), 2, "began and ended: {listed}");
}

/// The database that newer versions of opencode write.
fn write_opencode(bench: &TestDir, part: &str) -> Connection {
    let folder = bench.path("data/opencode");
    fs::create_dir_all(&folder).unwrap();
    let database = Connection::open(folder.join("opencode.db")).unwrap();
    let tables = "
        CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
            time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        INSERT INTO session VALUES ('ses_1', NULL, '/w', 'Zebra', 1601546400000, 1601546400000);
        INSERT INTO session VALUES ('ses_2', 'ses_1', '/w', 'Of a subagent', 2, 2);
        INSERT INTO message VALUES ('m2', 'ses_1', 1601546401000, '{\"role\":\"assistant\"}');
        INSERT INTO message VALUES ('m1', 'ses_1', 1601546400000, '{\"role\":\"user\"}');";
    database.execute_batch(tables).unwrap();
    database.execute_batch(part).unwrap();
    database
}

const PARTS: &str = "
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
    INSERT INTO part VALUES ('p1', 'm1', '{\"type\":\"text\",\"text\":\"List\\u001b[2J them\"}');
    INSERT INTO part VALUES ('p3', 'm2', '{\"type\":\"text\",\"text\":\"Listed.\"}');
    INSERT INTO part VALUES ('p2', 'm2', '{\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"c\",
        \"state\":{\"status\":\"completed\",\"input\":{\"command\":\"ls\"},\"output\":\"a\"}}');
    INSERT INTO part VALUES ('p4', 'm2', x'ff7b');";

fn run_opencode(bench: &TestDir, args: &[&str]) -> Output {
    bench.command(args).env("XDG_DATA_HOME", bench.path("data")).output().unwrap()
}

#[test]
fn the_database_of_opencode_is_read_while_it_is_open() {
    let bench = TestDir::new();
    let database = write_opencode(&bench, PARTS);
    database
        .execute_batch("PRAGMA journal_mode = WAL; UPDATE session SET title = 'Zebras'")
        .unwrap();
    let done = run_opencode(&bench, &["import", "opencode", "--yes"]);
    let shown = text(&done.stdout);
    assert!(shown.contains("Zebras (/w; 1 message, 1 step)"), "{shown}{}", text(&done.stderr));
    assert!(!shown.contains("subagent") && !shown.contains('\u{1b}'), "{shown}");
    assert!(shown.contains("1 line or part that cannot be read"), "{shown}");
    let listed = run_opencode(&bench, &["--json", "session", "list"]);
    assert_eq!(text(&listed.stdout).matches("Zebras").count(), 1, "{}", text(&listed.stdout));
}

#[test]
fn a_database_that_would_compute_forever_is_not_read() {
    let forever = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)
        SELECT i AS id, 'm1' AS message_id, '{}' AS data FROM n WHERE i < 0";
    let column = "CREATE TABLE part (id, message_id, data AS (hex(zeroblob(900000000))))";
    for part in [format!("CREATE VIEW part AS {forever}"), column.to_owned()] {
        let bench = TestDir::new();
        drop(write_opencode(&bench, &part));
        let shown = run_opencode(&bench, &["import", "opencode", "--yes"]);
        let shown = text(&shown.stdout);
        assert!(shown.contains("whose form is not known"), "{part}: {shown}");
    }
    let bench = TestDir::new();
    fs::create_dir_all(bench.path("data/opencode")).unwrap();
    fs::write(bench.path("data/opencode/opencode.db"), "no database").unwrap();
    let shown = run_opencode(&bench, &["import", "opencode", "--yes"]);
    assert!(text(&shown.stdout).contains("cannot be read"), "{}", text(&shown.stdout));
}

#[test]
fn a_chat_of_gemini_is_imported_where_its_folder_cannot_be_read() {
    let bench = TestDir::new();
    let chats = bench.path("home/.gemini/tmp/h/chats");
    fs::create_dir_all(&chats).unwrap();
    let message =
        json!({ "type": "user", "content": "A zebra", "timestamp": "2020-10-01T10:00:00Z" });
    let chat = json!({ "sessionId": "g", "messages": [message] });
    fs::write(chats.join("a.json"), chat.to_string()).unwrap();
    for pipe in [chats.join("b.json"), chats.with_file_name(".project_root")] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let shown = run(&bench, &["import", "gemini", "--dry-run"]);
    let place = format!("A zebra ({}; 1 message", bench.work().display());
    assert!(text(&shown.stdout).contains(&place), "{}", text(&shown.stdout));
}

#[test]
fn settings_are_shown_first_and_written_where_the_user_has_none() {
    let bench = TestDir::new();
    let own_run = |bench: &TestDir, args: &[&str]| bench.command(args).output().unwrap();
    let own = "# mine\nvim = false # no\n\n[safety]\ndeny = [\"git push *\"] # never\n";
    bench.settings(own);
    let folder = bench.path("home/.claude");
    fs::create_dir_all(&folder).unwrap();
    let settings = json!({
        "model": "claude-sonnet-4-5", "effortLevel": "high", "language": "Chinese", "theme": "solar\u{1b}[2J",
        "permissions": { "allow": ["Bash(rm:*)"], "deny": ["Read(./.env)"], "defaultMode": "bypassPermissions" },
        "env": { "ANTHROPIC_API_KEY": SECRET }, "hooks": {},
    });
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let state = json!({ "theme": "dark-daltonized", "editorMode": "vim", "oauthAccount": SECRET });
    fs::write(bench.path("home/.claude.json"), state.to_string()).unwrap();

    let shown = own_run(&bench, &["import", "claude", "--dry-run"]);
    let said = text(&shown.stdout);
    for expected in ["claude-sonnet-4-5", "colorblind", "profiles.default.effort", "lang"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let unused =
        "Settings without a meaning here: theme, permissions.allow, permissions.defaultMode, env";
    let in_place = "Used where they are, and not copied: permissions.deny, hooks";
    assert!(said.contains(unused) && said.contains(in_place), "{said}");
    assert!(
        !said.contains(SECRET) && !said.contains("oauth") && !said.contains('\u{1b}'),
        "{said}"
    );
    let file = bench.path("avocet/config.toml");
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
    let unsure = own_run(&bench, &["import", "claude"]);
    assert!(text(&unsure.stderr).contains("--yes"), "{}", text(&unsure.stderr));
    assert_eq!(fs::read_to_string(&file).unwrap(), own);

    let done = own_run(&bench, &["import", "claude", "--yes"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let written = fs::read_to_string(&file).unwrap();
    for kept in ["# mine\nvim = false # no\n", "deny = [\"git push *\"] # never\n"] {
        assert!(written.contains(kept), "{kept}: {written}");
    }
    for new in [
        "theme = \"colorblind\"",
        "lang = \"zh\"",
        "effort = \"high\"",
        "high = \"claude-sonnet-4-5\"",
        "base_url = \"https://api.anthropic.com/v1\"",
    ] {
        assert!(written.contains(new), "{new}: {written}");
    }
    assert!(!written.contains("bypass") && !written.contains("rm"), "{written}");
    let again = own_run(&bench, &["import", "claude", "--yes"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
}

#[test]
fn what_another_client_refuses_is_refused_here_and_a_connected_model_stays() {
    let bench = TestDir::new();
    let own = "[profiles.default]\nhigh = \"mine\"\n\n[safety]\ndeny = [\n    \"git push *\", # never\n]\n";
    bench.settings(own);
    let folder = bench.path("config/opencode");
    fs::create_dir_all(&folder).unwrap();
    let settings = "{ // mine\n\"model\": \"google/gemini-3-pro\", \"permission\": { \"edit\": \"deny\", \"bash\": {
        \"*\": \"ask\", \"git push *\": \"deny\", \"rm *\": \"deny\", \"ls *\": \"allow\" } }, }";
    fs::write(folder.join("opencode.jsonc"), settings).unwrap();
    fs::write(folder.join("tui.json"), "[]").unwrap();
    let done = bench
        .command(&["import", "opencode", "--yes"])
        .env("XDG_CONFIG_HOME", bench.path("config"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    let said = text(&done.stdout);
    assert!(said.contains("tui.json`: it is not valid"), "{said}");
    let written = fs::read_to_string(bench.path("avocet/config.toml")).unwrap();
    assert!(written.contains("high = \"mine\"") && !written.contains("base_url"), "{written}");
    assert!(written.contains("\"git push *\", # never"), "{written}");
    assert_eq!(written.matches("git push").count(), 1, "{written}");
    for rule in ["\"rm *\"", "\"file.edit *\"", "\"file.write *\""] {
        assert!(written.contains(rule), "{rule}: {written}");
    }
}
