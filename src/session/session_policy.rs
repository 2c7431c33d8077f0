//! What a session adds to the policy of the settings; `permissions` changes it.

use tokio::sync::watch;

use avocet_core::protocol::ApprovalMode;
use avocet_safety::{Policy, PolicyRule};

/// What a session adds to the policy of the settings.
#[derive(Default)]
pub struct SessionPolicy {
    /// The allowing rules that end with it.
    pub(super) rules: Vec<PolicyRule>,
    /// The policy of the settings as they were read last.
    pub(super) base: Option<Policy>,
    /// Where the running turn reads the policy.
    pub(super) updates: watch::Sender<Policy>,
    /// The mode that the command line named: it counts, and not that of a resumed session.
    pub command_line_mode: Option<ApprovalMode>,
    /// The mode that the user's settings name for sessions here.
    pub mode_of_settings: ApprovalMode,
    /// How many of the added folders come from the command line: they belong to this run, not to a
    /// session.
    pub(super) command_line_folders: usize,
}
