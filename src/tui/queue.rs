//! Messages that wait for the running turn to end: shown over the input, and selected one by one
//! with Up, to be edited or removed. The session holds the queue; this is its picture. Commands
//! that wait come after the messages of the session; messages typed after such a command are held
//! here, so that everything runs in the order shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::keymap::Keymap;
use super::keys::KeyAction;
use super::symbols::{CHOSEN, NOT_CHOSEN};
use super::text;
use avocet_config::draft::SavedDraft;
use avocet_core::i18n::{input, plural, screen as phrases};
use avocet_core::protocol::{Notice, Op, QueuedMessage, SubmitId, TurnOp};

/// Messages that are shown; the rest are counted.
const SHOWN: usize = 3;
/// The same while one of them is selected.
const PICKING: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// Messages for the running turn that it has not read yet.
    steered: Vec<QueuedMessage>,
    messages: Vec<QueuedMessage>,
    /// Commands that run once all of `messages` is answered, never sent as text, and messages typed
    /// after the first of them.
    later: Vec<DeferredItem>,
    /// The selected one, counted over both.
    selected: Option<usize>,
}

/// Items held here because the session would run them out of order.
#[derive(Clone, Debug, PartialEq)]
pub enum DeferredItem {
    Command(String),
    /// A message after a command; `None`: it was queued when the program last quit.
    Message(String, Option<Box<Op>>),
}

impl DeferredItem {
    fn from_line(line: &str) -> DeferredItem {
        if line.starts_with('/') {
            DeferredItem::Command(line.to_owned())
        } else {
            DeferredItem::Message(line.to_owned(), None)
        }
    }

    fn text(&self) -> &String {
        let (DeferredItem::Command(text) | DeferredItem::Message(text, _)) = self;
        text
    }
}

/// The result of a key while a message is selected.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueAction {
    Stay,
    /// Taken out for editing.
    Edit(String, Option<Op>),
    /// Removed.
    Removed(Option<Op>),
    /// The key has another meaning: nothing is selected any more.
    Pass,
}

impl Queue {
    /// The queue when the program last quit.
    pub fn from_draft(draft: &SavedDraft) -> Queue {
        let later = draft.later.iter().map(|line| DeferredItem::from_line(line)).collect();
        let queued = |text: &String| QueuedMessage { id: SubmitId::default(), text: text.clone() };
        Queue { messages: draft.queue.iter().map(queued).collect(), later, ..Queue::default() }
    }

    /// Reports queued messages that were not typed in this session.
    pub fn restored_notice(&self, keymap: &Keymap) -> Option<Notice> {
        let say = || plural(self.len(), input::QUEUE_KEPT_ONE, input::QUEUE_KEPT);
        (!self.is_empty()).then(|| Notice::info(keymap.with_keys(say())))
    }

    pub fn set(&mut self, messages: Vec<QueuedMessage>) {
        // Later entries move up when the first one starts.
        let gone = self.messages.len().saturating_sub(messages.len());
        self.selected = self.selected.map(|at| at.saturating_sub(gone));
        self.messages = messages;
        self.clamp_selection();
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.later.is_empty()
    }

    /// Adds a message that the running turn reads before its next step.
    pub fn steer(&mut self, id: SubmitId, text: String) {
        self.steered.push(QueuedMessage { id, text });
    }

    /// Messages that the running turn has not read.
    pub fn steered(&self) -> &[QueuedMessage] {
        &self.steered
    }

    /// The turn has read this message.
    pub fn mark_read(&mut self, submit: Option<SubmitId>) {
        self.steered.retain(|message| Some(message.id) != submit);
    }

    /// No turn is left to read messages; the session queues those that were not read.
    pub fn clear_steered(&mut self) {
        self.steered.clear();
    }

    /// Takes everything that waits, messages before commands: a message after a command would
    /// become its argument.
    pub fn take_all(&mut self) -> Option<String> {
        let Queue { steered, messages: queued, later, .. } = std::mem::take(self);
        let (commands, messages): (Vec<_>, Vec<_>) =
            later.into_iter().partition(|later| matches!(later, DeferredItem::Command(_)));
        let later = messages.iter().chain(&commands).map(DeferredItem::text);
        let queued = steered.iter().chain(&queued).map(|message| &message.text);
        let all: Vec<&str> = queued.chain(later).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Adds a command that runs after everything before it.
    pub fn defer_command(&mut self, line: String) {
        self.later.push(DeferredItem::Command(line));
    }

    /// Adds a message that is sent after the commands before it have run.
    pub fn defer_message(&mut self, text: String, op: Op) {
        self.later.push(DeferredItem::Message(text, Some(Box::new(op))));
    }

    /// Whether a new message has a command before it.
    pub fn has_deferred(&self) -> bool {
        !self.later.is_empty()
    }

    /// What comes next when a turn is over: nothing while the session has messages of its own, else
    /// the commands and then the messages up to the next command.
    pub fn take_next(&mut self) -> Vec<DeferredItem> {
        if !self.messages.is_empty() {
            return Vec::new();
        }
        let is_message = |item: &DeferredItem| matches!(item, DeferredItem::Message(..));
        let first = self.later.iter().position(is_message).unwrap_or(self.later.len());
        let messages = self.later.iter().skip(first).take_while(|later| is_message(later)).count();
        let now = self.later.drain(..first + messages).collect();
        self.clamp_selection();
        now
    }

    /// Queued messages and commands, to be saved for the next start.
    pub fn pending(&self) -> (Vec<String>, Vec<String>) {
        let queued = self.messages.iter().map(|message| message.text.clone()).collect();
        (queued, self.later.iter().map(|later| later.text().clone()).collect())
    }

    /// Selects the last one; false when the queue is empty.
    pub fn select_last(&mut self) -> bool {
        self.selected = self.len().checked_sub(1);
        self.selected.is_some()
    }

    pub fn has_selection(&self) -> bool {
        self.selected.is_some()
    }

    /// A key while one is selected; `None` for a key that is not one of the queue.
    pub fn act(&mut self, action: Option<KeyAction>) -> QueueAction {
        let Some(at) = self.selected else { return QueueAction::Pass };
        match action {
            Some(KeyAction::Previous) => self.selected = Some(at.saturating_sub(1)),
            Some(KeyAction::Next) if at + 1 < self.len() => self.selected = Some(at + 1),
            Some(KeyAction::Next | KeyAction::Close) => self.selected = None,
            Some(KeyAction::Accept) => {
                self.selected = None;
                let (text, op) = self.remove(at);
                return QueueAction::Edit(text, op);
            }
            Some(KeyAction::Remove) => {
                let (_, op) = self.remove(at);
                self.clamp_selection();
                return QueueAction::Removed(op);
            }
            _ => {
                self.selected = None;
                return QueueAction::Pass;
            }
        }
        QueueAction::Stay
    }

    /// Takes one out, with the operation that tells the session.
    fn remove(&mut self, at: usize) -> (String, Option<Op>) {
        match at.checked_sub(self.messages.len()) {
            None => {
                let QueuedMessage { id, text } = self.messages.remove(at);
                (text, Some(Op::Turn(TurnOp::Unqueue { id })))
            }
            Some(at) if at < self.later.len() => (self.later.remove(at).text().clone(), None),
            Some(_) => (String::new(), None),
        }
    }

    fn len(&self) -> usize {
        self.messages.len() + self.later.len()
    }

    fn clamp_selection(&mut self) {
        let last = self.len().checked_sub(1);
        self.selected = self.selected.zip(last).map(|(at, last)| at.min(last));
    }

    fn visible_count(&self) -> usize {
        self.len().min(if self.has_selection() { PICKING } else { SHOWN })
    }

    pub fn rows(&self) -> u16 {
        let queued = self.visible_count() + usize::from(self.len() > self.visible_count());
        u16::try_from(queued + self.steered.len().min(SHOWN)).unwrap_or(0)
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let labels = [phrases::STEER_LABEL, phrases::QUEUE_LABEL].map(|label| label.text(cx.lang));
        let [steers, label] = labels;
        let shown = labels.iter().zip([self.steered.is_empty(), self.is_empty()]);
        let widest = shown.filter(|(_, none)| !none).map(|(label, _)| text::width(label)).max();
        let column = widest.unwrap_or(0) + 2;
        let room = usize::from(area.width).saturating_sub(column + 5);
        let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
        let first = self.steered.iter().rev().take(SHOWN).rev();
        let unread = first.map(|message| self.line(None, &message.text, room, cx)).collect();
        let unread = draw::label_lines(steers, cx.theme.dim, column, unread);
        draw::lines(inner, buf, &unread);
        let taken = u16::try_from(unread.len()).unwrap_or(0).min(area.height);
        let area = Rect { y: inner.y + taken, height: inner.height - taken, ..inner };
        let all = self.len();
        let most = usize::from(area.height.saturating_sub(u16::from(all > area.height.into())));
        let shown = self.visible_count().min(most.max(1));
        // Keep the selected one in view.
        let first = self.selected.map_or(0, |at| (at + 1).saturating_sub(shown));
        let later = self.later.iter().map(DeferredItem::text);
        let queued = self.messages.iter().map(|message| &message.text);
        let texts = queued.chain(later).enumerate();
        let mut lines: Vec<Line<'static>> = texts
            .skip(first)
            .take(shown)
            .map(|(at, text)| self.line(Some(at), text, room, cx))
            .collect();
        if let Some(more) = all.checked_sub(shown).filter(|more| *more > 0) {
            let more = plural(more, input::QUEUE_ONE_MORE, phrases::QUEUE_MORE).text(cx.lang);
            lines.push(Line::from(Span::styled(format!("{NOT_CHOSEN}{more}"), cx.theme.dim)));
        }
        let lines = draw::label_lines(label, cx.theme.dim, column, lines);
        draw::lines(area, buf, &lines);
    }

    /// `at`: the place of the message in the queue; steering has none.
    fn line(
        &self,
        at: Option<usize>,
        text: &str,
        room: usize,
        cx: &DrawContext<'_>,
    ) -> Line<'static> {
        let picked = at.is_some() && self.selected == at;
        let (sigil, style) =
            if picked { (CHOSEN, cx.theme.selection) } else { (NOT_CHOSEN, cx.theme.text) };
        let text = text::elide_end(&text.replace('\n', " "), room);
        Line::from(vec![Span::styled(sigil, cx.theme.accent), Span::styled(text, style)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(texts: &[&str], later: &[&str]) -> Queue {
        let mut queue = Queue::default();
        queue.set(messages(texts));
        later.iter().for_each(|line| queue.defer_command((*line).to_owned()));
        queue
    }

    /// Messages whose ids are the lengths of their texts.
    fn messages(texts: &[&str]) -> Vec<QueuedMessage> {
        let queued = |text: &&str| QueuedMessage {
            id: SubmitId(text.len() as u64),
            text: (*text).to_owned(),
        };
        texts.iter().map(queued).collect()
    }

    fn unqueue(text: &str) -> Option<Op> {
        Some(Op::Turn(TurnOp::Unqueue { id: SubmitId(text.len() as u64) }))
    }

    #[test]
    fn up_selects_the_last_message_first_and_down_leaves_the_queue() {
        let mut queue = queue(&["one", "two"], &["/model x"]);
        assert!(queue.select_last());
        assert_eq!(queue.act(Some(KeyAction::Accept)), QueueAction::Edit("/model x".into(), None));
        assert!(queue.select_last());
        assert_eq!(queue.act(Some(KeyAction::Previous)), QueueAction::Stay);
        assert_eq!(
            queue.act(Some(KeyAction::Previous)),
            QueueAction::Stay,
            "the first one stays picked"
        );
        assert_eq!(queue.act(Some(KeyAction::Remove)), QueueAction::Removed(unqueue("one")));
        assert!(queue.has_selection());
        assert_eq!(queue.act(Some(KeyAction::Next)), QueueAction::Stay);
        assert!(!queue.has_selection());
    }

    #[test]
    fn another_key_leaves_the_queue_unchanged() {
        let mut queue = queue(&["one"], &[]);
        queue.select_last();
        assert_eq!(queue.act(None), QueueAction::Pass);
        assert_eq!(queue.pending().0, ["one"]);
        assert!(!queue.has_selection());
    }

    #[test]
    fn the_selected_message_stays_selected_when_the_first_one_starts() {
        let mut queue = queue(&["one", "two", "three"], &[]);
        queue.select_last();
        queue.set(messages(&["two", "three"]));
        assert_eq!(queue.act(Some(KeyAction::Remove)), QueueAction::Removed(unqueue("three")));
        queue.set(Vec::new());
        assert!(!queue.has_selection());
        assert!(!queue.select_last(), "nothing is left");
    }
}
