//! Runs one turn without a screen: a message, or a command of the user's own.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use super::runtime::{Unsaved, runtime, shutdown_timeout, wait_for_session};
use super::startup::{self, Startup};
use super::{session_builder, step_runner, subcommands};
use crate::cli::args::{ApprovalFlags, Cli, InputFormat, ResumeChoice};
use crate::cli::extensions::args::AfterFill;
use crate::cli::headless::Options;
use crate::cli::messages::Printer;
use crate::cli::print::{self, PrintChannels, PrintTurns};
use crate::cli::schema::Schema;
use crate::cli::{Exit, input, message_stream, messages, output};
use avocet_config::extensions::{ExtensionFileKind, ExtensionLibrary, expand};
use avocet_config::{ConfigDiagnostic, ConfigError};
use avocet_core::i18n::{
    Localize, LocalizedText, cli as phrases, library as w, model as model_words,
};
use avocet_core::prompt::input::{self as line, Intent};
use avocet_core::protocol::{
    ExtensionOp, McpAction, Notice, Op, Prompt, PromptPart, Report, ServerPromptCall, SessionOp,
    TurnOp,
};
use avocet_core::signals;
use avocet_present::commands;
use avocet_session::persistence::ResumeTarget;
use avocet_session::{self as session, SessionConfig};

/// The turn, and its options.
pub struct HeadlessOptions {
    pub input: HeadlessInput,
    pub bot: Option<String>,
    pub form: HeadlessForm,
    /// A saved conversation to continue.
    pub resume: Option<ResumeChoice>,
}

/// What goes in and out, and what is approved in advance.
pub struct HeadlessForm {
    json: bool,
    /// Where the messages after the first one come from.
    input_format: InputFormat,
    approved: ApprovalFlags,
    schema: Option<PathBuf>,
}

impl HeadlessForm {
    pub fn new(cli: &Cli) -> HeadlessForm {
        HeadlessForm {
            json: cli.run.json,
            input_format: cli.input_format,
            approved: cli.approval_flags(),
            schema: cli.run.output_schema.clone(),
        }
    }

    fn options(
        &self,
        startup: &Startup,
        config: &SessionConfig,
        schema: Option<Schema>,
        has_user: bool,
    ) -> Options {
        let is_terminal = output::stdout().is_terminal();
        Options {
            json: self.json,
            approved: self.approved,
            has_user,
            schema,
            printer: Printer { width: output::stdout().columns(), ..startup.printer() },
            clean: if is_terminal { startup::clean } else { str::to_owned },
            secrets: Arc::clone(&config.security.redactor),
        }
    }
}

/// The input of the turn.
pub enum HeadlessInput {
    /// The text after `-p`; `piped`: standard input is added to it.
    Message { prompt: Option<String>, piped: bool },
    /// A command by its name. Its shell pieces read standard input if it is piped; without shell
    /// pieces it is added to the message.
    Command { name: String, args: String, then: AfterFill, piped: bool },
}

impl HeadlessOptions {
    pub fn run(self, startup: Startup) -> Exit {
        startup.report_problems();
        match self.prepare(&startup) {
            Ok((op, schema, built)) => self.run_turn(&startup, op, schema, built),
            Err(exit) => exit,
        }
    }

    /// What the turn needs. What is wrong with the command line is said before that there is no
    /// model.
    fn prepare(
        &self,
        startup: &Startup,
    ) -> Result<(Option<Op>, Option<Schema>, SessionConfig), Exit> {
        let op = self.first_op(startup)?;
        let schema = self.form.schema.as_deref().map(Schema::read).transpose();
        let schema = schema
            .map_err(|error| startup.fail(&Notice::error(error.localized()), Exit::WrongUse))?;
        let surface = match op {
            Some(Op::Turn(TurnOp::Render { .. })) => step_runner::SessionPurpose::Render,
            _ => step_runner::SessionPurpose::Print,
        };
        let built = session_builder::build(startup, self.bot.as_deref(), surface);
        let mut built = built.map_err(|failure| startup.fail(&failure.notice, failure.exit))?;
        built.persona.answer_schema =
            schema.as_ref().map(|schema| Arc::new(schema.value().clone()));
        let op = op.map(|op| needs_model(op, startup)).transpose()?;
        if let Some(take) = &self.resume {
            let id = subcommands::session_to_resume(startup, take)
                .map_err(|why| startup.fail(&why.0, why.1))?;
            built.persistence.resume = Some(ResumeTarget::Id(id));
        }
        Ok((op, schema, built))
    }

    fn run_turn(
        self,
        startup: &Startup,
        op: Option<Op>,
        schema: Option<Schema>,
        config: SessionConfig,
    ) -> Exit {
        let asks = io::stdin().is_terminal() && output::stderr().is_terminal();
        let options = self.form.options(startup, &config, schema, asks);
        let later = match self.form.input_format {
            // There are none.
            InputFormat::Text => Ok(tokio::sync::mpsc::channel(1).1),
            InputFormat::StreamJson => message_stream::read(io::stdin()),
        };
        let (runtime, later) = match (runtime(), later) {
            (Ok(runtime), Ok(later)) => (runtime, later),
            (Err(error), _) | (_, Err(error)) => return startup.fail_io(&error),
        };
        let op_of = |text: &str| {
            message_op(startup, Some(text), false).and_then(|op| needs_model(op, startup))
        };
        let (exit, farewell) = runtime.block_on(async {
            let handle = session::start(config);
            let channels = PrintChannels {
                ops: handle.ops,
                events: handle.events,
                signals: signals::listen_ending(),
                grace: print::GRACE_PERIOD,
                leaving: startup.shared.leaving.clone(),
            };
            let person = if asks { print::terminal_user() } else { print::no_user() };
            let streams = (output::stdout(), output::stderr());
            let turns = PrintTurns { first_op: op, later, op_of: &op_of };
            let exit = print::run(turns, channels, person, &options, streams).await;
            startup.shared.leaving.cancel();
            (exit, wait_for_session(handle.task, shutdown_timeout(exit)).await)
        });
        let what = match farewell.shut_down(runtime) {
            Unsaved::Nothing => return exit,
            Unsaved::Conversation(unsaved) => phrases::UNSAVED.with("why", unsaved.why),
            Unsaved::Unknown => phrases::LEFT_LATE.into(),
        };
        startup.fail(&Notice::error(what), if exit == Exit::Done { Exit::Failed } else { exit })
    }

    /// The operation for the session; `None`: the first message is yet to come.
    fn first_op(&self, startup: &Startup) -> Result<Option<Op>, Exit> {
        let is_stream = self.form.input_format == InputFormat::StreamJson;
        match &self.input {
            HeadlessInput::Message { prompt: None, .. } if is_stream => Ok(None),
            HeadlessInput::Message { prompt, piped } => {
                message_op(startup, prompt.as_deref(), *piped && !is_stream).map(Some)
            }
            HeadlessInput::Command { name, args, then, piped } => {
                let prompt = extension_prompt(startup, name, args, *piped && !is_stream)?;
                Ok(Some(match then {
                    AfterFill::Run => Op::Turn(TurnOp::SubmitPrompt { prompt }),
                    AfterFill::Render => Op::Turn(TurnOp::Render { prompt }),
                }))
            }
        }
    }
}

/// Without a model the offline guide would answer, and its text would be taken for an answer.
fn needs_model(op: Op, startup: &Startup) -> Result<Op, Exit> {
    let is_page = matches!(op, Op::Session(_) | Op::Extension(_));
    if is_page
        || matches!(
            op,
            Op::Turn(TurnOp::Render { .. } | TurnOp::Shell { .. } | TurnOp::MergeWorktree { .. })
        )
    {
        return Ok(op);
    }
    if startup.loaded.settings.connection.is_some() {
        // Another model than that of the profile must not answer in its place; it was reported.
        let is_misspelt = |diagnostic: &ConfigDiagnostic| {
            matches!(diagnostic.fault, ConfigError::NoProfile { .. })
        };
        return if startup.loaded.problems.iter().any(is_misspelt) {
            Err(Exit::Model)
        } else {
            Ok(op)
        };
    }
    let notice = Notice::error(phrases::NO_MODEL).with_hint(model_words::HOW_TO_CONNECT);
    Err(startup.fail(&notice, Exit::Model))
}

/// The page that a command shows.
fn page_op(command: &str, args: &str) -> Option<Op> {
    match command {
        // What does more than show something needs a user.
        "worktrees" if !args.starts_with("remove") => commands::worktrees_op(args),
        _ if !args.is_empty() => None,
        "hooks" => Some(Op::Session(SessionOp::Report { report: Report::Hooks })),
        "mcp" => Some(Op::Extension(ExtensionOp::Mcp { action: McpAction::Show })),
        _ => None,
    }
}

/// The text with the piped input after it. A name after `/` is a command here too; piped input is
/// never parsed as one.
fn message_op(startup: &Startup, prompt: Option<&str>, piped: bool) -> Result<Op, Exit> {
    if let Some(Intent::Command { name, args, mentions }) = prompt.map(line::parse) {
        if let Some(op) = command_op(startup, &name, &args)? {
            return Ok(op);
        }
        let mut prompt = extension_prompt(startup, &name, &args, piped)?;
        prompt.attach(mentions);
        return Ok(Op::Turn(TurnOp::SubmitPrompt { prompt }));
    }
    let mut parts = match prompt.map(line::parse) {
        Some(Intent::Shell { line, keep }) => return Ok(Op::Turn(TurnOp::Shell { line, keep })),
        Some(Intent::Message { parts }) => parts,
        Some(Intent::Command { .. } | Intent::Empty) | None => Vec::new(),
    };
    if piped {
        let read = input::read(open_stdin(startup, !parts.is_empty())?)
            .map_err(|error| startup.fail_io(&error))?;
        let read = input::join_message(None, Some(&read.text));
        let gap = if parts.is_empty() { "" } else { "\n\n" };
        parts.extend(read.map(|text| PromptPart::Text(format!("{gap}{text}"))));
    }
    if parts.is_empty() {
        let notice = Notice::error(phrases::NO_PROMPT).with_hint(phrases::NO_PROMPT_HINT);
        return Err(startup.fail(&notice, Exit::WrongUse));
    }
    Ok(line::submit_op(parts, str::to_owned))
}

/// What a command of our own or a script begins; `None`: it is another one's.
fn command_op(startup: &Startup, name: &str, args: &str) -> Result<Option<Op>, Exit> {
    let Some(command) = commands::find(name) else {
        let is_script = startup.script_folder_finder()(startup.trusted).has_command(name)
            && !has_extension(startup, name);
        return Ok(is_script.then(|| commands::run_op(&format!("{name} {args}"))));
    };
    let words = (!args.is_empty()).then(|| args.to_owned());
    Ok(Some(match command.name {
        "run" if words.is_some() => commands::run_op(args),
        "compress" => Op::Turn(TurnOp::Compress { focus: words }),
        "goal" => {
            let goal = commands::goal_to_set(args)
                .map_err(|why| startup.fail(&Notice::error(why), Exit::WrongUse))?;
            Op::Turn(TurnOp::Goal { goal })
        }
        own => match page_op(own, args) {
            Some(op) => op,
            None => {
                let notice = Notice::error(phrases::COMMAND_ON_SCREEN.with("name", name));
                let notice = notice.with_hint(phrases::COMMAND_ESCAPED);
                return Err(startup.fail(&notice, Exit::WrongUse));
            }
        },
    }))
}

/// Standard input. For one that is open and silent there is a notice: nothing comes where the rest of the message
/// is given, and else it is waited for.
fn open_stdin(startup: &Startup, has_message: bool) -> Result<Box<dyn io::Read + Send>, Exit> {
    let on_silence = || {
        let say = if has_message { phrases::STDIN_SILENT } else { phrases::STDIN_AWAITED };
        messages::notice(&mut output::stderr(), &Notice::info(say), startup.printer());
        !has_message
    };
    let input = input::open(io::stdin(), input::WAIT_TIMEOUT, on_silence);
    let input = input.map_err(|error| startup.fail_io(&error))?;
    Ok(input.unwrap_or_else(|| Box::new(io::empty())))
}

/// Whether it is a user's command or skill.
fn has_extension(startup: &Startup, name: &str) -> bool {
    library(startup).files.iter().any(|file| file.name == name)
}

fn library(startup: &Startup) -> ExtensionLibrary {
    let kinds = [ExtensionFileKind::Command, ExtensionFileKind::Skill];
    ExtensionLibrary::load_kinds(&startup.search_path(), &kinds)
}

/// The prompt of a user's command or skill.
fn extension_prompt(
    startup: &Startup,
    name: &str,
    args: &str,
    piped: bool,
) -> Result<Box<Prompt>, Exit> {
    let wrong = |text: LocalizedText| startup.fail(&Notice::error(text), Exit::WrongUse);
    let prompt = match expand::by_name(&library(startup), name, args) {
        // The server of that name is asked when the turn begins.
        Err(_) if ServerPromptCall::is_name(name) => Ok(Prompt::of_server(name, args)),
        found => found,
    };
    let mut prompt = prompt.map_err(wrong)?;
    if !piped {
        return Ok(Box::new(prompt));
    }
    if prompt.shell_lines().next().is_some() {
        let bytes = input::read_bytes(open_stdin(startup, true)?, MAX_INPUT_BYTES)
            .map_err(|error| startup.fail_io(&error))?;
        let Some(bytes) = bytes else {
            let say = w::PIPED_TOO_LONG.with("most", MAX_INPUT_BYTES / 1024);
            return Err(startup.fail(&Notice::error(say), Exit::Failed));
        };
        prompt.input = Some(bytes);
    } else {
        let piped =
            input::read(open_stdin(startup, true)?).map_err(|error| startup.fail_io(&error))?;
        let piped = piped.text.trim_end_matches(['\r', '\n']);
        if !piped.trim().is_empty() {
            prompt.parts.push(PromptPart::Text(format!("\n\n{piped}")));
        }
    }
    Ok(Box::new(prompt))
}

/// The largest standard input that shell pieces get, in bytes.
const MAX_INPUT_BYTES: usize = 4 << 20;
