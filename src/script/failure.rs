//! The error that stops a script: a sentence, and the place in a file.

use std::fmt;

use super::fault::Fault;
use super::syntax::Place;
use crate::words::{Localize, LocalizedText, Phrase, script_run as words};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: String,
    pub place: Place,
}

impl Spot {
    pub fn new(file: &str, place: Place) -> Spot {
        Spot { file: file.to_owned(), place }
    }
}

/// The reason a script stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub what: LocalizedText,
    pub spot: Option<Spot>,
}

impl Failure {
    pub fn new(what: impl Into<LocalizedText>) -> Failure {
        Failure { what: what.into(), spot: None }
    }

    pub fn at(what: impl Into<LocalizedText>, spot: Spot) -> Failure {
        Failure { what: what.into(), spot: Some(spot) }
    }

    /// The same failure, with this place if it has none of its own.
    #[must_use]
    pub fn or_at(mut self, file: &str, place: Place) -> Failure {
        self.spot.get_or_insert_with(|| Spot::new(file, place));
        self
    }
}

impl Localize for Failure {
    fn say(&self) -> LocalizedText {
        match &self.spot {
            None => self.what.clone(),
            Some(Spot { file, place }) => words::AT
                .with("file", file.clone())
                .with("line", place.line)
                .with("column", place.column)
                .with("what", self.what.clone()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say().fmt(f)
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::new(fault.0)
    }
}

impl From<LocalizedText> for Failure {
    fn from(what: LocalizedText) -> Failure {
        Failure::new(what)
    }
}

impl From<Phrase> for Failure {
    fn from(what: Phrase) -> Failure {
        Failure::new(what)
    }
}
