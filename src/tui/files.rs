//! The list over the input while a mention is typed: the files whose names match the text after the
//! `@`.
//!
//! A thread, `finder`, searches; this file holds the query, filters the results so far, selects and
//! draws.

use nucleo_matcher::Matcher;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};

use super::composer::MentionDraft;
use super::draw::{self, DrawContext, HorizontalRule};
use super::keys::KeyAction;
use super::symbols::{CHOSEN, NOT_CHOSEN};
use super::text;
use crate::i18n::{common, input as words};

mod finder;
mod matcher;

pub use finder::Finder;
pub use matcher::{FileMatch, FileMatcher, FileMatches, MatchCoverage};

/// Names visible at once.
const ROWS: usize = 8;

#[derive(Debug, Default)]
pub struct FileList {
    /// The mention at the cursor.
    mention: Option<MentionDraft>,
    /// The start of a mention whose list the user closed.
    closed_mention: Option<(usize, usize)>,
    matches: FileMatches,
    chosen: usize,
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
                self.chosen = 0;
                let mut matcher = Matcher::new(matcher::config());
                self.matches.narrow(&now.query, &mut matcher);
            }
        }
    }

    /// Takes results. Those for another query came too late.
    pub fn set_matches(&mut self, found: FileMatches) {
        if self.query() == Some(found.query.as_str()) {
            let kept = self.matches.hits.get(self.chosen).map(|hit| hit.path.clone());
            let place = |kept: String| found.hits.iter().position(|hit| hit.path == kept);
            // A moved selection stays on its item; an unmoved one stays on the first.
            self.chosen = kept.filter(|_| self.chosen > 0).and_then(place).unwrap_or(0);
            self.matches = found;
        }
    }

    pub fn close(&mut self) {
        self.closed_mention = self.mention.take().map(|mention| mention.at);
        self.matches = FileMatches::default();
    }

    pub fn act(&mut self, action: KeyAction) -> FileListAction {
        let count = self.matches.hits.len().max(1);
        let path = self.matches.hits.get(self.chosen).map(|hit| hit.path.clone());
        match (action, path) {
            (KeyAction::Next, _) => self.chosen = (self.chosen + 1) % count,
            (KeyAction::Previous, _) => self.chosen = (self.chosen + count - 1) % count,
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

    /// Draws the list at the bottom of `above`, on top of the content.
    pub fn draw(&self, above: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) {
        let looking = self.matches.coverage == MatchCoverage::Searching;
        if self.mention.is_none() || above.width < 12 || (self.matches.hits.is_empty() && !looking)
        {
            return;
        }
        let room = usize::from(above.height.saturating_sub(1)).min(ROWS);
        let shown = self.matches.hits.len().min(room);
        let height = u16::try_from(shown + 1).unwrap_or(1).min(above.height);
        let area = Rect { y: above.bottom() - height, height, ..above };
        Clear.render(area, buf);
        HorizontalRule::new(pen.theme.border)
            .left(Span::styled(words::FILES_TITLE.text(pen.lang), pen.theme.accent))
            .right(Span::styled(self.count(pen), pen.theme.dim))
            .draw(area, buf);
        let first = (self.chosen + 1).saturating_sub(shown);
        for (row, hit) in self.matches.hits.iter().enumerate().skip(first).take(shown) {
            let y = area.y + 1 + u16::try_from(row - first).unwrap_or(0);
            hit.draw(Rect { y, height: 1, ..area }, buf, pen, row == self.chosen);
        }
    }

    /// `3/1,204`, and whether that is all.
    fn count(&self, pen: &DrawContext<'_>) -> String {
        let place = (self.chosen + 1).min(self.matches.hits.len());
        let count = format!("{place}/{}", self.matches.match_count);
        let note = match self.matches.coverage {
            MatchCoverage::Searching => common::SEARCHING.text(pen.lang).to_owned(),
            MatchCoverage::Complete => return count,
            MatchCoverage::Truncated => {
                words::FILES_CUT.with("n", self.matches.names_read).text(pen.lang)
            }
        };
        format!("{count}  {note}")
    }
}

impl FileMatch {
    fn draw(&self, area: Rect, buf: &mut Buffer, pen: &DrawContext<'_>, chosen: bool) {
        let theme = pen.theme;
        let (sigil, base) =
            if chosen { (CHOSEN, theme.selection) } else { (NOT_CHOSEN, theme.text) };
        if chosen {
            buf.set_style(area, theme.selection);
        }
        let mut line = Line::from(Span::styled(sigil, base));
        let room = usize::from(area.width).saturating_sub(4);
        let hit = base.patch(Style { bg: base.bg, ..theme.accent }).add_modifier(Modifier::BOLD);
        let skipped = match skipped_chars(&self.path, room) {
            0 => 0,
            _ => skipped_chars(&self.path, room.saturating_sub(text::GAP.len() - 1)),
        };
        if skipped > 0 {
            line.push_span(Span::styled(text::GAP, base));
        }
        for (at, c) in self.path.chars().enumerate().skip(skipped) {
            let marked = u32::try_from(at).is_ok_and(|at| self.positions.contains(&at));
            let style = if marked { hit } else { base };
            match line.spans.last_mut() {
                Some(span) if span.style == style => span.content.to_mut().push(c),
                _ => line.push_span(Span::styled(c.to_string(), style)),
            }
        }
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
