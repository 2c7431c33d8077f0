//! The bottom of the program: plain data, words and text, and what the layers above share of the
//! system.
//!
//! In layers, from the top: `deadline`, `private_dir`, `signals` and `terminal_modes` touch the
//! system; `prompt` reads what the user typed; `protocol` is the data that passes between the
//! layers; `i18n` has the sentences that users read; `text` cuts, quotes and escapes text, and
//! `secret` keeps a key from being shown; neither knows anything else. All but the first four decide only: no waiting, no I/O, no clock.

pub mod deadline;
pub mod i18n;
pub mod private_dir;
pub mod prompt;
pub mod protocol;
pub mod secret;
pub mod signals;
pub mod terminal_modes;
pub mod text;
