//! Settings that count at once: `/config`, and files that changed since they were read.

use super::Wanted;
use super::settings::{LiveModels, LiveSettings, LiveTools};
use super::state::Session;
use super::turn_update::UnreadSettings;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Event, Notice, Page, PageRow, SandboxStatus};
use avocet_safety::{Policy, PolicyRule};

impl Session {
    /// Takes over what changed in the files. Costs one look at each of them.
    pub(super) async fn reload_settings(&mut self) {
        if let Some(live) = self.settings.as_mut().and_then(|settings| settings.reload()) {
            self.apply_settings(live).await;
        }
    }

    /// The folder's own settings count, or do not any more.
    pub(super) async fn apply_project_settings(&mut self, is_trusted: bool) {
        let settings = self.settings.as_mut();
        if let Some(live) = settings.and_then(|settings| settings.set_trusted(is_trusted)) {
            self.apply_settings(live).await;
        }
    }

    async fn apply_settings(&mut self, live: LiveSettings) {
        self.apply_policy(live.policy);
        self.info.max_steps = live.max_steps;
        self.info.spend_limits = live.spend_limits;
        self.info.check = live.check;
        self.info.screen = live.screen;
        self.responder.extensions.find_scripts = live.find_scripts;
        (self.callbacks.doctor, self.callbacks.platforms) = (live.doctor, live.platforms);
        let unread = UnreadSettings {
            has_other_model: live.models.is_some(),
            has_other_tools: live.tools.is_some(),
        };
        if let Some(tools) = live.tools {
            self.apply_tools(tools).await;
        }
        if let Some(models) = live.models {
            self.apply_models(models).await;
        }
        self.update_running(|running| {
            let earlier = running.unread_settings.unwrap_or_default();
            running.unread_settings = Some(earlier.and(unread));
        });
        match live.lang {
            Some(lang) => self.set_lang(lang).await,
            None => self.send_info().await,
        }
        for notice in live.notices {
            self.notify(notice).await;
        }
    }

    /// The rules that were remembered or given in the session stay.
    fn apply_policy(&mut self, new_policy: Policy) {
        let policy = &mut self.security.policy;
        let before = self.base_policy.replace(new_policy.clone()).unwrap_or_default();
        *policy = Policy {
            allowed: merge(&policy.allowed, &before.allowed, &new_policy.allowed),
            denied: merge(&policy.denied, &before.denied, &new_policy.denied),
            granted: std::mem::take(&mut policy.granted),
            opened: std::mem::take(&mut policy.opened),
            asked: std::mem::take(&mut policy.asked),
            shelter: policy.shelter,
            approval: policy.approval,
            offered: policy.offered.take(),
            narrowed: policy.narrowed.take(),
            ..new_policy
        };
        self.apply_rules();
    }

    /// Steps that already run stay as they are. The sandbox is tried out before any other begins.
    async fn apply_tools(&mut self, tools: LiveTools) {
        self.tools = self.tools.replacing(&tools.tools);
        self.security.world = tools.world;
        let before = self.info.shelter;
        if let Some(status) = self.tools.sandbox_status().await {
            self.set_sandbox_status(status).await;
        }
        let has_changed = ![SandboxStatus::Unknown, self.info.shelter].contains(&before);
        if let Some(state) = self.info.shelter.about().filter(|_| has_changed) {
            self.notify(Notice::info(phrases::SANDBOX_NOW.with("state", state))).await;
        }
    }

    /// Goes on with the model of the settings if they name another one; otherwise with the one that
    /// answers now, reached again.
    async fn apply_models(&mut self, models: LiveModels) {
        self.callbacks.connect = models.connect;
        self.info.profile = models.profile;
        self.info.exposed = models.exposed;
        self.info.mode = models.mode.unwrap_or(self.info.mode);
        if let Some(effort) = models.effort {
            self.responder.effort = effort;
        }
        let wanted = match models.wanted {
            Some(Wanted::Mode(_)) => Wanted::Mode(self.info.mode),
            Some(other) => other,
            None => self.responder.wanted.clone(),
        };
        let before = self.responder.connected.clone();
        if self.connect(wanted).await {
            let now = &self.responder.connected;
            let is_same = before.base_url == now.base_url
                && before.provider == now.provider
                && before.model.name() == now.model.name();
            if !is_same {
                self.announce_switch(&before).await;
            }
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
            None => return self.show_settings(&words).await,
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
                match self.setting_hint(key) {
                    None => notice,
                    Some(hint) => notice.with_hint(hint),
                }
            }
            Err(why) => Notice::error(why),
        }
    }

    async fn show_settings(&mut self, beginning: &str) {
        let Some(settings) = &self.settings else { return };
        let mut rows = settings.rows(beginning, self.info.lang);
        if rows.is_empty() {
            rows.push(PageRow::line(phrases::CONFIG_NO_KEY.with("key", beginning)));
        }
        let page = Page { title: phrases::CONFIG.into(), rows };
        self.outbox.send(Event::Page(Box::new(page))).await;
    }

    /// Why a setting that was written does not count yet.
    fn setting_hint(&self, key: &str) -> Option<LocalizedText> {
        let other = self.settings.as_ref().and_then(|settings| settings.overridden_by(key));
        match other {
            Some(origin) => Some(phrases::CONFIG_OVERRIDDEN.with("origin", origin)),
            None => avocet_config::keys::timing(key).hint().map(LocalizedText::from),
        }
    }
}

/// The rules of the session over the new ones of the files.
fn merge(
    rules: &[PolicyRule],
    policy_rules: &[PolicyRule],
    new_rules: &[PolicyRule],
) -> Vec<PolicyRule> {
    let own = rules.iter().filter(|rule| !policy_rules.contains(rule) && !new_rules.contains(rule));
    new_rules.iter().chain(own).cloned().collect()
}
