//! stub

pub mod policy;
