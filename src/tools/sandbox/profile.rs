//! The profile that macOS' `sandbox-exec` is given: a text, made from paths alone.

use std::path::{Path, PathBuf};

use super::places::Places;
use crate::safety;

/// Where the program lies that puts a profile around another.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// What a step may do.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    /// The step's own folder.
    pub temp: &'a Path,
    /// Further trees it may write to.
    pub writes: &'a [PathBuf],
    pub network: bool,
    /// Whether credentials stay readable.
    pub reads_all: bool,
}

/// The text. The last rule that fits counts.
pub(super) fn profile(places: &Places, bounds: &Bounds<'_>) -> String {
    let mut lines = vec!["(version 1)".to_owned(), "(allow default)".to_owned()];
    if !bounds.network {
        lines.push("(deny network*)".to_owned());
    }
    lines.push("(deny file-write*)".to_owned());
    lines.push("(allow file-write* (literal \"/dev/null\"))".to_owned());
    for tree in std::iter::once(bounds.temp).chain(bounds.writes.iter().map(PathBuf::as_path)) {
        lines.push(format!("(allow file-write* (subpath {}))", quoted(tree)));
    }
    if !bounds.reads_all {
        // Folders of the system are kept by its own rights, and programs need some.
        let closed = safety::secret_places(&places.home);
        for place in closed.iter().filter(|place| place.starts_with(&places.home)) {
            lines.push(format!("(deny file-read-data (subpath {}))", quoted(place)));
        }
        let workspace = quoted(&places.workspace);
        lines.push(format!("(deny process-exec* (subpath {workspace}))"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A path as a string of the profile's language. What is no UTF-8 cannot be written
/// there; the replacement names nothing, so it allows nothing.
fn quoted(path: &Path) -> String {
    let escaped = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            workspace: "/Users/me/my \"shop\"".into(),
            home: "/Users/me".into(),
            programs: Vec::new(),
        }
    }

    #[test]
    fn a_step_that_runs_alone_writes_to_its_own_folder_and_reaches_nothing() {
        let bounds = Bounds {
            temp: Path::new("/private/tmp/step"),
            writes: &[],
            network: false,
            reads_all: false,
        };
        let text = profile(&places(), &bounds);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["(version 1)", "(allow default)", "(deny network*)"]);
        assert_eq!(lines[3], "(deny file-write*)");
        assert!(lines.contains(&"(allow file-write* (subpath \"/private/tmp/step\"))"));
        assert!(lines.contains(&"(deny file-read-data (subpath \"/Users/me/.ssh\"))"));
        assert_eq!(text.matches("(allow file-write*").count(), 2, "{text}");
        assert!(!text.contains("/etc/"), "{text}");
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let bounds = Bounds {
            temp: Path::new("/t\\"),
            writes: &["/Users/me/my \"shop\"".into()],
            network: true,
            reads_all: true,
        };
        let text = profile(&places(), &bounds);
        assert!(text.contains(r#"(subpath "/t\\")"#), "{text}");
        assert!(text.contains(r#"(subpath "/Users/me/my \"shop\"")"#), "{text}");
        assert!(!text.contains("network") && !text.contains("deny file-read"), "{text}");
    }
}
