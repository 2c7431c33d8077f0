//! What became of each file that defines servers, as rows of a page.

use avocet_core::i18n::{Localize, LocalizedText, PhraseValue, mcp as phrases};
use avocet_core::protocol::PageRow;
use avocet_core::text::visible;

use super::definition::{DefinitionProgram, ServerDefinition};
use super::definition_files::ServerDefinitions;

/// For each file that was found: what of it is used, and what is not and why. `state` says what
/// becomes of a server that is.
pub fn file_rows(
    definitions: &ServerDefinitions,
    state: &dyn Fn(&ServerDefinition) -> LocalizedText,
) -> Vec<PageRow> {
    let mut rows = Vec::new();
    for origin in &definitions.files {
        let servers = definitions.servers.iter().filter(|server| server.origin.file == origin.file);
        let used = servers.map(|server| {
            phrases::USED.with("server", visible(&server.name)).with("state", state(server)).into()
        });
        let unused = definitions.diagnostics.iter().chain(&definitions.remarks);
        let unused = unused.filter(|unused| unused.file == origin.file);
        let unused = unused.map(|unused| unused.localized().into());
        let mut values: Vec<PhraseValue> = used.chain(unused).collect();
        if values.is_empty() {
            // Our own settings are there in any case.
            if origin.program == DefinitionProgram::Avocet {
                continue;
            }
            values.push(phrases::NO_SERVERS.into());
        }
        rows.push(PageRow::pair(origin.program.name(), visible(&origin.file.to_string_lossy())));
        rows.extend(values.into_iter().map(|say| PageRow::pair("", say)));
    }
    rows
}

impl DefinitionProgram {
    fn name(self) -> &'static str {
        match self {
            DefinitionProgram::Avocet => "Avocet",
            DefinitionProgram::Claude => "Claude Code",
            DefinitionProgram::Codex => "Codex",
            DefinitionProgram::Gemini => "Gemini CLI",
            DefinitionProgram::OpenCode => "opencode",
            DefinitionProgram::Crush => "Crush",
            DefinitionProgram::Editor => "ACP",
        }
    }
}
