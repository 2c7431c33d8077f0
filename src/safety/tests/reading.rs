//! Tests every row of the tables that reads files: whatever harmless options come first, an
//! operand that is a secret, or a link to one, is never read without a question.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::rules;
use super::super::spec::{Operands, Spec};
use super::*;

/// Secrets, links to them, and ways to say the same.
const SECRETS: &[&str] = &[
    ".env",
    "./.env.local",
    "sub/../.env",
    "server.pem",
    "link_key",
    "./link_key",
    "link_ssh/id_rsa",
    "link_ssh",
    "link_etc/shadow",
    "notes_link.txt",
    "~/.ssh/id_rsa",
    "$HOME/.aws/credentials",
    "/h/.netrc",
    "/w/../h/.ssh/config",
    "../h/.gnupg/x",
    "/proc/self/environ",
];

/// A row that runs by itself and reads its operands.
#[derive(Clone, Debug)]
struct ReadingRow {
    /// The program, and its sub-command if it is one of those.
    words: Vec<&'static str>,
    flags: Vec<&'static str>,
    /// Options whose value is a file it reads.
    paths: Vec<String>,
    operands: Operands,
}

fn first_name(names: &'static str) -> &'static str {
    names.split_ascii_whitespace().next().unwrap().trim_end_matches('*')
}

fn readers() -> Vec<ReadingRow> {
    let of = |words: Vec<&'static str>, spec: &'static Spec| {
        let reads = matches!(
            spec.grammar.operands,
            Operands::Reads(1..) | Operands::PatternThenReads(_) | Operands::Named
        );
        let flags = spec.grammar.flags.split_ascii_whitespace();
        let flags = flags.filter(|flag| *flag != "*" && *flag != "-NUM").collect();
        let paths = spec.grammar.values.split_ascii_whitespace();
        let paths = paths.filter_map(|value| value.strip_suffix("=path"));
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        let worth = spec.tier == Tier::L0 && (reads || !paths.is_empty());
        worth.then_some(ReadingRow { words, flags, paths, operands: spec.grammar.operands })
    };
    let mut out = Vec::new();
    for spec in rules::all() {
        out.extend(of(vec![first_name(spec.names)], spec));
        for sub in spec.subs {
            out.extend(of(vec![first_name(spec.names), first_name(sub.names)], sub));
        }
    }
    out
}

#[test]
fn there_are_rows_that_read() {
    let readers = readers();
    assert!(readers.len() > 40, "{}", readers.len());
    assert!(readers.iter().any(|reader| reader.words == ["cat"]));
    assert!(readers.iter().any(|reader| reader.words[0] == "git" && reader.words.len() == 2));
}

/// Adding a row whose words are not files requires checking whether they may be.
#[test]
fn only_these_rows_take_words_that_are_not_files() {
    let mut found: Vec<&str> = rules::all()
        .filter(|spec| spec.tier == Tier::L0 && spec.grammar.operands == Operands::Text)
        .filter(|spec| spec.check.is_none())
        .flat_map(|spec| spec.names.split_ascii_whitespace())
        .collect();
    found.sort_unstable();
    assert_eq!(found.join(" "), NO_FILES);
}

const NO_FILES: &str = "basename cal col colrm cowsay cowthink df dirname echo expr factor false \
    figlet getconf getopt locale ncal numfmt pathchk printf seq ss toilet tr true \
    uuidgen whereis which";

fn assert_asks(reader: &ReadingRow, args: &[String]) -> Result<(), TestCaseError> {
    let mut words = reader.words.clone();
    words.extend(args.iter().map(String::as_str));
    let (program, args) = words.split_first().unwrap();
    let risk = risk(program, args);
    prop_assert!(risk.tier > Tier::L0, "{words:?} is {:?} by {}", risk.tier, risk.rule);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]
    #[test]
    fn a_secret_is_never_read_without_a_question(
        row in any::<Index>(),
        secret in select(SECRETS),
        flags in proptest::collection::vec(any::<Index>(), 0..3),
        others in proptest::collection::vec(select(&["a.txt", "src/main.rs"][..]), 0..2),
        option in any::<Index>(),
        ends_options in any::<bool>(),
    ) {
        let readers = readers();
        let reader = row.get(&readers);
        let picked = |index: &Index| index.get(&reader.flags).to_string();
        let mut args: Vec<String> = if reader.flags.is_empty() {
            Vec::new()
        } else {
            flags.iter().map(picked).collect()
        };
        if !reader.paths.is_empty() {
            let name = option.get(&reader.paths);
            let joined = if name.starts_with("--") { format!("{name}={secret}") } else { format!("{name}{secret}") };
            for with in [vec![joined], vec![name.clone(), secret.to_owned()]] {
                let all: Vec<String> = args.iter().cloned().chain(with).collect();
                assert_asks(reader, &all)?;
            }
        }
        match reader.operands {
            Operands::Reads(most) => args.extend(others.iter().take(most.saturating_sub(1)).map(|it| (*it).to_owned())),
            Operands::PatternThenReads(_) => args.push("needle".to_owned()),
            Operands::Named => args.extend(others.iter().map(|it| (*it).to_owned())),
            _ => return Ok(()),
        }
        if ends_options && reader.operands != Operands::Named {
            let at = args.len() - usize::from(matches!(reader.operands, Operands::PatternThenReads(_)));
            args.insert(at.min(args.len()), "--".to_owned());
        }
        args.push(secret.to_owned());
        assert_asks(reader, &args)?;
    }
}

/// A folder is read with all that is in it, so that a rule about a file in it counts.
#[test]
fn what_goes_through_folders_asks_or_leaves_out_where_a_rule_denies_files_in_them() {
    let tier = |rules: &[&str], step: Step| {
        let policy = policy(|p| p.denied = rules.iter().map(|text| rule(text)).collect());
        assess_with(step, &policy, &place()).judgement().risk.tier
    };
    let bash = |line: &str| step("bash", &["-c", line]);
    let vault = ["file.read ./vault/**"];
    for words in [
        "rg x",
        "rg x .",
        "rg x vault",
        "grep -r x .",
        "diff -r vault src",
        "find . -exec cat {} ;",
        "git stash show -p",
    ] {
        let words = words_of(words);
        let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        assert_ne!(tier(&vault, step(&words[0], &args)), Tier::L0, "{words:?}");
        // Names of credentials are left out of all searches, and what is not there is in none.
        for other in ["file.read ./.env", "file.read **/*.pem", "file.read /missing/x"] {
            let (plain, ruled) = (step(&words[0], &args), step(&words[0], &args));
            assert_eq!(tier(&[other], ruled), tier(&[], plain), "{other} {words:?}");
        }
    }
    for line in ["rg x", "find . -type f | xargs cat", "for f in $(find .); do cat \"$f\"; done"] {
        assert_ne!(tier(&vault, bash(line)), Tier::L0, "{line}");
    }
    for words in [["rg", "x", "src"], ["git", "grep", "x"], ["ls", "-R", "."]] {
        assert_eq!(tier(&vault, step(words[0], &words[1..])), Tier::L0, "{words:?}");
    }
    let search = |rules: &[&str]| {
        let input = serde_json::json!({ "query": "x" });
        let work = StepAction::Tool { name: "file.search".into(), input };
        let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
        tier(rules, step)
    };
    assert_eq!(search(&vault), Tier::L0, "it leaves them out");
    assert_eq!(search(&["file.read sub/*.x"]), Tier::L1);
    for form in [&["grep", "x"][..], &["log", "-p"], &["diff"]] {
        let policy = policy(|p| p.denied = vec![rule("file.read ./vault/**")]);
        let verdict = assess_with(step("git", form), &policy, &place());
        let launch = &verdict.judgement().launch;
        let is_excluded = |(_, arg): &(usize, String)| arg.ends_with("**/vault/**");
        assert!(launch.inserted.iter().any(is_excluded) && !launch.filters_diffs, "{form:?}");
    }
}
