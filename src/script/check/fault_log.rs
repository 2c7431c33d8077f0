//! The faults that a check found so far, and the place that is being checked.

use super::place::SourceText;
use crate::error::{LocatedError, Location, SourcePosition};
use crate::syntax::ScriptValue;
use avocet_core::i18n::LocalizedText;

/// Maximum number of faults that are collected before they are sorted, and the first are reported.
const MAX_COLLECTED: usize = 400;

pub(super) struct FaultLog<'a> {
    file: &'a str,
    pub source: SourceText<'a>,
    /// The place of the node that is checked, and its text if it has several lines.
    pub place: SourcePosition,
    text: String,
    pub found: Vec<LocatedError>,
}

impl<'a> FaultLog<'a> {
    pub fn new(file: &'a str, source: SourceText<'a>, position: SourcePosition) -> FaultLog<'a> {
        FaultLog { file, source, place: position, text: String::new(), found: Vec::new() }
    }

    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_COLLECTED
    }

    /// A place of the file, for what is checked later.
    pub fn location(&self, position: SourcePosition) -> Location {
        Location::new(self.file, position)
    }

    pub fn enter(&mut self, value: &ScriptValue) {
        self.place = value.position;
        let text = value.as_text().filter(|text| text.contains('\n'));
        self.text = text.unwrap_or_default().to_owned();
    }

    pub fn add(&mut self, what: impl Into<LocalizedText>) {
        self.add_at(self.place, what);
    }

    pub fn add_at(&mut self, position: SourcePosition, what: impl Into<LocalizedText>) {
        if !self.is_full() {
            self.found.push(LocatedError::with_location(what, self.location(position)));
        }
    }

    /// A fault of a part of the text that is checked.
    pub fn add_of(&mut self, part: &str, what: impl Into<LocalizedText>) {
        self.add_at(self.place_of(part), what);
    }

    pub fn place_of(&self, part: &str) -> SourcePosition {
        self.source.place_of(part, self.place, &self.text)
    }

    /// A fault of a line of the text that is checked, counted from 0.
    pub fn add_at_line(&mut self, line: usize, what: impl Into<LocalizedText>) {
        let place = self.source.place_of_line(line, self.place, &self.text);
        self.add_at(place, what);
    }
}
