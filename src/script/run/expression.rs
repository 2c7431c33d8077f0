//! The expressions of a run. Each text is read once, however often a loop evaluates it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::super::js::JsExpression;
use super::super::text::json5;
use super::scope::ScopeValues;

/// Most expressions that are kept, and the longest, in bytes.
const MAX_EXPRESSIONS: usize = 1000;
const MAX_LENGTH: usize = 4096;

/// The expressions of a run by their text, each parsed once.
#[derive(Debug, Default)]
pub struct ExpressionCache {
    read: HashMap<String, Arc<ReadExpression>>,
}

impl ExpressionCache {
    /// An expression, read when it is seen for the first time.
    pub fn read(&mut self, text: &str) -> Arc<ReadExpression> {
        if let Some(read) = self.read.get(text) {
            return Arc::clone(read);
        }
        let read = Arc::new(ReadExpression::from(text));
        if text.len() <= MAX_LENGTH {
            // A text may be made of values, and new each time.
            if self.read.len() >= MAX_EXPRESSIONS {
                self.read.clear();
            }
            self.read.insert(text.to_owned(), Arc::clone(&read));
        }
        read
    }
}

/// What the text of an expression tells.
#[derive(Debug)]
pub struct ReadExpression {
    /// The value of plain data.
    literal: Option<Value>,
    /// A name, or names with dots between them, without `this.`.
    path: Option<String>,
    /// It is a name that can only be a variable's.
    is_variable: bool,
    code: Arc<JsExpression>,
}

/// The value of an expression, if it is known without the script engine.
pub enum KnownValue {
    Value(Value),
    /// A plain name that is not defined.
    Undefined,
    /// The engine has to evaluate it.
    NeedsEngine,
}

impl From<&str> for ReadExpression {
    fn from(text: &str) -> ReadExpression {
        let text = text.trim();
        let path = is_path(text).then(|| text.strip_prefix("this.").unwrap_or(text).to_owned());
        ReadExpression {
            literal: json5::parse_literal(text),
            path,
            is_variable: is_name(text) && !is_keyword(text),
            code: Arc::new(JsExpression::from(text)),
        }
    }
}

impl ReadExpression {
    /// Its value if it is plain data.
    pub fn literal(&self) -> Option<&Value> {
        self.literal.as_ref()
    }

    /// The expression for the engine.
    pub fn code(&self) -> &Arc<JsExpression> {
        &self.code
    }

    /// Its value as far as it is known without the engine.
    pub fn known_value(&self, values: &ScopeValues) -> KnownValue {
        if let Some(value) = &self.literal {
            return KnownValue::Value(value.clone());
        }
        if let Some(value) = self.path.as_ref().and_then(|path| values.get_path(path)) {
            return KnownValue::Value(value);
        }
        if self.is_variable {
            return KnownValue::Undefined;
        }
        KnownValue::NeedsEngine
    }
}

/// JavaScript keywords that look like names.
fn is_keyword(text: &str) -> bool {
    matches!(text, "undefined" | "NaN" | "Infinity" | "this" | "Math" | "JSON" | "Date")
}

pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// A name, or names with dots between them.
pub fn is_path(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|part| is_name(part.trim_start_matches('$')))
}
