//! From the user's input or a template to one user message: real files, real shells, the real
//! policy, and a scripted model that records its requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::config::Paths;
use avocet::extensions::SearchPath;
use avocet::i18n::{Lang, LocalizedText, session as phrases};
use avocet::model::{Chunk, Model, ModelError, Request, Scripted};
use avocet::prompt::input;
use avocet::prompt::template::{Template, TemplateForm, TemplateValues};
use avocet::protocol::{
    AskId, AttachmentInfo, AttachmentSize, Decision, Event, Notice, Observation, Op, Outcome,
    Prompt, PromptSource, PromptTemplateKind, Question, QuestionOp, Role, SavedOp, SessionInfo,
    StepAction, StepQuestion, Tier, TurnOp, TurnOutcome,
};
use avocet::safety::redact::Redactor;
use avocet::safety::{Policy, Workspace};
use avocet::session::extensions::ExtensionCache;
use avocet::session::trust::TrustPrompt;
use avocet::session::{
    self, Callbacks, Connected, Handle, ModelAccess, Persona, Security, SessionAccess,
    SessionConfig,
};
use avocet::tools::Toolbox;
use avocet::tools::exec::{ChildEnvironment, Exec, Setup, StepLimits};
use avocet::tools::system::System;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;

use crate::support::wait::{PATIENCE, wide_limits};

const DONE: &str = r#"{"type":"chat","message":"Done.","data":{}}"#;

/// What a scripted model was sent: the user's side of each request, and the first message.
#[derive(Clone, Default)]
struct RecordedRequests {
    users: Arc<Mutex<Vec<String>>>,
    systems: Arc<Mutex<Vec<String>>>,
}

/// A scripted model that keeps it.
struct RecordingModel {
    inner: Scripted,
    heard: RecordedRequests,
}

impl Model for RecordingModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let last = request.messages.iter().rfind(|message| message.role == Role::User);
        let (last, first) =
            (last.map(|m| m.text().into_owned()), request.messages[0].text().into_owned());
        self.heard.users.lock().unwrap().push(last.unwrap_or_default());
        self.heard.systems.lock().unwrap().push(first);
        self.inner.stream(request)
    }
}

struct PromptSession {
    handle: Handle,
    folder: tempfile::TempDir,
    heard: RecordedRequests,
}

impl PromptSession {
    fn start() -> PromptSession {
        PromptSession::within(wide_limits())
    }

    fn within(limits: StepLimits) -> PromptSession {
        PromptSession::with(limits, &[DONE; 4], &[])
    }

    /// With these skills, and a model that answers so.
    fn skilled(replies: &[&str], skills: &[(&str, &str)]) -> PromptSession {
        PromptSession::with(wide_limits(), replies, skills)
    }

    fn with(limits: StepLimits, replies: &[&str], skills: &[(&str, &str)]) -> PromptSession {
        let folder = crate::support::temp_dir();
        fs::create_dir(folder.path().join("ws")).unwrap();
        for (name, text) in skills {
            let skill = folder.path().join("own/skills").join(name);
            fs::create_dir_all(&skill).unwrap();
            fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        let heard = RecordedRequests::default();
        let real = folder.path().canonicalize().unwrap();
        let parts = parts(&real, limits, replies, heard.clone());
        PromptSession { handle: session::start(parts), folder, heard }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("ws").join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &PromptSession {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    async fn send(&self, op: Op) {
        self.handle.ops.send(op.into()).await.unwrap();
    }

    /// A line as a surface reads and sends it.
    async fn types(&self, text: &str) {
        let input::Intent::Message { parts } = input::parse(text) else { panic!("{text}") };
        self.send(input::submit_op(parts, str::to_owned)).await;
    }

    /// Everything that happens until the turn is over; `decide` answers the questions.
    async fn until_the_end(&mut self, mut decide: impl FnMut(&Question) -> Decision) -> Seen {
        let mut seen = Seen::default();
        let wait = async {
            loop {
                match self.handle.events.recv().await.expect("the session goes on") {
                    Event::Asked(ask) => {
                        let decision = decide(&ask.question);
                        seen.asked.push(ask.question);
                        let op =
                            Op::Question(QuestionOp::Decide { ask: AskId(ask.id.0), decision });
                        self.handle.ops.send(op.into()).await.unwrap();
                    }
                    Event::StepFinished(observation) => seen.observed.push(*observation),
                    Event::Attached { items, .. } => seen.attached.extend(items),
                    Event::Rendered { text, .. } => seen.rendered = Some(text),
                    Event::Replied(replied) => seen.suggestions = replied.suggestions,
                    Event::Notice(notice) => seen.notices.push(notice),
                    Event::TurnStarted { text, .. } => seen.said.push(text),
                    Event::TurnEnded { ending, .. } => {
                        seen.ending = Some(ending);
                        return;
                    }
                    _ => {}
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it ends");
        seen
    }

    /// What a template becomes.
    async fn render(&mut self, prompt: Prompt) -> Seen {
        self.send(Op::Turn(TurnOp::Render { prompt: Box::new(prompt) })).await;
        self.until_the_end(all).await
    }

    /// The system prompt of the last request.
    fn system(&self) -> String {
        self.heard.systems.lock().unwrap().last().cloned().unwrap_or_default()
    }

    fn sent(&self) -> Vec<String> {
        self.heard.users.lock().unwrap().clone()
    }
}

#[derive(Debug, Default)]
struct Seen {
    said: Vec<String>,
    asked: Vec<Question>,
    observed: Vec<Observation>,
    attached: Vec<AttachmentInfo>,
    notices: Vec<Notice>,
    rendered: Option<String>,
    suggestions: Vec<String>,
    ending: Option<TurnOutcome>,
}

impl Seen {
    fn unsent(&self) -> String {
        match &self.ending {
            Some(TurnOutcome::Unsent { why }) => why.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn text(&self) -> &str {
        self.rendered.as_deref().unwrap_or_else(|| panic!("{self:?}"))
    }

    fn error_text(&self) -> String {
        self.notices.iter().map(|notice| notice.say.to_string()).collect::<Vec<_>>().join("\n")
    }
}

fn all(question: &Question) -> Decision {
    match question {
        Question::Pieces { pieces, .. } => {
            Decision::ApproveAll { steps: pieces.iter().map(|piece| piece.id.clone()).collect() }
        }
        _ => Decision::Approve,
    }
}

fn none(_: &Question) -> Decision {
    Decision::Reject { word: None }
}

fn nobody(question: &Question) -> Decision {
    panic!("nobody is asked: {question:?}")
}

fn connected(replies: &[&str], heard: RecordedRequests) -> Connected {
    let inner = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
    Connected {
        model: Arc::new(RecordingModel { inner, heard }),
        provider: avocet::protocol::Provider::Scripted,
        base_url: String::new(),
        fallbacks: vec![],
        list: Arc::new(|| async { Ok::<_, ModelError>(Vec::new()) }.boxed()),
    }
}

fn parts(
    folder: &Path,
    limits: StepLimits,
    replies: &[&str],
    heard: RecordedRequests,
) -> SessionConfig {
    let (ws, home) = (folder.join("ws"), folder.join("home"));
    let paths = Paths::with_root(&folder.join("own"), home.clone());
    let world = System::new(&ws, &home, &[]);
    let environment = ChildEnvironment { path: world.child_path(), ..ChildEnvironment::default() };
    let exec = Exec::new(Setup {
        shell: "/bin/sh".into(),
        environment,
        limits,
        redactor: None,
        lang: Lang::En,
    });
    let page =
        || avocet::protocol::Page { title: LocalizedText::from(phrases::DOCTOR), rows: vec![] };
    SessionConfig {
        info: SessionInfo {
            cwd: ws.display().to_string(),
            max_steps: Some(25),
            ..SessionInfo::default()
        },
        model_access: ModelAccess {
            first: connected(replies, heard),
            effort: None,
            discover: None,
            connect: Arc::new(|_, _| Err(phrases::NO_MODELS.into())),
            callbacks: Callbacks {
                doctor: Arc::new(move |_| async move { page() }.boxed()),
                platforms: Arc::new(page),
                languages: None,
                worktrees: None,
                status: Default::default(),
            },
        },
        security: Security {
            policy: Policy::default(),
            place: Workspace::new(ws, home),
            world: Arc::new(world),
            redactor: Arc::new(Redactor::new([("key", "sekret-value-1234")], [7; 16])),
            keep_rule: Box::new(|_, _| Ok(())),
            session: Default::default(),
            trust: TrustPrompt::without_question(),
        },
        tools: Toolbox::new(vec![Arc::new(exec)]),
        persona: Persona::default(),
        persistence: avocet::session::persistence::Persistence::in_memory(),
        workspace_facts: Default::default(),
        extensions: ExtensionCache::new(Arc::new(move |_| SearchPath::new(&paths, None, &[]))),
        bounds: avocet::context::window::Bounds::default(),
        opening_notices: vec![],
        approves_template_commands: false,
        counts_changed_files: false,
        user_notes: vec![],
        outputs: None,
        access: SessionAccess::default(),
    }
}

fn command(template: &str, args: &str) -> Prompt {
    let template = Template::parse(template, TemplateForm::Braces).unwrap();
    Prompt {
        shown: format!("/sum {args}"),
        parts: template.fill(&TemplateValues::new(args, None)),
        source: Some(PromptSource {
            kind: PromptTemplateKind::Command,
            name: "sum".into(),
            tools: vec![],
        }),
        ..Prompt::default()
    }
}

#[tokio::test]
async fn a_template_is_one_user_message_with_the_output_in_its_place() {
    let mut talk = PromptSession::start();
    let prompt = command("Sum up ({{args}}):\n!{printf 'a\\nb\\n\\n'}\nEnd", "briefly");
    talk.send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })).await;
    let seen = talk.until_the_end(all).await;
    assert_eq!(seen.ending, Some(TurnOutcome::Done));
    assert_eq!(seen.said, ["/sum briefly"], "what was typed is what is shown");
    assert_eq!(talk.sent(), ["Sum up (briefly):\na\nb\n\nEnd"], "one trailing newline is gone");
    assert_eq!(seen.observed.len(), 1);
}

#[tokio::test]
async fn all_template_commands_ask_together_with_their_tiers() {
    let mut talk = PromptSession::start();
    let prompt = command("!{pwd} !{touch x && ls} !{rm -rf /}", "");
    talk.send(Op::Turn(TurnOp::Render { prompt: Box::new(prompt) })).await;
    let seen = talk.until_the_end(none).await;
    let [Question::Pieces { of, pieces, .. }] = &seen.asked[..] else { panic!("{seen:?}") };
    assert_eq!(of, "/sum");
    let tiers: Vec<Tier> = pieces.iter().map(|piece| piece.risk.tier).collect();
    assert_eq!(tiers, [Tier::L0, Tier::L1, Tier::L2]);
    let commands: Vec<&str> = pieces[1].commands.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(commands, ["touch x", "ls"]);
    assert_eq!(seen.ending, Some(TurnOutcome::Stopped));
    assert!(seen.observed.iter().all(|observed| observed.outcome == Outcome::Declined));
    assert!(seen.error_text().contains("Nothing was sent"), "{}", seen.error_text());
    assert!(!talk.path("x").exists() && talk.sent().is_empty());
}

#[tokio::test]
async fn one_template_command_can_be_rejected_and_the_model_is_told() {
    let mut talk = PromptSession::start();
    let prompt = command("A !{echo one} B !{touch x} C", "");
    talk.send(Op::Turn(TurnOp::Render { prompt: Box::new(prompt) })).await;
    let seen = talk.until_the_end(|_| Decision::ApproveAll { steps: vec!["cmd_001".into()] }).await;
    assert_eq!(seen.text(), "A one B [the user did not allow this command to run: touch x] C");
    assert!(!talk.path("x").exists());
}

#[tokio::test]
async fn a_plain_approval_does_not_cover_a_high_risk_command() {
    let mut talk = PromptSession::start();
    talk.write("build/x", "");
    let prompt = command("!{echo one} !{rm -rf build}", "");
    talk.send(Op::Turn(TurnOp::Render { prompt: Box::new(prompt) })).await;
    let seen = talk.until_the_end(|_| Decision::Approve).await;
    assert!(seen.text().starts_with("one [the user did not allow"), "{}", seen.text());
    assert!(talk.path("build/x").exists());
}

#[tokio::test]
async fn unlike_r9s_an_argument_is_one_word_and_runs_no_command() {
    let mut talk = PromptSession::start();
    for args in [
        "; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "'; touch pwned; '",
        "\n touch pwned\n#",
    ] {
        let seen = talk
            .render(command("!{printf '<%s>' {{args}}} !{printf '<%s>' \"{{args}}\"}", args))
            .await;
        let args = args.trim();
        assert_eq!(seen.text(), format!("<{args}> <{args}>"));
    }
    assert!(!talk.path("pwned").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_is_idle_once_turn_ended_is_sent() {
    let mut talk = PromptSession::start();
    for round in 0..100 {
        let seen = talk.render(command("{{args}}", &round.to_string())).await;
        assert_eq!(seen.text(), round.to_string());
    }
}

#[tokio::test]
async fn inserted_text_is_never_expanded_again() {
    let mut talk = PromptSession::start();
    let signs = "!{touch x} !`touch x` {{args}} @{a} @a $1";
    talk.write("f", signs);
    let seen = talk.render(command("{{args}}|!{cat f}|@{f}", signs)).await;
    assert_eq!(seen.text(), [signs; 3].join("|"));
    assert!(!talk.path("x").exists());
}

#[tokio::test]
async fn unlike_r9s_a_brace_in_quotes_does_not_end_a_command() {
    let mut talk = PromptSession::start();
    talk.write("f", "a b\nc d\n");
    let seen = talk.render(command("!{awk '{print $2}' f}", "")).await;
    assert_eq!(seen.text(), "b\nd");
}

#[tokio::test]
async fn unlike_r9s_template_commands_read_standard_input() {
    let mut talk = PromptSession::start();
    let prompt =
        Prompt { input: Some(b"piped\n".to_vec()), ..command("!{cat} !{wc -l} !{true} x", "") };
    let seen = talk.render(prompt).await;
    let words: Vec<&str> = seen.text().split_whitespace().collect();
    assert_eq!(words, ["piped", "1", "x"]);
    let seen = talk.render(command("!{cat} x", "")).await;
    assert_eq!(seen.text(), " x", "without any it is empty");
}

#[tokio::test]
async fn a_template_command_runs_in_a_login_bash() {
    let mut talk = PromptSession::start();
    let seen = talk.render(command("!{shopt -q login_shell && echo $BASH_VERSION}", "")).await;
    assert!(seen.text().starts_with(|c: char| c.is_ascii_digit()), "{}", seen.text());
}

#[tokio::test]
async fn a_failing_template_command_is_an_error_with_its_stderr() {
    let mut talk = PromptSession::start();
    let seen = talk.render(command("!{echo nope >&2; exit 3}", "")).await;
    let why = seen.unsent();
    assert!(why.contains("exit code 3") && why.contains("nope"), "{why}");
    assert!(talk.sent().is_empty());
}

#[tokio::test]
async fn a_template_command_over_its_time_or_output_limit_is_an_error() {
    let limits = StepLimits {
        piece: std::time::Duration::from_millis(300),
        grace: std::time::Duration::from_millis(50),
        ..wide_limits()
    };
    let mut talk = PromptSession::within(limits);
    let seen = talk.render(command("!{sleep 30}", "")).await;
    assert!(seen.unsent().contains("did not finish"), "{}", seen.unsent());
    let mut talk = PromptSession::start();
    let seen = talk.render(command("!{head -c 1048577 /dev/zero | tr '\\0' x}", "")).await;
    assert!(seen.unsent().contains("1024 KiB"), "{}", seen.unsent());
    let seen = talk.render(command("!{head -c 1048576 /dev/zero | tr '\\0' x}", "")).await;
    assert_eq!(seen.text().len(), 1_048_576);
}

#[tokio::test]
async fn a_cancel_at_the_question_runs_nothing() {
    let mut talk = PromptSession::start();
    let prompt = command("!{touch x}", "");
    talk.send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })).await;
    loop {
        if let Some(Event::Asked(_)) = talk.handle.events.recv().await {
            break;
        }
    }
    talk.send(Op::Turn(TurnOp::Stop)).await;
    let seen = talk.until_the_end(nobody).await;
    assert_eq!(seen.ending, Some(TurnOutcome::Cancelled));
    assert_eq!(seen.observed[0].outcome, Outcome::Cancelled);
    assert!(!talk.path("x").exists());
}

#[tokio::test]
async fn a_mentioned_file_is_attached_to_the_message() {
    let mut talk = PromptSession::start();
    talk.write("src/main.rs", "fn main() {}\n// end\n");
    talk.types("看看@src/main.rs，谢谢").await;
    let seen = talk.until_the_end(nobody).await;
    let attached =
        AttachmentInfo { name: "@src/main.rs".into(), size: AttachmentSize::Lines(2), cut: false };
    assert_eq!(seen.attached, [attached]);
    assert_eq!(
        talk.sent(),
        [
            "看看@src/main.rs，谢谢\n\n[Attached @src/main.rs: 2 lines]\n```\nfn main() {}\n// end\n```"
        ]
    );
}

#[tokio::test]
async fn text_that_follows_a_path_directly_is_not_part_of_it() {
    let mut talk = PromptSession::start();
    talk.write("a.rs", "1\n").write("文档.md", "2\n");
    talk.types("看看@a.rs的内容和@文档.md").await;
    let seen = talk.until_the_end(nobody).await;
    let names: Vec<&str> = seen.attached.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["@a.rs", "@文档.md"]);
}

#[tokio::test]
async fn ranges_folders_and_paths_with_blanks_are_attached() {
    let mut talk = PromptSession::start();
    talk.write("a b.rs", "1\n2\n3\n4\n").write("dir/x", "");
    talk.types("@\"a b.rs\":2-3 and @dir/").await;
    let seen = talk.until_the_end(nobody).await;
    let said: Vec<String> =
        seen.attached.iter().map(|item| format!("{} {}", item.name, item.size_text())).collect();
    assert_eq!(said, ["@\"a b.rs\":2-3 2 lines", "@dir/ 1 name"]);
    assert!(talk.sent()[0].contains("```\n2\n3\n```"), "{:?}", talk.sent());
}

#[tokio::test]
async fn a_missing_or_binary_file_is_reported_and_the_text_is_sent() {
    let mut talk = PromptSession::start();
    talk.write("x.bin", b"\x7fELF\0");
    talk.types("see @gone.rs and @x.bin, @someone").await;
    let seen = talk.until_the_end(nobody).await;
    assert_eq!(talk.sent(), ["see @gone.rs and @x.bin, @someone"]);
    let said = seen.error_text();
    assert!(
        said.contains("@gone.rs") && said.contains("ELF") && !said.contains("someone"),
        "{said}"
    );
}

#[tokio::test]
async fn a_file_outside_the_workspace_or_with_secrets_asks_first() {
    let mut talk = PromptSession::start();
    talk.write(".env", "KEY=1\n").write("../out.txt", "o\n");
    talk.types("@.env @../out.txt x").await;
    let mut tiers = Vec::new();
    let seen = talk
        .until_the_end(|question| {
            let Question::Step(StepQuestion { risk, .. }) = question else { panic!() };
            tiers.push((risk.tier, risk.rule.clone()));
            if tiers.len() == 1 { Decision::Reject { word: None } } else { Decision::Approve }
        })
        .await;
    assert_eq!(tiers, [(Tier::L1, "path.sensitive".into()), (Tier::L1, "path.outside".into())]);
    assert_eq!(seen.attached.len(), 1);
    assert!(talk.sent()[0].contains("o\n") && !talk.sent()[0].contains("KEY"), "{:?}", talk.sent());
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_judged_by_where_it_leads() {
    let mut talk = PromptSession::start();
    talk.write("../out.txt", "o\n");
    std::os::unix::fs::symlink("../out.txt", talk.path("link")).unwrap();
    talk.types("@link x").await;
    let seen = talk.until_the_end(none).await;
    assert_eq!(seen.asked.len(), 1);
    assert!(seen.attached.is_empty());
}

#[tokio::test]
async fn a_template_without_its_file_is_not_sent() {
    let mut talk = PromptSession::start();
    let seen = talk.render(command("see @{gone.md}", "")).await;
    assert!(seen.unsent().contains("@gone.md"), "{}", seen.unsent());
}

#[tokio::test]
async fn a_prompt_in_the_queue_keeps_its_parts() {
    let mut talk = PromptSession::start();
    talk.write("a", "1\n");
    let prompt = command("!{echo held}", "");
    talk.send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })).await;
    talk.types("see @a").await;
    talk.types("more").await;
    talk.until_the_end(all).await;
    let seen = talk.until_the_end(all).await;
    assert_eq!(seen.attached.len(), 1);
    talk.until_the_end(all).await;
    assert_eq!(talk.sent().len(), 3);
    assert!(talk.sent()[1].starts_with("see @a\n\n[Attached"));
}

#[tokio::test]
async fn retrying_fills_the_prompt_again() {
    let mut talk = PromptSession::start();
    talk.send(Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(command("!{echo one}", "")) }))
        .await;
    talk.until_the_end(all).await;
    talk.send(Op::Turn(TurnOp::Retry)).await;
    let seen = talk.until_the_end(all).await;
    assert_eq!(seen.asked.len(), 1);
    assert_eq!(talk.sent(), ["one", "one"]);
}

/// What a real shell makes of a line: its words, one a row of NULs.
fn words_of(line: &str) -> Vec<String> {
    let out = assert_cmd::Command::new("bash").args(["-c", line]).output().unwrap();
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn any_argument_is_one_word_for_a_real_shell_in_any_position() {
    use proptest::prelude::*;
    let hostile = prop::sample::select(vec![
        "'", "\"", "`", "$", "\\", "(", ")", "{", "}", ";", "&", "|", "<", ">", "\n", " ", "*",
        "?", "~", "#", "!", "a", "中", "$(id)", "${HOME}", "!{id}", "{{args}}", "$1", "'\\''",
        "\\'",
    ]);
    let args = prop::collection::vec(hostile, 1..8).prop_map(|parts| parts.concat());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(96));
    let tested = runner.run(&args, |args| {
        let kept = args.trim().to_owned();
        prop_assume!(!kept.is_empty());
        // Each place an argument may stand in, between two words that must stay.
        let template = "!{printf '%s\\0' x {{args}} '{{args}}' \"{{args}}\" $'{{args}}' \
                        \"$(printf %sE {{args}})\" \"$(printf %sE \"{{args}}\")\" y}";
        let prompt = command(template, &args);
        let line = prompt.shell_lines().next().unwrap().to_owned();
        let words = words_of(&line);
        let within = format!("{kept}E");
        let expected = ["x", &kept, &kept, &kept, &kept, &within, &within, "y"];
        prop_assert_eq!(words, expected);
        Ok(())
    });
    tested.unwrap();
}

// Skills: the model routes, a person is asked about what is sensitive.

const TESTS: &str = "---\nname: run-tests\ndescription: This skill should be used when the tests of a project are to be run.\nexamples:\n  - Run the tests\n---\n# How\n\nRun `cargo test` for $ARGUMENTS, see ${SKILL_ROOT}/notes.md.\n";
const DEPLOY: &str = "---\nname: deploy\ndescription: This skill should be used when the shop goes live.\ndisable-model-invocation: true\n---\nDeploy it.\n";
const WRITES: &str = "---\nname: stamp\ndescription: This skill should be used when a stamp is set.\n---\nNow: !`touch stamped`\n";
const READS: &str = "---\nname: look\ndescription: This skill should be used when code is looked at.\nallowed-tools: Read Grep\n---\nLook at it.\n";

fn enters(name: &str, args: &str, why: &str) -> String {
    let step = serde_json::json!({"tool": "skill", "input": {"name": name, "args": args}});
    serde_json::json!({"type": "cmd", "message": why, "data": {"commands": [step]}}).to_string()
}

fn runs(program: &str, args: &[&str]) -> String {
    let step = serde_json::json!({"program": program, "args": args});
    serde_json::json!({"type": "cmd", "message": "A step.", "data": {"commands": [step]}})
        .to_string()
}

#[tokio::test]
async fn a_request_is_routed_to_a_skill_by_the_model_from_the_list_it_was_given() {
    let routed = enters("run-tests", "the shop", "`run-tests` is for this.");
    let mut talk =
        PromptSession::skilled(&[&routed, DONE, DONE], &[("run-tests", TESTS), ("deploy", DEPLOY)]);
    talk.types("Please run the test suite").await;
    let seen = talk.until_the_end(nobody).await;
    let [entered] = &seen.observed[..] else { panic!("{seen:?}") };
    assert_eq!((entered.outcome, entered.risk.tier), (Outcome::Ran, Tier::L0));
    let system = talk.system();
    assert!(system.contains("- run-tests: This skill should be used when"), "{system}");
    assert!(
        system.contains("Examples: \"Run the tests\"") && system.contains("- skill: enter one")
    );
    assert!(system.contains("answer with a `chat` that asks which"), "what is ambiguous is asked");
    assert!(!system.contains("deploy"), "a sensitive one is not offered");
    assert!(!system.contains("cargo test"), "its text comes when it is entered");
    // The text came back as the result, filled, with the folder of its other files.
    let result = &talk.sent()[1];
    assert!(result.contains("Run `cargo test` for the shop, see "), "{result}");
    assert!(result.contains("own/skills/run-tests/notes.md"), "{result}");
    // It stays in view for what follows.
    talk.types("and now?").await;
    talk.until_the_end(nobody).await;
    assert!(talk.system().contains("Active skill run-tests:"), "{}", talk.system());
}

#[tokio::test]
async fn an_ambiguous_request_gets_a_question_with_the_names_to_choose_from() {
    let asks = r#"{"type":"chat","message":"Run the tests, or look at the code?","data":{"suggestions":["run-tests","look"]}}"#;
    let mut talk = PromptSession::skilled(&[asks], &[("run-tests", TESTS), ("look", READS)]);
    talk.types("check this").await;
    let seen = talk.until_the_end(nobody).await;
    assert_eq!(seen.suggestions, ["run-tests", "look"]);
    assert!(seen.observed.is_empty(), "none is entered meanwhile");
}

#[tokio::test]
async fn a_sensitive_skill_is_never_entered_silently() {
    let routed = enters("deploy", "", "Time to deploy.");
    let mut talk = PromptSession::skilled(&[&routed, DONE], &[("deploy", DEPLOY)]);
    talk.types("What is the weather?").await;
    let mut rules = Vec::new();
    let seen = talk
        .until_the_end(|question| {
            let Question::Step(StepQuestion { risk, why, .. }) = question else { panic!() };
            rules.push((risk.tier, risk.rule.clone(), why.clone()));
            Decision::Reject { word: None }
        })
        .await;
    assert_eq!(rules, [(Tier::L1, "skill.closed".into(), "Time to deploy.".into())]);
    assert_eq!(seen.observed[0].outcome, Outcome::Declined);
    assert!(!talk.sent()[1].contains("Deploy it."));
}

#[tokio::test]
async fn a_skills_commands_ask_and_never_run_for_a_model() {
    let routed = enters("stamp", "", "A stamp.");
    let mut talk = PromptSession::skilled(&[&routed, DONE], &[("stamp", WRITES)]);
    talk.types("set a stamp").await;
    let seen = talk.until_the_end(all).await;
    let [Question::Step(StepQuestion { risk, .. })] = &seen.asked[..] else { panic!("{seen:?}") };
    assert_eq!((risk.tier, risk.rule.as_str()), (Tier::L1, "skill.shell"));
    assert!(talk.sent()[1].contains("!`touch stamped`"), "{:?}", talk.sent());
    assert!(!talk.path("stamped").exists());
}

#[tokio::test]
async fn an_unknown_skill_is_refused_and_the_model_is_told() {
    let routed = enters("nope", "", "A skill.");
    let mut talk = PromptSession::skilled(&[&routed, DONE], &[("run-tests", TESTS)]);
    talk.types("go").await;
    let seen = talk.until_the_end(nobody).await;
    assert_eq!(seen.observed[0].outcome, Outcome::Refused);
    assert!(talk.sent()[1].contains("skill.unknown"), "{:?}", talk.sent());
}

#[tokio::test]
async fn a_skills_tools_are_allowed_for_its_turn_and_others_ask() {
    let routed = enters("look", "", "A look.");
    let steps = runs("pwd", &[]);
    let mut talk =
        PromptSession::skilled(&[&routed, &steps, DONE, &steps, DONE], &[("look", READS)]);
    talk.types("look at it").await;
    let seen = talk.until_the_end(all).await;
    let [Question::Step(StepQuestion { risk, .. })] = &seen.asked[..] else { panic!("{seen:?}") };
    assert_eq!((risk.tier, risk.rule.as_str()), (Tier::L1, "skill.narrow"));
    talk.types("and now").await;
    talk.until_the_end(nobody).await;
}

#[tokio::test]
async fn an_edited_step_is_assessed_under_the_skills_restrictions() {
    let routed = enters("look", "", "A look.");
    let steps = runs("mkdir", &["a"]);
    let mut talk = PromptSession::skilled(&[&routed, &steps, DONE], &[("look", READS)]);
    talk.types("look at it").await;
    let ask = loop {
        if let Event::Asked(ask) = talk.handle.events.recv().await.unwrap() {
            break ask.id;
        }
    };
    // Without the skill, both would run unasked.
    let known = serde_json::json!({ "name": "look" });
    let skill = StepAction::Tool { name: "skill".into(), input: known };
    for (work, expected) in
        [(StepAction::exec("pwd", &[]), (Tier::L1, "skill.narrow")), (skill, (Tier::L0, "skill"))]
    {
        talk.send(Op::Question(QuestionOp::PreviewRisk { ask, work })).await;
        let risk = loop {
            if let Event::Judged { risk, .. } = talk.handle.events.recv().await.unwrap() {
                break risk;
            }
        };
        assert_eq!((risk.tier, risk.rule.as_str()), expected);
    }
}

#[tokio::test]
async fn a_user_invokes_a_skill_by_name_and_its_commands_ask() {
    let mut talk = PromptSession::skilled(&[DONE; 3], &[("stamp", WRITES), ("deploy", DEPLOY)]);
    let invoke = |name: &str| {
        Op::Turn(TurnOp::Invoke { name: name.into(), args: String::new(), mentions: vec![] })
    };
    talk.send(invoke("stamp")).await;
    let seen = talk.until_the_end(all).await;
    assert!(matches!(&seen.asked[..], [Question::Pieces { .. }]), "{seen:?}");
    assert!(talk.path("stamped").exists());
    assert!(
        talk.sent()[0].ends_with("Now:\n") || talk.sent()[0].contains("Now: "),
        "{:?}",
        talk.sent()
    );
    // A sensitive one is the person's own word.
    talk.send(invoke("deploy")).await;
    talk.until_the_end(nobody).await;
    assert!(talk.sent()[1].contains("Deploy it."));
    talk.send(Op::Saved(SavedOp::New)).await;
    talk.send(Op::Turn(TurnOp::Submit { text: "hello".into() })).await;
    talk.until_the_end(nobody).await;
    assert!(!talk.system().contains("Active skill"), "a fresh conversation has none in view");
}
