//! Finds the places of a file that an edit may mean though its old text is not there byte for byte,
//! and works out what each place becomes: only the lines that the edit changes are written.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::fold::{compose, fold, fold_chars, offset};
use super::indent::{IndentShift, indent_of};
use super::slip::Slip;
use super::variants::{Variant, variants};

/// A place that is like the old text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub range: Range<usize>,
    /// What is put there; `None`: the indentation of the new text is unknown.
    pub becomes: Option<String>,
    /// In what it differs from the old text.
    pub slips: Vec<Slip>,
}

/// Places that are looked for: two are too many already.
const MAX_MATCHES: usize = 9;

/// Every place that is like the old text in any reading of it.
pub fn find(text: &str, old: &str, new: &str) -> Vec<Place> {
    let file = FileLines::new(text);
    let mut places: Vec<Place> = Vec::new();
    for variant in variants(old, new) {
        let Some(pattern) = Pattern::new(&variant) else { continue };
        for found in file.matches(&pattern) {
            let place = found.place(&file, &pattern, &variant.slips);
            // The same in another reading; one that only overlaps is a second place.
            let is_same = |other: &Place| {
                place.range.start == other.range.start || place.range.end == other.range.end
            };
            match places.iter_mut().find(|other| is_same(other)) {
                Some(other) if other.becomes.is_none() => *other = place,
                Some(_) => {}
                None => places.push(place),
            }
            if places.len() >= MAX_MATCHES {
                return places;
            }
        }
    }
    places
}

/// A line of a file, without its end.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    text: &'a str,
    start: usize,
    end: &'a str,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

struct FileLines<'a> {
    lines: Vec<Line<'a>>,
    /// The lines that are not blank, and how each is compared.
    full: Vec<(usize, String)>,
}

impl<'a> FileLines<'a> {
    fn new(text: &'a str) -> FileLines<'a> {
        let mut lines = Vec::new();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            let content = whole.strip_suffix('\n').unwrap_or(whole);
            let content = content.strip_suffix('\r').unwrap_or(content);
            let end = whole.get(content.len()..).unwrap_or_default();
            lines.push(Line { text: content, start, end });
            start += whole.len();
        }
        let full = lines.iter().enumerate().filter(|(_, line)| !line.is_blank());
        let full = full.map(|(at, line)| (at, fold(line.text.trim()))).collect();
        FileLines { lines, full }
    }

    fn line(&self, at: usize) -> Line<'a> {
        self.lines.get(at).copied().unwrap_or(Line { text: "", start: 0, end: "" })
    }

    fn matches(&self, pattern: &Pattern<'_>) -> Vec<Match> {
        let mut out = Vec::new();
        for (at, window) in self.full.windows(pattern.full.len()).enumerate() {
            if self.fits(window, pattern) {
                self.collect(at, window, pattern, &mut out);
            }
            if out.len() >= MAX_MATCHES {
                break;
            }
        }
        out
    }

    /// Whether these lines are those of the pattern, with one empty line more or less at most.
    fn fits(&self, window: &[(usize, String)], pattern: &Pattern<'_>) -> bool {
        let last = pattern.full.len() - 1;
        let is_like = |at: usize, there: &str, here: &str| {
            let starts = at > 0 || pattern.starts_line;
            let ends = at < last || pattern.ends_line;
            match (starts, ends) {
                (true, true) => there == here,
                (true, false) => there.starts_with(here),
                (false, true) => there.ends_with(here),
                (false, false) => there.contains(here),
            }
        };
        let lines = window.iter().zip(&pattern.full);
        if !lines.enumerate().all(|(at, ((_, there), (_, here)))| is_like(at, there, here)) {
            return false;
        }
        let pairs = window.windows(2).zip(pattern.full.windows(2));
        let odd: usize = pairs.map(|(there, here)| gap(there).abs_diff(gap(here))).sum();
        odd <= 1
    }

    fn collect(
        &self,
        at: usize,
        window: &[(usize, String)],
        pattern: &Pattern<'_>,
        matches: &mut Vec<Match>,
    ) {
        let (Some((first, there)), Some((_, here))) = (window.first(), pattern.full.first()) else {
            return;
        };
        let found = |begins: Option<usize>| Match { at, begins };
        if pattern.starts_line
            || there == here && pattern.full.len() + usize::from(pattern.ends_line) > 1
        {
            return matches.push(found(None));
        }
        // Within the line: characters of the line as it is compared, counted.
        let line = self.line(*first).text;
        let lead = line.len() - line.trim_start().len();
        let chars = fold_chars(line.trim());
        let begins = |byte: usize| {
            let count = there.get(..byte).map_or(0, |before| before.chars().count());
            lead + offset(&chars, count, line.trim())
        };
        if pattern.full.len() > 1 || pattern.ends_line {
            matches.push(found(Some(begins(there.len() - here.len()))));
        } else {
            matches.extend(
                there.match_indices(here.as_str()).map(|(byte, _)| found(Some(begins(byte)))),
            );
        }
    }
}

/// Blank lines between two that are not.
fn gap(two: &[(usize, String)]) -> usize {
    match two {
        [(a, _), (b, _)] => b - a - 1,
        _ => 0,
    }
}

/// The lines of an edit, without the empty ones that old and new text share at the ends.
struct Pattern<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The lines of the old text that are not blank, and how each is compared.
    full: Vec<(usize, String)>,
    starts_line: bool,
    /// The old text ends with the end of a line.
    ends_line: bool,
    /// Nothing takes its place.
    deletes: bool,
}

impl<'a> Pattern<'a> {
    /// `None`: the edit rests on empty lines alone, which are all alike.
    fn new(variant: &'a Variant) -> Option<Pattern<'a>> {
        let split = |text: &'a str| -> Vec<&'a str> {
            text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
        };
        let old = split(variant.old.trim_start_matches('\u{feff}'));
        let new = split(variant.new.trim_start_matches('\u{feff}'));

        let blank = |line: &&&str| line.trim().is_empty();
        let deletes = new.iter().all(|line| line.trim().is_empty());
        let before = old.iter().take_while(blank).count();
        let after = old.iter().rev().take_while(blank).count();
        if before == old.len() {
            return None;
        }
        let kept = |lines: &[&'a str]| lines.get(before..lines.len() - after).map(<[_]>::to_vec);
        let new = if deletes {
            Vec::new()
        } else {
            let leads = new.iter().take_while(blank).count();
            let trails = new.iter().rev().take_while(blank).count();
            if leads < before || trails < after {
                return None;
            }
            kept(&new)?
        };
        let old = kept(&old)?;
        let full = old.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let full: Vec<(usize, String)> = full.map(|(at, line)| (at, fold(line.trim()))).collect();
        let starts_line = before > 0 || old.first().is_some_and(|line| !indent_of(line).is_empty());
        Some(Pattern { old, new, full, starts_line, ends_line: after > 0, deletes })
    }
}

/// The place of a pattern in a file.
struct Match {
    /// The first of its lines, among those that are not blank.
    at: usize,
    /// Where it begins in that line, if not with it.
    begins: Option<usize>,
}

impl Match {
    fn place(&self, file: &FileLines<'_>, pattern: &Pattern<'_>, slips: &[Slip]) -> Place {
        let aligned = Aligned::new(self, file, pattern);
        let mut slips = slips.to_vec();
        slips.extend(aligned.slips());
        let range = aligned.range();
        let becomes = aligned.becomes().map(|lines| aligned.join(lines));
        Place { range, becomes, slips }
    }
}

/// The lines of the old text beside those of the file.
struct Aligned<'a> {
    pattern: &'a Pattern<'a>,
    file: &'a FileLines<'a>,
    /// The line of the file for each of the old text; `None`: an empty line that it lacks.
    there: Vec<Option<usize>>,
    /// Empty lines that only the file has, before this line of the old text.
    only_there: Option<(usize, usize)>,
    /// Where the old text begins in its first line, if not with it.
    begins: Option<usize>,
    shift: Option<IndentShift>,
}

impl<'a> Aligned<'a> {
    fn new(found: &Match, file: &'a FileLines<'a>, pattern: &'a Pattern<'a>) -> Aligned<'a> {
        let mut there = vec![None; pattern.old.len()];
        let mut only_there = None;
        let window = file.full.get(found.at..).unwrap_or_default();
        let mut last: Option<(usize, usize)> = None;
        for ((here, _), (line, _)) in pattern.full.iter().zip(window) {
            if let Some((old_before, line_before)) = last {
                let own = here - old_before - 1;
                let theirs = line - line_before - 1;

                for blank in 1..=own.min(theirs) {
                    set(&mut there, old_before + blank, line_before + blank);
                }
                if theirs > own {
                    only_there = Some((*here, line_before + own + 1));
                }
            }
            set(&mut there, *here, *line);
            last = Some((*here, *line));
        }
        let begins = found.begins;
        let mut aligned = Aligned { pattern, file, there, only_there, begins, shift: None };
        let pairs: Vec<(&str, &str)> = aligned.whole_lines().collect();
        aligned.shift = IndentShift::find(&pairs);
        aligned
    }

    /// The indentation of the lines that are whole, in the old text and in the file.
    fn whole_lines(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pattern = self.pattern;
        let file = self.file;

        let skipped = usize::from(self.begins.is_some());
        let full = self.pattern.full.iter().skip(skipped);
        full.filter_map(move |(here, _)| {
            let line = (*self.there.get(*here)?)?;
            Some((indent_of(pattern.old.get(*here)?), indent_of(file.line(line).text)))
        })
    }

    fn first_line(&self) -> usize {
        self.there.first().copied().flatten().unwrap_or_default()
    }

    fn last_line(&self) -> usize {
        self.there.last().copied().flatten().unwrap_or_default()
    }

    fn range(&self) -> Range<usize> {
        let first = self.file.line(self.first_line());
        let last = self.file.line(self.last_line());

        let start = first.start + self.begins.unwrap_or(0);
        let mut end = last.start + self.span(self.pattern.old.len() - 1).end;
        if self.pattern.ends_line {
            end = last.start + last.text.len();
            if self.pattern.deletes {
                end += last.end.len();
            }
        }
        start..end
    }

    /// The part of the file's line that a line of the old text is, without blanks around it.
    fn span(&self, here: usize) -> Range<usize> {
        let Some(Some(line)) = self.there.get(here) else { return 0..0 };
        let text = self.file.line(*line).text;
        let lead = text.len() - text.trim_start().len();
        let start = self.begins.filter(|_| here == 0).unwrap_or(lead);
        let old = self.pattern.old.get(here).copied().unwrap_or_default().trim();
        let is_cut = here == self.pattern.old.len() - 1 && !self.pattern.ends_line;
        let rest = text.get(start..).unwrap_or_default().trim_end();
        let length = if is_cut {
            offset(&fold_chars(rest), fold(old).chars().count(), rest)
        } else {
            rest.len()
        };
        start..start + length
    }

    /// In what the place differs from the old text.
    fn slips(&self) -> Vec<Slip> {
        let mut out = Vec::new();
        let mut add = |slip: Slip| {
            if !out.contains(&slip) {
                out.push(slip);
            }
        };
        match self.shift {
            Some(IndentShift::Same) => {}
            Some(IndentShift::ToTabs { .. } | IndentShift::ToBlanks { .. }) => add(Slip::Tabs),
            _ => add(Slip::Indent),
        }
        let last = self.pattern.old.len() - 1;
        for (here, old) in self.pattern.old.iter().enumerate() {
            let Some(Some(line)) = self.there.get(here) else { continue };
            let text = self.file.line(*line).text;
            let there = text.get(self.span(here)).unwrap_or_default();
            let own = old.trim();

            let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            if there != own {
                add(match () {
                    () if bare(there) == bare(own) => Slip::Blanks,
                    () if compose(there) == compose(own) => Slip::Forms,
                    () => Slip::Signs,
                });
            }
            let trails = |text: &str| text.len() - text.trim_end().len();
            if (here < last || self.pattern.ends_line) && trails(text) != trails(old) {
                add(Slip::Ends);
            }
        }
        if self.only_there.is_some() || self.there.contains(&None) {
            add(Slip::EmptyLines);
        }
        if out.is_empty() {
            out.push(Slip::LineEnds);
        }
        out
    }

    /// The lines of the place after the edit, each with its end in the file.
    fn becomes(&self) -> Option<Vec<(String, &'a str)>> {
        let mut out = Vec::new();
        let lines = |lines: &[&str]| {
            lines.iter().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
        };
        let old = lines(&self.pattern.old);
        let new = lines(&self.pattern.new);

        let input = InternedInput::new(old.as_str(), new.as_str());
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        let mut here = 0;
        let mut new_at = 0;

        for hunk in diff.hunks() {
            let old = hunk.before.start as usize..hunk.before.end as usize;
            let new = hunk.after.start as usize..hunk.after.end as usize;

            for equal in here..old.start {
                self.keep(equal, &mut out);
            }
            if old.start > 0 && !old.is_empty() {
                self.keep_only_there(old.start, &mut out);
            }
            let is_paired = old.len() == new.len();
            for (count, at) in new.clone().enumerate() {
                let from = is_paired.then_some(old.start + count);
                self.write(at, from, &mut out)?;
            }
            (here, new_at) = (old.end, new.end);
        }
        debug_assert_eq!(
            self.pattern.old.len() - here,
            self.pattern.new.len() - new_at,
            "{new_at}"
        );
        for equal in here..self.pattern.old.len() {
            self.keep(equal, &mut out);
        }
        Some(out)
    }

    /// Adds a line that stays as the file has it.
    fn keep(&self, here: usize, out: &mut Vec<(String, &'a str)>) {
        if here > 0 {
            self.keep_only_there(here, out);
        }
        let Some(Some(line)) = self.there.get(here) else { return };
        let line = self.file.line(*line);
        let span = self.span(here);
        let begins = if here == 0 { self.begins.unwrap_or(0) } else { 0 };
        out.push((line.text.get(begins..span.end).unwrap_or_default().to_owned(), line.end));
    }

    fn keep_only_there(&self, here: usize, out: &mut Vec<(String, &'a str)>) {
        if let Some((_, line)) = self.only_there.filter(|(before, _)| *before == here) {
            out.push((String::new(), self.file.line(line).end));
        }
    }

    /// Adds a line of the new text, made from one of the file where it replaces one alone.
    fn write(
        &self,
        at: usize,
        from: Option<usize>,
        out: &mut Vec<(String, &'a str)>,
    ) -> Option<()> {
        let new = self.pattern.new.get(at)?;
        let indent = indent_of(new);
        let content = new.get(indent.len()..)?;
        let source = from.and_then(|here| Some((here, (*self.there.get(here)?)?)));
        let end =
            source.map_or(self.file.line(self.first_line()), |(_, line)| self.file.line(line)).end;
        if content.is_empty() {
            out.push((String::new(), end));
            return Some(());
        }
        let content = match source {
            Some((here, line)) => {
                let there = self.file.line(line).text.get(self.span(here)).unwrap_or_default();
                transfer(there, self.pattern.old.get(here)?.trim(), content)
            }
            None => content.to_owned(),
        };
        let indent = if at == 0 && self.begins.is_some() {
            indent.to_owned()
        } else {
            self.shift.as_ref()?.apply(indent)?
        };
        out.push((indent + &content, end));
        Some(())
    }

    /// The lines as text. The end of the last one stays in the file.
    fn join(&self, lines: Vec<(String, &str)>) -> String {
        let count = lines.len();
        let crlf = lines.iter().any(|(_, end)| *end == "\r\n");
        let mut out = String::new();
        for (at, (line, end)) in lines.into_iter().enumerate() {
            out.push_str(&line);
            if at + 1 < count {
                out.push_str(match end {
                    "" if crlf => "\r\n",
                    "" => "\n",
                    end => end,
                });
            }
        }
        out
    }
}

fn set(there: &mut [Option<usize>], at: usize, line: usize) {
    if let Some(slot) = there.get_mut(at) {
        *slot = Some(line);
    }
}

/// The file's line with what changes from the old to the new one: the signs around it stay.
fn transfer(there: &str, old: &str, new: &str) -> String {
    if there == old {
        return new.to_owned();
    }
    let kept = fold_chars(there);
    let old = fold(old);
    let chars = fold_chars(new);

    let old: Vec<char> = old.chars().collect();
    if kept.len() != old.len() {
        return new.to_owned();
    }
    let same = |a: &char, b: &(char, usize)| *a == b.0;
    let head = old.iter().zip(&chars).take_while(|(a, b)| same(a, b)).count();
    let most = old.len().min(chars.len()) - head;
    let tail = old.iter().rev().zip(chars.iter().rev()).take(most);
    let tail = tail.take_while(|(a, b)| same(a, b)).count();
    let before = there.get(..offset(&kept, head, there)).unwrap_or_default();
    let between = new.get(offset(&chars, head, new)..offset(&chars, chars.len() - tail, new));
    let after = there.get(offset(&kept, kept.len() - tail, there)..).unwrap_or_default();
    format!("{before}{}{after}", between.unwrap_or_default())
}
