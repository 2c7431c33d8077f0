//! What looks at source files that steps read and change: language servers.

use std::fmt::Debug;
use std::path::PathBuf;

use futures_util::future::BoxFuture;

use avocet_core::i18n::LocalizedText;
use avocet_safety::ToolTask;

/// Follows files, and says what is wrong in them after a change.
pub trait CodeChecker: Debug + Send + Sync {
    /// A step reads these, or is about to change them. Waits until their texts are known, and for no
    /// server.
    fn follow(&self, paths: Vec<PathBuf>) -> BoxFuture<'static, ()>;

    /// What to report after a step changed these files, of them and of those that were still
    /// being checked before. Waits a few seconds at most, and for nothing if there are none.
    fn check(&self, changed: Vec<PathBuf>) -> BoxFuture<'static, Option<LocalizedText>>;
}

/// The files of the workspace that a step reads or changes.
pub(crate) fn files_of(task: &ToolTask) -> Vec<PathBuf> {
    let spots = match task {
        ToolTask::Read(read) => vec![&read.spot],
        ToolTask::Change(write) => vec![&write.spot],
        ToolTask::LargeEdit(edit) => vec![&edit.spot],
        ToolTask::Patch(patch) => patch.writes.iter().map(|write| &write.spot).collect(),
        _ => Vec::new(),
    };
    spots.into_iter().filter(|spot| spot.inside).map(|spot| spot.path.clone()).collect()
}
