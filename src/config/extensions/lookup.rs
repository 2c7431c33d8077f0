//! Why no bot, command or skill of a name was found, with the names like it.

use std::path::PathBuf;

use super::{ExtensionFileKind, SearchPath, name};
use crate::suggest;
use avocet_core::i18n::{Localize, LocalizedText, library as w};

/// Why no entry of that name was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum LookupError {
    BadName {
        kind: ExtensionFileKind,
        name: String,
    },
    None {
        kind: ExtensionFileKind,
        name: String,
        near: Vec<String>,
        folder: PathBuf,
        /// What cannot be used until the folder is trusted.
        waiting: Option<Box<LocalizedText>>,
    },
    /// The file exists but cannot be used.
    Broken {
        because: LocalizedText,
    },
}

impl LookupError {
    pub fn bad_name(kind: ExtensionFileKind, name: &str) -> LookupError {
        LookupError::BadName { kind, name: name.to_owned() }
    }

    pub fn none<'a>(
        kind: ExtensionFileKind,
        name: &str,
        known: impl Iterator<Item = &'a str>,
        path: &SearchPath,
    ) -> LookupError {
        let near = suggest::nearest(name, known).into_iter().map(str::to_owned).collect();
        let name = name.to_owned();
        let folder = path.user_folder(kind);

        LookupError::None {
            kind,
            name,
            near,
            folder,
            waiting: path.untrusted_note.clone().map(Box::new),
        }
    }
}

impl Localize for LookupError {
    fn localized(&self) -> LocalizedText {
        match self {
            LookupError::BadName { name, .. } if name::is_too_long(name) => {
                let say = w::LONG_NAME.with("name", name::display_name(name));
                say.with("most", name::MAX_LENGTH)
            }
            LookupError::BadName { kind: ExtensionFileKind::Command, name } => {
                w::BAD_COMMAND_NAME.with("name", name::display_name(name))
            }
            LookupError::BadName { kind, name } => {
                w::BAD_ASCII_NAME.with("kind", kind.phrase()).with("name", name::display_name(name))
            }
            LookupError::None { waiting: Some(waiting), kind, name, near, folder } => {
                let kind = *kind;
                let name = name.clone();

                let near = near.clone();
                let folder = folder.clone();

                let none = LookupError::None { kind, name, near, folder, waiting: None };
                w::NONE_WAITING
                    .with("none", none.localized())
                    .with("waiting", LocalizedText::clone(waiting))
            }
            LookupError::None { kind, name, near, folder, .. } if near.is_empty() => w::NONE
                .with("kind", kind.phrase())
                .with("name", name::display_name(name))
                .with("folder", folder.display().to_string()),
            LookupError::None { kind, name, near, .. } => {
                let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
                w::NONE_NEAR
                    .with("kind", kind.phrase())
                    .with("name", name::display_name(name))
                    .with("near", near.join(", "))
            }
            LookupError::Broken { because } => because.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    #[test]
    fn a_name_that_is_too_long_is_told_so() {
        for kind in ExtensionFileKind::ALL {
            let say = |name: &str| LookupError::bad_name(kind, name).localized().text(Lang::En);
            assert!(say(&"l".repeat(65)).contains("too long"), "{kind:?}");
            assert!(say("a b").contains("letter or digit"), "{kind:?}");
        }
    }
}
