//! `{name}`, and `{{` for a literal brace, as in Python's format strings and LangChain. Braces
//! around anything but a name are kept, because prompts contain JSON and code.

use serde_json::Value;

use super::limits::{MAX_OUTPUT, output_limit_error};
use super::{TemplateNames, print};
use crate::error::ScriptError;
use crate::text::delimiters;

pub(super) fn render(text: &str, data: &Value) -> Result<String, ScriptError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = tail.strip_prefix("{{") {
            out.push('{');
            rest = after;
        } else if let Some(after) = tail.strip_prefix("}}") {
            out.push('}');
            rest = after;
        } else if let Some((value, after)) = render_field(tail, data) {
            out.push_str(&value);
            rest = after;
        } else {
            let (brace, after) = tail.split_at(1);
            out.push_str(brace);
            rest = after;
        }
        if out.len() > MAX_OUTPUT {
            return Err(output_limit_error());
        }
    }
    out.push_str(rest);
    if out.len() > MAX_OUTPUT { Err(output_limit_error()) } else { Ok(out) }
}

/// Finds the names a text reads.
pub(super) fn compile(text: &str) -> TemplateNames {
    let mut variables = Vec::new();
    let mut rest = text;
    while let Some((_, tail)) = rest.find('{').map(|at| rest.split_at(at)) {
        let after = tail.strip_prefix('{').unwrap_or_default();
        let field = if after.starts_with('{') { None } else { parse_field(tail) };
        rest = match field {
            Some((_, rest)) => {
                let name = delimiters::leading_word(after, |_| false).map(|(name, _)| name);
                variables.extend(name.map(str::to_owned));
                rest
            }
            None => after.strip_prefix('{').unwrap_or(after),
        };
    }
    variables.sort_unstable();
    variables.dedup();
    let last = text.rfind('{').map(|at| text.split_at(at));
    let last = last.filter(|(before, tail)| !before.ends_with('{') && !tail.contains('}'));
    let unclosed = last.and_then(|(_, tail)| {
        let (name, _) = delimiters::leading_word(tail.strip_prefix('{')?, |_| false)?;
        Some(format!("{{{name}"))
    });
    TemplateNames { variables, unclosed, ..TemplateNames::default() }
}

/// `{name}`, `{a.b}`, `{a[0]}`, `{price:.2f}`, `{name!r}`.
struct Field<'a> {
    path: &'a str,
    is_quoted: bool,
    spec: Option<&'a str>,
}

/// The field that a text begins with, and the rest.
fn parse_field(text: &str) -> Option<(Field<'_>, &str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let (inside, spec) = match inside.split_once(':') {
        Some((path, spec)) => (path, Some(spec)),
        None => (inside, None),
    };
    let (path, is_quoted) = match inside.split_once('!') {
        Some((path, "r")) => (path, true),
        Some((path, "s" | "a")) => (path, false),
        Some(_) => return None,
        None => (inside, false),
    };
    find_path(path, &Value::Null)?;
    spec.map_or(Some(()), |spec| FormatSpec::parse(spec).map(|_| ()))?;
    Some((Field { path, is_quoted, spec }, after))
}

/// The text of the field that a text begins with, and the rest.
fn render_field<'a>(text: &'a str, data: &Value) -> Option<(String, &'a str)> {
    let (Field { path, is_quoted, spec }, after) = parse_field(text)?;
    let value = find_path(path, data)?;
    let value = value.unwrap_or(&Value::Null);
    let shown = match spec {
        Some(spec) => format_value(value, spec)?,
        None if is_quoted && value.is_string() => format!("'{}'", print::text(value)),
        None => print::text(value),
    };
    Some((shown, after))
}

/// The value of a path; `None` if the text is not a path.
fn find_path<'d>(path: &str, data: &'d Value) -> Option<Option<&'d Value>> {
    let (name, mut rest) = delimiters::leading_word(path, |_| false)?;
    let mut value = data.get(name);
    while !rest.is_empty() {
        let (key, after) = match rest.strip_prefix('[') {
            Some(open) => open.split_once(']')?,
            None => delimiters::leading_word(rest.strip_prefix('.')?, |_| false)?,
        };
        value = value.and_then(|value| match key.parse::<usize>() {
            Ok(index) if value.is_array() => value.get(index),
            _ => value.get(key.trim_matches(['\'', '"'])),
        });
        rest = after;
    }
    Some(value)
}

/// A value in Python's format: `.2f`, `05d`, `+,`, `%`, `>8`, `.3`; `None` for an unknown format, or
/// one that does not fit the value, which then stays as text.
fn format_value(value: &Value, spec: &str) -> Option<String> {
    let spec = FormatSpec::parse(spec)?;
    match value {
        Value::Number(_) if spec.kind != Some('s') => spec.format_number(value),
        value => spec.format_text(print::text(value)),
    }
}

/// `[[fill]align][sign][0][width][,][.precision][type]`
#[derive(Debug, Default)]
struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// The widest field, and the most digits after the point.
const MAX_WIDTH: usize = 1000;
const MAX_DIGITS: usize = 20;

impl FormatSpec {
    fn parse(text: &str) -> Option<FormatSpec> {
        let is_align = |c: &char| matches!(c, '<' | '>' | '^' | '=');
        let mut spec = FormatSpec::default();
        let mut rest = text.chars().peekable();
        let mut ahead = text.chars();
        let first = ahead.next();
        let second = ahead.next();

        if second.as_ref().is_some_and(is_align) {
            (spec.fill, spec.align) = (first, second);
            rest.nth(1);
        } else {
            spec.align = rest.next_if(is_align);
        }
        spec.sign = rest.next_if(|c| matches!(c, '+' | '-' | ' '));
        if rest.next_if_eq(&'0').is_some() {
            spec.fill = spec.fill.or(Some('0'));
            spec.align = spec.align.or(Some('='));
        }
        let digits = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits
        };
        let width = digits(&mut rest);
        spec.width = if width.is_empty() { 0 } else { width.parse().ok()? };
        spec.grouping = rest.next_if(|c| matches!(c, ',' | '_'));
        if rest.next_if_eq(&'.').is_some() {
            spec.precision = Some(digits(&mut rest).parse().ok()?);
        }
        spec.kind = rest.next();
        let fits = spec.width <= MAX_WIDTH && spec.precision.is_none_or(|most| most <= MAX_DIGITS);
        (fits && rest.next().is_none()).then_some(spec)
    }

    fn format_text(&self, text: String) -> Option<String> {
        let fits = matches!(self.kind, None | Some('s'))
            && (self.sign.is_none() && self.grouping.is_none() && self.align != Some('='));
        let text = match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        };
        fits.then(|| self.padded("", &text, '<'))
    }

    fn format_number(&self, value: &Value) -> Option<String> {
        let number = value.as_f64()?;
        let digits = match self.kind {
            None if self.precision.is_none() => print::text(value),
            Some('d' | 'n') if self.precision.is_none() => value.as_i64()?.to_string(),
            Some('f' | 'F') => format!("{number:.*}", self.precision.unwrap_or(6)),
            Some('%') => format!("{:.*}%", self.precision.unwrap_or(6), number * 100.0),
            Some('e') => scientific(number, self.precision.unwrap_or(6)),
            Some('E') => scientific(number, self.precision.unwrap_or(6)).to_uppercase(),
            Some('x') => format!("{:x}", value.as_u64()?),
            Some('X') => format!("{:X}", value.as_u64()?),
            Some('o') => format!("{:o}", value.as_u64()?),
            Some('b') => format!("{:b}", value.as_u64()?),
            _ => return None,
        };
        let (sign, digits) = match (digits.strip_prefix('-'), self.sign) {
            (Some(digits), _) => ("-", digits),
            (None, Some('+')) => ("+", digits.as_str()),
            (None, Some(' ')) => (" ", digits.as_str()),
            (None, _) => ("", digits.as_str()),
        };
        let digits = match self.grouping {
            Some(mark) => grouped(digits, mark),
            None => digits.to_owned(),
        };
        Some(self.padded(sign, &digits, '>'))
    }

    /// The text in a field of the width.
    fn padded(&self, sign: &str, text: &str, usual: char) -> String {
        let missing = self.width.saturating_sub(sign.chars().count() + text.chars().count());
        let fill = |count: usize| self.fill.unwrap_or(' ').to_string().repeat(count);
        match self.align.unwrap_or(usual) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '^' => format!("{}{sign}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!("{}{sign}{text}", fill(missing)),
        }
    }
}

/// `1.5e+02`, as Python writes it.
fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let sign = if power.starts_with('-') { '-' } else { '+' };
            format!("{digits}e{sign}{:0>2}", power.trim_start_matches('-'))
        }
        None => text,
    }
}

/// The digits above the point in groups of three.
fn grouped(digits: &str, mark: char) -> String {
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(mark);
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_formatted_as_in_python() {
        let data = json!({"x": 1234, "f": 1234.5, "n": -7, "s": "abcdef", "r": 0.256});
        for (template, shown) in [
            ("{x:05d}", "01234"),
            ("{n:05d}", "-0007"),
            ("{x:+}", "+1234"),
            ("{n:+}", "-7"),
            ("{x:,}", "1,234"),
            ("{f:,.2f}", "1,234.50"),
            ("{r:%}", "25.600000%"),
            ("{r:.0%}", "26%"),
            ("{s:.2}", "ab"),
            ("{s:*^10.3}", "***abc****"),
            ("{x:>6}|{x:<6}|{x:^6}", "  1234|1234  | 1234 "),
            ("{x:6}|{s:8}|", "  1234|abcdef  |"),
            ("{x:d}{s:s}", "1234abcdef"),
            ("{f:.1e}", "1.2e+03"),
            ("{x:x} {x:b}", "4d2 10011010010"),
            ("{x:q} {s:d} {s:>9999}", "{x:q} {s:d} {s:>9999}"),
        ] {
            assert_eq!(render(template, &data).unwrap(), shown, "{template}");
        }
    }

    #[test]
    fn a_text_tells_the_names_that_it_reads() {
        for (text, read) in [
            ("{b} {a.c} {a[0]} {x:.2f} {y!r}", &["a", "b", "x", "y"][..]),
            ("{{literal}} {{{deep}}} {\"json\": 1} {} { } {a b} }", &["deep"]),
        ] {
            assert_eq!(compile(text).variables, read, "{text}");
        }
    }
}
