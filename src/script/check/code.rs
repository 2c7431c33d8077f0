//! Compiles the JavaScript of a script in an engine of its own, without running any of it.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::names::{CheckedModule, KnownNames, is_engine_module};
use super::near::with_near;
use super::place::SourceText;
use crate::error::{LocatedError, Location, SourcePosition, quoted};
use crate::js::{
    Engine, JsLimits, JsPlace, JsScope, JsTask, ModuleKind, TaskOutcome, function_name,
    function_source, names_read,
};
use crate::manifest::{Import, ImportKind, Manifest, Picks};
use crate::syntax::{ScriptValue, Tree};
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// How many expressions are compiled at once; one by one only if one of them is wrong.
const BATCH: usize = 64;

/// An expression that is still to be compiled, and its place in the script.
pub struct UncompiledExpression {
    pub text: String,
    pub location: Location,
}

/// A function that is a value, as in `callback: !fn |-`.
pub struct UncompiledFunction {
    pub source: String,
    pub position: SourcePosition,
    pub first_line: u32,
}

/// What the check has found for the engine to compile.
#[derive(Default)]
pub struct UncompiledCode {
    pub expressions: Vec<UncompiledExpression>,
    pub functions: Vec<UncompiledFunction>,
}

impl UncompiledCode {
    /// The functions among the values of a node.
    pub fn add_functions(&mut self, script_value: &ScriptValue) {
        match &script_value.tree {
            Tree::Text(source)
                if script_value.tag.as_deref().is_some_and(|tag| tag.starts_with("fn")) =>
            {
                self.functions.push(UncompiledFunction {
                    source: source.clone(),
                    position: script_value.position,
                    first_line: script_value.text_below,
                });
            }
            Tree::List(items) => items.iter().for_each(|item| self.add_functions(item)),
            Tree::Map(pairs) => pairs.iter().for_each(|(_, value)| self.add_functions(value)),
            _ => {}
        }
    }
}

/// The faults of a script's expressions, functions and imported files.
pub async fn compile(
    manifest: &Manifest,
    code: &UncompiledCode,
    names: &KnownNames,
    source: &SourceText<'_>,
) -> Vec<LocatedError> {
    let picks = manifest.imports.iter().filter(|import| picks_of_engine(import).is_some());
    let is_empty = code.expressions.is_empty() && code.functions.is_empty();
    let has_more = !manifest.functions.is_empty() || !names.modules.is_empty();
    if is_empty && !has_more && picks.clone().next().is_none() {
        return Vec::new();
    }
    let engine = match Engine::start(JsLimits::default(), CancellationToken::new()) {
        Ok(engine) => engine,
        Err(why) => return vec![why.into()],
    };
    let mut compiler = Compiler { engine, faults: Vec::new() };
    let wrong = compiler.wrong_expressions(&code.expressions).await;
    for UncompiledExpression { text, location } in &code.expressions {
        if let Some(why) = wrong.get(text.as_str()) {
            let what = phrases::NO_EXPRESSION.with("text", quoted(text)).with("why", quoted(why));
            compiler.add(what, location.clone());
        }
    }
    for function in &manifest.functions {
        let Location { file, position } = &function.location;
        let is_own = *file == manifest.origin.file;
        let place = FunctionPlace {
            file,
            position: *position,
            first_line: function.first_line,
            source: is_own.then_some(source),
        };
        compiler.compile_function(&function.source, &place, false).await;
    }
    for function in &code.functions {
        let place = FunctionPlace {
            file: &manifest.origin.file,
            position: function.position,
            first_line: function.first_line,
            source: Some(source),
        };
        compiler.compile_function(&function.source, &place, true).await;
    }
    for (index, module) in names.modules.iter().enumerate() {
        compiler.declare(index, module).await;
    }
    for import in picks {
        compiler.check_picks(import).await;
    }
    compiler.faults
}

/// Where a function is written.
struct FunctionPlace<'a> {
    file: &'a str,
    position: SourcePosition,
    first_line: u32,
    /// The text of the file, if it is the checked one.
    source: Option<&'a SourceText<'a>>,
}

struct Compiler {
    engine: Engine,
    faults: Vec<LocatedError>,
}

impl Compiler {
    fn add(&mut self, what: impl Into<LocalizedText>, location: Location) {
        self.faults.push(LocatedError::with_location(what, location));
    }

    /// The texts that are no expressions, and why. Most are simple, and need no engine.
    async fn wrong_expressions<'e>(
        &self,
        expressions: &'e [UncompiledExpression],
    ) -> BTreeMap<&'e str, String> {
        let texts = expressions.iter().map(|expression| expression.text.as_str());
        let mut texts: Vec<&str> = texts.filter(|text| names_read(text).is_none()).collect();
        texts.sort_unstable();
        texts.dedup();
        let mut wrong = BTreeMap::new();
        for batch in texts.chunks(BATCH) {
            let together: String = batch.iter().map(|text| format!("({text}\n),")).collect();
            if self.expression_fault(&format!("[{together}]")).await.is_none() {
                continue;
            }
            for text in batch {
                if let Some(why) = self.expression_fault(text).await {
                    wrong.insert(*text, why);
                }
            }
        }
        wrong
    }

    async fn expression_fault(&self, text: &str) -> Option<String> {
        let end = self.engine.compute(JsTask::Compile(text.to_owned()), JsScope::new()).await;
        match end.outcome {
            Ok(TaskOutcome::Invalid(why)) => Some(why),
            _ => None,
        }
    }

    async fn compile_function(&mut self, text: &str, place: &FunctionPlace<'_>, is_value: bool) {
        let location = Location::new(place.file, place.position);
        let Ok(source) = function_source(text) else {
            return self.add(phrases::FOREIGN_LANGUAGE.with("name", quoted("!fn")), location);
        };
        let name = function_name(source).map(str::to_owned);
        if name.is_none() && !is_value {
            return self.add(phrases::FUNCTION_NO_NAME, location);
        }
        let name = name.unwrap_or_else(|| "nameless".to_owned());
        let task = JsTask::Define { name, source: source.to_owned() };
        let end = self.engine.compute(task, JsScope::new()).await;
        if let Err(why) = end.outcome {
            let at = end.place.map_or(location.position, |at| place.position_of(text, source, &at));
            self.add(why.0, Location::new(place.file, at));
        }
    }

    async fn declare(&mut self, index: usize, module: &CheckedModule) {
        for file in &module.files {
            let name = format!("module{index}/{}", file.name);
            let task = JsTask::Declare { file: name, source: file.source.clone() };
            let end = self.engine.compute(task, JsScope::new()).await;
            if let Err(why) = end.outcome {
                let path = module.folder.join(&file.name).display().to_string();
                let (line, column) = end.place.map_or((1, 1), |place| (place.line, place.column));
                let location = Location::new(&path, SourcePosition { line, column });
                self.add(why.0, location);
            }
        }
    }

    /// Functions that a module of the engine does not have.
    async fn check_picks(&mut self, import: &Import) {
        let Some((module, picks)) = picks_of_engine(import) else { return };
        let module = JsTask::Module {
            id: format!("checked-{module}"),
            kind: ModuleKind::Builtin,
            file: String::new(),
            source: module.to_owned(),
        };
        let end = self.engine.compute(module, JsScope::new()).await;
        let Ok(TaskOutcome::Value(exports)) = end.outcome else { return };
        let known: Vec<&str> = ["functions", "values"]
            .iter()
            .filter_map(|kind| exports.get(kind).and_then(Value::as_array))
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for name in picks {
            if !known.contains(&name) {
                let what = phrases::NO_EXPORT.with("name", quoted(name));
                self.add(with_near(what, name, known.iter().copied()), import.location.clone());
            }
        }
    }
}

/// The functions that an import selects from a module of the engine.
fn picks_of_engine(import: &Import) -> Option<(&str, Vec<&str>)> {
    match (&import.kind, &import.picks) {
        (ImportKind::Module(name), Picks::Selected(picks)) if is_engine_module(name) => {
            Some((name, picks.iter().map(|pick| pick.name.as_str()).collect()))
        }
        _ => None,
    }
}

impl FunctionPlace<'_> {
    /// The place in the file of a place in what the engine compiled: `source`, a part of `text`.
    fn position_of(&self, text: &str, source: &str, place: &JsPlace) -> SourcePosition {
        let above = text.find(source).map_or("", |start| text.split_at(start).0);
        let lines_above = u32::try_from(above.matches('\n').count()).unwrap_or(0);
        let before = above.rsplit('\n').next().unwrap_or_default().chars().count();
        let before = if place.line == 1 { u32::try_from(before).unwrap_or(0) } else { 0 };
        let in_text = lines_above + place.line.saturating_sub(1);
        let line = self.position.line + self.first_line + in_text;
        let column = place.column + before;
        let code = usize::try_from(in_text).ok().and_then(|number| text.lines().nth(number));
        let column = match (self.source, code) {
            (Some(source), Some(code)) => source.column_in(line, code, column),
            _ => column,
        };
        SourcePosition { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::ENGINE_MODULES;
    use super::*;

    #[tokio::test]
    async fn the_functions_of_each_module_of_the_engine_are_listed() {
        let engine = Engine::start(JsLimits::default(), CancellationToken::new()).unwrap();
        for (module, listed) in ENGINE_MODULES {
            let task = JsTask::Module {
                id: format!("m{module}"),
                kind: ModuleKind::Builtin,
                file: String::new(),
                source: (*module).to_owned(),
            };
            let end = engine.compute(task, JsScope::new()).await;
            let Ok(TaskOutcome::Value(exports)) = end.outcome else { panic!("{module}") };
            let all = exports["functions"].as_array().unwrap().iter();
            let mut all: Vec<&str> = all.filter_map(Value::as_str).collect();
            all.sort_unstable();
            assert_eq!(all, *listed, "{module}");
        }
    }
}
