//! Hooks: programs of the user that events of a session start, as Claude Code, codex and crush
//! define them in their files.
//!
//! `files` reads them in place, `call` makes what a hook reads on its standard input, and `reply`
//! what its exit code and its output mean. Names of tools and their inputs are those of the program
//! whose file defines a hook, in both directions. Not here: processes, which the session starts
//! through `tools`, and whether a step may run, which only `safety` says.

mod active;
mod call;
mod definition;
mod entry;
mod event;
mod files;
mod permissions;
mod reply;
mod scripts;
mod transcript;

pub use active::ActiveHooks;
pub use call::{HookCall, HookSession};
pub use definition::{Hook, HookFile, HookOrigin, HookProgram};
pub use event::HookEvent;
pub use files::{HookDiagnostic, HookFiles, HookFolders, read_hooks};
pub use permissions::command_rule;
pub use reply::{HookDecision, HookExit, HookReply, HookRun, MAX_OUTPUT, join_replies, read_reply};
pub use scripts::named_files;
pub use transcript::transcript;

#[cfg(test)]
mod tests;
