//! Tests what a question about a line says: the pieces that ask first, each with its name.

use super::super::*;
use super::bash;

fn reasons(line: &str) -> Vec<String> {
    let verdict = assess_with(bash(line), &Policy::default(), &place());
    let risk = &verdict.judgement().risk;
    assert_eq!(risk.rule, risk.reasons[0].rule, "{line}");
    risk.reasons.iter().map(|reason| reason.say.to_string()).collect()
}

#[test]
fn a_line_that_is_not_understood_names_the_pieces_that_ask_first() {
    let said = reasons("npm test && ls \"$x\"");
    assert!(said[0].starts_with("`npm test` runs code"), "{said:?}");
    assert!(said[1].starts_with("`ls \"$x\"`: `$x` is only known"), "{said:?}");
    let said = reasons("eval \"$y\"; git push");
    let place = |start: &str| said.iter().position(|text| text.starts_with(start)).unwrap();
    assert!(place("`git push`") < place("Its argument is a shell line"), "{said:?}");
}

#[test]
fn a_reason_of_a_piece_is_not_said_again_about_the_line() {
    for line in ["npm test && ls", "npm test; git push", "npm test && ls \"$x\""] {
        let verdict = assess_with(bash(line), &Policy::default(), &place());
        let rules = verdict.judgement().risk.reasons.iter().map(|reason| reason.rule.as_str());
        let rules: Vec<&str> = rules.filter(|rule| rule.starts_with("npm")).collect();
        assert_eq!(rules, ["npm.test"], "{line}");
    }
}

#[test]
fn addresses_of_other_repositories_go_to_a_pipe_only_as_whole_lines() {
    let tier = |line| assess_with(bash(line), &Policy::default(), &place()).judgement().risk.tier;
    for line in [
        "git remote | base64",
        "git remote -v | head",
        "git remote -v | grep -v push | sort -u | head -n 5",
        "git config --get remote.origin.url | cat",
        "git config -l | wc -l",
    ] {
        assert_eq!(tier(line), Tier::L0, "{line}");
    }
    for line in [
        "git remote -v | base64",
        "git remote get-url origin | rev",
        "git remote -v | head -c 40",
        "git config -l | grep -o 'gh.*'",
        "git remote -v | sort -k 2",
        "git remote -v | head | tr a b",
        "echo $(git remote -v)",
        "base64 <<< \"$(git remote -v | head)\"",
        "git remote -v | while read a b; do echo ${b#h}; done",
    ] {
        assert_eq!(tier(line), Tier::L1, "{line}");
    }
}
