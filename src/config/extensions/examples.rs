//! Ready-to-use examples: compiled in, and copied into the user's own folder on request. Existing
//! files stay unchanged.

use std::io;
use std::path::PathBuf;

use super::io_message;
use crate::{Paths, atomic_file};
use avocet_core::i18n::{LocalizedText, common};

/// A path below the config folder, and the text of the file.
#[rustfmt::skip]
pub const EXAMPLES: &[(&str, &str)] = &[
    ("bots/reviewer.toml",          include_str!("../../../assets/bots/reviewer.toml")),
    ("bots/teacher.toml",           include_str!("../../../assets/bots/teacher.toml")),
    ("bots/translator.toml",        include_str!("../../../assets/bots/translator.toml")),
    ("commands/changelog.toml",     include_str!("../../../assets/commands/changelog.toml")),
    ("commands/commit-msg.toml",    include_str!("../../../assets/commands/commit-msg.toml")),
    ("commands/explain.toml",       include_str!("../../../assets/commands/explain.toml")),
    ("commands/tests.toml",         include_str!("../../../assets/commands/tests.toml")),
    ("skills/find-bug/SKILL.md",    include_str!("../../../assets/skills/find-bug/SKILL.md")),
    ("skills/plan-change/SKILL.md", include_str!("../../../assets/skills/plan-change/SKILL.md")),
];

/// The outcome for one example.
#[derive(Clone, Debug, PartialEq)]
pub enum ExampleCopy {
    Written(PathBuf),
    /// The file exists already, perhaps changed.
    Existing(PathBuf),
}

/// Copies the examples, and scripts by the names of their files. Stops at the first that cannot be written; those before it have been
/// copied.
pub fn copy<'a>(
    paths: &Paths,
    scripts: impl Iterator<Item = &'a (&'a str, &'a str)>,
) -> Result<Vec<ExampleCopy>, LocalizedText> {
    let mut done = Vec::new();
    let others = EXAMPLES.iter().map(|(name, text)| (paths.config.join(name), *text));
    let folder = paths.scripts().join("examples");
    for (file, text) in others.chain(scripts.map(|(name, text)| (folder.join(name), *text))) {
        done.push(match atomic_file::create(&file, text) {
            Ok(()) => ExampleCopy::Written(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                ExampleCopy::Existing(file)
            }
            Err(error) => return Err(io_message(common::NOT_WRITTEN, &file, &error)),
        });
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::extensions::{ExtensionFileKind, ExtensionLibrary, LoadState, SearchPath};

    #[test]
    fn the_example_of_the_readme_does_not_meet_a_copied_one() {
        let readme = include_str!("../../../assets/help/en/extensions.md");
        let mut count = 0;
        for line in readme.lines().filter_map(|line| line.strip_prefix("avocet ")) {
            let mut words = line.split_whitespace();
            if let (Some(kind), Some("new"), Some(name)) =
                (words.next(), words.next(), words.next())
            {
                let taken = |(file, _): &(&str, &str)| {
                    file.starts_with(&format!("{kind}s/{name}."))
                        || file.starts_with(&format!("{kind}s/{name}/"))
                };
                assert!(!EXAMPLES.iter().any(taken), "{line}");
                count += 1;
            }
        }
        assert!(count >= 3);
    }

    #[test]
    fn they_are_copied_once_and_nothing_is_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        let mine = paths.config.join("bots/teacher.toml");
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "description = \"mine\"\n").unwrap();
        let done = copy(&paths, [].iter()).unwrap();
        assert_eq!(
            done.iter().filter(|done| **done == ExampleCopy::Existing(mine.clone())).count(),
            1
        );
        assert_eq!(done.len(), EXAMPLES.len());
        assert_eq!(fs::read_to_string(&mine).unwrap(), "description = \"mine\"\n");
        assert!(
            copy(&paths, [].iter())
                .unwrap()
                .iter()
                .all(|done| matches!(done, ExampleCopy::Existing(_)))
        );
    }

    #[test]
    fn each_of_them_loads_without_a_remark() {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        copy(&paths, [].iter()).unwrap();
        let library = ExtensionLibrary::load(&SearchPath::new(&paths, None, &[]));
        for file in &library.files {
            assert_eq!(file.state, LoadState::Loaded { remarks: vec![] }, "{file:?}");
        }
        let count = |kind| library.files.iter().filter(|file| file.kind == kind).count();
        assert_eq!(
            ExtensionFileKind::ALL.map(count),
            [3, 3, 4, 2],
            "no example of an agent: three come with the program"
        );
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/");
        for (name, text) in EXAMPLES {
            assert!(text.ends_with('\n') && !text.contains('\r'), "{folder}{name}");
        }
    }
}
