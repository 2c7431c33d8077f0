//! Runs the connection of a service in a task of its own, so that what its protocol wants in time
//! happens whatever the caller waits for.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use super::platform::PlatformError;

/// So many events wait for the caller; then the connection is not read any more.
const WAITING: usize = 256;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// How often a token may be refused that was accepted before: the service may have trouble of its
/// own.
const MAX_REFUSALS: u32 = 3;

/// A connection that lasted this long was a good one: the pauses start from the beginning.
pub const STABLE: Duration = Duration::from_secs(30);

/// The caller's side: events of type `E` come in, orders of type `O` go out. Dropped, it ends the
/// connection.
#[derive(Debug)]
pub struct ServiceConnection<E, O> {
    incoming: Mutex<IncomingQueue<E>>,
    orders: mpsc::UnboundedSender<O>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct IncomingQueue<E> {
    events: mpsc::Receiver<E>,
    errors: mpsc::Receiver<PlatformError>,
}

/// The side of the task.
#[derive(Debug)]
pub struct ConnectionEnd<E, O> {
    pub events: mpsc::Sender<E>,
    errors: mpsc::Sender<PlatformError>,
    pub orders: mpsc::UnboundedReceiver<O>,
    /// How often the token may still be refused.
    refusals_left: u32,
}

impl<E: Send + 'static, O: Send + 'static> ServiceConnection<E, O> {
    /// Starts the task that `run` makes.
    pub fn start<F>(run: impl FnOnce(ConnectionEnd<E, O>) -> F) -> ServiceConnection<E, O>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (event_sender, events) = mpsc::channel(WAITING);
        // A second error before the first is read tells nothing new.
        let (error_sender, errors) = mpsc::channel(1);
        let (orders, order_receiver) = mpsc::unbounded_channel();
        let end = ConnectionEnd {
            events: event_sender,
            errors: error_sender,
            orders: order_receiver,
            refusals_left: 0,
        };
        let task = AbortOnDropHandle::new(tokio::spawn(run(end)));
        ServiceConnection {
            incoming: Mutex::new(IncomingQueue { events, errors }),
            orders,
            _task: task,
        }
    }

    /// Waits for events, or for an error of the connection. May be dropped without loss.
    pub async fn receive(&self) -> Result<Vec<E>, PlatformError> {
        let mut incoming = self.incoming.lock().await;
        let IncomingQueue { events, errors } = &mut *incoming;
        let mut out = Vec::new();
        tokio::select! {
            biased;
            count = events.recv_many(&mut out, WAITING) => match count {
                0 => Err(errors.try_recv().unwrap_or_else(|_| PlatformError::Network("closed".into()))),
                _ => Ok(out),
            },
            Some(error) = errors.recv() => Err(error),
        }
    }

    pub fn order(&self, order: O) {
        // A task that has ended needs no orders.
        let _ = self.orders.send(order);
    }
}

impl<E, O> ConnectionEnd<E, O> {
    /// The service has accepted the token.
    pub fn accepted(&mut self) {
        self.refusals_left = MAX_REFUSALS;
    }

    /// The caller may hear of it; true if no other connection will be better.
    pub fn report(&mut self, error: PlatformError) -> bool {
        let is_refusal = error == PlatformError::Unauthorized;
        if is_refusal && self.refusals_left > 0 {
            self.refusals_left -= 1;
            let _ = self.errors.try_send(PlatformError::refused_for_now());
            return false;
        }
        let _ = self.errors.try_send(error);
        is_refusal
    }

    /// Hands an event over. There is room: only this side adds, and it reads the connection only
    /// while [`ConnectionEnd::has_room`].
    pub fn deliver(&self, event: E) {
        let _ = self.events.try_send(event);
    }

    pub fn has_room(&self) -> bool {
        self.events.capacity() > 0
    }

    /// Waits before the next connection. True if an order that `ends` the task came meanwhile, or
    /// the caller is gone.
    pub async fn pause(&mut self, pause: Duration, mut ends: impl FnMut(&O) -> bool) -> bool {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                order = self.orders.recv() => if order.as_ref().is_none_or(&mut ends) {
                    return true;
                },
                () = sleep_until(until) => return false,
            }
        }
    }
}

/// The pauses between connections: they grow, and a random part keeps many clients apart.
#[derive(Debug)]
pub struct ReconnectPauses {
    left: ExponentialBackoff,
}

impl Default for ReconnectPauses {
    fn default() -> ReconnectPauses {
        let pauses = ExponentialBuilder::new()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(MAX_PAUSE)
            .without_max_times()
            .with_jitter();
        ReconnectPauses { left: pauses.build() }
    }
}

impl ReconnectPauses {
    pub fn next(&mut self) -> Duration {
        self.left.next().unwrap_or(MAX_PAUSE)
    }

    /// A connection ended after so long.
    pub fn lasted(&mut self, time: Duration) {
        if time >= STABLE {
            *self = ReconnectPauses::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_that_was_accepted_may_be_refused_a_few_times_before_that_counts() {
        let (ends, mut end) = tokio::sync::oneshot::channel();
        let connection = ServiceConnection::<(), ()>::start(|end| async { drop(ends.send(end)) });
        let mut end = (&mut end).await.unwrap();
        end.accepted();
        for _ in 0..MAX_REFUSALS {
            assert!(!end.report(PlatformError::Unauthorized));
            let heard = connection.receive().await;
            assert!(matches!(heard, Err(PlatformError::Refused(_))), "{heard:?}");
        }
        assert!(end.report(PlatformError::Unauthorized));
        assert_eq!(connection.receive().await, Err(PlatformError::Unauthorized));
        // One that never was is wrong.
        end.refusals_left = 0;
        assert!(!end.report(PlatformError::Network("down".to_owned())));
        let _ = connection.receive().await;
        assert!(end.report(PlatformError::Unauthorized));
    }

    #[test]
    fn pauses_grow_to_a_minute_and_start_again_after_a_good_connection() {
        let mut pauses = ReconnectPauses::default();
        let first = pauses.next();
        assert!(first >= FIRST_PAUSE && first < 2 * FIRST_PAUSE + Duration::from_millis(1));
        let tenth = (0..9).map(|_| pauses.next()).last().unwrap();
        assert!(tenth >= MAX_PAUSE && tenth <= 2 * MAX_PAUSE, "{tenth:?}");
        pauses.lasted(Duration::from_secs(1));
        assert!(pauses.next() >= MAX_PAUSE);
        pauses.lasted(STABLE);
        assert!(pauses.next() < MAX_PAUSE);
    }
}
