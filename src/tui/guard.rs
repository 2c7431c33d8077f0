//! Decides who gets a key while a question waits: the question, or the draft. Pure: times come with
//! the keys.
//!
//! A question takes no key until none was pressed for [`QUIET`]: a user who goes on typing has not
//! read it. Until then, and while the draft contains text, keys go to the draft; one deliberate key
//! moves the focus.

use super::Millis;

/// A question takes its first key after this long without any.
pub const QUIET: Millis = 700;
/// A user who typed while the turn ran may continue for this long, even into an empty draft.
const AHEAD: Millis = 2_000;

/// The target of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    Question,
    #[default]
    Draft,
}

/// The kind of a key, as far as it matters for the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Changes a text.
    Text,
    Tab,
    /// An arrow that does not move the cursor in the draft.
    Edge,
    Esc,
    Other,
}

/// What happens to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    To(Focus),
    /// The focus moved; the key did nothing else.
    Moved,
}

/// What the dialog says about its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listening {
    /// Keys were pressed just now.
    NotYet,
    /// Keys go to the draft.
    ToDraft,
    #[default]
    Here,
    /// Keys answer, and a draft waits.
    BesideDraft,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionGuard {
    /// The start of the quiet time: the question opened, or a key was pressed.
    since: Millis,
    /// The quiet time has passed once, and keys answer since then.
    ready: bool,
    /// The user moved the focus to the question.
    moved: bool,
    /// The time of the last typing while the turn ran.
    wrote: Option<Millis>,
    pasted: Option<Millis>,
}

impl QuestionGuard {
    /// A question becomes visible, for the first time or again: no earlier key is meant for it.
    pub fn opened(&mut self, now: Millis) {
        (self.since, self.ready, self.moved) = (self.since.max(now), false, false);
    }

    /// A key, a click or a paste that [`Guard::key`] does not route.
    pub fn pressed(&mut self, now: Millis) {
        self.since = self.since.max(now);
    }

    /// The user typed while the turn ran.
    pub fn wrote(&mut self, now: Millis) {
        self.pressed(now);
        (self.ready, self.moved, self.wrote) = (false, false, Some(now));
    }

    /// The user deleted the draft.
    pub fn erased(&mut self) {
        self.wrote = None;
    }

    /// A paste. Keys that follow its end may still be part of it.
    pub fn pasted(&mut self, now: Millis) {
        self.pressed(now);
        self.pasted = Some(now);
    }

    /// Whether a key may be part of a paste.
    pub fn is_pasting(&self, now: Millis) -> bool {
        self.pasted.is_some_and(|at| now < at.saturating_add(QUIET))
    }

    /// A command was run over the question: the focus returns to it.
    pub fn returned(&mut self, now: Millis) {
        self.pressed(now);
        (self.ready, self.moved) = (false, true);
    }

    /// Whether the quiet time has passed.
    pub fn is_ready(&self, now: Millis) -> bool {
        self.ready || now >= self.since.saturating_add(QUIET)
    }

    fn writes_ahead(&self, now: Millis) -> bool {
        self.wrote.is_some_and(|at| now < at.saturating_add(AHEAD))
    }

    /// The current focus. `draft`: the draft contains text.
    pub fn focus(&self, now: Millis, draft: bool) -> Focus {
        match self.is_ready(now) && (self.moved || !(draft || self.writes_ahead(now))) {
            true => Focus::Question,
            false => Focus::Draft,
        }
    }

    pub fn listening(&self, now: Millis, draft: bool) -> Listening {
        match self.focus(now, draft) {
            Focus::Question if draft => Listening::BesideDraft,
            Focus::Question => Listening::Here,
            Focus::Draft if self.moved || !(draft || self.is_ready(now)) => Listening::NotYet,
            Focus::Draft => Listening::ToDraft,
        }
    }

    /// Routes a key, and updates the focus.
    pub fn key(&mut self, kind: KeyKind, now: Millis, draft: bool) -> Route {
        let (focus, ready) = (self.focus(now, draft), self.is_ready(now));
        self.pressed(now);
        match (focus, kind) {
            (Focus::Question, KeyKind::Tab | KeyKind::Esc) if draft => {
                (self.ready, self.moved) = (false, false);
                Route::Moved
            }
            (Focus::Question, _) => {
                self.ready = true;
                Route::To(Focus::Question)
            }
            (Focus::Draft, KeyKind::Tab | KeyKind::Edge) => {
                (self.ready, self.moved) = (ready, true);
                Route::Moved
            }
            (Focus::Draft, KeyKind::Text) => {
                self.wrote(now);
                Route::To(Focus::Draft)
            }
            (Focus::Draft, KeyKind::Esc | KeyKind::Other) => Route::To(Focus::Draft),
        }
    }

    /// When the focus changes by itself.
    pub fn wakes_at(&self, now: Millis) -> Option<Millis> {
        let quiet = self.since.saturating_add(QUIET);
        let ahead = self.wrote.map(|at| at.saturating_add(AHEAD));
        [Some(quiet), ahead].into_iter().flatten().filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind() -> impl Strategy<Value = KeyKind> {
        prop_oneof![
            8 => Just(KeyKind::Text),
            1 => Just(KeyKind::Tab),
            1 => Just(KeyKind::Edge),
            1 => Just(KeyKind::Esc),
            1 => Just(KeyKind::Other),
        ]
    }

    proptest! {
        #[test]
        fn keys_without_a_pause_never_answer(
            keys in prop::collection::vec((kind(), 0..QUIET, any::<bool>()), 1..80),
            opens in 0usize..80,
            busy in any::<bool>(),
        ) {
            let (mut guard, mut now) = (QuestionGuard::default(), 0);
            for (at, (kind, gap, draft)) in keys.into_iter().enumerate() {
                if at == opens || at == 0 {
                    guard.opened(now);
                }
                now += gap;
                prop_assert_ne!(guard.key(kind, now, draft), Route::To(Focus::Question));
                if busy {
                    guard.wrote(now);
                }
            }
        }

        #[test]
        fn typing_continues_after_a_pause(
            keys in prop::collection::vec(0u64..5_000, 1..40),
        ) {
            let (mut guard, mut now) = (QuestionGuard::default(), 0);
            guard.opened(now);
            guard.wrote(now);
            for gap in keys {
                now += gap;
                prop_assert_eq!(guard.key(KeyKind::Text, now, true), Route::To(Focus::Draft));
            }
        }
    }

    #[test]
    fn a_key_restarts_the_quiet_time() {
        let mut guard = QuestionGuard::default();
        guard.opened(1_000);
        assert_eq!(guard.key(KeyKind::Other, 1_699, false), Route::To(Focus::Draft));
        assert_eq!(guard.focus(2_398, false), Focus::Draft);
        assert_eq!(guard.focus(2_399, false), Focus::Question);
    }

    #[test]
    fn once_the_question_answers_keys_may_follow_at_any_speed() {
        let mut guard = QuestionGuard::default();
        guard.opened(0);
        for now in [700, 701, 701, 750] {
            assert_eq!(guard.key(KeyKind::Other, now, false), Route::To(Focus::Question));
        }
        guard.opened(800);
        assert_eq!(guard.key(KeyKind::Other, 1_449, false), Route::To(Focus::Draft));
    }

    #[test]
    fn one_deliberate_key_moves_the_focus_from_a_draft_and_another_back() {
        let mut guard = QuestionGuard::default();
        guard.opened(0);
        assert_eq!(guard.listening(5_000, true), Listening::ToDraft);
        assert_eq!(guard.key(KeyKind::Tab, 5_000, true), Route::Moved);
        assert_eq!(guard.listening(5_001, true), Listening::BesideDraft);
        assert_eq!(guard.key(KeyKind::Text, 5_100, true), Route::To(Focus::Question));
        assert_eq!(guard.key(KeyKind::Esc, 5_200, true), Route::Moved);
        assert_eq!(guard.key(KeyKind::Text, 9_000, true), Route::To(Focus::Draft));
    }

    #[test]
    fn a_focus_moved_while_typing_waits_for_the_pause() {
        let mut guard = QuestionGuard::default();
        guard.opened(0);
        guard.key(KeyKind::Text, 100, false);
        assert_eq!(guard.key(KeyKind::Tab, 200, true), Route::Moved);
        assert_eq!(guard.listening(899, true), Listening::NotYet);
        assert_eq!(guard.listening(900, true), Listening::BesideDraft);
        assert_eq!(guard.key(KeyKind::Text, 899, true), Route::To(Focus::Draft));
        assert_eq!(guard.key(KeyKind::Text, 9_000, true), Route::To(Focus::Draft), "it moved back");
    }

    #[test]
    fn typing_ahead_continues_in_an_empty_draft() {
        let mut guard = QuestionGuard::default();
        guard.wrote(1_000);
        guard.opened(1_100);
        assert_eq!(guard.focus(2_999, false), Focus::Draft);
        assert_eq!(guard.focus(3_000, false), Focus::Question);
    }
}
