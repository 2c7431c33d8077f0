//! Questions about code, and how they are put to a server.

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::document::OpenDocument;
use super::position::ColumnUnit;
use avocet_core::i18n::{LocalizedText, lsp as phrases};
use avocet_safety::tools::{CodeLookup, CodeTask};

pub(crate) type QuestionReply = oneshot::Sender<Result<CodeAnswer, LocalizedText>>;

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CodeAnswer {
    Text(String),
    /// A change of files, as a diff.
    Edit(String),
}

pub(crate) struct CodeQuestion {
    pub task: CodeTask,
    pub reply: QuestionReply,
    pub deadline: Instant,
}

impl CodeQuestion {
    pub fn fail(self, why: impl Into<LocalizedText>) {
        // The step may have been stopped.
        let _ = self.reply.send(Err(why.into()));
    }
}

/// The method and the parameters of a question. `document`: the file that it is about.
///
/// # Errors
/// The file does not have the name.
pub(crate) fn request_of(
    task: &CodeTask,
    document: Option<&OpenDocument>,
    unit: ColumnUnit,
) -> Result<(&'static str, Value), LocalizedText> {
    let Some(document) = document else {
        return Ok(("workspace/symbol", json!({ "query": task.symbol })));
    };
    let identifier = json!({ "uri": document.uri });
    if task.lookup == CodeLookup::Symbols {
        return Ok(("textDocument/documentSymbol", json!({ "textDocument": identifier })));
    }
    let position = unit.find(&document.text, task.line, &task.symbol);
    let position =
        position.ok_or_else(|| phrases::NO_SYMBOL.with("symbol", task.symbol.as_str()))?;
    let mut params = json!({ "textDocument": identifier, "position": position });
    let method = match task.lookup {
        CodeLookup::Definition => "textDocument/definition",
        CodeLookup::Hover => "textDocument/hover",
        CodeLookup::Rename => {
            params["newName"] = json!(task.new_name);
            "textDocument/rename"
        }
        CodeLookup::References | CodeLookup::Symbols => {
            params["context"] = json!({ "includeDeclaration": true });
            "textDocument/references"
        }
    };
    Ok((method, params))
}
