//! The mode of a chat: only admins choose one in which less is asked, and it is theirs alone.

use super::speaker::Speaker;
use super::{ChatConversation, ChatEffect};
use avocet_core::i18n::chat as w;
use avocet_core::protocol::{ApprovalMode, Op, RuleOp};

impl ChatConversation {
    /// Whether this user may set what an operation sets; if not, says so.
    pub(super) fn may_send(&mut self, speaker: &Speaker, op: &Op) -> bool {
        let Op::Rules(RuleOp::SetApprovalMode { mode }) = op else { return true };
        if mode.answers() && !speaker.is_admin {
            self.say(w::MODE_OF_ADMINS);
            return false;
        }
        // The session tells it later, and a message may come before that.
        self.info.approval = *mode;
        true
    }

    /// Before the words of a user without admin rights, the session goes back to asking: no admin
    /// agreed to what they lead to.
    pub(super) fn ask_again_for(&mut self, speaker_is_admin: bool) -> Option<ChatEffect> {
        if speaker_is_admin || !self.info.approval.answers() {
            return None;
        }
        let mode = ApprovalMode::Ask;
        self.info.approval = mode;
        self.say(w::MODE_BACK_TO_ASK);
        Some(ChatEffect::Send(Op::Rules(RuleOp::SetApprovalMode { mode }).into()))
    }
}
