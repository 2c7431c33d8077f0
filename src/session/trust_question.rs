//! The question whether this folder is trusted: when to ask it, and what an answer changes.

use super::session_effects::SessionEffect;
use super::state::Session;
use super::trust::{AfterTrust, TrustAnswer, TrustPrompt};
use avocet_config::project_kind::describe_project;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Ask, AskId, Decision, Event, Notice};
use avocet_safety as safety;
use avocet_tools::git_branch;

impl Session {
    /// `/trust`: shows whether the folder is trusted, and asks again.
    pub(super) async fn ask_trust_again(&mut self) {
        let because =
            if self.security.place.trusted { phrases::TRUST_IS } else { phrases::TRUST_IS_NOT };
        if !self.is_busy() {
            // The user is shown what there is now, and that is what counts as trusted.
            if let Some(new) = self.settings.as_mut().and_then(|settings| settings.trust_prompt()) {
                let now = &mut self.security.trust;
                let mark_sandbox_warning =
                    std::mem::replace(&mut now.mark_sandbox_warning, Box::new(|| false));
                *now = TrustPrompt { mark_sandbox_warning, ..new };
            }
            self.ask_trust(because.into()).await;
        }
    }

    pub(super) async fn ask_trust(&mut self, because: LocalizedText) {
        let id = self.conversation.shared.next_ask_id();
        let question = self.security.trust.ask(id, self.info.cwd.clone(), because);
        self.outbox.send(Event::Asked(Box::new(Ask { id, question }))).await;
    }

    /// Handles the answer. Only a plain yes grants trust, and one that names the parent folder
    /// trusts that.
    pub(super) async fn apply_trust_answer(
        &mut self,
        ask: AskId,
        decision: Decision,
    ) -> AfterTrust {
        self.security.trust.open_question = None;
        self.outbox.send(Event::QuestionClosed { ask }).await;
        let given = match decision {
            Decision::Approve | Decision::Trust => TrustAnswer::Folder,
            Decision::TrustParent if self.security.trust.parent.is_some() => TrustAnswer::Parent,
            Decision::Reject { .. }
            | Decision::NotAsked { .. }
            | Decision::TrustParent
            | Decision::WithoutSandbox
            | Decision::Remember(_)
            | Decision::ApproveAll { .. }
            | Decision::Choose { .. }
            | Decision::Answer { .. }
            | Decision::Fill { .. }
            | Decision::AcceptPlan { .. }
            | Decision::Edit(_) => TrustAnswer::Untrusted,
            // It stays unchanged, and the question may return.
            Decision::Dismiss => {
                let trusted = self.security.place.trusted;
                let word = if trusted { phrases::TRUST_STAYS } else { phrases::TRUST_STAYS_OFF };
                let notice = Notice::info(word);
                self.notify(if trusted { notice } else { notice.with_hint(phrases::TRUST_HOW) })
                    .await;
                return AfterTrust::Continue;
            }
            Decision::Stop => return AfterTrust::Quit,
        };
        let notice =
            trust_notice(given != TrustAnswer::Untrusted, self.security.trust.has_settings);
        self.set_trust(given, notice).await;
        AfterTrust::Continue
    }

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
            self.resources.surroundings.project = describe_project(&self.security.place.cwd);
        }
        self.follow([SessionEffect::FilesChanged, SessionEffect::InfoChanged]).await;
        let effects = self.security.leave_unheld_mode(&mut self.info);
        self.follow(effects).await;
        self.resources.extensions.refresh(&self.security.place, &self.resources.messages);
        let kept = (self.security.trust.save)(answer);
        self.notify(notice).await;
        // The folder's own settings count, or do not any more.
        if let Some(live) =
            self.settings.as_mut().and_then(|settings| settings.set_trusted(trusted))
        {
            self.apply_settings(live).await;
        }
        self.resources.servers.load(trusted);
        self.load_hooks().await;
        if let Err(why) = kept {
            self.notify(Notice::warning(phrases::TRUST_NOT_KEPT.with("why", why))).await;
        }
    }
}

fn trust_notice(trusted: bool, settings: bool) -> Notice {
    match (trusted, settings) {
        (true, true) => Notice::info(phrases::TRUST_GIVEN).with_hint(phrases::TRUST_SETTINGS),
        (true, false) => Notice::info(phrases::TRUST_GIVEN),
        (false, _) => Notice::info(phrases::TRUST_HELD_BACK).with_hint(phrases::TRUST_HOW),
    }
}
