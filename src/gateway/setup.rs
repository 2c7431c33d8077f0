//! Checks what a user has set up at a service: whether the tokens are valid, and what they lack.

use serde_json::{Value, json};

use super::discord::USER_AGENT;
use super::feishu::{Feishu, FeishuApp};
use super::menu::slack::BOT_SCOPES;
use super::platform::PlatformError;
use super::setup_report::{SetupReport, missing};
use super::telegram::Telegram;
use avocet_core::i18n::{LocalizedText, gateway as w};
use avocet_core::protocol::ChatPlatform;
use avocet_model::net::{HttpClient, HttpError, HttpRequest, HttpResponse};

/// The tokens that the setup tries, and the service they are for.
#[derive(Clone, Debug)]
pub struct SetupLogin {
    pub platform: ChatPlatform,
    pub api_url: String,
    pub token: String,
    pub app_token: Option<String>,
    pub app_id: Option<String>,
}

/// The flags of an app of Discord that may read messages; the second is that of a small one.
pub(crate) const MESSAGE_CONTENT: u64 = 1 << 18 | 1 << 19;

impl SetupLogin {
    /// # Errors
    /// [`PlatformError::Unauthorized`] for a token that the service does not accept.
    pub async fn check(&self) -> Result<SetupReport, PlatformError> {
        match self.platform {
            ChatPlatform::Telegram => self.telegram()?.check().await,
            ChatPlatform::Slack => self.check_slack().await,
            ChatPlatform::Discord => self.check_discord().await,
            ChatPlatform::Feishu => {
                let id = self.app_id.clone().unwrap_or_default();
                let app = FeishuApp { id, secret: self.token.clone() };
                Feishu::new(&self.api_url, app)?.check().await
            }
        }
    }

    /// Telegram delivers to the gateway from now on.
    pub async fn remove_webhook(&self) -> Result<(), PlatformError> {
        self.telegram()?.remove_webhook().await
    }

    fn telegram(&self) -> Result<Telegram, PlatformError> {
        Telegram::new(&self.api_url, &self.token, None).map_err(refused)
    }

    async fn check_slack(&self) -> Result<SetupReport, PlatformError> {
        let call = |method: &str| HttpRequest::post(method, json!({}));
        let me = self.ask(&format!("Bearer {}", self.token), call("auth.test")).await?;
        let granted = me.header("x-oauth-scopes").unwrap_or_default().to_owned();
        let me = me.json();
        if me["ok"] != true {
            return Err(PlatformError::Unauthorized);
        }
        let granted: Vec<&str> = granted.split(',').map(str::trim).collect();
        let mut texts: Vec<LocalizedText> =
            missing(&BOT_SCOPES, |scope| granted.contains(&scope)).into_iter().collect();
        let app = format!("Bearer {}", self.app_token.as_deref().unwrap_or_default());
        let opened = self.ask(&app, call("apps.connections.open")).await?.json();
        if opened["ok"] != true {
            texts.push(w::LACKS_CONNECTION.with("why", text(&opened["error"])));
        }
        Ok(SetupReport { bot: text(&me["user"]), texts, webhook: None })
    }

    async fn check_discord(&self) -> Result<SetupReport, PlatformError> {
        let token = format!("Bot {}", self.token);
        let read = async |path: &str| {
            let mut request = HttpRequest::get(path);
            request.headers.push(("user-agent", USER_AGENT.to_owned()));
            self.ask(&token, request).await.map(|response| response.json())
        };
        let me = read("users/@me").await?;
        let app = read("applications/@me").await?;
        let servers = read("users/@me/guilds").await?;
        let mut texts: Vec<LocalizedText> = Vec::new();
        if app["flags"].as_u64().unwrap_or(0) & MESSAGE_CONTENT == 0 {
            texts.push(w::LACKS_INTENT.into());
        }
        if servers.as_array().is_none_or(Vec::is_empty) {
            texts.push(w::LACKS_PLACE.into());
        }
        Ok(SetupReport { bot: text(&me["username"]), texts, webhook: None })
    }

    async fn ask(
        &self,
        authorization: &str,
        request: HttpRequest,
    ) -> Result<HttpResponse, PlatformError> {
        let http = HttpClient::new(&self.api_url, Some(authorization)).map_err(refused)?;
        let response = http.send(request).await.map_err(refused)?;
        match response.status {
            401 => Err(PlatformError::Unauthorized),
            200..300 => Ok(response),
            status => Err(PlatformError::Network(format!("status {status}"))),
        }
    }
}

fn refused(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
