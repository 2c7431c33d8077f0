//! A model of which something is known: how it proposes steps, how much it can read, and what its
//! tokens cost.

use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt};

use super::{Capabilities, Chunk, Model, ModelError, Request};
use crate::protocol::{Dialect, cost};

pub struct DescribedModel {
    inner: Arc<dyn Model>,
    /// By the name the model has when it is asked: a server may choose it.
    capabilities: CapabilitiesOf,
    /// The user's choice.
    dialect: Option<Dialect>,
}

/// A model of at most so many parameters is small.
const SMALL: u64 = 4_000_000_000;

/// What is known of a model of this name.
pub type CapabilitiesOf = Arc<dyn Fn(&str) -> Capabilities + Send + Sync>;

impl DescribedModel {
    /// Without a `dialect`, models that take tools call them.
    pub fn new(
        inner: Arc<dyn Model>,
        capabilities: CapabilitiesOf,
        dialect: Option<Dialect>,
    ) -> DescribedModel {
        DescribedModel { inner, capabilities, dialect }
    }
}

impl Model for DescribedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        let takes_tools = || (self.capabilities)(self.inner.name()).tools;
        self.dialect.unwrap_or_else(|| match takes_tools() {
            true => Dialect::Tools,
            false => Dialect::Json,
        })
    }

    fn is_small(&self) -> bool {
        let known = (self.capabilities)(self.inner.name());
        known.parameters.is_some_and(|parameters| parameters <= SMALL)
    }

    fn window(&self) -> Option<u64> {
        let known = (self.capabilities)(self.inner.name());
        known.known.then_some(known.window)
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let (inner, known) = (Arc::clone(&self.inner), Arc::clone(&self.capabilities));
        let priced = move |chunk| match chunk {
            Chunk::Usage(mut usage) => {
                let prices = known(inner.name()).prices;
                usage.cost = prices.map_or(usage.cost, |prices| cost(usage, &prices));
                Chunk::Usage(usage)
            }
            chunk => chunk,
        };
        self.inner.stream(request).map(move |chunk| chunk.map(&priced)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Scripted;
    use crate::model::capabilities::capabilities;
    use crate::protocol::{Money, Prices, TokenPrices, Usage};

    async fn usage(prices: Option<Prices>) -> Option<Usage> {
        let script = "#! {\"usage\":[3,4]}\nhello";
        let inner = Scripted::parse("replies.txt", script).unwrap();
        let known = move |_: &str| Capabilities { prices, ..capabilities("", "m", None, &[]) };
        let model = DescribedModel::new(Arc::new(inner), Arc::new(known), None);
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
        let dialect = |provider: &'static str, name: &str, chosen| {
            let inner = Scripted::parse(name, "hello").unwrap();
            let name = name.to_owned();
            let known = move |_: &str| capabilities(provider, &name, None, &[]);
            DescribedModel::new(Arc::new(inner), Arc::new(known), chosen).dialect()
        };
        assert_eq!(dialect("anthropic", "claude-sonnet-4-5", None), Dialect::Tools);
        assert_eq!(dialect("openai", "gpt-4o", Some(Dialect::Json)), Dialect::Json);
        assert_eq!(dialect("127.0.0.1", "nothing-known", None), Dialect::Json);
        assert_eq!(dialect("127.0.0.1", "nothing-known", Some(Dialect::Tools)), Dialect::Tools);
    }
}
