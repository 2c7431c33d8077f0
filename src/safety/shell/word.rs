//! Parses one word: quotes, escapes and everything that expands, with the commands inside
//! substitutions. Lists of commands are up to `read`.

use super::super::warning::Warning;
use super::ast::{Script, ShellWord, Trait, VariableUse};
use super::characters::ShellCharacters;
use super::parser::{ListEnd, ShellParser};
use avocet_core::i18n::safety as phrases;

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
    fn push_quoted(&mut self, c: char) {
        if "*?[]{}~".contains(c) {
            self.word.add_trait(Trait::QuotedSign);
        }
        self.push_plain(c);
    }

    fn push_plain(&mut self, c: char) {
        self.word.text.push(c);
        self.word.plain.push(c);
    }

    /// A letter that no quote protects.
    fn push_bare(&mut self, c: char) {
        match c {
            '=' if self.sets.is_none() && !self.word.has(Trait::Quoted) => {
                self.sets = is_variable(&self.word.text).then_some(self.word.text.len());
            }
            '*' | '?' => self.word.add_trait(Trait::Pattern),
            '[' => self.bracket = true,
            ']' if self.bracket && self.word.text.len() > 1 => self.word.add_trait(Trait::Pattern),
            '{' => self.brace = Brace::Open,
            ',' | '.' if self.brace == Brace::Open => {
                let listed = c == ',' || self.word.text.ends_with('.');
                self.brace = if listed { Brace::Listed } else { Brace::Open };
            }
            '}' if self.brace == Brace::Listed => self.word.add_trait(Trait::Braces),
            _ => {}
        }
        self.push_plain(c);
    }

    /// Something that expands, as it was written.
    fn push_expansion(&mut self, written: &str, how: Trait, is_quoted: bool) {
        if matches!(how, Trait::Variable | Trait::Substitution) {
            self.push_use(written, is_quoted);
        }
        self.word.text.push_str(written);
        self.word.add_trait(how);
    }

    fn push_use(&mut self, written: &str, is_quoted: bool) {
        let at = self.word.text.len();
        self.word.variables.push(VariableUse { at, written: written.to_owned(), is_quoted });
    }

    /// A variable: `$IFS` parts words, the state of the shell itself is a number.
    fn push_variable(&mut self, written: &str, quoted: bool, script: &mut Script) {
        if !quoted && matches!(written, "$IFS" | "${IFS}") {
            self.word.plain.push(' ');
        }
        if matches!(written, "$?" | "$#" | "$$" | "$!") {
            self.push_use(written, quoted);
            written.chars().for_each(|c| self.push_plain(c));
        } else {
            self.push_expansion(written, Trait::Variable, quoted);
            script.add_form(Warning::Expansion);
        }
    }

    /// A backslash and what it quotes; false: nothing follows it.
    fn read_escape(&mut self, characters: &mut ShellCharacters) -> bool {
        let quoted = characters.peek_raw(1);
        if let Some(c) = quoted {
            self.word.add_trait(Trait::Quoted);
            self.push_quoted(c);
        }
        characters.at += 2;
        quoted.is_some()
    }

    /// `'…'`; false: its end is missing.
    fn read_single_quoted(&mut self, characters: &mut ShellCharacters) -> bool {
        characters.at += 1;
        self.word.add_trait(Trait::Quoted);
        loop {
            match characters.peek_raw(0) {
                None => return false,
                Some('\'') => break,
                Some(c) => self.push_quoted(c),
            }
            characters.at += 1;
        }
        characters.at += 1;
        true
    }

    /// `$'…'`, standing at the quote; false: its end is missing.
    fn read_ansi_quoted(&mut self, characters: &mut ShellCharacters) -> bool {
        characters.at += 1;
        self.word.add_trait(Trait::Quoted);
        self.word.add_trait(Trait::Coded);
        loop {
            match characters.peek_raw(0) {
                None => return false,
                Some('\'') => break,
                Some('\\') => {
                    characters.at += 1;
                    self.read_ansi_escape(characters);
                    continue;
                }
                Some(c) => self.push_quoted(c),
            }
            characters.at += 1;
        }
        characters.at += 1;
        true
    }

    /// One escape of `$'…'`, starting after the backslash.
    fn read_ansi_escape(&mut self, characters: &mut ShellCharacters) {
        let Some(c) = characters.peek_raw(0) else { return };
        characters.at += 1;
        let number = match c {
            'x' => characters.take_number(16, 2),
            'u' => characters.take_number(16, 4),
            'U' => characters.take_number(16, 8),
            '0'..='7' => {
                characters.at -= 1;
                characters.take_number(8, 3)
            }
            'c' => {
                characters.at += 1;
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
        self.push_quoted(number.and_then(char::from_u32).unwrap_or(plain));
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
            draft.word.add_trait(Trait::Variable);
        }
        if draft.word.needs_expansion() || draft.word.has(Trait::Pattern) {
            self.script.add_form(Warning::Expansion);
        }
        draft
    }

    /// Reads a word that is compared, so that signs for patterns find no files.
    pub(super) fn pattern_word(&mut self) -> WordBuilder {
        let mut builder = WordBuilder::default();
        let start = self.text.at;
        while let Some(c) = self.text.peek() {
            match c {
                '<' | '>' if self.text.peek_next() == Some('(') => {
                    self.read_process_substitution(c, &mut builder)
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    let closed = builder.read_single_quoted(&mut self.text);
                    self.script.expect_closed(closed);
                }
                '"' => self.read_double_quoted(&mut builder),
                '\\' => {
                    let closed = builder.read_escape(&mut self.text);
                    self.script.expect_closed(closed);
                }
                '$' => self.dollar(&mut builder, false),
                '`' => self.backtick(&mut builder, false),
                _ => {
                    builder.push_bare(c);
                    self.text.at += 1;
                }
            }
        }
        builder.word.span = (start, self.text.at);
        builder
    }

    fn read_process_substitution(&mut self, way: char, builder: &mut WordBuilder) {
        self.text.at += 1;
        let piped = std::mem::replace(&mut self.piped, way == '>');
        self.read_parenthesized(builder, Trait::Process, false);
        self.piped = piped;
    }

    /// `( … )` inside a word, standing at the parenthesis.
    fn read_parenthesized(&mut self, builder: &mut WordBuilder, how: Trait, quoted: bool) {
        let start = self.text.at.saturating_sub(1);
        self.text.at += 1;
        self.script.add_form(Warning::Substitution);
        self.substitutions += 1;
        self.list(ListEnd::Parenthesis);
        self.substitutions -= 1;
        let written = self.text.slice(start, self.text.at);
        builder.push_expansion(&written, how, quoted);
    }

    fn read_double_quoted(&mut self, builder: &mut WordBuilder) {
        self.text.at += 1;
        builder.word.add_trait(Trait::Quoted);
        loop {
            match self.text.peek() {
                None => return self.script.mark_opaque(phrases::SHELL_UNFINISHED),
                Some('"') => break,
                Some('$') => self.dollar(builder, true),
                Some('`') => self.backtick(builder, true),
                Some('\\') => {
                    match self.text.peek_raw(1) {
                        Some(c) if "$`\"\\".contains(c) => builder.push_quoted(c),
                        Some(c) => ['\\', c].into_iter().for_each(|c| builder.push_quoted(c)),
                        None => {}
                    }
                    self.text.at += 2;
                }
                Some(c) => {
                    builder.push_quoted(c);
                    self.text.at += 1;
                }
            }
        }
        self.text.at += 1;
    }

    /// The expansion that a `$` begins.
    pub(super) fn dollar(&mut self, builder: &mut WordBuilder, quoted: bool) {
        let start = self.text.at;
        self.text.at += 1;
        match self.text.peek() {
            Some('(') => self.substitution(builder, quoted),
            Some('{') => {
                let start = self.text.at.saturating_sub(1);
                self.text.at += 1;
                self.skip_to('}', quoted);
                let written = self.text.slice(start, self.text.at);
                if written.ends_with("@P}") {
                    self.script.mark_opaque(phrases::SHELL_EVALUATES);
                }
                builder.push_variable(&written, quoted, self.script);
            }
            Some('[') => {
                self.text.at += 1;
                self.skip_to(']', false);
                builder.push_expansion("$[…]", Trait::Variable, quoted);
            }
            Some('\'') if !quoted => {
                let closed = builder.read_ansi_quoted(&mut self.text);
                self.script.expect_closed(closed);
            }
            Some('"') if !quoted => self.read_double_quoted(builder),
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c) => {
                self.text.skip_variable(c);
                let written = self.text.slice(start, self.text.at);
                builder.push_variable(&written, quoted, self.script);
            }
            Some(_) | None => builder.push_bare('$'),
        }
    }

    /// `$(…)` and `$((…))`, standing at the parenthesis.
    fn substitution(&mut self, builder: &mut WordBuilder, quoted: bool) {
        let start = self.text.at.saturating_sub(1);
        let nested_only = self.nested_only;
        if self.text.peek_raw(1) == Some('(') && !nested_only && self.read_arithmetic() {
            let written = self.text.slice(start, self.text.at);
            builder.push_expansion(&written, Trait::Variable, true);
        } else {
            self.read_parenthesized(builder, Trait::Substitution, quoted);
        }
        self.nested_only = nested_only;
    }

    /// Arithmetic in two parentheses. False: it was not arithmetic, and nothing was read;
    /// then this is a subshell in a subshell.
    pub(super) fn read_arithmetic(&mut self) -> bool {
        let start = self.text.at;
        let known = self.script.commands.len();

        if !self.enter_level() {
            return true;
        }
        self.text.at += 2;
        let sum = self.skip_arithmetic();
        self.depth -= 1;
        if sum {
            let text = self.text.slice(start, self.text.at);
            self.script.names.extend(identifiers(&text).map(str::to_owned));
            return true;
        }
        self.text.at = start;
        self.script.commands.truncate(known);
        self.nested_only = true;
        false
    }

    fn skip_arithmetic(&mut self) -> bool {
        let mut builder = WordBuilder::default();
        let mut open = 0usize;
        loop {
            match self.text.peek() {
                None => return false,
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                Some(')') => {
                    let closed = self.text.peek_raw(1) == Some(')');
                    self.text.at += if closed { 2 } else { 0 };
                    return closed;
                }
                Some(_) => {
                    self.skip_part(&mut builder, true);
                    continue;
                }
            }
            self.text.at += 1;
        }
    }

    /// Skips text up to `end`, and reads the substitutions in it.
    fn skip_to(&mut self, end: char, quoted: bool) {
        if !self.enter_level() {
            return;
        }
        let mut builder = WordBuilder::default();
        loop {
            match self.text.peek() {
                None => {
                    self.script.mark_opaque(phrases::SHELL_UNFINISHED);
                    break;
                }
                Some(c) if c == end => {
                    self.text.at += 1;
                    break;
                }
                Some(_) => self.skip_part(&mut builder, quoted),
            }
        }
        self.depth -= 1;
    }

    /// One letter, quote or expansion of a text that is not a command.
    fn skip_part(&mut self, builder: &mut WordBuilder, quoted: bool) {
        match self.text.peek() {
            Some('$') => self.dollar(builder, quoted),
            Some('`') => self.backtick(builder, quoted),
            Some('\\') => self.text.at += 2,
            Some('\'') if !quoted => {
                let closed = builder.read_single_quoted(&mut self.text);
                self.script.expect_closed(closed);
            }
            Some('"') => self.read_double_quoted(builder),
            Some(_) | None => self.text.at += 1,
        }
    }

    /// A text whose quotes mean nothing, and whose variables and substitutions do: a here-document.
    pub(super) fn read_text(&mut self) -> ShellWord {
        let mut builder = WordBuilder::default();
        builder.word.add_trait(Trait::Quoted);
        while let Some(c) = self.text.peek() {
            match c {
                '$' => self.dollar(&mut builder, true),
                '`' => self.backtick(&mut builder, true),
                _ => {
                    let escaped =
                        self.text.peek_raw(1).filter(|next| c == '\\' && "$`\\".contains(*next));
                    builder.push_quoted(escaped.unwrap_or(c));
                    self.text.at += 1 + usize::from(escaped.is_some());
                }
            }
        }
        builder.word
    }

    fn backtick(&mut self, builder: &mut WordBuilder, quoted: bool) {
        let start = self.text.at;
        self.text.at += 1;
        let mut inner = String::new();
        loop {
            match self.text.peek_raw(0) {
                None => {
                    self.script.mark_opaque(phrases::SHELL_UNFINISHED);
                    break;
                }
                Some('`') => break,
                Some('\\') if self.text.peek_raw(1).is_some_and(|c| "`\\$".contains(c)) => {
                    inner.extend(self.text.peek_raw(1));
                    self.text.at += 1;
                }
                Some(c) => inner.push(c),
            }
            self.text.at += 1;
        }
        self.text.at += 1;
        self.script.add_form(Warning::Substitution);
        builder.push_expansion(&format!("$({inner})"), Trait::Substitution, quoted);
        self.parse_nested(&inner, start, |reader| reader.list(ListEnd::Text));
    }
}
