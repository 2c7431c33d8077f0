//! Opens the places outside the workspace that the question about a step named as written, once
//! the user has answered it.

use std::path::{Path, PathBuf};

use super::readable_paths::{SandboxPaths, can_be_granted, granted_path};
use avocet_safety::{Launch, NamedWrite, SandboxOpening, WriteOpening};

/// What answers of the user opened to one step.
#[derive(Debug, Default)]
pub(super) struct UserOpenings {
    pub reads: Vec<PathBuf>,
    /// May be read and written, whole.
    pub named: Vec<PathBuf>,
    /// Folders in which entries are made, moved and removed, and nothing is read.
    pub around: Vec<PathBuf>,
    /// Made where they are missing; a path that ends in a slash is a folder.
    pub made: Vec<PathBuf>,
    pub network: bool,
}

impl UserOpenings {
    pub fn new(
        launch: &Launch,
        granted: Option<&SandboxOpening>,
        paths: &SandboxPaths,
    ) -> UserOpenings {
        let mut openings = UserOpenings::default();
        if granted.is_some() {
            openings.add_named(&launch.named, paths);
        }
        let denied = match granted {
            Some(SandboxOpening::Denied(denied)) => launch.opened.clone().merged(denied),
            Some(SandboxOpening::Named | SandboxOpening::Everything) | None => {
                launch.opened.clone()
            }
        };
        let here = |text: &String| granted_path(text, paths);
        openings.reads.extend(denied.reads.iter().filter_map(here));
        openings.named.extend(denied.writes.iter().filter_map(here));
        openings.made.extend(denied.writes.iter().filter_map(here));
        openings.network = denied.network;
        openings
    }

    fn add_named(&mut self, named: &[NamedWrite], paths: &SandboxPaths) {
        for NamedWrite { path, opening } in named {
            if !is_as_judged(path) || !is_clear(path, paths) {
                continue;
            }
            let is_there = path.exists();
            match opening {
                WriteOpening::New | WriteOpening::Entry => {
                    let changes_folder = *opening == WriteOpening::Entry || !is_there;
                    self.around.extend(existing_above(path).filter(|_| changes_folder));
                }
                // Code of the project may run in these.
                _ if !can_be_granted(path, paths) => continue,
                WriteOpening::Existing if !is_there => continue,
                WriteOpening::File if !is_there => self.made.push(path.clone()),
                WriteOpening::Folder if !is_there => self.made.push(path.join("")),
                WriteOpening::Existing | WriteOpening::File | WriteOpening::Folder => {}
            }
            self.named.push(path.clone());
        }
    }
}

/// The nearest folder that is there. The root of the system is none to open.
fn existing_above(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).find(|above| above.is_dir())?;
    above.parent().map(|_| above.to_owned())
}

/// Whether no link in it was changed since it was judged.
fn is_as_judged(path: &Path) -> bool {
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok());
    there.is_some_and(|there| there.canonicalize().is_ok_and(|real| real == there))
}

/// Whether it neither belongs to a program or to credentials, nor holds one of them, the workspace
/// or the home.
fn is_clear(path: &Path, paths: &SandboxPaths) -> bool {
    let meets = |place: &PathBuf| path.starts_with(place) || place.starts_with(path);
    let mut of_kernel = ["/proc", "/dev", "/sys", "/boot"].iter();
    // What is in there runs programs.
    let is_of_repository = path.components().any(|part| part.as_os_str() == ".git");
    !is_of_repository
        && !paths.workspace.starts_with(path)
        && !paths.home.starts_with(path)
        && !of_kernel.any(|tree| path.starts_with(tree))
        && !paths.private_places().iter().any(meets)
}
