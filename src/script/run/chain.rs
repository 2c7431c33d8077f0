//! `-> a(x) -> $b`: passes the last result from one script or function to the next.

use serde_json::{Map, Value};

use super::super::directive;
use super::super::error::{ScriptResult, quoted};
use super::super::text::args::{self, Arg, CallExpr};
use super::arguments::{ArgValues, CallSyntax};
use super::frame::{Callee, Frame, ScriptRun};
use avocet_core::i18n::script_run as phrases;

/// Runs the links of a chain from left to right.
pub async fn run_chain(run: &mut ScriptRun, frame: &mut Frame, text: &str) -> ScriptResult {
    let links =
        args::parse_chain(text).ok_or_else(|| phrases::NO_CHAIN.with("text", quoted(text)))?;
    frame.require_trust("->")?;
    run.flush(frame).await?;
    for link in links {
        run.limits.count_instruction()?;
        run_link(run, frame, &link).await?;
    }
    Ok(())
}

async fn run_link(run: &mut ScriptRun, frame: &mut Frame, expr: &CallExpr) -> ScriptResult {
    let latest = frame.values.latest.clone();
    if expr.directive && !frame.bindings.has_function(&expr.name) {
        return run_directive_link(run, frame, expr, latest).await;
    }
    let mut passed = evaluate_link_args(run, frame, &expr.args, &latest).await?;
    let keeps = passed.named.shift_remove("!as");
    let known = frame.bindings.callee(&expr.name);
    let plain = matches!(known, Some(Callee::Js { takes_object: false, .. }));
    let value = if plain && expr.args.is_empty() && !latest.is_object() {
        passed.positional.push(latest);
        run.call_function(frame, &expr.name, passed).await?
    } else if plain && !expr.args.is_empty() && passed.named.is_empty() {
        // As in `$f(a, b)`: arguments by position are these alone.
        run.call_function(frame, &expr.name, passed).await?
    } else {
        passed.add_latest(&latest);
        match known {
            Some(_) => run.call_function(frame, &expr.name, passed).await?,
            None => Some(run.call_script(frame, &expr.name, passed.into_script_args()).await?),
        }
    };
    if let Some(value) = value {
        if let Some(Value::String(name)) = keeps {
            frame.values.set(&name, value.clone());
        }
        frame.values.set_latest(value);
    }
    Ok(())
}

/// A link that is a directive.
async fn run_directive_link(
    run: &mut ScriptRun,
    frame: &mut Frame,
    expr: &CallExpr,
    latest: Value,
) -> ScriptResult {
    let called = CallSyntax::from(expr);
    let row = directive::find(&expr.name);
    match row {
        // Without arguments it gets the last result as its only argument.
        Some(row) if expr.args.is_empty() && !row.is_lazy() => {
            let given = if latest.is_null() { vec![] } else { vec![latest] };
            let value = row.run_with(run, frame, ArgValues::from(given)).await?;
            frame.values.latest = value.unwrap_or(std::mem::take(&mut frame.values.latest));
        }
        Some(row) if !row.is_lazy() => {
            let passed = evaluate_link_args(run, frame, &expr.args, &latest).await?;
            if let Some(value) = row.run_with(run, frame, passed).await? {
                frame.values.set_latest(value);
            }
        }
        _ => run.run_directive(frame, called).await?,
    }
    Ok(())
}

/// The arguments of a link. In them `content` and `result` are the last result, as in the published
/// engine. The fields of a result are there as well, unless the script itself has the name.
async fn evaluate_link_args(
    run: &mut ScriptRun,
    frame: &mut Frame,
    args: &[Arg],
    latest: &Value,
) -> ScriptResult<ArgValues> {
    let mut local = Map::new();
    if !latest.is_null() {
        let fields = latest.as_object().into_iter().flatten();
        local.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
        local.retain(|name, _| name == "content" || frame.values.get(name).is_none());
        local.insert("result".to_owned(), latest.clone());
        local.entry("content").or_insert_with(|| latest.clone());
    }
    frame.values.locals.push(local);
    let passed = run.evaluate_args(frame, args).await;
    frame.values.locals.pop();
    passed
}
