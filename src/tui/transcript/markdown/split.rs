//! Finds the top-level blocks of a text that may still grow.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::link::Targets;

/// The features that models use: the common core, tables, task lists, strikethrough.
pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_TASKLISTS).union(Options::ENABLE_STRIKETHROUGH);

/// One top-level block.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkdownBlock {
    /// Where its first line starts, in bytes.
    pub start: usize,
    /// The end of its last line, after the line break.
    pub end: usize,
    pub kind: MarkdownBlockKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MarkdownBlockKind {
    Code(Fence),
    /// The starts of its items.
    List(Vec<usize>),
    Other,
}

/// The opening line of a fenced block.
#[derive(Clone, Debug, PartialEq)]
pub struct Fence {
    pub language: String,
    pub mark: char,
    /// The number of marks; the closing line has as many.
    pub len: usize,
    /// Spaces before it, which every line of the code may have too.
    pub indent: usize,
}

impl Fence {
    /// Parses an opening line.
    pub fn parse_opening(line: &str) -> Option<Fence> {
        let trimmed = line.trim_start_matches(' ');
        let indent = line.len() - trimmed.len();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = trimmed.trim_start_matches(mark);
        let len = trimmed.len() - info.len();
        let language = info.split_whitespace().next().unwrap_or_default();
        let language: String = language.chars().take(32).collect();
        (indent < 4 && len >= 3).then_some(Fence { language, mark, len, indent })
    }

    pub fn is_closed_by(&self, line: &str) -> bool {
        let trimmed = line.trim_start_matches(' ');
        let rest = trimmed.trim_start_matches(self.mark);
        line.len() - trimmed.len() < 4
            && trimmed.len() - rest.len() >= self.len
            && rest.trim().is_empty()
    }
}

/// The blocks of `text`, in order; anything between them is invisible. Definitions go to `targets`.
pub fn split(text: &str, targets: &mut Targets) -> Vec<MarkdownBlock> {
    let mut blocks: Vec<MarkdownBlock> = Vec::new();
    let mut depth = 0usize;
    let parser = Parser::new_ext(text, OPTIONS);
    for (name, link) in parser.reference_definitions().iter() {
        targets.add(name, &link.dest);
    }
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match (depth, &tag) {
                    (0, _) => blocks.push(block(text, &tag, range)),
                    (1, Tag::Item) => item(text, blocks.last_mut(), range.start),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                let (start, end) = lines(text, range);
                blocks.push(MarkdownBlock { start, end, kind: MarkdownBlockKind::Other });
            }
            _ => {}
        }
    }
    blocks
}

fn block(text: &str, tag: &Tag<'_>, range: Range<usize>) -> MarkdownBlock {
    let (start, end) = lines(text, range);
    let kind = match tag {
        Tag::List(_) => MarkdownBlockKind::List(Vec::new()),
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
            let line = text.get(start..).and_then(|text| text.lines().next());
            line.and_then(Fence::parse_opening)
                .map_or(MarkdownBlockKind::Other, MarkdownBlockKind::Code)
        }
        _ => MarkdownBlockKind::Other,
    };
    MarkdownBlock { start, end, kind }
}

fn item(text: &str, block: Option<&mut MarkdownBlock>, start: usize) {
    if let Some(MarkdownBlock { kind: MarkdownBlockKind::List(items), .. }) = block {
        items.push(line_start(text, start));
    }
}

/// The range, extended to whole lines.
fn lines(text: &str, range: Range<usize>) -> (usize, usize) {
    let whole = text.get(..range.end).is_some_and(|text| text.ends_with('\n'));
    let rest = text.get(range.end..).filter(|_| !whole);
    let more = rest.map_or(0, |rest| rest.find('\n').map_or(rest.len(), |at| at + 1));
    (line_start(text, range.start), range.end + more)
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}
