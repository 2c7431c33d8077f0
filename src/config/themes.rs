//! Reads the files of the user's own themes. What they mean is not decided here.

use std::path::Path;

use super::atomic_file;
use super::diagnostic::{ConfigDiagnostic, ConfigError};

/// The maximum number of themes, more than a user would choose from.
const MAX_THEMES: usize = 100;

/// A theme file: its name without `.toml`, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeFile {
    pub name: String,
    pub text: String,
}

/// The themes of a folder by name, and the problems with those that cannot be read. A missing
/// folder has none.
pub fn read(folder: &Path) -> (Vec<ThemeFile>, Vec<ConfigDiagnostic>) {
    let mut files = Vec::new();
    let mut problems = Vec::new();

    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() == std::io::ErrorKind::PermissionDenied {
                let fault = ConfigError::unreadable(&error);
                problems.push(ConfigDiagnostic::of_file(folder, fault));
            }
            return (files, problems);
        }
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let more = paths.len().saturating_sub(MAX_THEMES);
    if more > 0 {
        let fault = ConfigError::TooMany { limit: MAX_THEMES, more };
        problems.push(ConfigDiagnostic::of_file(folder, fault));
    }
    for path in paths.into_iter().take(MAX_THEMES) {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if !is_name(name) {
            continue;
        }
        match atomic_file::read(&path) {
            Ok(Some(text)) => files.push(ThemeFile { name: name.to_owned(), text }),
            Ok(None) => {}
            Err(fault) => problems.push(ConfigDiagnostic::of_file(&path, fault)),
        }
    }
    (files, problems)
}

/// A name that can be typed after `/theme`.
fn is_name(name: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_toml_files_with_a_typeable_name_are_themes() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["sea.toml", "b.toml", "notes.txt", "Big One.toml", ".x.toml"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
        let (files, problems) = read(folder.path());
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, problems.len()), (vec!["b", "sea"], 1));
        assert_eq!(read(&folder.path().join("none")), (vec![], vec![]));
    }

    #[test]
    fn a_folder_of_more_themes_than_are_used_says_how_many_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..107 {
            std::fs::write(folder.path().join(format!("t{n:03}.toml")), "").unwrap();
        }
        let (files, problems) = read(folder.path());
        let left_out = ConfigError::TooMany { limit: 100, more: 7 };
        assert_eq!(files.len(), 100);
        assert_eq!(problems, [ConfigDiagnostic::of_file(folder.path(), left_out)]);
    }
}
