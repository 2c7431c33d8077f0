//! Folders besides the session's own: those the user adds, and programs provided by a project or a
//! toolchain manager. The programs are real, the model is scripted.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use avocet::i18n::{Lang, session as phrases};
use avocet::model::Scripted;
use avocet::protocol::{
    ApprovalScope, Decision, Event, Notice, Observation, Op, Question, QuestionOp, Rewind, RuleOp,
    SavedOp, SessionInfo, SettingOp, StepQuestion,
};
use avocet::session::SessionConfig;
use avocet::tools::system::System;

use crate::support::skip::{Reason, skip};
use crate::support::talk::derefs_to_client;
use crate::support::talk::{self, DONE, SessionClient, cmd};

struct FolderSession {
    client: SessionClient,
    root: tempfile::TempDir,
}

derefs_to_client!(FolderSession);

impl FolderSession {
    fn start(
        root: tempfile::TempDir,
        replies: &[&str],
        change: impl FnOnce(&mut SessionConfig),
    ) -> FolderSession {
        let ws = root.path().canonicalize().unwrap().join("ws");
        fs::create_dir_all(ws.join("home")).unwrap();
        let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
        let mut parts = talk::parts(&ws, Arc::new(model));
        change(&mut parts);
        FolderSession { client: SessionClient::start(parts), root }
    }

    fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    async fn again(self, resume: bool, replies: &[&str]) -> FolderSession {
        let FolderSession { client, root } = self;
        client.close().await;
        FolderSession::start(root, replies, |parts| talk::with_store(parts, resume))
    }

    async fn adds(&mut self, path: &str) -> Notice {
        self.send(Op::Rules(RuleOp::AddFolder { path: path.to_owned() })).await;
        self.notice().await
    }

    /// The facts once a session was taken up, and what was said about its folders.
    async fn resumed_info(&mut self) -> (SessionInfo, Vec<Notice>) {
        self.send(Op::Setting(SettingOp::SetLang { lang: Lang::Zh })).await;
        let mut said = Vec::new();
        let facts = self
            .next(|event| match event {
                Event::Facts(facts) if facts.lang == Lang::Zh => Some(*facts),
                Event::Notice(notice) => {
                    said.push(notice);
                    None
                }
                _ => None,
            })
            .await;
        said.retain(|notice| {
            [phrases::FOLDERS_AGAIN, phrases::FOLDER_NOT_AGAIN].contains(&notice.say.phrase())
        });
        (facts, said)
    }
}

fn root() -> tempfile::TempDir {
    let root = crate::support::temp_dir();
    for folder in ["lib", "other", "late"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    root
}

// Folders of a session

#[tokio::test]
async fn an_added_folder_is_restored_when_the_session_is_resumed() {
    let mut talk =
        FolderSession::start(root(), &[DONE, DONE], |parts| talk::with_store(parts, false));
    let lib = talk.root().join("lib").display().to_string();
    let late = talk.root().join("late").display().to_string();
    // Before the first message, and later.
    assert_eq!(talk.adds("../lib").await.say.phrase(), phrases::ADDED_FOLDER);
    talk.turn("one").await;
    talk.turn("two").await;
    assert_eq!(talk.adds(&late).await.say.phrase(), phrases::ADDED_FOLDER);
    // The chat is taken back, the folder is not.
    talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Chat) })).await;
    talk.next(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
    let mut talk = talk.again(true, &[DONE]).await;
    let (facts, said) = talk.resumed_info().await;
    assert_eq!(facts.added, [lib.as_str(), late.as_str()]);
    assert_eq!(said.len(), 1);
    assert!(said[0].say.text(Lang::En).contains(&format!("`{lib}`, `{late}`")));
    // What is said at each start is not kept and told once more.
    let mut talk = talk.again(true, &[DONE]).await;
    assert_eq!(talk.resumed_info().await.1.len(), 1);
}

#[tokio::test]
async fn a_removed_or_relinked_folder_is_reported_and_not_added_again() {
    let mut talk = FolderSession::start(root(), &[DONE], |parts| talk::with_store(parts, false));
    let root = talk.root();
    for path in ["../lib", "../other", "../late"] {
        assert_eq!(talk.adds(path).await.say.phrase(), phrases::ADDED_FOLDER);
    }
    talk.turn("one").await;
    fs::remove_dir(root.join("lib")).unwrap();
    fs::remove_dir(root.join("other")).unwrap();
    symlink("/etc", root.join("other")).unwrap();
    let mut talk = talk.again(true, &[DONE]).await;
    let (facts, said) = talk.resumed_info().await;
    assert_eq!(facts.added, [root.join("late").display().to_string()]);
    let said: Vec<String> = said.iter().map(|notice| notice.say.text(Lang::En)).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[1].contains("There is no folder") && said[1].contains("/lib"), "{said:?}");
    assert!(said[2].contains("now points to `/etc`"), "{said:?}");
}

#[tokio::test]
async fn a_folder_of_one_session_is_not_part_of_another_resumed_one() {
    let mut talk = FolderSession::start(root(), &[DONE], |parts| talk::with_store(parts, false));
    talk.turn("the first").await;
    let mut talk = talk.again(false, &[DONE, DONE]).await;
    talk.send(Op::Rules(RuleOp::AddFolder { path: "../lib".into() })).await;
    let with = talk.facts(|facts| !facts.added.is_empty()).await;
    talk.turn("the second").await;
    // A new session goes on with the folders there are, and keeps them as its own.
    talk.send(Op::Saved(SavedOp::New)).await;
    talk.turn("the third").await;
    let third = talk.again(true, &[DONE]).await;
    let mut talk = third;
    assert_eq!(talk.resumed_info().await.0.added, with.added);
    talk.send(Op::Saved(SavedOp::SearchSessions { words: "the first".into() })).await;
    let page = talk.page().await;
    let id = page[0].split(':').next().unwrap().to_owned();
    talk.send(Op::Saved(SavedOp::Resume { session: id })).await;
    talk.facts(|facts| facts.added.is_empty()).await;
}

#[tokio::test]
async fn a_folder_of_the_command_line_applies_to_that_run_only() {
    let mut talk = FolderSession::start(root(), &[DONE], |parts| {
        talk::with_store(parts, false);
        let lib = parts.security.place.workspace.parent().unwrap().join("lib");
        parts.info.added.push(lib.display().to_string());
        parts.security.place.added.push(lib);
    });
    talk.turn("one").await;
    let mut talk = talk.again(true, &[DONE]).await;
    let (facts, said) = talk.resumed_info().await;
    assert_eq!((facts.added, said), (Vec::<String>::new(), vec![]));
}

// Programs of the project

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A real Python environment in the workspace; `None` where Python makes none.
fn venv(ws: &Path) -> Option<PathBuf> {
    fs::create_dir_all(ws).unwrap();
    let mut python = Command::new("python3");
    let made = python.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(ws).output();
    made.is_ok_and(|made| made.status.success()).then(|| ws.join(".venv"))
}

/// What the question says, its answer given.
async fn answers(talk: &mut FolderSession, decision: Decision) -> String {
    let (ask, question) = talk.next_question().await;
    let Question::Step(StepQuestion { risk, .. }) = question else { panic!("{question:?}") };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let of_folder = risk.reasons.iter().find(|reason| reason.rule == "program.folder");
    of_folder.map(|reason| reason.say.text(Lang::En)).unwrap_or_default()
}

/// What came of the steps of a turn that runs, and how often it asked.
async fn ran(talk: &mut FolderSession) -> (Vec<Observation>, usize) {
    let events = talk.until_it_ends().await;
    let asked = events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
    let seen = events.into_iter().filter_map(|event| match event {
        Event::StepFinished(seen) => Some(*seen),
        _ => None,
    });
    (seen.collect(), asked)
}

const NO_VENV: Reason = Reason::NotInstalled("python3 -m venv");
const PREFIX: &[&str] = &["-c", "import sys; print(sys.prefix)"];

#[tokio::test]
async fn a_project_virtualenv_asks_once_by_its_real_name_and_runs_as_itself() {
    let root = root();
    let ws = root.path().canonicalize().unwrap().join("ws");
    let Some(venv) = venv(&ws) else { return skip(NO_VENV) };
    // As pip installs one.
    let python = venv.join("bin/python").display().to_string();
    script(&venv.join("bin/show"), &format!("#!{python}\nimport sys; print(sys.prefix)\n"));
    let (step, show) = (cmd(".venv/bin/python", PREFIX), cmd(".venv/bin/show", &[]));
    let mut talk = FolderSession::start(root, &[&step, DONE, &show, DONE, &show, DONE], |_| {});
    let prefix = format!("{}\n", venv.display());
    for decision in [Decision::Approve, Decision::Remember(ApprovalScope::Session)] {
        talk.submit("run it").await;
        let said = answers(&mut talk, decision).await;
        assert!(said.contains("a program of the Python environment"), "{said}");
        let (seen, _) = ran(&mut talk).await;
        assert_eq!(seen[0].stdout, prefix, "{seen:?}");
    }
    talk.submit("once more").await;
    let (seen, asked) = ran(&mut talk).await;
    assert_eq!((seen[0].stdout.as_str(), asked), (prefix.as_str(), 0), "{seen:?}");
}

#[tokio::test]
async fn python_means_the_activated_virtualenv() {
    let root = root();
    let ws = root.path().canonicalize().unwrap().join("ws");
    let Some(venv) = venv(&ws) else { return skip(NO_VENV) };
    let steps = cmd("python", PREFIX);
    let mut talk = FolderSession::start(root, &[&steps, DONE], |parts| {
        let path = std::env::join_paths([&venv.join("bin"), Path::new("/usr/bin")]).unwrap();
        let place = &parts.security.place;
        let world = System::new(&place.workspace, &place.home, &[]);
        parts.security.world = Arc::new(world.with_user_path(Some(path.into())));
    });
    talk.submit("run it").await;
    let said = answers(&mut talk, Decision::Approve).await;
    assert!(said.contains("Python environment"), "{said}");
    assert_eq!(ran(&mut talk).await.0[0].stdout, format!("{}\n", venv.display()));
}

#[tokio::test]
async fn node_modules_programs_and_shims_ask_by_their_real_names() {
    const SAYS: &str = "#!/bin/sh\necho \"as $0\"\n";
    for (program, file, says) in [
        ("node_modules/.bin/tool", "ws/node_modules/.bin/tool", "this project's own programs"),
        ("shimmed", "ws/home/.pyenv/shims/shimmed", "a toolchain manager keeps its programs"),
        ("run-node", "ws/home/.nvm/versions/node/v22/bin/run-node", "a toolchain manager"),
    ] {
        let root = root();
        let real = root.path().canonicalize().unwrap();
        let path = real.join(file);
        if file.contains("node_modules") {
            // As npm puts them there.
            script(&real.join("ws/node_modules/tool/cli.sh"), SAYS);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink("../tool/cli.sh", &path).unwrap();
        } else {
            script(&path, SAYS);
        }
        let step = cmd(program, &[]);
        let folder = path.parent().unwrap().to_owned();
        let mut talk = FolderSession::start(root, &[&step, DONE, &step, DONE], |parts| {
            let path = std::env::join_paths([folder.as_path(), Path::new("/usr/bin")]).unwrap();
            let place = &parts.security.place;
            let world = System::new(&place.workspace, &place.home, &[]);
            parts.security.world = Arc::new(world.with_user_path(Some(path.into())));
        });
        talk.submit("run it").await;
        let said = answers(&mut talk, Decision::Remember(ApprovalScope::Session)).await;
        assert!(said.contains(says), "{program}: {said}");
        let (seen, _) = ran(&mut talk).await;
        assert_eq!(seen[0].stdout, format!("as {}\n", path.display()), "{program}: {seen:?}");
        talk.submit("once more").await;
        assert_eq!(ran(&mut talk).await.1, 0, "{program} was remembered");
    }
}
