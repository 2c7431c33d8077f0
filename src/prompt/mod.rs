//! What the user typed, and what it means, before any model sees it. Pure text to
//! plain data; files and processes are looked at later, by others.

pub mod line;
