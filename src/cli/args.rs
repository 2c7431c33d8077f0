//! Parses the command line into a request. Parsing does no work, so it cannot fail halfway. The
//! documentation of the options is their help in English; [`help`](super::help) translates it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::extensions::args::{AfterFill, BotSub, CommandSub, ExtensionAction, SkillSub};
pub use super::resume::ResumeChoice;
pub use super::session::SessionCommand;
use crate::extensions::ExtensionFileKind;
use crate::i18n::{self, Localize, LocalizedText};

/// A coding agent for the terminal. It proposes. You decide.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "avocet", version, max_term_width = 100)]
#[command(after_help = "Examples:
  avocet                                  start in this folder
  avocet \"why does the build fail?\"       start with a message
  git diff | avocet -p \"review this\"      one answer on standard output
  avocet doctor                           check settings, model and terminal")]
pub struct Cli {
    /// The first message.
    pub prompt: Option<String>,

    /// Answer once on standard output, without the full screen; piped text is added to PROMPT.
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1)]
    pub print: Option<Option<String>>,

    /// Continue the last conversation of this folder.
    #[arg(short = 'c', long = "continue")]
    pub go_on: bool,

    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    pub look: LookOptions,

    #[command(subcommand)]
    pub command: Option<Sub>,
}

/// Options that choose the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// The model: one of the server's names, `guide`, or `scripted:FILE`.
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// The server's URL, including `/v1`.
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// A profile from the settings file.
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Which of the profile's two models.
    #[arg(long, global = true, value_name = "low|high", value_parser = ["low", "high"], hide_possible_values = true)]
    pub mode: Option<String>,
    /// The bot that sets the system prompt and the sampling.
    #[arg(long, global = true, value_name = "NAME")]
    pub bot: Option<String>,
}

/// Options for where and how it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Run")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RunOptions {
    /// The folder to work in.
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Trust exactly this folder, for this run.
    #[arg(long, global = true, value_name = "DIR")]
    pub trust: Option<PathBuf>,
    /// Add a folder to the session, to be read and changed like the working folder.
    #[arg(long, global = true, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Approve the shell commands of your templates, except high-risk ones; with -p it is also
    /// short for --approve-steps, and with `run` and `delete` it approves those.
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Without the full screen: approve the model's steps that ask (tier L1), but none that
    /// are refused or may expose credentials.
    #[arg(long, global = true)]
    pub approve_steps: bool,
    /// With --approve-steps: also approve steps that may expose credentials.
    #[arg(long, global = true)]
    pub approve_secrets: bool,
    /// Write JSON: the events of a run, one object per line.
    #[arg(long, global = true)]
    pub json: bool,
    /// Do not save this conversation.
    #[arg(long, global = true)]
    pub no_save: bool,
    /// Check the final answer against a JSON Schema.
    #[arg(long, global = true, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
}

/// What the command line approves before anything asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFlags {
    /// The shell commands of the user's templates, except those of high risk.
    pub template_commands: bool,
    /// The model's steps that ask, approved by this option.
    pub steps: Option<&'static str>,
    /// Also those that may hand out credentials.
    pub secrets: bool,
}

/// Options for language and appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Look")]
pub struct LookOptions {
    /// The language of the interface.
    #[arg(long, global = true, value_name = "en|zh", value_parser = ["en", "zh"], hide_possible_values = true)]
    pub lang: Option<String>,
    /// The theme of the screen.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Plain lines instead of the full screen: for screen readers and simple terminals.
    #[arg(long, global = true)]
    pub linear: bool,
    /// No colours.
    #[arg(long, global = true)]
    pub no_color: bool,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Sub {
    /// Chat with a bot; piped text is the message, and the answer goes to standard output.
    #[command(after_help = "Examples:
  git diff | avocet chat reviewer
  git diff | avocet chat fixer --approve-steps

-y approves the shell commands of your templates; the model's steps still ask, or are
rejected if no user can answer. --approve-steps approves those.")]
    Chat {
        /// The name of a file in the bots folder, without `.toml`.
        // It has its own id: `--bot` has the other one.
        #[arg(id = "named_bot", value_name = "BOT")]
        bot: Option<String>,
    },
    /// Resume a saved conversation; without an id, choose one.
    #[command(after_help = "Examples:
  avocet resume
  avocet resume k7m2
  avocet -p \"go on\" resume k7m2")]
    Resume {
        /// Its id, or the beginning of it; `avocet session list` shows the ids.
        id: Option<String>,
    },
    /// List, search, export and delete saved conversations.
    #[command(subcommand, after_help = "Example:\n  avocet session search login")]
    Session(SessionCommand),
    /// Run an `.ai.yaml` script.
    #[command(after_help = "Examples:
  avocet run joke.ai.yaml
  avocet run translator '{content: \"Good morning\", target_lang: \"Chinese\"}'
  avocet run summary \"$(cat notes.txt)\" --no-stream
  avocet run mine -s ~/scripts --check")]
    Run(RunScript),
    /// Show the safety policy's verdict on a command; nothing is run.
    #[command(subcommand, after_help = "Example:\n  avocet policy explain -- git push --force")]
    Policy(PolicyCommand),
    /// List, describe and try the available models.
    #[command(subcommand, after_help = "Example:\n  avocet model list")]
    Model(ModelCommand),
    /// Save the API key of a provider, and choose one of its models.
    #[command(after_help = "Examples:
  avocet login anthropic
  pass show groq | avocet login groq --key-stdin --model llama-3.3-70b-versatile
  avocet login https://models.example.com/v1

The key goes into the system's keyring, or into a file that only you can read where there is\nnone. It is sent to this server only.")]
    Login(LoginOptions),
    /// Remove the saved API key of a provider.
    #[command(after_help = "Example:\n  avocet logout anthropic")]
    Logout {
        /// The provider's name, or the server's URL.
        provider: String,
    },
    /// Bots: system prompts with sampling settings.
    #[command(subcommand, after_help = "Example:\n  avocet bot list")]
    Bot(BotSub),
    /// Your commands: prompt templates, typed as `/name`.
    #[command(subcommand, after_help = "Example:\n  avocet command list")]
    Command(CommandSub),
    /// Skills: folders of instructions the model uses when they are useful.
    #[command(subcommand, after_help = "Example:\n  avocet skill list")]
    Skill(SkillSub),
    /// Copy example bots, commands and skills into your folder; nothing is overwritten.
    #[command(after_help = "Example:\n  avocet init-home")]
    InitHome,
    /// Read and change the settings.
    #[command(subcommand, after_help = "Example:\n  avocet config set mode low")]
    Config(ConfigCommand),
    /// The slothtool plugins.
    #[command(subcommand, after_help = "Example:\n  avocet plugin run loc src")]
    Plugin(PluginCommand),
    /// Check settings, model and terminal.
    #[command(after_help = "Example:\n  avocet doctor --json")]
    Doctor,
    /// Write a completion script for a shell.
    #[command(
        after_help = "Example:\n  avocet completions bash > ~/.local/share/bash-completion/completions/avocet"
    )]
    Completions {
        /// The shell to write it for.
        shell: CompletionShell,
    },
}

/// The script to run, and how to run it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RunScript {
    /// A file, or the ID of a script in this folder, a folder of `-s`, or built in.
    #[arg(value_name = "SCRIPT")]
    pub script: String,
    /// JSON, its relaxed form `{content: "x"}`, or text; `-` reads them from standard input.
    #[arg(value_name = "ARGS")]
    pub args: Option<String>,
    /// Show each answer only when it is complete.
    #[arg(long)]
    pub no_stream: bool,
    /// A folder to search for scripts; may be given several times.
    #[arg(short, long, value_name = "DIR")]
    pub search: Vec<PathBuf>,
    /// Print the messages that would be sent first, without calling a model.
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Check the script without running it.
    #[arg(long)]
    pub check: bool,
    /// The bot given on the command line; the script's own parameters take precedence.
    #[arg(skip)]
    pub bot: Option<String>,
}

pub use super::policy::PolicyCommand;

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LoginOptions {
    /// The provider's name, or the server's URL.
    pub provider: String,
    /// Read the key from standard input.
    #[arg(long)]
    pub key_stdin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ModelCommand {
    /// List the server's models and the built-in ones.
    #[command(after_help = "Example:\n  avocet model list --base-url http://127.0.0.1:11434/v1")]
    List,
    /// Show what is known of a model: context, tools, prices.
    #[command(after_help = "Example:\n  avocet model show gpt-6-sol")]
    Show {
        /// Its name; without one, the model in use.
        name: Option<String>,
    },
    /// Make a small request, and report its speed and which dialects work.
    #[command(after_help = "Example:\n  avocet model test --base-url http://127.0.0.1:8080/v1")]
    Test {
        /// Its name; without one, the model in use.
        name: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum PluginCommand {
    /// List the installed plugins.
    #[command(after_help = "Example:\n  avocet plugin list --json")]
    List,
    /// Run a plugin in this terminal.
    #[command(after_help = "Example:\n  avocet plugin run loc src --top 5")]
    Run {
        /// Its name, as `plugin list` shows it.
        alias: String,
        /// Arguments passed to the plugin unchanged.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Print the path of the settings file.
    #[command(after_help = "Example:\n  avocet config path")]
    Path,
    /// Show a setting, or all of them.
    #[command(after_help = "Example:\n  avocet config get --where safety.allow_network")]
    Get {
        /// Dotted, as in `safety.allow_network`.
        key: Option<String>,
        /// Show which layer the value comes from.
        #[arg(long = "where")]
        place: bool,
    },
    /// Change a setting; comments in the file are kept.
    #[command(after_help = "Examples:
  avocet config set profiles.default.base_url http://127.0.0.1:11434/v1
  avocet config set safety.allowed_programs +just,-curl")]
    Set {
        /// Dotted, as in `safety.allow_network`; `avocet config get` lists all.
        key: String,
        /// The new value; separate list items with commas.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the file.
    #[command(after_help = "Example:\n  avocet config unset theme")]
    Unset {
        /// Dotted, as in `safety.allow_network`.
        key: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

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
    Doctor,
    Completions(CompletionShell),
}

const APPROVE_STEPS: &str = "--approve-steps";

/// Which standard streams are terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminals {
    pub stdin: bool,
    pub stdout: bool,
}

/// Wrong use that the parser cannot detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum UsageError {
    TwoPrompts,
    TwoBots,
    /// `-c` together with an id, or an unsaved new conversation together with a saved one.
    TwoSessions,
    /// There is no user to choose a conversation.
    NoSessionNamed,
    /// A prompt before a subcommand that does not take one.
    PromptAndCommand,
    /// The screen was requested where there is no terminal.
    NoTerminal,
    /// An option for conversations where there is no conversation.
    OnlyChat {
        option: &'static str,
    },
    /// An option for headless runs where the run is not headless.
    OnlyHeadless {
        option: &'static str,
    },
}

impl Localize for UsageError {
    fn localized(&self) -> LocalizedText {
        use i18n::cli as w;
        match self {
            UsageError::TwoPrompts => w::TWO_PROMPTS.into(),
            UsageError::TwoBots => w::TWO_BOTS.into(),
            UsageError::TwoSessions => w::TWO_SESSIONS.into(),
            UsageError::NoSessionNamed => w::NO_SESSION_NAMED.into(),
            UsageError::PromptAndCommand => w::PROMPT_AND_COMMAND.into(),
            UsageError::NoTerminal => w::NO_TERMINAL.into(),
            UsageError::OnlyChat { option } => w::ONLY_CHAT.with("option", *option),
            UsageError::OnlyHeadless { option } => w::ONLY_HEADLESS.with("option", *option),
        }
    }
}

impl Cli {
    /// Parses the arguments, the program's name first. The error is clap's own page, which `--help`
    /// and `--version` use as well: see `report::usage`.
    pub fn parse_from_args(
        args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(args)
    }

    /// The settings that the options set, as `config::Sources::line` takes them.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let ModelOptions { model, base_url, profile, mode, .. } = &self.model;
        let LookOptions { lang, theme, no_color, linear: _ } = &self.look;
        let color = no_color.then(|| "never".to_owned());
        let given = [
            ("model", model),
            ("base_url", base_url),
            ("profile", profile),
            ("mode", mode),
            ("lang", lang),
            ("theme", theme),
            ("color", &color),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect()
    }

    /// What the command line approves in advance. With a template or a bot, `-y` approves the
    /// template, not the steps that the model proposes after it.
    pub fn approval_flags(&self) -> ApprovalFlags {
        let templates = matches!(self.command, Some(Sub::Chat { .. } | Sub::Command(_)));
        let steps = match self.run.approve_steps {
            true => Some(APPROVE_STEPS),
            false => (self.run.yes && !templates).then_some("-y"),
        };
        ApprovalFlags { template_commands: self.run.yes, steps, secrets: self.run.approve_secrets }
    }

    /// The request. Piped text, a redirected answer and `-p` each mean a run without the screen.
    pub fn run_mode(self, ends: Terminals) -> Result<RunMode, UsageError> {
        let schema = self.run.output_schema.is_some();
        let json = self.run.json;
        let steps = self.run.approve_steps;
        let way = self.requested_mode(ends)?;
        match &way {
            RunMode::Print { .. } | RunMode::Template { .. } => {}
            _ if schema => return Err(UsageError::OnlyHeadless { option: "--output-schema" }),
            RunMode::Screen { .. } if json => {
                return Err(UsageError::OnlyHeadless { option: "--json" });
            }
            RunMode::Screen { .. } if steps => {
                return Err(UsageError::OnlyHeadless { option: APPROVE_STEPS });
            }
            RunMode::Screen { .. } if !ends.stdout => return Err(UsageError::NoTerminal),
            _ => {}
        }
        Ok(way)
    }

    fn requested_mode(self, ends: Terminals) -> Result<RunMode, UsageError> {
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
            Some(Sub::Policy(policy)) => return Ok(RunMode::Policy(policy)),
            Some(Sub::Model(model)) => return Ok(RunMode::Model(model)),
            Some(Sub::Login(options)) => return Ok(RunMode::Login(options)),
            Some(Sub::Logout { provider }) => return Ok(RunMode::Logout { provider }),
            Some(Sub::Bot(sub)) => return Ok(extension_mode(sub)),
            Some(Sub::Command(sub)) => {
                return Ok(match sub.template() {
                    Some((name, args, then)) => {
                        let (name, piped) = (name.to_owned(), !ends.stdin);
                        RunMode::Template { name, args, then, bot: given_bot, piped }
                    }
                    None => extension_mode(sub),
                });
            }
            Some(Sub::Skill(sub)) => return Ok(extension_mode(sub)),
            Some(Sub::InitHome) => return Ok(RunMode::InitHome),
            Some(Sub::Config(config)) => return Ok(RunMode::Config(config)),
            Some(Sub::Plugin(plugin)) => return Ok(RunMode::Plugin(plugin)),
            Some(Sub::Doctor) => return Ok(RunMode::Doctor),
            Some(Sub::Completions { shell }) => return Ok(RunMode::Completions(shell)),
        };
        let headless = self.print.is_some() || !ends.stdin;
        let prompt = match (self.print.flatten(), self.prompt) {
            (Some(_), Some(_)) => return Err(UsageError::TwoPrompts),
            (print, prompt) => print.or(prompt),
        };
        Ok(match headless || (!ends.stdout && prompt.is_some()) {
            true => RunMode::Print { prompt, bot, piped: !ends.stdin },
            false => RunMode::Screen { prompt, bot },
        })
    }
}

fn extension_mode(sub: impl Into<(ExtensionFileKind, ExtensionAction)>) -> RunMode {
    let (kind, asked) = sub.into();
    RunMode::Extension { kind, asked }
}

/// The completion script for a shell.
pub fn completions(shell: CompletionShell) -> Vec<u8> {
    let shell = match shell {
        CompletionShell::Bash => clap_complete::Shell::Bash,
        CompletionShell::Zsh => clap_complete::Shell::Zsh,
        CompletionShell::Fish => clap_complete::Shell::Fish,
        CompletionShell::PowerShell => clap_complete::Shell::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "avocet", &mut script);
    script
}

#[cfg(test)]
mod tests;
