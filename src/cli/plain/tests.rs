//! A conversation as lines: checks the output and the operations that events and typed lines cause.

use super::*;
use avocet_core::i18n::Phrase;
use avocet_core::protocol::{
    ApprovalScope, AskId, Decision, ExportFormat, Extension, ExtensionKind, ExtensionState,
    NoticeLevel, Observation, Outcome as Came, PageRow, Question, Reason, Requires, Risk, RuleOp,
    Step, StepAction, StepQuestion, TemplateCommand, Tier, TrustOffer, TurnOrigin, UntrustedFile,
    Usage,
};

mod asked;
mod listed;

fn linear() -> PlainSession {
    let facts = SessionInfo { model: "m-1".into(), cwd: "/work".into(), ..SessionInfo::default() };
    let mut linear = PlainSession::new(facts.clone(), Lang::En, str::to_owned);
    linear.on_event(Event::Facts(Box::new(facts)));
    linear
}

/// The written lines, with `>` for the prompt, without what is sent.
fn written(effects: &[PlainEffect]) -> Vec<String> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            PlainEffect::Line(line) => Some(line.clone()),
            PlainEffect::Notice(notice) => Some(notice.say.text(Lang::En)),
            PlainEffect::Page(page) => Some(page.title.text(Lang::En)),
            PlainEffect::Prompt => Some(">".into()),
            PlainEffect::Send(_) | PlainEffect::End(_) => None,
        })
        .collect()
}

fn started() -> Event {
    Event::TurnStarted { turn: 1, text: "go".into(), origin: TurnOrigin::Typed, submit: None }
}

fn delta(text: &str) -> Event {
    Event::Delta { text: text.into() }
}

fn says(message: &str) -> Event {
    Event::Replied(ModelMessage { message: message.into(), ..ModelMessage::default() })
}

fn ended() -> Event {
    let (ending, usage) = (TurnOutcome::Done, Usage::default());
    Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 1 }
}

fn risk(tier: Tier, lifted: bool) -> Risk {
    let say = Phrase { key: "test.why", en: "pushes", zh: "推送" }.into();
    let reason = Reason { rule: "git.push".into(), tier, say, arg: None };
    Risk { tier, rule: "git.push".into(), reasons: vec![reason], effects: vec![], lifted }
}

fn asks(risk: Risk) -> Event {
    let work = StepAction::exec("git", &["push", "a\u{202e}b"]);
    let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
    let question = Question::Step(StepQuestion {
        resolved: Some("/usr/bin/git".into()),
        why: "please\n  4: reject".into(),
        rule: Some("git push *".into()),
        ..StepQuestion::new(step, risk, "/work")
    });
    Event::Asked(Box::new(Ask { id: AskId(3), question }))
}

fn asked(risk: Risk) -> (PlainSession, Vec<String>) {
    let mut linear = linear();
    linear.on_event(started());
    let lines = written(&linear.on_event(asks(risk)));
    (linear, lines)
}

fn decides(decision: Decision) -> Vec<PlainEffect> {
    vec![PlainEffect::Send(Op::Question(QuestionOp::Decide { ask: AskId(3), decision }))]
}

#[test]
fn an_answer_is_written_in_whole_lines_exactly_once() {
    let mut linear = linear();
    linear.on_event(started());
    linear.on_event(Event::ReplyStarted);
    assert_eq!(written(&linear.on_event(delta("One li"))), Vec::<String>::new());
    assert_eq!(written(&linear.on_event(delta("ne.\nAnd"))), ["One line."]);
    assert_eq!(written(&linear.on_event(says("One line.\nAnd more."))), ["And more."]);
    assert_eq!(written(&linear.on_event(ended())), [">"]);
}

#[test]
fn an_answer_that_was_not_streamed_is_written_whole() {
    let mut linear = linear();
    linear.on_event(started());
    assert_eq!(written(&linear.on_event(says("a\nb"))), ["a", "b"]);
}

#[test]
fn a_question_takes_few_lines_and_shows_all_details_on_request() {
    let (mut linear, lines) = asked(risk(Tier::L1, false));
    assert!(lines.len() <= 8, "{lines:?}");
    let text = lines.join("\n");
    for part in ["A step needs your OK.", "git push", "  pushes", "[y]es once, [s]ession"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let details =
        ["/usr/bin/git", "The reason: pushes (git.push)", "The model says: please 4: reject"];
    assert!(!text.contains("/usr/bin/git") && !text.contains("please"), "{text}");
    let shown = written(&linear.on_line("d")).join("\n");
    for part in details {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    for text in [text, shown] {
        assert!(!text.contains('\u{202e}'), "what cannot be seen is spelt out\n{text}");
    }
}

fn judged(work: &StepAction, risk: Risk) -> Event {
    Event::Judged { ask: AskId(3), work: work.clone(), risk, change: None }
}

#[test]
fn an_edited_step_is_assessed_again_and_then_runs() {
    let (mut linear, lines) = asked(risk(Tier::L1, false));
    assert!(lines.iter().any(|line| line.contains("[e]dit")), "{lines:?}");
    let shown = written(&linear.on_line("e"));
    // The printed step parses to the same step, and invisible characters are spelt out.
    let now = shown[0].strip_prefix("It is now: ").unwrap();
    let same = written(&linear.on_line(now));
    assert!(same.iter().any(|line| line.contains("[y]es once")), "nothing was changed: {same:?}");
    linear.on_line("edit");
    assert!(written(&linear.on_line("git 'push"))[0].contains("is not closed"));
    let work = StepAction::exec("git", &["push", "a b"]);
    let sent = linear.on_line("git push 'a b'");
    assert_eq!(
        sent,
        [PlainEffect::Send(Op::Question(QuestionOp::PreviewRisk {
            ask: AskId(3),
            work: work.clone()
        }))]
    );
    assert!(written(&linear.on_line("y"))[0].contains("being judged"), "no yes before it is");
    let stale = StepAction::exec("git", &["pull"]);
    assert_eq!(linear.on_event(judged(&stale, risk(Tier::L0, false))), []);
    let said = written(&linear.on_event(judged(&work, risk(Tier::L1, false))));
    assert!(said[0].contains("git push 'a b'") && said[1].contains("pushes"), "{said:?}");
    assert!(written(&linear.on_line("maybe"))[0].contains("none of the answers"));
    assert_eq!(linear.on_line("yes"), decides(Decision::Edit(work)));
}

#[test]
fn a_yes_does_not_run_an_edited_step_that_is_denied_or_high_risk() {
    let (mut linear, _) = asked(risk(Tier::L1, false));
    let work = StepAction::exec("rm", &["-rf", "/"]);
    linear.on_line("e");
    linear.on_line("rm -rf /");
    let said = written(&linear.on_event(judged(&work, risk(Tier::L2, false))));
    assert!(said.iter().any(|line| line.contains("refused")), "{said:?}");
    // It can be changed again, or left.
    linear.on_line("rm -rf /");
    linear.on_event(judged(&work, risk(Tier::L1, true)));
    assert!(written(&linear.on_line("yes"))[0].contains("only the word YES"));
    assert_eq!(linear.on_line("YES"), decides(Decision::Edit(work)));
    let (mut linear, _) = asked(risk(Tier::L1, false));
    linear.on_line("e");
    assert!(written(&linear.on_line("")).iter().any(|line| line.contains("[y]es once")));
    assert_eq!(linear.on_line("n"), decides(Decision::Reject { word: None }));
}

#[test]
fn letters_words_and_digits_of_any_width_answer_and_nothing_else_does() {
    let choose = |typed: &str| asked(risk(Tier::L1, false)).0.on_line(typed);
    for yes in ["1", "１", "y", "Y", "ｙ", "yes", "Yes", "once", "是"] {
        assert_eq!(choose(yes), decides(Decision::Approve), "{yes}");
    }
    for no in ["5", "n", "no", "否"] {
        assert_eq!(choose(no), decides(Decision::Reject { word: None }), "{no}");
    }
    assert_eq!(choose("stop"), decides(Decision::Stop));
    for typed in ["", "0", "9", "run it", "yy", "yes please", "sysd", "YES."] {
        let said = choose(typed);
        assert!(!said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))), "{typed}");
    }
}

fn trust_question() -> Event {
    let because = Phrase { key: "test.why", en: "new", zh: "新" }.into();
    let (folder, above) = ("/w".to_owned(), Some("/".to_owned()));
    let question = Question::Trust { folder, above, because, found: Vec::new() };
    Event::Asked(Box::new(Ask { id: AskId(3), question }))
}

fn asked_about_trust() -> PlainSession {
    let mut linear = linear();
    linear.on_event(trust_question());
    linear
}

#[test]
fn a_script_call_is_allowed_or_refused_by_number() {
    for (number, decision) in [("1", Decision::Approve), ("2", Decision::Reject { word: None })] {
        let mut linear = linear();
        let question = Question::ScriptCall { text: "May it call `x`?".into() };
        linear.on_event(Event::Asked(Box::new(Ask { id: AskId(3), question })));
        assert_eq!(linear.on_line(number), decides(decision));
    }
}

#[test]
fn remembering_or_trusting_takes_the_same_answer_twice_and_says_what_it_covers() {
    let sends = |effects: &[PlainEffect]| {
        effects.iter().any(|effect| matches!(effect, PlainEffect::Send(_)))
    };
    for (answer, scope) in [("s", ApprovalScope::Session), ("project", ApprovalScope::Project)] {
        let mut linear = asked(risk(Tier::L1, false)).0;
        let said = written(&linear.on_line(answer)).join("\n");
        assert!(said.contains("git push *") && said.contains("again confirms"), "{said}");
        let back = written(&linear.on_line("maybe"));
        assert!(back.iter().any(|line| line.contains("[y]es once")), "{back:?}");
        linear.on_line(answer);
        assert_eq!(linear.on_line(answer), decides(Decision::Remember(scope)));
    }
    let above = Decision::TrustParent;
    for (answer, decision) in [("2", Decision::Approve), ("3", above)] {
        let mut linear = asked_about_trust();
        assert!(written(&linear.on_line(answer))[0].contains("again confirms"));
        assert!(!sends(&linear.on_line("no, not this one")));
        linear.on_line(answer);
        assert_eq!(linear.on_line(answer), decides(decision));
    }
    assert_eq!(asked_about_trust().on_line(""), decides(Decision::Dismiss));
}

#[test]
fn a_step_question_that_offers_trust_accepts_the_trust_word() {
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step(StepQuestion { trust, .. }) = &mut ask.question else { panic!("a step") };
    let found = vec![UntrustedFile { name: "AGENTS.md".into(), bytes: 5, steers: true }];
    *trust = Some(Box::new(TrustOffer { folder: "/work".into(), hazard: None, found }));
    let mut linear = linear();
    linear.on_event(started());
    let lines = written(&linear.on_event(Event::Asked(ask)));
    let text = lines.join("\n");
    assert!(text.contains("If you trust /work") && text.contains("AGENTS.md"), "{text}");
    assert!(text.contains("[t]rust the folder"), "{text}");
    assert!(written(&linear.on_line("t")).join(" ").contains("again confirms"));
    assert!(!linear.on_line("maybe").iter().any(|effect| matches!(effect, PlainEffect::Send(_))));
    linear.on_line("t");
    assert_eq!(linear.on_line("trust"), decides(Decision::Trust));
}

#[test]
fn the_session_is_idle_after_the_trust_question() {
    let mut linear = asked_about_trust();
    let effects = linear.on_end_of_input();
    assert!(written(&effects)[0].contains("input ended"), "{effects:?}");
    assert!(effects.contains(&PlainEffect::Send(Op::Turn(TurnOp::Stop))));
    assert!(!linear.is_idle());
    linear.on_event(Event::QuestionClosed { ask: AskId(3) });
    assert!(linear.is_idle());
    assert_eq!(linear.interrupt(), [PlainEffect::End(Exit::Done)]);
    let mut linear = asked(risk(Tier::L1, false)).0;
    linear.on_event(Event::QuestionClosed { ask: AskId(3) });
    assert!(!linear.is_idle(), "the turn goes on");
}

#[test]
fn a_command_during_a_question_runs_or_says_that_it_is_deferred() {
    let mut linear = asked(risk(Tier::L1, false)).0;
    assert_eq!(linear.on_line("/stop"), [PlainEffect::Send(Op::Turn(TurnOp::Stop))]);
    let steered = linear.on_line("/steer use tabs");
    assert_eq!(
        steered.first(),
        Some(&PlainEffect::Send(Op::Turn(TurnOp::Steer { text: "use tabs".into() })))
    );
    assert!(matches!(steered.get(1), Some(PlainEffect::Notice(_))), "it says when it is read");
    assert_eq!(
        linear.on_line("/queue then test"),
        [PlainEffect::Send(Op::Turn(TurnOp::Submit { text: "then test".into() }))]
    );
    assert_eq!(
        linear.on_line("/deny touch *"),
        [PlainEffect::Send(Op::Rules(RuleOp::Deny { rule: "touch *".into() })),]
    );
    for page in ["/status", "/help"] {
        let said = linear.on_line(page);
        assert!(
            !said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))),
            "{page}: {said:?}"
        );
        assert_eq!(said.last(), Some(&PlainEffect::Prompt), "{page}");
    }
    for line in ["/new", "/allow git *", "/undo"] {
        let said = linear.on_line(line);
        assert!(!said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))), "{line}");
        assert!(written(&said)[0].contains("before using"), "{line}");
    }
}

#[test]
fn the_input_of_a_tool_is_read_out_whole() {
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step(StepQuestion { step, .. }) = &mut ask.question else { panic!("a step") };
    let input = serde_json::json!({ "path": "a.json", "patch": "x".repeat(900) });
    step.work = StepAction::Tool { name: "config.json_patch".into(), input };
    let lines = written(&linear().on_event(Event::Asked(ask))).join("\n");
    assert!(lines.contains(&"x".repeat(900)), "{lines}");
}

#[test]
fn a_diff_is_read_out_whole() {
    let rows: String = (1..=1_000).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("--- a\n+++ a\n{rows}");
    let change = avocet_core::protocol::Change { diff, ..Default::default() };
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step(StepQuestion { change: shown, .. }) = &mut ask.question else {
        panic!("a step")
    };
    *shown = Some(change);
    let lines = written(&linear().on_event(Event::Asked(ask)));
    assert!((1..=1_000).all(|n| lines.contains(&format!("    +line {n}"))));
}

/// A question about three shell commands, the last one of high risk.
fn asked_about_pieces() -> (PlainSession, Vec<String>) {
    let piece = |id: &str, line: &str, risk: Risk| TemplateCommand {
        id: id.into(),
        line: line.into(),
        risk,
        commands: vec![],
    };
    let pieces = vec![
        piece("a", "git log", risk(Tier::L0, false)),
        piece("b", "curl x\u{202e}", risk(Tier::L1, false)),
        piece("c", "rm -rf build", risk(Tier::L2, false)),
    ];
    let question = Question::Pieces { of: "/sum".into(), cwd: "/w".into(), pieces };
    let mut linear = linear();
    linear.on_event(started());
    let lines = written(&linear.on_event(Event::Asked(Box::new(Ask { id: AskId(3), question }))));
    (linear, lines)
}

#[test]
fn template_commands_are_listed_with_numbers() {
    let (mut linear, lines) = asked_about_pieces();
    let text = lines.join("\n");
    for part in ["/sum wants to run shell commands: 3", "git log", "rm -rf build", "  1: Run none"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{202e}'), "{text}");
    assert_eq!(linear.on_line("2"), decides(Decision::Approve), "what is not grave");
    let (mut linear, _) = asked_about_pieces();
    assert_eq!(linear.on_line("1"), decides(Decision::Reject { word: None }));
}

#[test]
fn template_commands_are_decided_singly_and_high_risk_needs_the_word() {
    let (mut linear, _) = asked_about_pieces();
    assert!(written(&linear.on_line("3"))[0].contains("git log"));
    assert!(written(&linear.on_line("y"))[0].contains("curl x"));
    assert!(written(&linear.on_line("n"))[0].contains("rm -rf build"));
    assert_eq!(written(&linear.on_line("y")), [w::NEEDS_YES.text(Lang::En), ">"]);
    let steps = vec!["a".to_owned(), "c".to_owned()];
    assert_eq!(linear.on_line("YES"), decides(Decision::ApproveAll { steps }));
}

#[test]
fn a_rejection_includes_the_reason() {
    let (mut linear, _) = asked(risk(Tier::L1, false));
    assert_eq!(written(&linear.on_line("w")).len(), 2);
    let word = Some("not today".to_owned());
    assert_eq!(linear.on_line("not today"), decides(Decision::Reject { word }));
}

#[test]
fn a_high_risk_command_requires_the_whole_word() {
    let (mut linear, lines) = asked(risk(Tier::L2, true));
    assert!(lines.iter().all(|line| !line.contains("don't ask again")), "{lines:?}");
    assert_eq!(written(&linear.on_line("y")), [w::NEEDS_YES.text(Lang::En), ">"]);
    assert_eq!(linear.on_line("YES"), decides(Decision::Approve));
}

#[test]
fn a_line_during_a_turn_is_sent_unless_it_needs_the_screen() {
    let mut linear = linear();
    linear.on_event(started());
    let sent = PlainEffect::Send(Op::Turn(TurnOp::Submit { text: "and then".into() }));
    assert_eq!(linear.on_line("and then"), [sent]);
    assert_eq!(written(&linear.on_line("/keys")), ["`/keys` is not available here."]);
    assert_eq!(linear.on_line("/exit"), [PlainEffect::End(Exit::Done)]);
}

#[test]
fn ctrl_c_stops_the_turn_and_then_leaves() {
    let mut linear = linear();
    linear.on_event(started());
    assert!(linear.interrupt().contains(&PlainEffect::Send(Op::Turn(TurnOp::Stop))));
    linear.on_event(ended());
    assert_eq!(linear.interrupt(), [PlainEffect::End(Exit::Done)]);
}

#[test]
fn the_welcome_appears_once_the_model_is_known() {
    let facts = SessionInfo { model: "m-2".into(), ..SessionInfo::default() };
    let mut linear = PlainSession::new(SessionInfo::default(), Lang::En, str::to_owned);
    let lines = written(&linear.on_event(Event::Facts(Box::new(facts.clone()))));
    assert!(lines.join(" ").contains("The model is m-2."), "{lines:?}");
    assert_eq!(linear.on_event(Event::Facts(Box::new(facts))), []);
}

fn kept(names: &[&str]) -> Event {
    let entry = |name: &&str| Extension {
        kind: ExtensionKind::Command,
        name: (*name).to_owned(),
        about: "about".into(),
        hint: String::new(),
        from: avocet_core::i18n::library::OF_USER.into(),
        state: ExtensionState::Usable,
        traits: avocet_core::protocol::CommandTraits::default(),
    };
    let entries = names.iter().map(entry).collect();
    let bots = vec![("reviewer".to_owned(), "Reviews".to_owned())];
    Event::Catalogue(Box::new(Extensions { entries, bots, ..Extensions::default() }))
}

#[test]
fn a_custom_command_is_looked_up_before_it_is_sent() {
    let mut linear = linear();
    assert_eq!(
        linear.on_line("/summarize this @a.rs"),
        [PlainEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions))]
    );
    assert!(!linear.is_idle() && linear.on_end_of_input().is_empty(), "it is not over");
    let effects = linear.on_event(kept(&["summarize"]));
    let [PlainEffect::Send(Op::Turn(TurnOp::Invoke { name, args, mentions }))] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((name.as_str(), args.as_str()), ("summarize", "this @a.rs"));
    assert_eq!(mentions[0].path, "a.rs");
}

#[test]
fn an_unknown_name_is_reported_and_never_sent() {
    let mut linear = linear();
    assert_eq!(
        linear.on_line("/sumarize"),
        [PlainEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions))]
    );
    let effects = linear.on_event(kept(&["summarize"]));
    assert_eq!(written(&effects), ["There is no command `/sumarize`.", ">"]);
    assert!(linear.is_idle());
    assert_eq!(written(&linear.on_line("/bot")), ["Bots", ">"]);
}

#[tokio::test]
async fn a_line_typed_before_a_question_does_not_answer_it() {
    use tokio::sync::mpsc::channel;
    let (ops, mut sent) = channel(16);
    let (tell, events) = channel(16);
    let (_signal, signals) = channel(1);
    let (typed, lines) = channel(16);
    for text in ["4", "6", "remember", "YES"] {
        let line = run::Line { text: text.to_owned(), began: std::time::Instant::now() };
        typed.send(run::PlainInput::Line(line)).await.expect("room");
    }
    for event in [started(), asks(risk(Tier::L1, false)), Event::Closed] {
        tell.send(event).await.expect("room");
    }
    let grace = std::time::Duration::from_secs(1);
    let channels = crate::cli::print::PrintChannels {
        ops,
        events,
        signals,
        grace,
        leaving: tokio_util::sync::CancellationToken::new(),
    };
    let printer =
        crate::cli::messages::Printer { lang: Lang::En, clean: str::to_owned, width: None };
    let exit = run::run(linear(), None, channels, lines, printer, Vec::new()).await;
    assert_eq!(exit, run::PlainEnd { exit: Exit::Done, knows_unsaved: false });
    let mut submitted = Vec::new();
    while let Some(submission) = sent.recv().await {
        match submission.op {
            Op::Turn(TurnOp::Submit { text }) => submitted.push(text),
            Op::Session(SessionOp::Shutdown) => {}
            op => panic!("{op:?}"),
        }
    }
    assert_eq!(submitted, ["4", "6", "remember", "YES"]);
}

fn unsaved(elsewhere: bool) -> Event {
    let why = Phrase { key: "test.full", en: "The disk is full.", zh: "磁盘已满。" }.into();
    let unsaved =
        avocet_core::protocol::UnsavedWork { why, places: vec!["/home/me/a.md".into()], elsewhere };
    Event::Facts(Box::new(SessionInfo { unsaved: Some(unsaved), ..SessionInfo::default() }))
}

#[test]
fn leaving_an_unsaved_conversation_asks_where_to_write_it() {
    let mut linear = linear().with_user(true);
    linear.on_event(unsaved(false));
    let asked = written(&linear.on_line("/exit"));
    assert!(asked[0].contains("The disk is full."), "{asked:?}");
    assert_eq!(asked.len(), 7, "{asked:?}");
    // A number without a choice, another place with no path typed, then staying.
    assert_eq!(written(&linear.on_line("9")), asked);
    assert_eq!(written(&linear.on_line("0")), asked);
    assert_eq!(written(&linear.on_line("2")).len(), 2);
    assert_eq!(written(&linear.on_line(" ")), asked);
    assert_eq!(linear.on_line("4"), [PlainEffect::Prompt]);
    linear.on_line("/exit");
    let write = |path: &str| {
        PlainEffect::Send(Op::Saved(SavedOp::Export {
            format: ExportFormat::Md,
            path: Some(path.to_owned()),
        }))
    };
    assert_eq!(linear.on_line("1"), [write("/home/me/a.md")]);
    assert_eq!(linear.on_line("one more line"), []);
    // It could not be written there.
    let failed = linear.on_event(Event::Notice(Notice::error(w::NO_CHOICE)));
    assert_eq!(written(&failed)[1..], asked);
    linear.on_line("2");
    assert_eq!(linear.on_line("/b.md"), [write("/b.md")]);
    assert!(!linear.knows_unsaved());
    assert_eq!(linear.on_event(unsaved(true)), [PlainEffect::End(Exit::Done)]);
    assert!(linear.knows_unsaved());
}

#[test]
fn an_unsaved_conversation_is_discarded_only_on_request() {
    let mut linear = linear().with_user(true);
    linear.on_event(unsaved(false));
    assert!(written(&linear.on_end_of_input()).len() > 1);
    assert_eq!(linear.on_line("3"), [PlainEffect::End(Exit::Done)]);
    assert!(linear.knows_unsaved());
    // A turn that ends meanwhile does not withdraw the question.
    let mut linear = self::linear().with_user(true);
    linear.on_event(started());
    linear.on_event(unsaved(false));
    linear.on_line("/exit");
    assert_eq!(linear.on_event(ended()), []);
    assert!(written(&linear.on_line("9")).len() > 1);
    // A second end of the input, and Ctrl-C at the question, leave: it is written elsewhere then.
    for leave in [PlainSession::on_end_of_input, PlainSession::interrupt] {
        let mut linear = self::linear().with_user(true);
        linear.on_event(unsaved(false));
        linear.on_line("/exit");
        assert_eq!(leave(&mut linear), [PlainEffect::End(Exit::Done)]);
        assert!(!linear.knows_unsaved());
    }
    // There is no user to answer.
    let mut linear = self::linear();
    linear.on_event(unsaved(false));
    assert_eq!(linear.on_end_of_input(), [PlainEffect::End(Exit::Done)]);
    assert!(!linear.knows_unsaved());
}

#[test]
fn a_line_typed_before_the_question_could_be_read_is_treated_as_any_other() {
    for line in ["4", "YES", "remember", "1", "run it"] {
        let mut linear = asked(risk(Tier::L1, false)).0;
        let said = linear.on_early_line(line);
        assert!(written(&said)[0].contains("not taken as an answer"), "{line}");
        assert_eq!(
            said[1],
            PlainEffect::Send(Op::Turn(TurnOp::Submit { text: line.into() })),
            "{line}"
        );
        assert_eq!(said.last(), Some(&PlainEffect::Prompt));
        assert_eq!(linear.on_line("1"), decides(Decision::Approve), "the question still waits");
    }
    let mut linear = asked_about_trust();
    assert_eq!(
        linear.on_early_line(""),
        [PlainEffect::Prompt],
        "an empty line leaves nothing as it is"
    );
    assert_eq!(linear.on_early_line("/stop"), [PlainEffect::Send(Op::Turn(TurnOp::Stop))]);
}
