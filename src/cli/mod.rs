//! The command line: what was typed, and everything that is answered without the screen.
//!
//! [`args`] says what can be typed and works nothing; the other files each do one thing
//! with values they are given, and write to where they are told. `app` brings both
//! together.

pub mod args;
pub mod config;
pub mod doctor;
pub mod exit;
mod headless;
pub mod input;
pub mod kept;
pub mod linear;
pub mod model;
pub mod output;
pub mod page;
mod pieces;
pub mod policy;
pub mod print;
pub mod report;
pub mod schema;
pub mod script;
pub mod session;
mod shown;
pub mod take;

pub use args::{Cli, Way};
pub use exit::Exit;

/// Makes foreign text safe for where it is written: a terminal, or not.
pub type Clean = fn(&str) -> String;
