//! The steps of one reply: what is still to run, what became of the others, and what the user was
//! asked and approved.

use std::collections::VecDeque;

use super::hook_answers::BatchAdvice;
use super::log::TurnLog;
use super::preapproval::Preapproved;
use super::transcript::not_run_observation;
use avocet_core::i18n::{LocalizedText, Phrase, agent as phrases};
use avocet_core::protocol::{
    Event, Notice, Observation, Outcome, Requires, SandboxDenial, Step, StepAction, StepQuestion,
    Tier,
};
use avocet_safety::{self as safety, Judgement, NeedsApproval, PolicyContext, Verdict};

/// Numbers the steps of a turn.
#[derive(Debug)]
pub(super) struct StepIds {
    /// The subagent whose steps they are, by the step that began it.
    pub agent: Option<String>,
    pub next: u64,
}

impl StepIds {
    pub fn take(&mut self) -> String {
        let before = self.agent.as_deref().unwrap_or("cmd");
        self.next += 1;
        format!("{before}_{:03}", self.next - 1)
    }
}

#[derive(Debug, Default)]
pub(super) struct StepBatch {
    pub todo: VecDeque<Step>,
    pub observations: Vec<Observation>,
    pub preapproved: Preapproved,
    pub why: String,
    pub expected: String,
    pub total: usize,
    /// The steps that the user was asked about.
    pub asked: Vec<String>,
    /// The step that checks the changes of the list.
    pub check_id: Option<String>,
    /// The steps that would keep a change that was put back.
    pub keeping: Vec<String>,
    pub advice: BatchAdvice,
}

impl StepBatch {
    pub fn keeps_change(&self, judged: &Judgement) -> bool {
        self.keeping.contains(&judged.step.id)
    }

    /// Whether the user is to decide about a step, whatever it is.
    pub fn has_to_ask(&self, judged: &Judgement) -> bool {
        self.keeps_change(judged) || self.advice.asks(judged)
    }

    /// The question about a step of the reply, by itself. Only steps that ask are counted.
    pub fn question(&mut self, judged: &Judgement) -> StepQuestion {
        if !self.asked.contains(&judged.step.id) {
            self.asked.push(judged.step.id.clone());
        }
        StepQuestion {
            why: self.why.clone(),
            expected: self.expected.clone(),
            number: self.asked.len(),
            of: self.asked.len(),
            ..judged.question()
        }
    }

    pub fn record(&mut self, mut observation: Observation, log: &mut TurnLog) {
        self.advice.add_context(&mut observation);
        log.emit(Event::StepFinished(Box::new(observation.clone())));
        self.observations.push(observation);
    }

    pub fn record_not_run(
        &mut self,
        judged: &Judgement,
        outcome: Outcome,
        text: Option<LocalizedText>,
        log: &mut TurnLog,
    ) {
        let mut seen = not_run_observation(judged, outcome, text);
        log.count(&mut seen);
        self.record(seen, log);
    }

    /// Records a step that does not run, and with it ends the list.
    pub fn break_off(
        &mut self,
        mut not_run: Observation,
        cx: PolicyContext<'_>,
        log: &mut TurnLog,
    ) {
        log.count(&mut not_run);
        self.record(not_run, log);
        self.skip_rest(phrases::SKIPPED, cx, log);
    }

    /// A call whose form is wrong: the model reads what is wrong, the form, and an example. The
    /// other steps of the reply do not depend on it.
    pub fn record_fault(&mut self, judged: &Judgement, text: LocalizedText, log: &mut TurnLog) {
        let mut seen = not_run_observation(judged, Outcome::NotStarted, Some(text));
        seen.stdout = safety::tools::describe_form(judged.step.work.tool());
        log.count(&mut seen);
        self.record(seen, log);
    }

    /// What the user answered to a step that is a question of the model.
    pub fn record_answer(
        &mut self,
        judged: &Judgement,
        text: String,
        localized_text: Option<LocalizedText>,
        log: &mut TurnLog,
    ) {
        let mut observation = Observation {
            exit_code: Some(0),
            stdout: text,
            ..not_run_observation(judged, Outcome::Ran, localized_text)
        };
        log.count(&mut observation);
        self.record(observation, log);
    }

    /// Skips the rest of the list, and tells the model so. About a change that was put back the user
    /// is asked all the same.
    pub fn skip_rest(&mut self, why: Phrase, cx: PolicyContext<'_>, log: &mut TurnLog) {
        let keeping = &self.keeping;
        let (kept, rest) =
            std::mem::take(&mut self.todo).into_iter().partition(|step| keeping.contains(&step.id));
        self.todo = kept;
        self.skip(rest, &why.into(), cx, log);
    }

    /// Skips the steps that run only because of a batch approval.
    pub fn skip_approved(&mut self, why: &LocalizedText, cx: PolicyContext<'_>, log: &mut TurnLog) {
        let todo = std::mem::take(&mut self.todo);
        let (skipped, rest) = todo.into_iter().partition(|step| self.preapproved.needs(step));
        self.todo = rest;
        self.skip(skipped, why, cx, log);
    }

    /// Skips all of the list. Returns the results so far.
    pub fn stop(&mut self, cx: PolicyContext<'_>, log: &mut TurnLog) -> Vec<Observation> {
        let rest = std::mem::take(&mut self.todo);
        self.skip(rest, &phrases::CANCELLED.into(), cx, log);
        std::mem::take(&mut self.observations)
    }

    fn skip(
        &mut self,
        steps: VecDeque<Step>,
        why: &LocalizedText,
        cx: PolicyContext<'_>,
        log: &mut TurnLog,
    ) {
        for step in steps {
            let verdict = safety::assess(step, cx);
            let judged = verdict.judgement();
            let why = Some(why.clone());
            self.record(not_run_observation(judged, Outcome::Cancelled, why), log);
        }
    }

    /// A reason to skip the other steps of a batch approval because this one failed: the user who
    /// approved tests and a commit expected the tests to pass.
    pub fn failed_approval(&self, observation: &Observation) -> Option<LocalizedText> {
        let is_approved = !self.preapproved.is_empty() && observation.risk.tier > Tier::L0;
        let has_failed = observation.exit_code.is_some_and(|code| code != 0);
        let why = || phrases::SKIPPED_TOGETHER.with("step", observation.step.work.short_line());
        (is_approved && has_failed).then(why)
    }

    /// Announces, before the first step runs, that a later one will be refused: it may matter to
    /// the user's decision about the first.
    pub fn announce_refusal(&self, context: PolicyContext<'_>, log: &mut TurnLog) {
        let refused =
            |step: &Step| matches!(safety::assess(step.clone(), context), Verdict::Refuse(_));
        let ahead = self.todo.iter().enumerate().skip(1).find(|(_, step)| refused(step));
        let Some((index, step)) = ahead else { return };
        let say = phrases::REFUSED_AHEAD
            .with("number", index + 1)
            .with("of", self.total)
            .with("step", step.work.short_line());
        // If the first step itself is refused, the later ones do not matter.
        if !self.todo.front().is_some_and(refused) {
            log.emit(Event::Notice(Notice::warning(say)));
        }
    }

    /// The project's check as a step, if the list has changed a file and the check has not run
    /// since. It is judged like any other.
    pub fn check_step(
        &mut self,
        check: Option<&StepAction>,
        ids: &mut StepIds,
        log: &mut TurnLog,
    ) -> Option<Step> {
        let work = check?.clone();
        let changed =
            |observation: &Observation| observation.change.is_some() && observation.succeeded();
        if self.check_id.is_some() || !self.observations.iter().any(changed) {
            return None;
        }
        let id = ids.take();
        self.total += 1;
        self.check_id = Some(id.clone());
        (self.why, self.expected) = (String::new(), String::new());
        let say = phrases::CHECKS.with("command", work.short_line());
        log.emit(Event::Notice(Notice::info(say)));
        Some(Step { id, work, requires: Requires::default(), cwd: None })
    }

    /// Tells the model that a result is from the check, which it did not request.
    pub fn mark_check(&self, observation: &mut Observation) {
        if self.check_id.as_ref() == Some(&observation.step.id) && observation.note.is_none() {
            observation.note = Some(phrases::CHECKED.into());
        }
    }
}

/// The step to run again, if an approved one was denied something.
pub(super) fn step_to_retry(
    observation: &Observation,
    is_running: bool,
    ids: &mut StepIds,
    cx: PolicyContext<'_>,
) -> Option<(NeedsApproval, SandboxDenial)> {
    let denied = observation.denied.clone().filter(SandboxDenial::is_offered)?;
    if observation.risk.tier == Tier::L0 || !is_running {
        return None;
    }
    let step = Step { id: ids.take(), ..observation.step.clone() };
    let held = safety::assess(step, cx).into_needs_approval()?;
    Some((held, denied))
}

/// For each file that was put back after a step, the one that writes it again: the question about
/// it shows the change.
pub(super) fn steps_that_keep(observation: &Observation, ids: &mut StepIds) -> Vec<Step> {
    let write = |(path, text): &(String, String)| {
        let id = ids.take();
        let input = serde_json::json!({ "path": path, "content": text });
        let tool = StepAction::Tool { name: "file.write".to_owned(), input };
        Step { id, work: tool, requires: Requires::default(), cwd: None }
    };
    observation.put_back.iter().map(write).collect()
}
