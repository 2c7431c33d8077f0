//! The table of slash commands: one row for each command, and its only definition.

use super::ArgsSpec::{self, Choice, ChoiceThen, Optional, OptionalOf, Required, RequiredOfThen};
use super::Availability::{Everywhere, LocalOnly};
use super::Category::{Configuration, Exit, Info, Session, Tools};
use super::WhileBusy::{Now, Refuse, Wait};
use super::{SlashCommand, ValueSource, configuration, custom, info, session};
use crate::i18n::{commands as w, common};

#[rustfmt::skip]
pub const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "new",         aliases: &["reset", "clear"], about: w::ABOUT_NEW,         category: Session,       args: ArgsSpec::None,                              reach: Everywhere, busy: Refuse, run: session::new },
    SlashCommand { name: "stop",        aliases: &["interrupt"],      about: w::ABOUT_STOP,        category: Session,       args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: session::stop },
    SlashCommand { name: "queue",       aliases: &[],                 about: w::ABOUT_QUEUE,       category: Session,       args: Optional("message"),                     reach: Everywhere, busy: Now,    run: session::queue },
    SlashCommand { name: "steer",       aliases: &[],                 about: w::ABOUT_STEER,       category: Session,       args: Required("message"),                     reach: Everywhere, busy: Now,    run: session::steer },
    SlashCommand { name: "retry",       aliases: &[],                 about: w::ABOUT_RETRY,       category: Session,       args: ArgsSpec::None,                              reach: Everywhere, busy: Refuse, run: session::retry },
    SlashCommand { name: "rewind",      aliases: &[],                 about: w::ABOUT_REWIND,      category: Session,       args: Optional("n [chat|files|both]"),         reach: LocalOnly,  busy: Refuse, run: session::rewind },
    SlashCommand { name: "resume",      aliases: &[],                 about: w::ABOUT_RESUME,      category: Session,       args: Optional("id"),                          reach: LocalOnly,  busy: Refuse, run: session::resume },
    SlashCommand { name: "sessions",    aliases: &[],                 about: w::ABOUT_SESSIONS,    category: Session,       args: Optional("text"),                        reach: LocalOnly,  busy: Now,    run: session::sessions },
    SlashCommand { name: "fork",        aliases: &[],                 about: w::ABOUT_FORK,        category: Session,       args: Optional("name"),                        reach: LocalOnly,  busy: Refuse, run: session::fork },
    SlashCommand { name: "rename",      aliases: &[],                 about: w::ABOUT_RENAME,      category: Session,       args: Required("name"),                        reach: LocalOnly,  busy: Now,    run: session::rename },
    SlashCommand { name: "undo",        aliases: &[],                 about: w::ABOUT_UNDO,        category: Session,       args: Optional("n"),                           reach: Everywhere, busy: Refuse, run: session::undo },
    SlashCommand { name: "compress",    aliases: &["compact"],        about: w::ABOUT_COMPRESS,    category: Session,       args: Optional("focus"),                       reach: Everywhere, busy: Wait,   run: session::compress },
    SlashCommand { name: "recall",      aliases: &[],                 about: w::ABOUT_RECALL,      category: Session,       args: Required("id"),                          reach: Everywhere, busy: Wait,   run: session::recall },
    SlashCommand { name: "copy",        aliases: &[],                 about: w::ABOUT_COPY,        category: Session,       args: Optional("n"),                           reach: LocalOnly,  busy: Now,    run: session::copy },
    SlashCommand { name: "search",      aliases: &["find"],           about: common::SEARCH,      category: Session,       args: Optional("text"),                        reach: LocalOnly,  busy: Now,    run: session::search },
    SlashCommand { name: "raw",         aliases: &["dump"],           about: w::ABOUT_RAW,         category: Session,       args: ArgsSpec::None,                              reach: LocalOnly,  busy: Now,    run: session::raw },
    SlashCommand { name: "export",      aliases: &[],                 about: w::ABOUT_EXPORT,      category: Session,       args: ChoiceThen(&["md", "json", "html"], "file"), reach: LocalOnly, busy: Wait, run: session::export },

    SlashCommand { name: "model",       aliases: &[],                 about: w::ABOUT_MODEL,       category: Configuration, args: OptionalOf("name", ValueSource::Models),      reach: Everywhere, busy: Wait,   run: configuration::model },
    SlashCommand { name: "connect",     aliases: &["login"],          about: w::ABOUT_CONNECT,     category: Configuration, args: OptionalOf("provider", ValueSource::Providers), reach: Everywhere, busy: Now,  run: configuration::connect },
    SlashCommand { name: "bot",         aliases: &[],                 about: w::ABOUT_BOT,         category: Configuration, args: OptionalOf("name", ValueSource::Bots),              reach: Everywhere, busy: Wait,   run: custom::bot },
    SlashCommand { name: "mode",        aliases: &[],                 about: w::ABOUT_MODE,        category: Configuration, args: Choice(&["low", "high"]),                reach: Everywhere, busy: Wait,   run: configuration::mode },
    SlashCommand { name: "lang",        aliases: &[],                 about: w::ABOUT_LANG,        category: Configuration, args: Choice(&["en", "zh"]),                   reach: Everywhere, busy: Now,    run: configuration::lang },
    SlashCommand { name: "theme",       aliases: &[],                 about: w::ABOUT_THEME,       category: Configuration, args: OptionalOf("name", ValueSource::Themes),      reach: LocalOnly,  busy: Now,    run: configuration::theme },
    SlashCommand { name: "vim",         aliases: &[],                 about: w::ABOUT_VIM,         category: Configuration, args: OptionalOf("on|off", ValueSource::Switch),    reach: LocalOnly,  busy: Now,    run: configuration::vim },
    SlashCommand { name: "timestamps",  aliases: &["times"],          about: w::ABOUT_TIMESTAMPS,  category: Configuration, args: OptionalOf("on|off", ValueSource::Switch),    reach: LocalOnly,  busy: Now,    run: configuration::timestamps },
    SlashCommand { name: "allow",       aliases: &[],                 about: w::ABOUT_ALLOW,       category: Configuration, args: OptionalOf("rule", ValueSource::Denied),      reach: LocalOnly,  busy: Now,    run: configuration::allow },
    SlashCommand { name: "deny",        aliases: &[],                 about: w::ABOUT_DENY,        category: Configuration, args: OptionalOf("rule", ValueSource::Allowed),     reach: Everywhere, busy: Now,    run: configuration::deny },
    SlashCommand { name: "permissions", aliases: &[],                 about: w::ABOUT_PERMISSIONS, category: Configuration, args: Optional("revoke N"),                    reach: Everywhere, busy: Now,    run: info::permissions },
    SlashCommand { name: "trust",       aliases: &[],                 about: w::ABOUT_TRUST,       category: Configuration, args: ArgsSpec::None,                              reach: LocalOnly,  busy: Wait,   run: configuration::trust },
    SlashCommand { name: "add-dir",     aliases: &[],                 about: w::ABOUT_ADD_DIR,     category: Configuration, args: OptionalOf("path", ValueSource::Folders),     reach: LocalOnly,  busy: Wait,   run: configuration::add_dir },

    SlashCommand { name: "init",        aliases: &[],                 about: w::ABOUT_INIT,        category: Tools,         args: ArgsSpec::None,                              reach: Everywhere, busy: Refuse, run: session::init },
    SlashCommand { name: "diff",        aliases: &[],                 about: w::ABOUT_DIFF,        category: Tools,         args: ArgsSpec::None,                              reach: Everywhere, busy: Wait,   run: session::diff },
    SlashCommand { name: "tools",       aliases: &[],                 about: w::ABOUT_TOOLS,       category: Tools,         args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::tools },
    SlashCommand { name: "plugins",     aliases: &[],                 about: w::ABOUT_PLUGINS,     category: Tools,         args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::plugins },
    SlashCommand { name: "skills",      aliases: &[],                 about: w::ABOUT_SKILLS,      category: Tools,         args: ArgsSpec::None,                                    reach: Everywhere, busy: Now,    run: custom::skills },
    SlashCommand { name: "run",         aliases: &[],                 about: w::ABOUT_RUN,         category: Tools,         args: RequiredOfThen("script", ValueSource::Scripts, "json"), reach: LocalOnly, busy: Refuse, run: custom::script },
    SlashCommand { name: "commands",    aliases: &[],                 about: w::ABOUT_COMMANDS,    category: Tools,         args: ArgsSpec::None,                                    reach: Everywhere, busy: Now,    run: custom::commands },

    SlashCommand { name: "help",        aliases: &[],                 about: w::ABOUT_HELP,        category: Info,          args: OptionalOf("topic", ValueSource::Commands),   reach: Everywhere, busy: Now,    run: info::help },
    SlashCommand { name: "keys",        aliases: &[],                 about: common::ALL_KEYS,        category: Info,          args: ArgsSpec::None,                              reach: LocalOnly,  busy: Now,    run: info::keys },
    SlashCommand { name: "status",      aliases: &[],                 about: w::ABOUT_STATUS,      category: Info,          args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::status },
    SlashCommand { name: "context",     aliases: &[],                 about: w::ABOUT_CONTEXT,     category: Info,          args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::context },
    SlashCommand { name: "usage",       aliases: &[],                 about: w::ABOUT_USAGE,       category: Info,          args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::usage },
    SlashCommand { name: "doctor",      aliases: &[],                 about: w::ABOUT_DOCTOR,      category: Info,          args: ArgsSpec::None,                              reach: LocalOnly,  busy: Now,    run: info::doctor },
    SlashCommand { name: "version",     aliases: &[],                 about: w::ABOUT_VERSION,     category: Info,          args: ArgsSpec::None,                              reach: Everywhere, busy: Now,    run: info::version },

    SlashCommand { name: "exit",        aliases: &["quit", "q"],      about: common::QUIT,        category: Exit,          args: ArgsSpec::None,                              reach: LocalOnly,  busy: Now,    run: session::exit },
];

/// Commands that run at once while a question is open: they stop, add steering, forbid, or only
/// show.
pub const OVER_A_QUESTION: &[&str] = &[
    "stop",
    "queue",
    "steer",
    "deny",
    "help",
    "keys",
    "status",
    "context",
    "usage",
    "doctor",
    "version",
    "permissions",
    "tools",
    "plugins",
    "skills",
    "commands",
    "copy",
    "exit",
];
