//! Keys: logging in and out, where keys come from, where they never go.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use crate::support::bench::TestDir;
use crate::support::server::{self, Reply, Server};
use serde_json::json;

/// Of no shape that would be masked by itself.
const KEY: &str = "quarz-zwerg-jagd-lothar";

/// Runs the program with a key on standard input.
fn with_key(bench: &TestDir, args: &[&str]) -> Output {
    let mut command = bench.command(args);
    command.env("AVOCET_KEY_STORE", "file").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn run(bench: &TestDir, args: &[&str]) -> Output {
    bench.command(args).env("AVOCET_KEY_STORE", "file").output().unwrap()
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// A server with a list of models.
fn listing(replies: Vec<Reply>) -> Server {
    Server::start_with_models(replies, &["text-embedding-1", "tiny", "large"])
}

/// The keys of the requests, and of what was looked up.
fn sent_keys(server: &Server) -> Vec<Option<String>> {
    let requests = server.lookups().into_iter().chain(server.requests());
    requests.map(|request| request.header("authorization").map(str::to_owned)).collect()
}

fn bearer() -> Option<String> {
    Some(format!("Bearer {KEY}"))
}

fn saved_keys(bench: &TestDir) -> std::path::PathBuf {
    bench.path("avocet/data/keys.toml")
}

#[test]
fn a_login_saves_the_key_and_the_model_and_the_next_run_uses_both() {
    let bench = TestDir::new();
    let server = listing(vec![Reply::chat("Hello.")]);
    let login = with_key(&bench, &["login", &server.base_url(), "--key-stdin"]);
    assert_eq!(login.status.code(), Some(0), "{}", text(&login));
    assert!(!text(&login).contains(KEY), "{}", text(&login));
    let mode = fs::metadata(saved_keys(&bench)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let said = run(&bench, &["-p", "hi"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said));
    assert!(sent_keys(&server).iter().all(|key| *key == bearer()));
    assert_eq!(server.requests()[0].json()["model"], "tiny", "the first model for chat");
}

#[test]
fn a_saved_key_goes_to_its_own_server_only() {
    let bench = TestDir::new();
    let server = listing(vec![]);
    with_key(&bench, &["login", &server.base_url(), "--key-stdin"]);
    let other = Server::start(vec![Reply::chat("Hello.")]);
    run(&bench, &["--base-url", &other.base_url(), "--model", "m", "-p", "hi"]);
    assert!(sent_keys(&other).iter().all(Option::is_none) && other.requests().len() == 1);
}

#[test]
fn a_refused_key_is_not_saved() {
    let bench = TestDir::new();
    let said = json!({ "error": { "message": format!("Incorrect API key: {KEY}") } });
    let page = ("/v1/models", Reply::json(401, &said));
    let server = Server::start_with_pages(vec![], vec![page]);
    let login = with_key(&bench, &["login", &server.base_url(), "--key-stdin"]);
    assert_eq!(login.status.code(), Some(5), "{}", text(&login));
    assert!(text(&login).contains("Nothing was saved") && !text(&login).contains(KEY));
    assert!(!saved_keys(&bench).exists() && !bench.path("avocet/config.toml").exists());
}

#[test]
fn a_wrong_model_is_told_with_the_near_ones_and_nothing_is_saved() {
    let bench = TestDir::new();
    let server = listing(vec![]);
    let args = ["login", &server.base_url(), "--key-stdin", "--model", "larg"];
    let login = with_key(&bench, &args);
    assert_eq!(login.status.code(), Some(2), "{}", text(&login));
    assert!(text(&login).contains("`large`"), "{}", text(&login));
    assert!(!saved_keys(&bench).exists());
}

#[test]
fn a_logout_removes_the_key() {
    let bench = TestDir::new();
    let server = listing(vec![Reply::chat("Hello.")]);
    let address = server.base_url();
    with_key(&bench, &["login", &address, "--key-stdin"]);
    let logout = run(&bench, &["logout", &address]);
    assert_eq!(logout.status.code(), Some(0), "{}", text(&logout));
    assert!(!fs::read_to_string(saved_keys(&bench)).unwrap().contains(KEY));
    run(&bench, &["-p", "hi"]);
    assert_eq!(server.requests()[0].header("authorization"), None);
    assert_eq!(run(&bench, &["logout", &address]).status.code(), Some(1), "there is none any more");
}

#[test]
fn the_key_of_a_known_variable_is_used_without_being_saved() {
    let bench = TestDir::new();
    let unset = run(&bench, &["login", "groq"]);
    assert_eq!(unset.status.code(), Some(2), "{}", text(&unset));
    assert!(text(&unset).contains("--key-stdin"), "{}", text(&unset));
    let unknown = run(&bench, &["login", "antropic"]);
    assert!(text(&unknown).contains("`anthropic`"), "{}", text(&unknown));
}

#[test]
fn a_program_prints_the_key_when_the_first_request_needs_it() {
    let bench = TestDir::new();
    let server = listing(vec![Reply::chat("Hello.")]);
    let program = bench.path("home/key.sh");
    let counted = bench.path("home/count");
    fs::write(&program, format!("#!/bin/sh\necho x >> {}\necho {KEY}\n", counted.display()))
        .unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    bench.settings(&format!(
        "[profiles.default]\nbase_url = \"{}\"\nhigh = \"tiny\"\napi_key_command = [\"{}\"]\n",
        server.base_url(),
        program.display()
    ));
    assert_eq!(run(&bench, &["config", "get"]).status.code(), Some(0));
    assert!(!counted.exists(), "it is not run before a key is needed");
    let said = run(&bench, &["-p", "hi"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said));
    let doctor = run(&bench, &["doctor"]);
    assert!(text(&doctor).contains("api_key_command") && !text(&doctor).contains(KEY));
    assert!(sent_keys(&server).iter().all(|key| *key == bearer()));
    let lookups = server.lookups().len();
    fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    let failed = run(&bench, &["-p", "hi"]);
    assert_eq!(failed.status.code(), Some(5), "{}", text(&failed));
    assert!(text(&failed).contains("exit code 3"), "{}", text(&failed));
    let asked = (server.requests().len(), server.lookups().len());
    assert_eq!(asked, (1, lookups), "nothing is sent without the key");
}

#[test]
fn a_key_is_not_sent_to_another_machine_in_the_open_without_a_yes() {
    let bench = TestDir::new();
    // An address that is kept for documentation: nobody is there.
    let address = "http://192.0.2.7:9/v1";
    let login = with_key(&bench, &["login", address, "--key-stdin"]);
    assert_eq!(login.status.code(), Some(2), "{}", text(&login));
    assert!(text(&login).contains("plain_http_hosts"), "{}", text(&login));
    let args = ["--base-url", address, "--model", "m", "-p", "hi"];
    let said = bench.command(&args).env("AVOCET_API_KEY", KEY).output().unwrap();
    assert_eq!(said.status.code(), Some(5), "{}", text(&said));
    assert!(text(&said).contains("plain_http_hosts") && !text(&said).contains(KEY));
}

#[test]
fn a_saved_key_is_in_no_settings_report_log_or_export() {
    let bench = TestDir::new();
    let server = listing(vec![Reply::chat("Hello.")]);
    with_key(&bench, &["login", &server.base_url(), "--key-stdin"]);
    let said = bench
        .command(&["-p", "hi", "--json"])
        .env("AVOCET_KEY_STORE", "file")
        .env("AVOCET_LOG", "trace")
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(0), "{}", text(&said));
    for args in [
        &["config", "get"][..],
        &["config", "get", "--where", "--json"],
        &["doctor", "--json"],
        &["session", "list"],
        &["session", "search", "hi"],
    ] {
        assert!(!text(&run(&bench, args)).contains(KEY), "{args:?}");
    }
    assert!(!text(&said).contains(KEY));
    let mut files = vec![bench.path("avocet"), bench.work()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path != saved_keys(&bench) {
            let bytes = fs::read(&path).unwrap_or_default();
            let holds = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!holds, "{} holds the key", path.display());
        }
    }
}

#[test]
fn a_saved_key_that_a_file_holds_is_masked_for_the_model() {
    let bench = TestDir::new();
    fs::write(bench.work().join("notes.txt"), format!("the word is {KEY}\n")).unwrap();
    let read = Reply::cmd("I read it.", "cat", &["notes.txt"]);
    let server = listing(vec![read, Reply::chat("Done.")]);
    with_key(&bench, &["login", &server.base_url(), "--key-stdin"]);
    let said = run(&bench, &["-p", "read notes.txt"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said));
    let sent = server.requests().last().unwrap().json().to_string();
    assert!(sent.contains("the word is") && !sent.contains(KEY), "{sent}");
}

#[test]
fn a_listed_model_shows_what_its_server_says_and_doctor_names_a_wrong_one() {
    let bench = TestDir::new();
    let entry = json!({ "id": "tiny", "owned_by": "llamacpp", "meta": { "n_ctx": 4096 } });
    let list = Reply::json(200, &json!({ "data": [entry] }));
    let can = json!({ "chat_template_caps": { "supports_tool_calls": true } });
    let pages = vec![("/v1/models", list), ("/props", Reply::json(200, &can))];
    let server = Server::start_with_pages(vec![], pages);
    let address = server.base_url();
    let list = run(&bench, &["model", "list", "--base-url", &address]);
    assert!(text(&list).contains("4096"), "{}", text(&list));
    let show = run(&bench, &["model", "show", "tiny", "--base-url", &address]);
    assert_eq!(show.status.code(), Some(0), "{}", text(&show));
    assert!(text(&show).contains("4096 tokens"), "{}", text(&show));
    assert!(text(&show).lines().any(|line| line.contains("tools") && line.contains("yes")));
    let doctor = run(&bench, &["doctor", "--base-url", &address, "--model", "tinny"]);
    let said = text(&doctor);
    assert!(said.contains("`tinny` is not among them") && said.contains("`tiny`"), "{said}");
}

#[test]
fn a_model_that_calls_tools_is_found_with_one_request() {
    let bench = TestDir::new();
    let function = json!({ "name": "ping", "arguments": "{\"word\":\"pong\"}" });
    let call = json!({ "index": 0, "id": "c1", "type": "function", "function": function });
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    let events = [server::event(&delta), server::event(&server::finish("tool_calls"))];
    let reply = Reply::events(events.into_iter().chain(["data: [DONE]\n\n".to_owned()]));
    let server = Server::start(vec![reply]);
    let args = ["model", "test", "tiny", "--base-url", &server.base_url()];
    let tested = run(&bench, &args);
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested));
    assert_eq!(server.requests().len(), 1);
    assert!(text(&tested).contains("not tried"), "JSON is not needed: {}", text(&tested));
}
