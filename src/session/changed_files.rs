//! Counts the files that differ from the last commit, for the status line: with `git status`,
//! judged and run like any step, while everything else goes on.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::turn_messages::TurnMessage;
use avocet_core::protocol::{Requires, SessionInfo, Step, StepAction};
use avocet_safety::{self as safety, PolicyContext, Verdict};
use avocet_tools::{RunControl, Toolbox};

/// Whether the changed files of the folder are counted, and the count that is under way.
#[derive(Debug)]
pub struct ChangedFileCounter {
    is_on: bool,
    running: Option<(CancellationToken, JoinHandle<()>)>,
}

impl ChangedFileCounter {
    pub fn new(is_on: bool) -> ChangedFileCounter {
        ChangedFileCounter { is_on, running: None }
    }

    /// Counts them again, where a surface shows the number: at the start, and after each turn.
    pub async fn count(
        &mut self,
        context: PolicyContext<'_>,
        tools: &Toolbox,
        info: &mut SessionInfo,
        messages: &UnboundedSender<TurnMessage>,
    ) {
        if !self.is_on || !context.place.trusted || info.branch.is_none() {
            info.changed_files = None;
            return;
        }
        let step = Step {
            id: String::new(),
            work: StepAction::exec("git", &["status", "--porcelain"]),
            requires: Requires::default(),
            cwd: None,
        };
        let tool = tools.find(&step.work).cloned();
        let verdict = safety::assess(step, context);
        let (Verdict::Run(cleared), Some(tool)) = (verdict, tool) else { return };
        self.stop().await;
        let cancel = CancellationToken::new();
        let (output, _) = unbounded_channel();
        let running = tool.run(cleared, RunControl::new(cancel.clone(), output));
        let to = messages.clone();
        let task = tokio::spawn(async move {
            let seen = running.await;
            if seen.exit_code == Some(0) {
                // A closed session needs no number.
                let _ = to.send(TurnMessage::FilesCounted(seen.stdout.lines().count()));
            }
        });
        self.running = Some((cancel, task));
    }

    /// Ends with everything it started.
    pub async fn stop(&mut self) {
        if let Some((cancel, task)) = self.running.take() {
            cancel.cancel();
            let _ = task.await;
        }
    }
}
