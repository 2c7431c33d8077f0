//! What a model can do and costs: what is known of it, over that what its server says, over both
//! what the user says. Pure; of the table, only the row of the model is parsed.

use serde::Deserialize;
use toml::de::ValueDeserializer;

use super::server_facts::ServerFacts;
use super::{Effort, name_pattern};
use avocet_core::protocol::{ModelOverride, Money, Prices, TokenPrices};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The context in tokens, the answer included.
    pub window: u64,
    /// The context it is loaded with, if that is less and the server says so.
    pub loaded: Option<u64>,
    /// The longest answer in tokens.
    pub output: u64,
    /// Whether it takes tools in the wire format's own way.
    pub tools: bool,
    pub images: bool,
    /// Whether it takes PDF documents: its provider does, and it sees their pages.
    pub documents: DocumentSupport,
    /// The levels of reasoning it accepts; empty: it cannot be told how much to reason; `None`:
    /// not known.
    pub effort: Option<Vec<Effort>>,
    pub caching: Caching,
    /// `None`: not known.
    pub prices: Option<Prices>,
    /// How many parameters it has, if the server or the name says so.
    pub parameters: Option<u64>,
    /// Whether anything is known of the model itself, or these are careful guesses.
    pub known: bool,
    /// The parameters that its server refused.
    pub refused: Vec<String>,
}

/// Whether PDF documents can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentSupport {
    Absent,
    Present,
}

/// How a provider keeps the beginning of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    None,
    /// By itself, wherever a request begins like an earlier one.
    Automatic,
    /// Up to the marks in the request.
    Marked,
}

/// The careful guesses for a model of which nothing is known.
const UNKNOWN: Capabilities = Capabilities {
    window: 32_768,
    loaded: None,
    output: 4_096,
    // They are tried: a server without them says so, and is not asked for them again.
    tools: true,
    images: false,
    documents: DocumentSupport::Absent,
    effort: None,
    caching: Caching::None,
    prices: None,
    parameters: None,
    known: false,
    refused: Vec::new(),
};

/// What is known of `model` at `provider` (a name of the table, such as `openai`; any other text
/// for a server that is none of them). Of several settings that cover it, the last one counts.
pub fn capabilities(
    provider: &str,
    model: &str,
    server: Option<&ServerFacts>,
    overrides: &[ModelOverride],
) -> Capabilities {
    let mut all = known(provider, model);
    if let Some(facts) = server {
        if let (Some(window), false) = (facts.window, all.known) {
            all.output = all.output.max(window / 4);
        }
        all.window = facts.window.unwrap_or(all.window);
        all.loaded = facts.loaded;
        all.output = facts.output.unwrap_or(all.output);
        all.tools = facts.tried_tools.or(facts.tools).unwrap_or(all.tools);
        all.images = facts.images.unwrap_or(all.images);
        all.parameters = facts.parameters.or(all.parameters);
        all.prices = facts.prices.or(all.prices);
        all.known |= !facts.is_silent();
        all.refused.clone_from(&facts.refused);
    }
    for said in overrides.iter().filter(|said| name_pattern::covers(&said.pattern, model)) {
        all.window = said.window.unwrap_or(all.window);
        all.output = said.output.unwrap_or(all.output);
        all.tools = said.tools.unwrap_or(all.tools);
        all.images = said.images.unwrap_or(all.images);
        all.prices = said.prices.or(all.prices);
        all.known = true;
    }
    if all.images && WITH_DOCUMENTS.contains(&provider) {
        all.documents = DocumentSupport::Present;
    }
    // An answer that fills the context leaves no room for a question.
    all.output = all.output.min(all.window / 2).max(1);
    all
}

/// The providers whose protocols have a block for documents.
const WITH_DOCUMENTS: &[&str] = &["anthropic", "gemini", "openai"];

fn known(provider: &str, model: &str) -> Capabilities {
    // AWS has the maker in the name of each model.
    let model = model.split_once("anthropic.").map_or(model, |(_, name)| name);
    let caching = match provider {
        "anthropic" => Caching::Marked,
        "local" => Caching::Automatic,
        provider if rows(provider).next().is_some() => Caching::Automatic,
        _ => Caching::None,
    };
    let row_of = |provider: &str| {
        let (_, rest) = rows(provider).find(|(pattern, _)| name_pattern::covers(pattern, model))?;
        ModelRow::parse(rest)
    };
    let own = row_of(provider);
    let anywhere = || ANYWHERE.iter().find_map(|provider| row_of(provider));
    let parameters = parameters_in_name(model);
    let prices = own.as_ref().and_then(ModelRow::prices);
    let Some(row) = own.or_else(anywhere) else {
        return Capabilities { caching, parameters, ..UNKNOWN };
    };
    Capabilities {
        window: row.window,
        loaded: None,
        output: row.output,
        tools: row.tools,
        images: row.images,
        documents: DocumentSupport::Absent,
        effort: Some(row.effort),
        caching,
        prices,
        parameters,
        known: true,
        refused: Vec::new(),
    }
}

/// Where a model is looked up that its own provider has no row for: makers first, then open models.
#[rustfmt::skip]
const ANYWHERE: &[&str] = &[
    "openai", "anthropic", "gemini", "deepseek", "moonshot", "zai", "dashscope", "mistral", "xai",
    "local",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelRow {
    window: u64,
    output: u64,
    #[serde(default = "yes")]
    tools: bool,
    #[serde(default)]
    images: bool,
    #[serde(default)]
    effort: Vec<Effort>,
    price: Option<[f64; 4]>,
    long: Option<LongPrice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongPrice {
    above: u64,
    price: [f64; 4],
}

fn yes() -> bool {
    true
}

impl ModelRow {
    /// From what follows the pattern on its line.
    fn parse(rest: &str) -> Option<ModelRow> {
        let row = format!("{{{rest}");
        ModelRow::deserialize(ValueDeserializer::parse(&row).ok()?).ok()
    }

    fn prices(&self) -> Option<Prices> {
        let long = self.long.as_ref().and_then(|long| Some((long.above, tokens(long.price)?)));
        Some(Prices { usual: tokens(self.price?)?, long })
    }
}

fn tokens(price: [f64; 4]) -> Option<TokenPrices> {
    let [input, output, cached, written] = price.map(Money::from_dollars);
    Some(TokenPrices { input: input?, output: output?, cached: cached?, written: written? })
}

/// The rows of `provider`, in the order of the table: the pattern, and what follows it. A row is
/// one line: to parse them all would take milliseconds and two megabytes.
fn rows(provider: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE
        .lines()
        .skip_while(move |line| line.strip_suffix(" = [") != Some(provider))
        .skip(1)
        .take_while(|line| *line != "]")
        .filter_map(|line| {
            let row = line.trim().strip_prefix("{ match = \"")?.strip_suffix(',')?;
            row.split_once("\",")
        })
}

const TABLE: &str = include_str!("../../assets/models.toml");

/// `qwen3-30b-a3b` has thirty thousand million parameters: the largest number before a `b`, or
/// before an `m` for millions.
fn parameters_in_name(model: &str) -> Option<u64> {
    let model = model.to_lowercase();
    let words = model.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    let size = |word: &str| {
        let (number, unit) = match word.strip_suffix('b') {
            Some(number) => (number, 1e9),
            None => (word.strip_suffix('m')?, 1e6),
        };
        let number: f64 = number.parse().ok().filter(|number| *number > 0.0)?;
        Some((number * unit) as u64)
    };
    words.filter_map(size).filter(|size| *size <= 10_000_000_000_000).max()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn table() -> BTreeMap<String, Vec<toml::Table>> {
        toml::from_str(TABLE).unwrap()
    }

    #[test]
    fn the_table_is_readable_and_its_rows_are_sound() {
        let table = table();
        for provider in ANYWHERE {
            assert!(table.contains_key(*provider), "{provider} has no rows");
        }
        for (provider, parsed) in &table {
            let patterns: Vec<&str> = rows(provider).map(|(pattern, _)| pattern).collect();
            let all: Vec<&str> = parsed.iter().map(|row| row["match"].as_str().unwrap()).collect();
            assert_eq!(patterns, all, "{provider}: a row is not one line");
            for (pattern, rest) in rows(provider) {
                let name = format!("{provider}: {pattern}");
                let row = ModelRow::parse(rest).expect(&name);
                assert!(row.output <= row.window && row.window >= 2_048, "{name}");
                assert!(row.price.is_none() || row.prices().is_some(), "{name}");
                if let Some(prices) = row.prices() {
                    assert!(prices.usual.cached <= prices.usual.input, "{name}");
                    assert!(prices.usual.input <= prices.usual.output, "{name}");
                }
            }
        }
    }

    #[test]
    fn no_row_is_hidden_by_a_wider_one_before_it() {
        for provider in table().keys() {
            for (at, (pattern, _)) in rows(provider).enumerate() {
                // A name that the pattern itself spells out.
                let name: String = pattern.replace('*', "zz").replace('?', "9");
                let name = match name.split_once('[') {
                    Some((before, after)) => {
                        let (choice, rest) = after.split_once(']').unwrap();
                        let first: String = choice.chars().take(1).collect();
                        format!("{before}{first}{rest}")
                    }
                    None => name,
                };
                let first = rows(provider).position(|(row, _)| name_pattern::covers(row, &name));
                assert_eq!(first, Some(at), "{provider}: {pattern} is never used");
            }
        }
    }

    #[test]
    fn a_known_model_has_the_figures_of_its_row() {
        let sonnet = capabilities("anthropic", "claude-sonnet-4-5-20250929", None, &[]);
        assert_eq!((sonnet.window, sonnet.output), (200_000, 64_000));
        assert!(sonnet.tools && sonnet.images && sonnet.known);
        assert_eq!(sonnet.documents, DocumentSupport::Present);
        let hosted = capabilities("", "claude-sonnet-4-5-20250929", None, &[]);
        assert!(hosted.images);
        assert_eq!(hosted.documents, DocumentSupport::Absent, "another server may not");
        assert_eq!(sonnet.caching, Caching::Marked);
        assert_eq!(sonnet.prices.unwrap().usual.written, Money(3_750_000));
        let flash = capabilities("gemini", "models/gemini-2.5-pro", None, &[]);
        assert_eq!(flash.prices.unwrap().long.unwrap().0, 200_000);
        let gpt = capabilities("openai", "gpt-5-mini-2025-08-07", None, &[]);
        let levels = vec![Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
        assert_eq!(gpt.effort, Some(levels));
    }

    #[test]
    fn a_model_at_another_host_keeps_its_abilities_and_has_no_price() {
        let proxied = capabilities("", "openai/gpt-5", None, &[]);
        assert_eq!((proxied.window, proxied.prices), (400_000, None));
        let local = capabilities("local", "qwen3:8b", None, &[]);
        assert_eq!((local.window, local.prices), (40_960, None));
        assert_eq!(local.parameters, Some(8_000_000_000));
    }

    #[test]
    fn of_an_unknown_model_only_tools_are_tried_until_they_are_refused() {
        let unknown = capabilities("", "my-own-model", None, &[]);
        assert_eq!(unknown, UNKNOWN);
        assert!(unknown.tools && !unknown.known, "tools are tried");
        let refused = ServerFacts { tried_tools: Some(false), ..ServerFacts::default() };
        let refused = capabilities("", "my-own-model", Some(&refused), &[]);
        assert!(!refused.tools && !refused.known);
    }

    #[test]
    fn the_server_counts_more_than_the_table_and_the_user_more_than_both() {
        let facts = ServerFacts { window: Some(8_192), tools: Some(false), ..Default::default() };
        let said = capabilities("local", "qwen3:8b", Some(&facts), &[]);
        assert_eq!((said.window, said.output, said.tools), (8_192, 4_096, false));
        let mine = [
            ModelOverride { pattern: "*".into(), window: Some(4_096), ..Default::default() },
            ModelOverride { pattern: "qwen3*".into(), tools: Some(true), ..Default::default() },
            ModelOverride { pattern: "llama*".into(), images: Some(true), ..Default::default() },
        ];
        let said = capabilities("local", "qwen3:8b", Some(&facts), &mine);
        assert_eq!(
            (said.window, said.output, said.tools, said.images),
            (4_096, 2_048, true, false)
        );
    }

    #[test]
    fn the_size_of_a_model_is_read_from_its_name() {
        for (name, size) in [
            ("qwen3-30b-a3b", Some(30_000_000_000)),
            ("SmolLM2-135M-Instruct-Q4_1.gguf", Some(135_000_000)),
            ("llama3.2:1b", Some(1_000_000_000)),
            ("qwen2.5-0.5b-instruct", Some(500_000_000)),
            ("gpt-5", None),
            ("claude-opus-4-5-20251101", None),
        ] {
            assert_eq!(parameters_in_name(name), size, "{name}");
        }
    }
}
