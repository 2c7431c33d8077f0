//! What the running subagents do, one line each, from the events of a session.

use avocet_core::i18n::{LocalizedText, PhraseValue, agents as phrases};
use avocet_core::protocol::{Event, SubagentInfo};

use super::outcome::step_title;

/// One subagent: what it does now, and what it has used.
#[derive(Clone, Debug, PartialEq)]
pub struct SubagentLine {
    pub agent: String,
    name: String,
    doing: PhraseValue,
    steps: usize,
    tokens: u64,
}

impl SubagentLine {
    pub fn text(&self) -> LocalizedText {
        phrases::ROW
            .with("name", self.name.as_str())
            .with("doing", self.doing.clone())
            .with("steps", self.steps)
            .with("tokens", self.tokens.to_string())
    }
}

/// That a subagent began, and with what.
pub fn started(info: &SubagentInfo) -> LocalizedText {
    phrases::STARTED
        .with("name", info.name.as_str())
        .with("about", info.about.as_str())
        .with("model", info.model.as_str())
}

/// The running subagents.
#[derive(Clone, Debug, Default)]
pub struct SubagentProgress(Vec<SubagentLine>);

impl SubagentProgress {
    /// The line that an event changes.
    pub fn apply(&mut self, event: &Event) -> Option<&SubagentLine> {
        let (agent, tokens, happened) = match event {
            Event::SubagentStarted(info) => {
                self.0.push(SubagentLine {
                    agent: info.agent.clone(),
                    name: info.name.clone(),
                    doing: info.about.as_str().into(),
                    steps: 0,
                    tokens: 0,
                });
                return self.0.last();
            }
            Event::Subagent { agent, tokens, happened } => (agent, *tokens, &**happened),
            _ => return None,
        };
        if matches!(happened, Event::TurnEnded { .. }) {
            self.0.retain(|line| line.agent != *agent);
            return None;
        }
        let line = self.0.iter_mut().find(|line| line.agent == *agent)?;
        line.tokens = tokens;
        if let Event::StepStarted { step, .. } = happened {
            line.steps += 1;
            line.doing = step_title(&step.work);
        }
        Some(line)
    }
}
