//! The settings of a session that its running turn has yet to take over.

use std::sync::Arc;

use super::turn_context::TurnContext;
use avocet_core::protocol::budget::SpendLimits;
use avocet_core::protocol::{SandboxStatus, StepAction};
use avocet_safety::Machine;

/// What a running turn has yet to take over.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnreadSettings {
    pub has_other_model: bool,
    pub has_other_tools: bool,
}

impl UnreadSettings {
    pub fn and(self, settings: UnreadSettings) -> UnreadSettings {
        UnreadSettings {
            has_other_model: self.has_other_model || settings.has_other_model,
            has_other_tools: self.has_other_tools || settings.has_other_tools,
        }
    }
}

/// What a running turn hears before a request.
#[derive(Debug, Default)]
pub struct TurnNews {
    pub update: Option<Box<TurnUpdate>>,
    /// The results of subagents in the background; empty: there are none.
    pub results: String,
}

/// The settings of a session, for its running turn.
pub struct TurnUpdate {
    pub unread: UnreadSettings,
    pub context: TurnContext,
    pub world: Arc<dyn Machine>,
    pub sandbox_status: SandboxStatus,
    pub max_steps: Option<usize>,
    pub check: Option<StepAction>,
    pub spend_limits: SpendLimits,
}

impl std::fmt::Debug for TurnUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnUpdate").field("unread", &self.unread).finish_non_exhaustive()
    }
}
