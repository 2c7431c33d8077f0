//! The tools that only talk to the user. The turn itself asks and shows; here they are
//! named, and a call that arrives all the same is answered that nothing was done.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{RunControl, Tool, ToolSpec};
use avocet_core::i18n::{LocalizedText, tools as phrases};
use avocet_core::protocol::{Observation, Outcome};
use avocet_safety::{ClearedStep, ToolTask};

struct InteractionTool(ToolSpec);

pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(InteractionTool(ToolSpec {
            name: "ask",
            about: phrases::ABOUT_ASK,
            prompt: "ask {question, choices?}: asks the user; only when you cannot go on without",
        })),
        Arc::new(InteractionTool(ToolSpec {
            name: "plan",
            about: phrases::ABOUT_PLAN,
            prompt: "plan {items:[{text, state: pending|doing|done}]}: shows your whole to-do list; for work of several steps",
        })),
    ]
}

impl Tool for InteractionTool {
    fn spec(&self) -> ToolSpec {
        self.0
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let judged = step.judgement();
        let cwd = judged.cwd.to_string_lossy();
        let mut seen =
            Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), Outcome::Ran);
        seen.exit_code = Some(2);
        seen.note = Some(match &judged.task {
            Some(ToolTask::Fault(fault)) => fault.say.clone(),
            _ => LocalizedText::from(phrases::NOBODY_HERE),
        });
        std::future::ready(seen).boxed()
    }
}
