//! Rules the user adds while a session runs: `/allow`, `/deny`, "don't ask again".

use std::path::Path;

use super::{RuleChange, Security};
use avocet_core::i18n::{LocalizedText, session as words};
use avocet_core::protocol::{ApprovalScope, Notice, SessionInfo};
use avocet_safety::{self as safety, Grant, Policy, PolicyContext, PolicyRule, SessionOpening};

/// `/allow`: allows this from now on. A program in the folder is allowed with its current content.
/// If no rule can cover it, none is added, and the user sees why.
pub fn allow(guard: &mut Security, text: &str) -> Notice {
    let rule = match PolicyRule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    let scene =
        PolicyContext { policy: &guard.policy, place: &guard.place, world: guard.world.as_ref() };
    let bound = safety::bind_to_content(rule.clone(), scene).ok();
    if let Some(why) = safety::why_never_applies(&rule, bound.as_ref(), scene) {
        return Notice::error(why);
    }
    let notice = Notice::info(words::ALLOWED.with("rule", rule.to_string()));
    add_for_session(guard, &rule);
    match bound {
        Some(grant) => add(&mut guard.policy.granted, grant),
        None => add(&mut guard.policy.allowed, rule),
    }
    notice
}

/// "Don't ask again": allows this step from now on, on its terms.
pub fn grant(guard: &mut Security, grant: Grant, scope: ApprovalScope) -> Notice {
    let Grant { rule, terms } = &grant;
    match scope {
        ApprovalScope::Session => add_for_session(guard, rule),
        ApprovalScope::Project => guard.session_rules.retain(|given| given != rule),
    }
    let notice = match scope {
        ApprovalScope::Session => Notice::info(words::ALLOWED.with("rule", rule.to_string())),
        ApprovalScope::Project => {
            match (guard.keep_rule)(rule, RuleChange::Keep(Some(terms.clone()))) {
                Ok(()) => Notice::info(words::ALLOWED_PROJECT.with("rule", rule.to_string())),
                Err(why) => Notice::warning(words::RULE_NOT_KEPT.with("why", why)),
            }
        }
    };
    add(&mut guard.policy.granted, grant);
    notice
}

/// A rule that holds anyway, such as one of the settings, stays when the session ends.
fn add_for_session(guard: &mut Security, rule: &PolicyRule) {
    let Policy { allowed, granted, .. } = &guard.policy;
    if !allowed.contains(rule) && !granted.iter().any(|known| known.rule == *rule) {
        guard.session_rules.push(rule.clone());
    }
}

/// Another session begins: what was allowed in the last one asks again. What was refused stays so.
pub fn end_session(guard: &mut Security) {
    let given = std::mem::take(&mut guard.session_rules);
    let Policy { allowed, granted, opened, .. } = &mut guard.policy;
    allowed.retain(|rule| !given.contains(rule));
    granted.retain(|grant| !given.contains(&grant.rule));
    opened.clear();
}

/// What the sandbox had denied a command is open to it from now on, for this session.
pub fn open(guard: &mut Security, opening: SessionOpening) -> Notice {
    let (step, what) = (opening.command.short_line(), opening.denied.denied_actions());
    add(&mut guard.policy.opened, opening);
    Notice::info(words::OPENED.with("step", step).with("what", what))
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
pub fn deny(guard: &mut Security, text: &str) -> Notice {
    match PolicyRule::parse(text) {
        Ok(rule) => {
            let notice = Notice::info(words::DENIED.with("rule", rule.to_string()));
            add(&mut guard.policy.denied, rule);
            notice
        }
        Err(why) => Notice::error(why),
    }
}

/// Removes a rule of either kind. A rule of the settings file returns with the next start, and the
/// user is told so.
pub fn revoke(guard: &mut Security, text: &str) -> Notice {
    let rule = match PolicyRule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    guard.session_rules.retain(|given| *given != rule);
    let Policy { allowed, granted, denied, .. } = &mut guard.policy;
    let before = allowed.len() + granted.len() + denied.len();
    allowed.retain(|known| *known != rule);
    granted.retain(|known| known.rule != rule);
    denied.retain(|known| *known != rule);
    if allowed.len() + granted.len() + denied.len() == before {
        return Notice::warning(words::RULE_NOT_THERE.with("rule", rule.to_string()));
    }
    match (guard.keep_rule)(&rule, RuleChange::Forget) {
        Ok(()) => Notice::info(words::REVOKED.with("rule", rule.to_string()))
            .with_hint(words::REVOKED_SETTINGS),
        Err(why) => Notice::warning(words::RULE_NOT_FORGOTTEN.with("why", why)),
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, rule: T) {
    if !list.contains(&rule) {
        list.push(rule);
    }
}
