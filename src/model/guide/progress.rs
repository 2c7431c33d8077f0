//! The guide's view of a conversation: the last request, and the results of its steps.

use serde_json::{Deserializer, Value};

use avocet_core::protocol::{Message, Role};
use avocet_core::text;

/// The running turn.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GuideConversation {
    /// The user's last message.
    pub request: String,
    /// The results of the steps since then, in order.
    pub findings: Vec<StepResult>,
}

/// The part of a `tool_result` that the guide needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StepResult {
    pub program: String,
    pub args: Vec<String>,
    pub exit: Option<i64>,
    pub stdout: String,
    pub stderr: String,
    pub truncated: bool,
    pub outcome: String,
    /// The reason for its verdict, and the note on it.
    pub reason: String,
    pub note: String,
    pub kind: String,
    pub total: usize,
    pub items: Vec<Value>,
}

impl StepResult {
    /// It ran to its end, as proposed or as edited by the user.
    pub fn has_run(&self) -> bool {
        matches!(self.outcome.as_str(), "ran" | "edited") && self.exit.is_some()
    }

    pub fn has_succeeded(&self) -> bool {
        self.has_run() && self.exit == Some(0)
    }

    /// The program is missing or may not be used: another one might work.
    pub fn is_unavailable(&self) -> bool {
        self.outcome == "refused"
            || self.exit == Some(127)
            || (self.outcome == "ran" && self.exit.is_none())
    }

    pub fn command_line(&self) -> String {
        text::command_line(std::iter::once(&self.program).chain(&self.args))
    }

    /// Names of files: as parsed, else the lines of the output.
    pub fn files(&self) -> Vec<String> {
        let name = |item: &Value| {
            let fields = ["path", "file", "name"];
            let name = fields.iter().find_map(|field| item.get(field)?.as_str());
            name.or(item.as_str()).map(str::to_owned)
        };
        let parsed: Vec<String> = self.items.iter().filter_map(name).collect();
        if self.kind == "file_list" && !parsed.is_empty() {
            return parsed;
        }
        let lines = self.stdout.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}

pub(super) fn parse_conversation(messages: &[Message]) -> GuideConversation {
    let mut conversation = GuideConversation::default();
    for message in messages.iter().filter(|message| message.role != Role::Assistant) {
        // An attachment is neither a request nor the result of a step.
        let text = message.text();
        let content = text.split("\n\n[Attached @").next().unwrap_or_default();
        let events = events(content);
        if !events.is_empty() {
            conversation.findings.extend(events.iter().filter_map(parse_result));
        } else if message.role == Role::User {
            conversation = GuideConversation { request: content.to_owned(), findings: Vec::new() };
        }
    }
    conversation
}

/// The events in a message: one or several objects, a list of them, or one per line.
fn events(content: &str) -> Vec<Value> {
    let whole: Result<Vec<Value>, _> = Deserializer::from_str(content).into_iter().collect();
    let values = whole.unwrap_or_else(|_| {
        content.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect()
    });
    let flat = values.into_iter().flat_map(|value| match value {
        Value::Array(inner) => inner,
        single => vec![single],
    });
    flat.filter(|value| value.get("_event").is_some()).collect()
}

fn parse_result(event: &Value) -> Option<StepResult> {
    if event.get("_event")?.as_str() != Some("tool_result") {
        return None;
    }
    let text = |field: &str| text(event.get(field));
    let parsed = event.get("parsed");
    let items = parsed.and_then(|parsed| parsed.get("items")?.as_array().cloned());
    let items = items.unwrap_or_default();
    let total = parsed.and_then(|parsed| parsed.get("total")?.as_u64());
    let args = event.get("args").and_then(Value::as_array).map(Vec::as_slice);
    Some(StepResult {
        program: text("program"),
        args: args.unwrap_or_default().iter().map(|arg| self::text(Some(arg))).collect(),
        exit: event.get("exitCode").and_then(Value::as_i64),
        stdout: text("stdoutTail"),
        stderr: text("stderrTail"),
        truncated: event.get("truncated").and_then(Value::as_bool).unwrap_or(false),
        outcome: text("outcome"),
        reason: self::text(event.pointer("/risk/reason")),
        note: text("note"),
        kind: self::text(event.pointer("/parsed/kind")),
        total: total.and_then(|total| usize::try_from(total).ok()).unwrap_or(items.len()),
        items,
    })
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}
