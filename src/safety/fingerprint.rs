//! A fingerprint of what was judged: the file, the arguments byte for byte, the folder, and
//! which of the two environments. It is compared with what is about to start, so that
//! nothing can change unseen between the user's approval and the start.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::Launch;
use avocet_core::protocol::Tier;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal([u8; 32]);

/// The step that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct LaunchRequest<'a> {
    /// The file; `None` for a line, which goes to the user's own shell.
    pub program: Option<&'a Path>,
    pub args: &'a [String],
    pub cwd: &'a Path,
    /// L0 runs alone; anything more serious with the environment of an approved step.
    pub tier: Tier,
    /// The arguments added to it.
    pub launch: &'a Launch,
}

impl Seal {
    pub fn from_request(request: LaunchRequest<'_>) -> Seal {
        let mut hash = Sha256::new();
        let alone = [u8::from(request.tier == Tier::L0), u8::from(request.program.is_some())];
        let folders = [request.program.unwrap_or(Path::new("")), request.cwd];
        let launch = request.launch.fingerprint_words();
        let fields = std::iter::once(&alone[..])
            .chain(folders.iter().map(|path| path.as_os_str().as_bytes()))
            .chain(request.args.iter().chain(&launch).map(String::as_bytes));
        for field in fields {
            // With its length, so that no two divisions of the same bytes are alike.
            hash.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(field);
        }
        Seal(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ShellScript, ShellScriptPart};
    use super::*;

    fn seal_of(program: &str, args: &[&str], cwd: &str, tier: Tier) -> Seal {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Seal::from_request(LaunchRequest {
            program: Some(Path::new(program)),
            args: &args,
            cwd: Path::new(cwd),
            tier,
            launch: &Launch::default(),
        })
    }

    #[test]
    fn any_change_breaks_the_seal() {
        let sealed = seal_of("/bin/git", &["push", "a"], "/w", Tier::L1);
        assert_eq!(sealed, seal_of("/bin/git", &["push", "a"], "/w", Tier::L1));
        for other in [
            seal_of("/bin/gi", &["tpush", "a"], "/w", Tier::L1),
            seal_of("/bin/git", &["pusha"], "/w", Tier::L1),
            seal_of("/bin/git", &["push", "a", ""], "/w", Tier::L1),
            seal_of("/bin/git", &["push", "a"], "/w/x", Tier::L1),
            seal_of("/bin/git", &["push", "a"], "/w", Tier::L0),
        ] {
            assert_ne!(sealed, other);
        }
    }

    #[test]
    fn the_seal_covers_everything_added_to_a_step() {
        let sealed = |launch: &Launch| {
            let (program, cwd) = (Some(Path::new("/bin/git")), Path::new("/w"));
            Seal::from_request(LaunchRequest { program, args: &[], cwd, tier: Tier::L0, launch })
        };
        let plain = sealed(&Launch::default());
        for launch in [
            Launch { inserted: vec![(0, "-x".into())], ..Launch::default() },
            Launch { git: Some(1), ..Launch::default() },
            Launch { empty_folder: true, ..Launch::default() },
            Launch { helpers: vec!["/usr/lib/git-core".into()], ..Launch::default() },
            Launch {
                script: Some(ShellScript(vec![ShellScriptPart::Text("x".into())])),
                ..Launch::default()
            },
        ] {
            assert_ne!(plain, sealed(&launch));
        }
    }
}
