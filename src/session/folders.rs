//! Folders the user adds to a session: `/add-dir` and `--add-dir`.

use std::path::PathBuf;

use super::run::Session;
use crate::protocol::Notice;
use crate::safety::{Kind, Place, World, absolute};
use crate::words::{Say, session as words};

/// The folder a text names, links resolved, if it may be added.
///
/// # Errors
/// A sentence that says why not.
pub fn admitted(text: &str, place: &Place, world: &dyn World) -> Result<PathBuf, Say> {
    let folder = world.real(&absolute(text, &place.cwd, &place.home));
    let shown = folder.display().to_string();
    if world.kind(&folder) != Kind::Folder {
        return Err(words::ADD_NO_FOLDER.with("path", shown));
    }
    match place.refusal(&folder) {
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
                if self.guard.place.holds(&folder) {
                    Notice::info(words::ADD_KNOWN.with("path", path))
                } else {
                    self.guard.place.added.push(folder);
                    self.facts.added.push(path.clone());
                    self.tell_facts().await;
                    Notice::info(words::ADDED_FOLDER.with("path", path))
                }
            }
        };
        self.say(notice).await;
    }
}
