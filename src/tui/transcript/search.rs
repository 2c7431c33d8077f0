//! Finds words in the conversation: the query, its hits, and how far the search has got.
//!
//! The search covers what is shown, with steps and reasoning as if unfolded, so every hit counted
//! can be marked. A long conversation takes a while: it is searched a slice per frame, from the
//! view to the end and then from the start, and the search continues as text arrives.

use std::collections::VecDeque;
use std::ops::Range;

use super::block::Block;
use super::paragraph::{LayoutContext, StyledRow};
use super::source_lines::{Cells, join_rows};
use super::step::Fold;

/// Rows that are searched per frame.
const SLICE: usize = 800;
/// Counting of hits stops here.
const MAX_HITS: usize = 9_999;
/// The longest query, in characters.
const MAX_LENGTH: usize = 200;

/// A part of a block.
type PartIndex = (usize, usize);
/// After all parts.
const END: PartIndex = (usize::MAX, 0);

/// The `nth` occurrence of the words in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SearchHit {
    pub part: PartIndex,
    pub nth: usize,
}

/// The meaning of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The words are being typed.
    Typing,
    /// Keys go from hit to hit.
    Navigating,
}

#[derive(Debug)]
pub(super) struct TranscriptSearch {
    query: String,
    pub stage: Stage,
    hits: Vec<SearchHit>,
    current: Option<SearchHit>,
    /// The part in view when the search began.
    origin: PartIndex,
    /// The parts that are not searched yet.
    unsearched: VecDeque<Range<PartIndex>>,
    /// The block that was unfolded for its hit, and how it was folded.
    unfolded: Option<(usize, Fold)>,
}

/// The results of a search, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchStatus<'a> {
    pub query: &'a str,
    pub stage: Stage,
    /// The current hit, from 1; 0 for none.
    pub current: usize,
    pub total: usize,
    /// There may be more hits: not everything is searched, or there are too many to count.
    pub has_more: bool,
}

impl TranscriptSearch {
    pub fn new(words: &str, stage: Stage, origin: PartIndex) -> TranscriptSearch {
        let words = words.chars().filter(|c| !c.is_control()).take(MAX_LENGTH).collect();
        let mut search = TranscriptSearch {
            query: words,
            stage,
            hits: Vec::new(),
            current: None,
            origin,
            unsearched: VecDeque::new(),
            unfolded: None,
        };
        search.restart();
        search
    }

    pub fn query(&self) -> &str {
        &self.query
    }

    /// Searches for something else.
    pub fn set_query(&mut self, words: &str) {
        let unfolded = self.unfolded;
        *self = TranscriptSearch::new(words, Stage::Typing, self.origin);
        self.unfolded = unfolded;
    }

    /// Searches everything again, such as after a change of the width.
    pub fn restart(&mut self) {
        self.hits.clear();
        self.unsearched = if self.query.is_empty() {
            VecDeque::new()
        } else {
            VecDeque::from([self.origin..END, (0, 0)..self.origin])
        };
    }

    /// Blocks were prepended.
    pub fn shift_blocks(&mut self, blocks: usize) {
        self.origin.0 += blocks;
        if let Some(now) = &mut self.current {
            now.part.0 += blocks;
        }
        if let Some((block, _)) = &mut self.unfolded {
            *block += blocks;
        }
        self.restart();
    }

    /// From `part` on, the text changed or grew.
    pub fn invalidate_from(&mut self, part: PartIndex) {
        if self.query.is_empty() {
            return;
        }
        self.hits.truncate(self.hits.partition_point(|hit| hit.part < part));
        for range in &mut self.unsearched {
            range.end = range.end.min(part);
        }
        self.unsearched.retain(|range| range.start < range.end);
        self.unsearched.push_back(part..END);
    }

    /// A block is unfolded for its hit.
    pub fn note_unfolded(&mut self, block: usize, fold: Fold) {
        self.unfolded = Some((block, fold));
    }

    /// Folds the block of an earlier hit once the search has gone on to `block`, unless the user
    /// has folded it meanwhile.
    pub fn refold_left_behind(&mut self, block: usize, blocks: &mut [Block]) -> bool {
        let left = self.unfolded.take_if(|(unfolded, _)| *unfolded != block);
        let Some((at, fold)) = left else { return false };
        match blocks.get_mut(at) {
            Some(block) if block.fold == Fold::Open => {
                block.set_fold(fold);
                true
            }
            _ => false,
        }
    }

    pub fn is_searching(&self) -> bool {
        !self.unsearched.is_empty() && self.hits.len() < MAX_HITS
    }

    pub fn status(&self) -> SearchStatus<'_> {
        let at = self.current.map_or(0, |now| self.hits.partition_point(|hit| *hit <= now));
        let words = self.query.as_str();
        let of = self.hits.len();

        let more = self.is_searching() || of >= MAX_HITS;
        SearchStatus { query: words, stage: self.stage, current: at, total: of, has_more: more }
    }

    /// Searches one slice. Returns the first hit if this slice completed the search for it: the
    /// caller then shows it.
    pub fn search_slice(&mut self, blocks: &[Block], cx: &LayoutContext<'_>) -> Option<SearchHit> {
        let mut room = SLICE;
        while self.is_searching() && room > 0 {
            let Some(range) = self.unsearched.front_mut() else { break };
            match (range.start < range.end).then(|| blocks.get(range.start.0)).flatten() {
                None => {
                    self.unsearched.pop_front();
                }
                Some(block) if range.start.1 >= block.unfolded_part_count() => {
                    range.start = (range.start.0 + 1, 0);
                }
                Some(block) => {
                    let part = range.start;
                    range.start.1 += 1;
                    let rows = block.layout_unfolded(part.1, cx);
                    room = room.saturating_sub(rows.len().max(1));
                    self.add_hits(part, self.count(&rows));
                }
            }
        }
        self.select_nearest()
    }

    fn count(&self, rows: &[StyledRow]) -> usize {
        matches(&self.query, rows).count()
    }

    fn add_hits(&mut self, part: PartIndex, count: usize) {
        if count > 0 {
            let at = self.hits.partition_point(|hit| hit.part < part);
            let count = count.min(MAX_HITS.saturating_sub(self.hits.len()));
            self.hits.splice(at..at, (0..count).map(|nth| SearchHit { part, nth }));
        }
    }

    /// The nearest hit, as soon as it is certain: the first below, else the last above.
    fn select_nearest(&mut self) -> Option<SearchHit> {
        if self.current.is_some() {
            return None;
        }
        let below = self.hits.iter().find(|hit| hit.part >= self.origin);
        let above = self.hits.last().filter(|_| !self.is_searching());
        self.current = below.or(above).copied();
        self.current
    }

    /// Goes to the next or the previous hit, wrapping around.
    pub fn step(&mut self, forward: bool) -> Option<SearchHit> {
        self.stage = Stage::Navigating;
        let Some(now) = self.current else { return self.select_nearest() };
        let next = if forward {
            self.hits.iter().find(|hit| **hit > now).or(self.hits.first())
        } else {
            self.hits.iter().rev().find(|hit| **hit < now).or(self.hits.last())
        };
        self.current = next.copied();
        self.current
    }

    /// The hits in the rows of a part; true marks the current hit.
    pub fn hit_cells(&self, part: PartIndex, rows: &[StyledRow]) -> Vec<(Cells, bool)> {
        let now = self.current.filter(|now| now.part == part).map(|now| now.nth);
        matches(&self.query, rows)
            .enumerate()
            .flat_map(|(nth, cells)| cells.into_iter().map(move |cells| (cells, now == Some(nth))))
            .collect()
    }

    /// The row of a hit among the rows of its part.
    pub fn row(&self, hit: SearchHit, rows: &[StyledRow]) -> Option<usize> {
        Some(matches(&self.query, rows).nth(hit.nth)?.first()?.row)
    }
}

/// The occurrences of the words in these rows.
fn matches<'a>(words: &'a str, rows: &[StyledRow]) -> impl Iterator<Item = Vec<Cells>> + 'a {
    let exact = words.chars().any(char::is_uppercase);
    let wanted = if exact { words.to_owned() } else { fold(words) };
    let lines = if words.is_empty() { Vec::new() } else { join_rows(rows) };
    lines.into_iter().flat_map(move |line| {
        let found: Vec<Range<usize>> =
            if exact { ranges(&line.text, &wanted) } else { ranges(&fold(&line.text), &wanted) };
        found.into_iter().map(move |range| line.cells(&range)).collect::<Vec<_>>()
    })
}

fn ranges(text: &str, wanted: &str) -> Vec<Range<usize>> {
    text.match_indices(wanted).map(|(at, found)| at..at + found.len()).collect()
}

/// Lower case without moving any character: those whose lower case has another length stay.
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
