//! One action the model proposes. Never a shell string: the model's JSON can only become
//! [`StepAction::Exec`] or [`StepAction::Tool`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text;

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

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepAction {
    /// A program and its arguments, each passed unchanged.
    Exec { program: String, args: Vec<String> },
    /// Another tool with its input.
    Tool { name: String, input: Value },
    /// A line for the user's own shell, typed by the user (`!cmd`) or part of a template. A model
    /// cannot create one.
    Shell { line: String },
}

impl StepAction {
    pub fn exec(program: impl Into<String>, args: &[&str]) -> StepAction {
        StepAction::Exec {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        }
    }

    /// The step on one line, the same wherever it is shown: every character can be seen, and the
    /// line of a program reads back as exactly this program and these arguments.
    pub fn command_line(&self) -> String {
        match self {
            StepAction::Exec { program, args } => {
                text::command_line(std::iter::once(program).chain(args))
            }
            StepAction::Tool { name, input } => text::visible(&StepAction::summary(name, input)),
            StepAction::Shell { line } => text::visible(line),
        }
    }

    /// The start of [`StepAction::command_line`], for a sentence.
    pub fn short_line(&self) -> String {
        text::cut(&self.command_line(), 120)
    }

    /// A tool and its subject: `file.edit src/main.rs`.
    fn summary(name: &str, input: &Value) -> String {
        const ABOUT: &[&str] = &[
            "path",
            "file",
            "file_path",
            "filePath",
            "target_file",
            "url",
            "query",
            "alias",
            "question",
        ];
        let text = |field: &&str| input.get(*field).and_then(Value::as_str);
        let about: Vec<&str> = match name {
            "plugin.run" => {
                let args = input.get("args").and_then(Value::as_array);
                let args = args.into_iter().flatten().filter_map(Value::as_str);
                text(&"alias").into_iter().chain(args).collect()
            }
            "file.search" => ["query", "pattern", "path"].iter().filter_map(text).collect(),
            "note" => ["text"].iter().filter_map(text).collect(),
            "skill" => ["name", "args"].iter().filter_map(text).collect(),
            // A server's own fields: they are shown as they are sent.
            _ if name.starts_with("mcp.") => Vec::new(),
            "file.edit" if ABOUT.iter().all(|field| text(field).is_none()) => {
                let patch = ["patch", "input", "diff"].iter().find_map(text).unwrap_or_default();
                patched_files(patch)
            }
            _ => ABOUT.iter().find_map(text).into_iter().collect(),
        };
        if name == "task" {
            let agent = text(&"agent").map_or(String::new(), |agent| format!(" {agent}:"));
            let about = ["description", "prompt"].iter().find_map(text).unwrap_or_default();
            format!("{name}{agent} {about}")
        } else if !about.is_empty() {
            format!("{name} {}", about.join(" "))
        } else if name == "plan" || input.as_object().is_some_and(serde_json::Map::is_empty) {
            name.to_owned()
        } else {
            format!("{name} {input}")
        }
    }

    /// The name of the tool that runs it.
    pub fn tool(&self) -> &str {
        match self {
            StepAction::Exec { .. } => "exec",
            StepAction::Shell { .. } => "shell",
            StepAction::Tool { name, .. } => name,
        }
    }
}

/// The files that a patch names, in its own form or as a unified diff.
fn patched_files(patch: &str) -> Vec<&str> {
    const MARKS: &[&str] =
        &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];
    patch.lines().filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark))).collect()
}

/// The requirements the model declares for a step (001 §6). They can raise a tier, never lower it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the wire format of the protocol")]
pub struct Requires {
    pub confirm: bool,
    pub elevated: bool,
    pub network: bool,
    pub write: bool,
    /// It runs on while the turn goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Seconds after which it is stopped, if the user's limit does not stop it sooner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    /// Seconds after which it goes on in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreground_s: Option<u32>,
}

impl Requires {
    /// Whether it asks for more than time.
    pub fn raises_tier(self) -> bool {
        Requires { timeout_s: None, foreground_s: None, ..self } != Requires::default()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `cmd_001`, counted through a session.
    pub id: String,
    pub work: StepAction,
    #[serde(default)]
    pub requires: Requires,
    /// The folder to run in, as the model wrote it; `None`: the session's folder.
    #[serde(default)]
    pub cwd: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_shown_as_a_command_line() {
        let cases = [
            (
                StepAction::exec("git", &["commit", "-m", "fix: it's done"]),
                r#"git commit -m "fix: it's done""#,
            ),
            (StepAction::exec("rg", &["", "a b", "$HOME", "中文"]), "rg '' 'a b' '$HOME' 中文"),
            (StepAction::exec("echo", &["a\nb\u{202e}"]), r"echo $'a\nb\u{202e}'"),
            (StepAction::exec("rg", &[r"\d+", r"\n"]), r"rg '\d+' $'\\n'"),
            (StepAction::Shell { line: r"ls '\n' | wc -l".into() }, r"ls '\n' | wc -l"),
            (StepAction::Shell { line: "ls\n\u{202e}".into() }, r"ls\n\u{202e}"),
            (
                StepAction::Tool { name: "file.read".into(), input: json!({"path": "a"}) },
                "file.read a",
            ),
            (
                StepAction::Tool {
                    name: "skill".into(),
                    input: json!({"name": "tests", "args": "-v"}),
                },
                "skill tests -v",
            ),
            (
                StepAction::Tool {
                    name: "file.edit".into(),
                    input: json!({"input": "*** Begin Patch\n*** Update File: a b.rs\n@@\n-x\n+y\n*** Add File: c\n+z\n*** End Patch"}),
                },
                "file.edit a b.rs c",
            ),
        ];
        for (work, expected) in cases {
            assert_eq!(work.command_line(), expected);
        }
    }
}
