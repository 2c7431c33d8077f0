//! Settings that count at once: `/config`, and files that changed since they were read.

use super::settings::{LiveSettings, LiveTools, SettingsAccess};
use super::state::Session;
use super::turn_update::UnreadSettings;
use avocet_core::i18n::{Lang, LocalizedText, session as phrases};
use avocet_core::protocol::{Event, Notice, Page, PageRow, SandboxStatus};

impl Session {
    /// Takes over what changed in the files. Costs one look at each of them.
    pub(super) async fn reload_settings(&mut self) {
        if let Some(live) = self.settings.as_mut().and_then(|settings| settings.reload()) {
            self.apply_settings(live).await;
        }
    }

    pub(super) async fn apply_settings(&mut self, live: LiveSettings) {
        self.security.replace_base(live.policy, &mut self.info);
        self.info.max_steps = live.max_steps;
        self.info.max_subagents = live.max_subagents;
        self.conversation.shared.set_subagents(live.max_subagents);
        self.info.spend_limits = live.spend_limits;
        self.info.check = live.check;
        self.info.screen = live.screen;
        self.resources.extensions.find_scripts = live.find_scripts;
        (self.callbacks.doctor, self.callbacks.platforms) = (live.doctor, live.platforms);
        let unread = UnreadSettings {
            has_other_model: live.models.is_some(),
            has_other_tools: live.tools.is_some(),
        };
        if let Some(tools) = live.tools {
            self.apply_tools(tools).await;
        }
        if let Some(models) = live.models {
            let effects = self.resources.model.apply_settings(models, &mut self.info);
            self.follow(effects).await;
        }
        self.update_running(|running| {
            let earlier = running.unread_settings.unwrap_or_default();
            running.unread_settings = Some(earlier.and(unread));
        });
        match live.lang {
            Some(lang) => {
                let effects = self.resources.model.set_lang(lang, &mut self.info);
                self.follow(effects).await;
            }
            None => self.send_info().await,
        }
        for notice in live.notices {
            self.notify(notice).await;
        }
    }

    /// Steps that already run stay as they are. The sandbox is tried out before any other begins.
    async fn apply_tools(&mut self, tools: LiveTools) {
        self.resources.tools = self.resources.tools.replacing(&tools.tools);
        self.security.world = tools.world;
        let before = self.info.shelter;
        if let Some(status) = self.resources.tools.sandbox_status().await {
            let effects = self.security.set_sandbox_status(status, &mut self.info);
            self.follow(effects).await;
        }
        let has_changed = ![SandboxStatus::Unknown, self.info.shelter].contains(&before);
        if let Some(state) = self.info.shelter.about().filter(|_| has_changed) {
            self.notify(Notice::info(phrases::SANDBOX_NOW.with("state", state))).await;
        }
    }

    /// `/config`.
    pub(super) async fn configure(&mut self, key: Option<String>, value: Option<String>) {
        self.reload_settings().await;
        let Some(settings) = self.settings.as_mut() else {
            return self.notify(Notice::error(phrases::CONFIG_UNAVAILABLE)).await;
        };
        let words = key.unwrap_or_default();
        let (key, done) = match words.strip_prefix("unset ").map(str::trim) {
            Some(key) => (key, settings.set(key, None)),
            None if value.is_some() => (words.as_str(), settings.set(&words, value.as_deref())),
            None => {
                let page = settings_page(settings.as_ref(), &words, self.info.lang);
                return self.outbox.send(Event::Page(Box::new(page))).await;
            }
        };
        let notice = self.setting_notice(key, done).await;
        self.notify(notice).await;
    }

    /// The editor of settings.
    pub(super) async fn edit_settings(&mut self, key: Option<String>, value: Option<String>) {
        self.reload_settings().await;
        let mut said = None;
        if let (Some(key), Some(settings)) = (key, self.settings.as_mut()) {
            let done = settings.set(&key, value.as_deref());
            said = Some(self.setting_notice(&key, done).await);
        }
        let rows = self.settings.as_ref().map(|settings| settings.editable()).unwrap_or_default();
        self.outbox.send(Event::Settings { rows, said }).await;
    }

    /// What became of a setting that was written.
    async fn setting_notice(
        &mut self,
        key: &str,
        done: Result<LocalizedText, LocalizedText>,
    ) -> Notice {
        match done {
            Ok(say) => {
                self.reload_settings().await;
                let notice = Notice::info(say);
                match self.settings.as_deref().and_then(|settings| setting_hint(settings, key)) {
                    None => notice,
                    Some(hint) => notice.with_hint(hint),
                }
            }
            Err(why) => Notice::error(why),
        }
    }
}

/// The settings whose names begin so, with where each comes from.
fn settings_page(settings: &dyn SettingsAccess, beginning: &str, lang: Lang) -> Page {
    let mut rows = settings.rows(beginning, lang);
    if rows.is_empty() {
        rows.push(PageRow::line(phrases::CONFIG_NO_KEY.with("key", beginning)));
    }
    Page { title: phrases::CONFIG.into(), rows }
}

/// Why a setting that was written does not count yet.
fn setting_hint(settings: &dyn SettingsAccess, key: &str) -> Option<LocalizedText> {
    match settings.overridden_by(key) {
        Some(origin) => Some(phrases::CONFIG_OVERRIDDEN.with("origin", origin)),
        None => avocet_config::keys::timing(key).hint().map(LocalizedText::from),
    }
}
