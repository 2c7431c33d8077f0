//! Leaves the contents of credential files out of what a program prints as differences. Arguments
//! that exclude them would cost ten times as much, as each is compared with each path of each commit.
//!
//! The form of the output is known: the judgement added the options that make it so. Each difference
//! begins with a header that names its file, and every line of it with one of a few characters.

use std::path::Path;

use avocet_safety as safety;

/// More of a line is not looked at.
const LOOKED: usize = 8 * 1024;

/// The lines that begin a difference.
const STARTS: &[&str] = &["diff --git ", "diff --cc ", "diff --combined "];
/// Lines of a header that name a file.
const NAMES: &[&str] = &["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];
/// The beginnings of the other lines of a difference, but for the empty one.
const BODY: &[&str] = &[
    " ",
    "+",
    "-",
    "\\",
    "@",
    "index ",
    "mode ",
    "old mode ",
    "new mode ",
    "deleted file ",
    "new file ",
    "rename ",
    "copy ",
    "similarity ",
    "dissimilarity ",
    "Binary files ",
];
/// What follows it is encoded, and looks like anything.
const ENCODED: &str = "GIT binary patch";

#[derive(Debug, Default)]
pub(super) struct DiffFilter {
    /// The part of a line that has arrived.
    line: Vec<u8>,
    /// Whether the line, whose beginning was seen, is shown.
    decided: Option<bool>,
    part: DiffPart,
}

/// Where in the output it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DiffPart {
    /// Outside of a difference, or in one that is shown.
    #[default]
    Shown,
    /// Before the first lines of a difference.
    Header,
    Hidden,
    /// Hidden up to the next header.
    HiddenEncoded,
}

impl DiffFilter {
    /// What of it is shown: whole lines.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = piece.ends_with(b"\n");
            match self.decided {
                Some(true) => out.extend_from_slice(piece),
                Some(false) => {}
                None => {
                    self.line.extend_from_slice(piece);
                    if is_whole || self.line.len() >= LOOKED {
                        self.decide(&mut out);
                    }
                }
            }
            if is_whole {
                self.decided = None;
            }
        }
        out
    }

    /// The last line, if it has no end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.line.is_empty() {
            self.decide(&mut out);
        }
        self.decided = None;
        out
    }

    fn decide(&mut self, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let is_shown = self.is_shown(text.trim_end_matches(['\n', '\r']));
        if is_shown {
            out.extend_from_slice(&line);
        }
        self.decided = Some(is_shown);
    }

    fn is_shown(&mut self, line: &str) -> bool {
        let rest = |starts: &[&str]| starts.iter().find_map(|start| line.strip_prefix(start));
        if let Some(files) = rest(STARTS) {
            let hidden = is_of_credentials(files);
            self.part = if hidden { DiffPart::Hidden } else { DiffPart::Header };
            // The name may be shown.
            return true;
        }
        let is_body = line.is_empty() || BODY.iter().any(|start| line.starts_with(start));
        match self.part {
            DiffPart::Shown => true,
            DiffPart::Header => {
                if rest(NAMES).is_some_and(is_of_credentials) {
                    self.part = DiffPart::Hidden;
                    return false;
                }
                if line.starts_with('@') || !is_body {
                    self.part = DiffPart::Shown;
                }
                true
            }
            DiffPart::Hidden if line.starts_with(ENCODED) => {
                self.part = DiffPart::HiddenEncoded;
                false
            }
            DiffPart::Hidden if is_body => false,
            DiffPart::Hidden => {
                self.part = DiffPart::Shown;
                true
            }
            DiffPart::HiddenEncoded => false,
        }
    }
}

/// Whether one of the files that a header names, with or without blanks in the names, is one of
/// credentials.
fn is_of_credentials(files: &str) -> bool {
    let half = files.len().checked_sub(1).map_or(0, |len| len / 2);
    let halves = files.split_at_checked(half).map(|(first, second)| [first, second.trim_start()]);
    let words = files.split_whitespace();
    let mut names = std::iter::once(files).chain(words).chain(halves.into_iter().flatten());
    names.any(|name| {
        let name = name.trim().trim_matches('"');
        let name = name.strip_prefix("a/").or(name.strip_prefix("b/")).unwrap_or(name);
        safety::is_credential_path(Path::new(&name.to_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "commit 1\nAuthor: a\n\n    message\n\n\
        diff --git a/.env b/.env\nnew file mode 100644\nindex 1..2\n--- /dev/null\n+++ b/.env\n\
        @@ -0,0 +1,3 @@\n+TOKEN=secret-1\n+\n+diff --git a/x b/x\n\\ No newline at end of file\n\
        diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1 +1 @@\n--- a/.env\n+fn shown() {}\n\ncommit 2\n\n    other\n\n\
        diff --git a/my secret.txt b/my secret.txt\n@@ -1 +1 @@\n-secret-2\n+secret-3\n\n\
        commit 3\n\n    third\n";

    fn shown(text: &str, size: usize) -> String {
        let mut filter = DiffFilter::default();
        let mut out = Vec::new();
        for bytes in text.as_bytes().chunks(size) {
            out.extend(filter.push(bytes));
        }
        out.extend(filter.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_contents_of_credential_files_are_left_out_and_everything_else_stays() {
        for size in [1, 7, 4096] {
            let said = shown(LOG, size);
            assert!(!said.contains("secret-"), "{said}");
            for part in ["fn shown", "--- a/.env\n+fn", "commit 2", "third", "diff --git a/.env"] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    }

    #[test]
    fn what_names_no_credentials_passes_unchanged() {
        let text = "a\n\ndiff --git a/x b/x\nindex 1\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nlast";
        for size in [1, 3, 4096] {
            assert_eq!(shown(text, size), text);
        }
        let long = format!("+{}\n", "x".repeat(3 * LOOKED));
        assert_eq!(shown(&long, 1000), long);
    }

    #[test]
    fn every_form_of_a_header_is_understood() {
        for header in [
            "diff --git a/.env b/.env",
            "diff --cc .env",
            "diff --combined conf/.ENV.local",
            "diff --git a/my password list.txt b/my password list.txt",
            "diff --git \"a/\\303\\251.pem\" \"b/\\303\\251.pem\"",
            "diff --git a/home/.ssh/config b/home/.ssh/config",
            "diff --git a/.docker/config.json b/.docker/config.json",
            "diff --git a/x b/id_rsa",
            "diff --git a/x b/y\nrename from x\nrename to a password.txt",
            "diff --git a/x b/y\n--- a/x\n+++ b/deploy key.pem",
        ] {
            let body = "@@ -1 +1 @@\n-hidden\n+hidden\n \n hidden\n";
            let said = shown(&format!("{header}\n{body}commit 2\n"), 5);
            assert!(!said.contains("hidden") && said.ends_with("commit 2\n"), "{header}: {said}");
        }
    }

    #[test]
    fn an_encoded_file_is_left_out_up_to_the_next_one() {
        let text = "diff --git a/x.p12 b/x.p12\nindex 1\nGIT binary patch\nliteral 3\nKcmhidden\n\n\
            literal 0\nHcmV?d00001\n\ndiff --git a/y b/y\n@@ -1 +1 @@\n+y\n";
        let said = shown(text, 9);
        assert!(
            !said.contains("hidden") && !said.contains("HcmV") && said.ends_with("+y\n"),
            "{said}"
        );
    }
}
