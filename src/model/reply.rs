//! Collects the chunks of one call into the reply.

use super::Chunk;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{ContentBlock, Opaque, TextBlock, ToolCall, Truncation, Usage};

/// What a model answered, or as much of it as arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// Text, reasoning and calls, in the order they came.
    pub blocks: Vec<ContentBlock>,
    pub usage: Usage,
    pub cut: Option<Truncation>,
    /// The error that broke it off.
    pub broken_by: Option<LocalizedText>,
    /// Events that could not be read and were skipped.
    pub gaps: usize,
}

impl ModelReply {
    /// A whole reply of this text.
    pub fn from_text(text: impl Into<String>) -> ModelReply {
        ModelReply { blocks: vec![ContentBlock::text(text)], ..ModelReply::default() }
    }

    /// The answer without its reasoning.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The reasoning without the answer.
    pub fn reasoning(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Reasoning(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Whether nothing of an answer has arrived.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| matches!(block, ContentBlock::Reasoning(_)))
    }

    /// Adds what a stream brought. [`Chunk::Retrying`] and [`Chunk::Notice`] are not part of
    /// a reply.
    pub fn push(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Text(more) => match self.blocks.last_mut() {
                Some(ContentBlock::Text(text)) if text.opaque.is_none() => {
                    text.text.push_str(&more)
                }
                _ => self.blocks.push(ContentBlock::text(more)),
            },
            Chunk::Thought(more) => match self.blocks.last_mut() {
                Some(ContentBlock::Reasoning(text)) if text.opaque.is_none() => {
                    text.text.push_str(&more);
                }
                _ => self
                    .blocks
                    .push(ContentBlock::Reasoning(TextBlock { text: more, opaque: None })),
            },
            Chunk::SealedText(opaque) => match self.blocks.last_mut() {
                Some(ContentBlock::Text(text)) if text.opaque.is_none() => seal(text, opaque),
                _ => self.blocks.push(ContentBlock::Text(sealed(opaque))),
            },
            Chunk::SealedThought(opaque) => match self.blocks.last_mut() {
                Some(ContentBlock::Reasoning(text)) if text.opaque.is_none() => seal(text, opaque),
                _ => self.blocks.push(ContentBlock::Reasoning(sealed(opaque))),
            },
            Chunk::Call(call) => self.blocks.push(ContentBlock::ToolCall(call)),
            Chunk::Gap => self.gaps += 1,
            Chunk::Usage(usage) => self.usage = usage,
            Chunk::Finished(cut) => {
                self.cut = cut;
                self.split_thought();
            }
            Chunk::Restart => *self = ModelReply::default(),
            Chunk::Retrying { .. }
            | Chunk::Notice(_)
            | Chunk::Paused
            | Chunk::Source(_)
            | Chunk::CallProgress { .. } => {}
        }
    }
}

impl ModelReply {
    /// A thought that the template of the model begins, so that only its end arrives.
    fn split_thought(&mut self) {
        const END: &str = "</think>";
        let Some(ContentBlock::Text(text)) = self.blocks.first_mut() else { return };
        let Some((thought, answer)) = text.text.split_once(END) else { return };
        let is_quoted = thought.ends_with(['`', '"', '\'']) || thought.contains("<think>");
        if is_quoted || !answer.is_empty() && !answer.starts_with(char::is_whitespace) {
            return;
        }
        let block = TextBlock { text: thought.trim_end().to_owned(), opaque: None };
        text.text = answer.trim_start().to_owned();
        self.blocks.insert(0, ContentBlock::Reasoning(block));
    }
}

fn seal(text: &mut TextBlock, opaque: Opaque) {
    text.opaque = Some(Box::new(opaque));
}

fn sealed(opaque: Opaque) -> TextBlock {
    TextBlock { text: String::new(), opaque: Some(Box::new(opaque)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn opaque(data: &str) -> Opaque {
        Opaque { wire: "anthropic".into(), model: "m".into(), data: json!(data) }
    }

    fn reasoning(text: &str, data: &str) -> ContentBlock {
        let opaque = (!data.is_empty()).then(|| Box::new(opaque(data)));
        ContentBlock::Reasoning(TextBlock { text: text.into(), opaque })
    }

    #[test]
    fn a_thought_of_which_only_the_end_arrives_is_no_part_of_the_answer() {
        for (answer, thought, text) in [
            ("I look.\n</think>\n\nYes.", "I look.", "Yes."),
            ("I look.</think>", "I look.", ""),
            ("Write `</think>` there.", "", "Write `</think>` there."),
            ("a</think>b", "", "a</think>b"),
            ("See <think>x</think> there", "", "See <think>x</think> there"),
        ] {
            let mut reply = ModelReply::default();
            reply.push(Chunk::Text(answer.into()));
            reply.push(Chunk::Finished(None));
            assert_eq!((reply.reasoning().as_str(), reply.text().as_str()), (thought, text));
        }
    }

    #[test]
    fn blocks_keep_the_order_and_the_seals_they_came_with() {
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "exec".into(),
            arguments: "{}".into(),
            opaque: None,
        };
        let chunks = [
            Chunk::Thought("I ".into()),
            Chunk::Thought("look.".into()),
            Chunk::SealedThought(opaque("s1")),
            Chunk::SealedThought(opaque("redacted")),
            Chunk::Thought("More.".into()),
            Chunk::Text("Let me ".into()),
            Chunk::Gap,
            Chunk::Text("see.".into()),
            Chunk::Call(call("a")),
            Chunk::Call(call("b")),
            Chunk::Usage(Usage::counted(3, 4)),
            Chunk::Finished(Some(Truncation::Length)),
        ];
        let mut reply = ModelReply::default();
        chunks.into_iter().for_each(|chunk| reply.push(chunk));
        let expected = [
            reasoning("I look.", "s1"),
            reasoning("", "redacted"),
            reasoning("More.", ""),
            ContentBlock::text("Let me see."),
            ContentBlock::ToolCall(call("a")),
            ContentBlock::ToolCall(call("b")),
        ];
        assert_eq!(reply.blocks, expected);
        assert_eq!((reply.text().as_str(), reply.calls().count()), ("Let me see.", 2));
        assert_eq!(reply.reasoning(), "I look.More.");
        assert_eq!((reply.gaps, reply.cut), (1, Some(Truncation::Length)));
        assert_eq!(reply.usage, Usage::counted(3, 4));
    }
}
