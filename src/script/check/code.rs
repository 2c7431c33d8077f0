//! Compiles the JavaScript of a script in an engine of its own, without running any of it.

use tokio_util::sync::CancellationToken;

use super::names::CheckedModule;
use crate::i18n::script_run as words;
use crate::script::error::{LocatedError, Location, SourcePosition, quoted};
use crate::script::js::{
    Engine, JsLimits, JsPlace, JsScope, JsTask, TaskOutcome, function_name, function_source,
};
use crate::script::manifest::Manifest;

/// An expression, and its place in the script.
pub struct CheckedExpression {
    pub text: String,
    pub location: Location,
}

/// The faults of a script's expressions, functions and imported files.
pub async fn compile(
    manifest: &Manifest,
    code: &[CheckedExpression],
    modules: &[CheckedModule],
) -> Vec<LocatedError> {
    let mut faults = Vec::new();
    if code.is_empty() && manifest.functions.is_empty() && modules.is_empty() {
        return faults;
    }
    let engine = match Engine::start(JsLimits::default(), CancellationToken::new()) {
        Ok(engine) => engine,
        Err(why) => return vec![why.into()],
    };
    for CheckedExpression { text, location } in code {
        let end = engine.compute(JsTask::Compile(text.clone()), JsScope::new()).await;
        if let Ok(TaskOutcome::Invalid(why)) = end.outcome {
            let what = words::NO_EXPRESSION.with("text", quoted(text)).with("why", quoted(&why));
            faults.push(LocatedError::with_location(what, location.clone()));
        }
    }
    for function in &manifest.functions {
        let Location { file, position } = &function.location;
        let at = |what, line: u32, column: u32| {
            LocatedError::with_location(what, Location::new(file, SourcePosition { line, column }))
        };
        let Ok(source) = function_source(&function.source) else {
            let what = words::FOREIGN_LANGUAGE.with("name", quoted("!fn"));
            faults.push(at(what, position.line, position.column));
            continue;
        };
        let Some(name) = function_name(source) else {
            faults.push(at(words::FUNCTION_NO_NAME.into(), position.line, position.column));
            continue;
        };
        let task = JsTask::Define { name: name.to_owned(), source: source.to_owned() };
        let end = engine.compute(task, JsScope::new()).await;
        if let Err(why) = end.outcome {
            let first = position.line + function.first_line;
            let (line, column) = match end.place {
                Some(JsPlace { line, column, .. }) => (first + line - 1, column),
                None => (position.line, position.column),
            };
            faults.push(at(why.0, line, column));
        }
    }
    for (index, module) in modules.iter().enumerate() {
        for file in &module.files {
            let name = format!("module{index}/{}", file.name);
            let task = JsTask::Declare { file: name, source: file.source.clone() };
            let end = engine.compute(task, JsScope::new()).await;
            if let Err(why) = end.outcome {
                let path = module.folder.join(&file.name).display().to_string();
                let (line, column) = end.place.map_or((1, 1), |place| (place.line, place.column));
                let at = Location::new(&path, SourcePosition { line, column });
                faults.push(LocatedError::with_location(why.0, at));
            }
        }
    }
    faults
}
