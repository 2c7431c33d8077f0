//! Comparisons of values, and the indexes that numbers are.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::{Computed, SAFE};

/// Whether two values are equal, by `===` or by `==`; `None` if that is not plain from here.
pub(super) fn are_equal(left: &Computed<'_>, right: &Computed<'_>, strict: bool) -> Option<bool> {
    let (left, right) = match (left.value(), right.value()) {
        (None, None) => return Some(true),
        (None, Some(value)) | (Some(value), None) => return Some(!strict && value.is_null()),
        (Some(left), Some(right)) => (left, right),
    };
    match (left, right) {
        (Value::Null, Value::Null) => Some(true),
        (Value::Bool(left), Value::Bool(right)) => Some(left == right),
        (Value::String(left), Value::String(right)) => Some(left == right),
        (Value::Number(left), Value::Number(right)) => Some(left.as_f64()? == right.as_f64()?),
        (Value::Null, _) | (_, Value::Null) => Some(false),
        // Lists and maps are equal only to themselves.
        (Value::Array(_) | Value::Object(_), Value::Array(_) | Value::Object(_)) => None,
        _ => strict.then_some(false),
    }
}

/// Whether a value is strictly equal to a plain one.
pub(super) fn is_same(item: &Value, plain: &Value) -> Option<bool> {
    let as_computed = |value| Computed::Value(Cow::Borrowed(value));
    match plain {
        Value::Array(_) | Value::Object(_) => None,
        _ => are_equal(&as_computed(item), &as_computed(plain), true),
    }
}

/// The order of two numbers, or of two texts that sort alike in every encoding.
pub(super) fn order(left: &Computed<'_>, right: &Computed<'_>) -> Option<Ordering> {
    let is_alike = |text: &str| text.chars().all(|c| c < '\u{d7ff}');
    match (left.value()?, right.value()?) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) if is_alike(left) && is_alike(right) => {
            Some(left.cmp(right))
        }
        _ => None,
    }
}

/// The index that a whole number of JavaScript is, as far as it fits.
pub(super) fn whole(value: &Computed<'_>) -> Option<i64> {
    let number = value.number()?;
    (number.fract() == 0.0 && number.abs() <= SAFE).then_some(number as i64)
}

/// The part of a list or text of this length from one relative index to another, as `slice` reads
/// them.
pub(super) fn slice_range(length: usize, args: &[Computed<'_>]) -> Option<(usize, usize)> {
    let length = i64::try_from(length).ok()?;
    let at = |arg: Option<&Computed<'_>>, usual: i64| {
        let Some(arg) = arg.filter(|arg| !matches!(arg, Computed::Undefined)) else {
            return Some(usual);
        };
        let at = whole(arg)?;
        Some(if at < 0 { (length + at).max(0) } else { at.min(length) })
    };
    let [start, end] = match args {
        [] => [at(None, 0)?, length],
        [start] => [at(Some(start), 0)?, length],
        [start, end] => [at(Some(start), 0)?, at(Some(end), length)?],
        _ => return None,
    };
    let start = usize::try_from(start).ok()?;
    Some((start, usize::try_from(end).ok()?.max(start)))
}
