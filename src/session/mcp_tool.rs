//! The steps that call tools of MCP servers, or look them up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::mcp_servers::OutgoingMcpRequest;
use super::recall_tool::answer;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Lang, Localize, LocalizedText, mcp_pages as phrases};
use avocet_core::protocol::{Observation, Outcome, StepAction};
use avocet_mcp::{McpCallId, McpError, McpReply, McpRequest, OfferedTool, ToolCatalog};
use avocet_safety::redact::Redactor;
use avocet_safety::{ClearedStep, MCP_CALL_TOOL, MCP_FIND_TOOL};
use avocet_tools::{RunControl, Tool, ToolSpec, attachments};

/// The most tools that one search gives.
const MAX_FOUND: usize = 5;

/// Calls the tools of servers, and looks them up.
pub(super) struct McpTool {
    /// The tools at the start of the turn.
    pub catalog: Arc<ToolCatalog>,
    pub session: UnboundedSender<TurnMessage>,
    pub next_call: Arc<AtomicU64>,
    pub redactor: Arc<Redactor>,
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: MCP_CALL_TOOL,
            about: phrases::ABOUT_TOOL,
            prompt: "mcp.SERVER.TOOL: a tool of a server, by one of the names below",
        }
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let work = step.judgement().step.work.clone();
        let StepAction::Tool { name, input } = work else {
            return std::future::ready(answer(step.judgement(), Ok(String::new()))).boxed();
        };
        if name == MCP_FIND_TOOL {
            let found = found_tools(&self.catalog, &input);
            return std::future::ready(answer(step.judgement(), Ok(found))).boxed();
        }
        let offered = self.catalog.get(&name);
        if let Some(list) = offered.and_then(|offered| offered.listed_resources(&input)) {
            let list = self.redactor.mask(&list).into_owned();
            return std::future::ready(answer(step.judgement(), Ok(list))).boxed();
        }
        let sent = self.send(&name, input, &control);
        let session = self.session.clone();
        let redactor = Arc::clone(&self.redactor);

        async move {
            let judged = step.judgement();
            let (id, reply) = match sent {
                Ok(sent) => sent,
                Err(why) => return answer(judged, Err(why)),
            };
            let mut observation = tokio::select! {
                result = reply => observe(&step, result.unwrap_or(Err(McpError::NotRunning))),
                () = control.cancel.cancelled() => {
                    // A closed session has no calls any more.
                    let _ = session.send(TurnMessage::ServerCallCancelled(id));
                    let mut observation = answer(judged, Err(McpError::Cancelled.localized()));
                    observation.outcome = Outcome::Cancelled;
                    observation.exit_code = None;
                    observation
                }
            };
            prepare_images(&mut observation).await;
            redactor.mask_output(&mut observation);
            observation
        }
        .boxed()
    }
}

impl McpTool {
    /// Sends a call on its way.
    fn send(
        &self,
        name: &str,
        input: Value,
        control: &RunControl,
    ) -> Result<(McpCallId, oneshot::Receiver<Result<McpReply, McpError>>), LocalizedText> {
        let offered = self.catalog.get(name);
        let offered = offered.ok_or_else(|| LocalizedText::from(phrases::NO_TOOL))?;
        let input = match input {
            Value::Object(input) => input,
            Value::Null => Map::new(),
            _ => return Err(phrases::NO_OBJECT.into()),
        };
        let id = McpCallId(self.next_call.fetch_add(1, Ordering::Relaxed));
        let (reply, answered) = oneshot::channel();
        let request = match input.get("uri").and_then(Value::as_str) {
            Some(uri) if !offered.resources.is_empty() => {
                McpRequest::Read { id, uri: uri.to_owned() }
            }
            _ => McpRequest::Call { id, tool: offered.tool.name.clone(), input },
        };
        let server = offered.server.clone();
        let progress = control.output.clone();
        let call = OutgoingMcpRequest { id, server, request, progress, reply };
        // A closed session drops the call, which ends it.
        let _ = self.session.send(TurnMessage::ServerCalled(Box::new(call)));
        Ok((id, answered))
    }
}

/// What a server answered, as the model gets it.
fn observe(step: &ClearedStep, result: Result<McpReply, McpError>) -> Observation {
    let judged = step.judgement();
    match result {
        Ok(McpReply::Content(content)) => {
            let mut observation = answer(judged, Ok(content.text));
            observation.exit_code = Some(i32::from(content.is_error));
            observation.truncated = content.omitted > 0;
            observation.images = content.images;
            observation
        }
        Ok(McpReply::Values(values)) => answer(judged, Ok(values.join("\n"))),
        Err(error) => answer(judged, Err(error.localized())),
    }
}

/// Makes its images what providers take. One is what its bytes say, whatever its server calls it:
/// a request with any other would be refused, and each after it.
async fn prepare_images(observation: &mut Observation) {
    let images = std::mem::take(&mut observation.images);
    let prepare = move || -> Vec<_> {
        let numbered = images.iter().zip(1..);
        numbered.map(|(image, n)| attachments::of_image(&format!("[image {n}]"), image)).collect()
    };
    for prepared in tokio::task::spawn_blocking(prepare).await.unwrap_or_default() {
        match prepared {
            Ok(attachment) => observation.images.extend(attachment.image),
            Err(why) => observation.stdout.push_str(&format!("\n{}", why.text(Lang::En))),
        }
    }
}

/// The tools that a search finds, each with its input.
fn found_tools(catalog: &ToolCatalog, input: &Value) -> String {
    let query = input.get("query").and_then(Value::as_str).unwrap_or_default();
    let found = catalog.find(query, MAX_FOUND);
    let line = |offered: &&OfferedTool| {
        let OfferedTool { name, tool, .. } = offered;
        format!("{name}: {}\ninput: {}", tool.description, tool.schema)
    };
    if found.is_empty() {
        return "no tool matches".to_owned();
    }
    found.iter().map(line).collect::<Vec<_>>().join("\n\n")
}
