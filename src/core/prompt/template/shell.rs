//! Parses the shell line of a template: where it ends, and how inserted values must be quoted. Does
//! not judge what it does.
//!
//! It follows quotes, substitutions, parentheses, comments and here-documents. If an argument is in
//! a place that cannot hold any text as one word, the template is refused rather than filled.

use std::borrow::Cow;

use super::placeholder::{ArgPlaceholder, TemplateForm, TemplateValues, placeholder};
use crate::i18n::{Phrase, prompt as phrases};

/// A line with its placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateLine {
    source: String,
    bits: Vec<LinePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LinePart {
    Text(String),
    Placeholder(ArgPlaceholder, Quoting),
}

/// How a value is quoted so that it stays one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// In quotes of its own.
    Word,
    Single,
    Double,
    /// `$'…'`.
    Ansi,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// At the brace that closes it.
    Brace,
    /// At the end of the text.
    Text,
}

impl TemplateLine {
    /// As it is in the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// With the values inserted, each as one word.
    pub fn fill(&self, values: &TemplateValues) -> String {
        let mut out = String::new();
        for bit in &self.bits {
            match bit {
                LinePart::Text(text) => out.push_str(text),
                LinePart::Placeholder(hole, quoting) => {
                    out.push_str(&quote(values.get(*hole), *quoting))
                }
            }
        }
        out.trim().to_owned()
    }

    pub(super) fn placeholders(&self) -> impl Iterator<Item = ArgPlaceholder> {
        self.bits.iter().filter_map(|bit| match bit {
            LinePart::Placeholder(hole, _) => Some(*hole),
            LinePart::Text(_) => None,
        })
    }
}

/// Parses a line; also returns its length in bytes with its closing brace.
pub(super) fn parse(
    text: &str,
    form: TemplateForm,
    end: LineEnd,
) -> Result<(TemplateLine, usize), Phrase> {
    let mut parser = LineParser {
        text,
        form,
        end,
        pos: 0,
        text_start: 0,
        bits: Vec::new(),
        contexts: vec![ShellContext::Plain { braces: 0, parens: Parens::None }],
        at_word_start: true,
        is_uncertain: false,
        here_docs: Vec::new(),
    };
    let closed = parser.run()?;
    let source = text.get(..closed).unwrap_or_default().trim();
    if source.is_empty() {
        return Err(phrases::TEMPLATE_SHELL_EMPTY);
    }
    let len = closed + if end == LineEnd::Brace { 1 } else { 0 };
    Ok((TemplateLine { source: source.to_owned(), bits: parser.bits }, len))
}

/// The construct the parser is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellContext {
    Plain {
        braces: usize,
        parens: Parens,
    },
    Single,
    Double,
    Ansi,
    Backquote,
    /// `$((…))`; the number of open parentheses.
    Arithmetic(usize),
    Comment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parens {
    None,
    Open,
}

/// A here-document whose text has not begun.
#[derive(Debug)]
struct HereDoc {
    delimiter: String,
    tabs: bool,
}

struct LineParser<'a> {
    text: &'a str,
    form: TemplateForm,
    end: LineEnd,
    pos: usize,
    /// Start of the text that is not yet part of a bit.
    text_start: usize,
    bits: Vec<LinePart>,
    contexts: Vec<ShellContext>,
    /// A word may begin here.
    at_word_start: bool,
    /// The rest may not be parsed correctly.
    is_uncertain: bool,
    here_docs: Vec<HereDoc>,
}

impl<'a> LineParser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn top(&mut self) -> &mut ShellContext {
        if self.contexts.is_empty() {
            self.contexts.push(ShellContext::Plain { braces: 0, parens: Parens::None });
        }
        let last = self.contexts.len() - 1;
        &mut self.contexts[last]
    }

    /// Runs to the end of the line; returns its position.
    fn run(&mut self) -> Result<usize, Phrase> {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return self.finish() };
            if let Some((hole, len)) = placeholder(rest, self.form)
                && !self.is_shell_parameter(hole)
            {
                self.push_placeholder(hole, len)?;
                continue;
            }
            let within = *self.top();
            match within {
                ShellContext::Plain { braces: 0, parens: Parens::None }
                    if c == '}' && self.end == LineEnd::Brace =>
                {
                    self.push_text_until(self.pos);
                    return Ok(self.pos);
                }
                ShellContext::Plain { .. } => self.plain(c)?,
                ShellContext::Single => self.leave_on('\'', c),
                ShellContext::Ansi => match c {
                    '\\' => self.skip_escape()?,
                    _ => self.leave_on('\'', c),
                },
                ShellContext::Double => self.double(c)?,
                ShellContext::Backquote => match c {
                    '\\' => self.skip_escape()?,
                    _ => self.leave_on('`', c),
                },
                ShellContext::Arithmetic(open) => self.arithmetic(c, open),
                ShellContext::Comment => self.comment(c),
            }
        }
    }

    /// Handles the end of the text.
    fn finish(&mut self) -> Result<usize, Phrase> {
        if self.end == LineEnd::Brace {
            return Err(phrases::TEMPLATE_SHELL_OPEN);
        }
        self.push_text_until(self.pos);
        Ok(self.pos)
    }

    /// `awk '{print $2}'`: a shell would not expand it in single quotes either.
    fn is_shell_parameter(&mut self, placeholder: ArgPlaceholder) -> bool {
        matches!(placeholder, ArgPlaceholder::Nth(_)) && *self.top() == ShellContext::Single
    }

    fn push_placeholder(&mut self, placeholder: ArgPlaceholder, len: usize) -> Result<(), Phrase> {
        let within = *self.top();
        let quoting = match within {
            _ if self.is_uncertain => return Err(phrases::TEMPLATE_ARG_PLACE),
            ShellContext::Plain { .. } => Quoting::Word,
            ShellContext::Single => Quoting::Single,
            ShellContext::Double => Quoting::Double,
            ShellContext::Ansi => Quoting::Ansi,
            ShellContext::Backquote | ShellContext::Arithmetic(_) | ShellContext::Comment => {
                return Err(phrases::TEMPLATE_ARG_PLACE);
            }
        };
        self.push_text_until(self.pos);
        self.bits.push(LinePart::Placeholder(placeholder, quoting));
        self.pos += len;
        self.text_start = self.pos;
        self.at_word_start = false;
        Ok(())
    }

    fn push_text_until(&mut self, at: usize) {
        if let Some(text) = self.text.get(self.text_start..at).filter(|text| !text.is_empty()) {
            self.bits.push(LinePart::Text(text.to_owned()));
        }
        self.text_start = at;
    }

    fn step(&mut self, c: char) {
        self.pos += c.len_utf8();
        self.at_word_start = c.is_whitespace() || ";&|(){}".contains(c);
    }

    fn consume(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.pos += sign.len();
            self.at_word_start = false;
        }
        found
    }

    fn enter(&mut self, cx: ShellContext) {
        self.contexts.push(cx);
        self.at_word_start = matches!(cx, ShellContext::Plain { .. });
    }

    fn leave_on(&mut self, sign: char, c: char) {
        self.step(c);
        self.at_word_start = false;
        if c == sign {
            self.contexts.pop();
        }
    }

    /// A backslash and the character it escapes. No value can be inserted there.
    fn skip_escape(&mut self) -> Result<(), Phrase> {
        self.step('\\');
        if placeholder(self.rest(), self.form).is_some() {
            return Err(phrases::TEMPLATE_ARG_PLACE);
        }
        if let Some(c) = self.rest().chars().next() {
            self.step(c);
        }
        self.at_word_start = false;
        Ok(())
    }

    fn plain(&mut self, c: char) -> Result<(), Phrase> {
        if c == '\\' {
            return self.skip_escape();
        }
        if c == '\n' && !self.here_docs.is_empty() {
            self.step(c);
            return self.skip_here_documents();
        }
        if self.at_word_start && c == '#' {
            self.enter(ShellContext::Comment);
        } else if self.at_word_start
            && self.rest().split(char::is_whitespace).next() == Some("case")
        {
            // Its patterns close parentheses that were never opened.
            self.is_uncertain = true;
            self.step(c);
        } else if self.consume("$'") {
            self.enter(ShellContext::Ansi);
        } else if self.consume("'") {
            self.enter(ShellContext::Single);
        } else if self.consume("$\"") || self.consume("\"") {
            self.enter(ShellContext::Double);
        } else if self.consume("<<<") {
        } else if self.consume("<<") {
            self.read_delimiter();
        } else if !self.expansion() {
            self.bracket(c);
        }
        Ok(())
    }

    /// Expansions that are valid inside quotes as well as outside.
    fn expansion(&mut self) -> bool {
        if self.consume("$((") {
            self.enter(ShellContext::Arithmetic(2));
        } else if self.consume("$(") {
            self.enter(ShellContext::Plain { braces: 0, parens: Parens::Open });
        } else if self.consume("${") {
            self.skip_parameter();
        } else if self.consume("`") {
            self.enter(ShellContext::Backquote);
        } else {
            return false;
        }
        true
    }

    fn double(&mut self, c: char) -> Result<(), Phrase> {
        match c {
            '\\' => return self.skip_escape(),
            '"' => self.leave_on('"', c),
            _ if self.expansion() => {}
            _ => self.step(c),
        }
        Ok(())
    }

    fn bracket(&mut self, c: char) {
        if self.at_word_start && self.consume("((") {
            self.enter(ShellContext::Arithmetic(2));
            return;
        }
        self.step(c);
        match (c, self.top()) {
            ('(', _) => self.enter(ShellContext::Plain { braces: 0, parens: Parens::Open }),
            (')', ShellContext::Plain { parens: Parens::Open, .. }) => {
                self.contexts.pop();
                self.at_word_start = true;
            }
            ('{', ShellContext::Plain { braces, .. }) => *braces += 1,
            ('}', ShellContext::Plain { braces, .. }) => *braces = braces.saturating_sub(1),
            _ => {}
        }
    }

    fn arithmetic(&mut self, c: char, open: usize) {
        self.step(c);
        match c {
            '(' => *self.top() = ShellContext::Arithmetic(open + 1),
            ')' if open <= 1 => {
                self.contexts.pop();
            }
            ')' => *self.top() = ShellContext::Arithmetic(open - 1),
            // Quotes in there have their own rules.
            '"' | '\'' | '`' | '\\' => self.is_uncertain = true,
            _ => {}
        }
    }

    /// A comment ends with its line; a brace in it may still close the piece.
    fn comment(&mut self, c: char) {
        if c == '\n' || c == '}' {
            self.contexts.pop();
            self.at_word_start = true;
            return;
        }
        self.step(c);
        if c == '{' {
            let below = self.contexts.len().checked_sub(2);
            if let Some(ShellContext::Plain { braces, .. }) =
                below.and_then(|at| self.contexts.get_mut(at))
            {
                *braces += 1;
            }
        }
    }

    /// Skips `${NAME…}` without anything nested; after any other form the rest may not be parsed
    /// correctly.
    fn skip_parameter(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| "}'\"`\\${".contains(c) || c == '\n');
        let simple = end.is_some_and(|end| rest.get(end..).is_some_and(|at| at.starts_with('}')));
        if simple {
            self.pos += end.unwrap_or(0) + 1;
            return;
        }
        self.is_uncertain = true;
        // An opening brace needs its own closing one.
        if let ShellContext::Plain { braces, .. } = self.top() {
            *braces += 1;
        }
    }

    /// The delimiter of a here-document, after its `<<`.
    fn read_delimiter(&mut self) {
        let tabs = self.consume("-");
        while self.rest().starts_with([' ', '\t']) {
            self.pos += 1;
        }
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ";&|()<>}".contains(c));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let delimiter: String = word.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        if delimiter.is_empty() || delimiter.contains(['$', '`', '{']) {
            self.is_uncertain = true;
            return;
        }
        self.pos += word.len();
        self.here_docs.push(HereDoc { delimiter, tabs });
    }

    /// The texts of the pending here-documents, line by line.
    fn skip_here_documents(&mut self) -> Result<(), Phrase> {
        for here in std::mem::take(&mut self.here_docs) {
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    break;
                }
                let row = rest.split('\n').next().unwrap_or_default();
                let bare = if here.tabs { row.trim_start_matches('\t') } else { row };
                let over = bare == here.delimiter;
                if !over && (0..row.len()).any(|at| is_placeholder(row, at, self.form)) {
                    return Err(phrases::TEMPLATE_ARG_PLACE);
                }
                self.pos += row.len();
                if !over && self.rest().starts_with('\n') {
                    self.pos += 1;
                } else if over {
                    break;
                }
            }
        }
        self.at_word_start = true;
        Ok(())
    }
}

fn is_placeholder(row: &str, at: usize, form: TemplateForm) -> bool {
    row.get(at..).is_some_and(|rest| placeholder(rest, form).is_some())
}

/// A value for a shell line, quoted for its place.
fn quote(value: &str, quoting: Quoting) -> Cow<'_, str> {
    let escape = |signs: &str| {
        let escaped =
            value.chars().flat_map(|c| signs.contains(c).then_some('\\').into_iter().chain([c]));
        Cow::Owned(escaped.collect())
    };
    match quoting {
        Quoting::Word if value.is_empty() => Cow::Borrowed(""),
        Quoting::Word => Cow::Owned(format!("'{}'", value.replace('\'', r"'\''"))),
        Quoting::Single => Cow::Owned(value.replace('\'', r"'\''")),
        Quoting::Double => escape("\\\"$`"),
        Quoting::Ansi => escape("\\'"),
    }
}
