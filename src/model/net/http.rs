//! Sends one request and reads its answer whole, within a time and a size.
//!
//! Errors name neither the address nor a header: some services have their key in the path.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use super::client::{build_client, retry_after};
use avocet_core::deadline::with_timeout;

const CONNECT: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of an answer, unless the request says otherwise.
const BODY_CAP: usize = 4 << 20;

/// A client for one service: its base address, and the value of its `Authorization`, if it has one.
#[derive(Clone)]
pub struct HttpClient {
    client: Client,
    base: Url,
    authorization: Option<HeaderValue>,
}

impl HttpClient {
    /// # Errors
    /// [`HttpError::Address`] for a base that is not an `http` or `https` address, or if the
    /// authorization does not fit in a header.
    pub fn new(base: &str, authorization: Option<&str>) -> Result<HttpClient, HttpError> {
        let base = Url::parse(base.trim()).map_err(|_| HttpError::Address)?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(HttpError::Address);
        }
        let header = |value: &str| {
            let mut value = HeaderValue::from_str(value).map_err(|_| HttpError::Address)?;
            value.set_sensitive(true);
            Ok(value)
        };
        let client = build_client(CONNECT, &base).map_err(|_| HttpError::Address)?;
        Ok(HttpClient { client, base, authorization: authorization.map(header).transpose()? })
    }

    /// Sends, and returns the answer whatever its status.
    ///
    /// # Errors
    /// [`HttpError`] if no whole answer came.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let timeout = request.timeout;
        with_timeout(timeout, self.exchange(request)).await.unwrap_or(Err(HttpError::Timeout))
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let url = self.url(&request.path)?;
        // A file may be on another host: the key is for this one alone.
        let is_own = url.origin() == self.base.origin();
        let mut builder = self.client.request(request.method, url);
        if let Some(value) = self.authorization.as_ref().filter(|_| is_own) {
            builder = builder.header(AUTHORIZATION, value.clone());
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let builder = match request.body {
            HttpBody::None => builder,
            HttpBody::Json(value) => builder.json(&value),
            HttpBody::Bytes { content_type, bytes } => {
                builder.header(CONTENT_TYPE, content_type).body(bytes)
            }
        };
        let response = builder.send().await.map_err(|error| send_error(&error))?;
        read(response, request.body_cap).await
    }

    /// `path` below the base, or another address if it is a whole one.
    fn url(&self, path: &str) -> Result<Url, HttpError> {
        let base = self.base.as_str().trim_end_matches('/');
        let url = if path.starts_with("http://") || path.starts_with("https://") {
            Url::parse(path)
        } else {
            Url::parse(&format!("{base}/{}", path.trim_start_matches('/')))
        };
        url.map_err(|_| HttpError::Address)
    }
}

pub(super) fn send_error(error: &reqwest::Error) -> HttpError {
    match error {
        error if error.is_connect() => HttpError::Unreachable,
        error if error.is_builder() => HttpError::Address,
        _ => HttpError::Broken,
    }
}

pub(super) async fn read(response: Response, cap: usize) -> Result<HttpResponse, HttpError> {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    if response.content_length().is_some_and(|length| length > cap as u64) {
        return Err(HttpError::TooLarge);
    }
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| HttpError::Broken)?;
        if body.len() + chunk.len() > cap {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpResponse { status, headers, body: body.into() })
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("host", &self.base.host_str()).finish_non_exhaustive()
    }
}

/// One request. Built by [`HttpRequest::get`] and [`HttpRequest::post`]; the other fields are set
/// on top.
#[derive(Clone)]
pub struct HttpRequest {
    pub method: Method,
    /// Below the base of the client, or a whole address.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: HttpBody,
    /// Until the whole answer is read.
    pub timeout: Duration,
    /// Maximum size of the answer, in bytes.
    pub body_cap: usize,
}

/// What a request sends.
#[derive(Clone)]
pub enum HttpBody {
    None,
    Json(Value),
    Bytes { content_type: String, bytes: Bytes },
}

impl HttpRequest {
    pub fn get(path: impl Into<String>) -> HttpRequest {
        HttpRequest::with_method(Method::GET, path, HttpBody::None)
    }

    pub fn post(path: impl Into<String>, body: Value) -> HttpRequest {
        HttpRequest::with_method(Method::POST, path, HttpBody::Json(body))
    }

    /// `method` as in HTTP; an unknown one is sent as `POST`.
    pub fn with_name(method: &str, path: impl Into<String>, body: HttpBody) -> HttpRequest {
        HttpRequest::with_method(method.parse().unwrap_or(Method::POST), path, body)
    }

    fn with_method(method: Method, path: impl Into<String>, body: HttpBody) -> HttpRequest {
        let path = path.into();
        let headers = Vec::new();

        HttpRequest { method, path, headers, body, timeout: TIMEOUT, body_cap: BODY_CAP }
    }
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    headers: HeaderMap,
    pub body: Bytes,
}

impl HttpResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The pause the server asks for in its headers.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers, Timestamp::now())
    }

    /// The body as JSON; `Null` if it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Why no answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("the address or a header cannot be used")]
    Address,
    #[error("the server cannot be reached")]
    Unreachable,
    #[error("the server did not answer in time")]
    Timeout,
    #[error("the connection broke")]
    Broken,
    #[error("the answer is too large")]
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_below_the_base_and_a_whole_address_replaces_it() {
        let client = HttpClient::new("http://127.0.0.1:1/api/", None).unwrap();
        let url = |path| client.url(path).unwrap().to_string();
        assert_eq!(url("bot1:x/getMe"), "http://127.0.0.1:1/api/bot1:x/getMe");
        assert_eq!(url("/a?b=c"), "http://127.0.0.1:1/api/a?b=c");
        assert_eq!(url("https://h.example/f"), "https://h.example/f");
        for base in ["", "ftp://h.example", "h.example", "http://"] {
            assert_eq!(HttpClient::new(base, None).unwrap_err(), HttpError::Address, "{base}");
        }
    }

    #[test]
    fn the_key_is_in_no_debug_text() {
        let client = HttpClient::new("http://127.0.0.1:1/bot1:secret", Some("Bearer secret"));
        assert!(!format!("{:?}", client.unwrap()).contains("secret"));
    }
}
