//! The messages a turn adds to the conversation: short forms of the replies, whole results; and the
//! record that remains after the turn.
//!
//! While the turn runs, a reply is sent as its type, its message and its proposed steps, in JSON,
//! so that a model that reads its own words keeps to the protocol.

use serde_json::{Value, json};

use crate::context::history::{ReplyKind, TurnRecord};
use crate::context::shorten;
use crate::i18n::{Lang, LocalizedText, exec};
use crate::protocol::reply::{ParsedReply, Proposal, Reply};
use crate::protocol::{Message, Observation, Outcome, Role, StepAction, streaming};
use crate::safety::{Assessment, PolicyContext};

/// How much of an invalid reply is sent back with its error, in bytes.
const FAULTY: usize = 2_000;

#[derive(Debug)]
pub struct TurnMessages {
    messages: Vec<Message>,
    record: TurnRecord,
    /// Number of messages before a repair; they are truncated to it afterwards.
    before_repair: Option<usize>,
}

impl TurnMessages {
    pub fn new(words: &str) -> TurnMessages {
        let mut kept = TurnRecord::default();
        kept.add_user(words);
        TurnMessages { messages: vec![Message::user(words)], record: kept, before_repair: None }
    }

    /// The record that remains.
    pub fn record(&self) -> TurnRecord {
        self.record.clone()
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn is_repairing(&self) -> bool {
        self.before_repair.is_some()
    }

    pub fn add_chat(&mut self, message: &str) {
        self.push_reply(&json!({ "type": "chat", "message": message }));
        self.record.add_reply(ReplyKind::Chat, message);
    }

    pub fn add_error(&mut self, message: &str) {
        self.push_reply(&json!({ "type": "error", "message": message }));
        self.record.add_reply(ReplyKind::Error, message);
    }

    pub fn add_cmd(&mut self, message: &str, cwd: Option<&str>, commands: &[Proposal]) {
        let commands: Vec<Value> =
            commands.iter().map(|proposal| action_json(&proposal.work)).collect();
        let mut data = json!({});
        if let Some(cwd) = cwd {
            data["cwd"] = json!(cwd);
        }
        data["commands"] = json!(commands);
        self.push_reply(&json!({ "type": "cmd", "message": message, "data": data }));
        self.record.add_reply(ReplyKind::Cmd, message);
    }

    /// Adds the invalid reply and its error; both are removed once a valid one arrives.
    pub fn add_repair(&mut self, text: &str, fault: &LocalizedText) {
        self.before_repair = Some(self.messages.len());
        self.messages.push(Message::assistant(shorten::cut_middle(text, FAULTY)));
        let event = json!({
            "_event": "repair",
            "fault": fault.text(Lang::En),
            "expected": "one JSON object of type chat, cmd or error, and nothing else",
        });
        self.messages.push(Message::user(event.to_string()));
    }

    /// Removes an invalid reply and its error when no valid one arrived.
    pub fn forget_repair(&mut self) {
        if let Some(before) = self.before_repair.take() {
            self.messages.truncate(before);
        }
    }

    /// Adds the results, one line each, as specified in 001 §10.2.
    pub fn add_results(&mut self, seen: &[Observation]) {
        if !seen.is_empty() {
            let lines: Vec<String> =
                seen.iter().map(|seen| seen.tool_result().to_string()).collect();
            self.messages.push(Message::user(lines.join("\n")));
            self.record.add_steps(seen);
        }
    }

    /// Asks for the next reply, after the results.
    pub fn add_continue(&mut self) {
        self.append_to_results(&json!({ "_event": "continue" }));
    }

    /// Adds the user's message in the middle of a turn, after the results.
    pub fn add_steering(&mut self, words: &str) {
        self.record.add_user(words);
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => {
                last.push_text("\n\n", words);
            }
            _ => self.messages.push(Message::user(words)),
        }
    }

    /// Records that the user stopped here.
    pub fn add_cancelled(&mut self) {
        self.record.mark_cancelled();
        self.append_to_results(&json!({ "_event": "cancelled_by_user" }));
    }

    fn append_to_results(&mut self, event: &Value) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => {
                last.push_text("\n", &event.to_string());
            }
            _ => self.messages.push(Message::user(event.to_string())),
        }
    }

    fn push_reply(&mut self, reply: &Value) {
        self.forget_repair();
        self.messages.push(Message::assistant(reply.to_string()));
    }
}

/// The readable part of an answer that is not acted on: the message of a reply, or prose. Raw JSON
/// is never shown; `None` if there is nothing else.
pub fn readable_part(reading: &ParsedReply, text: &str) -> Option<String> {
    let message = match reading {
        ParsedReply::Valid { reply, .. } => match reply {
            Reply::Chat { message, .. } | Reply::Cmd { message, .. } | Reply::Error { message } => {
                Some(message.clone())
            }
        },
        ParsedReply::Invalid { .. } => {
            streaming::message(text).or_else(|| prose(text_before_json(text)))
        }
        ParsedReply::Fallback { text } if has_open_json(text) => prose(text_before_json(text)),
        ParsedReply::Fallback { text } => prose(text),
    };
    message.filter(|message| !message.trim().is_empty())
}

fn prose(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.starts_with(['{', '[', '<'])).then(|| text.to_owned())
}

/// Whether the text contains the beginning of JSON that broke off.
fn has_open_json(text: &str) -> bool {
    let count = |bracket| text.matches(bracket).count();
    count('{') > count('}')
}

fn text_before_json(text: &str) -> &str {
    let begins = ["```json", "{"];
    let end = begins.iter().filter_map(|begin| text.find(begin)).min();
    end.map_or(text, |end| text.split_at(end).0)
}

/// The observation of a step that was judged but did not run.
pub fn not_run_observation(
    judged: &Assessment,
    outcome: Outcome,
    note: Option<LocalizedText>,
) -> Observation {
    let cwd = judged.cwd.display().to_string();
    let seen = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    Observation { note, ..seen }
}

fn action_json(work: &StepAction) -> Value {
    match work {
        StepAction::Exec { program, args } => json!({ "program": program, "args": args }),
        StepAction::Tool { name, input } => json!({ "tool": name, "input": input }),
        StepAction::Shell { line } => json!({ "line": line }),
    }
}
/// Why a program cannot be started at all; `None` if it exists, or if the step is not a program.
pub fn missing_program_reason(
    judged: &Assessment,
    scene: PolicyContext<'_>,
) -> Option<LocalizedText> {
    let StepAction::Exec { program, .. } = &judged.step.work else { return None };
    if judged.program.is_some() || program.contains('/') {
        return None;
    }
    let missing = exec::NOT_FOUND.with("program", program.as_str());
    Some(match scene.world.untrusted_program_folder(program) {
        None => missing,
        Some(folder) => exec::NOT_FOUND_HERE
            .with("program", program.as_str())
            .with("folder", folder.display().to_string()),
    })
}
