//! Which tools a request describes. A model that calls the others all the same is understood.

use std::sync::Arc;

use super::task_tool;
use avocet_config::extensions::ExtensionLibrary;
use avocet_core::protocol::{Message, Role, ToolSchema, reply};
use avocet_safety::SUBAGENT_TOOL;
use avocet_safety::tools::NOTE;
use avocet_safety::web::FETCH;

/// The words by which a message of the user speaks of what is to be remembered.
const LASTING: &[&str] =
    &["remember", "from now on", "always ", "agents.md", "记住", "以后", "今后"];

fn speaks_of_lasting(message: &Message) -> bool {
    let text = message.text().to_lowercase();
    message.role == Role::User && LASTING.iter().any(|word| text.contains(word))
}

/// The tools without that of the web as long as no message has an address, and without those for
/// tasks and for notes as long as they are of little use.
pub(super) fn offered_tools(
    tools: &Arc<[ToolSchema]>,
    messages: &[Message],
    library: &ExtensionLibrary,
    web_is_off: bool,
) -> Arc<[ToolSchema]> {
    let has_address = || messages.iter().any(|message| message.text().contains("://"));
    let reads_web = !web_is_off && has_address();
    let usable = tools.iter().filter_map(|tool| match reply::tool_name(&tool.name).as_str() {
        FETCH => reads_web.then(|| tool.clone()),
        NOTE => messages.iter().any(speaks_of_lasting).then(|| tool.clone()),
        SUBAGENT_TOOL if !task_tool::is_useful(messages, library) => None,
        SUBAGENT_TOOL => Some(task_tool::with_agents(tool.clone(), library)),
        _ => Some(tool.clone()),
    });
    usable.collect()
}
