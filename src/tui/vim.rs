//! The vi keys of the input: normal, insert and visual mode. Pure: from keys, lines and a cursor to
//! edits, which the composer applies.
//!
//! Keys are tables. The keys pressed so far are parsed again with each key, so an unfinished
//! command is nothing but its letters.

use unicode_segmentation::UnicodeSegmentation as _;

pub use self::grid::GridPosition;
use self::grid::{Cell, Grid, Motion, WordSize};
use self::keys::{
    Command, Find, MAX_COUNT, Operator, Parsed, Target, TextObject, Verb, parse_keys,
};
use avocet_core::i18n::{Phrase, input as words};

mod grid;
mod keys;
mod objects;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    #[default]
    Insert,
    Normal,
    /// From here to the cursor.
    Visual(GridPosition),
    /// The lines from here to the cursor.
    VisualLines(GridPosition),
}

/// The edits to apply to the text, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VimEdit {
    MoveTo(GridPosition),
    Delete(GridPosition, GridPosition),
    Insert(String),
    /// The cursor goes one character left, never past the start of the line.
    Left,
    /// The last change, as a whole.
    Undo,
    Redo,
}

/// The text before each change, and after each that was undone: a change and what was typed with it
/// are undone as one, whatever the input counts as an edit.
#[derive(Clone, Debug, Default)]
pub struct UndoPoints {
    before: Vec<Vec<String>>,
    after: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Default)]
pub struct Vim {
    pub mode: VimMode,
    pub points: UndoPoints,
    /// The keys of an unfinished command.
    pending_keys: String,
    register: Register,
    last_find: Option<Find>,
    last_change: Option<LastChange>,
    /// Where insert mode began, if a command began it.
    insert_start: Option<GridPosition>,
}

#[derive(Clone, Debug)]
struct LastChange {
    times: Option<usize>,
    command: Command,
    /// What was typed after it.
    inserted: String,
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

impl VimMode {
    /// The mode after `v` or `V`: the same key again ends it, the other one keeps the start.
    fn toggled(self, verb: Verb, at: GridPosition) -> VimMode {
        match (self, verb) {
            (VimMode::Visual(_), Verb::Visual) | (VimMode::VisualLines(_), Verb::VisualLines) => {
                VimMode::Normal
            }
            (VimMode::Visual(anchor), _) => VimMode::VisualLines(anchor),
            (VimMode::VisualLines(anchor), _) => VimMode::Visual(anchor),
            (_, Verb::VisualLines) => VimMode::VisualLines(at),
            _ => VimMode::Visual(at),
        }
    }

    /// The name in the status line.
    pub fn name(self) -> Phrase {
        match self {
            VimMode::Insert => words::VIM_INSERT,
            VimMode::Normal => words::VIM_NORMAL,
            VimMode::Visual(_) => words::VIM_VISUAL,
            VimMode::VisualLines(_) => words::VIM_VISUAL_LINES,
        }
    }
}

impl LastChange {
    /// What was typed, as often as the count of a command that inserts says, less `done`.
    fn repeated(&self, times: Option<usize>, done: usize) -> String {
        if !self.command.inserts() || self.inserted.is_empty() {
            return String::new();
        }
        let room = (MAX_COUNT / self.inserted.chars().count()).max(1);
        let times = times.unwrap_or(1).min(room).saturating_sub(done);
        let line = if self.command.opens_line() { "\n" } else { "" };
        format!("{line}{}", self.inserted).repeat(times)
    }
}

impl UndoPoints {
    /// A change begins with this text.
    pub fn record(&mut self, lines: Vec<String>) {
        if self.before.last() != Some(&lines) {
            self.before.push(lines);
        }
        self.after.clear();
        if self.before.len() > MAX_POINTS {
            self.before.remove(0);
        }
    }

    /// The text that undoing leads to; `None`: that of the beginning.
    pub fn undo(&mut self, now: &[String]) -> Option<Vec<String>> {
        self.after.push(now.to_vec());
        loop {
            let point = self.before.pop()?;
            if point != now {
                return Some(point);
            }
        }
    }

    /// The text that was undone last.
    pub fn redo(&mut self, now: &[String]) -> Option<Vec<String>> {
        let point = self.after.pop()?;
        self.before.push(now.to_vec());
        Some(point)
    }
}

/// Changes that can be undone, each as a whole.
const MAX_POINTS: usize = 100;

impl Vim {
    /// The input was emptied.
    pub fn reset(&mut self) {
        self.points = UndoPoints::default();
        self.mode = VimMode::Insert;
        self.pending_keys.clear();
        self.insert_start = None;
    }

    /// A command led to insert mode, with the cursor here.
    pub fn begin_insert(&mut self, at: GridPosition) {
        self.insert_start = Some(at);
    }

    /// A letter in normal or visual mode.
    pub fn handle_char(&mut self, c: char, lines: &[String], at: GridPosition) -> Vec<VimEdit> {
        self.pending_keys.push(c);
        let is_visual = matches!(self.mode, VimMode::Visual(_) | VimMode::VisualLines(_));
        match parse_keys(&self.pending_keys, is_visual) {
            Parsed::Incomplete if self.pending_keys.len() < 16 => Vec::new(),
            Parsed::Incomplete | Parsed::Invalid => {
                self.pending_keys.clear();
                Vec::new()
            }
            Parsed::Complete((times, command)) => {
                self.pending_keys.clear();
                let grid = Grid::from_lines(lines);
                let cell = grid.cell_at(at);
                if command == Command::Repeat {
                    return self.repeat(times, &grid, cell);
                }
                if command.is_change() && !is_visual {
                    self.last_change = Some(LastChange { times, command, inserted: String::new() });
                }
                let edits = self.command(command, times, &grid, cell);
                if is_visual && self.mode == VimMode::Insert {
                    // What is typed now belongs to no change that `.` repeats.
                    self.last_change = None;
                }
                edits
            }
        }
    }

    /// Esc. `None`: it has its usual meaning.
    pub fn escape(&mut self, lines: &[String], at: GridPosition) -> Option<Vec<VimEdit>> {
        let typed = std::mem::take(&mut self.pending_keys);
        match std::mem::replace(&mut self.mode, VimMode::Normal) {
            VimMode::Insert => {
                if let (Some(from), Some(change)) =
                    (self.insert_start.take(), &mut self.last_change)
                    && from <= at
                {
                    let grid = Grid::from_lines(lines);
                    change.inserted = grid.text(grid.cell_at(from), grid.cell_at(at));
                    let more = Some(change.repeated(change.times, 1)).filter(|it| !it.is_empty());
                    return Some(
                        more.map(VimEdit::Insert).into_iter().chain([VimEdit::Left]).collect(),
                    );
                }
                Some(vec![VimEdit::Left])
            }
            VimMode::Visual(_) | VimMode::VisualLines(_) => Some(Vec::new()),
            VimMode::Normal => (!typed.is_empty()).then(Vec::new),
        }
    }

    /// The last change again, with what was typed after it.
    fn repeat(&mut self, times: Option<usize>, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let Some(change) = self.last_change.clone() else { return Vec::new() };
        let mut edits = self.command(change.command, times.or(change.times), grid, at);
        if self.mode == VimMode::Insert {
            self.mode = VimMode::Normal;
            let more = change.repeated(times.or(change.times), 1);
            edits.extend([VimEdit::Insert(change.inserted + &more), VimEdit::Left]);
        }
        edits
    }

    fn command(
        &mut self,
        command: Command,
        times: Option<usize>,
        grid: &Grid,
        at: Cell,
    ) -> Vec<VimEdit> {
        match command {
            Command::Move(target) => {
                let Some(to) = self.target_cell(target, times, grid, at) else { return Vec::new() };
                vec![VimEdit::MoveTo(grid.position_of(grid.clamp_to_line(to)))]
            }
            Command::Verb(verb) => self.verb(verb, times.unwrap_or(1), grid, at),
            Command::Lines(operator) => {
                let last = (at.0 + times.unwrap_or(1) - 1).min(grid.last_row());
                self.apply_to_lines(operator, grid, at.0, last)
            }
            Command::Operate(operator, Target::Motion(motion)) => {
                self.operate(operator, motion, times, grid, at)
            }
            Command::Operate(operator, target) => match self.target_cell(target, times, grid, at) {
                Some(to) if to > at => {
                    self.apply_to_chars(operator, grid, at, grid.next_in_line(to))
                }
                Some(to) => self.apply_to_chars(operator, grid, to, at),
                None => Vec::new(),
            },
            Command::OperateOn(operator, object) => match grid.object(object, at) {
                Some((from, to)) => self.apply_to_chars(operator, grid, from, to),
                None => Vec::new(),
            },
            Command::Selected(operator) => self.operate_on_selection(operator, grid, at),
            Command::SelectObject(object) => self.select(object, grid, at),
            Command::Replace(letter) => self.replace(letter, times.unwrap_or(1), grid, at),
            Command::Repeat => Vec::new(),
        }
    }

    /// Where the cursor goes; `None`: the letter is not in the line.
    fn target_cell(
        &mut self,
        target: Target,
        times: Option<usize>,
        grid: &Grid,
        at: Cell,
    ) -> Option<Cell> {
        let count = times.unwrap_or(1);
        match target {
            Target::Motion(motion) => Some(grid.motion_target(motion, at, times)),
            Target::Find(find) => {
                self.last_find = Some(find);
                grid.find(find, at, count, false)
            }
            Target::FindAgain { is_reversed } => {
                let find = self.last_find?;
                grid.find(if is_reversed { find.reversed() } else { find }, at, count, true)
            }
        }
    }

    /// The selected cells, the end excluded; `None` in normal mode.
    fn selection(&self, grid: &Grid, at: Cell) -> Option<(Cell, Cell)> {
        match self.mode {
            VimMode::Visual(anchor) => {
                let anchor = grid.cell_at(anchor);
                Some((anchor.min(at), grid.next_in_line(anchor.max(at))))
            }
            VimMode::VisualLines((row, _)) => Some(((row.min(at.0), 0), grid.end(row.max(at.0)))),
            VimMode::Insert | VimMode::Normal => None,
        }
    }

    fn operate_on_selection(&mut self, operator: Operator, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let Some((from, to)) = self.selection(grid, at) else { return Vec::new() };
        match std::mem::replace(&mut self.mode, VimMode::Normal) {
            VimMode::VisualLines(_) => self.apply_to_lines(operator, grid, from.0, to.0),
            _ => self.apply_to_chars(operator, grid, from, to),
        }
    }

    fn select(&mut self, object: TextObject, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let Some((from, to)) = grid.object(object, at).filter(|(from, to)| from < to) else {
            return Vec::new();
        };
        self.mode = VimMode::Visual(grid.position_of(from));
        let last = grid.previous(to).unwrap_or(to);
        vec![VimEdit::MoveTo(grid.position_of(last))]
    }

    /// `r`: each character by this one; fewer than asked for change nothing.
    fn replace(&mut self, letter: char, times: usize, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let range = match self.selection(grid, at) {
            Some(range) => range,
            None if at.1 + times > grid.end(at.0).1 => return Vec::new(),
            None => (at, (at.0, at.1 + times)),
        };
        self.mode = VimMode::Normal;
        let new = |c: char| if c == '\n' { c } else { letter };
        rewrite(grid, range, |text| text.chars().map(new).collect())
    }

    fn swap_case(&mut self, times: usize, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let selected = self.selection(grid, at);
        let end = grid.end(at.0);
        let behind = (at.0, (at.1 + times).min(end.1));
        self.mode = VimMode::Normal;
        let mut edits = rewrite(grid, selected.unwrap_or((at, behind)), |text| {
            change_case(text, CaseChange::Swap)
        });
        if selected.is_none() {
            edits.push(VimEdit::MoveTo(grid.position_of(behind)));
        }
        edits
    }

    /// `J`: lines become one, with a blank between them.
    fn join(&mut self, times: usize, grid: &Grid, at: Cell) -> Vec<VimEdit> {
        let (first, last) = match self.selection(grid, at) {
            Some((from, to)) if to.0 > from.0 => (from.0, to.0),
            _ => (at.0, at.0 + times.max(2) - 1),
        };
        self.mode = VimMode::Normal;
        let last = last.min(grid.last_row());
        let mut edits: Vec<VimEdit> = Vec::new();
        for row in (first..last).rev() {
            let (end, next) = (grid.end(row), grid.first_word(row + 1));
            let is_apart =
                end.1 == 0 || grid.is_blank((row, end.1 - 1)) || next == grid.end(row + 1);
            edits.push(VimEdit::Delete(grid.position_of(end), grid.position_of(next)));
            edits.push(VimEdit::Insert(if is_apart { String::new() } else { " ".to_owned() }));
        }
        if last > first {
            edits.push(VimEdit::MoveTo(grid.position_of(grid.end(first))));
        }
        edits
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
            (Operator::Change, Motion::LongWord) if !grid.is_blank(at) => Motion::LongWordEnd,
            (_, motion) => motion,
        };
        let count = times.unwrap_or(1);
        let to = match (operator, motion) {
            // On the last letter of a word, its end is here and not that of the next.
            (Operator::Change, Motion::WordEnd) => grid.word_end_from(at, count, WordSize::Short),
            (Operator::Change, Motion::LongWordEnd) => {
                grid.word_end_from(at, count, WordSize::Long)
            }
            _ => grid.motion_target(motion, at, times),
        };
        match motion {
            Motion::Down | Motion::Up if to.0 == at.0 => Vec::new(),
            Motion::Down | Motion::Up | Motion::Top | Motion::Bottom => {
                self.apply_to_lines(operator, grid, at.0.min(to.0), at.0.max(to.0))
            }
            Motion::WordEnd | Motion::LongWordEnd => {
                self.apply_to_chars(operator, grid, at, grid.next_in_line(to))
            }
            // The last word of a line ends with the line.
            Motion::Word | Motion::LongWord if to.0 > at.0 => {
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
        if let Some(change) = case_change(operator) {
            return rewrite(grid, (from, to), |text| change_case(text, change));
        }
        self.register = Register { text: grid.text(from, to), shape: RegisterKind::Characters };
        let (from, to) = (grid.position_of(from), grid.position_of(to));
        match operator {
            Operator::Lower | Operator::Upper | Operator::SwapCase => Vec::new(),
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
        if let Some(change) = case_change(operator) {
            return rewrite(grid, (start, end), |text| change_case(text, change));
        }
        self.register = Register { text: grid.text(start, end), shape: RegisterKind::Lines };
        match operator {
            Operator::Lower | Operator::Upper | Operator::SwapCase => Vec::new(),
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
            Verb::DeleteBack => {
                let left = (at.0, at.1.saturating_sub(times));
                return self.apply_to_chars(Operator::Delete, grid, left, at);
            }
            Verb::Substitute => return self.apply_to_chars(Operator::Change, grid, at, right),
            Verb::SwapCase => return self.swap_case(times, grid, at),
            Verb::Join => return self.join(times, grid, at),
            Verb::Visual | Verb::VisualLines => {
                self.mode = self.mode.toggled(verb, grid.position_of(at));
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
        let room = MAX_COUNT / self.register.text.chars().count().max(1);
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseChange {
    Lower,
    Upper,
    Swap,
}

fn case_change(operator: Operator) -> Option<CaseChange> {
    match operator {
        Operator::Lower => Some(CaseChange::Lower),
        Operator::Upper => Some(CaseChange::Upper),
        Operator::SwapCase => Some(CaseChange::Swap),
        Operator::Delete | Operator::Change | Operator::Yank => None,
    }
}

fn change_case(text: &str, change: CaseChange) -> String {
    let changed = |c: char| -> String {
        match (change, c.is_uppercase()) {
            (CaseChange::Lower, _) | (CaseChange::Swap, true) => c.to_lowercase().collect(),
            (CaseChange::Upper, _) | (CaseChange::Swap, false) => c.to_uppercase().collect(),
        }
    };
    text.chars().map(changed).collect()
}

/// Replaces the text of a range by one as long; the cursor stays at its start.
fn rewrite(
    grid: &Grid,
    (from, to): (Cell, Cell),
    make: impl FnOnce(&str) -> String,
) -> Vec<VimEdit> {
    let new = make(&grid.text(from, to));
    let (from, to) = (grid.position_of(from), grid.position_of(to));
    vec![VimEdit::Delete(from, to), VimEdit::Insert(new), VimEdit::MoveTo(from)]
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
