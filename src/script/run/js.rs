//! The script's JavaScript engine: what goes in, what it requests, and what comes back.

use serde_json::{Map, Value};

use super::super::directive::{self, DirectiveCall};
use super::super::fault::quoted;
use super::super::host::ScriptEvent;
use super::super::js::{
    Changes, Engine, Got, JsLimits, JsTask, ModuleKind, TaskEvent, Want, function_name,
    function_source,
};
use super::super::shape::Function;
use super::super::shape::links::bare;
use super::calls::{ArgValues, Called};
use super::import::Callee;
use super::modules::JsFile;
use super::values::text_of;
use super::{Frame, ScriptFlow, ScriptRun};
use crate::words::script_run as words;

/// How many unknown names a condition may hold; they count as undefined.
const MOST_UNKNOWN: usize = 16;

impl ScriptRun {
    /// Declares the functions defined in the script.
    pub async fn declare(&mut self, frame: &mut Frame) -> Result<(), ScriptFlow> {
        let shape = frame.shape.clone();
        for function in &shape.functions {
            self.needs_trust(frame, "!fn")?;
            self.declare_one(frame, function).await.map_err(|halt| match halt {
                ScriptFlow::Failed(failure) => {
                    let spot = &function.spot;
                    failure.or_at(&spot.file, spot.place).into()
                }
                other => other,
            })?;
        }
        Ok(())
    }

    async fn declare_one(
        &mut self,
        frame: &mut Frame,
        function: &Function,
    ) -> Result<(), ScriptFlow> {
        let source = plain_source(&function.source)?;
        let name = function_name(source).ok_or(words::FUNCTION_NO_NAME)?;
        let name = bare(name);
        self.define(frame, &name, source).await?;
        match name.strip_prefix("template$") {
            Some(short) => frame.reach.add_template(short, &name),
            None if function.template => frame.reach.add_template(&name, &name),
            None => {
                let takes_object = takes_object(source);
                frame.reach.add(&name, Callee::Js { name: name.clone(), takes_object });
            }
        }
        Ok(())
    }

    async fn define(
        &mut self,
        frame: &mut Frame,
        name: &str,
        source: &str,
    ) -> Result<(), ScriptFlow> {
        let task = JsTask::Define { name: name.to_owned(), source: source.to_owned() };
        match self.drive(frame, task, Map::new()).await? {
            Got::Invalid(why) => Err(words::BAD_FUNCTION.with("why", quoted(&why)).into()),
            _ => Ok(()),
        }
    }

    /// Names an anonymous function, and returns the name.
    pub async fn nameless(
        &mut self,
        frame: &mut Frame,
        source: &str,
    ) -> Result<String, ScriptFlow> {
        self.needs_trust(frame, "!fn")?;
        frame.reach.nameless += 1;
        let name = format!("nameless{}", frame.reach.nameless);
        let source = plain_source(source)?;
        self.define(frame, &name, source).await?;
        let takes_object = takes_object(source);
        frame.reach.add(&name, Callee::Js { name: name.clone(), takes_object });
        Ok(name)
    }

    /// Runs an expression in the engine.
    pub async fn evaluate(&mut self, frame: &mut Frame, text: &str) -> Result<Got, ScriptFlow> {
        let scope = scope(frame);
        self.drive(frame, JsTask::Eval(text.to_owned()), scope).await
    }

    /// The same for a condition, in which unknown names are undefined.
    pub async fn evaluate_condition(
        &mut self,
        frame: &mut Frame,
        text: &str,
    ) -> Result<Got, ScriptFlow> {
        let mut unknown = Vec::new();
        loop {
            let mut scope = scope(frame);
            scope.extend(unknown.iter().map(|name: &String| (name.clone(), Value::Null)));
            match self.drive(frame, JsTask::Eval(text.to_owned()), scope).await? {
                Got::Unknown(name) if unknown.len() < MOST_UNKNOWN && !unknown.contains(&name) => {
                    unknown.push(name);
                }
                got => return Ok(got),
            }
        }
    }

    /// Calls a function of the engine.
    pub async fn js(
        &mut self,
        frame: &mut Frame,
        name: &str,
        args: Vec<Value>,
    ) -> Result<Option<Value>, ScriptFlow> {
        let scope = scope(frame);
        match self.drive(frame, JsTask::Call { name: name.to_owned(), args }, scope).await? {
            Got::Value(value) => Ok(Some(value)),
            Got::Function(name) => Ok(Some(Value::String(name))),
            Got::Undefined => Ok(None),
            Got::Unknown(name) | Got::Invalid(name) => {
                Err(words::NO_DIRECTIVE.with("name", quoted(&name)).into())
            }
        }
    }

    /// Calls a template function by the name templates use.
    pub async fn template_function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        args: Vec<Value>,
    ) -> Result<Option<Value>, ScriptFlow> {
        let function = frame
            .reach
            .template(name)
            .ok_or_else(|| words::NO_DIRECTIVE.with("name", quoted(name)))?;
        Box::pin(self.js(frame, &function, args)).await
    }

    /// Loads a module: returns its id in the engine, and the names of its functions. The last of
    /// its files is the module, the others are its imports; no files: it is built in.
    pub async fn js_module(
        &mut self,
        frame: &mut Frame,
        name: &str,
        mut files: Vec<JsFile>,
    ) -> Result<(String, Vec<String>), ScriptFlow> {
        frame.reach.nameless += 1;
        let id = format!("module{}", frame.reach.nameless);
        let at = |file: &JsFile| format!("{id}/{}", file.name);
        let main = files.pop();
        for file in &files {
            let task = JsTask::Declare { file: at(file), source: file.source.clone() };
            self.drive(frame, task, Map::new()).await?;
        }
        let (kind, file, source) = match main {
            Some(main) => (ModuleKind::Auto, at(&main), main.source),
            None => (ModuleKind::Builtin, String::new(), name.to_owned()),
        };
        let task = JsTask::Module { id: id.clone(), kind, file, source };
        match self.drive(frame, task, Map::new()).await? {
            Got::Value(value) => {
                let functions = value.get("functions").and_then(Value::as_array);
                let names = functions.into_iter().flatten().map(text_of).collect();
                Ok((id, names))
            }
            _ => Err(words::NO_MODULE.with("name", quoted(name)).into()),
        }
    }

    /// Binds a name to a module or one of its functions, inside the engine too.
    pub async fn js_bind(
        &mut self,
        frame: &mut Frame,
        name: &str,
        to: &str,
    ) -> Result<(), ScriptFlow> {
        let task = JsTask::Bind { name: name.to_owned(), to: to.to_owned() };
        self.drive(frame, task, Map::new()).await.map(|_| ())
    }

    fn engine(&self, frame: &mut Frame) -> Result<Engine, ScriptFlow> {
        self.needs_trust(frame, "JavaScript")?;
        if let Some(engine) = &frame.reach.engine {
            return Ok(engine.clone());
        }
        let engine = Engine::start(JsLimits::default())?;
        frame.reach.engine = Some(engine.clone());
        Ok(engine)
    }

    /// Runs a task to its end, and serves its requests on the way.
    async fn drive(
        &mut self,
        frame: &mut Frame,
        task: JsTask,
        scope_now: Map<String, Value>,
    ) -> Result<Got, ScriptFlow> {
        let engine = self.engine(frame)?;
        let mut under_way = engine.run(task, scope_now);
        loop {
            match under_way.next().await {
                TaskEvent::Log(line) => self.host.tell(ScriptEvent::Print(Value::String(line))),
                TaskEvent::Ended(ended) => {
                    apply(frame, &ended.changes);
                    return Ok(ended.got?);
                }
                TaskEvent::Wants(want) => {
                    apply(frame, &want.changes);
                    let id = want.id;
                    let answer = match Box::pin(self.wanted(frame, want)).await {
                        Ok(value) => Ok(value.unwrap_or(Value::Null)),
                        Err(ScriptFlow::Failed(failure)) => Err(failure.to_string()),
                        Err(halt) => return Err(halt),
                    };
                    under_way.answer(id, answer, scope(frame));
                }
            }
        }
    }

    /// Serves a call that JavaScript makes to the runtime.
    async fn wanted(&mut self, frame: &mut Frame, want: Want) -> Result<Option<Value>, ScriptFlow> {
        self.step()?;
        let passed = ArgValues { by_place: want.args, ..ArgValues::default() };
        if !frame.reach.has_function(&want.name)
            && let Some(row) = directive::find(&want.name)
        {
            self.needs_trust(frame, &format!("${}", want.name))?;
            let called = Called { name: row.name, pipe: false, args: &[], head: None, more: &[] };
            let before = frame.values.latest.clone();
            let value = (row.run)(self, frame, DirectiveCall { called, passed }).await?;
            let changed = (frame.values.latest != before).then(|| frame.values.latest.clone());
            return Ok(value.or(changed));
        }
        self.function(frame, &want.name, passed).await
    }
}

/// The scope of an expression: everything that has a name; inputs without a value are null.
fn scope(frame: &Frame) -> Map<String, Value> {
    let mut scope = frame.values.scope();
    for input in &frame.shape.inputs {
        scope.entry(input.name.clone()).or_insert(Value::Null);
    }
    scope
}

/// Applies JavaScript's assignments.
fn apply(frame: &mut Frame, changes: &Changes) {
    for (name, value) in &changes.set {
        match (name.as_str(), value) {
            ("prompt", Value::Object(map)) => frame.values.prompt.extend(map.clone()),
            ("parameters", Value::Object(map)) => frame.values.parameters.clone_from(map),
            _ => frame.values.set(name, value.clone()),
        }
    }
    for name in &changes.gone {
        frame.values.unset(name);
    }
}

fn plain_source(text: &str) -> Result<&str, ScriptFlow> {
    function_source(text)
        .map_err(|foreign| words::FOREIGN_LANGUAGE.with("name", quoted(&foreign.0)).into())
}

/// Whether the first parameter is destructured: `make({content})`.
fn takes_object(source: &str) -> bool {
    let params = source.split_once('(').map(|(_, params)| params.trim_start());
    params.is_some_and(|params| params.starts_with('{'))
}
