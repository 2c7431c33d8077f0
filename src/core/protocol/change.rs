//! The change a step makes to one file: shown before it is made, stored afterwards.

use crate::i18n::{LocalizedText, session};
use crate::text::escape;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Absolute, links resolved.
    pub path: String,
    /// SHA-256 of the content before, in hex; `None`: the file did not exist.
    pub before: Option<String>,
    /// Of the content after; `None`: the file is deleted.
    pub after: Option<String>,
    /// Lines.
    pub added: usize,
    pub removed: usize,
    /// A unified diff, with the path relative to the workspace. Text of files: not cleaned.
    pub diff: String,
    /// True when the stored diff is cut.
    pub cut: bool,
    /// The file can be run as a program, before or after.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The files after the first, where one step changes several: `diff`, `added` and `removed` are
    /// of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Change>,
}

impl Change {
    /// One change of several files; `None`: of none.
    pub fn of_files(files: Vec<Change>) -> Option<Change> {
        let mut files = files.into_iter();
        let mut whole = files.next()?;
        for mut other in files {
            whole.added += other.added;
            whole.removed += other.removed;
            whole.diff.push_str(&std::mem::take(&mut other.diff));
            whole.others.push(other);
        }
        Some(whole)
    }

    /// The name of the file as its diff has it: every character can be seen.
    pub fn name(&self) -> String {
        let name = self.diff.lines().next().and_then(|line| line.strip_prefix("--- "));
        name.map_or_else(|| escape(&self.path).text, str::to_owned)
    }

    /// The changes of single files. Their lines are counted, and not shown.
    pub fn files(&self) -> Vec<Change> {
        let sum = |count: fn(&Change) -> usize| self.others.iter().map(count).sum::<usize>();
        let change = Change {
            added: self.added.saturating_sub(sum(|other| other.added)),
            removed: self.removed.saturating_sub(sum(|other| other.removed)),
            others: Vec::new(),
            ..self.clone()
        };
        std::iter::once(change).chain(self.others.iter().cloned()).collect()
    }

    /// Largest stored diff of a finished change, in bytes: a question shows all of it.
    const KEPT: usize = 192 * 1024;

    /// What a program changed, in one line; `None`: nothing.
    pub fn summary(changes: &[Change]) -> Option<LocalizedText> {
        const NAMED: usize = 4;
        let last = |path: &str| path.rfind('/').map_or(0, |slash| slash + 1);
        let mut names: Vec<&str> =
            changes.iter().filter_map(|file| file.path.get(last(&file.path)..)).collect();
        names.sort_unstable();
        let is_same_name = names.windows(2).any(|pair| pair.first() == pair.last());
        // Files of the same name differ by their path in the folder that contains them all.
        let shared = changes.iter().map(|file| file.path.as_str()).reduce(common_folder);
        let name = |change: &Change| {
            let from = shared.map_or(0, str::len);
            let from = if is_same_name { from } else { last(&change.path) };
            let name = change.path.get(from..).unwrap_or_default();
            format!("{name} +{} -{}", change.added, change.removed)
        };
        let names = changes.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
        Some(match changes.len() {
            0 => return None,
            1 => session::FILES_CHANGED_ONE.with("names", names),
            n if n <= NAMED => session::FILES_CHANGED.with("n", n).with("names", names),
            n => session::FILES_CHANGED_MORE
                .with("n", n)
                .with("names", names)
                .with("more", n - NAMED),
        })
    }

    /// The change in its stored form.
    pub fn into_stored(mut self) -> Change {
        if self.diff.len() > Change::KEPT {
            let most = self.diff.floor_char_boundary(Change::KEPT);
            let at = self.diff.get(..most).and_then(|kept| kept.rfind('\n'));
            self.diff.truncate(at.map_or(0, |at| at + 1));
            self.cut = true;
        }
        self
    }
}

/// The folder that contains both, with its slash.
fn common_folder<'a>(path: &'a str, other: &str) -> &'a str {
    let same = path.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let end = path.as_bytes().iter().take(same).rposition(|byte| *byte == b'/');
    path.get(..end.map_or(0, |slash| slash + 1)).unwrap_or_default()
}

/// One item of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    pub text: String,
    pub state: PlanState,
}

impl PlanItem {
    /// A line with its box: `[x] done`.
    pub fn line(&self) -> String {
        let mark = match self.state {
            PlanState::Pending => "[ ]",
            PlanState::Doing => "[>]",
            PlanState::Done => "[x]",
        };
        format!("{mark} {}", self.text)
    }

    /// The items of a plan that the user edited: a line each, with or without its box.
    pub fn parse_lines(text: &str) -> Vec<PlanItem> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(PlanItem::parse).filter(|item| !item.text.is_empty()).collect()
    }

    /// An item in one line, which may carry its box.
    pub fn parse(line: &str) -> PlanItem {
        let boxes = [
            ("[ ]", PlanState::Pending),
            ("[x]", PlanState::Done),
            ("[X]", PlanState::Done),
            ("[~]", PlanState::Doing),
            ("[>]", PlanState::Doing),
        ];
        let found = boxes.iter().find_map(|(sign, state)| Some((*state, line.strip_prefix(sign)?)));
        let (state, text) = found.map_or((PlanState::Pending, line), |(state, rest)| (state, rest));
        PlanItem { text: text.trim().to_owned(), state }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    #[default]
    Pending,
    Doing,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Lang;

    #[test]
    fn a_summary_tells_files_of_one_name_apart() {
        let summary = |paths: &[&str]| {
            let change = |path: &&str| Change { path: (*path).into(), ..Change::default() };
            let files: Vec<Change> = paths.iter().map(change).collect();
            Change::summary(&files).map(|say| say.text(Lang::En)).unwrap_or_default()
        };
        for (paths, says) in [
            (&["/w/src/a.txt", "/w/b.txt"][..], "2 files changed: a.txt +0 -0, b.txt +0 -0"),
            (&["/w/a.txt", "/w/d/a.txt"], "2 files changed: a.txt +0 -0, d/a.txt +0 -0"),
            (&["/w/x/a.txt", "/w/xy/a.txt"], "2 files changed: x/a.txt +0 -0, xy/a.txt +0 -0"),
            (&["/w/d/a.txt"], "1 file changed: a.txt +0 -0"),
            (&["a.txt", "d/a.txt"], "2 files changed: a.txt +0 -0, d/a.txt +0 -0"),
        ] {
            assert_eq!(summary(paths), says);
        }
        assert_eq!(summary(&[]), "");
    }
}
