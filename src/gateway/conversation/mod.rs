//! A conversation in a chat: takes the events of its session and what users do, and returns what to
//! send to either. A state machine without I/O; [`chat`](super::chat) waits and calls.

use super::menu::{MenuRows, SentCommand};
use super::platform::{DeliveryId, UserId};
use super::timeline::{PostBody, Timeline};
use avocet_core::i18n::{Lang, chat as w};
use avocet_core::protocol::{Extensions, Mention, Op, SessionInfo, Submission, SubmitId};

mod commands;
mod context;
mod effect;
mod events;
mod inbox;
mod offers;
mod open_commands;
mod posts;
mod question_view;
mod recovery;
mod reply_view;
mod saved;
mod shortcuts;
mod speaker;
mod suggest_query;
#[cfg(test)]
mod tests;
mod waiting;

use context::ChatContext;
pub use context::ChatOptions;
pub use effect::ChatEffect;
use inbox::{Inbox, PendingMessage, submit_op};
pub use posts::ChatPosts;
use recovery::Recovery;
pub use recovery::{BegunMessage, ChatRecovery};
use reply_view::ReplyView;
use saved::SavedConversations;
use shortcuts::Shortcuts;
pub use speaker::{Speaker, display_name};
pub use suggest_query::SuggestQuery;
use suggest_query::Suggesting;
use waiting::WaitingWords;

/// Whether the files of a message are being fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchState {
    Idle,
    Fetching,
}

#[derive(Debug)]
pub struct ChatConversation {
    context: ChatContext,
    pub view: ReplyView,
    inbox: Inbox,
    suggesting: Suggesting,
    pub(super) recovery: Recovery,
    /// The files of a message are being fetched.
    pub fetching: FetchState,
    /// They are shown when they come.
    asked_models: bool,
    saved: SavedConversations,
    /// The session is to go on with what waits, which may have begun already.
    ran_queue: bool,
    shortcuts: Option<Shortcuts>,
    /// Who was asked for the argument of this command: their next message is it.
    awaited_argument: Option<(UserId, String)>,
}

impl ChatConversation {
    pub fn new(
        options: ChatOptions,
        info: SessionInfo,
        recovery: ChatRecovery,
    ) -> ChatConversation {
        let mut timeline = Timeline::new(options.limits, options.lang);
        if let Some(message) = recovery.question {
            let text = w::QUESTION_GONE.text(options.lang).to_owned();
            timeline.adopt(message, PostBody::Plain(text));
        }
        let shows_steps = options.open.contains(&"display.tool_progress_command");
        ChatConversation {
            view: ReplyView::new(ChatPosts::new(timeline), shows_steps),
            inbox: Inbox::new(options.started, options.most_queued),
            context: ChatContext {
                options,
                info,
                models: Vec::new(),
                extensions: Extensions::default(),
                menu_rows: MenuRows::default(),
            },
            suggesting: Suggesting::default(),
            recovery: Recovery { begun: recovery.begun },
            fetching: FetchState::Idle,
            asked_models: false,
            saved: SavedConversations::new(recovery.earlier),
            ran_queue: false,
            shortcuts: None,
            awaited_argument: None,
        }
    }

    /// Keeps the menu that the service shows now, so that names in it are understood.
    pub fn keep_shown_menu(&mut self, rows: MenuRows) {
        self.context.menu_rows = rows;
    }

    /// What the session has reported of itself.
    pub fn info(&self) -> &SessionInfo {
        &self.context.info
    }

    pub fn is_idle(&self) -> bool {
        !self.is_busy() && self.recovery.is_over() && self.inbox.is_settled()
    }

    /// A turn runs, or something will begin one.
    fn is_busy(&self) -> bool {
        self.has_turn() || self.fetching == FetchState::Fetching
    }

    fn has_turn(&self) -> bool {
        !self.view.is_idle() || !self.inbox.submitted.is_empty()
    }

    fn set_lang(&mut self, lang: Lang) {
        self.context.options.lang = lang;
        self.view.posts.timeline.lang = lang;
    }

    /// The new posts of `act` answer this delivery.
    fn answering<T>(
        &mut self,
        delivery: Option<DeliveryId>,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let scope = self.view.posts.begin_answer(delivery);
        let done = act(self);
        self.view.posts.end_answer(scope);
        done
    }

    /// A message; `mentions` are files that came with it.
    pub fn on_text(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
        mentions: Vec<Mention>,
    ) -> Vec<ChatEffect> {
        let argument = self.awaited_argument.take_if(|(by, _)| *by == speaker.id);
        if let Some((_, name)) = argument.filter(|_| mentions.is_empty()) {
            let sent = SentCommand { name, args: text.to_owned(), options: Vec::new() };
            return self.on_command(speaker, delivery, sent);
        }
        self.withdraw_offer(None);
        if !self.inbox.waiting.is_empty() && self.view.question().is_none() {
            let words = WaitingWords::Text(text.to_owned(), mentions);
            self.inbox.waiting.push(speaker, delivery, words);
            return Vec::new();
        }
        self.run_text(speaker, delivery, text, mentions)
    }

    fn run_text(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
        mentions: Vec<Mention>,
    ) -> Vec<ChatEffect> {
        let answered = Some(delivery.clone());
        self.answering(answered, |chat| chat.take_text(speaker, delivery, text, mentions))
    }

    fn take_text(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
        mentions: Vec<Mention>,
    ) -> Vec<ChatEffect> {
        self.view.hear(speaker);
        if mentions.is_empty() && text.trim().is_empty() && speaker.quote.is_empty() {
            // A sticker, a place, or only the name of the bot.
            self.view.posts.say(w::CAN_READ);
            return vec![ChatEffect::Done(delivery)];
        }
        if mentions.is_empty()
            && let Some(effects) = self.view.typed_answer(speaker, &delivery, text)
        {
            return effects;
        }
        let Some((op, text)) = submit_op(&speaker.signed(text), mentions) else {
            return vec![ChatEffect::Done(delivery)];
        };
        let id = self.inbox.next_id();
        let message =
            PendingMessage { id, delivery: delivery.clone(), text, by: speaker.id.clone() };
        if self.accept(message) {
            self.submit(id, op, speaker.is_admin)
        } else {
            vec![ChatEffect::Done(delivery)]
        }
    }

    /// Notes a message that is submitted now; false: it is refused, with a sentence.
    fn accept(&mut self, message: PendingMessage) -> bool {
        let refusal = self.inbox.refusal(&message.text);
        if refusal.is_none() && self.context.info.read_only {
            self.view.posts.say_read_only();
            return false;
        }
        if let Some(refusal) = refusal {
            self.view.posts.say(refusal);
            return false;
        }
        self.inbox.submitted.push_back(message);
        // The first one begins at once if nothing runs.
        let begins = usize::from(self.view.is_idle());
        let waiting = self.inbox.submitted.len() - begins;
        if self.view.question().is_some() {
            self.view.posts.say_waiting(w::WAITS_FOR_ANSWER.with("n", waiting));
        } else if waiting > 0 {
            self.view.posts.say_waiting(w::WAITS.with("n", waiting));
        }
        true
    }

    /// Sends an operation that begins a turn or belongs to one. Before one of a speaker who is not an
    /// admin, a mode in which steps run without a question goes back to asking.
    fn submit(&mut self, id: SubmitId, op: Op, speaker_is_admin: bool) -> Vec<ChatEffect> {
        let asks = self.context.ask_again(speaker_is_admin);
        if asks.is_some() {
            self.view.posts.say(w::MODE_BACK_TO_ASK);
        }
        let asks = asks.map(|op| ChatEffect::Send(op.into()));
        asks.into_iter().chain([ChatEffect::Send(Submission { id: Some(id), op })]).collect()
    }
}
