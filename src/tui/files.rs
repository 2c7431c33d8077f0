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

use super::clean;
use super::composer::MentionDraft;
use super::glyph::{CHOSEN, NOT_CHOSEN};
use super::keys::KeyAction;
use super::paint::{self, DrawContext, HorizontalRule};
use crate::words::input as words;

mod finder;
mod sieve;

pub use finder::Finder;
pub use sieve::{FileMatch, FileMatcher, FileMatches, MatchCoverage};

/// Names visible at once.
const ROWS: usize = 8;

#[derive(Debug, Default)]
pub struct FileList {
    /// The mention at the cursor.
    mention: Option<MentionDraft>,
    /// The start of a mention whose list the user closed.
    closed: Option<(usize, usize)>,
    found: FileMatches,
    chosen: usize,
}

/// The result of a key in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileListAction {
    Stay,
    /// This path was chosen.
    Take(String),
    /// Continue inside this folder.
    Enter(String),
}

impl FileList {
    /// True while there is something to choose from.
    pub fn is_open(&self) -> bool {
        self.mention.is_some() && !self.found.hits.is_empty()
    }

    /// The query for the finder; `None`: no search.
    pub fn wanted(&self) -> Option<&str> {
        self.mention.as_ref().map(|mention| mention.query.as_str())
    }

    /// After each change of the input. Names that no longer match are removed at once, so that
    /// Enter never inserts a name for an earlier query.
    pub fn refresh(&mut self, mention: Option<MentionDraft>) {
        let at = mention.as_ref().map(|mention| mention.at);
        if at.is_none() || self.closed != at {
            self.closed = None;
        }
        let before = self.mention.take();
        self.mention = mention.filter(|_| self.closed.is_none());
        match (&before, &self.mention) {
            (_, None) => self.found = FileMatches::default(),
            (Some(before), Some(now)) if before.query == now.query => {}
            (_, Some(now)) => {
                self.chosen = 0;
                let mut matcher = Matcher::new(sieve::config());
                self.found.narrow(&now.query, &mut matcher);
            }
        }
    }

    /// Takes results. Those for another query came too late.
    pub fn found(&mut self, found: FileMatches) {
        if self.wanted() == Some(found.query.as_str()) {
            let kept = self.found.hits.get(self.chosen).map(|hit| hit.path.clone());
            let place = |kept: String| found.hits.iter().position(|hit| hit.path == kept);
            // A moved selection stays on its item; an unmoved one stays on the first.
            self.chosen = kept.filter(|_| self.chosen > 0).and_then(place).unwrap_or(0);
            self.found = found;
        }
    }

    pub fn close(&mut self) {
        self.closed = self.mention.take().map(|mention| mention.at);
        self.found = FileMatches::default();
    }

    pub fn act(&mut self, action: KeyAction) -> FileListAction {
        let count = self.found.hits.len().max(1);
        let path = self.found.hits.get(self.chosen).map(|hit| hit.path.clone());
        match (action, path) {
            (KeyAction::Next, _) => self.chosen = (self.chosen + 1) % count,
            (KeyAction::Previous, _) => self.chosen = (self.chosen + count - 1) % count,
            (KeyAction::Complete, Some(path)) if path.ends_with('/') => {
                return FileListAction::Enter(path);
            }
            (KeyAction::Complete | KeyAction::Accept, Some(path)) => {
                return FileListAction::Take(path);
            }
            _ => self.close(),
        }
        FileListAction::Stay
    }

    /// Draws the list at the bottom of `above`, on top of the content.
    pub fn draw(&self, above: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) {
        let looking = self.found.reach == MatchCoverage::Looking;
        if self.mention.is_none() || above.width < 12 || (self.found.hits.is_empty() && !looking) {
            return;
        }
        let room = usize::from(above.height.saturating_sub(1)).min(ROWS);
        let shown = self.found.hits.len().min(room);
        let height = u16::try_from(shown + 1).unwrap_or(1).min(above.height);
        let area = Rect { y: above.bottom() - height, height, ..above };
        Clear.render(area, buf);
        HorizontalRule::new(pen.theme.border)
            .left(Span::styled(words::FILES_TITLE.text(pen.lang), pen.theme.accent))
            .right(Span::styled(self.count(pen), pen.theme.dim))
            .draw(area, buf);
        let first = (self.chosen + 1).saturating_sub(shown);
        for (row, hit) in self.found.hits.iter().enumerate().skip(first).take(shown) {
            let y = area.y + 1 + u16::try_from(row - first).unwrap_or(0);
            hit.draw(Rect { y, height: 1, ..area }, buf, pen, row == self.chosen);
        }
    }

    /// `3/1,204`, and whether that is all.
    fn count(&self, pen: &DrawContext<'_>) -> String {
        let place = (self.chosen + 1).min(self.found.hits.len());
        let count = format!("{place}/{}", self.found.fits);
        let note = match self.found.reach {
            MatchCoverage::Looking => words::FILES_LOOKING.text(pen.lang).to_owned(),
            MatchCoverage::Whole => return count,
            MatchCoverage::Cut => words::FILES_CUT.with("n", self.found.seen).text(pen.lang),
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
        let skipped = match ends_within(&self.path, room) {
            0 => 0,
            _ => ends_within(&self.path, room.saturating_sub(clean::GAP.len() - 1)),
        };
        if skipped > 0 {
            line.push_span(Span::styled(clean::GAP, base));
        }
        for (at, c) in self.path.chars().enumerate().skip(skipped) {
            let marked = u32::try_from(at).is_ok_and(|at| self.marks.contains(&at));
            let style = if marked { hit } else { base };
            match line.spans.last_mut() {
                Some(span) if span.style == style => span.content.to_mut().push(c),
                _ => line.push_span(Span::styled(c.to_string(), style)),
            }
        }
        paint::line(area, buf, 0, area.width.into(), &line);
    }
}

/// Characters to omit at the start of a path so that its end fits, which is more useful than the
/// start.
fn ends_within(path: &str, columns: usize) -> usize {
    if clean::width(path) <= columns {
        return 0;
    }
    let mut width = 1;
    let fits = |c: &char| {
        width += clean::width(c.encode_utf8(&mut [0; 4]));
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
        let hit = |path: &&str| FileMatch { path: (*path).into(), marks: vec![] };
        let hits: Vec<_> = paths.iter().map(hit).collect();
        let (fits, seen) = (hits.len(), hits.len());
        FileMatches { query: query.into(), hits, fits, seen, reach: MatchCoverage::Whole }
    }

    fn files(query: &str, paths: &[&str]) -> FileList {
        let mut files = FileList::default();
        files.refresh(mention(query));
        files.found(hits(query, paths));
        files
    }

    #[test]
    fn stale_names_are_removed_before_the_finder_answers() {
        let mut files = files("l", &["Cargo.lock", "src/lib.rs"]);
        files.refresh(mention("li"));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Take("src/lib.rs".into()));
        files.refresh(mention("lix"));
        assert!(!files.is_open());
        files.found(hits("l", &["Cargo.lock"]));
        assert!(!files.is_open(), "an answer that came too late");
    }

    #[test]
    fn a_moved_selection_stays_when_more_is_found() {
        let mut files = files("", &["a", "b"]);
        files.act(KeyAction::Next);
        files.found(hits("", &["0", "a", "b", "c"]));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Take("b".into()));
    }

    #[test]
    fn tab_enters_a_folder_and_enter_inserts_it() {
        let mut files = files("", &["src/"]);
        assert_eq!(files.act(KeyAction::Complete), FileListAction::Enter("src/".into()));
        assert_eq!(files.act(KeyAction::Accept), FileListAction::Take("src/".into()));
    }

    #[test]
    fn a_closed_list_stays_closed_for_its_mention() {
        let mut files = files("", &["a"]);
        files.act(KeyAction::Close);
        files.refresh(mention("a"));
        assert_eq!(files.wanted(), None);
        files.refresh(None);
        files.refresh(mention("a"));
        assert_eq!(files.wanted(), Some("a"));
    }

    #[test]
    fn a_long_path_shows_its_end() {
        assert_eq!(ends_within("abc", 3), 0);
        assert_eq!(ends_within("abcdef", 4), 3);
        assert_eq!(ends_within("中文件", 5), 1);
    }
}
