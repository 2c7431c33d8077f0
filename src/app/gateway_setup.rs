//! `avocet gateway setup`: leads through the steps that the help lists for a platform, checks each
//! token with the service, and writes what the gateway needs.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use tokio::runtime::Runtime;

use super::folder_trust::TrustState;
use super::startup::Startup;
use super::{key_source, runtime};
use crate::cli::output;
use avocet_config::gateway::{ChatToken, PlatformSettings, feishu_address};
use avocet_config::key_store::{KeyPlace, KeyStore};
use avocet_config::trust::TrustLevel;
use avocet_config::{Secret, edit};
use avocet_core::i18n::{Localize as _, LocalizedText, Phrase, chat, gateway as w};
use avocet_core::protocol::{ChatPlatform, Notice};
use avocet_core::terminal_modes;
use avocet_gateway::access::AccessRole;
use avocet_gateway::access_file;
use avocet_gateway::platform::PlatformError;
use avocet_gateway::setup::SetupLogin;
use avocet_gateway::setup_report::SetupReport;
use avocet_present::commands::find_topic;
use avocet_tools::system;

/// The dialogue about one platform.
struct GatewaySetup<'a> {
    startup: &'a Startup,
    settings: &'a PlatformSettings,
    login: SetupLogin,
    runtime: Runtime,
    /// Typed now: they are saved once the service has accepted them.
    typed: Vec<(&'a ChatToken, String)>,
}

pub fn setup(startup: &Startup, platform: ChatPlatform) -> Result<Notice, LocalizedText> {
    let of = startup.loaded.settings.gateway.platform(platform);
    let store = key_source::key_store(startup);
    let saved = |token: &ChatToken| {
        let secret = token.read(&store).ok().flatten();
        secret.map(|secret| secret.expose().to_owned()).unwrap_or_default()
    };
    let login = SetupLogin {
        platform,
        api_url: of.api_url.clone(),
        token: saved(&of.token),
        app_token: of.app_token.as_ref().map(saved),
        app_id: of.app_id.clone(),
    };
    let runtime = runtime::runtime().map_err(|error| check_failed(platform, error.to_string()))?;
    let mut setup = GatewaySetup { startup, settings: of, login, runtime, typed: Vec::new() };
    setup.walk()?;
    setup.check()?;
    for (token, text) in &setup.typed {
        setup.say(&save_token(&store, token, text)?);
    }
    setup.set("enabled", "true")?;
    setup.trust_folder()?;
    setup.pair_admin()?;
    Ok(Notice::info(w::SETUP_DONE.with("name", platform.title())))
}

impl GatewaySetup<'_> {
    /// The steps of the help, each with what it asks for.
    fn walk(&mut self) -> Result<(), LocalizedText> {
        let title = self.login.platform.title();
        let steps = find_topic("gateways").map(|topic| topic.list_below(title));
        for step in steps.unwrap_or_default() {
            self.say(&step.localized_text);
            let asks_id = step.text.contains("App ID");
            let asks_app_token = step.text.contains("app token");
            let asks_token =
                ["the token", "bot token"].iter().any(|words| step.text.contains(words));
            if asks_id {
                let id = self.ask(&w::SETUP_ASK_ID.into())?;
                self.set("app_id", &id)?;
                self.login.app_id = Some(id);
                self.choose_domain()?;
            }
            if let Some(token) = self.settings.app_token.as_ref().filter(|_| asks_app_token) {
                let saved = self.login.app_token.as_deref().unwrap_or_default();
                if let Some(text) = self.ask_token(w::SETUP_ASK_APP_TOKEN, saved)? {
                    self.login.app_token = Some(text.clone());
                    self.typed.push((token, text));
                }
            }
            if asks_token {
                self.ask_bot_token()?;
            }
            if !(asks_id || asks_app_token || asks_token) {
                self.ask(&w::SETUP_ENTER.into())?;
            }
        }
        Ok(())
    }

    /// Until the service accepts one.
    fn ask_bot_token(&mut self) -> Result<(), LocalizedText> {
        loop {
            let typed = self.ask_token(w::ASK_TOKEN, &self.login.token)?;
            if let Some(text) = &typed {
                self.login.token.clone_from(text);
            }
            match self.runtime.block_on(self.login.check()) {
                Err(PlatformError::Unauthorized) => {
                    self.login.token.clear();
                    self.say(&w::SETUP_REFUSED.with("name", self.login.platform.title()));
                }
                // What else the service lacks is asked when all steps are done.
                Ok(_) | Err(_) => {
                    self.typed.extend(typed.map(|text| (&self.settings.token, text)));
                    return Ok(());
                }
            }
        }
    }

    /// Only Feishu has two services.
    fn choose_domain(&mut self) -> Result<(), LocalizedText> {
        let domain = self.ask(&w::SETUP_ASK_DOMAIN.into())?;
        let domain = if domain.eq_ignore_ascii_case("lark") { "lark" } else { "feishu" };
        self.set("domain", domain)?;
        // Unless the settings name another address.
        if ["feishu", "lark"].map(feishu_address).contains(&self.settings.api_url.as_str()) {
            feishu_address(domain).clone_into(&mut self.login.api_url);
        }
        Ok(())
    }

    /// Until the service has nothing to object to, or the user goes on.
    fn check(&self) -> Result<(), LocalizedText> {
        let failed = |error: PlatformError| check_failed(self.login.platform, error.to_string());
        loop {
            let report = self.runtime.block_on(self.login.check());
            let SetupReport { bot, texts, webhook } = report.map_err(failed)?;
            self.say(&w::SETUP_BOT.with("bot", bot));
            texts.iter().for_each(|text| self.say(text));
            if let Some(url) = webhook
                && self.agrees(&w::SETUP_WEBHOOK.with("url", url))?
            {
                self.runtime.block_on(self.login.remove_webhook()).map_err(failed)?;
            }
            if texts.is_empty() || !self.ask(&w::SETUP_AGAIN.into())?.is_empty() {
                return Ok(());
            }
        }
    }

    /// Without trust in it, chats ask before each program.
    fn trust_folder(&self) -> Result<(), LocalizedText> {
        let Startup { folder, paths, .. } = self.startup;
        let shown = folder.display().to_string();
        if folder.parent().is_none() || *folder == system::resolve_path(&paths.home) {
            self.say(&chat::HOME_TOO_WIDE.with("folder", shown));
            return Ok(());
        }
        if self.startup.trusted || !self.agrees(&w::SETUP_TRUST.with("folder", shown))? {
            return Ok(());
        }
        let TrustState { mut store, survey, .. } = TrustState::load(folder, None, paths);
        let saved = store.set(folder, &survey, TrustLevel::Trusted);
        saved.map_err(|error| w::SETUP_NOT_TRUSTED.with("why", error.to_string()))
    }

    fn pair_admin(&self) -> Result<(), LocalizedText> {
        let platform = self.login.platform;
        let file = self.startup.paths.gateway_users();
        let paired = access_file::read(&file)?.users;
        if !self.settings.admins.is_empty() || paired.iter().any(|user| user.platform == platform) {
            return Ok(());
        }
        let code = access_file::open_pairing(&file, Some(platform), AccessRole::Admin)?;
        self.say(&w::SETUP_CODE.with("code", code));
        Ok(())
    }

    fn set(&self, key: &str, value: &str) -> Result<(), LocalizedText> {
        let key = format!("gateway.{}.{key}", self.login.platform.name());
        let set = edit::set(&self.startup.paths.settings(), &key, value);
        set.map(drop).map_err(|error| error.localized())
    }

    fn say(&self, text: &LocalizedText) {
        // Nothing can be done about a terminal that is gone.
        let mut page = String::new();
        self.startup.printer().append(&mut page, "", &text.text(self.startup.lang()));
        let _ = write!(output::stderr(), "{page}");
    }

    fn agrees(&self, text: &LocalizedText) -> Result<bool, LocalizedText> {
        Ok(self.ask(text)?.eq_ignore_ascii_case("y"))
    }

    /// What the user types; the end of the input ends the setup.
    fn ask(&self, text: &LocalizedText) -> Result<String, LocalizedText> {
        let _ = write!(output::stderr(), "{}", text.text(self.startup.lang()));
        let _ = output::stderr().flush();
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(1..) => Ok(line.trim().to_owned()),
            Ok(0) | Err(_) => Err(w::NO_TOKEN_GIVEN.into()),
        }
    }

    /// `None`: the one that is saved stays.
    fn ask_token(&self, phrase: Phrase, saved: &str) -> Result<Option<String>, LocalizedText> {
        if !saved.is_empty() {
            self.say(&w::SETUP_KEEP.into());
        }
        loop {
            let text = self.read_token(&phrase.with("name", self.login.platform.title()))?;
            if text.is_empty() && !saved.is_empty() {
                return Ok(None);
            }
            match token_error(&text) {
                Some(error) => self.say(&error.into()),
                None => return Ok(Some(text)),
            }
        }
    }

    fn read_token(&self, question: &LocalizedText) -> Result<String, LocalizedText> {
        if !io::stdin().is_terminal() {
            return self.ask(question);
        }
        let _ = write!(output::stderr(), "{}", question.text(self.startup.lang()));
        let _ = output::stderr().flush();
        let line = terminal_modes::read_hidden_line();
        let _ = writeln!(output::stderr());
        line.map(|line| line.trim().to_owned()).map_err(|_| w::NO_TOKEN_GIVEN.into())
    }
}

fn check_failed(platform: ChatPlatform, why: String) -> LocalizedText {
    w::SETUP_FAILED.with("name", platform.title()).with("why", why)
}

fn token_error(text: &str) -> Option<Phrase> {
    let is_wrong = |c: char| c.is_control() || c.is_whitespace();
    if text.is_empty() {
        return Some(w::NO_TOKEN_GIVEN);
    }
    text.contains(is_wrong).then_some(w::NOT_A_TOKEN)
}

/// Saves a token that was typed; says where.
pub fn save_token(
    store: &KeyStore,
    token: &ChatToken,
    text: &str,
) -> Result<LocalizedText, LocalizedText> {
    if let Some(error) = token_error(text) {
        return Err(error.into());
    }
    let place = store.save(&token.entry, &Secret::new(text)).map_err(|error| error.localized())?;
    Ok(match place {
        KeyPlace::Keyring => w::TOKEN_SAVED.into(),
        KeyPlace::File => w::TOKEN_SAVED_FILE.with("file", store.file().display().to_string()),
    })
}
