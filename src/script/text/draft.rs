//! The stages of a script's text on its way to a message: parsed once, filled, rendered, settled.

use super::Placeholder;
use super::bias::{self, Bias};
use super::marks::{self, Invoke, Pattern, PlaceholderMark};

/// Maximum number of openings tried in one text; the rest is plain.
const MOST_TRIED: usize = 1024;

/// One part of a [`Draft`], by its origin.
#[derive(Clone, Debug, PartialEq)]
pub enum TextSpan {
    /// The author's text, still to be rendered.
    Own(String),
    /// A mark, and its source text.
    Mark { mark: PlaceholderMark, source: String },
    /// Text from elsewhere: neither rendered nor parsed.
    Given(String),
}

/// The author's text, with its marks parsed and not yet rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageText {
    pieces: Vec<TextSpan>,
    bias: Vec<Bias>,
}

impl MessageText {
    /// Parses the author's text. Never fails: anything that is not a mark is text.
    pub fn read(text: &str) -> MessageText {
        Reader { rest: text, own: String::new(), draft: MessageText::default(), after_gap: false }
            .read()
    }

    /// Text from elsewhere, or after `~`: it stays unchanged.
    pub fn given(text: impl Into<String>) -> MessageText {
        MessageText { pieces: vec![TextSpan::Given(text.into())], bias: Vec::new() }
    }

    pub fn pieces(&self) -> &[TextSpan] {
        &self.pieces
    }

    /// The requests of `((text:bias))` marks, in order.
    pub fn bias(&self) -> &[Bias] {
        &self.bias
    }

    /// The first call that has no result yet.
    pub fn next_invoke(&self) -> Option<(usize, &Invoke)> {
        self.pieces.iter().enumerate().find_map(|(at, piece)| match piece {
            TextSpan::Mark { mark: PlaceholderMark::Invoke(invoke), .. } => Some((at, invoke)),
            _ => None,
        })
    }

    /// The first regular expression that has no result yet.
    pub fn next_pattern(&self) -> Option<(usize, &Pattern)> {
        self.pieces.iter().enumerate().find_map(|(at, piece)| match piece {
            TextSpan::Mark { mark: PlaceholderMark::Pattern(pattern), .. } => Some((at, pattern)),
            _ => None,
        })
    }

    /// True when a reply of the model is inserted into this text.
    pub fn asks(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, TextSpan::Mark { mark: PlaceholderMark::Ask(_), .. }))
    }

    /// Replaces a mark with a result. Extra spaces around it are removed.
    pub fn fill(&mut self, at: usize, value: impl Into<String>) {
        let value = value.into();
        let Some(TextSpan::Mark { .. }) = self.pieces.get(at) else { return };
        let before = at.checked_sub(1).and_then(|at| self.pieces.get_mut(at));
        let gap = match before {
            Some(TextSpan::Own(text) | TextSpan::Given(text)) => {
                tighten_end(text);
                text.ends_with(' ') || text.is_empty()
            }
            Some(TextSpan::Mark { .. }) => false,
            None => true,
        };
        if let Some(TextSpan::Own(text)) = self.pieces.get_mut(at + 1) {
            tighten_start(text, gap && value.is_empty());
        }
        if let Some(piece) = self.pieces.get_mut(at) {
            *piece = TextSpan::Given(value);
        }
    }

    /// The whole as one template, in which every part that is not the author's own is replaced by
    /// an unguessable placeholder.
    pub fn seal(self) -> Sealed {
        let sign = format!("{:016x}", fastrand::u64(..));
        let mut template = String::new();
        let mut covered = Vec::new();
        for piece in self.pieces {
            match piece {
                TextSpan::Own(text) => template.push_str(&text),
                TextSpan::Mark { mark: PlaceholderMark::Ask(ask), source } => {
                    cover(&mut template, &sign, covered.len());
                    covered.push(Shard::Ask { ask, source });
                }
                TextSpan::Mark { source: text, .. } | TextSpan::Given(text) => {
                    cover(&mut template, &sign, covered.len());
                    covered.push(Shard::Text(text));
                }
            }
        }
        Sealed { template, sign, covered }
    }

    /// The text without any rendering: for `formatStringStrategy: Raw`.
    pub fn settle(self) -> Settled {
        let mut shards = Vec::new();
        for piece in self.pieces {
            match piece {
                TextSpan::Mark { mark: PlaceholderMark::Ask(ask), source } => {
                    shards.push(Shard::Ask { ask, source })
                }
                TextSpan::Own(text)
                | TextSpan::Given(text)
                | TextSpan::Mark { source: text, .. } => {
                    push_text(&mut shards, &text);
                }
            }
        }
        Settled { shards }
    }
}

const COVER: char = '\u{FDD0}';
const COVER_END: char = '\u{FDD1}';

fn cover(template: &mut String, sign: &str, index: usize) {
    template.push_str(&format!("{COVER}{sign}.{index}{COVER_END}"));
}

/// A draft while its template is rendered.
#[derive(Clone, Debug)]
pub struct Sealed {
    template: String,
    sign: String,
    covered: Vec<Shard>,
}

impl Sealed {
    /// The template for the engine.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Replaces the placeholders in the template engine's output.
    pub fn open(self, rendered: &str) -> Settled {
        let mut shards = Vec::new();
        let mut rest = rendered;
        let head = format!("{COVER}{}.", self.sign);
        while let Some((before, after)) = rest.split_once(head.as_str()) {
            push_text(&mut shards, before);
            let Some((index, tail)) = after.split_once(COVER_END) else {
                rest = after;
                break;
            };
            match index.parse().ok().and_then(|index: usize| self.covered.get(index)) {
                Some(Shard::Text(text)) => push_text(&mut shards, text),
                Some(ask) => shards.push(ask.clone()),
                None => {}
            }
            rest = tail;
        }
        push_text(&mut shards, rest);
        Settled { shards }
    }
}

fn push_text(shards: &mut Vec<Shard>, text: &str) {
    match shards.last_mut() {
        _ if text.is_empty() => {}
        Some(Shard::Text(last)) => last.push_str(text),
        _ => shards.push(Shard::Text(text.to_owned())),
    }
}

/// One part of a [`Settled`] text.
#[derive(Clone, Debug, PartialEq)]
pub enum Shard {
    Text(String),
    /// A reply of the model is inserted here; `source` is the mark as written.
    Ask {
        ask: Placeholder,
        source: String,
    },
}

/// A rendered text that only waits for replies. It is never parsed again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    shards: Vec<Shard>,
}

impl Settled {
    /// Text from elsewhere.
    pub fn given(text: impl Into<String>) -> Settled {
        let mut shards = Vec::new();
        push_text(&mut shards, &text.into());
        Settled { shards }
    }

    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The first mark that waits for a reply.
    pub fn next_ask(&self) -> Option<(usize, &Placeholder)> {
        self.shards.iter().enumerate().find_map(|(at, shard)| match shard {
            Shard::Ask { ask, .. } => Some((at, ask)),
            Shard::Text(_) => None,
        })
    }

    /// The text before a shard: the context for the model's reply.
    pub fn before(&self, at: usize) -> String {
        self.shards.iter().take(at).map(written).collect()
    }

    /// Replaces a mark with a reply.
    pub fn fill(&mut self, at: usize, reply: impl Into<String>) {
        if let Some(shard @ Shard::Ask { .. }) = self.shards.get_mut(at) {
            *shard = Shard::Text(reply.into());
        }
    }

    /// The text as it is; a mark without a reply appears as written.
    pub fn text(&self) -> String {
        self.shards.iter().map(written).collect()
    }
}

fn written(shard: &Shard) -> &str {
    match shard {
        Shard::Text(text) | Shard::Ask { source: text, .. } => text,
    }
}

struct Reader<'a> {
    rest: &'a str,
    own: String,
    draft: MessageText,
    /// A removed mark left a space before it: the next one would be too many.
    after_gap: bool,
}

impl Reader<'_> {
    fn read(mut self) -> MessageText {
        let mut tried = 0;
        while let Some(at) = self.rest.find(['[', '(', '\\']).filter(|_| tried < MOST_TRIED) {
            let (before, tail) = self.rest.split_at(at);
            self.take_own(before);
            self.rest = tail;
            let escaped = tail
                .strip_prefix('\\')
                .filter(|rest| rest.starts_with("[[") || rest.starts_with("(("));
            if let Some(plain) = escaped {
                let (opening, rest) = plain.split_at(2);
                self.take_own(opening);
                self.rest = rest;
            } else if let Some(inside) = tail.strip_prefix("[[") {
                tried += 1;
                self.mark(inside);
            } else if let Some(inside) = tail.strip_prefix("((") {
                tried += 1;
                self.bias(inside);
            } else {
                self.step();
            }
        }
        let rest = self.rest;
        self.take_own(rest);
        self.flush();
        self.draft
    }

    /// Consumes one character as text.
    fn step(&mut self) {
        let mut chars = self.rest.chars();
        if let Some(c) = chars.next() {
            self.take_own(c.encode_utf8(&mut [0; 4]));
        }
        self.rest = chars.as_str();
    }

    fn take_own(&mut self, text: &str) {
        let text = if self.after_gap && !text.is_empty() {
            self.after_gap = false;
            text.trim_start_matches(' ')
        } else {
            text
        };
        self.own.push_str(text);
    }

    fn flush(&mut self) {
        if !self.own.is_empty() {
            self.draft.pieces.push(TextSpan::Own(std::mem::take(&mut self.own)));
        }
    }

    fn mark(&mut self, inside: &str) {
        match marks::read(inside) {
            Some((mark, rest)) => {
                let length = self.rest.len() - rest.len();
                let source = self.rest.split_at(length).0.to_owned();
                self.flush();
                self.draft.pieces.push(TextSpan::Mark { mark, source });
                self.rest = self.rest.split_at(length).1;
            }
            None => self.step(),
        }
    }

    fn bias(&mut self, inside: &str) {
        let Some((bias, removed, rest)) = bias::read(inside) else { return self.step() };
        let length = self.rest.len() - rest.len();
        self.rest = self.rest.split_at(length).1;
        if removed {
            self.after_gap = self.own.ends_with([' ', '\n'])
                || (self.own.is_empty() && self.draft.pieces.is_empty());
        } else {
            let text = bias.text.clone();
            self.take_own(&text);
        }
        self.draft.bias.push(bias);
    }
}

/// Keeps one of several spaces at the end, unless they indent a line.
fn tighten_end(text: &mut String) {
    let kept = text.trim_end_matches(' ').len();
    let indents = kept == 0 || text.split_at(kept).0.ends_with('\n');
    if !indents && text.len() > kept + 1 {
        text.truncate(kept + 1);
    }
}

/// Keeps one of several spaces at the start, or none when `gap` is already there.
fn tighten_start(text: &mut String, gap: bool) {
    let spaces = text.len() - text.trim_start_matches(' ').len();
    let keep = usize::from(spaces > 0 && !gap);
    if spaces > keep {
        text.replace_range(..spaces - keep, "");
    }
}

#[cfg(test)]
mod tests;
