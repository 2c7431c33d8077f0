//! The subcommands and pages about the chat platforms.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use serde_json::{Value, json};

use super::gateway_service::{self, GivenOptions};
use super::gateway_setup;
use super::key_source;
use super::startup::Startup;
use super::subcommands::{print_rows, print_text};
use crate::cli::gateway::GatewayCommand;
use crate::cli::{Exit, output};
use avocet_config::Paths;
use avocet_config::extensions::ExtensionLibrary;
use avocet_config::gateway::GatewaySettings;
use avocet_config::key_store::{KeyPlace, KeyStore};
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as phrases, gateway as w, keys};
use avocet_core::protocol::{ChatPlatform, ExtensionState, Extensions, Notice, Page, PageRow};
use avocet_core::terminal_modes;
use avocet_gateway::access::{AccessRole, CODE_LIFE, Roster};
use avocet_gateway::access_file;
use avocet_gateway::menu::{LeftOut, MenuOptions, discord, slack, telegram, typed_menu};
use avocet_present::commands::{self, CommandRow};
use avocet_session::DescribePlatforms;

/// The longest token that is read from standard input.
const MAX_TOKEN: u64 = 4 * 1024;

pub fn run_subcommand(
    startup: Startup,
    options: GivenOptions,
    command: &GatewayCommand,
    json: bool,
) -> Exit {
    if let GatewayCommand::Run { only } = command {
        return gateway_service::run(startup, options, only.map(ChatPlatform::from));
    }
    let startup = &startup;
    let done = match command {
        // Above.
        GatewayCommand::Run { .. } => return Exit::Done,
        GatewayCommand::Status => return gateway_service::status(startup, json),
        GatewayCommand::Menu { platform } => return menu(startup, (*platform).into(), json),
        GatewayCommand::Pair { platform, admin } => {
            let role = if *admin { AccessRole::Admin } else { AccessRole::User };
            pair(startup, platform.map(ChatPlatform::from), role)
        }
        GatewayCommand::Users { remove: Some(named) } => remove_user(startup, named),
        GatewayCommand::Users { remove: None } => match user_rows(startup) {
            Ok(rows) => return print_rows(startup, &rows, json),
            Err(why) => Err(why),
        },
        GatewayCommand::Setup { platform } => gateway_setup::setup(startup, (*platform).into()),
        GatewayCommand::Token { platform, app, remove } => {
            token(startup, (*platform).into(), *app, *remove)
        }
    };
    match done {
        Ok(notice) => startup.fail(&notice, Exit::Done),
        Err(why) => startup.fail(&Notice::error(why), Exit::Failed),
    }
}

/// The page of `/platforms`.
pub fn platforms_page(startup: &Startup) -> DescribePlatforms {
    let settings = startup.loaded.settings.gateway.clone();
    let paths = startup.paths.clone();
    std::sync::Arc::new(move || {
        let roster = access_file::read(&paths.gateway_users());
        let rows = platform_rows(&settings, &ChatPlatform::ALL, &roster, &saved_tokens(&paths));
        Page { title: phrases::PLATFORMS.into(), rows }
    })
}

/// The rows of the doctor about the platforms that are enabled.
pub fn doctor_rows(settings: &GatewaySettings, paths: &Paths) -> Vec<PageRow> {
    let is_on = |platform: &ChatPlatform| settings.platform(*platform).enabled;
    let platforms: Vec<ChatPlatform> = ChatPlatform::ALL.into_iter().filter(is_on).collect();
    let roster = (!platforms.is_empty()).then(|| access_file::read(&paths.gateway_users()));
    roster.map_or_else(Vec::new, |roster| {
        platform_rows(settings, &platforms, &roster, &saved_tokens(paths))
    })
}

/// Where tokens were saved, as the file says: the keyring is not asked.
fn saved_tokens(paths: &Paths) -> KeyStore {
    KeyStore::new(paths.saved_keys(), None)
}

fn platform_rows(
    settings: &GatewaySettings,
    platforms: &[ChatPlatform],
    roster: &Result<Roster, LocalizedText>,
    store: &KeyStore,
) -> Vec<PageRow> {
    let mut rows = Vec::new();
    for platform in platforms.iter().copied() {
        let of = settings.platform(platform);
        rows.push(PageRow::heading(platform.title()));
        let state = if of.enabled { phrases::PLATFORM_ON } else { phrases::PLATFORM_OFF };
        rows.push(PageRow::pair(phrases::PLATFORM_STATE, state));
        if let Some(id) = &of.app_id {
            rows.push(match id.as_str() {
                "" => PageRow::pair("app_id", phrases::NOT_SET),
                id => PageRow::pair("app_id", id),
            });
        }
        for token in std::iter::once(&of.token).chain(&of.app_token) {
            let text: LocalizedText = match (&token.value, store.place(&token.entry)) {
                (Some(_), _) => phrases::TOKEN_SET.into(),
                (None, Some(KeyPlace::Keyring)) => keys::IN_KEYRING.into(),
                (None, Some(KeyPlace::File)) => {
                    keys::IN_FILE.with("file", store.file().display().to_string())
                }
                (None, None) => phrases::NOT_SET.into(),
            };
            rows.push(PageRow::pair(token.variable.as_str(), text));
        }
        let users = roster.iter().flat_map(|roster| &roster.users);
        let paired = users.filter(|user| user.platform == platform).count();
        let counted = phrases::PLATFORM_USERS
            .with("users", of.allow.len())
            .with("admins", of.admins.len())
            .with("paired", paired);
        rows.push(PageRow::pair(phrases::PLATFORM_WHO, counted));
    }
    rows.extend(roster.as_ref().err().map(|why| PageRow::line(why.clone())));
    rows
}

/// The commands of a platform as it would register them, in both languages.
pub struct PlatformMenu {
    /// Name and description in the language of the settings.
    pub shown: Vec<(String, String)>,
    pub left_out: Vec<LeftOut>,
    /// What the platform gets: the bodies of Telegram's calls, Slack's manifest, the body of
    /// Discord's call.
    pub body: Value,
    /// The calls that register it, if a call does.
    pub calls: Vec<Value>,
}

/// The menu of a platform, made of the table and of the user's own commands and skills.
pub fn platform_menu(
    platform: ChatPlatform,
    settings: &GatewaySettings,
    extensions: &Extensions,
    lang: Lang,
) -> PlatformMenu {
    let options = MenuOptions { open: &settings.open, first: &settings.menu_first };
    let rows = |lang| commands::rows(extensions, lang);
    let rows: [Vec<CommandRow>; 2] = [rows(Lang::En), rows(Lang::Zh)];
    let [english, chinese] = &rows;
    let of_lang = if lang == Lang::Zh { chinese } else { english };
    match platform {
        ChatPlatform::Telegram => {
            let menus = [(Lang::En, english), (Lang::Zh, chinese)]
                .map(|(lang, rows)| (lang, telegram::menu(rows, options)));
            let calls = telegram::calls(lang, &menus);
            let telegram::TelegramMenu { commands, mut left_out } =
                telegram::menu(of_lang, options);
            // The descriptions of another language may leave less room.
            for other in menus.iter().flat_map(|(_, menu)| &menu.left_out) {
                if left_out.iter().all(|known| known.name != other.name) {
                    left_out.push(other.clone());
                }
            }
            let shown = commands.into_iter().map(|one| (one.command, one.description)).collect();
            PlatformMenu { shown, left_out, body: calls.clone().into(), calls }
        }
        ChatPlatform::Slack => {
            let menu = slack::menu(of_lang, options, lang);
            let menu = if settings.slack_umbrella { menu.umbrella_only() } else { menu };
            let body = menu.manifest();
            let shown = menu.commands.into_iter().map(|one| (one.command, one.description));
            // It is part of the manifest.
            let calls = Vec::new();
            PlatformMenu { shown: shown.collect(), left_out: menu.left_out, body, calls }
        }
        ChatPlatform::Discord => {
            let menu = discord::menu(english, chinese, options);
            let body = menu.body();
            let shown = menu.commands.into_iter().map(|one| match lang {
                Lang::En => (one.name, one.description),
                Lang::Zh => (one.name, one.description_localizations.chinese),
            });
            let calls = vec![body.clone()];
            PlatformMenu { shown: shown.collect(), left_out: menu.left_out, body, calls }
        }
        ChatPlatform::Feishu => {
            let (shown, left_out) = typed_menu(platform, of_lang, options);
            PlatformMenu { shown, left_out, body: Value::Null, calls: Vec::new() }
        }
    }
}

fn menu(startup: &Startup, platform: ChatPlatform, json: bool) -> Exit {
    let own = ExtensionLibrary::load(&startup.search_path()).extensions();
    let lang = startup.lang();
    let menu = platform_menu(platform, &startup.loaded.settings.gateway, &own, lang);
    if json {
        let left = |out: &LeftOut| {
            let why = out.reason.localized().text(lang);
            json!({"name": out.name, "reason": out.reason.code(), "why": why})
        };
        let left_out: Vec<Value> = menu.left_out.iter().map(left).collect();
        let unusable: Vec<String> = unusable_names(&own).iter().map(|why| why.text(lang)).collect();
        let all = json!({
            "platform": platform.name(),
            "menu": menu.body,
            "left_out": left_out,
            "unusable": unusable,
        });
        return print_text(startup, &format!("{all:#}\n"));
    }
    let mut rows = vec![PageRow::heading(w::MENU_SHOWN)];
    rows.extend(menu.shown.into_iter().map(|(name, about)| PageRow::pair(name, about)));
    rows.push(PageRow::heading(w::MENU_LEFT_OUT));
    let left = menu.left_out.into_iter();
    rows.extend(left.map(|one| PageRow::pair(one.name, one.reason.localized())));
    let unusable = unusable_names(&own);
    if !unusable.is_empty() {
        rows.push(PageRow::heading(w::MENU_UNUSABLE));
        rows.extend(unusable.into_iter().map(PageRow::line));
    }
    print_rows(startup, &rows, false)
}

/// The user's own names and aliases that no command has, and why.
pub fn unusable_names(extensions: &Extensions) -> Vec<LocalizedText> {
    let broken = extensions.entries.iter().filter_map(|entry| match &entry.state {
        ExtensionState::Broken(why) => Some(why.clone()),
        _ => None,
    });
    extensions.clashes.iter().cloned().chain(broken).chain(extensions.waiting.clone()).collect()
}

fn pair(
    startup: &Startup,
    platform: Option<ChatPlatform>,
    role: AccessRole,
) -> Result<Notice, LocalizedText> {
    let code = access_file::open_pairing(&startup.paths.gateway_users(), platform, role)?;
    let say = w::CODE.with("code", code).with("minutes", CODE_LIFE / 60);
    Ok(Notice::info(say).with_hint(w::CODE_HINT.with("role", role.localized())))
}

fn user_rows(startup: &Startup) -> Result<Vec<PageRow>, LocalizedText> {
    let roster = access_file::read(&startup.paths.gateway_users())?;
    let mut rows = Vec::new();
    for platform in ChatPlatform::ALL {
        let of = startup.loaded.settings.gateway.platform(platform);
        let listed = |ids: &[String], role: AccessRole| -> Vec<PageRow> {
            let say = w::OF_SETTINGS.with("role", role.localized());
            ids.iter().map(|id| PageRow::pair(id.as_str(), say.clone())).collect()
        };
        let mut users = listed(&of.admins, AccessRole::Admin);
        users.extend(listed(&of.allow, AccessRole::User));
        let paired = roster.users.iter().filter(|user| user.platform == platform);
        users.extend(paired.map(|user| {
            PageRow::pair(user.id.as_str(), w::OF_PAIRING.with("role", user.role.localized()))
        }));
        if !users.is_empty() {
            rows.push(PageRow::heading(platform.title()));
            rows.extend(users);
        }
    }
    if rows.is_empty() {
        rows.push(PageRow::line(w::NO_USERS));
    }
    Ok(rows)
}

fn remove_user(startup: &Startup, named: &[String]) -> Result<Notice, LocalizedText> {
    let [platform, id] = named else { return Err(w::NO_USERS.into()) };
    let gone = |phrase: avocet_core::i18n::Phrase| {
        phrase.with("id", id.as_str()).with("platform", platform.as_str())
    };
    let of_platform = ChatPlatform::parse(platform).ok_or_else(|| {
        let known = ChatPlatform::ALL.map(ChatPlatform::name).join(", ");
        w::NO_SUCH_PLATFORM.with("platform", platform.as_str()).with("known", known)
    })?;
    let file = startup.paths.gateway_users();
    if access_file::change(&file, |roster| roster.remove(of_platform, id))? {
        Ok(Notice::info(gone(w::USER_REMOVED)))
    } else {
        Err(gone(w::NO_SUCH_USER))
    }
}

fn token(
    startup: &Startup,
    platform: ChatPlatform,
    app: bool,
    remove: bool,
) -> Result<Notice, LocalizedText> {
    let of = startup.loaded.settings.gateway.platform(platform);
    let token = match (app, &of.app_token) {
        (false, _) => &of.token,
        (true, Some(token)) => token,
        (true, None) => return Err(w::NO_APP_TOKEN.into()),
    };
    let store = key_source::key_store(startup);
    if remove {
        let removed = store.remove(&token.entry).map_err(|error| error.localized())?;
        return Ok(Notice::info(match removed {
            Some(_) => w::TOKEN_REMOVED,
            None => w::NO_TOKEN_SAVED,
        }));
    }
    let text = read_token(startup, platform).map_err(|_| w::NO_TOKEN_GIVEN)?;
    gateway_setup::save_token(&store, token, text.trim()).map(Notice::info)
}

fn read_token(startup: &Startup, platform: ChatPlatform) -> io::Result<String> {
    if io::stdin().is_terminal() {
        let ask = w::ASK_TOKEN.with("name", platform.title()).text(startup.lang());
        write!(output::stderr(), "{ask}")?;
        output::stderr().flush()?;
        let line = terminal_modes::read_hidden_line();
        // The line break was not shown either.
        writeln!(output::stderr())?;
        return line;
    }
    let mut text = String::new();
    io::stdin().lock().take(MAX_TOKEN).read_to_string(&mut text)?;
    Ok(text)
}
