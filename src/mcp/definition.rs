//! What the user, or a repository, wrote about a server, before variables are filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};

use avocet_core::text::{cut, quote};

/// A server as its file defines it. Values still hold `${VAR}`: [`ServerDefinition::expand`] fills
/// them in when the server starts, so that what is shown and hashed holds nothing of the
/// environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDefinition {
    pub name: String,
    pub origin: DefinitionOrigin,
    pub transport: ServerTransport,
    pub start_timeout: Duration,
    pub call_timeout: Duration,
    pub is_enabled: bool,
    pub tools: ToolFilter,
}

/// The file that defines a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionOrigin {
    pub program: DefinitionProgram,
    pub file: PathBuf,
    /// True if the file belongs to the workspace: its servers are asked about before they start.
    pub is_from_repository: bool,
}

/// The program whose format a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionProgram {
    Avocet,
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Crush,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    Stdio(StdioServer),
    /// Streamable HTTP; a server that knows only the older transport is then reached by SSE.
    Http(RemoteServer),
    /// The older transport: a stream of events, and an address for messages.
    Sse(RemoteServer),
}

/// A program that is started and spoken to over its standard input and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StdioServer {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The folder it starts in; the workspace if there is none.
    pub cwd: Option<PathBuf>,
}

/// A server at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteServer {
    pub url: String,
    pub headers: BTreeMap<String, String>,
}

/// The tools of a server that are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// The only ones; all, if there are none.
    pub only: Vec<String>,
    pub except: Vec<String>,
}

/// A variable that a definition names, that is not set and has no default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariable(pub String);

impl ServerDefinition {
    /// Identifies what would be started: the name, and how the server is reached. A definition with
    /// another hash is asked about again.
    pub fn hash(&self) -> String {
        let transport = match &self.transport {
            ServerTransport::Stdio(server) => {
                json!(["stdio", server.command, server.args, server.env, server.cwd])
            }
            ServerTransport::Http(server) => json!(["http", server.url, server.headers]),
            ServerTransport::Sse(server) => json!(["sse", server.url, server.headers]),
        };
        let digest = Sha256::digest(json!([self.name, transport]).to_string());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The command line in full, or the address. Values of variables and headers are not shown.
    pub fn summary(&self) -> String {
        match &self.transport {
            ServerTransport::Stdio(server) => {
                let words = std::iter::once(&server.command).chain(&server.args);
                words.map(|word| quote(word)).collect::<Vec<_>>().join(" ")
            }
            ServerTransport::Http(server) | ServerTransport::Sse(server) => server.url.clone(),
        }
    }

    /// The names of the variables, or of the headers, that the definition passes to the server.
    pub fn variable_names(&self) -> Vec<&str> {
        let values = match &self.transport {
            ServerTransport::Stdio(server) => &server.env,
            ServerTransport::Http(server) | ServerTransport::Sse(server) => &server.headers,
        };
        values.keys().map(String::as_str).collect()
    }

    /// The definition with `${VAR}` and `${VAR:-default}` filled in.
    ///
    /// # Errors
    /// The first variable that is not set and has no default.
    pub fn expand(
        mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, MissingVariable> {
        match &mut self.transport {
            ServerTransport::Stdio(server) => {
                let StdioServer { command, args, env, cwd: _ } = server;
                for text in std::iter::once(command).chain(args).chain(env.values_mut()) {
                    *text = expanded(text, variable)?;
                }
            }
            ServerTransport::Http(server) | ServerTransport::Sse(server) => {
                let RemoteServer { url, headers } = server;
                for text in std::iter::once(url).chain(headers.values_mut()) {
                    *text = expanded(text, variable)?;
                }
            }
        }
        Ok(self)
    }
}

impl ToolFilter {
    /// True if a tool with the server's own name is used. A name may end in `*`.
    pub fn allows(&self, tool: &str) -> bool {
        let names = |patterns: &[String]| {
            patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => tool.starts_with(prefix),
                None => pattern == tool,
            })
        };
        (self.only.is_empty() || names(&self.only)) && !names(&self.except)
    }
}

/// A text with its variables filled in. What is no variable, `$HOME` or `${a b}`, stays.
fn expanded(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, MissingVariable> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            rest = cut_tail(rest, before.len());
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        if name.is_empty() || !name.chars().all(is_name) {
            out.push_str("${");
            rest = after;
            continue;
        }
        let value = variable(name).or_else(|| default.map(str::to_owned));
        out.push_str(&value.ok_or_else(|| MissingVariable(name.to_owned()))?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}
