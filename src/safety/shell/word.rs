//! Parses one word: quotes, escapes and everything that expands, with the commands inside
//! substitutions. Lists of commands are up to `read`.

use super::super::warning::Warning;
use super::read::{ListEnd, ShellParser};
use super::script::{ShellWord, Trait};
use crate::words::safety as words;

/// A word while it is read.
#[derive(Default)]
pub(super) struct WordBuilder {
    pub word: ShellWord,
    /// The text in front of an `=` that may set a variable.
    pub sets: Option<usize>,
    brace: Brace,
    bracket: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Brace {
    #[default]
    None,
    Open,
    /// With a comma or two dots inside.
    Listed,
}

impl WordBuilder {
    fn quoted(&mut self, c: char) {
        self.word.text.push(c);
        self.word.plain.push(c);
    }

    /// A letter that no quote protects.
    fn bare(&mut self, c: char) {
        match c {
            '=' if self.sets.is_none() && !self.word.has(Trait::Quoted) => {
                self.sets = is_variable(&self.word.text).then_some(self.word.text.len());
            }
            '*' | '?' => self.word.mark(Trait::Pattern),
            '[' => self.bracket = true,
            ']' if self.bracket && self.word.text.len() > 1 => self.word.mark(Trait::Pattern),
            '{' => self.brace = Brace::Open,
            ',' | '.' if self.brace == Brace::Open => {
                let listed = c == ',' || self.word.text.ends_with('.');
                self.brace = if listed { Brace::Listed } else { Brace::Open };
            }
            '}' if self.brace == Brace::Listed => self.word.mark(Trait::Braces),
            _ => {}
        }
        self.quoted(c);
    }

    /// Something that expands, as it was written.
    fn expands(&mut self, written: &str, how: Trait) {
        self.word.text.push_str(written);
        self.word.mark(how);
    }
}

/// `x`, `x+`, `x[…]`, `x[…]+`.
fn is_variable(text: &str) -> bool {
    let text = text.strip_suffix('+').unwrap_or(text);
    let name = match text.split_once('[') {
        Some((name, rest)) if rest.ends_with(']') => name,
        Some(_) => return false,
        None => text,
    };
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The names in a text that may be variables.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

impl ShellParser<'_> {
    /// Reads one word; empty when there is none here.
    pub(super) fn word(&mut self) -> WordBuilder {
        let mut draft = self.pattern_word();
        // `~-`, `~+`, `~2`: folders only the shell knows.
        let tilde = draft.word.text.strip_prefix('~').and_then(|rest| rest.chars().next());
        if tilde.is_some_and(|c| c == '-' || c == '+' || c.is_ascii_digit()) {
            draft.word.mark(Trait::Variable);
        }
        if draft.word.expands() || draft.word.has(Trait::Pattern) {
            self.script.note(Warning::Expansion);
        }
        draft
    }

    /// Reads a word that is compared, so that signs for patterns find no files.
    pub(super) fn pattern_word(&mut self) -> WordBuilder {
        let mut draft = WordBuilder::default();
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.peek_after() == Some('(') => self.process(c, &mut draft),
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => self.single(&mut draft),
                '"' => self.double(&mut draft),
                '\\' => self.escape(&mut draft),
                '$' => self.dollar(&mut draft, false),
                '`' => self.backtick(&mut draft),
                _ => {
                    draft.bare(c);
                    self.at += 1;
                }
            }
        }
        draft
    }

    fn process(&mut self, way: char, draft: &mut WordBuilder) {
        self.at += 1;
        let piped = std::mem::replace(&mut self.piped, way == '>');
        self.inner(draft, Trait::Process);
        self.piped = piped;
    }

    /// `( … )` inside a word, standing at the parenthesis.
    fn inner(&mut self, draft: &mut WordBuilder, how: Trait) {
        let start = self.at.saturating_sub(1);
        self.at += 1;
        self.script.note(Warning::Substitution);
        self.list(ListEnd::Parenthesis);
        let written = self.slice(start, self.at);
        draft.expands(&written, how);
    }

    fn escape(&mut self, draft: &mut WordBuilder) {
        match self.raw(1) {
            Some(c) => {
                draft.word.mark(Trait::Quoted);
                draft.quoted(c);
            }
            None => self.opaque(words::SHELL_UNFINISHED),
        }
        self.at += 2;
    }

    fn single(&mut self, draft: &mut WordBuilder) {
        self.at += 1;
        draft.word.mark(Trait::Quoted);
        loop {
            match self.raw(0) {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some('\'') => break,
                Some(c) => draft.quoted(c),
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn double(&mut self, draft: &mut WordBuilder) {
        self.at += 1;
        draft.word.mark(Trait::Quoted);
        loop {
            match self.peek() {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some('"') => break,
                Some('$') => self.dollar(draft, true),
                Some('`') => self.backtick(draft),
                Some('\\') => {
                    match self.raw(1) {
                        Some(c) if "$`\"\\".contains(c) => draft.quoted(c),
                        Some(c) => ['\\', c].into_iter().for_each(|c| draft.quoted(c)),
                        None => {}
                    }
                    self.at += 2;
                }
                Some(c) => {
                    draft.quoted(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
    }

    /// The expansion that a `$` begins.
    pub(super) fn dollar(&mut self, draft: &mut WordBuilder, quoted: bool) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') => self.substitution(draft),
            Some('{') => self.parameter(draft, quoted),
            Some('[') => {
                self.at += 1;
                self.over(']', false);
                draft.expands("$[…]", Trait::Variable);
            }
            Some('\'') if !quoted => self.coded(draft),
            Some('"') if !quoted => self.double(draft),
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c) => {
                self.variable(start, c, draft, quoted);
            }
            Some(_) | None => draft.bare('$'),
        }
    }

    fn variable(&mut self, start: usize, first: char, draft: &mut WordBuilder, quoted: bool) {
        self.at += 1;
        if first.is_ascii_alphabetic() || first == '_' {
            while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                self.at += 1;
            }
        }
        let written = self.slice(start, self.at);
        self.named(&written, draft, quoted);
    }

    /// A variable: `$IFS` parts words, the state of the shell itself is a number.
    fn named(&mut self, written: &str, draft: &mut WordBuilder, quoted: bool) {
        if !quoted && matches!(written, "$IFS" | "${IFS}") {
            draft.word.plain.push(' ');
        }
        if matches!(written, "$?" | "$#" | "$$" | "$!") {
            written.chars().for_each(|c| draft.quoted(c));
        } else {
            draft.expands(written, Trait::Variable);
            self.script.note(Warning::Expansion);
        }
    }

    /// `$(…)` and `$((…))`, standing at the parenthesis.
    fn substitution(&mut self, draft: &mut WordBuilder) {
        let nested_only = self.nested_only;
        if self.raw(1) == Some('(') && !nested_only && self.sum() {
            draft.expands("$((…))", Trait::Variable);
        } else {
            self.inner(draft, Trait::Substitution);
        }
        self.nested_only = nested_only;
    }

    /// Arithmetic in two parentheses. False: it was not arithmetic, and nothing was read;
    /// then this is a subshell in a subshell.
    pub(super) fn sum(&mut self) -> bool {
        let (start, known) = (self.at, self.script.commands.len());
        if !self.deeper() {
            return true;
        }
        self.at += 2;
        let sum = self.arithmetic();
        self.depth -= 1;
        if sum {
            let text = self.slice(start, self.at);
            self.script.names.extend(identifiers(&text).map(str::to_owned));
            return true;
        }
        self.at = start;
        self.script.commands.truncate(known);
        self.nested_only = true;
        false
    }

    fn arithmetic(&mut self) -> bool {
        let mut scrap = WordBuilder::default();
        let mut open = 0usize;
        loop {
            match self.peek() {
                None => return false,
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                Some(')') => {
                    let closed = self.raw(1) == Some(')');
                    self.at += if closed { 2 } else { 0 };
                    return closed;
                }
                Some(_) => {
                    self.part(&mut scrap, true);
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// `${…}`, standing at the brace.
    fn parameter(&mut self, draft: &mut WordBuilder, quoted: bool) {
        let start = self.at.saturating_sub(1);
        self.at += 1;
        self.over('}', quoted);
        let written = self.slice(start, self.at);
        if written.ends_with("@P}") {
            self.opaque(words::SHELL_EVALUATES);
        }
        self.named(&written, draft, quoted);
    }

    /// Skips text up to `end`, and reads the substitutions in it.
    fn over(&mut self, end: char, quoted: bool) {
        if !self.deeper() {
            return;
        }
        let mut scrap = WordBuilder::default();
        loop {
            match self.peek() {
                None => {
                    self.opaque(words::SHELL_UNFINISHED);
                    break;
                }
                Some(c) if c == end => {
                    self.at += 1;
                    break;
                }
                Some(_) => self.part(&mut scrap, quoted),
            }
        }
        self.depth -= 1;
    }

    /// One letter, quote or expansion of a text that is not a command.
    fn part(&mut self, scrap: &mut WordBuilder, quoted: bool) {
        match self.peek() {
            Some('$') => self.dollar(scrap, quoted),
            Some('`') => self.backtick(scrap),
            Some('\\') => self.at += 2,
            Some('\'') if !quoted => self.single(scrap),
            Some('"') => self.double(scrap),
            Some(_) | None => self.at += 1,
        }
    }

    /// The substitutions of a text whose quotes mean nothing: a here-document.
    pub(super) fn text(&mut self) {
        let mut scrap = WordBuilder::default();
        while let Some(c) = self.peek() {
            match c {
                '$' => self.dollar(&mut scrap, true),
                '`' => self.backtick(&mut scrap),
                '\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn backtick(&mut self, draft: &mut WordBuilder) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.raw(0) {
                None => {
                    self.opaque(words::SHELL_UNFINISHED);
                    break;
                }
                Some('`') => break,
                Some('\\') if self.raw(1).is_some_and(|c| "`\\$".contains(c)) => {
                    inner.extend(self.raw(1));
                    self.at += 1;
                }
                Some(c) => inner.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        self.script.note(Warning::Substitution);
        draft.expands("`…`", Trait::Substitution);
        self.apart(&inner, start, |reader| reader.list(ListEnd::Text));
    }

    /// `$'…'`, standing at the quote.
    fn coded(&mut self, draft: &mut WordBuilder) {
        self.at += 1;
        draft.word.mark(Trait::Quoted);
        draft.word.mark(Trait::Coded);
        loop {
            match self.raw(0) {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some('\'') => break,
                Some('\\') => {
                    self.at += 1;
                    self.code(draft);
                    continue;
                }
                Some(c) => draft.quoted(c),
            }
            self.at += 1;
        }
        self.at += 1;
    }

    /// One escape of `$'…'`, starting after the backslash.
    fn code(&mut self, draft: &mut WordBuilder) {
        let Some(c) = self.raw(0) else { return };
        self.at += 1;
        let number = match c {
            'x' => self.number(16, 2),
            'u' => self.number(16, 4),
            'U' => self.number(16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3)
            }
            'c' => {
                self.at += 1;
                Some(1)
            }
            _ => None,
        };
        let plain = match c {
            'a' | 'b' | 'e' | 'E' | 'f' | 'r' | 'v' => '\u{1}',
            'n' => '\n',
            't' => '\t',
            c => c,
        };
        draft.quoted(number.and_then(char::from_u32).unwrap_or(plain));
    }

    fn number(&mut self, base: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let Some(digit) = self.raw(0).and_then(|c| c.to_digit(base)) else { break };
            number = Some(number.unwrap_or(0u32).wrapping_mul(base).wrapping_add(digit));
            self.at += 1;
        }
        number
    }
}
