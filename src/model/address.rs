//! The address of a model server: makes the usual spellings of `base_url` one address.
//!
//! Users paste different forms of the same address. All of these are `http://localhost:8080/v1`:
//! `localhost:8080`, `http://localhost:8080/`, `http://localhost:8080/v1/`,
//! `http://localhost:8080/v1/chat/completions`.
//!
//! - Without a scheme: `http` for this machine, `https` for any other.
//! - Without a path: `/v1` is added. A path is kept as it is (`/api/v1`, `/v1beta/openai`,
//!   `/compatible-mode/v1`), because servers differ there.
//! - A known endpoint at the end is removed; a query is kept and sent.

use reqwest::Url;

use super::ModelError;
use crate::net::is_loopback;

/// Endpoints that may follow the base and are not part of it.
const ENDPOINTS: &[&str] =
    &["/chat/completions", "/completions", "/responses", "/messages", "/api/chat", "/models"];

const OTHERS: &[&str] = &["/api", "/v1"];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Address {
    base: Url,
}

impl Address {
    /// A bare host gets the path `usual`.
    pub fn parse(given: &str, usual: &str) -> Result<Address, ModelError> {
        let fault = || ModelError::Address { given: display_invalid(given) };
        let text = given.trim();
        let mut base =
            if text.contains("://") { Url::parse(text) } else { parse_without_scheme(text) }
                .map_err(|_| fault())?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(fault());
        }
        let path = base_path(base.path(), usual);
        base.set_path(&path);
        base.set_fragment(None);
        Ok(Address { base })
    }

    /// The URL of one endpoint, such as `chat/completions`, which may have a query of its own.
    pub fn endpoint(&self, name: &str) -> Url {
        let mut url = self.base.clone();
        let (name, query) = name.split_once('?').unwrap_or((name, ""));
        if !query.is_empty() {
            let joined = [self.base.query().unwrap_or_default(), query].join("&");
            url.set_query(Some(joined.trim_start_matches('&')));
        }
        url.set_path(&format!("{}/{name}", self.base.path().trim_end_matches('/')));
        url
    }

    /// The URL of an endpoint beside the path of the wire format: `/props` for `…/v1`.
    pub fn root_endpoint(&self, name: &str) -> Url {
        let mut base = self.base.clone();
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        base.set_path(&path);
        Address { base }.endpoint(name)
    }

    /// For display: without user, password and query.
    pub fn display(&self) -> String {
        strip_secrets(self.base.clone()).to_string().trim_end_matches('/').to_owned()
    }

    /// The host, in lower case.
    pub fn host(&self) -> String {
        self.base.host_str().unwrap_or_default().to_lowercase()
    }

    pub fn url(&self) -> &Url {
        &self.base
    }

    /// True when the connection is not encrypted.
    pub fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// True for this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.base)
    }
}

/// An address as written, without user, password and query.
pub fn display_address(given: &str) -> String {
    let (scheme, rest) = match given.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), given),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at_checked(at).unwrap_or((rest, "")),
        None => (rest, ""),
    };
    // A password may contain a `/` although it must not.
    let (host, path) = match path.rsplit_once('@') {
        Some((_, after)) => (after, ""),
        None => (host.rsplit_once('@').map_or(host, |(_, host)| host), path),
    };
    format!("{scheme}{host}{path}")
}

/// Scheme, host and port of an address: the server that a key belongs to.
pub fn server_origin(given: &str) -> Option<String> {
    Some(Address::parse(given, "").ok()?.base.origin().ascii_serialization())
}

/// The host of an address.
pub fn server_host(given: &str) -> Option<String> {
    Some(Address::parse(given, "").ok()?.host())
}

/// The host to which a key, or a password in the address itself, would be sent readable by anyone
/// on the way: not encrypted, and not this machine.
pub fn exposed_host(given: &str, has_key: bool) -> Option<String> {
    let address = Address::parse(given, "").ok()?;
    let base = &address.base;
    let secret = has_key || base.password().is_some() || base.query().is_some();
    let open = secret && address.is_plain() && !address.is_loopback();
    open.then(|| base.host_str().unwrap_or_default().to_owned())
}

fn parse_without_scheme(text: &str) -> Result<Url, <Url as std::str::FromStr>::Err> {
    let plain = Url::parse(&format!("http://{text}"))?;
    if is_loopback(&plain) { Ok(plain) } else { Url::parse(&format!("https://{text}")) }
}

fn base_path(path: &str, usual: &str) -> String {
    // Gemini's endpoints hold the model's name.
    let path = path.split("/models/").next().unwrap_or_default();
    let mut path = path.trim_end_matches('/');
    // What has no usual path (Ollama) offers another format below these.
    let others = if usual.is_empty() { OTHERS } else { &[] };
    for endpoint in ENDPOINTS.iter().chain(others) {
        path = path.strip_suffix(endpoint).unwrap_or(path).trim_end_matches('/');
    }
    if path.is_empty() { usual.to_owned() } else { path.to_owned() }
}

/// The URL without anything that could be a secret.
pub(super) fn strip_secrets(mut url: Url) -> Url {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// A text that is not an address, for a message about it: it may contain a password.
fn display_invalid(given: &str) -> String {
    let given = given.rsplit_once('@').map_or(given, |(_, host)| host);
    super::error_body::clean(given, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(given: &str) -> String {
        match Address::parse(given, "/v1") {
            Ok(address) => address.endpoint("chat/completions").to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_usual_spellings_of_one_server_are_one_address() {
        for given in [
            "http://localhost:8080",
            "http://localhost:8080/",
            "http://localhost:8080/v1",
            "http://localhost:8080/v1/",
            " localhost:8080 ",
            "http://localhost:8080/v1/chat/completions",
            "http://localhost:8080/v1/models/",
        ] {
            assert_eq!(chat(given), "http://localhost:8080/v1/chat/completions", "{given}");
        }
    }

    #[test]
    fn each_format_has_its_own_path_below_the_same_host() {
        let url = |given, usual, endpoint| {
            Address::parse(given, usual).map(|address| address.endpoint(endpoint).to_string())
        };
        let ollama = Ok("http://localhost:11434/api/chat".to_owned());
        for given in ["localhost:11434", "localhost:11434/api/chat", "localhost:11434/v1/"] {
            assert_eq!(url(given, "", "api/chat"), ollama, "{given}");
        }
        let gemini = Ok("https://h.example/v1beta/models/m:stream?alt=sse".to_owned());
        for given in ["https://h.example", "https://h.example/v1beta/models/x:stream"] {
            assert_eq!(url(given, "/v1beta", "models/m:stream?alt=sse"), gemini, "{given}");
        }
        let azure = "https://h.example/openai/deployments/d?api-version=1";
        let whole = "https://h.example/openai/deployments/d/chat/completions?api-version=1";
        assert_eq!(url(azure, "/openai/v1", "chat/completions"), Ok(whole.to_owned()));
    }

    #[test]
    fn a_path_and_a_query_are_kept() {
        let cases = [
            ("https://h.example/api/v1", "https://h.example/api/v1/chat/completions"),
            (
                "https://h.example/v1beta/openai/",
                "https://h.example/v1beta/openai/chat/completions",
            ),
            ("https://h.example/v1?k=1", "https://h.example/v1/chat/completions?k=1"),
            ("h.example", "https://h.example/v1/chat/completions"),
            ("[::1]:80/v1", "http://[::1]/v1/chat/completions"),
        ];
        for (given, expected) in cases {
            assert_eq!(chat(given), expected, "{given}");
        }
    }

    #[test]
    fn an_invalid_http_address_is_reported() {
        for given in ["", "ftp://x/v1", "http://", "file:///etc/passwd", "a b"] {
            assert!(chat(given).contains("is not a model server's address"), "{given}");
        }
    }

    #[test]
    fn a_password_in_the_address_is_never_shown() {
        let address = Address::parse("https://me:secret@h.example/v1?token=secret", "/v1");
        assert_eq!(address.map(|a| a.display()), Ok("https://h.example/v1".into()));
        assert!(!chat("ftp://me:secret@h.example").contains("secret"));
    }

    #[test]
    fn this_machine_is_recognised_by_name_and_by_address() {
        let local = |given| Address::parse(given, "/v1").is_ok_and(|address| address.is_loopback());
        assert!(local("http://127.0.0.1:1") && local("http://[::1]:1") && local("localhost"));
        assert!(!local("http://10.0.0.1") && !local("https://localhost.example"));
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (given, seen) in [
            ("http://me:pw@host:1/v1", "http://host:1/v1"),
            ("https://tok@host/v1?key=x", "https://host/v1"),
            ("me:p/w@host/v1", "host/v1"),
            ("http://me:p@ss@host", "http://host"),
            ("http://localhost:8080/v1", "http://localhost:8080/v1"),
        ] {
            assert_eq!(display_address(given), seen);
        }
    }

    #[test]
    fn a_key_belongs_to_scheme_host_and_port() {
        let origin = |given| server_origin(given).unwrap();
        assert_eq!(origin("https://API.example.com/v1?x=1"), "https://api.example.com");
        assert_eq!(origin("https://u:p@api.example.com:443/other"), "https://api.example.com");
        assert_ne!(origin("http://api.example.com"), origin("https://api.example.com"));
        assert_ne!(origin("http://localhost:1/v1"), origin("http://localhost:2/v1"));
        assert_eq!(server_origin("nonsense with spaces"), None);
    }

    #[test]
    fn a_key_is_exposed_to_another_machine_without_encryption_only() {
        let host = |given, key| exposed_host(given, key);
        assert_eq!(host("http://192.0.2.2/v1", true).as_deref(), Some("192.0.2.2"));
        assert_eq!(host("http://u:p@box/v1", false).as_deref(), Some("box"));
        for (given, key) in [
            ("http://192.0.2.2/v1", false),
            ("https://192.0.2.2/v1", true),
            ("http://127.0.0.1:1/v1", true),
            ("http://localhost/v1", true),
            ("nonsense", true),
        ] {
            assert_eq!(host(given, key), None, "{given}");
        }
    }
}
