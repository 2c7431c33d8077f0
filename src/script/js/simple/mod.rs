//! Evaluates simple expressions without the engine: names, members, literals, operators, and calls
//! of pure methods, as `n + 1`, `A.length > 3 && !done` or `list.filter(x => x.ok).length`.
//! Anything whose value in JavaScript is not plain from here (unknown names, assignments, mixed
//! types, numbers beyond the safe ones) is left to the engine, and so is what takes long: only
//! the engine can be stopped.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Number, Value};

mod compare;
mod compute;
mod functions;
mod lists;
mod names;
mod parse;
mod parse_arrow;
mod texts;

pub use names::names_read;

#[cfg(test)]
mod tests;

/// Longest expression that is tried, in bytes.
const LONGEST: usize = 1024;
/// Most parts and items that are visited, and the longest text that is made, in bytes.
const MOST_STEPS: usize = 20_000;
const LONGEST_TEXT: usize = 64 * 1024;
/// Integers up to here are exact.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// An expression that is read once and evaluated many times.
#[derive(Debug)]
pub struct ParsedExpression(SimpleExpression);

impl ParsedExpression {
    /// Reads an expression; `None` if only the engine can evaluate it.
    pub fn read(text: &str) -> Option<ParsedExpression> {
        if text.len() > LONGEST { None } else { parse::parse(text).map(ParsedExpression) }
    }

    /// The value of the expression; `None` if the engine has to evaluate it.
    pub fn evaluate<'v>(&self, lookup: &dyn Fn(&str) -> Option<&'v Value>) -> Option<Value> {
        let steps = Cell::new(MOST_STEPS);
        let scope = SimpleScope { lookup, local: None, steps: &steps };
        self.0.compute(&scope)?.into_value()
    }
}

/// The parts of a parsed expression.
#[derive(Debug)]
enum SimpleExpression {
    Literal(Value),
    Undefined,
    Name(Box<str>),
    List(Vec<SimpleArg>),
    Map(Vec<MapPart>),
    /// The texts of a template literal, each with the value after it.
    Template(Vec<(String, Option<SimpleExpression>)>),
    /// A value, and the fields, items and methods after it.
    Path(Box<SimpleExpression>, Vec<PathLink>),
    /// A function of the language: the name that may not be a variable, the function, and the
    /// arguments.
    Call(&'static str, functions::PureFunction, Vec<SimpleArg>),
    TypeOf(Box<SimpleExpression>),
    Not(Box<SimpleExpression>),
    Negative(Box<SimpleExpression>),
    BitNot(Box<SimpleExpression>),
    Binary(Operator, Box<[SimpleExpression; 2]>),
    /// Condition, and the two values.
    Choice(Box<[SimpleExpression; 3]>),
}

#[derive(Debug)]
struct PathLink {
    /// `?.`: without a value before it, the whole path has none.
    optional: bool,
    step: PathStep,
}

#[derive(Debug)]
enum PathStep {
    Field(Box<str>),
    Index(SimpleExpression),
    Method(Box<str>, Vec<SimpleArg>),
}

#[derive(Debug)]
enum SimpleArg {
    Value(SimpleExpression),
    /// `...list`
    Spread(SimpleExpression),
    /// `(a, {b}) => value`
    Arrow(Vec<ArrowParameter>, SimpleExpression),
}

#[derive(Debug)]
enum MapPart {
    Pair(String, SimpleExpression),
    /// `...map`
    Spread(SimpleExpression),
}

#[derive(Debug)]
enum ArrowParameter {
    Name(Box<str>),
    /// `{key: name}`
    Fields(Vec<(Box<str>, Box<str>)>),
    /// `[name, name]`
    Items(Vec<Box<str>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Coalesce,
    Or,
    And,
    Equal { strict: bool, negated: bool },
    Less { or_equal: bool },
    Greater { or_equal: bool },
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Bits(BitOperator),
}

/// Operators of whole numbers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BitOperator {
    Or,
    Xor,
    And,
    Left,
    Right,
    /// The sign moves like any other bit.
    RightUnsigned,
}

/// What the names of an expression mean, and how much may still be done.
#[derive(Clone, Copy)]
struct SimpleScope<'e, 'v> {
    lookup: &'e dyn Fn(&str) -> Option<&'v Value>,
    local: Option<&'e LocalName<'e>>,
    steps: &'e Cell<usize>,
}

/// A parameter of an arrow function.
struct LocalName<'e> {
    name: &'e str,
    value: &'e Value,
    outer: Option<&'e LocalName<'e>>,
}

impl<'e, 'v: 'e> SimpleScope<'e, 'v> {
    fn get(&self, name: &str) -> Option<&'e Value> {
        let locals = std::iter::successors(self.local, |local| local.outer);
        let mut named = locals.filter(|local| local.name == name);
        named.next().map(|local| local.value).or_else(|| (self.lookup)(name))
    }

    /// Counts work; `None` once it is too much.
    fn spend(&self, steps: usize) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(steps)?);
        Some(())
    }
}

/// The value of an expression or of a part of it.
#[derive(Clone, Debug)]
enum Computed<'e> {
    Undefined,
    Value(Cow<'e, Value>),
}

impl<'e> Computed<'e> {
    fn owned(value: impl Into<Value>) -> Computed<'e> {
        Computed::Value(Cow::Owned(value.into()))
    }

    /// The value; `None` if there is none.
    fn value(&self) -> Option<&Value> {
        match self {
            Computed::Undefined => None,
            Computed::Value(value) => Some(value),
        }
    }

    fn into_value(self) -> Option<Value> {
        match self {
            Computed::Undefined => None,
            Computed::Value(value) => Some(value.into_owned()),
        }
    }

    /// Whether it is `null` or `undefined`.
    fn is_nothing(&self) -> bool {
        self.value().is_none_or(Value::is_null)
    }

    fn is_truthy(&self) -> bool {
        self.value().is_some_and(is_truthy)
    }

    /// As a number that is one already.
    fn number(&self) -> Option<f64> {
        self.value()?.as_f64()
    }

    fn text(&self) -> Option<&str> {
        self.value()?.as_str()
    }
}

/// A number as JavaScript passes it on; `None` if it is not finite, or too large to be exact.
fn number(value: f64) -> Option<Value> {
    if value.fract() != 0.0 {
        Number::from_f64(value).map(Value::Number)
    } else if value.abs() <= SAFE {
        Some(Value::from(value as i64))
    } else {
        None
    }
}

/// The truth of a value, as in JavaScript.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
