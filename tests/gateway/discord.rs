//! The connection to Discord against a service of our own: what users do arrives once and in order,
//! whatever the service does, and what the bot does keeps to the service's rules.

use std::time::Duration;

use crate::client::{ServiceClient, Stored, Writable, once, question};
use crate::fakes::discord::{DiscordServer, TOKEN};
use crate::fakes::service::{self, Fault, Service};
use avocet::gateway::discord::{Discord, DiscordConfig};
use avocet::gateway::platform::{
    ChatAddress, Incoming, IncomingKind, NewMessage, Outgoing, OutgoingFile, Platform,
    PlatformError, RemoteFile,
};
use serde_json::json;

type Client = ServiceClient<Discord>;

fn connect(server: &DiscordServer) -> Client {
    let client = unconnected(server, TOKEN, Stored::default());
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    client
}

fn unconnected(server: &DiscordServer, token: &str, stored: Stored) -> Client {
    let reads_all = server.with(|w| w.allows_message_content);
    let config = DiscordConfig { api_url: server.api_url(), token: token.into(), reads_all };
    ServiceClient::new(Discord::new(config, stored.0.as_ref()).unwrap(), stored)
}

/// What a run leaves that was addressed once in each of these channels; its session is forgotten.
fn run_before(server: &DiscordServer, channels: &[&str]) -> Stored {
    let mut client = connect(server);
    for channel in channels {
        server.mention(channel, "2", "before");
        assert_eq!(client.next_text(), "before");
    }
    let stored = client.stored();
    drop(client);
    server.forget_sessions();
    stored
}

impl Writable for DiscordServer {
    fn write_marker(&self, marker: &str) {
        self.say("99", marker);
    }
}

/// Direct messages of a user are in channel `7…`.
fn direct(user: &str) -> ChatAddress {
    ChatAddress { chat: format!("7{user}").as_str().into(), thread: None, user: None }
}

#[test]
fn messages_and_mentions_arrive_without_a_privileged_intent() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.say("1", "hi");
    let first = client.next();
    assert_eq!((first.at, first.kind), (direct("1"), IncomingKind::Text { text: "hi".into() }));
    server.chatter("800", "2", "not for the bot");
    server.mention("800", "2", "for the bot");
    let mention = client.next();
    assert!(mention.is_group && mention.is_addressed);
    assert_eq!(mention.kind, IncomingKind::Text { text: "for the bot".into() });
}

#[test]
fn all_messages_arrive_where_the_owner_allows_it() {
    let server = DiscordServer::start();
    server.with(|w| w.allows_message_content = true);
    let mut client = connect(&server);
    server.chatter("800", "2", "to everyone");
    let incoming = client.next();
    assert!(!incoming.is_addressed);
    assert_eq!(incoming.kind, IncomingKind::Text { text: "to everyone".into() });
}

/// Writes before, during and after something that happens to the connection.
fn survive(resumes: bool, trouble: fn(&mut DiscordServer)) {
    let mut server = DiscordServer::start();
    let mut client = connect(&server);
    server.say("1", "before");
    assert_eq!(client.next_text(), "before");
    trouble(&mut server);
    server.say("1", "during");
    if resumes {
        server.wait_for_resume(1)
    } else {
        server.wait_for_identify(2)
    }
    server.say("1", "after");
    let mut got = [client.next_text(), client.next_text()];
    got.sort();
    assert_eq!(got, ["after", "during"]);
    server.repeat_everything_backwards();
    client.expect_nothing_but(&server, "end");
    let closed = server.with(|w| w.closed_with.clone());
    assert!(!closed.contains(&Some(1000)) && !closed.contains(&Some(1001)), "{closed:?}");
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_when_the_session_is_resumed() {
    survive(true, |server| server.break_connections());
    survive(true, |server| server.ask_to_reconnect());
    survive(true, |server| server.invalidate(true));
    survive(true, |server| server.close_connections(4000));
    survive(true, |server| {
        server.go_down();
        server.come_back();
    });
    // A token that was accepted is refused once.
    survive(true, |server| server.refuse_tokens_once(|| server.break_connections()));
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_when_a_new_session_begins() {
    survive(false, |server| server.invalidate(false));
    survive(false, |server| {
        server.forget_sessions();
        server.close_connections(4009);
    });
    survive(false, |server| {
        server.forget_sessions();
        server.break_connections();
    });
}

#[test]
fn a_connection_without_acknowledged_heartbeats_is_given_up_and_resumed() {
    let server = DiscordServer::start();
    server.with(|w| w.heartbeat = Duration::from_millis(300));
    let mut client = connect(&server);
    server.wait("three heartbeats", |w| (w.heartbeats >= 3).then_some(()));
    server.freeze_connections();
    server.say("1", "hello?");
    server.wait_for_resume(1);
    assert_eq!(client.next_text(), "hello?");
}

#[test]
fn after_a_restart_the_session_is_resumed_or_else_the_channels_are_read() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.say("1", "first");
    server.mention("800", "2", "second");
    assert_eq!([client.next_text(), client.next_text()], ["first", "second"]);
    let restart = |client: &mut Client| {
        let next = unconnected(&server, TOKEN, client.stored());
        drop(std::mem::replace(client, next));
    };
    restart(&mut client);
    server.say("1", "third");
    assert_eq!(client.next_text(), "third");
    assert_eq!(server.with(|w| (w.identified, w.resumed)), (1, 1));

    restart(&mut client);
    server.forget_sessions();
    server.say("1", "fourth");
    server.mention("800", "2", "fifth");
    let mut got = [client.next_text(), client.next_text()];
    got.sort();
    assert_eq!(got, ["fifth", "fourth"]);
    assert_eq!(server.with(|w| w.identified), 2);
    client.expect_nothing_but(&server, "end");
}

#[test]
fn what_was_missed_is_read_although_the_service_fails_and_the_connection_breaks() {
    for trouble in [Fault::Status(500), Fault::Broken, Fault::Limited(1)] {
        let server = DiscordServer::start();
        let stored = run_before(&server, &["800"]);
        for n in 0..130 {
            server.chatter("800", "3", &format!("chatter {n}"));
        }
        server.mention("800", "2", "missed");
        server.plan("GET /channels/800/messages", trouble);
        let mut client = unconnected(&server, TOKEN, stored);
        client.run(client.platform.connect()).unwrap();
        server.wait_for_identify(2);
        server.break_connections();
        loop {
            match client.next_text() {
                text if text == "missed" => break,
                text => assert!(text.starts_with("chatter"), "{trouble:?}: {text}"),
            }
        }
    }
}

#[test]
fn strangers_push_no_channel_out_of_those_that_are_read_after_a_restart() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    client.strangers.push("666");
    server.mention("800", "2", "before");
    assert_eq!(client.next_text(), "before");
    client.stored();
    for channel in 900..960 {
        server.mention(&channel.to_string(), "666", "spam");
        assert_eq!(client.next_text(), "spam");
    }
    let stored = (client.cursor.clone(), client.known.clone());
    drop(client);
    server.forget_sessions();
    server.mention("800", "2", "missed");
    let mut client = unconnected(&server, TOKEN, stored);
    assert_eq!(client.next_text(), "missed");
    assert!(server.calls("GET /channels/900/messages").is_empty(), "only strangers wrote there");
}

#[test]
fn what_is_written_in_a_second_gap_is_read_after_what_was_missed_in_the_first() {
    let server = DiscordServer::start();
    let stored = run_before(&server, &["800", "801"]);
    // Longer than a new session takes.
    server.plan("GET /channels/801/messages", Fault::Limited(8));
    let mut client = unconnected(&server, TOKEN, stored);
    client.run(client.platform.connect()).unwrap();
    // The first channel was read, and the second one is waited for.
    server.wait_for_calls("GET /channels/801", 1);
    server.forget_sessions();
    server.break_connections();
    server.mention("800", "2", "in the gap");
    assert_eq!(client.next_text(), "in the gap");
}

#[test]
fn a_press_does_not_wait_for_missed_messages() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.mention("800", "2", "before");
    assert_eq!(client.next_text(), "before");
    let place = ChatAddress { chat: "800".into(), thread: None, user: None };
    client.ask(&place, &question(), &once()).unwrap();
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    let stored = client.stored();
    drop(client);
    server.forget_sessions();
    server.mention("800", "2", "missed");
    // The service does not give it for a while.
    server.plan("GET /channels/800/messages", Fault::Limited(5));
    let mut client = unconnected(&server, TOKEN, stored);
    client.run(client.platform.connect()).unwrap();
    server.wait_for_identify(2);
    server.mention("800", "2", "live");
    server.press("2", &asked, "Once");
    let first = client.next().kind;
    assert!(matches!(first, IncomingKind::Button { .. }), "{first:?}");
    assert_eq!([client.next_text(), client.next_text()], ["missed", "live"]);
}

#[test]
fn messages_wait_for_missed_ones_but_not_for_long() {
    let server = DiscordServer::start();
    let stored = run_before(&server, &["800"]);
    server.mention("800", "2", "missed");
    server.plan("GET /channels/800/messages", Fault::Limited(600));
    let mut client = unconnected(&server, TOKEN, stored);
    client.run(client.platform.connect()).unwrap();
    server.wait_for_identify(2);
    server.mention("800", "2", "live");
    assert_eq!(client.next_text(), "live");
}

#[test]
fn what_was_received_and_not_stored_is_delivered_again_after_a_restart() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.say("1", "stored");
    assert_eq!(client.next_text(), "stored");
    let stored = client.stored();
    server.say("1", "not stored");
    let batch = client.run(client.platform.receive()).unwrap();
    assert_eq!(batch.messages.len(), 1);
    drop(client);
    let mut client = unconnected(&server, TOKEN, stored);
    assert_eq!(client.next_text(), "not stored");
}

#[test]
fn a_flood_arrives_whole_and_in_order() {
    let server = DiscordServer::start();
    server.with(|w| w.heartbeat = Duration::from_secs(2));
    let mut client = connect(&server);
    for number in 0..3000 {
        server.say("1", &number.to_string());
    }
    for number in 0..3000 {
        assert_eq!(client.next_text(), number.to_string());
    }
}

#[test]
fn a_wrong_token_and_forbidden_intents_end_the_connection_without_naming_the_token() {
    let server = DiscordServer::start();
    let wrong = unconnected(&server, "wrong-secret", Stored::default());
    let error = wrong.run(wrong.platform.connect()).unwrap_err();
    assert_eq!(error, PlatformError::Unauthorized);
    assert!(!format!("{error:?}{error}").contains("secret"));

    let client = connect(&server);
    server.close_connections(4014);
    let error = client.run(async {
        loop {
            if let Err(error) = client.platform.receive().await {
                return error;
            }
        }
    });
    assert!(matches!(error, PlatformError::Refused(_)), "{error:?}");

    let client = connect(&server);
    server.revoke_tokens();
    server.break_connections();
    let error = client.run(async {
        loop {
            match client.platform.receive().await {
                Err(PlatformError::Network(_) | PlatformError::Refused(_)) | Ok(_) => {}
                Err(error) => return error,
            }
        }
    });
    assert_eq!(error, PlatformError::Unauthorized);
}

#[test]
fn buckets_and_refusals_close_what_they_name_and_no_call_is_made_before_they_end() {
    let server = DiscordServer::start();
    server.with(|w| w.bucket = Some((2, Duration::from_secs(600))));
    let client = connect(&server);
    let send = |user: &str| client.send(&direct(user), &Outgoing::plain("x"), &once());
    assert!(send("1").is_ok() && send("1").is_ok());
    let Err(PlatformError::RateLimited { after }) = send("1") else { panic!() };
    assert!(after > Duration::from_secs(300) && after <= Duration::from_secs(600), "{after:?}");
    assert!(send("2").is_ok());
    assert_eq!(server.with(|w| w.exceeded), 0, "the service never had to refuse");

    server.plan("POST /channels/73/messages", Fault::Limited(700));
    assert_eq!(send("3"), Err(PlatformError::RateLimited { after: Duration::from_secs(700) }));
    assert!(send("4").is_ok());
    server.plan("POST /channels/75/messages", Fault::LimitedEverywhere(900));
    assert!(matches!(send("5"), Err(PlatformError::RateLimited { .. })));
    let calls = server.calls("POST /channels").len();
    assert!(matches!(send("6"), Err(PlatformError::RateLimited { .. })));
    assert_eq!(server.calls("POST /channels").len(), calls);
}

#[test]
fn a_message_whose_confirmation_is_lost_is_not_posted_twice() {
    let server = DiscordServer::start();
    let client = connect(&server);
    for fault in [Fault::Unheard, Fault::Broken, Fault::Status(502)] {
        let before = server.messages().len();
        server.plan("POST /channels", fault);
        let id = client.send(&direct("1"), &Outgoing::plain("once"), &once()).unwrap();
        let messages = server.messages();
        assert_eq!(messages.len(), before + 1, "{fault:?}");
        assert_eq!(messages[before].id, id.0);
    }
    // Also if no try within a call is confirmed.
    let before = server.messages().len();
    let (text, new) = (Outgoing::plain("again and again"), once());
    let send = || client.send(&direct("1"), &text, &new);
    (0..4).for_each(|_| server.plan("POST /channels", Fault::Unheard));
    assert!(send().is_err() && send().is_err());
    send().unwrap();
    assert_eq!(server.messages().len(), before + 1);
}

#[test]
fn a_question_is_pressed_deferred_answered_and_closed() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    let place = ChatAddress { chat: "800".into(), thread: None, user: None };
    let id = client.ask(&place, &question(), &once()).unwrap();
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    assert_eq!(asked.content, "Run \\`rm \\-r \\<build\\>\\` && \\*go\\*?");
    assert_eq!(asked.buttons()[1], ("No".into(), "n1:no".into()));
    assert_eq!(asked.allowed_mentions, json!({ "parse": [] }));

    let press_id = server.press("1", &asked, "Once");
    assert_eq!(server.wait_for_callback(&press_id)["type"], 6);
    let pressed = client.next();
    let IncomingKind::Button { data, press } = &pressed.kind else { panic!("{pressed:?}") };
    assert_eq!(
        (data.as_str(), &pressed.message, &pressed.at),
        ("n1:once", &Some(id.clone()), &place)
    );
    client.run(client.platform.acknowledge(press, Some("too late"))).unwrap();
    let told = server.wait_for_message("the answer", |message| message.is_ephemeral);
    assert_eq!(told.content, "too late");

    client.run(client.platform.edit(&place, &id, &Outgoing::native("**Approved**"))).unwrap();
    let closed = server.wait_for_message("the new text", |message| message.id == id.0);
    assert_eq!((closed.buttons().len(), closed.content.as_str()), (0, "**Approved**"));
    let gone = client.run(client.platform.edit(&place, &"404".into(), &Outgoing::plain("x")));
    assert_eq!(gone, Err(PlatformError::Gone));
}

#[test]
fn interactions_are_deferred_although_nothing_is_received_and_a_first_try_fails() {
    let server = DiscordServer::start();
    let client = connect(&server);
    server.plan("callback", Fault::Broken);
    let first = server.command("800", "1", "status", json!([]));
    server.wait_for_callback(&first);
    server.plan("callback", Fault::Unheard);
    let second = server.command("800", "1", "status", json!([]));
    assert_eq!(server.wait_for_callback(&second)["type"], 5);
    drop(client);
}

#[test]
fn a_command_is_answered_in_its_place_and_edited_there() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    let options = json!([{ "name": "name", "type": 3, "value": "qwen 3" }]);
    let first = server.command("800", "1", "model", options);
    let second = server.command("800", "1", "status", json!([]));
    let command = client.next();
    let IncomingKind::Command { name, args, options } = &command.kind else { panic!() };
    assert_eq!((name.as_str(), args.as_str()), ("model", ""));
    assert_eq!((options[0].name.as_str(), options[0].value.as_str()), ("name", "qwen 3"));
    let status = client.next();
    let send = |text: &str, answers: Option<&Incoming>| {
        let (text, new) = (Outgoing::plain(text), NewMessage::answering(answers.map(|to| &to.id)));
        client.send(&command.at, &text, &new).unwrap()
    };
    send("no answer", None);
    let id = send("the status", Some(&status));
    send("the model", Some(&command));
    send("more", Some(&command));
    client.run(client.platform.edit(&command.at, &id, &Outgoing::plain("the new status"))).unwrap();
    let messages = server.messages();
    let found: Vec<_> =
        messages.iter().map(|m| (m.content.as_str(), m.interaction.clone())).collect();
    let expected = [
        ("no answer", None),
        ("the new status", Some(second)),
        ("the model", Some(first)),
        ("more", None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_command_keeps_its_place_while_the_service_asks_to_wait_or_fails() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    let id = server.command("800", "1", "status", json!([]));
    let command = client.next();
    let (text, new) = (Outgoing::plain("fine"), NewMessage::answering(Some(&command.id)));
    let send = || client.send(&command.at, &text, &new);
    server.plan("PATCH /webhooks", Fault::Limited(0));
    assert!(matches!(send(), Err(PlatformError::RateLimited { .. })));
    (0..2).for_each(|_| server.plan("PATCH /webhooks", Fault::Broken));
    assert!(matches!(send(), Err(PlatformError::Network(_))));
    send().unwrap();
    let messages = server.messages();
    assert_eq!((messages.len(), &messages[0].interaction), (1, &Some(id)));
}

#[test]
fn options_are_completed_as_they_are_typed() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    let id = server.type_option("800", "1", "model", "name", "qw");
    let IncomingKind::Suggest { command, option, typed, query } = client.next().kind else {
        panic!()
    };
    assert_eq!([command.as_str(), &option, &typed], ["model", "name", "qw"]);
    let long = |number: usize| format!("{number}{}", "x".repeat(120));
    let choices: Vec<String> =
        (0..40).flat_map(|number| [long(number), number.to_string()]).collect();
    client.run(client.platform.suggest(&query, &choices)).unwrap();
    let callback = server.wait_for_callback(&id);
    let shown = callback["data"]["choices"].as_array().unwrap();
    assert_eq!((callback["type"].as_u64(), shown.len()), (Some(8), 25));
    assert_eq!(shown[1]["value"], "1", "a value that is cut would be another one");
}

#[test]
fn a_forged_press_is_passed_on_as_what_it_claims() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    client.ask(&direct("1"), &question(), &once()).unwrap();
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    server.press_forged("6", &asked, "n9:always\u{202e}");
    let pressed = client.next();
    assert_eq!(pressed.sender.id.0, "6");
    assert!(
        matches!(pressed.kind, IncomingKind::Button { data, .. } if data == "n9:always\u{202e}")
    );
    client.run(client.platform.acknowledge("i:no-such", Some("too late"))).unwrap();
}

#[test]
fn frames_that_are_not_understood_change_nothing() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.send_raw(json!({ "op": 99, "d": {} }));
    server.send_raw(json!({ "op": 0, "t": "MESSAGE_CREATE", "s": 2, "d": { "content": 7 } }));
    server.send_raw(json!({ "op": 0, "t": "NEW_EVENT", "s": 3, "d": [] }));
    server.send_raw(json!([1]));
    let long = "x".repeat(1_000_000);
    server.say("1", &long);
    assert_eq!(client.next_text().len(), long.len());
    client.expect_nothing_but(&server, "end");
}

#[test]
fn files_go_both_ways_and_only_from_the_service() {
    let server = DiscordServer::start();
    let mut client = connect(&server);
    server.send_file("1", "see", "a.png", "image/png", b"\x89PNG");
    let IncomingKind::Files { files, text } = client.next().kind else { panic!() };
    assert_eq!((text.as_str(), files[0].name.as_str()), ("see", "a.png"));
    let bytes = client.run(client.platform.download(&files[0], 100)).unwrap();
    assert_eq!(&bytes[..], b"\x89PNG");
    assert!(client.run(client.platform.download(&files[0], 3)).is_err(), "larger than allowed");
    for url in ["https://cdn.discordapp.com.evil.example/x", "http://127.0.0.1:1/x"] {
        let elsewhere = RemoteFile { reference: url.into(), ..files[0].clone() };
        let refused = client.run(client.platform.download(&elsewhere, 100));
        assert!(matches!(refused, Err(PlatformError::Refused(_))), "{url}");
    }
    let file = OutgoingFile {
        name: "a \"b\".txt".into(),
        media_type: "text/plain".into(),
        bytes: b"all\r\nof it".as_slice().into(),
        caption: "the diff".into(),
        is_picture: false,
    };
    client.upload(&direct("1"), &file, &once()).unwrap();
    let sent = server.wait_for_message("a file", |message| !message.file_names.is_empty());
    assert_eq!((sent.content.as_str(), sent.file_names[0].as_str()), ("the diff", "a %22b%22.txt"));
    let files = server.with(|w| w.files.values().cloned().collect::<Vec<_>>());
    assert!(files.iter().any(|(_, bytes)| bytes == b"all\r\nof it"));
}

#[test]
fn the_menu_is_registered_and_typing_is_shown() {
    let server = DiscordServer::start();
    let client = connect(&server);
    let menu = json!([{ "name": "status", "description": "Shows the session", "options": [] }]);
    client.run(client.platform.set_menu(std::slice::from_ref(&menu))).unwrap();
    assert_eq!(server.with(|w| w.commands.clone()), menu);
    let wrong = json!([{ "name": "UPPER", "description": "x" }]);
    let refused = client.run(client.platform.set_menu(&[wrong]));
    assert!(matches!(refused, Err(PlatformError::Refused(_))));
    client.run(client.platform.typing(&direct("1"))).unwrap();
    assert_eq!(server.calls("typing").len(), 1);
}

#[test]
fn leaving_keeps_the_session_for_the_next_run() {
    let server = DiscordServer::start();
    let client = connect(&server);
    client.run(client.platform.close());
    let closed = server.wait("a farewell", |w| w.closed_with.last().copied());
    assert!(closed.is_some_and(|code| code != 1000 && code != 1001), "{closed:?}");
}

/// Whether this server is like the real one, a published client decides: `tests/real/gateways.sh`
/// installs it and names its folder.
#[test]
#[ignore = "needs published packages; tests/real/gateways.sh runs it"]
fn a_published_client_understands_the_service_of_these_tests() {
    let folder = std::env::var("AVOCET_PUBLISHED_CLIENTS").unwrap();
    let server = DiscordServer::start();
    let api = server.api_url();
    let args = [api.trim_end_matches("/v10"), TOKEN];
    let _client = service::PublishedClient::start("discord_client.cjs", &folder, &args);
    server.wait_until_connected();
    server.say("1", "hello");
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    assert_eq!(asked.content, "you said hello");
    server.break_connections();
    let press = server.press("1", &asked, "Once");
    assert_eq!(server.wait_for_callback(&press)["type"], 6);
    server.wait_for_message("the press", |message| message.content == "pressed n1:once");
    server.ask_to_reconnect();
    let command = server.command("71", "1", "status", json!([]));
    assert_eq!(server.wait_for_callback(&command)["type"], 5);
    server.wait_for_message("the command", |message| message.content == "command status");
    assert!(server.with(|w| w.resumed) >= 1);
}
