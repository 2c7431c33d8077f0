//! A reply that grows in a chat: its text in as many messages as it needs, each changed only when
//! its own part changes. Pure.
//!
//! A model may write many thousand pieces a second. A piece is only kept; the text is split when a
//! call can be made, and only from the last part that may still change.

use super::platform::OutgoingFile;
use super::split::Splitter;
use super::timeline::{FIRST_LENGTH, PostBody, PostKey, Timeline};
use avocet_core::i18n::{Lang, chat as w};

/// Messages of one reply; the rest of a longer one is in a file.
const MAX_PARTS: usize = 6;

/// The longest letter, in bytes: more than this for each unit is never shown while a reply grows.
const MAX_LETTER: usize = 4;

/// A message does not begin with less than its first letters, in bytes: until then it is kept up to
/// date.
const MAX_START: usize = MAX_LETTER * FIRST_LENGTH;

#[derive(Debug, Default)]
pub struct LiveReply {
    text: String,
    splitter: Splitter,
    posts: Vec<PostKey>,
    /// The parts that are full; the one after them grows.
    full: usize,
    /// Something came that the posts do not show.
    is_behind: bool,
    /// The text belongs to a reply that was discarded: the next part replaces it.
    is_stale: bool,
}

impl LiveReply {
    /// What came so far was discarded; the messages are used again.
    pub fn restart(&mut self) {
        self.is_stale = true;
    }

    pub fn push(&mut self, text: &str, timeline: &mut Timeline) {
        if std::mem::take(&mut self.is_stale) {
            self.clear();
        }
        // The messages that it may have are full: the end of the reply brings the rest.
        let most = MAX_PARTS * MAX_LETTER * timeline.limits().text;
        if self.full == MAX_PARTS || self.text.len() > most {
            return;
        }
        self.text.push_str(text);
        // Spaces alone change nothing that is shown.
        self.is_behind |= !text.trim().is_empty();
        let is_unsent = |key: &PostKey| timeline.message_of(*key).is_none();
        if self.posts.first().is_none_or(|key| self.text.len() <= MAX_START && is_unsent(key)) {
            // What comes later is shown below, and the message begins with all that came.
            self.show(timeline);
        }
    }

    fn clear(&mut self) {
        (self.text, self.splitter, self.full) = (String::new(), Splitter::default(), 0);
    }

    /// Whether [`LiveReply::show`] has something to do.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Brings the posts up to what came.
    pub fn show(&mut self, timeline: &mut Timeline) {
        if !std::mem::take(&mut self.is_behind) {
            return;
        }
        while self.full < MAX_PARTS
            && let Some(part) = self.splitter.full(&self.text, timeline.limits())
        {
            self.put(part, timeline);
            self.full += 1;
        }
        if self.full < MAX_PARTS
            && let Some(part) = self.splitter.last(&self.text)
        {
            self.put(part, timeline);
        }
    }

    /// The part after the full ones.
    fn put(&mut self, part: String, timeline: &mut Timeline) {
        let body = PostBody::Markdown(part);
        if let Some(key) = self.posts.get(self.full) {
            return timeline.update(*key, body);
        }
        self.posts.push(timeline.open(body));
    }

    /// The reply is complete: `text` replaces what came in parts.
    pub fn finish(mut self, text: &str, lang: Lang, timeline: &mut Timeline) {
        self.clear();
        text.clone_into(&mut self.text);
        self.is_behind = true;
        self.show(timeline);
        if self.full == MAX_PARTS && self.splitter.last(text).is_some() {
            timeline.post(PostBody::File(OutgoingFile {
                name: "answer.md".to_owned(),
                media_type: "text/markdown; charset=utf-8".to_owned(),
                bytes: self.text.clone().into(),
                caption: w::ANSWER_ATTACHED.text(lang).to_owned(),
                is_picture: false,
            }));
        }
        self.settle(timeline);
    }

    /// Nothing more comes. Messages of a longer text that was discarded are not needed.
    pub fn settle(mut self, timeline: &mut Timeline) {
        self.show(timeline);
        let grows = self.full < MAX_PARTS && self.splitter.last(&self.text).is_some();
        let used = self.full + usize::from(grows);
        for key in self.posts.drain(used.min(self.posts.len())..) {
            timeline.update(key, PostBody::Plain("…".to_owned()));
            timeline.withdraw(key);
            timeline.settle(key);
        }
        self.posts.iter().for_each(|key| timeline.settle(*key));
    }
}

#[cfg(test)]
mod tests;
