//! Steps that run on in the background of a session.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobInfo {
    /// Counted from 1 through a session.
    pub id: u64,
    /// The step's own id.
    pub step: String,
    /// The command, on one line.
    pub line: String,
    pub state: JobState,
    /// When it began: milliseconds since 1970.
    pub began: i64,
    /// The ports it listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// It outlives the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Running,
    /// It ended by itself; without a code, a signal ended it.
    Ended {
        exit: Option<i32>,
    },
    /// The user or the model stopped it.
    Stopped,
    /// It ended while no session looked after it: how is not known.
    Gone,
}

impl JobInfo {
    pub fn is_running(&self) -> bool {
        self.state == JobState::Running
    }
}

/// What the user asks of the jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRequest {
    /// The running step goes on in the background.
    Background,
    List,
    Show {
        id: u64,
        /// Counted from 1; `None`: the last.
        page: Option<usize>,
    },
    Stop {
        id: u64,
    },
    /// The job outlives the session.
    Keep {
        id: u64,
    },
    /// The output of a step, by its number.
    Output {
        step: u64,
        page: Option<usize>,
    },
}
