//! Users and threads that a service was asked about: a delivery does not say all of them. What
//! cannot be looked up in a moment stays unsaid, and is asked for again later.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::platform::QuotedMessage;
use super::recent::Recent;

/// Names and threads that are remembered, and for how long.
const REMEMBERED: usize = 1_000;
const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// How long nothing more is asked about what the service did not answer.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

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
    threads: Recent<()>,
    /// What the service gave no answer about, a moment ago.
    unanswered: Recent<()>,
}

impl Default for KnownUsers {
    fn default() -> KnownUsers {
        let users = Recent::new(REMEMBERED, LIFETIME);
        let threads = Recent::new(REMEMBERED, LIFETIME);
        KnownUsers { users, threads, unanswered: Recent::new(REMEMBERED, RETRY_PAUSE) }
    }
}

impl KnownUsers {
    pub async fn find(&self, id: &str, ask: impl Future<Output = Option<KnownUser>>) -> KnownUser {
        if let Some(user) = self.users.get(id, Instant::now()) {
            return user;
        }
        let Some(user) = self.ask_unless_unanswered(id, ask).await else {
            return KnownUser::default();
        };
        self.users.insert(id, user.clone(), Instant::now());
        user
    }

    /// The model knows the first message of this thread.
    pub fn keep_thread(&self, thread: &str) {
        self.threads.insert(thread, (), Instant::now());
    }

    pub fn knows_thread(&self, thread: &str) -> bool {
        self.threads.get(thread, Instant::now()).is_some()
    }

    /// Asks the service, unless it gave no answer about the same a moment ago.
    pub async fn ask_unless_unanswered<T>(
        &self,
        key: &str,
        ask: impl Future<Output = Option<T>>,
    ) -> Option<T> {
        if self.unanswered.get(key, Instant::now()).is_some() {
            return None;
        }
        let answer = ask.await;
        if answer.is_none() {
            self.unanswered.insert(key, (), Instant::now());
        }
        answer
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

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    async fn unasked() -> Option<KnownUser> {
        panic!("it was asked about a moment ago")
    }

    #[tokio::test]
    async fn a_name_is_asked_for_again_a_minute_after_the_service_gave_none() {
        let mut known = KnownUsers::default();
        let ann = KnownUser { name: "Ann".to_owned(), language: None };
        assert_eq!(known.find("7", ready(None)).await.name, "");
        assert_eq!(known.find("7", unasked()).await.name, "");
        known.unanswered = Recent::new(REMEMBERED, Duration::ZERO);
        assert_eq!(known.find("7", ready(None)).await.name, "");
        assert_eq!(known.find("7", ready(Some(ann))).await.name, "Ann");
        assert_eq!(known.find("7", unasked()).await.name, "Ann");
    }
}
