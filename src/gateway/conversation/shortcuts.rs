//! Buttons below what a chat was shown. Each sends a line as if the one who presses it had typed it.

use super::super::menu::SentCommand;
use super::super::platform::{Button, ButtonStyle, DeliveryId};
use super::super::question::ButtonData;
use super::super::timeline::{PostBody, PostKey};
use super::super::typed_command::typed_command;
use super::ChatConversation;
use super::effect::ChatEffect;
use super::posts::ChatPosts;
use super::reply_view::nonce;
use super::speaker::Speaker;
use avocet_core::i18n::{LocalizedText, chat as w};
use avocet_core::text::{cut, one_line};
use avocet_safety::sanitize::{TextSource, clean};

/// A row of more buttons is no help on a phone.
const MAX_BUTTONS: usize = 8;

/// Commands that show a page of values when they have no argument.
const PICKED: [&str; 5] = ["model", "mode", "effort", "bot", "lang"];

#[derive(Debug)]
pub struct Shortcuts {
    nonce: String,
    post: PostKey,
    text: String,
    lines: Vec<String>,
}

impl Shortcuts {
    fn open(say: &LocalizedText, mut lines: Vec<String>, posts: &mut ChatPosts) -> Shortcuts {
        lines.truncate(MAX_BUTTONS);
        let nonce = nonce();
        let most = posts.limits().label.saturating_sub(1);
        let button = |(at, line): (usize, &String)| Button {
            label: cut(&one_line(&clean(line, TextSource::Text)), most),
            data: format!("q.{nonce}.s{at}"),
            style: ButtonStyle::Usual,
        };
        let buttons = lines.iter().enumerate().map(button).collect();
        let text = clean(&say.text(posts.lang()), TextSource::Text);
        let post = posts.timeline.open(PostBody::Question { text: text.clone(), buttons });
        Shortcuts { nonce, post, text, lines }
    }

    fn line(&self, data: &str) -> Option<&str> {
        let data = ButtonData::parse(data).filter(|data| data.nonce == self.nonce)?;
        let at: usize = data.choice.strip_prefix('s')?.parse().ok()?;
        self.lines.get(at).map(String::as_str)
    }

    /// Its buttons are gone; a line that was chosen is shown.
    fn close(self, chosen: Option<&str>, posts: &mut ChatPosts) {
        let chosen = chosen.map(|line| format!("\n→ {}", clean(line, TextSource::Text)));
        let text = format!("{}{}", self.text, chosen.unwrap_or_default());
        posts.timeline.update(self.post, PostBody::Plain(text));
        posts.timeline.settle(self.post);
    }
}

impl ChatConversation {
    /// Offers lines in place of those that were offered before.
    pub(super) fn offer(&mut self, say: impl Into<LocalizedText>, lines: Vec<String>) {
        self.withdraw_offer(None);
        if !lines.is_empty() {
            self.shortcuts = Some(Shortcuts::open(&say.into(), lines, &mut self.view.posts));
        }
    }

    pub(super) fn withdraw_offer(&mut self, chosen: Option<&str>) {
        if let Some(shortcuts) = self.shortcuts.take() {
            shortcuts.close(chosen, &mut self.view.posts);
        }
    }

    /// Offers the values of a command that was sent without one.
    pub(super) fn offer_values(&mut self, line: &str) {
        let Some(name) = PICKED.into_iter().find(|name| line.strip_prefix('/') == Some(name))
        else {
            return;
        };
        let values = self.context.complete(&format!("/{name} "), "", self.is_busy()).into_iter();
        let lines = values.map(|value| format!("/{name} {}", value.trim())).collect();
        self.offer(w::CHOOSE, lines);
    }

    /// A button was pressed. Whatever it is, the service gets an answer.
    pub fn on_press(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        data: &str,
        press: String,
    ) -> Vec<ChatEffect> {
        let line = self.shortcuts.as_ref().and_then(|shortcuts| shortcuts.line(data));
        let Some(line) = line.map(str::to_owned) else {
            return self.view.on_press(speaker, delivery, data, press);
        };
        self.withdraw_offer(Some(&line));
        let mut effects = vec![ChatEffect::Acknowledge { press, text: None }];
        effects.extend(match typed_command(&line, '/') {
            Some((name, args)) => {
                let sent = SentCommand { name, args, options: Vec::new() };
                self.on_command(speaker, delivery, sent)
            }
            None => self.on_text(speaker, delivery, &line, Vec::new()),
        });
        effects
    }
}
