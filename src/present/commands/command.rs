//! A command's row in the table, what it may read, and what comes of it.

use avocet_config::suggest;
use avocet_core::i18n::{Lang, LocalizedText, Phrase, commands as w};
use avocet_core::protocol::{
    ArgumentValues, Availability, Category, Extensions, Notice, Op, PageRow, SessionInfo, Surface,
    WhileBusy,
};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct SlashCommand {
    /// Without the slash: at most 32 of `[a-z0-9-]`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub about: Phrase,
    pub category: Category,
    pub options: &'static [CommandOption],
    pub reach: Availability,
    pub busy: WhileBusy,
    /// The place in a menu that has not room for all: the least comes first.
    pub priority: u8,
    /// Called with trimmed arguments that `options` have accepted.
    pub run: fn(&CommandContext<'_>, &str) -> CommandOutcome,
}

impl SlashCommand {
    /// The usage line: `/export [md|json|html] [file]`.
    pub fn usage(&self) -> String {
        match self.hint() {
            hint if hint.is_empty() => format!("/{}", self.name),
            hint => format!("/{} {hint}", self.name),
        }
    }

    /// The arguments in the usage line; empty if there are none.
    pub fn hint(&self) -> String {
        self.options.iter().map(CommandOption::hint).collect::<Vec<_>>().join(" ")
    }

    /// Whether it does nothing without an argument.
    pub fn needs_argument(&self) -> bool {
        self.options.first().is_some_and(|option| option.is_required)
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// An argument of a command. The usage line shows exactly what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// As platforms with named options show it: at most 32 of `[a-z]`.
    pub name: &'static str,
    pub about: Phrase,
    pub is_required: bool,
    pub values: OptionValues,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValues {
    Text,
    /// A text after the name of the option itself: `revoke N`.
    Named(&'static str),
    OneOf(&'static [&'static str]),
    /// Any text, completed from a list that is known at typing time.
    From(ValueSource),
}

impl CommandOption {
    /// The form in the usage line.
    fn hint(&self) -> String {
        let shown = match self.values {
            OptionValues::Text | OptionValues::From(_) => self.name.to_owned(),
            OptionValues::Named(what) => format!("{} {what}", self.name),
            OptionValues::OneOf(choices) => choices.join("|"),
        };
        match (self.is_required, self.values) {
            (true, OptionValues::OneOf(_)) => shown,
            (true, _) => format!("<{shown}>"),
            (false, _) => format!("[{shown}]"),
        }
    }
}

/// The source of an argument's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    Commands,
    Models,
    /// Levels of reasoning.
    Efforts,
    /// Providers to log in to.
    Providers,
    Themes,
    Bots,
    Scripts,
    /// Rules that are remembered as allowed.
    Allowed,
    /// Rules that are remembered as denied.
    Denied,
    /// The folders at the path typed so far.
    Folders,
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
    /// The values of the argument of an MCP server's prompt that was typed last.
    pub argument_values: Option<&'a ArgumentValues>,
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

impl CommandOutcome {
    /// The line runs when the turn has ended.
    pub(super) fn after_the_turn(name: &str, line: String) -> CommandOutcome {
        CommandOutcome::Many(vec![
            CommandOutcome::Say(Notice::info(w::WAITS.with("name", name))),
            CommandOutcome::Do(UiAction::Later(line)),
        ])
    }
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
    /// Connect to a provider; without a name, offer a list.
    Connect(Option<String>),
    /// Offer the settings to be edited, those about these words first.
    Settings(String),
    /// Offer a list of models.
    Models,
    /// Offer the levels of reasoning.
    Efforts,
    /// Offer a list of saved sessions.
    Sessions,
    /// Offer a list of turns to go back to.
    Rewind,
    /// Offer a list of bots.
    Bots,
    /// Dispatch this line again after the turn.
    Later(String),
    /// In a chat only.
    Chat(ChatAction),
}

/// An action that only a chat platform can perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatAction {
    /// Approve the open question.
    Approve(ApprovalSpan),
    /// Reject it; the text is for the model.
    Reject(Option<String>),
    /// Show who the sender is to the program.
    WhoAmI,
    /// Set the working folder of this chat; without a path, show it.
    SetHome(Option<String>),
    /// Send this file of the working folder to the chat.
    SendFile { path: String, masked: bool },
}

/// How long an approval holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalSpan {
    Once,
    Session,
    Project,
}

impl ApprovalSpan {
    /// As they are typed; the first is the default.
    pub const NAMES: &'static [&'static str] = &["once", "session", "project"];

    pub fn parse(name: &str) -> Option<ApprovalSpan> {
        match name.to_lowercase().as_str() {
            "" | "once" => Some(ApprovalSpan::Once),
            "session" => Some(ApprovalSpan::Session),
            "project" => Some(ApprovalSpan::Project),
            _ => None,
        }
    }
}

/// A refusal with names similar to the typed one, each prefixed with `lead`.
pub(super) fn refusal<'a>(
    lead: &str,
    phrase: Phrase,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<LocalizedText>,
) -> CommandOutcome {
    let known: Vec<&str> = known.into_iter().collect();
    let mut near = suggest::nearest(name, known.iter().copied());
    if near.is_empty() {
        // The palette found it by its letters, so it is what the user saw.
        near = suggest::abbreviated(name, known);
    }
    let notice = Notice::error(phrase.with("name", shorten(name)));
    let near: Vec<String> = near.iter().map(|name| format!("`{lead}{name}`")).collect();
    CommandOutcome::Say(if near.is_empty() {
        notice.with_hint(otherwise)
    } else {
        notice.with_hint(avocet_core::i18n::common::NEAR.with("near", near.join(", ")))
    })
}

/// The user's input, cut to fit a sentence.
pub(super) fn shorten(text: &str) -> String {
    avocet_core::text::cut(text, 40)
}
