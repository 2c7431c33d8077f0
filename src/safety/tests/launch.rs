//! What the judgement hands on to whoever starts a step.

use super::*;

fn launch(line: &str) -> Launch {
    let words = words_of(line);
    let (program, args) = words.split_first().unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let verdict = verdict(program, &args);
    assert_eq!(verdict.judged().risk.tier, Tier::L0, "{line}: {}", verdict.judged().risk.rule);
    verdict.judged().launch.clone()
}

fn starts(line: &str) -> Vec<String> {
    let starts = launch(line).starts.into_iter();
    starts.map(|program| program.path.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_git_that_runs_is_found_by_judging_and_not_by_its_letters() {
    assert_eq!(launch("git status").git, Some(0));
    assert_eq!(launch("git -C src status").git, Some(0));
    assert_eq!(launch("timeout 5 git status").git, Some(2));
    assert_eq!(launch("env LC_ALL=x git status").git, Some(2));
    assert_eq!(launch("time -f git git status").git, Some(3));
    assert_eq!(launch("nice -n 5 env TZ=git timeout 5 git log").git, Some(7));
    assert_eq!(launch("timeout 5 grep git log").git, None);
    assert_eq!(launch("grep git git").git, None);
}

#[test]
fn what_a_wrapper_starts_is_named_and_resolved() {
    assert_eq!(starts("ls"), [""; 0]);
    assert_eq!(starts("timeout 5 ls"), ["/bin/ls"]);
    assert_eq!(starts("env LANG=C timeout 5 nice ls"), ["/bin/timeout", "/bin/nice", "/bin/ls"]);
    assert_eq!(starts("egrep x a.txt"), ["/bin/grep"]);
}

#[test]
fn the_helpers_of_git_are_named_wherever_git_stands() {
    for line in ["git status", "timeout 5 git log"] {
        let helpers = launch(line).helpers;
        assert!(helpers.contains(&"/lib/git-core".into()), "{line}: {helpers:?}");
    }
}

#[test]
fn what_is_approved_starts_as_it_was_seen() {
    let verdict = verdict("git", &["commit", "-m", "x"]);
    let launch = &verdict.judged().launch;
    assert_eq!((launch.git, launch.inserted.len(), launch.empty_folder), (Some(0), 0, false));
}
