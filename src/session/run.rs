//! The loop of a session: dispatches each op, each note of the turn, and the turn's end.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, FusedFuture};
use tokio::sync::mpsc;

use super::event_sink::{self, Outbox};
use super::extension_ops::schedule_first_scan;
use super::mcp_ops::START_WAIT;
use super::persistence::{Persistence, SessionStore};
use super::saved_sessions::unsaved_warning;
use super::session_effects::{Effects, SessionEffect};
use super::state::{self, AfterTurn, RunningTurn, Session};
use super::trust::{AfterTrust, TrustAnswer};
use super::turn_messages::{FinishedTurn, SideMessage, TurnMessage};
use super::turn_resources::{TurnResources, show_usage};
use super::{
    FoundModelServer, Handle, Rescue, SessionConfig, compaction, diff_report, export, goal,
    hook_ops, mcp_sampling, pages, restore_turn, side_question, subagent_ops,
};
use crate::context::turn_compaction::longest_words;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{
    Event, ExportFormat, Notice, Op, Report, SessionInfo, SessionOp, Submission, TurnOutcome, Usage,
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
            event = session.store.next() => {
                let Session { conversation, store, info, security, .. } = &mut session;
                let home = &security.place.home;
                let effects = conversation.handle_store_event(event, store, info, home);
                session.follow(effects).await;
            }
            news = session.resources.servers.next() => {
                let servers = &mut session.resources.servers;
                let effects = servers.handle_news(news, &session.security.place).await;
                session.follow(effects).await;
            }
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
        let effects = match self.store.resume.take() {
            Some(target) => self.store.resume(target).await,
            // A mode of the command line is that of the conversation, too.
            None if self.security.session.command_line_mode.is_some() => {
                self.security.record_folders(&self.info)
            }
            None => Effects::new(),
        };
        self.follow(effects).await;
        let because = self.security.trust.ask_because.take();
        self.follow(because.map(SessionEffect::AskTrust)).await;
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
            TurnMessage::RequestSent(usage) => {
                let is_news = show_usage(&usage, &mut self.info);
                if let Some(running) = &mut self.running {
                    running.context_usage = Some(usage);
                }
                is_news.then_some(SessionEffect::InfoChanged).into_iter().collect()
            }
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
            TurnMessage::Record(event) => {
                let running = self.running.as_mut().map(|running| running.follow(&event));
                self.conversation.record_event(*event, running, &self.security.redactor);
            }
            TurnMessage::SkillEntered { name, text } => {
                self.conversation.active_skills.enter(&name, &text)
            }
            TurnMessage::StepFinished => self.info.steps += 1,
            // The first frame was shown.
            TurnMessage::RefreshExtensions => {
                let TurnResources { extensions, servers, messages, .. } = &mut self.resources;
                extensions.refresh_at_start(&self.security.place, messages);
                servers.load_at_start(self.security.place.trusted);
                let notice = self.hooks.load(&mut self.security, &mut self.info);
                self.follow(notice).await;
                self.ask_next().await;
                self.hooks.run_start(true, &self.info, &self.security, &self.outbox);
            }
            TurnMessage::Hook(news) => hook_ops::handle_news(self, news),
            message => {
                if let Some(running) = &mut self.running {
                    running.handle_message(message);
                }
            }
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
        let notes = &self.instructions.current.notes.text;
        self.resources.measure(&mut self.info, &self.conversation, &self.security, notes);
        // A step may have changed it.
        let trusted = self.security.place.trusted;
        self.info.branch =
            trusted.then(|| git_branch::current_branch(&self.security.place.cwd)).flatten();
        self.follow([SessionEffect::FilesChanged, SessionEffect::InfoChanged]).await;
        let effects = self.queue.put_back(running.unread_steering);
        self.follow(effects).await;
        // After a failure nothing starts by itself: the next turn would hit the same error.
        self.ask_next().await;
        if !failed && self.questions.open().is_none() {
            self.start_next_queued().await;
        }
        goal::follow_turn(self, ending.unwrap_or(TurnOutcome::Error)).await;
    }

    /// Saves the entries of a turn, and which model it asked; true if it failed.
    async fn save_finished_turn(&mut self, turn: u64, finished_turn: FinishedTurn) -> bool {
        let has_asked = finished_turn.usage != Usage::default();
        let redactor = &self.security.redactor;
        let failed = self.conversation.add_turn(turn, finished_turn, &mut self.info, redactor);
        let model = has_asked.then(|| self.resources.model.connected.model.name());
        self.store.save_turn(turn, &self.conversation.history, model).await;
        failed
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
        let Session { hooks, conversation, info, security, .. } = self;
        let notices = hooks.run_end("clear", conversation, info, security).await;
        self.follow(notices).await;
        self.hooks.restart("clear");
        self.jobs.stop_all().await;
        self.security.end_session();
        self.security.publish(&mut self.info);
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

    pub(super) async fn send_report(&mut self, report: Report) {
        let mut outbox = self.outbox.clone();
        let page = match report {
            Report::Context => {
                let sent = self.running.as_ref().and_then(|it| it.context_usage.as_deref());
                pages::context(self, sent)
            }
            Report::Hooks => {
                let notice = self.hooks.load(&mut self.security, &mut self.info);
                self.follow(notice).await;
                self.hooks.page(self.security.place.trusted)
            }
            Report::Plugins => {
                pages::plugins(&self.security.place.home, self.security.world.as_ref())
            }
            Report::Agents => {
                let effects = self.resources.refresh(&self.security.place).await;
                self.follow(effects).await;
                pages::agents(&self.resources.extensions.library)
            }
            Report::Platforms => (self.callbacks.platforms)(),
            Report::Running => pages::running(self),
            Report::Usage => self.conversation.usage.page(self.info.usage),
            // What takes longer is sent while everything else goes on.
            Report::Changes => {
                let record = self.conversation.record();
                return diff_report::send(record, &self.resources.tools, &self.security, outbox);
            }
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
    pub(super) async fn follow(&mut self, effects: impl IntoIterator<Item: Into<SessionEffect>>) {
        for effect in effects {
            match effect.into() {
                SessionEffect::InfoChanged => self.send_info().await,
                // Before the first read of the extensions it goes with that.
                SessionEffect::OffersChanged if self.resources.extensions.scan_number > 0 => {
                    let all =
                        Box::new(self.resources.extensions.all(&self.resources.servers.offers));
                    self.outbox.send(Event::Catalogue(all)).await;
                }
                SessionEffect::Compress { focus, plan } if self.running.is_none() => {
                    self.start_turn(|scope| compaction::compress(scope, focus, plan));
                }
                // A frontend waits for the end of a turn before it asks for the latter.
                SessionEffect::OffersChanged | SessionEffect::Compress { .. } => {}
                SessionEffect::ToolsChanged => {
                    if self.resources.show_tools(&self.security, &mut self.info) {
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
                SessionEffect::QuestionWaits => self.ask_next().await,
                SessionEffect::Ask(question) => {
                    self.questions.push(question);
                    self.ask_next().await;
                }
                SessionEffect::AskTrust(because) => {
                    let id = self.conversation.shared.next_ask_id();
                    let question = self.security.trust.question(self.info.cwd.clone(), because);
                    self.outbox.send(self.questions.ask_trust(id, question)).await;
                }
                SessionEffect::Withdraw { server, question } => {
                    if let Some(closed) = self.questions.withdraw(&server, question) {
                        self.outbox.send(closed).await;
                        self.ask_next().await;
                    }
                }
                SessionEffect::Sample { server, request } => {
                    mcp_sampling::answer(self, &server, *request);
                }
                SessionEffect::ShowServers => {
                    Box::pin(self.wait_for_servers(START_WAIT)).await;
                    self.outbox.send(self.resources.servers.page()).await;
                }
                SessionEffect::Resume(resumed) => Box::pin(self.apply_resumed(*resumed)).await,
                SessionEffect::Restore(turn) => {
                    self.info.restoring_turns.push(self.info.turns + 1);
                    self.start_turn(|scope| restore_turn::run(*turn, scope));
                }
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
        let Session { hooks, conversation, info, security, .. } = &mut self;
        let notices = hooks.run_end("other", conversation, info, security).await;
        self.follow(notices).await;
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
