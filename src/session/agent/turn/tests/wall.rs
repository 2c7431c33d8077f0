//! Approved steps that the sandbox denied something.

use pretty_assertions::assert_eq;

use super::*;
use avocet_core::protocol::{Requires, SandboxDenial, SandboxStatus, Step, StepQuestion};
use avocet_safety::SandboxOpening;

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
    assert_eq!((risk.rule.as_str(), rest.len()), ("sandbox.denied", 0));
    assert_eq!(rule.as_deref(), Some("git add ."), "the command that an opening would be for");
    let why = risk.main_reason().expect("a reason").text(Lang::En);
    assert!(why.contains("changing `/elsewhere/x`"), "{why}");
}

#[test]
fn approval_runs_it_with_that_opened_and_the_list_continues() {
    let (mut bench, _) = turn_at_sandbox_question();
    let action = bench.decides(Decision::Approve);
    let TurnAction::Run(cleared) = &action else { panic!("runs") };
    let Some(SandboxOpening::Denied(denied)) = cleared.granted() else { panic!("an opening") };
    assert_eq!(denied.writes, ["/elsewhere/x"]);
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
        assert_eq!(
            bench.outcomes(),
            ["cmd_001 ran", "cmd_003 declined", "cmd_002 cancelled"],
            "{decision:?}"
        );
        assert!(!bench.side_effects.iter().any(|told| matches!(told, SideEffect::Remember { .. })));
    }
}

#[test]
fn only_an_answer_to_the_question_itself_opens_what_it_names() {
    for (decision, opening) in [
        (Decision::Approve, Some(SandboxOpening::Named)),
        (Decision::ApproveAll { steps: vec![] }, None),
        (Decision::Remember(ApprovalScope::Session), None),
        (Decision::Edit(StepAction::exec("git", &["add", "-A"])), None),
    ] {
        let mut bench = begun();
        bench.proposes(&["git add ."]);
        let TurnAction::Run(cleared) = bench.decides(decision.clone()) else { panic!("runs") };
        assert_eq!(cleared.granted(), opening.as_ref(), "{decision:?}");
    }
}

#[test]
fn a_line_names_what_its_question_shows_and_nothing_that_only_the_shell_will_know() {
    for (line, named) in [
        ("echo x > /elsewhere/log", "/elsewhere/log"),
        ("echo x >> /elsewhere/log 2> /elsewhere/err", "/elsewhere/log /elsewhere/err"),
        ("make | tee /elsewhere/log", "/elsewhere/log"),
        ("cd /elsewhere && touch y", "/elsewhere/y"),
        ("make > /elsewhere/log; echo done", "/elsewhere/log"),
        ("echo x > $F", ""),
        ("F=/elsewhere/log; make > $F", ""),
        ("echo x > $(make where)", ""),
        ("echo x > /elsewhere/{a,b}", ""),
        ("echo x > $'/elsewhere/\\x6cog'", ""),
        ("cd $D; echo x > log; echo x > /elsewhere/log", ""),
        ("source lib; echo x > /elsewhere/log", ""),
        ("eval \"$(make lines)\"; echo x > /elsewhere/log", ""),
        ("git config alias.x '!touch /elsewhere/log'", ""),
        ("make writes-elsewhere", ""),
    ] {
        let mut bench = begun();
        let step = json!({"program": "bash", "args": ["-c", line]});
        let reply = json!({"type": "cmd", "message": "why", "data": {"commands": [step], "expected_effect": "e"}});
        bench.says(&reply.to_string());
        let TurnAction::Run(cleared) = bench.decides(Decision::Approve) else { panic!("{line}") };
        let seen = cleared.judgement().launch.named.iter();
        let seen: Vec<_> = seen.map(|write| write.path.display().to_string()).collect();
        assert_eq!(seen.join(" "), named, "{line}");
        assert_eq!(cleared.granted(), Some(&SandboxOpening::Named));
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
        assert_eq!((rest.len(), number, of), (1, 2, 2), "`ls` asks nothing");
        let then = bench.decides(decision);
        assert!(line(&then).starts_with(next), "{}", line(&then));
    }
}

#[test]
fn an_opening_for_the_session_is_for_exactly_this_command_and_runs_it_again() {
    let (mut bench, _) = turn_at_sandbox_question();
    let action = bench.decides(Decision::Remember(ApprovalScope::Session));
    let TurnAction::Run(cleared) = &action else { panic!("runs") };
    let Some(SandboxOpening::Denied(denied)) = cleared.granted() else { panic!("an opening") };
    assert_eq!(denied.writes, ["/elsewhere/x"]);
    let opened: Vec<_> = bench
        .side_effects
        .iter()
        .filter_map(|told| match told {
            SideEffect::OpenForSession(opening) => Some((**opening).clone()),
            _ => None,
        })
        .collect();
    let [opening] = &opened[..] else { panic!("{opened:?}") };
    assert_eq!(opening.command, StepAction::exec("git", &["add", "."]));
    // The same command has it from now on, another one and another folder do not.
    bench.policy.opened = opened.clone();
    let judged = |bench: &Bench, line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let work = StepAction::exec(words[0], &words[1..]);
        let step = Step { id: "x".into(), work, requires: Requires::default(), cwd: None };
        let scene =
            PolicyContext { policy: &bench.policy, place: &bench.place, world: &FakeMachine };
        let verdict = safety::assess(step, scene);
        assert!(matches!(verdict, Verdict::Ask(_)), "it is asked about all the same: {line}");
        let judged = verdict.judgement().clone();
        let said = safety::sandbox_reasons(&judged, &bench.policy);
        (judged.launch.opened, said.iter().any(|reason| reason.rule == "sandbox.opened"))
    };
    bench.policy.shelter = SandboxStatus::Held;
    assert_eq!(judged(&bench, "git add ."), (opening.denied.clone(), true));
    for other in ["git add a", "git commit -m x"] {
        assert_eq!(judged(&bench, other), (SandboxDenial::default(), false), "{other}");
    }
    bench.policy.opened[0].cwd = "/other".into();
    assert_eq!(judged(&bench, "git add ."), (SandboxDenial::default(), false));
}

#[test]
fn a_run_without_the_sandbox_is_asked_about_by_itself_as_of_high_risk() {
    let (mut bench, _) = turn_at_sandbox_question();
    let TurnAction::Ask(ask) = bench.decides(Decision::WithoutSandbox) else { panic!("asks") };
    let Question::Step(StepQuestion { risk, rule, rest, .. }) = *ask else { panic!("a step") };
    assert!(risk.leaves_sandbox() && risk.is_high_risk(), "{risk:?}");
    assert!(!risk.can_preapprove() && !risk.can_batch_approve(), "{risk:?}");
    assert_eq!((rule, rest.len()), (None, 0));
    let action = bench.decides(Decision::Approve);
    let TurnAction::Run(cleared) = &action else { panic!("runs") };
    assert_eq!(cleared.granted(), Some(&SandboxOpening::Everything));
    let next = bench.exits(action, 0);
    assert_eq!(line(&next), "run ls");
}

#[test]
fn only_a_plain_approval_runs_it_without_the_sandbox() {
    for decision in [
        Decision::Reject { word: None },
        Decision::Dismiss,
        Decision::WithoutSandbox,
        Decision::Remember(ApprovalScope::Session),
        Decision::ApproveAll { steps: vec!["cmd_001".into()] },
        Decision::Answer { text: "YES".into() },
    ] {
        let (mut bench, _) = turn_at_sandbox_question();
        bench.decides(Decision::WithoutSandbox);
        let action = bench.decides(decision.clone());
        assert!(matches!(action, TurnAction::Call(_)), "{decision:?}: {action:?}");
        assert!(
            !bench.side_effects.iter().any(|told| matches!(told, SideEffect::OpenForSession(_))),
            "{decision:?}"
        );
        assert!(bench.outcomes().contains(&"cmd_003 declined".to_owned()), "{decision:?}");
    }
    // A stop ends the turn, and the row says that the run was rejected.
    for decisions in [&[Decision::Stop][..], &[Decision::WithoutSandbox, Decision::Stop]] {
        let (mut bench, _) = turn_at_sandbox_question();
        let last = decisions.iter().map(|decision| bench.decides(decision.clone())).last();
        assert!(matches!(last, Some(TurnAction::End(TurnOutcome::Stopped))), "{last:?}");
        assert!(bench.outcomes().contains(&"cmd_003 declined".to_owned()));
    }
    // Nor is it the answer to any other question.
    let mut bench = begun();
    bench.proposes(&["git push"]);
    let action = bench.decides(Decision::WithoutSandbox);
    assert!(matches!(action, TurnAction::Call(_)), "{action:?}");
}

#[test]
fn every_file_that_was_put_back_is_asked_about_whatever_becomes_of_the_others() {
    let put_back = || {
        let mut bench = begun();
        bench.proposes(&["git add .", "ls"]);
        let action = bench.decides(Decision::Approve);
        let mut seen = ran(action, Some(1), Outcome::Ran);
        seen.put_back = [".envrc", "AGENTS.md", ".git/hooks/pre-push"]
            .map(|name| (name.into(), "x".into()))
            .into();
        let first = bench.next(TurnInput::Observed(seen));
        (bench, first)
    };
    let path = |action: &TurnAction| {
        let TurnAction::Ask(ask) = action else { panic!("asks, not {action:?}") };
        let Question::Step(asked) = &**ask else { panic!("a step") };
        assert_eq!(asked.risk.rule, SandboxDenial::PUT_BACK);
        let StepAction::Tool { input, .. } = &asked.step.work else { panic!("a tool") };
        input["path"].as_str().unwrap().to_owned()
    };
    let (mut bench, first) = put_back();
    assert_eq!(path(&first), ".envrc");
    let second = bench.decides(Decision::Reject { word: None });
    assert_eq!(path(&second), "AGENTS.md");
    let third = bench.decides(Decision::Reject { word: Some("no".into()) });
    assert_eq!(path(&third), ".git/hooks/pre-push");
    let last = bench.decides(Decision::Reject { word: None });
    assert!(matches!(last, TurnAction::Call(_)), "{last:?}");
    // A message of the user does not take the question away either.
    let (mut bench, _) = put_back();
    bench.turn.steer(Steering { submit: None, text: "wait".into() });
    let second = bench.decides(Decision::Reject { word: None });
    assert_eq!(path(&second), "AGENTS.md");
    // A stop does.
    let (mut bench, _) = put_back();
    assert!(matches!(bench.decides(Decision::Stop), TurnAction::End(_)));
}
