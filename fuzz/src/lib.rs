//! What is fuzzed, and no more of the program: its other parts and all they depend on
//! would be built for half an hour, and every counter of theirs looked at after each run.

#![allow(dead_code, unused_imports, reason = "parts of a program")]

extern crate self as avocet;

#[path = "../../src/protocol/mod.rs"]
pub mod protocol;
#[path = "../../src/safety/mod.rs"]
pub mod safety;
#[path = "../../src/script/mod.rs"]
pub mod script;
#[path = "../../src/words/mod.rs"]
pub mod words;

pub mod holds;
