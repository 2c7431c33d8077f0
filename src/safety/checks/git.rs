//! Checks arguments of `git` whose meaning flags do not give: names that are created, refs
//! that are forced, paths that mean everything.

use std::path::{Path, PathBuf};

use avocet_core::i18n::{LocalizedText, Phrase, safety as phrases};
use avocet_core::protocol::{Effect, Tier};

use super::super::PathKind;
use super::super::args;
use super::super::findings::{DELETES, Findings, REMOTE, excerpt};
use super::super::repository::{self, Worry};
use super::super::spec::{ArgPosition, ArgToken, ProgramCall, operands};

/// What the repository itself would make `git` start, in any folder `-C` leads to; and
/// submodules, whose settings a second git would read without our overrides.
pub fn git_repository(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let ArgPosition::From(first) = call.seat {
        findings.launch.git.get_or_insert(first);
    }
    let policy_cx = call.context.policy_cx;
    let folder = call.folder_after_chdir(tokens);
    let found = repository::read(policy_cx.world, &policy_cx.world.resolve(&folder));
    findings
        .launch
        .readable
        .extend(found.linked_places.iter().chain(found.asked_places()).cloned());
    findings.launch.writes.extend(found.linked_places.iter().cloned());
    // `git init --separate-git-dir`: the pointer was shown, and leads to a repository's folder.
    let is_repository = |path: &&PathBuf| {
        let kind = |name: &str| policy_cx.world.kind(&path.join(name));
        kind("HEAD") == PathKind::File && kind("objects") == PathKind::Folder
    };
    findings.launch.writes.extend(found.asked_places().filter(is_repository).cloned());
    super::lines::git(call, tokens, &found, findings);
    let mut worries = repository::find_worries(&found, policy_cx);
    if operands(tokens).next().is_some_and(|(_, name)| RECURSES.contains(&name)) {
        worries.extend(repository::find_submodule_worries(&found, policy_cx));
    }
    for worry in &worries {
        let (rule, say) = describe_worry(worry);
        findings.add_repeated(rule, Tier::L1, say, &[Effect::Exec]);
    }
    let into = call.args.iter().position(|arg| {
        arg.strip_prefix("--ignore-submodules=").is_some_and(|how| how != "all" && how != "dirty")
    });
    if let Some(at) = into {
        add_submodules(call, at, findings);
    }
}

/// Commands that run another git in each submodule, with what is opened to them.
const RECURSES: &[&str] = &["fetch", "pull", "push", "submodule", "remote"];

/// The rule that a worry meets, and what the question says.
fn describe_worry(worry: &Worry) -> (&'static str, LocalizedText) {
    let shown = |path: &Path| excerpt(&path.to_string_lossy());
    match worry {
        Worry::Starts(setting) => {
            ("git-config-exec", phrases::GIT_CONFIG_EXEC.with("setting", excerpt(setting)))
        }
        Worry::Driver(name) => {
            ("git-config-exec", phrases::GIT_DRIVER.with("driver", excerpt(name)))
        }
        Worry::Unread(path) => ("git-config-unread", phrases::GIT_UNREAD.with("path", shown(path))),
        Worry::Outside(what) => ("git-outside", phrases::GIT_OUTSIDE.with("path", excerpt(what))),
        Worry::Bare(path) => ("git-bare", phrases::GIT_BARE.with("path", shown(path))),
    }
}

fn add_submodules(call: &ProgramCall<'_>, at: usize, findings: &mut Findings) {
    let say = phrases::GIT_SUBMODULES;
    call.ask("submodules", say, at, &[Effect::Exec], findings);
}

/// `git describe --dirty` looks into every repository that is tracked in this one.
pub fn git_dirty(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let Some(token) = args::find_flag(tokens, "--dirty|--broken") else { return };
    if call.tracked_files().is_none_or(|tracked| tracked.submodules) {
        add_submodules(call, token.at, findings);
    }
}

/// Values of options of history: `%G?` and `%(signature)` start the program that checks
/// signatures.
pub fn git_format(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    super::git_paths(call, tokens, findings);
    for token in tokens {
        // `-L1,5:FILE`, `-L:FUNCTION:FILE`: the lines of a file through time.
        if let Some((_, file)) = token.value_of("-L").and_then(|value| value.rsplit_once(':')) {
            call.check_read(file, token.at, findings);
        }
        let format = token.value_of("--format|--pretty|--sort").unwrap_or_default();
        // A sign after the percent sign is about line breaks and blanks: `%+G?`.
        let plain =
            ["%+", "%-", "% "].iter().fold(format.to_owned(), |text, sign| text.replace(sign, "%"));
        if ["%G", "signature", "trust"].iter().any(|part| plain.contains(part)) {
            call.ask("signature", phrases::GIT_SIGNATURE, token.at, &[Effect::Exec], findings);
        }
    }
}

/// `git diff`: where it may write, and which files it shows.
pub fn git_diff(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    super::output(call, tokens, findings);
    super::git_paths(call, tokens, findings);
}

/// `git branch NAME` makes one; with a list option the name is a pattern.
pub fn git_branch(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    git_list(call, tokens, phrases::GIT_MAKES_BRANCH, findings);
}

/// `git tag NAME` makes one; with a list option the name is a pattern.
pub fn git_tag(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    git_list(call, tokens, phrases::GIT_MAKES_TAG, findings);
}

fn git_list(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], why: Phrase, findings: &mut Findings) {
    git_format(call, tokens, findings);
    let list = "-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at";
    let lists =
        tokens.iter().any(|token| token.flag().is_some_and(|f| list.split('|').any(|l| l == f)));
    if let (false, Some((at, name))) = (lists, operands(tokens).next()) {
        let say = why.with("name", excerpt(name));
        call.ask("create", say, at, &[Effect::Write], findings);
    }
}

/// `git symbolic-ref HEAD x` moves it.
pub fn git_symbolic_ref(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let Some((at, _)) = operands(tokens).nth(1) {
        call.ask(
            "set",
            phrases::GIT_WRITES.with("program", "git symbolic-ref"),
            at,
            &[Effect::Write],
            findings,
        );
    }
}

/// `git reflog` shows; `expire` and `delete` throw away the way back.
pub fn git_reflog(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    git_format(call, tokens, findings);
    let first = operands(tokens).next();
    if let Some((at, "expire" | "delete" | "drop" | "write")) = first {
        call.refuse("expire", phrases::GIT_DISCARDS, at, DELETES, findings);
    }
}

/// `git bisect run COMMAND`.
pub fn git_bisect(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if let Some((at, "run")) = operands(tokens).next() {
        call.judge_inner(at + 1, findings);
    }
}

/// `git checkout -- .` throws away everything that was not committed.
pub fn git_discard(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let unstages = args::find_flag(tokens, "-S|--staged").is_some()
        && args::find_flag(tokens, "-W|--worktree").is_none();
    let everything = operands(tokens).find(|(_, text)| {
        let text = text.strip_suffix('/').unwrap_or(text);
        [".", ":", ":/", "*", "..", ":/."].contains(&text)
            || text.starts_with(":(top)")
            || text.starts_with(":(exclude")
            || text.starts_with(":!")
    });
    if let (false, Some((at, _))) = (unstages, everything) {
        call.refuse("all", phrases::GIT_DISCARDS_ALL, at, DELETES, findings);
    }
}

/// `+ref` forces and `:ref` deletes.
pub fn git_push(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, text) in operands(tokens) {
        let (suffix, why) = match text.chars().next() {
            Some('+') => ("force", phrases::GIT_FORCES),
            Some(':') if text.len() > 1 => ("delete", phrases::GIT_DELETES_REMOTE),
            _ => continue,
        };
        let say = why.with("arg", excerpt(text));
        call.refuse(suffix, say, at, REMOTE, findings);
    }
}
