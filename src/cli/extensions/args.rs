//! Parses the arguments of `avocet agents`, `avocet bot`, `avocet command` and `avocet skill`.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Subcommand};

use avocet_config::extensions::ExtensionFileKind;
use avocet_core::prompt::args;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum AgentSub {
    /// List all agents, including unused ones and why they are unused.
    #[command(after_help = "Example:\n  avocet agents list")]
    List,
    /// Print an agent's file.
    #[command(after_help = "Example:\n  avocet agents show explore")]
    Show {
        /// Its name, as `avocet agents list` shows it.
        name: String,
    },
    /// Create an agent; without --prompt, its text comes from standard input or your editor.
    #[command(after_help = "Examples:
  avocet agents new tests --description \"Writes tests\" --prompt \"You write tests.\"
  avocet agents new tests --description \"Writes tests\" < prompt.txt")]
    New {
        /// Letters, digits, `.`, `_` and `-`.
        name: String,
        #[command(flatten)]
        texts: Texts,
    },
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum BotSub {
    /// List all bots, including unused ones and why they are unused.
    #[command(after_help = "Example:\n  avocet bot list")]
    List,
    /// Print a bot's file.
    #[command(after_help = "Example:\n  avocet bot show reviewer")]
    Show {
        /// Its file name, without `.toml`.
        name: String,
    },
    /// Create a bot; without --prompt, its text comes from standard input or your editor.
    #[command(after_help = "Examples:
  avocet bot new reviewer --prompt \"You are a strict code reviewer.\" --temperature 0.2
  avocet bot new reviewer < prompt.txt")]
    New {
        /// Letters, digits, `.`, `_` and `-`.
        name: String,
        #[command(flatten)]
        texts: Texts,
        #[command(flatten)]
        sampling: Sampling,
    },
    /// Edit a bot in your editor; invalid changes are discarded.
    #[command(after_help = "Example:\n  avocet bot edit reviewer")]
    Edit {
        /// Its file name, without `.toml`.
        name: String,
    },
    /// Delete a bot; asks first.
    #[command(after_help = "Example:\n  avocet bot delete reviewer")]
    Delete {
        /// Its file name, without `.toml`.
        name: String,
    },
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum CommandSub {
    /// List all commands, including unused ones and why they are unused.
    #[command(after_help = "Example:\n  avocet command list")]
    List,
    /// Print a command's file.
    #[command(after_help = "Example:\n  avocet command show commit-msg")]
    Show {
        /// Its name, as typed after `/`.
        name: String,
    },
    /// Create a command; without --prompt, its template comes from standard input or your
    /// editor.
    #[command(after_help = "Examples:
  avocet command new summarize --prompt \"Summarize this folder. {{args}}\"
  avocet command new commit-msg < template.txt")]
    New {
        /// Letters of any script, digits, `.`, `_` and `-`.
        name: String,
        #[command(flatten)]
        texts: Texts,
    },
    /// Send a command and print the answer; its shell commands can read standard input.
    #[command(after_help = "Examples:
  avocet command run commit-msg -y
  avocet command run summarize focus on risks --bot reviewer
  git log -5 | avocet command run changelog -y

-y approves the template's shell commands, except high-risk ones; the model's steps still
ask, or are rejected if no user can answer. --approve-steps approves those.")]
    Run {
        /// Its name, as typed after `/`.
        name: String,
        /// The value of {{args}}.
        args: Vec<String>,
    },
    /// Print the text a command expands to, without calling a model.
    #[command(after_help = "Example:
  avocet command render commit-msg -y

-y approves the template's shell commands, except high-risk ones.")]
    Render {
        /// Its name, as typed after `/`.
        name: String,
        /// The value of {{args}}.
        args: Vec<String>,
    },
    /// Edit a command in your editor; invalid changes are discarded.
    #[command(after_help = "Example:\n  avocet command edit commit-msg")]
    Edit {
        /// Its name, as typed after `/`.
        name: String,
    },
    /// Delete a command; asks first.
    #[command(after_help = "Example:\n  avocet command delete commit-msg")]
    Delete {
        /// Its name, as typed after `/`.
        name: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum SkillSub {
    /// List all skills, including unused ones and why they are unused.
    #[command(after_help = "Example:\n  avocet skill list")]
    List,
    /// Print a skill's file.
    #[command(after_help = "Example:\n  avocet skill show find-bug")]
    Show {
        /// Its name, as given in its file.
        name: String,
    },
    /// Create a skill; without --prompt, its text comes from standard input or your editor.
    #[command(after_help = "Examples:
  avocet skill new release --description \"This skill should be used when a release is made.\"
  avocet skill new release --description \"…\" < steps.md")]
    New {
        /// Lower-case letters, digits and single hyphens.
        name: String,
        #[command(flatten)]
        texts: Texts,
    },
    /// Edit a skill's file in your editor; invalid changes are discarded.
    #[command(after_help = "Example:\n  avocet skill edit find-bug")]
    Edit {
        /// Its name, as given in its file.
        name: String,
    },
    /// Report problems in a skill.
    #[command(
        after_help = "Examples:\n  avocet skill check find-bug\n  avocet skill check ./skills/find-bug"
    )]
    Check {
        /// A name, or the folder of a skill.
        name: String,
    },
}

/// The content of a new file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Texts {
    /// Its purpose, in one line.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The text itself.
    #[arg(id = "text", long = "prompt", value_name = "TEXT")]
    pub prompt: Option<String>,
}

/// Sampling settings; the server chooses those not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct Sampling {
    /// From 0 to 2.
    #[arg(long, value_name = "NUMBER")]
    pub temperature: Option<f64>,
    /// From 0 to 1.
    #[arg(long, value_name = "NUMBER")]
    pub top_p: Option<f64>,
    /// The maximum length of an answer, in tokens.
    #[arg(long, value_name = "COUNT")]
    pub max_tokens: Option<i64>,
    /// From -2 to 2.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub presence_penalty: Option<f64>,
    /// From -2 to 2.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub frequency_penalty: Option<f64>,
}

/// A request about files of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtensionAction {
    List,
    Show(String),
    New { name: String, texts: Texts, sampling: Sampling },
    Edit(String),
    Delete(String),
    Check(String),
}

impl From<AgentSub> for (ExtensionFileKind, ExtensionAction) {
    fn from(sub: AgentSub) -> (ExtensionFileKind, ExtensionAction) {
        let asked = match sub {
            AgentSub::List => ExtensionAction::List,
            AgentSub::Show { name } => ExtensionAction::Show(name),
            AgentSub::New { name, texts } => {
                ExtensionAction::New { name, texts, sampling: Sampling::default() }
            }
        };
        (ExtensionFileKind::Agent, asked)
    }
}

impl From<BotSub> for (ExtensionFileKind, ExtensionAction) {
    fn from(sub: BotSub) -> (ExtensionFileKind, ExtensionAction) {
        let asked = match sub {
            BotSub::List => ExtensionAction::List,
            BotSub::Show { name } => ExtensionAction::Show(name),
            BotSub::New { name, texts, sampling } => ExtensionAction::New { name, texts, sampling },
            BotSub::Edit { name } => ExtensionAction::Edit(name),
            BotSub::Delete { name } => ExtensionAction::Delete(name),
        };
        (ExtensionFileKind::Bot, asked)
    }
}

/// The words of `command run NAME --since 2020` with a `--` before the first option that is none of
/// ours: it is for the template.
pub fn separate_template_options(args: &[OsString], error: &clap::Error) -> Option<Vec<OsString>> {
    let takes_any = |word: &OsString| word == "run" || word == "render";
    let at = args.iter().position(|arg| arg == "command")?;
    if !args.get(at + 1).is_some_and(takes_any)
        || error.kind() != ErrorKind::UnknownArgument
        || args.iter().any(|arg| arg == "--")
    {
        return None;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_unknown = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        arg.split('=').next() == Some(unknown) || unknown.len() == 2 && arg.starts_with(unknown)
    };
    let place = at + 3 + args.iter().skip(at + 3).position(is_unknown)?;
    let mut separated = args.to_vec();
    separated.insert(place, "--".into());
    Some(separated)
}

/// The words of a command line as one text. A single one is the text itself.
fn join_words(words: &[String]) -> String {
    match words {
        [whole] => whole.clone(),
        words => args::join(words),
    }
}

/// What to do with an expanded template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFill {
    Run,
    Render,
}

impl CommandSub {
    /// Name, arguments and purpose, if the command itself is requested and not its file.
    pub fn template(&self) -> Option<(&str, String, AfterFill)> {
        match self {
            CommandSub::Run { name, args } => Some((name, join_words(args), AfterFill::Run)),
            CommandSub::Render { name, args } => Some((name, join_words(args), AfterFill::Render)),
            _ => None,
        }
    }
}

impl From<CommandSub> for (ExtensionFileKind, ExtensionAction) {
    fn from(sub: CommandSub) -> (ExtensionFileKind, ExtensionAction) {
        let asked = match sub {
            CommandSub::List => ExtensionAction::List,
            CommandSub::Run { name, .. } | CommandSub::Render { name, .. } => {
                ExtensionAction::Show(name)
            }
            CommandSub::Show { name } => ExtensionAction::Show(name),
            CommandSub::New { name, texts } => {
                ExtensionAction::New { name, texts, sampling: Sampling::default() }
            }
            CommandSub::Edit { name } => ExtensionAction::Edit(name),
            CommandSub::Delete { name } => ExtensionAction::Delete(name),
        };
        (ExtensionFileKind::Command, asked)
    }
}

impl From<SkillSub> for (ExtensionFileKind, ExtensionAction) {
    fn from(sub: SkillSub) -> (ExtensionFileKind, ExtensionAction) {
        let asked = match sub {
            SkillSub::List => ExtensionAction::List,
            SkillSub::Show { name } => ExtensionAction::Show(name),
            SkillSub::New { name, texts } => {
                ExtensionAction::New { name, texts, sampling: Sampling::default() }
            }
            SkillSub::Edit { name } => ExtensionAction::Edit(name),
            SkillSub::Check { name } => ExtensionAction::Check(name),
        };
        (ExtensionFileKind::Skill, asked)
    }
}
