//! The full-screen terminal interface.
//!
//! Rules:
//! - [`update::update`] is pure: an [`event::TimedInput`] comes in, [`event::ScreenEffect`]s go
//!   out. Only [`run::run`] waits, and only for the next event: never for the model, a
//!   child process or a file.
//! - Each area has its own file with its state, its keys and its drawing; `state`,
//!   `update` and `view` only route.
//! - A dialog is visible while it is on the stack of `modal`.
//! - Keys are in one table, `keys`; help is drawn from it.
//! - Colours are named by meaning, [`theme`]; colour is never the only cue.
//! - Foreign text passes through [`text`] before it reaches a cell; widths come from there
//!   too.

pub mod event;
pub mod files;
pub mod run;
mod settings_editor;
pub mod state;
pub mod update;
pub mod view;

mod activity;
mod agents;
mod autosave;
mod backend;
mod bird;
mod clipboard;
mod composer;
mod connect;
mod connecting;
pub mod draw;
mod exit;
mod exit_card;
mod focus;
mod folders;
mod frame_limiter;
mod fuzzy_list;
mod guard;
mod hangup;
mod highlight_worker;
mod input;
mod jobs;
mod keyboard;
pub mod keymap;
mod keys;
mod line_probe;
mod modal;
pub mod notify;
pub mod palette;
mod pickers;
mod picture;
mod queue;
mod screen_settings;
mod side_panel;
mod status;
mod submit;
mod suggestions;
mod symbols;
pub mod terminal;
pub mod terminal_caps;
#[cfg(test)]
mod tests;
pub mod text;
pub mod theme;
mod time;
mod title;
pub mod transcript;
mod vim;
mod welcome;

pub use autosave::SaveSettingFn;
pub use clipboard::{Clipboard, CopyResult};
pub use connect::{
    ConnectRequest, ConnectResult, ListError, ListedModels, ProviderOffer, ProviderSetup,
    SavedProvider, SetupHandle,
};
pub use event::{ScreenEffect, ScreenInput, TimedInput};
pub use exit::{Cause, ScreenExit};
pub use guard::QUIET;
pub use keys::manual_rows as key_rows;
pub use picture::PictureSupport;
pub use run::{draw_frame, run};
pub use state::{Preferences, SavePaths, ScreenConfig, ScreenFiles, State};
pub use symbols::LineStyle;
pub use terminal_caps::TerminalCaps;
pub use time::Millis;
pub use update::update;
