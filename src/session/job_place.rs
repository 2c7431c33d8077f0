//! Whether and when a running step leaves its turn for the background, and what the turn gets of it
//! then.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::job::output_path;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Observation, Outcome, Requires, Risk, Step};
use avocet_tools::{BackgroundControl, KeepOrder, PipedOutput, TimeLimitReached};

/// How long a step that is to run on is looked at first: one that fails at once is no job.
pub const FIRST_LOOK: Duration = Duration::from_millis(1_500);
/// Bytes of its output that the turn gets.
const SHOWN: usize = 4 * 1024;

/// Whether a step may go on in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundUse {
    Never,
    /// If the user says so.
    Possible,
    After(Duration),
}

impl BackgroundUse {
    pub fn of(requires: Requires) -> BackgroundUse {
        match requires.foreground_s {
            _ if requires.background => BackgroundUse::After(FIRST_LOOK),
            Some(seconds) => {
                BackgroundUse::After(Duration::from_secs(seconds.into()).max(FIRST_LOOK))
            }
            None => BackgroundUse::Possible,
        }
    }
}

pub struct JobPlace {
    pub use_of_it: BackgroundUse,
    pub background: BackgroundControl,
    pub ports: watch::Receiver<Vec<u16>>,
    /// Takes the order that the step is to outlive the session.
    pub keep: UnboundedSender<KeepOrder>,
    /// The beginning of the output.
    pub shown: String,
    since: Instant,
}

impl JobPlace {
    /// `outputs`: the folder for outputs, and the session. The step tells the receiver when its time
    /// is up and it is at work.
    pub fn new(
        outputs: Option<&(PathBuf, String)>,
        step: &Step,
        use_of_it: BackgroundUse,
    ) -> (JobPlace, UnboundedReceiver<TimeLimitReached>) {
        let (to, ports) = watch::channel(Vec::new());
        let file = outputs.map(|(folder, session)| output_path(folder, session, &step.id));
        let (at_limit, limits) = unbounded_channel();
        let at_limit = (use_of_it != BackgroundUse::Never).then_some(at_limit);
        let (keep, orders) = unbounded_channel();
        let background = BackgroundControl {
            file,
            ports: Some(to),
            at_limit,
            keep: Some(Arc::new(tokio::sync::Mutex::new(orders))),
            ..BackgroundControl::default()
        };
        let shown = String::new();
        let since = Instant::now();

        (JobPlace { use_of_it, background, ports, keep, shown, since }, limits)
    }

    pub fn may_run_on(&self) -> bool {
        self.use_of_it != BackgroundUse::Never
    }

    /// Waits until the step is to go on in the background.
    pub async fn wait(&self, asked: &mut UnboundedReceiver<()>) {
        let time = match self.use_of_it {
            BackgroundUse::After(time) => Some(time),
            BackgroundUse::Never | BackgroundUse::Possible => None,
        };
        let first_look = sleep_until(self.since + time.unwrap_or_default());
        tokio::select! {
            () = first_look, if time.is_some() => {}
            Some(()) = asked.recv() => {}
            else => std::future::pending().await,
        }
    }

    pub fn add(&mut self, text: &str) {
        let room = SHOWN.saturating_sub(self.shown.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.shown.push_str(text.get(..end).unwrap_or_default());
    }
}

/// What the turn gets of a step that runs on.
pub fn job_observation(
    step: Step,
    cwd: String,
    risk: Risk,
    (id, shown): (u64, String),
) -> PipedOutput {
    let step = Step { requires: Requires { background: true, ..step.requires }, ..step };
    let note = phrases::JOB_STARTED.with("id", id);
    let observation = Observation::not_run(step, cwd, risk, Outcome::Ran);
    let observation = Observation { note: Some(note), stdout: shown, ..observation };
    PipedOutput { observation, output: None }
}
