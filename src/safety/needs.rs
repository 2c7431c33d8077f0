//! What a step needs beyond the workspace.

use super::places::UserPath;
#[cfg(any(test, feature = "test-support"))]
use super::places::{self, PlaceRow};
#[cfg(any(test, feature = "test-support"))]
use avocet_core::protocol::Effect;

/// The files that steer what runs later and that a step may not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GuardedFiles {
    /// Those that others follow by themselves.
    #[default]
    Followed,
    /// These and the files of builds, because a rule runs builds without a question, except for
    /// those that this command is made to change. Empty: there is more than one command.
    FollowedAndBuilds { command: String },
    /// The same because the home is worked in: programs look for files of builds in the folders above
    /// their own.
    FollowedAndHome { command: String },
    /// The settings and hooks of repositories: the others come with a branch.
    Repositories,
    /// It is made to change them.
    Nothing,
}

/// What one step may reach beyond the workspace.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that a step may need")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Caches it writes to. The first of each row is made where it is missing.
    pub caches: Vec<UserPath>,
    pub made: Vec<UserPath>,
    /// Homes of its program: it writes there.
    pub homes: Vec<UserPath>,
    /// Credentials that are there, as they are named in the question.
    pub credentials: Vec<UserPath>,
    /// Those of them that its program refreshes.
    pub refreshed: Vec<UserPath>,
    /// Devices; `*` at the end matches any rest.
    pub devices: Vec<&'static str>,
    /// Variables that other steps do not get.
    pub variables: Vec<&'static str>,
    pub network: bool,
    /// It is made to change the system, which no wall around the workspace allows.
    pub system: bool,
    pub guarded: GuardedFiles,
    /// It is made to end other processes.
    pub signals: bool,
    /// It finds no program of the project by its name: that would run with what is opened to it.
    pub hides_programs: bool,
    /// Other steps are paused while it runs: they could change the hooks and settings that it
    /// follows with what is opened to it.
    pub pauses_others: bool,
    /// It asks the kernel about the network of this machine, also where it only reads.
    pub netlink: bool,
}

impl Needs {
    /// Those of a command, whatever of it is there.
    #[cfg(any(test, feature = "test-support"))]
    pub fn for_test(rule: &str, effects: &[Effect]) -> Needs {
        let named = |rows: &'static [PlaceRow]| -> Vec<UserPath> {
            let rows = rows.iter().filter(|row| row.applies_to(rule));
            rows.flat_map(|row| row.places.iter().copied()).collect()
        };
        Needs {
            caches: named(places::CACHES),
            homes: named(places::HOMES),
            credentials: named(places::CREDENTIALS),
            network: effects.contains(&Effect::Network),
            ..Needs::default()
        }
    }

    /// Those of a step that runs without a question: its own caches, and nothing else beyond the
    /// workspace. What a branch brings with it steers programs as any other change does.
    #[must_use]
    pub(super) fn without_openings(self) -> Needs {
        let Needs { caches, devices, mut made, mut guarded, .. } = self;
        made.retain(|place| caches.contains(place));
        if guarded == GuardedFiles::Repositories {
            guarded = GuardedFiles::Followed;
        }
        Needs { caches, made, devices, guarded, ..Needs::default() }
    }

    pub(super) fn uses_credentials(&self, secrets: &[String]) -> bool {
        !self.credentials.is_empty() || secrets.iter().any(|name| self.passes(name))
    }

    /// The places and variables, as the question names them.
    pub(super) fn credential_names(&self, secrets: &[String]) -> String {
        let places = self.credentials.iter().map(UserPath::display_path);
        let variables = secrets.iter().filter(|name| self.passes(name));
        let mut names: Vec<String> =
            places.chain(variables.map(|name| format!("${name}"))).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    /// Whether it gets a variable that others do not.
    pub fn passes(&self, name: &str) -> bool {
        self.variables.iter().any(|row| matches_name(row, name))
    }

    /// Every opening as phrases, for the seal.
    pub(super) fn fingerprint_words(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// True when a row of a table, `NAME` or `PREFIX*`, covers a name.
pub fn matches_name(row: &str, name: &str) -> bool {
    row.strip_suffix('*').map_or(row == name, |prefix| name.starts_with(prefix))
}
