//! The loop of a session: dispatches each op, each note of the turn, and the turn's end.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, FusedFuture};
use tokio::sync::mpsc;

use super::event_sink::{self, Outbox};
use super::extension_ops::schedule_first_scan;
use super::persistence::{Persistence, SessionStore};
use super::saved_sessions::unsaved_warning;
use super::session_effects::SessionEffect;
use super::state::{self, AfterTurn, RunningTurn, Session};
use super::trust::{AfterTrust, TrustAnswer};
use super::turn_messages::{FinishedTurn, SideMessage, TurnMessage};
use super::turn_resources::TurnResources;
use super::{
    FoundModelServer, Handle, Rescue, SessionConfig, export, goal, hook_ops, pages, side_question,
    subagent_ops,
};
use crate::context::turn_compaction::longest_words;
use crate::context::window::ContextUsage;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{
    AskId, Decision, Event, ExportFormat, Notice, NoticeLevel, Op, Report, SessionInfo, SessionOp,
    Submission, TurnOutcome, Usage,
};
use avocet_safety::redact::Redactor;
use avocet_tools::git_branch;

/// The maximum number of ops that wait for a session.
const ROOM: usize = 256;

/// Starts a session on the current runtime.
pub fn start(mut config: SessionConfig) -> Handle {
    let (ops, op_receiver) = mpsc::channel(ROOM);
    let (events, event_receiver) = mpsc::channel(event_sink::CAPACITY);
    let keep = std::mem::replace(&mut config.persistence, Persistence::in_memory());
    let redactor = Arc::clone(&config.security.redactor);
    let saved = SessionStore::start(keep, &mut config.info, redactor);
    let outbox = Outbox::new(events, Some(saved.recorder()));
    let task = tokio::spawn(run(config, saved, op_receiver, outbox));
    Handle { ops, events: event_receiver, task }
}

/// Runs until `SessionOp::Shutdown`, or until no frontend is connected.
async fn run(
    mut config: SessionConfig,
    store: SessionStore,
    mut ops: mpsc::Receiver<Submission>,
    outbox: Outbox,
) -> Option<Rescue> {
    let (note_sender, mut notes) = mpsc::unbounded_channel();
    let greeting = std::mem::take(&mut config.opening_notices);
    let mut discover = find_servers(config.model_access.discover.take()).boxed().fuse();
    let mut shelter = config.tools.sandbox_status().boxed().fuse();
    let mut session = Session::new(config, store, outbox, note_sender);
    session.open(greeting).await;
    // What is known of the model is looked up beside the start, not by the first message.
    let model = Arc::clone(&session.resources.model.connected.model);
    let mut levels = tokio::task::spawn_blocking(move || model.effort_levels()).fuse();
    session.resources.model.learn();
    loop {
        tokio::select! {
            submission = ops.recv() => match submission {
                None | Some(Submission { op: Op::Session(SessionOp::Shutdown), .. }) => break,
                Some(submission) => {
                    session.sync_with_turn(&mut notes).await;
                    // Most sessions only wait: what they do meanwhile is not kept for each.
                    if Box::pin(session.handle(submission)).await == AfterTrust::Quit { break }
                }
            },
            Some(note) = notes.recv() => session.handle_turn_message(note).await,
            came = session.store.next() => session.handle_store_event(came).await,
            news = session.resources.servers.next() => session.handle_server_news(news).await,
            ended = turn_result(&mut session.running), if session.running.is_some() => {
                session.drain_messages(&mut notes).await;
                Box::pin(session.finish_turn(ended)).await;
            }
            found = &mut discover, if !discover.is_terminated() => {
                let effects = session.resources.model.set_found_servers(found);
                session.follow(effects).await;
            }
            Ok(levels) = &mut levels, if !levels.is_terminated() => {
                let effects = session.resources.model.set_effort_levels(levels, &session.info);
                session.follow(effects).await;
            }
            Some(shelter) = &mut shelter, if !shelter.is_terminated() => {
                let effects = session.security.set_sandbox_status(shelter, &mut session.info);
                session.follow(effects).await;
            }
        }
    }
    Box::pin(session.close(&mut notes)).await
}

async fn find_servers(
    found: Option<BoxFuture<'static, Vec<FoundModelServer>>>,
) -> Vec<FoundModelServer> {
    match found {
        Some(found) => found.await,
        None => Vec::new(),
    }
}

/// The end of the running turn, or the reason why it broke off.
async fn turn_result(running: &mut Option<RunningTurn>) -> Result<FinishedTurn, String> {
    match running {
        Some(running) => (&mut running.task).await.map_err(|error| error.to_string()),
        None => std::future::pending().await,
    }
}

impl Session {
    async fn open(&mut self, notices: Vec<Notice>) {
        let messages = self.resources.messages.clone();
        let printed = |line| TurnMessage::Side(SideMessage::StatusPrinted(line));
        self.callbacks.status.start(move |line| messages.send(printed(line)).is_ok());
        self.send_info().await;
        schedule_first_scan(self.resources.messages.clone());
        for notice in notices {
            self.notify(notice).await;
        }
        self.resume_at_start().await;
        if let Some(because) = self.security.trust.ask_because.take() {
            self.ask_trust(because).await;
        }
        self.instructions.load(&self.security, self.resources.messages.clone());
        self.jobs.find_kept();
    }

    /// All notes received so far.
    async fn drain_messages(&mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) {
        while let Ok(note) = notes.try_recv() {
            self.handle_turn_message(note).await;
        }
    }

    /// Takes the end of a turn before the next op of a frontend: a frontend that saw the turn end
    /// finds the session idle, and not still busy with the last steps.
    async fn sync_with_turn(&mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) {
        self.drain_messages(notes).await;
        if self.running.as_ref().is_some_and(|running| running.is_over) {
            let ended = turn_result(&mut self.running).await;
            self.drain_messages(notes).await;
            self.finish_turn(ended).await;
        }
    }

    pub(super) async fn export(&mut self, format: ExportFormat, path: Option<String>) {
        let notice = pages::export(self, format, path).await;
        // A conversation that was written elsewhere is not lost.
        if let Some(unsaved) = &mut self.info.unsaved
            && notice.level == NoticeLevel::Info
            && !self.conversation.record().is_empty()
        {
            unsaved.elsewhere = true;
            self.send_info().await;
        }
        self.notify(notice).await;
    }

    async fn handle_turn_message(&mut self, message: TurnMessage) {
        let effects = match message {
            TurnMessage::Permitted(message) => self.security.permit(message, &mut self.info),
            TurnMessage::PlanAccepted(mode) => {
                // The plan is carried out in this mode.
                self.conversation.is_planning = false;
                self.security.set_approval_mode(mode, &mut self.info)
            }
            TurnMessage::Job(message) => {
                self.jobs.handle_message(message, &self.security.redactor).await
            }
            TurnMessage::InstructionsRead(found) => self.instructions.set(found, &mut self.info),
            TurnMessage::ModelLearned => self.resources.model.follow_facts(&self.info),
            TurnMessage::FilesCounted(files) => {
                let is_news = self.info.changed_files.replace(files) != Some(files);
                is_news.then_some(SessionEffect::InfoChanged).into_iter().collect()
            }
            TurnMessage::RequestSent(ledger) => return self.set_context_usage(ledger).await,
            TurnMessage::SettingsNeeded { reply } => {
                let news = subagent_ops::turn_news(self).await;
                // A turn that was stopped does not wait for it.
                return drop(reply.send(news));
            }
            TurnMessage::FolderTrusted => {
                // The steps of the turn are already judged that way.
                let notice = self.security.trust.notice_at_step();
                return self.set_trust(TrustAnswer::Folder, notice).await;
            }
            TurnMessage::Side(message) => {
                return side_question::handle_message(self, message).await;
            }
            TurnMessage::Subagent(message) => {
                return subagent_ops::handle_message(self, message).await;
            }
            TurnMessage::RefreshExtensions => return self.finish_start().await,
            TurnMessage::ExtensionsScanned { number, looked } => self
                .resources
                .extensions
                .finish_scan(number, looked, &self.resources.servers.offers),
            message => return self.record_turn_message(message).await,
        };
        self.follow(effects).await;
    }

    /// What only changes what is known of the turn.
    async fn record_turn_message(&mut self, message: TurnMessage) {
        match message {
            TurnMessage::QuestionOpened(ask) => {
                self.update_running(|running| running.open_question = Some(ask))
            }
            TurnMessage::QuestionClosed => {
                self.update_running(|running| running.open_question = None)
            }
            TurnMessage::SteeringRead => {
                self.update_running(|running| drop(running.unread_steering.pop_front()))
            }
            TurnMessage::ToolsRestricted(narrowed) => {
                self.update_running(|running| running.restriction = narrowed)
            }
            TurnMessage::HistoryCompacted(history) => {
                let before = std::mem::replace(&mut self.conversation.history, history);
                let turn = self.info.turns.saturating_sub(1);
                self.store.save_compacted(turn, &before, &self.conversation.history).await;
            }
            TurnMessage::PartRequested { id, reply } => {
                let record = self.conversation.record();
                let part = self.store.part(&id, record, &self.security.redactor).await;
                // A turn that was stopped does not wait for it.
                let _ = reply.send(part);
            }
            TurnMessage::ServerCalled(call) => self.resources.servers.call(*call),
            TurnMessage::ServerCallCancelled(id) => self.resources.servers.cancel_call(id),
            TurnMessage::Record(event) => self.record_turn_event(*event),
            TurnMessage::SkillEntered { name, text } => {
                self.conversation.active_skills.enter(&name, &text)
            }
            TurnMessage::StepFinished => self.info.steps += 1,
            TurnMessage::Hook(news) => hook_ops::handle_news(self, news),
            // `Spent` is for the turn of a subagent; the others are handled before.
            _ => {}
        }
    }

    /// The first frame was shown.
    async fn finish_start(&mut self) {
        self.resources.extensions.refresh_at_start(&self.security.place, &self.resources.messages);
        self.resources.servers.load_at_start(self.security.place.trusted);
        self.load_hooks().await;
        self.ask_about_server().await;
        self.run_start_hooks(true);
    }

    fn record_turn_event(&mut self, event: Event) {
        if let Event::TurnEnded { turn, .. } = event {
            self.update_running(|running| running.is_over |= running.turn == turn);
        }
        let turn = self.running.as_ref().map(|running| running.turn);
        self.conversation.record_event(event, turn, &self.security.redactor);
    }

    /// The share that the next request will have, if there was one.
    pub(super) fn measure_context(&mut self) {
        if !self.conversation.history.is_empty() {
            let next = self.next_request();
            show_fill(&next, &mut self.info);
        }
    }

    async fn set_context_usage(&mut self, usage: Box<ContextUsage>) {
        let before = self.info.context.percent;
        show_fill(&usage, &mut self.info);
        self.update_running(|running| running.context_usage = Some(usage));
        if self.info.context.percent != before {
            self.send_info().await;
        }
    }

    // Turns

    async fn finish_turn(&mut self, ended: Result<FinishedTurn, String>) {
        let Some(running) = self.running.take() else { return };
        let ending = ended.as_ref().ok().map(|ended| ended.ending.clone());
        let failed = match ended {
            Ok(ended) => {
                self.conversation.usage.add_turn(running.turn, ended.usage);
                self.save_finished_turn(running.turn, ended).await
            }
            Err(why) => {
                // A bug of ours must not lose the conversation.
                let ending = TurnOutcome::Failed { why: phrases::TURN_CRASHED.with("why", why) };
                let ended = Event::TurnEnded {
                    turn: running.turn,
                    ending,
                    usage: Usage::default(),
                    elapsed_ms: 0,
                };
                self.outbox.send(ended).await;
                true
            }
        };
        if running.after == AfterTurn::Clear {
            self.reset().await;
        }
        self.measure_context();
        // A step may have changed it.
        let trusted = self.security.place.trusted;
        self.info.branch =
            trusted.then(|| git_branch::current_branch(&self.security.place.cwd)).flatten();
        self.follow([SessionEffect::FilesChanged, SessionEffect::InfoChanged]).await;
        let effects = self.queue.put_back(running.unread_steering);
        self.follow(effects).await;
        // After a failure nothing starts by itself: the next turn would hit the same error.
        self.ask_about_server().await;
        if !failed && self.open_question().is_none() {
            self.start_next_queued().await;
        }
        goal::follow_turn(self, ending.unwrap_or(TurnOutcome::Error)).await;
    }

    /// Saves the entries of a turn, and which model it asked; true if it failed.
    async fn save_finished_turn(&mut self, turn: u64, finished_turn: FinishedTurn) -> bool {
        let has_asked = finished_turn.usage != Usage::default();
        let failed = self.add_to_history(turn, finished_turn);
        let model = has_asked.then(|| self.resources.model.connected.model.name());
        self.store.save_turn(turn, &self.conversation.history, model).await;
        failed
    }

    /// Adds the entries of a turn to the history; true if it failed.
    fn add_to_history(&mut self, turn: u64, finished_turn: FinishedTurn) -> bool {
        self.conversation.next_step = self.conversation.next_step.max(finished_turn.next_step);
        self.conversation.usage.add(finished_turn.usage, &mut self.info);
        if !finished_turn.record.is_empty() {
            let redactor = &self.security.redactor;
            Arc::make_mut(&mut self.conversation.history).push(
                turn,
                finished_turn.record,
                |text| *text = redactor.mask(text).into_owned(),
            );
        }
        matches!(finished_turn.ending, TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. })
    }

    /// Stops the running turn, or else puts off a question that belongs to no turn.
    pub(super) async fn stop(&mut self) {
        self.jobs.subagents.stop();
        if let Some(running) = &self.running {
            running.cancel.cancel();
        } else if let Some(ask) = self.open_question() {
            self.decide(ask, Decision::Dismiss).await;
        }
    }

    pub(super) async fn clear(&mut self) {
        if let Some(notice) = unsaved_warning(&self.info) {
            return self.notify(notice).await;
        }
        match &mut self.running {
            Some(running) => {
                running.after = AfterTurn::Clear;
                running.cancel.cancel();
            }
            None => {
                self.reset().await;
                self.send_info().await;
            }
        }
    }

    async fn reset(&mut self) {
        self.run_end_hooks("clear").await;
        self.hooks.restart("clear");
        self.leave_session().await;
        self.conversation.clear();
        Arc::make_mut(&mut self.instructions.current).worked_in.clear();
        self.info.turns = 0;
        self.info.restoring_turns.clear();
        self.info.goal = None;
        self.info.steps = 0;
        self.info.usage = Usage::default();
        self.info.context.percent = None;
        self.store.start_new(&mut self.info).await;
        self.follow(self.security.record_folders(&self.info)).await;
        self.outbox.send(Event::Cleared).await;
        // Waiting messages are not part of the conversation: they stay.
        if !self.queue.inputs().is_empty() {
            self.outbox.send(self.queue.shown()).await;
        }
    }

    // Questions

    pub(super) async fn decide(&mut self, ask: AskId, decision: Decision) -> AfterTrust {
        if self.security.trust.open_question == Some(ask) {
            let after = self.apply_trust_answer(ask, decision).await;
            if after == AfterTrust::Continue {
                self.ask_about_server().await;
                self.start_next_typed().await;
            }
            return after;
        }
        if self.decide_about_server(ask, &decision).await {
            self.start_next_typed().await;
            return AfterTrust::Continue;
        }
        self.jobs.subagents.decide(ask, &decision);
        if let Some(running) = &self.running {
            // A turn that ended meanwhile has no open questions.
            let _ = running.decisions.send((ask, decision));
        }
        AfterTrust::Continue
    }

    /// What belongs to a session ends with it: its jobs, and what was allowed in it.
    pub(super) async fn leave_session(&mut self) {
        self.jobs.stop_all().await;
        self.security.end_session();
        self.security.publish(&mut self.info);
    }

    pub(super) async fn send_report(&mut self, report: Report) {
        let mut outbox = self.outbox.clone();
        let page = match report {
            Report::Context => {
                let sent = self.running.as_ref().and_then(|it| it.context_usage.as_deref());
                pages::context(self, sent)
            }
            Report::Hooks => {
                self.load_hooks().await;
                self.hooks.page(self.security.place.trusted)
            }
            Report::Plugins => {
                pages::plugins(&self.security.place.home, self.security.world.as_ref())
            }
            Report::Agents => {
                self.refresh_and_wait().await;
                pages::agents(&self.resources.extensions.library)
            }
            Report::Platforms => (self.callbacks.platforms)(),
            Report::Running => pages::running(self),
            Report::Usage => self.conversation.usage.page(self.info.usage),
            // What takes longer is sent while everything else goes on.
            Report::Changes => return self.send_changes(),
            Report::Doctor => {
                let page = (self.callbacks.doctor)(self.security.place.trusted);
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page.await))).await });
                return;
            }
            Report::LanguageServers => {
                let Some(languages) = self.callbacks.languages.clone() else { return };
                tokio::spawn(async move {
                    outbox.send(Event::Page(Box::new(languages.page().await))).await;
                });
                return;
            }
            Report::Models => {
                let connected = self.resources.model.connected.clone();
                let found = self.resources.model.found_servers.clone();
                tokio::spawn(async move {
                    let answer = (connected.list)().await;
                    outbox.send(pages::models(&connected, answer, &found)).await;
                });
                return;
            }
        };
        self.outbox.send(Event::Page(Box::new(page))).await;
    }

    // Effects

    /// Carries them out, one after the other.
    pub(super) async fn follow(
        &mut self,
        effects: impl IntoIterator<Item = impl Into<SessionEffect>>,
    ) {
        for effect in effects {
            match effect.into() {
                SessionEffect::InfoChanged => self.send_info().await,
                // Before the first read of the extensions it goes with that.
                SessionEffect::OffersChanged if self.resources.extensions.scan_number > 0 => {
                    let all =
                        Box::new(self.resources.extensions.all(&self.resources.servers.offers));
                    self.outbox.send(Event::Catalogue(all)).await;
                }
                SessionEffect::OffersChanged => {}
                SessionEffect::ToolsChanged => {
                    let tools = self.resources.toolbox(&self.security).tool_infos();
                    if tools != self.info.tools {
                        self.info.tools = tools;
                        self.send_info().await;
                    }
                }
                SessionEffect::FilesChanged => {
                    let Session { security, resources, info, .. } = self;
                    let TurnResources { tools, messages, .. } = &*resources;
                    self.changed_files.count(security.context(), tools, info, messages).await;
                }
                SessionEffect::FoldersChanged => {
                    self.resources.servers.set_folders(&self.security.place)
                }
                SessionEffect::QuestionWaits => self.ask_for_server().await,
                SessionEffect::Record(event) => self.store.recorder().append(&event).await,
                SessionEffect::Event(event) => self.outbox.send(*event).await,
            }
        }
    }

    // Saying

    pub async fn notify(&mut self, notice: Notice) {
        self.outbox.send(Event::Notice(notice)).await;
    }

    pub(super) async fn send_info(&mut self) {
        self.info = state::session_info(&self.info, &self.resources.model, &self.jobs);
        let longest = longest_words(self.resources.model.request_bounds().room);
        self.info.context.longest_bytes = longest.bytes;
        self.info.context.longest_tokens = longest.tokens;
        self.callbacks.status.update(&self.info);
        self.outbox.send(Event::Facts(Box::new(self.info.clone()))).await;
    }

    async fn close(mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) -> Option<Rescue> {
        self.store.begin_closing();
        let mut ended = None;
        if let Some(mut running) = self.running.take() {
            running.cancel.cancel();
            ended = (&mut running.task).await.ok().map(|result| (running.turn, result));
        }
        // Hooks get the conversation with all of the turn.
        self.drain_messages(notes).await;
        self.run_end_hooks("other").await;
        self.jobs.stop_all().await;
        self.resources.servers.stop().await;
        if let Some(languages) = &self.callbacks.languages {
            languages.stop().await;
        }
        self.jobs.forget_ended();
        self.changed_files.stop().await;
        self.drain_messages(notes).await;
        // A turn that ended with the session is remembered like any other.
        if let Some((turn, result)) = ended {
            self.save_finished_turn(turn, result).await;
        }
        let unsaved = self.store.close().await;
        let rescue = unsaved.map(|why| {
            let record = self.conversation.record();
            rescue(why, &self.info, record, &self.security.redactor)
        });
        self.outbox.send(Event::Closed).await;
        rescue
    }
}

/// The whole record of a conversation that could not be saved.
fn rescue(why: LocalizedText, info: &SessionInfo, events: &[Event], redactor: &Redactor) -> Rescue {
    let text = export::render(&info.title, events, ExportFormat::Md, info.lang);
    Rescue {
        why,
        name: format!("avocet-{}.md", info.session),
        text: redactor.mask(&text).into_owned(),
    }
}

/// How full the context is with this request.
fn show_fill(usage: &ContextUsage, info: &mut SessionInfo) {
    let used = usage.total_size();
    info.context.percent = Some(used.percent_of(usage.room));
    info.context.used_tokens = used.tokens;
    info.context.room_tokens = usage.room.tokens;
}
