//! Findings in the forms that users and code hosts read. The texts are a model's, so each form makes
//! sure that they stay text: no command of a log, no markup, no mention of a user.

use serde_json::{Value, json};

use super::review::{ReviewFinding, ReviewFormat, ReviewSeverity};

/// An invisible character that keeps hosts from seeing a name or a link.
const JOINER: char = '\u{2060}';

/// The findings in this form, with a line break at the end of each line.
pub fn formatted(format: ReviewFormat, findings: &[ReviewFinding]) -> String {
    match format {
        ReviewFormat::Text => findings.iter().map(text).collect(),
        ReviewFormat::Md => findings.iter().map(|it| markdown(it, true) + "\n").collect(),
        ReviewFormat::Github => findings.iter().map(annotation).collect(),
        ReviewFormat::Gitlab => json_text(findings.iter().map(code_quality).collect()),
        ReviewFormat::Sarif => json_text(sarif(findings)),
    }
}

fn json_text(value: Value) -> String {
    format!("{value:#}\n")
}

fn place(finding: &ReviewFinding) -> String {
    match finding.line {
        Some(line) => format!("{}:{line}", finding.path),
        None => finding.path.clone(),
    }
}

/// Each line of the text is moved in, so that none looks like another finding.
fn text(finding: &ReviewFinding) -> String {
    let head = format!("{}: {}: {}\n", place(finding), finding.severity.word(), finding.title);
    finding.text.lines().fold(head, |all, line| all + "    " + line + "\n")
}

fn markdown(finding: &ReviewFinding, has_place: bool) -> String {
    let place = if has_place { format!(" ({})", escaped(&place(finding))) } else { String::new() };
    let title = escaped(&finding.title);
    format!("**{}**: {title}{place}\n\n{}\n", finding.severity.word(), escaped(&finding.text))
}

/// The text as Markdown of any host: no markup, link, mention, or command at the start of a line.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    // Four blanks at the start of a line would make it code, with our signs in it.
    for line in text.lines() {
        for c in line.trim().chars() {
            if c.is_ascii_punctuation() {
                out.push('\\');
            }
            out.push(c);
            if "@#!~$%&:".contains(c) {
                out.push(JOINER);
            }
        }
        // Each line stays a line.
        out.push_str("\\\n");
    }
    out.trim_end_matches("\\\n").to_owned()
}

/// A command for the log of GitHub's runners.
fn annotation(finding: &ReviewFinding) -> String {
    let command = match finding.severity {
        ReviewSeverity::High => "error",
        ReviewSeverity::Medium => "warning",
        ReviewSeverity::Low => "notice",
    };
    let property = |text: &str| command_data(text).replace(':', "%3A").replace(',', "%2C");
    let line = finding.line.map_or(String::new(), |line| format!(",line={line}"));
    let file = property(&finding.path);
    let title = property(&finding.title);
    format!("::{command} file={file}{line},title={title}::{}\n", command_data(&finding.text))
}

/// What follows `::` is one line, and its codes are read back.
fn command_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// An entry of GitLab's report, which tells findings apart by their fingerprints.
fn code_quality(finding: &ReviewFinding) -> Value {
    let severity = match finding.severity {
        ReviewSeverity::High => "critical",
        ReviewSeverity::Medium => "major",
        ReviewSeverity::Low => "minor",
    };
    let ReviewFinding { path, line, title, text, .. } = finding;
    json!({
        "description": format!("{title}: {text}"),
        "check_name": "avocet-review",
        "fingerprint": format!("{:016x}", fnv(&format!("{path}\n{title}\n{text}"))),
        "severity": severity,
        "location": { "path": path, "lines": { "begin": line.unwrap_or(1) } },
    })
}

/// FNV-1a: the same on every machine and in every version.
fn fnv(text: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

fn sarif(findings: &[ReviewFinding]) -> Value {
    let results: Vec<Value> = findings.iter().map(sarif_result).collect();
    let version = env!("CARGO_PKG_VERSION");
    let driver = json!({ "name": "avocet", "version": version, "rules": [{ "id": "review" }] });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    })
}

fn sarif_result(finding: &ReviewFinding) -> Value {
    let level = match finding.severity {
        ReviewSeverity::High => "error",
        ReviewSeverity::Medium => "warning",
        ReviewSeverity::Low => "note",
    };
    let mut place = json!({ "artifactLocation": { "uri": uri(&finding.path) } });
    if let Some(line) = finding.line {
        place["region"] = json!({ "startLine": line });
    }
    // Words in brackets would be a link.
    let text = format!("{}\n{}", finding.title, finding.text).replace('\\', "\\\\");
    let text = text.replace('[', "\\[").replace(']', "\\]");
    json!({
        "ruleId": "review",
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
    })
}

/// A path as a relative address.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

/// The body of GitHub's request for a review: what has a line is beside it, the rest in its text.
pub fn github_review(findings: &[ReviewFinding]) -> Value {
    let comment = |finding: &ReviewFinding| {
        let body = markdown(finding, false);
        Some(json!({ "path": finding.path, "line": finding.line?, "side": "RIGHT", "body": body }))
    };
    let comments: Vec<Value> = findings.iter().filter_map(comment).collect();
    let rest = findings.iter().filter(|finding| finding.line.is_none());
    let rest: String = rest.map(|finding| markdown(finding, true) + "\n").collect();
    json!({ "event": "COMMENT", "body": format!("avocet review\n\n{rest}"), "comments": comments })
}

/// The body of GitLab's request for a note.
pub fn gitlab_note(findings: &[ReviewFinding]) -> Value {
    let all = formatted(ReviewFormat::Md, findings);
    json!({ "body": format!("avocet review\n\n{all}") })
}
