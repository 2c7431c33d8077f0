//! The error that stops a script: a sentence, and the place in a file.

use std::fmt;

use super::fault::ScriptError;
use crate::i18n::{Localize, LocalizedText, Phrase, script_run as words};

/// Line and column, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    pub line: u32,
    pub column: u32,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    pub position: SourcePosition,
}

impl Location {
    pub fn new(file: &str, place: SourcePosition) -> Location {
        Location { file: file.to_owned(), position: place }
    }
}

/// The reason a script stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedError {
    pub message: LocalizedText,
    pub location: Option<Location>,
}

impl LocatedError {
    pub fn new(what: impl Into<LocalizedText>) -> LocatedError {
        LocatedError { message: what.into(), location: None }
    }

    pub fn with_location(what: impl Into<LocalizedText>, spot: Location) -> LocatedError {
        LocatedError { message: what.into(), location: Some(spot) }
    }

    /// The same failure, with this place if it has none of its own.
    #[must_use]
    pub fn or_location(mut self, file: &str, place: SourcePosition) -> LocatedError {
        self.location.get_or_insert_with(|| Location::new(file, place));
        self
    }
}

impl Localize for LocatedError {
    fn localized(&self) -> LocalizedText {
        match &self.location {
            None => self.message.clone(),
            Some(Location { file, position: place }) => words::AT
                .with("file", file.clone())
                .with("line", place.line)
                .with("column", place.column)
                .with("what", self.message.clone()),
        }
    }
}

impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.localized().fmt(f)
    }
}

impl std::error::Error for LocatedError {}

impl From<ScriptError> for LocatedError {
    fn from(fault: ScriptError) -> LocatedError {
        LocatedError::new(fault.0)
    }
}

impl From<LocalizedText> for LocatedError {
    fn from(what: LocalizedText) -> LocatedError {
        LocatedError::new(what)
    }
}

impl From<Phrase> for LocatedError {
    fn from(what: Phrase) -> LocatedError {
        LocatedError::new(what)
    }
}
