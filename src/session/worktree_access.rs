//! How agents get worktrees; provided by `app`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use avocet_safety::{Machine, Workspace};
use avocet_tools::Tool;

#[derive(Clone)]
pub struct WorktreeAccess {
    pub tools_in: Arc<dyn Fn(&Path) -> FolderTools + Send + Sync>,
    /// Ignored files that are copied into each.
    pub copied: Vec<String>,
}

/// What judges and runs the steps of another folder than that of the session.
pub struct FolderTools {
    pub place: Workspace,
    pub world: Arc<dyn Machine>,
    pub tools: Vec<Arc<dyn Tool>>,
}

impl fmt::Debug for WorktreeAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorktreeAccess").field("copied", &self.copied).finish_non_exhaustive()
    }
}
