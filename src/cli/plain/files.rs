//! Prints the plan, which files were attached and which were changed.

use super::effect::PlainEffect;
use super::lines::PlainLines;
use avocet_core::i18n::{linear as w, prompt};
use avocet_core::protocol::{AttachmentInfo, Change, PlanItem, PlanState};
use avocet_core::text::escape;

impl PlainLines {
    pub(super) fn attachment_lines(&self, infos: &[AttachmentInfo]) -> Vec<PlainEffect> {
        let line = |info: &AttachmentInfo| {
            let name = escape(&info.name).text;
            self.say(prompt::LINE_ATTACHED.with("name", name).with("size", info.size_text()))
        };
        infos.iter().map(line).collect()
    }

    pub(super) fn files_changed(&self, changes: &[Change]) -> Vec<PlainEffect> {
        Change::summary(changes).map(|say| self.say(say)).into_iter().collect()
    }

    pub(super) fn plan(&self, items: &[PlanItem]) -> Vec<PlainEffect> {
        let line = |item: &PlanItem| {
            let sign = match item.state {
                PlanState::Pending => w::PLAN_PENDING,
                PlanState::Doing => w::PLAN_DOING,
                PlanState::Done => w::PLAN_DONE,
            };
            self.say(sign.with("text", item.text.as_str()))
        };
        items.iter().map(line).collect()
    }
}
