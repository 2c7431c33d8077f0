//! The offline guide: answers when no model is connected.
//!
//! It is not a language model and says so. It knows a dozen requests, proposes steps for them and
//! reports their results, through the same protocol as a model, so that the first run shows the
//! real loop, the real tiers and the real questions. It sees only the messages of the request and
//! is deterministic.
//!
//! `progress` reads the messages, `intent` recognises the request, `plan` chooses the next step or
//! the answer, `report` words the results.

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Value, json};

use super::scripted::split_text;
use super::{Chunk, Model, ModelError, Request};
use avocet_core::i18n::Lang;
use avocet_core::protocol::Message;

mod intent;
mod plan;
mod progress;
mod report;

use self::plan::Next;

/// Characters in a chunk: small enough to show that answers are streamed.
const CHUNK: usize = 24;

/// The built-in guide, answering in one language; it understands both.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    lang: Lang,
}

impl Guide {
    pub fn new(lang: Lang) -> Guide {
        Guide { lang }
    }
}

impl Model for Guide {
    fn name(&self) -> &'static str {
        "guide"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let text = answer(&request.messages, self.lang).to_string();
        let chunks = split_text(&text, CHUNK).into_iter().map(|piece| Ok(Chunk::Text(piece)));
        stream::iter(chunks.chain([Ok(Chunk::Finished(None))])).boxed()
    }
}

/// The reply to these messages, in the wire format.
fn answer(messages: &[Message], lang: Lang) -> Value {
    let talk = progress::parse_conversation(messages);
    match plan::next(&intent::parse_intent(&talk.request), &talk.findings, lang) {
        Next::Say(say) => json!({
            "type": "chat",
            "message": say.text,
            "data": { "format": "markdown", "suggestions": say.suggestions },
        }),
        Next::Do(steps) => {
            let commands: Vec<Value> = steps.commands.iter().map(|words| command(words)).collect();
            json!({
                "type": "cmd",
                "message": steps.why,
                "data": {
                    "cwd": null,
                    "commands": commands,
                    "expected_effect": steps.expected,
                },
            })
        }
    }
}

/// The guide never asks for approval itself: the policy knows better what a step needs.
fn command(words: &[String]) -> Value {
    let (program, args) = words.split_first().map_or(("", [].as_slice()), |(p, a)| (p, a));
    let requires = json!({ "confirm": false, "elevated": false, "network": false, "write": false });
    json!({ "program": program, "args": args, "requires": requires })
}

#[cfg(test)]
mod tests;
