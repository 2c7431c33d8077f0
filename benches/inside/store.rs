//! What keeping a session costs: an event added to the file, a session of 10, 1,000 and
//! 100,000 events opened as far as it is shown at once, and a word looked for in them. An
//! event is in the file before it is shown, so the first is part of every step.

#![allow(clippy::unwrap_used, reason = "benches")]

use std::sync::Arc;

use avocet::protocol::{Event, ModelMessage, TurnOrigin, TurnOutcome, Usage};
use avocet::safety::redact::Redactor;
use avocet::store::{SessionHeader, SessionWriter, Store};
use divan::Bencher;
use tokio::sync::mpsc::unbounded_channel;

const EVENTS: [usize; 3] = [10, 1_000, 100_000];
/// What a session shows at once when it is taken up.
const PAGE: usize = 200;
const HITS: usize = 50;

struct Kept {
    folder: tempfile::TempDir,
    id: String,
}

impl Kept {
    fn desk(&self) -> SessionWriter {
        desk(&self.folder)
    }
}

fn desk(folder: &tempfile::TempDir) -> SessionWriter {
    let (faults, _) = unbounded_channel();
    let redactor = Arc::new(Redactor::new([("API_KEY", "hunter2hunter2")], [7; 16]));
    let store = Store::in_folder(folder.path().to_owned());
    SessionWriter::new(store, SessionHeader::new("/home/me/work", None), redactor, faults)
}

fn reply(number: usize) -> Event {
    let message = format!("Answer {number}: it lies in `src/lexer.rs` and counts a tab as one.");
    Event::Replied(ModelMessage { message, ..ModelMessage::default() })
}

/// A turn is ten events here; a word stands in one turn of a thousand events.
fn event(number: usize) -> Event {
    let turn = (number / 10 + 1) as u64;
    match number % 10 {
        0 => {
            let rare = if number.is_multiple_of(1_000) { " Is there a heron?" } else { "" };
            let text = format!("Where is the lexer, and what does it do with tabs?{rare}");
            Event::TurnStarted { turn, text, origin: TurnOrigin::Typed, submit: None }
        }
        9 => {
            let usage = Usage::counted(900, 60);
            Event::TurnEnded { turn, ending: TurnOutcome::Done, usage, elapsed_ms: 900 }
        }
        _ => reply(number),
    }
}

fn kept(events: usize) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(&folder);
    for number in 0..events {
        desk.record(event(number));
        if number % 500 == 499 {
            desk.flush();
        }
    }
    desk.flush();
    let id = desk.id().to_owned();
    desk.close();
    Kept { folder, id }
}

#[divan::bench(args = EVENTS)]
fn adding_an_event(bencher: Bencher<'_, '_>, events: usize) {
    let kept = kept(events);
    let mut desk = kept.desk();
    desk.resume(Some(&kept.id), PAGE).unwrap();
    bencher.with_inputs(|| reply(7)).bench_local_values(|event| {
        desk.record(event);
        desk.flush();
    });
}

#[divan::bench(args = EVENTS)]
fn opening_a_session(bencher: Bencher<'_, '_>, events: usize) {
    let kept = kept(events);
    bencher.with_inputs(|| kept.desk()).bench_local_values(|mut desk| {
        let tail = desk.resume(Some(&kept.id), PAGE).unwrap().tail;
        assert_eq!(tail.events.len(), events.min(PAGE));
    });
}

#[divan::bench(args = EVENTS)]
fn looking_for_a_word(bencher: Bencher<'_, '_>, events: usize) {
    let kept = kept(events);
    let mut desk = kept.desk();
    bencher.bench_local(|| {
        let hits = desk.search("heron", HITS).unwrap().len();
        assert!((1..=HITS).contains(&hits));
    });
}
