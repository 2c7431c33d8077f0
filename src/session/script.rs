//! `/run`: a script as its own turn. It runs on a thread with enough stack for nested scripts; its
//! output becomes events, its questions go to the user, and a stop ends it at once. The result is
//! kept for the model as one entry.
//!
//! Not here: the requests a script may make (`scripting`), and the meaning of a script
//! (`crate::script`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::host::TurnHost;
use super::offered;
use super::run::{Session, turn_channels};
use super::scripting::{
    AskUser, DiskFiles, STACK, STEP, ScriptAnswer, ScriptQuestion, ScriptStore, SessionScriptHost,
};
use crate::agent::Host as _;
use crate::agent::drive::TurnResult;
use crate::context::digest;
use crate::context::history::TurnRecord;
use crate::protocol::{
    Ask, AskId, Decision, Event, ModelMessage, Notice, Observation, Provider, Question, TurnOrigin,
    TurnOutcome, Usage,
};
use crate::script::shape::Manifest;
use crate::script::shape::input::ScriptArgs;
use crate::script::source::{ScriptLibrary, SourceFiles, is_script, stem};
use crate::script::{LocatedError, RunRequest, RunResult, ScriptEvent, built_in, run as run_order};
use crate::words::{Lang, Localize, LocalizedText, session as words};

/// The maximum number of names offered.
const MOST_NAMES: usize = 200;
/// The maximum number of calls to other scripts that are listed one by one.
const MOST_CALLS: usize = 32;
/// The maximum length of a run's output for the model, in bytes.
const MOST_KEPT: usize = 8 * 1024;
/// How long a stopped script has to release what it holds.
pub(super) const GRACE: Duration = Duration::from_millis(300);

/// The script folders; true: those of the project as well.
pub type FindScripts = Arc<dyn Fn(bool) -> ScriptPlaces + Send + Sync>;

/// The script folders, and the trusted ones among them, with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptPlaces {
    pub folders: Vec<PathBuf>,
    pub trusted: Vec<PathBuf>,
}

impl ScriptPlaces {
    pub(super) fn library(self) -> ScriptLibrary {
        let disk = DiskFiles { trusted: self.trusted };
        ScriptLibrary::new(Arc::new(disk), self.folders, built_in::SCRIPTS)
    }

    /// The scripts that can be named: those of the working folder, of these folders, and the
    /// built-in ones. Blocks; reads only names.
    pub fn names(&self, cwd: &Path) -> Vec<String> {
        let disk = DiskFiles { trusted: Vec::new() };
        let folders = std::iter::once(cwd).chain(self.folders.iter().map(PathBuf::as_path));
        let files = folders.flat_map(|folder| disk.list(folder));
        let found = files.filter(|entry| !entry.is_folder && is_script(&entry.name));
        let found = found.map(|entry| stem(&entry.name).to_owned());
        let built_in = built_in::SCRIPTS.iter().map(|(id, _)| (*id).to_owned());
        let mut names: Vec<String> = Vec::new();
        for name in found.take(MOST_NAMES).chain(built_in) {
            let is_plain = !name.is_empty()
                && !name.contains(|sign: char| sign.is_whitespace() || sign.is_control());
            if is_plain && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The inputs of each of these scripts. Blocks; reads the scripts.
    pub fn inputs(&self, cwd: &Path, names: &[String]) -> Vec<(String, Vec<String>)> {
        let library = self.clone().library();
        let inputs = |name: &String| {
            let shape = Manifest::load(library.find(name, cwd).ok()?, &library).ok()?;
            let inputs: Vec<String> = shape.inputs.iter().map(|it| it.name.clone()).collect();
            (!inputs.is_empty()).then(|| (name.clone(), inputs))
        };
        names.iter().filter_map(inputs).collect()
    }
}

/// A value for the user: text unchanged, anything else as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// One run, and its name.
struct Job {
    turn: u64,
    /// As typed.
    text: String,
    script: String,
    order: Result<RunRequest, LocalizedText>,
    library: ScriptLibrary,
    world: SessionScriptHost,
    wires: Ears,
    next: (u64, u64),
    lang: Lang,
}

/// A message from a running script.
pub(super) struct Ears {
    pub told: mpsc::UnboundedReceiver<ScriptEvent>,
    pub asked: mpsc::UnboundedReceiver<(ScriptQuestion, oneshot::Sender<ScriptAnswer>)>,
}

/// The two ends of the channel between a script and its listener.
pub(super) fn hearing() -> (mpsc::UnboundedSender<ScriptEvent>, AskUser, Ears) {
    let (told, hear) = mpsc::unbounded_channel();
    let (ask, asked) = mpsc::unbounded_channel();
    let asking: AskUser = Arc::new(move |question| {
        let (answer, answered) = oneshot::channel();
        // If the turn is over there is no answer, which counts as a no.
        let _ = ask.send((question, answer));
        async move { answered.await.unwrap_or(ScriptAnswer::No) }.boxed()
    });
    (told, asking, Ears { told: hear, asked })
}

impl Session {
    fn script_places(&self) -> ScriptPlaces {
        (self.voice.kept.find_scripts)(self.guard.place.trusted)
    }

    pub(super) async fn run_script(&mut self, script: String, args: String) {
        let text = match args.is_empty() {
            true => format!("/run {script}"),
            false => format!("/run {script} {args}"),
        };
        if !self.is_idle() {
            return self.say(Notice::warning(words::SHELL_BUSY.with("line", text))).await;
        }
        if self.guard.trust.asking.is_some() {
            return self.say(Notice::warning(words::TRUST_FIRST.with("line", text))).await;
        }
        self.facts.turns += 1;
        let parsed =
            if args.is_empty() { Ok(ScriptArgs::default()) } else { ScriptArgs::parse(&args) };
        let from = self.guard.place.cwd.clone();
        let order =
            parsed.map(|args| RunRequest { script: script.clone(), from, args, streams: true });
        let cancel = CancellationToken::new();
        let (wires, ends) = turn_channels();
        let host = self.host(&cancel, wires);
        let (world, ears) = self.script_world(&host);
        let job = Job {
            turn: self.facts.turns,
            text,
            script,
            order,
            library: self.script_places().library(),
            world,
            wires: ears,
            next: (self.past.next_step, self.past.next_ask),
            lang: self.facts.lang,
        };
        let task = tokio::spawn(run(job, host));
        self.set_running(cancel, ends, task);
    }

    fn script_world(&self, host: &TurnHost) -> (SessionScriptHost, Ears) {
        let (told, asking, ears) = hearing();
        // The guide has its own role and cannot take another.
        let is_guide = self.voice.connected.provider == Provider::Guide;
        let world = SessionScriptHost {
            model: (!is_guide).then(|| Arc::clone(&host.desk.model)),
            tools: host.desk.tools.clone(),
            policy: self.guard.policy.clone(),
            place: self.guard.place.clone(),
            world: Arc::clone(&self.guard.world),
            redactor: Arc::clone(&self.guard.redactor),
            told,
            asking,
            cancel: host.desk.cancel.child_token(),
            numbers: (STEP.to_owned(), self.past.next_step.saturating_sub(1)),
            memory: ScriptStore::of(self.voice.kept.store.clone()),
        };
        (world, ears)
    }
}

/// Starts the script on its own thread. This runtime drives what it waits for.
pub(super) fn begin(
    order: RunRequest,
    library: ScriptLibrary,
    world: SessionScriptHost,
) -> oneshot::Receiver<Result<RunResult, LocatedError>> {
    let (done, came) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let cancel = world.cancel.clone();
    let work = move || {
        runtime.block_on(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                came = run_order(order, library, Box::new(world)) => drop(done.send(came)),
            }
        });
    };
    // If the thread cannot start, the sender is dropped, and the receiver notices.
    drop(std::thread::Builder::new().stack_size(STACK).spawn(work));
    came
}

async fn run(job: Job, mut host: TurnHost) -> TurnResult {
    let started = Instant::now();
    let Job { turn, text, script, order, library, world, wires, next, lang } = job;
    let opened = Event::TurnStarted { turn, text: text.clone(), origin: TurnOrigin::Typed };
    host.emit(opened).await;
    let mut stage = Stage::new(&mut host, next, lang);
    let came = match order {
        Ok(order) => stage.play(begin(order, library, world), wires).await,
        Err(why) => Came::Ended(Err(why)),
    };
    let (ending, result) = stage.finish(came).await;
    let (kept, usage) = (stage.kept(&script, &text, &result), stage.usage);
    let (next_step, next_ask) = stage.next;
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    host.emit(Event::TurnEnded { turn, ending: ending.clone(), usage, elapsed_ms }).await;
    TurnResult { ending, record: kept, usage, next_step, next_ask }
}

/// The meaning of a decision for a script; `None`: the user wants everything to stop.
pub(super) fn said(decision: Decision) -> Option<ScriptAnswer> {
    let may =
        |text: &str| [Lang::En, Lang::Zh].iter().any(|lang| words::SCRIPT_MAY.text(*lang) == text);
    Some(match decision {
        Decision::Approve | Decision::ApproveAll { .. } | Decision::Remember(_) => {
            ScriptAnswer::Yes
        }
        Decision::Edit(work) => ScriptAnswer::Instead(work),
        Decision::Answer { text } if may(&text) => ScriptAnswer::Yes,
        Decision::Trust => ScriptAnswer::Trust,
        Decision::Answer { .. } | Decision::Reject { .. } | Decision::Dismiss => ScriptAnswer::No,
        Decision::Stop => return None,
    })
}

/// The question whether a script may make a call; it belongs to no step.
pub(super) fn may_call(text: &str, lang: Lang) -> Question {
    Question::Choice {
        step: String::new(),
        text: text.to_owned(),
        choices: [words::SCRIPT_MAY, words::SCRIPT_MAY_NOT]
            .map(|word| word.text(lang).to_owned())
            .to_vec(),
        free: false,
    }
}

enum Came {
    Ended(Result<RunResult, LocalizedText>),
    Cancelled,
    /// The user stopped at a question.
    Stopped,
}

/// The shown turn of a script.
struct Stage<'h> {
    host: &'h mut TurnHost,
    /// The growing answer; `None` if there is none.
    growing: Option<String>,
    /// The last answer, and all answers for the model.
    last: String,
    said: Vec<String>,
    seen: Vec<Observation>,
    calls: usize,
    usage: Usage,
    /// The numbers of the next step and the next question.
    next: (u64, u64),
    lang: Lang,
}

impl<'h> Stage<'h> {
    fn new(host: &'h mut TurnHost, next: (u64, u64), lang: Lang) -> Stage<'h> {
        Stage {
            host,
            growing: None,
            last: String::new(),
            said: Vec::new(),
            seen: Vec::new(),
            calls: 0,
            usage: Usage::default(),
            next,
            lang,
        }
    }

    async fn play(
        &mut self,
        mut running: oneshot::Receiver<Result<RunResult, LocatedError>>,
        mut ears: Ears,
    ) -> Came {
        let cancel = self.host.desk.cancel.clone();
        let came = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break Came::Cancelled,
                Some(told) = ears.told.recv() => self.told(told).await,
                Some((asked, answer)) = ears.asked.recv() => match self.asked(asked).await {
                    // A script that ended needs no answer.
                    Ok(said) => drop(answer.send(said)),
                    Err(stop) => break stop,
                },
                came = &mut running => break Came::Ended(match came {
                    Ok(came) => came.map_err(|failure| offered::in_here(failure).localized()),
                    Err(_) => Err(words::SCRIPT_BROKE.into()),
                }),
                () = self.host.outbox.flush(), if self.host.outbox.is_waiting() => {}
            }
        };
        if !matches!(came, Came::Ended(_)) {
            cancel.cancel();
            // Releases what the script holds; a running computation cannot be interrupted.
            let _ = tokio::time::timeout(GRACE, running).await;
        }
        while let Ok(told) = ears.told.try_recv() {
            self.told(told).await;
        }
        came
    }

    async fn told(&mut self, told: ScriptEvent) {
        match told {
            ScriptEvent::ModelCallStarted => {
                self.close().await;
                self.open().await;
            }
            ScriptEvent::Delta(text) => {
                self.open().await;
                if let Some(growing) = &mut self.growing {
                    growing.push_str(&text);
                }
                self.host.outbox.stream(Event::Delta { text });
            }
            ScriptEvent::Reasoning(text) => self.host.outbox.stream(Event::ReasoningDelta { text }),
            ScriptEvent::Print(value) => {
                self.close().await;
                self.reply(shown(&value), false).await;
            }
            ScriptEvent::TokensUsed(usage) => self.usage = self.usage.plus(usage),
            ScriptEvent::StepStarted(began) => {
                self.close().await;
                let (step, risk) = *began;
                self.counted(&step.id);
                self.host.emit(Event::StepStarted { step, risk }).await;
            }
            ScriptEvent::Output(id, text) => self.host.emit(Event::StepOutput { id, text }).await,
            ScriptEvent::StepFinished(seen) => {
                self.close().await;
                self.counted(&seen.step.id);
                self.seen.push((*seen).clone());
                self.host.emit(Event::StepFinished(seen)).await;
            }
            ScriptEvent::ScriptCalled(name) => {
                self.calls += 1;
                let say = match self.calls.cmp(&MOST_CALLS) {
                    std::cmp::Ordering::Less => words::SCRIPT_CALLS.with("name", name),
                    std::cmp::Ordering::Equal => words::SCRIPT_MORE_CALLS.into(),
                    std::cmp::Ordering::Greater => return,
                };
                self.host.emit(Event::Notice(Notice::info(say))).await;
            }
            ScriptEvent::Note(say) => self.host.emit(Event::Notice(Notice::warning(say))).await,
        }
    }

    async fn open(&mut self) {
        if self.growing.is_none() {
            self.growing = Some(String::new());
            self.host.emit(Event::ReplyStarted).await;
        }
    }

    /// Ends the growing answer.
    async fn close(&mut self) {
        let Some(text) = self.growing.take() else { return };
        if !text.is_empty() {
            self.said(text, true).await;
        }
    }

    async fn reply(&mut self, text: String, markdown: bool) {
        if !text.is_empty() {
            self.host.emit(Event::ReplyStarted).await;
            self.said(text, markdown).await;
        }
    }

    async fn said(&mut self, message: String, markdown: bool) {
        self.last.clone_from(&message);
        if self.said.iter().map(String::len).sum::<usize>() < MOST_KEPT {
            self.said.push(digest::cut_middle(&message, MOST_KEPT));
        }
        let replied = ModelMessage { message, markdown, ..ModelMessage::default() };
        self.host.emit(Event::Replied(replied)).await;
    }

    /// The script's host numbers its steps.
    fn counted(&mut self, id: &str) {
        let number = id.rsplit('_').next().and_then(|digits| digits.parse::<u64>().ok());
        self.next.0 = self.next.0.max(number.map_or(0, |number| number.saturating_add(1)));
    }

    /// Asks the user a question; a cancel withdraws it.
    async fn asked(&mut self, asked: ScriptQuestion) -> Result<ScriptAnswer, Came> {
        self.close().await;
        let question = self.question(asked);
        let id = AskId(self.next.1);
        self.next.1 += 1;
        let cancel = self.host.desk.cancel.clone();
        let decision = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            decision = self.host.ask(Ask { id, question }) => Some(decision),
        };
        let Some(decision) = decision else {
            self.host.emit(Event::QuestionClosed { ask: id }).await;
            return Err(Came::Cancelled);
        };
        said(decision).ok_or(Came::Stopped)
    }

    fn question(&mut self, asked: ScriptQuestion) -> Question {
        match asked {
            ScriptQuestion::Step { question, .. } => {
                if let Question::Step { step, .. } = question.as_ref() {
                    self.counted(&step.id);
                }
                *question
            }
            ScriptQuestion::Call(say) => {
                may_call(&self.host.desk.redactor.mask(&say.text(self.lang)), self.lang)
            }
        }
    }

    /// Shows the result, and returns the text for the model.
    async fn finish(&mut self, came: Came) -> (TurnOutcome, String) {
        self.close().await;
        match came {
            Came::Ended(Ok(done)) => {
                let text = shown(&done.value);
                if text.trim() != self.last.trim() {
                    self.reply(text, true).await;
                }
                (TurnOutcome::Done, self.said.join("\n\n"))
            }
            Came::Ended(Err(why)) => {
                let read = format!("It failed: {}", why.text(Lang::En));
                (TurnOutcome::Failed { why }, read)
            }
            Came::Cancelled => (TurnOutcome::Cancelled, "(cancelled by the user)".to_owned()),
            Came::Stopped => (TurnOutcome::Stopped, "(stopped by the user)".to_owned()),
        }
    }

    fn kept(&mut self, script: &str, text: &str, result: &str) -> TurnRecord {
        let mut kept = TurnRecord::default();
        let typed = digest::cut_middle(text, MOST_KEPT / 8);
        let result = digest::cut_middle(result, MOST_KEPT);
        let script = digest::cut_middle(script, MOST_KEPT / 8);
        kept.add_user(&format!("(The user ran the script `{script}`: {typed})\n{result}"));
        kept.add_steps(&std::mem::take(&mut self.seen));
        kept
    }
}
