//! What a chat offers for a press: suggestions of the model, and the values of commands.

use super::super::menu::SentCommand;
use super::super::platform::DeliveryId;
use super::super::typed_command::typed_command;
use super::ChatConversation;
use super::effect::ChatEffect;
use super::shortcuts::Shortcuts;
use super::speaker::Speaker;
use avocet_core::i18n::{LocalizedText, chat as w};
use avocet_core::prompt::input::{Intent, parse};
use avocet_core::protocol::{PromptPart, SessionRow};

/// Commands that show a page of values when they have no argument.
const PICKED: [&str; 5] = ["model", "mode", "effort", "bot", "lang"];

impl ChatConversation {
    /// Offers lines, each with its label, in place of those that were offered before.
    pub(super) fn offer(&mut self, say: impl Into<LocalizedText>, lines: Vec<(String, String)>) {
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
        self.offer(w::CHOOSE, as_labels(lines));
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

/// What the model suggests, as far as it is a message and nothing else: no press runs a command or
/// attaches a file that the model chose.
pub(super) fn suggested_messages(suggestions: &[String]) -> Vec<String> {
    let is_message = |line: &&String| match parse(line) {
        Intent::Message { parts } => parts.iter().all(|part| matches!(part, PromptPart::Text(_))),
        Intent::Empty | Intent::Command { .. } | Intent::Shell { .. } => false,
    };
    suggestions.iter().filter(is_message).cloned().collect()
}

/// Lines that are their own labels.
pub(super) fn as_labels(lines: Vec<String>) -> Vec<(String, String)> {
    lines.into_iter().map(|line| (line.clone(), line)).collect()
}

/// Offers the earlier conversations of the chat, if they were asked for.
pub(super) fn offer_saved(chat: &mut ChatConversation, rows: &[SessionRow]) {
    match chat.saved.take_lines(rows, &chat.context.info.session) {
        None => {}
        Some(lines) if lines.is_empty() => chat.view.posts.say(w::NO_EARLIER),
        Some(lines) => chat.offer(w::CHOOSE_EARLIER, lines),
    }
}
