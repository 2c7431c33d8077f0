//! `-> a(x) -> $b`: passes the last result from one script or function to the next.

use super::super::directive;
use super::super::error::{ScriptResult, quoted};
use super::super::text::args;
use super::arguments::{ArgValues, CallSyntax};
use super::frame::{Callee, Frame, ScriptRun};
use crate::i18n::script_run as words;

/// Runs the links of a chain from left to right.
pub async fn run_chain(run: &mut ScriptRun, frame: &mut Frame, text: &str) -> ScriptResult {
    let links =
        args::parse_chain(text).ok_or_else(|| words::NO_CHAIN.with("text", quoted(text)))?;
    frame.require_trust("->")?;
    run.flush(frame).await?;
    for link in links {
        run.limits.count_instruction()?;
        let latest = frame.values.latest.clone();
        if link.directive && !frame.imports.has_function(&link.name) {
            let called = CallSyntax::from(&link);
            match directive::find(&link.name) {
                // Without arguments it gets the last result as its only argument.
                Some(row) if link.args.is_empty() && !row.is_lazy() => {
                    let given = if latest.is_null() { vec![] } else { vec![latest] };
                    let value = row.run_with(run, frame, ArgValues::from(given)).await?;
                    frame.values.latest = value.unwrap_or(std::mem::take(&mut frame.values.latest));
                }
                _ => run.run_directive(frame, called).await?,
            }
            continue;
        }
        let mut passed = run.evaluate_args(frame, &link.args).await?;
        let known = frame.imports.callee(&link.name);
        let plain = matches!(known, Some(Callee::Js { takes_object: false, .. }));
        let value = if plain && link.args.is_empty() && !latest.is_object() {
            passed.positional.push(latest);
            run.call_function(frame, &link.name, passed).await?
        } else {
            passed.add_latest(&latest);
            match known {
                Some(_) => run.call_function(frame, &link.name, passed).await?,
                None => Some(run.call_script(frame, &link.name, passed.into_script_args()).await?),
            }
        };
        if let Some(value) = value {
            frame.values.set_latest(value);
        }
    }
    Ok(())
}
