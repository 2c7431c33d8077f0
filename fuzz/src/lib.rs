//! What is fuzzed: the members of the program that read what others write, under the names that the
//! program gives them.

extern crate self as avocet;

pub use avocet_core::{protocol, text};
pub use avocet_safety as safety;
pub use avocet_script as script;

pub mod holds;
