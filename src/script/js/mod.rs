//! JavaScript for conditions, expressions, `!fn` functions and imported modules.
//!
//! One [`Engine`] is one QuickJS runtime. It computes on the thread of the script, where an order
//! costs less than handing it to another thread, and checks its limits while it does. Code that may
//! spend long in a function of the engine, which cannot be interrupted, goes to a thread that can
//! be abandoned. It has no host objects: it sends each request to the runtime as
//! [`TaskEvent::Call`], plain data, and continues when that is answered. In between it may serve
//! other runs, so an answer may itself need the engine. No value is shared: the values of the
//! script come with each order, and the changes that JavaScript made come back with each answer.
//! A value that is plain goes over as it is, anything else as JSON.
//!
//! Memory, stack and time are limited, each with its own error sentence.

mod direct;
mod engine;
mod engine_core;
mod expression;
mod handoff;
mod messages;
mod native;
mod prelude;
mod simple;
mod source;
mod task;
mod thread;
mod time_limit;

pub use engine::{Engine, JsRun, PAUSE};
pub use expression::JsExpression;
pub use simple::{ParsedExpression, is_truthy, names_read};
pub use source::{UnsupportedLanguage, function_name, function_source};
pub use task::{
    JsLimits, JsPlace, JsScope, JsTask, MOST_SECONDS, ModuleKind, RuntimeCall, ScopeChanges,
    ScopeUpdate, TaskEnd, TaskEvent, TaskOutcome,
};

#[cfg(test)]
mod tests;
