//! What changes when this folder is trusted, or is not any more.

use super::session_effects::SessionEffect;
use super::state::Session;
use super::trust::TrustAnswer;
use avocet_config::project_kind::describe_project;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::Notice;
use avocet_safety as safety;
use avocet_tools::git_branch;

impl Session {
    pub(super) async fn set_trust(&mut self, answer: TrustAnswer, notice: Notice) {
        let trusted = answer != TrustAnswer::Untrusted;
        self.security.place.trusted = trusted;
        let hooks = safety::hooks_digest(self.security.context());
        self.security.place.trusted_hooks = trusted.then_some(hooks);
        self.info.trusted = trusted;
        if let Some(languages) = &self.callbacks.languages {
            languages.set_trusted(trusted);
        }
        self.info.branch =
            trusted.then(|| git_branch::current_branch(&self.security.place.cwd)).flatten();
        if trusted && self.conversation.history.is_empty() {
            self.resources.workspace_facts.project = describe_project(&self.security.place.cwd);
        }
        self.follow([SessionEffect::FilesChanged, SessionEffect::InfoChanged]).await;
        let effects = self.security.leave_unheld_mode(&mut self.info);
        self.follow(effects).await;
        self.resources.extensions.refresh(&self.security.place, &self.resources.messages);
        let kept = (self.security.trust.save)(answer);
        self.notify(notice).await;
        let changes = self.settings.set_trusted(trusted);
        self.apply_settings(changes).await;
        self.resources.servers.load(trusted);
        let notice = self.hooks.load(&mut self.security, &mut self.info);
        self.follow(notice).await;
        if let Err(why) = kept {
            self.notify(Notice::warning(phrases::TRUST_NOT_KEPT.with("why", why))).await;
        }
    }
}
