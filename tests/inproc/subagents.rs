//! Subagents of a session: tasks that a scripted model hands on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use avocet::config::Paths;
use avocet::extensions::SearchPath;
use avocet::i18n::Lang;
use avocet::model::{Chunk, Model, ModelError, Request, Scripted};
use avocet::protocol::{
    AgentRequest, ApprovalMode, Decision, Event, ExtensionKind, Observation, Op, Outcome, Question,
    QuestionOp, Report, SessionOp, SubagentInfo, TurnOp, TurnOutcome,
};
use avocet::session::SessionConfig;
use avocet::session::extensions::ExtensionCache;
use avocet::session::script_places::ScriptPlaces;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::talk::{self, DONE, SessionClient, chat, cmd, tool, with_files};

mod limits;

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
    let folder = crate::support::temp_dir();
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
async fn a_definition_with_a_broken_head_is_named_and_the_others_are_used() {
    let finder = "---\nname: finder\ndescription: Looks\n---\nLook.\n";
    let mut talk = start(&[&*task("finder", "x"), &chat("Found."), DONE], |_| {});
    let agents = talk.folder.path().join("home/.claude/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("finder.md"), finder).unwrap();
    std::fs::write(agents.join("broken.md"), "---\nname: [x\n---\nLook.\n").unwrap();
    talk.client.send(Op::Session(SessionOp::Report { report: Report::Agents })).await;
    let rows = talk.client.page().await.join("\n");
    assert!(rows.contains("finder: Looks"), "{rows}");
    assert!(rows.contains("explore: Finds things out"), "{rows}");
    let broken = rows.lines().find(|row| row.contains("broken")).unwrap_or_default();
    assert!(broken.contains("is not a usable name"), "{rows}");
    let events = talk.client.turn("go").await;
    assert_eq!(observations(&events)[0].stdout, "Found.");
    talk.client.close().await;
}

/// A reply with a task that goes on in the background.
fn background_task() -> String {
    tool("task", json!({ "description": "Look", "prompt": "x", "background": true }))
}

async fn request(talk: &Conversation, agent: &str, request: AgentRequest) {
    let agent = agent.to_owned();
    talk.client.send(Op::Session(SessionOp::Agent { agent, request })).await;
}

fn steer(text: &str) -> AgentRequest {
    AgentRequest::Steer { text: text.to_owned() }
}

/// The id of the next agent that begins a step.
async fn next_step_of_agent(talk: &mut Conversation) -> String {
    let step = |event: Event| match event {
        Event::Subagent { agent, happened, .. } => {
            matches!(*happened, Event::StepStarted { .. }).then_some(agent)
        }
        _ => None,
    };
    talk.client.next(step).await
}

#[tokio::test]
async fn the_user_stops_one_agent_and_the_turn_goes_on_with_the_other() {
    let sleep = cmd("sleep", &["60"]);
    let mut talk = start(&[&*two_tasks(), &sleep, &sleep, &chat("Looked."), DONE], |_| {});
    talk.client.submit("wait").await;
    let first = next_step_of_agent(&mut talk).await;
    let second = next_step_of_agent(&mut talk).await;
    request(&talk, &first, AgentRequest::Stop).await;
    let is_end = |event: Event| is_end_of_agent(&event).then_some(());
    talk.client.next(is_end).await;
    request(&talk, &second, AgentRequest::Stop).await;
    let events = talk.client.until_it_ends().await;
    let results = observations(&events);
    assert!(results.iter().all(|seen| seen.outcome == Outcome::Cancelled), "{events:#?}");
    assert!(results[0].stderr.starts_with("The user stopped the agent"), "{}", results[0].stderr);
    let ending = |event: &Event| matches!(event, Event::TurnEnded { ending, .. } if *ending == TurnOutcome::Done);
    assert!(ending(events.last().unwrap()), "the turn itself is not stopped");
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_that_is_stopped_in_its_question_withdraws_it() {
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x" }));
    let mut talk = start(&[&*task("general", "Write it."), &write, DONE], with_files);
    talk.client.submit("write").await;
    let (ask, _) = talk.client.next_question().await;
    request(&talk, "cmd_001", AgentRequest::Stop).await;
    let events = talk.client.until_it_ends().await;
    let closed =
        |event: &Event| matches!(event, Event::QuestionClosed { ask: closed } if *closed == ask);
    assert!(events.iter().any(closed), "{events:#?}");
    assert_eq!(observations(&events)[0].outcome, Outcome::Cancelled);
    assert!(!talk.folder.path().join("a.txt").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_reads_a_message_of_the_user_before_its_next_request() {
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x" }));
    let mut talk =
        start(&[&*task("general", "Write it."), &write, &chat("Only read."), DONE], with_files);
    talk.client.submit("write").await;
    let (ask, _) = talk.client.next_question().await;
    request(&talk, "cmd_001", steer("Do not write.")).await;
    let decision = Decision::Reject { word: None };
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = talk.client.until_it_ends().await;
    let is_read = |event: &Event| match event {
        Event::Subagent { happened, .. } => {
            matches!(&**happened, Event::Steered { text, .. } if text == "Do not write.")
        }
        _ => false,
    };
    assert!(events.iter().any(is_read), "{events:#?}");
    assert_eq!(observations(&events)[0].stdout, "Only read.");
    talk.client.close().await;
}

#[tokio::test]
async fn a_message_to_an_agent_that_has_ended_is_answered_with_one_sentence() {
    let mut talk = start(&[&*task("general", "x"), &chat("Seen."), DONE], |_| {});
    talk.client.turn("go").await;
    request(&talk, "cmd_001", steer("Wait.")).await;
    assert_eq!(talk.client.notice().await.say.text(Lang::En), "This agent has ended.");
    talk.client.close().await;
}

/// Answers the session and its agents from lists of their own, and keeps what it was sent. An agent
/// is answered once the test lets it end.
#[derive(Clone, Default)]
struct TwoModels {
    session: Arc<Mutex<VecDeque<String>>>,
    agents: Arc<Mutex<VecDeque<String>>>,
    agents_may_end: Arc<Notify>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl TwoModels {
    fn new(session: &[String], agents: &[String]) -> TwoModels {
        let list = |replies: &[String]| Arc::new(Mutex::new(replies.iter().cloned().collect()));
        TwoModels { session: list(session), agents: list(agents), ..TwoModels::default() }
    }

    fn start(&self) -> Conversation {
        let model = Arc::new(self.clone());
        start(&[], move |parts| parts.model_access.first = talk::connected(model))
    }
}

impl Model for TwoModels {
    fn name(&self) -> &str {
        "two"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let text: Vec<String> = request.messages.iter().map(|it| it.text().into_owned()).collect();
        let of_agent = text[0].contains("for another agent");
        let replies = if of_agent { &self.agents } else { &self.session };
        let reply = replies.lock().unwrap().pop_front().unwrap_or_else(|| chat("Done."));
        self.sent.lock().unwrap().push(text.join("\n"));
        let agents_may_end = of_agent.then(|| Arc::clone(&self.agents_may_end));
        let wait = async move {
            if let Some(agents_may_end) = agents_may_end {
                agents_may_end.notified().await;
            }
            futures_util::stream::iter([Ok(Chunk::Text(reply)), Ok(Chunk::Finished(None))])
        };
        wait.flatten_stream().boxed()
    }
}

#[tokio::test]
async fn a_result_from_the_background_is_read_before_the_next_request() {
    let ask = tool("ask", json!({ "question": "Which?", "choices": ["a", "b"] }));
    let models = TwoModels::new(&[background_task(), ask], &[chat("The cart is empty.")]);
    let mut talk = models.start();
    talk.client.submit("go").await;
    let (ask, _) = talk.client.next_question().await;
    // The turn waits in its question until the agent has ended.
    models.agents_may_end.notify_one();
    talk.client.facts(|facts| facts.agents.unread == 1).await;
    let decision = Decision::Choose { index: 0 };
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    talk.client.facts(|facts| facts.agents.is_empty()).await;
    assert_eq!(talk.client.ending().await, TurnOutcome::Done);
    let sent = models.sent.lock().unwrap().clone();
    let last = sent.last().unwrap();
    assert!(last.contains("The agent general (cmd_001) ended:\nThe cart is empty."), "{last}");
    talk.client.close().await;
}

#[tokio::test]
async fn a_turn_starts_for_a_result_only_where_it_is_asked_for_and_none_runs() {
    let models = TwoModels::new(&[background_task()], &[]);
    let mut talk = models.start();
    let events = talk.client.turn("go").await;
    let [observation] = observations(&events)[..] else { panic!("{events:#?}") };
    assert!(observation.stdout.contains("background"), "{}", observation.stdout);
    models.agents_may_end.notify_one();
    talk.client.facts(|facts| facts.agents.running == 0).await;
    talk.client.send(Op::Turn(TurnOp::ReadResults)).await;
    talk.client.send(Op::Turn(TurnOp::ReadResults)).await;
    let has_unread = |event: Event| match event {
        Event::TurnStarted { text, .. } => Some(text),
        _ => None,
    };
    assert!(talk.client.next(has_unread).await.contains("in the background"));
    assert_eq!(talk.client.ending().await, TurnOutcome::Done);
    let facts = talk.client.facts(|facts| facts.agents.is_empty()).await;
    assert_eq!(facts.turns, 2, "the second request found nothing to read");
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_in_the_background_that_the_user_stops_starts_nothing() {
    let ask = tool("ask", json!({ "question": "Which?", "choices": ["a", "b"] }));
    let mut talk = start(&[&*background_task(), &ask, &ask], |_| {});
    talk.client.submit("go").await;
    talk.client.next_question().await;
    talk.client.send(Op::Turn(TurnOp::Stop)).await;
    let facts = talk.client.facts(|facts| facts.agents.running == 0).await;
    assert_eq!(facts.agents.unread, 0);
    talk.client.close().await;
}

fn is_end_of_agent(event: &Event) -> bool {
    matches!(event, Event::Subagent { happened, .. } if matches!(**happened, Event::TurnEnded { .. }))
}

/// The session also knows these scripts.
fn with_scripts(config: &mut SessionConfig, files: &[(&str, &str)]) {
    with_files(config);
    let folder = config.security.place.cwd.join("scripts");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let extensions = std::mem::replace(&mut config.extensions, ExtensionCache::empty());
    config.extensions = extensions.with_scripts(Arc::new(move |_| ScriptPlaces {
        folders: vec![folder.clone()],
        trusted: vec![folder.clone()],
        ..ScriptPlaces::default()
    }));
}

async fn run(talk: &mut Conversation, script: &str) {
    let (script, args) = (script.to_owned(), String::new());
    talk.client.send(Op::Turn(TurnOp::RunScript { script, args })).await;
}

#[tokio::test]
async fn a_script_hands_a_task_to_the_agent_which_asks_for_its_own_steps() {
    let script = "$agent: {task: Write it, tools: [file.write]}\n$print: \"?=LatestResult\"\n";
    let write = tool("file.write", json!({ "path": "a.txt", "content": "x\n" }));
    let mut talk = start(&[&*cmd("ls", &[]), &write, &chat("Written.")], |config| {
        with_scripts(config, &[("go.ai.yaml", script)]);
    });
    run(&mut talk, "go").await;
    let (ask, question) = talk.client.next_question().await;
    let Question::Step(asked) = question else { panic!("{question:?}") };
    assert_eq!(asked.agent.as_deref(), Some("general"));
    talk.client.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    let events = talk.client.until_it_ends().await;
    let steps = observations(&events);
    let [seen] = &steps[..] else { panic!("{events:#?}") };
    assert!(seen.stdout.starts_with("Written.\n\nChanged files:\n- "), "{}", seen.stdout);
    assert!(talk.folder.path().join("a.txt").exists());
    let printed = events.iter().any(
        |event| matches!(event, Event::Replied(reply) if reply.message.starts_with("Written.")),
    );
    assert!(printed, "{events:#?}");
    talk.client.close().await;
}

#[tokio::test]
async fn a_script_narrows_the_agent_and_catches_that_it_has_no_such_tool() {
    let script = "$agent: {task: Look, mode: plan}\n- $try: {$agent: {task: Look, tools: [nosuch]}}\n  catch: {$print: \"?=error.message\"}\n";
    let mut talk = start(&[&chat("Looked.")], |config| {
        with_scripts(config, &[("go.ai.yaml", script)]);
    });
    run(&mut talk, "go").await;
    let events = talk.client.until_it_ends().await;
    let [info] = started(&events)[..] else { panic!("{events:#?}") };
    assert_eq!((info.name.as_str(), info.mode), ("general", ApprovalMode::Plan));
    let caught = events.iter().any(
        |event| matches!(event, Event::Replied(reply) if reply.message.contains("no tool `nosuch`")),
    );
    assert!(caught, "{events:#?}");
    talk.client.close().await;
}

#[tokio::test]
async fn a_script_of_a_folder_of_scripts_is_a_command_and_a_part_of_others_is_none() {
    let files = [
        ("greet.ai.yaml", "---\ntitle: Greets\ninput: [{who: {required: true}}]\n---\nuser: hi\n"),
        ("ana.ai.yaml", "---\ntype: char\nname: Ana\n---\n"),
        ("torn.ai.yaml", "user: a: b\n"),
    ];
    let mut talk = start(&[DONE], |config| with_scripts(config, &files));
    let catalogue = |event| match event {
        Event::Catalogue(extensions) => Some(extensions),
        _ => None,
    };
    let extensions = talk.client.next(catalogue).await;
    let scripts = extensions.of_kind(ExtensionKind::Script);
    let shown: Vec<(&str, &str, bool)> = scripts
        .map(|entry| (entry.name.as_str(), entry.hint.as_str(), entry.can_be_typed()))
        .collect();
    assert_eq!(shown, [("greet", "<who>", true), ("torn", "", true)]);
    talk.client.close().await;
}
