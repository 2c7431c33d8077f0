//! Decides whether a rule of the user refuses a command.
//!
//! Matches loosely, unlike rules that allow: by the last part of a path, with global
//! options skipped, by other names of the same sub-command, and with the words of the rule
//! in order but not necessarily adjacent. Refusing too much costs a question.

use super::args;
use super::mcp_names::PREFIX;
use super::policy::PolicyRule;
use super::rules;
use super::rules::remembered::{ABBREVIATES, ALIKE};
use super::spec::{Spec, is_doubtful};
use avocet_core::text::short_name;

/// A reading of a command: its program and sub-command by the names of their rows, and the
/// rest.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    program: String,
    sub: Option<String>,
    rest: Vec<String>,
}

/// Whether `rule` refuses `program` with `args`. One that refuses tools of a server may name them by
/// what they begin with, `mcp.git.*`.
pub fn refuses(rule: &PolicyRule, program: &str, args: &[String]) -> bool {
    if rule.matches(program, args) {
        return true;
    }
    if let Some(start) = rule.program.strip_suffix('*').filter(|start| start.starts_with(PREFIX)) {
        return program.starts_with(start);
    }
    let mut ruled = readings(&rule.program, &rule.args);
    // The rule means its first reading; the others are for the refused command.
    ruled.truncate(1);
    let readings = readings(program, args);
    ruled.iter().any(|ruled| readings.iter().any(|read| matches_rule(read, ruled, rule.open)))
}

fn matches_rule(read: &Reading, reading: &Reading, open: bool) -> bool {
    let sub = reading.sub.is_none() || reading.sub == read.sub;
    // A rule without a sub-command is about the program as a whole.
    let rest = match (&reading.sub, &read.sub) {
        (None, Some(_)) => open,
        _ if open => is_subsequence(&reading.rest, &read.rest),
        _ => reading.rest == read.rest,
    };
    read.program == reading.program && sub && rest
}

/// Whether the words appear in this order, with others between them.
fn is_subsequence(words: &[String], line: &[String]) -> bool {
    let mut line = line.iter();
    words.iter().all(|word| line.any(|other| other == word))
}

/// Every way a command may be read, the likeliest first.
fn readings(program: &str, args: &[String]) -> Vec<Reading> {
    let short = short_name(program);
    let Some((spec, own)) = rules::find(short) else {
        return vec![reading(short, None, args)];
    };
    let mut out = Vec::new();
    // `cargo +nightly test`.
    let args = match args.first() {
        Some(first) if first.starts_with('+') => args.get(1..).unwrap_or_default(),
        _ => args,
    };
    for at in sub_command_positions(spec, own, args) {
        let word = args.get(at).map_or("", String::as_str);
        let rest = args.get(at + 1..).unwrap_or_default();
        sub_command_names(spec, own, word, rest).into_iter().for_each(|(sub, passed)| {
            let rest = rest.get(passed..).unwrap_or_default();
            if sub.is_empty() {
                out.extend(nested_readings(own, spec, rest))
            } else {
                out.push(reading(own, Some(sub), rest))
            }
        });
    }
    out.extend(python_module_readings(own, args));
    if out.is_empty() {
        out.push(reading(own, None, args));
    }
    out
}

/// The words after one that is skipped: `docker container run`.
fn nested_readings(own: &str, spec: &Spec, args: &[String]) -> Vec<Reading> {
    let first = sub_command_positions(spec, own, args).into_iter().next();
    let read = first.and_then(|at| Some((args.get(at)?.clone(), args.get(at + 1..)?)));
    read.map(|(sub, rest)| reading(own, Some(sub), rest)).into_iter().collect()
}

/// `python3 -m pip install` is `pip install`.
fn python_module_readings(own: &str, args: &[String]) -> Vec<Reading> {
    let at = args.iter().position(|arg| arg == "-m").filter(|_| own.starts_with("python"));
    let named = at.and_then(|at| Some((args.get(at + 1)?, args.get(at + 2..)?)));
    named.map_or_else(Vec::new, |(name, rest)| readings(name, rest))
}

fn reading(program: &str, sub: Option<String>, rest: &[String]) -> Reading {
    Reading { program: program.to_owned(), sub, rest: rest.to_vec() }
}

/// The positions where the sub-command may be.
fn sub_command_positions(spec: &Spec, own: &str, args: &[String]) -> Vec<usize> {
    if spec.subs.is_empty() && alias_pairs(own).is_none() {
        return Vec::new();
    }
    let tokens = args::parse(args, spec);
    let first = tokens.iter().find(|token| token.operand().is_some()).map(|token| token.at);
    // An unknown option may have taken what looks like the sub-command.
    let doubtful = is_doubtful(&tokens);
    let from = first.map_or(args.len(), |at| at + 1);
    let others = args
        .iter()
        .enumerate()
        .skip(from)
        .filter(|(_, arg)| doubtful && !arg.starts_with('-') && spec.sub(arg).is_some());
    first.into_iter().chain(others.map(|(at, _)| at)).collect()
}

/// The names a sub-command has in rules, each with how many of the following words belong
/// to it.
fn sub_command_names(spec: &Spec, own: &str, word: &str, rest: &[String]) -> Vec<(String, usize)> {
    let pairs = || alias_pairs(own).unwrap_or_default().split_ascii_whitespace();
    let partner = pairs().find_map(|pair| match pair.split_once('=') {
        Some((name, other)) if name == word => Some(other),
        _ => None,
    });
    let mut out = vec![(partner.unwrap_or(word).to_owned(), 0)];
    // The sub-command runs a script of that name.
    if partner.unwrap_or(word) == "run"
        && let Some(script) = rest.first()
        && ["test", "start", "stop", "restart"].contains(&script.as_str())
    {
        out.push((script.clone(), 1));
    }
    if ABBREVIATES.contains(&own) && word.len() > 1 {
        let subs = spec.subs.iter().flat_map(|sub| sub.names.split_ascii_whitespace());
        let begun = subs.filter(|name| name.starts_with(word) && *name != word);
        out.extend(begun.map(|name| (name.to_owned(), 0)));
    }
    out
}

fn alias_pairs(own: &str) -> Option<&'static str> {
    ALIKE.iter().find(|(program, _)| *program == own).map(|(_, pairs)| *pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(rule: &str, line: &str) -> bool {
        let mut words = line.split(' ').map(str::to_owned);
        let program = words.next().unwrap();
        let args: Vec<String> = words.collect();
        refuses(&PolicyRule::parse(rule).unwrap(), &program, &args)
    }

    #[test]
    fn a_rule_refuses_its_sub_command_after_options_and_by_its_other_names() {
        for (rule, line) in [
            ("git push *", "git -C . push"),
            ("git push *", "git --no-pager push origin"),
            ("git push *", "git --nobody x push"),
            ("git push *", "git -c a=b push"),
            ("git push *", "git send-pack x"),
            ("git push *", "/usr/bin/git push"),
            ("git push", "git -C . push"),
            ("git push origin *", "git push -q origin main"),
            ("git push --force *", "git push origin --force"),
            ("git stash drop *", "git -C . stash drop"),
            ("cargo test *", "cargo --quiet test"),
            ("cargo test *", "cargo t"),
            ("cargo t *", "cargo test x"),
            ("cargo test *", "cargo +nightly test"),
            ("npm install *", "npm i x"),
            ("npm install *", "npm --silent add x"),
            ("npm install *", "npm inst x"),
            ("npm publish *", "npm publ"),
            ("npm test *", "npm run test"),
            ("npm run deploy *", "npm run-script deploy"),
            ("docker push *", "docker image push x"),
            ("pip install *", "python3 -m pip install x"),
            ("gh pr merge *", "gh -R a/b pr merge 1"),
            ("git *", "git status"),
            ("make *", "make x"),
        ] {
            assert!(refuse(rule, line), "`{rule}` lets `{line}` pass");
        }
    }

    #[test]
    fn a_rule_refuses_nothing_else() {
        for (rule, line) in [
            ("git push *", "git status"),
            ("git push *", "git -C push status"),
            ("git push *", "git log push"),
            ("git push", "git push origin"),
            ("git push origin *", "git push upstream"),
            ("cargo test *", "cargo build"),
            ("npm install *", "npm test"),
            ("npm test *", "npm run build"),
            ("git stash drop *", "git stash pop"),
            ("git", "git status"),
            ("pip install *", "python3 -m pytest install"),
        ] {
            assert!(!refuse(rule, line), "`{rule}` refuses `{line}`");
        }
    }
}
