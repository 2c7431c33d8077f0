use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::agent::Steering;
use crate::context::turn_compaction::TurnIndex;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{
    ApprovalScope, Message, ModelMessage, NoticeLevel, Risk, Role, StepQuestion, Truncation,
};
use avocet_model::ModelError;
use avocet_safety::{Contents, Machine, PathKind, Policy, PolicyRule, Program, Unknown, Workspace};

mod ahead;
mod cancel;
mod limits;
mod native;
mod replies;
mod steers;
mod trust;
mod wall;

/// A machine that has every program but `absent` and `own`, and an empty folder.
struct FakeMachine;

impl Machine for FakeMachine {
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn kind(&self, path: &Path) -> PathKind {
        // The home has no credentials.
        let hidden = path.starts_with("/home/ann") || path.ends_with("docker.sock");
        if hidden { PathKind::Missing } else { PathKind::Folder }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new("/usr/bin").join(name);
        let is_there = !["absent", "own"].contains(&name);
        is_there.then_some(Program { path, device: 1, inode: 1, modified: 0, link: None })
    }

    fn untrusted_program_folder(&self, name: &str) -> Option<PathBuf> {
        (name == "own").then(|| PathBuf::from("/home/u/bin"))
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }
}

/// A turn under test: feeds inputs, and collects the side effects so far.
struct Bench {
    turn: Turn,
    policy: Policy,
    place: Workspace,
    side_effects: Vec<SideEffect>,
}

impl Bench {
    fn with_limit(max_steps: impl Into<Option<usize>>) -> Bench {
        Bench::new(max_steps, Dialect::Json)
    }

    fn new(max_steps: impl Into<Option<usize>>, dialect: Dialect) -> Bench {
        Bench::with_start(max_steps, Budget::default(), dialect)
    }

    fn with_start(max_steps: impl Into<Option<usize>>, budget: Budget, dialect: Dialect) -> Bench {
        let folder = PathBuf::from("/work");
        let text = "do it".into();
        let start = TurnStart {
            text,
            images: Vec::new(),
            max_steps: max_steps.into(),
            step_counter: Default::default(),
            check: None,
            budget,
            next_step: 1,
            is_small_model: true,
            dialect,
            hooks: std::sync::Arc::default(),
            agent: None,
        };
        Bench {
            turn: Turn::new(start),
            policy: Policy::default(),
            place: Workspace::new(folder, "/home/ann"),
            side_effects: Vec::new(),
        }
    }

    fn next(&mut self, input: TurnInput) -> TurnAction {
        let scene = PolicyContext { policy: &self.policy, place: &self.place, world: &FakeMachine };
        let action = self.turn.next(input, scene);
        self.side_effects.extend(self.turn.take_side_effects());
        action
    }

    fn says(&mut self, text: &str) -> TurnAction {
        self.next(TurnInput::Replied(Ok(ModelReply::from_text(text))))
    }

    fn says_cut(&mut self, text: &str, cut: Truncation) -> TurnAction {
        let reply = ModelReply { cut: Some(cut), ..ModelReply::from_text(text) };
        self.next(TurnInput::Replied(Ok(reply)))
    }

    /// The last message of the newest model call.
    fn last_message(action: &TurnAction) -> String {
        match action {
            TurnAction::Call(call) => {
                call.messages.last().map(|last| last.text().into_owned()).unwrap_or_default()
            }
            other => panic!("a call, not {other:?}"),
        }
    }

    fn proposes(&mut self, lines: &[&str]) -> TurnAction {
        self.says(&cmd(lines))
    }

    fn decides(&mut self, decision: Decision) -> TurnAction {
        self.next(TurnInput::Decided(decision))
    }

    fn exits(&mut self, action: TurnAction, code: i32) -> TurnAction {
        self.next(TurnInput::Observed(ran(action, Some(code), Outcome::Ran)))
    }

    /// The outcome of each step, in order: `cmd_001 ran`.
    fn outcomes(&self) -> Vec<String> {
        self.observations()
            .map(|seen| format!("{} {}", seen.step.id, seen.outcome.name()))
            .collect()
    }

    fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.events().filter_map(|event| match event {
            Event::StepFinished(seen) => Some(&**seen),
            _ => None,
        })
    }

    fn replied(&self) -> Vec<&ModelMessage> {
        self.events()
            .filter_map(
                |event| if let Event::Replied(replied) = event { Some(replied) } else { None },
            )
            .collect()
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.side_effects.iter().filter_map(|told| match told {
            SideEffect::Event(event) => Some(&**event),
            SideEffect::Remember { .. }
            | SideEffect::SetApprovalMode(_)
            | SideEffect::OpenForSession(_) => None,
        })
    }

    fn history(&self) -> Vec<Message> {
        self.turn.transcript.messages().to_vec()
    }
}

fn begun() -> Bench {
    let mut bench = Bench::with_limit(25);
    bench.next(TurnInput::Begin);
    bench
}

const HI: &str = r#"{"type":"chat","message":"hi"}"#;

/// A `cmd` reply with these lines, each split at spaces.
fn cmd(lines: &[&str]) -> String {
    let commands: Vec<Value> = lines
        .iter()
        .map(|line| {
            let mut words = line.split(' ');
            json!({"program": words.next(), "args": words.collect::<Vec<_>>()})
        })
        .collect();
    json!({"type": "cmd", "message": "why", "data": {"commands": commands, "expected_effect": "e"}})
        .to_string()
}

fn ran(action: TurnAction, code: Option<i32>, outcome: Outcome) -> Observation {
    let TurnAction::Run(cleared) = action else { panic!("does not run: {action:?}") };
    let judged = cleared.judgement();
    let mut seen = transcript::not_run_observation(judged, outcome, None);
    seen.exit_code = code;
    seen.duration_ms = 3;
    seen
}

fn line(action: &TurnAction) -> String {
    match action {
        TurnAction::Consult(event, step) => format!("{event:?} {}", step.work.short_line()),
        TurnAction::RunTogether(steps) => format!("run {} together", steps.len()),
        TurnAction::Run(cleared) => {
            format!("run {}", cleared.judgement().step.work.short_line())
        }
        TurnAction::Ask(ask) => match &**ask {
            Question::Step(StepQuestion { step, number, of, risk, .. }) => {
                let step = step.work.short_line();
                format!("ask {number}/{of} {} {step}", risk.tier.name())
            }
            Question::Pieces { of, .. } => format!("pieces of {of}"),
            Question::Pause { why } => format!("pause: {}", why.text(Lang::En)),
            Question::Trust { folder, .. } => format!("trust: {folder}"),
            Question::Plan { items, .. } => format!("plan of {}", items.len()),
            Question::Form { fields, .. } => format!("form of {}", fields.len()),
            Question::Choice { text, .. } | Question::ScriptCall { text } => {
                format!("question: {text}")
            }
        },
        TurnAction::Call(call) => format!("call{}", if call.repair { " again" } else { "" }),
        TurnAction::End(ending) => match ending {
            TurnOutcome::Limit { why } => format!("limit: {}", why.text(Lang::En)),
            TurnOutcome::Failed { why } => format!("failed: {}", why.text(Lang::En)),
            other => format!("end {other:?}"),
        },
    }
}

/// The objects of the newest message of a call.
fn sent(action: &TurnAction) -> Vec<Value> {
    let TurnAction::Call(call) = action else { panic!("no call: {action:?}") };
    let last = call.messages.last().expect("a call has messages");
    assert_eq!(last.role, Role::User);
    last.text()
        .into_owned()
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect()
}

fn note(observation: &Observation) -> String {
    observation.note.as_ref().expect("a note").text(Lang::En)
}

// Answers

#[test]
fn a_turn_begins_with_the_message_and_ends_with_the_answer() {
    let mut bench = Bench::with_limit(25);
    let action = bench.next(TurnInput::Begin);
    let messages = vec![Message::user("do it")];
    let index = TurnIndex::default();
    let call = ModelRequest { messages, index, dialect: Dialect::Json, repair: false };
    assert!(matches!(action, TurnAction::Call(first) if first == call));
    let action = bench.says(
        r#"{"type":"chat","message":"**hi**","data":{"format":"plain","suggestions":["more"]}}"#,
    );
    assert_eq!(line(&action), "end Done");
    let replied = ModelMessage {
        message: "**hi**".into(),
        suggestions: vec!["more".into()],
        ..ModelMessage::default()
    };
    assert_eq!(bench.replied(), [&replied]);
    let kept =
        [Message::user("do it"), Message::assistant(r#"{"type":"chat","message":"**hi**"}"#)];
    assert_eq!(bench.history(), kept);
}

#[test]
fn an_error_reply_ends_the_turn_with_an_error() {
    let mut bench = begun();
    assert_eq!(line(&bench.says(r#"{"type":"error","message":"no"}"#)), "end Error");
    assert!(bench.replied()[0].error);
}

#[test]
fn a_failing_model_ends_the_turn_with_its_reason() {
    let mut bench = begun();
    let error = ModelError::Address { given: "x".into() };
    let action = bench.next(TurnInput::Replied(Err(error)));
    assert!(line(&action).starts_with("failed: "), "{}", line(&action));
    assert_eq!(bench.history(), [Message::user("do it")]);
}

#[test]
fn usage_is_added_up() {
    let mut bench = begun();
    let usage = Usage::counted(10, 2);
    for text in [cmd(&["ls"]), HI.to_owned()] {
        let action =
            bench.next(TurnInput::Replied(Ok(ModelReply { usage, ..ModelReply::from_text(text) })));
        if matches!(action, TurnAction::Run(_)) {
            bench.exits(action, 0);
        }
    }
    let sum = Usage::counted(20, 4);
    assert_eq!(bench.turn.result(TurnOutcome::Done).usage, sum);
}

#[test]
fn each_message_tells_what_its_reply_cost_with_unreadable_ones_before_it() {
    let mut bench = begun();
    let usage = Usage::counted(10, 2);
    for text in [cmd(&["ls"]), "{\"type\":".to_owned(), HI.to_owned()] {
        let action =
            bench.next(TurnInput::Replied(Ok(ModelReply { usage, ..ModelReply::from_text(text) })));
        if matches!(action, TurnAction::Run(_)) {
            bench.exits(action, 0);
        }
    }
    let told: Vec<_> = bench.replied().iter().map(|message| message.usage).collect();
    assert_eq!(told, [Some(usage), Some(usage.plus(usage))]);
}

// Steps

#[test]
fn a_safe_step_runs_and_its_result_goes_back_with_continue() {
    let mut bench = begun();
    let action = bench.proposes(&["git status --short"]);
    assert_eq!(line(&action), "run git status --short");
    let seen = ran(action, Some(0), Outcome::Ran);
    let action = bench.next(TurnInput::Observed(seen.clone()));
    assert_eq!(sent(&action), [seen.tool_result(), json!({"_event": "continue"})]);
    assert_eq!(line(&bench.says(HI)), "end Done");
    let short = r#"{"type":"cmd","message":"why","data":{"commands":[{"program":"git","args":["status","--short"]}]}}"#;
    assert_eq!(bench.history()[1], Message::assistant(short));
}

#[test]
fn steps_are_numbered_through_the_session() {
    let mut bench = begun();
    bench.turn.ids.next = 41;
    let action = bench.proposes(&["ls", "pwd"]);
    let action = bench.exits(action, 0);
    bench.exits(action, 0);
    assert_eq!(bench.outcomes(), ["cmd_041 ran", "cmd_042 ran"]);
    assert_eq!(bench.turn.result(TurnOutcome::Done).next_step, 43);
}

#[test]
fn steps_that_need_approval_are_asked_about_one_by_one() {
    let mut bench = begun();
    let action = bench.proposes(&["git add .", "ls", "git commit -m x"]);
    assert_eq!(line(&action), "ask 1/2 L1 git add .");
    let action = bench.decides(Decision::Approve);
    assert_eq!(line(&action), "run git add .");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run ls");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "ask 2/2 L1 git commit -m x");
    let TurnAction::Ask(ask) = &action else { panic!("asks") };
    let Question::Step(StepQuestion { why, expected, resolved, cwd, .. }) = &**ask else {
        panic!("a step")
    };
    assert_eq!((why.as_str(), expected.as_str(), cwd.as_str()), ("why", "e", "/work"));
    assert_eq!(resolved.as_deref(), Some("/usr/bin/git"));
}

#[test]
fn a_rejected_step_goes_back_to_the_model_as_declined() {
    let mut bench = begun();
    bench.proposes(&["git commit -m x", "ls"]);
    let action = bench.decides(Decision::Reject { word: Some("not on Friday".into()) });
    let sent = sent(&action);
    assert_eq!(sent[0]["outcome"], "declined");
    assert_eq!(sent[0]["exitCode"], Value::Null);
    assert_eq!(sent[0]["note"], "The user rejected this step: not on Friday");
    assert_eq!(sent[1]["outcome"], "cancelled");
    assert_eq!(sent[1]["note"], "Not run: an earlier step of the same reply did not complete.");
    assert_eq!(sent[1]["risk"]["tier"], "L0", "its own risk, not that of the step before");
    assert_eq!(sent[2], json!({"_event": "continue"}));
    assert_eq!(bench.outcomes(), ["cmd_001 declined", "cmd_002 cancelled"]);
}

#[test]
fn a_refused_step_is_an_observation_with_its_reason() {
    let mut bench = begun();
    let action = bench.proposes(&["sudo reboot"]);
    let sent = sent(&action);
    assert_eq!(sent[0]["outcome"], "refused");
    assert_eq!(sent[0]["risk"]["tier"], "L2");
    assert!(sent[0]["risk"]["reason"].is_string());
    assert_eq!(line(&bench.says(HI)), "end Done");
}

#[test]
fn a_refused_step_ends_the_list_before_it_and_is_announced_in_advance() {
    let mut bench = begun();
    let action = bench.proposes(&["ls", "rm -rf build", "pwd"]);
    let notice = bench.events().find_map(|event| match event {
        Event::Notice(notice) => Some((notice.level, notice.say.text(Lang::En))),
        _ => None,
    });
    let said =
        "Step 2 of 3, `rm -rf build`, will be refused; it and the steps after it will not run.";
    assert_eq!(notice, Some((NoticeLevel::Warning, said.to_owned())));
    assert_eq!(line(&action), "run ls");
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 refused", "cmd_003 cancelled"]);
}

#[test]
fn a_missing_program_is_reported_to_the_model_without_asking_the_user() {
    for (program, hint) in
        [("absent", "trusted program folders"), ("own", "program_folders = [\"/home/u/bin\"]")]
    {
        let mut bench = begun();
        bench.policy.unknown_program = Unknown::Confirm;
        let action = bench.proposes(&[&format!("{program} --now"), "ls"]);
        assert_eq!(line(&action), "call");
        assert_eq!(bench.outcomes(), ["cmd_001 not_started", "cmd_002 cancelled"]);
        let note = bench.observations().next().and_then(|seen| seen.note.clone()).unwrap();
        assert!(note.text(Lang::En).contains(hint), "{}", note.text(Lang::En));
    }
}

#[test]
fn an_unfinished_step_ends_the_list() {
    for (code, outcome) in
        [(None, Outcome::Ran), (None, Outcome::TimedOut), (None, Outcome::Refused)]
    {
        let mut bench = begun();
        let action = bench.proposes(&["ls", "pwd"]);
        let seen = ran(action, code, outcome);
        assert_eq!(line(&bench.next(TurnInput::Observed(seen))), "call");
        assert_eq!(bench.outcomes()[1], "cmd_002 cancelled", "{outcome:?}");
    }
}

#[test]
fn only_a_change_that_exits_with_1_ends_the_list() {
    let mut bench = begun();
    let action = bench.proposes(&["rg nothing", "ls"]);
    assert_eq!(line(&bench.exits(action, 1)), "run ls");

    let mut bench = begun();
    bench.proposes(&["git add x", "ls"]);
    let action = bench.decides(Decision::Approve);
    assert_eq!(line(&bench.exits(action, 1)), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 cancelled"]);
}

#[test]
fn an_edited_step_runs_as_edited_and_the_model_is_told() {
    let mut bench = begun();
    bench.proposes(&["git push --dry-run", "ls"]);
    let action = bench.decides(Decision::Edit(StepAction::exec("git", &["commit", "-m", "a b"])));
    assert_eq!(line(&action), "run git commit -m 'a b'");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run ls");
    let action = bench.exits(action, 0);
    let sent = sent(&action);
    assert_eq!(sent[0]["outcome"], "edited");
    assert_eq!(sent[0]["args"], json!(["commit", "-m", "a b"]));
    assert_eq!(sent[0]["note"], "The user replaced `git push --dry-run` with this step.");
}

#[test]
fn a_step_that_was_opened_and_left_as_it_was_counts_as_approved() {
    let mut bench = begun();
    bench.proposes(&["git add ."]);
    let action = bench.decides(Decision::Edit(StepAction::exec("git", &["add", "."])));
    let action = bench.exits(action, 0);
    let sent = sent(&action);
    assert_eq!((&sent[0]["outcome"], &sent[0]["note"]), (&json!("ran"), &Value::Null));
}

#[test]
fn an_edit_is_reported_even_when_the_step_timed_out() {
    let mut bench = begun();
    bench.proposes(&["git add ."]);
    let action = bench.decides(Decision::Edit(StepAction::exec("git", &["add", "a"])));
    let mut seen = ran(action, None, Outcome::TimedOut);
    seen.note = Some(phrases::DECLINED.into());
    bench.next(TurnInput::Observed(seen));
    let seen = bench.observations().next().expect("one");
    assert_eq!(seen.outcome, Outcome::TimedOut);
    assert_eq!(
        note(seen),
        "The user replaced `git add .` with this step. The user rejected this step."
    );
}

#[test]
fn an_edit_that_must_not_run_is_refused() {
    let mut bench = begun();
    bench.proposes(&["git add .", "ls"]);
    let action = bench.decides(Decision::Edit(StepAction::exec("git", &["reset", "--hard"])));
    assert_eq!(line(&action), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 refused", "cmd_002 cancelled"]);
    let seen = bench.observations().next().expect("one");
    assert_eq!(note(seen), "The user replaced `git add .` with this step.");
}

#[test]
fn a_remembered_step_runs_and_its_rule_goes_to_the_session() {
    let mut bench = begun();
    let action = bench.proposes(&["npm install left-pad"]);
    let TurnAction::Ask(ask) = &action else { panic!("asks") };
    let Question::Step(StepQuestion { rule: Some(rule), .. }) = &**ask else {
        panic!("offers a rule")
    };
    let rule = rule.clone();
    let action = bench.decides(Decision::Remember(ApprovalScope::Session));
    assert_eq!(line(&action), "run npm install left-pad");
    let Some(SideEffect::Remember { grant, scope: ApprovalScope::Session }) =
        bench.side_effects.last()
    else {
        panic!("tells the session")
    };
    assert_eq!(
        (grant.rule.to_string(), grant.terms.reasons.as_slice()),
        (rule, ["npm.install".to_owned()].as_slice())
    );
}

#[test]
fn a_rule_added_meanwhile_covers_the_steps_that_follow() {
    let mut bench = begun();
    bench.proposes(&["npm test a", "npm test b"]);
    let action = bench.decides(Decision::Remember(ApprovalScope::Session));
    let (program, args) = ("npm".to_owned(), vec!["test".to_owned()]);
    bench.policy.allowed.push(PolicyRule { program, args, open: true });
    assert_eq!(line(&bench.exits(action, 0)), "run npm test b");
}

#[test]
fn remembering_without_an_offered_rule_approves_once() {
    let mut bench = begun();
    bench.proposes(&["bash -c ls>x"]);
    let action = bench.decides(Decision::Remember(ApprovalScope::Project));
    assert_eq!(line(&action), "run bash -c 'ls>x'");
    assert!(!bench.side_effects.iter().any(|told| matches!(told, SideEffect::Remember { .. })));
}

#[test]
fn requirements_of_the_model_only_make_a_step_stricter() {
    let mut bench = begun();
    let text = r#"{"type":"cmd","message":"","data":{"commands":[{"program":"ls","requires":{"confirm":true}}]}}"#;
    assert_eq!(line(&bench.says(text)), "ask 1/1 L1 ls");
}

#[test]
fn the_risk_of_each_step_is_sent_with_it() {
    let mut bench = begun();
    bench.proposes(&["sudo ls", "ls"]);
    let risks: Vec<&Risk> = bench.observations().map(|seen| &seen.risk).collect();
    assert_eq!((risks[0].tier, risks[1].tier), (Tier::L2, Tier::L0));
}
