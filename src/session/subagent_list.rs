//! The running subagents as the session knows them: answers to their questions, and their ends.

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use avocet_core::protocol::{AskId, Decision, Usage};

/// A message about a subagent to the session.
#[derive(Debug)]
pub enum SubagentMessage {
    Started(RunningSubagent),
    Ended {
        agent: String,
        name: String,
        /// What the model reads of one in the background.
        result: String,
        usage: Usage,
    },
}

#[derive(Debug)]
pub struct RunningSubagent {
    pub agent: String,
    pub decisions: UnboundedSender<(AskId, Decision)>,
    pub cancel: CancellationToken,
    pub is_background: bool,
}

#[derive(Debug, Default)]
pub struct Subagents {
    running: Vec<RunningSubagent>,
}

impl Subagents {
    /// Returns what the model reads, with the next message, of one that ended in the background, and
    /// what it used.
    pub fn handle(&mut self, message: SubagentMessage) -> Option<(String, Usage)> {
        let (agent, name, result, usage) = match message {
            SubagentMessage::Started(subagent) => {
                self.running.push(subagent);
                return None;
            }
            SubagentMessage::Ended { agent, name, result, usage } => (agent, name, result, usage),
        };
        let at = self.running.iter().position(|subagent| subagent.agent == agent)?;
        let news = format!("The agent {name} ({agent}) ended:\n{result}");
        self.running.remove(at).is_background.then_some((news, usage))
    }

    /// Passes an answer on: each waits for its own question only.
    pub fn decide(&self, ask: AskId, decision: &Decision) {
        for subagent in &self.running {
            // One that ended meanwhile has no open questions.
            let _ = subagent.decisions.send((ask, decision.clone()));
        }
    }

    /// Stops those in the background; the others end with their turn.
    pub fn stop(&self) {
        let background = self.running.iter().filter(|subagent| subagent.is_background);
        background.for_each(|subagent| subagent.cancel.cancel());
    }
}
