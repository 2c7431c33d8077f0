//! The hooks that may run.

use std::path::Path;

use avocet_core::protocol::Step;

use super::call::HookCall;
use super::definition::{Hook, HookFile};
use super::event::HookEvent;
use super::files::HookFolders;

/// The files whose hooks run, and where what they name is looked for.
#[derive(Clone, Debug, Default)]
pub struct ActiveHooks {
    pub files: Vec<HookFile>,
    pub folders: HookFolders,
}

impl PartialEq for ActiveHooks {
    fn eq(&self, hooks: &ActiveHooks) -> bool {
        self.files == hooks.files
    }
}

impl ActiveHooks {
    /// Whether a hook follows this event about a step.
    pub fn follows_step(&self, event: HookEvent, step: &Step) -> bool {
        !self.files.is_empty() && self.follows(&HookCall::of_step(event, step, Path::new("")))
    }

    pub fn follows(&self, call: &HookCall) -> bool {
        self.all().any(|hook| call.is_for(hook))
    }

    /// The hooks that an event starts, each once. Those of a file that has changed since the user
    /// was asked about it are left out.
    pub fn started_by(&self, call: &HookCall) -> Vec<Hook> {
        let files = self.files.iter().filter(|file| {
            file.hooks.iter().any(|hook| call.is_for(hook)) && file.is_unchanged(&self.folders)
        });
        let mut hooks: Vec<Hook> = Vec::new();
        for hook in files.flat_map(|file| &file.hooks).filter(|hook| call.is_for(hook)) {
            if hooks.iter().all(|known| known.command != hook.command) {
                hooks.push(hook.clone());
            }
        }
        hooks
    }

    fn all(&self) -> impl Iterator<Item = &Hook> {
        self.files.iter().flat_map(|file| &file.hooks)
    }
}
