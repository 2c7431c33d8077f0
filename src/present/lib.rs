//! What a question offers, decided once for every frontend: its choices in order, what each of them
//! does, and the care that an approval takes. [`flow`] turns answers into a verdict; a frontend shows
//! the choices and reads keys or lines.

pub mod changes;
pub mod choices;
pub mod commands;
pub mod flow;
mod offer;
pub mod outcome;
pub mod page;
pub mod question_lines;
pub mod subagents;

pub use choices::{ChoicePick, QuestionKind, Severity, YES};
pub use offer::{PickEffect, QuestionOffer};

#[cfg(test)]
mod tests;
