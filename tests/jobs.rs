//! Jobs: steps that run on in the background, their output in a bounded file, read and stopped by
//! the user and by the model, and ended with the session.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use avocet::i18n::Lang;
use avocet::model::Scripted;
use avocet::protocol::{
    Event, JobInfo, JobRequest, JobState, Observation, Op, Outcome, SessionInfo, TurnOutcome,
};
use serde_json::json;

#[path = "support/talk.rs"]
mod talk;

use talk::{DONE, SessionClient};

fn session(folder: &Path, replies: &[&str]) -> SessionClient {
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(folder, Arc::new(model));
    parts.outputs = Some(folder.join(".outputs"));
    SessionClient::start(parts)
}

fn tool(name: &str, input: serde_json::Value) -> String {
    talk::tool(name, input)
}

fn tail() -> String {
    let command = json!({
        "program": "tail", "args": ["-f", "log.txt"], "requires": { "background": true }
    });
    json!({ "type": "cmd", "message": "follow it", "data": { "commands": [command] } }).to_string()
}

async fn finished(talk: &mut SessionClient) -> Observation {
    talk.next(|event| match event {
        Event::StepFinished(seen) => Some(*seen),
        _ => None,
    })
    .await
}

async fn jobs(talk: &mut SessionClient, mut wanted: impl FnMut(&[JobInfo]) -> bool) -> SessionInfo {
    talk.facts(|info| !info.jobs.is_empty() && wanted(&info.jobs)).await
}

async fn shell(talk: &SessionClient, line: &str) {
    talk.send(Op::Shell { line: line.to_owned(), keep: true }).await;
}

async fn ask(talk: &SessionClient, job: JobRequest) {
    talk.send(Op::Job { job }).await;
}

#[tokio::test]
async fn a_step_of_the_model_runs_on_and_is_read_and_stopped_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    fs::write(folder.join("log.txt"), "first line\n").unwrap();
    let replies: &[&str] = &[
        &tail(),
        &tool("job.list", json!({})),
        &tool("job.read", json!({ "id": 1, "query": "FIRST" })),
        &tool("job.stop", json!({ "id": 1 })),
        &tool("job.read", json!({ "id": 7 })),
        DONE,
    ];
    let mut talk = session(&folder, replies);
    talk.submit("follow the log").await;
    talk.approve_next().await;
    let started = finished(&mut talk).await;
    assert!(started.runs_on(), "{started:?}");
    assert_eq!((started.exit_code, started.shown_exit_code()), (None, Some(0)));
    assert_eq!(started.stdout, "first line\n");
    let note = started.note.unwrap().text(Lang::En);
    assert!(note.contains("as job 1") && note.contains("job.read"), "{note}");
    let listed = finished(&mut talk).await.stdout;
    assert!(listed.starts_with("1 runs, 0:0") && listed.ends_with("tail -f log.txt"), "{listed}");
    let read = finished(&mut talk).await.stdout;
    assert!(read.contains("1 lines contain it") && read.contains("1: first line"), "{read}");
    assert_eq!(finished(&mut talk).await.exit_code, Some(0));
    let unknown = finished(&mut talk).await;
    assert_eq!(unknown.exit_code, Some(1));
    assert!(unknown.stderr.contains("no job 7"), "{}", unknown.stderr);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    loop {
        ask(&talk, JobRequest::List).await;
        if talk.page().await[0].contains("was stopped") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    talk.close().await;
}

#[tokio::test]
async fn a_running_step_goes_to_the_background_when_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut talk = session(&folder.path().canonicalize().unwrap(), &[DONE]);
    shell(&talk, "echo begun; sleep 30").await;
    talk.next(|event| matches!(event, Event::StepOutput { .. }).then_some(())).await;
    ask(&talk, JobRequest::Background).await;
    assert!(finished(&mut talk).await.runs_on());
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    ask(&talk, JobRequest::Show { id: 1, page: None }).await;
    assert_eq!(talk.page().await, ["begun"]);
    ask(&talk, JobRequest::Stop { id: 1 }).await;
    jobs(&mut talk, |jobs| jobs[0].state == JobState::Stopped).await;
    talk.close().await;
}

#[tokio::test]
async fn a_line_that_ends_with_an_ampersand_runs_in_the_background_and_its_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    shell(&talk, "while [ ! -e stop ]; do sleep 0.05; done; echo over; exit 3 &").await;
    assert!(finished(&mut talk).await.runs_on());
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    fs::write(folder.join("stop"), "").unwrap();
    let ended = JobState::Ended { exit: Some(3) };
    jobs(&mut talk, |jobs| jobs[0].state == ended).await;
    let notice = talk.notice().await.say.text(Lang::En);
    assert!(notice.contains("ended with exit code 3"), "{notice}");
    // One that fails at once is no job.
    shell(&talk, "exit 4 &").await;
    let seen = finished(&mut talk).await;
    assert_eq!((seen.outcome, seen.exit_code), (Outcome::Ran, Some(4)));
    talk.close().await;
}

#[tokio::test]
async fn a_flooding_job_costs_little_and_its_file_stays_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    let flood = "yes 0123456789abcdef | head -c 100000000; \
                 while [ ! -e stop ]; do sleep 0.05; done; exit 3 &";
    shell(&talk, flood).await;
    assert!(finished(&mut talk).await.runs_on());
    ask(&talk, JobRequest::List).await;
    let listed = talk.page().await;
    assert!(listed[0].contains("runs"), "{listed:?}");
    fs::write(folder.join("stop"), "").unwrap();
    let ended = JobState::Ended { exit: Some(3) };
    jobs(&mut talk, |jobs| jobs[0].state == ended).await;
    let files = fs::read_dir(folder.join(".outputs")).unwrap();
    let files = files.flat_map(|session| fs::read_dir(session.unwrap().path()).unwrap());
    let size: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size > 100_000 && size < 10 << 20, "{size}");
    talk.close().await;
}

#[tokio::test]
async fn jobs_end_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    shell(&talk, "echo $$ > pid; exec sleep 60 &").await;
    assert!(finished(&mut talk).await.runs_on());
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    assert!(Path::new("/proc").join(pid.trim()).exists());
    talk.close().await;
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[tokio::test]
async fn jobs_end_when_another_session_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let stored = || {
        let mut parts = talk::parts(&folder, Arc::new(Scripted::parse("test", DONE).unwrap()));
        parts.outputs = Some(folder.join(".outputs"));
        talk::with_store(&mut parts, false);
        SessionClient::start(parts)
    };
    let mut talk = stored();
    talk.submit("hello").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let earlier = talk.facts(|info| !info.session.is_empty()).await.session;
    talk.close().await;
    let mut talk = stored();
    shell(&talk, "echo $$ > pid; exec sleep 60 &").await;
    assert!(finished(&mut talk).await.runs_on());
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.send(Op::Resume { session: earlier.clone() }).await;
    let info = talk.facts(|info| info.session == earlier).await;
    assert!(info.jobs.is_empty(), "{:?}", info.jobs);
    assert!(!Path::new("/proc").join(pid.trim()).exists());
    talk.close().await;
}

#[tokio::test]
async fn the_port_of_a_server_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    let server = "exec python3 -c 'import socket,time; s=socket.socket(); s.bind((\"127.0.0.1\",0)); \
                  s.listen(); time.sleep(60)' &";
    shell(&talk, server).await;
    assert!(finished(&mut talk).await.runs_on());
    let info = jobs(&mut talk, |jobs| !jobs[0].ports.is_empty()).await;
    assert_eq!(info.jobs[0].ports.len(), 1);
    talk.close().await;
}

#[tokio::test]
async fn the_long_output_of_a_step_is_read_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    shell(&talk, "seq 1 20000").await;
    let seen = finished(&mut talk).await;
    assert!(seen.truncated && !seen.stdout.contains("\n10000\n"));
    let number: u64 = seen.step.id.trim_start_matches("cmd_").parse().unwrap();
    let mut all = Vec::new();
    for page in 1..=14 {
        ask(&talk, JobRequest::Output { step: number, page: Some(page) }).await;
        let mut rows = talk.page().await;
        assert!(rows.pop().unwrap().contains(&format!("Page {page} of 14")));
        all.extend(rows);
    }
    assert_eq!(all.len(), 20_000);
    assert_eq!((all[0].as_str(), all[9_999].as_str()), ("1", "10000"));
    talk.close().await;
}
