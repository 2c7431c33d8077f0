//! Functions of a line: what is in one is read where it is called, with the words of the call.

use super::super::rules;
use super::ast::{FunctionBody, Simple};
use super::builtin::is_builtin;
use super::known::KnownWord;
use super::parser::parse;
use super::plain::{PlainLine, PlainSegment};
use super::runner::is_of_shell;
use super::writer::PlainWriter;

/// What a body may not do, which is run in a shell of its own.
const LASTING: &[&str] = &["exit", "cd", "set", "export"];

impl PlainWriter<'_> {
    /// A function with a name of its own, which every command after it can call.
    pub(super) fn define(&mut self, body: &FunctionBody) -> Option<()> {
        self.close(false)?;
        let is_certain = match self.line.0.last() {
            Some(PlainSegment::Text(before)) => before.ends_with('\n') || before.ends_with(" && "),
            Some(PlainSegment::Command(_)) => false,
            None => true,
        };
        let name = body.name.as_str();
        let is_known = rules::find(name).is_some() || is_of_shell(name) || is_builtin(name);
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !["bash", "sh", "xargs", "timeout"].contains(&name);
        if !is_certain
            || self.depth > 0
            || is_known
            || !is_plain
            || self.functions.find(name).is_some()
        {
            return None;
        }
        self.functions.push(body.clone());
        self.push_text(":");
        self.certain = false;
        self.written = None;
        Some(())
    }

    /// What a call does; what is set in it must mean nothing outside.
    pub(super) fn read_call(
        &self,
        body: &FunctionBody,
        words: Vec<KnownWord>,
    ) -> Option<PlainLine> {
        let lasts = |simple: &Simple| {
            let name = simple.words.first().map_or("", |name| name.text.as_str());
            LASTING.contains(&name)
                || name == body.name
                || name.is_empty() && simple.sets.iter().any(|set| self.variables.has(&set.name))
        };
        if parse(&body.text).commands.iter().any(lasts) {
            return None;
        }
        let mut variables = self.variables.clone();
        variables.arguments = Some(words);
        let mut others = self.functions.clone();
        others.remove(&body.name);
        self.read_with(&body.text, variables, others)
    }
}
