//! Rows of a dialog: some already laid out, and long diffs whose rows are laid out when they come
//! into view.

use std::cell::RefCell;
use std::ops::Range;

use ratatui::text::Line;

use crate::draw::DrawContext;
use crate::transcript::{DiffView, HighlightedCode, Snippet, language_of};
use avocet_core::protocol::Change;

#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<RowsPart>);

#[derive(Clone, Debug)]
enum RowsPart {
    Lines(Vec<Line<'static>>),
    Diff(DiffView, Range<usize>),
}

impl RowsPart {
    fn len(&self) -> usize {
        match self {
            RowsPart::Lines(lines) => lines.len(),
            RowsPart::Diff(_, range) => range.len(),
        }
    }
}

impl From<Vec<Line<'static>>> for Rows {
    fn from(lines: Vec<Line<'static>>) -> Rows {
        Rows(vec![RowsPart::Lines(lines)])
    }
}

impl FromIterator<Line<'static>> for Rows {
    fn from_iter<T: IntoIterator<Item = Line<'static>>>(lines: T) -> Rows {
        Rows(vec![RowsPart::Lines(lines.into_iter().collect())])
    }
}

impl Extend<Line<'static>> for Rows {
    fn extend<T: IntoIterator<Item = Line<'static>>>(&mut self, lines: T) {
        match self.0.last_mut() {
            Some(RowsPart::Lines(known)) => known.extend(lines),
            Some(RowsPart::Diff(..)) | None => {
                self.0.push(RowsPart::Lines(lines.into_iter().collect()))
            }
        }
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.0.iter().map(RowsPart::len).sum()
    }

    pub fn push(&mut self, line: Line<'static>) {
        self.extend([line]);
    }

    pub fn push_diff(&mut self, diff: DiffView) {
        let all = 0..diff.height();
        self.0.push(RowsPart::Diff(diff, all));
    }

    pub fn append(&mut self, rows: Rows) {
        self.0.extend(rows.0);
    }

    /// Splits off the rows from `at` on.
    pub fn split_off(&mut self, at: usize) -> Rows {
        let mut kept = Vec::new();
        let mut off = Vec::new();
        let mut left = at;

        for part in std::mem::take(&mut self.0) {
            let here = left.min(part.len());
            left -= here;
            match part {
                RowsPart::Lines(mut lines) => {
                    off.push(RowsPart::Lines(lines.split_off(here)));
                    kept.push(RowsPart::Lines(lines));
                }
                RowsPart::Diff(long, range) => {
                    let middle = range.start + here;
                    kept.push(RowsPart::Diff(long.clone(), range.start..middle));
                    off.push(RowsPart::Diff(long, middle..range.end));
                }
            }
        }
        self.0 = kept;
        Rows(off)
    }

    /// Lays out `take` rows from row `from` on.
    pub fn window(&self, from: usize, take: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut out = Vec::new();
        let mut skip = from;

        for part in &self.0 {
            let (len, wanted) = (part.len(), take.saturating_sub(out.len()));
            if skip < len && wanted > 0 {
                let end = (skip + wanted).min(len);
                match part {
                    RowsPart::Lines(lines) => {
                        out.extend(lines.get(skip..end).unwrap_or_default().iter().cloned());
                    }
                    RowsPart::Diff(long, range) => {
                        out.extend(long.window(range.start + skip, end - skip, cx.theme, cx.lang));
                    }
                }
            }
            skip = skip.saturating_sub(len);
        }
        out
    }
}

/// The diffs of a question, measured once for a width.
#[derive(Debug, Default)]
pub struct DiffViewCache(RefCell<Vec<(Key, DiffView)>>);

/// The file, its new content, and the width.
type Key = (String, Option<String>, usize);

/// At most this many are kept: those of a batch.
const MAX_ROWS: usize = 64;

impl DiffViewCache {
    pub fn get_or_insert_with(
        &self,
        change: &Change,
        width: usize,
        set: impl FnOnce() -> DiffView,
    ) -> DiffView {
        let key = (change.path.clone(), change.after.clone(), width);
        let mut known = self.0.borrow_mut();
        if let Some((_, view)) = known.iter().find(|(other, _)| *other == key) {
            return view.clone();
        }
        let view = set();
        if known.len() >= MAX_ROWS {
            known.remove(0);
        }
        known.push((key, view.clone()));
        view
    }

    /// Code of a diff that has no colours yet.
    pub fn next_unhighlighted(&self) -> Option<Snippet> {
        let known = self.0.borrow();
        let mut views = known.iter().enumerate();
        views.find_map(|(at, (key, view))| view.next_unhighlighted(at, language_of(&key.0)))
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&self, code: HighlightedCode) {
        let mut known = self.0.borrow_mut();
        let at = code.index_in_dialog();
        if let Some((_, view)) = at.and_then(|at| known.get_mut(at)) {
            view.add_highlight(code);
        }
    }
}
