//! A picker: a theme, a model, a saved session. Typing filters the list, the arrows move through
//! it, and the opener learns of every selected row at once, so that it can be previewed.
//!
//! It is docked to the bottom edge, so that its effect is visible above it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::{ModalAction, PickerAction, Topic};
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::fuzzy_list::{FuzzyMatcher, ListSelection, RowStyle};
use crate::keys::{self, KeyAction, KeyContext};
use crate::symbols::CHOSEN;
use crate::{status, text};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, common, screen as phrases};

/// Rows visible at once.
const ROWS: usize = 10;
/// The longest filter.
const MAX_LENGTH: usize = 80;
/// Rows of the head, the filter and the hint.
const FRAME: u16 = 3;

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickerRow {
    pub value: String,
    /// Shown in place of the value; empty: the value itself.
    pub label: String,
    /// A description next to it.
    pub about: Option<LocalizedText>,
    /// More of it, shown while it is selected.
    pub details: String,
    /// The same in the language of the screen.
    pub more: Option<LocalizedText>,
}

impl PickerRow {
    fn display_text(&self) -> &str {
        if self.label.is_empty() { &self.value } else { &self.label }
    }

    /// Whether it contains each of these words.
    fn contains_words(&self, words: &str) -> bool {
        let about = self.about.as_ref().map(ToString::to_string).unwrap_or_default();
        let more = self.more.as_ref();
        let more = more.map(|more| [Lang::En, Lang::Zh].map(|lang| more.text(lang)).join("\n"));
        let more = more.unwrap_or_default();
        let all = [self.value.as_str(), &self.label, &self.details, &about, &more];
        let all = all.join("\n").to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| all.contains(word))
    }
}

#[derive(Debug)]
pub struct Picker {
    topic: Topic,
    rows: Vec<PickerRow>,
    filter_text: String,
    matches: Vec<PickerMatch>,
    selection: ListSelection,
    /// How many more there are that are not among the rows.
    pub unlisted_count: usize,
    /// A note about the selected row.
    pub note: Option<LocalizedText>,
    /// What is chosen, in place of the topic's title; empty: that.
    pub heading: String,
}

#[derive(Debug)]
struct PickerMatch {
    row: usize,
    /// Positions of the typed characters in its value.
    letters: Vec<u32>,
}

impl Picker {
    /// Selects the row with the value `now`, or the first.
    pub fn new(topic: Topic, rows: Vec<PickerRow>, now: &str) -> Picker {
        let typed = String::new();
        let found = Vec::new();

        let mut picker = Picker {
            topic,
            rows,
            filter_text: typed,
            matches: found,
            selection: ListSelection::default(),
            unlisted_count: 0,
            note: None,
            heading: String::new(),
        };
        picker.update_matches();
        let now = picker.rows.iter().position(|row| row.value == now);
        picker.selection = now.map(ListSelection::at).unwrap_or_default();
        picker
    }

    /// With this text already typed.
    pub fn with_filter(mut self, text: &str) -> Picker {
        self.filter_text = text.chars().take(MAX_LENGTH).collect();
        self.update_matches();
        self
    }

    #[cfg(test)]
    pub fn has_matches(&self) -> bool {
        !self.matches.is_empty()
    }

    pub fn topic(&self) -> Topic {
        self.topic
    }

    /// Takes the rows that it waited for; what was selected stays so.
    pub fn set_rows(&mut self, rows: Vec<PickerRow>) {
        let now = self.value();
        self.rows = rows;
        self.update_matches();
        let matches = self.matches.iter().map(|it| self.rows.get(it.row).map(|row| &row.value));
        if let Some(at) =
            matches.into_iter().position(|value| value.is_some() && value == now.as_ref())
        {
            self.selection = ListSelection::at(at);
        }
    }

    pub fn key(&mut self, key: &KeyEvent) -> ModalAction {
        match keys::action(KeyContext::Palette, key) {
            Some(KeyAction::Next | KeyAction::Complete) => {
                self.selection.next(self.matches.len());
                self.selected_action()
            }
            Some(KeyAction::Previous) => {
                self.selection.previous(self.matches.len());
                self.selected_action()
            }
            Some(KeyAction::Accept) => match self.value() {
                Some(value) => self.action(PickerAction::Confirmed(value)),
                None if self.is_address() => {
                    self.action(PickerAction::Confirmed(self.filter_text.trim().to_owned()))
                }
                None => ModalAction::Stay,
            },
            Some(KeyAction::Close) => self.action(PickerAction::Cancelled),
            _ if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) => {
                self.action(PickerAction::Cancelled)
            }
            _ => self.filter(key),
        }
    }

    /// A click on a row chooses it; `None`: not on a row.
    pub fn click(&mut self, screen: Rect, y: u16) -> Option<ModalAction> {
        let (rows, _) = self.row_areas(self.area(screen));
        self.selection = ListSelection::at(self.selection.row_at(self.matches.len(), rows, y)?);
        Some(self.action(PickerAction::Confirmed(self.value()?)))
    }

    fn filter(&mut self, key: &KeyEvent) -> ModalAction {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if let (Topic::RewindParts { .. } | Topic::UnsavedConversation, KeyCode::Char(c), false) =
            (self.topic, key.code, held)
        {
            return self.select_by_char(c);
        }
        match key.code {
            KeyCode::Home | KeyCode::End => {
                let last = self.matches.len().saturating_sub(1);
                let at = if key.code == KeyCode::Home { 0 } else { last };
                self.selection = ListSelection::at(at);
                return self.selected_action();
            }
            KeyCode::Delete if self.topic == Topic::Setting => {
                return self
                    .value()
                    .map_or(ModalAction::Stay, |value| self.action(PickerAction::Reset(value)));
            }
            KeyCode::Backspace => {
                self.filter_text.pop();
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                self.filter_text.clear()
            }
            KeyCode::Char(c) if !held && self.filter_text.len() < MAX_LENGTH => {
                self.filter_text.push(c)
            }
            _ => return ModalAction::Unhandled,
        }
        let before = self.value();
        self.update_matches();
        match self.value() {
            Some(now) if before.as_ref() != Some(&now) => self.action(PickerAction::Selected(now)),
            _ => ModalAction::Stay,
        }
    }

    /// Handles typing in a short list, which is not filtered: a digit confirms a row, the first
    /// letter of its value selects it. Typing the whole value therefore has the same effect as its
    /// first letter.
    fn select_by_char(&mut self, c: char) -> ModalAction {
        if let Some(number) = c.to_digit(10) {
            let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            let row = at.and_then(|at| self.rows.get(at)).map(|row| row.value.clone());
            return row
                .map_or(ModalAction::Stay, |value| self.action(PickerAction::Confirmed(value)));
        }
        let c = c.to_ascii_lowercase();
        match self.rows.iter().position(|row| row.value.starts_with(c)) {
            Some(at) => {
                self.selection = ListSelection::at(at);
                self.selected_action()
            }
            None => ModalAction::Stay,
        }
    }

    /// The address of a server that is not in the list.
    fn is_address(&self) -> bool {
        self.topic == Topic::Provider && self.filter_text.contains(['.', ':'])
    }

    fn selected_action(&self) -> ModalAction {
        self.value().map_or(ModalAction::Stay, |value| self.action(PickerAction::Selected(value)))
    }

    fn action(&self, action: PickerAction) -> ModalAction {
        ModalAction::Picked(self.topic, action)
    }

    fn selected_row(&self) -> Option<&PickerRow> {
        self.rows.get(self.matches.get(self.selection.row())?.row)
    }

    fn value(&self) -> Option<String> {
        Some(self.selected_row()?.value.clone())
    }

    /// The rows that match the filter, the best first; all in order without a filter.
    fn update_matches(&mut self) {
        let mut fuzzy = FuzzyMatcher::new(&self.filter_text);
        let mut found: Vec<(u32, PickerMatch)> = Vec::new();
        for (row, one) in self.rows.iter().enumerate() {
            match fuzzy.positions(one.display_text()) {
                Some((score, letters)) => found.push((score, PickerMatch { row, letters })),
                None if self.has_details() && one.contains_words(&self.filter_text) => {
                    found.push((0, PickerMatch { row, letters: Vec::new() }));
                }
                None => {}
            }
        }
        if !self.filter_text.is_empty() {
            found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        }
        self.matches = found.into_iter().map(|(_, found)| found).collect();
        self.selection = ListSelection::default();
    }

    /// Rows whose descriptions are searched too, and which have more to show.
    fn has_details(&self) -> bool {
        matches!(
            self.topic,
            Topic::Session | Topic::Turn | Topic::Model | Topic::Provider | Topic::Setting
        )
    }

    pub fn height(&self, screen: Rect) -> u16 {
        let rows =
            u16::try_from(self.rows.len().clamp(1, ROWS.max(usize::from(screen.height) / 2)))
                .unwrap_or(1);
        let sample = u16::from(self.has_sample());
        (rows + FRAME + sample).min(screen.height)
    }

    /// A row below the list tells more of the selected one.
    fn has_sample(&self) -> bool {
        matches!(self.topic, Topic::Theme | Topic::Session | Topic::Setting)
    }

    fn area(&self, screen: Rect) -> Rect {
        let height = self.height(screen);
        Rect { y: screen.bottom() - height, height, ..screen }
    }

    /// The rows, and the row of a sample below them.
    fn row_areas(&self, area: Rect) -> (Rect, Option<Rect>) {
        let rows = Rect { y: area.y + 2, height: area.height.saturating_sub(FRAME), ..area };
        // A short list has a row for it; a long one on a low screen would lose one of its own.
        let has_room = rows.height > 3 || usize::from(rows.height) > self.rows.len().max(1);
        if !self.has_sample() || !has_room || rows.height < 2 {
            return (rows, None);
        }
        let height = rows.height - 1;
        (Rect { height, ..rows }, Some(Rect { y: rows.y + height, height: 1, ..rows }))
    }

    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let area = self.area(screen);
        draw::clear(area, buf, cx.theme);
        self.head(area, buf, cx);
        let caret = self.draw_filter(Rect { y: area.y + 1, ..area }, buf, cx);
        let (rows, sample) = self.row_areas(area);
        self.draw_rows(rows, buf, cx);
        if let Some(sample) = sample {
            let line = match self.topic {
                Topic::Theme => swatch(cx),
                _ => self.preview(sample, cx),
            };
            draw::line(sample, buf, 2, sample.width.into(), &line);
        }
        let foot = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        match &self.note {
            Some(say) => {
                let text = text::elide_end(&say.text(cx.lang), area.width.saturating_sub(3).into());
                let line = Line::styled(text, cx.theme.warn);
                draw::line(foot, buf, 2, foot.width.into(), &line);
            }
            None if self.topic == Topic::Setting => {
                status::draw_hints(foot, buf, cx, SETTING_HINTS);
            }
            None => status::draw_hints(foot, buf, cx, HINTS),
        }
        draw::panel(area, buf, cx.theme, cx.theme.bar.input);
        caret
    }

    /// The last message of the selected conversation.
    fn preview(&self, area: Rect, cx: &DrawContext<'_>) -> Line<'static> {
        let more = self.selected_row().map(|row| match &row.more {
            Some(more) => more.text(cx.lang),
            None if row.details.is_empty() => String::new(),
            None => phrases::SESSION_LAST.with("text", row.details.as_str()).text(cx.lang),
        });
        let more = text::single_line(&more.unwrap_or_default());
        let room = usize::from(area.width).saturating_sub(3);
        Line::styled(text::elide_end(&more, room), cx.theme.dim)
    }

    fn head(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let bold = cx.theme.accent.add_modifier(Modifier::BOLD);
        let title = match self.heading.as_str() {
            "" => self.topic.title().text(cx.lang).to_owned(),
            heading => text::single_line(heading),
        };
        let mut rule = HorizontalRule::edge(cx.theme).left(Span::styled(title, bold));
        if !self.matches.is_empty() {
            let more = (self.unlisted_count > 0)
                .then(|| phrases::CHOOSE_MORE.with("n", self.unlisted_count).text(cx.lang));
            let count = self.selection.count(self.matches.len(), more.as_deref());
            rule = rule.right(Span::styled(count, cx.theme.dim));
        }
        rule.draw(area, buf);
    }

    fn draw_filter(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let room = usize::from(area.width).saturating_sub(5);
        let typed = text::elide_middle(&self.filter_text, room);
        let caret = 4 + u16::try_from(text::width(&typed)).unwrap_or(0);
        let shown = if typed.is_empty() {
            Span::styled(self.topic.placeholder().text(cx.lang).to_owned(), cx.theme.dim)
        } else {
            Span::styled(typed, cx.theme.text)
        };
        let line = Line::from(vec![Span::styled(CHOSEN, cx.theme.accent), shown]);
        draw::line(area, buf, 2, area.width.into(), &line);
        Some(Position { x: area.x + caret, y: area.y })
    }

    fn draw_rows(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        if self.matches.is_empty() {
            let say = match () {
                () if self.rows.is_empty() => self.topic.empty_text(),
                () if self.is_address() => phrases::CHOOSE_ADDRESS,
                () => phrases::CHOOSE_NONE,
            };
            let line = Line::styled(say.text(cx.lang), cx.theme.dim);
            draw::line(area, buf, 2, area.width.into(), &line);
            return;
        }
        let widest = self.rows.iter().map(|row| text::width(row.display_text())).max().unwrap_or(0);
        let most = match self.topic {
            Topic::Turn => area.width,
            _ => area.width / 2,
        };
        let column = (widest + 4).min(usize::from(most).max(12));
        let count = self.matches.len();
        self.selection.draw_rows(count, area, buf, cx.theme, |row, area, buf, style| {
            if let Some(found) = self.matches.get(row) {
                self.draw_row(area, buf, cx.lang, (found, style), column);
            }
        });
    }

    fn draw_row(
        &self,
        area: Rect,
        buf: &mut Buffer,
        lang: Lang,
        (found, style): (&PickerMatch, &RowStyle),
        column: usize,
    ) {
        let Some(row) = self.rows.get(found.row) else { return };
        let mut name = vec![style.sigil()];
        // A name that had to be made safe has other characters than those that matched.
        let shown = text::single_line(row.display_text());
        let letters = if shown == row.display_text() { &*found.letters } else { &[] };
        let shown = text::elide_end(&shown, column.saturating_sub(3));
        name.extend(style.highlight(&shown, 0, letters));
        draw::line(area, buf, 0, column.saturating_sub(1), &Line::from(name));
        if let Some(about) = &row.about {
            let room = usize::from(area.width).saturating_sub(column + 2);
            let about = text::elide_end(&about.text(lang), room);
            draw::line(area, buf, column, area.width.into(), &Line::styled(about, style.quiet));
        }
    }
}

impl Topic {
    fn title(self) -> Phrase {
        match self {
            Topic::Theme => phrases::CHOOSE_THEME,
            Topic::Model | Topic::FirstModel => common::MODEL_TITLE,
            Topic::Provider => phrases::CHOOSE_PROVIDER,
            Topic::Effort => phrases::CHOOSE_EFFORT,
            Topic::Bot => phrases::CHOOSE_BOT_TITLE,
            Topic::Session => common::SESSIONS,
            Topic::Turn => phrases::CHOOSE_TURN,
            Topic::RewindParts { .. } => phrases::CHOOSE_REWIND,
            Topic::NotePlace => phrases::CHOOSE_NOTE,
            Topic::UnsavedConversation => phrases::LEAVE_TITLE,
            Topic::Setting | Topic::SettingValue => common::SETTINGS,
        }
    }

    /// The placeholder that says what typing does.
    fn placeholder(self) -> Phrase {
        match self {
            Topic::RewindParts { .. } => phrases::REWIND_KEYS,
            Topic::UnsavedConversation => phrases::LEAVE_KEYS,
            _ => phrases::CHOOSE_FILTER,
        }
    }

    /// The text while there are no rows.
    fn empty_text(self) -> Phrase {
        match self {
            Topic::Provider => phrases::PROVIDERS_ASKED,
            Topic::Theme | Topic::Model | Topic::FirstModel | Topic::Effort | Topic::Bot => {
                phrases::MODELS_ASKED
            }
            Topic::Setting | Topic::SettingValue => phrases::SETTINGS_ASKED,
            Topic::Session
            | Topic::Turn
            | Topic::RewindParts { .. }
            | Topic::NotePlace
            | Topic::UnsavedConversation => phrases::SESSIONS_NONE,
        }
    }
}

/// A sample of each colour of the theme.
fn swatch(cx: &DrawContext<'_>) -> Line<'static> {
    let theme = cx.theme;
    let say = |phrase: Phrase, style| Span::styled(phrase.text(cx.lang).to_owned(), style);
    let parts = [
        say(phrases::TIER_L0, theme.ok),
        say(phrases::TIER_L1, theme.warn),
        say(phrases::TIER_L2, theme.danger),
        Span::styled("+ added", theme.change.added),
        Span::styled("- removed", theme.change.removed),
        Span::styled("code()", theme.markup.code),
        Span::styled("link", theme.markup.link),
    ];
    let gap = || Span::raw("  ");
    Line::from(parts.into_iter().flat_map(|part| [part, gap()]).collect::<Vec<_>>())
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::bound(KeyContext::Palette, KeyAction::Accept, phrases::HINT_PICK),
    status::KeyHint::bound(KeyContext::Palette, KeyAction::Close, phrases::HINT_BACK),
    status::KeyHint::pair(KeyContext::Palette, phrases::HINT_MOVE),
];

const SETTING_HINTS: &[status::KeyHint] = &[
    status::KeyHint::bound(KeyContext::Palette, KeyAction::Accept, phrases::HINT_PICK_VALUE),
    status::KeyHint::typed("Delete", phrases::HINT_RESET),
    status::KeyHint::bound(KeyContext::Palette, KeyAction::Close, phrases::HINT_BACK),
    status::KeyHint::pair(KeyContext::Palette, phrases::HINT_MOVE),
];
