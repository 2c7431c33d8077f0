//! One thing the model proposes to do. Never a shell string: the model's JSON can
//! only become [`Work::Exec`] or [`Work::Tool`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which of the profile's two models answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Low,
    #[default]
    High,
}

impl Mode {
    pub fn parse(name: &str) -> Option<Mode> {
        match name {
            "low" => Some(Mode::Low),
            "high" => Some(Mode::High),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::Low => "low",
            Mode::High => "high",
        }
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A program and its arguments, each passed as it is.
    Exec { program: String, args: Vec<String> },
    /// Another tool with its input.
    Tool { name: String, input: Value },
    /// A line for the user's own shell, typed by the user (`!cmd`) or standing in a
    /// template. A model cannot make one.
    Shell { line: String },
}

impl Work {
    pub fn exec(program: impl Into<String>, args: &[&str]) -> Work {
        Work::Exec {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        }
    }

    /// The name of the tool that does it.
    pub fn tool(&self) -> &str {
        match self {
            Work::Exec { .. } => "exec",
            Work::Shell { .. } => "shell",
            Work::Tool { name, .. } => name,
        }
    }
}

/// What the model says a step needs (001 §6). It can raise a tier, never lower it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the wire format of the protocol")]
pub struct Requires {
    pub confirm: bool,
    pub elevated: bool,
    pub network: bool,
    pub write: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `cmd_001`, counted through a session.
    pub id: String,
    pub work: Work,
    #[serde(default)]
    pub requires: Requires,
    /// The folder to run in, as the model wrote it; `None`: the session's folder.
    #[serde(default)]
    pub cwd: Option<String>,
}
