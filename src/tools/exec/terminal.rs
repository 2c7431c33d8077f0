//! Runs a line that the user typed with their terminal: an editor, a shell, a debugger.
//!
//! It is started as any line of the user's is: sealed, marked and in the sandbox that such lines
//! have. What differs are its streams, which are the terminal's own, so nothing of its output is
//! known; and that it takes as long as it takes.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::process_group::Tree;
use super::spawn::{self, ChildStreams, StepStartError};
use super::{Exec, daemon_rule, not_run, signal_name};
use crate::RunControl;
use avocet_core::i18n::{LocalizedText, exec as phrases};
use avocet_core::protocol::{Observation, Outcome, StepAction};
use avocet_safety::{self as safety, ClearedStep, Judgement, TerminalProgram};

/// How long a program may take to end after a signal: an editor keeps what was typed.
const END_TIMEOUT: Duration = Duration::from_millis(300);

/// Why a step does not run without a terminal; `None`: it does.
pub(super) fn refusal(exec: &Exec, judged: &Judgement) -> Option<LocalizedText> {
    let found = wanted(exec, judged).filter(|found| found.is_certain)?;
    let word = match judged.step.work {
        StepAction::Shell { .. } => phrases::NEEDS_TERMINAL,
        StepAction::Exec { .. } | StepAction::Tool { .. } => phrases::STEP_NEEDS_TERMINAL,
    };
    Some(word.with("program", found.name))
}

/// Why a step failed that probably missed a terminal.
pub(super) fn hint(exec: &Exec, judged: &Judgement) -> Option<LocalizedText> {
    let found = wanted(exec, judged)?;
    let word = match judged.step.work {
        StepAction::Shell { .. } => phrases::MISSED_TERMINAL,
        StepAction::Exec { .. } | StepAction::Tool { .. } => phrases::STEP_MISSED_TERMINAL,
    };
    Some(word.with("program", found.name))
}

/// The program of a step that needs a terminal.
fn wanted(exec: &Exec, judged: &Judgement) -> Option<TerminalProgram> {
    let found = safety::terminal_program(&judged.step.work)?;
    let elsewhere = found.is_editor && !exec.setup.environment.edits_in_terminal();
    (!found.works_without && !elsewhere).then_some(found)
}

/// Runs a step that has the terminal, until it ends or the turn does.
pub(super) async fn run(exec: &Exec, step: &ClearedStep, control: &RunControl) -> Observation {
    let judged = step.judgement();
    let exiting = &exec.steps.exiting;
    if control.cancel.is_cancelled() || exiting.is_cancelled() {
        return not_run(judged, Outcome::Cancelled, phrases::CANCELLED.into());
    }
    let began = Instant::now();
    let started = spawn::start(exec, step, ChildStreams::Terminal, &control.cancel).await;
    let ((mut child, group), inside) = match started {
        Ok(started) => started,
        Err(StepStartError::Unable(say)) => return not_run(judged, Outcome::NotStarted, say),
        Err(StepStartError::Changed(say)) => return not_run(judged, Outcome::Refused, say),
        Err(StepStartError::Cancelled) => {
            return not_run(judged, Outcome::Cancelled, phrases::CANCELLED.into());
        }
    };
    let pid = child.id();
    let status = tokio::select! {
        status = child.wait() => status.ok(),
        () = control.cancel.cancelled() => None,
        () = exiting.cancelled() => None,
    };
    let ended = status.is_some();
    if let (false, Some(pid)) = (ended, pid) {
        let tree = Tree::rooted_at(pid);
        tree.signal(Signal::TERM);
        tree.wait_ended(END_TIMEOUT).await;
        tree.signal(Signal::KILL);
        let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
    }
    group.end(&daemon_rule(judged, inside.as_ref())).await;
    tokio::task::spawn_blocking(move || drop(inside));
    let outcome = if ended { Outcome::Ran } else { Outcome::Cancelled };
    let mut seen = not_run(judged, outcome, phrases::HAD_TERMINAL.into());
    seen.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    match status {
        None => seen.note = Some(phrases::CANCELLED.into()),
        Some(status) => {
            seen.exit_code = status.code();
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            if let Some(signal) = signal {
                seen.note = Some(phrases::SIGNAL.with("signal", signal_name(signal)));
            }
        }
    }
    seen
}
