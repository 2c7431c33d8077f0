//! Users and threads that a service was asked about: a delivery does not say all of them. What
//! cannot be looked up in a moment stays unsaid.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::platform::QuotedMessage;
use super::recent::Recent;

/// Names and threads that are remembered, and for how long.
const REMEMBERED: usize = 1_000;
const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// What is delivered must be confirmed within 3 s.
const PATIENCE: Duration = Duration::from_millis(800);

/// What a service tells of a user; empty if it does not.
#[derive(Clone, Debug, Default)]
pub struct KnownUser {
    pub name: String,
    pub language: Option<String>,
}

pub struct KnownUsers {
    users: Recent<KnownUser>,
    /// The threads whose first message the model knows.
    pub threads: Recent<()>,
}

impl Default for KnownUsers {
    fn default() -> KnownUsers {
        let users = Recent::new(REMEMBERED, LIFETIME);
        KnownUsers { users, threads: Recent::new(REMEMBERED, LIFETIME) }
    }
}

impl KnownUsers {
    pub async fn find(&self, id: &str, ask: impl Future<Output = Option<KnownUser>>) -> KnownUser {
        if let Some(user) = self.users.get(id, Instant::now()) {
            return user;
        }
        let user = ask.await.unwrap_or_default();
        self.users.insert(id, user.clone(), Instant::now());
        user
    }
}

impl KnownUser {
    /// A message of this user.
    pub fn quote(self, id: &str, text: String) -> QuotedMessage {
        let author = if self.name.is_empty() { id.to_owned() } else { self.name };
        QuotedMessage { author, text }
    }
}

/// The answer, if it comes soon.
pub async fn in_a_moment<T, E>(answer: impl Future<Output = Result<T, E>>) -> Option<T> {
    timeout(PATIENCE, answer).await.ok()?.ok()
}
