//! The messages sent to a model: roles, blocks, sampling parameters.
//!
//! A message is a role and a list of blocks. What a provider wants back unchanged (a signature, an
//! encrypted thought, the id of an item) hangs on the block it came with, as [`Opaque`] data that
//! only the same provider and model ever receive.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the id of a call begins that the model wrote into its text.
pub const TEXT_CALL: &str = "text_";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// How a model proposes steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// By the tool calls of its wire format.
    Tools,
    /// By one JSON object in its text (001).
    #[default]
    Json,
}

impl Dialect {
    /// `None` for `auto`.
    pub fn from_name(name: &str) -> Option<Dialect> {
        match name {
            "tools" => Some(Dialect::Tools),
            "json" => Some(Dialect::Json),
            _ => None,
        }
    }
}

/// The length of the system prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptSize {
    #[default]
    Full,
    /// A few lines with examples: small models lose their way in more.
    Short,
}

impl PromptSize {
    /// `None` for `auto`.
    pub fn from_name(name: &str) -> Option<PromptSize> {
        match name {
            "full" => Some(PromptSize::Full),
            "short" => Some(PromptSize::Short),
            _ => None,
        }
    }
}

/// What one side says at once. Results of calls are blocks of the user's side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub blocks: Vec<ContentBlock>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text(TextBlock),
    Reasoning(TextBlock),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    Image(Image),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextBlock {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Box<Opaque>>,
}

/// A call of a tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id; ours where it gives none. Results refer to it.
    pub id: String,
    pub name: String,
    /// The arguments as JSON text, which may be broken.
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Box<Opaque>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// The tool's name: some providers match by it.
    pub name: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// An image or a PDF document, as base64 text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub mime: String,
    pub data: String,
}

impl Image {
    /// What an image counts as in bytes of text, by the tokens that providers count for one of the
    /// size that is sent, at most.
    pub const WEIGHT: usize = 6_400;
    pub const PDF: &str = "application/pdf";
    /// What a document's pages count as, by the size of the file: they are read as text and seen.
    const OF_DOCUMENT: usize = 16;

    pub fn is_document(&self) -> bool {
        self.mime == Image::PDF
    }

    /// What it counts as in bytes of text.
    fn weight(&self) -> usize {
        if self.is_document() {
            Image::WEIGHT.max(self.data.len() / Image::OF_DOCUMENT)
        } else {
            Image::WEIGHT
        }
    }

    /// The address that contains it whole.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.data)
    }
}

/// A tool as it is described to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments, always an object.
    pub parameters: Value,
}

/// Data of a provider that goes back to that provider unchanged, and to no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// The wire format it belongs to, as the setting `provider` names it.
    pub wire: String,
    pub model: String,
    pub data: Value,
}

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message { role, blocks: vec![ContentBlock::text(content)] }
    }

    pub fn system(content: impl Into<String>) -> Message {
        Message::new(Role::System, content)
    }

    pub fn user(content: impl Into<String>) -> Message {
        Message::new(Role::User, content)
    }

    pub fn assistant(content: impl Into<String>) -> Message {
        Message::new(Role::Assistant, content)
    }

    /// The text of its text blocks, joined by empty lines.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let rest =
                    texts.fold(format!("{first}\n\n{second}"), |all, text| all + "\n\n" + text);
                Cow::Owned(rest)
            }
        }
    }

    /// Appends text after this separator, or as a new block if the last one is not text.
    pub fn push_text(&mut self, separator: &str, more: &str) {
        match self.blocks.last_mut() {
            Some(ContentBlock::Text(last)) => {
                last.text.push_str(separator);
                last.text.push_str(more);
            }
            _ => self.blocks.push(ContentBlock::text(more)),
        }
    }

    /// Appends another message of the same role; two texts that meet are joined by an empty line.
    pub fn merge(&mut self, message: Message) {
        let mut blocks = message.blocks.into_iter();
        match blocks.next() {
            Some(ContentBlock::Text(text)) => self.push_text("\n\n", &text.text),
            first => self.blocks.extend(first),
        }
        self.blocks.extend(blocks);
    }

    /// Everything in it that is written by a user, a model or a tool and may be masked or cut.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.blocks.iter_mut().filter_map(ContentBlock::text_mut)
    }

    /// The texts that may be cut: not those that must stay whole to be understood.
    pub fn cuttable_texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.blocks.iter_mut().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(&mut text.text),
            ContentBlock::ToolResult(result) => Some(&mut result.content),
            ContentBlock::Reasoning(_) | ContentBlock::ToolCall(_) | ContentBlock::Image(_) => None,
        })
    }

    /// Turns calls and results into text, for a model that knows neither. Reasoning is left out.
    pub fn flatten(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            match block {
                ContentBlock::Text(text) => self.push_text("\n", &text.text),
                ContentBlock::ToolCall(call) => {
                    let text = format!("(called {} {})", call.name, call.arguments);
                    self.push_text("\n", &text);
                }
                ContentBlock::ToolResult(result) => {
                    let text = format!("(result of {})\n{}", result.name, result.content);
                    self.push_text("\n", &text);
                }
                ContentBlock::Reasoning(_) => {}
                image @ ContentBlock::Image(_) => self.blocks.push(image),
            }
        }
    }

    /// Puts the calls that the model wrote into its text there again, and their results into the
    /// user's. A small model goes on from its own form, and repeats a call that it sees in another.
    pub fn restore_text_calls(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            match block {
                ContentBlock::ToolCall(call) if call.id.starts_with(TEXT_CALL) => {
                    let ToolCall { name, arguments, .. } = call;
                    let name = Value::from(name);
                    let text =
                        format!("```json\n{{\"name\": {name}, \"arguments\": {arguments}}}\n```");
                    self.push_text("\n", &text);
                }
                ContentBlock::ToolResult(result) if result.call.starts_with(TEXT_CALL) => {
                    let ToolResult { name, content, .. } = result;
                    let text = format!(
                        "Result of {name}:\n{content}\n\nUse it to answer me, or make the next call."
                    );
                    self.push_text("\n", &text);
                }
                block => self.blocks.push(block),
            }
        }
    }

    /// Its images.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Image(image) => Some(image),
            _ => None,
        })
    }

    /// Puts this text in the place of each image.
    pub fn replace_images(&mut self, text: &str) {
        self.replace_images_that(text, |_| true);
    }

    /// The same for some of them.
    pub fn replace_images_that(&mut self, text: &str, which: impl Fn(&Image) -> bool) {
        for block in &mut self.blocks {
            if matches!(block, ContentBlock::Image(image) if which(image)) {
                *block = ContentBlock::text(text);
            }
        }
    }

    pub fn has_results(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, ContentBlock::ToolResult(_)))
    }

    /// Its size in bytes, without the overhead of the wire.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(ContentBlock::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> ContentBlock {
        ContentBlock::Text(TextBlock { text: text.into(), opaque: None })
    }

    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            ContentBlock::Text(text) | ContentBlock::Reasoning(text) => Some(&mut text.text),
            ContentBlock::ToolCall(call) => Some(&mut call.arguments),
            ContentBlock::ToolResult(result) => Some(&mut result.content),
            ContentBlock::Image(_) => None,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            ContentBlock::Text(text) | ContentBlock::Reasoning(text) => text.text.len(),
            ContentBlock::ToolCall(call) => call.name.len() + call.arguments.len(),
            ContentBlock::ToolResult(result) => result.content.len(),
            ContentBlock::Image(image) => image.weight(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
/// Sampling parameters; `None` is not sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// No limit is wanted, not even the usual one.
    #[serde(skip)]
    pub is_unlimited: bool,
    /// The answer is asked for in one piece, for a server that does not stream.
    #[serde(skip)]
    pub is_whole: bool,
    /// Only a server of this machine or its network may get the messages.
    #[serde(skip)]
    pub is_private: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// The answer ends before the first of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Parameters that only some servers know, by their names on the wire.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}
