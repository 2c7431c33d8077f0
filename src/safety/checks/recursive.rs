//! Checks programs that read whole folders: credential files in them are excluded by
//! arguments added at the start. Naming such a file directly is asked about.

use std::path::Path;

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::args;
use super::super::findings::{Findings, OUT, excerpt};
use super::super::paths::{self, PathClass};
use super::super::spec::{ArgToken, ProgramCall, flag_values, operands};
use super::super::{FileKind, PathKind, sensitive};

/// `grep -r`: credentials are left out. Without it only named files are read.
pub fn grep(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let Some(at) = recursive_flag(tokens) else { return };
    check_split_output(call, tokens, "-F|--fixed-strings", findings);
    let given = args::find_flag(tokens, "-e|--regexp|-f|--file").is_some();
    check_start_folders(call, operands(tokens).skip(usize::from(!given)), findings);
    if call.is_busybox() {
        let say = phrases::READS_SECRETS.with("program", call.name.to_owned());
        call.ask("recursive", say, at, &[Effect::Secret], findings);
        return;
    }
    let end = args::end_of_options(call.args, tokens);
    for glob in sensitive::sensitive_globs() {
        call.insert(
            end,
            &format!("--exclude={}", sensitive::case_insensitive_glob(&glob)),
            findings,
        );
    }
    let excluded = sensitive::excluded_folders().map(str::to_owned);
    for folder in excluded.chain(own_folder_names(call)) {
        call.insert(end, &format!("--exclude-dir={folder}"), findings);
    }
}

/// The argument that makes `grep` go through folders.
pub fn recursive_flag(tokens: &[ArgToken<'_>]) -> Option<usize> {
    let flag = args::find_flag(tokens, "-r|-R|--recursive|--dereference-recursive");
    let mut ways = flag_values(tokens, "-d|--directories");
    flag.map(|token| token.at)
        .or_else(|| ways.find(|(_, way)| way.starts_with('r')).map(|(at, _)| at))
}

/// Where a program starts that goes through folders: its operands, or the step's folder.
pub(super) fn check_start_folders<'t>(
    call: &ProgramCall<'_>,
    named: impl Iterator<Item = (usize, &'t str)>,
    findings: &mut Findings,
) {
    let mut named = named.peekable();
    if named.peek().is_none() {
        check_excluded_folder(call, ".", 0, findings);
    }
    named.for_each(|(at, text)| check_excluded_folder(call, text, at, findings));
}

/// A folder that is left out when it is met, and would be read because it is named or
/// because the program starts in it.
pub(super) fn check_excluded_folder(
    call: &ProgramCall<'_>,
    text: &str,
    at: usize,
    findings: &mut Findings,
) {
    let policy_cx = call.context.policy_cx;
    let real = policy_cx.world.resolve(&call.context.cwd.join(text));
    let root = policy_cx.place.root_of(&real).unwrap_or(Path::new("/"));
    let inner = real.strip_prefix(root).unwrap_or(&real);
    let closed = |part: &std::ffi::OsStr| {
        sensitive::excluded_folders().any(|folder| part.eq_ignore_ascii_case(folder))
    };
    if inner.components().any(|part| closed(part.as_os_str())) {
        call.ask_sensitive(text, at, findings);
    }
    call.check_folder(&real, at, findings);
}

/// The names of our own folders inside the workspace: without a sandbox nothing else keeps
/// a program out of them.
fn own_folder_names(call: &ProgramCall<'_>) -> impl Iterator<Item = String> {
    let place = call.context.policy_cx.place;
    let inside = place.own.iter().filter(|own| place.contains(own));
    inside.filter_map(|own| own.file_name()?.to_str()).map(escape_glob)
}

/// A name as a glob that matches it alone.
fn escape_glob(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '?' }).collect()
}

/// `ls -R`: goes through the folders, and with `-L` those that links lead to.
pub fn ls(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    if args::find_flag(tokens, "-R|--recursive").is_none() {
        return;
    }
    operands(tokens).for_each(|(at, text)| call.check_read(text, at, findings));
    if let Some(token) = args::find_flag(tokens, "-L|--dereference") {
        let text = call.args.get(token.at).map_or("", String::as_str);
        let say = phrases::FOLLOWS_LINKS.with("arg", excerpt(text));
        call.ask("follow", say, token.at, OUT, findings);
    }
}

/// `rg`: reads all there is below, and credentials are left out.
pub fn rg(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let lists = args::find_flag(tokens, "--files|--type-list").is_some();
    if lists && args::find_flag(tokens, SEARCHES).is_none() {
        return;
    }
    check_split_output(call, tokens, "-F|--fixed-strings", findings);
    if let Some(token) = args::find_flag(tokens, "-r=|--replace=") {
        add_split_finding(call, token.at, findings);
    }
    let given = lists || args::find_flag(tokens, "-e|--regexp|-f|--file").is_some();
    check_start_folders(call, operands(tokens).skip(usize::from(!given)), findings);
    let end = args::end_of_options(call.args, tokens);
    // The last match decides, and these come after all that are given with `-g`.
    let own = own_folder_names(call).map(|name| format!("**/{name}/**"));
    for glob in sensitive::sensitive_globs().chain(credential_globs()).chain(own) {
        call.insert(end, &format!("--iglob=!{glob}"), findings);
    }
}

/// Options that some versions of `rg` take for a search, whatever came before them.
const SEARCHES: &str = "-c|--count|--count-matches|-l|--files-with-matches|--files-without-match|\
                        --json|--generate=";

/// Files and folders of credentials that more than a name tells.
fn credential_globs() -> impl Iterator<Item = String> {
    let pairs =
        sensitive::SENSITIVE_PAIRS.iter().map(|(folder, file)| format!("**/{folder}/{file}"));
    let folders = sensitive::secret_folders().map(|folder| format!("**/{folder}/**"));
    pairs.chain(folders).chain(["**/.git/**/config".to_owned()])
}

/// `-o` with a pattern that fits single signs: printed piece by piece, nothing would be
/// recognised as a key any more.
pub(super) fn check_split_output(
    call: &ProgramCall<'_>,
    tokens: &[ArgToken<'_>],
    fixed: &str,
    findings: &mut Findings,
) {
    let Some(only) = args::find_flag(tokens, "-o|--only-matching") else { return };
    let mut patterns: Vec<&str> =
        flag_values(tokens, "-e|--regexp").map(|(_, pattern)| pattern).collect();
    let file = args::find_flag(tokens, "-f|--file").is_some();
    if patterns.is_empty() && !file {
        patterns.extend(operands(tokens).next().map(|(_, text)| text));
    }
    let fixed = args::find_flag(tokens, fixed).is_some();
    let spelled = |pattern: &str| {
        if fixed {
            pattern.lines().all(|line| line.chars().count() > 1)
        } else {
            spells_out(pattern)
        }
    };
    if file || !patterns.into_iter().all(spelled) {
        add_split_finding(call, only.at, findings);
    }
}

fn add_split_finding(call: &ProgramCall<'_>, at: usize, findings: &mut Findings) {
    let text = call.args.get(at).map_or("", String::as_str);
    let say = phrases::SPLITS_OUTPUT.with("arg", excerpt(text));
    call.ask("pieces", say, at, &[Effect::Secret], findings);
}

/// Whether every way through a pattern spells out at least two signs in a row, or a letter in
/// front of a number: `v[0-9.]+`.
fn spells_out(pattern: &str) -> bool {
    let mut ways = pattern.split(['|', '\n']);
    !MAY_VANISH.iter().any(|part| pattern.contains(part))
        && ways.all(|way| literal_run(way).is_some_and(|run| run > 1) || is_marked_number(way))
}

/// A group that may be left out, or that only looks; a start that is not printed.
const MAY_VANISH: &[&str] = &[")?", ")*", "){", ")\\?", ")\\{", "\\K", "(?"];

/// `v[0-9.]+`: no other sign of a key is printed with it.
fn is_marked_number(way: &str) -> bool {
    const NUMBERS: &[&str] = &["[0-9]+", "[0-9.]+", "[.0-9]+", "[\\d.]+", "\\d+", "\\."];
    let mut rest =
        way.strip_prefix(|c: char| c.is_ascii_alphabetic()).filter(|rest| !rest.is_empty());
    while let Some(text) = rest.filter(|text| !text.is_empty()) {
        rest = NUMBERS.iter().find_map(|part| text.strip_prefix(part));
    }
    rest.is_some()
}

/// The longest run of signs that a pattern spells out, in each of its dialects. `None`: they
/// may read it differently.
fn literal_run(way: &str) -> Option<usize> {
    let mut longest = 0_usize;
    let mut now = 0_usize;

    let mut rest = way;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..)?;
        let spelled = match c {
            '\\' => {
                let sign = rest.chars().next().unwrap_or('(');
                rest = rest.get(sign.len_utf8()..).unwrap_or_default();
                if sign == '{' {
                    rest = rest.get(rest.find('}')? + 1..)?;
                } else if sign.is_alphanumeric() && !"dDsSwWbB".contains(sign) {
                    // `\x41`, `\p{Alpha}`.
                    return None;
                }
                PROTECTED.contains(sign)
            }
            '[' => {
                rest = rest.get(set_length(rest)?..)?;
                false
            }
            '{' => {
                rest = rest.get(rest.find('}')? + 1..)?;
                false
            }
            c => c.is_alphanumeric() || SPELLED.contains(c),
        };
        let behind = rest.strip_prefix('\\').unwrap_or(rest);
        now = if spelled && !behind.starts_with(['*', '?', '{']) { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    Some(longest)
}

/// How long the rest of a set of signs is, whose `]` every dialect takes for its end.
fn set_length(rest: &str) -> Option<usize> {
    let start = usize::from(rest.starts_with('^'));
    let mut at = start;
    loop {
        let rest = rest.get(at..)?;
        match rest.chars().next()? {
            ']' if at > start => return Some(at + 1),
            ']' => return None,
            '[' => at += rest.strip_prefix("[:")?.find(":]")? + 4,
            // To some the `]` after it is a sign like others.
            '\\' if rest.starts_with("\\]") => return None,
            c => at += c.len_utf8(),
        }
    }
}

/// Signs that mean themselves in every dialect, and those that do after a `\`.
const SPELLED: &str = "_- \"':/=@,;#%&!~";
const PROTECTED: &str = "-./\":=@,#%&!~$[]*";

/// `diff` of folders: it follows the links in them, and reads every file.
pub fn diff(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let world = call.context.policy_cx.world;
    let named = tokens.iter().filter_map(|token| {
        let text = token.operand().or_else(|| token.value_of("--from-file|--to-file"));
        text.map(|text| (token.at, text))
    });
    let folder = |text: &str| world.kind(&call.context.cwd.join(text)) == PathKind::Folder;
    let folders: Vec<_> = named.filter(|(_, text)| folder(text)).collect();
    if folders.is_empty() {
        return;
    }
    let deep = args::find_flag(tokens, "-r|--recursive").is_some();
    let linked = |text: &str| {
        let path = paths::normalize(&call.context.cwd.join(text));
        let above = path.parent().map(|above| world.resolve(above));
        above
            .zip(path.file_name())
            .is_some_and(|(above, name)| above.join(name) != world.resolve(&path))
    };
    for (at, text) in &folders {
        check_excluded_folder(call, text, *at, findings);
    }
    // A link that is named is meant to be followed; those in the folders are not.
    if call.supports_option("--no-dereference") && !folders.iter().any(|(_, text)| linked(text)) {
        return insert_diff_excludes(call, tokens, findings);
    }
    for (at, text) in folders {
        if let Some(odd) = find_escape(call, text, deep) {
            let say = phrases::FOLDER_HOLDS.with("path", excerpt(&odd));
            call.ask("follow", say, at, OUT, findings);
        }
    }
}

/// The options with which `diff` follows no link and reads no file of credentials.
fn insert_diff_excludes(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let end = args::end_of_options(call.args, tokens);
    call.insert(end, "--no-dereference", findings);
    let globs = sensitive::sensitive_globs();
    let globs = globs.map(|glob| sensitive::case_insensitive_glob(&glob));
    let folders = sensitive::excluded_folders().map(str::to_owned);
    for excluded in globs.chain(folders).chain(own_folder_names(call)) {
        call.insert(end, &format!("--exclude={excluded}"), findings);
    }
}

/// Entries of a folder, at any depth, that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// A link that leads out, or a file of credentials, that a program meets which goes
/// through a folder and follows links. Also the folder itself, where it holds too much.
fn find_escape(call: &ProgramCall<'_>, text: &str, deep: bool) -> Option<String> {
    let policy_cx = call.context.policy_cx;
    let world = policy_cx.world;
    let mut seen = vec![world.resolve(&call.context.cwd.join(text))];
    let mut next = 0;
    let mut left = MAX_ENTRIES;

    while let Some(folder) = seen.get(next).cloned() {
        next += 1;
        let entries = world.entries(&folder, left + 1);
        if entries.len() > left {
            return Some(text.to_owned());
        }
        left -= entries.len();
        for (path, kind) in entries {
            let shown = path.to_string_lossy().into_owned();
            let class = paths::classify(&shown, &call.context.cwd, policy_cx);
            if !matches!(class, PathClass::Inside | PathClass::Public) {
                return Some(shown);
            }
            let real = match kind {
                FileKind::Folder => path,
                FileKind::Link => world.resolve(&path),
                FileKind::File | FileKind::Other => continue,
            };
            if deep && world.kind(&real) == PathKind::Folder && !seen.contains(&real) {
                seen.push(real);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const WHOLE: &[&str] = &[
        "TODO", "fn [a-z_]+", "v[0-9]+ab", "TODO|FIXME", "foo.*bar", "class \\w+", "v[0-9.]+", "v\\d+\\.\\d+", "--[a-z-]+", "\\-\\-[a-z-]+", "\"version\": \"[^\"]+\"", "https://[^ ]+", "@scope/[a-z]+|ab", "\\.\\/[a-z]{2,9}",
    ];

    #[test]
    fn patterns_of_single_signs_are_distinguished_from_those_that_spell_something_out() {
        for whole in WHOLE {
            assert!(spells_out(whole), "{whole}");
        }
        for pieces in [
            ".",
            "..",
            "[a-z]",
            "\\w",
            "[^ ]",
            ".{8}",
            ".{16}",
            "[a-z]{10,20}",
            ".\\{16\\}",
            "TODO|.",
            "(abc)?.",
            "\\(abc\\)\\?.",
            "\\(abc\\)\\{0\\}.",
            "a*",
            "ab?",
            "x",
            "(?<=abc).",
            "abc.*\\K.",
            "[abc]",
            "[]abc]",
            "[^]abc]",
            "[a\\]bc]",
            "[a[bc]de]",
            "[[:alnum:]]",
            "[[:alnum:]abc]",
            "a\\?b\\?",
            "(abc){0}.",
            "\\x41",
            "\\p{Alphabetic}",
            "\\pL",
            "\\Qa\\E",
            "\\101",
            "v[0-9.]*",
            "-[a-z]=\\w+",
            "@[a-z]+/[a-z]+",
            "v[0-9a]+",
            "v",
            "a.",
            "",
        ] {
            assert!(!spells_out(pieces), "{pieces}");
        }
    }
}
