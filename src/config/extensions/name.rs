//! Validates names. A name is part of a path, and is typed after a slash: it must never leave its
//! folder, and must look the same wherever it is shown.

use super::ExtensionFileKind;

/// Maximum length of a name in characters; for a command, including its folders.
pub const MAX_LENGTH: usize = 64;

pub fn is_too_long(name: &str) -> bool {
    name.chars().count() > MAX_LENGTH
}

/// `[a-zA-Z0-9][a-zA-Z0-9._-]*`; a command may also use letters of other scripts.
pub fn is_usable(kind: ExtensionFileKind, name: &str) -> bool {
    let letter = |c: char| match kind {
        ExtensionFileKind::Command => c.is_alphanumeric(),
        ExtensionFileKind::Bot | ExtensionFileKind::Skill => c.is_ascii_alphanumeric(),
    };
    !is_too_long(name)
        && name.starts_with(letter)
        && name.chars().all(|c| letter(c) || "._-".contains(c))
}

/// A command of another agent, whose folders are part of its name: `git:commit`.
pub fn is_usable_path(name: &str) -> bool {
    !is_too_long(name)
        && !name.is_empty()
        && name.split(':').all(|part| is_usable(ExtensionFileKind::Command, part))
}

/// A name in the format of skills: `[a-z0-9]+(-[a-z0-9]+)*`.
pub fn is_of_format(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name.len() <= MAX_LENGTH && name.split('-').all(part)
}

/// An unusable name made displayable: invisible characters are written out.
pub fn display_name(name: &str) -> String {
    avocet_core::text::cut(name, MAX_LENGTH)
        .chars()
        .flat_map(|c| if c == '\'' { vec![c] } else { c.escape_debug().collect() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leaves_its_folder() {
        let hostile = [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/x",
            "-x",
            ".x",
            "_x",
            "a b",
            "a\nb",
            "a\u{7}",
            "a\u{202e}b",
            "x:y",
            "a\0",
            "~",
            "$x",
            "a*",
        ];
        for name in hostile {
            for kind in ExtensionFileKind::ALL {
                assert!(!is_usable(kind, name), "{kind:?} {name:?}");
            }
        }
        assert!(!is_usable(ExtensionFileKind::Command, &"a".repeat(65)));
        for name in ["a", "A9", "commit-msg", "v1.2_x", "a..b"] {
            for kind in ExtensionFileKind::ALL {
                assert!(is_usable(kind, name), "{kind:?} {name:?}");
            }
        }
    }

    #[test]
    fn letters_of_any_script_are_for_commands() {
        assert!(is_usable(ExtensionFileKind::Command, "提交"));
        assert!(
            !is_usable(ExtensionFileKind::Bot, "提交")
                && !is_usable(ExtensionFileKind::Skill, "提交")
        );
    }

    #[test]
    fn each_folder_of_a_path_is_a_separate_name() {
        assert!(is_usable_path("git:commit") && is_usable_path("审查"));
        for name in ["", "git:", ":x", "a:..:b", "a b:c"] {
            assert!(!is_usable_path(name), "{name:?}");
        }
    }

    #[test]
    fn the_format_of_skills_is_stricter() {
        assert!(is_of_format("pdf-tools2"));
        for name in ["", "-a", "a-", "a--b", "A", "a_b", "a.b"] {
            assert!(!is_of_format(name), "{name:?}");
        }
    }

    #[test]
    fn invisible_characters_are_written_out() {
        assert_eq!(display_name("a\u{1b}[2J\nb中'"), "a\\u{1b}[2J\\nb中'");
        assert_eq!(display_name("a\u{202e}b"), "a\\u{202e}b");
    }
}
