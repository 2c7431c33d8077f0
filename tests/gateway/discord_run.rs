//! `avocet gateway run` with Discord: how its users do what they do, and its menu.

use std::time::Duration;

use crate::fakes::discord::{DiscordServer, Message, TOKEN, World};
use crate::fakes::service::{Fault, Service};
use crate::journeys::{ChatService, Gateway, Shown};
use crate::support::server::Reply;
use serde_json::json;

const ANN: &str = DiscordServer::ANN;

fn messages(world: &World) -> impl Iterator<Item = Shown> {
    let shown = |message: &Message| Shown {
        id: message.id.clone(),
        place: message.channel.clone(),
        text: message.content.replace('\\', ""),
        buttons: message.buttons(),
    };
    world.messages_of_the_bot().map(shown)
}

impl ChatService for DiscordServer {
    const NAME: &'static str = "discord";
    const TOKENS: &'static [(&'static str, &'static str)] = &[("DISCORD_BOT_TOKEN", TOKEN)];
    const ANN: &'static str = "17";
    const STRANGER: &'static str = "666";
    const ELSEWHERE: &'static str = "801";
    const DONE: &'static str = "**Done**, it is there.";

    fn say(&self, user: &str, words: &str) {
        DiscordServer::say(self, user, words);
    }

    fn say_in_group(&self, user: &str, words: &str) -> String {
        self.mention("800", user, words);
        "800".into()
    }

    fn chatter(&self, user: &str, words: &str) {
        DiscordServer::chatter(self, "800", user, words);
    }

    fn answer_in_group(&self, user: &str, author: &str, said: &str, words: &str) {
        let author = json!({ "id": author, "username": format!("user {author}") });
        self.with(|world| world.answered = Some(json!({ "author": author, "content": said })));
        self.mention("800", user, words);
    }

    fn sent_file(&self, name: &str) -> Vec<u8> {
        self.wait(name, |world| {
            let file = world.files.values().find(|(of, _)| of == name);
            file.map(|(_, bytes)| bytes.clone())
        })
    }

    fn press(&self, user: &str, question: &Shown, data: &str) -> String {
        let (id, channel) = (question.id.clone(), question.place.clone());
        self.press_forged(user, &Message { id, channel, ..Message::default() }, data)
    }

    fn wait_until_acknowledged(&self, press: &str) {
        self.wait_for_callback(press);
    }

    fn told(&self, press: &str) -> String {
        let told = self.wait_for_message("what is told", |message| {
            message.is_ephemeral && message.interaction.as_deref() == Some(press)
        });
        told.content
    }

    fn look<R>(&self, what: &str, look: impl Fn(Vec<Shown>) -> Option<R>) -> R {
        self.wait(what, |world| look(messages(world).collect()))
    }

    fn disturb(&self, time: usize) {
        if time.is_multiple_of(2) { self.break_connections() } else { self.invalidate(false) }
    }

    fn repeat_backwards(&self) {
        self.repeat_everything_backwards();
    }

    fn plan_trouble(&self) {
        self.with(|world| world.bucket = Some((5, Duration::from_secs(1))));
        self.plan("POST /channels/717/messages", Fault::Limited(1));
        self.plan("POST /channels/717/messages", Fault::Unheard);
        self.plan("POST /channels/717/messages", Fault::Broken);
        self.plan("POST /channels/717/messages", Fault::Status(502));
        self.plan("PATCH /channels", Fault::LimitedEverywhere(1));
    }
}

#[test]
fn commands_of_the_menu_are_answered_in_their_place_during_a_run() {
    let gateway = Gateway::<DiscordServer>::start(vec![
        Reply::chat("slow").hang_after(2),
        Reply::chat("Second."),
    ]);
    let server = &gateway.service;
    server.wait("the menu", |world| {
        world.commands.as_array().is_some_and(|all| all.len() > 5).then_some(())
    });
    server.say(ANN, "first");
    gateway.model.wait_for_requests(1);
    let channel = format!("7{ANN}");
    let help = server.command(&channel, ANN, "help", json!([]));
    server.wait_for_callback(&help);
    server.wait_for_message("help", |message| message.interaction.as_ref() == Some(&help));
    let stop = server.command(&channel, ANN, "stop", json!([]));
    let stopped = server.wait_for_message("the answer to /stop", |message| {
        message.interaction.as_ref() == Some(&stop) && !message.content.is_empty()
    });
    assert!(stopped.content.contains("topped"), "{}", stopped.content);
    server.say(ANN, "second");
    gateway.said("Second.");
    let typed = server.type_option(&channel, ANN, "help", "topic", "k");
    assert_eq!(server.wait_for_callback(&typed)["type"], 8);
}

#[test]
fn a_question_of_a_channel_says_how_typed_words_reach_a_bot_that_may_not_read_all() {
    let commands = json!([{ "tool": "ask", "input": { "question": "Which colour?" } }]);
    let ask = json!({ "type": "cmd", "message": "I ask.", "data": { "commands": commands } });
    let mut gateway = Gateway::<DiscordServer>::start(vec![Reply::text(&ask.to_string(), 1)]);
    gateway.service.mention("800", ANN, "paint it");
    let question = gateway.said("Which colour?");
    assert!(question.text.contains("only as a reply to this message"), "{}", question.text);
    let (_, told) = gateway.stop();
    assert!(told.contains("Discord: Message Content Intent is off"), "{told}");
}

#[test]
fn a_command_is_answered_in_the_language_of_the_users_client() {
    let server = DiscordServer::start();
    server.with(|world| world.locale = "zh-CN".into());
    let gateway = Gateway::beside(server, Vec::new());
    gateway.service.command(&format!("7{ANN}"), ANN, "whoami", json!([]));
    gateway.said("你在这里的编号");
}

#[test]
fn a_menu_that_the_service_did_not_take_is_sent_again() {
    let server = DiscordServer::start();
    server.plan("PUT /applications", Fault::Status(503));
    let gateway = Gateway::beside(server, Vec::new());
    gateway.service.wait_for_calls("PUT /applications", 2);
}

#[test]
fn a_command_of_a_stranger_takes_the_place_of_no_answer() {
    let gateway = Gateway::<DiscordServer>::start(vec![Reply::chat("For Ann.")]);
    let server = &gateway.service;
    let strange = server.command("800", DiscordServer::STRANGER, "help", json!([]));
    server.wait_for_callback(&strange);
    server.wait_for_calls("DELETE /webhooks", 1);
    server.mention("800", ANN, "hello");
    let answer = server.wait_for_message("For Ann.", |message| message.content == "For Ann.");
    assert_eq!(answer.interaction, None);
}
