//! The error of one part of a script: a sentence without a place. The caller that knows the file
//! adds the place.

use crate::i18n::{Localize, LocalizedText, Phrase};
use crate::text;

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
