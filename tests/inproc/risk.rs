//! The table of commands and the tiers they must get, with real files and links.

use avocet::protocol::Tier;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::Value;

use crate::policy_fixture::PolicyFixture;

#[derive(Deserialize)]
struct Case {
    id: String,
    program: String,
    args: Vec<String>,
    cwd: Option<String>,
    expect: Value,
    must_not: Option<String>,
    #[serde(default)]
    core: bool,
}

#[test]
fn every_case_of_the_corpus_gets_a_tier_it_accepts() {
    let ground = PolicyFixture::new();
    let mut wrong = Vec::new();
    for line in include_str!("../fixtures/risk/cases.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let args: Vec<String> = case.args.iter().map(|arg| ground.filled(arg)).collect();
        let cwd = case.cwd.as_deref().map_or(ground.ws.clone(), |cwd| ground.filled(cwd).into());
        let risk = ground.risk_in(&cwd, &ground.filled(&case.program), args);
        let tier = risk.tier.name();
        let accepted = match &case.expect {
            Value::Array(tiers) => tiers.iter().any(|accepted| accepted == tier),
            expected => expected == tier,
        };
        let forbidden = case.must_not.as_deref() == Some(tier);
        if !accepted || forbidden || (case.core && risk.tier != Tier::L0) {
            wrong.push(format!(
                "{}: {} {:?} is {tier} by {}",
                case.id, case.program, case.args, risk.rule
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines of every tier, each word apart.
const LINES: &[&str] = &[
    "ls -la src",
    "cat README.md",
    "head -n 3 a.txt",
    "sort -u a.txt",
    "uniq a.txt",
    "grep -rn x .",
    "rg -n TODO src",
    "find . -name x",
    "git status --short",
    "git log --oneline",
    "git diff",
    "date +%F",
    "jq . data.json",
    "sed -n 1p a.txt",
    "cat .env",
    "sort -o x a.txt",
    "uniq a.txt o",
    "touch x",
    "cp a.txt b",
    "git commit",
    "git push",
    "npm test",
    "cargo build",
    "curl https://x",
    "find . -delete",
    "sed -i p a.txt",
    "rm a.txt",
    "rm -rf build",
    "rm -r -f build",
    "sudo ls",
    "git reset --hard",
    "git clean -fd",
    "git push -f",
    "chmod -R 777 .",
    "mkfs.ext4 x",
    "dd if=a of=b",
    "reboot",
    "git checkout -- .",
    "kill -9 -1",
    "date -s 12",
    "hostname x",
    "nobody-knows x",
    "./evil.sh",
    "/tmp/x",
    "python3 x.py",
    "make",
    "bash x.sh",
];

/// Words around a command that must not hide it.
const WRAPPERS: &[&str] = &[
    "env",
    "env -i",
    "env A=b",
    "timeout 5",
    "timeout -k 1 5",
    "nice",
    "nice -n 5",
    "nohup",
    "setsid",
    "time",
    "time -p",
    "stdbuf -oL",
    "xargs",
    "xargs -n 1",
    "busybox",
    "ionice -c 3",
    "taskset 0x1",
    "flock lock",
    "find . -exec",
    "fd -x",
    "command",
    "strace -f",
    "sudo",
    "env env",
    "timeout 5 nice nohup",
    "env --nobody",
    "timeout --nobody 5",
    "systemd-run --user",
];

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn judge(ground: &PolicyFixture, words: &[String]) -> Tier {
    let (program, args) = words.split_first().unwrap();
    ground.tier(program, args)
}

#[test]
fn no_wrapper_hides_a_command() {
    let ground = PolicyFixture::new();
    for line in LINES {
        let plain = judge(&ground, &words(line));
        for wrapper in WRAPPERS {
            let wrapped = judge(&ground, &words(&format!("{wrapper} {line}")));
            assert!(wrapped >= plain, "{wrapper} {line}: {wrapped:?}");
        }
        for shell in ["bash", "sh", "zsh"] {
            let text = ground.risk(shell, &["-c", line]).tier;
            // The words of another shell are not known to mean the same.
            let least = if shell == "zsh" { Tier::L1 } else { Tier::L0 };
            assert!(text >= plain.max(least), "{shell} -c '{line}': {text:?}");
        }
    }
}

/// Reads, with `@` in place of a file.
#[rustfmt::skip]
const READERS: &[&str] = &[
    "cat @", "cat README.md @", "head -n 5 @", "tail -c 9 @", "wc -l @", "nl @",
    "tac @", "od -c @", "hexdump -C @", "xxd @", "strings @", "stat @",
    "file @", "sha256sum @", "cmp a.txt @", "diff @ a.txt", "diff -u a.txt @", "comm a.txt @",
    "cut -c1 @", "paste @", "sort @", "uniq @", "fold @", "join @ a.txt",
    "base64 @", "grep x @", "grep -e x @", "grep -f @ a.txt", "grep -rn x -- @", "rg x @",
    "rg -e x @", "rg -f @ x", "rg --files @", "sed -n p @", "sed -ne p @", "jq . @",
    "ls @", "tree @", "du @", "find @", "fd x @", "git diff @",
    "git -C @ status", "git log -- @", "git grep x @", "date -r @", "column -t @", "rev @",
    "readlink @", "env cat @", "timeout 5 cat @", "test -f @", "diff --from-file=@ a.txt", "tree @/",
    "cat ./@", "cat src/../@"
];

/// Files that are asked about, seen from the workspace.
const SECRETS: &[&str] = &[
    ".env",
    "server.pem",
    "link_key",
    "link_ssh/id_rsa",
    "notes_link.txt",
    "link_etc/shadow",
    ".git/config",
    "../outside/secret.txt",
    "../home/.netrc",
];

/// The same, wherever one stands.
const FAR_SECRETS: &[&str] = &[
    "/etc/shadow",
    "~/.ssh/id_rsa",
    "$HOME/.netrc",
    "/proc/self/environ",
    "{HOME}/.aws/credentials",
];

#[test]
fn a_read_asks_when_its_file_is_a_secret_or_a_link_to_one() {
    let ground = PolicyFixture::new();
    for reader in READERS {
        let fits =
            |secret: &&&str| !reader.contains("./@") || !secret.starts_with(['/', '~', '$', '{']);
        for secret in SECRETS.iter().chain(FAR_SECRETS).filter(fits) {
            let line = reader.replace('@', &ground.filled(secret));
            assert!(judge(&ground, &words(&line)) > Tier::L0, "{line}");
        }
    }
}

/// Flags of one program, the operands that follow, and whether order is free.
const PERMUTED: &[(&str, &[&str], &[&str])] = &[
    ("ls", &["-l", "-a", "--color=auto", "-R", "--nobody"], &["src"]),
    ("sort", &["-u", "-k2", "--reverse", "-ox", "--outp=y"], &["a.txt"]),
    ("rm", &["-r", "-f", "-v", "-i"], &["build"]),
    ("chmod", &["-R", "-v", "--changes"], &["777", "."]),
    ("grep", &["-r", "-n", "-i", "--include=*.rs", "-R"], &["x", "src"]),
    ("rg", &["-n", "--pre=x", "-C3", "--hidden"], &["x", "src"]),
    ("uniq", &["-c", "-i"], &["a.txt", "out"]),
];

/// Runs a property on one ground; a failure prints the smallest case.
fn always<S: Strategy>(
    strategy: S,
    holds: impl Fn(&PolicyFixture, S::Value) -> Result<(), TestCaseError>,
) {
    let ground = PolicyFixture::new();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&strategy, |value| holds(&ground, value)).unwrap();
}

#[test]
fn the_order_of_options_changes_nothing() {
    let picks = proptest::collection::vec(0usize..5, 0..5);
    always((0..PERMUTED.len(), picks, any::<bool>()), |ground, (row, picks, behind)| {
        let (program, flags, operands) = PERMUTED[row];
        let picked: Vec<&str> = picks.iter().map(|at| flags[at % flags.len()]).collect();
        let turned: Vec<&str> = picked.iter().rev().copied().collect();
        let straight: Vec<&str> = picked.iter().chain(operands).copied().collect();
        let turned: Vec<&str> = if behind {
            operands.iter().copied().chain(turned).collect()
        } else {
            turned.into_iter().chain(operands.iter().copied()).collect()
        };
        let (one, other) = (ground.risk(program, &straight), ground.risk(program, &turned));
        prop_assert_eq!(one.tier, other.tier, "{:?} {:?}", straight, turned);
        Ok(())
    });
}

#[test]
fn an_unknown_flag_never_lowers_a_tier() {
    always((0..LINES.len(), "-(-zq[a-z]{0,9}|Y|J)", 0usize..8), |ground, (line, flag, place)| {
        let plain = words(LINES[line]);
        let mut with = plain.clone();
        let at = 1 + place % with.len();
        // Behind an option, it would be that option's value.
        if at > 1 && plain[at - 1].starts_with('-') {
            return Ok(());
        }
        with.insert(at, flag);
        prop_assert!(judge(ground, &with) >= judge(ground, &plain), "{:?}", with);
        Ok(())
    });
}

#[test]
fn random_bytes_are_never_harmless() {
    let word = "[\\x00-\\x7f]{1,12}|\\PC{1,8}";
    let program = "[\\x00-\\x7f]{1,10}|\\PC{1,6}";
    always((program, proptest::collection::vec(word, 0..5)), |ground, (program, args)| {
        // A name of the tables, hit by chance, is no random one.
        let known = avocet::safety::known_programs()
            .any(|row| row.names.split_whitespace().any(|name| name == program));
        prop_assert!(known || ground.tier(&program, &args) > Tier::L0, "{program:?} {args:?}");
        Ok(())
    });
}

#[test]
fn random_arguments_never_make_the_policy_panic() {
    let names: Vec<&str> =
        avocet::safety::known_programs().flat_map(|row| row.names.split_whitespace()).collect();
    let word = "-{0,2}[\\x00-\\x7f]{0,12}|\\PC{1,8}|--|-";
    let args = proptest::collection::vec(word, 0..6);
    always((0..names.len(), args), |ground, (at, args)| {
        let hidden = args.iter().any(|arg| arg.contains(avocet::safety::is_hidden));
        let tier = ground.tier(names[at].trim_end_matches('*'), &args);
        prop_assert!(!hidden || tier > Tier::L0, "{} {args:?}", names[at]);
        Ok(())
    });
}

/// Every id that the code names by itself is listed.
#[test]
fn every_rule_that_the_code_names_is_listed() {
    fn walk(folder: &std::path::Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if !path.ends_with("tests.rs") {
                out.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut sources = Vec::new();
    walk(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/safety"), &mut sources);
    let named = regex::Regex::new(r#"\.add(?:_repeated)?\(\s*"([a-z._-]+)""#).unwrap();
    let of_any_row = regex::Regex::new(r#"call\.(?:ask|refuse)\(\s*"([a-z]+)""#).unwrap();
    let mut ids = std::collections::BTreeSet::new();
    for source in &sources {
        let code = source.split("#[cfg(test)]").next().unwrap();
        ids.extend(named.captures_iter(code).map(|found| found[1].to_owned()));
        ids.extend(of_any_row.captures_iter(code).map(|found| format!("*.{}", &found[1])));
    }
    assert!(ids.len() > 40, "{ids:?}");
    let unlisted: Vec<_> = ids.iter().filter(|id| !avocet::safety::is_rule(id)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

/// Each reason of each case names a rule that `avocet policy rules` lists.
#[test]
fn every_rule_that_decides_is_listed() {
    let ground = PolicyFixture::new();
    let mut unlisted = std::collections::BTreeSet::new();
    for line in include_str!("../fixtures/risk/cases.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let args: Vec<String> = case.args.iter().map(|arg| ground.filled(arg)).collect();
        let cwd = case.cwd.as_deref().map_or(ground.ws.clone(), |cwd| ground.filled(cwd).into());
        let risk = ground.risk_in(&cwd, &ground.filled(&case.program), args);
        let ids = risk.reasons.into_iter().map(|reason| reason.rule);
        unlisted.extend(ids.filter(|id| !avocet::safety::is_rule(id)));
    }
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
