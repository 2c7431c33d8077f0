//! Reads the head of an `!fn`: its language mark and its name. The engine reads the rest.

use crate::text::delimiters;

/// A language the engine does not speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedLanguage(pub String);

/// The source without its `[js]` mark.
pub fn function_source(text: &str) -> Result<&str, UnsupportedLanguage> {
    let text = text.trim();
    let Some((mark, rest)) = text.strip_prefix('[').and_then(|open| open.split_once(']')) else {
        return Ok(text);
    };
    match mark.trim().to_ascii_lowercase().as_str() {
        "js" | "javascript" | "mjs" | "cjs" => Ok(rest.trim_start()),
        other if other.chars().all(char::is_alphanumeric) && !other.is_empty() => {
            Err(UnsupportedLanguage(other.to_owned()))
        }
        _ => Ok(text),
    }
}

/// The name a function declares; `None` if it is anonymous.
pub fn function_name(source: &str) -> Option<&str> {
    let mut rest = source.trim_start();
    for word in ["async", "function"] {
        if let Some(after) =
            rest.strip_prefix(word).filter(|after| after.starts_with([' ', '\t', '\n', '*', '(']))
        {
            rest = after.trim_start();
        }
    }
    let rest = rest.strip_prefix('*').map_or(rest, str::trim_start);
    let (name, after) = delimiters::leading_word(rest, |_| false)?;
    after.trim_start().starts_with('(').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ISDK-165: `[js]`, `function` and `async` are optional.
    #[test]
    fn isdk_165_the_head_of_a_function_gives_its_name() {
        for (text, name) in [
            ("hi() {}", Some("hi")),
            ("[js]hi() {}", Some("hi")),
            ("[js] async function hi(a) {}", Some("hi")),
            ("async hi({a}) {}", Some("hi")),
            ("function* hi() {}", Some("hi")),
            ("functional(x) {}", Some("functional")),
            ("(event) { }", None),
            ("async (event) => 1", None),
            ("event => 1", None),
        ] {
            assert_eq!(function_name(function_source(text).unwrap()), name, "{text}");
        }
        assert_eq!(function_source("[rb]def hi"), Err(UnsupportedLanguage("rb".to_owned())));
    }
}
