//! Rules the user adds while a session runs: `/allow`, `/deny`, "don't ask again".

use std::path::Path;

use super::{RuleChange, Security};
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{ApprovalScope, Notice, SessionInfo};
use avocet_safety::{self as safety, Grant, Policy, PolicyContext, PolicyRule, SessionOpening};

/// `/allow`: allows this from now on. A program in the folder is allowed with its current content.
/// If no rule can cover it, none is added, and the user sees why.
pub fn allow(security: &mut Security, text: &str) -> Notice {
    let rule = match PolicyRule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    let cx = PolicyContext {
        policy: &security.policy,
        place: &security.place,
        world: security.world.as_ref(),
    };
    let bound = safety::bind_to_content(rule.clone(), cx).ok();
    if let Some(why) = safety::why_never_applies(&rule, bound.as_ref(), cx) {
        return Notice::error(why);
    }
    let notice = Notice::info(phrases::ALLOWED.with("rule", rule.to_string()));
    add_for_session(security, &rule);
    match bound {
        Some(grant) => add(&mut security.policy.granted, grant),
        None => add(&mut security.policy.allowed, rule),
    }
    notice
}

/// "Don't ask again": allows this step from now on, on its terms.
pub fn grant(security: &mut Security, grant: Grant, scope: ApprovalScope) -> Notice {
    let Grant { rule, terms } = &grant;
    match scope {
        ApprovalScope::Session => add_for_session(security, rule),
        ApprovalScope::Project => security.session_rules.retain(|given| given != rule),
    }
    let notice = match scope {
        ApprovalScope::Session => Notice::info(phrases::ALLOWED.with("rule", rule.to_string())),
        ApprovalScope::Project => {
            match (security.keep_rule)(rule, RuleChange::Keep(Some(terms.clone()))) {
                Ok(()) => Notice::info(phrases::ALLOWED_PROJECT.with("rule", rule.to_string())),
                Err(why) => Notice::warning(phrases::RULE_NOT_KEPT.with("why", why)),
            }
        }
    };
    add(&mut security.policy.granted, grant);
    notice
}

/// A rule that holds anyway, such as one of the settings, stays when the session ends.
fn add_for_session(security: &mut Security, rule: &PolicyRule) {
    let Policy { allowed, granted, .. } = &security.policy;
    if !allowed.contains(rule) && !granted.iter().any(|known| known.rule == *rule) {
        security.session_rules.push(rule.clone());
    }
}

/// Another session begins: what was allowed in the last one asks again. What was refused stays so.
pub fn end_session(security: &mut Security) {
    let given = std::mem::take(&mut security.session_rules);
    let Policy { allowed, granted, opened, .. } = &mut security.policy;
    allowed.retain(|rule| !given.contains(rule));
    granted.retain(|grant| !given.contains(&grant.rule));
    opened.clear();
}

/// What the sandbox had denied a command is open to it from now on, for this session.
pub fn open(security: &mut Security, opening: SessionOpening) -> Notice {
    let step = opening.command.short_line();
    let what = opening.denied.denied_actions();

    add(&mut security.policy.opened, opening);
    Notice::info(phrases::OPENED.with("step", step).with("what", what))
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

/// Refuses this from now on, even if another rule allows it.
pub fn deny(security: &mut Security, text: &str) -> Notice {
    match PolicyRule::parse(text) {
        Ok(rule) => {
            let notice = Notice::info(phrases::DENIED.with("rule", rule.to_string()));
            add(&mut security.policy.denied, rule);
            notice
        }
        Err(why) => Notice::error(why),
    }
}

/// Removes a rule of either kind. A rule of the settings file returns with the next start, and the
/// user is told so.
pub fn revoke(security: &mut Security, text: &str) -> Notice {
    let rule = match PolicyRule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    security.session_rules.retain(|given| *given != rule);
    let Policy { allowed, granted, denied, .. } = &mut security.policy;
    let before = allowed.len() + granted.len() + denied.len();
    allowed.retain(|known| *known != rule);
    granted.retain(|known| known.rule != rule);
    denied.retain(|known| *known != rule);
    if allowed.len() + granted.len() + denied.len() == before {
        return Notice::warning(phrases::RULE_NOT_THERE.with("rule", rule.to_string()));
    }
    match (security.keep_rule)(&rule, RuleChange::Forget) {
        Ok(()) => Notice::info(phrases::REVOKED.with("rule", rule.to_string()))
            .with_hint(phrases::REVOKED_SETTINGS),
        Err(why) => Notice::warning(phrases::RULE_NOT_FORGOTTEN.with("why", why)),
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, rule: T) {
    if !list.contains(&rule) {
        list.push(rule);
    }
}
