//! What a session may do: the rules the user adds while it runs (`/allow`, `/deny`, "don't ask
//! again") over those of the settings, and whether a sandbox holds its steps.

use std::path::Path;

use tokio::sync::watch;

use super::session_effects::{Effects, SessionEffect};
use super::turn_messages::PermissionMessage;
use super::{RuleChange, Security};
use avocet_core::i18n::{LocalizedText, sandbox as held, session as phrases};
use avocet_core::protocol::{ApprovalScope, Notice, RuleOp, SandboxStatus, SessionInfo};
use avocet_safety::{self as safety, Grant, Policy, PolicyContext, PolicyRule, SessionOpening};

impl Security {
    /// A session begins with what it has now; `base`: the part of the settings.
    pub(super) fn begin_session(&mut self, base: Option<Policy>) {
        self.session.command_line_folders = self.place.added.len();
        self.session.base = base;
        self.send_update();
    }

    pub(super) fn context(&self) -> PolicyContext<'_> {
        PolicyContext { policy: &self.policy, place: &self.place, world: self.world.as_ref() }
    }

    pub(super) fn updates(&self) -> watch::Receiver<Policy> {
        self.session.updates.subscribe()
    }

    pub(super) fn send_update(&self) {
        self.session.updates.send_replace(self.policy.clone());
    }

    /// The rules count from now on.
    pub(super) fn publish(&self, info: &mut SessionInfo) {
        self.send_update();
        show_rules(&self.policy, &self.place.cwd, info);
    }

    pub(super) fn handle(&mut self, op: RuleOp, info: &mut SessionInfo) -> Effects {
        let notice = match op {
            RuleOp::Allow { rule } => self.allow(&rule),
            RuleOp::Deny { rule } => self.deny(&rule),
            RuleOp::Revoke { rule } => self.revoke(&rule),
            RuleOp::SetApprovalMode { mode } => return self.set_approval_mode(mode, info),
            RuleOp::AddFolder { path } => return self.add_folder(&path, info),
            // A question, which the session asks.
            RuleOp::Trust => return Effects::new(),
        };
        self.publish(info);
        vec![SessionEffect::InfoChanged, notice.into()]
    }

    /// What the user permits at a question.
    pub(super) fn permit(&mut self, message: PermissionMessage, info: &mut SessionInfo) -> Effects {
        let notice = match message {
            PermissionMessage::Rule(rule) => self.allow(&rule),
            PermissionMessage::Step { grant, scope } => self.grant(*grant, scope),
            PermissionMessage::Opening(opening) => self.open(*opening),
        };
        self.publish(info);
        vec![SessionEffect::InfoChanged, notice.into()]
    }

    /// Goes on with the policy of other settings. The rules that were remembered or given in the
    /// session stay.
    pub(super) fn replace_base(&mut self, new_policy: Policy, info: &mut SessionInfo) {
        let policy = &mut self.policy;
        let before = self.session.base.replace(new_policy.clone()).unwrap_or_default();
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
        self.publish(info);
    }

    /// The result of testing the sandbox. Only then is it known what may run by itself.
    pub(super) fn set_sandbox_status(
        &mut self,
        status: SandboxStatus,
        info: &mut SessionInfo,
    ) -> Effects {
        info.shelter = status;
        self.policy.shelter = status;
        self.send_update();
        let mut effects = vec![SessionEffect::FilesChanged, SessionEffect::InfoChanged];
        if status == SandboxStatus::Absent && (self.trust.mark_sandbox_warning)() {
            let notice = Notice::warning(held::TOLD_ABSENT).with_hint(held::TOLD_ABSENT_HINT);
            effects.push(notice.into());
        }
        effects.extend(self.leave_unheld_mode(info));
        effects
    }

    /// `/allow`: allows this from now on. A program in the folder is allowed with its current content.
    /// If no rule can cover it, none is added, and the user sees why.
    pub fn allow(&mut self, text: &str) -> Notice {
        let rule = match PolicyRule::parse(text) {
            Ok(rule) => rule,
            Err(why) => return Notice::error(why),
        };
        let cx = self.context();
        let bound = safety::bind_to_content(rule.clone(), cx).ok();
        if let Some(why) = safety::why_never_applies(&rule, bound.as_ref(), cx) {
            return Notice::error(why);
        }
        let notice = Notice::info(phrases::ALLOWED.with("rule", rule.to_string()));
        self.add_for_session(&rule);
        match bound {
            Some(grant) => add(&mut self.policy.granted, grant),
            None => add(&mut self.policy.allowed, rule),
        }
        notice
    }

    /// "Don't ask again": allows this step from now on, on its terms.
    pub fn grant(&mut self, grant: Grant, scope: ApprovalScope) -> Notice {
        let Grant { rule, terms } = &grant;
        match scope {
            ApprovalScope::Session => self.add_for_session(rule),
            ApprovalScope::Project => self.session.rules.retain(|given| given != rule),
        }
        let notice = match scope {
            ApprovalScope::Session => Notice::info(phrases::ALLOWED.with("rule", rule.to_string())),
            ApprovalScope::Project => {
                match (self.keep_rule)(rule, RuleChange::Keep(Some(terms.clone()))) {
                    Ok(()) => Notice::info(phrases::ALLOWED_PROJECT.with("rule", rule.to_string())),
                    Err(why) => Notice::warning(phrases::RULE_NOT_KEPT.with("why", why)),
                }
            }
        };
        add(&mut self.policy.granted, grant);
        notice
    }

    /// A rule that holds anyway, such as one of the settings, stays when the session ends.
    fn add_for_session(&mut self, rule: &PolicyRule) {
        let Policy { allowed, granted, .. } = &self.policy;
        if !allowed.contains(rule) && !granted.iter().any(|known| known.rule == *rule) {
            self.session.rules.push(rule.clone());
        }
    }

    /// Another session begins: what was allowed in the last one asks again. What was refused stays so.
    pub fn end_session(&mut self) {
        let given = std::mem::take(&mut self.session.rules);
        let Policy { allowed, granted, opened, .. } = &mut self.policy;
        allowed.retain(|rule| !given.contains(rule));
        granted.retain(|grant| !given.contains(&grant.rule));
        opened.clear();
    }

    /// What the sandbox had denied a command is open to it from now on, for this session.
    pub fn open(&mut self, opening: SessionOpening) -> Notice {
        let step = opening.command.short_line();
        let what = opening.denied.denied_actions();

        add(&mut self.policy.opened, opening);
        Notice::info(phrases::OPENED.with("step", step).with("what", what))
    }

    /// Refuses this from now on, even if another rule allows it.
    pub fn deny(&mut self, text: &str) -> Notice {
        match PolicyRule::parse(text) {
            Ok(rule) => {
                let notice = Notice::info(phrases::DENIED.with("rule", rule.to_string()));
                add(&mut self.policy.denied, rule);
                notice
            }
            Err(why) => Notice::error(why),
        }
    }

    /// Removes a rule of either kind. A rule of the settings file returns with the next start, and the
    /// user is told so.
    pub fn revoke(&mut self, text: &str) -> Notice {
        let rule = match PolicyRule::parse(text) {
            Ok(rule) => rule,
            Err(why) => return Notice::error(why),
        };
        self.session.rules.retain(|given| *given != rule);
        let Policy { allowed, granted, denied, .. } = &mut self.policy;
        let before = allowed.len() + granted.len() + denied.len();
        allowed.retain(|known| *known != rule);
        granted.retain(|known| known.rule != rule);
        denied.retain(|known| *known != rule);
        if allowed.len() + granted.len() + denied.len() == before {
            return Notice::warning(phrases::RULE_NOT_THERE.with("rule", rule.to_string()));
        }
        match (self.keep_rule)(&rule, RuleChange::Forget) {
            Ok(()) => Notice::info(phrases::REVOKED.with("rule", rule.to_string()))
                .with_hint(phrases::REVOKED_SETTINGS),
            Err(why) => Notice::warning(phrases::RULE_NOT_FORGOTTEN.with("why", why)),
        }
    }
}

/// Puts the rules into the session's information, with what each allowing one covers.
pub fn show_rules(policy: &Policy, folder: &Path, info: &mut SessionInfo) {
    let shown = |rules: &[PolicyRule]| rules.iter().map(ToString::to_string).collect();
    info.allowed = shown(&policy.allow_rules());
    info.allowed_covers = covers(policy, folder);
    info.denied = shown(&policy.denied);
}

/// What each allowing rule covers, in the order of [`Policy::allow_rules`].
fn covers(policy: &Policy, folder: &Path) -> Vec<Vec<LocalizedText>> {
    let written = policy.allowed.iter().map(|rule| safety::describe_coverage(rule, None, folder));
    let granted = policy.granted.iter();
    let granted = granted.map(|one| safety::describe_coverage(&one.rule, Some(&one.terms), folder));
    written.chain(granted).collect()
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

fn add<T: PartialEq>(list: &mut Vec<T>, rule: T) {
    if !list.contains(&rule) {
        list.push(rule);
    }
}
