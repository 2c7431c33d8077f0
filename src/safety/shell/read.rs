//! Reads a line for a shell: its simple commands, words and redirections.

use crate::words::{Word as Say, safety as words};

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

const MOST_DEPTH: usize = 8;

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
