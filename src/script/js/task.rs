//! The tasks of an engine, and its answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::expression::JsExpression;
use crate::error::ScriptError;

/// The values of a script, by name.
pub type JsScope = Map<String, Value>;

/// The limits of one engine.
#[derive(Clone, Copy, Debug)]
pub struct JsLimits {
    /// Bytes of all its values together.
    pub memory: usize,
    /// Bytes of its call stack.
    pub stack: usize,
    /// How long it may compute without a request.
    pub time: Duration,
}

/// How long JavaScript may compute, in seconds.
pub const MAX_SECONDS: u8 = 5;

impl Default for JsLimits {
    fn default() -> JsLimits {
        JsLimits {
            memory: 64 * 1024 * 1024,
            stack: 512 * 1024,
            time: Duration::from_secs(MAX_SECONDS.into()),
        }
    }
}

/// The changes of a script's values that are sent to the engine, since it last got them. What
/// JavaScript changes comes back as [`ScopeChanges`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineScopeUpdate {
    pub set: Vec<(String, Value)>,
    pub removed: Vec<String>,
    /// What is not set here is removed.
    pub is_whole: bool,
    /// The names that the runtime serves, if they have changed; without any, it is asked for
    /// every name.
    pub names: Option<Vec<String>>,
}

impl From<JsScope> for EngineScopeUpdate {
    fn from(scope: JsScope) -> EngineScopeUpdate {
        let set = scope.into_iter().collect();
        EngineScopeUpdate { set, is_whole: true, ..EngineScopeUpdate::default() }
    }
}

/// A place in a function or a file of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsPlace {
    /// `fn:NAME`, or the module's ID and its file: `module1/lib/a.mjs`.
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A task for the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum JsTask {
    /// The value of an expression. Names of the scope may be used directly.
    Eval(Arc<JsExpression>),
    /// Compiles an expression without running it.
    Compile(String),
    /// Declares `$name`; `source` is the body of an `!fn` without its language mark.
    Define { name: String, source: String },
    /// Calls a function that was defined, imported or returned. One object as the only argument is
    /// the named form.
    Call { name: String, args: Vec<Value> },
    /// Evaluates a module and keeps its exports under `id`; the value is
    /// `{functions: [names], values: [names]}`.
    /// `file` is the name that relative imports in it start from.
    Module { id: String, kind: ModuleKind, file: String, source: String },
    /// Stores a file that modules import by this name; none of it runs yet.
    Declare { file: String, source: String },
    /// Binds `$name` to `to`: `id`, `id.export` or another function.
    Bind { name: String, to: String },
}

impl JsTask {
    /// The value of an expression.
    pub fn eval(text: &str) -> JsTask {
        JsTask::Eval(Arc::new(JsExpression::from(text)))
    }
}

/// The module system a module is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// `import`/`export`.
    Module,
    /// `exports`, `module.exports`, `require`.
    Common,
    /// Detected from the text.
    Auto,
    /// A built-in module; the source is its name.
    Builtin,
}

/// A message from a running task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEvent {
    /// A line of `console.log`.
    Log(String),
    /// Continues when [`JsRun::answer`](super::JsRun::answer) is called with this id.
    Call(RuntimeCall),
    Ended(TaskEnd),
}

/// A call of the runtime: `this.$name(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeCall {
    pub id: u64,
    /// Without `$`; may have a field after a dot (`agent.interact`).
    pub name: String,
    pub args: Vec<Value>,
    pub changes: ScopeChanges,
}

/// The end of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEnd {
    pub outcome: Result<TaskOutcome, ScriptError>,
    pub changes: ScopeChanges,
    /// Where it failed, if that is known.
    pub place: Option<JsPlace>,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskOutcome {
    Value(Value),
    Undefined,
    /// A function, by a name that [`JsTask::Call`] takes.
    Function(String),
    /// The expression uses an unknown name; for a call: there is no such function.
    Unknown(String),
    /// `$name` is called, and nothing has this name.
    NoFunction(String),
    /// The text is not an expression; with the engine's reason.
    Invalid(String),
}

impl TaskOutcome {
    /// The value, if it has one; a function is its name.
    pub fn into_value(self) -> Option<Value> {
        match self {
            TaskOutcome::Value(value) => Some(value),
            TaskOutcome::Function(name) => Some(Value::String(name)),
            TaskOutcome::Undefined
            | TaskOutcome::Unknown(_)
            | TaskOutcome::NoFunction(_)
            | TaskOutcome::Invalid(_) => None,
        }
    }
}

/// Values that JavaScript assigned or removed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopeChanges {
    pub set: Vec<(String, Value)>,
    pub removed: Vec<String>,
}

impl ScopeChanges {
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }

    /// Applies JavaScript's changes to these values.
    pub fn apply(&self, scope: &mut JsScope) {
        for (name, value) in &self.set {
            scope.insert(name.clone(), value.clone());
        }
        for name in &self.removed {
            scope.remove(name);
        }
    }
}
