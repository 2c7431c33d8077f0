//! Evaluates a value by its position: as an expression, a call, a text with calls in it, or plain
//! data.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::fault::quoted;
use super::super::js::Got;
use super::super::syntax::{ScriptNode, Tree};
use super::super::text::args::{self, Arg};
use super::super::text::lead::{self, Lead, PrefixPosition};
use super::super::text::{MessageText, gaps, relaxed};
use super::calls::{ArgValues, Called};
use super::{Frame, ScriptFlow, ScriptRun};
use crate::words::script_run as words;

impl ScriptRun {
    /// The value of a JavaScript expression; `None` if it is undefined.
    pub async fn expression(
        &mut self,
        frame: &mut Frame,
        text: &str,
    ) -> Result<Option<Value>, ScriptFlow> {
        match self.known(frame, text) {
            Known::Value(value) => Ok(Some(value)),
            Known::Nothing => Ok(None),
            Known::Computed => match Box::pin(self.evaluate(frame, text.trim())).await? {
                Got::Value(value) => Ok(Some(value)),
                Got::Function(name) => Ok(Some(Value::String(name))),
                Got::Undefined | Got::Unknown(_) => Ok(None),
                Got::Invalid(why) => Err(words::NO_EXPRESSION
                    .with("text", quoted(text))
                    .with("why", quoted(&why))
                    .into()),
            },
        }
    }

    /// The value of an expression as far as it is known without the engine.
    fn known(&self, frame: &Frame, text: &str) -> Known {
        let text = text.trim();
        if let Some(value) = relaxed::literal(text) {
            return Known::Value(value);
        }
        if is_path(text) {
            let path = text.strip_prefix("this.").unwrap_or(text);
            if let Some(value) = frame.values.at(path) {
                return Known::Value(value);
            }
            if is_name(text) && !is_word(text) {
                return Known::Nothing;
            }
        }
        Known::Computed
    }

    /// The value of an expression, or its source text if it has none. A text that begins with `#`
    /// is rendered at once.
    pub async fn expression_or_text(
        &mut self,
        frame: &mut Frame,
        expression: &str,
        written: &str,
    ) -> Result<Value, ScriptFlow> {
        match self.expression(frame, expression).await? {
            Some(Value::String(text)) => match text.strip_prefix('#') {
                Some(template) => Ok(Value::String(self.render(frame, template).await?)),
                None => Ok(Value::String(text)),
            },
            Some(value) => Ok(value),
            None => Ok(Value::String(written.to_owned())),
        }
    }

    /// Whether a condition is true. A condition is an expression, with or without `?=`.
    pub async fn condition(
        &mut self,
        frame: &mut Frame,
        node: &ScriptNode,
    ) -> Result<bool, ScriptFlow> {
        let value = match node.as_text() {
            Some(text) => {
                let text = text.strip_prefix("?=").unwrap_or(text);
                let text = self.rendered_gap(frame, text).await?;
                match self.known(frame, &text) {
                    Known::Value(value) => value,
                    Known::Nothing => Value::Null,
                    Known::Computed => {
                        let got = Box::pin(self.evaluate_condition(frame, text.trim())).await?;
                        match got {
                            Got::Value(value) => value,
                            Got::Function(_) => Value::Bool(true),
                            Got::Undefined | Got::Unknown(_) => Value::Null,
                            Got::Invalid(why) => {
                                return Err(words::NO_EXPRESSION
                                    .with("text", quoted(&text))
                                    .with("why", quoted(&why))
                                    .into());
                            }
                        }
                    }
                }
            }
            None => self.value(frame, node).await?,
        };
        Ok(super::values::truthy(&value))
    }

    /// An expression with its `{{…}}` filled in: their values are data, never code.
    async fn rendered_gap(&mut self, frame: &mut Frame, text: &str) -> Result<String, ScriptFlow> {
        let mut out = String::new();
        for part in gaps::split(text) {
            match part {
                gaps::InterpolationPart::Code(code) => out.push_str(code),
                gaps::InterpolationPart::Gap { template, quote } => {
                    let value = self.render(frame, template).await?;
                    out.push_str(&gaps::literal(&value, quote));
                }
            }
        }
        Ok(out)
    }

    /// The value of an argument: every text in it is evaluated first.
    pub fn value<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        node: &'a ScriptNode,
    ) -> BoxFuture<'a, Result<Value, ScriptFlow>> {
        Box::pin(async move {
            if node.tag.is_some() {
                let source = node.as_text().unwrap_or_default();
                return self.nameless(frame, source).await.map(Value::String);
            }
            match &node.tree {
                Tree::Null => Ok(Value::Null),
                Tree::Bool(is) => Ok(Value::Bool(*is)),
                Tree::Number(number) => Ok(Value::Number(number.clone())),
                Tree::Text(text) => self.text_value(frame, text).await,
                Tree::List(items) => {
                    let mut out = Vec::with_capacity(items.len());
                    for item in items {
                        out.push(self.value(frame, item).await?);
                    }
                    Ok(Value::Array(out))
                }
                Tree::Map(pairs) => self.map_value(frame, node, pairs).await,
            }
        })
    }

    async fn map_value(
        &mut self,
        frame: &mut Frame,
        node: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) -> Result<Value, ScriptFlow> {
        let is_call = |key: &ScriptNode| {
            key.as_text().is_some_and(|key| key.starts_with('$') && args::call(key).is_some())
        };
        if pairs.iter().any(|(key, _)| is_call(key)) {
            let before = frame.values.latest.clone();
            self.item(frame, node).await?;
            return Ok(std::mem::replace(&mut frame.values.latest, before));
        }
        let mut out = Map::new();
        for (key, value) in pairs {
            if let Some(key) = key.key() {
                out.insert(key, self.value(frame, value).await?);
            }
        }
        Ok(Value::Object(out))
    }

    /// A text as an argument.
    pub async fn text_value(&mut self, frame: &mut Frame, text: &str) -> Result<Value, ScriptFlow> {
        match lead::read(text, PrefixPosition::Value) {
            (Lead::Expression, expression) => {
                return self.expression_or_text(frame, expression, text).await;
            }
            (Lead::Raw, rest) => return Ok(Value::String(rest.to_owned())),
            (Lead::Now, rest) => return self.now(frame, rest).await.map(Value::String),
            (Lead::Plain | Lead::Replace(_) | Lead::Insert(_), _) => {}
        }
        if text.starts_with('$')
            && let Some(call) = args::call(text)
            && self.knows(frame, &call.name)
        {
            let before = frame.values.latest.clone();
            let called = Called {
                name: &call.name,
                pipe: call.pipe,
                args: &call.args,
                head: None,
                more: &[],
            };
            self.directive(frame, called).await?;
            return Ok(std::mem::replace(&mut frame.values.latest, before));
        }
        if let Some(name) = gap(text) {
            return Ok(match self.expression(frame, name).await? {
                Some(value) => value,
                None => Value::String(self.render(frame, text).await?),
            });
        }
        if text.contains("[[@") || text.contains("[[/") {
            return self.with_calls(frame, text).await;
        }
        Ok(Value::String(text.to_owned()))
    }

    /// `[[@call]]`s in an argument. A text that consists of one call is its value.
    async fn with_calls(&mut self, frame: &mut Frame, text: &str) -> Result<Value, ScriptFlow> {
        let mut draft = MessageText::read(text);
        if draft.pieces().len() == 1
            && let Some((_, invoke)) = draft.next_invoke()
        {
            let invoke = invoke.clone();
            return self.invoke(frame, &invoke).await;
        }
        self.fill(frame, &mut draft).await?;
        Ok(Value::String(draft.settle().text()))
    }

    /// A text that is rendered at once, including the calls in it.
    pub async fn now(&mut self, frame: &mut Frame, text: &str) -> Result<String, ScriptFlow> {
        let mut draft = MessageText::read(text);
        self.fill(frame, &mut draft).await?;
        let sealed = draft.seal();
        let rendered = self.render(frame, sealed.template()).await?;
        Ok(sealed.open(&rendered).text())
    }

    /// The arguments of a call as values: an argument that is not an expression is text.
    pub async fn passed(
        &mut self,
        frame: &mut Frame,
        args: &[Arg],
    ) -> Result<ArgValues, ScriptFlow> {
        let mut passed = ArgValues::default();
        for arg in args {
            let value = self.arg(frame, &arg.expr).await?;
            match &arg.name {
                Some(name) => {
                    passed.named.insert(name.clone(), value);
                }
                None => {
                    if is_name(&arg.expr) && frame.values.get(&arg.expr).is_some() {
                        passed.also.insert(arg.expr.clone(), value.clone());
                    }
                    passed.by_place.push(value);
                }
            }
        }
        Ok(passed)
    }

    async fn arg(&mut self, frame: &mut Frame, text: &str) -> Result<Value, ScriptFlow> {
        if let Some(value) = relaxed::literal(text) {
            return match value {
                Value::String(text) if text.contains("{{") => {
                    self.render(frame, &text).await.map(Value::String)
                }
                value => Ok(value),
            };
        }
        if let Some(name) = gap(text)
            && let Some(value) = frame.values.at(name)
        {
            return Ok(value);
        }
        // If it is not an expression, its `{{…}}` are filled in as in any text.
        let plain = match text.contains("{{") {
            true => self.render(frame, text).await?,
            false => text.to_owned(),
        };
        let text = self.rendered_gap(frame, text).await?;
        let text = text.strip_prefix("?=").unwrap_or(&text);
        let as_text = || Value::String(plain.strip_prefix("?=").unwrap_or(&plain).to_owned());
        match self.known(frame, text) {
            Known::Value(value) => Ok(value),
            Known::Nothing => Ok(as_text()),
            Known::Computed if !frame.shape.origin.trusted => Ok(as_text()),
            Known::Computed => Ok(match Box::pin(self.evaluate(frame, text)).await? {
                Got::Value(value) => value,
                Got::Function(name) => Value::String(name),
                // A file name, a word, a date: meant as text.
                Got::Undefined | Got::Unknown(_) | Got::Invalid(_) => as_text(),
            }),
        }
    }
}

/// The value of an expression as far as it is known.
enum Known {
    Value(Value),
    /// A plain name that is not defined.
    Nothing,
    /// The engine has to evaluate it.
    Computed,
}

/// JavaScript keywords that look like names.
fn is_word(text: &str) -> bool {
    matches!(text, "undefined" | "NaN" | "Infinity" | "this" | "Math" | "JSON" | "Date")
}

/// A text that is exactly `{{name}}`.
fn gap(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    is_path(name).then_some(name)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// A name, or names with dots between them.
fn is_path(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|part| is_name(part.trim_start_matches('$')))
}
