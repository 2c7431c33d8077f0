//! What a reply of the model means.

use super::transcript::{self, TurnMessages};
use avocet_core::i18n::{LocalizedText, Phrase, agent as phrases};
use avocet_core::protocol::reply::{
    ParsedReply, Reply, ReplyRepair, TextCall, TextCalls, breaks_off, call_answer, is_translated,
    read, text_calls, tool_name, wire_name,
};
use avocet_core::protocol::{ContentBlock, Dialect, TEXT_CALL, ToolCall, Truncation};
use avocet_model::ModelReply;
use avocet_safety as safety;

/// How a chat of the JSON protocol begins.
const CHAT: &str = r#"{"type":"chat","message":"#;

/// What the turn does with a reply.
pub(super) enum ReplyMeaning {
    Calls(ModelReply),
    /// A reply of the JSON protocol.
    Parsed(Reply, ReplyRepair),
    /// An answer in plain words, with its blocks where the model is offered tools.
    Words {
        message: String,
        blocks: Option<Vec<ContentBlock>>,
    },
    /// Only its words can be used. `by`: the fault that ended it.
    Truncated {
        message: String,
        cut: Truncation,
        by: Option<LocalizedText>,
    },
    /// Nothing came, or only a thought: it is asked for once more.
    Nothing(Phrase),
    /// `message`: what can be shown of it.
    Unreadable {
        fault: LocalizedText,
        message: Option<String>,
        text: String,
    },
}

/// `next_step`: the number of the next step, for the ids of calls that have none.
pub(super) fn meaning_of(
    reply: ModelReply,
    transcript: &TurnMessages,
    next_step: u64,
) -> ReplyMeaning {
    let reply = with_answer_as_text(reply);
    let has_calls = reply.calls().next().is_some();
    match (reply.cut, transcript.dialect()) {
        (None, _) if has_calls => ReplyMeaning::Calls(reply),
        (_, Dialect::Tools) => meaning_of_words(reply, transcript, next_step),
        (_, Dialect::Json) => meaning_of_json(&reply),
    }
}

/// A reply without calls of a model that is offered tools: its answer, unless it holds calls in a
/// text form, or is a reply of the JSON protocol.
fn meaning_of_words(reply: ModelReply, transcript: &TurnMessages, next_step: u64) -> ReplyMeaning {
    let text = reply.text();
    if let Some(cut) = reply.cut {
        // Calls that may be incomplete are not part of what the model sees again.
        return ReplyMeaning::Truncated { message: text, cut, by: reply.broken_by };
    }
    if let Some(blocks) = calls_in_text(&text, transcript, next_step) {
        return meaning_of(ModelReply { blocks, ..reply }, transcript, next_step);
    }
    if text.trim_start().starts_with(['{', '`', '<']) {
        // Steps with words after them are an example.
        let is_whole = text.trim_end().ends_with(['}', '`', '>']);
        match read(&text) {
            ParsedReply::Valid { reply: parsed @ Reply::Cmd { .. }, found }
                if is_whole && !transcript.has_given(&text) =>
            {
                return ReplyMeaning::Parsed(parsed, found);
            }
            // Strictly: any other object may be what the user asked for.
            ParsedReply::Valid { reply: parsed @ Reply::Chat { .. }, found }
                if found == ReplyRepair::Whole || text.trim_start().starts_with(CHAT) =>
            {
                return ReplyMeaning::Parsed(parsed, found);
            }
            _ => {}
        }
    }
    if text.trim().is_empty() {
        return nothing(&reply);
    }
    if !transcript.is_repairing() && breaks_off(&text) {
        return ReplyMeaning::Nothing(phrases::CALL_BROKE_OFF);
    }
    ReplyMeaning::Words { message: text, blocks: Some(reply.blocks) }
}

/// Calls of tools that the model wrote into its text, as blocks: the history keeps the form of
/// its dialect.
fn calls_in_text(
    text: &str,
    transcript: &TurnMessages,
    next_step: u64,
) -> Option<Vec<ContentBlock>> {
    let TextCalls { words, calls, written } = text_calls(text)?;
    let is_tool = |call: &TextCall| {
        let name = tool_name(&call.name);
        safety::tools::is_known(&name) || is_translated(&name)
    };
    if !calls.iter().all(is_tool) || transcript.has_given(&written) {
        return None;
    }
    let words = Some(words).filter(|words| !words.is_empty()).map(ContentBlock::text);
    let calls = calls.into_iter().enumerate().map(|(index, call)| {
        ContentBlock::ToolCall(ToolCall {
            id: format!("{TEXT_CALL}{}_{index}", next_step),
            name: wire_name(&call.name),
            arguments: call.arguments.to_string(),
            opaque: None,
        })
    });
    Some(words.into_iter().chain(calls).collect())
}

fn nothing(reply: &ModelReply) -> ReplyMeaning {
    let has_thought = !reply.reasoning().trim().is_empty();
    let phrase = if has_thought { phrases::ONLY_THOUGHT } else { phrases::EMPTY_REPLY };
    ReplyMeaning::Nothing(phrase)
}

fn meaning_of_json(reply: &ModelReply) -> ReplyMeaning {
    let mut text = reply.text();
    let mut is_thought = false;
    if text.trim().is_empty() && reply.cut.is_none() {
        // Some servers take a whole answer for reasoning.
        text = reply.reasoning();
        is_thought = true;
        if !matches!(read(&text), ParsedReply::Valid { .. }) {
            return nothing(reply);
        }
    }
    let reading = read(&text);
    let is_whole = matches!(reading, ParsedReply::Valid { found: ReplyRepair::Whole, .. });
    let cut = reply.cut.filter(|cut| match cut {
        // The closing brace is the proof, whatever the server says after it.
        Truncation::Broken | Truncation::Length | Truncation::Repeated => !is_whole,
        Truncation::Cancelled | Truncation::Filtered => true,
    });
    if let Some(cut) = cut {
        let message = transcript::readable_part(&reading, &text).unwrap_or_default();
        return ReplyMeaning::Truncated { message, cut, by: reply.broken_by.clone() };
    }
    match reading {
        ParsedReply::Valid { reply: Reply::Chat { message, .. }, found: ReplyRepair::Repaired }
            if !message.trim().is_empty() && transcript::ends_in_its_message(&text) =>
        {
            // The server says that it is whole, and its words have no end.
            ReplyMeaning::Truncated { message, cut: Truncation::Broken, by: None }
        }
        ParsedReply::Valid { reply: parsed, found } => {
            // A lost event may have changed what is left.
            let is_sure = reply.gaps == 0 && !is_thought && reply.cut.is_none();
            let found = if is_sure { found } else { ReplyRepair::Repaired };
            ReplyMeaning::Parsed(parsed, found)
        }
        ParsedReply::Fallback { .. } if let Some(message) = transcript::prose_answer(&reading) => {
            ReplyMeaning::Words { message, blocks: None }
        }
        ParsedReply::Invalid { .. } | ParsedReply::Fallback { .. } => ReplyMeaning::Unreadable {
            fault: reading.error().unwrap_or_else(|| phrases::CUT_BROKEN.into()),
            message: transcript::readable_part(&reading, &text),
            text,
        },
    }
}

/// A reply whose one call is its answer, as some agents end their work.
fn with_answer_as_text(reply: ModelReply) -> ModelReply {
    let sole_answer =
        |mut calls: Vec<&ToolCall>| calls.pop().filter(|_| calls.is_empty()).and_then(call_answer);
    let Some(answer) = sole_answer(reply.calls().collect()) else { return reply };
    let text = reply.text();
    let parts = [text.trim(), answer.trim()].into_iter().filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = parts.collect();
    parts.dedup();
    ModelReply { blocks: vec![ContentBlock::text(parts.join("\n\n"))], ..reply }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(dialect: Dialect, text: &str, cut: Option<Truncation>) -> ReplyMeaning {
        let transcript = TurnMessages::new("hello", Vec::new(), dialect);
        let blocks = vec![ContentBlock::text(text)];
        meaning_of(ModelReply { blocks, cut, ..ModelReply::default() }, &transcript, 7)
    }

    #[test]
    fn the_same_words_are_an_answer_in_both_dialects() {
        for dialect in [Dialect::Json, Dialect::Tools] {
            let ReplyMeaning::Words { message, blocks } = meaning(dialect, "It is done.", None)
            else {
                panic!("{dialect:?}")
            };
            assert_eq!(message, "It is done.");
            assert_eq!(blocks.is_some(), dialect == Dialect::Tools);
        }
    }

    #[test]
    fn calls_in_the_text_are_calls_with_ids_after_the_next_step() {
        let text = r#"<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>"#;
        let ReplyMeaning::Calls(reply) = meaning(Dialect::Tools, text, None) else { panic!() };
        let ids: Vec<&str> = reply.calls().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, [format!("{TEXT_CALL}7_0")]);
    }

    #[test]
    fn nothing_runs_of_a_reply_that_was_cut_unless_its_json_is_whole() {
        let cmd = r#"{"type":"cmd","message":"m","data":{"commands":[{"program":"ls"}]}}"#;
        let length = Some(Truncation::Length);
        assert!(matches!(meaning(Dialect::Tools, cmd, length), ReplyMeaning::Truncated { .. }));
        assert!(matches!(
            meaning(Dialect::Json, cmd, length),
            ReplyMeaning::Parsed(Reply::Cmd { .. }, ReplyRepair::Repaired)
        ));
        let part = cmd.get(..cmd.len() - 2).unwrap();
        assert!(matches!(meaning(Dialect::Json, part, length), ReplyMeaning::Truncated { .. }));
    }

    #[test]
    fn no_words_are_no_answer() {
        for dialect in [Dialect::Json, Dialect::Tools] {
            assert!(matches!(meaning(dialect, " \n", None), ReplyMeaning::Nothing(_)));
        }
    }
}
