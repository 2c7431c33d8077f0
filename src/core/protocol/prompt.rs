//! The user's input before its files and shell pieces are processed: parts with their origin. A
//! part that is text stays text and is never parsed again.

use serde::{Deserialize, Serialize};

use super::Image;
use crate::i18n::{LocalizedText, common, plural, prompt as phrases};

/// A user message being prepared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// As the user typed it; shown, and stored in the queue.
    pub shown: String,
    pub parts: Vec<PromptPart>,
    /// The template of the parts; `None`: the user typed them.
    pub source: Option<PromptSource>,
    /// The standard input of the shell pieces.
    pub input: Option<Vec<u8>>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPart {
    /// Goes to the model unchanged.
    Text(String),
    /// A mentioned file: `text` stays in place, the file's contents follow the message.
    Mention { text: String, mention: Mention },
    /// `@{path}`: replaced by the file's contents.
    Insert(Mention),
    /// A file as it is, for the user; no model gets it. `masked`: without its secrets.
    File { mention: Mention, masked: bool },
    /// Replaced by this line's standard output.
    Shell(String),
    /// An image that the user pasted, which the text names.
    Image(PastedImage),
    /// Replaced by what a prompt of an MCP server gives.
    ServerPrompt(ServerPromptCall),
    /// A program and its arguments: it runs, and no model is asked.
    Program(Vec<String>),
}

/// A prompt of an MCP server, by its name without the slash, and its arguments as typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPromptCall {
    pub name: String,
    pub args: String,
}

/// An argument of an MCP server's prompt, as far as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedArgument {
    /// The prompt, `server:prompt`.
    pub prompt: String,
    pub argument: String,
    pub typed: String,
}

impl TypedArgument {
    pub fn is_for(&self, prompt: &str, argument: &str) -> bool {
        self.prompt == prompt && self.argument == argument
    }
}

/// The values that its server names for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentValues {
    pub of: TypedArgument,
    pub values: Vec<String>,
}

impl ServerPromptCall {
    /// Whether a name may be that of a prompt: `server:prompt`, or `mcp__server__prompt`.
    pub fn is_name(name: &str) -> bool {
        name.contains(':') || name.starts_with("mcp__")
    }
}

/// An image out of the clipboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastedImage {
    /// As it is named in the text: `[image 1]`.
    pub name: String,
    pub size: AttachmentSize,
    pub image: Image,
}

/// A file, a part of one, or a folder, as it was mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// As written; a `/` at the end means a folder.
    pub path: String,
    /// The requested lines, counted from 1; `None`: all.
    pub lines: Option<LineRange>,
}

/// Lines of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRange {
    pub first: usize,
    /// `None`: to the end.
    pub last: Option<usize>,
}

/// The template a prompt was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSource {
    pub kind: PromptTemplateKind,
    pub name: String,
    /// `allowed-tools` of the file; empty if it has none.
    #[serde(default)]
    pub tools: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptTemplateKind {
    Command,
    Skill,
}

/// An attachment of a message, as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentInfo {
    /// The mention as written, with its `@`.
    pub name: String,
    pub size: AttachmentSize,
    /// True when its middle was omitted.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentSize {
    Lines(usize),
    /// Names in a folder.
    Entries(usize),
    /// Of a PDF document.
    Document {
        bytes: u64,
    },
    /// Of an image, as it is sent.
    Pixels {
        width: u32,
        height: u32,
    },
}

impl AttachmentInfo {
    pub fn is_image(&self) -> bool {
        matches!(self.size, AttachmentSize::Pixels { .. })
    }

    pub fn is_document(&self) -> bool {
        matches!(self.size, AttachmentSize::Document { .. })
    }

    /// Its size, in words.
    pub fn size_text(&self) -> LocalizedText {
        let size = match self.size {
            AttachmentSize::Lines(n) => plural(n, common::ONE_LINE, common::LINES),
            AttachmentSize::Entries(n) => plural(n, phrases::SIZE_ENTRY, phrases::SIZE_ENTRIES),
            AttachmentSize::Document { bytes } => {
                phrases::SIZE_DOCUMENT.with("size", crate::text::size(bytes))
            }
            AttachmentSize::Pixels { width, height } => phrases::SIZE_IMAGE
                .with("width", usize::try_from(width).unwrap_or(0))
                .with("height", usize::try_from(height).unwrap_or(0)),
        };
        if self.cut { phrases::SIZE_CUT.with("size", size) } else { size }
    }
}

impl Mention {
    /// The mention as written: `@src/lib.rs:10-40`, `@"a b.rs"`.
    pub fn as_typed(&self) -> String {
        let blank = self.path.contains(char::is_whitespace);
        let path = if blank { format!("\"{}\"", self.path) } else { self.path.clone() };
        match self.lines {
            None => format!("@{path}"),
            Some(LineRange { first, last: Some(last) }) if first == last => {
                format!("@{path}:{first}")
            }
            Some(LineRange { first, last: Some(last) }) => format!("@{path}:{first}-{last}"),
            Some(LineRange { first, last: None }) => format!("@{path}:{first}-"),
        }
    }
}

impl Prompt {
    /// A prompt of an MCP server: the server gives it when the turn begins.
    pub fn of_server(name: &str, args: &str) -> Prompt {
        let call = ServerPromptCall { name: name.to_owned(), args: args.to_owned() };
        Prompt {
            shown: format!("/{name} {args}").trim_end().to_owned(),
            parts: vec![PromptPart::ServerPrompt(call)],
            ..Prompt::default()
        }
    }

    pub fn is_of_server(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, PromptPart::ServerPrompt(_)))
    }

    /// Its shell lines, in order.
    pub fn shell_lines(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PromptPart::Shell(line) => Some(line.as_str()),
            PromptPart::Text(_)
            | PromptPart::Mention { .. }
            | PromptPart::Insert(_)
            | PromptPart::File { .. }
            | PromptPart::Image(_)
            | PromptPart::ServerPrompt(_)
            | PromptPart::Program(_) => None,
        })
    }

    /// Adds files the user mentioned next to it.
    pub fn attach(&mut self, mentions: impl IntoIterator<Item = Mention>) {
        let silent = |mention| PromptPart::Mention { text: String::new(), mention };
        self.parts.extend(mentions.into_iter().map(silent));
    }
}
