//! `plugin list` and `plugin run`: lists and runs plugins of slothtool from the command line. The
//! user typed the command, so no question is asked.

use super::startup::Startup;
use super::subcommands::print_rows;
use crate::cli::Exit;
use crate::cli::args::PluginCommand;
use avocet_core::i18n::{cli as phrases, tools as tool_words};
use avocet_core::protocol::{Notice, Requires, Step, StepAction};
use avocet_safety::tools::PluginRegistry;
use avocet_safety::{PolicyContext, ToolTask, assess};
use avocet_session::plugins_page;
use avocet_tools::exec::run_with_terminal;
use avocet_tools::system::System;

pub fn run_subcommand(startup: &Startup, command: PluginCommand, json: bool) -> Exit {
    let world = startup.system();
    match command {
        PluginCommand::List => {
            if let Err(why) = PluginRegistry::read(&startup.paths.home, &world) {
                return startup.fail(&Notice::error(why), Exit::Failed);
            }
            print_rows(startup, &plugins_page(&startup.paths.home, &world).rows, json)
        }
        PluginCommand::Run { words } => {
            // The parser asks for at least one.
            let (alias, args) = words.split_first().map_or(("", &[][..]), |(a, rest)| (a, rest));
            run(startup, &world, alias, args)
        }
    }
}

/// Finds and resolves it as for the model's `plugin.run`, then gives it the terminal.
fn run(startup: &Startup, system: &System, alias: &str, args: &[String]) -> Exit {
    let policy = startup.loaded.settings.policy();
    let place = startup.workspace();
    let input = serde_json::json!({ "alias": alias, "args": args });
    let tool = StepAction::Tool { name: "plugin.run".to_owned(), input };
    let step = Step { id: String::new(), work: tool, requires: Requires::default(), cwd: None };
    let verdict = assess(step, PolicyContext { policy: &policy, place: &place, world: system });
    let judged = verdict.judgement();
    let plugin = match (&judged.task, &judged.program) {
        (Some(ToolTask::Fault(fault)), _) => {
            return startup.fail(&Notice::error(fault.say.clone()), Exit::Failed);
        }
        (Some(ToolTask::Plugin(plugin)), Some(node))
            if judged.risk.tier < avocet_core::protocol::Tier::L2 =>
        {
            (node.path.clone(), plugin.node_args())
        }
        _ => {
            let why =
                judged.risk.main_reason().cloned().unwrap_or_else(|| phrases::NO_REASON.into());
            return startup.fail(&Notice::error(why), Exit::Blocked);
        }
    };
    match run_with_terminal(&plugin.0, &plugin.1, &startup.folder) {
        Ok(status) => match status.code() {
            Some(0) => Exit::Done,
            Some(_) => Exit::Failed,
            None => {
                let say = tool_words::PLUGIN_SIGNAL.with("alias", alias);
                startup.fail(&Notice::error(say), Exit::Failed)
            }
        },
        Err(error) => startup.fail_io(&error),
    }
}
