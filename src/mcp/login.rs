//! Logging in to a remote server: OAuth with discovery, registration and an answer on a port of
//! this machine. Tokens are saved with the API keys.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    StoredCredentials,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use avocet_config::Secret;
use avocet_config::key_store::KeyStore;
use avocet_model::net::build_guarded_client;

use super::clean;
use super::definition::{RemoteServer, ServerDefinition, ServerTransport};
use super::http::{check_encrypted, url};
use super::message::McpError;

/// How long the user may take in the browser.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a server may take for one answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const READ_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REQUEST: usize = 16 << 10;
const MAX_REASON: usize = 500;
const CALLBACK: &str = "/callback";

/// A login that waits for the user.
pub struct McpLogin {
    session: AuthorizationSession,
    listener: TcpListener,
    origin: String,
}

/// Prepares a login at a remote server.
///
/// # Errors
/// If the server does not say how to log in, or refuses this program.
pub async fn begin_login(
    definition: ServerDefinition,
    keys: Arc<KeyStore>,
) -> Result<McpLogin, McpError> {
    let server = match definition.transport {
        ServerTransport::Http(server) | ServerTransport::Sse(server) => server,
        // Has no address to log in at.
        ServerTransport::Stdio(_) => RemoteServer::default(),
    };
    let url = url(&server)?;
    check_encrypted(&url)?;
    let mut manager = manager(url, keys).await.map_err(|error| failed(&error))?;
    let metadata = manager.resolve_metadata().await.map_err(|error| failed(&error))?;
    manager.set_metadata(metadata.metadata);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| failed(&error))?;
    let port = listener.local_addr().map_err(|error| failed(&error))?.port();
    let origin = format!("http://127.0.0.1:{port}");
    let request =
        AuthorizationRequest::new(format!("{origin}{CALLBACK}")).with_client_name("Avocet");
    let session = AuthorizationSession::new(manager, request).await;
    let session = session.map_err(|(_, error)| failed(&error))?;
    Ok(McpLogin { session, listener, origin })
}

impl McpLogin {
    /// The address that the user is to open in a browser.
    pub fn url(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits until the browser comes back, and saves the tokens.
    ///
    /// # Errors
    /// If the user declines, or takes too long.
    pub async fn finish(self) -> Result<(), McpError> {
        let late = |_| McpError::StartTimeout { seconds: LOGIN_TIMEOUT.as_secs() };
        let callback = tokio::time::timeout(LOGIN_TIMEOUT, self.callback()).await.map_err(late)?;
        let callback = callback.map_err(|error| failed(&error))?;
        self.session.handle_callback_url(&callback).await.map_err(|error| failed(&error))?;
        Ok(())
    }

    /// The address that the browser was sent back to. Other requests are refused.
    async fn callback(&self) -> std::io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let read = tokio::time::timeout(READ_TIMEOUT, request_target(&mut stream)).await;
            let target = read.ok().and_then(Result::ok).flatten();
            let is_callback = target.as_deref().is_some_and(|target| {
                target.strip_prefix(CALLBACK).is_some_and(|rest| rest.starts_with('?'))
            });
            let answer = if is_callback {
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nAvocet: OK"
            } else {
                "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"
            };
            // The browser may be gone already.
            let _ = stream.write_all(answer.as_bytes()).await;
            if let Some(target) = target.filter(|_| is_callback) {
                return Ok(format!("{}{target}", self.origin));
            }
        }
    }
}

/// The target of a GET request.
async fn request_target(stream: &mut TcpStream) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut part = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") && bytes.len() < MAX_REQUEST {
        match stream.read(&mut part).await? {
            0 => break,
            read => bytes.extend_from_slice(part.get(..read).unwrap_or_default()),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let target = text.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    Ok(target.map(str::to_owned))
}

/// What adds the saved tokens of a server to requests, and renews them; `None` if none are saved.
///
/// # Errors
/// They would be sent unencrypted.
pub(crate) async fn saved(
    url: Url,
    keys: Arc<KeyStore>,
) -> Result<Option<AuthorizationManager>, McpError> {
    // Without a token no server is asked how to log in.
    if keys.place(&key_name(&url)).is_none() {
        return Ok(None);
    }
    check_encrypted(&url)?;
    let Ok(mut manager) = manager(url, keys).await else { return Ok(None) };
    let is_ready = manager.initialize_from_store().await.unwrap_or(false);
    Ok(is_ready.then_some(manager))
}

async fn manager(url: Url, keys: Arc<KeyStore>) -> Result<AuthorizationManager, AuthError> {
    let client = build_guarded_client(REQUEST_TIMEOUT, &url)
        .map_err(|error| AuthError::InternalError(error.to_string()))?;
    let mut manager = AuthorizationManager::new(url.clone()).await?;
    manager.with_client(client)?;
    manager.set_credential_store(SavedTokens { keys, name: key_name(&url) });
    Ok(manager)
}

/// Tokens belong to one address.
fn key_name(url: &Url) -> String {
    format!("mcp {url}")
}

fn failed(error: &dyn std::error::Error) -> McpError {
    McpError::LoginFailed { why: clean::line(&error.to_string(), MAX_REASON) }
}

/// The tokens of a server, as JSON among the API keys. Each access may wait for the keyring.
struct SavedTokens {
    keys: Arc<KeyStore>,
    name: String,
}

impl SavedTokens {
    async fn access<T: Send + 'static>(
        &self,
        access: impl FnOnce(&KeyStore, &str) -> Result<T, String> + Send + 'static,
    ) -> Result<T, AuthError> {
        let keys = self.keys.clone();
        let name = self.name.clone();

        let done = tokio::task::spawn_blocking(move || access(&keys, &name)).await;
        done.map_err(|error| error.to_string())
            .and_then(|done| done)
            .map_err(AuthError::CredentialStoreError)
    }
}

#[async_trait]
impl CredentialStore for SavedTokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.access(|keys, name| {
            let saved = keys.read(name).map_err(|error| error.to_string())?;
            Ok(saved.and_then(|saved| serde_json::from_str(saved.expose()).ok()))
        })
        .await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_string(&credentials)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.access(move |keys, name| {
            keys.save(name, &Secret::new(text)).map(drop).map_err(|error| error.to_string())
        })
        .await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.access(|keys, name| keys.remove(name).map(drop).map_err(|error| error.to_string()))
            .await
    }
}
