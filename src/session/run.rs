//! The loop of a session: dispatches each op, each note of the turn, and the turn's end.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, FusedFuture};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::context::Summarizer;
use super::host::{StepJudge, TurnContext, TurnHost, TurnInbox, TurnMessage};
use super::offered;
use super::outbox::Outbox;
use super::saved::Saved;
use super::skills::{self, WithSkills};
use super::state::{self, AfterTurn, Conversation, Responder, RunningTurn};
use super::turns::UserInput;
use super::{FoundServer, Rescue, Security, SessionConfig, export, report, rules, trust};
use crate::agent::ModelAnswer;
use crate::agent::drive::TurnResult;
use crate::context::system::{self, SystemFacts};
use crate::context::window::{Bounds, ContextUsage};
use crate::protocol::{
    AskId, Decision, Event, ExportFormat, Notice, NoticeLevel, Op, Report, SessionInfo,
    TurnOutcome, Usage,
};
use crate::safety::{self, Policy};
use crate::tools::{Tool, Toolbox, branch};
use crate::words::{LocalizedText, session as words};

/// The maximum number of commands in a reply, as stated in the prompt.
const MAX_COMMANDS: usize = 16;

pub(super) struct Session {
    pub facts: SessionInfo,
    pub voice: Responder,
    pub past: Conversation,
    pub guard: Security,
    pub outbox: Outbox,
    pub saved: Saved,
    /// Messages that wait for the running turn to end.
    pub(super) queue: VecDeque<UserInput>,
    /// How many of them, at the end, come from an earlier session: they start nothing.
    pub(super) resting: usize,
    pub(super) running: Option<RunningTurn>,
    pub policy: watch::Sender<Policy>,
    pub(super) tools: Toolbox,
    pub notes: mpsc::UnboundedSender<TurnMessage>,
    pub reach: super::Callbacks,
    /// The project's instructions.
    pub found: Arc<crate::config::notes::ProjectInstructions>,
    pub bounds: Bounds,
    /// Whether shell commands that are not of high risk were approved at the start of the program.
    pub approves_pieces: bool,
    /// How many of the added folders come from the command line: they belong to this run, not to a
    /// session.
    pub given: usize,
}

/// Runs until `Op::Shutdown`, or until no frontend is connected.
pub async fn run(
    mut parts: SessionConfig,
    saved: Saved,
    mut ops: mpsc::Receiver<Op>,
    outbox: Outbox,
) -> Option<Rescue> {
    let (note_sender, mut notes) = mpsc::unbounded_channel();
    let greeting = std::mem::take(&mut parts.greeting);
    let mut discover = search(parts.reach.discover.take()).boxed().fuse();
    let mut shelter = parts.tools.sandbox_status().boxed().fuse();
    let mut session = Session::new(parts, saved, outbox, note_sender);
    session.open(greeting).await;
    loop {
        tokio::select! {
            op = ops.recv() => match op {
                None | Some(Op::Shutdown) => break,
                Some(op) => {
                    session.settle(&mut notes).await;
                    if session.op(op).await == trust::AfterTrust::Leave { break }
                }
            },
            Some(note) = notes.recv() => session.note(note).await,
            came = session.saved.next() => session.saved_came(came).await,
            ended = ended(&mut session.running), if session.running.is_some() => {
                session.heed(&mut notes).await;
                session.turn_ended(ended).await;
            }
            found = &mut discover, if !discover.is_terminated() => session.found(found).await,
            Some(shelter) = &mut shelter, if !shelter.is_terminated() => {
                session.sheltered(shelter).await;
            }
        }
    }
    session.close(&mut notes).await
}

async fn search(found: Option<BoxFuture<'static, Vec<FoundServer>>>) -> Vec<FoundServer> {
    match found {
        Some(found) => found.await,
        None => Vec::new(),
    }
}

/// The end of the running turn, or the reason why it broke off.
async fn ended(running: &mut Option<RunningTurn>) -> Result<TurnResult, String> {
    match running {
        Some(running) => (&mut running.task).await.map_err(|error| error.to_string()),
        None => std::future::pending().await,
    }
}

/// The session's ends of a turn's channels.
pub(super) type TurnHandle =
    (mpsc::UnboundedSender<(AskId, Decision)>, mpsc::UnboundedSender<String>);

pub(super) fn turn_channels() -> (TurnInbox, TurnHandle) {
    let (decisions, decided) = mpsc::unbounded_channel();
    let (steers, steered) = mpsc::unbounded_channel();
    (TurnInbox { decisions: decided, steers: steered }, (decisions, steers))
}

impl Session {
    fn new(
        parts: SessionConfig,
        saved: Saved,
        outbox: Outbox,
        notes: mpsc::UnboundedSender<TurnMessage>,
    ) -> Session {
        let (policy, _) = watch::channel(parts.guard.policy.clone());
        Session {
            given: parts.guard.place.added.len(),
            facts: parts.facts,
            voice: Responder {
                connected: parts.reach.first,
                persona: parts.persona,
                kept: parts.kept,
                found: Vec::new(),
            },
            past: Conversation::default(),
            guard: parts.guard,
            outbox,
            saved,
            queue: VecDeque::new(),
            resting: 0,
            running: None,
            policy,
            tools: parts.tools,
            notes,
            reach: parts.reach.ways,
            found: Arc::default(),
            bounds: parts.bounds,
            approves_pieces: parts.approves_pieces,
        }
    }

    async fn open(&mut self, greeting: Vec<Notice>) {
        self.tell_facts().await;
        self.look_soon();
        for notice in greeting {
            self.say(notice).await;
        }
        self.resume_first().await;
        self.ask_trust_first().await;
        self.read_notes();
    }

    /// All notes received so far.
    async fn heed(&mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) {
        while let Ok(note) = notes.try_recv() {
            self.note(note).await;
        }
    }

    /// Takes the end of a turn before the next op of a frontend: a frontend that saw the turn end
    /// finds the session idle, and not still busy with the last steps.
    async fn settle(&mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) {
        self.heed(notes).await;
        if self.running.as_ref().is_some_and(|running| running.is_over) {
            let ended = ended(&mut self.running).await;
            self.heed(notes).await;
            self.turn_ended(ended).await;
        }
    }

    async fn op(&mut self, op: Op) -> trust::AfterTrust {
        match op {
            op if self.refuses(&op) => self.say_read_only().await,
            Op::Submit { text } => self.submit(UserInput::Text(text)).await,
            Op::SubmitPrompt { prompt } => self.submit(UserInput::Prompt(prompt)).await,
            Op::Render { prompt } => self.render(*prompt).await,
            Op::Shell { line, keep } => self.submit(UserInput::Shell { line, keep }).await,
            Op::RunQueue => self.run_queue().await,
            Op::SetQueue { texts } => self.set_queue(texts).await,
            Op::Unqueue { at, text } => self.unqueue(at, &text).await,
            Op::Decide { ask, decision } => return self.decide(ask, decision).await,
            Op::PreviewRisk { ask, work } => self.judge(ask, work).await,
            Op::Steer { text } => self.steer(text).await,
            Op::Retry => self.retry().await,
            Op::Undo { turns } => self.undo(turns).await,
            Op::Stop => self.stop().await,
            Op::New => self.clear().await,
            Op::SetModel { name } => self.set_model(name).await,
            Op::SetMode { mode } => self.set_mode(mode).await,
            Op::SetLang { lang } => self.set_lang(lang).await,
            Op::Allow { rule } => self.add_rule(&rule, Adding::Allow).await,
            Op::Deny { rule } => self.add_rule(&rule, Adding::Deny).await,
            Op::Revoke { rule } => {
                let notice = rules::revoke(&mut self.guard, &rule);
                self.rules_changed(notice).await;
            }
            Op::Export { format, path } => {
                let notice = report::export(self, format, path).await;
                self.exported(&notice).await;
                self.say(notice).await;
            }
            Op::Compress { focus } => self.compress(focus).await,
            Op::Recall { id } => self.recall(&id).await,
            Op::Report { report } => self.report(report),
            Op::Resume { .. } | Op::ListSessions | Op::SearchSessions { .. } => {
                self.saved_op(op).await
            }
            Op::Fork { .. } | Op::Rename { .. } | Op::Rewind { .. } => self.saved_op(op).await,
            Op::Trust => self.ask_trust_again().await,
            Op::AddFolder { path } => self.add_folder(&path).await,
            Op::RunScript { script, args } => self.run_script(script, args).await,
            Op::RefreshExtensions | Op::SetBot { .. } | Op::Invoke { .. } => {
                self.of_library(op).await
            }
            // The loop ends before this.
            Op::Shutdown => {}
        }
        trust::AfterTrust::GoOn
    }

    async fn note(&mut self, note: TurnMessage) {
        match note {
            TurnMessage::Asking(ask) => self.of_turn(|running| running.asking = Some(ask)),
            TurnMessage::Answered => self.of_turn(|running| running.asking = None),
            TurnMessage::Heard => self.of_turn(|running| drop(running.unheard.pop_front())),
            TurnMessage::Sent(ledger) => self.sent(ledger).await,
            TurnMessage::Compacted(history) => self.compacted(history).await,
            TurnMessage::Notes(found) => self.noted(found).await,
            TurnMessage::Remember { rule } => self.add_rule(&rule, Adding::Allow).await,
            TurnMessage::Granted { grant, scope } => {
                let notice = rules::grant(&mut self.guard, *grant, scope);
                self.rules_changed(notice).await;
            }
            TurnMessage::Trusted => self.trusted_at_step().await,
            TurnMessage::Record(event) => {
                if let Event::TurnEnded { turn, .. } = *event {
                    self.of_turn(|running| running.is_over |= running.turn == turn);
                }
                self.recorded(*event);
            }
            TurnMessage::Entered { name, text } => self.past.active.enter(&name, &text),
            TurnMessage::Narrowed(narrowed) => self.of_turn(|running| running.narrowed = narrowed),
            TurnMessage::Stepped => self.facts.steps += 1,
            TurnMessage::LookNow => self.look_now(),
            TurnMessage::Looked { number, looked } => self.looked(number, looked).await,
        }
    }

    async fn sent(&mut self, ledger: Box<ContextUsage>) {
        let Some(running) = &mut self.running else { return };
        let is_first = running.sent.is_none();
        let notice = report::cut(&ledger).filter(|_| is_first);
        running.sent = Some(ledger);
        if let Some(notice) = notice {
            self.say(notice).await;
        }
    }

    fn of_turn(&mut self, change: impl FnOnce(&mut RunningTurn)) {
        if let Some(running) = &mut self.running {
            change(running);
        }
    }

    // Turns

    /// Messages that the turn does not read before it ends are sent after it.
    async fn steer(&mut self, text: String) {
        match &mut self.running {
            Some(running) => {
                running.unheard.push_back(text.clone());
                let _ = running.steers.send(text);
                self.say(Notice::info(words::STEER_WAITS)).await;
            }
            None => self.submit(UserInput::Text(text)).await,
        }
    }

    pub(super) fn set_running(
        &mut self,
        cancel: CancellationToken,
        (decisions, steers): TurnHandle,
        task: tokio::task::JoinHandle<TurnResult>,
    ) {
        self.running = Some(RunningTurn {
            turn: self.facts.turns,
            is_over: false,
            cancel,
            decisions,
            steers,
            unheard: VecDeque::new(),
            sent: None,
            asking: None,
            narrowed: None,
            task,
            after: AfterTurn::GoOn,
        });
    }

    pub(super) fn host(&self, cancel: &CancellationToken, wires: TurnInbox) -> TurnHost {
        let library = &self.voice.kept.library;
        let world = WithSkills {
            world: Arc::clone(&self.guard.world),
            library: Arc::clone(library),
            offered: self.offered(),
        };
        TurnHost {
            turn: self.facts.turns,
            desk: TurnContext {
                model: Arc::clone(&self.voice.connected.model),
                params: self.voice.persona.params.clone(),
                system: self.guard.redactor.mask(&self.system()).into(),
                history: Arc::clone(&self.past.history),
                notes: Arc::clone(&self.found),
                low: self.summarizer(),
                bounds: self.bounds,
                tools: self.toolbox(),
                library: Arc::clone(library),
                redactor: Arc::clone(&self.guard.redactor),
                approves_pieces: self.approves_pieces,
                cancel: cancel.clone(),
            },
            outbox: self.outbox.clone(),
            ahead: None,
            unwritten: false,
            notes: self.notes.clone(),
            wires,
            sent: 0,
            answer: ModelAnswer::default(),
            bench: StepJudge::new(
                self.policy.subscribe(),
                self.guard.place.clone(),
                Arc::new(world),
            ),
            prepared: false,
            looking: None,
            summing: Usage::default(),
            runner: self.runner(),
            offer: self.guard.trust.offer(),
        }
    }

    pub(super) fn summarizer(&self) -> Summarizer {
        Summarizer::new(&self.reach.connect, &self.voice.connected, self.facts.lang)
    }

    pub fn system(&self) -> String {
        let library = &self.voice.kept.library;
        let prompt = system::prompt(&SystemFacts {
            tools: self.toolbox().iter().map(Tool::prompt).collect(),
            cwd: &self.facts.cwd,
            os: std::env::consts::OS,
            lang: self.facts.lang,
            max_commands: MAX_COMMANDS,
            bot: self.voice.persona.prompt.as_deref(),
        });
        let prompt = skills::beside(prompt, library, &self.past.active);
        offered::beside(prompt, &self.offered())
    }

    async fn turn_ended(&mut self, ended: Result<TurnResult, String>) {
        let Some(running) = self.running.take() else { return };
        let failed = match ended {
            Ok(ended) => {
                self.past.cost(running.turn, ended.usage);
                let failed = self.remember(running.turn, ended);
                self.saved.remember(running.turn, &self.past.history).await;
                failed
            }
            Err(why) => {
                self.crashed(running.turn, why).await;
                true
            }
        };
        if running.after == AfterTurn::Clear {
            self.empty().await;
        }
        // A step may have changed it.
        let trusted = self.guard.place.trusted;
        self.facts.branch =
            trusted.then(|| branch::current_branch(&self.guard.place.cwd)).flatten();
        self.tell_facts().await;
        self.unheard(running.unheard).await;
        // After a failure nothing starts by itself: the next turn would hit the same error.
        if !failed {
            self.next_of_queue().await;
        }
    }

    /// Messages that the turn did not read are sent next.
    async fn unheard(&mut self, texts: VecDeque<String>) {
        if texts.is_empty() {
            return;
        }
        texts.into_iter().rev().for_each(|text| self.queue.push_front(UserInput::Text(text)));
        self.queue_changed().await;
    }

    /// Adds the entries of a turn to the history; true if it failed.
    fn remember(&mut self, turn: u64, ended: TurnResult) -> bool {
        self.past.next_step = self.past.next_step.max(ended.next_step);
        self.past.next_ask = self.past.next_ask.max(ended.next_ask);
        self.facts.usage = self.facts.usage.plus(ended.usage);
        if !ended.record.is_empty() {
            let redactor = &self.guard.redactor;
            Arc::make_mut(&mut self.past.history)
                .push(turn, ended.record, |text| *text = redactor.mask(text).into_owned());
        }
        matches!(ended.ending, TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. })
    }

    /// A bug of ours must not lose the conversation.
    async fn crashed(&mut self, turn: u64, why: String) {
        let why = words::TURN_CRASHED.with("why", why);
        let ending = TurnOutcome::Failed { why };
        self.outbox
            .send(Event::TurnEnded { turn, ending, usage: Usage::default(), elapsed_ms: 0 })
            .await;
    }

    /// Stops the running turn; the trust question, which belongs to no turn, stays open.
    async fn stop(&mut self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        } else if let Some(ask) = self.guard.trust.asking {
            self.decide(ask, Decision::Dismiss).await;
        }
    }

    async fn clear(&mut self) {
        if self.would_lose().await {
            return;
        }
        match &mut self.running {
            Some(running) => {
                running.after = AfterTurn::Clear;
                running.cancel.cancel();
            }
            None => {
                self.empty().await;
                self.tell_facts().await;
            }
        }
    }

    async fn empty(&mut self) {
        self.past.clear();
        self.facts.turns = 0;
        self.facts.steps = 0;
        self.facts.usage = Usage::default();
        self.saved.leave(&mut self.facts).await;
        self.keep_folders().await;
        self.outbox.send(Event::Cleared).await;
        // Waiting messages are not part of the conversation: they stay.
        if !self.queue.is_empty() {
            self.queue_changed().await;
        }
    }

    // Questions

    async fn decide(&mut self, ask: AskId, decision: Decision) -> trust::AfterTrust {
        if self.guard.trust.asking == Some(ask) {
            let after = self.trust_answered(ask, decision).await;
            if after == trust::AfterTrust::GoOn {
                self.next_of_now().await;
            }
            return after;
        }
        if let Some(running) = &self.running {
            // A turn that ended meanwhile has no open questions.
            let _ = running.decisions.send((ask, decision));
        }
        trust::AfterTrust::GoOn
    }

    /// Where old contents of files are saved.
    pub(super) fn kept(&self) -> Option<&crate::tools::file::Backups> {
        self.tools.backups()
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    pub(super) fn running_turn(&self) -> Option<u64> {
        self.running.as_ref().map(|running| running.turn)
    }

    /// `None`: the rule refuses.
    async fn add_rule(&mut self, rule: &str, adding: Adding) {
        let notice = match adding {
            Adding::Allow => rules::allow(&mut self.guard, rule),
            Adding::Deny => rules::deny(&mut self.guard, rule),
        };
        self.rules_changed(notice).await;
    }

    async fn rules_changed(&mut self, notice: Notice) {
        self.policy.send_replace(self.guard.policy.clone());
        let shown = |rules: &[safety::PolicyRule]| rules.iter().map(ToString::to_string).collect();
        self.facts.allowed = shown(&self.guard.policy.allow_rules());
        self.facts.allowed_covers = rules::covers(&self.guard.policy, &self.guard.place.cwd);
        self.facts.denied = shown(&self.guard.policy.denied);
        self.tell_facts().await;
        self.say(notice).await;
    }

    fn report(&mut self, report: Report) {
        let mut outbox = self.outbox.clone();
        match report {
            Report::Doctor => {
                let page = (self.reach.doctor)(self.guard.place.trusted);
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page.await))).await });
            }
            Report::Context => {
                let sent = self.running.as_ref().and_then(|running| running.sent.as_deref());
                let page = report::context(self, sent);
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page))).await });
            }
            Report::Changes => {
                let page = self.changes_page();
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page))).await });
            }
            Report::Plugins => {
                let page = report::plugins(&self.guard.place.home, self.guard.world.as_ref());
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page))).await });
            }
            Report::Usage => {
                let page = report::usage(&self.past.usage, self.facts.usage);
                tokio::spawn(async move { outbox.send(Event::Page(Box::new(page))).await });
            }
            Report::Models => {
                let (connected, found) = (self.voice.connected.clone(), self.voice.found.clone());
                tokio::spawn(async move {
                    let answer = (connected.list)().await;
                    for event in report::models(&connected, answer, &found) {
                        outbox.send(event).await;
                    }
                });
            }
        }
    }

    // Saying

    pub async fn say(&mut self, notice: Notice) {
        self.outbox.send(Event::Notice(notice)).await;
    }

    pub(super) async fn tell_facts(&mut self) {
        self.facts = state::facts(&self.facts, &self.voice);
        self.outbox.send(Event::Facts(Box::new(self.facts.clone()))).await;
    }

    async fn close(mut self, notes: &mut mpsc::UnboundedReceiver<TurnMessage>) -> Option<Rescue> {
        if let Some(mut running) = self.running.take() {
            running.cancel.cancel();
            let _ = (&mut running.task).await;
        }
        self.heed(notes).await;
        let unsaved = self.saved.close().await;
        let rescue = unsaved.map(|why| self.rescue(why));
        self.outbox.send(Event::Closed).await;
        rescue
    }

    /// The whole record of a conversation that could not be saved.
    fn rescue(&mut self, why: LocalizedText) -> Rescue {
        let text = export::render(self.past.record(), ExportFormat::Md, self.facts.lang);
        Rescue {
            why,
            name: format!("avocet-{}.md", self.facts.session),
            text: self.guard.redactor.mask(&text).into_owned(),
        }
    }

    /// A conversation that was written to another place is no longer lost.
    async fn exported(&mut self, notice: &Notice) {
        if let Some(unsaved) = &mut self.facts.unsaved
            && notice.level == NoticeLevel::Info
            && !self.past.record().is_empty()
        {
            unsaved.elsewhere = true;
            self.tell_facts().await;
        }
    }
}

/// Whether a rule allows or refuses.
#[derive(Clone, Copy)]
enum Adding {
    Allow,
    Deny,
}
