//! What is not run on this machine is said, with the reason: nothing is skipped in silence.
//!
//! With `CI=true` only the reasons of [`ALLOWED_IN_CI`] are accepted: there a machine that lacks
//! more fails the test, instead of passing without having tried anything.

use std::fmt;
use std::io::{self, Write as _};
use std::panic::Location;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<'a> {
    /// The kernel holds no step in a sandbox.
    NoSandbox,
    /// Its sandbox is older than what is tried.
    OldKernel,
    /// What is tried is written for another processor.
    OtherProcessor,
    /// Whoever runs the tests may mount no disk.
    NoMount,
    /// `/dev/shm` is no disk in memory that can be written to.
    NoSharedMemory,
    /// No folder and no file is closed to root.
    Root,
    /// No other user may start the program that was built.
    OnlyRoot,
    /// A program is not here, or cannot do what the test needs of it.
    NotInstalled(&'a str),
    /// A program of a list of which every machine has a part; the test counts those that ran.
    OneOfMany(&'a str),
}

/// The tests run everywhere with Rust, a C compiler and git, as root and as a user, also in a
/// container, which mounts nothing. A sandbox is needed: a run that never tried it proves nothing.
const ALLOWED_IN_CI: &[Reason<'_>] = &[
    Reason::OldKernel,
    Reason::OtherProcessor,
    Reason::NoMount,
    Reason::NoSharedMemory,
    Reason::Root,
    Reason::OnlyRoot,
    Reason::NotInstalled("a debugger"),
    Reason::NotInstalled("a version manager"),
    Reason::NotInstalled("busybox"),
    Reason::NotInstalled("git maintenance"),
    Reason::NotInstalled("gpg-agent"),
    Reason::NotInstalled("perl"),
    Reason::NotInstalled("python3"),
    Reason::NotInstalled("python3 -m venv"),
    Reason::NotInstalled("ssh-agent"),
    Reason::NotInstalled("tmux"),
];

impl Reason<'_> {
    fn is_allowed_in_ci(self) -> bool {
        matches!(self, Reason::OneOfMany(_)) || ALLOWED_IN_CI.contains(&self)
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoSandbox => f.write_str("the kernel of this machine has no sandbox"),
            Reason::OldKernel => f.write_str("the sandbox of this kernel is older"),
            Reason::OtherProcessor => f.write_str("this is another processor"),
            Reason::NoMount => f.write_str("no disk can be mounted here"),
            Reason::NoSharedMemory => f.write_str("`/dev/shm` is no disk in memory, or is closed"),
            Reason::Root => f.write_str("nothing is closed to root"),
            Reason::OnlyRoot => f.write_str("the program lies where only root may go"),
            Reason::NotInstalled(what) | Reason::OneOfMany(what) => {
                write!(f, "`{what}` is not on this machine")
            }
        }
    }
}

/// Says that the running test leaves something out from here on. Fails where that is not allowed.
#[track_caller]
pub fn skip(reason: Reason<'_>) {
    #[allow(clippy::disallowed_methods, reason = "CI systems say so by a variable")]
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    let thread = std::thread::current();
    let line = line(thread.name().unwrap_or("a test"), Location::caller(), reason);
    // The macros would hand it to the test's own output, which nobody sees when it passes.
    let _ = io::stderr().write_all(line.as_bytes());
    assert!(!is_ci || reason.is_allowed_in_ci(), "with `CI=true` this must run: {line}");
}

fn line(test: &str, place: &Location<'_>, reason: Reason<'_>) -> String {
    format!("NOT RUN in {test} ({}:{}): {reason}\n", place.file(), place.line())
}
