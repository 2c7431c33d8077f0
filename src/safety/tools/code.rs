//! Judges questions to language servers. They read code of the workspace; a renaming becomes a change
//! of files, which is judged as one, before it is made.

use std::path::PathBuf;

use super::input::{InputError, InputFields, Names, PATH};
use super::schema::{FieldKind, FieldRow, optional, required};
use crate::findings::Findings;
use avocet_core::i18n::{LocalizedText, lsp as phrases};
use avocet_core::protocol::{Effect, StepAction, Tier};

const SYMBOL: Names = &["symbol", "name", "identifier", "old_name"];
const QUERY: Names = &["query", "symbol", "name"];
const NEW_NAME: Names = &["new_name", "to", "new"];

pub const SYMBOLS_FIELDS: &[FieldRow] =
    &[optional(PATH, FieldKind::Text), optional(QUERY, FieldKind::Text)];
pub const LOOKUP_FIELDS: &[FieldRow] = &[
    required(PATH, FieldKind::Text),
    required(SYMBOL, FieldKind::Text),
    optional(FROM_LINE, FieldKind::Number),
];
pub const RENAME_FIELDS: &[FieldRow] = &[
    required(PATH, FieldKind::Text),
    required(SYMBOL, FieldKind::Text),
    required(NEW_NAME, FieldKind::Text),
    optional(FROM_LINE, FieldKind::Number),
];
const FROM_LINE: Names = &["line", "start_line", "line_number"];

/// The tool that becomes a change of files.
pub const RENAME: &str = "code.rename";

/// Whether a step becomes another one before it is judged: a renaming, which a language server knows
/// how to do.
pub fn is_replaced(action: &StepAction) -> bool {
    action.tool() == RENAME
}

/// What is asked about code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLookup {
    Symbols,
    Definition,
    References,
    Hover,
    Rename,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTask {
    pub lookup: CodeLookup,
    /// The file; `None`: all that a server knows.
    pub path: Option<PathBuf>,
    /// The line of the name, counted from 1; `None`: the first one that has it.
    pub line: Option<usize>,
    /// The name, or a part of one.
    pub symbol: String,
    pub new_name: String,
}

/// The file that is asked about, as the model names it.
pub fn path_of<'a>(
    lookup: CodeLookup,
    input: &InputFields<'a>,
) -> Result<Option<&'a str>, InputError> {
    match lookup {
        CodeLookup::Symbols => input.optional_text(PATH),
        _ => input.text(PATH).map(Some),
    }
}

/// `path`: that file, inside the workspace.
pub fn judge(
    lookup: CodeLookup,
    input: &InputFields<'_>,
    path: Option<PathBuf>,
    findings: &mut Findings,
) -> Result<CodeTask, InputError> {
    let symbol = match lookup {
        CodeLookup::Symbols if path.is_some() => String::new(),
        CodeLookup::Symbols => input.text(QUERY)?.to_owned(),
        _ => input.text(SYMBOL)?.to_owned(),
    };
    let new_name = match lookup {
        CodeLookup::Rename => input.text(NEW_NAME)?.to_owned(),
        _ => String::new(),
    };
    if symbol.contains('\n') || new_name.contains('\n') {
        return Err(LocalizedText::from(phrases::NO_NAME).into());
    }
    findings.add("code.lookup", Tier::L0, phrases::LOOKS_UP, None, &[Effect::Read]);
    Ok(CodeTask { lookup, path, line: input.number(FROM_LINE)?, symbol, new_name })
}
