//! Builds a request. For the JSON dialect `window` does; for models that call tools the
//! conversation is sent as it was.
//!
//! A request begins with the bytes of the one before it, so that the provider's cache of prompts
//! hits: turns are repeated as they were, and nothing before them changes. When they no
//! longer fit, room is made in large steps: results of old steps are shortened first, then the
//! oldest messages are left out. In between nothing moves.

use super::history::{History, REPEATED};
use super::message_size::{JOINT, message_size, messages_size};
use super::shorten;
use super::size::{ContextSize, cut_to_fit};
use super::window::{
    self, Bounds, ContextUsage, RequestParts, Section, append_plan, leading_messages, plan_part,
    results_part,
};
use avocet_core::protocol::{Dialect, Message, Role};

/// Room is made in steps of this part of it.
const STEP: usize = 4;
/// What is left of an old result: bytes, and estimated tokens.
const OLD_RESULT: ContextSize = ContextSize { bytes: 240, tokens: 60 };
/// A shorter result is not worth shortening.
const WORTH: usize = 480;

/// The messages of a request, and how its room is divided.
pub fn build(parts: RequestParts<'_>, bounds: Bounds) -> (Vec<Message>, ContextUsage) {
    match bounds.dialect {
        Dialect::Json => window::request(parts, bounds),
        Dialect::Tools => verbatim(parts, bounds),
    }
}

fn verbatim(parts: RequestParts<'_>, bounds: Bounds) -> (Vec<Message>, ContextUsage) {
    let mut usage = ContextUsage { room: bounds.room, ..ContextUsage::default() };
    let mut left = bounds.room;
    let mut out = leading_messages(parts, bounds, &mut left, &mut usage);
    let plan = plan_part(parts, bounds, &mut left, &mut usage);
    let past = past_messages(parts.history, Dialect::Tools);
    let own = past.len();
    let messages: Vec<Message> = past.into_iter().chain(parts.turn.iter().cloned()).collect();
    let mut fitted = Fitting::new(messages, own, left);
    fitted.make_room();
    let (past, turn) = fitted.sizes_by_turn();
    usage.turns = parts.history.turns();
    usage.add(Section::History, past, fitted.omitted_bytes);
    usage.add(Section::Turn, turn, 0);
    for message in fitted.messages {
        match out.last_mut() {
            Some(last) if last.role == message.role && last.role != Role::System => {
                last.merge(message);
            }
            Some(_) | None => out.push(message),
        }
    }
    append_plan(&mut out, plan);
    (out, usage)
}

/// What takes room in every request of a turn: what comes before the past turns, and those.
pub fn measure(parts: RequestParts<'_>, bounds: Bounds) -> (ContextSize, ContextSize) {
    let mut left = bounds.room;
    let ledger = &mut ContextUsage::default();
    leading_messages(parts, bounds, &mut left, ledger);
    results_part(parts, bounds, &mut left, ledger);
    plan_part(parts, bounds, &mut left, ledger);
    let past = messages_size(&past_messages(parts.history, bounds.dialect));
    (bounds.room.saturating_sub(left), past)
}

/// The past turns, each as it was sent, or what is left of it.
pub(super) fn past_messages(history: &History, dialect: Dialect) -> Vec<Message> {
    match dialect {
        Dialect::Json => {
            let first = history.first_repeated(REPEATED);
            (0..history.recent.len()).flat_map(|at| history.short_messages(at, first)).collect()
        }
        Dialect::Tools => {
            history.recent.iter().flat_map(|past| past.to_messages(dialect, false)).collect()
        }
    }
}

/// Messages that are made to fit.
struct Fitting {
    messages: Vec<Message>,
    sizes: Vec<ContextSize>,
    /// The first message of the running turn: the user's words, which always stay.
    own: usize,
    max_size: ContextSize,
    omitted_bytes: usize,
}

impl Fitting {
    fn new(messages: Vec<Message>, own: usize, size: ContextSize) -> Fitting {
        let sizes = messages.iter().map(message_size).collect();
        Fitting { messages, sizes, own, max_size: size, omitted_bytes: 0 }
    }

    fn total(&self) -> ContextSize {
        self.sizes.iter().fold(ContextSize::default(), |sum, size| sum + *size)
    }

    /// One number for both measures: the scarcer one counts.
    fn weight(&self, size: ContextSize) -> usize {
        let by_bytes = size.bytes.saturating_mul(self.max_size.tokens) / self.max_size.bytes.max(1);
        size.tokens.max(by_bytes)
    }

    fn make_room(&mut self) {
        let total = self.weight(self.total());
        let room = self.weight(self.max_size);

        if total <= room {
            return;
        }
        let step = (room / STEP).max(1);
        // Rounded up to whole steps, so that the next requests change nothing.
        let target = total.saturating_sub((total - room).div_ceil(step) * step);
        self.shorten_results(target);
        self.drop_oldest(target);
        if !self.total().fits(self.max_size) {
            self.share_rest();
        }
    }

    /// The messages of the last exchange stay whole.
    fn newest(&self) -> usize {
        let calls = self.messages.last().is_some_and(Message::has_results);
        self.messages.len().saturating_sub(if calls { 2 } else { 1 })
    }

    fn shorten_results(&mut self, target: usize) {
        let mut total = self.weight(self.total());
        for at in 0..self.newest() {
            if total <= target {
                return;
            }
            let Some(message) = self.messages.get_mut(at).filter(|it| it.has_results()) else {
                continue;
            };
            let before = message.len();
            for text in message.cuttable_texts_mut().filter(|text| text.len() > WORTH) {
                *text = cut_to_fit(text, OLD_RESULT, shorten::shorten);
            }
            self.omitted_bytes += before.saturating_sub(message.len());
            self.measure(at);
            total = self.weight(self.total());
        }
    }

    fn measure(&mut self, at: usize) {
        if let (Some(message), Some(size)) = (self.messages.get(at), self.sizes.get_mut(at)) {
            *size = message_size(message);
        }
    }

    /// Leaves out the oldest messages, but never the words of the running turn; a result goes
    /// with the calls it answers.
    fn drop_oldest(&mut self, target: usize) {
        let mut total = self.weight(self.total());
        let mut gone = 0;
        while total > target || self.splits_exchange() {
            // The words of the running turn come first once all past turns are gone.
            let at = usize::from(self.own == 0);
            if at >= self.newest() {
                break;
            }
            let message = self.messages.remove(at);
            self.sizes.remove(at);
            self.own = self.own.saturating_sub(1);
            self.omitted_bytes += message.len();
            gone += 1;
            total = self.weight(self.total());
        }
        if gone > 0
            && let Some(first) = self.messages.first_mut()
        {
            first.push_text(JOINT, &format!("[{gone} earlier messages were left out here]"));
            self.measure(0);
        }
    }

    /// Whether what is first now continues an exchange whose beginning is gone.
    fn splits_exchange(&self) -> bool {
        let first = self.messages.get(usize::from(self.own == 0));
        match self.own {
            0 => first.is_some_and(Message::has_results),
            _ => first.is_some_and(|first| first.has_results() || first.role == Role::Assistant),
        }
    }

    /// The last exchange alone is too large: each text of it gets a share.
    fn share_rest(&mut self) {
        let newest = self.newest();
        let fixed = self.sizes.iter().take(newest);
        let fixed = fixed.fold(ContextSize::default(), |sum, size| sum + *size);
        let rest = self.max_size.saturating_sub(fixed);
        let count = self.messages.iter_mut().skip(newest).map(|it| it.cuttable_texts_mut().count());
        let share = rest.fraction(count.sum::<usize>() + 1);
        for at in newest..self.messages.len() {
            let Some(message) = self.messages.get_mut(at) else { continue };
            let before = message.len();
            for text in message.cuttable_texts_mut() {
                *text = cut_to_fit(text, share, avocet_core::text::cut_middle);
            }
            self.omitted_bytes += before.saturating_sub(message.len());
            self.measure(at);
        }
    }

    fn sizes_by_turn(&self) -> (ContextSize, ContextSize) {
        let sum = |sizes: &[ContextSize]| {
            sizes.iter().fold(ContextSize::default(), |sum, size| sum + *size)
        };
        let (past, turn) = self.sizes.split_at(self.own.min(self.sizes.len()));
        (sum(past), sum(turn))
    }
}

#[cfg(test)]
mod tests;
