//! `run SCRIPT`: runs a script with the model, the tools and the policy of this folder.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::runtime::LEAVING;
use super::session_builder;
use super::startup::{self, Startup};
use crate::cli::Exit;
use crate::cli::args::{ApprovalFlags, RunScript};
use crate::cli::messages::{self, Printer};
use crate::cli::output;
use crate::cli::script::{self as surface, RunFormat, Writer};
use crate::i18n::{Localize, LocalizedText, cli as words, common};
use crate::protocol::{
    Message, Notice, Provider, Question, SandboxDenial, StepAction, StepQuestion, Tier,
};
use crate::script::host::PackKey;
use crate::script::manifest::Manifest;
use crate::script::source::ScriptLibrary;
use crate::script::{
    AnswerPart, LocatedError, ModelCall, RunRequest, RunResult, ScriptEvent, ScriptHost, built_in,
    run,
};
use crate::session::script_host::{
    AskUser, STACK, ScriptAnswer, ScriptQuestion, SessionScriptHost,
};
use crate::session::script_places::{DiskFiles, ScriptPlaces};
use crate::signals;

/// Runs a script from the command line.
pub fn run_script(
    startup: Startup,
    asked: &RunScript,
    json: bool,
    approved: ApprovalFlags,
) -> Exit {
    startup.report_problems();
    let args = match typed_args(asked).and_then(|text| surface::args(text.as_deref())) {
        Ok(args) => args,
        Err(say) => return report_error(&startup, json, say),
    };
    let library = script_library(&startup, asked);
    let order = RunRequest {
        script: asked.script.clone(),
        from: startup.folder.clone(),
        args,
        streams: !asked.no_stream,
    };
    if asked.check {
        return check(&startup, &order, &library, json);
    }
    let built = match session_builder::build(
        &startup,
        asked.bot.as_deref(),
        session_builder::SessionPurpose::Script,
    ) {
        Ok(built) => built,
        Err(failure) => return startup.fail(&failure.notice, failure.exit),
    };
    let (event, hear) = mpsc::unbounded_channel();
    // The guide has a fixed role and cannot serve as the model of a script.
    let first = built.model_access.first;
    let model = (first.provider != Provider::Guide).then_some(first.model);
    let mut host =
        SessionScriptHost::new(model, built.tools, built.security, event, auto_answer(approved));
    host.set_store(startup.store());
    let leaving = [startup.leaving.clone(), host.cancel.clone()];
    let look = run_format(&startup, json, asked.no_stream);
    let (calls, recorded) = mpsc::unbounded_channel();
    let host: Box<dyn ScriptHost> = match asked.dry_run {
        false => Box::new(host),
        true => Box::new(DryRunHost { inner: host, count: 0, calls }),
    };
    let printer = startup.printer();
    let work = move || run_and_print(order, library, host, (hear, leaving), look, recorded);
    let ended = std::thread::Builder::new().stack_size(STACK).spawn(work).map(|it| it.join());
    match ended {
        Ok(Ok(Ok(ScriptEnd::Done))) => Exit::Done,
        Ok(Ok(Ok(ScriptEnd::Signal(number)))) => Exit::by_signal(number),
        Ok(Ok(Ok(ScriptEnd::Failed(say)))) => {
            if !json {
                let notice = Notice::error(say);
                messages::notice(&mut output::stderr(), &notice, printer);
            }
            Exit::Failed
        }
        // The reader of the output is gone, so an error message is useless.
        Ok(Ok(Err(error))) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Ok(Ok(Err(error))) | Err(error) => startup.fail_io(&error),
        Ok(Err(_)) => startup.fail_io(&io::Error::other("the script's thread broke")),
    }
}

enum ScriptEnd {
    Done,
    Failed(LocalizedText),
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
    writer.write_event(event)
}

fn print_notice(notice: &Notice, look: RunFormat) {
    let printer = Printer { lang: look.lang, clean: startup::clean };
    messages::notice(&mut output::stderr(), notice, printer);
}

fn run_and_print(
    order: RunRequest,
    library: ScriptLibrary,
    host: Box<dyn ScriptHost>,
    (mut hear, leaving): (mpsc::UnboundedReceiver<ScriptEvent>, [CancellationToken; 2]),
    look: RunFormat,
    mut recorded: RecordedCalls,
) -> io::Result<ScriptEnd> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut writer = Writer::new(output::stdout(), look);
    let came: Result<Result<RunResult, LocatedError>, i32> = runtime.block_on(async {
        let mut signals = signals::listen_ending();
        let mut running = Box::pin(run(order, library, host));
        let came = loop {
            tokio::select! {
                biased;
                Some(event) = hear.recv() => print_event(&mut writer, &event)?,
                came = &mut running => break Ok(came),
                Some(number) = signals.recv() => {
                    leaving.iter().for_each(CancellationToken::cancel);
                    // The running step is ended, and no other starts.
                    let _ = tokio::time::timeout(LEAVING, &mut running).await;
                    break Err(number);
                }
            }
        };
        while let Ok(event) = hear.try_recv() {
            print_event(&mut writer, &event)?;
        }
        io::Result::Ok(came)
    })?;
    runtime.shutdown_background();
    let calls: Vec<_> = std::iter::from_fn(|| recorded.try_recv().ok()).collect();
    match (came, calls.is_empty()) {
        (Err(number), _) => Ok(ScriptEnd::Signal(number)),
        (Ok(came), false) => {
            for (at, messages) in calls.iter().enumerate() {
                writer.write_messages(messages, (calls.len() > 1).then_some(at + 1))?;
            }
            let rest = match came {
                Err(failure) => Some(words::DRY_REST.with("why", failure.message)),
                Ok(_) if calls.len() > 1 => Some(words::DRY_STANDS.into()),
                Ok(_) => None,
            };
            if let Some(rest) = rest {
                print_notice(&Notice::info(rest), look);
            }
            Ok(ScriptEnd::Done)
        }
        (Ok(came), true) => {
            writer.write_end(&came)?;
            Ok(match came {
                Ok(_) => ScriptEnd::Done,
                Err(failure) => ScriptEnd::Failed(failure.localized()),
            })
        }
    }
}

/// The arguments as typed; `-` reads them from standard input.
fn typed_args(asked: &RunScript) -> Result<Option<String>, LocalizedText> {
    match asked.args.as_deref() {
        Some("-") => {
            let mut text = String::new();
            let read = io::stdin().lock().take(MOST_TYPED).read_to_string(&mut text);
            read.map_err(|error| words::ARGS_NO_INPUT.with("why", error.to_string()))?;
            Ok(Some(text))
        }
        other => Ok(other.map(str::to_owned)),
    }
}

const MOST_TYPED: u64 = 16 << 20;

fn script_library(startup: &Startup, asked: &RunScript) -> ScriptLibrary {
    let ScriptPlaces { folders, trusted } = startup.script_folder_finder()(startup.trusted);
    let named = asked.search.iter().map(|folder| startup.folder.join(folder));
    let folders: Vec<PathBuf> = named.chain(folders).collect();
    ScriptLibrary::new(Arc::new(DiskFiles { trusted }), folders, built_in::SCRIPTS)
}

fn run_format(startup: &Startup, json: bool, no_stream: bool) -> RunFormat {
    let is_terminal = output::stdout().is_terminal();
    RunFormat {
        json,
        live: is_terminal && !no_stream,
        lang: startup.lang(),
        clean: if is_terminal { startup::clean } else { str::to_owned },
    }
}

/// No user is present: `-y` approves what would be asked.
fn auto_answer(approved: ApprovalFlags) -> AskUser {
    let yes = approved.steps.is_some();
    Arc::new(move |asked| {
        let may = match asked {
            ScriptQuestion::Call(_) => yes,
            // Approval in advance does not cover steps without the sandbox.
            ScriptQuestion::Step { risk, question } => {
                let hands_out = match question.as_ref() {
                    Question::Step(StepQuestion { step, .. }) => {
                        risk.can_expose_secrets(&step.work)
                    }
                    _ => true,
                };
                let mild =
                    risk.tier <= Tier::L1 && !risk.lifted && risk.rule != SandboxDenial::RULE;
                yes && mild && (approved.secrets || !hands_out)
            }
        };
        let said = if may { ScriptAnswer::Yes } else { ScriptAnswer::No };
        async move { said }.boxed()
    })
}

fn report_error(startup: &Startup, json: bool, say: LocalizedText) -> Exit {
    if json {
        let came = Err(LocatedError::new(say));
        return match Writer::new(output::stdout(), run_format(startup, json, true)).write_end(&came)
        {
            Ok(()) => Exit::Failed,
            Err(error) => startup.fail_io(&error),
        };
    }
    startup.fail(&Notice::error(say), Exit::Failed)
}

/// Reads and checks a script without running any of it.
fn check(startup: &Startup, order: &RunRequest, library: &ScriptLibrary, json: bool) -> Exit {
    let came = library
        .find(&order.script, &order.from)
        .and_then(|source| Manifest::load(source, library))
        .and_then(|shape| crate::script::check(&shape, library).map(|()| shape));
    match came {
        Err(failure) => report_error(startup, json, failure.localized()),
        Ok(shape) => {
            let said = common::NO_PROBLEMS.with("file", shape.origin.file.clone());
            let value = Value::String(said.text(startup.lang()));
            let done = RunResult { value, visible: Vec::new() };
            match Writer::new(output::stdout(), run_format(startup, json, true))
                .write_end(&Ok(done))
            {
                Ok(()) => Exit::Done,
                Err(error) => startup.fail_io(&error),
            }
        }
    }
}

/// The most calls of a dry run: a loop may wait for a reply that never comes.
const MOST_DRY: usize = 32;

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
        if self.count >= MOST_DRY {
            return stream::iter([Err(words::DRY_RUN.into())]).boxed();
        }
        self.count += 1;
        // The run is being dropped: there is no receiver.
        let _ = self.calls.send(call.messages);
        let answer = AnswerPart::Text(format!("<reply {}>", self.count));
        stream::iter([Ok(answer), Ok(AnswerPart::Finished(None))]).boxed()
    }

    fn emit(&mut self, event: ScriptEvent) {
        // Output is dropped, since it may depend on answers that do not exist.
        if let ScriptEvent::Note(_) = event {
            self.inner.emit(event);
        }
    }

    fn confirm(&mut self, _: LocalizedText) -> BoxFuture<'_, bool> {
        std::future::ready(true).boxed()
    }

    fn run_step(&mut self, work: StepAction) -> BoxFuture<'_, Result<String, LocalizedText>> {
        match work.tool() {
            "file.read" => self.inner.run_step(work),
            tool => std::future::ready(Ok(format!("<output of {tool}>"))).boxed(),
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
