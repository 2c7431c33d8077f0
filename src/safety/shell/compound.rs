//! Parses the compound forms of the language: conditions, loops, branches, functions.

use super::super::warning::Warning;
use super::ast::{CaseHead, CasePatterns, ForLoop, FunctionBody, ShellWord};
use super::parser::{CompoundForm, OpenCommand, Preceding, ShellParser};
use avocet_core::i18n::safety as phrases;

impl ShellParser<'_> {
    pub(super) fn begin_function(&mut self, name: String, start: usize, open: &mut OpenCommand) {
        self.script.add_form(Warning::Function);
        self.script.functions.push(name.clone());
        open.reset();
        self.skip_blank_lines();
        self.functions.begin(name, start);
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
                let start = self.text.at.saturating_sub(text.len());
                self.text.skip_blanks();
                let name = self.word().word.text;
                self.text.take_empty_parens();
                self.begin_function(name, start, open);
            }
            "then" | "elif" | "else" => self.expect_form(CompoundForm::If, open),
            "do" => self.expect_form(CompoundForm::Loop, open),
            "fi" => self.close(CompoundForm::If, open),
            "done" => self.close(CompoundForm::Loop, open),
            "}" => self.close(CompoundForm::Brace, open),
            "esac" => self.close(CompoundForm::Branch, open),
            "time" => {
                self.text.skip_blanks();
                self.text.take("-p");
            }
            "!" => open.negated = true,
            "coproc" => self.coprocess(),
            "[[" => self.condition(open),
            _ => {}
        }
        true
    }

    fn expect_form(&mut self, form: CompoundForm, open: &OpenCommand) {
        if open.form() != Some(form) {
            self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
    }

    fn close(&mut self, form: CompoundForm, open: &mut OpenCommand) {
        self.expect_form(form, open);
        open.before = Preceding::Form;
        if let Some(frame) = open.frames.pop() {
            if frame.is_endless {
                self.script.add_form(Warning::Resource);
            }
            let name = self.functions.names.get(frame.defining).filter(|_| self.substitutions == 0);
            if let (Some((start, begin)), Some(name)) = (frame.definition, name)
                && form == CompoundForm::Brace
            {
                let text = self.text.slice(begin, self.text.at.saturating_sub(1));
                let span = (start, self.text.at);
                self.script.bodies.push(FunctionBody { name: name.clone(), text, span });
            }
            self.functions.names.truncate(frame.defining);
        }
    }

    /// `for x in …` and `for ((…))`; `do` comes later.
    fn read_for(&mut self, keyword: &str, open: &mut OpenCommand) {
        open.push(CompoundForm::Loop, self);
        let begin = self.text.at.saturating_sub(keyword.len());
        self.text.skip_blanks();
        if self.text.peek() == Some('(') && self.text.peek_raw(1) == Some('(') {
            let start = self.text.at;
            if !self.read_arithmetic() {
                self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
            }
            let counted: String = self
                .text
                .slice(start, self.text.at)
                .split_whitespace()
                .collect::<Vec<_>>()
                .concat();
            if counted.contains(";;") {
                open.mark_endless();
            }
            if let Some((name, words)) = count(&counted).filter(|_| self.substitutions == 0) {
                self.script.loops.push(ForLoop { name, words, span: (begin, self.text.at) });
            }
            return;
        }
        let name = self.word().word.text;
        self.script.names.push(name.clone());
        self.skip_blank_lines();
        if self.text.take("in") {
            let mut words = Vec::new();
            let mut end = self.text.at;
            loop {
                self.text.skip_blanks();
                let start = self.text.at;
                let word = self.word().word;
                if self.text.at == start {
                    break;
                }
                end = self.text.at;
                words.push(word);
            }
            if keyword == "for" && self.substitutions == 0 {
                self.script.loops.push(ForLoop { name, words, span: (begin, end) });
            }
        }
    }

    fn case(&mut self, open: &mut OpenCommand) {
        let begin = self.text.at.saturating_sub("case".len());
        self.text.skip_blanks();
        let word = self.word().word;
        self.skip_blank_lines();
        if self.word().word.is_keyword("in") {
            open.push(CompoundForm::Pattern, self);
            let head = CaseHead { word, span: (begin, self.text.at) };
            self.script.cases.extend((self.substitutions == 0).then_some(head));
        } else {
            self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
    }

    /// The pattern of a branch, up to its parenthesis.
    pub(super) fn pattern(&mut self, open: &mut OpenCommand) {
        self.skip_blank_lines();
        let begin = self.text.at;
        let mut words = Vec::new();
        self.text.take("(");
        loop {
            self.text.skip_blanks();
            let start = self.text.at;
            let word = self.pattern_word().word;
            if word.is_keyword("esac") {
                open.set_form(CompoundForm::Branch);
                return self.close(CompoundForm::Branch, open);
            }
            words.push(word);
            self.text.skip_blanks();
            match self.text.peek() {
                Some('|') => self.text.at += 1,
                Some(')') => {
                    self.text.at += 1;
                    let patterns = CasePatterns { words, span: (begin, self.text.at) };
                    self.script.patterns.extend((self.substitutions == 0).then_some(patterns));
                    return open.set_form(CompoundForm::Branch);
                }
                Some(_) if self.text.at > start => {}
                Some(_) | None => {
                    self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
                    self.text.at += 1;
                    return open.set_form(CompoundForm::Branch);
                }
            }
        }
    }

    /// `coproc [NAME] COMMAND`: the name only counts in front of a form.
    fn coprocess(&mut self) {
        self.script.add_form(Warning::Background);
        self.text.skip_blanks();
        let start = self.text.at;
        let word = self.word().word;
        self.text.skip_blanks();
        if word.is_keyword("{") || !matches!(self.text.peek(), Some('{' | '(')) {
            self.text.at = start;
        } else {
            self.script.names.push(word.text);
        }
    }

    /// `[[ … ]]`: words, and signs that are not operators here.
    fn condition(&mut self, open: &mut OpenCommand) {
        let begin = self.text.at.saturating_sub(2);
        open.begin(begin, self);
        open.simple.words.push(ShellWord {
            text: "[[".into(),
            plain: "[[".into(),
            span: (begin, self.text.at),
            ..ShellWord::default()
        });
        loop {
            self.skip_blank_lines();
            let start = self.text.at;
            let is_matched = open.simple.words.last().is_some_and(|word| word.is_keyword("=~"));
            let word = if is_matched { self.expression() } else { self.pattern_word().word };
            if word.is_keyword("]]") {
                return;
            } else if self.text.at > start {
                open.simple.words.push(word);
            } else if self.text.peek().is_none() {
                return self.script.mark_opaque(phrases::SHELL_UNFINISHED);
            } else if let Some(joint) = ["&&", "||"].into_iter().find(|joint| self.text.take(joint))
            {
                let text = joint.to_owned();
                let span = (start, self.text.at);
                open.simple.words.push(ShellWord { text, span, ..ShellWord::default() });
            } else {
                self.text.at += 1;
            }
        }
    }

    /// A regular expression as it is written: up to a blank outside of its parentheses.
    fn expression(&mut self) -> ShellWord {
        let start = self.text.at;
        let mut scrap = self.pattern_word();
        while scrap.word.variables.is_empty() {
            let open = self.text.slice(start, self.text.at);
            let is_open = open.matches('(').count() > open.matches(')').count();
            match self.text.peek() {
                Some('(' | ')' | '|') => self.text.at += 1,
                Some(' ' | '<' | '>' | '&' | ';') if is_open => self.text.at += 1,
                _ => break,
            }
            let more = self.pattern_word();
            scrap.word.variables.extend(more.word.variables);
            more.word.traits.iter().for_each(|one| scrap.word.add_trait(*one));
        }
        let text = self.text.slice(start, self.text.at);
        ShellWord { plain: text.clone(), text, span: (start, self.text.at), ..scrap.word }
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
    let is_short = steps && limit.saturating_sub(from) <= MAX_COUNTED;
    is_short.then(|| (name.to_owned(), (from..limit).map(word).collect()))
}

const MAX_COUNTED: u32 = 200;

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case",
    "esac", "function", "{", "}", "!", "time", "coproc", "[[",
];
