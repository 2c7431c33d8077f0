//! Judges a script the model wants to run. Running one only has messages answered: anything
//! it does beyond that is a step of its own, judged like any other. The session decides
//! which scripts a model may run; in a folder that is not trusted there are none.

use serde_json::Value;

use crate::findings::{Findings, excerpt};
use crate::spec::JudgeContext;
use avocet_core::i18n::prompt as phrases;
use avocet_core::protocol::{Effect, Tier};

/// The tool.
pub const TOOL: &str = "script.run";

/// Judges `{script, args}`.
pub fn judge(input: &Value, context: &JudgeContext<'_>, findings: &mut Findings) {
    let known = |key: &String| matches!(key.as_str(), "script" | "args");
    let args = input.get("args");
    let sound = input.as_object().is_some_and(|fields| fields.keys().all(known))
        && args.is_none_or(|args| args.is_null() || args.is_object() || args.is_string());
    let name = input.get("script").and_then(Value::as_str).filter(|_| sound);
    let Some(name) = name else {
        return findings.add("script.malformed", Tier::L2, phrases::SCRIPT_MALFORMED, None, &[]);
    };
    if !context.policy_cx.world.has_script(name) {
        let say = phrases::SCRIPT_UNKNOWN.with("name", excerpt(name));
        return findings.add("script.unknown", Tier::L2, say, None, &[]);
    }
    let say = phrases::SCRIPT_RUNS.with("name", excerpt(name));
    findings.add(TOOL, Tier::L0, say, None, &[Effect::Read]);
}
