//! A conversation as lines: checks the output and the operations that events and typed lines cause.

use super::*;
use crate::protocol::{
    ApprovalScope, AskId, Decision, Extension, ExtensionKind, ExtensionState, Question, Reason,
    Requires, Risk, StepAction, TemplateCommand, TrustOffer, TurnOrigin, UntrustedFile, Usage,
};

fn linear() -> Linear {
    let facts = SessionInfo { model: "m-1".into(), cwd: "/work".into(), ..SessionInfo::default() };
    let mut linear = Linear::new(facts.clone(), Lang::En, str::to_owned);
    linear.heard(Event::Facts(Box::new(facts)));
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
    Event::TurnStarted { turn: 1, text: "go".into(), origin: TurnOrigin::Typed }
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
    let question = Question::Step {
        step,
        risk,
        resolved: Some("/usr/bin/git".into()),
        cwd: "/work".into(),
        why: "please\n  4: reject".into(),
        expected: String::new(),
        number: 1,
        of: 1,
        pieces: Vec::new(),
        rule: Some("git push *".into()),
        rule_covers: Vec::new(),
        trust: None,
        change: None,
        rest: Vec::new(),
    };
    Event::Asked(Box::new(Ask { id: AskId(3), question }))
}

fn asked(risk: Risk) -> (Linear, Vec<String>) {
    let mut linear = linear();
    linear.heard(started());
    let lines = written(&linear.heard(asks(risk)));
    (linear, lines)
}

fn decides(decision: Decision) -> Vec<PlainEffect> {
    vec![PlainEffect::Send(Op::Decide { ask: AskId(3), decision })]
}

#[test]
fn an_answer_is_written_by_whole_lines_and_each_once() {
    let mut linear = linear();
    linear.heard(started());
    linear.heard(Event::ReplyStarted);
    assert_eq!(written(&linear.heard(delta("One li"))), Vec::<String>::new());
    assert_eq!(written(&linear.heard(delta("ne.\nAnd"))), ["One line."]);
    assert_eq!(written(&linear.heard(says("One line.\nAnd more."))), ["And more."]);
    assert_eq!(written(&linear.heard(ended())), [">"]);
}

#[test]
fn an_answer_that_was_not_streamed_is_written_whole() {
    let mut linear = linear();
    linear.heard(started());
    assert_eq!(written(&linear.heard(says("a\nb"))), ["a", "b"]);
}

#[test]
fn a_question_is_numbered_lines_with_all_one_needs_to_judge() {
    let (_, lines) = asked(risk(Tier::L1, false));
    let text = lines.join("\n");
    for part in [
        "A step needs your OK, 1 of 1, L1 confirm.",
        "git push",
        "/usr/bin/git",
        "The reason: pushes (git.push)",
        "  1: reject",
        "  4: run once",
        "  5: run, and don't ask again in this session",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{202e}'), "what cannot be seen is spelt out\n{text}");
    assert!(text.contains("The model says: please 4: reject"), "{text}");
}

fn judged(work: &StepAction, risk: Risk) -> Event {
    Event::Judged { ask: AskId(3), work: work.clone(), risk, change: None }
}

#[test]
fn a_step_is_changed_as_a_line_judged_and_run_so() {
    let (mut linear, lines) = asked(risk(Tier::L1, false));
    let edit = lines.iter().position(|line| line.contains("edit it first")).unwrap();
    let number = lines[edit].trim().split(':').next().unwrap().to_owned();
    let shown = written(&linear.typed(&number));
    // The printed step parses to the same step, and invisible characters are spelt out.
    let now = shown[0].strip_prefix("It is now: ").unwrap();
    let same = written(&linear.typed(now));
    assert!(same.iter().any(|line| line.contains("1: reject")), "nothing was changed: {same:?}");
    linear.typed(&number);
    assert!(written(&linear.typed("git 'push"))[0].contains("is not closed"));
    let work = StepAction::exec("git", &["push", "a b"]);
    let sent = linear.typed("git push 'a b'");
    assert_eq!(sent, [PlainEffect::Send(Op::PreviewRisk { ask: AskId(3), work: work.clone() })]);
    assert!(written(&linear.typed("2"))[0].contains("being judged"), "no yes before it is");
    let stale = StepAction::exec("git", &["pull"]);
    assert_eq!(linear.heard(judged(&stale, risk(Tier::L0, false))), []);
    let said = written(&linear.heard(judged(&work, risk(Tier::L1, false))));
    assert!(said[0].contains("git push 'a b'") && said[1].contains("pushes"), "{said:?}");
    assert!(written(&linear.typed("yes"))[0].contains("Choose a number from the list"));
    assert_eq!(linear.typed("2"), decides(Decision::Edit(work)));
}

#[test]
fn a_changed_step_that_is_refused_or_grave_is_not_run_by_a_number() {
    let (mut linear, lines) = asked(risk(Tier::L1, false));
    let edit = lines.iter().position(|line| line.contains("edit it first")).unwrap();
    let number = lines[edit].trim().split(':').next().unwrap().to_owned();
    let work = StepAction::exec("rm", &["-rf", "/"]);
    linear.typed(&number);
    linear.typed("rm -rf /");
    let said = written(&linear.heard(judged(&work, risk(Tier::L2, false))));
    assert!(said.iter().any(|line| line.contains("refused")), "{said:?}");
    // It can be changed again, or left.
    linear.typed("rm -rf /");
    linear.heard(judged(&work, risk(Tier::L1, true)));
    assert!(written(&linear.typed("2"))[0].contains("only the word YES"));
    assert_eq!(linear.typed("YES"), decides(Decision::Edit(work)));
    let (mut linear, _) = asked(risk(Tier::L1, false));
    linear.typed(&number);
    assert!(written(&linear.typed("")).iter().any(|line| line.contains("1: reject")));
    assert_eq!(linear.typed("1"), decides(Decision::Reject { word: None }));
}

#[test]
fn a_number_decides_and_nothing_else_does() {
    let choose = |typed: &str| asked(risk(Tier::L1, false)).0.typed(typed);
    assert_eq!(choose("4"), decides(Decision::Approve));
    assert_eq!(choose("４"), decides(Decision::Approve));
    assert_eq!(choose("1"), decides(Decision::Reject { word: None }));
    assert_eq!(choose("3"), decides(Decision::Stop));
    for typed in ["", "y", "yes", "0", "9", "run it"] {
        let said = choose(typed);
        assert!(!said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))), "{typed}");
    }
}

fn asked_about_trust() -> Linear {
    let mut linear = linear();
    let because = Phrase { key: "test.why", en: "new", zh: "新" }.into();
    let (folder, above) = ("/w".to_owned(), Some("/".to_owned()));
    let question = Question::Trust { folder, above, because, found: Vec::new() };
    linear.heard(Event::Asked(Box::new(Ask { id: AskId(3), question })));
    linear
}

#[test]
fn remembering_or_trusting_requires_the_whole_word() {
    for (number, scope) in [("5", ApprovalScope::Session), ("6", ApprovalScope::Project)] {
        let mut linear = asked(risk(Tier::L1, false)).0;
        assert!(written(&linear.typed(number))[0].contains("REMEMBER"));
        let again = written(&linear.typed(number));
        assert!(again.iter().any(|line| line.contains("1: reject")), "{again:?}");
        linear.typed(number);
        assert_eq!(linear.typed("remember"), decides(Decision::Remember(scope)));
    }
    let above = Decision::ApproveAll { steps: vec!["/".into()] };
    for (number, decision) in [("2", Decision::Approve), ("3", above)] {
        let mut linear = asked_about_trust();
        assert!(written(&linear.typed(number))[0].contains("TRUST"));
        assert!(!linear.typed("yes").iter().any(|effect| matches!(effect, PlainEffect::Send(_))));
        linear.typed(number);
        assert_eq!(linear.typed("trust"), decides(decision));
    }
    assert_eq!(asked_about_trust().typed(""), decides(Decision::Dismiss));
}

#[test]
fn the_question_of_a_step_that_waits_for_trust_takes_the_word_for_it() {
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step { trust, .. } = &mut ask.question else { panic!("a step") };
    let found = vec![UntrustedFile { name: "AGENTS.md".into(), bytes: 5, steers: true }];
    *trust = Some(Box::new(TrustOffer { folder: "/work".into(), hazard: None, found }));
    let mut linear = linear();
    linear.heard(started());
    let lines = written(&linear.heard(Event::Asked(ask)));
    let text = lines.join("\n");
    assert!(text.contains("If you trust /work") && text.contains("AGENTS.md"), "{text}");
    let row = lines.iter().find(|line| line.contains("trust this folder")).unwrap();
    let number = row.trim().split(':').next().unwrap().to_owned();
    assert!(written(&linear.typed(&number))[0].contains("TRUST"));
    assert!(!linear.typed("yes").iter().any(|effect| matches!(effect, PlainEffect::Send(_))));
    linear.typed(&number);
    assert_eq!(linear.typed("trust"), decides(Decision::Trust));
}

#[test]
fn after_the_question_of_trust_it_is_idle_again() {
    let mut linear = asked_about_trust();
    let effects = linear.closed();
    assert!(written(&effects)[0].contains("input ended"), "{effects:?}");
    assert!(effects.contains(&PlainEffect::Send(Op::Stop)));
    assert!(!linear.is_idle());
    linear.heard(Event::QuestionClosed { ask: AskId(3) });
    assert!(linear.is_idle());
    assert_eq!(linear.interrupt(), [PlainEffect::End(Exit::Done)]);
    let mut linear = asked(risk(Tier::L1, false)).0;
    linear.heard(Event::QuestionClosed { ask: AskId(3) });
    assert!(!linear.is_idle(), "the turn goes on");
}

#[test]
fn a_command_over_a_question_works_or_says_that_it_waits() {
    let mut linear = asked(risk(Tier::L1, false)).0;
    assert_eq!(linear.typed("/stop"), [PlainEffect::Send(Op::Stop)]);
    assert_eq!(
        linear.typed("/steer use tabs"),
        [PlainEffect::Send(Op::Steer { text: "use tabs".into() })]
    );
    assert_eq!(
        linear.typed("/queue then test"),
        [PlainEffect::Send(Op::Submit { text: "then test".into() })]
    );
    assert_eq!(
        linear.typed("/deny touch *"),
        [PlainEffect::Send(Op::Deny { rule: "touch *".into() }),]
    );
    for page in ["/status", "/help"] {
        let said = linear.typed(page);
        assert!(
            !said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))),
            "{page}: {said:?}"
        );
        assert_eq!(said.last(), Some(&PlainEffect::Prompt), "{page}");
    }
    for line in ["/new", "/allow git *", "/nope-nope", "/undo"] {
        let said = linear.typed(line);
        assert!(!said.iter().any(|effect| matches!(effect, PlainEffect::Send(_))), "{line}");
        assert!(written(&said)[0].contains("before using"), "{line}");
    }
}

#[test]
fn the_input_of_a_tool_is_read_out_whole() {
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step { step, .. } = &mut ask.question else { panic!("a step") };
    let input = serde_json::json!({ "path": "a.json", "patch": "x".repeat(900) });
    step.work = StepAction::Tool { name: "config.json_patch".into(), input };
    let lines = written(&linear().heard(Event::Asked(ask))).join("\n");
    assert!(lines.contains(&"x".repeat(900)), "{lines}");
}

#[test]
fn a_diff_is_read_out_whole() {
    let rows: String = (1..=1_000).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("--- a\n+++ a\n{rows}");
    let change = crate::protocol::Change { diff, ..Default::default() };
    let Event::Asked(mut ask) = asks(risk(Tier::L1, false)) else { panic!("asks") };
    let Question::Step { change: shown, .. } = &mut ask.question else { panic!("a step") };
    *shown = Some(change);
    let lines = written(&linear().heard(Event::Asked(ask)));
    assert!((1..=1_000).all(|n| lines.contains(&format!("    +line {n}"))));
}

/// A question about three shell commands, the last one of high risk.
fn asked_about_pieces() -> (Linear, Vec<String>) {
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
    linear.heard(started());
    let lines = written(&linear.heard(Event::Asked(Box::new(Ask { id: AskId(3), question }))));
    (linear, lines)
}

#[test]
fn the_pieces_of_a_template_are_numbered_lines_too() {
    let (mut linear, lines) = asked_about_pieces();
    let text = lines.join("\n");
    for part in ["/sum wants to run shell commands: 3", "git log", "rm -rf build", "  1: run none"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{202e}'), "{text}");
    assert_eq!(linear.typed("2"), decides(Decision::Approve), "what is not grave");
    let (mut linear, _) = asked_about_pieces();
    assert_eq!(linear.typed("1"), decides(Decision::Reject { word: None }));
}

#[test]
fn each_piece_can_be_decided_alone_and_a_grave_one_takes_the_whole_word() {
    let (mut linear, _) = asked_about_pieces();
    assert!(written(&linear.typed("3"))[0].contains("git log"));
    assert!(written(&linear.typed("2"))[0].contains("curl x"));
    assert!(written(&linear.typed("1"))[0].contains("rm -rf build"));
    assert_eq!(written(&linear.typed("2")), [w::NEEDS_YES.text(Lang::En), ">"]);
    let steps = vec!["a".to_owned(), "c".to_owned()];
    assert_eq!(linear.typed("YES"), decides(Decision::ApproveAll { steps }));
}

#[test]
fn a_word_goes_with_the_rejection() {
    let (mut linear, _) = asked(risk(Tier::L1, false));
    assert_eq!(written(&linear.typed("2")).len(), 2);
    let word = Some("not today".to_owned());
    assert_eq!(linear.typed("not today"), decides(Decision::Reject { word }));
}

#[test]
fn a_high_risk_command_requires_the_whole_word() {
    let (mut linear, lines) = asked(risk(Tier::L2, true));
    assert!(lines.iter().all(|line| !line.contains("don't ask again")), "{lines:?}");
    assert_eq!(written(&linear.typed("4")), [w::NEEDS_YES.text(Lang::En), ">"]);
    assert_eq!(linear.typed("YES"), decides(Decision::Approve));
}

#[test]
fn a_line_typed_during_a_turn_is_sent_and_one_that_needs_the_screen_says_so() {
    let mut linear = linear();
    linear.heard(started());
    let sent = PlainEffect::Send(Op::Submit { text: "and then".into() });
    assert_eq!(linear.typed("and then"), [sent]);
    assert_eq!(written(&linear.typed("/keys")), [w::NEEDS_SCREEN.text(Lang::En)]);
    assert_eq!(linear.typed("/exit"), [PlainEffect::End(Exit::Done)]);
}

#[test]
fn ctrl_c_stops_the_turn_and_then_leaves() {
    let mut linear = linear();
    linear.heard(started());
    assert!(linear.interrupt().contains(&PlainEffect::Send(Op::Stop)));
    linear.heard(ended());
    assert_eq!(linear.interrupt(), [PlainEffect::End(Exit::Done)]);
}

#[test]
fn it_greets_once_the_session_says_who_answers() {
    let facts = SessionInfo { model: "m-2".into(), ..SessionInfo::default() };
    let mut linear = Linear::new(SessionInfo::default(), Lang::En, str::to_owned);
    let lines = written(&linear.heard(Event::Facts(Box::new(facts.clone()))));
    assert!(lines.join(" ").contains("The model is m-2."), "{lines:?}");
    assert_eq!(linear.heard(Event::Facts(Box::new(facts))), []);
}

fn kept(names: &[&str]) -> Event {
    let entry = |name: &&str| Extension {
        kind: ExtensionKind::Command,
        name: (*name).to_owned(),
        about: "about".into(),
        hint: String::new(),
        from: crate::words::library::OF_USER.into(),
        state: ExtensionState::Usable,
    };
    let entries = names.iter().map(entry).collect();
    let bots = vec![("reviewer".to_owned(), "Reviews".to_owned())];
    Event::Catalogue(Box::new(Extensions { entries, bots, ..Extensions::default() }))
}

#[test]
fn a_command_of_ones_own_is_looked_for_before_it_is_sent() {
    let mut linear = linear();
    assert_eq!(linear.typed("/summarize this @a.rs"), [PlainEffect::Send(Op::RefreshExtensions)]);
    assert!(!linear.is_idle() && linear.closed().is_empty(), "it is not over");
    let effects = linear.heard(kept(&["summarize"]));
    let [PlainEffect::Send(Op::Invoke { name, args, mentions })] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((name.as_str(), args.as_str()), ("summarize", "this @a.rs"));
    assert_eq!(mentions[0].path, "a.rs");
}

#[test]
fn an_unknown_name_is_reported_and_never_sent() {
    let mut linear = linear();
    assert_eq!(linear.typed("/sumarize"), [PlainEffect::Send(Op::RefreshExtensions)]);
    let effects = linear.heard(kept(&["summarize"]));
    assert_eq!(written(&effects), ["There is no command `/sumarize`.", ">"]);
    assert!(linear.is_idle());
    assert_eq!(written(&linear.typed("/bot")), ["Bots", ">"]);
}

#[tokio::test]
async fn a_line_that_was_typed_before_a_question_came_answers_nothing() {
    use tokio::sync::mpsc::channel;
    let (ops, mut sent) = channel(16);
    let (tell, events) = channel(16);
    let (_signal, signals) = channel(1);
    let (typed, lines) = channel(16);
    for text in ["4", "6", "remember", "YES"] {
        let line = run::Line { text: text.to_owned(), began: std::time::Instant::now() };
        typed.send(run::Typed::Line(line)).await.expect("room");
    }
    for event in [started(), asks(risk(Tier::L1, false)), Event::Closed] {
        tell.send(event).await.expect("room");
    }
    let grace = std::time::Duration::from_secs(1);
    let wires = crate::cli::print::PrintChannels {
        ops,
        events,
        signals,
        grace,
        leaving: tokio_util::sync::CancellationToken::new(),
    };
    let voice = crate::cli::report::Printer { lang: Lang::En, clean: str::to_owned };
    let exit = run::run(linear(), None, wires, lines, voice, Vec::new()).await;
    assert_eq!(exit, run::Left { exit: Exit::Done, knows_unsaved: false });
    let mut submitted = Vec::new();
    while let Some(op) = sent.recv().await {
        match op {
            Op::Submit { text } => submitted.push(text),
            Op::Shutdown => {}
            op => panic!("{op:?}"),
        }
    }
    assert_eq!(submitted, ["4", "6", "remember", "YES"]);
}

fn unsaved(elsewhere: bool) -> Event {
    let why = Phrase { key: "test.full", en: "The disk is full.", zh: "磁盘已满。" }.into();
    let unsaved =
        crate::protocol::UnsavedWork { why, places: vec!["/home/me/a.md".into()], elsewhere };
    Event::Facts(Box::new(SessionInfo { unsaved: Some(unsaved), ..SessionInfo::default() }))
}

#[test]
fn leaving_an_unsaved_conversation_asks_where_to_write_it() {
    let mut linear = linear().with_answers(true);
    linear.heard(unsaved(false));
    let asked = written(&linear.typed("/exit"));
    assert!(asked[0].contains("The disk is full."), "{asked:?}");
    assert_eq!(asked.len(), 7, "{asked:?}");
    // A number without a choice, another place with no path typed, then staying.
    assert_eq!(written(&linear.typed("9")), asked);
    assert_eq!(written(&linear.typed("0")), asked);
    assert_eq!(written(&linear.typed("2")).len(), 2);
    assert_eq!(written(&linear.typed(" ")), asked);
    assert_eq!(linear.typed("4"), [PlainEffect::Prompt]);
    linear.typed("/exit");
    let write = |path: &str| {
        PlainEffect::Send(Op::Export { format: ExportFormat::Md, path: Some(path.to_owned()) })
    };
    assert_eq!(linear.typed("1"), [write("/home/me/a.md")]);
    assert_eq!(linear.typed("one more line"), []);
    // It could not be written there.
    let failed = linear.heard(Event::Notice(Notice::error(w::NO_CHOICE)));
    assert_eq!(written(&failed)[1..], asked);
    linear.typed("2");
    assert_eq!(linear.typed("/b.md"), [write("/b.md")]);
    assert!(!linear.knows_unsaved());
    assert_eq!(linear.heard(unsaved(true)), [PlainEffect::End(Exit::Done)]);
    assert!(linear.knows_unsaved());
}

#[test]
fn an_unsaved_conversation_is_lost_only_knowingly() {
    let mut linear = linear().with_answers(true);
    linear.heard(unsaved(false));
    assert!(written(&linear.closed()).len() > 1);
    assert_eq!(linear.typed("3"), [PlainEffect::End(Exit::Done)]);
    assert!(linear.knows_unsaved());
    // A turn that ends meanwhile does not withdraw the question.
    let mut linear = self::linear().with_answers(true);
    linear.heard(started());
    linear.heard(unsaved(false));
    linear.typed("/exit");
    assert_eq!(linear.heard(ended()), []);
    assert!(written(&linear.typed("9")).len() > 1);
    // A second end of the input, and Ctrl-C at the question, leave: it is written elsewhere then.
    for leave in [Linear::closed, Linear::interrupt] {
        let mut linear = self::linear().with_answers(true);
        linear.heard(unsaved(false));
        linear.typed("/exit");
        assert_eq!(leave(&mut linear), [PlainEffect::End(Exit::Done)]);
        assert!(!linear.knows_unsaved());
    }
    // There is no user to answer.
    let mut linear = self::linear();
    linear.heard(unsaved(false));
    assert_eq!(linear.closed(), [PlainEffect::End(Exit::Done)]);
    assert!(!linear.knows_unsaved());
}

#[test]
fn a_line_typed_before_the_question_could_be_read_is_treated_as_any_other() {
    for line in ["4", "YES", "remember", "1", "run it"] {
        let mut linear = asked(risk(Tier::L1, false)).0;
        let said = linear.typed_ahead(line);
        assert!(written(&said)[0].contains("not taken as an answer"), "{line}");
        assert_eq!(said[1], PlainEffect::Send(Op::Submit { text: line.into() }), "{line}");
        assert_eq!(said.last(), Some(&PlainEffect::Prompt));
        assert_eq!(linear.typed("4"), decides(Decision::Approve), "the question still waits");
    }
    let mut linear = asked_about_trust();
    assert_eq!(
        linear.typed_ahead(""),
        [PlainEffect::Prompt],
        "an empty line leaves nothing as it is"
    );
    assert_eq!(linear.typed_ahead("/stop"), [PlainEffect::Send(Op::Stop)]);
}
