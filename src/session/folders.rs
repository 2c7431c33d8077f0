//! Folders that the user adds to a session: `/add-dir` and `--add-dir`.

use std::path::PathBuf;

use super::run::Session;
use crate::protocol::{Event, Notice, Topic};
use crate::safety::{Machine, PathKind, Workspace, absolute};
use crate::words::{LocalizedText, session as words};

/// The folder that a text names, with links resolved, if it may be added.
///
/// # Errors
/// A sentence with the reason.
pub fn admitted(
    text: &str,
    place: &Workspace,
    world: &dyn Machine,
) -> Result<PathBuf, LocalizedText> {
    let folder = world.resolve(&absolute(text, &place.cwd, &place.home));
    let shown = folder.display().to_string();
    if world.kind(&folder) != PathKind::Folder {
        return Err(words::ADD_NO_FOLDER.with("path", shown));
    }
    match place.reason_not_to_add(&folder) {
        Some(why) => Err(why.with("path", shown)),
        None => Ok(folder),
    }
}

impl Session {
    pub(super) async fn add_folder(&mut self, text: &str) {
        let notice = match admitted(text, &self.guard.place, self.guard.world.as_ref()) {
            Err(why) => Notice::error(why),
            Ok(folder) => {
                let path = folder.display().to_string();
                if self.guard.place.contains(&folder) {
                    Notice::info(words::ADD_KNOWN.with("path", path))
                } else {
                    self.guard.place.added.push(folder);
                    self.facts.added.push(path.clone());
                    self.saved.recorder().append(&Event::FolderAdded { path: path.clone() }).await;
                    self.tell_facts().await;
                    Notice::info(words::ADDED_FOLDER.with("path", path))
                }
            }
        };
        self.say(notice).await;
    }

    /// A new session keeps the folders that were added to the one before it.
    pub(super) async fn keep_folders(&mut self) {
        let added = self.guard.place.added.iter().skip(self.given);
        let paths: Vec<String> = added.map(|folder| folder.display().to_string()).collect();
        let recorder = self.saved.recorder();
        for path in paths {
            recorder.append(&Event::FolderAdded { path }).await;
        }
    }

    /// Replaces the added folders with those of the resumed session. Each is checked again: it may
    /// have been removed or replaced.
    pub(super) async fn folders_again(&mut self, folders: &[String]) {
        self.guard.place.added.truncate(self.given);
        let (mut again, mut lost) = (Vec::new(), Vec::new());
        for text in folders {
            match self.admitted_again(text) {
                Ok(folder) if self.guard.place.contains(&folder) => {}
                Ok(folder) => {
                    again.push(format!("`{text}`"));
                    self.guard.place.added.push(folder);
                }
                Err(why) => lost.push(words::FOLDER_NOT_AGAIN.with("why", why)),
            }
        }
        let added = self.guard.place.added.iter();
        let added: Vec<String> = added.map(|folder| folder.display().to_string()).collect();
        if self.facts.added != added {
            self.facts.added = added;
            self.tell_facts().await;
        }
        if !again.is_empty() {
            let say = words::FOLDERS_AGAIN.with("paths", again.join(", "));
            self.say(Notice::info(say).with_topic(Topic::Resumed)).await;
        }
        for say in lost {
            self.say(Notice::warning(say).with_topic(Topic::Resumed)).await;
        }
    }

    /// The folder itself was added: the user never saw the link that replaces it now.
    fn admitted_again(&self, text: &str) -> Result<PathBuf, LocalizedText> {
        let folder = admitted(text, &self.guard.place, self.guard.world.as_ref())?;
        if folder.as_os_str() == text {
            return Ok(folder);
        }
        let say = words::FOLDER_LEADS_ELSEWHERE.with("path", text);
        Err(say.with("target", folder.display().to_string()))
    }
}
