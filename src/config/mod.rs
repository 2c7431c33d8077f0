//! Settings and the small files beside them: where they lie, what they say, which
//! layer won, and how they are changed without losing a comment.
//!
//! The environment of the process is read here and nowhere else. Not in here: what a
//! setting does. `app` hands each part the values it needs.

pub mod approvals;
pub mod draft;
pub mod edit;
pub mod environment;
pub mod history;
pub mod keys;
pub mod load;
pub mod log;
pub mod near;
pub mod notes;
pub mod paths;
pub mod problem;
mod rules;
pub mod saved;
pub mod settings;
pub mod strict;
pub mod themes;
pub mod toolchain;
pub mod trust;

pub use environment::Environment;
pub use load::{Layer, Loaded, Sources, load};
pub use paths::Paths;
pub use problem::{Fault, Problem};
pub use settings::{Connection, ProviderSetting, Secret, Settings};
