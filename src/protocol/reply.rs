//! The model's reply (001 §4–6): types here, reading in the functions below.
//!
//! Nothing in here runs or judges anything.

use serde::{Deserialize, Serialize};

use super::Work;
use super::step::Requires;
use crate::words::Say;

/// A valid reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Reply {
    Chat { message: String, markdown: bool, suggestions: Vec<String> },
    Cmd { message: String, cwd: Option<String>, commands: Vec<Proposal>, expected: String },
    Error { message: String },
}

/// One element of `data.commands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub work: Work,
    pub requires: Requires,
}

/// How the object was found in the model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Whole,
    Fenced,
    /// Between the first `{` and its matching `}`.
    Braces,
    /// After repairing broken JSON: its commands must be asked about.
    Repaired,
}

/// A reply that was understood, or what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    Valid {
        reply: Reply,
        found: Found,
    },
    /// An object, but not a reply: `fault` names the field and what is wrong.
    Invalid {
        fault: Say,
        text: String,
    },
    /// No object at all: 001 §2's fallback, the text as it came.
    Fallback {
        text: String,
    },
}
