//! `{{…}}` inside an expression. Its value is inserted as a literal, never as code: a name that
//! contains `' || steal() || '` stays a text.

use super::json5;

/// One part of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpolationPart<'a> {
    Code(&'a str),
    /// A template from `{{` to `}}`, and the quote it is inside of.
    Template {
        template: &'a str,
        quote: Option<char>,
    },
}

/// Splits an expression at its `{{…}}`.
pub fn split(text: &str) -> Vec<InterpolationPart<'_>> {
    let mut parts = Vec::new();
    let mut quote: Option<char> = None;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, tail)) = after.split_once("}}") else { break };
        quote = quote_after(before, quote);
        if !before.is_empty() {
            parts.push(InterpolationPart::Code(before));
        }
        let template = rest.split_at(before.len()).1.split_at(inside.len() + 4).0;
        parts.push(InterpolationPart::Template { template, quote });
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(InterpolationPart::Code(rest));
    }
    parts
}

/// The quote that is still open after the code.
fn quote_after(code: &str, mut quote: Option<char>) -> Option<char> {
    let mut escaped = false;
    for c in code.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None => {}
        }
    }
    quote
}

/// A rendered value as it may appear in the expression: inside a quote its signs are escaped,
/// otherwise it is a number, a literal word, or a quoted text.
pub fn literal(value: &str, quote: Option<char>) -> String {
    let Some(mark) = quote else {
        let plain = json5::read(value).filter(|value| !value.is_string());
        return plain.unwrap_or_else(|| value.into()).to_string();
    };
    let mut out = String::new();
    for c in value.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => {
                if c == '\\' || c == mark || c == '$' {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, value: &str) -> String {
        let put = |part| match part {
            InterpolationPart::Code(code) => code.to_owned(),
            InterpolationPart::Template { quote, .. } => literal(value, quote),
        };
        split(text).into_iter().map(put).collect()
    }

    #[test]
    fn an_interpolated_value_is_a_literal_in_every_position() {
        let evil = "' || $exec() || \"`${1}\\\n";
        assert_eq!(filled("'{{a}}' == b", evil), "'\\' || \\$exec() || \"`\\${1}\\\\\\n' == b");
        assert_eq!(filled("{{a}} == 'x'", "x y"), "\"x y\" == 'x'");
        assert_eq!(filled("{{a}} + 1", "5"), "5 + 1");
        assert_eq!(filled("\"it's {{a}}\"", "\""), "\"it's \\\"\"");
        assert_eq!(filled("'don\\'t' + {{ a }}", "true"), "'don\\'t' + true");
        assert_eq!(filled("no {{ gap", "x"), "no {{ gap");
    }
}
