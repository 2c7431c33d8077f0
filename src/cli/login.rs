//! Decides what `avocet login` means: which provider is named, what was typed for a model. Pure.

use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, common, keys as phrases};
use avocet_core::protocol::{HOSTED, Hosted, Provider};
use avocet_model::{display_address, server_origin};

/// A server to log in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginTarget {
    /// As it is shown.
    pub name: String,
    /// The name of its profile.
    pub profile: String,
    pub base_url: String,
    /// The variable in which other programs keep its key.
    pub variable: Option<&'static str>,
    /// The server that the key belongs to.
    pub server: String,
}

/// The provider of this name, or the server at this address.
pub fn target(name: &str) -> Result<LoginTarget, LocalizedText> {
    let mut shared = HOSTED.iter().filter(|hosted| !hosted.base_url.is_empty());
    if let Some(hosted) = shared.find(|hosted| hosted.is_named(name)) {
        return Ok(LoginTarget {
            name: hosted.name.to_owned(),
            profile: hosted.id.to_owned(),
            base_url: hosted.base_url.to_owned(),
            variable: Some(hosted.key_env),
            server: server_origin(hosted.base_url).unwrap_or_default(),
        });
    }
    let is_address = name.contains("://") || name.contains('/') || name.contains(':');
    match server_origin(name).filter(|_| is_address) {
        Some(server) => Ok(LoginTarget {
            name: display_address(name),
            profile: profile_name(&server),
            base_url: name.trim().to_owned(),
            variable: HOSTED
                .iter()
                .find(|hosted| {
                    let is_bedrock = |url| Provider::at(url) == Provider::Bedrock;
                    server_origin(hosted.base_url).as_ref() == Some(&server)
                        || is_bedrock(hosted.base_url) && is_bedrock(name)
                })
                .map(|hosted| hosted.key_env),
            server,
        }),
        None => Err(unknown(name)),
    }
}

impl LoginTarget {
    /// Bedrock has an address for each region.
    #[must_use]
    pub fn in_region(self, bedrock_url: impl FnOnce() -> String) -> LoginTarget {
        let is_named = self.profile == "bedrock";
        // Another program that answers for Bedrock is not a place for the key.
        let region =
            is_named.then(bedrock_url).filter(|url| Provider::at(url) == Provider::Bedrock);
        match region.and_then(|url| Some((server_origin(&url)?, url))) {
            Some((server, base_url)) => LoginTarget { base_url, server, ..self },
            None => self,
        }
    }
}

/// The providers that have one address for all.
pub fn providers() -> Vec<&'static Hosted<'static>> {
    let shared = HOSTED.iter().filter(|hosted| !hosted.base_url.is_empty());
    let mut known: Vec<&Hosted<'static>> = shared.collect();
    known.dedup_by_key(|hosted| hosted.id);
    known
}

/// Their names as they are typed.
pub fn provider_ids() -> Vec<&'static str> {
    providers().iter().map(|hosted| hosted.id).collect()
}

fn unknown(name: &str) -> LocalizedText {
    let known = provider_ids();
    let wanted = plain(name);
    match suggest::nearest(&wanted, known.iter().copied()).first() {
        Some(near) => phrases::NO_PROVIDER_NEAR.with("name", name).with("near", *near),
        None => phrases::NO_PROVIDER.with("name", name).with("known", known.join(", ")),
    }
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['.', ' '], "")
}

/// `https://models.example.com:8443` is `models-example-com-8443`.
fn profile_name(server: &str) -> String {
    let host = server.split_once("://").map_or(server, |(_, host)| host);
    let letter = |c: char| if c.is_alphanumeric() { c } else { '-' };
    host.trim_matches(['[', ']']).chars().map(letter).take(64).collect()
}

/// A key as it was typed or piped; `None` if it cannot be one.
pub fn read_key(text: &str) -> Option<&str> {
    let key = text.trim();
    let whole = !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
    whole.then_some(key)
}

/// The meaning of a line typed for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelAnswer {
    Chosen(String),
    /// Several models fit.
    Several(Vec<String>),
    None,
}

/// Reads a number of the list, a name, or a part of one; an empty line takes the `first`.
pub fn read_model(line: &str, shown: &[String], models: &[String], first: &str) -> ModelAnswer {
    let line = line.trim();
    if line.is_empty() {
        return ModelAnswer::Chosen(first.to_owned());
    }
    if let Some(name) = models.iter().find(|name| name.as_str() == line) {
        return ModelAnswer::Chosen(name.clone());
    }
    let number = line.parse::<usize>().ok().and_then(|number| shown.get(number.checked_sub(1)?));
    if let Some(name) = number {
        return ModelAnswer::Chosen(name.clone());
    }
    let parts: Vec<String> = line.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let fits = |name: &&String| {
        let name = name.to_lowercase();
        parts.iter().all(|part| name.contains(part))
    };
    let fitting: Vec<String> = models.iter().filter(fits).cloned().collect();
    match fitting.as_slice() {
        [one] => ModelAnswer::Chosen(one.clone()),
        [_, ..] => ModelAnswer::Several(fitting),
        [] => match suggest::nearest(line, models.iter().map(String::as_str)).as_slice() {
            [] => ModelAnswer::None,
            near => ModelAnswer::Several(near.iter().map(|name| (*name).to_owned()).collect()),
        },
    }
}

/// The sentence for a model that a server does not have.
pub fn unknown_model(model: &str, models: &[String], url: &str) -> Option<LocalizedText> {
    let unknown = !models.is_empty() && !models.iter().any(|name| name == model);
    unknown.then(|| phrases::MODEL_UNKNOWN.with("url", display_address(url)).with("model", model))
}

/// The names that may have been meant.
pub fn near_models(model: &str, models: &[String]) -> Option<LocalizedText> {
    let near = suggest::nearest(model, models.iter().map(String::as_str));
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    (!near.is_empty()).then(|| common::NEAR.with("near", near.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    #[test]
    fn a_provider_is_found_by_name_or_address() {
        let anthropic = target("Anthropic").unwrap();
        assert_eq!(anthropic.variable, Some("ANTHROPIC_API_KEY"));
        assert_eq!(anthropic.server, "https://api.anthropic.com");
        for (name, profile) in [
            ("z.ai", "zai"),
            ("moonshot", "moonshot"),
            ("Kimi（月之暗面）", "moonshot"),
            ("月之暗面", "moonshot"),
            ("kimi", "moonshot"),
            ("智谱", "bigmodel"),
            ("Alibaba Cloud DashScope", "dashscope"),
            ("阿里云百炼", "dashscope"),
        ] {
            assert_eq!(target(name).unwrap().profile, profile, "{name}");
        }
        let ids = provider_ids();
        assert!(ids.iter().all(|id| target(id).is_ok_and(|it| it.profile == *id)), "{ids:?}");
        let own = target("https://models.example.com:8443/v1").unwrap();
        assert_eq!(own.profile, "models-example-com-8443");
        assert_eq!((own.server.as_str(), own.variable), ("https://models.example.com:8443", None));
        let said = target("antropic").unwrap_err().text(Lang::En);
        assert!(said.contains("`anthropic`"), "{said}");
        assert!(target("nothing-like-it").is_err());
    }

    #[test]
    fn bedrock_is_reached_in_the_region_of_the_account_or_of_the_address() {
        let europe = "https://bedrock-runtime.eu-west-1.amazonaws.com";
        let named = target("bedrock").unwrap().in_region(|| europe.to_owned());
        assert_eq!((named.base_url.as_str(), named.server.as_str()), (europe, europe));
        let near = target("bedrock").unwrap();
        assert_eq!(near.clone().in_region(|| "http://127.0.0.1:9".to_owned()), near);
        let address = target(europe).unwrap().in_region(|| panic!("it names its region"));
        assert_eq!((address.base_url.as_str(), address.variable), (europe, named.variable));
        let other = target("anthropic").unwrap();
        assert_eq!(other.clone().in_region(|| panic!("it has one address")), other);
    }

    #[test]
    fn a_key_is_one_word() {
        assert_eq!(read_key(" sk-1\n"), Some("sk-1"));
        for odd in ["", " \n", "sk 1", "sk\n1", "schlüssel"] {
            assert_eq!(read_key(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_model_is_chosen_by_number_name_or_part() {
        let models: Vec<String> =
            ["gpt-6-sol", "gpt-6-luna", "o3"].iter().map(|name| (*name).to_owned()).collect();
        let read = |line| read_model(line, &models, &models, "gpt-6-luna");
        let chosen = |name: &str| ModelAnswer::Chosen(name.into());
        assert_eq!(read(""), chosen("gpt-6-luna"));
        assert_eq!(read("1"), chosen("gpt-6-sol"));
        assert_eq!(read("o3"), chosen("o3"));
        assert_eq!(read("SOL"), chosen("gpt-6-sol"));
        assert_eq!(read("gpt 6"), ModelAnswer::Several(models[..2].to_vec()));
        assert_eq!(read("gtp-6-sol"), ModelAnswer::Several(vec!["gpt-6-sol".into()]));
        assert_eq!(read("9"), ModelAnswer::None);
    }

    #[test]
    fn a_wrong_model_is_told_with_the_near_ones() {
        let models = vec!["qwen3-8b".to_owned(), "llama-3.1".to_owned()];
        assert_eq!(unknown_model("qwen3-8b", &models, "http://x/v1"), None);
        assert_eq!(unknown_model("any", &[], "http://x/v1"), None);
        assert!(unknown_model("qwen3-8", &models, "http://x/v1").is_some());
        let near = near_models("qwen3-8", &models).unwrap().text(Lang::En);
        assert!(near.contains("`qwen3-8b`") && !near.contains("llama"), "{near}");
    }
}
