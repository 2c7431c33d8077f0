//! Reads lists of files from the programs that list them.

use serde_json::{Value, json};

use super::command::{has_flag, subcommand};
use super::items::{FinishedCommand, Items, object};
use super::search::has_option;

/// `ls`, in lines or with `-l`, with headers when several folders are listed.
pub(super) fn ls(run: &FinishedCommand<'_>) -> Option<Items> {
    if has_flag(run.args, "Cxm", &["format", "across", "zero"])
        || run.exit.is_none_or(|exit| exit > 2)
    {
        return None;
    }
    let long = has_flag(run.args, "lgon", &["long", "full-time"]);
    let mut folder = "";
    let mut items = Items::default();
    let mut blank = true;
    for line in run.stdout.lines() {
        match line.strip_suffix(':') {
            Some(header) if blank && has_headers(run) => folder = header,
            // The folder itself and the one above are not in it.
            _ if line.is_empty() || [".", ".."].contains(&line) => {}
            _ if long => items.push_some(long_line(line, folder)),
            _ => items.push(json!({ "path": join_path(folder, line) })),
        }
        blank = line.is_empty();
    }
    items.unless_empty(run.exit == Some(0))
}

/// `find`, `fd`: a path a line, or ended by NUL.
pub(super) fn find(run: &FinishedCommand<'_>) -> Option<Items> {
    let own_format = ["-printf", "-fprintf", "-ls", "-exec", "-execdir", "-delete", "-x", "-X"];
    let long = ["--exec", "--exec-batch", "--list-details", "--format", "-l", "--help"];
    if run.args.iter().any(|arg| own_format.contains(&arg.as_str()) || long.contains(&arg.as_str()))
    {
        return None;
    }
    paths(run.stdout).unless_empty(run.exit == Some(0))
}

/// `rg --files`, `grep -l`.
pub(super) fn matching_files(run: &FinishedCommand<'_>) -> Option<Items> {
    let names = ["files", "files-with-matches", "files-without-match"];
    let short = if run.program == "rg" { "l" } else { "lL" };
    if !has_option(run.args, short, &names) || has_option(run.args, "", &["json"]) {
        return None;
    }
    paths(run.stdout).unless_empty(run.exit == Some(1) && run.stderr.trim().is_empty())
}

/// `git ls-files`, `git ls-tree`, and what takes `--name-only`.
pub(super) fn git_files(run: &FinishedCommand<'_>) -> Option<Items> {
    let (name, args) = subcommand(run.args)?;
    let names_only = has_flag(args, "", &["name-only"]);
    match name {
        "ls-files" | "ls-tree" => {}
        "diff" | "diff-tree" | "diff-index" if names_only => {}
        "grep" if has_flag(args, "lL", &["files-with-matches", "name-only"]) => {}
        _ => return None,
    }
    let path = |line: &str| line.split_once('\t').map_or(line, |(_, path)| path).to_owned();
    let lines = run.stdout.split(['\n', '\0']).filter(|line| !line.is_empty());
    let items: Items = lines.map(|line| json!({ "path": path(line) })).collect();
    items.unless_empty(run.exit == Some(0))
}

/// `tree`, with the branches turned back into paths.
pub(super) fn tree(run: &FinishedCommand<'_>) -> Option<Items> {
    if has_flag(run.args, "JXHi", &[]) {
        return None;
    }
    let mut lines = run.stdout.lines();
    let mut above = vec![lines.next()?.trim_end().to_owned()];
    let mut items = Items::default();
    for line in lines {
        let Some((branch, name)) = line.split_once("── ").or_else(|| line.split_once("-- "))
        else {
            continue;
        };
        let depth = branch.chars().count() / 4 + 1;
        let name = name.split(" -> ").next().unwrap_or(name);
        above.truncate(depth);
        let parent = above.last().map_or("", String::as_str);
        let path = join_path(parent.trim_start_matches("./"), name);
        let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
        above.push(path.clone());
        items.push(json!({ "path": path }));
    }
    items.unless_empty(run.exit == Some(0))
}

impl Items {
    fn push_some(&mut self, item: Option<Value>) {
        if let Some(item) = item {
            self.push(item);
        }
    }
}

fn paths(text: &str) -> Items {
    let end = if text.contains('\0') { '\0' } else { '\n' };
    let lines = text.split(end).filter(|path| !path.is_empty());
    lines.map(|path| json!({ "path": path })).collect()
}

/// True when `ls` puts headers over its lists.
fn has_headers(run: &FinishedCommand<'_>) -> bool {
    let operands = run.args.iter().filter(|arg| !arg.starts_with('-')).count();
    operands > 1 || has_flag(run.args, "R", &["recursive"])
}

fn join_path(folder: &str, name: &str) -> String {
    match folder.trim_end_matches('/') {
        "" if folder.starts_with('/') => format!("/{name}"),
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// A line of `ls -l`: the type, the size, and the name, which may contain spaces.
fn long_line(line: &str, folder: &str) -> Option<Value> {
    let mut fields = Fields { rest: line };
    // Inode and blocks come first when they are asked for.
    let mode = (0..3).find_map(|_| fields.next().filter(|field| is_mode(field)))?;
    let mut size = None;
    let mut date = 0;
    while date == 0 {
        let before = fields.rest;
        let field = fields.next()?;
        date = date_fields(before);
        if date == 0 {
            size = field.parse::<u64>().ok();
        } else {
            for _ in 1..date {
                fields.next();
            }
        }
    }
    let name = fields.rest.strip_prefix(' ')?;
    if [".", ".."].contains(&name) {
        return None;
    }
    let (name, target) = match name.split_once(" -> ") {
        Some((name, target)) if mode.starts_with('l') => (name, Some(json!(target))),
        _ => (name, None),
    };
    let kind = match mode.chars().next() {
        Some('d') => Some(json!("folder")),
        Some('l') => Some(json!("link")),
        _ => None,
    };
    let size = size.filter(|_| kind.is_none()).map(|size| json!(size));
    Some(object([
        ("path", Some(json!(join_path(folder, name)))),
        ("kind", kind),
        ("size", size),
        ("target", target),
    ]))
}

fn is_mode(field: &str) -> bool {
    field.len() >= 10
        && field.starts_with(['-', 'd', 'l', 'c', 'b', 'p', 's'])
        && field.chars().skip(1).take(9).all(|c| "rwxsStT-".contains(c))
}

/// How many fields the date takes that the text begins with; 0: it begins with none.
fn date_fields(text: &str) -> usize {
    let fields: Vec<&str> = text.split_whitespace().take(3).collect();
    let clock =
        |field: &str| field.contains(':') && field.starts_with(|c: char| c.is_ascii_digit());
    let year = |field: &str| field.len() == 4 && field.parse::<u16>().is_ok();
    let day = |field: &str| field.len() <= 2 && field.parse::<u8>().is_ok_and(|day| day <= 31);
    match fields.as_slice() {
        [date, time, zone] if is_iso(date) && clock(time) && zone.starts_with(['+', '-']) => 3,
        [date, time, ..] if is_iso(date) && clock(time) => 2,
        [month, day_of, time] if is_month(month) && day(day_of) && (clock(time) || year(time)) => 3,
        [day_of, month, time] if day(day_of) && is_month(month) && (clock(time) || year(time)) => 3,
        _ => 0,
    }
}

fn is_iso(field: &str) -> bool {
    field.len() == 10 && field.split('-').all(|part| part.parse::<u16>().is_ok())
}

/// `Jan`, `1月`: short, and no number alone.
fn is_month(field: &str) -> bool {
    field.ends_with('月')
        || field.chars().count() <= 5 && field.chars().all(|c| c.is_alphabetic() || c == '.')
}

/// Words of a line, with the rest left as it is.
struct Fields<'l> {
    rest: &'l str,
}

impl<'l> Iterator for Fields<'l> {
    type Item = &'l str;

    fn next(&mut self) -> Option<&'l str> {
        let text = self.rest.trim_start();
        let end = text.find(' ').unwrap_or(text.len());
        let (field, rest) = text.split_at_checked(end)?;
        self.rest = rest;
        (!field.is_empty()).then_some(field)
    }
}
