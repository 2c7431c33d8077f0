//! The list over the input while a mention is typed: the files whose names match the text after the
//! `@`.
//!
//! A thread, `finder`, searches; this file holds the query, filters the results so far, selects and
//! draws.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::composer::MentionDraft;
use super::draw::{self, DrawContext};
use super::fuzzy_list::{self, ListSelection, RowStyle};
use super::keys::KeyAction;
use super::text;
use avocet_core::i18n::{common, input as phrases};

mod finder;
mod matcher;

pub use finder::Finder;
pub use matcher::{FileMatch, FileMatcher, FileMatches, MatchCoverage};

#[derive(Debug, Default)]
pub struct FileList {
    /// The mention at the cursor.
    mention: Option<MentionDraft>,
    /// The start of a mention whose list the user closed.
    closed_mention: Option<(usize, usize)>,
    matches: FileMatches,
    /// The resources of MCP servers, which are mentioned like files.
    pub resources: Vec<String>,
    selection: ListSelection,
}

/// The result of a key in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileListAction {
    Stay,
    /// This path was chosen.
    Insert(String),
    /// Continue inside this folder.
    OpenFolder(String),
}

impl FileList {
    /// True while there is something to choose from.
    pub fn is_open(&self) -> bool {
        self.mention.is_some() && !self.matches.hits.is_empty()
    }

    /// The query for the finder; `None`: no search.
    pub fn query(&self) -> Option<&str> {
        self.mention.as_ref().map(|mention| mention.query.as_str())
    }

    /// After each change of the input. Names that no longer match are removed at once, so that
    /// Enter never inserts a name for an earlier query.
    pub fn refresh(&mut self, mention: Option<MentionDraft>) {
        let at = mention.as_ref().map(|mention| mention.at);
        if at.is_none() || self.closed_mention != at {
            self.closed_mention = None;
        }
        let before = self.mention.take();
        self.mention = mention.filter(|_| self.closed_mention.is_none());
        match (&before, &self.mention) {
            (_, None) => self.matches = FileMatches::default(),
            (Some(before), Some(now)) if before.query == now.query => {}
            (_, Some(now)) => {
                self.selection = ListSelection::default();
                self.matches.narrow(&now.query);
            }
        }
    }

    /// Takes results. Those for another query came too late.
    pub fn set_matches(&mut self, mut matches: FileMatches) {
        if self.query() == Some(matches.query.as_str()) {
            matches.add_names(&self.resources);
            // A moved selection stays on its item; an unmoved one stays on the first.
            let kept = self.selected_path().filter(|_| self.selection.is_moved());
            let place = kept.and_then(|kept| matches.hits.iter().position(|hit| hit.path == kept));
            self.selection = place.map(ListSelection::at).unwrap_or_default();
            self.matches = matches;
        }
    }

    fn selected_path(&self) -> Option<String> {
        self.matches.hits.get(self.selection.row()).map(|hit| hit.path.clone())
    }

    pub fn close(&mut self) {
        self.closed_mention = self.mention.take().map(|mention| mention.at);
        self.matches = FileMatches::default();
    }

    pub fn act(&mut self, action: KeyAction) -> FileListAction {
        let count = self.matches.hits.len();
        match (action, self.selected_path()) {
            (KeyAction::Next, _) => self.selection.next(count),
            (KeyAction::Previous, _) => self.selection.previous(count),
            (KeyAction::Complete, Some(path)) if path.ends_with('/') => {
                return FileListAction::OpenFolder(path);
            }
            (KeyAction::Complete | KeyAction::Accept, Some(path)) => {
                return FileListAction::Insert(path);
            }
            _ => self.close(),
        }
        FileListAction::Stay
    }

    /// A click on a row of the list, drawn at the bottom of `above`, inserts it; `None`: there is
    /// no row.
    pub fn click(&mut self, above: Rect, y: u16) -> Option<FileListAction> {
        let count = self.matches.hits.len();
        let rows = fuzzy_list::list_rows(fuzzy_list::list_area(count, above)?);
        self.selection = ListSelection::at(self.selection.row_at(count, rows, y)?);
        Some(self.act(KeyAction::Accept))
    }

    /// Draws the list at the bottom of `above`, on top of the content.
    pub fn draw(&self, above: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let hits = &self.matches.hits;
        let looking = self.matches.coverage == MatchCoverage::Searching;
        if self.mention.is_none() || (hits.is_empty() && !looking) {
            return;
        }
        let Some(area) = fuzzy_list::list_area(hits.len(), above) else { return };
        let title = phrases::FILES_TITLE.text(cx.lang);
        let rows = fuzzy_list::draw_head(area, buf, cx, title, self.count(cx));
        self.selection.draw_rows(hits.len(), rows, buf, cx.theme, |row, area, buf, style| {
            if let Some(hit) = hits.get(row) {
                hit.draw(area, buf, style);
            }
        });
    }

    /// `3/1,204`, and whether that is all.
    fn count(&self, cx: &DrawContext<'_>) -> String {
        let note = match self.matches.coverage {
            MatchCoverage::Searching => Some(common::SEARCHING.text(cx.lang).to_owned()),
            MatchCoverage::Complete => None,
            MatchCoverage::Truncated => {
                Some(phrases::FILES_CUT.with("n", self.matches.names_read).text(cx.lang))
            }
        };
        self.selection.count(self.matches.match_count, note.as_deref())
    }
}

impl FileMatch {
    fn draw(&self, area: Rect, buf: &mut Buffer, style: &RowStyle) {
        let mut line = Line::from(style.sigil());
        let room = usize::from(area.width).saturating_sub(4);
        let skipped = match skipped_chars(&self.path, room) {
            0 => 0,
            _ => skipped_chars(&self.path, room.saturating_sub(text::GAP.len() - 1)),
        };
        if skipped > 0 {
            line.push_span(Span::styled(text::GAP, style.base));
        }
        line.spans.extend(style.highlight(&self.path, skipped, &self.positions));
        draw::line(area, buf, 0, area.width.into(), &line);
    }
}

/// Characters to omit at the start of a path so that its end fits, which is more useful than the
/// start.
fn skipped_chars(path: &str, columns: usize) -> usize {
    if text::width(path) <= columns {
        return 0;
    }
    let mut width = 1;
    let fits = |c: &char| {
        width += text::width(c.encode_utf8(&mut [0; 4]));
        width <= columns
    };
    path.chars().count() - path.chars().rev().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mention(query: &str) -> Option<MentionDraft> {
        Some(MentionDraft { at: (0, 0), len: query.chars().count() + 1, query: query.into() })
    }

    fn hits(query: &str, paths: &[&str]) -> FileMatches {
        let hit = |path: &&str| FileMatch { path: (*path).into(), positions: vec![] };
        let hits: Vec<_> = paths.iter().map(hit).collect();
        let (fits, seen) = (hits.len(), hits.len());
        FileMatches {
            query: query.into(),
            hits,
            match_count: fits,
            names_read: seen,
            coverage: MatchCoverage::Complete,
        }
    }

    fn files(query: &str, paths: &[&str]) -> FileList {
        let mut files = FileList::default();
        files.refresh(mention(query));
        files.set_matches(hits(query, paths));
        files
    }

    #[test]
    fn stale_names_are_removed_before_the_finder_answers() {
        let mut files = files("l", &["Cargo.lock", "src/lib.rs"]);
        files.refresh(mention("li"));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Insert("src/lib.rs".into()));
        files.refresh(mention("lix"));
        assert!(!files.is_open());
        files.set_matches(hits("l", &["Cargo.lock"]));
        assert!(!files.is_open(), "an answer that came too late");
    }

    #[test]
    fn a_moved_selection_stays_when_more_is_found() {
        let mut files = files("", &["a", "b"]);
        files.act(KeyAction::Next);
        files.set_matches(hits("", &["0", "a", "b", "c"]));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Insert("b".into()));
    }

    #[test]
    fn tab_enters_a_folder_and_enter_inserts_it() {
        let mut files = files("", &["src/"]);
        assert_eq!(files.act(KeyAction::Complete), FileListAction::OpenFolder("src/".into()));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Insert("src/".into()));
    }

    #[test]
    fn a_closed_list_stays_closed_for_its_mention() {
        let mut files = files("", &["a"]);
        files.act(KeyAction::Close);
        files.refresh(mention("a"));
        assert_eq!(files.query(), None);
        files.refresh(None);
        files.refresh(mention("a"));
        assert_eq!(files.query(), Some("a"));
    }

    #[test]
    fn a_long_path_shows_its_end() {
        assert_eq!(skipped_chars("abc", 3), 0);
        assert_eq!(skipped_chars("abcdef", 4), 3);
        assert_eq!(skipped_chars("中文件", 5), 1);
    }
}
