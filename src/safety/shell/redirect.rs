//! Parses redirections, and the here-documents that begin after the end of a line.

use super::super::warning::Warning;
use super::ast::{InputText, Redirect, RedirectKind, Trait};
use super::parser::{Heredoc, OpenCommand, ShellParser};
use avocet_core::i18n::safety as phrases;

impl ShellParser<'_> {
    pub(super) fn redirection(&mut self, open: &mut OpenCommand) {
        open.begin(self.text.at, self);
        let start = self.text.at;
        if self.text.take("<<<") {
            self.text.skip_blanks();
            let word = self.word().word;
            self.script.add_form(Warning::HereDoc);
            self.bodies.push((open.simple.seat.serial, InputText::Word(word)));
            self.script
                .documents
                .extend((self.substitutions == 0).then_some((start, self.text.at)));
        } else if self.text.take("<<") {
            let tabs = self.text.take("-");
            self.text.skip_blanks();
            let delimiter = self.word().word;
            self.script.add_form(Warning::HereDoc);
            self.pending_heredocs.push(Heredoc { delimiter, tabs, owner: open.simple.seat.serial });
            self.script
                .documents
                .extend((self.substitutions == 0).then_some((start, self.text.at)));
        } else if self.text.take("<&") {
            self.read_duplicate(open, RedirectKind::Read);
        } else if self.text.take(">&") {
            self.read_duplicate(open, RedirectKind::Write);
        } else if self.text.take("<>") {
            self.target(open, RedirectKind::Both);
        } else if self.text.take("<") {
            self.target(open, RedirectKind::Read);
        } else {
            let _ = self.text.take(">>") || self.text.take(">|") || self.text.take(">");
            self.target(open, RedirectKind::Write);
        }
    }

    /// One stream joined to another; a file when no stream is named.
    fn read_duplicate(&mut self, open: &mut OpenCommand, kind: RedirectKind) {
        self.text.skip_blanks();
        let target = self.word().word;
        let stream = target.text.trim_end_matches('-');
        if !stream.bytes().all(|b| b.is_ascii_digit()) {
            open.simple.redirects.push(Redirect { way: kind, target });
        }
    }

    pub(super) fn target(&mut self, open: &mut OpenCommand, kind: RedirectKind) {
        open.begin(self.text.at, self);
        self.text.skip_blanks();
        let start = self.text.at;
        let target = self.word().word;
        if self.text.at == start {
            self.script.mark_opaque(phrases::SHELL_NOT_UNDERSTOOD);
        }
        open.simple.redirects.push(Redirect { way: kind, target });
    }

    /// The end of a line, and the here-documents that begin after it.
    pub(super) fn newline(&mut self) {
        self.text.at += 1;
        for heredoc in std::mem::take(&mut self.pending_heredocs) {
            let start = self.text.at;
            let body = heredoc.read_body(&mut self.text).unwrap_or_else(|body| {
                self.script.mark_opaque(phrases::SHELL_UNFINISHED);
                body
            });
            let is_quoted = heredoc.delimiter.has(Trait::Quoted);
            let expands = !is_quoted && body.contains(['$', '`', '\\']);
            let text = if expands {
                InputText::Expanding(self.parse_nested(&body, start, |reader| reader.read_text()))
            } else {
                InputText::Lines(body)
            };
            self.bodies.push((heredoc.owner, text));
            // The end of its last line is one of the line.
            let end = self.text.at.min(self.text.len() + 1);
            self.script.documents.extend((self.substitutions == 0).then_some((start, end - 1)));
        }
    }
}
