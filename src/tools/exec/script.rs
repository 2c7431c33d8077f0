//! Writes the line that a shell is given where it runs without a question: the words that were
//! judged, in quotes, with what makes each command harmless. The shell reads no file at its
//! start, whatever the step's own options say.

use std::ffi::OsString;
use std::path::Path;

use super::environment::Variables;
use super::git;
use avocet_core::text::quote_literal;
use avocet_safety::{ShellScript, ShellScriptCommand, ShellScriptPart, UNKNOWN};

/// The arguments of the shell of a step that is given a script. Reads the settings of
/// repositories, so it is done where waiting is allowed; if that broke off, nothing is run.
pub(super) async fn shell_args(
    script: ShellScript,
    shell: &Path,
    variables: Variables,
) -> Vec<OsString> {
    let written = tokio::task::spawn_blocking(move || write(&script, &variables)).await;
    let line = written.unwrap_or_else(|_| "exit 1".to_owned());
    let is_bash = shell.file_name().is_some_and(|name| name == "bash");
    // Without these bash reads the user's files where its input looks like that of a login.
    let quiet = ["--noprofile", "--norc"].iter().filter(|_| is_bash);
    let quiet = quiet.map(OsString::from);
    quiet.chain(["-c".into(), line.into()]).collect()
}

fn write(script: &ShellScript, variables: &Variables) -> String {
    let part = |part: &ShellScriptPart| match part {
        ShellScriptPart::Text(text) => text.clone(),
        ShellScriptPart::Command(command) => write_command(command, variables),
    };
    script.0.iter().map(part).collect()
}

fn write_command(command: &ShellScriptCommand, variables: &Variables) -> String {
    let ShellScriptCommand { program, args, unknown, cwd, launch, sets, redirects, .. } = command;
    let mut given = launch.arguments(args);
    let mut line = sets.clone();
    if let Some(first) = launch.git {
        let of_git = given.split_off(launch.index_after_insertion(first).min(given.len()));
        line += &git_settings(&git::working_folder(cwd, &of_git), &of_git, variables);
        let hardened = git::args(&of_git);
        given.extend(hardened.iter().map(|arg| arg.to_string_lossy().into_owned()));
    }
    // What is added to the words has none of them, and they stay in their order.
    let mut unknown = unknown.iter();
    let words = std::iter::once(program).chain(&given).map(|word| {
        let shown = word.contains(UNKNOWN).then(|| unknown.next()).flatten();
        shown.map_or_else(|| quote_literal(word), Clone::clone)
    });
    line += &words.collect::<Vec<_>>().join(" ");
    line += redirects;
    // The folder of the step's own is empty.
    if launch.empty_folder { format!("( cd \"$TMPDIR\" && {line} )") } else { line }
}

/// The variables in front of a git that overrule its repository.
fn git_settings(folder: &Path, args: &[String], variables: &Variables) -> String {
    let mut hardened = variables.clone();
    git::harden(&mut hardened, folder, args);
    let added = hardened.iter().filter(|(name, value)| variables.get(*name) != Some(value));
    let set = added.map(|(name, value)| {
        format!("{}={} ", name.to_string_lossy(), quote_literal(&value.to_string_lossy()))
    });
    set.collect()
}
