//! Pure functions of the language: `Math.max`, `JSON.stringify`, `Number`…

use serde_json::{Map, Value};

use super::{Computed, LONGEST_TEXT, SAFE, number, texts};

/// A function; without a value, the engine has to call it.
pub(super) type PureFunction = fn(&[Computed<'_>]) -> Option<Computed<'static>>;

/// The functions, by the name they begin with and the one after its dot.
const FUNCTIONS: &[(&str, &str, PureFunction)] = &[
    ("Array", "isArray", |args| one(args)?.map(|it| Computed::owned(it.is_array()))),
    ("Boolean", "", |args| match args {
        [value] => Some(Computed::owned(value.is_truthy())),
        _ => None,
    }),
    ("JSON", "stringify", |args| to_json(one(args)??)),
    ("Math", "abs", |args| of_number(args, f64::abs)),
    ("Math", "ceil", |args| of_number(args, f64::ceil)),
    ("Math", "floor", |args| of_number(args, f64::floor)),
    ("Math", "max", |args| of_numbers(args, f64::max)),
    ("Math", "min", |args| of_numbers(args, f64::min)),
    ("Math", "round", |args| of_number(args, round)),
    ("Math", "sign", |args| of_number(args, |it| if it == 0.0 { 0.0 } else { it.signum() })),
    ("Math", "sqrt", |args| of_number(args, f64::sqrt)),
    ("Math", "trunc", |args| of_number(args, f64::trunc)),
    ("Number", "", |args| to_number(one(args)??)),
    ("Number", "isInteger", |args| {
        let number = one(args)??.as_f64();
        Some(Computed::owned(number.is_some_and(|it| it.fract() == 0.0)))
    }),
    ("Object", "entries", |args| of_map(args, |(key, value)| Value::from(vec![key.into(), value]))),
    ("Object", "keys", |args| of_map(args, |(key, _)| Value::from(key))),
    ("Object", "values", |args| of_map(args, |(_, value)| value)),
    ("String", "", |args| match args {
        [value] => texts::limited(texts::of_computed(value)?),
        _ => None,
    }),
    // A number here is never NaN.
    ("isNaN", "", |args| one(args)??.is_number().then(|| Computed::owned(false))),
    ("parseFloat", "", |args| match one(args)?? {
        Value::String(text) => decimal(text).map(Computed::owned),
        Value::Number(it) => number(it.as_f64()?).map(Computed::owned),
        _ => None,
    }),
    ("parseInt", "", parse_int),
];

/// A function, and the name it begins with.
pub(super) fn find(root: &str, name: &str) -> Option<(&'static str, PureFunction)> {
    let mut rows = FUNCTIONS.iter();
    let row = rows.find(|(first, second, _)| (*first, *second) == (root, name));
    row.map(|(root, _, run)| (*root, *run))
}

/// The only argument, if it has a value.
fn one<'a>(args: &'a [Computed<'_>]) -> Option<Option<&'a Value>> {
    match args {
        [value] => Some(value.value()),
        _ => None,
    }
}

fn of_number(args: &[Computed<'_>], run: impl Fn(f64) -> f64) -> Option<Computed<'static>> {
    number(run(one(args)??.as_f64()?)).map(Computed::owned)
}

fn of_numbers(
    args: &[Computed<'_>],
    choose: impl Fn(f64, f64) -> f64,
) -> Option<Computed<'static>> {
    let numbers: Option<Vec<f64>> = args.iter().map(Computed::number).collect();
    number(numbers?.into_iter().reduce(choose)?).map(Computed::owned)
}

/// Halves go up, as JavaScript rounds them.
fn round(number: f64) -> f64 {
    let below = number.floor();
    if number - below >= 0.5 { below + 1.0 } else { below }
}

/// A map as a list. Keys that are numbers come first in JavaScript, which is left to the engine.
fn of_map(
    args: &[Computed<'_>],
    item: impl Fn((String, Value)) -> Value,
) -> Option<Computed<'static>> {
    let map = one(args)??.as_object()?;
    has_plain_keys(map).then(|| {
        let pairs = map.iter().map(|(key, value)| item((key.clone(), value.clone())));
        Computed::owned(pairs.collect::<Vec<Value>>())
    })
}

pub(super) fn has_plain_keys(map: &Map<String, Value>) -> bool {
    map.keys().all(|key| !key.starts_with(|c: char| c.is_ascii_digit()))
}

fn to_json(value: &Value) -> Option<Computed<'static>> {
    /// Whether both languages write the value alike.
    fn is_alike(value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::String(_) => true,
            Value::Number(number) => {
                let exact = !number.is_f64() && number.as_f64().is_some_and(|it| it.abs() <= SAFE);
                exact || texts::of_value(value).is_some_and(|text| text == number.to_string())
            }
            Value::Array(list) => list.iter().all(is_alike),
            Value::Object(map) => has_plain_keys(map) && map.values().all(is_alike),
        }
    }
    is_alike(value).then_some(())?;
    let text = serde_json::to_string(value).ok()?;
    (text.len() <= LONGEST_TEXT).then(|| Computed::owned(text))
}

fn to_number(value: &Value) -> Option<Computed<'static>> {
    match value {
        Value::Null => Some(Computed::owned(0)),
        Value::Bool(is) => Some(Computed::owned(i32::from(*is))),
        Value::Number(it) => number(it.as_f64()?).map(Computed::owned),
        Value::String(text) if text.chars().all(texts::is_space) => Some(Computed::owned(0)),
        Value::String(text) => decimal(text).map(Computed::owned),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text that is a plain number as a whole.
fn decimal(text: &str) -> Option<Value> {
    let text = text.trim_matches(texts::is_space);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    (is_plain(whole) && is_plain(rest)).then_some(())?;
    number(text.parse().ok()?)
}

/// `parseInt(text)` and `parseInt(text, 10)`: the digits that the text begins with.
fn parse_int(args: &[Computed<'_>]) -> Option<Computed<'static>> {
    let value = match args {
        [value] => value.value()?,
        [value, radix] if radix.number() == Some(10.0) => value.value()?,
        _ => return None,
    };
    let text = texts::of_value(value)?;
    let text = text.trim_start_matches(texts::is_space);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if length == 0 || is_hexadecimal {
        return None;
    }
    let sign = text.len() - digits.len();
    number(text.get(..sign + length)?.parse().ok()?).map(Computed::owned)
}
