//! Calls methods of Slack's Web API.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::catch_up::patiently;
use crate::platform::{ChatAddress, PlatformError};
use crate::rate_limits::RateLimits;
use avocet_model::net::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};

/// Changes a message. The service counts these calls for the whole workspace: 50 a minute.
const UPDATE: &str = "chat.update";
const UPDATE_PACE: Duration = Duration::from_millis(1_200);

/// The pause after a refusal that names none.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// Both tokens of an app: one opens connections, the other does everything else.
/// Messages of a page, and pages of a conversation that are read: what is missed beyond them is too
/// old.
const PAGE: u32 = 200;
const PAGES: usize = 10;

#[derive(Debug)]
pub struct SlackApi {
    app: HttpClient,
    bot: HttpClient,
    limits: Mutex<RateLimits>,
}

impl SlackApi {
    pub fn new(api_url: &str, app_token: &str, bot_token: &str) -> Result<SlackApi, PlatformError> {
        let client = |token: &str| {
            HttpClient::new(api_url, Some(&format!("Bearer {}", token.trim())))
                .map_err(|error| PlatformError::Refused(error.to_string()))
        };
        Ok(SlackApi { app: client(app_token)?, bot: client(bot_token)?, limits: Mutex::default() })
    }

    /// The address of a new connection. It holds a ticket, so it is never shown.
    pub async fn open_connection(&self) -> Result<String, PlatformError> {
        let request = HttpRequest::post("apps.connections.open", Value::Null);
        let answer = self.send(&self.app, "apps.connections.open", request).await?;
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| PlatformError::Network("no address".into()))
    }

    pub async fn call(&self, method: &str, body: Value) -> Result<Value, PlatformError> {
        let channel = body["channel"].as_str().unwrap_or_default();
        if method != UPDATE {
            let key = format!("{method} {channel}");
            return self.send(&self.bot, &key, HttpRequest::post(method, body)).await;
        }
        let updated = self.send(&self.bot, method, HttpRequest::post(method, body)).await;
        if updated.is_ok() {
            let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
            limits.close(method, UPDATE_PACE, Instant::now());
        }
        updated
    }

    /// For the methods that take no JSON.
    pub async fn call_form(
        &self,
        method: &str,
        fields: &[(&str, &str)],
    ) -> Result<Value, PlatformError> {
        let content_type = "application/x-www-form-urlencoded".to_owned();
        let bytes = Bytes::from(form(fields));
        let body = HttpBody::Bytes { content_type, bytes };
        self.send(&self.bot, method, HttpRequest::with_name("POST", method, body)).await
    }

    /// The messages of a conversation after `from`, the oldest first.
    pub async fn messages_since(
        &self,
        address: &ChatAddress,
        from: &str,
        waiting: PageWaiting,
    ) -> Result<Vec<Value>, PlatformError> {
        let mut messages = Vec::new();
        let mut page = String::new();

        for _ in 0..PAGES {
            let read = || self.history_page(address, from, &page);
            let mut history = match waiting {
                PageWaiting::No => read().await?,
                PageWaiting::UntilAnswered => patiently(read).await?,
            };
            if let Value::Array(found) = history["messages"].take() {
                // The first message of a thread comes along whenever it was written.
                let from = time(&json!(from));
                messages.extend(found.into_iter().filter(|one| time(&one["ts"]) > from));
            }
            page = history["response_metadata"]["next_cursor"].as_str().unwrap_or("").to_owned();
            if page.is_empty() {
                break;
            }
        }
        messages.sort_by(|a, b| a["ts"].as_str().cmp(&b["ts"].as_str()));
        Ok(messages)
    }

    /// The messages that come before those of another page, with their metadata.
    async fn history_page(
        &self,
        address: &ChatAddress,
        from: &str,
        page: &str,
    ) -> Result<Value, PlatformError> {
        let most = PAGE.to_string();
        let mut fields = vec![
            ("channel", address.chat.0.as_str()),
            ("oldest", from),
            ("limit", &most),
            ("include_all_metadata", "true"),
        ];
        if !page.is_empty() {
            fields.push(("cursor", page));
        }
        let method = match &address.thread {
            Some(thread) => {
                fields.push(("ts", &thread.0));
                "conversations.replies"
            }
            None => "conversations.history",
        };
        self.call_form(method, &fields).await
    }

    /// A request to an address that the service gave out, without a token unless it is ours.
    pub async fn request(&self, request: HttpRequest) -> Result<HttpResponse, PlatformError> {
        self.bot.send(request).await.map_err(network)
    }

    async fn send(
        &self,
        client: &HttpClient,
        key: &str,
        request: HttpRequest,
    ) -> Result<Value, PlatformError> {
        let limits = || self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(after) = limits().wait(key, Instant::now()) {
            return Err(PlatformError::RateLimited { after });
        }
        let response = client.send(request).await.map_err(network)?;
        let result = read_answer(response.status, response.retry_after(), response.json());
        if let Err(PlatformError::RateLimited { after }) = &result {
            limits().close(key, *after, Instant::now());
        }
        result
    }
}

pub fn network(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

/// What the answer to a call means.
fn read_answer(
    status: u16,
    retry_after: Option<Duration>,
    body: Value,
) -> Result<Value, PlatformError> {
    let after = retry_after.unwrap_or(USUAL_WAIT);
    match (status, body["ok"].as_bool(), body["error"].as_str()) {
        (429, ..) => Err(PlatformError::RateLimited { after }),
        (_, Some(true), _) => Ok(body),
        (_, _, Some(error)) => Err(refusal(error, after)),
        _ => Err(PlatformError::Network(format!("status {status}"))),
    }
}

fn refusal(error: &str, after: Duration) -> PlatformError {
    match error {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
            PlatformError::RateLimited { after }
        }
        "invalid_auth"
        | "not_authed"
        | "account_inactive"
        | "token_revoked"
        | "token_expired"
        | "not_allowed_token_type"
        | "org_login_required" => PlatformError::Unauthorized,
        "channel_not_found"
        | "message_not_found"
        | "thread_not_found"
        | "not_in_channel"
        | "is_archived"
        | "cant_update_message"
        | "edit_window_closed" => PlatformError::Gone,
        "invalid_blocks" | "invalid_blocks_format" | "block_mismatch" => {
            PlatformError::Markup(error.to_owned())
        }
        "internal_error"
        | "fatal_error"
        | "service_unavailable"
        | "request_timeout"
        | "too_many_websockets" => PlatformError::Network(error.to_owned()),
        _ => PlatformError::Refused(error.chars().take(100).collect()),
    }
}

/// Fields as a form sends them.
fn form(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                other => format!("%{other:02X}"),
            })
            .collect()
    };
    let pairs = fields.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Whether a page of messages is waited for that the service does not give for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageWaiting {
    No,
    UntilAnswered,
}

/// The time of a message: seconds, and the number after the dot.
fn time(ts: &Value) -> Option<(u64, u64)> {
    let (seconds, number) = ts.as_str()?.split_once('.')?;
    Some((seconds.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_refusal_has_its_meaning() {
        let read = |status, body| read_answer(status, Some(Duration::from_secs(7)), body);
        let error = |name: &str| read(200, json!({ "ok": false, "error": name })).unwrap_err();
        let limited = PlatformError::RateLimited { after: Duration::from_secs(7) };
        assert_eq!(read(429, Value::Null), Err(limited.clone()));
        assert_eq!(error("ratelimited"), limited);
        assert_eq!(error("token_revoked"), PlatformError::Unauthorized);
        assert_eq!(error("message_not_found"), PlatformError::Gone);
        assert!(matches!(error("invalid_blocks"), PlatformError::Markup(_)));
        assert!(matches!(error("msg_too_long"), PlatformError::Refused(_)));
        assert!(matches!(read(503, Value::Null), Err(PlatformError::Network(_))));
        assert!(matches!(read(200, Value::Null), Err(PlatformError::Network(_))), "a web page");
        assert!(read(200, json!({ "ok": true })).is_ok());
    }

    #[test]
    fn a_form_keeps_names_that_are_not_ascii() {
        assert_eq!(
            form(&[("filename", "a b&ü.txt"), ("length", "3")]),
            "filename=a%20b%26%C3%BC.txt&length=3"
        );
    }
}
