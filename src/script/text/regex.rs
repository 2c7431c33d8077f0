//! The regular expressions of scripts: `/source/flags`, with a limit on the work of one match.

use fancy_regex::{Captures, RegexBuilder};

use super::super::error::{ScriptError, quoted};
use avocet_core::i18n::script_run as phrases;

/// Backtracking steps before a regular expression is given up.
const BACKTRACKS: usize = 1_000_000;

/// The first match in a text. Flags of other languages are ignored.
pub fn captures<'t>(
    source: &str,
    flags: &str,
    text: &'t str,
) -> Result<Option<Captures<'t, str>>, ScriptError> {
    let flags: String = flags.chars().filter(|c| matches!(c, 'i' | 'm' | 's')).collect();
    let whole = if flags.is_empty() { source.to_owned() } else { format!("(?{flags}){source}") };
    let regex = RegexBuilder::new(&whole).backtrack_limit(BACKTRACKS).build();
    regex.and_then(|regex| regex.captures(text)).map_err(|error| {
        let why = quoted(&error.to_string());
        phrases::BAD_PATTERN.with("pattern", quoted(source)).with("why", why).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, flags: &str, text: &str) -> Option<String> {
        captures(source, flags, text).unwrap().map(|it| it.get(0).unwrap().as_str().to_owned())
    }

    #[test]
    fn isdk_078_flags_are_followed_and_those_of_javascript_alone_ignored() {
        assert_eq!(found("ab", "", "xAB"), None);
        assert_eq!(found("ab", "gi", "xAB"), Some("AB".to_owned()));
        assert_eq!(found("a.b", "s", "a\nb"), Some("a\nb".to_owned()));
        assert_eq!(found("^b", "my", "a\nb"), Some("b".to_owned()));
    }

    #[test]
    fn a_pattern_that_is_wrong_or_explodes_is_an_error() {
        let error = captures("(", "", "").unwrap_err().to_string();
        assert!(error.contains("`(`"), "{error}");
        assert!(captures("(a|b|ab)*(?>c)", "", &"ab".repeat(28)).is_err());
    }
}
