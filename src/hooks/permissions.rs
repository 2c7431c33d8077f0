//! The permissions of Claude Code's settings as rules of ours. They only make stricter: what they
//! deny is denied here too, what they ask about is asked about, and what they allow is not taken
//! over.

use std::path::Path;

use serde_json::Value;

use avocet_core::i18n::{LocalizedText, hooks as phrases};
use avocet_core::text::{cut, one_line, visible};
use avocet_safety::PolicyRule;

/// The most rules that are taken from one file.
const MAX_RULES: usize = 256;
/// The most of a rule that a sentence repeats.
const SHOWN: usize = 80;

/// What the permissions of a file mean here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Rules for steps that are refused, as a user writes them: `git push *`.
    pub denied: Vec<String>,
    /// The same for steps that are asked about.
    pub asked: Vec<String>,
    /// What is not used, and why.
    pub faults: Vec<LocalizedText>,
}

/// Reads the table `permissions`. `folder`: what paths that begin with `/` may be relative to.
pub fn permissions_of(document: &Value, folder: &Path) -> Permissions {
    let table = document.get("permissions").unwrap_or(&Value::Null);
    let list = |name: &str| table.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut permissions = Permissions::default();
    let Permissions { denied, asked, faults } = &mut permissions;
    for (name, rules) in [("deny", denied), ("ask", asked)] {
        let named = list(name);
        for rule in named.iter().take(MAX_RULES).map(|rule| rule.as_str().unwrap_or_default()) {
            let own = translated(rule, folder);
            if own.is_empty() {
                let rule = visible(&cut(&one_line(rule), SHOWN));
                faults.push(phrases::RULE_UNKNOWN.with("list", name).with("rule", rule));
            }
            rules.extend(own);
        }
        if named.len() > MAX_RULES {
            faults.push(phrases::TOO_MANY_RULES.with("list", name).with("limit", MAX_RULES));
        }
    }
    let count = list("allow").len();
    faults.extend((count > 0).then(|| phrases::ALLOW_UNUSED.with("count", count)));
    permissions
}

/// `Bash(git push:*)` as `git push *`; none: ours cannot say it.
fn translated(rule: &str, folder: &Path) -> Vec<String> {
    let (tool, inner) = match rule.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inner) => (tool, Some(inner.trim())),
            None => return Vec::new(),
        },
        None => (rule, None),
    };
    let own = match tool {
        "Read" => "file.read",
        "Edit" | "MultiEdit" => "file.edit",
        "Write" => "file.write",
        _ => return word_rule(tool, inner).into_iter().collect(),
    };
    match (own, inner) {
        (own, Some(pattern)) => file_rules(own, pattern, folder),
        // There it means each tool that changes files.
        ("file.edit", None) => vec!["file.edit *".to_owned(), "file.write *".to_owned()],
        (own, None) => vec![format!("{own} *")],
    }
}

fn word_rule(tool: &str, inner: Option<&str>) -> Option<String> {
    match (tool, inner) {
        ("Bash", Some(command)) => command_rule(command),
        ("WebFetch", Some(host)) => {
            let host = host.strip_prefix("domain:")?;
            is_plain(host).then(|| format!("web.fetch {host}"))
        }
        ("WebFetch", None) => Some("web.fetch *".to_owned()),
        ("WebSearch", None) => Some("web.search *".to_owned()),
        ("Grep", None) => Some("file.search *".to_owned()),
        ("Glob", None) => Some("file.list *".to_owned()),
        (name, None) => tools_rule(name.strip_prefix("mcp__")?),
        _ => None,
    }
}

/// `server`, `server__tool` or `server__get_*`; one star for all tools of all servers.
fn tools_rule(named: &str) -> Option<String> {
    let (server, tool) = named.split_once("__").unwrap_or((named, "*"));
    let start = tool.strip_suffix('*').unwrap_or(tool);
    match server {
        "*" => (tool == "*").then(|| "mcp.*".to_owned()),
        _ if !is_plain(server) || !start.is_empty() && !is_plain(start) => None,
        _ => (!tool.is_empty()).then(|| format!("mcp.{server}.{tool}")),
    }
}

/// Rules about files. Two slashes begin an absolute path; what one begins is a path in the folder
/// of the settings, and many mean an absolute one: both count.
fn file_rules(tool: &str, pattern: &str, folder: &Path) -> Vec<String> {
    let is_understood = |c: char| !c.is_control() && !"{}[]!\\".contains(c);
    if pattern.is_empty() || !pattern.chars().all(is_understood) {
        return Vec::new();
    }
    let rule = |pattern: String| {
        let args = vec![pattern];
        PolicyRule { program: tool.to_owned(), args, open: false }.to_string()
    };
    let in_folder = |inner: &str| rule(folder.join(inner).to_string_lossy().into_owned());
    match (pattern.strip_prefix("//"), pattern.strip_prefix('/')) {
        (Some(inner), _) => vec![rule(format!("/{inner}"))],
        (None, Some(inner)) => vec![rule(pattern.to_owned()), in_folder(inner)],
        (None, None) => vec![rule(pattern.to_owned())],
    }
}

/// `git push:*` as `git push *`: words of a command, and a star only where more of them may follow.
pub fn command_rule(command: &str) -> Option<String> {
    let start = command.strip_suffix(":*").or_else(|| command.strip_suffix(" *"));
    let words = start.unwrap_or(command).trim();
    let is_command = !words.is_empty() && words.split_whitespace().all(is_plain);
    is_command.then(|| if start.is_some() { format!("{words} *") } else { words.to_owned() })
}

/// Whether a word means itself to a shell and in a rule.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:@+,%".contains(c))
}
