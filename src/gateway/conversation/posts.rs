//! What a chat is sent: texts, pages and files of the program itself, what each post answers, and
//! which deliveries end with what is shown. A service may show where the answer to a command will
//! be, or show it to its sender only.

use std::collections::VecDeque;

use super::super::platform::{DeliveryId, OutgoingFile, PlatformLimits};
use super::super::split;
use super::super::terminal_names::terminal_names;
use super::super::timeline::{PostBody, PostKey, Timeline};
use super::effect::ChatEffect;
use super::inbox::Inbox;
use super::open_commands::OpenCommands;
use avocet_core::i18n::commands::OUT_OF_REACH;
use avocet_core::i18n::{Lang, LocalizedText, chat as w};
use avocet_core::protocol::{Event, Notice, NoticeLevel, TurnOutcome};
use avocet_core::text::{cut, one_line};
use avocet_present::commands::PageRow;
use avocet_present::page;
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// A page of more messages is sent as a file.
const MAX_PAGE_PARTS: usize = 10;

/// A message whose answer is complete and not shown whole yet.
#[derive(Debug)]
struct EndingReply {
    /// Once this mark is reached, all of it is shown.
    mark: u64,
    delivery: DeliveryId,
}

#[derive(Debug)]
pub struct ChatPosts {
    pub timeline: Timeline,
    /// The message that the running turn answers.
    pub running: Option<DeliveryId>,
    pub open_commands: OpenCommands,
    /// Deliveries that end once everything before a mark is shown.
    ending: VecDeque<EndingReply>,
    marks: u64,
    /// The chat knows that another process has the conversation.
    pub said_read_only: bool,
    /// The post that says how many messages wait.
    waiting_key: Option<PostKey>,
    /// The post that says that another one could not be sent.
    unsent_note: Option<PostKey>,
}

/// What new posts answer for a while.
#[derive(Debug)]
pub struct ReplyScope {
    delivery: Option<DeliveryId>,
    before: Option<DeliveryId>,
    newest: Option<PostKey>,
}

impl ChatPosts {
    pub fn new(timeline: Timeline) -> ChatPosts {
        ChatPosts {
            timeline,
            running: None,
            open_commands: OpenCommands::default(),
            ending: VecDeque::new(),
            marks: 0,
            said_read_only: false,
            waiting_key: None,
            unsent_note: None,
        }
    }

    pub fn lang(&self) -> Lang {
        self.timeline.lang
    }

    pub fn limits(&self) -> PlatformLimits {
        *self.timeline.limits()
    }

    /// The new posts answer this delivery until [`ChatPosts::end_answer`].
    pub fn begin_answer(&mut self, delivery: Option<DeliveryId>) -> ReplyScope {
        let newest = self.timeline.last_key();
        let before = std::mem::replace(&mut self.timeline.answering, delivery.clone());
        ReplyScope { delivery, before, newest }
    }

    pub fn end_answer(&mut self, scope: ReplyScope) {
        self.timeline.answering = scope.before;
        if let Some(delivery) = scope.delivery.filter(|_| self.timeline.last_key() != scope.newest)
        {
            self.open_commands.close(&delivery);
        }
    }

    /// Answers a command later than it was run.
    pub fn answer(&mut self, command: DeliveryId, say: impl Into<LocalizedText>) {
        let scope = self.begin_answer(Some(command));
        self.say(say);
        self.end_answer(scope);
    }

    /// What a post about this event answers: the message of the running turn, or the oldest command
    /// that was run and has no answer.
    pub fn answered_by(&self, event: &Event, inbox: &Inbox) -> Option<DeliveryId> {
        let is_of_turn = matches!(
            event,
            Event::ReplyStarted
                | Event::Delta { .. }
                | Event::Replied(_)
                | Event::StepStarted { .. }
                | Event::StepFinished(_)
                | Event::Asked(_)
        ) || is_ended_by_itself(event);
        match &self.running {
            Some(running) if is_of_turn || self.open_commands.is_open(running) => {
                Some(running.clone())
            }
            running => {
                let first = self.open_commands.find(|command| !inbox.holds(command));
                first.or(running.as_ref()).cloned()
            }
        }
    }

    /// A sentence of the program.
    pub fn say(&mut self, say: impl Into<LocalizedText>) {
        let lang = self.lang();
        let text = clean(&say.into().text(lang), CarriageReturnMode::EndsLine);
        let answering = self.timeline.answering.clone();
        if answering.is_none() {
            self.timeline.answering.clone_from(&self.running);
        }
        for part in split::split(&terminal_names(&text, lang), self.timeline.limits()) {
            self.timeline.post(PostBody::Plain(part));
        }
        self.timeline.answering = answering;
    }

    /// Says how many messages wait: in its last post about that, if nothing came after it.
    pub fn say_waiting(&mut self, text: LocalizedText) {
        let command = self.timeline.answering.as_ref();
        let is_command = command.is_some_and(|command| self.open_commands.is_open(command));
        let body = PostBody::Plain(text.text(self.lang()));
        match self.waiting_key.filter(|post| self.timeline.last_key() == Some(*post)) {
            Some(post) if !is_command => self.timeline.update(post, body),
            _ => {
                self.waiting_key.take().into_iter().for_each(|post| self.timeline.settle(post));
                self.waiting_key = Some(self.timeline.open(body));
            }
        }
    }

    /// Says once for each message that another process has the conversation.
    pub fn say_read_only(&mut self) {
        if !std::mem::replace(&mut self.said_read_only, true) {
            self.say(w::BUSY_ELSEWHERE);
        }
    }

    /// Says once until it is shown that a post could not be sent. False: that was such a sentence.
    pub fn say_unsent(&mut self, post: PostKey, why: &str) -> bool {
        // A sentence that is refused as well says nothing more, and no other one is added to it.
        if self.unsent_note == Some(post) {
            self.unsent_note = None;
            return false;
        }
        if self.unsent_note.is_none_or(|note| self.timeline.message_of(note).is_some()) {
            self.say(w::MESSAGE_NOT_SENT.with("why", cut(&one_line(why), 200)));
            self.unsent_note = self.timeline.last_key();
        }
        true
    }

    pub fn markdown(&mut self, text: &str) {
        for part in split::split(text, self.timeline.limits()) {
            self.timeline.post(PostBody::Markdown(part));
        }
    }

    pub fn notice(&mut self, notice: &Notice) {
        let lang = self.lang();
        let mark = match notice.level {
            NoticeLevel::Info => "",
            NoticeLevel::Warning | NoticeLevel::Error => "⚠ ",
        };
        let hint = notice.hint.iter().map(|hint| format!("\n{}", hint.text(lang)));
        let text = format!("{mark}{}{}", notice.say.text(lang), hint.collect::<String>());
        // That it is one of the terminal is what it says.
        let is_said = notice.say.phrase() == OUT_OF_REACH;
        let text = if is_said { text } else { terminal_names(&text, lang) };
        self.markdown(&clean(&text, CarriageReturnMode::EndsLine));
    }

    pub fn page(&mut self, localized_text: &LocalizedText, rows: &[PageRow]) {
        let lang = self.lang();
        let shown = |text: &str| clean(&terminal_names(text, lang), CarriageReturnMode::EndsLine);
        let text = shown(&page::markdown(localized_text, rows, lang));
        let parts = split::split(&text, self.timeline.limits());
        if parts.len() > MAX_PAGE_PARTS {
            self.file("page.txt", shown(&page::plain(localized_text, rows, lang)));
            return;
        }
        for part in parts {
            self.timeline.post(PostBody::Markdown(part));
        }
    }

    /// Sends a text as a file.
    pub fn file(&mut self, name: &str, text: String) -> PostKey {
        self.timeline.post(PostBody::File(text_file(name, text)))
    }

    /// The delivery ends once all that is posted so far is shown.
    pub fn finish(&mut self, delivery: DeliveryId) {
        self.marks += 1;
        self.ending.push_back(EndingReply { mark: self.marks, delivery });
        self.timeline.mark(self.marks);
    }

    /// Deliveries of which everything is shown now.
    pub fn take_finished(&mut self) -> Vec<ChatEffect> {
        let mut done = Vec::new();
        for token in self.timeline.take_reached() {
            while let Some(ending) = self.ending.pop_front_if(|ending| ending.mark <= token) {
                done.push(ChatEffect::Done(ending.delivery));
            }
        }
        done
    }
}

/// A text as a file.
pub fn text_file(name: &str, text: String) -> OutgoingFile {
    OutgoingFile {
        name: name.to_owned(),
        media_type: "text/plain; charset=utf-8".to_owned(),
        bytes: text.into(),
        caption: String::new(),
        is_picture: false,
    }
}

/// Not by a command.
fn is_ended_by_itself(event: &Event) -> bool {
    match event {
        Event::TurnEnded { ending, .. } => {
            !matches!(ending, TurnOutcome::Stopped | TurnOutcome::Cancelled)
        }
        _ => false,
    }
}
