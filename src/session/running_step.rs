//! Runs a cleared step with its tool, and hands out its output as it arrives.

use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use avocet_core::protocol::Observation;
use avocet_safety::redact::Redactor;
use avocet_tools::{BackgroundControl, PipedOutput, RunControl};

pub(super) struct RunningStep {
    running: BoxFuture<'static, PipedOutput>,
    output: UnboundedReceiver<String>,
    started: Instant,
    /// Ends it.
    pub cancel: CancellationToken,
}

pub(super) enum StepProgress {
    Output(String),
    /// Masked.
    Ended(Box<PipedOutput>),
}

impl RunningStep {
    /// `run` starts the tool.
    pub fn start(
        cancel: &CancellationToken,
        background: BackgroundControl,
        run: impl FnOnce(RunControl) -> BoxFuture<'static, PipedOutput>,
    ) -> RunningStep {
        let (sender, output) = unbounded_channel();
        let running = run(RunControl { cancel: cancel.clone(), output: sender, background });
        RunningStep { running, output, started: Instant::now(), cancel: cancel.clone() }
    }

    /// Waits for more output, or for the end.
    pub async fn next(&mut self, redactor: &Redactor) -> StepProgress {
        let mut piped = tokio::select! {
            piped = &mut self.running => piped,
            Some(text) = self.output.recv() => return StepProgress::Output(text),
        };
        let observation = &mut piped.observation;
        if observation.duration_ms == 0 {
            observation.duration_ms =
                u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        redactor.mask_output(observation);
        StepProgress::Ended(Box::new(piped))
    }
}

/// The result of a run whose output is only shown.
pub(super) fn without_output(
    running: BoxFuture<'static, Observation>,
) -> BoxFuture<'static, PipedOutput> {
    running.map(|observation| PipedOutput { observation, output: None }).boxed()
}
