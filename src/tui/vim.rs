//! The vi keys of the input: normal, insert and visual mode. Pure: from keys, lines and a cursor to
//! edits, which the composer applies.
//!
//! Keys are tables. The keys pressed so far are parsed again with each key, so an unfinished
//! command is nothing but its letters.

use unicode_segmentation::UnicodeSegmentation as _;

pub use self::grid::GridPosition;
use self::grid::{Cell, Grid, Motion};
use crate::i18n::{Phrase, input as words};

mod grid;

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
pub enum VimEdit {
    MoveTo(GridPosition),
    Delete(GridPosition, GridPosition),
    Insert(String),
    /// One character left, in its line.
    Left,
    Undo,
}

#[derive(Clone, Debug, Default)]
pub struct Vim {
    pub mode: VimMode,
    /// The keys of an unfinished command.
    pending_keys: String,
    register: Register,
}

#[derive(Clone, Debug, Default)]
struct Register {
    text: String,
    shape: RegisterKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RegisterKind {
    #[default]
    Characters,
    Lines,
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
enum ParsedKeys {
    Complete(Option<usize>, Command),
    /// More keys must follow.
    Incomplete,
    Invalid,
}

/// The largest count, however many digits it has.
const MOST: usize = 10_000;

fn parse_keys(typed: &str, visual: bool) -> ParsedKeys {
    let (first, rest) = count(typed);
    if rest.is_empty() {
        return ParsedKeys::Incomplete;
    }
    if let Some(operator) = OPERATORS.iter().find(|(key, _)| rest.starts_with(key)) {
        let (key, operator) = *operator;
        return match visual {
            true => ParsedKeys::Complete(first, Command::Selected(operator)),
            false => operation(first, key, operator, rest.strip_prefix(key).unwrap_or("")),
        };
    }
    if visual && rest == "x" {
        return ParsedKeys::Complete(first, Command::Selected(Operator::Delete));
    }
    if let Some(motion) = lookup(MOTIONS, rest) {
        return ParsedKeys::Complete(first, Command::Move(motion));
    }
    match lookup(VERBS, rest) {
        Some(verb) if !visual || verb == Verb::Visual => {
            ParsedKeys::Complete(first, Command::Verb(verb))
        }
        _ if rest == "g" => ParsedKeys::Incomplete,
        _ => ParsedKeys::Invalid,
    }
}

fn operation(first: Option<usize>, key: &str, operator: Operator, rest: &str) -> ParsedKeys {
    let (second, rest) = count(rest);
    let times = match (first, second) {
        (None, None) => None,
        (one, other) => Some((one.unwrap_or(1) * other.unwrap_or(1)).min(MOST)),
    };
    match lookup(MOTIONS, rest) {
        _ if rest.is_empty() || rest == "g" => ParsedKeys::Incomplete,
        _ if rest == key => ParsedKeys::Complete(times, Command::Lines(operator)),
        Some(motion) => ParsedKeys::Complete(times, Command::Operate(operator, motion)),
        None => ParsedKeys::Invalid,
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

fn lookup<T: Copy>(table: &[(&str, T)], key: &str) -> Option<T> {
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
    pub fn handle_char(&mut self, c: char, lines: &[String], at: GridPosition) -> Vec<VimEdit> {
        self.pending_keys.push(c);
        match parse_keys(&self.pending_keys, matches!(self.mode, VimMode::Visual(_))) {
            ParsedKeys::Incomplete if self.pending_keys.len() < 16 => Vec::new(),
            ParsedKeys::Incomplete | ParsedKeys::Invalid => {
                self.pending_keys.clear();
                Vec::new()
            }
            ParsedKeys::Complete(times, command) => {
                self.pending_keys.clear();
                let grid = Grid::from_lines(lines);
                let cell = grid.cell_at(at);
                self.command(command, times, &grid, cell)
            }
        }
    }

    /// Esc. `None`: it has its usual meaning.
    pub fn escape(&mut self) -> Option<Vec<VimEdit>> {
        let typed = std::mem::take(&mut self.pending_keys);
        match std::mem::replace(&mut self.mode, VimMode::Normal) {
            VimMode::Insert => Some(vec![VimEdit::Left]),
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
    ) -> Vec<VimEdit> {
        match command {
            Command::Move(motion) => {
                let to = grid.motion_target(motion, at, times);
                vec![VimEdit::MoveTo(grid.position_of(grid.clamp_to_line(to)))]
            }
            Command::Verb(verb) => self.verb(verb, times.unwrap_or(1), grid, at),
            Command::Lines(operator) => {
                let last = (at.0 + times.unwrap_or(1) - 1).min(grid.last_row());
                self.apply_to_lines(operator, grid, at.0, last)
            }
            Command::Operate(operator, motion) => self.operate(operator, motion, times, grid, at),
            Command::Selected(operator) => {
                let VimMode::Visual(anchor) = self.mode else { return Vec::new() };
                self.mode = VimMode::Normal;
                let anchor = grid.cell_at(anchor);
                let (from, to) = (anchor.min(at), anchor.max(at));
                self.apply_to_chars(operator, grid, from, grid.cell_after(to))
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
    ) -> Vec<VimEdit> {
        // Changing a word leaves the space after it.
        let motion = match (operator, motion) {
            (Operator::Change, Motion::Word) if !grid.is_blank(at) => Motion::WordEnd,
            (_, motion) => motion,
        };
        let to = match (operator, motion) {
            // On the last letter of a word, its end is here and not that of the next.
            (Operator::Change, Motion::WordEnd) => grid.word_end_from(at, times.unwrap_or(1)),
            _ => grid.motion_target(motion, at, times),
        };
        match motion {
            Motion::Down | Motion::Up if to.0 == at.0 => Vec::new(),
            Motion::Down | Motion::Up | Motion::Top | Motion::Bottom => {
                self.apply_to_lines(operator, grid, at.0.min(to.0), at.0.max(to.0))
            }
            Motion::WordEnd => self.apply_to_chars(operator, grid, at, grid.cell_after(to)),
            // The last word of a line ends with the line.
            Motion::Word if to.0 > at.0 => {
                self.apply_to_chars(operator, grid, at, grid.end_before(to, at))
            }
            _ => self.apply_to_chars(operator, grid, at.min(to), at.max(to)),
        }
    }

    fn apply_to_chars(
        &mut self,
        operator: Operator,
        grid: &Grid,
        from: Cell,
        to: Cell,
    ) -> Vec<VimEdit> {
        self.register = Register { text: grid.text(from, to), shape: RegisterKind::Characters };
        let (from, to) = (grid.position_of(from), grid.position_of(to));
        match operator {
            Operator::Yank => vec![VimEdit::MoveTo(from)],
            Operator::Delete => vec![VimEdit::Delete(from, to), VimEdit::MoveTo(from)],
            Operator::Change => {
                self.mode = VimMode::Insert;
                vec![VimEdit::Delete(from, to)]
            }
        }
    }

    fn apply_to_lines(
        &mut self,
        operator: Operator,
        grid: &Grid,
        first: usize,
        last: usize,
    ) -> Vec<VimEdit> {
        let (start, end) = ((first, 0), grid.end(last));
        self.register = Register { text: grid.text(start, end), shape: RegisterKind::Lines };
        match operator {
            Operator::Yank => vec![VimEdit::MoveTo(grid.position_of(start))],
            Operator::Change => {
                self.mode = VimMode::Insert;
                vec![VimEdit::Delete(grid.position_of(start), grid.position_of(end))]
            }
            Operator::Delete => {
                let (from, to) = match (last < grid.last_row(), first) {
                    (true, _) => (start, (last + 1, 0)),
                    (false, 0) => (start, end),
                    (false, _) => (grid.end(first - 1), end),
                };
                let row = if last < grid.last_row() { first } else { first.saturating_sub(1) };
                vec![
                    VimEdit::Delete(grid.position_of(from), grid.position_of(to)),
                    VimEdit::MoveTo((row, 0)),
                ]
            }
        }
    }

    fn verb(&mut self, verb: Verb, times: usize, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let end = grid.end(at.0);
        let right = (at.0, (at.1 + times).min(end.1));
        match verb {
            Verb::Delete => return self.apply_to_chars(Operator::Delete, grid, at, right),
            Verb::DeleteEnd => return self.apply_to_chars(Operator::Delete, grid, at, end),
            Verb::ChangeEnd => return self.apply_to_chars(Operator::Change, grid, at, end),
            Verb::Undo => return vec![VimEdit::Undo; times],
            Verb::Put | Verb::PutBefore => return self.put(verb, times, grid, at),
            Verb::Visual => {
                self.mode = match self.mode {
                    VimMode::Visual(_) => VimMode::Normal,
                    VimMode::Normal | VimMode::Insert => VimMode::Visual(grid.position_of(at)),
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
        let go = |cell| VimEdit::MoveTo(grid.position_of(cell));
        match verb {
            Verb::InsertFirst => vec![go(grid.motion_target(Motion::FirstWord, at, None))],
            Verb::Append => vec![go((at.0, (at.1 + 1).min(end.1)))],
            Verb::AppendEnd => vec![go(end)],
            Verb::OpenBelow => vec![go(end), VimEdit::Insert("\n".into())],
            Verb::OpenAbove => {
                vec![
                    VimEdit::MoveTo((at.0, 0)),
                    VimEdit::Insert("\n".into()),
                    VimEdit::MoveTo((at.0, 0)),
                ]
            }
            _ => Vec::new(),
        }
    }

    fn put(&self, verb: Verb, times: usize, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let room = MOST / self.register.text.chars().count().max(1);
        let times = times.min(room.max(1));
        let text = self.register.text.as_str();
        let end = grid.end(at.0);
        match (self.register.shape, verb) {
            (_, _) if text.is_empty() && self.register.shape == RegisterKind::Characters => {
                Vec::new()
            }
            (RegisterKind::Lines, Verb::Put) => {
                let text = format!("\n{text}").repeat(times);
                vec![
                    VimEdit::MoveTo(grid.position_of(end)),
                    VimEdit::Insert(text),
                    VimEdit::MoveTo((at.0 + 1, 0)),
                ]
            }
            (RegisterKind::Lines, _) => {
                let text = format!("{text}\n").repeat(times);
                vec![VimEdit::MoveTo((at.0, 0)), VimEdit::Insert(text), VimEdit::MoveTo((at.0, 0))]
            }
            (RegisterKind::Characters, verb) => {
                let behind = if verb == Verb::Put { (at.0, (at.1 + 1).min(end.1)) } else { at };
                vec![
                    VimEdit::MoveTo(grid.position_of(behind)),
                    VimEdit::Insert(text.repeat(times)),
                    VimEdit::Left,
                ]
            }
        }
    }
}

/// Where the cursor may be in normal mode: on a character, not after the last.
pub fn clamp_to_char(line: &str, column: usize) -> usize {
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
