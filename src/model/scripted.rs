//! Replays replies from a file, one after the other: for tests, demos and reproducible bug
//! reports.
//!
//! The file consists of blocks separated by a line `---`. A block is the text of a reply, usually
//! one JSON object. Its first line may be a directive, `#!` and a JSON object:
//!
//! ```text
//! #! {"delay_ms": 20, "chunk": 5}
//! {"type":"chat","message":"Slowly, five characters at a time.","data":{}}
//! ---
//! #! {"status": 429, "error": "Too many requests"}
//! ---
//! #! {"wait": "after"}
//! {"type":"chat","message":"Shown, and then nothing more ever comes
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | `delay_ms` | pause before each chunk; 0 |
//! | `chunk` | characters in a chunk; 0: the whole text at once |
//! | `status` | fail at once, as a server with this HTTP status does |
//! | `error` | the server's words; without `status`: the error comes after the text |
//! | `cut` | after the text: `length`, `filtered`, or `broken` (the connection is lost) |
//! | `wait` | never end: `before` the text, or `after` it |
//! | `thought` | reasoning sent before the text |
//! | `usage` | `[input, output]` tokens |
//!
//! A call takes the next reply when it starts. After the last one, calls fail.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use serde::Deserialize;

use super::error_body::{ServerMessage, clean};
use super::status::{self, ErrorContext};
use super::{Chunk, Model, ModelError, Request};
use avocet_core::protocol::{Truncation, Usage};

/// Maximum size of a file of replies, in bytes.
const FILE_CAP: u64 = 64 << 20;

/// A model that reads its replies from a file.
#[derive(Clone, Debug)]
pub struct Scripted {
    file: String,
    replies: Arc<[Reply]>,
    next: Arc<AtomicUsize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Reply {
    text: String,
    directive: Directive,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Directive {
    delay_ms: u64,
    chunk: usize,
    status: Option<u16>,
    error: Option<String>,
    cut: Option<End>,
    wait: Option<Wait>,
    thought: Option<String>,
    usage: Option<[u64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Length,
    Filtered,
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wait {
    Before,
    After,
}

impl Scripted {
    /// Reads the whole file at once.
    pub fn open(path: &Path) -> Result<Scripted, ModelError> {
        let file = clean(&path.display().to_string(), None);
        let fault = |why: String| ModelError::ScriptUnreadable { file: file.clone(), why };
        let meta = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?;
        if meta.len() > FILE_CAP {
            return Err(fault(format!("{} bytes", meta.len())));
        }
        // A pipe or a device has no end.
        if !meta.is_file() {
            return Err(fault("no file".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        Scripted::parse(&file, &text)
    }

    /// Parses replies from a text; `file` names it in messages.
    pub fn parse(file: &str, text: &str) -> Result<Scripted, ModelError> {
        let fault = |(line, why): (usize, String)| ModelError::ScriptFaulty {
            file: file.to_owned(),
            line,
            why: clean(&why, None),
        };
        let replies = replies(text).map_err(fault)?;
        Ok(Scripted { file: file.to_owned(), replies: replies.into(), next: Arc::default() })
    }
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let count = self.replies.len();
        // Past the end the number no longer matters: the next call fails in the same way.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match self.replies.get(number) {
            Some(reply) => play(reply, &self.file),
            None => {
                let over = ModelError::ScriptOver { file: self.file.clone(), count };
                stream::iter([Err(over)]).boxed()
            }
        }
    }
}

/// The blocks of a file; an error has its line, counted from 1.
fn replies(text: &str) -> Result<Vec<Reply>, (usize, String)> {
    let mut replies = Vec::new();
    let mut block = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_end() == "---" {
            replies.extend(reply(&block)?);
            block.clear();
        } else {
            block.push((number + 1, line));
        }
    }
    replies.extend(reply(&block)?);
    Ok(replies)
}

/// `None` for an empty block.
fn reply(block: &[(usize, &str)]) -> Result<Option<Reply>, (usize, String)> {
    let blank = block.iter().take_while(|(_, line)| line.trim().is_empty()).count();
    let mut lines = block.iter().skip(blank).copied().peekable();
    if lines.peek().is_none() {
        return Ok(None);
    }
    let directive = lines.next_if(|(_, line)| line.starts_with("#!"));
    let how = match directive.and_then(|(number, line)| Some((number, line.strip_prefix("#!")?))) {
        Some((number, json)) => {
            serde_json::from_str(json.trim()).map_err(|error| (number, error.to_string()))?
        }
        None => Directive::default(),
    };
    let text = lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    Ok(Some(Reply { text: text.trim_end().to_owned(), directive: how }))
}

type Item = Result<Chunk, ModelError>;

fn play(reply: &Reply, file: &str) -> BoxStream<'static, Item> {
    let how = &reply.directive;
    if let Some(status) = how.status {
        return stream::iter([Err(status_error(status, how, file))]).boxed();
    }
    if how.wait == Some(Wait::Before) {
        return stream::pending().boxed();
    }
    let mut items: Vec<Item> = Vec::new();
    items.extend(how.thought.clone().map(|text| Ok(Chunk::Thought(text))));
    items.extend(split_text(&reply.text, how.chunk).into_iter().map(|text| Ok(Chunk::Text(text))));
    if how.wait == Some(Wait::After) {
        return with_delay(items, how.delay_ms).chain(stream::pending()).boxed();
    }
    items.extend(how.usage.map(|[input_tokens, output_tokens]| {
        Ok(Chunk::Usage(Usage::counted(input_tokens, output_tokens)))
    }));
    items.push(last_item(how, file));
    with_delay(items, how.delay_ms).boxed()
}

fn last_item(directive: &Directive, file: &str) -> Item {
    let url = file.to_owned();
    match (&directive.error, directive.cut) {
        (Some(said), _) => {
            Err(ModelError::Reported { url, said: clean(said, None), passing: false, after: None })
        }
        (None, None) => Ok(Chunk::Finished(None)),
        (None, Some(End::Length)) => Ok(Chunk::Finished(Some(Truncation::Length))),
        (None, Some(End::Filtered)) => Ok(Chunk::Finished(Some(Truncation::Filtered))),
        (None, Some(End::Broken)) => Err(ModelError::Broken { url }),
    }
}

fn status_error(status: u16, directive: &Directive, file: &str) -> ModelError {
    let said = ServerMessage::from_body(directive.error.as_deref().unwrap_or_default(), None);
    let cx = ErrorContext {
        url: file,
        model: "scripted",
        key_name: "AVOCET_API_KEY",
        has_key: true,
        is_near: false,
    };
    status::error_for_status(cx, status, None, &said)
}

fn with_delay(items: Vec<Item>, delay_ms: u64) -> impl Stream<Item = Item> + Send + 'static {
    stream::iter(items).then(move |item| async move {
        if delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        }
        item
    })
}

/// Splits a text into pieces of `size` characters; 0 for one piece.
pub(super) fn split_text(text: &str, size: usize) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    if size == 0 {
        return vec![text.to_owned()];
    }
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn call(model: &Scripted) -> Vec<Item> {
        let request = Request::default();
        model.stream(request).collect::<Vec<_>>().now_or_never().unwrap_or_default()
    }

    fn scripted(text: &str) -> Scripted {
        Scripted::parse("replies.txt", text).unwrap()
    }

    fn text(text: &str) -> Item {
        Ok(Chunk::Text(text.into()))
    }

    #[test]
    fn replies_come_one_after_the_other_until_none_are_left() {
        let model = scripted("one\n---\n\ntwo\nlines\n\n---\n");
        assert_eq!(call(&model), [text("one"), Ok(Chunk::Finished(None))]);
        assert_eq!(call(&model), [text("two\nlines"), Ok(Chunk::Finished(None))]);
        let over = ModelError::ScriptOver { file: "replies.txt".into(), count: 2 };
        assert_eq!(call(&model), [Err(over.clone())]);
        assert_eq!(call(&model), [Err(over)]);
    }

    #[test]
    fn directives_truncate_fail_and_report_usage() {
        let model = scripted(concat!(
            "#! {\"chunk\":2,\"thought\":\"hm\",\"usage\":[3,4],\"cut\":\"length\"}\n字二三\n---\n",
            "#! {\"status\":401}\n---\n",
            "#! {\"error\":\"no\"}\nhalf\n---\n",
            "#! {\"cut\":\"broken\"}\nhalf",
        ));
        let usage = Usage::counted(3, 4);
        let expected = [
            Ok(Chunk::Thought("hm".into())),
            text("字二"),
            text("三"),
            Ok(Chunk::Usage(usage)),
            Ok(Chunk::Finished(Some(Truncation::Length))),
        ];
        assert_eq!(call(&model), expected);
        assert!(matches!(call(&model).as_slice(), [Err(ModelError::KeyWrong { .. })]));
        assert!(matches!(call(&model).as_slice(), [Ok(_), Err(ModelError::Reported { .. })]));
        assert!(matches!(call(&model).as_slice(), [Ok(_), Err(ModelError::Broken { .. })]));
    }

    #[test]
    fn a_reply_with_wait_never_ends() {
        let model = scripted("#! {\"wait\":\"before\"}\nx\n---\n#! {\"wait\":\"after\"}\ny");
        assert_eq!(call(&model), []);
        let request = Request::default();
        let mut chunks = model.stream(request);
        assert_eq!(chunks.next().now_or_never(), Some(Some(text("y"))));
        assert_eq!(chunks.next().now_or_never(), None);
    }

    #[test]
    fn an_invalid_directive_is_reported_with_its_line() {
        let error = Scripted::parse("f", "one\n---\n\n#! {\"dealy_ms\":2}\n").map(|_| ());
        assert!(
            matches!(error, Err(ModelError::ScriptFaulty { line: 4, why, .. }) if why.contains("dealy_ms"))
        );
        let missing = Scripted::open(Path::new("/nowhere/at/all")).map(|_| ());
        assert!(matches!(missing, Err(ModelError::ScriptUnreadable { .. })));
    }
}
