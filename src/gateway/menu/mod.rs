//! The menus of commands that chat platforms show, made of the registry. Pure: rows in, the menu and
//! what was left out of it out.
//!
//! A command that a menu has no room for can still be typed; what is left out is reported exactly.

pub mod discord;
pub mod limits;
pub mod slack;
pub mod telegram;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::platform::ChosenOption;
use avocet_core::i18n::{Localize, LocalizedText, gateway as phrases};
use avocet_core::protocol::{Availability, ChatPlatform};
use avocet_present::commands::{CalledRows, CommandRow, Surface};
use limits::MenuLimits;

/// A command that is not in a menu, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// As in the registry.
    pub name: String,
    pub reason: OmissionReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// It works only in the terminal.
    TerminalOnly,
    /// The setting that opens it to chats is not true.
    SettingClosed(String),
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

impl OmissionReason {
    /// The spelling in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            OmissionReason::TerminalOnly => "terminal_only",
            OmissionReason::SettingClosed(_) => "setting_closed",
            OmissionReason::Reserved => "reserved",
            OmissionReason::NoName => "no_name",
            OmissionReason::TooLong(_) => "too_long",
            OmissionReason::NameTaken(_) => "name_taken",
            OmissionReason::NoPlace(_) => "no_place",
            OmissionReason::NoRoom(_) => "no_room",
        }
    }
}

impl Localize for OmissionReason {
    fn localized(&self) -> LocalizedText {
        match self {
            OmissionReason::TerminalOnly => phrases::LEFT_TERMINAL.into(),
            OmissionReason::SettingClosed(setting) => {
                phrases::LEFT_SETTING.with("setting", setting.as_str())
            }
            OmissionReason::Reserved => phrases::LEFT_RESERVED.into(),
            OmissionReason::NoName => phrases::LEFT_NO_NAME.into(),
            OmissionReason::TooLong(most) => phrases::LEFT_TOO_LONG.with("most", *most),
            OmissionReason::NameTaken(by) => phrases::LEFT_TAKEN.with("name", by.as_str()),
            OmissionReason::NoPlace(most) => phrases::LEFT_NO_PLACE.with("most", *most),
            OmissionReason::NoRoom(most) => phrases::LEFT_NO_ROOM.with("most", *most),
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
    let mut command_rows: Vec<&CommandRow> = Vec::new();
    for row in rows {
        if row.reach.covers(surface) {
            command_rows.push(row);
            continue;
        }
        let reason = match &row.reach {
            Availability::LocalUnless(setting) => OmissionReason::SettingClosed(setting.clone()),
            _ => OmissionReason::TerminalOnly,
        };
        left_out.push(LeftOut { name: row.name.clone(), reason });
    }
    let wish = |row: &CommandRow| {
        options.first.iter().position(|first| row.names().any(|name| name == first))
    };
    command_rows.sort_by_key(|row| (wish(row).unwrap_or(usize::MAX), row.priority, row.origin));
    command_rows
}

/// Gives each row the name of a platform. What another row is called, a built-in one or its alias
/// too, is never given to it: that name means the other one. A name that is too long is cut, and if
/// it is then taken, its last character is a digit.
fn name_rows<'r>(
    called_rows: &CalledRows<'_>,
    rows: &[&'r CommandRow],
    letters: &MenuLetters,
    taken: &mut BTreeSet<String>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<NamedRow<'r>> {
    let fits = |row: &CommandRow| (letters.spell)(&row.name).chars().count() <= letters.limits.name;
    let (whole, cut): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(_, row)| fits(row));
    let mut named: Vec<(usize, NamedRow<'r>)> = Vec::new();
    for (at, row) in whole.into_iter().chain(cut) {
        match free_name(called_rows, row, &row.name, letters, taken) {
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

/// What a platform shows for a name or an alias of a row.
fn free_name(
    rows: &CalledRows<'_>,
    row: &CommandRow,
    name: &str,
    letters: &MenuLetters,
    taken: &BTreeSet<String>,
) -> Result<String, OmissionReason> {
    let limits = letters.limits;
    let name = (letters.spell)(name);

    if name.is_empty() {
        return Err(OmissionReason::NoName);
    }
    if limits.reserved.contains(&name.as_str()) {
        return Err(OmissionReason::Reserved);
    }
    let is_free = |name: &str| {
        let owner = rows.find(name);
        !taken.contains(name) && owner.is_none_or(|owner| owner.name == row.name)
    };
    let is_long = name.chars().count() > limits.name;
    let short: String = name.chars().take(limits.name).collect();
    if is_free(&short) {
        return Ok(short);
    }
    let stem: String = name.chars().take(limits.name - 1).collect();
    let numbered = (0..=9).map(|digit| format!("{stem}{digit}"));
    let free = numbered.into_iter().find(|name| is_long && is_free(name));
    free.ok_or(OmissionReason::NameTaken(short))
}

/// How a platform writes names.
struct MenuLetters {
    limits: &'static MenuLimits,
    spell: fn(&str) -> String,
}

impl MenuLetters {
    fn of(platform: ChatPlatform) -> MenuLetters {
        let (limits, spell): (&MenuLimits, fn(&str) -> String) = match platform {
            ChatPlatform::Telegram => (&limits::TELEGRAM, telegram::spell),
            ChatPlatform::Slack => (&limits::SLACK, slack::spell),
            ChatPlatform::Discord => (&limits::DISCORD, discord::spell),
            ChatPlatform::Feishu => (&limits::FEISHU, discord::spell),
        };
        MenuLetters { limits, spell }
    }
}

/// The names that the menu of a platform shows, with the rows that they mean.
fn shown_rows<'r>(
    platform: ChatPlatform,
    rows: &'r [CommandRow],
    options: MenuOptions<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<NamedRow<'r>> {
    let reachable = reachable(rows, options, left_out);
    let mut taken = umbrella_name(platform);
    let all = CalledRows::new(rows);
    let letters = MenuLetters::of(platform);

    name_rows(&all, &reachable, &letters, &mut taken, left_out)
}

/// What can be typed on a platform without a menu of its own, with what it is for; and the rest.
pub fn typed_menu(
    platform: ChatPlatform,
    rows: &[CommandRow],
    options: MenuOptions<'_>,
) -> (Vec<(String, String)>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let shown = shown_rows(platform, rows, options, &mut left_out);
    (shown.into_iter().map(|one| (one.name, one.row.about.clone())).collect(), left_out)
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

/// The commands that a menu was made of.
pub type MenuRows = Arc<[CommandRow]>;

/// What a name of a chat can mean.
#[derive(Clone, Copy, Debug)]
pub struct MenuNames<'a> {
    pub platform: ChatPlatform,
    /// The commands of the chat.
    pub rows: &'a [CommandRow],
    /// The commands of the menu that the service shows: those of another folder, or of the time
    /// before a file came.
    pub shown: &'a [CommandRow],
    pub options: MenuOptions<'a>,
}

impl MenuNames<'_> {
    /// The line to dispatch for a command as a platform sent it: its own name for the command, the
    /// bot's name after an `@`, the one command of Slack and Discord that takes all others.
    pub fn typed_line(&self, sent: &SentCommand) -> String {
        let (name, args) = if self.is_umbrella(&sent.name) {
            let chosen = sent.options.iter().map(|option| option.value.as_str());
            let line: Vec<&str> = std::iter::once(sent.args.as_str()).chain(chosen).collect();
            split_umbrella(&line.join(" "))
        } else {
            let row = self.shown_row(&sent.name);
            let chosen = discord::arguments(row, &sent.options);
            let args = format!("{} {chosen}", sent.args);
            (sent.name.trim_start_matches('/').to_owned(), args.trim().to_owned())
        };
        let name = name.split_once('@').map_or(name.as_str(), |(name, _)| name);
        let name = self.row_name(name).unwrap_or_else(|| name.to_owned());
        format!("/{name} {args}").trim_end().to_owned()
    }

    /// The row whose options the service shows for a name: they may have others by now.
    fn shown_row(&self, name: &str) -> Option<&CommandRow> {
        let name = self.row_name(name)?;
        let find = |row: &&CommandRow| row.name == name;
        self.shown.iter().find(find).or_else(|| self.rows.iter().find(find))
    }

    /// Whether it is the command that takes all others.
    fn is_umbrella(&self, name: &str) -> bool {
        let name = name.trim_start_matches('/');
        MenuLetters::of(self.platform).limits.has_umbrella && name.eq_ignore_ascii_case(UMBRELLA)
    }

    /// The registry's name for what a user means by a name: what is called so counts first, then what
    /// the menu shows, then an alias that the platform writes in its own way.
    pub fn row_name(&self, name: &str) -> Option<String> {
        let lower = name.to_lowercase();
        if let Some(row) = CalledRows::new(self.rows).find(name) {
            return Some(row.name.clone());
        }
        let of_menu = |rows| {
            let shown = shown_rows(self.platform, rows, self.options, &mut Vec::new());
            shown.iter().find(|shown| shown.name == lower).map(|shown| shown.row.name.clone())
        };
        let spell = MenuLetters::of(self.platform).spell;
        let is_spelt = |row: &&CommandRow| row.names().any(|known| spell(known) == lower);
        let has_spelt_name = |row: &&CommandRow| spell(&row.name) == lower;
        let shown = of_menu(self.shown);
        match shown {
            Some(shown) if self.rows.iter().any(|row| row.name == shown) => Some(shown),
            // The command of the menu is gone: a name that was cut may be that of another one now.
            Some(shown) => {
                let spelt = self.rows.iter().find(has_spelt_name).map(|row| row.name.clone());
                spelt.or(Some(shown))
            }
            None => {
                let spelt = || self.rows.iter().find(is_spelt).map(|row| row.name.clone());
                of_menu(self.rows).or_else(spelt)
            }
        }
    }
}

/// The command that takes all others as its argument.
pub const UMBRELLA: &str = "avocet";

/// The name and the arguments after the one command that takes all others.
fn split_umbrella(line: &str) -> (String, String) {
    let line = line.trim().trim_start_matches('/');
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = if name.is_empty() { "help" } else { name };
    (name.to_owned(), args.trim().to_owned())
}

fn umbrella_name(platform: ChatPlatform) -> BTreeSet<String> {
    MenuLetters::of(platform).limits.has_umbrella.then(|| UMBRELLA.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests;
