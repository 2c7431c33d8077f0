//! Parses redirections, and the here-documents that begin after the end of a line.

use super::super::warning::Warning;
use super::ast::{InputText, Redirect, RedirectKind, Trait};
use super::parser::{Heredoc, OpenCommand, ShellParser};
use avocet_core::i18n::safety as words;

impl ShellParser<'_> {
    pub(super) fn redirection(&mut self, open: &mut OpenCommand) {
        open.begin(self.at, self);
        let start = self.at;
        if self.take("<<<") {
            self.skip_blanks();
            let word = self.word().word;
            self.script.add_form(Warning::HereDoc);
            self.bodies.push((open.simple.seat.serial, InputText::Word(word)));
            self.record_document(start);
        } else if self.take("<<") {
            let tabs = self.take("-");
            self.skip_blanks();
            let delimiter = self.word().word;
            self.script.add_form(Warning::HereDoc);
            self.pending_heredocs.push(Heredoc { delimiter, tabs, owner: open.simple.seat.serial });
            self.record_document(start);
        } else if self.take("<&") {
            self.read_duplicate(open, RedirectKind::Read);
        } else if self.take(">&") {
            self.read_duplicate(open, RedirectKind::Write);
        } else if self.take("<>") {
            self.target(open, RedirectKind::Both);
        } else if self.take("<") {
            self.target(open, RedirectKind::Read);
        } else {
            let _ = self.take(">>") || self.take(">|") || self.take(">");
            self.target(open, RedirectKind::Write);
        }
    }

    /// One stream joined to another; a file when no stream is named.
    fn read_duplicate(&mut self, open: &mut OpenCommand, way: RedirectKind) {
        self.skip_blanks();
        let target = self.word().word;
        let stream = target.text.trim_end_matches('-');
        if !stream.bytes().all(|b| b.is_ascii_digit()) {
            open.simple.redirects.push(Redirect { way, target });
        }
    }

    pub(super) fn target(&mut self, open: &mut OpenCommand, way: RedirectKind) {
        open.begin(self.at, self);
        self.skip_blanks();
        let start = self.at;
        let target = self.word().word;
        if self.at == start {
            self.mark_opaque(words::SHELL_NOT_UNDERSTOOD);
        }
        open.simple.redirects.push(Redirect { way, target });
    }

    /// The end of a line, and the here-documents that begin after it.
    pub(super) fn newline(&mut self) {
        self.at += 1;
        for heredoc in std::mem::take(&mut self.pending_heredocs) {
            let start = self.at;
            let body = self.read_heredoc_body(&heredoc);
            let is_quoted = heredoc.delimiter.has(Trait::Quoted);
            let expands = !is_quoted && body.contains(['$', '`', '\\']);
            let text = if expands {
                InputText::Expanding(self.parse_nested(&body, start, |reader| reader.read_text()))
            } else {
                InputText::Lines(body)
            };
            self.bodies.push((heredoc.owner, text));
            // The end of its last line is one of the line.
            let end = self.at.min(self.chars.len() + 1);
            self.script.documents.extend((self.substitutions == 0).then_some((start, end - 1)));
        }
    }

    /// The part of the line from `start` on announces a here-document.
    fn record_document(&mut self, start: usize) {
        self.script.documents.extend((self.substitutions == 0).then_some((start, self.at)));
    }

    fn read_heredoc_body(&mut self, heredoc: &Heredoc) -> String {
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
        self.mark_opaque(words::SHELL_UNFINISHED);
        body
    }
}
