//! A session from outside: ops in, events out. The model is scripted; the programs and the policy
//! are real.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::i18n::{Lang, session as phrases};
use avocet::model::{Chunk, Model, ModelError, Request, Scripted};
use avocet::protocol::{
    ApprovalScope, Decision, Dialect, Effort, Event, ExportFormat, Mode, ModelOp, Op, Outcome,
    Provider, Question, QuestionOp, QueuedMessage, Report, Rewind, RuleOp, SavedOp, SessionOp,
    SettingOp, StepAction, StepQuestion, Submission, SubmitId, Tier, TurnOp, TurnOrigin,
    TurnOutcome,
};
use avocet::session::extensions::ExtensionCache;
use avocet::session::script_places::{DiskFiles, ScriptPlaces, SealOpener};
use avocet::session::trust::TrustAnswer;
use avocet::session::{Connected, FoundModelServer, SessionConfig, Wanted};
use futures_util::FutureExt;
use futures_util::stream::{BoxStream, StreamExt as _};

use crate::support::talk::derefs_to_client;
use crate::support::talk::{self, DONE, SessionClient, chat, cmd, tool, with_files};

struct TestSession {
    client: SessionClient,
    folder: tempfile::TempDir,
}

derefs_to_client!(TestSession);

impl TestSession {
    fn start(replies: &[&str]) -> TestSession {
        TestSession::with(replies, |_| {})
    }

    fn with(replies: &[&str], change: impl FnOnce(&mut SessionConfig)) -> TestSession {
        TestSession::in_folder(crate::support::temp_dir(), replies, change)
    }

    fn in_folder(
        folder: tempfile::TempDir,
        replies: &[&str],
        change: impl FnOnce(&mut SessionConfig),
    ) -> TestSession {
        let real = folder.path().canonicalize().unwrap();
        let mut parts = parts(&real, replies);
        change(&mut parts);
        TestSession { client: SessionClient::start(parts), folder }
    }

    /// Ends it, and goes on in another one in the same folder.
    async fn again(self, replies: &[&str], change: impl FnOnce(&mut SessionConfig)) -> TestSession {
        let TestSession { client, folder } = self;
        client.close().await;
        TestSession::in_folder(folder, replies, change)
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    async fn history_share(&mut self) -> Vec<String> {
        self.send(Op::Session(SessionOp::Report { report: Report::Context })).await;
        self.page().await
    }
}

fn model(replies: &[&str]) -> Arc<dyn Model> {
    Arc::new(Scripted::parse("test", &replies.join("\n---\n")).unwrap())
}

fn parts(folder: &Path, replies: &[&str]) -> SessionConfig {
    let mut parts = talk::parts(folder, model(replies));
    parts.model_access.connect = Arc::new(|wanted, _| match wanted {
        Wanted::Model { name, .. } if name == "other" => Ok(talk::connected(model(&[DONE]))),
        _ => Err(phrases::NO_MODELS.into()),
    });
    parts
}

fn texts(messages: &[QueuedMessage]) -> Vec<String> {
    messages.iter().map(|message| message.text.clone()).collect()
}

#[tokio::test]
async fn a_message_sent_while_a_turn_runs_waits_for_its_end() {
    let slow = format!("#! {{\"delay_ms\":20,\"chunk\":8}}\n{DONE}");
    let mut talk = TestSession::start(&[&slow, DONE]);
    talk.submit("one").await;
    talk.submit("two").await;
    let queued = talk
        .next(|event| match event {
            Event::Queued { messages } => Some(texts(&messages)),
            _ => None,
        })
        .await;
    assert_eq!(queued, ["two"]);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let (text, origin) = talk
        .next(|event| match event {
            Event::TurnStarted { text, origin, .. } => Some((text, origin)),
            _ => None,
        })
        .await;
    assert_eq!((text.as_str(), origin), ("two", TurnOrigin::Queue));
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

fn followed(id: u64, op: Op) -> Submission {
    Submission { id: Some(SubmitId(id)), op }
}

#[tokio::test]
async fn of_two_equal_messages_the_one_that_is_meant_is_taken_out_of_the_queue() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE, DONE]);
    let same = || Op::Turn(TurnOp::Submit { text: "again".to_owned() });
    talk.send(followed(1, Op::Turn(TurnOp::Submit { text: "go".to_owned() }))).await;
    let (ask, _) = talk.next_question().await;
    talk.send(followed(2, same())).await;
    talk.send(followed(3, same())).await;
    talk.send(followed(4, Op::Turn(TurnOp::Steer { text: "again".to_owned() }))).await;
    talk.send(Op::Turn(TurnOp::Unqueue { id: SubmitId(2) })).await;
    let dropped = talk
        .next(|event| match event {
            Event::Dropped { submit } => Some(submit),
            _ => None,
        })
        .await;
    assert_eq!(dropped, SubmitId(2));
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    let steered = talk
        .next(|event| match event {
            Event::Steered { submit, .. } => Some(submit),
            _ => None,
        })
        .await;
    assert_eq!(steered, Some(SubmitId(4)));
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let begun = talk
        .next(|event| match event {
            Event::TurnStarted { submit, .. } => Some(submit),
            _ => None,
        })
        .await;
    assert_eq!(begun, Some(SubmitId(3)));
}

#[tokio::test]
async fn whoever_follows_a_submission_is_told_when_no_turn_comes_of_it() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE]);
    let invoked =
        Op::Turn(TurnOp::Invoke { name: "gone".into(), args: String::new(), mentions: Vec::new() });
    let set = Op::Setting(SettingOp::SetLang { lang: Lang::En });
    for (id, op) in (10..).zip([
        Op::Turn(TurnOp::Retry),
        invoked,
        Op::Turn(TurnOp::RunQueue),
        set,
        Op::Turn(TurnOp::Undo { turns: 1 }),
    ]) {
        let shown = format!("{op:?}");
        talk.send(followed(id, op)).await;
        let dropped = talk
            .next(|event| match event {
                Event::Dropped { submit } => Some(submit),
                Event::TurnStarted { .. } => panic!("{shown} began a turn"),
                _ => None,
            })
            .await;
        assert_eq!(dropped, SubmitId(id), "{shown}");
    }
    // What waits is told too when the queue is emptied.
    talk.submit("go").await;
    talk.next_question().await;
    talk.send(followed(20, Op::Turn(TurnOp::Submit { text: "later".to_owned() }))).await;
    talk.send(followed(21, Op::Turn(TurnOp::Steer { text: "soon".to_owned() }))).await;
    talk.send(Op::Turn(TurnOp::SetQueue { texts: Vec::new() })).await;
    for id in [21, 20] {
        let dropped = talk
            .next(|event| match event {
                Event::Dropped { submit } => Some(submit),
                _ => None,
            })
            .await;
        assert_eq!(dropped, SubmitId(id));
    }
}

/// A session in a folder nobody answered for yet, and what was kept of the answer.
fn stranger(replies: &[&str]) -> (TestSession, Arc<Mutex<Vec<TrustAnswer>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let answers = Arc::clone(&kept);
    let talk = TestSession::with(replies, |parts| {
        parts.security.place.trusted = false;
        parts.security.trust.ask_because = Some(phrases::TRUST_NEW.into());
        parts.security.trust.parent = Some("/home/ada/code".to_owned());
        parts.security.trust.save = Box::new(move |given| {
            answers.lock().unwrap().push(given);
            Ok(())
        });
    });
    (talk, kept)
}

#[tokio::test]
async fn nothing_starts_before_the_trust_question_is_answered() {
    let (mut talk, kept) = stranger(&[&cmd("pwd", &[]), DONE]);
    let (ask, question) = talk.next_question().await;
    assert!(matches!(question, Question::Trust { .. }));
    talk.submit("where am I").await;
    let queued = talk
        .next(|event| match event {
            Event::Queued { messages } => Some(texts(&messages)),
            Event::TurnStarted { .. } => panic!("a turn started"),
            _ => None,
        })
        .await;
    assert_eq!(queued, ["where am I"]);
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    let ran = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen.outcome),
            Event::Asked(ask) => panic!("{ask:?}"),
            _ => None,
        })
        .await;
    assert_eq!(ran, Outcome::Ran);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(*kept.lock().unwrap(), [TrustAnswer::Folder]);
}

#[tokio::test]
async fn in_a_read_only_folder_steps_that_read_its_settings_ask_until_it_is_trusted() {
    let (mut talk, kept) =
        stranger(&[&cmd("git", &["status"]), DONE, &cmd("git", &["status"]), DONE]);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    talk.submit("where am I").await;
    let (ask, question) = talk.next_question().await;
    let Question::Step(StepQuestion { risk, rule, .. }) = question else { panic!("{question:?}") };
    assert_eq!((risk.rule.as_str(), rule), ("folder.untrusted", None));
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.send(Op::Rules(RuleOp::Trust)).await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.submit("again").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(*kept.lock().unwrap(), [TrustAnswer::Untrusted, TrustAnswer::Folder]);
}

#[tokio::test]
async fn trusting_at_a_step_question_takes_effect_at_once_and_is_saved() {
    let (mut talk, kept) = stranger(&[
        &cmd("git", &["status"]),
        &cmd("git", &["status"]),
        DONE,
        &cmd("git", &["status"]),
        DONE,
    ]);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    talk.submit("where am I").await;
    let (ask, question) = talk.next_question().await;
    let Question::Step(StepQuestion { trust: Some(trust), .. }) = question else {
        panic!("{question:?}")
    };
    assert!(!trust.folder.is_empty());
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Trust })).await;
    for _ in 0..2 {
        let ran = talk
            .next(|event| match event {
                Event::StepFinished(seen) => Some(seen.outcome),
                Event::Asked(ask) => panic!("{ask:?}"),
                _ => None,
            })
            .await;
        assert_eq!(ran, Outcome::Ran);
    }
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.submit("again").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(*kept.lock().unwrap(), [TrustAnswer::Untrusted, TrustAnswer::Folder]);
}

#[tokio::test]
async fn dismissing_the_trust_question_changes_and_saves_nothing() {
    let (mut talk, kept) =
        stranger(&[&cmd("git", &["status"]), DONE, &cmd("git", &["status"]), DONE]);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Dismiss })).await;
    talk.submit("where am I").await;
    let (ask, question) = talk.next_question().await;
    assert!(matches!(question, Question::Step { .. }), "{question:?}");
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    for decision in [Decision::Approve, Decision::Dismiss] {
        talk.send(Op::Rules(RuleOp::Trust)).await;
        let (ask, _) = talk.next_question().await;
        talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    }
    talk.submit("again").await;
    let outcome = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen.outcome),
            Event::Asked(ask) => panic!("{ask:?}"),
            _ => None,
        })
        .await;
    assert_eq!(outcome, Outcome::Ran);
    assert_eq!(*kept.lock().unwrap(), [TrustAnswer::Folder]);
}

#[tokio::test]
async fn stopping_at_the_trust_question_leaves_it_undecided_and_continues() {
    let (mut talk, kept) = stranger(&[DONE]);
    let (asked, _) = talk.next_question().await;
    talk.submit("hello").await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    let answered = talk
        .next(|event| match event {
            Event::QuestionClosed { ask } => Some(ask),
            _ => None,
        })
        .await;
    assert_eq!(answered, asked);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(*kept.lock().unwrap(), []);
}

#[tokio::test]
async fn the_parent_folder_is_trusted_only_when_the_answer_says_so() {
    let approve_all = |steps: &[&str]| Decision::ApproveAll {
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
    };
    for (decision, expected) in [
        (Decision::TrustParent, TrustAnswer::Parent),
        (approve_all(&["/home/ada/code"]), TrustAnswer::Untrusted),
        (approve_all(&[]), TrustAnswer::Untrusted),
    ] {
        let (mut talk, kept) = stranger(&[DONE]);
        let (ask, question) = talk.next_question().await;
        let Question::Trust { above, .. } = question else { panic!("{question:?}") };
        assert_eq!(above.as_deref(), Some("/home/ada/code"));
        talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
        talk.submit("go").await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
        assert_eq!(*kept.lock().unwrap(), [expected]);
    }
}

#[tokio::test]
async fn the_user_can_quit_at_the_trust_question() {
    let (mut talk, kept) = stranger(&[DONE]);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Stop })).await;
    talk.next(|event| matches!(event, Event::Closed).then_some(())).await;
    assert_eq!(*kept.lock().unwrap(), [TrustAnswer::Folder; 0]);
}

#[tokio::test]
async fn a_queue_pauses_after_a_failure_until_a_turn_succeeds() {
    let broken = format!("#! {{\"delay_ms\":20,\"chunk\":8,\"cut\":\"broken\"}}\n{DONE}");
    let unfinished = broken.trim_end_matches('}').to_owned();
    let mut talk = TestSession::start(&[&unfinished, DONE, DONE]);
    talk.submit("one").await;
    talk.submit("two").await;
    assert!(matches!(talk.ending().await, TurnOutcome::Failed { .. }));
    talk.submit("three").await;
    for expected in ["three", "two"] {
        let text = talk
            .next(|event| match event {
                Event::TurnStarted { text, .. } => Some(text),
                _ => None,
            })
            .await;
        assert_eq!(text, expected);
    }
}

#[tokio::test]
async fn a_session_rule_lets_the_next_step_run_unasked() {
    let make = |name: &str| cmd("mkdir", &[name]);
    let mut talk = TestSession::start(&[&make("a"), DONE, &make("a/b"), DONE]);
    talk.send(Op::Rules(RuleOp::Allow { rule: "mkdir *".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::ALLOWED);
    talk.submit("go").await;
    let seen = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen),
            Event::Asked(_) => panic!("it asks all the same"),
            _ => None,
        })
        .await;
    assert_eq!(seen.outcome, Outcome::Ran);
    assert!(talk.folder().join("a").is_dir());
}

#[tokio::test]
async fn what_was_allowed_for_a_session_asks_again_in_the_next_one() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE]);
    talk.send(Op::Rules(RuleOp::Allow { rule: "mkdir *".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::ALLOWED);
    talk.send(Op::Saved(SavedOp::New)).await;
    talk.submit("go").await;
    let asked = |event: Event| match event {
        Event::Asked(ask) => Some(ask),
        Event::StepFinished(seen) => panic!("it ran unasked: {seen:?}"),
        _ => None,
    };
    assert!(matches!(talk.next(asked).await.question, Question::Step(_)));
}

#[tokio::test]
async fn an_added_folder_is_read_unasked() {
    let other = crate::support::temp_dir();
    let other = other.path().canonicalize().unwrap();
    std::fs::write(other.join("a.txt"), "from elsewhere\n").unwrap();
    let path = other.join("a.txt").display().to_string();
    let mut talk = TestSession::start(&[&cmd("cat", &[&path]), DONE]);
    for (folder, word) in [
        ("/", avocet::i18n::safety::ADD_TOO_MUCH),
        ("nowhere", phrases::ADD_NO_FOLDER),
        (&*other.display().to_string(), phrases::ADDED_FOLDER),
        (&*other.display().to_string(), phrases::ADD_KNOWN),
    ] {
        talk.send(Op::Rules(RuleOp::AddFolder { path: folder.to_owned() })).await;
        assert_eq!(talk.notice().await.say.phrase(), word, "{folder}");
    }
    talk.submit("go").await;
    let seen = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen),
            Event::Asked(_) => panic!("it asks all the same"),
            _ => None,
        })
        .await;
    assert!(seen.stdout.contains("from elsewhere"), "{}", seen.stdout);
}

#[tokio::test]
async fn a_denied_program_stays_denied_whatever_is_allowed() {
    let mut talk = TestSession::start(&[&cmd("sudo", &["ls"]), DONE]);
    talk.send(Op::Rules(RuleOp::Allow { rule: "sudo *".into() })).await;
    talk.submit("go").await;
    let seen = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen),
            _ => None,
        })
        .await;
    assert_eq!((seen.outcome, seen.risk.tier), (Outcome::Refused, Tier::L2));
}

#[tokio::test]
async fn an_edit_is_assessed_while_it_is_typed() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE]);
    talk.submit("go").await;
    let (ask, _) = talk.next_question().await;
    let work = StepAction::exec("rm", &["-rf", "a"]);
    talk.send(Op::Question(QuestionOp::PreviewRisk { ask, work: work.clone() })).await;
    let (judged, tier) = talk
        .next(|event| match event {
            Event::Judged { work, risk, .. } => Some((work, risk.tier)),
            _ => None,
        })
        .await;
    assert_eq!((judged, tier), (work, Tier::L2));
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Stop })).await;
    assert_eq!(talk.ending().await, TurnOutcome::Stopped);
}

#[tokio::test]
async fn a_stop_closes_the_question() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE]);
    talk.submit("go").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    let answered = talk
        .next(|event| match event {
            Event::QuestionClosed { ask } => Some(ask),
            _ => None,
        })
        .await;
    assert_eq!(answered, ask);
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.submit("again").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert!(!talk.folder().join("a").exists(), "an answer that came too late runs nothing");
}

#[tokio::test]
async fn a_shell_line_runs_and_a_high_risk_one_asks() {
    let mut talk = TestSession::start(&[DONE]);
    talk.send(Op::Turn(TurnOp::Shell {
        line: "printf '%s' one two | tr a-z A-Z".into(),
        keep: true,
    }))
    .await;
    let seen = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen),
            _ => None,
        })
        .await;
    assert_eq!((seen.stdout.as_str(), seen.step.id.is_empty()), ("ONETWO", false));
    talk.ending().await;
    talk.send(Op::Turn(TurnOp::Shell { line: "rm -rf gone".into(), keep: true })).await;
    let (ask, question) = talk.next_question().await;
    let Question::Step(StepQuestion { risk, pieces, .. }) = question else { panic!("a step") };
    assert_eq!((risk.tier, pieces.len()), (Tier::L2, 1));
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn a_shell_line_typed_during_a_turn_runs_after_it() {
    let mut talk = TestSession::start(&[&cmd("mkdir", &["a"]), DONE]);
    talk.submit("go").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Turn(TurnOp::Shell { line: "printf two".into(), keep: true })).await;
    talk.send(Op::Turn(TurnOp::Shell { line: "printf three".into(), keep: false })).await;
    let queued = talk
        .next(|event| match event {
            Event::Queued { messages } if messages.len() == 2 => Some(texts(&messages)),
            _ => None,
        })
        .await;
    assert_eq!(queued, ["!printf two", "!!printf three"]);
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    for expected in ["two", "three"] {
        let ran = talk
            .next(|event| match event {
                Event::StepFinished(seen) => Some(seen.stdout),
                _ => None,
            })
            .await;
        assert_eq!(ran, expected);
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
}

#[tokio::test]
async fn a_restored_queue_starts_only_on_request() {
    let (mut talk, _) = stranger(&[DONE, DONE, DONE]);
    let (ask, _) = talk.next_question().await;
    let kept = vec!["old one".to_owned(), "!printf old".to_owned()];
    talk.send(Op::Turn(TurnOp::SetQueue { texts: kept })).await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.send(Op::Session(SessionOp::Report { report: Report::Usage })).await;
    talk.next(|event| match event {
        Event::Page(_) => Some(()),
        Event::TurnStarted { text, .. } => panic!("{text} started by itself"),
        _ => None,
    })
    .await;
    talk.send(Op::Turn(TurnOp::RunQueue)).await;
    for expected in ["old one", "!printf old"] {
        assert_eq!(talk.started().await, expected);
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
    talk.send(Op::Turn(TurnOp::RunQueue)).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::QUEUE_EMPTY);
}

#[tokio::test]
async fn messages_typed_at_the_trust_question_precede_the_restored_queue() {
    let (mut talk, _) = stranger(&[DONE, DONE]);
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Turn(TurnOp::SetQueue { texts: vec!["old".to_owned()] })).await;
    talk.submit("new").await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    for expected in ["new", "old"] {
        assert_eq!(talk.started().await, expected);
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
}

#[tokio::test]
async fn the_shown_branch_is_updated_after_a_step() {
    let mut talk = TestSession::start(&[DONE]);
    let git = talk.folder().join(".git");
    std::fs::create_dir(&git).unwrap();
    let head = "ref: refs/heads/topic";
    talk.send(Op::Turn(TurnOp::Shell { line: format!("echo '{head}' > .git/HEAD"), keep: false }))
        .await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let branch = talk
        .next(|event| match event {
            Event::Facts(facts) => Some(facts.branch),
            _ => None,
        })
        .await;
    assert_eq!(branch.as_deref(), Some("topic"));
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_an_answer_about_the_shell() {
    let mut talk = TestSession::start(&[DONE]);
    talk.send(Op::Turn(TurnOp::Shell { line: "rm -rf gone".into(), keep: true })).await;
    talk.next_question().await;
    talk.send(Op::Session(SessionOp::Shutdown)).await;
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    talk.next(|event| matches!(event, Event::Closed).then_some(())).await;
}

#[tokio::test]
async fn steps_are_counted_from_one() {
    let mut talk = TestSession::start(&[&cmd("pwd", &[]), DONE]);
    talk.submit("where?").await;
    let id = talk
        .next(|event| match event {
            Event::StepStarted { step, .. } => Some(step.id),
            _ => None,
        })
        .await;
    assert_eq!(id, "cmd_001");
}

#[tokio::test]
async fn an_unavailable_mode_changes_nothing() {
    let mut talk = TestSession::start(&[DONE]);
    talk.send(Op::Setting(SettingOp::SetMode { mode: Mode::Low })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::NO_MODELS);
    talk.send(Op::Setting(SettingOp::SetLang { lang: Lang::Zh })).await;
    let mode = talk
        .next(|event| match event {
            Event::Facts(facts) if facts.lang == Lang::Zh => Some(facts.mode),
            _ => None,
        })
        .await;
    assert_eq!(mode, Mode::High);
}

#[tokio::test]
async fn switching_modes_reports_the_new_model() {
    let mut talk = TestSession::with(&[DONE], |parts| {
        parts.model_access.connect = Arc::new(|_, _| Ok(talk::connected(model(&[DONE]))));
    });
    talk.send(Op::Setting(SettingOp::SetMode { mode: Mode::Low })).await;
    assert_eq!(talk.notice().await.say.text(Lang::En), "Mode low: switched to `scripted`.");
}

#[tokio::test]
async fn a_fresh_conversation_stops_what_runs_and_starts_at_one() {
    let mut talk = TestSession::start(&["#! {\"wait\":\"after\"}\n{\"type\":\"chat\",", DONE]);
    talk.submit("one").await;
    talk.next(|event| matches!(event, Event::ReplyStarted).then_some(())).await;
    talk.send(Op::Saved(SavedOp::New)).await;
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    talk.next(|event| matches!(event, Event::Cleared).then_some(())).await;
    talk.submit("two").await;
    let turn = talk
        .next(|event| match event {
            Event::TurnStarted { turn, .. } => Some(turn),
            _ => None,
        })
        .await;
    assert_eq!(turn, 1);
}

#[tokio::test]
async fn what_is_allowed_for_a_session_ends_with_it() {
    let step = cmd("mkdir", &["made"]);
    let kept = cmd("touch", &["kept"]);
    let mut talk = TestSession::start(&[&step, DONE, &kept, DONE, &step, DONE, &kept, DONE]);
    for scope in [ApprovalScope::Session, ApprovalScope::Project] {
        talk.submit("do it").await;
        let (ask, _) = talk.next_question().await;
        talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Remember(scope) }))
            .await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
    for rule in ["rmdir *", "cp *"] {
        talk.send(Op::Rules(RuleOp::Allow { rule: rule.into() })).await;
    }
    talk.send(Op::Rules(RuleOp::Deny { rule: "mv *".into() })).await;
    talk.facts(|facts| facts.allowed.len() == 4 && facts.denied.len() == 1).await;
    talk.send(Op::Saved(SavedOp::New)).await;
    let facts = talk.facts(|facts| facts.turns == 0).await;
    let kept_rule = facts.allowed.as_slice();
    assert!(matches!(kept_rule, [rule] if rule.starts_with("touch ")), "{kept_rule:?}");
    assert_eq!(facts.denied, ["mv *"]);
    talk.submit("do it again").await;
    talk.approve_next().await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let told = talk.turn("and again").await;
    assert!(!told.iter().any(|event| matches!(event, Event::Asked(_))), "{told:?}");
}

#[tokio::test]
async fn an_export_masks_secrets_and_overwrites_nothing() {
    let mut talk =
        TestSession::start(&[r#"{"type":"chat","message":"It is sekret-value-1234.","data":{}}"#]);
    talk.submit("tell me").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let export =
        || Op::Saved(SavedOp::Export { format: ExportFormat::Md, path: Some("talk.md".into()) });
    talk.send(export()).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::EXPORTED);
    let text = std::fs::read_to_string(talk.folder().join("talk.md")).unwrap();
    assert!(text.contains("tell me") && !text.contains("sekret-value-1234"), "{text}");
    talk.send(export()).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::EXPORT_EXISTS);
}

#[tokio::test]
async fn discovered_servers_are_offered_and_can_be_named() {
    let found = FoundModelServer {
        name: "Ollama".into(),
        base_url: "http://127.0.0.1:11434/v1".into(),
        key_env: None,
        models: vec!["other".into()],
    };
    let mut talk = TestSession::with(&[DONE], |parts| {
        parts.model_access.discover = Some(async move { vec![found] }.boxed());
    });
    assert_eq!(talk.notice().await.say.phrase(), phrases::FOUND);
    talk.send(Op::Model(ModelOp::SetModel { name: "other".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::MODEL_SET);
    talk.send(Op::Model(ModelOp::SetModel { name: "nowhere".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::NO_MODELS, "said, and the old one stays");
}

/// Calls tools in its wire format's own way.
struct ToolCaller;

impl Model for ToolCaller {
    fn name(&self) -> &str {
        "far"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Tools
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let said = Chunk::Text("From far away.".into());
        futures_util::stream::iter([Ok(said), Ok(Chunk::Finished(None))]).boxed()
    }
}

#[tokio::test]
async fn a_switch_to_another_server_says_where_and_how_and_counts_for_the_next_message() {
    let wanted = Arc::<Mutex<Vec<Wanted>>>::default();
    let heard = Arc::clone(&wanted);
    let mut talk = TestSession::with(&[DONE], |parts| {
        parts.model_access.connect = Arc::new(move |wanted, _| {
            heard.lock().unwrap().push(wanted.clone());
            let base_url = "https://api.far.example/v1".to_owned();
            let provider = Provider::Anthropic;
            Ok(Connected { provider, base_url, ..talk::connected(Arc::new(ToolCaller)) })
        });
    });
    talk.submit("near").await;
    talk.ending().await;
    let base_url = "https://api.far.example/v1".to_owned();
    let (server, model) = ("Far".to_owned(), "far".to_owned());
    talk.send(Op::Model(ModelOp::Connect {
        server,
        base_url: base_url.clone(),
        key_env: None,
        model,
    }))
    .await;
    let facts = talk.facts(|facts| facts.model == "far").await;
    assert_eq!((facts.provider, &facts.base_url), (Provider::Anthropic, &base_url));
    let said = talk.notice().await.say;
    assert_eq!(said.phrase(), phrases::MODEL_SET_TOOLS);
    let text = said.text(Lang::En);
    assert!(
        text.contains("`far`") && text.contains(&base_url) && text.contains("anthropic"),
        "{text}"
    );
    let wishes: Vec<Wanted> = wanted.lock().unwrap().drain(..).collect();
    let [Wanted::Model { name, found: Some(found) }] = &wishes[..] else { panic!("one wish") };
    assert_eq!((name.as_str(), &found.base_url, &found.key_env), ("far", &base_url, &None));
    talk.submit("and now?").await;
    let reply = talk
        .next(|event| match event {
            Event::Replied(reply) => Some(reply.message),
            _ => None,
        })
        .await;
    assert_eq!(reply, "From far away.");
}

#[tokio::test]
async fn a_shutdown_ends_a_running_child_and_closes() {
    let mut talk = TestSession::start(&[DONE]);
    talk.send(Op::Turn(TurnOp::Shell { line: "sleep 600".into(), keep: false })).await;
    talk.next(|event| matches!(event, Event::StepStarted { .. }).then_some(())).await;
    talk.send(Op::Session(SessionOp::Shutdown)).await;
    talk.next(|event| matches!(event, Event::Closed).then_some(())).await;
}

#[tokio::test]
async fn a_revoked_rule_no_longer_applies() {
    let make = |name: &str| cmd("mkdir", &[name]);
    let mut talk = TestSession::start(&[&make("a"), DONE, &make("a"), DONE]);
    talk.send(Op::Rules(RuleOp::Allow { rule: "mkdir a".into() })).await;
    talk.submit("one").await;
    let ran = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen.outcome),
            Event::Asked(ask) => panic!("{ask:?}"),
            _ => None,
        })
        .await;
    assert_eq!(ran, Outcome::Ran);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    talk.send(Op::Rules(RuleOp::Revoke { rule: "mkdir a".into() })).await;
    let left = talk
        .next(|event| match event {
            Event::Facts(facts) if facts.allowed.is_empty() => Some(facts.allowed.len()),
            _ => None,
        })
        .await;
    assert_eq!(left, 0);
    talk.submit("two").await;
    let (_, question) = talk.next_question().await;
    assert!(matches!(question, Question::Step { .. }));
}

const HANGING: &str = "#! {\"wait\":\"after\"}\n{\"type\":\"chat\",";

#[tokio::test]
async fn undelivered_steering_starts_a_new_turn() {
    let mut talk = TestSession::start(&[HANGING, DONE]);
    talk.submit("one").await;
    talk.next(|event| matches!(event, Event::ReplyStarted).then_some(())).await;
    talk.send(Op::Turn(TurnOp::Steer { text: "two".into() })).await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    assert_eq!(talk.started().await, "two");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn steering_reaches_the_running_turn() {
    let slow = format!("#! {{\"delay_ms\":20,\"chunk\":8}}\n{DONE}");
    let mut talk = TestSession::start(&[&slow, DONE]);
    talk.submit("one").await;
    talk.next(|event| matches!(event, Event::ReplyStarted).then_some(())).await;
    talk.send(Op::Turn(TurnOp::Steer { text: "two".into() })).await;
    let heard = talk
        .next(|event| match event {
            Event::Steered { text, submit: None } => Some(text),
            Event::TurnEnded { .. } => panic!("it ended unheard"),
            _ => None,
        })
        .await;
    assert_eq!(heard, "two");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn retry_sends_a_message_again_without_its_answer() {
    let mut talk =
        TestSession::start(&[DONE, r#"{"type":"chat","message":"Bad.","data":{}}"#, DONE]);
    for words in ["zero", "one"] {
        talk.submit(words).await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
    let before = talk.history_share().await;
    talk.send(Op::Turn(TurnOp::Retry)).await;
    assert_eq!(talk.started().await, "one");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let after = talk.history_share().await;
    assert_eq!(before.len(), after.len());
    assert_eq!(before.last(), after.last(), "as many turns as before");
}

#[tokio::test]
async fn retry_without_a_message_does_nothing() {
    let mut talk = TestSession::start(&[DONE]);
    talk.send(Op::Turn(TurnOp::Retry)).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::NOTHING_TO_RETRY);
}

#[tokio::test]
async fn the_usage_of_each_turn_is_shown_with_the_total() {
    let mut talk = TestSession::start(&[DONE, DONE]);
    for words in ["one", "two"] {
        talk.submit(words).await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
    talk.send(Op::Session(SessionOp::Report { report: Report::Usage })).await;
    let rows = talk.page().await;
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[0].starts_with("turn 1: about "), "{rows:?}");
    assert!(rows[2].starts_with("total: about "), "{rows:?}");
}

#[tokio::test]
async fn what_a_session_used_before_a_resume_is_shown_with_what_it_uses_now() {
    let counted = |usage: &str| format!("#! {{\"usage\":{usage}}}\n{DONE}");
    let (first, second) = (counted("[90,10]"), counted("[7,3]"));
    let mut talk = TestSession::with(&[&first], |parts| talk::with_store(parts, false));
    talk.submit("one").await;
    talk.ending().await;
    let mut talk = talk.again(&[&second], |parts| talk::with_store(parts, true)).await;
    talk.facts(|facts| facts.usage.input_tokens == 90).await;
    talk.submit("two").await;
    talk.ending().await;
    talk.send(Op::Session(SessionOp::Report { report: Report::Usage })).await;
    let expected = [
        "turn 1: 90 in, 10 out",
        "turn 2: 7 in, 3 out",
        "total: 97 in, 13 out",
        "since the start: 7 in, 3 out",
    ];
    assert_eq!(talk.page().await, expected);
}

// Files

#[tokio::test]
async fn a_change_asks_with_its_diff_and_undo_restores_the_file() {
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "two", "new": "2"}));
    let new = tool("file.write", serde_json::json!({"path": "new/b.txt", "content": "b\n"}));
    let mut talk = TestSession::with(&[&edit, &new, DONE, DONE], with_files);
    let (a, b) = (talk.folder().join("a.txt"), talk.folder().join("new/b.txt"));
    std::fs::write(&a, "one\r\ntwo\r\n").unwrap();
    talk.submit("change them").await;
    for _ in 0..2 {
        let (ask, question) = talk.next_question().await;
        let Question::Step(StepQuestion { change: Some(change), .. }) = question else {
            panic!("a change")
        };
        assert!(change.diff.contains("@@"), "{}", change.diff);
        talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    }
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(std::fs::read(&a).unwrap(), b"one\r\n2\r\n");
    assert_eq!(std::fs::read(&b).unwrap(), b"b\n");

    talk.send(Op::Session(SessionOp::Report { report: Report::Changes })).await;
    let shown = talk.next(|event| match event {
        Event::Changes { session, .. } => Some(session.len()),
        _ => None,
    });
    assert_eq!(shown.await, 2);
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    let turns = talk
        .next(|event| match event {
            Event::Undone { turns, .. } => Some(turns),
            _ => None,
        })
        .await;
    assert_eq!(turns, [1]);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(std::fs::read(&a).unwrap(), b"one\r\ntwo\r\n");
    assert!(!b.exists());
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    let said = talk.notice().await.say.text(Lang::En);
    assert!(said.starts_with("No step of this session"), "{said}");
}

#[tokio::test]
async fn a_file_changed_since_the_model_read_it_is_reported() {
    let read = tool("file.read", serde_json::json!({"path": "a.txt"}));
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "two", "new": "2"}));
    for (by_hand, is_said) in [(None, false), (Some("two\nmine\n"), true)] {
        let mut talk = TestSession::with(&[&read, DONE, &edit, DONE], with_files);
        let a = talk.folder().join("a.txt");
        std::fs::write(&a, "one\ntwo\n").unwrap();
        talk.submit("read it").await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
        if let Some(text) = by_hand {
            std::fs::write(&a, text).unwrap();
        }
        talk.submit("change it").await;
        let (ask, question) = talk.next_question().await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("a step") };
        let said = risk.reasons.iter().any(|reason| reason.rule == "file.changed");
        assert_eq!(said, is_said);
        talk.send(Op::Question(QuestionOp::Decide {
            ask,
            decision: Decision::Reject { word: None },
        }))
        .await;
        talk.ending().await;
    }
}

#[tokio::test]
async fn undo_asks_when_the_file_was_changed_and_a_rejection_keeps_it() {
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "one", "new": "1"}));
    let mut talk = TestSession::with(&[&edit, DONE], with_files);
    let a = talk.folder().join("a.txt");
    std::fs::write(&a, "one\n").unwrap();
    talk.submit("change it").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.ending().await;
    for (decision, left) in
        [(Decision::Reject { word: None }, "1\nmine\n"), (Decision::Approve, "one\n")]
    {
        std::fs::write(&a, "1\nmine\n").unwrap();
        talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
        let (ask, question) = talk.next_question().await;
        let Question::Step(StepQuestion { risk, change, .. }) = question else { panic!("a step") };
        assert_eq!(risk.rule, "file.write");
        assert!(risk.reasons.iter().any(|reason| reason.rule == "file.changed"));
        assert!(change.unwrap().diff.contains("-mine"));
        talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
        talk.ending().await;
        assert_eq!(std::fs::read_to_string(&a).unwrap(), left);
    }
}

/// Hears what the model is asked.
struct RecordingModel(Scripted, Arc<Mutex<Vec<String>>>);

impl Model for RecordingModel {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let said = request.messages.iter().map(|message| message.text());
        self.1.lock().unwrap().push(said.collect::<Vec<_>>().join("\n"));
        self.0.stream(request)
    }
}

/// Reasons little or much, and hears how much it is asked to.
struct ReasoningModel(Scripted, Arc<Mutex<Vec<Option<Effort>>>>);

impl Model for ReasoningModel {
    fn name(&self) -> &str {
        "thinker"
    }

    fn effort_levels(&self) -> Option<Vec<Effort>> {
        Some(vec![Effort::Low, Effort::High])
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        self.1.lock().unwrap().push(request.effort);
        self.0.stream(request)
    }
}

#[tokio::test]
async fn the_effort_changes_between_two_turns_and_the_facts_show_what_is_used() {
    let heard = Arc::<Mutex<Vec<Option<Effort>>>>::default();
    let replies = [chat("one"), chat("two"), chat("three")].join("\n---\n");
    let model = ReasoningModel(Scripted::parse("test", &replies).unwrap(), Arc::clone(&heard));
    let mut talk = TestSession::with(&[], |parts| parts.model_access.first.model = Arc::new(model));
    talk.facts(|facts| facts.effort_levels == [Effort::Low, Effort::High]).await;
    talk.submit("a").await;
    talk.ending().await;
    talk.send(Op::Model(ModelOp::SetEffort { effort: Some(Effort::Max) })).await;
    talk.facts(|facts| facts.effort == Some(Effort::High)).await;
    assert!(talk.notice().await.say.to_string().contains("; using `high`"));
    talk.submit("b").await;
    talk.ending().await;
    talk.send(Op::Model(ModelOp::SetEffort { effort: None })).await;
    talk.facts(|facts| facts.effort.is_none()).await;
    talk.submit("c").await;
    talk.ending().await;
    assert_eq!(*heard.lock().unwrap(), [None, Some(Effort::Max), None]);
}

/// A session in a folder that has these scripts.
fn scripts(
    files: &[(&str, &str)],
    replies: &[&str],
    trusted: bool,
) -> (TestSession, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let model = Arc::new(RecordingModel(model, Arc::clone(&heard)));
    let talk = TestSession::with(&[], |parts| {
        let folder = parts.security.place.cwd.clone();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        parts.model_access.first.model = model;
        let trusted: Vec<PathBuf> = trusted.then_some(folder).into_iter().collect();
        parts.extensions = ExtensionCache::empty().with_scripts(Arc::new(move |_| ScriptPlaces {
            folders: vec![],
            trusted: trusted.clone(),
            ..ScriptPlaces::default()
        }));
    });
    (talk, heard)
}

impl TestSession {
    async fn runs(&self, script: &str, args: &str) {
        self.send(Op::Turn(TurnOp::RunScript { script: script.into(), args: args.into() })).await;
    }

    /// The replies up to the end of the turn, and how it ended.
    async fn played(&mut self) -> (Vec<String>, TurnOutcome) {
        let mut said = Vec::new();
        let ending = self
            .next(|event| match event {
                Event::Replied(reply) => {
                    said.push(reply.message);
                    None
                }
                Event::TurnEnded { ending, .. } => Some(ending),
                _ => None,
            })
            .await;
        (said, ending)
    }
}

const GREETS: &str = "---\ninput: [who]\n---\n$print: \"to {{who}}\"\nuser: \"Greet {{who}}\"\nassistant: \"[[GREETING]]\"\n$print: done\n";

#[tokio::test]
async fn a_script_prints_and_answers_and_the_model_sees_it_once() {
    let (mut talk, heard) = scripts(&[("greets.ai.yaml", GREETS)], &["Hello Ann!", DONE], true);
    let scripts = talk
        .next(|event| match event {
            Event::Catalogue(kept) => Some(kept.scripts),
            _ => None,
        })
        .await;
    assert!(scripts.contains(&"greets".into()) && scripts.contains(&"summary".into()));
    talk.runs("greets", "{who: 'Ann'}").await;
    assert_eq!(talk.started().await, "/run greets {who: 'Ann'}");
    let (said, ending) = talk.played().await;
    assert_eq!(ending, TurnOutcome::Done);
    assert_eq!(said.get(1).map(String::as_str), Some("Hello Ann!"), "{said:?}");
    assert!(said.iter().any(|said| said == "done"), "{said:?}");
    talk.submit("what came of it?").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let heard = heard.lock().unwrap().clone();
    assert!(heard[0].contains("Greet Ann"), "{heard:?}");
    assert_eq!(heard[1].matches("The user ran the script `greets`").count(), 1, "{heard:?}");
    assert!(heard[1].contains("Hello Ann!"), "{heard:?}");
}

#[tokio::test]
async fn a_script_asks_the_user_before_a_call_that_needs_approval() {
    let files = [
        (
            "asks.ai.yaml",
            "---\npermissions: {ai: {call: [{name: weather, action: confirm}]}}\n---\n$exec: {id: weather}\n",
        ),
        ("weather.ai.yaml", "---\ntitle: w\n---\n$echo: rain\n"),
    ];
    let (mut talk, _) = scripts(&files, &[DONE], true);
    for (decision, expected) in
        [(Decision::Approve, true), (Decision::Reject { word: None }, false)]
    {
        talk.runs("asks", "").await;
        let (ask, question) = talk.next_question().await;
        let Question::ScriptCall { text } = question else { panic!("{question:?}") };
        assert!(text.contains("weather"), "{text}");
        talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
        let (said, ending) = talk.played().await;
        assert_eq!(ending == TurnOutcome::Done, expected, "{ending:?}");
        assert_eq!(said == ["rain"], expected, "{said:?}");
    }
}

#[tokio::test]
async fn a_script_asks_the_user_for_an_input_and_for_required_ones_that_are_missing() {
    let ask = "---\ninput:\n  - who: {required: true, description: the name}\n---\n$input: {content: \"How?\", choices: [well, badly]}\n$echo: \"#{{who}} {{LatestResult}}\"\n";
    let (mut talk, _) = scripts(&[("ask.ai.yaml", ask)], &[DONE], true);
    talk.runs("ask", "").await;
    let (ask, question) = talk.next_question().await;
    let Question::Form { script, fields } = question else { panic!("{question:?}") };
    assert_eq!((script.as_str(), fields.len()), ("ask", 1));
    assert_eq!((fields[0].name.as_str(), fields[0].about.as_str()), ("who", "the name"));
    let decision = Decision::Fill { values: vec!["Ann".to_owned()] };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let (ask, question) = talk.next_question().await;
    let Question::Choice { text, choices, script, .. } = question else { panic!("{question:?}") };
    assert_eq!((text.as_str(), script.as_deref()), ("How?", Some("ask")));
    assert_eq!(choices, ["well", "badly"]);
    talk.send(Op::Question(QuestionOp::Decide {
        ask,
        decision: Decision::Answer { text: "badly".into() },
    }))
    .await;
    assert_eq!(talk.played().await, (vec!["Ann badly".to_owned()], TurnOutcome::Done));
    talk.runs("ask", "Bob").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    let TurnOutcome::Failed { why } = talk.ending().await else { panic!("no failure") };
    assert!(why.to_string().contains("was not answered"), "{why}");
}

#[tokio::test]
async fn missing_inputs_are_one_form_which_returns_with_what_is_wrong_until_all_are_right() {
    let ask = "---\ninput:\n  - count: {required: true, type: number, title: How many}\n  - tone: {required: true, enum: [warm, dry]}\n  - place: {required: true, default: home}\n  - sure: {required: true, type: boolean}\n  - note\n  - given: {required: true}\n---\n$ret: \"?=[count * 2, tone, place, sure, given]\"\n";
    let (mut talk, _) = scripts(&[("ask.ai.yaml", ask)], &[DONE], true);
    talk.runs("ask", "{given: 1}").await;
    let mut faults = Vec::new();
    for values in [["two", "wet", "", "true"], ["2", "dry", "here", "false"]] {
        let (ask, question) = talk.next_question().await;
        let Question::Form { fields, .. } = question else { panic!("{question:?}") };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["count", "tone", "place", "sure"]);
        assert_eq!(fields[1].choices, ["warm", "dry"]);
        faults.push(fields.iter().filter(|field| field.fault.is_some()).count());
        let presets: Vec<_> = fields.iter().map(|field| field.default.as_deref()).collect();
        match faults.len() {
            1 => assert_eq!(presets, [None, None, Some("home"), None]),
            _ => assert_eq!(presets[0], Some("two")),
        }
        let values = values.map(str::to_owned).to_vec();
        talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Fill { values } }))
            .await;
    }
    assert_eq!(faults, [0, 2]);
    let (said, ending) = talk.played().await;
    assert_eq!(ending, TurnOutcome::Done);
    let said: serde_json::Value = serde_json::from_str(&said.concat()).unwrap();
    assert_eq!(said, serde_json::json!([4, "dry", "here", false, 1]));
    talk.runs("ask", "{given: 1}").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Reject { word: None } }))
        .await;
    let TurnOutcome::Failed { why } = talk.ending().await else { panic!("no failure") };
    assert!(why.to_string().contains("`count` is required"), "{why}");
}

#[tokio::test]
async fn a_step_that_permissions_and_policy_leave_to_the_user_is_one_question() {
    let rules = "---\npermissions: {ai: {call: [\"w*\"]}}\n---\n";
    let write = format!("{rules}$exec: {{program: mkdir, args: [made]}}\n$echo: written\n");
    let list = format!("{rules}$exec: {{program: ls}}\n$echo: listed\n");
    let files = [("write.ai.yaml", write.as_str()), ("list.ai.yaml", &list)];
    let (mut talk, _) = scripts(&files, &[DONE], true);
    for (script, is_step) in [("write", true), ("list", false)] {
        talk.runs(script, "").await;
        let mut questions = Vec::new();
        let ending = loop {
            let event = talk
                .next(|event| match event {
                    Event::Asked(ask) => Some(Ok(ask)),
                    Event::TurnEnded { ending, .. } => Some(Err(ending)),
                    _ => None,
                })
                .await;
            match event {
                Ok(ask) => {
                    questions.push(ask.question);
                    let decision = Decision::Approve;
                    talk.send(Op::Question(QuestionOp::Decide { ask: ask.id, decision })).await;
                }
                Err(ending) => break ending,
            }
        };
        assert_eq!(ending, TurnOutcome::Done);
        assert_eq!(questions.len(), 1, "{questions:?}");
        assert_eq!(matches!(questions[0], Question::Step(_)), is_step, "{questions:?}");
    }
}

#[tokio::test]
async fn a_script_shows_its_own_messages_beside_the_answers() {
    let (mut talk, _) = scripts(&[("greets.ai.yaml", GREETS)], &["Hello Ann!", DONE], true);
    talk.runs("greets", "{who: 'Ann'}").await;
    let shown = talk
        .next(|event| match event {
            Event::ScriptMessage { role, text } => Some((role, text)),
            _ => None,
        })
        .await;
    assert_eq!(shown, ("user".to_owned(), "Greet Ann".to_owned()));
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn a_stop_ends_a_script_while_the_model_answers() {
    let files = [("greets.ai.yaml", GREETS)];
    let (mut talk, _) = scripts(&files, &["#! {\"wait\":\"after\"}\nHello", DONE], true);
    talk.runs("greets", "{who: 'Ann'}").await;
    talk.next(|event| matches!(event, Event::Delta { .. }).then_some(())).await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    talk.submit("go on").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn of_a_script_in_an_untrusted_folder_only_the_messages_run() {
    let files = [("greets.ai.yaml", GREETS), ("plain.ai.yaml", "user: Hi\nassistant: \"[[A]]\"\n")];
    let (mut talk, _) = scripts(&files, &["Hello."], false);
    talk.runs("greets", "{who: 'Ann'}").await;
    let (said, ending) = talk.played().await;
    assert!(matches!(ending, TurnOutcome::Failed { .. }) && said.is_empty(), "{ending:?} {said:?}");
    talk.runs("plain", "").await;
    assert_eq!(talk.played().await, (vec!["Hello.".to_owned()], TurnOutcome::Done));
    talk.runs("plain", "{broken: [").await;
    assert!(matches!(talk.ending().await, TurnOutcome::Failed { .. }));
}

/// A session whose folder of scripts has these.
fn offering(files: &[(&str, &str)], replies: &[&str]) -> (TestSession, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    let model = Arc::new(RecordingModel(model, Arc::clone(&heard)));
    let talk = TestSession::with(&[], |parts| {
        let folder = parts.security.place.cwd.join("scripts");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        parts.model_access.first.model = model;
        parts.extensions =
            ExtensionCache::empty().with_scripts(Arc::new(move |trusted| ScriptPlaces {
                folders: vec![folder.clone()],
                trusted: trusted.then(|| folder.clone()).into_iter().collect(),
                ..ScriptPlaces::default()
            }));
    });
    (talk, heard)
}

const HELPS: &str = "---\ntitle: greets people\ninput: [who]\n---\n$print: \"!to {{who}}\"\nuser: \"Greet {{who}}\"\nassistant: \"[[GREETING]]\"\n";

fn script_step(script: &str, args: serde_json::Value) -> String {
    tool("script.run", serde_json::json!({"script": script, "args": args}))
}

#[tokio::test]
async fn a_script_with_a_description_runs_as_a_step() {
    let step = script_step("greets", serde_json::json!({"who": "Ann"}));
    let files = [("greets.ai.yaml", HELPS), ("mute.ai.yaml", "user: q\n")];
    let (mut talk, heard) = offering(&files, &[&step, "Hello Ann!", DONE]);
    talk.submit("greet Ann").await;
    let (mut started, mut output) = (Vec::new(), String::new());
    let seen = talk
        .next(|event| match event {
            Event::StepStarted { step, .. } => {
                started.push(step.work.tool().to_owned());
                None
            }
            Event::StepOutput { text, .. } => {
                output.push_str(&text);
                None
            }
            Event::StepFinished(seen) => Some(seen),
            Event::Asked(ask) => panic!("{ask:?}"),
            _ => None,
        })
        .await;
    assert_eq!(
        (started.as_slice(), output.as_str()),
        (["script.run".to_owned()].as_slice(), "to Ann\n")
    );
    assert_eq!((seen.stdout.as_str(), seen.exit_code), ("to Ann\nHello Ann!", Some(0)));
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    let heard = heard.lock().unwrap().clone();
    assert!(heard[0].contains("- greets(who=…): greets people"), "{}", heard[0]);
    assert!(heard[0].contains("script.run") && !heard[0].contains("mute"), "{}", heard[0]);
    assert!(heard[1].contains("Greet Ann") && !heard[1].contains("greet Ann"), "{}", heard[1]);
    assert!(heard[2].contains("Hello Ann!"), "{}", heard[2]);
}

#[tokio::test]
async fn an_error_in_a_script_is_its_observation() {
    let known = script_step("bad", serde_json::json!({}));
    let other = script_step("nosuch", serde_json::json!({}));
    let files = [("bad.ai.yaml", "---\ntitle: fails\n---\n$throw: \"no luck\"\n")];
    let (mut talk, heard) = offering(&files, &[&known, &other, DONE]);
    talk.submit("go").await;
    let observed = |event| match event {
        Event::StepFinished(seen) => Some(seen),
        _ => None,
    };
    let seen = talk.next(observed).await;
    assert_eq!((seen.exit_code, seen.outcome), (Some(1), Outcome::Ran));
    assert!(seen.stderr.contains("no luck") && seen.stderr.contains("bad.ai.yaml:4:1"));
    assert_eq!(talk.next(observed).await.outcome, Outcome::Refused);
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert!(heard.lock().unwrap()[1].contains("no luck"));
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_offers_no_script() {
    let step = script_step("greets", serde_json::json!({"who": "Ann"}));
    let (mut talk, heard) = {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let model = Scripted::parse("test", &[step.as_str(), DONE].join("\n---\n")).unwrap();
        let model = Arc::new(RecordingModel(model, Arc::clone(&heard)));
        let talk = TestSession::with(&[], |parts| {
            let folder = parts.security.place.cwd.clone();
            std::fs::write(folder.join("greets.ai.yaml"), HELPS).unwrap();
            parts.model_access.first.model = model;
            parts.extensions = ExtensionCache::empty().with_scripts(Arc::new(move |_| {
                ScriptPlaces { folders: vec![folder.clone()], ..ScriptPlaces::default() }
            }));
        });
        (talk, heard)
    };
    talk.submit("greet").await;
    let seen = talk
        .next(|event| match event {
            Event::StepFinished(seen) => Some(seen),
            _ => None,
        })
        .await;
    assert_eq!(seen.outcome, Outcome::Refused);
    assert!(!heard.lock().unwrap()[0].contains("greets people"));
}

const MAKES: &str = "---\ntitle: makes a folder\n---\n$exec: {id: exec, args: {program: mkdir, args: [made]}}\n$print: \"?='got ' + LatestResult.length\"\n";

/// Steps that began and what came of them, up to the end of the turn.
async fn steps(
    talk: &mut TestSession,
    decide: Decision,
) -> (Vec<String>, Vec<String>, TurnOutcome) {
    let (ask, question) = talk.next_question().await;
    let Question::Step(StepQuestion { step, .. }) = question else { panic!("{question:?}") };
    assert_eq!(step.work, avocet::protocol::StepAction::exec("mkdir", &["made"]));
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: decide })).await;
    let (mut began, mut ran) = (Vec::new(), Vec::new());
    let ending = talk
        .next(|event| match event {
            Event::StepStarted { step, .. } => {
                began.push(format!("{:?}", step.work));
                None
            }
            Event::StepFinished(seen) => {
                ran.push(format!("{:?} {:?}", seen.step.work, seen.outcome));
                None
            }
            Event::TurnEnded { ending, .. } => Some(ending),
            _ => None,
        })
        .await;
    (began, ran, ending)
}

#[tokio::test]
async fn a_step_of_a_script_is_assessed_and_can_be_edited_in_its_question() {
    let (mut talk, _) = scripts(&[("makes.ai.yaml", MAKES)], &[DONE], true);
    talk.runs("makes", "").await;
    let other = avocet::protocol::StepAction::exec("mkdir", &["other"]);
    let (began, ran, ending) = steps(&mut talk, Decision::Edit(other)).await;
    assert_eq!(ending, TurnOutcome::Done);
    assert!(began[0].contains("other") && ran[0].contains("other"), "{began:?} {ran:?}");
    assert!(talk.folder().join("other").is_dir() && !talk.folder().join("made").exists());
    talk.runs("makes", "").await;
    let (began, _, ending) = steps(&mut talk, Decision::Reject { word: None }).await;
    assert!(began.is_empty() && !talk.folder().join("made").exists());
    let TurnOutcome::Failed { why } = ending else { panic!("{ending:?}") };
    let why = why.text(Lang::En);
    assert!(why.contains("You rejected") && !why.contains("-y"), "{why}");
}

#[tokio::test]
async fn a_step_of_a_script_inside_a_turn_is_assessed_too() {
    let step = script_step("makes", serde_json::json!({}));
    let (mut talk, heard) = offering(&[("makes.ai.yaml", MAKES)], &[&step, DONE]);
    talk.submit("make it").await;
    let (began, ran, ending) = steps(&mut talk, Decision::Approve).await;
    assert_eq!((ending, began.len(), ran.len()), (TurnOutcome::Done, 1, 2));
    assert!(ran[0].contains("mkdir") && ran[1].contains("script.run"), "{ran:?}");
    assert!(talk.folder().join("made").is_dir());
    assert!(heard.lock().unwrap()[1].contains("got 0"));
}

#[tokio::test]
async fn a_stop_ends_a_script_that_runs_as_a_step() {
    let step = script_step("greets", serde_json::json!({"who": "Ann"}));
    let replies = [step.as_str(), "#! {\"wait\":\"after\"}\nHello", DONE];
    let (mut talk, heard) = offering(&[("greets.ai.yaml", HELPS)], &replies);
    talk.submit("greet Ann").await;
    talk.next(|event| matches!(event, Event::StepOutput { .. }).then_some(())).await;
    // A script that is stopped before it asks would leave its reply to the next turn.
    while heard.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    talk.send(Op::Turn(TurnOp::Stop)).await;
    assert_eq!(talk.ending().await, TurnOutcome::Cancelled);
    talk.submit("go on").await;
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn the_inputs_of_a_script_are_listed_with_its_name() {
    let (mut talk, _) = scripts(&[("greets.ai.yaml", GREETS)], &[DONE], true);
    let inputs = talk
        .next(|event| match event {
            Event::Catalogue(kept) => Some(kept.script_details),
            _ => None,
        })
        .await;
    let greets = inputs.iter().find(|it| it.name == "greets").unwrap();
    let names: Vec<&str> = greets.inputs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["who"]);
    let translator = inputs.iter().find(|it| it.name == "translator").unwrap();
    assert!(!translator.title.is_empty(), "{translator:?}");
    assert!(translator.inputs.iter().any(|it| !it.about.is_empty()), "{translator:?}");
}

#[tokio::test]
async fn a_script_added_during_a_session_is_available_with_the_next_message() {
    let (mut talk, _) = scripts(&[("greets.ai.yaml", GREETS)], &[DONE, DONE], true);
    let names = |event| match event {
        Event::Catalogue(kept) => Some(kept.scripts),
        _ => None,
    };
    assert!(!talk.next(names).await.contains(&"late".into()));
    std::fs::write(talk.folder.path().join("late.ai.yaml"), GREETS).unwrap();
    talk.submit("hello").await;
    assert!(talk.next(names).await.contains(&"late".into()));
    assert_eq!(talk.ending().await, TurnOutcome::Done);
}

#[tokio::test]
async fn hints_in_a_session_name_no_command_line_flags() {
    let (mut talk, _) = scripts(&[("greets.ai.yaml", GREETS)], &[DONE], false);
    for (script, part) in [("nosuch", "nosuch"), ("greets", "/trust")] {
        talk.runs(script, "").await;
        let TurnOutcome::Failed { why } = talk.ending().await else { panic!("it failed") };
        for lang in [Lang::En, Lang::Zh] {
            let why = why.text(lang);
            assert!(why.contains(part), "{why}");
            assert!(!why.contains("`-s`") && !why.contains("--trust"), "{why}");
        }
    }
}

/// Two turns, of which the second changed one file and made another.
async fn changed_in_the_second_turn(talk: &mut TestSession) -> (PathBuf, PathBuf) {
    let (a, b) = (talk.folder().join("a.txt"), talk.folder().join("b.txt"));
    std::fs::write(&a, "one\r\n").unwrap();
    talk.submit("first").await;
    talk.ending().await;
    talk.submit("second").await;
    for _ in 0..2 {
        let (ask, _) = talk.next_question().await;
        talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    }
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!(std::fs::read(&a).unwrap(), b"1\r\n");
    assert!(b.exists());
    (a, b)
}

/// Enough replies for the two turns, and for one behind them.
fn rewinding() -> TestSession {
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "one", "new": "1"}));
    let new = tool("file.write", serde_json::json!({"path": "b.txt", "content": "b\n"}));
    TestSession::with(&[DONE, &edit, &new, DONE, DONE, DONE], with_files)
}

/// What is still part of the conversation.
async fn exported(talk: &mut TestSession) -> String {
    let path = talk.folder().join("talk.json");
    let name = path.to_str().unwrap().to_owned();
    talk.send(Op::Saved(SavedOp::Export { format: ExportFormat::Json, path: Some(name) })).await;
    talk.notice().await;
    std::fs::read_to_string(&path).unwrap()
}

#[tokio::test]
async fn a_rewind_asks_what_to_undo_only_when_files_were_changed() {
    let mut talk = rewinding();
    changed_in_the_second_turn(&mut talk).await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: None })).await;
    let asked = talk
        .next(|event| match event {
            Event::RewindAsked { turn, files } => Some((turn, files)),
            Event::Rewound { .. } => panic!("it was to be asked"),
            _ => None,
        })
        .await;
    assert_eq!(asked, (2, 2));
    talk.submit("third").await;
    talk.ending().await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 3, what: None })).await;
    let text = talk
        .next(|event| match event {
            Event::Rewound { text, what: Rewind::Chat, .. } => Some(text),
            Event::RewindAsked { .. } => panic!("nothing was changed since"),
            _ => None,
        })
        .await;
    assert_eq!(text, "third");
}

#[tokio::test]
async fn a_rewind_of_the_chat_leaves_the_files() {
    let mut talk = rewinding();
    let (a, b) = changed_in_the_second_turn(&mut talk).await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Chat) })).await;
    let text = talk
        .next(|event| match event {
            Event::Rewound { text, .. } => Some(text),
            _ => None,
        })
        .await;
    assert_eq!(text, "second");
    assert_eq!(talk.notice().await.say.phrase(), phrases::REWIND_LEFT, "so that it is known");
    assert_eq!((std::fs::read(&a).unwrap(), b.exists()), (b"1\r\n".to_vec(), true));
    let told = exported(&mut talk).await;
    assert!(told.contains("first") && !told.contains("second"), "{told}");
}

#[tokio::test]
async fn a_rewind_of_the_files_leaves_the_chat() {
    let mut talk = rewinding();
    let (a, b) = changed_in_the_second_turn(&mut talk).await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Files) })).await;
    assert_eq!(talk.started().await, "/rewind");
    assert_eq!(talk.ending().await, TurnOutcome::Done);
    assert_eq!((std::fs::read(&a).unwrap(), b.exists()), (b"one\r\n".to_vec(), false));
    let told = exported(&mut talk).await;
    assert!(told.contains("first") && told.contains("second"), "{told}");
}

#[tokio::test]
async fn a_rewind_of_both_asks_about_files_changed_by_hand() {
    for (decision, left) in
        [(Decision::Approve, "one\r\n"), (Decision::Reject { word: None }, "mine\n")]
    {
        let mut talk = rewinding();
        let (a, b) = changed_in_the_second_turn(&mut talk).await;
        std::fs::write(&a, "mine\n").unwrap();
        talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Both) })).await;
        talk.next(|event| matches!(event, Event::Rewound { turn: 2, .. }).then_some(())).await;
        let (ask, question) = talk.next_question().await;
        let Question::Step(StepQuestion { risk, .. }) = question else { panic!("a step") };
        assert!(risk.reasons.iter().any(|reason| reason.rule == "file.changed"));
        talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
        talk.ending().await;
        assert_eq!((std::fs::read_to_string(&a).unwrap(), b.exists()), (left.to_owned(), false));
        let told = exported(&mut talk).await;
        assert!(told.contains("first") && !told.contains("second"), "{told}");
    }
}

#[tokio::test]
async fn changes_after_a_rewind_of_both_can_be_undone() {
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "one", "new": "1"}));
    let again = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "one", "new": "2"}));
    let read = tool("file.read", serde_json::json!({"path": "a.txt"}));
    let replies = [&read, DONE, &edit, DONE, &read, &again, DONE];
    let mut talk = TestSession::with(&replies, with_files);
    let a = talk.folder().join("a.txt");
    std::fs::write(&a, "one\n").unwrap();
    talk.submit("look").await;
    talk.ending().await;
    talk.submit("change it").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.ending().await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 1, what: Some(Rewind::Both) })).await;
    assert_eq!(talk.started().await, "/rewind");
    talk.ending().await;
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "one\n");
    // It has the number of the turn that was taken back.
    talk.submit("change it otherwise").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    talk.ending().await;
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "2\n");
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    assert_eq!(talk.started().await, "/undo");
    talk.ending().await;
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "one\n");
}

/// The second of two turns changed files, and the chat of it was taken back.
async fn rewind_keeping_files(resume: bool) -> (TestSession, PathBuf, PathBuf) {
    let edit = tool("file.edit", serde_json::json!({"path": "a.txt", "old": "one", "new": "1"}));
    let new = tool("file.write", serde_json::json!({"path": "b.txt", "content": "b\n"}));
    let kept = |parts: &mut SessionConfig, resume| {
        with_files(parts);
        talk::with_store(parts, resume);
    };
    let mut talk = TestSession::with(&[DONE, &edit, &new, DONE], |parts| kept(parts, false));
    let (a, b) = changed_in_the_second_turn(&mut talk).await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Chat) })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::REWIND_LEFT);
    if resume {
        talk = talk.again(&[DONE, DONE], |parts| kept(parts, true)).await;
        assert_eq!(talk.notice().await.say.phrase(), phrases::RESUMED);
    }
    (talk, a, b)
}

async fn finds_nothing_to_undo(talk: &mut TestSession) {
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    let nothing = talk.next(|event| match event {
        Event::Notice(notice) if notice.say.phrase() == phrases::NOTHING_TO_UNDO => Some(()),
        Event::TurnStarted { text, .. } => panic!("{text} once more"),
        _ => None,
    });
    nothing.await;
}

#[tokio::test]
async fn files_kept_by_a_chat_rewind_can_be_undone() {
    for resume in [false, true] {
        let (mut talk, a, b) = rewind_keeping_files(resume).await;
        assert_eq!((std::fs::read(&a).unwrap(), b.exists()), (b"1\r\n".to_vec(), true));
        talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
        assert_eq!(talk.started().await, "/undo", "resumed: {resume}");
        assert_eq!(talk.ending().await, TurnOutcome::Done);
        assert_eq!((std::fs::read(&a).unwrap(), b.exists()), (b"one\r\n".to_vec(), false));
        finds_nothing_to_undo(&mut talk).await;
    }
}

#[tokio::test]
async fn an_undo_is_recorded_for_resume_and_export() {
    let edit = |old: &str, new: &str| {
        tool("file.edit", serde_json::json!({"path": "a.txt", "old": old, "new": new}))
    };
    let read = tool("file.read", serde_json::json!({"path": "a.txt"}));
    let kept = |parts: &mut SessionConfig, resume| {
        with_files(parts);
        talk::with_store(parts, resume);
    };
    let replies = [&read, &edit("one", "two"), DONE, &edit("two", "three"), DONE];
    let mut talk = TestSession::with(&replies, |parts| kept(parts, false));
    let a = talk.folder().join("a.txt");
    std::fs::write(&a, "one\n").unwrap();
    for words in ["first", "second"] {
        talk.submit(words).await;
        talk.approve_next().await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
    }
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    talk.ending().await;
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "two\n");
    let mut talk = talk.again(&[], |parts| kept(parts, true)).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::RESUMED);
    assert!(exported(&mut talk).await.contains("\"undone\""));
    // Not once more what is undone: the turn before it.
    talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
    talk.ending().await;
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "one\n");
    // Taking back the chat of an undo does not take back the undo.
    talk.send(Op::Saved(SavedOp::Rewind { turn: 3, what: Some(Rewind::Chat) })).await;
    talk.next(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
    finds_nothing_to_undo(&mut talk).await;
}

#[tokio::test]
async fn a_patched_configuration_is_undone_even_after_a_resume() {
    const BEFORE: &str = "{\n    \"theme\": \"dark\",\n    \"nested\": { \"a\": 1 }\n}\n";
    for resume in [false, true] {
        let kept = |parts: &mut SessionConfig, resume| {
            with_files(parts);
            talk::with_store(parts, resume);
        };
        let patch = serde_json::json!({
            "path": "~/.slothtool/plugin-configs/loc.json",
            "set": {"/theme": "light"}, "unset": ["/nested/a"],
        });
        let mut talk = TestSession::with(&[&tool("config.json_patch", patch), DONE], |parts| {
            kept(parts, false)
        });
        let folder = talk.folder().join("home/.slothtool/plugin-configs");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("loc.json");
        std::fs::write(&file, BEFORE).unwrap();
        talk.submit("make it light").await;
        let (ask, question) = talk.next_question().await;
        let Question::Step(StepQuestion { change: Some(change), risk, .. }) = question else {
            panic!("a step")
        };
        assert!(change.diff.contains("+    \"theme\": \"light\""), "{}", change.diff);
        assert_eq!(risk.tier, Tier::L1);
        talk.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
        assert_eq!(talk.ending().await, TurnOutcome::Done);
        let patched = std::fs::read_to_string(&file).unwrap();
        assert!(patched.contains("light") && !patched.contains("\"a\""), "{patched}");
        let names = || -> Vec<String> {
            let entries = std::fs::read_dir(&folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        assert!(names().iter().any(|name| name.contains(".bak-")), "{:?}", names());
        if resume {
            talk = talk.again(&[], |parts| kept(parts, true)).await;
            assert_eq!(talk.notice().await.say.phrase(), phrases::RESUMED);
        }
        talk.send(Op::Turn(TurnOp::Undo { turns: 1 })).await;
        // It lies outside the folder: that is asked about.
        let mut asked = 0;
        loop {
            let event = talk.next(Some).await;
            match event {
                Event::Asked(ask) => {
                    asked += 1;
                    talk.send(Op::Question(QuestionOp::Decide {
                        ask: ask.id,
                        decision: Decision::Approve,
                    }))
                    .await;
                }
                Event::TurnEnded { ending, .. } => break assert_eq!(ending, TurnOutcome::Done),
                Event::StepFinished(seen) => assert_eq!(seen.outcome, Outcome::Ran, "{seen:?}"),
                _ => {}
            }
        }
        assert!(asked <= 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), BEFORE, "resumed: {resume}");
    }
}

#[tokio::test]
async fn restored_text_with_a_secret_is_masked_and_reported() {
    let text = format!("the key is {}", talk::SECRET);
    let mut talk = TestSession::with(&[DONE], |parts| talk::with_store(parts, false));
    talk.submit(&text).await;
    talk.ending().await;
    let mut talk = talk.again(&[DONE], |parts| talk::with_store(parts, true)).await;
    talk.send(Op::Saved(SavedOp::Rewind { turn: 1, what: None })).await;
    let back = talk
        .next(|event| match event {
            Event::Rewound { text, .. } => Some(text),
            _ => None,
        })
        .await;
    assert!(back.starts_with("the key is ‹secret:key"), "{back}");
    assert_eq!(talk.notice().await.say.phrase(), phrases::REWIND_MASKED);
}

/// What opens a sealed script asks a keyring, which may ask the user.
#[test]
fn a_sealed_script_is_opened_for_a_run_and_not_to_be_listed() {
    use avocet::script::source::{SEAL, SourceFiles};

    let root = crate::support::temp_dir();
    let folder = root.path().canonicalize().unwrap();
    let sealed = folder.join("quiet.ai.yaml");
    std::fs::write(&sealed, format!("{SEAL}\nabc\n")).unwrap();
    let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let opener = SealOpener(Some(Arc::new(move |_| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok("---\ntitle: Words\n---\nuser: x\n".to_owned())
    })));
    let folders = vec![folder.clone()];
    let places = ScriptPlaces { folders, opener: opener.clone(), ..ScriptPlaces::default() };
    let (names, _) = places.names(&folder);
    assert!(names.contains(&"quiet".to_owned()), "{names:?}");
    let details = places.details(&folder, &["quiet".to_owned()]);
    assert_eq!((details.len(), details[0].title.as_str()), (1, ""), "{details:?}");
    assert!(details[0].is_command);
    assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 0);
    let disk = DiskFiles { opener, ..DiskFiles::default() };
    assert!(disk.open_sealed(&sealed).unwrap().contains("Words"));
    let why = DiskFiles::default().open_sealed(&sealed).unwrap_err();
    assert!(why.to_string().contains("only while it runs"), "{why}");
}
