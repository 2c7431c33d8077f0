//! Colours for code: requests them, computes them and caches them.
//!
//! Loading the syntaxes and parsing code takes milliseconds, so it never happens while a frame is
//! drawn: code is shown plain, [`super::Transcript::uncoloured`] says what is in view, a
//! [`Highlighter`] on another thread paints it, and [`super::Transcript::colour`] takes the result.
//! A line that changed meanwhile stays plain until it is painted again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ratatui::style::Style;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::tui::theme::Syntax;

/// Lines before a piece that are parsed again as its context, and the most bytes of context and
/// piece.
const BEFORE: usize = 128;
const BYTES: usize = 512 * 1024;
/// Painted pieces that are kept.
const KEPT: usize = 100;

/// The kind of a stretch of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Comment,
    Text,
    Keyword,
    Number,
    Kind,
    Function,
}

/// The scopes of a grammar and their kinds; the innermost listed scope wins, and the first of two
/// in the same place.
const SCOPES: &[(&str, Ink)] = &[
    ("comment", Ink::Comment),
    ("string", Ink::Text),
    ("constant.character.escape", Ink::Number),
    ("constant", Ink::Number),
    ("keyword.operator", Ink::Plain),
    ("keyword", Ink::Keyword),
    ("storage.type.numeric", Ink::Number),
    ("storage", Ink::Keyword),
    ("variable.language", Ink::Keyword),
    ("entity.name.function", Ink::Function),
    ("support.function", Ink::Function),
    ("variable.function", Ink::Function),
    ("entity.name.tag", Ink::Keyword),
    ("entity.other.attribute-name", Ink::Kind),
    ("entity.name", Ink::Kind),
    ("support.type", Ink::Kind),
    ("support.class", Ink::Kind),
    ("markup.inserted", Ink::Text),
    ("markup.deleted", Ink::Keyword),
];

impl Ink {
    pub fn style(self, plain: Style, syntax: &Syntax) -> Style {
        match self {
            Ink::Plain => plain,
            Ink::Comment => plain.patch(syntax.comment),
            Ink::Text => plain.patch(syntax.string),
            Ink::Keyword => plain.patch(syntax.keyword),
            Ink::Number => plain.patch(syntax.number),
            Ink::Kind => plain.patch(syntax.kind),
            Ink::Function => plain.patch(syntax.function),
        }
    }
}

/// A block, its part, and the index of the block of code in that part.
pub(super) type At = (usize, usize, usize);

/// Code that needs colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub(super) at: At,
    pub(super) language: String,
    /// The code above it in the same block, since a comment may begin there.
    pub(super) before: String,
    pub(super) code: String,
}

/// Code with its colours.
#[derive(Clone, Debug)]
pub struct Painted {
    pub(super) at: At,
    /// Identifies the painted code.
    hash: u64,
    lines: Vec<PaintedLine>,
}

#[derive(Clone, Debug)]
struct PaintedLine {
    hash: u64,
    /// The end of each stretch, in bytes.
    runs: Vec<(usize, Ink)>,
}

/// The syntaxes. Loading them takes milliseconds: do it once, off the screen's thread.
pub struct Highlighter {
    syntaxes: SyntaxSet,
    scopes: Vec<(Scope, Ink)>,
}

impl Default for Highlighter {
    fn default() -> Highlighter {
        let scopes = SCOPES.iter().filter_map(|(name, ink)| Some((Scope::new(name).ok()?, *ink)));
        Highlighter { syntaxes: two_face::syntax::extra_newlines(), scopes: scopes.collect() }
    }
}

impl Highlighter {
    /// Computes the colours; none for an unknown language.
    pub fn paint(&self, snippet: &Snippet) -> Painted {
        let mut painted = Painted { at: snippet.at, hash: hash(&snippet.code), lines: Vec::new() };
        let syntax = self.syntaxes.find_syntax_by_token(&snippet.language);
        let size = snippet.before.len() + snippet.code.len();
        let Some(syntax) = syntax.filter(|_| size <= BYTES) else { return painted };
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        for line in snippet.before.split_inclusive('\n') {
            self.line(line, &mut state, &mut stack);
        }
        for line in snippet.code.split_inclusive('\n') {
            let runs = self.line(line, &mut state, &mut stack);
            painted.lines.push(PaintedLine { hash: hash(line.trim_end_matches('\n')), runs });
        }
        painted
    }

    fn line(
        &self,
        line: &str,
        state: &mut ParseState,
        stack: &mut ScopeStack,
    ) -> Vec<(usize, Ink)> {
        let mut runs: Vec<(usize, Ink)> = Vec::new();
        let mut run = |end: usize, ink: Ink| match runs.last_mut() {
            Some((last, same)) if *same == ink => *last = end,
            _ if end > 0 => runs.push((end, ink)),
            _ => {}
        };
        // If a grammar fails, the line stays plain.
        for (at, op) in state.parse_line(line, &self.syntaxes).unwrap_or_default() {
            run(at, self.ink(stack));
            if stack.apply(&op).is_err() {
                break;
            }
        }
        run(line.len(), self.ink(stack));
        runs
    }

    fn ink(&self, stack: &ScopeStack) -> Ink {
        let known = |scope: &Scope| {
            self.scopes.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, ink)| *ink)
        };
        stack.as_slice().iter().rev().find_map(known).unwrap_or(Ink::Plain)
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").finish_non_exhaustive()
    }
}

impl Painted {
    /// The stretches of its `number`-th line, if that still reads `text`.
    pub(super) fn runs(&self, number: usize, text: &str) -> Option<&[(usize, Ink)]> {
        let line = self.lines.get(number).filter(|line| line.hash == hash(text))?;
        Some(&line.runs)
    }
}

/// The pieces painted last.
#[derive(Debug, Default)]
pub(super) struct Paints {
    kept: HashMap<At, Painted>,
}

impl Paints {
    pub fn get(&self, at: At) -> Option<&Painted> {
        self.kept.get(&at)
    }

    pub fn put(&mut self, painted: Painted) {
        if self.kept.len() >= KEPT {
            self.kept.clear();
        }
        self.kept.insert(painted.at, painted);
    }

    pub fn forget(&mut self, block: usize) {
        self.kept.retain(|(kept, ..), _| *kept < block);
    }

    /// True when complete lines of this code are not painted.
    pub fn is_due(&self, at: At, code: &str) -> bool {
        let code = whole_lines(code);
        !code.is_empty() && self.kept.get(&at).is_none_or(|painted| painted.hash != hash(code))
    }
}

/// The request: complete lines only, and not too many above them.
pub(super) fn snippet(at: At, language: &str, before: &str, code: &str) -> Snippet {
    let skipped = before.lines().count().saturating_sub(BEFORE);
    let before = before.split_inclusive('\n').skip(skipped).collect();
    Snippet { at, language: language.to_owned(), before, code: whole_lines(code).to_owned() }
}

fn whole_lines(code: &str) -> &str {
    code.rfind('\n').and_then(|at| code.get(..=at)).unwrap_or_default()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
