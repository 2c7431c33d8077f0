//! Shell lines: what the policy must see in them, and the risk they carry.

use std::io::Cursor;
use std::time::{Duration, Instant};

use avocet::cli::policy::explain_batch;
use avocet::i18n::Lang;
use avocet::protocol::Tier;
use avocet::safety::Workspace;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::policy_fixture::PolicyFixture;

#[derive(Deserialize)]
struct Case {
    id: String,
    shell: String,
    expect: Value,
    must_not: Option<String>,
    find: Vec<String>,
    warn: Vec<String>,
    args: Option<String>,
    #[serde(default)]
    opaque: bool,
}

/// Asks about lines as another program would, one answer each.
fn ask(ground: &PolicyFixture, lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let here = Workspace::new(ground.ws.clone(), ground.home.clone());
    let mut out = Vec::new();
    explain_batch(Cursor::new(input), &mut out, &ground.policy, &here, Lang::En).unwrap();
    String::from_utf8(out).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn one(ground: &PolicyFixture, line: &str) -> Value {
    let asked = json!({"id": "x", "shell": line, "cwd": ground.ws, "workspace": ground.ws, "home": ground.home});
    ask(ground, &[asked]).remove(0)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// Whether every one of `wanted` is there, as often as it is wanted.
fn holds(all: &[String], wanted: &[String]) -> bool {
    let count = |list: &[String], name: &String| list.iter().filter(|one| *one == name).count();
    wanted.iter().all(|name| count(all, name) >= count(wanted, name))
}

fn judge(case: &Case, answer: &Value) -> Vec<String> {
    let tier = answer["tier"].as_str().unwrap_or("none");
    let accepted = match &case.expect {
        Value::Array(tiers) => tiers.iter().any(|accepted| accepted == tier),
        expected => expected == tier,
    };
    let (programs, warnings) = (texts(&answer["programs"]), texts(&answer["warnings"]));
    let faults = [
        (!accepted || case.must_not.as_deref() == Some(tier), format!("is {tier}")),
        (!holds(&programs, &case.find), format!("sees {programs:?}")),
        (!holds(&warnings, &case.warn), format!("warns {warnings:?}")),
        (case.opaque && answer["opaque"] != true, "is not opaque".into()),
        (tier == "L0" && answer["opaque"] != false, "is opaque and L0".into()),
    ];
    faults.into_iter().filter(|(wrong, _)| *wrong).map(|(_, text)| text).collect()
}

#[test]
fn every_line_of_the_corpus_gets_a_tier_its_programs_and_its_warnings() {
    let ground = PolicyFixture::new();
    let cases: Vec<Case> = include_str!("../fixtures/shell/cases.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| json!({"id": case.id, "shell": case.shell, "args": case.args, "workspace": ground.ws, "home": ground.home}))
        .collect();
    let answers = ask(&ground, &asked);
    let wrong: Vec<String> = cases
        .iter()
        .zip(&answers)
        .map(|(case, answer)| (case, answer, judge(case, answer)))
        .filter(|(.., faults)| !faults.is_empty())
        .map(|(case, answer, faults)| {
            format!("{} {:?}: {} by {}", case.id, case.shell, faults.join(", "), answer["rule"])
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_line_of_our_own_corpus_is_understood() {
    let ground = PolicyFixture::new();
    let cases: Vec<Case> = include_str!("../fixtures/shell/own.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for case in &cases {
        let answer = one(&ground, &case.shell);
        let faults = judge(case, &answer);
        assert!(faults.is_empty(), "{:?}: {faults:?} by {}", case.shell, answer["rule"]);
    }
}

fn tier(answer: &Value) -> Tier {
    serde_json::from_value(answer["tier"].clone()).unwrap()
}

/// Runs a property on one ground; a failure prints the smallest case.
fn always<S: Strategy>(strategy: S, holds: impl Fn(&PolicyFixture, S::Value)) {
    let ground = PolicyFixture::new();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&strategy, |value| {
        holds(&ground, value);
        Ok(())
    });
    result.unwrap();
}

/// Pieces out of which lines are made that come close to the grammar.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "ls", "rm -rf x", "a", " ", " ", "\n", ";", "&", "&&", "|", "||", "(", ")", "{", "}", "$(", "${", "`", "'", "\"", "\\", "\\\n", "<<E", "<<'E'",
    "\nE\n", "<", ">", "2>&1", ">|", "<(", "((", "))", "[[", "]]", "if ", "then ", "fi", "case x in ", "a) ", ";;", "esac", "while ", "do ",
    "done", "for x in ", "f()", "function ", "x=", "x=(", "$x", "$'", "{a,b}", "*", "eval ", "time ", "!", "#", "é", "\r", "\u{202e}", "[", "@P}",
];

#[test]
fn no_line_makes_the_parser_panic() {
    let pieces = proptest::collection::vec(0..PIECES.len(), 0..60);
    always(pieces, |ground, picks| {
        let line: String = picks.iter().map(|at| PIECES[*at]).collect();
        assert!(one(ground, &line)["tier"].is_string(), "{line:?}");
    });
}

#[test]
fn random_text_is_never_harmless() {
    always("[\\x00-\\x7f]{1,40}|\\PC{1,30}", |ground, line| {
        let answer = one(ground, &line);
        let programs = texts(&answer["programs"]);
        let known = programs.iter().any(|name| ["[", "[[", ":", "w", "."].contains(&name.as_str()));
        assert!(known || tier(&answer) > Tier::L0, "{line:?}");
    });
}

/// Forms around a command that run it, `@` in its place.
#[rustfmt::skip]
const FORMS: &[&str] = &[
    "@", "ls; @", "ls && @", "ls || @", "ls | @", "@ | cat", "(@)", "{ @; }", "! @", "time @", "if @; then :; fi", "if ls; then @; fi",
    "while @; do :; done", "until ls; do @; done", "for x in a b; do @; done", "case x in x) @;; esac", "f() { @; }; f", "echo $(@)", "echo \"$(@)\"",
    "echo `@`", "cat <(@)", "x=$(@)", "ls > $(@)", "echo ${x:-$(@)}", "cat <<E\n$(@)\nE", "bash <<E\n@\nE", "coproc @", "command @", "eval '@'",
    "bash -c '@'", "sh -c 'sh -c \"@\"'", "@ &", "@ # x", "ls\n@", "[[ -n $(@) ]]", "echo $((1+$(@)))", "env @", "xargs @", "timeout 5 @", "\\\n@",
    "true && (ls; { @; })", "trap '@' EXIT", "A=b @", "@ 2>&1", "@ </dev/null", "alias x='@'", "bash <<< '@'", "echo '@' | sh", "nohup @ &",
];

#[test]
fn no_compound_around_a_command_lowers_its_tier() {
    let ground = PolicyFixture::new();
    for command in [
        "rm -rf build",
        "touch x",
        "cat .env",
        "sudo ls",
        "git reset --hard",
        "curl x",
        "./evil.sh",
        "kill -9 -1",
    ] {
        let plain = one(&ground, command);
        for form in FORMS {
            let line = form.replace('@', command);
            let answer = one(&ground, &line);
            assert!(tier(&answer) >= tier(&plain), "{line:?}: {}", answer["rule"]);
            let wanted = texts(&plain["programs"]);
            assert!(holds(&texts(&answer["programs"]), &wanted), "{line:?}: {answer}");
        }
    }
}

#[test]
fn nested_compounds_hide_nothing_either() {
    let quotes = |form: &str| form.contains(['\'', '"', '`']) || form.contains("<<");
    let ground = PolicyFixture::new();
    for outer in FORMS.iter().filter(|form| !quotes(form)) {
        for inner in FORMS.iter().filter(|form| !form.contains(['#', '\n']) && !form.ends_with('&'))
        {
            let line = outer.replace('@', &inner.replace('@', "rm -rf build"));
            // Two parentheses are arithmetic, and arithmetic runs nothing.
            if line.contains("((rm") {
                continue;
            }
            assert!(
                tier(&one(&ground, &line)) == Tier::L2 || one(&ground, &line)["opaque"] == true,
                "{line:?}"
            );
        }
    }
}

#[test]
fn a_long_line_takes_time_in_proportion() {
    let ground = PolicyFixture::new();
    let began = Instant::now();
    for part in [
        "a;",
        "$(",
        "((",
        "`a` ",
        "'",
        "<<E\n",
        "a|",
        "x=(",
        "${",
        "\\\n",
        "case x in ",
        "{ ",
        "\"$((",
    ] {
        let line = part.repeat(20_000 / part.len());
        assert!(tier(&one(&ground, &line)) > Tier::L0, "{part}");
    }
    let line = format!("{}rm -rf build", "ls;".repeat(5_000));
    assert_eq!(tier(&one(&ground, &line)), Tier::L2);
    // Many times what it takes unoptimised on a busy machine.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

/// Ways to give `@` a value that are no assignment in front of a command.
const SETTERS: &[&str] = &[
    "for @ in .; do ls; done",
    "select @ in .; do ls; done",
    "read @ <<< .; ls",
    "read -r -p x @; ls",
    "read -a @ < a.txt; ls",
    "while read -r @; do ls; done < a.txt",
    "command read @ < a.txt; ls",
    "printf -v @ .; ls",
    "printf -v@ .; ls",
    "builtin printf -v @ .; ls",
    "getopts x @; ls",
    "wait -p @; ls",
    "mapfile -t @ <<< .; ls",
    "((@=1)); ls",
    "for ((@=1; 0; )); do ls; done",
    "let @=1; ls",
    "echo ${@:=.}; ls",
    "ls {@}>/dev/null; ls",
    "coproc @ { ls; }",
    "declare @=.; ls",
    "export @; ls",
    "@+=:.; ls",
    "@=(.); ls",
];

#[test]
fn a_variable_that_steers_programs_is_seen_however_it_is_set() {
    let ground = PolicyFixture::new();
    for setter in SETTERS {
        for name in ["PATH", "LD_PRELOAD", "GIT_PAGER", "BASH_ENV"] {
            let line = setter.replace('@', name);
            let found = one(&ground, &line);
            assert_ne!(found["tier"], "L0", "{line}");
        }
    }
    for plain in
        ["for f in a; do ls; done", "while read -r l; do ls; done < a.txt", "printf -v x ."]
    {
        assert_eq!(one(&ground, plain)["tier"], "L0", "{plain}");
    }
}

#[test]
fn brace_expansion_does_not_hide_an_option() {
    let ground = PolicyFixture::new();
    for line in ["rm {-rf,x}", "rm -{r,f} x", "rm {-r,{-f,x}}", "git reset {--hard,HEAD}"] {
        assert_eq!(one(&ground, line)["tier"], "L2", "{line}");
    }
    let read = one(&ground, "cat .{env,x}");
    assert!(texts(&read["warnings"]).contains(&"secret".to_owned()), "{read}");
}

#[test]
fn paths_only_the_shell_can_resolve_are_not_read_as_names() {
    let ground = PolicyFixture::new();
    for line in ["ls ~-", "cat ~+/x", "cat ~1/x", "cd ~-; ls"] {
        assert_ne!(one(&ground, line)["tier"], "L0", "{line}");
    }
}
