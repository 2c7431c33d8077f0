//! Incremental search in the history, from the newest entry back. The input itself stays unchanged
//! until the hit is accepted.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use tui_textarea::{CursorRenderMode, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::draw::{self, DrawContext};
use crate::text;
use crate::theme::Theme;
use avocet_core::i18n::{Lang, input as phrases};

/// Entries kept; the oldest is dropped.
pub(super) const MAX_ENTRIES: usize = 1_000;
/// The longest query, in characters.
const MAX_QUERY: usize = 200;

#[derive(Debug)]
pub struct HistorySearch {
    query: String,
    hit: HistoryHit,
    /// Older messages than those searched may have been dropped.
    is_full: bool,
    /// The text shown in place of the input.
    text: TextArea<'static>,
}

/// The result of the last search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HistoryHit {
    /// Nothing was searched for yet.
    NotSearched,
    Entry(usize),
    /// This entry is the last that contains it.
    LastEntry(usize),
    NoMatch,
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchSource {
    Older,
    Newer,
}

impl HistorySearch {
    /// Begins over a text, which is shown until there is a hit.
    pub fn from_lines(lines: Vec<String>) -> HistorySearch {
        let mut text = plain_area();
        text.set_lines(lines, (0, 0));
        HistorySearch { query: String::new(), hit: HistoryHit::NotSearched, is_full: false, text }
    }

    /// The current hit.
    pub fn current_entry<'e>(&self, entries: &'e [String]) -> Option<&'e str> {
        self.hit_index().and_then(|at| entries.get(at)).map(String::as_str)
    }

    pub fn area(&self) -> &TextArea<'static> {
        &self.text
    }

    pub fn area_mut(&mut self) -> &mut TextArea<'static> {
        &mut self.text
    }

    /// Adds to the query. The hit stays while it still contains it.
    pub fn add(&mut self, text: &str, entries: &[String]) {
        let room = MAX_QUERY.saturating_sub(self.query.chars().count());
        self.query.extend(text.chars().filter(|c| !c.is_control()).take(room));
        let from = self.hit_index().map_or(entries.len(), |at| at + 1);
        self.find_newest(entries, from);
    }

    /// Removes the last character, and searches from the newest again.
    pub fn back(&mut self, entries: &[String]) {
        if let Some((at, _)) = self.query.grapheme_indices(true).next_back() {
            self.query.truncate(at);
        }
        self.find_newest(entries, entries.len());
    }

    /// The next entry that contains the query and differs from the hit.
    pub fn step(&mut self, source: SearchSource, entries: &[String]) {
        let Some(at) = self.hit_index() else { return self.find_newest(entries, entries.len()) };
        let same = entries.get(at);
        let fits = |next: &usize| {
            let entry = entries.get(*next);
            entry != same
                && entry.is_some_and(|entry| find_ignoring_case(entry, &self.query).is_some())
        };
        let next = match source {
            SearchSource::Older => (0..at).rev().find(fits),
            SearchSource::Newer => (at + 1..entries.len()).find(fits),
        };
        match (next, source) {
            (Some(next), _) => self.show_hit(entries, HistoryHit::Entry(next)),
            (None, SearchSource::Older) => self.hit = HistoryHit::LastEntry(at),
            (None, SearchSource::Newer) => self.hit = HistoryHit::Entry(at),
        }
    }

    fn hit_index(&self) -> Option<usize> {
        match self.hit {
            HistoryHit::Entry(at) | HistoryHit::LastEntry(at) => Some(at),
            HistoryHit::NotSearched | HistoryHit::NoMatch => None,
        }
    }

    fn find_newest(&mut self, entries: &[String], before: usize) {
        let holds = |entry: &String| find_ignoring_case(entry, &self.query).is_some();
        self.is_full = entries.len() >= MAX_ENTRIES;
        let newest = entries.iter().take(before).rposition(holds);
        self.show_hit(entries, newest.map_or(HistoryHit::NoMatch, HistoryHit::Entry));
    }

    /// Without a hit, the last one stays in view.
    fn show_hit(&mut self, entries: &[String], hit: HistoryHit) {
        self.hit = hit;
        let Some(entry) = self.current_entry(entries) else { return };
        let lines: Vec<String> = entry.split('\n').map(text::sanitize).collect();
        let at = lines
            .iter()
            .position(|line| find_ignoring_case(line, &self.query).is_some())
            .unwrap_or(0);
        self.text.set_lines(lines, (at, 0));
    }

    /// Highlights the query, before the text is drawn.
    pub fn highlight_query(&mut self, theme: &Theme) {
        self.text.set_style(theme.text);
        self.text.clear_custom_highlight();
        if self.hit_index().is_none() || self.query.is_empty() {
            return;
        }
        let style = theme.accent.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let first = self.text.lines().iter().enumerate().find_map(|(row, line)| {
            find_ignoring_case(line, &self.query).map(|(from, to)| ((row, from), (row, to)))
        });
        if let Some(range) = first {
            self.text.custom_highlight(range, style, 1);
        }
    }

    /// The note beside the query; it also says when not everything was searched.
    fn note(&self, lang: Lang) -> String {
        match (self.hit, self.is_full) {
            (HistoryHit::NotSearched | HistoryHit::Entry(_), _) => String::new(),
            (HistoryHit::LastEntry(_), true) => {
                phrases::SEARCH_OLDEST_KEPT.with("n", MAX_ENTRIES).text(lang)
            }
            (HistoryHit::LastEntry(_), false) => phrases::SEARCH_OLDEST.text(lang).to_owned(),
            (HistoryHit::NoMatch, true) => {
                phrases::SEARCH_NONE_KEPT.with("n", MAX_ENTRIES).text(lang)
            }
            (HistoryHit::NoMatch, false) => phrases::SEARCH_NONE.text(lang).to_owned(),
        }
    }

    /// Draws the query in one row; returns the position of the cursor.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Position {
        let label = phrases::SEARCH_LABEL.text(cx.lang);
        let room = usize::from(area.width).saturating_sub(text::width(label) + 4);
        let query = tail(&self.query, room);
        let note = self.note(cx.lang);
        let caret = 2 + text::width(label) + text::width(&query);
        let mut line =
            Line::from(vec![Span::styled(label, cx.theme.dim), Span::styled(query, cx.theme.text)]);
        if !note.is_empty() {
            line.push_span(Span::styled(format!("   {note}"), cx.theme.warn));
        }
        draw::line(area, buf, 2, area.width.into(), &line);
        let x = area.x + u16::try_from(caret).unwrap_or(0).min(area.width.saturating_sub(1));
        Position { x, y: area.y }
    }

    /// Columns that [`HistorySearch::draw`] takes, without the note.
    pub fn width(&self, cx: &DrawContext<'_>) -> usize {
        2 + text::width(phrases::SEARCH_LABEL.text(cx.lang)) + text::width(&self.query) + 1
    }

    /// Whether there is no note next to the query.
    pub fn has_no_note(&self) -> bool {
        matches!(self.hit, HistoryHit::NotSearched | HistoryHit::Entry(_))
    }
}

/// The end of a text, as much as fits.
fn tail(text: &str, columns: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut width = 0;
    for grapheme in text.graphemes(true).rev() {
        width += text::width(grapheme);
        if width > columns {
            break;
        }
        kept.push(grapheme);
    }
    kept.into_iter().rev().collect()
}

/// The byte range of one text in another, ignoring case.
fn find_ignoring_case(text: &str, wanted: &str) -> Option<(usize, usize)> {
    let folded: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
    text.char_indices().map(|(at, _)| at).chain([text.len()]).find_map(|at| {
        let mut left = folded.as_slice();
        let mut end = at;
        for c in text.get(at..)?.chars() {
            if left.is_empty() {
                break;
            }
            for lower in c.to_lowercase() {
                left = left.strip_prefix(&[lower])?;
            }
            end += c.len_utf8();
        }
        left.is_empty().then_some((at, end))
    })
}

pub(super) fn plain_area() -> TextArea<'static> {
    let mut text = TextArea::default();
    text.set_wrap_mode(WrapMode::WordOrGlyph);
    text.set_cursor_render_mode(CursorRenderMode::Hidden);
    text.set_cursor_line_style(Style::default());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<String> {
        ["cargo test", "运行测试", "git status", "Cargo build\nthen test", "cargo test"]
            .map(String::from)
            .to_vec()
    }

    fn search_for(keys: &str) -> HistorySearch {
        let mut search = HistorySearch::from_lines(vec!["a draft".into()]);
        for c in keys.chars() {
            search.add(&c.to_string(), &entries());
        }
        search
    }

    #[test]
    fn the_note_gives_the_number_searched_when_older_entries_may_be_dropped() {
        let many: Vec<String> = (0..MAX_ENTRIES).map(|n| format!("line {n}")).collect();
        let mut search = HistorySearch::from_lines(vec!["a draft".into()]);
        search.add("nowhere", &many);
        assert_eq!(search.note(Lang::En), "none of the last 1000 messages contains this");
        let mut search = HistorySearch::from_lines(vec!["a draft".into()]);
        search.add("line 0", &many);
        search.step(SearchSource::Older, &many);
        assert_eq!(search.note(Lang::En), "nothing older among the last 1000 messages");
        assert_eq!(search_for("nowhere").note(Lang::En), "no sent message contains this");
    }

    #[test]
    fn each_letter_narrows_the_search_from_the_newest_back() {
        assert_eq!(search_for("test").current_entry(&entries()), Some("cargo test"));
        assert_eq!(search_for("build").current_entry(&entries()), Some("Cargo build\nthen test"));
        assert_eq!(search_for("测试").current_entry(&entries()), Some("运行测试"));
        assert_eq!(search_for("nowhere").current_entry(&entries()), None);
    }

    #[test]
    fn older_skips_duplicates_and_stops_at_the_oldest() {
        let entries = entries();
        let mut search = search_for("CARGO");
        search.step(SearchSource::Older, &entries);
        assert_eq!(search.current_entry(&entries), Some("Cargo build\nthen test"));
        search.step(SearchSource::Older, &entries);
        assert_eq!(search.hit_index(), Some(0));
        assert!(search.has_no_note());
        search.step(SearchSource::Older, &entries);
        assert_eq!(search.hit_index(), Some(0));
        assert!(!search.has_no_note(), "it says that there is nothing older");
        search.step(SearchSource::Newer, &entries);
        assert_eq!(search.current_entry(&entries), Some("Cargo build\nthen test"));
    }

    #[test]
    fn removing_a_letter_searches_from_the_newest_again() {
        let entries = entries();
        let mut search = search_for("testx");
        assert_eq!(search.current_entry(&entries), None);
        search.back(&entries);
        assert_eq!(search.current_entry(&entries), Some("cargo test"));
    }

    #[test]
    fn a_match_ignores_case_in_every_script() {
        assert_eq!(find_ignoring_case("Straße ÄB", "äb"), Some((8, 11)));
        assert_eq!(find_ignoring_case("看看中文", "中文"), Some((6, 12)));
        assert_eq!(find_ignoring_case("a👩‍🚀b", "b"), Some((12, 13)));
        assert_eq!(find_ignoring_case("abc", ""), Some((0, 0)));
        assert_eq!(find_ignoring_case("", "x"), None);
        assert_eq!(find_ignoring_case("ab", "abc"), None);
    }
}
