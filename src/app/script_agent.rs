//! `$agent` in a script of the command line: a session of its own, as that of `-p`, runs the task.

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc::{self, UnboundedSender};

use super::runtime::{shutdown_timeout, wait_for_session};
use super::startup::{self, StartError, Startup};
use super::{session_builder, step_runner};
use crate::cli::args::ApprovalFlags;
use crate::cli::headless::Options;
use crate::cli::print::{self, PrintChannels, PrintTurns};
use crate::cli::{Exit, output};
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::{Observation, Op, Outcome, StepAction, TurnOp, Usage};
use avocet_safety::ClearedStep;
use avocet_script::{ScriptEvent, built_in};
use avocet_session::persistence::Persistence;
use avocet_session::script_host::RunAgent;
use avocet_session::{self as session};

/// Starts the sessions. What happens in them goes to standard error.
pub fn runner(
    startup: &Arc<Startup>,
    approved: ApprovalFlags,
    has_user: bool,
    events: UnboundedSender<ScriptEvent>,
) -> RunAgent {
    let startup = Arc::clone(startup);
    Arc::new(move |step: ClearedStep| {
        let startup = Arc::clone(&startup);
        let judged = step.judgement();
        let risk = judged.risk.clone();
        let cwd = judged.cwd.display().to_string();
        let mut seen = Observation::not_run(judged.step.clone(), cwd, risk.clone(), Outcome::Ran);
        // A run that is over shows nothing.
        let _ = events.send(ScriptEvent::StepStarted(Box::new((seen.step.clone(), risk))));
        async move {
            match run_task(&startup, &seen.step.work, approved, has_user).await {
                Ok(text) => (seen.stdout, seen.exit_code) = (text, Some(0)),
                Err(why) => (seen.note, seen.exit_code) = (Some(why), Some(1)),
            }
            Some((seen, Usage::default()))
        }
        .boxed()
    })
}

async fn run_task(
    startup: &Startup,
    action: &StepAction,
    approved: ApprovalFlags,
    has_user: bool,
) -> Result<String, LocalizedText> {
    let StepAction::Tool { input, .. } = action else { return Err(phrases::STEP_BROKEN.into()) };
    let config = session_builder::build(startup, None, step_runner::SessionPurpose::Print);
    let mut config = config.map_err(|StartError { notice, .. }| notice.say)?;
    config.persistence = Persistence::in_memory();
    let options = Options {
        json: false,
        approved,
        has_user,
        schema: None,
        printer: startup.printer(),
        clean: str::to_owned,
        secrets: Arc::clone(&config.security.redactor),
    };
    let handle = session::start(config);
    let channels = PrintChannels {
        ops: handle.ops,
        events: handle.events,
        // The run of the script hears them.
        signals: mpsc::channel(1).1,
        grace: print::GRACE_PERIOD,
        leaving: startup.shared.leaving.clone(),
    };
    let user = if has_user { print::terminal_user() } else { print::no_user() };
    // The same task, in a session that has an agent.
    let (script, args) = (built_in::DO_TASK.to_owned(), input.to_string());
    let op = Op::Turn(TurnOp::RunScript { script, args });
    let mut out = Vec::new();
    let turns = PrintTurns::only(op);
    let exit = print::run(turns, channels, user, &options, (&mut out, output::stderr())).await;
    drop(wait_for_session(handle.task, shutdown_timeout(exit)).await);
    match exit {
        Exit::Done => Ok(startup::clean(String::from_utf8_lossy(&out).trim_end())),
        _ => Err(phrases::AGENT_FAILED.into()),
    }
}
