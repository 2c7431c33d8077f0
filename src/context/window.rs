//! The window over a conversation: what of it goes into the next request.
//!
//! A request is the system prompt, as many of the latest turns as fit, and the turn
//! that runs, which always goes whole or shortened, never dropped. Its bytes stay below
//! [`Bounds::bytes`] for any history, and building one looks only at what it sends.
//!
//! A summary of what fell out of the window, and digests, will stand between the
//! system prompt and the turns (001 §8.2).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::digest;
use crate::protocol::{Message, Role};

/// How much a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of all contents together.
    pub bytes: usize,
    /// Bytes of one message with tool results, once its turn is over.
    pub old_result: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bytes: 96 * 1024, old_result: 1_500 }
    }
}

/// What each message costs beside its content; more than [`JOINT`].
const ENVELOPE: usize = 24;

/// What stands between two messages of one role that became one.
const JOINT: &str = "\n\n";

/// Older turns than this many bytes ago can never be sent again.
const KEPT: usize = 1024 * 1024;

/// The turns that are over, oldest first, as they are sent: the user's words, the
/// model's replies in short form, the results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    turns: VecDeque<Vec<Message>>,
    /// Turns that were ever added and not taken back.
    #[serde(default)]
    pushed: usize,
}

/// A place between two turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(usize);

/// How the bytes of a request divide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    pub system: usize,
    pub history: usize,
    pub turn: usize,
    pub bound: usize,
    /// Past turns that go with it, and those that found no room.
    pub turns: usize,
    pub left_out: usize,
}

impl History {
    /// Adds a turn that is over. Its results are shortened once, here.
    pub fn push(&mut self, turn: Vec<Message>, bounds: Bounds) {
        let turn: Vec<Message> =
            turn.into_iter().map(|message| aged(message, bounds.old_result)).collect();
        self.turns.push_back(turn);
        self.pushed += 1;
        while self.turns.len() > 1 && self.bytes() > KEPT {
            self.turns.pop_front();
        }
    }

    pub fn clear(&mut self) {
        self.turns.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Here, to come back to.
    pub fn mark(&self) -> Mark {
        Mark(self.pushed)
    }

    /// Before the last turn, to ask it again.
    pub fn mark_before_last(&self) -> Mark {
        Mark(self.pushed.saturating_sub(1))
    }

    /// The messages of the last turn.
    pub fn last(&self) -> Option<&[Message]> {
        self.turns.back().map(Vec::as_slice)
    }

    /// Forgets what was added behind the mark.
    pub fn back_to(&mut self, mark: Mark) {
        let extra = self.pushed.saturating_sub(mark.0);
        self.turns.truncate(self.turns.len().saturating_sub(extra));
        self.pushed -= extra;
    }

    fn bytes(&self) -> usize {
        self.turns.iter().map(|turn| size(turn)).sum()
    }
}

/// The messages of a request: at most [`Bounds::bytes`] for any history and turn. Roles
/// alternate behind the system prompt, since the templates of some models insist on it:
/// a turn that was cancelled ends with the user's side, and the next begins with it.
pub fn request(system: &str, history: &History, turn: &[Message], bounds: Bounds) -> Vec<Message> {
    let system = digest::cut_middle(system, bounds.bytes / 2);
    let mut left = bounds.bytes.saturating_sub(system.len() + ENVELOPE);
    let turn = fitted(turn, left);
    left = left.saturating_sub(size(&turn));
    let mut kept: Vec<&Vec<Message>> = Vec::new();
    for past in history.turns.iter().rev() {
        match left.checked_sub(size(past)) {
            Some(rest) => left = rest,
            None => break,
        }
        kept.push(past);
    }
    let mut out = vec![Message::system(system)];
    for message in kept.into_iter().rev().flatten().cloned().chain(turn) {
        match out.last_mut() {
            Some(last) if last.role == message.role && last.role != Role::System => {
                last.content.push_str(JOINT);
                last.content.push_str(&message.content);
            }
            Some(_) | None => out.push(message),
        }
    }
    out
}

/// How the next request divides, when the turn that runs has so many bytes.
pub fn shares(system: &str, history: &History, turn: usize, bounds: Bounds) -> Shares {
    let system = (system.len() + ENVELOPE).min(bounds.bytes / 2);
    let turn = turn.min(bounds.bytes.saturating_sub(system));
    let room = bounds.bytes.saturating_sub(system + turn);
    let mut shares = Shares { system, turn, bound: bounds.bytes, ..Shares::default() };
    for past in history.turns.iter().rev() {
        if shares.history + size(past) > room {
            break;
        }
        shares.history += size(past);
        shares.turns += 1;
    }
    shares.left_out = history.turns.len() - shares.turns;
    shares
}

/// The running turn in at most `limit` bytes: old results give way first, then the
/// oldest exchanges, then the middle of whatever is longest. The user's words, which
/// stand first, are touched last.
fn fitted(turn: &[Message], limit: usize) -> Vec<Message> {
    let mut turn = turn.to_vec();
    let newest = turn.len().saturating_sub(1);
    for at in 1..newest {
        if size(&turn) <= limit {
            return turn;
        }
        if let Some(message) = turn.get_mut(at) {
            message.content = digest::shorten(&message.content, limit / 8);
        }
    }
    while size(&turn) > limit && turn.len() > 2 {
        turn.remove(1);
    }
    if size(&turn) > limit {
        level(&mut turn, limit);
    }
    turn
}

/// Gives each message the same share, and what short ones leave to the longer ones.
fn level(turn: &mut [Message], mut limit: usize) {
    let mut order: Vec<&mut Message> = turn.iter_mut().collect();
    order.sort_by_key(|message| message.content.len());
    let count = order.len();
    for (done, message) in order.into_iter().enumerate() {
        let share = (limit / (count - done)).saturating_sub(ENVELOPE);
        message.content = digest::shorten(&message.content, share);
        limit = limit.saturating_sub(message.content.len() + ENVELOPE);
    }
}

fn size(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.content.len() + ENVELOPE).sum()
}

fn aged(message: Message, limit: usize) -> Message {
    let is_result = message.role == Role::User && message.content.starts_with("{\"_event\"");
    if is_result {
        Message { content: digest::shorten(&message.content, limit), ..message }
    } else {
        message
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn the_latest_turns_go_in_order_behind_the_system_prompt() {
        let mut history = History::default();
        for text in ["one", "two", "three"] {
            let turn = vec![Message::user(text), Message::assistant(text.to_uppercase())];
            history.push(turn, Bounds::default());
        }
        let bounds = Bounds { bytes: 200, old_result: 100 };
        let sent = request("sys", &history, &[Message::user("now")], bounds);
        assert_eq!(contents(&sent), ["sys", "two", "TWO", "three", "THREE", "now"]);
    }

    #[test]
    fn what_was_added_behind_a_mark_can_be_forgotten() {
        let mut history = History::default();
        history.push(vec![Message::user("one")], Bounds::default());
        let mark = history.mark();
        history.back_to(mark);
        for text in ["two", "three"] {
            history.push(vec![Message::user(text)], Bounds::default());
        }
        history.back_to(mark);
        assert_eq!(history.mark(), mark);
        let sent = request("sys", &history, &[Message::user("now")], Bounds::default());
        assert_eq!(contents(&sent), ["sys", "one\n\nnow"]);
    }

    #[test]
    fn the_shares_are_those_of_the_request() {
        let mut history = History::default();
        for text in ["one", "two", "three"] {
            let turn = vec![Message::user(text), Message::assistant("x".repeat(50))];
            history.push(turn, Bounds::default());
        }
        let bounds = Bounds { bytes: 300, old_result: 100 };
        let now = [Message::user("now")];
        let shares = shares("sys", &history, size(&now), bounds);
        let sent = request("sys", &history, &now, bounds);
        assert_eq!(shares.system + shares.history + shares.turn, size(&sent));
        assert_eq!((shares.turns, shares.left_out), (2, 1));
    }

    #[test]
    fn an_old_result_is_shorter_than_when_it_was_new() {
        let result =
            format!("{{\"_event\":\"tool_result\",\"stdoutTail\":\"{}\"}}", "x\\n".repeat(5_000));
        let mut history = History::default();
        let bounds = Bounds::default();
        let running = [Message::user("q"), Message::assistant("c"), Message::user(result.clone())];
        assert!(contents(&request("s", &history, &running, bounds)).contains(&result.as_str()));
        history.push(running.to_vec(), bounds);
        let sent = request("s", &history, &[Message::user("next")], bounds);
        assert!(sent[3].content.len() <= bounds.old_result + JOINT.len() + "next".len());
    }

    #[test]
    fn neighbours_of_one_role_become_one_message() {
        let mut history = History::default();
        history.push(vec![Message::user("one")], Bounds::default());
        let sent = request("sys", &history, &[Message::user("two")], Bounds::default());
        assert_eq!(sent, [Message::system("sys"), Message::user("one\n\ntwo")]);
    }

    #[test]
    fn long_words_stay_whole_while_there_is_room() {
        let words = "w".repeat(40_000);
        let turn = [Message::user(words.as_str()), Message::assistant("c"), Message::user("r")];
        let sent = request("sys", &History::default(), &turn, Bounds::default());
        assert_eq!(sent[1].content, words);
    }

    #[test]
    fn old_results_give_way_before_anything_is_left_out() {
        let long = "z".repeat(3_000);
        let turn: Vec<Message> = [
            Message::user("do it ".repeat(150)),
            Message::assistant("a"),
            Message::user(format!("first {long}")),
            Message::assistant("b"),
            Message::user(format!("second {long}")),
        ]
        .into();
        let bounds = Bounds { bytes: 5_000, old_result: 100 };
        let sent = request("s", &History::default(), &turn, bounds);
        assert_eq!(sent.len(), 6);
        assert_eq!(sent[1], turn[0]);
        assert!(sent[3].content.contains("bytes left out"), "{}", sent[3].content);
        assert_eq!(sent[5].content, format!("second {long}"), "the newest is whole");
    }

    fn messages() -> impl Strategy<Value = Vec<Message>> {
        let content = prop_oneof![
            "[a-z你好]{0,40}",
            (0usize..60_000).prop_map(|n| "长x".repeat(n / 4)),
            (0usize..30_000).prop_map(|n| format!(
                "{{\"_event\":\"tool_result\",\"stdoutTail\":\"{}\"}}",
                "y".repeat(n)
            )),
        ];
        let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
        prop::collection::vec(
            (role, content).prop_map(|(role, content)| Message { role, content }),
            1..12,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]
        #[test]
        fn a_request_stays_below_its_bound_for_any_history(
            past in prop::collection::vec(messages(), 0..6),
            turn in messages(),
            bytes in 2_000usize..100_000,
        ) {
            let bounds = Bounds { bytes, old_result: 1_500 };
            let mut history = History::default();
            for messages in past {
                history.push(messages, bounds);
            }
            let sent = request("system", &history, &turn, bounds);
            prop_assert!(size(&sent) <= bytes, "{} of {bytes}", size(&sent));
            prop_assert!(sent.len() >= 2);
            prop_assert!(sent.windows(2).all(|pair| pair[0].role != pair[1].role));
        }
    }
}
