//! What the tests of all targets share, as `crate::support`. What only one target needs, such as the
//! chat services, stands in the folder of that target, where the compiler says when it is unused.

#![allow(dead_code, unused_imports, unused_macros, reason = "each target uses a part of it")]

pub mod bench;
pub mod picture;
pub mod pty;
pub mod readme;
pub mod script_cases;
pub mod server;
pub mod skip;
pub mod talk;
pub mod wait;

/// A folder that is removed after the test. The usual name, `.tmp…`, ends in `rc` by chance: then
/// it is that of a startup file, and what is in it is judged as one.
pub fn temp_dir() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("avocet").tempdir().unwrap()
}

/// The name by which a test of `module` (its [`module_path!`]) is started with `--exact`.
pub fn test_name(module: &str, test: &str) -> String {
    let (_, inside) = module.split_once("::").unwrap();
    format!("{inside}::{test}")
}
