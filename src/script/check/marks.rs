//! Marks with a fault, which a run would leave in the text as they are.

use std::sync::LazyLock;

use regex::Regex;

use super::fault_log::FaultLog;
use super::near::with_near;
use crate::error::quoted;
use crate::text::{MessageText, Placeholder, RegexPlaceholder, TextSpan};
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// What follows the `[[` of a text that is certainly meant as a mark: a call that is not closed or
/// that has something after it, a pattern without a variable, a name that is not closed at the end
/// of its line, one that begins with a digit, or two words. Lists of data, as `[[1, 2]]` and
/// `[[a], [b]]`, and the conditions of a shell, as `[[ -f x ]]`, are none of them.
#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static MEANT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:@\$?[\p{L}_][^\n]*|/[^\n]*/[a-z]*:[^\n\]]*\]\]|[\p{L}_][\p{L}\p{N}_]*\]?[ \t]*(?:\n|$)|\d+[\p{L}_][\p{L}\p{N}_]*\]\]|[\p{L}_][\p{L}\p{N}_]*(?: [\p{L}\p{N}_]+)+\]\])",
    )
    .unwrap()
});

/// The `[[` of a text that begin no mark.
pub(super) fn check_broken_marks(text: &str, faults: &mut FaultLog<'_>) {
    for found in broken_marks(text) {
        let shown: String = format!("[[{found}").chars().take(MAX_SHOWN).collect();
        faults.add_of(&shown, phrases::MARK_BROKEN.with("text", quoted(&shown)));
    }
}

/// The choices of a mark.
pub(super) fn check_choices(placeholder: &Placeholder, source: &str, faults: &mut FaultLog<'_>) {
    let Some((_, list)) = source.split_once(":|") else { return };
    let list = list.trim_end_matches("]]");
    if placeholder.choices.is_empty() {
        faults.add_of(source, phrases::MARK_NO_CHOICE.with("text", quoted(source)));
    }
    // A word after the last choice may belong to it, unless it is nearly an option.
    let extra = list.rsplit_once(':').map(|(_, extra)| extra.trim()).unwrap_or_default();
    let extra = extra.strip_prefix("type=").unwrap_or(extra).trim_matches(['"', '\'']);
    let options = ["random"];
    if !options.contains(&extra) && extra.chars().count() > 3 {
        let what = phrases::MARK_OPTION.with("name", quoted(extra));
        let said = with_near(what.clone(), extra, options);
        if said != what {
            faults.add_of(source, said);
        }
    }
}

/// The group that a pattern is to give.
pub(super) fn check_group(mark: &RegexPlaceholder, faults: &mut FaultLog<'_>) {
    if let Some(what) = missing_group(mark) {
        faults.add_of(&mark.source, what);
    }
}

/// How much of a mark is shown.
const MAX_SHOWN: usize = 60;
/// How many of one text are reported.
const MAX_BROKEN: usize = 16;

fn broken_marks(text: &str) -> Vec<&str> {
    let opens = text.match_indices("[[").map(|(at, open)| text.split_at(at + open.len()));
    let meant = opens.filter(|(before, _)| {
        let before = before.trim_end_matches("[[");
        // An escaped one is text, and one inside of a template is a list.
        let in_template = [("{{", "}}"), ("{%", "%}")]
            .iter()
            .any(|(open, close)| before.rfind(open) > before.rfind(close));
        !before.ends_with('\\') && !in_template
    });
    let found = meant.filter_map(|(_, rest)| Some((rest, MEANT.find(rest)?)));
    let broken = found.filter(|(rest, _)| {
        let text = MessageText::read(&format!("[[{rest}"));
        !matches!(text.spans().first(), Some(TextSpan::Mark { .. }))
    });
    broken.take(MAX_BROKEN).map(|(_, found)| found.as_str().trim_end()).collect()
}

fn missing_group(mark: &RegexPlaceholder) -> Option<LocalizedText> {
    let group = mark.group.as_ref()?;
    let flags: String = mark.flags.chars().filter(|c| matches!(c, 'i' | 'm' | 's')).collect();
    let whole =
        if flags.is_empty() { mark.source.clone() } else { format!("(?{flags}){}", mark.source) };
    let regex = fancy_regex::Regex::new(&whole).ok()?;
    let mut names = regex.capture_names().flatten();
    let is_there = match group.parse::<usize>() {
        Ok(number) => number < regex.captures_len(),
        Err(_) => names.any(|name| name == group),
    };
    let what = phrases::MARK_NO_GROUP.with("pattern", quoted(&mark.source));
    (!is_there).then(|| what.with("group", quoted(group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certainly_meant_as_a_mark_is_told_from_data_and_code() {
        let of = |text: &str| broken_marks(text).len();
        for text in
            ["[[A", "[[A]", "a [[A]\nb", "[[@translator('x']]", "[[1A]]", "[[A B]]", "[[/a/:]]"]
        {
            assert_eq!(of(text), 1, "{text}");
        }
        for text in [
            "[[ -f x ]] && y",
            "[[1, 2], [3]]",
            "[[a], [b]]",
            "[[\"a\"]]",
            "\\[[A B]]",
            "[[]]",
            "{{ x([[a b]]) }}",
            "[[a, b]]",
            "[[/etc/hosts]]",
            "[[A]] [[@f(1)]] [[/a/:A]] [[A:|a b|c]]",
        ] {
            assert_eq!(of(text), 0, "{text}");
        }
    }
}
