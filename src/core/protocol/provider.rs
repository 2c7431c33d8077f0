//! Who answers: the providers by name, and how an address shows which one it is.

use serde::{Deserialize, Serialize};

use crate::i18n::Lang;

/// The kind of the model; for a server, also the wire format it speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Any server that speaks OpenAI's chat completions.
    #[default]
    OpenAi,
    /// OpenAI's Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    Anthropic,
    Gemini,
    /// Ollama's own protocol.
    Ollama,
    Azure,
    OpenRouter,
    /// Models of AWS.
    Bedrock,
    /// Models of Google's cloud.
    Vertex,
    /// The built-in offline guide, which is not a language model.
    Guide,
    /// Replies from a file.
    Scripted,
}

/// How an address shows its provider: by its host, which may have parts in front, or by the end of
/// its path.
struct Sign {
    provider: Provider,
    hosts: &'static [&'static str],
    ends: &'static [&'static str],
}

/// Ends are looked at first: a known host may speak several formats.
#[rustfmt::skip]
const SIGNS: &[Sign] = &[
    Sign { provider: Provider::OpenAiResponses, hosts: &["api.openai.com"],                                        ends: &["/responses"] },
    Sign { provider: Provider::Anthropic,       hosts: &["api.anthropic.com"],                                     ends: &["/messages"] },
    Sign { provider: Provider::Gemini,          hosts: &["generativelanguage.googleapis.com"],                     ends: &["/v1beta", "/v1beta/models"] },
    Sign { provider: Provider::Ollama,          hosts: &["localhost:11434", "127.0.0.1:11434"],                    ends: &["/api/chat"] },
    Sign { provider: Provider::Azure,           hosts: &["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"], ends: &[] },
    Sign { provider: Provider::OpenRouter,      hosts: &["openrouter.ai"],                                         ends: &[] },
    Sign { provider: Provider::Bedrock,         hosts: &["amazonaws.com"],                                         ends: &[] },
    Sign { provider: Provider::Vertex,          hosts: &["aiplatform.googleapis.com", "-aiplatform.googleapis.com"],      ends: &[] },
    Sign { provider: Provider::OpenAi,          hosts: &[],                                                        ends: &["/chat/completions", "/openai", "/openai/v1"] },
];

/// Hosts whose format is chosen by the path when there is one: `/v1` there means chat completions.
const BY_PATH: &[&str] = &["localhost:11434", "127.0.0.1:11434"];

impl Provider {
    /// The name in the settings file.
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::OpenAiResponses => "openai-responses",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Ollama => "ollama",
            Provider::Azure => "azure",
            Provider::OpenRouter => "openrouter",
            Provider::Bedrock => "bedrock",
            Provider::Vertex => "vertex",
            Provider::Guide => "guide",
            Provider::Scripted => "scripted",
        }
    }

    /// The provider of a server with this name in the settings file.
    pub fn from_name(name: &str) -> Option<Provider> {
        SIGNS.iter().map(|sign| sign.provider).find(|provider| provider.name() == name)
    }

    /// The provider at an address, by the end of its path, else by its host, else any compatible
    /// server.
    pub fn at(base_url: &str) -> Provider {
        let (host, path) = host_and_path(base_url);
        let ends = |sign: &&Sign| sign.ends.iter().any(|end| path.ends_with(end));
        let is_host = |known: &&'static str| {
            let is_whole = |rest: &str| rest.is_empty() || rest.ends_with('.');
            host.strip_suffix(*known).is_some_and(|rest| is_whole(rest) || known.starts_with('-'))
        };
        let by_host = |sign: &&Sign| sign.hosts.iter().any(is_host);
        let plain = path.len() > 1 && BY_PATH.iter().any(is_host);
        let by_host = || SIGNS.iter().find(by_host).filter(|_| !plain);
        let sign = SIGNS.iter().find(ends).or_else(by_host);
        match sign.map(|sign| sign.provider) {
            // The path means chat completions. Azure and OpenRouter offer them too, with their own
            // key and names: at such a host, the provider is the one of the host.
            Some(Provider::OpenAi) => {
                let own = by_host().map(|sign| sign.provider);
                own.filter(|own| own.format() == Provider::OpenAi).unwrap_or_default()
            }
            provider => provider.unwrap_or_default(),
        }
    }

    /// Whether an answer of it may be in this wire format.
    pub fn speaks(self, format: Provider) -> bool {
        let hosted = match self {
            Provider::Bedrock => &[Provider::Anthropic][..],
            Provider::Vertex => &[Provider::Anthropic, Provider::Gemini],
            _ => &[],
        };
        self.format() == format || hosted.contains(&format)
    }

    /// Its public address, if it has one.
    pub fn home(self) -> Option<&'static str> {
        match self {
            Provider::Ollama => Some("http://127.0.0.1:11434"),
            Provider::OpenAi => None,
            _ => HOSTED.iter().map(|row| row.base_url).find(|url| Provider::at(url) == self),
        }
    }

    /// True if it is a server, and not built in.
    pub fn is_server(self) -> bool {
        !matches!(self, Provider::Guide | Provider::Scripted)
    }

    /// Whose wire format it speaks.
    #[must_use]
    pub fn format(self) -> Provider {
        match self {
            Provider::Azure | Provider::OpenRouter => Provider::OpenAi,
            own => own,
        }
    }
}

/// The host in lower case, with its port, and the path with a `/` at its start and none at its end.
fn host_and_path(address: &str) -> (String, String) {
    let address = address.trim();
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let address = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_lowercase();
    (host, format!("/{path}"))
}

/// A service whose key may be in the environment.
#[derive(Clone, Copy, Debug)]
pub struct Hosted<'a> {
    /// As it is typed.
    pub id: &'a str,
    /// The name that users know, in English and in Chinese.
    pub name: &'a str,
    pub zh: &'a str,
    pub key_env: &'a str,
    pub base_url: &'a str,
    /// The variable that holds the address, where everyone has another.
    pub url_env: &'a str,
    /// The page where a key is to be had.
    pub keys_at: &'a str,
}

impl<'a> Hosted<'a> {
    pub fn label(&self, lang: Lang) -> &'a str {
        match lang {
            Lang::En => self.name,
            Lang::Zh => self.zh,
        }
    }

    /// Whether a name means it: its id, its name in either language or the first word of that, or a
    /// part of the Chinese one.
    pub fn is_named(&self, name: &str) -> bool {
        let plain = |text: &str| {
            let kept = text.chars().filter(|c| c.is_alphanumeric());
            kept.flat_map(char::to_lowercase).collect::<String>()
        };
        let name = plain(name);
        name == self.id
            || [self.name, self.zh].iter().any(|known| {
                let first = known.split([' ', '（']).next().unwrap_or_default();
                plain(known) == name || plain(first) == name
            })
            || (!name.is_ascii() && plain(self.zh).contains(&name))
    }
}

#[rustfmt::skip]
pub const HOSTED: &[Hosted<'static>] = &[
    Hosted { id: "openai",       name: "OpenAI",                    zh: "OpenAI",            key_env: "OPENAI_API_KEY",       base_url: "https://api.openai.com/v1",                                         url_env: "",                      keys_at: "https://platform.openai.com/api-keys" },
    Hosted { id: "anthropic",    name: "Anthropic",                 zh: "Anthropic",         key_env: "ANTHROPIC_API_KEY",    base_url: "https://api.anthropic.com/v1",                                      url_env: "",                      keys_at: "https://console.anthropic.com/settings/keys" },
    Hosted { id: "gemini",       name: "Gemini",                    zh: "Gemini",            key_env: "GEMINI_API_KEY",       base_url: "https://generativelanguage.googleapis.com/v1beta",                  url_env: "",                      keys_at: "https://aistudio.google.com/apikey" },
    Hosted { id: "gemini",       name: "Gemini",                    zh: "Gemini",            key_env: "GOOGLE_API_KEY",       base_url: "https://generativelanguage.googleapis.com/v1beta",                  url_env: "",                      keys_at: "https://aistudio.google.com/apikey" },
    Hosted { id: "openrouter",   name: "OpenRouter",                zh: "OpenRouter",        key_env: "OPENROUTER_API_KEY",   base_url: "https://openrouter.ai/api/v1",                                      url_env: "",                      keys_at: "https://openrouter.ai/settings/keys" },
    Hosted { id: "bedrock",      name: "AWS Bedrock",               zh: "AWS Bedrock",       key_env: "AWS_BEARER_TOKEN_BEDROCK", base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",               url_env: "",                      keys_at: "https://console.aws.amazon.com/bedrock/home#/api-keys" },
    Hosted { id: "azure",        name: "Azure",                     zh: "Azure",             key_env: "AZURE_OPENAI_API_KEY", base_url: "",                                                                  url_env: "AZURE_OPENAI_ENDPOINT", keys_at: "https://ai.azure.com" },
    Hosted { id: "deepseek",     name: "DeepSeek",                  zh: "DeepSeek",          key_env: "DEEPSEEK_API_KEY",     base_url: "https://api.deepseek.com/v1",                                       url_env: "",                      keys_at: "https://platform.deepseek.com/api_keys" },
    Hosted { id: "groq",         name: "Groq",                      zh: "Groq",              key_env: "GROQ_API_KEY",         base_url: "https://api.groq.com/openai/v1",                                    url_env: "",                      keys_at: "https://console.groq.com/keys" },
    Hosted { id: "mistral",      name: "Mistral",                   zh: "Mistral",           key_env: "MISTRAL_API_KEY",      base_url: "https://api.mistral.ai/v1",                                         url_env: "",                      keys_at: "https://console.mistral.ai/api-keys" },
    Hosted { id: "xai",          name: "xAI",                       zh: "xAI",               key_env: "XAI_API_KEY",          base_url: "https://api.x.ai/v1",                                               url_env: "",                      keys_at: "https://console.x.ai" },
    Hosted { id: "zai",          name: "Z.ai",                      zh: "Z.ai",              key_env: "ZAI_API_KEY",          base_url: "https://api.z.ai/api/paas/v4",                                      url_env: "",                      keys_at: "https://z.ai/manage-apikey/apikey-list" },
    Hosted { id: "moonshot",     name: "Kimi (Moonshot, China)",    zh: "Kimi（月之暗面）",        key_env: "MOONSHOT_API_KEY",     base_url: "https://api.moonshot.cn/v1",                                        url_env: "",                      keys_at: "https://platform.moonshot.cn/console/api-keys" },
    Hosted { id: "moonshotai",   name: "Kimi (Moonshot)",           zh: "Kimi（月之暗面，国际站）",    key_env: "MOONSHOT_API_KEY",     base_url: "https://api.moonshot.ai/v1",                                        url_env: "",                      keys_at: "https://platform.moonshot.ai/console/api-keys" },
    Hosted { id: "dashscope",    name: "Alibaba Cloud DashScope",   zh: "阿里云百炼",             key_env: "DASHSCOPE_API_KEY",    base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",                 url_env: "",                      keys_at: "https://bailian.console.aliyun.com" },
    Hosted { id: "bigmodel",     name: "Zhipu BigModel",            zh: "智谱 BigModel",       key_env: "ZHIPUAI_API_KEY",      base_url: "https://open.bigmodel.cn/api/paas/v4",                              url_env: "",                      keys_at: "https://open.bigmodel.cn/usercenter/apikeys" },
    Hosted { id: "ark",          name: "Volcengine Ark",            zh: "火山方舟",              key_env: "ARK_API_KEY",          base_url: "https://ark.cn-beijing.volces.com/api/v3",                          url_env: "",                      keys_at: "https://console.volcengine.com/ark" },
    Hosted { id: "siliconflow",  name: "SiliconFlow",               zh: "硅基流动",              key_env: "SILICONFLOW_API_KEY",  base_url: "https://api.siliconflow.cn/v1",                                     url_env: "",                      keys_at: "https://cloud.siliconflow.cn/account/ak" },
    Hosted { id: "minimax",      name: "MiniMax",                   zh: "MiniMax",           key_env: "MINIMAX_API_KEY",      base_url: "https://api.minimaxi.com/v1",                                       url_env: "",                      keys_at: "https://platform.minimaxi.com/user-center/basic-information/interface-key" },
    Hosted { id: "qianfan",      name: "Baidu Qianfan",             zh: "百度千帆",              key_env: "QIANFAN_API_KEY",      base_url: "https://qianfan.baidubce.com/v2",                                   url_env: "",                      keys_at: "https://console.bce.baidu.com/iam/#/iam/apikey/list" },
    Hosted { id: "together",     name: "Together",                  zh: "Together",          key_env: "TOGETHER_API_KEY",     base_url: "https://api.together.xyz/v1",                                       url_env: "",                      keys_at: "https://api.together.ai/settings/api-keys" },
];

/// The variables that usually hold the key of the service at this address. Only an encrypted one is
/// its own.
pub fn key_variables(base_url: &str) -> Vec<&'static str> {
    if base_url.trim().get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://")) {
        return Vec::new();
    }
    let (host, _) = host_and_path(base_url);
    let azure =
        |row: &&Hosted<'_>| row.url_env.is_empty() == (Provider::at(base_url) != Provider::Azure);
    let is_at =
        |row: &&Hosted<'_>| row.base_url.is_empty() || host_and_path(row.base_url).0 == host;
    HOSTED.iter().filter(azure).filter(is_at).map(|row| row.key_env).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_its_provider() {
        let cases = [
            ("http://localhost:8080/v1", Provider::OpenAi),
            ("https://api.openai.com/v1", Provider::OpenAiResponses),
            ("https://api.openai.com/v1/chat/completions", Provider::OpenAi),
            ("http://localhost:8080/v1/responses/", Provider::OpenAiResponses),
            ("https://api.anthropic.com", Provider::Anthropic),
            ("http://box/v1/messages", Provider::Anthropic),
            ("https://generativelanguage.googleapis.com/v1beta", Provider::Gemini),
            ("https://generativelanguage.googleapis.com/v1beta/openai/", Provider::OpenAi),
            ("http://localhost:11434", Provider::Ollama),
            ("localhost:11434/v1", Provider::OpenAi),
            ("http://box:11434/api/chat", Provider::Ollama),
            ("https://me.openai.azure.com/openai/v1/", Provider::Azure),
            ("https://me.openai.azure.com/openai/deployments/d?api-version=1", Provider::Azure),
            ("https://openrouter.ai/api/v1", Provider::OpenRouter),
            ("https://openrouter.ai/api/v1/chat/completions", Provider::OpenRouter),
            ("https://notopenrouter.ai/api/v1", Provider::OpenAi),
            ("https://openrouter.ai.example/v1", Provider::OpenAi),
            ("https://bedrock-runtime.eu-west-1.amazonaws.com", Provider::Bedrock),
            ("https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", Provider::OpenAi),
            ("https://us-east5-aiplatform.googleapis.com/v1/projects/p", Provider::Vertex),
            ("", Provider::OpenAi),
        ];
        for (address, provider) in cases {
            assert_eq!(Provider::at(address), provider, "{address}");
        }
    }

    #[test]
    fn a_known_host_has_a_variable_of_its_own() {
        let cases: [(&str, &[&str]); 7] = [
            ("https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"]),
            ("generativelanguage.googleapis.com/v1beta", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
            ("https://me.openai.azure.com/openai/v1", &["AZURE_OPENAI_API_KEY"]),
            ("https://API.moonshot.ai", &["MOONSHOT_API_KEY"]),
            ("http://api.anthropic.com/v1", &[]),
            ("https://api.anthropic.com.example/v1", &[]),
            ("https://api.anthropic.com@box.example/v1", &[]),
        ];
        for (address, variables) in cases {
            assert_eq!(key_variables(address), variables, "{address}");
        }
    }

    #[test]
    fn a_provider_is_stored_under_the_name_of_the_settings() {
        for sign in SIGNS {
            let stored = serde_json::to_value(sign.provider).unwrap_or_default();
            assert_eq!(stored, sign.provider.name());
            assert_eq!(Provider::from_name(sign.provider.name()), Some(sign.provider));
        }
        assert_eq!(Provider::from_name("guide"), None);
    }
}
