//! Judges the tools that touch nothing: `ask` and `plan` talk to the user, `recall` reads the
//! conversation.

use serde_json::Value;

use super::input::{InputFields, Names};
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{ChoiceTask, InputError, JobTask, TaskResult, ToolTask};
use crate::findings::Findings;
use crate::spec::JudgeContext;
use avocet_core::i18n::{agents, safety as phrases};
use avocet_core::protocol::reply;
use avocet_core::protocol::{ApprovalMode, Effect, PlanItem, PlanState, Tier};
use avocet_core::text::{cut, one_line};

const QUESTION: Names = &["question", "text", "message", "prompt"];
const CHOICES: Names = &["choices", "options", "answers", "follow_up", "suggestions"];
/// Questions in a list, as other agents ask several at once.
const QUESTIONS: Names = &["questions"];
const ITEMS: Names = &["items", "steps", "plan", "todos", "tasks", "todo_list"];
const TEXT: Names = &["text", "step", "title", "content", "task", "description"];
const STATE: Names = &["state", "status"];

const ID: Names = &["id", "step", "turn"];
#[rustfmt::skip]
const JOB: Names = &[
    "id", "job", "job_id", "bash_id", "shell_id", "task_id", "session_id", "command_id",
    "process_id", "terminal_id",
];
const QUERY: Names = &["query", "search", "filter"];
const PAGE: Names = &["page"];
const WAIT: Names = &["wait_s", "wait", "timeout_s", "timeout", "delay"];
const WAIT_MS: Names = &["timeout_ms", "yield_time_ms", "block_until_ms"];

pub const ASK_FIELDS: &[FieldRow] =
    &[required(QUESTION, FieldKind::Text), optional(CHOICES, FieldKind::Texts)];
pub const PLAN_FIELDS: &[FieldRow] = &[required(
    ITEMS,
    FieldKind::Objects(&[
        required(TEXT, FieldKind::Text),
        required(STATE, FieldKind::OneOf(&["pending", "doing", "done"])),
    ]),
)];
pub const RECALL_FIELDS: &[FieldRow] =
    &[required(ID, FieldKind::Text), optional(PAGE, FieldKind::Number)];
const SUMMARY: Names = &["description", "title", "name", "task_name"];
const TASK: Names = &["prompt", "task", "instructions", "message", "query"];
const AGENT: Names = &["agent", "subagent_type", "agent_type", "agent_name", "subagent"];
const BACKGROUND: Names = &["background", "run_in_background"];
const WORKTREE: Names = &["worktree"];
const ISOLATION: Names = &["isolation"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentTask {
    /// In a few words.
    pub description: String,
    pub prompt: String,
    /// The name of a definition.
    pub agent: Option<String>,
    /// The turn goes on meanwhile.
    pub background: bool,
    /// It works in a worktree of its own.
    pub worktree: bool,
    /// Empty: all that its definition has.
    pub tools: Vec<String>,
    /// The widest mode.
    pub mode: Option<ApprovalMode>,
}

/// The tool that hands a task to a subagent.
pub const SUBAGENT_TOOL: &str = "task";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallTask {
    /// Of a step or a turn.
    pub id: String,
    /// Counted from 1.
    pub page: usize,
}

pub const TASK_FIELDS: &[FieldRow] = &[
    required(SUMMARY, FieldKind::Text).says("in a few words"),
    required(TASK, FieldKind::Text).says("all that the agent needs to know"),
    optional(AGENT, FieldKind::Text),
    optional(BACKGROUND, FieldKind::Flag).says("the result comes later"),
    optional(WORKTREE, FieldKind::Flag).says("in a git worktree of its own"),
];
pub const JOB_READ_FIELDS: &[FieldRow] = &[
    required(JOB, FieldKind::Number),
    optional(PAGE, FieldKind::Number).says("of all output; else what is new"),
    optional(QUERY, FieldKind::Text).says("only lines with it"),
    optional(WAIT, FieldKind::Number).says("seconds to wait for more"),
];
pub const JOB_STOP_FIELDS: &[FieldRow] = &[required(JOB, FieldKind::Number)];
/// Options that can be picked by a digit.
const MAX_CHOICES: usize = 9;
const MAX_ITEMS: usize = 40;
/// Characters of a question, of a choice and of a line of the plan.
const LONG: usize = 2_000;
const SHORT: usize = 200;

pub fn ask(input: &InputFields<'_>, _: &JudgeContext<'_>, findings: &mut Findings) -> TaskResult {
    let list = input.list(QUESTIONS)?.unwrap_or_default();
    let input = match list.as_slice() {
        [one] => &InputFields::new("ask", one),
        _ => input,
    };
    let text = cut(input.text(QUESTION)?.trim(), LONG);
    if text.is_empty() {
        return Err(input.missing_field_error(QUESTION));
    }
    let mut choices = input.texts(CHOICES)?;
    choices.retain(|choice| !choice.trim().is_empty());
    if choices.len() > MAX_CHOICES {
        let say = phrases::TOO_MANY_CHOICES.with("count", choices.len()).with("most", MAX_CHOICES);
        return Err(say.into());
    }
    let choices: Vec<String> = choices.iter().map(|choice| cut(choice.trim(), SHORT)).collect();
    let free = choices.is_empty() || input.get(&["free", "other"]) != Some(&Value::Bool(false));
    findings.add("ask", Tier::L0, phrases::TOOL_TALKS, None, &[]);
    Ok(ToolTask::Ask(ChoiceTask { text, choices, free }))
}

pub fn task(input: &InputFields<'_>, _: &JudgeContext<'_>, findings: &mut Findings) -> TaskResult {
    let prompt = input.text(TASK)?.trim().to_owned();
    if prompt.is_empty() {
        return Err(input.missing_field_error(TASK));
    }
    let described = input.optional_text(SUMMARY)?.unwrap_or(prompt.as_str());
    let description = cut(one_line(described).trim(), SHORT);
    let agent = input.optional_text(AGENT)?.map(str::to_owned);
    let background = input.flag(BACKGROUND)?;
    let is_isolated = input.optional_text(ISOLATION)? == Some("worktree");
    let worktree = input.flag(WORKTREE)? || is_isolated;
    let mode = input.optional_text(&["mode"])?.map(|name| {
        let unknown = || InputError::of_form(agents::UNKNOWN_MODE.with("name", cut(name, SHORT)));
        ApprovalMode::parse(name).ok_or_else(unknown)
    });
    findings.add(SUBAGENT_TOOL, Tier::L0, agents::HANDS_ON, None, &[]);
    Ok(ToolTask::Subagent(SubagentTask {
        description,
        prompt,
        agent,
        background,
        worktree,
        tools: input.texts(&["tools"])?,
        mode: mode.transpose()?,
    }))
}

pub fn plan(input: &InputFields<'_>, _: &JudgeContext<'_>, findings: &mut Findings) -> TaskResult {
    let list = match input.get(ITEMS) {
        // Lines with a box each, as Markdown has them.
        Some(Value::String(text)) if !text.trim_start().starts_with('[') || text.contains("] ") => {
            text.lines().filter(|line| !line.trim().is_empty()).map(Value::from).collect()
        }
        _ => input.list(ITEMS)?.ok_or_else(|| input.missing_field_error(ITEMS))?,
    };
    if list.len() > MAX_ITEMS {
        let say = phrases::TOO_MANY_ITEMS.with("count", list.len()).with("most", MAX_ITEMS);
        return Err(say.into());
    }
    let items: Vec<PlanItem> = list
        .iter()
        .enumerate()
        .map(|(at, value)| parse_item(at, value))
        .collect::<Result<_, _>>()?;
    findings.add("plan", Tier::L0, phrases::TOOL_TALKS, None, &[]);
    Ok(ToolTask::Plan(items))
}

pub fn recall(
    input: &InputFields<'_>,
    _: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let id = cut(input.text(ID)?.trim(), SHORT);
    let page = input.number(PAGE)?.unwrap_or(1).max(1);
    findings.add("recall", Tier::L0, phrases::TOOL_RECALLS, None, &[]);
    Ok(ToolTask::Recall(RecallTask { id, page }))
}

pub fn job_list(_: &InputFields<'_>, _: &JudgeContext<'_>, findings: &mut Findings) -> TaskResult {
    findings.add("job", Tier::L0, phrases::TOOL_JOBS, None, &[]);
    Ok(ToolTask::Job(JobTask::List))
}

pub fn job_read(
    input: &InputFields<'_>,
    _: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let query = input.optional_text(QUERY)?.map(|query| cut(query, SHORT));
    let id = job_id(input)?;
    let page = input.number(PAGE)?;

    let wait = match input.number(WAIT_MS)? {
        Some(wait) => Some(wait.div_ceil(1000)),
        None => input.number(WAIT)?.map(reply::seconds),
    };
    findings.add("job", Tier::L0, phrases::TOOL_JOBS, None, &[]);
    Ok(ToolTask::Job(JobTask::Read { id, page, query, wait }))
}

/// The model ends its own jobs; one that the user started or keeps is the user's.
pub fn job_stop(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let id = job_id(input)?;
    findings.add("job", Tier::L0, phrases::TOOL_JOBS, None, &[]);
    if !context.policy_cx.world.is_job_of_model(id) {
        findings.add("job.stop", Tier::L1, phrases::JOB_OF_USER, None, &[Effect::Irreversible]);
    }
    Ok(ToolTask::Job(JobTask::Stop { id }))
}

fn job_id(input: &InputFields<'_>) -> Result<u64, InputError> {
    let id = input.number(JOB)?.ok_or_else(|| input.missing_field_error(JOB))?;
    Ok(u64::try_from(id).unwrap_or(u64::MAX))
}

/// An object with its state, or a text, which may carry its box: `[x] done`.
fn parse_item(at: usize, value: &Value) -> Result<PlanItem, InputError> {
    if let Value::String(text) = value {
        let PlanItem { text, state } = PlanItem::parse(text.trim());
        return Ok(PlanItem { text: cut(&text, SHORT), state });
    }
    let name = format!("plan: items[{at}]");
    let input = InputFields::new(&name, value);
    let text = cut(input.text(TEXT)?.trim(), SHORT);
    let state = match input.optional_text(STATE)? {
        None => PlanState::Pending,
        Some(named) => parse_state(named).ok_or_else(|| {
            InputError::from(
                phrases::PLAN_STATE.with("item", at + 1).with("found", super::excerpt(named)),
            )
        })?,
    };
    Ok(PlanItem { text, state })
}

fn parse_state(name: &str) -> Option<PlanState> {
    match name.to_ascii_lowercase().as_str() {
        "pending" | "todo" | "open" | "not_started" | "not-started" => Some(PlanState::Pending),
        "doing" | "in_progress" | "in-progress" | "active" | "running" => Some(PlanState::Doing),
        "done" | "completed" | "complete" | "finished" => Some(PlanState::Done),
        _ => None,
    }
}
