//! Sentences about the user's files.

use std::path::{Path, PathBuf};

use crate::diagnostic::{ConfigDiagnostic, DiagnosticSource, TextPosition as At};
use crate::{ConfigError, diagnostic};
use avocet_core::i18n::{self, Localize, LocalizedText, Phrase};

/// A sentence about a place in a file, or about the whole file.
pub(super) fn message_at(file: &Path, place: Option<At>, phrase: Phrase) -> LocalizedText {
    let file = file.display().to_string();
    match place {
        None => phrase.with("place", file),
        Some(At { line, column }) => {
            let place = i18n::config::AT_PLACE.with("file", file);
            phrase.with("place", place.with("line", line).with("column", column))
        }
    }
}

/// The problem of a TOML file, as one sentence.
pub(super) fn toml_message(file: &Path, error: ConfigError) -> LocalizedText {
    ConfigDiagnostic {
        origin: DiagnosticSource::File(PathBuf::from(file)),
        place: None,
        key: None,
        fault: error,
    }
    .localized()
}

/// Why one of the user's files could not be created, changed or deleted.
pub(super) fn io_message(phrase: Phrase, file: &Path, error: &std::io::Error) -> LocalizedText {
    phrase.with("file", file.display().to_string()).with("why", diagnostic::io_reason(error))
}
