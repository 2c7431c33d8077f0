//! The messages a turn adds to the conversation: short forms of the replies, whole results; and the
//! record that remains after the turn.
//!
//! While the turn runs, a reply is sent as its type, its message and its proposed steps, in JSON,
//! so that a model that reads its own words keeps to the protocol.

use serde_json::{Value, json};

use crate::context::history::{ReplyKind, TurnRecord};
use crate::context::turn_compaction::{StepResultLocation, TurnIndex};
use avocet_core::i18n::{Lang, LocalizedText, exec};
use avocet_core::protocol::reply::{ParsedReply, Proposal, Reply};
use avocet_core::protocol::{
    ContentBlock, Dialect, Image, Message, Observation, Outcome, Role, StepAction, ToolResult,
    streaming,
};
use avocet_safety::{Judgement, PolicyContext};
use avocet_tools::parse;

/// How much of an invalid reply is sent back with its error, in bytes.
const FAULTY: usize = 2_000;

#[derive(Debug)]
pub struct TurnMessages {
    dialect: Dialect,
    messages: Vec<Message>,
    record: TurnRecord,
    /// Number of messages before a repair; they are truncated to it afterwards.
    before_repair: Option<usize>,
    /// The calls of the last reply, which need a result each.
    open_calls: Vec<OpenCall>,
    /// The model has read how to do without a shell.
    knows_exec: bool,
    index: TurnIndex,
}

/// A call of a tool without a result.
#[derive(Debug)]
pub struct OpenCall {
    /// The provider's id, and the name it was called by.
    pub id: String,
    pub name: String,
    pub outcome: CallOutcome,
}

/// What became of a call.
#[derive(Debug)]
pub enum CallOutcome {
    /// A step, by its id.
    Step(String),
    /// Nothing: its arguments are wrong. What the model reads of that.
    Fault(String),
    /// A thought: there is nothing to run.
    Thought,
}

impl TurnMessages {
    pub fn new(words: &str, images: Vec<Image>, dialect: Dialect) -> TurnMessages {
        let mut record = TurnRecord::default();
        record.add_user(words);
        record.add_images(&images);
        let mut message = Message::user(words);
        message.blocks.extend(images.into_iter().map(ContentBlock::Image));
        TurnMessages {
            dialect,
            messages: vec![message],
            record,
            before_repair: None,
            open_calls: Vec::new(),
            knows_exec: false,
            index: TurnIndex::default(),
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Goes on in the JSON dialect, since the server takes no tools; false if it does already.
    pub fn use_json(&mut self) -> bool {
        let changes = self.dialect == Dialect::Tools;
        self.dialect = Dialect::Json;
        self.messages.iter_mut().for_each(Message::flatten);
        self.index.steps.iter_mut().for_each(|place| place.block = Some(0));
        changes
    }

    /// Where the steps are.
    pub fn index(&self) -> &TurnIndex {
        &self.index
    }

    /// Goes on with a model of this dialect. Replies in JSON stay as they are: every model reads
    /// them.
    pub fn go_on_in(&mut self, dialect: Dialect) {
        match dialect {
            Dialect::Json => drop(self.use_json()),
            Dialect::Tools if self.messages.len() == 1 => self.dialect = Dialect::Tools,
            Dialect::Tools => {}
        }
    }

    /// The record that remains.
    pub fn record(&self) -> TurnRecord {
        let mut record = self.record.clone();
        match self.dialect {
            Dialect::Tools => record.keep_messages(self.messages.clone()),
            Dialect::Json => record.keep_short_messages(&self.messages),
        }
        record
    }

    /// Adds a reply as it came, with its calls.
    pub fn add_native(&mut self, blocks: Vec<ContentBlock>, message: &str, calls: Vec<OpenCall>) {
        self.forget_repair();
        let kind = if calls.is_empty() { ReplyKind::Chat } else { ReplyKind::Cmd };
        self.push_own(Message { role: Role::Assistant, blocks });
        self.record.add_reply(kind, message);
        self.open_calls = calls;
    }

    /// Adds a message with calls or results in the way this dialect writes them.
    fn push_own(&mut self, mut message: Message) {
        if self.dialect == Dialect::Json {
            message.flatten();
        }
        self.messages.push(message);
    }

    /// Gives each call that is still open a result, so that the next request is valid.
    pub fn close_calls(&mut self) {
        if !self.open_calls.is_empty() {
            self.add_results(&[]);
        }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Whether the model is quoting: the text occurs in a user message or a result of this turn,
    /// ignoring line numbers, fences and white space.
    pub fn has_given(&self, text: &str) -> bool {
        let quoted = without_layout(text);
        let given = self.messages.iter().filter(|message| message.role == Role::User);
        let mut texts = given.flat_map(|message| &message.blocks).filter_map(|block| match block {
            ContentBlock::Text(text) => Some(&text.text),
            ContentBlock::ToolResult(result) => Some(&result.content),
            ContentBlock::ToolCall(_) | ContentBlock::Reasoning(_) | ContentBlock::Image(_) => None,
        });
        !quoted.is_empty() && texts.any(|text| without_layout(text).contains(&quoted))
    }

    pub fn is_repairing(&self) -> bool {
        self.before_repair.is_some()
    }

    pub fn add_chat(&mut self, message: &str) {
        match self.dialect {
            Dialect::Json => self.push_reply(&json!({ "type": "chat", "message": message })),
            Dialect::Tools => self.push_text(message),
        }
        self.record.add_reply(ReplyKind::Chat, message);
    }

    pub fn add_error(&mut self, message: &str) {
        match self.dialect {
            Dialect::Json => self.push_reply(&json!({ "type": "error", "message": message })),
            Dialect::Tools => self.push_text(message),
        }
        self.record.add_reply(ReplyKind::Error, message);
    }

    pub fn add_cmd(&mut self, message: &str, cwd: Option<&str>, commands: &[Proposal]) {
        let commands: Vec<Value> = commands.iter().map(proposal_json).collect();
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
        let fault = fault.text(Lang::En);
        let text = avocet_core::text::cut_middle(text, FAULTY);
        // Some servers refuse an empty message.
        let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
        self.messages.push(Message::assistant(text));
        // A sentence, since a small model repeats an object that it is shown.
        self.messages.push(Message::user(match self.dialect {
            Dialect::Json => format!(
                "That was no valid reply: {fault} Answer again with one JSON object of type chat, \
                 cmd or error, and nothing else."
            ),
            Dialect::Tools => format!("{fault} Answer the user, or call a tool."),
        }));
    }

    /// Removes an invalid reply and its error when no valid one arrived.
    pub fn forget_repair(&mut self) {
        if let Some(before) = self.before_repair.take() {
            self.messages.truncate(before);
        }
    }

    /// Adds the results, one line each, as specified in 001 §10.2.
    pub fn add_results(&mut self, seen: &[Observation]) {
        let calls = std::mem::take(&mut self.open_calls);
        let is_native = !calls.is_empty();
        let message = self.messages.len();
        let images = seen.iter().flat_map(|seen| &seen.images).cloned().map(ContentBlock::Image);
        if is_native {
            let (own, mut blocks) = results_message(calls, seen);
            if !self.knows_exec {
                self.knows_exec = add_exec_form(&own, seen, &mut blocks);
            }
            blocks.extend(images);
            for (block, id) in own {
                let block = if self.dialect == Dialect::Tools { block } else { 0 };
                self.index.steps.extend(place(seen, message, Some(block), &id));
            }
            self.push_own(Message { role: Role::User, blocks });
        } else if !seen.is_empty() {
            let lines: Vec<String> =
                seen.iter().map(|seen| seen.tool_result().to_string()).collect();
            let mut results = Message::user(lines.join("\n"));
            results.blocks.extend(images);
            self.messages.push(results);
            for one in seen {
                self.index.steps.extend(place(seen, message, None, &one.step.id));
            }
        }
        if is_native || !seen.is_empty() {
            self.record.add_steps(seen);
        }
    }

    /// Asks for the next reply, after the results.
    pub fn add_continue(&mut self) {
        match self.messages.last() {
            Some(last) if last.has_results() => {}
            _ => self.append_to_results(&json!({ "_event": "continue" })),
        }
    }

    /// Adds the user's message in the middle of a turn, after the results.
    pub fn add_steering(&mut self, words: &str) {
        self.record.add_user(words);
        match self.messages.last_mut() {
            // Apart from the results, which may be shortened.
            Some(last) if last.has_results() => last.blocks.push(ContentBlock::text(words)),
            Some(last) if last.role == Role::User => last.push_text("\n\n", words),
            _ => self.messages.push(Message::user(words)),
        }
        self.index.words.push((self.messages.len() - 1, words.to_owned()));
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
        self.push_text(&reply.to_string());
    }

    fn push_text(&mut self, text: &str) {
        self.forget_repair();
        self.messages.push(Message::assistant(text));
    }
}

/// The text without line numbers, fence lines and white space.
fn without_layout(text: &str) -> String {
    let is_fence = |line: &&str| {
        line.strip_prefix("```").is_some_and(|tag| tag.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    let bare = text.lines().map(|line| {
        let line = line.trim();
        let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        after_number.strip_prefix('\t').unwrap_or(line)
    });
    let bare = bare.filter(|line| !is_fence(line));
    bare.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

fn place(
    seen: &[Observation],
    message: usize,
    block: Option<usize>,
    id: &str,
) -> Option<StepResultLocation> {
    let line = seen.iter().find(|seen| seen.step.id == id)?.step.work.short_line();
    Some(StepResultLocation { message, block, id: id.to_owned(), line })
}

/// A result for each call, in the order of the calls; steps that no call proposed follow as text.
/// With the blocks of the steps.
fn results_message(
    calls: Vec<OpenCall>,
    seen: &[Observation],
) -> (Vec<(usize, String)>, Vec<ContentBlock>) {
    let mut blocks = Vec::with_capacity(calls.len());
    let mut own: Vec<(usize, String)> = Vec::new();
    for OpenCall { id, name, outcome } in calls {
        let (content, is_error) = match &outcome {
            CallOutcome::Fault(fault) => (fault.clone(), true),
            CallOutcome::Thought => ("(noted)".to_owned(), false),
            CallOutcome::Step(step) => {
                own.push((blocks.len(), step.clone()));
                match seen.iter().find(|seen| seen.step.id == *step) {
                    Some(seen) => (seen.result_text(), !seen.succeeded() && !seen.runs_on()),
                    None => ("Not run.".to_owned(), true),
                }
            }
        };
        blocks.push(ContentBlock::ToolResult(ToolResult { call: id, name, content, is_error }));
    }
    for seen in seen {
        if own.iter().all(|(_, id)| *id != seen.step.id) {
            own.push((blocks.len(), seen.step.id.clone()));
            let line = seen.step.work.short_line();
            blocks.push(ContentBlock::text(format!("{line}\n{}", seen.result_text())));
        }
    }
    (own, blocks)
}

/// Says once how a line would have been a call of `exec`; false where none could have been.
fn add_exec_form(
    own: &[(usize, String)],
    seen: &[Observation],
    blocks: &mut [ContentBlock],
) -> bool {
    for (block, id) in own {
        let form = seen.iter().find(|seen| seen.step.id == *id).and_then(exec_form);
        let (Some(form), Some(ContentBlock::ToolResult(result))) = (form, blocks.get_mut(*block))
        else {
            continue;
        };
        // Where a shell is offered, it may be used.
        if result.name != "shell" {
            result.content.push_str(&format!("\n[Without a shell: exec {form}]"));
            return true;
        }
    }
    false
}

/// The arguments of `exec` that do the same as a line of one plain command.
fn exec_form(observation: &Observation) -> Option<Value> {
    let StepAction::Exec { program, args } = &observation.step.work else { return None };
    let line = parse::shell_line(program, args)?;
    let is_plain = observation.outcome == Outcome::Ran && !line.contains("&&");
    let command = parse::split_simple_command(line).filter(|_| is_plain)?;
    Some(json!({ "program": command.program, "args": command.args }))
}

/// The readable part of an answer that is not acted on: the message of a reply, or prose. Raw JSON
/// is never shown; `None` if there is nothing else.
pub fn readable_part(parsed_reply: &ParsedReply, text: &str) -> Option<String> {
    let message = match parsed_reply {
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

/// Prose that is an answer although it is not the protocol: JSON that was asked for gets a
/// fence. `None`: a reply was begun and broke, or the model repeats what it was sent.
pub fn prose_answer(reply: &ParsedReply) -> Option<String> {
    let ParsedReply::Fallback { text } = reply else { return None };
    let text = text.trim();
    let is_json = serde_json::from_str::<Value>(text).is_ok();
    let is_begun = text.starts_with(['{', '`']) && has_open_json(text);
    let is_ours = text.is_empty() || text.starts_with("<think>") || text.contains("\"_event\"");
    if is_begun || is_ours {
        return None;
    }
    let is_list = is_json && text.starts_with(['{', '[']);
    Some(if is_list { format!("```json\n{text}\n```") } else { text.to_owned() })
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

/// Whether an object was begun and the text ends within its message: a string after a whole message
/// may be lost.
pub fn ends_in_its_message(text: &str) -> bool {
    let text = text.trim_end();
    let Some(begin) = text.find('{').filter(|_| !text.ends_with(['}', '`'])) else { return false };
    // Where the string begins that is open.
    let mut open = None;
    let mut is_escaped = false;

    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < begin) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = open.is_some(),
            '"' => open = if open.is_some() { None } else { Some(at) },
            _ => {}
        }
    }
    let before = open.and_then(|at| text.get(..at)).unwrap_or_default().trim_end();
    before.strip_suffix(':').is_some_and(|key| key.trim_end().ends_with("\"message\""))
}

fn text_before_json(text: &str) -> &str {
    let begins = ["```json", "{"];
    let end = begins.iter().filter_map(|begin| text.find(begin)).min();
    end.map_or(text, |end| text.split_at(end).0)
}

/// The observation of a step that was judged but did not run.
pub fn not_run_observation(
    judged: &Judgement,
    outcome: Outcome,
    text: Option<LocalizedText>,
) -> Observation {
    let cwd = judged.cwd.display().to_string();
    let seen = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    Observation { note: text, ..seen }
}

/// A step as the protocol writes it, with a folder of its own.
fn proposal_json(proposal: &Proposal) -> Value {
    let mut json = action_json(&proposal.work);
    if let Some(cwd) = &proposal.cwd {
        json["cwd"] = json!(cwd);
    }
    json
}

fn action_json(action: &StepAction) -> Value {
    match action {
        StepAction::Exec { program, args } => json!({ "program": program, "args": args }),
        StepAction::Tool { name, input } => json!({ "tool": name, "input": input }),
        StepAction::Shell { line } => json!({ "line": line }),
    }
}
/// Why a program cannot be started at all; `None` if it exists, or if the step is not a program.
pub fn missing_program_reason(judged: &Judgement, cx: PolicyContext<'_>) -> Option<LocalizedText> {
    let StepAction::Exec { program, .. } = &judged.step.work else { return None };
    if judged.program.is_some() || program.contains('/') {
        return None;
    }
    let missing = exec::NOT_FOUND.with("program", program.as_str());
    Some(match cx.world.untrusted_program_folder(program) {
        None => missing,
        Some(folder) => exec::NOT_FOUND_HERE
            .with("program", program.as_str())
            .with("folder", folder.display().to_string()),
    })
}
