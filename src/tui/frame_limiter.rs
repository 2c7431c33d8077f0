//! Limits frames: at most sixty per second, at once for what the user does or waits for, with a
//! delay for what only moves or fills in. Pure: the driver supplies the time.
//!
//! Not here: how often streamed text comes. The session gathers it, so that what comes is shown.
//!
//! It is a token bucket: a key is shown at once even between two frames of a stream, and a burst of
//! keys still stays within the limit. The last two tokens are reserved for the first word of a reply
//! and for a question, so that neither typing nor each other delays them.

use super::event::ScreenInput;
use super::time::Millis;
use avocet_core::protocol::Event;

/// Work that spans frames continues after this long.
pub const FRAME: Millis = 16;
/// The cost of a frame; with the size of the bucket this makes fewer than sixty in any second.
const COST: Millis = 19;
/// The size of the bucket: frames that may follow each other at once.
const BUCKET_SIZE: Millis = 5 * COST;
/// The interval between frames of what may wait.
const LEISURE: Millis = 34;

/// The urgency of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// Nothing has changed.
    #[default]
    None,
    /// May wait for the next interval.
    Deferred,
    /// As soon as the bucket allows, leaving its last two tokens.
    Immediate,
    /// As soon as the bucket allows, leaving its last token.
    FirstDelta,
    /// As soon as the bucket allows.
    Question,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameLimiter {
    urgency: Urgency,
    /// When the last frame was drawn.
    last_frame: Option<Millis>,
    /// When the bucket will be full again.
    full_at: Millis,
    /// The streaming reply has not shown anything yet.
    is_awaiting_delta: bool,
}

impl FrameLimiter {
    /// A change without urgency.
    pub fn request_deferred(&mut self) {
        self.urgency = self.urgency.max(Urgency::Deferred);
    }

    /// True until a frame was drawn.
    pub fn is_first_frame(&self) -> bool {
        self.last_frame.is_none()
    }

    /// Takes note of an event that changes the screen.
    pub fn note_input(&mut self, input: &ScreenInput) {
        let haste = match input {
            ScreenInput::Tick
            | ScreenInput::Highlighted(_)
            | ScreenInput::Lines(_)
            | ScreenInput::Picture(_) => Urgency::Deferred,
            ScreenInput::Session(event) => self.session(event),
            ScreenInput::Key(_)
            | ScreenInput::Paste(_)
            | ScreenInput::Mouse(_)
            | ScreenInput::Resized
            | ScreenInput::FocusGained
            | ScreenInput::FocusLost
            | ScreenInput::ScreenReturned
            | ScreenInput::FileMatches(_)
            | ScreenInput::Folders(_)
            | ScreenInput::Copied(_)
            | ScreenInput::Connect(_)
            | ScreenInput::ImagePasted(_)
            | ScreenInput::Background(_)
            | ScreenInput::SettingNotSaved(_)
            | ScreenInput::EditorClosed(_)
            | ScreenInput::FirstMessage(_) => Urgency::Immediate,
        };
        self.urgency = self.urgency.max(haste);
    }

    fn session(&mut self, event: &Event) -> Urgency {
        self.is_awaiting_delta |= matches!(event, Event::ReplyStarted);
        let text = matches!(event, Event::Delta { .. } | Event::ReasoningDelta { .. });
        // The user waits for the first word of a reply more than for anything else.
        if text && std::mem::take(&mut self.is_awaiting_delta) {
            return Urgency::FirstDelta;
        }
        if matches!(event, Event::Asked(_)) { Urgency::Question } else { Urgency::Immediate }
    }

    /// When the next frame is due; `None` when nothing has changed.
    pub fn due(&self) -> Option<Millis> {
        let affordable =
            |tokens: Millis| (self.full_at + tokens * COST).saturating_sub(BUCKET_SIZE);
        let beat = self.last_frame.map_or(0, |drawn| drawn + LEISURE);
        match self.urgency {
            Urgency::None => None,
            Urgency::Deferred => Some(affordable(3).max(beat)),
            Urgency::Immediate => Some(affordable(3)),
            Urgency::FirstDelta => Some(affordable(2)),
            Urgency::Question => Some(affordable(1)),
        }
    }

    #[cfg(test)]
    fn is_due(&self, now: Millis) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    pub fn record_frame(&mut self, now: Millis) {
        self.urgency = Urgency::None;
        self.last_frame = Some(now);
        self.full_at = self.full_at.max(now) + COST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{Ask, AskId, Question};

    fn delta() -> ScreenInput {
        ScreenInput::Session(Box::new(Event::Delta { text: "x".into() }))
    }

    fn question() -> ScreenInput {
        let question = Question::ScriptCall { text: String::new() };
        let ask = Ask { id: AskId(1), question };
        ScreenInput::Session(Box::new(Event::Asked(Box::new(ask))))
    }

    /// Draws whenever it may while `input` comes each millisecond; returns the times.
    fn frames(pace: &mut FrameLimiter, input: &ScreenInput, until: Millis) -> Vec<Millis> {
        let mut frames = Vec::new();
        for now in 0..until {
            pace.note_input(input);
            if pace.is_due(now) {
                pace.record_frame(now);
                frames.push(now);
            }
        }
        frames
    }

    #[test]
    fn there_are_at_most_sixty_frames_in_any_second() {
        let frames = frames(&mut FrameLimiter::default(), &ScreenInput::FocusGained, 5_000);
        for (index, first) in frames.iter().enumerate() {
            let second = frames.iter().skip(index).take_while(|frame| **frame < first + 1_000);
            assert!(second.count() <= 60, "from {first}");
        }
    }

    #[test]
    fn what_only_moves_keeps_its_interval_and_neither_text_nor_a_key_is_delayed() {
        for input in [delta(), ScreenInput::FocusGained] {
            let mut pace = FrameLimiter::default();
            let moved = frames(&mut pace, &ScreenInput::Tick, 1_001);
            assert_eq!(moved.len(), 30);
            let last = moved.last().copied().unwrap_or_default();
            pace.note_input(&ScreenInput::Tick);
            assert!(!pace.is_due(last + 1));
            pace.note_input(&input);
            assert!(pace.is_due(last + 1));
        }
    }

    #[test]
    fn the_first_word_of_a_reply_is_shown_at_once() {
        let mut pace = FrameLimiter::default();
        pace.note_input(&ScreenInput::FocusGained);
        pace.record_frame(100);
        pace.note_input(&ScreenInput::Session(Box::new(Event::ReplyStarted)));
        pace.note_input(&delta());
        assert!(pace.is_due(101));
    }

    #[test]
    fn the_first_word_of_a_reply_is_not_delayed_by_keys() {
        let mut pace = FrameLimiter::default();
        let typed = frames(&mut pace, &ScreenInput::FocusGained, 3_000);
        let now = typed.last().copied().unwrap_or_default() + 1;
        pace.note_input(&ScreenInput::FocusGained);
        assert!(!pace.is_due(now), "the purse is as good as empty");
        pace.note_input(&ScreenInput::Session(Box::new(Event::ReplyStarted)));
        pace.note_input(&delta());
        assert!(pace.is_due(now));
        pace.record_frame(now);
        pace.note_input(&delta());
        assert!(!pace.is_due(now + 1));
        pace.note_input(&question());
        assert!(pace.is_due(now + 1), "a question that follows at once is not delayed either");
    }

    #[test]
    fn nothing_is_drawn_when_nothing_changes() {
        let mut pace = FrameLimiter::default();
        assert_eq!(pace.due(), None);
        pace.note_input(&ScreenInput::Tick);
        pace.record_frame(5);
        assert_eq!(pace.due(), None);
    }
}
