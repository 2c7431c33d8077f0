//! Runs one turn without a screen: a message, or a command of the user's own.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use super::runtime::{runtime, shutdown_timeout, wait_for_session};
use super::startup::{self, Startup};
use super::{session_builder, subcommands};
use crate::cli::args::{ApprovalFlags, ResumeChoice};
use crate::cli::extensions::args::AfterFill;
use crate::cli::headless::Options;
use crate::cli::print::{self, PrintChannels};
use crate::cli::schema::Schema;
use crate::cli::{Exit, input, output};
use crate::commands;
use crate::extensions::{ExtensionFileKind, ExtensionSet, expand};
use crate::i18n::{Localize, LocalizedText, cli as words, library as w};
use crate::prompt::input::{self as line, Intent};
use crate::protocol::{Mention, Notice, Op, Prompt, PromptPart};
use crate::session;
use crate::session::persistence::ResumeTarget;
use crate::signals;

/// The turn, and its options.
pub struct HeadlessOptions {
    pub input: HeadlessInput,
    pub bot: Option<String>,
    pub json: bool,
    pub approved: ApprovalFlags,
    pub schema: Option<PathBuf>,
    /// A saved conversation to continue.
    pub resume: Option<ResumeChoice>,
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
        let op = match self.first_op(&startup) {
            Ok(op) => op,
            Err(exit) => return exit,
        };
        let schema = match self.schema.as_deref().map(Schema::read).transpose() {
            Ok(schema) => schema,
            Err(error) => return startup.fail(&Notice::error(error.localized()), Exit::WrongUse),
        };
        let surface = match op {
            Op::Render { .. } => session_builder::SessionPurpose::Render,
            _ => session_builder::SessionPurpose::Print,
        };
        let mut built = match session_builder::build(&startup, self.bot.as_deref(), surface) {
            Ok(built) => built,
            Err(failure) => return startup.fail(&failure.notice, failure.exit),
        };
        if let Some(take) = &self.resume {
            match subcommands::session_to_resume(&startup, take) {
                Ok(id) => built.persistence.resume = Some(ResumeTarget::Id(id)),
                Err(why) => return startup.fail(&why.0, why.1),
            }
        }
        let out_is_terminal = output::stdout().is_terminal();
        let asks = io::stdin().is_terminal() && output::stderr().is_terminal();
        let options = Options {
            json: self.json,
            approved: self.approved,
            has_user: asks,
            schema,
            printer: startup.printer(),
            clean: if out_is_terminal { startup::clean } else { str::to_owned },
            secrets: Arc::clone(&built.security.redactor),
        };
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return startup.fail_io(&error),
        };
        let (exit, farewell) = runtime.block_on(async {
            let handle = session::start(built);
            let channels = PrintChannels {
                ops: handle.ops,
                events: handle.events,
                signals: signals::listen_ending(),
                grace: print::GRACE,
                leaving: startup.leaving.clone(),
            };
            let person = if asks { print::terminal_user() } else { print::no_user() };
            let streams = (output::stdout(), output::stderr());
            let exit = print::run(op, channels, person, &options, streams).await;
            startup.leaving.cancel();
            (exit, wait_for_session(handle.task, shutdown_timeout(exit)).await)
        });
        match farewell.shut_down(runtime) {
            Some(unsaved) => {
                let notice = Notice::error(words::UNSAVED.with("why", unsaved.why));
                startup.fail(&notice, if exit == Exit::Done { Exit::Failed } else { exit })
            }
            None => exit,
        }
    }

    /// The operation for the session.
    fn first_op(&self, startup: &Startup) -> Result<Op, Exit> {
        match &self.input {
            HeadlessInput::Message { prompt, piped } => {
                message_op(startup, prompt.as_deref(), *piped)
            }
            HeadlessInput::Command { name, args, then, piped } => {
                let prompt = extension_prompt(startup, name, args, *piped)?;
                Ok(match then {
                    AfterFill::Run => Op::SubmitPrompt { prompt },
                    AfterFill::Render => Op::Render { prompt },
                })
            }
        }
    }
}

/// The text with the piped input after it. A name after `/` is a command here too; piped input is
/// never parsed as one.
fn message_op(startup: &Startup, prompt: Option<&str>, piped: bool) -> Result<Op, Exit> {
    if let Some(Intent::Command { name, args, mentions }) = prompt.map(line::parse) {
        if commands::find(&name).is_some_and(|command| command.name == "run") && !args.is_empty() {
            return Ok(commands::run_op(&args));
        }
        if commands::find(&name).is_some() {
            let notice = Notice::error(words::COMMAND_ON_SCREEN.with("name", name));
            return Err(startup.fail(&notice.with_hint(words::COMMAND_ESCAPED), Exit::WrongUse));
        }
        let mut prompt = extension_prompt(startup, &name, &args, piped)?;
        prompt.attach(mentions);
        return Ok(Op::SubmitPrompt { prompt });
    }
    let read = || input::read(io::stdin().lock()).map_err(|error| startup.fail_io(&error));
    let piped = if piped { Some(read()?.text) } else { None };
    let parts = match prompt.map(line::parse) {
        Some(Intent::Message { parts }) => parts,
        Some(Intent::Shell { .. } | Intent::Command { .. } | Intent::Empty) | None => {
            prompt.map(|text| PromptPart::Text(text.to_owned())).into_iter().collect()
        }
    };
    let whole = input::join_message(Some(&line::text_of(&parts)), piped.as_deref());
    let Some(shown) = whole else {
        let notice = Notice::error(words::NO_PROMPT).with_hint(words::NO_PROMPT_HINT);
        return Err(startup.fail(&notice, Exit::WrongUse));
    };
    let mentions: Vec<Mention> = parts.into_iter().filter_map(mention).collect();
    if mentions.is_empty() {
        return Ok(Op::Submit { text: shown });
    }
    let parts = vec![PromptPart::Text(shown.clone())];
    let mut prompt = Prompt { shown, parts, ..Prompt::default() };
    prompt.attach(mentions);
    Ok(Op::SubmitPrompt { prompt: Box::new(prompt) })
}

fn mention(part: PromptPart) -> Option<Mention> {
    match part {
        PromptPart::Mention { mention, .. } => Some(mention),
        PromptPart::Text(_) | PromptPart::Insert(_) | PromptPart::Shell(_) => None,
    }
}

/// The prompt of a user's command or skill.
fn extension_prompt(
    startup: &Startup,
    name: &str,
    args: &str,
    piped: bool,
) -> Result<Box<Prompt>, Exit> {
    let wrong = |say: LocalizedText| startup.fail(&Notice::error(say), Exit::WrongUse);
    let library = ExtensionSet::load_kinds(
        &startup.search_path(),
        &[ExtensionFileKind::Command, ExtensionFileKind::Skill],
    );
    let mut prompt = expand::by_name(&library, name, args).map_err(wrong)?;
    if !piped {
        return Ok(Box::new(prompt));
    }
    if prompt.shell_lines().next().is_some() {
        let bytes =
            input::read_bytes(io::stdin().lock(), MOST).map_err(|error| startup.fail_io(&error))?;
        let Some(bytes) = bytes else {
            let say = w::PIPED_TOO_LONG.with("most", MOST / 1024);
            return Err(startup.fail(&Notice::error(say), Exit::Failed));
        };
        prompt.input = Some(bytes);
    } else {
        let piped = input::read(io::stdin().lock()).map_err(|error| startup.fail_io(&error))?;
        let piped = piped.text.trim_end_matches(['\r', '\n']);
        if !piped.trim().is_empty() {
            prompt.parts.push(PromptPart::Text(format!("\n\n{piped}")));
        }
    }
    Ok(Box::new(prompt))
}

/// The largest standard input that shell pieces get, in bytes.
const MOST: usize = 4 << 20;
