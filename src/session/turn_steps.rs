//! How a turn runs a cleared step: to its end, or into the background.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::foreground_step::{ForegroundEnd, ForegroundStep};
use super::job::can_run_on;
use super::job_place::{BackgroundUse, JobPlace, job_observation};
use super::running_step::without_output;
use super::turn_scope::TurnScope;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Decision, Event, Observation, Outcome};
use avocet_safety::ClearedStep;
use avocet_tools::{PipedOutput, RunControl, ShellInput, Tool};

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
        self.conversation.note_work(cleared.judgement(), self.judge.place());
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
        let ask = self.shared.next_ask_id();
        self.events.emit(Event::TerminalRequested { ask }).await;
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
        self.events.emit(Event::TerminalReturned { failed }).await;
        observation
    }

    async fn run_step_with(
        &mut self,
        cleared: ClearedStep,
        background: BackgroundUse,
        run: impl FnOnce(&dyn Tool, ClearedStep, RunControl) -> BoxFuture<'static, PipedOutput>,
    ) -> PipedOutput {
        let judged = cleared.judgement();
        let (step, risk) = (judged.step.clone(), judged.risk.clone());
        let cwd = judged.cwd.display().to_string();
        let Some(tool) = self.context.tools.find(&step.work).cloned() else {
            return without_tool(Observation::not_run(step, cwd, risk, Outcome::Refused));
        };
        let started = Event::StepStarted { step: step.clone(), risk: risk.clone() };
        self.events.emit(started).await;
        let (place, limits) = JobPlace::new(self.context.outputs.as_ref(), &step, background);
        let mut foreground = ForegroundStep {
            context: &self.context,
            shared: &self.shared,
            events: &mut self.events,
            inbox: &mut self.inbox,
            is_of_model: self.has_steps_of_model,
            step: &step,
            place,
            question: None,
        };
        let checkpoint = foreground.take_checkpoint(cleared.judgement(), self.judge.place()).await;
        let end = foreground.run(limits, |control| run(tool.as_ref(), cleared, control)).await;
        foreground.report_changes(checkpoint).await;
        let shown = foreground.place.shown;
        match end {
            ForegroundEnd::Ended(piped) => *piped,
            ForegroundEnd::InBackground(id) => job_observation(step, cwd, risk, (id, shown)),
        }
    }
}

fn without_tool(observation: Observation) -> PipedOutput {
    let note = Some(phrases::NO_TOOL.with("tool", observation.step.work.tool()));
    PipedOutput { observation: Observation { note, ..observation }, output: None }
}
