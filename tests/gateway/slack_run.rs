//! `avocet gateway run` with Slack: how its users do what they do, its commands, and chats in which
//! the bot is no member.

use std::time::Duration;

use crate::fakes::service::{Fault, Service};
use crate::fakes::slack::{APP_TOKEN, BOT_TOKEN, Message, SlackServer, Workspace};
use crate::journeys::{ChatService, Gateway, Shown};
use crate::support::server::Reply;
use serde_json::json;

const ANN: &str = SlackServer::ANN;
const STRANGER: &str = SlackServer::STRANGER;

fn messages(workspace: &Workspace) -> impl Iterator<Item = Shown> {
    let shown = |message: &Message| Shown {
        id: message.ts.clone(),
        place: place(&message.channel, message.thread.as_deref()),
        text: message.shown(),
        buttons: message.buttons(),
    };
    workspace.messages_of_the_app().map(shown)
}

fn place(channel: &str, thread: Option<&str>) -> String {
    thread.map_or_else(|| channel.to_owned(), |thread| format!("{channel}/{thread}"))
}

impl ChatService for SlackServer {
    const NAME: &'static str = "slack";
    const TOKENS: &'static [(&'static str, &'static str)] =
        &[("SLACK_APP_TOKEN", APP_TOKEN), ("SLACK_BOT_TOKEN", BOT_TOKEN)];
    const ANN: &'static str = "U7";
    const STRANGER: &'static str = "U666";
    const ELSEWHERE: &'static str = "C5";
    const DONE: &'static str = "*Done*, it is there.";

    fn say(&self, user: &str, words: &str) {
        SlackServer::say(self, user, words);
    }

    fn say_in_group(&self, user: &str, words: &str) -> String {
        place("C1", Some(&self.mention("C1", user, words)))
    }

    fn chatter(&self, user: &str, words: &str) {
        SlackServer::chatter(self, "C1", user, words, None);
    }

    fn answer_in_group(&self, user: &str, author: &str, said: &str, words: &str) {
        let first = SlackServer::chatter(self, "C1", author, said, None);
        self.mention_in_thread("C1", user, words, &first);
    }

    fn command(&self, user: &str, line: &str) {
        SlackServer::command(self, &format!("D{user}"), user, "/avocet", line);
    }

    fn sent_file(&self, name: &str) -> Vec<u8> {
        self.wait(name, |workspace| {
            let mut files = workspace.files.values();
            let shared = files.find(|file| file.name == name && file.channel.is_some());
            shared.map(|file| file.bytes.clone())
        })
    }

    fn press(&self, user: &str, question: &Shown, data: &str) -> String {
        let (channel, thread) = match question.place.split_once('/') {
            Some((channel, thread)) => (channel, Some(thread.to_owned())),
            None => (question.place.as_str(), None),
        };
        let (channel, ts) = (channel.to_owned(), question.id.clone());
        let button = json!({ "type": "button", "action_id": "b0", "value": data });
        self.press_forged(user, &Message { channel, ts, thread, ..Message::default() }, &button)
    }

    fn wait_until_acknowledged(&self, press: &str) {
        self.wait_for_acknowledgement(press);
    }

    fn told(&self, press: &str) -> String {
        self.wait_for_response(press)
    }

    fn look<R>(&self, what: &str, look: impl Fn(Vec<Shown>) -> Option<R>) -> R {
        self.wait(what, |workspace| look(messages(workspace).collect()))
    }

    fn disturb(&self, time: usize) {
        match time % 2 {
            0 => self.break_connections(),
            _ => self.announce_disconnect("refresh_requested"),
        }
    }

    fn repeat_backwards(&self) {
        self.repeat_everything_backwards();
    }

    fn plan_trouble(&self) {
        self.with(|workspace| workspace.pace = Some(Duration::from_millis(50)));
        self.plan("chat.postMessage", Fault::Limited(1));
        self.plan("chat.postMessage", Fault::Unheard);
        self.plan("chat.postMessage", Fault::Broken);
        self.plan("chat.postMessage", Fault::Status(503));
        self.plan("chat.update", Fault::Limited(1));
    }
}

#[test]
fn what_follows_in_a_thread_of_the_bot_needs_no_mention() {
    let gateway = Gateway::<SlackServer>::start(vec![Reply::chat("One."), Reply::chat("Two.")]);
    let thread = gateway.service.mention("C1", ANN, "help");
    gateway.said("One.");
    gateway.service.chatter("C1", ANN, "talk in the channel", None);
    gateway.service.chatter("C1", SlackServer::STRANGER, "talk in the thread", Some(&thread));
    gateway.service.chatter("C1", ANN, "and now the tests", Some(&thread));
    let answer = gateway.said("Two.");
    assert_eq!(answer.place, place("C1", Some(&thread)));
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains("[user U7] and now the tests"), "{asked}");
    assert!(!asked.contains("talk in"), "{asked}");
}

#[test]
fn a_user_is_answered_in_the_language_of_their_profile() {
    let server = SlackServer::start();
    server.with(|workspace| workspace.locale = "zh-CN".into());
    let gateway = Gateway::beside(server, Vec::new());
    gateway.service.command(&format!("D{ANN}"), ANN, "/avocet", "whoami");
    gateway.said("你在这里的编号");
}

#[test]
fn commands_work_during_a_run_by_slash_and_by_exclamation_mark() {
    let gateway = Gateway::<SlackServer>::start(vec![
        Reply::chat("slow").hang_after(2),
        Reply::chat("Second."),
    ]);
    let server = &gateway.service;
    let thread = server.mention("C1", ANN, "first");
    gateway.model.wait_for_requests(1);
    server.chatter("C1", ANN, "!stop", Some(&thread));
    server.mention_in_thread("C1", ANN, "second", &thread);
    gateway.said("Second.");
    for line in ["help", "HELP", "/Help"] {
        let pages = |messages: &[Message]| {
            messages.iter().filter(|message| message.shown().contains("/steer")).count()
        };
        let before = pages(&server.messages());
        server.command(&format!("D{ANN}"), ANN, "/avocet", line);
        server.wait(line, |w| (pages(&w.messages) > before).then_some(()));
    }
    assert_eq!(gateway.model.requests().len(), 2);
}

#[test]
fn strangers_who_are_refused_hold_no_one_up_and_get_no_more_than_a_few_words() {
    let server = SlackServer::start();
    for _ in 0..4 {
        server.plan("chat.postMessage DU666", Fault::Silent);
    }
    let gateway = Gateway::beside(server, vec![Reply::chat("For Ann.")]);
    let server = &gateway.service;
    for number in 0..40 {
        server.say(&format!("{STRANGER}{number}"), "let me in");
    }
    server.say(ANN, "hello");
    gateway.said("For Ann.");
    let calls = server.calls("chat.postMessage");
    let chats = calls.iter().filter_map(|call| call.body["channel"].as_str());
    assert_eq!(chats.filter(|chat| chat.contains(STRANGER)).count(), 4);
}

#[test]
fn a_long_reply_where_the_bot_is_no_member_is_shown_whole_to_the_one_who_asked() {
    let server = SlackServer::start();
    server.with(|workspace| workspace.closed_channels.push("C9".into()));
    let words: Vec<String> = (1..=150).map(|number| format!("word{number}")).collect();
    let words = words.join(" ");
    let reply = json!({ "type": "chat", "message": words, "data": {} }).to_string();
    // Longer than five times the pause between two edits.
    let slow = Reply::text(&reply, 100).pause(Duration::from_millis(80));
    let gateway = Gateway::beside(server, vec![slow]);
    let server = &gateway.service;
    let of_a_stranger = server.command("C9", STRANGER, "/avocet", "tell me as well");
    let own = server.command("C9", ANN, "/avocet", "tell me a lot");
    let told = server.wait("the whole reply", |workspace| {
        let told = &workspace.responses[&own];
        told.iter().any(|body| body["text"] == words.as_str()).then_some(told.len())
    });
    assert!(told <= 5, "{told}");
    server.with(|workspace| {
        let strange = format!("{:?}", workspace.responses[&of_a_stranger]);
        assert!(!strange.contains("word"), "{strange}");
        assert!(workspace.messages.is_empty());
    });
}
