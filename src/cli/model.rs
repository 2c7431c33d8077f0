//! Lists the models of the server and the built-in models (`avocet model list`).

use serde_json::json;

use crate::config::{Connection, ProviderSetting, Settings};
use crate::i18n::{Lang, LocalizedText, cli as w};
use crate::model::display_address;
use crate::protocol::Mode;

use crate::commands::PageRow;

/// The result of asking the server for its models.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelListing {
    /// No server is configured.
    NoServer,
    Models(Vec<String>),
    Failed(LocalizedText),
}

/// The models as rows, with the profile's models marked.
pub fn rows(settings: &Settings, offer: &ModelListing) -> Vec<PageRow> {
    let mut rows = Vec::new();
    if let Some(Connection { provider: ProviderSetting::Server(_), base_url, .. }) =
        &settings.connection
    {
        rows.push(PageRow::heading(display_address(base_url)));
    }
    match offer {
        ModelListing::NoServer => rows.push(PageRow::line(w::NO_SERVER)),
        ModelListing::Failed(why) => rows.push(PageRow::line(why.clone())),
        ModelListing::Models(models) if models.is_empty() => rows.push(PageRow::line(w::NO_MODELS)),
        ModelListing::Models(models) => {
            rows.extend(
                models.iter().map(|model| PageRow::pair(model.as_str(), mark(settings, model))),
            );
        }
    }
    rows.push(PageRow::heading(w::BUILT_IN_MODELS));
    rows.push(PageRow::pair("guide", w::MODEL_GUIDE));
    rows.push(PageRow::pair("scripted:FILE", w::MODEL_SCRIPTED));
    rows
}

/// The same as one JSON object.
pub fn json(settings: &Settings, offer: &ModelListing, lang: Lang) -> serde_json::Value {
    let connection = settings.connection.as_ref();
    let (models, problem) = match offer {
        ModelListing::NoServer => (None, None),
        ModelListing::Models(models) => (Some(models), None),
        ModelListing::Failed(why) => (None, Some(why.text(lang))),
    };
    json!({
        "base_url": connection.map(|connection| display_address(&connection.base_url)),
        "low": connection.map(|connection| &connection.low),
        "high": connection.map(|connection| &connection.high),
        "models": models,
        "problem": problem,
        "built_in": ["guide", "scripted:FILE"],
    })
}

/// `low`, `high` or both, for the models of the active profile.
fn mark(settings: &Settings, model: &str) -> String {
    let Some(connection) = &settings.connection else { return String::new() };
    let modes = [Mode::Low, Mode::High].into_iter();
    let modes = modes.filter(|mode| connection.model(*mode) == model).map(Mode::name);
    modes.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Paths, Sources, load};

    fn settings() -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(folder.path(), folder.path().to_owned());
        let variables = [("AVOCET_BASE_URL", "http://x/v1"), ("AVOCET_MODEL", "b")];
        let environment = Environment::from_pairs(variables);
        load(Sources { paths: &paths, environment: &environment, options: &[], project: &[] })
            .settings
    }

    #[test]
    fn the_models_in_force_are_marked() {
        let offer = ModelListing::Models(vec!["a".into(), "b".into()]);
        let rows = rows(&settings(), &offer);
        assert_eq!(
            rows[..3],
            [
                PageRow::heading("http://x/v1"),
                PageRow::pair("a", ""),
                PageRow::pair("b", "low, high")
            ]
        );
    }

    #[test]
    fn a_server_without_an_answer_is_reported_and_the_built_in_models_stay() {
        let offer = ModelListing::Failed(w::NO_SERVER.into());
        let rows = rows(&settings(), &offer);
        assert!(rows.contains(&PageRow::line(w::NO_SERVER)));
        assert!(rows.contains(&PageRow::pair("guide", w::MODEL_GUIDE)));
        assert!(json(&settings(), &offer, Lang::En)["problem"].is_string());
    }
}
