//! Settings and the small files next to them: their paths, their contents, the layers of values,
//! and edits that keep comments.
//!
//! The environment of the process is read here and nowhere else. Not here: the effect of a setting.
//! `app` passes each part the values it needs.

pub mod approvals;
pub mod draft;
pub mod edit;
pub mod environment;
pub mod history;
pub mod keys;
pub mod load;
pub mod log;
pub mod suggest;
pub mod project_instructions;
pub mod paths;
pub mod diagnostic;
mod rule_tests;
pub mod atomic_file;
pub mod settings;
pub mod toml_schema;
pub mod themes;
pub mod toolchain;
pub mod trust;

pub use environment::Environment;
pub use load::{SettingsLayer, Loaded, Sources, load};
pub use paths::Paths;
pub use diagnostic::{ConfigError, ConfigDiagnostic};
pub use settings::{Connection, ProviderSetting, Secret, Settings};
