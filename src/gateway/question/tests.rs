//! The words, the buttons and the answers of questions in chats.

use super::*;
use avocet_core::protocol::{ApprovalScope, Requires, Step, TemplateCommand, Tier};
use serde_json::json;

fn risk(tier: Tier) -> Risk {
    Risk { tier, rule: "x".into(), reasons: vec![], effects: vec![], lifted: tier == Tier::L2 }
}

fn step(program: &str, args: &[&str], tier: Tier) -> ChatQuestion {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let work = StepAction::Exec { program: program.to_owned(), args };
    let requires = Requires::default();
    let step = Step { id: "1".into(), work, requires, cwd: None };
    let mut question = StepQuestion::new(step, risk(tier), "/w");
    question.rule = Some("git push *".into());
    ask(Question::Step(question))
}

fn ask(question: Question) -> ChatQuestion {
    ChatQuestion::new(Ask { id: AskId(3), question }, "k7m2p9q4".into(), Some("7".into()))
}

#[test]
fn a_step_offers_once_and_no_and_where_an_admin_is_session_and_project() {
    let question = step("git", &["push"], Tier::L1);
    let buttons = question.buttons(Lang::En, &PlatformLimits::for_tests(4096), true);
    let data: Vec<_> = buttons.iter().map(|button| button.data.as_str()).collect();
    assert_eq!(
        data,
        [
            "q.k7m2p9q4.once",
            "q.k7m2p9q4.session",
            "q.k7m2p9q4.project",
            "q.k7m2p9q4.no",
            "q.k7m2p9q4.stop"
        ]
    );
    let without_admin = question.buttons(Lang::En, &PlatformLimits::for_tests(4096), false);
    let data: Vec<_> = without_admin.iter().map(|button| button.data.as_str()).collect();
    assert_eq!(data, ["q.k7m2p9q4.once", "q.k7m2p9q4.no", "q.k7m2p9q4.stop"]);
    assert_eq!(question.press("once", false), AnswerOutcome::Decided(Decision::Approve));
    let session = Decision::Remember(ApprovalScope::Session);
    assert_eq!(question.press("session", true), AnswerOutcome::Decided(session));
    assert_eq!(question.press("session", false), AnswerOutcome::AdminOnly);
    assert_eq!(question.press("project", false), AnswerOutcome::AdminOnly);
    for forged in ["", "edit", "run", "c0", "trust", "all"] {
        assert_eq!(question.press(forged, true), AnswerOutcome::NotAnAnswer, "{forged}");
    }
}

#[test]
fn high_risk_has_no_button_that_runs_it_and_needs_the_word_with_the_code_of_an_admin() {
    let question = step("rm", &["-rf", "x"], Tier::L2);
    let buttons = question.buttons(Lang::En, &PlatformLimits::for_tests(4096), true);
    assert!(buttons.iter().all(|button| button.style == ButtonStyle::Refuse), "{buttons:?}");
    assert!(question.text(Lang::En).contains("YES k7m2"));
    assert_eq!(question.press("once", true), AnswerOutcome::NotAnAnswer);
    assert_eq!(question.approve("once", true), AnswerOutcome::WordNeeded);
    assert_eq!(question.typed("YES k7m2", true), AnswerOutcome::Decided(Decision::Approve));
    assert_eq!(question.typed("YES k7m2", false), AnswerOutcome::AdminOnly);
    for text in ["YES", "yes k7m2", "YES zzzz"] {
        assert_eq!(question.typed(text, true), AnswerOutcome::WordNeeded, "{text}");
    }
    assert_eq!(question.typed("YES k7m2 and more", true), AnswerOutcome::NotAnAnswer);
}

#[test]
fn only_the_asker_and_admins_may_answer() {
    let question = step("git", &["push"], Tier::L1);
    assert!(question.may_answer(&"7".into(), false) && question.may_answer(&"8".into(), true));
    assert!(!question.may_answer(&"8".into(), false));
}

#[test]
fn nothing_in_a_command_is_hidden_turned_around_or_disguised() {
    let question =
        step("sh", &["-c", "echo \u{202e}fr\u{200b} \u{2019}x\u{ff02} \u{1b}[2J"], Tier::L1);
    let text = question.text(Lang::En);
    for hidden in ['\u{202e}', '\u{200b}', '\u{2019}', '\u{ff02}', '\u{1b}'] {
        assert!(!text.contains(hidden), "{hidden:?} in {text}");
    }
    assert!(text.contains("\\u{2019}") && text.contains("\\u{202e}"), "{text}");
}

#[test]
fn a_form_of_a_script_is_answered_line_by_line() {
    let field = |name: &str, choices: &[&str]| FormField {
        name: name.to_owned(),
        about: String::new(),
        kind: avocet_core::protocol::FormFieldKind::Text,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        default: None,
        required: true,
        fault: None,
    };
    let fields = vec![field("who", &[]), field("tone", &["warm", "dry"])];
    let question = ask(Question::Form { script: "letter".to_owned(), fields });
    let text = question.text(Lang::En);
    assert!(text.contains("1: who (text)") && text.contains("one of warm, dry"), "{text}");
    let filled = Decision::Fill { values: vec!["Ann".to_owned(), "dry".to_owned()] };
    assert_eq!(question.typed("Ann\n\nDRY", false), AnswerOutcome::Decided(filled));
    assert_eq!(question.typed("Ann", false), AnswerOutcome::NotAnAnswer);
    let none = AnswerOutcome::Decided(Decision::Reject { word: None });
    assert_eq!(question.press("no", false), none);
    assert_eq!(question.buttons(Lang::En, &PlatformLimits::for_tests(4096), false).len(), 1);
}

#[test]
fn a_command_that_does_not_fit_is_attached_whole() {
    let long = "y".repeat(5_000);
    let question = step("echo", &[&long], Tier::L2);
    let (message, file) = question.message(Lang::En, &PlatformLimits::for_tests(4096));
    assert!(file.unwrap().contains(&long));
    assert!(message.len() < 4096 && message.contains("YES k7m2"), "{message}");
}

#[test]
fn an_answer_to_the_model_is_pressed_or_typed() {
    let question = ask(Question::Choice {
        step: "1".into(),
        script: None,
        text: "Which?".into(),
        choices: vec!["red".into(), "blue".into()],
        free: true,
        fallback: None,
    });
    let answer = |text: &str| AnswerOutcome::Decided(Decision::Answer { text: text.into() });
    let choose = |index| AnswerOutcome::Decided(Decision::Choose { index });
    assert_eq!(question.press("c1", false), choose(1));
    assert_eq!(question.press("c2", false), AnswerOutcome::NotAnAnswer);
    assert_eq!(question.typed("Red", false), choose(0));
    assert_eq!(question.typed("green", false), answer("green"));
    assert_eq!(
        question.press("no", false),
        AnswerOutcome::Decided(Decision::Reject { word: None })
    );
}

#[test]
fn forged_data_names_no_question() {
    for data in ["", "q", "q.", "q..", "once", "q.a/b.once", "x.k.once", "q.k7m2p9q4.on ce"] {
        let parsed = ButtonData::parse(data);
        assert!(parsed.is_none_or(|data| data.nonce.is_empty()), "{data}");
    }
    assert!(ButtonData::parse(&format!("q.{}.once", "a".repeat(90))).is_none());
}

fn reaching(effect: Effect) -> ChatQuestion {
    let work = StepAction::Tool { name: "file.read".to_owned(), input: json!({ "path": ".env" }) };
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    let risk = Risk { effects: vec![Effect::Read, effect], ..risk(Tier::L1) };
    ask(Question::Step(StepQuestion::new(step, risk, "/w")))
}

#[test]
fn what_reads_credentials_or_leaves_the_folder_is_approved_by_admins_only() {
    for effect in [Effect::Secret, Effect::Outside, Effect::Elevate] {
        let question = reaching(effect);
        let text = question.text(Lang::En);
        assert!(text.contains("only an admin can approve it"), "{text}");
        let buttons = question.buttons(Lang::En, &PlatformLimits::for_tests(4096), false);
        assert!(buttons.iter().all(|button| button.style == ButtonStyle::Refuse), "{buttons:?}");
        assert_eq!(question.press("once", false), AnswerOutcome::AdminOnly);
        assert_eq!(question.approve("once", false), AnswerOutcome::AdminOnly);
        assert_eq!(question.press("once", true), AnswerOutcome::Decided(Decision::Approve));
        let no = question.press("no", false);
        assert_eq!(no, AnswerOutcome::Decided(Decision::Reject { word: None }));
    }
    let question = reaching(Effect::Write);
    assert_eq!(question.press("once", false), AnswerOutcome::Decided(Decision::Approve));
    assert!(!question.text(Lang::En).contains("admin"));
}

#[test]
fn a_step_that_the_sandbox_denied_something_is_approved_by_admins_only() {
    let work = StepAction::exec("python3", &["job.py"]);
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    let rule = avocet_core::protocol::SandboxDenial::RULE.to_owned();
    // No effect of it reaches beyond the folder: only the rule shows it.
    let risk = Risk { rule, effects: vec![Effect::Network], ..risk(Tier::L1) };
    let question = ask(Question::Step(StepQuestion::new(step, risk, "/w")));
    for choice in ["once", "go", "all", "session"] {
        assert!(!matches!(question.press(choice, false), AnswerOutcome::Decided(_)), "{choice}");
    }
    assert_eq!(question.approve("once", false), AnswerOutcome::AdminOnly);
    assert!(!matches!(question.typed("y", false), AnswerOutcome::Decided(_)));
    assert_eq!(question.approve("once", true), AnswerOutcome::Decided(Decision::Approve));
}

#[test]
fn a_run_without_the_sandbox_is_neither_offered_nor_approved_in_a_chat() {
    let work = StepAction::exec("python3", &["job.py"]);
    let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
    let asked = |rule: &str| {
        let risk = Risk { rule: rule.to_owned(), ..risk(Tier::L1) };
        let mut question = StepQuestion::new(step.clone(), risk, "/w");
        question.rule = Some("python3 job.py".into());
        ask(Question::Step(question))
    };
    let denied = asked(avocet_core::protocol::SandboxDenial::RULE);
    for is_admin in [false, true] {
        let buttons = denied.buttons(Lang::En, &PlatformLimits::for_tests(4096), is_admin);
        assert!(buttons.iter().all(|button| !button.data.contains("without")), "{buttons:?}");
        for choice in ["without", "free", "u", "unsandboxed"] {
            assert_eq!(denied.press(choice, is_admin), AnswerOutcome::NotAnAnswer, "{choice}");
        }
    }
    let session = Decision::Remember(ApprovalScope::Session);
    assert_eq!(denied.press("session", true), AnswerOutcome::Decided(session));
    assert_eq!(denied.press("session", false), AnswerOutcome::AdminOnly);
    // The question itself can only be refused, by an admin too.
    let free = asked(avocet_core::protocol::SandboxDenial::WITHOUT);
    let answers = [
        free.press("once", true),
        free.approve("once", true),
        free.typed("YES k7m2", true),
        free.press("session", true),
    ];
    for answer in answers {
        assert!(!matches!(answer, AnswerOutcome::Decided(_)), "{answer:?}");
    }
    assert_eq!(free.press("no", false), AnswerOutcome::Decided(Decision::Reject { word: None }));
}

#[test]
fn pieces_of_a_template_that_reach_beyond_the_folder_are_for_admins() {
    let piece = |line: &str, effect| TemplateCommand {
        id: "1".into(),
        line: line.to_owned(),
        risk: Risk { effects: vec![effect], ..risk(Tier::L1) },
        commands: Vec::new(),
    };
    let pieces = vec![piece("date", Effect::Read), piece("cat ~/.netrc", Effect::Secret)];
    let question = ask(Question::Pieces { of: "/x".into(), cwd: "/w".into(), pieces });
    let picks: Vec<_> = question.picks().filter(|(pick, _)| *pick != ChoicePick::Reject).collect();
    assert!(picks.iter().any(|(_, name)| question.press(name, false) == AnswerOutcome::AdminOnly));
    assert_eq!(question.summary(Lang::En), "date; cat ~/.netrc");
}

#[test]
fn a_closed_question_says_what_was_decided_about() {
    let summary = reaching(Effect::Read).summary(Lang::En);
    assert!(summary.contains("file.read") && summary.contains(".env"), "{summary}");
    assert_eq!(step("git", &["push"], Tier::L1).summary(Lang::En), "git push");
}

#[test]
fn what_steers_programs_is_for_admins() {
    for rule in ["path.git", "path.steers", "git.config"] {
        let reason = avocet_core::protocol::Reason {
            rule: rule.to_owned(),
            tier: Tier::L1,
            say: w::ADMIN_ONLY.into(),
            arg: None,
        };
        let risk = Risk { reasons: vec![reason], ..risk(Tier::L1) };
        let work = StepAction::Tool { name: "file.write".to_owned(), input: json!({}) };
        let step = Step { id: "1".into(), work, requires: Requires::default(), cwd: None };
        let question = ask(Question::Step(StepQuestion::new(step, risk, "/w")));
        assert_eq!(question.press("once", false), AnswerOutcome::AdminOnly, "{rule}");
        assert_eq!(question.press("once", true), AnswerOutcome::Decided(Decision::Approve));
        let rejected = AnswerOutcome::Decided(Decision::Reject { word: None });
        assert_eq!(question.press("no", false), rejected);
    }
}
