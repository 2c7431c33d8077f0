//! The form of a script: a row for each value, and below them the field for the one that is being
//! filled in. Each value is checked when it is left, and all of them before they are sent.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::choice;
use super::dialog_frame::{self, DialogFrame, DialogPage, Foot};
use super::edit::{Field, handle_field_key};
use crate::composer::{Composer, ComposerStyle};
use crate::draw::DrawContext;
use crate::guard::FocusNotice;
use crate::keys::{self, KeyAction, KeyContext, ScrollAction};
use crate::status::KeyHint;
use crate::symbols::{CHOSEN, NOT_CHOSEN};
use crate::text;
use avocet_core::i18n::{Lang, LocalizedText, common, screen as phrases};
use avocet_core::protocol::{AskId, Decision, FormField, Op, QuestionOp};

/// Rows of the field that is being filled in, and columns of the names.
const FIELD: u16 = 4;
const WIDEST_NAME: usize = 20;

#[derive(Debug)]
pub struct FormDialog {
    pub id: AskId,
    script: String,
    entries: Vec<FormEntry>,
    current: usize,
    is_sent: bool,
    frame: DialogFrame,
    listening: FocusNotice,
}

#[derive(Debug)]
struct FormEntry {
    field: FormField,
    value: EntryValue,
    fault: Option<LocalizedText>,
}

#[derive(Debug)]
enum EntryValue {
    Typed(Box<Composer>),
    /// The values to choose from with their labels, and the chosen one.
    Chosen {
        options: Vec<(String, String)>,
        at: Option<usize>,
    },
}

impl FormEntry {
    fn new(field: FormField, lang: Lang) -> FormEntry {
        let clean = |text: &str| text::single_line(text);
        let field = FormField { name: clean(&field.name), about: clean(&field.about), ..field };
        let options = field.options(lang);
        let default = field.default.as_deref().unwrap_or_default();
        let value = if options.is_empty() {
            let mut composer = Composer::new(Vec::new());
            composer.set_text(default, lang);
            EntryValue::Typed(Box::new(composer))
        } else {
            let at = options.iter().position(|(value, _)| value == default);
            EntryValue::Chosen { options, at }
        };
        FormEntry { fault: field.fault.clone(), field, value }
    }

    fn text(&self) -> String {
        match &self.value {
            EntryValue::Typed(composer) => composer.full_text().trim().to_owned(),
            EntryValue::Chosen { options, at } => {
                let chosen = at.and_then(|at| options.get(at));
                chosen.map(|(value, _)| value.clone()).unwrap_or_default()
            }
        }
    }

    /// The value as its row shows it.
    fn label(&self) -> String {
        match &self.value {
            EntryValue::Typed(composer) => text::single_line(&composer.full_text()),
            EntryValue::Chosen { options, at } => {
                let chosen = at.and_then(|at| options.get(at));
                chosen.map(|(_, label)| text::single_line(label)).unwrap_or_default()
            }
        }
    }

    /// Checks the value. A field that was emptied has no default any more.
    fn check(&mut self, lang: Lang) -> bool {
        let field = FormField { default: None, ..self.field.clone() };
        self.fault = field.parse(&self.text(), lang).err();
        self.fault.is_none()
    }
}

impl FormDialog {
    pub fn new(id: AskId, script: &str, fields: Vec<FormField>, lang: Lang) -> FormDialog {
        let entries: Vec<_> = fields.into_iter().map(|field| FormEntry::new(field, lang)).collect();
        // Where something has to be done: at a fault, or at the first value that is missing.
        let faulty = entries.iter().position(|entry| entry.fault.is_some());
        let empty = entries.iter().position(|entry| entry.text().is_empty());
        FormDialog {
            id,
            script: text::single_line(script),
            current: faulty.or(empty).unwrap_or(0),
            entries,
            is_sent: false,
            frame: DialogFrame::default(),
            listening: FocusNotice::default(),
        }
    }

    /// Sets where keys go at the moment.
    pub fn set_listening(&mut self, notice: FocusNotice) {
        self.listening = notice;
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, action: ScrollAction) -> bool {
        self.frame.scroll(action, true)
    }

    pub fn key(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) {
            return self.send(Decision::Stop);
        }
        if self.is_sent {
            return ModalAction::Unhandled;
        }
        match key.code {
            KeyCode::Tab => return self.go(1, lang),
            KeyCode::BackTab => return self.go(-1, lang),
            _ => {}
        }
        let Some(entry) = self.entries.get_mut(self.current) else {
            return self.send(Decision::Reject { word: None });
        };
        match &mut entry.value {
            EntryValue::Typed(composer) => {
                if key.modifiers.is_empty() && composer.is_at_edge(key.code) {
                    match key.code {
                        KeyCode::Up => return self.go(-1, lang),
                        KeyCode::Down => return self.go(1, lang),
                        _ => {}
                    }
                }
                match handle_field_key(composer, key, lang) {
                    Field::Changed => entry.fault = None,
                    Field::Submitted => return self.confirm(lang),
                    Field::Cancelled => return self.send(Decision::Reject { word: None }),
                    Field::Unhandled => return ModalAction::Unhandled,
                }
            }
            EntryValue::Chosen { options, at } => {
                let count = options.len();
                let to = match (key.code, keys::letter(key)) {
                    (KeyCode::Up, _) => return self.go(-1, lang),
                    (KeyCode::Down, _) => return self.go(1, lang),
                    (KeyCode::Right | KeyCode::Char(' '), _) => {
                        Some(at.map_or(0, |at| (at + 1) % count))
                    }
                    (KeyCode::Left, _) => Some(at.map_or(count - 1, |at| (at + count - 1) % count)),
                    (_, Some(letter)) => option_of(options, letter),
                    _ => match keys::action(KeyContext::Input, key) {
                        Some(KeyAction::Send) => return self.confirm(lang),
                        _ if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Stop) => {
                            return self.send(Decision::Reject { word: None });
                        }
                        _ => return ModalAction::Unhandled,
                    },
                };
                if to.is_some() {
                    (*at, entry.fault) = (to, None);
                }
            }
        }
        ModalAction::Stay
    }

    pub fn paste(&mut self, text: &str, lang: Lang) {
        if let Some(entry) = self.entries.get_mut(self.current)
            && let EntryValue::Typed(composer) = &mut entry.value
        {
            composer.paste(text, lang);
            entry.fault = None;
        }
    }

    /// Goes to another field, once the value of this one has been checked.
    fn go(&mut self, by: isize, lang: Lang) -> ModalAction {
        let count = self.entries.len().max(1);
        if let Some(entry) = self.entries.get_mut(self.current)
            && !entry.text().is_empty()
        {
            entry.check(lang);
        }
        let step = by.rem_euclid(isize::try_from(count).unwrap_or(1));
        self.current = (self.current + usize::try_from(step).unwrap_or(0)) % count;
        ModalAction::Stay
    }

    /// Goes to the next field, or sends the form from the last one once every value is right.
    fn confirm(&mut self, lang: Lang) -> ModalAction {
        let is_right = self.entries.get_mut(self.current).is_some_and(|entry| entry.check(lang));
        if !is_right {
            return ModalAction::Stay;
        }
        if self.current + 1 < self.entries.len() {
            self.current += 1;
            return ModalAction::Stay;
        }
        for entry in &mut self.entries {
            entry.check(lang);
        }
        if let Some(at) = self.entries.iter().position(|entry| entry.fault.is_some()) {
            self.current = at;
            return ModalAction::Stay;
        }
        let values = self.entries.iter().map(FormEntry::text).collect();
        self.send(Decision::Fill { values })
    }

    fn send(&mut self, decision: Decision) -> ModalAction {
        self.is_sent = true;
        ModalAction::Send(Op::Question(QuestionOp::Decide { ask: self.id, decision }))
    }

    /// The rows of the form, and the row of the current field.
    fn rows(&self, width: usize, cx: &DrawContext<'_>) -> (Vec<Line<'static>>, usize) {
        let names = self.entries.iter().map(|entry| text::width(&entry.field.name));
        let wide = names.max().unwrap_or(0).min(WIDEST_NAME);
        let room = width.saturating_sub(wide + text::width(CHOSEN) + 2);
        let here = choice::listening_text(self.listening).is_none();
        let mut rows = Vec::new();
        let mut current = 0;

        for (at, entry) in self.entries.iter().enumerate() {
            let is_current = at == self.current && here;
            let style = if is_current { cx.theme.selection } else { cx.theme.text };
            let name = text::elide_end(&entry.field.name, wide);
            let gap = " ".repeat(wide - text::width(&name) + 2);
            let value = entry.label();
            let value = if value.is_empty() {
                Span::styled(
                    text::elide_end(&entry.field.kind_text(cx.lang).text(cx.lang), room),
                    cx.theme.dim,
                )
            } else {
                Span::styled(text::elide_end(&value, room), cx.theme.text)
            };
            if at == self.current {
                current = rows.len();
            }
            let sigil = if is_current { CHOSEN } else { NOT_CHOSEN };
            rows.push(Line::from(vec![
                Span::styled(sigil, cx.theme.accent),
                Span::styled(name, style),
                Span::raw(gap),
                value,
            ]));
            if let Some(why) = &entry.fault {
                let why = text::elide_end(&why.text(cx.lang), room);
                let indent = " ".repeat(wide + text::width(CHOSEN) + 2);
                rows.push(Line::from(vec![Span::raw(indent), Span::styled(why, cx.theme.warn)]));
            }
        }
        (rows, current)
    }

    fn page(&mut self, screen: u16, cx: &DrawContext<'_>) -> (DialogPage, usize) {
        let width = DialogPage::body_width(screen);
        let (rows, current) = self.rows(width, cx);
        let mut page = DialogPage {
            title: phrases::FORM_TITLE.with("script", self.script.as_str()).text(cx.lang),
            tone: cx.theme.accent,
            required: rows.into(),
            ..DialogPage::default()
        };
        if self.is_sent {
            page.hint = Line::styled(phrases::QUESTION_SENT.text(cx.lang), cx.theme.dim);
            return (page, current);
        }
        let last = self.current + 1 == self.entries.len();
        let mut hints = HINTS.to_vec();
        if let Some(entry) = self.entries.get_mut(self.current) {
            let label = text::elide_end(&entry.field.line(cx.lang).text(cx.lang), width);
            page.foot = match &mut entry.value {
                EntryValue::Typed(composer) => {
                    let rows = composer.fit(u16::try_from(width).unwrap_or(u16::MAX), cx.theme);
                    Foot::Field { label, rows: rows.min(FIELD) }
                }
                EntryValue::Chosen { options, at } => {
                    hints.insert(1, PICK);
                    let label = Line::styled(label, cx.theme.dim);
                    let options = options_line(options, *at, width, cx);
                    let grid = vec![label, options.clone()];
                    Foot::Choices { grid, flow: vec![options.clone()], row: options }
                }
            };
        }
        if last && let Some(first) = hints.first_mut() {
            first.action = phrases::HINT_SEND;
        }
        let say = choice::listening_text(self.listening);
        page.message =
            say.map(|say| Line::styled(cx.keymap.with_keys(say).text(cx.lang), cx.theme.warn));
        page.hint = choice::with_draft(&hints, self.listening, width, cx);
        (page, current)
    }

    /// Lays it out for `screen`; returns its rows.
    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> u16 {
        let (page, current) = self.page(screen.width, cx);
        let height = self.frame.fit(screen, page);
        self.frame.reveal(current);
        height
    }

    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let area = self.frame.draw(screen, buf, cx)?;
        let style = ComposerStyle { theme: cx.theme, hint: "", sigil: self.frame.tone() };
        let caret = match &self.entries.get(self.current)?.value {
            EntryValue::Typed(composer) if !self.is_sent => composer.draw(area, buf, &style),
            EntryValue::Typed(_) | EntryValue::Chosen { .. } => None,
        };
        dialog_frame::cursor_in_field(area, caret)
    }
}

/// The option of a digit, or the first one whose label begins with a letter.
fn option_of(options: &[(String, String)], letter: char) -> Option<usize> {
    let digit = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
    let digit = digit.and_then(|digit| digit.checked_sub(1)).filter(|at| *at < options.len());
    let begins = |(_, label): &(String, String)| {
        label.chars().next().is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
    };
    digit.or_else(|| options.iter().position(begins))
}

/// The options one after the other; if they are too wide, from the chosen one on.
fn options_line(
    options: &[(String, String)],
    chosen: Option<usize>,
    width: usize,
    cx: &DrawContext<'_>,
) -> Line<'static> {
    let labels: Vec<String> =
        options.iter().map(|(_, label)| format!(" {} ", text::single_line(label))).collect();
    let all: usize = labels.iter().map(|label| text::width(label)).sum();
    let first = if all > width { chosen.unwrap_or(0) } else { 0 };
    let mut line = Line::default();
    for (at, label) in labels.iter().enumerate().skip(first) {
        let style = if Some(at) == chosen { cx.theme.chosen() } else { cx.theme.text };
        let room = width.saturating_sub(line.width());
        if room < 3 {
            break;
        }
        line.spans.push(Span::styled(text::elide_end(label, room), style));
    }
    line
}

const HINTS: &[KeyHint] = &[
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, phrases::HINT_NEXT_FIELD),
    KeyHint::typed("Tab", phrases::HINT_MOVE),
    KeyHint::bound(KeyContext::Question, KeyAction::Close, phrases::CHOICE_NOTHING),
    KeyHint::bound(KeyContext::Anywhere, KeyAction::Interrupt, common::STOP_TURN),
];
const PICK: KeyHint = KeyHint::typed("Left/Right", phrases::HINT_PICK_VALUE);
