//! Whole headless turns: checks both streams and the exit code for scripted events.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::*;
use crate::cli::Clean;
use crate::cli::args::ApprovalFlags;
use crate::cli::messages::Printer;
use crate::cli::schema::Schema;
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::{
    Ask, AskId, BackgroundAgents, Decision, ModelMessage, NoticeLevel, Observation, Outcome,
    Question, QuestionOp, Reason, Requires, Risk, SessionInfo, Step, StepAction, StepQuestion,
    Submission, TemplateCommand, Tier, TurnOp, TurnOutcome, Usage,
};
use avocet_safety::redact::Redactor;

/// The result of a run.
#[derive(Debug)]
struct Ran {
    exit: Exit,
    out: String,
    err: String,
    ops: Vec<Op>,
}

fn options() -> Options {
    let printer = Printer { lang: Lang::En, clean: str::to_owned, width: None };
    Options {
        json: false,
        approved: ApprovalFlags::default(),
        has_user: false,
        schema: None,
        printer,
        clean: str::to_owned,
        secrets: Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16])),
    }
}

fn yes() -> Options {
    Options {
        approved: ApprovalFlags {
            template_commands: true,
            steps: Some("-y"),
            secrets: false,
            all: false,
        },
        ..options()
    }
}

fn json() -> Options {
    Options { json: true, ..options() }
}

fn schema(text: &str) -> Options {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    std::fs::write(&file, text).unwrap();
    Options { schema: Some(Schema::read(&file).unwrap()), ..options() }
}

/// Plays the events to a headless turn that writes to `out`.
fn play_into(
    options: &Options,
    events: Vec<Event>,
    presses: usize,
    out: impl Write,
) -> (Exit, String, Vec<Op>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (ops, mut observation) = mpsc::channel(64);
        let (sender, receiver) = mpsc::channel(64);
        let (presser, signals) = mpsc::channel(8);
        for event in events {
            sender.send(event).await.unwrap();
        }
        for _ in 0..presses {
            presser.send(avocet_core::signals::INT).await.unwrap();
        }
        // With Ctrl-C, the session stays open: the end must come from the key.
        let stays = (presses > 0).then_some(sender);
        let channels = PrintChannels {
            ops,
            events: receiver,
            signals,
            grace: Duration::from_millis(20),
            leaving: tokio_util::sync::CancellationToken::new(),
        };
        let mut err = Vec::new();
        let first = Op::Turn(TurnOp::Submit { text: "do it".into() });
        let turns = PrintTurns::only(first);
        let exit = run(turns, channels, no_user(), options, (out, &mut err)).await;
        drop(stays);
        let mut ops = Vec::new();
        while let Ok(Submission { op, .. }) = observation.try_recv() {
            ops.push(op);
        }
        (exit, String::from_utf8(err).unwrap(), ops)
    })
}

fn play(options: &Options, events: Vec<Event>) -> Ran {
    let mut out = Vec::new();
    let (exit, err, ops) = play_into(options, events, 0, &mut out);
    Ran { exit, out: String::from_utf8(out).unwrap(), err, ops }
}

fn replied(message: &str) -> Event {
    Event::Replied(ModelMessage { message: message.into(), ..ModelMessage::default() })
}

fn ended(ending: TurnOutcome) -> Event {
    Event::TurnEnded { turn: 1, ending, usage: Usage::default(), elapsed_ms: 5 }
}

fn say(text: &str) -> LocalizedText {
    w::MODEL_ERROR.with("text", text)
}

fn step(line: &str) -> Step {
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    let args: Vec<&str> = words.collect();
    let work = StepAction::exec(program, &args);
    Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None }
}

fn risk(tier: Tier) -> Risk {
    let reason = Reason { rule: "git.push".into(), tier, say: say("it pushes"), arg: None };
    Risk { tier, rule: "git.push".into(), reasons: vec![reason], effects: vec![], lifted: false }
}

fn observed(tier: Tier, outcome: Outcome) -> Event {
    let mut observation = Observation::not_run(step("git push"), "/w", risk(tier), outcome);
    if outcome == Outcome::Ran {
        observation.exit_code = Some(0);
    }
    Event::StepFinished(Box::new(observation))
}

fn asked(risk: Risk) -> Event {
    let question = Question::Step(StepQuestion {
        pieces: vec![],
        ..StepQuestion::new(step("git push"), risk, "/w")
    });
    Event::Asked(Box::new(Ask { id: AskId(7), question }))
}

fn pieces(risks: &[Risk]) -> Event {
    let piece = |(at, risk): (usize, &Risk)| TemplateCommand {
        id: format!("cmd_00{}", at + 1),
        line: format!("line {}\u{1b}[2J", at + 1),
        risk: risk.clone(),
        commands: vec![],
    };
    let pieces = risks.iter().enumerate().map(piece).collect();
    let question = Question::Pieces { of: "/sum".into(), cwd: "/w".into(), pieces };
    Event::Asked(Box::new(Ask { id: AskId(7), question }))
}

#[test]
fn yes_unlike_in_r9_reports_each_shell_command_before_it_runs() {
    let ran = play(
        &yes(),
        vec![pieces(&[risk(Tier::L0), risk(Tier::L1)]), replied("ok"), ended(TurnOutcome::Done)],
    );
    let steps = vec!["cmd_001".to_owned(), "cmd_002".to_owned()];
    assert_eq!(decision(&ran), Some(&Decision::ApproveAll { steps }));
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "ok\n"));
    assert!(ran.err.contains("/sum") && ran.err.contains("line 1") && ran.err.contains("line 2"));
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
}

#[test]
fn shell_commands_are_refused_and_reported_where_no_user_can_allow_them() {
    let declined = Notice::warning(avocet_core::i18n::prompt::PIECES_DECLINED)
        .with_topic(avocet_core::protocol::Topic::PiecesDeclined);
    let events =
        vec![pieces(&[risk(Tier::L0)]), Event::Notice(declined), ended(TurnOutcome::Stopped)];
    let ran = play(&options(), events);
    assert_eq!(ran.err.matches("Nothing was sent").count(), 1, "{}", ran.err);
    assert_eq!(decision(&ran), Some(&Decision::Reject { word: None }));
    assert_eq!((ran.exit, ran.exit.code()), (Exit::Blocked, 3));
    assert!(ran.err.contains("line 1") && ran.err.contains("`-y`"), "{}", ran.err);
}

#[test]
fn yes_does_not_approve_a_high_risk_template_command() {
    for grave in [risk(Tier::L2), Risk { lifted: true, ..risk(Tier::L1) }] {
        let ran = play(&yes(), vec![pieces(&[risk(Tier::L0), grave]), ended(TurnOutcome::Stopped)]);
        assert_eq!(decision(&ran), Some(&Decision::Reject { word: None }));
        assert_eq!(ran.exit, Exit::Blocked);
        assert!(ran.err.contains("high risk"), "{}", ran.err);
    }
}

/// A turn with a user at a terminal, its first effects, and the effects of each line.
fn at_a_terminal(
    options: Options,
    first: &Event,
    lines: &[Option<&str>],
) -> Vec<Vec<HeadlessEffect>> {
    let options = Options { has_user: true, ..options };
    let mut turn = HeadlessTurn::new(&options, &Op::Turn(TurnOp::Submit { text: "do it".into() }));
    let asked = turn.on_event(first);
    std::iter::once(asked).chain(lines.iter().map(|line| turn.on_line(*line))).collect()
}

fn last_op(effects: &[Vec<HeadlessEffect>]) -> Option<&Op> {
    effects.iter().flatten().rev().find_map(|effect| match effect {
        HeadlessEffect::Send(op) => Some(op),
        _ => None,
    })
}

#[test]
fn a_user_at_the_terminal_is_asked_about_each_shell_command_in_json_as_well() {
    for options in [options(), json()] {
        let event = pieces(&[risk(Tier::L0), risk(Tier::L1)]);
        let effects = at_a_terminal(options, &event, &[Some("n"), Some("y")]);
        let asks = |effects: &[HeadlessEffect]| {
            effects.iter().any(|it| matches!(it, HeadlessEffect::Ask(_)))
        };
        assert!(asks(&effects[0]) && asks(&effects[1]) && !asks(&effects[2]), "{effects:?}");
        let steps = vec!["cmd_002".to_owned()];
        let expected = Op::Question(QuestionOp::Decide {
            ask: AskId(7),
            decision: Decision::ApproveAll { steps },
        });
        assert_eq!(last_op(&effects), Some(&expected));
        let told: Vec<_> =
            effects[0].iter().filter(|it| matches!(it, HeadlessEffect::Tell(_))).collect();
        let told = format!("{told:?}");
        assert!(told.contains("line 1") && told.contains("it pushes"), "{told}");
    }
}

#[test]
fn a_rejected_shell_command_is_reported_and_an_interrupt_ends_the_question() {
    let options = Options { has_user: true, ..options() };
    let mut turn = HeadlessTurn::new(&options, &Op::Turn(TurnOp::Submit { text: "do it".into() }));
    turn.on_event(&pieces(&[risk(Tier::L0)]));
    let declined = Notice::warning(avocet_core::i18n::prompt::PIECES_DECLINED)
        .with_topic(avocet_core::protocol::Topic::PiecesDeclined);
    assert_eq!(turn.on_event(&Event::Notice(declined)).len(), 1);
    assert!(turn.interrupt().contains(&HeadlessEffect::Send(Op::Turn(TurnOp::Stop))));
    assert!(turn.on_line(Some("y")).is_empty(), "too late");
    let ended = turn.on_event(&ended(TurnOutcome::Cancelled));
    assert!(ended.contains(&HeadlessEffect::End(Exit::INTERRUPTED)), "{ended:?}");
}

#[test]
fn a_rendered_prompt_is_the_answer_and_a_failed_rendering_is_an_error() {
    let ran = play(
        &options(),
        vec![Event::Rendered { text: "a\nb".into(), images: Vec::new() }, ended(TurnOutcome::Done)],
    );
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "a\nb\n"));
    let ran = play(&options(), vec![ended(TurnOutcome::Unsent { why: say("exit code 3") })]);
    assert_eq!((ran.exit, ran.exit.code()), (Exit::Failed, 1));
    assert!(ran.err.contains("exit code 3"), "{}", ran.err);
}

fn decision(ran: &Ran) -> Option<&Decision> {
    ran.ops.iter().find_map(|op| match op {
        Op::Question(QuestionOp::Decide { ask: AskId(7), decision }) => Some(decision),
        _ => None,
    })
}

#[test]
fn the_answer_alone_goes_to_standard_output() {
    let ran = play(
        &options(),
        vec![
            Event::ReplyStarted,
            replied("I look first."),
            Event::StepStarted { step: step("git status"), risk: risk(Tier::L0) },
            observed(Tier::L0, Outcome::Ran),
            Event::ReplyStarted,
            Event::Delta { text: "All ".into() },
            replied("All is well."),
            ended(TurnOutcome::Done),
        ],
    );
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "All is well.\n"));
    assert_eq!(ran.err, "I look first.\n$ git status\n");
    assert_eq!(
        ran.ops,
        [Op::Turn(TurnOp::Submit { text: "do it".into() }), Op::Session(SessionOp::Shutdown)]
    );
}

#[test]
fn a_step_that_asks_is_rejected_and_the_exit_code_says_so() {
    let ran = play(
        &options(),
        vec![
            replied("I push."),
            asked(risk(Tier::L1)),
            observed(Tier::L1, Outcome::Declined),
            replied("I could not push."),
            ended(TurnOutcome::Done),
        ],
    );
    let remedy = w::STEP_DECLINED_HINT.into();
    assert_eq!(decision(&ran), Some(&Decision::NotAsked { remedy }));
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Blocked, "I could not push.\n"));
    assert!(ran.err.contains("git push") && ran.err.contains("hint: "), "{}", ran.err);
}

#[test]
fn yes_approves_steps_that_ask_by_default_but_none_of_higher_risk() {
    let lifted = Risk { lifted: true, ..risk(Tier::L1) };
    let approve = Some(Decision::ApproveAll { steps: vec![] });
    let reject = Some(Decision::NotAsked { remedy: w::STEP_DECLINED_HINT.into() });
    for (risk, expected) in [
        (risk(Tier::L0), &approve),
        (risk(Tier::L1), &approve),
        (risk(Tier::L2), &reject),
        (lifted, &reject),
    ] {
        let ran = play(&yes(), vec![asked(risk.clone()), ended(TurnOutcome::Done)]);
        assert_eq!(decision(&ran), expected.as_ref(), "{risk:?}");
    }
    let ran = play(
        &yes(),
        vec![asked(risk(Tier::L1)), observed(Tier::L1, Outcome::Ran), ended(TurnOutcome::Done)],
    );
    assert_eq!(ran.exit, Exit::Done);
    assert!(ran.err.contains("it pushes"), "what was allowed is shown: {}", ran.err);
}

#[test]
fn a_step_that_did_not_run_counts_until_a_later_one_replaces_it() {
    use Outcome::{Declined, Ran, Refused};
    let cases: &[(&[(Tier, Outcome)], Exit)] = &[
        (&[(Tier::L0, Ran)], Exit::Done),
        (&[(Tier::L1, Declined)], Exit::Blocked),
        (&[(Tier::L2, Refused)], Exit::Blocked),
        (&[(Tier::L1, Declined), (Tier::L0, Ran)], Exit::Blocked),
        (&[(Tier::L1, Declined), (Tier::L1, Ran)], Exit::Done),
        (&[(Tier::L2, Refused), (Tier::L0, Ran)], Exit::Done),
        (&[(Tier::L0, Ran), (Tier::L2, Refused)], Exit::Blocked),
    ];
    for (steps, expected) in cases {
        let mut events: Vec<Event> =
            steps.iter().map(|(tier, outcome)| observed(*tier, *outcome)).collect();
        events.push(ended(TurnOutcome::Done));
        assert_eq!(play(&options(), events).exit, *expected, "{steps:?}");
    }
}

#[test]
fn each_ending_has_its_exit_code() {
    let cases = [
        (TurnOutcome::Done, Exit::Done, 0),
        (TurnOutcome::Error, Exit::Failed, 1),
        (TurnOutcome::Stopped, Exit::Blocked, 3),
        (TurnOutcome::Limit { why: say("25 steps") }, Exit::Limit, 4),
        (TurnOutcome::Failed { why: say("no server") }, Exit::Model, 5),
        (TurnOutcome::Cancelled, Exit::INTERRUPTED, 130),
    ];
    for (ending, expected, code) in cases {
        let ran = play(&options(), vec![replied("x"), ended(ending.clone())]);
        assert_eq!((ran.exit, ran.exit.code()), (expected, code), "{ending:?}");
        assert_eq!(ran.out.is_empty(), ending != TurnOutcome::Done, "{ending:?}");
    }
}

#[test]
fn a_failure_is_reported_as_an_error() {
    let ran = play(&options(), vec![ended(TurnOutcome::Failed { why: say("no server") })]);
    assert!(ran.err.starts_with("error: ") && ran.err.contains("no server"), "{}", ran.err);
}

#[test]
fn a_pause_at_a_limit_stops_the_turn_even_with_yes() {
    let question = Question::Pause { why: say("25 steps") };
    let pause = Event::Asked(Box::new(Ask { id: AskId(7), question }));
    let ran = play(&yes(), vec![pause, ended(TurnOutcome::Stopped)]);
    assert_eq!(decision(&ran), Some(&Decision::Stop));
    assert_eq!(ran.exit, Exit::Limit);
}

#[test]
fn json_output_is_one_event_per_line() {
    let events = vec![
        Event::ReplyStarted,
        Event::Delta { text: "a\nb".into() },
        replied("a\nb"),
        Event::Notice(Notice::warning(say("x"))),
        ended(TurnOutcome::Done),
    ];
    let ran = play(&json(), events.clone());
    let back: Vec<Event> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((back, ran.err.as_str()), (events, ""));
    assert_eq!(ran.exit, Exit::Done);
}

#[test]
fn in_json_the_reason_of_a_failure_is_still_reported() {
    let ran = play(&json(), vec![ended(TurnOutcome::Failed { why: say("no server") })]);
    assert_eq!(ran.out.lines().count(), 1);
    assert!(ran.err.contains("no server"), "{}", ran.err);
}

const NUMBER: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;

#[test]
fn an_answer_that_matches_the_schema_is_printed_as_json() {
    let ran =
        play(&schema(NUMBER), vec![replied("```json\n{\"n\":1}\n```"), ended(TurnOutcome::Done)]);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "{\"n\":1}\n"));
}

#[test]
fn an_answer_that_violates_the_schema_is_asked_for_once_more_with_what_is_wrong() {
    let wrong = [replied("There is one."), ended(TurnOutcome::Done)];
    let right = [replied("{\"n\":1}"), ended(TurnOutcome::Done)];
    let ran = play(&schema(NUMBER), wrong.into_iter().chain(right).collect());
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "{\"n\":1}\n"));
    let asked =
        |op: &Op| matches!(op, Op::Turn(TurnOp::Submit { text }) if text.contains("not JSON"));
    assert_eq!(ran.ops.iter().filter(|op| asked(op)).count(), 1, "{:?}", ran.ops);
}

#[test]
fn an_answer_that_violates_the_schema_twice_is_an_error() {
    let wrong = || [replied("{\"n\":\"one\"}"), ended(TurnOutcome::Done)];
    let ran = play(&schema(NUMBER), wrong().into_iter().chain(wrong()).collect());
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Failed, ""));
    assert!(ran.err.contains("`/n`") && ran.err.contains("integer"), "{}", ran.err);
    let options = Options { json: true, ..schema(NUMBER) };
    let events = [replied("{}"), ended(TurnOutcome::Done), replied("{}"), ended(TurnOutcome::Done)];
    let ran = play(&options, events.into());
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("error: "), "{}", ran.err);
}

#[test]
fn an_interrupt_stops_the_turn_and_a_second_one_does_not_wait() {
    let (exit, _, ops) = play_into(&options(), vec![], 2, io::sink());
    assert_eq!(exit, Exit::INTERRUPTED);
    assert!(
        ops.contains(&Op::Turn(TurnOp::Stop))
            && ops.last() == Some(&Op::Session(SessionOp::Shutdown)),
        "{ops:?}"
    );
}

#[test]
fn a_turn_that_ignores_an_interrupt_is_abandoned_after_a_delay() {
    let (exit, _, ops) = play_into(&options(), vec![], 1, io::sink());
    assert_eq!(exit, Exit::INTERRUPTED);
    assert!(ops.contains(&Op::Turn(TurnOp::Stop)));
}

#[test]
fn a_closed_session_is_reported() {
    for events in [vec![], vec![Event::Closed]] {
        let ran = play(&options(), events);
        assert_eq!(ran.exit, Exit::Failed);
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}

/// A stream that fails in one way.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_not_an_error_but_a_full_disk_is() {
    let events = || vec![replied("x"), ended(TurnOutcome::Done)];
    let (exit, err, _) = play_into(&options(), events(), 0, Broken(io::ErrorKind::BrokenPipe));
    assert_eq!((exit, err.as_str()), (Exit::Done, ""));
    let (exit, err, _) = play_into(&options(), events(), 0, Broken(io::ErrorKind::StorageFull));
    assert_eq!(exit, Exit::Failed);
    assert!(err.contains("the disk is full"), "{err}");
}

#[test]
fn foreign_text_is_made_safe_on_both_streams() {
    let clean: Clean = |text| text.replace('\x1b', "␛");
    let printer = Printer { lang: Lang::Zh, clean, width: None };
    let options = Options { clean, printer, ..options() };
    let ran = play(
        &options,
        vec![
            replied("\x1b[2J on the way"),
            Event::StepStarted { step: step("echo \x1b[31m"), risk: risk(Tier::L0) },
            Event::Notice(Notice::warning(say("\x1b]0;x"))),
            replied("\x1b[2J answer"),
            ended(TurnOutcome::Done),
        ],
    );
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "{ran:?}");
    assert!(ran.out.contains("␛[2J answer"));
}

#[test]
fn a_notice_keeps_its_level() {
    for (level, label) in [
        (NoticeLevel::Error, "error: "),
        (NoticeLevel::Warning, "warning: "),
        (NoticeLevel::Info, "The"),
    ] {
        let notice = Notice { level, ..Notice::info(say("x")) };
        let ran = play(&options(), vec![Event::Notice(notice), ended(TurnOutcome::Done)]);
        assert!(ran.err.starts_with(label), "{}", ran.err);
    }
}

fn background(running: usize, unread: usize) -> Event {
    let agents = BackgroundAgents { running, unread };
    Event::Facts(Box::new(SessionInfo { agents, ..SessionInfo::default() }))
}

#[test]
fn a_run_waits_for_its_agents_in_the_background_and_gives_the_model_their_results() {
    let events = vec![
        background(1, 0),
        replied("Started it."),
        ended(TurnOutcome::Done),
        background(0, 1),
        background(0, 0),
        Event::ReplyStarted,
        replied("It found two."),
        ended(TurnOutcome::Done),
    ];
    let ran = play(&options(), events);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "It found two.\n"));
    assert!(ran.err.contains("Waiting for 1 agent in the background."), "{}", ran.err);
    assert!(ran.ops.contains(&Op::Turn(TurnOp::ReadResults)), "{:?}", ran.ops);

    // One that was stopped has nothing to read.
    let events =
        vec![background(1, 0), replied("Started it."), ended(TurnOutcome::Done), background(0, 0)];
    let ran = play(&options(), events);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "Started it.\n"));
}
