//! `avocet gateway run` against a workspace of our own: a turn with an approval, troubles of the
//! connection, restarts, floods, and those who may not talk.

use std::time::Duration;

use crate::fakes::service::Fault;
use crate::fakes::slack::{APP_TOKEN, BOT_TOKEN, Message, SlackServer};
use crate::process::{
    Conversation, GatewayProcess, answers, ask_for_each, data, expect_each_once,
    expect_the_answers_after_a_kill, kill_in_the_middle, touch,
};
use crate::support::server::Reply;
use serde_json::json;

const ANN: &str = "U7";
const STRANGER: &str = "U666";

fn start(server: &SlackServer, replies: Vec<Reply>) -> GatewayProcess {
    let gateway = start_with(server, replies, APP_TOKEN, BOT_TOKEN);
    server.wait_until_connected();
    gateway
}

fn start_with(server: &SlackServer, replies: Vec<Reply>, app: &str, bot: &str) -> GatewayProcess {
    let settings = format!(
        "[gateway]\nmax_queued = 50\n\n[gateway.slack]\nenabled = true\napi_url = \"{}\"\n\
         allow = [\"{ANN}\"]\n",
        server.api_url()
    );
    let tokens = [("SLACK_APP_TOKEN", app), ("SLACK_BOT_TOKEN", bot)];
    GatewayProcess::start(replies, &settings, &tokens)
}

fn wait_for(server: &SlackServer, words: &str) -> Message {
    server.wait_for_message(words, |message| message.shown().contains(words))
}

fn wait_for_question(server: &SlackServer) -> Message {
    server.wait_for_message("buttons", |message| !message.buttons().is_empty())
}

/// Presses what has this data; returns the envelope.
fn press(server: &SlackServer, user: &str, question: &Message, data: &str) -> String {
    let button = json!({ "type": "button", "action_id": "b0", "value": data });
    server.press_forged(user, question, &button)
}

/// What those who pressed were told.
fn wait_for_refusals(server: &SlackServer, number: usize) {
    server.workspace.wait("refusals", |workspace| {
        let told = workspace.responses.values().flatten();
        let late =
            told.filter(|body| body["text"].as_str().is_some_and(|text| text.contains("Too late")));
        (late.count() >= number).then_some(())
    });
}

impl Conversation for SlackServer {
    fn ask(&self, words: &str) {
        self.say(ANN, words);
    }

    fn wait_until_said(&self, words: &str) {
        wait_for(self, words);
    }

    fn times_said(&self, words: &str) -> usize {
        self.messages().iter().filter(|message| message.shown().contains(words)).count()
    }
}

#[test]
fn a_turn_with_an_approval_runs_the_step_and_answers_in_the_thread() {
    let server = SlackServer::start();
    let gateway = start(&server, vec![touch(), Reply::chat("**Done**, it is there.")]);
    let thread = server.mention("C1", ANN, "make a file");
    let question = wait_for_question(&server);
    assert!(question.shown().contains("touch made.txt"), "{}", question.shown());
    assert_eq!(question.thread, Some(thread.clone()));
    assert!(!gateway.has_file("made.txt"), "nothing runs before the answer");
    let envelope = press(&server, ANN, &question, &data(&question.buttons(), "once"));
    let answer = wait_for(&server, "it is there.");
    assert!(gateway.has_file("made.txt"));
    assert_eq!((answer.shown().as_str(), answer.thread), ("*Done*, it is there.", Some(thread)));
    server.wait_for_acknowledgement(&envelope);
    let closed = server.wait_for_message("the closed question", |message| {
        message.ts == question.ts && message.buttons().is_empty()
    });
    assert!(closed.shown().contains("touch made.txt"), "{}", closed.shown());
    press(&server, ANN, &question, &data(&question.buttons(), "once"));
    wait_for_refusals(&server, 1);
    server.workspace.with(|workspace| {
        assert!(workspace.envelopes.iter().all(|envelope| envelope.deliveries == 1));
    });
}

#[test]
fn a_press_that_is_forged_or_of_someone_else_decides_nothing() {
    let server = SlackServer::start();
    let gateway = start(&server, vec![touch(), Reply::chat("Fine.")]);
    server.say(ANN, "make a file");
    let question = wait_for_question(&server);
    let right = data(&question.buttons(), "once");
    for forged in ["q.aaaaaaaaaaaaaaaaaaaaaaaa.once", "once", "", "\u{202e}"] {
        press(&server, ANN, &question, forged);
    }
    press(&server, STRANGER, &question, &right);
    let elsewhere = Message { channel: "C5".into(), ..question.clone() };
    press(&server, ANN, &elsewhere, &right);
    wait_for_refusals(&server, 4);
    assert!(!gateway.has_file("made.txt"));
    press(&server, ANN, &question, &data(&question.buttons(), "no"));
    wait_for(&server, "Fine.");
    assert!(!gateway.has_file("made.txt"));
}

#[test]
fn commands_work_during_a_run_by_slash_and_by_exclamation_mark() {
    let server = SlackServer::start();
    let gateway = start(&server, vec![Reply::chat("slow").hang_after(2), Reply::chat("Second.")]);
    let thread = server.mention("C1", ANN, "first");
    gateway.model.wait_for_requests(1);
    server.chatter("C1", ANN, "!stop", Some(&thread));
    server.mention_in_thread("C1", ANN, "second", &thread);
    wait_for(&server, "Second.");
    for line in ["help", "HELP", "/Help"] {
        let pages = |messages: &[Message]| {
            messages.iter().filter(|message| message.shown().contains("/steer")).count()
        };
        let before = pages(&server.messages());
        server.command(&format!("D{ANN}"), ANN, "/avocet", line);
        server.workspace.wait(line, |w| (pages(&w.messages) > before).then_some(()));
    }
    assert_eq!(gateway.model.requests().len(), 2);
}

#[test]
fn no_one_else_gets_an_answer_and_their_words_reach_no_model() {
    let server = SlackServer::start();
    let gateway = start(&server, vec![Reply::chat("For Ann.")]);
    server.say(STRANGER, "run rm -rf /");
    server.mention("C1", STRANGER, "hello");
    server.chatter("C1", ANN, "not meant for the bot", None);
    server.say(ANN, "hello");
    wait_for(&server, "For Ann.");
    assert_eq!(gateway.model.requests().len(), 1);
    assert!(server.messages().iter().all(|message| message.channel != "C1"));
}

#[test]
fn strangers_who_are_refused_hold_no_one_up_and_get_no_more_than_a_few_words() {
    let server = SlackServer::start();
    for _ in 0..4 {
        server.plan("chat.postMessage DU666", Fault::Silent);
    }
    let _gateway = start(&server, vec![Reply::chat("For Ann.")]);
    for number in 0..40 {
        server.say(&format!("{STRANGER}{number}"), "let me in");
    }
    server.say(ANN, "hello");
    wait_for(&server, "For Ann.");
    let calls = server.calls("chat.postMessage");
    let chats = calls.iter().filter_map(|call| call.body["channel"].as_str());
    assert_eq!(chats.filter(|chat| chat.contains(STRANGER)).count(), 4);
}

#[test]
fn a_long_reply_where_the_bot_is_no_member_is_shown_whole_to_the_one_who_asked() {
    let server = SlackServer::start();
    server.workspace.with(|workspace| workspace.closed_channels.push("C9".into()));
    let words: Vec<String> = (1..=150).map(|number| format!("word{number}")).collect();
    let words = words.join(" ");
    let reply = json!({ "type": "chat", "message": words, "data": {} }).to_string();
    // Longer than five times the pause between two edits.
    let slow = Reply::text(&reply, 100).pause(Duration::from_millis(80));
    let _gateway = start(&server, vec![slow]);
    let of_a_stranger = server.command("C9", STRANGER, "/avocet", "tell me as well");
    let own = server.command("C9", ANN, "/avocet", "tell me a lot");
    let told = server.workspace.wait("the whole reply", |workspace| {
        let told = &workspace.responses[&own];
        told.iter().any(|body| body["text"] == words.as_str()).then_some(told.len())
    });
    assert!(told <= 5, "{told}");
    server.workspace.with(|workspace| {
        let strange = format!("{:?}", workspace.responses[&of_a_stranger]);
        assert!(!strange.contains("word"), "{strange}");
        assert!(workspace.messages.is_empty());
    });
}

#[test]
fn every_message_is_answered_once_although_the_service_drops_repeats_and_reorders() {
    let server = SlackServer::start();
    let gateway = start(&server, answers(6));
    for number in 0..6 {
        server.say(ANN, &format!("question {number}"));
        match number {
            1 => server.break_connections(),
            3 => server.announce_disconnect("refresh_requested"),
            _ => {}
        }
        server.repeat_everything_backwards();
    }
    wait_for(&server, "Answer 5.");
    server.repeat_everything_backwards();
    server.say(ANN, "!status");
    expect_each_once(&server, &gateway, 6);
}

#[test]
fn rate_limits_breaks_and_lost_confirmations_lose_nothing_and_repeat_nothing() {
    let server = SlackServer::start();
    let gateway = start(&server, answers(8));
    server.workspace.with(|workspace| workspace.pace = Some(Duration::from_millis(50)));
    server.plan("chat.postMessage", Fault::Limited(1));
    server.plan("chat.postMessage", Fault::Unheard);
    server.plan("chat.postMessage", Fault::Broken);
    server.plan("chat.postMessage", Fault::Status(503));
    server.plan("chat.update", Fault::Limited(1));
    ask_for_each(&server, 8);
    expect_each_once(&server, &gateway, 8);
}

#[test]
fn a_kill_in_the_middle_loses_nothing_and_answers_nothing_twice() {
    let server = SlackServer::start();
    let replies = vec![Reply::chat("One."), touch(), Reply::chat("Three."), Reply::chat("Four.")];
    let mut gateway = start(&server, replies);
    let question = kill_in_the_middle(&server, &mut gateway, || wait_for_question(&server));
    server.wait_for_connection(2);
    server.repeat_everything_backwards();
    expect_the_answers_after_a_kill(&server);
    press(&server, ANN, &question, &data(&question.buttons(), "once"));
    wait_for_refusals(&server, 1);
    assert!(!gateway.has_file("made.txt"));
}

#[test]
fn a_wrong_token_ends_the_service_and_tokens_are_written_nowhere() {
    let server = SlackServer::start();
    for (app, bot) in [(APP_TOKEN, "xoxb-wrong-secret"), ("xapp-wrong-secret", BOT_TOKEN)] {
        let mut gateway = start_with(&server, vec![], app, bot);
        let (code, text) = gateway.wait();
        assert_ne!(code, Some(0));
        assert!(text.contains("slack") && !text.contains("secret"), "{text}");
    }
    let mut gateway = start(&server, vec![Reply::chat("Here.")]);
    server.say(ANN, "hello");
    wait_for(&server, "Here.");
    let (code, text) = gateway.stop();
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("secret") && !text.contains("ticket"), "{text}");
}
