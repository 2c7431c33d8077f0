//! The prompts and resources of all servers under names that a user can type: `/server:prompt` and
//! `@server:uri`.

use std::collections::{BTreeMap, BTreeSet};

use avocet_core::prompt::args;

use super::catalog::{
    MAX_NAME, MAX_SERVER_PART, PREFIX, SEPARATOR, normalised, server_part, unique,
};
use super::message::{McpServerFacts, ServerPrompt, ServerResource};

/// What the servers that run offer to the user, in the order that they were given in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerOffers {
    prompts: Vec<OfferedPrompt>,
    resources: Vec<OfferedResource>,
    /// The servers by their part of a name.
    servers: BTreeMap<String, String>,
}

/// A prompt as the user calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedPrompt {
    /// `server:prompt`.
    pub name: String,
    /// The same as other programs write it, `mcp__server__prompt`.
    pub alias: String,
    pub server: String,
    pub prompt: ServerPrompt,
}

/// A resource as the user names it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedResource {
    /// `server:uri`.
    pub name: String,
    pub resource: ServerResource,
}

impl OfferedPrompt {
    /// The arguments of a typed text: `name=value`, and other words for the arguments that are left,
    /// in their order. The last of these takes all the words that remain.
    ///
    /// # Errors
    /// The name of an argument that is required and missing.
    pub fn arguments(&self, typed: &str) -> Result<BTreeMap<String, String>, String> {
        let known = &self.prompt.arguments;
        let mut values = BTreeMap::new();
        let mut rest = Vec::new();
        for word in args::split(typed) {
            match word.split_once('=') {
                Some((name, value)) if known.iter().any(|argument| argument.name == name) => {
                    values.insert(name.to_owned(), value.to_owned());
                }
                _ => rest.push(word),
            }
        }
        let free: Vec<&String> = known.iter().map(|argument| &argument.name).collect();
        let free: Vec<&String> =
            free.into_iter().filter(|name| !values.contains_key(*name)).collect();
        let last = free.len().saturating_sub(1);
        for (at, name) in free.into_iter().enumerate() {
            let taken = if at == last { rest.len() } else { rest.len().min(1) };
            let words: Vec<String> = rest.drain(..taken).collect();
            if !words.is_empty() {
                values.insert(name.clone(), words.join(" "));
            }
        }
        let missing = known.iter().find(|it| it.is_required && !values.contains_key(&it.name));
        missing.map_or(Ok(values), |argument| Err(argument.name.clone()))
    }
}

impl ServerOffers {
    pub fn new<'a>(
        servers: impl IntoIterator<Item = (&'a str, &'a McpServerFacts)>,
    ) -> ServerOffers {
        let mut offers = ServerOffers::default();
        let mut parts = BTreeSet::new();
        let mut aliases = BTreeSet::new();
        for (server, facts) in servers {
            let part = unique(&server_part(server), server, MAX_SERVER_PART, &mut parts);
            let Some(part) = part else { continue };
            for prompt in &facts.prompts {
                let alias = format!("{PREFIX}{part}{SEPARATOR}{}", normalised(&prompt.name));
                let Some(alias) = unique(&alias, &prompt.name, MAX_NAME, &mut aliases) else {
                    continue;
                };
                let name = alias.trim_start_matches(PREFIX).replacen(SEPARATOR, ":", 1);
                let prompt = prompt.clone();
                let server = server.to_owned();
                offers.prompts.push(OfferedPrompt { name, alias, server, prompt });
            }
            let resources = facts.resources.iter().map(|resource| OfferedResource {
                name: format!("{part}:{}", resource.uri),
                resource: resource.clone(),
            });
            offers.resources.extend(resources);
            offers.servers.insert(part, server.to_owned());
        }
        offers
    }

    pub fn prompts(&self) -> &[OfferedPrompt] {
        &self.prompts
    }

    pub fn resources(&self) -> &[OfferedResource] {
        &self.resources
    }

    /// The prompt with this name, in either form.
    pub fn prompt(&self, name: &str) -> Option<&OfferedPrompt> {
        self.prompts.iter().find(|prompt| prompt.name == name || prompt.alias == name)
    }

    /// The server and the address that `server:uri` names, if that server runs. The address may be
    /// one that it does not list.
    pub fn resource<'t>(&self, typed: &'t str) -> Option<(&str, &'t str)> {
        let (part, uri) = typed.split_once(':')?;
        let server = self.servers.get(part).filter(|_| !uri.is_empty())?;
        Some((server, uri))
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::PromptArgument;
    use super::*;

    fn offers() -> ServerOffers {
        let argument = |name: &str, is_required| PromptArgument {
            name: name.to_owned(),
            is_required,
            ..PromptArgument::default()
        };
        let prompt = ServerPrompt {
            name: "review code".to_owned(),
            arguments: vec![argument("file", true), argument("focus", false)],
            ..ServerPrompt::default()
        };
        let resource = ServerResource { uri: "a://b".to_owned(), ..ServerResource::default() };
        let facts = McpServerFacts {
            prompts: vec![prompt],
            resources: vec![resource],
            ..McpServerFacts::default()
        };
        ServerOffers::new([("my server", &facts)])
    }

    #[test]
    fn a_prompt_has_a_name_to_type_and_the_one_of_other_programs() {
        let offers = offers();
        let prompt = offers.prompt("my_server:review_code").unwrap();
        assert_eq!(offers.prompt("mcp__my_server__review_code"), Some(prompt));
        assert_eq!(prompt.server, "my server");
        assert_eq!(offers.prompt("review_code"), None);
    }

    #[test]
    fn arguments_are_named_or_in_their_order() {
        let offers = offers();
        let prompt = &offers.prompts()[0];
        for (typed, file, focus) in [
            ("a.rs", "a.rs", None),
            ("a.rs the loop", "a.rs", Some("the loop")),
            ("focus=speed a.rs", "a.rs", Some("speed")),
            ("file='a b.rs' x=y", "a b.rs", Some("x=y")),
        ] {
            let arguments = prompt.arguments(typed).unwrap();
            assert_eq!(arguments["file"], file, "{typed}");
            assert_eq!(arguments.get("focus").map(String::as_str), focus, "{typed}");
        }
        assert_eq!(prompt.arguments("focus=x"), Err("file".to_owned()));
    }

    #[test]
    fn a_resource_is_named_by_its_server_and_its_address() {
        let offers = offers();
        assert_eq!(offers.resources()[0].name, "my_server:a://b");
        assert_eq!(offers.resource("my_server:c://d"), Some(("my server", "c://d")));
        assert_eq!(offers.resource("other:c://d"), None);
        assert_eq!(offers.resource("src/main.rs:10"), None);
    }
}
