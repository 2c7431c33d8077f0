//! Tries the sandbox out: does inside it what must not work there, to things made only for
//! this test.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::landlock::Kernel;
use super::{Profile, Sandbox, SandboxBackend, SandboxSupport, seatbelt};
use avocet_core::i18n::{Phrase, PhraseValue, sandbox as phrases};

/// A port that need not be open: a sandboxed call never gets to ask.
const DISCARD: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

/// Tries it out on a thread of its own. On macOS, where the sandbox is another program,
/// that program is looked for and taken at its word.
pub(super) fn detect(sandbox: &Sandbox) -> SandboxSupport {
    match Kernel::detect() {
        Some(kernel) => probe_kernel(sandbox, kernel),
        None if cfg!(target_os = "macos") && Path::new(seatbelt::PROGRAM).is_file() => {
            SandboxSupport::Available(SandboxBackend::Program)
        }
        None if cfg!(target_os = "linux") => SandboxSupport::Unavailable(phrases::NO_KERNEL.into()),
        None => SandboxSupport::Unavailable(phrases::NO_SYSTEM.into()),
    }
}

/// Tries it out with this kernel.
pub(super) fn probe_kernel(sandbox: &Sandbox, kernel: Kernel) -> SandboxSupport {
    let means = SandboxBackend::Kernel(kernel);
    let failed = |error: std::io::Error| PhraseValue::from(error.to_string());
    let tried = || -> Result<Option<Phrase>, PhraseValue> {
        let outside = sandbox.temps.probe_folder()?;
        let reader = Profile::Read {
            programs: Vec::new(),
            helpers: Vec::new(),
            readable: Vec::new(),
            lists: Vec::new(),
            compares_tracked_files: false,
            reads_git_settings: false,
            netlink: false,
        };
        let own = sandbox.temp(&reader)?;
        let file = outside.path().join("file");
        create_new_file(&file).map_err(failed)?;
        // What is in the workspace is read.
        let is_open = file.canonicalize().is_ok_and(|it| it.starts_with(&sandbox.paths.workspace));
        let inside = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("probe".into());
            let trial = thread.spawn_scoped(scope, || {
                let inside = sandbox.confine(means, &reader, own)?;
                let leak = find_leak(outside.path(), &file, (inside.temp(), is_open));
                Ok((inside, leak))
            });
            let trial = trial.map_err(|error| error.to_string())?;
            trial.join().unwrap_or_else(|_| Err("it broke off".to_owned()))
        });
        Ok(inside.map(|(_, leak)| leak)?)
    };
    match tried() {
        Ok(None) => SandboxSupport::Available(means),
        Ok(Some(what)) => SandboxSupport::Unavailable(phrases::LEAKS.with("what", what)),
        Err(why) => SandboxSupport::Unavailable(phrases::FAULT.with("why", why)),
    }
}

/// Nothing is opened that was there before, a link to something else least of all.
fn create_new_file(file: &Path) -> std::io::Result<()> {
    File::options().write(true).create_new(true).open(file).map(drop)
}

/// The first thing that is not as it must be.
fn find_leak(outside: &Path, file: &Path, (temp, is_open): (&Path, bool)) -> Option<Phrase> {
    let refused = |done: std::io::Result<()>| {
        done.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    let trials = [
        (phrases::TRIED_WRITE, refused(fs::write(outside.join("new"), ""))),
        (phrases::TRIED_WRITE, refused(fs::write(file, "changed"))),
        (phrases::TRIED_READ, is_open || refused(fs::read(file).map(drop))),
        (
            phrases::TRIED_CHANGE,
            refused(fs::set_permissions(file, fs::Permissions::from_mode(0o777))),
        ),
        (phrases::TRIED_CONNECT, refused(TcpStream::connect(DISCARD).map(drop))),
        (phrases::TRIED_TEMP, fs::write(temp.join("own"), "").is_ok()),
    ];
    trials.into_iter().find(|(_, as_it_must)| !as_it_must).map(|(what, _)| what)
}

#[cfg(test)]
mod tests {
    use super::super::SandboxPaths;
    use super::*;
    use avocet_core::protocol::SandboxMode;

    #[test]
    fn a_workspace_that_holds_the_temporary_folder_is_sandboxed_as_any_other() {
        let status = |workspace: &Path| {
            let paths = SandboxPaths { workspace: workspace.to_owned(), ..SandboxPaths::default() };
            Sandbox::new(SandboxMode::Work, paths).status()
        };
        let temp = std::env::temp_dir().canonicalize().unwrap();
        for workspace in [Path::new("/"), &temp] {
            assert_eq!(status(workspace), status(Path::new("/nowhere")), "{workspace:?}");
        }
    }

    #[test]
    fn a_link_planted_where_the_trial_makes_its_file_opens_nothing() {
        let folder = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let (file, victim) = (folder.path().join("file"), folder.path().join("victim"));
        std::os::unix::fs::symlink(&victim, &file).unwrap();
        assert_eq!(create_new_file(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(!victim.exists());
        fs::write(&victim, "mine").unwrap();
        assert!(create_new_file(&file).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }
}
