//! What every client's files become: a conversation, built in the order in which things happened.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use avocet_core::i18n::{LocalizedText, import as phrases};
use avocet_core::protocol::{
    Event, ModelMessage, Observation, Outcome, PageRow, Risk, Step, StepAction, Tier, TurnOrigin,
    TurnOutcome, Usage,
};
use avocet_core::text;
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Longest text of a message, and of what a step printed, in bytes.
pub(super) const MAX_TEXT: usize = 256 * 1024;
const MAX_OUTPUT: usize = 64 * 1024;

/// The most of a conversation that is copied, in bytes and in events.
const MAX_SESSION: usize = 32 << 20;
const MAX_EVENTS: usize = 50_000;

/// A part of a conversation that is not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LostPart {
    /// A line or a file that cannot be read, or is of an unknown kind.
    Unread,
    Reasoning,
    Image,
    /// What a subagent did.
    Subagent,
    /// Text beyond the limits.
    Long,
}

impl LostPart {
    fn localized(self, count: usize) -> LocalizedText {
        let phrase = match self {
            LostPart::Unread => phrases::LOST_UNREAD,
            LostPart::Reasoning => phrases::LOST_REASONING,
            LostPart::Image => phrases::LOST_IMAGES,
            LostPart::Subagent => phrases::LOST_SUBAGENTS,
            LostPart::Long => phrases::LOST_LONG,
        };
        phrase.with("count", count)
    }
}

/// How many parts are not copied, by kind.
pub type LostParts = BTreeMap<LostPart, usize>;

/// A conversation, and what could not be copied of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedSession {
    /// Its id in the other client.
    pub id: String,
    pub folder: String,
    pub title: Option<String>,
    pub events: Vec<Event>,
    /// When each of them happened, in milliseconds since 1970; 0 before the client says a time.
    pub times: Vec<i64>,
    pub lost: LostParts,
}

impl ImportedSession {
    fn turns(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::TurnStarted { .. })).count()
    }

    fn steps(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::StepFinished(_))).count()
    }

    /// A row of the list.
    pub fn row(&self, id: &str) -> PageRow {
        let first = self.events.iter().find_map(|event| match event {
            Event::TurnStarted { text, .. } => Some(text::cut(&text::one_line(text), 60)),
            _ => None,
        });
        let title = self.title.clone().or(first).unwrap_or_default();
        let about = phrases::SESSION_ROW.with("title", title).with("folder", self.folder.as_str());
        let counted = about.with("turns", self.turns()).with("steps", self.steps());
        PageRow::pair(id.to_owned(), counted)
    }
}

/// What is not copied of all of them.
pub fn lost_rows(lost: &LostParts) -> Vec<PageRow> {
    lost.iter().map(|(part, count)| PageRow::line(part.localized(*count))).collect()
}

/// Adds the counts of one conversation to those of all.
pub fn add_lost(all: &mut LostParts, more: &LostParts) {
    for (part, count) in more {
        *all.entry(*part).or_default() += count;
    }
}

/// Builds a conversation in the order in which things happened.
#[derive(Debug, Default)]
pub(super) struct SessionReader {
    pub session: ImportedSession,
    bytes: usize,
    turn: u64,
    steps: usize,
    /// The time of what follows.
    at: i64,
    is_open: bool,
    /// The steps that follow belong to a reply.
    has_reply: bool,
    /// Steps without a result yet, by the client's ids.
    open_steps: Vec<(String, Step)>,
}

impl SessionReader {
    pub fn lose(&mut self, part: LostPart) {
        *self.session.lost.entry(part).or_default() += 1;
    }

    /// What follows happened then: a text of ISO 8601, or milliseconds. A clock that was set back is
    /// not followed.
    pub fn set_time(&mut self, time: Option<&Value>) {
        let at = match time {
            Some(Value::String(text)) => text.parse().ok().map(Timestamp::as_millisecond),
            other => other.and_then(Value::as_i64),
        };
        self.at = self.at.max(at.unwrap_or_default());
    }

    /// A text of the other client, made harmless and cut.
    fn text(&mut self, text: &str, cap: usize) -> String {
        let text = clean(text, CarriageReturnMode::EndsLine);
        if text.len() <= cap {
            return text;
        }
        self.lose(LostPart::Long);
        text.split_at(text.floor_char_boundary(cap)).0.to_owned()
    }

    fn push(&mut self, event: Event, size: usize) {
        self.bytes += size;
        if self.bytes > MAX_SESSION || self.session.events.len() >= MAX_EVENTS {
            self.lose(LostPart::Long);
        } else {
            self.session.events.push(event);
            self.session.times.push(self.at);
        }
    }

    pub fn user(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.end_turn();
        let text = self.text(text.trim(), MAX_TEXT);
        self.turn += 1;
        self.is_open = true;
        self.has_reply = false;
        let turn = self.turn;
        let size = text.len();
        self.push(Event::TurnStarted { turn, text, origin: TurnOrigin::Typed, submit: None }, size);
    }

    pub fn assistant(&mut self, text: &str) {
        if text.trim().is_empty() || !self.is_open {
            return;
        }
        let message = self.text(text, MAX_TEXT);
        self.reply(message);
    }

    fn reply(&mut self, message: String) {
        self.has_reply = true;
        let size = message.len();
        let reply = ModelMessage { message, markdown: true, ..ModelMessage::default() };
        self.push(Event::Replied(reply), size);
    }

    pub fn call(&mut self, id: &str, work: StepAction) {
        if !self.is_open {
            return;
        }
        // Steps without words before them are of a reply without words.
        if !self.has_reply {
            self.reply(String::new());
        }
        self.steps += 1;
        let step_id = format!("cmd_{:03}", self.steps);
        let step = Step { id: step_id, work, requires: Default::default(), cwd: None };
        let size = step.work.command_line().len();
        self.push(Event::StepStarted { step: step.clone(), risk: risk() }, size);
        self.open_steps.push((id.to_owned(), step));
    }

    pub fn result(&mut self, id: &str, output: &str, exit_code: Option<i32>) {
        let Some(at) = self.open_steps.iter().position(|(known, _)| known == id) else { return };
        let (_, step) = self.open_steps.remove(at);
        self.has_reply = false;
        let length = output.len();
        let stdout = self.text(output, MAX_OUTPUT);
        let truncated = stdout.len() < length;
        let observation =
            Observation { exit_code, stdout, truncated, ..self.observation(step, Outcome::Ran) };
        let size = observation.stdout.len();
        self.push(Event::StepFinished(Box::new(observation)), size);
    }

    fn observation(&self, step: Step, outcome: Outcome) -> Observation {
        Observation::not_run(step, self.session.folder.clone(), risk(), outcome)
    }

    fn end_turn(&mut self) {
        // The message that comes next may be of another day.
        let next = self.at;
        self.at = self.session.times.last().copied().unwrap_or(next);
        for (_, step) in std::mem::take(&mut self.open_steps) {
            let observation = self.observation(step, Outcome::Interrupted);
            self.push(Event::StepFinished(Box::new(observation)), 0);
        }
        if std::mem::take(&mut self.is_open) {
            let ending = TurnOutcome::Done;
            let usage = Usage::default();
            self.push(Event::TurnEnded { turn: self.turn, ending, usage, elapsed_ms: 0 }, 0);
        }
        self.at = next;
    }

    pub fn finish(mut self) -> ImportedSession {
        self.end_turn();
        let title = self.session.title.take();
        let title = title.map(|title| text::cut(&text::one_line(&self.text(&title, 400)), 80));
        ImportedSession { title: title.filter(|title| !title.is_empty()), ..self.session }
    }
}

/// Of a step that another client let run.
fn risk() -> Risk {
    Risk {
        tier: Tier::L0,
        rule: "import".into(),
        reasons: Vec::new(),
        effects: Vec::new(),
        lifted: false,
    }
}

/// Longest line that is read, in bytes.
const MAX_LINE: usize = 32 << 20;

/// The lines of a file as JSON; those that are none are counted. An empty line, and one that was not
/// written to its end, are none.
pub(super) fn json_lines(bytes: &[u8], reader: &mut SessionReader) -> Vec<Value> {
    let mut values = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        match serde_json::from_slice(line.get(..line.len().min(MAX_LINE)).unwrap_or_default()) {
            Ok(value @ Value::Object(_)) => values.push(value),
            _ if is_blank => {}
            _ => reader.lose(LostPart::Unread),
        }
    }
    values
}

pub(super) fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A line of a shell as a step.
pub(super) fn shell(line: &str) -> StepAction {
    StepAction::exec("sh", &["-c", line])
}

/// A call of a tool: of a shell as a program, of anything else by its own name.
pub(super) fn action(name: &str, input: &Value) -> StepAction {
    let field = ["command", "cmd"].into_iter().find_map(|field| input.get(field));
    match field {
        Some(Value::String(line)) => shell(line),
        Some(Value::Array(words)) => {
            let mut words = words.iter().filter_map(Value::as_str).map(str::to_owned);
            match words.next() {
                Some(program) => StepAction::Exec { program, args: words.collect() },
                None => shell(""),
            }
        }
        _ => StepAction::Tool { name: name.to_owned(), input: input.clone() },
    }
}
