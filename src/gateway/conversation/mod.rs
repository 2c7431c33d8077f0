//! A conversation in a chat: takes the events of its session and what users do, and returns what to
//! send to either. A state machine without I/O; [`chat`](super::chat) waits and calls.

use std::collections::VecDeque;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::ledger::BegunTurn;
use super::menu::MenuRows;
use super::platform::{ChatAddress, DeliveryId, MessageId, OutgoingFile, PlatformLimits, UserId};
use super::progress::ProgressPost;
use super::question::{ButtonData, ChatAnswer, ChatQuestion};
use super::reply::LiveReply;
use super::timeline::{PostBody, PostKey, Timeline};
use avocet_core::i18n::{Lang, LocalizedText, chat as w};
use avocet_core::protocol::{
    ChatPlatform, Extensions, Image, JobInfo, Mention, Op, QuestionOp, SessionInfo, Submission,
    SubmitId, SubmitIds, TurnOrigin,
};
use avocet_core::text::{cut, one_line};
use avocet_safety::sanitize::{TextSource, clean};

mod answering;
mod asking_mode;
mod attachment;
mod commands;
mod events;
mod messages;
mod open_commands;
mod posting;
mod showing;
mod speaker;
mod suggest_query;
mod suggesting;
#[cfg(test)]
mod tests;
mod waiting;

use open_commands::OpenCommands;
pub use speaker::Speaker;
pub use suggest_query::SuggestQuery;
use suggest_query::Suggesting;
use waiting::{WaitingInput, WaitingInputs, WaitingWords};

/// An action for the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEffect {
    Send(Submission),
    /// The turn of this message has begun: it is not submitted again.
    Begun {
        delivery: DeliveryId,
        submit: SubmitId,
        text: String,
    },
    /// Nothing is left to do for it.
    Done(DeliveryId),
    /// Answers a press; the text is for the user who pressed.
    Acknowledge {
        press: String,
        text: Option<String>,
    },
    /// Sets the working folder of the chat, as this command asks for.
    SetHome(String, DeliveryId),
    /// The files that are being fetched are not wanted any more.
    StopFetch,
    /// Answers what could follow in an option.
    Suggest {
        query: String,
        choices: Vec<String>,
    },
    /// The files of the user's commands are not those of before.
    ReadMenu,
}

/// What a chat was doing when the program ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecovery {
    /// The messages whose turns had begun and that were not known to be answered, oldest first.
    pub begun: Vec<BegunMessage>,
    /// The message of a question that was open.
    pub question: Option<MessageId>,
}

/// A message whose turn began before the program ended.
#[derive(Clone, Debug, PartialEq)]
pub struct BegunMessage {
    pub delivery: DeliveryId,
    pub turn: BegunTurn,
    pub by: UserId,
}

/// Fixed facts of a conversation.
#[derive(Clone, Debug)]
pub struct ChatOptions {
    pub platform: ChatPlatform,
    pub address: ChatAddress,
    pub lang: Lang,
    pub limits: PlatformLimits,
    /// The settings that open commands to chats.
    pub open: Vec<&'static str>,
    /// The commands that come first in a menu.
    pub menu_first: Vec<String>,
    /// The commands of users who are not admins; empty: all that change no settings.
    pub user_commands: Vec<String>,
    /// Messages that may wait for their turn.
    pub most_queued: usize,
    /// When the conversation was taken up here.
    pub started: SystemTime,
}

/// Whether the files of a message are being fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchState {
    Idle,
    Fetching,
}

#[derive(Debug)]
enum ChatState {
    Idle,
    Working,
    Asking(Box<OpenChatQuestion>),
}

#[derive(Debug)]
struct OpenChatQuestion {
    question: ChatQuestion,
    post: PostKey,
    /// The posts that show what its own message has no room for.
    shown_by: Vec<PostKey>,
    /// That is a file.
    has_file: bool,
    /// How it was answered, and by whom.
    answered: Option<(LocalizedText, String)>,
}

/// A message whose answer is complete and not shown whole yet.
#[derive(Debug)]
struct EndingReply {
    /// Once this mark is reached, all of it is shown.
    mark: u64,
    delivery: DeliveryId,
}

/// A message that the session has and has not begun.
#[derive(Debug)]
struct Submitted {
    id: SubmitId,
    delivery: DeliveryId,
    text: String,
    by: UserId,
}

/// A command, with who sent it: it has that user's rights whenever it is run. Its delivery is done
/// once it was run, or once the message that it became is answered.
#[derive(Clone, Debug)]
struct CommandRequest {
    speaker: Speaker,
    delivery: DeliveryId,
    line: String,
    /// It has waited for the end of a turn: messages that wait do not keep it back.
    is_due: bool,
}

#[derive(Debug)]
pub struct ChatConversation {
    options: ChatOptions,
    pub timeline: Timeline,
    info: SessionInfo,
    models: Vec<String>,
    extensions: Extensions,
    /// The commands of the menu that the service shows.
    menu_rows: MenuRows,
    suggesting: Suggesting,
    state: ChatState,
    submitted: VecDeque<Submitted>,
    /// The message that the running turn answers.
    running: Option<DeliveryId>,
    /// Who the running turn answers.
    asker: Option<UserId>,
    /// Steps that the user asked for show their output.
    origin: TurnOrigin,
    reply: Option<LiveReply>,
    progress: ProgressPost,
    /// Words for the running turn that it has not read.
    steers: VecDeque<Submitted>,
    /// The commands that begin a turn without a message, and who sent them.
    starters: Vec<(SubmitId, UserId)>,
    submit_ids: SubmitIds,
    /// Commands that wait for the end of the turn.
    deferred: VecDeque<CommandRequest>,
    waiting: WaitingInputs,
    open_commands: OpenCommands,
    /// The files of a message are being fetched.
    pub fetching: FetchState,
    /// The chat knows that another process has the conversation.
    said_read_only: bool,
    /// An admin has spoken here: what only admins decide is offered.
    has_admin: bool,
    /// Deliveries that end once everything before a mark is shown.
    ending: VecDeque<EndingReply>,
    marks: u64,
    recovery: Vec<BegunMessage>,
    /// They are shown when they come.
    asked_models: bool,
    /// The files that users asked for, and their names.
    file_requests: Vec<(SubmitId, String)>,
    /// The name of the file whose turn runs.
    requested_file: Option<String>,
    /// The post that says that another one could not be sent.
    unsent_note: Option<PostKey>,
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
        ChatConversation {
            timeline,
            info,
            models: Vec::new(),
            extensions: Extensions::default(),
            menu_rows: MenuRows::default(),
            suggesting: Suggesting::default(),
            state: ChatState::Idle,
            submitted: VecDeque::new(),
            running: None,
            asker: None,
            origin: TurnOrigin::Typed,
            reply: None,
            progress: ProgressPost::default(),
            steers: VecDeque::new(),
            starters: Vec::new(),
            submit_ids: SubmitIds::starting_at(options.started),
            deferred: VecDeque::new(),
            waiting: WaitingInputs::default(),
            open_commands: OpenCommands::default(),
            fetching: FetchState::Idle,
            said_read_only: false,
            has_admin: false,
            ending: VecDeque::new(),
            marks: 0,
            recovery: recovery.begun,
            asked_models: false,
            file_requests: Vec::new(),
            requested_file: None,
            unsent_note: None,
            options,
        }
    }

    /// The service shows the menu of these commands from now on.
    pub fn set_menu(&mut self, rows: MenuRows) {
        self.menu_rows = rows;
    }

    pub fn is_idle(&self) -> bool {
        !self.is_busy()
            && self.recovery.is_empty()
            && self.deferred.is_empty()
            && self.waiting.is_empty()
    }

    /// A turn runs, or something will begin one.
    fn is_busy(&self) -> bool {
        self.has_turn() || self.fetching == FetchState::Fetching
    }

    fn has_turn(&self) -> bool {
        !matches!(self.state, ChatState::Idle) || !self.submitted.is_empty()
    }

    /// Another process has the conversation; it may have ended since.
    pub fn is_read_only(&self) -> bool {
        self.info.read_only
    }

    /// A session that ends takes its jobs with it.
    pub fn has_running_jobs(&self) -> bool {
        self.info.jobs.iter().any(JobInfo::is_running)
    }

    /// Whether the user should see that an answer is being written.
    pub fn is_typing(&self) -> bool {
        matches!(self.state, ChatState::Working)
    }

    pub fn lang(&self) -> Lang {
        self.options.lang
    }

    pub fn session_id(&self) -> &str {
        &self.info.session
    }

    // What users do

    /// A message; `mentions` are files that came with it.
    pub fn on_text(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
        mentions: Vec<Mention>,
    ) -> Vec<ChatEffect> {
        if !self.waiting.is_empty() && !matches!(self.state, ChatState::Asking(_)) {
            let said = WaitingWords::Text(text.to_owned(), mentions);
            self.waiting.push(speaker, delivery, said);
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
        self.hear(speaker);
        if mentions.is_empty() && text.trim().is_empty() {
            // A sticker, a place, or only the name of the bot.
            self.say(w::CAN_READ);
            return vec![ChatEffect::Done(delivery)];
        }
        if mentions.is_empty()
            && let Some(effects) = self.typed_answer(speaker, &delivery, text)
        {
            return effects;
        }
        let Some((op, shown)) = messages::submit_op(text, mentions) else {
            return vec![ChatEffect::Done(delivery)];
        };
        let id = self.submit_ids.next_id();
        if self.accept(id, &speaker.id, &delivery, shown) {
            let asks = self.ask_again_for(speaker.is_admin);
            let submission = Submission { id: Some(id), op };
            asks.into_iter().chain([ChatEffect::Send(submission)]).collect()
        } else {
            vec![ChatEffect::Done(delivery)]
        }
    }

    fn hear(&mut self, speaker: &Speaker) {
        self.has_admin |= speaker.is_admin;
        self.said_read_only = false;
    }

    fn set_lang(&mut self, lang: Lang) {
        (self.options.lang, self.timeline.lang) = (lang, lang);
    }

    /// A message of a group that was not meant for the bot: it counts if it answers the open
    /// question, as the question asks for.
    pub fn on_overheard(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
    ) -> Vec<ChatEffect> {
        // Others talk in the group as well: free words are the answer of the one who was asked.
        let may_count = match &self.state {
            ChatState::Asking(open) => {
                open.question.is_asker(&speaker.id) || !open.question.is_free_answer(text)
            }
            ChatState::Idle | ChatState::Working => false,
        };
        let answered = may_count.then(|| self.typed_answer(speaker, &delivery, text)).flatten();
        answered.unwrap_or_else(|| vec![ChatEffect::Done(delivery)])
    }

    /// The message as an answer to the open question, if it is one.
    pub fn typed_answer(
        &mut self,
        speaker: &Speaker,
        delivery: &DeliveryId,
        text: &str,
    ) -> Option<Vec<ChatEffect>> {
        let ChatState::Asking(open) = &self.state else { return None };
        if text.trim().is_empty()
            || open.answered.is_some()
            || !open.question.may_answer(&speaker.id, speaker.is_admin)
        {
            return None;
        }
        // A question that was not shown yet cannot be what this answers.
        if !self.timeline.is_begun(open.post) {
            return None;
        }
        let answer = open.question.typed(text, speaker.is_admin);
        if answer == ChatAnswer::NotAnAnswer {
            return None;
        }
        let mut effects = vec![ChatEffect::Done(delivery.clone())];
        let answered = Some(delivery.clone());
        effects.extend(self.answering(answered, |chat| chat.apply_answer(answer, speaker)));
        Some(effects)
    }

    fn apply_answer(&mut self, answer: ChatAnswer, speaker: &Speaker) -> Vec<ChatEffect> {
        let ChatState::Asking(open) = &mut self.state else { return Vec::new() };
        match answer {
            ChatAnswer::Decided(decision) => {
                let outcome = open.question.outcome(&decision);
                open.answered = Some((outcome, speaker.name.clone()));
                vec![ChatEffect::Send(
                    Op::Question(QuestionOp::Decide { ask: open.question.id(), decision }).into(),
                )]
            }
            ChatAnswer::AdminOnly => {
                log_refusal(speaker, "only an admin may decide that");
                self.say(w::ADMIN_ONLY);
                Vec::new()
            }
            ChatAnswer::Unread => {
                self.say(w::QUESTION_UNREAD);
                Vec::new()
            }
            ChatAnswer::WordNeeded => {
                let word = format!("{} {}", avocet_present::YES, open.question.code());
                self.say(w::WORD_NEEDED.with("word", word));
                Vec::new()
            }
            ChatAnswer::NotAnAnswer => Vec::new(),
        }
    }

    /// A button was pressed. Whatever it is, the service gets an answer.
    pub fn on_press(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        data: &str,
        press: String,
    ) -> Vec<ChatEffect> {
        let lang = self.options.lang;
        let (text, effects) = self.press(speaker, data);
        let text = text.map(|text| text.text(lang));
        [ChatEffect::Done(delivery), ChatEffect::Acknowledge { press, text }]
            .into_iter()
            .chain(effects)
            .collect()
    }

    fn press(&mut self, speaker: &Speaker, data: &str) -> (Option<LocalizedText>, Vec<ChatEffect>) {
        let parsed = ButtonData::parse(data);
        let (ChatState::Asking(open), Some(data)) = (&self.state, parsed) else {
            return (Some(w::TOO_LATE.into()), Vec::new());
        };
        if open.answered.is_some() || data.nonce != open.question.nonce() {
            return (Some(w::TOO_LATE.into()), Vec::new());
        }
        if !open.question.may_answer(&speaker.id, speaker.is_admin) {
            log_refusal(speaker, "the question of another user");
            return (Some(w::NOT_YOURS.into()), Vec::new());
        }
        match open.question.press(data.choice, speaker.is_admin) {
            ChatAnswer::AdminOnly => {
                log_refusal(speaker, "only an admin may decide that");
                (Some(w::ADMIN_ONLY.into()), Vec::new())
            }
            ChatAnswer::Unread => (Some(w::QUESTION_UNREAD.into()), Vec::new()),
            ChatAnswer::NotAnAnswer => (Some(w::TOO_LATE.into()), Vec::new()),
            answer => (None, self.apply_answer(answer, speaker)),
        }
    }

    /// The service refused a post for good. A question that is not shown cannot be answered.
    pub fn on_given_up(&mut self, post: PostKey, why: String) -> Vec<ChatEffect> {
        // A sentence that is refused as well says nothing more, and no other one is added to it.
        if self.unsent_note == Some(post) {
            self.unsent_note = None;
            return Vec::new();
        }
        if self.unsent_note.is_none_or(|note| self.timeline.message_of(note).is_some()) {
            self.say(w::MESSAGE_NOT_SENT.with("why", cut(&one_line(&why), 200)));
            self.unsent_note = self.timeline.last_key();
        }
        match &self.state {
            ChatState::Asking(open) if open.post == post && open.answered.is_none() => {
                let (ask, decision) = (open.question.id(), open.question.reject(None));
                vec![ChatEffect::Send(Op::Question(QuestionOp::Decide { ask, decision }).into())]
            }
            _ => Vec::new(),
        }
    }

    /// A prompt that was only expanded: a file that the user asked for.
    fn on_rendered(&mut self, text: String, images: Vec<Image>) {
        let Some(name) = self.requested_file.take() else {
            self.post_markdown(&clean(&text, TextSource::Text));
            return;
        };
        let image = images.into_iter().next();
        match image.and_then(|image| Some((STANDARD.decode(&image.data).ok()?, image.mime))) {
            Some((bytes, media_type)) => {
                let bytes = bytes.into();
                let file = OutgoingFile { name, media_type, bytes, caption: String::new() };
                self.timeline.post(PostBody::File(file));
            }
            None => drop(self.post_file(&name, text)),
        }
    }
}

/// Every refusal is in the log: who was refused and what, without the words of the message.
fn log_refusal(speaker: &Speaker, what: &str) {
    tracing::warn!(user = ?speaker.id.0, what, "refused");
}

/// A name that a user chose, for a sentence.
pub fn display_name(name: &str) -> String {
    cut(&one_line(&avocet_core::text::escape(name).text), 40)
}

/// A number that cannot be guessed: the hasher's keys come from the system's source of randomness.
pub fn nonce() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = || RandomState::new().hash_one(fastrand::u64(..));
    format!("{:016x}{:016x}", random(), random()).split_at(24).0.to_owned()
}
