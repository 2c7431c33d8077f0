//! Templates: renders a text with placeholders and plain data to a text. Three formats with one
//! interface.
//!
//! Pure. A template function of a script (`template$shout`) is JavaScript and cannot be called
//! here: rendering stops, returns the call it needs, and is repeated with the answer.

use serde_json::Value;

use super::error::{ScriptError, quoted};
use avocet_core::i18n::script as phrases;

mod fstring;
mod go;
mod hf;
mod limits;
pub mod print;
mod py_methods;
mod tags;

pub use hf::{FILTERS, Functions, Rendered, TemplateCall};
pub use limits::MAX_OUTPUT;
pub use tags::{TemplateFault, TemplateNames};

/// Longest template, in bytes.
pub const MAX_LENGTH: usize = 1024 * 1024;
/// Maximum number of calls of template functions in one rendering.
const MAX_CALLS: usize = 1000;

/// The names of the formats: those of Jinja, of Go, and of Python.
#[rustfmt::skip]
pub const FORMATS: &[&str] = &[
    "hf", "huggingface", "jinja", "jinja2",
    "golang", "go", "localai", "ollama",
    "fstring", "f-string", "python", "langchain",
];
/// Where the names of the next format begin.
const HF: usize = 4;
const GOLANG: usize = 8;

/// The template syntax of a script's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Jinja2 as HuggingFace uses it.
    #[default]
    Hf,
    Golang,
    FString,
}

impl Format {
    /// Parses `templateFormat`; `None` for any name but these.
    pub fn parse(name: &str) -> Option<Format> {
        let name = name.trim().to_ascii_lowercase();
        let at = FORMATS.iter().position(|known| *known == name)?;
        Some(match at {
            0..HF => Format::Hf,
            HF..GOLANG => Format::Golang,
            _ => Format::FString,
        })
    }

    /// True when rendering would return the text unchanged.
    pub fn is_plain(self, text: &str) -> bool {
        match self {
            Format::Hf => !["{{", "{%", "{#"].iter().any(|open| text.contains(open)),
            Format::Golang => !text.contains("{{"),
            Format::FString => !text.contains(['{', '}']),
        }
    }
}

/// Compiles templates of one format without rendering them.
pub struct TemplateCompiler {
    format: Format,
    hf: Option<hf::HfCompiler>,
}

impl TemplateCompiler {
    pub fn new(format: Format) -> TemplateCompiler {
        let hf = (format == Format::Hf).then(hf::HfCompiler::new);
        TemplateCompiler { format, hf: hf.and_then(Result::ok) }
    }

    pub fn compile(&self, text: &str) -> Result<TemplateNames, TemplateFault> {
        match (self.format, &self.hf) {
            _ if self.format.is_plain(text) => Ok(TemplateNames::default()),
            (Format::Hf, Some(hf)) => hf.compile(text),
            (Format::Golang, _) => go::compile(text),
            (Format::FString, _) => Ok(fstring::compile(text)),
            (Format::Hf, None) => Ok(TemplateNames::default()),
        }
    }
}

/// Renders a text with plain data.
pub fn render(format: Format, text: &str, data: &Value) -> Result<String, ScriptError> {
    match render_with(format, text, data, &Functions::default())? {
        Rendered::Done(text) => Ok(text),
        Rendered::NeedsCall(call) => {
            Err(phrases::TEMPLATE_FUNCTION.with("name", quoted(&call.name)).into())
        }
    }
}

/// Renders a text with plain data and the template functions of its script.
pub fn render_with(
    format: Format,
    text: &str,
    data: &Value,
    functions: &Functions,
) -> Result<Rendered, ScriptError> {
    if format.is_plain(text) {
        return Ok(Rendered::Done(text.to_owned()));
    }
    if text.len() > MAX_LENGTH {
        return Err(ScriptError::limit(phrases::TEMPLATE_LONG.with("limit", MAX_LENGTH)));
    }
    if functions.results.len() > MAX_CALLS {
        return Err(ScriptError::limit(phrases::TEMPLATE_CALLS.with("limit", MAX_CALLS)));
    }
    match format {
        Format::Hf => hf::render(text, data, functions),
        Format::Golang => go::render(text, data).map(Rendered::Done),
        Format::FString => fstring::render(text, data).map(Rendered::Done),
    }
}

#[cfg(test)]
mod tests;
