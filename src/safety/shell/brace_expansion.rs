//! Expands braces as a shell does, so that an option hidden in them is seen: `{-rf,x}` is
//! `-rf x`. For finding danger only; an expansion is never proof of safety.

/// More words than this are not written by hand; the rest stays as it is.
const MAX_WORDS: usize = 64;

/// The words that a text with braces expands to. Quotes are gone by now, so a quoted brace
/// is expanded too.
pub fn expand(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(word) = open.pop() {
        match innermost_list(&word) {
            Some((before, list, after)) if done.len() + open.len() < MAX_WORDS => {
                let parts = list.split(',').rev().map(|part| format!("{before}{part}{after}"));
                open.extend(parts);
            }
            Some(_) => done.push(word),
            None => match innermost_range(&word) {
                Some((before, numbers, after)) if done.len() + open.len() < MAX_WORDS => {
                    open.extend(numbers.iter().rev().map(|n| format!("{before}{n}{after}")));
                }
                Some(_) | None => done.push(word),
            },
        }
    }
    done
}

/// The first `{1..3}` of plain numbers: the text before, the numbers, and the text after it.
fn innermost_range(text: &str) -> Option<(&str, Vec<u32>, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (range, after) = rest.split_once('}')?;
    let number = |digits: &str| {
        let is_plain = digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() < 5;
        (is_plain && (digits == "0" || !digits.starts_with('0'))).then(|| digits.parse().ok())?
    };
    let (from, to) = range.split_once("..")?;
    let (from, to): (u32, u32) = (number(from)?, number(to)?);
    let numbers: Vec<u32> =
        if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
    (numbers.len() <= MAX_WORDS).then_some((before, numbers, after))
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
            ("{1..3}", "1|2|3"),
            ("a{3..1}b", "a3b|a2b|a1b"),
            ("{a,b}{1..2}", "a1|a2|b1|b2"),
            ("{01..3}", "{01..3}"),
            ("{a..c}", "{a..c}"),
            ("{1..99999}", "{1..99999}"),
        ] {
            assert_eq!(expand(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn expansion_of_many_braces_is_bounded() {
        assert!(expand(&"{a,b}".repeat(40)).len() <= 2 * MAX_WORDS);
    }
}
