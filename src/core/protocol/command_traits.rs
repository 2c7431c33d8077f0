//! What a command carries besides its name, whether it is built in or the user's own.

use serde::{Deserialize, Serialize};

use crate::i18n::{Phrase, commands as phrases};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    Session,
    Configuration,
    #[default]
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
    /// As files spell them, in the same order.
    pub const CODES: &'static [&'static str] =
        &["session", "configuration", "tools", "info", "exit"];

    pub fn from_code(code: &str) -> Option<Category> {
        let at = Category::CODES.iter().position(|known| *known == code)?;
        Category::ALL.get(at).copied()
    }

    pub fn name(self) -> Phrase {
        match self {
            Category::Session => phrases::CATEGORY_SESSION,
            Category::Configuration => phrases::CATEGORY_CONFIGURATION,
            Category::Tools => phrases::CATEGORY_TOOLS,
            Category::Info => phrases::CATEGORY_INFO,
            Category::Exit => phrases::CATEGORY_EXIT,
        }
    }
}

/// Who may use a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability<Setting = &'static str> {
    #[default]
    Everywhere,
    /// Only where the program runs.
    LocalOnly,
    /// Only on the full screen.
    ScreenOnly,
    /// Only from a chat platform.
    GatewayOnly,
    /// As `LocalOnly`, until the setting of this path is true.
    LocalUnless(Setting),
}

impl<Setting: AsRef<str>> Availability<Setting> {
    pub fn covers(&self, surface: Surface<'_>) -> bool {
        match (self, surface) {
            (Availability::Everywhere, _)
            | (Availability::ScreenOnly, Surface::Local)
            | (
                Availability::LocalOnly | Availability::LocalUnless(_),
                Surface::Local | Surface::Plain,
            )
            | (Availability::GatewayOnly, Surface::Gateway { .. }) => true,
            (Availability::LocalOnly, Surface::Gateway { .. })
            | (Availability::ScreenOnly, Surface::Plain | Surface::Gateway { .. })
            | (Availability::GatewayOnly, Surface::Local | Surface::Plain) => false,
            (Availability::LocalUnless(setting), Surface::Gateway { open }) => {
                open.contains(&setting.as_ref())
            }
        }
    }

    pub fn to_owned_setting(&self) -> Availability<String> {
        match self {
            Availability::Everywhere => Availability::Everywhere,
            Availability::LocalOnly => Availability::LocalOnly,
            Availability::ScreenOnly => Availability::ScreenOnly,
            Availability::GatewayOnly => Availability::GatewayOnly,
            Availability::LocalUnless(setting) => {
                Availability::LocalUnless(setting.as_ref().to_owned())
            }
        }
    }
}

/// The place where a command was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface<'a> {
    /// The full screen.
    Local,
    /// A conversation as plain lines, where the program runs.
    Plain,
    /// A chat platform; `open` lists the settings that are true for it.
    Gateway { open: &'a [&'a str] },
}

impl Surface<'_> {
    /// Whether it is where the program runs.
    pub fn is_local(self) -> bool {
        matches!(self, Surface::Local | Surface::Plain)
    }
}

/// The behaviour while a turn runs. A command is never queued as text among the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhileBusy {
    /// It runs at once; the message that a command of the user makes waits for its turn.
    #[default]
    Now,
    /// The surface holds it and runs it after the turn.
    Wait,
    /// It is refused with a sentence.
    Refuse,
}

/// What the file of a command or skill says besides its name and description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandTraits {
    pub aliases: Vec<String>,
    pub category: Category,
    pub reach: Availability<String>,
    pub busy: WhileBusy,
    /// The place in a menu that has not room for all: the least comes first.
    pub priority: u8,
    pub arguments: Vec<CommandArgument>,
}

/// The place of a command that says nothing of its own.
pub const USUAL_PRIORITY: u8 = 100;

impl CommandTraits {
    /// True if the file says nothing of them.
    pub fn is_usual(&self) -> bool {
        *self == CommandTraits::default()
    }
}

impl Default for CommandTraits {
    fn default() -> CommandTraits {
        CommandTraits {
            aliases: Vec::new(),
            category: Category::default(),
            reach: Availability::default(),
            busy: WhileBusy::default(),
            priority: USUAL_PRIORITY,
            arguments: Vec::new(),
        }
    }
}

/// An argument of a command, as its usage line shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandArgument {
    pub name: String,
    pub about: String,
    pub is_required: bool,
    /// Empty: any text.
    pub choices: Vec<String>,
}
