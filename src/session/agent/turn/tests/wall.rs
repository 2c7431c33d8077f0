//! Approved steps that the sandbox denied something.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::{SandboxDenial, SandboxStatus, StepQuestion};

fn denied_observation(action: TurnAction) -> Observation {
    let mut seen = ran(action, Some(1), Outcome::Ran);
    let writes = vec!["/elsewhere/x".to_owned()];
    seen.denied = Some(SandboxDenial { writes, ..SandboxDenial::default() });
    seen
}

/// A turn at the question whether a step runs again, with another step after it.
fn turn_at_sandbox_question() -> (Bench, Question) {
    let mut bench = begun();
    bench.proposes(&["git add .", "ls"]);
    let action = bench.decides(Decision::Approve);
    let TurnAction::Ask(ask) = bench.next(TurnInput::Observed(denied_observation(action))) else {
        panic!("asks")
    };
    (bench, *ask)
}

#[test]
fn an_approved_step_that_the_sandbox_denied_is_asked_about_again_with_what_was_denied() {
    let (_, ask) = turn_at_sandbox_question();
    let Question::Step(StepQuestion { risk, rule, rest, .. }) = &ask else { panic!("a step") };
    assert_eq!((risk.rule.as_str(), rule, rest.len()), ("sandbox.denied", &None, 0));
    let why = risk.main_reason().expect("a reason").text(Lang::En);
    assert!(why.contains("changing `/elsewhere/x`"), "{why}");
}

#[test]
fn approval_runs_it_with_that_opened_and_the_list_continues() {
    let (mut bench, _) = turn_at_sandbox_question();
    let action = bench.decides(Decision::Approve);
    let TurnAction::Run(cleared) = &action else { panic!("runs") };
    assert_eq!(cleared.granted().expect("an opening").writes, ["/elsewhere/x"]);
    assert!(cleared.is_intact());
    let next = bench.exits(action, 0);
    assert_eq!(line(&next), "run ls");
    let TurnAction::Run(cleared) = &next else { panic!("runs") };
    assert_eq!(cleared.granted(), None);
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_003 ran"]);
}

#[test]
fn rejection_gives_the_model_the_failure_and_only_plain_approval_runs_it() {
    let others = [
        Decision::Reject { word: None },
        Decision::Remember(ApprovalScope::Project),
        Decision::ApproveAll { steps: vec![] },
        Decision::Answer { text: "y".into() },
    ];
    for decision in others {
        let (mut bench, _) = turn_at_sandbox_question();
        let action = bench.decides(decision.clone());
        assert!(matches!(action, TurnAction::Call(_)), "{decision:?}: {action:?}");
        assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 cancelled"], "{decision:?}");
        assert!(!bench.side_effects.iter().any(|told| matches!(told, SideEffect::Remember { .. })));
    }
}

#[test]
fn a_step_that_ran_without_a_question_is_not_asked_about_after_a_denial() {
    let mut bench = begun();
    let action = bench.proposes(&["ls"]);
    assert!(matches!(
        bench.next(TurnInput::Observed(denied_observation(action))),
        TurnAction::Call(_)
    ));
}

#[test]
fn a_question_says_how_the_sandbox_confines_the_step() {
    let mut bench = begun();
    bench.policy.shelter = SandboxStatus::Held;
    let TurnAction::Ask(ask) = bench.proposes(&["git push"]) else { panic!("asks") };
    let Question::Step(StepQuestion { risk, .. }) = &*ask else { panic!("a step") };
    let said = |rule: &str| {
        let reason = risk.reasons.iter().find(|reason| reason.rule == rule);
        reason.map(|reason| reason.say.text(Lang::En)).unwrap_or_default()
    };
    assert!(said("sandbox.work").contains("network is open"), "{risk:?}");
}

#[test]
fn a_file_that_was_put_back_is_asked_about_with_its_change_before_any_other_step() {
    for (decision, next) in
        [(Decision::Approve, "run file.write"), (Decision::Reject { word: None }, "call")]
    {
        let mut bench = begun();
        bench.proposes(&["git add .", "ls"]);
        let action = bench.decides(Decision::Approve);
        let mut seen = ran(action, Some(0), Outcome::Ran);
        seen.put_back = vec![(".envrc".to_owned(), "evil".to_owned())];
        let TurnAction::Ask(ask) = bench.next(TurnInput::Observed(seen)) else { panic!("asks") };
        let Question::Step(StepQuestion { risk, rest, number, of, .. }) = *ask else {
            panic!("a step")
        };
        assert!(!risk.can_batch_approve() && !risk.can_preapprove(), "{risk:?}");
        assert_eq!((rest.len(), number, of), (1, 2, 3));
        let then = bench.decides(decision);
        assert!(line(&then).starts_with(next), "{}", line(&then));
    }
}
