//! Splits a line for a shell into the simple commands it would run.
//!
//! Careful, not complete: quotes, operators, redirections, substitutions (also inside
//! double quotes), subshells and the common keywords are understood. What is not, makes
//! the line opaque, and it is never harmless then. Nothing in here is ever handed back
//! to a shell: a line runs as it was typed.

use crate::protocol::{Effect, Piece, Tier};
use crate::words::{Word as Say, safety as words};

use super::findings::{Findings, quoted};
use super::judge::{self, Call, Ground, Seat};
use super::{paths, wrappers};

/// What a line consists of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// In the order they stand, those inside substitutions before the one around them.
    pub commands: Vec<Simple>,
    /// Why the line cannot be understood as a whole, if so.
    pub opaque: Option<Say>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    /// As it stands in the line.
    pub text: String,
    pub words: Vec<Word>,
    /// The variables set in front of it.
    pub sets: Vec<String>,
    pub reads: Vec<Word>,
    pub writes: Vec<Word>,
}

/// One word, without its quotes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub text: String,
    /// A part of it is only known when the shell runs: `$x`, `$(…)`, `{a,b}`.
    pub expands: bool,
    pub quoted: bool,
}

/// Reads a line.
pub fn read(line: &str) -> Script {
    let mut script = Script::default();
    read_into(line, 0, &mut script);
    script
}

/// The names of the programs a line would start, in the order they stand.
pub fn programs_of(line: &str) -> Vec<String> {
    let names =
        read(line).commands.into_iter().filter_map(|simple| simple.words.into_iter().next());
    names.filter(|word| !word.expands).map(|word| word.text).collect()
}

/// Judges a line: each simple command by itself, and all of them in `findings`.
pub fn judge_line(line: &str, ground: &Ground<'_>, findings: &mut Findings) -> Vec<Piece> {
    let script = read(line);
    if line.chars().any(|c| super::malformed::is_hidden(c) || c == '\r') {
        findings.add("malformed.hidden", Tier::L1, words::ARG_HIDDEN, None, &[]);
    }
    if line.contains('\0') {
        findings.add("malformed.nul", Tier::L2, words::ARG_NUL, None, &[]);
    }
    if let Some(why) = script.opaque {
        findings.add("shell.opaque", Tier::L1, why, None, &[Effect::Exec]);
    }
    let mut pieces = Vec::new();
    for simple in &script.commands {
        let mut found = Findings::default();
        judge_simple(simple, Seat::Line, 0, ground, &mut found);
        judge_simple(simple, Seat::Line, 0, ground, findings);
        pieces.push(Piece { text: simple.text.clone(), risk: found.risk(false) });
    }
    if script.commands.is_empty() {
        findings.add("shell.empty", Tier::L1, words::SHELL_EMPTY, None, &[]);
    }
    pieces
}

/// Judges one simple command by the tables.
pub fn judge_simple(
    simple: &Simple,
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let arg = seat.arg(0);
    findings.add("shell", Tier::L0, words::SHELL_PIECE, arg, &[Effect::Read]);
    for name in simple.sets.iter().filter(|name| !wrappers::is_harmless_variable(name)) {
        let say = words::SETS_VARIABLE.with("name", quoted(name));
        findings.add("shell.variable", Tier::L1, say, arg, &[]);
    }
    let call = Call { id: "shell".into(), name: "sh", args: &[], seat, depth, ground };
    redirections(simple, &call, findings);
    let Some((first, rest)) = simple.words.split_first() else { return };
    if let Some(word) = rest.iter().find(|word| word.expands) {
        let say = words::SHELL_EXPANDS.with("word", quoted(&word.text));
        findings.add("shell.expansion", Tier::L1, say, arg, &[]);
    }
    if let Some(word) = rest.iter().find(|w| !w.quoted && is_hidden_glob(&w.text)) {
        let say = words::PATH_SENSITIVE.with("path", quoted(&word.text));
        findings.add("path.sensitive", Tier::L1, say, arg, &[Effect::Secret]);
    }
    if first.expands {
        findings.add("shell.opaque", Tier::L1, words::SHELL_NAME_UNKNOWN, arg, &[Effect::Exec]);
    } else {
        run(&first.text, rest, seat, depth, ground, findings);
    }
}

fn redirections(simple: &Simple, call: &Call<'_>, findings: &mut Findings) {
    let arg = call.seat.arg(0);
    for word in simple.reads.iter().filter(|word| !word.text.is_empty()) {
        call.reads(&word.text, 0, findings);
    }
    for word in &simple.writes {
        if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
            findings.add("shell.network", Tier::L1, words::USES_NETWORK, arg, &[Effect::Network]);
        } else if !["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&word.text.as_str()) {
            let say = words::WRITES_A_FILE.with("arg", quoted(&word.text));
            findings.add("shell.redirect", Tier::L1, say, arg, &[Effect::Write]);
            call.writes(&word.text, 0, findings);
        }
    }
}

/// The command itself; what a shell does on its own is told apart from programs.
fn run(
    name: &str,
    rest: &[Word],
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let arg = seat.arg(0);
    let args: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
    match name {
        _ if HARMLESS.contains(&name) => {}
        "exec" | "command" | "builtin" | "coproc" => {
            let skip = args.iter().take_while(|arg| arg.starts_with('-')).count();
            if let Some((name, rest)) = rest.get(skip..).and_then(<[Word]>::split_first)
                && depth < MOST_DEPTH
            {
                run(&name.text, rest, seat, depth + 1, ground, findings);
            }
        }
        "eval" | "trap" | "source" | "." | "alias" => {
            findings.add("shell.opaque", Tier::L1, words::SHELL_EVALUATES, arg, &[Effect::Exec]);
            if depth < MOST_DEPTH {
                for simple in &read(&args.join(" ")).commands {
                    judge_evaluated(name, simple, seat, depth + 1, ground, findings);
                }
            }
        }
        "cd" | "pushd" | "popd" | "export" | "set" | "declare" | "typeset" | "readonly"
        | "unset" | "umask" | "ulimit" | "shopt" | "enable" => {
            let say = words::SHELL_CHANGES.with("program", name);
            findings.add("shell.state", Tier::L1, say, arg, &[]);
        }
        _ => judge::command(name, arg, &args, seat, depth, ground, findings),
    }
}

/// A file that is sourced is no command; the rest of what is evaluated is one.
fn judge_evaluated(
    name: &str,
    simple: &Simple,
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let mut found = Findings::default();
    judge_simple(simple, seat, depth, ground, &mut found);
    if name == "eval" || found.tier() == Tier::L2 && name == "trap" {
        judge_simple(simple, seat, depth, ground, findings);
    }
}

/// A pattern that a shell would also find hidden files or keys with.
fn is_hidden_glob(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = name.rsplit('.').next().unwrap_or(name);
    name.contains(['*', '?', '['])
        && (name.starts_with('.') || paths::is_sensitive_name(&format!("x.{ending}")))
}

const MOST_DEPTH: usize = 8;
const HARMLESS: &[&str] = &[
    ":", "exit", "return", "shift", "break", "continue", "wait", "type", "hash", "jobs", "times",
    "read", "local", "let", "getopts", "dirs", "fg", "bg",
];

fn read_into(line: &str, depth: usize, script: &mut Script) {
    if depth > MOST_DEPTH || line.len() > MOST_LINE {
        script.opaque = Some(words::SHELL_TOO_DEEP);
        return;
    }
    let chars: Vec<char> = line.chars().collect();
    let mut reader = Reader { chars, at: 0, depth, script, heredocs: Vec::new() };
    reader.list(None);
}

const MOST_LINE: usize = 64 * 1024;

struct Reader<'s> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    script: &'s mut Script,
    /// Delimiters of here-documents that begin at the next line, and whether the text
    /// in them is left alone.
    heredocs: Vec<(String, bool)>,
}

/// A command while it is read.
#[derive(Default)]
struct Open {
    start: usize,
    simple: Simple,
    word: Option<Word>,
    /// Where the next word goes.
    next: Place,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Words,
    Read,
    Write,
    Heredoc,
    HereString,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn opaque(&mut self, why: Say) {
        self.script.opaque.get_or_insert(why);
    }

    /// Reads commands up to `end`, or to the end of the text.
    fn list(&mut self, end: Option<char>) {
        if self.depth > MOST_DEPTH {
            self.opaque(words::SHELL_TOO_DEEP);
            self.at = self.chars.len();
            return;
        }
        let mut open = Open { start: self.at, ..Open::default() };
        while let Some(c) = self.peek(0) {
            if Some(c) == end && c == ')' {
                self.finish(&mut open);
                self.at += 1;
                return;
            }
            match c {
                '\n' => {
                    self.finish(&mut open);
                    self.here_documents();
                }
                '&' if self.peek(1) == Some('>') => self.redirection(&mut open),
                '<' | '>' => self.redirection(&mut open),
                '#' if open.word.is_none() => self.comment(),
                '(' => self.parenthesis(&mut open),
                ' ' | '\t' | ';' | '&' | '|' | ')' => self.separator(c, &mut open),
                _ => self.letter(c, &mut open),
            }
            if open.simple == Simple::default() && open.word.is_none() {
                open.start = self.at;
            }
        }
        if end.is_some() {
            self.opaque(words::SHELL_UNFINISHED);
        }
        self.finish(&mut open);
        self.heredocs.clear();
    }

    fn separator(&mut self, c: char, open: &mut Open) {
        if matches!(c, ' ' | '\t') {
            self.end_word(open);
        } else {
            self.finish(open);
        }
        if c == ')' {
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
        }
        self.at += 1;
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn parenthesis(&mut self, open: &mut Open) {
        let command = open.word.is_none() && open.simple.words.is_empty();
        if command && self.peek(1) == Some('(') {
            self.at += 2;
            self.arithmetic();
            return;
        }
        if !command {
            // A function or an array.
            self.opaque(words::SHELL_NOT_UNDERSTOOD);
            self.finish(open);
        }
        self.nested();
    }

    /// Reads `( … )`, standing at the parenthesis.
    fn nested(&mut self) {
        self.at += 1;
        self.depth += 1;
        self.list(Some(')'));
        self.depth -= 1;
    }

    fn redirection(&mut self, open: &mut Open) {
        if open.word.as_ref().is_some_and(|w| w.text.bytes().all(|b| b.is_ascii_digit())) {
            open.word = None;
        }
        self.end_word(open);
        let start = self.at;
        while self.peek(0).is_some_and(|c| "<>&|".contains(c)) && self.at - start < 3 {
            self.at += 1;
        }
        let operator: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        open.next = match operator.as_str() {
            "<<" | "<<-" => Place::Heredoc,
            "<<<" => Place::HereString,
            "<" | "<&" => Place::Read,
            ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<>" => Place::Write,
            _ => {
                self.opaque(words::SHELL_NOT_UNDERSTOOD);
                Place::Write
            }
        };
        if open.next == Place::Heredoc && self.peek(0) == Some('-') {
            self.at += 1;
        }
        if self.peek(0) == Some('(') && matches!(operator.as_str(), "<" | ">") {
            open.next = Place::Words;
            open.word.get_or_insert_default().expands = true;
            self.nested();
        } else if operator.ends_with('&')
            && self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-')
        {
            // One stream joined to another; no file.
            self.at += 1;
            open.next = Place::Words;
        }
    }

    /// One character, or one quoted or expanding part, of a word.
    fn letter(&mut self, c: char, open: &mut Open) {
        let mut word = open.word.take().unwrap_or_default();
        match c {
            '\'' => self.single(&mut word),
            '"' => self.double(&mut word),
            '\\' => {
                match self.peek(1) {
                    Some('\n') => {}
                    Some(next) => {
                        word.text.push(next);
                        word.quoted = true;
                    }
                    None => self.opaque(words::SHELL_UNFINISHED),
                }
                self.at += 2;
                if word == Word::default() {
                    return;
                }
            }
            '$' => self.dollar(&mut word),
            '`' => self.backtick(&mut word),
            _ => {
                word.text.push(c);
                self.at += 1;
            }
        }
        open.word = Some(word);
    }

    fn single(&mut self, word: &mut Word) {
        self.at += 1;
        word.quoted = true;
        loop {
            match self.peek(0) {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some('\'') => break,
                Some(c) => word.text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn double(&mut self, word: &mut Word) {
        self.at += 1;
        word.quoted = true;
        loop {
            match self.peek(0) {
                None => return self.opaque(words::SHELL_UNFINISHED),
                Some('"') => break,
                Some('$') => {
                    self.dollar(word);
                    continue;
                }
                Some('`') => {
                    self.backtick(word);
                    continue;
                }
                Some('\\') => {
                    self.at += 1;
                    match self.peek(0) {
                        Some('\n') | None => {}
                        Some(c) if "$`\"\\".contains(c) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                    }
                }
                Some(c) => word.text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn dollar(&mut self, word: &mut Word) {
        let next = self.peek(1);
        match next {
            Some('(') if self.peek(2) == Some('(') => {
                self.at += 3;
                self.arithmetic();
            }
            Some('(') => {
                self.at += 1;
                self.nested();
            }
            Some('{') => {
                self.at += 2;
                self.braces();
            }
            Some('\'') if !word.quoted => {
                // Escapes in here can spell anything.
                self.at += 1;
                self.opaque(words::SHELL_NOT_UNDERSTOOD);
                self.single(word);
            }
            Some('"') if !word.quoted => {
                self.at += 1;
                return self.double(word);
            }
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c) => {
                word.text.push('$');
                self.at += 1;
            }
            Some(_) | None => {
                word.text.push('$');
                self.at += 1;
                return;
            }
        }
        if matches!(next, Some('(' | '{')) {
            word.text.push_str("$…");
        }
        word.expands = true;
    }

    fn backtick(&mut self, word: &mut Word) {
        self.at += 1;
        word.expands = true;
        word.text.push_str("$…");
        let mut inner = String::new();
        loop {
            match self.peek(0) {
                None => {
                    self.opaque(words::SHELL_UNFINISHED);
                    break;
                }
                Some('`') => break,
                Some('\\') if self.peek(1).is_some_and(|c| "`$\\".contains(c)) => {
                    self.at += 1;
                    inner.extend(self.peek(0));
                }
                Some(c) => inner.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        read_into(&inner, self.depth + 1, self.script);
    }

    /// `((…))`: no command, but substitutions stand in it.
    fn arithmetic(&mut self) {
        self.until(words::SHELL_UNFINISHED, |reader| {
            reader.peek(0) == Some(')') && reader.peek(1) == Some(')')
        });
        self.at += 2;
    }

    /// `${…}`: a name and perhaps a value, in which substitutions may stand.
    fn braces(&mut self) {
        self.until(words::SHELL_UNFINISHED, |reader| reader.peek(0) == Some('}'));
        self.at += 1;
    }

    /// Reads over text that is no command, and into the substitutions that stand in it.
    fn until(&mut self, why: Say, ends: impl Fn(&Self) -> bool) {
        let mut scrap = Word::default();
        self.depth += 1;
        while !ends(self) && self.depth <= MOST_DEPTH * 2 {
            match self.peek(0) {
                None => {
                    self.opaque(why);
                    break;
                }
                Some('$') => {
                    scrap.quoted = true;
                    self.dollar(&mut scrap);
                }
                Some('`') => self.backtick(&mut scrap),
                Some('\\') => self.at += 2,
                Some('\'') => self.single(&mut scrap),
                Some('"') => self.double(&mut scrap),
                Some(_) => self.at += 1,
            }
        }
        self.depth -= 1;
        if self.depth > MOST_DEPTH {
            self.opaque(words::SHELL_TOO_DEEP);
            self.at = self.chars.len();
        }
    }

    fn end_word(&mut self, open: &mut Open) {
        let Some(mut word) = open.word.take() else { return };
        let plain = !word.quoted;
        word.expands |= plain && word.text.contains('{') && word.text.contains([',', '.']);
        // A pattern in the place of the program may find anything.
        let program = open.next == Place::Words && open.simple.words.is_empty();
        let pattern =
            word.text.contains(['*', '?', '[']) && !["[", "[["].contains(&word.text.as_str());
        word.expands |= program && plain && pattern;
        match open.next {
            Place::Words => {
                if open.simple.words.is_empty() && plain && word.text == "[[" {
                    self.until(words::SHELL_UNFINISHED, |r| {
                        r.peek(0) == Some(']') && r.peek(1) == Some(']')
                    });
                    self.at += 2;
                } else if !(open.simple.words.is_empty() && assigns(&word, &mut open.simple)) {
                    open.simple.words.push(word);
                }
            }
            Place::Read => open.simple.reads.push(word),
            Place::Write => open.simple.writes.push(word),
            Place::Heredoc => self.heredocs.push((word.text, word.quoted)),
            Place::HereString => {}
        }
        open.next = Place::Words;
    }

    fn finish(&mut self, open: &mut Open) {
        self.end_word(open);
        open.next = Place::default();
        let start = std::mem::replace(&mut open.start, self.at);
        let mut simple = std::mem::take(&mut open.simple);
        self.keywords(&mut simple);
        if simple == Simple::default() {
            return;
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        simple.text = text.trim().to_owned();
        self.script.commands.push(simple);
    }

    /// Takes the words off the front that only give a line its form.
    fn keywords(&mut self, simple: &mut Simple) {
        while let Some(first) = simple.words.first().filter(|word| !word.quoted) {
            match first.text.as_str() {
                "for" | "select" => simple.words.clear(),
                "case" | "function" => {
                    simple.words.clear();
                    self.opaque(words::SHELL_NOT_UNDERSTOOD);
                }
                text if FORM.contains(&text) => {
                    simple.words.remove(0);
                    while let Some(word) = simple.words.first().cloned()
                        && assigns(&word, simple)
                    {
                        simple.words.remove(0);
                    }
                }
                _ => break,
            }
        }
    }

    /// Reads over the here-documents that begin with this line.
    fn here_documents(&mut self) {
        self.at += 1;
        for (delimiter, quoted) in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            loop {
                if self.at >= self.chars.len() {
                    break;
                }
                let rest = self.chars.get(self.at..).unwrap_or_default();
                let line: String = rest.iter().take_while(|c| **c != '\n').collect();
                self.at += line.chars().count() + 1;
                if line.trim_start_matches('\t') == delimiter {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if !quoted {
                let chars = body.chars().collect();
                let script = &mut *self.script;
                let mut inner =
                    Reader { chars, at: 0, depth: self.depth + 1, script, heredocs: Vec::new() };
                inner.substitutions();
            }
            // What a shell or an interpreter is fed is not looked into.
            self.opaque(words::SHELL_HERE_DOCUMENT);
        }
    }

    fn substitutions(&mut self) {
        let mut scrap = Word { quoted: true, ..Word::default() };
        while let Some(c) = self.peek(0) {
            match c {
                '$' => self.dollar(&mut scrap),
                '`' => self.backtick(&mut scrap),
                '\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }
}

/// Words that give a line its form and run nothing.
const FORM: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done", "esac"];

/// Whether the word sets a variable; then its name is kept.
fn assigns(word: &Word, simple: &mut Simple) -> bool {
    let Some((name, _)) = word.text.split_once('=') else { return false };
    let name = name.trim_end_matches('+');
    let valid = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if valid {
        simple.sets.push(name.to_owned());
    }
    valid
}

#[cfg(test)]
mod tests;
