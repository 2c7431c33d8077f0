//! `run SCRIPT`: runs a script with the model, the tools and the policy of this folder.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Fuse, FusedFuture};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::runtime::LEAVING;
use super::script_agent;
use super::script_check;
use super::script_commands;
use super::session_builder;
use super::startup::{self, Startup};
use super::step_runner;
use super::terminal_question::TerminalQuestion;
use crate::cli::Exit;
use crate::cli::args::{ApprovalFlags, RunScript};
use crate::cli::messages::{self, Printer};
use crate::cli::output;
use crate::cli::script::{RunFormat, Writer};
use crate::cli::script_command::SearchFolders;
use avocet_core::i18n::{
    Localize, LocalizedText, cli as phrases, script_run as run_words, session as session_words,
};
use avocet_core::protocol::budget::{Budget, Spent};
use avocet_core::protocol::{Message, Notice, Provider, Question, StepAction, StepQuestion};
use avocet_core::signals;
use avocet_present::Severity;
use avocet_script::host::{FormAnswer, InputAnswer, InputForm, InputQuestion, PackKey};
use avocet_script::manifest::Manifest;
use avocet_script::manifest::input::{self, ScriptArgs};
use avocet_script::source::ScriptLibrary;
use avocet_script::{
    AnswerPart, ErrorCause, LocatedError, ModelCall, ProgramOutput, RunRequest, RunResult,
    ScriptEvent, ScriptHost, StepError, run,
};
use avocet_session::run_clock::RunClock;
use avocet_session::script_host::{
    AskUser, STACK, ScriptAnswer, ScriptGrant, ScriptQuestion, SessionScriptHost,
};
use avocet_session::script_places::ScriptPlaces;
use avocet_session::session_hooks::ScriptHooks;

/// Runs a script from the command line.
pub fn run_script(
    startup: Startup,
    script: &RunScript,
    json: bool,
    approved: ApprovalFlags,
) -> Exit {
    startup.report_problems();
    let search = SearchFolders { search: script.search.clone() };
    if script.check {
        let library = script_commands::library(&startup, &search);
        let named = script_check::named_scripts(&script.script, &script.args);
        return script_check::check_scripts(&startup, &named, &library, json);
    }
    let library = script_commands::opening_library(&startup, &search);
    let args = match script_args(script, &startup.folder, &library) {
        Ok(args) => args,
        Err(say) => return report_error(&startup, json, say),
    };
    let request = RunRequest {
        script: script.script.clone(),
        from: startup.folder.clone(),
        args,
        streams: !script.no_stream,
        asks_inputs: true,
    };
    let built = match session_builder::build(
        &startup,
        script.bot.as_deref(),
        step_runner::SessionPurpose::Script,
    ) {
        Ok(built) => built,
        Err(failure) => return startup.fail(&failure.notice, failure.exit),
    };
    let (event, hear) = mpsc::unbounded_channel();
    let (ask, questions) = mpsc::unbounded_channel();
    let ask = can_type(script).then_some(ask);
    // The guide has a fixed role and cannot serve as the model of a script.
    let first = built.model_access.first;
    let model = (first.provider != Provider::Guide).then_some(first.model);
    if let Some(model) = model.as_ref().filter(|model| model.prices().is_none()) {
        warn_of_unknown_price(&startup, model.name());
    }
    let mut security = built.security;
    let is_trusted = security.place.trusted;
    let hooks = ScriptHooks::without_session(built.access.hooks, is_trusted, &mut security.policy);
    let asks = answers(approved, ask);
    let mut host = SessionScriptHost::new(model, built.tools, security, event.clone(), asks, hooks);
    let startup = Arc::new(startup);
    host.agent = Some(script_agent::runner(&startup, approved, can_type(script), event));
    let ScriptPlaces { environment, time_limit, .. } = startup.script_folder_finder()(true);
    host.grant = ScriptGrant { environment, budget: run_budget(&startup), is_sealed: false };
    host.effort = built.model_access.effort;
    host.set_store(startup.shared.store.clone());
    let leaving = [startup.shared.leaving.clone(), host.cancel.clone()];
    let format =
        RunFormat { verbose: script.verbose > 0, ..run_format(&startup, json, script.no_stream) };
    let (calls, recorded) = mpsc::unbounded_channel();
    let host = final_host(host, script.dry_run, calls);
    let channels = ScriptChannels {
        events: hear,
        questions,
        leaving,
        clock: RunClock::new(time_limit.filter(|_| !script.dry_run)),
    };
    exit_of(run_and_print(request, library, host, channels, format, recorded), &startup, json)
}

fn exit_of(ended: io::Result<ScriptEnd>, startup: &Startup, json: bool) -> Exit {
    match ended {
        Ok(ScriptEnd::Done) => Exit::Done,
        Ok(ScriptEnd::Signal(number)) => Exit::by_signal(number),
        Ok(ScriptEnd::Failed(failure)) => {
            if !json {
                let notice = Notice::error(failure.localized());
                messages::notice(&mut output::stderr(), &notice, startup.printer());
            }
            exit_after(failure.cause)
        }
        // The reader of the output is gone, so an error message is useless.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(error) => startup.fail_io(&error),
    }
}

fn exit_after(cause: ErrorCause) -> Exit {
    match cause {
        ErrorCause::Script => Exit::Failed,
        ErrorCause::Declined => Exit::Blocked,
        ErrorCause::Limit => Exit::Limit,
        ErrorCause::Model => Exit::Model,
    }
}

enum ScriptEnd {
    Done,
    Failed(Box<LocatedError>),
    Signal(i32),
}

/// The messages of each call that a dry run would have made.
type RecordedCalls = mpsc::UnboundedReceiver<Vec<Message>>;

/// Prints an event; problems that did not end the run are notices.
fn print_event(writer: &mut Writer<impl io::Write>, event: &ScriptEvent) -> io::Result<()> {
    if let ScriptEvent::Note(say) = event
        && !writer.format.json
    {
        print_notice(&Notice::warning(say.clone()), writer.format);
    }
    if let ScriptEvent::Message(role, text) = event
        && writer.format.verbose
        && !writer.format.live
        && !writer.format.json
    {
        writeln!(output::stderr(), "{}", startup::clean(&format!("{role}: {text}")))?;
    }
    writer.write_event(event)
}

fn print_notice(notice: &Notice, format: RunFormat) {
    let mut out = output::stderr();
    let width = out.columns();
    let printer = Printer { lang: format.lang, clean: startup::clean, width };
    messages::notice(&mut out, notice, printer);
}

/// A question to the user, and where the answer goes.
type AskedQuestion = (TerminalQuestion, oneshot::Sender<ScriptAnswer>);

/// What comes from a running script, and what ends it.
struct ScriptChannels {
    events: mpsc::UnboundedReceiver<ScriptEvent>,
    questions: mpsc::UnboundedReceiver<AskedQuestion>,
    leaving: [CancellationToken; 2],
    clock: RunClock,
}

fn run_and_print(
    request: RunRequest,
    library: ScriptLibrary,
    host: Box<dyn ScriptHost>,
    channels: ScriptChannels,
    format: RunFormat,
    mut recorded: RecordedCalls,
) -> io::Result<ScriptEnd> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut writer = Writer::new(output::stdout(), format);
    let came =
        run_beside(&runtime, || Box::pin(run(request, library, host)), channels, &mut writer)?;
    runtime.shutdown_background();
    let calls: Vec<_> = std::iter::from_fn(|| recorded.try_recv().ok()).collect();
    match (came, calls.is_empty()) {
        (Err(number), _) => Ok(ScriptEnd::Signal(number)),
        (Ok(came), false) => {
            for (at, messages) in calls.iter().enumerate() {
                writer.write_messages(messages, (calls.len() > 1).then_some(at + 1))?;
            }
            let rest = match came {
                Err(failure) => Some(phrases::DRY_REST.with("why", failure.message)),
                Ok(_) if calls.len() > 1 => Some(phrases::DRY_STANDS.into()),
                Ok(_) => None,
            };
            writer.write_dry_end(rest.as_ref())?;
            if let Some(rest) = rest.filter(|_| !format.json) {
                print_notice(&Notice::info(rest), format);
            }
            Ok(ScriptEnd::Done)
        }
        (Ok(came), true) => {
            writer.write_end(&came)?;
            Ok(match came {
                Ok(_) => ScriptEnd::Done,
                Err(failure) => ScriptEnd::Failed(Box::new(failure)),
            })
        }
    }
}

/// Runs the script on a thread of its own, where it computes, so that a signal is heard meanwhile.
fn run_beside(
    runtime: &tokio::runtime::Runtime,
    start: impl FnOnce() -> BoxFuture<'static, Result<RunResult, LocatedError>> + Send + 'static,
    channels: ScriptChannels,
    writer: &mut Writer<impl io::Write>,
) -> io::Result<Result<Result<RunResult, LocatedError>, i32>> {
    let (done, running) = oneshot::channel();
    let handle = runtime.handle().clone();
    let work = move || drop(done.send(handle.block_on(start())));
    std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    let mut running = running.fuse();
    let leaving = channels.leaving.clone();
    runtime.block_on(async {
        let came = drive(&mut running, channels, writer).await;
        if !running.is_terminated() {
            leaving.iter().for_each(CancellationToken::cancel);
            // The running step is ended, and no other starts.
            let _ = tokio::time::timeout(LEAVING, &mut running).await;
        }
        came
    })
}

type RunningScript = Fuse<oneshot::Receiver<Result<RunResult, LocatedError>>>;

/// Runs a script to its end, while its events are printed and its questions asked; an error is the
/// signal that ended it.
async fn drive(
    running: &mut RunningScript,
    channels: ScriptChannels,
    writer: &mut Writer<impl io::Write>,
) -> io::Result<Result<Result<RunResult, LocatedError>, i32>> {
    let ScriptChannels { mut events, mut questions, mut clock, .. } = channels;
    let mut signals = signals::listen_ending();
    // The answer that is being typed, and where it goes.
    let mut typing: Option<(BoxFuture<'_, ScriptAnswer>, oneshot::Sender<ScriptAnswer>)> = None;
    let came = loop {
        let is_typing = typing.is_some();
        tokio::select! {
            biased;
            Some(event) = events.recv() => print_event(writer, &event)?,
            Some((asked, answer)) = questions.recv(), if !is_typing => {
                clock.pause();
                writer.end_line()?;
                let width = output::stderr().columns();
                let lang = writer.format.lang;
                let printer = Printer { lang, clean: startup::clean, width };
                typing = Some((asked.answer(printer).boxed(), answer));
            }
            Some(answered) = conditional(typing.as_mut().map(|(line, _)| line)), if is_typing => {
                clock.resume();
                if let Some((_, answer)) = typing.take() {
                    // A script that ended needs no answer.
                    drop(answer.send(answered));
                }
            }
            came = &mut *running => {
                let broke = |_| io::Error::other("the script's thread broke");
                break Ok(came.map_err(broke)?);
            }
            Some(number) = signals.recv() => break Err(number),
            late = clock.expired(), if !is_typing => break Ok(Err(late)),
        }
    };
    while let Ok(event) = events.try_recv() {
        print_event(writer, &event)?;
    }
    Ok(came)
}

async fn conditional<T>(work: Option<&mut BoxFuture<'_, T>>) -> Option<T> {
    match work {
        Some(work) => Some(work.await),
        None => None,
    }
}

/// Whether a line can be typed at the terminal: not if the arguments come from it.
fn can_type(script: &RunScript) -> bool {
    io::stdin().is_terminal()
        && output::stderr().is_terminal()
        && !script.args.iter().any(|word| word == PIPED)
}

/// The host of the run, or of one that calls no model.
fn final_host(
    host: SessionScriptHost,
    is_dry: bool,
    calls: mpsc::UnboundedSender<Vec<Message>>,
) -> Box<dyn ScriptHost> {
    if is_dry { Box::new(DryRunHost { inner: host, count: 0, calls }) } else { Box::new(host) }
}

/// A limit in money counts nothing where the model has no price.
fn warn_of_unknown_price(startup: &Startup, model: &str) {
    if startup.loaded.settings.spend_limits.run.cost.is_some() {
        let say = session_words::COST_UNKNOWN.with("model", model);
        let notice = Notice::warning(say).with_hint(session_words::COST_UNKNOWN_HINT);
        messages::notice(&mut output::stderr(), &notice, startup.printer());
    }
}

/// What the run may spend.
fn run_budget(startup: &Startup) -> Budget {
    Budget::new(startup.loaded.settings.spend_limits, Spent::default())
}

/// The argument that means standard input, and the maximum size of that, in bytes.
const PIPED: &str = "-";
const MAX_TYPED: u64 = 16 << 20;

/// The arguments as typed, and the text of standard input if it is asked for. What is typed wins.
fn script_args(
    script: &RunScript,
    from: &Path,
    library: &ScriptLibrary,
) -> Result<ScriptArgs, LocalizedText> {
    let (piped, typed): (Vec<&String>, Vec<&String>) =
        script.args.iter().partition(|word| *word == PIPED);
    let typed: Vec<&str> = typed.into_iter().map(String::as_str).collect();
    // A script that cannot be read is reported when it runs.
    let shape = library.find(&script.script, from).and_then(|it| Manifest::load(it, library)).ok();
    let inputs = shape.map(|shape| shape.inputs).unwrap_or_default();
    let typed = ScriptArgs::from_words(&inputs, &typed, !piped.is_empty())?;
    if piped.is_empty() {
        return Ok(typed);
    }
    let text = read_piped(io::stdin().lock(), MAX_TYPED)?;
    let mut args = input::piped_args(&inputs, &text);
    args.extend(&inputs, typed);
    Ok(args)
}

/// The text of standard input. A part of it would be another text, so a longer one is refused.
fn read_piped(input: impl Read, most: u64) -> Result<String, LocalizedText> {
    let failed = |why: String| phrases::ARGS_NO_INPUT.with("why", why);
    let mut bytes = Vec::new();
    let read = input.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(phrases::ARGS_LONG_INPUT.with("most", most >> 20));
    }
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

fn run_format(startup: &Startup, json: bool, no_stream: bool) -> RunFormat {
    let is_terminal = output::stdout().is_terminal();
    RunFormat {
        json,
        live: is_terminal && !no_stream,
        verbose: false,
        lang: startup.lang(),
        clean: if is_terminal { startup::clean } else { str::to_owned },
    }
}

/// `-y` approves what would be asked; what it does not cover is asked at a terminal.
fn answers(approved: ApprovalFlags, ask: Option<mpsc::UnboundedSender<AskedQuestion>>) -> AskUser {
    let yes = approved.steps.is_some();
    Arc::new(move |asked| {
        let (may, question) = match asked {
            ScriptQuestion::Input(question) => (false, TerminalQuestion::Input(question)),
            // A terminal asks for one line after the other.
            ScriptQuestion::Form(_) => {
                return std::future::ready(ScriptAnswer::Form(FormAnswer::OneByOne)).boxed();
            }
            ScriptQuestion::Call(text) => (yes, TerminalQuestion::Call(text)),
            // Approval in advance does not cover steps without the sandbox.
            ScriptQuestion::Step { risk, question } => {
                let covered = match question.as_ref() {
                    Question::Step(StepQuestion { step, .. }) => approved.covers(&risk, &step.work),
                    _ => approved.all || risk.can_preapprove() && approved.secrets,
                };
                (yes && covered, TerminalQuestion::Step(Severity::of(&risk), question))
            }
        };
        if may {
            return std::future::ready(ScriptAnswer::Preapproved).boxed();
        }
        let (answer, answered) = oneshot::channel();
        if let Some(ask) = &ask {
            // A run that is over gets no answer.
            let _ = ask.send((question, answer));
        }
        async move { answered.await.unwrap_or(ScriptAnswer::No) }.boxed()
    })
}

fn report_error(startup: &Startup, json: bool, text: LocalizedText) -> Exit {
    if json {
        let came = Err(LocatedError::new(text));
        return match Writer::new(output::stdout(), run_format(startup, json, true)).write_end(&came)
        {
            Ok(()) => Exit::Failed,
            Err(error) => startup.fail_io(&error),
        };
    }
    startup.fail(&Notice::error(text), Exit::Failed)
}

/// The most calls of a dry run: a loop may wait for a reply that never comes.
const MAX_DRY: usize = 32;

/// A host without a model: each call is recorded, and answered with a placeholder.
/// Nothing is changed: files are read, and other steps are skipped.
struct DryRunHost {
    inner: SessionScriptHost,
    count: usize,
    calls: mpsc::UnboundedSender<Vec<Message>>,
}

impl ScriptHost for DryRunHost {
    fn call_model(
        &mut self,
        call: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>> {
        if self.count >= MAX_DRY {
            return stream::iter([Err(phrases::DRY_RUN.into())]).boxed();
        }
        self.count += 1;
        let mut messages = call.messages;
        if self.inner.is_sealed() {
            let text = LocalizedText::from(run_words::SEALED_MESSAGE);
            messages = vec![Message::user(text.to_string())];
        }
        // The run is being dropped: there is no receiver.
        let _ = self.calls.send(messages);
        let sample = call.sample.unwrap_or_else(|| format!("<reply {}>", self.count));
        let answer = AnswerPart::Text(sample);
        stream::iter([Ok(answer), Ok(AnswerPart::Finished(None))]).boxed()
    }

    fn emit(&mut self, event: ScriptEvent) {
        // Output is dropped, since it may depend on answers that do not exist.
        if let ScriptEvent::Note(_) = event {
            self.inner.emit(event);
        }
    }

    fn seal(&mut self) {
        self.inner.seal();
    }

    fn is_sealed(&self) -> bool {
        self.inner.is_sealed()
    }

    fn confirm(&mut self, _: LocalizedText) -> BoxFuture<'_, bool> {
        std::future::ready(true).boxed()
    }

    fn ask_input(&mut self, question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        let answer = match question.form {
            InputForm::Text { default } => {
                InputAnswer::Text(default.unwrap_or_else(|| "<input>".to_owned()))
            }
            InputForm::Confirm | InputForm::Choice { .. } => InputAnswer::Picked(0),
        };
        std::future::ready(Some(answer)).boxed()
    }

    fn stop_token(&self) -> CancellationToken {
        self.inner.stop_token()
    }

    fn environment(&self) -> Map<String, Value> {
        self.inner.environment()
    }

    fn run_step(
        &mut self,
        action: StepAction,
        text: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        match action.tool() {
            "file.read" => self.inner.run_step(action, text),
            tool => {
                let output = ProgramOutput::of_text(format!("<output of {tool}>"));
                std::future::ready(Ok(output)).boxed()
            }
        }
    }

    fn model_name(&self) -> Option<String> {
        self.inner.model_name()
    }

    fn load_value(&mut self, key: PackKey) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        self.inner.load_value(key)
    }

    fn store_value(
        &mut self,
        key: PackKey,
        _: Option<Value>,
    ) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        self.inner.load_value(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_text_that_is_too_long_is_refused_and_never_cut() {
        let read = |text: &str| read_piped(text.as_bytes(), 8);
        assert_eq!(read("12345678"), Ok("12345678".to_owned()));
        let error = read("123456789").unwrap_err().text(avocet_core::i18n::Lang::En);
        assert!(error.contains("was not read"), "{error}");
        // The limit is in the middle of a letter.
        let error = read("1234567你好").unwrap_err().text(avocet_core::i18n::Lang::En);
        assert!(error.contains("was not read"), "{error}");
    }
}
