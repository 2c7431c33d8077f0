//! JavaScript for conditions, expressions, `!fn` functions and imported modules.
//!
//! One [`Engine`] is one QuickJS runtime on a thread of its own, since a long native call cannot be
//! interrupted. It has no host objects: it sends each request to the runtime as
//! [`TaskEvent::Call`], plain data, and continues when that is answered. In between it may serve
//! other runs, so an answer may itself need the engine. No value is shared: the values of the
//! script come with each order, and the changes that JavaScript made come back with each answer.
//! An order takes less time than a thread needs to fall asleep and wake, so each side looks for a
//! moment before it waits; a value that is plain goes over as it is, anything else as JSON.
//!
//! Memory, stack and time are limited, each with its own error sentence.

mod engine;
mod handoff;
mod simple;
mod source;
mod task;
mod thread;

pub use engine::{Engine, JsRun, PAUSE};
pub use simple::{evaluate as evaluate_simple, is_truthy};
pub use source::{UnsupportedLanguage, function_name, function_source};
pub use task::{
    JsLimits, JsPlace, JsScope, JsTask, ModuleKind, RuntimeCall, ScopeChanges, ScopeUpdate,
    TaskEnd, TaskEvent, TaskOutcome,
};

#[cfg(test)]
mod tests;
