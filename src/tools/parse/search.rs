//! Reads the matches of a search: `file:line:text` in its variants.

use serde_json::{Value, json};

use super::command::subcommand;
use super::items::{FinishedCommand, Items, clip, object};

/// Flags of rg and grep whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-e",
    "-f",
    "-g",
    "-t",
    "-T",
    "-A",
    "-B",
    "-C",
    "-m",
    "-j",
    "-d",
    "-D",
    "--glob",
    "--type",
    "--regexp",
    "--file",
    "--max-count",
    "--context",
    "--max-depth",
    "--include",
    "--exclude",
    "--sort",
];

/// Short flags that take a value: the rest of the cluster is the value.
const VALUED: &str = "efgtTABCmjdD";

/// Flags that turn the output into something else than matches with their files.
const OTHER_OUTPUT: &[&str] = &[
    "files",
    "count",
    "count-matches",
    "quiet",
    "type-list",
    "version",
    "help",
    "no-filename",
    "files-with-matches",
    "files-without-match",
    "name-only",
];

/// A location in a file, and the rest of the line after it.
pub(super) struct Position<'l> {
    pub file: &'l str,
    pub line: u64,
    pub column: Option<u64>,
    pub rest: &'l str,
}

/// How lines name their file.
enum Style<'a> {
    /// `text`, of this one file.
    SingleFile(&'a str),
    /// `file:text`.
    FilePerLine,
}

pub(super) fn read(command: &FinishedCommand<'_>) -> Option<Items> {
    let args = match command.program {
        "git" => subcommand(command.args).filter(|(name, _)| *name == "grep")?.1,
        _ => command.args,
    };
    if has_option(args, "clqVhI", OTHER_OUTPUT)
        || command.program != "rg" && has_option(args, "L", &[])
    {
        return None;
    }
    let nothing = command.exit == Some(1) && command.stderr.trim().is_empty();
    if command.stdout.trim().is_empty() {
        return nothing.then(Items::default);
    }
    if has_option(args, "", &["json"]) {
        return Some(command.stdout.lines().filter_map(json_line).collect());
    }
    let columns = has_option(args, "", &["column", "vimgrep"]);
    let numbered = columns || has_option(args, "n", &["line-number"]);
    let style = style(command.program, args);
    let mut heading = None;
    let mut items = Items::default();
    for line in command.stdout.lines().filter(|line| !line.is_empty() && *line != "--") {
        let found = if numbered {
            numbered_line(line, &style, columns, heading)
        } else {
            plain_line(line, &style)
        };
        match found {
            Some(item) => items.push(item),
            None => heading = Some(line),
        }
    }
    items.unless_empty(false)
}

fn numbered_line(
    line: &str,
    style: &Style<'_>,
    columns: bool,
    heading: Option<&str>,
) -> Option<Value> {
    let alone = match style {
        Style::SingleFile(file) => Some(*file),
        Style::FilePerLine => heading,
    };
    if let Some((number, text)) = line.split_once(':')
        && let (Ok(number), Some(file)) = (number.parse::<u64>(), alone)
    {
        let text = if columns { text.split_once(':').map_or(text, |(_, text)| text) } else { text };
        return Some(json!({ "file": file, "line": number, "text": clip(text) }));
    }
    let at = position(line)?;
    let (column, text) = match (columns, at.column) {
        (true, Some(column)) => (Some(json!(column)), at.rest),
        _ => (None, line.strip_prefix(at.file)?.strip_prefix(':')?.split_once(':')?.1),
    };
    Some(object([
        ("file", Some(json!(at.file))),
        ("line", Some(json!(at.line))),
        ("column", column),
        ("text", Some(json!(clip(text)))),
    ]))
}

fn plain_line(line: &str, style: &Style<'_>) -> Option<Value> {
    match style {
        Style::SingleFile(file) => {
            let named = line.strip_prefix(file.trim_end_matches('/'));
            match named.filter(|rest| rest.starts_with('/')).and_then(|_| line.split_once(':')) {
                Some((file, text)) => Some(json!({ "file": file, "text": clip(text) })),
                None => Some(json!({ "file": file, "text": clip(line) })),
            }
        }
        Style::FilePerLine => {
            let (file, text) = line.split_once(':')?;
            Some(json!({ "file": file, "text": clip(text) }))
        }
    }
}

/// One file named, and nothing that makes the program write names all the same.
fn style<'a>(program: &str, args: &'a [String]) -> Style<'a> {
    let mut operands = Vec::new();
    let mut pattern = has_option(args, "ef", &["regexp", "file"]);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if WITH_VALUE.contains(&arg.as_str()) {
            rest.next();
        } else if arg == "--" || arg.starts_with('-') && arg.len() > 1 {
        } else if pattern {
            operands.push(arg.as_str());
        } else {
            pattern = true;
        }
    }
    let named = has_option(args, "H", &["with-filename", "vimgrep"]) || program == "git";
    let recursive = program != "rg" && has_option(args, "rR", &["recursive"]);
    match operands.as_slice() {
        [one] if !named && !recursive => Style::SingleFile(one),
        _ => Style::FilePerLine,
    }
}

/// True when one of the flags is given: as itself or in a cluster, not as a value.
pub(super) fn has_option(args: &[String], short: &str, long: &[&str]) -> bool {
    let mut rest = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = rest.next() {
        let found = match arg.strip_prefix("--") {
            Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
            None => arg.strip_prefix('-').is_some_and(|flags| {
                let end = flags.find(|flag| VALUED.contains(flag)).map_or(flags.len(), |at| at + 1);
                flags.get(..end).unwrap_or(flags).contains(|flag| short.contains(flag))
            }),
        };
        if found {
            return true;
        }
        if WITH_VALUE.contains(&arg.as_str()) {
            rest.next();
        }
    }
    false
}

/// A line of `rg --json`.
fn json_line(line: &str) -> Option<Value> {
    let event: Value = serde_json::from_str(line).ok()?;
    let data = event.get("data").filter(|_| event["type"] == "match")?;
    Some(json!({
        "file": data["path"]["text"],
        "line": data["line_number"],
        "text": clip(data["lines"]["text"].as_str().unwrap_or_default()),
    }))
}

/// `file:line:` or `file:line:column:` at the start of a line; the file may hold
/// colons.
pub(super) fn position(line: &str) -> Option<Position<'_>> {
    for (at, _) in line.match_indices(':') {
        let (file, rest) = line.split_at_checked(at)?;
        let rest = rest.strip_prefix(':')?;
        let Some((number, after)) = number(rest) else { continue };
        let Some(after) = after.strip_prefix(':') else { continue };
        if file.is_empty() {
            return None;
        }
        return Some(match column(after) {
            Some((column, rest)) => Position { file, line: number, column: Some(column), rest },
            None => Position { file, line: number, column: None, rest: after },
        });
    }
    None
}

fn column(text: &str) -> Option<(u64, &str)> {
    let (column, rest) = number(text)?;
    Some((column, rest.strip_prefix(':').or_else(|| rest.strip_prefix(' '))?))
}

/// The number a text begins with, and the rest.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}
