//! The part of Go's `text/template` that model files of Ollama and LocalAI use: fields, variables,
//! `if`, `with`, `range`, pipes, comparisons, `printf`, trim marks. `define` and `template` are not
//! supported and are refused with a sentence.

mod call;
mod eval;
mod lex;
mod parse;

use serde_json::Value;

use crate::script::error::ScriptError;

pub(super) fn render(text: &str, data: &Value) -> Result<String, ScriptError> {
    let nodes = parse::parse(text)?;
    eval::run(&nodes, data)
}

/// Parses a template without rendering it.
pub(super) fn check(text: &str) -> Result<(), ScriptError> {
    parse::parse(text).map(drop)
}
