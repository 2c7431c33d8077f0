//! Reads addresses of the web, and names their hosts.

use url::{Host, Url};

use avocet_core::i18n::{LocalizedText, web as phrases};
use avocet_core::text::cut;

/// The longest address that a sentence quotes.
pub const MAX_SHOWN: usize = 120;

/// The host as rules and questions name it: with its port if that is not the usual one.
pub fn host_label(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// An address as a model writes it, by `https` if it says nothing.
pub fn parse_address(text: &str) -> Result<Url, LocalizedText> {
    let text = text.trim();
    let wrong = || phrases::ADDRESS_WRONG.with("address", cut(text, MAX_SHOWN));
    let written = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let mut url = Url::parse(&written).map_err(|_| wrong())?;
    check_scheme(&url)?;
    url.set_fragment(None);
    if url.host_str().is_none_or(str::is_empty) { Err(wrong()) } else { Ok(url) }
}

pub fn check_scheme(url: &Url) -> Result<(), LocalizedText> {
    match url.scheme() {
        "https" | "http" => Ok(()),
        scheme => Err(phrases::SCHEME_WRONG.with("scheme", cut(scheme, MAX_SHOWN))),
    }
}

/// The same without a user and a password, which are never sent.
pub fn without_user(mut url: Url) -> Url {
    // Both fail only for addresses without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// The bytes of a host that is written as an address, or is this machine by its name.
pub fn literal_octets(url: &Url) -> Option<Vec<u8>> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.octets().to_vec()),
        Host::Ipv6(address) => Some(address.octets().to_vec()),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            (name == "localhost" || name.ends_with(".localhost")).then(|| vec![127, 0, 0, 1])
        }
    }
}

/// Whether nothing sent there leaves this machine.
pub fn is_this_machine(url: &Url) -> bool {
    let loopback = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    literal_octets(url).is_some_and(|octets| octets.first() == Some(&127) || octets == loopback)
}
