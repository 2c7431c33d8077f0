//! Runs the hooks of an event: several at once, each in the sandbox of an approved step.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, join_all};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use avocet_core::i18n::{LocalizedText, cli, hooks as phrases};
use avocet_core::protocol::{Notice, Outcome};
use avocet_hooks::{
    ActiveHooks, Hook, HookCall, HookEvent, HookExit, HookReply, HookRun, HookSession,
    join_replies, named_files, read_reply,
};
use avocet_safety::{self as safety, ClearedStep, PolicyContext, Verdict};
use avocet_tools::{PipedOutput, RunControl, ShellInput, Tool};

/// What a running start of a session will say.
pub type StartReply = Shared<BoxFuture<'static, HookReply>>;

/// Gets what becomes of hooks.
pub type HookReporter = Arc<dyn Fn(HookNews) + Send + Sync>;

/// Runs hooks.
#[derive(Clone)]
pub struct HookRunner {
    pub active: Arc<ActiveHooks>,
    /// Runs programs; `None`: there are no hooks.
    pub exec: Option<Arc<dyn Tool>>,
    pub session: String,
    /// Where the conversation is written before they run.
    pub transcript: Option<PathBuf>,
    /// Gets each that ended.
    pub report: HookReporter,
    /// What the start of the session says, until a turn sends it to the model.
    pub start: Option<StartReply>,
    /// What ends the turn: that of a subagent has another name.
    pub end: HookEvent,
    /// How often the end of this turn was put off.
    pub put_off: usize,
}

/// A message to the session about its hooks.
#[derive(Debug)]
pub enum HookNews {
    Ran(Box<HookReport>),
    /// A turn sends what the hooks of the session's start say.
    StartHeard,
    /// Hooks are about to run: they may read the conversation so far.
    TranscriptNeeded(oneshot::Sender<()>),
}

/// What became of a hook, for the page that lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct HookReport {
    pub hook: Hook,
    pub end: LocalizedText,
}

impl HookRunner {
    pub fn follows(&self, call: &HookCall) -> bool {
        self.exec.is_some() && self.active.follows(call)
    }

    /// Starts the hooks of an event; the future ends with all of them.
    pub fn run(
        &self,
        call: &HookCall,
        cx: PolicyContext<'_>,
        cancel: &CancellationToken,
    ) -> impl Future<Output = HookReply> + Send + use<> {
        let session = HookSession {
            id: self.session.clone(),
            cwd: cx.place.cwd.clone(),
            mode: cx.policy.approval,
            transcript: self.transcript.clone(),
        };
        let hooks = self.active.started_by(call);
        let written = self.request_transcript(call.event, &hooks, cancel.clone());
        let runs: Vec<_> = hooks
            .into_iter()
            .map(|hook| {
                let input = call.input(&session, &hook);
                let cleared = clear(&hook, self.transcript.clone(), cx);
                let input = shell_input(input, &cx.place.workspace);
                self.run_one(hook, cleared, input, cancel.clone())
            })
            .collect();
        async move {
            written.await;
            join_replies(join_all(runs).await)
        }
    }

    /// Waits until the conversation is written; a session that ends has done so.
    fn request_transcript(
        &self,
        event: HookEvent,
        hooks: &[Hook],
        cancel: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (done, written) = oneshot::channel();
        if self.transcript.is_some() && !hooks.is_empty() && event != HookEvent::SessionEnd {
            (self.report)(HookNews::TranscriptNeeded(done));
        }
        async move {
            // A session that closes does not answer.
            let _ = cancel.run_until_cancelled(written).await;
        }
    }

    fn run_one(
        &self,
        hook: Hook,
        cleared: Result<ClearedStep, LocalizedText>,
        input: ShellInput,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, HookReply> {
        let report = Arc::clone(&self.report);
        let exec = self.exec.clone();
        let is_async = hook.is_async;
        let run = async move {
            let ended = match (cleared, exec) {
                (Ok(cleared), Some(exec)) => run_cleared(exec, cleared, input, cancel).await,
                (Err(why), _) => EndedHook::refused(why),
                (Ok(_), None) => return HookReply::default(),
            };
            let mut reply = read_reply(&hook, &ended.run);
            reply.notices.extend(ended.put_back.map(|say| {
                let say = phrases::FAILED.with("hook", hook.label()).with("why", say);
                Notice::warning(say)
            }));
            let end = match ended.run.exit {
                HookExit::Code(code) => phrases::LAST_EXIT.with("code", code),
                HookExit::Failed(why) => phrases::LAST_FAILED.with("why", why),
            };
            let end = end.with("ms", ended.ms);
            report(HookNews::Ran(Box::new(HookReport { hook, end })));
            reply
        };
        async move {
            if is_async {
                tokio::spawn(run);
                return HookReply::default();
            }
            run.await
        }
        .boxed()
    }
}

/// A hook that ended, or did not start.
struct EndedHook {
    run: HookRun,
    ms: u64,
    /// What it changed was put back.
    put_back: Option<LocalizedText>,
}

impl EndedHook {
    fn refused(why: LocalizedText) -> EndedHook {
        let exit = HookExit::Failed(phrases::REFUSED.with("why", why));
        EndedHook { run: HookRun { exit, ..HookRun::default() }, ms: 0, put_back: None }
    }
}

async fn run_cleared(
    exec: Arc<dyn Tool>,
    cleared: ClearedStep,
    input: ShellInput,
    cancel: CancellationToken,
) -> EndedHook {
    // What it prints is read at its end.
    let (output, _) = tokio::sync::mpsc::unbounded_channel();
    let piped = exec.run_piped(cleared, input, RunControl::new(cancel, output)).await;
    let seen = &piped.observation;
    let put_back = seen.note.clone().filter(|_| !seen.put_back.is_empty());
    EndedHook { ms: seen.duration_ms, put_back, run: hook_run(piped) }
}

/// What a hook reads, and the variables that other programs set for it.
fn shell_input(text: String, workspace: &Path) -> ShellInput {
    let folder = workspace.to_string_lossy().into_owned();
    let names = ["CLAUDE_PROJECT_DIR", "CRUSH_PROJECT_DIR", "GEMINI_PROJECT_DIR"];
    let variables = names.map(|name| (name.to_owned(), folder.clone()));
    ShellInput { text: text.into_bytes().into(), variables: variables.into() }
}

/// Judges the command of a hook; the user's settings, or the user's answer, approve it.
fn clear(
    hook: &Hook,
    transcript: Option<PathBuf>,
    cx: PolicyContext<'_>,
) -> Result<ClearedStep, LocalizedText> {
    let seconds = hook.timeout.as_secs_f64().ceil();
    let named = named_files(&hook.command, &cx.place.workspace, &cx.place.home);
    let reads: Vec<PathBuf> = named.into_iter().flat_map(with_helpers).chain(transcript).collect();
    match safety::assess_hook(&hook.command, &reads, seconds as u32, cx) {
        Verdict::Run(cleared) => Ok(cleared),
        Verdict::Ask(held) => Ok(held.approve()),
        Verdict::Refuse(refused) => {
            let why = refused.judgement().risk.main_reason().cloned();
            Err(why.unwrap_or_else(|| cli::NO_REASON.into()))
        }
    }
}

/// A script, and the folder of hooks that it is in.
fn with_helpers(script: PathBuf) -> Vec<PathBuf> {
    let folder = script.parent().filter(|folder| folder.ends_with("hooks")).map(Path::to_owned);
    folder.into_iter().chain([script]).collect()
}

fn hook_run(piped: PipedOutput) -> HookRun {
    let PipedOutput { observation: seen, output } = piped;
    let exit = match (seen.outcome, seen.exit_code) {
        (Outcome::Ran, Some(0)) if output.is_none() => HookExit::Failed(
            phrases::TOO_LONG.with("limit", avocet_core::text::size(avocet_hooks::MAX_OUTPUT)),
        ),
        (Outcome::Ran, Some(code)) => HookExit::Code(code),
        _ => HookExit::Failed(seen.note.unwrap_or_else(|| cli::NO_REASON.into())),
    };
    HookRun { exit, stdout: output.unwrap_or_default(), stderr: seen.stderr }
}
