//! What the user, or a repository, wrote about a server, before variables are filled in.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use avocet_config::files_beside::with_files_beside;
use avocet_core::text::command_line;
use avocet_safety::ServerReach;
use serde_json::json;

use super::hash::short_hash;
use super::message::McpError;

pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(30);
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// The most files that are looked at for an answer, and bytes of one.
const MAX_FILES: usize = 16;
const MAX_FILE_BYTES: u64 = 4 << 20;
/// The most characters of a name.
pub(crate) const MAX_NAME: usize = 64;

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
    /// It may ask the model: only the user's own settings say so.
    pub samples: bool,
    /// A variable of the environment that it does not get, whatever it names.
    pub withheld: Option<String>,
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
    /// It comes with the session of an editor, and is in no file.
    Editor,
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
    pub reach: ServerReach,
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

impl ServerDefinition {
    /// A server that the user set up in an editor.
    pub fn of_editor(name: String, transport: ServerTransport) -> ServerDefinition {
        ServerDefinition {
            name: avocet_core::text::cut(&avocet_core::text::visible(&name), MAX_NAME),
            origin: DefinitionOrigin {
                program: DefinitionProgram::Editor,
                file: "editor".into(),
                is_from_repository: false,
            },
            transport,
            start_timeout: START_TIMEOUT,
            call_timeout: CALL_TIMEOUT,
            is_enabled: true,
            samples: false,
            withheld: None,
            tools: ToolFilter::default(),
        }
    }

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
        let mut whole = vec![json!(self.name), transport];
        // What few have is left out where it is not: answers to the others stay.
        if let ServerTransport::Stdio(StdioServer { reach, .. }) = &self.transport
            && *reach != ServerReach::default()
        {
            whole.push(json!([reach.is_offline, reach.folders, reach.closed]));
        }
        whole.extend(self.withheld.as_ref().map(|name| json!(name)));
        short_hash(&json!(whole).to_string(), 64)
    }

    /// Identifies what an answer of the user counts for: the definition, and the files of the
    /// workspace that it names, which are what would run, with those that they take in.
    pub fn answer_hash(&self, workspace: &Path) -> String {
        let ServerTransport::Stdio(server) = &self.transport else { return self.hash() };
        let folder = server.cwd.as_ref().map_or(workspace.to_owned(), |cwd| workspace.join(cwd));
        let texts = std::iter::once(&server.command).chain(&server.args).chain(server.env.values());
        let words = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || c == '='));
        let files = words.map(|word| folder.join(word));
        let files = files.filter(|path| path.starts_with(workspace) && path.is_file());
        let bound = with_files_beside(files.take(MAX_FILES).collect(), workspace);
        let contents: Vec<String> = bound.iter().map(|path| file_hash(path)).collect();
        if contents.is_empty() {
            return self.hash();
        }
        short_hash(&json!([self.hash(), contents]).to_string(), 64)
    }

    /// The command line in full with the folder that it names, or the address. Values of variables
    /// and headers are not shown.
    pub fn summary(&self) -> String {
        match &self.transport {
            ServerTransport::Stdio(server) => {
                let line = command_line(std::iter::once(&server.command).chain(&server.args));
                let folder = server.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
                match folder {
                    Some(folder) => format!("cd {} && {line}", command_line([&folder])),
                    None => line,
                }
            }
            ServerTransport::Http(server) | ServerTransport::Sse(server) => {
                avocet_core::text::visible(&server.url)
            }
        }
    }

    /// The names of the variables, or headers, that the server gets, and of the variables of the
    /// environment that are filled in anywhere in the definition.
    pub fn variable_names(&self) -> Vec<String> {
        let (first, args, values) = match &self.transport {
            ServerTransport::Stdio(server) => (&server.command, &server.args[..], &server.env),
            ServerTransport::Http(server) | ServerTransport::Sse(server) => {
                (&server.url, &[][..], &server.headers)
            }
        };
        let texts = std::iter::once(first).chain(args).chain(values.values());
        let mut names: Vec<String> = Vec::new();
        for name in values.keys().map(String::as_str).chain(texts.flat_map(|text| read_in(text))) {
            let name = avocet_core::text::visible(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The definition with `${VAR}` and `${VAR:-default}` filled in.
    ///
    /// # Errors
    /// The first variable that is not set and has no default.
    pub fn expand(mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, McpError> {
        let withheld = self.withheld.clone();
        let variable: &dyn Fn(&str) -> Option<String> = &|name| match &withheld {
            Some(withheld) if withheld == name => Some(String::new()),
            _ => variable(name),
        };
        match &mut self.transport {
            ServerTransport::Stdio(server) => {
                let StdioServer { command, args, env, cwd: _, reach } = server;
                for text in std::iter::once(command).chain(args).chain(env.values_mut()) {
                    *text = expanded(text, variable)?;
                }
                for folder in &mut reach.folders {
                    *folder = expanded(&folder.to_string_lossy(), variable)?.into();
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

fn file_hash(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => short_hash(&String::from_utf8_lossy(&bytes), 64),
        Err(error) => error.to_string(),
    }
}

/// The variables that a text reads.
fn read_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let inside = rest.split_once('}')?.0;
        let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
        is_variable(name).then_some(name)
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// A text with its variables filled in. Other text, `$HOME` or `${a b}`, stays.
fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, McpError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let (inside, tail) = after.split_once('}').unwrap_or(("", after));
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_variable(name) {
            out.push_str("${");
            rest = after;
            continue;
        }
        let value = variable(name).or_else(|| default.map(str::to_owned));
        let missing = || McpError::MissingVariable { name: name.to_owned() };
        out.push_str(&value.ok_or_else(missing)?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerDefinition {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ServerDefinition {
            name: "x".to_owned(),
            origin: DefinitionOrigin {
                program: DefinitionProgram::Claude,
                file: "/w/.mcp.json".into(),
                is_from_repository: true,
            },
            transport: ServerTransport::Stdio(StdioServer {
                command: command.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: env.collect(),
                cwd: None,
                reach: ServerReach::default(),
            }),
            start_timeout: Duration::from_secs(1),
            call_timeout: Duration::from_secs(1),
            is_enabled: true,
            samples: false,
            withheld: None,
            tools: ToolFilter::default(),
        }
    }

    #[test]
    fn variables_are_filled_in_with_their_defaults() {
        let variable = |name: &str| (name == "A").then(|| "${B}".to_owned());
        for (text, filled) in [
            ("x${A}y", "x${B}y"),
            ("${NONE:-d:-e}", "d:-e"),
            ("${NONE:-}", ""),
            ("$A ${a b} ${", "$A ${a b} ${"),
            ("${${A}", "${${B}"),
        ] {
            assert_eq!(expanded(text, &variable).as_deref(), Ok(filled), "{text}");
        }
        let missing = McpError::MissingVariable { name: "NONE".to_owned() };
        assert_eq!(expanded("${NONE}", &variable), Err(missing));
    }

    #[test]
    fn the_command_line_is_shown_in_full_and_values_of_variables_are_not() {
        let env = [("KEY", "sk-1"), ("TOKEN", "${TOKEN} ${OTHER:-x}")];
        let definition = definition("np x", &["-y", "a\u{202e}b", "${AWS_KEY}"], &env);
        let shown = definition.summary();
        assert!(shown.starts_with("'np x' -y $'a") && !shown.contains('\u{202e}'), "{shown}");
        assert_eq!(definition.variable_names(), ["KEY", "TOKEN", "AWS_KEY", "OTHER"]);
    }

    #[test]
    fn the_folder_that_a_definition_names_is_shown_and_belongs_to_it() {
        let plain = definition("a", &[], &[]);
        let mut elsewhere = plain.clone();
        if let ServerTransport::Stdio(server) = &mut elsewhere.transport {
            server.cwd = Some("/home/ada/other code".into());
        }
        assert_eq!(elsewhere.summary(), "cd '/home/ada/other code' && a");
        assert_ne!(elsewhere.hash(), plain.hash());
    }

    #[test]
    fn an_answer_counts_for_the_scripts_of_the_workspace_that_are_named() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
        for (command, args, env) in [
            ("node", &["server.js"][..], &[][..]),
            ("./server.js", &[], &[]),
            ("node", &["--require=server.js", "x"], &[]),
            ("node", &["x"], &[("NODE_OPTIONS", "--require ./server.js")]),
        ] {
            write("server.js", "one");
            let server = definition(command, args, env);
            let before = server.answer_hash(root.path());
            assert_eq!(server.answer_hash(root.path()), before);
            write("server.js", "two");
            assert_ne!(server.answer_hash(root.path()), before, "{command} {args:?}");
            write("server.js", "require('./beside')");
            write("beside.js", "one");
            let before = server.answer_hash(root.path());
            write("beside.js", "two");
            assert_ne!(server.answer_hash(root.path()), before, "{command} {args:?}");
        }
        let server = definition("npx", &["-y", "other"], &[]);
        assert_eq!(server.answer_hash(root.path()), server.hash());
    }

    #[test]
    fn another_command_argument_or_variable_is_another_definition() {
        let hashes = [
            definition("a", &["b"], &[]),
            definition("a", &["b", ""], &[]),
            definition("ab", &[], &[]),
            definition("a", &["b"], &[("K", "1")]),
            definition("a", &["b"], &[("K", "2")]),
        ]
        .map(|definition| definition.hash());
        let distinct: std::collections::BTreeSet<&String> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        let mut slower = definition("a", &["b"], &[]);
        slower.call_timeout = Duration::from_secs(9);
        assert_eq!(slower.hash(), hashes[0], "a timeout is not asked about");
    }

    #[test]
    fn a_filter_names_the_tools_that_are_used() {
        let filter = |only: &[&str], except: &[&str]| ToolFilter {
            only: only.iter().map(|name| (*name).to_owned()).collect(),
            except: except.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert!(filter(&[], &[]).allows("x"));
        assert!(filter(&["get_*"], &[]).allows("get_it") && !filter(&["get_*"], &[]).allows("x"));
        assert!(!filter(&["x"], &["x"]).allows("x"));
    }
}
