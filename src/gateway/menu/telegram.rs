//! Telegram's menu: `setMyCommands`, once for everyone and once for each language.

use serde::Serialize;
use serde_json::{Value, json};

use super::limits::TELEGRAM;
use super::{LeftOut, MenuOptions, OmissionReason, shorten, shown_rows};
use avocet_core::i18n::Lang;
use avocet_core::protocol::ChatPlatform;
use avocet_present::commands::{CommandRow, RowOrigin};

/// Longest description of the user's own commands, which would take the room of the others.
const OWN_DESCRIPTION: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TelegramMenu {
    pub commands: Vec<TelegramCommand>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TelegramCommand {
    pub command: String,
    pub description: String,
}

/// The menu of rows in one language.
pub fn menu(rows: &[CommandRow], options: MenuOptions<'_>) -> TelegramMenu {
    let mut left_out = Vec::new();
    let named = shown_rows(ChatPlatform::Telegram, rows, options, &mut left_out);
    let mut menu = TelegramMenu { commands: Vec::new(), left_out };
    let most_bytes = TELEGRAM.total_bytes.unwrap_or(usize::MAX);
    // The brackets of the list.
    let mut bytes = 2;
    for shown in named {
        let most = match shown.row.origin {
            RowOrigin::BuiltIn => TELEGRAM.description,
            RowOrigin::Command | RowOrigin::Skill | RowOrigin::Script => OWN_DESCRIPTION,
        };
        let description = shorten(&shown.row.about, most);
        let command = TelegramCommand { command: shown.name, description };
        let size = json!(command).to_string().len() + 1;
        let reason = if menu.commands.len() == TELEGRAM.commands {
            OmissionReason::NoPlace(TELEGRAM.commands)
        } else if bytes + size > most_bytes {
            OmissionReason::NoRoom(most_bytes)
        } else {
            bytes += size;
            menu.commands.push(command);
            continue;
        };
        menu.left_out.push(LeftOut { name: shown.row.name.clone(), reason });
    }
    menu
}

/// The bodies of the calls that register the menus: `usual` for everyone whose language has none.
pub fn calls(usual_lang: Lang, menus: &[(Lang, TelegramMenu)]) -> Vec<Value> {
    let body = |lang: Option<Lang>, menu: &TelegramMenu| {
        let mut body = json!({"commands": menu.commands, "scope": {"type": "default"}});
        if let Some(lang) = lang {
            body["language_code"] = lang.code().into();
        }
        body
    };
    let all =
        menus.iter().filter(|(lang, _)| *lang == usual_lang).map(|(_, menu)| body(None, menu));
    all.chain(menus.iter().map(|(lang, menu)| body(Some(*lang), menu))).collect()
}

/// A name in `[a-z0-9_]`; empty if nothing is left of it.
pub(super) fn spell(name: &str) -> String {
    let mut spelt = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => spelt.push(c),
            '-' | '_' | ':' | '.' if !spelt.ends_with('_') => spelt.push('_'),
            _ => {}
        }
    }
    spelt.trim_matches('_').to_owned()
}
