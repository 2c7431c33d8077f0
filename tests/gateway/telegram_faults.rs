//! The gateway against a Bot API that does not behave as documented, and users who send no text.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fakes::service::Fault;
use crate::fakes::telegram::TelegramServer;
use crate::journeys::{Gateway, walk};
use crate::process::{GatewayProcess, touch};
use crate::support::bench::TestDir;
use crate::support::server::Reply;

const ANN: i64 = 7;

fn start(replies: Vec<Reply>, allow: &[&str]) -> (TelegramServer, GatewayProcess) {
    let Gateway { service, process } = Gateway::admitting(TestDir::new(), replies, allow, "");
    (service, process)
}

#[test]
fn updates_whose_numbers_begin_again_lower_are_answered_once_each_over_a_restart() {
    let replies = ["One.", "Two.", "Three."].map(Reply::chat).to_vec();
    let (telegram, mut gateway) = start(replies, &["7"]);
    telegram.write(ANN, "one");
    telegram.wait_for(ANN, "One.");
    telegram.with(|state| state.next_update = 10);
    telegram.write(ANN, "two");
    telegram.wait_for(ANN, "Two.");
    gateway.wait_for_record("telegram", |line| line.contains("\"begun\"") && line.contains("two"));
    gateway.kill();
    gateway.run();
    telegram.write(ANN, "three");
    telegram.wait_for(ANN, "Three.");
    assert_eq!(gateway.model.requests().len(), 3);
}

#[test]
fn a_service_that_repeats_what_was_acknowledged_is_polled_slowly_and_answered_once() {
    let (telegram, gateway) = start(vec![Reply::chat("One."), Reply::chat("Two.")], &["7"]);
    telegram.with(|state| state.repeats_updates = true);
    telegram.write(ANN, "one");
    telegram.wait_for(ANN, "One.");
    let (before, begun) = (telegram.calls("getUpdates").len(), Instant::now());
    telegram.wait_for_calls("getUpdates", before + 10);
    assert!(begun.elapsed() > Duration::from_secs(2), "ten polls in {:?}", begun.elapsed());
    telegram.write(ANN, "two");
    telegram.wait_for(ANN, "Two.");
    assert_eq!(gateway.model.requests().len(), 2);
}

#[test]
fn a_sticker_is_answered_with_what_can_be_read_and_a_voice_message_is_a_file() {
    let replies = vec![Reply::chat("Kept."), Reply::chat("Heard.")];
    let (telegram, gateway) = start(replies, &["7"]);
    telegram.send(ANN, json!({ "sticker": { "file_id": "s", "emoji": "x", "file_size": -1 } }));
    telegram.wait_for(ANN, "I can read text, images and files.");
    assert_eq!(gateway.model.requests().len(), 0);
    telegram.send_file(ANN, "kept", b"OggS\x00\xff", "");
    telegram.wait_for(ANN, "Kept.");
    let voice = json!({ "file_id": "file-0", "duration": 2, "file_size": -6 });
    telegram.send(ANN, json!({ "voice": voice, "caption": "what do I say?" }));
    telegram.wait_for(ANN, "I cannot hear `voice.ogg`");
    telegram.wait_for(ANN, "Heard.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains("voice.ogg") && asked.contains("what do I say?"), "{asked}");
}

#[test]
fn a_refused_poll_is_told_in_the_terminal_and_the_next_one_connects_again() {
    let (telegram, mut gateway) = start(vec![Reply::chat("One.")], &["7"]);
    // Another program polls with the same token.
    telegram.plan("getUpdates", Fault::Status(409));
    telegram.write(ANN, "one");
    telegram.wait_for(ANN, "One.");
    telegram.wait_for_faults();
    let (code, text) = gateway.stop();
    assert_eq!(code, Some(0), "{text}");
    let (_, after) = text.split_once("Telegram is not connected: the service refuses").unwrap();
    assert!(after.contains("Telegram: connected as avocet_bot"), "{text}");
}

#[test]
fn a_chat_whose_question_is_open_when_the_program_ends_is_told_why_it_stops() {
    let (telegram, mut gateway) = start(vec![touch()], &["7"]);
    telegram.write(ANN, "make a file");
    telegram.wait_for_question(ANN);
    assert_eq!(gateway.stop().0, Some(0));
    let texts = telegram.texts(ANN).concat();
    assert!(texts.contains("Stopped, as the program ends."), "{texts}");
    assert!(!gateway.has_file("made.txt"));
}

#[test]
fn a_message_whose_id_the_answer_does_not_tell_is_sent_again() {
    let (telegram, _gateway) = start(vec![Reply::chat("One.")], &["7"]);
    telegram.with(|state| state.answers_without_id = 1);
    telegram.write(ANN, "one");
    telegram.wait_for(ANN, "One.");
}

#[test]
fn a_token_that_is_refused_once_after_it_was_accepted_ends_nothing() {
    let (telegram, mut gateway) = start(vec![Reply::chat("One."), Reply::chat("Two.")], &["7"]);
    telegram.write(ANN, "one");
    telegram.wait_for(ANN, "One.");
    for status in [401, 404] {
        telegram.plan("getUpdates", Fault::Status(status));
    }
    telegram.plan("sendMessage", Fault::Status(401));
    telegram.write(ANN, "two");
    telegram.wait_for(ANN, "Two.");
    telegram.wait_for_faults();
    assert_eq!(gateway.stop().0, Some(0));
}

/// The service tells the refusal only after the next message came.
#[test]
fn a_message_between_a_call_and_its_refusal_is_answered() {
    let (telegram, gateway) = start(vec![Reply::chat("One."), Reply::chat("Two.")], &["7"]);
    telegram.plan("sendMessage", Fault::Status(403));
    telegram.hold_refusals(true);
    telegram.write(ANN, "one");
    telegram.wait_for_calls("sendMessage", 1);
    telegram.write(ANN, "two");
    gateway.model.wait_for_requests(2);
    telegram.hold_refusals(false);
    telegram.wait_for(ANN, "Two.");
}

#[test]
fn the_start_names_each_service_once_it_is_connected_and_warns_if_no_user_may_talk() {
    for (allow, warns) in [(&["7"][..], false), (&[], true)] {
        let (telegram, mut gateway) = start(Vec::new(), allow);
        telegram.wait_for_calls("getUpdates", 1);
        let (code, text) = gateway.stop();
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("Telegram: connected as avocet_bot\n"), "{text}");
        assert_eq!(text.contains("no user may talk"), warns, "{text}");
    }
}

/// The program ended after a chat began its first conversation, and before that was saved.
#[test]
fn a_conversation_that_was_never_saved_begins_afresh_without_a_warning() {
    let (telegram, mut gateway) = start(vec![Reply::chat("Here.")], &["7"]);
    telegram.wait_for_calls("getUpdates", 1);
    gateway.kill();
    let records = [
        received("900", "are you there?"),
        json!({ "record": "chat", "at": { "chat": "7" }, "session": "zzzz-never-saved", "folder": null }),
        json!({ "record": "begun", "delivery": "900", "text": "are you there?" }),
    ];
    append(&gateway, &records);
    gateway.run();
    // Whether it was acted on is not known, so the user decides.
    telegram.wait_for(ANN, "was restarted while");
    telegram.write(ANN, "are you there?");
    telegram.wait_for(ANN, "Here.");
    assert_eq!(telegram.texts(ANN).len(), 2, "{:?}", telegram.texts(ANN));
    assert_eq!(gateway.model.requests().len(), 1);
}

#[test]
fn a_message_that_a_kill_kept_from_the_session_is_answered_before_what_came_after_it() {
    let replies = ["Zero.", "One.", "Two."].map(Reply::chat).to_vec();
    let (telegram, mut gateway) = start(replies, &["7"]);
    telegram.write(ANN, "zero");
    telegram.wait_for(ANN, "Zero.");
    gateway.wait_for_turn_end("telegram", "zero");
    gateway.kill();
    let records = [
        received("900", "the heron"),
        json!({ "record": "begun", "delivery": "900", "submit": 1, "text": "the heron" }),
        received("901", "the osprey"),
    ];
    append(&gateway, &records);
    gateway.run();
    telegram.wait_for(ANN, "Two.");
    let requests: Vec<String> =
        gateway.model.requests().iter().map(|request| request.json().to_string()).collect();
    assert!(requests[1].contains("the heron"), "{}", requests[1]);
    assert!(!requests[1].contains("the osprey"), "{}", requests[1]);
    assert_eq!(requests.len(), 3);
}

fn received(id: &str, text: &str) -> Value {
    let sender = json!({ "id": "7", "name": "Ann", "language": null, "is_bot": false });
    let kind = json!({ "kind": "text", "text": text });
    let incoming = json!({ "id": id, "at": { "chat": "7" }, "message": "1", "sender": sender,
        "is_group": false, "is_addressed": true, "kind": kind });
    json!({ "record": "received", "incoming": incoming })
}

/// The gateway wrote these before it ended.
fn append(gateway: &GatewayProcess, records: &[Value]) {
    let ledger = ledger_file(&gateway.dir.path("avocet"));
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let mut text = fs::read_to_string(&ledger).unwrap();
    text.push_str(&lines);
    fs::write(&ledger, text).unwrap();
}

fn ledger_file(folder: &std::path::Path) -> PathBuf {
    let found = walk(folder).into_iter().find(|file| file.ends_with("telegram.jsonl"));
    found.unwrap_or_else(|| panic!("no ledger in {}", folder.display()))
}
