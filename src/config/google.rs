//! The project that models of Vertex AI are called for, from the variables that Google's and
//! Anthropic's own clients read.

use serde_json::Value;

use super::{Environment, atomic_file};
use avocet_core::secret::Secret;

const ACCOUNT: &str = "GOOGLE_APPLICATION_CREDENTIALS";

const USUAL_LOCATION: &str = "global";

/// How Vertex AI is reached and paid for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GoogleProject {
    /// `None`: no project is named.
    pub base_url: Option<String>,
    /// The file of a service account, which is exchanged for tokens.
    pub key: Option<Secret>,
    pub key_name: String,
    /// The program that prints a token, without a service account.
    pub command: Vec<String>,
}

impl GoogleProject {
    pub fn find(environment: &Environment) -> GoogleProject {
        let file = environment.path(ACCOUNT);
        let text = file.and_then(|file| atomic_file::read(&file).ok().flatten());
        GoogleProject::of(environment, text)
    }

    fn of(environment: &Environment, credentials: Option<String>) -> GoogleProject {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| environment.get(name)).filter(|name| is_label(name))
        };
        let account = credentials.filter(|text| text.contains("\"service_account\""));
        let value: Value =
            account.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let of_account = value.get("project_id").and_then(Value::as_str).filter(|it| is_label(it));
        let project =
            first(&["ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"]).or(of_account);
        let location =
            first(&["GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"]).unwrap_or(USUAL_LOCATION);
        let host = match location {
            USUAL_LOCATION => "aiplatform.googleapis.com".to_owned(),
            location => format!("{location}-aiplatform.googleapis.com"),
        };
        let address =
            |project: &str| format!("https://{host}/v1/projects/{project}/locations/{location}");
        let command = ["gcloud", "auth", "print-access-token"];
        let (key_name, command) = match &account {
            Some(_) => (ACCOUNT, Vec::new()),
            None => ("gcloud auth print-access-token", command.map(str::to_owned).to_vec()),
        };
        GoogleProject {
            base_url: project.map(address),
            key: account.map(Secret::new),
            key_name: key_name.to_owned(),
            command,
        }
    }
}

/// It becomes a part of the address.
fn is_label(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !name.is_empty() && name.len() <= 100 && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_account_names_its_project_and_gcloud_is_asked_without_one() {
        let none = GoogleProject::of(&Environment::default(), None);
        assert_eq!((none.base_url, none.command.len()), (None, 3));
        let file = r#"{"type": "service_account", "project_id": "p-1"}"#.to_owned();
        let own = GoogleProject::of(&Environment::default(), Some(file));
        let global = "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global";
        assert_eq!((own.base_url.as_deref(), own.key_name.as_str()), (Some(global), ACCOUNT));
        let variables = [("GOOGLE_CLOUD_PROJECT", "p-2"), ("CLOUD_ML_REGION", "us-east5")];
        let named = GoogleProject::of(&Environment::from_pairs(variables), None);
        let east = "https://us-east5-aiplatform.googleapis.com/v1/projects/p-2/locations/us-east5";
        assert_eq!(named.base_url.as_deref(), Some(east));
        let evil = [("GOOGLE_CLOUD_PROJECT", "p"), ("CLOUD_ML_REGION", "evil.example/x?")];
        let evil = GoogleProject::of(&Environment::from_pairs(evil), None);
        assert!(evil.base_url.unwrap().starts_with("https://aiplatform.googleapis.com/"));
    }
}
