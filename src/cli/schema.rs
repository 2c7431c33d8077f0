//! Checks a final answer against a JSON Schema (`--output-schema`).

use std::fmt;
use std::path::Path;

use boon::{Compiler, Draft, SchemaIndex, Schemas, ValidationError};
use serde_json::Value;

use avocet_config::{atomic_file, diagnostic::ConfigError};
use avocet_core::i18n::{Localize, LocalizedText, cli as w};
use avocet_core::text;

/// A schema that is ready to check answers.
pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
    text: Value,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(LocalizedText);

impl Localize for SchemaError {
    fn localized(&self) -> LocalizedText {
        self.0.clone()
    }
}

impl Schema {
    pub fn read(file: &Path) -> Result<Schema, SchemaError> {
        let name = file.display().to_string();
        let text = match atomic_file::read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(unreadable(&name, avocet_core::i18n::config::IO_NOT_FOUND)),
            Err(ConfigError::Unreadable { why }) => return Err(unreadable(&name, why)),
            Err(_) => return Err(unreadable(&name, w::NO_TEXT_FILE)),
        };
        Schema::parse(&name, &text)
    }

    /// A schema of this name by its text.
    pub fn parse(name: &str, text: &str) -> Result<Schema, SchemaError> {
        let wrong = |why: String| SchemaError(w::SCHEMA_WRONG.with("file", name).with("why", why));
        let text: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();

        compiler.set_default_draft(Draft::V2020_12);
        // We choose the name, so that unusual letters in a path do not make an unusual address.
        let why = |error: boon::CompileError| wrong(cause(&format!("{error:#}")));
        compiler.add_resource("schema.json", text.clone()).map_err(why)?;
        let index = compiler.compile("schema.json", &mut schemas).map_err(why)?;
        Ok(Schema { schemas, index, text })
    }

    /// The schema itself, to tell the model about it.
    pub fn value(&self) -> &Value {
        &self.text
    }

    /// The JSON of a valid answer: the whole text, or its only fenced block. The error names the
    /// path and the problem.
    pub fn check<'a>(&self, answer: &'a str) -> Result<&'a str, LocalizedText> {
        let json = strip_fence(answer.trim());
        let value: Value = serde_json::from_str(json)
            .map_err(|error| w::ANSWER_NO_JSON.with("why", error.to_string()))?;
        match self.schemas.validate(&value, self.index) {
            Ok(()) => Ok(json),
            Err(error) => Err(mismatch(&error)),
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("text", &self.text).finish_non_exhaustive()
    }
}

fn unreadable(file: &str, why: impl Into<avocet_core::i18n::PhraseValue>) -> SchemaError {
    SchemaError(w::SCHEMA_UNREADABLE.with("file", file).with("why", why))
}

/// The deepest first cause: its path and the problem there.
fn mismatch(error: &ValidationError<'_, '_>) -> LocalizedText {
    let mut deepest = error;
    while let Some(cause) = deepest.causes.first() {
        deepest = cause;
    }
    let path = deepest.instance_location.to_string();
    let path = if path.is_empty() { "/".to_owned() } else { path };
    w::ANSWER_MISFIT.with("path", path).with("why", cause(&deepest.kind.to_string()))
}

/// The contents of a text that is exactly one fenced block.
fn strip_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = inside.and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((language, json)) if !json.contains("```") && language.len() < 20 => json.trim(),
        _ => text,
    }
}

fn cause(foreign: &str) -> String {
    text::cut(&text::one_line(foreign), 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    const PERSON: &str = r#"{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"integer"}}}}"#;

    fn checked(answer: &str) -> Result<String, String> {
        let schema = Schema::parse("s.json", PERSON).unwrap();
        schema.check(answer).map(str::to_owned).map_err(|say| say.text(Lang::En))
    }

    #[test]
    fn a_matching_answer_is_returned_as_json() {
        assert_eq!(checked(" {\"name\":\"x\"}\n").unwrap(), "{\"name\":\"x\"}");
        assert_eq!(checked("```json\n{\"name\":\"x\"}\n```").unwrap(), "{\"name\":\"x\"}");
    }

    #[test]
    fn a_mismatch_names_the_path_and_the_problem() {
        let cases = [
            ("{\"name\":\"x\",\"tags\":[1,\"a\"]}", "`/tags/1`", "integer"),
            ("{}", "`/`", "name"),
            ("{\"name\":1}", "`/name`", "string"),
            ("hello", "not JSON", "line 1"),
        ];
        for (answer, path, what) in cases {
            let said = checked(answer).unwrap_err();
            assert!(said.contains(path) && said.contains(what), "{answer}: {said}");
        }
    }

    #[test]
    fn an_invalid_schema_is_reported() {
        for text in ["{", "{\"type\":\"strnig\"}", "{\"$ref\":\"#/nowhere\"}"] {
            let error = Schema::parse("s.json", text).unwrap_err();
            assert!(error.localized().text(Lang::En).contains("s.json"), "{text}");
        }
        assert!(Schema::read(Path::new("/nowhere/s.json")).is_err());
    }
}
