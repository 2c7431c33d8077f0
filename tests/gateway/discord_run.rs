//! `avocet gateway run` against a service of our own: a turn with an approval, troubles of the
//! connection, restarts, floods, and those who may not talk.

use std::time::Duration;

use crate::fakes::discord::{DiscordServer, Message, TOKEN};
use crate::fakes::service::Fault;
use crate::process::{
    Conversation, GatewayProcess, answers, ask_for_each, data, expect_each_once,
    expect_the_answers_after_a_kill, kill_in_the_middle, touch,
};
use crate::support::server::Reply;
use serde_json::json;

const ANN: &str = "17";
const STRANGER: &str = "666";

fn start(server: &DiscordServer, replies: Vec<Reply>) -> GatewayProcess {
    let gateway = start_with(server, replies, TOKEN);
    server.wait_until_connected();
    gateway
}

fn start_with(server: &DiscordServer, replies: Vec<Reply>, token: &str) -> GatewayProcess {
    let settings = format!(
        "[gateway]\nmax_queued = 50\n\n[gateway.discord]\nenabled = true\napi_url = \"{}\"\n\
         allow = [\"{ANN}\"]\n",
        server.api_url()
    );
    GatewayProcess::start(replies, &settings, &[("DISCORD_BOT_TOKEN", token)])
}

fn wait_for(server: &DiscordServer, words: &str) -> Message {
    server.wait_for_message(words, |message| message.content.contains(words))
}

fn wait_for_question(server: &DiscordServer) -> Message {
    server.wait_for_message("buttons", |message| !message.buttons().is_empty())
}

/// What those who pressed were told.
fn wait_for_refusals(server: &DiscordServer, number: usize) {
    server.world.wait("refusals", |world| {
        let told = world.messages.iter().filter(|message| message.is_ephemeral);
        (told.filter(|message| message.content.contains("Too late")).count() >= number)
            .then_some(())
    });
}

impl Conversation for DiscordServer {
    fn ask(&self, words: &str) {
        self.say(ANN, words);
    }

    fn wait_until_said(&self, words: &str) {
        wait_for(self, words);
    }

    fn times_said(&self, words: &str) -> usize {
        self.messages().iter().filter(|message| message.content.contains(words)).count()
    }
}

#[test]
fn a_turn_with_an_approval_runs_the_step_and_answers_in_the_channel() {
    let server = DiscordServer::start();
    let gateway = start(&server, vec![touch(), Reply::chat("**Done**, it is there.")]);
    server.mention("800", ANN, "make a file");
    let question = wait_for_question(&server);
    assert!(question.content.contains("touch"), "{}", question.content);
    assert!(!gateway.has_file("made.txt"), "nothing runs before the answer");
    let id = server.press_forged(ANN, &question, &data(&question.buttons(), "once"));
    let answer = wait_for(&server, "it is there.");
    assert!(gateway.has_file("made.txt"));
    assert_eq!(
        (answer.content.as_str(), answer.channel.as_str()),
        ("**Done**, it is there.", "800")
    );
    server.wait_for_callback(&id);
    server.wait_for_message("the closed question", |message| {
        message.id == question.id && message.buttons().is_empty()
    });
    server.press_forged(ANN, &question, &data(&question.buttons(), "once"));
    wait_for_refusals(&server, 1);
}

#[test]
fn a_press_that_is_forged_or_of_someone_else_decides_nothing() {
    let server = DiscordServer::start();
    let gateway = start(&server, vec![touch(), Reply::chat("Fine.")]);
    server.say(ANN, "make a file");
    let question = wait_for_question(&server);
    let right = data(&question.buttons(), "once");
    for forged in ["q.aaaaaaaaaaaaaaaaaaaaaaaa.once", "once", "\u{202e}"] {
        server.press_forged(ANN, &question, forged);
    }
    server.press_forged(STRANGER, &question, &right);
    wait_for_refusals(&server, 3);
    assert!(!gateway.has_file("made.txt"));
    server.press_forged(ANN, &question, &data(&question.buttons(), "no"));
    wait_for(&server, "Fine.");
    assert!(!gateway.has_file("made.txt"));
}

#[test]
fn commands_of_the_menu_are_answered_in_their_place_during_a_run() {
    let server = DiscordServer::start();
    let gateway = start(&server, vec![Reply::chat("slow").hang_after(2), Reply::chat("Second.")]);
    server.world.wait("the menu", |world| {
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
    wait_for(&server, "Second.");
    let typed = server.type_option(&channel, ANN, "help", "topic", "k");
    assert_eq!(server.wait_for_callback(&typed)["type"], 8);
}

#[test]
fn a_menu_that_the_service_did_not_take_is_sent_again() {
    let server = DiscordServer::start();
    server.plan("PUT /applications", Fault::Status(503));
    let _process = start(&server, Vec::new());
    server.world.wait("two tries", |world| {
        let puts = world.calls.iter().filter(|call| call.name.starts_with("PUT /applications"));
        (puts.count() >= 2).then_some(())
    });
}

#[test]
fn no_one_else_gets_an_answer_and_their_words_reach_no_model() {
    let server = DiscordServer::start();
    let gateway = start(&server, vec![Reply::chat("For Ann.")]);
    server.say(STRANGER, "run rm -rf /");
    server.mention("800", STRANGER, "hello");
    server.chatter("800", ANN, "not meant for the bot");
    server.say(ANN, "hello");
    wait_for(&server, "For Ann.");
    assert_eq!(gateway.model.requests().len(), 1);
    assert!(server.messages().iter().all(|message| message.channel != "800"));
}

#[test]
fn a_command_of_a_stranger_takes_the_place_of_no_answer() {
    let server = DiscordServer::start();
    let _gateway = start(&server, vec![Reply::chat("For Ann.")]);
    let strange = server.command("800", STRANGER, "help", json!([]));
    server.wait_for_callback(&strange);
    server.world.wait("the command is dismissed", |world| {
        world.calls.iter().any(|call| call.name.starts_with("DELETE /webhooks")).then_some(())
    });
    server.mention("800", ANN, "hello");
    let answer = wait_for(&server, "For Ann.");
    assert_eq!(answer.interaction, None);
}

#[test]
fn every_message_is_answered_once_although_the_service_drops_repeats_and_reorders() {
    let server = DiscordServer::start();
    let gateway = start(&server, answers(6));
    for number in 0..6 {
        server.say(ANN, &format!("question {number}"));
        match number {
            1 => server.break_connections(),
            3 => server.invalidate(false),
            _ => {}
        }
        server.repeat_everything_backwards();
    }
    expect_each_once(&server, &gateway, 6);
}

#[test]
fn buckets_breaks_and_lost_confirmations_lose_nothing_and_repeat_nothing() {
    let server = DiscordServer::start();
    let gateway = start(&server, answers(8));
    server.world.with(|world| world.bucket = Some((5, Duration::from_secs(1))));
    server.plan("POST /channels/717/messages", Fault::Limited(1));
    server.plan("POST /channels/717/messages", Fault::Unheard);
    server.plan("POST /channels/717/messages", Fault::Broken);
    server.plan("POST /channels/717/messages", Fault::Status(502));
    server.plan("PATCH /channels", Fault::LimitedEverywhere(1));
    ask_for_each(&server, 8);
    expect_each_once(&server, &gateway, 8);
    assert!(server.world.with(|world| world.exceeded) <= 2);
}

#[test]
fn a_kill_in_the_middle_loses_nothing_and_answers_nothing_twice() {
    let server = DiscordServer::start();
    let replies = vec![Reply::chat("One."), touch(), Reply::chat("Three."), Reply::chat("Four.")];
    let mut gateway = start(&server, replies);
    let question = kill_in_the_middle(&server, &mut gateway, || wait_for_question(&server));
    server.repeat_everything_backwards();
    server.press_forged(ANN, &question, &data(&question.buttons(), "once"));
    wait_for_refusals(&server, 1);
    expect_the_answers_after_a_kill(&server);
    assert!(!gateway.has_file("made.txt"));
}

#[test]
fn a_wrong_token_ends_the_service_and_tokens_are_written_nowhere() {
    let server = DiscordServer::start();
    let mut gateway = start_with(&server, vec![], "wrong-secret");
    let (code, text) = gateway.wait();
    assert_ne!(code, Some(0));
    assert!(text.contains("discord") && !text.contains("secret"), "{text}");
    let mut gateway = start(&server, vec![Reply::chat("Here.")]);
    server.say(ANN, "hello");
    wait_for(&server, "Here.");
    let (code, text) = gateway.stop();
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("secret"), "{text}");
}
