//! Modes in a session: a plan is accepted or refused, a resumed session goes on in its mode, and
//! notes are kept.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use avocet::model::Scripted;
use avocet::protocol::{
    ApprovalMode, AskId, Decision, Event, ExtensionOp, NotePlace, Op, Outcome, PlanItem, Question,
    QuestionOp, RuleOp, Topic, TurnOutcome,
};
use avocet::session::SessionConfig;
use serde_json::json;

use crate::support::talk::{self, DONE, SessionClient};

fn write(path: &str) -> String {
    talk::tool("file.write", json!({ "path": path, "content": "new\n" }))
}

fn plan() -> String {
    talk::tool("plan", json!({ "items": [{ "text": "write a.txt", "state": "pending" }] }))
}

fn session(
    folder: &Path,
    replies: &[&str],
    change: impl FnOnce(&mut SessionConfig),
) -> SessionClient {
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(folder, Arc::new(model));
    talk::with_files(&mut parts);
    change(&mut parts);
    SessionClient::start(parts)
}

/// Sets plan mode and waits for the question about the plan.
async fn plan_question(talk: &mut SessionClient) -> (AskId, Vec<PlanItem>) {
    talk.send(Op::Rules(RuleOp::SetApprovalMode { mode: ApprovalMode::Plan })).await;
    talk.submit("do it").await;
    let (id, question) = talk.next_question().await;
    let Question::Plan { items, .. } = question else { panic!("{question:?}") };
    (id, items)
}

async fn written(talk: &mut SessionClient) -> Outcome {
    talk.next(|event| match event {
        Event::StepFinished(seen) if seen.step.work.tool() == "file.write" => Some(seen.outcome),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn an_accepted_plan_is_carried_out_in_the_chosen_mode() {
    let folder = crate::support::temp_dir();
    let real = folder.path().canonicalize().unwrap();
    let mut talk = session(&real, &[&plan(), &write("a.txt"), DONE], |_| {});
    let (ask, items) = plan_question(&mut talk).await;
    assert_eq!(items.iter().map(PlanItem::line).collect::<Vec<_>>(), ["[ ] write a.txt"]);
    let edited = vec![PlanItem::parse("write b.txt first")];
    let decision = Decision::AcceptPlan { mode: ApprovalMode::Edits, items: Some(edited.clone()) };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let shown = talk
        .next(|event| match event {
            Event::Plan { items } => Some(items),
            _ => None,
        })
        .await;
    assert_eq!(shown, edited);
    assert_eq!(written(&mut talk).await, Outcome::Ran);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(talk.facts(|_| true).await.approval, ApprovalMode::Edits);
}

#[tokio::test]
async fn a_refused_plan_changes_nothing_and_plan_mode_stays() {
    let folder = crate::support::temp_dir();
    let real = folder.path().canonicalize().unwrap();
    let replies: &[&str] = &[&plan(), &write("a.txt"), &plan(), DONE];
    let mut talk = session(&real, replies, |_| {});
    let (ask, _) = plan_question(&mut talk).await;
    let decision = Decision::Answer { text: "smaller steps".into() };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    assert_eq!(written(&mut talk).await, Outcome::Refused);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Stopped);
    assert_eq!(talk.facts(|_| true).await.approval, ApprovalMode::Plan);
}

#[tokio::test]
async fn a_resumed_session_goes_on_in_its_mode() {
    let folder = crate::support::temp_dir();
    let real = folder.path().canonicalize().unwrap();
    let talk = session(&real, &[DONE], |parts| talk::with_store(parts, false));
    talk.send(Op::Rules(RuleOp::SetApprovalMode { mode: ApprovalMode::Edits })).await;
    let mut talk = talk;
    talk.turn("hello").await;
    talk.close().await;
    for (named, expected) in
        [(None, ApprovalMode::Edits), (Some(ApprovalMode::Plan), ApprovalMode::Plan)]
    {
        let mut again = session(&real, &[DONE], |parts| {
            talk::with_store(parts, true);
            parts.security.session.command_line_mode = named;
            parts.info.approval = named.unwrap_or_default();
            parts.security.policy.approval = named.unwrap_or_default();
        });
        let notice = again.notice().await;
        assert_eq!(notice.topic, Topic::Resumed);
        again.turn("go on").await;
        assert_eq!(again.facts(|_| true).await.approval, expected);
        again.close().await;
    }
}

#[tokio::test]
async fn a_note_is_appended_and_sent_with_the_next_message() {
    let folder = crate::support::temp_dir();
    let real = folder.path().canonicalize().unwrap();
    fs::write(real.join("CLAUDE.md"), "be kind").unwrap();
    let own = real.join("mine/AGENTS.md");
    let mut talk = session(&real, &[DONE, DONE], |parts| parts.user_notes = vec![own.clone()]);
    for (place, text) in [
        (NotePlace::Project, "use tabs"),
        (NotePlace::Local, "no tabs"),
        (NotePlace::User, "short"),
    ] {
        talk.send(Op::Extension(ExtensionOp::AddNote { place, text: text.into() })).await;
    }
    talk.turn("hello").await;
    assert_eq!(fs::read_to_string(real.join("CLAUDE.md")).unwrap(), "be kind\n- use tabs\n");
    assert_eq!(fs::read_to_string(own).unwrap(), "- short\n");
    talk.send(Op::Extension(ExtensionOp::ShowMemory)).await;
    let page = talk.page().await;
    for (row, name) in page.iter().zip(["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"]) {
        assert!(row.starts_with(name), "{page:?}");
    }
}
