//! Finding words in the conversation: what is looked for, where it was found, and how
//! far the reading got.
//!
//! What is searched is what is shown, with steps and thoughts as if they were open, so
//! that every hit counted can be marked. Reading all of a long conversation takes a
//! while: it is done a slice a frame, from where one looks to the end and then from the
//! start, and goes on where text arrives.

use std::collections::VecDeque;
use std::ops::Range;

use super::block::Block;
use super::paper::{Paper, Strip};
use super::reading::{Cells, read};

/// Rows that are read for one frame.
const SLICE: usize = 800;
/// More hits than this are not counted.
const MOST: usize = 9_999;
/// Characters that may be looked for.
const LONGEST: usize = 200;

/// A part of a block.
type Part = (usize, usize);
/// Behind all parts.
const END: Part = (usize::MAX, 0);

/// The `nth` time that the words stand in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub part: Part,
    pub nth: usize,
}

/// What keys mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The words are being typed.
    Typing,
    /// One goes from hit to hit.
    Walking,
}

#[derive(Debug)]
pub(super) struct Search {
    words: String,
    pub stage: Stage,
    hits: Vec<Hit>,
    now: Option<Hit>,
    /// Where one looked when it began.
    origin: Part,
    /// What is not read yet.
    unread: VecDeque<Range<Part>>,
}

/// What there is to say of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub words: &'a str,
    pub stage: Stage,
    /// The hit one is at, from 1; 0 for none.
    pub at: usize,
    pub of: usize,
    /// More may be found: not all is read, or there are too many to count.
    pub more: bool,
}

impl Search {
    pub fn new(words: &str, stage: Stage, origin: Part) -> Search {
        let words = words.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        let mut search =
            Search { words, stage, hits: Vec::new(), now: None, origin, unread: VecDeque::new() };
        search.again();
        search
    }

    pub fn words(&self) -> &str {
        &self.words
    }

    /// Looks for something else.
    pub fn change(&mut self, words: &str) {
        *self = Search::new(words, Stage::Typing, self.origin);
    }

    /// Reads everything once more, such as after a change of the width.
    pub fn again(&mut self) {
        self.hits.clear();
        self.unread = match self.words.is_empty() {
            true => VecDeque::new(),
            false => VecDeque::from([self.origin..END, (0, 0)..self.origin]),
        };
    }

    /// So many blocks came before all there is.
    pub fn moved_down(&mut self, blocks: usize) {
        self.origin.0 += blocks;
        if let Some(now) = &mut self.now {
            now.part.0 += blocks;
        }
        self.again();
    }

    /// What stands from `part` on is others, or more, than it was.
    pub fn changed(&mut self, part: Part) {
        if self.words.is_empty() {
            return;
        }
        self.hits.truncate(self.hits.partition_point(|hit| hit.part < part));
        for range in &mut self.unread {
            range.end = range.end.min(part);
        }
        self.unread.retain(|range| range.start < range.end);
        self.unread.push_back(part..END);
    }

    pub fn is_reading(&self) -> bool {
        !self.unread.is_empty() && self.hits.len() < MOST
    }

    pub fn found(&self) -> Found<'_> {
        let at = self.now.map_or(0, |now| self.hits.partition_point(|hit| *hit <= now));
        let (words, of) = (self.words.as_str(), self.hits.len());
        let more = self.is_reading() || of >= MOST;
        Found { words, stage: self.stage, at, of, more }
    }

    /// Reads one slice. The answer is the first hit, when this found it: it wants to be
    /// looked at.
    pub fn read(&mut self, blocks: &[Block], paper: &Paper<'_>) -> Option<Hit> {
        let mut room = SLICE;
        while self.is_reading() && room > 0 {
            let Some(range) = self.unread.front_mut() else { break };
            match (range.start < range.end).then(|| blocks.get(range.start.0)).flatten() {
                None => {
                    self.unread.pop_front();
                }
                Some(block) if range.start.1 >= block.opened_parts() => {
                    range.start = (range.start.0 + 1, 0);
                }
                Some(block) => {
                    let part = range.start;
                    range.start.1 += 1;
                    let rows = block.set_opened(part.1, paper);
                    room = room.saturating_sub(rows.len().max(1));
                    self.take(part, self.count(&rows));
                }
            }
        }
        self.first()
    }

    fn count(&self, rows: &[Strip]) -> usize {
        matches(&self.words, rows).count()
    }

    fn take(&mut self, part: Part, count: usize) {
        if count > 0 {
            let at = self.hits.partition_point(|hit| hit.part < part);
            let count = count.min(MOST.saturating_sub(self.hits.len()));
            self.hits.splice(at..at, (0..count).map(|nth| Hit { part, nth }));
        }
    }

    /// The nearest hit, as soon as one can tell: one below, else the last above.
    fn first(&mut self) -> Option<Hit> {
        if self.now.is_some() {
            return None;
        }
        let below = self.hits.iter().find(|hit| hit.part >= self.origin);
        let above = self.hits.last().filter(|_| !self.is_reading());
        self.now = below.or(above).copied();
        self.now
    }

    /// Goes on to the next hit, or back to the one before, around the ends.
    pub fn step(&mut self, forward: bool) -> Option<Hit> {
        self.stage = Stage::Walking;
        let Some(now) = self.now else { return self.first() };
        let next = match forward {
            true => self.hits.iter().find(|hit| **hit > now).or(self.hits.first()),
            false => self.hits.iter().rev().find(|hit| **hit < now).or(self.hits.last()),
        };
        self.now = next.copied();
        self.now
    }

    /// The hits among the rows of a part; true: the one that one is at.
    pub fn marks(&self, part: Part, rows: &[Strip]) -> Vec<(Cells, bool)> {
        let now = self.now.filter(|now| now.part == part).map(|now| now.nth);
        matches(&self.words, rows)
            .enumerate()
            .flat_map(|(nth, cells)| cells.into_iter().map(move |cells| (cells, now == Some(nth))))
            .collect()
    }

    /// The row of a hit among the rows of its part.
    pub fn row(&self, hit: Hit, rows: &[Strip]) -> Option<usize> {
        Some(matches(&self.words, rows).nth(hit.nth)?.first()?.row)
    }
}

/// Where the words stand in these rows.
fn matches<'a>(words: &'a str, rows: &[Strip]) -> impl Iterator<Item = Vec<Cells>> + 'a {
    let exact = words.chars().any(char::is_uppercase);
    let wanted = if exact { words.to_owned() } else { fold(words) };
    let lines = if words.is_empty() { Vec::new() } else { read(rows) };
    lines.into_iter().flat_map(move |line| {
        let found: Vec<Range<usize>> = match exact {
            true => ranges(&line.text, &wanted),
            false => ranges(&fold(&line.text), &wanted),
        };
        found.into_iter().map(move |range| line.cells(&range)).collect::<Vec<_>>()
    })
}

fn ranges(text: &str, wanted: &str) -> Vec<Range<usize>> {
    text.match_indices(wanted).map(|(at, found)| at..at + found.len()).collect()
}

/// In small letters, each where it was: those that would take more room stay.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let small = |c: char| {
        let mut small = c.to_lowercase();
        match (small.next(), small.next()) {
            (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
            _ => c,
        }
    };
    text.chars().map(small).collect()
}
