//! Sends requests to one server: holds its address, its key, and a client that is created at the
//! first request.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::ModelError;
use super::address::{Address, strip_secrets};
use super::aws::AwsKey;
use super::error::ConnectError;
use super::error_body::{ServerMessage, clean};
use super::provider_name::is_private;
use super::status::{self, ErrorContext};
use super::wire::{Api, BEARER};
use crate::net;
use avocet_core::deadline::with_timeout;
use avocet_core::protocol::{KEY_PLACE, Provider, RequestSettings};

/// Maximum size of one answer, in bytes.
pub(super) const BODY_CAP: usize = 16 << 20;

/// Maximum number of bytes read of an error's body.
const FAULT_CAP: usize = 64 << 10;

/// How long a near server may take until its first byte.
const LOADING: Duration = Duration::from_secs(600);

/// How long to wait for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two bytes; a comment that keeps the stream alive counts.
    pub idle: Duration,
}

impl Timeouts {
    /// Waits scaled to an idle time: the first byte may take two thirds of it.
    pub fn with_idle(idle: Duration) -> Timeouts {
        Timeouts { connect: Duration::from_secs(10), first_byte: idle * 2 / 3, idle }
    }

    /// The same for a server of this machine or network, unless little patience is asked for: it
    /// loads the model and reads the whole request before its first byte.
    #[must_use]
    pub fn at(self, base_url: &str) -> Timeouts {
        let is_near = Address::parse(base_url, "").is_ok_and(|at| is_private(&at.host()));
        if is_near && self.idle >= Timeouts::default().idle {
            Timeouts { first_byte: self.first_byte.max(LOADING), ..self }
        } else {
            self
        }
    }
}

impl Default for Timeouts {
    /// 10 s to connect, 60 s to the first byte, 90 s between bytes.
    fn default() -> Timeouts {
        Timeouts::with_idle(Duration::from_secs(90))
    }
}

/// The settings of a server.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without scheme, trailing slash and path: a bare host gets the usual one.
    pub base_url: String,
    /// The address tells if this does not.
    pub provider: Option<Provider>,
    pub api_key: Option<String>,
    /// Where the key comes from (`OPENAI_API_KEY`), for error messages.
    pub key_name: String,
    pub model: String,
    pub timeouts: Timeouts,
    pub request: RequestSettings,
}

impl Endpoint {
    /// A server without a key.
    pub fn at(base_url: impl Into<String>) -> Endpoint {
        Endpoint {
            base_url: base_url.into(),
            provider: None,
            api_key: None,
            key_name: String::new(),
            model: String::new(),
            timeouts: Timeouts::default(),
            request: RequestSettings::default(),
        }
    }
}

/// One server and how to speak to it.
pub(super) struct Server {
    address: Address,
    host: String,
    provider: Provider,
    api: &'static Api,
    key: Option<Key>,
    /// Of each request.
    headers: HeaderMap,
    request: RequestSettings,
    key_name: String,
    timeouts: Timeouts,
    client: OnceLock<Client>,
}

/// A key, as text to remove from foreign text and as the header it is sent in.
struct Key {
    text: String,
    /// Absent where each request is signed.
    header: Option<(&'static str, HeaderValue)>,
    aws: Option<AwsKey>,
}

impl Server {
    pub fn new(endpoint: Endpoint) -> Result<Server, ModelError> {
        let Endpoint { base_url, provider, api_key, key_name, model: _, timeouts, request } =
            endpoint;
        let provider = provider.unwrap_or_else(|| Provider::at(&base_url));
        let api = Api::of(provider);
        let key = api_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let key = key.map(|key| {
            let unusable = || ModelError::KeyUnusable { key: key_name.clone() };
            Key::new(key, &key_name, api).ok_or_else(unusable)
        });
        let key = key.transpose()?;
        let address = Address::parse(&base_url, api.base)?;
        Ok(Server {
            host: address.host(),
            address,
            provider,
            api,
            headers: headers(api, &request, key.as_ref())?,
            request,
            key,
            key_name,
            timeouts,
            client: OnceLock::new(),
        })
    }

    pub fn api(&self) -> &'static Api {
        self.api
    }

    pub fn provider(&self) -> Provider {
        self.provider
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// The address for display.
    pub fn url(&self) -> String {
        self.address.display()
    }

    pub fn is_local(&self) -> bool {
        self.address.is_loopback()
    }

    /// True for a server of this machine or network.
    pub fn is_near(&self) -> bool {
        is_private(&self.host)
    }

    pub fn key(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.text.as_str())
    }

    pub fn post(&self, endpoint: &str) -> Result<RequestBuilder, ModelError> {
        Ok(self.with_headers(self.client()?.post(self.address.endpoint(endpoint))))
    }

    /// For facts about models: AWS has them at a host of its own, Google outside of projects.
    pub fn get(&self, path: &str) -> Result<RequestBuilder, ModelError> {
        let mut url = self.address.endpoint(path);
        if self.provider == Provider::Vertex {
            url.set_path("/v1beta1/publishers/google/models");
        }
        if let Some(host) = self.host.strip_prefix("bedrock-runtime.") {
            let _ = url.set_host(Some(&format!("bedrock.{host}")));
        }
        Ok(self.with_headers(self.client()?.get(url)))
    }

    /// At the server's root, beside the path of its wire format.
    pub fn get_at_root(&self, endpoint: &str) -> Result<RequestBuilder, ModelError> {
        Ok(self.with_headers(self.client()?.get(self.address.root_endpoint(endpoint))))
    }

    pub fn post_at_root(&self, endpoint: &str) -> Result<RequestBuilder, ModelError> {
        Ok(self.with_headers(self.client()?.post(self.address.root_endpoint(endpoint))))
    }

    fn with_headers(&self, request: RequestBuilder) -> RequestBuilder {
        request.headers(self.headers.clone())
    }

    /// What the settings add to each request.
    pub fn settings(&self) -> &RequestSettings {
        &self.request
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = net::build_client(self.timeouts.connect, self.address.url())
            .map_err(|error| ModelError::Client { why: clean(&error.to_string(), None) })?;
        Ok(self.client.get_or_init(|| client))
    }

    /// How long the first byte of an answer may take.
    pub fn first_byte(&self) -> Duration {
        self.timeouts.first_byte
    }

    /// Sends, and returns the response whatever its status.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        self.send_within(request, self.first_byte()).await
    }

    pub async fn send_within(
        &self,
        request: RequestBuilder,
        patience: Duration,
    ) -> Result<Response, ModelError> {
        let (client, request) = request.build_split();
        let mut request = request.map_err(|error| self.send_error(&error))?;
        if let Some(aws) = self.key.as_ref().and_then(|key| key.aws.as_ref()) {
            aws.sign(&mut request, Timestamp::now());
        }
        match with_timeout(patience, client.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.send_error(&error)),
            Err(_) => Err(self.stalled(patience)),
        }
    }

    fn send_error(&self, error: &reqwest::Error) -> ModelError {
        if error.is_connect() {
            let why = match (connect_error(error), net::proxy_of(self.address.url())) {
                (
                    why @ (ConnectError::Trust
                    | ConnectError::Expired { .. }
                    | ConnectError::NotYetValid { .. }
                    | ConnectError::OtherName),
                    _,
                )
                | (why, None) => why,
                (_, Some(proxy)) => ConnectError::Proxy { proxy },
            };
            ModelError::Unreachable { url: self.url(), why }
        } else if error.is_builder() {
            ModelError::Client { why: clean(&error.to_string(), self.key()) }
        } else {
            self.broken()
        }
    }

    pub fn stalled(&self, waited: Duration) -> ModelError {
        ModelError::Stalled { url: self.url(), seconds: waited.as_secs_f64().ceil() as u64 }
    }

    pub fn broken(&self) -> ModelError {
        ModelError::Broken { url: self.url() }
    }

    /// The error for an answer, or one event of it, that is larger than `cap` bytes.
    pub fn too_large(&self, cap: usize) -> ModelError {
        ModelError::TooLarge { url: self.url(), mib: cap >> 20 }
    }

    /// Reads a response with an error status: its meaning, and the server's words about it.
    pub async fn refusal(&self, response: Response, model: &str) -> (ModelError, ServerMessage) {
        let status = response.status();
        if status.is_redirection() {
            let error = ModelError::Redirected { url: self.url(), to: target(&response) };
            return (error, ServerMessage::default());
        }
        let after = net::retry_after(response.headers(), Timestamp::now());
        let body = self.read_start(response, FAULT_CAP).await;
        let said = ServerMessage::from_body(&String::from_utf8_lossy(&body), self.key());
        let url = self.url();
        let party = self.context(&url, model);
        (status::error_for_status(party, status.as_u16(), after, &said), said)
    }

    fn context<'a>(&'a self, url: &'a str, model: &'a str) -> ErrorContext<'a> {
        let key_name = &self.key_name;
        let has_key = self.key.is_some();

        ErrorContext { url, model, key_name, has_key, is_near: self.is_near() }
    }

    /// The error for what a server reports inside a response.
    pub fn reported(&self, value: &Value, model: &str) -> ModelError {
        let url = self.url();
        let said = ServerMessage::from_value(value, self.key());
        status::reported_error(self.context(&url, model), said)
    }

    /// The first bytes of a body, as many as arrive.
    async fn read_start(&self, response: Response, cap: usize) -> Vec<u8> {
        let mut body = Vec::new();
        let mut chunks = Box::pin(response.bytes_stream());
        let until = Instant::now() + self.timeouts.connect;
        while let Ok(Some(Ok(chunk))) = timeout_at(until, chunks.next()).await {
            body.extend(chunk.iter().take(cap - body.len()));
            if body.len() == cap {
                break;
            }
        }
        body
    }
}

/// The body as a stream, watched for stalls, breaks and its size.
pub(super) fn body(
    server: std::sync::Arc<Server>,
    response: Response,
) -> impl Stream<Item = Result<Bytes, ModelError>> + Send + 'static {
    let chunks = Box::pin(response.bytes_stream());
    stream::try_unfold((server, chunks, 0), |(server, mut chunks, read)| async move {
        let timeouts = server.timeouts;
        let idle = if read == 0 { timeouts.idle.max(timeouts.first_byte) } else { timeouts.idle };
        match with_timeout(idle, chunks.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Err(_))) => Err(server.broken()),
            Err(_) => Err(server.stalled(idle)),
            Ok(Some(Ok(chunk))) => match read + chunk.len() {
                read if read > BODY_CAP => Err(server.too_large(BODY_CAP)),
                read => Ok(Some((chunk, (server, chunks, read)))),
            },
        }
    })
}

fn target(response: &Response) -> String {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    match location.and_then(|location| response.url().join(location).ok()) {
        Some(url) => clean(strip_secrets(url).as_str(), None),
        None => "?".to_owned(),
    }
}

impl Key {
    fn new(text: &str, variable: &str, api: &Api) -> Option<Key> {
        if api.provider == Provider::Bedrock && text.starts_with('{') {
            let aws = AwsKey::parse(text)?;
            return Some(Key { text: aws.secret().to_owned(), header: None, aws: Some(aws) });
        }
        // Gateways give tokens instead of keys.
        let (name, before) = if variable == "ANTHROPIC_AUTH_TOKEN" { BEARER } else { api.key };
        let value = secret_header(&format!("{before}{text}"))?;
        Some(Key { text: text.to_owned(), header: Some((name, value)), aws: None })
    }
}

fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The headers of the settings, and over them those of the format and the key. One that needs a key
/// is left out where there is none.
fn headers(
    api: &Api,
    settings: &RequestSettings,
    key: Option<&Key>,
) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let key = key.filter(|key| key.aws.is_none());
        let text = match (value.expose(), key) {
            (text, None) if text.contains(KEY_PLACE) => continue,
            (text, None) => text.to_owned(),
            (text, Some(key)) => text.replace(KEY_PLACE, &key.text),
        };
        let unusable = || ModelError::KeyUnusable { key: name.clone() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
        headers.insert(header, secret_header(&text).ok_or_else(unusable)?);
    }
    for (name, value) in api.headers {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if let Some(Key { header: Some((name, value)), .. }) = key {
        headers.insert(*name, value.clone());
    }
    Ok(headers)
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("key_name", &self.key_name)
            .field("model", &self.model)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("url", &self.url()).finish_non_exhaustive()
    }
}

/// Why the connection failed, from the chain of causes.
fn connect_error(error: &reqwest::Error) -> ConnectError {
    if error.is_timeout() {
        return ConnectError::Slow;
    }
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    let mut last = String::new();
    while let Some(error) = cause {
        last = error.to_string();
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if kind == Some(std::io::ErrorKind::ConnectionRefused) {
            return ConnectError::Refused;
        }
        if last.starts_with("dns error") {
            return ConnectError::Name;
        }
        if let Some(why) = certificate_error(error) {
            return why;
        }
        if last.contains("certificate") {
            return ConnectError::Trust;
        }
        cause = error.source();
    }
    ConnectError::Other(clean(&last, None))
}

/// The problem with a server's certificate, if that is the error.
fn certificate_error(error: &(dyn std::error::Error + 'static)) -> Option<ConnectError> {
    use rustls::CertificateError as Fault;
    let mut error = error;
    // A network error may wrap another one that is not its cause but itself.
    while let Some(inside) =
        error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
    {
        error = inside;
    }
    let Some(rustls::Error::InvalidCertificate(fault)) = error.downcast_ref() else { return None };
    let now = || jiff::Zoned::now().strftime("%Y-%m-%d %H:%M").to_string();
    Some(match fault {
        Fault::Expired | Fault::ExpiredContext { .. } => ConnectError::Expired { now: now() },
        Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
            ConnectError::NotYetValid { now: now() }
        }
        Fault::NotValidForName | Fault::NotValidForNameContext { .. } => ConnectError::OtherName,
        _ => ConnectError::Trust,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_timeouts_scale_with_the_idle_time() {
        let seconds = Duration::from_secs;
        let usual = Timeouts { connect: seconds(10), first_byte: seconds(60), idle: seconds(90) };
        assert_eq!(Timeouts::default(), usual);
        assert_eq!(Timeouts::with_idle(seconds(300)).first_byte, seconds(200));
        let first = |idle, url| Timeouts::with_idle(seconds(idle)).at(url).first_byte.as_secs();
        assert_eq!(first(90, "http://127.0.0.1:1/v1"), 600);
        assert_eq!(first(90, "http://192.168.1.2/v1"), 600);
        assert_eq!(first(90, "https://api.example/v1"), 60);
        assert_eq!(first(3, "http://127.0.0.1:1/v1"), 2);
    }
}
