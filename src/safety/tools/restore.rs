//! Judges undoing a change: the user asks for it, not a model, so it runs, unless the file
//! is not as the change left it.

use std::sync::Arc;

use super::change::{add_write_findings, build_change};
use super::{
    Access, InputError, ResolvedPath, ToolTask, Write, content, digest, patch, resolve_path,
};
use crate::i18n::safety as words;
use crate::protocol::{Effect, Requires, Step, StepAction, Tier};
use crate::safety::findings::Findings;
use crate::safety::snapshot::MachineSnapshot;
use crate::safety::spec::JudgeContext;
use crate::safety::{Assessment, Launch, PolicyContext, command};

/// A file of this size was never changed by us, in bytes.
const MOST: usize = 64 * 1024 * 1024;

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

/// The judgement of one restoring.
pub fn judge(id: &str, restore: &Restore, scene: PolicyContext<'_>) -> Assessment {
    let world = MachineSnapshot::new(scene.world);
    let scene = PolicyContext { world: &world, ..scene };
    let cwd = scene.world.resolve(&scene.place.cwd);
    let ground = command::judge_context(scene, cwd);
    let mut findings = Findings::default();
    let task = restore_task(restore, &ground, &mut findings);
    let shown = match &task {
        Ok((spot, _)) => spot.shown.clone(),
        Err(_) => restore.path.clone(),
    };
    let work = StepAction::Tool {
        name: "file.restore".to_owned(),
        input: serde_json::json!({ "path": shown }),
    };
    let step = Step { id: id.to_owned(), work, requires: Requires::default(), cwd: None };
    let task = match task {
        Ok((_, task)) => task,
        Err(fault) => ToolTask::Fault(fault),
    };
    let seen = findings.seen_programs();
    let risk = findings.into_risk(false);
    let cwd = ground.cwd;
    let launch = Launch::default();
    Assessment {
        step,
        risk,
        program: None,
        cwd,
        pieces: Vec::new(),
        seen,
        task: Some(task),
        launch,
    }
}

fn restore_task(
    restore: &Restore,
    ground: &JudgeContext<'_>,
    out: &mut Findings,
) -> Result<(ResolvedPath, ToolTask), InputError> {
    let (spot, class) = resolve_path(&restore.path, Access::Writes, ground, out)?;
    // Where only a patch may write, only a patch can be undone.
    if patch::is_listed(&spot, ground) {
        let say = spot.say(words::TOOL_PATCHES);
        out.add("config.patch", Tier::L1, say, None, &[Effect::Write, Effect::Outside]);
    } else {
        add_write_findings(&spot, class, out);
    }
    let now = content(&spot, ground, MOST)?;
    if now.as_deref().map(digest) != restore.after && now != restore.before {
        let say = spot.say(words::FILE_CHANGED_SINCE);
        out.add("file.changed", Tier::L1, say, None, &[]);
    }
    if now == restore.before {
        return Err(spot.say(words::NOTHING_CHANGES).into());
    }
    let mut shown = build_change(&spot, (now.as_deref(), restore.before.as_deref()), ground);
    shown.executable = restore.executable;
    let after = restore.before.as_deref().map(Arc::from);
    let write = Write { spot: spot.clone(), after, change: shown, backup: false, note: None };
    Ok((spot, ToolTask::Change(Box::new(write))))
}
