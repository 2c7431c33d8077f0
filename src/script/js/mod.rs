//! JavaScript for conditions, expressions, `!fn` functions and imported modules.
//!
//! One [`Engine`] is one QuickJS runtime on a thread of its own, so that code which cannot be
//! interrupted can be abandoned. It has no host objects: it sends each request to the runtime as
//! [`TaskEvent::Call`], plain data, and continues when that is answered. In between it may serve
//! other runs, so an answer may itself need the engine; only where JavaScript waits for an answer
//! (`readFileSync`) it serves nothing else. No value is shared: the values of the
//! script come with each order, and the changes that JavaScript made come back with each answer,
//! both as JSON.
//!
//! Memory, stack and time are limited, each with its own error sentence.

mod engine;
mod engine_core;
mod expression;
mod messages;
mod names;
mod prelude;
mod request_queue;
mod source;
mod task;
mod time_limit;

pub use engine::{Engine, JsRun, PAUSE};
pub use expression::JsExpression;
pub use names::names_read;
pub use source::{UnsupportedLanguage, function_name, function_source};
pub use task::{
    EngineScopeUpdate, JsLimits, JsPlace, JsScope, JsTask, MAX_SECONDS, ModuleKind, RuntimeCall,
    ScopeChanges, TaskEnd, TaskEvent, TaskOutcome,
};

#[cfg(test)]
mod tests;
