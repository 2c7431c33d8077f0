//! The tool `plugin.run`: a script of slothtool, passed to `node`, run like any program the
//! user approved. One that needs a terminal of its own gets none from here.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::capture::CapturedText;
use super::{Exec, not_run, parse, run};
use crate::{RunControl, Tool, ToolSpec};
use avocet_core::i18n::tools as phrases;
use avocet_core::protocol::{Observation, Outcome, ParsedOutput};
use avocet_safety::{ClearedStep, ToolTask};

/// The tool `plugin.run`.
#[derive(Clone, Debug)]
struct PluginTool(Exec);

impl Exec {
    /// The tool that runs plugins, as this one runs programs.
    pub fn plugins(&self) -> Arc<dyn Tool> {
        Arc::new(PluginTool(self.clone()))
    }
}

impl Tool for PluginTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "plugin.run",
            about: phrases::ABOUT_PLUGIN,
            prompt: "plugin.run {alias, args}: runs a plugin of slothtool; [\"--help\"] tells what it can",
        }
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let exec = self.0.clone();
        async move {
            let judged = step.judgement();
            let say = match &judged.task {
                Some(ToolTask::Plugin(plugin)) if plugin.interactive => phrases::NO_TERMINAL.into(),
                Some(ToolTask::Fault(fault)) => fault.say.clone(),
                _ => return run(&exec, &step, None, &control).await.observation,
            };
            let mut seen = not_run(judged, Outcome::Ran, say);
            seen.exit_code = Some(2);
            seen
        }
        .boxed()
    }

    fn run_in_terminal(
        &self,
        step: ClearedStep,
        control: RunControl,
    ) -> BoxFuture<'static, Observation> {
        async move { run_interactive(&step, &control).await }.boxed()
    }
}

/// A plugin that talks to the user, until it ends or the turn does.
async fn run_interactive(step: &ClearedStep, control: &RunControl) -> Observation {
    let judged = step.judgement();
    let (Some(ToolTask::Plugin(plugin)), Some(node)) = (&judged.task, &judged.program) else {
        return not_run(judged, Outcome::Ran, phrases::NO_TERMINAL.into());
    };
    if !step.is_intact() {
        return not_run(judged, Outcome::Refused, phrases::NOT_AS_JUDGED.into());
    }
    let began = Instant::now();
    let mut child = match foreground(&node.path, &plugin.node_args(), &judged.cwd).spawn() {
        Ok(child) => child,
        Err(error) => {
            let say = phrases::FILE_FAILED.with("path", node.path.display().to_string());
            return not_run(judged, Outcome::Ran, say.with("why", error.to_string()));
        }
    };
    let status = tokio::select! {
        status = child.wait() => status.ok(),
        () = control.cancel.cancelled() => {
            // It may have ended by itself.
            let _ = child.kill().await;
            None
        }
    };
    let outcome = if control.cancel.is_cancelled() { Outcome::Cancelled } else { Outcome::Ran };
    let mut seen = not_run(judged, outcome, phrases::PLUGIN_TALKED.into());
    seen.exit_code = status.and_then(|status| status.code());
    seen.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    if seen.exit_code.is_none() && outcome == Outcome::Ran {
        seen.note = Some(phrases::PLUGIN_SIGNAL.with("alias", plugin.alias.as_str()));
    }
    seen
}

/// With our own ends of the terminal, in our own group of processes.
#[expect(clippy::disallowed_methods, reason = "a door to other programs, beside `start`")]
fn foreground(program: &Path, args: &[String], folder: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.args(args).current_dir(folder).env_remove(OWN_KEY).kill_on_drop(true);
    command
}

/// Lets a program have this terminal until it ends.
///
/// # Errors
/// When it cannot be started or waited for.
#[expect(clippy::disallowed_methods, reason = "a door to other programs, beside `start`")]
pub fn run_with_terminal(program: &Path, args: &[String], folder: &Path) -> io::Result<ExitStatus> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env_remove(OWN_KEY);
    command.status()
}

/// Ours, and no concern of a plugin.
const OWN_KEY: &str = "AVOCET_API_KEY";

/// A plugin's output: its fields where it is JSON, else only its size.
pub(super) fn output(captured_text: &CapturedText) -> Option<ParsedOutput> {
    let text = captured_text.lines();
    let shape = parse::parse(&parse::FinishedCommand {
        program: "",
        args: &[],
        stdout: &text,
        stderr: "",
        exit: Some(0),
        whole: captured_text.is_whole(),
    });
    let output =
        ParsedOutput { kind: String::new(), total: text.lines().count(), items: Vec::new() };
    let found = shape.unwrap_or(output);
    Some(ParsedOutput { kind: "plugin_output".to_owned(), ..found })
}
