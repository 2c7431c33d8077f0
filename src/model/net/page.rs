//! Reads a page of the web: one request, no redirects, no cookies, no `Referer`.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::ACCEPT;

use super::client::build_pinned_client;
use super::http::{HttpError, HttpResponse, read, send_error};

const CONNECT: Duration = Duration::from_secs(10);

/// Gets what is at `url` from a machine of these addresses, whatever its name means by now; from
/// any if there are none, which is for a proxy. Of a larger answer, in its unpacked form, nothing
/// is given.
///
/// # Errors
/// [`HttpError`] if no whole answer came.
pub async fn get_page(
    url: &Url,
    addresses: &[SocketAddr],
    body_cap: usize,
) -> Result<HttpResponse, HttpError> {
    let client = build_pinned_client(CONNECT, url, addresses).map_err(|_| HttpError::Address)?;
    let request = client.get(url.clone()).header(ACCEPT, "text/html,text/plain;q=0.9,*/*;q=0.8");
    read(request.send().await.map_err(|error| send_error(&error))?, body_cap).await
}
