//! Builds the clients that requests and streams are sent with.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, ClientBuilder, Url, redirect};
use rustls::{ClientConfig, RootCertStore};

/// Builds a client for the server at `url`. Some machines have no certificate store (containers):
/// there the compiled-in certificates are used. If there is nothing to encrypt, none are read: a
/// store consists of hundreds of files.
///
/// Why no redirects: a redirect would send the key to an address the user did not choose. Why no
/// proxy for this machine: a proxy elsewhere cannot reach it.
pub fn build_client(connect: Duration, url: &Url) -> reqwest::Result<Client> {
    build_client_with(connect, url, |builder| builder)
}

/// The same for a server that has these addresses, if any are given: its name is not looked up.
pub fn build_pinned_client(
    connect: Duration,
    url: &Url,
    addresses: &[SocketAddr],
) -> reqwest::Result<Client> {
    build_client_with(connect, url, |builder| match url.host_str() {
        Some(host) if !addresses.is_empty() => builder.resolve_to_addrs(host, addresses),
        _ => builder,
    })
}

/// The same with settings of its own.
pub(super) fn build_client_with(
    connect: Duration,
    url: &Url,
    set: impl Fn(ClientBuilder) -> ClientBuilder,
) -> reqwest::Result<Client> {
    // An error means that a provider is installed already, which is what we want.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = Client::builder()
            .user_agent(concat!("avocet/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect)
            .redirect(redirect::Policy::none());
        let builder = set(builder);
        match (proxy_of(url), url.scheme() == "http") {
            (None, true) => builder.no_proxy().tls_certs_only([]),
            (None, false) => builder.no_proxy(),
            (Some(_), _) => builder,
        }
    };
    builder().build().or_else(|_| with_own_roots(builder()).build())
}

/// The proxy that requests to this address go through, without its user and password, if the
/// environment names one.
pub fn proxy_of(url: &Url) -> Option<String> {
    if is_loopback(url) {
        return None;
    }
    let matcher = Matcher::from_system();
    // `NO_PROXY=*` means every host; the matcher takes it for every name, and not for addresses.
    let any_name = format!("{}://any.invalid", url.scheme());
    matcher.intercept(&any_name.parse().ok()?)?;
    let intercept = matcher.intercept(&url.as_str().parse().ok()?)?;
    let proxy = intercept.uri();
    let port = proxy.port_u16().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}://{}{port}", proxy.scheme_str()?, proxy.host()?))
}

/// Compiled in are only the keys and names of the certificates, half of their size.
fn with_own_roots(builder: ClientBuilder) -> ClientBuilder {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    builder.tls_backend_preconfigured(tls)
}

/// True for this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

/// The pause the server asks for: `Retry-After` in seconds or as a date, or the milliseconds some
/// servers send in addition.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    const NOW: i64 = 784_111_777; // Sun, 06 Nov 1994 08:49:37 GMT

    fn wait(name: &'static str, value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        retry_after(&headers, Timestamp::from_second(NOW).unwrap_or_default())
    }

    #[test]
    fn the_pause_is_read_as_seconds_as_a_date_and_as_milliseconds() {
        assert_eq!(wait("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(
            wait("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"),
            Some(Duration::from_secs(10))
        );
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "-3"), Some(Duration::ZERO));
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(wait("retry-after", "1e300"), None);
    }

    #[test]
    fn a_client_can_be_built_without_installed_certificates() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        assert!(with_own_roots(Client::builder()).build().is_ok());
    }
}
