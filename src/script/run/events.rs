//! The events of a run, and a script's handlers for them.

use serde_json::Value;

use super::super::directive;
use super::super::error::{CallResult, Location, ScriptResult};
use super::super::js::TaskOutcome;
use super::super::syntax::{ScriptValue, Tree};
use super::super::text::args as call_text;
use super::arguments::ArgValues;
use super::eval::outcome_value;
use super::frame::{Frame, Handler, ScriptRun};
use super::js::{call_js, define_anonymous, evaluate};

impl ScriptRun {
    /// The name of a callback; an inline function is given one.
    pub async fn callback_name(
        &mut self,
        frame: &mut Frame,
        value: &ScriptValue,
    ) -> ScriptResult<String> {
        match (&value.tag, value.as_text()) {
            (Some(_), Some(source)) => define_anonymous(self, frame, source).await,
            (None, Some(text)) => Ok(text.to_owned()),
            _ => Ok(String::new()),
        }
    }

    async fn call_handler(
        &mut self,
        frame: &mut Frame,
        handler: &Handler,
        args: Vec<Value>,
    ) -> CallResult {
        if let Some(expression) = handler.callback.strip_prefix("?=") {
            let expression = self.expressions.read(expression);
            let outcome = Box::pin(evaluate(self, frame, expression.code())).await?;
            match outcome {
                // A function is what handles the event; any other value was its handling.
                TaskOutcome::Function(name) => Box::pin(call_js(self, frame, &name, args)).await,
                outcome => outcome_value(&handler.callback, outcome),
            }
        } else if let Some(call) = call_text::parse_call(&handler.callback) {
            let passed = ArgValues::from(args);
            match directive::find(&call.name).filter(|_| !frame.bindings.has_function(&call.name)) {
                Some(row) => Box::pin(row.run_with(self, frame, passed)).await,
                None => Box::pin(self.call_function(frame, &call.name, passed)).await,
            }
        } else {
            Ok(None)
        }
    }

    /// Calls every handler of an event; the value of the last one that has one.
    pub async fn emit(&mut self, frame: &mut Frame, event: &str, args: Vec<Value>) -> CallResult {
        let mut result = None;
        if !frame.has_handler(event) {
            return Ok(result);
        }
        let heard: Vec<_> = frame.handlers.iter().filter(|it| it.event == event).cloned().collect();
        frame.handlers.retain(|handler| handler.event != event || !handler.once);
        let about = serde_json::json!({ "type": event });
        for handler in heard {
            let all: Vec<Value> = std::iter::once(about.clone()).chain(args.clone()).collect();
            let Location { file, position } = &handler.location;
            self.limits.enter_call(event)?;
            let came = self.call_handler(frame, &handler, all).await;
            self.limits.leave_call();
            let value = came.map_err(|halt| halt.or_location(file, *position))?;
            result = value.filter(|value| !value.is_null()).or(result);
        }
        Ok(result)
    }
}

/// The handlers of the head: `on:` as a list of `"event:$fn"`, of `{event, callback}` as for `$on`,
/// or a map.
pub async fn add_declared_handlers(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    let Some(on) = frame.manifest.front_matter.get("on").cloned() else { return Ok(()) };
    let items = match on.tree {
        Tree::List(items) => items,
        _ => vec![on],
    };
    let file = frame.manifest.origin.file.clone();
    for item in &items {
        let location = Location::new(&file, item.position);
        if let Some(text) = item.as_text()
            && let Some((event, callback)) = text.split_once(':')
        {
            frame.add_handler(event.trim(), callback.trim(), false, location.clone());
        }
        if let (Some(event), Some(callback)) = (item.get("event"), item.get("callback")) {
            let event = event.key_text().unwrap_or_default();
            let callback = run.callback_name(frame, callback).await?;
            frame.add_handler(&event, &callback, false, location);
            continue;
        }
        for (event, callback) in item.pairs() {
            let event = event.key_text().unwrap_or_default();
            let callback = run.callback_name(frame, callback).await?;
            frame.add_handler(&event, &callback, false, location.clone());
        }
    }
    Ok(())
}
