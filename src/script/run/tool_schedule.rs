//! How the tools of one answer are run: `run_mode` and `concurrency_level` (ISDK-098).
//!
//! | mode | the model names | they run |
//! |---|---|---|
//! | none | its calls, then further ones with their results | one after the other |
//! | `sequential` | one call, then the next one with its result | one after the other |
//! | `parallel` | all calls at once | several at a time |
//! | `cascaded` | calls that can run now, then those that need their results | one after the other |
//! | `planer` | as in `cascaded`, with `planner: advanced` after a plan | several at a time |

use std::sync::Arc;

use futures_util::future::{self, BoxFuture};
use futures_util::stream;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Map, Value};

use super::super::error::{ScriptFlow, ScriptResult, quoted};
use super::super::host::ScriptHost;
use super::super::manifest::input::ScriptArgs;
use super::super::tool_protocol::ParsedToolCall;
use super::expression::ExpressionCache;
use super::frame::{Frame, ScriptRun};
use super::limits::{MAX_ROUNDS, RunLimits};
use super::scope::text_of;
use super::script_tool::{Results, ScriptTool};
use super::shared_host::Relay;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// Maximum number of calls in one reply.
const MAX_CALLS: usize = 20;
/// Calls at a time: the default, and the maximum.
const AT_ONCE: usize = 5;
const MAX_AT_ONCE: usize = 10;

/// How many calls of a reply are taken, how often the model is asked, and how many calls run at a
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSchedule {
    pub calls: usize,
    pub rounds: usize,
    pub at_once: usize,
    /// How often the model may name further calls instead of its answer.
    pub more_rounds: usize,
    /// The instruction for the model.
    pub instruction: &'static str,
}

const ALL: &str = "Name all the calls that are needed.";
const ONE: &str = "Name one call only, the next one; you are asked again with its result.";
const READY: &str = "Name the calls that can run now; you are asked again with their results for those that need them.";
const PLAN: &str = "First plan, in a line that begins with `#`, which results each call needs. Then name the calls that can run now; you are asked again with their results for those that need them.";

impl ToolSchedule {
    /// The mode that the settings of a script ask for.
    pub fn from_settings(frame: &Frame) -> ScriptResult<ToolSchedule> {
        let text = |name: &str| frame.values.option(name).map(|value| text_of(&value));
        let level = frame.values.option("concurrency_level");
        let level = level.and_then(|it| it.as_u64()).and_then(|it| usize::try_from(it).ok());
        let several = level.unwrap_or(AT_ONCE).clamp(1, MAX_AT_ONCE);
        let mode = |calls, rounds, at_once, told| ToolSchedule {
            calls,
            rounds,
            at_once,
            more_rounds: 0,
            instruction: told,
        };
        let planner = text("planner");
        let plans = if planner.as_deref() == Some("advanced") { PLAN } else { READY };
        // A planner is one of the mode that plans.
        Ok(match text("run_mode").or(planner.map(|_| "planer".to_owned())).as_deref() {
            // Sequential as well, but a model that names all calls at once is not held back.
            None => ToolSchedule { more_rounds: MAX_ROUNDS, ..mode(MAX_CALLS, 1, 1, READY) },
            Some("sequential" | "serial") => mode(1, MAX_ROUNDS, 1, ONE),
            Some("parallel") => mode(MAX_CALLS, 1, several, ALL),
            Some("cascaded") => mode(MAX_CALLS, MAX_ROUNDS, 1, READY),
            Some("planer" | "planner") => mode(MAX_CALLS, MAX_ROUNDS, several, plans),
            Some(other) => return Err(phrases::NO_RUN_MODE.with("mode", quoted(other)).into()),
        })
    }
}

/// The tools that are called, and what they are given.
pub fn bind_calls<'t>(
    tools: &[&'t ScriptTool],
    calls: &[ParsedToolCall],
) -> Vec<(&'t ScriptTool, Map<String, Value>)> {
    let found = |call: &ParsedToolCall| {
        let tool = tools.iter().find(|tool| tool.id == call.id)?;
        Some((*tool, tool.help().bind_args(call)))
    };
    calls.iter().filter_map(found).collect()
}

/// Runs the calls of one reply.
pub async fn run_calls(
    run: &mut ScriptRun,
    frame: &mut Frame,
    tools: &[&ScriptTool],
    calls: &[ParsedToolCall],
    at_once: usize,
    results: &mut Results,
) -> ScriptResult {
    let wanted = bind_calls(tools, calls);
    if at_once == 1 || wanted.len() < 2 {
        for (tool, given) in wanted {
            run_tool(run, frame, tool, given, results).await?;
        }
        return Ok(());
    }
    let jobs = tool_jobs(run, frame, wanted, results).await?;
    let nothing = |run: ScriptRun| async move { ((), run.limits) }.boxed();
    let (came, ()) =
        run_concurrently(run, frame.permissions.clone(), &jobs, at_once, nothing).await;
    for ((tool, args, _), came) in jobs.iter().zip(came) {
        let value = result_value(run.host.as_mut(), tool, args, came)?;
        results.add_result(tool, args, &value);
    }
    Ok(())
}

/// A call with its arguments, and the question of its step.
pub type ToolJob<'t> = (&'t ScriptTool, Map<String, Value>, Option<LocalizedText>);

pub async fn tool_jobs<'t>(
    run: &mut ScriptRun,
    frame: &Frame,
    wanted: Vec<(&'t ScriptTool, Map<String, Value>)>,
    results: &mut Results,
) -> ScriptResult<Vec<ToolJob<'t>>> {
    let mut jobs = Vec::new();
    for (tool, given) in wanted {
        let args = tool.complete_args(given);
        results.add_call(tool, &args);
        let asked = frame.permission_question(&tool.kind.call_names(&tool.id), &args)?;
        let asked = tool.kind.confirm_call(run.host.as_mut(), &tool.id, asked).await?;
        jobs.push((tool, args, asked));
    }
    Ok(jobs)
}

/// Runs tools concurrently, up to a limit, and something beside them; the results are in the order
/// of the calls.
pub async fn run_concurrently<'a, T: Send>(
    run: &mut ScriptRun,
    callers: Vec<Arc<Value>>,
    jobs: &[ToolJob<'_>],
    at_once: usize,
    beside: impl FnOnce(ScriptRun) -> BoxFuture<'a, (T, RunLimits)>,
) -> (Vec<ScriptResult<Value>>, T) {
    let (relay, mut asked) = Relay::new(run.host.as_ref());
    let start = run.limits;
    let new_run = || ScriptRun {
        host: Box::new(relay.clone()),
        library: run.library.clone(),
        limits: start,
        // Two answers streamed at once would be mixed up.
        streams: false,
        expressions: ExpressionCache::default(),
    };
    let runs: Vec<_> = jobs
        .iter()
        .map(|(tool, args, asked)| {
            let mut run = new_run();
            let (tool, callers) = (tool.kind.clone(), callers.clone());
            let args = ScriptArgs::from(args.clone());
            let asked = asked.clone();
            async move { (tool.run(&mut run, &callers, args, asked).await, run.limits) }
        })
        .collect();
    let beside = beside(new_run());
    drop(relay);
    let tools = stream::iter(runs).buffered(at_once).collect::<Vec<_>>();
    let mut all = Box::pin(future::join(tools, beside));
    let (came, (value, used)) = loop {
        tokio::select! {
            biased;
            Some(asked) = asked.recv() => asked.serve(run.host.as_mut()).await,
            came = &mut all => break came,
        }
    };
    // Questions sent just before the end.
    while let Ok(asked) = asked.try_recv() {
        asked.serve(run.host.as_mut()).await;
    }
    run.limits.add_since(start, used);
    let came = came.into_iter().map(|(came, used)| {
        run.limits.add_since(start, used);
        came
    });
    (came.collect(), value)
}

/// Runs one tool, and records its result.
pub async fn run_tool(
    run: &mut ScriptRun,
    frame: &mut Frame,
    tool: &ScriptTool,
    given: Map<String, Value>,
    results: &mut Results,
) -> ScriptResult {
    let args = tool.complete_args(given);
    results.add_call(tool, &args);
    // A forbidden call is not retried in another way: it ends the script.
    let asked = frame.permission_question(&tool.kind.call_names(&tool.id), &args)?;
    let asked = tool.kind.confirm_call(run.host.as_mut(), &tool.id, asked).await?;
    let given = ScriptArgs::from(args.clone());
    let came = tool.kind.run(run, &frame.permissions, given, asked).await;
    let value = result_value(run.host.as_mut(), tool, &args, came)?;
    results.add_result(tool, &args, &value);
    Ok(())
}

/// The result as the model reads it: the value, or the error.
pub fn result_value(
    host: &mut dyn ScriptHost,
    tool: &ScriptTool,
    args: &Map<String, Value>,
    came: ScriptResult<Value>,
) -> ScriptResult<Value> {
    let unknown = tool.help().unknown_args(args);
    let texts: Vec<LocalizedText> = unknown
        .into_iter()
        .map(|name| phrases::TOOL_ARGUMENT.with("tool", tool.id.clone()).with("name", quoted(name)))
        .collect();
    match came {
        Ok(value) => {
            texts.into_iter().for_each(|said| host.emit_note(said));
            Ok(value)
        }
        Err(ScriptFlow::Failed(failure)) => {
            let why = failure.message.clone();
            host.emit_note(phrases::TOOL_FAILED.with("name", tool.id.clone()).with("why", why));
            // A missing argument is often one that the model wrote in another way.
            let told = texts.iter().map(|said| format!(" {said}"));
            Ok(Value::String(format!(
                "error: {}{}",
                failure.with_output(),
                told.collect::<String>()
            )))
        }
        Err(halt) => Err(halt),
    }
}
