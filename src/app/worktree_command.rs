//! `avocet worktrees`: lists the worktrees of a project, and removes them.

use super::runtime::screen_runtime;
use super::startup::Startup;
use super::{extensions, subcommands};
use crate::cli::Exit;
use crate::cli::worktree_command::WorktreeCommand;
use avocet_core::i18n::worktrees as phrases;
use avocet_core::protocol::Notice;
use avocet_session::worktrees;

/// `worktrees …`.
pub fn run(startup: &Startup, command: &WorktreeCommand, json: bool, yes: bool) -> Exit {
    let runtime = match screen_runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let folder = &startup.folder;
    let failed = |why| startup.fail(&Notice::error(why), Exit::Failed);
    let remove = |name: &str, with_files: bool| match runtime
        .block_on(worktrees::remove(folder, name, with_files))
    {
        Ok(say) => extensions::report_info(startup, say),
        Err(why) => failed(why),
    };
    match command {
        WorktreeCommand::List => match runtime.block_on(worktrees::list(folder)) {
            Ok(rows) if rows.is_empty() && !json => {
                extensions::report_info(startup, phrases::NONE.into())
            }
            Ok(rows) => subcommands::print_rows(startup, &rows, json),
            Err(why) => failed(why),
        },
        WorktreeCommand::Remove { name } => remove(name, yes),
        WorktreeCommand::Prune => match runtime.block_on(worktrees::removable(folder)) {
            Ok(names) if names.is_empty() => {
                extensions::report_info(startup, phrases::NOTHING_TO_PRUNE.into())
            }
            Ok(names) => {
                let shown = names.join(", ");
                let ask = phrases::PRUNE_ASK.with("names", shown.as_str());
                let refusal = phrases::PRUNE_NOBODY.with("names", shown);
                extensions::unless_confirmed(startup, yes, ask, refusal).unwrap_or_else(|| {
                    let exits = names.iter().map(|name| remove(name, false));
                    exits.fold(Exit::Done, |all, exit| if exit == Exit::Done { all } else { exit })
                })
            }
            Err(why) => failed(why),
        },
    }
}
