//! What the hooks of a running turn, and its requests for summaries, work with: all of the turn but
//! its conversation.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::json;

use super::hook_runner::HookRunner;
use super::masked_turn::mask_message;
use super::shared_queues::Spending;
use super::step_judge::StepJudge;
use super::turn_account::TurnAccount;
use super::turn_context::TurnContext;
use super::turn_events::TurnEvents;
use crate::context::compact;
use crate::context::history::Summary;
use avocet_core::i18n::{Localize, LocalizedText, context as phrases};
use avocet_core::protocol::{Event, Message};
use avocet_model::{Chunk, Model, ModelError, Request};
use avocet_safety::redact::Redactor;

/// The maximum size of a summary, in bytes; a longer answer is not used.
const MAX_LENGTH: usize = 64 * 1024;

pub struct TurnParts<'a> {
    pub context: &'a TurnContext,
    pub judge: &'a mut StepJudge,
    pub hooks: &'a mut HookRunner,
    pub events: &'a mut TurnEvents,
    pub account: &'a mut TurnAccount,
    pub spending: &'a Spending,
}

impl TurnParts<'_> {
    /// The model's answer to a request for a summary, masked.
    pub async fn request_summary(
        &mut self,
        model: Arc<dyn Model>,
        messages: Vec<Message>,
        before_summary: &Summary,
    ) -> Result<Summary, LocalizedText> {
        self.events.emit(Event::Compacting).await;
        let redactor = &self.context.redactor;
        let request = Request {
            messages: messages.into_iter().map(|message| mask_message(redactor, message)).collect(),
            schema: Some(Arc::new(schema())),
            restarts: true,
            ..Request::default()
        };
        let text = self.collect_answer(model.stream(request)).await?;
        let Some(mut summary) = compact::parse_summary(&text, before_summary) else {
            return Err(phrases::SUM_NONSENSE.into());
        };
        mask_summary(redactor, &mut summary);
        Ok(summary)
    }

    /// A whole answer that is not shown to the user.
    async fn collect_answer(
        &mut self,
        mut stream: BoxStream<'static, Result<Chunk, ModelError>>,
    ) -> Result<String, LocalizedText> {
        let mut text = String::new();
        while let Some(chunk) = stream.next().await {
            match chunk.map_err(|error| error.localized())? {
                Chunk::Text(more) => text.push_str(&more),
                Chunk::Usage(usage) => self.account.add_extra(usage, self.spending),
                Chunk::Finished(Some(_)) => return Err(phrases::SUM_CUT.into()),
                Chunk::Retrying { attempt, of, wait_ms, why } => {
                    self.events.emit(Event::Retrying { attempt, of, wait_ms, why }).await;
                }
                Chunk::Restart => text.clear(),
                Chunk::Thought(_)
                | Chunk::CallProgress { .. }
                | Chunk::Paused
                | Chunk::Source(_)
                | Chunk::Gap
                | Chunk::Notice(_)
                | Chunk::SealedText(_)
                | Chunk::SealedThought(_)
                | Chunk::Call(_)
                | Chunk::Finished(None) => {}
            }
            if text.len() > MAX_LENGTH {
                return Err(phrases::SUM_NONSENSE.into());
            }
        }
        Ok(text)
    }
}

/// The JSON Schema of the answer, for servers that enforce one.
fn schema() -> serde_json::Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": { "summary": { "type": "string" }, "keyFacts": texts, "openTasks": texts },
        "required": ["summary", "keyFacts", "openTasks"],
        "additionalProperties": false,
    })
}

fn mask_summary(redactor: &Redactor, summary: &mut Summary) {
    let Summary { summary, key_facts, open_tasks } = summary;
    for text in std::iter::once(summary).chain(key_facts).chain(open_tasks) {
        *text = redactor.mask(text).into_owned();
    }
}
