//! Notices that are shown only once on a machine.

use std::path::Path;

use super::startup::Startup;
use avocet_config::project_check::guess_check;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::Notice;
use avocet_safety::Machine;
use avocet_safety::tools::digest;

/// True the first time on this machine; a file of the program records that.
pub fn report_missing_sandbox_once(startup: &Startup) -> Box<dyn FnMut() -> bool + Send> {
    let folder = startup.paths.state.clone();
    Box::new(move || is_first_time(&folder, "told-no-sandbox"))
}

fn is_first_time(folder: &Path, name: &str) -> bool {
    let made = std::fs::create_dir_all(folder);
    let noted = made.and_then(|()| std::fs::File::create_new(folder.join(name)));
    // If it cannot be recorded, telling the user again is better than never.
    !noted.is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
}

/// Offers a guessed check command for this project, once per folder.
pub fn check_offer(startup: &Startup, world: &dyn Machine) -> Option<Notice> {
    if !startup.trusted || !startup.loaded.settings.check.is_empty() {
        return None;
    }
    let command = guess_check(&startup.folder, |name| world.program(name).is_some())?;
    let name = format!("check-{}", digest(startup.folder.as_os_str().as_encoded_bytes()));
    let is_first = is_first_time(&startup.paths.state.join("offered"), &name);
    let items: Vec<String> = command.iter().map(|word| format!("\"{word}\"")).collect();
    let how = phrases::CHECK_OFFER_HINT.with("items", items.join(", "));
    let say = phrases::CHECK_OFFER.with("command", command.join(" "));
    is_first.then(|| Notice::info(say).with_hint(how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_sandbox_is_reported_once_for_each_user() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("state");
        assert_eq!([0, 1, 2].map(|_| is_first_time(&folder, "told")), [true, false, false]);
    }
}
