use super::ChoicePick as Pick;
use super::*;
use avocet_core::i18n::common;
use avocet_core::protocol::{
    ApprovalScope, Change, Decision, Effect, Question, RemainingStep, Requires, Risk,
    SandboxDenial, Step, StepAction, StepQuestion, TemplateCommand, Tier, TrustOffer,
};

fn risk(tier: Tier) -> Risk {
    Risk { tier, rule: "r".into(), reasons: Vec::new(), effects: Vec::new(), lifted: false }
}

fn lifted() -> Risk {
    Risk { lifted: true, ..risk(Tier::L1) }
}

fn upcoming(id: &str, risk: Risk) -> RemainingStep {
    RemainingStep { id: id.into(), work: StepAction::exec("ls", &[]), risk, change: None }
}

/// A step that offers everything it can.
fn step_question(work: StepAction, risk: Risk, rest: Vec<RemainingStep>) -> Question {
    Question::Step(StepQuestion {
        of: 1 + rest.len(),
        rule: Some("cargo test".into()),
        trust: Some(Box::new(TrustOffer::default())),
        rest,
        ..StepQuestion::new(
            Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None },
            risk,
            "/work",
        )
    })
}

fn command(risk: Risk, rest: Vec<RemainingStep>) -> QuestionOffer {
    QuestionOffer::new(&step_question(StepAction::exec("cargo", &["test"]), risk, rest))
}

fn templates(risks: &[Risk]) -> QuestionOffer {
    let piece = |risk: &Risk| TemplateCommand {
        id: "cmd_001".into(),
        line: "ls".into(),
        risk: risk.clone(),
        commands: Vec::new(),
    };
    let pieces = risks.iter().map(piece).collect();
    QuestionOffer::new(&Question::Pieces { of: "/c".into(), cwd: "/work".into(), pieces })
}

fn trust(above: Option<&str>) -> QuestionOffer {
    QuestionOffer::new(&Question::Trust {
        folder: "/work".into(),
        above: above.map(str::to_owned),
        because: common::CONTINUE_ASK.into(),
        found: Vec::new(),
    })
}

fn picks(offer: &QuestionOffer) -> Vec<Pick> {
    offer.choices.iter().map(|choice| choice.pick).collect()
}

fn pause() -> QuestionOffer {
    QuestionOffer::new(&Question::Pause { why: common::CONTINUE_ASK.into() })
}

fn model_choice() -> QuestionOffer {
    QuestionOffer::new(&Question::Choice {
        step: "cmd_001".into(),
        script: None,
        text: "which".into(),
        choices: vec!["a".into()],
        free: true,
        fallback: None,
    })
}

#[test]
fn a_step_offers_to_run_it_first_and_a_refusal_after_everything_that_lasts() {
    let offer = command(risk(Tier::L1), vec![upcoming("cmd_002", risk(Tier::L0))]);
    let expected = [
        Pick::Run,
        Pick::All,
        Pick::Session,
        Pick::Project,
        Pick::TrustFirst,
        Pick::RejectWithReason,
        Pick::Reject,
        Pick::Edit,
        Pick::Stop,
    ];
    assert_eq!((offer.kind, offer.severity), (QuestionKind::Step, Severity::Plain));
    assert_eq!(picks(&offer), expected);
    assert_eq!(offer.marked, Some(Pick::Reject));
    let lasting: Vec<_> = expected.into_iter().filter(|pick| offer.is_lasting(*pick)).collect();
    assert_eq!(lasting, [Pick::Session, Pick::Project, Pick::TrustFirst]);
}

#[test]
fn a_denied_step_offers_the_opening_once_and_for_the_session_and_a_graver_question() {
    let denied = Risk { rule: SandboxDenial::RULE.into(), ..risk(Tier::L1) };
    let offer = command(denied.clone(), vec![]);
    let expected =
        [Pick::Run, Pick::Session, Pick::WithoutSandbox, Pick::Reject, Pick::Edit, Pick::Stop];
    assert_eq!((offer.kind, offer.severity), (QuestionKind::Denied, Severity::Plain));
    assert_eq!(picks(&offer), expected);
    let decided = offer.effect(Pick::WithoutSandbox);
    assert_eq!(decided, PickEffect::Decide(Decision::WithoutSandbox));
    // Where no opening can last, as in a script, it is a step like any other.
    let Question::Step(asked) = step_question(StepAction::exec("x", &[]), denied, vec![]) else {
        panic!("a step")
    };
    let once = QuestionOffer::new(&Question::Step(StepQuestion { rule: None, ..asked }));
    assert!(!once.offers(Pick::Session) && !once.offers(Pick::WithoutSandbox));
    // The graver question takes the deliberate approval, and nothing of it lasts.
    let free = command(Risk { rule: SandboxDenial::WITHOUT.into(), ..risk(Tier::L1) }, vec![]);
    assert_eq!((free.kind, free.severity), (QuestionKind::Unconfined, Severity::HighRisk));
    assert_eq!(free.marked, Some(Pick::Reject));
    assert!(!free.offers(Pick::Session) && !free.offers(Pick::Project));
}

#[test]
fn a_high_risk_step_cannot_be_remembered_or_approved_with_others() {
    for risk in [risk(Tier::L2), lifted()] {
        let offer = command(risk, vec![upcoming("cmd_002", super::tests::risk(Tier::L0))]);
        assert_eq!(offer.severity, Severity::HighRisk);
        for pick in [Pick::All, Pick::Session, Pick::Project] {
            assert!(!offer.offers(pick), "{pick:?}");
        }
        assert!(offer.offers(Pick::Run));
    }
}

#[test]
fn all_is_offered_only_with_later_steps_that_can_be_approved_together() {
    let secret = Risk { effects: vec![Effect::Secret], ..risk(Tier::L1) };
    let cases = [
        (vec![], false),
        (vec![upcoming("a", risk(Tier::L1)), upcoming("b", risk(Tier::L0))], true),
        (vec![upcoming("a", risk(Tier::L0)), upcoming("b", risk(Tier::L2))], false),
        (vec![upcoming("a", lifted())], false),
        (vec![upcoming("a", secret)], false),
    ];
    for (rest, offered) in cases {
        let offer = command(risk(Tier::L1), rest.clone());
        assert_eq!(offer.offers(Pick::All), offered, "{rest:?}");
    }
}

#[test]
fn all_approves_exactly_the_steps_the_question_named() {
    let rest = ["cmd_002", "cmd_003"].map(|id| upcoming(id, risk(Tier::L0)));
    let offer = command(risk(Tier::L1), rest.into());
    let steps = vec!["cmd_002".to_owned(), "cmd_003".to_owned()];
    assert_eq!(offer.effect(Pick::All), PickEffect::Decide(Decision::ApproveAll { steps }));
}

#[test]
fn a_change_of_a_file_is_told_from_a_step_whose_change_is_unknown() {
    let tool = StepAction::Tool { name: "file.write".into(), input: serde_json::json!({}) };
    let mut question = step_question(tool, risk(Tier::L1), Vec::new());
    assert_eq!(QuestionOffer::new(&question).kind, QuestionKind::Step);
    if let Question::Step(StepQuestion { change, .. }) = &mut question {
        *change = Some(Change::default());
    }
    let offer = QuestionOffer::new(&question);
    assert_eq!((offer.kind, offer.marked), (QuestionKind::Change, Some(Pick::Run)));
    // Not a rule with the name of a tool, but the mode.
    assert!(offer.offers(Pick::AcceptEdits));
    assert!(!offer.offers(Pick::Session) && !offer.offers(Pick::Project));
}

#[test]
fn yes_is_marked_only_where_the_sandbox_holds_and_nothing_is_opened() {
    let reason = |rule: &str| avocet_core::protocol::Reason {
        rule: rule.into(),
        tier: Tier::L1,
        say: common::CONTINUE_ASK.into(),
        arg: None,
    };
    let marked = |rules: &[&str], risk: Risk| {
        let reasons = rules.iter().copied().map(reason).collect();
        command(Risk { reasons, ..risk }, Vec::new()).marked
    };
    let effect = |effect| Risk { effects: vec![effect], ..risk(Tier::L1) };
    let (yes, no) = (Some(Pick::Run), Some(Pick::Reject));
    assert_eq!(marked(&["npm.test", "sandbox.work"], risk(Tier::L1)), yes);
    assert_eq!(marked(&["sandbox.work", "sandbox.network"], risk(Tier::L1)), yes);
    assert_eq!(marked(&["git.push", "sandbox.work"], effect(Effect::Send)), no, "it leaves");
    assert_eq!(
        marked(&["npm.install", "sandbox.work"], effect(Effect::Network)),
        yes,
        "it fetches"
    );
    assert_eq!(marked(&["npm.test"], risk(Tier::L1)), no, "no sandbox");
    assert_eq!(marked(&["npm.test", "sandbox.none"], risk(Tier::L1)), no);
    assert_eq!(marked(&["sandbox.work", "sandbox.homes"], risk(Tier::L1)), yes);
    assert_eq!(marked(&["sandbox.work", "sandbox.credentials"], risk(Tier::L1)), no);
    assert_eq!(marked(&["sandbox.work"], lifted()), no);
    for grave in [Effect::Secret, Effect::Outside, Effect::Elevate, Effect::Irreversible] {
        assert_eq!(marked(&["sandbox.work"], effect(grave)), no, "{grave:?}");
    }
}

#[test]
fn a_shell_line_of_the_user_is_only_run_edited_or_left() {
    let line = StepAction::Shell { line: "make && ls".into() };
    let offer = QuestionOffer::new(&step_question(line, risk(Tier::L1), Vec::new()));
    assert_eq!(offer.kind, QuestionKind::Shell);
    assert_eq!(picks(&offer), [Pick::Run, Pick::Reject, Pick::Edit]);
}

#[test]
fn commands_of_a_template_run_together_unless_every_one_has_a_high_risk() {
    let together = |risks: &[Risk]| templates(risks).offers(Pick::Run);
    assert!(together(&[risk(Tier::L1), risk(Tier::L2)]));
    assert!(!together(&[risk(Tier::L2), lifted()]));
    assert_eq!(picks(&templates(&[lifted()])), [Pick::Reject, Pick::Each]);
}

#[test]
fn trust_in_the_folder_above_is_offered_only_where_there_is_one() {
    assert_eq!(picks(&trust(None)), [Pick::Reject, Pick::Trust, Pick::Stop]);
    let offer = trust(Some("/"));
    assert_eq!(picks(&offer), [Pick::Reject, Pick::Trust, Pick::TrustAbove, Pick::Stop]);
    assert_eq!(offer.effect(Pick::TrustAbove), PickEffect::Decide(Decision::TrustParent));
}

#[test]
fn the_choices_of_a_question_of_the_model_are_its_own() {
    let model = model_choice();
    assert_eq!(model.kind, QuestionKind::Model);
    assert_eq!(picks(&model), [Pick::Answer(0), Pick::RejectWithReason, Pick::Reject]);
    let answer = Decision::Choose { index: 0 };
    assert_eq!(model.effect(Pick::Answer(0)), PickEffect::Decide(answer));
    let call = QuestionOffer::new(&Question::ScriptCall { text: "call".into() });
    assert_eq!(
        (call.kind, picks(&call)),
        (QuestionKind::Script, vec![Pick::Continue, Pick::Reject])
    );
}

#[test]
fn every_choice_has_the_effect_its_name_says() {
    let offer = command(risk(Tier::L1), Vec::new());
    let decisions = [
        (Pick::Reject, Decision::Reject { word: None }),
        (Pick::Stop, Decision::Stop),
        (Pick::Run, Decision::Approve),
        (Pick::Continue, Decision::Approve),
        (Pick::Trust, Decision::Approve),
        (Pick::TrustFirst, Decision::Trust),
        (Pick::Session, Decision::Remember(ApprovalScope::Session)),
        (Pick::Project, Decision::Remember(ApprovalScope::Project)),
    ];
    for (pick, decision) in decisions {
        assert_eq!(offer.effect(pick), PickEffect::Decide(decision), "{pick:?}");
    }
    assert_eq!(offer.effect(Pick::RejectWithReason), PickEffect::WriteReason);
    assert_eq!(offer.effect(Pick::Edit), PickEffect::Edit);
    assert_eq!(offer.effect(Pick::Each), PickEffect::DecideEach);
}

#[test]
fn leaving_a_question_approves_nothing() {
    let reject = Decision::Reject { word: None };
    assert_eq!(command(risk(Tier::L0), Vec::new()).dismissal(), reject);
    assert_eq!(templates(&[risk(Tier::L0)]).dismissal(), reject);
    assert_eq!(model_choice().dismissal(), reject);
    assert_eq!(pause().dismissal(), Decision::Stop);
    assert_eq!(trust(None).dismissal(), Decision::Dismiss);
}

#[test]
fn a_typed_line_approves_high_risk_only_with_the_whole_word() {
    for typed in ["", "y", "yes", "Yes", "YES "] {
        assert!(!Severity::HighRisk.is_confirmed(typed, true), "{typed:?}");
        assert!(Severity::Plain.is_confirmed(typed, true), "{typed:?}");
    }
    assert!(Severity::HighRisk.is_confirmed(YES, false));
    assert!(!Severity::Plain.is_confirmed(YES, false));
}
