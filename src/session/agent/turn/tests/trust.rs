//! Steps that need trust in their folder.

use pretty_assertions::assert_eq;

use super::*;

/// A turn in an untrusted folder, at the question of the first step.
fn turn_in_untrusted_folder(lines: &[&str]) -> (Bench, Question) {
    let mut bench = begun();
    bench.place.trusted = false;
    let TurnAction::Ask(ask) = bench.proposes(lines) else { panic!("asks") };
    (bench, *ask)
}

fn offered_folder(ask: &Question) -> Option<&str> {
    let Question::Step(StepQuestion { trust, .. }) = ask else { panic!("a step") };
    trust.as_ref().map(|trust| trust.folder.as_str())
}

#[test]
fn a_step_that_waits_for_trust_offers_it_and_runs_once_it_is_given() {
    let (mut bench, ask) = turn_in_untrusted_folder(&["git status", "git log"]);
    assert_eq!(offered_folder(&ask), bench.place.cwd.to_str());
    bench.place.trusted = true;
    let action = bench.decides(Decision::Trust);
    assert_eq!(line(&action), "run git status");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run git log");
    assert_eq!(bench.outcomes(), ["cmd_001 ran"]);
}

#[test]
fn a_step_that_also_asks_in_a_trusted_folder_is_asked_about_again_without_the_offer() {
    let (mut bench, ask) = turn_in_untrusted_folder(&["git push"]);
    assert!(offered_folder(&ask).is_some());
    bench.place.trusted = true;
    let TurnAction::Ask(again) = bench.decides(Decision::Trust) else { panic!("asks") };
    assert_eq!(offered_folder(&again), None);
    assert!(matches!(bench.decides(Decision::Approve), TurnAction::Run(_)));
}

#[test]
fn trust_that_was_not_offered_or_not_given_runs_nothing() {
    let (mut bench, _) = turn_in_untrusted_folder(&["git status"]);
    assert!(matches!(bench.decides(Decision::Trust), TurnAction::Call(_)));
    assert_eq!(bench.outcomes(), ["cmd_001 declined"]);
    let mut bench = begun();
    let TurnAction::Ask(ask) = bench.proposes(&["git push"]) else { panic!("asks") };
    assert_eq!(offered_folder(&ask), None);
    assert!(matches!(bench.decides(Decision::Trust), TurnAction::Call(_)));
    assert_eq!(bench.outcomes(), ["cmd_001 declined"]);
}
