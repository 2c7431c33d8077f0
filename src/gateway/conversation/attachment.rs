//! The part of a question that its message has no room for. A text that was not shown is not
//! approved.

use super::super::platform::{PlatformLimits, TextUnit};
use super::super::timeline::{PostBody, PostKey};
use super::{ChatConversation, ChatState};
use avocet_core::i18n::chat as w;

/// Messages that may show a question in place of its file.
const MOST_PARTS: usize = 8;

impl ChatConversation {
    /// A post was given up. True if the open question needed it: the whole text follows in messages
    /// then, and if those fail too, the question can only be refused.
    pub fn on_dropped(&mut self, key: PostKey) -> bool {
        let (lang, limits) = (self.options.lang, self.options.limits);
        let ChatState::Asking(open) = &mut self.state else { return false };
        if !open.shown_by.contains(&key) {
            return false;
        }
        let was_file = open.shown_by.len() == 1 && open.has_file;
        open.has_file = false;
        let parts = plain_parts(&open.question.text(lang), &limits);
        let note = if was_file && parts.len() <= MOST_PARTS {
            let timeline = &mut self.timeline;
            // The question itself comes after them.
            timeline.withdraw(open.post);
            let posts = parts.into_iter().map(|part| timeline.post(PostBody::Plain(part)));
            open.shown_by = posts.collect();
            w::QUESTION_ABOVE
        } else {
            self.timeline.withdraw(open.post);
            open.question.refuse_only();
            open.shown_by.clear();
            w::QUESTION_UNREAD
        };
        let text = open.question.short(lang, &limits, note);
        let buttons = open.question.buttons(lang, &limits, self.has_admin);
        open.post = self.timeline.open(PostBody::Question { text, buttons });
        true
    }
}

/// The text in messages, cut anywhere and changed nowhere.
fn plain_parts(text: &str, limits: &PlatformLimits) -> Vec<String> {
    let width = |c: char| match limits.unit {
        TextUnit::Chars => 1,
        TextUnit::Utf16 => c.len_utf16(),
    };
    let (mut parts, mut part, mut used) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        if used + width(c) > limits.text {
            parts.push(std::mem::take(&mut part));
            used = 0;
        }
        part.push(c);
        used += width(c);
    }
    parts.push(part);
    parts
}
