//! `/diff`: what the session changed, against the files as they are now, and what else is not
//! committed. It does not count as a turn: nothing of it is recorded, and the session goes on meanwhile.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Security;
use super::change_log::{ChangedFile, UndoPoint, changes, changes_since};
use super::event_sink::Outbox;
use avocet_core::protocol::{Change, Event, StepAction, Tier};
use avocet_safety::redact::Redactor;
use avocet_safety::tools::describe_change;
use avocet_safety::{self as safety, ClearedStep, PolicyContext, Verdict, is_credential_path};
use avocet_tools::file::Backups;
use avocet_tools::{PipedOutput, RunControl, ShellInput, Tool, Toolbox};

/// Files that are shown of each kind, and bytes of one that are compared.
const FILES: usize = 1_000;
const COMPARED: u64 = 4 * 1024 * 1024;
/// Bytes of all diffs.
const SHOWN: usize = 8 * 1024 * 1024;

/// Sends it once git has answered.
pub(super) fn send(record: &[Event], tools: &Toolbox, security: &Security, mut outbox: Outbox) {
    let all = changes(record);
    let changed = changes_since(&all, UndoPoint { turn: 0, is_own: false });
    let report = DiffReport {
        backups: tools.backups().cloned(),
        redactor: Arc::clone(&security.redactor),
        folder: security.place.cwd.clone(),
    };
    let clear_git = |line: &str| clear_git(line, tools, security.context());
    let diff = clear_git("git diff HEAD --relative --no-renames --no-color");
    let sums = clear_git("git diff HEAD --relative --no-renames --numstat");
    let untracked = clear_git("git ls-files --others --exclude-standard -z");
    tokio::spawn(async move {
        let mut others = match output(diff).await {
            Some(text) => split_diff(&text, &report.folder),
            None => parse_sums(&output(sums).await.unwrap_or_default(), &report.folder),
        };
        let new = output(untracked).await;
        let is_known = new.is_some();
        let new = new.unwrap_or_default();
        let compare = move || {
            let changes: Vec<Change> =
                changed.iter().take(FILES).filter_map(|it| report.compare(it)).collect();
            let new = new.split('\0').filter(|path| !path.is_empty()).take(FILES);
            others.extend(new.filter_map(|path| report.new_file(path)));
            let known: HashSet<&str> = changes.iter().map(|it| it.path.as_str()).collect();
            others.retain(|change| !known.contains(change.path.as_str()));
            (limited(changes), limited(others))
        };
        if let Ok((session, uncommitted)) = tokio::task::spawn_blocking(compare).await {
            let uncommitted = is_known.then_some(uncommitted);
            outbox.send(Event::Changes { session, uncommitted }).await;
        }
    });
}

/// A line of git's that only reads, with its tool; `None`: the repository is one that it would have
/// to be asked about.
fn clear_git(
    line: &str,
    tools: &Toolbox,
    context: PolicyContext<'_>,
) -> Option<(Arc<dyn Tool>, ClearedStep)> {
    let tool = Arc::clone(tools.find(&StepAction::Shell { line: line.to_owned() })?);
    match safety::assess_shell("diff", line, context) {
        Verdict::Run(cleared) if cleared.judgement().risk.tier == Tier::L0 => Some((tool, cleared)),
        Verdict::Run(_) | Verdict::Ask(_) | Verdict::Refuse(_) => None,
    }
}

/// The whole output of a program that succeeded.
async fn output(call: Option<(Arc<dyn Tool>, ClearedStep)>) -> Option<String> {
    let (tool, cleared) = call?;
    let (to, _) = mpsc::unbounded_channel();
    let control = RunControl::new(CancellationToken::new(), to);
    let PipedOutput { observation, output } =
        tool.run_piped(cleared, ShellInput::default(), control).await;
    output.filter(|_| observation.exit_code == Some(0))
}

struct DiffReport {
    backups: Option<Backups>,
    redactor: Arc<Redactor>,
    folder: std::path::PathBuf,
}

impl DiffReport {
    /// A file before the session changed it, against the file now; `None`: they are the same.
    fn compare(&self, changed: &ChangedFile) -> Option<Change> {
        let path = Path::new(&changed.path);
        let old = match (&changed.before, &self.backups) {
            (Some(digest), Some(backups)) => backups.get(digest),
            _ => None,
        };
        if old.is_none() && changed.before.is_some() {
            return Some(Change { cut: true, ..changed.to_change() });
        }
        let new = read(path);
        let change = self.describe(path, (old.as_deref(), new.as_deref()));
        (change.before != change.after).then_some(change)
    }

    fn new_file(&self, name: &str) -> Option<Change> {
        let path = self.folder.join(name);
        let bytes = (!is_credential_path(Path::new(name))).then(|| read(&path)).flatten()?;
        Some(self.describe(&path, (None, Some(&bytes))))
    }

    fn describe(&self, path: &Path, contents: (Option<&[u8]>, Option<&[u8]>)) -> Change {
        let shown = path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy();
        describe_change(path, &shown, contents, Some(&self.redactor)).into_stored()
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    (meta.is_file() && meta.len() <= COMPARED).then(|| std::fs::read(path).ok()).flatten()
}

/// The changes, the later ones without diffs where they are too long together.
fn limited(mut changes: Vec<Change>) -> Vec<Change> {
    let mut room = SHOWN;
    for change in &mut changes {
        match room.checked_sub(change.diff.len()) {
            Some(rest) => room = rest,
            None => (change.diff, change.cut) = (String::new(), true),
        }
    }
    changes
}

/// The files of a diff as git prints it.
fn split_diff(text: &str, folder: &Path) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            changes.push(Change { cut: true, ..Change::default() });
            continue;
        }
        let Some(change) = changes.last_mut() else { continue };
        let in_hunks = change.diff.contains("\n@@");
        let name = |line: &str| line.trim_end().split_once('/').map(|(_, name)| name.to_owned());
        match line {
            line if !in_hunks && line.starts_with("--- ") => {
                change.before = (line != "--- /dev/null\n").then(String::new);
                change.path = change.before.as_ref().and(name(line)).unwrap_or_default();
            }
            line if !in_hunks && line.starts_with("+++ ") => {
                change.after = (line != "+++ /dev/null\n").then(String::new);
                if change.after.is_some() {
                    change.path = name(line).unwrap_or_default();
                }
                change.diff = format!("--- {0}\n+++ {0}\n", change.path);
                change.cut = false;
            }
            line if line.starts_with("@@ ") || in_hunks => {
                change.added += usize::from(line.starts_with('+'));
                change.removed += usize::from(line.starts_with('-'));
                change.diff.push_str(line);
            }
            line if line.starts_with("Binary files ") => {
                let names = line.rsplit_once(" differ").map_or(line, |(names, _)| names);
                let name = names.rsplit_once(" and ").and_then(|(_, new)| name(new));
                change.path = name.unwrap_or_default();
            }
            _ => {}
        }
    }
    changes.retain(|change| !change.path.is_empty());
    for change in &mut changes {
        change.path = folder.join(&change.path).to_string_lossy().into_owned();
    }
    changes.truncate(FILES);
    changes.into_iter().map(Change::into_stored).collect()
}

/// Files with their numbers of lines, where the diff is too long.
fn parse_sums(text: &str, folder: &Path) -> Vec<Change> {
    let change = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let added = parts.next()?.parse().ok()?;
        let removed = parts.next()?.parse().ok()?;

        let path = folder.join(parts.next()?).to_string_lossy().into_owned();
        Some(Change { path, added, removed, cut: true, ..Change::default() })
    };
    text.lines().filter_map(change).take(FILES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_of_git_is_split_by_files() {
        let text = "diff --git a/src/a b b/src/a b\nindex 1..2 100644\n--- a/src/a b\n+++ b/src/a b\n\
                    @@ -1 +1,2 @@\n-one\n+1\n+++ x\ndiff --git a/gone b/gone\ndeleted file mode 100644\n\
                    --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/p.png b/p.png\n\
                    Binary files a/p.png and b/p.png differ\n";
        let seen: Vec<_> = split_diff(text, Path::new("/w"))
            .into_iter()
            .map(|it| (it.name(), it.path, it.added, it.removed, it.after.is_some()))
            .collect();
        assert_eq!(
            seen,
            [
                ("src/a b".to_owned(), "/w/src/a b".to_owned(), 2, 1, true),
                ("gone".to_owned(), "/w/gone".to_owned(), 0, 1, false),
                ("/w/p.png".to_owned(), "/w/p.png".to_owned(), 0, 0, false),
            ]
        );
    }
}
