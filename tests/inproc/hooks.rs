//! Hooks of a session: what runs them is played, so that no program starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::hooks::{HookFiles, HookFolders, read_hooks};
use avocet::i18n::{LocalizedText, hooks as phrases};
use avocet::model::{Model, Scripted};
use avocet::protocol::{
    Decision, Observation, Op, Outcome, Question, QuestionOp, Report, SessionOp, StepAction,
};
use avocet::safety::ClearedStep;
use avocet::session::SessionConfig;
use avocet::session::session_hooks::HookAccess;
use avocet::tools::{PipedOutput, RunControl, ShellInput, Tool, ToolSpec};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::support::talk::{self, DONE, SessionClient};

/// Hooks of a folder, each of which ends with 0 and prints nothing.
#[derive(Clone, Default)]
pub(crate) struct Played {
    pub(crate) folders: HookFolders,
    answers: Arc<Mutex<Vec<(String, bool)>>>,
    ran: Arc<Mutex<Vec<String>>>,
}

impl HookAccess for Played {
    fn read(&self, is_trusted: bool) -> HookFiles {
        read_hooks(&self.folders, is_trusted)
    }

    fn folders(&self) -> HookFolders {
        self.folders.clone()
    }

    fn answer(&self, hash: &str) -> Option<bool> {
        let answers = self.answers.lock().unwrap();
        answers.iter().find(|(known, _)| known == hash).map(|(_, answer)| *answer)
    }

    fn save_answer(&mut self, hash: &str, is_allowed: bool) -> Result<(), LocalizedText> {
        self.answers.lock().unwrap().push((hash.to_owned(), is_allowed));
        Ok(())
    }

    fn exec(&self) -> Arc<dyn Tool> {
        Arc::new(self.clone())
    }

    fn transcripts(&self) -> Option<PathBuf> {
        None
    }

    fn has_user(&self) -> bool {
        true
    }
}

impl Tool for Played {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "exec", about: phrases::TITLE, prompt: "" }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let judged = step.judgement();
        if let StepAction::Shell { line } = &judged.step.work {
            self.ran.lock().unwrap().push(line.clone());
        }
        let (step, risk) = (judged.step.clone(), judged.risk.clone());
        let mut seen = Observation::not_run(step, "", risk, Outcome::Ran);
        seen.exit_code = Some(0);
        std::future::ready(seen).boxed()
    }

    fn run_piped(
        &self,
        step: ClearedStep,
        _: ShellInput,
        control: RunControl,
    ) -> BoxFuture<'static, PipedOutput> {
        let running = self.run(step, control);
        async move { PipedOutput { observation: running.await, output: Some(String::new()) } }
            .boxed()
    }
}

/// A folder with hooks of its own.
pub(crate) fn played(folder: &Path) -> Played {
    let workspace = folder.to_owned();
    let home = folder.join("home");
    fs::create_dir_all(&home).unwrap();
    let settings = PathBuf::from("/nowhere/config.toml");
    let folders = HookFolders { config_home: home.join(".config"), home, settings, workspace };
    Played { folders, ..Played::default() }
}

pub(crate) fn write_hooks(folder: &Path, hooks: &[(&str, &str)]) {
    let events = hooks.iter().map(|(event, command)| {
        ((*event).to_owned(), json!([{ "hooks": [{ "type": "command", "command": command }] }]))
    });
    let events: serde_json::Map<_, _> = events.collect();
    fs::create_dir_all(folder.join(".claude")).unwrap();
    let text = json!({ "hooks": events }).to_string();
    fs::write(folder.join(".claude/settings.json"), text).unwrap();
}

fn parts(folder: &Path, replies: &[&str], hooks: &Played) -> SessionConfig {
    let model: Arc<dyn Model> =
        Arc::new(Scripted::parse("test", &replies.join("\n---\n")).unwrap());
    let mut parts = talk::parts(folder, model);
    parts.access.hooks = Some(Box::new(hooks.clone()));
    parts
}

pub(crate) fn ran(hooks: &Played) -> Vec<String> {
    hooks.ran.lock().unwrap().clone()
}

async fn answer(client: &mut SessionClient, index: usize) -> String {
    let (ask, question) = client.next_question().await;
    let Question::Choice { text, .. } = question else { panic!("{question:?}") };
    client
        .send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Choose { index } }))
        .await;
    text
}

#[tokio::test]
async fn hooks_of_the_project_are_asked_about_once_with_their_commands() {
    let folder = crate::support::temp_dir();
    write_hooks(folder.path(), &[("SessionStart", "./start.sh"), ("Stop", "./stop.sh --all")]);
    let hooks = played(folder.path());
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
    let text = answer(&mut client, 0).await;
    assert!(text.contains("./start.sh") && text.contains("./stop.sh --all"), "{text}");
    client.turn("hello").await;
    client.close().await;
    assert_eq!(ran(&hooks), ["./start.sh", "./stop.sh --all"]);
    // The answer is saved: the next session does not ask.
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
    client.turn("hello").await;
    client.close().await;
    assert_eq!(ran(&hooks).len(), 4);
}

#[tokio::test]
async fn another_command_and_another_script_are_asked_about_again() {
    let folder = crate::support::temp_dir();
    let hooks = played(folder.path());
    fs::write(folder.path().join("stop.sh"), "exit 0").unwrap();
    for command in ["./stop.sh", "./stop.sh --all"] {
        write_hooks(folder.path(), &[("Stop", command)]);
        let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
        assert!(answer(&mut client, 0).await.contains(command));
        client.turn("hello").await;
        client.close().await;
    }
    fs::write(folder.path().join("stop.sh"), "exit 1").unwrap();
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
    answer(&mut client, 0).await;
    client.close().await;
    assert_eq!(ran(&hooks), ["./stop.sh", "./stop.sh --all"]);
    assert_eq!(hooks.answers.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn declined_hooks_do_not_run_and_the_page_says_so() {
    let folder = crate::support::temp_dir();
    write_hooks(folder.path(), &[("Stop", "./stop.sh"), ("TeammateIdle", "x")]);
    let hooks = played(folder.path());
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
    answer(&mut client, 1).await;
    client.turn("hello").await;
    client.send(Op::Session(SessionOp::Report { report: Report::Hooks })).await;
    let page = client.page().await.join("\n");
    for part in ["Stop", "./stop.sh", "declined", "TeammateIdle"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    client.close().await;
    assert!(ran(&hooks).is_empty());
}

#[tokio::test]
async fn the_page_shows_the_last_run() {
    let folder = crate::support::temp_dir();
    let hooks = played(folder.path());
    write_hooks(&hooks.folders.home, &[("Stop", "./stop.sh")]);
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &hooks));
    client.turn("hello").await;
    client.send(Op::Session(SessionOp::Report { report: Report::Hooks })).await;
    let page = client.page().await.join("\n");
    assert!(page.contains("last run") && page.contains("exit 0"), "{page}");
    client.close().await;
}

#[tokio::test]
async fn no_hook_runs_in_a_folder_that_is_not_trusted() {
    let folder = crate::support::temp_dir();
    let hooks = played(folder.path());
    write_hooks(folder.path(), &[("Stop", "./theirs.sh")]);
    write_hooks(&hooks.folders.home, &[("Stop", "./mine.sh"), ("SessionStart", "./mine.sh")]);
    let mut parts = parts(folder.path(), &[DONE], &hooks);
    parts.security.place.trusted = false;
    let mut client = SessionClient::start(parts);
    client.turn("hello").await;
    client.send(Op::Session(SessionOp::Report { report: Report::Hooks })).await;
    let page = client.page().await.join("\n");
    assert!(page.contains("not trusted") && !page.contains("theirs"), "{page}");
    client.close().await;
    assert!(ran(&hooks).is_empty());
}

#[tokio::test]
async fn hooks_are_told_of_a_question_that_waits() {
    let folder = crate::support::temp_dir();
    let hooks = played(folder.path());
    write_hooks(&hooks.folders.home, &[("Notification", "./ring.sh")]);
    let step = talk::cmd("touch", &["x"]);
    let mut client = SessionClient::start(parts(folder.path(), &[&step, DONE], &hooks));
    client.submit("go").await;
    let (ask, _) = client.next_question().await;
    let decision = Decision::Reject { word: None };
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    client.ending().await;
    client.close().await;
    assert_eq!(ran(&hooks), ["./ring.sh"]);
}
