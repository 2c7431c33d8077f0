//! Reads the diagnostics of compilers: file, line, column, severity, code,
//! message.

use serde_json::{Value, json};

use super::command::subcommand;
use super::items::{FinishedCommand, Items, clip, object};
use super::search::position;

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
pub(super) fn rust(command: &FinishedCommand<'_>) -> Option<Items> {
    let checks = ["check", "build", "clippy", "fix", "doc", "rustc"];
    let judged = command.program != "cargo"
        || subcommand(command.args).is_some_and(|(name, _)| checks.contains(&name));
    if command.args.iter().any(|arg| arg.contains("format=json")) {
        let lines = command.stdout.lines().chain(command.stderr.lines());
        let items: Items = lines.filter_map(rust_json).collect();
        return items.unless_empty(judged && command.exit == Some(0));
    }
    let mut items = Items::default();
    let mut open: Option<Diagnostic<'_>> = None;
    let mut close = |diagnostic: &mut Option<Diagnostic<'_>>| {
        if let Some(found) = diagnostic.take().filter(is_worth_listing) {
            items.push(found.to_item());
        }
    };
    for line in command.stderr.lines() {
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
    items.unless_empty(judged && command.exit == Some(0))
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
fn is_worth_listing(diagnostic: &Diagnostic<'_>) -> bool {
    let summary = CARGO_ENDS.iter().any(|end| diagnostic.message.contains(end))
        || diagnostic.message.contains(" generated ");
    diagnostic.file.is_some() || !summary
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
    let diagnostic = Diagnostic {
        file: span.and_then(|span| span["file_name"].as_str()),
        line: span.and_then(|span| span["line_start"].as_u64()),
        column: span.and_then(|span| span["column_start"].as_u64()),
        severity,
        code: message["code"]["code"].as_str(),
        message: message["message"].as_str()?,
    };
    is_worth_listing(&diagnostic).then(|| diagnostic.to_item())
}

/// `a.ts(12,5): error TS2322: …`, or `a.ts:12:5 - error TS2322: …`.
pub(super) fn typescript(command: &FinishedCommand<'_>) -> Option<Items> {
    let items: Items = command.stdout.lines().filter_map(typescript_line).collect();
    items.unless_empty(command.program.ends_with("tsc") && command.exit == Some(0))
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
    let diagnostic = Diagnostic {
        file: Some(file),
        line: line_of,
        column,
        severity,
        code: Some(&code),
        message,
    };
    Some(diagnostic.to_item())
}

/// `go build`, `go vet`: `./a.go:10:2: undefined: x`, sometimes after `vet: `.
pub(super) fn go(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut items = Items::default();
    for line in command.stderr.lines().chain(command.stdout.lines()) {
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
    let judged = subcommand(command.args).is_some_and(|(name, _)| ["vet", "build"].contains(&name));
    items.unless_empty(judged && command.program == "go" && command.exit == Some(0))
}

/// `file:line:column: severity: message`, the column at times missing.
pub(super) fn compiler(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut items = Items::default();
    for line in command.stderr.lines().chain(command.stdout.lines()) {
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
    items.unless_empty(false)
}
