//! Compaction of a running turn: results of its first steps are shortened, then those steps are
//! replaced by a summary. The user's words and the plan stay.
//!
//! What was decided holds until the next compaction, so that requests in between begin with the
//! bytes of the one before. Nothing is removed from the turn itself: a [`TurnCompaction`] only says
//! how to look at its messages.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};

use super::history::Summary;
use super::message_size::{ENVELOPE, JOINT, message_size, messages_size};
use super::shorten::tail;
use super::size::{ContextSize, cut_to_fit};
use avocet_core::protocol::{ContentBlock, DroppedPart, Message, Role};
use avocet_core::text;
use avocet_core::text::cut_end;
use avocet_core::text::cut_middle;

/// The parts of the room that stay whole, that may be taken by shortened steps before they are
/// summed up, and that the user's words may take.
const WHOLE: usize = 2;
const SHORTENED: usize = 6;
const WORDS: usize = 2;

/// Bytes of a shortened result, and of one that is not worth shortening.
pub(super) const RESULT: usize = 240;
const WORTH: usize = 480;

/// Bytes of a step in a list, of what the user wrote meanwhile, and the number of listed steps.
const LINE: usize = 160;
const SAID: usize = 2_000;
const LISTED: usize = 40;

/// The places of the steps of a turn, and of the words the user added, in its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnIndex {
    pub steps: Vec<StepResultLocation>,
    /// By the number of the message.
    pub words: Vec<(usize, String)>,
}

/// The place of a step's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepResultLocation {
    pub message: usize,
    /// The block that holds it alone; `None`: a line of the text, which names the step itself.
    pub block: Option<usize>,
    pub id: String,
    /// The step, on one line.
    pub line: String,
}

/// What is sent of a running turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnCompaction {
    /// The user's words take at most this much.
    words: ContextSize,
    /// The first message that is sent after the user's words.
    from: usize,
    /// Replaces what is left out before it.
    pub summary: Summary,
    /// The last steps that were left out without a summary.
    listed: Vec<String>,
    /// The summary as it is sent, with what stays in any case.
    note: String,
    /// Results that are shortened, by their message.
    shortened: BTreeMap<usize, Shortened>,
}

#[derive(Clone, Debug, PartialEq)]
struct Shortened {
    /// Bytes of each result.
    limit: usize,
    /// The steps of blocks.
    steps: Vec<(usize, String)>,
}

/// The next compaction of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnCompactionPlan {
    /// With shortened results only.
    pub shortened: TurnCompaction,
    pub parts: Vec<DroppedPart>,
    /// The messages to sum up, if that is due.
    pub summed: Option<Range<usize>>,
    /// Whether shortening alone makes enough room.
    pub fits: bool,
}

impl TurnCompaction {
    /// Leaves nothing out but what requests of this room cannot hold of the user's words.
    pub fn new(size: ContextSize) -> TurnCompaction {
        TurnCompaction {
            words: longest_words(size),
            from: 0,
            summary: Summary::default(),
            listed: Vec::new(),
            note: String::new(),
            shortened: BTreeMap::new(),
        }
    }

    /// What is sent of these messages.
    pub fn view(&self, messages: &[Message]) -> Vec<Message> {
        let Some(first) = messages.first() else { return Vec::new() };
        let rest = messages.iter().enumerate().skip(self.from.max(1)).map(|(at, message)| {
            let mut message = message.clone();
            if let Some(how) = self.shortened.get(&at) {
                how.apply(&mut message);
            }
            message
        });
        std::iter::once(self.first(first)).chain(rest).collect()
    }

    /// The user's words, and the note.
    fn first(&self, words: &Message) -> Message {
        let mut words = words.clone();
        cut_words(&mut words, self.words);
        if !self.note.is_empty() {
            words.push_text(JOINT, &self.note);
        }
        words
    }

    /// The bytes of the user's words that are not sent.
    pub fn omitted_words(&self, messages: &[Message]) -> usize {
        messages.first().map_or(0, |words| {
            let mut cut = words.clone();
            cut_words(&mut cut, self.words);
            words.len() - cut.len()
        })
    }

    /// How to make these messages fit; `None` if there is nothing to leave out.
    pub fn plan(
        &self,
        messages: &[Message],
        index: &TurnIndex,
        room: ContextSize,
    ) -> Option<TurnCompactionPlan> {
        let room = room.saturating_sub(message_size(&self.first(messages.first()?)));
        let half = room.fraction(WHOLE);
        // Replies begin an exchange; the newest one stays, however large it is.
        let mut size = ContextSize::default();
        let exchanges = messages.iter().enumerate().skip(self.from.max(1)).rev();
        let sizes = exchanges.map(|(at, message)| {
            size += message_size(message);
            (at, message, size)
        });
        let mut replies =
            sizes.filter(|(_, message, _)| message.role == Role::Assistant).peekable();
        let (newest, _, newest_size) = *replies.peek()?;
        let fitting = replies.take_while(|(.., size)| size.fits(half)).last();
        let whole = fitting.map_or(newest, |(at, ..)| at);
        let mut next = self.clone();
        (self.from.max(1)..whole).for_each(|at| next.shorten(at, RESULT, index));
        if !newest_size.fits(half) {
            // The newest results alone are too large: each gets a share.
            let newest = messages.get(whole..).unwrap_or_default();
            let share = half.fraction(newest.iter().map(|message| message.blocks.len()).sum());
            let limit = share.bytes.min(share.tokens.saturating_mul(2)).max(RESULT);
            (whole..messages.len()).for_each(|at| next.shorten(at, limit, index));
        }
        let view = next.view(messages);
        let sent = view.get(1..).unwrap_or_default();
        let old = sent.get(..whole - self.from.max(1)).unwrap_or_default();
        let fits = messages_size(sent).fits(room.saturating_sub(room.fraction(4)));
        let is_long = !messages_size(old).fits(room.fraction(SHORTENED));
        let summed = self.from.max(1)..whole;
        Some(TurnCompactionPlan {
            parts: self.shortened_parts(&next, messages, index),
            summed: Some(summed).filter(|summed| !summed.is_empty() && (is_long || !fits)),
            shortened: next,
            fits,
        })
    }

    fn shorten(&mut self, at: usize, limit: usize, index: &TurnIndex) {
        let places = index.steps.iter().filter(|place| place.message == at);
        let steps = places.filter_map(|place| Some((place.block?, place.id.clone()))).collect();
        self.shortened.insert(at, Shortened { limit, steps });
    }

    /// What the results lose by `next`.
    fn shortened_parts(
        &self,
        compaction: &TurnCompaction,
        messages: &[Message],
        index: &TurnIndex,
    ) -> Vec<DroppedPart> {
        let mut parts = Vec::new();
        for (at, how) in
            compaction.shortened.iter().filter(|(at, how)| self.shortened.get(at) != Some(how))
        {
            let Some(message) = messages.get(*at) else { continue };
            let mut before = message.clone();
            let mut after = message.clone();

            self.shortened.get(at).iter().for_each(|how| how.apply(&mut before));
            how.apply(&mut after);
            for place in index.steps.iter().filter(|place| place.message == *at) {
                let bytes = place.len(&before).saturating_sub(place.len(&after));
                parts.extend((bytes > 0).then(|| place.part(bytes)));
            }
        }
        parts
    }

    /// Replaces these messages by the summary, or without one by a list of their steps.
    pub fn leave_out(
        &mut self,
        range: Range<usize>,
        summary: Option<Summary>,
        messages: &[Message],
        index: &TurnIndex,
    ) -> Vec<DroppedPart> {
        let places = || index.steps.iter().filter(|place| range.contains(&place.message));
        match summary {
            Some(summary) => {
                self.summary = summary;
                self.listed.clear();
            }
            None => {
                self.listed.extend(places().map(StepResultLocation::to_line));
                let over = self.listed.len().saturating_sub(LISTED);
                self.listed.drain(..over);
            }
        }
        self.from = range.end;
        self.shortened = self.shortened.split_off(&range.end);
        let len =
            |place: &StepResultLocation| messages.get(place.message).map_or(0, |it| place.len(it));
        places().map(|place| place.part(len(place))).collect()
    }

    /// Writes the note that replaces what is left out, with the plan as it is now.
    pub fn write_note(&mut self, messages: &[Message], index: &TurnIndex, plan: &str) {
        let gone = || index.steps.iter().filter(|place| place.message < self.from);
        let bytes: usize = messages.iter().take(self.from).skip(1).map(Message::len).sum();
        let (Some(first), Some(last)) = (gone().next(), gone().next_back()) else { return };
        let mut note = format!(
            "[{} steps of this turn are done and left out here, {} to {}, {}. `recall` with the \
             id of a step returns what it printed.]",
            gone().count(),
            first.id,
            last.id,
            text::size(bytes),
        );
        for (_, words) in index.words.iter().filter(|(at, _)| *at < self.from) {
            note.push_str(&format!("\nThe user said meanwhile: {}", cut_middle(words, SAID)));
        }
        for more in
            [self.summary.text_under("Summary of these steps:"), self.list(), plan.to_owned()]
        {
            if !more.is_empty() {
                note.push_str(JOINT);
                note.push_str(&more);
            }
        }
        self.note = note;
    }

    fn list(&self) -> String {
        if self.listed.is_empty() {
            String::new()
        } else {
            format!("The last of these steps:\n{}", self.listed.join("\n"))
        }
    }

    /// These messages as text, for a summary of them.
    pub fn transcript(
        &self,
        range: Range<usize>,
        messages: &[Message],
        index: &TurnIndex,
    ) -> Vec<String> {
        let words = messages.first().map(|it| format!("person: {}", cut_middle(&it.text(), SAID)));
        let mut out: Vec<String> = words.into_iter().chain([self.list()]).collect();
        for (at, message) in messages.iter().enumerate().take(range.end).skip(range.start) {
            let mut message = message.clone();
            message.flatten();
            if message.role == Role::Assistant {
                out.push(format!("agent: {}", message.text()));
            } else if let Some(last) = out.last_mut() {
                let steps = index.steps.iter().filter(|place| place.message == at);
                steps.for_each(|place| last.push_str(&format!("\n[{}]", place.id)));
                last.push_str(&format!("\n{}", message.text()));
            }
        }
        out.retain(|text| !text.is_empty());
        out
    }

    pub fn is_empty(&self) -> bool {
        self.from == 0 && self.shortened.is_empty()
    }
}

impl StepResultLocation {
    fn part(&self, bytes: usize) -> DroppedPart {
        DroppedPart { id: self.id.clone(), about: cut_end(&self.line, LINE), bytes }
    }

    fn to_line(&self) -> String {
        format!("{}: {}", self.id, cut_end(&self.line, LINE))
    }

    /// Bytes of the result in its message.
    fn len(&self, message: &Message) -> usize {
        match self.block {
            Some(block) => message.blocks.get(block).map_or(0, ContentBlock::len),
            None => {
                let id = format!("\"id\":\"{}\"", self.id);
                message.text().lines().find(|line| line.contains(&id)).map_or(0, str::len)
            }
        }
    }
}

impl Shortened {
    fn apply(&self, message: &mut Message) {
        for (at, block) in message.blocks.iter_mut().enumerate() {
            let step = self.steps.iter().find(|(block, _)| *block == at).map(|(_, id)| id.as_str());
            match (block, step) {
                (ContentBlock::ToolResult(result), step) => {
                    shorten_result(&mut result.content, self.limit, step);
                }
                (ContentBlock::Text(text), Some(step)) => {
                    shorten_result(&mut text.text, self.limit, Some(step));
                }
                (ContentBlock::Text(text), None) => shorten_lines(&mut text.text, self.limit),
                _ => {}
            }
        }
    }
}

/// Both ends of a result, and how to read the rest.
pub(super) fn shorten_result(text: &mut String, limit: usize, step: Option<&str>) {
    if text.len() <= limit.max(WORTH) {
        return;
    }
    let short = cut_middle(text, limit);
    let how = step.map_or(String::new(), |id| format!("\n[`recall` {id} returns the rest]"));
    *text = short + &how;
}

/// Shortens the results among the lines of a text; other lines are the user's, or short.
fn shorten_lines(text: &mut String, limit: usize) {
    if text.len() <= limit.max(WORTH) {
        return;
    }
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            if line.len() > limit.max(WORTH) {
                short_line(line, limit).unwrap_or_else(|| line.to_owned())
            } else {
                line.to_owned()
            }
        })
        .collect();
    *text = lines.join("\n");
}

/// A result of the JSON dialect without most of its output; `None` if the line is none.
fn short_line(line: &str, limit: usize) -> Option<String> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(line) else { return None };
    if !fields.contains_key("_event") {
        return None;
    }
    for name in ["stdoutTail", "stderrTail"] {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            *text = tail(text, limit / 2).to_owned();
        }
    }
    if let Some(Value::Object(parsed)) = fields.get_mut("parsed")
        && parsed.get("items").is_some_and(|items| items.to_string().len() > limit / 2)
    {
        parsed.insert("items".to_owned(), json!([]));
    }
    fields.insert("truncated".to_owned(), json!(true));
    Some(Value::Object(fields).to_string())
}

/// The longest words of the user that are sent whole.
pub fn longest_words(size: ContextSize) -> ContextSize {
    size.fraction(WORDS)
}

fn cut_words(message: &mut Message, size: ContextSize) {
    if message_size(message).fits(size) {
        return;
    }
    let mut left = size.saturating_sub(ENVELOPE);
    let mut texts: Vec<&mut String> = message.cuttable_texts_mut().collect();
    texts.sort_by_key(|text| text.len());
    let count = texts.len();
    for (done, text) in texts.into_iter().enumerate() {
        let share = left.fraction(count - done);
        if !ContextSize::measure(text).fits(share) {
            *text = cut_to_fit(text, share, cut_middle);
        }
        left = left.saturating_sub(ContextSize::measure(text));
    }
}

#[cfg(test)]
mod tests;
