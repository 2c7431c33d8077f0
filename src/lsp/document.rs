//! A file that a server has open: its text, what was found in it, and what of that was reported.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use url::Url;

use super::diagnostic::{CodeDiagnostic, new_ones};

/// The largest file that is opened, in bytes.
pub(crate) const MAX_FILE: u64 = 1 << 20;
/// What a server finds comes in parts: it counts once nothing more came for so long.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

/// Whether a result is to say what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportState {
    /// No step changed it.
    Unchanged,
    /// A step changed it, and its result waits.
    Due,
    /// That it is still being checked was reported.
    Late,
    Reported,
}

pub(crate) struct OpenDocument {
    pub uri: String,
    pub language: String,
    pub version: u64,
    pub text: String,
    stamp: Option<(SystemTime, u64)>,
    pushed: Vec<CodeDiagnostic>,
    pulled: Vec<CodeDiagnostic>,
    /// The server answered for this version.
    pub is_answered: bool,
    pub changed_at: Instant,
    pub heard_at: Instant,
    /// What was found before the last change, if it was checked then.
    before: Option<Vec<CodeDiagnostic>>,
    reported: Vec<CodeDiagnostic>,
    pub state: ReportState,
}

/// A file as it is on the disk.
pub(crate) struct FileOnDisk {
    pub text: String,
    stamp: Option<(SystemTime, u64)>,
}

fn stamp(meta: &Metadata) -> Option<(SystemTime, u64)> {
    Some((meta.modified().ok()?, meta.len()))
}

impl FileOnDisk {
    /// `None`: it is not text, or too large.
    pub async fn read(path: &Path) -> Option<FileOnDisk> {
        let meta = tokio::fs::metadata(path).await.ok()?;
        if !meta.is_file() || meta.len() > MAX_FILE {
            return None;
        }
        let text = tokio::fs::read_to_string(path).await.ok()?;
        Some(FileOnDisk { text, stamp: stamp(&meta) })
    }
}

impl OpenDocument {
    /// `is_new`: the file was made just now.
    pub fn new(
        path: &Path,
        language: &str,
        file: FileOnDisk,
        is_new: bool,
    ) -> Option<OpenDocument> {
        let now = Instant::now();
        Some(OpenDocument {
            uri: Url::from_file_path(path).ok()?.to_string(),
            language: language.to_owned(),
            version: 1,
            text: file.text,
            stamp: file.stamp,
            pushed: Vec::new(),
            pulled: Vec::new(),
            is_answered: false,
            changed_at: now,
            heard_at: now,
            before: is_new.then(Vec::new),
            reported: Vec::new(),
            state: ReportState::Unchanged,
        })
    }

    /// Whether the file on the disk may be another one by now.
    pub async fn is_outdated(&self, path: &Path) -> bool {
        let meta = tokio::fs::metadata(path).await;
        meta.ok().as_ref().and_then(stamp) != self.stamp
    }

    /// Takes the text over. True if it is another one.
    pub fn update(&mut self, file: FileOnDisk) -> bool {
        self.stamp = file.stamp;
        if self.text == file.text {
            return false;
        }
        if self.is_answered {
            self.before = Some(self.found());
        }
        self.text = file.text;
        self.version += 1;
        self.is_answered = false;
        self.changed_at = Instant::now();
        self.reported.clear();
        true
    }

    /// All that was found, each once.
    fn found(&self) -> Vec<CodeDiagnostic> {
        let pulled = self.pulled.iter().filter(|found| !self.pushed.contains(found));
        self.pushed.iter().chain(pulled).cloned().collect()
    }

    /// What a server sent by itself. One about another version says nothing.
    pub fn set_pushed(&mut self, version: Option<u64>, diagnostics: Vec<CodeDiagnostic>) {
        if version.is_none_or(|version| version == self.version) {
            self.pushed = diagnostics;
            self.hear();
        }
    }

    /// The answer to a question about a version. `None`: as before.
    pub fn set_pulled(&mut self, version: u64, diagnostics: Option<Vec<CodeDiagnostic>>) {
        if version == self.version {
            self.pulled = diagnostics.unwrap_or_else(|| std::mem::take(&mut self.pulled));
            self.hear();
        }
    }

    fn hear(&mut self) {
        self.is_answered = true;
        self.heard_at = Instant::now();
    }

    /// The diagnostics that the change brought and that were not reported yet, which counts as done
    /// now; and the number of those that were there before the change, if that is known.
    pub fn take_unreported(&mut self) -> (Vec<CodeDiagnostic>, Option<usize>) {
        let found = self.found();
        let new = new_ones(&found, self.before.as_deref().unwrap_or_default());
        let old = self.before.as_ref().map(|_| found.len() - new.len());
        let unreported = new_ones(&new, &self.reported);
        self.reported = new;
        self.state = ReportState::Reported;
        (unreported, old)
    }
}

/// The file that an address of the protocol names.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok()?.to_file_path().ok()
}
