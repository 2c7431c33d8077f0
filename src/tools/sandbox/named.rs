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
        opening: Option<&SandboxOpening>,
        paths: &SandboxPaths,
    ) -> UserOpenings {
        let mut openings = UserOpenings::default();
        if opening.is_some() {
            openings.add_named(&launch.named, paths);
        }
        let denied = match opening {
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
                    let above = existing_above(path).filter(|_| changes_folder);
                    self.around.extend(above.filter(|above| can_be_granted(above, paths)));
                }
                WriteOpening::Replaced => {
                    let above = existing_above(path);
                    self.named.extend(above.filter(|above| can_be_granted(above, paths)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_opened_holds_what_starts_with_the_user_or_what_is_secret() {
        let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("home");
        let workspace = home.join("code/shop");
        for folder in [&workspace, &home.join(".config/gh"), &home.join(".ssh")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(home.join("there"), "").unwrap();
        let paths = SandboxPaths { workspace, home: home.clone(), ..SandboxPaths::default() };
        let names = ["b", "there", "c/d", ".config/x", ".config/x/y", ".ssh/x", "", "code/b"];
        let names = names
            .map(|name| home.join(name))
            .into_iter()
            .chain([root.path().into(), root.path().join("x")]);
        let all = [
            WriteOpening::Existing,
            WriteOpening::File,
            WriteOpening::Folder,
            WriteOpening::New,
            WriteOpening::Entry,
            WriteOpening::Replaced,
        ];
        let mut opened = Vec::new();
        for (path, opening) in names.flat_map(|path| all.map(|opening| (path.clone(), opening))) {
            let name = path.display().to_string();
            let launch = Launch { named: vec![NamedWrite { path, opening }], ..Launch::default() };
            let UserOpenings { named, around, made, .. } =
                UserOpenings::new(&launch, Some(&SandboxOpening::Named), &paths);
            let closed = [
                ".ssh/x",
                ".bashrc",
                ".profile",
                ".config/autostart/x",
                ".config/gh/hosts.yml",
                "any",
            ];
            for place in [&named, &around, &made].into_iter().flatten() {
                let inside = closed.iter().find(|closed| home.join(closed).starts_with(place));
                assert_eq!(inside, None, "{name} {opening:?}: {place:?}");
            }
            opened.extend(around);
        }
        assert!(opened.contains(&home.join("code")), "{opened:?}");
    }
}
