//! How a turn begins: with a message, with a prompt that must be filled first, or with
//! what waited. The loop is `run`'s.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::prompting::{self, Then};
use super::run::{Session, wires};
use super::state;
use crate::agent::drive::drive;
use crate::agent::turn::{Opening, Start, Turn};
use crate::protocol::{Event, Notice, Origin, Prompt};
use crate::words::session as words;

/// What a turn is asked with.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    Text(String),
    Prompt(Box<Prompt>),
}

impl Words {
    /// As the person typed it.
    pub fn shown(&self) -> &str {
        match self {
            Words::Text(text) => text,
            Words::Prompt(prompt) => &prompt.shown,
        }
    }
}

impl Session {
    pub(super) async fn submit(&mut self, words: Words) {
        if self.is_idle() && self.guard.trust.asking.is_none() {
            self.look_first().await;
            self.start(words, Origin::Typed);
        } else {
            self.queue.push_back(words);
            self.queue_changed().await;
        }
    }

    /// Fills a prompt for its text alone.
    pub(super) async fn render(&mut self, prompt: Prompt) {
        if !self.is_idle() || self.guard.trust.asking.is_some() {
            self.say(Notice::warning(words::RENDER_BUSY)).await;
            return;
        }
        self.fill(prompt, Origin::Typed, Then::Render);
    }

    pub(super) async fn retry(&mut self) {
        match self.past.asked.take() {
            _ if !self.is_idle() || self.guard.trust.asking.is_some() => {}
            None => self.say(Notice::info(words::NOTHING_TO_RETRY)).await,
            Some((words, mark)) => {
                Arc::make_mut(&mut self.past.history).back_to(mark);
                self.saved.retried(self.facts.turns).await;
                self.look_first().await;
                self.start(words, Origin::Typed);
            }
        }
    }

    pub(super) async fn next_of_queue(&mut self) {
        if let Some(words) = self.queue.pop_front() {
            self.queue_changed().await;
            self.look_first().await;
            self.start(words, Origin::Queue);
        }
    }

    /// What waits from now on. A prompt that still stands there as it was typed keeps its
    /// parts.
    pub(super) async fn set_queue(&mut self, texts: Vec<String>) {
        let mut before = std::mem::take(&mut self.queue);
        self.queue = texts
            .into_iter()
            .map(|text| {
                let at = before.iter().position(|words| words.shown() == text);
                at.and_then(|at| before.remove(at)).unwrap_or(Words::Text(text))
            })
            .collect();
        self.queue_changed().await;
    }

    /// Takes one out. It may have moved meanwhile, or have begun: nothing else is taken
    /// out in its stead.
    pub(super) async fn unqueue(&mut self, at: usize, text: &str) {
        let same = self.queue.iter().enumerate().filter(|(_, waits)| waits.shown() == text);
        let nearest = same.map(|(found, _)| found).min_by_key(|found| found.abs_diff(at));
        if let Some(at) = nearest {
            self.queue.remove(at);
        }
        self.queue_changed().await;
    }

    pub(super) async fn queue_changed(&mut self) {
        let texts = self.queue.iter().map(|words| words.shown().to_owned()).collect();
        self.outbox.send(Event::Queued { texts }).await;
    }

    fn start(&mut self, words: Words, origin: Origin) {
        self.entitle(words.shown(), origin);
        self.past.asked = Some((words.clone(), self.past.history.mark()));
        let text = match words {
            Words::Prompt(prompt) => return self.fill(*prompt, origin, Then::Send),
            Words::Text(text) => text,
        };
        let turn = Turn::new(self.next_start(text, origin));
        let (wires, ends) = wires();
        let cancel = CancellationToken::new();
        let mut host = self.host(&cancel, wires);
        let token = cancel.clone();
        let task = tokio::spawn(async move { drive(turn, &mut host, token).await });
        self.set_running(cancel, ends, task);
    }

    fn fill(&mut self, prompt: Prompt, origin: Origin, then: Then) {
        let start = self.next_start(prompt.shown.clone(), origin);
        let (wires, ends) = wires();
        let cancel = CancellationToken::new();
        let host = self.host(&cancel, wires);
        let task = tokio::spawn(prompting::run(prompt, start, then, host));
        self.set_running(cancel, ends, task);
    }

    fn next_start(&mut self, text: String, origin: Origin) -> Start {
        self.facts.turns += 1;
        Start {
            turn: self.facts.turns,
            text,
            origin,
            opening: Opening::Tells,
            max_steps: self.facts.max_steps,
            check: state::check(&self.facts),
            next_step: self.past.next_step,
            next_ask: self.past.next_ask,
        }
    }
}
