//! A command's row in the table, what it may read, and what comes of it.

use crate::config::suggest;
use crate::i18n::{Lang, LocalizedText, Phrase};
use crate::protocol::{Extensions, Notice, Op, PageRow, SessionInfo};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct SlashCommand {
    /// Without the slash: at most 32 of `[a-z0-9-]`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub about: Phrase,
    pub category: Category,
    pub args: ArgsSpec,
    pub reach: Availability,
    pub busy: WhileBusy,
    /// Called with trimmed arguments that `args` has accepted.
    pub run: fn(&CommandContext<'_>, &str) -> CommandOutcome,
}

impl SlashCommand {
    /// The usage line: `/export [md|json|html] [file]`.
    pub fn usage(&self) -> String {
        match self.args.hint() {
            hint if hint.is_empty() => format!("/{}", self.name),
            hint => format!("/{} {hint}", self.name),
        }
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Session,
    Configuration,
    Tools,
    Info,
    Exit,
}

impl Category {
    /// In the order of the help page.
    pub const ALL: [Category; 5] = [
        Category::Session,
        Category::Configuration,
        Category::Tools,
        Category::Info,
        Category::Exit,
    ];

    pub fn name(self) -> Phrase {
        use crate::i18n::commands as w;
        match self {
            Category::Session => w::CATEGORY_SESSION,
            Category::Configuration => w::CATEGORY_CONFIGURATION,
            Category::Tools => w::CATEGORY_TOOLS,
            Category::Info => w::CATEGORY_INFO,
            Category::Exit => w::CATEGORY_EXIT,
        }
    }
}

/// The arguments of a command. The usage line shows exactly what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgsSpec {
    None,
    Optional(&'static str),
    /// Optional, and completed from a list that is known at typing time.
    OptionalOf(&'static str, ValueSource),
    Required(&'static str),
    /// Required, and completed from such a list.
    RequiredOf(&'static str, ValueSource),
    /// Required, completed from such a list; then any text or nothing.
    RequiredOfThen(&'static str, ValueSource, &'static str),
    /// Exactly one of these.
    Choice(&'static [&'static str]),
    /// One of these or none, then any text or nothing.
    ChoiceThen(&'static [&'static str], &'static str),
}

impl ArgsSpec {
    /// The form in the usage line; empty if the command takes no arguments.
    pub fn hint(self) -> String {
        match self {
            ArgsSpec::None => String::new(),
            ArgsSpec::Optional(what) | ArgsSpec::OptionalOf(what, _) => format!("[{what}]"),
            ArgsSpec::Required(what) | ArgsSpec::RequiredOf(what, _) => format!("<{what}>"),
            ArgsSpec::RequiredOfThen(what, _, then) => format!("<{what}> [{then}]"),
            ArgsSpec::Choice(choices) => choices.join("|"),
            ArgsSpec::ChoiceThen(choices, what) => format!("[{}] [{what}]", choices.join("|")),
        }
    }
}

/// The source of an argument's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    Commands,
    Models,
    /// Providers to log in to.
    Providers,
    Themes,
    Bots,
    Scripts,
    /// Rules that are remembered as allowed.
    Allowed,
    /// Rules that are remembered as denied.
    Denied,
    /// `on` and `off`.
    Switch,
    /// The folders at the path typed so far.
    Folders,
}

/// Who may use a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    Everywhere,
    /// Only where the program runs.
    LocalOnly,
    /// Only from a chat platform.
    GatewayOnly,
    /// As `LocalOnly`, until the setting of this path is true.
    LocalUnless(&'static str),
}

impl Availability {
    pub fn covers(self, surface: Surface<'_>) -> bool {
        match (self, surface) {
            (Availability::Everywhere, _)
            | (Availability::LocalOnly | Availability::LocalUnless(_), Surface::Local)
            | (Availability::GatewayOnly, Surface::Gateway { .. }) => true,
            (Availability::LocalOnly, Surface::Gateway { .. })
            | (Availability::GatewayOnly, Surface::Local) => false,
            (Availability::LocalUnless(setting), Surface::Gateway { open }) => {
                open.contains(&setting)
            }
        }
    }
}

/// The behaviour while a turn runs. A command is never queued as text among the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhileBusy {
    /// It runs at once.
    Now,
    /// The surface holds it and runs it after the turn.
    Wait,
    /// It is refused with a sentence.
    Refuse,
}

/// The place where a command was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface<'a> {
    Local,
    /// A chat platform; `open` lists the settings that are true for it.
    Gateway {
        open: &'a [&'a str],
    },
}

/// The data a command may read.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext<'a> {
    pub facts: &'a SessionInfo,
    /// The models the server offers; empty if it has not been asked yet.
    pub models: &'a [String],
    pub themes: &'a [String],
    /// The custom commands, skills and bots loaded so far.
    pub extensions: &'a Extensions,
    /// The folders at the path typed so far, in the form they are typed.
    pub folders: &'a [String],
    pub surface: Surface<'a>,
    /// True while a turn runs.
    pub busy: bool,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandOutcome {
    /// For the session.
    Send(Op),
    /// For the user.
    Say(Notice),
    /// For the user, as aligned lines.
    Page { title: LocalizedText, rows: Vec<PageRow> },
    /// For the surface.
    Do(UiAction),
    /// All of these, in order.
    Many(Vec<CommandOutcome>),
}

/// An action that only a surface can perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UiAction {
    Quit,
    /// Show help: all of it, or about a command or topic.
    Help(Option<String>),
    /// Show every key.
    Keys,
    /// Set a theme; without a name, offer a list.
    Theme(Option<String>),
    Lang(Lang),
    /// Turn vi's keys on or off; `None` toggles.
    Vim(Option<bool>),
    /// Show or hide times next to messages and steps; `None` toggles.
    Timestamps(Option<bool>),
    /// Copy an answer, counted from the last one, which is 1.
    Copy(usize),
    /// Print the conversation to the terminal's own scrollback.
    Dump,
    /// Search the visible conversation; without words, ask for them.
    Search(String),
    /// Offer a list of models.
    Models,
    /// Offer a list of saved sessions.
    Sessions,
    /// Offer a list of turns to go back to.
    Rewind,
    /// Offer a list of bots.
    Bots,
    /// Dispatch this line again after the turn.
    Later(String),
}

/// A refusal with names similar to the typed one, each prefixed with `lead`.
pub(super) fn refusal<'a>(
    lead: &str,
    say: Phrase,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<LocalizedText>,
) -> CommandOutcome {
    let near = suggest::nearest(name, known);
    let notice = Notice::error(say.with("name", shorten(name)));
    let near: Vec<String> = near.iter().map(|name| format!("`{lead}{name}`")).collect();
    CommandOutcome::Say(match near.is_empty() {
        true => notice.with_hint(otherwise),
        false => notice.with_hint(crate::i18n::common::NEAR.with("near", near.join(", "))),
    })
}

/// The user's input, cut to fit a sentence.
pub(super) fn shorten(text: &str) -> String {
    crate::text::cut(text, 40)
}
