//! Colours for code: requests them, computes them and caches them.
//!
//! Loading the syntaxes and parsing code takes milliseconds, so it never happens while a frame is
//! drawn: code is shown plain, [`super::Transcript::next_unhighlighted`] says what is in view, a
//! [`Highlighter`] on another thread paints it, and [`super::Transcript::add_highlight`] takes the
//! result. A line that changed meanwhile stays plain until it is painted again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ratatui::style::Style;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::theme::Syntax;

/// Lines before a piece that are parsed again as its context, and the most bytes of context and
/// piece.
const BEFORE: usize = 128;
const BYTES: usize = 512 * 1024;
/// Painted pieces that are kept.
const KEPT: usize = 100;

/// The kind of a stretch of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TokenKind {
    #[default]
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
const SCOPES: &[(&str, TokenKind)] = &[
    ("comment", TokenKind::Comment),
    ("string", TokenKind::Text),
    ("constant.character.escape", TokenKind::Number),
    ("constant", TokenKind::Number),
    ("keyword.operator", TokenKind::Plain),
    ("keyword", TokenKind::Keyword),
    ("storage.type.numeric", TokenKind::Number),
    ("storage", TokenKind::Keyword),
    ("variable.language", TokenKind::Keyword),
    ("entity.name.function", TokenKind::Function),
    ("support.function", TokenKind::Function),
    ("variable.function", TokenKind::Function),
    ("entity.name.tag", TokenKind::Keyword),
    ("entity.other.attribute-name", TokenKind::Kind),
    ("entity.name", TokenKind::Kind),
    ("support.type", TokenKind::Kind),
    ("support.class", TokenKind::Kind),
    ("markup.inserted", TokenKind::Text),
    ("markup.deleted", TokenKind::Keyword),
];

impl TokenKind {
    pub fn style(self, style: Style, syntax: &Syntax) -> Style {
        match self {
            TokenKind::Plain => style,
            TokenKind::Comment => style.patch(syntax.comment),
            TokenKind::Text => style.patch(syntax.string),
            TokenKind::Keyword => style.patch(syntax.keyword),
            TokenKind::Number => style.patch(syntax.number),
            TokenKind::Kind => style.patch(syntax.kind),
            TokenKind::Function => style.patch(syntax.function),
        }
    }
}

/// A block, its part, and the index of the block of code in that part.
pub(super) type CodePosition = (usize, usize, usize);

/// Code that needs colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub(super) at: CodePosition,
    pub(super) language: String,
    /// The code above it in the same block, since a comment may begin there.
    pub(super) before: String,
    pub(super) code: String,
}

/// Code with its colours.
#[derive(Clone, Debug, PartialEq)]
pub struct HighlightedCode {
    pub(super) at: CodePosition,
    /// Identifies the painted code.
    hash: u64,
    lines: Vec<HighlightedLine>,
}

#[derive(Clone, Debug, PartialEq)]
struct HighlightedLine {
    hash: u64,
    /// The end of each stretch, in bytes.
    runs: Vec<(usize, TokenKind)>,
}

/// The syntaxes. Loading them takes milliseconds: do it once, off the screen's thread.
pub struct Highlighter {
    syntaxes: SyntaxSet,
    scopes: Vec<(Scope, TokenKind)>,
}

impl Default for Highlighter {
    fn default() -> Highlighter {
        let scopes = SCOPES.iter().filter_map(|(name, ink)| Some((Scope::new(name).ok()?, *ink)));
        Highlighter { syntaxes: two_face::syntax::extra_newlines(), scopes: scopes.collect() }
    }
}

impl Highlighter {
    /// Computes the colours; none for an unknown language.
    pub fn highlight(&self, snippet: &Snippet) -> HighlightedCode {
        let mut code =
            HighlightedCode { at: snippet.at, hash: hash(&snippet.code), lines: Vec::new() };
        let syntax = self.syntaxes.find_syntax_by_token(&snippet.language);
        let size = snippet.before.len() + snippet.code.len();
        let Some(syntax) = syntax.filter(|_| size <= BYTES) else { return code };
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        for line in snippet.before.split_inclusive('\n') {
            self.line(line, &mut state, &mut stack);
        }
        for line in snippet.code.split_inclusive('\n') {
            let runs = self.line(line, &mut state, &mut stack);
            code.lines.push(HighlightedLine { hash: hash(line.trim_end_matches('\n')), runs });
        }
        code
    }

    fn line(
        &self,
        line: &str,
        state: &mut ParseState,
        stack: &mut ScopeStack,
    ) -> Vec<(usize, TokenKind)> {
        let mut runs: Vec<(usize, TokenKind)> = Vec::new();
        let mut run = |end: usize, kind: TokenKind| match runs.last_mut() {
            Some((last, same)) if *same == kind => *last = end,
            _ if end > 0 => runs.push((end, kind)),
            _ => {}
        };
        // If a grammar fails, the line stays plain.
        for (at, op) in state.parse_line(line, &self.syntaxes).unwrap_or_default() {
            run(at, self.token_kind(stack));
            if stack.apply(&op).is_err() {
                break;
            }
        }
        run(line.len(), self.token_kind(stack));
        runs
    }

    fn token_kind(&self, stack: &ScopeStack) -> TokenKind {
        let known = |scope: &Scope| {
            self.scopes.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, ink)| *ink)
        };
        stack.as_slice().iter().rev().find_map(known).unwrap_or(TokenKind::Plain)
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").finish_non_exhaustive()
    }
}

impl HighlightedCode {
    /// The index of the diff of a dialog that it belongs to.
    pub fn index_in_dialog(&self) -> Option<usize> {
        (self.at.0 == usize::MAX).then_some(self.at.1)
    }

    /// The stretches of its `number`-th line, if that still reads `text`.
    pub(super) fn runs(&self, number: usize, text: &str) -> Option<&[(usize, TokenKind)]> {
        let line = self.lines.get(number).filter(|line| line.hash == hash(text))?;
        Some(&line.runs)
    }
}

/// The pieces painted last.
#[derive(Debug, Default)]
pub(super) struct HighlightCache {
    by_position: HashMap<CodePosition, HighlightedCode>,
}

impl HighlightCache {
    pub fn get(&self, at: CodePosition) -> Option<&HighlightedCode> {
        self.by_position.get(&at)
    }

    pub fn insert(&mut self, code: HighlightedCode) {
        if self.by_position.len() >= KEPT {
            self.by_position.clear();
        }
        self.by_position.insert(code.at, code);
    }

    pub fn remove_from(&mut self, block: usize) {
        self.by_position.retain(|(kept, ..), _| *kept < block);
    }

    /// True when complete lines of this code are not painted.
    pub fn needs_highlight(&self, at: CodePosition, code: &str) -> bool {
        let code = whole_lines(code);
        !code.is_empty()
            && self.by_position.get(&at).is_none_or(|painted| painted.hash != hash(code))
    }
}

/// The request: complete lines only, and not too many above them.
pub(super) fn snippet(at: CodePosition, language: &str, before: &str, code: &str) -> Snippet {
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
