//! Runs the hooks of an event: several at once, each in the sandbox of an approved step.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, join_all};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::turn_messages::TurnMessage;
use avocet_core::i18n::{LocalizedText, cli, hooks as phrases};
use avocet_core::protocol::{Notice, Outcome};
use avocet_hooks::{
    ActiveHooks, Hook, HookCall, HookExit, HookReply, HookRun, HookSession, join_replies,
    named_files, read_reply,
};
use avocet_safety::{self as safety, Cleared, PolicyContext, Verdict};
use avocet_tools::{PipedOutput, RunControl, ShellInput, Tool};

/// What a running start of a session will say.
pub type StartReply = Shared<BoxFuture<'static, HookReply>>;

/// Runs hooks.
#[derive(Clone)]
pub struct HookRunner {
    pub active: Arc<ActiveHooks>,
    /// Runs programs; `None`: there are no hooks.
    pub exec: Option<Arc<dyn Tool>>,
    pub session: String,
    pub reports: UnboundedSender<TurnMessage>,
    /// What the start of the session says, until a turn has told the model.
    pub start: Option<StartReply>,
    /// How often the end of this turn was put off.
    pub put_off: usize,
}

/// What a session is told of its hooks.
#[derive(Debug)]
pub enum HookNews {
    Ran(Box<HookReport>),
    /// The model was told what the hooks of the session's start said.
    StartHeard,
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
        scene: PolicyContext<'_>,
        cancel: &CancellationToken,
    ) -> impl Future<Output = HookReply> + Send + use<> {
        let session = HookSession {
            id: self.session.clone(),
            cwd: scene.place.cwd.clone(),
            mode: scene.policy.approval,
        };
        let hooks = self.active.started_by(call).into_iter();
        let runs: Vec<_> = hooks
            .map(|hook| {
                let input = call.input(&session, &hook);
                let cleared = clear(&hook, scene);
                self.run_one(hook, cleared, input, scene.place.workspace.as_path(), cancel.clone())
            })
            .collect();
        async move { join_replies(join_all(runs).await) }
    }

    fn run_one(
        &self,
        hook: Hook,
        cleared: Result<Cleared, LocalizedText>,
        input: String,
        workspace: &Path,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, HookReply> {
        let (reports, exec) = (self.reports.clone(), self.exec.clone());
        let folder = workspace.to_string_lossy().into_owned();
        let names = ["CLAUDE_PROJECT_DIR", "CRUSH_PROJECT_DIR"];
        let variables: BTreeMap<String, String> =
            names.iter().map(|name| ((*name).to_owned(), folder.clone())).collect();
        let is_async = hook.is_async;
        let run = async move {
            let failed = |why| (HookRun { exit: HookExit::Failed(why), ..HookRun::default() }, 0);
            let mut notice = None;
            let (run, ms) = match (cleared, exec) {
                (Ok(cleared), Some(exec)) => {
                    let (output, _) = tokio::sync::mpsc::unbounded_channel();
                    let control = RunControl::new(cancel, output);
                    let input = ShellInput { text: input.into_bytes().into(), variables };
                    let piped = exec.run_piped(cleared, input, control).await;
                    let seen = &piped.observation;
                    if !seen.put_back.is_empty() {
                        notice = seen.note.clone();
                    }
                    let ms = seen.duration_ms;
                    (hook_run(piped), ms)
                }
                (Err(why), _) => failed(phrases::REFUSED.with("why", why)),
                (Ok(_), None) => return HookReply::default(),
            };
            let end = match &run.exit {
                HookExit::Code(code) => phrases::LAST_EXIT.with("code", *code).with("ms", ms),
                HookExit::Failed(why) => {
                    phrases::LAST_FAILED.with("why", why.clone()).with("ms", ms)
                }
            };
            let mut reply = read_reply(&hook, &run);
            reply.notices.extend(notice.map(|say| {
                let say = phrases::FAILED.with("hook", hook.label()).with("why", say);
                Notice::warning(say)
            }));
            // A closed session needs no report.
            let ran = HookNews::Ran(Box::new(HookReport { hook, end }));
            let _ = reports.send(TurnMessage::Hook(ran));
            reply
        };
        if is_async {
            tokio::spawn(run);
            return std::future::ready(HookReply::default()).boxed();
        }
        run.boxed()
    }
}

/// Judges the command of a hook; the user's settings, or the user's answer, approve it.
fn clear(hook: &Hook, scene: PolicyContext<'_>) -> Result<Cleared, LocalizedText> {
    let seconds = hook.timeout.as_secs_f64().ceil();
    let named = named_files(&hook.command, &scene.place.workspace, &scene.place.home);
    let reads: Vec<PathBuf> = named.into_iter().flat_map(with_helpers).collect();
    match safety::assess_hook(&hook.command, &reads, seconds as u32, scene) {
        Verdict::Run(cleared) => Ok(cleared),
        Verdict::Ask(held) => Ok(held.approve()),
        Verdict::Refuse(refused) => {
            let why = refused.assessment().risk.main_reason().cloned();
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
