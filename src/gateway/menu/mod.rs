//! The menus of commands that chat platforms show, made of the registry. Pure: rows in, the menu and
//! what was left out of it out.
//!
//! A command that a menu has no room for can still be typed; what is left out is reported exactly.

pub mod discord;
pub mod limits;
pub mod slack;
pub mod telegram;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::platform::ChosenOption;
use crate::commands::{CommandRow, Surface};
use crate::i18n::{Localize, LocalizedText, gateway as words};
use crate::protocol::{Availability, ChatPlatform};
use limits::MenuLimits;

/// A command that is not in a menu, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// As in the registry.
    pub name: String,
    pub reason: LeftOutReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It works only in the terminal.
    TerminalOnly,
    /// The setting that opens it to chats is not true.
    SettingClosed(String),
    /// A tap would send it without the argument it needs.
    NeedsArgument,
    /// The platform keeps the name for itself.
    Reserved,
    /// Nothing of the name is left in the letters of the platform.
    NoName,
    /// The name of an alias is longer than this.
    TooLong(usize),
    /// Another command has the name that the platform would show.
    NameTaken(String),
    /// There are so many commands before it.
    NoPlace(usize),
    /// The menu would have more bytes than this.
    NoRoom(usize),
}

impl LeftOutReason {
    /// The spelling in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            LeftOutReason::TerminalOnly => "terminal_only",
            LeftOutReason::SettingClosed(_) => "setting_closed",
            LeftOutReason::NeedsArgument => "needs_argument",
            LeftOutReason::Reserved => "reserved",
            LeftOutReason::NoName => "no_name",
            LeftOutReason::TooLong(_) => "too_long",
            LeftOutReason::NameTaken(_) => "name_taken",
            LeftOutReason::NoPlace(_) => "no_place",
            LeftOutReason::NoRoom(_) => "no_room",
        }
    }
}

impl Localize for LeftOutReason {
    fn localized(&self) -> LocalizedText {
        match self {
            LeftOutReason::TerminalOnly => words::LEFT_TERMINAL.into(),
            LeftOutReason::SettingClosed(setting) => {
                words::LEFT_SETTING.with("setting", setting.as_str())
            }
            LeftOutReason::NeedsArgument => words::LEFT_ARGUMENT.into(),
            LeftOutReason::Reserved => words::LEFT_RESERVED.into(),
            LeftOutReason::NoName => words::LEFT_NO_NAME.into(),
            LeftOutReason::TooLong(most) => words::LEFT_TOO_LONG.with("most", *most),
            LeftOutReason::NameTaken(by) => words::LEFT_TAKEN.with("name", by.as_str()),
            LeftOutReason::NoPlace(most) => words::LEFT_NO_PLACE.with("most", *most),
            LeftOutReason::NoRoom(most) => words::LEFT_NO_ROOM.with("most", *most),
        }
    }
}

/// How the menus are ordered and which settings are open.
#[derive(Clone, Copy, Debug)]
pub struct MenuOptions<'a> {
    /// The settings that open commands of the terminal.
    pub open: &'a [&'a str],
    /// Names that come first.
    pub first: &'a [String],
}

/// A row with the name that a platform shows for it.
#[derive(Clone, Debug)]
struct NamedRow<'r> {
    name: String,
    row: &'r CommandRow,
}

/// The rows that work in a chat, the most wanted first.
fn reachable<'r>(
    rows: &'r [CommandRow],
    options: MenuOptions<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<&'r CommandRow> {
    let surface = Surface::Gateway { open: options.open };
    let mut found: Vec<&CommandRow> = Vec::new();
    for row in rows {
        if row.reach.covers(surface) {
            found.push(row);
            continue;
        }
        let reason = match &row.reach {
            Availability::LocalUnless(setting) => LeftOutReason::SettingClosed(setting.clone()),
            _ => LeftOutReason::TerminalOnly,
        };
        left_out.push(LeftOut { name: row.name.clone(), reason });
    }
    let wish = |row: &CommandRow| options.first.iter().position(|name| *name == row.name);
    found.sort_by_key(|row| (wish(row).unwrap_or(usize::MAX), row.priority, row.origin));
    found
}

/// Gives each row the name of a platform; a name that the platform can show as it is goes to its own
/// row. A name that is too long is cut, and if it is then taken, its last character is a digit.
fn name_rows<'r>(
    rows: &[&'r CommandRow],
    limits: &MenuLimits,
    spell: fn(&str) -> String,
    taken: &mut BTreeSet<String>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<NamedRow<'r>> {
    let is_exact = |row: &CommandRow| spell(&row.name) == row.name;
    let (exact, spelt): (Vec<_>, Vec<_>) =
        rows.iter().enumerate().partition(|(_, row)| is_exact(row));
    let mut named: Vec<(usize, NamedRow<'r>)> = Vec::new();
    for (at, row) in exact.into_iter().chain(spelt) {
        match free_name(&spell(&row.name), limits, taken) {
            Ok(name) => {
                taken.insert(name.clone());
                named.push((at, NamedRow { name, row }));
            }
            Err(reason) => left_out.push(LeftOut { name: row.name.clone(), reason }),
        }
    }
    named.sort_by_key(|(at, _)| *at);
    named.into_iter().map(|(_, named)| named).collect()
}

fn free_name(
    name: &str,
    limits: &MenuLimits,
    taken: &BTreeSet<String>,
) -> Result<String, LeftOutReason> {
    if name.is_empty() {
        return Err(LeftOutReason::NoName);
    }
    if limits.reserved.contains(&name) {
        return Err(LeftOutReason::Reserved);
    }
    let is_long = name.chars().count() > limits.name;
    let short: String = name.chars().take(limits.name).collect();
    if !taken.contains(&short) {
        return Ok(short);
    }
    let stem: String = name.chars().take(limits.name - 1).collect();
    let numbered = (0..=9).map(|digit| format!("{stem}{digit}"));
    let free = numbered.into_iter().find(|name| is_long && !taken.contains(name));
    free.ok_or(LeftOutReason::NameTaken(short))
}

/// Cuts a text to so many characters as UTF-16 counts them, which no platform counts longer.
fn shorten(text: &str, most: usize) -> String {
    if text.encode_utf16().count() <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let fits = |c: &char| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        fits
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// A command as a platform sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCommand {
    pub name: String,
    pub args: String,
    pub options: Vec<ChosenOption>,
}

/// The line to dispatch for a command as a platform sent it: its own name for the command, the
/// bot's name after an `@`, the one command of Slack and Discord that takes all others.
pub fn typed_line(
    platform: ChatPlatform,
    sent: &SentCommand,
    rows: &[CommandRow],
    options: MenuOptions<'_>,
) -> String {
    let named = row_named(platform, &sent.name, rows, options);
    let row = rows.iter().find(|row| named.as_ref() == Some(&row.name));
    let chosen = discord::arguments(row, &sent.options);
    let args = format!("{} {chosen}", sent.args);
    let (name, args) = split_umbrella(platform, &sent.name, &args);
    let name = name.split_once('@').map_or(name.as_ref(), |(name, _)| name);
    let name = row_named(platform, name, rows, options).unwrap_or_else(|| name.to_owned());
    format!("/{name} {args}").trim_end().to_owned()
}

/// The command that takes all others as its argument.
pub const UMBRELLA: &str = "avocet";

fn split_umbrella<'a>(
    platform: ChatPlatform,
    name: &'a str,
    args: &'a str,
) -> (Cow<'a, str>, &'a str) {
    let name = name.trim_start_matches('/');
    if platform == ChatPlatform::Telegram || !name.eq_ignore_ascii_case(UMBRELLA) {
        return (Cow::Borrowed(name), args.trim());
    }
    let line = args.trim().trim_start_matches('/');
    match line.split_once(char::is_whitespace) {
        Some((name, args)) => (Cow::Borrowed(name), args.trim()),
        None if line.is_empty() => (Cow::Borrowed("help"), ""),
        None => (Cow::Borrowed(line), ""),
    }
}

/// The registry's name: what the menu shows counts first, then a name or an alias as it is typed.
fn row_named(
    platform: ChatPlatform,
    name: &str,
    rows: &[CommandRow],
    options: MenuOptions<'_>,
) -> Option<String> {
    let lower = name.to_lowercase();
    let mut left_out = Vec::new();
    let reachable = reachable(rows, options, &mut left_out);
    let (limits, spell): (&MenuLimits, fn(&str) -> String) = match platform {
        ChatPlatform::Telegram => (&limits::TELEGRAM, telegram::spell),
        ChatPlatform::Slack => (&limits::SLACK, slack::spell),
        ChatPlatform::Discord => (&limits::DISCORD, discord::spell),
    };
    let mut taken = umbrella_name(platform);
    let shown = name_rows(&reachable, limits, spell, &mut taken, &mut left_out);
    let of_menu = shown.iter().find(|shown| shown.name == lower);
    let find = |is: &dyn Fn(&str) -> bool| rows.iter().find(|row| row.names().any(is));
    // Last an alias that the platform spells in its own way.
    let row = of_menu
        .map(|shown| shown.row)
        .or_else(|| find(&|known| known == name || known == lower))
        .or_else(|| find(&|known| spell(known) == lower));
    row.map(|row| row.name.clone())
}

fn umbrella_name(platform: ChatPlatform) -> BTreeSet<String> {
    let has_one = platform != ChatPlatform::Telegram;
    has_one.then(|| UMBRELLA.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests;
