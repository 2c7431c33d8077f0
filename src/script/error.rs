//! The errors of scripts: a sentence, with the place in a file where that is known; and the other
//! reasons for which an instruction does not end normally.

use std::fmt;

use serde_json::Value;

use crate::i18n::{Localize, LocalizedText, Phrase, script_run as words};
use crate::text;

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

/// One sentence for the user: what happened, to what, what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub LocalizedText);

/// Longest part of foreign text that a sentence quotes, in characters.
const QUOTED: usize = 300;

impl Localize for ScriptError {
    fn localized(&self) -> LocalizedText {
        self.0.clone()
    }
}

impl From<LocalizedText> for ScriptError {
    fn from(say: LocalizedText) -> ScriptError {
        ScriptError(say)
    }
}

impl From<Phrase> for ScriptError {
    fn from(word: Phrase) -> ScriptError {
        ScriptError(word.into())
    }
}

/// Foreign text as a sentence may quote it: one line, cut if it is long.
pub fn quoted(foreign: &str) -> String {
    text::cut(&text::one_line(foreign), QUOTED)
}

pub type ScriptResult<T = ()> = Result<T, ScriptFlow>;
/// The value of a call, if it has one.
pub type CallResult = ScriptResult<Option<Value>>;

/// The reason an instruction did not end normally.
#[derive(Debug)]
pub enum ScriptFlow {
    Failed(Box<LocatedError>),
    /// `$ret`: ends the script.
    Return(Value),
    Break,
    Continue,
    /// `$exit`: ends every script.
    Exit(Value),
}

impl ScriptFlow {
    /// The same reason; a failure gets this place if it has none of its own.
    #[must_use]
    pub fn or_location(self, file: &str, place: SourcePosition) -> ScriptFlow {
        match self {
            ScriptFlow::Failed(failure) => failure.or_location(file, place).into(),
            other => other,
        }
    }

    /// Whether a name does not exist; an error inside a script would have a place.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ScriptFlow::Failed(failure) if failure.location.is_none())
    }
}

impl From<LocatedError> for ScriptFlow {
    fn from(failure: LocatedError) -> ScriptFlow {
        ScriptFlow::Failed(Box::new(failure))
    }
}

impl From<ScriptError> for ScriptFlow {
    fn from(fault: ScriptError) -> ScriptFlow {
        LocatedError::from(fault).into()
    }
}

impl From<LocalizedText> for ScriptFlow {
    fn from(what: LocalizedText) -> ScriptFlow {
        LocatedError::new(what).into()
    }
}

impl From<Phrase> for ScriptFlow {
    fn from(what: Phrase) -> ScriptFlow {
        LocatedError::new(what).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_quoted_on_one_line_and_cut() {
        assert_eq!(quoted(" a\nb\t"), "a b");
        assert_eq!(quoted(&"x".repeat(QUOTED)), "x".repeat(QUOTED));
        assert_eq!(quoted(&"字".repeat(QUOTED + 1)), format!("{}…", "字".repeat(QUOTED)));
    }
}
