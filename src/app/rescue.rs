//! Saves a conversation that could not be saved at exit in another place: the first that is
//! writable. The user learns which.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::startup::Startup;
use crate::cli::Exit;
use avocet_core::i18n::cli as phrases;
use avocet_core::private_dir::private_folder;
use avocet_core::protocol::Notice;
use avocet_session::Rescue;

pub fn write(startup: &Startup, rescue: &Rescue) {
    let paths = &startup.paths;
    let folders =
        [paths.data.clone(), paths.state.clone(), paths.home.clone(), std::env::temp_dir()];
    let written = folders.iter().find_map(|folder| create(folder, rescue).ok());
    let notice = match written {
        Some(file) => phrases::RESCUED
            .with("why", rescue.why.clone())
            .with("file", file.display().to_string()),
        None => phrases::LOST.with("why", rescue.why.clone()),
    };
    startup.fail(&Notice::error(notice), Exit::Failed);
}

/// Follows no link and overwrites nothing.
fn create(folder: &Path, rescue: &Rescue) -> io::Result<PathBuf> {
    private_folder(folder)?;
    let file = folder.join(&rescue.name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut to = options.open(&file)?;
    let written = to.write_all(rescue.text.as_bytes()).and_then(|()| to.sync_all());
    if let Err(error) = written {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&file);
        return Err(error);
    }
    Ok(file)
}
