//! Sends events to the frontends over a bounded channel.
//!
//! Text deltas merge while the channel is full, so a slow terminal uses no memory and never slows
//! the model; all other events wait for room, so nothing else is lost.
//!
//! Events are saved before they are shown: the recorder writes each event to its file before a
//! frontend gets it. Text deltas and the start of a reply are passed on without waiting for that; text
//! that is still growing waits a moment more, for most replies are whole by then.

use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use avocet_core::protocol::Event;
use avocet_store::Recorder;

/// The maximum number of events that wait for a frontend.
pub const CAPACITY: usize = 256;

/// The most text sent as one event without checking for more, in bytes.
const PIECE: usize = 2048;

/// How long text waits for more text: no screen shows it faster, and each event wakes the frontend
/// and the thread that writes.
const FLUSH_INTERVAL: Duration = Duration::from_millis(40);

/// How long growing text waits for its recorder: most replies are whole by then, and a whole one is
/// written without its parts.
const UNRECORDED: Duration = Duration::from_millis(250);

#[derive(Clone, Debug)]
pub struct Outbox {
    events: Sender<Event>,
    /// Text that was gathered and not sent yet.
    batch: Option<Event>,
    /// When text was last sent.
    last_release: Option<Instant>,
    /// Text for which the channel had no room yet.
    unsent: Option<Event>,
    recorder: Option<Recorder>,
    /// Text that the recorder does not have yet.
    unrecorded: Option<Event>,
    /// When it gets it.
    record_at: Option<Instant>,
}

impl Outbox {
    pub fn new(sender: Sender<Event>, recorder: Option<Recorder>) -> Outbox {
        Outbox {
            events: sender,
            batch: None,
            last_release: None,
            unsent: None,
            recorder,
            unrecorded: None,
            record_at: None,
        }
    }

    /// A second outbox for the same channel, with all that waits in this one.
    pub fn split_off(&mut self) -> Outbox {
        Outbox {
            events: self.events.clone(),
            batch: self.batch.take(),
            last_release: self.last_release,
            unsent: self.unsent.take(),
            recorder: self.recorder.clone(),
            unrecorded: self.unrecorded.take(),
            record_at: self.record_at.take(),
        }
    }

    /// Sends, waiting for room. A closed frontend is not an error: its events are dropped.
    pub async fn send(&mut self, event: Event) {
        self.send_all(vec![event]).await;
    }

    /// The same of several, which are written together and then shown together.
    pub async fn send_all(&mut self, events: Vec<Event>) {
        self.release();
        let last = events.iter().rposition(Event::is_recorded);
        for (index, event) in events.iter().enumerate().filter(|(_, event)| event.is_recorded()) {
            self.record(event, Some(index) == last).await;
        }
        self.flush().await;
        for event in events {
            let _ = self.events.send(event).await;
        }
    }

    /// Gathers text that more may follow soon, so that text that arrives together is one event and
    /// not thousands. [`Outbox::release`] sends it, at [`Outbox::due`].
    pub fn gather(&mut self, event: Event) {
        let rest = match &mut self.batch {
            None => Some(event),
            Some(earlier) => merge(earlier, event),
        };
        if let Some(rest) = rest {
            self.release();
            self.batch = Some(rest);
        }
        if self.batch.as_ref().is_some_and(|event| length(event) >= PIECE) {
            self.release();
        }
    }

    /// When [`Outbox::release`] has something to do; `None` without text.
    pub fn due(&self) -> Option<Instant> {
        let next =
            || self.last_release.map_or_else(Instant::now, |released| released + FLUSH_INTERVAL);
        let shown = self.batch.as_ref().map(|_| next());
        shown.into_iter().chain(self.record_at).min()
    }

    /// Sends the gathered text, and what has waited long enough for the recorder.
    pub fn release(&mut self) {
        if let Some(event) = self.batch.take() {
            self.last_release = Some(Instant::now());
            self.stream(event);
        }
        if self.record_at.is_some_and(|at| at <= Instant::now()) {
            self.record_unrecorded();
        }
    }

    fn record_unrecorded(&mut self) {
        self.record_at = None;
        if let (Some(recorder), Some(text)) = (&self.recorder, self.unrecorded.take()) {
            self.unrecorded = recorder.try_send(text);
            self.record_at = self.unrecorded.as_ref().map(|_| Instant::now() + UNRECORDED);
        }
    }

    /// Sends text now if there is room; otherwise keeps it and appends later text.
    pub fn stream(&mut self, event: Event) {
        self.try_record(event.clone());
        let event = match self.unsent.take() {
            None => event,
            Some(mut earlier) => match merge(&mut earlier, event) {
                None => earlier,
                Some(later) => match self.events.try_send(earlier) {
                    Ok(()) => later,
                    Err(error) => {
                        self.unsent = Some(more_important(error.into_inner(), later));
                        return;
                    }
                },
            },
        };
        if let Err(error) = self.events.try_send(event) {
            self.unsent = Some(error.into_inner());
        }
    }

    /// With `waits`, what was recorded before it is in the file too then.
    async fn record(&mut self, event: &Event, waits: bool) {
        if let Some(recorder) = &self.recorder {
            self.record_at = None;
            // A whole reply is in the place of its text.
            let is_whole = matches!(event, Event::Replied(_));
            let is_kept = |event: &Event| !(is_whole && matches!(event, Event::Delta { .. }));
            if let Some(text) = self.unrecorded.take().filter(is_kept) {
                recorder.send(&text).await;
            }
            match event {
                // Shows nothing by itself: only its position matters.
                Event::ReplyStarted => recorder.send(event).await,
                // The start of a turn may be in the file already: see `Recorder::prepare`.
                _ if !waits && !matches!(event, Event::TurnStarted { .. }) => {
                    recorder.send(event).await
                }
                _ => recorder.append(event).await,
            }
        }
    }

    fn try_record(&mut self, event: Event) {
        let Some(recorder) = &self.recorder else { return };
        let event = match self.unrecorded.take() {
            None => event,
            Some(mut earlier) => match merge(&mut earlier, event) {
                None => earlier,
                Some(later) => match recorder.try_send(earlier) {
                    None => later,
                    Some(earlier) => more_important(earlier, later),
                },
            },
        };
        let grows = matches!(event, Event::Delta { .. } | Event::ReasoningDelta { .. });
        self.unrecorded = Some(event);
        let at = *self.record_at.get_or_insert_with(|| Instant::now() + UNRECORDED);
        if !grows || at <= Instant::now() {
            self.record_unrecorded();
        }
    }

    /// True while text waits for room.
    pub fn has_unsent(&self) -> bool {
        self.unsent.is_some()
    }

    /// Waits until all text is sent.
    pub async fn flush(&mut self) {
        self.release();
        if let Ok(permit) = self.events.reserve().await
            && let Some(event) = self.unsent.take()
        {
            permit.send(event);
        }
    }
}

/// Appends text of the same kind; returns text of another kind.
fn merge(event: &mut Event, later: Event) -> Option<Event> {
    match (event, later) {
        (Event::Delta { text }, Event::Delta { text: more })
        | (Event::ReasoningDelta { text }, Event::ReasoningDelta { text: more }) => {
            text.push_str(&more);
            None
        }
        (_, later) => Some(later),
    }
}

fn length(event: &Event) -> usize {
    match event {
        Event::Delta { text } | Event::ReasoningDelta { text } => text.len(),
        _ => 0,
    }
}

/// If two kinds of text wait for a full channel, only one is kept. Reasoning may be lost, the
/// answer may not.
fn more_important(event: Event, later_event: Event) -> Event {
    match (&event, &later_event) {
        (Event::Delta { .. }, Event::ReasoningDelta { .. }) => event,
        _ => later_event,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;

    use super::*;
    use avocet_core::protocol::{ModelMessage, TurnOrigin, TurnOutcome, Usage};
    use avocet_safety::redact::Redactor;
    use avocet_store::{SessionHeader, Store};

    fn delta(text: &str) -> Event {
        Event::Delta { text: text.to_owned() }
    }

    #[tokio::test]
    async fn text_merges_while_the_channel_is_full_and_none_is_lost() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender, None);
        for text in ["a", "b", "c"] {
            outbox.stream(delta(text));
        }
        assert!(outbox.has_unsent());
        assert_eq!(receiver.recv().await, Some(delta("a")));
        outbox.flush().await;
        assert_eq!(receiver.recv().await, Some(delta("bc")));
    }

    #[tokio::test]
    async fn text_that_arrives_together_is_sent_as_one_event_before_the_next() {
        let (sender, mut receiver) = mpsc::channel(8);
        let mut outbox = Outbox::new(sender, None);
        let thought = Event::ReasoningDelta { text: "hm".into() };
        outbox.gather(delta("a"));
        outbox.gather(delta("b"));
        outbox.gather(thought.clone());
        outbox.gather(delta("c"));
        outbox.send(Event::Cleared).await;
        outbox.gather(delta("d"));
        outbox.release();
        outbox.release();
        drop(outbox);
        let mut seen = Vec::new();
        while let Some(event) = receiver.recv().await {
            seen.push(event);
        }
        assert_eq!(seen, [delta("ab"), thought, delta("c"), Event::Cleared, delta("d")]);
    }

    fn recorder(folder: &std::path::Path) -> Recorder {
        let (faults, _errors) = mpsc::unbounded_channel();
        let redactor = Arc::new(Redactor::new([("", ""); 0], [0; 16]));
        let store = Store::in_folder(folder.to_owned());
        Recorder::start(store, SessionHeader::new("/w", None), redactor, faults)
    }

    fn begun() -> Event {
        let (text, origin) = ("go".to_owned(), TurnOrigin::Typed);
        Event::TurnStarted { turn: 1, text, origin, submit: None }
    }

    #[tokio::test]
    async fn events_that_are_sent_together_are_saved_together_and_then_shown_together() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path());
        let (sender, mut receiver) = mpsc::channel(8);
        let mut outbox = Outbox::new(sender, Some(recorder.clone()));
        outbox.send(begun()).await;
        assert_eq!(receiver.recv().await, Some(begun()));
        let plan = Event::Plan { items: Vec::new() };
        let all = vec![Event::Replied(ModelMessage::default()), plan, Event::Cleared];
        let shown = async {
            let first = receiver.recv().await;
            let rest = [receiver.try_recv().ok(), receiver.try_recv().ok()];
            [vec![first], rest.into()].concat()
        };
        let ((), shown) = tokio::join!(outbox.send_all(all.clone()), shown);
        assert_eq!(shown, all.iter().cloned().map(Some).collect::<Vec<_>>());
        let page = recorder.call(|writer| writer.events_before(i64::MAX, 99)).await;
        let events = page.unwrap().unwrap().events.into_iter().map(|one| one.event);
        let saved = all.into_iter().filter(Event::is_recorded);
        assert_eq!(
            events.collect::<Vec<_>>(),
            std::iter::once(begun()).chain(saved).collect::<Vec<_>>()
        );
    }

    #[tokio::test]
    async fn a_whole_reply_is_recorded_without_its_parts_and_a_broken_one_with_what_came() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path());
        let (sender, _receiver) = mpsc::channel(64);
        let mut outbox = Outbox::new(sender, Some(recorder.clone()));
        let whole = ModelMessage { message: "Hello".to_owned(), ..ModelMessage::default() };
        let whole = Event::Replied(whole);
        let (ending, usage) = (TurnOutcome::Stopped, Usage::default());
        let ended = Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 1 };
        outbox.send(begun()).await;
        outbox.stream(delta("Hel"));
        outbox.stream(delta("lo"));
        assert!(outbox.due().is_some_and(|due| due <= Instant::now() + UNRECORDED));
        outbox.send(whole.clone()).await;
        assert_eq!(outbox.due(), None);
        outbox.stream(delta("But then"));
        outbox.send(ended.clone()).await;
        let page = recorder.call(|writer| writer.events_before(i64::MAX, 99)).await;
        let page = page.unwrap().unwrap();
        let numbers: Vec<i64> = page.events.iter().map(|one| one.seq).collect();
        let events: Vec<Event> = page.events.into_iter().map(|one| one.event).collect();
        assert_eq!(events, [begun(), whole, delta("But then"), ended]);
        assert_eq!(numbers, [1, 2, 3, 4], "the parts were never there");
    }

    #[tokio::test]
    async fn gathered_text_is_sent_once_it_fills_an_event() {
        let (sender, mut receiver) = mpsc::channel(8);
        let mut outbox = Outbox::new(sender, None);
        outbox.gather(delta(&"x".repeat(PIECE - 1)));
        assert!(receiver.try_recv().is_err());
        outbox.gather(delta("y"));
        assert!(receiver.try_recv().is_ok_and(|event| length(&event) == PIECE));
    }

    #[tokio::test]
    async fn the_first_text_is_sent_at_once_and_later_text_at_intervals() {
        let (sender, mut receiver) = mpsc::channel(8);
        let mut outbox = Outbox::new(sender, None);
        assert_eq!(outbox.due(), None);
        outbox.gather(delta("a"));
        assert!(outbox.due().is_some_and(|due| due <= Instant::now()));
        let before = Instant::now();
        outbox.release();
        let after = Instant::now();
        assert_eq!(receiver.try_recv(), Ok(delta("a")));
        outbox.gather(delta("b"));
        outbox.gather(delta("c"));
        let due = outbox.due().unwrap();
        assert!(before + FLUSH_INTERVAL <= due && due <= after + FLUSH_INTERVAL);
        assert!(receiver.try_recv().is_err(), "it waits for its beat");
        // A second outbox continues with the text that waits in this one.
        let mut other = outbox.split_off();
        assert_eq!((outbox.due(), other.due()), (None, Some(due)));
        other.send(Event::Cleared).await;
        assert_eq!(receiver.try_recv(), Ok(delta("bc")));
        assert_eq!(receiver.try_recv(), Ok(Event::Cleared));
    }

    #[tokio::test]
    async fn reasoning_never_displaces_the_answer() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender, None);
        outbox.stream(Event::ReasoningDelta { text: "hm".into() });
        outbox.stream(delta("a"));
        outbox.stream(Event::ReasoningDelta { text: "so".into() });
        outbox.stream(delta("b"));
        receiver.recv().await;
        outbox.flush().await;
        assert_eq!(receiver.recv().await, Some(delta("ab")));
    }

    #[tokio::test]
    async fn an_event_comes_after_the_text_before_it() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender, None);
        outbox.stream(delta("a"));
        outbox.stream(delta("b"));
        let reader = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(event) = receiver.recv().await {
                seen.push(event);
            }
            seen
        });
        outbox.send(Event::Cleared).await;
        drop(outbox);
        assert_eq!(reader.await.expect("no panic"), [delta("a"), delta("b"), Event::Cleared]);
    }

    #[tokio::test]
    async fn a_closed_frontend_does_not_block_the_session() {
        let (sender, receiver) = mpsc::channel(1);
        drop(receiver);
        let mut outbox = Outbox::new(sender, None);
        outbox.stream(delta("a"));
        outbox.send(Event::Closed).await;
    }
}
