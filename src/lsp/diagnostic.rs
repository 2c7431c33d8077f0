//! What a server finds in a file.

use serde_json::Value;

use avocet_core::text::{cut_end, one_line};
use avocet_safety::sanitize::{self, CarriageReturnMode};

/// The most that is read of one message of a server.
const MAX_READ: usize = 500;
const MAX_TEXT: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultSeverity {
    Error,
    Warning,
}

/// One fault of a file. Only its line may differ between two versions of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeDiagnostic {
    pub severity: FaultSeverity,
    /// Counted from 1.
    pub line: u64,
    /// Its code, its text and what found it, cleaned.
    pub text: String,
}

impl CodeDiagnostic {
    /// Errors and warnings of a list; hints are left out.
    pub fn read_all(list: Option<&Value>) -> Vec<CodeDiagnostic> {
        let all = list.and_then(Value::as_array).into_iter().flatten().take(MAX_READ);
        all.filter_map(CodeDiagnostic::read).collect()
    }

    fn read(value: &Value) -> Option<CodeDiagnostic> {
        let severity = match value.get("severity").and_then(Value::as_u64) {
            None | Some(1) => FaultSeverity::Error,
            Some(2) => FaultSeverity::Warning,
            Some(_) => return None,
        };
        let text = |key: &str| clean_line(&plain(value.get(key)), MAX_TEXT);
        let code = text("code");
        let source = text("source");
        let code = if code.is_empty() { code } else { format!("[{code}]") };
        let source = if source.is_empty() { source } else { format!(" ({source})") };
        let line = value.pointer("/range/start/line").and_then(Value::as_u64).unwrap_or_default();
        let message = text("message");
        Some(CodeDiagnostic {
            severity,
            line: line + 1,
            text: format!("{code}: {message}{source}"),
        })
    }

    fn is_same(&self, diagnostic: &CodeDiagnostic) -> bool {
        self.severity == diagnostic.severity && self.text == diagnostic.text
    }

    /// As the model reads it.
    pub fn describe(&self, shown: &str) -> String {
        let severity = match self.severity {
            FaultSeverity::Error => "error",
            FaultSeverity::Warning => "warning",
        };
        format!("{shown}:{}: {severity}{}", self.line, self.text)
    }
}

fn plain(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// One line of at most `limit` bytes that a terminal shows and does not obey.
pub(crate) fn clean_line(text: &str, limit: usize) -> String {
    cut_end(&one_line(&clean_text(text, limit)), limit)
}

pub(crate) fn clean_text(text: &str, limit: usize) -> String {
    cut_end(&sanitize::clean(&cut_end(text, limit), CarriageReturnMode::EndsLine), limit)
}

/// Those of `now` that none of `before` is, each counted once, errors first.
pub(crate) fn new_ones(
    diagnostics: &[CodeDiagnostic],
    before: &[CodeDiagnostic],
) -> Vec<CodeDiagnostic> {
    let mut code_diagnostics: Vec<&CodeDiagnostic> = before.iter().collect();
    let is_new = |diagnostic: &&CodeDiagnostic| match code_diagnostics
        .iter()
        .position(|old| old.is_same(diagnostic))
    {
        Some(at) => {
            code_diagnostics.swap_remove(at);
            false
        }
        None => true,
    };
    let mut new_diagnostics: Vec<CodeDiagnostic> =
        diagnostics.iter().filter(is_new).cloned().collect();
    new_diagnostics.sort_by_key(|found| (found.severity, found.line));
    new_diagnostics
}
