//! Reads the definitions of servers in place, from our settings and from the files of other
//! programs. Nothing fails as a whole: what cannot be used is named with its file and its reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use avocet_config::foreign_file::{read_text, without_comments};
use avocet_config::paths::project_roots;
use avocet_core::i18n::{Localize, LocalizedText, mcp as phrases};

use super::definition::DefinitionProgram::{
    Avocet, Claude, Codex, Crush, Editor, Gemini, OpenCode,
};
use super::definition::{DefinitionOrigin, DefinitionProgram, MAX_NAME, ServerDefinition};
use super::entry::definition;

/// The most that is read of a file: one program keeps its history in the same file.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most bytes of a command line with the names of its variables, of a repository's server.
const MAX_ASKED: usize = 4096;
/// The most servers of a file.
const MAX_SERVERS: usize = 100;

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct DefinitionFolders {
    pub home: PathBuf,
    /// `~/.config`, or where the user has it.
    pub config_home: PathBuf,
    /// Our own settings.
    pub settings: PathBuf,
    /// The folder whose files are read too.
    pub workspace: Option<PathBuf>,
    /// They are only looked for, and not read.
    pub is_untrusted: bool,
    /// Definitions that come before those of all files.
    pub first: Vec<ServerDefinition>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerDefinitions {
    /// In the order of the files; no two have the same name.
    pub servers: Vec<ServerDefinition>,
    pub diagnostics: Vec<DefinitionDiagnostic>,
    /// What is not used for a reason that is not a fault.
    pub remarks: Vec<DefinitionDiagnostic>,
    /// The files that there are.
    pub files: Vec<DefinitionOrigin>,
}

/// What of a file is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionDiagnostic {
    pub file: PathBuf,
    /// The server; `None` if it concerns the whole file.
    pub server: Option<String>,
    pub why: LocalizedText,
}

impl Localize for DefinitionDiagnostic {
    fn localized(&self) -> LocalizedText {
        let file = self.file.display().to_string();
        match &self.server {
            Some(server) => phrases::NOT_USED.with("server", server.as_str()),
            None => phrases::FILE_NOT_USED.into(),
        }
        .with("file", avocet_core::text::visible(&file))
        .with("why", self.why.clone())
    }
}

/// Reads all files. Of two servers with one name the user's own counts before a repository's, and
/// one from our settings before one of another program.
pub fn read_definitions(folders: &DefinitionFolders) -> ServerDefinitions {
    let first = folders.first.clone();
    let mut definitions = ServerDefinitions { servers: first, ..ServerDefinitions::default() };
    for origin in files(folders) {
        if folders.is_untrusted && origin.is_from_repository {
            definitions.note_untrusted(origin);
        } else if let Err(why) = read_file(&origin, folders, &mut definitions) {
            let file = origin.file.clone();
            definitions.diagnostics.push(DefinitionDiagnostic { file, server: None, why });
            definitions.files.push(origin);
        }
    }
    definitions
}

impl ServerDefinitions {
    /// Nothing of a folder that is not trusted is read.
    fn note_untrusted(&mut self, origin: DefinitionOrigin) {
        if origin.file.is_file() {
            self.remarks.push(DefinitionDiagnostic {
                file: origin.file.clone(),
                server: None,
                why: phrases::UNTRUSTED_FILE.into(),
            });
            self.files.push(origin);
        }
    }
}

fn files(folders: &DefinitionFolders) -> Vec<DefinitionOrigin> {
    let DefinitionFolders { home, config_home, settings, workspace, .. } = folders;
    let user = [
        (Avocet, settings.clone()),
        (Claude, home.join(".claude.json")),
        (Codex, home.join(".codex/config.toml")),
        (Gemini, home.join(".gemini/settings.json")),
        (OpenCode, config_home.join("opencode/opencode.json")),
        (OpenCode, config_home.join("opencode/opencode.jsonc")),
        (Crush, config_home.join("crush/crush.json")),
    ];
    const REPOSITORY: [(DefinitionProgram, &str); 11] = [
        (Avocet, ".avocet/config.toml"),
        (Claude, ".mcp.json"),
        (Codex, ".codex/config.toml"),
        (Gemini, ".gemini/settings.json"),
        (OpenCode, "opencode.json"),
        (OpenCode, "opencode.jsonc"),
        (OpenCode, ".opencode/opencode.json"),
        (OpenCode, ".opencode/opencode.jsonc"),
        (OpenCode, ".agents/mcp.json"),
        (Crush, "crush.json"),
        (Crush, ".crush.json"),
    ];
    let user = user.map(|(program, file)| (program, file, false));
    let roots = workspace.as_deref().map(project_roots).unwrap_or_default();
    let repository = roots.iter().rev().flat_map(|root| {
        REPOSITORY.iter().map(|(program, file)| (*program, root.join(file), true))
    });
    let mut origins: Vec<DefinitionOrigin> = Vec::new();
    for (program, file, is_from_repository) in user.into_iter().chain(repository) {
        // A workspace may be the home.
        if origins.iter().all(|origin| origin.file != file) {
            origins.push(DefinitionOrigin { program, file, is_from_repository });
        }
    }
    origins
}

fn read_file(
    origin: &DefinitionOrigin,
    folders: &DefinitionFolders,
    definitions: &mut ServerDefinitions,
) -> Result<(), LocalizedText> {
    let Some(text) = read_text(&origin.file, MAX_FILE_BYTES)? else { return Ok(()) };
    let document = match parse_document(&origin.file, &text) {
        // The loader of the settings names the fault of our own file.
        Err(_) if origin.program == Avocet && is_toml(&origin.file) => return Ok(()),
        parsed => parsed?,
    };
    definitions.files.push(origin.clone());
    let mut known: BTreeSet<String> =
        definitions.servers.iter().map(|server| server.name.clone()).collect();
    let entries = tables(&document, origin, folders).into_iter().flatten();
    for (name, entry) in entries.take(MAX_SERVERS) {
        let read = check_name(name).and_then(|()| definition(name, entry, origin));
        let read = read.and_then(check_length);
        let read = read.map(|definition| switched(definition, &document, folders));
        let read = read.and_then(|definition| {
            let same = definitions.servers.iter().find(|server| server.name == *name);
            match same {
                Some(same) if same.hash() != definition.hash() => {
                    Err(phrases::SHADOWED.with("file", same.origin.file.display().to_string()))
                }
                _ => Ok(definition),
            }
        });
        match read {
            Ok(definition) if known.insert(name.clone()) => definitions.servers.push(definition),
            Ok(_) => {
                let same = definitions.servers.iter().find(|server| server.name == *name);
                let file = same.map(|same| same.origin.file.display().to_string());
                let why = phrases::REPEATED.with("file", file.unwrap_or_default());
                definitions.remarks.push(unused(origin, name, why));
            }
            Err(why) => definitions.diagnostics.push(unused(origin, name, why)),
        }
    }
    Ok(())
}

fn unused(origin: &DefinitionOrigin, name: &str, why: LocalizedText) -> DefinitionDiagnostic {
    let server = avocet_core::text::cut(&avocet_core::text::visible(name), MAX_NAME);
    DefinitionDiagnostic { file: origin.file.clone(), server: Some(server), why }
}

/// The tables of a file that have a server in each entry.
fn tables<'a>(
    document: &'a Value,
    origin: &DefinitionOrigin,
    folders: &DefinitionFolders,
) -> Vec<&'a Map<String, Value>> {
    let table = |value: &'a Value, key: &str| value.get(key).and_then(Value::as_object);
    match origin.program {
        Avocet | Crush => table(document, "mcp").into_iter().collect(),
        OpenCode => {
            // One of its files has the servers without a key above them.
            let has_no_key = origin.file.ends_with(".agents/mcp.json");
            let whole = document.as_object().filter(|_| has_no_key);
            let servers = table(document, "mcp").or(whole);
            // The newer form has one key more.
            let inner = servers.and_then(|servers| servers.get("servers")?.as_object());
            let is_server = |it: &Map<String, Value>| it.values().any(|value| !value.is_object());
            inner.filter(|inner| !is_server(inner)).or(servers).into_iter().collect()
        }
        Codex => table(document, "mcp_servers").into_iter().collect(),
        Gemini | Editor => table(document, "mcpServers").into_iter().collect(),
        Claude => {
            let project = project_of(document, folders);
            let project = project.and_then(|project| table(project, "mcpServers"));
            project.into_iter().chain(table(document, "mcpServers")).collect()
        }
    }
}

/// What Claude Code keeps about the folder.
fn project_of<'a>(document: &'a Value, folders: &DefinitionFolders) -> Option<&'a Value> {
    let workspace = folders.workspace.as_deref().filter(|_| !folders.is_untrusted)?;
    document.get("projects")?.get(workspace.to_str()?)
}

/// The definition with what its file says elsewhere of which servers and tools are off.
fn switched(
    mut definition: ServerDefinition,
    document: &Value,
    folders: &DefinitionFolders,
) -> ServerDefinition {
    let name = definition.name.as_str();
    let names = |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|it| it == name));
    let is_off = match definition.origin.program {
        Gemini => {
            document.pointer("/mcp/excluded").is_some_and(names)
                || document.pointer("/mcp/allowed").is_some_and(|list| !names(list))
        }
        Claude => project_of(document, folders)
            .and_then(|project| project.get("disabledMcpServers"))
            .is_some_and(names),
        OpenCode => {
            let tools = document.get("tools").and_then(Value::as_object).into_iter().flatten();
            let off = tools.filter(|(_, is_on)| **is_on == false);
            let off: Vec<&str> = off.filter_map(|(glob, _)| glob.strip_prefix(name)).collect();
            let one = off.iter().filter_map(|rest| rest.strip_prefix('_'));
            definition.tools.except.extend(one.map(str::to_owned));
            off.contains(&"*")
        }
        _ => false,
    };
    definition.is_enabled &= !is_off;
    definition
}

fn check_name(name: &str) -> Result<(), LocalizedText> {
    let is_shown = !name.chars().any(avocet_core::text::chars::is_hidden);
    let fits = !name.trim().is_empty() && name.chars().count() <= MAX_NAME;
    if is_shown && fits { Ok(()) } else { Err(phrases::BAD_NAME.with("limit", MAX_NAME)) }
}

/// What the user is asked about can be read.
fn check_length(definition: ServerDefinition) -> Result<ServerDefinition, LocalizedText> {
    let names = definition.variable_names().iter().map(String::len).sum::<usize>();
    let is_long = definition.summary().len() + names > MAX_ASKED;
    if definition.origin.is_from_repository && is_long {
        return Err(phrases::TOO_LONG.with("limit", MAX_ASKED));
    }
    Ok(definition)
}

fn is_toml(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "toml")
}

fn parse_document(file: &Path, text: &str) -> Result<Value, LocalizedText> {
    if is_toml(file) {
        return toml::from_str(text).map_err(|error| syntax(error.message()));
    }
    serde_json::from_str(&without_comments(text)).map_err(|error| syntax(&error.to_string()))
}

fn syntax(why: &str) -> LocalizedText {
    phrases::BAD_SYNTAX.with("why", avocet_core::text::one_line(why))
}
