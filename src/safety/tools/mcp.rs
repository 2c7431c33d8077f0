//! Judges calls of tools of MCP servers. A server describes its tools itself, so nothing that it says
//! makes a call run without a question; it only words it.

use crate::findings::{Findings, excerpt};
use crate::mcp_names::FIND;
use crate::spec::JudgeContext;
use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

/// Judges a call. False: the server has no such tool.
pub fn judge(name: &str, context: &JudgeContext<'_>, findings: &mut Findings) -> bool {
    if name == FIND {
        findings.add(FIND, Tier::L0, phrases::MCP_FINDS, None, &[Effect::Read]);
        return true;
    }
    let Some(tool) = context.policy_cx.world.mcp_tool(name) else { return false };
    let say = if tool.is_said_read_only { phrases::MCP_CALLS_TO_READ } else { phrases::MCP_CALLS };
    let say = say.with("tool", excerpt(&tool.tool)).with("server", excerpt(&tool.server));
    findings.add(name, Tier::L1, say, None, &[Effect::Network, Effect::Write]);
    true
}
