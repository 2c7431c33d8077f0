//! Lists the models of the server and the built-in models (`avocet model list`).

use serde_json::json;

use avocet_config::{Connection, ProviderSetting, Settings};
use avocet_core::i18n::{Lang, LocalizedText, PhraseValue, cli as w};
use avocet_core::protocol::{Mode, Prices, TokenPrices};
use avocet_model::capabilities::capabilities;
use avocet_model::{
    Caching, Capabilities, ListedModel, ServerFacts, display_address, not_connected, provider_name,
};

use avocet_present::commands::PageRow;

/// The result of asking the server for its models.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelListing {
    /// No server is configured.
    NoServer,
    Models(Vec<ListedModel>),
    Failed(LocalizedText),
}

/// The models as rows, with the profile's models marked.
pub fn rows(settings: &Settings, listing: &ModelListing) -> Vec<PageRow> {
    let mut rows = Vec::new();
    if let Some(Connection { provider: ProviderSetting::Server(_), base_url, .. }) =
        &settings.connection
    {
        rows.push(PageRow::heading(display_address(base_url)));
    }
    match listing {
        ModelListing::NoServer => rows.push(PageRow::line(not_connected())),
        ModelListing::Failed(why) => rows.push(PageRow::line(why.clone())),
        ModelListing::Models(models) if models.is_empty() => rows.push(PageRow::line(w::NO_MODELS)),
        ModelListing::Models(models) => {
            rows.extend(models.iter().map(|model| {
                let about = about(&capabilities_of(settings, &model.name, Some(&model.facts)));
                let mark = Some(mark(settings, &model.name)).filter(|mark| !mark.is_empty());
                PageRow::pair(
                    model.name.as_str(),
                    joined(mark.map(PhraseValue::from).into_iter().chain(about)),
                )
            }));
        }
    }
    rows.push(PageRow::heading(w::BUILT_IN_MODELS));
    rows.push(PageRow::pair("guide", w::MODEL_GUIDE));
    rows.push(PageRow::pair("scripted:FILE", w::MODEL_SCRIPTED));
    rows
}

/// The same as one JSON object.
pub fn json(settings: &Settings, listing: &ModelListing, lang: Lang) -> serde_json::Value {
    let connection = settings.connection.as_ref();
    let (models, problem) = match listing {
        ModelListing::NoServer => (None, None),
        ModelListing::Models(models) => (Some(models), None),
        ModelListing::Failed(why) => (None, Some(why.text(lang))),
    };
    let names = models.map(|models| models.iter().map(|model| &model.name).collect::<Vec<_>>());
    let details = models.map(|models| {
        let detail = |model: &ListedModel| {
            let can = capabilities_of(settings, &model.name, Some(&model.facts));
            detail(&model.name, &can)
        };
        models.iter().map(detail).collect::<Vec<_>>()
    });
    json!({
        "base_url": connection.map(|connection| display_address(&connection.base_url)),
        "low": connection.map(|connection| &connection.low),
        "high": connection.map(|connection| &connection.high),
        "models": names,
        "details": details,
        "problem": problem,
        "built_in": ["guide", "scripted:FILE"],
    })
}

/// What is known of a model at the server of the settings.
pub fn capabilities_of(
    settings: &Settings,
    model: &str,
    facts: Option<&ServerFacts>,
) -> Capabilities {
    let url = settings.connection.as_ref().map_or("", |connection| &connection.base_url);
    capabilities(&provider_name(url), model, facts, &settings.models.overrides)
}

/// The page of one model (`model show`).
pub fn details(model: &str, capabilities: &Capabilities) -> Vec<PageRow> {
    let yes_no = |yes: bool| if yes { w::YES } else { w::NO };
    let efforts: Vec<&str> =
        capabilities.effort.iter().flatten().map(|effort| effort.name()).collect();
    let effort = if efforts.is_empty() {
        PhraseValue::from(w::MODEL_NO_EFFORT)
    } else {
        PhraseValue::from(efforts.join(", "))
    };
    let caching = match capabilities.caching {
        Caching::None => w::MODEL_UNKNOWN,
        Caching::Automatic => w::MODEL_CACHE_AUTOMATIC,
        Caching::Marked => w::MODEL_CACHE_MARKED,
    };
    let mut rows = vec![
        PageRow::heading(model),
        PageRow::pair(w::MODEL_CONTEXT, w::MODEL_WINDOW.with("n", capabilities.window)),
        PageRow::pair(w::MODEL_ANSWER, w::MODEL_WINDOW.with("n", capabilities.output)),
        PageRow::pair(w::MODEL_TOOLS, yes_no(capabilities.tools)),
        PageRow::pair(w::MODEL_IMAGES, yes_no(capabilities.images)),
        PageRow::pair(w::MODEL_EFFORT, effort),
        PageRow::pair(w::MODEL_CACHE, caching),
    ];
    if let Some(count) = capabilities.parameters {
        rows.push(PageRow::pair(w::MODEL_PARAMETERS, count.to_string()));
    }
    match capabilities.prices {
        None => rows.push(PageRow::pair(w::MODEL_PRICES, w::MODEL_UNKNOWN)),
        Some(Prices { usual, long }) => {
            rows.push(PageRow::pair(w::MODEL_PRICES, prices(usual)));
            rows.extend(long.map(|(above, long)| {
                PageRow::pair(w::MODEL_PRICES_LONG.with("n", above), prices(long))
            }));
        }
    }
    if !capabilities.known {
        rows.push(PageRow::line(w::MODEL_GUESSED));
    }
    rows
}

fn prices(prices: TokenPrices) -> LocalizedText {
    w::MODEL_ALL_PRICES
        .with("input", prices.input.to_string())
        .with("output", prices.output.to_string())
        .with("cached", prices.cached.to_string())
        .with("written", prices.written.to_string())
}

/// What a list says of a model; nothing of one that is not known.
fn about(capabilities: &Capabilities) -> Vec<PhraseValue> {
    if !capabilities.known {
        return Vec::new();
    }
    let window = w::MODEL_WINDOW.with("n", capabilities.window).into();
    let tools = capabilities.tools.then_some(w::MODEL_TOOLS).map(PhraseValue::from);
    let images = capabilities.images.then_some(w::MODEL_IMAGES).map(PhraseValue::from);
    let price = capabilities.prices.map(|prices| {
        let Prices { usual, .. } = prices;
        w::MODEL_PRICE
            .with("input", usual.input.to_string())
            .with("output", usual.output.to_string())
            .into()
    });
    [Some(window), tools, images, price].into_iter().flatten().collect()
}

fn joined(parts: impl Iterator<Item = PhraseValue>) -> PhraseValue {
    parts.reduce(|a, b| w::MODEL_AND.with("a", a).with("b", b).into()).unwrap_or_else(|| "".into())
}

fn detail(name: &str, capabilities: &Capabilities) -> serde_json::Value {
    let price = capabilities.prices.map(|Prices { usual, .. }| {
        json!({
            "input_micros": usual.input, "output_micros": usual.output,
            "cached_micros": usual.cached, "written_micros": usual.written,
        })
    });
    json!({
        "name": name, "window": capabilities.window, "output": capabilities.output, "tools": capabilities.tools,
        "images": capabilities.images, "known": capabilities.known, "price_per_million": price,
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
    use avocet_config::{Environment, Paths, Sources, load};
    use avocet_core::protocol::{ModelOverride, Money};

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
    fn a_known_model_is_listed_with_what_it_can_and_costs() {
        let mut settings = settings();
        let each = Money(3_000_000);
        let prices = TokenPrices { input: each, output: each, cached: each, written: each };
        settings.models.overrides = vec![ModelOverride {
            pattern: "b".into(),
            window: Some(65_536),
            tools: Some(true),
            prices: Some(prices.into()),
            ..ModelOverride::default()
        }];
        let offer = ModelListing::Models(vec!["b".into()]);
        let [_, PageRow::Pair { value, .. }, ..] = &rows(&settings, &offer)[..] else { panic!() };
        let text = value.text(Lang::En);
        assert_eq!(text, "low, high, 65536 tokens, tools, $3.00 in and $3.00 out per million");
        let json = json(&settings, &offer, Lang::En);
        assert_eq!(json["models"], serde_json::json!(["b"]));
        assert_eq!(json["details"][0]["price_per_million"]["input_micros"], 3_000_000);
        let page = details("b", &capabilities_of(&settings, "b", None));
        assert!(page.contains(&PageRow::pair(w::MODEL_TOOLS, w::YES)));
    }

    #[test]
    fn a_server_without_an_answer_is_reported_and_the_built_in_models_stay() {
        let offer = ModelListing::Failed(not_connected());
        let rows = rows(&settings(), &offer);
        assert!(rows.contains(&PageRow::line(not_connected())));
        assert!(rows.contains(&PageRow::pair("guide", w::MODEL_GUIDE)));
        assert!(json(&settings(), &offer, Lang::En)["problem"].is_string());
    }
}
