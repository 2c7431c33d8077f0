//! Turns a prompt into one user message: asks about its shell commands together and runs them,
//! reads the files it names, and inserts the results in their places. Then the turn goes on like
//! any other; if a shell command failed, nothing is sent to a model.
//!
//! The inserted results are plain text. They are never parsed as a template again: a part of a
//! prompt becomes a string, and a string never becomes a part.

use std::sync::Arc;

use super::attachments::{self, ReadAttachments};
use super::expansion_stop::ExpansionStop;
use super::mcp_requests::ServerRequests;
use super::shell_turn;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use super::wall;
use crate::agent::turn::TurnStart;
use crate::context::history::TurnRecord;
use avocet_core::i18n::prompt as phrases;
use avocet_core::protocol::{
    AttachmentInfo, Decision, Event, Image, Notice, Observation, Outcome, PastedImage, Prompt,
    PromptPart, PromptSource, PromptTemplateKind, Question, Step, TemplateCommand, Topic,
    TurnOrigin, TurnOutcome, Usage,
};
use avocet_safety::{self as safety, ClearedStep, NeedsApproval, Policy, ToolRestriction, Verdict};
use avocet_tools::attachments::block;
use avocet_tools::{PipedOutput, ShellInput};

/// What to do with the expanded prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterExpansion {
    Send,
    /// It is shown, and no model is asked.
    Render,
}

/// The text that replaces a shell command that was not allowed.
const LEFT_OUT: &str = "[the user did not allow this command to run: {line}]";
/// How much of a failed command's error output is shown, in bytes.
const TAIL: usize = 400;

/// Expands the prompt and runs the turn with it. `start` contains everything except the message.
pub async fn run(
    prompt: Prompt,
    origin: TurnOrigin,
    start: TurnStart,
    expansion: AfterExpansion,
    mut scope: TurnScope,
) -> FinishedTurn {
    if let ([PromptPart::Program(words), ..], AfterExpansion::Send) = (&*prompt.parts, expansion) {
        return shell_turn::run_program(prompt.shown, words, scope).await;
    }
    scope.begin(prompt.shown.clone(), origin);
    let source = prompt.source.clone();
    let ending = match (expand(&mut scope, prompt, expansion).await, expansion) {
        (Ok((text, images)), AfterExpansion::Send) => {
            if let Some(source) = source {
                apply_source(&mut scope, source, &text);
            }
            return scope.drive(start, text, images).await;
        }
        (Ok((text, images)), AfterExpansion::Render) => {
            scope.events.emit(Event::Rendered { text, images }).await;
            TurnOutcome::Done
        }
        (Err(ExpansionStop::Cancelled), _) => TurnOutcome::Cancelled,
        (Err(ExpansionStop::Stopped), _) => TurnOutcome::Stopped,
        (Err(ExpansionStop::Unsent(why)), _) => TurnOutcome::Unsent { why },
    };
    scope.end(ending, TurnRecord::default(), Usage::default()).await
}

/// The user entered a skill: it stays in view. The tools that it or a command names limit the turn.
fn apply_source(scope: &mut TurnScope, source: PromptSource, text: &str) {
    if source.kind == PromptTemplateKind::Skill {
        scope.enter_skill(&source.name, text);
    }
    if !source.tools.is_empty() {
        scope.restrict_tools(Some(ToolRestriction { skill: source.name, tools: source.tools }));
    }
}

/// The message, and the images that go with it.
async fn expand(
    scope: &mut TurnScope,
    prompt: Prompt,
    expansion: AfterExpansion,
) -> Result<(String, Vec<Image>), ExpansionStop> {
    let input: ShellInput = prompt.input.clone().unwrap_or_default().into();
    let outputs = PromptCommands { scope, input }.run(&prompt).await?;
    let mut outputs = outputs.into_iter();
    let mut reading = ReadAttachments::default();
    let mut text = String::new();
    for part in prompt.parts {
        match part {
            PromptPart::Text(words) => text.push_str(&words),
            PromptPart::Program(words) => text.push_str(&words.join(" ")),
            PromptPart::Shell(_) => text.push_str(&outputs.next().unwrap_or_default()),
            PromptPart::Mention { text: words, mention } => {
                text.push_str(&words);
                reading.attach(scope, &mention).await?;
            }
            PromptPart::Image(pasted) => reading.attach_image(scope, pasted).await,
            PromptPart::ServerPrompt(call) => {
                let (given, images) = ServerRequests::of(scope).prompt(&call).await?;
                text.push_str(&given);
                for image in images {
                    reading.add(scope, image).await;
                }
            }
            PromptPart::File { mention, masked } => {
                text.push_str(&mention.path);
                reading.images.push(attachments::read_file(scope, &mention, masked).await?);
            }
            PromptPart::Insert(mention) => {
                let read = attachments::read_inserted(scope, &mention).await?;
                if let Some(image) = read.image {
                    text.push_str(&read.attached.name);
                    let AttachmentInfo { name, size, .. } = read.attached;
                    reading.attach_image(scope, PastedImage { name, size, image }).await;
                    continue;
                }
                text.push_str(read.text.strip_suffix('\n').unwrap_or(&read.text));
                reading.attached.push(read.attached);
            }
        }
    }
    for attachment in &reading.blocks {
        text.push_str("\n\n");
        text.push_str(&block(attachment));
    }
    if expansion == AfterExpansion::Send
        && let Some(why) = reading.refusal(scope).await
    {
        return Err(ExpansionStop::Unsent(why));
    }
    let images = reading.images;
    if !reading.attached.is_empty() {
        let shown = images.iter().cloned().map(Arc::new).collect();
        scope.events.emit(Event::Attached { items: reading.attached, images: shown }).await;
    }
    if text.trim().is_empty() {
        Err(ExpansionStop::Unsent(phrases::NOTHING_LEFT.into()))
    } else {
        Ok((text, images))
    }
}

/// The shell commands of a prompt, and what they read from standard input.
struct PromptCommands<'a> {
    scope: &'a mut TurnScope,
    input: ShellInput,
}

impl PromptCommands<'_> {
    /// The replacement of each shell command, in order.
    async fn run(&mut self, prompt: &Prompt) -> Result<Vec<String>, ExpansionStop> {
        if prompt.shell_lines().next().is_some() {
            self.scope.await_sandbox_status().await;
        }
        let mut held = Vec::new();
        for line in prompt.shell_lines() {
            let id = self.scope.next_step_id();
            match safety::assess_template_command(&id, line, self.scope.policy_context()) {
                Verdict::Ask(piece) => held.push(piece),
                Verdict::Run(_) | Verdict::Refuse(_) => {
                    return Err(ExpansionStop::Unsent(
                        phrases::PIECE_REFUSED.with("line", shorten(line)),
                    ));
                }
            }
        }
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let policy = self.scope.policy_context().policy;
        let commands: Vec<TemplateCommand> =
            held.iter().map(|held| template_command(held, policy)).collect();
        let decision = match self.preapproval(prompt, &commands).await {
            Some(decision) => Ok(decision),
            None => self
                .scope
                .ask(question(prompt, &commands, &held))
                .await
                .ok_or(ExpansionStop::Cancelled),
        };
        let decision = match decision {
            Ok(decision) => decision,
            Err(stop) => {
                self.report_not_run(&held, Outcome::Cancelled).await;
                return Err(stop);
            }
        };
        let Some(allowed) = approved_ids(decision, &commands) else {
            self.report_not_run(&held, Outcome::Declined).await;
            self.scope
                .events
                .emit(Event::Notice(
                    Notice::warning(phrases::PIECES_DECLINED).with_topic(Topic::PiecesDeclined),
                ))
                .await;
            return Err(ExpansionStop::Stopped);
        };
        let mut outputs = Vec::new();
        for piece in held {
            if allowed.contains(&piece.judgement().step.id) {
                outputs.push(self.run_one(piece.approve()).await?);
            } else {
                let line = line_of(&piece).to_owned();
                self.report_not_run(std::slice::from_ref(&piece), Outcome::Declined).await;
                outputs.push(LEFT_OUT.replace("{line}", &line));
            }
        }
        Ok(outputs)
    }

    /// The approval of shell commands from the start of the program. If it does not cover
    /// one of them, all are asked about, so that the user sees them together.
    async fn preapproval(
        &mut self,
        prompt: &Prompt,
        commands: &[TemplateCommand],
    ) -> Option<Decision> {
        if !self.scope.context.approves_template_commands
            || !commands.iter().all(|piece| piece.can_preapprove(false))
        {
            return None;
        }
        let say = phrases::PIECES_ALLOWED.with("of", source_name(prompt)).with("n", commands.len());
        self.scope.events.emit(Event::Notice(avocet_core::protocol::Notice::info(say))).await;
        Some(Decision::Approve)
    }

    /// Runs one shell command. Returns its output without the last newline.
    async fn run_one(&mut self, piece: ClearedStep) -> Result<String, ExpansionStop> {
        let line = match &piece.judgement().step.work {
            avocet_core::protocol::StepAction::Shell { line } => line.clone(),
            _ => String::new(),
        };
        let mut piped = self.pipe(piece).await;
        if let Some(piece) = self.ask_to_open(&piped.observation, &line).await? {
            piped = self.pipe(piece).await;
        }
        let PipedOutput { observation, output } = piped;
        let outcome = observation.outcome;
        let code = observation.exit_code;

        let tail = last_lines(&observation.stderr).to_owned();
        let unsent = |phrase: avocet_core::i18n::Phrase| {
            let say = phrase.with("line", shorten(&line)).with("tail", tail.clone());
            Err(ExpansionStop::Unsent(say.with("code", code.unwrap_or_default())))
        };
        match (outcome, code, output) {
            (Outcome::Cancelled, ..) => Err(ExpansionStop::Cancelled),
            (Outcome::Ran, Some(0), Some(output)) => {
                let output = output.strip_suffix('\n').unwrap_or(&output);
                Ok(output.strip_suffix('\r').unwrap_or(output).to_owned())
            }
            (Outcome::Ran, Some(0), None) => {
                let say = phrases::PIECE_LONG.with("line", shorten(&line)).with("most", 1024usize);
                Err(ExpansionStop::Unsent(say))
            }
            (Outcome::Ran, Some(_), _) => unsent(phrases::PIECE_EXITED),
            _ => unsent(phrases::PIECE_KILLED),
        }
    }

    async fn pipe(&mut self, step: ClearedStep) -> PipedOutput {
        let piped = self.scope.pipe_step(step, self.input.clone()).await;
        self.scope.events.emit(Event::StepFinished(Box::new(piped.observation.clone()))).await;
        piped
    }

    /// Runs the command again with what the sandbox denied it opened, if there is such a thing and the user
    /// approves. Only a plain yes approves.
    async fn ask_to_open(
        &mut self,
        observation: &Observation,
        line: &str,
    ) -> Result<Option<ClearedStep>, ExpansionStop> {
        if observation.denied.is_none() {
            return Ok(None);
        }
        let id = self.scope.next_step_id();
        let judge = |step: Step| {
            safety::assess_template_command(&step.id, line, self.scope.policy_context())
        };
        let Some((held, question, denied)) = wall::denied_retry(observation, id, judge) else {
            return Ok(None);
        };
        match self.scope.ask(question).await.ok_or(ExpansionStop::Cancelled)? {
            Decision::Approve => Ok(Some(held.approve_with(denied))),
            Decision::Stop => Err(ExpansionStop::Stopped),
            _ => Ok(None),
        }
    }

    /// Shows these commands as not run.
    async fn report_not_run(&mut self, approvals: &[NeedsApproval], outcome: Outcome) {
        for piece in approvals {
            let judged = piece.judgement();
            let cwd = judged.cwd.display().to_string();
            let observation =
                Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
            self.scope.events.emit(Event::StepFinished(Box::new(observation))).await;
        }
    }
}

fn template_command(approval: &NeedsApproval, policy: &Policy) -> TemplateCommand {
    let judged = approval.judgement();
    TemplateCommand {
        id: judged.step.id.clone(),
        line: line_of(approval).to_owned(),
        risk: safety::with_sandbox_reasons(judged, policy),
        commands: judged.pieces.clone(),
    }
}

fn line_of(approval: &NeedsApproval) -> &str {
    match &approval.judgement().step.work {
        avocet_core::protocol::StepAction::Shell { line } => line,
        _ => "",
    }
}

fn question(prompt: &Prompt, commands: &[TemplateCommand], held: &[NeedsApproval]) -> Question {
    let cwd = held.first().map(|held| held.judgement().cwd.display().to_string());
    Question::Pieces {
        of: source_name(prompt),
        cwd: cwd.unwrap_or_default(),
        pieces: commands.to_vec(),
    }
}

/// The owner of the shell commands, as the user knows it.
fn source_name(prompt: &Prompt) -> String {
    match &prompt.source {
        Some(source) => format!("/{}", source.name),
        None => prompt.shown.clone(),
    }
}

/// The ids that may run; `None`: none may, and nothing is sent. An approval without ids does not
/// approve a command of high risk.
fn approved_ids(decision: Decision, commands: &[TemplateCommand]) -> Option<Vec<String>> {
    let mild =
        || commands.iter().filter(|piece| !piece.is_high_risk()).map(|piece| piece.id.clone());
    let ids: Vec<String> = match decision {
        Decision::ApproveAll { steps } => steps,
        Decision::Approve => mild().collect(),
        _ => Vec::new(),
    };
    (!ids.is_empty()).then_some(ids)
}

/// The last lines of a command's error output.
fn last_lines(stderr: &str) -> &str {
    let text = stderr.trim_end();
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    text.get(from..).unwrap_or_default()
}

/// A line, cut for a sentence.
pub(super) fn shorten(line: &str) -> String {
    avocet_core::text::cut(line, 80)
}
