//! Slack's commands: a part of the app's manifest, which the user pastes once. `/avocet NAME` takes
//! every name and alias, also those that the manifest has no room for.

use serde::Serialize;
use serde_json::{Value, json};

use super::limits::SLACK;
use super::{
    LeftOut, MenuLetters, MenuOptions, OmissionReason, UMBRELLA, free_name, name_rows, reachable,
    shorten, umbrella_name,
};
use avocet_core::i18n::{Lang, gateway as phrases};
use avocet_core::protocol::ChatPlatform;
use avocet_present::commands::{CalledRows, CommandRow};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlackMenu {
    pub commands: Vec<SlackCommand>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlackCommand {
    /// With the slash.
    pub command: String,
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub usage_hint: String,
    /// Names of users and channels come as they were typed.
    pub should_escape: bool,
}

/// What the bot may do.
#[rustfmt::skip]
pub const BOT_SCOPES: [&str; 12] = [
    "app_mentions:read", "channels:history", "chat:write", "commands", "files:read", "files:write",
    "groups:history", "im:history", "im:read", "im:write", "mpim:history", "users:read",
];

/// The commands of the manifest: `/avocet`, the names, then as many aliases as there is room for.
pub fn menu(rows: &[CommandRow], options: MenuOptions<'_>, lang: Lang) -> SlackMenu {
    let mut left_out = Vec::new();
    let reachable = reachable(rows, options, &mut left_out);
    let mut taken = umbrella_name(ChatPlatform::Slack);
    let all = CalledRows::new(rows);
    let letters = MenuLetters::of(ChatPlatform::Slack);

    let named = name_rows(&all, &reachable, &letters, &mut taken, &mut left_out);
    let umbrella = command(UMBRELLA, phrases::MENU_UMBRELLA.text(lang), "[command] [arguments]");
    let mut menu = SlackMenu { commands: vec![umbrella], left_out };
    for shown in &named {
        let row = shown.row;
        menu.add(&row.name, command(&shown.name, &row.about, &row.hint));
    }
    for row in &reachable {
        let own = named.iter().find(|shown| shown.row.name == row.name);
        for alias in &row.aliases {
            let spelt = spell(alias);
            if own.is_some_and(|own| own.name == spelt) {
                continue;
            }
            // A name that is cut leads back by its menu alone; another name of it is not needed.
            let free = if spelt.chars().count() > SLACK.name {
                Err(OmissionReason::TooLong(SLACK.name))
            } else {
                free_name(&all, row, alias, &letters, &taken)
            };
            match free {
                Ok(name) => {
                    taken.insert(name.clone());
                    menu.add(alias, command(&name, &row.about, &row.hint));
                }
                Err(reason) => menu.left_out.push(LeftOut { name: alias.clone(), reason }),
            }
        }
    }
    menu
}

impl SlackMenu {
    /// The same with `/avocet` alone: every name can be typed after it.
    pub fn umbrella_only(mut self) -> SlackMenu {
        for command in self.commands.split_off(1) {
            let name = command.command.trim_start_matches('/').to_owned();
            self.left_out.push(LeftOut { name, reason: OmissionReason::NoPlace(1) });
        }
        self
    }

    fn add(&mut self, name: &str, command: SlackCommand) {
        if self.commands.len() < SLACK.commands {
            return self.commands.push(command);
        }
        let reason = OmissionReason::NoPlace(SLACK.commands);
        self.left_out.push(LeftOut { name: name.to_owned(), reason });
    }

    /// The whole manifest of the app, in Socket Mode.
    pub fn manifest(&self) -> Value {
        json!({
            "display_information": {"name": "Avocet"},
            "features": {
                "bot_user": {"display_name": "Avocet", "always_online": true},
                "app_home": {"messages_tab_enabled": true, "messages_tab_read_only_enabled": false},
                "slash_commands": self.commands,
            },
            "oauth_config": {"scopes": {"bot": BOT_SCOPES}},
            "settings": {
                "event_subscriptions": {"bot_events": [
                    "app_mention", "message.channels", "message.groups", "message.im",
                    "message.mpim",
                ]},
                "interactivity": {"is_enabled": true},
                "org_deploy_enabled": false,
                "socket_mode_enabled": true,
                "token_rotation_enabled": false,
            },
        })
    }
}

fn command(name: &str, about: &str, hint: &str) -> SlackCommand {
    SlackCommand {
        command: format!("/{name}"),
        description: shorten(about, SLACK.description),
        usage_hint: shorten(hint, SLACK.usage.unwrap_or(usize::MAX)),
        should_escape: false,
    }
}

/// A name in `[a-z0-9_-]`; empty if nothing is left of it.
pub(super) fn spell(name: &str) -> String {
    let lower = name.to_lowercase();
    let spelt = lower.chars().filter_map(|c| match c {
        'a'..='z' | '0'..='9' | '_' | '-' => Some(c),
        ':' | '.' => Some('-'),
        _ => None,
    });
    spelt.collect::<String>().trim_matches(['-', '_']).to_owned()
}
