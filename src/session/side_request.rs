//! A request beside the conversation. It begins with the bytes of the next one of the conversation,
//! so that the provider's cache of prompts hits; only the text of its answer counts, so no tool runs.

use futures_util::StreamExt;

use super::offered_tools::offered_tools;
use super::turn_context::TurnContext;
use crate::context::message_size::tools_size;
use crate::context::request;
use crate::context::window::{History, RequestParts};
use avocet_config::project_instructions::ProjectInstructions;
use avocet_core::i18n::{Localize, LocalizedText, side as phrases};
use avocet_core::protocol::growing_reply::GrowingReply;
use avocet_core::protocol::{Dialect, Message, Usage};
use avocet_model::{ModelReply, Request};

/// The longest answer, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// The text of the answer, and what it used.
pub(super) async fn ask(
    context: &TurnContext,
    instructions: &ProjectInstructions,
    history: &History,
    web_is_off: bool,
    question: &str,
) -> Result<(String, Usage), LocalizedText> {
    if let Some(why) = context.budget.stop_reason(Usage::default()) {
        return Err(why);
    }
    let model = &context.responder.model;
    let size = model.prompt_size();
    let dialect = model.dialect();
    let redactor = &context.redactor;
    let system = context.system.text(dialect, size);
    let tools = match dialect {
        Dialect::Json => [].into(),
        Dialect::Tools => context.tools.schemas(model.name(), size, model.offers_shell()),
    };
    let parts = RequestParts {
        system: &redactor.mask(&system),
        tools: tools_size(&tools),
        notes: &instructions.notes.text,
        history,
        turn: &[Message::user(redactor.mask(question))],
    };
    let (messages, _) = request::build(parts, context.responder.bounds_for(dialect));
    let mut stream = model.stream(Request {
        tools: offered_tools(&tools, &messages, &context.extensions, web_is_off),
        messages,
        params: context.responder.params.clone(),
        effort: context.responder.effort,
        cache_key: context.responder.cache_key.clone(),
        restarts: true,
        ..Request::default()
    });
    let mut reply = ModelReply::default();
    while let Some(chunk) = stream.next().await {
        reply.push(chunk.map_err(|error| error.localized())?);
        if reply.text().len() > MAX_LENGTH {
            break;
        }
    }
    let shown = GrowingReply::default().push(&reply.text());
    let text = redactor.mask(shown.trim()).into_owned();
    if text.is_empty() { Err(phrases::NO_ANSWER.into()) } else { Ok((text, reply.usage)) }
}
