//! A session from outside: ops in, events out. The programs and the policy are real; the model says
//! what a test wants.

use std::path::Path;
use std::sync::Arc;

use avocet::context::window::Bounds;
use avocet::i18n::{Lang, LocalizedText, PhraseValue, session as phrases};
use avocet::model::{Model, ModelError};
use avocet::protocol::{
    AskId, Decision, Event, Notice, Op, Page, PageRow, Question, QuestionOp, SessionInfo,
    SessionOp, Submission, TurnOp, TurnOutcome,
};
use avocet::safety::redact::Redactor;
use avocet::safety::{Policy, Workspace};
use avocet::session::extensions::ExtensionCache;
use avocet::session::persistence::{Persistence, Replay, ResumeTarget};
use avocet::session::trust::TrustPrompt;
use avocet::session::{
    self, Callbacks, Connected, Handle, ModelAccess, Persona, Security, SessionAccess,
    SessionConfig,
};
use avocet::store::Store;
use avocet::tools::exec::{ChildEnvironment, Exec, Setup, StepLimits};
use avocet::tools::system::System;
use avocet::tools::{Toolbox, file};
use futures_util::FutureExt;

use super::wait::{PATIENCE, wide_limits};

/// What the redactor of [`parts`] knows.
pub const SECRET: &str = "sekret-value-1234";
pub const DONE: &str = r#"{"type":"chat","message":"Done.","data":{}}"#;

pub fn chat(text: &str) -> String {
    serde_json::json!({ "type": "chat", "message": text, "data": {} }).to_string()
}

/// A model's reply with one command.
pub fn cmd(program: &str, args: &[&str]) -> String {
    let command = serde_json::json!({ "program": program, "args": args });
    serde_json::json!({ "type": "cmd", "message": "A step.", "data": { "commands": [command] } })
        .to_string()
}

/// A model's reply with one tool.
pub fn tool(name: &str, input: serde_json::Value) -> String {
    let command = serde_json::json!({ "tool": name, "input": input });
    serde_json::json!({ "type": "cmd", "message": "A step.", "data": { "commands": [command] } })
        .to_string()
}

/// The way to a session.
pub struct SessionClient {
    pub handle: Handle,
}

/// Lets a test's own conversation, which holds a [`SessionClient`] as `client`, be talked to as
/// one.
macro_rules! derefs_to_client {
    ($talk:ty) => {
        impl std::ops::Deref for $talk {
            type Target = SessionClient;

            fn deref(&self) -> &SessionClient {
                &self.client
            }
        }

        impl std::ops::DerefMut for $talk {
            fn deref_mut(&mut self) -> &mut SessionClient {
                &mut self.client
            }
        }
    };
}

pub(crate) use derefs_to_client;

impl SessionClient {
    pub fn start(parts: SessionConfig) -> SessionClient {
        SessionClient { handle: session::start(parts) }
    }

    pub async fn send(&self, op: impl Into<Submission>) {
        self.handle.ops.send(op.into()).await.unwrap();
    }

    pub async fn submit(&self, text: &str) {
        self.send(Op::Turn(TurnOp::Submit { text: text.to_owned() })).await;
    }

    /// The next event that the pattern takes; what comes before it is passed over.
    pub async fn next<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                let event = self.handle.events.recv().await.expect("the session goes on");
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it comes")
    }

    pub async fn ending(&mut self) -> TurnOutcome {
        self.next(|event| match event {
            Event::TurnEnded { ending, .. } => Some(ending),
            _ => None,
        })
        .await
    }

    pub async fn next_question(&mut self) -> (AskId, Question) {
        self.next(|event| match event {
            Event::Asked(ask) => Some((ask.id, ask.question)),
            _ => None,
        })
        .await
    }

    /// Says yes to the next question.
    pub async fn approve_next(&mut self) {
        let (ask, _) = self.next_question().await;
        self.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    }

    /// The words of the next turn.
    pub async fn started(&mut self) -> String {
        self.next(|event| match event {
            Event::TurnStarted { text, .. } => Some(text),
            _ => None,
        })
        .await
    }

    /// One turn, to its end; what was told on the way.
    pub async fn turn(&mut self, text: &str) -> Vec<Event> {
        self.submit(text).await;
        self.until_it_ends().await
    }

    pub async fn until_it_ends(&mut self) -> Vec<Event> {
        let mut told = Vec::new();
        self.next(|event| {
            let over = matches!(event, Event::TurnEnded { .. });
            told.push(event);
            over.then_some(())
        })
        .await;
        told
    }

    pub async fn notice(&mut self) -> Notice {
        self.next(|event| match event {
            Event::Notice(notice) => Some(notice),
            _ => None,
        })
        .await
    }

    pub async fn facts(&mut self, mut wanted: impl FnMut(&SessionInfo) -> bool) -> SessionInfo {
        self.next(|event| match event {
            Event::Facts(facts) if wanted(&facts) => Some(*facts),
            _ => None,
        })
        .await
    }

    /// The next page, a line a row, in English.
    pub async fn page(&mut self) -> Vec<String> {
        let page = self
            .next(|event| match event {
                Event::Page(page) => Some(page),
                _ => None,
            })
            .await;
        page.rows.iter().map(row).collect()
    }

    /// Ends it, once everything is written.
    pub async fn close(mut self) {
        self.send(Op::Session(SessionOp::Shutdown)).await;
        self.next(|event| matches!(event, Event::Closed).then_some(())).await;
        self.handle.task.await.unwrap();
    }
}

pub fn row(row: &PageRow) -> String {
    let text = |value: &PhraseValue| value.text(Lang::En);
    match row {
        PageRow::Heading(value) | PageRow::Line(value) => text(value),
        PageRow::Pair { label, value } => format!("{}: {}", text(label), text(value)),
    }
}

pub fn connected(model: Arc<dyn Model>) -> Connected {
    Connected {
        model,
        provider: avocet::protocol::Provider::Scripted,
        base_url: String::new(),
        fallbacks: vec![],
        list: Arc::new(|| async { Ok::<_, ModelError>(vec!["a".into()]) }.boxed()),
    }
}

/// A session in a folder that is trusted, kept nowhere.
pub fn parts(folder: &Path, model: Arc<dyn Model>) -> SessionConfig {
    let world = System::new(folder, folder, &[]);
    let exec = exec(&world, wide_limits());
    let place = Workspace::new(folder, folder.join("home"));
    let page = || Page { title: LocalizedText::from(phrases::DOCTOR), rows: vec![] };
    let ways = Callbacks {
        doctor: Arc::new(move |_| async move { page() }.boxed()),
        platforms: Arc::new(page),
        languages: None,
        worktrees: None,
        status: Default::default(),
    };
    SessionConfig {
        persistence: Persistence::in_memory(),
        info: SessionInfo {
            cwd: folder.display().to_string(),
            max_steps: Some(25),
            ..SessionInfo::default()
        },
        model_access: ModelAccess {
            first: connected(model),
            effort: None,
            discover: None,
            connect: Arc::new(|_, _| Err(phrases::NO_MODELS.into())),
            callbacks: ways,
        },
        security: Security {
            policy: Policy::default(),
            place,
            world: Arc::new(world),
            redactor: Arc::new(Redactor::new([("key", SECRET)], [7; 16])),
            keep_rule: Box::new(|_, _| Ok(())),
            session: Default::default(),
            trust: TrustPrompt::without_question(),
        },
        tools: Toolbox::new(vec![Arc::new(exec)]),
        persona: Persona::default(),
        workspace_facts: Default::default(),
        extensions: ExtensionCache::empty(),
        bounds: Bounds::default(),
        opening_notices: vec![],
        approves_template_commands: false,
        counts_changed_files: false,
        user_notes: vec![],
        outputs: None,
        access: SessionAccess::default(),
    }
}

/// What runs programs, within these limits.
pub fn exec(world: &System, limits: StepLimits) -> Exec {
    let environment = ChildEnvironment { path: world.child_path(), ..ChildEnvironment::default() };
    Exec::new(Setup {
        shell: "/bin/sh".into(),
        environment,
        limits,
        redactor: None,
        lang: Lang::En,
    })
}

/// With the tools for files, and a place for old contents.
pub fn with_files(parts: &mut SessionConfig) {
    let folder = parts.security.place.workspace.clone();
    let home = parts.security.place.home.clone();
    let kept = file::Backups::new(folder.join(".kept"));
    let desk = file::FileToolState { backups: Some(kept), ..file::FileToolState::default() };
    parts.security.world = Arc::new(
        System::new(&folder, &home, &[])
            .with_read_tracker(desk.read_tracker.clone())
            .with_secrets(Arc::clone(&parts.security.redactor)),
    );
    parts.tools = Toolbox::new(file::all(&desk)).with_backups(desk.backups);
}

/// Kept in a folder of the folder; the last conversation goes on where there is one.
pub fn with_store(parts: &mut SessionConfig, resume: bool) {
    let store = Store::in_folder(parts.security.place.workspace.join(".data"));
    let resume = resume.then_some(ResumeTarget::Last);
    parts.persistence = Persistence { store, resume, replay: Replay::All };
}
