//! Answers questions of a headless turn according to its options.

use super::super::headless_effect::{
    HeadlessEffect, StderrLine, decide, not_asked, notice, pause_hint, template_command_line,
};
use super::super::shell_approval::TemplateApproval;
use super::{HeadlessTurn, Stop, TurnPhase};
use avocet_core::i18n::{LocalizedText, cli as w, prompt};
use avocet_core::protocol::{
    Ask, AskId, Decision, Notice, PlanItem, Question, Risk, Step, StepAction, StepQuestion,
    TemplateCommand,
};
use avocet_present::question_lines::{command_lines, question_lines};

impl HeadlessTurn<'_> {
    pub(super) fn on_question(&mut self, ask: &Ask) -> Vec<HeadlessEffect> {
        match &ask.question {
            Question::Step(StepQuestion { step, risk, trust, .. }) => {
                self.untrusted = trust.as_ref().map(|trust| trust.folder.clone());
                self.on_step_question(ask.id, step, risk)
            }
            Question::ScriptCall { text } if let Some(option) = self.options.approved.steps => {
                let line = w::SAID_YES.with("step", text.as_str()).with("why", w::SCRIPT_ASKS);
                let line = HeadlessEffect::Tell(StderrLine::Line(line.with("option", option)));
                vec![line, decide(ask.id, Decision::Approve)]
            }
            Question::Plan { items, .. } => self.on_plan(ask.id, items),
            Question::Choice { fallback: Some(index), choices, .. } => {
                let label = choices.get(*index).map_or("", String::as_str);
                let choice = w::FALLBACK.with("choice", label);
                let notice = match question_lines(&ask.question).into_iter().next() {
                    Some(said) => Notice::info(said).with_hint(choice),
                    None => Notice::info(choice),
                };
                let answer = Decision::Choose { index: *index };
                vec![HeadlessEffect::Tell(StderrLine::Notice(notice)), decide(ask.id, answer)]
            }
            Question::Choice { .. } | Question::Form { .. } | Question::ScriptCall { .. } => {
                let said = question_lines(&ask.question).into_iter().next();
                let notice = Notice::info(said.unwrap_or_else(|| w::NOBODY_ANSWERS.into()));
                vec![
                    HeadlessEffect::Tell(StderrLine::Notice(notice.with_hint(w::NOBODY_ANSWERS))),
                    decide(ask.id, not_asked(w::NOBODY_ANSWERS)),
                ]
            }
            Question::Pieces { of, cwd, pieces } => {
                self.on_template_question(ask, (of, cwd), pieces)
            }
            // No user can inspect a folder.
            Question::Trust { .. } => vec![decide(ask.id, Decision::Reject { word: None })],
            Question::Pause { why } => {
                self.stop = Stop::Paused;
                let notice = Notice::warning(why.clone()).with_hint(pause_hint(why));
                vec![
                    HeadlessEffect::Tell(StderrLine::Notice(notice)),
                    decide(ask.id, Decision::Stop),
                ]
            }
        }
    }

    /// Without a user the plan is the answer, unless the command line approves its steps.
    fn on_plan(&mut self, ask: AskId, items: &[PlanItem]) -> Vec<HeadlessEffect> {
        if let Some(option) = self.options.approved.steps {
            let line = HeadlessEffect::Tell(StderrLine::Line(w::PLAN_TAKEN.with("option", option)));
            return vec![line, decide(ask, Decision::Approve)];
        }
        self.stop = Stop::Planned;
        self.plan = items.iter().map(PlanItem::line).collect::<Vec<_>>().join("\n");
        vec![decide(ask, Decision::Reject { word: None })]
    }

    /// The option approves steps that ask by default, not steps that a setting lowered from L2.
    /// Nor does it hand out a credential, unless the other option names that.
    fn on_step_question(&self, ask: AskId, step: &Step, risk: &Risk) -> Vec<HeadlessEffect> {
        let approved = self.options.approved;
        let Some(option) = approved.steps.filter(|_| approved.covers(risk, &step.work)) else {
            return self.decline_step(ask, step, risk);
        };
        let why = risk.main_reason().cloned().unwrap_or_else(|| w::NO_REASON.into());
        let line = w::SAID_YES.with("step", step.work.command_line()).with("why", why);
        let line = line.with("option", option);
        // Only a user opens what a question names outside.
        let decision = if approved.all {
            Decision::Approve
        } else {
            Decision::ApproveAll { steps: Vec::new() }
        };
        vec![HeadlessEffect::Tell(StderrLine::Line(line)), decide(ask, decision)]
    }

    /// Nobody approves the step. If it reads a file of the message, the message is not sent: without
    /// the file it would be another one.
    fn decline_step(&self, ask: AskId, step: &Step, risk: &Risk) -> Vec<HeadlessEffect> {
        let is_file = matches!(step.work, StepAction::Tool { .. });
        if self.phase != TurnPhase::Message || !is_file {
            return vec![decide(ask, not_asked(self.decline_hint(step, risk)))];
        }
        let why = risk.main_reason().cloned().unwrap_or_else(|| w::NO_REASON.into());
        let say = w::UNSENT_FILE.with("step", step.work.command_line()).with("why", why);
        let mut effects = notice(Notice::error(say).with_hint(self.decline_hint(step, risk)));
        effects.push(decide(ask, Decision::Stop));
        effects
    }

    /// How a step like this one is approved.
    pub(super) fn decline_hint(&self, step: &Step, risk: &Risk) -> LocalizedText {
        match &self.untrusted {
            _ if risk.can_expose_secrets(&step.work) => w::STEP_SECRET_HINT.into(),
            _ if risk.edits_outside(&step.work) => w::STEP_OUTSIDE_HINT.into(),
            Some(folder) => w::STEP_UNTRUSTED_HINT.with("folder", folder.as_str()),
            None if self.phase == TurnPhase::Message => w::UNSENT_FILE_HINT.into(),
            None => w::STEP_DECLINED_HINT.into(),
        }
    }

    /// The shell commands of a template. A user at the terminal is asked about each one that `-y`
    /// does not approve. Without a user, each is reported, and `-y` does not approve a command of
    /// high risk: without its output the message would be another one.
    fn on_template_question(
        &mut self,
        ask: &Ask,
        (of, cwd): (&str, &str),
        commands: &[TemplateCommand],
    ) -> Vec<HeadlessEffect> {
        if self.options.has_user
            && let Some(asking) = TemplateApproval::new(ask.id, commands, self.options.approved)
        {
            let question = asking.question();
            self.approval = Some(asking);
            let says = command_lines(of, cwd, commands).into_iter();
            let told = says.map(|say| HeadlessEffect::Tell(StderrLine::Question(say)));
            return told.chain([HeadlessEffect::Ask(question)]).collect();
        }
        let mut effects: Vec<HeadlessEffect> =
            commands.iter().flat_map(|piece| template_command_line(of, piece)).collect();
        let approved = self.options.approved;
        let is_grave =
            |command: &&TemplateCommand| !approved.all && !command.can_preapprove(approved.secrets);
        let grave = commands.iter().find(is_grave);
        match (self.options.approved.template_commands, grave) {
            (true, None) => {
                let steps = commands.iter().map(|piece| piece.id.clone()).collect();
                effects.push(decide(ask.id, Decision::ApproveAll { steps }));
                return effects;
            }
            (true, Some(grave)) => {
                let line = avocet_core::text::escape(&grave.line).text;
                let say = prompt::PIECE_NOT_BY_FLAG.with("line", line);
                effects
                    .extend(notice(Notice::error(say).with_hint(prompt::PIECE_NOT_BY_FLAG_HINT)));
            }
            (false, _) => effects.extend(notice(
                Notice::error(prompt::PIECES_NEED_YES.with("of", of))
                    .with_hint(prompt::PIECES_NEED_YES_HINT),
            )),
        }
        effects.push(decide(ask.id, Decision::Reject { word: None }));
        effects
    }
}
