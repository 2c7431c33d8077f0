//! What the definition of a subagent leaves it of what its session may do: never more.

use avocet_config::extensions::AgentDefinition;
use avocet_core::protocol::ApprovalMode;
use avocet_safety::{Policy, ToolRestriction};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubagentBounds {
    /// `None`: the tools of the session.
    pub tools: Option<ToolRestriction>,
    /// The widest mode.
    pub mode: Option<ApprovalMode>,
}

impl SubagentBounds {
    /// `offered`: what the session has, if its user limits it.
    pub fn new(definition: &AgentDefinition, offered: Option<&ToolRestriction>) -> SubagentBounds {
        let is_offered = |tool: &&String| {
            let name = tool.split('(').next().unwrap_or_default();
            let has = |restriction: &ToolRestriction| {
                restriction.tools.iter().any(|known| known == *tool || known == name)
            };
            offered.is_none_or(has)
        };
        let tools = definition.tools.as_ref().map(|tools| ToolRestriction {
            skill: String::new(),
            tools: tools.iter().filter(is_offered).cloned().collect(),
        });
        SubagentBounds { tools, mode: definition.mode }
    }

    pub fn narrow(&self, policy: &mut Policy) {
        if let Some(tools) = &self.tools {
            policy.offered = Some(tools.clone());
        }
        if let Some(mode) = self.mode {
            policy.approval = policy.approval.narrower(mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_never_has_more_than_its_session() {
        let tools = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let definition = AgentDefinition {
            tools: Some(tools(&["file.read", "file.write", "exec(git log:*)"])),
            mode: Some(ApprovalMode::Edits),
            ..AgentDefinition::default()
        };
        let offered =
            ToolRestriction { skill: String::new(), tools: tools(&["file.read", "exec"]) };
        let bounds = SubagentBounds::new(&definition, Some(&offered));
        for (session, held) in [
            (ApprovalMode::Auto, ApprovalMode::Edits),
            (ApprovalMode::Ask, ApprovalMode::Ask),
            (ApprovalMode::Plan, ApprovalMode::Plan),
        ] {
            let mut policy = Policy { approval: session, ..Policy::default() };
            bounds.narrow(&mut policy);
            assert_eq!(policy.approval, held);
            let left: Vec<String> = tools(&["file.read", "exec(git log:*)"]);
            assert_eq!(policy.offered.unwrap().tools, left);
        }
    }
}
