//! Claude Code: one file a session, one line a block, in Anthropic's form.

use std::collections::HashSet;

use serde_json::Value;

use super::session_reader::{
    ImportedSession, LostPart, SessionReader, action, items, json_lines, text_of,
};

pub fn read(bytes: &[u8]) -> ImportedSession {
    let mut reader = SessionReader::default();
    let lines = json_lines(bytes, &mut reader);
    let branch = Branch::of(&lines);
    for line in &lines {
        reader.set_time(line.get("timestamp"));
        let session = &mut reader.session;
        if session.id.is_empty() {
            session.id = text_of(line, "sessionId").to_owned();
        }
        if session.folder.is_empty() {
            session.folder = text_of(line, "cwd").to_owned();
        }
        let is_hidden = ["isMeta", "isCompactSummary", "isApiErrorMessage"]
            .iter()
            .any(|field| line.get(*field) == Some(&Value::Bool(true)));
        match text_of(line, "type") {
            _ if line.get("isSidechain") == Some(&Value::Bool(true)) => {
                reader.lose(LostPart::Subagent);
            }
            "user" | "assistant" if is_hidden || !branch.has(line) => {}
            "user" => user(line.get("message").unwrap_or(line), &mut reader),
            "assistant" => assistant(line.get("message").unwrap_or(line), &mut reader),
            "summary" => session.title = Some(text_of(line, "summary").to_owned()),
            "custom-title" => session.title = Some(text_of(line, "customTitle").to_owned()),
            "ai-title" => session.title = Some(text_of(line, "aiTitle").to_owned()),
            "" => reader.lose(LostPart::Unread),
            // Its own notes.
            _ => {}
        }
    }
    reader.finish()
}

/// What the client itself puts into the user's messages.
const OWN_TEXTS: &[&str] =
    &["<command-", "<local-command-", "<bash-", "<task-notification", "Caveat: The messages below"];

fn user(message: &Value, reader: &mut SessionReader) {
    if let Some(text) = message.get("content").and_then(Value::as_str) {
        return user_text(text, reader);
    }
    for block in items(message, "content") {
        match text_of(block, "type") {
            "text" => user_text(text_of(block, "text"), reader),
            "tool_result" => {
                let output = output(block, reader);
                let failed = block.get("is_error") == Some(&Value::Bool(true));
                reader.result(text_of(block, "tool_use_id"), &output, Some(i32::from(failed)));
            }
            "image" | "document" => reader.lose(LostPart::Image),
            _ => reader.lose(LostPart::Unread),
        }
    }
}

fn user_text(text: &str, reader: &mut SessionReader) {
    let text = without_reminders(text);
    if !OWN_TEXTS.iter().any(|own| text.trim_start().starts_with(own)) {
        reader.user(&text);
    }
}

/// The text without what the client reminds its model of.
fn without_reminders(text: &str) -> String {
    let mut parts = text.split("<system-reminder>");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest =
        parts.map(|part| part.split_once("</system-reminder>").map_or("", |(_, after)| after));
    rest.fold(first, |text, after| text + after)
}

fn output(block: &Value, reader: &mut SessionReader) -> String {
    if let Some(text) = block.get("content").and_then(Value::as_str) {
        return without_reminders(text);
    }
    let mut texts = Vec::new();
    for part in items(block, "content") {
        match text_of(part, "type") {
            "text" => texts.push(without_reminders(text_of(part, "text"))),
            _ => reader.lose(LostPart::Image),
        }
    }
    texts.join("\n")
}

fn assistant(message: &Value, reader: &mut SessionReader) {
    if let Some(text) = message.get("content").and_then(Value::as_str) {
        return reader.assistant(text);
    }
    for block in items(message, "content") {
        match text_of(block, "type") {
            "text" => reader.assistant(text_of(block, "text")),
            "tool_use" => {
                let input = block.get("input").unwrap_or(&Value::Null);
                reader.call(text_of(block, "id"), action(text_of(block, "name"), input));
            }
            "thinking" | "redacted_thinking" => reader.lose(LostPart::Reasoning),
            _ => reader.lose(LostPart::Unread),
        }
    }
}

/// The lines that lead to the last one: a message that was edited begins another branch.
struct Branch<'a> {
    /// `None`: all lines, because the way back is broken.
    lines: Option<HashSet<&'a str>>,
    calls: HashSet<&'a str>,
}

impl<'a> Branch<'a> {
    fn of(lines: &'a [Value]) -> Branch<'a> {
        let parents: std::collections::HashMap<&str, &Value> =
            lines.iter().map(|line| (text_of(line, "uuid"), line)).collect();
        let is_message = |line: &&Value| {
            matches!(text_of(line, "type"), "user" | "assistant")
                && line.get("isSidechain") != Some(&Value::Bool(true))
        };
        let mut branch = HashSet::new();
        let mut calls = HashSet::new();
        let mut at = lines.iter().rev().find(is_message);
        let mut is_whole = true;
        while let Some(line) = at {
            if !branch.insert(text_of(line, "uuid")) {
                break;
            }
            let message = line.get("message").unwrap_or(line);
            calls.extend(items(message, "content").iter().map(|block| text_of(block, "id")));
            let parent = text_of(line, "parentUuid");
            let parent =
                if parent.is_empty() { text_of(line, "logicalParentUuid") } else { parent };
            at = parents.get(parent).copied().filter(|_| !parent.is_empty());
            is_whole = at.is_some() || parent.is_empty();
        }
        calls.remove("");
        Branch { lines: is_whole.then_some(branch), calls }
    }

    /// Results of parallel calls are siblings, and only the last one has a successor.
    fn has(&self, line: &Value) -> bool {
        let Some(lines) = &self.lines else { return true };
        let results = items(line.get("message").unwrap_or(line), "content");
        lines.contains(text_of(line, "uuid"))
            || results.iter().any(|block| self.calls.contains(text_of(block, "tool_use_id")))
    }
}
