//! Keys in servers' messages and in the user's input: masked wherever they are shown or saved.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server, event};
use crate::support::wait::wait_until;

/// The key of the settings: no shape tells that it is one.
const OWN: &str = "rather-plain-5Tf8Qz1Lm4Vx";

fn keys() -> Vec<String> {
    vec![
        "sk-proj-aB3dE6gH9kaB3dE6gH9kaB3d".to_owned(),
        format!("ghp_{}", "aB3d".repeat(9)),
        "AKIAQ7ZK3T5M2X9WB4CD".to_owned(),
        OWN.to_owned(),
    ]
}

trait SecretsDir {
    fn envs_with_key(&self) -> Vec<(&'static str, String)>;
    fn screen(&self, server: &Server) -> Screen;
    fn run(&self, server: &Server, args: &[&str]) -> String;
    fn assert_no_saved_key(&self);
}

impl SecretsDir for TestDir {
    fn envs_with_key(&self) -> Vec<(&'static str, String)> {
        let more = [("AVOCET_LOG", "trace"), ("AVOCET_API_KEY", OWN)];
        let more = more.map(|(name, value)| (name, value.to_owned()));
        self.envs().into_iter().chain(more).collect()
    }

    fn screen(&self, server: &Server) -> Screen {
        let (work, url) = (self.work().display().to_string(), server.base_url());
        let envs = self.envs_with_key();
        let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
        let screen = Screen::start(&args, &envs, &self.work(), (100, 40));
        screen.wait_for("loop-1");
        screen
    }

    /// Everything a run without the screen says.
    fn run(&self, server: &Server, args: &[&str]) -> String {
        let mut command = self.command(&["--base-url", &server.base_url(), "--model", "loop-1"]);
        let output = command.args(args).envs(self.envs_with_key()).output().unwrap();
        let all = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&all).into_owned()
    }

    /// What is kept: settings, state, sessions, log.
    #[track_caller]
    fn assert_no_saved_key(&self) {
        for key in keys() {
            let files = holding(&self.root.path().join("avocet"), &key);
            assert_eq!(files, Vec::<PathBuf>::new(), "{key}");
        }
    }
}

fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|part| part == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[track_caller]
fn assert_no_key(text: &str) {
    for key in keys() {
        assert!(!text.contains(&key), "{key}: {text}");
    }
}

/// Answers that quote keys: refusals, failures, and an error in the middle of a stream.
fn quoting() -> Vec<Reply> {
    let said = format!("Incorrect key provided: {}.", keys().join(" and "));
    let error = json!({ "error": { "message": said, "code": said, "type": said } });
    let mut all: Vec<Reply> =
        [400, 401, 402, 403, 404].iter().map(|status| Reply::json(*status, &error)).collect();
    all.push(Reply::status(400).body(said.clone()));
    all.push(Reply::events([event(&error)]));
    all.push(Reply::status(200).header("content-type", "text/plain").body(said));
    all
}

#[test]
fn a_key_in_a_server_error_is_masked_in_every_headless_mode() {
    let bench = TestDir::new();
    for reply in quoting() {
        for args in [&["-p", "x"][..], &["--json", "-p", "x"]] {
            let said = bench.run(&Server::start(vec![reply.clone(); 6]), args);
            assert!(said.len() > 20, "{said}");
            assert_no_key(&said);
        }
    }
    bench.assert_no_saved_key();
}

#[test]
fn a_key_that_was_typed_is_masked_in_json_and_logs_and_the_rest_of_the_message_is_not() {
    let bench = TestDir::new();
    for key in keys() {
        let prompt = format!("is {key} still good?");
        let said = bench.run(&Server::start(vec![Reply::chat("No.")]), &["--json", "-p", &prompt]);
        let started = said.lines().find(|line| line.contains("turn_started")).unwrap();
        assert!(started.contains("is ") && started.contains(" still good?"), "{started}");
        assert_no_key(&said);
    }
    bench.assert_no_saved_key();
}

#[test]
fn a_key_in_a_server_error_is_masked_on_the_screen_and_in_saved_files() {
    for reply in quoting() {
        let bench = TestDir::new();
        let server = Server::start(vec![reply]);
        let mut screen = bench.screen(&server);
        screen.press("hello\r");
        server.wait_for_requests(1);
        screen.wait_for("✗");
        screen.wait_until_idle();
        screen.press("\x04");
        screen.wait_for_exit();
        assert_no_key(&String::from_utf8_lossy(&screen.raw()));
        bench.assert_no_saved_key();
    }
}

#[test]
fn a_conversation_that_is_too_long_offers_compaction() {
    let said =
        json!({ "error": { "message": "too many tokens", "code": "context_length_exceeded" } });
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::json(400, &said); 6]);
    let mut screen = bench.screen(&server);
    screen.press("hello\r");
    screen.wait_for("/compress");
    assert!(bench.run(&server, &["-p", "x"]).contains("/compress"));
}

#[test]
fn a_key_that_was_typed_is_masked_in_the_history_and_in_the_draft_once_it_is_sent() {
    let bench = TestDir::new();
    let slow = Reply::chat("It takes its time.").hang_after(3);
    let server = Server::start(vec![Reply::chat("Noted."), slow]);
    let mut screen = bench.screen(&server);
    for key in keys() {
        screen.press(&format!("keep {key} "));
    }
    screen.press("please\r");
    screen.wait_for("Noted.");
    screen.wait_until_idle();
    let history = bench.path("avocet/state/history");
    wait_until("the line is kept", || {
        fs::read_to_string(&history).is_ok_and(|text| text.contains("please"))
    });
    bench.assert_no_saved_key();
    let history = fs::read_to_string(&history).unwrap();
    assert!(history.contains("keep ") && history.contains("please"), "{history}");
    // What waits for its turn was sent as well; a killed program leaves no key of it.
    screen.press("go on\r");
    server.wait_for_requests(2);
    screen.wait_for("Esc stops");
    screen.press(&format!("steer by {} first\r", keys().join(" ")));
    screen.wait_for("next step");
    screen.press(&format!("and {} too\t", keys().join(" ")));
    screen.wait_for("queued");
    screen.press("half a thought");
    let drafts = bench.root.path().join("avocet/state/drafts");
    wait_until("the draft is kept", || !holding(&drafts, "half a thought").is_empty());
    screen.signal("KILL");
    screen.wait_for_exit();
    bench.assert_no_saved_key();
}
