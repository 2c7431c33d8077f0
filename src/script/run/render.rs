//! Turns messages as written into messages as sent: fills in calls and regular expressions, renders
//! the template, then asks the model for missing replies. Filled-in text is never parsed again.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::error::{Location, ScriptResult, quoted};
use super::super::host::ScriptEvent;
use super::super::output;
use super::super::template::{self, Format, Functions, Rendered};
use super::super::text::{Bias, MessageText, RegexPlaceholder, RenderedText, args, regex, roles};
use super::dialogue::{DialogueMessage, MessageBody, RenderMode, SystemParts};
use super::fill_placeholders::fill_placeholders;
use super::frame::{Frame, MAX_TEXT, ScriptRun};
use super::js::call_template_function;
use super::limits::limit_error;
use super::multi_role::answer_as_roles;
use super::scope::{text_of, texts_of};
use avocet_core::i18n::script_run as phrases;

impl ScriptRun {
    /// Renders every pending message, in order, and asks the model where a mark requires it.
    pub async fn flush(&mut self, frame: &mut Frame) -> ScriptResult {
        match frame.dialogue.messages.iter().rposition(DialogueMessage::is_pending) {
            Some(last) => flush_to(self, frame, last + 1).await,
            None => Ok(()),
        }
    }

    /// The same, but only up to the last mark that waits: the next instruction may read a reply,
    /// while rendering can wait.
    pub async fn flush_placeholders(&mut self, frame: &mut Frame) -> ScriptResult {
        let waits = frame.dialogue.messages.iter().rposition(needs_early_flush);
        match waits {
            Some(last) => flush_to(self, frame, last + 1).await,
            None => Ok(()),
        }
    }
}

fn flush_to<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    end: usize,
) -> BoxFuture<'a, ScriptResult> {
    Box::pin(async move {
        if frame.dialogue.is_flushing {
            // A call inside a message flushes nothing: that message is being rendered.
            return Ok(());
        }
        frame.dialogue.is_flushing = true;
        let came = flush_messages(run, frame, end).await;
        frame.dialogue.is_flushing = false;
        came
    })
}

async fn flush_messages(run: &mut ScriptRun, frame: &mut Frame, end: usize) -> ScriptResult {
    for at in 0..end.min(frame.dialogue.messages.len()) {
        if !frame.dialogue.messages.get(at).is_some_and(DialogueMessage::is_pending) {
            continue;
        }
        let spot = frame.dialogue.messages.get(at).and_then(|line| line.location.clone());
        flush_message(run, frame, at).await.map_err(|halt| match &spot {
            Some(spot) => halt.or_location(&spot.file, spot.position),
            None => halt,
        })?;
    }
    Ok(())
}

async fn flush_message(run: &mut ScriptRun, frame: &mut Frame, at: usize) -> ScriptResult {
    let Some(mut line) = frame.dialogue.messages.get(at).cloned() else { return Ok(()) };
    render_message(run, frame, &mut line).await?;
    let text = line.text();
    if !line.is_pending() && !text.trim().is_empty() {
        run.host.emit(ScriptEvent::Message(line.role.clone(), text));
    }
    let addressed = !line.addressees.is_empty();
    if let Some(place) = frame.dialogue.messages.get_mut(at) {
        *place = line;
    }
    fill_placeholders(run, frame, at).await?;
    if addressed { answer_as_roles(run, frame, at).await } else { Ok(()) }
}

/// Renders one message; replies of the model are still missing.
pub async fn render_message(
    run: &mut ScriptRun,
    frame: &mut Frame,
    message: &mut DialogueMessage,
) -> ScriptResult {
    let locals = std::mem::replace(&mut frame.values.locals, message.locals.clone());
    let was = std::mem::replace(&mut frame.dialogue.is_flushing, true);
    let place = (Arc::clone(&frame.file), frame.position);
    if let Some(Location { file, position }) = &message.location {
        (frame.file, frame.position) = (Arc::from(file.as_str()), *position);
    }
    let came = render_body(run, frame, message).await;
    (frame.file, frame.position) = place;
    frame.dialogue.is_flushing = was;
    frame.values.locals = locals;
    came
}

async fn render_body(
    run: &mut ScriptRun,
    frame: &mut Frame,
    message: &mut DialogueMessage,
) -> ScriptResult {
    match message.body.clone() {
        MessageBody::Rendered(_) | MessageBody::Parts(_) => {}
        MessageBody::PendingParts(value) => {
            message.body = MessageBody::Parts(render_parts(run, frame, &value).await?)
        }
        MessageBody::Pending { text, how } => {
            let (text, how) = match how {
                RenderMode::Expression => match run.evaluate_or_note(frame, &text).await? {
                    Some(value) => match template_of_value(&text, &text_of(&value)) {
                        Some(template) => (template, RenderMode::Template),
                        None => {
                            message.body =
                                MessageBody::Rendered(RenderedText::literal(text_of(&value)));
                            return Ok(());
                        }
                    },
                    None => (format!("?={text}"), RenderMode::Marks),
                },
                how => (text, how),
            };
            let text = match how {
                RenderMode::Verbatim => text,
                _ => render_addressee(run, frame, &text).await?,
            };
            let text = take_addressees(frame, message, &text);
            if how == RenderMode::Verbatim {
                message.body = MessageBody::Rendered(RenderedText::literal(text));
                return Ok(());
            }
            let (settled, bias) = render_text(run, frame, &text, how).await?;
            message.body = MessageBody::Rendered(settled);
            message.bias = bias;
        }
    }
    Ok(())
}

/// The template that the value of an expression is: after `#`, and after the `!` of a text that a
/// function returns.
fn template_of_value(expression: &str, value: &str) -> Option<String> {
    let is_call =
        expression.trim_start().starts_with('$') && args::parse_call(expression).is_some();
    let now = value.strip_prefix('!').filter(|_| is_call);
    let written = value.strip_prefix('#').filter(|_| writes_sign(expression, '#'));
    written.or(now).map(str::to_owned)
}

/// Whether the sign that a value begins with may come from the expression or a function of the
/// script. That of a variable is data: a reply of a model may well begin with a heading.
pub fn writes_sign(expression: &str, sign: char) -> bool {
    expression.contains([sign, '$'])
}

/// `@{{who}}, text`: the name is rendered first, if it is that of a role.
async fn render_addressee(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult<String> {
    let gap = text.trim_start().strip_prefix("@{{").and_then(|rest| rest.split_once("}}"));
    let Some((name, rest)) = gap.filter(|_| !frame.manifest.roles().is_empty()) else {
        return Ok(text.to_owned());
    };
    let role = render(run, frame, &format!("{{{{{name}}}}}")).await?;
    Ok(if role == "all" || frame.manifest.roles().contains_key(&role) {
        format!("@{role}{rest}")
    } else {
        text.to_owned()
    })
}

/// Renders one text of the author, except for the parts that need the model.
async fn render_text(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
    mode: RenderMode,
) -> ScriptResult<(RenderedText, Vec<Bias>)> {
    let mut draft = MessageText::read(text);
    let bias = draft.bias().to_vec();
    fill_marks(run, frame, &mut draft).await?;
    if mode == RenderMode::Marks {
        return Ok((draft.into_unrendered(), bias));
    }
    let sealed = draft.mask();
    let rendered = render(run, frame, sealed.template()).await?;
    Ok((sealed.unmask(&rendered), bias))
}

/// Fills in the results of calls and regular expressions.
pub async fn fill_marks(
    run: &mut ScriptRun,
    frame: &mut Frame,
    message_text: &mut MessageText,
) -> ScriptResult {
    while let Some((at, invoke)) = message_text.next_call().map(|(at, it)| (at, it.clone())) {
        let value = run.invoke(frame, &invoke).await?;
        let text = text_of(&value);
        if text.len() > MAX_TEXT {
            return Err(limit_error(phrases::TEXT_TOO_LONG.with("most", MAX_TEXT >> 20)));
        }
        message_text.fill(at, text);
    }
    while let Some((at, pattern)) = message_text.next_pattern().map(|(at, it)| (at, it.clone())) {
        let value = frame.values.get_path(&pattern.variable).unwrap_or(Value::Null);
        let found = first_match(&pattern, &text_of(&value))?;
        message_text.fill(at, found);
    }
    Ok(())
}

/// Renders a template with everything the script knows.
pub async fn render(run: &mut ScriptRun, frame: &mut Frame, text: &str) -> ScriptResult<String> {
    let format = match frame.values.option("templateFormat") {
        Some(Value::String(name)) => {
            Format::parse(&name).ok_or_else(|| phrases::NO_FORMAT.with("name", quoted(&name)))?
        }
        _ => Format::default(),
    };
    if format.is_plain(text) {
        return Ok(text.to_owned());
    }
    let mut data = template_data(frame);
    let mut left = MAX_SETTINGS;
    render_settings(frame, format, text, &mut data, &mut left);
    let data = Value::Object(data);
    let mut functions = Functions::new(frame.bindings.template_names());
    loop {
        match template::render_with(format, text, &data, &functions)? {
            Rendered::Done(text) => return Ok(text),
            Rendered::NeedsCall(call) => {
                let value =
                    call_template_function(run, frame, &call.name, call.args.clone()).await?;
                functions.add_result(call, value.unwrap_or(Value::Null));
            }
        }
    }
}

/// Maximum number of settings that are rendered for one text.
const MAX_SETTINGS: usize = 32;

/// Renders the settings that a template names and that are templates themselves:
/// `description: "I am {{name}}"`. Only what the author wrote in the settings is a template; a
/// value from outside, or one that was set meanwhile, is inserted as it is.
fn render_settings(
    frame: &Frame,
    format: Format,
    text: &str,
    data: &mut Map<String, Value>,
    left: &mut usize,
) {
    let config = &frame.manifest.config;
    let prompt = config.get("prompt").and_then(Value::as_object).into_iter().flatten();
    for (name, setting) in config.iter().chain(prompt) {
        let Some(template) = setting.as_str().filter(|template| template.contains("{{")) else {
            continue;
        };
        let is_current = data.get(name) == Some(setting);
        if *left == 0 || !is_current || !text.contains(name.as_str()) {
            continue;
        }
        *left -= 1;
        let mut inner = data.clone();
        inner.shift_remove(name);
        render_settings(frame, format, template, &mut inner, left);
        let functions = Functions::new(frame.bindings.template_names());
        let rendered = template::render_with(format, template, &Value::Object(inner), &functions);
        // What cannot be rendered stays as it was written.
        if let Ok(Rendered::Done(text)) = rendered {
            data.insert(name.clone(), Value::String(text));
        }
    }
}

/// A structured system message, with each of its texts rendered.
async fn render_parts(
    run: &mut ScriptRun,
    frame: &mut Frame,
    value: &Value,
) -> ScriptResult<SystemParts> {
    let mut parts = SystemParts::default();
    let Value::Object(map) = value else {
        return Err(phrases::SYSTEM_NO_PARTS.into());
    };
    for (key, value) in map {
        let mut rendered = Vec::new();
        for text in texts_of(Some(value)) {
            let (settled, _) = render_text(run, frame, &text, RenderMode::Template).await?;
            rendered.push(settled.text().trim_end_matches('\n').to_owned());
        }
        match key.as_str() {
            "background" => parts.background = rendered,
            "content" => parts.content = rendered,
            "output" => parts.output = rendered,
            "notes" => parts.notes = rendered,
            other => return Err(phrases::SYSTEM_PART.with("key", quoted(other)).into()),
        }
    }
    Ok(parts)
}

/// Whether there are marks whose results a later instruction may need.
fn needs_early_flush(message: &DialogueMessage) -> bool {
    match &message.body {
        MessageBody::Pending { text, .. } => {
            !message.addressees.is_empty()
                || text.contains("[[")
                || text.trim_start().starts_with('@')
        }
        MessageBody::Rendered(settled) => settled.next_placeholder().is_some(),
        MessageBody::PendingParts(_) | MessageBody::Parts(_) => false,
    }
}

/// Removes the `@role`s at the start of a text, and expands `@all`.
fn take_addressees(frame: &Frame, message: &mut DialogueMessage, text: &str) -> String {
    let roles = frame.manifest.roles();
    if roles.is_empty() {
        return text.to_owned();
    }
    let is_role = |name: &str| name == "all" || roles.contains_key(name);
    let (to, rest) = roles::parse_leading(text, is_role);
    message.addressees.extend(to);
    let mut named = Vec::new();
    for to in std::mem::take(&mut message.addressees) {
        let names = match to.role.as_str() {
            "all" => roles.keys().filter(|name| **name != message.role).cloned().collect(),
            _ => vec![to.role.clone()],
        };
        for role in names {
            if named.iter().all(|addressee: &roles::Addressee| addressee.role != role) {
                named.push(roles::Addressee { role, arg: to.arg.clone() });
            }
        }
    }
    message.addressees = named;
    rest.to_owned()
}

/// The data of templates. The output is described in words, unless the script asks for the schema;
/// so is one that another script has passed on, as in `-> json(output=output)`.
fn template_data(frame: &Frame) -> Map<String, Value> {
    let mut data = frame.values.scope();
    let is_schema = |map: &Map<String, Value>| {
        ["type", "properties", "items"].iter().any(|key| map.contains_key(*key))
    };
    let described = match data.get("output") {
        Some(output) if Some(output) == frame.manifest.output() => frame.described_output(),
        Some(output @ Value::Object(map)) if is_schema(map) && frame.describes_output() => {
            Some(output::describe(output))
        }
        _ => None,
    };
    data.extend(described.map(|text| ("output".to_owned(), Value::String(text))));
    data
}

/// The match of a regular expression in a text; the whole text if nothing matches.
fn first_match(mark: &RegexPlaceholder, text: &str) -> ScriptResult<String> {
    let Some(found) = regex::captures(&mark.source, &mark.flags, text)? else {
        return Ok(text.to_owned());
    };
    let group = match &mark.group {
        None => found.get(1).or_else(|| found.get(0)),
        Some(group) => match group.parse::<usize>() {
            Ok(number) => found.get(number),
            Err(_) => found.name(group),
        },
    };
    Ok(group.map_or_else(|| text.to_owned(), |group| group.as_str().to_owned()))
}
