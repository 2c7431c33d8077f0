//! What a shell and `man` read of the command line: completion scripts and manual pages.

use std::io;
use std::path::Path;

use clap::CommandFactory as _;

use super::args::{Cli, CompletionShell};
use super::related_options::{hide_unrelated, without_unrelated};

/// The completion script for a shell.
pub fn completions(shell: CompletionShell) -> Vec<u8> {
    let shell = match shell {
        CompletionShell::Bash => clap_complete::Shell::Bash,
        CompletionShell::Zsh => clap_complete::Shell::Zsh,
        CompletionShell::Fish => clap_complete::Shell::Fish,
        CompletionShell::PowerShell => clap_complete::Shell::PowerShell,
    };
    let mut script = Vec::new();
    let mut command = without_unrelated(Cli::command());
    clap_complete::generate(shell, &mut command, "avocet", &mut script);
    script
}

/// The manual page of the program, in roff.
pub fn manual_page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    Ok(page)
}

/// Writes the pages of the program and of all its commands into a folder, `avocet.1` first.
pub fn write_manual(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut command = Cli::command();
    command.build();
    clap_mangen::generate_to(hide_unrelated(command), folder)
}
