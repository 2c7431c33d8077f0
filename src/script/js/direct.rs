//! Expressions that are called as functions of the plain values they read. Such a call needs no
//! JSON, no proxy, and none of the other values of the script.

use std::borrow::Cow;
use std::collections::HashMap;

use rquickjs::function::Args;
use rquickjs::{Ctx, Function, IntoJs, Type};
use serde_json::{Number, Value};

use super::expression::JsExpression;
use super::prelude::Prelude;
use super::task::TaskOutcome;
use super::time_limit::TimeLimit;

/// Most expressions that are kept.
const MOST: usize = 1000;
/// Values that `direct` of the prelude takes one by one; it gets all others in a list.
const NAMED: usize = 4;
/// Longest text that is taken as it is, in bytes.
const LONGEST_TEXT: usize = 10_000;
/// Whole numbers up to here are exact.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The value of a name, if it has one.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<Cow<'a, Value>>;

/// The expressions of an engine that are called with the values they read.
#[derive(Default)]
pub(super) struct DirectExpressions {
    /// The numbers of expressions, by their texts.
    numbers: HashMap<String, usize>,
    /// Each by its number; `None` for one that cannot be called so.
    all: Vec<Option<DirectExpression>>,
}

struct DirectExpression {
    names: Vec<String>,
    /// Which names had a value when its function was compiled.
    known: Option<Vec<bool>>,
    /// It does nothing but compute: it may be computed twice.
    only_computes: bool,
}

/// What a call came to.
pub(super) enum DirectValue<'js> {
    Known(TaskOutcome),
    /// What `quick` of the prelude returns.
    Told(rquickjs::Result<rquickjs::Value<'js>>),
}

impl DirectExpressions {
    /// Forgets all: what the script declares may change what they mean.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.all.clear();
    }

    /// Calls an expression; `None`, with nothing done, if that takes other values.
    pub fn call<'js>(
        &mut self,
        prelude: &Prelude<'_, 'js>,
        time_limit: &TimeLimit,
        run: u64,
        expression: &JsExpression,
        lookup: Lookup<'_>,
    ) -> Option<DirectValue<'js>> {
        let number = match self.numbers.get(expression.text()) {
            Some(number) => *number,
            None => self.plan(prelude, expression)?,
        };
        let place = self.all.get_mut(number)?;
        let direct = place.as_mut()?;
        let mut values = Vec::with_capacity(direct.names.len());
        let mut known = Vec::with_capacity(direct.names.len());
        for name in &direct.names {
            let value = lookup(name);
            known.push(value.is_some());
            match value.as_deref() {
                None => {}
                Some(Value::Array(_) | Value::Object(_)) => return None,
                Some(value) => values.push(plain_value(prelude.ctx, value).ok()?),
            }
        }
        time_limit.restart();
        if direct.known.as_ref() != Some(&known) {
            if !direct.bind(prelude, expression.text(), number, &known) {
                // The engine reports why when it evaluates it.
                *place = None;
                return None;
            }
            direct.known = Some(known);
        }
        if direct.only_computes
            && let Some(outcome) = compute(prelude, number, &values)
        {
            return Some(DirectValue::Known(outcome));
        }
        let more = values.split_off(values.len().min(NAMED));
        let mut args = Args::new(prelude.ctx.clone(), values.len() + 3);
        let pushed = args.push_arg(run).and_then(|()| args.push_arg(number));
        pushed.and_then(|()| args.push_args(values)).ok()?;
        if !more.is_empty() {
            args.push_arg(more).ok()?;
        }
        Some(DirectValue::Told(args.apply(prelude.direct)))
    }

    /// The number of a new expression.
    fn plan(&mut self, prelude: &Prelude<'_, '_>, expression: &JsExpression) -> Option<usize> {
        if self.all.len() >= MOST {
            self.clear();
        }
        let text = expression.text();
        let names: Option<Vec<String>> = prelude.plan.call((text,)).ok()?;
        let only_computes = !expression.calls_script();
        self.all.push(names.map(|names| DirectExpression { names, known: None, only_computes }));
        self.numbers.insert(text.to_owned(), self.all.len() - 1);
        Some(self.all.len() - 1)
    }
}

impl DirectExpression {
    /// Compiles its function for the names that have a value; false if it is none.
    fn bind(&self, prelude: &Prelude<'_, '_>, text: &str, number: usize, known: &[bool]) -> bool {
        let names = self.names.iter().zip(known).filter(|(_, known)| **known);
        let with_value: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        let args = (text, self.names.clone(), with_value, number);
        matches!(prelude.bind.call(args), Ok(true))
    }
}

/// The value of a function that only computes, if it is a plain one.
fn compute<'js>(
    prelude: &Prelude<'_, 'js>,
    number: usize,
    values: &[rquickjs::Value<'js>],
) -> Option<TaskOutcome> {
    let function: Function<'js> = prelude.plans.get(number).ok()?;
    let mut args = Args::new(prelude.ctx.clone(), values.len());
    args.push_args(values.iter().cloned()).ok()?;
    match args.apply(&function).and_then(|value| plain_outcome(&value)) {
        Ok(Some(TaskOutcome::Value(Value::String(text)))) if text.len() > LONGEST_TEXT => None,
        Ok(outcome) => outcome,
        Err(_) => {
            // The prelude reports it when it calls the function once more.
            prelude.ctx.catch();
            None
        }
    }
}

/// A value without parts, as the engine has it.
pub(super) fn plain_value<'js>(
    ctx: &Ctx<'js>,
    value: &Value,
) -> rquickjs::Result<rquickjs::Value<'js>> {
    match value {
        Value::Bool(is) => is.into_js(ctx),
        Value::Number(number) => match number.as_i64().map(i32::try_from) {
            Some(Ok(number)) => number.into_js(ctx),
            _ => number.as_f64().unwrap_or_default().into_js(ctx),
        },
        Value::String(text) => text.as_str().into_js(ctx),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Ok(rquickjs::Value::new_null(ctx.clone()))
        }
    }
}

/// The outcome that a value of the engine is, if both sides have the same form of it.
pub(super) fn plain_outcome(value: &rquickjs::Value<'_>) -> rquickjs::Result<Option<TaskOutcome>> {
    let of = |value: Value| Some(TaskOutcome::Value(value));
    Ok(match value.type_of() {
        Type::Undefined => Some(TaskOutcome::Undefined),
        Type::Null => of(Value::Null),
        Type::Bool => of(Value::Bool(value.as_bool().unwrap_or_default())),
        Type::Int => of(Value::from(value.as_int().unwrap_or_default())),
        Type::Float => {
            let number = value.as_float().unwrap_or_default();
            if number.fract() != 0.0 {
                Number::from_f64(number).map(|number| TaskOutcome::Value(number.into()))
            } else if number.abs() <= SAFE {
                of(Value::from(number as i64))
            } else {
                None
            }
        }
        Type::String => of(Value::String(value.get()?)),
        _ => None,
    })
}
