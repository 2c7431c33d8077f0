//! What a session holds between two ops.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::library::Kept;
use super::skills::Active;
use super::turns::Words;
use super::{Connected, Found, Persona};
use crate::agent::drive::Ended;
use crate::context::window::{History, Ledger, Mark};
use crate::protocol::{Ask, AskId, Decision, Event, Facts, Question, Step, Usage, Work};
use crate::safety::Narrowed;

/// The most that is kept for an export, in bytes of output and answers.
const RECORD: usize = 16 * 1024 * 1024;

/// Turns whose tokens are kept for `/usage`.
const COSTS: usize = 20;

/// Who answers, and how it is spoken to.
pub struct Voice {
    pub connected: Connected,
    pub persona: Persona,
    pub kept: Kept,
    /// What a search for models brought.
    pub found: Vec<Found>,
}

/// The conversation so far.
#[derive(Debug)]
pub struct Past {
    /// What goes to the model.
    pub history: Arc<History>,
    /// What was shown, for an export.
    record: VecDeque<Event>,
    bytes: usize,
    /// The number the next step gets.
    pub next_step: u64,
    /// The id the next question gets.
    pub next_ask: u64,
    /// The last message, and where the history ended before it.
    pub asked: Option<(Words, Mark)>,
    /// The skills in view.
    pub active: Active,
    /// Tokens of the latest turns, by their numbers, oldest first.
    pub usage: VecDeque<(u64, Usage)>,
}

impl Default for Past {
    fn default() -> Past {
        Past {
            history: Arc::default(),
            record: VecDeque::new(),
            bytes: 0,
            next_step: 1,
            next_ask: 1,
            asked: None,
            active: Active::default(),
            usage: VecDeque::new(),
        }
    }
}

impl Past {
    pub fn note(&mut self, event: Event) {
        self.bytes += weight(&event);
        self.record.push_back(event);
        while self.bytes > RECORD
            && let Some(dropped) = self.record.pop_front()
        {
            self.bytes -= weight(&dropped);
        }
    }

    /// What happened before all that is noted, as far as there is room.
    pub fn note_before(&mut self, events: &[Event]) {
        for event in events.iter().rev() {
            let weight = weight(event);
            if self.bytes + weight > RECORD {
                // What is older still finds no room either: a record has no gaps.
                self.bytes = RECORD;
                return;
            }
            self.bytes += weight;
            self.record.push_front(event.clone());
        }
    }

    /// True when nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.record.is_empty() && self.history.is_empty()
    }

    /// The words a turn began with.
    pub fn words_of(&self, turn: u64) -> Option<String> {
        self.record.iter().rev().find_map(|event| match event {
            Event::TurnStarted { turn: number, text, .. } if *number == turn => Some(text.clone()),
            _ => None,
        })
    }

    /// Forgets what was shown from a turn on. The history is the caller's to set.
    pub fn take_back(&mut self, turn: u64) {
        let starts = |event: &Event| matches!(event, Event::TurnStarted { turn: number, .. } if *number == turn);
        if let Some(from) = self.record.iter().rposition(starts) {
            self.record.truncate(from);
            self.bytes = self.record.iter().map(weight).sum();
        }
        self.asked = None;
    }

    /// Keeps what a turn cost.
    pub fn cost(&mut self, turn: u64, usage: Usage) {
        self.usage.push_back((turn, usage));
        if self.usage.len() > COSTS {
            self.usage.pop_front();
        }
    }

    pub fn record(&mut self) -> &[Event] {
        self.record.make_contiguous()
    }

    /// Forgets the conversation; steps and questions are counted on, so that an
    /// answer to an old question can never meet a new one.
    pub fn clear(&mut self) {
        *self = Past { next_step: self.next_step, next_ask: self.next_ask, ..Past::default() };
    }
}

fn weight(event: &Event) -> usize {
    match event {
        Event::TurnStarted { text, .. } | Event::Steered { text } => text.len(),
        Event::Replied(replied) => replied.message.len(),
        Event::Observed(seen) => {
            let diff = seen.change.as_ref().map_or(0, |change| change.diff.len());
            seen.stdout.len() + seen.stderr.len() + diff + 512
        }
        Event::Plan { items } => items.iter().map(|item| item.text.len() + 32).sum(),
        Event::StillChanged { files, .. } => files.len() * 256,
        _ => 64,
    }
}

/// The turn that runs.
#[derive(Debug)]
pub struct Running {
    pub turn: u64,
    /// Its end was told, and its task only has to come back with what it leaves.
    pub is_over: bool,
    pub cancel: CancellationToken,
    pub decisions: UnboundedSender<(AskId, Decision)>,
    pub steers: UnboundedSender<String>,
    /// What was said to the turn and not heard yet, oldest first.
    pub unheard: VecDeque<String>,
    /// How its last request divided.
    pub sent: Option<Box<Ledger>>,
    pub asking: Option<Box<Ask>>,
    /// What an entered skill leaves it.
    pub narrowed: Option<Narrowed>,
    pub task: JoinHandle<Ended>,
    pub after: After,
}

/// What happens once the running turn has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The queue goes on.
    GoOn,
    /// The conversation is emptied first.
    Clear,
}

impl Running {
    /// The step a question holds, if the question is this one.
    pub fn held(&self, ask: AskId) -> Option<&Step> {
        match self.asking.as_deref() {
            Some(Ask { id, question: Question::Step { step, .. } }) if *id == ask => Some(step),
            _ => None,
        }
    }
}

/// What the settings run behind changes of files.
pub fn check(facts: &Facts) -> Option<Work> {
    let (program, args) = facts.check.split_first()?;
    Some(Work::Exec { program: program.clone(), args: args.to_vec() })
}

/// The facts with what changes by itself filled in.
pub fn facts(known: &Facts, voice: &Voice) -> Facts {
    Facts {
        model: voice.connected.model.name().to_owned(),
        provider: voice.connected.provider,
        base_url: voice.connected.base_url.clone(),
        ..known.clone()
    }
}
