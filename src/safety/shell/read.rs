//! Reads a line for a shell: its lists, loops and functions, down to simple commands.
//!
//! One pass over the letters; nothing is guessed. What does not fit the grammar makes
//! the line opaque, and the commands that can be seen are kept all the same.

use super::super::warning::Warning;
use super::script::{Redirect, Script, Set, Simple, Trait, Way, Word};
use crate::words::{Word as Say, safety as words};

/// Takes a line apart.
pub fn read(line: &str) -> Script {
    let mut script = Script::default();
    if line.len() > MOST_LINE {
        script.opaque = Some(words::SHELL_TOO_DEEP);
    }
    if line.trim().contains('\n') {
        script.note(Warning::MultiLine);
    }
    let mut bodies = Vec::new();
    let mut reader = Reader::new(line.chars().take(MOST_LINE).collect(), &mut script, &mut bodies);
    reader.list(End::Text);
    for (serial, body) in bodies {
        if let Some(simple) = script.commands.iter_mut().find(|s| s.seat.serial == serial) {
            simple.fed.get_or_insert_default().push_str(&body);
        }
    }
    script.commands.sort_by_key(|simple| simple.seat.start);
    script
}

/// In characters; a longer line is opaque.
const MOST_LINE: usize = 1024 * 1024;
const MOST_DEPTH: usize = 48;

pub(super) struct Reader<'s> {
    chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: &'s mut Script,
    /// Texts of here-documents, by the number of the command they are fed to.
    bodies: &'s mut Vec<(usize, String)>,
    /// Here-documents that begin at the next newline.
    waiting: Vec<Heredoc>,
    /// Where a text that was cut out stands in the line.
    origin: Option<usize>,
    /// The functions that are being defined, innermost last.
    defining: Vec<String>,
    /// Whether the body of the last of them has not begun yet.
    bodiless: bool,
    /// Whether what is read here is fed by another command.
    pub(super) piped: bool,
    /// Whether two parentheses were found to be no arithmetic.
    pub(super) nested_only: bool,
}

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Parenthesis,
}

struct Heredoc {
    delimiter: Word,
    /// `<<-`: tabs in front of its lines do not count.
    tabs: bool,
    owner: usize,
}

/// A simple command while it is read, and the forms around it.
struct Open {
    simple: Simple,
    /// Where it begins in the text that is read; `None` before its first word.
    from: Option<usize>,
    /// Whether the list is fed by another command.
    piped: bool,
    before: Before,
    /// Behind `while` and `until`.
    condition: Option<bool>,
    frames: Vec<Frame>,
}

/// What stands before the next word, besides the command it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A form that was closed.
    Form,
    /// An operator that waits for a command.
    Operator,
}

/// A form that must be closed.
struct Frame {
    kind: Form,
    /// Whether what stands inside is fed by another command.
    piped: bool,
    /// The number of functions being defined around it.
    defining: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    If,
    Loop,
    Brace,
    /// `case`, where a pattern is due.
    Pattern,
    /// `case`, in the commands of a pattern.
    Branch,
}

impl<'s> Reader<'s> {
    fn new(
        chars: Vec<char>,
        script: &'s mut Script,
        bodies: &'s mut Vec<(usize, String)>,
    ) -> Reader<'s> {
        Reader {
            chars,
            at: 0,
            depth: 0,
            script,
            bodies,
            waiting: Vec::new(),
            origin: None,
            defining: Vec::new(),
            bodiless: false,
            piped: false,
            nested_only: false,
        }
    }

    /// The letter here; a backslash at the end of a line joins it to the next.
    pub(super) fn peek(&mut self) -> Option<char> {
        while self.raw(0) == Some('\\') && self.raw(1) == Some('\n') {
            self.at += 2;
        }
        self.raw(0)
    }

    /// The letter after the one here.
    pub(super) fn peek_after(&self) -> Option<char> {
        let mut ahead = 1;
        while self.raw(ahead) == Some('\\') && self.raw(ahead + 1) == Some('\n') {
            ahead += 2;
        }
        self.raw(ahead)
    }

    pub(super) fn raw(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to.min(self.chars.len())).unwrap_or_default().iter().collect()
    }

    pub(super) fn opaque(&mut self, why: Say) {
        self.script.opaque.get_or_insert(why);
    }

    /// One level further in; false at the bottom, where reading ends.
    pub(super) fn deeper(&mut self) -> bool {
        if self.depth >= MOST_DEPTH {
            self.opaque(words::SHELL_TOO_DEEP);
            self.at = self.chars.len();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Reads a text that was cut out of the line.
    pub(super) fn apart(&mut self, text: &str, start: usize, read: impl Fn(&mut Reader<'_>)) {
        if !self.deeper() {
            return;
        }
        let start = self.origin.unwrap_or(start);
        let mut inner = Reader::new(text.chars().collect(), self.script, self.bodies);
        inner.depth = self.depth;
        inner.origin = Some(start);
        inner.piped = self.piped;
        inner.defining.clone_from(&self.defining);
        read(&mut inner);
        self.depth -= 1;
    }

    /// Takes the letters of an operator if they stand here.
    fn take(&mut self, operator: &str) -> bool {
        let start = self.at;
        for c in operator.chars() {
            if self.peek() != Some(c) {
                self.at = start;
                return false;
            }
            self.at += 1;
        }
        true
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    fn blank_lines(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\n') => self.newline(),
                Some('#') => self.comment(),
                Some(_) | None => return,
            }
        }
    }

    fn comment(&mut self) {
        while self.raw(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Reads commands up to `end`.
    pub(super) fn list(&mut self, end: End) {
        if !self.deeper() {
            return;
        }
        let around = self.piped;
        let mut open = Open::new(self);
        let mut closed = end == End::Text;
        while let Some(c) = self.peek() {
            if open.form() == Some(Form::Pattern) {
                self.pattern(&mut open);
                continue;
            }
            match c {
                ' ' | '\t' => self.at += 1,
                // Behind an operator the command may stand in the next line.
                '\n' if open.before == Before::Operator => self.newline(),
                '\n' => {
                    self.finish(&mut open, false);
                    self.newline();
                }
                '#' => self.comment(),
                ')' if end == End::Parenthesis => {
                    closed = true;
                    break;
                }
                '<' | '>' if self.peek_after() != Some('(') => self.redirection(&mut open),
                ';' | '&' | '|' | ')' => self.operator(&mut open),
                '(' => self.parenthesis(&mut open),
                _ => self.item(&mut open),
            }
        }
        self.finish(&mut open, false);
        self.awaited(&mut open);
        if !closed || !open.frames.is_empty() || (end == End::Text && !self.waiting.is_empty()) {
            self.opaque(words::SHELL_UNFINISHED);
        }
        self.at += usize::from(end == End::Parenthesis);
        self.piped = around;
        self.depth -= 1;
    }

    fn operator(&mut self, open: &mut Open) {
        if self.take("&>") {
            self.take(">");
            return self.target(open, Way::Write);
        }
        let joins = self.peek() == Some('|') || self.peek_after() == self.peek();
        let nothing = open.from.is_none() && open.before == Before::Nothing;
        if joins && nothing && self.peek() != Some(';') {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
        self.awaited(open);
        let case = open.form() == Some(Form::Branch)
            && [";;&", ";;", ";&"].iter().any(|operator| self.take(operator));
        if case {
            self.finish(open, false);
            open.set_form(Form::Pattern);
        } else if self.take("&&") {
            self.finish(open, true);
            open.before = Before::Operator;
        } else if self.take("||") {
            self.finish(open, false);
            open.before = Before::Operator;
        } else if self.take("|") {
            self.take("&");
            self.finish(open, false);
            self.piped = true;
            open.before = Before::Operator;
        } else {
            match self.peek() {
                Some(';') if matches!(self.peek_after(), Some(';' | '&')) => {
                    self.opaque(words::SHELL_NOT_UNDERSTOOD);
                }
                Some('&') => self.script.note(Warning::Background),
                Some(')') => self.opaque(words::SHELL_NOT_UNDERSTOOD),
                Some(_) | None => {}
            }
            self.at += 1;
            self.finish(open, false);
        }
    }

    /// Where an operator waits for a command and none came, the line is none.
    fn awaited(&mut self, open: &mut Open) {
        if std::mem::replace(&mut open.before, Before::Nothing) == Before::Operator {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    fn parenthesis(&mut self, open: &mut Open) {
        open.before = Before::Form;
        let (fresh, nested_only) = (open.is_fresh(), self.nested_only);
        if fresh && !nested_only && self.raw(1) == Some('(') && self.sum() {
            return;
        }
        if !fresh {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
        self.script.note(Warning::Subshell);
        let named = self.defined_around();
        self.at += 1;
        self.list(End::Parenthesis);
        self.defining.truncate(named);
        self.nested_only = nested_only;
    }

    /// A word: of the grammar, of a command, or what sets a variable.
    fn item(&mut self, open: &mut Open) {
        let fresh = open.is_fresh();
        let start = self.at;
        let draft = self.word();
        if self.at == start {
            // A letter no word begins with.
            self.at += 1;
            return;
        }
        let stream = draft.word.text.bytes().all(|b| b.is_ascii_digit())
            || (draft.word.text.starts_with('{') && draft.word.text.ends_with('}'));
        if stream
            && !draft.word.has(Trait::Quoted)
            && matches!(self.peek(), Some('<' | '>'))
            && self.peek_after() != Some('(')
        {
            return;
        }
        if fresh && self.keyword(&draft.word, open) {
            return;
        }
        open.begin(start, self);
        match draft.sets {
            Some(at) if open.simple.words.is_empty() => self.set(&draft.word, at, open),
            _ if fresh && self.defines() => self.function(draft.word.text, open),
            _ => {
                // `export a=(…)` and its like.
                if draft.sets.is_some() && self.peek() == Some('(') {
                    self.array();
                }
                open.simple.words.push(draft.word);
            }
        }
    }

    fn set(&mut self, word: &Word, at: usize, open: &mut Open) {
        let (name, value) = word.text.split_at_checked(at).unwrap_or_default();
        let name = name.split(['[', '+']).next().unwrap_or(name).to_owned();
        let value = value.trim_start_matches('=').to_owned();
        if value.is_empty() && self.peek() == Some('(') {
            self.array();
        }
        self.script.note(Warning::EnvAssign);
        open.simple.sets.push(Set { name, value });
    }

    /// The elements of an array, standing at the parenthesis.
    fn array(&mut self) {
        self.at += 1;
        loop {
            self.blank_lines();
            let start = self.at;
            match self.peek() {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some(')') => break,
                Some(_) => drop(self.word()),
            }
            if self.at == start {
                self.opaque(words::SHELL_NOT_UNDERSTOOD);
                return;
            }
        }
        self.at += 1;
    }

    /// Takes `()` behind the name of a function.
    fn defines(&mut self) -> bool {
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

    fn function(&mut self, name: String, open: &mut Open) {
        self.script.note(Warning::Function);
        self.script.functions.push(name.clone());
        open.renew();
        self.blank_lines();
        self.defining.push(name);
        self.bodiless = true;
    }

    /// A word of the grammar at the place of a command; false when it is none.
    fn keyword(&mut self, word: &Word, open: &mut Open) -> bool {
        let Some(text) = KEYWORDS.iter().copied().find(|keyword| word.is(keyword)) else {
            return false;
        };
        open.before = Before::Nothing;
        match text {
            "if" => open.push(Form::If, self),
            "while" | "until" => {
                open.push(Form::Loop, self);
                open.condition = Some(text == "while");
            }
            "{" => open.push(Form::Brace, self),
            "for" | "select" => self.counted(open),
            "case" => self.case(open),
            "function" => {
                self.blanks();
                let name = self.word().word.text;
                self.defines();
                self.function(name, open);
            }
            "then" | "elif" | "else" => self.within(Form::If, open),
            "do" => self.within(Form::Loop, open),
            "fi" => self.close(Form::If, open),
            "done" => self.close(Form::Loop, open),
            "}" => self.close(Form::Brace, open),
            "esac" => self.close(Form::Branch, open),
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
    fn defined_around(&mut self) -> usize {
        let own = usize::from(std::mem::take(&mut self.bodiless));
        self.defining.len().saturating_sub(own)
    }

    fn within(&mut self, form: Form, open: &Open) {
        if open.form() != Some(form) {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    fn close(&mut self, form: Form, open: &mut Open) {
        self.within(form, open);
        open.before = Before::Form;
        if let Some(frame) = open.frames.pop() {
            self.defining.truncate(frame.defining);
        }
    }

    /// `for x in …` and `for ((…))`; `do` comes later.
    fn counted(&mut self, open: &mut Open) {
        open.push(Form::Loop, self);
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
        self.word();
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
            open.push(Form::Pattern, self);
        } else {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
    }

    /// The pattern of a branch, up to its parenthesis.
    fn pattern(&mut self, open: &mut Open) {
        self.blank_lines();
        self.take("(");
        loop {
            self.blanks();
            let start = self.at;
            let word = self.pattern_word().word;
            if word.is("esac") {
                open.set_form(Form::Branch);
                return self.close(Form::Branch, open);
            }
            self.blanks();
            match self.peek() {
                Some('|') => self.at += 1,
                Some(')') => {
                    self.at += 1;
                    return open.set_form(Form::Branch);
                }
                Some(_) if self.at > start => {}
                Some(_) | None => {
                    self.opaque(words::SHELL_NOT_UNDERSTOOD);
                    self.at += 1;
                    return open.set_form(Form::Branch);
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
        }
    }

    /// `[[ … ]]`: words, and signs that are no operators here.
    fn condition(&mut self, open: &mut Open) {
        open.begin(self.at.saturating_sub(2), self);
        open.simple.words.push(Word { text: "[[".into(), plain: "[[".into(), ..Word::default() });
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

    fn redirection(&mut self, open: &mut Open) {
        open.begin(self.at, self);
        if self.take("<<<") {
            self.blanks();
            let text = self.word().word.text;
            self.script.note(Warning::HereDoc);
            self.bodies.push((open.simple.seat.serial, text));
        } else if self.take("<<") {
            let tabs = self.take("-");
            self.blanks();
            let delimiter = self.word().word;
            self.script.note(Warning::HereDoc);
            self.waiting.push(Heredoc { delimiter, tabs, owner: open.simple.seat.serial });
        } else if self.take("<&") {
            self.duplicate(open, Way::Read);
        } else if self.take(">&") {
            self.duplicate(open, Way::Write);
        } else if self.take("<>") {
            self.target(open, Way::Both);
        } else if self.take("<") {
            self.target(open, Way::Read);
        } else {
            let _ = self.take(">>") || self.take(">|") || self.take(">");
            self.target(open, Way::Write);
        }
    }

    /// One stream joined to another; a file when no stream is named.
    fn duplicate(&mut self, open: &mut Open, way: Way) {
        self.blanks();
        let target = self.word().word;
        let stream = target.text.trim_end_matches('-');
        if !stream.bytes().all(|b| b.is_ascii_digit()) {
            open.simple.redirects.push(Redirect { way, target });
        }
    }

    fn target(&mut self, open: &mut Open, way: Way) {
        open.begin(self.at, self);
        self.blanks();
        let start = self.at;
        let target = self.word().word;
        if self.at == start {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
        open.simple.redirects.push(Redirect { way, target });
    }

    /// The end of a line, and the here-documents that begin behind it.
    fn newline(&mut self) {
        self.at += 1;
        for heredoc in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let body = self.body(&heredoc);
            if !heredoc.delimiter.has(Trait::Quoted) {
                self.apart(&body, start, |reader| reader.text());
            }
            self.bodies.push((heredoc.owner, body));
        }
    }

    fn body(&mut self, heredoc: &Heredoc) -> String {
        let mut body = String::new();
        while self.at < self.chars.len() {
            let rest = self.chars.get(self.at..).unwrap_or_default();
            let line: String = rest.iter().take_while(|c| **c != '\n').collect();
            self.at += line.chars().count() + 1;
            let line = if heredoc.tabs { line.trim_start_matches('\t') } else { &line };
            if line == heredoc.delimiter.text {
                return body;
            }
            body.push_str(line);
            body.push('\n');
        }
        self.opaque(words::SHELL_UNFINISHED);
        body
    }

    /// Ends a simple command; `sure`: the next runs only when it went well.
    fn finish(&mut self, open: &mut Open, sure: bool) {
        let mut simple = std::mem::take(&mut open.simple);
        if let Some(from) = open.from {
            let text = self.slice(from, self.at);
            simple.text = text.trim_end_matches(['&', '|', ';', ' ', '\t', '\n']).to_owned();
            simple.seat.piped = self.piped;
            let name = simple.words.first().map(|word| word.text.as_str());
            simple.seat.recursive = name.is_some_and(|n| self.defining.iter().any(|d| d == n));
            let forever = if open.condition == Some(true) { "true" } else { "false" };
            if open.condition.is_some() && name.is_some_and(|n| n == forever || n == ":") {
                self.script.note(Warning::Resource);
            }
            self.script.commands.push(simple);
        }
        open.renew();
        open.condition = None;
        open.simple.seat.sure = sure;
        self.piped = open.frames.last().map_or(open.piped, |frame| frame.piped);
    }
}

impl Open {
    fn new(reader: &Reader<'_>) -> Open {
        Open {
            simple: Simple::default(),
            from: None,
            piped: reader.piped,
            before: Before::Nothing,
            condition: None,
            frames: Vec::new(),
        }
    }

    fn is_fresh(&self) -> bool {
        self.simple.words.is_empty() && self.simple.sets.is_empty()
    }

    fn begin(&mut self, at: usize, reader: &mut Reader<'_>) {
        self.before = Before::Nothing;
        if self.from.is_none() {
            self.from = Some(at);
            reader.script.begun += 1;
            self.simple.seat.serial = reader.script.begun;
            self.simple.seat.start = reader.origin.unwrap_or(at);
        }
    }

    fn renew(&mut self) {
        self.simple = Simple::default();
        self.from = None;
    }

    fn form(&self) -> Option<Form> {
        self.frames.last().map(|frame| frame.kind)
    }

    fn set_form(&mut self, form: Form) {
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = form;
        }
    }

    fn push(&mut self, kind: Form, reader: &mut Reader<'_>) {
        let defining = reader.defined_around();
        self.frames.push(Frame { kind, piped: reader.piped, defining });
    }
}

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case",
    "esac", "function", "{", "}", "!", "time", "coproc", "[[",
];
