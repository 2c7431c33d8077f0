//! Finds the folders that may complete a path while it is typed. A folder may be on a slow disk, so
//! each is read on its own thread.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tokio::sync::oneshot;

use crate::safety::absolute;

/// Names that are read in one folder.
const MOST: usize = 2_000;

/// The folders in one place, each as the user would type it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The text in front of each: `../`.
    pub lead: String,
    pub folders: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Folders {
    lead: Option<String>,
    listing: Option<oneshot::Receiver<Listing>>,
}

impl Folders {
    /// Reads the folder at the end of a typed path; `None`: no path is being typed.
    pub fn look(&mut self, lead: Option<String>, root: &str, home: &Path) {
        if self.lead == lead {
            return;
        }
        self.lead.clone_from(&lead);
        self.listing = lead.and_then(|lead| {
            let place = absolute(&lead, Path::new(root), home);
            let (tell, listing) = oneshot::channel();
            let work = move || drop(tell.send(list(lead, &place)));
            thread::Builder::new().name("folders".into()).spawn(work).ok()?;
            Some(listing)
        });
    }

    /// The folders found; waits for ever while no search runs.
    pub async fn found(&mut self) -> Option<Listing> {
        let Some(listing) = &mut self.listing else { return std::future::pending().await };
        let found = listing.await.ok();
        self.listing = None;
        found
    }
}

fn list(lead: String, place: &PathBuf) -> Listing {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MOST);
    let names = entries.filter(|entry| entry.path().is_dir()).filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        (!name.contains(char::is_control)).then_some(name)
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    if lead.is_empty() || lead.ends_with("../") {
        names.push("..".to_owned());
    }
    let folders = names.into_iter().map(|name| format!("{lead}{name}/")).collect();
    Listing { lead, folders }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn folders_of_the_typed_path_are_found_but_files_are_not() {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["ws/src", "lib/deep", "lib/a b", ".hidden"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        fs::write(root.path().join("lib/file"), "").expect("a file");
        let here = root.path().join("ws").display().to_string();
        let mut folders = Folders::default();
        for (lead, found) in [
            ("", vec!["src/", "../"]),
            ("../lib/", vec!["../lib/a b/", "../lib/deep/"]),
            ("~/", vec!["~/.hidden/", "~/lib/", "~/ws/"]),
            ("nowhere/", vec![]),
        ] {
            folders.look(Some(lead.to_owned()), &here, root.path());
            let listing = folders.found().await.expect("an answer");
            assert_eq!((listing.lead.as_str(), listing.folders), (lead, owned(&found)));
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
