//! Settings that change while a conversation runs on a terminal: the next message and the next step
//! have the new ones.

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};

/// Two profiles, each at a server of its own.
fn profiles(bench: &TestDir, now: &str, first: &Server, second: &Server) {
    let profile = |name: &str, server: &Server| {
        format!(
            "[profiles.{name}]\nbase_url = \"{}\"\nprovider = \"openai\"\nhigh = \"{name}-model\"\n\
             api_key_env = \"{}_VALUE\"\n",
            server.base_url(),
            name.to_uppercase()
        )
    };
    let (first, second) = (profile("first", first), profile("second", second));
    bench.settings(&format!("profile = \"{now}\"\n{first}{second}"));
}

/// The plain conversation in a terminal.
fn conversation(bench: &TestDir) -> Screen {
    let mut variables = bench.envs();
    variables.push(("FIRST_VALUE", "key-of-the-first".to_owned()));
    variables.push(("SECOND_VALUE", "key-of-the-second".to_owned()));
    let work = bench.work().display().to_string();
    let screen =
        Screen::start(&["--linear", "--trust", &work], &variables, &bench.work(), (100, 60));
    screen.wait_for("first-model");
    screen
}

#[test]
fn a_profile_in_a_changed_file_answers_the_next_message_with_its_own_server_and_key() {
    let bench = TestDir::new();
    let first = Server::start(vec![Reply::chat("From the first."), Reply::chat("Back again.")]);
    let second = Server::start(vec![Reply::chat("From the second.")]);
    profiles(&bench, "first", &first, &second);
    let mut screen = conversation(&bench);
    screen.press("hello\r");
    screen.wait_for("From the first.");
    profiles(&bench, "second", &first, &second);
    screen.press("and you?\r");
    screen.wait_for("From the second.");
    let request = second.requests().remove(0);
    assert_eq!(request.header("authorization"), Some("Bearer key-of-the-second"));
    assert_eq!(request.json()["model"], "second-model");
    // Steps see neither key, whichever profile answers.
    screen.press("!echo [$FIRST_VALUE$SECOND_VALUE]\r");
    screen.wait_for("[]");
    screen.press("/config profile first\r");
    screen.wait_for("Set `profile`");
    screen.press("back?\r");
    screen.wait_for("Back again.");
    assert_eq!(first.requests().len(), 2);
}

#[test]
fn a_time_limit_that_is_set_ends_the_next_step_and_returns_when_it_is_removed() {
    let bench = TestDir::new();
    let first = Server::start(vec![]);
    profiles(&bench, "first", &first, &first);
    let mut screen = conversation(&bench);
    screen.press("/config limits.step_timeout_s 1\r");
    screen.wait_for("Set `limits.step_timeout_s`");
    screen.press("!sleep 600\r");
    screen.wait_for("It took too long and was stopped.");
    screen.press("/config unset limits.step_timeout_s\r");
    screen.wait_for("Removed `limits.step_timeout_s`");
    screen.press("/config limits.step_timeout_s\r");
    screen.wait_for("built in");
    screen.press("!sleep 1.5; echo it ended\r");
    screen.wait_for("It succeeded.");
}
