//! Reads git's reports about a repository.

use serde_json::{Value, json};

use super::command::{has_flag, subcommand};
use super::items::{FinishedCommand, Items, clip, object};
use super::search::number;

/// The letters of the short forms.
const STATES: &[(char, &str)] = &[
    ('M', "modified"),
    ('T', "type changed"),
    ('A', "added"),
    ('D', "deleted"),
    ('R', "renamed"),
    ('C', "copied"),
    ('U', "unmerged"),
    ('?', "untracked"),
    ('!', "ignored"),
];

/// The headings of the long form, and the side that the files below each are on.
const HEADINGS: &[(&str, &str)] = &[
    ("Changes to be committed:", "staged"),
    ("Changes not staged for commit:", "unstaged"),
    ("Unmerged paths:", "unmerged"),
    ("Untracked files:", "untracked"),
    ("Ignored files:", "ignored"),
];

/// `git status`, in all its forms.
pub(super) fn status(command: &FinishedCommand<'_>) -> Option<Items> {
    let (_, args) = subcommand(command.args).filter(|(name, _)| *name == "status")?;
    if command.exit != Some(0) {
        return None;
    }
    let nul = command.stdout.contains('\0');
    let mut lines = command.stdout.split(if nul { '\0' } else { '\n' });
    if args.iter().any(|arg| arg == "--porcelain=v2" || arg == "--porcelain=2") {
        let mut items = Items::default();
        while let Some(line) = lines.next() {
            let from = if nul && line.starts_with("2 ") { lines.next() } else { None };
            if let Some(item) = status_v2(line, from) {
                items.push(item);
            }
        }
        return Some(items);
    }
    if has_flag(args, "sz", &["porcelain", "short"]) {
        let mut items = Items::default();
        while let Some(line) = lines.next() {
            let renamed = line.chars().take(2).any(|c| "RC".contains(c));
            let from = if nul && renamed { lines.next() } else { None };
            if let Some(item) = status_short(line, from) {
                items.push(item);
            }
        }
        return Some(items);
    }
    status_long(command.stdout)
}

/// `XY path`, `XY from -> path`; headers give nothing.
fn status_short(line: &str, from: Option<&str>) -> Option<Value> {
    let (sides, path) = line.split_at_checked(3)?;
    let mut sides = sides.chars();
    let index = sides.next()?;
    let tree = sides.next()?;

    if index == '#' {
        return None;
    }
    let (from, path) = match (from, path.split_once(" -> ")) {
        (Some(from), _) => (Some(from), path),
        (None, Some((from, path))) if "RC".contains([index, tree]) => (Some(from), path),
        _ => (None, path),
    };
    Some(entry(path, from, index, tree))
}

/// A line of version 2: fields, then the path, then a tab and where it came from.
fn status_v2(line: &str, from: Option<&str>) -> Option<Value> {
    let (kind, rest) = line.split_once(' ')?;
    let skipped = match kind {
        "1" => 7,
        "2" => 8,
        "u" => 9,
        "?" => return Some(entry(rest, None, '?', '?')),
        "!" => return Some(entry(rest, None, '!', '!')),
        _ => return None,
    };
    let path = rest.splitn(skipped + 1, ' ').last()?;
    let (path, from) = match path.split_once('\t') {
        Some((path, from)) => (path, Some(from)),
        None => (path, from),
    };
    let mut sides = rest.chars().map(|c| if c == '.' { ' ' } else { c });
    Some(entry(path, from, sides.next()?, sides.next()?))
}

fn entry(path: &str, from: Option<&str>, index: char, tree: char) -> Value {
    let word =
        |letter| STATES.iter().find(|(known, _)| *known == letter).map(|(_, word)| json!(word));
    let staged = if "?!".contains(index) { None } else { word(index) };
    object([
        ("path", Some(json!(path.trim_matches('"')))),
        ("from", from.map(|from| json!(from.trim_matches('"')))),
        ("staged", staged),
        ("unstaged", word(tree)),
    ])
}

/// The human-readable form: headings, and files after a tab.
fn status_long(text: &str) -> Option<Items> {
    let known = |line: &str| HEADINGS.iter().find(|(heading, _)| *heading == line.trim());
    let clean = text.contains("nothing to commit");
    let mut side = None;
    let mut items = Items::default();
    for line in text.lines() {
        if let Some((_, found)) = known(line) {
            side = Some(*found);
        }
        let (Some(side), Some(file)) = (side, line.strip_prefix('\t')) else { continue };
        items.push(match (side, file.split_once(":   ")) {
            ("untracked" | "ignored", _) => json!({ "path": file, "unstaged": side }),
            (side, Some((state, path))) => {
                let (from, path) = match path.trim().split_once(" -> ") {
                    Some((from, path)) => (Some(json!(from)), path),
                    None => (None, path.trim()),
                };
                let state = state.trim().replace("new file", "added");
                object([("path", Some(json!(path))), ("from", from), (side, Some(json!(state)))])
            }
            (side, None) => json!({ "path": file.trim(), side: "changed" }),
        });
    }
    items.unless_empty(clean)
}

/// `git log`, one line a commit or in full; also `reflog`, `shortlog` aside.
pub(super) fn log(command: &FinishedCommand<'_>) -> Option<Items> {
    subcommand(command.args).filter(|(name, _)| ["log", "reflog", "rev-list"].contains(name))?;
    if command.exit != Some(0) {
        return None;
    }
    let lines = command.stdout.lines().map(without_graph).filter(|line| !line.trim().is_empty());
    if command.stdout.lines().any(|line| without_graph(line).starts_with("commit ")) {
        return Some(log_full(command.stdout));
    }
    let mut items = Items::default();
    for line in lines {
        let (hash, subject) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        // Graph lines between commits hold no letter; anything else is another format.
        if !is_hash(hash) {
            if line.contains(char::is_alphanumeric) {
                return None;
            }
            continue;
        }
        items.push(json!({ "hash": hash, "subject": clip(subject) }));
    }
    items.unless_empty(false)
}

fn log_full(text: &str) -> Items {
    let mut items = Items::default();
    let mut commit: Option<[(&str, Option<Value>); 4]> = None;
    for line in text.lines().map(without_graph) {
        if let Some(rest) = line.strip_prefix("commit ") {
            if let Some(done) = commit.take() {
                items.push(object(done));
            }
            let hash = rest.split(' ').next().unwrap_or(rest);
            commit = Some([
                ("hash", Some(json!(hash))),
                ("author", None),
                ("date", None),
                ("subject", None),
            ]);
            continue;
        }
        let Some(fields) = &mut commit else { continue };
        if let Some(author) = line.strip_prefix("Author:") {
            fields[1].1 = Some(json!(clip(author.trim())));
        } else if let Some(date) = line.strip_prefix("Date:") {
            fields[2].1 = Some(json!(clip(date.trim())));
        } else if let Some(subject) = line.strip_prefix("    ")
            && fields[3].1.is_none()
        {
            fields[3].1 = Some(json!(clip(subject)));
        }
    }
    if let Some(done) = commit {
        items.push(object(done));
    }
    items
}

/// A line without the drawing of `--graph` in front.
fn without_graph(line: &str) -> &str {
    let text = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ']);
    if line.starts_with(['*', '|', '/', '\\']) && !text.is_empty() { text } else { line }
}

fn is_hash(word: &str) -> bool {
    (7..=64).contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit())
}

/// Lines added and removed: from `--stat` and its relatives, or counted in a patch.
pub(super) fn diff_stat(command: &FinishedCommand<'_>) -> Option<Items> {
    let (name, args) = subcommand(command.args)?;
    if !["diff", "show", "log", "diff-tree"].contains(&name)
        || command.exit.is_none_or(|exit| exit > 1)
    {
        return None;
    }
    let numbers = has_flag(args, "", &["numstat"]);
    if numbers {
        return command.stdout.lines().filter_map(numstat).collect::<Items>().unless_empty(true);
    }
    if has_flag(args, "", &["shortstat"]) {
        return command.stdout.lines().filter_map(summary).collect::<Items>().unless_empty(true);
    }
    if has_flag(args, "", &["stat", "compact-summary"]) {
        return command.stdout.lines().filter_map(stat).collect::<Items>().unless_empty(true);
    }
    let patch = command.whole && command.stdout.contains("diff --git ") && name != "log";
    patch.then(|| count_patch(command.stdout))
}

/// `10\t2\tpath`; a binary file has dashes.
fn numstat(line: &str) -> Option<Value> {
    let mut fields = line.splitn(3, '\t');
    let added = fields.next()?;
    let removed = fields.next()?;
    let path = fields.next()?;

    match (added.parse::<u64>(), removed.parse::<u64>()) {
        (Ok(added), Ok(removed)) => {
            Some(json!({ "path": path, "added": added, "removed": removed }))
        }
        _ => (added == "-").then(|| json!({ "path": path, "binary": true })),
    }
}

/// ` path | 12 ++--`.
fn stat(line: &str) -> Option<Value> {
    let (path, rest) = line.rsplit_once(" | ")?;
    let path = path.trim();
    match number(rest.trim_start()) {
        Some((changes, signs)) => {
            let drawn = signs.trim();
            let all = drawn.chars().all(|c| c == '+' || c == '-');
            all.then(|| json!({ "path": path, "changes": changes }))
        }
        None => {
            rest.trim_start().starts_with("Bin").then(|| json!({ "path": path, "binary": true }))
        }
    }
}

/// ` 3 files changed, 10 insertions(+), 2 deletions(-)`.
fn summary(line: &str) -> Option<Value> {
    let line = line.trim();
    let count = |word: &str| {
        let part = line.split(", ").find(|part| part.contains(word))?;
        number(part).map(|(count, _)| count)
    };
    let files = count(" changed")?;
    let added = count("insertion").unwrap_or(0);
    let removed = count("deletion").unwrap_or(0);

    Some(json!({ "files": files, "added": added, "removed": removed }))
}

/// A patch, counted file by file.
fn count_patch(patch: &str) -> Items {
    let mut files: Vec<(String, u64, u64)> = Vec::new();
    let mut inside = false;
    for line in patch.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let path = names.rsplit_once(" b/").map_or(names, |(_, path)| path);
            files.push((path.trim_end_matches('"').to_owned(), 0, 0));
            inside = false;
        } else if line.starts_with("@@") {
            inside = true;
        } else if let (true, Some((_, added, removed))) = (inside, files.last_mut()) {
            *added += u64::from(line.starts_with('+'));
            *removed += u64::from(line.starts_with('-'));
        }
    }
    let rows = files.into_iter();
    rows.map(|(path, added, removed)| json!({ "path": path, "added": added, "removed": removed }))
        .collect()
}
