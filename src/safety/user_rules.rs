//! What rules of the user refuse, or ask about: commands and tools by their words, and files,
//! as `file.read ~/.ssh/**` does.

use std::path::{Component, Path};

use super::findings::Findings;
use super::policy::PolicyRule;
use super::sensitive::matches_glob;
use super::spec::JudgeContext;
use super::{paths, refusal};
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Tier;

/// The rule of a step that a rule of the user asks about.
pub(super) const ASKED: &str = "asked";

/// The use that a step makes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileAccess {
    Reads,
    Writes,
}

impl FileAccess {
    /// The tools whose rules are about it.
    fn tools(self) -> &'static [&'static str] {
        match self {
            FileAccess::Reads => &["file.read"],
            FileAccess::Writes => &["file.write", "file.edit"],
        }
    }
}

/// Adds that a rule of the user refuses, or asks about, a command, or a tool by its name.
pub(super) fn check_command(
    name: &str,
    at: Option<usize>,
    args: &[String],
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    add_findings(|rule| refusal::refuses(rule, name, args), at, context, findings);
}

/// The same for the use of a path, as it is written and with its links resolved.
pub(super) fn check_path(
    access: FileAccess,
    text: &str,
    at: Option<usize>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let policy_cx = context.policy_cx;
    let pattern = |rule: &PolicyRule| match rule.args.as_slice() {
        [pattern] if !rule.open && access.tools().contains(&rule.program.as_str()) => {
            Some(pattern.clone())
        }
        _ => None,
    };
    let written = paths::absolute(text, &context.cwd, &policy_cx.place.home);
    let applies = |rule: &PolicyRule| {
        pattern(rule).is_some_and(|pattern| {
            let ways = [paths::normalize(&written), policy_cx.world.resolve(&written)];
            ways.iter().any(|path| leads_there(&pattern, path, context))
        })
    };
    add_findings(applies, at, context, findings);
}

fn add_findings(
    applies: impl Fn(&PolicyRule) -> bool,
    at: Option<usize>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let policy = context.policy_cx.policy;
    if let Some(rule) = policy.denied.iter().find(|rule| applies(rule)) {
        let say = phrases::DENIED.with("rule", rule.to_string());
        findings.add("denied", Tier::L2, say, at, &[]);
    }
    if let Some(rule) = policy.asked.iter().find(|rule| applies(rule)) {
        let say = phrases::ASKED_RULE.with("rule", rule.to_string());
        findings.add(ASKED, Tier::L1, say, at, &[]);
    }
}

fn leads_there(pattern: &str, path: &Path, context: &JudgeContext<'_>) -> bool {
    let place = context.policy_cx.place;
    let below = pattern.strip_prefix("./").unwrap_or(pattern);
    let whole = match below.strip_prefix("~/") {
        Some(inner) => place.home.join(inner),
        // A name alone is one at any depth.
        None if !pattern.contains('/') => place.workspace.join("**").join(pattern),
        None => place.workspace.join(below),
    };
    is_in(&names(&whole), &names(path))
}

fn names(path: &Path) -> Vec<&[u8]> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    names.collect()
}

/// Whether a path, or a folder that it is in, fits a pattern by its names. Goes back to the last
/// `**` only, which is enough.
fn is_in(pattern: &[&[u8]], path: &[&[u8]]) -> bool {
    let mut at = 0;
    let mut from = 0;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        let Some(glob) = pattern.get(at) else { return true };
        if *glob == b"**" {
            at += 1;
            deep = Some((at, from));
            continue;
        }
        match (path.get(from), deep) {
            (Some(name), _) if matches_glob(glob, name) => {
                at += 1;
                from += 1;
            }
            (Some(_), Some((after, tried))) => {
                at = after;
                from = tried + 1;
                deep = Some((after, from));
            }
            (Some(_) | None, _) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_what_is_there_and_below() {
        let fits =
            |pattern: &str, path: &str| is_in(&names(Path::new(pattern)), &names(Path::new(path)));
        for (pattern, path) in [
            ("/w/.env", "/w/.env"),
            ("/w/secrets", "/w/secrets/a/b"),
            ("/h/.ssh/**", "/h/.ssh"),
            ("/h/.ssh/**", "/h/.ssh/id_rsa"),
            ("/w/**/.env", "/w/.env"),
            ("/w/**/.env", "/w/a/b/.env"),
            ("/w/**/a/*.pem", "/w/a/b/a/c.pem"),
            ("/etc/*", "/etc/passwd"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("/w/.env", "/w/.env.example"),
            ("/w/secrets/**", "/w"),
            ("/w/**/a/*.pem", "/w/a/b/c.txt"),
            ("/w/*/c", "/w/a/b/c"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
    }
}
