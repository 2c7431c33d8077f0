//! Parses the compound forms of the language: conditions, loops, branches, functions.

use super::super::warning::Warning;
use super::ast::{CaseHead, CasePatterns, ForLoop, FunctionBody, ShellWord};
use super::parser::{CompoundForm, OpenCommand, Preceding, ShellParser};
use avocet_core::i18n::safety as words;

impl ShellParser<'_> {
    /// Takes `()` after the name of a function.
    pub(super) fn take_empty_parens(&mut self) -> bool {
        let start = self.at;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = start;
        false
    }

    pub(super) fn begin_function(&mut self, name: String, start: usize, open: &mut OpenCommand) {
        self.script.add_form(Warning::Function);
        self.script.functions.push(name.clone());
        open.reset();
        self.skip_blank_lines();
        self.defining.push(name);
        self.bodiless = Some(start);
    }

    /// A word of the grammar at the place of a command; false when it is not one.
    pub(super) fn read_keyword(&mut self, word: &ShellWord, open: &mut OpenCommand) -> bool {
        let Some(text) = KEYWORDS.iter().copied().find(|keyword| word.is_keyword(keyword)) else {
            return false;
        };
        open.before = Preceding::Nothing;
        match text {
            "if" => open.push(CompoundForm::If, self),
            "while" | "until" => {
                open.push(CompoundForm::Loop, self);
                open.condition = Some(text == "while");
            }
            "{" => open.push(CompoundForm::Brace, self),
            "for" | "select" => self.read_for(text, open),
            "case" => self.case(open),
            "function" => {
                let start = self.at.saturating_sub(text.len());
                self.skip_blanks();
                let name = self.word().word.text;
                self.take_empty_parens();
                self.begin_function(name, start, open);
            }
            "then" | "elif" | "else" => self.expect_form(CompoundForm::If, open),
            "do" => self.expect_form(CompoundForm::Loop, open),
            "fi" => self.close(CompoundForm::If, open),
            "done" => self.close(CompoundForm::Loop, open),
            "}" => self.close(CompoundForm::Brace, open),
            "esac" => self.close(CompoundForm::Branch, open),
            "time" => {
                self.skip_blanks();
                self.take("-p");
            }
            "!" => open.negated = true,
            "coproc" => self.coprocess(),
            "[[" => self.condition(open),
            _ => {}
        }
        true
    }

    /// How many functions are being defined around the form that begins here, which may
    /// be the body of one more.
    pub(super) fn enclosing_functions(&mut self) -> usize {
        let own = usize::from(self.bodiless.take().is_some());
        self.defining.len().saturating_sub(own)
    }

    fn expect_form(&mut self, form: CompoundForm, open: &OpenCommand) {
        if open.form() != Some(form) {
            self.mark_opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    fn close(&mut self, form: CompoundForm, open: &mut OpenCommand) {
        self.expect_form(form, open);
        open.before = Preceding::Form;
        if let Some(frame) = open.frames.pop() {
            if frame.is_endless {
                self.script.add_form(Warning::Resource);
            }
            let name = self.defining.get(frame.defining).filter(|_| self.substitutions == 0);
            if let (Some((start, begin)), Some(name)) = (frame.definition, name)
                && form == CompoundForm::Brace
            {
                let text = self.slice(begin, self.at.saturating_sub(1));
                let span = (start, self.at);
                self.script.bodies.push(FunctionBody { name: name.clone(), text, span });
            }
            self.defining.truncate(frame.defining);
        }
    }

    /// `for x in …` and `for ((…))`; `do` comes later.
    fn read_for(&mut self, keyword: &str, open: &mut OpenCommand) {
        open.push(CompoundForm::Loop, self);
        let begin = self.at.saturating_sub(keyword.len());
        self.skip_blanks();
        if self.peek() == Some('(') && self.peek_raw(1) == Some('(') {
            let start = self.at;
            if !self.read_arithmetic() {
                self.mark_opaque(words::SHELL_NOT_UNDERSTOOD);
            }
            let counted: String =
                self.slice(start, self.at).split_whitespace().collect::<Vec<_>>().concat();
            if counted.contains(";;") {
                open.mark_endless();
            }
            if let Some((name, words)) = count(&counted).filter(|_| self.substitutions == 0) {
                self.script.loops.push(ForLoop { name, words, span: (begin, self.at) });
            }
            return;
        }
        let name = self.word().word.text;
        self.script.names.push(name.clone());
        self.skip_blank_lines();
        if self.take("in") {
            let mut words = Vec::new();
            let mut end = self.at;
            loop {
                self.skip_blanks();
                let start = self.at;
                let word = self.word().word;
                if self.at == start {
                    break;
                }
                end = self.at;
                words.push(word);
            }
            if keyword == "for" && self.substitutions == 0 {
                self.script.loops.push(ForLoop { name, words, span: (begin, end) });
            }
        }
    }

    fn case(&mut self, open: &mut OpenCommand) {
        let begin = self.at.saturating_sub("case".len());
        self.skip_blanks();
        let word = self.word().word;
        self.skip_blank_lines();
        if self.word().word.is_keyword("in") {
            open.push(CompoundForm::Pattern, self);
            let head = CaseHead { word, span: (begin, self.at) };
            self.script.cases.extend((self.substitutions == 0).then_some(head));
        } else {
            self.mark_opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    /// The pattern of a branch, up to its parenthesis.
    pub(super) fn pattern(&mut self, open: &mut OpenCommand) {
        self.skip_blank_lines();
        let begin = self.at;
        let mut words = Vec::new();
        self.take("(");
        loop {
            self.skip_blanks();
            let start = self.at;
            let word = self.pattern_word().word;
            if word.is_keyword("esac") {
                open.set_form(CompoundForm::Branch);
                return self.close(CompoundForm::Branch, open);
            }
            words.push(word);
            self.skip_blanks();
            match self.peek() {
                Some('|') => self.at += 1,
                Some(')') => {
                    self.at += 1;
                    let patterns = CasePatterns { words, span: (begin, self.at) };
                    self.script.patterns.extend((self.substitutions == 0).then_some(patterns));
                    return open.set_form(CompoundForm::Branch);
                }
                Some(_) if self.at > start => {}
                Some(_) | None => {
                    self.mark_opaque(words::SHELL_NOT_UNDERSTOOD);
                    self.at += 1;
                    return open.set_form(CompoundForm::Branch);
                }
            }
        }
    }

    /// `coproc [NAME] COMMAND`: the name only counts in front of a form.
    fn coprocess(&mut self) {
        self.script.add_form(Warning::Background);
        self.skip_blanks();
        let start = self.at;
        let word = self.word().word;
        self.skip_blanks();
        if word.is_keyword("{") || !matches!(self.peek(), Some('{' | '(')) {
            self.at = start;
        } else {
            self.script.names.push(word.text);
        }
    }

    /// `[[ … ]]`: words, and signs that are not operators here.
    fn condition(&mut self, open: &mut OpenCommand) {
        let begin = self.at.saturating_sub(2);
        open.begin(begin, self);
        open.simple.words.push(ShellWord {
            text: "[[".into(),
            plain: "[[".into(),
            span: (begin, self.at),
            ..ShellWord::default()
        });
        loop {
            self.skip_blank_lines();
            let start = self.at;
            let is_matched = open.simple.words.last().is_some_and(|word| word.is_keyword("=~"));
            let word = if is_matched { self.expression() } else { self.pattern_word().word };
            if word.is_keyword("]]") {
                return;
            } else if self.at > start {
                open.simple.words.push(word);
            } else if self.peek().is_none() {
                return self.mark_opaque(words::SHELL_UNFINISHED);
            } else if let Some(joint) = ["&&", "||"].into_iter().find(|joint| self.take(joint)) {
                let text = joint.to_owned();
                let span = (start, self.at);
                open.simple.words.push(ShellWord { text, span, ..ShellWord::default() });
            } else {
                self.at += 1;
            }
        }
    }

    /// A regular expression as it is written: up to a blank outside of its parentheses.
    fn expression(&mut self) -> ShellWord {
        let start = self.at;
        let mut scrap = self.pattern_word();
        while scrap.word.variables.is_empty() {
            let open = self.slice(start, self.at);
            let is_open = open.matches('(').count() > open.matches(')').count();
            match self.peek() {
                Some('(' | ')' | '|') => self.at += 1,
                Some(' ' | '<' | '>' | '&' | ';') if is_open => self.at += 1,
                _ => break,
            }
            let more = self.pattern_word();
            scrap.word.variables.extend(more.word.variables);
            more.word.traits.iter().for_each(|one| scrap.word.add_trait(*one));
        }
        let text = self.slice(start, self.at);
        ShellWord { plain: text.clone(), text, span: (start, self.at), ..scrap.word }
    }
}

/// The numbers that `((i=1;i<=3;i++))` counts, and what it counts with.
fn count(text: &str) -> Option<(String, Vec<ShellWord>)> {
    let parts: Vec<&str> = text.strip_prefix("((")?.strip_suffix("))")?.split(';').collect();
    let [begin, end, step] = parts.as_slice() else { return None };
    let (name, from) = begin.split_once('=')?;
    let limit = end.strip_prefix(name)?.strip_prefix('<')?;
    let steps = step.strip_prefix("++").or_else(|| step.strip_suffix("++"))? == name;
    let (from, limit): (u32, u32) = match limit.strip_prefix('=') {
        Some(last) => (from.parse().ok()?, last.parse::<u32>().ok()?.checked_add(1)?),
        None => (from.parse().ok()?, limit.parse().ok()?),
    };
    let word = |number: u32| ShellWord { text: number.to_string(), ..ShellWord::default() };
    let is_short = steps && limit.saturating_sub(from) <= MOST_COUNTED;
    is_short.then(|| (name.to_owned(), (from..limit).map(word).collect()))
}

const MOST_COUNTED: u32 = 200;

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case",
    "esac", "function", "{", "}", "!", "time", "coproc", "[[",
];
