//! Explains why a text was not found: the region of the file nearest to it, and the first
//! characters in which they differ.

use avocet_core::text::cut;
use std::fmt::Write as _;

use super::edit::fold::fold;
use super::edit::variants::{strip_numbers, variants};
use super::input::InputError;
use avocet_core::i18n::safety as phrases;

/// Lines of the file and of the wanted text that are compared.
const FILE: usize = 40_000;
const WANTED: usize = 200;
/// Lines of a region that are shown, and bytes of one.
const SHOWN: usize = 30;
const LINE: usize = 400;
/// A line that occurs everywhere does not help to find the place.
const TELLING: usize = 4;

/// The fault of an edit whose text is not in the file.
pub fn mismatch_error(text: &str, old: &str, number: usize, of: usize) -> InputError {
    let say = match of {
        1 => phrases::EDIT_NOT_FOUND.into(),
        _ => phrases::EDIT_NOT_FOUND_NTH.with("n", number).with("of", of),
    };
    let file: Vec<&str> = text.split('\n').take(FILE).collect();
    let mut detail = String::new();
    if strip_numbers(old).is_some() {
        detail.push_str(
            "The line numbers that file.read shows are not in the file: leave them out of `old`.\n",
        );
    }
    // What was meant may be an old text without its escapes or numbers.
    let readings = variants(old, "");
    let split = |old: &'_ str| -> Vec<String> {
        let lines = old.trim_matches('\n').split('\n').take(WANTED);
        lines.map(str::to_owned).collect()
    };
    let readings: Vec<Vec<String>> = readings.iter().map(|reading| split(&reading.old)).collect();
    let folded: Vec<String> = file.iter().map(|line| fold(line.trim())).collect();
    let found = readings.iter().filter_map(|wanted| {
        let (score, start) = closest_region(&folded, wanted)?;
        Some((score, start, wanted))
    });
    match found.rev().max_by_key(|(score, ..)| *score) {
        Some((_, start, wanted)) => {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            describe_region(&file, &wanted, start, &mut detail);
        }
        None => detail.push_str("No line of it is in the file. Read the file again.\n"),
    }
    InputError { detail, ..InputError::from(say) }
}

/// Where the region begins that shares most lines, as they are compared, and how much it shares.
/// From each line on, the wanted lines are followed with at most one line left out on either side.
fn closest_region(file: &[String], wanted: &[String]) -> Option<(usize, usize)> {
    let wanted: Vec<String> = wanted.iter().map(|line| fold(line.trim())).collect();
    let weigh = |here: usize, there: usize| match (wanted.get(here), file.get(there)) {
        (Some(a), Some(b)) if a == b => 2 * a.len().max(1),
        (Some(a), Some(b)) => similarity(a, b),
        _ => 0,
    };
    let mut best: Option<(usize, usize)> = None;
    for start in 0..file.len() {
        // A start that shares nothing with the first line does not count.
        let mut score = weigh(0, start);
        if score == 0 {
            continue;
        }
        let mut there = start;
        for here in 1..wanted.len() {
            let next = [there + 1, there + 2, there];
            let (gained, at) = next
                .into_iter()
                .rev()
                .map(|at| (weigh(here, at), at))
                .max_by_key(|(gained, at)| (*gained, *at == there + 1))
                .unwrap_or((0, there + 1));
            score += gained;
            there = at;
        }
        if score >= TELLING && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, start));
        }
        if wanted.len() * start > 8_000_000 {
            break;
        }
    }
    best
}

/// Bytes that both begin and end with, where that is a good part of them.
fn similarity(a: &str, b: &str) -> usize {
    let head = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - head;
    let tail = a.bytes().rev().zip(b.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let same = head + tail;
    if same * 2 >= a.len().max(b.len()) { same } else { 0 }
}

fn describe_region(file: &[&str], wanted: &[&str], start: usize, out: &mut String) {
    let last = (start + wanted.len()).min(file.len());
    let _ = match last - start {
        1 => writeln!(out, "The nearest is line {last} of the file:"),
        _ => writeln!(out, "The nearest are lines {}-{last} of the file:", start + 1),
    };
    for (at, line) in file.get(start..last).unwrap_or_default().iter().take(SHOWN).enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let _ = writeln!(out, "{}\t{}", start + at + 1, cut(line, LINE));
    }
    if last - start > SHOWN {
        let _ = writeln!(out, "… and {} lines more", last - start - SHOWN);
    }
    let pairs = file.get(start..last).unwrap_or_default().iter().zip(wanted);
    let differing = pairs.enumerate().find(|(_, (there, here))| there != here);
    match differing {
        Some((at, (there, here))) => {
            let lead = if at == 0 { match_offset(there, here) } else { 0 };
            describe_difference(start + at + 1, (there, lead), here, out);
        }
        None => out.push_str("They agree so far; what differs stands behind them.\n"),
    }
}

/// Where in the first line the wanted text begins: it need not be the line's start.
fn match_offset(there: &str, here: &str) -> usize {
    const MAX_CANDIDATES: usize = 64;
    let ends = here.char_indices().map(|(at, c)| at + c.len_utf8()).take(MAX_CANDIDATES);
    let starts: Vec<&str> = ends.filter_map(|end| here.get(..end)).skip(2).collect();
    starts.iter().rev().find_map(|start| there.find(start)).unwrap_or(0)
}

/// The first characters in which two lines differ, by name where they hide.
fn describe_difference(line: usize, (whole, lead): (&str, usize), here: &str, out: &mut String) {
    let (before, there) = whole.split_at_checked(lead).unwrap_or(("", whole));
    let skipped = before.chars().count();
    let same = there.chars().zip(here.chars()).take_while(|(a, b)| a == b).count();
    let shown = |text: &str| {
        let rest: Vec<char> = text.chars().skip(same).take(8).collect();
        match rest.first() {
            None => "the end of the line".to_owned(),
            Some(first) => {
                let text: String = rest.iter().collect();
                format!("{text:?} (U+{:04X})", u32::from(*first))
            }
        }
    };
    let _ = writeln!(
        out,
        "They first differ in line {line}, column {}: the file has {}, `old` has {}.",
        skipped + same + 1,
        shown(there),
        shown(here)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(text: &str, old: &str) -> String {
        mismatch_error(text, old, 1, 1).detail
    }

    const FILE: &str = "fn a() {\n    one();\n}\n\nfn b() {\n\ttwo();\n\tthree();\n}\n";

    #[test]
    fn the_closest_region_is_shown_with_the_difference() {
        let said = detail(FILE, "fn b() {\n    two();\n    three();\n}");
        assert!(said.contains("lines 5-8"), "{said}");
        assert!(said.contains("6\t\ttwo();"), "{said}");
        assert!(
            said.contains("line 6, column 1: the file has \"\\ttwo();\" (U+0009), `old` has"),
            "{said}"
        );
    }

    #[test]
    fn numbers_of_a_listing_are_recognised() {
        let said = detail(FILE, "     2\t    one();\n     3\t}");
        assert!(said.starts_with("The line numbers"), "{said}");
        assert!(said.contains("lines 2-3"), "{said}");
    }

    #[test]
    fn a_text_unlike_the_file_gets_no_region() {
        assert!(detail(FILE, "zzzzzzzz").starts_with("No line"));
        assert!(detail("", "zzzzzzzz").starts_with("No line"));
    }

    #[test]
    fn a_nearly_matching_line_is_found() {
        let said = detail(FILE, "thre();");
        assert!(said.contains("line 7 of"), "{said}");
    }
}
