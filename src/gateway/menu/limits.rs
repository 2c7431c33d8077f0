//! What each platform takes of a menu of commands, in one table.

/// The limits of one platform. `None`: not limited, or not part of its menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuLimits {
    /// Commands of a menu.
    pub commands: usize,
    /// Characters of a name, without its slash.
    pub name: usize,
    /// Characters of a description, counted as UTF-16 does where the platform may.
    pub description: usize,
    /// Characters of a usage hint.
    pub usage: Option<usize>,
    /// Bytes of the whole menu as JSON. Not documented by Telegram: 4,021 were accepted and 5,021
    /// refused.
    pub total_bytes: Option<usize>,
    /// Options of a command, and choices of an option.
    pub options: Option<usize>,
    pub choices: Option<usize>,
    /// Characters of all names, descriptions and values of a command.
    pub command_text: Option<usize>,
    /// Names that the platform keeps for itself.
    pub reserved: &'static [&'static str],
    /// One command takes all others as its argument.
    pub has_umbrella: bool,
}

pub const TELEGRAM: MenuLimits = MenuLimits {
    commands: 100,
    name: 32,
    description: 256,
    usage: None,
    total_bytes: Some(4_000),
    options: None,
    choices: None,
    command_text: None,
    reserved: &["start"],
    has_umbrella: false,
};

pub const SLACK: MenuLimits = MenuLimits {
    commands: 50,
    // Slack counts the slash: 32 with it.
    name: 31,
    description: 140,
    usage: Some(100),
    total_bytes: None,
    options: None,
    choices: None,
    command_text: None,
    reserved: &[
        "me",
        "status",
        "away",
        "dnd",
        "shrug",
        "remind",
        "msg",
        "feed",
        "who",
        "collapse",
        "expand",
        "leave",
        "join",
        "open",
        "search",
        "topic",
        "mute",
        "pro",
        "shortcuts",
    ],
    has_umbrella: true,
};

pub const DISCORD: MenuLimits = MenuLimits {
    commands: 100,
    name: 32,
    description: 100,
    usage: None,
    total_bytes: None,
    options: Some(25),
    choices: Some(25),
    command_text: Some(4_000),
    reserved: &[],
    has_umbrella: true,
};

/// Has no menu: commands are typed.
pub const FEISHU: MenuLimits =
    MenuLimits { options: None, choices: None, command_text: None, has_umbrella: false, ..DISCORD };
