//! The dialog that asks whether the shell pieces of a template may run: all of them at once, each
//! with its simple commands and their tiers, each with its own mark. A high-risk piece is not
//! marked until its own capital letter marks it.

use crossterm::event::KeyEvent;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog::{QuestionContent, QuestionDialog};
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use super::step_details::{self, StepDetails};
use crate::draw::{self, DrawContext};
use crate::keys::{self, KeyAction, KeyContext};
use crate::{symbols, text};
use avocet_core::i18n::{common, prompt as phrases};
use avocet_core::protocol::{AskId, StepAction, TemplateCommand};
use avocet_core::text::escape;
use avocet_present::flow::QuestionFlow;

/// Columns before the line of a piece.
const COLUMN: usize = 8;

#[derive(Debug)]
struct TemplateQuestion {
    template: String,
    cwd: String,
    rows: Vec<TemplateCommandRow>,
    /// The piece under the cursor; `None`: the cursor is on the choices.
    cursor: Option<usize>,
}

#[derive(Debug)]
struct TemplateCommandRow {
    command: TemplateCommand,
    marked: bool,
    /// Its first row on the page, when last drawn.
    line: usize,
}

impl QuestionContent for TemplateQuestion {
    /// Whether a key moved among the pieces or marked one.
    fn handle_own_key(&mut self, question: &mut QuestionState, key: &KeyEvent) -> bool {
        let typed = keys::letter(key);
        if let Some(digit) = typed.and_then(|c| c.to_digit(10)) {
            let at = usize::try_from(digit).ok().and_then(|digit| digit.checked_sub(1));
            let Some(at) = at.filter(|at| *at < self.rows.len()) else { return true };
            self.move_cursor(question, Some(at));
            self.toggle(question, at);
            return true;
        }
        let Some(action) = keys::action(KeyContext::Question, key) else {
            return match self.cursor {
                Some(at) if typed == Some('Y') && self.is_high_risk(at) => {
                    self.set_marked(question, at, true);
                    true
                }
                _ => false,
            };
        };
        match (action, self.cursor) {
            (KeyAction::More | KeyAction::Accept, Some(at)) => self.toggle(question, at),
            (KeyAction::Next, Some(at)) if at + 1 < self.rows.len() => {
                self.move_cursor(question, Some(at + 1))
            }
            (KeyAction::Next, Some(_)) => {
                question.choices.flow.mark_row(0);
                self.move_cursor(question, None);
            }
            (KeyAction::Previous, Some(at)) => match at.checked_sub(1) {
                Some(at) => self.move_cursor(question, Some(at)),
                None => {
                    question.choices.flow.mark_row(usize::MAX);
                    self.move_cursor(question, None);
                }
            },
            (KeyAction::Next, None) if question.choices.flow.is_last() => {
                self.move_cursor(question, Some(0))
            }
            (KeyAction::Previous, None) if question.choices.flow.is_first() => {
                self.move_cursor(question, self.rows.len().checked_sub(1));
            }
            _ => return false,
        }
        true
    }

    fn body(&mut self, _: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        let worst = self
            .rows
            .iter()
            .map(|row| &row.command.risk)
            .max_by_key(|risk| (risk.tier, risk.lifted));
        let of = text::elide_middle(&escape(&self.template).text, width / 2);
        let mut page = DialogPage {
            title: phrases::PIECES_TITLE.with("of", of).text(cx.lang),
            badge: worst.map_or_else(String::new, |risk| step_details::badge(risk, cx)),
            tone: worst.map_or(cx.theme.dim, |risk| step_details::tone(risk, cx)),
            ..DialogPage::default()
        };
        for at in 0..self.rows.len() {
            let rows = self.command_rows(at, width, cx);
            if let Some(row) = self.rows.get_mut(at) {
                row.line = page.required.len();
            }
            page.required.extend(rows);
        }
        page.required.push(Line::default());
        let mut details = StepDetails::new(width, false, cx);
        details.push_text(common::FOLDER, &self.cwd, cx.theme.text, cx);
        page.required.extend(details.into_rows());
        page
    }
}

pub fn dialog(
    id: AskId,
    flow: QuestionFlow,
    of: String,
    cwd: String,
    pieces: Vec<TemplateCommand>,
) -> QuestionDialog {
    let rows = pieces.into_iter().map(|piece| TemplateCommandRow {
        marked: !piece.is_high_risk(),
        command: piece,
        line: 0,
    });
    let mut question = QuestionState::new(id, flow);
    let content = TemplateQuestion { template: of, cwd, rows: rows.collect(), cursor: None };
    content.update_batch(&mut question);
    QuestionDialog::new(question, content)
}

impl TemplateQuestion {
    fn move_cursor(&mut self, question: &mut QuestionState, at: Option<usize>) {
        self.cursor = at;
        question.choices.set_cursor_elsewhere(at.is_some());
        if let Some(row) = at.and_then(|at| self.rows.get(at)) {
            question.reveal(row.line);
        }
    }

    fn is_high_risk(&self, at: usize) -> bool {
        self.rows.get(at).is_some_and(|row| row.command.is_high_risk())
    }

    fn toggle(&mut self, question: &mut QuestionState, at: usize) {
        let marked = self.rows.get(at).is_some_and(|row| row.marked);
        if !marked && self.is_high_risk(at) {
            question.refuse(phrases::PIECE_CAPITAL);
        } else {
            self.set_marked(question, at, !marked);
        }
    }

    fn set_marked(&mut self, question: &mut QuestionState, at: usize, marked: bool) {
        if let Some(row) = self.rows.get_mut(at) {
            row.marked = marked;
        }
        question.clear_refusal();
        self.update_batch(question);
    }

    /// Tells the choices which pieces "run the marked ones" includes.
    fn update_batch(&self, question: &mut QuestionState) {
        let marked = self.rows.iter().filter(|row| row.marked);
        question.choices.flow.offer.batch = marked.map(|row| row.command.id.clone()).collect();
    }

    /// The whole line after its mark and tier; below it its commands, and why it does more than
    /// read.
    fn command_rows(&self, at: usize, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let Some(TemplateCommandRow { command: piece, marked, .. }) = self.rows.get(at) else {
            return Vec::new();
        };
        let here = self.cursor == Some(at);
        let room = width.saturating_sub(COLUMN);
        let sigil = if here { symbols::CHOSEN } else { symbols::NOT_CHOSEN };
        let mark = if *marked { "[x]" } else { "[ ]" };
        let label = format!("{sigil}{mark} {} ", at + 1);
        let tone = step_details::tone(&piece.risk, cx).add_modifier(Modifier::BOLD);
        let tone = if here { cx.theme.selection.patch(tone) } else { tone };
        let work = StepAction::Shell { line: piece.line.clone() };
        let command = step_details::action_rows(&work, &piece.risk, room, cx);
        let command = step_details::with_tier(command, &piece.risk, room, cx);
        let mut rows = draw::label_lines(&label, tone, COLUMN, command);
        let indent = || Span::raw(" ".repeat(COLUMN));
        if piece.commands.len() > 1 {
            for simple in &piece.commands {
                let text =
                    step_details::full_rows(&simple.text, cx.theme.dim, room.saturating_sub(2), cx);
                let text = step_details::with_tier(text, &simple.risk, room.saturating_sub(2), cx);
                rows.extend(draw::label_lines("", cx.theme.dim, COLUMN + 2, text));
            }
        }
        let why =
            piece.risk.main_reason().filter(|_| piece.risk.tier > avocet_core::protocol::Tier::L0);
        let why = why.map(|why| why.text(cx.lang)).into_iter();
        let grave = piece.is_high_risk().then(|| phrases::PIECE_GRAVE.text(cx.lang).to_owned());
        for text in why.chain(grave) {
            for row in text::wrap(&text, room) {
                rows.push(Line::from(vec![indent(), Span::styled(row, cx.theme.dim)]));
            }
        }
        rows
    }
}
