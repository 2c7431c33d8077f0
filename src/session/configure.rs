//! Settings that count at once: `/config`, and files that changed since they were read.

use super::state::Session;
use crate::i18n::session as words;
use crate::protocol::{Event, Notice, Page, PageRow};
use crate::safety::{Policy, PolicyRule};

impl Session {
    /// Takes over what changed in the files. Costs one look at each of them.
    pub(super) async fn reload_settings(&mut self) -> bool {
        let Some(live) = self.settings.as_mut().and_then(|settings| settings.reload()) else {
            return false;
        };
        let policy = &mut self.security.policy;
        let before = self.base_policy.replace(live.policy.clone()).unwrap_or_default();
        *policy = Policy {
            allowed: merge(&policy.allowed, &before.allowed, &live.policy.allowed),
            denied: merge(&policy.denied, &before.denied, &live.policy.denied),
            granted: std::mem::take(&mut policy.granted),
            shelter: policy.shelter,
            approval: policy.approval,
            offered: policy.offered.take(),
            narrowed: policy.narrowed.take(),
            ..live.policy
        };
        self.policy.send_replace(self.security.policy.clone());
        self.info.max_steps = live.max_steps;
        self.info.spend_limits = live.spend_limits;
        self.info.check = live.check;
        super::permissions::show_rules(
            &self.security.policy,
            &self.security.place.cwd,
            &mut self.info,
        );
        self.send_info().await;
        for notice in live.problems {
            self.notify(notice).await;
        }
        true
    }

    /// `/config`.
    pub(super) async fn configure(&mut self, key: Option<String>, value: Option<String>) {
        let Some(settings) = self.settings.as_mut() else {
            return self.notify(Notice::error(words::CONFIG_UNAVAILABLE)).await;
        };
        let key = key.unwrap_or_default();
        let done = match key.strip_prefix("unset ") {
            Some(key) => settings.set(key.trim(), None),
            None if value.is_some() => settings.set(&key, value.as_deref()),
            None => {
                let mut rows = settings.rows(&key, self.info.lang);
                if rows.is_empty() {
                    rows.push(PageRow::line(words::CONFIG_NO_KEY.with("key", key)));
                }
                let page = Page { title: words::CONFIG.into(), rows };
                return self.outbox.send(Event::Page(Box::new(page))).await;
            }
        };
        match done {
            Ok(say) => {
                self.reload_settings().await;
                let notice = Notice::info(say);
                let at_once = match key.strip_prefix("unset ") {
                    Some(key) => counts_at_once(SESSION, key.trim()),
                    None => counts_at_once(SESSION, &key) || counts_at_once(SCREEN, &key),
                };
                let notice = match at_once {
                    true => notice,
                    false => notice.with_hint(words::CONFIG_NEXT_START),
                };
                self.notify(notice).await;
            }
            Err(why) => self.notify(Notice::error(why)).await,
        }
    }
}

/// The rules of the session over the new ones of the files.
fn merge(now: &[PolicyRule], before: &[PolicyRule], new: &[PolicyRule]) -> Vec<PolicyRule> {
    let own = now.iter().filter(|rule| !before.contains(rule) && !new.contains(rule));
    new.iter().chain(own).cloned().collect()
}

/// Settings that a running session takes over.
const SESSION: &[&str] = &[
    "safety.allow",
    "safety.allow_network",
    "safety.allow_sudo",
    "safety.allow_write",
    "safety.allowed_programs",
    "safety.config_files",
    "safety.deny",
    "safety.lift",
    "safety.max_auto_steps_per_turn",
    "safety.unknown_program",
    "limits.cost.",
    "limits.tokens.",
    "project.check",
];

/// Settings that the screen takes over from the line that sets them.
const SCREEN: &[&str] = &[
    "mode",
    "lang",
    "theme",
    "vim",
    "timestamps",
    "show_thinking",
    "show_pictures",
    "motion",
    "enter_while_busy",
];

fn counts_at_once(known: &[&str], key: &str) -> bool {
    known.iter().any(|row| *row == key || (row.ends_with('.') && key.starts_with(row)))
}
