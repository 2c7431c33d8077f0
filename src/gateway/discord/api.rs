//! Calls Discord's REST interface, within its buckets.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cursor::KnownChannel;
use super::incoming::{InteractionKind, OpenInteraction};
use crate::catch_up::patiently;
use crate::platform::PlatformError;
use crate::rate_limits::RateLimits;
use avocet_model::net::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};

/// What the service asks a bot to call itself.
pub const USER_AGENT: &str = concat!("DiscordBot (avocet, ", env!("CARGO_PKG_VERSION"), ")");

/// The service gives up an interaction after 3 s; a second try must fit in.
const CALLBACK_TIMEOUT: Duration = Duration::from_millis(1400);

/// The longest wait that is believed, in seconds.
const LONGEST_WAIT: f64 = 3600.0;

/// Logins are counted for a day, in milliseconds.
const DAY: u64 = 24 * 3_600_000;

/// How long one page of messages that were missed may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Messages of a page, and pages of a channel that are read: what is missed beyond them is too old.
const PAGE: usize = 100;
const PAGES: usize = 10;

/// Shown to the user alone who pressed or typed.
pub const EPHEMERAL: u64 = 1 << 6;

#[derive(Debug)]
pub struct DiscordApi {
    client: HttpClient,
    limits: Mutex<RateLimits>,
}

impl DiscordApi {
    pub fn new(api_url: &str, token: &str) -> Result<DiscordApi, PlatformError> {
        let client = HttpClient::new(api_url, Some(&format!("Bot {}", token.trim())))
            .map_err(|error| PlatformError::Refused(error.to_string()))?;
        Ok(DiscordApi { client, limits: Mutex::default() })
    }

    pub async fn get(&self, path: &str) -> Result<Value, PlatformError> {
        self.call("GET", path, HttpBody::None).await
    }

    pub async fn call(
        &self,
        method: &str,
        path: &str,
        body: HttpBody,
    ) -> Result<Value, PlatformError> {
        self.send(path, HttpRequest::with_name(method, path, body)).await
    }

    async fn send(&self, path: &str, mut request: HttpRequest) -> Result<Value, PlatformError> {
        request.headers.push(("user-agent", USER_AGENT.to_owned()));
        let bucket = bucket(request.method.as_ref(), path);
        let limits = || -> MutexGuard<'_, RateLimits> {
            self.limits.lock().unwrap_or_else(PoisonError::into_inner)
        };
        // Answers to interactions do not count for the limit of the whole bot.
        let wait = if is_own(path) {
            limits().wait(&bucket, Instant::now())
        } else {
            limits().wait_of(&bucket, Instant::now())
        };
        if let Some(after) = wait {
            return Err(PlatformError::RateLimited { after });
        }
        let response = self.client.send(request).await.map_err(network)?;
        let answer = Answer::read(path, &response);
        let now = Instant::now();
        if let Some(after) = answer.closed_for {
            limits().close(&bucket, after, now);
        }
        if let Some(after) = answer.all_closed_for {
            limits().close_all(after, now);
        }
        answer.result
    }

    /// Where the gateway is, if a new session may begin.
    pub async fn gateway_url(&self) -> Result<String, PlatformError> {
        let gateway = self.get("gateway/bot").await?;
        let limit = &gateway["session_start_limit"];
        if limit["remaining"] == 0 {
            let after = limit["reset_after"].as_u64().unwrap_or(60_000).min(DAY);
            let after = Duration::from_millis(after);
            return Err(PlatformError::RateLimited { after });
        }
        let url = gateway["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| PlatformError::Network("no address".into()))
    }

    /// The messages of a channel after this one, the oldest first, as the gateway would deliver
    /// them. What is wrong for a moment only is waited for.
    pub async fn messages_since(
        &self,
        channel: &KnownChannel,
        after: u64,
    ) -> Result<Vec<Value>, PlatformError> {
        let mut messages = Vec::new();
        let mut after = after;

        for _ in 0..PAGES {
            let path = format!("channels/{}/messages?limit={PAGE}&after={after}", channel.id);
            let page = patiently(|| {
                let mut request = HttpRequest::get(&path);
                request.timeout = PAGE_TIMEOUT;
                self.send(&path, request)
            });
            // The newest first.
            let Value::Array(mut page) = page.await? else { break };
            let count = page.len();
            page.reverse();
            after = page.last().and_then(message_number).unwrap_or(after).max(after);
            messages.extend(page);
            if count < PAGE {
                break;
            }
        }
        if channel.is_group {
            // All that counts is that there is one.
            messages.iter_mut().for_each(|message| message["guild_id"] = json!("-"));
        }
        Ok(messages)
    }

    /// Says in time that an answer will come. A second try is harmless.
    pub async fn defer(&self, interaction: &OpenInteraction) -> Result<(), PlatformError> {
        let kind = match interaction.kind {
            InteractionKind::Command => 5,
            InteractionKind::Press => 6,
            // Suggestions are the answer itself.
            InteractionKind::Suggest => return Ok(()),
        };
        match self.callback(interaction, json!({ "type": kind })).await {
            Err(PlatformError::Network(_)) => {
                self.callback(interaction, json!({ "type": kind })).await
            }
            result => result,
        }
    }

    /// The first answer to an interaction.
    pub async fn callback(
        &self,
        interaction: &OpenInteraction,
        body: Value,
    ) -> Result<(), PlatformError> {
        let path = format!("interactions/{}/{}/callback", interaction.id, interaction.token);
        let mut request = HttpRequest::post(&path, body);
        request.timeout = CALLBACK_TIMEOUT;
        self.send(&path, request).await.map(|_| ())
    }

    /// A file at the service, by its whole address.
    pub async fn download(&self, url: &str, most: u64) -> Result<HttpResponse, PlatformError> {
        let mut request = HttpRequest::get(url);
        request.body_cap = usize::try_from(most).unwrap_or(usize::MAX);
        self.client.send(request).await.map_err(network)
    }
}

pub fn network(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

/// The id of a message, which grows with its time.
pub fn message_number(message: &Value) -> Option<u64> {
    message["id"].as_str()?.parse().ok()
}

/// What the service limits by: the kind of call, and the channel or interaction it is for.
fn bucket(method: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').take(3).collect();
    format!("{method} {}", parts.join("/"))
}

/// What an answer means, and what it closes.
struct Answer {
    result: Result<Value, PlatformError>,
    closed_for: Option<Duration>,
    all_closed_for: Option<Duration>,
}

impl Answer {
    fn read(path: &str, response: &HttpResponse) -> Answer {
        let body = response.json();
        let seconds = |value: f64| Some(Duration::from_secs_f64(value.clamp(0.0, LONGEST_WAIT)));
        let header = |name: &str| response.header(name)?.parse::<f64>().ok();
        let is_empty = header("x-ratelimit-remaining") == Some(0.0);
        let reset = header("x-ratelimit-reset-after").and_then(seconds).filter(|_| is_empty);
        if response.status != 429 {
            let result = result(response.status, body, is_own(path));
            return Answer { result, closed_for: reset, all_closed_for: None };
        }
        let asked = body["retry_after"].as_f64().and_then(seconds).or(response.retry_after());
        let after = asked.unwrap_or(Duration::from_secs(1));
        let is_global = body["global"] == true;
        Answer {
            result: Err(PlatformError::RateLimited { after }),
            closed_for: Some(after).filter(|_| !is_global),
            all_closed_for: Some(after).filter(|_| is_global),
        }
    }
}

/// Whether a call is made with the token of the bot.
fn is_own(path: &str) -> bool {
    !path.starts_with("webhooks/") && !path.starts_with("interactions/")
}

/// `is_own`: the call was made with the token of the bot, not with that of an interaction.
fn result(status: u16, body: Value, is_own: bool) -> Result<Value, PlatformError> {
    let message = body["message"].as_str().unwrap_or("no reason").chars().take(100).collect();
    // Not the service: something on the way to it, or half an answer.
    let is_foreign = !body.is_object() && !body.is_array();
    match (status, body["code"].as_u64()) {
        (204, _) => Ok(Value::Null),
        (200..300 | 401..=404, _) if is_foreign => {
            Err(PlatformError::Network(format!("status {status}, not readable")))
        }
        (200..300, _) => Ok(body),
        // It was acknowledged by a try whose answer was lost.
        (_, Some(40_060)) => Ok(Value::Null),
        (401, _) if is_own => Err(PlatformError::Unauthorized),
        (401 | 404, _) => Err(PlatformError::Gone),
        (
            _,
            Some(10_003..=10_008 | 10_015 | 10_062 | 50_001 | 50_005 | 50_007 | 50_013 | 50_027),
        ) => Err(PlatformError::Gone),
        (500.., _) => Err(PlatformError::Network(format!("status {status}"))),
        _ => Err(PlatformError::Refused(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_for_different_channels_have_different_buckets() {
        assert_eq!(bucket("PATCH", "channels/7/messages/99"), "PATCH channels/7/messages");
        assert_eq!(bucket("GET", "channels/7/messages?after=1"), "GET channels/7/messages");
        assert_ne!(bucket("POST", "channels/7/messages"), bucket("POST", "channels/8/messages"));
    }

    #[test]
    fn every_kind_of_refusal_has_its_meaning() {
        let read =
            |status, code: u64| result(status, json!({ "code": code, "message": "no" }), true);
        assert_eq!(read(401, 0), Err(PlatformError::Unauthorized));
        assert_eq!(result(401, json!({ "code": 50_027 }), false), Err(PlatformError::Gone));
        for (status, code) in [(404, 10_008), (403, 50_001), (403, 50_013), (404, 0), (404, 10_062)]
        {
            assert_eq!(read(status, code), Err(PlatformError::Gone), "{code}");
        }
        assert_eq!(read(400, 50_035), Err(PlatformError::Refused("no".into())));
        assert!(matches!(read(502, 0), Err(PlatformError::Network(_))));
        assert!(read(400, 40_060).is_ok());
        assert!(result(204, Value::Null, true).is_ok());
        for status in [200, 401, 403, 404] {
            let foreign = result(status, Value::Null, true);
            assert!(matches!(foreign, Err(PlatformError::Network(_))), "{status}: {foreign:?}");
        }
    }
}
