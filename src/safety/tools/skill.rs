//! Judges a skill the model asks for, and which tools an entered skill leaves the model.
//!
//! To enter a skill is to read its text: its shell lines are not run for a model. But a
//! skill that is meant to do more than read is not entered unseen.

use serde_json::Value;

use crate::findings::{Findings, excerpt};
use crate::mcp_names;
use crate::policy::{Policy, PolicyRule, ToolRestriction};
use crate::shell;
use crate::spec::{ArgPosition, JudgeContext};
use avocet_core::i18n::{prompt as phrases, safety};
use avocet_core::protocol::{Effect, StepAction, Tier};

/// The tool.
pub const TOOL: &str = "skill";

/// Other agents' names for our tools.
#[rustfmt::skip]
const NAMES: &[(&str, &str)] = &[
    ("Bash", "exec"), ("Shell", "exec"), ("job.start", "exec"),
    ("Read", "file.read"), ("Write", "file.write"),
    ("Edit", "file.edit"), ("MultiEdit", "file.edit"),
    ("Grep", "file.search"), ("Search", "file.search"),
    ("Glob", "file.list"), ("LS", "file.list"), ("WebFetch", "web.fetch"),
    ("WebSearch", "web.search"),
];
/// Tools that only read, or only talk to the user.
const MILD: &[&str] = &["file.read", "file.list", "file.search", "skill", "ask", "plan", "recall"];
/// Tools no skill takes away.
const ALWAYS: &[&str] = &["skill", "ask", "plan", "recall", "job.list", "job.read", "job.stop"];

/// Judges `{name, args}`.
pub fn judge(input: &Value, context: &JudgeContext<'_>, findings: &mut Findings) {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let known = |key: &String| matches!(key.as_str(), "name" | "args");
    let sound = input.as_object().is_some_and(|fields| fields.keys().all(known))
        && input.get("args").is_none_or(Value::is_string);
    let Some(name) = text("name").filter(|_| sound) else {
        return findings.add("skill.malformed", Tier::L2, phrases::SKILL_MALFORMED, None, &[]);
    };
    let Some(skill) = context.policy_cx.world.skill(name) else {
        let say = phrases::SKILL_UNKNOWN.with("name", excerpt(name));
        return findings.add("skill.unknown", Tier::L2, say, None, &[]);
    };
    let say = |phrase: avocet_core::i18n::Phrase| phrase.with("name", excerpt(name));
    findings.add(TOOL, Tier::L0, say(phrases::SKILL_ENTERS), None, &[Effect::Read]);
    if !skill.open {
        findings.add("skill.closed", Tier::L1, say(phrases::SKILL_CLOSED), None, &[]);
    }
    if let Some(tool) = skill.tools.iter().find(|tool| !MILD.contains(&parse_tool(tool).0)) {
        let say = say(phrases::SKILL_TOOLS).with("tool", excerpt(tool));
        findings.add("skill.tools", Tier::L1, say, None, &[]);
    }
    for line in &skill.shell {
        let mut found = Findings::default();
        shell::judge_line(line, ArgPosition::Line, 0, context, &mut found);
        if found.tier() > Tier::L0 {
            let say = say(phrases::SKILL_SHELL).with("line", excerpt(line));
            return findings.add("skill.shell", Tier::L1, say, None, &[]);
        }
    }
}

/// Adds that a step is not among the tools of the entered skill.
pub fn check_restriction(action: &StepAction, policy: &Policy, findings: &mut Findings) {
    let is_users = matches!(action, StepAction::Shell { .. });
    if policy.offered.as_ref().is_some_and(|offered| !is_users && !offered.allows(action)) {
        findings.add("tool.withheld", Tier::L2, safety::TOOL_WITHHELD, None, &[]);
    }
    let Some(narrowed) = &policy.narrowed else { return };
    if !is_users && !narrowed.allows(action) {
        let say = phrases::SKILL_NARROWS.with("name", excerpt(&narrowed.skill));
        findings.add("skill.narrow", Tier::L1, say, None, &[]);
    }
}

impl ToolRestriction {
    /// Whether the tool is left, for some step at least.
    pub fn offers(&self, name: &str) -> bool {
        ALWAYS.contains(&name) || self.tools.iter().any(|tool| parse_tool(tool).0 == name)
    }

    /// A name that none of the tools has.
    pub fn unknown_tool(&self, known: &[&str]) -> Option<&str> {
        let names = self.tools.iter().map(|tool| parse_tool(tool).0);
        names.filter(|name| !mcp_names::is_call(name)).find(|name| !known.contains(name))
    }

    /// Whether the skill names what does this.
    pub fn allows(&self, action: &StepAction) -> bool {
        ALWAYS.contains(&action.tool())
            || self.tools.iter().any(|tool| {
                let (name, spec) = parse_tool(tool);
                name == action.tool() && spec.is_none_or(|spec| matches_spec(spec, action))
            })
    }
}

/// Our name of a tool, and the text in its parentheses.
fn parse_tool(tool: &str) -> (&str, Option<&str>) {
    let (name, spec) = match tool.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (tool, None),
    };
    let known = NAMES.iter().find(|(theirs, _)| *theirs == name);
    (known.map_or(name, |(_, ours)| ours), spec)
}

/// `git add:*` and `git add *` mean any command that begins so, `git status` exactly that.
fn matches_spec(spec: &str, action: &StepAction) -> bool {
    let StepAction::Exec { program, args } = action else {
        return spec.is_empty() || spec == "*";
    };
    let spec = match spec.strip_suffix(":*") {
        Some(start) => format!("{start} *"),
        None => spec.to_owned(),
    };
    spec == "*" || PolicyRule::parse(&spec).is_ok_and(|rule| rule.matches(program, args))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn restriction_allows(tools: &[&str], work: &StepAction) -> bool {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        ToolRestriction { skill: "x".into(), tools }.allows(work)
    }

    #[test]
    fn a_skill_removes_the_tools_it_does_not_name() {
        let add = StepAction::exec("git", &["add", "a"]);
        let read = StepAction::Tool { name: "file.read".into(), input: json!({"path": "a"}) };
        let plan = StepAction::Tool { name: "plan".into(), input: json!({}) };
        let cases: &[(&[&str], bool, bool)] = &[
            (&["Bash"], true, false),
            (&["Bash(git add:*)"], true, false),
            (&["Bash(git add *)"], true, false),
            (&["Bash(git status:*)"], false, false),
            (&["Bash(git add)"], false, false),
            (&["Bash(*)"], true, false),
            (&["Read"], false, true),
            (&["Read(*)", "Grep"], false, true),
            (&["file.read", "exec"], true, true),
            (&["Bashful"], false, false),
        ];
        for (tools, adds, reads) in cases {
            assert_eq!(
                (restriction_allows(tools, &add), restriction_allows(tools, &read)),
                (*adds, *reads),
                "{tools:?}"
            );
            assert!(restriction_allows(tools, &plan));
        }
    }
}
