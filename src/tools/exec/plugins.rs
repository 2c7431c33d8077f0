//! The tool `plugin.run`: a script of slothtool, given to `node`, run like any program a
//! person approved. One that talks by itself gets no terminal from here.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::capture::Text;
use super::{Exec, not_run, parse, run};
use crate::protocol::{Observation, Outcome, Parsed};
use crate::safety::{Cleared, Task};
use crate::tools::{Tool, Watch};
use crate::words::{Word, tools as words};

#[derive(Clone, Debug)]
struct Plugins(Exec);

impl Exec {
    /// The tool that runs plugins, as this one runs programs.
    pub fn plugins(&self) -> Arc<dyn Tool> {
        Arc::new(Plugins(self.clone()))
    }
}

impl Tool for Plugins {
    fn name(&self) -> &'static str {
        "plugin.run"
    }

    fn about(&self) -> Word {
        words::ABOUT_PLUGIN
    }

    fn prompt(&self) -> &'static str {
        "plugin.run {alias, args}: runs a plugin of slothtool; args [\"--help\"] tells what it can"
    }

    fn run(&self, step: Cleared, watch: Watch) -> BoxFuture<'static, Observation> {
        let exec = self.0.clone();
        async move {
            let judged = step.judged();
            let say = match &judged.task {
                Some(Task::Plugin(plugin)) if plugin.interactive => words::NO_TERMINAL.into(),
                Some(Task::Fault(fault)) => fault.say.clone(),
                _ => return run(&exec, &step, None, &watch).await.seen,
            };
            let mut seen = not_run(judged, Outcome::Ran, say);
            seen.exit_code = Some(2);
            seen
        }
        .boxed()
    }
}

/// What a plugin printed: its fields where it is JSON, else only how much it is.
pub(super) fn output(stdout: &Text) -> Option<Parsed> {
    let text = stdout.lines();
    let shape = parse::parse(&parse::Run {
        program: "",
        args: &[],
        stdout: &text,
        stderr: "",
        exit: Some(0),
        whole: stdout.is_whole(),
    });
    let lines = Parsed { kind: String::new(), total: text.lines().count(), items: Vec::new() };
    let found = shape.unwrap_or(lines);
    Some(Parsed { kind: "plugin_output".to_owned(), ..found })
}
