//! The parts of the input that are one unit for the cursor: folded pastes, mentions of files, and
//! pasted images.

use super::image::PastedImages;
use super::mention::Mentions;
use super::paste::FoldedPastes;
use crate::vim::GridPosition;

#[derive(Debug, Default)]
pub struct ComposerUnits {
    pub folds: FoldedPastes,
    pub mentions: Mentions,
    pub images: PastedImages,
}

/// The side on which to leave a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitSide {
    Start,
    End,
}

impl ComposerUnits {
    /// The units in a line: byte ranges, which do not overlap.
    pub fn ranges(&self, line: &str) -> Vec<(usize, usize)> {
        let mut places = self.folds.mark_ranges(line);
        let apart =
            |place: &(usize, usize)| places.iter().all(|p| place.1 <= p.0 || p.1 <= place.0);
        let others = self.mentions.ranges(line).into_iter().chain(self.images.ranges(line));
        let others: Vec<_> = others.filter(apart).collect();
        places.extend(others);
        places.sort_unstable();
        places
    }

    /// What `make` makes of every unit of a text.
    pub fn map<T>(
        &self,
        lines: &[String],
        make: impl Fn(usize, &str, (usize, usize)) -> T,
    ) -> Vec<T> {
        let unit = |(row, line): (usize, &String)| {
            let ranges = self.ranges(line).into_iter();
            ranges.map(|range| make(row, line, range)).collect::<Vec<_>>()
        };
        lines.iter().enumerate().flat_map(unit).collect()
    }

    /// A unit is deleted as a whole or not at all.
    pub(super) fn snap(
        &self,
        lines: &[String],
        (row, column): GridPosition,
        side: UnitSide,
    ) -> GridPosition {
        let Some(line) = lines.get(row) else { return (row, column) };
        let units = self.ranges(line).into_iter();
        let mut ends = units.map(|(from, to)| (chars_before(line, from), chars_before(line, to)));
        match (ends.find(|(from, to)| *from < column && column < *to), side) {
            (Some((from, _)), UnitSide::Start) => (row, from),
            (Some((_, to)), UnitSide::End) => (row, to),
            (None, _) => (row, column),
        }
    }
}

pub(super) fn chars_before(line: &str, at: usize) -> usize {
    line.get(..at).unwrap_or_default().chars().count()
}
