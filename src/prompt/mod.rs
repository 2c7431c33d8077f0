//! What the user typed or a template says, and what it means, before any model sees it.
//! Pure text to plain data; files and processes are looked at later, by others.

pub mod args;
pub mod line;
pub mod mention;
pub mod template;
