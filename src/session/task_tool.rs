//! The tool by which a model hands a task to a subagent, and when it is described to the model.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::recall_tool::answer;
use avocet_config::extensions::{
    AgentDefinition, ExtensionFileKind, ExtensionLibrary, ExtensionSource, LoadState, LoadedFile,
};
use avocet_core::i18n::agents as phrases;
use avocet_core::protocol::{Message, Observation, Role, ToolSchema};
use avocet_safety::{ClearedStep, SUBAGENT_TOOL};
use avocet_tools::{RunControl, Tool, ToolSpec};

/// The words by which a message speaks of agents.
const WORDS: &[&str] = &["agent", "subtask", "in parallel", "delegate", "智能体", "代理", "并行"];
/// The most agents that the description names.
const MAX_NAMED: usize = 20;

/// The tool `task`. The turn runs it.
pub(super) struct TaskTool;

impl Tool for TaskTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SUBAGENT_TOOL,
            about: phrases::ABOUT_TOOL,
            prompt: "task {description, prompt, agent?}: hands work to an agent with a context of its own; \
         several in one reply run at once",
        }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let broke = answer(step.judgement(), Err(phrases::NOT_HERE.into()));
        std::future::ready(broke).boxed()
    }
}

/// Whether the tool is described: most requests have no use for it. A model that calls it all the
/// same is understood.
pub(super) fn is_useful(messages: &[Message], library: &ExtensionLibrary) -> bool {
    let speaks_of_agents = |message: &Message| {
        let text = message.text().to_lowercase();
        message.role == Role::User && WORDS.iter().any(|word| text.contains(word))
    };
    let is_own = |file: &LoadedFile| {
        file.kind == ExtensionFileKind::Agent
            && file.owner.maker != ExtensionSource::BuiltIn
            && matches!(file.state, LoadState::Loaded { .. })
    };
    messages.iter().any(speaks_of_agents) || library.files.iter().any(is_own)
}

/// The description with the agents that there are.
pub(super) fn with_agents(mut tool: ToolSchema, library: &ExtensionLibrary) -> ToolSchema {
    let line = |agent: &AgentDefinition| format!("\n- {}: {}", agent.name, agent.description);
    let agents: String = library.agents.iter().take(MAX_NAMED).map(line).collect();
    tool.description = format!("{}. Agents:{agents}", tool.description);
    tool
}
