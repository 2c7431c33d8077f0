//! A connection to a chat service whose deliveries are stored and confirmed as the gateway does it.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use avocet::gateway::platform::{
    Button, ButtonQuestion, ButtonStyle, Cursor, Incoming, IncomingKind, Outgoing, Platform,
    PlatformError,
};

use super::service::PATIENCE;

pub struct ServiceClient<P> {
    runtime: tokio::runtime::Runtime,
    pub platform: P,
    pub cursor: Option<Cursor>,
    pub known: BTreeSet<String>,
    waiting: Vec<Incoming>,
}

/// A service in which somebody can write.
pub trait Writable {
    fn write_marker(&self, marker: &str);
}

impl<P: Platform> ServiceClient<P> {
    pub fn new(platform: P, cursor: Option<&Cursor>) -> ServiceClient<P> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        ServiceClient {
            runtime: runtime.unwrap(),
            platform,
            cursor: cursor.cloned(),
            known: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.unwrap() })
    }

    /// The next thing that is new. Errors of a connection are not the end of it.
    pub fn next(&mut self) -> Incoming {
        loop {
            if !self.waiting.is_empty() {
                return self.waiting.remove(0);
            }
            let batch = match self.run(self.platform.receive()) {
                Ok(batch) => batch,
                Err(
                    PlatformError::Network(_)
                    | PlatformError::Refused(_)
                    | PlatformError::RateLimited { .. },
                ) => continue,
                Err(error) => panic!("{error}"),
            };
            let is_new = |incoming: &Incoming| self.known.insert(incoming.id.0.clone());
            self.waiting.extend(batch.messages.into_iter().filter(is_new));
            self.cursor = batch.cursor.or(self.cursor.take());
            let cursor = self.cursor.clone().unwrap();
            self.run(self.platform.confirm(&cursor)).unwrap();
        }
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
