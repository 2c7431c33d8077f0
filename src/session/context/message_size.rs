//! Measures messages: their contents, and what the wire adds to each.

use super::size::ContextSize;
use avocet_core::protocol::{ContentBlock, Image, Message, ToolSchema};

/// Bytes and tokens of messages, including the overhead of each.
pub fn messages_size(messages: &[Message]) -> ContextSize {
    messages.iter().fold(ContextSize::default(), |sum, message| sum + message_size(message))
}

/// The overhead of a message; at least that of [`JOINT`].
pub const ENVELOPE: ContextSize = ContextSize { bytes: 24, tokens: 4 };

/// The separator of two parts of one message.
pub const JOINT: &str = "\n\n";

pub fn content_size(content: &str) -> ContextSize {
    ContextSize::measure(content) + ENVELOPE
}

pub fn message_size(message: &Message) -> ContextSize {
    message.blocks.iter().map(block_size).fold(ENVELOPE, |sum, size| sum + size)
}

/// What the descriptions of tools take beside the messages.
pub fn tools_size(tools: &[ToolSchema]) -> ContextSize {
    tools.iter().fold(ContextSize::default(), |sum, tool| {
        let texts = [&tool.name, &tool.description, &tool.parameters.to_string()];
        texts.into_iter().fold(sum + ENVELOPE, |sum, text| sum + ContextSize::measure(text))
    })
}

fn block_size(block: &ContentBlock) -> ContextSize {
    match block {
        ContentBlock::Text(text) | ContentBlock::Reasoning(text) => {
            ContextSize::measure(&text.text)
        }
        ContentBlock::ToolCall(call) => {
            ContextSize::measure(&call.name) + ContextSize::measure(&call.arguments) + ENVELOPE
        }
        ContentBlock::ToolResult(result) => ContextSize::measure(&result.content) + ENVELOPE,
        ContentBlock::Image(_) => ContextSize { bytes: Image::WEIGHT, tokens: Image::WEIGHT / 4 },
    }
}
