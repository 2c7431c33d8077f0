//! Bots, commands and skills in a session: when they are read, and what the model gets of them.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use avocet::config::Paths;
use avocet::extensions::SearchPath;
use avocet::i18n::Lang;
use avocet::model::{Chunk, Model, ModelError, Request, Scripted};
use avocet::protocol::{
    Decision, Event, ExtensionOp, Extensions, ModelOp, Op, Params, QuestionOp, RuleOp, TurnOp,
};
use avocet::safety::Workspace;
use avocet::session::extensions::{ExtensionCache, FindPlaces};
use avocet::tools::Toolbox;
use avocet::tools::system::System;
use futures_util::stream::BoxStream;

use crate::support::bench::TestDir;
use crate::support::talk::{self, DONE, SessionClient, derefs_to_client};

fn write(bench: &TestDir, name: &str, text: &str) {
    let path = bench.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A bot and two commands, where the seed has its own.
fn seed() -> TestDir {
    let bench = TestDir::new();
    write(&bench, "home/.r9s/bots/reviewer.toml", "system_prompt = \"You review code.\"\n");
    write(&bench, "home/.r9s/commands/commit-msg.toml", "prompt = \"Describe:\\n!{git diff}\"\n");
    write(&bench, "home/.r9s/commands/summarize.toml", "prompt = \"Summarize this: {{args}}\"\n");
    bench
}

/// A model that keeps what it was asked, as JSON.
struct RecordingModel(Arc<Mutex<Vec<Request>>>);

impl Model for RecordingModel {
    fn name(&self) -> &str {
        "keeping"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        self.0.lock().unwrap().push(request.clone());
        Scripted::parse("x", DONE).unwrap().stream(request)
    }
}

struct ExtensionSession {
    bench: TestDir,
    client: SessionClient,
    asked: Arc<Mutex<Vec<Request>>>,
}

derefs_to_client!(ExtensionSession);

impl ExtensionSession {
    fn start(bench: TestDir) -> ExtensionSession {
        let paths = Paths::with_root(&bench.path("avocet"), bench.path("home"));
        let work = bench.work();
        let places = move |trusted: bool| {
            SearchPath::new(&paths, trusted.then_some(work.as_path()), &["help"])
        };
        ExtensionSession::with(bench, Arc::new(places), true)
    }

    fn with(bench: TestDir, places: FindPlaces, trusted: bool) -> ExtensionSession {
        let asked: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (ws, home) = (bench.work(), bench.path("home"));
        let world = System::new(&ws, &home, &[]);
        let mut parts = talk::parts(&ws, Arc::new(RecordingModel(Arc::clone(&asked))));
        parts.security.place = Workspace { trusted, ..Workspace::new(ws, home) };
        parts.security.world = Arc::new(world);
        parts.tools = Toolbox::new(vec![]);
        parts.extensions = ExtensionCache::new(places);
        ExtensionSession { bench, client: SessionClient::start(parts), asked }
    }

    async fn catalogue(&mut self) -> Extensions {
        self.next(|event| match event {
            Event::Catalogue(kept) => Some(*kept),
            _ => None,
        })
        .await
    }

    async fn notice(&mut self) -> String {
        self.client.notice().await.say.text(Lang::En)
    }

    async fn invokes(&mut self, name: &str, args: &str) -> String {
        let (name, args) = (name.to_owned(), args.to_owned());
        self.send(Op::Turn(TurnOp::Invoke { name, args, mentions: vec![] })).await;
        self.ended().await;
        self.last().messages.last().unwrap().text().into_owned()
    }

    async fn ended(&mut self) {
        self.next(|event| matches!(event, Event::TurnEnded { .. }).then_some(())).await;
    }

    fn last(&self) -> Request {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

#[tokio::test]
async fn a_session_opens_before_anything_is_read() {
    let (open, opened) = std::sync::mpsc::channel::<()>();
    let opened = Mutex::new(opened);
    let places: FindPlaces = Arc::new(move |_| {
        // Nothing is found before the test has seen the session open.
        let _ = opened.lock().unwrap().recv_timeout(Duration::from_secs(30));
        SearchPath::default()
    });
    let mut talk = ExtensionSession::with(TestDir::new(), places, true);
    talk.next(|event| matches!(event, Event::Facts(_)).then_some(())).await;
    open.send(()).unwrap();
    let kept = talk.catalogue().await;
    assert_eq!((kept.entries.len(), kept.bots.len()), (0, 0), "only what is built in");
}

#[tokio::test]
async fn a_command_uses_its_file_as_of_when_it_is_typed() {
    let mut talk = ExtensionSession::start(seed());
    let names: Vec<String> =
        talk.catalogue().await.entries.into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["commit-msg", "summarize"]);
    assert_eq!(talk.invokes("summarize", "focus on risks").await, "Summarize this: focus on risks");
    write(&talk.bench, "home/.r9s/commands/summarize.toml", "prompt = \"Now: {{args}}\"\n");
    assert_eq!(talk.invokes("summarize", "this").await, "Now: this");
    write(&talk.bench, "avocet/commands/late.toml", "prompt = \"Late\"\n");
    talk.send(Op::Extension(ExtensionOp::RefreshExtensions)).await;
    let late = talk.next(|event| match event {
        Event::Catalogue(kept) => kept.find("late").cloned(),
        _ => None,
    });
    assert_eq!(late.await.name, "late");
    talk.send(Op::Turn(TurnOp::Invoke {
        name: "sumarize".into(),
        args: String::new(),
        mentions: vec![],
    }))
    .await;
    assert!(talk.notice().await.contains("`summarize`"));
}

#[tokio::test]
async fn extensions_are_loaded_before_the_first_message_is_sent() {
    let bench = seed();
    let text = "---\nname: find-bug\ndescription: This skill should be used when it fails.\n---\n";
    write(&bench, "avocet/skills/find-bug/SKILL.md", text);
    let mut talk = ExtensionSession::start(bench);
    talk.send(Op::Turn(TurnOp::Submit { text: "hello".into() })).await;
    talk.ended().await;
    let told = talk.last().messages[0].text().into_owned();
    assert!(told.contains("- find-bug: This skill should be used when it fails."), "{told}");
}

#[tokio::test]
async fn the_skill_tool_is_offered_once_skills_exist() {
    let bench = TestDir::new();
    let mut talk = ExtensionSession::start(bench);
    talk.catalogue().await;
    let text = "---\nname: find-bug\ndescription: This skill should be used when it fails.\n---\n";
    write(&talk.bench, "avocet/skills/find-bug/SKILL.md", text);
    talk.send(Op::Extension(ExtensionOp::RefreshExtensions)).await;
    let tools = talk.next(|event| match event {
        Event::Facts(facts) => facts.tools.first().map(|tool| tool.name.clone()),
        _ => None,
    });
    assert_eq!(tools.await, "skill");
}

#[tokio::test]
async fn a_typed_skill_is_sent_with_the_folder_of_its_files() {
    let bench = TestDir::new();
    let text = "---\nname: pdf\ndescription: PDFs\n---\nRead ${SKILL_ROOT}/how.md for $1.\n";
    write(&bench, "work/.claude/skills/pdf/SKILL.md", text);
    let folder = bench.path("work/.claude/skills/pdf").display().to_string();
    let mut talk = ExtensionSession::start(bench);
    let sent = talk.invokes("pdf", "a.pdf").await;
    assert!(sent.ends_with(&format!("Read {folder}/how.md for a.pdf.\n")), "{sent}");
}

#[tokio::test]
async fn switching_bots_takes_effect_in_the_next_turn() {
    let bench = seed();
    write(&bench, "avocet/bots/warm.toml", "system_prompt = \"Be warm.\"\ntemperature = 1.5\n");
    let mut talk = ExtensionSession::start(bench);
    talk.send(Op::Model(ModelOp::SetBot { name: Some("warm".into()) })).await;
    assert!(talk.notice().await.contains("`warm`"));
    talk.send(Op::Turn(TurnOp::Submit { text: "hello".into() })).await;
    talk.ended().await;
    let request = talk.last();
    assert!(request.messages[0].text().contains("Be warm."));
    assert_eq!((request.params.temperature, request.params.top_p), (Some(1.5), None));
    talk.send(Op::Model(ModelOp::SetBot { name: Some("reviewr".into()) })).await;
    assert!(talk.notice().await.contains("`reviewer`"));
    talk.send(Op::Model(ModelOp::SetBot { name: None })).await;
    talk.notice().await;
    talk.send(Op::Turn(TurnOp::Submit { text: "again".into() })).await;
    talk.ended().await;
    assert!(!talk.last().messages[0].text().contains("Be warm."));
    assert_eq!(talk.last().params, Params::default());
}

#[tokio::test]
async fn project_extensions_load_once_the_folder_is_trusted() {
    let bench = TestDir::new();
    write(&bench, "work/.avocet/commands/ours.toml", "prompt = \"Ours\"\n");
    let paths = Paths::with_root(&bench.path("avocet"), bench.path("home"));
    let work = bench.work();
    let places =
        move |trusted: bool| SearchPath::new(&paths, trusted.then_some(work.as_path()), &[]);
    let mut talk = ExtensionSession::with(bench, Arc::new(places), false);
    assert!(talk.catalogue().await.entries.is_empty());
    talk.send(Op::Rules(RuleOp::Trust)).await;
    let ask = talk.next(|event| match event {
        Event::Asked(ask) => Some(ask.id),
        _ => None,
    });
    let ask = ask.await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    assert!(talk.catalogue().await.find("ours").is_some());
}
