//! A question that no one answers: the chat is reminded of it once, and in the end it is rejected.

use std::time::{Duration, Instant};

use super::Chat;
use avocet_core::i18n::chat as w;
use avocet_core::protocol::AskId;

/// The open question, and when it is next looked at.
#[derive(Debug, Default)]
pub(super) struct QuestionClock {
    open: Option<AskId>,
    due: Option<Instant>,
    /// How long it stays open after that; `None`: it is over then.
    left: Option<Duration>,
}

impl Chat {
    pub(super) fn question_due(&self) -> Option<Instant> {
        self.question_clock.due
    }

    pub(super) async fn watch_question(&mut self) {
        let now = Instant::now();
        let open = self.conversation.view.question().and_then(|question| question.unanswered());
        if open != self.question_clock.open {
            // Half of its time, and the other half after the reminder.
            let half = self.parts.options.question_time.map(|time| time / 2);
            let half = half.filter(|_| open.is_some());
            self.question_clock =
                QuestionClock { open, due: half.map(|half| now + half), left: half };
        }
        if self.question_clock.due.is_none_or(|due| due > now) {
            return;
        }
        let left = self.question_clock.left.take();
        self.question_clock.due = left.map(|left| now + left);
        if left.is_some() {
            self.conversation.view.posts.say(w::QUESTION_REMINDER);
            return;
        }
        let effects = self.conversation.view.expire_question().into_iter().collect();
        Box::pin(self.apply(effects)).await;
    }
}
