//! Subagents of a session: tasks that a scripted model hands on.

use std::sync::Arc;

use avocet::config::Paths;
use avocet::extensions::SearchPath;
use avocet::i18n::Lang;
use avocet::model::Scripted;
use avocet::protocol::{
    ApprovalMode, Decision, Event, Observation, Op, Outcome, Question, QuestionOp, SubagentInfo,
    TurnOp, TurnOutcome,
};
use avocet::session::SessionConfig;
use avocet::session::extensions::ExtensionCache;
use serde_json::json;

use crate::support::talk::{self, DONE, SessionClient, chat, cmd, tool, with_files};

/// A reply with a task for this agent.
fn task(agent: &str, prompt: &str) -> String {
    tool("task", json!({ "description": "Look", "prompt": prompt, "agent": agent }))
}

/// A reply with two tasks.
fn two_tasks() -> String {
    let one = |name: &str| {
        let input = json!({ "description": name, "prompt": "Look." });
        json!({ "tool": "task", "input": input })
    };
    let commands = [one("first"), one("second")];
    json!({ "type": "cmd", "message": "Two.", "data": { "commands": commands } }).to_string()
}

struct Conversation {
    client: SessionClient,
    folder: tempfile::TempDir,
}

fn start(replies: &[&str], change: impl FnOnce(&mut SessionConfig)) -> Conversation {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(&real, Arc::new(model));
    let paths = Paths::with_root(&real.join("own"), real.join("home"));
    parts.extensions = ExtensionCache::new(Arc::new(move |_| SearchPath::new(&paths, None, &[])));
    change(&mut parts);
    Conversation { client: SessionClient::start(parts), folder }
}

fn observations(events: &[Event]) -> Vec<&Observation> {
    let seen = events.iter().filter_map(|event| match event {
        Event::StepFinished(seen) => Some(seen.as_ref()),
        _ => None,
    });
    seen.collect()
}

fn started(events: &[Event]) -> Vec<&SubagentInfo> {
    let infos = events.iter().filter_map(|event| match event {
        Event::SubagentStarted(info) => Some(info.as_ref()),
        _ => None,
    });
    infos.collect()
}

#[tokio::test]
async fn a_task_comes_back_as_one_result_and_its_steps_stay_with_the_agent() {
    let list = cmd("ls", &[]);
    let replies = [&*task("explore", "What is here?"), &list, &chat("Two files."), DONE];
    let mut talk = start(&replies, |_| {});
    let events = talk.client.turn("look around").await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert_eq!((seen.stdout.as_str(), seen.exit_code), ("Two files.", Some(0)));
    let [info] = started(&events)[..] else { panic!("{events:#?}") };
    assert_eq!((info.agent.as_str(), info.name.as_str()), (&*seen.step.id, "explore"));
    assert_eq!((info.about.as_str(), info.mode), ("Look", ApprovalMode::Plan));
    let inner: Vec<&Event> = events
        .iter()
        .filter_map(|event| match event {
            Event::Subagent { agent, happened, .. } if *agent == info.agent => Some(&**happened),
            _ => None,
        })
        .collect();
    let is_step = |event: &&&Event| matches!(event, Event::StepFinished(seen) if seen.step.id == format!("{}_001", info.agent));
    assert_eq!(inner.iter().filter(is_step).count(), 1, "{inner:#?}");
    assert!(matches!(inner.last(), Some(Event::TurnEnded { ending: TurnOutcome::Done, .. })));
    talk.client.close().await;
}

#[tokio::test]
async fn tasks_of_one_reply_run_at_the_same_time() {
    let done = chat("Looked.");
    let replies = [&*two_tasks(), &done, &done, DONE];
    let mut talk = start(&replies, |_| {});
    let events = talk.client.turn("look twice").await;
    let results: Vec<&str> =
        observations(&events).iter().map(|seen| seen.stdout.as_str()).collect();
    assert_eq!(results, ["Looked.", "Looked."]);
    let place = |wanted: fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let both = events.iter().rposition(|event| matches!(event, Event::SubagentStarted(_)));
    let ended = place(|event| matches!(event, Event::StepFinished(_)));
    assert!(both.unwrap() < ended, "both began before one came back");
    talk.client.close().await;
}

#[tokio::test]
async fn a_question_of_an_agent_has_its_name_and_a_rejection_goes_to_the_agent() {
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x" }));
    let replies = [&*task("general", "Write it."), &write, &chat("I may not."), DONE];
    let mut talk = start(&replies, with_files);
    talk.client.submit("write").await;
    let (ask, question) = talk.client.next_question().await;
    let Question::Step(asked) = question else { panic!("{question:?}") };
    assert_eq!(asked.agent.as_deref(), Some("general"));
    let decision = Decision::Reject { word: None };
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = talk.client.until_it_ends().await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert_eq!(seen.stdout, "I may not.");
    assert!(!talk.folder.path().join("a.txt").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn what_an_agent_changed_is_named_in_its_result_and_can_be_undone() {
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x\n" }));
    let replies = [&*task("general", "Write it."), &write, &chat("Written."), DONE];
    let mut talk = start(&replies, with_files);
    talk.client.submit("write").await;
    talk.client.approve_next().await;
    let events = talk.client.until_it_ends().await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert!(seen.stdout.starts_with("Written.\n\nChanged files:\n- "), "{}", seen.stdout);
    assert!(seen.stdout.ends_with("a.txt +1 -0"), "{}", seen.stdout);
    let file = talk.folder.path().join("a.txt");
    assert!(file.exists());
    talk.client.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    talk.client.next(|event| matches!(event, Event::Undone { .. }).then_some(())).await;
    assert!(!file.exists());
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_that_only_reads_changes_nothing_whatever_the_mode() {
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x" }));
    let replies = [&*task("explore", "Write it."), &write, &chat("Refused."), DONE];
    let mut talk = start(&replies, |parts| {
        with_files(parts);
        parts.security.policy.approval = ApprovalMode::Edits;
    });
    let events = talk.client.turn("write").await;
    assert!(!events.iter().any(|event| matches!(event, Event::Asked(_))), "{events:#?}");
    assert!(!talk.folder.path().join("a.txt").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_hands_nothing_on() {
    let replies = [&*task("general", "Ask another."), &task("general", "x"), &chat("Alone."), DONE];
    let mut talk = start(&replies, |_| {});
    let events = talk.client.turn("go").await;
    assert_eq!(started(&events).len(), 1, "{events:#?}");
    talk.client.close().await;
}

#[tokio::test]
async fn an_unknown_agent_and_a_model_that_fails_are_told_as_failures() {
    let mut talk = start(&[&*task("nobody", "x"), DONE], |_| {});
    let events = talk.client.turn("go").await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert_eq!(seen.exit_code, Some(1));
    assert!(seen.stderr.contains("nobody"), "{}", seen.stderr);
    talk.client.close().await;

    // The script has no more replies.
    let mut talk = start(&[&*task("general", "x")], |_| {});
    let events = talk.client.turn("go").await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert_eq!(seen.exit_code, Some(1));
    let note = seen.note.as_ref().unwrap().text(Lang::En);
    assert!(note.contains("did not finish"), "{note}");
    talk.client.close().await;
}

#[tokio::test]
async fn stopping_the_turn_stops_its_agents() {
    let sleep = cmd("sleep", &["60"]);
    let mut talk = start(&[&*two_tasks(), &sleep, &sleep], |_| {});
    talk.client.submit("wait").await;
    let is_step = |event: Event| {
        let Event::Subagent { happened, .. } = event else { return None };
        matches!(*happened, Event::StepStarted { .. }).then_some(())
    };
    talk.client.next(is_step).await;
    talk.client.next(is_step).await;
    talk.client.send(Op::Turn(TurnOp::Stop)).await;
    let events = talk.client.until_it_ends().await;
    let results = observations(&events);
    assert_eq!(results.len(), 2, "{events:#?}");
    assert!(results.iter().all(|seen| seen.outcome == Outcome::Cancelled));
    let ended =
        |event: &Event| matches!(event, Event::TurnEnded { ending: TurnOutcome::Cancelled, .. });
    assert!(ended(events.last().unwrap()));
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_in_the_background_tells_its_result_with_the_next_message() {
    let input = json!({ "description": "Look", "prompt": "x", "background": true });
    // The model's answer and that of the agent are the same, as either may be the first.
    let mut talk = start(&[&*tool("task", input), &chat("Seen."), &chat("Seen."), DONE], |_| {});
    let events = talk.client.turn("go").await;
    let [seen] = observations(&events)[..] else { panic!("{events:#?}") };
    assert!(seen.stdout.contains("background"), "{}", seen.stdout);
    let has_ended = events.iter().any(is_end_of_agent);
    if !has_ended {
        talk.client.next(|event| is_end_of_agent(&event).then_some(())).await;
    }
    talk.client.close().await;
}

fn is_end_of_agent(event: &Event) -> bool {
    matches!(event, Event::Subagent { happened, .. } if matches!(**happened, Event::TurnEnded { .. }))
}
