//! Puts together what a client sends in pieces: a long text, or the files of an album. Pure.

use std::time::{Duration, Instant};

use super::ledger::LedgerRecord;
use super::platform::{DeliveryId, Incoming, IncomingKind, PlatformLimits};

/// How long a piece waits for the next one.
const WAIT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Pieces {
    waiting: Vec<(Incoming, Instant)>,
}

/// What is whole by now, in order, and what is to be written down of it.
#[derive(Debug, Default, PartialEq)]
pub struct WholeMessages {
    pub messages: Vec<Incoming>,
    pub records: Vec<LedgerRecord>,
}

impl Pieces {
    /// Takes a delivery. Whatever does not belong to a piece of its sender ends the wait for more.
    pub fn add(
        &mut self,
        incoming: Incoming,
        limits: &PlatformLimits,
        now: Instant,
    ) -> WholeMessages {
        let mut whole = WholeMessages::default();
        let is_of = |(one, _): &(Incoming, Instant)| {
            one.at == incoming.at && one.sender.id == incoming.sender.id
        };
        let is_piece = incoming.album.is_some() || is_piece(&incoming, limits);
        let message = match self.waiting.iter().position(is_of) {
            None => incoming,
            Some(at) => {
                let (mut first, _) = self.waiting.remove(at);
                match join(&first, &incoming) {
                    Some(kind) => {
                        first.kind = kind;
                        first.is_addressed |= incoming.is_addressed;
                        let joined = Box::new(first.clone());
                        whole.records.push(LedgerRecord::Received { incoming: joined });
                        whole.records.push(LedgerRecord::Done { delivery: incoming.id });
                        first
                    }
                    None => {
                        whole.messages.push(first);
                        incoming
                    }
                }
            }
        };
        if is_piece {
            self.waiting.push((message, now + WAIT));
        } else {
            whole.messages.push(message);
        }
        whole
    }

    pub fn holds(&self, delivery: &DeliveryId) -> bool {
        self.waiting.iter().any(|(one, _)| one.id == *delivery)
    }

    /// When the next one has waited long enough.
    pub fn due(&self) -> Option<Instant> {
        self.waiting.iter().map(|(_, due)| *due).min()
    }

    pub fn take_due(&mut self, now: Instant) -> Vec<Incoming> {
        let (due, waiting) = self.waiting.drain(..).partition(|(_, due)| *due <= now);
        self.waiting = waiting;
        let due: Vec<(Incoming, Instant)> = due;
        due.into_iter().map(|(message, _)| message).collect()
    }
}

/// Its text is as long as its client's pieces are.
fn is_piece(incoming: &Incoming, limits: &PlatformLimits) -> bool {
    let IncomingKind::Text { text } = &incoming.kind else { return false };
    limits.piece.is_some_and(|piece| limits.unit.count(text) >= piece)
}

/// A piece and what comes after it as one, if they belong together.
fn join(earlier_incoming: &Incoming, incoming: &Incoming) -> Option<IncomingKind> {
    match (&earlier_incoming.kind, &incoming.kind) {
        (IncomingKind::Text { text }, IncomingKind::Text { text: more }) => {
            Some(IncomingKind::Text { text: format!("{text}\n{more}") })
        }
        (
            IncomingKind::Files { files, text },
            IncomingKind::Files { files: others, text: more },
        ) if earlier_incoming.album == incoming.album => Some(IncomingKind::Files {
            files: files.iter().chain(others).cloned().collect(),
            text: format!("{text}\n{more}").trim().to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{ChatAddress, RemoteFile, Sender};

    const LIMITS: fn() -> PlatformLimits =
        || PlatformLimits { piece: Some(5), ..PlatformLimits::for_tests(10) };

    fn sent(id: &str, kind: IncomingKind, album: Option<&str>) -> Incoming {
        Incoming {
            id: id.into(),
            at: ChatAddress { chat: "c".into(), thread: None, user: None },
            message: None,
            sender: Sender { id: "7".into(), name: String::new(), language: None, is_bot: false },
            is_group: false,
            is_addressed: id == "1",
            quote: None,
            album: album.map(str::to_owned),
            kind,
        }
    }

    fn text(id: &str, text: &str) -> Incoming {
        sent(id, IncomingKind::Text { text: text.to_owned() }, None)
    }

    fn file(id: &str, album: Option<&str>) -> Incoming {
        let (reference, name) = (id.to_owned(), id.to_owned());
        let files = vec![RemoteFile { reference, name, media_type: None, size: None }];
        sent(id, IncomingKind::Files { files, text: String::new() }, album)
    }

    #[test]
    fn a_long_text_waits_for_its_rest_and_a_short_one_does_not() {
        let (mut pieces, now) = (Pieces::default(), Instant::now());
        assert_eq!(pieces.add(text("1", "12345"), &LIMITS(), now).messages, []);
        let whole = pieces.add(text("2", "6"), &LIMITS(), now);
        assert_eq!(whole.messages, [text("1", "12345\n6")]);
        assert_eq!(whole.records[1], LedgerRecord::Done { delivery: "2".into() });
        assert_eq!(pieces.add(text("3", "1234"), &LIMITS(), now).messages.len(), 1);
        pieces.add(text("4", "12345"), &LIMITS(), now);
        assert!(pieces.holds(&"4".into()) && pieces.take_due(now).is_empty());
        assert_eq!(pieces.take_due(pieces.due().unwrap()).len(), 1, "no more came");
    }

    #[test]
    fn the_files_of_an_album_are_one_message_and_others_keep_their_order() {
        let (mut pieces, now) = (Pieces::default(), Instant::now());
        pieces.add(file("1", Some("a")), &LIMITS(), now);
        pieces.add(file("2", Some("a")), &LIMITS(), now);
        let whole = pieces.add(text("3", "and?"), &LIMITS(), now).messages;
        let IncomingKind::Files { files, .. } = &whole[0].kind else { panic!("{whole:?}") };
        assert_eq!((files.len(), whole[0].is_addressed, whole.len()), (2, true, 2));
        pieces.add(file("4", Some("a")), &LIMITS(), now);
        assert_eq!(pieces.add(file("5", Some("b")), &LIMITS(), now).messages.len(), 1);
    }
}
