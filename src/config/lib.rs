//! Settings and the small files next to them: their paths, their contents, the layers of values,
//! and edits that keep comments.
//!
//! The environment of the process is read here and nowhere else. Not here: the effect of a setting.
//! `app` passes each part the values it needs.

pub mod approvals;
pub mod atomic_file;
mod aws;
mod connection;
pub mod diagnostic;
pub mod draft;
pub mod edit;
pub mod environment;
pub mod extensions;
pub mod files_beside;
pub mod foreign_file;
pub mod gateway;
mod google;
pub mod history;
pub mod key_store;
pub mod keys;
mod layers;
pub mod load;
pub mod log;
pub mod object_value;
pub mod paths;
pub mod project_check;
pub mod project_instructions;
pub mod project_kind;
mod rule_samples;
pub mod setting_timing;
pub mod settings;
pub mod suggest;
pub mod themes;
pub mod toml_schema;
pub mod toolchain;
pub mod trust;
mod web;

pub use avocet_core::secret::Secret;
pub use aws::{AWS_COMMAND, bedrock_url};
pub use connection::{Connection, FallbackTarget, ProviderSetting};
pub use diagnostic::{ConfigDiagnostic, ConfigError};
pub use environment::Environment;
pub use layers::SettingsLayer;
pub use load::{Loaded, Sources, load};
pub use paths::Paths;
pub use settings::{BusyInput, Settings, ShowThinking};
