//! The tools that ask servers about code. They are offered once a server answers.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::question::CodeAnswer;
use super::servers::LanguageServers;
use avocet_core::i18n::{LocalizedText, exec, lsp as phrases};
use avocet_core::protocol::{Observation, Outcome, StepAction};
use avocet_safety::redact::Redactor;
use avocet_safety::tools::CodeLookup;
use avocet_safety::{ClearedStep, Judgement, ToolTask};
use avocet_tools::{RunControl, Tool, ToolSpec};

#[rustfmt::skip]
const TOOLS: &[ToolSpec] = &[
    ToolSpec { name: "code.symbols",    about: phrases::ABOUT_SYMBOLS,    prompt: "code.symbols {path?, query?}: what a source file defines, or where a name is defined" },
    ToolSpec { name: "code.definition", about: phrases::ABOUT_DEFINITION, prompt: "code.definition {path, symbol, line?}: where a name in a file is defined" },
    ToolSpec { name: "code.references", about: phrases::ABOUT_REFERENCES, prompt: "code.references {path, symbol, line?}: where a name is used" },
    ToolSpec { name: "code.hover",      about: phrases::ABOUT_HOVER,      prompt: "code.hover {path, symbol, line?}: the type and documentation of a name" },
    ToolSpec { name: "code.rename",     about: phrases::ABOUT_RENAME,     prompt: "code.rename {path, symbol, new_name, line?}: renames it wherever it is used" },
];

struct CodeTool {
    spec: &'static ToolSpec,
    servers: LanguageServers,
    redactor: Arc<Redactor>,
}

/// All of them.
pub fn code_tools(servers: &LanguageServers, redactor: &Arc<Redactor>) -> Vec<Arc<dyn Tool>> {
    let tool = |spec| {
        let servers = servers.clone();
        let redactor = Arc::clone(redactor);

        Arc::new(CodeTool { spec, servers, redactor }) as Arc<dyn Tool>
    };
    TOOLS.iter().map(tool).collect()
}

impl Tool for CodeTool {
    fn spec(&self) -> ToolSpec {
        *self.spec
    }

    fn is_offered(&self) -> bool {
        self.servers.has_started()
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let servers = self.servers.clone();
        let redactor = Arc::clone(&self.redactor);
        async move {
            let judged = step.judgement();
            let answer = match &judged.task {
                Some(ToolTask::Code(task)) => {
                    let asked = control.cancel.run_until_cancelled(servers.ask((**task).clone()));
                    asked.await
                }
                Some(ToolTask::Fault(fault)) => Some(Err(fault.say.clone())),
                _ => Some(Err(phrases::NO_SERVER.into())),
            };
            let mut observation = observe(judged, answer);
            redactor.mask_output(&mut observation);
            observation
        }
        .boxed()
    }

    /// A renaming becomes the change of files that a server proposes for it. If none does, the step
    /// stays, and says why when it runs.
    fn replacement(&self, task: &ToolTask) -> BoxFuture<'static, Option<StepAction>> {
        let task = match task {
            ToolTask::Code(task) if task.lookup == CodeLookup::Rename => task.clone(),
            _ => return std::future::ready(None).boxed(),
        };
        let servers = self.servers.clone();
        async move {
            let Ok(CodeAnswer::Edit(patch)) = servers.ask(*task).await else { return None };
            let input = serde_json::json!({ "patch": patch });
            Some(StepAction::Tool { name: "file.edit".to_owned(), input })
        }
        .boxed()
    }
}

/// The result of a question; `None`: it was cancelled.
fn observe(judged: &Judgement, answer: Option<Result<CodeAnswer, LocalizedText>>) -> Observation {
    let cwd = judged.cwd.to_string_lossy();
    let outcome = if answer.is_some() { Outcome::Ran } else { Outcome::Cancelled };
    let mut seen = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    match answer {
        Some(Ok(CodeAnswer::Text(text))) => {
            seen.exit_code = Some(0);
            seen.stdout = text;
        }
        // It was not there when the step was judged.
        Some(Ok(CodeAnswer::Edit(_))) => {
            seen.exit_code = Some(1);
            seen.note = Some(phrases::RENAME_AGAIN.into());
        }
        Some(Err(why)) => {
            seen.exit_code = Some(1);
            seen.note = Some(why);
        }
        None => seen.note = Some(exec::CANCELLED.into()),
    }
    seen
}
