//! Approval of the rest of the list.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::{self, Effect, StepQuestion};

/// At the question about the first of these lines, approves all listed steps.
fn approves_all(bench: &mut Bench, lines: &[&str]) -> (Vec<protocol::RemainingStep>, TurnAction) {
    let TurnAction::Ask(ask) = bench.proposes(lines) else { panic!("asks") };
    let Question::Step(StepQuestion { rest, .. }) = *ask else { panic!("asks about a step") };
    let steps = rest.iter().map(|step| step.id.clone()).collect();
    let action = bench.decides(Decision::ApproveAll { steps });
    (rest, action)
}

#[test]
fn a_question_shows_the_rest_of_the_list_with_its_tiers() {
    let mut bench = begun();
    let TurnAction::Ask(ask) = bench.proposes(&["git add a", "git status", "rm -rf /"]) else {
        panic!("asks")
    };
    let Question::Step(StepQuestion { rest, .. }) = *ask else { panic!("asks about a step") };
    let shown: Vec<_> = rest
        .iter()
        .map(|step| (step.id.as_str(), limits_line(step), step.risk.tier.name()))
        .collect();
    let expected =
        [("cmd_002", "git status".to_owned(), "L0"), ("cmd_003", "rm -rf /".to_owned(), "L2")];
    assert_eq!(shown, expected);
}

fn limits_line(step: &protocol::RemainingStep) -> String {
    step.work.short_line()
}

#[test]
fn approve_all_runs_the_list_without_asking_again() {
    let mut bench = begun();
    let (_, action) = approves_all(&mut bench, &["git add a", "git add b", "git status"]);
    assert_eq!(line(&action), "run git add a");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run git add b");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run git status");
    assert_eq!(line(&bench.exits(action, 0)), "call");
}

#[test]
fn approve_all_ends_with_its_list() {
    let mut bench = begun();
    let (_, action) = approves_all(&mut bench, &["git add a", "git add b"]);
    let action = bench.exits(action, 0);
    bench.exits(action, 0);
    assert_eq!(line(&bench.proposes(&["git add b"])), "ask 1/1 L1 git add b");
}

#[test]
fn a_step_that_became_worse_is_asked_about_after_all() {
    let mut bench = begun();
    let (_, action) = approves_all(&mut bench, &["git add a", "git add b"]);
    // The changed working folder also changed the meaning of the step.
    bench.place.cwd = "/elsewhere".into();
    assert_eq!(line(&bench.exits(action, 0)), "ask 2/2 L1 git add b");
}

#[test]
fn a_step_that_is_refused_when_its_turn_comes_does_not_run() {
    let mut bench = begun();
    let (_, action) = approves_all(&mut bench, &["git add a", "git add b"]);
    bench.policy.denied.push(PolicyRule::parse("git add *").unwrap());
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 refused"]);
}

#[test]
fn a_harmless_step_is_judged_again_when_its_turn_comes() {
    let mut bench = begun();
    let action = bench.proposes(&["git status", "git log", "ls"]);
    assert_eq!(line(&action), "run git status");
    bench.policy.denied.push(PolicyRule::parse("git log").unwrap());
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 refused", "cmd_003 cancelled"]);
}

#[test]
fn approve_all_runs_only_one_step_when_a_later_one_is_high_risk() {
    let mut bench = begun();
    let (_, action) = approves_all(&mut bench, &["git add a", "git add b", "rm -rf /"]);
    assert_eq!(line(&action), "run git add a");
    assert_eq!(line(&bench.exits(action, 0)), "ask 2/2 L1 git add b");
}

#[test]
fn steps_that_were_not_listed_are_asked_about() {
    let mut bench = begun();
    let action = bench.proposes(&["git add a", "git add b", "git add c"]);
    assert!(matches!(action, TurnAction::Ask(_)));
    let action = bench.decides(Decision::ApproveAll { steps: vec!["cmd_003".into()] });
    assert_eq!(line(&bench.exits(action, 0)), "ask 2/2 L1 git add b");
}

#[test]
fn a_step_that_leaves_the_folder_or_cannot_be_undone_needs_its_own_approval() {
    let risk = |effects: &[Effect]| Risk {
        tier: Tier::L1,
        rule: String::new(),
        reasons: Vec::new(),
        effects: effects.to_vec(),
        lifted: false,
    };
    assert!(risk(&[Effect::Write, Effect::Network]).can_batch_approve());
    assert!(!risk(&[Effect::Write, Effect::Outside]).can_batch_approve());
    assert!(!Risk { lifted: true, ..risk(&[]) }.can_batch_approve());
}
