//! Compaction of a long history: shortens without a model, asks a model for a summary, and parses
//! its answer (001 §8.3, §8.4).
//!
//! A failure loses nothing: an answer that is not a summary changes nothing, and turns are removed
//! only together with a summary that replaces them. The session sends the request.

use serde_json::{Map, Value};

use super::history::{DIGESTS, History, PastMessage, PastTurn, Summary};
use super::message_size::{JOINT, messages_size};
use super::request::past_messages;
use super::size::{ContextSize, cut_to_fit};
use super::turn_compaction::{RESULT, shorten_result};
use super::window::Bounds;
use avocet_core::protocol::{
    Compaction, CompactionSummary, ContentBlock, Dialect, DroppedPart, Message, reply,
};
use avocet_core::text::cut_end;
use avocet_core::text::cut_middle;

/// Number of latest turns that stay whole when older ones are shortened, and when they are
/// summarised.
const WHOLE: usize = 2;
const STAY: usize = 3;

/// Size in bytes of a shortened text.
const SHORT: usize = 1_500;

/// Number of turns before a retry after a failure.
const PAUSE: u64 = 4;

/// Bytes of a summary, of one of its items, and the maximum number of items of each kind.
const SUMMARY: usize = 4_000;
const ITEM: usize = 300;
const ITEMS: usize = 30;

/// Bytes of the quoted beginning of a turn in a receipt.
const ABOUT: usize = 60;

const PROMPT: &str = include_str!("../../../assets/prompts/summary.md");

/// The turns to summarise: this many, from the oldest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionPlan {
    turns: usize,
}

/// The reason for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionTrigger {
    /// The history is too long.
    Automatic,
    /// The user typed `/compress`.
    Manual,
}

/// True when the history takes more room than it should.
pub fn is_due(history: &History, bounds: Bounds) -> bool {
    messages(history) + 2 > bounds.messages || history.bytes() > bounds.compact_above
}

fn messages(history: &History) -> usize {
    history.recent.iter().map(|exchange| exchange.messages.len()).sum()
}

/// Shortens without a model: long texts of all but the latest turns.
pub fn shrink(history: &mut History) -> Vec<DroppedPart> {
    let old = history.recent.len().saturating_sub(WHOLE);
    let mut shortened = Vec::new();
    for exchange in history.recent.iter_mut().take(old) {
        let before = exchange.bytes();
        shorten_texts(exchange);
        let lost = before.saturating_sub(exchange.bytes());
        if lost > 0 {
            shortened.push(dropped_part(exchange, lost));
        }
    }
    shortened
}

/// Shortens past turns until they take no more than this, the oldest first: results, then
/// everything but the beginnings and ends of the texts.
pub fn shrink_to(history: &mut History, size: ContextSize, dialect: Dialect) -> Vec<DroppedPart> {
    let mut parts: Vec<DroppedPart> = Vec::new();
    for shorten in [shorten_results, shorten_texts] {
        for at in 0..history.recent.len() {
            if messages_size(&past_messages(history, dialect)).fits(size) {
                return parts;
            }
            let Some(exchange) = history.recent.get_mut(at) else { continue };
            let before = exchange.bytes();
            shorten(exchange);
            let lost = before.saturating_sub(exchange.bytes());
            match parts.iter_mut().find(|part| part.id == exchange.id()) {
                Some(part) => part.bytes += lost,
                None if lost > 0 => parts.push(dropped_part(exchange, lost)),
                None => {}
            }
        }
    }
    parts
}

fn shorten_results(turn: &mut PastTurn) {
    let id = turn.id();
    for block in turn.sent.iter_mut().flat_map(|message| &mut message.blocks) {
        if let ContentBlock::ToolResult(result) = block {
            shorten_result(&mut result.content, RESULT, Some(&id));
        }
    }
}

fn shorten_texts(turn: &mut PastTurn) {
    turn.sent.clear();
    turn.repeated.clear();
    for line in &mut turn.messages {
        let (PastMessage::User { content: text } | PastMessage::Assistant { message: text, .. }) =
            line;
        if text.len() > SHORT {
            *text = cut_middle(text, SHORT);
        }
    }
}

/// The turns to summarise now; `None` if there are too few.
pub fn plan(
    history: &History,
    bounds: Bounds,
    trigger: CompactionTrigger,
) -> Option<CompactionPlan> {
    let stay = match trigger {
        CompactionTrigger::Manual => 1,
        CompactionTrigger::Automatic => {
            let mut bytes = 0;
            let few = history.recent.iter().rev().take(STAY).take_while(|exchange| {
                bytes += exchange.bytes();
                bytes <= bounds.compact_above / 2
            });
            few.count().max(1)
        }
    };
    let turns = history.recent.len().saturating_sub(stay);
    let old = || history.recent.iter().take(turns);
    let bytes: usize = old().map(PastTurn::bytes).sum();
    let messages: usize = old().map(|exchange| exchange.messages.len()).sum();
    // The request must be worth its cost, or each turn would make one.
    let worth = trigger == CompactionTrigger::Manual
        || bytes >= bounds.compact_above / 4
        || messages * 3 > bounds.messages;
    (turns > 0 && worth).then_some(CompactionPlan { turns })
}

/// True when a turn has ended since the last attempt.
pub fn can_compact(history: &History, trigger: CompactionTrigger) -> bool {
    let rested =
        trigger == CompactionTrigger::Manual || history.last_turn() + 1 >= history.not_before;
    rested && history.summed_at.is_none_or(|at| history.last_turn() > at)
}

/// The request for a summary, within the same bounds.
pub fn summary_request(
    history: &History,
    plan: CompactionPlan,
    focus: Option<&str>,
    bounds: Bounds,
) -> Vec<Message> {
    let turns = history.recent.iter().take(plan.turns).map(transcript).collect();
    summary_request_of(turns, &history.summary, focus, bounds)
}

/// The request for a summary of these texts, the oldest first.
pub fn summary_request_of(
    texts: Vec<String>,
    before: &Summary,
    focus: Option<&str>,
    bounds: Bounds,
) -> Vec<Message> {
    let room = bounds.room.fraction(2);
    let mut head = String::new();
    if let Some(focus) = focus {
        head.push_str(&format!("Above all keep what concerns: {}\n\n", cut_end(focus, ITEM)));
    }
    let before = before.text();
    if !before.is_empty() {
        head.push_str(&before);
        head.push_str("\n\n");
    }
    head.push_str("Conversation, oldest first:");
    let mut left = room.saturating_sub(ContextSize::measure(&head));
    let count = texts.len();
    let size = ContextSize { bytes: JOINT.len(), tokens: 2 };
    let mut shares: Vec<String> = Vec::new();
    for (done, text) in texts.into_iter().enumerate() {
        let share = left.fraction(count - done).saturating_sub(size);
        let text = cut_to_fit(&text, share, cut_middle);
        left = left.saturating_sub(ContextSize::measure(&text) + size);
        shares.push(text);
    }
    let text = format!("{head}\n\n{}", shares.join(JOINT));
    vec![Message::system(PROMPT.trim_end()), Message::user(cut_to_fit(&text, room, cut_middle))]
}

fn transcript(turn: &PastTurn) -> String {
    let mut out = format!("[{}]", turn.id());
    for line in &turn.messages {
        match line {
            PastMessage::User { content } => out.push_str(&format!("\nperson: {content}")),
            PastMessage::Assistant { message, ran, .. } => {
                ran.iter().for_each(|step| out.push_str(&format!("\nran: {step}")));
                out.push_str(&format!("\nagent: {message}"));
            }
        }
    }
    out
}

/// Parses a model's answer. Strict: a field of the wrong type, or an empty summary, is `None`. An
/// omitted list stays unchanged.
pub fn parse_summary(text: &str, before_summary: &Summary) -> Option<Summary> {
    let object = reply::first_object(text)?;
    let summary = object.get("summary")?.as_str()?.trim();
    if summary.is_empty() {
        return None;
    }
    Some(Summary {
        summary: cut_middle(summary, SUMMARY),
        key_facts: list(&object, "keyFacts", &before_summary.key_facts)?,
        open_tasks: list(&object, "openTasks", &before_summary.open_tasks)?,
    })
}

fn list(object: &Map<String, Value>, name: &str, before: &[String]) -> Option<Vec<String>> {
    let Some(value) = object.get(name) else { return Some(before.to_vec()) };
    let mut out = Vec::new();
    for item in value.as_array()?.iter() {
        let item = item.as_str()?.trim();
        if !item.is_empty() && out.len() < ITEMS {
            out.push(cut_end(&item.replace(['\n', '\r'], " "), ITEM));
        }
    }
    Some(out)
}

/// Replaces the turns of the plan with the summary.
pub fn apply(history: &mut History, plan: CompactionPlan, summary: Summary) -> Compaction {
    let before = history.bytes();
    let turns = plan.turns.min(history.recent.len());
    let turns: Vec<PastTurn> = history.recent.drain(..turns).collect();
    let closed = history
        .summary
        .open_tasks
        .iter()
        .filter(|task| !summary.open_tasks.contains(task))
        .cloned()
        .collect();
    history.recalled.clear();
    history.summed_at = Some(history.last_turn());
    history.summary = summary.clone();
    Compaction {
        before,
        after: history.bytes(),
        summed: turns.iter().map(|exchange| dropped_part(exchange, exchange.bytes())).collect(),
        summary: Some(CompactionSummary { closed, ..summary.into() }),
        ..measure(history)
    }
}

/// The state after the compaction, for a receipt.
pub fn measure(history: &History) -> Compaction {
    let bytes = history.bytes();
    Compaction {
        before: bytes,
        after: bytes,
        turns: history.recent.len(),
        results: history.tool_digest.len().min(DIGESTS),
        ..Compaction::default()
    }
}

/// Records a failed attempt.
pub fn record_failure(history: &mut History) {
    history.summed_at = Some(history.last_turn());
    history.not_before = history.last_turn() + 1 + PAUSE;
}

fn dropped_part(turn: &PastTurn, bytes: usize) -> DroppedPart {
    let about = turn.preview().lines().next().unwrap_or_default();
    DroppedPart { id: turn.id(), about: cut_end(about, ABOUT), bytes }
}

#[cfg(test)]
mod tests;
