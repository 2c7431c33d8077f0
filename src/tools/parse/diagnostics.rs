//! Reads the diagnostics of compilers and linters: file, line, column, severity, code,
//! message.

use serde_json::{Value, json};

use super::command::{has_flag, subcommand};
use super::items::{FinishedCommand, Items, clip, object};
use super::search::{number, position};

/// One complaint, as it is gathered.
#[derive(Clone, Debug, Default)]
struct Diagnostic<'t> {
    file: Option<&'t str>,
    line: Option<u64>,
    column: Option<u64>,
    severity: &'t str,
    code: Option<&'t str>,
    message: &'t str,
}

impl Diagnostic<'_> {
    fn to_item(&self) -> Value {
        object([
            ("file", self.file.map(|file| json!(file))),
            ("line", self.line.map(|line| json!(line))),
            ("col", self.column.map(|column| json!(column))),
            ("severity", Some(json!(self.severity))),
            ("code", self.code.map(|code| json!(code))),
            ("message", Some(json!(clip(self.message)))),
        ])
    }
}

/// Cargo's own sentences at the end, which point at nothing.
const CARGO_ENDS: &[&str] =
    &["could not compile", "aborting due to", "build failed", "test failed"];

/// Cargo and rustc, in the human-readable form or as JSON lines.
pub(super) fn rust(run: &FinishedCommand<'_>) -> Option<Items> {
    let checks = ["check", "build", "clippy", "fix", "doc", "rustc"];
    let judged = run.program != "cargo"
        || subcommand(run.args).is_some_and(|(name, _)| checks.contains(&name));
    if run.args.iter().any(|arg| arg.contains("format=json")) {
        let lines = run.stdout.lines().chain(run.stderr.lines());
        let items: Items = lines.filter_map(rust_json).collect();
        return items.unless_empty(judged && run.exit == Some(0));
    }
    let mut items = Items::default();
    let mut open: Option<Diagnostic<'_>> = None;
    let mut close = |open: &mut Option<Diagnostic<'_>>| {
        if let Some(found) = open.take().filter(is_worth_listing) {
            items.push(found.to_item());
        }
    };
    for line in run.stderr.lines() {
        if let Some(found) = rust_header(line) {
            close(&mut open);
            open = Some(found);
        } else if let Some(place) = line.trim_start().strip_prefix("--> ")
            && let Some(found) = open.as_mut().filter(|found| found.file.is_none())
        {
            let mut parts = place.rsplitn(3, ':');
            found.column = parts.next().and_then(|column| column.trim().parse().ok());
            found.line = parts.next().and_then(|line| line.parse().ok());
            found.file = parts.next();
        }
    }
    close(&mut open);
    items.unless_empty(judged && run.exit == Some(0))
}

/// `error[E0308]: mismatched types`, `warning: unused variable`.
fn rust_header(line: &str) -> Option<Diagnostic<'_>> {
    let (severity, rest) = ["error", "warning"]
        .iter()
        .find_map(|word| line.strip_prefix(word).map(|rest| (*word, rest)))?;
    let (code, message) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (code, rest) = rest.split_once("]: ")?;
            (Some(code), rest)
        }
        None => (None, rest.strip_prefix(": ")?),
    };
    Some(Diagnostic { severity, code, message, ..Diagnostic::default() })
}

/// Has a location, or a message that is not a summary.
fn is_worth_listing(found: &Diagnostic<'_>) -> bool {
    let summary = CARGO_ENDS.iter().any(|end| found.message.contains(end))
        || found.message.contains(" generated ");
    found.file.is_some() || !summary
}

fn rust_json(line: &str) -> Option<Value> {
    let event: Value = serde_json::from_str(line).ok()?;
    let message = match event["reason"].as_str() {
        Some("compiler-message") => &event["message"],
        Some(_) => return None,
        None => &event,
    };
    let severity =
        message["level"].as_str().filter(|level| ["error", "warning"].contains(level))?;
    let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    let span = spans.iter().find(|span| span["is_primary"] == true);
    let found = Diagnostic {
        file: span.and_then(|span| span["file_name"].as_str()),
        line: span.and_then(|span| span["line_start"].as_u64()),
        column: span.and_then(|span| span["column_start"].as_u64()),
        severity,
        code: message["code"]["code"].as_str(),
        message: message["message"].as_str()?,
    };
    is_worth_listing(&found).then(|| found.to_item())
}

/// `a.ts(12,5): error TS2322: …`, or `a.ts:12:5 - error TS2322: …`.
pub(super) fn typescript(run: &FinishedCommand<'_>) -> Option<Items> {
    let items: Items = run.stdout.lines().filter_map(typescript_line).collect();
    items.unless_empty(run.program.ends_with("tsc") && run.exit == Some(0))
}

fn typescript_line(line: &str) -> Option<Value> {
    let (place, rest) = match line.split_once("): ") {
        Some(found) => found,
        None => line.split_once(" - ")?,
    };
    let (severity, rest) = rest.split_once(" TS")?;
    let (code, message) = rest.split_once(": ")?;
    if !["error", "warning", "message"].contains(&severity) {
        return None;
    }
    let (file, line_of, column) = match place.rsplit_once('(') {
        Some((file, numbers)) => {
            let (line, column) = numbers.split_once(',')?;
            (file, line.parse().ok(), column.parse().ok())
        }
        None => {
            let mut parts = place.rsplitn(3, ':');
            let column = parts.next()?.parse().ok();
            let line = parts.next()?.parse().ok();
            (parts.next()?, line, column)
        }
    };
    let code = format!("TS{code}");
    let found = Diagnostic {
        file: Some(file),
        line: line_of,
        column,
        severity,
        code: Some(&code),
        message,
    };
    Some(found.to_item())
}

/// ESLint: a file's name, then its complaints indented; or JSON.
pub(super) fn eslint(run: &FinishedCommand<'_>) -> Option<Items> {
    if let Ok(Value::Array(files)) = serde_json::from_str(run.stdout.trim())
        && files.iter().all(|file| file["messages"].is_array())
    {
        return Some(files.iter().flat_map(eslint_json).collect());
    }
    let mut file = None;
    let mut items = Items::default();
    for line in run.stdout.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            file = Some(line).filter(|name| name.contains(['/', '.']));
        } else if let Some(found) = eslint_line(line, file) {
            items.push(found);
        }
    }
    items.unless_empty(run.program == "eslint" && run.exit == Some(0))
}

/// `  12:5  error  Unexpected var  no-var`.
fn eslint_line(line: &str, file: Option<&str>) -> Option<Value> {
    let (line_of, rest) = number(line.trim_start())?;
    let (column, rest) = number(rest.strip_prefix(':')?)?;
    let rest = rest.trim_start();
    let (severity, rest) = rest.split_once(' ')?;
    if !["error", "warning"].contains(&severity) {
        return None;
    }
    let (message, code) = match rest.trim().rsplit_once("  ") {
        Some((message, code)) => (message.trim(), Some(code)),
        None => (rest.trim(), None),
    };
    let found =
        Diagnostic { file, line: Some(line_of), column: Some(column), severity, code, message };
    file.map(|_| found.to_item())
}

fn eslint_json(file: &Value) -> Vec<Value> {
    let messages = file["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = messages.iter().map(|message| {
        let found = Diagnostic {
            file: file["filePath"].as_str(),
            line: message["line"].as_u64(),
            column: message["column"].as_u64(),
            severity: if message["severity"] == 2 { "error" } else { "warning" },
            code: message["ruleId"].as_str(),
            message: message["message"].as_str().unwrap_or_default(),
        };
        found.to_item()
    });
    found.collect()
}

/// Ruff: `a.py:1:8: F401 …`, the long form with an arrow, or JSON.
pub(super) fn ruff(run: &FinishedCommand<'_>) -> Option<Items> {
    if subcommand(run.args).is_some_and(|(name, _)| name == "format") {
        return None;
    }
    if let Ok(Value::Array(found)) = serde_json::from_str(run.stdout.trim()) {
        return Some(found.iter().map(ruff_json).collect());
    }
    let mut items = Items::default();
    let mut header = None;
    for line in run.stdout.lines() {
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            let Some((code, message)) = header.take() else { continue };
            let mut parts = place.rsplitn(3, ':');
            let column = parts.next().and_then(|column| column.trim().parse().ok());
            let line = parts.next().and_then(|line| line.parse().ok());
            let file = parts.next();
            items.push(
                Diagnostic { file, line, column, severity: "error", code: Some(code), message }
                    .to_item(),
            );
        } else if let Some(at) = position(line)
            && let Some((code, message)) = parse_rule_code(at.rest.trim_start())
        {
            items.push(
                Diagnostic {
                    file: Some(at.file),
                    line: Some(at.line),
                    column: at.column,
                    severity: "error",
                    code: Some(code),
                    message,
                }
                .to_item(),
            );
        } else if let Some(found) = parse_rule_code(line) {
            header = Some(found);
        }
    }
    items.unless_empty(run.exit == Some(0))
}

/// `F401 [*] message`.
fn parse_rule_code(text: &str) -> Option<(&str, &str)> {
    let (code, message) = text.split_once(' ')?;
    let code = code.trim_end_matches(':');
    let known = code == "invalid-syntax"
        || code.starts_with(|c: char| c.is_ascii_uppercase())
            && code.ends_with(|c: char| c.is_ascii_digit())
            && code.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    known.then(|| (code, message.trim_start_matches("[*] ").trim()))
}

fn ruff_json(found: &Value) -> Value {
    let place = &found["location"];
    let found = Diagnostic {
        file: found["filename"].as_str(),
        line: place["row"].as_u64(),
        column: place["column"].as_u64(),
        severity: "error",
        code: found["code"].as_str(),
        message: found["message"].as_str().unwrap_or_default(),
    };
    found.to_item()
}

/// pytest and Python itself: `tests/a.py:12: AssertionError`, or the last line of a
/// traceback.
pub(super) fn python(run: &FinishedCommand<'_>) -> Option<Items> {
    let mut items = Items::default();
    let mut place: Option<(&str, u64)> = None;
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        let text = line.trim_start().trim_start_matches("E   ").trim_start();
        if let Some(rest) = text.strip_prefix("File \"") {
            let Some((file, rest)) = rest.split_once("\", line ") else { continue };
            place = number(rest).map(|(line, _)| (file, line));
        } else if let Some(at) = position(line)
            && let Some(message) = Some(at.rest.trim()).filter(|text| is_exception(text))
            && !at.file.contains(' ')
        {
            let line = Some(at.line);
            items.push(
                Diagnostic {
                    file: Some(at.file),
                    line,
                    severity: "error",
                    message,
                    ..Diagnostic::default()
                }
                .to_item(),
            );
        } else if let Some((file, line)) = place.filter(|_| is_exception(text)) {
            place = None;
            let (file, line) = (Some(file), Some(line));
            items.push(
                Diagnostic {
                    file,
                    line,
                    severity: "error",
                    message: text,
                    ..Diagnostic::default()
                }
                .to_item(),
            );
        }
    }
    if run.exit == Some(0) { None } else { items.unless_empty(false) }
}

/// `ValueError: …`, `KeyboardInterrupt`, `json.decoder.JSONDecodeError: …`.
fn is_exception(text: &str) -> bool {
    let name = text.split([':', ' ']).next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    last.starts_with(|c: char| c.is_ascii_uppercase())
        && ["Error", "Exception", "Warning", "Interrupt", "Exit"]
            .iter()
            .any(|end| last.ends_with(end))
}

/// `go build`, `go vet`: `./a.go:10:2: undefined: x`, sometimes after `vet: `.
pub(super) fn go(run: &FinishedCommand<'_>) -> Option<Items> {
    let mut items = Items::default();
    for line in run.stderr.lines().chain(run.stdout.lines()) {
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        let Some(at) = position(line).filter(|at| at.file.ends_with(".go")) else { continue };
        items.push(
            Diagnostic {
                file: Some(at.file.trim()),
                line: Some(at.line),
                column: at.column,
                severity: "error",
                code: None,
                message: at.rest.trim(),
            }
            .to_item(),
        );
    }
    let judged = subcommand(run.args).is_some_and(|(name, _)| ["vet", "build"].contains(&name));
    items.unless_empty(judged && run.program == "go" && run.exit == Some(0))
}

/// `file:line:column: severity: message`, the column at times missing.
pub(super) fn compiler(run: &FinishedCommand<'_>) -> Option<Items> {
    let mut items = Items::default();
    for line in run.stderr.lines().chain(run.stdout.lines()) {
        let Some(at) = position(line.trim_start()) else { continue };
        let rest = at.rest.trim_start().trim_start_matches("- ").trim_start_matches("fatal ");
        let severity = ["error", "warning", "note"].iter().find_map(|word| {
            rest.strip_prefix(word)?.strip_prefix(':').map(|message| (*word, message.trim()))
        });
        let Some((severity, message)) = severity.filter(|(word, _)| *word != "note") else {
            continue;
        };
        items.push(
            Diagnostic {
                file: Some(at.file),
                line: Some(at.line),
                column: at.column,
                severity,
                code: None,
                message,
            }
            .to_item(),
        );
    }
    let quiet = ["mypy", "pyright"].contains(&run.program) && !has_flag(run.args, "h", &["help"]);
    items.unless_empty(quiet && run.exit == Some(0))
}
