//! What a turn adds to the conversation: short forms of the replies, whole results.
//!
//! A reply is kept as its type, its message and what it wanted to run, in JSON, so that
//! a model that reads its own words keeps to the protocol.

use serde_json::{Value, json};

use crate::context::digest;
use crate::protocol::reply::Proposal;
use crate::protocol::{Message, Observation, Work};
use crate::words::{Lang, Say};

/// How much of a faulty reply is sent back with its fault, in bytes.
const FAULTY: usize = 2_000;

#[derive(Debug)]
pub struct Said {
    messages: Vec<Message>,
    /// How many messages stood here before a repair; they are cut back to it.
    before_repair: Option<usize>,
}

impl Said {
    pub fn new(words: &str) -> Said {
        Said { messages: vec![Message::user(words)], before_repair: None }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn is_repairing(&self) -> bool {
        self.before_repair.is_some()
    }

    pub fn chat(&mut self, message: &str) {
        self.assistant(&json!({ "type": "chat", "message": message }));
    }

    pub fn error(&mut self, message: &str) {
        self.assistant(&json!({ "type": "error", "message": message }));
    }

    pub fn cmd(&mut self, message: &str, cwd: Option<&str>, commands: &[Proposal]) {
        let commands: Vec<Value> = commands.iter().map(|proposal| short(&proposal.work)).collect();
        let mut data = json!({});
        if let Some(cwd) = cwd {
            data["cwd"] = json!(cwd);
        }
        data["commands"] = json!(commands);
        self.assistant(&json!({ "type": "cmd", "message": message, "data": data }));
    }

    /// The faulty reply and what is wrong with it; both are gone once a valid one came.
    pub fn repair(&mut self, text: &str, fault: &Say) {
        self.before_repair = Some(self.messages.len());
        self.messages.push(Message::assistant(digest::cut_middle(text, FAULTY)));
        let event = json!({
            "_event": "repair",
            "fault": fault.text(Lang::En),
            "expected": "one JSON object of type chat, cmd or error, and nothing else",
        });
        self.messages.push(Message::user(event.to_string()));
    }

    /// One line a result, as 001 §10.2 has it.
    pub fn results(&mut self, seen: &[Observation]) {
        if !seen.is_empty() {
            let lines: Vec<String> =
                seen.iter().map(|seen| seen.tool_result().to_string()).collect();
            self.messages.push(Message::user(lines.join("\n")));
        }
    }

    /// Asks for what comes next, behind the results.
    pub fn go_on(&mut self) {
        self.behind_results(&json!({ "_event": "continue" }));
    }

    /// Says that the user stopped here.
    pub fn cancelled(&mut self) {
        self.behind_results(&json!({ "_event": "cancelled_by_user" }));
    }

    fn behind_results(&mut self, event: &Value) {
        match self.messages.last_mut() {
            Some(last) if last.role == crate::protocol::Role::User => {
                last.content.push('\n');
                last.content.push_str(&event.to_string());
            }
            _ => self.messages.push(Message::user(event.to_string())),
        }
    }

    fn assistant(&mut self, reply: &Value) {
        if let Some(before) = self.before_repair.take() {
            self.messages.truncate(before);
        }
        self.messages.push(Message::assistant(reply.to_string()));
    }
}

fn short(work: &Work) -> Value {
    match work {
        Work::Exec { program, args } => json!({ "program": program, "args": args }),
        Work::Tool { name, input } => json!({ "tool": name, "input": input }),
        Work::Shell { line } => json!({ "line": line }),
    }
}
