//! Jobs: steps that run on in the background, their output in a bounded file, read and stopped by
//! the user and by the model, and ended with the session.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use avocet::i18n::{Lang, session as phrases};
use avocet::model::Scripted;
use avocet::protocol::{
    Decision, Event, JobInfo, JobRequest, JobState, Observation, Op, Outcome, Question, QuestionOp,
    SavedOp, SessionInfo, SessionOp, TurnOp, TurnOutcome,
};
use avocet::session::KeptJobs;
use avocet::tools::Toolbox;
use avocet::tools::exec::StepLimits;
use avocet::tools::system::System;
use serde_json::json;

use crate::support::talk::{self, DONE, SessionClient};
use crate::support::wait::{PATIENCE, wide_limits};

fn session(folder: &Path, replies: &[&str]) -> SessionClient {
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(folder, Arc::new(model));
    parts.outputs = Some(folder.join(".outputs"));
    SessionClient::start(parts)
}

/// One whose approved steps are asked about after this time.
fn session_with_limit(folder: &Path, replies: &[&str], approved: Duration) -> SessionClient {
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let mut parts = talk::parts(folder, Arc::new(model));
    parts.outputs = Some(folder.join(".outputs"));
    let limits = StepLimits { approved, grace: Duration::from_millis(200), ..wide_limits() };
    let world = System::new(folder, folder, &[]);
    parts.tools = Toolbox::new(vec![Arc::new(talk::exec(&world, limits))]);
    SessionClient::start(parts)
}

/// Answers the question what becomes of a step whose time is up.
async fn choose(talk: &mut SessionClient, choice: &str) {
    let (ask, question) = talk.next_question().await;
    let Question::Choice { text, choices, fallback, .. } = question else {
        panic!("{question:?}");
    };
    assert!(text.contains("still at work"), "{text}");
    assert_eq!(choices.len(), 3);
    assert!(fallback.is_some_and(|fallback| fallback < choices.len()));
    let index = choices.iter().position(|offered| offered == choice).unwrap();
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Choose { index } })).await;
}

/// Writes without end, until a file `stop` is there.
const CHATTY: &str = "touch begun; while [ ! -e stop ]; do echo tick; sleep 0.05; done; echo over";

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
    talk.send(Op::Turn(TurnOp::Shell { line: line.to_owned(), keep: true })).await;
}

async fn ask(talk: &SessionClient, job: JobRequest) {
    talk.send(Op::Session(SessionOp::Job { job })).await;
}

/// Runs a line that ends at once although it is for the background. On a busy machine it may take
/// longer than the first look at it, and is a job: then it is run again.
async fn ended_at_once(talk: &mut SessionClient, folder: &Path, line: &str) -> Observation {
    for _ in 0..8 {
        // Of an earlier try.
        let _ = fs::remove_file(folder.join("pid"));
        shell(talk, line).await;
        let seen = finished(talk).await;
        if !seen.runs_on() {
            return seen;
        }
        talk.ending().await;
    }
    panic!("{line:?} became a job each time");
}

/// The number that a job writes of itself.
async fn pid(folder: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(folder.join("pid")).unwrap_or_default();
        if let Some(pid) = text.strip_suffix('\n') {
            return pid.to_owned();
        }
        assert!(Instant::now() < deadline, "no number came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_model_asks_before_it_stops_a_job_of_the_user() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let stop = tool("job.stop", json!({ "id": 1 }));
    let mut talk = session(&folder, &[&stop, &tool("job.list", json!({})), DONE]);
    shell(&talk, "sleep 300 &").await;
    assert!(finished(&mut talk).await.runs_on());
    talk.submit("tidy up").await;
    let (ask, question) = talk.next_question().await;
    let Question::Step(question) = question else { panic!("{question:?}") };
    assert_eq!(question.risk.rule, "job.stop");
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(finished(&mut talk).await.outcome, Outcome::Declined);
    let listed = finished(&mut talk).await.stdout;
    assert!(listed.starts_with("1 runs"), "{listed}");
    talk.close().await;
}

#[tokio::test]
async fn a_step_of_the_model_runs_on_and_is_read_and_stopped_by_it() {
    let folder = crate::support::temp_dir();
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
    assert!(note.contains("as job 1") && note.contains("job_read"), "{note}");
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
async fn a_read_of_a_silent_job_waits_for_news_and_is_no_loop() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    fs::write(folder.join("log.txt"), "first line\n").unwrap();
    let read = |wait: u64| tool("job.read", json!({ "id": 1, "wait_s": wait }));
    let mut replies = vec![tail(), read(60)];
    replies.extend((0..4).map(|_| read(1)));
    replies.extend([read(60), DONE.to_owned()]);
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let mut talk = session(&folder, &replies);
    talk.submit("follow the log").await;
    talk.approve_next().await;
    assert!(finished(&mut talk).await.runs_on());
    let first = finished(&mut talk).await;
    assert!(first.is_pending && first.stdout.ends_with("first line\n"), "{}", first.stdout);
    for _ in 0..4 {
        let look = finished(&mut talk).await;
        assert!(look.stdout.ends_with("[nothing new]"), "{}", look.stdout);
    }
    let mut log = fs::OpenOptions::new().append(true).open(folder.join("log.txt")).unwrap();
    std::io::Write::write_all(&mut log, b"second line\n").unwrap();
    let news = finished(&mut talk).await.stdout;
    assert!(news.ends_with("second line\n"), "{news}");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.close().await;
}

#[tokio::test]
async fn a_running_step_goes_to_the_background_when_the_user_says_so() {
    let folder = crate::support::temp_dir();
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
    let folder = crate::support::temp_dir();
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
    let seen = ended_at_once(&mut talk, &folder, "exit 4 &").await;
    assert_eq!((seen.outcome, seen.exit_code), (Outcome::Ran, Some(4)));
    talk.close().await;
}

#[tokio::test]
async fn a_flooding_job_costs_little_and_its_file_stays_bounded() {
    let folder = crate::support::temp_dir();
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
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    shell(&talk, "echo $$ > pid; exec sleep 60 &").await;
    assert!(finished(&mut talk).await.runs_on());
    let pid = pid(&folder).await;
    assert!(Path::new("/proc").join(&pid).exists());
    talk.close().await;
    assert!(!Path::new("/proc").join(&pid).exists());
}

#[tokio::test]
async fn jobs_end_when_another_session_is_resumed() {
    let folder = crate::support::temp_dir();
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
    let pid = pid(&folder).await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.send(Op::Saved(SavedOp::Resume { session: earlier.clone() })).await;
    let info = talk.facts(|info| info.session == earlier).await;
    assert!(info.jobs.is_empty(), "{:?}", info.jobs);
    assert!(!Path::new("/proc").join(&pid).exists());
    talk.close().await;
}

#[tokio::test]
async fn the_port_of_a_server_is_noticed() {
    let folder = crate::support::temp_dir();
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
    let folder = crate::support::temp_dir();
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

#[tokio::test]
async fn a_step_at_work_at_its_time_limit_goes_to_the_background_when_the_user_says_so() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session_with_limit(&folder, &[DONE], Duration::from_secs(4));
    shell(&talk, CHATTY).await;
    choose(&mut talk, phrases::LIMIT_BACKGROUND.en).await;
    talk.next(|event| matches!(event, Event::QuestionClosed { .. }).then_some(())).await;
    assert!(finished(&mut talk).await.runs_on());
    fs::write(folder.join("stop"), "").unwrap();
    jobs(&mut talk, |jobs| jobs[0].state == JobState::Ended { exit: Some(0) }).await;
    talk.close().await;
}

#[tokio::test]
async fn a_step_at_work_at_its_time_limit_may_take_as_long_again_or_is_stopped() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session_with_limit(&folder, &[DONE], Duration::from_secs(4));
    shell(&talk, CHATTY).await;
    choose(&mut talk, phrases::LIMIT_WAIT.en).await;
    choose(&mut talk, phrases::LIMIT_STOP.en).await;
    let seen = finished(&mut talk).await;
    assert_eq!(seen.outcome, Outcome::TimedOut, "{seen:?}");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.close().await;
}

#[tokio::test]
async fn a_question_about_a_step_is_withdrawn_when_the_step_ends() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session_with_limit(&folder, &[DONE], Duration::from_secs(4));
    shell(&talk, CHATTY).await;
    let (ask, _) = talk.next_question().await;
    fs::write(folder.join("stop"), "").unwrap();
    talk.next(|event| {
        matches!(event, Event::QuestionClosed { ask: it } if it == ask).then_some(())
    })
    .await;
    let seen = finished(&mut talk).await;
    assert_eq!((seen.outcome, seen.exit_code), (Outcome::Ran, Some(0)));
    assert!(seen.stdout.ends_with("over\n"));
    talk.close().await;
}

#[tokio::test]
async fn a_silent_step_is_stopped_at_its_time_limit_without_a_question() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session_with_limit(&folder, &[DONE], Duration::from_secs(1));
    shell(&talk, "exec sleep 300").await;
    let seen = talk
        .next(|event| match event {
            Event::Asked(ask) => panic!("{ask:?}"),
            Event::StepFinished(seen) => Some(*seen),
            _ => None,
        })
        .await;
    assert_eq!(seen.outcome, Outcome::TimedOut);
    talk.close().await;
}

#[tokio::test]
async fn a_job_that_forks_away_is_ended_and_said_and_one_that_wants_input_gets_none() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = session(&folder, &[DONE]);
    // Its own process ends at once, as a daemon's does.
    let line = "setsid sh -c 'echo $$ > pid; exec sleep 300' > /dev/null 2>&1 & \
                while [ ! -s pid ]; do sleep 0.05; done; exit 0 &";
    let seen = ended_at_once(&mut talk, &folder, line).await;
    let note = seen.note.as_ref().map(|note| note.text(Lang::En)).unwrap_or_default();
    assert!(note.contains("left in the background ended with the step: 1"), "{note}");
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    // The later one ends as its input does, and is no job.
    let seen = ended_at_once(&mut talk, &folder, "read answer || echo no input &").await;
    assert_eq!(seen.stdout, "no input\n");
    talk.close().await;
}

/// One whose jobs may outlive it.
fn keeping_session(folder: &Path) -> SessionClient {
    let model = Scripted::parse("test", DONE).unwrap();
    let mut parts = talk::parts(folder, Arc::new(model));
    parts.outputs = Some(folder.join(".outputs"));
    let program = env!("CARGO_BIN_EXE_avocet").into();
    parts.access.kept_jobs = Some(KeptJobs { place: folder.join(".jobs"), program });
    SessionClient::start(parts)
}

async fn keep(talk: &mut SessionClient) {
    ask(talk, JobRequest::Keep { id: 1 }).await;
    let notice = talk.notice().await.say.text(Lang::En);
    assert!(notice.contains("goes on when Avocet ends"), "{notice}");
}

/// Asks for the output until it has this text.
async fn output_with(talk: &mut SessionClient, wanted: &str) -> Vec<String> {
    loop {
        ask(talk, JobRequest::Show { id: 1, page: None }).await;
        let rows = talk.page().await;
        if rows.iter().any(|row| row.contains(wanted)) {
            return rows;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// One that has ended and was not collected does not run.
async fn runs(folder: &Path) -> bool {
    let pid = pid(folder).await;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with('Z')
}

/// The records of kept jobs.
fn records(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.join(".jobs")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}

/// Ends with its folder as well, so that a test that fails leaves nothing behind.
const LASTING: &str = "echo $$ > pid; echo begun; \
                       while [ -e pid ] && [ ! -e later ]; do sleep 0.05; done; echo later; \
                       while [ -e pid ] && [ ! -e stop ]; do sleep 0.05; done &";

#[tokio::test]
async fn a_kept_job_outlives_its_session_and_the_next_one_finds_reads_and_stops_it() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = keeping_session(&folder);
    shell(&talk, LASTING).await;
    assert!(finished(&mut talk).await.runs_on());
    keep(&mut talk).await;
    ask(&talk, JobRequest::List).await;
    let listed = talk.page().await;
    assert!(listed[0].contains("runs") && listed[0].ends_with("; stays"), "{listed:?}");
    talk.close().await;
    assert!(runs(&folder).await && records(&folder).len() == 1);
    fs::write(folder.join("later"), "").unwrap();
    let mut talk = keeping_session(&folder);
    let found = jobs(&mut talk, |jobs| jobs[0].kept).await;
    assert_eq!(found.jobs[0].state, JobState::Running);
    let notice = talk.notice().await.say.text(Lang::En);
    assert!(notice.contains("kept by an earlier session, still runs"), "{notice}");
    let rows = output_with(&mut talk, "later").await;
    assert_eq!(rows, ["begun", "later"]);
    ask(&talk, JobRequest::Stop { id: 1 }).await;
    jobs(&mut talk, |jobs| jobs[0].state == JobState::Stopped).await;
    assert!(!runs(&folder).await);
    talk.close().await;
    assert!(records(&folder).is_empty());
}

#[tokio::test]
async fn a_kept_job_tells_its_exit_code_while_its_session_lasts_and_is_stopped_in_it() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = keeping_session(&folder);
    shell(&talk, "while [ ! -e stop ]; do sleep 0.05; done; exit 5 &").await;
    assert!(finished(&mut talk).await.runs_on());
    keep(&mut talk).await;
    fs::write(folder.join("stop"), "").unwrap();
    jobs(&mut talk, |jobs| jobs[0].state == JobState::Ended { exit: Some(5) }).await;
    shell(&talk, "echo $$ > pid; exec sleep 300 &").await;
    assert!(finished(&mut talk).await.runs_on());
    assert!(runs(&folder).await);
    ask(&talk, JobRequest::Keep { id: 2 }).await;
    jobs(&mut talk, |jobs| jobs[1].kept).await;
    ask(&talk, JobRequest::Stop { id: 2 }).await;
    jobs(&mut talk, |jobs| jobs[1].state == JobState::Stopped).await;
    assert!(!runs(&folder).await);
    talk.close().await;
}

#[tokio::test]
async fn a_job_whose_number_was_given_away_is_not_touched() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = keeping_session(&folder);
    shell(&talk, LASTING).await;
    assert!(finished(&mut talk).await.runs_on());
    keep(&mut talk).await;
    talk.close().await;
    // As if both processes had ended, and others had their numbers now.
    let record = records(&folder).remove(0);
    let mut job: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    let keeper = job["keeper"]["pid"].as_u64().unwrap();
    for process in ["leader", "keeper"] {
        let start = job[process]["start"].as_u64().unwrap();
        job[process]["start"] = (start - 1).into();
    }
    fs::write(&record, job.to_string()).unwrap();
    let mut talk = keeping_session(&folder);
    let found = jobs(&mut talk, |jobs| jobs[0].kept).await;
    assert_eq!(found.jobs[0].state, JobState::Gone);
    ask(&talk, JobRequest::Stop { id: 1 }).await;
    talk.next(|event| match event {
        Event::Notice(notice) => notice.say.text(Lang::En).contains("ended already").then_some(()),
        _ => None,
    })
    .await;
    talk.close().await;
    assert!(runs(&folder).await && Path::new(&format!("/proc/{keeper}")).exists());
    fs::write(folder.join("later"), "").unwrap();
    fs::write(folder.join("stop"), "").unwrap();
}

#[tokio::test]
async fn the_output_of_a_kept_job_stays_bounded() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = keeping_session(&folder);
    let flood = "echo $$ > pid; while [ -e pid ] && [ ! -e later ]; do sleep 0.05; done; \
                 yes 0123456789abcdef | head -c 60000000; echo over; \
                 while [ -e pid ] && [ ! -e stop ]; do sleep 0.05; done &";
    shell(&talk, flood).await;
    assert!(finished(&mut talk).await.runs_on());
    keep(&mut talk).await;
    fs::write(folder.join("later"), "").unwrap();
    output_with(&mut talk, "over").await;
    let files = fs::read_dir(folder.join(".jobs")).unwrap();
    let size: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size > 100_000 && size < 10 << 20, "{size}");
    fs::write(folder.join("stop"), "").unwrap();
    jobs(&mut talk, |jobs| jobs[0].state == JobState::Ended { exit: Some(0) }).await;
    talk.close().await;
}

#[tokio::test]
async fn a_daemon_that_is_meant_to_stay_is_left_running_and_said() {
    let folder = crate::support::temp_dir();
    let folder = folder.path().canonicalize().unwrap();
    let programs = crate::support::temp_dir();
    let programs = programs.path().canonicalize().unwrap();
    fs::copy("/bin/sleep", programs.join("sccache")).unwrap();
    let mut talk = session(&folder, &[DONE]);
    let program = programs.join("sccache").display().to_string();
    let line = |program: &str| {
        format!(
            "setsid {program} 300 < /dev/null > /dev/null 2>&1 & echo $! > pid; \
             while [ \"$(readlink /proc/$!/exe)\" != {program} ]; do sleep 0.01; done"
        )
    };
    shell(&talk, &line(&program)).await;
    let note = finished(&mut talk).await.note.unwrap().text(Lang::En);
    assert!(note.contains("sccache server"), "{note}");
    assert!(runs(&folder).await);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // One of the workspace only has its name.
    fs::copy("/bin/sleep", folder.join("sccache")).unwrap();
    shell(&talk, &line(&folder.join("sccache").display().to_string())).await;
    let note = finished(&mut talk).await.note.unwrap().text(Lang::En);
    assert!(note.contains("ended with the step: 1"), "{note}");
    assert!(!runs(&folder).await);
    talk.close().await;
}
