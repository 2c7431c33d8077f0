//! Discord's text: what users wrote as phrases, and what is shown to them without markup. Pure.

/// A user, channel or role that a message names: its id and its name.
pub type MentionedName = (String, String);

/// The text as it was typed: mentions in words, and without the mention of the bot.
pub fn readable(text: &str, bot: &str, users: &[MentionedName]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('<') {
        out.push_str(before);
        let reference = inside.split_once('>').and_then(|(reference, after)| {
            in_words(reference, bot, users).map(|words| (words, after))
        });
        rest = match reference {
            Some((words, after)) => {
                out.push_str(&words);
                after
            }
            None => {
                out.push('<');
                inside
            }
        };
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// `@1`, `@!1`, `@&1`, `#1`, `:name:1` and `a:name:1`; anything else is text.
fn in_words(reference: &str, bot: &str, users: &[MentionedName]) -> Option<String> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(id) = reference.strip_prefix("@&").or(reference.strip_prefix('#')) {
        return is_id(id).then(|| reference.replace('&', ""));
    }
    if let Some(id) = reference.strip_prefix('@') {
        let id = id.trim_start_matches('!');
        return is_id(id).then(|| match users.iter().find(|(known, _)| known == id) {
            _ if id == bot => String::new(),
            Some((_, name)) => format!("@{name}"),
            None => format!("@{id}"),
        });
    }
    let (name, id) = reference.strip_prefix('a').unwrap_or(reference).rsplit_once(':')?;
    (name.starts_with(':') && is_id(id)).then(|| format!("{name}:"))
}

/// Characters that begin markup somewhere.
const MARKS: &str = "\\*_~`|>#-+[]()<@";

/// The text with its characters shown as they are, in at most `most` characters: escaped, or if
/// that is too long, as a block of code. If that is too long as well, its backticks are shown as
/// single quotes, which adds nothing: a text of `most` - 8 characters always fits.
pub fn verbatim(text: &str, most: usize) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if MARKS.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    if escaped.chars().count() <= most {
        return escaped;
    }
    // A block ends at three marks in a row, so they are kept apart.
    let block = |text: String| format!("```\n{text}\n```");
    let apart = block(text.replace("``", "`\u{200b}`"));
    if apart.chars().count() <= most { apart } else { block(text.replace('`', "'")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_words_and_the_bot_disappears() {
        let users = [("1".to_owned(), "ann".to_owned())];
        for (text, plain) in [
            ("<@900> run", "run"),
            ("run <@!900>", "run"),
            ("<@1> and <@2>, <@&3>", "@ann and @2, @3"),
            ("see <#5> <:ok:6> <a:wave:7>", "see #5 :ok: :wave:"),
            ("1 < 2 > 1 <b> <@x> <", "1 < 2 > 1 <b> <@x> <"),
            ("a <<@900>>", "a <>"),
        ] {
            assert_eq!(readable(text, "900", &users), plain, "{text}");
        }
    }

    #[test]
    fn plain_text_shows_its_marks_and_never_grows_over_the_limit() {
        assert_eq!(verbatim("*a* `b` <@1>", 2000), "\\*a\\* \\`b\\` \\<\\@1\\>");
        let marks = "*".repeat(1500);
        let shown = verbatim(&marks, 2000);
        assert_eq!(shown, format!("```\n{marks}\n```"));
        let fence = "`".repeat(900) + &"*".repeat(600);
        let shown = verbatim(&fence, 2000);
        assert!(shown.starts_with("```\n") && shown.chars().count() <= 2000);
        assert_eq!(shown.matches("```").count(), 2);
        // No text is ever sent with live marks.
        let shown = verbatim(&("||hidden||".to_owned() + &"`".repeat(1500)), 2000);
        assert!(shown.starts_with("```\n||hidden||'") && shown.chars().count() <= 2000);
        assert_eq!(shown.matches('`').count(), 6);
    }
}
