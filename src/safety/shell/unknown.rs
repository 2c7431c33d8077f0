//! Words of which only the shell will know a part: where a command may have one, and what the
//! shell makes sure of before it starts the command.
//!
//! A command is judged with a number in place of what is not known: a number may be the name of a
//! file, a revision, or itself. So the shell only lets numbers through, or what is neither an option
//! nor a path that leads out of the folder nor a name of credentials.

use std::path::Path;

use super::super::checks::recursive_flag;
use super::super::spec::{Operands, operands};
use super::super::{args, checks, rules, sensitive};
use avocet_core::text::quote_literal;

pub use super::super::launch::UNKNOWN;

/// What the shell makes sure of about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A name below the folder, or any other text that is not an option.
    Name,
    /// The same, and there may be many of them.
    Names,
    /// A commit, or a path, as git takes them for operands.
    Revision,
    Number,
}

/// Programs that take an operand for a file to read, a name or a pattern, whatever it is, beside
/// those that `find` may start.
const TAKE_NAMES: &[&str] = &["rg", "diff", "cmp", "comm", "paste", "tree", "find", "which"];
/// Programs whose first operand is a pattern, which starts and writes nothing.
const TAKE_PATTERNS: &[&str] = &["grep", "egrep", "fgrep", "rg"];
/// Sub-commands of git that only show what an operand names.
#[rustfmt::skip]
const GIT_SHOWS: &[&str] = &[
    "show", "log", "diff", "diff-tree", "rev-list", "rev-parse", "merge-base", "describe", "name-rev", "blame",
    "ls-tree", "ls-files", "shortlog", "status",
];

/// What must be made sure of, for each argument with something unknown in it; `None`: this command
/// must not have it.
pub fn demands(name: &str, args: &[String]) -> Option<Vec<(usize, Demand)>> {
    let (mut spec, _) = rules::find(name)?;
    let mut from = 0;
    if name == "git" {
        let tokens = args::parse(args, spec);
        let (at, sub) = operands(&tokens).next()?;
        spec = spec.sub(sub).filter(|_| GIT_SHOWS.contains(&sub))?.0;
        from = at + 1;
    }
    let rest = args.get(from..)?;
    let tokens = args::parse(rest, spec);
    let has = |names: &str| args::find_flag(&tokens, names).is_some();
    let (has_pattern, is_limited) = match spec.grammar.operands {
        Operands::PatternThenReads(givers) => (!has(givers), false),
        Operands::Reads(most) => (false, most != usize::MAX),
        _ => (false, false),
    };
    let splits = has("-o|--only-matching") || name == "rg" && has("-r|--replace");
    // It would go through a folder, whatever that is called, and where a link leads.
    let is_deep = name.ends_with("grep") && recursive_flag(&tokens).is_some();
    let takes_names = (TAKE_NAMES.contains(&name) || checks::reads_found_names(name)) && !is_deep;
    let demand = |(at, arg): (usize, &String)| {
        let place = operands(&tokens).position(|(own, _)| own + from == at);
        let demand = match place {
            Some(_) if name == "git" => Demand::Revision,
            Some(0) if has_pattern && TAKE_PATTERNS.contains(&name) && !splits => Demand::Name,
            Some(place) if takes_names && (place > 0 || !has_pattern) => {
                if is_limited {
                    Demand::Name
                } else {
                    Demand::Names
                }
            }
            // What a number would be there, a name would be as well.
            Some(_) if arg == UNKNOWN => return None,
            Some(_) | None => Demand::Number,
        };
        Some((at, demand))
    };
    let is_known = args.get(..from)?.iter().all(|arg| !arg.contains(UNKNOWN));
    let unknown = args.iter().enumerate().filter(|(_, arg)| is_known && arg.contains(UNKNOWN));
    let demands: Option<Vec<_>> = unknown.map(demand).collect();
    demands.filter(|_| is_known)
}

impl Demand {
    /// The test of a word as the shell is given it; the word is one.
    pub fn test(self, word: &str) -> String {
        let function = match self {
            Demand::Name | Demand::Names => "avocet_name",
            Demand::Revision => "avocet_revision",
            Demand::Number => "avocet_number",
        };
        format!("{function} {word}")
    }

    /// The test of the whole word that has a number in it: it may be a file.
    pub fn test_whole(word: &str) -> String {
        format!("avocet_links {word}")
    }
}

/// The tests. `@root` is the workspace, `@strips` takes the ends of copies off a name, `@closed` are
/// patterns of names of credentials.
const TESTS: &str = r#"avocet_out() { printf 'left out: %s\n' "$1" >&2
return 1
}
avocet_links() { for avocet__up in "$1" "${1#*=}"
do while :
do case "${avocet__up}" in ''|@root) break
;; */) avocet__up="${avocet__up%/}"
;; *) if [ -L "${avocet__up}" ]
then avocet_out "$1"
return
fi
case "${avocet__up}" in */*) avocet__up="${avocet__up%/*}"
;; *) break
;; esac
;; esac
done
done
}
avocet_name() { avocet__bare="${1#@root/}"
avocet__last=
while [ "${avocet__last}" != "${avocet__bare}" ]
do avocet__last="${avocet__bare}"@strips
done
avocet_links "$1" || return
case "/${avocet__bare}/" in
//*|/[-+\~\(\)\!,]*|*/../*) avocet_out "$1"
;; *[=:\"\'\`\\\$]*) avocet_out "$1"
;; @closed) avocet_out "$1"
;; esac
}
avocet_revision() { case "$1" in *[][*?{}]*|*[[:space:]]*) avocet_out "$1"
;; *) avocet_name "$1"
;; esac
}
avocet_number() { case "$1" in ''|*[!0-9]*) avocet_out "$1"
;; esac
}
avocet_digits() { if avocet_number "${1#$2}"
then printf '%s' "$1"
else printf 0
fi
}
avocet_names() { set -f
while IFS= read -r avocet__line
do for avocet__word in ${avocet__line}
do avocet_name "${avocet__word}" && printf '%s\n' "${avocet__word}"
done
done
}
"#;

/// The tests, for a script that has any: what they do not let through is named, for the model.
/// `None`: they cannot be written.
pub fn prelude(script: &str, workspace: &Path) -> Option<String> {
    let is_used =
        ["avocet_name", "avocet_revision", "avocet_number", "avocet_digits", "avocet_links"];
    if !is_used.iter().any(|function| script.contains(function)) {
        return Some(String::new());
    }
    let root = workspace.to_str()?.trim_end_matches('/');
    let inside = quote_literal(&format!("{root}/"));
    let root = quote_literal(root);
    let folders = sensitive::excluded_folders().map(|folder| format!("*/{folder}/*"));
    let pairs =
        sensitive::SENSITIVE_PAIRS.iter().map(|(folder, file)| format!("*/{folder}/{file}/*"));
    let names = sensitive::sensitive_globs()
        .map(|glob| format!("*/{}/*", sensitive::case_insensitive_glob(&glob)));
    // The repository itself, and git's own settings in a folder of modules.
    let closed = ["*/.git/".to_owned(), "*/.git/*config*".to_owned()];
    let closed: Vec<String> = folders
        .filter(|folder| folder != "*/.git/*")
        .chain(pairs)
        .chain(names)
        .chain(closed)
        .collect();
    let strips: String = sensitive::COPIES
        .iter()
        .map(|end| format!("\navocet__bare=\"${{avocet__bare%{}}}\"", any_case(end)))
        .collect();
    let values =
        [("root/", &inside), ("root", &root), ("strips", &strips), ("closed", &closed.join("|"))];
    // Each gap is filled once: what comes into one is not looked at again.
    let fill = |part: &str| {
        let filled =
            |(gap, value): &(&str, &String)| Some(format!("{value}{}", part.strip_prefix(gap)?));
        values.iter().find_map(filled).unwrap_or_else(|| part.to_owned())
    };
    Some(TESTS.split('@').map(fill).collect())
}

/// The end of a name as a pattern that fits in any case.
fn any_case(end: &str) -> String {
    let letter = |c: char| match c {
        'a'..='z' => format!("[{c}{}]", c.to_ascii_uppercase()),
        _ => format!("'{c}'"),
    };
    end.chars().map(letter).collect()
}
