//! The rows of the choices of a question, and the keys named below them.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::draw::{DrawContext, MEASURE};
use crate::guard::FocusNotice;
use crate::keys::{KeyAction, KeyContext};
use crate::status::{HintKey, KeyHint, hint_line};
use crate::symbols::{CHOSEN, NOT_CHOSEN};
use crate::text;
use avocet_core::i18n::{LocalizedText, Phrase, common, prompt, screen as phrases};
use avocet_present::choices::QuestionChoice;
use avocet_present::flow::{FlowStage, QuestionFlow};
use avocet_present::{ChoicePick, QuestionKind, Severity};

/// The choices of a question as they are drawn.
#[derive(Clone, Debug)]
pub struct Choices {
    pub flow: QuestionFlow,
    /// What a lasting choice covers.
    note: Vec<LocalizedText>,
    /// The cursor is elsewhere: no choice looks selected.
    is_cursor_elsewhere: bool,
    /// Keys go elsewhere for now: no choice looks selected either.
    is_inactive: bool,
}

impl Choices {
    /// What the field is for.
    pub fn field_label(&self) -> Phrase {
        match (self.flow.stage(), self.flow.offer.kind) {
            (FlowStage::Editing, QuestionKind::Plan) => phrases::PLAN_EDIT,
            (FlowStage::Editing, _) => phrases::EDIT_LABEL,
            (_, QuestionKind::Plan) => phrases::PLAN_OTHER,
            (_, QuestionKind::Model) => phrases::CHOICE_OWN,
            (_, _) => phrases::WORD_LABEL,
        }
    }

    /// Whether it offers no answers, so that one is written.
    pub fn writes_only(&self) -> bool {
        let offer = &self.flow.offer;
        offer.kind == QuestionKind::Model && offer.answers.is_empty()
    }

    pub fn field_hints(&self) -> &'static [KeyHint] {
        let offer = &self.flow.offer;
        match (self.flow.stage(), offer.kind.is_about_step()) {
            (FlowStage::Editing, true) => EDITING,
            (_, true) => WORDING,
            (_, false) if self.writes_only() => WRITING_ONLY,
            (_, false) => WRITING,
        }
    }

    pub fn new(mut flow: QuestionFlow) -> Choices {
        if flow.offer.kind == QuestionKind::Template {
            // Here the marks say which commands of a template run.
            flow.offer.choices.retain(|row| row.pick != ChoicePick::Run);
        }
        Choices { flow, note: Vec::new(), is_cursor_elsewhere: false, is_inactive: false }
    }

    /// Shows what a lasting choice covers while it is marked.
    #[must_use]
    pub fn with_note(mut self, texts: Vec<LocalizedText>) -> Choices {
        self.note = texts;
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

    /// The keys worth showing.
    pub fn hints(&self) -> &'static [KeyHint] {
        let severity = self.flow.offer.severity;
        match self.flow.offer.kind {
            QuestionKind::Shell if severity == Severity::Plain => TYPED,
            QuestionKind::Step
            | QuestionKind::Change
            | QuestionKind::Denied
            | QuestionKind::Unconfined => match severity {
                Severity::Plain => CHOOSING,
                Severity::HighRisk => HIGH_RISK,
            },
            QuestionKind::Shell => TYPED_HIGH_RISK,
            QuestionKind::Pause => PAUSING,
            QuestionKind::Trust => TRUSTING,
            QuestionKind::Template => MARKING,
            QuestionKind::Plan | QuestionKind::Script | QuestionKind::Model => OTHER,
        }
    }

    /// Whether more about the question can be shown by key; with high risk all of it always is.
    pub fn has_details(&self) -> bool {
        let offer = &self.flow.offer;
        offer.kind.is_about_step() && offer.severity == Severity::Plain
    }

    /// One below the other, with the full labels; below a marked one that lasts, what it covers.
    pub fn grid(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let offer = &self.flow.offer;
        let rows = offer.rows().enumerate();
        rows.flat_map(|(at, row)| {
            let label = offer.named(row, row.label).text(cx.lang);
            let digit = (offer.kind != QuestionKind::Template).then_some(at + 1);
            let chosen = self.is_highlighted(row);
            let mut lines = choice_rows(digit, &label, row.letter, chosen, width, cx);
            let note = self.note.iter().filter(|_| chosen && offer.is_lasting(row.pick));
            lines.extend(note.flat_map(|say| {
                let rows = text::wrap(
                    &cx.keymap.with_keys(say.clone()).text(cx.lang),
                    width.min(MEASURE).saturating_sub(LEAD + TAIL),
                );
                let row = |row| Line::styled(format!("{}{row}", " ".repeat(LEAD)), cx.theme.dim);
                rows.into_iter().map(row)
            }));
            lines
        })
        .collect()
    }

    /// One after the other, with the short labels.
    pub fn short_rows(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        for row in &self.flow.offer.choices {
            let mut cell = self.cell(row, width, cx);
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
    pub fn row(&self, width: usize, cx: &DrawContext<'_>) -> Line<'static> {
        let marked = self.flow.marked();
        let chosen = marked.map(|row| self.cell(row, width, cx)).unwrap_or_default();
        let mut line = chosen.into_iter().next().unwrap_or_default();
        for row in self.flow.offer.choices.iter().filter(|row| Some(*row) != marked) {
            let letter = self.style(row, cx).patch(cx.theme.accent).add_modifier(Modifier::BOLD);
            if line.width() + 2 <= width {
                line.spans.push(Span::styled(format!(" {}", row.letter), letter));
            }
        }
        line
    }

    fn is_highlighted(&self, choice: &QuestionChoice) -> bool {
        self.flow.marked() == Some(choice) && !self.is_cursor_elsewhere && !self.is_inactive
    }

    fn style(&self, choice: &QuestionChoice, cx: &DrawContext<'_>) -> Style {
        if self.is_highlighted(choice) { cx.theme.chosen() } else { cx.theme.text }
    }

    /// The mark, the letter, and the short label, which wraps in its own column.
    fn cell(&self, row: &QuestionChoice, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let sigil = if self.is_highlighted(row) { CHOSEN } else { NOT_CHOSEN };
        let style = self.style(row, cx);
        let letter = style.patch(cx.theme.accent).add_modifier(Modifier::BOLD);
        let label = self.flow.offer.named(row, row.short).text(cx.lang);
        let lead = text::width(CHOSEN) + 3;
        let mut rows = text::wrap(&label, width.saturating_sub(lead + 1)).into_iter();
        let first = Line::from(vec![
            Span::styled(sigil, style.patch(cx.theme.accent)),
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
    cx: &DrawContext<'_>,
) -> Vec<Line<'static>> {
    let style = if chosen { cx.theme.chosen() } else { cx.theme.text };
    let key = style.patch(cx.theme.accent).add_modifier(Modifier::BOLD);
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
            Span::styled(sigil, style.patch(cx.theme.accent)),
            Span::styled(format!("{digit}  "), key),
            Span::styled(format!("{row}{}", " ".repeat(pad)), style),
            Span::styled(letter.to_string(), key),
        ])
    })
    .collect()
}

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
    let answers = |pick| QuestionChoice::new(QuestionKind::Step, Severity::Plain, pick).letter;
    typed.is_ascii_digit() || STEP_PICKS.map(answers).contains(&typed.to_ascii_lowercase())
}

/// The letters, for help.
pub fn letters() -> Vec<(char, LocalizedText)> {
    let row = |(severity, pick)| QuestionChoice::new(QuestionKind::Step, severity, pick);
    let rare = [ChoicePick::AcceptEdits, ChoicePick::TrustFirst, ChoicePick::WithoutSandbox];
    let plain = STEP_PICKS.into_iter().filter(move |pick| !rare.contains(pick));
    let plain = plain.map(|pick| (Severity::Plain, pick));
    let rows = plain.chain([(Severity::HighRisk, ChoicePick::Run)]).map(row);
    rows.map(|row| (row.letter, row.label.with("rule", LocalizedText::from(phrases::PICK_SUCH))))
        .collect()
}

/// Where keys go, when that is not here.
pub fn listening_text(notice: FocusNotice) -> Option<Phrase> {
    match notice {
        FocusNotice::Waiting => Some(phrases::QUESTION_NOT_YET),
        FocusNotice::Draft => Some(phrases::QUESTION_TO_DRAFT),
        FocusNotice::Question | FocusNotice::QuestionWithDraft => None,
    }
}

/// The active keys, and the way back to a waiting draft.
pub fn with_draft(
    hints: &[KeyHint],
    notice: FocusNotice,
    width: usize,
    cx: &DrawContext<'_>,
) -> Line<'static> {
    if notice != FocusNotice::QuestionWithDraft {
        return hint_line(hints, cx, width);
    }
    let back = [KeyHint::typed("Tab", phrases::HINT_TO_DRAFT)];
    let closes = HintKey::Bound(KeyContext::Question, KeyAction::Close);
    let others = hints.iter().filter(|hint| hint.key != closes).copied();
    hint_line(&back.into_iter().chain(others).collect::<Vec<_>>(), cx, width)
}

const fn selects() -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, phrases::HINT_CHOOSE)
}

const fn closes(phrase: Phrase) -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Close, phrase)
}

const NO: KeyHint = closes(phrases::HINT_NO);
/// Letters of choices.
const STOP: KeyHint = KeyHint::typed("x", common::STOP_TURN);
const EDIT: KeyHint = KeyHint::typed("e", common::HINT_EDIT);
const DETAILS: KeyHint =
    KeyHint::bound(KeyContext::Question, KeyAction::Details, phrases::HINT_DETAILS);
const HELP: KeyHint = KeyHint::bound(KeyContext::Anywhere, KeyAction::Help, phrases::HINT_HELP);
const MOVE: KeyHint = KeyHint::pair(KeyContext::Question, phrases::HINT_MOVE);
const SCROLL: KeyHint = KeyHint::pages(KeyContext::Question, phrases::HINT_SCROLL);
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
const TRUSTING: &[KeyHint] = &[selects(), closes(phrases::HINT_AS_IT_IS), MOVE, HELP];
const PAUSING: &[KeyHint] = &[selects(), closes(common::STOP_HERE), MOVE, SCROLL];
/// Below the field of an edit.
const EDITING: &[KeyHint] = &below_field(phrases::HINT_RUN_THIS, phrases::HINT_BACK);
/// Below the field of a reason.
const WORDING: &[KeyHint] = &below_field(phrases::HINT_REJECT_WITH, phrases::HINT_BACK);
/// An answer in words.
const WRITING: &[KeyHint] = &below_field(phrases::HINT_SEND, phrases::HINT_BACK);
/// Where nothing else answers.
const WRITING_ONLY: &[KeyHint] = &below_field(phrases::HINT_SEND, phrases::CHOICE_NOTHING);

const fn below_field(accept: Phrase, close: Phrase) -> [KeyHint; 3] {
    [
        KeyHint::bound(KeyContext::Question, KeyAction::Accept, accept),
        closes(close),
        KeyHint::bound(KeyContext::Anywhere, KeyAction::Interrupt, common::STOP_TURN),
    ]
}
