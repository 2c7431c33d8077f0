//! Creates, changes and deletes the user's own files. The text is checked before it is saved; a
//! write either succeeds as a whole or changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::load::parse_command;
use super::{
    ExtensionFileKind, ExtensionSource, LookupError, Owner, agent, bot, io_message, name, skill,
};
use crate::{Paths, atomic_file};
use avocet_core::i18n::{Localize, LocalizedText, common, library as w};

const OWN: Owner = Owner { maker: ExtensionSource::Avocet, project: false };

/// The path of a file with this name.
pub fn file_path(
    paths: &Paths,
    kind: ExtensionFileKind,
    name: &str,
) -> Result<PathBuf, LocalizedText> {
    if !name::is_usable(kind, name) {
        return Err(LookupError::bad_name(kind, name).localized());
    }
    let folder = user_folder(paths, kind);
    Ok(match kind {
        ExtensionFileKind::Skill => folder.join(name).join(skill::FILE),
        ExtensionFileKind::Agent | ExtensionFileKind::Bot | ExtensionFileKind::Command => {
            folder.join(format!("{name}.toml"))
        }
    })
}

/// The user's own folder.
pub fn user_folder(paths: &Paths, kind: ExtensionFileKind) -> PathBuf {
    paths.config.join(match kind {
        ExtensionFileKind::Agent => "agents",
        ExtensionFileKind::Bot => "bots",
        ExtensionFileKind::Command => "commands",
        ExtensionFileKind::Skill => "skills",
    })
}

/// Checks that this text is valid for that file.
pub fn check(
    kind: ExtensionFileKind,
    owner: Owner,
    file: &Path,
    text: &str,
) -> Result<(), LocalizedText> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    match kind {
        ExtensionFileKind::Agent => agent::read(file, &name, owner, text).map(|_| ()),
        ExtensionFileKind::Bot => bot::read(file, &name, owner, text).map(|_| ()),
        ExtensionFileKind::Command => parse_command(file, &name, owner, text).map(|_| ()),
        ExtensionFileKind::Skill => skill::parse(file, owner, text, true).map(|_| ()),
    }
}

/// Creates a new file; an existing one is left unchanged.
pub fn create(
    paths: &Paths,
    kind: ExtensionFileKind,
    name: &str,
    text: &str,
) -> Result<PathBuf, LocalizedText> {
    let file = file_path(paths, kind, name)?;
    check(kind, OWN, &file, text)?;
    atomic_file::create(&file, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => w::THERE_ALREADY.with("file", file.display().to_string()),
        _ => io_message(common::NOT_WRITTEN, &file, &error),
    })?;
    Ok(file)
}

/// Replaces the text of a file.
pub fn replace(
    kind: ExtensionFileKind,
    owner: Owner,
    file: &Path,
    text: &str,
) -> Result<(), LocalizedText> {
    check(kind, owner, file, text)?;
    atomic_file::write(file, text).map_err(|error| io_message(common::NOT_WRITTEN, file, &error))
}

/// Deletes a file.
pub fn delete(file: &Path) -> Result<(), LocalizedText> {
    fs::remove_file(file).map_err(|error| io_message(w::NOT_DELETED, file, &error))
}

/// The text of a file created by `new`: each key with its value, in this order.
pub fn toml(pairs: &[(&str, toml_edit::Value)]) -> String {
    let mut document = toml_edit::DocumentMut::new();
    for (key, value) in pairs {
        document.insert(key, toml_edit::Item::Value(value.clone()));
    }
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn paths(root: &Path) -> Paths {
        Paths::with_root(&root.join("own"), root.join("home"))
    }

    #[test]
    fn a_new_file_is_checked_and_never_overwrites_another() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        let text =
            toml(&[("description", "d".into()), ("prompt", "one\n\"two\" \\ {{args}}\n".into())]);
        let file = create(&paths, ExtensionFileKind::Command, "提交", &text).unwrap();
        assert_eq!(file, root.path().join("own/commands/提交.toml"));
        let (command, _) = parse_command(&file, "提交", OWN, &text).unwrap();
        assert_eq!(command.prompt, "one\n\"two\" \\ {{args}}\n");
        let said =
            create(&paths, ExtensionFileKind::Command, "提交", &text).unwrap_err().text(Lang::En);
        assert!(said.contains("already exists"), "{said}");
        assert!(create(&paths, ExtensionFileKind::Command, "x", "prompt = ").is_err());
        assert!(!root.path().join("own/commands/x.toml").exists());
        for name in ["../x", "a b", "", "a/b"] {
            let said = create(&paths, ExtensionFileKind::Bot, name, "").unwrap_err().text(Lang::En);
            assert!(said.contains(&format!("`{name}`")), "{said}");
        }
        assert!(!root.path().join("own/x.toml").exists());
    }

    #[test]
    fn an_invalid_text_leaves_the_file_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        let file = create(&paths, ExtensionFileKind::Bot, "b", "temperature = 1\n").unwrap();
        assert!(replace(ExtensionFileKind::Bot, OWN, &file, "temperature = 9\n").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "temperature = 1\n");
        replace(ExtensionFileKind::Bot, OWN, &file, "temperature = 2\n").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "temperature = 2\n");
        delete(&file).unwrap();
        assert!(delete(&file).unwrap_err().text(Lang::En).contains("b.toml"));
    }
}
