//! Writes the profile for macOS' `sandbox-exec`: a text, made from paths alone.

use std::path::{Path, PathBuf};

use super::Profile;
use super::readable_paths::SandboxPaths;
use avocet_safety as safety;

/// The path of the program that puts a profile around another.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// System files that programs of all kinds read.
const SYSTEM: &[&str] = &[
    "/System",
    "/Library",
    "/usr",
    "/bin",
    "/sbin",
    "/opt",
    "/nix",
    "/private/etc",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/var/select",
    "/dev",
];

/// The places every step may write to, and an approved one besides.
const NOTHING: &[&str] = &["/dev/null"];
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx"];

/// The text. The last matching rule counts. `run`: the programs a step that runs by itself
/// may start.
pub(super) fn profile_text(
    paths: &SandboxPaths,
    profile: &Profile,
    temp: &Path,
    run: &[PathBuf],
) -> String {
    let temp = temp.canonicalize().unwrap_or_else(|_| temp.to_owned());
    let mut text = ProfileText(vec!["(version 1)".to_owned(), "(allow default)".to_owned()]);
    match profile {
        Profile::Read { readable, lists, .. } => {
            text.push("(deny network*)");
            text.allow_writes(NOTHING, [temp.as_path()]);
            text.push("(deny file-read-data)");
            text.allow("file-read-data", SYSTEM.iter().map(Path::new));
            let trees = paths.existing_toolchains();
            let worked_in = readable.iter().chain([&paths.workspace, &temp]);
            text.allow("file-read-data", trees.iter().chain(worked_in).map(PathBuf::as_path));
            // The names in a folder are its own data.
            let lists = lists.iter().map(|folder| quoted(folder));
            text.0.extend(lists.map(|it| format!("(allow file-read-data (literal {it}))")));
            text.deny_credentials(paths, &[]);
            text.deny_credential_names();
            // A file that may be started must be readable for that, wherever it is.
            text.allow("file-read-data", run.iter().map(PathBuf::as_path));
            text.push("(deny process-exec*)");
            text.allow("process-exec*", run.iter().map(PathBuf::as_path));
        }
        Profile::Work { opened, private, writes, named, network, .. } => {
            if !network {
                text.push("(deny network*)");
            }
            let trees = writes.iter().chain(named).map(PathBuf::as_path);
            let trees = std::iter::once(temp.as_path()).chain(trees);
            text.allow_writes(DEVICES, trees);
            for own in &paths.own {
                text.push(&format!("(deny file-write* (subpath {}))", quoted(own)));
            }
            let opened: Vec<PathBuf> = opened.iter().chain(private).cloned().collect();
            text.deny_credentials(paths, &opened);
        }
    }
    text.0.push(String::new());
    text.0.join("\n")
}

struct ProfileText(Vec<String>);

impl ProfileText {
    fn push(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }

    fn allow<'a>(&mut self, what: &str, trees: impl Iterator<Item = &'a Path>) {
        self.0.extend(trees.map(|tree| format!("(allow {what} (subpath {}))", quoted(tree))));
    }

    fn allow_writes<'a>(&mut self, devices: &[&str], trees: impl IntoIterator<Item = &'a Path>) {
        self.push("(deny file-write*)");
        let devices = devices.iter().map(|device| quoted(Path::new(device)));
        self.0.extend(devices.map(|device| format!("(allow file-write* (literal {device}))")));
        self.allow("file-write*", trees.into_iter());
    }

    /// Folders of the system are kept by its own rights, and programs need some.
    fn deny_credentials(&mut self, paths: &SandboxPaths, opened: &[PathBuf]) {
        let mut closed = paths.private_places();
        closed.retain(|place| place.starts_with(&paths.home) || paths.own.contains(place));
        closed.retain(|place| !opened.contains(place) || paths.own.contains(place));
        for place in closed {
            self.0.push(format!("(deny file-read-data (subpath {}))", quoted(&place)));
        }
    }

    /// Files that hold credentials by their names, in the workspace too.
    fn deny_credential_names(&mut self) {
        for glob in safety::sensitive_globs() {
            let fits = regex(&safety::case_insensitive_glob(&glob));
            self.0.push(format!("(deny file-read-data (regex #\"/{fits}$\"))"));
        }
    }
}

/// A glob over one name as a regular expression.
fn regex(glob: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for c in glob.chars() {
        inside = (inside || c == '[') && c != ']';
        match c {
            '*' if !inside => out.push_str("[^/]*"),
            '?' if !inside => out.push_str("[^/]"),
            '.' | '+' | '(' | ')' | '{' | '}' | '^' | '$' | '|' if !inside => {
                out.extend(['\\', c]);
            }
            '"' => {}
            '!' if out.ends_with('[') => out.push('^'),
            c => out.push(c),
        }
    }
    out
}

/// A path as a string of the profile's language. A path that is not UTF-8 cannot be written
/// there; the replacement names nothing, so it allows nothing.
fn quoted(path: &Path) -> String {
    let escaped = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> SandboxPaths {
        SandboxPaths {
            workspace: "/Users/me/my \"shop\"".into(),
            home: "/Users/me".into(),
            own: vec!["/Users/me/Library/avocet".into()],
            ..SandboxPaths::default()
        }
    }

    fn read(run: &[&str]) -> String {
        let reader = Profile::Read {
            programs: vec!["/usr/bin/sed".into()],
            helpers: Vec::new(),
            readable: vec!["/Users/me/repo".into()],
            lists: vec!["/Users".into()],
            compares_tracked_files: false,
            reads_git_settings: false,
            netlink: false,
        };
        let run: Vec<PathBuf> = run.iter().map(PathBuf::from).collect();
        profile_text(&places(), &reader, Path::new("/private/tmp/step"), &run)
    }

    fn at(text: &str, line: &str) -> usize {
        let found = text.lines().position(|own| own == line);
        found.unwrap_or_else(|| panic!("no line {line}\n{text}"))
    }

    #[test]
    fn an_automatic_step_writes_only_to_its_own_folder_and_has_no_network() {
        let text = read(&[]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["(version 1)", "(allow default)", "(deny network*)"]);
        assert_eq!(lines[3], "(deny file-write*)");
        at(&text, "(allow file-write* (subpath \"/private/tmp/step\"))");
        assert_eq!(text.matches("(allow file-write*").count(), 2, "{text}");
    }

    #[test]
    fn an_automatic_step_reads_listed_folders_without_their_credentials() {
        let text = read(&[]);
        let none = at(&text, "(deny file-read-data)");
        let workspace = at(&text, r#"(allow file-read-data (subpath "/Users/me/my \"shop\""))"#);
        let repository = at(&text, "(allow file-read-data (subpath \"/Users/me/repo\"))");
        assert!(none < at(&text, "(allow file-read-data (literal \"/Users\"))"), "{text}");
        let key = at(&text, "(deny file-read-data (subpath \"/Users/me/.ssh\"))");
        let own = at(&text, "(deny file-read-data (subpath \"/Users/me/Library/avocet\"))");
        assert!(none < workspace && none < repository, "{text}");
        assert!(workspace < key && workspace < own, "{text}");
        // `.env` and `.env.local`; a sample of them is left out of the list.
        for name in [r"/\.[eE][nN][vV]$", r"/\.[eE][nN][vV]\.[^eEsStT][^/]*$"] {
            let name = at(&text, &format!("(deny file-read-data (regex #\"{name}\"))"));
            assert!(workspace < name, "{text}");
        }
        assert!(!text.contains(r"/\.[eE][nN][vV][^/]*$"), "{text}");
    }

    #[test]
    fn an_automatic_step_starts_only_its_program() {
        let text = read(&["/usr/bin/sed"]);
        let none = at(&text, "(deny process-exec*)");
        assert!(none < at(&text, "(allow process-exec* (subpath \"/usr/bin/sed\"))"));
        assert_eq!(text.matches("(allow process-exec*").count(), 1, "{text}");
    }

    #[test]
    fn an_approved_step_writes_where_it_may_and_a_path_cannot_end_its_string() {
        let worker = |network, opened: &[&str]| Profile::Work {
            opened: Vec::new(),
            private: opened.iter().map(PathBuf::from).collect(),
            writes: vec!["/Users/me/my \"shop\"".into()],
            named: Vec::new(),
            around: Vec::new(),
            placeholders: Vec::new(),
            made: Vec::new(),
            devices: Vec::new(),
            network,
            signals: false,
        };
        let text = profile_text(&places(), &worker(true, &[]), Path::new("/t\\"), &[]);
        at(&text, r#"(allow file-write* (subpath "/t\\"))"#);
        at(&text, r#"(allow file-write* (subpath "/Users/me/my \"shop\""))"#);
        at(&text, "(deny file-write* (subpath \"/Users/me/Library/avocet\"))");
        at(&text, "(deny file-read-data (subpath \"/Users/me/.ssh\"))");
        assert!(!text.contains("network") && !text.contains("process-exec"), "{text}");
        let ssh =
            profile_text(&places(), &worker(false, &["/Users/me/.ssh"]), Path::new("/t"), &[]);
        assert!(ssh.contains("(deny network*)") && !ssh.contains("me/.ssh"), "{ssh}");
    }
}
