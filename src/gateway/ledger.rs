//! What must outlive a restart, for one service: which deliveries came and are not done, the
//! position in the service's stream, and which session a chat has. A journal of lines; each line is
//! in the file before anything is done about it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::platform::{ChatAddress, Cursor, DeliveryId, Incoming, MessageId};
use avocet_config::atomic_file;
use avocet_core::private_dir::private_folder;
use avocet_core::protocol::SubmitId;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum LedgerRecord {
    Cursor {
        cursor: Cursor,
    },
    Received {
        incoming: Box<Incoming>,
    },
    /// The turn of a message began, with this id and this text in the session.
    Begun {
        delivery: DeliveryId,
        #[serde(default)]
        submit: Option<SubmitId>,
        #[serde(default)]
        text: String,
    },
    Done {
        delivery: DeliveryId,
    },
    /// The message of the open question of a chat; `None`: it is closed.
    Question {
        at: ChatAddress,
        message: Option<MessageId>,
    },
    Chat {
        at: ChatAddress,
        session: String,
        folder: Option<String>,
        /// The conversations that it had before, oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<String>,
    },
    /// Deliveries that are done, oldest first.
    Recent {
        deliveries: Vec<DeliveryId>,
    },
}

impl LedgerRecord {
    /// The chat that it is about.
    pub fn address_mut(&mut self) -> Option<&mut ChatAddress> {
        match self {
            LedgerRecord::Question { at, .. } | LedgerRecord::Chat { at, .. } => Some(at),
            _ => None,
        }
    }
}

/// The turn of a message, as its session knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunTurn {
    /// `None`: an older version noted it.
    pub submit: Option<SubmitId>,
    pub text: String,
}

/// A delivery that is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingDelivery {
    pub incoming: Incoming,
    /// The turn in the session, once that began.
    pub begun: Option<BegunTurn>,
}

/// What is known of a chat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecord {
    pub session: String,
    pub folder: Option<String>,
    /// The conversations that it had before, oldest first.
    pub earlier: Vec<String>,
    pub question: Option<MessageId>,
}

/// Earlier conversations of a chat that can be resumed there.
const MAX_EARLIER: usize = 50;

impl ChatRecord {
    fn go_on_with(&mut self, session: String) {
        let before = std::mem::replace(&mut self.session, session);
        let now = &self.session;
        self.earlier.retain(|one| one != now && *one != before);
        if !before.is_empty() && before != *now {
            self.earlier.push(before);
        }
        let more = self.earlier.len().saturating_sub(MAX_EARLIER);
        self.earlier.drain(..more);
    }
}

/// Deliveries that are remembered as done: a service repeats only what is recent.
const MAX_RECENT: usize = 4_096;

/// The journal is rewritten when it is longer, in bytes.
const MAX_LENGTH: u64 = 2 << 20;

#[derive(Debug, Default, PartialEq)]
pub struct JournalState {
    pub cursor: Option<Cursor>,
    /// In the order in which they came.
    pending: BTreeMap<u64, PendingDelivery>,
    places: HashMap<DeliveryId, u64>,
    next: u64,
    pub chats: HashMap<ChatAddress, ChatRecord>,
    recent: VecDeque<DeliveryId>,
    known: HashSet<DeliveryId>,
}

impl JournalState {
    pub fn is_known(&self, delivery: &DeliveryId) -> bool {
        self.known.contains(delivery) || self.places.contains_key(delivery)
    }

    pub fn is_pending(&self, delivery: &DeliveryId) -> bool {
        self.places.contains_key(delivery)
    }

    /// The deliveries that are not done, in the order in which they came.
    pub fn pending(&self) -> impl Iterator<Item = &PendingDelivery> {
        self.pending.values()
    }

    fn find(&mut self, delivery: &DeliveryId) -> Option<&mut PendingDelivery> {
        self.pending.get_mut(self.places.get(delivery)?)
    }

    pub fn apply(&mut self, record: LedgerRecord) {
        match record {
            LedgerRecord::Cursor { cursor } => self.cursor = Some(cursor),
            LedgerRecord::Received { incoming } => self.receive(*incoming),
            LedgerRecord::Begun { delivery, submit, text } => {
                if let Some(pending) = self.find(&delivery) {
                    pending.begun = Some(BegunTurn { submit, text });
                }
            }
            LedgerRecord::Done { delivery } => {
                if let Some(place) = self.places.remove(&delivery) {
                    self.pending.remove(&place);
                    self.remember(delivery);
                }
            }
            LedgerRecord::Question { at, message } => {
                self.chats.entry(at).or_default().question = message;
            }
            LedgerRecord::Chat { at, session, folder, earlier } => {
                let chat = self.chats.entry(at).or_default();
                chat.folder = folder;
                chat.earlier.extend(earlier);
                chat.go_on_with(session);
            }
            LedgerRecord::Recent { deliveries } => {
                deliveries.into_iter().for_each(|delivery| self.remember(delivery));
            }
        }
    }

    fn receive(&mut self, incoming: Incoming) {
        if let Some(pending) = self.find(&incoming.id) {
            // More of it came.
            pending.incoming = incoming;
            return;
        }
        let place = self.next;
        self.next += 1;
        self.places.insert(incoming.id.clone(), place);
        let pending = PendingDelivery { incoming, begun: None };
        self.pending.insert(place, pending);
    }

    fn remember(&mut self, delivery: DeliveryId) {
        self.known.insert(delivery.clone());
        self.recent.push_back(delivery);
        while self.recent.len() > MAX_RECENT {
            if let Some(old) = self.recent.pop_front() {
                self.known.remove(&old);
            }
        }
    }

    /// The records that lead to this state.
    fn snapshot(&self) -> Vec<LedgerRecord> {
        let mut out =
            vec![LedgerRecord::Recent { deliveries: self.recent.iter().cloned().collect() }];
        out.extend(self.cursor.clone().map(|cursor| LedgerRecord::Cursor { cursor }));
        for (at, chat) in &self.chats {
            let session = chat.session.clone();
            let folder = chat.folder.clone();
            let earlier = chat.earlier.clone();

            out.push(LedgerRecord::Chat { at: at.clone(), session, folder, earlier });
            let message = chat.question.clone();
            out.extend(
                message.map(|message| LedgerRecord::Question {
                    at: at.clone(),
                    message: Some(message),
                }),
            );
        }
        for PendingDelivery { incoming, begun } in self.pending.values() {
            let delivery = incoming.id.clone();
            out.push(LedgerRecord::Received { incoming: Box::new(incoming.clone()) });
            if let Some(BegunTurn { submit, text }) = begun.clone() {
                out.push(LedgerRecord::Begun { delivery, submit, text });
            }
        }
        out
    }
}

/// The journal, open for one process.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    pub state: JournalState,
    length: u64,
    /// A write failed: the file may end with half a line.
    is_torn: bool,
    /// Locked as long as the ledger is open: the journal itself is replaced when it is long.
    _lock: File,
}

impl Ledger {
    /// Opens the journal `NAME.jsonl` of a folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process has it.
    pub fn open(folder: &Path, name: &str) -> io::Result<Ledger> {
        private_folder(folder)?;
        let lock = atomic_file::append(&folder.join(format!("{name}.lock")))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let path = folder.join(format!("{name}.jsonl"));
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut state = JournalState::default();
        // A line that was cut by a crash was not acted on, and one of an older version tells nothing
        // that is needed.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .for_each(|record| state.apply(record));
        let mut ledger = Ledger {
            file: atomic_file::append(&path)?,
            path,
            state,
            length: 0,
            is_torn: false,
            _lock: lock,
        };
        ledger.compact()?;
        Ok(ledger)
    }

    /// Whether a process has the journal open.
    pub fn is_open_elsewhere(folder: &Path, name: &str) -> bool {
        let Ok(lock) = File::open(folder.join(format!("{name}.lock"))) else { return false };
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared).is_err()
    }

    /// Adds records, and waits for the disk if `durable`.
    ///
    /// # Errors
    /// Whatever the disk says: nothing is to be done about the records then.
    pub fn append(&mut self, records: Vec<LedgerRecord>, durable: bool) -> io::Result<()> {
        // Half a line would take the next one with it.
        let mut lines = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        for record in &records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        self.is_torn = true;
        self.file.write_all(&lines)?;
        self.is_torn = false;
        if durable {
            self.file.sync_data()?;
        }
        self.length += lines.len() as u64;
        records.into_iter().for_each(|record| self.state.apply(record));
        if self.length > MAX_LENGTH { self.compact() } else { Ok(()) }
    }

    fn compact(&mut self) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in self.state.snapshot() {
            serde_json::to_writer(&mut lines, &record)?;
            lines.push(b'\n');
        }
        atomic_file::write(&self.path, &String::from_utf8_lossy(&lines))?;
        self.file = atomic_file::append(&self.path)?;
        self.is_torn = false;
        // Counted from here, so that a large state is not written at each record.
        self.length = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{IncomingKind, Sender};

    fn address() -> ChatAddress {
        ChatAddress { chat: "c".into(), thread: None, user: None }
    }

    fn incoming(id: &str) -> Incoming {
        let sender = Sender { id: "7".into(), name: "Ann".into(), language: None, is_bot: false };
        let kind = IncomingKind::Text { text: format!("text {id}") };
        let (is_group, is_addressed) = (false, true);
        Incoming {
            id: id.into(),
            at: address(),
            message: None,
            sender,
            is_group,
            is_addressed,
            quote: None,
            album: None,
            kind,
        }
    }

    fn received(id: &str) -> LedgerRecord {
        LedgerRecord::Received { incoming: Box::new(incoming(id)) }
    }

    fn ids(ledger: &Ledger) -> Vec<(String, bool)> {
        ledger.state.pending().map(|one| (one.incoming.id.0.clone(), one.begun.is_some())).collect()
    }

    #[test]
    fn what_is_not_done_is_there_after_a_restart_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "telegram").unwrap();
        let done = LedgerRecord::Done { delivery: "b".into() };
        let begun = LedgerRecord::Begun {
            delivery: "c".into(),
            submit: Some(SubmitId(3)),
            text: "text c".into(),
        };
        let cursor = LedgerRecord::Cursor { cursor: Cursor("12".into()) };
        let records = vec![received("c"), received("b"), received("a"), done, begun, cursor];
        ledger.append(records, true).unwrap();
        for _ in 0..2 {
            drop(ledger);
            ledger = Ledger::open(folder.path(), "telegram").unwrap();
            assert_eq!(ids(&ledger), [("c".into(), true), ("a".into(), false)]);
            assert_eq!(ledger.state.cursor, Some(Cursor("12".into())));
            assert!(ledger.state.is_known(&"b".into()), "done is remembered");
            assert!(!ledger.state.is_known(&"z".into()));
        }
    }

    #[test]
    fn a_line_cut_by_a_crash_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "slack").unwrap();
        ledger.append(vec![received("a")], false).unwrap();
        drop(ledger);
        let path = folder.path().join("slack.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"record\":\"received\",\"incom");
        fs::write(&path, text).unwrap();
        let mut ledger = Ledger::open(folder.path(), "slack").unwrap();
        assert_eq!(ids(&ledger), [("a".into(), false)]);
        ledger.append(vec![received("b")], false).unwrap();
        drop(ledger);
        assert_eq!(ids(&Ledger::open(folder.path(), "slack").unwrap()).len(), 2);
    }

    #[test]
    fn half_a_line_of_a_failed_write_takes_no_other_record_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "telegram").unwrap();
        ledger.append(vec![received("a")], false).unwrap();
        // The disk is full in the middle of a line.
        ledger.file.write_all(b"{\"record\":\"received\",\"inco").unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let file = std::mem::replace(&mut ledger.file, full);
        ledger.append(vec![received("b")], false).unwrap_err();
        assert!(!ledger.state.is_known(&"b".into()), "it is not written down");
        ledger.file = file;
        ledger.append(vec![received("c")], false).unwrap();
        ledger.append(vec![received("d")], false).unwrap();
        drop(ledger);
        let ledger = Ledger::open(folder.path(), "telegram").unwrap();
        let expected = ["a", "c", "d"].map(|id| (id.to_owned(), false));
        assert_eq!(ids(&ledger), expected);
    }

    #[test]
    fn a_second_process_does_not_get_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!Ledger::is_open_elsewhere(folder.path(), "discord"));
        let ledger = Ledger::open(folder.path(), "discord").unwrap();
        let error = Ledger::open(folder.path(), "discord").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(Ledger::is_open_elsewhere(folder.path(), "discord"));
        drop(ledger);
        assert!(!Ledger::is_open_elsewhere(folder.path(), "discord"));
    }

    #[test]
    fn the_journal_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "telegram").unwrap();
        for n in 0..20_000 {
            let id = format!("d{n}");
            let done = LedgerRecord::Done { delivery: id.as_str().into() };
            ledger.append(vec![received(&id), done], false).unwrap();
        }
        assert!(fs::metadata(folder.path().join("telegram.jsonl")).unwrap().len() < 2 * MAX_LENGTH);
        assert!(ledger.state.is_known(&"d19999".into()) && !ledger.state.is_known(&"d1".into()));
    }
}
