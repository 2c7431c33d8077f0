//! The table of slash commands: one row for each command, and its only definition.

use super::Args::{self, Choice, ChoiceThen, Optional, OptionalOf, Required, RequiredOfThen};
use super::Busy::{Now, Refuse, Wait};
use super::Category::{Configuration, Exit, Info, Session, Tools};
use super::Reach::{Everywhere, LocalOnly};
use super::{Command, Source, configuration, info, kept, session};
use crate::words::commands as w;

#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    Command { name: "new",         aliases: &["reset", "clear"], about: w::ABOUT_NEW,         category: Session,       args: Args::None,                              reach: Everywhere, busy: Refuse, run: session::new },
    Command { name: "stop",        aliases: &["interrupt"],      about: w::ABOUT_STOP,        category: Session,       args: Args::None,                              reach: Everywhere, busy: Now,    run: session::stop },
    Command { name: "queue",       aliases: &[],                 about: w::ABOUT_QUEUE,       category: Session,       args: Optional("message"),                     reach: Everywhere, busy: Now,    run: session::queue },
    Command { name: "steer",       aliases: &[],                 about: w::ABOUT_STEER,       category: Session,       args: Required("message"),                     reach: Everywhere, busy: Now,    run: session::steer },
    Command { name: "retry",       aliases: &[],                 about: w::ABOUT_RETRY,       category: Session,       args: Args::None,                              reach: Everywhere, busy: Refuse, run: session::retry },
    Command { name: "rewind",      aliases: &[],                 about: w::ABOUT_REWIND,      category: Session,       args: Optional("n [chat|files|both]"),         reach: LocalOnly,  busy: Refuse, run: session::rewind },
    Command { name: "resume",      aliases: &[],                 about: w::ABOUT_RESUME,      category: Session,       args: Optional("id"),                          reach: LocalOnly,  busy: Refuse, run: session::resume },
    Command { name: "sessions",    aliases: &[],                 about: w::ABOUT_SESSIONS,    category: Session,       args: Optional("text"),                        reach: LocalOnly,  busy: Now,    run: session::sessions },
    Command { name: "fork",        aliases: &[],                 about: w::ABOUT_FORK,        category: Session,       args: Optional("name"),                        reach: LocalOnly,  busy: Refuse, run: session::fork },
    Command { name: "rename",      aliases: &[],                 about: w::ABOUT_RENAME,      category: Session,       args: Required("name"),                        reach: LocalOnly,  busy: Now,    run: session::rename },
    Command { name: "undo",        aliases: &[],                 about: w::ABOUT_UNDO,        category: Session,       args: Optional("n"),                           reach: Everywhere, busy: Refuse, run: session::undo },
    Command { name: "compress",    aliases: &["compact"],        about: w::ABOUT_COMPRESS,    category: Session,       args: Optional("focus"),                       reach: Everywhere, busy: Wait,   run: session::compress },
    Command { name: "recall",      aliases: &[],                 about: w::ABOUT_RECALL,      category: Session,       args: Required("id"),                          reach: Everywhere, busy: Wait,   run: session::recall },
    Command { name: "copy",        aliases: &[],                 about: w::ABOUT_COPY,        category: Session,       args: Optional("n"),                           reach: LocalOnly,  busy: Now,    run: session::copy },
    Command { name: "search",      aliases: &["find"],           about: w::ABOUT_SEARCH,      category: Session,       args: Optional("text"),                        reach: LocalOnly,  busy: Now,    run: session::search },
    Command { name: "raw",         aliases: &["dump"],           about: w::ABOUT_RAW,         category: Session,       args: Args::None,                              reach: LocalOnly,  busy: Now,    run: session::raw },
    Command { name: "export",      aliases: &[],                 about: w::ABOUT_EXPORT,      category: Session,       args: ChoiceThen(&["md", "json", "html"], "file"), reach: LocalOnly, busy: Wait, run: session::export },

    Command { name: "model",       aliases: &[],                 about: w::ABOUT_MODEL,       category: Configuration, args: OptionalOf("name", Source::Models),      reach: Everywhere, busy: Wait,   run: configuration::model },
    Command { name: "bot",         aliases: &[],                 about: w::ABOUT_BOT,         category: Configuration, args: OptionalOf("name", Source::Bots),              reach: Everywhere, busy: Wait,   run: kept::bot },
    Command { name: "mode",        aliases: &[],                 about: w::ABOUT_MODE,        category: Configuration, args: Choice(&["low", "high"]),                reach: Everywhere, busy: Wait,   run: configuration::mode },
    Command { name: "lang",        aliases: &[],                 about: w::ABOUT_LANG,        category: Configuration, args: Choice(&["en", "zh"]),                   reach: Everywhere, busy: Now,    run: configuration::lang },
    Command { name: "theme",       aliases: &[],                 about: w::ABOUT_THEME,       category: Configuration, args: OptionalOf("name", Source::Themes),      reach: LocalOnly,  busy: Now,    run: configuration::theme },
    Command { name: "vim",         aliases: &[],                 about: w::ABOUT_VIM,         category: Configuration, args: OptionalOf("on|off", Source::Switch),    reach: LocalOnly,  busy: Now,    run: configuration::vim },
    Command { name: "timestamps",  aliases: &["times"],          about: w::ABOUT_TIMESTAMPS,  category: Configuration, args: OptionalOf("on|off", Source::Switch),    reach: LocalOnly,  busy: Now,    run: configuration::timestamps },
    Command { name: "allow",       aliases: &[],                 about: w::ABOUT_ALLOW,       category: Configuration, args: OptionalOf("rule", Source::Denied),      reach: LocalOnly,  busy: Now,    run: configuration::allow },
    Command { name: "deny",        aliases: &[],                 about: w::ABOUT_DENY,        category: Configuration, args: OptionalOf("rule", Source::Allowed),     reach: Everywhere, busy: Now,    run: configuration::deny },
    Command { name: "permissions", aliases: &[],                 about: w::ABOUT_PERMISSIONS, category: Configuration, args: Optional("revoke N"),                    reach: Everywhere, busy: Now,    run: info::permissions },
    Command { name: "trust",       aliases: &[],                 about: w::ABOUT_TRUST,       category: Configuration, args: Args::None,                              reach: LocalOnly,  busy: Wait,   run: configuration::trust },
    Command { name: "add-dir",     aliases: &[],                 about: w::ABOUT_ADD_DIR,     category: Configuration, args: OptionalOf("path", Source::Folders),     reach: LocalOnly,  busy: Wait,   run: configuration::add_dir },

    Command { name: "init",        aliases: &[],                 about: w::ABOUT_INIT,        category: Tools,         args: Args::None,                              reach: Everywhere, busy: Refuse, run: session::init },
    Command { name: "diff",        aliases: &[],                 about: w::ABOUT_DIFF,        category: Tools,         args: Args::None,                              reach: Everywhere, busy: Wait,   run: session::diff },
    Command { name: "tools",       aliases: &[],                 about: w::ABOUT_TOOLS,       category: Tools,         args: Args::None,                              reach: Everywhere, busy: Now,    run: info::tools },
    Command { name: "plugins",     aliases: &[],                 about: w::ABOUT_PLUGINS,     category: Tools,         args: Args::None,                              reach: Everywhere, busy: Now,    run: info::plugins },
    Command { name: "skills",      aliases: &[],                 about: w::ABOUT_SKILLS,      category: Tools,         args: Args::None,                                    reach: Everywhere, busy: Now,    run: kept::skills },
    Command { name: "run",         aliases: &[],                 about: w::ABOUT_RUN,         category: Tools,         args: RequiredOfThen("script", Source::Scripts, "json"), reach: LocalOnly, busy: Refuse, run: kept::script },
    Command { name: "commands",    aliases: &[],                 about: w::ABOUT_COMMANDS,    category: Tools,         args: Args::None,                                    reach: Everywhere, busy: Now,    run: kept::commands },

    Command { name: "help",        aliases: &[],                 about: w::ABOUT_HELP,        category: Info,          args: OptionalOf("topic", Source::Commands),   reach: Everywhere, busy: Now,    run: info::help },
    Command { name: "keys",        aliases: &[],                 about: w::ABOUT_KEYS,        category: Info,          args: Args::None,                              reach: LocalOnly,  busy: Now,    run: info::keys },
    Command { name: "status",      aliases: &[],                 about: w::ABOUT_STATUS,      category: Info,          args: Args::None,                              reach: Everywhere, busy: Now,    run: info::status },
    Command { name: "context",     aliases: &[],                 about: w::ABOUT_CONTEXT,     category: Info,          args: Args::None,                              reach: Everywhere, busy: Now,    run: info::context },
    Command { name: "usage",       aliases: &[],                 about: w::ABOUT_USAGE,       category: Info,          args: Args::None,                              reach: Everywhere, busy: Now,    run: info::usage },
    Command { name: "doctor",      aliases: &[],                 about: w::ABOUT_DOCTOR,      category: Info,          args: Args::None,                              reach: LocalOnly,  busy: Now,    run: info::doctor },
    Command { name: "version",     aliases: &[],                 about: w::ABOUT_VERSION,     category: Info,          args: Args::None,                              reach: Everywhere, busy: Now,    run: info::version },

    Command { name: "exit",        aliases: &["quit", "q"],      about: w::ABOUT_EXIT,        category: Exit,          args: Args::None,                              reach: LocalOnly,  busy: Now,    run: session::exit },
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
