//! Signs requests with AWS's signature, version 4. Pure; the time is passed in.

use std::fmt::Write as _;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Request, Url};
use ring::{digest, hmac};
use serde_json::Value;

/// The service that models belong to.
const SERVICE: &str = "bedrock";

/// The region of an address that names none.
const USUAL_REGION: &str = "us-east-1";

/// The credentials of an account.
pub struct AwsKey {
    id: String,
    secret: String,
    /// Of credentials that expire.
    token: Option<String>,
}

impl AwsKey {
    /// Reads what `aws configure export-credentials` and every `credential_process` print.
    pub fn parse(text: &str) -> Option<AwsKey> {
        let value: Value = serde_json::from_str(text).ok()?;
        let field = |name: &str| {
            let text = value.get(name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let id = field("AccessKeyId")?;
        let secret = field("SecretAccessKey")?;
        Some(AwsKey { id, secret, token: field("SessionToken") })
    }

    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Adds the headers that sign the request, its body included.
    pub fn sign(&self, request: &mut Request, now: Timestamp) {
        let date = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut signed = vec![("host", host(request.url())), ("x-amz-date", date.clone())];
        signed.extend(self.token.iter().map(|token| ("x-amz-security-token", token.clone())));
        let body = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
        let canonical = canonical(request.method().as_str(), request.url(), &signed, body);
        let names = names(&signed);
        let region = region(request.url());
        let scope =
            format!("{}/{region}/{SERVICE}/aws4_request", date.get(..8).unwrap_or_default());
        let signature = self.signature(&date, &scope, &canonical);
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            self.id,
        );
        let headers = request.headers_mut();
        for (name, value) in signed.into_iter().skip(1) {
            insert(headers, name, &value);
        }
        insert(headers, "authorization", &authorization);
    }

    fn signature(&self, date: &str, scope: &str, canonical: &str) -> String {
        let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let first = format!("AWS4{}", self.secret).into_bytes();
        let key = scope.split('/').fold(first, |key, part| mac(&key, part));
        hex(&mac(&key, &text))
    }
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

fn canonical(method: &str, url: &Url, signed: &[(&str, String)], body: &[u8]) -> String {
    let mut query: Vec<&str> = url.query().unwrap_or_default().split('&').collect();
    query.sort_unstable();
    let headers: String = signed.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let parts = [
        method,
        &encode_path(url.path()),
        &query.join("&"),
        &headers,
        &names(signed),
        &sha256(body),
    ];
    parts.join("\n")
}

fn names(signed: &[(&str, String)]) -> String {
    signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The label after the service's own in the name of the host.
fn region(url: &Url) -> &str {
    let mut labels = url.host_str().unwrap_or_default().split('.');
    labels.find(|label| label.starts_with(SERVICE));
    labels.next().unwrap_or(USUAL_REGION)
}

/// The path as it is sent, encoded once more.
fn encode_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the test suite that AWS publishes.
    #[test]
    fn a_request_is_signed_as_in_the_published_example() {
        let key = AwsKey {
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            token: None,
        };
        let url = Url::parse("https://example.amazonaws.com/").unwrap();
        let date = "20150830T123600Z".to_owned();
        let signed = [("host", host(&url)), ("x-amz-date", date.clone())];
        let canonical = canonical("GET", &url, &signed, b"");
        let scope = "20150830/us-east-1/service/aws4_request";
        let expected = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        assert_eq!(key.signature(&date, scope, &canonical), expected);
    }

    #[test]
    fn the_region_is_read_from_the_host_and_a_path_is_encoded_twice() {
        let region_of = |url| region(&Url::parse(url).unwrap()).to_owned();
        assert_eq!(region_of("https://bedrock-runtime.eu-west-1.amazonaws.com"), "eu-west-1");
        assert_eq!(
            region_of("https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com"),
            "us-west-2"
        );
        assert_eq!(region_of("http://127.0.0.1:1"), "us-east-1");
        assert_eq!(encode_path("/model/a-v1%3A0/converse"), "/model/a-v1%253A0/converse");
    }

    #[test]
    fn credentials_are_read_as_the_command_line_prints_them() {
        let key =
            AwsKey::parse(r#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S"}"#).unwrap();
        assert_eq!((key.id.as_str(), key.secret(), &key.token), ("A", "S", &None));
        for bad in ["", "{}", r#"{"AccessKeyId":"A","SecretAccessKey":" "}"#] {
            assert!(AwsKey::parse(bad).is_none(), "{bad}");
        }
    }
}
