//! Parses text that the user typed or that a template contains, before any model sees it. Pure text
//! to plain data; files and processes are handled later, elsewhere.

pub mod args;
pub mod input;
pub mod mention;
pub mod template;
