//! The errors of scripts: a sentence, with the place in a file where that is known; and the other
//! reasons for which an instruction does not end normally.

use std::fmt;

use serde_json::Value;

use super::program_output::ProgramOutput;
use avocet_core::i18n::{Localize, LocalizedText, Phrase, script_run as phrases};
use avocet_core::text;

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
    pub fn new(file: &str, position: SourcePosition) -> Location {
        Location { file: file.to_owned(), position }
    }
}

/// The reason a script stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedError {
    pub message: LocalizedText,
    pub location: Option<Location>,
    pub cause: ErrorCause,
    context: Box<ErrorContext>,
    /// The error has left the script it happened in: the next place is that of the call.
    left_script: bool,
}

/// What is known of an error beyond its place.
#[derive(Clone, Debug, Default, PartialEq)]
struct ErrorContext {
    /// The calls that led to it, the innermost first.
    callers: Vec<Location>,
    /// The output of the program that failed.
    output: Option<ProgramOutput>,
}

/// What a script stopped for, as far as the exit code tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorCause {
    #[default]
    Script,
    /// A call or step that was refused or declined.
    Declined,
    /// A limit of the run.
    Limit,
    /// The model, or its server.
    Model,
}

/// How many callers an error names.
const MAX_CALLERS: usize = 8;

impl LocatedError {
    pub fn new(what: impl Into<LocalizedText>) -> LocatedError {
        LocatedError {
            message: what.into(),
            location: None,
            cause: ErrorCause::default(),
            context: Box::default(),
            left_script: false,
        }
    }

    pub fn with_location(what: impl Into<LocalizedText>, location: Location) -> LocatedError {
        LocatedError { location: Some(location), ..LocatedError::new(what) }
    }

    #[must_use]
    pub fn caused_by(mut self, cause: ErrorCause) -> LocatedError {
        self.cause = cause;
        self
    }

    /// The same failure without the words of a sealed script, which its sentence may quote.
    #[must_use]
    pub fn concealed(self, is_sealed: bool) -> LocatedError {
        match self.location {
            Some(location) if is_sealed && self.cause == ErrorCause::Script => {
                LocatedError::with_location(phrases::SEALED_FAULT, location)
            }
            None if is_sealed && self.cause == ErrorCause::Script => {
                LocatedError::new(phrases::SEALED_FAULT)
            }
            _ => self,
        }
    }

    /// The output of the program that failed.
    pub fn output(&self) -> Option<&ProgramOutput> {
        self.context.output.as_ref()
    }

    /// What happened, with the output of a program that failed.
    pub fn with_output(&self) -> LocalizedText {
        let shown = self.output().map(ProgramOutput::shown);
        match shown.filter(|shown| !shown.is_empty()) {
            Some(shown) => {
                phrases::WITH_OUTPUT.with("what", self.message.clone()).with("output", shown)
            }
            None => self.message.clone(),
        }
    }

    /// The same failure, with this place if it has none of its own. An error that came out of
    /// another script gets it as the place of the call.
    #[must_use]
    pub fn or_location(mut self, file: &str, position: SourcePosition) -> LocatedError {
        let left = std::mem::take(&mut self.left_script);
        if self.location.is_none() {
            self.location = Some(Location::new(file, position));
        } else if left && self.context.callers.len() < MAX_CALLERS {
            self.context.callers.push(Location::new(file, position));
        }
        self
    }

    /// The failure as the caller of a script gets it. A built-in script is no file of the user's:
    /// its places are dropped.
    #[must_use]
    pub fn leave_script(mut self, built_in_file: Option<&str>) -> LocatedError {
        let own = self.location.as_ref().map(|at| at.file.as_str());
        if own.is_some() && own == built_in_file {
            self.location = None;
        }
        self.left_script = self.location.is_some();
        self
    }
}

impl Localize for LocatedError {
    fn localized(&self) -> LocalizedText {
        let located = |phrase: Phrase, location: &Location, text: LocalizedText| {
            let Location { file, position } = location;
            let said = phrase.with("file", file.clone()).with("line", position.line);
            said.with("column", position.column).with("what", text)
        };
        let message = self.with_output();
        let first = self.location.iter().fold(message, |what, at| located(phrases::AT, at, what));
        self.context.callers.iter().fold(first, |what, at| located(phrases::CALLED_AT, at, what))
    }
}

impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.localized().fmt(f)
    }
}

impl std::error::Error for LocatedError {}

impl From<ScriptError> for LocatedError {
    fn from(error: ScriptError) -> LocatedError {
        LocatedError::new(error.0).caused_by(error.1)
    }
}

impl From<LocalizedText> for LocatedError {
    fn from(text: LocalizedText) -> LocatedError {
        LocatedError::new(text)
    }
}

impl From<Phrase> for LocatedError {
    fn from(phrase: Phrase) -> LocatedError {
        LocatedError::new(phrase)
    }
}

/// One sentence for the user: what happened, to what, what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub LocalizedText, pub ErrorCause);

impl ScriptError {
    /// The error for a limit that was reached.
    pub fn limit(say: impl Into<LocalizedText>) -> ScriptError {
        ScriptError(say.into(), ErrorCause::Limit)
    }
}

/// Longest part of foreign text that a sentence quotes, in characters.
const QUOTED: usize = 300;

impl Localize for ScriptError {
    fn localized(&self) -> LocalizedText {
        self.0.clone()
    }
}

impl From<LocalizedText> for ScriptError {
    fn from(text: LocalizedText) -> ScriptError {
        ScriptError(text, ErrorCause::default())
    }
}

impl From<Phrase> for ScriptError {
    fn from(phrase: Phrase) -> ScriptError {
        ScriptError(phrase.into(), ErrorCause::default())
    }
}

/// Foreign text as a sentence may quote it: one line, cut if it is long.
pub fn quoted(foreign: &str) -> String {
    text::cut(&text::one_line(foreign), QUOTED)
}

/// Why a step of a script has no output.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// The policy refused it, or the user declined.
    Declined(LocalizedText),
    Failed(LocalizedText),
    /// The program of this name ended with another exit code than 0.
    Exited(String, Box<ProgramOutput>),
}

impl From<LocalizedText> for StepError {
    fn from(why: LocalizedText) -> StepError {
        StepError::Failed(why)
    }
}

impl From<Phrase> for StepError {
    fn from(why: Phrase) -> StepError {
        StepError::Failed(why.into())
    }
}

impl From<StepError> for ScriptFlow {
    fn from(why: StepError) -> ScriptFlow {
        match why {
            StepError::Declined(why) => {
                LocatedError::new(why).caused_by(ErrorCause::Declined).into()
            }
            StepError::Failed(why) => why.into(),
            StepError::Exited(name, output) => {
                let code = output.code.map_or_else(|| "-".to_owned(), |code| code.to_string());
                let message = phrases::STEP_EXITED.with("name", name).with("code", code);
                let context = ErrorContext { output: Some(*output), ..ErrorContext::default() };
                LocatedError { context: Box::new(context), ..LocatedError::new(message) }.into()
            }
        }
    }
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
    pub fn or_location(self, file: &str, position: SourcePosition) -> ScriptFlow {
        match self {
            ScriptFlow::Failed(failure) => failure.or_location(file, position).into(),
            other => other,
        }
    }

    /// The same reason, as the caller of a script gets it.
    #[must_use]
    pub fn leave_script(self, built_in_file: Option<&str>) -> ScriptFlow {
        match self {
            ScriptFlow::Failed(failure) => failure.leave_script(built_in_file).into(),
            other => other,
        }
    }

    /// Whether a name does not exist; an error inside a script would have a place.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ScriptFlow::Failed(failure) if failure.location.is_none())
    }
}

impl From<LocatedError> for ScriptFlow {
    fn from(error: LocatedError) -> ScriptFlow {
        ScriptFlow::Failed(Box::new(error))
    }
}

impl From<ScriptError> for ScriptFlow {
    fn from(error: ScriptError) -> ScriptFlow {
        LocatedError::from(error).into()
    }
}

impl From<LocalizedText> for ScriptFlow {
    fn from(text: LocalizedText) -> ScriptFlow {
        LocatedError::new(text).into()
    }
}

impl From<Phrase> for ScriptFlow {
    fn from(phrase: Phrase) -> ScriptFlow {
        LocatedError::new(phrase).into()
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
