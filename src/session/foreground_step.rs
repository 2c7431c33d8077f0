//! A step that runs while its turn waits: its output, the question when its time is up, and its way
//! into the background.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::job::{JobMessage, NewJob};
use super::job_place::{BackgroundUse, JobPlace};
use super::limit_question::{LimitChoice, LimitQuestion};
use super::running_step::{RunningStep, StepProgress};
use super::shared_queues::SharedQueues;
use super::turn_context::TurnContext;
use super::turn_events::TurnEvents;
use super::turn_messages::{TurnInbox, TurnMessage};
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Ask, AskId, Decision, Event, Notice, Step, Tier};
use avocet_safety::{Judgement, ToolTask, Workspace};
use avocet_tools::checkpoint::{Checkpoint, WorkspaceChanges};
use avocet_tools::{LimitAnswer, PipedOutput, RunControl, TimeLimitReached};

/// How a step leaves its turn.
pub enum ForegroundEnd {
    Ended(Box<PipedOutput>),
    /// It is the job of this number.
    InBackground(u64),
}

/// What happens next with a running step.
enum StepEvent {
    Progress(StepProgress),
    AtLimit(TimeLimitReached),
    ToBackground,
}

pub struct ForegroundStep<'a> {
    pub context: &'a TurnContext,
    pub shared: &'a SharedQueues,
    pub events: &'a mut TurnEvents,
    pub inbox: &'a mut TurnInbox,
    /// The model proposed it.
    pub is_of_model: bool,
    pub step: &'a Step,
    pub place: JobPlace,
    /// The open question about its time.
    pub question: Option<LimitQuestion>,
}

impl ForegroundStep<'_> {
    /// Passes its output on as it arrives.
    pub async fn run(
        &mut self,
        mut limits: UnboundedReceiver<TimeLimitReached>,
        start: impl FnOnce(RunControl) -> BoxFuture<'static, PipedOutput>,
    ) -> ForegroundEnd {
        // Of its own, since the step may outlive the turn.
        let cancel = CancellationToken::new();
        let mut running = RunningStep::start(&cancel, self.place.background.clone(), start);
        while self.inbox.background.try_recv().is_ok() {}
        loop {
            let event = tokio::select! {
                biased;
                () = self.context.cancel.cancelled(), if !cancel.is_cancelled() => {
                    cancel.cancel();
                    continue;
                }
                () = self.place.wait(&mut self.inbox.background), if self.place.may_run_on() => {
                    StepEvent::ToBackground
                }
                decided = self.inbox.decisions.recv(), if self.question.is_some() => {
                    let choice = self.limit_choice(decided).await;
                    if choice != Some(LimitChoice::Background) { continue }
                    StepEvent::ToBackground
                }
                Some(reached) = limits.recv(), if self.question.is_none() => {
                    StepEvent::AtLimit(reached)
                }
                progress = running.next(&self.context.redactor) => StepEvent::Progress(progress),
            };
            match event {
                StepEvent::AtLimit(reached) => self.ask_about_limit(reached).await,
                StepEvent::ToBackground => {
                    let sent = self.send_to_background(running).await;
                    self.close_question(LimitAnswer::Wait).await;
                    match sent {
                        Ok(id) => return ForegroundEnd::InBackground(id),
                        // The background has too many already.
                        Err(back) => running = back,
                    }
                }
                StepEvent::Progress(StepProgress::Output(text)) => {
                    self.place.add(&text);
                    self.events.emit(Event::StepOutput { id: self.step.id.clone(), text }).await;
                }
                StepEvent::Progress(StepProgress::Ended(piped)) => {
                    self.close_question(LimitAnswer::Stop).await;
                    return ForegroundEnd::Ended(piped);
                }
            }
        }
    }

    /// Shows the question what becomes of a step whose time is up. The step runs on meanwhile.
    async fn ask_about_limit(&mut self, reached: TimeLimitReached) {
        let context = self.context;
        let question =
            LimitQuestion::question(&reached, self.step, &context.redactor, context.lang);
        let asking = self.shared.wait_to_ask(&context.cancel).await;
        let id = self.shared.next_ask_id();
        let asked = Box::new(Ask { id, question });
        self.events.notify(TurnMessage::QuestionOpened(asked.clone()));
        self.events.emit(Event::Asked(asked)).await;
        self.question = Some(LimitQuestion::new(id, reached, asking));
    }

    /// What the user chose, if the decision is about the question; the step knows it then, unless
    /// it goes to the background.
    async fn limit_choice(&mut self, decided: Option<(AskId, Decision)>) -> Option<LimitChoice> {
        let open = self.question.as_ref()?;
        let choice = match &decided {
            Some((ask, _)) if *ask != open.ask => return None,
            Some((_, decision)) => LimitQuestion::choice(decision),
            None => LimitChoice::Stop,
        };
        if matches!(decided, None | Some((_, Decision::Stop))) {
            self.context.cancel.cancel();
        }
        match choice {
            LimitChoice::Background => {}
            LimitChoice::Wait => self.close_question(LimitAnswer::Wait).await,
            LimitChoice::Stop => self.close_question(LimitAnswer::Stop).await,
        }
        Some(choice)
    }

    async fn close_question(&mut self, answer: LimitAnswer) {
        if let Some(question) = self.question.take() {
            let ask = question.ask;
            question.answer(answer);
            self.events.emit(Event::QuestionClosed { ask }).await;
        }
    }

    /// What the files are before a program runs that may change them.
    pub async fn take_checkpoint(
        &mut self,
        judged: &Judgement,
        place: &Workspace,
    ) -> Option<Checkpoint> {
        let is_program = matches!(judged.task, None | Some(ToolTask::Plugin(_)));
        if judged.risk.tier == Tier::L0 || !is_program {
            return None;
        }
        let checkpoints = Arc::clone(self.context.tools.checkpoints()?);
        let roots = std::iter::once(&place.workspace).chain(&place.added).cloned().collect();
        let taking = checkpoints.take(roots, place.own.clone());
        let taken = tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => return None,
            taken = taking => taken,
        };
        if taken.is_none() && checkpoints.report_given_up() {
            self.events.emit(Event::Notice(Notice::info(phrases::CHECKPOINT_OFF))).await;
        }
        taken
    }

    pub async fn report_changes(&mut self, before: Option<Checkpoint>) {
        let (Some(before), Some(checkpoints)) = (before, self.context.tools.checkpoints()) else {
            return;
        };
        let changes = Arc::clone(checkpoints).changes_since(before).await;
        let WorkspaceChanges { files, lost } = changes;
        if !files.is_empty() || lost > 0 {
            self.events.emit(Event::FilesChanged { step: self.step.id.clone(), files, lost }).await;
        }
    }

    /// Hands the running step over to the session; it comes back if there are too many jobs.
    async fn send_to_background(&mut self, running: RunningStep) -> Result<u64, RunningStep> {
        let (reply, answer) = oneshot::channel();
        let ports = self.place.ports.clone();
        let file = self.place.background.file.clone();

        let keep = self.place.keep.clone();
        self.place.use_of_it = BackgroundUse::Never;
        let cancel = running.cancel.clone();
        let step = self.step.clone();
        let is_of_model = self.is_of_model;

        let new = NewJob { step, running, ports, file, keep, is_of_model, reply };
        self.events.notify(TurnMessage::Job(JobMessage::Started(Box::new(new))));
        match answer.await {
            Ok(Ok(id)) => {
                self.place.background.begins.cancel();
                Ok(id)
            }
            Ok(Err(running)) => {
                self.events.emit(Event::Notice(Notice::warning(phrases::JOBS_TOO_MANY))).await;
                Err(running)
            }
            // The session closes, and ends the step.
            Err(_) => {
                cancel.cancel();
                Ok(0)
            }
        }
    }
}
