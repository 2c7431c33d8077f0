//! What a conversation makes of the events of its session.

use super::super::ledger::BegunTurn;
use super::super::platform::{ButtonStyle, DeliveryId};
use super::super::progress::ProgressPost;
use super::super::question::ChatQuestion;
use super::super::reply::LiveReply;
use super::super::timeline::PostBody;
use super::{
    BegunMessage, ChatConversation, ChatEffect, ChatState, OpenChatQuestion, Submitted,
    display_name, nonce,
};
use avocet_core::i18n::{chat as w, common, linear, session as s};
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Extensions, ModelMessage, Notice, NoticeLevel, Observation, Op,
    Outcome, Question, QuestionOp, Submission, SubmitId, Topic, TurnOp, TurnOrigin, TurnOutcome,
};
use avocet_present::changes::changes_page;
use avocet_present::commands;
use avocet_safety::sanitize::{TextSource, clean};

/// Lines of output of a step that the user asked for.
const OUTPUT: usize = 60;

impl ChatConversation {
    pub fn on_event(&mut self, event: Event) -> Vec<ChatEffect> {
        let command = self.answered_by(&event);
        self.answering(command, |chat| chat.take_event(event))
    }

    fn take_event(&mut self, event: Event) -> Vec<ChatEffect> {
        match event {
            Event::TurnStarted { origin, submit, .. } => return self.on_start(origin, submit),
            Event::Dropped { submit } => return self.on_turnless(submit),
            Event::ReplyStarted => self.reply.iter_mut().for_each(LiveReply::restart),
            Event::Delta { text } => self.on_delta(&text),
            Event::Replied(message) => self.on_reply(&message),
            Event::StepStarted { step, .. } if self.shows_steps() => {
                self.progress.start(&step, self.options.lang, &mut self.timeline);
            }
            Event::StepFinished(observation) => self.on_observation(&observation),
            Event::Asked(ask) => return self.on_question(*ask),
            Event::QuestionClosed { ask } => self.on_question_closed(ask),
            Event::TurnEnded { ending, .. } => return self.on_turn_ended(&ending),
            Event::Facts(info) => {
                self.set_lang(info.lang);
                self.info = *info;
                if self.info.read_only {
                    return self.drop_refused();
                }
            }
            Event::Notice(notice) => return self.on_notice(&notice),
            Event::Steered { submit, .. } => return self.on_steered(submit),
            Event::Page(page) => self.post_page(&page.title, &page.rows),
            Event::Changes { session, uncommitted } => {
                let page = changes_page(&self.info.cwd, &session, uncommitted.as_deref());
                self.post_page(&page.title, &page.rows);
            }
            Event::Models { names, offers } => {
                self.models = names;
                if std::mem::take(&mut self.asked_models) {
                    let rows = commands::model_rows(&offers, &self.info.model);
                    self.post_page(&s::MODELS_HERE.into(), &rows);
                }
            }
            Event::Catalogue(extensions) => return self.on_extensions(*extensions),
            Event::HistoryChunk { events, more, .. } => return self.recover(&events, more),
            Event::Cleared => self.say(linear::CLEARED),
            Event::Rendered { text, images } => self.on_rendered(text, images),
            Event::TerminalRequested { ask } => {
                return decide(ask, Decision::Reject { word: None });
            }
            _ => {}
        }
        Vec::new()
    }

    fn on_notice(&mut self, notice: &Notice) -> Vec<ChatEffect> {
        match notice.topic {
            Topic::Resumed => return Vec::new(),
            // In the terminal the way out is another one.
            Topic::ReadOnly => self.say_read_only(),
            Topic::General | Topic::PiecesDeclined | Topic::NotCompressed => {
                self.post_notice(notice)
            }
        }
        match notice.level {
            // A command that should have begun a turn may have failed.
            NoticeLevel::Error => self.run_deferred_when_idle(),
            NoticeLevel::Info | NoticeLevel::Warning => Vec::new(),
        }
    }

    fn shows_steps(&self) -> bool {
        self.options.open.contains(&"display.tool_progress_command")
    }

    fn on_start(&mut self, origin: TurnOrigin, submit: Option<SubmitId>) -> Vec<ChatEffect> {
        self.state = ChatState::Working;
        self.origin = origin;
        self.reply = None;
        self.progress = ProgressPost::default();
        let files = std::mem::take(&mut self.file_requests).into_iter();
        self.requested_file =
            files.into_iter().find(|(id, _)| Some(*id) == submit).map(|(_, name)| name);
        let found = self.submitted.iter().position(|one| Some(one.id) == submit);
        let begun = found.and_then(|at| self.submitted.remove(at));
        let starter = self.take_starter(submit);
        self.asker = begun.as_ref().map(|begun| begun.by.clone()).or(starter);
        let Some(begun) = begun else { return Vec::new() };
        self.running = Some(begun.delivery.clone());
        let Submitted { id, delivery, text, .. } = begun;
        vec![ChatEffect::Begun { delivery, submit: id, text }]
    }

    fn on_delta(&mut self, text: &str) {
        let mut reply = self.reply.take().unwrap_or_default();
        reply.push(&clean(text, TextSource::Text), &mut self.timeline);
        self.reply = Some(reply);
    }

    fn on_reply(&mut self, message: &ModelMessage) {
        let mut text = clean(&message.message, TextSource::Text);
        if message.cut.is_some() {
            text += &format!("\n\n{}", linear::CUT.text(self.options.lang));
        }
        for (at, suggestion) in message.suggestions.iter().enumerate() {
            let line = linear::SUGGESTION.with("n", at + 1).with("text", suggestion.as_str());
            text += &format!("\n\n{}", clean(&line.text(self.options.lang), TextSource::Text));
        }
        self.end_reply(|reply, chat| reply.finish(&text, chat.options.lang, &mut chat.timeline));
        self.progress.close(&mut self.timeline);
    }

    fn on_observation(&mut self, observation: &Observation) {
        match observation.outcome {
            Outcome::Refused => {
                self.progress.refuse(observation, self.options.lang, &mut self.timeline);
            }
            _ if self.shows_steps() => {
                self.progress.end(observation, self.options.lang, &mut self.timeline);
            }
            _ => {}
        }
        // The user asked for these steps: their output is the answer.
        if matches!(self.origin, TurnOrigin::Shell | TurnOrigin::Command) {
            let text = [observation.stdout.trim_end(), observation.stderr.trim_end()].join("\n");
            let text = clean(text.trim(), TextSource::Command);
            if text.lines().count() > OUTPUT {
                self.post_file("output.txt", text);
            } else if !text.is_empty() {
                self.post_markdown(&format!("```\n{}\n```", text.replace("```", "'''")));
            }
        }
    }

    fn on_question(&mut self, ask: Ask) -> Vec<ChatEffect> {
        if matches!(ask.question, Question::Trust { .. }) {
            // Trust is given at the terminal.
            return decide(ask.id, Decision::Dismiss);
        }
        if let Question::Choice { text, choices, fallback: Some(index), .. } = &ask.question {
            // The ones in the chat may be away for hours, and the turn would wait for them.
            let choice = choices.get(*index).map_or("", String::as_str);
            let said = w::FALLBACK.with("text", text.as_str()).with("choice", choice);
            let decision = Decision::Choose { index: *index };
            self.say(said);
            return decide(ask.id, decision);
        }
        let question = ChatQuestion::new(ask, nonce(), self.asker.clone());
        let (lang, limits) = (self.options.lang, self.options.limits);
        let (text, whole) = question.message(lang, &limits);
        let file = whole.map(|whole| self.post_file("question.txt", whole));
        self.progress.close(&mut self.timeline);
        let buttons = question.buttons(lang, &limits, self.has_admin);
        debug_assert!(buttons.iter().any(|button| button.style == ButtonStyle::Refuse));
        let post = self.timeline.open(PostBody::Question { text, buttons });
        let (has_file, shown_by) = (file.is_some(), file.into_iter().collect());
        let open = OpenChatQuestion { question, post, shown_by, has_file, answered: None };
        self.state = ChatState::Asking(Box::new(open));
        Vec::new()
    }

    fn on_question_closed(&mut self, ask: AskId) {
        let ChatState::Asking(open) = &self.state else { return };
        if open.question.id() != ask {
            return;
        }
        let lang = self.options.lang;
        let summary = open.question.summary(lang);
        let text = match &open.answered {
            Some((outcome, name)) => w::CLOSED_BY
                .with("summary", summary)
                .with("outcome", outcome.clone())
                .with("name", display_name(name)),
            None => w::CLOSED.with("summary", summary),
        };
        let post = open.post;
        self.timeline.update(post, PostBody::Plain(text.text(lang)));
        self.timeline.settle(post);
        self.state = ChatState::Working;
    }

    fn on_turn_ended(&mut self, ending: &TurnOutcome) -> Vec<ChatEffect> {
        if self.reply.is_some() {
            self.end_reply(|reply, chat| reply.settle(&mut chat.timeline));
        }
        if let ChatState::Asking(open) = &self.state {
            self.on_question_closed(open.question.id());
        }
        self.progress.close(&mut self.timeline);
        self.state = ChatState::Idle;
        self.requested_file = None;
        match ending {
            TurnOutcome::Done | TurnOutcome::Error => {}
            TurnOutcome::Cancelled | TurnOutcome::Stopped => self.say(common::STOPPED),
            TurnOutcome::Interrupted => self.say(s::INTERRUPTED),
            TurnOutcome::Limit { why }
            | TurnOutcome::Failed { why }
            | TurnOutcome::Unsent { why } => self.say(why.clone()),
        }
        if let Some(delivery) = self.running.take() {
            self.finish(delivery);
        }
        let failed = matches!(ending, TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. });
        self.keep_unread_steers();
        let mut effects = self.run_deferred();
        // Each message of a chat is answered, also after a failure.
        if failed && !self.submitted.is_empty() {
            effects.push(ChatEffect::Send(Op::Turn(TurnOp::RunQueue).into()));
        }
        effects
    }

    fn on_extensions(&mut self, extensions: Extensions) -> Vec<ChatEffect> {
        let is_new = self.extensions != extensions;
        self.extensions = extensions;
        let mut effects: Vec<ChatEffect> =
            is_new.then_some(ChatEffect::ReadMenu).into_iter().collect();
        effects.extend(self.answer_suggestions());
        effects.extend(self.run_waiting());
        // The session could not be resumed, or had nothing of it.
        for begun in std::mem::take(&mut self.recovery) {
            self.say(w::INTERRUPTED);
            self.finish(begun.delivery);
        }
        effects
    }

    /// Answers what a restart interrupted: the last reply of its turn is sent again whole. No message
    /// whose turn is in the session is submitted again.
    fn recover(&mut self, events: &[Event], has_earlier: bool) -> Vec<ChatEffect> {
        let recovered = std::mem::take(&mut self.recovery);
        let turns = find_turns(events, &recovered);
        let mut effects = Vec::new();
        for (begun, turn) in recovered.into_iter().zip(turns) {
            match turn {
                Some(turn) => self.answer_again(begun.delivery, turn),
                // Its turn is further back, or an older version noted it.
                None if has_earlier || begun.turn.submit.is_none() => self.finish(begun.delivery),
                None => {
                    // It had not reached the session.
                    let BegunMessage { delivery, turn: BegunTurn { text, .. }, by } = begun;
                    let id = self.submit_ids.next_id();
                    self.submitted.push_back(Submitted { id, delivery, text: text.clone(), by });
                    // Who is an admin is not known of it any more.
                    effects.extend(self.ask_again_for(false));
                    let op = Op::Turn(TurnOp::Submit { text });
                    effects.push(ChatEffect::Send(Submission { id: Some(id), op }));
                }
            }
        }
        effects
    }

    fn answer_again(&mut self, delivery: DeliveryId, turn: &[Event]) {
        let reply = turn.iter().rev().find_map(|event| match event {
            Event::Replied(message) => Some(message.message.as_str()),
            _ => None,
        });
        let is_done = turn.iter().any(|event| {
            matches!(event, Event::TurnEnded { ending: TurnOutcome::Done | TurnOutcome::Error, .. })
        });
        let text = clean(reply.unwrap_or_default(), TextSource::Text);
        if !text.trim().is_empty() {
            self.say(w::AFTER_RESTART);
            LiveReply::default().finish(&text, self.options.lang, &mut self.timeline);
        }
        if !is_done {
            self.say(w::INTERRUPTED);
        }
        self.finish(delivery);
    }
}

fn decide(ask: AskId, decision: Decision) -> Vec<ChatEffect> {
    vec![ChatEffect::Send(Op::Question(QuestionOp::Decide { ask, decision }).into())]
}

/// The turn of each message among the events of a session.
fn find_turns<'a>(events: &'a [Event], messages: &[BegunMessage]) -> Vec<Option<&'a [Event]>> {
    let starts = |event: &Event| matches!(event, Event::TurnStarted { .. });
    let find = |message: &BegunMessage| {
        let own = message.turn.submit?;
        let is_its = |event: &Event| matches!(event, Event::TurnStarted { submit, .. } if *submit == Some(own));
        let start = events.iter().rposition(is_its)?;
        let next = events.iter().skip(start + 1).position(starts);
        events.get(start..next.map_or(events.len(), |after| start + 1 + after))
    };
    messages.iter().map(find).collect()
}
