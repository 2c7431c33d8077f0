//! Counts the files that differ from the last commit, for the status line: with `git status`,
//! judged and run like any step, while everything else goes on.

use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::state::{ChangeCount, Session};
use super::turn_messages::TurnMessage;
use avocet_core::protocol::{Requires, Step, StepAction};
use avocet_safety::{self as safety, PolicyContext, Verdict};
use avocet_tools::RunControl;

impl Session {
    /// Counts them again, where a surface shows the number: at the start, and after each turn.
    pub(super) async fn count_changed_files(&mut self) {
        let place = &self.security.place;
        if !self.counts_changed_files || !place.trusted || self.info.branch.is_none() {
            self.info.changed_files = None;
            return;
        }
        let step = Step {
            id: String::new(),
            work: StepAction::exec("git", &["status", "--porcelain"]),
            requires: Requires::default(),
            cwd: None,
        };
        let world = self.security.world.as_ref();
        let policy = &self.security.policy;
        let tool = self.tools.find(&step.work).cloned();
        let verdict = safety::assess(step, PolicyContext { policy, place, world });
        let (Verdict::Run(cleared), Some(tool)) = (verdict, tool) else { return };
        if let Some(before) = self.change_count.take() {
            before.stop().await;
        }
        let cancel = CancellationToken::new();
        let (output, _) = unbounded_channel();
        let running = tool.run(cleared, RunControl::new(cancel.clone(), output));
        let to = self.turn_messages.clone();
        let task = tokio::spawn(async move {
            let seen = running.await;
            if seen.exit_code == Some(0) {
                // A closed session needs no number.
                let _ = to.send(TurnMessage::FilesCounted(seen.stdout.lines().count()));
            }
        });
        self.change_count = Some(ChangeCount { cancel, task });
    }

    pub(super) async fn set_changed_files(&mut self, files: usize) {
        if self.info.changed_files != Some(files) {
            self.info.changed_files = Some(files);
            self.send_info().await;
        }
    }
}
