//! Finds the bodies of key blocks, also inside other text: with numbers or marks of a comment
//! before their lines, in quotes, joined, cut off at either end.

use std::ops::Range;

use super::values::SecretSpan;

/// A shorter run of base64 may be a word.
const RUN: usize = 16;
/// The shortest whole line of a body.
const LINE: usize = 40;
/// The longest body.
const BODY: usize = 64 * 1024;

pub(super) fn find_key_blocks(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut done = 0;
    for (at, _) in text.match_indices("BEGIN ") {
        if at >= done
            && let Some(from) = mark_end(text, at)
            && let Some(body) = body_after(text, from)
        {
            done = body.end;
            spans.push(SecretSpan::new("private-key".into(), body.start, body.end));
        }
    }
    for (at, _) in text.match_indices("END ") {
        let mark = text.get(..at).map_or(0, |head| head.trim_end_matches(['-', ' ']).len());
        if mark_end(text, at).is_some()
            && let Some(body) = body_before(text, mark)
        {
            spans.push(SecretSpan::new("private-key".into(), body.start, body.end));
        }
    }
}

/// Where a key block begins whose end has not come yet.
pub(super) fn find_open_key_block(text: &str) -> Option<usize> {
    let at = text.rfind("BEGIN ")?;
    let begin = text.get(..at)?.trim_end_matches([' ', '-']).len();
    let rest = text.get(at..)?;
    let Some(from) = mark_end(text, at) else {
        // The mark itself may not be whole.
        return (at > begin && !rest.contains('\n')).then_some(begin);
    };
    let body = text.get(from..)?;
    let whole = body.get(..body.rfind('\n').unwrap_or(0))?;
    (!rest.contains("END ") && whole.lines().all(|line| belongs(line) || is_tail(line)))
        .then_some(begin)
}

/// Where the mark ends whose word is at `at`, if it is that of a secret key.
fn mark_end(text: &str, at: usize) -> Option<usize> {
    text.get(..at)?.trim_end_matches(' ').ends_with("--").then_some(())?;
    let rest = text.get(at..)?;
    let len = rest.find("--").filter(|len| *len <= 64)?;
    let label = rest.get(..len)?;
    let secret = ["PRIVATE KEY", "SECRET KEY", "Static key"];
    secret.iter().any(|one| label.contains(one)).then_some(())?;
    Some(text.len() - rest.get(len..)?.trim_start_matches('-').len())
}

fn body_after(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let rest = rest.get(..rest.floor_char_boundary(BODY))?;
    let end = rest.find("END ").map(|at| rest.get(..at).unwrap_or_default());
    let end = end.map(|head| head.trim_end_matches(['-', ' ']));
    if let Some(body) = end.filter(|body| !body.contains("BEGIN ") && is_dense(body)) {
        return Some(from..from + last_run_end(body));
    }
    let mut at = 0;
    let mut end = 0;

    for line in rest.split_inclusive('\n') {
        if is_dense(line) || end > 0 && is_tail(line) {
            end = at + last_run_end(line);
        } else if !belongs(line) {
            break;
        }
        at += line.len();
    }
    (end > 0).then_some(from..from + end)
}

/// A block whose beginning was cut off.
fn body_before(text: &str, to: usize) -> Option<Range<usize>> {
    let head = text.get(text.floor_char_boundary(to.saturating_sub(BODY))..to)?;
    let mut at = to;
    let mut begin = None;

    for (back, line) in head.split_inclusive('\n').rev().enumerate() {
        let longest = line.split(|c: char| !c.is_ascii() || !is_digit(c as u8)).map(str::len).max();
        let whole = is_dense(line) && longest.is_some_and(|len| len >= LINE);
        // The last line is short, and numbers may precede the mark.
        if line.contains("--") || !whole && back > 1 {
            break;
        }
        at -= line.len();
        if whole {
            begin = Some(at);
        }
    }
    let end = to - head.len() + last_run_end(head);
    begin.map(|begin| begin..end)
}

/// A line that a body may have between its own: a header, an empty one.
fn belongs(line: &str) -> bool {
    let line = line.trim();
    let header = line.split_once(": ").is_some_and(|(name, _)| {
        name.len() <= 24 && name.contains(|c: char| c.is_ascii_uppercase()) && !name.contains(' ')
    });
    header || is_dense(line) || !line.contains(|c: char| c.is_ascii_alphabetic())
}

/// The short line at the end of a body.
fn is_tail(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && line.bytes().all(is_digit)
}

/// Mostly long runs of base64.
fn is_dense(text: &str) -> bool {
    let runs = text.split(|c: char| !c.is_ascii() || !is_digit(c as u8));
    let long: usize = runs.map(str::len).filter(|len| *len >= RUN).sum();
    let all = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    long > 0 && long * 2 >= all
}

fn last_run_end(line: &str) -> usize {
    line.bytes().rposition(is_digit).map_or(0, |at| at + 1)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
