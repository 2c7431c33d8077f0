//! What every question has in common: its choices, the guard against type-ahead, the
//! field for a changed command or a word to the model, and the one answer.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::Answer;
use super::choice::{Care, Choice, Choices, Pick};
use super::command;
use super::edit::{Editor, Judgement};
use super::sheet::{self, Foot, Page, Sheet};
use crate::protocol::{AskId, Change, Decision, Op, Risk, Scope, Work};
use crate::tui::composer::{Composer, Dress};
use crate::tui::keys::{self, Action, Edit, Place};
use crate::tui::paint::Pen;
use crate::tui::status::Hint;
use crate::tui::{Millis, clean};
use crate::words::{Lang, Say, Word, prompt, screen as words};

/// Keys that were pressed before the question was there do not answer it.
pub const GUARD: Millis = 300;

#[derive(Debug)]
pub struct Asking {
    pub id: AskId,
    pub choices: Choices,
    pub doing: Doing,
    sheet: Sheet,
    care: Care,
    opened: Millis,
    /// Why the last key did nothing.
    refused: Option<Word>,
}

#[derive(Debug)]
pub enum Doing {
    Choosing,
    Editing(Box<Editor>),
    Wording(Box<Composer>),
    /// The answer is on its way; the session closes the question.
    Sent,
}

impl Asking {
    pub fn new(id: AskId, choices: Choices, care: Care, opened: Millis) -> Asking {
        let sheet = Sheet::default();
        Asking { id, choices, doing: Doing::Choosing, sheet, care, opened, refused: None }
    }

    /// It can be seen again: what was typed meanwhile was not meant for it.
    pub fn uncovered(&mut self, now: Millis) {
        self.opened = now;
    }

    /// What stands on the sheet now, when `work` was asked about and judged `risk`.
    pub fn subject<'a>(
        &'a self,
        work: &'a Work,
        risk: &'a Risk,
        change: Option<&'a Change>,
    ) -> Subject<'a> {
        let Doing::Editing(editor) = &self.doing else {
            return Subject { work, risk, change, standing: Standing::Proposed };
        };
        let (risk, standing) = match editor.judgement() {
            Judgement::Here(risk) => (risk, Standing::Judged),
            Judgement::Awaited(last) => (last.unwrap_or(risk), Standing::Awaited),
            Judgement::Unreadable(fault) => (risk, Standing::Unreadable(fault)),
        };
        let change = editor.change();
        Subject { work: editor.work().unwrap_or(work), risk, change, standing }
    }

    pub fn judged(&mut self, work: Work, risk: Risk, change: Option<Change>) {
        if let Doing::Editing(editor) = &mut self.doing {
            editor.judged(work, risk, change);
            self.sheet.forget();
        }
    }

    /// A key; `held` is what the question is about.
    pub fn key(
        &mut self,
        key: &KeyEvent,
        at: Millis,
        held: Option<(&Work, &Risk)>,
        lang: Lang,
    ) -> Answer {
        if keys::action(Place::Anywhere, key) == Some(Action::Interrupt) {
            return self.send(Decision::Stop);
        }
        if at < self.opened.saturating_add(GUARD) {
            return Answer::Stay;
        }
        self.refused = None;
        match &mut self.doing {
            Doing::Sent => Answer::Pass,
            Doing::Choosing => self.choose(key, held, lang),
            Doing::Wording(_) => self.word(key, lang),
            Doing::Editing(_) => self.edit(key, lang),
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> Answer {
        match &mut self.doing {
            Doing::Choosing | Doing::Sent => Answer::Stay,
            Doing::Wording(field) => {
                field.paste(text, lang);
                Answer::Stay
            }
            Doing::Editing(editor) => {
                editor.field.paste(text, lang);
                self.reread()
            }
        }
    }

    fn choose(&mut self, key: &KeyEvent, held: Option<(&Work, &Risk)>, lang: Lang) -> Answer {
        if let Some(choice) = self.choices.picked(key) {
            let by_capital = keys::letter(key) == Some(choice.letter);
            return self.pick(choice, by_capital, held, lang);
        }
        match keys::action(Place::Question, key) {
            Some(Action::Next) => self.choices.next(),
            Some(Action::Previous) => self.choices.previous(),
            Some(Action::More) => self.sheet.more(),
            Some(Action::Close) => return self.reject(held),
            Some(Action::Accept) => {
                if let Some(choice) = self.choices.chosen() {
                    return self.pick(choice, false, held, lang);
                }
            }
            _ => return Answer::Pass,
        }
        Answer::Stay
    }

    /// Esc: the answer that changes nothing.
    fn reject(&mut self, held: Option<(&Work, &Risk)>) -> Answer {
        match (held, self.choices.only_halts()) {
            (None, true) => self.send(Decision::Stop),
            (Some(_), _) | (None, false) => self.send(Decision::Reject { word: None }),
        }
    }

    fn pick(
        &mut self,
        choice: Choice,
        by_letter: bool,
        held: Option<(&Work, &Risk)>,
        lang: Lang,
    ) -> Answer {
        match choice.pick {
            Pick::Reject => self.send(Decision::Reject { word: None }),
            Pick::Stop => self.send(Decision::Stop),
            Pick::GoOn => self.send(Decision::Approve),
            Pick::Run => self.approve(Decision::Approve, by_letter),
            Pick::All if !self.sheet.seen_all() => self.said_no(words::REFUSED_UNSEEN),
            Pick::All if self.nothing_marked() => self.said_no(prompt::PIECES_NONE),
            Pick::All => {
                let steps = self.choices.rest().to_vec();
                self.approve(Decision::ApproveAll { steps }, by_letter)
            }
            Pick::Session => self.approve(Decision::Remember(Scope::Session), by_letter),
            Pick::Project => self.approve(Decision::Remember(Scope::Project), by_letter),
            Pick::Word => {
                self.doing = Doing::Wording(Box::new(Composer::new(Vec::new())));
                Answer::Stay
            }
            Pick::Edit => {
                if let Some((work, risk)) = held {
                    self.doing = Doing::Editing(Box::new(Editor::new(work, Some(risk), lang)));
                    self.sheet.forget();
                }
                Answer::Stay
            }
        }
    }

    /// A yes counts when all was seen, and for what is grave only by its own letter.
    fn approve(&mut self, decision: Decision, by_letter: bool) -> Answer {
        if !self.sheet.seen() {
            self.refused = Some(words::REFUSED_UNSEEN);
            return Answer::Stay;
        }
        if self.care == Care::Grave && !by_letter {
            self.refused = Some(words::REFUSED_CAPITAL);
            return Answer::Stay;
        }
        self.send(decision)
    }

    fn word(&mut self, key: &KeyEvent, lang: Lang) -> Answer {
        let Doing::Wording(field) = &mut self.doing else { return Answer::Stay };
        match in_field(field, key, lang) {
            Field::Changed => Answer::Stay,
            Field::Left => {
                self.doing = Doing::Choosing;
                Answer::Stay
            }
            Field::Done => {
                let word = Some(field.whole().trim().to_owned()).filter(|word| !word.is_empty());
                self.send(Decision::Reject { word })
            }
            Field::Other => Answer::Pass,
        }
    }

    fn edit(&mut self, key: &KeyEvent, lang: Lang) -> Answer {
        let Doing::Editing(editor) = &mut self.doing else { return Answer::Stay };
        match in_field(&mut editor.field, key, lang) {
            Field::Changed => self.reread(),
            Field::Left => {
                self.doing = Doing::Choosing;
                self.sheet.forget();
                Answer::Stay
            }
            Field::Done => match editor.ready().cloned() {
                Some(work) if self.sheet.seen() => self.send(Decision::Edit(work)),
                Some(_) => self.said_no(words::REFUSED_UNSEEN),
                None => self.said_no(words::REFUSED_UNJUDGED),
            },
            Field::Other => Answer::Pass,
        }
    }

    /// After a change: asks for a judgement when there is something new to judge.
    fn reread(&mut self) -> Answer {
        let ask = self.id;
        let Doing::Editing(editor) = &mut self.doing else { return Answer::Stay };
        let Some(work) = editor.changed() else { return Answer::Stay };
        Answer::Send(Op::Judge { ask, work })
    }

    fn said_no(&mut self, why: Word) -> Answer {
        self.refuse(why);
        Answer::Stay
    }

    /// Says why a key did nothing.
    pub fn refuse(&mut self, why: Word) {
        self.refused = Some(why);
    }

    pub fn refused_nothing(&mut self) {
        self.refused = None;
    }

    /// Whether a key of this moment counts for what stands on the sheet.
    pub fn takes(&self, at: Millis) -> bool {
        matches!(self.doing, Doing::Choosing) && at >= self.opened.saturating_add(GUARD)
    }

    /// Scrolls to a row of the page.
    pub fn reveal(&mut self, row: usize) {
        self.sheet.reveal(row);
    }

    /// "All" of nothing is no answer.
    fn nothing_marked(&self) -> bool {
        self.choices.rest().is_empty()
    }

    fn send(&mut self, decision: Decision) -> Answer {
        self.doing = Doing::Sent;
        Answer::Send(Op::Decide { ask: self.id, decision })
    }

    /// What stands below the body, and the hint under it.
    pub fn finish(&mut self, page: &mut Page, width: usize, pen: &Pen<'_>) {
        let hints: &[Hint] = match &mut self.doing {
            Doing::Choosing => {
                let grid = self.choices.grid(width, pen);
                page.foot = Foot::Choices { grid, flow: self.choices.flow(width, pen) };
                self.choices.hints()
            }
            Doing::Editing(editor) => {
                let rows = editor.field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::EDIT_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                EDITING
            }
            Doing::Wording(field) => {
                let rows = field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::WORD_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                WORDING
            }
            Doing::Sent => {
                page.foot = Foot::Nothing;
                &[]
            }
        };
        page.hint = match (self.refused, &self.doing) {
            (Some(why), _) => Line::styled(why.text(pen.lang), pen.theme.warn),
            (None, Doing::Sent) => Line::styled(words::QUESTION_SENT.text(pen.lang), pen.theme.dim),
            (None, _) => hint_line(hints, width, pen),
        };
    }

    /// Draws the page; the caret, when something is written.
    pub fn draw(
        &mut self,
        screen: Rect,
        buf: &mut Buffer,
        page: &Page,
        pen: &Pen<'_>,
    ) -> Option<Position> {
        let area = self.sheet.draw(screen, buf, page, pen)?;
        let dress = Dress { theme: pen.theme, hint: "", sigil: page.tone };
        let caret = match &mut self.doing {
            Doing::Editing(editor) => editor.field.draw(area, buf, &dress),
            Doing::Wording(field) => field.draw(area, buf, &dress),
            Doing::Choosing | Doing::Sent => None,
        };
        sheet::within(area, caret)
    }
}

/// What stands on a sheet: the step as it was proposed, or as it is being changed.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub work: &'a Work,
    pub risk: &'a Risk,
    /// What it does to a file, as it stands there.
    pub change: Option<&'a Change>,
    pub standing: Standing<'a>,
}

/// How sure the judgement of a subject is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing<'a> {
    Proposed,
    /// Changed, and judged as it stands there.
    Judged,
    /// Changed; the judgement in view is of an earlier text.
    Awaited,
    Unreadable(&'a Say),
}

impl<'a> Subject<'a> {
    /// The head of the sheet, and the command as its first rows.
    pub fn page(&self, title: Word, width: usize, pen: &Pen<'_>) -> Page {
        let sure = matches!(self.standing, Standing::Proposed | Standing::Judged);
        let badge = match self.standing {
            Standing::Proposed | Standing::Judged => command::badge(self.risk),
            Standing::Awaited => words::EDIT_JUDGING,
            Standing::Unreadable(_) => words::EDIT_UNREADABLE,
        };
        let title = if self.is_edited() { words::EDIT_TITLE } else { title };
        let must = match self.standing {
            Standing::Unreadable(fault) => clean::wrap(&fault.text(pen.lang), width)
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.warn))
                .collect(),
            Standing::Proposed | Standing::Judged | Standing::Awaited => match self.change {
                Some(change) => super::change::rows(self.work.tool(), change, width, pen),
                None => command::work(self.work, self.risk, width, pen),
            },
        };
        Page {
            title: title.text(pen.lang).to_owned(),
            badge: badge.text(pen.lang).to_owned(),
            tone: if sure { command::tone(self.risk, pen) } else { pen.theme.dim },
            must,
            ..Page::default()
        }
    }

    pub fn is_edited(&self) -> bool {
        self.standing != Standing::Proposed
    }
}

pub(super) const MARKING: &[Hint] = &[
    Hint { key: "Space", does: prompt::HINT_MARK },
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_REJECT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
pub(super) const CHOOSING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_REJECT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
    Hint { key: "F1", does: words::HINT_HELP },
];
pub(super) const TRUSTING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_ONLY_READ },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "F1", does: words::HINT_HELP },
];
pub(super) const PAUSING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_HALT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
const EDITING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_RUN_THIS },
    Hint { key: "Esc", does: words::HINT_BACK },
    Hint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];
const WORDING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_REJECT_WITH },
    Hint { key: "Esc", does: words::HINT_BACK },
    Hint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];

pub fn hint_line(hints: &[Hint], width: usize, pen: &Pen<'_>) -> Line<'static> {
    let mut line = Line::default();
    for hint in hints {
        let text = format!(" {}   ", hint.does.text(pen.lang));
        if line.width() + hint.key.len() + clean::width(text.trim_end()) > width {
            break;
        }
        line.spans.push(Span::styled(hint.key, pen.theme.text));
        line.spans.push(Span::styled(text, pen.theme.dim));
    }
    line
}

/// What a key did in a field of a question.
pub enum Field {
    Changed,
    Done,
    Left,
    Other,
}

pub fn in_field(field: &mut Composer, key: &KeyEvent, lang: Lang) -> Field {
    match keys::action(Place::Input, key) {
        Some(Action::Send) => Field::Done,
        Some(Action::Edit(edit)) => edited(field, edit),
        Some(Action::Up) => moved(field.up(lang)),
        Some(Action::Down) => moved(field.down(lang)),
        Some(_) => Field::Other,
        None if keys::action(Place::Anywhere, key) == Some(Action::Stop) => Field::Left,
        None if field.typed(key) => Field::Changed,
        None => Field::Other,
    }
}

fn edited(field: &mut Composer, edit: Edit) -> Field {
    field.edit(edit);
    Field::Changed
}

fn moved(_: bool) -> Field {
    Field::Changed
}
