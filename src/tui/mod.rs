//! stub

pub mod clean;
pub mod theme;
