//! `/goal`: reads the goal, and what says that it is met.

use avocet_core::i18n::{LocalizedText, goal as phrases};
use avocet_core::protocol::{GoalRequest, Money};
use avocet_core::text::cut;

/// The longest wrong amount that is quoted, in characters.
const MAX_SHOWN: usize = 40;

/// `TEXT [--until COMMAND] [--max-cost N]`, or what the words say of the goal that there is.
pub fn request(words: &str) -> Result<GoalRequest, LocalizedText> {
    match words.trim() {
        "" => return Ok(GoalRequest::Show),
        "clear" => return Ok(GoalRequest::Clear),
        "resume" => return Ok(GoalRequest::Resume),
        _ => {}
    }
    let (before, until) = split_option(words, "--until");
    let (text, cost) = split_option(before, "--max-cost");
    // A command may have such an option itself, so only one at its end is ours.
    let (until, last_cost) = match until.map(|until| split_option(until, "--max-cost")) {
        Some((command, Some(cost))) if !cost.contains(char::is_whitespace) => {
            (Some(command), Some(cost))
        }
        _ => (until, None),
    };
    let until = until.map(unquoted);
    if text.is_empty() {
        return Err(phrases::NO_TEXT.into());
    }
    if until == Some("") {
        return Err(phrases::NO_COMMAND.into());
    }
    let max_cost = last_cost.or(cost).map(|amount| {
        let dollars = amount.trim_start_matches('$').parse().ok().and_then(Money::from_dollars);
        let dollars = dollars.filter(|dollars| !dollars.is_zero());
        dollars.ok_or_else(|| phrases::NO_COST.with("found", cut(amount, MAX_SHOWN)))
    });
    let max_cost = max_cost.transpose()?;
    Ok(GoalRequest::Set { text: text.to_owned(), until: until.map(str::to_owned), max_cost })
}

/// The same without a user, who alone asks about a goal.
pub fn goal_to_set(words: &str) -> Result<GoalRequest, LocalizedText> {
    match request(words)? {
        goal @ GoalRequest::Set { .. } => Ok(goal),
        _ => Err(phrases::NO_TEXT.into()),
    }
}

/// What is before an option and what follows it, both trimmed.
fn split_option<'w>(words: &'w str, name: &str) -> (&'w str, Option<&'w str>) {
    let is_word = |at: usize| {
        let follows = words.get(at + name.len()..).unwrap_or_default();
        let ends = |text: &str| text.is_empty() || text.starts_with(char::is_whitespace);
        let before = words.get(..at).unwrap_or_default();
        ends(follows) && (before.is_empty() || before.ends_with(char::is_whitespace))
    };
    match words.match_indices(name).find(|(at, _)| is_word(*at)) {
        Some((at, _)) => {
            let (before, option) = words.split_at(at);
            (before.trim(), Some(option.strip_prefix(name).unwrap_or_default().trim()))
        }
        None => (words.trim(), None),
    }
}

/// A command that was typed in quotes as a whole.
fn unquoted(command: &str) -> &str {
    let inner = |quote: char| {
        let inner = command.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    };
    inner('"').or_else(|| inner('\'')).unwrap_or(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_read_with_its_command_and_its_limit_in_either_order() {
        let set = |text: &str, until: Option<&str>, cost: Option<u64>| GoalRequest::Set {
            text: text.to_owned(),
            until: until.map(str::to_owned),
            max_cost: cost.map(Money),
        };
        for (words, goal) in [
            ("", GoalRequest::Show),
            ("clear", GoalRequest::Clear),
            ("resume", GoalRequest::Resume),
            ("all tests pass", set("all tests pass", None, None)),
            ("pass --until npm test", set("pass", Some("npm test"), None)),
            (
                "pass --until \"npm test\" --max-cost 2",
                set("pass", Some("npm test"), Some(2_000_000)),
            ),
            ("pass --max-cost $0.5 --until npm test", set("pass", Some("npm test"), Some(500_000))),
            ("x --until run --max-cost 3 --now", set("x", Some("run --max-cost 3 --now"), None)),
            ("explain --untilnow", set("explain --untilnow", None, None)),
        ] {
            assert_eq!(request(words), Ok(goal), "{words}");
        }
        for wrong in ["--until npm test", "x --until", "x --max-cost", "x --max-cost -1"] {
            assert!(request(wrong).is_err(), "{wrong}");
        }
    }
}
