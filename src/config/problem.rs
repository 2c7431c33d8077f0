//! Problems in a file or a variable that the user wrote, with file, line, column, key and the
//! expected value.

use std::io;
use std::path::PathBuf;

use crate::protocol::Notice;
use crate::words::{self, Localize, LocalizedText, PhraseValue};

/// One problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.say())]
pub struct Problem {
    pub written: Written,
    /// The position in the file; `None` if it concerns the whole file.
    pub place: Option<Place>,
    /// The key, `safety.lift`; `None` if it concerns the whole file.
    pub key: Option<String>,
    pub fault: Fault,
}

/// The source of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    File(PathBuf),
    Variable(String),
    CommandLine,
}

/// A position in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Unreadable {
        why: LocalizedText,
    },
    NotAFile,
    NotText,
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
    Wrong(Box<Mismatch>),
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

impl Fault {
    pub fn wrong(expected: LocalizedText, found: LocalizedText) -> Fault {
        Fault::Wrong(Box::new(Mismatch { expected, found }))
    }

    pub fn unreadable(error: &io::Error) -> Fault {
        Fault::Unreadable { why: io_reason(error) }
    }

    /// True if nothing of the file could be parsed.
    pub fn is_whole(&self) -> bool {
        match self {
            Fault::Unreadable { .. }
            | Fault::NotAFile
            | Fault::NotText
            | Fault::TooLong { .. }
            | Fault::Syntax { .. } => true,
            Fault::Missing { .. }
            | Fault::Unknown { .. }
            | Fault::Elsewhere(_)
            | Fault::Wrong(_)
            | Fault::Rule(_)
            | Fault::BadName
            | Fault::Loosens
            | Fault::NotForProjects
            | Fault::NoProfile { .. } => false,
        }
    }
}

impl Problem {
    pub fn of_file(file: impl Into<PathBuf>, fault: Fault) -> Problem {
        Problem { written: Written::File(file.into()), place: None, key: None, fault }
    }

    pub fn notice(&self) -> Notice {
        let notice = Notice::warning(self.say());
        match self.hint() {
            Some(hint) => notice.hint(hint),
            None => notice,
        }
    }

    /// What the program does until the problem is fixed.
    pub fn hint(&self) -> Option<LocalizedText> {
        let of_safety = self.key.as_deref().is_some_and(|key| key.starts_with("safety."));
        match &self.fault {
            fault if fault.is_whole() => Some(words::config::HINT_WHOLE.into()),
            Fault::Wrong(_) if of_safety => Some(words::config::HINT_STRICTEST.into()),
            Fault::Rule(_) => Some(words::config::HINT_RULE.into()),
            _ => None,
        }
    }

    fn place(&self) -> PhraseValue {
        let file = match &self.written {
            Written::Variable(name) => {
                return words::config::AT_VARIABLE.with("name", name.as_str()).into();
            }
            Written::CommandLine => return words::config::AT_COMMAND_LINE.into(),
            Written::File(file) => file.display().to_string(),
        };
        match self.place {
            None => file.into(),
            Some(Place { line, column }) => words::config::AT_PLACE
                .with("file", file)
                .with("line", line)
                .with("column", column)
                .into(),
        }
    }
}

impl Localize for Problem {
    fn say(&self) -> LocalizedText {
        use words::config as w;
        let say = match &self.fault {
            Fault::Unreadable { why } => w::UNREADABLE.with("why", why.clone()),
            Fault::NotAFile => w::NOT_A_FILE.into(),
            Fault::NotText => w::NOT_TEXT.into(),
            Fault::TooLong { limit } => w::TOO_LONG.with("limit", *limit),
            Fault::Syntax { why } => w::SYNTAX.with("why", why.as_str()),
            Fault::Missing { key } => {
                return w::MISSING.with("place", self.place()).with("key", *key);
            }
            Fault::Unknown { near: None } => w::UNKNOWN.into(),
            Fault::Unknown { near: Some(near) } => w::UNKNOWN_NEAR.with("near", near.as_str()),
            Fault::Elsewhere(say) => w::ELSEWHERE.with("where", say.clone()),
            Fault::Wrong(mismatch) => w::WRONG
                .with("expected", mismatch.expected.clone())
                .with("found", mismatch.found.clone()),
            Fault::Rule(why) => w::RULE_FAILS.with("why", why.clone()),
            Fault::BadName => w::BAD_NAME.into(),
            Fault::Loosens => w::LOOSENS.into(),
            Fault::NotForProjects => w::NOT_FOR_PROJECTS.into(),
            Fault::NoProfile { known } if known.is_empty() => w::NO_PROFILE_AT_ALL.into(),
            Fault::NoProfile { known } => w::NO_PROFILE.with("known", known.join(", ")),
        };
        say.with("place", self.place()).with("key", self.key.as_deref().unwrap_or(""))
    }
}

/// The system's reason, in plain words if it is a common one.
pub fn io_reason(error: &io::Error) -> LocalizedText {
    use words::config as w;
    match error.kind() {
        io::ErrorKind::NotFound => w::IO_NOT_FOUND.into(),
        io::ErrorKind::PermissionDenied => w::IO_PERMISSION.into(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => w::IO_FULL.into(),
        io::ErrorKind::ReadOnlyFilesystem => w::IO_READ_ONLY.into(),
        io::ErrorKind::TimedOut => w::IO_LOCKED.into(),
        _ => w::IO_OTHER.with("why", error.to_string()),
    }
}
