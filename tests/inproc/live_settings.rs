//! Settings that change while a session runs: what has begun ends as it began, and the next request
//! and its steps have the new ones.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use avocet::i18n::{Lang, LocalizedText, session as phrases};
use avocet::model::Scripted;
use avocet::protocol::budget::{SpendLimit, SpendLimits};
use avocet::protocol::{
    Decision, Event, Observation, Op, Outcome, Page, PageRow, Question, QuestionOp, SandboxStatus,
    SettingRow, TurnOutcome,
};
use avocet::safety::{ClearedStep, Policy};
use avocet::session::Wanted;
use avocet::session::script_places::ScriptPlaces;
use avocet::session::settings::{ReloadedModels, ReloadedSettings, ReloadedTools, SettingsAccess};
use avocet::session::trust::TrustPrompt;
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool, ToolSpec, Toolbox};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::support::talk::{self, DONE, SessionClient};

/// Settings that a test changes; each change is taken over once.
#[derive(Clone, Default)]
struct Changes(Arc<Mutex<VecDeque<ReloadedSettings>>>);

impl Changes {
    fn add(&self, change: ReloadedSettings) {
        self.0.lock().unwrap().push_back(change);
    }
}

impl SettingsAccess for Changes {
    fn reload(&mut self) -> Option<ReloadedSettings> {
        self.0.lock().unwrap().pop_front()
    }

    fn set_trusted(&mut self, _: bool) -> Option<ReloadedSettings> {
        None
    }

    fn trust_prompt(&mut self) -> Option<TrustPrompt> {
        None
    }

    fn policy(&self) -> Policy {
        Policy::default()
    }

    fn rows(&self, _: &str, _: Lang) -> Vec<PageRow> {
        Vec::new()
    }

    fn editable(&self) -> Vec<SettingRow> {
        Vec::new()
    }

    fn overridden_by(&self, _: &str) -> Option<LocalizedText> {
        None
    }

    fn set(&mut self, _: &str, _: Option<&str>) -> Result<LocalizedText, LocalizedText> {
        Err(phrases::CONFIG_UNAVAILABLE.into())
    }
}

fn unchanged() -> ReloadedSettings {
    let page = || Page { title: LocalizedText::from(phrases::DOCTOR), rows: vec![] };
    ReloadedSettings {
        policy: Policy::default(),
        max_steps: Some(25),
        max_subagents: 4,
        spend_limits: SpendLimits::default(),
        check: Vec::new(),
        screen: Vec::new(),
        lang: None,
        models: None,
        tools: None,
        find_scripts: Arc::new(|_| ScriptPlaces::default()),
        doctor: Arc::new(move |_| async move { page() }.boxed()),
        platforms: Arc::new(page),
        notices: Vec::new(),
    }
}

/// Runs nothing, and says who would have.
struct NamedRunner {
    name: &'static str,
    status: SandboxStatus,
}

impl Tool for NamedRunner {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "exec", about: phrases::DOCTOR, prompt: "exec: run a program" }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let judged = step.judgement();
        let (step, risk) = (judged.step.clone(), judged.risk.clone());
        let done = Observation::not_run(step, "", risk, Outcome::Ran);
        let done = Observation { exit_code: Some(0), stdout: self.name.to_owned(), ..done };
        async move { done }.boxed()
    }

    fn sandbox_status(&self) -> BoxFuture<'static, Option<SandboxStatus>> {
        std::future::ready(Some(self.status)).boxed()
    }
}

fn runner(name: &'static str, status: SandboxStatus) -> Arc<dyn Tool> {
    Arc::new(NamedRunner { name, status })
}

fn session(folder: &Path, replies: &[&str]) -> (SessionClient, Changes) {
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let changes = Changes::default();
    let mut parts = talk::parts(folder, Arc::new(model));
    parts.tools = Toolbox::new(vec![runner("first", SandboxStatus::Held)]);
    parts.access.settings = Some(Box::new(changes.clone()));
    (SessionClient::start(parts), changes)
}

/// Approves the next step, and answers with what ran it and how the question described it.
async fn approve(talk: &mut SessionClient, before: impl FnOnce()) -> String {
    approve_noting(talk, before, &mut Vec::new()).await
}

/// The same, with the notices meanwhile.
async fn approve_noting(
    talk: &mut SessionClient,
    before: impl FnOnce(),
    notices: &mut Vec<String>,
) -> String {
    let (ask, question) = talk.next_question().await;
    assert!(matches!(question, Question::Step(_)), "{question:?}");
    before();
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    let mut ran_by = String::new();
    // The next request may be prepared before that is shown.
    let finished = |event| match event {
        Event::StepFinished(observation) => {
            ran_by.clone_from(&observation.stdout);
            Some(())
        }
        Event::Notice(notice) => {
            notices.push(notice.say.text(Lang::En));
            None
        }
        _ => None,
    };
    talk.next(finished).await;
    ran_by
}

fn touch(name: &str) -> String {
    talk::cmd("touch", &[name])
}

#[tokio::test]
async fn a_sandbox_that_changes_during_a_question_counts_for_the_next_request_and_not_for_the_step()
{
    let folder = crate::support::temp_dir();
    let (one, two) = (touch("one"), touch("two"));
    let (mut talk, changes) = session(folder.path(), &[&one, &two, DONE]);
    talk.submit("go").await;
    let world = System::new(folder.path(), folder.path(), &[]);
    let tools =
        ReloadedTools { tools: vec![runner("second", SandboxStatus::Off)], world: Arc::new(world) };
    let change = ReloadedSettings { tools: Some(tools), ..unchanged() };
    let mut notices = Vec::new();
    let add = || changes.add(change);
    assert_eq!(approve_noting(&mut talk, add, &mut notices).await, "first");
    if notices.is_empty() {
        notices.push(talk.notice().await.say.text(Lang::En));
    }
    assert_eq!(notices, ["Sandbox: off in your settings."]);
    assert_eq!(approve(&mut talk, || {}).await, "second");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn another_model_answers_the_next_request_of_a_running_turn() {
    let folder = crate::support::temp_dir();
    let (mut talk, changes) = session(folder.path(), &[&touch("one"), DONE]);
    talk.submit("go").await;
    let other = talk::chat("The other one answers.");
    let models = ReloadedModels {
        connect: Arc::new(move |_, _| {
            let model = Scripted::parse("other", &other).unwrap();
            Ok(talk::connected(Arc::new(model)))
        }),
        wanted: Some(Wanted::Mode(avocet::protocol::Mode::High)),
        mode: None,
        effort: None,
        profile: "other".into(),
        exposed: String::new(),
    };
    let change = ReloadedSettings { models: Some(models), ..unchanged() };
    assert_eq!(approve(&mut talk, || changes.add(change)).await, "first");
    let reply = |event| match event {
        Event::Replied(message) => Some(format!("{message:?}")),
        _ => None,
    };
    let reply = talk.next(reply).await;
    assert!(reply.contains("The other one answers."), "{reply}");
    assert_eq!(talk.facts(|_| true).await.profile, "other");
}

#[tokio::test]
async fn a_limit_of_steps_counts_in_the_running_turn() {
    let folder = crate::support::temp_dir();
    let steps: Vec<String> = ["one", "two", "three"].into_iter().map(touch).collect();
    let (mut talk, changes) = session(folder.path(), &[&steps[0], &steps[1], &steps[2], DONE]);
    talk.submit("go").await;
    let change = ReloadedSettings { max_steps: Some(1), ..unchanged() };
    approve(&mut talk, || changes.add(change)).await;
    let (ask, question) = talk.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    assert!(why.text(Lang::En).contains('1'), "{why:?}");
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Stop })).await;
    assert!(matches!(talk.ending().await, TurnOutcome::Limit { .. }));
}

#[tokio::test]
async fn a_limit_of_tokens_counts_before_the_next_request_of_a_running_turn() {
    let folder = crate::support::temp_dir();
    let (mut talk, changes) = session(folder.path(), &[&touch("one"), &touch("two"), DONE]);
    talk.submit("go").await;
    let turn = SpendLimit { cost: None, tokens: Some(1) };
    let spend_limits = SpendLimits { turn, ..SpendLimits::default() };
    let change = ReloadedSettings { spend_limits, ..unchanged() };
    approve(&mut talk, || changes.add(change)).await;
    let (ask, question) = talk.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    assert!(why.text(Lang::En).contains("limits.tokens.turn"), "{why:?}");
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Stop })).await;
    assert!(matches!(talk.ending().await, TurnOutcome::Limit { .. }));
}
