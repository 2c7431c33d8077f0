//! Builds every part from the settings and wires them, once.

use std::process::ExitCode;

/// Runs the program.
pub fn entry() -> ExitCode {
    ExitCode::SUCCESS
}
