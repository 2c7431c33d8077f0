//! Answers of the model to MCP servers that the user allows to ask it.

use std::sync::Arc;

use futures_util::StreamExt;

use super::state::Session;
use super::turn_messages::{SideMessage, TurnMessage};
use avocet_core::i18n::{Lang, Localize, mcp_pages as phrases};
use avocet_core::protocol::{Event, Notice, Params, Provider, Usage};
use avocet_mcp::{McpRequest, SampledAnswer, SamplingRequest};
use avocet_model::{Model, ModelReply, Request};
use avocet_safety::redact::Redactor;

/// The longest answer, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// Asks the model of the session on a task of its own, and says what that used.
pub(super) fn answer(session: &mut Session, name: &str, request: SamplingRequest) {
    let limit = session.conversation.budget(&session.info).stop_reason(Usage::default());
    let connected = &session.resources.model.connected;
    let model = (connected.provider != Provider::Guide).then(|| Arc::clone(&connected.model));
    let redactor = Arc::clone(&session.security.redactor);
    let mut outbox = session.outbox.clone();
    let server = session.resources.servers.find(name).and_then(|server| server.running.as_ref());
    let Some(requests) = server.map(|running| running.sender()) else { return };
    let name = name.to_owned();
    let messages = session.resources.messages.clone();
    tokio::spawn(async move {
        let question = request.id;
        let asked = match model {
            _ if let Some(why) = limit => {
                let say = phrases::NOT_SAMPLED.with("name", &*name).with("why", why.clone());
                outbox.send(Event::Notice(Notice::warning(say))).await;
                Err(why.text(Lang::En))
            }
            Some(model) => ask(model, request, &redactor).await,
            None => Err(avocet_model::not_connected().text(Lang::En)),
        };
        if let Ok((_, used)) = &asked {
            let say = phrases::SAMPLED.with("name", name).with("input", used.input_tokens);
            let say = say.with("output", used.output_tokens);
            outbox.send(Event::Notice(Notice::info(say))).await;
            // A closed session counts nothing.
            let _ = messages.send(TurnMessage::Side(SideMessage::Answered(*used)));
        }
        let answer = asked.map(|(answer, _)| answer);
        // A server that ended needs no answer.
        let _ = requests.send(McpRequest::AnswerSampling { question, answer }).await;
    });
}

async fn ask(
    model: Arc<dyn Model>,
    request: SamplingRequest,
    redactor: &Redactor,
) -> Result<(SampledAnswer, Usage), String> {
    let mut messages = request.messages;
    let texts = messages.iter_mut().flat_map(|message| message.texts_mut());
    texts.for_each(|text| *text = redactor.mask(text).into_owned());
    let params = Params { max_tokens: Some(request.max_tokens), ..Params::default() };
    let mut stream = model.stream(Request { messages, params, ..Request::default() });
    let mut reply = ModelReply::default();
    while let Some(chunk) = stream.next().await {
        reply.push(chunk.map_err(|error| error.localized().text(Lang::En))?);
        if reply.text().len() > MAX_LENGTH {
            break;
        }
    }
    let text = redactor.mask(&reply.text()).into_owned();
    Ok((SampledAnswer { model: model.name().to_owned(), text }, reply.usage))
}
