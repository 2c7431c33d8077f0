use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::model::ModelError;
use crate::protocol::{Level, Message, Risk, Role};
use crate::safety::{Kind, Place, Policy, Program, Rule, World};
use crate::words::Lang;

/// A machine that has every program and an empty folder.
struct Machine;

impl World for Machine {
    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn kind(&self, _: &Path) -> Kind {
        Kind::Folder
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new("/usr/bin").join(name);
        Some(Program { path, device: 1, inode: 1, modified: 0 })
    }
}

/// A turn on a bench: what goes in, and what was told so far.
struct Bench {
    turn: Turn,
    policy: Policy,
    place: Place,
    told: Vec<Told>,
}

impl Bench {
    fn with_limit(max_steps: usize) -> Bench {
        let folder = PathBuf::from("/work");
        let start = Start {
            turn: 7,
            text: "do it".into(),
            origin: Origin::Typed,
            max_steps,
            next_step: 1,
            next_ask: 1,
        };
        Bench {
            turn: Turn::new(start),
            policy: Policy::default(),
            place: Place {
                workspace: folder.clone(),
                home: "/home/ann".into(),
                cwd: folder,
                trusted: true,
            },
            told: Vec::new(),
        }
    }

    fn next(&mut self, input: Input) -> Action {
        let scene = Scene { policy: &self.policy, place: &self.place, world: &Machine };
        let action = self.turn.next(input, scene);
        self.told.extend(self.turn.told());
        action
    }

    fn says(&mut self, text: &str) -> Action {
        self.next(Input::Replied(Ok(Answer { text: text.into(), ..Answer::default() })))
    }

    fn says_cut(&mut self, text: &str, cut: Cut) -> Action {
        let usage = Usage::default();
        self.next(Input::Replied(Ok(Answer { text: text.into(), usage, cut: Some(cut) })))
    }

    fn proposes(&mut self, lines: &[&str]) -> Action {
        self.says(&cmd(lines))
    }

    fn decides(&mut self, decision: Decision) -> Action {
        self.next(Input::Decided(decision))
    }

    fn exits(&mut self, action: Action, code: i32) -> Action {
        self.next(Input::Observed(ran(action, Some(code), Outcome::Ran)))
    }

    /// What became of each step, in order: `cmd_001 ran`.
    fn outcomes(&self) -> Vec<String> {
        self.observations()
            .map(|seen| format!("{} {}", seen.step.id, seen.outcome.name()))
            .collect()
    }

    fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.events().filter_map(|event| match event {
            Event::Observed(seen) => Some(&**seen),
            _ => None,
        })
    }

    fn replied(&self) -> Vec<&Replied> {
        self.events()
            .filter_map(
                |event| if let Event::Replied(replied) = event { Some(replied) } else { None },
            )
            .collect()
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.told.iter().filter_map(|told| match told {
            Told::Event(event) => Some(&**event),
            Told::Remember { .. } => None,
        })
    }

    fn history(&self) -> Vec<Message> {
        self.turn.ended(Ending::Done).messages
    }
}

fn begun() -> Bench {
    let mut bench = Bench::with_limit(25);
    bench.next(Input::Begin);
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

fn ran(action: Action, code: Option<i32>, outcome: Outcome) -> Observation {
    let Action::Run(cleared) = action else { panic!("does not run: {action:?}") };
    let judged = cleared.judged();
    let mut seen = said::not_run(judged, outcome, None);
    seen.exit_code = code;
    seen.duration_ms = 3;
    seen
}

fn line(action: &Action) -> String {
    match action {
        Action::Run(cleared) => format!("run {}", limits::one_line(&cleared.judged().step.work)),
        Action::Ask(ask) => match &ask.question {
            Question::Step { step, number, of, risk, .. } => {
                let step = limits::one_line(&step.work);
                format!("ask {number}/{of} {} {step}", risk.tier.name())
            }
            Question::Pause { why } => format!("pause: {}", why.text(Lang::En)),
        },
        Action::Call(call) => format!("call{}", if call.repair { " again" } else { "" }),
        Action::End(ending) => match ending {
            Ending::Limit { why } => format!("limit: {}", why.text(Lang::En)),
            Ending::Failed { why } => format!("failed: {}", why.text(Lang::En)),
            other => format!("end {other:?}"),
        },
    }
}

/// The objects of the newest message of a call.
fn sent(action: &Action) -> Vec<Value> {
    let Action::Call(call) = action else { panic!("no call: {action:?}") };
    let last = call.messages.last().expect("a call has messages");
    assert_eq!(last.role, Role::User);
    last.content
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect()
}

fn note(seen: &Observation) -> String {
    seen.note.as_ref().expect("a note").text(Lang::En)
}

// Answers

#[test]
fn a_turn_begins_with_the_words_and_ends_with_the_answer() {
    let mut bench = Bench::with_limit(25);
    let action = bench.next(Input::Begin);
    let call = Call { messages: vec![Message::user("do it")], repair: false };
    assert!(matches!(action, Action::Call(first) if first == call));
    let action = bench.says(
        r#"{"type":"chat","message":"**hi**","data":{"format":"plain","suggestions":["more"]}}"#,
    );
    assert_eq!(line(&action), "end Done");
    let replied = Replied {
        message: "**hi**".into(),
        suggestions: vec!["more".into()],
        ..Replied::default()
    };
    assert_eq!(bench.replied(), [&replied]);
    let started = Event::TurnStarted { turn: 7, text: "do it".into(), origin: Origin::Typed };
    assert_eq!(bench.events().next(), Some(&started));
    let kept =
        [Message::user("do it"), Message::assistant(r#"{"type":"chat","message":"**hi**"}"#)];
    assert_eq!(bench.history(), kept);
}

#[test]
fn an_error_reply_ends_the_turn_as_one() {
    let mut bench = begun();
    assert_eq!(line(&bench.says(r#"{"type":"error","message":"no"}"#)), "end Error");
    assert!(bench.replied()[0].error);
}

#[test]
fn a_model_that_fails_ends_the_turn_with_its_reason() {
    let mut bench = begun();
    let error = ModelError::Address { given: "x".into() };
    let action = bench.next(Input::Replied(Err(error)));
    assert!(line(&action).starts_with("failed: "), "{}", line(&action));
    assert_eq!(bench.history(), [Message::user("do it")]);
}

#[test]
fn usage_is_added_up() {
    let mut bench = begun();
    let usage = Usage { input_tokens: 10, output_tokens: 2, estimated: false };
    for text in [cmd(&["ls"]), HI.to_owned()] {
        let action = bench.next(Input::Replied(Ok(Answer { text, usage, cut: None })));
        if matches!(action, Action::Run(_)) {
            bench.exits(action, 0);
        }
    }
    let sum = Usage { input_tokens: 20, output_tokens: 4, estimated: false };
    assert_eq!(bench.turn.ended(Ending::Done).usage, sum);
}

// Steps

#[test]
fn a_safe_step_runs_and_its_result_goes_back_with_continue() {
    let mut bench = begun();
    let action = bench.proposes(&["git status --short"]);
    assert_eq!(line(&action), "run git status --short");
    let seen = ran(action, Some(0), Outcome::Ran);
    let action = bench.next(Input::Observed(seen.clone()));
    assert_eq!(sent(&action), [seen.tool_result(), json!({"_event": "continue"})]);
    assert_eq!(line(&bench.says(HI)), "end Done");
    let short = r#"{"type":"cmd","message":"why","data":{"commands":[{"program":"git","args":["status","--short"]}]}}"#;
    assert_eq!(bench.history()[1], Message::assistant(short));
}

#[test]
fn steps_are_numbered_through_the_session() {
    let mut bench = begun();
    bench.turn.next_step = 41;
    let action = bench.proposes(&["ls", "pwd"]);
    let action = bench.exits(action, 0);
    bench.exits(action, 0);
    assert_eq!(bench.outcomes(), ["cmd_041 ran", "cmd_042 ran"]);
    assert_eq!(bench.turn.ended(Ending::Done).next_step, 43);
}

#[test]
fn steps_that_ask_are_asked_one_by_one() {
    let mut bench = begun();
    let action = bench.proposes(&["git add .", "ls", "git commit -m x"]);
    assert_eq!(line(&action), "ask 1/3 L1 git add .");
    let action = bench.decides(Decision::Approve);
    assert_eq!(line(&action), "run git add .");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run ls");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "ask 3/3 L1 git commit -m x");
    let Action::Ask(ask) = &action else { panic!("asks") };
    assert_eq!(ask.id, AskId(2));
    let Question::Step { why, expected, resolved, cwd, .. } = &ask.question else {
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
    assert_eq!(sent[0]["note"], "The user said no: not on Friday");
    assert_eq!(sent[1]["outcome"], "cancelled");
    assert_eq!(sent[1]["note"], "Not run: an earlier step of the same reply was not done.");
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
fn a_refused_step_ends_the_list_before_it_and_that_is_said_ahead() {
    let mut bench = begun();
    let action = bench.proposes(&["ls", "rm -rf build", "pwd"]);
    let notice = bench.events().find_map(|event| match event {
        Event::Notice(notice) => Some((notice.level, notice.say.text(Lang::En))),
        _ => None,
    });
    let said = "Step 2 of 3, `rm -rf build`, will be refused; it and what follows it will not run.";
    assert_eq!(notice, Some((Level::Warning, said.to_owned())));
    assert_eq!(line(&action), "run ls");
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 refused", "cmd_003 cancelled"]);
}

#[test]
fn a_step_that_did_not_come_to_its_end_ends_the_list() {
    for (code, outcome) in
        [(None, Outcome::Ran), (None, Outcome::TimedOut), (None, Outcome::Refused)]
    {
        let mut bench = begun();
        let action = bench.proposes(&["ls", "pwd"]);
        let seen = ran(action, code, outcome);
        assert_eq!(line(&bench.next(Input::Observed(seen))), "call");
        assert_eq!(bench.outcomes()[1], "cmd_002 cancelled", "{outcome:?}");
    }
}

#[test]
fn a_read_that_exits_with_1_does_not_end_the_list_a_change_does() {
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
fn an_edited_step_runs_as_it_was_edited_and_the_model_is_told() {
    let mut bench = begun();
    bench.proposes(&["git push --dry-run", "ls"]);
    let action = bench.decides(Decision::Edit(Work::exec("git", &["commit", "-m", "a b"])));
    assert_eq!(line(&action), "run git commit -m \"a b\"");
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "run ls");
    let action = bench.exits(action, 0);
    let sent = sent(&action);
    assert_eq!(sent[0]["outcome"], "edited");
    assert_eq!(sent[0]["args"], json!(["commit", "-m", "a b"]));
    assert_eq!(sent[0]["note"], "The user put this in place of `git push --dry-run`.");
}

#[test]
fn an_edit_is_told_even_when_it_timed_out() {
    let mut bench = begun();
    bench.proposes(&["git add ."]);
    let action = bench.decides(Decision::Edit(Work::exec("git", &["add", "a"])));
    let mut seen = ran(action, None, Outcome::TimedOut);
    seen.note = Some(words::DECLINED.into());
    bench.next(Input::Observed(seen));
    let seen = bench.observations().next().expect("one");
    assert_eq!(seen.outcome, Outcome::TimedOut);
    assert_eq!(note(seen), "The user put this in place of `git add .`. The user said no.");
}

#[test]
fn an_edit_that_must_not_run_is_refused() {
    let mut bench = begun();
    bench.proposes(&["git add .", "ls"]);
    let action = bench.decides(Decision::Edit(Work::exec("git", &["reset", "--hard"])));
    assert_eq!(line(&action), "call");
    assert_eq!(bench.outcomes(), ["cmd_001 refused", "cmd_002 cancelled"]);
    let seen = bench.observations().next().expect("one");
    assert_eq!(note(seen), "The user put this in place of `git add .`.");
}

#[test]
fn what_is_remembered_runs_and_is_told_to_the_session() {
    let mut bench = begun();
    let action = bench.proposes(&["npm install left-pad"]);
    let Action::Ask(ask) = &action else { panic!("asks") };
    let Question::Step { rule: Some(rule), .. } = &ask.question else { panic!("offers a rule") };
    let rule = rule.clone();
    let action = bench.decides(Decision::Remember(Scope::Session));
    assert_eq!(line(&action), "run npm install left-pad");
    assert_eq!(bench.told.last(), Some(&Told::Remember { rule, scope: Scope::Session }));
}

#[test]
fn a_rule_added_meanwhile_covers_the_steps_that_follow() {
    let mut bench = begun();
    bench.proposes(&["npm install a", "npm install b"]);
    let action = bench.decides(Decision::Remember(Scope::Session));
    let (program, args) = ("npm".to_owned(), vec!["install".to_owned()]);
    bench.policy.allowed.push(Rule { program, args, open: true });
    assert_eq!(line(&bench.exits(action, 0)), "run npm install b");
}

#[test]
fn where_no_rule_is_offered_remembering_is_a_yes_for_once() {
    let mut bench = begun();
    bench.proposes(&["bash -c ls"]);
    assert_eq!(line(&bench.decides(Decision::Remember(Scope::Project))), "run bash -c ls");
    assert!(!bench.told.iter().any(|told| matches!(told, Told::Remember { .. })));
}

#[test]
fn what_the_model_says_a_step_needs_only_makes_it_stricter() {
    let mut bench = begun();
    let text = r#"{"type":"cmd","message":"","data":{"commands":[{"program":"ls","requires":{"confirm":true}}]}}"#;
    assert_eq!(line(&bench.says(text)), "ask 1/1 L1 ls");
}

// Broken replies

#[test]
fn a_repaired_reply_is_asked_about_even_where_it_is_safe() {
    let mut bench = begun();
    let action = bench.says("{'type':'cmd','message':'m','data':{'commands':[{'program':'ls'}]}}");
    assert_eq!(line(&action), "ask 1/1 L1 ls");
}

#[test]
fn a_broken_reply_is_asked_for_once_more_and_then_forgotten() {
    let mut bench = begun();
    let broken =
        r#"{"type":"cmd","message":"m","data":{"commands":[{"program":"head","args":[1]}]}}"#;
    let action = bench.says(broken);
    assert_eq!(line(&action), "call again");
    let fault = "`data.commands[0].args` must be a list of strings, but `data.commands[0].args[0]` is a number.";
    assert_eq!(sent(&action)[0]["fault"], fault);
    assert!(bench.events().any(
        |event| matches!(event, Event::Repairing { fault: said } if said.text(Lang::En) == fault)
    ));
    assert!(bench.replied().is_empty(), "nothing of it is shown as an answer");
    assert_eq!(line(&bench.says(HI)), "end Done");
    assert_eq!(bench.history(), [Message::user("do it"), Message::assistant(HI)]);
}

#[test]
fn each_reply_has_its_own_second_chance() {
    let mut bench = begun();
    bench.says("prose");
    let action = bench.proposes(&["ls"]);
    bench.exits(action, 0);
    assert_eq!(line(&bench.says("prose")), "call again");
}

#[test]
fn prose_is_taken_as_the_answer_the_second_time() {
    let mut bench = begun();
    let prose = "Write `fn main() {}` and set {\"a\": 1} there.";
    assert_eq!(line(&bench.says(prose)), "call again");
    assert_eq!(line(&bench.says(prose)), "end Done");
    assert_eq!(bench.replied()[0].message, prose);
    assert_eq!(bench.history().len(), 2);
}

#[test]
fn of_a_reply_that_stays_broken_only_its_message_is_shown() {
    let broken = r#"{"type":"cmd","message":"I look.","data":{"commands":[]}}"#;
    let mut bench = begun();
    bench.says(broken);
    let end = "failed: The model gave no valid reply twice in a row, so nothing of it was run. \
        `data.commands` is empty; a `cmd` reply proposes at least one step.";
    assert_eq!(line(&bench.says(broken)), end);
    assert_eq!(bench.replied()[0].message, "I look.");
    assert!(bench.outcomes().is_empty());
}

#[test]
fn raw_json_is_never_shown() {
    for text in [
        r#"{"type":"cmd","data":{"commands":[]}}"#,
        r#"{"typ"#,
        r#"["x"]"#,
        "```json\n{\"type\":\"cm",
        "<think>{\"a\"",
    ] {
        let mut bench = begun();
        bench.says(text);
        assert!(line(&bench.says(text)).starts_with("failed: "), "{text}");
        assert!(bench.replied().is_empty(), "{text}");
        assert_eq!(bench.history(), [Message::user("do it")], "{text}");
    }
}

#[test]
fn a_reply_cut_off_is_shown_with_its_mark_and_nothing_of_it_runs() {
    let whole = cmd(&["ls"]);
    for text in [whole.as_str(), whole.split_at(whole.len() - 3).0] {
        let mut bench = begun();
        let action = bench.says_cut(text, Cut::Length);
        assert!(line(&action).starts_with("failed: The answer reached the server's limit"));
        let replied = bench.replied();
        assert_eq!((replied[0].message.as_str(), replied[0].cut), ("why", Some(Cut::Length)));
        assert!(bench.outcomes().is_empty());
    }
}

#[test]
fn a_chat_cut_off_keeps_its_mark_however_well_it_reads() {
    for text in [HI, r#"{"type":"chat","message":"hi"#, "hi", "hi {\"type\":\"cm"] {
        let mut bench = begun();
        let action = bench.says_cut(text, Cut::Broken);
        assert!(line(&action).starts_with("failed: The answer broke off"), "{text}");
        let replied = bench.replied();
        assert_eq!(
            (replied[0].message.as_str(), replied[0].cut),
            ("hi", Some(Cut::Broken)),
            "{text}"
        );
    }
}

// Limits

#[test]
fn at_the_limit_the_turn_pauses_and_a_yes_starts_it_over() {
    let mut bench = Bench::with_limit(2);
    bench.next(Input::Begin);
    let mut action = bench.proposes(&["ls", "pwd", "ls -l", "ls -a", "whoami"]);
    action = bench.exits(action, 0);
    action = bench.exits(action, 0);
    let why = "2 steps have run in this turn, which is its limit.";
    assert_eq!(line(&action), format!("pause: {why}"));
    action = bench.decides(Decision::Approve);
    assert_eq!(line(&action), "run ls -l");
    action = bench.exits(action, 0);
    action = bench.exits(action, 0);
    assert_eq!(line(&action), format!("pause: {why}"));
    let end = bench.decides(Decision::Reject { word: None });
    assert_eq!(line(&end), format!("limit: {why}"));
    assert_eq!(bench.outcomes().last().map(String::as_str), Some("cmd_005 cancelled"));
    let last = bench.history().pop().expect("results");
    assert_eq!(last.content.lines().count(), 5, "each step has its result");
}

#[test]
fn the_limit_does_not_ask_where_nothing_is_left_to_run() {
    let mut bench = Bench::with_limit(1);
    bench.next(Input::Begin);
    let action = bench.proposes(&["ls"]);
    assert_eq!(line(&bench.exits(action, 0)), "call");
    assert_eq!(line(&bench.says(HI)), "end Done");
}

#[test]
fn with_a_limit_of_0_even_a_safe_step_asks() {
    let mut bench = Bench::with_limit(0);
    bench.next(Input::Begin);
    let action = bench.proposes(&["ls", "git add ."]);
    assert_eq!(line(&action), "ask 1/2 L0 ls");
    let action = bench.decides(Decision::Approve);
    let action = bench.exits(action, 0);
    assert_eq!(line(&action), "ask 2/2 L1 git add .");
}

#[test]
fn the_same_step_for_the_third_time_pauses() {
    let mut bench = begun();
    for _ in 0..2 {
        let action = bench.proposes(&["git status"]);
        bench.exits(action, 0);
    }
    let why = "The model proposes the same step for the third time: `git status`.";
    assert_eq!(line(&bench.proposes(&["git status"])), format!("pause: {why}"));
    assert_eq!(line(&bench.decides(Decision::Approve)), "run git status");
}

#[test]
fn another_step_between_makes_it_no_loop() {
    let mut bench = begun();
    for _ in 0..4 {
        let action = bench.proposes(&["ls", "pwd"]);
        let action = bench.exits(action, 0);
        assert_eq!(line(&bench.exits(action, 0)), "call");
    }
}

#[test]
fn three_failures_of_one_kind_pause() {
    let mut bench = begun();
    for n in 0..3 {
        let action = bench.proposes(&[&format!("git log -{n}")]);
        let mut seen = ran(action, Some(128), Outcome::Ran);
        seen.stderr = "fatal".into();
        let action = bench.next(Input::Observed(seen));
        let expected = if n < 2 { "call" } else { "pause: `git` failed three times in a row." };
        assert_eq!(line(&action), expected);
    }
    assert_eq!(line(&bench.decides(Decision::Approve)), "call");
}

#[test]
fn three_refusals_pause_whatever_they_are_about() {
    let mut bench = begun();
    bench.proposes(&["sudo ls"]);
    bench.proposes(&["rm -rf /"]);
    let action = bench.proposes(&["git reset --hard"]);
    assert_eq!(line(&action), "pause: Three steps in a row were refused.");
    let action = bench.decides(Decision::Stop);
    assert_eq!(line(&action), "limit: Three steps in a row were refused.");
}

#[test]
fn searches_that_find_nothing_are_no_failures() {
    let mut bench = begun();
    for n in 0..4 {
        let action = bench.proposes(&[&format!("rg word{n}")]);
        assert_eq!(line(&bench.exits(action, 1)), "call");
    }
}

// Stop and cancel

#[test]
fn stop_at_a_question_ends_the_turn_and_records_every_step() {
    let mut bench = begun();
    bench.proposes(&["git add .", "ls"]);
    assert_eq!(line(&bench.decides(Decision::Stop)), "end Stopped");
    assert_eq!(bench.outcomes(), ["cmd_001 declined", "cmd_002 cancelled"]);
}

#[test]
fn a_cancel_at_any_moment_leaves_a_valid_history() {
    type Moment = fn(&mut Bench) -> Action;
    let moments: [(&str, Moment); 5] = [
        ("while the model is called", |bench| bench.next(Input::Cancelled)),
        ("while a broken reply is asked for again", |bench| {
            bench.says("prose");
            bench.next(Input::Cancelled)
        }),
        ("at a question", |bench| {
            bench.proposes(&["git add .", "ls"]);
            bench.next(Input::Cancelled)
        }),
        ("while a step runs", |bench| {
            let action = bench.proposes(&["ls", "pwd"]);
            bench.next(Input::Stopped(ran(action, None, Outcome::Cancelled)))
        }),
        ("in the middle of a reply", |bench| {
            bench.says_cut(r#"{"type":"cmd","message":"I lo"#, Cut::Cancelled)
        }),
    ];
    for (when, cancel) in moments {
        let mut bench = begun();
        assert_eq!(line(&cancel(&mut bench)), "end Cancelled", "{when}");
        let history = bench.history();
        assert!(history[0].content.starts_with("do it"), "{when}");
        assert!(history.windows(2).all(|pair| pair[0].role != pair[1].role), "{when}: {history:?}");
        let last = &history[history.len() - 1];
        assert_eq!(last.role, Role::User, "{when}");
        assert!(last.content.ends_with("{\"_event\":\"cancelled_by_user\"}"), "{when}: {last:?}");
        let proposed = history.iter().filter(|m| m.content.contains("\"program\":\"ls\"")).count();
        assert!(
            proposed == 0 || last.content.contains("cmd_002"),
            "{when}: every step has a result"
        );
    }
}

#[test]
fn what_was_streamed_before_a_cancel_is_kept_with_its_mark() {
    let mut bench = begun();
    bench.says_cut(r#"{"type":"chat","message":"half an ans"#, Cut::Cancelled);
    let replied = bench.replied();
    assert_eq!(
        (replied[0].message.as_str(), replied[0].cut),
        ("half an ans", Some(Cut::Cancelled))
    );
}

#[test]
fn the_risk_of_each_step_is_told_with_it() {
    let mut bench = begun();
    bench.proposes(&["sudo ls", "ls"]);
    let risks: Vec<&Risk> = bench.observations().map(|seen| &seen.risk).collect();
    assert_eq!((risks[0].tier, risks[1].tier), (Tier::L2, Tier::L0));
}
