//! How long a program may take, as other agents write it: in seconds or milliseconds, until it is
//! stopped or until it goes on in the background.

use serde_json::Value;

use super::super::Requires;
use super::fields::{ObjectReader, fold_field_name, is_unsaid, wrong_type};
use crate::i18n::{LocalizedText, protocol as phrases};

#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Milliseconds,
    /// Agents differ: see [`seconds`].
    Either,
}

/// What becomes of the step when the time is over.
#[derive(Clone, Copy, PartialEq)]
enum TimeoutAction {
    Kill,
    Background,
}

/// The names in lower case without signs.
#[rustfmt::skip]
const NAMES: &[(&[&str], Unit, TimeoutAction)] = &[
    (&["timeouts", "timeoutsec", "timeoutsecs", "timeoutseconds", "timeoutinseconds"], Unit::Seconds, TimeoutAction::Kill),
    (&["timeoutms", "timeoutmillis", "timeoutmilliseconds"], Unit::Milliseconds, TimeoutAction::Kill),
    (&["timeout", "timelimit", "hardtimeout"], Unit::Either, TimeoutAction::Kill),
    (&["yieldtimems", "blockuntilms"], Unit::Milliseconds, TimeoutAction::Background),
    (&["initialwait"], Unit::Seconds, TimeoutAction::Background),
];

pub(super) fn read_times(reader: &ObjectReader<'_>) -> Result<Requires, LocalizedText> {
    let mut requires = Requires::default();
    for (name, value) in reader.object {
        let plain = fold_field_name(name);
        let Some((_, unit, on_timeout)) =
            NAMES.iter().find(|(names, ..)| names.contains(&plain.as_str()))
        else {
            continue;
        };
        if value.is_null() || is_unsaid(value) {
            continue;
        }
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().trim_end_matches('s').parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return Err(wrong_type(&reader.field(name), phrases::IS_NUMBER, value));
        };
        let wait = Some(in_seconds(number, *unit)).filter(|wait| *wait > 0);
        match on_timeout {
            TimeoutAction::Kill => requires.timeout_s = requires.timeout_s.or(wait),
            TimeoutAction::Background => requires.foreground_s = requires.foreground_s.or(wait),
        }
    }
    Ok(requires)
}

/// A time in seconds, rounded up. One without a unit is in milliseconds from 1000 on, unless it is
/// some ten minutes in seconds.
fn in_seconds(number: f64, unit: Unit) -> u32 {
    let in_milliseconds = match unit {
        Unit::Seconds => false,
        Unit::Milliseconds => true,
        Unit::Either => {
            let is_minutes = number < 10_000.0 && number % 600.0 == 0.0 && number % 1000.0 != 0.0;
            number >= 1000.0 && !is_minutes
        }
    };
    let seconds = if in_milliseconds { number / 1000.0 } else { number };
    // What does not fit is bounded, and a time before now is none.
    seconds.ceil() as u32
}

/// A number of seconds that other agents may have written in milliseconds.
pub fn seconds(number: usize) -> usize {
    in_seconds(number as f64, Unit::Either) as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn times(input: &Value) -> Result<(Option<u32>, Option<u32>), LocalizedText> {
        let object = input.as_object().expect("an object");
        let read = read_times(&ObjectReader { object, path: "exec" })?;
        Ok((read.timeout_s, read.foreground_s))
    }

    #[test]
    fn the_time_of_a_program_is_read_as_each_agent_writes_it() {
        for (name, value, expected) in [
            ("timeout_s", json!(2), (Some(2), None)),
            ("timeout_s", json!(6000), (Some(6000), None)),
            ("timeoutSeconds", json!("30"), (Some(30), None)),
            ("timeout_secs", json!("30s"), (Some(30), None)),
            ("timeout_ms", json!(1500), (Some(2), None)),
            ("timeoutMs", json!(200), (Some(1), None)),
            ("timeout", json!(2000), (Some(2), None)),
            ("timeout", json!(120_000), (Some(120), None)),
            ("timeout", json!(600_000), (Some(600), None)),
            ("timeout", json!(60), (Some(60), None)),
            ("timeout", json!(1200), (Some(1200), None)),
            ("timeout", json!(7200), (Some(7200), None)),
            ("timeout", json!(3000), (Some(3), None)),
            ("timeout", json!(0.5), (Some(1), None)),
            ("yield_time_ms", json!(10_000), (None, Some(10))),
            ("block_until_ms", json!(30_000), (None, Some(30))),
            ("timeout", json!(0), (None, None)),
            ("timeout", json!(-1), (None, None)),
            ("timeout", json!(""), (None, None)),
            ("timeout", json!(null), (None, None)),
        ] {
            assert_eq!(times(&json!({ name: value })), Ok(expected), "{name} {value}");
        }
        assert!(times(&json!({ "timeout": "soon" })).is_err());
    }
}
