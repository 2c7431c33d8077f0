//! What subagents do, one line each, from the events of a session.

use avocet_core::i18n::{LocalizedText, PhraseValue, agents as phrases};
use avocet_core::protocol::{Event, SubagentInfo, TurnOutcome};
use avocet_core::text;

use super::outcome::step_title;

/// Steps of one that are written where lines only follow each other.
const MAX_STEPS: usize = 20;
/// Characters of a result there.
const MAX_RESULT: usize = 1_000;

/// One subagent: what it does now, what it has used, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SubagentLine {
    pub info: SubagentInfo,
    doing: Option<PhraseValue>,
    steps: usize,
    tokens: u64,
    last_message: String,
    /// How it ended, and its time in milliseconds; `None`: it runs.
    pub end: Option<(TurnOutcome, u64)>,
}

impl SubagentLine {
    pub fn new(info: &SubagentInfo) -> SubagentLine {
        let info = info.clone();
        let last_message = String::new();
        SubagentLine { info, doing: None, steps: 0, tokens: 0, last_message, end: None }
    }

    /// Takes what happened in its turn.
    pub fn apply(&mut self, tokens: u64, happened: &Event) {
        self.tokens = tokens;
        match happened {
            Event::StepStarted { step, .. } => {
                self.steps += 1;
                self.doing = Some(step_title(&step.work));
            }
            Event::Replied(message) => {
                self.last_message = text::cut(&message.message, MAX_RESULT);
            }
            Event::TurnEnded { ending, elapsed_ms, .. } => {
                self.end = Some((ending.clone(), *elapsed_ms));
            }
            _ => {}
        }
    }

    pub fn is_running(&self) -> bool {
        self.end.is_none()
    }

    /// `explore: Reading src/cart.rs`; at its end, what it was to do.
    pub fn title(&self) -> LocalizedText {
        let doing = self.doing.clone().filter(|_| self.is_running());
        phrases::TITLE_OF_ONE
            .with("name", self.info.name.as_str())
            .with("doing", doing.unwrap_or_else(|| self.info.about.as_str().into()))
    }

    /// `3 steps, 2.1k tokens`.
    pub fn counts(&self) -> LocalizedText {
        phrases::COUNTS.with("n", self.steps).with("tokens", text::format_count(self.tokens))
    }

    /// What it really got: `qwen3-coder, mode ask, in `/w``, and its tools if it has not all.
    pub fn given(&self) -> LocalizedText {
        let SubagentInfo { model, effort, mode, tools, folder, .. } = &self.info;
        let effort = effort.map(|effort| format!(" ({})", effort.name())).unwrap_or_default();
        let given = phrases::GIVEN
            .with("model", format!("{model}{effort}"))
            .with("mode", mode.label())
            .with("folder", folder.as_str());
        match tools {
            Some(tools) => {
                phrases::GIVEN_TOOLS.with("given", given).with("names", tools.join(", "))
            }
            None => given,
        }
    }

    pub fn text(&self) -> LocalizedText {
        phrases::ROW.with("title", self.title()).with("counts", self.counts())
    }

    /// Why it has no result, once it ended without one.
    pub fn failure(&self) -> Option<LocalizedText> {
        self.end.as_ref().and_then(|(ending, _)| ending.agent_failure(&self.info.name))
    }

    /// That it ended, and the result of one in the background.
    pub fn ended(&self) -> LocalizedText {
        let ended = |say: LocalizedText| say.with("name", self.info.name.as_str());
        let ended = self
            .failure()
            .unwrap_or_else(|| ended(phrases::ENDED.into()).with("counts", self.counts()));
        let result = Some(text::one_line(&self.last_message)).filter(|_| self.info.background);
        match result.filter(|result| !result.is_empty()) {
            Some(result) => phrases::WITH_RESULT.with("ended", ended).with("result", result),
            None => ended,
        }
    }
}

/// That a subagent began, and with what.
pub fn started(info: &SubagentInfo) -> LocalizedText {
    phrases::STARTED
        .with("n", info.number())
        .with("name", info.name.as_str())
        .with("about", info.about.as_str())
        .with("model", info.model.as_str())
}

/// The running subagents.
#[derive(Clone, Debug, Default)]
pub struct SubagentProgress(Vec<SubagentLine>);

impl SubagentProgress {
    /// The line that an event changes. It is forgotten after its end.
    pub fn apply(&mut self, event: &Event) -> Option<&SubagentLine> {
        self.0.retain(SubagentLine::is_running);
        match event {
            Event::SubagentStarted(info) => {
                self.0.push(SubagentLine::new(info));
                self.0.last()
            }
            Event::Subagent { agent, tokens, happened } => {
                let line = self.0.iter_mut().find(|line| line.info.agent == *agent)?;
                line.apply(*tokens, happened);
                Some(line)
            }
            _ => None,
        }
    }

    /// What is written of an event where lines only follow each other.
    pub fn report(&mut self, event: &Event) -> Option<LocalizedText> {
        let line = self.apply(event)?;
        let name = line.info.name.as_str();
        match event.of_any_agent() {
            Event::SubagentStarted(info) => Some(started(info)),
            Event::StepStarted { .. } if line.steps <= MAX_STEPS => Some(line.title()),
            Event::StepStarted { .. } if line.steps == MAX_STEPS + 1 => {
                Some(phrases::MORE_STEPS.with("name", name))
            }
            Event::Steered { text, .. } => {
                Some(phrases::STEERED.with("name", name).with("text", text::one_line(text)))
            }
            Event::TurnEnded { .. } => Some(line.ended()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;
    use avocet_core::protocol::{ModelMessage, Risk, Step, StepAction, Tier, Usage};

    fn of(happened: Event) -> Event {
        Event::Subagent { agent: "cmd_007".into(), tokens: 2_150, happened: Box::new(happened) }
    }

    fn begins() -> Event {
        let work = StepAction::Exec { program: "ls".into(), args: Vec::new() };
        let step = Step { id: "x".into(), work, requires: Default::default(), cwd: None };
        let rule = String::new();
        let reasons = Vec::new();
        let effects = Vec::new();
        let risk = Risk { tier: Tier::L0, rule, reasons, effects, lifted: false };
        of(Event::StepStarted { step, risk })
    }

    fn ends(ending: TurnOutcome) -> Event {
        of(Event::TurnEnded { turn: 1, ending, usage: Usage::default(), elapsed_ms: 5 })
    }

    fn started(background: bool) -> (SubagentProgress, Vec<String>) {
        let info = SubagentInfo {
            agent: "cmd_007".into(),
            name: "explore".into(),
            about: "Look".into(),
            model: "m".into(),
            background,
            ..SubagentInfo::default()
        };
        let mut progress = SubagentProgress::default();
        let said = progress.report(&Event::SubagentStarted(Box::new(info)));
        (progress, said.map(|say| say.text(Lang::En)).into_iter().collect())
    }

    #[test]
    fn the_steps_of_an_agent_are_listed_up_to_a_limit_and_its_end_counts_them() {
        let (mut progress, mut said) = started(false);
        let events = (0..40).map(|_| begins()).chain([ends(TurnOutcome::Done)]);
        said.extend(events.filter_map(|event| Some(progress.report(&event)?.text(Lang::En))));
        assert_eq!(said[0], "Agent 7: `explore` (m) begins: Look");
        assert_eq!(said[1], "explore: ls");
        assert_eq!(said[21], "explore: further steps are not listed.");
        assert_eq!(said[22], "The agent `explore` ended: 40 steps, 2.1k tokens.");
        assert_eq!(said.len(), 23);
        assert_eq!(progress.report(&begins()), None, "nothing follows its end");
    }

    #[test]
    fn the_end_of_an_agent_in_the_background_has_its_result() {
        let (mut progress, _) = started(true);
        let message = ModelMessage { message: "Two\ncallers.".into(), ..ModelMessage::default() };
        progress.report(&of(Event::Replied(message)));
        let ended = progress.report(&ends(TurnOutcome::Cancelled)).unwrap();
        assert_eq!(ended.text(Lang::En), "The user stopped the agent `explore`. Two callers.");
    }
}
