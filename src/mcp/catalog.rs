//! The tools of all servers under names that a model can call, and a search in them for when the
//! list is too long to be sent with every request.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use avocet_core::text::cut_end;
use serde_json::{Value, json};

use super::hash::short_hash;
use super::message::{ServerResource, ServerTool};

/// The most characters that providers take in the name of a tool.
pub(crate) const MAX_NAME: usize = 64;
/// Of these, the server's part.
pub(crate) const MAX_SERVER_PART: usize = 24;
const HASH_LENGTH: usize = 6;
/// The most of a list of resources that the model gets, in bytes.
const MAX_LISTED: usize = 8 * 1024;

pub(crate) const PREFIX: &str = "mcp__";
pub(crate) const SEPARATOR: &str = "__";

/// The tools of all servers that run, in the order that they were given in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCatalog {
    tools: Vec<OfferedTool>,
}

/// A tool as the model gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// `mcp__server__tool`, of letters, digits, `_` and `-` alone, unique in its catalog. The
    /// server's part has no `__` and neither begins nor ends with `_`.
    pub name: String,
    pub server: String,
    pub tool: ServerTool,
    /// Those of the server, which the tool lists and reads; of any other tool none.
    pub resources: Vec<ServerResource>,
}

impl OfferedTool {
    /// The name of its rule, `mcp.server.tool`.
    pub fn rule(&self) -> String {
        let parts = self.name.trim_start_matches(PREFIX);
        let (server, tool) = parts.split_once(SEPARATOR).unwrap_or((parts, ""));
        format!("mcp.{server}.{tool}")
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.tool.description.len() + self.tool.schema.len()
    }

    /// What it gives without asking its server: the list of its resources, if no address is named.
    pub fn listed_resources(&self, input: &Value) -> Option<String> {
        if self.resources.is_empty() || input.get("uri").is_some() {
            return None;
        }
        let line = |resource: &ServerResource| {
            let ServerResource { uri, name, description, mime } = resource;
            let parts = [uri, name, description, mime].map(String::as_str);
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join("  ")
        };
        let lines: Vec<String> = self.resources.iter().map(line).collect();
        Some(cut_end(&lines.join("\n"), MAX_LISTED))
    }

    /// How well it fits words in small letters: a word counts thrice in the name.
    fn score(&self, words: &[String]) -> usize {
        let name = self.name.to_lowercase();
        let about = self.tool.description.to_lowercase();

        let of_word = |word: &String| {
            3 * usize::from(name.contains(word.as_str()))
                + usize::from(about.contains(word.as_str()))
        };
        words.iter().map(of_word).sum()
    }
}

impl ToolCatalog {
    /// Names the tools of these servers. A tool that a server lists twice is offered once. A server
    /// with resources gets a tool more, which reads them.
    pub fn new<'a>(
        servers: impl IntoIterator<Item = (&'a str, &'a [ServerTool], &'a [ServerResource])>,
    ) -> ToolCatalog {
        let mut catalog = ToolCatalog::default();
        let mut server_parts = BTreeSet::new();
        let mut names = BTreeSet::new();
        for (server, tools, resources) in servers {
            let part = unique(&server_part(server), server, MAX_SERVER_PART, &mut server_parts);
            let Some(part) = part else { continue };
            let prefix = format!("{PREFIX}{part}{SEPARATOR}");
            let tools = tools.iter().map(|tool| (tool.clone(), Vec::new()));
            let reads = (!resources.is_empty()).then(|| (resource_tool(), resources.to_vec()));
            for (tool, resources) in tools.chain(reads) {
                let name = format!("{prefix}{}", normalised(&tool.name));
                if let Some(name) = unique(&name, &tool.name, MAX_NAME, &mut names) {
                    let server = server.to_owned();
                    catalog.tools.push(OfferedTool { name, server, tool, resources });
                }
            }
        }
        catalog
    }

    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// The tool with this name, or with this rule.
    pub fn get(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name || tool.rule() == name)
    }

    /// What the list costs in a request.
    pub fn bytes(&self) -> usize {
        self.tools.iter().map(OfferedTool::bytes).sum()
    }

    /// The tools that fit a query best, at most `limit`: by the words of it that a tool's name and
    /// description hold.
    pub fn find(&self, query: &str, limit: usize) -> Vec<&OfferedTool> {
        if let Some(tool) = self.get(query.trim()) {
            return vec![tool];
        }
        let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let scored = self.tools.iter().map(|tool| (tool.score(&words), tool));
        let mut fitting: Vec<_> = scored.filter(|(score, _)| *score > 0).collect();
        fitting.sort_by_key(|(score, _)| Reverse(*score));
        fitting.into_iter().map(|(_, tool)| tool).take(limit).collect()
    }
}

/// Lists and reads the resources of a server.
fn resource_tool() -> ServerTool {
    let schema = json!({ "type": "object", "properties": { "uri": { "type": "string" } } });
    ServerTool {
        name: "resources".to_owned(),
        description: "lists the server's resources, or reads the one at `uri`".into(),
        schema: schema.to_string().into(),
        is_said_read_only: true,
    }
}

/// Letters, digits, `_` and `-`; everything else becomes `_`.
pub(crate) fn normalised(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// The same without `_` at its ends and without two in a row, so that what follows it is found.
pub(crate) fn server_part(server: &str) -> String {
    let name = normalised(server);
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "server".to_owned() } else { words.join("_") }
}

/// The name, if it is short enough and not taken; else its start with a hash of the original.
pub(crate) fn unique(
    name: &str,
    original: &str,
    limit: usize,
    taken: &mut BTreeSet<String>,
) -> Option<String> {
    let mut unique = name.to_owned();
    if name.len() > limit || taken.contains(name) {
        let end = name.len().min(limit - HASH_LENGTH - 1);
        let start = name.split_at(end).0.trim_end_matches('_');
        unique = format!("{start}-{}", short_hash(original, HASH_LENGTH));
    }
    taken.insert(unique.clone()).then_some(unique)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ServerTool {
        let (name, description) = (name.to_owned(), description.into());
        ServerTool { name, description, ..ServerTool::default() }
    }

    fn names(servers: &[(&str, &[&str])]) -> Vec<String> {
        let tools: Vec<Vec<ServerTool>> = servers
            .iter()
            .map(|(_, tools)| tools.iter().map(|name| tool(name, "")).collect())
            .collect();
        let servers =
            servers.iter().zip(&tools).map(|((name, _), tools)| (*name, &tools[..], &[][..]));
        ToolCatalog::new(servers).tools.into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn a_name_has_only_what_every_provider_takes() {
        let names = names(&[("my server", &["read file", "读取", "a.b/c"]), ("__", &["x"])]);
        assert_eq!(
            names,
            [
                "mcp__my_server__read_file",
                "mcp__my_server____",
                "mcp__my_server__a_b_c",
                "mcp__server__x"
            ]
        );
    }

    #[test]
    fn no_two_tools_share_a_name_and_none_is_too_long() {
        let long = "x".repeat(90);
        let longer = format!("{long}y");
        let servers: &[(&str, &[&str])] = &[
            ("a b", &["get it", "get-it", "get_it", "get_it", &long, &longer]),
            ("a_b", &["get_it"]),
            (&long, &["get_it"]),
        ];
        let names = names(servers);
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!((names.len(), distinct.len()), (7, 7), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= MAX_NAME), "{names:?}");
        assert_eq!(names[0], "mcp__a_b__get_it");
        assert_eq!(names[2], format!("mcp__a_b__get_it-{}", short_hash("get_it", 6)));
    }

    #[test]
    fn the_rule_of_a_tool_has_the_parts_of_its_name() {
        let tools = [tool("get__it.now", "")];
        let catalog = ToolCatalog::new([("a.b", &tools[..], &[][..])]);
        let found = catalog.get("mcp__a_b__get__it_now").unwrap();
        assert_eq!(found.rule(), "mcp.a_b.get__it_now");
        assert_eq!(catalog.get("mcp.a_b.get__it_now"), Some(found));
    }

    #[test]
    fn a_server_with_resources_has_a_tool_that_lists_and_reads_them() {
        let uri = "memo://today".to_owned();
        let resources = [ServerResource { uri, ..ServerResource::default() }];
        let tools = [tool("get", "")];
        let catalog =
            ToolCatalog::new([("a", &tools[..], &resources[..]), ("b", &tools[..], &[][..])]);
        let names: Vec<&str> = catalog.tools().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["mcp__a__get", "mcp__a__resources", "mcp__b__get"]);
        let reads = catalog.get("mcp.a.resources").unwrap();
        assert_eq!(reads.listed_resources(&json!({})).as_deref(), Some("memo://today"));
        assert_eq!(reads.listed_resources(&json!({"uri": "memo://today"})), None);
        assert_eq!(catalog.get("mcp.a.get").unwrap().listed_resources(&json!({})), None);
    }

    #[test]
    fn a_search_puts_a_word_in_the_name_before_one_in_the_description() {
        let tools = [
            tool("list", "Lists the issues of a repository"),
            tool("issue_create", "Opens one"),
            tool("weather", "Tells the weather"),
        ];
        let catalog = ToolCatalog::new([("hub", &tools[..], &[][..])]);
        let found = |query: &str, limit| {
            let found = catalog.find(query, limit).into_iter();
            found.map(|tool| tool.tool.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(found("Issue", 5), ["issue_create", "list"]);
        assert_eq!(found("issue", 1), ["issue_create"]);
        assert_eq!(found("mcp__hub__weather", 5), ["weather"]);
        assert_eq!(found("zebra", 5), Vec::<String>::new());
    }
}
