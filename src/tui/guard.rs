//! Decides who gets a key while a question waits: the question, or the draft. Pure: times come with
//! the keys.
//!
//! A question that opens while keys are pressed takes none until none was pressed for [`QUIET`]: a
//! user who goes on typing has not read it. Until then, and while the draft contains text, keys go
//! to the draft; one deliberate key moves the focus. A letter of a choice that begins a draft
//! meanwhile is held: it answers nothing, and is text only if more text follows.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Millis;

/// A question takes its first key after this long without any.
pub const QUIET: Millis = 700;
/// It takes one at once if there was none for this long before it. The start of the program counts
/// as a key: it was typed, too.
const BEFORE: Millis = 1_000;
/// A user who typed while the turn ran may continue for this long, even into an empty draft.
const AHEAD: Millis = 2_000;
/// What is typed this long after a question opened or closed was typed by a user who has seen that.
const SEEN: Millis = 300;
/// The next letter of a word comes within this time.
pub const WORD: Millis = 400;
/// A longer text is a message, whatever it began as; in characters.
const ANSWER: usize = 24;

/// The letter that decided a question, and the word that it may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DecisionKey {
    /// Until it is released or another key is pressed.
    held: Option<KeyCode>,
    /// The last key that followed without a pause.
    last: Millis,
    /// A letter that comes later is not the next one of the word.
    word_until: Millis,
    /// A letter has followed.
    is_word: bool,
}

/// The target of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyTarget {
    Question,
    #[default]
    Draft,
}

/// The kind of a key, as far as it matters for the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Changes a text.
    Text,
    /// The letter of a choice, where it would begin a text.
    Choice,
    Tab,
    /// An arrow that does not move the cursor in the draft.
    Edge,
    Esc,
    Other,
}

/// What happens to a key that is pressed while a question waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRoute {
    To(KeyTarget),
    /// The focus moved; the key did nothing else.
    FocusMoved,
    /// Too early for an answer, and not a text.
    Held,
}

/// What the dialog says about its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FocusNotice {
    /// Keys were pressed just now.
    Waiting,
    /// Keys go to the draft.
    Draft,
    #[default]
    Question,
    /// Keys answer, and a draft waits.
    QuestionWithDraft,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionGuard {
    /// The start of the quiet time: the question opened, or a key was pressed.
    quiet_since: Millis,
    /// The question became visible.
    opened: Millis,
    /// The quiet time has passed once, and keys answer since then.
    is_answering: bool,
    /// The user moved the focus to the question.
    has_moved_focus: bool,
    /// The time of the last typing while the turn ran.
    wrote: Option<Millis>,
    /// The first and the last key of typing without a pause.
    burst: (Millis, Millis),
    /// Enter was pressed on what was typed as the question opened.
    entered: Option<Millis>,
    pasted: Option<Millis>,
    /// Letters that decided nothing, and the time of the last one.
    ignored: (Vec<KeyEvent>, Millis),
    decided: Option<DecisionKey>,
    /// Another character came together with the key.
    is_in_burst: bool,
}

impl QuestionGuard {
    /// A question becomes visible, for the first time or again: no earlier key is meant for it.
    pub fn restart(&mut self, now: Millis) {
        if now <= self.quiet_since.saturating_add(BEFORE) {
            self.quiet_since = self.quiet_since.max(now);
        } else {
            self.wrote = None;
        }
        (self.opened, self.is_answering, self.has_moved_focus) = (now, false, false);
        self.ignored.0.clear();
    }

    /// Whether a key comes before the question can have been read.
    pub fn precedes_reading(&self, now: Millis) -> bool {
        now < self.opened.saturating_add(SEEN)
    }

    /// A key, a click or a paste that [`QuestionGuard::route_key`] does not route.
    pub fn record_key(&mut self, now: Millis) {
        self.quiet_since = self.quiet_since.max(now);
    }

    /// The user typed while the turn ran.
    pub fn record_typing(&mut self, now: Millis) {
        self.record_key(now);
        (self.is_answering, self.has_moved_focus, self.wrote) = (false, false, Some(now));
        if now >= self.burst.1.saturating_add(QUIET) {
            self.burst.0 = now;
        }
        (self.burst.1, self.entered) = (now, None);
        self.ignored.0.clear();
    }

    /// Whether Enter sends the draft. What was typed just as the question opened may have been
    /// meant for it: that takes a second Enter, which is not one key held down.
    pub fn confirm_sending(&mut self, now: Millis) -> bool {
        let from = self.burst.0.saturating_add(QUIET);
        let is_hasty = from >= self.opened && self.burst.1 <= self.opened.saturating_add(QUIET);
        let before = self.entered.replace(now);
        !is_hasty || before.is_some_and(|before| now >= before.saturating_add(QUIET))
    }

    /// The user deleted the draft.
    pub fn clear_typing(&mut self) {
        self.wrote = None;
    }

    /// A paste. Keys that follow its end may still be part of it.
    pub fn record_paste(&mut self, now: Millis) {
        self.record_key(now);
        self.pasted = Some(now);
    }

    /// Whether a key may be part of a paste.
    pub fn is_pasting(&self, now: Millis) -> bool {
        self.pasted.is_some_and(|at| now < at.saturating_add(QUIET))
    }

    /// A question was decided, by this key. `draft`: the draft contained text, so that what is
    /// typed on did not begin as the rest of a word.
    pub fn record_decision(&mut self, key: Option<&KeyEvent>, now: Millis, draft: bool) {
        let letter = key.map(|key| key.code).filter(|code| code.as_char().is_some());
        let word_until = if draft { 0 } else { now.saturating_add(QUIET) };
        self.decided = letter.map(|code| DecisionKey {
            held: Some(code),
            last: now,
            word_until,
            is_word: false,
        });
    }

    /// The question closed: from now on the user can see what the key did.
    pub fn question_closed(&mut self, now: Millis) {
        if let Some(decided) = self.decided.as_mut().filter(|decided| !decided.is_word) {
            decided.word_until = decided.word_until.min(now.saturating_add(SEEN));
        }
        self.restart(now);
    }

    pub fn key_released(&mut self) {
        if let Some(decided) = &mut self.decided {
            decided.held = None;
        }
    }

    /// Whether a key is the one that decided a question, still held down. Any other may be the next
    /// letter of a word that it began; but after Enter and every key of editing the word is over.
    pub fn repeats_decision(&mut self, key: &KeyEvent, now: Millis) -> bool {
        self.decided.take_if(|decided| now >= decided.last.saturating_add(QUIET));
        let Some(decided) = &mut self.decided else { return false };
        decided.last = now;
        decided.held = decided.held.filter(|held| *held == key.code);
        if decided.held.is_some() {
            return true;
        }
        let is_bound = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter => decided.word_until = 0,
            KeyCode::Char(_) if !is_bound && now < decided.word_until => {
                decided.is_word = true;
                decided.word_until = now.saturating_add(QUIET);
            }
            _ => self.decided = None,
        }
        false
    }

    /// Whether Enter would send the rest of a word whose first letter decided a question. Only the
    /// first one does.
    pub fn ends_word(&mut self, text: &str) -> bool {
        let is_word = self.decided.take().is_some_and(|decided| decided.is_word);
        is_word && text.chars().nth(ANSWER).is_none()
    }

    /// Whether another character waits that came together with the next key.
    pub fn set_in_burst(&mut self, is_in_burst: bool) {
        self.is_in_burst = is_in_burst;
    }

    /// No user types two letters at once: such a key begins a text.
    pub fn is_in_burst(&self) -> bool {
        self.is_in_burst
    }

    /// The letters that were ignored or held just now: the beginning of a text, if one follows.
    pub fn take_ignored(&mut self, now: Millis) -> Vec<KeyEvent> {
        let (letters, at) = std::mem::take(&mut self.ignored);
        if now < at.saturating_add(QUIET) { letters } else { Vec::new() }
    }

    /// The question has no use for a letter, as for those before it.
    pub fn ignore(&mut self, mut before: Vec<KeyEvent>, letter: &KeyEvent, now: Millis) {
        before.push(*letter);
        self.ignored = (before, now);
    }

    /// A command was run over the question, or a key came too early to answer it: the question has the
    /// focus, and takes its next key after a pause.
    pub fn focus_question(&mut self, now: Millis) {
        self.record_key(now);
        (self.is_answering, self.has_moved_focus) = (false, true);
    }

    /// Whether the quiet time has passed.
    pub fn is_ready(&self, now: Millis) -> bool {
        self.is_answering || now >= self.quiet_since.saturating_add(QUIET)
    }

    fn is_typing_ahead(&self, now: Millis) -> bool {
        self.wrote.is_some_and(|at| now < at.saturating_add(AHEAD))
    }

    /// Who gets keys now. `draft`: the draft contains text.
    pub fn target(&self, now: Millis, draft: bool) -> KeyTarget {
        if self.is_ready(now) && (self.has_moved_focus || !(draft || self.is_typing_ahead(now))) {
            KeyTarget::Question
        } else {
            KeyTarget::Draft
        }
    }

    pub fn focus_notice(&self, now: Millis, draft: bool) -> FocusNotice {
        match self.target(now, draft) {
            KeyTarget::Question if draft => FocusNotice::QuestionWithDraft,
            KeyTarget::Question => FocusNotice::Question,
            KeyTarget::Draft if self.has_moved_focus || !(draft || self.is_ready(now)) => {
                FocusNotice::Waiting
            }
            KeyTarget::Draft => FocusNotice::Draft,
        }
    }

    /// Routes a key, and updates the focus.
    pub fn route_key(&mut self, kind: KeyKind, now: Millis, draft: bool) -> KeyRoute {
        let target = self.target(now, draft);
        let ready = self.is_ready(now);

        self.record_key(now);
        match (target, kind) {
            (KeyTarget::Question, KeyKind::Tab | KeyKind::Esc) if draft => {
                (self.is_answering, self.has_moved_focus) = (false, false);
                KeyRoute::FocusMoved
            }
            (KeyTarget::Question, _) => {
                self.is_answering = true;
                KeyRoute::To(KeyTarget::Question)
            }
            (KeyTarget::Draft, KeyKind::Choice) => KeyRoute::Held,
            (KeyTarget::Draft, KeyKind::Tab | KeyKind::Edge) => {
                (self.is_answering, self.has_moved_focus) = (ready, true);
                KeyRoute::FocusMoved
            }
            (KeyTarget::Draft, KeyKind::Text) => {
                self.record_typing(now);
                KeyRoute::To(KeyTarget::Draft)
            }
            (KeyTarget::Draft, KeyKind::Esc | KeyKind::Other) => KeyRoute::To(KeyTarget::Draft),
        }
    }

    /// When the focus changes by itself.
    pub fn next_wakeup(&self, now: Millis) -> Option<Millis> {
        let quiet = self.quiet_since.saturating_add(QUIET);
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
            4 => Just(KeyKind::Choice),
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
                    guard.restart(now);
                }
                now += gap;
                prop_assert_ne!(guard.route_key(kind, now, draft), KeyRoute::To(KeyTarget::Question));
                if busy {
                    guard.record_typing(now);
                }
            }
        }

        #[test]
        fn typing_continues_after_a_pause(
            keys in prop::collection::vec(0u64..5_000, 1..40),
        ) {
            let (mut guard, mut now) = (QuestionGuard::default(), 0);
            guard.restart(now);
            guard.record_typing(now);
            for gap in keys {
                now += gap;
                prop_assert_eq!(guard.route_key(KeyKind::Text, now, true), KeyRoute::To(KeyTarget::Draft));
            }
        }
    }

    #[test]
    fn a_key_restarts_the_quiet_time() {
        let mut guard = QuestionGuard::default();
        guard.restart(1_000);
        assert_eq!(guard.route_key(KeyKind::Other, 1_699, false), KeyRoute::To(KeyTarget::Draft));
        assert_eq!(guard.target(2_398, false), KeyTarget::Draft);
        assert_eq!(guard.target(2_399, false), KeyTarget::Question);
    }

    #[test]
    fn a_question_takes_a_key_at_once_if_none_came_in_the_second_before() {
        for (gap, target) in
            [(0, KeyTarget::Draft), (1_000, KeyTarget::Draft), (1_001, KeyTarget::Question)]
        {
            let mut guard = QuestionGuard::default();
            guard.record_typing(5_000);
            guard.restart(5_000 + gap);
            assert_eq!(guard.target(5_000 + gap, false), target, "{gap}");
            assert_eq!(guard.target(5_000 + gap, true), KeyTarget::Draft, "a draft goes on");
        }
    }

    #[test]
    fn what_is_typed_as_a_question_opens_takes_two_presses_of_enter() {
        // The first and the last letter, and whether one Enter is enough.
        let cases = [(5_000, 9_500, true), (9_500, 9_900, false), (10_100, 10_600, false)];
        let later = [(10_701, 10_900, true), (10_600, 10_900, true), (8_000, 8_100, true)];
        for (first, last, sends) in cases.into_iter().chain(later) {
            let mut guard = QuestionGuard::default();
            let mut typed: Vec<Millis> = (first..last).step_by(600).chain([last]).collect();
            let after = typed.split_off(typed.partition_point(|at| *at <= 10_000));
            typed.iter().for_each(|at| guard.record_typing(*at));
            guard.restart(10_000);
            after.iter().for_each(|at| guard.record_typing(*at));
            assert_eq!(guard.confirm_sending(12_000), sends, "{first} {last}");
            assert_eq!(guard.confirm_sending(12_300), sends, "held down");
            assert!(guard.confirm_sending(13_000));
        }
    }

    #[test]
    fn keys_may_follow_at_any_speed_once_the_question_has_taken_one() {
        let mut guard = QuestionGuard::default();
        guard.restart(0);
        for now in [700, 701, 701, 750] {
            assert_eq!(
                guard.route_key(KeyKind::Other, now, false),
                KeyRoute::To(KeyTarget::Question)
            );
        }
        guard.restart(800);
        assert_eq!(guard.route_key(KeyKind::Other, 1_449, false), KeyRoute::To(KeyTarget::Draft));
    }

    #[test]
    fn one_deliberate_key_moves_the_focus_from_a_draft_and_another_back() {
        let mut guard = QuestionGuard::default();
        guard.restart(0);
        assert_eq!(guard.focus_notice(5_000, true), FocusNotice::Draft);
        assert_eq!(guard.route_key(KeyKind::Tab, 5_000, true), KeyRoute::FocusMoved);
        assert_eq!(guard.focus_notice(5_001, true), FocusNotice::QuestionWithDraft);
        assert_eq!(guard.route_key(KeyKind::Text, 5_100, true), KeyRoute::To(KeyTarget::Question));
        assert_eq!(guard.route_key(KeyKind::Esc, 5_200, true), KeyRoute::FocusMoved);
        assert_eq!(guard.route_key(KeyKind::Text, 9_000, true), KeyRoute::To(KeyTarget::Draft));
    }

    #[test]
    fn a_focus_moved_while_typing_waits_for_the_pause() {
        let mut guard = QuestionGuard::default();
        guard.restart(0);
        guard.route_key(KeyKind::Text, 100, false);
        assert_eq!(guard.route_key(KeyKind::Tab, 200, true), KeyRoute::FocusMoved);
        assert_eq!(guard.focus_notice(899, true), FocusNotice::Waiting);
        assert_eq!(guard.focus_notice(900, true), FocusNotice::QuestionWithDraft);
        assert_eq!(guard.route_key(KeyKind::Text, 899, true), KeyRoute::To(KeyTarget::Draft));
        assert_eq!(
            guard.route_key(KeyKind::Text, 9_000, true),
            KeyRoute::To(KeyTarget::Draft),
            "it moved back"
        );
    }

    #[test]
    fn typing_ahead_continues_in_an_empty_draft() {
        let mut guard = QuestionGuard::default();
        guard.record_typing(1_000);
        guard.restart(1_100);
        assert_eq!(guard.target(2_999, false), KeyTarget::Draft);
        assert_eq!(guard.target(3_000, false), KeyTarget::Question);
    }
}
