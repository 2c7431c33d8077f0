//! The tool by which a model sends a file of the folder to the chat that it talks in.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::attachments::file_to_send;
use super::recall_tool::answer;
use super::turn_scope::TurnScope;
use avocet_core::i18n::{LocalizedText, agents, chat as phrases};
use avocet_core::protocol::{Event, Observation, StepAction};
use avocet_safety::tools::SEND;
use avocet_safety::{ClearedStep, ToolTask};
use avocet_tools::{RunControl, Tool, ToolSpec};

/// The tool `file.send`. The turn runs it.
pub struct SendTool;

impl Tool for SendTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SEND,
            about: phrases::ABOUT_SEND,
            prompt: "file.send {path}: sends a file or picture of the folder to the user's chat",
        }
    }

    fn run(&self, step: ClearedStep, _: RunControl) -> BoxFuture<'static, Observation> {
        let broke = answer(step.judgement(), Err(agents::NOT_HERE.into()));
        std::future::ready(broke).boxed()
    }
}

pub(super) fn is_send(action: &StepAction) -> bool {
    matches!(action, StepAction::Tool { name, .. } if name == SEND)
}

/// Hands the file over to the chat.
pub(super) async fn run(scope: &mut TurnScope, cleared: ClearedStep) -> Observation {
    let judged = cleared.judgement().clone();
    let step = judged.step.clone();
    scope.events.emit(Event::StepStarted { step, risk: judged.risk.clone() }).await;
    answer(&judged, send(scope, cleared).await)
}

async fn send(scope: &mut TurnScope, cleared: ClearedStep) -> Result<String, LocalizedText> {
    let name = match &cleared.judgement().task {
        Some(ToolTask::Read(read)) => read.spot.shown.clone(),
        Some(ToolTask::Fault(fault)) => return Err(fault.say.clone()),
        _ => return Err(agents::NOT_HERE.into()),
    };
    let file = file_to_send(scope, cleared, name.clone(), false).await?;
    let done = format!("{name} was handed to the chat.");
    scope.events.emit(Event::Rendered { text: name, images: vec![file] }).await;
    Ok(done)
}
