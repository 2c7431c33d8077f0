//! A reply that grows in a chat: its text in as many messages as it needs, each changed only when
//! its own part changes. Pure.

use super::platform::{MessageId, OutgoingFile};
use super::split;
use super::timeline::{PostBody, PostKey, Timeline};
use crate::i18n::{Lang, chat as w};

/// Messages of one reply; the rest of a longer one is in a file.
const MOST_PARTS: usize = 6;

#[derive(Debug, Default)]
pub struct LiveReply {
    text: String,
    posts: Vec<PostKey>,
    /// The text belongs to a reply that was discarded: the next part replaces it.
    is_stale: bool,
}

impl LiveReply {
    /// Continues in messages that were sent before.
    pub fn adopted(messages: Vec<MessageId>, timeline: &mut Timeline) -> LiveReply {
        let blank = || PostBody::Plain("…".to_owned());
        let posts = messages.into_iter().map(|message| timeline.adopt(message, blank())).collect();
        LiveReply { posts, ..LiveReply::default() }
    }

    pub fn keys(&self) -> &[PostKey] {
        &self.posts
    }

    /// What came so far was discarded; the messages are used again.
    pub fn restart(&mut self) {
        self.is_stale = true;
    }

    pub fn push(&mut self, text: &str, timeline: &mut Timeline) {
        if std::mem::take(&mut self.is_stale) {
            self.text.clear();
        }
        self.text.push_str(text);
        self.show(timeline);
    }

    fn show(&mut self, timeline: &mut Timeline) -> usize {
        let parts = split::split(&self.text, timeline.limits());
        let count = parts.len();
        for (at, part) in parts.into_iter().take(MOST_PARTS).enumerate() {
            match self.posts.get(at) {
                Some(key) => timeline.update(*key, PostBody::Markdown(part)),
                None => self.posts.push(timeline.open(PostBody::Markdown(part))),
            }
        }
        for key in self.posts.drain(count.min(self.posts.len())..) {
            timeline.update(key, PostBody::Plain("…".to_owned()));
            timeline.withdraw(key);
            timeline.settle(key);
        }
        count
    }

    /// The reply is complete: `text` replaces what came in parts.
    pub fn finish(mut self, text: &str, lang: Lang, timeline: &mut Timeline) -> Vec<PostKey> {
        self.text = text.to_owned();
        if self.show(timeline) > MOST_PARTS {
            timeline.post(PostBody::File(OutgoingFile {
                name: "answer.md".to_owned(),
                media_type: "text/markdown; charset=utf-8".to_owned(),
                bytes: self.text.clone().into(),
                caption: w::ANSWER_ATTACHED.text(lang).to_owned(),
            }));
        }
        self.settle(timeline)
    }

    /// Nothing more comes.
    pub fn settle(self, timeline: &mut Timeline) -> Vec<PostKey> {
        self.posts.iter().for_each(|key| timeline.settle(*key));
        self.posts
    }
}
