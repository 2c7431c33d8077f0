//! Calls methods of Feishu's Open API, with a token that is fetched again before it ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::platform::PlatformError;
use avocet_model::net::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};

/// The pause after a refusal that names none.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// Who the bot is at the service.
#[derive(Clone)]
pub struct FeishuApp {
    /// `cli_…`
    pub id: String,
    pub secret: String,
}

pub struct FeishuApi {
    http: HttpClient,
    app: FeishuApp,
    token: Mutex<Option<TenantToken>>,
}

#[derive(Clone)]
struct TenantToken {
    text: String,
    until: Instant,
}

/// Where a long connection is opened, and what the service wants of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeishuEndpoint {
    /// Holds a ticket, so it is never shown.
    pub url: String,
    pub config: Value,
}

impl FeishuApi {
    pub fn new(api_url: &str, app: FeishuApp) -> Result<FeishuApi, PlatformError> {
        let http = HttpClient::new(api_url, None)
            .map_err(|error| PlatformError::Refused(error.to_string()))?;
        Ok(FeishuApi { http, app, token: Mutex::default() })
    }

    pub async fn endpoint(&self) -> Result<FeishuEndpoint, PlatformError> {
        let body = json!({ "AppID": self.app.id, "AppSecret": self.app.secret });
        let request = HttpRequest::post("callback/ws/endpoint", body);
        let response = self.http.send(request).await.map_err(network)?;
        let mut data = read_answer(&response)?["data"].take();
        let url = data["URL"].as_str().map(str::to_owned);
        let url = url.ok_or_else(|| PlatformError::Network("no address".into()))?;
        Ok(FeishuEndpoint { url, config: data["ClientConfig"].take() })
    }

    /// The field `data` of the answer.
    pub async fn call(&self, request: HttpRequest) -> Result<Value, PlatformError> {
        let response = self.send(request).await?;
        Ok(read_answer(&response)?["data"].take())
    }

    pub async fn post(&self, path: &str, body: Value) -> Result<Value, PlatformError> {
        self.call(HttpRequest::post(format!("open-apis/{path}"), body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Result<Value, PlatformError> {
        let path = format!("open-apis/{path}");
        self.call(HttpRequest::with_name("PATCH", path, HttpBody::Json(body))).await
    }

    pub async fn get(&self, path: &str) -> Result<Value, PlatformError> {
        self.call(HttpRequest::get(format!("open-apis/{path}"))).await
    }

    /// The bot as the service knows it.
    pub async fn bot(&self) -> Result<Value, PlatformError> {
        let response = self.send(HttpRequest::get("open-apis/bot/v3/info")).await?;
        Ok(read_answer(&response)?["bot"].take())
    }

    /// Sends with a token; one that the service does not know any more is fetched again, once.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, PlatformError> {
        let token = self.token(None).await?;
        match self.exchange(request.clone(), &token).await {
            Err(PlatformError::Unauthorized) => {
                let token = self.token(Some(&token)).await?;
                let again = self.exchange(request, &token).await;
                again.map_err(|error| match error {
                    PlatformError::Unauthorized => PlatformError::refused_for_now(),
                    error => error,
                })
            }
            answer => answer,
        }
    }

    async fn exchange(
        &self,
        mut request: HttpRequest,
        token: &str,
    ) -> Result<HttpResponse, PlatformError> {
        request.headers.push(("authorization", format!("Bearer {token}")));
        let response = self.http.send(request).await.map_err(network)?;
        if !response.is_success() {
            read_answer(&response)?;
        }
        Ok(response)
    }

    /// The token of the app, but not this one, which was refused.
    async fn token(&self, refused: Option<&str>) -> Result<String, PlatformError> {
        let mut known = self.token.lock().await;
        let is_good = |token: &&TenantToken| {
            token.until > Instant::now() && refused.is_none_or(|refused| token.text != refused)
        };
        if let Some(token) = known.as_ref().filter(is_good) {
            return Ok(token.text.clone());
        }
        let body = json!({ "app_id": self.app.id, "app_secret": self.app.secret });
        let path = "open-apis/auth/v3/tenant_access_token/internal";
        let response = self.http.send(HttpRequest::post(path, body)).await.map_err(network)?;
        let answer = read_answer(&response)?;
        let text = answer["tenant_access_token"].as_str().map(str::to_owned);
        let text = text.ok_or_else(|| PlatformError::Network("no token".into()))?;
        let lifetime = Duration::from_secs(answer["expire"].as_u64().unwrap_or(0));
        let until = Instant::now() + lifetime.mul_f64(0.9);
        *known = Some(TenantToken { text: text.clone(), until });
        Ok(text)
    }
}

pub fn network(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

/// The whole answer to a call, or what its refusal means.
fn read_answer(response: &HttpResponse) -> Result<Value, PlatformError> {
    let reset = response.header("x-ogw-ratelimit-reset").and_then(|text| text.parse().ok());
    let after = reset.map(Duration::from_secs).or_else(|| response.retry_after());
    let body = response.json();
    match (response.status, body["code"].as_i64()) {
        (429, _) => Err(PlatformError::RateLimited { after: after.unwrap_or(USUAL_WAIT) }),
        (_, Some(0)) => Ok(body),
        (_, Some(code)) => {
            let why = body["msg"].as_str().unwrap_or_default();
            Err(refusal(code, why, after.unwrap_or(USUAL_WAIT)))
        }
        (status, None) => Err(PlatformError::Network(format!("status {status}"))),
    }
}

fn refusal(code: i64, why: &str, after: Duration) -> PlatformError {
    let why = || format!("{code} {}", why.chars().take(200).collect::<String>());
    match code {
        99_991_400 | 230_020 | 11_232 => PlatformError::RateLimited { after },
        // The app or its secret, or a token that has ended.
        10_003 | 10_012 | 10_014 | 99_991_543 | 99_991_661..=99_991_671 | 99_991_677 => {
            PlatformError::Unauthorized
        }
        // The bot is not in the group; the message was recalled, deleted, or is too old.
        230_002 | 230_011 | 230_031 | 230_050 | 230_110 | 232_009 => PlatformError::Gone,
        230_099 => PlatformError::Markup(why()),
        // Busy, or broken.
        1 | 1_000_040_343 | 230_049 | 99_991_500..=99_991_502 => PlatformError::Network(why()),
        _ => PlatformError::Refused(why()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_refusal_has_its_meaning() {
        let refusal = |code| refusal(code, "why", USUAL_WAIT);
        assert_eq!(refusal(99_991_400), PlatformError::RateLimited { after: USUAL_WAIT });
        assert_eq!(refusal(99_991_663), PlatformError::Unauthorized);
        assert_eq!(refusal(230_002), PlatformError::Gone);
        assert!(matches!(refusal(230_099), PlatformError::Markup(_)));
        assert!(matches!(refusal(1), PlatformError::Network(_)));
        let lacking = refusal(99_991_672);
        assert_eq!(
            lacking,
            PlatformError::Refused("99991672 why".into()),
            "a permission is missing"
        );
    }
}
