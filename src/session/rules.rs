//! Rules a person adds while a session runs: `/allow`, `/deny`, "don't ask again".

use super::{Guard, Memory};
use crate::protocol::{Notice, Scope};
use crate::safety::{Policy, Rule};
use crate::words::session as words;

/// Covers it from now on. The rule itself says what may not be allowed in general.
pub fn allow(guard: &mut Guard, text: &str, scope: Scope) -> Notice {
    let rule = match Rule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    let notice = match scope {
        Scope::Session => Notice::info(words::ALLOWED.with("rule", rule.to_string())),
        Scope::Project => match (guard.keep_rule)(&rule, Memory::Keep) {
            Ok(()) => Notice::info(words::ALLOWED_PROJECT.with("rule", rule.to_string())),
            Err(why) => Notice::warning(words::RULE_NOT_KEPT.with("why", why)),
        },
    };
    add(&mut guard.policy.allowed, rule);
    notice
}

/// Refuses it from now on, whatever else covers it.
pub fn deny(guard: &mut Guard, text: &str) -> Notice {
    match Rule::parse(text) {
        Ok(rule) => {
            let notice = Notice::info(words::DENIED.with("rule", rule.to_string()));
            add(&mut guard.policy.denied, rule);
            notice
        }
        Err(why) => Notice::error(why),
    }
}

/// Takes a rule back, whichever side it stands on. One of the settings file comes back
/// with the next start, which is said.
pub fn revoke(guard: &mut Guard, text: &str) -> Notice {
    let rule = match Rule::parse(text) {
        Ok(rule) => rule,
        Err(why) => return Notice::error(why),
    };
    let Policy { allowed, denied, .. } = &mut guard.policy;
    let before = allowed.len() + denied.len();
    allowed.retain(|known| *known != rule);
    denied.retain(|known| *known != rule);
    if allowed.len() + denied.len() == before {
        return Notice::warning(words::RULE_NOT_THERE.with("rule", rule.to_string()));
    }
    match (guard.keep_rule)(&rule, Memory::Forget) {
        Ok(()) => Notice::info(words::REVOKED.with("rule", rule.to_string()))
            .hint(words::REVOKED_SETTINGS),
        Err(why) => Notice::warning(words::RULE_NOT_FORGOTTEN.with("why", why)),
    }
}

fn add(list: &mut Vec<Rule>, rule: Rule) {
    if !list.contains(&rule) {
        list.push(rule);
    }
}
