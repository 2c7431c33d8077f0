//! The subcommands that need no session: policy, models, settings, the doctor.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;

use super::hooks::hook_folders;
use super::key_source::{KeyFinder, key_place};
use super::mcp::ServerFiles;
use super::models::{describe_at, endpoint};
use super::runtime::runtime;
use super::session_builder;
use super::startup::{Startup, StepOptions};
use super::user_themes;
use crate::cli::args::{self, CompletionShell, ConfigCommand};
use crate::cli::doctor::{self, DoctorFindings, Terminal};
use crate::cli::messages::{self, Printer};
use crate::cli::model::ModelListing;
use crate::cli::{Exit, config, model, output, policy, session, shell_files, table};
use avocet_config::extensions::ExtensionLibrary;
use avocet_config::project_instructions;
use avocet_config::{Connection, Environment};
use avocet_core::i18n::{Localize, LocalizedText, cli as phrases, common};
use avocet_core::protocol::{
    ApprovalMode, InstructionFile, Notice, Page, PageRow, SessionInfo, StepAction,
};
use avocet_hooks::read_hooks;
use avocet_present::commands;
use avocet_safety::{Policy, PolicyContext, PolicyRule};
use avocet_session::{Doctor, permissions};
use avocet_store::{Database, StoreError};
use avocet_tools::sandbox::Sandbox;

/// `policy explain` and `policy list`.
pub fn policy(startup: &Startup, policy_command: &args::PolicyCommand, json: bool) -> Exit {
    let world = startup.system();
    // The verdict of the policy, as for a batch; a note adds that in this folder every command
    // asks.
    let place = policy::workspace_in(&startup.folder, &startup.paths.home, true, &world);
    let mut rules = match policy_of_run(startup) {
        Ok(rules) => rules,
        Err(why) => return startup.fail(&Notice::error(why), Exit::WrongUse),
    };
    if rules.approval != ApprovalMode::Ask {
        rules.shelter = startup.sandbox(&world).status();
    }
    let cx = PolicyContext { policy: &rules, place: &place, world: &world };
    let lang = startup.lang();
    startup.report_problems();
    match policy_command {
        args::PolicyCommand::List => print_rows(startup, &policy::list(), json),
        args::PolicyCommand::Rules => print_rows(startup, &policy::rules(), json),
        args::PolicyCommand::Permissions => print_permissions(startup, json),
        args::PolicyCommand::Explain { batch: Some(file), .. } => {
            let out = output::stdout();
            let done = if file == Path::new("-") {
                policy::explain_batch(io::stdin().lock(), out, &rules, &place, lang)
            } else {
                File::open(file).and_then(|file| {
                    policy::explain_batch(BufReader::new(file), out, &rules, &place, lang)
                })
            };
            exit_after_writing(startup, done)
        }
        args::PolicyCommand::Explain { tool: Some(name), args, .. } => {
            match policy::tool(name, args.as_deref()) {
                Ok(work) => print_verdict(startup, &work, cx, json),
                Err(why) => startup.fail(&Notice::error(why), Exit::WrongUse),
            }
        }
        args::PolicyCommand::Explain { words, .. } => {
            let Some((program, args)) = words.split_first() else {
                return startup.fail(&Notice::error(phrases::NO_PROGRAM), Exit::WrongUse);
            };
            if !startup.trusted {
                startup.fail(&Notice::info(phrases::EXPLAIN_UNTRUSTED), Exit::Done);
            }
            print_verdict(startup, &policy::command(program, args), cx, json)
        }
    }
}

/// The settings, with the mode and the rules of the command line.
fn policy_of_run(startup: &Startup) -> Result<Policy, LocalizedText> {
    let StepOptions { mode, allow, .. } = &startup.run_options;
    let mut rules = startup.loaded.settings.policy();
    rules.approval = mode.unwrap_or_default();
    for rule in allow {
        rules.allowed.push(PolicyRule::parse(rule)?);
    }
    Ok(rules)
}

fn print_permissions(startup: &Startup, json: bool) -> Exit {
    let (policy, _, unreadable) = session_builder::remembered_policy(startup);
    if let Some(why) = unreadable {
        startup.fail(&Notice::warning(why), Exit::Done);
    }
    let mut info = SessionInfo::default();
    permissions::show_rules(&policy, &startup.folder, &mut info);
    print_rows(startup, &commands::permission_rows(&info), json)
}

fn print_verdict(
    startup: &Startup,
    action: &StepAction,
    cx: PolicyContext<'_>,
    json: bool,
) -> Exit {
    let lang = startup.lang();
    let text = if json {
        policy::explain_json(action, cx, lang).to_string()
    } else {
        policy::explain_one(action, cx, lang)
    };
    print_text(startup, &format!("{text}\n"))
}

/// `model list`.
pub fn list_models(startup: &Startup, json: bool) -> Exit {
    let settings = &startup.loaded.settings;
    let offer = match fetch_models_blocking(startup) {
        Ok(offer) => offer,
        Err(error) => return startup.fail_io(&error),
    };
    let exit = if matches!(offer, ModelListing::Failed(_)) { Exit::Model } else { Exit::Done };
    let said = if json {
        print_text(startup, &format!("{}\n", model::json(settings, &offer, startup.lang())))
    } else {
        print_rows(startup, &model::rows(settings, &offer), false)
    };
    if said == Exit::Done { exit } else { said }
}

fn fetch_models_blocking(startup: &Startup) -> io::Result<ModelListing> {
    let connection = startup.loaded.settings.connection.clone();
    Ok(runtime()?.block_on(fetch_models(connection, KeyFinder::new(startup))))
}

/// The answer of the configured server to the request for its models.
async fn fetch_models(connection: Option<Connection>, keys: KeyFinder) -> ModelListing {
    let speaks = |connection: &Connection| connection.provider.kind().is_server();
    let Some(connection) = connection.filter(speaks) else { return ModelListing::NoServer };
    match describe_at(endpoint(&connection), &keys.of_connection(&connection)).await {
        Ok(models) => ModelListing::Models(models),
        Err(error) => ModelListing::Failed(error.localized()),
    }
}

/// `session …`.
pub fn session(startup: &Startup, command: &args::SessionCommand, json: bool) -> Exit {
    let redactor = startup.redactor(false);
    let store = &startup.shared.store;
    let lang = startup.lang();

    let clean = if output::stdout().is_terminal() { super::startup::clean } else { str::to_owned };
    let folder = &startup.folder;
    let redactor = &redactor;

    let query = session::SessionQuery { store, folder, redactor, json, lang, clean };
    match session::run(command, &query, &mut output::stdout()) {
        Ok((answered, fault)) => {
            if let Some(fault) = fault {
                startup.fail(&Notice::warning(fault), Exit::Done);
            }
            match answered {
                session::SessionAnswer::Page(page) => print_rows(startup, &page.rows, false),
                session::SessionAnswer::Out(text) => print_text(startup, &clean(&text)),
                session::SessionAnswer::Written => exit_after_writing(startup, Ok(())),
                session::SessionAnswer::WriteFailed(error) => {
                    exit_after_writing(startup, Err(error))
                }
                session::SessionAnswer::Messages(said) => {
                    said.into_iter().for_each(|say| {
                        startup.fail(&Notice::info(say), Exit::Done);
                    });
                    Exit::Done
                }
            }
        }
        Err(say) => startup.fail(&Notice::error(say), Exit::Failed),
    }
}

/// The session that a run without a screen resumes. No user would see a failure later, so it is
/// checked before the start.
pub fn session_to_resume(
    startup: &Startup,
    choice: &args::ResumeChoice,
) -> Result<String, Box<(Notice, Exit)>> {
    let failed = |error: StoreError| Box::new((Notice::error(error.localized()), Exit::Failed));
    let store = &startup.shared.store;
    let folder = startup.folder.display().to_string();
    let (disk, fault) = Database::open(store).map_err(failed)?;
    if let Some(fault) = fault {
        startup.fail(&Notice::warning(fault.localized()), Exit::Done);
    }
    let known = match choice {
        args::ResumeChoice::Choose => {
            return Err(Box::new((Notice::error(phrases::NO_SESSION_NAMED), Exit::WrongUse)));
        }
        args::ResumeChoice::Id(id) => disk.find(id).map_err(failed)?,
        args::ResumeChoice::Last => {
            disk.last_in_folder(&folder).map_err(failed)?.ok_or_else(|| {
                let notice = Notice::error(phrases::NONE_TO_CONTINUE.with("folder", folder));
                Box::new((notice.with_hint(phrases::NONE_TO_CONTINUE_HINT), Exit::WrongUse))
            })?
        }
    };
    match store.lock(&known.id).map_err(StoreError::from).map_err(failed)? {
        Some(_free) => Ok(known.id),
        None => Err(failed(StoreError::Held { id: known.id })),
    }
}

/// `config …`.
pub fn config(startup: &Startup, command: &ConfigCommand, json: bool) -> Exit {
    let file = startup.paths.settings();
    if let ConfigCommand::Set { key, value } = command
        && let Err(why) = user_themes::check_setting(&startup.paths, key, value)
    {
        return startup.fail(&Notice::error(why), Exit::WrongUse);
    }
    match config::run(command, &file, &startup.loaded, json, startup.lang()) {
        Ok(config::ConfigAnswer::Out(text)) => print_text(startup, &text),
        Ok(config::ConfigAnswer::Message(say)) => startup.fail(&Notice::info(say), Exit::Done),
        Err(error) => startup.fail(&Notice::error(error.localized()), Exit::WrongUse),
    }
}

/// `doctor`.
pub fn doctor(startup: &Startup, json: bool) -> Exit {
    let offer = match fetch_models_blocking(startup) {
        Ok(offer) => offer,
        Err(error) => return startup.fail_io(&error),
    };
    let world = startup.system();
    let terminal = terminal_info(&startup.environment);
    let findings = DoctorFindings {
        paths: &startup.paths,
        loaded: &startup.loaded,
        key_place: key_place(startup),
        offer: &offer,
        terminal: &terminal,
        folder: startup.folder.clone(),
        trusted: startup.trusted,
        notes: &instruction_files(&startup.folder, startup.trusted),
        idle_rules: &ineffective_rules(
            &startup.loaded,
            &startup.folder,
            &startup.paths.home,
            &world,
        ),
        programs: world.folders(),
        sandbox: &startup.sandbox(&world).rows(),
        temp: &startup.shared.temp,
        library: &ExtensionLibrary::load(&startup.search_path()),
        servers: &ServerFiles::new(startup).rows(startup.trusted),
        hooks: &read_hooks(&hook_folders(startup), startup.trusted),
    };
    let mut rows = doctor::rows(&findings);
    rows.extend(gateway_rows(&startup.loaded, &startup.paths));
    let said = print_rows(startup, &rows, json);
    if said == Exit::Done { doctor::exit(&findings) } else { said }
}

/// The page of `/doctor`: the same findings, gathered while the session continues.
pub fn doctor_page(startup: &Startup) -> Doctor {
    let (paths, loaded) = (startup.paths.clone(), startup.loaded.clone());
    let folder = startup.folder.clone();
    let (keys, place) = (KeyFinder::new(startup), key_place(startup));
    let (terminal, world) = (terminal_info(&startup.environment), startup.system());
    let (setting, places) = (startup.loaded.settings.sandbox, startup.search_path_finder());
    let (temp, held) = (Arc::clone(&startup.shared.temp), startup.sandbox_paths(&world));
    let servers = ServerFiles::new(startup);
    let hooks = hook_folders(startup);
    Arc::new(move |trusted| {
        let (paths, loaded, folder) = (paths.clone(), loaded.clone(), folder.clone());
        let (temp, held) = (Arc::clone(&temp), held.clone());
        let (keys, place) = (keys.clone(), place.clone());
        let (terminal, world, places) = (terminal.clone(), world.clone(), places(trusted));
        let servers = servers.clone();
        let hooks = hooks.clone();
        async move {
            let offer = fetch_models(loaded.settings.connection.clone(), keys).await;
            let sandbox = Sandbox::new(setting, held).with_run_folder(Arc::clone(&temp));
            let sandbox = tokio::task::spawn_blocking(move || sandbox.rows()).await;
            let library =
                tokio::task::spawn_blocking(move || ExtensionLibrary::load(&places)).await;
            let servers = tokio::task::spawn_blocking(move || servers.rows(trusted)).await;
            let rows = doctor::rows(&DoctorFindings {
                paths: &paths,
                loaded: &loaded,
                key_place: place,
                offer: &offer,
                terminal: &terminal,
                folder: folder.clone(),
                trusted,
                notes: &instruction_files(&folder, trusted),
                idle_rules: &ineffective_rules(&loaded, &folder, &paths.home, &world),
                programs: world.folders(),
                sandbox: &sandbox.unwrap_or_default(),
                temp: &temp,
                library: &library.unwrap_or_default(),
                servers: &servers.unwrap_or_default(),
                hooks: &read_hooks(&hooks, trusted),
            });
            let rows = [rows, gateway_rows(&loaded, &paths)].concat();
            Page { title: avocet_core::i18n::session::DOCTOR.into(), rows }
        }
        .boxed()
    })
}

fn gateway_rows(loaded: &avocet_config::Loaded, paths: &avocet_config::Paths) -> Vec<PageRow> {
    super::gateway::doctor_rows(&loaded.settings.gateway, paths)
}

/// Why allow rules of the settings have no effect here.
fn ineffective_rules(
    loaded: &avocet_config::Loaded,
    folder: &Path,
    home: &Path,
    world: &avocet_tools::system::System,
) -> Vec<avocet_core::i18n::LocalizedText> {
    let policy = loaded.settings.policy();
    let place = policy::workspace_in(folder, home, true, world);
    let cx = PolicyContext { policy: &policy, place: &place, world };
    policy
        .allowed
        .iter()
        .filter_map(|rule| avocet_safety::why_never_applies(rule, None, cx))
        .collect()
}

/// The instructions for agents in a trusted folder.
fn instruction_files(folder: &Path, trusted: bool) -> Vec<InstructionFile> {
    let folder = folder.to_owned();
    let sources =
        project_instructions::InstructionSources { folder, trusted, ..Default::default() };
    project_instructions::read(&sources).notes.files
}

fn terminal_info(environment: &Environment) -> Terminal {
    let variable = |name| environment.get(name).unwrap_or_default().to_owned();
    Terminal {
        kind: variable("TERM"),
        size: avocet_tui::terminal::size(),
        color: variable("COLORTERM"),
        locale: variable("LANG"),
    }
}

/// `completions SHELL`.
pub fn completions(startup: &Startup, shell: CompletionShell) -> Exit {
    let done = messages::write_text(&mut output::stdout(), shell_files::completions(shell));
    exit_after_writing(startup, done)
}

/// `serve --schema`.
pub fn serve_schema(startup: &Startup) -> Exit {
    let schema = include_str!("../../assets/sdk/openrpc.json").to_owned();
    let done = messages::write_text(&mut output::stdout(), schema);
    exit_after_writing(startup, done)
}

/// `man`, and `man --dir FOLDER`.
pub fn manual(startup: &Startup, folder: Option<&Path>) -> Exit {
    let Some(folder) = folder else {
        let mut out = output::stdout();
        let page = shell_files::manual_page();
        if out.is_terminal() {
            // The source of a page is for `man`, not for reading.
            return print_text(startup, &format!("{}\n", phrases::MAN_PAGE.text(startup.lang())));
        }
        let done = page.and_then(|page| messages::write_text(&mut out, page));
        return exit_after_writing(startup, done);
    };
    match shell_files::write_manual(folder) {
        Ok(()) => Exit::Done,
        Err(error) => {
            let file = folder.display().to_string();
            let say = common::NOT_WRITTEN.with("file", file).with("why", error.to_string());
            startup.fail(&Notice::error(say), Exit::Failed)
        }
    }
}

pub fn print_rows(startup: &Startup, rows: &[PageRow], json: bool) -> Exit {
    let mut out = output::stdout();
    let done = if json {
        messages::write_text(&mut out, format!("{}\n", table::json(rows, startup.lang())))
    } else {
        // Titles are texts of others: what a terminal would obey is not passed on either way.
        let clean = super::startup::clean;
        let width = out.columns();
        table::write(&mut out, rows, Printer { lang: startup.lang(), clean, width })
    };
    exit_after_writing(startup, done)
}

pub fn print_text(startup: &Startup, text: &str) -> Exit {
    let done = messages::write_text(&mut output::stdout(), text);
    exit_after_writing(startup, done)
}

pub fn exit_after_writing(startup: &Startup, done: io::Result<()>) -> Exit {
    let done = done.and_then(|()| output::stdout().flush());
    match done {
        Ok(()) => Exit::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(error) => startup.fail_io(&error),
    }
}
