//! The placeholders of Markdown commands and skills.

use super::{
    ArgPlaceholder, PathFragment, Piece, TemplateForm, placeholder, push_piece_text, shell,
};
use crate::i18n::LocalizedText;
use crate::prompt::mention;
use crate::protocol::LineRange;

pub(super) fn parse(text: &str, form: TemplateForm) -> Result<Vec<Piece>, LocalizedText> {
    let numbers = Numbers::of(text, form);
    let mut pieces = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, row) in text.split_inclusive('\n').enumerate() {
        let mark = fence_mark(row);
        match (fence, mark) {
            (Some(open), Some(mark)) if closes_fence(open, mark, row) => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            _ => {}
        }
        let within =
            if fence.is_some() || mark.is_some() { LineContext::Fence } else { LineContext::Text };
        parse_line(row, (within, numbers), &mut pieces)
            .map_err(|fault| fault.with("line", number + 1))?;
    }
    Ok(pieces)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineContext {
    Text,
    /// Fenced code, and the lines that open and close it.
    Fence,
}

/// Which `$1` … `$9` stand for arguments.
#[derive(Clone, Copy)]
enum Numbers {
    All,
    /// Up to this one, outside of code: a text that does not say that it takes arguments counts
    /// them from `$1` on where it does.
    UpTo(usize),
}

impl Numbers {
    fn of(text: &str, form: TemplateForm) -> Numbers {
        match form {
            TemplateForm::Unnumbered => {
                let is_in = |n: &usize| text.contains(&format!("${n}"));
                Numbers::UpTo((1..10).take_while(is_in).last().unwrap_or(0))
            }
            TemplateForm::Markdown | TemplateForm::Braces => Numbers::All,
        }
    }

    fn are_meant(self, placeholder: ArgPlaceholder, is_prose: bool) -> bool {
        match (self, placeholder) {
            (Numbers::UpTo(last), ArgPlaceholder::Nth(n)) => is_prose && n <= last,
            _ => true,
        }
    }
}

/// The marks that open or close fenced code.
fn fence_mark(row: &str) -> Option<&str> {
    let row = row.trim_start_matches(' ');
    let sign = row.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let end = row.find(|c| c != sign).unwrap_or(row.len());
    row.get(..end).filter(|mark| mark.len() >= 3)
}

fn closes_fence(open: &str, mark: &str, row: &str) -> bool {
    mark.starts_with(open) && row.trim().trim_start_matches(mark).is_empty()
}

fn parse_line(
    row: &str,
    (within, numbers): (LineContext, Numbers),
    pieces: &mut Vec<Piece>,
) -> Result<(), crate::i18n::Phrase> {
    let mut at = 0;
    let mut from = 0;

    let mut before: Option<char> = None;
    let mut code = false;
    while let Some(rest) = row.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let free = within == LineContext::Text && !code;
        let found = match c {
            '$' => placeholder(rest, TemplateForm::Markdown)
                .filter(|(hole, _)| numbers.are_meant(*hole, free))
                .map(|(hole, len)| (Piece::Placeholder(hole), len)),
            '!' if free && mention::can_begin_after(before) => parse_shell(rest)?,
            '@' if free && mention::can_begin_after(before) => parse_mention(rest),
            _ => None,
        };
        match found {
            Some((piece, len)) => {
                push_piece_text(pieces, row.get(from..at).unwrap_or_default());
                pieces.push(piece);
                at += len;
                from = at;
                before = Some('.');
            }
            None => {
                code ^= c == '`';
                before = Some(c);
                at += c.len_utf8();
            }
        }
    }
    push_piece_text(pieces, row.get(from..).unwrap_or_default());
    Ok(())
}

/// `` !`line` `` at the start of `text`.
fn parse_shell(text: &str) -> Result<Option<(Piece, usize)>, crate::i18n::Phrase> {
    let Some((inner, _)) = text.strip_prefix("!`").and_then(|rest| rest.split_once('`')) else {
        return Ok(None);
    };
    if inner.trim().is_empty() {
        return Ok(None);
    }
    let (line, _) = shell::parse(inner, TemplateForm::Markdown, shell::LineEnd::Text)?;
    Ok(Some((Piece::Shell(line), inner.len() + 3)))
}

/// `@path` at the start of `text`; the path may contain arguments.
fn parse_mention(text: &str) -> Option<(Piece, usize)> {
    let mut path = Vec::new();
    let mut lines: Option<LineRange> = None;
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        if let Some((hole, len)) = placeholder(rest, TemplateForm::Markdown) {
            path.push(PathFragment::Placeholder(hole));
            at += len;
            continue;
        }
        let Some((mention, len)) = mention::parse(rest) else { break };
        // After an argument, a dot ends the sentence.
        if !path.is_empty() && mention.path.chars().all(|c| c == '.') {
            break;
        }
        path.push(PathFragment::Text(mention.path));
        at += len;
        lines = mention.lines;
        if lines.is_some()
            || text.get(at..).and_then(|rest| placeholder(rest, TemplateForm::Markdown)).is_none()
        {
            break;
        }
    }
    (!path.is_empty()).then_some((Piece::Mention { path, lines }, at))
}
