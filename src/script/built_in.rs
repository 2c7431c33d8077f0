//! The scripts built into the program.

use super::source::BuiltIn;

macro_rules! scripts {
    ($($id:literal)*) => {
        &[$(($id, include_str!(concat!("../../assets/scripts/", $id, ".ai.yaml")))),*]
    };
}

/// The script that hands its input to the agent.
pub const DO_TASK: &str = "do-task";

/// The ID and text of each script.
pub const SCRIPTS: &[BuiltIn] = scripts! {
    "char" "do-task" "file" "input" "json" "segment" "summary" "titleify" "translator" "url"
};
