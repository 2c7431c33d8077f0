//! A connection to a chat service whose deliveries are stored and confirmed as the gateway does it.

use std::collections::BTreeSet;

use avocet::gateway::platform::{
    Button, ButtonQuestion, ButtonStyle, ChatAddress, Cursor, Incoming, IncomingKind, MessageId,
    NewMessage, Outgoing, OutgoingFile, Platform, PlatformError, PostContent,
};

use crate::fakes::service::PATIENCE;

pub struct ServiceClient<P> {
    runtime: tokio::runtime::Runtime,
    pub platform: P,
    pub cursor: Option<Cursor>,
    pub known: BTreeSet<String>,
    /// The chats in which someone spoke who may talk.
    places: BTreeSet<String>,
    /// These users may not talk.
    pub strangers: Vec<&'static str>,
    waiting: Vec<Incoming>,
}

/// What a later run begins with: its position, and the deliveries that are known.
pub type Stored = (Option<Cursor>, BTreeSet<String>);

/// A service in which somebody can write.
pub trait Writable {
    fn write_marker(&self, marker: &str);
}

impl<P: Platform> ServiceClient<P> {
    pub fn new(platform: P, (cursor, known): Stored) -> ServiceClient<P> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        ServiceClient {
            runtime: runtime.unwrap(),
            platform,
            cursor,
            known,
            places: BTreeSet::new(),
            strangers: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.unwrap() })
    }

    pub fn send(&self, at: &ChatAddress, text: &Outgoing, new: &NewMessage) -> Sent {
        self.run(self.platform.send(at, PostContent::Text(text), new))
    }

    pub fn ask(&self, at: &ChatAddress, question: &ButtonQuestion, new: &NewMessage) -> Sent {
        self.run(self.platform.send(at, PostContent::Question(question), new))
    }

    pub fn upload(&self, at: &ChatAddress, file: &OutgoingFile, new: &NewMessage) -> Sent {
        self.run(self.platform.send(at, PostContent::File(file), new))
    }

    /// The next thing that is new. Errors of a connection are not the end of it.
    pub fn next(&mut self) -> Incoming {
        while self.waiting.is_empty() {
            self.receive();
        }
        self.waiting.remove(0)
    }

    /// What a later run begins with, once it is known who may talk.
    pub fn stored(&mut self) -> Stored {
        let is_known = |cursor: &Cursor, place: &String| cursor.0.contains(&format!("{place:?}"));
        while let Some(cursor) = &self.cursor
            && !self.places.iter().all(|place| is_known(cursor, place))
        {
            self.receive();
        }
        (self.cursor.clone(), self.known.clone())
    }

    fn receive(&mut self) {
        let batch = match self.run(self.platform.receive()) {
            Ok(batch) => batch,
            Err(
                PlatformError::Network(_)
                | PlatformError::Refused(_)
                | PlatformError::RateLimited { .. },
            ) => return,
            Err(error) => panic!("{error}"),
        };
        let is_new = |incoming: &Incoming| self.known.insert(incoming.id.0.clone());
        let new: Vec<Incoming> = batch.messages.into_iter().filter(is_new).collect();
        let is_stranger = |one: &Incoming| self.strangers.contains(&one.sender.id.0.as_str());
        for one in new.iter().filter(|one| one.is_addressed && !is_stranger(one)) {
            self.platform.admitted(one);
            if one.message.is_some() {
                self.places.insert(one.at.chat.0.clone());
            }
        }
        self.waiting.extend(new);
        self.cursor = batch.cursor.or(self.cursor.take());
        let cursor = self.cursor.clone().unwrap();
        self.run(self.platform.confirm(&cursor)).unwrap();
    }

    pub fn next_text(&mut self) -> String {
        match self.next().kind {
            IncomingKind::Text { text } => text,
            other => panic!("{other:?}"),
        }
    }

    /// Nothing more is new: a marker that is sent now is the next thing.
    pub fn expect_nothing_but(&mut self, server: &impl Writable, marker: &str) {
        server.write_marker(marker);
        assert_eq!(self.next_text(), marker);
    }
}

type Sent = Result<MessageId, PlatformError>;

/// What is known of a message that is sent once and answers no command.
pub fn once() -> NewMessage {
    NewMessage::answering(None)
}

pub fn question() -> ButtonQuestion {
    let button =
        |label: &str, data: &str, style| Button { label: label.into(), data: data.into(), style };
    ButtonQuestion {
        text: Outgoing::plain("Run `rm -r <build>` && *go*?"),
        buttons: vec![
            button("Once", "n1:once", ButtonStyle::Usual),
            button("No", "n1:no", ButtonStyle::Refuse),
        ],
    }
}
