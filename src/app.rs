//! Builds every part from the settings and connects them, once. Only this module knows
//! them all; the command line decides which of them are needed.
//!
//! | file | builds |
//! |---|---|
//! | `startup` | environment, folders, settings, language: the basis of every run |
//! | `shared_resources` | what all folders and sessions of a run share |
//! | `terminal` | what the environment and the settings say of the terminal |
//! | `room` | whether the system has enough resources |
//! | `runtime` | threads and timers, and how they end |
//! | `models` | models: by settings, by name, by search |
//! | `login` | saved keys: login and logout |
//! | `key_source` | where the key for a server comes from |
//! | `model_test` | describes and tries one model |
//! | `hooks` | what a session needs for hooks |
//! | `mcp` | what a session needs for MCP servers |
//! | `mcp_command` | those servers from the command line |
//! | `plugins` | the plugins of slothtool, listed and run |
//! | `session_builder` | a session's parts: policy, tools, masks, bot |
//! | `scripts` | a script on the command line |
//! | `subcommands` | subcommands that need no session |
//! | `headless` | one turn without a screen |
//! | `acp` | sessions of an editor |
//! | `rescue` | another place for a conversation that could not be saved |
//! | `gateway_setup` | the steps of a chat platform, each checked with its service |
//! | `gateway_service` | the chat platforms: their services, and the sessions of their chats |
//! | `extensions` | bots, commands and skills from the command line |

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;

use crate::cli::args::{GatewayCommand, ModelCommand, ResumeChoice, Sub};
use crate::cli::messages::{self, Printer};
use crate::cli::plain::PlainSession;
use crate::cli::plain::run::{PlainEnd, run as talk, stdin_lines as typed_lines};
use crate::cli::print::{self, PrintChannels};
use crate::cli::run_mode::{RunMode, Terminals};
use crate::cli::script_command::ScriptCommand;
use crate::cli::self_command::SelfCommand;
use crate::cli::{Cli, Exit, help, output};
use avocet_config::draft;
use avocet_config::history::InputHistory;
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as phrases};
use avocet_core::protocol::{Notice, SessionInfo};
use avocet_core::signals;
use avocet_session as session;
use avocet_session::persistence::{Replay, ResumeTarget};
use avocet_tools::exec::{keeper, watchdog};
use avocet_tui as tui;

mod acp;
mod batch;
mod cluster;
mod connect;
mod container;
mod editable_settings;
mod eval;
mod extensions;
mod facts_memory;
mod first_time;
mod folder_trust;
mod gateway;
mod gateway_service;
mod gateway_setup;
mod headless;
mod hooks;
mod import;
mod import_settings;
mod key_source;
mod live_settings;
mod login;
mod lsp;
mod mcp;
mod mcp_command;
mod model_test;
mod models;
mod plugins;
mod rescue;
mod review;
mod room;
mod runtime;
mod script_agent;
mod script_check;
mod script_commands;
mod script_seal;
mod script_test;
mod scripts;
mod self_update;
mod session_builder;
mod shared_resources;
mod startup;
mod step_runner;
mod subcommands;
mod surroundings;
mod task_folder;
mod task_runner;
mod task_turn;
mod terminal;
mod terminal_question;
#[cfg(test)]
mod tests;
mod user_themes;
mod worktree;
mod worktree_command;

use connect::ScreenSetup;
use headless::{HeadlessForm, HeadlessInput, HeadlessOptions};
use runtime::{LEAVING, runtime, screen_runtime, wait_for_session};
use startup::Startup;

/// Runs the program.
pub fn entry() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|mode| mode == watchdog::MODE) {
        return watchdog::run();
    }
    if std::env::args_os().nth(1).is_some_and(|mode| mode == keeper::MODE) {
        return keeper::run();
    }
    output::report_panics();
    let cli = match Cli::parse_from_args(std::env::args_os()) {
        Ok(cli) => cli,
        Err(page) => {
            let lang = startup::help_lang();
            let word = std::env::args_os().nth(1).unwrap_or_default();
            if page.kind() == ErrorKind::UnknownArgument
                && let Some(misspelt) = word.to_str().and_then(Cli::misspelt_command)
            {
                return startup::start_error(misspelt.localized(), lang).report().into();
            }
            if let Some(topics) = help::topics_of_command(&page, std::env::args_os()) {
                return script_commands::help(&topics).into();
            }
            let localized = help::page(std::env::args_os(), lang);
            return messages::usage(&localized.unwrap_or(page)).into();
        }
    };
    if let Some(Sub::Help { topics }) = &cli.command {
        return script_commands::help(topics).into();
    }
    let terminals =
        Terminals { stdin: io::stdin().is_terminal(), stdout: output::stdout().is_terminal() };
    match worktree::prepare(&cli) {
        Ok(startup) => {
            let temp = Arc::clone(&startup.shared.temp);
            let exit = route(cli, terminals, startup);
            // Threads that are still running may hold a part of it.
            temp.close();
            exit.into()
        }
        Err(failure) => failure.report().into(),
    }
}

fn route(cli: Cli, terminals: Terminals, startup: Startup) -> Exit {
    let json = cli.run.json;
    let yes = cli.run.yes;
    let form = HeadlessForm::new(&cli);
    let linear = cli.look.linear;
    let (approved, options) = (cli.approval_flags(), cli.settings());
    let take = match cli.resume_choice() {
        Ok(take) => take,
        Err(wrong) => return startup.fail(&Notice::error(wrong.localized()), Exit::WrongUse),
    };
    let way = match cli.run_mode(terminals) {
        Ok(way) => way,
        Err(wrong) => return startup.fail(&Notice::error(wrong.localized()), Exit::WrongUse),
    };
    if needs_threads(&way)
        && let Some(what) = room::missing_resource()
    {
        return startup.fail(&Notice::error(phrases::NO_ROOM.with("what", what)), Exit::Failed);
    }
    match way {
        RunMode::Screen { prompt, bot } if linear => {
            run_plain(startup, prompt, bot.as_deref(), (take, yes))
        }
        RunMode::Screen { prompt, bot } => run_screen(startup, prompt, bot.as_deref(), (take, yes)),
        RunMode::Print { prompt, bot, piped } => {
            let input = HeadlessInput::Message { prompt, piped };
            HeadlessOptions { input, bot, form, resume: take }.run(startup)
        }
        RunMode::Template { name, args, then, bot, piped } => {
            let input = HeadlessInput::Command { name, args, then, piped };
            HeadlessOptions { input, bot, form, resume: take }.run(startup)
        }
        RunMode::Session(session) => subcommands::session(&startup, &session, json),
        RunMode::Script(script) => scripts::run_script(startup, &script, json, approved),
        RunMode::ScriptFiles(script) => script_commands::run(&startup, &script, json),
        RunMode::Help(topics) => script_commands::help(&topics),
        RunMode::Policy(policy) => subcommands::policy(&startup, &policy, json),
        RunMode::Model(model) => run_model(&startup, &model, json),
        RunMode::Login(options) => login::login(&startup, &options),
        RunMode::Logout { provider } => login::logout(&startup, &provider),
        RunMode::Extension { kind, asked } => {
            extensions::run(&startup, kind, asked, extensions::ExtensionOptions { json, yes })
        }
        RunMode::InitHome => extensions::init_home(&startup, json),
        RunMode::Config(config) => subcommands::config(&startup, &config, json),
        RunMode::Plugin(plugin) => plugins::run_subcommand(&startup, plugin, json),
        RunMode::Mcp(command) => mcp_command::run_subcommand(&startup, command, json),
        RunMode::Worktrees(command) => worktree_command::run(&startup, &command, json, yes),
        RunMode::Own(SelfCommand::Update(update)) => self_update::run(&startup, &update),
        RunMode::Gateway(command) => gateway::run_subcommand(startup, options, &command, json),
        RunMode::Acp => acp::run(startup, options, acp::ServedProtocol::Acp),
        RunMode::Eval(eval) => eval::run(startup, options, &eval, json),
        RunMode::Import(import) => import::run(&startup, &import, json, yes),
        RunMode::Batch(batch) => batch::run(startup, options, &batch, (json, approved)),
        RunMode::Review(options) => review::run(startup, &options),
        RunMode::Serve { schema: true } => subcommands::serve_schema(&startup),
        RunMode::Serve { schema: false } => acp::run(startup, options, acp::ServedProtocol::Ops),
        RunMode::Doctor => subcommands::doctor(&startup, json),
        RunMode::Completions(shell) => subcommands::completions(&startup, shell),
        RunMode::Man { dir } => subcommands::manual(&startup, dir.as_deref()),
    }
}

fn run_model(startup: &Startup, command: &ModelCommand, json: bool) -> Exit {
    match command {
        ModelCommand::List => subcommands::list_models(startup, json),
        ModelCommand::Show { name } => model_test::show(startup, name.as_deref(), json),
        ModelCommand::Test { name } => model_test::test(startup, name.as_deref(), json),
    }
}

/// Commands that start threads: without enough of them they would abort with no message.
fn needs_threads(mode: &RunMode) -> bool {
    match mode {
        RunMode::Screen { .. }
        | RunMode::Print { .. }
        | RunMode::Template { .. }
        | RunMode::Script(_)
        | RunMode::ScriptFiles(ScriptCommand::Lsp(_))
        | RunMode::Model(_)
        | RunMode::Login(_)
        | RunMode::Logout { .. }
        | RunMode::Extension { .. }
        | RunMode::Gateway(GatewayCommand::Run { .. })
        | RunMode::Own(_)
        | RunMode::Acp
        | RunMode::Eval(_)
        | RunMode::Review(_)
        | RunMode::Batch(_)
        | RunMode::Serve { schema: false }
        | RunMode::Mcp(_)
        | RunMode::Doctor => true,
        RunMode::Session(_)
        | RunMode::Import(_)
        | RunMode::ScriptFiles(_)
        | RunMode::Help(_)
        | RunMode::Policy(_)
        | RunMode::InitHome
        | RunMode::Config(_)
        | RunMode::Plugin(_)
        | RunMode::Worktrees(_)
        | RunMode::Gateway(_)
        | RunMode::Serve { schema: true }
        | RunMode::Completions(_)
        | RunMode::Man { .. } => false,
    }
}

/// Runs the full screen. The first frame is drawn before any search starts.
fn run_screen(
    startup: Startup,
    mut prompt: Option<String>,
    bot: Option<&str>,
    (take, yes): (Option<ResumeChoice>, bool),
) -> Exit {
    if !startup.terminal_can_draw() {
        return startup.fail(&Notice::error(phrases::NO_TERM), Exit::WrongUse);
    }
    let mut built = match session_builder::build(&startup, bot, step_runner::SessionPurpose::Screen)
    {
        Ok(built) => built,
        Err(failure) => return startup.fail(&failure.notice, failure.exit),
    };
    approve_template_commands(&mut built, yes);
    built.counts_changed_files = true;
    match take {
        Some(ResumeChoice::Choose) => prompt = prompt.or_else(|| Some("/resume".to_owned())),
        take => built.persistence.resume = take.and_then(resume_target),
    }
    let (runtime, own) = match runtime().and_then(|runtime| Ok((runtime, screen_runtime()?))) {
        Ok(both) => both,
        Err(error) => return startup.fail_io(&error),
    };
    // Held until the screen ends.
    let slot = draft::claim(&startup.paths.drafts(), &startup.folder);
    let draft = slot.as_ref().map(|slot| slot.file.clone());
    let config = screen_config(&startup, built.info.clone(), prompt, draft);
    let keep = startup.setting_saver();
    let handle = {
        let _inside = runtime.enter();
        session::start(built)
    };
    let ended = own.block_on(async {
        let left = tui::run(config, handle.ops, handle.events, keep).await;
        startup.shared.leaving.cancel();
        (left, wait_for_session(handle.task, LEAVING).await)
    });
    own.shutdown_background();
    let (ended, farewell) = ended;
    let unsaved = farewell.shut_down(runtime);
    match ended {
        Ok(left) => {
            unsaved.unless(left.has_handled_unsaved).report(&startup);
            if left.cause == tui::Cause::UserQuit {
                leave_card(&left.card, startup.lang());
            }
            exit_for_cause(left.cause)
        }
        Err(error) => startup.fail_io(&error),
    }
}

/// Prints what the screen leaves behind.
fn leave_card(texts: &[LocalizedText], lang: Lang) {
    let width = output::stdout().columns();
    let printer = Printer { lang, clean: startup::clean, width };
    for line in texts {
        messages::notice(&mut output::stdout(), &Notice::info(line.clone()), printer);
    }
}

/// The initial configuration of the screen.
fn screen_config(
    startup: &Startup,
    info: SessionInfo,
    first: Option<String>,
    draft: Option<PathBuf>,
) -> tui::ScreenConfig {
    let (themes, torn) = startup.themes();
    let (keymap, unread) = startup.keymap();
    let history = InputHistory::open(startup.paths.history());
    let look = &startup.loaded.settings.look;
    let secrets = Some(Arc::new(startup.redactor(true)));
    let refused = startup.paths.state_error().map(Notice::warning);
    tui::ScreenConfig {
        lang: startup.lang(),
        theme: look.theme.clone(),
        themes,
        terminal_caps: startup.terminal_caps(),
        facts: info,
        history: history.entries().to_vec(),
        draft: draft.as_deref().map(draft::read).unwrap_or_default(),
        files: tui::ScreenFiles {
            save_paths: tui::SavePaths { history: Some(startup.paths.history()), draft, secrets },
            editor: startup.editor(),
            temp: Arc::clone(&startup.shared.temp),
        },
        preferences: tui::Preferences {
            vim: look.vim,
            timestamps: look.timestamps,
            is_still: !look.motion,
            show_thinking: look.show_thinking,
            show_pictures: look.show_pictures,
            enter_while_busy: look.enter_while_busy,
        },
        keymap,
        first,
        watchdog: startup.shared.watchdog.clone(),
        models: Vec::new(),
        setup: tui::SetupHandle(Some(Arc::new(ScreenSetup::new(startup)))),
        notices: startup.notices().into_iter().chain(torn).chain(unread).chain(refused).collect(),
    }
}

/// Runs the conversation as plain lines.
fn run_plain(
    startup: Startup,
    prompt: Option<String>,
    bot: Option<&str>,
    (take, yes): (Option<ResumeChoice>, bool),
) -> Exit {
    startup.report_problems();
    if take == Some(ResumeChoice::Choose) {
        return startup.fail(&Notice::error(phrases::NO_SESSION_NAMED), Exit::WrongUse);
    }
    let mut built = match session_builder::build(&startup, bot, step_runner::SessionPurpose::Screen)
    {
        Ok(built) => built,
        Err(failure) => return startup.fail(&failure.notice, failure.exit),
    };
    approve_template_commands(&mut built, yes);
    built.persistence.replay = Replay::End;
    built.persistence.resume = take.and_then(resume_target);
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let width = output::stdout().columns();
    let printer = Printer { lang: startup.lang(), clean: startup::clean, width };
    let linear = PlainSession::new(built.info.clone(), printer.lang, printer.clean)
        .with_user(io::stdin().is_terminal());
    let ended = runtime.block_on(async {
        let handle = session::start(built);
        let channels = PrintChannels {
            ops: handle.ops,
            events: handle.events,
            signals: signals::listen_ending(),
            grace: print::GRACE_PERIOD,
            leaving: startup.shared.leaving.clone(),
        };
        let left = talk(linear, prompt, channels, typed_lines(), printer, output::stdout()).await;
        startup.shared.leaving.cancel();
        (left, wait_for_session(handle.task, LEAVING).await)
    });
    let (PlainEnd { exit, knows_unsaved }, farewell) = ended;
    let is_saved = farewell.shut_down(runtime).unless(knows_unsaved).report(&startup);
    if exit == Exit::Done && !is_saved { Exit::Failed } else { exit }
}

/// `-y` where questions can be answered: it approves the shell pieces of templates, and says so.
fn approve_template_commands(config: &mut session::SessionConfig, yes: bool) {
    if yes {
        config.approves_template_commands = true;
        config.opening_notices.push(Notice::info(phrases::YES_TO_PIECES));
    }
}

/// The session to resume; choosing one from a list is up to the user interface.
fn resume_target(choice: ResumeChoice) -> Option<ResumeTarget> {
    match choice {
        ResumeChoice::Last => Some(ResumeTarget::Last),
        ResumeChoice::Id(id) => Some(ResumeTarget::Id(id)),
        ResumeChoice::Choose => None,
    }
}

fn exit_for_cause(cause: tui::Cause) -> Exit {
    match cause {
        tui::Cause::UserQuit | tui::Cause::SessionClosed => Exit::Done,
        tui::Cause::Signal(number) => Exit::by_signal(number),
        tui::Cause::TerminalGone => Exit::by_signal(signals::HUP),
    }
}
