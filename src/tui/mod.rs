//! stub

pub mod clean;
pub mod theme;
pub mod transcript;
