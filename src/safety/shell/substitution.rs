//! `$(…)`: what a few questions about names print is known before the line runs. Everything else is
//! run by the shell, and what it prints is only shown, compared, or kept in a variable.

use std::path::Path;

use super::super::PathKind;
use super::super::warning::Warning;
use super::ast::{RedirectKind, ShellWord};
use super::expand::{Expander, ExpansionContext, Substituted};
use super::known::KnownWord;
use super::parser::parse;
use super::runner::is_of_shell;

/// Most numbers that `seq` may print.
const MAX_NUMBERS: u32 = 200;

/// The text inside, if it is one.
pub fn inside(written: &str) -> Option<&str> {
    written.strip_prefix("$(")?.strip_suffix(')')
}

impl ExpansionContext<'_> {
    /// What a command prints, where that is known; a command may be inside another:
    /// `$(dirname $(which x))`.
    pub fn evaluate(&self, line: &str) -> Option<String> {
        let script = parse(line);
        let mut outer = script.commands.iter().filter(|simple| !simple.seat.substituted);
        let simple = outer.next().filter(|simple| simple.text == line.trim())?;
        let plain = [Warning::Substitution, Warning::Expansion];
        let is_quiet = match simple.redirects.as_slice() {
            [] => true,
            [one] => one.way == RedirectKind::Write && simple.text.ends_with(" 2>/dev/null"),
            _ => false,
        };
        let is_plain = is_quiet
            && outer.next().is_none()
            && script.opaque.is_none()
            && script.forms.iter().all(|form| plain.contains(form))
            && simple.sets.is_empty();
        let mut made = Vec::new();
        for written in simple.words.iter().flat_map(ShellWord::substitutions) {
            let known = Some(self.evaluate(inside(written)?)?);
            made.push(Substituted {
                written: written.to_owned(),
                known,
                name: String::new(),
                is_listing: false,
            });
        }
        if is_plain { self.answer(&simple.words, &made) } else { None }
    }

    fn answer(&self, words: &[ShellWord], made: &[Substituted]) -> Option<String> {
        let expander =
            Expander { context: *self, made, shows: false, compares: false, takes: false };
        let mut texts = Vec::new();
        for word in words {
            let known = expander.expand(word)?;
            texts.extend(known.into_iter().map(|KnownWord { text, .. }| text));
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let path = |path: &Path| path.to_str().map(str::to_owned);
        match texts.as_slice() {
            ["pwd"] => path(self.folder?),
            ["git", "rev-parse", "--show-toplevel"] => path(self.repository()?),
            ["which", name] => self.program(name),
            ["command", "-v", name] if !is_of_shell(name) => self.program(name),
            ["dirname", text] if is_path(text) => path(Path::new(text).parent()?),
            ["basename", text] if is_path(text) => {
                Path::new(text).file_name()?.to_str().map(str::to_owned)
            }
            ["seq", to] => numbers(1, to.parse().ok()?),
            ["seq", from, to] => numbers(from.parse().ok()?, to.parse().ok()?),
            _ => None,
        }
    }

    /// The folder of the repository around this one.
    fn repository(&self) -> Option<&Path> {
        let mut above = self.folder?.ancestors();
        above.find(|folder| self.policy_cx.world.kind(&folder.join(".git")) != PathKind::Missing)
    }

    fn program(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let found =
            self.policy_cx.world.program(name).filter(|_| is_name && name.chars().all(plain));
        found?.path.to_str().map(str::to_owned)
    }
}

/// An absolute path that `dirname` and `basename` take apart as everyone does.
fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && text.len() > 1
        && !text.ends_with('/')
        && !["//", "/."].iter().any(|odd| text.contains(odd))
}

fn numbers(from: u32, to: u32) -> Option<String> {
    let is_short = to.checked_sub(from)? < MAX_NUMBERS;
    is_short.then(|| (from..=to).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"))
}
