//! What the program was started for, as the command line says it.

use std::path::PathBuf;

use super::args::{
    Cli, CompletionShell, ConfigCommand, GatewayCommand, InputFormat, LoginOptions, ModelCommand,
    PluginCommand, PolicyCommand, RunScript, SessionCommand, Sub, UsageError,
};
use super::batch::BatchOptions;
use super::eval::EvalOptions;
use super::extensions::args::{AfterFill, CommandSub, ExtensionAction};
use super::import::ImportOptions;
use super::mcp_command::McpCommand;
use super::review::ReviewOptions;
use super::run_options::APPROVE_STEPS;
use super::script_command::ScriptCommand;
use super::self_command::SelfCommand;
use super::worktree_command::WorktreeCommand;
use avocet_config::extensions::ExtensionFileKind;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum RunMode {
    /// The full screen, with an optional first message.
    Screen {
        prompt: Option<String>,
        bot: Option<String>,
    },
    /// One turn without the screen.
    Print {
        prompt: Option<String>,
        bot: Option<String>,
        /// True when standard input is not a terminal and is added to the prompt.
        piped: bool,
    },
    Session(SessionCommand),
    Script(RunScript),
    ScriptFiles(ScriptCommand),
    Help(Vec<String>),
    Policy(PolicyCommand),
    Model(ModelCommand),
    Login(LoginOptions),
    Logout {
        provider: String,
    },
    /// A subcommand for bots, commands or skills.
    Extension {
        kind: ExtensionFileKind,
        asked: ExtensionAction,
    },
    /// A user-defined command, sent or only expanded.
    Template {
        name: String,
        args: String,
        then: AfterFill,
        bot: Option<String>,
        piped: bool,
    },
    InitHome,
    Config(ConfigCommand),
    Plugin(PluginCommand),
    Mcp(McpCommand),
    Worktrees(WorktreeCommand),
    Own(SelfCommand),
    Gateway(GatewayCommand),
    Acp,
    Eval(EvalOptions),
    Import(ImportOptions),
    Review(ReviewOptions),
    Batch(BatchOptions),
    Serve {
        schema: bool,
    },
    Doctor,
    Completions(CompletionShell),
    Man {
        dir: Option<PathBuf>,
    },
}

/// Which standard streams are terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminals {
    pub stdin: bool,
    pub stdout: bool,
}

impl Cli {
    /// The request. Piped text, a redirected answer and `-p` each mean a run without the screen.
    pub fn run_mode(self, terminals: Terminals) -> Result<RunMode, UsageError> {
        let schema = self.run.output_schema.is_some();
        let json = self.run.json;
        let steps = self.run.approve_steps;
        let streams = self.input_format == InputFormat::StreamJson;
        let way = self.requested_mode(terminals)?;
        match &way {
            RunMode::Print { .. } | RunMode::Template { .. } => {}
            _ if schema => return Err(UsageError::OnlyHeadless { option: "--output-schema" }),
            _ if streams => return Err(UsageError::OnlyHeadless { option: "--input-format" }),
            RunMode::Screen { .. } if json => {
                return Err(UsageError::OnlyHeadless { option: "--json" });
            }
            RunMode::Screen { .. } if steps => {
                return Err(UsageError::OnlyHeadless { option: APPROVE_STEPS });
            }
            RunMode::Screen { .. } if !terminals.stdout => return Err(UsageError::NoTerminal),
            _ => {}
        }
        Ok(way)
    }

    /// The message after `resume` is the first one.
    fn take_next_message(&mut self) -> Result<(), UsageError> {
        let Some(Sub::Resume { prompt, .. }) = &mut self.command else { return Ok(()) };
        let Some(next) = prompt.take() else { return Ok(()) };
        if self.prompt.replace(next).is_some() { Err(UsageError::TwoPrompts) } else { Ok(()) }
    }

    fn requested_mode(mut self, terminals: Terminals) -> Result<RunMode, UsageError> {
        self.take_next_message()?;
        let given_bot = self.model.bot;
        let prompted = self.prompt.is_some() || self.print.is_some();
        let bot = match self.command {
            None | Some(Sub::Resume { .. }) => given_bot,
            Some(Sub::Chat { bot: named }) => match (named, given_bot) {
                (Some(named), Some(given)) if named != given => return Err(UsageError::TwoBots),
                (named, given) => named.or(given),
            },
            Some(_) if prompted => return Err(UsageError::PromptAndCommand),
            Some(Sub::Session(session)) => return Ok(RunMode::Session(session)),
            Some(Sub::Run(script)) => {
                return Ok(RunMode::Script(RunScript { bot: given_bot, ..script }));
            }
            Some(Sub::Script(script)) => return Ok(RunMode::ScriptFiles(script)),
            Some(Sub::Help { topics }) => return Ok(RunMode::Help(topics)),
            Some(Sub::Policy(policy)) => return Ok(RunMode::Policy(policy)),
            Some(Sub::Model(model)) => return Ok(RunMode::Model(model)),
            Some(Sub::Login(options)) => return Ok(RunMode::Login(options)),
            Some(Sub::Logout { provider }) => return Ok(RunMode::Logout { provider }),
            Some(Sub::Agents(sub)) => return Ok(extension_mode(sub)),
            Some(Sub::Bot(sub)) => return Ok(extension_mode(sub)),
            Some(Sub::Command(sub)) => return Ok(command_mode(sub, given_bot, terminals)),
            Some(Sub::Skill(sub)) => return Ok(extension_mode(sub)),
            Some(Sub::InitHome) => return Ok(RunMode::InitHome),
            Some(Sub::Config(config)) => return Ok(RunMode::Config(config)),
            Some(Sub::Plugin(plugin)) => return Ok(RunMode::Plugin(plugin)),
            Some(Sub::Mcp(command)) => return Ok(RunMode::Mcp(command)),
            Some(Sub::Worktrees(command)) => return Ok(RunMode::Worktrees(command)),
            Some(Sub::Own(command)) => return Ok(RunMode::Own(command)),
            Some(Sub::Gateway(gateway)) => return Ok(RunMode::Gateway(gateway)),
            Some(Sub::Acp) => return Ok(RunMode::Acp),
            Some(Sub::Eval(eval)) => return Ok(RunMode::Eval(eval)),
            Some(Sub::Import(import)) => return Ok(RunMode::Import(import)),
            Some(Sub::Batch(batch)) => return Ok(RunMode::Batch(batch)),
            Some(Sub::Review(review)) => return Ok(RunMode::Review(review)),
            Some(Sub::Serve { schema, .. }) => return Ok(RunMode::Serve { schema }),
            Some(Sub::Doctor) => return Ok(RunMode::Doctor),
            Some(Sub::Completions { shell }) => return Ok(RunMode::Completions(shell)),
            Some(Sub::Man { dir }) => return Ok(RunMode::Man { dir }),
        };
        let headless = self.print.is_some() || !terminals.stdin;
        let only_word = self.prompt.clone();
        let prompt = match (self.print.flatten(), self.prompt) {
            (Some(_), Some(_)) => return Err(UsageError::TwoPrompts),
            (print, prompt) => print.or(prompt),
        };
        if let Some(misspelt) = only_word.as_deref().and_then(Cli::misspelt_command) {
            return Err(misspelt);
        }
        Ok(if headless || (!terminals.stdout && prompt.is_some()) {
            RunMode::Print { prompt, bot, piped: !terminals.stdin }
        } else {
            RunMode::Screen { prompt, bot }
        })
    }
}

fn command_mode(sub: CommandSub, bot: Option<String>, terminals: Terminals) -> RunMode {
    match sub.template() {
        Some((name, args, then)) => {
            let (name, piped) = (name.to_owned(), !terminals.stdin);
            RunMode::Template { name, args, then, bot, piped }
        }
        None => extension_mode(sub),
    }
}

fn extension_mode(sub: impl Into<(ExtensionFileKind, ExtensionAction)>) -> RunMode {
    let (kind, asked) = sub.into();
    RunMode::Extension { kind, asked }
}
