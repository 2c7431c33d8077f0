//! The prefixes that say how a text is meant: `~ ! # #: #+ ?=`.

use super::delimiters;

/// The place of a text; in a message, the `#` of an edit is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixPosition {
    Message,
    Value,
}

/// The meaning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPrefix {
    /// No prefix: rendered when it is sent.
    NoPrefix,
    /// `~`: never rendered.
    Raw,
    /// `!`, `#`: rendered at once.
    Now,
    /// `?=`: an expression.
    Expression,
    /// `#:[at:role]`: replaces a message.
    Replace(MessageEdit),
    /// `#+[at:role]`: is inserted between the messages.
    Insert(MessageEdit),
}

/// The message an edit refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageEdit {
    /// From 0 at the start, from -1 at the end; `None` is the last message, or the end.
    pub at: Option<i64>,
    /// `None` keeps the role of a replaced message; a new one is `user`.
    pub role: Option<String>,
    /// Rendered at once.
    pub now: bool,
}

/// The prefix of a text (`?=`, `~`, `!`, `#…`, `:[…]`), and the text without it. A malformed prefix
/// does not count: the whole text is returned.
pub fn parse_prefix(text: &str, position: PrefixPosition) -> (TextPrefix, &str) {
    if let Some(rest) = text.strip_prefix("?=") {
        return (TextPrefix::Expression, rest);
    }
    if let Some(rest) = text.strip_prefix('~') {
        return (TextPrefix::Raw, rest);
    }
    if let Some(rest) = text.strip_prefix('!') {
        return (TextPrefix::Now, rest);
    }
    if let Some(rest) = text.strip_prefix('#') {
        if !rest.starts_with([':', '+']) {
            return (TextPrefix::Now, rest.strip_prefix('!').unwrap_or(rest));
        }
        return edit(rest).unwrap_or((TextPrefix::NoPrefix, text));
    }
    // Without `#`, what follows tells an edit from a text such as `+1 from me` or `:) hello`.
    let after = text.strip_prefix([':', '+']).and_then(|rest| rest.chars().next());
    let is_edit = after.is_some_and(|c| c.is_alphabetic() || matches!(c, '[' | '{' | '!'));
    if position == PrefixPosition::Message && is_edit {
        return edit(text).unwrap_or((TextPrefix::NoPrefix, text));
    }
    (TextPrefix::NoPrefix, text)
}

fn edit(text: &str) -> Option<(TextPrefix, &str)> {
    let (replaces, rest) = match text.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+')?),
    };
    let (at, role, rest) = match rest.strip_prefix('[') {
        Some(open) => {
            let (inside, rest) = open.split_once(']')?;
            let (at, role) = parse_target(inside)?;
            (at, role, rest)
        }
        None => (None, None, rest),
    };
    let (now, rest) = match rest.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let edit = MessageEdit { at, role, now };
    Some((if replaces { TextPrefix::Replace(edit) } else { TextPrefix::Insert(edit) }, rest))
}

/// `-1`, `-1:role`, `:role`, `role`.
fn parse_target(inside: &str) -> Option<(Option<i64>, Option<String>)> {
    let inside = inside.trim();
    let (index, role) = match inside.split_once(':') {
        Some((index, role)) => (index.trim(), role.trim()),
        None if delimiters::leading_word(inside, |_| false).is_some() => ("", inside),
        None => (inside, ""),
    };
    let at = if index.is_empty() { None } else { Some(index.parse().ok()?) };
    let role = match role {
        "" => None,
        role => {
            let (name, rest) = delimiters::leading_word(role, |c| c == '-')?;
            Some(rest.is_empty().then(|| name.to_owned())?)
        }
    };
    Some((at, role))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(at: Option<i64>, role: Option<&str>, now: bool) -> MessageEdit {
        MessageEdit { at, role: role.map(str::to_owned), now }
    }

    /// ISDK-059, 149, 150, 151: the one-sign prefixes.
    #[test]
    fn isdk_149_a_one_character_prefix_sets_how_a_text_is_rendered() {
        assert_eq!(parse_prefix("~{{x}}", PrefixPosition::Value), (TextPrefix::Raw, "{{x}}"));
        assert_eq!(parse_prefix("!{{x}}", PrefixPosition::Value), (TextPrefix::Now, "{{x}}"));
        assert_eq!(parse_prefix("#{{x}}", PrefixPosition::Value), (TextPrefix::Now, "{{x}}"));
        assert_eq!(parse_prefix("?=a+1", PrefixPosition::Value), (TextPrefix::Expression, "a+1"));
        assert_eq!(parse_prefix(" ?=a", PrefixPosition::Value), (TextPrefix::NoPrefix, " ?=a"));
    }

    /// ISDK-152, 153: edits of the messages.
    #[test]
    fn isdk_152_an_edit_names_its_message_and_role() {
        let cases = [
            ("#:[0:system]x", TextPrefix::Replace(edit(Some(0), Some("system"), false)), "x"),
            ("#:[-1]x", TextPrefix::Replace(edit(Some(-1), None, false)), "x"),
            ("#:x", TextPrefix::Replace(edit(None, None, false)), "x"),
            ("#:!x", TextPrefix::Replace(edit(None, None, true)), "x"),
            ("#:[0]!x", TextPrefix::Replace(edit(Some(0), None, true)), "x"),
            (
                "#+[-1:assistant]x",
                TextPrefix::Insert(edit(Some(-1), Some("assistant"), false)),
                "x",
            ),
            ("#+[assistant]x", TextPrefix::Insert(edit(None, Some("assistant"), false)), "x"),
            ("#+!x", TextPrefix::Insert(edit(None, None, true)), "x"),
            (":[0]x", TextPrefix::Replace(edit(Some(0), None, false)), "x"),
            ("+[0]x", TextPrefix::Insert(edit(Some(0), None, false)), "x"),
        ];
        for (text, lead, rest) in cases {
            assert_eq!(parse_prefix(text, PrefixPosition::Message), (lead, rest), "{text}");
        }
    }

    /// ISDK-154: a text with no prefix or a malformed one is a message.
    #[test]
    fn isdk_154_a_malformed_prefix_is_part_of_the_message() {
        for text in ["#:[x y]z", "#:[0", "#+[1:a b]z", "+1 from me", ":) hello", "plain"] {
            assert_eq!(
                parse_prefix(text, PrefixPosition::Message),
                (TextPrefix::NoPrefix, text),
                "{text}"
            );
        }
        assert_eq!(parse_prefix(":[0]x", PrefixPosition::Value), (TextPrefix::NoPrefix, ":[0]x"));
    }
}
