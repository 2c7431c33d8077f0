//! The permissions of Claude Code's settings as rules of ours. They only make stricter: what they
//! deny is denied here too, and what they allow is not taken over.

use serde_json::Value;

use avocet_core::i18n::{LocalizedText, hooks as phrases};
use avocet_core::text::{cut, one_line, visible};

/// The most rules that are taken from one file.
const MAX_RULES: usize = 256;
/// The most of a rule that a sentence repeats.
const SHOWN: usize = 80;

/// What the permissions of a file mean here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Rules for steps that are refused, as a user writes them: `git push *`.
    pub denied: Vec<String>,
    /// What is not used, and why.
    pub faults: Vec<LocalizedText>,
}

/// Reads the table `permissions`.
pub fn permissions_of(document: &Value) -> Permissions {
    let table = document.get("permissions").unwrap_or(&Value::Null);
    let list = |name: &str| table.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut permissions = Permissions::default();
    let denied = list("deny");
    for rule in denied.iter().take(MAX_RULES).map(|rule| rule.as_str().unwrap_or_default()) {
        match translated(rule) {
            Some(rule) => permissions.denied.push(rule),
            None => {
                let rule = visible(&cut(&one_line(rule), SHOWN));
                permissions.faults.push(phrases::DENY_UNKNOWN.with("rule", rule));
            }
        }
    }
    if denied.len() > MAX_RULES {
        permissions.faults.push(phrases::DENY_TOO_MANY.with("limit", MAX_RULES));
    }
    for (name, say) in [("allow", phrases::ALLOW_UNUSED), ("ask", phrases::ASK_UNUSED)] {
        let count = list(name).len();
        permissions.faults.extend((count > 0).then(|| say.with("count", count)));
    }
    permissions
}

/// `Bash(git push:*)` as `git push *`; `None`: ours cannot say it.
fn translated(rule: &str) -> Option<String> {
    let (tool, inner) = match rule.split_once('(') {
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?.trim())),
        None => (rule, None),
    };
    match (tool, inner) {
        ("Bash", Some(command)) => denied_command(command),
        ("WebFetch", Some(host)) => {
            let host = host.strip_prefix("domain:")?;
            is_plain(host).then(|| format!("web.fetch {host}"))
        }
        ("WebFetch", None) => Some("web.fetch *".to_owned()),
        ("Read", None) => Some("file.read *".to_owned()),
        ("Edit" | "MultiEdit", None) => Some("file.edit *".to_owned()),
        ("Write", None) => Some("file.write *".to_owned()),
        (name, None) => {
            let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
            (is_plain(server) && is_plain(tool)).then(|| format!("mcp.{server}.{tool}"))
        }
        _ => None,
    }
}

/// Words of a command, and a star only where more of them may follow.
fn denied_command(command: &str) -> Option<String> {
    let start = command.strip_suffix(":*").or_else(|| command.strip_suffix(" *"));
    let words = start.unwrap_or(command).trim();
    let is_command = !words.is_empty() && words.split_whitespace().all(is_plain);
    is_command.then(|| if start.is_some() { format!("{words} *") } else { words.to_owned() })
}

/// Whether a word means itself to a shell and in a rule.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:@+,%".contains(c))
}
