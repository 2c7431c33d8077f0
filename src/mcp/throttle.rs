//! A transport whose messages are read only so fast: each starts a task, and a server that sends
//! more than can be answered waits for its own pipe or connection.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

/// Messages that are read at once, how long each takes beyond them, and how many may.
const BURST: u32 = 5000;
const INTERVAL: Duration = Duration::from_millis(2);
const MAX_LATE: u32 = 50_000;

pub(crate) struct Throttled<T> {
    inner: T,
    /// When all that was read has been paid for.
    paid: Instant,
    /// Messages that had to wait.
    late: u32,
}

impl<T> Throttled<T> {
    pub fn new(inner: T) -> Throttled<T> {
        Throttled { inner, paid: Instant::now(), late: 0 }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Throttled<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
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

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
