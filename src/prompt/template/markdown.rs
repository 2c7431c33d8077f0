//! The placeholders of Markdown commands and skills.

use super::{Bit, Hole, Piece, TemplateForm, put, shell};
use crate::prompt::mention;
use crate::protocol::LineRange;
use crate::words::LocalizedText;

/// Names of the folder of a skill.
const ROOTS: &[&str] = &["${SKILL_ROOT}", "${CLAUDE_SKILL_DIR}"];
const ARGUMENTS: &str = "$ARGUMENTS";

/// The placeholder for an argument at the start of `text`, and its length.
pub(super) fn hole(text: &str) -> Option<(Hole, usize)> {
    let rest = text.strip_prefix('$')?;
    if let Some(root) = ROOTS.iter().find(|root| text.starts_with(**root)) {
        return Some((Hole::Root, root.len()));
    }
    if let Some(behind) = text.strip_prefix(ARGUMENTS) {
        let goes_on = behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        return (!goes_on).then_some((Hole::All, ARGUMENTS.len()));
    }
    let mut chars = rest.chars();
    let digit = chars.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let (next, after) = (chars.next(), chars.next());
    let digit_at = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    // `$10` and `$1.50` are sums of money.
    let money = digit_at(next) || (matches!(next, Some('.' | ',')) && digit_at(after));
    (!money).then_some((Hole::Nth(usize::try_from(digit).ok()?), 2))
}

pub(super) fn read(text: &str) -> Result<Vec<Piece>, LocalizedText> {
    let mut pieces = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, row) in text.split_inclusive('\n').enumerate() {
        let mark = fence_mark(row);
        match (fence, mark) {
            (Some(open), Some(mark)) if closes(open, mark, row) => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            _ => {}
        }
        let within = match fence.is_some() || mark.is_some() {
            true => Within::Fence,
            false => Within::Text,
        };
        line(row, within, &mut pieces).map_err(|fault| fault.with("line", number + 1))?;
    }
    Ok(pieces)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    /// Fenced code, and the lines that open and close it.
    Fence,
}

/// The marks that open or close fenced code.
fn fence_mark(row: &str) -> Option<&str> {
    let row = row.trim_start_matches(' ');
    let sign = row.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let end = row.find(|c| c != sign).unwrap_or(row.len());
    row.get(..end).filter(|mark| mark.len() >= 3)
}

fn closes(open: &str, mark: &str, row: &str) -> bool {
    mark.starts_with(open) && row.trim().trim_start_matches(mark).is_empty()
}

fn line(row: &str, within: Within, pieces: &mut Vec<Piece>) -> Result<(), crate::words::Phrase> {
    let (mut at, mut from) = (0, 0);
    let mut before: Option<char> = None;
    let mut code = false;
    while let Some(rest) = row.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let free = within == Within::Text && !code;
        let found = match c {
            '$' => hole(rest).map(|(hole, len)| (Piece::Hole(hole), len)),
            '!' if free && mention::begins(before) => command(rest)?,
            '@' if free && mention::begins(before) => file(rest),
            _ => None,
        };
        match found {
            Some((piece, len)) => {
                put(pieces, row.get(from..at).unwrap_or_default());
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
    put(pieces, row.get(from..).unwrap_or_default());
    Ok(())
}

/// `` !`line` `` at the start of `text`.
fn command(text: &str) -> Result<Option<(Piece, usize)>, crate::words::Phrase> {
    let Some((inner, _)) = text.strip_prefix("!`").and_then(|rest| rest.split_once('`')) else {
        return Ok(None);
    };
    if inner.trim().is_empty() {
        return Ok(None);
    }
    let (line, _) = shell::read(inner, TemplateForm::Markdown, shell::LineEnd::Text)?;
    Ok(Some((Piece::Shell(line), inner.len() + 3)))
}

/// `@path` at the start of `text`; the path may contain arguments.
fn file(text: &str) -> Option<(Piece, usize)> {
    let mut path = Vec::new();
    let mut lines: Option<LineRange> = None;
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        if let Some((hole, len)) = hole(rest) {
            path.push(Bit::Hole(hole));
            at += len;
            continue;
        }
        let Some((mention, len)) = mention::read(rest) else { break };
        // After an argument, a dot ends the sentence.
        if !path.is_empty() && mention.path.chars().all(|c| c == '.') {
            break;
        }
        path.push(Bit::Text(mention.path));
        at += len;
        lines = mention.lines;
        if lines.is_some() || text.get(at..).and_then(hole).is_none() {
            break;
        }
    }
    (!path.is_empty()).then_some((Piece::Mention { path, lines }, at))
}
