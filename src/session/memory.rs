//! `/memory`: the instructions that are sent, and notes that the user adds to them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::state::Session;
use avocet_config::diagnostic::io_reason;
use avocet_config::project_instructions::{LOCAL, NAMES};
use avocet_core::i18n::session as phrases;
use avocet_core::private_dir::private_folder;
use avocet_core::protocol::{Event, NotePlace, Notice, Page, PageRow};

impl Session {
    pub(super) async fn show_memory(&mut self) {
        let mut rows: Vec<PageRow> =
            self.info.notes.iter().map(|note| PageRow::line(note.localized())).collect();
        if rows.is_empty() {
            rows.push(PageRow::line(phrases::MEMORY_NONE));
        }
        rows.push(PageRow::heading(phrases::MEMORY_PLACES));
        for place in NotePlace::ALL {
            if let Some(path) = self.note_path(place) {
                rows.push(PageRow::pair(place.name(), path.display().to_string()));
            }
        }
        let page = Page { title: phrases::MEMORY.into(), rows };
        self.outbox.send(Event::Page(Box::new(page))).await;
    }

    /// The note counts with the next message, which finds the file changed.
    pub(super) async fn add_note(&mut self, place: NotePlace, text: &str) {
        let Some(path) = self.note_path(place) else { return };
        let shown = path.display().to_string();
        let notice = match append(&path, text.trim()) {
            Ok(()) => Notice::info(phrases::NOTED.with("path", shown)),
            Err(error) => {
                let why = io_reason(&error);
                Notice::error(phrases::NOT_NOTED.with("path", shown).with("why", why))
            }
        };
        self.notify(notice).await;
    }

    fn note_path(&self, place: NotePlace) -> Option<PathBuf> {
        let folder = &self.security.place.cwd;
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
