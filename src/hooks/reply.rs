//! What a hook says by its exit code and its output.

use serde_json::{Map, Value};

use avocet_core::i18n::{LocalizedText, hooks as phrases};
use avocet_core::protocol::Notice;
use avocet_core::text::{cut_end, one_line};
use avocet_safety::sanitize::{self, CarriageReturnMode};

use super::definition::{Hook, HookProgram};

/// The most of one text of a hook, and of one that is shown in a line, in bytes.
const MAX_TEXT: usize = 8 * 1024;
const MAX_LINE: usize = 400;
/// The most that is read of what it prints.
pub const MAX_OUTPUT: usize = 64 * 1024;
/// The exit code that refuses, and that by which crush ends a turn.
const REFUSES: i32 = 2;
const HALTS: i32 = 49;

/// What became of a hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookRun {
    pub exit: HookExit,
    pub stdout: String,
    pub stderr: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum HookExit {
    Code(i32),
    /// It did not start, or was ended.
    Failed(LocalizedText),
}

impl Default for HookExit {
    fn default() -> HookExit {
        HookExit::Code(0)
    }
}

/// What a hook decides about a step, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    Allow,
    Ask,
    /// Not this step, or not this message; at the end of a turn: go on.
    Deny,
}

/// The answer of one hook, or of all hooks of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    pub decision: Option<HookDecision>,
    /// Why; empty if it does not say.
    pub reason: String,
    /// The turn ends, for this reason.
    pub halt: Option<String>,
    /// The input that the tool is to get.
    pub input: Option<Value>,
    /// For the model.
    pub context: String,
    /// For the user.
    pub notices: Vec<Notice>,
}

/// The answers of several hooks as one: the strictest counts, and the first of the equally strict
/// gives the reason.
pub fn join_replies(replies: impl IntoIterator<Item = HookReply>) -> HookReply {
    let mut hook_reply = HookReply::default();
    for reply in replies {
        if reply.decision > hook_reply.decision {
            (hook_reply.decision, hook_reply.reason) = (reply.decision, reply.reason);
        }
        hook_reply.halt = hook_reply.halt.or(reply.halt);
        // Inputs of several hooks cannot be joined: the first counts.
        hook_reply.input = hook_reply.input.or(reply.input);
        if !hook_reply.context.is_empty() && !reply.context.is_empty() {
            hook_reply.context.push('\n');
        }
        hook_reply.context.push_str(&reply.context);
        hook_reply.notices.extend(reply.notices);
    }
    hook_reply.context = cut_end(&hook_reply.context, MAX_TEXT);
    hook_reply
}

/// Reads what a hook answered.
pub fn read_reply(hook: &Hook, run: &HookRun) -> HookReply {
    let deny = |reason: String| HookReply {
        decision: Some(HookDecision::Deny),
        reason,
        ..HookReply::default()
    };
    let warn = |why: LocalizedText| HookReply {
        notices: vec![Notice::warning(phrases::FAILED.with("hook", hook.label()).with("why", why))],
        ..HookReply::default()
    };
    match &run.exit {
        HookExit::Failed(why) => warn(why.clone()),
        HookExit::Code(0) => read_output(hook, &run.stdout).unwrap_or_else(warn),
        HookExit::Code(REFUSES) => deny(text(&run.stderr)),
        HookExit::Code(HALTS) if hook.origin.program == HookProgram::Crush => {
            HookReply { halt: Some(text(&run.stderr)), ..HookReply::default() }
        }
        HookExit::Code(code) => {
            let said = line(if run.stderr.trim().is_empty() { &run.stdout } else { &run.stderr });
            warn(phrases::EXITED.with("code", *code).with("text", said))
        }
    }
}

fn read_output(hook: &Hook, stdout: &str) -> Result<HookReply, LocalizedText> {
    if stdout.len() > MAX_OUTPUT {
        let limit = avocet_core::text::size(MAX_OUTPUT);
        return Err(phrases::TOO_LONG.with("limit", limit));
    }
    if !stdout.trim_start().starts_with('{') {
        let context = if hook.event.takes_plain_text() { text(stdout) } else { String::new() };
        return Ok(HookReply { context, ..HookReply::default() });
    }
    let fields: Map<String, Value> =
        serde_json::from_str(stdout).map_err(|_| LocalizedText::from(phrases::NO_JSON))?;
    let own = fields.get("hookSpecificOutput").and_then(Value::as_object);
    // A question for permission is answered in a table of its own.
    let decided = own.and_then(|own| own.get("decision")).and_then(Value::as_object);
    let tables = [decided, own, Some(&fields)];
    let find = |names: &[&str]| {
        let tables = tables.iter().flatten();
        let mut found = tables.flat_map(|table| names.iter().filter_map(|name| table.get(*name)));
        found.find(|value| !value.is_null() && !value.is_object())
    };
    let find_text = |names: &[&str]| find(names).and_then(Value::as_str).map(text);
    let decision = match find_text(&["permissionDecision", "behavior", "decision"]).as_deref() {
        Some("deny" | "block") => Some(HookDecision::Deny),
        Some("ask") => Some(HookDecision::Ask),
        Some("allow" | "approve") => Some(HookDecision::Allow),
        _ => None,
    };
    let reason = find_text(&["permissionDecisionReason", "reason"]);
    let reason = reason.or_else(|| decided.and_then(|_| find_text(&["message"])));
    let stops = find(&["continue"]).and_then(Value::as_bool) == Some(false)
        || find(&["halt", "interrupt"]).and_then(Value::as_bool) == Some(true);
    let why = || find_text(&["stopReason", "reason"]).unwrap_or_default();
    let mut inputs = tables
        .iter()
        .flatten()
        .filter_map(|table| table.get("updatedInput").or_else(|| table.get("updated_input")));
    let input = inputs.next().filter(|value| value.is_object()).cloned();
    let message = find_text(&["systemMessage"]);
    let say = |said: String| {
        Notice::info(phrases::SAYS.with("hook", hook.label()).with("text", line(&said)))
    };
    Ok(HookReply {
        decision,
        reason: reason.unwrap_or_default(),
        halt: stops.then(why),
        input: input.filter(|_| decision != Some(HookDecision::Deny)),
        context: find_text(&["additionalContext", "context"]).unwrap_or_default(),
        notices: message.map(say).into_iter().collect(),
    })
}

/// A text of a hook, made safe and bounded.
fn text(raw: &str) -> String {
    let cleaned = sanitize::clean(&cut_end(raw, MAX_TEXT), CarriageReturnMode::EndsLine);
    cut_end(cleaned.trim(), MAX_TEXT)
}

fn line(raw: &str) -> String {
    cut_end(&one_line(&text(raw)), MAX_LINE)
}
