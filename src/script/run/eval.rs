//! Evaluates a value by its position: as an expression, a call, a text with calls in it, or plain
//! data.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::error::{CallResult, LocatedError, Location, ScriptResult, quoted};
use super::super::js::TaskOutcome;
use super::super::syntax::{ScriptValue, Tree};
use super::super::text::args::{self, Arg};
use super::super::text::prefix::{self, PrefixPosition, TextPrefix};
use super::super::text::{MessageText, interpolation};
use super::arguments::{ArgValues, CallSyntax};
use super::calls::is_callable;
use super::expression::{KnownValue, is_name, is_path};
use super::frame::{Frame, ScriptRun};
use super::js::{define_anonymous, evaluate, evaluate_condition};
use super::render::{fill_marks, render, writes_sign};
use avocet_core::i18n::{Localize, script_run as phrases};

impl ScriptRun {
    /// The value of a JavaScript expression; `None` if it is undefined.
    pub async fn evaluate_expression(&mut self, frame: &mut Frame, text: &str) -> CallResult {
        let expression = self.expressions.read(text);
        match expression.known_value(&frame.values) {
            KnownValue::Value(value) => Ok(Some(value)),
            KnownValue::Undefined => Ok(None),
            KnownValue::NeedsEngine => {
                outcome_value(text, evaluate(self, frame, expression.code()).await?)
            }
        }
    }

    /// The same; the user is warned of a name that nothing sets.
    pub async fn evaluate_or_note(&mut self, frame: &mut Frame, text: &str) -> CallResult {
        let expression = self.expressions.read(text);
        let unknown = match expression.known_value(&frame.values) {
            KnownValue::Value(value) => return Ok(Some(value)),
            // As in the engine, an input without a value is null.
            KnownValue::Undefined if frame.manifest.has_input(text.trim()) => {
                return Ok(Some(Value::Null));
            }
            KnownValue::Undefined => text.trim().to_owned(),
            KnownValue::NeedsEngine => match evaluate(self, frame, expression.code()).await? {
                TaskOutcome::Unknown(name) => name,
                // A missing field of what is known, or a call without a value.
                TaskOutcome::Undefined => return Ok(Some(Value::Null)),
                outcome => return outcome_value(text, outcome),
            },
        };
        let said = phrases::NAME_NOT_SET.with("text", quoted(text)).with("name", quoted(&unknown));
        let location = Location::new(&frame.file, frame.position);
        self.host.emit_note(LocatedError::with_location(said, location).localized());
        Ok(None)
    }

    /// Whether a condition is true. A condition is an expression, with or without `?=`.
    pub async fn is_condition_true(
        &mut self,
        frame: &mut Frame,
        script_value: &ScriptValue,
    ) -> ScriptResult<bool> {
        let value = match script_value.as_text() {
            Some(text) => {
                let text = text.strip_prefix("?=").unwrap_or(text);
                if ["[[@", "[[/"].iter().any(|mark| text.trim_start().starts_with(mark)) {
                    let value = self.evaluate_text(frame, text).await?;
                    return Ok(super::scope::is_truthy(&value));
                }
                let text = fill_interpolations(self, frame, text).await?;
                let expression = self.expressions.read(&text);
                let value = match expression.known_value(&frame.values) {
                    KnownValue::Value(value) => Some(value),
                    KnownValue::Undefined => None,
                    KnownValue::NeedsEngine => {
                        let came = evaluate_condition(self, frame, expression.code()).await?;
                        outcome_value(&text, came)?
                    }
                };
                value.unwrap_or_default()
            }
            None => self.evaluate_value(frame, script_value).await?,
        };
        Ok(super::scope::is_truthy(&value))
    }

    /// The value of an argument that needs no waiting, as far as its text tells.
    fn value_at_once(&mut self, frame: &Frame, script_value: &ScriptValue) -> Option<Value> {
        if script_value.tag.is_some() {
            return None;
        }
        match &script_value.tree {
            Tree::Null => Some(Value::Null),
            Tree::Bool(is) => Some(Value::Bool(*is)),
            Tree::Number(number) => Some(Value::Number(number.clone())),
            Tree::Text(text) => {
                let expression = self.expressions.read(text.strip_prefix("?=")?);
                match expression.known_value(&frame.values) {
                    // A text that begins with `#` is rendered.
                    KnownValue::Value(Value::String(text)) if text.starts_with('#') => None,
                    KnownValue::Value(value) => Some(value),
                    KnownValue::Undefined | KnownValue::NeedsEngine => None,
                }
            }
            Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// The value of an argument: every text in it is evaluated first.
    pub fn evaluate_value<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        value: &'a ScriptValue,
    ) -> BoxFuture<'a, ScriptResult<Value>> {
        Box::pin(async move {
            if value.tag.is_some() {
                let source = value.as_text().unwrap_or_default();
                return Box::pin(define_anonymous(self, frame, source)).await.map(Value::String);
            }
            match &value.tree {
                Tree::Null => Ok(Value::Null),
                Tree::Bool(is) => Ok(Value::Bool(*is)),
                Tree::Number(number) => Ok(Value::Number(number.clone())),
                Tree::Text(text) => Box::pin(self.evaluate_text(frame, text)).await,
                Tree::List(items) => {
                    let mut out = Vec::with_capacity(items.len());
                    for item in items {
                        out.push(self.evaluate_value(frame, item).await?);
                    }
                    Ok(Value::Array(out))
                }
                Tree::Map(pairs) => evaluate_map(self, frame, value, pairs).await,
            }
        })
    }

    /// A text as an argument.
    pub async fn evaluate_text(&mut self, frame: &mut Frame, text: &str) -> ScriptResult<Value> {
        match prefix::parse_prefix(text, PrefixPosition::Value) {
            (TextPrefix::Expression, expression) => {
                return evaluate_or_text(self, frame, expression, text).await;
            }
            (TextPrefix::Raw, rest) => return Ok(Value::String(rest.to_owned())),
            (TextPrefix::Now, rest) => {
                return self.render_now(frame, rest).await.map(Value::String);
            }
            (TextPrefix::NoPrefix | TextPrefix::Replace(_) | TextPrefix::Insert(_), _) => {}
        }
        if text.starts_with('$')
            && let Some(call) = args::parse_call(text)
            && is_callable(frame, &call.name)
        {
            let before = frame.values.latest.clone();
            let called = CallSyntax::from(&call);
            self.run_directive(frame, called).await?;
            return Ok(std::mem::replace(&mut frame.values.latest, before));
        }
        if let Some(name) = single_interpolation(text) {
            return Ok(match self.evaluate_expression(frame, name).await? {
                Some(value) => value,
                None => Value::String(render(self, frame, text).await?),
            });
        }
        if text.contains("[[@") || text.contains("[[/") {
            return evaluate_calls(self, frame, text).await;
        }
        Ok(Value::String(text.to_owned()))
    }

    /// A text that is rendered at once, including the calls in it.
    pub async fn render_now(&mut self, frame: &mut Frame, text: &str) -> ScriptResult<String> {
        let mut draft = MessageText::read(text);
        fill_marks(self, frame, &mut draft).await?;
        let sealed = draft.mask();
        let rendered = render(self, frame, sealed.template()).await?;
        Ok(sealed.unmask(&rendered).text())
    }

    /// The arguments of a call as values: an argument that is not an expression is text.
    pub async fn evaluate_args(
        &mut self,
        frame: &mut Frame,
        args: &[Arg],
    ) -> ScriptResult<ArgValues> {
        let mut values = ArgValues::default();
        for arg in args {
            let value = evaluate_arg(self, frame, &arg.expr).await?;
            match &arg.name {
                Some(name) => {
                    values.named.insert(name.clone(), value);
                }
                None => {
                    if is_name(&arg.expr) && frame.values.get(&arg.expr).is_some() {
                        values.passed_variables.insert(arg.expr.clone(), value.clone());
                    }
                    values.positional.push(value);
                }
            }
        }
        Ok(values)
    }
}

/// The value of an expression, or its source text if it has none. A text that begins with the `#`
/// of the expression is rendered at once.
pub async fn evaluate_or_text(
    run: &mut ScriptRun,
    frame: &mut Frame,
    expression: &str,
    written: &str,
) -> ScriptResult<Value> {
    match run.evaluate_or_note(frame, expression).await? {
        Some(Value::String(text)) => match text.strip_prefix('#') {
            Some(template) if writes_sign(expression, '#') => {
                Ok(Value::String(render(run, frame, template).await?))
            }
            _ => Ok(Value::String(text)),
        },
        Some(value) => Ok(value),
        None => Ok(Value::String(written.to_owned())),
    }
}

/// An expression with its `{{…}}` filled in: their values are data, never code.
async fn fill_interpolations(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult<String> {
    let mut out = String::new();
    for part in interpolation::split(text) {
        match part {
            interpolation::InterpolationPart::Code(code) => out.push_str(code),
            interpolation::InterpolationPart::Template { template, quote } => {
                let value = render(run, frame, template).await?;
                out.push_str(&interpolation::literal(&value, quote));
            }
        }
    }
    Ok(out)
}

async fn evaluate_map(
    run: &mut ScriptRun,
    frame: &mut Frame,
    script_value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
) -> ScriptResult<Value> {
    let is_call = |key: &ScriptValue| {
        key.as_text().is_some_and(|key| key.starts_with('$') && args::parse_call(key).is_some())
    };
    if pairs.iter().any(|(key, _)| is_call(key)) {
        let before = frame.values.latest.clone();
        run.run_instruction(frame, script_value).await?;
        return Ok(std::mem::replace(&mut frame.values.latest, before));
    }
    let mut out = Map::new();
    for (key, value) in pairs {
        if let Some(key) = key.key_text() {
            let value = match run.value_at_once(frame, value) {
                Some(value) => value,
                None => run.evaluate_value(frame, value).await?,
            };
            out.insert(key, value);
        }
    }
    Ok(Value::Object(out))
}

/// `[[@call]]`s in an argument. A text that consists of one call is its value.
async fn evaluate_calls(run: &mut ScriptRun, frame: &mut Frame, text: &str) -> ScriptResult<Value> {
    let mut draft = MessageText::read(text);
    if draft.spans().len() == 1
        && let Some((_, invoke)) = draft.next_call()
    {
        let invoke = invoke.clone();
        return run.invoke(frame, &invoke).await;
    }
    fill_marks(run, frame, &mut draft).await?;
    Ok(Value::String(draft.into_unrendered().text()))
}

async fn evaluate_arg(run: &mut ScriptRun, frame: &mut Frame, text: &str) -> ScriptResult<Value> {
    if let Some(value) = run.expressions.read(text).literal() {
        return match value {
            Value::String(text) if text.contains("{{") => {
                render(run, frame, text).await.map(Value::String)
            }
            value => Ok(value.clone()),
        };
    }
    if let Some(name) = single_interpolation(text)
        && let Some(value) = frame.values.get_path(name)
    {
        return Ok(value);
    }
    // `$HOME/x` is a path.
    if is_variable_path(text) {
        return Ok(Value::String(text.to_owned()));
    }
    // If it is not an expression, its `{{…}}` are filled in as in any text.
    let plain = if text.contains("{{") { render(run, frame, text).await? } else { text.to_owned() };
    let text = fill_interpolations(run, frame, text).await?;
    let text = text.strip_prefix("?=").unwrap_or(&text);
    let as_text = || Value::String(plain.strip_prefix("?=").unwrap_or(&plain).to_owned());
    let expression = run.expressions.read(text);
    match expression.known_value(&frame.values) {
        KnownValue::Value(value) => Ok(value),
        KnownValue::Undefined => Ok(as_text()),
        KnownValue::NeedsEngine if !frame.manifest.origin.trusted => Ok(as_text()),
        KnownValue::NeedsEngine => {
            // A file name, a word or a date has no value: it is meant as text.
            let came = evaluate(run, frame, expression.code()).await?;
            Ok(came.into_value().unwrap_or_else(as_text))
        }
    }
}

/// The value of an expression that the engine has evaluated.
pub fn outcome_value(text: &str, outcome: TaskOutcome) -> CallResult {
    match outcome {
        TaskOutcome::Invalid(why) => {
            Err(phrases::NO_EXPRESSION.with("text", quoted(text)).with("why", quoted(&why)).into())
        }
        outcome => Ok(outcome.into_value()),
    }
}

/// A text that is exactly `{{name}}`.
pub fn single_interpolation(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    is_path(name).then_some(name)
}

/// A path that begins with a variable of the environment: `$HOME/notes.md`.
fn is_variable_path(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('$').and_then(|text| text.split_once('/')) else {
        return false;
    };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && !rest.contains([' ', '(', '$'])
}
