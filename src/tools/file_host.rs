//! An editor that holds files of the workspace, perhaps with text that is not saved yet.

use std::fmt::Debug;
use std::path::Path;

use avocet_core::i18n::LocalizedText;

/// Files as an editor has them. Reading and writing wait for the editor, for a limited time.
pub trait FileHost: Debug + Send + Sync {
    /// The text of a file in the editor; `None`: the file on the disk counts.
    fn read(&self, path: &Path) -> Option<String>;

    /// Whether it writes files. If it does not, changes are made to what is on the disk.
    fn can_write(&self) -> bool;

    /// Writes a file, in the editor and on the disk.
    ///
    /// # Errors
    /// Why it was not written.
    fn write(&self, path: &Path, text: &str) -> Result<(), LocalizedText>;
}
