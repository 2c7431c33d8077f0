//! What rules of the user refuse, or ask about: commands and tools by their words, and files,
//! as `file.read ~/.ssh/**` does.

use std::path::{Component, Path, PathBuf};

use super::findings::Findings;
use super::launch::UNKNOWN;
use super::policy::PolicyRule;
use super::sensitive::matches_glob;
use super::spec::JudgeContext;
use super::{PathKind, paths, refusal, sensitive};
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
    /// The pattern of a rule that is about it.
    fn pattern_of(self, rule: &PolicyRule) -> Option<&str> {
        match rule.args.as_slice() {
            [pattern] if !rule.open && self.tools().contains(&rule.program.as_str()) => {
                Some(pattern)
            }
            _ => None,
        }
    }

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
    let place = context.policy_cx.place;
    if access == FileAccess::Reads && text.contains(UNKNOWN) {
        check_folder(&place.workspace, at, context, findings);
    }
    let written = paths::absolute(text, &context.cwd, &place.home);
    check_written(access, &written, at, context, findings);
}

/// The same for an absolute path.
pub(super) fn check_written(
    access: FileAccess,
    written: &Path,
    at: Option<usize>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let applies = |rule: &PolicyRule| {
        access.pattern_of(rule).is_some_and(|pattern| {
            let ways = [paths::normalize(written), context.policy_cx.world.resolve(written)];
            let whole = whole_pattern(pattern, context);
            ways.iter().any(|path| is_in(&names(&whole), &names(path)))
        })
    };
    add_findings(applies, at, context, findings);
}

/// Asks about what goes through a folder where files are that a rule of the user is about.
pub(super) fn check_folder(
    folder: &Path,
    at: Option<usize>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    if let Some((_, rule)) = patterns_below(folder, context).first() {
        let say = phrases::ASKED_FOLDER.with("rule", rule.to_string());
        findings.add(ASKED, Tier::L1, say, at, &[]);
    }
}

/// The patterns of files that rules of the user refuse to read, or ask about, as far as they lead
/// below a folder to something that is there. Names of credentials are not among them: everything
/// that goes through folders leaves these out.
pub(super) fn patterns_below<'a>(
    folder: &Path,
    context: &JudgeContext<'a>,
) -> Vec<(PathBuf, &'a PolicyRule)> {
    let policy_cx = context.policy_cx;
    let is_left_out = |pattern: &Path| {
        let last = pattern.iter().rfind(|name| *name != "**").unwrap_or_default().to_string_lossy();
        sensitive::is_sensitive_name(&last) || sensitive::targets_credentials(&last)
    };
    let rules = policy_cx.policy.denied.iter().chain(&policy_cx.policy.asked);
    let patterns = rules.filter_map(|rule| {
        let pattern = FileAccess::Reads.pattern_of(rule)?;
        Some((whole_pattern(pattern, context), rule))
    });
    let is_below = |(pattern, _): &(PathBuf, &PolicyRule)| {
        let start = fixed_start(pattern);
        (start.starts_with(folder) || folder.starts_with(&start))
            && policy_cx.world.kind(&start) != PathKind::Missing
            && !is_left_out(pattern)
    };
    patterns.filter(is_below).collect()
}

/// What a pattern begins with, up to the first name that fits others.
pub(super) fn fixed_start(pattern: &Path) -> PathBuf {
    let is_fixed = |name: &Component<'_>| {
        !name.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
    };
    pattern.components().take_while(is_fixed).collect()
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

fn whole_pattern(pattern: &str, context: &JudgeContext<'_>) -> PathBuf {
    let place = context.policy_cx.place;
    let below = pattern.strip_prefix("./").unwrap_or(pattern);
    match below.strip_prefix("~/") {
        Some(inner) => place.home.join(inner),
        // A name alone is one at any depth.
        None if !pattern.contains('/') => place.workspace.join("**").join(pattern),
        None => place.workspace.join(below),
    }
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
