//! The settings that a running session takes over, and who reads and writes them.

use std::sync::Arc;

use super::script_places::FindScripts;
use super::trust::TrustPrompt;
use super::{Connect, DescribePlatforms, Doctor, Wanted};
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::budget::SpendLimits;
use avocet_core::protocol::{Effort, Mode, Notice, PageRow, SettingRow};
use avocet_safety::{Machine, Policy};
use avocet_tools::Tool;

/// Reads and writes the settings; provided by `app`.
pub trait SettingsAccess: Send {
    /// What counts in a running session, if a file changed since the last call.
    fn reload(&mut self) -> Option<ReloadedSettings>;

    /// The user decided whether the folder is trusted, and with it its own settings.
    fn set_trusted(&mut self, is_trusted: bool) -> Option<ReloadedSettings>;

    /// The question of trust about the files as they are now; `None`: as it was at the start.
    fn trust_prompt(&mut self) -> Option<TrustPrompt>;

    /// The policy as it was read last.
    fn policy(&self) -> Policy;

    /// Each setting with its origin; with a beginning of its name, only such.
    fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow>;

    /// Each setting to be edited.
    fn editable(&self) -> Vec<SettingRow>;

    /// What decides a setting, if it is not the user's own file.
    fn overridden_by(&self, key: &str) -> Option<LocalizedText>;

    /// Writes a setting, or removes it; the sentence says what was done.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText>;
}

/// The settings that a running session takes over.
pub struct ReloadedSettings {
    /// Without the rules that were remembered or given in the session.
    pub policy: Policy,
    pub max_steps: Option<usize>,
    pub max_subagents: usize,
    pub spend_limits: SpendLimits,
    pub check: Vec<String>,
    /// Those of the screen, each by its key with its value.
    pub screen: Vec<(&'static str, String)>,
    /// The language, if it changed.
    pub lang: Option<Lang>,
    /// How models are reached, if that changed.
    pub models: Option<ReloadedModels>,
    /// What runs steps, if that changed.
    pub tools: Option<ReloadedTools>,
    pub find_scripts: FindScripts,
    pub doctor: Doctor,
    pub platforms: DescribePlatforms,
    /// Problems in the files, and suggestions.
    pub notices: Vec<Notice>,
}

/// How models are reached from now on.
pub struct ReloadedModels {
    pub connect: Connect,
    /// The model of the settings, if they name another one than before.
    pub wanted: Option<Wanted>,
    pub mode: Option<Mode>,
    /// How much models reason, if that changed.
    pub effort: Option<Option<Effort>>,
    pub profile: String,
    /// The host that receives a key without encryption; empty if there is none.
    pub exposed: String,
}

/// What runs steps from now on, and where it finds programs.
pub struct ReloadedTools {
    pub tools: Vec<Arc<dyn Tool>>,
    pub world: Arc<dyn Machine>,
}
