//! Starts turns: with a message, with a prompt that must be expanded first, or with a queued
//! message. The loop is in `run`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::context::InstructionsCheck;
use super::prompt_expansion::{self, AfterExpansion};
use super::run::turn_channels;
use super::state::Session;
use super::turn_host::TurnHost;
use super::{shell_turn, state};
use crate::agent::drive::drive;
use crate::agent::turn::{Opening, Turn, TurnStart};
use crate::i18n::session as words;
use crate::protocol::{AskId, Event, Notice, Prompt, TurnOrigin};

/// The input of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum UserInput {
    Text(String),
    Prompt(Box<Prompt>),
    /// A line for the user's own shell; `keep`: the model reads the result.
    Shell {
        line: String,
        keep: bool,
    },
}

/// The prefixes of a shell line, and of a message that begins with one.
const SHELL: &str = "!";
const SHELL_PRIVATE: &str = "!!";
const ESCAPE: char = '\\';

impl UserInput {
    /// The text as the user typed it.
    pub fn as_typed(&self) -> String {
        match self {
            UserInput::Text(text) if needs_escape(text) => format!("{ESCAPE}{text}"),
            UserInput::Text(text) => text.clone(),
            UserInput::Prompt(prompt) => prompt.shown.clone(),
            UserInput::Shell { line, keep: true } => format!("{SHELL}{line}"),
            UserInput::Shell { line, keep: false } => format!("{SHELL_PRIVATE}{line}"),
        }
    }

    /// The text of [`UserInput::as_typed`], without the files of a prompt.
    fn parse(text: String) -> UserInput {
        if let Some(line) = text.strip_prefix(SHELL_PRIVATE) {
            return UserInput::Shell { line: line.to_owned(), keep: false };
        }
        if let Some(line) = text.strip_prefix(SHELL) {
            return UserInput::Shell { line: line.to_owned(), keep: true };
        }
        match text.strip_prefix(ESCAPE) {
            Some(plain) if needs_escape(plain) => UserInput::Text(plain.to_owned()),
            _ => UserInput::Text(text),
        }
    }
}

/// Whether a message would be read as a shell line, or as one that was escaped.
fn needs_escape(text: &str) -> bool {
    text.trim_start_matches(ESCAPE).starts_with(SHELL)
}

impl Session {
    pub(super) async fn submit(&mut self, words: UserInput) {
        if self.is_idle() && self.security.trust.open_question.is_none() {
            self.begin(words, TurnOrigin::Typed).await;
        } else {
            // Messages left from an earlier session come after this one.
            let at = self.queue.len().saturating_sub(self.restored);
            self.queue.insert(at, words);
            self.send_queue().await;
        }
    }

    /// Expands a prompt for its text only.
    pub(super) async fn render(&mut self, prompt: Prompt) {
        if !self.is_idle() || self.security.trust.open_question.is_some() {
            self.notify(Notice::warning(words::RENDER_BUSY)).await;
            return;
        }
        self.start_expansion(prompt, TurnOrigin::Typed, AfterExpansion::Render);
    }

    pub(super) async fn retry(&mut self) {
        match self.conversation.last_input.take() {
            _ if !self.is_idle() || self.security.trust.open_question.is_some() => {}
            None => self.notify(Notice::info(words::NOTHING_TO_RETRY)).await,
            Some((words, mark)) => {
                Arc::make_mut(&mut self.conversation.history).truncate_to(mark);
                self.store.record_retry(self.info.turns).await;
                self.begin(words, TurnOrigin::Typed).await;
            }
        }
    }

    /// Continues after a question that delayed typed messages: those left from an earlier session
    /// keep waiting.
    pub(super) async fn start_next_typed(&mut self) {
        if self.queue.len() > self.restored {
            self.start_next_queued().await;
        }
    }

    /// The user wants the waiting messages to start.
    pub(super) async fn run_queue(&mut self) {
        match () {
            () if self.queue.is_empty() => self.notify(Notice::info(words::QUEUE_EMPTY)).await,
            () if !self.is_idle() => self.notify(Notice::info(words::QUEUE_FOLLOWS)).await,
            () if self.security.trust.open_question.is_some() => {}
            () => self.start_next_queued().await,
        }
    }

    pub(super) async fn start_next_queued(&mut self) {
        if let Some(words) = self.queue.pop_front() {
            self.restored = self.restored.min(self.queue.len());
            self.send_queue().await;
            self.begin(words, TurnOrigin::Queue).await;
        }
    }

    /// Replaces the queue. A prompt that is unchanged keeps its parts.
    pub(super) async fn set_queue(&mut self, texts: Vec<String>) {
        let mut before = std::mem::take(&mut self.queue);
        self.queue = texts
            .into_iter()
            .map(|text| {
                let at = before.iter().position(|words| words.as_typed() == text);
                at.and_then(|at| before.remove(at)).unwrap_or_else(|| UserInput::parse(text))
            })
            .collect();
        self.restored = if self.is_idle() { self.queue.len() } else { 0 };
        self.send_queue().await;
    }

    /// Removes one message. It may have moved or started meanwhile: no other message is removed
    /// instead.
    pub(super) async fn unqueue(&mut self, at: usize, text: &str) {
        let same = self.queue.iter().enumerate().filter(|(_, waits)| waits.as_typed() == text);
        let nearest = same.map(|(found, _)| found).min_by_key(|found| found.abs_diff(at));
        if let Some(at) = nearest {
            self.queue.remove(at);
            let rests = at >= self.queue.len().saturating_sub(self.restored);
            self.restored = self.restored.saturating_sub(usize::from(rests)).min(self.queue.len());
        }
        self.send_queue().await;
    }

    pub(super) async fn send_queue(&mut self) {
        let texts = self.queue.iter().map(UserInput::as_typed).collect();
        self.outbox.send(Event::Queued { texts }).await;
    }

    /// Both checks and saving the message run at the same time; the turn waits for the instructions
    /// when it needs them, and its request waits until the message is saved.
    async fn begin(&mut self, words: UserInput, origin: TurnOrigin) {
        let turn = self.info.turns + 1;
        self.store.prepare(match &words {
            UserInput::Text(text) => Some(Event::TurnStarted { turn, text: text.clone(), origin }),
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        });
        if let Some(unsaved) = &mut self.info.unsaved {
            unsaved.elsewhere = false;
        }
        let notes = match words {
            UserInput::Text(_) => self.check_instructions(),
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        };
        self.refresh_and_wait().await;
        self.start(words, origin, notes);
    }

    fn start(&mut self, words: UserInput, origin: TurnOrigin, notes: Option<InstructionsCheck>) {
        if let UserInput::Shell { line, keep } = words {
            return self.start_shell(line, keep);
        }
        self.set_default_title(&words.as_typed(), origin);
        self.conversation.last_input = Some((words.clone(), self.conversation.history.position()));
        let text = match words {
            UserInput::Prompt(prompt) => {
                return self.start_expansion(*prompt, origin, AfterExpansion::Send);
            }
            UserInput::Text(text) | UserInput::Shell { line: text, .. } => text,
        };
        let turn = Turn::new(self.new_turn_start(text, origin));
        let (wires, ends) = turn_channels();
        let cancel = CancellationToken::new();
        let mut host = TurnHost { instructions_check: notes, ..self.turn_host(&cancel, wires) };
        let token = cancel.clone();
        let task = tokio::spawn(async move { drive(turn, &mut host, token).await });
        self.set_running(cancel, ends, task);
    }

    fn start_shell(&mut self, line: String, keep: bool) {
        self.info.turns += 1;
        let line = shell_turn::ShellLine {
            turn: self.info.turns,
            line,
            keep,
            step: self.conversation.next_step,
            ask: AskId(self.conversation.next_ask),
        };
        self.conversation.next_step += 1;
        self.conversation.next_ask += 1;
        let cancel = CancellationToken::new();
        let (wires, ends) = turn_channels();
        let task = tokio::spawn(shell_turn::run(line, self.turn_host(&cancel, wires)));
        self.set_running(cancel, ends, task);
    }

    fn start_expansion(&mut self, prompt: Prompt, origin: TurnOrigin, then: AfterExpansion) {
        let start = self.new_turn_start(prompt.shown.clone(), origin);
        let (wires, ends) = turn_channels();
        let cancel = CancellationToken::new();
        let host = self.turn_host(&cancel, wires);
        let task = tokio::spawn(prompt_expansion::run(prompt, start, then, host));
        self.set_running(cancel, ends, task);
    }

    fn new_turn_start(&mut self, text: String, origin: TurnOrigin) -> TurnStart {
        self.info.turns += 1;
        TurnStart {
            turn: self.info.turns,
            text,
            origin,
            opening: Opening::Emit,
            max_steps: self.info.max_steps,
            check: state::check_action(&self.info),
            next_step: self.conversation.next_step,
            next_ask: self.conversation.next_ask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_message_is_restored_unchanged() {
        let shell = |line: &str, keep| UserInput::Shell { line: line.into(), keep };
        let text = |text: &str| UserInput::Text(text.into());
        for (words, shown) in [
            (shell("ls -l", true), "!ls -l"),
            (shell("ls", false), "!!ls"),
            (text("hello"), "hello"),
            // A message that only looks like a shell line never becomes one.
            (text("!important"), "\\!important"),
            (text("\\!x"), "\\\\!x"),
            (text("\\d+"), "\\d+"),
        ] {
            assert_eq!(words.as_typed(), shown);
            assert_eq!(UserInput::parse(shown.into()), words);
        }
    }
}
