//! A client for addresses that a server names itself, as one does that wants a login: what it names
//! leads to no machine of a private network, unless the server is in one.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use avocet_safety::web::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use tokio::net::lookup_host;

use super::client::{build_client_with, proxy_of};

const CONNECT: Duration = Duration::from_secs(10);

/// Builds a client for what the server at `url` names. Each request ends in this time.
///
/// # Errors
/// As for any client.
pub fn build_guarded_client(timeout: Duration, url: &Url) -> reqwest::Result<Client> {
    let lookup = Arc::new(GuardedLookup::new(url));
    // A proxy looks names up itself.
    let is_direct = proxy_of(url).is_none();
    build_client_with(CONNECT, url, |builder| {
        let builder = builder.timeout(timeout);
        if is_direct { builder.dns_resolver(Arc::clone(&lookup)) } else { builder }
    })
}

/// Looks up names for a server.
struct GuardedLookup {
    server: String,
}

impl GuardedLookup {
    fn new(url: &Url) -> GuardedLookup {
        let host = url.host_str().unwrap_or_default();
        GuardedLookup { server: host.trim_matches(['[', ']']).to_owned() }
    }
}

impl Resolve for GuardedLookup {
    fn resolve(&self, name: Name) -> Resolving {
        let server = self.server.clone();
        Box::pin(async move {
            let addresses = addresses_of(name.as_str()).await?;
            let is_open = addresses.iter().all(is_public_address)
                || name.as_str() == server
                || !addresses_of(&server).await?.iter().any(is_public_address);
            let closed = || io::Error::other("the name leads to a private network");
            let addresses = is_open.then_some(addresses).ok_or_else(closed)?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

async fn addresses_of(name: &str) -> io::Result<Vec<SocketAddr>> {
    Ok(lookup_host((name, 0)).await?.collect())
}

fn is_public_address(address: &SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(ip) => is_public(&ip.octets()),
        IpAddr::V6(ip) => is_public(&ip.octets()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn lookup(server: &str, name: &str) -> Result<usize, String> {
        let lookup = GuardedLookup::new(&Url::parse(server).unwrap());
        let found = lookup.resolve(name.parse().unwrap()).await;
        found.map(Iterator::count).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_public_server_names_no_machine_of_a_private_network() {
        for server in ["https://192.0.32.10/mcp", "https://[2606:4700::1111]/mcp"] {
            let why = lookup(server, "localhost").await.unwrap_err();
            assert_eq!(why, "the name leads to a private network", "{server}");
        }
        for server in ["http://127.0.0.1:1/mcp", "https://10.0.0.5", "https://localhost/mcp"] {
            assert!(lookup(server, "localhost").await.unwrap() > 0, "{server}");
        }
    }

    #[tokio::test]
    async fn a_request_that_is_never_answered_ends_in_its_time() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let url = Url::parse(&url).unwrap();
        let client = build_guarded_client(Duration::from_millis(50), &url).unwrap();
        assert!(client.get(url).send().await.unwrap_err().is_timeout());
    }
}
