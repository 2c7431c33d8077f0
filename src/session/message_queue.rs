//! Messages that wait for the running turn to end, and the submission that is being handled.

use std::collections::VecDeque;
use std::time::{Duration, UNIX_EPOCH};

use super::session_effects::Effects;
use super::user_input::{QueuedInput, UserInput};
use crate::agent::Steering;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Event, Notice, SubmitId, SubmitIds};

/// Where the session's own ids begin: in 2109, later than any sender's clock.
const OWN_IDS_SINCE_1970: Duration = Duration::from_millis(1 << 42);

pub struct MessageQueue {
    inputs: VecDeque<QueuedInput>,
    /// How many of them, at the end, come from an earlier session: they start nothing.
    restored: usize,
    /// The submission that is being handled, until something comes of it.
    pub submission: Option<SubmitId>,
    /// For messages that came without an id.
    own_ids: SubmitIds,
}

impl MessageQueue {
    pub fn new() -> MessageQueue {
        MessageQueue {
            inputs: VecDeque::new(),
            restored: 0,
            submission: None,
            own_ids: SubmitIds::starting_at(UNIX_EPOCH + OWN_IDS_SINCE_1970),
        }
    }

    pub fn inputs(&self) -> &VecDeque<QueuedInput> {
        &self.inputs
    }

    /// Whether one waits that is not left from an earlier session.
    pub fn has_typed(&self) -> bool {
        self.inputs.len() > self.restored
    }

    /// Why the user cannot start it now.
    pub fn refusal(&self, is_idle: bool) -> Option<Notice> {
        if self.inputs.is_empty() {
            return Some(Notice::info(phrases::QUEUE_EMPTY));
        }
        (!is_idle).then(|| Notice::info(phrases::QUEUE_FOLLOWS))
    }

    /// What frontends show of it.
    pub fn shown(&self) -> Event {
        Event::Queued { messages: self.inputs.iter().map(QueuedInput::shown).collect() }
    }

    /// Messages left from an earlier session come after this one.
    pub fn push(&mut self, input: UserInput) -> Event {
        let at = self.inputs.len().saturating_sub(self.restored);
        let queued = self.queued(input);
        self.inputs.insert(at, queued);
        self.shown()
    }

    /// Takes the first one, whose submission is handled now.
    pub fn pop(&mut self) -> Option<UserInput> {
        let QueuedInput { id, input } = self.inputs.pop_front()?;
        self.restored = self.restored.min(self.inputs.len());
        self.submission = Some(id);
        Some(input)
    }

    /// Replaces the queue, and messages that the running turn has not read; without one, all of them
    /// wait for the user.
    pub fn replace(&mut self, texts: Vec<String>, unread: Option<VecDeque<Steering>>) -> Effects {
        let is_idle = unread.is_none();
        let steered = unread.into_iter().flatten().filter_map(|steering| steering.submit);
        let queued = std::mem::take(&mut self.inputs).into_iter().map(|queued| queued.id);
        let dropped: Vec<SubmitId> = steered.chain(queued).collect();
        self.inputs = texts.into_iter().map(|text| self.queued(UserInput::parse(text))).collect();
        self.restored = if is_idle { self.inputs.len() } else { 0 };
        let dropped = dropped.into_iter().map(|submit| Event::Dropped { submit });
        std::iter::once(self.shown()).chain(dropped).map(Into::into).collect()
    }

    /// Removes one message, if it has not started meanwhile.
    pub fn remove(&mut self, id: SubmitId) -> Effects {
        let found = self.inputs.iter().position(|queued| queued.id == id);
        if let Some(at) = found {
            self.inputs.remove(at);
            let rests = at >= self.inputs.len().saturating_sub(self.restored);
            self.restored = self.restored.saturating_sub(usize::from(rests)).min(self.inputs.len());
        }
        let dropped = found.map(|_| Event::Dropped { submit: id });
        std::iter::once(self.shown()).chain(dropped).map(Into::into).collect()
    }

    /// Messages that the turn did not read are sent next.
    pub fn put_back(&mut self, unread: VecDeque<Steering>) -> Effects {
        if unread.is_empty() {
            return Vec::new();
        }
        for Steering { submit, text } in unread.into_iter().rev() {
            let id = submit.unwrap_or_else(|| self.own_ids.next_id());
            self.inputs.push_front(QueuedInput { id, input: UserInput::Text(text) });
        }
        vec![self.shown().into()]
    }

    /// An input for the queue, with the id of the submission that is being handled.
    fn queued(&mut self, input: UserInput) -> QueuedInput {
        let id = self.submission.take().unwrap_or_else(|| self.own_ids.next_id());
        QueuedInput { id, input }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(queue: &MessageQueue) -> Vec<String> {
        queue.inputs().iter().map(|queued| queued.input.as_typed()).collect()
    }

    #[test]
    fn a_typed_message_comes_before_those_of_an_earlier_session() {
        let mut queue = MessageQueue::new();
        queue.replace(vec!["old".into(), "older".into()], None);
        assert!(!queue.has_typed());
        queue.push(UserInput::Text("new".into()));
        assert!(queue.has_typed());
        assert_eq!(shown(&queue), ["new", "old", "older"]);
        assert_eq!(queue.pop(), Some(UserInput::Text("new".into())));
        assert!(queue.submission.is_some() && !queue.has_typed());
    }

    #[test]
    fn what_a_turn_did_not_read_is_sent_next_with_its_id() {
        let mut queue = MessageQueue::new();
        let submit = Some(SubmitIds::starting_at(UNIX_EPOCH).next_id());
        queue.push(UserInput::Text("later".into()));
        queue.put_back([Steering { submit, text: "now".into() }].into());
        assert_eq!(shown(&queue), ["now", "later"]);
        queue.pop();
        assert_eq!(queue.submission, submit);
    }

    #[test]
    fn each_message_of_a_replaced_queue_is_dropped_once() {
        let mut queue = MessageQueue::new();
        queue.push(UserInput::Text("a".into()));
        let id = queue.inputs()[0].id;
        let effects = queue.replace(vec!["b".into()], Some(VecDeque::new()));
        assert_eq!(effects.len(), 2, "{effects:?}");
        assert_eq!(queue.remove(id).len(), 1, "it is not there any more");
        assert!(queue.has_typed(), "a turn runs, which the new one follows");
    }
}
