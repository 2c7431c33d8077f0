//! Names the provider at an address, as the table of models does.

use std::net::IpAddr;
use std::sync::LazyLock;

use super::address::Address;
use avocet_core::protocol::HOSTED;

/// Other hosts of a provider.
const ALSO: &[(&str, &str)] = &[
    ("api.moonshot.ai", "moonshot"),
    ("open.bigmodel.cn", "zai"),
    ("dashscope-intl.aliyuncs.com", "dashscope"),
];

/// The hosts of the hosted providers.
static HOSTS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let hosted = HOSTED.iter().filter_map(|hosted| {
        let address = Address::parse(hosted.base_url, "").ok()?;
        Some((address.host(), hosted.id.to_owned()))
    });
    let also = ALSO.iter().map(|(host, name)| ((*host).to_owned(), (*name).to_owned()));
    also.chain(hosted).collect()
});

/// `openai` for `https://api.openai.com/v1`, `local` for a server of this machine or network, and
/// nothing for any other.
pub fn provider_name(base_url: &str) -> String {
    let Ok(address) = Address::parse(base_url, "") else { return String::new() };
    let host = address.host();
    match HOSTS.iter().find(|(known, _)| *known == host) {
        Some((_, name)) => name.clone(),
        None if address.is_loopback() || is_private(&host) => "local".to_owned(),
        None => String::new(),
    }
}

/// An address of a private network, or a name that only such a network knows.
pub fn is_private(host: &str) -> bool {
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_its_host() {
        for (address, name) in [
            ("https://api.openai.com/v1", "openai"),
            ("https://API.anthropic.com", "anthropic"),
            ("https://generativelanguage.googleapis.com/v1beta", "gemini"),
            ("https://api.z.ai/api/coding/paas/v4", "zai"),
            ("https://api.moonshot.ai/v1", "moonshot"),
            ("http://127.0.0.1:8080/v1", "local"),
            ("http://192.168.1.20:11434", "local"),
            ("http://box:8000/v1", "local"),
            ("https://api.openai.com.example.com/v1", ""),
            ("nonsense with spaces", ""),
        ] {
            assert_eq!(provider_name(address), name, "{address}");
        }
    }
}
