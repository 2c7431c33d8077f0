//! Agents that work in git worktrees, and what users do with those.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use avocet::config::Paths;
use avocet::extensions::SearchPath;
use avocet::i18n::Lang;
use avocet::model::Scripted;
use avocet::protocol::{
    ApprovalMode, Decision, Event, Observation, Op, Question, QuestionOp, SessionOp, StepAction,
    TurnOp, TurnOutcome, WorktreeRequest,
};
use avocet::safety::Workspace;
use avocet::session::SessionConfig;
use avocet::session::extensions::ExtensionCache;
use avocet::session::worktree_access::{FolderTools, WorktreeAccess};
use avocet::tools::exec::Exec;
use avocet::tools::file::{self, FileToolState};
use avocet::tools::system::System;
use serde_json::json;

use crate::support::talk::{self, DONE, SessionClient, chat, derefs_to_client, tool, with_files};
use crate::support::wait::wide_limits;

struct Project {
    client: SessionClient,
    root: PathBuf,
    _temp: tempfile::TempDir,
}

derefs_to_client!(Project);

fn git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    let done = git.args(args).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn exec_in(folder: &Path, home: &Path) -> Exec {
    talk::exec(&System::new(folder, home, &[]), wide_limits())
}

/// Tools for files and programs, in the project and in its worktrees.
fn with_worktrees(parts: &mut SessionConfig) {
    with_files(parts);
    let home = parts.security.place.home.clone();
    parts.tools = parts.tools.with_tool(Arc::new(exec_in(&parts.security.place.workspace, &home)));
    let tools_in = move |folder: &Path| {
        let state = FileToolState::default();
        let world = System::new(folder, &home, &[]).with_read_tracker(state.read_tracker.clone());
        let mut tools = file::all(&state);
        tools.push(Arc::new(exec_in(folder, &home)));
        FolderTools { place: Workspace::new(folder, &home), world: Arc::new(world), tools }
    };
    let access = WorktreeAccess { tools_in: Arc::new(tools_in), copied: Vec::new() };
    parts.model_access.callbacks.worktrees = Some(access);
}

fn start(replies: &[&str], change: impl FnOnce(&mut SessionConfig)) -> Project {
    let temp = crate::support::temp_dir();
    let root = temp.path().canonicalize().unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["config", "user.name", "A"]);
    git(&root, &["config", "user.email", "a@example.com"]);
    std::fs::write(root.join("a.txt"), "a\n").unwrap();
    git(&root, &["add", "a.txt"]);
    git(&root, &["commit", "-q", "-m", "begin"]);
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(&root, Arc::new(model));
    with_worktrees(&mut parts);
    // The agents that come with the program.
    let paths = Paths::with_root(&root.join(".own"), root.join("home"));
    parts.extensions = ExtensionCache::new(Arc::new(move |_| SearchPath::new(&paths, None, &[])));
    change(&mut parts);
    Project { client: SessionClient::start(parts), root, _temp: temp }
}

fn task() -> String {
    let input = json!({ "description": "Add b", "prompt": "Write it.", "worktree": true });
    tool("task", input)
}

fn write(path: &str) -> String {
    tool("file.write", json!({ "path": path, "content": "b\n" }))
}

fn result(events: &[Event]) -> &Observation {
    let seen = events.iter().find_map(|event| match event {
        Event::StepFinished(seen) => Some(seen.as_ref()),
        _ => None,
    });
    seen.unwrap_or_else(|| panic!("{events:#?}"))
}

fn with_edits(parts: &mut SessionConfig) {
    parts.security.policy.approval = ApprovalMode::Edits;
}

#[tokio::test]
async fn an_agent_works_in_a_worktree_and_its_result_says_what_is_in_it() {
    let mut talk = start(&[&*task(), &write("b.txt"), &chat("Written."), DONE], with_edits);
    let events = talk.turn("write").await;
    assert!(!events.iter().any(|event| matches!(event, Event::Asked(_))), "{events:#?}");
    let seen = result(&events);
    assert!(seen.stdout.starts_with("Written."), "{}", seen.stdout);
    assert!(seen.stdout.contains("branch avocet/add-b"), "{}", seen.stdout);
    assert!(seen.stdout.ends_with("Not committed:\n?? b.txt"), "{}", seen.stdout);
    let worktree = talk.root.join(".avocet/worktrees/add-b");
    assert!(worktree.join("b.txt").exists() && !talk.root.join("b.txt").exists());
    let info = events.iter().find_map(|event| match event {
        Event::SubagentStarted(info) => Some(info),
        _ => None,
    });
    assert_eq!(info.unwrap().folder, worktree.display().to_string());
    talk.client.close().await;
}

#[tokio::test]
async fn an_agent_in_a_worktree_is_asked_about_a_change_of_the_project() {
    let mut talk = start(&[&*task(), &write("../../../a.txt"), &chat("No."), DONE], with_edits);
    talk.submit("write").await;
    let (ask, question) = talk.next_question().await;
    let Question::Step(asked) = question else { panic!("{question:?}") };
    let outside = asked.risk.reasons.iter().any(|reason| reason.rule.starts_with("path."));
    assert!(outside, "{:#?}", asked.risk);
    let decision = Decision::Reject { word: None };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = talk.until_it_ends().await;
    let seen = result(&events);
    assert!(seen.stdout.contains("Nothing was changed in the worktree add-b"), "{}", seen.stdout);
    assert_eq!(std::fs::read_to_string(talk.root.join("a.txt")).unwrap(), "a\n");
    assert!(!talk.root.join(".avocet/worktrees/add-b").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn without_trust_or_in_plan_mode_an_agent_gets_no_worktree() {
    let untrusted = |parts: &mut SessionConfig| parts.security.place.trusted = false;
    let plan = |parts: &mut SessionConfig| parts.security.policy.approval = ApprovalMode::Plan;
    let changes: [&dyn Fn(&mut SessionConfig); 2] = [&untrusted, &plan];
    for change in changes {
        let mut talk = start(&[&*task(), DONE, DONE], change);
        let events = talk.turn("write").await;
        let seen = result(&events);
        let note = seen.note.as_ref().map(|note| note.text(Lang::En)).unwrap_or_default();
        let said = format!("{}{note}", seen.stderr);
        assert!(said.contains("No worktree can be made here"), "{said}");
        assert!(!talk.root.join(".avocet").exists());
        talk.client.close().await;
    }
}

#[tokio::test]
async fn a_worktree_is_listed_merged_after_a_question_and_then_removed() {
    let replies = [&*task(), &write("b.txt"), &chat("Written."), DONE];
    let mut talk = start(&replies, with_edits);
    talk.turn("write").await;
    let ask = |request| Op::Session(SessionOp::Worktrees { request });
    let add = || "add-b".to_owned();
    let remove = || WorktreeRequest::Remove { name: add(), with_files: false };
    talk.send(ask(WorktreeRequest::List)).await;
    let page = talk.page().await;
    assert!(page[0].starts_with("add-b: branch `avocet/add-b`, made 20"), "{page:?}");
    assert!(page[0].ends_with("; commits: 0, files not committed: 1"), "{page:?}");
    talk.send(ask(WorktreeRequest::Show { name: add() })).await;
    let page = talk.page().await.join("\n");
    assert!(page.contains("avocet/add-b") && page.contains("?? b.txt"), "{page}");
    talk.send(ask(remove())).await;
    let said = talk.notice().await.say.text(Lang::En);
    assert!(said.contains("is kept") && said.contains("?? b.txt"), "{said}");

    talk.send(Op::Turn(TurnOp::MergeWorktree { name: add() })).await;
    let (ask_id, question) = talk.next_question().await;
    let Question::Step(asked) = question else { panic!("{question:?}") };
    let StepAction::Shell { line } = &asked.step.work else { panic!("{asked:?}") };
    assert!(line.contains("commit -m 'Work of add-b' && git merge"), "{line}");
    assert!(!talk.root.join("b.txt").exists());
    let decision = Decision::Approve;
    talk.send(Op::Question(QuestionOp::Decide { ask: ask_id, decision })).await;
    let events = talk.until_it_ends().await;
    assert_eq!(result(&events).exit_code, Some(0), "{events:#?}");
    assert!(talk.root.join("b.txt").exists());

    talk.send(ask(remove())).await;
    let said = talk.notice().await.say.text(Lang::En);
    assert!(said.contains("were removed"), "{said}");
    talk.send(ask(WorktreeRequest::Show { name: add() })).await;
    assert!(talk.page().await[0].contains("No worktree is named `add-b`"));
    talk.send(Op::Turn(TurnOp::MergeWorktree { name: add() })).await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.client.close().await;
}
