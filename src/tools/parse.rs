//! x
use crate::protocol::Parsed;
pub struct Run<'a> {
    pub program: &'a str,
    pub args: &'a [String],
    pub stdout: &'a str,
    pub stderr: &'a str,
    pub exit: Option<i32>,
    pub whole: bool,
}
pub fn parse(_: &Run<'_>) -> Option<Parsed> {
    None
}
pub fn words(_: &str) -> Option<(String, Vec<String>)> {
    None
}
