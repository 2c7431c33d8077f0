//! `find`: where to look, then an expression. Only tests, logic and printing are L0.

use crate::protocol::{Effect, Tier};
use crate::words::safety as words;

use super::super::args::Token;
use super::super::findings::{Findings, quoted};
use super::super::judge::Call;
use super::super::wrappers;
use super::{DELETES, OUT};

/// `find`: where to look, then an expression. Only tests, logic and printing are L0.
pub fn find(call: &Call<'_>, _: &[Token<'_>], findings: &mut Findings) {
    let mut at = find_places(call, findings);
    while let Some(word) = call.args.get(at).map(String::as_str) {
        let value = call.args.get(at + 1).map_or("", String::as_str);
        at += match word {
            _ if FIND_BARE.contains(&word) => 1,
            _ if FIND_WORD.contains(&word) => 2,
            _ if FIND_FILE.contains(&word) || is_newer(word) => {
                if !word.ends_with('t') {
                    call.reads(value, at + 1, findings);
                }
                2
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => find_exec(call, at, findings),
            "-delete" => {
                call.find("delete", Tier::L1, words::FIND_DELETES, at, DELETES, findings);
                1
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let say = words::WRITES_A_FILE.with("arg", quoted(value));
                call.find("output", Tier::L1, say, at, &[Effect::Write], findings);
                call.writes(value, at + 1, findings);
                2 + usize::from(word == "-fprintf")
            }
            _ => {
                let say = words::OPTION_UNKNOWN.with("option", quoted(word));
                call.find("option", Tier::L1, say.with("program", "find"), at, &[], findings);
                1
            }
        };
    }
}

/// The starting points and the options before them; answers with where the expression
/// begins.
fn find_places(call: &Call<'_>, findings: &mut Findings) -> usize {
    for (at, word) in call.args.iter().enumerate() {
        match word.as_str() {
            "-H" | "-P" | "--" => {}
            "-L" => {
                call.find(
                    "follow",
                    Tier::L1,
                    words::FOLLOWS_LINKS.with("arg", "-L"),
                    at,
                    OUT,
                    findings,
                );
            }
            word if word.starts_with('-') && word.len() > 1
                || ["(", ")", "!", ","].contains(&word) =>
            {
                return at;
            }
            place => call.reads(place, at, findings),
        }
    }
    call.args.len()
}

fn find_exec(call: &Call<'_>, at: usize, findings: &mut Findings) -> usize {
    let rest = call.args.get(at + 1..).unwrap_or_default();
    let length = rest.iter().position(|word| word == ";").unwrap_or_else(|| {
        rest.windows(2).position(|w| w == ["{}", "+"]).map_or(rest.len(), |at| at + 1)
    });
    let say = words::RUNS_FOR_EACH.with("program", quoted(rest.first().map_or("", String::as_str)));
    call.find("exec", Tier::L1, say, at, &[Effect::Exec], findings);
    wrappers::section(call, at + 1, at + 1 + length, findings);
    length + 2
}

fn is_newer(word: &str) -> bool {
    word.strip_prefix("-newer").is_some_and(|xy| {
        let mut xy = xy.chars();
        let (x, y) = (xy.next(), xy.next());
        xy.next().is_none()
            && x.is_some_and(|x| "aBcm".contains(x))
            && y.is_some_and(|y| "aBcmt".contains(y))
    })
}

const FIND_BARE: &[&str] = &[
    "(",
    ")",
    "!",
    ",",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-true",
    "-false",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-prune",
    "-print",
    "-print0",
    "-ls",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-noleaf",
    "-quit",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-nowarn",
    "-warn",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-E",
    "-X",
    "-x",
    "-s",
];

const FIND_WORD: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-ctime",
    "-atime",
    "-mmin",
    "-cmin",
    "-amin",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-regextype",
    "-fstype",
    "-lname",
    "-ilname",
    "-used",
    "-context",
    "-printf",
    "-D",
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
