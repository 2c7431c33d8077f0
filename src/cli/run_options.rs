//! The options of a run: where it works, what it may do, and what the command line approves.

use std::path::PathBuf;

use avocet_core::protocol::{Risk, StepAction};
use clap::{Args, ValueEnum, ValueHint};

/// Options for where and how it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Run")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RunOptions {
    /// The folder to work in.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<PathBuf>,
    /// Work in a git worktree of the folder with this name, on a branch of its own; it is made if
    /// there is none.
    #[arg(short, long, global = true, value_name = "NAME")]
    pub worktree: Option<String>,
    /// Trust exactly this folder, for this run.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub trust: Option<PathBuf>,
    /// Add a folder to the session, to be read and changed like the working folder.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub add_dir: Vec<PathBuf>,
    /// Approve the shell commands of your templates, except high-risk ones; with -p it is also
    /// short for --approve-steps, and with `run`, `delete`, `remove` and `prune` it approves those.
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Without the full screen: approve the model's steps that ask, but none that are
    /// refused or may expose credentials.
    #[arg(long, global = true)]
    pub approve_steps: bool,
    /// With --approve-steps: also approve steps that may expose credentials.
    #[arg(long, global = true)]
    pub approve_secrets: bool,
    /// Allow steps without asking, for this run: a program and the start of its arguments, as in
    /// "git push *". May be given several times.
    #[arg(long, global = true, value_name = "RULE")]
    pub allow: Vec<String>,
    /// The only tools that the model gets, with commas between them: exec,file.read,file.search.
    #[arg(long, global = true, value_name = "LIST", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// This machine is a throw-away: steps run without the sandbox, and with -y nothing but your own
    /// rules refuses one. Outside a container only with the name of the machine.
    #[arg(long, global = true, value_name = "HOSTNAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub container: Option<String>,
    /// How many steps run before the turn pauses; without the screen it then ends with exit code 4.
    /// 0: no limit. Usually 200, 25 of a small model or without the sandbox, and none with
    /// --max-cost.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub max_steps: Option<u16>,
    /// What this run may cost, in dollars.
    #[arg(long, global = true, value_name = "USD", value_parser = parse_cost, allow_negative_numbers = true)]
    pub max_cost: Option<String>,
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

/// How the messages come on standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Text, a part of the only message.
    #[default]
    Text,
    /// A message a line, as JSON.
    StreamJson,
}

impl RunOptions {
    /// The settings of a machine that is thrown away; others of the command line come after them.
    pub(super) fn container_settings(&self) -> Vec<(&'static str, String)> {
        if self.container.is_none() {
            return Vec::new();
        }
        [
            ("safety.sandbox", "off"),
            ("safety.unknown_program", "confirm"),
            ("safety.allow_sudo", "true"),
            ("safety.lift", "*"),
            ("safety.max_auto_steps_per_turn", "0"),
        ]
        .map(|(key, value)| (key, value.to_owned()))
        .into()
    }

    /// What is approved in advance; `-y` approves steps where it does not approve a template.
    pub(super) fn approvals(&self, is_template: bool) -> ApprovalFlags {
        let steps = if self.approve_steps {
            Some(APPROVE_STEPS)
        } else {
            (self.yes && !is_template).then_some("-y")
        };
        let secrets = self.approve_secrets;
        let all = self.container.is_some();

        ApprovalFlags { template_commands: self.yes, steps, secrets, all }
    }
}

pub(super) const APPROVE_STEPS: &str = "--approve-steps";

/// The most that the setting takes, in dollars.
const MOST_COST: f64 = 1e6;

/// An amount that would set no limit is refused, so that no run is without the one it was given.
fn parse_cost(text: &str) -> Result<String, String> {
    let amount = text.trim().parse::<f64>().ok();
    if amount.is_some_and(|amount| (0.0..=MOST_COST).contains(&amount)) {
        Ok(text.trim().to_owned())
    } else {
        Err(format!("{text} is not in 0..={MOST_COST}"))
    }
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
    /// All that no rule refuses, since the machine is disposable.
    pub all: bool,
}

impl ApprovalFlags {
    /// Whether a step that asks is among those that are approved, if any are.
    pub fn covers(&self, risk: &Risk, action: &StepAction) -> bool {
        let is_within = risk.can_preapprove() && !risk.edits_outside(action);
        self.all || is_within && (self.secrets || !risk.can_expose_secrets(action))
    }
}
