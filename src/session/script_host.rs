//! Serves the requests of a running script with a session's parts: the model, files and programs
//! subject to the policy, and the user if there is one.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::running_step::{RunningStep, StepProgress, without_output};
use super::session_hooks::ScriptHooks;
use super::{Security, shell_turn, wall};
use crate::agent::turn::trust;
use avocet_core::i18n::{Localize, LocalizedText, script_run as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    Effort, Mention, Message, Observation, Outcome, Params, Question, Requires, Risk,
    SandboxStatus, Step, StepAction, StepQuestion, Tier, Usage,
};
use avocet_model::{Chunk, Model, Request};
use avocet_safety as safety;
use avocet_safety::redact::Redactor;
use avocet_safety::{
    self, ClearedStep, Machine, NeedsApproval, Policy, PolicyContext, SUBAGENT_TOOL, Verdict,
    Workspace,
};
use avocet_script::host::{FormAnswer, FormQuestion, InputAnswer, InputQuestion, PackKey};
use avocet_script::{AnswerPart, ModelCall, ProgramOutput, ScriptEvent, ScriptHost, StepError};
use avocet_store::{KeyValue, Store, StoreError};
use avocet_tools::{BackgroundControl, Toolbox, attachments};

/// The prefix of step IDs.
pub const STEP: &str = "script_";
/// The maximum size of a file that a script reads into a message, in bytes.
const MAX_READ: usize = 256 * 1024;

/// A question to the user on behalf of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptQuestion {
    /// A call that the script's permissions leave to the user.
    Call(LocalizedText),
    /// A step that the policy does not run without asking.
    Step {
        risk: Risk,
        /// The same as a question for a frontend.
        question: Box<Question>,
    },
    /// An input that the script asks for.
    Input(InputQuestion),
    /// Several at once.
    Form(FormQuestion),
}

impl ScriptQuestion {
    /// The step that it is about.
    pub(super) fn step_id(&self) -> Option<&str> {
        let ScriptQuestion::Step { question, .. } = self else { return None };
        let Question::Step(StepQuestion { step, .. }) = question.as_ref() else { return None };
        Some(&step.id)
    }
}

/// The user's answer to a script's question.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptAnswer {
    /// The user answered exactly this.
    Yes,
    /// An option approves it, or an answer to more than this.
    Preapproved,
    No,
    /// The folder is trusted from now on, and the step is judged again.
    Trust,
    /// Run this step instead.
    RunInstead(StepAction),
    /// The answer to a question for an input.
    Input(InputAnswer),
    /// The answer to a form.
    Form(FormAnswer),
}

/// Nested scripts use a lot of stack, most of all in a debug build.
pub const STACK: usize = 64 << 20;

/// Asks the user a question; `ScriptAnswer::No` if there is no user.
pub type AskUser = Arc<dyn Fn(ScriptQuestion) -> BoxFuture<'static, ScriptAnswer> + Send + Sync>;

/// What the user lets scripts read and spend, and whom they may ask.
#[derive(Clone, Debug, Default)]
pub struct ScriptGrant {
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
    pub budget: Budget,
    /// A sealed script has joined the run.
    pub is_sealed: bool,
}

/// Runs a turn of the agent for a task; with what it used. `None`: it broke off.
pub type RunAgent =
    Arc<dyn Fn(ClearedStep) -> BoxFuture<'static, Option<(Observation, Usage)>> + Send + Sync>;

/// The host of one run.
pub struct SessionScriptHost {
    /// `None` if no model is set: a script may not need one.
    pub model: Option<Arc<dyn Model>>,
    /// How much it is to reason.
    pub effort: Option<Effort>,
    pub tools: Toolbox,
    pub(super) policy: Policy,
    pub(super) place: Workspace,
    pub(super) world: Arc<dyn Machine>,
    pub(super) redactor: Arc<Redactor>,
    pub events: UnboundedSender<ScriptEvent>,
    pub ask_user: AskUser,
    pub cancel: CancellationToken,
    /// The prefix of its step IDs, and the number of the last step.
    pub(super) step_numbers: (String, u64),
    pub(super) store: ScriptStore,
    pub grant: ScriptGrant,
    pub hooks: ScriptHooks,
    /// `None` within the turn of an agent.
    pub agent: Option<RunAgent>,
}

/// The store for `pack://`, one collection at a time.
#[derive(Debug)]
pub struct ScriptStore {
    store: Store,
    collections: BTreeMap<String, KeyValue>,
}

impl ScriptStore {
    pub fn new(store: Store) -> ScriptStore {
        ScriptStore { store, collections: BTreeMap::new() }
    }

    fn collection(&mut self, key: &PackKey) -> &mut KeyValue {
        // A separator that appears in neither name keeps `a/b` and `c` distinct from `a` and `b/c`.
        let name = format!("pack\u{1f}{}\u{1f}{}", key.database, key.table);
        let store = &self.store;
        self.collections.entry(name).or_insert_with_key(|name| KeyValue::new(store, name))
    }

    fn get(&mut self, key: &PackKey) -> Result<Option<Value>, LocalizedText> {
        let found = self.collection(key).get(&key.id).map_err(|error| save_error(key, &error))?;
        Ok(found.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    fn put(&mut self, key: &PackKey, value: Option<&str>) -> Result<Option<Value>, LocalizedText> {
        let before = self.get(key)?;
        let pairs = self.collection(key);
        match value {
            Some(value) => pairs.set(&key.id, value),
            None => pairs.remove(&key.id).map(|_| ()),
        }
        .map_err(|error| save_error(key, &error))?;
        Ok(before)
    }
}

fn save_error(key: &PackKey, error: &StoreError) -> LocalizedText {
    phrases::NOT_KEPT.with("name", key.id.clone()).with("why", error.localized())
}

impl SessionScriptHost {
    pub fn new(
        model: Option<Arc<dyn Model>>,
        tools: Toolbox,
        security: Security,
        told: UnboundedSender<ScriptEvent>,
        asking: AskUser,
        hooks: ScriptHooks,
    ) -> SessionScriptHost {
        let Security { policy, place, world, redactor, .. } = security;
        let cancel = CancellationToken::new();
        let numbers = (STEP.to_owned(), 0);
        let memory = ScriptStore::new(Store::in_memory());

        SessionScriptHost {
            model,
            effort: None,
            tools,
            policy,
            place,
            world,
            redactor,
            events: told,
            ask_user: asking,
            cancel,
            step_numbers: numbers,
            store: memory,
            grant: ScriptGrant::default(),
            hooks,
            agent: None,
        }
    }

    /// Sets the store for the data that scripts save.
    pub fn set_store(&mut self, store: Store) {
        self.store = ScriptStore::new(store);
    }

    pub(super) fn policy_context(&self) -> PolicyContext<'_> {
        PolicyContext { policy: &self.policy, place: &self.place, world: self.world.as_ref() }
    }

    fn mask_message(&self, mut message: Message) -> Message {
        message.texts_mut().for_each(|text| *text = self.redactor.mask(text).into_owned());
        message
    }

    /// The step, if hooks, the script's permissions and the policy let it run. Only one of the last
    /// two asks: the policy's question shows the step.
    async fn clear_call(
        &mut self,
        step: &mut Step,
        text: Option<LocalizedText>,
    ) -> Result<ClearedStep, StepError> {
        let verdict = self.advised_verdict(step).await?;
        let asks_itself = matches!(verdict, Verdict::Ask(_) | Verdict::Refuse(_));
        if let Some(question) = text.filter(|_| !asks_itself)
            && !self.confirm(question.clone()).await
        {
            return Err(StepError::Declined(phrases::STEP_DECLINED.with("why", question)));
        }
        self.clear_step(verdict).await
    }

    /// A file is read exactly as it is named.
    pub(super) fn judge(&self, step: &Step) -> Verdict {
        match read_path(&step.work) {
            Some(path) => safety::assess_mention(&step.id, path, self.policy_context()),
            None => safety::assess(step.clone(), self.policy_context()),
        }
    }

    /// The step, if it runs without asking or the user approves it.
    async fn clear_step(&mut self, verdict: Verdict) -> Result<ClearedStep, StepError> {
        match verdict {
            Verdict::Run(cleared) => Ok(cleared),
            Verdict::Ask(held) => self.ask_approval(held).await,
            Verdict::Refuse(refused) => Err(refusal(&refused.judgement().risk)),
        }
    }

    /// The user saw the rewritten step with its tier before approving it.
    fn clear_replacement(&self, step: &Step, action: StepAction) -> Result<ClearedStep, StepError> {
        let verdict = match &action {
            StepAction::Shell { line } => {
                safety::assess_shell(&step.id, line, self.policy_context())
            }
            StepAction::Exec { .. } | StepAction::Tool { .. } => {
                safety::assess(Step { work: action, ..step.clone() }, self.policy_context())
            }
        };
        match verdict {
            Verdict::Run(cleared) => Ok(cleared),
            Verdict::Ask(held) => Ok(held.approve()),
            Verdict::Refuse(refused) => Err(refusal(&refused.judgement().risk)),
        }
    }

    async fn ask_approval(&mut self, approval: NeedsApproval) -> Result<ClearedStep, StepError> {
        let judged = approval.judgement();
        let step = judged.step.clone();
        let risk = judged.risk.clone();

        let why = risk.main_reason().cloned().unwrap_or_else(|| phrases::NO_REASON.into());
        // A file read into the script is read exactly as named, or not at all.
        let reads = step.work.tool() == "file.read";
        let mut question = Box::new(shell_turn::question(&approval));
        if let Question::Step(StepQuestion { risk, trust, .. }) = question.as_mut() {
            *risk = safety::with_sandbox_reasons(judged, &self.policy);
            *trust = trust::offer(judged, self.policy_context()).filter(|_| !reads);
        }
        match (self.ask_user)(ScriptQuestion::Step { risk, question }).await {
            ScriptAnswer::Yes => Ok(approval.approve_named()),
            ScriptAnswer::Preapproved => Ok(approval.approve()),
            ScriptAnswer::RunInstead(work) if work == step.work => Ok(approval.approve_named()),
            ScriptAnswer::RunInstead(work) if !reads => self.clear_replacement(&step, work),
            ScriptAnswer::Trust if !reads && !self.place.trusted => {
                self.place.trusted = true;
                let verdict = safety::assess(step, self.policy_context());
                Box::pin(self.clear_step(verdict)).await
            }
            ScriptAnswer::RunInstead(_)
            | ScriptAnswer::Trust
            | ScriptAnswer::Input(_)
            | ScriptAnswer::Form(_)
            | ScriptAnswer::No => Err(StepError::Declined(phrases::STEP_DECLINED.with("why", why))),
        }
    }

    /// Reads a file that a script names.
    async fn read(
        &mut self,
        cleared: ClearedStep,
        path: String,
    ) -> Result<ProgramOutput, StepError> {
        let judged = cleared.judgement();
        let step = judged.step.clone();
        let risk = judged.risk.clone();

        let cwd = judged.cwd.display().to_string();
        let mention = Mention { path: path.clone(), lines: None };
        let host = self.tools.file_host();
        let read = move || attachments::read_limited(&cleared, &mention, MAX_READ, host.as_deref());
        let read = tokio::task::spawn_blocking(read).await;
        let attachment = read.map_err(|_| phrases::STEP_BROKEN)??;
        if attachment.attached.cut {
            let most = MAX_READ / 1024;
            self.emit(ScriptEvent::Note(phrases::FILE_CUT.with("name", path).with("most", most)));
        }
        let mut seen = Observation::not_run(step, cwd, risk, Outcome::Ran);
        seen.stdout = self.redactor.mask(&attachment.text).into_owned();
        seen.exit_code = Some(0);
        self.run_hooks_after(&mut seen).await;
        if let Some(note) = seen.note {
            self.emit(ScriptEvent::Note(note));
        }
        Ok(ProgramOutput::of_text(seen.stdout))
    }

    /// Hands a task to the agent.
    async fn run_agent(&mut self, cleared: ClearedStep) -> Result<ProgramOutput, StepError> {
        let run = self.agent.clone().ok_or(phrases::NO_AGENT)?;
        let (mut seen, usage) = run(cleared).await.ok_or(phrases::STEP_BROKEN)?;
        self.emit(ScriptEvent::TokensUsed(usage));
        self.run_hooks_after(&mut seen).await;
        self.emit(ScriptEvent::StepFinished(Box::new(seen.clone())));
        if seen.succeeded() {
            return Ok(ProgramOutput { usage, ..ProgramOutput::of_text(seen.stdout) });
        }
        Err(seen.note.unwrap_or_else(|| phrases::STEP_BROKEN.into()).into())
    }

    /// Runs a step, and runs it again with what the sandbox denied it opened, if the user approves.
    async fn run_with_retry(&mut self, cleared: ClearedStep) -> Result<ProgramOutput, StepError> {
        let mut observation = self.run_once(cleared).await?;
        if let Some(cleared) = self.ask_to_open(&observation).await {
            observation = self.run_once(cleared).await?;
        }
        let name = observation.step.work.tool().to_owned();
        let has_run = observation.outcome == Outcome::Ran && name == "exec";
        if observation.succeeded() || has_run {
            let Observation { exit_code: code, stdout, stderr, note, .. } = observation;
            let note = note.map(|note| note.to_string());
            let output = ProgramOutput { code, stdout, stderr, note, ..ProgramOutput::default() };
            return if has_run && code != Some(0) {
                Err(StepError::Exited(name, Box::new(output)))
            } else {
                Ok(output)
            };
        }
        let said = observation.stderr.trim().lines().last().unwrap_or_default().to_owned();
        let note = observation.note.map(|note| note.to_string()).unwrap_or(said);
        Err(phrases::STEP_FAILED.with("name", name).with("why", note).into())
    }

    /// Only a plain yes approves.
    async fn ask_to_open(&mut self, observation: &Observation) -> Option<ClearedStep> {
        if observation.denied.is_none() || observation.risk.tier == Tier::L0 {
            return None;
        }
        let id = self.next_id();
        let (held, question, denied) = wall::denied_retry(observation, id, |step| {
            safety::assess(step, self.policy_context())
        })?;
        let Question::Step(StepQuestion { risk, .. }) = &question else { return None };
        let step = ScriptQuestion::Step { risk: risk.clone(), question: Box::new(question) };
        let said = (self.ask_user)(step).await;
        (said == ScriptAnswer::Yes).then(|| held.approve_with(denied))
    }

    fn next_id(&mut self) -> String {
        self.step_numbers.1 += 1;
        format!("{}{:03}", self.step_numbers.0, self.step_numbers.1)
    }

    /// Waits until it is known whether the sandbox works: a step judged earlier would run without a
    /// question on a system without one.
    async fn await_sandbox_status(&mut self) {
        if self.policy.shelter == SandboxStatus::Unknown
            && let Some(shelter) = self.tools.sandbox_status().await
        {
            self.policy.shelter = shelter;
        }
    }

    async fn run_once(&mut self, cleared: ClearedStep) -> Result<Observation, LocalizedText> {
        let step = cleared.judgement().step.clone();
        let risk = cleared.judgement().risk.clone();

        let work = step.work.clone();
        let id = step.id.clone();

        let Some(tool) = self.tools.find(&work).cloned() else {
            return Err(phrases::STEP_NO_TOOL.with("name", work.tool().to_owned()));
        };
        self.emit(ScriptEvent::StepStarted(Box::new((step, risk))));
        let start = |control| without_output(tool.run(cleared, control));
        let mut running = RunningStep::start(&self.cancel, BackgroundControl::default(), start);
        loop {
            match running.next(&self.redactor).await {
                StepProgress::Output(text) => self.emit(ScriptEvent::Output(id.clone(), text)),
                StepProgress::Ended(piped) => {
                    let observation = piped.observation;
                    let mut shown = Box::new(observation.clone());
                    self.run_hooks_after(&mut shown).await;
                    self.emit(ScriptEvent::StepFinished(shown));
                    return Ok(observation);
                }
            }
        }
    }
}

/// The file that a step reads.
fn read_path(action: &StepAction) -> Option<&str> {
    let StepAction::Tool { name, input } = action else { return None };
    let path = input.get("path").and_then(Value::as_str).unwrap_or_default();
    (name == "file.read").then_some(path)
}

fn refusal(risk: &Risk) -> StepError {
    let why = risk.main_reason().cloned().unwrap_or_else(|| phrases::NO_REASON.into());
    StepError::Declined(phrases::STEP_REFUSED.with("why", why))
}

impl Drop for SessionScriptHost {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl ScriptHost for SessionScriptHost {
    fn call_model(
        &mut self,
        call: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>> {
        let Some(model) = self.model.clone() else {
            return stream::iter([Err(avocet_model::not_connected())]).boxed();
        };
        if self.cancel.is_cancelled() {
            return stream::iter([Err(avocet_core::i18n::exec::CANCELLED.into())]).boxed();
        }
        let messages =
            call.messages.into_iter().map(|message| self.mask_message(message)).collect();
        let request = Request {
            messages,
            params: Params { is_private: self.grant.is_sealed, ..call.params },
            schema: call.schema.map(Arc::new),
            effort: self.effort,
            ..Request::default()
        };
        self.emit(ScriptEvent::ModelCallStarted);
        let stream = model.stream(request).take_until(self.cancel.clone().cancelled_owned());
        let parts = stream.filter_map(|item| {
            future::ready(match item {
                Ok(Chunk::Text(text)) => Some(Ok(AnswerPart::Text(text))),
                Ok(Chunk::Thought(text)) => Some(Ok(AnswerPart::Reasoning(text))),
                Ok(Chunk::Finished(cut)) => Some(Ok(AnswerPart::Finished(cut))),
                Ok(Chunk::Usage(usage)) => Some(Ok(AnswerPart::Usage(usage))),
                Ok(
                    Chunk::Retrying { .. }
                    | Chunk::Restart
                    | Chunk::CallProgress { .. }
                    | Chunk::Paused
                    | Chunk::Source(_)
                    | Chunk::Gap
                    | Chunk::Notice(_)
                    | Chunk::SealedText(_)
                    | Chunk::SealedThought(_)
                    | Chunk::Call(_),
                ) => None,
                Err(error) => Some(Err(error.localized())),
            })
        });
        parts.boxed()
    }

    fn emit(&mut self, event: ScriptEvent) {
        let event = match event {
            ScriptEvent::Message(role, _) if self.grant.is_sealed => {
                ScriptEvent::Message(role, LocalizedText::from(phrases::SEALED_MESSAGE).to_string())
            }
            // It may quote the script.
            ScriptEvent::Note(_) if self.grant.is_sealed => return,
            event => event,
        };
        // The run is being dropped: there is no receiver.
        let _ = self.events.send(event);
    }

    fn seal(&mut self) {
        self.grant.is_sealed = true;
    }

    fn is_sealed(&self) -> bool {
        self.grant.is_sealed
    }

    fn model_name(&self) -> Option<String> {
        self.model.as_ref().map(|model| model.name().to_owned())
    }

    // A script has its own thread, so it may wait for the disk.
    fn load_value(&mut self, key: PackKey) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        future::ready(self.store.get(&key)).boxed()
    }

    fn store_value(
        &mut self,
        key: PackKey,
        value: Option<Value>,
    ) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        let text = value.map(|value| self.redactor.mask(&value.to_string()).into_owned());
        future::ready(self.store.put(&key, text.as_deref())).boxed()
    }

    fn confirm(&mut self, text: LocalizedText) -> BoxFuture<'_, bool> {
        (self.ask_user)(ScriptQuestion::Call(text))
            .map(|said| matches!(said, ScriptAnswer::Yes | ScriptAnswer::Preapproved))
            .boxed()
    }

    fn ask_input(&mut self, question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        (self.ask_user)(ScriptQuestion::Input(question))
            .map(|said| match said {
                ScriptAnswer::Input(answer) => Some(answer),
                _ => None,
            })
            .boxed()
    }

    fn ask_form(&mut self, form: FormQuestion) -> BoxFuture<'_, FormAnswer> {
        (self.ask_user)(ScriptQuestion::Form(form))
            .map(|said| match said {
                ScriptAnswer::Form(answer) => answer,
                _ => FormAnswer::Cancelled,
            })
            .boxed()
    }

    fn stop_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    fn environment(&self) -> Map<String, Value> {
        let pairs = self.grant.environment.iter();
        pairs.map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    }

    fn budget(&self) -> Budget {
        self.grant.budget
    }

    fn run_step(
        &mut self,
        action: StepAction,
        text: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        let id = self.next_id();
        async move {
            self.await_sandbox_status().await;
            let mut step = Step { id, work: action, requires: Requires::default(), cwd: None };
            let cleared = self.clear_call(&mut step, text).await?;
            if let Some(path) = read_path(&step.work) {
                return self.read(cleared, path.to_owned()).await;
            }
            if step.work.tool() == SUBAGENT_TOOL {
                return self.run_agent(cleared).await;
            }
            self.run_with_retry(cleared).await
        }
        .boxed()
    }
}
