//! The choices of a question, by letter, digit and arrows. The safe one is selected until the user
//! moves.

use crossterm::event::KeyEvent;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog_frame::MEASURE;
use crate::draw::DrawContext;
use crate::keys::{KeyAction, KeyContext};
use crate::status::KeyHint;
use crate::symbols::{CHOSEN, NOT_CHOSEN};
use crate::{keys, text};
use avocet_core::i18n::{LocalizedText, Phrase, common, prompt, screen as words};
use avocet_core::text::escape;
use avocet_present::{ChoicePick, QuestionKind, QuestionOffer, Severity};

/// One row: its letter, its label, and a short label for narrow dialogs.
#[derive(Clone, Copy, Debug)]
pub struct QuestionChoice {
    pub letter: char,
    pub pick: ChoicePick,
    pub label: Phrase,
    pub short: Phrase,
}

/// How a choice looks in a question.
fn row(kind: QuestionKind, severity: Severity, pick: ChoicePick) -> QuestionChoice {
    use ChoicePick as Pick;
    use QuestionKind as Kind;
    // A high-risk step takes a capital letter, so that habit cannot answer it.
    let run = if severity == Severity::HighRisk { 'Y' } else { 'y' };
    let (letter, label, short) = match (pick, kind) {
        (Pick::Reject, Kind::Template) => ('n', prompt::PICK_NONE, common::NO),
        (Pick::Reject, Kind::Trust) => ('n', words::PICK_READ_ONLY, words::PICK_READ_ONLY_SHORT),
        (Pick::Reject, _) => ('n', common::NO, common::NO),
        (Pick::RejectWithReason, _) => ('w', words::PICK_WORD, words::PICK_WORD_SHORT),
        (Pick::Stop, Kind::Pause) => ('n', words::PICK_HALT, words::PICK_STOP_SHORT),
        (Pick::Stop, Kind::Trust) => ('x', words::PICK_LEAVE, common::QUIT),
        (Pick::Stop, _) => ('x', words::PICK_STOP, words::PICK_STOP_SHORT),
        (Pick::Edit, _) => ('e', words::PICK_EDIT, words::PICK_EDIT_SHORT),
        (Pick::Run, Kind::Change) if run == 'Y' => {
            (run, words::PICK_APPLY_GRAVE, words::PICK_APPLY)
        }
        (Pick::Run, Kind::Change) => (run, words::PICK_APPLY, words::PICK_APPLY),
        (Pick::Run, Kind::Unconfined) => (run, words::PICK_FREE, words::PICK_WITHOUT_SHORT),
        (Pick::Run, _) if run == 'Y' => (run, words::PICK_RUN_GRAVE, words::PICK_RUN_SHORT),
        (Pick::Run, Kind::Denied) => (run, words::PICK_AGAIN, words::PICK_AGAIN_SHORT),
        (Pick::Run, _) => (run, words::PICK_RUN, words::PICK_RUN_SHORT),
        (Pick::All, _) => ('a', words::PICK_ALL, words::PICK_ALL_SHORT),
        (Pick::AcceptEdits, _) => ('s', words::PICK_APPLY_EDITS, words::PICK_APPLY_EDITS_SHORT),
        (Pick::Session, Kind::Denied) => {
            ('s', words::PICK_AGAIN_SESSION, words::PICK_AGAIN_SESSION_SHORT)
        }
        (Pick::WithoutSandbox, _) => ('u', words::PICK_WITHOUT, words::PICK_WITHOUT_SHORT),
        (Pick::Session, _) => ('s', words::PICK_SESSION, words::PICK_SESSION_SHORT),
        (Pick::Project, _) => ('p', words::PICK_PROJECT, words::PICK_PROJECT_SHORT),
        (Pick::TrustFirst, _) => ('t', words::PICK_TRUST_FIRST, words::PICK_TRUST_SHORT),
        (Pick::Trust, _) => ('t', words::PICK_TRUST, words::PICK_TRUST_SHORT),
        (Pick::TrustAbove, _) => ('a', words::PICK_TRUST_ABOVE, words::PICK_TRUST_ABOVE_SHORT),
        (Pick::Continue, _) => ('y', words::PICK_GO_ON, words::PICK_GO_ON),
        // All of them at once: each has a mark.
        (Pick::Each, _) => ('y', prompt::PICK_MARKED, prompt::PICK_MARKED_SHORT),
    };
    QuestionChoice { letter, pick, label, short }
}

/// The choices in order, and the one that Enter confirms.
#[derive(Clone, Debug)]
pub struct Choices {
    rows: Vec<QuestionChoice>,
    /// The first ones have rows; the rest have only their letters.
    shown: usize,
    chosen: usize,
    /// The choice selected until the user moves.
    default: usize,
    pub offer: QuestionOffer,
    /// What a lasting choice covers.
    note: Vec<LocalizedText>,
    /// The cursor is elsewhere: no choice looks selected.
    is_cursor_elsewhere: bool,
    /// Keys go elsewhere for now: no choice looks selected either.
    is_inactive: bool,
}

impl Choices {
    pub fn new(offer: QuestionOffer) -> Choices {
        // Here the marks say which commands of a template run.
        let shown =
            |pick: &&ChoicePick| offer.kind != QuestionKind::Template || **pick != ChoicePick::Run;
        let row = |pick: &ChoicePick| row(offer.kind, offer.severity, *pick);
        let mut rows: Vec<_> = offer.picks.iter().filter(shown).map(row).collect();
        let mut shown = rows.len();
        if is_about_step(offer.kind) {
            rows.sort_by_key(|row| STEP_PICKS.iter().position(|pick| *pick == row.pick));
            let takes_words = offer.picks.contains(&ChoicePick::RejectWithReason);
            if offer.is_usual() && takes_words {
                // Where yes is usual, one row says no and takes words; Esc only says no.
                rows.retain(|row| row.pick != ChoicePick::Reject);
                let no = rows.iter_mut().filter(|row| row.pick == ChoicePick::RejectWithReason);
                no.for_each(|row| row.letter = 'n');
            }
            shown = rows.iter().filter(|row| !KEYED.contains(&row.pick)).count();
        }
        let default = rows.iter().position(|row| Some(row.pick) == offer.marked).unwrap_or(0);
        Choices {
            rows,
            shown,
            chosen: default,
            default,
            offer,
            note: Vec::new(),
            is_cursor_elsewhere: false,
            is_inactive: false,
        }
    }

    /// Selects this choice until the user moves.
    #[must_use]
    pub fn with_default(mut self, pick: ChoicePick) -> Choices {
        self.default = self.rows.iter().position(|row| row.pick == pick).unwrap_or(0);
        self.chosen = self.default;
        self
    }

    /// Shows what a lasting choice covers while it is marked.
    #[must_use]
    pub fn with_note(mut self, note: Vec<LocalizedText>) -> Choices {
        self.note = note;
        self
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
        self.chosen = self.shown.saturating_sub(1);
    }

    pub fn is_first(&self) -> bool {
        self.chosen == 0
    }

    pub fn is_last(&self) -> bool {
        self.chosen + 1 >= self.shown
    }

    /// The keys worth showing.
    pub fn hints(&self) -> &'static [KeyHint] {
        match self.offer.kind {
            QuestionKind::Shell if self.offer.severity == Severity::Plain => TYPED,
            QuestionKind::Step
            | QuestionKind::Change
            | QuestionKind::Denied
            | QuestionKind::Unconfined => match self.offer.severity {
                Severity::Plain => CHOOSING,
                Severity::HighRisk => HIGH_RISK,
            },
            QuestionKind::Shell => TYPED_HIGH_RISK,
            QuestionKind::Pause => PAUSING,
            QuestionKind::Trust => TRUSTING,
            QuestionKind::Template => MARKING,
            QuestionKind::Plan | QuestionKind::Model => OTHER,
        }
    }

    pub fn next(&mut self) {
        self.chosen = (self.chosen + 1) % self.shown.max(1);
    }

    pub fn previous(&mut self) {
        self.chosen = (self.chosen + self.shown.saturating_sub(1)) % self.shown.max(1);
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
            return self.rows.get(at).filter(|_| at < self.shown).copied();
        }
        let is_typed = |row: &&QuestionChoice| row.letter.eq_ignore_ascii_case(&typed);
        let is_word =
            |row: &&QuestionChoice| row.pick == ChoicePick::RejectWithReason && typed == 'w';
        self.rows.iter().find(is_typed).or_else(|| self.rows.iter().find(is_word)).copied()
    }

    /// Whether more about the question can be shown by key; with high risk all of it always is.
    pub fn has_details(&self) -> bool {
        is_about_step(self.offer.kind) && self.offer.severity == Severity::Plain
    }

    /// One below the other, with the full labels; below a marked one that lasts, what it covers.
    pub fn grid(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let rule = self.offer.rule.as_deref().unwrap_or_default();
        let rows = self.rows.iter().take(self.shown).enumerate();
        rows.flat_map(|(at, row)| {
            let label = row.label.with("rule", escape(rule).text);
            let label = label.with("n", self.offer.batch.len() + 1).text(pen.lang);
            let digit = (self.offer.kind != QuestionKind::Template).then_some(at + 1);
            let chosen = self.is_chosen(at);
            let mut lines = choice_rows(digit, &label, row.letter, chosen, width, pen);
            let note = self.note.iter().filter(|_| chosen && row.pick.is_lasting());
            lines.extend(note.flat_map(|say| {
                let rows = text::wrap(
                    &pen.keymap.with_keys(say.clone()).text(pen.lang),
                    width.min(MEASURE).saturating_sub(LEAD + TAIL),
                );
                let row = |row| Line::styled(format!("{}{row}", " ".repeat(LEAD)), pen.theme.dim);
                rows.into_iter().map(row)
            }));
            lines
        })
        .collect()
    }

    /// One after the other, with the short labels.
    pub fn flow(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        for at in 0..self.rows.len() {
            let mut cell = self.cell(at, width, pen);
            match (lines.last_mut(), &mut cell[..]) {
                (Some(line), [only]) if line.width() + 1 + only.width() <= width => {
                    line.spans.push(Span::raw(" "));
                    line.spans.append(&mut only.spans);
                }
                _ => lines.extend(cell),
            }
        }
        lines
    }

    /// On one row: the marked choice, and the letters of the others as far as they fit.
    pub fn row(&self, width: usize, pen: &DrawContext<'_>) -> Line<'static> {
        let chosen = self.cell(self.chosen, width, pen);
        let mut line = chosen.into_iter().next().unwrap_or_default();
        for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| *at != self.chosen) {
            let letter = self.style(at, pen).patch(pen.theme.accent).add_modifier(Modifier::BOLD);
            if line.width() + 2 <= width {
                line.spans.push(Span::styled(format!(" {}", row.letter), letter));
            }
        }
        line
    }

    fn is_chosen(&self, at: usize) -> bool {
        at == self.chosen && !self.is_cursor_elsewhere && !self.is_inactive
    }

    fn style(&self, at: usize, pen: &DrawContext<'_>) -> Style {
        if self.is_chosen(at) { pen.theme.chosen() } else { pen.theme.text }
    }

    /// The mark, the letter, and the short label, which wraps in its own column.
    fn cell(&self, at: usize, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let Some(row) = self.rows.get(at) else { return Vec::new() };
        let sigil = if self.is_chosen(at) { CHOSEN } else { NOT_CHOSEN };
        let style = self.style(at, pen);
        let letter = style.patch(pen.theme.accent).add_modifier(Modifier::BOLD);
        let rule = self.offer.rule.as_deref().unwrap_or_default();
        let label = row.short.with("rule", escape(rule).text).text(pen.lang);
        let lead = text::width(CHOSEN) + 3;
        let mut rows = text::wrap(&label, width.saturating_sub(lead + 1)).into_iter();
        let first = Line::from(vec![
            Span::styled(sigil, style.patch(pen.theme.accent)),
            Span::styled(row.letter.to_string(), letter),
            Span::styled(format!("  {} ", rows.next().unwrap_or_default()), style),
        ]);
        let rest = rows.map(|row| Line::styled(format!("{}{row} ", " ".repeat(lead)), style));
        std::iter::once(first).chain(rest).collect()
    }
}

/// Columns before a label: the mark and the digit.
const LEAD: usize = 5;
/// Columns after it: a gap and the letter.
const TAIL: usize = 3;

/// The rows of a choice: its digit, its label, and its letter at the right edge.
pub fn choice_rows(
    digit: Option<usize>,
    label: &str,
    letter: char,
    chosen: bool,
    width: usize,
    pen: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let style = if chosen { pen.theme.chosen() } else { pen.theme.text };
    let key = style.patch(pen.theme.accent).add_modifier(Modifier::BOLD);
    let sigil = if chosen { CHOSEN } else { NOT_CHOSEN };
    let digit = digit.filter(|digit| *digit < 10).map(|digit| digit.to_string());
    let room = width.min(MEASURE).saturating_sub(LEAD + TAIL);
    let rows = text::wrap(label, room.max(1)).into_iter().enumerate();
    rows.map(|(at, row)| {
        let (sigil, digit, letter) = match at {
            0 => (sigil, digit.as_deref().unwrap_or(" "), letter),
            _ => (NOT_CHOSEN, " ", ' '),
        };
        let pad = room.saturating_sub(text::width(&row)) + TAIL - 1;
        Line::from(vec![
            Span::styled(sigil, style.patch(pen.theme.accent)),
            Span::styled(format!("{digit}  "), key),
            Span::styled(format!("{row}{}", " ".repeat(pad)), style),
            Span::styled(letter.to_string(), key),
        ])
    })
    .collect()
}

/// Whether the choices are those about a step.
fn is_about_step(kind: QuestionKind) -> bool {
    use QuestionKind as Kind;
    matches!(kind, Kind::Step | Kind::Change | Kind::Denied | Kind::Unconfined | Kind::Shell)
}

/// Choices named beside the keys instead of in a row.
const KEYED: [ChoicePick; 2] = [ChoicePick::Edit, ChoicePick::Stop];

/// Every choice about a step, in the order of their rows.
const STEP_PICKS: [ChoicePick; 11] = [
    ChoicePick::Run,
    ChoicePick::All,
    ChoicePick::AcceptEdits,
    ChoicePick::Session,
    ChoicePick::Project,
    ChoicePick::TrustFirst,
    ChoicePick::WithoutSandbox,
    ChoicePick::RejectWithReason,
    ChoicePick::Reject,
    ChoicePick::Edit,
    ChoicePick::Stop,
];

/// Whether a letter answers some question, if not this one: the user then meant to answer.
pub fn is_answer_letter(typed: char) -> bool {
    let answers = |pick| row(QuestionKind::Step, Severity::Plain, pick).letter;
    typed.is_ascii_digit() || STEP_PICKS.map(answers).contains(&typed.to_ascii_lowercase())
}

/// The letters, for help.
pub fn letters() -> Vec<(char, LocalizedText)> {
    let row = |(severity, pick)| row(QuestionKind::Step, severity, pick);
    let rare = [ChoicePick::AcceptEdits, ChoicePick::TrustFirst, ChoicePick::WithoutSandbox];
    let plain = STEP_PICKS.into_iter().filter(move |pick| !rare.contains(pick));
    let plain = plain.map(|pick| (Severity::Plain, pick));
    let rows = plain.chain([(Severity::HighRisk, ChoicePick::Run)]).map(row);
    rows.map(|row| (row.letter, row.label.with("rule", LocalizedText::from(words::PICK_SUCH))))
        .collect()
}

const fn selects() -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, words::HINT_CHOOSE)
}

const fn closes(does: Phrase) -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Close, does)
}

const NO: KeyHint = closes(words::HINT_NO);
/// Letters of choices.
const STOP: KeyHint = KeyHint::typed("x", common::STOP_TURN);
const EDIT: KeyHint = KeyHint::typed("e", common::HINT_EDIT);
const DETAILS: KeyHint =
    KeyHint::bound(KeyContext::Question, KeyAction::Details, words::HINT_DETAILS);
const HELP: KeyHint = KeyHint::bound(KeyContext::Anywhere, KeyAction::Help, words::HINT_HELP);
const MOVE: KeyHint = KeyHint::pair(KeyContext::Question, words::HINT_MOVE);
const SCROLL: KeyHint = KeyHint::pages(KeyContext::Question, words::HINT_SCROLL);
const MARKING: &[KeyHint] = &[
    KeyHint::bound(KeyContext::Question, KeyAction::More, prompt::HINT_MARK),
    selects(),
    NO,
    MOVE,
    SCROLL,
];
const CHOOSING: &[KeyHint] = &[EDIT, DETAILS, NO, STOP];
const HIGH_RISK: &[KeyHint] = &[EDIT, NO, STOP];
/// About a line that the user typed.
const TYPED: &[KeyHint] = &[EDIT, DETAILS, NO];
const TYPED_HIGH_RISK: &[KeyHint] = &[EDIT, NO];
const OTHER: &[KeyHint] = &[selects(), NO, HELP];
const TRUSTING: &[KeyHint] = &[selects(), closes(words::HINT_AS_IT_IS), MOVE, HELP];
const PAUSING: &[KeyHint] = &[selects(), closes(common::STOP_HERE), MOVE, SCROLL];
