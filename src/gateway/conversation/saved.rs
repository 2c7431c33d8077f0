//! The saved conversations of a chat. It resumes those that it had itself: others of its folder are
//! of other users.

use avocet_core::protocol::{Op, SavedOp, SessionRow};

#[derive(Debug, Default)]
pub struct SavedConversations {
    own: Vec<String>,
    /// They are offered when they come.
    pub asked: bool,
    /// One is being resumed: the chat sees that.
    pub resuming: bool,
}

impl SavedConversations {
    pub fn new(own: Vec<String>) -> SavedConversations {
        SavedConversations { own, ..SavedConversations::default() }
    }

    /// The chat has this one.
    pub fn note(&mut self, session: &str) {
        if !session.is_empty() && self.own.iter().all(|one| one != session) {
            self.own.push(session.to_owned());
        }
    }

    /// The only one whose id begins so.
    fn find(&self, start: &str) -> Option<&String> {
        let mut found = self.own.iter().filter(|one| one.starts_with(start));
        found.next().filter(|_| found.next().is_none())
    }

    /// The operation, unless it resumes a conversation of another chat.
    pub fn within_chat(&mut self, op: Op) -> Option<Op> {
        let Op::Saved(SavedOp::Resume { session }) = op else { return Some(op) };
        let session = self.find(&session)?.clone();
        self.resuming = true;
        Some(Op::Saved(SavedOp::Resume { session }))
    }

    /// Those that were asked for, the latest first, each with its label.
    pub fn take_lines(
        &mut self,
        rows: &[SessionRow],
        current: &str,
    ) -> Option<Vec<(String, String)>> {
        let own = rows.iter().filter(|row| row.id != current && self.own.contains(&row.id));
        let lines =
            own.map(|row| (format!("{} · {}", row.when, row.title), format!("/resume {}", row.id)));
        let lines = lines.collect();
        std::mem::take(&mut self.asked).then_some(lines)
    }
}
