//! A script with canned replies, as the tests of the language run it.

use std::fs;
use std::path::PathBuf;

use avocet::script::host::InputAnswer;
use avocet::script::{LocatedError, RunResult};
use serde_json::Value;

use crate::script_replay::{HostLog, play_in, sent};

/// A script with its files, arguments and canned replies.
pub struct Case {
    pub folder: tempfile::TempDir,
    args: Value,
    replies: Vec<Value>,
    trusted: bool,
    says: bool,
    answers: Vec<InputAnswer>,
}

pub struct Ran {
    pub came: Result<RunResult, LocatedError>,
    pub seen: HostLog,
}

pub fn case(script: &str) -> Case {
    let case = Case {
        folder: crate::support::temp_dir(),
        args: Value::Null,
        replies: Vec::new(),
        trusted: true,
        says: false,
        answers: Vec::new(),
    };
    case.file("script.ai.yaml", script)
}

impl Case {
    pub fn file(self, name: &str, text: &str) -> Case {
        let path: PathBuf = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn args(mut self, args: Value) -> Case {
        self.args = args;
        self
    }

    pub fn replies(mut self, replies: &[&str]) -> Case {
        self.replies = replies.iter().map(|reply| Value::from(*reply)).collect();
        self
    }

    pub fn untrusted(mut self) -> Case {
        self.trusted = false;
        self
    }

    pub fn approve_all(mut self) -> Case {
        self.says = true;
        self
    }

    /// What the user answers to questions for inputs.
    pub fn answers(mut self, answers: &[InputAnswer]) -> Case {
        self.answers = answers.to_vec();
        self
    }

    pub fn run(self) -> Ran {
        let folder = self.folder.path();
        let (came, seen) = play_in(
            folder,
            "script.ai.yaml",
            self.args,
            &self.replies,
            (self.trusted, self.says),
            &self.answers,
        );
        Ran { came, seen }
    }
}

impl Ran {
    pub fn value(&self) -> Value {
        match &self.came {
            Ok(done) => done.value.clone(),
            Err(failure) => panic!("{failure}"),
        }
    }

    pub fn error(&self) -> String {
        match &self.came {
            Ok(done) => panic!("no error, but {}", done.value),
            Err(failure) => failure.to_string(),
        }
    }

    pub fn calls(&self) -> usize {
        self.came.as_ref().unwrap_or_else(|failure| panic!("{failure}"));
        self.seen.calls.len()
    }

    /// The messages of a call, as `role: text`.
    pub fn sent(&self, at: usize) -> Vec<String> {
        let Some(call) = self.seen.calls.get(at) else {
            panic!("no call {at}: {:?}", self.came.as_ref().err().map(ToString::to_string));
        };
        sent(&call.messages).into_iter().map(|(role, text)| format!("{role}: {text}")).collect()
    }

    pub fn system(&self, at: usize) -> String {
        self.sent(at)
            .into_iter()
            .find_map(|it| it.strip_prefix("system: ").map(str::to_owned))
            .unwrap_or_default()
    }

    pub fn visible(&self) -> Vec<String> {
        let done = self.came.as_ref().unwrap_or_else(|failure| panic!("{failure}"));
        done.visible.iter().map(|(role, text)| format!("{role}: {text}")).collect()
    }
}
