//! The vi keys of the input: normal, insert and visual mode. Pure: from keys, lines and a cursor to
//! edits, which the composer applies.
//!
//! Keys are tables. The keys pressed so far are parsed again with each key, so an unfinished
//! command is nothing but its letters.

use unicode_segmentation::UnicodeSegmentation as _;

use self::grid::{Cell, Grid};
use crate::words::{Phrase, input as words};

mod grid;

/// A row and a column, in characters.
pub type GridPosition = (usize, usize);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    #[default]
    Insert,
    Normal,
    /// From here to the cursor.
    Visual(GridPosition),
}

/// The edits to apply to the text, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    Go(GridPosition),
    Cut(GridPosition, GridPosition),
    Insert(String),
    /// One character left, in its line.
    Left,
    Undo,
}

#[derive(Clone, Debug, Default)]
pub struct Vim {
    pub mode: VimMode,
    /// The keys of an unfinished command.
    typed: String,
    register: Register,
}

#[derive(Clone, Debug, Default)]
struct Register {
    text: String,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    #[default]
    Characters,
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Down,
    Up,
    Word,
    WordBack,
    WordEnd,
    LineStart,
    FirstWord,
    LineEnd,
    Top,
    Bottom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Insert,
    InsertFirst,
    Append,
    AppendEnd,
    OpenBelow,
    OpenAbove,
    Delete,
    DeleteEnd,
    ChangeEnd,
    Put,
    PutBefore,
    Undo,
    Visual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

#[rustfmt::skip]
const MOTIONS: &[(&str, Motion)] = &[
    ("h", Motion::Left), ("l", Motion::Right), ("j", Motion::Down), ("k", Motion::Up),
    ("w", Motion::Word), ("b", Motion::WordBack), ("e", Motion::WordEnd),
    ("0", Motion::LineStart), ("^", Motion::FirstWord), ("$", Motion::LineEnd),
    ("gg", Motion::Top), ("G", Motion::Bottom),
];

#[rustfmt::skip]
const VERBS: &[(&str, Verb)] = &[
    ("i", Verb::Insert), ("I", Verb::InsertFirst), ("a", Verb::Append), ("A", Verb::AppendEnd),
    ("o", Verb::OpenBelow), ("O", Verb::OpenAbove), ("x", Verb::Delete), ("D", Verb::DeleteEnd),
    ("C", Verb::ChangeEnd), ("p", Verb::Put), ("P", Verb::PutBefore), ("u", Verb::Undo),
    ("v", Verb::Visual),
];

const OPERATORS: &[(&str, Operator)] =
    &[("d", Operator::Delete), ("c", Operator::Change), ("y", Operator::Yank)];

/// The meaning of the keys pressed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Move(Motion),
    Verb(Verb),
    Operate(Operator, Motion),
    /// `dd`, `cc`, `yy`.
    Lines(Operator),
    /// In visual mode: the selection.
    Selected(Operator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Whole(Option<usize>, Command),
    /// More keys must follow.
    Begun,
    Nothing,
}

/// The largest count, however many digits it has.
const MOST: usize = 10_000;

fn read(typed: &str, visual: bool) -> Read {
    let (first, rest) = count(typed);
    if rest.is_empty() {
        return Read::Begun;
    }
    if let Some(operator) = OPERATORS.iter().find(|(key, _)| rest.starts_with(key)) {
        let (key, operator) = *operator;
        return match visual {
            true => Read::Whole(first, Command::Selected(operator)),
            false => operation(first, key, operator, rest.strip_prefix(key).unwrap_or("")),
        };
    }
    if visual && rest == "x" {
        return Read::Whole(first, Command::Selected(Operator::Delete));
    }
    if let Some(motion) = found(MOTIONS, rest) {
        return Read::Whole(first, Command::Move(motion));
    }
    match found(VERBS, rest) {
        Some(verb) if !visual || verb == Verb::Visual => Read::Whole(first, Command::Verb(verb)),
        _ if rest == "g" => Read::Begun,
        _ => Read::Nothing,
    }
}

fn operation(first: Option<usize>, key: &str, operator: Operator, rest: &str) -> Read {
    let (second, rest) = count(rest);
    let times = match (first, second) {
        (None, None) => None,
        (one, other) => Some((one.unwrap_or(1) * other.unwrap_or(1)).min(MOST)),
    };
    match found(MOTIONS, rest) {
        _ if rest.is_empty() || rest == "g" => Read::Begun,
        _ if rest == key => Read::Whole(times, Command::Lines(operator)),
        Some(motion) => Read::Whole(times, Command::Operate(operator, motion)),
        None => Read::Nothing,
    }
}

/// A number at the start; a zero alone is a motion.
fn count(typed: &str) -> (Option<usize>, &str) {
    let rest = typed.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = typed.strip_suffix(rest).unwrap_or("");
    if digits.is_empty() || digits.starts_with('0') {
        return (None, typed);
    }
    (Some(digits.parse().map_or(MOST, |count: usize| count.min(MOST))), rest)
}

fn found<T: Copy>(table: &[(&str, T)], key: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == key).map(|(_, what)| *what)
}

impl VimMode {
    /// The name in the status line.
    pub fn name(self) -> Phrase {
        match self {
            VimMode::Insert => words::VIM_INSERT,
            VimMode::Normal => words::VIM_NORMAL,
            VimMode::Visual(_) => words::VIM_VISUAL,
        }
    }
}

impl Vim {
    /// A letter in normal or visual mode.
    pub fn letter(&mut self, c: char, lines: &[String], at: GridPosition) -> Vec<Do> {
        self.typed.push(c);
        match read(&self.typed, matches!(self.mode, VimMode::Visual(_))) {
            Read::Begun if self.typed.len() < 16 => Vec::new(),
            Read::Begun | Read::Nothing => {
                self.typed.clear();
                Vec::new()
            }
            Read::Whole(times, command) => {
                self.typed.clear();
                let grid = Grid::of(lines);
                let cell = grid.cell(at);
                self.command(command, times, &grid, cell)
            }
        }
    }

    /// Esc. `None`: it has its usual meaning.
    pub fn escape(&mut self) -> Option<Vec<Do>> {
        let typed = std::mem::take(&mut self.typed);
        match std::mem::replace(&mut self.mode, VimMode::Normal) {
            VimMode::Insert => Some(vec![Do::Left]),
            VimMode::Visual(_) => Some(Vec::new()),
            VimMode::Normal => (!typed.is_empty()).then(Vec::new),
        }
    }

    fn command(
        &mut self,
        command: Command,
        times: Option<usize>,
        grid: &Grid,
        at: Cell,
    ) -> Vec<Do> {
        match command {
            Command::Move(motion) => {
                let to = grid.moved(motion, at, times);
                vec![Do::Go(grid.place(grid.inside(to)))]
            }
            Command::Verb(verb) => self.verb(verb, times.unwrap_or(1), grid, at),
            Command::Lines(operator) => {
                let last = (at.0 + times.unwrap_or(1) - 1).min(grid.last_row());
                self.lines(operator, grid, at.0, last)
            }
            Command::Operate(operator, motion) => self.operate(operator, motion, times, grid, at),
            Command::Selected(operator) => {
                let VimMode::Visual(anchor) = self.mode else { return Vec::new() };
                self.mode = VimMode::Normal;
                let anchor = grid.cell(anchor);
                let (from, to) = (anchor.min(at), anchor.max(at));
                self.characters(operator, grid, from, grid.behind(to))
            }
        }
    }

    fn operate(
        &mut self,
        operator: Operator,
        motion: Motion,
        times: Option<usize>,
        grid: &Grid,
        at: Cell,
    ) -> Vec<Do> {
        // Changing a word leaves the space after it.
        let motion = match (operator, motion) {
            (Operator::Change, Motion::Word) if !grid.is_blank(at) => Motion::WordEnd,
            (_, motion) => motion,
        };
        let to = match (operator, motion) {
            // On the last letter of a word, its end is here and not that of the next.
            (Operator::Change, Motion::WordEnd) => grid.word_end_from(at, times.unwrap_or(1)),
            _ => grid.moved(motion, at, times),
        };
        match motion {
            Motion::Down | Motion::Up if to.0 == at.0 => Vec::new(),
            Motion::Down | Motion::Up | Motion::Top | Motion::Bottom => {
                self.lines(operator, grid, at.0.min(to.0), at.0.max(to.0))
            }
            Motion::WordEnd => self.characters(operator, grid, at, grid.behind(to)),
            // The last word of a line ends with the line.
            Motion::Word if to.0 > at.0 => {
                self.characters(operator, grid, at, grid.end_before(to, at))
            }
            _ => self.characters(operator, grid, at.min(to), at.max(to)),
        }
    }

    fn characters(&mut self, operator: Operator, grid: &Grid, from: Cell, to: Cell) -> Vec<Do> {
        self.register = Register { text: grid.text(from, to), shape: Shape::Characters };
        let (from, to) = (grid.place(from), grid.place(to));
        match operator {
            Operator::Yank => vec![Do::Go(from)],
            Operator::Delete => vec![Do::Cut(from, to), Do::Go(from)],
            Operator::Change => {
                self.mode = VimMode::Insert;
                vec![Do::Cut(from, to)]
            }
        }
    }

    fn lines(&mut self, operator: Operator, grid: &Grid, first: usize, last: usize) -> Vec<Do> {
        let (start, end) = ((first, 0), grid.end(last));
        self.register = Register { text: grid.text(start, end), shape: Shape::Lines };
        match operator {
            Operator::Yank => vec![Do::Go(grid.place(start))],
            Operator::Change => {
                self.mode = VimMode::Insert;
                vec![Do::Cut(grid.place(start), grid.place(end))]
            }
            Operator::Delete => {
                let (from, to) = match (last < grid.last_row(), first) {
                    (true, _) => (start, (last + 1, 0)),
                    (false, 0) => (start, end),
                    (false, _) => (grid.end(first - 1), end),
                };
                let row = if last < grid.last_row() { first } else { first.saturating_sub(1) };
                vec![Do::Cut(grid.place(from), grid.place(to)), Do::Go((row, 0))]
            }
        }
    }

    fn verb(&mut self, verb: Verb, times: usize, grid: &Grid, at: Cell) -> Vec<Do> {
        let end = grid.end(at.0);
        let right = (at.0, (at.1 + times).min(end.1));
        match verb {
            Verb::Delete => return self.characters(Operator::Delete, grid, at, right),
            Verb::DeleteEnd => return self.characters(Operator::Delete, grid, at, end),
            Verb::ChangeEnd => return self.characters(Operator::Change, grid, at, end),
            Verb::Undo => return vec![Do::Undo; times],
            Verb::Put | Verb::PutBefore => return self.put(verb, times, grid, at),
            Verb::Visual => {
                self.mode = match self.mode {
                    VimMode::Visual(_) => VimMode::Normal,
                    VimMode::Normal | VimMode::Insert => VimMode::Visual(grid.place(at)),
                };
                return Vec::new();
            }
            Verb::Insert
            | Verb::InsertFirst
            | Verb::Append
            | Verb::AppendEnd
            | Verb::OpenBelow
            | Verb::OpenAbove => self.mode = VimMode::Insert,
        }
        let go = |cell| Do::Go(grid.place(cell));
        match verb {
            Verb::InsertFirst => vec![go(grid.moved(Motion::FirstWord, at, None))],
            Verb::Append => vec![go((at.0, (at.1 + 1).min(end.1)))],
            Verb::AppendEnd => vec![go(end)],
            Verb::OpenBelow => vec![go(end), Do::Insert("\n".into())],
            Verb::OpenAbove => {
                vec![Do::Go((at.0, 0)), Do::Insert("\n".into()), Do::Go((at.0, 0))]
            }
            _ => Vec::new(),
        }
    }

    fn put(&self, verb: Verb, times: usize, grid: &Grid, at: Cell) -> Vec<Do> {
        let room = MOST / self.register.text.chars().count().max(1);
        let times = times.min(room.max(1));
        let text = self.register.text.as_str();
        let end = grid.end(at.0);
        match (self.register.shape, verb) {
            (_, _) if text.is_empty() && self.register.shape == Shape::Characters => Vec::new(),
            (Shape::Lines, Verb::Put) => {
                let text = format!("\n{text}").repeat(times);
                vec![Do::Go(grid.place(end)), Do::Insert(text), Do::Go((at.0 + 1, 0))]
            }
            (Shape::Lines, _) => {
                let text = format!("{text}\n").repeat(times);
                vec![Do::Go((at.0, 0)), Do::Insert(text), Do::Go((at.0, 0))]
            }
            (Shape::Characters, verb) => {
                let behind = if verb == Verb::Put { (at.0, (at.1 + 1).min(end.1)) } else { at };
                vec![Do::Go(grid.place(behind)), Do::Insert(text.repeat(times)), Do::Left]
            }
        }
    }
}

/// Where the cursor may be in normal mode: on a character, not after the last.
pub fn on_character(line: &str, column: usize) -> usize {
    let mut last = 0;
    let mut at = 0;
    for grapheme in line.graphemes(true) {
        last = at;
        at += grapheme.chars().count();
    }
    column.min(last)
}

#[cfg(test)]
mod tests;
