//! Follow-ups of file changes: runs the project's own check once after each list that changed a
//! file, and verifies that a file is still the one the user approved a change of.

use super::Turn;
use avocet_core::i18n::agent as phrases;
use avocet_core::protocol::{Event, Notice, Observation, Requires, Step};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext};

impl Turn {
    /// The check as a step, if the list has changed a file and the check has not run since. It is
    /// judged like any other.
    pub(super) fn check_step(&mut self) -> Option<Step> {
        let work = self.start.check.clone()?;
        let changed =
            |observation: &&Observation| observation.change.is_some() && observation.succeeded();
        if self.batch.check_id.is_some()
            || !self.batch.observations.iter().any(|seen| changed(&seen))
        {
            return None;
        }
        let id = format!("cmd_{:03}", self.next_step);
        self.next_step += 1;
        self.batch.total += 1;
        self.batch.check_id = Some(id.clone());
        (self.batch.why, self.batch.expected) = (String::new(), String::new());
        let say = phrases::CHECKS.with("command", work.short_line());
        self.emit(Event::Notice(Notice::info(say)));
        Some(Step { id, work, requires: Requires::default(), cwd: None })
    }

    /// Tells the model that a result is from the check, which it did not request.
    pub(super) fn mark_check(&self, observation: &mut Observation) {
        if self.batch.check_id.as_ref() == Some(&observation.step.id) && observation.note.is_none()
        {
            observation.note = Some(phrases::CHECKED.into());
        }
    }

    /// True if the approved file has changed in the meantime: the user is asked again, with the
    /// change as it would be now.
    pub(super) fn is_stale(&mut self, approval: &NeedsApproval, cx: PolicyContext<'_>) -> bool {
        let judged = approval.judgement();
        let Some(shown) = judged.change() else { return false };
        let now = safety::assess(judged.step.clone(), cx);
        if now.judgement().change() == Some(shown) {
            return false;
        }
        let say = phrases::CHANGED_MEANWHILE.with("path", shown.path.as_str());
        self.emit(Event::Notice(Notice::warning(say)));
        true
    }
}
