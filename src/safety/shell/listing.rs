//! Commands that print names of files, revisions or numbers. What they print may be in the words
//! of a program; the content of a file may not, with any reader.

use super::super::spec::{Operands, operands};
use super::super::{args, rules};
use super::plain::{PlainCommand, PlainLine, PlainSegment};
use avocet_core::text::short_name;

#[rustfmt::skip]
const LISTS: &[&str] = &["ls", "find", "fd", "which", "basename", "dirname", "realpath", "seq", "wc", "nproc", "date"];
#[rustfmt::skip]
const GIT_LISTS: &[&str] = &[
    "ls-files", "rev-parse", "rev-list", "merge-base", "describe", "branch", "tag", "for-each-ref", "symbolic-ref",
];
/// Options with which others list.
#[rustfmt::skip]
const LISTING: &[&str] = &[
    "--name-only", "--files", "--count", "--files-with-matches", "--format=%h", "--format=%H", "--pretty=%h", "--pretty=%H",
    "--pretty=format:%h", "--pretty=format:%H",
];
/// They read what is piped to them, where they are given no file.
const SEARCHES: &[&str] = &["rg", "grep", "egrep", "fgrep"];
const FILTERS: &[&str] = &[
    "head", "tail", "sort", "uniq", "grep", "egrep", "fgrep", "tac", "cut", "sed", "awk", "tr",
    "wc",
];

impl PlainLine {
    /// Whether all that it prints is such a list.
    pub fn is_listing(&self) -> bool {
        is_listing(&self.0)
    }

    /// Whether what comes next, after `sign`, is fed such a list.
    pub fn feeds_listing(&self, sign: &str) -> bool {
        let Some((PlainSegment::Text(last), before)) = self.0.split_last() else { return false };
        let is_other =
            |part: &PlainSegment| matches!(part, PlainSegment::Text(text) if text != " | ");
        let begin = before.iter().rposition(is_other).map_or(0, |at| at + 1);
        last == sign && before.get(begin..).is_some_and(is_listing)
    }
}

/// A command that lists, and those that leave out, sort or cut what it prints.
fn is_listing(parts: &[PlainSegment]) -> bool {
    // What is piped to one that reads no input is lost.
    let begins = |part: &PlainSegment| match part {
        PlainSegment::Command(command) => {
            !SEARCHES.contains(&short_name(&command.name)) && lists(command)
        }
        PlainSegment::Text(_) => false,
    };
    let begin = parts.iter().rposition(begins).unwrap_or(0);
    let parts = parts.get(begin..).unwrap_or_default();
    let Some((PlainSegment::Command(first), rest)) = parts.split_first() else { return false };
    let filters = |parts: &[PlainSegment]| match parts {
        [PlainSegment::Text(sign), PlainSegment::Command(command)] => {
            sign == " | " && only_filters(command)
        }
        _ => false,
    };
    lists(first) && rest.chunks(2).all(filters)
}

fn lists(command: &PlainCommand) -> bool {
    let PlainCommand { name, args, .. } = command;
    let has_listing = args.iter().any(|arg| LISTING.contains(&arg.as_str()));
    match short_name(name) {
        "find" => !args.iter().any(|arg| arg.contains("exec") || arg.contains("printf")),
        "git" => {
            let sub = args.iter().find(|arg| !arg.starts_with('-'));
            // What was written by someone: the subject of a commit, the text of a tag.
            let is_format = |arg: &&String| {
                ["--format", "--pretty"].iter().any(|option| arg.starts_with(option))
            };
            let is_silent = |arg: &String| {
                LISTING.contains(&arg.as_str()) || arg.ends_with('=') || arg.contains("refname")
            };
            let mut formats = args.iter().filter(is_format).peekable();
            let is_listed = sub.is_some_and(|sub| {
                GIT_LISTS.contains(&sub.as_str()) || sub == "grep" && lists_matches(command)
            });
            // These print messages where no format leaves them out.
            let tells = sub.is_some_and(|sub| ["log", "show"].contains(&sub.as_str()));
            let is_told = tells && formats.peek().is_none();
            (has_listing || is_listed) && !is_told && formats.all(is_silent)
        }
        name if SEARCHES.contains(&name) => lists_matches(command),
        name => LISTS.contains(&name),
    }
}

/// A search that prints where it finds something, or how often.
fn lists_matches(command: &PlainCommand) -> bool {
    let name = short_name(&command.name);
    let Some((mut spec, _)) = rules::find(name) else { return false };
    let mut tokens = args::parse(&command.args, spec);
    let sub = operands(&tokens).next().filter(|_| name == "git");
    if let Some((at, sub)) = sub {
        let Some((inner, _)) = spec.sub(sub) else { return false };
        spec = inner;
        tokens = args::parse(command.args.get(at + 1..).unwrap_or_default(), spec);
    }
    // `rg -L` follows links.
    let has = |flags: &str| args::find_flag(&tokens, flags).is_some();
    has("-l|--files-with-matches|--files-without-match|--name-only|-c|--count|--files")
        || name != "rg" && has("-L")
}

/// It reads what is piped to it, and no file.
fn only_filters(command: &PlainCommand) -> bool {
    let name = short_name(&command.name);
    let Some((spec, _)) = rules::find(name).filter(|_| FILTERS.contains(&name)) else {
        return false;
    };
    let tokens = args::parse(&command.args, spec);
    let own = match spec.grammar.operands {
        Operands::PatternThenReads(givers) => {
            usize::from(args::find_flag(&tokens, givers).is_none())
        }
        Operands::Text => usize::MAX,
        _ => 0,
    };
    operands(&tokens).count() <= own && !command.redirects.contains('<')
}
