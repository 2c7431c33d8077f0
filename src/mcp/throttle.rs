//! A transport whose messages are read only so fast: each starts a task, and a server that sends
//! more than can be answered waits for its own pipe or connection.

use std::error::Error;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

/// Messages that are read at once, how long each takes beyond them, and how many may.
const BURST: u32 = 5000;
const INTERVAL: Duration = Duration::from_millis(2);
const MAX_LATE: u32 = 50_000;

/// The error of any transport; what it is about is its source.
#[derive(Debug, thiserror::Error)]
#[error("the transport failed")]
pub(crate) struct TransportError(#[source] Box<dyn Error + Send + Sync>);

/// Any transport, so that what speaks the protocol is compiled once, not for each of them.
trait AnyTransport: Send {
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), TransportError>>;
    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>>;
    fn close(&mut self) -> BoxFuture<'_, Result<(), TransportError>>;
}

impl<T: Transport<RoleClient>> AnyTransport for T {
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        let sent = Transport::send(self, message);
        sent.map(|sent| sent.map_err(|error| TransportError(error.into()))).boxed()
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>> {
        Transport::receive(self).boxed()
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), TransportError>> {
        let closed = Transport::close(self);
        closed.map(|closed| closed.map_err(|error| TransportError(error.into()))).boxed()
    }
}

pub(crate) struct Throttled {
    inner: Box<dyn AnyTransport>,
    /// When all that was read has been paid for.
    paid: Instant,
    /// Messages that had to wait.
    late: u32,
}

impl Throttled {
    pub fn new(inner: impl Transport<RoleClient> + 'static) -> Throttled {
        Throttled { inner: Box::new(inner), paid: Instant::now(), late: 0 }
    }
}

impl Transport<RoleClient> for Throttled {
    type Error = TransportError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        // Before, because a message that was received is lost if the wait for it is given up.
        let time = self.paid.checked_sub(INTERVAL * BURST);
        if let Some(time) = time.filter(|time| *time > Instant::now()) {
            tokio::time::sleep_until(time).await;
            self.late += 1;
        }
        if self.late > MAX_LATE {
            return None;
        }
        let message = self.inner.receive().await;
        self.paid = self.paid.max(Instant::now()) + INTERVAL;
        message
    }

    async fn close(&mut self) -> Result<(), TransportError> {
        self.inner.close().await
    }
}
