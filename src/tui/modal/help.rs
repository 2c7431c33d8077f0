//! The help page: every key and every command, drawn from their own tables.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::choice;
use super::page::{FullPage, PageScroll, TwoColumnList};
use crate::draw::DrawContext;
use crate::keymap::Keymap;
use crate::keys::{KEYS, KeyAction, KeyContext};
use crate::{status, text};
use avocet_core::i18n::{Lang, Phrase, PhraseValue, common, screen as phrases, session};
use avocet_core::protocol::Extensions;
use avocet_present::commands::{Surface, by_category, kept_sections, with_aliases};

/// From this width on, keys and commands are side by side.
const WIDE: u16 = 132;
/// No column of help is wider than is comfortable to read.
const READABLE: usize = 96;

#[derive(Debug, Default)]
pub struct HelpDialog {
    page: PageScroll,
    keymap: Keymap,
    /// The user's extensions, by headings.
    extensions: Vec<(PhraseValue, Vec<(String, PhraseValue)>)>,
}

impl FullPage for HelpDialog {
    fn key(&mut self, key: &KeyEvent, _: Lang) -> ModalAction {
        self.page.key(key)
    }

    fn scroll(&mut self, lines: i32) {
        self.page.scroll(lines);
    }

    fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) {
        let rows = self.rows(screen.width, cx);
        self.page.fit(screen.height, rows);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        self.page.draw(area, buf, cx, phrases::HELP_TITLE.text(cx.lang), HINTS);
        None
    }
}

impl HelpDialog {
    pub fn new(extensions: &Extensions, keymap: &Keymap) -> HelpDialog {
        HelpDialog {
            page: PageScroll::default(),
            keymap: keymap.clone(),
            extensions: kept_sections(extensions, Surface::Local),
        }
    }

    fn rows(&self, width: u16, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let room = usize::from(width.saturating_sub(4));
        if width < WIDE {
            let column = room.min(READABLE);
            let parts = [
                introduction(column, cx),
                self.commands(column, cx),
                key_list(&self.keymap, cx).rows(column, cx),
            ];
            return parts.concat();
        }
        let column = ((room - 4) / 2).min(READABLE);
        let left = [introduction(column, cx), self.commands(column, cx)].concat();
        let right = key_list(&self.keymap, cx).rows(column, cx);
        (0..left.len().max(right.len()))
            .map(|row| {
                let mut line = left.get(row).cloned().unwrap_or_default();
                let gap = (column + 4).saturating_sub(line.width());
                line.spans.push(Span::raw(" ".repeat(gap)));
                line.spans.extend(right.get(row).cloned().unwrap_or_default().spans);
                line
            })
            .collect()
    }

    /// Commands by category, in the order of their table; then the extensions.
    fn commands(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut list = TwoColumnList::default();
        for (category, commands) in by_category(Surface::Local) {
            list.head(category.name().text(cx.lang));
            for command in commands {
                let about = with_aliases(command.about.into(), command.aliases);
                list.row(command.usage(), about.text(cx.lang));
            }
        }
        for (heading, entries) in &self.extensions {
            list.head(&heading.text(cx.lang));
            for (usage, about) in entries {
                list.row(text::single_line(usage), text::single_line(&about.text(cx.lang)));
            }
        }
        list.rows(width, cx)
    }
}

/// The introduction for new users.
fn introduction(width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
    let mut list = TwoColumnList::default();
    list.head(phrases::HELP_FIRST.text(cx.lang));
    for hint in FIRST {
        let about = cx.keymap.with_keys(hint.action).text(cx.lang);
        list.row(hint.key.name(cx.keymap), about);
    }
    list.rows(width, cx)
}

/// Keys by context.
pub fn key_list(keymap: &Keymap, cx: &DrawContext<'_>) -> TwoColumnList {
    let mut list = TwoColumnList::default();
    if !keymap.problems.is_empty() {
        list.head("keys.toml");
        for problem in &keymap.problems {
            list.row(String::new(), problem.text(cx.lang));
        }
    }
    for (place, title) in PLACES {
        list.head(title.text(cx.lang));
        for key in KEYS.iter().filter(|key| key.context == *place) {
            if let Some(about) = key.about {
                let names = keymap.chord_names(key).join(", ");
                list.row(names, about.text(cx.lang).to_owned());
            }
        }
        if *place == KeyContext::Question {
            list.row("1 - 8".to_owned(), phrases::PICK_NTH.text(cx.lang).to_owned());
            for (letter, label) in choice::letters() {
                list.row(letter.to_string(), label.text(cx.lang));
            }
        }
    }
    list
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::pair(KeyContext::Page, phrases::HINT_SCROLL),
    status::KeyHint::bound(KeyContext::Page, KeyAction::Close, phrases::HINT_CLOSE),
];

const FIRST: &[status::KeyHint] = &[
    status::KeyHint::bound(KeyContext::Input, KeyAction::Send, phrases::HELP_ASK),
    status::KeyHint::typed("/", phrases::HELP_COMMANDS),
    status::KeyHint::typed("@", phrases::HELP_MENTION),
    status::KeyHint::typed("!", phrases::HELP_SHELL),
    status::KeyHint::bound(KeyContext::Input, KeyAction::NextMode, phrases::HELP_MODE),
    status::KeyHint::bound(KeyContext::Anywhere, KeyAction::Stop, phrases::HELP_STOP),
    status::KeyHint::pages(KeyContext::Anywhere, phrases::HELP_SCROLL),
    status::KeyHint::typed("/keys", common::ALL_KEYS),
];

const PLACES: &[(KeyContext, Phrase)] = &[
    (KeyContext::Input, phrases::PLACE_INPUT),
    (KeyContext::EmptyInput, phrases::PLACE_EMPTY_INPUT),
    (KeyContext::RunningStep, phrases::PLACE_RUNNING_STEP),
    (KeyContext::Anywhere, phrases::PLACE_ANYWHERE),
    (KeyContext::Question, phrases::PLACE_QUESTION),
    (KeyContext::Palette, phrases::PLACE_PALETTE),
    (KeyContext::Queue, avocet_core::i18n::input::PLACE_QUEUE),
    (KeyContext::Agents, avocet_core::i18n::agents::PLACE_AGENTS),
    (KeyContext::HistorySearch, avocet_core::i18n::input::PLACE_SEARCH),
    (KeyContext::Search, phrases::PLACE_SEARCH),
    (KeyContext::SearchResults, phrases::PLACE_FOUND),
    (KeyContext::Diff, session::CHANGED_FILES),
];
