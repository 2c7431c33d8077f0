//! Parses the compound forms of the language: conditions, loops, branches, functions.

use super::super::warning::Warning;
use super::read::{Before, CompoundForm, Open, ShellParser};
use super::script::ShellWord;
use crate::words::safety as words;

impl ShellParser<'_> {
    /// Takes `()` after the name of a function.
    pub(super) fn defines(&mut self) -> bool {
        let start = self.at;
        self.blanks();
        if self.take("(") {
            self.blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = start;
        false
    }

    pub(super) fn function(&mut self, name: String, open: &mut Open) {
        self.script.note(Warning::Function);
        self.script.functions.push(name.clone());
        open.renew();
        self.blank_lines();
        self.defining.push(name);
        self.bodiless = true;
    }

    /// A word of the grammar at the place of a command; false when it is not one.
    pub(super) fn keyword(&mut self, word: &ShellWord, open: &mut Open) -> bool {
        let Some(text) = KEYWORDS.iter().copied().find(|keyword| word.is(keyword)) else {
            return false;
        };
        open.before = Before::Nothing;
        match text {
            "if" => open.push(CompoundForm::If, self),
            "while" | "until" => {
                open.push(CompoundForm::Loop, self);
                open.condition = Some(text == "while");
            }
            "{" => open.push(CompoundForm::Brace, self),
            "for" | "select" => self.counted(open),
            "case" => self.case(open),
            "function" => {
                self.blanks();
                let name = self.word().word.text;
                self.defines();
                self.function(name, open);
            }
            "then" | "elif" | "else" => self.within(CompoundForm::If, open),
            "do" => self.within(CompoundForm::Loop, open),
            "fi" => self.close(CompoundForm::If, open),
            "done" => self.close(CompoundForm::Loop, open),
            "}" => self.close(CompoundForm::Brace, open),
            "esac" => self.close(CompoundForm::Branch, open),
            "time" => {
                self.blanks();
                self.take("-p");
            }
            "coproc" => self.coprocess(),
            "[[" => self.condition(open),
            _ => {}
        }
        true
    }

    /// How many functions are being defined around the form that begins here, which may
    /// be the body of one more.
    pub(super) fn defined_around(&mut self) -> usize {
        let own = usize::from(std::mem::take(&mut self.bodiless));
        self.defining.len().saturating_sub(own)
    }

    fn within(&mut self, form: CompoundForm, open: &Open) {
        if open.form() != Some(form) {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    fn close(&mut self, form: CompoundForm, open: &mut Open) {
        self.within(form, open);
        open.before = Before::Form;
        if let Some(frame) = open.frames.pop() {
            self.defining.truncate(frame.defining);
        }
    }

    /// `for x in …` and `for ((…))`; `do` comes later.
    fn counted(&mut self, open: &mut Open) {
        open.push(CompoundForm::Loop, self);
        self.blanks();
        if self.peek() == Some('(') && self.raw(1) == Some('(') {
            let start = self.at;
            if !self.sum() {
                self.opaque(words::SHELL_NOT_UNDERSTOOD);
            }
            let counted: String =
                self.slice(start, self.at).split_whitespace().collect::<Vec<_>>().concat();
            if counted.contains(";;") {
                self.script.note(Warning::Resource);
            }
            return;
        }
        let name = self.word().word.text;
        self.script.names.push(name);
        self.blank_lines();
        if self.take("in") {
            loop {
                self.blanks();
                let start = self.at;
                self.word();
                if self.at == start {
                    break;
                }
            }
        }
    }

    fn case(&mut self, open: &mut Open) {
        self.blanks();
        self.word();
        self.blank_lines();
        if self.word().word.is("in") {
            open.push(CompoundForm::Pattern, self);
        } else {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    /// The pattern of a branch, up to its parenthesis.
    pub(super) fn pattern(&mut self, open: &mut Open) {
        self.blank_lines();
        self.take("(");
        loop {
            self.blanks();
            let start = self.at;
            let word = self.pattern_word().word;
            if word.is("esac") {
                open.set_form(CompoundForm::Branch);
                return self.close(CompoundForm::Branch, open);
            }
            self.blanks();
            match self.peek() {
                Some('|') => self.at += 1,
                Some(')') => {
                    self.at += 1;
                    return open.set_form(CompoundForm::Branch);
                }
                Some(_) if self.at > start => {}
                Some(_) | None => {
                    self.opaque(words::SHELL_NOT_UNDERSTOOD);
                    self.at += 1;
                    return open.set_form(CompoundForm::Branch);
                }
            }
        }
    }

    /// `coproc [NAME] COMMAND`: the name only counts in front of a form.
    fn coprocess(&mut self) {
        self.script.note(Warning::Background);
        self.blanks();
        let start = self.at;
        let word = self.word().word;
        self.blanks();
        if word.is("{") || !matches!(self.peek(), Some('{' | '(')) {
            self.at = start;
        } else {
            self.script.names.push(word.text);
        }
    }

    /// `[[ … ]]`: words, and signs that are not operators here.
    fn condition(&mut self, open: &mut Open) {
        open.begin(self.at.saturating_sub(2), self);
        open.simple.words.push(ShellWord {
            text: "[[".into(),
            plain: "[[".into(),
            ..ShellWord::default()
        });
        loop {
            self.blank_lines();
            let start = self.at;
            let word = self.pattern_word().word;
            if word.is("]]") {
                return;
            } else if self.at > start {
                open.simple.words.push(word);
            } else if self.peek().is_none() {
                return self.opaque(words::SHELL_UNFINISHED);
            } else {
                self.at += 1;
            }
        }
    }
}

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case",
    "esac", "function", "{", "}", "!", "time", "coproc", "[[",
];
