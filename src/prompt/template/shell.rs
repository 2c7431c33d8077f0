//! Parses the shell line of a template: where it ends, and how inserted values must be quoted. Does
//! not judge what it does.
//!
//! It follows quotes, substitutions, parentheses, comments and here-documents. If an argument is in
//! a place that cannot hold any text as one word, the template is refused rather than filled.

use super::{Hole, TemplateForm, TemplateValues, hole, quoted};
use crate::words::{Phrase, prompt as words};

/// A line with its placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateLine {
    source: String,
    bits: Vec<Bit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Bit {
    Text(String),
    Hole(Hole, Quoting),
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
                Bit::Text(text) => out.push_str(text),
                Bit::Hole(hole, quoting) => out.push_str(&quoted(values.get(*hole), *quoting)),
            }
        }
        out.trim().to_owned()
    }

    pub(super) fn holes(&self) -> impl Iterator<Item = Hole> {
        self.bits.iter().filter_map(|bit| match bit {
            Bit::Hole(hole, _) => Some(*hole),
            Bit::Text(_) => None,
        })
    }
}

/// Parses a line; also returns its length in bytes with its closing brace.
pub(super) fn read(
    text: &str,
    form: TemplateForm,
    end: LineEnd,
) -> Result<(TemplateLine, usize), Phrase> {
    let mut reader = Reader {
        text,
        form,
        end,
        at: 0,
        from: 0,
        bits: Vec::new(),
        within: vec![Within::Plain { braces: 0, parens: Parens::None }],
        word: true,
        lost: false,
        waiting: Vec::new(),
    };
    let closed = reader.run()?;
    let source = text.get(..closed).unwrap_or_default().trim();
    if source.is_empty() {
        return Err(words::TEMPLATE_SHELL_EMPTY);
    }
    let len = closed + if end == LineEnd::Brace { 1 } else { 0 };
    Ok((TemplateLine { source: source.to_owned(), bits: reader.bits }, len))
}

/// The construct the parser is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Plain {
        braces: usize,
        parens: Parens,
    },
    Single,
    Double,
    Ansi,
    Backquote,
    /// `$((…))`; the number of open parentheses.
    Sum(usize),
    Comment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parens {
    None,
    Open,
}

/// A here-document whose text has not begun.
#[derive(Debug)]
struct Here {
    delimiter: String,
    tabs: bool,
}

struct Reader<'a> {
    text: &'a str,
    form: TemplateForm,
    end: LineEnd,
    at: usize,
    /// Start of the text that is not yet part of a bit.
    from: usize,
    bits: Vec<Bit>,
    within: Vec<Within>,
    /// A word may begin here.
    word: bool,
    /// The rest may not be parsed correctly.
    lost: bool,
    waiting: Vec<Here>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn top(&mut self) -> &mut Within {
        if self.within.is_empty() {
            self.within.push(Within::Plain { braces: 0, parens: Parens::None });
        }
        let last = self.within.len() - 1;
        &mut self.within[last]
    }

    /// Runs to the end of the line; returns its position.
    fn run(&mut self) -> Result<usize, Phrase> {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return self.ended() };
            if let Some((hole, len)) = hole(rest, self.form)
                && !self.is_shells_own(hole)
            {
                self.hole(hole, len)?;
                continue;
            }
            let within = *self.top();
            match within {
                Within::Plain { braces: 0, parens: Parens::None }
                    if c == '}' && self.end == LineEnd::Brace =>
                {
                    self.text_until(self.at);
                    return Ok(self.at);
                }
                Within::Plain { .. } => self.plain(c)?,
                Within::Single => self.leave_at('\'', c),
                Within::Ansi => match c {
                    '\\' => self.escaped()?,
                    _ => self.leave_at('\'', c),
                },
                Within::Double => self.double(c)?,
                Within::Backquote => match c {
                    '\\' => self.escaped()?,
                    _ => self.leave_at('`', c),
                },
                Within::Sum(open) => self.sum(c, open),
                Within::Comment => self.comment(c),
            }
        }
    }

    /// Handles the end of the text.
    fn ended(&mut self) -> Result<usize, Phrase> {
        if self.end == LineEnd::Brace {
            return Err(words::TEMPLATE_SHELL_OPEN);
        }
        self.text_until(self.at);
        Ok(self.at)
    }

    /// `awk '{print $2}'`: a shell would not expand it in single quotes either.
    fn is_shells_own(&mut self, hole: Hole) -> bool {
        matches!(hole, Hole::Nth(_)) && *self.top() == Within::Single
    }

    fn hole(&mut self, hole: Hole, len: usize) -> Result<(), Phrase> {
        let within = *self.top();
        let quoting = match within {
            _ if self.lost => return Err(words::TEMPLATE_ARG_PLACE),
            Within::Plain { .. } => Quoting::Word,
            Within::Single => Quoting::Single,
            Within::Double => Quoting::Double,
            Within::Ansi => Quoting::Ansi,
            Within::Backquote | Within::Sum(_) | Within::Comment => {
                return Err(words::TEMPLATE_ARG_PLACE);
            }
        };
        self.text_until(self.at);
        self.bits.push(Bit::Hole(hole, quoting));
        self.at += len;
        self.from = self.at;
        self.word = false;
        Ok(())
    }

    fn text_until(&mut self, at: usize) {
        if let Some(text) = self.text.get(self.from..at).filter(|text| !text.is_empty()) {
            self.bits.push(Bit::Text(text.to_owned()));
        }
        self.from = at;
    }

    fn step(&mut self, c: char) {
        self.at += c.len_utf8();
        self.word = c.is_whitespace() || ";&|(){}".contains(c);
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
            self.word = false;
        }
        found
    }

    fn enter(&mut self, within: Within) {
        self.within.push(within);
        self.word = matches!(within, Within::Plain { .. });
    }

    fn leave_at(&mut self, sign: char, c: char) {
        self.step(c);
        self.word = false;
        if c == sign {
            self.within.pop();
        }
    }

    /// A backslash and the character it escapes. No value can be inserted there.
    fn escaped(&mut self) -> Result<(), Phrase> {
        self.step('\\');
        if hole(self.rest(), self.form).is_some() {
            return Err(words::TEMPLATE_ARG_PLACE);
        }
        if let Some(c) = self.rest().chars().next() {
            self.step(c);
        }
        self.word = false;
        Ok(())
    }

    fn plain(&mut self, c: char) -> Result<(), Phrase> {
        if c == '\\' {
            return self.escaped();
        }
        if c == '\n' && !self.waiting.is_empty() {
            self.step(c);
            return self.here_documents();
        }
        if self.word && c == '#' {
            self.enter(Within::Comment);
        } else if self.word && self.rest().split(char::is_whitespace).next() == Some("case") {
            // Its patterns close parentheses that were never opened.
            self.lost = true;
            self.step(c);
        } else if self.take("$'") {
            self.enter(Within::Ansi);
        } else if self.take("'") {
            self.enter(Within::Single);
        } else if self.take("$\"") || self.take("\"") {
            self.enter(Within::Double);
        } else if self.take("<<<") {
        } else if self.take("<<") {
            self.here();
        } else if !self.expansion() {
            self.bracket(c);
        }
        Ok(())
    }

    /// Expansions that are valid inside quotes as well as outside.
    fn expansion(&mut self) -> bool {
        if self.take("$((") {
            self.enter(Within::Sum(2));
        } else if self.take("$(") {
            self.enter(Within::Plain { braces: 0, parens: Parens::Open });
        } else if self.take("${") {
            self.parameter();
        } else if self.take("`") {
            self.enter(Within::Backquote);
        } else {
            return false;
        }
        true
    }

    fn double(&mut self, c: char) -> Result<(), Phrase> {
        match c {
            '\\' => return self.escaped(),
            '"' => self.leave_at('"', c),
            _ if self.expansion() => {}
            _ => self.step(c),
        }
        Ok(())
    }

    fn bracket(&mut self, c: char) {
        if self.word && self.take("((") {
            self.enter(Within::Sum(2));
            return;
        }
        self.step(c);
        match (c, self.top()) {
            ('(', _) => self.enter(Within::Plain { braces: 0, parens: Parens::Open }),
            (')', Within::Plain { parens: Parens::Open, .. }) => {
                self.within.pop();
                self.word = true;
            }
            ('{', Within::Plain { braces, .. }) => *braces += 1,
            ('}', Within::Plain { braces, .. }) => *braces = braces.saturating_sub(1),
            _ => {}
        }
    }

    fn sum(&mut self, c: char, open: usize) {
        self.step(c);
        match c {
            '(' => *self.top() = Within::Sum(open + 1),
            ')' if open <= 1 => {
                self.within.pop();
            }
            ')' => *self.top() = Within::Sum(open - 1),
            // Quotes in there have their own rules.
            '"' | '\'' | '`' | '\\' => self.lost = true,
            _ => {}
        }
    }

    /// A comment ends with its line; a brace in it may still close the piece.
    fn comment(&mut self, c: char) {
        if c == '\n' || c == '}' {
            self.within.pop();
            self.word = true;
            return;
        }
        self.step(c);
        if c == '{' {
            let below = self.within.len().checked_sub(2);
            if let Some(Within::Plain { braces, .. }) = below.and_then(|at| self.within.get_mut(at))
            {
                *braces += 1;
            }
        }
    }

    /// Skips `${NAME…}` without anything nested; after any other form the rest may not be parsed
    /// correctly.
    fn parameter(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| "}'\"`\\${".contains(c) || c == '\n');
        let simple = end.is_some_and(|end| rest.get(end..).is_some_and(|at| at.starts_with('}')));
        if simple {
            self.at += end.unwrap_or(0) + 1;
            return;
        }
        self.lost = true;
        // An opening brace needs its own closing one.
        if let Within::Plain { braces, .. } = self.top() {
            *braces += 1;
        }
    }

    /// The delimiter of a here-document, after its `<<`.
    fn here(&mut self) {
        let tabs = self.take("-");
        while self.rest().starts_with([' ', '\t']) {
            self.at += 1;
        }
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ";&|()<>}".contains(c));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let delimiter: String = word.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        if delimiter.is_empty() || delimiter.contains(['$', '`', '{']) {
            self.lost = true;
            return;
        }
        self.at += word.len();
        self.waiting.push(Here { delimiter, tabs });
    }

    /// The texts of the pending here-documents, line by line.
    fn here_documents(&mut self) -> Result<(), Phrase> {
        for here in std::mem::take(&mut self.waiting) {
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    break;
                }
                let row = rest.split('\n').next().unwrap_or_default();
                let bare = if here.tabs { row.trim_start_matches('\t') } else { row };
                let over = bare == here.delimiter;
                if !over && (0..row.len()).any(|at| is_hole(row, at, self.form)) {
                    return Err(words::TEMPLATE_ARG_PLACE);
                }
                self.at += row.len();
                if !over && self.rest().starts_with('\n') {
                    self.at += 1;
                } else if over {
                    break;
                }
            }
        }
        self.word = true;
        Ok(())
    }
}

fn is_hole(row: &str, at: usize, form: TemplateForm) -> bool {
    row.get(at..).is_some_and(|rest| hole(rest, form).is_some())
}
