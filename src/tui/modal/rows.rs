//! Rows of a dialog: some already laid out, and long diffs whose rows are laid out when they come
//! into view.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use ratatui::style::Style;
use ratatui::text::Line;

use crate::protocol::Change;
use crate::tui::paint::{self, DrawContext};
use crate::tui::transcript::LongDiff;

#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Set(Vec<Line<'static>>),
    Long(Arc<LongDiff>, Range<usize>),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::Set(lines) => lines.len(),
            Part::Long(_, range) => range.len(),
        }
    }
}

impl From<Vec<Line<'static>>> for Rows {
    fn from(lines: Vec<Line<'static>>) -> Rows {
        Rows(vec![Part::Set(lines)])
    }
}

impl FromIterator<Line<'static>> for Rows {
    fn from_iter<T: IntoIterator<Item = Line<'static>>>(lines: T) -> Rows {
        Rows(vec![Part::Set(lines.into_iter().collect())])
    }
}

impl Extend<Line<'static>> for Rows {
    fn extend<T: IntoIterator<Item = Line<'static>>>(&mut self, lines: T) {
        match self.0.last_mut() {
            Some(Part::Set(known)) => known.extend(lines),
            Some(Part::Long(..)) | None => self.0.push(Part::Set(lines.into_iter().collect())),
        }
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.0.iter().map(Part::len).sum()
    }

    pub fn push(&mut self, line: Line<'static>) {
        self.extend([line]);
    }

    pub fn put(&mut self, long: Arc<LongDiff>) {
        let all = 0..long.height();
        self.0.push(Part::Long(long, all));
    }

    pub fn append(&mut self, other: Rows) {
        self.0.extend(other.0);
    }

    /// Adds a label before the first row. A long diff starts at the left edge.
    pub fn labelled(self, label: &str, tone: Style, column: usize) -> Rows {
        let mut label = Some(label);
        let parts = self.0.into_iter().map(|part| match part {
            Part::Set(lines) => {
                Part::Set(paint::labelled(label.take().unwrap_or_default(), tone, column, lines))
            }
            long @ Part::Long(..) => long,
        });
        Rows(parts.collect())
    }

    /// Splits off the rows from `at` on.
    pub fn split_off(&mut self, at: usize) -> Rows {
        let (mut kept, mut off, mut left) = (Vec::new(), Vec::new(), at);
        for part in std::mem::take(&mut self.0) {
            let here = left.min(part.len());
            left -= here;
            match part {
                Part::Set(mut lines) => {
                    off.push(Part::Set(lines.split_off(here)));
                    kept.push(Part::Set(lines));
                }
                Part::Long(long, range) => {
                    let middle = range.start + here;
                    kept.push(Part::Long(Arc::clone(&long), range.start..middle));
                    off.push(Part::Long(long, middle..range.end));
                }
            }
        }
        self.0 = kept;
        Rows(off)
    }

    /// Lays out `take` rows from row `from` on.
    pub fn window(&self, from: usize, take: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let (mut out, mut skip) = (Vec::new(), from);
        for part in &self.0 {
            let (len, wanted) = (part.len(), take.saturating_sub(out.len()));
            if skip < len && wanted > 0 {
                let end = (skip + wanted).min(len);
                match part {
                    Part::Set(lines) => {
                        out.extend(lines.get(skip..end).unwrap_or_default().iter().cloned());
                    }
                    Part::Long(long, range) => {
                        out.extend(long.window(
                            range.start + skip,
                            end - skip,
                            pen.theme,
                            pen.lang,
                        ));
                    }
                }
            }
            skip = skip.saturating_sub(len);
        }
        out
    }
}

/// Long diffs of a question, measured once for a width.
#[derive(Debug, Default)]
pub struct Longs(Mutex<Vec<(Key, Arc<LongDiff>)>>);

/// The file, its new content, and the width.
type Key = (String, Option<String>, usize);

/// At most this many are kept: those of a batch.
const MOST: usize = 64;

impl Longs {
    pub fn of(
        &self,
        change: &Change,
        width: usize,
        set: impl FnOnce() -> LongDiff,
    ) -> Arc<LongDiff> {
        let key = (change.path.clone(), change.after.clone(), width);
        let Ok(mut known) = self.0.lock() else { return Arc::new(set()) };
        if let Some((_, long)) = known.iter().find(|(other, _)| *other == key) {
            return Arc::clone(long);
        }
        let long = Arc::new(set());
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((key, Arc::clone(&long)));
        long
    }
}
