//! What a running turn tells: events to the frontends, and messages to its session.

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::event_sink::Outbox;
use super::turn_messages::TurnMessage;
use avocet_core::protocol::Event;

pub struct TurnEvents {
    pub outbox: Outbox,
    pub session: UnboundedSender<TurnMessage>,
    /// The events still to be delivered before anything that `outbox` sends from now on.
    background: Option<JoinHandle<()>>,
    /// They include the user's message: no request is sent before it is saved.
    has_unsaved_message: bool,
}

impl TurnEvents {
    pub fn new(outbox: Outbox, session: UnboundedSender<TurnMessage>) -> TurnEvents {
        TurnEvents { outbox, session, background: None, has_unsaved_message: false }
    }

    pub fn notify(&self, message: TurnMessage) {
        // A closed session needs no notes.
        let _ = self.session.send(message);
    }

    pub async fn emit(&mut self, event: Event) {
        self.emit_all(vec![event]).await;
    }

    /// Sends events that are saved at once and shown together.
    pub async fn emit_all(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.notify_session(event));
        self.flush().await;
        self.outbox.send_all(events).await;
    }

    /// Sends without waiting, while the turn continues. Later ordinary sends wait for it: see
    /// [`TurnEvents::flush`].
    pub fn emit_in_background(&mut self, events: Vec<Event>) {
        for event in &events {
            self.notify_session(event);
            self.has_unsaved_message |=
                matches!(event, Event::TurnStarted { .. } | Event::Steered { .. });
        }
        if events.is_empty() {
            return;
        }
        let before = self.background.take();
        let mut outbox = self.outbox.split_off();

        self.background = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            outbox.send_all(events).await;
        }));
    }

    /// Waits for the events that were sent in advance.
    pub async fn flush(&mut self) {
        if let Some(ahead) = &mut self.background {
            let _ = ahead.await;
            self.background = None;
        }
    }

    /// Waits until the user's message is saved.
    pub async fn save_message(&mut self) {
        if std::mem::take(&mut self.has_unsaved_message) {
            self.flush().await;
        }
    }

    /// Notes for the session about an event sent to the frontends.
    fn notify_session(&self, event: &Event) {
        if event.is_transcript() {
            self.notify(TurnMessage::Record(Box::new(event.clone())));
        }
        if matches!(event, Event::Steered { .. }) {
            self.notify(TurnMessage::SteeringRead);
        }
        if matches!(event, Event::QuestionClosed { .. }) {
            self.notify(TurnMessage::QuestionClosed);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use avocet_core::protocol::TurnOrigin;

    fn started() -> Event {
        let text = "hello".to_owned();
        Event::TurnStarted { turn: 1, text, origin: TurnOrigin::Typed, submit: None }
    }

    #[tokio::test]
    async fn events_sent_in_the_background_arrive_before_later_ones() {
        // A frontend that takes one event at a time.
        let (sender, mut receiver) = mpsc::channel(1);
        let (session, _) = mpsc::unbounded_channel();
        let mut events = TurnEvents::new(Outbox::new(sender, None), session);
        events.emit_in_background(vec![Event::Cleared, Event::ReplyStarted]);
        events.emit_in_background(vec![Event::Compacting]);
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            while let Some(event) = receiver.recv().await {
                all.push(event);
            }
            all
        });
        events.emit(Event::Closed).await;
        drop(events);
        let all = reading.await.unwrap();
        assert_eq!(all, [Event::Cleared, Event::ReplyStarted, Event::Compacting, Event::Closed],);
    }

    #[tokio::test]
    async fn only_the_message_of_the_user_is_waited_for_before_a_request() {
        let (sender, mut receiver) = mpsc::channel(1);
        let (session, mut told) = mpsc::unbounded_channel();
        let mut events = TurnEvents::new(Outbox::new(sender, None), session);
        // Nobody takes them, and no request waits for them.
        events.emit_in_background(vec![Event::Cleared, Event::ReplyStarted]);
        events.save_message().await;
        events.emit_in_background(vec![started()]);
        assert!(
            matches!(told.recv().await, Some(TurnMessage::Record(event)) if *event == started())
        );
        let save = events.save_message();
        let read = async {
            let mut all = Vec::new();
            while all.len() < 3 {
                all.extend(receiver.recv().await);
            }
            all
        };
        let ((), all) = tokio::join!(save, read);
        assert_eq!(all, [Event::Cleared, Event::ReplyStarted, started()]);
    }
}
