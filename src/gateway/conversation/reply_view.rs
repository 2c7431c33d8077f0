//! What a chat shows of the turn that runs: its reply as it grows, its steps, and the question that
//! waits for an answer.

use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::platform::{DeliveryId, MessageId, OutgoingFile, UserId};
use super::super::progress::ProgressPost;
use super::super::question::{AnswerOutcome, ButtonData, ChatQuestion};
use super::super::reply::LiveReply;
use super::super::timeline::{PostBody, PostKey, TimelineAction};
use super::effect::ChatEffect;
use super::posts::ChatPosts;
use super::question_view::{AnswerResult, QuestionView, ReferredQuestion};
use super::speaker::Speaker;
use avocet_core::i18n::{Phrase, chat as w, common, linear, session as s};
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Image, ModelMessage, Observation, Outcome, PlanItem, PlanState,
    Question, Step, TurnOrigin, TurnOutcome,
};
use avocet_core::text::{cut, one_line, size};
use avocet_present::subagents::SubagentProgress;
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Lines of output of a step that the user asked for.
const MAX_OUTPUT_LINES: usize = 60;

#[derive(Debug)]
pub enum ChatState {
    Idle,
    Working,
    Asking(Box<QuestionView>),
}

#[derive(Debug)]
pub struct ReplyView {
    pub posts: ChatPosts,
    pub state: ChatState,
    /// Who the running turn answers.
    asker: Option<UserId>,
    /// Steps that the user asked for show their output.
    origin: TurnOrigin,
    pub reply: Option<LiveReply>,
    progress: ProgressPost,
    /// The post with the model's plan.
    plan_key: Option<PostKey>,
    agents: SubagentProgress,
    shows_steps: bool,
    /// The sentence about a turn that is stopped.
    pub stop_phrase: Phrase,
    /// What is sent as a file was asked for by a command: it is wanted as it is.
    is_command: bool,
    /// An admin has spoken here: what only admins decide is offered.
    has_admin: bool,
}

impl ReplyView {
    pub fn new(posts: ChatPosts, shows_steps: bool) -> ReplyView {
        ReplyView {
            posts,
            state: ChatState::Idle,
            asker: None,
            origin: TurnOrigin::Typed,
            reply: None,
            progress: ProgressPost::default(),
            plan_key: None,
            agents: SubagentProgress::default(),
            shows_steps,
            stop_phrase: common::STOPPED,
            is_command: false,
            has_admin: false,
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, ChatState::Idle)
    }

    /// Whether the user should see that an answer is being written.
    pub fn is_typing(&self) -> bool {
        matches!(self.state, ChatState::Working)
    }

    pub fn question(&self) -> Option<&QuestionView> {
        match &self.state {
            ChatState::Asking(open) => Some(open),
            ChatState::Idle | ChatState::Working => None,
        }
    }

    /// The message of the open question, once it is sent.
    pub fn question_message(&self) -> Option<&MessageId> {
        self.question()?.message(&self.posts)
    }

    /// A user wrote here.
    pub fn hear(&mut self, speaker: &Speaker) {
        self.has_admin |= speaker.is_admin;
        self.posts.timeline.is_group |= speaker.is_in_group;
        self.posts.said_read_only = false;
    }

    /// The next call; none may be under way. The reply that grows is brought up to date only when its
    /// messages may be changed.
    pub fn next_call(&mut self, now: Instant) -> TimelineAction {
        let timeline = &mut self.posts.timeline;
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.is_behind()) else {
            return timeline.next_call(now);
        };
        match timeline.edits_from(now) {
            None => {
                timeline.answering.clone_from(&self.posts.running);
                reply.show(timeline);
                timeline.answering = None;
            }
            Some(from) => {
                let other = timeline.next_call(now);
                return match other {
                    TimelineAction::Call(_) => other,
                    TimelineAction::Wait(due) => TimelineAction::Wait(due.min(from)),
                    TimelineAction::Idle => TimelineAction::Wait(from),
                };
            }
        }
        timeline.next_call(now)
    }

    // The turn

    pub fn begin(&mut self, origin: TurnOrigin, asker: Option<UserId>, is_command: bool) {
        self.is_command = is_command;
        self.state = ChatState::Working;
        self.origin = origin;
        self.reply = None;
        self.progress = ProgressPost::default();
        self.asker = asker;
    }

    pub fn on_delta(&mut self, text: &str) {
        let mut reply = self.reply.take().unwrap_or_default();
        reply.push(&clean(text, CarriageReturnMode::EndsLine), &mut self.posts.timeline);
        self.reply = Some(reply);
    }

    pub fn on_reply(&mut self, message: &ModelMessage) {
        let lang = self.posts.lang();
        let mut text = clean(&message.message, CarriageReturnMode::EndsLine);
        if message.cut.is_some() {
            text += &format!("\n\n{}", linear::CUT.text(lang));
        }
        let reply = self.reply.take().unwrap_or_default();
        reply.finish(&text, lang, &mut self.posts.timeline);
        self.progress.close(&mut self.posts.timeline);
    }

    /// The plan of the model is one message, which changes with it.
    pub fn on_plan(&mut self, items: &[PlanItem]) {
        let line = |item: &PlanItem| {
            let mark = match item.state {
                PlanState::Pending => "○",
                PlanState::Doing => "▸",
                PlanState::Done => "✓",
            };
            format!("{mark} {}", one_line(&clean(&item.text, CarriageReturnMode::EndsLine)))
        };
        let lines: Vec<String> = items.iter().map(line).collect();
        let most = self.posts.limits().text;
        let body = PostBody::Plain(cut(&lines.join("\n"), most / 2));
        match self.plan_key {
            Some(post) => self.posts.timeline.update(post, body),
            None => self.plan_key = Some(self.posts.timeline.open(body)),
        }
    }

    pub fn on_step_started(&mut self, step: &Step) {
        if self.shows_steps {
            self.progress.start(step, self.posts.lang(), &mut self.posts.timeline);
        }
    }

    /// The row of its task says what a subagent does; one in the background ends with its result.
    pub fn on_agent(&mut self, event: &Event) {
        let Some(line) = self.agents.apply(event) else { return };
        let lang = self.posts.lang();
        let has_ended = !line.is_running();
        if self.shows_steps && !has_ended {
            self.progress.update(&line.info.agent, &line.text(), lang, &mut self.posts.timeline);
        }
        if has_ended && line.info.background {
            let ended = line.ended();
            self.posts.say(ended);
        }
    }

    pub fn on_observation(&mut self, observation: &Observation) {
        let lang = self.posts.lang();
        match observation.outcome {
            Outcome::Refused => self.progress.refuse(observation, lang, &mut self.posts.timeline),
            _ if self.shows_steps => {
                self.progress.end(observation, lang, &mut self.posts.timeline);
            }
            _ => {}
        }
        // The user asked for these steps: their output is the answer.
        if matches!(self.origin, TurnOrigin::Shell | TurnOrigin::Command) {
            let text = [observation.stdout.trim_end(), observation.stderr.trim_end()].join("\n");
            let text = clean(text.trim(), CarriageReturnMode::OverwritesLine);
            if text.lines().count() > MAX_OUTPUT_LINES {
                self.posts.file("output.txt", text);
            } else if !text.is_empty() {
                self.posts.markdown(&format!("```\n{}\n```", text.replace("```", "'''")));
            }
        }
    }

    /// A file by its path, or a prompt that was only expanded.
    pub fn on_rendered(&mut self, text: &str, images: Vec<Image>) {
        let name = clean(text.rsplit('/').next().unwrap_or_default(), CarriageReturnMode::EndsLine);
        let image = images.into_iter().next();
        match image.and_then(|image| Some((STANDARD.decode(&image.data).ok()?, image.mime))) {
            Some((bytes, _)) if bytes.len() as u64 > self.posts.limits().upload => {
                let say = w::FILE_TOO_BIG.with("name", name).with("size", size(bytes.len() as u64));
                self.posts.say(say.with("most", size(self.posts.limits().upload)));
            }
            Some((bytes, media_type)) => {
                let bytes = bytes.into();
                let file = OutgoingFile {
                    name,
                    media_type,
                    bytes,
                    caption: String::new(),
                    is_picture: !self.is_command,
                };
                self.posts.timeline.post(PostBody::File(file));
            }
            None => self.posts.markdown(&clean(text, CarriageReturnMode::EndsLine)),
        }
    }

    pub fn end(&mut self, outcome: &TurnOutcome) {
        if let Some(reply) = self.reply.take() {
            reply.settle(&mut self.posts.timeline);
        }
        if let Some(open) = self.question() {
            self.close_question(open.question.id());
        }
        self.progress.close(&mut self.posts.timeline);
        self.plan_key.take().into_iter().for_each(|post| self.posts.timeline.settle(post));
        self.state = ChatState::Idle;
        match outcome {
            TurnOutcome::Done | TurnOutcome::Error => {}
            TurnOutcome::Cancelled | TurnOutcome::Stopped => self.posts.say(self.stop_phrase),
            TurnOutcome::Interrupted => self.posts.say(s::INTERRUPTED),
            TurnOutcome::Limit { why }
            | TurnOutcome::Failed { why }
            | TurnOutcome::Unsent { why } => self.posts.say(why.clone()),
        }
        if let Some(delivery) = self.posts.running.take() {
            self.posts.finish(delivery);
        }
    }

    /// The last reply of a turn that a restart interrupted is sent again whole.
    pub fn answer_again(&mut self, delivery: DeliveryId, reply: &str, is_done: bool) {
        let text = clean(reply, CarriageReturnMode::EndsLine);
        if !text.trim().is_empty() {
            self.posts.say(w::AFTER_RESTART);
            let lang = self.posts.lang();
            LiveReply::default().finish(&text, lang, &mut self.posts.timeline);
        }
        if !is_done {
            self.posts.say(w::INTERRUPTED);
        }
        self.posts.finish(delivery);
    }

    // The question

    /// Shows a question, or answers it at once.
    pub fn ask(&mut self, ask: Ask) -> Option<ChatEffect> {
        if matches!(ask.question, Question::Trust { .. }) {
            // Trust is given at the terminal.
            return Some(ChatEffect::decide(ask.id, Decision::Dismiss));
        }
        if let Question::Choice { text, choices, fallback: Some(index), .. } = &ask.question {
            // The ones in the chat may be away for hours, and the turn would wait for them.
            let choice = choices.get(*index).map_or("", String::as_str);
            self.posts.say(w::FALLBACK.with("text", text.as_str()).with("choice", choice));
            return Some(ChatEffect::decide(ask.id, Decision::Choose { index: *index }));
        }
        self.progress.close(&mut self.posts.timeline);
        let mut question = ChatQuestion::new(ask, nonce(), self.asker.clone());
        let customs = self.posts.limits().customs;
        question.hearing_note = customs.hearing_note.filter(|_| self.posts.timeline.is_group);
        let mut open = QuestionView::open(question, self.has_admin, &mut self.posts);
        open.is_outside_turn = self.is_idle();
        self.state = ChatState::Asking(Box::new(open));
        None
    }

    /// The open question is not where the chat is now.
    pub fn show_question_again(&mut self) {
        if let ChatState::Asking(open) = &self.state {
            open.show_again(&mut self.posts);
        }
    }

    pub fn close_question(&mut self, ask: AskId) {
        if let ChatState::Asking(open) = &self.state
            && open.question.id() == ask
        {
            open.close(&mut self.posts);
            let is_idle = open.is_outside_turn;
            self.state = if is_idle { ChatState::Idle } else { ChatState::Working };
        }
    }

    /// The question for an admin who is not here, if it needs one.
    pub fn question_for_admin(&self) -> Option<ReferredQuestion> {
        let asker = self.asker.as_ref().map_or("?", |asker| asker.0.as_str());
        self.question().filter(|_| !self.has_admin)?.for_admin(asker, &self.posts)
    }

    /// No one answered in time.
    pub fn expire_question(&mut self) -> Option<ChatEffect> {
        let question = &self.question()?.question;
        let rejected = ChatEffect::decide(question.id(), question.reject(None));
        self.posts.say(w::QUESTION_EXPIRED);
        Some(rejected)
    }

    /// A message of a group that was not meant for the bot: it counts if it answers the open
    /// question, as the question asks for.
    pub fn on_overheard(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        text: &str,
    ) -> Vec<ChatEffect> {
        let may_count = self.question().is_some_and(|open| open.may_be_answered_by(speaker, text));
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
        let answer = self.question()?.typed(speaker, text, &self.posts)?;
        let scope = self.posts.begin_answer(Some(delivery.clone()));
        let decided = self.apply_answer(answer, speaker);
        self.posts.end_answer(scope);
        Some([ChatEffect::Done(delivery.clone())].into_iter().chain(decided).collect())
    }

    /// `/approve` and `/deny`.
    pub fn decide(
        &mut self,
        speaker: &Speaker,
        answer: impl FnOnce(&ChatQuestion) -> AnswerOutcome,
    ) -> Option<ChatEffect> {
        let result = match &mut self.state {
            ChatState::Asking(open) => open.command(speaker, answer, &self.posts),
            ChatState::Idle | ChatState::Working => Err(w::NO_QUESTION.into()),
        };
        self.say_refusal(result)
    }

    fn apply_answer(&mut self, answer: AnswerOutcome, speaker: &Speaker) -> Option<ChatEffect> {
        let ChatState::Asking(open) = &mut self.state else { return None };
        let result = open.apply(answer, speaker);
        self.say_refusal(result)
    }

    fn say_refusal(&mut self, result: AnswerResult) -> Option<ChatEffect> {
        result.unwrap_or_else(|why| {
            self.posts.say(why);
            None
        })
    }

    /// A button was pressed. Whatever it is, the service gets an answer.
    pub fn on_press(
        &mut self,
        speaker: &Speaker,
        delivery: DeliveryId,
        data: &str,
        press: String,
    ) -> Vec<ChatEffect> {
        let answer = match (self.question(), ButtonData::parse(data)) {
            (Some(open), Some(data)) => open.press(speaker, data),
            _ => Err(w::TOO_LATE.into()),
        };
        let (text, decided) = match answer {
            Ok(answer) => (None, self.apply_answer(answer, speaker)),
            Err(why) => (Some(why.text(self.posts.lang())), None),
        };
        [ChatEffect::Done(delivery), ChatEffect::Acknowledge { press, text }]
            .into_iter()
            .chain(decided)
            .collect()
    }

    /// The service refused a post for good. True if the open question needed it.
    pub fn on_dropped(&mut self, key: PostKey) -> bool {
        match &mut self.state {
            ChatState::Asking(open) => open.on_dropped(key, self.has_admin, &mut self.posts),
            ChatState::Idle | ChatState::Working => false,
        }
    }

    /// The service refused a post for good, which nothing replaces.
    pub fn on_given_up(&mut self, post: PostKey, why: &str) -> Vec<ChatEffect> {
        let is_told = self.posts.say_unsent(post, why);
        let open = self.question().filter(|_| is_told);
        open.and_then(|open| open.on_given_up(post)).into_iter().collect()
    }
}

/// A number that cannot be guessed: the hasher's keys come from the system's source of randomness.
pub fn nonce() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = || RandomState::new().hash_one(fastrand::u64(..));
    format!("{:016x}{:016x}", random(), random()).split_at(24).0.to_owned()
}
