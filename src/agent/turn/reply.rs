//! Handles the model's reply: shows a message, starts a list of steps, or asks once more for a
//! reply that cannot be read.

use super::{Batch, Turn, TurnAction, transcript};
use crate::agent::ModelAnswer;
use crate::i18n::agent as words;
use crate::protocol::reply::{ParsedReply, Proposal, Reply, ReplyRepair, read};
use crate::protocol::{Event, ModelMessage, Notice, Step, Truncation, TurnOutcome};
use crate::safety::{self, PolicyContext, Verdict};

impl Turn {
    pub(super) fn handle_reply(
        &mut self,
        answer: ModelAnswer,
        scene: PolicyContext<'_>,
    ) -> TurnAction {
        self.usage = self.usage.plus(answer.usage);
        let reading = read(&answer.text);
        if let Some(cut) = answer.cut {
            return self.handle_truncated(&reading, &answer.text, cut);
        }
        match reading {
            ParsedReply::Valid {
                reply: Reply::Chat { message, markdown, suggestions }, ..
            } => {
                self.transcript.add_chat(&message);
                self.emit_message(ModelMessage {
                    message,
                    markdown,
                    suggestions,
                    ..ModelMessage::default()
                });
                if self.steering.is_empty() {
                    self.end(TurnOutcome::Done)
                } else {
                    self.deliver_steering()
                }
            }
            ParsedReply::Valid { reply: Reply::Error { message }, .. } => {
                self.transcript.add_error(&message);
                self.emit_message(ModelMessage {
                    message,
                    error: true,
                    markdown: true,
                    ..ModelMessage::default()
                });
                self.end(TurnOutcome::Error)
            }
            ParsedReply::Valid {
                reply: Reply::Cmd { message, cwd, commands, expected },
                found,
            } => {
                let batch = Batch { why: message, expected, ..Batch::default() };
                self.start_batch(batch, cwd, commands, found, scene)
            }
            ParsedReply::Invalid { .. } | ParsedReply::Fallback { .. } => {
                self.handle_invalid(&reading, &answer.text)
            }
        }
    }

    fn emit_message(&mut self, replied: ModelMessage) {
        self.emit(Event::Replied(replied));
    }

    /// An incomplete reply is shown, and none of it is run.
    fn handle_truncated(
        &mut self,
        reading: &ParsedReply,
        text: &str,
        cut: Truncation,
    ) -> TurnAction {
        let message = transcript::readable_part(reading, text).unwrap_or_default();
        self.transcript.forget_repair();
        if !message.is_empty() {
            self.transcript.add_chat(&message);
        }
        self.emit_message(ModelMessage {
            message,
            markdown: true,
            cut: Some(cut),
            ..ModelMessage::default()
        });
        let why = match cut {
            Truncation::Cancelled => {
                self.transcript.add_cancelled();
                return self.end(TurnOutcome::Cancelled);
            }
            Truncation::Broken => words::CUT_BROKEN,
            Truncation::Length => words::CUT_LENGTH,
            Truncation::Filtered => words::CUT_FILTERED,
        };
        self.end(TurnOutcome::Failed { why: why.into() })
    }

    /// Asks once more. The second time, prose is taken as the intended answer; of a broken reply
    /// its message is shown, but the turn has failed.
    fn handle_invalid(&mut self, reading: &ParsedReply, text: &str) -> TurnAction {
        let fault = reading.error().unwrap_or_else(|| words::CUT_BROKEN.into());
        if !self.transcript.is_repairing() {
            self.transcript.add_repair(text, &fault);
            self.emit(Event::Repairing { fault });
            return self.call_model();
        }
        let message = transcript::readable_part(reading, text);
        if let Some(message) = message.clone() {
            self.transcript.add_chat(&message);
            self.emit_message(ModelMessage { message, markdown: true, ..ModelMessage::default() });
        }
        match (reading, message) {
            (ParsedReply::Fallback { .. }, Some(_)) => self.end(TurnOutcome::Done),
            _ => self.end(TurnOutcome::Failed { why: words::UNREADABLE.with("fault", fault) }),
        }
    }

    fn start_batch(
        &mut self,
        mut batch: Batch,
        cwd: Option<String>,
        commands: Vec<Proposal>,
        found: ReplyRepair,
        scene: PolicyContext<'_>,
    ) -> TurnAction {
        self.transcript.add_cmd(&batch.why, cwd.as_deref(), &commands);
        let message = batch.why.clone();
        self.emit_message(ModelMessage { message, markdown: true, ..ModelMessage::default() });
        for mut proposal in commands {
            // A repaired reply is never acted on without a question.
            proposal.requires.confirm |= found == ReplyRepair::Repaired;
            let id = format!("cmd_{:03}", self.next_step);
            self.next_step += 1;
            let cwd = cwd.clone();
            let Proposal { work, requires } = proposal;
            batch.todo.push_back(Step { id, work, requires, cwd });
        }
        batch.total = batch.todo.len();
        self.batch = batch;
        self.announce_refusal(scene);
        self.advance(scene)
    }

    /// Announces, before the first step runs, that a later one will be refused: it may matter to
    /// the user's decision about the first.
    fn announce_refusal(&mut self, scene: PolicyContext<'_>) {
        let refused =
            |step: &Step| matches!(safety::assess(step.clone(), scene), Verdict::Refuse(_));
        let ahead = self.batch.todo.iter().enumerate().skip(1).find(|(_, step)| refused(step));
        let Some((index, step)) = ahead else { return };
        let say = words::REFUSED_AHEAD
            .with("number", index + 1)
            .with("of", self.batch.total)
            .with("step", step.work.short_line());
        // If the first step itself is refused, the later ones do not matter.
        if !self.batch.todo.front().is_some_and(refused) {
            self.emit(Event::Notice(Notice::warning(say)));
        }
    }
}
