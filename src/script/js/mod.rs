//! JavaScript for conditions, expressions, `!fn` functions and imported modules.
//!
//! One [`Engine`] is one QuickJS runtime on a thread of its own, since a long native
//! call cannot be interrupted. It has no host objects: what it wants of the runtime it
//! says as [`Said::Wants`], plain data, and goes on when that is answered. In between it
//! may serve other runs, so an answer may itself need the engine. No value is shared:
//! the values of the script come with each order, and what JavaScript changed comes back
//! with each answer.
//!
//! Memory, stack and time are limited, each with a sentence of its own.

mod engine;
mod source;

use std::time::Duration;

use serde_json::{Map, Value};

pub use engine::{Engine, Run};
pub use source::{Foreign, function_name, function_source};

/// The values a script has, by name.
pub type Scope = Map<String, Value>;

/// What one engine may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of all its values together.
    pub memory: usize,
    /// Bytes of its call stack.
    pub stack: usize,
    /// How long it may compute without asking for anything.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: 64 * 1024 * 1024, stack: 512 * 1024, time: Duration::from_secs(5) }
    }
}

/// What the engine is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The value of an expression. Names of the scope may be used as they are.
    Eval(String),
    /// Declares `$name`; `source` is the body of an `!fn` without its language mark.
    Define { name: String, source: String },
    /// Calls a function that was defined, imported or handed out. One object as the only
    /// argument is the named form.
    Call { name: String, args: Vec<Value> },
    /// Evaluates a module and keeps its exports under `id`; the value is
    /// `{functions: [names], values: [names]}`.
    /// `file` is the name that relative imports in it start from.
    Module { id: String, kind: ModuleKind, file: String, source: String },
    /// Keeps a file that modules import by this name; nothing of it runs yet.
    Declare { file: String, source: String },
    /// Makes `$name` mean what `to` is: `id`, `id.export` or another function.
    Bind { name: String, to: String },
}

/// How a module is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// `import`/`export`.
    Module,
    /// `exports`, `module.exports`, `require`.
    Common,
    /// Found out from the text.
    Auto,
    /// One that is built in; the source is its name.
    Builtin,
}

/// What a running task says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A line of `console.log`.
    Log(String),
    /// It goes on when [`Run::answer`] is called with this id.
    Wants(Want),
    Ended(Ended),
}

/// A call of the runtime: `this.$name(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    pub id: u64,
    /// Without `$`; a field of it behind a dot (`agent.interact`).
    pub name: String,
    pub args: Vec<Value>,
    pub changes: Changes,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub got: Result<Got, super::Fault>,
    pub changes: Changes,
}

/// What a task gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Got {
    Value(Value),
    Undefined,
    /// A function, by a name that [`Task::Call`] takes.
    Function(String),
    /// The expression uses a name nobody knows; of a call: there is no such function.
    Unknown(String),
    /// The text is no expression at all; with the engine's reason.
    Invalid(String),
}

impl Got {
    /// The plain value, with nothing for `undefined`; `None` where there is none.
    pub fn value(self) -> Option<Value> {
        match self {
            Got::Value(value) => Some(value),
            Got::Undefined => Some(Value::Null),
            Got::Function(name) => Some(Value::String(name)),
            Got::Unknown(_) | Got::Invalid(_) => None,
        }
    }
}

/// Values that JavaScript assigned or removed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub set: Vec<(String, Value)>,
    pub gone: Vec<String>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.gone.is_empty()
    }

    /// Does to these values what JavaScript did to its own.
    pub fn apply(&self, scope: &mut Scope) {
        for (name, value) in &self.set {
            scope.insert(name.clone(), value.clone());
        }
        for name in &self.gone {
            scope.remove(name);
        }
    }
}

#[cfg(test)]
mod tests;
