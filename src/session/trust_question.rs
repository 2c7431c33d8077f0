//! The question whether this folder is trusted: when to ask it, and what an answer changes.

use super::state::Session;
use super::trust::{AfterTrust, TrustAnswer, TrustPrompt};
use avocet_config::project_kind::describe_project;
use avocet_core::i18n::{LocalizedText, sandbox as held, session as phrases};
use avocet_core::protocol::{Ask, AskId, Decision, Event, Notice, Question, SandboxStatus};
use avocet_safety::{self as safety, PolicyContext};
use avocet_tools::git_branch;

impl Session {
    /// Asks the question that has waited since the start.
    pub(super) async fn ask_trust_at_start(&mut self) {
        if let Some(because) = self.security.trust.ask_because.take() {
            self.ask_trust(because).await;
        }
    }

    /// `/trust`: shows whether the folder is trusted, and asks again.
    pub(super) async fn ask_trust_again(&mut self) {
        let because =
            if self.security.place.trusted { phrases::TRUST_IS } else { phrases::TRUST_IS_NOT };
        if self.open_question().is_none() && self.is_idle() {
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

    async fn ask_trust(&mut self, because: LocalizedText) {
        let id = AskId(self.conversation.next_ask);
        self.conversation.next_ask += 1;
        self.security.trust.open_question = Some(id);
        let found = self.security.trust.untrusted_files.clone();
        let because = match &self.security.trust.hazard {
            Some(hazard) => {
                phrases::TRUST_HAZARD.with("because", because).with("hazard", hazard.clone())
            }
            None => because,
        };
        let folder = self.info.cwd.clone();
        let above = self.security.trust.parent.clone();

        let question = Question::Trust { folder, above, because, found };
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

    /// The user trusts the folder during a turn, whose steps are already judged that way.
    pub(super) async fn trust_from_step(&mut self) {
        let notice = Notice::info(phrases::TRUST_GIVEN_AT_STEP);
        let notice = if self.security.trust.has_settings {
            notice.with_hint(phrases::TRUST_SETTINGS)
        } else {
            notice
        };
        self.set_trust(TrustAnswer::Folder, notice).await;
    }

    async fn set_trust(&mut self, answer: TrustAnswer, notice: Notice) {
        let trusted = answer != TrustAnswer::Untrusted;
        self.security.place.trusted = trusted;
        let guard = &self.security;
        let hooks = safety::hooks_digest(PolicyContext {
            policy: &guard.policy,
            place: &guard.place,
            world: guard.world.as_ref(),
        });
        self.security.place.trusted_hooks = trusted.then_some(hooks);
        self.info.trusted = trusted;
        self.info.branch =
            trusted.then(|| git_branch::current_branch(&self.security.place.cwd)).flatten();
        if trusted && self.conversation.history.is_empty() {
            self.surroundings.project = describe_project(&self.security.place.cwd);
        }
        self.count_changed_files().await;
        self.send_info().await;
        self.leave_unheld_mode().await;
        self.refresh();
        let kept = (self.security.trust.save)(answer);
        self.notify(notice).await;
        self.apply_project_settings(trusted).await;
        self.load_servers();
        self.load_hooks().await;
        if let Err(why) = kept {
            self.notify(Notice::warning(phrases::TRUST_NOT_KEPT.with("why", why))).await;
        }
    }
}

impl Session {
    /// The result of testing the sandbox.
    pub(super) async fn set_sandbox_status(&mut self, status: SandboxStatus) {
        self.info.shelter = status;
        self.security.policy.shelter = status;
        self.policy.send_replace(self.security.policy.clone());
        // Not earlier: only then is it known what may run by itself.
        self.count_changed_files().await;
        self.send_info().await;
        if status == SandboxStatus::Absent && (self.security.trust.mark_sandbox_warning)() {
            let notice = Notice::warning(held::TOLD_ABSENT).with_hint(held::TOLD_ABSENT_HINT);
            self.notify(notice).await;
        }
        self.leave_unheld_mode().await;
    }
}

fn trust_notice(trusted: bool, settings: bool) -> Notice {
    match (trusted, settings) {
        (true, true) => Notice::info(phrases::TRUST_GIVEN).with_hint(phrases::TRUST_SETTINGS),
        (true, false) => Notice::info(phrases::TRUST_GIVEN),
        (false, _) => Notice::info(phrases::TRUST_HELD_BACK).with_hint(phrases::TRUST_HOW),
    }
}
