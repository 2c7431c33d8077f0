//! Texts of values, and pure methods of texts and numbers. Indexes count UTF-16 units.

use serde_json::Value;

use super::compare::{slice_range, whole};
use super::{Computed, LONGEST_TEXT, SAFE};

/// Fractions between these have no exponent.
const SMALLEST_FRACTION: f64 = 1e-6;
const LARGEST_FRACTION: f64 = 1e15;

/// A text, unless it is too long.
pub(super) fn limited<'e>(text: String) -> Option<Computed<'e>> {
    (text.len() <= LONGEST_TEXT).then(|| Computed::owned(text))
}

/// A value as JavaScript puts it into a text.
pub(super) fn of_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(is) => Some(is.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => of_number(number.as_f64()?),
        Value::Array(list) => joined(list, ","),
        // A field of its own takes the place of the method that makes the text.
        Value::Object(map) if map.contains_key("toString") || map.contains_key("valueOf") => None,
        Value::Object(_) => Some("[object Object]".to_owned()),
    }
}

pub(super) fn of_computed(value: &Computed<'_>) -> Option<String> {
    value.value().map_or_else(|| Some("undefined".to_owned()), of_value)
}

fn of_number(number: f64) -> Option<String> {
    let size = number.abs();
    if number.fract() == 0.0 {
        return (size <= SAFE).then(|| (number as i64).to_string());
    }
    (SMALLEST_FRACTION..LARGEST_FRACTION).contains(&size).then(|| number.to_string())
}

/// The items with a text between them; null is nothing.
pub(super) fn joined(list: &[Value], between: &str) -> Option<String> {
    let mut text = String::new();
    for (at, item) in list.iter().enumerate() {
        if at > 0 {
            text.push_str(between);
        }
        match item {
            Value::Null => {}
            item => text.push_str(&of_value(item)?),
        }
        (text.len() <= LONGEST_TEXT).then_some(())?;
    }
    Some(text)
}

/// The unit at a place, if it is a character of its own.
pub(super) fn unit<'e>(text: &str, at: usize) -> Option<Computed<'e>> {
    match text.encode_utf16().nth(at) {
        None => Some(Computed::Undefined),
        Some(unit) => from_units(&[unit]),
    }
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// A text of units; half a character is left to the engine.
fn from_units<'e>(units: &[u16]) -> Option<Computed<'e>> {
    String::from_utf16(units).ok().map(Computed::owned)
}

/// What JavaScript counts as white space.
pub(super) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// The methods of a text.
pub(super) fn method<'e>(name: &str, text: &str, args: &[Computed<'_>]) -> Option<Computed<'e>> {
    if text.len() > LONGEST_TEXT {
        return None;
    }
    match args {
        [] => plain_method(name, text),
        [Computed::Value(value)] if value.is_string() => {
            method_with_text(name, text, value.as_str()?)
        }
        args => method_with_numbers(name, text, args).or_else(|| replaced(name, text, args)),
    }
}

fn plain_method<'e>(name: &str, text: &str) -> Option<Computed<'e>> {
    Some(match name {
        "toString" | "valueOf" => Computed::owned(text),
        "trim" => Computed::owned(text.trim_matches(is_space)),
        "trimStart" => Computed::owned(text.trim_start_matches(is_space)),
        "trimEnd" => Computed::owned(text.trim_end_matches(is_space)),
        // Letters of other scripts depend on the version of Unicode.
        "toUpperCase" if text.is_ascii() => Computed::owned(text.to_ascii_uppercase()),
        "toLowerCase" if text.is_ascii() => Computed::owned(text.to_ascii_lowercase()),
        "split" => Computed::owned(vec![Value::from(text)]),
        "slice" | "substring" => Computed::owned(text),
        _ => return None,
    })
}

fn method_with_text<'e>(name: &str, text: &str, other: &str) -> Option<Computed<'e>> {
    let index = |at: Option<usize>| match at.and_then(|at| text.get(..at)) {
        Some(before) => Computed::owned(before.encode_utf16().count()),
        None => Computed::owned(-1),
    };
    Some(match name {
        "includes" => Computed::owned(text.contains(other)),
        "startsWith" => Computed::owned(text.starts_with(other)),
        "endsWith" => Computed::owned(text.ends_with(other)),
        "indexOf" => index(text.find(other)),
        "lastIndexOf" => index(text.rfind(other)),
        "concat" => return limited(text.to_owned() + other),
        "split" if other.is_empty() && text.is_ascii() => {
            text.chars().map(|c| Value::from(c.to_string())).collect::<Vec<_>>().into_computed()
        }
        "split" if !other.is_empty() => {
            text.split(other).map(Value::from).collect::<Vec<_>>().into_computed()
        }
        _ => return None,
    })
}

trait IntoComputed {
    fn into_computed<'e>(self) -> Computed<'e>;
}

impl IntoComputed for Vec<Value> {
    fn into_computed<'e>(self) -> Computed<'e> {
        Computed::owned(self)
    }
}

fn method_with_numbers<'e>(name: &str, text: &str, args: &[Computed<'_>]) -> Option<Computed<'e>> {
    match (name, args) {
        ("slice", args) => {
            let units = units(text);
            let (start, end) = slice_range(units.len(), args)?;
            from_units(units.get(start..end)?)
        }
        ("substring", [_] | [_, _]) => {
            let units = units(text);
            let at = |arg: &Computed<'_>| {
                let at = usize::try_from(whole(arg)?.max(0)).ok()?;
                Some(at.min(units.len()))
            };
            let first = at(args.first()?)?;
            let last = match args.get(1) {
                Some(last) => at(last)?,
                None => units.len(),
            };
            from_units(units.get(first.min(last)..first.max(last))?)
        }
        ("charAt", [index]) => match usize::try_from(whole(index)?).ok() {
            Some(at) => match unit(text, at)? {
                Computed::Undefined => Some(Computed::owned("")),
                unit => Some(unit),
            },
            None => Some(Computed::owned("")),
        },
        ("charCodeAt", [index]) => {
            let at = usize::try_from(whole(index)?).ok()?;
            text.encode_utf16().nth(at).map(Computed::owned)
        }
        ("at", [index]) => {
            let units = units(text);
            let index = whole(index)?;
            let from_end = || units.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
            let at = if index < 0 { from_end() } else { usize::try_from(index).ok() };
            match at.and_then(|at| units.get(at)) {
                Some(unit) => from_units(&[*unit]),
                None => Some(Computed::Undefined),
            }
        }
        ("repeat", [count]) => {
            let count = usize::try_from(whole(count)?).ok()?;
            let length = text.len().checked_mul(count)?;
            (length <= LONGEST_TEXT).then(|| Computed::owned(text.repeat(count)))
        }
        ("padStart" | "padEnd", [length, rest @ ..]) => padded(name, text, whole(length)?, rest),
        _ => None,
    }
}

fn padded<'e>(name: &str, text: &str, length: i64, rest: &[Computed<'_>]) -> Option<Computed<'e>> {
    let fill = match rest {
        [] => " ",
        [fill] => fill.text()?,
        _ => return None,
    };
    let (own, fill) = (units(text), units(fill));
    let length = usize::try_from(length).unwrap_or(0);
    if length > LONGEST_TEXT {
        return None;
    }
    let missing = length.saturating_sub(own.len());
    let fill: Vec<u16> = fill.into_iter().cycle().take(missing).collect();
    from_units(&if name == "padStart" { [fill, own].concat() } else { [own, fill].concat() })
}

/// `replace(text, by)`, without the signs that have a meaning in `by`.
fn replaced<'e>(name: &str, text: &str, args: &[Computed<'_>]) -> Option<Computed<'e>> {
    let [from, by] = args else { return None };
    let (from, by) = (from.text()?, by.text()?);
    if by.contains('$') || from.is_empty() || text.len() * by.len().max(1) > LONGEST_TEXT * 16 {
        return None;
    }
    match name {
        "replace" => limited(text.replacen(from, by, 1)),
        "replaceAll" => limited(text.replace(from, by)),
        _ => None,
    }
}

/// The methods of a number.
pub(super) fn number_method<'e>(
    name: &str,
    value: &Value,
    args: &[Computed<'_>],
) -> Option<Computed<'e>> {
    let number = value.as_f64()?;
    match (name, args) {
        ("toString", []) => of_number(number).map(Computed::owned),
        ("toFixed", _) => {
            let digits = match args {
                [] => 0,
                [digits] => usize::try_from(whole(digits)?).ok()?,
                _ => return None,
            };
            if digits > 10 || number.abs() >= LARGEST_FRACTION {
                return None;
            }
            // Halves are rounded up here, and to even numbers by Rust.
            let last = (number.abs() * 10_f64.powi(i32::try_from(digits).ok()?)).fract();
            let is_half = (last - 0.5).abs() < 1e-3;
            (!is_half).then(|| Computed::owned(format!("{number:.digits$}")))
        }
        _ => None,
    }
}
