//! The errors of a model: a variant for each different remedy.
//!
//! A server's texts in here are already cleaned and shortened ([`super::error_body`]), and no
//! variant ever holds a key. [`ModelError::retry_advice`] says whether a call is worth another try;
//! [`super::Retry`] retries.

use std::time::Duration;

use avocet_core::i18n::{Localize, LocalizedText, Phrase, model as words, script_run};
use avocet_core::protocol::Provider;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum ModelError {
    /// `base_url` is not an http address.
    Address {
        given: String,
    },
    /// The key could not be fetched, or may not be sent; the sentence says why.
    KeyUnavailable {
        why: LocalizedText,
    },
    /// The key is not valid in a header. `key` names where it came from.
    KeyUnusable {
        key: String,
    },
    KeyWrong {
        url: String,
        key: String,
        said: String,
    },
    KeyMissing {
        url: String,
        key: String,
    },
    Forbidden {
        url: String,
        model: String,
        said: String,
    },
    Unpaid {
        url: String,
        said: String,
    },
    NoModel {
        url: String,
        model: String,
        said: String,
    },
    /// The server's list of models lacks this one.
    UnlistedModel {
        url: String,
        model: String,
        near: Vec<String>,
    },
    NoEndpoint {
        url: String,
        said: String,
    },
    /// The model, or its server, takes no tools.
    NoTools {
        url: String,
        model: String,
        said: String,
    },
    /// The messages are not for a server outside of this machine and its network.
    NotPrivate {
        model: String,
    },
    /// The messages do not fit into the model's context.
    TooLong {
        model: String,
        said: String,
    },
    /// Any other 4xx.
    Rejected {
        url: String,
        status: u16,
        said: String,
    },
    /// 429. `after`: the pause the server asks for.
    Busy {
        url: String,
        after: Option<Duration>,
        said: String,
    },
    /// A server of this machine or network still loads the model.
    Loading {
        url: String,
        said: String,
    },
    /// 408, 409, 425 and 5xx.
    Faulty {
        url: String,
        status: u16,
        after: Option<Duration>,
        said: String,
    },
    Redirected {
        url: String,
        to: String,
    },
    Unreachable {
        url: String,
        why: ConnectError,
    },
    /// The HTTP client cannot be created on this machine.
    Client {
        why: String,
    },
    /// Not a single byte for this long.
    Stalled {
        url: String,
        seconds: u64,
    },
    /// The connection ended before the answer did.
    Broken {
        url: String,
    },
    /// It ended in order, but nothing says that the answer did.
    Unended {
        url: String,
    },
    /// HTML where JSON was expected.
    WebPage {
        url: String,
    },
    /// JSON or bytes that are not a chat completion.
    Foreign {
        url: String,
        said: String,
    },
    /// The answer is written in the format of another provider.
    OtherFormat {
        url: String,
        provider: Provider,
    },
    /// An error inside an answer that began with status 200.
    Reported {
        url: String,
        said: String,
        /// True if the server calls it temporary.
        passing: bool,
        /// The pause the server asks for.
        after: Option<Duration>,
    },
    TooLarge {
        url: String,
        mib: usize,
    },
    ScriptUnreadable {
        file: String,
        why: String,
    },
    ScriptFaulty {
        file: String,
        line: usize,
        why: String,
    },
    /// The scripted replies are used up.
    ScriptOver {
        file: String,
        count: usize,
    },
}

/// Why the connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// Nothing listens on that port.
    Refused,
    /// The proxy that the environment names did not connect to it.
    Proxy { proxy: String },
    /// The host's name cannot be resolved.
    Name,
    /// The connection was not accepted in time.
    Slow,
    /// Its certificate is not trusted.
    Trust,
    /// Its certificate has expired, according to this machine's clock, which says `now`.
    Expired { now: String },
    /// The same, but not yet valid.
    NotYetValid { now: String },
    /// Its certificate is for another name.
    OtherName,
    /// In the system's words.
    Other(String),
}

/// Whether the same call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAdvice {
    Never,
    /// One more time only: it cost a long wait already.
    Once,
    /// With growing pauses, or after the pause the server asked for.
    Soon(Option<Duration>),
    /// Again and again, for as long as this.
    Until(Duration),
}

/// How long a large model may take to load.
const LOADING: Duration = Duration::from_secs(300);

impl ModelError {
    /// True if the answer broke off, and not if it was never begun or is refused.
    pub fn is_drop(&self) -> bool {
        matches!(
            self,
            ModelError::Broken { .. }
                | ModelError::Unended { .. }
                | ModelError::Stalled { .. }
                | ModelError::Reported { passing: true, .. }
        )
    }

    /// True if the key, or what it may do, is refused.
    pub fn is_of_key(&self) -> bool {
        matches!(self, ModelError::KeyWrong { .. } | ModelError::Forbidden { .. })
    }

    /// True if another model may answer the same request: this one, or its server, cannot be had.
    pub fn is_mended_elsewhere(&self) -> bool {
        match self {
            ModelError::KeyUnavailable { .. }
            | ModelError::KeyWrong { .. }
            | ModelError::KeyMissing { .. }
            | ModelError::Forbidden { .. }
            | ModelError::Unpaid { .. }
            | ModelError::NoModel { .. }
            | ModelError::UnlistedModel { .. }
            | ModelError::Busy { .. }
            | ModelError::Loading { .. }
            | ModelError::Faulty { .. }
            | ModelError::Unreachable { .. }
            | ModelError::Stalled { .. }
            | ModelError::Broken { .. }
            | ModelError::Unended { .. }
            | ModelError::Reported { .. }
            | ModelError::NotPrivate { .. }
            | ModelError::ScriptOver { .. } => true,
            ModelError::Address { .. }
            | ModelError::KeyUnusable { .. }
            | ModelError::NoEndpoint { .. }
            | ModelError::NoTools { .. }
            | ModelError::TooLong { .. }
            | ModelError::Rejected { .. }
            | ModelError::Redirected { .. }
            | ModelError::Client { .. }
            | ModelError::WebPage { .. }
            | ModelError::Foreign { .. }
            | ModelError::OtherFormat { .. }
            | ModelError::TooLarge { .. }
            | ModelError::ScriptUnreadable { .. }
            | ModelError::ScriptFaulty { .. } => false,
        }
    }

    pub fn retry_advice(&self) -> RetryAdvice {
        match self {
            ModelError::Busy { after, .. } | ModelError::Faulty { after, .. } => {
                RetryAdvice::Soon(*after)
            }
            ModelError::Broken { .. } | ModelError::Unended { .. } => RetryAdvice::Soon(None),
            ModelError::Reported { passing: true, after, .. } => RetryAdvice::Soon(*after),
            ModelError::Loading { .. } => RetryAdvice::Until(LOADING),
            ModelError::Stalled { .. }
            | ModelError::Unreachable {
                why: ConnectError::Slow | ConnectError::Other(_), ..
            } => RetryAdvice::Once,
            ModelError::Unreachable {
                why:
                    ConnectError::Refused
                    | ConnectError::Proxy { .. }
                    | ConnectError::Name
                    | ConnectError::Trust
                    | ConnectError::Expired { .. }
                    | ConnectError::NotYetValid { .. }
                    | ConnectError::OtherName,
                ..
            }
            | ModelError::Address { .. }
            | ModelError::KeyUnavailable { .. }
            | ModelError::KeyUnusable { .. }
            | ModelError::KeyWrong { .. }
            | ModelError::KeyMissing { .. }
            | ModelError::Forbidden { .. }
            | ModelError::Unpaid { .. }
            | ModelError::NoModel { .. }
            | ModelError::UnlistedModel { .. }
            | ModelError::NoEndpoint { .. }
            | ModelError::NoTools { .. }
            | ModelError::NotPrivate { .. }
            | ModelError::OtherFormat { .. }
            | ModelError::TooLong { .. }
            | ModelError::Rejected { .. }
            | ModelError::Redirected { .. }
            | ModelError::Client { .. }
            | ModelError::WebPage { .. }
            | ModelError::Foreign { .. }
            | ModelError::Reported { passing: false, .. }
            | ModelError::TooLarge { .. }
            | ModelError::ScriptUnreadable { .. }
            | ModelError::ScriptFaulty { .. }
            | ModelError::ScriptOver { .. } => RetryAdvice::Never,
        }
    }
}

fn not_private(model: &str) -> LocalizedText {
    script_run::SEALED_FAR.with("model", model)
}

/// No model is connected, and how to connect one.
pub fn not_connected() -> LocalizedText {
    words::NOT_CONNECTED.with("how", words::HOW_TO_CONNECT)
}

impl Localize for ModelError {
    fn localized(&self) -> LocalizedText {
        match self {
            ModelError::Address { given } => words::ADDRESS.with("given", given.as_str()),
            ModelError::UnlistedModel { url, model, near } => unlisted(url, model, near),
            ModelError::KeyUnavailable { why } => why.clone(),
            ModelError::KeyUnusable { key } => words::KEY_UNUSABLE.with("key", key.as_str()),
            ModelError::KeyWrong { url, key, said } => {
                with_server_text(with_url(words::KEY_WRONG, url).with("key", key.as_str()), said)
            }
            ModelError::KeyMissing { url, key } => with_url(words::KEY_MISSING, url)
                .with("key", key.as_str())
                .with("how", words::HOW_TO_CONNECT),
            ModelError::Forbidden { url, model, said } if model.is_empty() => {
                server_error(words::FORBIDDEN_ALL, url, said)
            }
            ModelError::Forbidden { url, model, said } => {
                of_model(words::FORBIDDEN, url, model, said)
            }
            ModelError::Unpaid { url, said } => server_error(words::UNPAID, url, said),
            ModelError::NoModel { url, model, said } => of_model(words::NO_MODEL, url, model, said),
            ModelError::NoEndpoint { url, said } => server_error(words::NO_ENDPOINT, url, said),
            ModelError::NoTools { url, model, said } => of_model(words::NO_TOOLS, url, model, said),
            ModelError::NotPrivate { model } => not_private(model),
            ModelError::OtherFormat { url, provider } => {
                with_url(words::OTHER_FORMAT, url).with("provider", provider.name())
            }
            ModelError::TooLong { model, said } => {
                with_server_text(words::TOO_LONG.with("model", model.as_str()), said)
            }
            ModelError::Rejected { url, status, said } => {
                with_server_text(with_url(words::REJECTED, url).with("status", *status), said)
            }
            ModelError::Busy { url, said, after } => busy(url, 429, said, *after),
            ModelError::Faulty { url, status, said, after } => busy(url, *status, said, *after),
            ModelError::Redirected { url, to } => {
                with_url(words::REDIRECTED, url).with("to", to.as_str())
            }
            ModelError::Unreachable { url, why } => unreachable(url, why),
            ModelError::Client { why } => words::CLIENT.with("why", why.as_str()),
            ModelError::Stalled { url, seconds } => {
                with_url(words::STALLED, url).with("seconds", *seconds)
            }
            ModelError::Broken { url } | ModelError::Unended { url } => {
                with_url(words::BROKEN, url)
            }
            ModelError::WebPage { url } => with_url(words::WEB_PAGE, url),
            ModelError::Foreign { url, said } => server_error(words::FOREIGN, url, said),
            ModelError::Loading { url, said } => server_error(words::LOADING, url, said),
            ModelError::Reported { url, said, .. } => server_error(words::REPORTED, url, said),
            ModelError::TooLarge { url, mib } => with_url(words::TOO_LARGE, url).with("mib", *mib),
            ModelError::ScriptUnreadable { file, why } => {
                in_file(words::SCRIPT_UNREADABLE, file).with("why", why.as_str())
            }
            ModelError::ScriptFaulty { file, line, why } => {
                in_file(words::SCRIPT_FAULTY, file).with("line", *line).with("why", why.as_str())
            }
            ModelError::ScriptOver { file, count } => {
                in_file(words::SCRIPT_OVER, file).with("count", *count)
            }
        }
    }
}

fn unreachable(url: &str, error: &ConnectError) -> LocalizedText {
    match error {
        ConnectError::Proxy { proxy } => {
            with_url(words::PROXY_DEAD, url).with("proxy", proxy.as_str())
        }
        _ => with_url(words::UNREACHABLE, url).with("why", error.localized()),
    }
}

/// A pause of more than a minute is part of the message.
fn busy(url: &str, status: u16, said: &str, after: Option<Duration>) -> LocalizedText {
    let say = match after.map(|after| after.as_secs()).filter(|seconds| *seconds > 60) {
        Some(seconds) => with_url(words::BUSY_UNTIL, url).with("minutes", seconds.div_ceil(60)),
        None if status == 429 => return server_error(words::BUSY, url, said),
        None => with_url(words::FAULTY, url),
    };
    with_server_text(say.with("status", status), said)
}

fn unlisted(url: &str, model: &str, near: &[String]) -> LocalizedText {
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let say = if near.is_empty() { words::NO_MODEL } else { words::NO_MODEL_NEAR };
    with_url(say, url).with("model", model).with("near", near.join(", "))
}

impl Localize for ConnectError {
    fn localized(&self) -> LocalizedText {
        match self {
            ConnectError::Refused | ConnectError::Proxy { .. } => words::WHY_REFUSED.into(),
            ConnectError::Name => words::WHY_NAME.into(),
            ConnectError::Slow => words::WHY_SLOW.into(),
            ConnectError::Trust => words::WHY_TRUST.into(),
            ConnectError::Expired { now } => words::WHY_EXPIRED.with("now", now.as_str()),
            ConnectError::NotYetValid { now } => words::WHY_NOT_YET.with("now", now.as_str()),
            ConnectError::OtherName => words::WHY_OTHER_NAME.into(),
            ConnectError::Other(detail) => words::WHY_OTHER.with("detail", detail.as_str()),
        }
    }
}

fn with_url(phrase: Phrase, url: &str) -> LocalizedText {
    phrase.with("url", url)
}

fn in_file(phrase: Phrase, file: &str) -> LocalizedText {
    phrase.with("file", file)
}

/// What a server refused, with what it says about it.
fn server_error(phrase: Phrase, url: &str, said: &str) -> LocalizedText {
    with_server_text(with_url(phrase, url), said)
}

fn of_model(phrase: Phrase, url: &str, model: &str, said: &str) -> LocalizedText {
    with_server_text(with_url(phrase, url).with("model", model), said)
}

fn with_server_text(text: LocalizedText, said: &str) -> LocalizedText {
    let said = said.trim_end_matches(['.', '。']);
    if said.is_empty() { text } else { words::SAYS.with("what", text).with("said", said) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    #[test]
    fn an_error_describes_the_problem_and_quotes_the_server() {
        let error = ModelError::KeyWrong {
            url: "https://x.example/v1".into(),
            key: "OPENAI_API_KEY".into(),
            said: "bad key".into(),
        };
        assert_eq!(
            error.to_string(),
            "https://x.example/v1 does not accept the key. Check OPENAI_API_KEY and try again. \
             The server says: \"bad key\"."
        );
        assert_eq!(
            error.localized().text(Lang::Zh),
            "https://x.example/v1 不接受这个密钥。请检查 OPENAI_API_KEY 后重试。服务器说：“bad key”。"
        );
    }
}
