//! The session's memory for the model (001 §8.1): a summary of old turns, the latest turns, and
//! digests of the latest steps.
//!
//! A turn is stored as its messages, and for each reply its type, its message and the steps that
//! ran; never the JSON. All texts are masked before they are added here, so that a later cut cannot
//! make a secret unrecognisable. It is plain data: saving this value saves everything needed to
//! continue.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::shorten::{self, Digest};
pub use super::summary::Summary;
use avocet_core::protocol::{Dialect, Image, Message, Observation, PlanItem, PlanState, Role};

mod images;
mod past;

/// The version of the saved form.
pub const VERSION: u32 = 1;

/// Maximum number of stored turns; a request uses fewer.
const TURNS: usize = 200;
/// Maximum number of digests in a request, and of steps in the repeated turns after them. Digests of
/// both are stored.
pub const DIGESTS: usize = 3;
const REPEATED_STEPS: usize = 6;
const STORED_DIGESTS: usize = DIGESTS + REPEATED_STEPS;

/// Maximum total size of the turns that the JSON dialect repeats verbatim, in bytes.
pub(super) const REPEATED: usize = 12 * 1024;

/// Maximum size of one message of a finished turn, in bytes.
const MESSAGE: usize = 12 * 1024;

/// Maximum number of stored plans, of items in one, and bytes of an item.
const PLANS: usize = 8;
const ITEMS: usize = 20;
const ITEM: usize = 160;

/// Maximum number of steps listed for a turn, and of parts brought back at one time.
const RAN: usize = 12;
pub const RECALLED: usize = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    version: u32,
    #[serde(flatten)]
    pub summary: Summary,
    pub(super) recent: VecDeque<PastTurn>,
    pub(super) tool_digest: VecDeque<Digest>,
    /// Parts the user brought back, until the next compaction.
    #[serde(default)]
    pub(super) recalled: Vec<Recalled>,
    /// The model's plans, the newest last. Only the open items of that one count; the others are
    /// there for going back.
    #[serde(default)]
    plans: VecDeque<OpenPlan>,
    /// The last turn that was added.
    #[serde(default)]
    last: u64,
    /// The last turn at the time of the last summary, or the last attempt.
    #[serde(default)]
    pub(super) summed_at: Option<u64>,
    /// After a failure there is no automatic retry before this turn.
    #[serde(default)]
    pub(super) not_before: u64,
}

/// The open items of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPlan {
    turn: u64,
    open: Vec<String>,
}

/// A finished turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastTurn {
    pub turn: u64,
    pub messages: Vec<PastMessage>,
    /// The messages as they were sent, if the model called tools; until a compaction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sent: Vec<Message>,
    /// The messages as sent in the JSON dialect, for a short turn that is among the latest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) repeated: Vec<Message>,
    /// The images of its first message, where `sent` has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<Image>,
}

/// A message of the user or the model in a past turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum PastMessage {
    User {
        content: String,
    },
    Assistant {
        #[serde(rename = "type")]
        kind: ReplyKind,
        message: String,
        /// The steps before it, one per line.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ran: Vec<String>,
    },
}

/// The type of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyKind {
    Chat,
    Cmd,
    Error,
}

impl ReplyKind {
    pub fn name(self) -> &'static str {
        match self {
            ReplyKind::Chat => "chat",
            ReplyKind::Cmd => "cmd",
            ReplyKind::Error => "error",
        }
    }
}

/// An older part that is included again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalled {
    /// `turn_3`, `cmd_012`.
    pub id: String,
    pub text: String,
}

/// The record of a turn at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnRecord {
    lines: Vec<PastMessage>,
    steps: Vec<Observation>,
    plan: Option<Vec<PlanItem>>,
    /// The messages as they were sent, in the tools dialect.
    sent: Vec<Message>,
    /// The messages of a short turn in the JSON dialect.
    repeated: Vec<Message>,
    images: Vec<Image>,
}

/// The data of one turn, to be saved separately and restored to its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnSnapshot {
    messages: Vec<PastMessage>,
    digests: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<OpenPlan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeated: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<Image>,
}

/// Everything in a history but its turns, which are saved one by one next to it: saved after a
/// summary was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// The first turn that the summary does not cover.
    since: u64,
    #[serde(flatten)]
    history: History,
}

impl Outline {
    /// Rebuilds the history, with the turns of `before` that belong to it.
    pub fn restore_onto(self, before_history: History) -> History {
        let Outline { since, mut history } = self;
        history.recent = before_history.recent;
        history.recent.retain(|exchange| exchange.turn >= since);
        history
    }
}

/// A place between two turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnPosition(u64);

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

impl TurnRecord {
    pub fn add_user(&mut self, words: &str) {
        match self.lines.last_mut() {
            Some(PastMessage::User { content }) => {
                content.push_str("\n\n");
                content.push_str(words);
            }
            Some(PastMessage::Assistant { .. }) | None => {
                self.lines.push(PastMessage::User { content: words.to_owned() });
            }
        }
    }

    /// A reply. It replaces a reply directly before it; the steps in between are kept.
    pub fn add_reply(&mut self, of_kind: ReplyKind, said: &str) {
        match self.lines.last_mut() {
            Some(PastMessage::Assistant { kind, message, .. }) => {
                *kind = of_kind;
                said.clone_into(message);
            }
            Some(PastMessage::User { .. }) | None => self.lines.push(PastMessage::Assistant {
                kind: of_kind,
                message: said.to_owned(),
                ran: Vec::new(),
            }),
        }
    }

    /// The last message of the model.
    pub fn last_reply(&self) -> Option<&str> {
        self.lines.iter().rev().find_map(|line| match line {
            PastMessage::Assistant { message, .. } => Some(message.as_str()),
            PastMessage::User { .. } => None,
        })
    }

    /// The results of steps.
    pub fn add_steps(&mut self, observations: &[Observation]) {
        if let Some(PastMessage::Assistant { ran, .. }) = self.lines.last_mut() {
            ran.extend(observations.iter().map(shorten::run_summary));
        }
        self.steps.extend(observations.iter().cloned());
    }

    /// Keeps the messages of the turn as they were sent, so that later requests repeat them.
    pub fn keep_messages(&mut self, messages: Vec<Message>) {
        self.sent = messages;
    }

    /// Keeps the messages of a turn in the JSON dialect, if they are hardly longer than its digests
    /// would be.
    pub fn keep_short_messages(&mut self, messages: &[Message]) {
        let is_answered = messages.last().is_some_and(|last| last.role == Role::Assistant);
        let is_short = messages.iter().map(Message::len).sum::<usize>() <= REPEATED / 2;
        let has_few_steps = (1..=DIGESTS).contains(&self.steps.len());
        if is_answered && is_short && has_few_steps && self.images.is_empty() {
            self.repeated = messages.to_vec();
        }
    }

    /// Those messages, to be kept in another form.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.sent)
    }

    /// The images of the user's message.
    pub fn add_images(&mut self, images: &[Image]) {
        self.images.extend_from_slice(images);
    }

    /// The plan from here on.
    pub fn set_plan(&mut self, items: &[PlanItem]) {
        self.plan = Some(items.to_vec());
    }

    /// The user stopped the turn here.
    pub fn mark_cancelled(&mut self) {
        self.append_mark("(cancelled by the user)");
    }

    /// The program ended here; the outcome is unknown.
    pub fn mark_interrupted(&mut self) {
        self.append_mark("(interrupted here, outcome unknown)");
    }

    fn append_mark(&mut self, said: &str) {
        match self.lines.last_mut() {
            Some(PastMessage::Assistant { ran, .. }) => ran.push(said.to_owned()),
            Some(PastMessage::User { content }) => {
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

impl OpenPlan {
    fn text(&self) -> String {
        if self.open.is_empty() {
            return String::new();
        }
        format!("Your plan, what is open of it:\n- {}", self.open.join("\n- "))
    }
}

impl History {
    /// Adds a finished turn, with every text masked by `mask`.
    pub fn push(&mut self, turn: u64, record: TurnRecord, mask: impl Fn(&mut String)) {
        self.last = self.last.max(turn);
        let TurnRecord { mut lines, steps, plan, mut sent, mut repeated, mut images } = record;
        if !sent.is_empty() {
            images.clear();
        }
        sent.iter_mut().chain(&mut repeated).flat_map(Message::texts_mut).for_each(&mask);
        if let Some(items) = plan {
            self.replace_plan(turn, &items, &mask);
        }
        for line in &mut lines {
            line.for_each_text(|text| {
                mask(text);
                if text.len() > MESSAGE {
                    *text = avocet_core::text::cut_middle(text, MESSAGE);
                }
            });
            if let PastMessage::Assistant { ran, .. } = line
                && ran.len() > RAN
            {
                let more = ran.len() - RAN;
                ran.drain(..more);
                ran.insert(0, format!("… {more} steps before"));
            }
        }
        if !lines.is_empty() {
            self.recent.push_back(PastTurn { turn, messages: lines, sent, repeated, images });
            self.drop_old_images();
            let first = self.first_repeated(REPEATED);
            self.recent.iter_mut().take(first).for_each(|past| past.repeated.clear());
        }
        while self.recent.len() > TURNS {
            self.recent.pop_front();
        }
        let newest = steps.len().saturating_sub(DIGESTS);
        for seen in steps.iter().skip(newest) {
            let mut digest = Digest::from_observation(turn, seen);
            digest.for_each_text(&mask);
            self.tool_digest.push_back(digest);
        }
        while self.tool_digest.len() > STORED_DIGESTS {
            self.tool_digest.pop_front();
        }
    }

    /// Replaces the plan. Its open items go with every request until they are done or another plan
    /// replaces it.
    pub fn replace_plan(&mut self, turn: u64, items: &[PlanItem], mask: impl Fn(&mut String)) {
        let open = items.iter().filter(|item| item.state != PlanState::Done);
        let open = open.take(ITEMS).map(|item| {
            let mut text = item.text.replace(['\n', '\r'], " ");
            mask(&mut text);
            avocet_core::text::cut_end(&text, ITEM)
        });
        let open = open.collect();
        self.set_open_plan(OpenPlan { turn, open });
    }

    fn set_open_plan(&mut self, plan: OpenPlan) {
        self.plans.retain(|known| known.turn != plan.turn);
        self.plans.push_back(plan);
        let over = self.plans.len().saturating_sub(PLANS);
        self.plans.drain(..over);
    }

    /// The summary of what is not sent any more.
    pub(super) fn summary_text(&self) -> String {
        self.summary.text()
    }

    /// The open items of the newest plan, unless the messages show it as it was sent.
    pub(super) fn plan_text(&self, dialect: Dialect) -> String {
        // A turn that runs is not yet in here, and shows its plan itself.
        let is_shown = |turn: u64| {
            let mut sent = self.recent.iter().filter(|past| !past.sent.is_empty());
            dialect == Dialect::Tools && (turn > self.last || sent.any(|past| past.turn == turn))
        };
        let plan = self.plans.back().filter(|plan| !is_shown(plan.turn));
        plan.map(OpenPlan::text).unwrap_or_default()
    }

    /// The open items of the plan that the running turn made; empty if there are none.
    pub fn running_plan_text(&self) -> String {
        let plan = self.plans.back().filter(|plan| plan.turn > self.last);
        plan.map(OpenPlan::text).unwrap_or_default()
    }

    /// Adds lines to the record of a turn; they are removed with that turn.
    pub fn append_to_turn(&mut self, turn: u64, record: TurnRecord, mask: impl Fn(&mut String)) {
        self.push(turn, record, mask);
        let Some(added) = self.recent.pop_back() else { return };
        match self.recent.back_mut() {
            Some(last) if last.turn == added.turn => {
                if !last.sent.is_empty() && added.sent.is_empty() {
                    let plain = added.messages.iter().map(PastMessage::to_plain_message);
                    last.sent.extend(plain);
                }
                last.images.extend(added.images);
                last.messages.extend(added.messages);
                last.sent.extend(added.sent);
                last.repeated.clear();
            }
            _ => self.recent.push_back(added),
        }
    }

    /// Everything but its turns.
    pub fn outline(&self) -> Outline {
        let since = self.recent.front().map_or(self.last + 1, |exchange| exchange.turn);
        let recent = VecDeque::new();
        let History { version, last, summed_at, not_before, .. } = *self;
        let summary = self.summary.clone();
        let tool_digest = self.tool_digest.clone();

        let recalled = self.recalled.clone();
        let plans = self.plans.clone();

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

    /// Whether it contains this turn itself.
    pub fn contains_turn(&self, turn: u64) -> bool {
        self.recent.iter().any(|exchange| exchange.turn == turn)
    }

    /// Whether another history has the same data outside its turns.
    pub fn has_same_outline(&self, history: &History) -> bool {
        self.summary == history.summary && self.recalled == history.recalled
    }

    /// The data of a turn, in its saved form.
    pub fn turn_snapshot(&self, turn: u64) -> TurnSnapshot {
        let of_turn = self.recent.iter().rev().find(|exchange| exchange.turn == turn);
        TurnSnapshot {
            messages: of_turn.map(|exchange| exchange.messages.clone()).unwrap_or_default(),
            digests: self.tool_digest.iter().filter(|one| one.turn == turn).cloned().collect(),
            plan: self.plans.iter().find(|plan| plan.turn == turn).cloned(),
            sent: of_turn.map(|exchange| exchange.sent.clone()).unwrap_or_default(),
            repeated: of_turn.map(|exchange| exchange.repeated.clone()).unwrap_or_default(),
            images: of_turn.map(|exchange| exchange.images.clone()).unwrap_or_default(),
        }
    }

    /// Adds a saved turn. It was masked and cut when it was new.
    pub fn restore_turn(&mut self, turn: u64, snapshot: TurnSnapshot) {
        let TurnSnapshot { messages, digests, plan, sent, repeated, images } = snapshot;
        self.last = self.last.max(turn);
        if let Some(plan) = plan {
            self.set_open_plan(plan);
        }
        if !messages.is_empty() {
            self.recent.push_back(PastTurn { turn, messages, sent, repeated, images });
            self.drop_old_images();
        }
        self.tool_digest.extend(digests);
        let over = self.tool_digest.len().saturating_sub(STORED_DIGESTS);
        self.tool_digest.drain(..over);
        let over = self.recent.len().saturating_sub(TURNS);
        self.recent.drain(..over);
    }

    /// Includes a part again; the oldest is dropped if there are too many. False if it is already
    /// included.
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

    /// Number of turns that are stored.
    pub fn turns(&self) -> usize {
        self.recent.len()
    }

    /// The current position, to come back to.
    pub fn position(&self) -> TurnPosition {
        TurnPosition(self.last)
    }

    /// Removes everything added after the mark. Summaries made since then stay.
    pub fn truncate_to(&mut self, position: TurnPosition) {
        self.recent.retain(|exchange| exchange.turn <= position.0);
        self.tool_digest.retain(|digest| digest.turn <= position.0);
        self.plans.retain(|plan| plan.turn <= position.0);
        self.last = self.last.min(position.0);
    }

    /// Removes every turn from this one on.
    pub fn rewind(&mut self, turn: u64) {
        self.truncate_to(TurnPosition(turn.saturating_sub(1)));
    }

    pub(super) fn last_turn(&self) -> u64 {
        self.last
    }

    /// Bytes of the turns, roughly as they are sent.
    pub(super) fn bytes(&self) -> usize {
        self.recent.iter().map(PastTurn::bytes).sum()
    }
}
