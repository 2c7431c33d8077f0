//! Checks paths in the arguments of `git`: whether the contents of credential files would
//! be shown.
//!
//! Commands that show the contents of files leave those files out, by arguments that are
//! added at the start; naming one is asked about. Where nothing can be left out, the user
//! is asked.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::args;
use super::super::findings::{Findings, excerpt};
use super::super::repository::Tracked;
use super::super::spec::{ArgToken, ProgramCall, operands};
use super::super::{PathKind, sensitive};

/// `git grep`: it reads every file of the tree.
pub fn git_grep(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let skip = usize::from(args::find_flag(tokens, "-e|-f").is_none());
    check_path_patterns(call, tokens, skip, findings);
    for (at, text) in operands(tokens).skip(skip) {
        // `REVISION:PATH`, and a file by its number: no path given beside it counts there.
        if let Some((_, path)) = text.split_once(':').filter(|(before, _)| !before.is_empty()) {
            call.check_read(path, at, findings);
        }
        if may_be_file(text) {
            add_number_finding(call, text, at, findings);
        }
    }
    check_named_trees(call, tokens, skip, findings);
    exclude_credentials(call, findings);
    super::recursive::check_split_output(call, tokens, "-F|--fixed-strings", findings);
}

/// `REVISION:FOLDER`: paths below it are given without it, so that what is left out by
/// the folder's name is not left out there.
fn check_named_trees(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    skip: usize,
    findings: &mut Findings,
) {
    for (at, text) in operands(tokens).skip(skip).filter(|(_, text)| !text.starts_with(':')) {
        for (_, folder) in text.split("..").filter_map(|part| part.split_once(':')) {
            super::recursive::check_excluded_folder(call, folder, at, findings);
        }
    }
}

/// The same by its number, which shows no name; where no such folder is tracked it is not
/// one.
fn check_numbered_trees(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let numbered = |text: &str| text.split("..").any(|part| may_be_file(part.trim_matches('.')));
    let Some((at, text)) = operands(tokens).find(|(_, text)| numbered(text)) else { return };
    if call.tracked_files().is_none_or(|tracked| tracked.credential_folders) {
        add_number_finding(call, text, at, findings);
    }
}

/// `git cat-file`: a file by its number shows no name.
pub fn git_object(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let content = args::find_flag(tokens, "-p").is_some()
        || operands(tokens).next().is_some_and(|(_, text)| text == "blob");
    let file = operands(tokens).find(|(_, text)| may_be_file(text));
    if let (true, Some((at, text))) = (content, file) {
        add_number_finding(call, text, at, findings);
    }
}

/// Programs that show differences, when they are given the files.
pub fn git_paths(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let told = check_path_patterns(call, tokens, 0, findings);
    let shows = call.id == "git.show";
    if shows {
        // A file that is named by its number is shown whatever else is asked for.
        check_shown_objects(call, tokens, findings);
    }
    let lines = args::find_flag(tokens, "-L").is_some();
    if !shows_content(call, tokens) || lines {
        return;
    }
    if call.id.contains(".stash.") {
        return git_stash(call, tokens, findings);
    }
    // It follows exactly one file and accepts no other path.
    if let Some(token) = args::find_flag(tokens, "--follow") {
        return check_follow(call, tokens, token.at, findings);
    }
    check_named_trees(call, tokens, 0, findings);
    if call.id.starts_with("git.diff") {
        check_numbered_trees(call, tokens, findings);
    }
    if call.denied_patterns().is_empty() && prints_usual_diffs(call, tokens) {
        USUAL_DIFFS.iter().for_each(|word| call.insert(0, word, findings));
        findings.launch.filters_diffs = true;
        return;
    }
    if !told && (shows || is_log(call)) {
        // Paths would leave out commits as well.
        let verb = call.id.ends_with(".reflog") && call.args.first().is_some_and(|it| it == "show");
        let at = usize::from(verb);
        ["--full-history", "--sparse"].iter().for_each(|word| call.insert(at, word, findings));
    }
    exclude_credentials(call, findings);
}

/// Whether it prints differences in the usual form, from which those of credential files are left
/// out as they arrive. Arguments that exclude them cost ten times as much.
fn prints_usual_diffs(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>]) -> bool {
    let end = args::end_of_options(call.args, tokens);
    let options = call.args.iter().take(end).filter_map(|arg| arg.strip_prefix('-'));
    !call.context.in_line
        && ["git.log", "git.show", "git.diff"].contains(&call.id.as_str())
        && options.into_iter().all(|option| match option.strip_prefix('-') {
            Some(long) => {
                let name = long.split('=').next().unwrap_or_default();
                let is_start = |other: &&str| other.starts_with(name) || name.starts_with(*other);
                !UNUSUAL_DIFFS.iter().any(is_start)
            }
            // Letters can be joined, up to one that takes a value.
            None => !option
                .chars()
                .take_while(|letter| !"SGOUMCBlnXI".contains(*letter))
                .any(|letter| ['z', 'L'].contains(&letter)),
        })
}

/// Options that make the usual form, whatever the settings say.
const USUAL_DIFFS: &[&str] = &["--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--no-relative"];

/// Options that change the form. Any beginning of one counts.
const UNUSUAL_DIFFS: &[&str] = &[
    "word-diff",
    "color",
    "graph",
    "line-prefix",
    "output-indicator",
    "src-prefix",
    "dst-prefix",
    "no-prefix",
    "default-prefix",
    "relative",
    "no-index",
    "check",
    "remerge-diff",
    "diff-merges",
    "binary",
    "ws-error-highlight",
    "null",
    "follow",
];

/// The contents of stashes cannot be filtered by path, so they are shown only where no
/// credential file is tracked.
pub fn git_stash(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if !shows_content(call, tokens) {
        return;
    }
    call.check_folder(&call.context.policy_cx.place.workspace, 0, findings);
    let untracked = args::find_flag(tokens, "-u|--include-untracked|--only-untracked").is_some();
    if untracked || call.tracked_files() != Some(Tracked::default()) {
        let say = phrases::READS_SECRETS.with("program", "git stash");
        call.ask("credentials", say, 0, &[Effect::Secret], findings);
    }
}

/// `--follow` shows one file; a folder would be shown with all that is in it.
fn check_follow(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    at: usize,
    findings: &mut Findings,
) {
    let world = call.context.policy_cx.world;
    let end = args::end_of_options(call.args, tokens);
    let file = |text: &str| {
        !text.starts_with(':') && world.kind(&call.context.cwd.join(text)) != PathKind::Folder
    };
    let paths = operands(tokens).filter(|(at, text)| *at > end || path_exists(call, text));
    let paths: Vec<_> = paths.collect();
    if paths.is_empty() || !paths.iter().all(|(_, text)| file(text)) {
        let say = phrases::READS_SECRETS.with("program", "git log --follow");
        call.ask("credentials", say, at, &[Effect::Secret], findings);
    }
}

/// `git show NUMBER`: most often a commit. A number whose history is walked is shown if it
/// is a commit, and not if it is a file, whose name would be unknown.
fn check_shown_objects(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let end = args::end_of_options(call.args, tokens);
    let named = |text: &str| may_be_file(text) || !path_exists(call, text);
    let objects = operands(tokens).filter(|(at, text)| *at < end && named(text));
    let objects: Vec<_> = objects.collect();
    let Some((at, text)) = objects.iter().find(|(_, text)| may_be_file(text)) else { return };
    let walks = args::find_flag(
        tokens,
        "--no-walk|-g|--walk-reflogs|--all|--branches|--tags|--remotes|--glob|--not",
    );
    if objects.len() > 1 || walks.is_some() {
        return add_number_finding(call, text, *at, findings);
    }
    ["--do-walk", "--max-count=1"].iter().for_each(|word| call.insert(0, word, findings));
}

fn add_number_finding(call: &ProgramCall<'_>, text: &str, at: usize, findings: &mut Findings) {
    let say = phrases::GIT_NUMBER.with("arg", excerpt(text));
    call.ask("number", say, at, &[Effect::Secret], findings);
}

/// Whether a word may be the number of a file in the repository, whole or its start.
fn may_be_file(text: &str) -> bool {
    let mut text = text;
    while let Some(shorter) = PEELED.iter().find_map(|end| text.strip_suffix(end)) {
        text = shorter;
    }
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A path that still names a file when it follows a commit number.
const PEELED: &[&str] = &["^{}", "^{object}", "^{blob}"];

fn is_log(call: &ProgramCall<'_>) -> bool {
    LOGS.iter().any(|end| call.id.ends_with(end))
}

/// Programs that go through commits, and show none of their changes unless asked to.
const LOGS: &[&str] = &[".log", ".whatchanged", ".reflog", ".list", ".shortlog", ".rev-list"];

/// Programs that show changes in files unless asked for less.
const PATCHES: &[&str] = &["git.diff", "git.show"];

/// Whether more than names is shown.
fn shows_content(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>]) -> bool {
    let asked = |list: &[&str]| tokens.iter().filter_map(ArgToken::flag).any(|f| list.contains(&f));
    asked(CONTENT) || PATCHES.contains(&call.id.as_str()) && !asked(NAMES)
}

/// Options that show what changed in files.
#[rustfmt::skip]
const CONTENT: &[&str] = &[
    "-p", "-u", "--patch", "--patch-with-raw", "--patch-with-stat", "-U", "--unified", "-c", "--cc",
    "--dd", "-m", "--diff-merges", "--remerge-diff", "-W", "--function-context", "--word-diff",
    "--word-diff-regex", "--color-words", "--binary", "--full-index", "--check",
];

/// Options that show less than what changed in files.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "--stat", "--numstat", "--shortstat", "--dirstat", "--compact-summary", "--summary",
    "--name-only", "--name-status", "--raw", "-s", "--no-patch", "--quiet",
];

/// Asks about patterns that target credentials; true: files are named at all.
fn check_path_patterns(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    skip: usize,
    findings: &mut Findings,
) -> bool {
    let end = args::end_of_options(call.args, tokens);
    let mut told = end + 1 < call.args.len();
    for (at, text) in operands(tokens).skip(skip) {
        let Some(pattern) = without_magic(text) else { continue };
        let wild = pattern.contains(['*', '?', '[']);
        told |= wild || pattern.len() < text.len() || path_exists(call, text);
        if wild && sensitive::targets_credentials(pattern) {
            call.ask_sensitive(text, at, findings);
        }
    }
    told
}

fn path_exists(call: &ProgramCall<'_>, text: &str) -> bool {
    let kind = call.context.policy_cx.world.kind(&call.context.cwd.join(text));
    matches!(kind, PathKind::File | PathKind::Folder)
}

/// A path without its magic, `:(top,icase)*.rs` or `:/src`; `None`: it is excluded, or is
/// not a path.
fn without_magic(text: &str) -> Option<&str> {
    let Some(magic) = text.strip_prefix(':') else { return Some(text) };
    if let Some(long) = magic.strip_prefix('(') {
        let (words, rest) = long.split_once(')')?;
        return (!words.split(',').any(|word| word == "exclude")).then_some(rest);
    }
    let rest = magic.trim_start_matches(['/', '!', '^', ':']);
    let short = magic.get(..magic.len() - rest.len())?;
    (!short.contains(['!', '^'])).then_some(rest)
}

/// Excludes credentials, anywhere in the repository.
pub(super) fn exclude_credentials(call: &ProgramCall<'_>, findings: &mut Findings) {
    let pairs = sensitive::SENSITIVE_PAIRS.iter().map(|(folder, file)| format!("{folder}/{file}"));
    let folders = sensitive::secret_folders().map(|folder| format!("{folder}/**"));
    for glob in sensitive::sensitive_globs().chain(pairs).chain(folders) {
        let path = format!(":(top,exclude,icase,glob)**/{glob}");
        call.insert(call.args.len(), &path, findings);
    }
    let workspace = &call.context.policy_cx.place.workspace;
    for pattern in call.denied_patterns() {
        let Ok(inner) = pattern.strip_prefix(workspace) else { continue };
        for path in [inner, &inner.join("**")] {
            let path = format!(":(top,exclude,glob)**/{}", path.display());
            call.insert(call.args.len(), &path, findings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_of_a_path_is_not_part_of_its_pattern() {
        for (text, found) in [
            ("*env", Some("*env")),
            (":(top,icase)*ENV", Some("*ENV")),
            (":/*env", Some("*env")),
            (":(exclude)*env", None),
            (":!*env", None),
            (":^*env", None),
            (":/!*env", None),
            ("::*env", Some("*env")),
            ("src", Some("src")),
            (":(", None),
        ] {
            assert_eq!(without_magic(text), found, "{text}");
        }
    }

    #[test]
    fn a_number_may_be_that_of_a_file_unless_its_suffix_says_otherwise() {
        for text in ["4bcf", "4BCFE98e640c8284", "dead^{}", "beef^{blob}^{object}", "1234^{}^{}"] {
            assert!(may_be_file(text), "{text}");
        }
        for text in ["HEAD", "abc", "4bcf~1", "4bcf^", "4bcf^{commit}", "4bcf:a", "main", "v1.2"] {
            assert!(!may_be_file(text), "{text}");
        }
    }
}
