//! What a conversation makes of the events of its session.

use super::super::reply::LiveReply;
use super::effect::ChatEffect;
use super::inbox::PendingMessage;
use super::offers::{as_labels, offer_saved, suggested_messages};
use super::recovery::InterruptedMessage;
use super::{BegunMessage, ChatConversation};
use avocet_core::i18n::{chat as w, linear, session as s};
use avocet_core::protocol::{
    Decision, Event, Extensions, Notice, NoticeLevel, Op, SubmitId, Topic, TurnOp, TurnOrigin,
    TurnOutcome,
};
use avocet_present::changes::changes_page;
use avocet_present::commands;

impl ChatConversation {
    pub fn on_event(&mut self, event: Event) -> Vec<ChatEffect> {
        let command = self.view.posts.answered_by(&event, &self.inbox);
        self.answering(command, |chat| chat.take_event(event))
    }

    fn take_event(&mut self, event: Event) -> Vec<ChatEffect> {
        match event {
            Event::TurnStarted { origin, submit, .. } => return self.on_start(origin, submit),
            Event::Dropped { submit } => return self.on_turnless(submit),
            Event::ReplyStarted => self.view.reply.iter_mut().for_each(LiveReply::restart),
            Event::Delta { text } => self.view.on_delta(&text),
            Event::Replied(message) => {
                self.view.on_reply(&message);
                let lines = as_labels(suggested_messages(&message.suggestions));
                self.offer(w::SUGGESTIONS, lines);
            }
            Event::Plan { items } => self.view.on_plan(&items),
            Event::StepStarted { step, .. } => self.view.on_step_started(&step),
            Event::StepFinished(observation) => self.view.on_observation(&observation),
            Event::SubagentStarted(_) | Event::Subagent { .. } => self.view.on_agent(&event),
            Event::Asked(ask) => return self.view.ask(*ask).into_iter().collect(),
            Event::QuestionClosed { ask } => self.view.close_question(ask),
            Event::TurnEnded { ending, .. } => return self.on_turn_ended(&ending),
            Event::Facts(info) => {
                self.set_lang(info.lang);
                self.saved.note(&info.session);
                self.context.info = *info;
                if self.context.info.read_only {
                    return self.drop_refused();
                }
            }
            Event::Notice(notice) => return self.on_notice(&notice),
            Event::Steered { submit, .. } => return self.inbox.on_steered(submit),
            Event::Page(page) | Event::SideAnswer(page) => {
                self.view.posts.page(&page.title, &page.rows);
            }
            Event::Changes { session, uncommitted } => {
                let page = changes_page(&self.context.info.cwd, &session, uncommitted.as_deref());
                self.view.posts.page(&page.title, &page.rows);
            }
            Event::Models { names, offers } => {
                self.context.models = names;
                if std::mem::take(&mut self.asked_models) {
                    let rows = commands::model_rows(&offers, &self.context.info.model);
                    self.view.posts.page(&s::MODELS_HERE.into(), &rows);
                    self.offer_values("/model");
                }
            }
            Event::Sessions { rows, .. } => offer_saved(self, &rows),
            Event::Catalogue(extensions) => return self.on_extensions(*extensions),
            Event::HistoryChunk { events, more, .. } => return self.recover(&events, more),
            Event::Cleared => self.view.posts.say(linear::CLEARED),
            Event::Rendered { text, images } => self.view.on_rendered(&text, images),
            Event::TerminalRequested { ask } => {
                return vec![ChatEffect::decide(ask, Decision::Reject { word: None })];
            }
            _ => {}
        }
        Vec::new()
    }

    fn on_notice(&mut self, notice: &Notice) -> Vec<ChatEffect> {
        let is_about_queue =
            [s::QUEUE_EMPTY, s::QUEUE_FOLLOWS].into_iter().any(|say| notice.say == say.into());
        if is_about_queue && std::mem::take(&mut self.ran_queue) {
            return Vec::new();
        }
        match notice.topic {
            Topic::Resumed if !std::mem::take(&mut self.saved.resuming) => return Vec::new(),
            // In the terminal the way out is another one.
            Topic::ReadOnly => self.view.posts.say_read_only(),
            Topic::Resumed | Topic::General | Topic::PiecesDeclined | Topic::NotCompressed => {
                self.view.posts.notice(notice)
            }
        }
        match notice.level {
            // A command that should have begun a turn may have failed.
            NoticeLevel::Error => self.run_deferred_when_idle(),
            NoticeLevel::Info | NoticeLevel::Warning => Vec::new(),
        }
    }

    fn on_start(&mut self, origin: TurnOrigin, submit: Option<SubmitId>) -> Vec<ChatEffect> {
        self.ran_queue = false;
        let begun = self.inbox.begin(submit);
        let asker = begun.message.as_ref().map(|message| message.by.clone()).or(begun.starter);
        self.view.begin(origin, asker, begun.message.is_none());
        let Some(PendingMessage { id, delivery, text, .. }) = begun.message else {
            return Vec::new();
        };
        self.view.posts.running = Some(delivery.clone());
        vec![ChatEffect::Begun { delivery, submit: id, text }]
    }

    fn on_turn_ended(&mut self, outcome: &TurnOutcome) -> Vec<ChatEffect> {
        self.view.end(outcome);
        self.inbox.keep_unread_steers();
        let mut effects = self.run_deferred();
        // Each message of a chat is answered, also after a failure.
        let failed = matches!(outcome, TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. });
        if failed && !self.inbox.submitted.is_empty() {
            self.ran_queue = true;
            effects.push(ChatEffect::Send(Op::Turn(TurnOp::RunQueue).into()));
        }
        effects
    }

    /// No turn comes of it: a notice before gave the reason.
    fn on_turnless(&mut self, submit: SubmitId) -> Vec<ChatEffect> {
        let done = self.inbox.drop_turnless(submit);
        done.into_iter().chain(self.run_deferred_when_idle()).collect()
    }

    /// The session takes no messages: those that it was sent are refused with one sentence.
    fn drop_refused(&mut self) -> Vec<ChatEffect> {
        let mut effects = self.inbox.drop_messages();
        if !effects.is_empty() {
            self.view.posts.say_read_only();
            effects.extend(self.run_deferred_when_idle());
        }
        effects
    }

    fn run_deferred_when_idle(&mut self) -> Vec<ChatEffect> {
        if self.has_turn() { Vec::new() } else { self.run_deferred() }
    }

    fn on_extensions(&mut self, extensions: Extensions) -> Vec<ChatEffect> {
        let is_new = self.context.extensions != extensions;
        self.context.extensions = extensions;
        let mut effects: Vec<ChatEffect> =
            is_new.then_some(ChatEffect::ReadMenu).into_iter().collect();
        let busy = self.is_busy();
        let queries = self.suggesting.take().into_iter();
        effects.extend(queries.map(|query| self.context.suggestion(query, busy)));
        effects.extend(self.run_waiting());
        // The session could not be resumed, or had nothing of it.
        for begun in std::mem::take(&mut self.recovery.begun) {
            self.view.posts.say(w::INTERRUPTED);
            self.view.posts.finish(begun.delivery);
        }
        effects
    }

    /// Answers what a restart interrupted: the last reply of its turn is sent again whole. No message
    /// whose turn is in the session is submitted again.
    fn recover(&mut self, events: &[Event], has_earlier: bool) -> Vec<ChatEffect> {
        let mut effects = Vec::new();
        for recovered in self.recovery.find_in(events, has_earlier) {
            match recovered {
                InterruptedMessage::Answered { delivery, reply, is_done } => {
                    self.view.answer_again(delivery, &reply, is_done);
                }
                InterruptedMessage::TooOld(delivery) => self.view.posts.finish(delivery),
                InterruptedMessage::Unsent(BegunMessage { delivery, turn, by }) => {
                    let id = self.inbox.next_id();
                    let text = turn.text.clone();
                    self.inbox.submitted.push_back(PendingMessage { id, delivery, text, by });
                    // Who is an admin is not known of it any more.
                    let op = Op::Turn(TurnOp::Submit { text: turn.text });
                    effects.extend(self.submit(id, op, false));
                }
            }
        }
        effects
    }
}
