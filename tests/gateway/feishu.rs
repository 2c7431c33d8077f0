//! The connection to Feishu against a service of our own: what users do arrives once, whatever the
//! service does, and what the bot does keeps to the service's rules.

use std::time::{Duration, Instant};

use crate::client::{ServiceClient, Stored, Writable, once, question};
use crate::fakes::feishu::{APP_ID, APP_SECRET, FeishuServer, private};
use crate::fakes::service::{Fault, Service};
use avocet::gateway::feishu::{Feishu, FeishuApp};
use avocet::gateway::platform::{
    ChatAddress, IncomingKind, Outgoing, OutgoingFile, Platform, PlatformError,
};
use serde_json::json;

type Client = ServiceClient<Feishu>;

fn connect(server: &FeishuServer) -> Client {
    let app = FeishuApp { id: APP_ID.into(), secret: APP_SECRET.into() };
    let client =
        ServiceClient::new(Feishu::new(&server.api_url(), app).unwrap(), Stored::default());
    client.run(client.platform.connect()).unwrap();
    server.wait_until_connected();
    client
}

impl Writable for FeishuServer {
    fn write_marker(&self, marker: &str) {
        self.say("ou_mark", marker);
    }
}

#[test]
fn an_event_is_answered_once_it_is_stored_and_not_before() {
    let server = FeishuServer::start();
    let mut client = connect(&server);
    let first = server.say("ou_1", "hello");
    let batch = client.run(client.platform.receive()).unwrap();
    assert_eq!(batch.messages.len(), 1);
    assert_eq!(server.with(|tenant| tenant.deliveries[0].answer.clone()), None);
    // It was not stored when the connection broke: it comes again.
    server.break_connections();
    assert_eq!(client.next_text(), "hello");
    server.wait_for_answer(&first);
    server.repeat_everything_backwards();
    client.expect_nothing_but(&server, "end");
}

#[test]
fn an_event_in_many_frames_is_whole_and_garbage_breaks_nothing() {
    let server = FeishuServer::start();
    let mut client = connect(&server);
    for garbage in [b"\xff\xff\xff".as_slice(), b"", b"\x42\xff\x01", b"\x08", b"\x0b\x00"] {
        server.send_raw(garbage);
    }
    server.say("ou_1", "a");
    assert_eq!(client.next_text(), "a");
    let mut event = server.with(|tenant| tenant.deliveries[0].event["event"].clone());
    event["message"]["message_id"] = json!("om_long");
    event["message"]["content"] = json!(json!({ "text": "long ".repeat(10_000) }).to_string());
    let id = server.event("im.message.receive_v1", event, 7);
    assert_eq!(client.next_text(), "long ".repeat(10_000).trim());
    client.expect_nothing_but(&server, "end");
    server.wait_for_answer(&id);
    let unknown = server.event("im.chat.updated_v1", json!({ "chat_id": "oc_1" }), 1);
    server.wait_for_answer(&unknown);
}

#[test]
fn a_connection_that_is_silent_is_replaced() {
    let server = FeishuServer::start();
    server.with(|tenant| tenant.ping_interval = 1);
    let mut client = connect(&server);
    server.wait("pings", |tenant| (tenant.pings >= 2).then_some(()));
    server.freeze_connections();
    server.say("ou_1", "after");
    let began = Instant::now();
    assert_eq!(client.next_text(), "after");
    assert!(began.elapsed() >= Duration::from_millis(500));
}

#[test]
fn a_token_that_ended_is_fetched_again_and_a_limit_is_kept_to() {
    let server = FeishuServer::start();
    let client = connect(&server);
    let at = ChatAddress::of("oc_1");
    let send = |text: &str| client.send(&at, &Outgoing::plain(text), &once());
    send("one").unwrap();
    assert_eq!(server.with(|tenant| tenant.tokens), 1, "one token for all calls");
    server.end_token();
    send("two").unwrap();
    assert_eq!(server.with(|tenant| tenant.tokens), 2);
    server.plan("POST im/v1/messages", Fault::Limited(7));
    let limited = PlatformError::RateLimited { after: Duration::from_secs(7) };
    assert_eq!(send("three"), Err(limited));
    server.plan("POST im/v1/messages", Fault::Unauthorized);
    server.plan("POST im/v1/messages", Fault::Unauthorized);
    assert!(matches!(send("four"), Err(PlatformError::Refused(_))), "not the end of the service");
}

#[test]
fn a_message_whose_answer_was_lost_is_sent_once() {
    let server = FeishuServer::start();
    let client = connect(&server);
    let at = ChatAddress::of("oc_1");
    let new = once();
    server.plan("POST im/v1/messages", Fault::Unheard);
    let send = || client.send(&at, &Outgoing::native("**a**"), &new);
    assert!(matches!(send(), Err(PlatformError::Network(_))));
    send().unwrap();
    assert_eq!(server.with(|tenant| tenant.messages.len()), 1);
}

#[test]
fn a_question_is_pressed_answered_and_closed() {
    let server = FeishuServer::start();
    let mut client = connect(&server);
    let at = ChatAddress::of("oc_1");
    let id = client.ask(&at, &question(), &once()).unwrap();
    let asked = server.with(|tenant| tenant.messages[0].clone());
    assert!(asked.shown().contains("Run `rm -r <build>` && *go*?"), "{}", asked.shown());
    let press = server.press("ou_1", "oc_1", &id.0, &asked.buttons()[0].1);
    let pressed = client.next();
    let IncomingKind::Button { data, press: own } = &pressed.kind else { panic!("{pressed:?}") };
    assert_eq!((data.as_str(), &pressed.message, &pressed.at), ("n1:once", &Some(id.clone()), &at));
    client.run(client.platform.acknowledge(own, Some("Too late"))).unwrap();
    assert_eq!(server.wait_for_answer(&press)["toast"]["content"], "Too late");
    client.run(client.platform.edit(&at, &id, &Outgoing::native("**Approved**"))).unwrap();
    let closed = server.with(|tenant| tenant.messages[0].clone());
    assert_eq!((closed.buttons().len(), closed.shown().as_str()), (0, "**Approved**"));
    let gone = client.run(client.platform.edit(&at, &"om_9".into(), &Outgoing::plain("x")));
    assert_eq!(gone, Err(PlatformError::Gone));
    // No one answers this press: the service does not wait for long.
    let silent = server.press("ou_2", "oc_1", &id.0, &asked.buttons()[0].1);
    client.next();
    assert_eq!(server.wait_for_answer(&silent), json!({}));
}

#[test]
fn files_go_both_ways() {
    let server = FeishuServer::start();
    let mut client = connect(&server);
    server.with(|tenant| tenant.files.insert("img_1".into(), b"\x89PNG".to_vec()));
    let content = json!({ "image_key": "img_1" });
    server.message(&private("ou_1"), "ou_1", "image", &content, |_| {});
    let IncomingKind::Files { files, .. } = client.next().kind else { panic!() };
    let fetch = |most| client.run(client.platform.download(&files[0], most));
    assert_eq!(&fetch(100).unwrap()[..], b"\x89PNG");
    assert!(fetch(3).is_err(), "larger than allowed");
    let file = OutgoingFile {
        name: "größe & more.txt".into(),
        media_type: "text/plain".into(),
        bytes: b"all of it".as_slice().into(),
        caption: "the <diff>".into(),
        is_picture: false,
    };
    client.upload(&ChatAddress::of("oc_1"), &file, &once()).unwrap();
    server.with(|tenant| {
        let of_app: Vec<_> = tenant.messages_of_the_app().collect();
        assert_eq!((of_app[0].shown().as_str(), of_app[1].kind.as_str()), ("the <diff>", "file"));
        let key = of_app[1].content["file_key"].as_str().unwrap();
        assert_eq!(tenant.names[key], "größe & more.txt");
        assert_eq!(tenant.files[key], b"all of it");
    });
}

#[test]
fn closing_ends_what_is_received() {
    let server = FeishuServer::start();
    let client = connect(&server);
    client.run(client.platform.close());
    assert!(client.run(client.platform.receive()).is_err());
}
