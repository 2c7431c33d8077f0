//! Takes over settings that changed while the session runs.

use super::Security;
use super::session_effects::Effects;
use super::settings::{ReloadedSettings, ReloadedTools};
use super::state::Session;
use super::turn_update::UnreadSettings;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Notice, SandboxStatus, SessionInfo};
use avocet_tools::Toolbox;

/// Steps that already run stay as they are. The sandbox is tried out before any other begins.
async fn replace_tools(
    tools: ReloadedTools,
    toolbox: &mut Toolbox,
    security: &mut Security,
    info: &mut SessionInfo,
) -> Effects {
    *toolbox = toolbox.replacing(&tools.tools);
    security.world = tools.world;
    let before = info.shelter;
    let mut effects = match toolbox.sandbox_status().await {
        Some(status) => security.set_sandbox_status(status, info),
        None => Effects::new(),
    };
    let has_changed = ![SandboxStatus::Unknown, info.shelter].contains(&before);
    if let Some(state) = info.shelter.about().filter(|_| has_changed) {
        effects.push(Notice::info(phrases::SANDBOX_NOW.with("state", state)).into());
    }
    effects
}

impl Session {
    pub(super) async fn apply_settings(
        &mut self,
        settings: impl IntoIterator<Item = ReloadedSettings>,
    ) {
        for live in settings {
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
                let toolbox = &mut self.resources.tools;
                let effects =
                    replace_tools(tools, toolbox, &mut self.security, &mut self.info).await;
                self.follow(effects).await;
            }
            if let Some(models) = live.models {
                let effects = self.resources.model.apply_settings(models, &mut self.info);
                self.follow(effects).await;
            }
            if let Some(running) = &mut self.running {
                let earlier = running.unread_settings.unwrap_or_default();
                running.unread_settings = Some(earlier.and(unread));
            }
            match live.lang {
                Some(lang) => {
                    let effects = self.resources.model.set_lang(lang, &mut self.info);
                    self.follow(effects).await;
                }
                None => self.send_info().await,
            }
            self.follow(live.notices).await;
        }
    }
}
