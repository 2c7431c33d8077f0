//! A question of the session as the permission that an editor asks its user for. Pure.

use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionId, ToolCall, ToolCallContent, ToolKind,
};
use serde_json::value::RawValue;

use super::tool_calls::{safe, tool_call};
use avocet_core::i18n::{Lang, LocalizedText, acp as phrases};
use avocet_core::protocol::{Ask, AskId, Change, Decision, Question, Step, StepQuestion};
use avocet_core::text::one_line;
use avocet_present::flow::{FlowStep, Press, QuestionFlow, Seen};
use avocet_present::question_lines::{question_lines, step_summary_lines};
use avocet_present::{ChoicePick, QuestionKind, Severity};

/// A question that the client shows.
#[derive(Debug)]
pub struct EditorQuestion {
    ask: Ask,
    flow: QuestionFlow,
    picks: Vec<ChoicePick>,
}

/// Lines that say what is asked about: the command, and its file where the diff shows it.
const SHOWN_AS_DIFF: usize = 2;

impl EditorQuestion {
    pub fn new(ask: Ask) -> EditorQuestion {
        let flow = QuestionFlow::new(&ask.question);
        let offer = &flow.offer;
        let is_offered = |pick: &ChoicePick| {
            kind_of(*pick).is_some()
                && !(offer.severity == Severity::HighRisk && pick.is_lasting())
                && !(offer.kind != QuestionKind::Pause && *pick == ChoicePick::Stop)
        };
        let picks = offer.choices.iter().map(|choice| choice.pick).filter(is_offered);
        let mut picks: Vec<ChoicePick> = picks.collect();
        let refuses = |pick: &ChoicePick| matches!(pick, ChoicePick::Reject | ChoicePick::Stop);
        if !picks.is_empty() && !picks.iter().any(refuses) {
            picks.push(ChoicePick::Reject);
        }
        EditorQuestion { ask, flow, picks }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    pub fn question(&self) -> &Question {
        &self.ask.question
    }

    /// The step that it is about, and its change of a file.
    pub fn step(&self) -> Option<(&Step, Option<&Change>)> {
        match &self.ask.question {
            Question::Step(asked) => Some((&asked.step, asked.change.as_ref())),
            _ => None,
        }
    }

    /// The answer where the client can give none: it shows choices only.
    pub fn unanswerable(&self) -> Option<Decision> {
        let remedy = || phrases::ONLY_CHOICES.into();
        self.picks.is_empty().then(|| Decision::NotAsked { remedy: remedy() })
    }

    pub fn request(&self, session: &SessionId, cwd: &str, lang: Lang) -> RequestPermissionRequest {
        let options = self.picks.iter().enumerate().filter_map(|(at, pick)| {
            let name = one_line(&safe(&self.label(*pick).text(lang)));
            Some(PermissionOption::new(at.to_string(), name, kind_of(*pick)?))
        });
        let call = self.tool_call(cwd, lang).into();
        RequestPermissionRequest::new(session.clone(), call, options.collect())
    }

    fn label(&self, pick: ChoicePick) -> LocalizedText {
        let offer = &self.flow.offer;
        match offer.choice(pick) {
            Some(choice) => offer.named(choice, choice.label),
            None => avocet_core::i18n::common::NO.into(),
        }
    }

    /// What it is about, as a call: a step has its own.
    pub fn tool_call(&self, cwd: &str, lang: Lang) -> ToolCall {
        let text = |texts: Vec<LocalizedText>| {
            let lines: Vec<String> = texts.iter().map(|say| safe(&say.text(lang))).collect();
            ToolCallContent::from(lines.join("\n"))
        };
        match &self.ask.question {
            Question::Step(asked) => {
                let mut call = tool_call(&asked.step, asked.change.as_ref(), cwd, lang);
                call.content.push(text(self.step_lines(asked)));
                call
            }
            question => {
                let mut lines = question_lines(question).into_iter();
                let title = lines.next().map(|line| line.text(lang)).unwrap_or_default();
                let content: Vec<LocalizedText> = lines.collect();
                let content = if content.is_empty() { Vec::new() } else { vec![text(content)] };
                ToolCall::new(self.call_id(), one_line(&safe(&title)))
                    .kind(ToolKind::Think)
                    .content(content)
            }
        }
    }

    pub fn call_id(&self) -> String {
        match &self.ask.question {
            Question::Step(asked) => asked.step.id.clone(),
            _ => format!("ask_{}", self.ask.id.0),
        }
    }

    /// The command or the diff is shown by itself.
    fn step_lines(&self, question: &StepQuestion) -> Vec<LocalizedText> {
        let step_question = StepQuestion { change: None, ..question.clone() };
        let skipped = if question.change.is_some() { SHOWN_AS_DIFF } else { 1 };
        let mut texts: Vec<LocalizedText> =
            step_summary_lines(&step_question).into_iter().skip(skipped).collect();
        if self.picks.contains(&ChoicePick::Session) {
            texts.extend(question.rule_covers.clone());
        }
        texts
    }

    /// The decision that an answer of the client means; one that chooses nothing changes nothing.
    pub fn decide(&mut self, answer: Option<&RawValue>) -> Decision {
        let answer = answer.and_then(|answer| {
            serde_json::from_str::<RequestPermissionResponse>(answer.get()).ok()
        });
        let chosen = answer.and_then(|answer| match answer.outcome {
            RequestPermissionOutcome::Selected(chosen) => chosen.option_id.0.parse().ok(),
            _ => None,
        });
        let picked = chosen.and_then(|at: usize| self.picks.get(at).copied());
        let Some(pick) = picked else { return self.flow.dismiss() };
        // An option names what it does, so that choosing it is deliberate.
        let press = match self.flow.offer.severity {
            Severity::HighRisk => Press::Letter,
            Severity::Plain => Press::Confirm,
        };
        if pick == ChoicePick::Reject {
            return self.flow.dismiss();
        }
        match self.flow.choose(pick, press, Seen::All) {
            FlowStep::Decided(decision) => decision,
            _ => self.flow.dismiss(),
        }
    }
}

/// What a choice is to the client; `None`: it takes more than choosing it.
fn kind_of(pick: ChoicePick) -> Option<PermissionOptionKind> {
    use ChoicePick as Pick;
    Some(match pick {
        Pick::Run | Pick::Continue | Pick::WithoutSandbox | Pick::Answer(_) => {
            PermissionOptionKind::AllowOnce
        }
        Pick::Reject | Pick::Stop => PermissionOptionKind::RejectOnce,
        // Each later step asks by itself.
        Pick::All | Pick::RejectWithReason | Pick::Edit | Pick::Each => return None,
        // The rest lasts.
        _ => PermissionOptionKind::AllowAlways,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{Risk, StepAction, Tier, TrustOffer};
    use serde_json::json;
    use serde_json::value::to_raw_value;

    fn question(tier: Tier) -> EditorQuestion {
        let work = StepAction::exec("cargo", &["test"]);
        let step = Step { id: "cmd_001".into(), work, requires: Default::default(), cwd: None };
        let risk = Risk { tier, rule: "r".into(), reasons: vec![], effects: vec![], lifted: false };
        let asked = StepQuestion {
            rule: Some("cargo test".into()),
            trust: Some(Box::new(TrustOffer::default())),
            ..StepQuestion::new(step, risk, "/work")
        };
        EditorQuestion::new(Ask { id: AskId(7), question: Question::Step(asked) })
    }

    fn kinds(question: &EditorQuestion) -> Vec<PermissionOptionKind> {
        let request = question.request(&SessionId::new("s"), "/work", Lang::En);
        request.options.into_iter().map(|option| option.kind).collect()
    }

    fn decide(tier: Tier, answer: serde_json::Value) -> Decision {
        question(tier).decide(Some(&to_raw_value(&answer).unwrap()))
    }

    fn selected(option: &str) -> serde_json::Value {
        json!({ "outcome": { "outcome": "selected", "optionId": option } })
    }

    #[test]
    fn a_step_is_allowed_once_or_always_or_rejected_and_a_grave_one_never_always() {
        use PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};
        let usual = [AllowOnce, AllowAlways, AllowAlways, AllowAlways, RejectOnce];
        assert_eq!(kinds(&question(Tier::L1)), usual);
        assert_eq!(kinds(&question(Tier::L2)), [AllowOnce, RejectOnce]);
        assert_eq!(decide(Tier::L1, selected("0")), Decision::Approve);
        assert_eq!(decide(Tier::L2, selected("0")), Decision::Approve);
        let session = Decision::Remember(avocet_core::protocol::ApprovalScope::Session);
        assert_eq!(decide(Tier::L1, selected("1")), session);
    }

    #[test]
    fn an_answer_that_chooses_nothing_rejects() {
        let rejected = Decision::Reject { word: None };
        for answer in [
            selected("9"),
            selected("run"),
            json!({ "outcome": { "outcome": "cancelled" } }),
            json!({}),
            json!(3),
        ] {
            assert_eq!(decide(Tier::L1, answer.clone()), rejected, "{answer}");
        }
        assert_eq!(question(Tier::L1).decide(None), rejected);
    }
}
