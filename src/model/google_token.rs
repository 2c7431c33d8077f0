//! Tokens of Google for a service account: a signed statement of who asks is exchanged for one.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use super::error_body::ServerMessage;
use crate::net::{HttpBody, HttpClient, HttpRequest};
use avocet_core::i18n::{LocalizedText, keys as phrases};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// How long a token is asked for, in seconds.
const LIFETIME: i64 = 3600;

/// The file of a service account, as Google's console gives it.
struct ServiceAccount {
    email: String,
    key_id: String,
    token_url: String,
    key: RsaKeyPair,
}

impl ServiceAccount {
    fn parse(text: &str) -> Option<ServiceAccount> {
        let value: Value = serde_json::from_str(text).ok()?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let pem = field("private_key")?;
        let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(body.trim()).ok()?).ok()?;
        Some(ServiceAccount {
            email: field("client_email")?,
            key_id: field("private_key_id").unwrap_or_default(),
            token_url: field("token_uri")?,
            key,
        })
    }

    /// The signed statement, as a JSON Web Token.
    fn assertion(&self, now: Timestamp) -> Option<String> {
        let now = now.as_second();
        let head = json!({ "alg": "RS256", "typ": "JWT", "kid": self.key_id });
        let claims = json!({
            "iss": self.email, "scope": SCOPE, "aud": self.token_url, "iat": now, "exp": now + LIFETIME,
        });
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(&head), part(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        let random = SystemRandom::new();
        self.key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature).ok()?;
        Some(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// A token for the service account in this text.
pub async fn google_token(account: &str) -> Result<String, LocalizedText> {
    let account = ServiceAccount::parse(account).ok_or(phrases::BAD_SERVICE_ACCOUNT)?;
    let assertion = account.assertion(Timestamp::now()).ok_or(phrases::BAD_SERVICE_ACCOUNT)?;
    let refused =
        |why: String| phrases::NO_TOKEN.with("url", account.token_url.as_str()).with("why", why);
    let client =
        HttpClient::new(&account.token_url, None).map_err(|error| refused(error.to_string()))?;
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
    let body = HttpBody::Bytes {
        content_type: "application/x-www-form-urlencoded".to_owned(),
        bytes: Bytes::from(format!("grant_type={grant}&assertion={assertion}")),
    };
    let request = HttpRequest::with_name("POST", account.token_url.as_str(), body);
    let response = client.send(request).await.map_err(|error| refused(error.to_string()))?;
    let answer = response.json();
    match answer.get("access_token").and_then(Value::as_str) {
        Some(token) if response.is_success() => Ok(token.to_owned()),
        _ => {
            let said = answer.get("error_description").unwrap_or(&answer);
            Err(refused(ServerMessage::from_value(&json!({ "message": said }), None).text))
        }
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};

    use super::*;

    /// A key of this test alone.
    const PEM: &str = include_str!("google_token/test_key.pem");

    fn account() -> ServiceAccount {
        let text = json!({
            "type": "service_account", "client_email": "me@p.iam.gserviceaccount.com",
            "private_key_id": "k1", "private_key": PEM, "token_uri": "https://oauth2.example/token",
        });
        ServiceAccount::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn a_statement_is_signed_by_the_key_of_the_account() {
        let account = account();
        let assertion = account.assertion(Timestamp::from_second(1_000).unwrap()).unwrap();
        let (text, signature) = assertion.rsplit_once('.').unwrap();
        let key: RsaPublicKeyComponents<Vec<u8>> = account.key.public().into();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(key.verify(&RSA_PKCS1_2048_8192_SHA256, text.as_bytes(), &signature).is_ok());
        let claims = URL_SAFE_NO_PAD.decode(text.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["iat"], &claims["exp"]), (&json!(1_000), &json!(4_600)));
        assert_eq!(claims["aud"], "https://oauth2.example/token");
    }

    #[test]
    fn a_file_that_is_no_account_is_refused() {
        for bad in ["", "{}", r#"{"private_key":"x","client_email":"m","token_uri":"u"}"#] {
            assert!(ServiceAccount::parse(bad).is_none(), "{bad}");
        }
    }
}
