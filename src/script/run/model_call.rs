//! One call of a model: the messages it gets, its settings, and the stream with its continuations.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::super::error::{ErrorCause, LocatedError, Location, ScriptFlow, ScriptResult, quoted};
use super::super::host::{AnswerHead, AnswerPart, ModelCall, ScriptEvent};
use super::super::text::Placeholder;
use super::super::{output, tool_protocol};
use super::dialogue::{DialogueMessage, SystemParts, Titles, View, messages};
use super::frame::{Frame, MAX_TEXT, ScriptRun};
use super::limits::limit_error;
use super::params::{self, ModelCallSettings};
use super::reasoning::{self, ThinkPlan};
use super::scope::text_of;
use avocet_core::deadline::Allowance;
use avocet_core::i18n::{Localize, LocalizedText, script_run as phrases};
use avocet_core::protocol::{Message, Truncation};

/// How often the model is asked when its reply is not one of the choices.
pub const TRIES: usize = 3;

/// The model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptReply {
    /// The answer, without the reasoning.
    pub text: String,
    pub reasoning: Option<String>,
    pub cut: Option<Truncation>,
    /// The value of a role's answer, in the form its own script asks for.
    pub value: Option<Value>,
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyUse {
    #[default]
    Answer,
    /// The model may name calls of tools instead, which are not shown.
    AnswerOrCalls,
    /// An internal text call of the script: not streamed to the user, and not JSON.
    Internal,
}

/// Options of one call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Parameters of this call alone.
    pub params: Map<String, Value>,
    pub reply_use: ReplyUse,
    /// Parameters of the same call for the server alone.
    pub unlisted: Map<String, Value>,
    /// The mark whose choices are the only valid answers.
    pub choice: Option<Placeholder>,
    /// The model is asked again, as its reply was not valid: no tool runs for it.
    pub is_retry: bool,
    /// The role that speaks; `None` for the script itself.
    pub role: Option<String>,
}

/// The error for a reply that is not one of the choices.
pub fn no_choice_error(placeholder: &Placeholder, reply: &str) -> ScriptFlow {
    no_choice(placeholder, reply).into()
}

/// A reply that is none of the choices.
pub fn no_choice(placeholder: &Placeholder, reply: &str) -> LocalizedText {
    let said = phrases::NO_CHOICE.with("reply", quoted(reply));
    said.with("list", quoted(&placeholder.choices.join(", ")))
}

/// The messages for the model: those above `end`, and the start of one more.
pub fn model_messages(
    frame: &Frame,
    end: usize,
    message: Option<&DialogueMessage>,
    extra: &SystemParts,
) -> ScriptResult<Vec<Message>> {
    let titles = system_titles(frame);
    let view = View { own_name: frame.manifest.name(), titles: &titles };
    let mut extra = extra.clone();
    if frame.values.flag("autoBuildOutputPrompt").unwrap_or(true) {
        extra.output.extend(frame.described_output());
    }
    if let Some(plan) = reasoning::think_plan(&frame.values) {
        extra.notes.extend(plan.prompt(&Value::Object(frame.values.scope()))?);
    }
    let lines = frame.dialogue.messages.iter().take(end).chain(message);
    Ok(messages(lines, &view, &extra))
}

/// Calls the model until its answer is complete.
pub async fn complete(
    run: &mut ScriptRun,
    frame: &mut Frame,
    messages: Vec<Message>,
    options: CallOptions,
) -> ScriptResult<ScriptReply> {
    let is_internal = options.reply_use == ReplyUse::Internal;
    let plan = reasoning::think_plan(&frame.values).filter(|_| !is_internal);
    let forced = has_required_format(frame) && !is_internal;
    report_params(run, frame, &options.params);
    let settings = params::model_call_settings(&frame.values, &options.params, forced);
    let mut call = ModelCall {
        messages,
        params: settings.params.clone(),
        schema: None,
        sample: options.choice.as_ref().and_then(|ask| ask.choices.first()).cloned(),
    };
    params::add_unlisted(&options.unlisted, &mut call.params.more);
    // No server answers that.
    if call.messages.is_empty() {
        return Err(phrases::NO_MESSAGES.into());
    }
    let biases = frame.dialogue.messages.iter().flat_map(|line| &line.bias);
    if let Some(biases) = params::logit_bias(biases) {
        call.params.more.entry("logit_bias").or_insert(biases);
    }
    if !is_internal {
        add_format(frame, &mut call, forced);
    }
    announce_request(run, frame, &call).await?;
    let emits = settings.streams && !is_internal;
    let is_on = emits && run.streams;
    let mut shown = ShownAnswer { emits, ..ShownAnswer::new(frame, &options, is_on) };
    let mut partial = PartialReply::default();
    let mut tries = 0;
    frame.dialogue.model_calls += 1;
    let cut = loop {
        run.emit(frame, "llmBefore", vec![json!({ "content": partial.text })]).await?;
        let mut this = call.clone();
        if !partial.text.is_empty() {
            this.messages.push(Message::assistant(partial.text.clone()));
        }
        let stream = ReplyStream { settings: &settings, plan: plan.as_ref(), shown: &mut shown };
        let cut = read_stream(run, frame, this, &mut partial, stream).await?;
        if cut != Some(Truncation::Length) || tries >= settings.retries {
            break cut;
        }
        tries += 1;
    };
    let mut reply = finished_reply(run, partial, plan.as_ref(), shown, cut);
    if !is_internal {
        note_incomplete(run, frame, &reply);
    }
    // A handler may give another answer.
    let given = run.emit(frame, "llm", vec![json!({ "content": reply.text })]).await?;
    if let Some(Value::String(text)) = given {
        reply.text = text;
    }
    Ok(reply)
}

/// Says that a reply is not all of an answer, which its text does not tell.
fn note_incomplete(run: &mut ScriptRun, frame: &Frame, reply: &ScriptReply) {
    let is_cut = reply.cut == Some(Truncation::Length);
    let no_answer = reply.text.trim().is_empty() && reply.reasoning.is_some();
    match (no_answer, is_cut) {
        (true, true) => note_here(run, frame, phrases::THOUGHTS_CUT),
        (true, false) => note_here(run, frame, phrases::THOUGHTS_ALONE),
        (false, true) => note_here(run, frame, phrases::ANSWER_CUT),
        (false, false) => {}
    }
}

/// A note with the place of the running instruction.
fn note_here(run: &mut ScriptRun, frame: &Frame, say: impl Into<LocalizedText>) {
    let location = Location::new(&frame.file, frame.position);
    run.host.emit_note(LocatedError::with_location(say, location).localized());
}

/// A note with the place of the running instruction, the first time that it is true of it.
pub fn note_once(run: &mut ScriptRun, frame: &mut Frame, text: LocalizedText) {
    let location = Location::new(&frame.file, frame.position);
    let said = LocatedError::with_location(text, location);
    if frame.noted_params.insert(said.to_string()) {
        run.host.emit_note(said.localized());
    }
}

/// Reports each parameter that has no effect, once in a script.
fn report_params(run: &mut ScriptRun, frame: &mut Frame, call: &Map<String, Value>) {
    let wrong: Vec<(&str, String)> = params::unusable_params(&frame.values, call)
        .into_iter()
        .map(|(name, value)| (name, text_of(value)))
        .collect();
    for (name, value) in wrong {
        if frame.noted_params.insert(format!("{name}={value}")) {
            let said = phrases::PARAMETER_VALUE.with("name", name).with("value", quoted(&value));
            note_here(run, frame, said);
        }
    }
}

/// The reply without its reasoning, with what is still to be shown of both.
fn finished_reply(
    run: &mut ScriptRun,
    partial: PartialReply,
    plan: Option<&ThinkPlan>,
    mut shown: ShownAnswer,
    truncation: Option<Truncation>,
) -> ScriptReply {
    let PartialReply { text: whole, reasoning: thought } = partial;
    let (text, thinking) = match plan {
        Some(plan) => plan.split(&whole),
        None => (whole, None),
    };
    if let (Some(plan), true) = (plan, shown.is_on) {
        if let Some(thinking) = thinking.clone().filter(|_| plan.visible) {
            shown.start(run);
            run.host.emit(ScriptEvent::Reasoning(thinking));
        }
        shown.show(run, &text);
    }
    shown.finish(run, &text);
    let reasoning = thinking.or(Some(thought)).filter(|thought| !thought.is_empty());
    ScriptReply { text, reasoning, cut: truncation, value: None }
}

/// Adds the form that the answer must have.
fn add_format(frame: &Frame, call: &mut ModelCall, is_forced: bool) {
    let (schema, format) = request_format(frame);
    call.schema = schema;
    call.params.more.extend(format.map(|format| ("response_format".to_owned(), format)));
    if is_forced && call.sample.is_none() {
        call.sample = Some(output::sample(frame.manifest.output()).to_string());
    }
}

/// Tells the script's handlers what is about to be sent.
async fn announce_request(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: &ModelCall,
) -> ScriptResult {
    let params = json!(call.params);
    run.emit(frame, "llmParams", vec![params.clone()]).await?;
    if frame.values.flag("disableLlmRequest") == Some(true) || !frame.has_handler("llmRequest") {
        return Ok(());
    }
    let messages = call.messages.iter();
    let messages: Value =
        messages.map(|it| json!({ "role": it.role, "content": it.text() })).collect();
    run.emit(frame, "llmRequest", vec![messages, params]).await.map(|_| ())
}

/// The part of an answer that the user sees while it is generated.
struct ShownAnswer {
    is_on: bool,
    /// Handlers of `llmStream` get the parts, whether they are shown or not.
    emits: bool,
    head: AnswerHead,
    has_started: bool,
    /// Only an answer that is one of its choices is shown.
    choice: Option<Placeholder>,
    /// The start of a reply that may still turn out to be a call of a tool.
    withheld: Option<String>,
}

impl ShownAnswer {
    fn new(frame: &Frame, options: &CallOptions, is_on: bool) -> ShownAnswer {
        let script = frame.manifest.id().to_owned();
        ShownAnswer {
            is_on,
            emits: is_on,
            head: AnswerHead {
                role: options.role.clone(),
                script,
                call: 0,
                is_data: has_required_format(frame),
            },
            has_started: false,
            choice: options.choice.clone(),
            withheld: (options.reply_use == ReplyUse::AnswerOrCalls).then(String::new),
        }
    }

    fn show(&mut self, run: &mut ScriptRun, text: &str) {
        // A choice is shown when it is known to be one.
        if !self.is_on || self.choice.is_some() {
            return;
        }
        let text = match self.withheld.take() {
            None => text.to_owned(),
            Some(before) => {
                let text = before + text;
                if tool_protocol::may_name_calls(&text) {
                    self.withheld = Some(text);
                    return;
                }
                text
            }
        };
        self.start(run);
        run.host.emit(ScriptEvent::Delta(text));
    }

    fn start(&mut self, run: &mut ScriptRun) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.head.call = run.limits.model_calls();
            run.host.emit(ScriptEvent::AnswerStarted(self.head.clone()));
        }
    }

    /// A withheld start is an answer after all, unless it names calls.
    fn finish(mut self, run: &mut ScriptRun, text: &str) {
        if let Some(chosen) = self.choice.take().and_then(|ask| ask.match_choices(text)) {
            self.withheld = None;
            self.show(run, &chosen);
        }
        if let Some(withheld) = self.withheld.take()
            && tool_protocol::is_answer(text)
        {
            self.show(run, &withheld);
        }
        if self.has_started {
            run.host.emit(ScriptEvent::AnswerEnded);
        }
    }
}

/// How one stream is read.
struct ReplyStream<'a> {
    settings: &'a ModelCallSettings,
    plan: Option<&'a ThinkPlan>,
    shown: &'a mut ShownAnswer,
}

/// Reads one stream to its end.
async fn read_stream(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: ModelCall,
    partial: &mut PartialReply,
    stream: ReplyStream<'_>,
) -> ScriptResult<Option<Truncation>> {
    run.limits.count_model_call()?;
    let ReplyStream { settings, plan, shown } = stream;
    let failed = |why: LocalizedText| LocatedError::new(why).caused_by(ErrorCause::Model);
    let mut allowance = Allowance::new(settings.timeout);
    frame.dialogue.aborted = false;
    let mut parts = run.host.call_model(call);
    loop {
        let part = allowance
            .wait(parts.next())
            .await
            .map_err(|_| failed(phrases::TIMED_OUT.with("seconds", settings.timeout.as_secs())))?;
        match part {
            Some(Ok(AnswerPart::Text(text))) => {
                let most = if settings.streams { settings.max_tail_repeats } else { 0 };
                let (text, repeats) = partial.extend(&text, most)?;
                if plan.is_none() {
                    shown.show(run, &text);
                }
                if shown.emits && frame.has_handler("llmStream") {
                    let part = json!({ "content": text });
                    let content = Value::String(partial.text.clone());
                    run.emit(frame, "llmStream", vec![part, content]).await?;
                }
                if std::mem::take(&mut frame.dialogue.aborted) || repeats {
                    return Ok(None);
                }
            }
            Some(Ok(AnswerPart::Reasoning(text))) => {
                partial.reasoning.push_str(&text);
                if shown.is_on && plan.is_some_and(|plan| plan.visible) {
                    shown.start(run);
                    run.host.emit(ScriptEvent::Reasoning(text));
                }
            }
            Some(Ok(AnswerPart::Usage(usage))) => {
                run.limits.add_usage(usage);
                run.host.emit(ScriptEvent::TokensUsed(usage));
            }
            Some(Ok(AnswerPart::Finished(cut))) => return Ok(cut),
            Some(Err(why)) => return Err(failed(phrases::MODEL_FAILED.with("why", why)).into()),
            None => return Ok(None),
        }
    }
}

/// The answer received so far.
#[derive(Default)]
struct PartialReply {
    text: String,
    reasoning: String,
}

impl PartialReply {
    /// Adds a text; returns the part that counts, and whether the answer ends there.
    fn extend(&mut self, text: &str, max_tail_repeats: u64) -> ScriptResult<(String, bool)> {
        let before = self.text.len();
        let repeats = self.add(text, max_tail_repeats);
        if self.text.len() > MAX_TEXT {
            return Err(limit_error(phrases::TEXT_TOO_LONG.with("most", MAX_TEXT >> 20)));
        }
        Ok((self.text.split_at(before).1.to_owned(), repeats))
    }

    /// Adds a text, up to where its tail repeats too often; whether it does.
    fn add(&mut self, text: &str, max_tail_repeats: u64) -> bool {
        // One part is usually a few letters; a long one is a server that does not stream.
        if text.len() > MAX_CHECKED {
            self.text.push_str(text);
            return params::has_repeating_tail(&self.text, max_tail_repeats);
        }
        text.chars().any(|c| {
            self.text.push(c);
            params::has_repeating_tail(&self.text, max_tail_repeats)
        })
    }
}

/// Longest part of an answer that is checked for a repeating tail at every letter, in bytes.
const MAX_CHECKED: usize = 1024;

fn has_required_format(frame: &Frame) -> bool {
    frame.values.answer_format().is_some() && frame.values.is_format_required()
}

/// The format for the server: a schema, or only that it is JSON.
fn request_format(frame: &Frame) -> (Option<Value>, Option<Value>) {
    let is_json = matches!(
        frame.values.answer_format().as_deref(),
        Some("json" | "json_object" | "json_schema")
    );
    if !is_json {
        return (None, None);
    }
    match frame.manifest.output() {
        Some(schema) => {
            let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
            (is_object.then(|| schema.clone()), None)
        }
        None => (None, Some(json!({ "type": "json_object" }))),
    }
}

/// The titles of a system message's parts, as the script sets them.
fn system_titles(frame: &Frame) -> Titles {
    let text = |name: &str| match frame.values.option(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let kind = match frame.values.answer_format().as_deref() {
        Some("json" | "json_object" | "json_schema") => "JSON".to_owned(),
        Some(other) => other.to_uppercase(),
        None => "text".to_owned(),
    };
    // Without its placeholder the title could not name the format.
    let title = text("SystemOutputTitle").filter(|title| {
        title.split("{{").skip(1).any(|gap| gap.split("}}").next().map(str::trim) == Some("type"))
    });
    let title = title.unwrap_or_else(|| "Output ({{type}}):".to_owned());
    Titles {
        notes: text("SystemNotesTitle").unwrap_or_else(|| "Notes".to_owned()),
        output: fill_type(&title, &kind),
    }
}

fn fill_type(title: &str, kind: &str) -> String {
    let mut out = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        match after.split_once("}}") {
            Some((name, tail)) if name.trim() == "type" => {
                out.push_str(kind);
                rest = tail;
            }
            _ => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}
