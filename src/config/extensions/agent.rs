//! Agents: definitions with the prompt of a subagent and what it may use, in our format and in those of
//! other programs, which are read in place.

use std::path::{Path, PathBuf};

use super::yaml::YamlNode;
use super::{ExtensionFileKind, ExtensionSource, Owner, front_matter, message_at, name, skill};
use crate::toml_schema::TomlKind::{Choice, Flag, List, Text};
use crate::toml_schema::{self, ListKind, SettingKey, TomlEntry, TomlValue};
use avocet_core::i18n::{Localize, LocalizedText, Phrase, agents as phrases, library as w};
use avocet_core::protocol::{ApprovalMode, Effort, reply};
use avocet_core::text::one_line;
use avocet_safety::tools::is_known;

/// The definition of an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentDefinition {
    pub name: String,
    pub description: String,
    pub prompt: String,
    /// Our names of the tools that it has; `None`: those of the session.
    pub tools: Option<Vec<String>>,
    /// `None`: that of the session.
    pub model: Option<String>,
    pub effort: Option<Effort>,
    /// The widest mode that it works in.
    pub mode: Option<ApprovalMode>,
    /// It works in a worktree of its own.
    pub worktree: bool,
}

/// The definition with which a task runs that names no other.
pub const GENERAL: &str = "general";

/// What comes with the program, by name.
/// The model reads what each says of itself, and the user the sentence.
pub const BUILT_IN: &[(&str, &str, Phrase)] = &[
    ("explore", include_str!("../../../assets/agents/explore.toml"), phrases::EXPLORES),
    ("review", include_str!("../../../assets/agents/review.toml"), phrases::REVIEWS),
    (GENERAL, include_str!("../../../assets/agents/general.toml"), phrases::DOES_ALL),
];

/// The tools that a definition of another program leaves when it only says which it takes away.
const USUAL_TOOLS: &[&str] = &[
    "exec",
    "file.read",
    "file.list",
    "file.search",
    "file.write",
    "file.edit",
    "web.fetch",
    "web.search",
    "script.run",
];

const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

const KEYS: &[SettingKey] = &[
    SettingKey::of_extension("name", Text),
    SettingKey::of_extension("description", Text),
    SettingKey::of_extension("prompt", Text),
    SettingKey::of_extension("tools", List(ListKind::Words)),
    SettingKey::of_extension("model", Text),
    SettingKey::of_extension("effort", Choice(EFFORTS)),
    SettingKey::of_extension("mode", Choice(ApprovalMode::NAMES)),
    SettingKey::of_extension("worktree", Flag),
];

/// Parses a file. Harmless oddities are returned with the definition.
///
/// # Errors
/// The first problem.
pub fn read(
    file: &Path,
    named: &str,
    owner: Owner,
    text: &str,
) -> Result<(AgentDefinition, Vec<LocalizedText>), LocalizedText> {
    let definition = AgentDefinition { name: named.to_owned(), ..AgentDefinition::default() };
    let (agent, remarks) = match owner.maker {
        ExtensionSource::Claude | ExtensionSource::Gemini | ExtensionSource::OpenCode => {
            read_foreign(file, definition, text)?
        }
        _ => (read_own(file, definition, text)?, Vec::new()),
    };
    let at = |word| message_at(file, None, word);
    if !name::is_usable(ExtensionFileKind::Agent, &agent.name) {
        return Err(at(phrases::BAD_NAME).with("name", name::display_name(&agent.name)));
    }
    if agent.description.trim().is_empty() {
        return Err(at(phrases::NO_DESCRIPTION));
    }
    if agent.prompt.trim().is_empty() {
        return Err(at(phrases::NO_PROMPT));
    }
    Ok((agent, remarks))
}

fn read_own(
    file: &Path,
    mut agent: AgentDefinition,
    text: &str,
) -> Result<AgentDefinition, LocalizedText> {
    let reading = toml_schema::read(file, text, KEYS);
    if let Some(problem) = reading.problems.first() {
        return Err(problem.localized());
    }
    reading.found.into_iter().for_each(|found| agent.set_value(found));
    let named = agent.tools.iter().flatten();
    match named.map(|tool| bare_name(tool)).find(|tool| !is_known(tool) && !tool.contains("mcp.")) {
        Some(tool) => Err(message_at(file, None, phrases::NO_TOOL).with("tool", tool)),
        None => Ok(agent),
    }
}

fn read_foreign(
    file: &Path,
    mut agent: AgentDefinition,
    text: &str,
) -> Result<(AgentDefinition, Vec<LocalizedText>), LocalizedText> {
    let parts = front_matter::split(text);
    let Some(front) = parts.front else { return Err(message_at(file, None, phrases::NO_FRONT)) };
    let (pairs, mended) = front_matter::read(front)
        .map_err(|wrong| message_at(file, Some(wrong.place), w::NOT_YAML).with("why", wrong.why))?;
    let mut texts: Vec<LocalizedText> =
        mended.then(|| w::FRONT_MENDED.into()).into_iter().collect();
    agent.prompt = parts.body.trim().to_owned();
    let mut denied = Vec::new();
    for (key, node) in &pairs {
        let text = node.text().unwrap_or_default();
        match (key.as_str(), node) {
            ("name", _) => agent.name = text.to_owned(),
            ("description", _) => agent.description = one_line(&node.flat()),
            // OpenCode names each with a switch.
            ("tools", YamlNode::Map(tools)) => {
                let off = tools.iter().filter(|(_, node)| node.text() == Some("false"));
                denied.extend(off.map(|(tool, _)| own_name(tool)));
            }
            ("tools", _) if text == "*" => {}
            ("tools", _) => agent.tools = Some(own_names(skill::tools(node))),
            ("disallowedTools", _) => denied.extend(own_names(skill::tools(node))),
            ("permissionMode", _) if text == "plan" => agent.mode = Some(ApprovalMode::Plan),
            ("isolation", _) => agent.worktree = text == "worktree",
            ("model", _) if text != "inherit" => {
                texts.push(w::MODEL_IGNORED.with("model", text));
            }
            _ => {}
        }
    }
    if !denied.is_empty() {
        let usual = || USUAL_TOOLS.iter().map(|tool| (*tool).to_owned()).collect();
        let tools = agent.tools.get_or_insert_with(usual);
        tools.retain(|tool| !denied.contains(&bare_name(tool).to_owned()));
    }
    Ok((agent, texts))
}

impl AgentDefinition {
    fn set_value(&mut self, TomlEntry { path, value, .. }: TomlEntry) {
        match (path.as_str(), value) {
            ("name", TomlValue::Text(text)) => self.name = text,
            ("description", TomlValue::Text(text)) => self.description = one_line(&text),
            ("prompt", TomlValue::Text(text)) => self.prompt = text.trim().to_owned(),
            ("tools", TomlValue::List(tools)) => self.tools = Some(own_names(tools)),
            ("model", TomlValue::Text(text)) => self.model = Some(text),
            ("effort", TomlValue::Text(text)) => self.effort = Effort::from_name(&text),
            ("mode", TomlValue::Text(text)) => self.mode = ApprovalMode::parse(&text),
            ("worktree", TomlValue::Flag(flag)) => self.worktree = flag,
            _ => {}
        }
    }

    /// Those that come with the program.
    pub fn built_in() -> impl Iterator<Item = (AgentDefinition, PathBuf)> {
        let owner = Owner { maker: ExtensionSource::BuiltIn, project: false };
        BUILT_IN.iter().filter_map(move |(name, text, _)| {
            let file = PathBuf::from(format!("{name}.toml"));
            let (agent, _) = read(&file, name, owner, text).ok()?;
            Some((agent, file))
        })
    }
}

/// A tool without what limits it, in parentheses.
fn bare_name(tool: &str) -> &str {
    tool.split('(').next().unwrap_or(tool)
}

fn own_names(tools: Vec<String>) -> Vec<String> {
    tools.iter().map(|tool| own_name(tool)).collect()
}

/// Our name of a tool that a file may name as another program does.
fn own_name(tool: &str) -> String {
    let called = bare_name(tool);
    let limits = tool.get(called.len()..).unwrap_or_default();
    let name = if is_known(called) { called.to_owned() } else { reply::tool_name(called) };
    let name = match name.as_str() {
        "shell" => "exec",
        "file.read_many" => "file.read",
        other => other,
    };
    format!("{name}{limits}")
}

#[cfg(test)]
mod tests {
    use avocet_core::i18n::Lang;

    use super::*;

    fn of(maker: ExtensionSource, text: &str) -> Result<AgentDefinition, String> {
        let owner = Owner { maker, project: true };
        let found = read(Path::new("/p/agents/scout"), "scout", owner, text);
        found.map(|(agent, _)| agent).map_err(|why| why.text(Lang::En))
    }

    #[test]
    fn the_same_agent_is_read_from_each_format() {
        let tools = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let own = "description = \"Looks\"\nprompt = \"Look.\"\ntools = [\"Read\", \"exec(git log:*)\"]\n\
                   model = \"small\"\neffort = \"low\"\nmode = \"plan\"\n";
        let agent = of(ExtensionSource::Avocet, own).unwrap();
        assert_eq!(agent.tools, tools(&["file.read", "exec(git log:*)"]));
        assert_eq!((agent.model.as_deref(), agent.effort), (Some("small"), Some(Effort::Low)));
        assert_eq!(agent.mode, Some(ApprovalMode::Plan));
        assert!(
            !agent.worktree
                && of(ExtensionSource::Avocet, &format!("{own}worktree = true\n"))
                    .unwrap()
                    .worktree
        );

        let claude = "---\nname: finder\ndescription: Looks\ntools: Read, Grep, Bash\nmodel: haiku\nisolation: worktree\n---\nLook.\n";
        let agent = of(ExtensionSource::Claude, claude).unwrap();
        assert_eq!((agent.name.as_str(), agent.prompt.as_str()), ("finder", "Look."));
        assert_eq!(agent.tools, tools(&["file.read", "file.search", "exec"]));
        assert_eq!(agent.model, None, "a name of another program's model");
        assert!(agent.worktree);

        let opencode = "---\ndescription: Looks\nmode: subagent\ntools:\n  write: false\n  edit: false\n  bash: false\n---\nLook.\n";
        let agent = of(ExtensionSource::OpenCode, opencode).unwrap();
        let left =
            ["file.read", "file.list", "file.search", "web.fetch", "web.search", "script.run"];
        assert_eq!((agent.name.as_str(), agent.tools), ("scout", tools(&left)));

        let gemini = "---\nname: finder\ndescription: Looks\ntools:\n  - read_file\n  - grep_search\n---\nLook.\n";
        assert_eq!(
            of(ExtensionSource::Gemini, gemini).unwrap().tools,
            tools(&["file.read", "file.search"])
        );
    }

    #[test]
    fn a_definition_that_cannot_be_used_is_refused_with_its_reason() {
        for (maker, text, why) in [
            (ExtensionSource::Avocet, "prompt = \"x\"\n", "`description`"),
            (ExtensionSource::Avocet, "description = \"x\"\n", "prompt"),
            (
                ExtensionSource::Avocet,
                "description = \"x\"\nprompt = \"y\"\ntools = [\"fly\"]\n",
                "`fly`",
            ),
            (ExtensionSource::Avocet, "colour = 1\n", "colour"),
            (ExtensionSource::Claude, "Look.\n", "---"),
            (ExtensionSource::Claude, "---\nname: ../x\ndescription: d\n---\nLook.\n", "`../x`"),
            (ExtensionSource::Claude, "---\nname: [x\n---\nLook.\n", ""),
        ] {
            let said = of(maker, text).unwrap_err();
            assert!(said.contains(why) && said.contains("scout"), "{text}: {said}");
        }
    }

    #[test]
    fn those_that_come_with_the_program_can_be_used() {
        let names: Vec<String> = AgentDefinition::built_in().map(|(agent, _)| agent.name).collect();
        assert_eq!(names, ["explore", "review", "general"]);
        for ((agent, _), (.., about)) in AgentDefinition::built_in().zip(BUILT_IN) {
            assert_eq!(agent.description, about.text(Lang::En), "{}", agent.name);
        }
    }
}
