//! The instructions that are sent, of the project and of the user: reads them, shows them
//! (`/memory`), and adds notes to them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use super::Security;
use super::session_effects::{Effects, SessionEffect};
use super::turn_conversation::{InstructionsCheck, spawn_instructions_check};
use super::turn_messages::TurnMessage;
use avocet_config::diagnostic::io_reason;
use avocet_config::project_instructions::{InstructionSources, LOCAL, NAMES, ProjectInstructions};
use avocet_core::i18n::session as phrases;
use avocet_core::private_dir::private_folder;
use avocet_core::protocol::{NotePlace, Notice, Page, PageRow, SessionInfo};

/// The instructions of a session.
pub struct SessionInstructions {
    /// As they were read last.
    pub current: Arc<ProjectInstructions>,
    /// The user's own, the first of which takes new notes.
    pub user_notes: Vec<PathBuf>,
}

impl SessionInstructions {
    /// None is read yet.
    pub fn new(user_notes: Vec<PathBuf>) -> SessionInstructions {
        SessionInstructions { current: Arc::default(), user_notes }
    }

    /// Reads the current ones, once the session is open.
    pub fn load(&self, security: &Security, messages: UnboundedSender<TurnMessage>) {
        if let Some(looking) = self.check(security) {
            tokio::spawn(async move {
                if let Ok(Some(found)) = looking.await {
                    let _ = messages.send(TurnMessage::InstructionsRead(found));
                }
            });
        }
    }

    /// Starts a check for changes; none if there can be none.
    pub fn check(&self, security: &Security) -> Option<InstructionsCheck> {
        let trusted = security.place.trusted;
        let user = self.user_notes.clone();
        let folder = security.place.cwd.clone();
        (trusted || !user.is_empty()).then(|| {
            let worked_in = self.current.worked_in.clone();
            let sources = InstructionSources { folder, trusted, user, worked_in };
            spawn_instructions_check(sources, &self.current, &security.redactor)
        })
    }

    pub fn set(
        &mut self,
        instructions: Arc<ProjectInstructions>,
        info: &mut SessionInfo,
    ) -> Effects {
        if instructions.is_older_than(&self.current) {
            return Vec::new();
        }
        info.notes.clone_from(&instructions.notes.files);
        let before = std::mem::replace(&mut self.current, instructions);
        let notices = self.current.notices.iter();
        let notices = notices.filter(|notice| !before.notices.contains(notice)).cloned();
        std::iter::once(SessionEffect::InfoChanged).chain(notices.map(Into::into)).collect()
    }

    /// `/memory`.
    pub fn page(&self, info: &SessionInfo, folder: &Path) -> Page {
        let mut rows: Vec<PageRow> =
            info.notes.iter().map(|note| PageRow::line(note.localized())).collect();
        if rows.is_empty() {
            rows.push(PageRow::line(phrases::MEMORY_NONE));
        }
        rows.push(PageRow::heading(phrases::MEMORY_PLACES));
        for place in NotePlace::ALL {
            if let Some(path) = self.note_path(place, folder) {
                rows.push(PageRow::pair(place.name(), path.display().to_string()));
            }
        }
        Page { title: phrases::MEMORY.into(), rows }
    }

    /// The note counts with the next message, which finds the file changed.
    pub fn add_note(&self, place: NotePlace, text: &str, folder: &Path) -> Option<Notice> {
        let path = self.note_path(place, folder)?;
        let shown = path.display().to_string();
        Some(match append(&path, text.trim()) {
            Ok(()) => Notice::info(phrases::NOTED.with("path", shown)),
            Err(error) => {
                let why = io_reason(&error);
                Notice::error(phrases::NOT_NOTED.with("path", shown).with("why", why))
            }
        })
    }

    fn note_path(&self, place: NotePlace, folder: &Path) -> Option<PathBuf> {
        match place {
            NotePlace::Project => {
                let known = NAMES.iter().map(|name| folder.join(name)).find(|path| path.exists());
                Some(known.unwrap_or_else(|| folder.join("AGENTS.md")))
            }
            NotePlace::Local => Some(folder.join(LOCAL)),
            NotePlace::User => self.user_notes.first().cloned(),
        }
    }
}

/// A link is not followed: it may lead anywhere.
fn append(path: &Path, text: &str) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    let before = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let newline = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{newline}- {text}\n").as_bytes())
}
