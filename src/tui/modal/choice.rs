//! The choices of a question, by letter, digit and arrows. The safe one is first and selected until
//! the user moves.

use crossterm::event::KeyEvent;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::i18n::{Phrase, common, prompt, screen as words};
use crate::tui::draw::DrawContext;
use crate::tui::keys;
use crate::tui::status::KeyHint;
use crate::tui::symbols::{CHOSEN, NOT_CHOSEN};

/// The possible answers of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoicePick {
    Reject,
    Run,
    Session,
    Project,
    All,
    Edit,
    RejectWithReason,
    Stop,
    Continue,
    Trust,
}

/// One row: its letter, its label, and a short label for narrow dialogs.
#[derive(Clone, Copy, Debug)]
pub struct QuestionChoice {
    pub letter: char,
    pub pick: ChoicePick,
    pub label: Phrase,
    pub short: Phrase,
    /// It has effect beyond this question: its letter only selects it, Enter confirms.
    pub is_lasting: bool,
}

const fn choice(letter: char, pick: ChoicePick, label: Phrase, short: Phrase) -> QuestionChoice {
    QuestionChoice { letter, pick, label, short, is_lasting: false }
}

/// A choice that is remembered, or that grants trust.
const fn lasting(letter: char, pick: ChoicePick, label: Phrase, short: Phrase) -> QuestionChoice {
    QuestionChoice { letter, pick, label, short, is_lasting: true }
}

const REJECT: QuestionChoice =
    choice('n', ChoicePick::Reject, words::PICK_REJECT, words::PICK_REJECT);
const RUN: QuestionChoice = choice('y', ChoicePick::Run, words::PICK_RUN, words::PICK_RUN_SHORT);
/// A high-risk step takes a capital letter, so that habit cannot answer it.
const RUN_GRAVE: QuestionChoice =
    choice('Y', ChoicePick::Run, words::PICK_RUN_GRAVE, words::PICK_RUN_SHORT);
const SESSION: QuestionChoice =
    lasting('s', ChoicePick::Session, words::PICK_SESSION, words::PICK_SESSION_SHORT);
const PROJECT: QuestionChoice =
    lasting('p', ChoicePick::Project, words::PICK_PROJECT, words::PICK_PROJECT_SHORT);
/// This step and the ones after it that the dialog shows.
const ALL: QuestionChoice = choice('a', ChoicePick::All, words::PICK_ALL, words::PICK_ALL_SHORT);
const EDIT: QuestionChoice =
    choice('e', ChoicePick::Edit, words::PICK_EDIT, words::PICK_EDIT_SHORT);
const WORD: QuestionChoice =
    choice('w', ChoicePick::RejectWithReason, words::PICK_WORD, words::PICK_WORD_SHORT);
const STOP: QuestionChoice =
    choice('x', ChoicePick::Stop, words::PICK_STOP, words::PICK_STOP_SHORT);
const HALT: QuestionChoice =
    choice('n', ChoicePick::Stop, words::PICK_HALT, words::PICK_STOP_SHORT);
const READ_ONLY: QuestionChoice =
    choice('n', ChoicePick::Reject, words::PICK_READ_ONLY, words::PICK_READ_ONLY_SHORT);
const TRUST: QuestionChoice =
    lasting('t', ChoicePick::Run, words::PICK_TRUST, words::PICK_TRUST_SHORT);
const TRUST_ABOVE: QuestionChoice =
    lasting('a', ChoicePick::All, words::PICK_TRUST_ABOVE, words::PICK_TRUST_ABOVE_SHORT);
/// In the question about a step: trust the folder first, then assess the step again.
const TRUST_FIRST: QuestionChoice =
    lasting('t', ChoicePick::Trust, words::PICK_TRUST_FIRST, words::PICK_TRUST_SHORT);
const LEAVE: QuestionChoice = choice('x', ChoicePick::Stop, words::PICK_LEAVE, common::QUIT);
const NONE: QuestionChoice = choice('n', ChoicePick::Reject, prompt::PICK_NONE, words::PICK_REJECT);
/// The marked shell pieces.
const MARKED: QuestionChoice =
    choice('y', ChoicePick::All, prompt::PICK_MARKED, prompt::PICK_MARKED_SHORT);
const GO_ON: QuestionChoice =
    choice('y', ChoicePick::Continue, words::PICK_GO_ON, words::PICK_GO_ON);

/// The care that an approval takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Plain,
    /// An L2 step: only its capital letter runs it.
    HighRisk,
}

/// The choices in order, and the one that Enter confirms.
#[derive(Clone, Debug)]
pub struct Choices {
    rows: Vec<QuestionChoice>,
    chosen: usize,
    /// The choice selected until the user moves.
    default: usize,
    /// The steps that "all" includes besides the one in question.
    batch_steps: Vec<String>,
    /// The cursor is elsewhere: no choice looks selected.
    is_cursor_elsewhere: bool,
    /// Keys go elsewhere for now: no choice looks selected either.
    is_inactive: bool,
}

impl Choices {
    /// The choices for a step. `remember`: a rule can be saved.
    pub fn for_step(care: Severity, remember: bool) -> Choices {
        let rows = match (care, remember) {
            (Severity::HighRisk, _) => vec![REJECT, WORD, STOP, EDIT, RUN_GRAVE],
            (Severity::Plain, false) => vec![REJECT, WORD, STOP, EDIT, RUN],
            (Severity::Plain, true) => vec![REJECT, WORD, STOP, EDIT, RUN, SESSION, PROJECT],
        };
        Choices::from_rows(rows)
    }

    /// Offers to approve the following steps as well.
    #[must_use]
    pub fn with_all(mut self, rest: Vec<String>) -> Choices {
        let behind = self.rows.iter().position(|row| row.pick == ChoicePick::Run);
        self.rows.insert(behind.map_or(self.rows.len(), |run| run + 1), ALL);
        self.batch_steps = rest;
        self
    }

    /// Offers trust in the folder.
    #[must_use]
    pub fn with_trust(mut self, offered: bool) -> Choices {
        self.rows.extend(offered.then_some(TRUST_FIRST));
        self
    }

    pub fn batch_steps(&self) -> &[String] {
        &self.batch_steps
    }

    fn from_rows(rows: Vec<QuestionChoice>) -> Choices {
        Choices {
            rows,
            chosen: 0,
            default: 0,
            batch_steps: Vec::new(),
            is_cursor_elsewhere: false,
            is_inactive: false,
        }
    }

    /// The choices for a shell line.
    pub fn for_shell(care: Severity) -> Choices {
        let run = if care == Severity::HighRisk { RUN_GRAVE } else { RUN };
        Choices::from_rows(vec![REJECT, EDIT, run])
    }

    /// The choices for the shell pieces of a template.
    pub fn for_template() -> Choices {
        Choices::from_rows(vec![NONE, MARKED])
    }

    /// Sets the steps that "all" includes.
    pub fn set_batch_steps(&mut self, rest: Vec<String>) {
        self.batch_steps = rest;
    }

    /// The cursor leaves or comes back.
    pub fn set_cursor_elsewhere(&mut self, left: bool) {
        self.is_cursor_elsewhere = left;
    }

    /// Keys go elsewhere or come back.
    pub fn set_inactive(&mut self, rests: bool) {
        self.is_inactive = rests;
    }

    /// Selects a choice.
    pub fn mark(&mut self, choice: &QuestionChoice) {
        if let Some(at) = self.rows.iter().position(|row| row.letter == choice.letter) {
            self.chosen = at;
        }
    }

    /// Restores the first selection: keys pressed meanwhile may have been the first letters of
    /// something else.
    pub fn reset(&mut self) {
        self.chosen = self.default;
    }

    pub fn first(&mut self) {
        self.chosen = 0;
    }

    pub fn last(&mut self) {
        self.chosen = self.rows.len().saturating_sub(1);
    }

    pub fn is_first(&self) -> bool {
        self.chosen == 0
    }

    pub fn is_last(&self) -> bool {
        self.chosen + 1 >= self.rows.len()
    }

    /// The choices for a pause of the turn.
    pub fn for_pause() -> Choices {
        Choices::from_rows(vec![HALT, GO_ON])
    }

    /// The choices for trust in the folder. The current state is selected.
    pub fn for_trust(above: Option<String>, trusted: bool) -> Choices {
        let mut choices = match above {
            Some(above) => {
                let rows = vec![READ_ONLY, TRUST, TRUST_ABOVE, LEAVE];
                Choices { batch_steps: vec![above], ..Choices::from_rows(rows) }
            }
            None => Choices::from_rows(vec![READ_ONLY, TRUST, LEAVE]),
        };
        if trusted {
            choices.mark(&TRUST);
            choices.default = choices.chosen;
        }
        choices
    }

    /// It is about a folder; without approval only reads are allowed there.
    pub fn is_trust(&self) -> bool {
        self.rows.iter().any(|row| row.label == words::PICK_READ_ONLY)
    }

    /// True when there is nothing that could be rejected.
    pub fn has_nothing_to_reject(&self) -> bool {
        self.rows.iter().all(|row| matches!(row.pick, ChoicePick::Stop | ChoicePick::Continue))
    }

    /// The keys worth showing.
    pub fn hints(&self) -> &'static [KeyHint] {
        let marks =
            self.rows.iter().any(|row| row.pick == ChoicePick::All && row.letter == MARKED.letter);
        match (self.has_nothing_to_reject(), marks) {
            (true, _) => PAUSING,
            (false, _) if self.is_trust() => TRUSTING,
            (false, true) => MARKING,
            (false, false) => CHOOSING,
        }
    }

    pub fn next(&mut self) {
        self.chosen = (self.chosen + 1) % self.rows.len().max(1);
    }

    pub fn previous(&mut self) {
        self.chosen = (self.chosen + self.rows.len().saturating_sub(1)) % self.rows.len().max(1);
    }

    /// The choice that Enter confirms.
    pub fn chosen(&self) -> Option<QuestionChoice> {
        self.rows.get(self.chosen).copied()
    }

    /// The choice of a letter or a digit. The caller checks for the exact letter, which matters for
    /// high-risk steps.
    pub fn choice_for_key(&self, key: &KeyEvent) -> Option<QuestionChoice> {
        let typed = keys::letter(key)?;
        if let Some(digit) = typed.to_digit(10) {
            let at = usize::try_from(digit).ok()?.checked_sub(1)?;
            return self.rows.get(at).copied();
        }
        self.rows.iter().find(|row| row.letter.eq_ignore_ascii_case(&typed)).copied()
    }

    /// In columns, with the full labels.
    pub fn grid(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let cells: Vec<_> =
            (0..self.rows.len()).map(|at| self.cell(at, LabelLength::Full, pen)).collect();
        let high = cells.len().div_ceil(2).max(4);
        let (left, right) = cells.split_at(high.min(cells.len()));
        let widest = |cells: &[Line<'_>]| cells.iter().map(Line::width).max().unwrap_or(0);
        let column = widest(left) + 3;
        if right.is_empty() || column + widest(right) > width + 2 {
            return cells;
        }
        left.iter()
            .enumerate()
            .map(|(row, line)| {
                let mut line = line.clone();
                if let Some(other) = right.get(row) {
                    line.spans.push(Span::raw(" ".repeat(column.saturating_sub(line.width()))));
                    line.spans.extend(other.spans.clone());
                }
                line
            })
            .collect()
    }

    /// One after the other, with the short labels.
    pub fn flow(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        for at in 0..self.rows.len() {
            let cell = self.cell(at, LabelLength::Short, pen);
            match lines.last_mut() {
                Some(line) if line.width() + 1 + cell.width() <= width => {
                    line.spans.push(Span::raw(" "));
                    line.spans.extend(cell.spans);
                }
                _ => lines.push(cell),
            }
        }
        lines
    }

    fn cell(&self, at: usize, room: LabelLength, pen: &DrawContext<'_>) -> Line<'static> {
        let Some(row) = self.rows.get(at) else { return Line::default() };
        let chosen = at == self.chosen && !self.is_cursor_elsewhere && !self.is_inactive;
        let (sigil, style) =
            if chosen { (CHOSEN, pen.theme.selection) } else { (NOT_CHOSEN, pen.theme.text) };
        let letter = style.patch(pen.theme.accent).add_modifier(Modifier::BOLD);
        let letter = if chosen { style.add_modifier(Modifier::BOLD) } else { letter };
        let label = match room {
            LabelLength::Full => row.label,
            LabelLength::Short => row.short,
        };
        Line::from(vec![
            Span::styled(sigil, pen.theme.accent),
            Span::styled(format!("{} ", row.letter), letter),
            Span::styled(format!(" {} ", label.text(pen.lang)), style),
        ])
    }
}

enum LabelLength {
    Full,
    Short,
}

/// Whether a letter answers some question, if not this one: the user then meant to answer.
pub fn is_answer_letter(typed: char) -> bool {
    let rows = [REJECT, WORD, STOP, EDIT, RUN, ALL, SESSION, PROJECT, TRUST_FIRST];
    typed.is_ascii_digit() || rows.iter().any(|row| row.letter.eq_ignore_ascii_case(&typed))
}

/// The letters, for help.
pub fn letters() -> Vec<(char, Phrase)> {
    [REJECT, WORD, STOP, EDIT, RUN, ALL, SESSION, PROJECT, RUN_GRAVE]
        .iter()
        .map(|row| (row.letter, row.label))
        .collect()
}

const MARKING: &[KeyHint] = &[
    KeyHint { key: "Space", action: prompt::HINT_MARK },
    KeyHint { key: "Enter", action: words::HINT_CHOOSE },
    KeyHint { key: "Esc", action: common::REJECT },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", action: words::HINT_SCROLL },
];
const CHOOSING: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_CHOOSE },
    KeyHint { key: "Esc", action: common::REJECT },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", action: words::HINT_SCROLL },
    KeyHint { key: "F1", action: words::HINT_HELP },
];
const TRUSTING: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_CHOOSE },
    KeyHint { key: "Esc", action: words::HINT_AS_IT_IS },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "F1", action: words::HINT_HELP },
];
const PAUSING: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_CHOOSE },
    KeyHint { key: "Esc", action: common::STOP_HERE },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", action: words::HINT_SCROLL },
];
