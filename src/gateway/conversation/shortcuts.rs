//! Buttons below what a chat was shown. Each sends a line as if the one who presses it had typed it.

use super::super::platform::{Button, ButtonStyle};
use super::super::question::ButtonData;
use super::super::timeline::{PostBody, PostKey};
use super::posts::ChatPosts;
use super::reply_view::nonce;
use avocet_core::i18n::LocalizedText;
use avocet_core::text::{cut, one_line};
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// More of them do not fit a phone.
const MAX_BUTTONS: usize = 8;

#[derive(Debug)]
pub struct Shortcuts {
    nonce: String,
    post: PostKey,
    text: String,
    /// Each with its label before it.
    lines: Vec<(String, String)>,
}

impl Shortcuts {
    pub fn open(
        text: &LocalizedText,
        mut lines: Vec<(String, String)>,
        posts: &mut ChatPosts,
    ) -> Shortcuts {
        lines.truncate(MAX_BUTTONS);
        let nonce = nonce();
        let most = posts.limits().label.saturating_sub(1);
        let button = |(at, (label, _)): (usize, &(String, String))| Button {
            label: cut(&one_line(&clean(label, CarriageReturnMode::EndsLine)), most),
            data: format!("q.{nonce}.s{at}"),
            style: ButtonStyle::Usual,
        };
        let buttons = lines.iter().enumerate().map(button).collect();
        let text = clean(&text.text(posts.lang()), CarriageReturnMode::EndsLine);
        let post = posts.timeline.open(PostBody::Question { text: text.clone(), buttons });
        Shortcuts { nonce, post, text, lines }
    }

    pub fn line(&self, data: &str) -> Option<&str> {
        let data = ButtonData::parse(data).filter(|data| data.nonce == self.nonce)?;
        let at: usize = data.choice.strip_prefix('s')?.parse().ok()?;
        self.lines.get(at).map(|(_, line)| line.as_str())
    }

    /// Its buttons are gone; a line that was chosen is shown.
    pub fn close(self, chosen: Option<&str>, posts: &mut ChatPosts) {
        let chosen = self.lines.iter().find(|(_, line)| chosen == Some(line));
        let chosen =
            chosen.map(|(label, _)| format!("\n→ {}", clean(label, CarriageReturnMode::EndsLine)));
        let text = format!("{}{}", self.text, chosen.unwrap_or_default());
        posts.timeline.update(self.post, PostBody::Plain(text));
        posts.timeline.settle(self.post);
    }
}
