//! A secret that a step prints, in whatever form, is in no request, in no file of the data folder and
//! in no export.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};

const KEY: &str = "ghp_aB3dE6gH9kLmN2pQ5rS8tU1vW4xY7zA0bC3d";
const OTHER: &str = "ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";
const BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const LONG: &str = "an ordinary line of a long output\n";

/// The files below a folder that hold a text. Copies of the user's files, from which changes are
/// undone, hold what those held.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            let is_copy = path.ends_with("data/undo");
            found.extend(if is_copy { Vec::new() } else { holding(&path, text) });
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

fn commands(commands: &Value) -> Reply {
    let step = json!({"type":"cmd","message":"x","data":{"commands":commands}});
    Reply::text(&step.to_string(), 8)
}

fn step(program: &str, args: &[&str]) -> Reply {
    commands(&json!([{ "tool": "exec", "input": { "program": program, "args": args } }]))
}

fn chat(message: &str) -> Reply {
    Reply::text(&json!({"type":"chat","message":message,"data":{}}).to_string(), 8)
}

/// Files whose contents are secrets in many forms.
fn write_files(bench: &TestDir) {
    let (first, rest) = KEY.split_at(20);
    let file = |name: &str, text: &str| fs::write(bench.work().join(name), text).unwrap();
    file(
        "colours.txt",
        &format!("DB_PASS=\u{1b}[31msw0rd\u{1b}[0mfish9\n{first}\u{1b}[1m{rest}\u{1b}[0m\n"),
    );
    let mark = |word: &str| format!("\u{1b}[32m-----{word} PRIVATE KEY-----\u{1b}[0m\n");
    file(
        "lines.txt",
        &format!("{}\u{1b}[33m{BODY}\u{1b}[0m\n{BODY}\n{}", mark("BEGIN"), mark("END")),
    );
    file(
        "table.txt",
        "| user | password |\n|------|----------|\n| ann | \u{1b}[1mc0ral\u{1b}[0mreef7 |\n",
    );
    file("conf.txt", &format!("token = {KEY}\nDB_PASSWORD=swordfishes\n"));
    file("settings.txt", &format!("name = old\napi_key = {OTHER}\nlast = 1\n"));
    // So long that the whole is saved beside what the model gets.
    let long = LONG.repeat(2_000);
    file("long.txt", &format!("{long}DB_PASS=\u{1b}[31msw0rd\u{1b}[0mfish9\n{KEY}\n{long}"));
    // Where a pipe is full, and where the program wrote a part.
    let at_border = "x".repeat(65_536 - 12) + "\n";
    file("border.txt", &format!("{at_border}{KEY}\n{at_border}DB_PASS=sw0rdfish9\n"));
    file("parts.sh", &format!("cat border.txt\nprintf '{first}'\n/bin/true\nprintf '{rest}\\n'\n"));
}

/// As `tr a-zA-Z n-za-mN-ZA-M` writes it.
fn rotated(text: &str) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let moved =
        |c: char| letters.find(c.to_ascii_lowercase()).map(|at| letters.as_bytes()[(at + 13) % 26]);
    let same_case =
        |c: char, moved: char| if c.is_uppercase() { moved.to_ascii_uppercase() } else { moved };
    text.chars().map(|c| moved(c).map_or(c, |moved| same_case(c, char::from(moved)))).collect()
}

/// What none of them leaves anywhere.
fn forms() -> Vec<String> {
    let (_, rest) = KEY.split_at(20);
    let hex: Vec<String> = rest.bytes().map(|byte| format!("{byte:02x}")).collect();
    let plain = [
        rest,
        OTHER.split_at(8).1,
        "sw0rd",
        "fish9",
        "c0ral",
        "reef7",
        BODY,
        "sehsifdrows",
        "fjbeqsvfurf",
    ]
    .map(str::to_owned);
    let encoded = [
        KEY.chars().rev().take(20).collect(),
        rotated(rest),
        rest.chars().map(String::from).collect::<Vec<_>>().join("\n"),
        // `base64` of the middle of the key, and of the word.
        "U2Z0g5a0xtTjJwUTVyUz".to_owned(),
        "N3b3JkZmlzaGVz".to_owned(),
        // `od` begins a line with the fifth byte of it.
        hex[4..16].join(" "),
    ];
    plain.into_iter().chain(encoded).collect()
}

/// Looks for every form in what was sent, in the folder of the program, and in the exports.
fn assert_nothing_holds(bench: &TestDir, server: &Server) {
    let data = bench.path("avocet");
    let output = bench.command(&["session", "list", "--json"]).output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let listed: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let id = listed["id"].as_str().unwrap();
    for format in ["md", "json", "html"] {
        let name = data.join(format!("export.{format}"));
        let export = ["session", "export", id, name.to_str().unwrap()];
        assert!(bench.command(&export).output().unwrap().status.success(), "{format}");
        assert!(fs::read_to_string(&name).unwrap().contains("secret:"), "{format}");
    }
    let mut held = Vec::new();
    for form in forms() {
        let quoted = json!(form).to_string();
        for (at, request) in server.requests().iter().enumerate() {
            let is_sent = request.json().to_string().contains(quoted.trim_matches('"'));
            held.extend(is_sent.then(|| format!("{form:?} in request {at}")));
        }
        held.extend(holding(&data, &form).iter().map(|path| format!("{form:?} in {path:?}")));
    }
    assert_eq!(held, [""; 0]);
}

#[test]
fn a_secret_in_any_form_is_in_no_request_no_file_and_no_export() {
    let bench = TestDir::new();
    write_files(&bench);
    let edit = json!([{ "tool": "file.edit", "input": {
        "path": "settings.txt", "old": "name = old", "new": "name = new" } }]);
    let server = Server::start(vec![
        step("cat", &["colours.txt"]),
        step("cat", &["lines.txt"]),
        step("cat", &["table.txt"]),
        step("cat", &["long.txt"]),
        step("base64", &["conf.txt"]),
        step("rev", &["conf.txt"]),
        step("od", &["-An", "-v", "-tx1", "conf.txt"]),
        step("fold", &["-w1", "conf.txt"]),
        step("sh", &["parts.sh"]),
        step("bash", &["-c", "cat conf.txt | tr a-zA-Z n-za-mN-ZA-M; rev conf.txt >&2"]),
        commands(&edit),
        // The model repeats what it was never sent.
        step("echo", &[KEY, &format!("api_key={OTHER}")]),
        chat(&format!("The key is {KEY}, the other one\n\n    api_key: {OTHER}\n")),
    ]);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "m", "-p", "look", "--approve-steps"];
    let ran = bench.command(&args).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let sent = server.requests().last().unwrap().json().to_string();
    assert_eq!(server.requests().len(), 13, "{sent}");
    assert!(sent.matches("‹secret:").count() >= 10, "{sent}");
    let saved = holding(&bench.path("avocet"), &format!("{LONG}DB_PASS="));
    assert!(!saved.is_empty(), "the whole output of a step is saved");
    let settings = fs::read_to_string(bench.work().join("settings.txt")).unwrap();
    assert!(settings.contains("name = new") && settings.contains(OTHER), "{settings}");
    assert_nothing_holds(&bench, &server);
}

#[test]
fn a_secret_in_a_line_for_the_shell_is_in_no_request_no_file_and_no_export() {
    let bench = TestDir::new();
    write_files(&bench);
    let server = Server::start(vec![chat("I see it.")]);
    let (url, work) = (server.base_url(), bench.work().display().to_string());
    let args = ["--linear", "--trust", &work, "--base-url", &url, "--model", "m"];
    let mut screen = Screen::start(&args, &bench.envs(), &bench.work(), (100, 30));
    screen.wait_for("/help lists the commands");
    let lines = ["cat colours.txt lines.txt", "sh parts.sh", "cat long.txt table.txt"];
    for (at, line) in lines.iter().enumerate() {
        screen.press(&format!("!echo begin-$((40 + {at})) {OTHER}; {line}\r"));
        screen.wait_for_bytes(&format!("begin-{}", 40 + at));
    }
    screen.press("what did it say?\r");
    screen.wait_for("I see it.");
    screen.press("/quit\r");
    screen.wait_for_exit();
    assert_nothing_holds(&bench, &server);
}
