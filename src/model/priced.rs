//! A model whose calls have a price: adds to each count of tokens what they cost.

use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt};

use super::{Chunk, Model, ModelError, Request};
use crate::protocol::{Dialect, Prices, cost};

pub struct Priced {
    inner: Arc<dyn Model>,
    /// By the name the model has when it is called: a server may choose it.
    prices: PriceOf,
}

/// The prices of a model of this name, if they are known.
pub type PriceOf = Arc<dyn Fn(&str) -> Option<Prices> + Send + Sync>;

impl Priced {
    pub fn new(inner: Arc<dyn Model>, prices: PriceOf) -> Priced {
        Priced { inner, prices }
    }
}

impl Model for Priced {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let (inner, prices) = (Arc::clone(&self.inner), Arc::clone(&self.prices));
        let priced = move |chunk| match chunk {
            Chunk::Usage(mut usage) => {
                let known = prices(inner.name());
                usage.cost = known.map_or(usage.cost, |known| cost(usage, &known));
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
    use crate::protocol::{Money, TokenPrices, Usage};

    async fn usage(prices: Option<Prices>) -> Option<Usage> {
        let script = "#! {\"usage\":[3,4]}\nhello";
        let inner = Scripted::parse("replies.txt", script).unwrap();
        let model = Priced::new(Arc::new(inner), Arc::new(move |_| prices));
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
}
