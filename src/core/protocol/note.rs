//! Where a note of the user is kept.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotePlace {
    /// The instructions of the folder, which others share.
    Project,
    /// Those of the folder that others do not share.
    Local,
    /// The user's own, everywhere.
    User,
}

impl NotePlace {
    pub const ALL: [NotePlace; 3] = [NotePlace::Project, NotePlace::Local, NotePlace::User];

    pub fn name(self) -> &'static str {
        match self {
            NotePlace::Project => "project",
            NotePlace::Local => "local",
            NotePlace::User => "user",
        }
    }

    pub fn parse(name: &str) -> Option<NotePlace> {
        NotePlace::ALL.into_iter().find(|place| place.name() == name)
    }
}
