//! Finds letters of a line and text objects in the grid.

use super::grid::{Cell, Grid};
use super::keys::{Find, ObjectKind, TextObject};

impl Grid {
    /// The cell that a find leads to, if the line has the letter that often. `is_again`: a letter
    /// right beside the cursor was found before.
    pub fn find(&self, find: Find, (row, at): Cell, times: usize, is_again: bool) -> Option<Cell> {
        let skipped = 1 + usize::from(find.is_till && is_again);
        let nth = times.saturating_sub(1);
        let hits = |column: &usize| self.is_letter((row, *column), find.letter);
        let (found, before) = if find.is_forward {
            let found = (at + skipped..self.end(row).1).filter(hits).nth(nth)?;
            (found, found.saturating_sub(1))
        } else {
            let found = (0..(at + 1).saturating_sub(skipped)).rev().filter(hits).nth(nth)?;
            (found, found + 1)
        };
        Some((row, if find.is_till { before } else { found }))
    }

    /// The cells of a text object: the first, and the one after the last.
    pub fn object(&self, object: TextObject, at: Cell) -> Option<(Cell, Cell)> {
        match object.kind {
            ObjectKind::Word => {
                Some(self.word_object(at, object.is_around, |a, b| self.kind(a) == self.kind(b)))
            }
            ObjectKind::LongWord => Some(
                self.word_object(at, object.is_around, |a, b| self.is_blank(a) == self.is_blank(b)),
            ),
            ObjectKind::Quoted(quote) => self.quoted(quote, at, object.is_around),
            ObjectKind::Bracketed(open, close) => {
                let from = self.opening(open, close, at)?;
                let to = self.closing(open, close, at)?;

                Some(if object.is_around {
                    (from, self.next_in_line(to))
                } else {
                    (self.next_in_line(from), to)
                })
            }
        }
    }

    /// The run of like cells; with its surroundings, the blanks after it or else before it.
    fn word_object(
        &self,
        (row, at): Cell,
        is_around: bool,
        is_like: impl Fn(Cell, Cell) -> bool,
    ) -> (Cell, Cell) {
        let end = self.end(row).1;
        let like = |column: usize| is_like((row, column), (row, at));
        let start = (0..at).rev().take_while(|column| like(*column)).last().unwrap_or(at);
        let behind = (at..end).find(|column| !like(*column)).unwrap_or(end);
        if !is_around {
            return ((row, start), (row, behind));
        }
        let blank = |column: &usize| self.is_blank((row, *column));
        let after = (behind..end).find(|column| !blank(column)).unwrap_or(end);
        if after > behind {
            return ((row, start), (row, after));
        }
        let before = (0..start).rev().take_while(blank).last().unwrap_or(start);
        ((row, before), (row, behind))
    }

    /// The quoted text at the cursor, or the next one in the line.
    fn quoted(&self, quote: char, (row, at): Cell, is_around: bool) -> Option<(Cell, Cell)> {
        let quotes: Vec<usize> =
            (0..self.end(row).1).filter(|column| self.is_letter((row, *column), quote)).collect();
        let mut pairs = quotes.chunks_exact(2).filter_map(|pair| match pair {
            [from, to] => Some((*from, *to)),
            _ => None,
        });
        let (from, to) = pairs.find(|(_, to)| at <= *to)?;
        Some(if is_around { ((row, from), (row, to + 1)) } else { ((row, from + 1), (row, to)) })
    }

    fn opening(&self, open: char, close: char, at: Cell) -> Option<Cell> {
        let mut depth = 0_usize;
        let mut cell = at;

        loop {
            if self.is_letter(cell, open) {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(cell),
                }
            } else if self.is_letter(cell, close) && cell != at {
                depth += 1;
            }
            cell = self.previous(cell)?;
        }
    }

    fn closing(&self, open: char, close: char, at: Cell) -> Option<Cell> {
        let mut depth = 0_usize;
        let mut cell = at;

        loop {
            if self.is_letter(cell, close) {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(cell),
                }
            } else if self.is_letter(cell, open) && cell != at {
                depth += 1;
            }
            cell = self.next(cell)?;
        }
    }

    fn is_letter(&self, cell: Cell, letter: char) -> bool {
        self.letter(cell).is_some_and(|text| text.starts_with(letter))
    }
}
