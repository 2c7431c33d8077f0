//! Builds a session's parts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::first_time::{check_offer, report_missing_sandbox_once};
use super::hooks::FolderHooks;
use super::key_source::user_command;
use super::live_settings::{SettingsFiles, screen_settings};
use super::lsp::language_servers;
use super::mcp::{FolderServers, SandboxedStarter};
use super::models::{self, ModelConnector};
use super::startup::{StartError, Startup, StepOptions};
use super::step_runner::{
    SessionPurpose, StepRunner, exec_tools, exposed_key_host, file_tool_state, machine,
    trust_prompt,
};
use super::worktree;
use crate::cli::Exit;
use avocet_acp::services::EditorOffers;
use avocet_config::approvals::{Approvals, Side};
use avocet_config::diagnostic;
use avocet_config::extensions::bot;
use avocet_config::project_kind::describe_project;
use avocet_core::i18n::{Localize, LocalizedText, cli, session as phrases};
use avocet_core::private_dir::beside;
use avocet_core::protocol::{ApprovalMode, Notice, NoticeLevel, SessionInfo};
use avocet_lsp::{LanguageServers, code_tools};
use avocet_mcp::ServerDefinition;
use avocet_safety::redact::Redactor;
use avocet_safety::tools::{OF_SLOTHTOOL, PluginRegistry};
use avocet_safety::{
    Machine, Policy, PolicyRule, SCRIPT_TOOL, SKILL_TOOL, SUBAGENT_TOOL, ToolRestriction,
};
use avocet_session::context::system::WorkspaceFacts;
use avocet_session::context::window::Bounds;
use avocet_session::extensions::ExtensionCache;
use avocet_session::mcp_servers::McpAccess;
use avocet_session::persistence::{Persistence, Replay};
use avocet_session::session_hooks::HookAccess;
use avocet_session::session_policy::SessionPolicy;
use avocet_session::trust::TrustPrompt;
use avocet_session::{
    Callbacks, Connected, KeptJobs, ModelAccess, Persona, RuleChange, RunStatusCommand, Security,
    SessionAccess, SessionConfig, StatusLine, permissions,
};
use avocet_tools::code_checker::CodeChecker;
use avocet_tools::exec::{Exec, key_command};
use avocet_tools::system::System;
use avocet_tools::web::WebTool;
use avocet_tools::{Toolbox, file, git_branch, interaction, output_file};

/// Sessions of a terminal, of an editor and those that print find the jobs of earlier ones, where
/// sessions are saved.
fn kept_jobs(startup: &Startup, purpose: SessionPurpose) -> Option<KeptJobs> {
    use SessionPurpose::{Editor, Print, Screen};
    let finds = matches!(purpose, Screen | Print | Editor);
    let has_user = finds && startup.shared.store.is_persistent();
    let program = has_user.then(std::env::current_exe).and_then(Result::ok)?;
    Some(KeptJobs { place: startup.paths.kept_jobs(), program })
}

/// Removes the incomplete files of killed runs, in parallel with the start.
fn sweep(startup: &Startup) {
    let paths = &startup.paths;
    let kept = file::Backups::new(paths.backups());
    let journals = paths.journals();

    let outputs = paths.outputs();
    let folders = paths.program_files().into_iter().chain([paths.drafts(), paths.approvals()]);
    let folders: Vec<PathBuf> = folders.collect();
    let work = move || {
        folders.iter().for_each(|folder| beside::sweep(folder));
        file::journal::sweep(&journals);
        output_file::sweep(&outputs);
        kept.sweep();
    };
    // If no thread can be started, a later run does it.
    let _ = std::thread::Builder::new().name("sweep".into()).spawn(work);
}

fn first_model(
    startup: &Startup,
    connector: &ModelConnector,
    purpose: SessionPurpose,
) -> Result<Connected, LocalizedText> {
    let mode = startup.loaded.settings.models.mode;
    let lang = startup.loaded.settings.lang;

    match purpose {
        SessionPurpose::Chat => connector.model_of_chats(&startup.chat_model, mode, lang),
        _ => connector.initial_model(mode, lang),
    }
}

/// Builds everything; nothing is connected, started or searched for yet.
pub fn build(
    startup: &Startup,
    bot: Option<&str>,
    purpose: SessionPurpose,
) -> Result<SessionConfig, StartError> {
    build_with(startup, bot, purpose, EditorOffers::default())
}

/// The same, with what an editor offers.
pub fn build_with(
    startup: &Startup,
    bot: Option<&str>,
    purpose: SessionPurpose,
    offers: EditorOffers,
) -> Result<SessionConfig, StartError> {
    let settings = &startup.loaded.settings;
    let fail = |text: LocalizedText| StartError {
        notice: Box::new(Notice::error(text)),
        exit: Exit::WrongUse,
        printer: startup.printer(),
    };
    let persona = persona(startup, bot).map_err(fail)?;
    let redactor = Arc::new(startup.redactor(purpose != SessionPurpose::Script));
    let connector = ModelConnector::new(startup).with_redactor(Arc::clone(&redactor));
    let first = first_model(startup, &connector, purpose).map_err(fail)?;
    let desk = file_tool_state(startup, offers.files);
    if purpose != SessionPurpose::Chat {
        sweep(startup);
    }
    let world = machine(startup, &desk.read_tracker, &redactor);
    let runner = StepRunner::new(startup, &world, &desk, &redactor);
    let languages = languages(startup, purpose, &runner);
    let tools = tools_with_languages(startup, &runner, desk, languages.as_ref());
    let runner = StepRunner { checkpoints: tools.checkpoints().cloned(), ..runner };
    let world = runner.with_checkpoints(world);
    let (mut security, warnings) = build_security(startup, purpose, world, redactor);
    let tools = apply_run_options(startup, tools, &mut security).map_err(fail)?;
    security.trust = trust_of(startup, purpose);
    security.trust.mark_sandbox_warning = report_missing_sandbox_once(startup);
    let info = SessionInfo {
        // So that the first frame shows it already.
        model: first.model.name().to_owned(),
        provider: first.provider,
        base_url: first.base_url.clone(),
        exposed: exposed_key_host(startup).unwrap_or_default(),
        ..session_info(startup, &tools, &security.policy, bot)
    };
    let opening_notices = opening_notices(startup, warnings, purpose, security.world.as_ref());
    let discover = (settings.connection.is_none() && purpose == SessionPurpose::Screen)
        .then(|| models::discover_servers(startup.environment.clone()));
    let effort = settings.models.effort;
    let connect = connector.into_connect();
    let callbacks = callbacks(startup, languages, (&runner, purpose));
    Ok(SessionConfig {
        info,
        model_access: ModelAccess { first, effort, discover, connect, callbacks },
        access: SessionAccess {
            servers: servers(startup, purpose, (&runner.exec, &security), offers.servers),
            hooks: hooks(startup, purpose, &runner.exec),
            settings: Some(Box::new(SettingsFiles::new(startup, purpose, runner))),
            kept_jobs: kept_jobs(startup, purpose),
        },
        security,
        tools,
        workspace_facts: workspace_facts(startup),
        persona,
        user_notes: startup.paths.user_notes(),
        outputs: startup.shared.outputs(&startup.paths),
        persistence: persistence(startup, purpose),
        extensions: extension_cache(startup),
        bounds: Bounds::default(),
        opening_notices,
        approves_template_commands: false,
        counts_changed_files: false,
    })
}

/// How a frontend asks whether the folder is trusted.
fn trust_of(startup: &Startup, purpose: SessionPurpose) -> TrustPrompt {
    match purpose {
        SessionPurpose::Screen => trust_prompt(startup),
        // It shows a question only while it waits for an answer.
        SessionPurpose::Editor => TrustPrompt { ask_because: None, ..trust_prompt(startup) },
        _ => TrustPrompt::without_question(),
    }
}

/// A template that is expanded, and a script, call no tools of servers.
fn servers(
    startup: &Startup,
    purpose: SessionPurpose,
    (exec, security): (&Exec, &Security),
    definitions: Vec<ServerDefinition>,
) -> Option<Box<dyn McpAccess>> {
    let has_user = match purpose {
        SessionPurpose::Screen => true,
        SessionPurpose::Print | SessionPurpose::Chat | SessionPurpose::Editor => false,
        SessionPurpose::Render | SessionPurpose::Script => return None,
    };
    let starter = SandboxedStarter {
        exec: exec.clone(),
        policy: security.policy.clone(),
        place: security.place.clone(),
        world: Arc::clone(&security.world),
    };
    Some(Box::new(FolderServers::new(startup, starter, definitions, has_user)))
}

fn hooks(startup: &Startup, purpose: SessionPurpose, exec: &Exec) -> Option<Box<dyn HookAccess>> {
    let has_steps = purpose != SessionPurpose::Render;
    let has_user = purpose == SessionPurpose::Screen;
    has_steps.then(|| Box::new(FolderHooks::new(startup, exec, has_user)) as Box<dyn HookAccess>)
}

/// Nothing in an untrusted folder is read.
fn workspace_facts(startup: &Startup) -> WorkspaceFacts {
    let shell = startup.environment.path("SHELL");
    let shell = shell.as_deref().and_then(Path::file_name).unwrap_or_default();
    let project = startup.trusted.then(|| describe_project(&startup.folder));
    WorkspaceFacts {
        today: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        shell: shell.to_string_lossy().into_owned(),
        project: project.unwrap_or_default(),
    }
}

fn extension_cache(startup: &Startup) -> ExtensionCache {
    ExtensionCache::new(startup.search_path_finder())
        .with_scripts(startup.script_folder_finder())
        .with_store(startup.shared.store.clone())
        .with_latest(Arc::clone(&startup.chat_extensions))
}

fn callbacks(
    startup: &Startup,
    languages: Option<LanguageServers>,
    (runner, purpose): (&StepRunner, SessionPurpose),
) -> Callbacks {
    let has_screen = purpose == SessionPurpose::Screen;
    Callbacks {
        doctor: super::subcommands::doctor_page(startup),
        platforms: super::gateway::platforms_page(startup),
        languages,
        worktrees: Some(worktree::access(startup, runner)),
        status: StatusLine::new(has_screen.then(|| status_command(startup)).flatten()),
    }
}

/// How long the program for the status line may take.
const STATUS_PATIENCE: Duration = Duration::from_millis(300);

/// The program of the user's settings for the status line.
fn status_command(startup: &Startup) -> Option<RunStatusCommand> {
    let (program, args) = startup.loaded.settings.look.status_command.split_first()?;
    let command = user_command(&startup.environment, program, args, STATUS_PATIENCE);
    Some(Arc::new(move |json| {
        let command = command.clone();
        async move { key_command::first_line(&command, json.as_bytes()).await }.boxed()
    }))
}

fn opening_notices(
    startup: &Startup,
    warnings: Option<LocalizedText>,
    purpose: SessionPurpose,
    world: &dyn Machine,
) -> Vec<Notice> {
    let temp = startup.shared.temp.fallback_warning();
    let warnings = warnings.into_iter().chain(startup.trust.store_error.clone()).chain(temp);
    let mut notices: Vec<Notice> = warnings.map(Notice::warning).collect();
    let of_worktree = startup.worktree.iter().flat_map(|worktree| worktree.notices());
    notices.extend(of_worktree.map(Notice::info));
    use SessionPurpose::{Editor, Print, Render};
    if matches!(purpose, Print | Render | Editor) {
        notices.extend(untrusted_notice(startup));
    }
    notices.extend(exposed_key_notice(startup));
    if purpose == SessionPurpose::Screen {
        notices.extend(check_offer(startup, world));
    }
    notices
}

fn persistence(startup: &Startup, purpose: SessionPurpose) -> Persistence {
    let replay = match purpose {
        SessionPurpose::Screen if startup.loaded.settings.look.show_pictures => {
            Replay::AllWithImages
        }
        SessionPurpose::Screen | SessionPurpose::Editor => Replay::All,
        SessionPurpose::Chat => Replay::End,
        SessionPurpose::Print => Replay::Nothing,
        // An expansion that is not sent, or a script, is not a conversation.
        SessionPurpose::Render | SessionPurpose::Script => return Persistence::in_memory(),
    };
    Persistence { store: startup.shared.store.clone(), resume: None, replay }
}

fn persona(startup: &Startup, bot: Option<&str>) -> Result<Persona, LocalizedText> {
    let Some(name) = bot else { return Ok(Persona::default()) };
    let bot = bot::find(&startup.search_path(), name).map_err(|error| error.localized())?;
    Ok(Persona { prompt: Some(bot.system_prompt), params: bot.params, ..Persona::default() })
}

fn exposed_key_notice(startup: &Startup) -> Option<Notice> {
    let notice = Notice::warning(phrases::KEY_IN_THE_OPEN.with("host", exposed_key_host(startup)?));
    Some(notice.with_hint(phrases::KEY_IN_THE_OPEN_HINT))
}

/// Without a registry, slothtool has nothing to run.
fn usable_tools(startup: &Startup, exec: &Exec, state: &file::FileToolState) -> Toolbox {
    let web = startup.loaded.settings.policy().web;
    let all = tools(exec, state).with_tool(Arc::new(WebTool::for_searching(&web)));
    let has_registry = PluginRegistry::registry_path(&startup.paths.home).exists();
    if has_registry { all } else { all.hiding(&OF_SLOTHTOOL) }
}

fn tools(exec: &Exec, state: &file::FileToolState) -> Toolbox {
    let mut tools = exec_tools(exec);
    tools.extend(file::all(state));
    tools.extend(interaction::all());
    tools.push(Arc::new(WebTool::for_pages()));
    let host = state.read_tracker.host.clone();
    Toolbox::new(tools).with_backups(state.backups.clone()).with_file_host(host)
}

/// A template that is expanded, and a script, change no files that are looked at.
fn languages(
    startup: &Startup,
    purpose: SessionPurpose,
    runner: &StepRunner,
) -> Option<LanguageServers> {
    let has_turns = !matches!(purpose, SessionPurpose::Render | SessionPurpose::Script);
    let world = Arc::new(runner.machine(startup));
    has_turns.then(|| language_servers(startup, &runner.exec, world))
}

/// The usable tools, and those that ask language servers.
fn tools_with_languages(
    startup: &Startup,
    runner: &StepRunner,
    desk: file::FileToolState,
    languages: Option<&LanguageServers>,
) -> Toolbox {
    let checker = languages.map(|languages| Arc::new(languages.clone()) as Arc<dyn CodeChecker>);
    let state = file::FileToolState { checker: checker.clone(), ..desk };
    let tools = usable_tools(startup, &runner.exec, &state).with_checker(checker);
    let own = languages.into_iter().flat_map(|languages| code_tools(languages, &runner.redactor));
    own.fold(tools, |tools, tool| tools.with_tool(tool))
}

/// Tools that the session itself has, beside those of the toolbox, and those that a language server
/// has once it runs.
const OF_SESSION: [&str; 13] = [
    SUBAGENT_TOOL,
    SKILL_TOOL,
    SCRIPT_TOOL,
    avocet_safety::tools::SEND,
    "recall",
    "job.list",
    "job.read",
    "job.stop",
    "code.symbols",
    "code.definition",
    "code.references",
    "code.hover",
    "code.rename",
];

/// Users of a chat are not the one whose settings these are.
fn mode_of_settings(startup: &Startup, purpose: SessionPurpose) -> ApprovalMode {
    match purpose {
        SessionPurpose::Chat => ApprovalMode::default(),
        _ => startup.mode_of_settings(),
    }
}

/// Sets what the command line says of the steps, and leaves the tools that it names.
fn apply_run_options(
    startup: &Startup,
    tools: Toolbox,
    security: &mut Security,
) -> Result<Toolbox, LocalizedText> {
    let StepOptions { mode, allow, tools: names, .. } = &startup.run_options;
    security.policy.approval = mode.unwrap_or(security.policy.approval);
    for rule in allow {
        let notice = security.allow(rule);
        if notice.level == NoticeLevel::Error {
            return Err(notice.say);
        }
    }
    if names.is_empty() {
        return Ok(tools);
    }
    let known: Vec<&str> = tools.iter().map(|tool| tool.spec().name).chain(OF_SESSION).collect();
    let restriction = ToolRestriction { skill: String::new(), tools: names.clone() };
    match restriction.unknown_tool(&known) {
        Some(name) => Err(cli::NO_SUCH_TOOL.with("name", name).with("known", known.join(", "))),
        None => {
            security.policy.offered = Some(restriction.clone());
            Ok(tools.offering(restriction))
        }
    }
}

/// The policy with the rules remembered for this folder, and why there are none if they cannot be
/// read.
pub fn remembered_policy(startup: &Startup) -> (Policy, Approvals, Option<LocalizedText>) {
    let mut policy = startup.loaded.settings.policy();
    let (approvals, said) = Approvals::open(&startup.paths.approvals(), &startup.folder);
    policy.allowed.extend(approvals.rules_without_terms());
    policy.granted.extend(approvals.grants());
    let denied = approvals.rules(Side::Denied);
    policy.denied.extend(denied.iter().filter_map(|rule| PolicyRule::parse(rule).ok()));
    (policy, approvals, said)
}

/// The policy with the rules remembered for this folder, and the way to remember more.
fn build_security(
    startup: &Startup,
    purpose: SessionPurpose,
    system: System,
    redactor: Arc<Redactor>,
) -> (Security, Option<LocalizedText>) {
    let (policy, mut approvals, said) = remembered_policy(startup);
    let mut security = Security {
        policy,
        place: startup.workspace(),
        world: Arc::new(system),
        redactor,
        keep_rule: Box::new(move |rule, memory| {
            let rule = rule.to_string();
            let done = match memory {
                RuleChange::Keep(terms) => approvals.remember(Side::Allowed, &rule, terms.as_ref()),
                RuleChange::Forget => approvals.forget(&rule),
            };
            done.map_err(|error| diagnostic::io_reason(&error))
        }),
        session: SessionPolicy::default(),
        trust: TrustPrompt::without_question(),
    };
    security.session.command_line_mode = startup.run_options.mode;
    security.session.mode_of_settings = mode_of_settings(startup, purpose);
    security.policy.approval = security.session.mode_of_settings;
    (security, said)
}

/// Without a screen the question is not asked; a notice says what that means.
fn untrusted_notice(startup: &Startup) -> Option<Notice> {
    let how = phrases::TRUST_HOW_HEADLESS.with("folder", startup.folder.display().to_string());
    (!startup.trusted).then(|| Notice::info(phrases::TRUST_HELD_BACK).with_hint(how))
}

fn session_info(
    startup: &Startup,
    tools: &Toolbox,
    policy: &Policy,
    bot: Option<&str>,
) -> SessionInfo {
    let settings = &startup.loaded.settings;
    let mut info = SessionInfo {
        profile: settings.models.profile.clone(),
        mode: settings.models.mode,
        approval: policy.approval,
        lang: settings.lang,
        trusted: startup.trusted,
        bot: bot.map(str::to_owned),
        cwd: startup.folder.display().to_string(),
        added: startup.added.iter().map(|folder| folder.display().to_string()).collect(),
        // Nothing in an untrusted folder is read.
        branch: startup.trusted.then(|| git_branch::current_branch(&startup.folder)).flatten(),
        tools: tools.tool_infos(),
        max_steps: settings.limits.max_auto_steps,
        max_subagents: settings.limits.subagents,
        spend_limits: settings.spend_limits,
        check: settings.check.clone(),
        screen: screen_settings(&startup.loaded),
        ..SessionInfo::default()
    };
    permissions::show_rules(policy, &startup.folder, &mut info);
    info
}
