//! The text as a grid of cells, and the motions between them. A cell is one visible character;
//! after the last one of a line comes its end.

use unicode_segmentation::UnicodeSegmentation as _;

/// A row and a column, in characters.
pub type GridPosition = (usize, usize);

/// A row, and the number of a cell in it.
pub type Cell = (usize, usize);

/// Runs of one kind are words. Chinese and Japanese are a kind of their own, which separates them
/// from adjacent letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Blank,
    Letter,
    Ideograph,
    Sign,
}

/// A movement of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    Down,
    Up,
    Word,
    WordBack,
    WordEnd,
    /// Words that only blanks end.
    LongWord,
    LongWordBack,
    LongWordEnd,
    LineStart,
    FirstWord,
    LineEnd,
    Top,
    Bottom,
}

/// What ends a word: another kind of character, or only a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSize {
    Short,
    Long,
}

pub struct Grid {
    rows: Vec<Vec<Piece>>,
}

struct Piece {
    text: String,
    /// Its column, in characters.
    column: usize,
    kind: Kind,
}

impl Grid {
    pub fn from_lines(lines: &[String]) -> Grid {
        Grid { rows: lines.iter().map(|line| pieces(line)).collect() }
    }

    pub fn last_row(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The cell that covers a place.
    pub fn cell_at(&self, (row, column): GridPosition) -> Cell {
        let pieces = self.rows.get(row).map(Vec::as_slice).unwrap_or_default();
        let at = pieces.iter().rposition(|piece| piece.column <= column).unwrap_or(0);
        let behind = pieces.last().is_some_and(|last| column >= last.column + last.chars());
        (row, if behind { pieces.len() } else { at })
    }

    pub fn position_of(&self, (row, at): Cell) -> GridPosition {
        let Some(pieces) = self.rows.get(row) else { return (row, 0) };
        let end = pieces.last().map_or(0, |last| last.column + last.chars());
        (row, pieces.get(at).map_or(end, |piece| piece.column))
    }

    pub fn end(&self, row: usize) -> Cell {
        (row, self.rows.get(row).map_or(0, Vec::len))
    }

    /// The last cell that the cursor may be on, instead of the end of the line.
    pub fn clamp_to_line(&self, (row, at): Cell) -> Cell {
        (row, at.min(self.end(row).1.saturating_sub(1)))
    }

    /// The cell after this one, at most the end of its line.
    pub fn next_in_line(&self, (row, at): Cell) -> Cell {
        (row, (at + 1).min(self.end(row).1))
    }

    /// The end of the last line that begins before `to`, but not before the line of `from`.
    pub fn end_before(&self, to: Cell, from: Cell) -> Cell {
        let row = if to.1 == 0 { to.0.saturating_sub(1) } else { to.0 };
        if to.1 == 0 || to == self.end(to.0) { self.end(row.max(from.0)) } else { to }
    }

    pub fn is_blank(&self, at: Cell) -> bool {
        self.kind(at) == Kind::Blank
    }

    pub fn text(&self, from: Cell, to: Cell) -> String {
        let mut out = String::new();
        for (row, pieces) in self.rows.iter().enumerate().take(to.0 + 1).skip(from.0) {
            let start = if row == from.0 { from.1 } else { 0 };
            let end = if row == to.0 { to.1 } else { pieces.len() };
            out.extend(pieces.iter().take(end).skip(start).map(|piece| piece.text.as_str()));
            if row < to.0 {
                out.push('\n');
            }
        }
        out
    }

    /// The target of a motion, repeated.
    pub fn motion_target(&self, motion: Motion, at: Cell, times: Option<usize>) -> Cell {
        let count = times.unwrap_or(1);
        let (row, column) = at;
        let on = |row: usize| (row, column.min(self.end(row).1));
        match motion {
            Motion::Left => (row, column.saturating_sub(count)),
            Motion::Right => (row, (column + count).min(self.end(row).1)),
            Motion::Up => on(row.saturating_sub(count)),
            Motion::Down => on((row + count).min(self.last_row())),
            Motion::LineStart => (row, 0),
            Motion::FirstWord => self.first_word(row),
            Motion::LineEnd => self.end((row + count - 1).min(self.last_row())),
            Motion::Top => self.first_word((count - 1).min(self.last_row())),
            Motion::Bottom => {
                let row = times.map_or(self.last_row(), |times| times.saturating_sub(1));
                self.first_word(row.min(self.last_row()))
            }
            Motion::Word => (0..count).fold(at, |at, _| self.word(at, WordSize::Short)),
            Motion::WordBack => (0..count).fold(at, |at, _| self.word_back(at, WordSize::Short)),
            Motion::WordEnd => (0..count).fold(at, |at, _| self.word_end(at, WordSize::Short)),
            Motion::LongWord => (0..count).fold(at, |at, _| self.word(at, WordSize::Long)),
            Motion::LongWordBack => (0..count).fold(at, |at, _| self.word_back(at, WordSize::Long)),
            Motion::LongWordEnd => (0..count).fold(at, |at, _| self.word_end(at, WordSize::Long)),
        }
    }

    /// The end of the word at `at`, and of as many more.
    pub fn word_end_from(&self, at: Cell, count: usize, size: WordSize) -> Cell {
        let here = self.run_end(at, size);
        (1..count).fold(here, |at, _| self.word_end(at, size))
    }

    pub fn first_word(&self, row: usize) -> Cell {
        let pieces = self.rows.get(row).map(Vec::as_slice).unwrap_or_default();
        (row, pieces.iter().position(|piece| piece.kind != Kind::Blank).unwrap_or(0))
    }

    fn word(&self, at: Cell, size: WordSize) -> Cell {
        let mut at = self.next(self.run_end(at, size)).unwrap_or_else(|| self.end(at.0));
        while self.is_blank(at) {
            let Some(next) = self.next(at) else { break };
            at = next;
        }
        at
    }

    fn word_end(&self, at: Cell, size: WordSize) -> Cell {
        let mut at = self.next(at).unwrap_or(at);
        while self.is_blank(at) {
            let Some(next) = self.next(at) else { return self.clamp_to_line(at) };
            at = next;
        }
        self.run_end(at, size)
    }

    fn word_back(&self, at: Cell, size: WordSize) -> Cell {
        let mut at = self.previous(at).unwrap_or(at);
        while self.is_blank(at) {
            let Some(previous) = self.previous(at) else { return at };
            at = previous;
        }
        while let Some(previous) = self.previous(at).filter(|it| self.are_joined(*it, at, size)) {
            at = previous;
        }
        at
    }

    /// Whether two cells that are not blank belong to one word.
    fn are_joined(&self, one: Cell, other: Cell, size: WordSize) -> bool {
        match size {
            WordSize::Short => self.kind(one) == self.kind(other),
            WordSize::Long => !self.is_blank(one) && !self.is_blank(other),
        }
    }

    /// The last cell of the word at `at`; a blank is alone.
    fn run_end(&self, mut at: Cell, size: WordSize) -> Cell {
        let is_word = !self.is_blank(at);
        while is_word
            && let Some(next) = self.next(at).filter(|next| self.are_joined(*next, at, size))
        {
            at = next;
        }
        at
    }

    /// The character of a cell; the end of a line has none.
    pub fn letter(&self, (row, at): Cell) -> Option<&str> {
        Some(self.rows.get(row)?.get(at)?.text.as_str())
    }

    pub fn kind(&self, (row, at): Cell) -> Kind {
        let piece = self.rows.get(row).and_then(|pieces| pieces.get(at));
        piece.map_or(Kind::Blank, |piece| piece.kind)
    }

    pub fn next(&self, (row, at): Cell) -> Option<Cell> {
        if at < self.end(row).1 {
            Some((row, at + 1))
        } else if row < self.last_row() {
            Some((row + 1, 0))
        } else {
            None
        }
    }

    pub fn previous(&self, (row, at): Cell) -> Option<Cell> {
        match at.checked_sub(1) {
            Some(at) => Some((row, at)),
            None => row.checked_sub(1).map(|row| self.end(row)),
        }
    }
}

impl Piece {
    fn chars(&self) -> usize {
        self.text.chars().count()
    }
}

fn pieces(line: &str) -> Vec<Piece> {
    let mut column = 0;
    line.graphemes(true)
        .map(|text| {
            let piece = Piece { text: text.to_owned(), column, kind: kind(text) };
            column += piece.chars();
            piece
        })
        .collect()
}

fn kind(text: &str) -> Kind {
    match text.chars().next() {
        None => Kind::Blank,
        Some(c) if c.is_whitespace() => Kind::Blank,
        Some('\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}') => {
            Kind::Ideograph
        }
        Some(c) if c.is_alphanumeric() || c == '_' => Kind::Letter,
        Some(_) => Kind::Sign,
    }
}
