//! The user's rules with their own tests: `{ rule = "just *", match = ["just test"], not_match =
//! ["just deploy"] }` in place of the bare rule.
//!
//! An allowing rule that fails its tests is left out; a forbidding one stays in force, since
//! leaving it out would allow something. Both are reported.

use std::ops::Range;

use toml_edit::{Array, Item, Value};

use super::diagnostic::{ConfigError, describe_item};
use avocet_core::i18n::{self, LocalizedText};
use avocet_safety::PolicyRule;

/// A position in the text, and the problem there.
type RuleProblem = (Option<usize>, ConfigError);

/// The rules of a list, and the problems with the others.
pub(super) fn read(key: &str, items: &Array) -> (Vec<String>, Vec<RuleProblem>) {
    let forbids = key.ends_with("deny");
    let mut rules = Vec::new();
    let mut wrong = Vec::new();

    for item in items {
        let at = item.span().map(|span: Range<usize>| span.start);
        match parse_rule(item) {
            Ok((rule, None)) => rules.push(rule),
            Ok((rule, Some(say))) => {
                if forbids {
                    rules.push(rule);
                }
                wrong.push((at, ConfigError::Rule(say)));
            }
            // A rule that cannot be parsed may have been meant to forbid something.
            Err(found) => {
                let expected = i18n::config::A_LIST_OF_RULES.into();
                wrong.push((at, ConfigError::mismatch(expected, found)));
            }
        }
    }
    (rules, wrong)
}

/// Whether a rule may be written like this.
pub(super) fn is_rule(text: &str) -> bool {
    text.len() <= 1000 && !text.chars().any(char::is_control) && PolicyRule::parse(text).is_ok()
}

/// A rule, and the tests it fails.
fn parse_rule(item: &Value) -> Result<(String, Option<LocalizedText>), LocalizedText> {
    let found = || describe_item(&Item::from(item.clone()));
    let Some(table) = item.as_inline_table() else {
        let text = item.as_str().filter(|text| is_rule(text));
        return text.map(|text| (text.to_owned(), None)).ok_or_else(found);
    };
    let text = table.get("rule").and_then(Value::as_str).filter(|text| is_rule(text));
    let text = text.ok_or_else(found)?;
    let rule = PolicyRule::parse(text)?;
    let mut failed = None;
    for (name, value) in table.iter() {
        let wanted = match name {
            "rule" => continue,
            "match" => true,
            "not_match" => false,
            other => return Err(i18n::config::FOUND_VALUE.with("value", other)),
        };
        for line in value.as_array().ok_or_else(found)? {
            let line = line.as_str().ok_or_else(found)?;
            if failed.is_none() && rule.matches_line(line) != Some(wanted) {
                let word = if wanted {
                    i18n::config::RULE_MUST_MATCH
                } else {
                    i18n::config::RULE_MUST_NOT_MATCH
                };
                failed = Some(word.with("rule", text).with("line", line));
            }
        }
    }
    Ok((text.to_owned(), failed))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::keys::KEYS;
    use super::super::toml_schema::{self, TomlValue};

    use avocet_core::i18n::{Lang, Localize};

    fn of(text: &str) -> (Vec<(String, Vec<String>)>, Vec<String>) {
        let reading = toml_schema::read(Path::new("config.toml"), text, KEYS);
        let lists = reading.found.into_iter().map(|found| match found.value {
            TomlValue::List(items) => (found.path, items),
            other => panic!("{other:?}"),
        });
        let said = reading.problems.iter().map(|problem| problem.localized().text(Lang::En));
        (lists.collect(), said.collect())
    }

    #[test]
    fn a_rule_that_passes_its_tests_counts() {
        let (lists, said) = of(r#"[safety]
allow = ["git add *", { rule = "just *", match = ["just test"], not_match = ["justfile", "make x"] }]"#);
        assert_eq!(lists[0].1, ["git add *", "just *"]);
        assert_eq!(said, [""; 0]);
    }

    #[test]
    fn a_rule_that_fails_its_tests_is_left_out_and_the_others_stay() {
        for (tests, word) in [
            (r#"match = ["just"]"#, "`just`"),
            (r#"not_match = ["just test all"]"#, "`just test all`"),
            (r#"match = ["just 'x"]"#, "just 'x"),
        ] {
            let text = format!(
                "[safety]\nallow = [\"git add *\",\n {{ rule = \"just test *\", {tests} }}]"
            );
            let (lists, said) = of(&text);
            assert_eq!(lists[0].1, ["git add *"], "{tests}");
            assert_eq!(said.len(), 1);
            assert!(said[0].contains("line 3") && said[0].contains(word), "{said:?}");
        }
    }

    #[test]
    fn a_deny_rule_stays_in_force_when_its_tests_fail() {
        let (lists, said) = of("[safety]\ndeny = [{ rule = \"just *\", match = [\"make\"] }]");
        assert_eq!(lists[0].1, ["just *"]);
        assert_eq!(said.len(), 1);
    }

    #[test]
    fn an_invalid_rule_is_reported() {
        for item in [
            "7",
            "\"*\"",
            "{ match = [] }",
            "{ rule = \"x\", mach = [] }",
            "{ rule = \"x\", match = 1 }",
        ] {
            let (_, said) = of(&format!("[safety]\nallow = [{item}]"));
            assert_eq!(said.len(), 1, "{item}");
        }
    }
}
