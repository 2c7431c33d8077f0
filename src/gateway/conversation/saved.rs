//! The saved conversations of a chat. It resumes those that it had itself: others of its folder are
//! of other users.

use super::ChatConversation;
use avocet_core::i18n::chat as w;
use avocet_core::protocol::{Op, SavedOp, SessionRow};

#[derive(Debug, Default)]
pub struct SavedConversations {
    own: Vec<String>,
    /// They are offered when they come.
    pub asked: bool,
    /// One is being resumed, which the chat is told of.
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
}

/// Offers those of this chat, the latest first.
pub(super) fn offer_saved(chat: &mut ChatConversation, rows: Vec<SessionRow>) {
    if !std::mem::take(&mut chat.saved.asked) {
        return;
    }
    let current = chat.context.info.session.as_str();
    let rows = rows.into_iter().filter(|row| row.id != current);
    let own = rows.filter(|row| chat.saved.own.contains(&row.id));
    let lines: Vec<(String, String)> = own
        .map(|row| (format!("{} · {}", row.when, row.title), format!("/resume {}", row.id)))
        .collect();
    if lines.is_empty() {
        return chat.view.posts.say(w::NO_EARLIER);
    }
    chat.offer(w::CHOOSE_EARLIER, lines);
}
