//! Starts a child from a judged step: which file, which arguments, which environment. Every
//! other program is started here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession, ResetSigmask};
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use super::super::ShellInput;
use super::super::sandbox::{Confined, StepOrigin};
use super::environment::{EnvironmentKind, Variables, hide_programs};
use super::process_group::{self, Group, ProcessMark, StartPermit, StepGroups, UnpausedStart};
use super::{Exec, bounds, format, git, helper, script};
use avocet_core::i18n::{LocalizedText, exec as phrases};
use avocet_core::protocol::{StepAction, Tier};
use avocet_safety::{ClearedStep, Judgement, LaunchRequest, LinkIdentity, Program, Seal, ToolTask};

/// Why a step did not start, and whose decision that is.
#[derive(Debug)]
pub(super) enum StepStartError {
    /// The machine could not.
    Unable(LocalizedText),
    /// The step to run is not the judged one.
    Changed(LocalizedText),
    /// It waited for a step that pauses the others.
    Cancelled,
}

/// A child and its group.
pub(super) type ChildHandle = (Box<dyn ChildWrapper>, Group);

/// Where a child reads from and writes to.
#[derive(Debug)]
pub(super) enum ChildStreams {
    /// There is nothing to read, and its output is read.
    Closed,
    /// The same with this input.
    Piped(ShellInput),
    /// Both are spoken over by the caller. These variables are set beside the usual ones.
    Server(BTreeMap<String, String>),
    /// The user's terminal, which is lent to it. It stays in our own process group and session, so
    /// that the keys of the terminal stop it and continue it as they do us.
    Terminal,
}

/// The complete description of the child to start.
struct LaunchPlan {
    path: PathBuf,
    args: Vec<OsString>,
    variables: Variables,
    cwd: PathBuf,
    streams: ChildStreams,
    /// It runs in its temporary folder, which is empty.
    empty_folder: bool,
    /// A list of git's that it uses a copy of.
    index: Option<PathBuf>,
}

impl LaunchPlan {
    /// A template means this shell, whatever the user's own is. Files of the home that it would
    /// read at its start are closed to it.
    fn use_bash(&mut self) {
        if let Some(bash) = helper::find_program("bash")
            && let Some(flag) = self.args.first_mut()
        {
            (self.path, *flag) = (bash, "-lc".into());
            self.args.insert(0, "--noprofile".into());
        }
    }
}

/// Starts a step. Looks nothing up: the path is the one that was judged.
pub(super) async fn start(
    exec: &Exec,
    step: &ClearedStep,
    streams: ChildStreams,
    cancel: &CancellationToken,
) -> Result<(ChildHandle, Option<Confined>), StepStartError> {
    let judged = step.judgement();
    let is_piece = matches!(streams, ChildStreams::Piped(_));
    let plan = plan_launch(exec, step, streams).await?;
    let sandbox = Arc::clone(&exec.sandbox);
    let steps = exec.steps.clone();
    let from = match () {
        () if is_piece => StepOrigin::Template,
        () => StepOrigin::Judgement,
    };
    let bounded = bounds::is_limited(judged);
    let mark = ProcessMark::new();
    let _unpaused = wait_unless_reading(judged, cancel).await?;
    exec.steps.starting(mark);
    let _turn = StartPermit::acquire().await;
    let start =
        move |confined: Option<&Confined>| spawn(plan.with_confinement(confined), mark, &steps);
    let started = sandbox.start(judged, from, step.granted(), start).await;
    let mut started = started.map_err(unable).and_then(|(running, inside)| Ok((running?, inside)));
    match &mut started {
        Ok(((child, group), _)) => {
            // The thread that started it may set no limits of others.
            if bounded {
                bounds::apply(child.id());
            }
            group.mark_early_processes().await;
        }
        Err(_) => exec.steps.not_started(mark),
    }
    started
}

/// What will be started, and that it is what was judged.
async fn plan_launch(
    exec: &Exec,
    step: &ClearedStep,
    streams: ChildStreams,
) -> Result<LaunchPlan, StepStartError> {
    let judged = step.judgement();
    let is_piece = matches!(streams, ChildStreams::Piped(_));
    let (setup, care) = (&exec.setup, environment_kind(judged, is_piece));
    let (path, args) = command(judged, &setup.shell).await?;
    check_folder(&judged.cwd)?;
    let program = (!matches!(judged.step.work, StepAction::Shell { .. })).then_some(path.as_path());
    let (cwd, tier, launch) = (&judged.cwd, judged.risk.tier, &judged.launch);
    let start = LaunchRequest { program, args: &args, cwd, tier, launch };
    if Seal::from_request(start) != step.seal() {
        return Err(StepStartError::Changed(phrases::NOT_AS_JUDGED.into()));
    }
    let mut plan = LaunchPlan {
        variables: variables(exec, judged, care, &streams),
        args: args.iter().map(OsString::from).collect(),
        cwd: judged.cwd.clone(),
        path,
        streams,
        empty_folder: false,
        index: None,
    };
    if !matches!(plan.streams, ChildStreams::Terminal) {
        setup.environment.replace_editor(&mut plan.variables);
    }
    if is_piece {
        plan.use_bash();
    }
    if let Some(script) = launch.script.clone() {
        plan.args = script::shell_args(script, &plan.path, plan.variables.clone()).await;
    } else if matches!(care, EnvironmentKind::Automatic)
        && matches!(judged.step.work, StepAction::Exec { .. })
    {
        plan = harden_automatic(plan, &args, judged).await;
    }
    format::check(&plan.path, &plan.cwd).map_err(unable)?;
    Ok(plan)
}

/// What only reads is not paused by others, and starts beside one that pauses them.
async fn wait_unless_reading(
    judged: &Judgement,
    cancel: &CancellationToken,
) -> Result<Option<UnpausedStart>, StepStartError> {
    if judged.launch.needs.pauses_others || judged.risk.tier == Tier::L0 {
        return Ok(None);
    }
    tokio::select! {
        start = process_group::wait_while_paused() => Ok(Some(start)),
        () = cancel.cancelled() => Err(StepStartError::Cancelled),
    }
}

fn variables(
    exec: &Exec,
    judged: &Judgement,
    kind: EnvironmentKind<'_>,
    streams: &ChildStreams,
) -> Variables {
    let mut variables = exec.setup.environment.variables(kind);
    if let ChildStreams::Server(set) | ChildStreams::Piped(ShellInput { variables: set, .. }) =
        streams
    {
        variables.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
    }
    if judged.launch.needs.hides_programs {
        hide_programs(&mut variables, exec.sandbox.workspace());
    }
    variables
}

/// The file a step starts and the arguments it was judged with.
async fn command(
    judged: &Judgement,
    shell: &Path,
) -> Result<(PathBuf, Vec<String>), StepStartError> {
    Ok(match &judged.step.work {
        StepAction::Exec { program, args } => {
            (judged_program(program, judged).await?, args.clone())
        }
        StepAction::Shell { line } => (shell.to_owned(), vec!["-c".to_owned(), line.clone()]),
        StepAction::Tool { name, .. } => match &judged.task {
            Some(ToolTask::Plugin(plugin)) => {
                (judged_program("node", judged).await?, plugin.node_args())
            }
            _ => return Err(unable(phrases::NOT_A_PROGRAM.with("tool", name.as_str()))),
        },
    })
}

impl LaunchPlan {
    /// The same step, with its temporary folder in the environment, and wrapped in a
    /// program if the sandbox works that way.
    fn with_confinement(mut self, inside: Option<&Confined>) -> LaunchPlan {
        let Some(inside) = inside else { return self };
        self.variables.insert("TMPDIR".into(), inside.temp().into());
        if let Some(index) = &self.index {
            git::use_index_copy(index, inside.temp(), &mut self.variables);
        }
        if self.empty_folder {
            self.cwd = inside.temp().to_owned();
        }
        if let Some((holder, first)) = &inside.wrapper {
            let step = std::mem::replace(&mut self.path, holder.clone());
            let first = first.iter().map(OsString::from).chain([step.into_os_string()]);
            self.args.splice(0..0, first);
        }
        self
    }
}

/// Anything graver than L0 that is cleared has been approved, by the user or a rule; a
/// line for a shell is their own word whatever its tier.
fn environment_kind(judged: &Judgement, is_piece: bool) -> EnvironmentKind<'_> {
    match (judged.risk.tier, &judged.step.work) {
        (Tier::L0, StepAction::Exec { .. } | StepAction::Tool { .. }) => EnvironmentKind::Automatic,
        (_, StepAction::Shell { .. }) if !is_piece => EnvironmentKind::User,
        // It is made to change the system, as the user would.
        (Tier::L1 | Tier::L2, _) if judged.launch.needs.system => EnvironmentKind::User,
        (Tier::L0 | Tier::L1 | Tier::L2, _) => EnvironmentKind::Approved(&judged.launch.needs),
    }
}

/// Additions for a step that runs by itself: arguments that make it harmless, and a
/// repository that can start nothing.
async fn harden_automatic(mut plan: LaunchPlan, args: &[String], judged: &Judgement) -> LaunchPlan {
    let launch = &judged.launch;
    let mut given = launch.arguments(args);
    plan.empty_folder = launch.empty_folder;
    if let Some(first) = launch.git {
        let of_git = given.split_off(launch.index_after_insertion(first).min(given.len()));
        let folder = git::working_folder(&judged.cwd, &of_git);
        plan.args = given.iter().map(OsString::from).chain(git::args(&of_git)).collect();
        return harden_git(plan, folder, of_git).await;
    }
    plan.args = given.iter().map(OsString::from).collect();
    plan
}

/// The judged file, if it is still the one that was judged.
async fn judged_program(name: &str, judged: &Judgement) -> Result<PathBuf, StepStartError> {
    let program = judged.program.as_ref();
    let program = program.ok_or_else(|| unable(not_found_message(name, &judged.cwd)))?;
    match tokio::fs::metadata(&program.path).await {
        Ok(meta) if is_same_file(program, &meta) && is_same_link(program).await => {
            Ok(program.path.clone())
        }
        Ok(_) => {
            Err(StepStartError::Changed(phrases::CHANGED.with("path", path_text(&program.path))))
        }
        Err(error) => Err(unable(spawn_error_message(&program.path, &error))),
    }
}

/// Why a program of this name was not found.
fn not_found_message(name: &str, cwd: &Path) -> LocalizedText {
    let path = cwd.join(name);
    match std::fs::metadata(&path) {
        Ok(meta) if name.contains('/') => {
            let word = if meta.is_dir() { phrases::NOT_A_FILE } else { phrases::NOT_EXECUTABLE };
            word.with("path", path_text(&path))
        }
        Ok(_) | Err(_) => phrases::NOT_FOUND.with("program", name),
    }
}

/// An error where no program can be started in a folder.
fn check_folder(folder: &Path) -> Result<(), StepStartError> {
    let word = match std::fs::metadata(folder) {
        Ok(meta) if !meta.is_dir() => phrases::NO_FOLDER,
        Ok(_) => match rustix::fs::access(folder, rustix::fs::Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(_) => phrases::FOLDER_CLOSED,
        },
        Err(error) if error.kind() == ErrorKind::PermissionDenied => phrases::FOLDER_CLOSED,
        Err(_) => phrases::NO_FOLDER,
    };
    Err(unable(word.with("path", path_text(folder))))
}

fn is_same_file(program: &Program, meta: &std::fs::Metadata) -> bool {
    let modified = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    (program.device, program.inode, program.modified) == (meta.dev(), meta.ino(), modified)
}

/// Whether a link that is started as itself is still the link that was judged.
async fn is_same_link(program: &Program) -> bool {
    let found = tokio::fs::symlink_metadata(&program.path).await;
    let found = found.ok().filter(std::fs::Metadata::is_symlink).map(|meta| LinkIdentity {
        device: meta.dev(),
        inode: meta.ino(),
        modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
    });
    program.link.is_none() || program.link == found
}

/// Reads the repository's configuration, so it is done where waiting is allowed.
async fn harden_git(mut plan: LaunchPlan, folder: PathBuf, args: Vec<String>) -> LaunchPlan {
    let mut variables = plan.variables.clone();
    let read = tokio::task::spawn_blocking(move || {
        git::harden(&mut variables, &folder, &args);
        (variables, git::index_to_refresh(&args, &folder))
    });
    if let Ok((variables, index)) = read.await {
        (plan.variables, plan.index) = (variables, index);
    }
    plan
}

fn spawn(
    plan: LaunchPlan,
    mark: ProcessMark,
    steps: &StepGroups,
) -> Result<ChildHandle, StepStartError> {
    let lends_terminal = matches!(plan.streams, ChildStreams::Terminal);
    let stdin = || match plan.streams {
        ChildStreams::Closed => Stdio::null(),
        ChildStreams::Piped(_) | ChildStreams::Server(_) => Stdio::piped(),
        ChildStreams::Terminal => Stdio::inherit(),
    };
    let output = || if lends_terminal { Stdio::inherit() } else { Stdio::piped() };
    let mut command = CommandWrap::with_new(&plan.path, |command| {
        command
            .args(&plan.args)
            .env_clear()
            .envs(&plan.variables)
            .env(process_group::MARK, mark.text())
            .current_dir(&plan.cwd)
            .stdin(stdin())
            .stdout(output())
            .stderr(output());
    });
    if !lends_terminal {
        command.wrap(ProcessSession);
    }
    command.wrap(ResetSigmask).wrap(KillOnDrop);
    let child = command.spawn();
    let child = child.map_err(|error| unable(spawn_error_message(&plan.path, &error)))?;
    // The wrapper's own wait goes on until the whole group has ended, which adopted
    // background processes may never do. So only the child itself is waited for.
    let mut child = child.into_inner();
    if let ChildStreams::Piped(input) = plan.streams
        && let Some(mut stdin) = child.stdin().take()
    {
        // It may read none of it, and ends all the same.
        tokio::spawn(async move { stdin.write_all(&input.text).await });
    }
    let group = child.id().and_then(|pid| Group::from_leader(pid, mark, steps));
    let group = group.ok_or_else(|| unable(phrases::GONE.with("path", path_text(&plan.path))))?;
    Ok((child, group))
}

/// One sentence for the system's error.
fn spawn_error_message(path: &Path, error: &io::Error) -> LocalizedText {
    if let Some(what) = avocet_core::private_dir::exhausted_resource(error) {
        return phrases::NO_ROOM.with("path", path_text(path)).with("why", what);
    }
    let word = match error.kind() {
        ErrorKind::NotFound => phrases::GONE,
        ErrorKind::PermissionDenied => phrases::NOT_PERMITTED,
        ErrorKind::ExecutableFileBusy | ErrorKind::InvalidData => phrases::WRONG_FORMAT,
        ErrorKind::ArgumentListTooLong => phrases::TOO_LONG,
        ErrorKind::InvalidInput => phrases::NUL_BYTE,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            phrases::WRONG_FORMAT
        }
        _ => phrases::NOT_STARTED,
    };
    word.with("path", path_text(path)).with("why", error.to_string())
}

fn unable(text: LocalizedText) -> StepStartError {
    StepStartError::Unable(text)
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
