//! The settings that a running session takes over, and who reads and writes them.

use crate::i18n::{Lang, LocalizedText};
use crate::protocol::budget::SpendLimits;
use crate::protocol::{Notice, PageRow};
use crate::safety::Policy;

/// Reads and writes the settings; provided by `app`.
pub trait SettingsAccess: Send {
    /// What counts in a running session, if a file changed since the last call.
    fn reload(&mut self) -> Option<LiveSettings>;

    /// The policy as it was read last.
    fn policy(&self) -> Policy;

    /// Each setting with its origin; with a beginning of its name, only such.
    fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow>;

    /// Writes a setting, or removes it; the sentence says what was done.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText>;
}

/// The settings that a running session takes over.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// Without the rules that were remembered or given in the session.
    pub policy: Policy,
    pub max_steps: usize,
    pub spend_limits: SpendLimits,
    pub check: Vec<String>,
    /// What is wrong with the files.
    pub problems: Vec<Notice>,
}
