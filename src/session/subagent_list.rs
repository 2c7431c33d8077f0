//! The running subagents as the session knows them: answers to their questions, what the user asks of
//! one, and their results.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::agent::Steering;
use avocet_core::i18n::{LocalizedText, agents as phrases};
use avocet_core::protocol::{
    AgentRequest, AskId, BackgroundAgents, Decision, Outcome, SubagentInfo, Usage,
};

/// How long those in the background may take to end before the session closes.
const END_TIMEOUT: Duration = Duration::from_secs(4);

/// A message about a subagent to the session.
#[derive(Debug)]
pub enum SubagentMessage {
    Started(Box<RunningSubagent>),
    Ended {
        agent: String,
        outcome: Outcome,
        /// What the model reads of one in the background.
        result: String,
        usage: Usage,
        /// Messages of the user that it read.
        steered: usize,
    },
}

#[derive(Debug)]
pub struct RunningSubagent {
    pub info: SubagentInfo,
    pub decisions: UnboundedSender<(AskId, Decision)>,
    pub steering: UnboundedSender<Steering>,
    pub cancel: CancellationToken,
    /// Cancelled once it ended.
    pub ended: CancellationToken,
    /// Messages of the user to it.
    pub steered: usize,
}

#[derive(Debug, Default)]
pub struct Subagents {
    running: Vec<RunningSubagent>,
    /// What the model has not read of those that ended in the background, and whether the user
    /// stopped it.
    results: Vec<(String, Outcome)>,
}

impl Subagents {
    pub fn counts(&self) -> BackgroundAgents {
        let running = self.running.iter().filter(|subagent| subagent.info.background).count();
        // What the user stopped is not a reason to go on.
        let is_unread = |(_, outcome): &&(String, Outcome)| *outcome != Outcome::Cancelled;
        BackgroundAgents { running, unread: self.results.iter().filter(is_unread).count() }
    }

    /// What the model reads before its next request.
    pub fn take_results(&mut self) -> String {
        self.results.drain(..).map(|(result, _)| format!("\n\n[{result}]")).collect()
    }

    pub fn add(&mut self, subagent: RunningSubagent) {
        self.running.push(subagent);
    }

    pub fn add_result(&mut self, result: String, outcome: Outcome) {
        self.results.push((result, outcome));
    }

    pub fn remove(&mut self, agent: &str) -> Option<RunningSubagent> {
        let at = self.running.iter().position(|subagent| subagent.info.agent == agent)?;
        Some(self.running.remove(at))
    }

    pub fn handle_request(
        &mut self,
        agent: &str,
        request: AgentRequest,
    ) -> Result<(), LocalizedText> {
        let mut running = self.running.iter_mut();
        let is_meant = |info: &SubagentInfo| info.agent == agent || info.name == agent;
        let subagent = running.find(|subagent| is_meant(&subagent.info));
        let subagent = subagent.ok_or(phrases::HAS_ENDED)?;
        match request {
            AgentRequest::Stop => subagent.cancel.cancel(),
            AgentRequest::Steer { text } => {
                subagent.steered += 1;
                // If it ends first, the session says so.
                let _ = subagent.steering.send(Steering { submit: None, text });
            }
        }
        Ok(())
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
        let background = self.running.iter().filter(|subagent| subagent.info.background);
        background.for_each(|subagent| subagent.cancel.cancel());
    }

    /// Ends those in the background and waits, but not for long. Nothing is left of them.
    pub async fn stop_all(&mut self) {
        self.stop();
        let ended = async {
            for subagent in self.running.drain(..).filter(|subagent| subagent.info.background) {
                subagent.ended.cancelled().await;
            }
        };
        let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
        self.results.clear();
    }
}
