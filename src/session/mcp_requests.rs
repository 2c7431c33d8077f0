//! What a message gets from MCP servers: the text of a prompt, and resources. It is text that
//! comes from outside, so nothing in it is parsed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;
use tokio::sync::oneshot;

use super::expansion_stop::ExpansionStop;
use super::mcp_servers::OutgoingMcpRequest;
use super::turn_context::TurnContext;
use super::turn_events::TurnEvents;
use super::turn_messages::TurnMessage;
use super::turn_scope::TurnScope;

use avocet_core::i18n::{Localize, LocalizedText, mcp_pages as phrases, prompt as words};
use avocet_core::protocol::{Mention, ServerPromptCall};
use avocet_mcp::{McpCallId, McpContent, McpError, McpReply, McpRequest};
use avocet_tools::attachments::{self, Attachment};

/// Requests of a turn to MCP servers.
pub(super) struct ServerRequests<'a> {
    context: &'a TurnContext,
    events: &'a TurnEvents,
}

impl ServerRequests<'_> {
    pub fn of(scope: &TurnScope) -> ServerRequests<'_> {
        ServerRequests { context: &scope.context, events: &scope.events }
    }

    /// The text of a prompt, with its origin before it, and the images that go with it.
    pub(super) async fn prompt(
        &self,
        call: &ServerPromptCall,
    ) -> Result<(String, Vec<Attachment>), ExpansionStop> {
        let unsent = |why: LocalizedText| ExpansionStop::Unsent(words::NOT_SENT.with("why", why));
        let name = call.name.as_str();
        let offers = Arc::clone(&self.context.servers.offers);
        let unknown = || unsent(phrases::NO_SERVER_PROMPT.with("name", name));
        let offered = offers.prompt(name).ok_or_else(unknown)?;
        let arguments = offered.arguments(&call.args).map_err(|argument| {
            unsent(phrases::NO_ARGUMENT.with("name", name).with("argument", argument))
        })?;
        let name = offered.prompt.name.clone();
        let request = |id| McpRequest::Prompt { id, name, arguments };
        let content = self.ask_server(&offered.server, request).await?.map_err(unsent)?;
        let typed = format!("/{}", offered.name);
        let given = self.attach_content(&typed, content);
        let (given, images): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|it| it.image.is_none());
        let text: String = given.into_iter().map(|given| given.text).collect();
        let origin = format!(
            "[The prompt `{}` of the MCP server `{}`]",
            offered.prompt.name, offered.server
        );
        Ok((format!("{origin}\n{text}"), images))
    }

    /// The resource that a mention names; `None`: it names none.
    pub(super) async fn resource(
        &self,
        mention: &Mention,
    ) -> Result<Option<Result<Vec<Attachment>, LocalizedText>>, ExpansionStop> {
        let typed = mention.as_typed();
        // What looks like a range of lines belongs to the address.
        let named = typed.trim_start_matches('@').replace('"', "");
        let offers = Arc::clone(&self.context.servers.offers);
        let Some((server, uri)) = offers.resource(&named) else { return Ok(None) };
        let uri = uri.to_owned();
        let read = self.ask_server(server, |id| McpRequest::Read { id, uri }).await?;
        Ok(Some(match read {
            Ok(content) => Ok(self.attach_content(&typed, content)),
            Err(why) => Err(words::ATTACH_UNREADABLE.with("name", typed).with("why", why)),
        }))
    }

    /// Sends a request to a server and waits for its answer.
    async fn ask_server(
        &self,
        server: &str,
        request: impl FnOnce(McpCallId) -> McpRequest,
    ) -> Result<Result<McpContent, LocalizedText>, ExpansionStop> {
        let id = McpCallId(self.context.servers.next_call.fetch_add(1, Ordering::Relaxed));
        let (reply, answered) = oneshot::channel();
        let (progress, _) = mpsc::unbounded_channel();
        let call = OutgoingMcpRequest {
            id,
            server: server.to_owned(),
            request: request(id),
            progress,
            reply,
        };
        self.events.notify(TurnMessage::ServerCalled(Box::new(call)));
        let result = tokio::select! {
            result = answered => result.unwrap_or(Err(McpError::NotRunning)),
            () = self.context.cancel.cancelled() => {
                self.events.notify(TurnMessage::ServerCallCancelled(id));
                return Err(ExpansionStop::Cancelled);
            }
        };
        let failed = |error: McpError| {
            phrases::FAILED_NOTICE.with("name", server).with("why", error.localized())
        };
        Ok(result.map_err(failed).map(|reply| match reply {
            McpReply::Content(content) => content,
            McpReply::Values(values) => {
                McpContent { text: values.join("\n"), ..McpContent::default() }
            }
        }))
    }

    /// Masked and capped: the text, then each image that can be sent.
    fn attach_content(&self, name: &str, content: McpContent) -> Vec<Attachment> {
        let text = self.context.redactor.mask(&content.text).into_owned();
        let text = attachments::of_text(name, text);
        let images = content.images.iter();
        let images = images.filter_map(|image| attachments::of_image(name, image).ok());
        let has_text = !text.text.is_empty() || content.images.is_empty();
        has_text.then_some(text).into_iter().chain(images).collect()
    }
}
