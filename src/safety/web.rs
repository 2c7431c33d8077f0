//! Decides what a fetch from the web may reach: which addresses of machines, and where redirects may
//! lead.

use url::Url;

use avocet_core::i18n::{LocalizedText, Phrase, web as phrases};
use avocet_core::text::cut;

mod address;
mod search;

pub use address::host_label;
use address::{MAX_SHOWN, check_scheme, literal_octets};
pub(super) use address::{parse_address, without_user};
pub use search::{SEARCH, SearchService, SearchSettings};

/// The tool, which begins the rules for its hosts: `web.fetch HOST`.
pub const FETCH: &str = "web.fetch";

/// The longest address that the model may ask for after a redirect.
const MAX_ADDRESS: usize = 2_000;

/// What the user's settings say of the web.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSettings {
    pub is_off: bool,
    /// Hosts that are read although they are on this machine or a private network.
    pub private_hosts: Vec<String>,
    pub search: Option<SearchSettings>,
}

impl WebSettings {
    /// Whether a search service is named, and everything that it needs is there.
    pub fn can_search(&self) -> bool {
        let can = |search: &SearchSettings| search.is_by_provider() || search.endpoint().is_ok();
        self.search.as_ref().is_some_and(can)
    }

    /// The server of the model, if it searches the web and is to do that.
    pub fn set_provider(&mut self, host: Option<String>) {
        if let Some(search) = self.search.as_mut().filter(|search| search.is_by_provider()) {
            search.address = host;
        }
    }
}

/// A page to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchTask {
    pub url: Url,
    /// The first byte that is given of its text.
    pub from: usize,
    /// Hosts that may have private addresses.
    pub private_hosts: Vec<String>,
    /// Other hosts that redirects may lead to, as rules of the user name them.
    pub allowed_hosts: Vec<String>,
}

/// A web search to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSearchTask {
    pub query: String,
    pub settings: SearchSettings,
    /// Where it is sent to, and what may be reached there.
    pub page: FetchTask,
}

/// Networks of IPv4 that are no part of the public internet, and the servers of clouds that tell
/// machines their credentials; with the bits that count.
const CLOSED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([168, 63, 129, 16], 32),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 3),
];

/// The first 32 bits of networks inside 2000::/3 that are not public, or hold an address of IPv4.
const CLOSED_V6: &[(u32, u32)] =
    &[(0x2001_0000, 23), (0x2001_0db8, 32), (0x2002_0000, 16), (0x3fff_0000, 20)];

/// Whether an address of 4 or 16 bytes is one of the public internet.
pub fn is_public(octets: &[u8]) -> bool {
    match octets {
        [a, b, c, d] => is_public_v4([*a, *b, *c, *d]),
        // Addresses of IPv4 as those of IPv6: mapped, and by the translation of providers.
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d]
        | [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => {
            is_public_v4([*a, *b, *c, *d])
        }
        [a, b, c, d, ..] if octets.len() == 16 => {
            let start = u32::from_be_bytes([*a, *b, *c, *d]);
            let closed = |(network, bits): &(u32, u32)| same_network(start, *network, *bits);
            same_network(start, 0x2000_0000, 3) && !CLOSED_V6.iter().any(closed)
        }
        _ => false,
    }
}

fn is_public_v4(octets: [u8; 4]) -> bool {
    let address = u32::from_be_bytes(octets);
    let closed = |(network, bits): &([u8; 4], u32)| {
        same_network(address, u32::from_be_bytes(*network), *bits)
    };
    !CLOSED_V4.iter().any(closed)
}

fn same_network(address: u32, network: u32, bits: u32) -> bool {
    (address ^ network).checked_shr(32 - bits) == Some(0)
}

impl FetchTask {
    /// Whether the host, which has this address, may be read.
    pub fn may_reach(&self, url: &Url, octets: &[u8]) -> bool {
        let host = url.host_str().unwrap_or_default();
        let label = host_label(url);
        is_public(octets) || self.private_hosts.iter().any(|own| own == host || *own == label)
    }

    /// Refuses a host that is private by what is written.
    ///
    /// # Errors
    /// A sentence that names the host.
    pub fn check_host(&self, url: &Url) -> Result<(), LocalizedText> {
        match literal_octets(url) {
            Some(octets) if !self.may_reach(url, &octets) => Err(private_error(url)),
            _ => Ok(()),
        }
    }

    /// The address that a redirect leads to.
    ///
    /// # Errors
    /// A sentence for the model: why it is not followed, and what it may ask for.
    pub fn follow(&self, from: &Url, location: &str) -> Result<Url, LocalizedText> {
        let wrong = |_| phrases::ADDRESS_WRONG.with("address", cut(location, MAX_SHOWN));
        let mut url = without_user(from.join(location).map_err(wrong)?);
        url.set_fragment(None);
        check_scheme(&url)?;
        let host = host_label(&url);
        let say = |phrase: Phrase| {
            let say = phrase.with("from", host_label(from)).with("host", host.as_str());
            say.with("address", cut(url.as_str(), MAX_ADDRESS))
        };
        let is_same = host == host_label(&self.url);
        if url.scheme() == "http" && (from.scheme() == "https" || !is_same) {
            return Err(say(phrases::DOWNGRADES));
        }
        if !is_same && !self.allowed_hosts.contains(&host) {
            return Err(say(phrases::OTHER_HOST));
        }
        self.check_host(&url)?;
        Ok(url)
    }
}

/// The sentence about a host of this machine or a private network.
pub fn private_error(url: &Url) -> LocalizedText {
    phrases::PRIVATE.with("host", host_label(url))
}

#[cfg(test)]
mod tests;
