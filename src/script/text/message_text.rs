//! The stages of a script's text on its way to a message: parsed once, filled, rendered, settled.

use super::ask::Placeholder;
use super::bias::{self, Bias};
use super::placeholder::{self, CallMark, PlaceholderMark, RegexPlaceholder};

/// Maximum number of openings tried in one text; the rest is plain.
const MAX_TRIED: usize = 1024;

/// One part of a [`MessageText`], by its origin.
#[derive(Clone, Debug, PartialEq)]
pub enum TextSpan {
    /// The author's text, still to be rendered.
    Author(String),
    /// A mark, and its source text.
    Mark { mark: PlaceholderMark, source: String },
    /// Text from elsewhere: neither rendered nor parsed.
    Literal(String),
}

/// The author's text, with its marks parsed and not yet rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageText {
    spans: Vec<TextSpan>,
    bias: Vec<Bias>,
}

impl MessageText {
    /// Parses the author's text. Never fails: anything that is not a mark is text.
    pub fn read(text: &str) -> MessageText {
        MessageTextParser {
            rest: text,
            pending: String::new(),
            output: MessageText::default(),
            after_gap: false,
        }
        .parse()
    }

    /// Text from elsewhere, or after `~`: it stays unchanged.
    pub fn literal(text: impl Into<String>) -> MessageText {
        MessageText { spans: vec![TextSpan::Literal(text.into())], bias: Vec::new() }
    }

    pub fn spans(&self) -> &[TextSpan] {
        &self.spans
    }

    /// The requests of `((text:bias))` marks, in order.
    pub fn bias(&self) -> &[Bias] {
        &self.bias
    }

    /// The first call that has no result yet.
    pub fn next_call(&self) -> Option<(usize, &CallMark)> {
        self.spans.iter().enumerate().find_map(|(at, piece)| match piece {
            TextSpan::Mark { mark: PlaceholderMark::Call(invoke), .. } => Some((at, invoke)),
            _ => None,
        })
    }

    /// The first regular expression that has no result yet.
    pub fn next_pattern(&self) -> Option<(usize, &RegexPlaceholder)> {
        self.spans.iter().enumerate().find_map(|(at, piece)| match piece {
            TextSpan::Mark { mark: PlaceholderMark::Regex(pattern), .. } => Some((at, pattern)),
            _ => None,
        })
    }

    /// Replaces a mark with a result. Extra spaces around it are removed.
    pub fn fill(&mut self, at: usize, value: impl Into<String>) {
        let value = value.into();
        let Some(TextSpan::Mark { .. }) = self.spans.get(at) else { return };
        let before = at.checked_sub(1).and_then(|at| self.spans.get_mut(at));
        let gap = match before {
            Some(TextSpan::Author(text) | TextSpan::Literal(text)) => {
                tighten_end(text);
                text.ends_with(' ') || text.is_empty()
            }
            Some(TextSpan::Mark { .. }) => false,
            None => true,
        };
        if let Some(TextSpan::Author(text)) = self.spans.get_mut(at + 1) {
            tighten_start(text, gap && value.is_empty());
        }
        if let Some(piece) = self.spans.get_mut(at) {
            *piece = TextSpan::Literal(value);
        }
    }

    /// The whole as one template, in which every part that is not the author's own is replaced by
    /// an unguessable placeholder.
    pub fn mask(self) -> MaskedTemplate {
        let sign = format!("{:016x}", fastrand::u64(..));
        let mut template = String::new();
        let mut covered = Vec::new();
        for piece in self.spans {
            match piece {
                TextSpan::Author(text) => template.push_str(&text),
                TextSpan::Mark { mark: PlaceholderMark::Placeholder(ask), source } => {
                    push_mask(&mut template, &sign, covered.len());
                    covered.push(RenderedSpan::Placeholder { ask, source });
                }
                TextSpan::Mark { source: text, .. } | TextSpan::Literal(text) => {
                    push_mask(&mut template, &sign, covered.len());
                    covered.push(RenderedSpan::Text(text));
                }
            }
        }
        MaskedTemplate { template, nonce: sign, masked: covered }
    }

    /// The text without any rendering: for `formatStringStrategy: Raw`.
    pub fn into_unrendered(self) -> RenderedText {
        let mut shards = Vec::new();
        for piece in self.spans {
            match piece {
                TextSpan::Mark { mark: PlaceholderMark::Placeholder(ask), source } => {
                    shards.push(RenderedSpan::Placeholder { ask, source })
                }
                TextSpan::Author(text)
                | TextSpan::Literal(text)
                | TextSpan::Mark { source: text, .. } => {
                    push_text(&mut shards, &text);
                }
            }
        }
        RenderedText { spans: shards }
    }
}

const COVER: char = '\u{FDD0}';
const COVER_END: char = '\u{FDD1}';

fn push_mask(template: &mut String, sign: &str, index: usize) {
    template.push_str(&format!("{COVER}{sign}.{index}{COVER_END}"));
}

/// A draft while its template is rendered.
#[derive(Clone, Debug)]
pub struct MaskedTemplate {
    template: String,
    nonce: String,
    masked: Vec<RenderedSpan>,
}

impl MaskedTemplate {
    /// The template for the engine.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Replaces the placeholders in the template engine's output.
    pub fn unmask(self, rendered: &str) -> RenderedText {
        let mut shards = Vec::new();
        let mut rest = rendered;
        let head = format!("{COVER}{}.", self.nonce);
        while let Some((before, after)) = rest.split_once(head.as_str()) {
            push_text(&mut shards, before);
            let Some((index, tail)) = after.split_once(COVER_END) else {
                rest = after;
                break;
            };
            match index.parse().ok().and_then(|index: usize| self.masked.get(index)) {
                Some(RenderedSpan::Text(text)) => push_text(&mut shards, text),
                Some(ask) => shards.push(ask.clone()),
                None => {}
            }
            rest = tail;
        }
        push_text(&mut shards, rest);
        RenderedText { spans: shards }
    }
}

fn push_text(spans: &mut Vec<RenderedSpan>, text: &str) {
    match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(RenderedSpan::Text(last)) => last.push_str(text),
        _ => spans.push(RenderedSpan::Text(text.to_owned())),
    }
}

/// One part of a [`RenderedText`] text.
#[derive(Clone, Debug, PartialEq)]
pub enum RenderedSpan {
    Text(String),
    /// A reply of the model is inserted here; `source` is the mark as written.
    Placeholder {
        ask: Placeholder,
        source: String,
    },
}

/// A rendered text that only waits for replies. It is never parsed again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderedText {
    spans: Vec<RenderedSpan>,
}

impl RenderedText {
    /// Text from elsewhere.
    pub fn literal(text: impl Into<String>) -> RenderedText {
        let mut shards = Vec::new();
        push_text(&mut shards, &text.into());
        RenderedText { spans: shards }
    }

    pub fn spans(&self) -> &[RenderedSpan] {
        &self.spans
    }

    /// The first mark that waits for a reply.
    pub fn next_placeholder(&self) -> Option<(usize, &Placeholder)> {
        self.spans.iter().enumerate().find_map(|(at, shard)| match shard {
            RenderedSpan::Placeholder { ask, .. } => Some((at, ask)),
            RenderedSpan::Text(_) => None,
        })
    }

    /// The text before a shard: the context for the model's reply.
    pub fn text_before(&self, at: usize) -> String {
        self.spans.iter().take(at).map(source_text).collect()
    }

    /// Replaces a mark with a reply.
    pub fn fill(&mut self, at: usize, reply: impl Into<String>) {
        if let Some(shard @ RenderedSpan::Placeholder { .. }) = self.spans.get_mut(at) {
            *shard = RenderedSpan::Text(reply.into());
        }
    }

    /// The text as it is; a mark without a reply appears as written.
    pub fn text(&self) -> String {
        self.spans.iter().map(source_text).collect()
    }
}

fn source_text(span: &RenderedSpan) -> &str {
    match span {
        RenderedSpan::Text(text) | RenderedSpan::Placeholder { source: text, .. } => text,
    }
}

struct MessageTextParser<'a> {
    rest: &'a str,
    pending: String,
    output: MessageText,
    /// A removed mark left a space before it: the next one would be too many.
    after_gap: bool,
}

impl MessageTextParser<'_> {
    fn parse(mut self) -> MessageText {
        let mut tried = 0;
        while let Some(at) = self.rest.find(['[', '(', '\\']).filter(|_| tried < MAX_TRIED) {
            let (before, tail) = self.rest.split_at(at);
            self.push_author_text(before);
            self.rest = tail;
            let escaped = tail
                .strip_prefix('\\')
                .filter(|rest| rest.starts_with("[[") || rest.starts_with("(("));
            if let Some(plain) = escaped {
                let (opening, rest) = plain.split_at(2);
                self.push_author_text(opening);
                self.rest = rest;
            } else if let Some(inside) = tail.strip_prefix("[[") {
                tried += 1;
                self.parse_mark(inside);
            } else if let Some(inside) = tail.strip_prefix("((") {
                tried += 1;
                self.parse_bias(inside);
            } else {
                self.push_char();
            }
        }
        let rest = self.rest;
        self.push_author_text(rest);
        self.flush();
        self.output
    }

    /// Consumes one character as text.
    fn push_char(&mut self) {
        let mut chars = self.rest.chars();
        if let Some(c) = chars.next() {
            self.push_author_text(c.encode_utf8(&mut [0; 4]));
        }
        self.rest = chars.as_str();
    }

    fn push_author_text(&mut self, text: &str) {
        let text = if self.after_gap && !text.is_empty() {
            self.after_gap = false;
            text.trim_start_matches(' ')
        } else {
            text
        };
        self.pending.push_str(text);
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.output.spans.push(TextSpan::Author(std::mem::take(&mut self.pending)));
        }
    }

    fn parse_mark(&mut self, inside: &str) {
        match placeholder::read(inside) {
            Some((mark, rest)) => {
                let length = self.rest.len() - rest.len();
                let source = self.rest.split_at(length).0.to_owned();
                self.flush();
                self.output.spans.push(TextSpan::Mark { mark, source });
                self.rest = self.rest.split_at(length).1;
            }
            None => self.push_char(),
        }
    }

    fn parse_bias(&mut self, inside: &str) {
        let Some((bias, removed, rest)) = bias::read(inside) else { return self.push_char() };
        let length = self.rest.len() - rest.len();
        self.rest = self.rest.split_at(length).1;
        if removed {
            self.after_gap = self.pending.ends_with([' ', '\n'])
                || (self.pending.is_empty() && self.output.spans.is_empty());
        } else {
            let text = bias.text.clone();
            self.push_author_text(&text);
        }
        self.output.bias.push(bias);
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
