//! Checks `find`: the places to search, then an expression. Only tests, logic and printing
//! are L0.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

use super::super::findings::{DELETES, Findings, OUT, excerpt};
use super::super::spec::{ArgPosition, ArgToken, ProgramCall};
use super::super::{args, sensitive};
use super::recursive;

/// `find`: where to look, then an expression. Only tests, logic and printing are L0.
pub fn find(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    let mut at = check_start_points(call, findings);
    while let Some(word) = call.args.get(at).map(String::as_str) {
        let value = call.args.get(at + 1).map_or("", String::as_str);
        at += match word {
            _ if FIND_BARE.contains(&word) => 1,
            _ if FIND_WORD.contains(&word) => 2,
            _ if FIND_FILE.contains(&word) || is_newer(word) => {
                if !word.ends_with('t') {
                    call.check_read(value, at + 1, findings);
                }
                2
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => check_exec(call, at, findings),
            "-delete" => {
                call.ask("delete", phrases::FIND_DELETES, at, DELETES, findings);
                1
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let say = phrases::WRITES_A_FILE.with("arg", excerpt(value));
                call.ask("output", say, at, &[Effect::Write], findings);
                call.check_write(value, at + 1, findings);
                2 + usize::from(word == "-fprintf")
            }
            _ => {
                let say = phrases::OPTION_UNKNOWN.with("option", excerpt(word));
                call.ask("option", say.with("program", "find"), at, &[], findings);
                1
            }
        };
    }
}

/// The starting points and the options before them; answers with where the expression
/// begins.
fn check_start_points(call: &ProgramCall<'_>, findings: &mut Findings) -> usize {
    for (at, word) in call.args.iter().enumerate() {
        match word.as_str() {
            "-H" | "-P" | "--" => {}
            "-L" => {
                call.ask("follow", phrases::FOLLOWS_LINKS.with("arg", "-L"), at, OUT, findings);
            }
            word if begins_expression(word) => return at,
            place => call.check_read(place, at, findings),
        }
    }
    call.args.len()
}

fn begins_expression(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1 || ["(", ")", "!", ","].contains(&word)
}

/// The places to search.
fn start_points<'a>(call: &ProgramCall<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let option = |word: &str| matches!(word, "-H" | "-P" | "-L" | "--");
    let words = call.args.iter().map(String::as_str).enumerate();
    let words = words.take_while(move |(_, word)| option(word) || !begins_expression(word));
    words.filter(move |(_, word)| !option(word))
}

fn check_exec(call: &ProgramCall<'_>, at: usize, findings: &mut Findings) -> usize {
    let rest = call.args.get(at + 1..).unwrap_or_default();
    let one = rest.iter().position(|word| word == ";");
    let many = rest.windows(2).position(|w| w == ["{}", "+"]).map(|at| at + 1);
    let length = one.into_iter().chain(many).min().unwrap_or(rest.len());
    let words = rest.get(..length).unwrap_or_default();
    let each = length < rest.len() && (many != Some(length) || one == Some(length));
    if length < rest.len() && is_plain_exec(call, at, words, each, findings) {
        return length + 2;
    }
    let say =
        phrases::RUNS_FOR_EACH.with("program", excerpt(rest.first().map_or("", String::as_str)));
    call.ask("exec", say, at, &[Effect::Exec], findings);
    call.judge_words(words, at + 1, findings);
    length + 2
}

/// `-exec` of a program that only reads the found files. Links and files of credentials are
/// left out by tests in front of it: a link would be followed.
fn is_plain_exec(
    call: &ProgramCall<'_>,
    at: usize,
    words: &[String],
    each: bool,
    findings: &mut Findings,
) -> bool {
    let before = at.checked_sub(1).and_then(|at| call.args.get(at)).map_or("", String::as_str);
    let known = call.args.get(at).is_some_and(|word| word == "-exec")
        && matches!(call.seat, ArgPosition::From(_))
        && !["!", "-not"].contains(&before);
    let Some(inner) = known.then(|| exec_read_findings(call, at + 1, words, each)).flatten() else {
        return false;
    };
    recursive::check_start_folders(call, start_points(call), findings);
    for word in exclusion_tests() {
        call.insert(at, &word, findings);
    }
    findings.merge(&inner);
    true
}

/// The findings about a program that is run on the found files, if it only reads them; the
/// program is at `at`, and is started once for each file or for many.
pub(super) fn exec_read_findings(
    call: &ProgramCall<'_>,
    at: usize,
    words: &[String],
    each: bool,
) -> Option<Findings> {
    let (name, args) = words.split_first()?;
    let known =
        reads_found_names(name) && args.iter().all(|arg| arg == "{}" || !arg.contains("{}"));
    // It would go through a found folder, whatever that is called.
    let greps = matches!(name.as_str(), "grep" | "egrep" | "fgrep");
    let row = call.context.row(name).filter(|_| greps);
    let deep =
        row.is_some_and(|spec| recursive::recursive_flag(&args::parse(args, spec)).is_some());
    if !known || deep {
        return None;
    }
    // An arbitrary file name, which no language takes for a program; where it represents
    // many, one more could be a file that is written.
    let found = if each { &FOUND[..1] } else { FOUND };
    let filled: Vec<String> = words
        .iter()
        .flat_map(|arg| match arg.as_str() {
            "{}" => found.to_vec(),
            arg => vec![arg],
        })
        .map(str::to_owned)
        .collect();
    let mut findings = Findings::default();
    call.judge_words(&filled, at, &mut findings);
    (findings.tier_or(Tier::L1) == Tier::L0).then_some(findings)
}

/// Tests that only match files that are not links and do not hold credentials.
fn exclusion_tests() -> impl Iterator<Item = String> {
    let links = ["!", "-type", "l"].map(str::to_owned);
    let test = |kind: &'static str| move |glob: String| ["!".to_owned(), kind.to_owned(), glob];
    let names = sensitive::sensitive_globs().flat_map(test("-iname"));
    let folders = sensitive::secret_folders().map(|folder| format!("*/{folder}/*"));
    let pairs =
        sensitive::SENSITIVE_PAIRS.iter().map(|(folder, file)| format!("*/{folder}/{file}"));
    links.into_iter().chain(names).chain(folders.chain(pairs).flat_map(test("-ipath")))
}

const FOUND: &[&str] = &["./found", "./found/a", "./found/b"];

/// Whether a program takes a found path for a file and nothing else.
pub fn reads_found_names(name: &str) -> bool {
    EXEC_READS.contains(&name)
}

/// Programs that take a found path for a file and nothing else.
#[rustfmt::skip]
const EXEC_READS: &[&str] = &[
    "wc", "grep", "egrep", "fgrep", "cat", "head", "tail", "ls", "stat", "file", "sha1sum",
    "sha224sum", "sha256sum", "sha384sum", "sha512sum", "md5sum", "cksum", "b2sum", "du",
    "basename", "dirname", "readlink", "realpath", "sed", "awk", "gawk", "mawk", "jq", "nl", "od",
    "xxd", "hexdump", "cut", "sort", "uniq", "tac", "rev", "echo", "printf", "test", "column",
    "fold", "expand",
];

fn is_newer(word: &str) -> bool {
    word.strip_prefix("-newer").is_some_and(|xy| {
        let mut xy = xy.chars();
        let x = xy.next();
        let y = xy.next();

        xy.next().is_none()
            && x.is_some_and(|x| "aBcm".contains(x))
            && y.is_some_and(|y| "aBcmt".contains(y))
    })
}

#[rustfmt::skip]
const FIND_BARE: &[&str] = &[
    "(", ")", "!", ",", "-not", "-a", "-and", "-o", "-or", "-true", "-false", "-empty", "-readable",
    "-writable", "-executable", "-nouser", "-nogroup", "-prune", "-print", "-print0", "-ls",
    "-depth", "-d", "-mount", "-xdev", "-daystart", "-noleaf", "-quit", "-ignore_readdir_race",
    "-noignore_readdir_race", "-nowarn", "-warn", "-O0", "-O1", "-O2", "-O3", "-E", "-X", "-x",
    "-s",
];

#[rustfmt::skip]
const FIND_WORD: &[&str] = &[
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-type",
    "-xtype", "-size", "-mtime", "-ctime", "-atime", "-mmin", "-cmin", "-amin", "-user", "-group",
    "-uid", "-gid", "-perm", "-links", "-inum", "-maxdepth", "-mindepth", "-regextype", "-fstype",
    "-lname", "-ilname", "-used", "-context", "-printf", "-D",
];

const FIND_FILE: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_takes_only_its_known_letters() {
        assert!(is_newer("-newermt") && is_newer("-neweraB"));
        assert!(!is_newer("-newer") && !is_newer("-newerxx") && !is_newer("-newermtt"));
    }
}
