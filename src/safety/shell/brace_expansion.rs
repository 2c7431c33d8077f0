//! Expands braces as a shell does, so that an option hidden in them is seen: `{-rf,x}` is
//! `-rf x`. For finding danger only; an expansion is never proof of safety.

/// More words than this are not written by hand; the rest stays as it is.
const MOST: usize = 64;

/// The words that a text with braces expands to. Quotes are gone by now, so a quoted brace
/// is expanded too.
pub fn expand(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(word) = open.pop() {
        match innermost_list(&word) {
            Some((before, list, after)) if done.len() + open.len() < MOST => {
                let parts = list.split(',').rev().map(|part| format!("{before}{part}{after}"));
                open.extend(parts);
            }
            Some(_) | None => done.push(word),
        }
    }
    done
}

/// The first list that does not contain another one: the text before, inside and after it.
fn innermost_list(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = None;
    let mut listed = false;
    for (at, c) in text.char_indices() {
        match (c, from) {
            ('{', _) => (from, listed) = (Some(at), false),
            (',', Some(_)) => listed = true,
            ('}', Some(start)) if listed => {
                return Some((text.get(..start)?, text.get(start + 1..at)?, text.get(at + 1..)?));
            }
            ('}', _) => from = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_expanded_and_everything_else_is_kept() {
        for (text, expected) in [
            ("{-rf,x}", "-rf|x"),
            ("-{r,f}", "-r|-f"),
            ("a{b,c{d,e}}f", "abf|acdf|abf|acef"),
            ("{a,b}{1,2}", "a1|a2|b1|b2"),
            ("{}", "{}"),
            ("{a}", "{a}"),
            ("a{b", "a{b"),
            ("{a}{b,c}", "{a}b|{a}c"),
            ("x", "x"),
        ] {
            assert_eq!(expand(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn expansion_of_many_braces_is_bounded() {
        assert!(expand(&"{a,b}".repeat(40)).len() <= 2 * MOST);
    }
}
