//! The ISDK script language: `.ai.yaml` files that talk to models, call each other and
//! compute.
//!
//! The parts below read and compute; none of them reaches a file, the network or a
//! model. What a script wants of the world it says as plain data, and whoever runs it
//! answers.

mod fault;
pub mod js;
pub mod output;
pub mod permission;
pub mod template;
pub mod text;
pub mod tool_text;
pub mod wasm;

pub use fault::{Fault, quoted};
