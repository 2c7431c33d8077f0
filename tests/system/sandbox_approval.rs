//! A session whose steps run in the sandbox: what a question says about it, what follows when a
//! shell command of a template or a step of a script is denied, and what happens without a sandbox.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use avocet::i18n::{Lang, Phrase, safety as phrases, sandbox as held};
use avocet::model::Scripted;
use avocet::prompt::template::{Template, TemplateForm, TemplateValues};
use avocet::protocol::{
    Decision, Event, Observation, Op, Prompt, Question, QuestionOp, Risk, SandboxMode,
    SandboxStatus, StepQuestion, TurnOp, TurnOutcome,
};
use avocet::safety::ClearedStep;
use avocet::session::SessionConfig;
use avocet::session::extensions::ExtensionCache;
use avocet::session::script_places::ScriptPlaces;
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::sandbox::{Sandbox, SandboxPaths};
use avocet::tools::system::System;
use avocet::tools::{PipedOutput, RunControl, ShellInput, Tool, ToolSpec, Toolbox};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use pretty_assertions::assert_eq;

use crate::support::skip::{Reason, skip};
use crate::support::talk::{DONE, SessionClient, cmd, parts, row};
use crate::support::wait::wide_limits;

const DENIED: &str = "sandbox.denied";

/// A workspace and a folder outside of it.
struct SandboxSession {
    _root: tempfile::TempDir,
    at: PathBuf,
}

impl SandboxSession {
    fn new() -> SandboxSession {
        let root = crate::support::temp_dir();
        let at = root.path().canonicalize().unwrap();
        for folder in ["ws", "ws/home", "outside"] {
            std::fs::create_dir(at.join(folder)).unwrap();
        }
        std::fs::write(at.join("ws/a.txt"), "one\n").unwrap();
        SandboxSession { _root: root, at }
    }

    fn ws(&self) -> PathBuf {
        self.at.join("ws")
    }

    fn outside(&self) -> PathBuf {
        self.at.join("outside/new")
    }

    fn sandbox(&self, setting: SandboxMode) -> Sandbox {
        let system = System::new(&self.ws(), &self.ws().join("home"), &[]);
        let places = SandboxPaths {
            workspace: self.ws(),
            home: self.ws().join("home"),
            programs: system.folders().to_vec(),
            own: vec![self.at.join("own")],
            ..SandboxPaths::default()
        };
        Sandbox::new(setting, places)
    }

    fn exec(&self, sandbox: Sandbox) -> Exec {
        let system = System::new(&self.ws(), &self.ws().join("home"), &[]);
        let path = system.child_path();
        Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment: ChildEnvironment { path, ..ChildEnvironment::default() },
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        })
        .with_sandbox(Arc::new(sandbox))
    }

    fn parts(&self, replies: &[&str], tool: Arc<dyn Tool>) -> SessionConfig {
        let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
        let mut parts = parts(&self.ws(), Arc::new(model));
        parts.tools = Toolbox::new(vec![tool]);
        parts
    }

    /// `None` where this machine holds nothing.
    fn sandboxed_parts(&self, replies: &[&str]) -> Option<SessionConfig> {
        let sandbox = self.sandbox(SandboxMode::Work);
        let is_there = sandbox.status() != SandboxStatus::Absent;
        is_there.then(|| self.parts(replies, Arc::new(self.exec(sandbox))))
    }
}

fn says(risk: &Risk, rule: &str) -> String {
    let reason = risk.reasons.iter().find(|reason| reason.rule == rule);
    reason.map(|reason| reason.say.text(Lang::En)).unwrap_or_default()
}

fn prompt(text: &str) -> Op {
    let template = Template::parse(text, TemplateForm::Braces).unwrap();
    let prompt = Prompt {
        shown: "/make".into(),
        parts: template.fill(&TemplateValues::new("", None)),
        ..Prompt::default()
    };
    Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })
}

async fn decides(client: &SessionClient, ask: avocet::protocol::AskId, decision: Decision) {
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
}

#[tokio::test]
async fn a_template_command_blocked_by_the_sandbox_asks_to_run_with_that_opened() {
    let ground = SandboxSession::new();
    let Some(parts) = ground.sandboxed_parts(&[DONE]) else { return skip(Reason::NoSandbox) };
    let mut client = SessionClient::start(parts);
    client.send(prompt("Made: !{touch ../outside/new && echo made}")).await;
    let (ask, question) = client.next_question().await;
    let Question::Pieces { pieces, .. } = question else { panic!("{question:?}") };
    assert!(says(&pieces[0].risk, "sandbox.work").starts_with("In the sandbox"), "{pieces:?}");
    decides(&client, ask, Decision::Approve).await;
    let (ask, question) = client.next_question().await;
    let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
    assert_eq!(risk.rule, DENIED);
    let named = ground.outside().display().to_string();
    assert!(says(&risk, DENIED).contains(&named), "{risk:?}");
    assert!(!ground.outside().exists());
    decides(&client, ask, Decision::Approve).await;
    assert_eq!(client.ending().await, TurnOutcome::Done);
    assert!(ground.outside().exists());
}

#[tokio::test]
async fn a_template_command_stays_sandboxed_without_explicit_approval() {
    for decision in [
        Decision::Reject { word: None },
        Decision::Dismiss,
        Decision::ApproveAll { steps: vec!["cmd_002".into()] },
    ] {
        let ground = SandboxSession::new();
        let Some(mut parts) = ground.sandboxed_parts(&[DONE]) else {
            return skip(Reason::NoSandbox);
        };
        parts.approves_template_commands = true;
        let mut client = SessionClient::start(parts);
        client.send(prompt("Made: !{touch ../outside/new}")).await;
        let (ask, question) = client.next_question().await;
        assert!(
            matches!(&question, Question::Step(StepQuestion { risk, .. }) if risk.rule == DENIED)
        );
        decides(&client, ask, decision).await;
        assert!(matches!(client.ending().await, TurnOutcome::Unsent { .. }));
        assert!(!ground.outside().exists());
    }
}

#[tokio::test]
async fn a_read_only_command_says_it_writes_only_in_a_temporary_folder() {
    let ground = SandboxSession::new();
    let Some(parts) = ground.sandboxed_parts(&[DONE]) else { return skip(Reason::NoSandbox) };
    let mut client = SessionClient::start(parts);
    client.send(prompt("It is: !{cat a.txt}")).await;
    let (ask, question) = client.next_question().await;
    let Question::Pieces { pieces, .. } = question else { panic!("{question:?}") };
    let said = says(&pieces[0].risk, "sandbox.work");
    assert!(said.contains("only temporary files") && said.contains("closed"), "{said}");
    decides(&client, ask, Decision::Approve).await;
    assert_eq!(client.ending().await, TurnOutcome::Done);
}

const MAKES: &str =
    "---\ntitle: makes a file\n---\n$exec: {id: exec, args: {program: sh, args: [make.sh]}}\n";

#[tokio::test]
async fn a_script_step_blocked_by_the_sandbox_asks_again() {
    for (decision, made) in [(Decision::Approve, true), (Decision::Reject { word: None }, false)] {
        let ground = SandboxSession::new();
        let Some(mut parts) = ground.sandboxed_parts(&[DONE]) else {
            return skip(Reason::NoSandbox);
        };
        std::fs::write(ground.ws().join("makes.ai.yaml"), MAKES).unwrap();
        std::fs::write(ground.ws().join("make.sh"), "touch ../outside/new").unwrap();
        let trusted = vec![ground.ws()];
        parts.extensions = ExtensionCache::empty().with_scripts(Arc::new(move |_| ScriptPlaces {
            folders: vec![],
            trusted: trusted.clone(),
            ..ScriptPlaces::default()
        }));
        let mut client = SessionClient::start(parts);
        client
            .send(Op::Turn(TurnOp::RunScript {
                script: "makes.ai.yaml".into(),
                args: String::new(),
            }))
            .await;
        let (ask, question) = client.next_question().await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
        assert!(says(&risk, "sandbox.work").starts_with("In the sandbox"), "{risk:?}");
        decides(&client, ask, Decision::Approve).await;
        let (ask, question) = client.next_question().await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
        assert_eq!(risk.rule, DENIED);
        decides(&client, ask, decision).await;
        client.ending().await;
        assert_eq!(ground.outside().exists(), made);
    }
}

#[tokio::test]
async fn each_sandbox_setting_is_shown_by_question_session_info_and_doctor() {
    let rows: [(SandboxMode, SandboxStatus, &str, Phrase, Phrase); 3] = [
        (
            SandboxMode::Work,
            SandboxStatus::Held,
            "sandbox.work",
            phrases::SANDBOX_WORK,
            held::HELD_L1,
        ),
        (
            SandboxMode::Read,
            SandboxStatus::ReadOnly,
            "sandbox.none",
            phrases::SANDBOX_READ,
            held::FREE_L1,
        ),
        (SandboxMode::Off, SandboxStatus::Off, "sandbox.none", phrases::SANDBOX_OFF, held::SET_OFF),
    ];
    for (setting, shelter, rule, said, shown) in rows {
        let ground = SandboxSession::new();
        let sandbox = ground.sandbox(setting);
        if sandbox.status() == SandboxStatus::Absent {
            return skip(Reason::NoSandbox);
        }
        let doctor: Vec<String> = sandbox.rows().iter().map(row).collect();
        assert!(doctor.iter().any(|row| row.contains(shown.en)), "{doctor:?}");
        let parts = ground.parts(&[&cmd("touch", &["x"]), DONE], Arc::new(ground.exec(sandbox)));
        let mut client = SessionClient::start(parts);
        client.facts(|facts| facts.shelter == shelter).await;
        client.submit("go").await;
        let (_, question) = client.next_question().await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
        let start = said.en.split('{').next().unwrap();
        assert!(says(&risk, rule).starts_with(start), "{setting:?}: {risk:?}");
    }
}

#[tokio::test]
async fn a_kernel_without_landlock_is_reported_once() {
    let told = Arc::new(AtomicUsize::new(0));
    let mut heard = Vec::new();
    for _ in 0..2 {
        let ground = SandboxSession::new();
        let exec = ground.exec(Sandbox::unavailable(SandboxMode::Work, held::NO_KERNEL));
        let mut parts = ground.parts(&[DONE], Arc::new(exec));
        let told = Arc::clone(&told);
        parts.security.trust.mark_sandbox_warning =
            Box::new(move || told.fetch_add(1, Ordering::Relaxed) == 0);
        let mut client = SessionClient::start(parts);
        client.facts(|facts| facts.shelter == SandboxStatus::Absent).await;
        for event in client.turn("go").await {
            if let Event::Notice(notice) = event {
                heard.push(notice.say);
            }
        }
    }
    assert_eq!(heard, [held::TOLD_ABSENT.into()]);
}

/// Programs on a machine that takes for ever to say at the start that it has no sandbox.
struct SlowProbeTool {
    exec: Exec,
    asked: AtomicUsize,
}

impl Tool for SlowProbeTool {
    fn spec(&self) -> ToolSpec {
        self.exec.spec()
    }

    fn run(&self, step: ClearedStep, watch: RunControl) -> BoxFuture<'static, Observation> {
        self.exec.run(step, watch)
    }

    fn run_piped(
        &self,
        step: ClearedStep,
        input: ShellInput,
        watch: RunControl,
    ) -> BoxFuture<'static, PipedOutput> {
        self.exec.run_piped(step, input, watch)
    }

    fn sandbox_status(&self) -> BoxFuture<'static, Option<SandboxStatus>> {
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            0 => std::future::pending().boxed(),
            _ => self.exec.sandbox_status(),
        }
    }
}

const PRINTS: &str =
    "---\ntitle: prints\n---\n$exec: {id: exec, args: {program: sed, args: ['-n', 1p, a.txt]}}\n";

/// Without a sandbox `sed` asks, also where its step is proposed before that is known.
#[tokio::test]
async fn no_step_is_assessed_before_the_sandbox_is_probed() {
    for by_script in [false, true] {
        let ground = SandboxSession::new();
        let exec = ground.exec(Sandbox::unavailable(SandboxMode::Work, held::NO_KERNEL));
        let tool = SlowProbeTool { exec, asked: AtomicUsize::new(0) };
        let sed = cmd("sed", &["-n", "1p", "a.txt"]);
        let mut parts = ground.parts(&[&sed, DONE], Arc::new(tool));
        std::fs::write(ground.ws().join("prints.ai.yaml"), PRINTS).unwrap();
        let trusted = vec![ground.ws()];
        parts.extensions = ExtensionCache::empty().with_scripts(Arc::new(move |_| ScriptPlaces {
            folders: vec![],
            trusted: trusted.clone(),
            ..ScriptPlaces::default()
        }));
        let mut client = SessionClient::start(parts);
        if by_script {
            let script = "prints.ai.yaml".into();
            client.send(Op::Turn(TurnOp::RunScript { script, args: String::new() })).await;
        } else {
            client.submit("go").await;
        }
        let question = client
            .next(|event| match event {
                Event::Asked(ask) => Some(ask.question),
                Event::StepStarted { step, .. } => panic!("{step:?} ran unasked"),
                _ => None,
            })
            .await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
        assert_eq!(risk.rule, "sandbox.absent.language", "{risk:?}");
    }
}
