//! Parses the command line into a request. Parsing does no work, so it cannot fail halfway. The
//! documentation of the options is their help in English; [`help`](super::help) translates it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::batch::BatchOptions;
pub use super::config::ConfigCommand;
use super::eval::EvalOptions;
use super::extensions::args::{AgentSub, BotSub, CommandSub, SkillSub, separate_template_options};
pub use super::gateway::GatewayCommand;
use super::import::ImportOptions;
use super::mcp_command::McpCommand;
use super::open_choices::OpenChoices;
pub use super::resume::ResumeChoice;
use super::review::ReviewOptions;
pub use super::run_options::{ApprovalFlags, InputFormat, RunOptions};
use super::script_command::ScriptCommand;
use super::self_command::SelfCommand;
pub use super::session::SessionCommand;
pub use super::subcommand_args::{LoginOptions, ModelCommand, PluginCommand};
pub use super::usage_error::UsageError;
use super::usage_error::WORDS_OF_OTHERS;
use super::worktree_command::WorktreeCommand;
use avocet_config::keys::{EFFORTS, THEMES};
use avocet_config::suggest;
use avocet_core::protocol::ApprovalMode;

/// A coding agent for the terminal. It proposes. You decide.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "avocet", version, max_term_width = 100, disable_help_subcommand = true)]
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

    /// How the messages come on standard input: as text, or one JSON object a line for each turn
    /// (stream-json).
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub input_format: InputFormat,

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
    /// Which steps ask: all that change something (ask), all but changes of files in the folder
    /// (edits), those that leave the sandbox or cannot be undone (auto), or none, since the model
    /// only reads and ends with a plan (plan); or which of the profile's two models answers: low,
    /// high. May be given once for each.
    #[arg(long, global = true, value_name = "MODE", value_parser = ["ask", "edits", "auto", "plan", "low", "high"], hide_possible_values = true)]
    pub mode: Vec<String>,
    /// How much the model reasons, as far as it can be told: none, minimal, low, medium, high,
    /// xhigh, max; auto: as it does by itself.
    #[arg(long, global = true, value_name = "LEVEL", value_parser = PossibleValuesParser::new(EFFORTS), hide_possible_values = true)]
    pub effort: Option<String>,
    /// The bot that sets the system prompt and the sampling.
    #[arg(long, global = true, value_name = "NAME")]
    pub bot: Option<String>,
}

/// Options for language and appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Look")]
pub struct LookOptions {
    /// The language of the interface.
    #[arg(long, global = true, value_name = "en|zh", value_parser = ["en", "zh"], hide_possible_values = true)]
    pub lang: Option<String>,
    /// The theme of the screen.
    #[arg(long, global = true, value_name = "NAME", value_parser = OpenChoices(THEMES), hide_possible_values = true)]
    pub theme: Option<String>,
    /// Plain lines instead of the full screen: for screen readers and simple terminals.
    #[arg(long, visible_alias = "plain", global = true)]
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
  avocet resume k7m2 \"and now the tests\"
  avocet -p \"go on\" resume k7m2")]
    Resume {
        /// Its id, or the beginning of it; `avocet session list` shows the ids.
        id: Option<String>,
        /// The next message.
        #[arg(id = "next_message", value_name = "PROMPT")]
        prompt: Option<String>,
    },
    /// List, search, export and delete saved conversations.
    #[command(subcommand, after_help = "Example:\n  avocet session search login")]
    Session(SessionCommand),
    /// Run an `.ai.yaml` script.
    #[command(after_help = "Examples:
  avocet run joke.ai.yaml
  avocet run translator '{content: \"Good morning\", target_lang: \"Chinese\"}'
  avocet run summary \"$(cat notes.txt)\" --no-stream
  avocet run mine -s ~/scripts --check
  avocet help scripts")]
    Run(RunScript),
    /// Scripts: list, show and begin them, and help for editors.
    #[command(subcommand, after_help = "Example:\n  avocet script new greet")]
    Script(ScriptCommand),
    /// Show the safety policy's verdict on a command; nothing is run.
    #[command(subcommand, after_help = "Example:\n  avocet policy explain -- git push --force")]
    Policy(PolicyCommand),
    /// List, describe and try the available models.
    #[command(subcommand, after_help = "Example:\n  avocet model list")]
    Model(ModelCommand),
    /// Save the API key of a provider, and choose one of its models; without a name, choose one.
    #[command(aliases = ["connect", "auth", "setup"], after_help = "Examples:
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
    /// Agents that a model may hand tasks to.
    #[command(subcommand, after_help = "Example:\n  avocet agents list")]
    Agents(AgentSub),
    /// Bots: system prompts with sampling settings.
    #[command(subcommand, after_help = "Example:\n  avocet bot list")]
    Bot(BotSub),
    /// Your commands: prompt templates, typed as `/name`.
    #[command(subcommand, after_help = "Example:\n  avocet command list")]
    Command(CommandSub),
    /// Skills: folders of instructions the model uses when they are useful.
    #[command(subcommand, after_help = "Example:\n  avocet skill list")]
    Skill(SkillSub),
    /// Copy example bots, commands, skills and scripts into your folder; nothing is overwritten.
    #[command(after_help = "Example:\n  avocet init-home")]
    InitHome,
    /// Read and change the settings.
    #[command(subcommand, after_help = "Example:\n  avocet config set mode low")]
    Config(ConfigCommand),
    /// The installed plugins.
    #[command(subcommand, after_help = "Example:\n  avocet plugin run loc src")]
    Plugin(PluginCommand),
    /// MCP servers: list, add, remove and try them.
    #[command(subcommand, after_help = "Example:\n  avocet mcp add git -- uvx mcp-server-git")]
    Mcp(McpCommand),
    /// The git worktrees that sessions and agents work in.
    #[command(subcommand, after_help = "Example:\n  avocet worktrees list")]
    Worktrees(WorktreeCommand),
    /// This program itself: update it.
    #[command(name = "self", subcommand, after_help = "Example:\n  avocet self update")]
    Own(SelfCommand),
    /// Chat platforms: run them, their menus, who may talk, their tokens.
    #[command(subcommand, after_help = "Example:\n  avocet gateway run --only telegram")]
    Gateway(GatewayCommand),
    /// Serve an editor over the Agent Client Protocol, on standard input and output.
    #[command(after_help = "Example:\n  avocet help acp")]
    Acp,
    /// Serve a program: ops in, events out, as JSON-RPC on standard input and output.
    #[command(after_help = "Example:\n  avocet serve --schema")]
    Serve {
        /// On standard input and output.
        #[arg(long, required_unless_present = "schema")]
        stdio: bool,
        /// Print what the messages say, as an OpenRPC document.
        #[arg(long)]
        schema: bool,
    },
    /// Run tasks that have a check, and show how many were solved.
    #[command(after_help = "Examples:
  avocet eval assets/eval --jobs 4 --out results.jsonl
  avocet eval assets/eval --compare before.jsonl")]
    Eval(EvalOptions),
    /// Copy the conversations and settings of another client; shows them first, and asks.
    #[command(after_help = "Example:\n  avocet import claude --dry-run")]
    Import(ImportOptions),
    /// Run many tasks, here or on a cluster, and collect their patches.
    #[command(
        after_help = "Example:\n  avocet batch tasks.jsonl --out results --jobs 4 --approve-steps"
    )]
    Batch(BatchOptions),
    /// Review a change: findings by file and line, for the terminal, a code host or other tools.
    #[command(after_help = "Example:\n  avocet review --range main...HEAD --fail-on high")]
    Review(ReviewOptions),
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
    /// Print the manual page, or write those of all commands into a folder.
    #[command(after_help = "Examples:
  avocet man | man -l -
  avocet man --dir ~/.local/share/man/man1")]
    Man {
        /// The folder to write `avocet.1` and the pages of its commands into.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Print this help, that of a command, or a page about a topic.
    #[command(after_help = "Examples:
  avocet help run
  avocet help scripts
  avocet help scripts marks
  avocet help sandbox")]
    Help {
        /// A command, a topic (`sandbox`, `gateways`, `scripts`), or `scripts` and a chapter.
        #[arg(value_name = "TOPIC")]
        topics: Vec<String>,
    },
}

/// The script to run, and how to run it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RunScript {
    /// A file, or the ID of a script in this folder, a folder of `-s`, or built in.
    #[arg(value_name = "SCRIPT")]
    pub script: String,
    /// JSON, its relaxed form `{content: "x"}`, or text; `-` is the text of standard input, and named
    /// arguments may follow it: `- '{lang: "zh"}'`.
    #[arg(value_name = "ARGS")]
    pub args: Vec<String>,
    /// Show the script's own messages too, dim.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
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
    /// How long the run may take, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_time: Option<u32>,
    /// The bot given on the command line; the script's own parameters take precedence.
    #[arg(skip)]
    pub bot: Option<String>,
}

pub use super::policy::PolicyCommand;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

/// Text after `-p` that begins with a dash and is more than one word is a prompt, and no option.
fn join_dashed_prompt(args: &mut Vec<OsString>) {
    let is_prompt = |pair: &[OsString]| match pair {
        [option, text] => {
            let is_dashed =
                |text: &str| text.starts_with('-') && text.contains(char::is_whitespace);
            (option == "-p" || option == "--print") && text.to_str().is_some_and(is_dashed)
        }
        _ => false,
    };
    if let Some(at) = args.windows(2).position(is_prompt) {
        let text = args.remove(at + 1);
        if let Some(option) = args.get_mut(at) {
            *option = "--print=".into();
            option.push(text);
        }
    }
}

impl Cli {
    /// Parses the arguments, the program's name first. The error is clap's own page, which `--help`
    /// and `--version` use as well: see `report::usage`.
    pub fn parse_from_args(
        args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Cli, clap::Error> {
        let mut args: Vec<OsString> =
            args.into_iter().map(|arg| Into::<OsString>::into(arg.clone())).collect();
        if let [_, word] = args.as_mut_slice()
            && word == "version"
        {
            *word = "--version".into();
        }
        join_dashed_prompt(&mut args);
        let parsed = Cli::try_parse_from(&args);
        match parsed.as_ref().err().and_then(|error| separate_template_options(&args, error)) {
            Some(separated) => Cli::try_parse_from(separated),
            None => parsed,
        }
    }

    /// A first word that is almost the name of a command was meant as one: what follows it is then
    /// no valid command line, and alone it would be sent to the model.
    pub fn misspelt_command(word: &str) -> Option<UsageError> {
        let mut of_others = WORDS_OF_OTHERS.iter();
        if let Some((_, say)) = of_others.find(|(names, _)| names.contains(&word)) {
            return Some(UsageError::WordOfOthers(*say));
        }
        let like_a_name = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if word.len() < 3 || word.starts_with('-') || !like_a_name(word) {
            return None;
        }
        let commands = Cli::command();
        let names = || commands.get_subcommands().map(clap::Command::get_name);
        if names().any(|name| name == word) {
            return None;
        }
        let nearest = suggest::nearest(word, names()).first().map(|name| (*name).to_owned())?;
        Some(UsageError::MisspeltCommand { given: word.into(), nearest })
    }

    /// The settings that the options set, as `config::Sources::line` takes them.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let ModelOptions { model, base_url, profile, mode, effort, .. } = &self.model;
        let LookOptions { lang, theme, no_color, linear: _ } = &self.look;
        let mode = mode.iter().rfind(|word| ApprovalMode::parse(word).is_none()).cloned();
        let steps = self.run.max_steps.map(|steps| steps.to_string());
        let time = match &self.command {
            Some(Sub::Run(script)) => script.max_time.map(|seconds| seconds.to_string()),
            _ => None,
        };
        let color = no_color.then(|| "never".to_owned());
        let given = [
            ("model", model),
            ("base_url", base_url),
            ("profile", profile),
            ("mode", &mode),
            ("effort", effort),
            ("safety.max_auto_steps_per_turn", &steps),
            ("limits.cost.run", &self.run.max_cost),
            ("limits.script_timeout_s", &time),
            ("lang", lang),
            ("theme", theme),
            ("color", &color),
        ];
        let given = given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
        self.run.container_settings().into_iter().chain(given).collect()
    }

    /// Which steps ask, if the command line says so.
    pub fn approval_mode(&self) -> Option<ApprovalMode> {
        self.model.mode.iter().rev().find_map(|word| ApprovalMode::parse(word))
    }

    /// What the command line approves in advance. With a template or a bot, `-y` approves the
    /// template, not the steps that the model proposes after it.
    pub fn approval_flags(&self) -> ApprovalFlags {
        self.run.approvals(matches!(self.command, Some(Sub::Chat { .. } | Sub::Command(_))))
    }
}

#[cfg(test)]
mod tests;
