//! The error that stops a script: a sentence, and the place in a file.

use std::fmt;

use super::fault::ScriptError;
use super::syntax::SourcePosition;
use crate::words::{Localize, LocalizedText, Phrase, script_run as words};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    pub place: SourcePosition,
}

impl Location {
    pub fn new(file: &str, place: SourcePosition) -> Location {
        Location { file: file.to_owned(), place }
    }
}

/// The reason a script stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedError {
    pub what: LocalizedText,
    pub spot: Option<Location>,
}

impl LocatedError {
    pub fn new(what: impl Into<LocalizedText>) -> LocatedError {
        LocatedError { what: what.into(), spot: None }
    }

    pub fn at(what: impl Into<LocalizedText>, spot: Location) -> LocatedError {
        LocatedError { what: what.into(), spot: Some(spot) }
    }

    /// The same failure, with this place if it has none of its own.
    #[must_use]
    pub fn or_at(mut self, file: &str, place: SourcePosition) -> LocatedError {
        self.spot.get_or_insert_with(|| Location::new(file, place));
        self
    }
}

impl Localize for LocatedError {
    fn localized(&self) -> LocalizedText {
        match &self.spot {
            None => self.what.clone(),
            Some(Location { file, place }) => words::AT
                .with("file", file.clone())
                .with("line", place.line)
                .with("column", place.column)
                .with("what", self.what.clone()),
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
