//! Slash commands: what a person can say to the program instead of to the model.
//!
//! One table ([`table::COMMANDS`]) holds a row a command, its function with it.
//! Dispatch, checking of arguments, completion, help and the README's table are derived
//! from the rows; commands and skills that people keep stand beside them as data
//! ([`Catalogue`]). A command answers with an [`Outcome`], which is data: it knows no
//! surface and never calls the session. The model cannot see or call any of this.

use crate::config::near;
pub use crate::protocol::Row;
use crate::protocol::{Catalogue, Facts, Notice, Op};
use crate::words::{Lang, Say, Word};

mod complete;
mod configuration;
mod dispatch;
mod help;
mod info;
mod kept;
mod session;
pub mod table;
#[cfg(test)]
mod tests;

pub use complete::{Candidate, complete, typed_folder};
pub use dispatch::{dispatch, dispatch_over_question, find};
pub use help::{by_category, page as help_page, readme_table};
pub use kept::{NO_BOT, bots_page, run_op, sections as kept_sections, untold};

/// Every name and alias of the table.
pub fn built_in_names() -> Vec<&'static str> {
    table::COMMANDS.iter().flat_map(Command::names).collect()
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Without the slash: at most 32 of `[a-z0-9-]`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub about: Word,
    pub category: Category,
    pub args: Args,
    pub reach: Reach,
    pub busy: Busy,
    /// Called with arguments that `args` has let through, trimmed.
    pub run: fn(&Call<'_>, &str) -> Outcome,
}

impl Command {
    /// How it is typed: `/export [md|json|html] [file]`.
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
    /// In the order help shows them.
    pub const ALL: [Category; 5] = [
        Category::Session,
        Category::Configuration,
        Category::Tools,
        Category::Info,
        Category::Exit,
    ];

    pub fn name(self) -> Word {
        use crate::words::commands as w;
        match self {
            Category::Session => w::CATEGORY_SESSION,
            Category::Configuration => w::CATEGORY_CONFIGURATION,
            Category::Tools => w::CATEGORY_TOOLS,
            Category::Info => w::CATEGORY_INFO,
            Category::Exit => w::CATEGORY_EXIT,
        }
    }
}

/// What may follow the name. What the usage line shows is what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Args {
    None,
    Optional(&'static str),
    /// Optional, and completed from a list that is known when it is typed.
    OptionalOf(&'static str, Source),
    Required(&'static str),
    /// Required, and completed from such a list.
    RequiredOf(&'static str, Source),
    /// Required, completed from such a list; then anything or nothing.
    RequiredOfThen(&'static str, Source, &'static str),
    /// Exactly one of these.
    Choice(&'static [&'static str]),
    /// One of these or none, then anything or nothing.
    ChoiceThen(&'static [&'static str], &'static str),
}

impl Args {
    /// As the usage line shows it; empty when nothing may follow.
    pub fn hint(self) -> String {
        match self {
            Args::None => String::new(),
            Args::Optional(what) | Args::OptionalOf(what, _) => format!("[{what}]"),
            Args::Required(what) | Args::RequiredOf(what, _) => format!("<{what}>"),
            Args::RequiredOfThen(what, _, then) => format!("<{what}> [{then}]"),
            Args::Choice(choices) => choices.join("|"),
            Args::ChoiceThen(choices, what) => format!("[{}] [{what}]", choices.join("|")),
        }
    }
}

/// Where the values of an argument come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Commands,
    Models,
    Themes,
    Bots,
    Scripts,
    /// Rules that are remembered as allowed.
    Allowed,
    /// Rules that are remembered as denied.
    Denied,
    /// `on` and `off`.
    Switch,
    /// The folders where the typed path has come to.
    Folders,
}

/// Who can reach a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Everywhere,
    /// Only where the program runs.
    LocalOnly,
    /// Only from a chat platform.
    GatewayOnly,
    /// As `LocalOnly`, until the setting of this path is true.
    LocalUnless(&'static str),
}

impl Reach {
    pub fn covers(self, surface: Surface<'_>) -> bool {
        match (self, surface) {
            (Reach::Everywhere, _)
            | (Reach::LocalOnly | Reach::LocalUnless(_), Surface::Local)
            | (Reach::GatewayOnly, Surface::Gateway { .. }) => true,
            (Reach::LocalOnly, Surface::Gateway { .. }) | (Reach::GatewayOnly, Surface::Local) => {
                false
            }
            (Reach::LocalUnless(setting), Surface::Gateway { open }) => open.contains(&setting),
        }
    }
}

/// What happens while a turn runs. A command never waits as text among the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// It runs at once.
    Now,
    /// The surface keeps it and runs it when the turn is over.
    Wait,
    /// It is refused with a sentence.
    Refuse,
}

/// Where a command was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface<'a> {
    Local,
    /// A chat platform; `open` lists the settings that are true there.
    Gateway {
        open: &'a [&'a str],
    },
}

/// What a command may look at.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub facts: &'a Facts,
    /// The models the server offers; empty when nobody asked it yet.
    pub models: &'a [String],
    pub themes: &'a [String],
    /// Commands, skills and bots that people keep, as far as they were read.
    pub kept: &'a Catalogue,
    /// The folders where a typed path has come to, as they would be typed.
    pub folders: &'a [String],
    pub surface: Surface<'a>,
    /// True while a turn runs.
    pub busy: bool,
}

/// What comes of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// For the session.
    Send(Op),
    /// For the person.
    Say(Notice),
    /// For the person, as aligned lines.
    Page { title: Say, rows: Vec<Row> },
    /// For the surface.
    Do(Act),
    /// All of these, in order.
    Many(Vec<Outcome>),
}

/// What only a surface can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Quit,
    /// Show help: all of it, or about a command or topic.
    Help(Option<String>),
    /// Show every key.
    Keys,
    /// Put on a theme; without a name, offer them.
    Theme(Option<String>),
    Lang(Lang),
    /// Turn vi's keys on or off; `None`: the other way round.
    Vim(Option<bool>),
    /// Show times beside what was said and done, or hide them; `None`: the other way
    /// round.
    Timestamps(Option<bool>),
    /// Copy an answer, counted from the last one, which is 1.
    Copy(usize),
    /// Print the conversation where the terminal itself scrolls.
    Dump,
    /// Search what is shown; without words, ask for them.
    Search(String),
    /// Offer the models.
    Models,
    /// Offer the saved sessions.
    Sessions,
    /// Offer the turns to go back to.
    Rewind,
    /// Offer the bots.
    Bots,
    /// Dispatch this line again when the turn is over.
    Later(String),
}

/// A refusal with the names that are nearly the one that was typed, as they are typed
/// behind `lead`.
fn refusal<'a>(
    lead: &str,
    say: Word,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<Say>,
) -> Outcome {
    let near = near::nearest(name, known);
    let notice = Notice::error(say.with("name", short(name)));
    let near: Vec<String> = near.iter().map(|name| format!("`{lead}{name}`")).collect();
    Outcome::Say(match near.is_empty() {
        true => notice.hint(otherwise),
        false => notice.hint(crate::words::commands::NEAR.with("near", near.join(", "))),
    })
}

/// What a person typed, cut for a sentence.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
