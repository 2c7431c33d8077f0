//! Finds the folders that may complete a path while it is typed. A folder may be on a slow disk, so
//! each is read on its own thread.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tokio::sync::oneshot;

use avocet_safety::absolute;

/// Names that are read in one folder.
const MAX_NAMES: usize = 2_000;

/// The folders in one place, each as the user would type it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// The text in front of each: `../`.
    pub prefix: String,
    pub folders: Vec<String>,
}

#[derive(Debug, Default)]
pub struct FolderFinder {
    prefix: Option<String>,
    listing: Option<oneshot::Receiver<FolderListing>>,
}

impl FolderFinder {
    /// Reads the folder at the end of a typed path; `None`: no path is being typed.
    pub fn request(&mut self, lead: Option<String>, root: &str, home: &Path) {
        if self.prefix == lead {
            return;
        }
        self.prefix.clone_from(&lead);
        self.listing = lead.and_then(|lead| {
            let place = absolute(&lead, Path::new(root), home);
            let (tell, listing) = oneshot::channel();
            let work = move || drop(tell.send(list(lead, &place)));
            thread::Builder::new().name("folders".into()).spawn(work).ok()?;
            Some(listing)
        });
    }

    /// The folders found; waits for ever while no search runs.
    pub async fn next_listing(&mut self) -> Option<FolderListing> {
        let Some(listing) = &mut self.listing else { return std::future::pending().await };
        let found = listing.await.ok();
        self.listing = None;
        found
    }
}

fn list(lead: String, place: &PathBuf) -> FolderListing {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MAX_NAMES);
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
    FolderListing { prefix: lead, folders }
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
        let mut folders = FolderFinder::default();
        for (lead, found) in [
            ("", vec!["src/", "../"]),
            ("../lib/", vec!["../lib/a b/", "../lib/deep/"]),
            ("~/", vec!["~/.hidden/", "~/lib/", "~/ws/"]),
            ("nowhere/", vec![]),
        ] {
            folders.request(Some(lead.to_owned()), &here, root.path());
            let listing = folders.next_listing().await.expect("an answer");
            assert_eq!((listing.prefix.as_str(), listing.folders), (lead, owned(&found)));
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
