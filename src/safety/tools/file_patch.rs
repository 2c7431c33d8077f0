//! Reads the forms in which other agents write changes of several files: `*** Begin Patch`, a
//! unified diff, and blocks of SEARCH and REPLACE. What a file becomes is worked out like any edit.

use super::edit::{Anchor, TextEdit};
use super::input::InputError;
use crate::findings::excerpt;
use avocet_core::i18n::safety as phrases;

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchedFile {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, to: Option<String>, edits: Vec<TextEdit> },
}

impl PatchedFile {
    pub fn path(&self) -> &str {
        match self {
            PatchedFile::Add { path, .. }
            | PatchedFile::Delete { path }
            | PatchedFile::Update { path, .. } => path,
        }
    }
}

type Files = Result<Vec<PatchedFile>, InputError>;

/// Reads a patch. `path`: the file it is for where it names none itself.
pub fn parse(text: &str, path: Option<&str>) -> Files {
    let text = text.replace("\r\n", "\n");
    let text = super::edit::unfence(&text).unwrap_or(&text);
    let files = if text.lines().any(|line| line.starts_with("*** ") && line.contains(" File: ")) {
        parse_envelope(text)
    } else if text.lines().any(is_search) {
        parse_blocks(text, path)
    } else {
        parse_unified(text, path)
    }?;
    if files.is_empty() {
        Err(phrases::PATCH_EMPTY.with("begin", "*** Begin Patch").into())
    } else {
        Ok(files)
    }
}

fn wrong(line: &str) -> InputError {
    phrases::PATCH_WRONG.with("line", excerpt(line)).into()
}

/// The lines of one change, as they are read.
#[derive(Default)]
struct Hunk {
    old: String,
    new: String,
    anchor: Anchor,
    has_lines: bool,
    /// The last line is one of the old text, of the new one.
    last: [bool; 2],
    /// Where the file has no new line at its end.
    open: [bool; 2],
}

impl Hunk {
    /// Whether the line is one of a change.
    fn push(&mut self, line: &str) -> bool {
        let (old, new, rest) = match line.split_at_checked(1) {
            Some(("-", rest)) => (true, false, rest),
            Some(("+", rest)) => (false, true, rest),
            Some((" ", rest)) => (true, true, rest),
            None => (true, true, ""),
            Some(("\\", _)) => {
                let both = self.open.iter_mut().zip(self.last);
                both.for_each(|(open, is_last)| *open |= is_last);
                return true;
            }
            Some(_) => return false,
        };
        self.last = [old, new];
        for (is_here, text) in [(old, &mut self.old), (new, &mut self.new)] {
            if is_here {
                text.push_str(rest);
                text.push('\n');
            }
        }
        self.has_lines = true;
        true
    }

    fn end(&mut self, edits: &mut Vec<TextEdit>) {
        let Hunk { old, new, mut anchor, has_lines, open: [was_open, is_open], .. } =
            std::mem::take(self);
        anchor.at_end |= was_open || is_open;
        anchor.final_newline = (was_open != is_open).then_some(!is_open);
        if has_lines && (old != new || anchor.final_newline.is_some()) {
            edits.push(TextEdit { old, new, all: false, anchor: Some(anchor) });
        }
    }
}

/// `*** Begin Patch`, with a section for each file.
fn parse_envelope(text: &str) -> Files {
    let mut files: Vec<PatchedFile> = Vec::new();
    let mut hunk = Hunk::default();
    for line in text.lines() {
        let section = |name: &str| line.strip_prefix("*** ")?.strip_prefix(name).map(str::trim);
        let named = [section("Add File:"), section("Delete File:"), section("Update File:")];
        if named.iter().any(Option::is_some) || line.starts_with("*** End Patch") {
            end_hunk(&mut hunk, &mut files);
        }
        let path = |path: &str| path.trim_matches(['`', '"', '\'']).to_owned();
        match named {
            [Some(name), ..] => {
                files.push(PatchedFile::Add { path: path(name), content: String::new() });
                continue;
            }
            [_, Some(name), _] => {
                files.push(PatchedFile::Delete { path: path(name) });
                continue;
            }
            [.., Some(name)] => {
                let edits = Vec::new();
                files.push(PatchedFile::Update { path: path(name), to: None, edits });
                continue;
            }
            [None, None, None] => {}
        }
        match files.last_mut() {
            Some(PatchedFile::Update { to, .. }) if section("Move to:").is_some() => {
                *to = section("Move to:").map(path);
            }
            Some(PatchedFile::Update { .. }) if line.starts_with("*** End of File") => {
                hunk.anchor.at_end = true;
            }
            _ if line.starts_with("*** ") => {}
            Some(PatchedFile::Update { .. }) => {
                if let Some(place) = line.strip_prefix("@@") {
                    if hunk.has_lines {
                        end_hunk(&mut hunk, &mut files);
                    }
                    let place = place.trim().trim_end_matches("@@").trim();
                    if !place.is_empty() {
                        hunk.anchor.lines.push(place.to_owned());
                    }
                } else if !hunk.push(line) {
                    return Err(wrong(line));
                }
            }
            Some(PatchedFile::Add { content, .. }) if line.starts_with('\\') => {
                content.pop();
            }
            Some(PatchedFile::Add { content, .. }) => {
                let rest = line.strip_prefix('+').ok_or_else(|| wrong(line))?;
                content.push_str(rest);
                content.push('\n');
            }
            Some(PatchedFile::Delete { .. }) | None if line.trim().is_empty() => {}
            Some(PatchedFile::Delete { .. }) | None => return Err(wrong(line)),
        }
    }
    end_hunk(&mut hunk, &mut files);
    Ok(files)
}

fn end_hunk(hunk: &mut Hunk, files: &mut [PatchedFile]) {
    if let Some(PatchedFile::Update { edits, .. }) = files.last_mut() {
        hunk.end(edits);
    }
}

fn is_search(line: &str) -> bool {
    let bare = line.trim_end();
    matches!(bare, "<<<<<<< SEARCH" | "------- SEARCH" | "<<<<<<< ORIGINAL")
}

fn is_hint(line: &str) -> bool {
    line.starts_with(":start_line:") || line.starts_with(":end_line:")
}

/// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
fn parse_blocks(text: &str, path: Option<&str>) -> Files {
    let mut edits = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !is_search(line) {
            continue;
        }
        let mut old = String::new();
        let mut new = String::new();
        let mut is_new = false;
        let mut is_whole = false;

        let mut has_hint = false;
        for line in lines.by_ref() {
            match line.trim_end() {
                // The lines where it is, as some agents write them before the text.
                hint if old.is_empty() && !is_new && is_hint(hint) => has_hint = true,
                "-------" if has_hint && old.is_empty() => {}
                "=======" if !is_new => is_new = true,
                ">>>>>>> REPLACE" | "+++++++ REPLACE" | ">>>>>>> UPDATED" if is_new => {
                    is_whole = true;
                    break;
                }
                _ => {
                    let part = if is_new { &mut new } else { &mut old };
                    part.push_str(line);
                    part.push('\n');
                }
            }
        }
        if !is_whole {
            return Err(wrong(line));
        }
        edits.push(TextEdit { old, new, all: false, anchor: None });
    }
    let path =
        path.ok_or_else(|| InputError::from(phrases::PATCH_NO_PATH.with("field", "path")))?;
    Ok(vec![PatchedFile::Update { path: path.to_owned(), to: None, edits }])
}

/// A unified diff, as `diff -u` or git write it.
fn parse_unified(text: &str, path: Option<&str>) -> Files {
    let mut files: Vec<PatchedFile> = Vec::new();
    let mut hunk: Option<Hunk> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_header =
            line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if is_header || line.starts_with("diff --git ") || line.starts_with("@@") {
            end_unified(&mut hunk, &mut files);
        }
        if is_header {
            let new = lines.next().unwrap_or_default();
            files.push(unified_file(line, new, path));
        } else if let Some(range) = line.strip_prefix("@@") {
            if files.is_empty() {
                let path = path.ok_or_else(|| {
                    InputError::from(phrases::PATCH_NO_PATH.with("field", "path"))
                })?;
                files.push(PatchedFile::Update {
                    path: path.to_owned(),
                    to: None,
                    edits: Vec::new(),
                });
            }
            let mut begun = Hunk::default();
            let first = range.trim_start().strip_prefix('-');
            begun.anchor.line = first.and_then(|rest| {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest.get(..digits)?.parse().ok()
            });
            hunk = Some(begun);
        } else if let Some(open) = &mut hunk
            && !open.push(line)
        {
            end_unified(&mut hunk, &mut files);
        }
    }
    end_unified(&mut hunk, &mut files);
    Ok(files)
}

/// The file that two lines of headers name.
fn unified_file(old: &str, new: &str, path: Option<&str>) -> PatchedFile {
    let name = |line: &str| {
        let name = line.get(4..).unwrap_or_default().split('\t').next().unwrap_or_default().trim();
        let bare = ["a/", "b/"].iter().find_map(|prefix| name.strip_prefix(prefix));
        bare.unwrap_or(name).to_owned()
    };
    let old = name(old);
    let new = name(new);

    match (old.as_str(), new.as_str()) {
        ("/dev/null", _) => PatchedFile::Add { path: new, content: String::new() },
        (_, "/dev/null") => PatchedFile::Delete { path: old },
        _ => {
            let path = path.map(str::to_owned).unwrap_or_else(|| old.clone());
            let to = (old != new && path == old).then_some(new);
            PatchedFile::Update { path, to, edits: Vec::new() }
        }
    }
}

fn end_unified(hunk: &mut Option<Hunk>, files: &mut [PatchedFile]) {
    let Some(mut hunk) = hunk.take() else { return };
    match files.last_mut() {
        Some(PatchedFile::Update { edits, .. }) => {
            // An empty line after the last one belongs to the text around the diff.
            while hunk.old.ends_with("\n\n") && hunk.new.ends_with("\n\n") {
                hunk.old.pop();
                hunk.new.pop();
            }
            hunk.end(edits);
        }
        Some(PatchedFile::Add { content, .. }) => {
            content.push_str(&hunk.new);
            if hunk.open == [false, true] {
                content.pop();
            }
        }
        Some(PatchedFile::Delete { .. }) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    fn edits(file: &PatchedFile) -> Vec<(&str, &str)> {
        match file {
            PatchedFile::Update { edits, .. } => {
                edits.iter().map(|edit| (edit.old.as_str(), edit.new.as_str())).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn an_envelope_adds_changes_moves_and_deletes() {
        let text = "*** Begin Patch\n*** Add File: new.txt\n+a\n+\n*** Update File: x.py\n*** Move to: y.py\n@@ class A\n@@ def f\n a\n-b\n+c\n@@\n-d\n*** End of File\n*** Delete File: old\n*** End Patch\n";
        let files = parse(text, None).expect("it is read");
        assert_eq!(files[0], PatchedFile::Add { path: "new.txt".into(), content: "a\n\n".into() });
        assert_eq!(edits(&files[1]), [("a\nb\n", "a\nc\n"), ("d\n", "")]);
        let PatchedFile::Update { to, edits, .. } = &files[1] else { panic!("it is changed") };
        assert_eq!(to.as_deref(), Some("y.py"));
        let anchor = edits[0].anchor.as_ref().expect("it has a place");
        assert_eq!(anchor.lines, ["class A", "def f"]);
        assert!(edits[1].anchor.as_ref().is_some_and(|anchor| anchor.at_end));
        assert_eq!(files[2], PatchedFile::Delete { path: "old".into() });
    }

    #[test]
    fn a_unified_diff_is_read_with_wrong_counts() {
        let text = "diff --git a/x b/x\nindex 1..2\n--- a/x\t2026\n+++ b/x\n@@ -4,9 +4,7 @@ fn\n a\n-b\n+c\n\\ No newline at end of file\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n";
        let files = parse(text, None).expect("it is read");
        assert_eq!(edits(&files[0]), [("a\nb\n", "a\nc\n")]);
        assert_eq!(files[0].path(), "x");
        assert_eq!(files[1], PatchedFile::Add { path: "new".into(), content: "n\n".into() });
        let bare = parse("@@ -1 +1 @@\n-a\n+b\n", Some("f")).expect("the path is given");
        assert_eq!((bare[0].path(), edits(&bare[0])), ("f", vec![("a\n", "b\n")]));
    }

    #[test]
    fn a_missing_new_line_at_the_end_is_read_as_diffs_mark_it() {
        let note = "\\ No newline at end of file\n";
        let apply = |text: &str, patch: &str| {
            let files = parse(patch, Some("f")).expect("it is read");
            match &files[0] {
                PatchedFile::Update { edits, .. } => {
                    super::super::edit::apply(text, edits).expect("it fits").text
                }
                PatchedFile::Add { content, .. } => content.clone(),
                PatchedFile::Delete { .. } => String::new(),
            }
        };
        for (file, patch, expected) in [
            ("a\nb", format!("@@ -1,2 +1,2 @@\n a\n-b\n{note}+c\n{note}"), "a\nc"),
            ("a\nb", format!("@@ -1,2 +1,2 @@\n a\n-b\n{note}+b\n"), "a\nb\n"),
            ("a\nb\n", format!("@@ -1,2 +1,2 @@\n a\n-b\n+b\n{note}"), "a\nb"),
            ("a\r\nb", format!("@@ -1,2 +1,2 @@\n a\n-b\n{note}+c\n"), "a\r\nc\r\n"),
            ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+x\n b\n{note}"), "x\nb"),
            (
                "a\nb",
                format!(
                    "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n{note}+c\n{note}*** End Patch"
                ),
                "a\nc",
            ),
            ("", format!("*** Begin Patch\n*** Add File: f\n+a\n{note}*** End Patch"), "a"),
            ("", format!("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n{note}"), "a"),
        ] {
            assert_eq!(apply(file, &patch), expected, "{file:?} {patch}");
        }
    }

    #[test]
    fn what_is_no_patch_is_said() {
        let say = |text: &str| parse(text, Some("f")).expect_err("it is none").say.text(Lang::En);
        assert!(say("hello").contains("*** Begin Patch"));
        assert!(say("*** Begin Patch\n*** Update File: a\n@@\nhello\n").contains("`hello`"));
        let text = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        assert_eq!(edits(&parse(text, Some("f")).expect("read")[0]), [("a\n", "b\n")]);
    }
}
