//! What a person asks for, before files and shell pieces of it are looked at: parts with
//! their origin. A part that is text stays text; nothing reads it again.

use serde::{Deserialize, Serialize};

use crate::words::{Say, counted, prompt as words};

/// One user message in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// As the person typed it; it is shown, and kept in the queue.
    pub shown: String,
    pub parts: Vec<Part>,
    /// Where the parts come from; `None`: the person typed them.
    pub source: Option<Source>,
    /// What the shell pieces read on their standard input.
    pub input: Option<Vec<u8>>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It goes to the model as it is.
    Text(String),
    /// A file somebody named: `text` stays where it was, what the file holds goes
    /// behind the message.
    Mention { text: String, mention: Mention },
    /// `@{path}`: what the file holds stands here.
    Insert(Mention),
    /// What this line writes to its standard output stands here.
    Shell(String),
}

/// A file, a part of one, or a folder, as it was named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// As written; a `/` at the end means a folder.
    pub path: String,
    /// The lines that are wanted, counted from 1; `None`: all.
    pub lines: Option<Lines>,
}

/// Lines of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    pub first: usize,
    /// `None`: to the end.
    pub last: Option<usize>,
}

/// The template a prompt was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub kind: SourceKind,
    pub name: String,
    /// `allowed-tools` of the file; empty: it says nothing.
    #[serde(default)]
    pub tools: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    Command,
    Skill,
}

/// Something that was put to a message, as a person is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// As it was named, with its `@`.
    pub name: String,
    pub size: Size,
    /// True when its middle was left out.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    Lines(usize),
    /// Names in a folder.
    Entries(usize),
}

impl Attached {
    /// How much it is, in words.
    pub fn said(&self) -> Say {
        let size = match self.size {
            Size::Lines(n) => counted(n, words::SIZE_LINE, words::SIZE_LINES),
            Size::Entries(n) => counted(n, words::SIZE_ENTRY, words::SIZE_ENTRIES),
        };
        if self.cut { words::SIZE_CUT.with("size", size) } else { size }
    }
}

impl Mention {
    /// As it is written: `@src/lib.rs:10-40`, `@"a b.rs"`.
    pub fn written(&self) -> String {
        let blank = self.path.contains(char::is_whitespace);
        let path = if blank { format!("\"{}\"", self.path) } else { self.path.clone() };
        match self.lines {
            None => format!("@{path}"),
            Some(Lines { first, last: Some(last) }) if first == last => format!("@{path}:{first}"),
            Some(Lines { first, last: Some(last) }) => format!("@{path}:{first}-{last}"),
            Some(Lines { first, last: None }) => format!("@{path}:{first}-"),
        }
    }
}

impl Prompt {
    /// The shell lines of it, in order.
    pub fn shell(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Shell(line) => Some(line.as_str()),
            Part::Text(_) | Part::Mention { .. } | Part::Insert(_) => None,
        })
    }

    /// Adds files the person named beside it.
    pub fn attach(&mut self, mentions: impl IntoIterator<Item = Mention>) {
        let silent = |mention| Part::Mention { text: String::new(), mention };
        self.parts.extend(mentions.into_iter().map(silent));
    }
}
