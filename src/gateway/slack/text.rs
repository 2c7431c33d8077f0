//! Slack's text: unescapes what users wrote, and escapes what is shown to them. Pure.

/// The text as it was typed: mentions and links in words, entities as characters, and without the
/// mention of the bot.
pub fn unescape(text: &str, bot: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, marked) = rest.split_at(at);
        out.push_str(before);
        rest = match marked.strip_prefix('<') {
            Some(inside) => match inside.split_once('>') {
                Some((reference, after)) => {
                    push_reference(&mut out, reference, bot);
                    after
                }
                None => push(&mut out, '<', inside),
            },
            None => push_entity(&mut out, marked),
        };
    }
    out.push_str(rest);
    out.trim().to_owned()
}

fn push<'a>(out: &mut String, character: char, rest: &'a str) -> &'a str {
    out.push(character);
    rest
}

const ENTITIES: [(&str, char); 3] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>')];

fn push_entity<'a>(out: &mut String, text: &'a str) -> &'a str {
    for (entity, character) in ENTITIES {
        if let Some(rest) = text.strip_prefix(entity) {
            return push(out, character, rest);
        }
    }
    push(out, '&', text.strip_prefix('&').unwrap_or(text))
}

/// What is between `<` and `>`: `@U1`, `#C1|name`, `!here`, `https://x.example|x.example`.
fn push_reference(out: &mut String, reference: &str, bot: &str) {
    let (target, label) = match reference.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (reference, None),
    };
    let named = |sign: char, id: &str| {
        let name = label.unwrap_or(id);
        format!("{sign}{}", name.trim_start_matches(sign))
    };
    let plain = match target.split_at_checked(1) {
        Some(("@", id)) if id == bot => String::new(),
        Some(("@", id)) => named('@', id),
        Some(("#", id)) => named('#', id),
        Some(("!", special)) => match (special.split_once('^'), label) {
            (Some(_), Some(label)) => label.to_owned(),
            _ => named('@', special),
        },
        _ => match label {
            // An address that was typed is marked up by the service; one with other words is not.
            Some(label) if target.ends_with(label) => label.to_owned(),
            Some(label) => format!("{label} ({target})"),
            None => target.to_owned(),
        },
    };
    let mut rest = plain.as_str();
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        rest = push_entity(out, entity);
    }
    out.push_str(rest);
}

/// True if the bot is mentioned.
pub fn mentions(text: &str, bot: &str) -> bool {
    !bot.is_empty() && (text.contains(&format!("<@{bot}>")) || text.contains(&format!("<@{bot}|")))
}

/// The text for a place where `&`, `<` and `>` have a meaning.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_become_words_and_the_bot_disappears() {
        for (text, plain) in [
            ("<@UBOT> run it", "run it"),
            ("run it <@UBOT|avocet>", "run it"),
            ("ask <@U1> or <@U2|ann>", "ask @U1 or @ann"),
            ("see <#C1|general> and <#C2>", "see #general and #C2"),
            ("<!here> <!subteam^S1|@ops> <!date^1^{date}|noon>", "@here @ops noon"),
            ("<https://x.example/a?b=1&amp;c=2>", "https://x.example/a?b=1&c=2"),
            ("<https://x.example|x.example>", "x.example"),
            (
                "<https://evil.example|https://good.example>",
                "https://good.example (https://evil.example)",
            ),
            ("<mailto:a@b.example|a@b.example>", "a@b.example"),
            ("a &amp;&amp; b &lt;c&gt; &amp;lt;", "a && b <c> &lt;"),
            ("1 < 2 & 3", "1 < 2 & 3"),
            ("<", "<"),
            ("&", "&"),
            ("<>", ""),
        ] {
            assert_eq!(unescape(text, "UBOT"), plain, "{text}");
        }
    }

    #[test]
    fn only_the_bot_itself_is_a_mention() {
        assert!(mentions("hi <@UBOT>", "UBOT") && mentions("<@UBOT|avocet> hi", "UBOT"));
        assert!(
            !mentions("<@UBOT2> hi", "UBOT") && !mentions("UBOT", "UBOT") && !mentions("<@>", "")
        );
    }

    proptest! {
        #[test]
        fn escaped_text_comes_back_as_it_was(text in "[ -~äö漢😀]{0,40}") {
            prop_assert_eq!(unescape(&escape(&text), "UBOT"), text.trim());
        }

        #[test]
        fn any_text_can_be_unescaped(text in "[<>&|@#!^a-z;é]{0,40}") {
            unescape(&text, "UBOT");
        }
    }
}
