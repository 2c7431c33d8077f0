//! Judges the tools that only talk to the user: `ask` and `plan`. Neither touches anything.

use serde_json::Value;

use super::input::{InputFields, Names};
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{ChoiceTask, InputError, TaskResult, ToolTask};
use crate::i18n::safety as words;
use crate::protocol::{PlanItem, PlanState, Tier};
use crate::safety::findings::Findings;
use crate::safety::spec::JudgeContext;
use crate::text::cut;

const QUESTION: Names = &["question", "text", "message", "prompt"];
const CHOICES: Names = &["choices", "options", "answers"];
const ITEMS: Names = &["items", "steps", "plan", "todos", "tasks"];
const TEXT: Names = &["text", "step", "title", "content", "task", "description"];
const STATE: Names = &["state", "status"];

pub const ASK_FIELDS: &[FieldRow] =
    &[required(QUESTION, FieldKind::Text), optional(CHOICES, FieldKind::Texts)];
pub const PLAN_FIELDS: &[FieldRow] = &[required(
    ITEMS,
    FieldKind::Objects(&[
        required(TEXT, FieldKind::Text),
        required(STATE, FieldKind::OneOf(&["pending", "doing", "done"])),
    ]),
)];
/// Options that can be picked by a digit.
const MOST_CHOICES: usize = 9;
const MOST_ITEMS: usize = 40;
/// Characters of a question, of a choice and of a line of the plan.
const LONG: usize = 2_000;
const SHORT: usize = 200;

pub fn ask(input: &InputFields<'_>, _: &JudgeContext<'_>, out: &mut Findings) -> TaskResult {
    let text = cut(input.text(QUESTION)?.trim(), LONG);
    if text.is_empty() {
        return Err(input.missing_field_error(QUESTION));
    }
    let mut choices = input.texts(CHOICES)?;
    choices.retain(|choice| !choice.trim().is_empty());
    if choices.len() > MOST_CHOICES {
        let say = words::TOO_MANY_CHOICES.with("count", choices.len()).with("most", MOST_CHOICES);
        return Err(say.into());
    }
    let choices: Vec<String> = choices.iter().map(|choice| cut(choice.trim(), SHORT)).collect();
    let free = choices.is_empty() || input.get(&["free", "other"]) != Some(&Value::Bool(false));
    out.add("ask", Tier::L0, words::TOOL_TALKS, None, &[]);
    Ok(ToolTask::Ask(ChoiceTask { text, choices, free }))
}

pub fn plan(input: &InputFields<'_>, _: &JudgeContext<'_>, out: &mut Findings) -> TaskResult {
    let list = input.list(ITEMS)?.ok_or_else(|| input.missing_field_error(ITEMS))?;
    if list.len() > MOST_ITEMS {
        let say = words::TOO_MANY_ITEMS.with("count", list.len()).with("most", MOST_ITEMS);
        return Err(say.into());
    }
    let items: Vec<PlanItem> = list
        .iter()
        .enumerate()
        .map(|(at, value)| parse_item(at, value))
        .collect::<Result<_, _>>()?;
    out.add("plan", Tier::L0, words::TOOL_TALKS, None, &[]);
    Ok(ToolTask::Plan(items))
}

/// An object with its state, or a text, which may carry its box: `[x] done`.
fn parse_item(at: usize, value: &Value) -> Result<PlanItem, InputError> {
    if let Value::String(text) = value {
        let (state, text) = parse_checkbox(text.trim());
        return Ok(PlanItem { text: cut(text, SHORT), state });
    }
    let name = format!("plan: items[{at}]");
    let input = InputFields::new(&name, value);
    let text = cut(input.text(TEXT)?.trim(), SHORT);
    let state = match input.optional_text(STATE)? {
        None => PlanState::Pending,
        Some(named) => parse_state(named).ok_or_else(|| {
            InputError::from(
                words::PLAN_STATE.with("item", at + 1).with("found", super::excerpt(named)),
            )
        })?,
    };
    Ok(PlanItem { text, state })
}

fn parse_checkbox(text: &str) -> (PlanState, &str) {
    let boxes = [
        ("[ ]", PlanState::Pending),
        ("[x]", PlanState::Done),
        ("[X]", PlanState::Done),
        ("[~]", PlanState::Doing),
        ("[>]", PlanState::Doing),
    ];
    let found = boxes.iter().find_map(|(sign, state)| Some((*state, text.strip_prefix(sign)?)));
    found.map_or((PlanState::Pending, text), |(state, rest)| (state, rest.trim()))
}

fn parse_state(name: &str) -> Option<PlanState> {
    match name.to_ascii_lowercase().as_str() {
        "pending" | "todo" | "open" | "not_started" => Some(PlanState::Pending),
        "doing" | "in_progress" | "in-progress" | "active" | "running" => Some(PlanState::Doing),
        "done" | "completed" | "complete" | "finished" => Some(PlanState::Done),
        _ => None,
    }
}
