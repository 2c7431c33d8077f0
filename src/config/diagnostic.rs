//! Problems in a file or a variable that the user wrote, with file, line, column, key and the
//! expected value.

use std::io;
use std::path::PathBuf;

use toml_edit::Item;

use avocet_core::i18n::{self, Localize, LocalizedText, PhraseValue, common};
use avocet_core::protocol::Notice;

/// One problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.localized())]
pub struct ConfigDiagnostic {
    pub origin: DiagnosticSource,
    /// The position in the file; `None` if it concerns the whole file.
    pub place: Option<TextPosition>,
    /// The key, `safety.lift`; `None` if it concerns the whole file.
    pub key: Option<String>,
    pub fault: ConfigError,
}

/// The source of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticSource {
    File(PathBuf),
    Variable(String),
    CommandLine,
}

/// A position in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    Unreadable {
        why: LocalizedText,
    },
    NotAFile,
    NotText,
    /// Not what Avocet writes there.
    Damaged,
    /// Entries of a folder beyond the most that are used.
    TooMany {
        limit: usize,
        more: usize,
    },
    TooLong {
        /// Bytes.
        limit: u64,
    },
    /// Not TOML; `why` is the parser's own message.
    Syntax {
        why: String,
    },
    /// A required key is missing or empty.
    Missing {
        key: &'static str,
    },
    /// An unknown key, with a similar known one if there is one.
    Unknown {
        near: Option<String>,
    },
    /// A key that does not belong here: the sentence says where it belongs.
    Elsewhere(LocalizedText),
    /// Of the wrong type, or out of range.
    Mismatch(Box<Mismatch>),
    /// A rule that fails its own tests.
    Rule(LocalizedText),
    /// A name chosen by the user that cannot be used.
    BadName,
    /// A project set something that only the user may set.
    Loosens,
    /// A project set something other than a safety setting.
    NotForProjects,
    /// The active profile is not defined anywhere.
    NoProfile {
        known: Vec<String>,
    },
}

/// The expected value, and the actual one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    pub expected: LocalizedText,
    pub found: LocalizedText,
}

impl ConfigError {
    pub fn mismatch(text: LocalizedText, localized_text: LocalizedText) -> ConfigError {
        ConfigError::Mismatch(Box::new(Mismatch { expected: text, found: localized_text }))
    }

    pub fn unreadable(error: &io::Error) -> ConfigError {
        ConfigError::Unreadable { why: io_reason(error) }
    }

    /// True if nothing of the file could be parsed.
    pub fn is_whole_file(&self) -> bool {
        match self {
            ConfigError::Unreadable { .. }
            | ConfigError::NotAFile
            | ConfigError::NotText
            | ConfigError::Damaged
            | ConfigError::TooLong { .. }
            | ConfigError::Syntax { .. } => true,
            ConfigError::Missing { .. }
            | ConfigError::Unknown { .. }
            | ConfigError::Elsewhere(_)
            | ConfigError::Mismatch(_)
            | ConfigError::Rule(_)
            | ConfigError::BadName
            | ConfigError::TooMany { .. }
            | ConfigError::Loosens
            | ConfigError::NotForProjects
            | ConfigError::NoProfile { .. } => false,
        }
    }
}

impl ConfigDiagnostic {
    pub fn of_file(file: impl Into<PathBuf>, error: ConfigError) -> ConfigDiagnostic {
        ConfigDiagnostic {
            origin: DiagnosticSource::File(file.into()),
            place: None,
            key: None,
            fault: error,
        }
    }

    pub fn notice(&self) -> Notice {
        let notice = Notice::warning(self.localized());
        match self.hint() {
            Some(hint) => notice.with_hint(hint),
            None => notice,
        }
    }

    /// What the program does until the problem is fixed.
    pub fn hint(&self) -> Option<LocalizedText> {
        let of_safety = self.key.as_deref().is_some_and(|key| key.starts_with("safety."));
        match &self.fault {
            fault if fault.is_whole_file() => Some(i18n::config::HINT_WHOLE.into()),
            ConfigError::Mismatch(_) if of_safety => Some(i18n::config::HINT_STRICTEST.into()),
            ConfigError::Rule(_) => Some(i18n::config::HINT_RULE.into()),
            _ => None,
        }
    }

    fn place(&self) -> PhraseValue {
        let file = match &self.origin {
            DiagnosticSource::Variable(name) => {
                return i18n::config::AT_VARIABLE.with("name", name.as_str()).into();
            }
            DiagnosticSource::CommandLine => return i18n::config::AT_COMMAND_LINE.into(),
            DiagnosticSource::File(file) => file.display().to_string(),
        };
        match self.place {
            None => file.into(),
            Some(TextPosition { line, column }) => i18n::config::AT_PLACE
                .with("file", file)
                .with("line", line)
                .with("column", column)
                .into(),
        }
    }
}

impl Localize for ConfigDiagnostic {
    fn localized(&self) -> LocalizedText {
        use i18n::config as w;
        let say = match &self.fault {
            ConfigError::Unreadable { why } => w::UNREADABLE.with("why", why.clone()),
            ConfigError::NotAFile => w::NOT_A_FILE.into(),
            ConfigError::NotText => w::NOT_TEXT.into(),
            ConfigError::Damaged => w::DAMAGED.into(),
            ConfigError::TooMany { limit, more } => {
                w::TOO_MANY.with("limit", *limit).with("more", *more)
            }
            ConfigError::TooLong { limit } => w::TOO_LONG.with("limit", *limit),
            ConfigError::Syntax { why } => w::SYNTAX.with("why", why.as_str()),
            ConfigError::Missing { key } => {
                return w::MISSING.with("place", self.place()).with("key", *key);
            }
            ConfigError::Unknown { near: None } => w::UNKNOWN.into(),
            ConfigError::Unknown { near: Some(near) } => {
                w::UNKNOWN_NEAR.with("near", near.as_str())
            }
            ConfigError::Elsewhere(say) => w::ELSEWHERE.with("where", say.clone()),
            ConfigError::Mismatch(mismatch) => w::WRONG
                .with("expected", mismatch.expected.clone())
                .with("found", mismatch.found.clone()),
            ConfigError::Rule(why) => w::RULE_FAILS.with("why", why.clone()),
            ConfigError::BadName => w::BAD_NAME.into(),
            ConfigError::Loosens => w::LOOSENS.into(),
            ConfigError::NotForProjects => w::NOT_FOR_PROJECTS.into(),
            ConfigError::NoProfile { known } if known.is_empty() => w::NO_PROFILE_AT_ALL.into(),
            ConfigError::NoProfile { known } => w::NO_PROFILE.with("known", known.join(", ")),
        };
        say.with("place", self.place()).with("key", self.key.as_deref().unwrap_or(""))
    }
}

/// The system's reason, in plain words if it is a common one.
pub fn io_reason(error: &io::Error) -> LocalizedText {
    use i18n::config as w;
    match error.kind() {
        io::ErrorKind::NotFound => w::IO_NOT_FOUND.into(),
        io::ErrorKind::PermissionDenied => w::IO_PERMISSION.into(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => w::IO_FULL.into(),
        io::ErrorKind::ReadOnlyFilesystem => w::IO_READ_ONLY.into(),
        io::ErrorKind::TimedOut => w::IO_LOCKED.into(),
        io::ErrorKind::InvalidInput => w::IO_NOT_A_FILE.into(),
        _ => w::IO_OTHER.with("why", error.to_string()),
    }
}

/// The type of the item, in a word; a short text is shown.
pub(super) fn describe_item(item: &Item) -> LocalizedText {
    use i18n::config as w;
    match item.as_str() {
        Some(text) => describe_text(text),
        None if item.is_bool() => w::A_FLAG.into(),
        None if item.is_integer() || item.is_float() => {
            let number = item.as_value().map(ToString::to_string).unwrap_or_default();
            w::FOUND_VALUE.with("value", number.trim())
        }
        None if item.is_datetime() => w::FOUND_DATE.into(),
        None if item.is_array() || item.is_array_of_tables() => common::A_LIST.into(),
        None => w::FOUND_TABLE.into(),
    }
}

pub(super) fn describe_text(text: &str) -> LocalizedText {
    i18n::config::FOUND_VALUE.with("value", avocet_core::text::cut(text, 40))
}
