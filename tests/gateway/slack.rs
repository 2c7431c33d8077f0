//! The connection to Slack against a workspace of our own: what users do arrives once and in order,
//! whatever the service does, and what the bot does keeps to the service's rules.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::client::{ServiceClient, Stored, Writable, once, question};
use crate::fakes::service::{self, Fault, PATIENCE, Service};
use crate::fakes::slack::{ACK_TIME, APP_TOKEN, BOT_TOKEN, SlackServer};
use avocet::gateway::platform::{
    ChatAddress, Cursor, DeliveryId, Incoming, IncomingKind, NewMessage, Outgoing, OutgoingFile,
    Platform, PlatformError, RemoteFile,
};
use avocet::gateway::slack::{Slack, SlackConfig, SlackPatience};
use serde_json::json;

fn config(server: &SlackServer) -> SlackConfig {
    SlackConfig {
        api_url: server.api_url(),
        app_token: APP_TOKEN.into(),
        bot_token: BOT_TOKEN.into(),
        is_command: Arc::new(|name| ["status", "model", "stop"].contains(&name)),
        patience: SlackPatience::default(),
    }
}

type Client = ServiceClient<Slack>;

fn connect(server: &SlackServer) -> Client {
    let client = unconnected(config(server), Stored::default());
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    client
}

fn unconnected(config: SlackConfig, stored: Stored) -> Client {
    ServiceClient::new(Slack::new(config, stored.0.as_ref()).unwrap(), stored)
}

/// What a run leaves to which each of these has written once.
fn run_before(server: &SlackServer, users: &[&str]) -> Stored {
    let mut client = connect(server);
    for user in users {
        server.say(user, "before");
        assert_eq!(client.next_text(), "before");
    }
    client.stored()
}

impl Writable for SlackServer {
    fn write_marker(&self, marker: &str) {
        self.say("UMARK", marker);
    }
}

fn direct(user: &str) -> ChatAddress {
    ChatAddress { chat: format!("D{user}").as_str().into(), thread: None, user: None }
}

#[test]
fn a_message_is_acknowledged_as_soon_as_it_is_stored() {
    let server = SlackServer::start();
    let patience = SlackPatience { storing: 20 * PATIENCE, ..SlackPatience::default() };
    let mut client = unconnected(SlackConfig { patience, ..config(&server) }, Stored::default());
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    server.say("U1", "fix &lt;it&gt; <@U2|ann>");
    let incoming = client.next();
    assert_eq!(incoming.kind, IncomingKind::Text { text: "fix <it> @ann".into() });
    assert_eq!(incoming.at, direct("U1"));
    let id = server.with(|w| w.envelopes[0].id.clone());
    server.wait_for_acknowledgement(&id);
}

#[test]
fn a_message_that_is_never_stored_is_acknowledged_before_the_service_gives_up() {
    assert!(SlackPatience::default().storing < ACK_TIME);
    let server = SlackServer::start();
    let client = connect(&server);
    server.say("U1", "more");
    let batch = client.run(client.platform.receive()).unwrap();
    assert_eq!(batch.messages.len(), 1);
    let id = server.with(|w| w.envelopes[0].id.clone());
    assert!(server.wait_for_acknowledgement(&id) >= SlackPatience::default().storing);
}

#[test]
fn a_mention_arrives_once_although_it_is_delivered_as_two_events_and_repeated() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let ts = server.mention("C1", "U1", "look");
    let incoming = client.next();
    assert!(incoming.is_addressed && incoming.is_group);
    assert_eq!(incoming.at.thread, Some(ts.as_str().into()));
    server.repeat_everything_backwards();
    client.expect_nothing_but(&server, "end");
    server.mention_in_thread("C1", "U1", "and this", &ts);
    let reply = client.next();
    assert_eq!(
        (reply.at, reply.kind),
        (incoming.at, IncomingKind::Text { text: "and this".into() })
    );
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_whatever_happens_to_the_connection() {
    let mut server = SlackServer::start();
    let mut client = connect(&server);
    let mut sent = 0;
    let mut say = |server: &SlackServer| {
        sent += 1;
        server.say("U1", &sent.to_string());
        sent.to_string()
    };
    for trouble in 0..6 {
        let before = say(&server);
        let connections = server.with(|w| w.connected);
        match trouble {
            0 => server.break_connections(),
            1 => server.close_connections(),
            2 => server.announce_disconnect("warning"),
            3 => server.announce_disconnect("refresh_requested"),
            4 => server.announce_disconnect("too_many_websockets"),
            _ => {
                server.go_down();
                server.come_back();
            }
        }
        let during = say(&server);
        server.wait_for_connection(connections + 1);
        let after = say(&server);
        let mut got = [client.next_text(), client.next_text(), client.next_text()];
        got.sort_by_key(|text| text.parse::<u32>().unwrap());
        assert_eq!(got, [before, during, after], "trouble {trouble}");
    }
    client.expect_nothing_but(&server, "end");
}

#[test]
fn a_token_that_is_refused_once_after_it_was_accepted_ends_nothing() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    server.say("U1", "before");
    assert_eq!(client.next_text(), "before");
    let connections = server.with(|w| w.connected);
    server.refuse_tokens_once(|| server.break_connections());
    server.wait_for_connection(connections + 1);
    client.expect_nothing_but(&server, "after");
    // The same for the one that is to take over.
    let connections = server.with(|w| w.connected);
    server.refuse_tokens_once(|| server.announce_disconnect("refresh_requested"));
    server.wait_for_connection(connections + 1);
    client.expect_nothing_but(&server, "at the end");
}

#[test]
fn a_token_that_is_revoked_ends_the_connection() {
    let server = SlackServer::start();
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
fn a_connection_that_is_about_to_end_is_replaced_before_it_ends() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    // The message is on its way when the service announces the end.
    server.say("U1", "before");
    server.announce_disconnect("refresh_requested");
    assert_eq!(client.next_text(), "before");
    server.wait_for_connection(2);
    let id = server.with(|w| w.envelopes[0].id.clone());
    server.wait_for_acknowledgement(&id);
    assert_eq!(server.with(|w| w.envelope(&id).deliveries), 1, "not delivered again");
}

#[test]
fn a_connection_on_which_nothing_passes_is_given_up() {
    let server = SlackServer::start();
    let patience =
        SlackPatience { silence: Duration::from_millis(200), ..SlackPatience::default() };
    let config = SlackConfig { patience, ..config(&server) };
    let mut client = unconnected(config, Stored::default());
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    server.freeze_connections();
    server.say("U1", "hello?");
    server.wait_for_connection(2);
    assert_eq!(client.next_text(), "hello?");
}

#[test]
fn a_flood_arrives_whole_and_in_order() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    for number in 0..3000 {
        server.say("U1", &number.to_string());
    }
    for number in 0..3000 {
        assert_eq!(client.next_text(), number.to_string());
    }
}

#[test]
fn frames_that_are_not_understood_change_nothing() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let unknown = server.send("new_type", json!({ "a": [1] }));
    let broken = server.send("events_api", json!({ "event": { "type": "message", "channel": 7 } }));
    for id in [unknown, broken] {
        server.wait_for_acknowledgement(&id);
    }
    let long = "x".repeat(1_000_000);
    server.say("U1", &long);
    assert_eq!(client.next_text().len(), long.len());
    server.send_raw("{");
    client.expect_nothing_but(&server, "end");
}

#[test]
fn a_wrong_token_ends_the_connection_and_is_in_no_message() {
    let server = SlackServer::start();
    let wrong = |app: &str, bot: &str| {
        let config =
            SlackConfig { app_token: app.into(), bot_token: bot.into(), ..config(&server) };
        let client = unconnected(config, Stored::default());
        let connected = client.run(client.platform.connect());
        connected.and_then(|_| client.run(client.platform.receive()).map(|_| ())).unwrap_err()
    };
    for (app, bot) in
        [(APP_TOKEN, "xoxb-wrong-secret"), ("xapp-wrong-secret", BOT_TOKEN), (BOT_TOKEN, APP_TOKEN)]
    {
        let error = wrong(app, bot);
        assert_eq!(error, PlatformError::Unauthorized);
        assert!(!format!("{error:?}{error}").contains("secret"));
    }
    server.revoke_tokens();
    assert_eq!(wrong(APP_TOKEN, BOT_TOKEN), PlatformError::Unauthorized);
    let unusable = SlackConfig { bot_token: "two\nlines".into(), ..config(&server) };
    assert!(Slack::new(unusable, None).is_err());
}

#[test]
fn an_unreachable_service_is_an_error_without_the_ticket_and_is_tried_again() {
    let mut server = SlackServer::start();
    let mut client = connect(&server);
    server.say("U1", "before");
    assert_eq!(client.next_text(), "before");
    client.stored();
    server.go_down();
    let error = client.run(client.platform.receive()).unwrap_err();
    assert!(matches!(error, PlatformError::Network(_)));
    assert!(!format!("{error:?}").contains("ticket"));
    let sent = client.send(&direct("U1"), &Outgoing::plain("x"), &once());
    assert!(matches!(sent, Err(PlatformError::Network(_))));
    server.come_back();
    server.wait_for_connection(2);
    client.expect_nothing_but(&server, "after");
}

#[test]
fn a_rate_limit_closes_only_its_channel_and_no_call_is_made_before_it_ends() {
    let server = SlackServer::start();
    let client = connect(&server);
    server.plan("chat.postMessage", Fault::Limited(700));
    let send = |user: &str| client.send(&direct(user), &Outgoing::plain("x"), &once());
    let after = Duration::from_secs(700);
    assert_eq!(send("U1"), Err(PlatformError::RateLimited { after }));
    let Err(PlatformError::RateLimited { after: left }) = send("U1") else { panic!() };
    assert!(left <= after && !left.is_zero());
    assert_eq!(server.calls("chat.postMessage").len(), 1);
    assert!(send("U2").is_ok());
}

#[test]
fn a_message_whose_confirmation_is_lost_is_not_posted_twice() {
    let server = SlackServer::start();
    let client = connect(&server);
    server.plan("chat.postMessage", Fault::Unheard);
    let id = client.send(&direct("U1"), &Outgoing::plain("once"), &once()).unwrap();
    let posted = server.messages();
    assert_eq!(posted.len(), 1);
    assert_eq!(posted[0].ts, id.0);
    for fault in [Fault::Broken, Fault::Status(503)] {
        server.plan("chat.postMessage", fault);
        let lost = client.send(&direct("U1"), &Outgoing::plain("lost"), &once());
        assert!(matches!(lost, Err(PlatformError::Network(_))), "{lost:?}");
    }
    assert_eq!(server.messages().len(), 1);
    // Also if the conversation cannot be read then: the next try looks before it posts.
    let (text, new) = (Outgoing::plain("twice?"), once());
    server.plan("chat.postMessage", Fault::Unheard);
    server.plan("conversations.history", Fault::Status(503));
    let first = client.send(&direct("U1"), &text, &new);
    assert!(matches!(first, Err(PlatformError::Network(_))), "{first:?}");
    let again = NewMessage { tries: 1, ..new };
    let id = client.send(&direct("U1"), &text, &again).unwrap();
    let posted = server.messages();
    assert_eq!((posted.len(), &posted[1].ts), (2, &id.0));
    // A conversation that cannot be read does not stay without its answer.
    let later = |tries| {
        server.plan("conversations.history", Fault::Status(500));
        let new = NewMessage { tries, ..once() };
        client.send(&direct("U1"), &text, &new)
    };
    assert!(later(1).is_err() && later(9).is_ok());
}

#[test]
fn a_file_whose_confirmation_is_lost_is_shared_once() {
    let server = SlackServer::start();
    let client = connect(&server);
    let file = OutgoingFile {
        name: "a.txt".into(),
        media_type: "text/plain".into(),
        bytes: b"all".as_slice().into(),
        caption: String::new(),
        is_picture: false,
    };
    let new = once();
    server.plan("files.completeUploadExternal", Fault::Unheard);
    assert!(client.upload(&direct("U1"), &file, &new).is_err());
    let again = NewMessage { tries: 1, ..new };
    client.upload(&direct("U1"), &file, &again).unwrap();
    assert_eq!(server.calls("files.getUploadURLExternal").len(), 1);
    let shared = server.calls("files.completeUploadExternal");
    assert_eq!(shared[0].body["files"][0]["id"], shared[1].body["files"][0]["id"]);
}

#[test]
fn what_is_posted_where_the_bot_is_no_member_goes_to_the_one_it_answers_and_is_shown_as_it_is() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    client.strangers.push("U666");
    server.with(|w| w.closed_channels.push("C9".into()));
    let of_ann = server.command("C9", "U1", "/avocet", "tell me the secret");
    let ann = client.next();
    let of_bob = server.command("C9", "U2", "/avocet", "status");
    let bob = client.next();
    // More than are remembered of those who may not talk.
    for _ in 0..1_100 {
        server.command("C8", "U666", "/avocet", "x");
        client.next();
    }
    let send = |text: &str, to: Option<&DeliveryId>| {
        let (text, new) = (Outgoing::plain(text), NewMessage::answering(to));
        client.send(&ann.at, &text, &new)
    };
    send("*of Ann*", Some(&ann.id)).unwrap();
    send("more of Ann", Some(&ann.id)).unwrap();
    send("of Bob", Some(&bob.id)).unwrap();
    assert_eq!(send("of no one", None), Err(PlatformError::Gone));
    let told = |response: &str| server.with(|w| w.responses[response].clone());
    let (ann, bob) = (told(&of_ann), told(&of_bob));
    assert_eq!((ann.len(), bob.len()), (2, 1));
    let shown = &ann[0]["blocks"][0]["elements"][0]["elements"][0]["text"];
    assert_eq!(shown, "*of Ann*", "no markup");
    assert_eq!(bob[0]["text"], "of Bob");
}

#[test]
fn strangers_push_no_conversation_out_of_those_that_are_read_after_a_restart() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    client.strangers.push("U666");
    server.say("U1", "before");
    assert_eq!(client.next_text(), "before");
    client.stored();
    for channel in 900..960 {
        server.mention(&format!("C{channel}"), "U666", "spam");
        assert_eq!(client.next_text(), "spam");
    }
    let stored = (client.cursor.clone(), client.known.clone());
    drop(client);
    assert!(server.calls("conversations.history").is_empty());
    let mut client = unconnected(config(&server), stored);
    client.run(client.platform.connect()).unwrap();
    server.wait_for_connection(2);
    server.say("U1", "live");
    assert_eq!(client.next_text(), "live");
    server.wait_for_calls("conversations.history", 1);
    assert_eq!(server.calls("conversations.history").len(), 1, "only the known conversation");
    assert!(server.calls("conversations.replies").is_empty());
}

#[test]
fn a_new_thread_of_a_known_channel_is_read_and_what_was_answered_before_is_not() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let parent = server.mention("C1", "U1", "parent");
    assert_eq!(client.next_text(), "parent");
    server.mention_in_thread("C1", "U1", "newest", &parent);
    assert_eq!(client.next_text(), "newest");
    let (cursor, _) = client.stored();
    drop(client);
    server.mention("C1", "U1", "another thread");
    server.with(|w| {
        w.envelopes.clear();
        // Long ago.
        w.messages.iter_mut().filter(|m| m.ts == parent).for_each(|m| m.ts = "7.000001".into());
        for m in w.messages.iter_mut().filter(|m| m.thread.as_ref() == Some(&parent)) {
            m.thread = Some("7.000001".into());
        }
    });
    let cursor = cursor.map(|cursor| Cursor(cursor.0.replace(&parent, "7.000001")));
    let mut client = unconnected(config(&server), (cursor, BTreeSet::new()));
    let mut got = vec![client.next_text(), client.next_text()];
    got.sort();
    assert_eq!(got, ["another thread", "newest"], "the newest is within the overlap");
    server.wait_until_connected();
    client.expect_nothing_but(&server, "end");
}

#[test]
fn live_messages_do_not_wait_for_missed_ones_and_all_of_these_come_in_the_end() {
    let server = SlackServer::start();
    let users: Vec<String> = (0..14).map(|user| format!("U{user}")).collect();
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    let before = run_before(&server, &users);
    for user in users {
        server.say(user, "missed");
    }
    server.with(|w| w.envelopes.clear());
    // More than once for each of them.
    server.plan("conversations.history", Fault::Limited(1));
    (0..20).for_each(|_| server.plan("conversations.history", Fault::Limited(0)));
    let mut client = unconnected(config(&server), before);
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    server.say("U1", "live");
    assert_eq!(client.next_text(), "live");
    for _ in 0..14 {
        assert_eq!(client.next_text(), "missed");
    }
}

#[test]
fn what_is_written_in_a_second_gap_is_read_after_what_was_missed_in_the_first() {
    let mut server = SlackServer::start();
    let before = run_before(&server, &["U1", "U2"]);
    server.plan("conversations.history DU2", Fault::Limited(3));
    let patience = SlackPatience { redelivery: Duration::ZERO, ..SlackPatience::default() };
    let config = SlackConfig { patience, ..config(&server) };
    let mut client = unconnected(config, before);
    client.run(client.platform.connect()).unwrap();
    // One was read, and the other one is waited for.
    server.wait_for_calls("conversations.history DU2", 1);
    server.go_down();
    server.say("U1", "in the gap");
    server.with(|w| w.envelopes.clear());
    server.come_back();
    assert_eq!(client.next_text(), "in the gap");
}

#[test]
fn a_token_that_is_refused_for_a_moment_ends_neither_a_replacement_nor_a_catch_up() {
    let server = SlackServer::start();
    let before = run_before(&server, &["U1"]);
    server.say("U1", "missed");
    server.with(|w| w.envelopes.clear());
    let mut client = unconnected(config(&server), before);
    // Once more than a token that was accepted may be refused, here and below.
    (0..4).for_each(|_| server.plan("conversations.history", Fault::Unauthorized));
    assert_eq!(client.next_text(), "missed");
    for number in 0..4 {
        let connected = server.with(|w| w.connected);
        server.plan("apps.connections.open", Fault::Unauthorized);
        server.announce_disconnect("refresh_requested");
        server.wait_for_connection(connected + 1);
        server.say("U1", &format!("{number}"));
        assert_eq!(client.next_text(), number.to_string());
    }
}

#[test]
fn a_service_that_wants_each_connection_to_be_replaced_gets_no_storm() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let began = Instant::now();
    for number in 2..4 {
        server.announce_disconnect("refresh_requested");
        server.wait_for_connection(number);
        server.say("U1", &format!("{number}"));
        assert_eq!(client.next_text(), number.to_string());
    }
    assert!(began.elapsed() >= Duration::from_secs(1), "half a second, then more");
}

#[test]
fn a_question_is_pressed_answered_and_closed() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let place =
        ChatAddress { chat: "C1".into(), thread: Some("1700000000.000001".into()), user: None };
    let id = client.ask(&place, &question(), &once()).unwrap();
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    assert_eq!(asked.shown(), "Run `rm -r <build>` && *go*?");
    assert_eq!(asked.buttons()[1], ("No".into(), "n1:no".into()));

    let envelope = server.press("U1", &asked, "Once");
    let pressed = client.next();
    let IncomingKind::Button { data, press } = &pressed.kind else { panic!("{pressed:?}") };
    assert_eq!(
        (data.as_str(), &pressed.message, &pressed.at),
        ("n1:once", &Some(id.clone()), &place)
    );
    server.wait_for_acknowledgement(&envelope);
    client.run(client.platform.acknowledge(press, Some("too <late>"))).unwrap();
    let told = server.with(|w| w.responses.values().next().unwrap().clone());
    assert_eq!(
        (&told[0]["response_type"], &told[0]["text"]),
        (&json!("ephemeral"), &json!("too &lt;late&gt;"))
    );

    client.run(client.platform.edit(&place, &id, &Outgoing::native("*Approved*"))).unwrap();
    let closed = server.wait_for_message("the new text", |message| message.ts == id.0);
    assert_eq!((closed.buttons().len(), closed.shown().as_str()), (0, "*Approved*"));
    let edit = || client.run(client.platform.edit(&place, &"9.9".into(), &Outgoing::plain("x")));
    let mut gone = edit();
    // Edits of a workspace keep their pace.
    while let Err(PlatformError::RateLimited { after }) = gone {
        client.run(async { tokio::time::sleep(after).await });
        gone = edit();
    }
    assert_eq!(gone, Err(PlatformError::Gone));
}

#[test]
fn a_forged_press_is_passed_on_as_what_it_claims_and_nothing_breaks() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    client.ask(&direct("U1"), &question(), &once()).unwrap();
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    let forged = json!({ "type": "button", "value": "n9:always\u{202e}", "action_id": "x" });
    server.press_forged("U6", &asked, &forged);
    let pressed = client.next();
    assert_eq!(pressed.sender.id.0, "U6");
    assert!(
        matches!(pressed.kind, IncomingKind::Button { data, .. } if data == "n9:always\u{202e}")
    );
    for action in [json!({ "type": "button" }), json!({ "type": "other", "value": "n1:once" })] {
        let id = server.press_forged("U6", &asked, &action);
        server.wait_for_acknowledgement(&id);
    }
}

#[test]
fn commands_come_from_slashes_and_from_exclamation_marks_in_threads() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let command = |name: &str, args: &str| IncomingKind::typed(name, args);
    server.command("C1", "U1", "/model", "qwen");
    assert_eq!(client.next().kind, command("model", "qwen"));
    server.command("C1", "U1", "/avocet", "status now");
    assert_eq!(client.next().kind, command("avocet", "status now"));
    server.chatter("C1", "U1", "!stop", Some("1700000000.000001"));
    let stop = client.next();
    assert_eq!(stop.kind, command("stop", ""));
    assert!(stop.is_addressed);
}

#[test]
fn a_command_is_answered_where_the_bot_is_no_member() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    server.with(|w| w.closed_channels.push("C9".into()));
    let response = server.command("C9", "U1", "/avocet", "status");
    let Incoming { at, id: command, .. } = client.next();
    let new = NewMessage::answering(Some(&command));
    let id = client.send(&at, &Outgoing::plain("a < b"), &new).unwrap();
    client.run(client.platform.edit(&at, &id, &Outgoing::plain("done"))).unwrap();
    let answers = server.with(|w| w.responses[&response].clone());
    assert_eq!(answers[0]["text"], "a &lt; b");
    assert_eq!(
        (&answers[1]["text"], &answers[1]["replace_original"]),
        (&json!("done"), &json!(true))
    );
    let other = ChatAddress { chat: "C8".into(), thread: None, user: None };
    server.with(|w| w.closed_channels.push("C8".into()));
    let sent = client.send(&other, &Outgoing::plain("x"), &once());
    assert_eq!(sent, Err(PlatformError::Gone));
}

#[test]
fn files_go_both_ways_and_the_token_goes_to_the_service_alone() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    server.send_file("U1", "see", "a.png", "image/png", b"\x89PNG");
    let IncomingKind::Files { files, text } = client.next().kind else { panic!() };
    assert_eq!((text.as_str(), files[0].name.as_str()), ("see", "a.png"));
    let bytes = client.run(client.platform.download(&files[0], 100)).unwrap();
    assert_eq!(&bytes[..], b"\x89PNG");
    let small = client.run(client.platform.download(&files[0], 3));
    assert!(small.is_err(), "larger than allowed");
    let elsewhere = RemoteFile {
        reference: "https://files.slack.com.evil.example/x".into(),
        ..files[0].clone()
    };
    let refused = client.run(client.platform.download(&elsewhere, 100));
    assert!(matches!(refused, Err(PlatformError::Refused(_))));

    let file = OutgoingFile {
        name: "größe & more.txt".into(),
        media_type: "text/plain".into(),
        bytes: b"all of it".as_slice().into(),
        caption: "the <diff>".into(),
        is_picture: false,
    };
    client.upload(&direct("U1"), &file, &once()).unwrap();
    let shared =
        server.wait("a shared file", |w| w.files.values().find(|f| f.channel.is_some()).cloned());
    assert_eq!(
        (shared.name.as_str(), shared.comment.as_str()),
        ("größe & more.txt", "the &lt;diff&gt;")
    );
    assert_eq!(shared.bytes, b"all of it");
}

#[test]
fn after_a_restart_what_was_written_meanwhile_is_read_and_nothing_else() {
    let server = SlackServer::start();
    let mut client = connect(&server);
    let ts = server.mention("C1", "U1", "first");
    server.say("U2", "second");
    let (first, second) = (client.next_text(), client.next_text());
    assert_eq!((first.as_str(), second.as_str()), ("first", "second"));
    let before = client.stored();
    drop(client);

    // The service has given up delivering these.
    server.mention_in_thread("C1", "U1", "third", &ts);
    server.say("U2", "fourth");
    server.with(|w| w.envelopes.clear());
    let mut client = unconnected(config(&server), before);
    let mut got = [client.next_text(), client.next_text()];
    got.sort();
    assert_eq!(got, ["fourth", "third"]);
    client.expect_nothing_but(&server, "end");
}

#[test]
fn what_was_missed_is_read_whole_although_the_service_fails() {
    for trouble in [Fault::Status(503), Fault::Broken, Fault::Limited(1)] {
        let server = SlackServer::start();
        let before = run_before(&server, &["U1"]);
        server.say("U1", "the oldest");
        for n in 0..230 {
            server.say("U1", &format!("{n}"));
        }
        server.with(|w| w.envelopes.clear());
        server.plan("conversations.history", trouble);
        let mut client = unconnected(config(&server), before);
        assert_eq!(client.next_text(), "the oldest", "{trouble:?}");
        for n in 0..230 {
            assert_eq!(client.next_text(), n.to_string(), "{trouble:?}");
        }
    }
}

#[test]
fn closing_says_goodbye_and_ends_what_is_received() {
    let server = SlackServer::start();
    let client = connect(&server);
    client.run(client.platform.close());
    assert!(client.run(client.platform.receive()).is_err());
}

/// Whether this workspace is like a real one, a published client decides: `tests/real/gateways.sh`
/// installs it and names its folder.
#[test]
#[ignore = "needs published packages; tests/real/gateways.sh runs it"]
fn a_published_client_understands_the_workspace_of_these_tests() {
    let folder = std::env::var("AVOCET_PUBLISHED_CLIENTS").unwrap();
    let server = SlackServer::start();
    let args = [server.api_url(), APP_TOKEN.to_owned(), BOT_TOKEN.to_owned()];
    let args = args.each_ref().map(String::as_str);
    let _client = service::PublishedClient::start("slack_client.cjs", &folder, &args);
    server.wait_until_connected();
    server.say("U1", "hello");
    let asked = server.wait_for_message("buttons", |message| !message.buttons().is_empty());
    assert_eq!(asked.text, "you said hello");
    let connections = server.with(|w| w.connected);
    server.announce_disconnect("refresh_requested");
    let press = server.press("U1", &asked, "Once");
    server.wait_for_connection(connections + 1);
    server.wait_for_acknowledgement(&press);
    server.wait_for_message("the press", |message| message.text == "pressed n1:once");
    server.command("C1", "U1", "/status", "");
    server.wait_for_message("the command", |message| message.text == "command /status");
    assert_eq!(server.with(|w| w.stray.clone()), Vec::<String>::new());
}
