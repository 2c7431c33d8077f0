//! What `app` does for the connection, and what the connection and its sessions tell each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1::{PromptRequest, RequestId};
use serde_json::value::RawValue;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use avocet_core::i18n::{Lang, LocalizedText, acp as phrases};
use avocet_core::protocol::{ApprovalMode, Notice};
use avocet_mcp::ServerDefinition;
use avocet_session::SessionConfig;
use avocet_store::Listed;
use avocet_tools::file_host::FileHost;

/// Messages that wait for one session.
pub const SESSION_CAPACITY: usize = 64;

/// Which session a client wants to be opened.
#[derive(Clone, Debug)]
pub struct EditorRequest {
    /// As the client named it.
    pub folder: PathBuf,
    /// The id of a saved session to continue.
    pub resume: Option<String>,
    /// Whether the client gets the whole conversation so far.
    pub replays: bool,
    /// What the session gets of the client.
    pub offers: EditorOffers,
}

/// What a client offers a session.
#[derive(Clone, Debug, Default)]
pub struct EditorOffers {
    /// The MCP servers that its user set up there.
    pub servers: Vec<ServerDefinition>,
    /// The files that it holds.
    pub files: Option<Arc<dyn FileHost>>,
}

/// What `app` does for the connection.
pub struct EditorServices {
    pub open: OpenEditorSession,
    /// The saved sessions, the latest first, of one folder or of all; at most so many.
    pub list: ListSaved,
    /// Tells the user what belongs to no session's conversation.
    pub report: Arc<dyn Fn(&Notice) + Send + Sync>,
    /// Deletes a saved session with all that is saved for it. Blocks.
    pub delete: DeleteSaved,
    pub lang: Lang,
    pub leaving: CancellationToken,
}

impl EditorServices {
    /// Builds a session without holding up the others.
    pub async fn build(&self, request: EditorRequest) -> Result<SessionConfig, LocalizedText> {
        let open = Arc::clone(&self.open);
        let built = tokio::task::spawn_blocking(move || open(request)).await;
        built.unwrap_or_else(|error| Err(phrases::NOT_OPENED.with("why", error.to_string())))
    }
}

/// Builds a session. Blocks.
pub type OpenEditorSession =
    Arc<dyn Fn(EditorRequest) -> Result<SessionConfig, LocalizedText> + Send + Sync>;
pub type DeleteSaved = Arc<dyn Fn(&str) -> Result<(), LocalizedText> + Send + Sync>;
pub type ListSaved =
    Arc<dyn Fn(Option<&Path>, usize) -> Result<Vec<Listed>, LocalizedText> + Send + Sync>;

/// A message for an open session.
#[derive(Debug)]
pub enum SessionMessage {
    Prompt(RequestId, PromptRequest),
    Cancel,
    SetMode(RequestId, ApprovalMode),
    /// The answer to a request of ours; `None`: an error.
    Answered {
        call: u64,
        result: Option<Box<RawValue>>,
    },
    Close,
}

/// A session that can be spoken to from now on.
pub struct ReadySession {
    pub id: String,
    pub inbox: Sender<SessionMessage>,
    /// Completed once the server sends messages of this session to it.
    pub known: oneshot::Sender<()>,
}
