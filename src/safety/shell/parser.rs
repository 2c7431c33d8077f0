//! Parses a shell line: its lists, loops and functions, down to simple commands.
//!
//! One pass over the letters; nothing is guessed. What does not fit the grammar makes
//! the line opaque, and the commands that can be seen are kept all the same.

use super::super::warning::Warning;
use super::ast::{InputText, Joint, RedirectKind, Script, Set, ShellWord, Simple, Sum, Trait};
use super::characters::ShellCharacters;
use avocet_core::i18n::safety as phrases;

/// Takes a line apart.
pub fn parse(line: &str) -> Script {
    let mut script = Script::default();
    if line.len() > MAX_LINE {
        script.opaque = Some(phrases::SHELL_TOO_DEEP);
    }
    if line.trim().contains('\n') {
        script.add_form(Warning::MultiLine);
    }
    let mut bodies = Vec::new();
    let mut parser =
        ShellParser::new(line.chars().take(MAX_LINE).collect(), &mut script, &mut bodies);
    parser.list(ListEnd::Text);
    for (serial, body) in bodies {
        if let Some(simple) = script.commands.iter_mut().find(|s| s.seat.serial == serial) {
            let text = match &body {
                InputText::Word(word) | InputText::Expanding(word) => &word.text,
                InputText::Lines(text) => text,
            };
            simple.fed.get_or_insert_default().push_str(text);
            // The last one counts.
            simple.input = Some(body);
        }
    }
    script.commands.sort_by_key(|simple| simple.seat.start);
    script
}

/// In characters; a longer line is opaque.
const MAX_LINE: usize = 1024 * 1024;
const MAX_DEPTH: usize = 48;

pub(super) struct ShellParser<'s> {
    pub(super) text: ShellCharacters,
    pub(super) depth: usize,
    pub(super) script: &'s mut Script,
    /// Texts of here-documents, by the number of the command they are fed to.
    pub(super) bodies: &'s mut Vec<(usize, InputText)>,
    /// Here-documents that begin at the next newline.
    pub(super) pending_heredocs: Vec<Heredoc>,
    /// The position in the line of a text that was cut out.
    origin: Option<usize>,
    pub(super) functions: OpenFunctions,
    /// Whether the input of this part comes from another command.
    pub(super) piped: bool,
    /// Whether two parentheses were found to be no arithmetic.
    pub(super) nested_only: bool,
    /// How many substitutions are around this part.
    pub(super) substitutions: usize,
}

/// The functions that are being defined.
#[derive(Default)]
pub(super) struct OpenFunctions {
    /// Innermost last.
    pub(super) names: Vec<String>,
    /// Where the last of them begins, if its body has not begun yet.
    pub(super) bodiless: Option<usize>,
}

impl OpenFunctions {
    pub(super) fn begin(&mut self, name: String, start: usize) {
        self.names.push(name);
        self.bodiless = Some(start);
    }

    /// How many are being defined around the form that begins here, which may be the body of one
    /// more.
    pub(super) fn enclosing(&mut self) -> usize {
        let own = usize::from(self.bodiless.take().is_some());
        self.names.len().saturating_sub(own)
    }
}

/// The words and signs that end a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    Text,
    Parenthesis,
}

pub(super) struct Heredoc {
    pub(super) delimiter: ShellWord,
    /// `<<-`: tabs in front of its lines do not count.
    pub(super) tabs: bool,
    pub(super) owner: usize,
}

impl Heredoc {
    /// Its lines; an error with them if its end is missing.
    pub(super) fn read_body(&self, characters: &mut ShellCharacters) -> Result<String, String> {
        let mut body = String::new();
        while !characters.is_at_end() {
            let line = characters.take_line();
            let line = if self.tabs { line.trim_start_matches('\t') } else { &line };
            if line == self.delimiter.text {
                return Ok(body);
            }
            body.push_str(line);
            body.push('\n');
        }
        Err(body)
    }
}

/// A simple command while it is read, and the forms around it.
pub(super) struct OpenCommand {
    pub(super) simple: Simple,
    /// Where it begins in the text that is read; `None` before its first word.
    pub(super) from: Option<usize>,
    /// Whether the list is fed by another command.
    pub(super) piped: bool,
    pub(super) before: Preceding,
    /// After `!`: it has failed where what follows goes on.
    pub(super) negated: bool,
    /// After `while` and `until`.
    pub(super) condition: Option<bool>,
    pub(super) frames: Vec<OpenCompound>,
}

/// What comes before the next word, besides the command it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Preceding {
    Nothing,
    /// A form that was closed.
    Form,
    /// An operator that waits for a command.
    Operator,
}

/// A form that must be closed.
pub(super) struct OpenCompound {
    pub(super) kind: CompoundForm,
    /// Whether the input of the inner commands comes from another command.
    pub(super) piped: bool,
    /// The number of functions being defined around it.
    pub(super) defining: usize,
    /// Where the function begins whose body it is, and where its commands do.
    pub(super) definition: Option<(usize, usize)>,
    /// A loop whose condition always holds, as long as no command that leaves it was read.
    pub(super) is_endless: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CompoundForm {
    If,
    Loop,
    Brace,
    /// `case`, where a pattern is due.
    Pattern,
    /// `case`, in the commands of a pattern.
    Branch,
}

impl<'s> ShellParser<'s> {
    fn new(
        chars: Vec<char>,
        script: &'s mut Script,
        bodies: &'s mut Vec<(usize, InputText)>,
    ) -> ShellParser<'s> {
        ShellParser {
            text: ShellCharacters::new(chars),
            depth: 0,
            script,
            bodies,
            pending_heredocs: Vec::new(),
            origin: None,
            functions: OpenFunctions::default(),
            piped: false,
            nested_only: false,
            substitutions: 0,
        }
    }

    /// One level further in; false at the bottom, where reading ends.
    pub(super) fn enter_level(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.script.mark_opaque(phrases::SHELL_TOO_DEEP);
            self.text.at = self.text.len();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Reads a text that was cut out of the line.
    pub(super) fn parse_nested<T: Default>(
        &mut self,
        text: &str,
        start: usize,
        read: impl Fn(&mut ShellParser<'_>) -> T,
    ) -> T {
        if !self.enter_level() {
            return T::default();
        }
        let start = self.origin.unwrap_or(start);
        let mut parser = ShellParser::new(text.chars().collect(), self.script, self.bodies);
        parser.depth = self.depth;
        parser.origin = Some(start);
        parser.piped = self.piped;
        parser.substitutions = self.substitutions + 1;
        parser.functions.names.clone_from(&self.functions.names);
        let found = read(&mut parser);
        self.depth -= 1;
        found
    }

    pub(super) fn skip_blank_lines(&mut self) {
        loop {
            match self.text.peek() {
                Some(' ' | '\t') => self.text.at += 1,
                Some('\n') => self.newline(),
                Some('#') => self.text.skip_comment(),
                Some(_) | None => return,
            }
        }
    }

    /// Reads commands up to `end`.
    pub(super) fn list(&mut self, end: ListEnd) {
        if !self.enter_level() {
            return;
        }
        let around = self.piped;
        let mut open = OpenCommand::new(self);
        let mut closed = end == ListEnd::Text;
        while let Some(c) = self.text.peek() {
            if open.form() == Some(CompoundForm::Pattern) {
                self.pattern(&mut open);
                continue;
            }
            match c {
                ' ' | '\t' => self.text.at += 1,
                // After an operator the command may be on the next line.
                '\n' if open.before == Preceding::Operator => self.newline(),
                '\n' => {
                    self.finish_command(&mut open, Joint::Next);
                    self.newline();
                }
                '#' => self.text.skip_comment(),
                ')' if end == ListEnd::Parenthesis => {
                    closed = true;
                    break;
                }
                '<' | '>' if self.text.peek_next() != Some('(') => self.redirection(&mut open),
                ';' | '&' | '|' | ')' => self.operator(&mut open),
                '(' => self.parenthesis(&mut open),
                _ => self.read_item(&mut open),
            }
        }
        self.finish_command(&mut open, Joint::Next);
        open.reject_dangling_operator(self.script);
        if !closed
            || !open.frames.is_empty()
            || (end == ListEnd::Text && !self.pending_heredocs.is_empty())
        {
            self.script.mark_opaque(phrases::SHELL_UNFINISHED);
        }
        self.text.at += usize::from(end == ListEnd::Parenthesis);
        self.piped = around;
        self.depth -= 1;
    }

    fn operator(&mut self, open: &mut OpenCommand) {
        if self.text.take("&>") {
            self.text.take(">");
            return self.target(open, RedirectKind::Write);
        }
        let joins = self.text.peek() == Some('|') || self.text.peek_next() == self.text.peek();
        let nothing = open.from.is_none() && open.before == Preceding::Nothing;
        if joins && nothing && self.text.peek() != Some(';') {
            self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
        let follows = if open.is_fresh() || open.negated { Joint::Or } else { Joint::And };
        open.reject_dangling_operator(self.script);
        let case = open.form() == Some(CompoundForm::Branch)
            && [";;&", ";;", ";&"].iter().any(|operator| self.text.take(operator));
        if case {
            self.finish_command(open, Joint::Next);
            open.set_form(CompoundForm::Pattern);
        } else if self.text.take("&&") {
            self.finish_command(open, follows);
            open.before = Preceding::Operator;
        } else if self.text.take("||") {
            self.finish_command(open, Joint::Or);
            open.before = Preceding::Operator;
        } else if self.text.take("|") {
            self.text.take("&");
            self.finish_command(open, Joint::Pipe);
            self.piped = true;
            open.before = Preceding::Operator;
        } else {
            match self.text.peek() {
                Some(';') if matches!(self.text.peek_next(), Some(';' | '&')) => {
                    self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
                }
                Some('&') => self.script.add_form(Warning::Background),
                Some(')') => self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD),
                Some(_) | None => {}
            }
            self.text.at += 1;
            self.finish_command(open, Joint::Next);
        }
    }

    fn parenthesis(&mut self, open: &mut OpenCommand) {
        open.before = Preceding::Form;
        let fresh = open.is_fresh();
        let nested_only = self.nested_only;

        let start = self.text.at;
        if fresh && !nested_only && self.text.peek_raw(1) == Some('(') && self.read_arithmetic() {
            let text = self.text.slice(start + 2, self.text.at.saturating_sub(2));
            let sum = Sum { text, span: (start, self.text.at) };
            self.script.sums.extend((self.substitutions == 0).then_some(sum));
            return;
        }
        if !fresh {
            self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
        self.script.add_form(Warning::Subshell);
        let named = self.functions.enclosing();
        self.text.at += 1;
        self.list(ListEnd::Parenthesis);
        self.functions.names.truncate(named);
        self.nested_only = nested_only;
    }

    /// A word: of the grammar, of a command, or what sets a variable.
    fn read_item(&mut self, open: &mut OpenCommand) {
        let fresh = open.is_fresh();
        let start = self.text.at;
        let draft = self.word();
        if self.text.at == start {
            // A letter no word begins with.
            self.text.at += 1;
            return;
        }
        let stream = draft.word.text.bytes().all(|b| b.is_ascii_digit())
            || (draft.word.text.starts_with('{') && draft.word.text.ends_with('}'));
        if stream
            && !draft.word.has(Trait::Quoted)
            && matches!(self.text.peek(), Some('<' | '>'))
            && self.text.peek_next() != Some('(')
        {
            let name = draft.word.text.trim_matches(['{', '}']);
            self.script.names.push(name.to_owned());
            return;
        }
        if fresh && self.read_keyword(&draft.word, open) {
            return;
        }
        open.begin(start, self);
        match draft.sets {
            Some(at) if open.simple.words.is_empty() => self.read_assignment(&draft.word, at, open),
            _ if fresh && self.text.take_empty_parens() => {
                self.begin_function(draft.word.text, start, open);
            }
            _ => {
                // `export a=(…)` and its like.
                if draft.sets.is_some() && self.text.peek() == Some('(') {
                    self.array();
                }
                open.simple.words.push(draft.word);
            }
        }
    }

    fn read_assignment(&mut self, word: &ShellWord, at: usize, open: &mut OpenCommand) {
        let (name, value) = word.text.split_at_checked(at).unwrap_or_default();
        let name = name.split(['[', '+']).next().unwrap_or(name).to_owned();
        let value = value.trim_start_matches('=').to_owned();
        let is_array = value.is_empty() && self.text.peek() == Some('(');
        let elements = is_array.then(|| self.array());
        let word = ShellWord { span: (word.span.0, self.text.at), ..word.clone() };
        self.script.add_form(Warning::EnvAssign);
        open.simple.sets.push(Set { name, value, word, elements });
    }

    /// The elements of an array, standing at the parenthesis.
    fn array(&mut self) -> Vec<ShellWord> {
        let mut elements = Vec::new();
        self.text.at += 1;
        loop {
            self.skip_blank_lines();
            let start = self.text.at;
            match self.text.peek() {
                None => {
                    self.script.mark_opaque(phrases::SHELL_UNFINISHED);
                    return elements;
                }
                Some(')') => break,
                Some(_) => elements.push(self.word().word),
            }
            if self.text.at == start {
                self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
                return elements;
            }
        }
        self.text.at += 1;
        elements
    }

    /// Ends a simple command; `joint`: what the next one follows.
    fn finish_command(&mut self, open: &mut OpenCommand, joint: Joint) {
        let mut simple = std::mem::take(&mut open.simple);
        if let Some(from) = open.from {
            let text = self.text.slice(from, self.text.at);
            simple.text = text.trim_end_matches(['&', '|', ';', ' ', '\t', '\n']).to_owned();
            simple.seat.piped = self.piped;
            simple.seat.substituted = self.substitutions > 0;
            let name = simple.words.first().map(|word| word.text.as_str());
            simple.seat.recursive =
                name.is_some_and(|n| self.functions.names.iter().any(|d| d == n));
            let forever = if open.condition == Some(true) { "true" } else { "false" };
            if open.condition.is_some() && name.is_some_and(|n| n == forever || n == ":") {
                open.mark_endless();
            }
            // One of a pipe runs in a shell of its own.
            if !self.piped && joint != Joint::Pipe {
                open.leave_loops(&simple);
            }
            self.script.commands.push(simple);
        }
        open.reset();
        open.condition = None;
        open.negated = false;
        open.simple.seat.after = joint;
        self.piped = open.frames.last().map_or(open.piped, |frame| frame.piped);
    }
}

impl OpenCommand {
    fn new(parser: &ShellParser<'_>) -> OpenCommand {
        OpenCommand {
            simple: Simple::default(),
            from: None,
            piped: parser.piped,
            before: Preceding::Nothing,
            negated: false,
            condition: None,
            frames: Vec::new(),
        }
    }

    /// A line with an operator that waits for a command and gets none is invalid.
    fn reject_dangling_operator(&mut self, script: &mut Script) {
        if std::mem::replace(&mut self.before, Preceding::Nothing) == Preceding::Operator {
            script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
    }

    pub(super) fn is_fresh(&self) -> bool {
        self.simple.words.is_empty() && self.simple.sets.is_empty()
    }

    pub(super) fn begin(&mut self, at: usize, parser: &mut ShellParser<'_>) {
        self.before = Preceding::Nothing;
        if self.from.is_none() {
            self.from = Some(at);
            parser.script.begun += 1;
            self.simple.seat.serial = parser.script.begun;
            self.simple.seat.start = parser.origin.unwrap_or(at);
        }
    }

    pub(super) fn reset(&mut self) {
        self.simple = Simple::default();
        self.from = None;
    }

    pub(super) fn form(&self) -> Option<CompoundForm> {
        self.frames.last().map(|frame| frame.kind)
    }

    pub(super) fn set_form(&mut self, form: CompoundForm) {
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = form;
        }
    }

    pub(super) fn mark_endless(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_endless = true;
        }
    }

    /// Of the loops around, those that a command leaves have an end: `break` leaves the inner one,
    /// `exit` and `return` all up to the function that is being defined.
    fn leave_loops(&mut self, simple: &Simple) {
        let name = simple.words.first().map_or("", |name| name.text.as_str());
        let loops = match name {
            "break" => simple.words.get(1).map_or(Some(1), |count| count.text.parse().ok()),
            "exit" | "return" => Some(usize::MAX),
            _ => None,
        };
        let within = self.frames.iter_mut().rev().take_while(|frame| frame.definition.is_none());
        let around = within.filter(|frame| frame.kind == CompoundForm::Loop);
        around.take(loops.unwrap_or(0)).for_each(|frame| frame.is_endless = false);
    }

    pub(super) fn push(&mut self, form: CompoundForm, parser: &mut ShellParser<'_>) {
        let definition = parser.functions.bodiless.map(|start| (start, parser.text.at));
        let defining = parser.functions.enclosing();
        let piped = parser.piped;
        let compound = OpenCompound { kind: form, piped, defining, definition, is_endless: false };
        self.frames.push(compound);
    }
}
