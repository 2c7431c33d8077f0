//! Reads the lists of files that searches and git print.

use serde_json::json;

use super::command::{has_flag, subcommand};
use super::items::{FinishedCommand, Items};
use super::search::has_option;

/// `rg --files`, `grep -l`.
pub(super) fn matching_files(command: &FinishedCommand<'_>) -> Option<Items> {
    let names = ["files", "files-with-matches", "files-without-match"];
    let short = if command.program == "rg" { "l" } else { "lL" };
    if !has_option(command.args, short, &names) || has_option(command.args, "", &["json"]) {
        return None;
    }
    paths(command.stdout).unless_empty(command.exit == Some(1) && command.stderr.trim().is_empty())
}

/// `git ls-files`, `git ls-tree`, and what takes `--name-only`.
pub(super) fn git_files(command: &FinishedCommand<'_>) -> Option<Items> {
    let (name, args) = subcommand(command.args)?;
    let names_only = has_flag(args, "", &["name-only"]);
    match name {
        "ls-files" | "ls-tree" => {}
        "diff" | "diff-tree" | "diff-index" if names_only => {}
        "grep" if has_flag(args, "lL", &["files-with-matches", "name-only"]) => {}
        _ => return None,
    }
    let path = |line: &str| line.split_once('\t').map_or(line, |(_, path)| path).to_owned();
    let lines = command.stdout.split(['\n', '\0']).filter(|line| !line.is_empty());
    let items: Items = lines.map(|line| json!({ "path": path(line) })).collect();
    items.unless_empty(command.exit == Some(0))
}

fn paths(text: &str) -> Items {
    let end = if text.contains('\0') { '\0' } else { '\n' };
    let lines = text.split(end).filter(|path| !path.is_empty());
    lines.map(|path| json!({ "path": path })).collect()
}
