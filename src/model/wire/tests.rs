//! Every recorded answer of every format, split and cut in every way; and what the tests of the
//! formats share.

use std::path::Path;

use futures_util::{FutureExt, StreamExt, stream};
use serde_json::json;

use serde_json::Value;

use super::answer::AnswerReader;
use super::features::RequestFeatures;
use super::format::Framing;
use super::format::{WireCall, text_at};
use super::*;
use crate::sse::{self, EVENT_CAP, SseError, SseEvent};
use crate::{Chunk, Effort, ModelError, Request, ToolSchema};
use avocet_core::protocol::{
    ContentBlock, Image, Message, Opaque, Role, TextBlock, ToolCall, ToolResult,
};

/// Cuts are made at every byte of the two ends of a recording, and at every one of these between.
const STRIDE: usize = 61;
const ENDS: usize = 250;

pub(super) fn call<'a>(provider: Provider, model: &'a str, request: &'a Request) -> WireCall<'a> {
    WireCall {
        provider,
        host: "server.example",
        model,
        request,
        features: RequestFeatures::default(),
    }
}

pub(super) fn tool() -> ToolSchema {
    ToolSchema {
        name: "shell".into(),
        description: "Runs a program.".into(),
        parameters: json!({ "type": "object", "properties": { "args": { "type": "array" } } }),
    }
}

/// A conversation with everything in it; `data` hangs on the reasoning, on the calls and on the
/// text that came from `provider` and the model `m`.
pub(super) fn conversation(provider: Provider, data: [Option<Value>; 3]) -> Request {
    let [of_thought, of_call, of_text] = data.map(|data| {
        data.map(|data| Box::new(Opaque { wire: provider.name().into(), model: "m".into(), data }))
    });
    let call = |id: &str, args: &str, opaque| {
        let (name, arguments) = ("shell".to_owned(), format!("{{\"args\":[\"{args}\"]}}"));
        ContentBlock::ToolCall(ToolCall { id: id.into(), name, arguments, opaque })
    };
    let result = |id: &str, content: &str, is_error| {
        let (call, name, content) = (id.to_owned(), "shell".to_owned(), content.to_owned());
        ContentBlock::ToolResult(ToolResult { call, name, content, is_error })
    };
    let image = Image { mime: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let thought = TextBlock { text: "Two calls.".into(), opaque: of_thought };
    let said = TextBlock { text: "I look.".into(), opaque: of_text };
    let messages = vec![
        Message::system("Be brief."),
        Message {
            role: Role::User,
            blocks: vec![ContentBlock::text("What is this?"), ContentBlock::Image(image)],
        },
        Message {
            role: Role::Assistant,
            blocks: vec![
                ContentBlock::Reasoning(thought),
                ContentBlock::Text(said),
                call("call_a", "ls", of_call),
                call("functions.shell:1", "pwd", None),
            ],
        },
        Message {
            role: Role::User,
            blocks: vec![
                result("call_a", "file", false),
                result("functions.shell:1", "no such program", true),
            ],
        },
    ];
    Request {
        messages,
        tools: [tool()].into(),
        effort: Some(Effort::High),
        cache_key: Some("session-1".into()),
        ..Request::default()
    }
}

/// The JSON of a request, for a snapshot.
pub(super) fn written(provider: Provider, model: &str, request: &Request) -> String {
    let body = Api::of(provider).format.body(&call(provider, model, request));
    serde_json::to_string_pretty(&body).unwrap_or_default()
}

fn reader(provider: Provider) -> AnswerReader {
    let request = Request { tools: [tool()].into(), ..Request::default() };
    let reader = Api::of(provider).format.reader(&call(provider, "m", &request));
    AnswerReader::new("http://s".into(), Some("sk-secret".into()), "m", provider.format(), reader)
}

fn drain(reader: &mut AnswerReader, chunks: &mut Vec<Chunk>) {
    while let Some(chunk) = reader.next_chunk() {
        match (chunks.last_mut(), chunk) {
            (Some(Chunk::Text(last)), Chunk::Text(more))
            | (Some(Chunk::Thought(last)), Chunk::Thought(more)) => last.push_str(&more),
            (_, chunk) => chunks.push(chunk),
        }
    }
}

/// What a stream of these events means: its chunks, texts joined, and the error at its end.
fn read_events(
    provider: Provider,
    events: impl IntoIterator<Item = SseEvent>,
) -> (Vec<Chunk>, Option<ModelError>) {
    let (mut reader, mut chunks) = (reader(provider), Vec::new());
    let mut result = Ok(());
    for event in events {
        result = reader.push_event(&event);
        drain(&mut reader, &mut chunks);
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        result = reader.close();
    }
    drain(&mut reader, &mut chunks);
    (chunks, result.err())
}

pub(super) fn read(provider: Provider, events: &[Value]) -> (Vec<Chunk>, Option<ModelError>) {
    let event = |data: &Value| SseEvent { name: "message".into(), data: data.to_string() };
    read_events(provider, events.iter().map(event))
}

/// The chunks of an answer that ends as it should.
pub(super) fn gather(provider: Provider, events: &[Value]) -> Vec<Chunk> {
    let (chunks, error) = read(provider, events);
    assert_eq!(error, None, "{chunks:?}");
    chunks
}

fn split(provider: Provider, pieces: Vec<Vec<u8>>) -> (Vec<Chunk>, Option<ModelError>) {
    let bytes = stream::iter(pieces.into_iter().map(Ok::<_, ()>));
    let events: Vec<Result<SseEvent, SseError<()>>> =
        if Api::of(provider).format.framing() == Framing::Lines {
            sse::lines(bytes, EVENT_CAP).collect::<Vec<_>>().now_or_never()
        } else {
            sse::events(bytes, EVENT_CAP).collect::<Vec<_>>().now_or_never()
        }
        .unwrap_or_default();
    read_events(provider, events.into_iter().filter_map(Result::ok))
}

/// The recordings with the provider they come from.
fn recordings() -> Vec<(String, Provider, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sse");
    let index = std::fs::read(root.join("index.json")).unwrap_or_default();
    let index: Vec<Value> = serde_json::from_slice(&index).unwrap_or_default();
    assert!(index.len() >= 40, "{} recordings", index.len());
    let rows = index.iter().map(|row| {
        let file = text_at(row, "file").to_owned();
        let provider = match file.as_str() {
            name if name.contains("responses") => Provider::OpenAiResponses,
            name if name.contains("anthropic") => Provider::Anthropic,
            name if name.starts_with("gemini/") => Provider::Gemini,
            name if name.ends_with(".ndjson") => Provider::Ollama,
            _ => Provider::OpenAi,
        };
        let bytes = std::fs::read(root.join(&file)).unwrap_or_default();
        (file, provider, bytes)
    });
    rows.filter(|(_, provider, _)| Api::of(*provider).provider.format() == *provider).collect()
}

fn text(chunks: &[Chunk]) -> String {
    let text = chunks.iter().map(|chunk| match chunk {
        Chunk::Text(text) | Chunk::Thought(text) => text.as_str(),
        _ => "",
    });
    text.collect()
}

fn calls(chunks: &[Chunk]) -> Vec<&ToolCall> {
    let calls = chunks.iter().filter_map(|chunk| match chunk {
        Chunk::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

#[test]
fn every_recording_means_the_same_in_pieces_of_any_size() {
    for (file, provider, bytes) in recordings() {
        let expected = split(provider, vec![bytes.clone()]);
        let sizes: &[usize] =
            if bytes.len() < 8_000 { &[1, 2, 3, 5, 7, 16, 31, 64] } else { &[1, 61] };
        for size in sizes {
            let pieces = bytes.chunks(*size).map(<[u8]>::to_vec).collect();
            assert_eq!(split(provider, pieces), expected, "{file} in pieces of {size}");
        }
    }
}

#[test]
fn a_recording_that_is_cut_anywhere_keeps_its_text_and_is_never_taken_for_whole() {
    for (file, provider, bytes) in recordings() {
        let (whole, error) = split(provider, vec![bytes.clone()]);
        let is_near =
            |at: &usize| *at < ENDS || bytes.len() - at < ENDS || at.is_multiple_of(STRIDE);
        let mut shown = 0;
        for at in (0..bytes.len()).filter(is_near) {
            let (head, _) = bytes.split_at(at);
            let (chunks, end) = split(provider, vec![head.to_vec()]);
            let (seen, all) = (text(&chunks), text(&whole));
            assert!(all.starts_with(&seen), "{file} at {at}: {seen:?}");
            assert!(seen.len() >= shown, "{file} at {at} lost {shown} bytes");
            shown = seen.len();
            let is_whole = matches!(chunks.last(), Some(Chunk::Finished(_)));
            if is_whole {
                assert_eq!(
                    (seen.len(), calls(&chunks)),
                    (all.len(), calls(&whole)),
                    "{file} at {at}"
                );
            } else {
                assert!(
                    calls(&chunks).is_empty() || provider != Provider::OpenAi,
                    "{file} at {at}"
                );
                assert!(end.is_some(), "{file} at {at}");
            }
        }
        assert!(error.is_some() || matches!(whole.last(), Some(Chunk::Finished(_))), "{file}");
    }
}

#[test]
fn every_recording_is_read_as_it_was_when_it_was_last_looked_at() {
    let short = |chunk: &Chunk| match chunk {
        Chunk::Usage(usage) => format!(
            "Usage in {} (cached {}, written {}) out {} (reasoning {})",
            usage.input_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        ),
        other => avocet_core::text::cut(&format!("{other:?}"), 240),
    };
    let mut out = String::new();
    for (file, provider, bytes) in recordings() {
        let (chunks, error) = split(provider, vec![bytes]);
        out.push_str(&format!("{file}\n"));
        chunks.iter().for_each(|chunk| out.push_str(&format!("  {}\n", short(chunk))));
        if let Some(error) = error {
            out.push_str(&format!("  {error:?}\n"));
        }
    }
    insta::assert_snapshot!(out);
}

/// The value with one field gone, null or of another type, for each field at any depth.
fn damaged(value: &Value) -> Vec<Value> {
    let mut out = Vec::new();
    if let Value::Object(fields) = value {
        for name in fields.keys() {
            let with = |new: Option<Value>| {
                let mut fields = fields.clone();
                match new {
                    Some(new) => fields.insert(name.clone(), new),
                    None => fields.remove(name),
                };
                Value::Object(fields)
            };
            out.extend(
                [None, Some(Value::Null), Some(json!([{}])), Some(json!(u64::MAX))].map(with),
            );
            out.extend(damaged(&fields[name]).into_iter().map(|inner| with(Some(inner))));
        }
    }
    if let Value::Array(items) = value {
        for (at, item) in items.iter().enumerate().take(2) {
            out.extend(damaged(item).into_iter().map(|inner| {
                let mut items = items.clone();
                items[at] = inner;
                Value::Array(items)
            }));
        }
    }
    out
}

#[test]
fn no_field_that_is_missing_null_or_of_another_type_costs_the_text_of_another_event() {
    for (file, provider, bytes) in recordings() {
        let values: Vec<Value> = String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(|line| {
                serde_json::from_str(line.strip_prefix("data:").unwrap_or(line).trim()).ok()
            })
            .collect();
        let (whole, error) = read(provider, &values);
        if error.is_some() || bytes.len() > 9_000 {
            continue;
        }
        for at in 0..values.len().min(12) {
            for event in damaged(&values[at]) {
                let mut values = values.clone();
                values[at] = event;
                let (chunks, _) = read(provider, &values);
                let lost = text(&whole).len().saturating_sub(text(&chunks).len());
                let own = values[at].to_string().len() + 64;
                assert!(lost <= own.max(600) || chunks.is_empty(), "{file} {at}: {}", values[at]);
            }
        }
    }
}

#[test]
fn opaque_data_goes_back_to_the_same_provider_and_model_only() {
    let data = Opaque { wire: "anthropic".into(), model: "m".into(), data: json!(1) };
    let (sealed, request) = (Some(Box::new(data)), Request::default());
    assert_eq!(call(Provider::Anthropic, "m", &request).opened(&sealed), Some(&json!(1)));
    assert_eq!(call(Provider::Anthropic, "n", &request).opened(&sealed), None);
    assert_eq!(call(Provider::OpenRouter, "m", &request).opened(&sealed), None);
}

#[test]
fn a_document_is_a_block_of_its_own_where_the_format_has_one() {
    let body = |provider| {
        let mut request = conversation(provider, [None, None, None]);
        let document = Image { mime: Image::PDF.into(), data: "JVBERi0=".into() };
        let blocks = vec![ContentBlock::text("Read it."), ContentBlock::Image(document)];
        request.messages = vec![Message { role: Role::User, blocks }];
        Api::of(provider).format.body(&call(provider, "m", &request)).to_string()
    };
    let address = "data:application/pdf;base64,JVBERi0=";
    for (provider, wanted) in [
        (
            Provider::Anthropic,
            json!({ "type": "document", "source": {
            "type": "base64", "media_type": "application/pdf", "data": "JVBERi0=",
        } }),
        ),
        (
            Provider::Gemini,
            json!({ "inlineData": {
            "mimeType": "application/pdf", "data": "JVBERi0=",
        } }),
        ),
        (
            Provider::OpenAi,
            json!({ "type": "file", "file": {
            "filename": "document.pdf", "file_data": address,
        } }),
        ),
        (
            Provider::OpenAiResponses,
            json!({
                "type": "input_file", "filename": "document.pdf", "file_data": address,
            }),
        ),
    ] {
        let sent = body(provider);
        assert!(sent.contains(&wanted.to_string()), "{provider:?}: {sent}");
    }
}
