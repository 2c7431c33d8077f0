//! Messages that wait for the running turn to end: shown over the input, and selected one by one
//! with Up, to be edited or removed. The session holds the queue; this is its picture. Commands
//! that wait come after the messages of the session; messages typed after such a command are held
//! here, so that everything runs in the order shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::clean;
use super::glyph::{CHOSEN, NOT_CHOSEN};
use super::keys::KeyAction;
use super::paint::{self, DrawContext};
use crate::config::draft::SavedDraft;
use crate::protocol::{Notice, Op};
use crate::words::{input, plural, screen as words};

/// Messages that are shown; the rest are counted.
const SHOWN: usize = 3;
/// The same while one of them is selected.
const PICKING: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    texts: Vec<String>,
    /// Commands that run once all of `texts` is answered, never sent as text, and messages typed
    /// after the first of them.
    later: Vec<Later>,
    /// The selected one, counted over both.
    picked: Option<usize>,
}

/// Items held here because the session would run them out of order.
#[derive(Clone, Debug, PartialEq)]
pub enum Later {
    Command(String),
    /// A message after a command; `None`: it was queued when the program last quit.
    Message(String, Option<Box<Op>>),
}

impl Later {
    fn of(line: &str) -> Later {
        match line.starts_with('/') {
            true => Later::Command(line.to_owned()),
            false => Later::Message(line.to_owned(), None),
        }
    }

    fn text(&self) -> &String {
        let (Later::Command(text) | Later::Message(text, _)) = self;
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
    Gone(Option<Op>),
    /// The key has another meaning: nothing is selected any more.
    Pass,
}

impl Queue {
    /// The queue when the program last quit.
    pub fn of(draft: &SavedDraft) -> Queue {
        let later = draft.later.iter().map(|line| Later::of(line)).collect();
        Queue { texts: draft.queue.clone(), later, picked: None }
    }

    /// Reports queued messages that were not typed in this session.
    pub fn kept(&self) -> Option<Notice> {
        let say = || plural(self.len(), input::QUEUE_KEPT_ONE, input::QUEUE_KEPT);
        (!self.is_empty()).then(|| Notice::info(say()))
    }

    pub fn set(&mut self, texts: Vec<String>) {
        // Later entries move up when the first one starts.
        let gone = self.texts.len().saturating_sub(texts.len());
        self.picked = self.picked.map(|at| at.saturating_sub(gone));
        self.texts = texts;
        self.keep_inside();
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.later.is_empty()
    }

    /// Adds a command that runs after everything before it.
    pub fn later(&mut self, line: String) {
        self.later.push(Later::Command(line));
    }

    /// Adds a message that is sent after the commands before it have run.
    pub fn hold(&mut self, text: String, op: Op) {
        self.later.push(Later::Message(text, Some(Box::new(op))));
    }

    /// Whether a new message has a command before it.
    pub fn holds(&self) -> bool {
        !self.later.is_empty()
    }

    /// What comes next when a turn is over: nothing while the session has messages of its own, else
    /// the commands and then the messages up to the next command.
    pub fn take_later(&mut self) -> Vec<Later> {
        if !self.texts.is_empty() {
            return Vec::new();
        }
        let is_message = |later: &Later| matches!(later, Later::Message(..));
        let first = self.later.iter().position(is_message).unwrap_or(self.later.len());
        let messages = self.later.iter().skip(first).take_while(|later| is_message(later)).count();
        let now = self.later.drain(..first + messages).collect();
        self.keep_inside();
        now
    }

    /// Queued messages and commands, to be saved for the next start.
    pub fn waiting(&self) -> (&[String], Vec<String>) {
        (&self.texts, self.later.iter().map(|later| later.text().clone()).collect())
    }

    /// Selects the last one; false when the queue is empty.
    pub fn pick(&mut self) -> bool {
        self.picked = self.len().checked_sub(1);
        self.picked.is_some()
    }

    pub fn is_picking(&self) -> bool {
        self.picked.is_some()
    }

    /// A key while one is selected; `None` for a key that is not one of the queue.
    pub fn act(&mut self, action: Option<KeyAction>) -> QueueAction {
        let Some(at) = self.picked else { return QueueAction::Pass };
        match action {
            Some(KeyAction::Previous) => self.picked = Some(at.saturating_sub(1)),
            Some(KeyAction::Next) if at + 1 < self.len() => self.picked = Some(at + 1),
            Some(KeyAction::Next | KeyAction::Close) => self.picked = None,
            Some(KeyAction::Accept) => {
                self.picked = None;
                let (text, op) = self.take(at);
                return QueueAction::Edit(text, op);
            }
            Some(KeyAction::Remove) => {
                let (_, op) = self.take(at);
                self.keep_inside();
                return QueueAction::Gone(op);
            }
            _ => {
                self.picked = None;
                return QueueAction::Pass;
            }
        }
        QueueAction::Stay
    }

    /// Takes one out, with the operation that tells the session.
    fn take(&mut self, at: usize) -> (String, Option<Op>) {
        match at.checked_sub(self.texts.len()) {
            None => {
                let text = self.texts.remove(at);
                (text.clone(), Some(Op::Unqueue { at, text }))
            }
            Some(at) if at < self.later.len() => (self.later.remove(at).text().clone(), None),
            Some(_) => (String::new(), None),
        }
    }

    fn len(&self) -> usize {
        self.texts.len() + self.later.len()
    }

    fn keep_inside(&mut self) {
        let last = self.len().checked_sub(1);
        self.picked = self.picked.zip(last).map(|(at, last)| at.min(last));
    }

    fn shown(&self) -> usize {
        self.len().min(if self.is_picking() { PICKING } else { SHOWN })
    }

    pub fn rows(&self) -> u16 {
        u16::try_from(self.shown() + usize::from(self.len() > self.shown())).unwrap_or(0)
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) {
        let label = words::QUEUE_LABEL.text(pen.lang);
        let column = clean::width(label) + 2;
        let room = usize::from(area.width).saturating_sub(column + 5);
        let all = self.len();
        let most = usize::from(area.height.saturating_sub(u16::from(all > area.height.into())));
        let shown = self.shown().min(most.max(1));
        // Keep the selected one in view.
        let first = self.picked.map_or(0, |at| (at + 1).saturating_sub(shown));
        let later = self.later.iter().map(Later::text);
        let texts = self.texts.iter().chain(later).enumerate();
        let mut lines: Vec<Line<'static>> = texts
            .skip(first)
            .take(shown)
            .map(|(at, text)| self.line(at, text, room, pen))
            .collect();
        if let Some(more) = all.checked_sub(shown).filter(|more| *more > 0) {
            let more = plural(more, input::QUEUE_ONE_MORE, words::QUEUE_MORE).text(pen.lang);
            lines.push(Line::from(Span::styled(format!("{NOT_CHOSEN}{more}"), pen.theme.dim)));
        }
        let lines = paint::labelled(label, pen.theme.dim, column, lines);
        let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
        paint::lines(inner, buf, &lines);
    }

    fn line(&self, at: usize, text: &str, room: usize, pen: &DrawContext<'_>) -> Line<'static> {
        let picked = self.picked == Some(at);
        let (sigil, style) = match picked {
            true => (CHOSEN, pen.theme.selection),
            false => (NOT_CHOSEN, pen.theme.text),
        };
        let text = clean::elide_end(&text.replace('\n', " "), room);
        Line::from(vec![Span::styled(sigil, pen.theme.accent), Span::styled(text, style)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(texts: &[&str], later: &[&str]) -> Queue {
        let mut queue = Queue::default();
        queue.set(texts.iter().map(|text| (*text).to_owned()).collect());
        later.iter().for_each(|line| queue.later((*line).to_owned()));
        queue
    }

    fn unqueue(at: usize, text: &str) -> Option<Op> {
        Some(Op::Unqueue { at, text: text.to_owned() })
    }

    #[test]
    fn up_selects_the_last_message_first_and_down_leaves_the_queue() {
        let mut queue = queue(&["one", "two"], &["/model x"]);
        assert!(queue.pick());
        assert_eq!(queue.act(Some(KeyAction::Accept)), QueueAction::Edit("/model x".into(), None));
        assert!(queue.pick());
        assert_eq!(queue.act(Some(KeyAction::Previous)), QueueAction::Stay);
        assert_eq!(
            queue.act(Some(KeyAction::Previous)),
            QueueAction::Stay,
            "the first one stays picked"
        );
        assert_eq!(queue.act(Some(KeyAction::Remove)), QueueAction::Gone(unqueue(0, "one")));
        assert!(queue.is_picking());
        assert_eq!(queue.act(Some(KeyAction::Next)), QueueAction::Stay);
        assert!(!queue.is_picking());
    }

    #[test]
    fn another_key_leaves_the_queue_unchanged() {
        let mut queue = queue(&["one"], &[]);
        queue.pick();
        assert_eq!(queue.act(None), QueueAction::Pass);
        assert_eq!(queue.waiting().0, ["one"]);
        assert!(!queue.is_picking());
    }

    #[test]
    fn the_selected_message_stays_selected_when_the_first_one_starts() {
        let mut queue = queue(&["one", "two", "three"], &[]);
        queue.pick();
        queue.set(vec!["two".into(), "three".into()]);
        assert_eq!(queue.act(Some(KeyAction::Remove)), QueueAction::Gone(unqueue(1, "three")));
        queue.set(Vec::new());
        assert!(!queue.is_picking());
        assert!(!queue.pick(), "nothing is left");
    }
}
