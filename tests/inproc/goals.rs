//! `/goal` and `/btw`: goals that a scripted model works towards, and questions beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::i18n::Lang;
use avocet::model::{Chunk, Model, ModelError, Request, Scripted};
use avocet::protocol::{
    Decision, Event, GoalRequest, Money, Notice, Op, Prices, Question, QuestionOp, SessionInfo,
    TokenPrices, TurnOp, Usage,
};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::support::talk::derefs_to_client;
use crate::support::talk::{self, DONE, SessionClient, chat, cmd, row, tool, with_files};

/// A scripted model that keeps what it was asked last in each request.
struct Listener(Scripted, Arc<Mutex<Vec<String>>>);

impl Model for Listener {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let texts = request.messages.iter().skip(1).map(|message| message.text().into_owned());
        self.1.lock().unwrap().push(texts.collect::<Vec<_>>().join("\n"));
        self.0.stream(request).map_ok(priced).boxed()
    }

    fn prices(&self) -> Option<Prices> {
        Some(TokenPrices::default().into())
    }
}

/// A cent for each token that a reply says it used.
fn priced(chunk: Chunk) -> Chunk {
    match chunk {
        Chunk::Usage(usage) => {
            Chunk::Usage(Usage { cost: Money(usage.total_tokens() * 10_000), ..usage })
        }
        chunk => chunk,
    }
}

struct Conversation {
    client: SessionClient,
    folder: tempfile::TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

derefs_to_client!(Conversation);

impl Conversation {
    fn start(replies: &[&str]) -> Conversation {
        Conversation::in_folder(crate::support::temp_dir(), replies, false)
    }

    fn in_folder(folder: tempfile::TempDir, replies: &[&str], resume: bool) -> Conversation {
        let asked = Arc::default();
        let scripted = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
        let model = Listener(scripted, Arc::clone(&asked));
        let mut parts = talk::parts(&folder.path().canonicalize().unwrap(), Arc::new(model));
        talk::with_store(&mut parts, resume);
        Conversation { client: SessionClient::start(parts), folder, asked }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn set(&self, until: Option<&str>) {
        self.set_limited(until, None).await;
    }

    async fn set_limited(&self, until: Option<&str>, max_cost: Option<Money>) {
        let goal = GoalRequest::Set {
            text: "make it".to_owned(),
            until: until.map(str::to_owned),
            max_cost,
        };
        self.send(Op::Turn(TurnOp::Goal { goal })).await;
    }

    /// What is said when the work on the goal ends or pauses, and what is left of it.
    async fn end(&mut self) -> (String, SessionInfo) {
        let mut said = String::new();
        let info = self
            .next(|event| match event {
                Event::Notice(Notice { say, .. }) => {
                    said = say.text(Lang::En);
                    None
                }
                Event::Facts(info) if !said.is_empty() => Some(*info),
                _ => None,
            })
            .await;
        (said, info)
    }
}

fn is_paused(info: &SessionInfo) -> bool {
    info.goal.as_ref().unwrap().is_paused
}

#[tokio::test]
async fn a_goal_with_a_command_is_worked_on_until_the_command_succeeds() {
    let touch = cmd("touch", &["made.txt"]);
    let mut talk = Conversation::start(&[DONE, &touch, DONE]);
    talk.set(Some("ls made.txt")).await;
    let mut started = Vec::new();
    let said = loop {
        let next = talk.next(|event| match event {
            Event::Asked(ask) => Some(Ok(ask.id)),
            Event::Notice(notice) => Some(Err(notice.say.text(Lang::En))),
            Event::TurnStarted { text, .. } => {
                started.push(text);
                None
            }
            _ => None,
        });
        match next.await {
            Ok(ask) => {
                let decision = Decision::Approve;
                talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
            }
            Err(said) => break said,
        }
    };
    assert!(said.starts_with("The goal is met. Turns: 2"), "{said}");
    let [first, begins, second, again, third] = &started[..] else { panic!("{started:?}") };
    assert_eq!([first, second, third], ["!ls made.txt"; 3], "it may be met already");
    assert!(begins.contains("goal: make it") && begins.contains("`ls made.txt`"), "{begins}");
    assert!(again.contains("exit code 2") && again.contains("goal: make it"), "{again}");
    assert_eq!(talk.facts(|info| info.goal.is_none()).await.goal, None);
    assert!(talk.path("made.txt").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn a_goal_that_the_model_judges_goes_on_with_what_is_missing() {
    let replies = [DONE, "NOT MET: the file is missing.", &cmd("ls", &[]), DONE, "MET"];
    let mut talk = Conversation::start(&replies);
    talk.set(None).await;
    let (said, info) = talk.end().await;
    assert!(said.starts_with("The goal is met. Turns: 2"), "{said}");
    assert_eq!(info.goal, None);
    let asked = talk.asked.lock().unwrap().clone();
    assert!(asked[2].contains("the file is missing"), "{}", asked[2]);
    assert!(!asked[2].contains("NOT MET:"), "the judgement is no part of the conversation");
    talk.client.close().await;
}

#[tokio::test]
async fn what_judges_no_goal_pauses_it_with_a_sentence() {
    for (replies, says) in [
        (vec![DONE, "perhaps"], "didn't say whether"),
        (vec![DONE, "NOT MET: a.", DONE, "NOT MET: b."], "no progress"),
        (vec!["#! {\"status\": 500, \"error\": \"x\"}"; 2], "no progress"),
    ] {
        let mut talk = Conversation::start(&replies);
        talk.set(None).await;
        let (said, info) = talk.end().await;
        assert!(said.contains("paused") && said.contains(says), "{said}");
        assert!(is_paused(&info));
        talk.client.close().await;
    }
}

#[tokio::test]
async fn the_limit_of_a_goal_ends_the_turn_that_reaches_it() {
    let cents = |reply: &str| format!("#! {{\"usage\":[40,10]}}\n{reply}");
    let (list, other) = (cents(&cmd("ls", &[])), cents(&cmd("ls", &["-a"])));
    let mut talk = Conversation::start(&[&list, &other, DONE, "MET"]);
    talk.set_limited(None, Some(Money(900_000))).await;
    let (ask, question) = talk.next_question().await;
    let Question::Pause { why } = question else { panic!("{question:?}") };
    assert_eq!(why.text(Lang::En), "The goal has cost $1.00; its `--max-cost` allows $0.9000.");
    let decision = Decision::Stop;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let (said, info) = talk.end().await;
    assert!(said.contains("paused") && said.contains("it has cost $1.00"), "{said}");
    assert!(is_paused(&info));
    assert_eq!(talk.asked.lock().unwrap().len(), 2);
    talk.client.close().await;
}

#[tokio::test]
async fn a_side_question_is_not_sent_once_the_limit_is_reached() {
    let folder = crate::support::temp_dir();
    let model = Scripted::parse("test", &format!("#! {{\"usage\":[40,10]}}\n{DONE}")).unwrap();
    let mut parts = talk::parts(&folder.path().canonicalize().unwrap(), Arc::new(model));
    parts.info.spend_limits.session.tokens = Some(50);
    let mut client = SessionClient::start(parts);
    client.turn("look").await;
    let question = "how far?".to_owned();
    client.send(Op::Turn(TurnOp::AskAside { question })).await;
    let said = client.notice().await.say.text(Lang::En);
    assert!(said.ends_with("used 50 tokens; `limits.tokens.session` allows 50."), "{said}");
    client.close().await;
}

#[tokio::test]
async fn a_command_that_the_user_rejects_pauses_the_goal() {
    let mut talk = Conversation::start(&[DONE]);
    talk.set(Some("touch made.txt")).await;
    let (ask, _) = talk.next_question().await;
    let decision = Decision::Reject { word: None };
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let (said, info) = talk.end().await;
    assert!(said.contains("did not run to its end"), "{said}");
    assert!(is_paused(&info) && !talk.path("made.txt").exists());
    talk.client.close().await;
}

#[tokio::test]
async fn a_turn_that_is_stopped_pauses_the_goal_and_resume_goes_on() {
    let replies = [&*cmd("touch", &["x"]), &cmd("ls", &[]), DONE, "MET"];
    let mut talk = Conversation::start(&replies);
    talk.set(None).await;
    talk.next_question().await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    let (said, info) = talk.end().await;
    assert!(said.contains("you stopped"), "{said}");
    assert!(is_paused(&info));
    talk.send(Op::Turn(TurnOp::Goal { goal: GoalRequest::Resume })).await;
    let (said, _) = talk.end().await;
    assert!(said.starts_with("The goal is met"), "{said}");
    talk.client.close().await;
}

#[tokio::test]
async fn a_goal_survives_a_restart_and_waits_there() {
    let mut talk = Conversation::start(&[DONE, "perhaps"]);
    talk.set(None).await;
    talk.end().await;
    let Conversation { client, folder, .. } = talk;
    client.close().await;
    let mut talk = Conversation::in_folder(folder, &[&cmd("ls", &[]), DONE, "MET"], true);
    let info = talk.facts(|info| info.goal.is_some()).await;
    assert!(is_paused(&info));
    talk.send(Op::Turn(TurnOp::Goal { goal: GoalRequest::Show })).await;
    let page = talk.page().await;
    assert!(page[0].contains("make it") && page[2].contains("paused after turn 1"), "{page:?}");
    talk.send(Op::Turn(TurnOp::Goal { goal: GoalRequest::Clear })).await;
    assert_eq!(talk.facts(|info| info.goal.is_none()).await.goal, None);
    talk.client.close().await;
}

#[tokio::test]
async fn a_side_question_is_answered_while_a_turn_runs_and_is_no_part_of_the_conversation() {
    let replies = [&*cmd("touch", &["x"]), &chat("Because.\nIt is so."), DONE, DONE];
    let mut talk = Conversation::start(&replies);
    talk.submit("do it").await;
    let (ask, _) = talk.next_question().await;
    talk.send(Op::Turn(TurnOp::AskAside { question: "why?".to_owned() })).await;
    let page = talk
        .next(|event| match event {
            Event::SideAnswer(page) => Some(page),
            _ => None,
        })
        .await;
    assert_eq!(page.rows.iter().map(row).collect::<Vec<_>>(), ["Because.", "It is so."]);
    let decision = Decision::Approve;
    talk.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    talk.until_it_ends().await;
    talk.turn("and now?").await;
    let asked = talk.asked.lock().unwrap().clone();
    assert!(asked[1].contains("why?") && asked[1].contains("do it"), "{}", asked[1]);
    assert!(!asked[3].contains("why?") && !asked[3].contains("Because."), "{}", asked[3]);
    talk.client.close().await;
}

/// A model that answers nothing, and holds the sender as long as it is asked.
struct Silent(Mutex<Option<tokio::sync::oneshot::Sender<()>>>);

impl Model for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let asked = self.0.lock().unwrap().take();
        Box::pin(futures_util::stream::poll_fn(move |_| {
            let _ = &asked;
            std::task::Poll::Pending
        }))
    }
}

#[tokio::test]
async fn a_side_question_ends_with_its_session() {
    let folder = crate::support::temp_dir();
    let (asked, ended) = tokio::sync::oneshot::channel();
    let model = Arc::new(Silent(Mutex::new(Some(asked))));
    let root = folder.path().canonicalize().unwrap();
    let client = SessionClient::start(talk::parts(&root, model.clone()));
    client.send(Op::Turn(TurnOp::AskAside { question: "why?".to_owned() })).await;
    while model.0.lock().unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    client.close().await;
    assert!(ended.await.is_err());
}

fn written(folder: &Path) -> String {
    fs::read_to_string(folder.join("AGENTS.md")).unwrap_or_default()
}

#[tokio::test]
async fn a_note_is_written_only_after_the_question_that_shows_its_file_and_its_line() {
    for (decision, file) in [
        (Decision::Reject { word: None }, "# Rules"),
        (Decision::Approve, "# Rules\n- Run `make check`. Always.\n"),
    ] {
        let folder = crate::support::temp_dir();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("AGENTS.md"), "# Rules").unwrap();
        let input = serde_json::json!({ "text": "Run `make check`.\n Always." });
        let replies = [&*tool("note", input), DONE].join("\n---\n");
        let model = Scripted::parse("test", &replies).unwrap();
        let mut parts = talk::parts(&root, Arc::new(model));
        with_files(&mut parts);
        // No mode answers it.
        parts.security.policy.approval = avocet::protocol::ApprovalMode::Edits;
        let mut client = SessionClient::start(parts);
        client.submit("remember it").await;
        let (ask, question) = client.next_question().await;
        let Question::Step(asked) = question else { panic!("{question:?}") };
        let change = asked.change.unwrap();
        assert!(change.diff.contains("+- Run `make check`. Always."), "{}", change.diff);
        assert_eq!(written(&root), "# Rules", "nothing is written before");
        client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
        client.until_it_ends().await;
        assert_eq!(written(&root), file);
        client.close().await;
    }
}
