//! `/run`: a script as its own turn. It runs on a thread with enough stack for nested scripts; its
//! output becomes events, its questions go to the user, and a stop ends it at once. The result is
//! kept for the model as one entry.
//!
//! Not here: the requests a script may make (`script_host`), and the meaning of a script
//! (`avocet_script`).

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::run_clock::RunClock;
use super::script_host::{
    AskUser, RunAgent, STACK, ScriptAnswer, ScriptGrant, ScriptQuestion, ScriptStore,
    SessionScriptHost,
};
use super::session_hooks::ScriptHooks;
use super::subagent::run_for_script;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::history::TurnRecord;
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli, script_run, session as phrases};
use avocet_core::protocol::{
    Decision, Event, FormField, ModelMessage, Notice, Observation, Question, TurnOrigin,
    TurnOutcome, Usage,
};
use avocet_model::Model;
use avocet_safety::{ClearedStep, SUBAGENT_TOOL};
use avocet_script::host::{FormAnswer, InputAnswer, InputForm};
use avocet_script::source::ScriptLibrary;
use avocet_script::{LocatedError, RunRequest, RunResult, ScriptEvent, run as run_order};

/// The maximum number of calls to other scripts that are listed one by one.
const MAX_CALLS: usize = 32;
/// The maximum number of the script's own messages that are shown.
const MAX_MESSAGES: usize = 100;
/// The maximum length of a run's output for the model, in bytes.
const MAX_KEPT: usize = 8 * 1024;
/// How long a stopped script has to release what it holds.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// A value for the user: text unchanged, anything else as JSON.
pub fn display_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// What comes from a running script.
pub(super) struct ScriptInbox {
    events: mpsc::UnboundedReceiver<ScriptEvent>,
    questions: mpsc::UnboundedReceiver<(ScriptQuestion, oneshot::Sender<ScriptAnswer>)>,
    tasks: mpsc::UnboundedReceiver<(ClearedStep, oneshot::Sender<(Observation, Usage)>)>,
    clock: RunClock,
    /// Ends the script alone.
    cancel: CancellationToken,
}

impl TurnScope {
    /// The host of a script that runs in this turn, and what will come from the script.
    pub(super) fn script_host(
        &mut self,
        model: Option<Arc<dyn Model>>,
        step_numbers: (String, u64),
    ) -> (SessionScriptHost, ScriptInbox) {
        let (events, heard) = mpsc::unbounded_channel();
        let (ask, questions) = mpsc::unbounded_channel();
        let ask_user: AskUser = Arc::new(move |question| {
            let (answer, answered) = oneshot::channel();
            // If the turn is over there is no answer, which counts as a no.
            let _ = ask.send((question, answer));
            async move { answered.await.unwrap_or(ScriptAnswer::No) }.boxed()
        });
        let (hand_on, tasks) = mpsc::unbounded_channel();
        // Within the turn of a subagent no other begins.
        let has_agent = self.context.tools.iter().any(|tool| tool.spec().name == SUBAGENT_TOOL);
        let agent: RunAgent = Arc::new(move |step| {
            let (answer, answered) = oneshot::channel();
            // A turn that is over gives no answer.
            let _ = hand_on.send((step, answer));
            answered.map(Result::ok).boxed()
        });
        let (policy, place, world) = self.judge.parts();
        let host = SessionScriptHost {
            model,
            effort: self.context.responder.effort,
            tools: self.context.tools.clone(),
            policy,
            place,
            world,
            redactor: Arc::clone(&self.context.redactor),
            events,
            ask_user,
            cancel: self.context.cancel.child_token(),
            step_numbers,
            store: ScriptStore::new(self.context.scripts.store.clone()),
            grant: ScriptGrant {
                environment: self.context.scripts.places.environment.clone(),
                budget: self.budget(),
                is_sealed: false,
            },
            hooks: ScriptHooks { runner: self.hooks.clone(), turn: self.context.cancel.clone() },
            agent: has_agent.then_some(agent),
        };
        let clock = RunClock::new(self.context.scripts.places.time_limit);
        let cancel = host.cancel.clone();
        (host, ScriptInbox { events: heard, questions, tasks, clock, cancel })
    }
}

/// Starts the script on its own thread. This runtime drives what it waits for.
pub(super) fn spawn_script(
    request: RunRequest,
    library: ScriptLibrary,
    host: SessionScriptHost,
) -> oneshot::Receiver<Result<RunResult, LocatedError>> {
    let (done, came) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let cancel = host.cancel.clone();
    let work = move || {
        runtime.block_on(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                came = run_order(request, library, Box::new(host)) => drop(done.send(came)),
            }
        });
    };
    // If the thread cannot start, the sender is dropped, and the receiver notices.
    drop(std::thread::Builder::new().stack_size(STACK).spawn(work));
    came
}

/// Replaces a failure's hints about command-line flags with those for the terminal.
fn with_session_hints(mut error: LocatedError) -> LocatedError {
    let mut what = error.message;
    let pairs = [
        (script_run::NO_SCRIPT, script_run::NO_SCRIPT_HERE),
        (script_run::NO_TYPE, script_run::NO_TYPE_HERE),
        (script_run::UNTRUSTED, script_run::UNTRUSTED_HERE),
        (script_run::STEP_DECLINED, script_run::STEP_DECLINED_HERE),
    ];
    if let Some((_, here)) = pairs.into_iter().find(|(word, _)| *word == what.phrase()) {
        what = what.with_phrase(here);
    }
    error.message = what;
    error
}

/// Shows what a script does: in a turn of its own, or as a step of another.
pub(super) trait ScriptListener {
    fn scope(&mut self) -> &mut TurnScope;

    async fn handle_event(&mut self, event: ScriptEvent);

    /// Makes room for a question, or for the step of this ID.
    async fn make_room(&mut self, _step: Option<&str>) {}
}

/// Runs a script to its end, while the user hears of it and answers its questions.
pub(super) async fn play(
    listener: &mut impl ScriptListener,
    mut running: oneshot::Receiver<Result<RunResult, LocatedError>>,
    mut inbox: ScriptInbox,
) -> ScriptOutcome {
    let cancel = listener.scope().context.cancel.clone();
    let came = loop {
        let due = listener.scope().events.outbox.due();
        tokio::select! {
            biased;
            () = cancel.cancelled() => break ScriptOutcome::Cancelled,
            Some(told) = inbox.events.recv() => listener.handle_event(told).await,
            Some((asked, answer)) = inbox.questions.recv() => {
                inbox.clock.pause();
                let said = ask_user(listener, asked).await;
                inbox.clock.resume();
                match said {
                    // A script that ended needs no answer.
                    Ok(said) => drop(answer.send(said)),
                    Err(stop) => break stop,
                }
            }
            Some((step, answer)) = inbox.tasks.recv() => {
                // It has limits of its own, and may wait for the user.
                inbox.clock.pause();
                listener.make_room(Some(&step.judgement().step.id)).await;
                let done = run_for_script(listener.scope(), step).await;
                inbox.clock.resume();
                // A script that ended needs no answer.
                drop(answer.send(done));
            }
            late = inbox.clock.expired() => {
                inbox.cancel.cancel();
                break ScriptOutcome::Ended(Err(late.localized()));
            }
            came = &mut running => break ScriptOutcome::Ended(match came {
                Ok(Ok(done)) => Ok(display_value(&done.value)),
                Ok(Err(failure)) => Err(with_session_hints(failure).localized()),
                Err(_) => Err(phrases::SCRIPT_BROKE.into()),
            }),
            () = tokio::time::sleep_until(due.unwrap_or_else(tokio::time::Instant::now)), if due.is_some() => {
                listener.scope().events.outbox.release();
            }
            () = listener.scope().events.outbox.flush(), if listener.scope().events.outbox.has_unsent() => {}
        }
    };
    if !matches!(came, ScriptOutcome::Ended(_)) {
        cancel.cancel();
        // Releases what the script holds; a running computation cannot be interrupted.
        let _ = tokio::time::timeout(GRACE_PERIOD, running).await;
    }
    while let Ok(told) = inbox.events.try_recv() {
        listener.handle_event(told).await;
    }
    came
}

/// Asks the user a question.
async fn ask_user(
    listener: &mut impl ScriptListener,
    asked: ScriptQuestion,
) -> Result<ScriptAnswer, ScriptOutcome> {
    listener.make_room(asked.step_id()).await;
    let scope = listener.scope();
    let masked = |text: &str| scope.context.redactor.mask(text).into_owned();
    let question = match asked {
        ScriptQuestion::Step { question, .. } => *question,
        ScriptQuestion::Input(asked) => {
            let (choices, free) = input_choices(&asked.form, scope.context.lang);
            let question = Question::Choice {
                step: String::new(),
                script: Some(asked.script),
                text: masked(&asked.text.text(scope.context.lang)),
                choices,
                free,
                fallback: None,
            };
            let decision = scope.ask(question).await.ok_or(ScriptOutcome::Cancelled)?;
            return match decision {
                Decision::Choose { index } => Ok(ScriptAnswer::Input(InputAnswer::Picked(index))),
                Decision::Answer { text } => Ok(ScriptAnswer::Input(InputAnswer::Text(text))),
                other => script_answer(other).ok_or(ScriptOutcome::Stopped),
            };
        }
        ScriptQuestion::Form(form) => {
            let fields = form.fields.into_iter().map(|field| mask_field(field, masked)).collect();
            let question = Question::Form { script: form.script, fields };
            let decision = scope.ask(question).await.ok_or(ScriptOutcome::Cancelled)?;
            return match decision {
                Decision::Fill { values } => Ok(ScriptAnswer::Form(FormAnswer::Filled(values))),
                other => script_answer(other).ok_or(ScriptOutcome::Stopped),
            };
        }
        ScriptQuestion::Call(say) => {
            Question::ScriptCall { text: masked(&say.text(scope.context.lang)) }
        }
    };
    let decision = scope.ask(question).await.ok_or(ScriptOutcome::Cancelled)?;
    script_answer(decision).ok_or(ScriptOutcome::Stopped)
}

fn mask_field(field: FormField, masked: impl Fn(&str) -> String) -> FormField {
    FormField {
        about: masked(&field.about),
        default: field.default.map(|default| masked(&default)),
        ..field
    }
}

pub(super) type StartedScript = (oneshot::Receiver<Result<RunResult, LocatedError>>, ScriptInbox);

pub(super) async fn run(
    script: String,
    text: String,
    started: Result<StartedScript, LocalizedText>,
    mut scope: TurnScope,
) -> FinishedTurn {
    scope.begin(text.clone(), TurnOrigin::Typed);
    scope.has_steps_of_model = false;
    let mut turn = ScriptTurn {
        scope: &mut scope,
        partial_reply: None,
        last_answer: String::new(),
        role_label: String::new(),
        answers: Vec::new(),
        observations: Vec::new(),
        calls: 0,
        messages: 0,
        usage: Usage::default(),
    };
    let came = match started {
        Ok((running, inbox)) => play(&mut turn, running, inbox).await,
        Err(why) => ScriptOutcome::Ended(Err(why)),
    };
    let (ending, result) = turn.finish(came).await;
    let record = turn.turn_record(&script, &text, &result);
    let usage = turn.usage;

    scope.end(ending, record, usage).await
}

/// The choices of a question for an input, and whether another text is accepted.
pub fn input_choices(form: &InputForm, lang: Lang) -> (Vec<String>, bool) {
    match form {
        InputForm::Text { default } => (default.iter().cloned().collect(), true),
        InputForm::Confirm => {
            let labels = [cli::YES, cli::NO];
            (labels.map(|label| label.text(lang).to_owned()).to_vec(), false)
        }
        InputForm::Choice { labels, free } => (labels.clone(), *free),
    }
}

/// The meaning of a decision for a script; `None`: the user wants everything to stop.
fn script_answer(decision: Decision) -> Option<ScriptAnswer> {
    Some(match decision {
        Decision::Approve => ScriptAnswer::Yes,
        Decision::ApproveAll { .. } | Decision::Remember(_) => ScriptAnswer::Preapproved,
        Decision::Edit(work) => ScriptAnswer::RunInstead(work),
        Decision::Trust => ScriptAnswer::Trust,
        Decision::Stop => return None,
        _ => ScriptAnswer::No,
    })
}

pub(super) enum ScriptOutcome {
    /// Its value as text.
    Ended(Result<String, LocalizedText>),
    Cancelled,
    /// The user stopped at a question.
    Stopped,
}

/// The shown turn of a script.
struct ScriptTurn<'h> {
    scope: &'h mut TurnScope,
    /// The growing answer; `None` if there is none.
    partial_reply: Option<String>,
    /// The last answer, and all answers for the model.
    last_answer: String,
    /// The name of the role that speaks, as it begins the growing answer.
    role_label: String,
    answers: Vec<String>,
    observations: Vec<Observation>,
    calls: usize,
    messages: usize,
    usage: Usage,
}

impl ScriptListener for ScriptTurn<'_> {
    fn scope(&mut self) -> &mut TurnScope {
        self.scope
    }

    async fn make_room(&mut self, step: Option<&str>) {
        self.close_reply().await;
        if let Some(id) = step {
            self.count_step(id);
        }
    }

    async fn handle_event(&mut self, event: ScriptEvent) {
        match event {
            ScriptEvent::ModelCallStarted => {
                self.close_reply().await;
                self.open_reply().await;
            }
            ScriptEvent::AnswerStarted(head) => {
                if let Some(role) = head.role {
                    self.open_reply().await;
                    let text = format!("**{role}**: ");
                    self.role_label.clone_from(&text);
                    self.grow_reply(text);
                }
            }
            ScriptEvent::AnswerEnded => self.close_reply().await,
            ScriptEvent::Message(role, text) => self.show_message(role, &text).await,
            ScriptEvent::Delta(text) => {
                self.open_reply().await;
                self.grow_reply(text);
            }
            ScriptEvent::Reasoning(text) => {
                self.scope.events.outbox.stream(Event::ReasoningDelta { text })
            }
            ScriptEvent::Print(value) => {
                self.close_reply().await;
                self.show_reply(display_value(&value), false).await;
            }
            ScriptEvent::TokensUsed(usage) => {
                self.scope.shared.spending.add(usage);
                self.usage = self.usage.plus(usage);
            }
            ScriptEvent::StepStarted(began) => {
                self.close_reply().await;
                let (step, risk) = *began;
                self.count_step(&step.id);
                self.scope.events.emit(Event::StepStarted { step, risk }).await;
            }
            ScriptEvent::Output(id, text) => {
                self.scope.events.emit(Event::StepOutput { id, text }).await
            }
            ScriptEvent::StepFinished(seen) => {
                self.close_reply().await;
                self.count_step(&seen.step.id);
                self.observations.push((*seen).clone());
                self.scope.events.emit(Event::StepFinished(seen)).await;
            }
            ScriptEvent::ScriptCalled(name) => {
                self.calls += 1;
                let say = match self.calls.cmp(&MAX_CALLS) {
                    std::cmp::Ordering::Less => phrases::SCRIPT_CALLS.with("name", name),
                    std::cmp::Ordering::Equal => phrases::SCRIPT_MORE_CALLS.into(),
                    std::cmp::Ordering::Greater => return,
                };
                self.scope.events.emit(Event::Notice(Notice::info(say))).await;
            }
            ScriptEvent::Note(say) => {
                self.scope.events.emit(Event::Notice(Notice::warning(say))).await
            }
        }
    }
}

impl ScriptTurn<'_> {
    /// A message of the script's author.
    async fn show_message(&mut self, role: String, text: &str) {
        self.messages += 1;
        if self.messages <= MAX_MESSAGES {
            self.close_reply().await;
            let text = self.scope.context.redactor.mask(text).into_owned();
            let text = avocet_core::text::cut_middle(&text, MAX_KEPT);
            self.scope.events.emit(Event::ScriptMessage { role, text }).await;
        }
    }

    async fn open_reply(&mut self) {
        if self.partial_reply.is_none() {
            self.partial_reply = Some(String::new());
            self.scope.events.emit(Event::ReplyStarted).await;
        }
    }

    fn grow_reply(&mut self, text: String) {
        if let Some(growing) = &mut self.partial_reply {
            growing.push_str(&text);
        }
        self.scope.events.outbox.stream(Event::Delta { text });
    }

    /// Ends the growing answer.
    async fn close_reply(&mut self) {
        let Some(text) = self.partial_reply.take() else { return };
        if !text.is_empty() {
            self.finish_reply(text, true).await;
        }
    }

    async fn show_reply(&mut self, text: String, markdown: bool) {
        if !text.is_empty() {
            self.scope.events.emit(Event::ReplyStarted).await;
            self.finish_reply(text, markdown).await;
        }
    }

    async fn finish_reply(&mut self, message: String, markdown: bool) {
        let label = std::mem::take(&mut self.role_label);
        self.last_answer = message.strip_prefix(&label).unwrap_or(&message).to_owned();
        if self.answers.iter().map(String::len).sum::<usize>() < MAX_KEPT {
            self.answers.push(avocet_core::text::cut_middle(&message, MAX_KEPT));
        }
        let message = ModelMessage { message, markdown, ..ModelMessage::default() };
        self.scope.events.emit(Event::Replied(message)).await;
    }

    /// The script's host numbers its steps.
    fn count_step(&mut self, id: &str) {
        let number = id.rsplit('_').next().and_then(|digits| digits.parse::<u64>().ok());
        self.scope.next_step =
            self.scope.next_step.max(number.map_or(0, |number| number.saturating_add(1)));
    }

    /// Shows the result, and returns the text for the model.
    async fn finish(&mut self, outcome: ScriptOutcome) -> (TurnOutcome, String) {
        self.close_reply().await;
        match outcome {
            ScriptOutcome::Ended(Ok(text)) => {
                if text.trim() != self.last_answer.trim() {
                    self.show_reply(text, true).await;
                }
                (TurnOutcome::Done, self.answers.join("\n\n"))
            }
            ScriptOutcome::Ended(Err(why)) => {
                let read = format!("It failed: {}", why.text(Lang::En));
                (TurnOutcome::Failed { why }, read)
            }
            ScriptOutcome::Cancelled => {
                (TurnOutcome::Cancelled, "(cancelled by the user)".to_owned())
            }
            ScriptOutcome::Stopped => (TurnOutcome::Stopped, "(stopped by the user)".to_owned()),
        }
    }

    fn turn_record(&mut self, script: &str, text: &str, result: &str) -> TurnRecord {
        let mut record = TurnRecord::default();
        let typed = avocet_core::text::cut_middle(text, MAX_KEPT / 8);
        let result = avocet_core::text::cut_middle(result, MAX_KEPT);
        let script = avocet_core::text::cut_middle(script, MAX_KEPT / 8);
        record.add_user(&format!("(The user ran the script `{script}`: {typed})\n{result}"));
        record.add_steps(&std::mem::take(&mut self.observations));
        record
    }
}
