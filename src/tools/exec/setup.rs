//! What running a step needs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::environment::ChildEnvironment;
use super::process_group::{self, StepGroups, StepWatch};
use crate::sandbox::Sandbox;
use avocet_core::i18n::Lang;
use avocet_safety::redact::Redactor;

/// The parts that run steps.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The user's shell, absolute: what `!cmd` is given to with `-c`.
    pub shell: PathBuf,
    pub environment: ChildEnvironment,
    pub limits: StepLimits,
    /// Masks output before it is cut, so that no half of a secret stays. What is sent
    /// live goes through it too.
    pub redactor: Option<Arc<Redactor>>,
    /// Of the one line of our own that live output may hold.
    pub lang: Lang,
}

/// How long a step may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// One that runs by itself.
    pub alone: Duration,
    /// One the user approved.
    pub approved: Duration,
    /// A shell piece of a template.
    pub piece: Duration,
    /// Between SIGINT, SIGTERM and SIGKILL.
    pub grace: Duration,
}

impl Default for StepLimits {
    fn default() -> StepLimits {
        StepLimits {
            alone: Duration::from_secs(30),
            approved: Duration::from_secs(600),
            piece: Duration::from_secs(10),
            grace: Duration::from_secs(2),
        }
    }
}

/// The tool `exec`. Building one makes this process adopt orphans and switches core
/// files off, once for all.
#[derive(Clone, Debug)]
pub struct Exec {
    pub(super) setup: Arc<Setup>,
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) steps: StepGroups,
}

impl Exec {
    /// Steps run unheld until [`Exec::with_sandbox`] says otherwise.
    pub fn new(setup: Setup) -> Exec {
        process_group::prepare();
        Exec {
            setup: Arc::new(setup),
            sandbox: Arc::new(Sandbox::off()),
            steps: StepGroups::default(),
        }
    }

    /// The same with other settings. Keys that were hidden from steps stay hidden.
    #[must_use]
    pub fn with_setup(&self, mut setup: Setup) -> Exec {
        let hidden = self.setup.environment.own_keys.iter();
        setup.environment.own_keys.extend(hidden.cloned());
        setup.environment.own_keys.sort_unstable();
        setup.environment.own_keys.dedup();
        Exec { setup: Arc::new(setup), ..self.clone() }
    }

    pub fn with_sandbox(self, sandbox: Arc<Sandbox>) -> Exec {
        Exec { sandbox, ..self }
    }

    /// Tells of the processes of every step.
    pub fn with_step_watch(self, told: Arc<dyn StepWatch>) -> Exec {
        Exec { steps: StepGroups { watcher: Some(told), ..self.steps }, ..self }
    }

    /// Pauses the jobs recorded in this folder as it does steps of its own.
    pub fn with_kept_jobs(self, place: PathBuf) -> Exec {
        Exec { steps: StepGroups { kept_jobs: Some(place), ..self.steps }, ..self }
    }

    /// Ends running steps sooner once the program is exiting.
    pub fn with_exit_token(self, leaving: CancellationToken) -> Exec {
        Exec { steps: StepGroups { exiting: leaving, ..self.steps }, ..self }
    }
}
