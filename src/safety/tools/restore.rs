//! Judges undoing a change: the user asks for it, not a model, so it runs, unless the file
//! is not as the change left it.
//!
//! What is written is the file of exactly this path: where a link has taken its place, the
//! link goes, and nothing is written through it. Several files are restored together, in an
//! order in which no content is removed before the others are back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::change::{add_write_findings, build_change};
use super::{InputError, Obstacle, ResolvedPath, ToolTask, Write, content, digest, excerpt, patch};
use crate::findings::Findings;
use crate::snapshot::MachineSnapshot;
use crate::spec::JudgeContext;
use crate::{FileKind, Judgement, Launch, PathKind, PolicyContext, command, paths};
use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, Requires, Step, StepAction, Tier};
use avocet_core::text::{path_of_text, path_text};

/// A file of this size was never changed by us, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// A folder with more entries, or deeper ones, is not removed to make room for a file.
const MAX_ENTRIES: usize = 1000;
const MAX_DEPTH: usize = 32;

/// A file, and the content to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// Absolute.
    pub path: String,
    /// `None`: there was no file.
    pub before: Option<Vec<u8>>,
    /// The content after the change, as a digest; `None`: no file.
    pub after: Option<String>,
    /// A file that is created can be run as a program.
    pub executable: bool,
}

/// Several of them, in the order in which they are done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RestorePlan {
    /// Contents that can be written at once, and those that cannot be written at all.
    pub writes: Vec<Restore>,
    /// Files that go. Only when all contents of `writes` are there: one of these may hold the
    /// only copy of another.
    pub deletes: Vec<Restore>,
    /// Contents for which the deleted files have to make room.
    pub late_writes: Vec<Restore>,
    /// Files that are already as they should be.
    pub done: Vec<Restore>,
}

/// The order of several restores.
pub fn plan(restores: Vec<Restore>, policy_cx: PolicyContext<'_>) -> RestorePlan {
    let snapshot = MachineSnapshot::new(policy_cx.world);
    let policy_cx = PolicyContext { world: &snapshot, ..policy_cx };
    let cwd = policy_cx.world.resolve(&policy_cx.place.cwd);
    let context = command::judge_context(policy_cx, cwd);
    let deleted = restores.iter().filter(|it| it.before.is_none());
    let gone: BTreeSet<PathBuf> = deleted.map(|it| path_of_text(&it.path)).collect();
    let mut plan = RestorePlan::default();
    for restore in restores {
        let now = check(&restore, &BTreeSet::new(), &context);
        let place = match (&now, &restore.before) {
            (Ok(place), _) if place.now == restore.before => &mut plan.done,
            (_, None) => &mut plan.deletes,
            (Err(_), Some(_)) if check(&restore, &gone, &context).is_ok() => &mut plan.late_writes,
            (_, Some(_)) => &mut plan.writes,
        };
        place.push(restore);
    }
    plan
}

/// The judgement of one restoring.
pub fn judge(id: &str, restore: &Restore, policy_cx: PolicyContext<'_>) -> Judgement {
    let snapshot = MachineSnapshot::new(policy_cx.world);
    let policy_cx = PolicyContext { world: &snapshot, ..policy_cx };
    let cwd = policy_cx.world.resolve(&policy_cx.place.cwd);
    let context = command::judge_context(policy_cx, cwd);
    let mut findings = Findings::default();
    let task = restore_task(restore, &context, &mut findings);
    let shown = match &task {
        Ok((spot, _)) => spot.shown.clone(),
        Err(_) => restore.path.clone(),
    };
    let tool = StepAction::Tool {
        name: "file.restore".to_owned(),
        input: serde_json::json!({ "path": shown }),
    };
    let step = Step { id: id.to_owned(), work: tool, requires: Requires::default(), cwd: None };
    let task = match task {
        Ok((_, task)) => task,
        Err(fault) => ToolTask::Fault(fault),
    };
    let seen = findings.seen_programs();
    let risk = findings.into_risk(false);
    let cwd = context.cwd;
    let launch = Launch::default();
    Judgement { step, risk, program: None, cwd, pieces: Vec::new(), seen, task: Some(task), launch }
}

fn restore_task(
    restore: &Restore,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<(ResolvedPath, ToolTask), InputError> {
    let RestoredPlace { path: spot, now, obstacle } = check(restore, &BTreeSet::new(), context)?;
    // Where only a patch may write, only a patch can be undone.
    if patch::is_listed(&spot, context) {
        let say = spot.say(phrases::TOOL_PATCHES);
        findings.add("config.patch", Tier::L1, say, None, &[Effect::Write, Effect::Outside]);
    } else {
        let class = paths::classify_place(&spot.path, context.policy_cx)
            .max(paths::classify_place(&path_of_text(&restore.path), context.policy_cx));
        add_write_findings(&spot, class, context, findings);
    }
    if now.as_deref().map(digest) != restore.after && now != restore.before {
        let say = spot.say(phrases::FILE_CHANGED_SINCE);
        findings.add("file.changed", Tier::L1, say, None, &[]);
    } else if obstacle == Some(Obstacle::NoFile) {
        findings.add("file.changed", Tier::L1, spot.say(phrases::RESTORE_REPLACES), None, &[]);
    }
    if now == restore.before {
        return Err(spot.say(phrases::NOTHING_CHANGES).into());
    }
    let mut shown = build_change(&spot, (now.as_deref(), restore.before.as_deref()), context);
    shown.executable = restore.executable;
    let after = restore.before.as_deref().map(Arc::from);
    let spot_shown = spot.clone();
    let backup = false;

    let write = Write { spot, after, change: shown, backup, note: None, obstacle };
    Ok((spot_shown, ToolTask::Change(Box::new(write))))
}

/// The place of a file as it is.
struct RestoredPlace {
    path: ResolvedPath,
    /// `None`: no file.
    now: Option<Vec<u8>>,
    /// What is there instead.
    obstacle: Option<Obstacle>,
}

/// `gone`: files that will not be there any more.
fn check(
    restore: &Restore,
    gone: &BTreeSet<PathBuf>,
    context: &JudgeContext<'_>,
) -> Result<RestoredPlace, InputError> {
    let spot = locate(&restore.path, context)?;
    if restore.before.is_some() {
        check_folders(&spot, gone, context)?;
    }
    let world = context.policy_cx.world;
    let obstacle = match world.kind(&spot.path) {
        _ if world.is_link(&spot.path) => Some(Obstacle::NoFile),
        PathKind::Other => Some(Obstacle::NoFile),
        PathKind::Folder
            if restore.before.is_none() || will_be_empty(&spot.path, MAX_DEPTH, gone, context) =>
        {
            Some(Obstacle::EmptyFolder)
        }
        PathKind::Folder | PathKind::File | PathKind::Missing => None,
    };
    let now = match obstacle {
        Some(_) => None,
        None => content(&spot, context, MAX_BYTES)?,
    };
    Ok(RestoredPlace { path: spot, now, obstacle })
}

/// The file's own place: a link there is not followed. There was none on the way to it when the
/// change was recorded, so one that is there now leads to other files, and is refused.
fn locate(path: &str, context: &JudgeContext<'_>) -> Result<ResolvedPath, InputError> {
    let policy_cx = context.policy_cx;
    let written = path_of_text(path);

    let (Some(folder), Some(name)) = (written.parent(), written.file_name()) else {
        return Err(phrases::TOOL_NO_FILE.with("path", excerpt(path)).into());
    };
    if path.contains('\0') {
        return Err(LocalizedText::from(phrases::PATH_NUL).into());
    }
    let real = policy_cx.world.resolve(folder);
    if real != folder && policy_cx.place.contains(&written) {
        return Err(in_the_way(folder, context).into());
    }
    Ok(ResolvedPath::new(real.join(name), policy_cx.place))
}

/// Whether the folders on the way are folders, or can be made.
fn check_folders(
    path: &ResolvedPath,
    gone: &BTreeSet<PathBuf>,
    context: &JudgeContext<'_>,
) -> Result<(), InputError> {
    for above in path.path.ancestors().skip(1) {
        match context.policy_cx.world.kind(above) {
            PathKind::Missing => {}
            PathKind::Folder => return Ok(()),
            PathKind::File if gone.contains(above) => return Ok(()),
            PathKind::File | PathKind::Other => return Err(in_the_way(above, context).into()),
        }
    }
    Ok(())
}

fn in_the_way(path: &Path, context: &JudgeContext<'_>) -> LocalizedText {
    let shown = path.strip_prefix(&context.policy_cx.place.workspace).unwrap_or(path);
    phrases::RESTORE_IN_THE_WAY.with("path", excerpt(&path_text(shown)))
}

/// Whether nothing but empty folders is left in a folder then.
fn will_be_empty(
    folder: &Path,
    depth: usize,
    gone: &BTreeSet<PathBuf>,
    context: &JudgeContext<'_>,
) -> bool {
    let entries = context.policy_cx.world.entries(folder, MAX_ENTRIES);
    depth > 0
        && entries.len() < MAX_ENTRIES
        && entries.iter().all(|(path, kind)| match kind {
            FileKind::File => gone.contains(path),
            FileKind::Folder => will_be_empty(path, depth - 1, gone, context),
            FileKind::Link | FileKind::Other => false,
        })
}
