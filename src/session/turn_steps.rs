//! How a turn runs a cleared step: to its end, or into the background.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::job::{JobMessage, NewJob, can_run_on};
use super::job_place::{BackgroundUse, JobPlace, job_observation};
use super::limit_question::{LimitChoice, LimitQuestion};
use super::running_step::{RunningStep, StepProgress, without_output};
use super::turn_messages::TurnMessage;
use super::turn_scope::TurnScope;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Notice, Observation, Outcome, Step, Tier,
};
use avocet_safety::{ClearedStep, Judgement, ToolTask};
use avocet_tools::checkpoint::{Checkpoint, WorkspaceChanges};
use avocet_tools::{LimitAnswer, LimitReached, PipedOutput, RunControl, ShellInput, Tool};

/// What happens next with a running step.
enum StepEvent {
    Progress(StepProgress),
    AtLimit(LimitReached),
    ToBackground,
}

impl TurnScope {
    /// Runs a cleared step, and passes its output on as it arrives.
    pub async fn run_step(&mut self, cleared: ClearedStep) -> Observation {
        let use_of_it = BackgroundUse::of(cleared.judgement().step.requires);
        self.run_step_or_job(cleared, use_of_it).await
    }

    /// The same; where it is a program, it may go on in the background.
    pub async fn run_step_or_job(
        &mut self,
        cleared: ClearedStep,
        background: BackgroundUse,
    ) -> Observation {
        self.note_work(cleared.judgement());
        let run = |tool: &dyn Tool, step, control| without_output(tool.run(step, control));
        let background = if can_run_on(&cleared.judgement().step.work) {
            background
        } else {
            BackgroundUse::Never
        };
        self.run_step_with(cleared, background, run).await.observation
    }

    /// Runs a step of the user's without showing it.
    pub async fn run_quietly(&mut self, cleared: ClearedStep) -> Observation {
        let judged = cleared.judgement();
        let not_run = Observation::not_run(
            judged.step.clone(),
            judged.cwd.display().to_string(),
            judged.risk.clone(),
            Outcome::Refused,
        );
        let Some(tool) = self.context.tools.find(&judged.step.work).cloned() else {
            return not_run;
        };
        let (output, _) = mpsc::unbounded_channel();
        tool.run(cleared, RunControl::new(self.context.cancel.clone(), output)).await
    }

    /// Runs a shell command of a template the same way, and collects its whole output.
    pub async fn pipe_step(&mut self, cleared: ClearedStep, input: ShellInput) -> PipedOutput {
        let run = |tool: &dyn Tool, step, control| tool.run_piped(step, input, control);
        self.run_step_with(cleared, BackgroundUse::Never, run).await
    }

    /// Borrows the terminal for a step; if there is none, the step reports it itself.
    pub async fn run_in_terminal(&mut self, cleared: ClearedStep) -> Observation {
        self.flush_background().await;
        let ask = self.next_ask_id();
        self.outbox.send(Event::TerminalRequested { ask }).await;
        let is_lent = self.decision(ask).await == Some(Decision::Approve);
        let run = |tool: &dyn Tool, step, control| {
            without_output(if is_lent {
                tool.run_in_terminal(step, control)
            } else {
                tool.run(step, control)
            })
        };
        let observation = self.run_step_with(cleared, BackgroundUse::Never, run).await.observation;
        let failed =
            is_lent && observation.outcome == Outcome::Ran && observation.exit_code != Some(0);
        self.outbox.send(Event::TerminalReturned { failed }).await;
        observation
    }

    async fn run_step_with(
        &mut self,
        cleared: ClearedStep,
        background: BackgroundUse,
        run: impl FnOnce(&dyn Tool, ClearedStep, RunControl) -> BoxFuture<'static, PipedOutput>,
    ) -> PipedOutput {
        self.flush_background().await;
        let judged = cleared.judgement();
        let (step, risk) = (judged.step.clone(), judged.risk.clone());
        let cwd = judged.cwd.display().to_string();
        let Some(tool) = self.context.tools.find(&step.work).cloned() else {
            return without_tool(Observation::not_run(step, cwd, risk, Outcome::Refused));
        };
        self.outbox.send(Event::StepStarted { step: step.clone(), risk: risk.clone() }).await;
        let checkpoint = self.take_checkpoint(cleared.judgement()).await;
        let start = |control| run(tool.as_ref(), cleared, control);
        let (mut place, mut limits) =
            JobPlace::new(self.context.outputs.as_ref(), &step, background);
        // Of its own, since the step may outlive the turn.
        let cancel = CancellationToken::new();
        let mut running = RunningStep::start(&cancel, place.background.clone(), start);
        let mut limit = None;
        while self.inbox.background.try_recv().is_ok() {}
        loop {
            let event = tokio::select! {
                biased;
                () = self.context.cancel.cancelled(), if !cancel.is_cancelled() => {
                    cancel.cancel();
                    continue;
                }
                () = place.wait(&mut self.inbox.background), if place.may_run_on() => {
                    StepEvent::ToBackground
                }
                decided = self.inbox.decisions.recv(), if limit.is_some() => {
                    let choice = self.limit_choice(decided, &mut limit).await;
                    if choice != Some(LimitChoice::Background) { continue }
                    StepEvent::ToBackground
                }
                Some(reached) = limits.recv(), if limit.is_none() => StepEvent::AtLimit(reached),
                progress = running.next(&self.context.redactor) => StepEvent::Progress(progress),
            };
            match event {
                StepEvent::AtLimit(reached) => {
                    limit = Some(self.ask_about_limit(reached, &step).await);
                }
                StepEvent::ToBackground => {
                    match self.go_to_background(&step, running, &mut place, &mut limit).await {
                        Ok(id) => {
                            self.report_changes(&step, checkpoint).await;
                            return job_observation(step, cwd, risk, (id, place.shown));
                        }
                        Err(back) => running = back,
                    }
                }
                StepEvent::Progress(StepProgress::Output(text)) => {
                    place.add(&text);
                    self.outbox.send(Event::StepOutput { id: step.id.clone(), text }).await;
                }
                StepEvent::Progress(StepProgress::Ended(piped)) => {
                    self.close_limit_question(&mut limit, LimitAnswer::Stop).await;
                    self.report_changes(&step, checkpoint).await;
                    return *piped;
                }
            }
        }
    }

    /// If the background has too many already, it comes back and may take longer.
    async fn go_to_background(
        &mut self,
        step: &Step,
        running: RunningStep,
        place: &mut JobPlace,
        limit: &mut Option<LimitQuestion>,
    ) -> Result<u64, RunningStep> {
        let sent = self.send_to_background(step, running, place).await;
        self.close_limit_question(limit, LimitAnswer::Wait).await;
        sent
    }

    /// Shows the question what becomes of a step whose time is up. The step runs on meanwhile.
    async fn ask_about_limit(&mut self, reached: LimitReached, step: &Step) -> LimitQuestion {
        let redactor = Arc::clone(&self.context.redactor);
        let lang = self.context.lang;

        let question = LimitQuestion::question(&reached, step, &redactor, lang);
        let id = self.next_ask_id();
        let asked = Box::new(Ask { id, question });
        self.notify(TurnMessage::QuestionOpened(asked.clone()));
        self.outbox.send(Event::Asked(asked)).await;
        LimitQuestion::new(id, reached)
    }

    /// What the user chose, if the decision is about the question; the step knows it then, unless
    /// it goes to the background.
    async fn limit_choice(
        &mut self,
        decided: Option<(AskId, Decision)>,
        limit: &mut Option<LimitQuestion>,
    ) -> Option<LimitChoice> {
        let open = limit.as_ref()?;
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
            LimitChoice::Wait => self.close_limit_question(limit, LimitAnswer::Wait).await,
            LimitChoice::Stop => self.close_limit_question(limit, LimitAnswer::Stop).await,
        }
        Some(choice)
    }

    async fn close_limit_question(
        &mut self,
        limit: &mut Option<LimitQuestion>,
        answer: LimitAnswer,
    ) {
        if let Some(question) = limit.take() {
            let ask = question.ask;
            question.answer(answer);
            self.emit(Event::QuestionClosed { ask }).await;
        }
    }

    /// What the files are before a program runs that may change them.
    async fn take_checkpoint(&mut self, judged: &Judgement) -> Option<Checkpoint> {
        let is_program = matches!(judged.task, None | Some(ToolTask::Plugin(_)));
        if judged.risk.tier == Tier::L0 || !is_program {
            return None;
        }
        let checkpoints = Arc::clone(self.context.tools.checkpoints()?);
        let place = self.judge.place();
        let roots = std::iter::once(&place.workspace).chain(&place.added).cloned().collect();
        let taking = checkpoints.take(roots, place.own.clone());
        let taken = tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => return None,
            taken = taking => taken,
        };
        if taken.is_none() && checkpoints.report_given_up() {
            self.emit(Event::Notice(Notice::info(phrases::CHECKPOINT_OFF))).await;
        }
        taken
    }

    async fn report_changes(&mut self, step: &Step, before: Option<Checkpoint>) {
        let (Some(before), Some(checkpoints)) = (before, self.context.tools.checkpoints()) else {
            return;
        };
        let changes = Arc::clone(checkpoints).changes_since(before).await;
        let WorkspaceChanges { files, lost } = changes;
        if !files.is_empty() || lost > 0 {
            self.emit(Event::FilesChanged { step: step.id.clone(), files, lost }).await;
        }
    }

    /// Hands the running step over to the session; it comes back if there are too many jobs.
    async fn send_to_background(
        &mut self,
        step: &Step,
        running: RunningStep,
        place: &mut JobPlace,
    ) -> Result<u64, RunningStep> {
        let (reply, answer) = oneshot::channel();
        let ports = place.ports.clone();
        let file = place.background.file.clone();

        let keep = place.keep.clone();
        place.use_of_it = BackgroundUse::Never;
        let cancel = running.cancel.clone();
        let step = step.clone();
        let is_of_model = self.has_steps_of_model;

        let new = NewJob { step, running, ports, file, keep, is_of_model, reply };
        self.notify(TurnMessage::Job(JobMessage::Started(Box::new(new))));
        match answer.await {
            Ok(Ok(id)) => {
                place.background.begins.cancel();
                Ok(id)
            }
            Ok(Err(running)) => {
                self.emit(Event::Notice(Notice::warning(phrases::JOBS_TOO_MANY))).await;
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

fn without_tool(observation: Observation) -> PipedOutput {
    let note = Some(phrases::NO_TOOL.with("tool", observation.step.work.tool()));
    PipedOutput { observation: Observation { note, ..observation }, output: None }
}
