//! The table of slash commands: one row for each command, and its only definition.

use super::OptionValues::{From, OneOf, Text};
use super::{ApprovalSpan, CommandOption, OptionValues, SlashCommand, ValueSource};
use super::{configuration, custom, info, session};
use avocet_core::i18n::{
    Phrase, agents, commands as w, common, goal, hooks, lsp, mcp_pages, side, worktrees,
};
use avocet_core::protocol::Availability::{
    Everywhere, GatewayOnly, LocalOnly, LocalUnless, ScreenOnly,
};
use avocet_core::protocol::Category::{Configuration, Exit, Info, Session, Tools};
use avocet_core::protocol::WhileBusy::{Now, Refuse, Wait};

const fn text(name: &'static str, phrase: Phrase) -> CommandOption {
    CommandOption { name, about: phrase, is_required: false, values: Text }
}

const fn one_of(
    name: &'static str,
    choices: &'static [&'static str],
    phrase: Phrase,
) -> CommandOption {
    CommandOption { values: OneOf(choices), ..text(name, phrase) }
}

const fn from(name: &'static str, source: ValueSource, phrase: Phrase) -> CommandOption {
    CommandOption { values: From(source), ..text(name, phrase) }
}

const fn required(option: CommandOption) -> CommandOption {
    CommandOption { is_required: true, ..option }
}

#[rustfmt::skip]
pub const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "new",       aliases: &["reset", "clear"], about: w::ABOUT_NEW,          category: Session,        priority: 10,  reach: Everywhere, busy: Refuse, run: session::new,              options: &[] },
    SlashCommand { name: "stop",      aliases: &["interrupt"],      about: w::ABOUT_STOP,         category: Session,        priority: 5,   reach: Everywhere, busy: Now,    run: session::stop,             options: &[] },
    SlashCommand { name: "queue",     aliases: &[],                 about: w::ABOUT_QUEUE,        category: Session,        priority: 14,  reach: Everywhere, busy: Now,    run: session::queue,            options: &[text("message", w::OPTION_QUEUE)] },
    SlashCommand { name: "steer",     aliases: &[],                 about: w::ABOUT_STEER,        category: Session,        priority: 15,  reach: Everywhere, busy: Now,    run: session::steer,            options: &[required(text("message", w::OPTION_STEER))] },
    SlashCommand { name: "retry",     aliases: &[],                 about: w::ABOUT_RETRY,        category: Session,        priority: 29,  reach: Everywhere, busy: Refuse, run: session::retry,            options: &[] },
    SlashCommand { name: "approve",   aliases: &[],                 about: w::ABOUT_APPROVE,      category: Session,        priority: 6,   reach: GatewayOnly, busy: Now,    run: session::approve,          options: &[one_of("span", ApprovalSpan::NAMES, w::OPTION_APPROVE)] },
    SlashCommand { name: "deny",      aliases: &[],                 about: w::ABOUT_DENY,         category: Session,        priority: 7,   reach: Everywhere, busy: Now,    run: session::deny,             options: &[from("rule", ValueSource::Allowed, w::OPTION_DENY)] },
    SlashCommand { name: "rewind",    aliases: &[],                 about: w::ABOUT_REWIND,       category: Session,        priority: 100, reach: LocalOnly,  busy: Refuse, run: session::rewind,           options: &[text("n", w::OPTION_REWIND), one_of("what", &["chat", "files", "both"], w::OPTION_REWIND_WHAT)] },
    SlashCommand { name: "resume",    aliases: &[],                 about: w::ABOUT_RESUME,       category: Session,        priority: 29,  reach: Everywhere, busy: Refuse, run: session::resume,           options: &[text("id", w::OPTION_RESUME)] },
    SlashCommand { name: "sessions",  aliases: &[],                 about: w::ABOUT_SESSIONS,     category: Session,        priority: 100, reach: LocalOnly,  busy: Now,    run: session::sessions,         options: &[text("text", w::OPTION_SESSIONS)] },
    SlashCommand { name: "fork",      aliases: &[],                 about: w::ABOUT_FORK,         category: Session,        priority: 100, reach: LocalOnly,  busy: Refuse, run: session::fork,             options: &[text("name", w::OPTION_NAME)] },
    SlashCommand { name: "rename",    aliases: &[],                 about: w::ABOUT_RENAME,       category: Session,        priority: 100, reach: LocalOnly,  busy: Now,    run: session::rename,           options: &[required(text("name", w::OPTION_NAME))] },
    SlashCommand { name: "undo",      aliases: &[],                 about: w::ABOUT_UNDO,         category: Session,        priority: 28,  reach: Everywhere, busy: Refuse, run: session::undo,             options: &[text("n", w::OPTION_UNDO)] },
    SlashCommand { name: "redo",      aliases: &[],                 about: w::ABOUT_REDO,         category: Session,        priority: 49,  reach: Everywhere, busy: Refuse, run: session::redo,             options: &[] },
    SlashCommand { name: "compress",  aliases: &["compact"],        about: w::ABOUT_COMPRESS,     category: Session,        priority: 27,  reach: Everywhere, busy: Wait,   run: session::compress,         options: &[text("focus", w::OPTION_COMPRESS)] },
    SlashCommand { name: "goal",      aliases: &[],                 about: goal::ABOUT_COMMAND,   category: Session,        priority: 100, reach: LocalOnly,  busy: Now,    run: session::goal,             options: &[text("text", goal::OPTION_TEXT), CommandOption { values: OptionValues::Named("COMMAND"), ..text("until", goal::OPTION_UNTIL) }, CommandOption { values: OptionValues::Named("N"), ..text("max-cost", goal::OPTION_COST) }] },
    SlashCommand { name: "btw",       aliases: &["aside"],          about: side::ABOUT_COMMAND,   category: Session,        priority: 53,  reach: Everywhere, busy: Now,    run: session::ask_aside,        options: &[required(text("question", side::OPTION_QUESTION))] },
    SlashCommand { name: "recall",    aliases: &[],                 about: w::ABOUT_RECALL,       category: Session,        priority: 46,  reach: Everywhere, busy: Wait,   run: session::recall,           options: &[required(text("id", w::OPTION_RECALL))] },
    SlashCommand { name: "copy",      aliases: &[],                 about: w::ABOUT_COPY,         category: Session,        priority: 100, reach: ScreenOnly, busy: Now,    run: session::copy,             options: &[text("n", w::OPTION_COPY)] },
    SlashCommand { name: "search",    aliases: &["find"],           about: common::SEARCH,        category: Session,        priority: 100, reach: ScreenOnly, busy: Now,    run: session::search,           options: &[text("text", w::OPTION_SEARCH)] },
    SlashCommand { name: "raw",       aliases: &["dump"],           about: w::ABOUT_RAW,          category: Session,        priority: 100, reach: ScreenOnly, busy: Now,    run: session::raw,              options: &[] },
    SlashCommand { name: "export",    aliases: &[],                 about: w::ABOUT_EXPORT,       category: Session,        priority: 100, reach: LocalOnly,  busy: Wait,   run: session::export,           options: &[one_of("format", &["md", "json", "html"], w::OPTION_FORMAT), text("file", w::OPTION_FILE)] },

    SlashCommand { name: "model",     aliases: &[],                 about: w::ABOUT_MODEL,        category: Configuration,  priority: 20,  reach: Everywhere, busy: Wait,   run: configuration::model,      options: &[from("name", ValueSource::Models, w::OPTION_MODEL)] },
    SlashCommand { name: "effort",    aliases: &["reasoning"],      about: w::ABOUT_EFFORT,       category: Configuration,  priority: 22,  reach: Everywhere, busy: Now,    run: configuration::effort,     options: &[from("level", ValueSource::Efforts, w::OPTION_EFFORT)] },
    SlashCommand { name: "connect",   aliases: &["login"],          about: w::ABOUT_CONNECT,      category: Configuration,  priority: 65,  reach: LocalOnly,  busy: Refuse, run: configuration::connect,    options: &[from("provider", ValueSource::Providers, w::OPTION_PROVIDER)] },
    SlashCommand { name: "bot",       aliases: &[],                 about: w::ABOUT_BOT,          category: Configuration,  priority: 35,  reach: Everywhere, busy: Wait,   run: custom::bot,               options: &[from("name", ValueSource::Bots, w::OPTION_BOT)] },
    SlashCommand { name: "mode",      aliases: &[],                 about: w::ABOUT_MODE,         category: Configuration,  priority: 33,  reach: Everywhere, busy: Now,    run: configuration::mode,       options: &[one_of("mode", &["ask", "edits", "auto", "plan", "low", "high"], w::OPTION_MODE)] },
    SlashCommand { name: "lang",      aliases: &[],                 about: w::ABOUT_LANG,         category: Configuration,  priority: 34,  reach: Everywhere, busy: Now,    run: configuration::lang,       options: &[required(one_of("lang", &["en", "zh"], w::OPTION_LANG))] },
    SlashCommand { name: "theme",     aliases: &[],                 about: w::ABOUT_THEME,        category: Configuration,  priority: 100, reach: LocalOnly,  busy: Now,    run: configuration::theme,      options: &[from("name", ValueSource::Themes, w::OPTION_THEME)] },
    SlashCommand { name: "vim",       aliases: &[],                 about: w::ABOUT_VIM,          category: Configuration,  priority: 100, reach: ScreenOnly, busy: Now,    run: configuration::vim,        options: &[one_of("state", &["on", "off"], w::OPTION_SWITCH)] },
    SlashCommand { name: "timestamps", aliases: &["times"],          about: w::ABOUT_TIMESTAMPS,   category: Configuration,  priority: 100, reach: ScreenOnly, busy: Now,    run: configuration::timestamps, options: &[one_of("state", &["on", "off"], w::OPTION_SWITCH)] },
    SlashCommand { name: "allow",     aliases: &[],                 about: w::ABOUT_ALLOW,        category: Configuration,  priority: 100, reach: LocalOnly,  busy: Now,    run: configuration::allow,      options: &[from("rule", ValueSource::Denied, w::OPTION_RULE)] },
    SlashCommand { name: "forbid",    aliases: &[],                 about: w::ABOUT_FORBID,       category: Configuration,  priority: 50,  reach: Everywhere, busy: Now,    run: configuration::forbid,     options: &[from("rule", ValueSource::Allowed, w::OPTION_RULE)] },
    SlashCommand { name: "permissions",aliases: &[],                 about: w::ABOUT_PERMISSIONS,  category: Configuration,  priority: 43,  reach: Everywhere, busy: Now,    run: info::permissions,         options: &[CommandOption { values: OptionValues::Named("N"), ..text("revoke", w::OPTION_REVOKE) }] },
    SlashCommand { name: "sethome",   aliases: &[],                 about: w::ABOUT_SETHOME,      category: Configuration,  priority: 30,  reach: GatewayOnly, busy: Refuse, run: configuration::set_home,   options: &[text("path", w::OPTION_HOME)] },
    SlashCommand { name: "trust",     aliases: &[],                 about: w::ABOUT_TRUST,        category: Configuration,  priority: 100, reach: LocalOnly,  busy: Wait,   run: configuration::trust,      options: &[] },
    SlashCommand { name: "add-dir",   aliases: &[],                 about: w::ABOUT_ADD_DIR,      category: Configuration,  priority: 100, reach: LocalOnly,  busy: Wait,   run: configuration::add_dir,    options: &[from("path", ValueSource::Folders, w::OPTION_FOLDER)] },

    SlashCommand { name: "file",      aliases: &[],                 about: w::ABOUT_FILE,         category: Tools,          priority: 36,  reach: GatewayOnly, busy: Wait,   run: configuration::send_file,  options: &[required(text("path", w::OPTION_SEND_FILE)), one_of("secrets", &["masked"], w::OPTION_SEND_MASKED)] },
    SlashCommand { name: "memory",    aliases: &[],                 about: w::ABOUT_MEMORY,       category: Configuration,  priority: 100, reach: LocalOnly,  busy: Now,    run: session::memory,           options: &[text("add", w::OPTION_MEMORY)] },
    SlashCommand { name: "config",    aliases: &["settings"],       about: w::ABOUT_CONFIG,       category: Configuration,  priority: 100, reach: LocalOnly,  busy: Now,    run: configuration::config,     options: &[text("key", w::OPTION_KEY), text("value", w::OPTION_VALUE)] },

    SlashCommand { name: "init",      aliases: &[],                 about: w::ABOUT_INIT,         category: Tools,          priority: 45,  reach: Everywhere, busy: Refuse, run: session::init,             options: &[] },
    SlashCommand { name: "diff",      aliases: &[],                 about: w::ABOUT_DIFF,         category: Tools,          priority: 31,  reach: Everywhere, busy: Now,    run: session::diff,             options: &[] },
    SlashCommand { name: "review",    aliases: &[],                 about: w::ABOUT_REVIEW,       category: Tools,          priority: 51,  reach: Everywhere, busy: Refuse, run: session::review,           options: &[text("range", w::OPTION_REVIEW)] },
    SlashCommand { name: "tools",     aliases: &[],                 about: w::ABOUT_TOOLS,        category: Tools,          priority: 42,  reach: Everywhere, busy: Now,    run: info::tools,               options: &[] },
    SlashCommand { name: "plugins",   aliases: &[],                 about: w::ABOUT_PLUGINS,      category: Tools,          priority: 44,  reach: Everywhere, busy: Now,    run: info::plugins,             options: &[] },
    SlashCommand { name: "mcp",       aliases: &[],                 about: mcp_pages::ABOUT_COMMAND, category: Tools,          priority: 100, reach: LocalOnly,  busy: Now,    run: info::mcp,                 options: &[text("action", mcp_pages::OPTION_ACTION), text("server", mcp_pages::OPTION_SERVER)] },
    SlashCommand { name: "hooks",     aliases: &[],                 about: hooks::ABOUT_COMMAND,    category: Tools,          priority: 100, reach: LocalOnly,  busy: Now,    run: info::hooks,               options: &[] },
    SlashCommand { name: "lsp",       aliases: &[],                 about: lsp::ABOUT_COMMAND,      category: Tools,          priority: 100, reach: LocalOnly,  busy: Now,    run: info::lsp,                 options: &[] },
    SlashCommand { name: "agents",    aliases: &[],                 about: agents::ABOUT_COMMAND,   category: Tools,          priority: 100, reach: Everywhere, busy: Now,    run: info::agents,              options: &[text("action", agents::OPTION_ACTION)] },
    SlashCommand { name: "worktrees", aliases: &[],                 about: worktrees::ABOUT_COMMAND, category: Tools,         priority: 100, reach: LocalOnly,  busy: Now,    run: info::worktrees,           options: &[one_of("action", &["list", "show", "merge", "remove"], worktrees::OPTION_ACTION), text("name", worktrees::OPTION_NAME)] },
    SlashCommand { name: "background",aliases: &["bg"],             about: w::ABOUT_BACKGROUND,   category: Tools,          priority: 32,  reach: LocalUnless("display.tool_progress_command"), busy: Now,    run: session::background,       options: &[one_of("action", &["list", "stop"], w::OPTION_BACKGROUND)] },
    SlashCommand { name: "jobs",      aliases: &[],                 about: w::ABOUT_JOBS,         category: Tools,          priority: 47,  reach: Everywhere, busy: Now,    run: session::jobs,             options: &[text("n", w::OPTION_JOBS), text("page", w::OPTION_PAGE)] },
    SlashCommand { name: "output",    aliases: &[],                 about: w::ABOUT_OUTPUT,       category: Tools,          priority: 48,  reach: Everywhere, busy: Now,    run: session::output,           options: &[required(text("n", w::OPTION_OUTPUT)), text("page", w::OPTION_PAGE)] },
    SlashCommand { name: "skills",    aliases: &[],                 about: w::ABOUT_SKILLS,       category: Tools,          priority: 40,  reach: Everywhere, busy: Now,    run: custom::skills,            options: &[] },
    SlashCommand { name: "run",       aliases: &[],                 about: w::ABOUT_RUN,          category: Tools,          priority: 100, reach: LocalOnly,  busy: Refuse, run: custom::script,            options: &[required(from("script", ValueSource::Scripts, w::OPTION_SCRIPT)), text("json", w::OPTION_JSON)] },
    SlashCommand { name: "commands",  aliases: &[],                 about: w::ABOUT_COMMANDS,     category: Tools,          priority: 41,  reach: Everywhere, busy: Now,    run: custom::commands,          options: &[] },

    SlashCommand { name: "help",      aliases: &[],                 about: w::ABOUT_HELP,         category: Info,           priority: 21,  reach: Everywhere, busy: Now,    run: info::help,                options: &[from("topic", ValueSource::Commands, w::OPTION_TOPIC)] },
    SlashCommand { name: "keys",      aliases: &[],                 about: common::ALL_KEYS,      category: Info,           priority: 100, reach: ScreenOnly, busy: Now,    run: info::keys,                options: &[] },
    SlashCommand { name: "status",    aliases: &[],                 about: w::ABOUT_STATUS,       category: Info,           priority: 12,  reach: Everywhere, busy: Now,    run: info::status,              options: &[] },
    SlashCommand { name: "context",   aliases: &[],                 about: w::ABOUT_CONTEXT,      category: Info,           priority: 25,  reach: Everywhere, busy: Now,    run: info::context,             options: &[] },
    SlashCommand { name: "usage",     aliases: &[],                 about: w::ABOUT_USAGE,        category: Info,           priority: 26,  reach: Everywhere, busy: Now,    run: info::usage,               options: &[] },
    SlashCommand { name: "doctor",    aliases: &[],                 about: w::ABOUT_DOCTOR,       category: Info,           priority: 100, reach: LocalOnly,  busy: Now,    run: info::doctor,              options: &[] },
    SlashCommand { name: "platforms", aliases: &[],                 about: w::ABOUT_PLATFORMS,    category: Info,           priority: 100, reach: LocalOnly,  busy: Now,    run: info::platforms,           options: &[] },
    SlashCommand { name: "whoami",    aliases: &[],                 about: w::ABOUT_WHOAMI,       category: Info,           priority: 60,  reach: GatewayOnly, busy: Now,    run: info::who_am_i,            options: &[] },
    SlashCommand { name: "version",   aliases: &[],                 about: w::ABOUT_VERSION,      category: Info,           priority: 70,  reach: Everywhere, busy: Now,    run: info::version,             options: &[] },

    SlashCommand { name: "exit",      aliases: &["quit", "q"],      about: common::QUIT,          category: Exit,           priority: 100, reach: LocalOnly,  busy: Now,    run: session::exit,             options: &[] },
];

/// Commands that run at once while a question is open: they stop, add steering, forbid, set which
/// later steps ask, or only show.
pub const OVER_A_QUESTION: &[&str] = &[
    "stop",
    "queue",
    "steer",
    "approve",
    "deny",
    "forbid",
    "help",
    "keys",
    "status",
    "context",
    "usage",
    "doctor",
    "version",
    "platforms",
    "whoami",
    "background",
    "jobs",
    "output",
    "diff",
    "permissions",
    "tools",
    "plugins",
    "mcp",
    "hooks",
    "lsp",
    "agents",
    "skills",
    "commands",
    "copy",
    "mode",
    "exit",
];
