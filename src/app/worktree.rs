//! Worktrees: the one that a session of `--worktree` works in, and what agents in others run steps
//! with.

use std::sync::Arc;

use super::runtime::screen_runtime;
use super::startup::{StartError, Startup, start_error};
use super::step_runner::{self, StepRunner};
use crate::cli::Cli;
use avocet_config::toml_schema::TomlValue;
use avocet_core::i18n::{LocalizedText, cli as phrases};
use avocet_session::worktree_access::{FolderTools, WorktreeAccess};
use avocet_tools::file;
use avocet_tools::git_worktree::{Worktree, WorktreeRepository};

/// The basis of a run, in the worktree that the command line names.
pub fn prepare(cli: &Cli) -> Result<Startup, StartError> {
    let startup = Startup::prepare(cli)?;
    match &cli.run.worktree {
        Some(name) => enter(&startup, name),
        None => Ok(startup),
    }
}

/// The same program in the worktree of this name.
fn enter(startup: &Startup, name: &str) -> Result<Startup, StartError> {
    let fail = |say: LocalizedText| start_error(say, startup.lang());
    let worktree = open(startup, name).map_err(fail)?;
    let trusted = startup.trust.trusted_folder.as_deref();
    let mut inside = startup.in_folder(worktree.path.clone(), trusted, &startup.options);
    inside.added.clone_from(&startup.added);
    inside.worktree = Some(Arc::new(worktree));
    Ok(inside)
}

fn open(startup: &Startup, name: &str) -> Result<Worktree, LocalizedText> {
    let broken = |error: std::io::Error| phrases::PROGRAM_BROKEN.with("why", error.to_string());
    screen_runtime().map_err(broken)?.block_on(async {
        let repository = WorktreeRepository::find(&startup.folder).await?;
        repository.open(name, &copied_files(startup)).await
    })
}

/// Ignored files that the settings want in each worktree.
pub fn copied_files(startup: &Startup) -> Vec<String> {
    match startup.loaded.get("project.worktree_files") {
        Some(TomlValue::List(paths)) => paths,
        _ => Vec::new(),
    }
}

/// How agents get worktrees.
pub fn access(startup: &Startup, runner: &StepRunner) -> WorktreeAccess {
    let copied = copied_files(startup);
    let redactor = Arc::clone(&runner.redactor);
    let checkpoints = runner.checkpoints.clone();
    let startup = startup.for_session();
    let tools_in = move |folder: &std::path::Path| {
        let startup = startup.at_worktree(folder);
        let state = step_runner::file_tool_state(&startup, None);
        let system = step_runner::machine(&startup, &state.read_tracker, &redactor);
        let runner = StepRunner {
            checkpoints: checkpoints.clone(),
            ..StepRunner::new(&startup, &system, &state, &redactor)
        };
        let mut tools = step_runner::exec_tools(&runner.exec);
        tools.extend(file::all(&state));
        let world = Arc::new(runner.with_checkpoints(system));
        FolderTools { place: startup.workspace(), world, tools }
    };
    WorktreeAccess { tools_in: Arc::new(tools_in), copied }
}
