//! A model of which something is known: how it proposes steps, how much it can read and write,
//! which prompt suits it, and what its tokens cost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};

use super::capabilities::DocumentSupport;
use super::wire::features::omit;
use super::{Capabilities, Chunk, Model, ModelError, ModelLimits, Request, ServerFacts};
use avocet_core::deadline::with_timeout;
use avocet_core::protocol::{Dialect, Effort, Image, Params, Prices, PromptSize, cost};

pub struct DescribedModel {
    inner: Arc<dyn Model>,
    capabilities: Arc<CapabilitiesMemo>,
    choices: ModelChoices,
    remember: RememberFacts,
    /// Its server refused tools.
    refuses_tools: Arc<AtomicBool>,
    /// Its server was waited for.
    has_waited: AtomicBool,
}

/// What the user chose for a model, or its server needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelChoices {
    /// Without one, models that take tools call them.
    pub dialect: Option<Dialect>,
    /// Without one, small models get the short prompt.
    pub prompt: Option<PromptSize>,
    /// Whether it is offered a tool for shell lines.
    pub offers_shell: bool,
    /// Whether it is at a server of this machine or network, which lets a model answer without
    /// end.
    pub is_near: bool,
}

/// A model of at most so many parameters is small.
const SMALL: u64 = 4_000_000_000;

/// The longest answer of a small model, which seldom has more to say, and of a tiny one, which
/// more often repeats itself until it is stopped.
const SMALL_ANSWER: u64 = 4_096;
const TINY: u64 = 1_000_000_000;
const TINY_ANSWER: u64 = 1_024;

/// How long a first request waits for what a near server says of its model.
const FACTS_WAIT: Duration = Duration::from_millis(300);

/// The shortest limit of an answer, however full the context is.
const MIN_ANSWER: u64 = 256;

/// The text in the place of a document that the model cannot read.
const UNREAD: &str = "[a PDF document that this model cannot read]";
/// The text in the place of an image that the model cannot see.
const UNSEEN: &str = "[an image that this model cannot see]";

/// How a small model is sampled: far from repetition, and from invention.
const TEMPERATURE: f64 = 0.2;
const FREQUENCY_PENALTY: f64 = 0.3;

/// What is known of a model of the name it has when it is asked, since a server may choose it, and
/// of which its server says this.
pub type CapabilitiesOf = Arc<dyn Fn(&str, Option<&ServerFacts>) -> Capabilities + Send + Sync>;

/// Keeps what a server says of a model for the next time.
pub type RememberFacts = Arc<dyn Fn(&str, &ServerFacts) + Send + Sync>;

/// The last answer: a request asks several times, and the whole table is read for a model that is
/// not in it.
struct CapabilitiesMemo {
    of: CapabilitiesOf,
    last: Mutex<Option<(String, Option<ServerFacts>, Capabilities)>>,
}

impl CapabilitiesMemo {
    fn of(&self, model: &dyn Model) -> Capabilities {
        let name = model.name();
        let facts = model.facts();

        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, of, capabilities)) = &*last
            && known == name
            && of.as_ref() == facts
        {
            return capabilities.clone();
        }
        let capabilities = (self.of)(name, facts);
        *last = Some((name.to_owned(), facts.cloned(), capabilities.clone()));
        capabilities
    }
}

impl DescribedModel {
    pub fn new(
        inner: Arc<dyn Model>,
        capabilities: CapabilitiesOf,
        choices: ModelChoices,
    ) -> DescribedModel {
        let capabilities = CapabilitiesMemo { of: capabilities, last: Mutex::default() };
        DescribedModel {
            inner,
            capabilities: Arc::new(capabilities),
            choices,
            remember: Arc::new(|_, _| ()),
            refuses_tools: Arc::default(),
            has_waited: AtomicBool::new(false),
        }
    }

    /// Passes on what the server says, once it was asked.
    #[must_use]
    pub fn with_memory(self, remember: RememberFacts) -> DescribedModel {
        DescribedModel { remember, ..self }
    }

    fn known(&self) -> Capabilities {
        let mut known = self.capabilities.of(self.inner.as_ref());
        if let Some(window) = self.inner.enforced_window() {
            known.window = known.window.min(window);
            known.output = known.output.min(known.window / 2);
            known.known = true;
        }
        known
    }

    /// Adds what is not asked for but does this model good, and takes out what it cannot read.
    fn fit(&self, mut request: Request) -> Request {
        let known = self.known();
        for message in &mut request.messages {
            if !known.images {
                message.replace_images_that(UNSEEN, |image| !image.is_document());
            }
            if known.documents == DocumentSupport::Absent {
                message.replace_images_that(UNREAD, Image::is_document);
            }
        }
        let limits = ModelLimits {
            window: known.known.then_some(known.window),
            loaded: known.loaded,
            output: known.known.then_some(known.output),
            reasons: known.effort.as_ref().map(|levels| !levels.is_empty()),
        };
        let mut params = match self.prompt_size() {
            PromptSize::Full => request.params.clone(),
            PromptSize::Short => with_steady_sampling(&request.params, self.choices.is_near),
        };
        known.refused.iter().for_each(|name| omit(&mut params, name));
        // What the model does not know becomes the nearest that it knows.
        let effort = match self.effort_levels() {
            Some(levels) => request.effort.and_then(|wanted| wanted.nearest(&levels)),
            None => request.effort,
        };
        if self.choices.is_near && params.max_tokens.is_none() && !params.is_unlimited {
            let limit = answer_limit(&known, request.estimate_tokens());
            params.max_tokens = u32::try_from(limit).ok();
        }
        Request { params, limits, effort, ..request }
    }
}

/// How long an answer may be, so that it ends before the context is full.
fn answer_limit(capabilities: &Capabilities, asked: u64) -> u64 {
    let most = if capabilities.known {
        if is_at_most(capabilities, TINY) {
            capabilities.output.min(TINY_ANSWER)
        } else if is_at_most(capabilities, SMALL) {
            capabilities.output.min(SMALL_ANSWER).min(capabilities.window / 4)
        } else {
            capabilities.output
        }
    } else if is_at_most(capabilities, TINY) {
        capabilities.output.min(TINY_ANSWER)
    } else if is_at_most(capabilities, SMALL) {
        capabilities.output.min(SMALL_ANSWER).min(capabilities.window / 4)
    } else {
        capabilities.window / 4
    };
    most.min(capabilities.window.saturating_sub(asked)).max(MIN_ANSWER)
}

fn is_at_most(known: &Capabilities, parameters: u64) -> bool {
    known.parameters.is_some_and(|known| known <= parameters)
}

/// Where the user set nothing. Hosted models may refuse a penalty.
fn with_steady_sampling(params: &Params, is_near: bool) -> Params {
    let penalty = is_near.then_some(FREQUENCY_PENALTY);
    Params {
        temperature: params.temperature.or(Some(TEMPERATURE)),
        frequency_penalty: params.frequency_penalty.or(penalty),
        ..params.clone()
    }
}

impl Model for DescribedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.choices.dialect.unwrap_or_else(|| {
            let takes_tools = self.known().tools && !self.refuses_tools.load(Ordering::Relaxed);
            if takes_tools { Dialect::Tools } else { Dialect::Json }
        })
    }

    fn is_small(&self) -> bool {
        is_at_most(&self.known(), SMALL)
    }

    fn prompt_size(&self) -> PromptSize {
        self.choices
            .prompt
            .unwrap_or_else(|| if self.is_small() { PromptSize::Short } else { PromptSize::Full })
    }

    fn offers_shell(&self) -> bool {
        self.choices.offers_shell
    }

    fn window(&self) -> Option<u64> {
        let known = self.known();
        // A near server may cut what it has no room for without a word.
        (known.known || self.choices.is_near).then_some(known.window)
    }

    fn effort_levels(&self) -> Option<Vec<Effort>> {
        self.known().effort
    }

    fn prices(&self) -> Option<Prices> {
        self.known().prices
    }

    fn takes_images(&self) -> bool {
        self.known().images
    }

    fn search_host(&self) -> Option<String> {
        self.inner.search_host()
    }

    fn takes_documents(&self) -> bool {
        self.known().documents == DocumentSupport::Present
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.inner.facts()
    }

    fn learn(&self) -> BoxFuture<'static, ()> {
        let inner = Arc::clone(&self.inner);
        let remember = Arc::clone(&self.remember);

        async move {
            inner.learn().await;
            if let Some(facts) = inner.facts() {
                remember(inner.name(), facts);
            }
        }
        .boxed()
    }

    fn wait_for_facts(&self) -> BoxFuture<'_, ()> {
        let is_known = self.inner.facts().is_some();
        if !self.choices.is_near || is_known || self.has_waited.swap(true, Ordering::Relaxed) {
            return std::future::ready(()).boxed();
        }
        async move {
            let _in_time = with_timeout(FACTS_WAIT, self.learn()).await;
        }
        .boxed()
    }

    fn note_tools(&self, works: bool) {
        self.refuses_tools.store(!works, Ordering::Relaxed);
        let said = self.inner.facts().cloned().unwrap_or_default();
        let facts = ServerFacts { tried_tools: Some(works), ..said };
        (self.remember)(self.inner.name(), &facts);
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let inner = Arc::clone(&self.inner);
        let known = Arc::clone(&self.capabilities);

        let refuses_tools = Arc::clone(&self.refuses_tools);
        let remember = Arc::clone(&self.remember);

        let named = Arc::clone(&self.inner);
        let mut is_first = true;
        let noted = move |chunk: Result<Chunk, ModelError>| {
            let new = is_first.then(|| named.refused_params()).filter(|new| !new.is_empty());
            is_first = false;
            if let Some(new) = new {
                let refused = new.into_iter().map(str::to_owned).collect();
                let said = named.facts().cloned().unwrap_or_default();
                remember(named.name(), &ServerFacts { refused, ..said });
            }
            if matches!(chunk, Err(ModelError::NoTools { .. }))
                && !refuses_tools.swap(true, Ordering::Relaxed)
            {
                let said = named.facts().cloned().unwrap_or_default();
                remember(named.name(), &ServerFacts { tried_tools: Some(false), ..said });
            }
            chunk
        };
        let priced = move |chunk| match chunk {
            Chunk::Usage(mut usage) => {
                let prices = known.of(inner.as_ref()).prices;
                usage.cost = prices.map_or(usage.cost, |prices| cost(usage, &prices));
                Chunk::Usage(usage)
            }
            chunk => chunk,
        };
        let chunks = self.inner.stream(self.fit(request));
        chunks.map(noted).map(move |chunk| chunk.map(&priced)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scripted;
    use crate::capabilities::capabilities;
    use avocet_core::protocol::{Message, Money, Prices, TokenPrices, Usage};

    fn described(
        provider: &'static str,
        name: &'static str,
        choices: ModelChoices,
    ) -> DescribedModel {
        let inner = Scripted::parse(name, "hello").unwrap();
        let known =
            move |_: &str, facts: Option<&ServerFacts>| capabilities(provider, name, facts, &[]);
        DescribedModel::new(Arc::new(inner), Arc::new(known), choices)
    }

    async fn usage(prices: Option<Prices>) -> Option<Usage> {
        let script = "#! {\"usage\":[3,4]}\nhello";
        let inner = Scripted::parse("replies.txt", script).unwrap();
        let known = move |_: &str, _: Option<&ServerFacts>| Capabilities {
            prices,
            ..capabilities("", "m", None, &[])
        };
        let model = DescribedModel::new(Arc::new(inner), Arc::new(known), ModelChoices::default());
        let chunks: Vec<_> = model.stream(Request::default()).collect().await;
        chunks.into_iter().find_map(|chunk| match chunk {
            Ok(Chunk::Usage(usage)) => Some(usage),
            _ => None,
        })
    }

    #[tokio::test]
    async fn tokens_get_their_cost_only_if_the_price_is_known() {
        let each = Money(2_000_000);
        let prices = TokenPrices { output: each, input: each, cached: each, written: each };
        let priced = usage(Some(prices.into())).await.unwrap();
        assert_eq!(priced.cost.0, 2 * (priced.input_tokens + priced.output_tokens));
        assert_eq!(usage(None).await.unwrap().cost, Money(0));
    }

    #[test]
    fn models_that_take_tools_call_them_unless_the_user_says_otherwise() {
        let dialect = |provider, name, dialect| {
            described(provider, name, ModelChoices { dialect, ..ModelChoices::default() }).dialect()
        };
        assert_eq!(dialect("anthropic", "claude-sonnet-4-5", None), Dialect::Tools);
        assert_eq!(dialect("openai", "gpt-4o", Some(Dialect::Json)), Dialect::Json);
        assert_eq!(dialect("local", "nothing-known", None), Dialect::Tools, "they are tried");
        assert_eq!(dialect("local", "nothing-known", Some(Dialect::Json)), Dialect::Json);
        assert_eq!(dialect("local", "nothing-known", Some(Dialect::Tools)), Dialect::Tools);
    }

    const NEAR: ModelChoices =
        ModelChoices { dialect: None, prompt: None, offers_shell: false, is_near: true };

    /// What is sent of these parameters.
    fn sent(name: &'static str, choices: ModelChoices, params: Params, bytes: usize) -> Params {
        let messages = vec![Message::user("x".repeat(bytes))];
        described("local", name, choices)
            .fit(Request { messages, params, ..Request::default() })
            .params
    }

    #[test]
    fn the_answer_of_a_near_server_is_bounded_and_fits_beside_the_question() {
        let limit = |name, choices, bytes| sent(name, choices, Params::default(), bytes).max_tokens;
        assert_eq!(limit("nothing-known", ModelChoices::default(), 10), None, "hosted");
        assert_eq!(limit("nothing-known", NEAR, 10), Some(8_192), "a quarter of the guess");
        let (full, table) = (limit("qwen3:8b", NEAR, 3 * 40_000), limit("qwen3:8b", NEAR, 10));
        assert!(full < table && full < Some(1_000), "{full:?} of {table:?}");
        assert_eq!(limit("qwen3:8b", NEAR, 3 * 50_000), Some(256), "never nothing");
        assert_eq!(limit("small-135m", NEAR, 10), Some(1_024));
        assert_eq!(limit("small-2b", NEAR, 10), Some(4_096));
        let mine = Params { max_tokens: Some(7), ..Params::default() };
        assert_eq!(sent("nothing-known", NEAR, mine, 10).max_tokens, Some(7));
        let unlimited = Params { is_unlimited: true, ..Params::default() };
        assert_eq!(sent("nothing-known", NEAR, unlimited, 10).max_tokens, None);
    }

    #[test]
    fn a_small_model_gets_the_short_prompt_and_steady_sampling_unless_the_user_says_otherwise() {
        let size = |name, prompt| described("local", name, ModelChoices { prompt, ..NEAR });
        assert_eq!(size("small-135m", None).prompt_size(), PromptSize::Short);
        assert_eq!(size("qwen3:8b", None).prompt_size(), PromptSize::Full);
        assert_eq!(size("qwen3:8b", Some(PromptSize::Short)).prompt_size(), PromptSize::Short);
        assert_eq!(size("small-135m", Some(PromptSize::Full)).prompt_size(), PromptSize::Full);
        let steady = sent("small-135m", NEAR, Params::default(), 10);
        assert_eq!((steady.temperature, steady.frequency_penalty), (Some(0.2), Some(0.3)));
        let mine = Params { temperature: Some(1.0), ..Params::default() };
        assert_eq!(sent("small-135m", NEAR, mine, 10).temperature, Some(1.0));
        assert_eq!(sent("qwen3:8b", NEAR, Params::default(), 10).temperature, None);
    }

    /// A model whose server tells of it when it is asked.
    struct Told(Arc<Mutex<Option<&'static ServerFacts>>>, ServerFacts);

    impl Model for Told {
        fn name(&self) -> &str {
            "own-model"
        }

        fn facts(&self) -> Option<&ServerFacts> {
            *self.0.lock().unwrap()
        }

        fn learn(&self) -> BoxFuture<'static, ()> {
            let facts: &'static ServerFacts = Box::leak(Box::new(self.1.clone()));
            *self.0.lock().unwrap() = Some(facts);
            std::future::ready(()).boxed()
        }

        fn stream(&self, _: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
            futures_util::stream::empty().boxed()
        }
    }

    #[test]
    fn a_refusal_of_tools_and_a_test_of_them_are_remembered_and_count_from_then_on() {
        let inner = Scripted::parse("m", "hello").unwrap();
        let known = |_: &str, facts: Option<&ServerFacts>| capabilities("", "m", facts, &[]);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&kept);
        let model = DescribedModel::new(Arc::new(inner), Arc::new(known), NEAR)
            .with_memory(Arc::new(move |_, facts| keep.lock().unwrap().push(facts.tried_tools)));
        model.note_tools(false);
        assert_eq!(model.dialect(), Dialect::Json);
        model.note_tools(true);
        assert_eq!(model.dialect(), Dialect::Tools);
        assert_eq!(*kept.lock().unwrap(), [Some(false), Some(true)]);
    }

    #[tokio::test]
    async fn what_the_server_says_counts_from_then_on_and_is_passed_on() {
        let facts = ServerFacts {
            window: Some(8_192),
            tools: Some(true),
            parameters: Some(135_000_000),
            ..ServerFacts::default()
        };
        let told = Arc::new(Told(Arc::default(), facts.clone()));
        let known =
            |name: &str, facts: Option<&ServerFacts>| capabilities("local", name, facts, &[]);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&kept);
        let model = DescribedModel::new(told, Arc::new(known), NEAR).with_memory(Arc::new(
            move |name, facts| keep.lock().unwrap().push((name.to_owned(), facts.clone())),
        ));
        assert_eq!((model.dialect(), model.window()), (Dialect::Tools, Some(32_768)));
        model.wait_for_facts().await;
        assert_eq!((model.dialect(), model.window()), (Dialect::Tools, Some(8_192)));
        assert_eq!(model.prompt_size(), PromptSize::Short);
        assert_eq!(kept.lock().unwrap().len(), 1);
        model.wait_for_facts().await;
        assert_eq!(*kept.lock().unwrap(), [("own-model".to_owned(), facts)]);
    }
}
