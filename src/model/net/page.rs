//! Reads a page of the web: one request, no redirects, no cookies, no `Referer`.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{RequestBuilder, Url};
use serde_json::Value;

use super::client::build_pinned_client;
use super::http::{HttpError, HttpResponse, read, send_error};

const CONNECT: Duration = Duration::from_secs(10);

/// Gets what is at `url`, or posts to it, from a machine of these addresses, whatever its name means
/// by now; from any if there are none, which is for a proxy. Of a larger answer, in its unpacked
/// form, nothing is given.
///
/// # Errors
/// [`HttpError`] if no whole answer came.
pub async fn send_once(
    url: &Url,
    addresses: &[SocketAddr],
    headers: &[(&'static str, String)],
    body: Option<&Value>,
    body_cap: usize,
) -> Result<HttpResponse, HttpError> {
    let client = build_pinned_client(CONNECT, url, addresses).map_err(|_| HttpError::Address)?;
    let request = match body {
        Some(body) => client.post(url.clone()).json(body),
        None => client.get(url.clone()),
    };
    let add = |request: RequestBuilder, (name, value): &(&'static str, String)| {
        request.header(*name, value)
    };
    let request = headers.iter().fold(request, add);
    read(request.send().await.map_err(|error| send_error(&error))?, body_cap).await
}
