//! The account that models of AWS are called with: its region, and credentials from the environment
//! or from AWS's own files. What those only describe, such as a login, `aws` itself is asked for.

use serde_json::json;

use super::{Environment, atomic_file};
use avocet_core::secret::Secret;

/// A key of Bedrock itself.
const BEARER: &str = "AWS_BEARER_TOKEN_BEDROCK";

/// What prints the credentials of a profile.
pub const AWS_COMMAND: &str = "aws configure export-credentials";

const USUAL_REGION: &str = "us-east-1";

/// The address of Bedrock in the region of the user's account.
pub fn bedrock_url(environment: &Environment) -> String {
    AwsAccount::find(environment).base_url
}

/// How Bedrock is reached and paid for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AwsAccount {
    pub base_url: String,
    pub key: Option<Secret>,
    /// Where the key is from, or should be.
    pub key_name: String,
    /// The program that prints credentials, if they are neither in variables nor in a file.
    pub command: Vec<String>,
}

impl AwsAccount {
    /// Reads AWS's own files only where the environment leaves something open.
    pub fn find(environment: &Environment) -> AwsAccount {
        let file = |variable: &str, usual: &str| {
            let home = || Some(environment.path("HOME")?.join(usual));
            let file = environment.path(variable).or_else(home)?;
            atomic_file::read(&file).ok().flatten()
        };
        let config = || file("AWS_CONFIG_FILE", ".aws/config").unwrap_or_default();
        let credentials =
            || file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").unwrap_or_default();
        AwsAccount::of(environment, &config(), &credentials())
    }

    fn of(environment: &Environment, config: &str, credentials: &str) -> AwsAccount {
        let get = |name: &str| environment.get(name).map(str::to_owned);
        let named = get("AWS_PROFILE").or_else(|| get("AWS_DEFAULT_PROFILE"));
        let profile = named.clone().unwrap_or_else(|| "default".to_owned());
        let section =
            section(config, &profile).or_else(|| section(config, &format!("profile {profile}")));
        let region = get("AWS_REGION").or_else(|| get("AWS_DEFAULT_REGION"));
        let region = region.or_else(|| section.as_ref().and_then(|of| value(of, "region")));
        let region = region.filter(|region| is_region(region));
        let region = region.unwrap_or_else(|| USUAL_REGION.to_owned());
        let base_url =
            get("AWS_ENDPOINT_URL_BEDROCK_RUNTIME").or_else(|| get("ANTHROPIC_BEDROCK_BASE_URL"));
        let base_url =
            base_url.unwrap_or_else(|| format!("https://bedrock-runtime.{region}.amazonaws.com"));
        let account = |key: Option<String>, name: &str| AwsAccount {
            base_url: base_url.clone(),
            key: key.map(Secret::new),
            key_name: name.to_owned(),
            command: Vec::new(),
        };
        if let Some(key) = get(BEARER) {
            return account(Some(key), BEARER);
        }
        // A profile that is named counts more than keys that happen to be there.
        let keys = get("AWS_ACCESS_KEY_ID").zip(get("AWS_SECRET_ACCESS_KEY"));
        if let Some((id, secret)) = keys.filter(|_| named.is_none()) {
            let key = credentials_text(&id, &secret, get("AWS_SESSION_TOKEN").as_deref());
            return account(Some(key), "AWS_ACCESS_KEY_ID");
        }
        let saved = self::section(credentials, &profile);
        let of = |of: &Vec<(String, String)>| {
            let token = value(of, "aws_session_token");
            let id = value(of, "aws_access_key_id")?;
            Some(credentials_text(&id, &value(of, "aws_secret_access_key")?, token.as_deref()))
        };
        if let Some(key) = saved.as_ref().and_then(of) {
            return account(Some(key), "~/.aws/credentials");
        }
        if section.is_none() && saved.is_none() && named.is_none() {
            return account(None, BEARER);
        }
        let command = ["aws", "configure", "export-credentials", "--profile", &profile];
        let command = command.iter().map(|&word| word.to_owned()).collect();
        AwsAccount { command, ..account(None, AWS_COMMAND) }
    }
}

/// As `aws configure export-credentials` prints them.
fn credentials_text(id: &str, secret: &str, token: Option<&str>) -> String {
    json!({ "AccessKeyId": id, "SecretAccessKey": secret, "SessionToken": token }).to_string()
}

/// It becomes a part of the host's name.
fn is_region(name: &str) -> bool {
    name.len() <= 40
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The lines of a section of AWS's files; `None` if it is not there.
fn section(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let title = |line: &str| {
        let inner = line.trim().strip_prefix('[')?.split(']').next()?;
        Some(inner.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let mut lines = text.lines().skip_while(|line| title(line).as_deref() != Some(name));
    lines.next()?;
    let pair = |line: &str| {
        let (key, value) = line.split_once('=')?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    // Lines that are indented belong to the setting before them.
    let own = lines.take_while(|line| title(line).is_none());
    Some(own.filter(|line| !line.starts_with([' ', '\t', '#', ';'])).filter_map(pair).collect())
}

fn value(section: &[(String, String)], key: &str) -> Option<String> {
    let value = &section.iter().find(|(name, _)| name == key)?.1;
    (!value.is_empty()).then(|| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\n\
        sso_session = corp\ns3 =\n  region = no\n";
    const SAVED: &str =
        "# keys\n[default]\naws_access_key_id = AKID\naws_secret_access_key=s3cr=t\n";

    fn account(variables: &[(&str, &str)], config: &str, saved: &str) -> AwsAccount {
        AwsAccount::of(&Environment::from_pairs(variables.iter().copied()), config, saved)
    }

    fn key(account: &AwsAccount) -> String {
        account.key.as_ref().map_or_else(String::new, |key| key.expose().to_owned())
    }

    #[test]
    fn a_key_of_bedrock_comes_before_credentials_and_those_before_the_file() {
        let all = [
            ("AWS_BEARER_TOKEN_BEDROCK", "bk"),
            ("AWS_ACCESS_KEY_ID", "A"),
            ("AWS_SECRET_ACCESS_KEY", "S"),
        ];
        let first = account(&all, CONFIG, SAVED);
        assert_eq!((key(&first).as_str(), first.key_name.as_str()), ("bk", BEARER));
        let second = account(&all[1..], CONFIG, SAVED);
        assert!(key(&second).contains(r#""SecretAccessKey":"S""#), "{}", key(&second));
        let third = account(&[], CONFIG, SAVED);
        assert!(key(&third).contains("s3cr=t"), "{}", key(&third));
        assert_eq!(third.base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    }

    #[test]
    fn a_profile_with_a_login_is_left_to_awss_own_program() {
        let work = account(&[("AWS_PROFILE", "work"), ("AWS_ACCESS_KEY_ID", "A")], CONFIG, SAVED);
        assert_eq!(work.base_url, "https://bedrock-runtime.us-west-2.amazonaws.com");
        assert_eq!(work.command.join(" "), "aws configure export-credentials --profile work");
        let none = account(&[("AWS_REGION", "evil.example/")], "", "");
        assert_eq!((none.command.len(), none.key_name.as_str()), (0, BEARER));
        assert_eq!(none.base_url, "https://bedrock-runtime.us-east-1.amazonaws.com");
    }
}
