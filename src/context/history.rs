//! What a session remembers for the model (001 §8.1): a summary of what is long over,
//! the latest turns, and what stayed of the latest steps.
//!
//! A turn is kept as its words, and of each reply its type, its message and what ran;
//! never the JSON. All texts are masked before they come in here, so that what is cut
//! later cannot cut a secret into something unknown. It is plain data: whoever keeps
//! sessions keeps this value, and nothing else is needed to go on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::digest::{self, Digest};
use super::size::Size;
use crate::protocol::{Message, Observation, PlanItem, PlanState};

/// The version of the saved form.
pub const VERSION: u32 = 1;

/// Turns and digests that are kept at most; a request takes fewer of both.
const TURNS: usize = 200;
pub const DIGESTS: usize = 3;

/// Bytes of one message of a turn that is over.
const MESSAGE: usize = 12 * 1024;

/// Lists of what is to be done that are kept, items of one, and bytes of an item.
const PLANS: usize = 8;
const ITEMS: usize = 20;
const ITEM: usize = 160;

/// Steps of a turn that are named, and parts brought back at once.
const RAN: usize = 12;
pub const RECALLED: usize = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    version: u32,
    #[serde(flatten)]
    pub summary: Summary,
    pub(super) recent: VecDeque<Exchange>,
    pub(super) tool_digest: VecDeque<Digest>,
    /// What a person brought back, until the next compaction.
    #[serde(default)]
    pub(super) recalled: Vec<Recalled>,
    /// What the model wrote down as to be done, the newest last. Only what is open of that
    /// one counts; the others are there to go back to.
    #[serde(default)]
    plans: VecDeque<Plan>,
    /// The last turn that was added.
    #[serde(default)]
    last: u64,
    /// The last turn when earlier ones were summed up, or it was tried.
    #[serde(default)]
    pub(super) summed_at: Option<u64>,
    /// After a failure it is not tried by itself before this turn.
    #[serde(default)]
    pub(super) not_before: u64,
}

/// What is long over, in few words (001 §8.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    pub summary: String,
    pub key_facts: Vec<String>,
    pub open_tasks: Vec<String>,
}

/// What is open of a list of what is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    turn: u64,
    open: Vec<String>,
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    pub turn: u64,
    pub messages: Vec<Line>,
}

/// One side of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Line {
    User {
        content: String,
    },
    Assistant {
        #[serde(rename = "type")]
        kind: Kind,
        message: String,
        /// The steps before it, one a line.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ran: Vec<String>,
    },
}

/// The type of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Chat,
    Cmd,
    Error,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Chat => "chat",
            Kind::Cmd => "cmd",
            Kind::Error => "error",
        }
    }
}

/// Something older that goes along again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalled {
    /// `turn_3`, `cmd_012`.
    pub id: String,
    pub text: String,
}

/// What a turn leaves behind when it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    lines: Vec<Line>,
    steps: Vec<Observation>,
    plan: Option<Vec<PlanItem>>,
}

/// What one turn left, to be kept apart and put back in its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    messages: Vec<Line>,
    digests: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
}

/// All of a history but its turns, which are kept one by one beside it: what is kept when
/// turns were summed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// The first turn that the summary does not stand for.
    since: u64,
    #[serde(flatten)]
    history: History,
}

impl Outline {
    /// The history again, with the turns of `before` that belong to it.
    pub fn over(self, before: History) -> History {
        let Outline { since, mut history } = self;
        history.recent = before.recent;
        history.recent.retain(|exchange| exchange.turn >= since);
        history
    }
}

/// A place between two turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u64);

impl Default for History {
    fn default() -> History {
        History {
            version: VERSION,
            summary: Summary::default(),
            recent: VecDeque::new(),
            tool_digest: VecDeque::new(),
            recalled: Vec::new(),
            plans: VecDeque::new(),
            last: 0,
            summed_at: None,
            not_before: 0,
        }
    }
}

impl Kept {
    pub fn user(&mut self, words: &str) {
        match self.lines.last_mut() {
            Some(Line::User { content }) => {
                content.push_str("\n\n");
                content.push_str(words);
            }
            Some(Line::Assistant { .. }) | None => {
                self.lines.push(Line::User { content: words.to_owned() });
            }
        }
    }

    /// A reply. Behind another one it takes its place: what ran in between stays.
    pub fn reply(&mut self, of_kind: Kind, said: &str) {
        match self.lines.last_mut() {
            Some(Line::Assistant { kind, message, .. }) => {
                *kind = of_kind;
                said.clone_into(message);
            }
            Some(Line::User { .. }) | None => self.lines.push(Line::Assistant {
                kind: of_kind,
                message: said.to_owned(),
                ran: Vec::new(),
            }),
        }
    }

    /// What came of steps.
    pub fn steps(&mut self, seen: &[Observation]) {
        if let Some(Line::Assistant { ran, .. }) = self.lines.last_mut() {
            ran.extend(seen.iter().map(digest::ran));
        }
        self.steps.extend(seen.iter().cloned());
    }

    /// What is to be done from here on.
    pub fn plan(&mut self, items: &[PlanItem]) {
        self.plan = Some(items.to_vec());
    }

    /// The person stopped it here.
    pub fn cancelled(&mut self) {
        self.broke_off("(cancelled by the user)");
    }

    /// The program ended here, and nobody knows what came of it.
    pub fn interrupted(&mut self) {
        self.broke_off("(interrupted here, outcome unknown)");
    }

    fn broke_off(&mut self, said: &str) {
        match self.lines.last_mut() {
            Some(Line::Assistant { ran, .. }) => ran.push(said.to_owned()),
            Some(Line::User { content }) => {
                content.push('\n');
                content.push_str(said);
            }
            None => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.steps.is_empty() && self.plan.is_none()
    }
}

impl Line {
    fn texts(&mut self, mut each: impl FnMut(&mut String)) {
        match self {
            Line::User { content } => each(content),
            Line::Assistant { message, ran, .. } => {
                each(message);
                ran.iter_mut().for_each(each);
            }
        }
    }

    /// As it is sent. The newest reply is the JSON that the protocol wants, so that a
    /// model that reads its own words keeps to it; older ones are shorter.
    pub(super) fn message(&self, newest: bool) -> Message {
        match self {
            Line::User { content } => Message::user(content.as_str()),
            Line::Assistant { kind, message, ran } if newest => {
                let mut out = json!({ "type": kind.name(), "message": message });
                if !ran.is_empty() {
                    out["ran"] = json!(ran);
                }
                Message::assistant(out.to_string())
            }
            Line::Assistant { kind, message, ran } => {
                let mut out = String::new();
                for step in ran {
                    out.push_str("ran: ");
                    out.push_str(step);
                    out.push('\n');
                }
                out.push_str(kind.name());
                out.push_str(": ");
                out.push_str(message);
                Message::assistant(out)
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Line::User { content } => content.len(),
            Line::Assistant { message, ran, .. } => {
                message.len() + ran.iter().map(|step| step.len() + 6).sum::<usize>() + 8
            }
        }
    }
}

impl Exchange {
    pub fn id(&self) -> String {
        format!("turn_{}", self.turn)
    }

    pub fn bytes(&self) -> usize {
        self.messages.iter().map(Line::bytes).sum()
    }

    /// The first words of the person.
    pub fn about(&self) -> &str {
        let words = self.messages.iter().find_map(|line| match line {
            Line::User { content } => Some(content.as_str()),
            Line::Assistant { .. } => None,
        });
        words.unwrap_or_default()
    }
}

impl History {
    /// Adds a turn that is over, with every text masked by `mask`.
    pub fn push(&mut self, turn: u64, kept: Kept, mask: impl Fn(&mut String)) {
        self.last = self.last.max(turn);
        let Kept { mut lines, steps, plan } = kept;
        if let Some(items) = plan {
            self.plan(turn, &items, &mask);
        }
        for line in &mut lines {
            line.texts(|text| {
                mask(text);
                if text.len() > MESSAGE {
                    *text = digest::cut_middle(text, MESSAGE);
                }
            });
            if let Line::Assistant { ran, .. } = line
                && ran.len() > RAN
            {
                let more = ran.len() - RAN;
                ran.drain(..more);
                ran.insert(0, format!("… {more} steps before"));
            }
        }
        if !lines.is_empty() {
            self.recent.push_back(Exchange { turn, messages: lines });
        }
        while self.recent.len() > TURNS {
            self.recent.pop_front();
        }
        let newest = steps.len().saturating_sub(DIGESTS);
        for seen in steps.iter().skip(newest) {
            let mut digest = Digest::of(turn, seen);
            digest.texts(&mask);
            self.tool_digest.push_back(digest);
        }
        while self.tool_digest.len() > DIGESTS {
            self.tool_digest.pop_front();
        }
    }

    /// Takes a list of what is to be done in place of the one before. What is open of it
    /// goes with every request until it is done or another list comes.
    pub fn plan(&mut self, turn: u64, items: &[PlanItem], mask: impl Fn(&mut String)) {
        let open = items.iter().filter(|item| item.state != PlanState::Done);
        let open = open.take(ITEMS).map(|item| {
            let mut text = item.text.replace(['\n', '\r'], " ");
            mask(&mut text);
            digest::cut_end(&text, ITEM)
        });
        let open = open.collect();
        self.planned(Plan { turn, open });
    }

    fn planned(&mut self, plan: Plan) {
        self.plans.retain(|known| known.turn != plan.turn);
        self.plans.push_back(plan);
        let over = self.plans.len().saturating_sub(PLANS);
        self.plans.drain(..over);
    }

    /// What is pinned: the summary, and what is open of the newest plan.
    pub(super) fn pinned(&self) -> String {
        let mut out = self.summary.text();
        let open = self.plans.back().map(|plan| plan.open.as_slice()).unwrap_or_default();
        if !open.is_empty() {
            let before = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!(
                "{before}Your plan, what is open of it:\n- {}",
                open.join("\n- ")
            ));
        }
        out
    }

    /// Adds lines to what a turn left; they go with that turn.
    pub fn append(&mut self, turn: u64, kept: Kept, mask: impl Fn(&mut String)) {
        self.push(turn, kept, mask);
        let Some(added) = self.recent.pop_back() else { return };
        match self.recent.back_mut() {
            Some(last) if last.turn == added.turn => last.messages.extend(added.messages),
            _ => self.recent.push_back(added),
        }
    }

    /// All of it but its turns.
    pub fn outline(&self) -> Outline {
        let since = self.recent.front().map_or(self.last + 1, |exchange| exchange.turn);
        let recent = VecDeque::new();
        let History { version, last, summed_at, not_before, .. } = *self;
        let (summary, tool_digest) = (self.summary.clone(), self.tool_digest.clone());
        let (recalled, plans) = (self.recalled.clone(), self.plans.clone());
        let history = History {
            version,
            summary,
            recent,
            tool_digest,
            recalled,
            plans,
            last,
            summed_at,
            not_before,
        };
        Outline { since, history }
    }

    /// Whether it has this turn, in its own words.
    pub fn holds(&self, turn: u64) -> bool {
        self.recent.iter().any(|exchange| exchange.turn == turn)
    }

    /// Whether another one says the same of what is not in its turns.
    pub fn sums_up_like(&self, other: &History) -> bool {
        self.summary == other.summary && self.recalled == other.recalled
    }

    /// What a turn left, as it is kept.
    pub fn trace(&self, turn: u64) -> Trace {
        let of_turn = self.recent.iter().rev().find(|exchange| exchange.turn == turn);
        Trace {
            messages: of_turn.map(|exchange| exchange.messages.clone()).unwrap_or_default(),
            digests: self.tool_digest.iter().filter(|one| one.turn == turn).cloned().collect(),
            plan: self.plans.iter().find(|plan| plan.turn == turn).cloned(),
        }
    }

    /// Adds a turn that was kept. It was masked and cut when it was new.
    pub fn retrace(&mut self, turn: u64, trace: Trace) {
        let Trace { messages, digests, plan } = trace;
        self.last = self.last.max(turn);
        if let Some(plan) = plan {
            self.planned(plan);
        }
        if !messages.is_empty() {
            self.recent.push_back(Exchange { turn, messages });
        }
        self.tool_digest.extend(digests);
        let over = self.tool_digest.len().saturating_sub(DIGESTS);
        self.tool_digest.drain(..over);
        let over = self.recent.len().saturating_sub(TURNS);
        self.recent.drain(..over);
    }

    /// Lets a part go along again; the oldest of too many gives way. False when it is
    /// there already.
    pub fn recall(&mut self, id: &str, text: String) -> bool {
        if self.recalled.iter().any(|part| part.id == id) {
            return false;
        }
        self.recalled.push(Recalled { id: id.to_owned(), text });
        let over = self.recalled.len().saturating_sub(RECALLED);
        self.recalled.drain(..over);
        true
    }

    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.summary == Summary::default()
    }

    /// Turns that are still kept as such.
    pub fn turns(&self) -> usize {
        self.recent.len()
    }

    /// Here, to come back to.
    pub fn mark(&self) -> Mark {
        Mark(self.last)
    }

    /// Forgets what was added behind the mark. What was summed up meanwhile stays so.
    pub fn back_to(&mut self, mark: Mark) {
        self.recent.retain(|exchange| exchange.turn <= mark.0);
        self.tool_digest.retain(|digest| digest.turn <= mark.0);
        self.plans.retain(|plan| plan.turn <= mark.0);
        self.last = self.last.min(mark.0);
    }

    /// Forgets every turn from this one on.
    pub fn rewind(&mut self, turn: u64) {
        self.back_to(Mark(turn.saturating_sub(1)));
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Bytes of the turns, about as they are sent.
    pub(super) fn bytes(&self) -> usize {
        self.recent.iter().map(Exchange::bytes).sum()
    }
}

impl Summary {
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.key_facts.is_empty() && self.open_tasks.is_empty()
    }

    /// For the model; nothing when it is empty.
    pub fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = String::from("Earlier in this conversation (a summary):\n");
        out.push_str(&self.summary);
        for (title, items) in [("Facts", &self.key_facts), ("Open tasks", &self.open_tasks)] {
            if !items.is_empty() {
                out.push_str(&format!("\n{title}:\n- {}", items.join("\n- ")));
            }
        }
        out
    }
}

/// Bytes and tokens of messages, with what each costs beside its content.
pub fn size(messages: &[Message]) -> Size {
    messages.iter().fold(Size::default(), |sum, message| sum + weight(&message.content))
}

/// What a message costs beside its content; no less than [`JOINT`] does.
pub const ENVELOPE: Size = Size { bytes: 24, tokens: 4 };

/// What stands between two messages of one role that became one.
pub const JOINT: &str = "\n\n";

pub fn weight(content: &str) -> Size {
    Size::of(content) + ENVELOPE
}
