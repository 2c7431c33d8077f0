//! Judges calls of tools of MCP servers. A server describes its tools itself, so nothing that it says
//! makes a call run without a question; it only words it.

use crate::findings::{Findings, excerpt};
use crate::spec::JudgeContext;
use avocet_core::i18n::safety as words;
use avocet_core::protocol::{Effect, Tier};

/// What the name of a step begins with that calls a tool of a server: `mcp.SERVER.TOOL`.
pub const PREFIX: &str = "mcp.";

/// The tool that calls those of servers.
pub const CALL: &str = "mcp.call";

/// The tool that looks tools of servers up.
pub const FIND: &str = "mcp.find";

/// Whether a name is one of a server's tool.
pub fn is_call(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.contains('.'))
}

/// Judges a call. False: there is no such tool.
pub fn judge(name: &str, ground: &JudgeContext<'_>, findings: &mut Findings) -> bool {
    if name == FIND {
        findings.add(FIND, Tier::L0, words::MCP_FINDS, None, &[Effect::Read]);
        return true;
    }
    let Some(tool) = ground.scene.world.mcp_tool(name) else { return false };
    let say = if tool.is_said_read_only { words::MCP_CALLS_TO_READ } else { words::MCP_CALLS };
    let say = say.with("tool", excerpt(&tool.tool)).with("server", excerpt(&tool.server));
    findings.add(name, Tier::L1, say, None, &[Effect::Network, Effect::Write]);
    true
}
