//! `avocet gateway setup`: the steps of each platform, checked with its service.

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::fakes::discord::{self, DiscordServer};
use crate::fakes::feishu::{APP_SECRET, FeishuServer};
use crate::fakes::service::Service;
use crate::fakes::slack::{self, SlackServer};
use crate::fakes::telegram::{self, TelegramServer};
use crate::support::bench::TestDir;

/// Goes through the steps with these answers, one a line.
fn setup(dir: &TestDir, name: &str, service: &impl Service, answers: &[&str]) -> (String, Output) {
    dir.settings(&format!("[gateway.{name}]\napi_url = \"{}\"\n", service.api_url()));
    let mut command = dir.untrusted_command(&["gateway", "setup", name]);
    command.env("AVOCET_KEY_STORE", "file").env("AVOCET_LANG", "en");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let typed: String = answers.iter().map(|line| format!("{line}\n")).collect();
    process.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("gateway token"), "the token is asked for here: {text}");
    (text, output)
}

fn saved(dir: &TestDir, file: &str) -> String {
    let files = crate::journeys::walk(&dir.path("avocet"));
    let found = files.into_iter().find(|path| path.ends_with(file));
    found.map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default()
}

#[test]
fn feishu_is_set_up_step_by_step_and_what_it_lacks_is_named() {
    let (dir, service) = (TestDir::new(), FeishuServer::start());
    let answers = ["cli_test", "lark", APP_SECRET, "", "", "", "go on", "y"];
    let (text, output) = setup(&dir, "feishu", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the bot is avocet"), "{text}");
    assert!(text.contains("missing: im:message.p2p_msg:readonly"), "{text}");
    assert!(text.contains("makes you its admin"), "{text}");
    assert!(!text.contains(APP_SECRET), "{text}");
    let settings = saved(&dir, "config.toml");
    for line in ["enabled = true", "app_id = \"cli_test\"", "domain = \"lark\""] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    assert!(!settings.contains(APP_SECRET) && saved(&dir, "keys.toml").contains(APP_SECRET));
    // The folder is trusted from now on, and the doctor knows the saved token.
    let doctor = dir.untrusted_command(&["doctor"]).env("AVOCET_KEY_STORE", "file").output();
    let doctor = String::from_utf8_lossy(&doctor.unwrap().stdout).into_owned();
    let secret = doctor.lines().find(|line| line.contains("FEISHU_APP_SECRET")).unwrap();
    assert!(secret.contains("keys.toml"), "{doctor}");
    assert!(doctor.contains("this folder is trusted"), "{doctor}");
}

#[test]
fn a_token_that_the_service_refuses_is_asked_for_again_at_once_and_not_saved() {
    let (dir, service) = (TestDir::new(), FeishuServer::start());
    let answers = ["cli_test", "", "with a space", "wrong-secret"];
    let (text, output) = setup(&dir, "feishu", &service, &answers);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(at("This is not a token") < at("does not accept this token"), "{text}");
    assert!(text.trim_end().ends_with("nothing is saved."), "{text}");
    assert!(!saved(&dir, "config.toml").contains("enabled = true"));
    assert_eq!(saved(&dir, "keys.toml"), "");

    let answers = ["cli_test", "", "wrong-secret", APP_SECRET, "", "", "", "go on", "n"];
    let (text, output) = setup(&dir, "feishu", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(saved(&dir, "keys.toml").contains(APP_SECRET));

    // The saved one is kept.
    let answers = ["cli_test", "", "", "", "", "", "go on", "n"];
    let (text, output) = setup(&dir, "feishu", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("A token is saved"), "{text}");
    assert!(saved(&dir, "keys.toml").contains(APP_SECRET));
}

#[test]
fn the_other_platforms_are_asked_for_their_tokens_intents_scopes_and_webhook() {
    let (dir, service) = (TestDir::new(), TelegramServer::start());
    let answers = [telegram::TOKEN, "", "y", "go on", "n"];
    let (text, output) = setup(&dir, "telegram", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Privacy mode is on"), "{text}");
    assert!(text.contains("https://hook.example"), "{text}");
    service.wait_for_calls("deleteWebhook", 1);

    let (dir, service) = (TestDir::new(), SlackServer::start());
    let answers = ["", slack::APP_TOKEN, slack::BOT_TOKEN, "", "go on", "n"];
    let (text, output) = setup(&dir, "slack", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("missing: app_mentions:read, channels:history"), "{text}");
    assert!(!text.contains("cannot be opened"), "{text}");

    let (dir, service) = (TestDir::new(), DiscordServer::start());
    let answers = [discord::TOKEN, "", "", "go on", "n"];
    let (text, output) = setup(&dir, "discord", &service, &answers);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Message Content Intent is off"), "{text}");
    assert!(text.contains("in no server or group"), "{text}");
}
