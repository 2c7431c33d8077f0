//! A language server for scripts (LSP 3.17) over a stream: `avocet script lsp`. It answers with what
//! `script::editor` finds; nothing of a script runs.
//!
//! A message that cannot be read is answered with an error and skipped. Faults are sent when no
//! message is waiting, so that fast typing does not pile them up.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use super::Exit;
use avocet_core::i18n::{Lang, PhraseValue, script_help};
use avocet_script::built_in;
use avocet_script::check::ScriptFaultSeverity;
use avocet_script::editor::{
    CompletionKind, EditedFiles, EditedScript, EditorFault, EditorPosition, EditorRange,
    replace_range,
};
use avocet_script::source::{ScriptLibrary, normalize_path};
use avocet_session::script_places::DiskFiles;

/// Largest message that is read, and longest line of its header, in bytes.
const MAX_MESSAGE_BYTES: u64 = 32 << 20;
const MAX_HEADER: u64 = 4096;

/// What the server works with.
#[derive(Clone, Debug)]
pub struct ScriptServerConfig {
    pub disk: DiskFiles,
    /// The folders of `-s` and of the settings.
    pub folders: Vec<PathBuf>,
    pub lang: Lang,
}

/// Serves until the input ends or the editor says so.
pub fn serve(
    mut input: impl BufRead + Send + 'static,
    out: impl Write,
    setup: ScriptServerConfig,
) -> io::Result<Exit> {
    let (sender, incoming) = mpsc::channel();
    thread::Builder::new().name("lsp".to_owned()).spawn(move || {
        while let Ok(Some(body)) = read_frame(&mut input) {
            if sender.send(body).is_err() {
                break;
            }
        }
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut server =
        Server { out, setup, phase: Phase::New, open: BTreeMap::new(), stale: BTreeSet::new() };
    loop {
        let body = match incoming.try_recv() {
            Ok(body) => body,
            Err(mpsc::TryRecvError::Disconnected) => return Ok(server.exit()),
            Err(mpsc::TryRecvError::Empty) => {
                if let Some(path) = server.stale.pop_first() {
                    runtime.block_on(server.publish(&path))?;
                    continue;
                }
                match incoming.recv() {
                    Ok(body) => body,
                    Err(_) => return Ok(server.exit()),
                }
            }
        };
        if let Some(exit) = server.handle_frame(body)? {
            return Ok(exit);
        }
    }
}

/// The body of the next message, or why it is skipped; `None` at the end. Lines that are no header
/// are skipped until one is.
fn read_frame(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, &'static str>>> {
    let mut length: Option<Option<u64>> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(value) = content_length(&text) {
            length = Some(value.trim().parse().ok());
        } else if text.trim().is_empty() {
            match length {
                None => {}
                // The body is skipped up to the next header in it.
                Some(None) => return Ok(Some(Err("no length"))),
                Some(Some(length)) if length > MAX_MESSAGE_BYTES => {
                    io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
                    return Ok(Some(Err("too large")));
                }
                Some(Some(length)) => {
                    let mut bytes = Vec::new();
                    input.by_ref().take(length).read_to_end(&mut bytes)?;
                    return Ok(Some(Ok(bytes)));
                }
            }
        }
    }
}

/// The length that a line gives, also after the end of a body whose length was not known.
fn content_length(line: &str) -> Option<&str> {
    const NAME: &str = "content-length:";
    let at = line.to_ascii_lowercase().rfind(NAME)?;
    line.get(at + NAME.len()..)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Ready,
    Shutdown,
}

#[derive(Clone, Debug)]
struct OpenDocument {
    uri: String,
    version: Option<i64>,
    text: Arc<str>,
    /// The faults that were published of this text.
    faults: Vec<EditorFault>,
}

struct Server<W> {
    out: W,
    setup: ScriptServerConfig,
    phase: Phase,
    open: BTreeMap<PathBuf, OpenDocument>,
    /// Documents whose faults are out of date.
    stale: BTreeSet<PathBuf>,
}

impl<W: Write> Server<W> {
    /// Right only after the editor asked for it.
    fn exit(&self) -> Exit {
        if self.phase == Phase::Shutdown { Exit::Done } else { Exit::Failed }
    }

    fn handle_frame(&mut self, body: Result<Vec<u8>, &'static str>) -> io::Result<Option<Exit>> {
        let read = body.map_err(str::to_owned).and_then(|body| {
            let value: Value = serde_json::from_slice(&body).map_err(|why| why.to_string())?;
            Ok((serde_json::from_value::<Message>(value.clone()), value))
        });
        match read {
            Ok((Ok(Message::Request(request)), _)) => self.answer(request).map(|()| None),
            Ok((Ok(Message::Notification(said)), _)) => self.hear(&said),
            // This server asks nothing.
            Ok((Ok(Message::Response(_)), _)) => Ok(None),
            Ok((Err(_), value)) => {
                let id = value.get("id").cloned().unwrap_or_default();
                self.send_error(id, ErrorCode::InvalidRequest, "not a request").map(|()| None)
            }
            Err(why) => self.send_error(Value::Null, ErrorCode::ParseError, &why).map(|()| None),
        }
    }

    /// An error for a message whose id may be missing, which the crate's type does not allow.
    fn send_error(&mut self, id: Value, code: ErrorCode, why: &str) -> io::Result<()> {
        let error = json!({ "code": code as i32, "message": why });
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.out.flush()
    }

    fn respond(&mut self, id: RequestId, result: Value) -> io::Result<()> {
        Message::from(Response { id, response_result: Ok(result) }).write(&mut self.out)
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) -> io::Result<()> {
        Message::from(Response::new_err(id, code as i32, why.to_owned())).write(&mut self.out)
    }

    fn answer(&mut self, request: Request) -> io::Result<()> {
        let Request { id, method, params } = request;
        match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => {
                self.phase = Phase::Ready;
                self.respond(id, capabilities())
            }
            (Phase::New, _) => self.refuse(id, ErrorCode::ServerNotInitialized, "not initialized"),
            (Phase::Shutdown, _) => self.refuse(id, ErrorCode::InvalidRequest, "shut down"),
            (Phase::Ready, "shutdown") => {
                self.phase = Phase::Shutdown;
                self.respond(id, Value::Null)
            }
            (Phase::Ready, "textDocument/completion") => {
                let found = self.at(&params, completion);
                self.respond(id, found)
            }
            (Phase::Ready, "textDocument/hover") => {
                let found = self.at(&params, hover);
                self.respond(id, found)
            }
            (Phase::Ready, "textDocument/definition") => {
                let found = self.at(&params, |script, at, _| {
                    let found = script.definition(at);
                    found.map_or(
                        Value::Null,
                        |(path, range)| json!({ "uri": uri_of(&path), "range": range_json(range) }),
                    )
                });
                self.respond(id, found)
            }
            (Phase::Ready, "textDocument/references") => {
                let uri = text_at(&params, "/textDocument/uri").unwrap_or_default();
                let found = self.at(&params, |script, at, _| {
                    let found = script.references(at).into_iter();
                    found.map(|range| json!({ "uri": uri, "range": range_json(range) })).collect()
                });
                self.respond(id, found)
            }
            (Phase::Ready, "textDocument/codeAction") => {
                let found = self.quick_fixes(&params);
                self.respond(id, found)
            }
            _ => self.refuse(id, ErrorCode::MethodNotFound, &method),
        }
    }

    fn hear(&mut self, said: &Notification) -> io::Result<Option<Exit>> {
        let params = &said.params;
        let method = said.method.as_str();
        if method == "exit" {
            return Ok(Some(self.exit()));
        }
        let uri = text_at(params, "/textDocument/uri");
        let Some((uri, path)) =
            uri.map(|uri| (uri, path_of(uri))).filter(|_| self.phase == Phase::Ready)
        else {
            if method == "workspace/didChangeWatchedFiles" {
                self.stale.extend(self.open.keys().cloned());
            }
            return Ok(None);
        };
        match method {
            "textDocument/didOpen" => {
                let text = text_at(params, "/textDocument/text").unwrap_or_default();
                let document = OpenDocument {
                    uri: uri.to_owned(),
                    version: version(params),
                    text: text.into(),
                    faults: Vec::new(),
                };
                self.open.insert(path, document);
            }
            "textDocument/didChange" => {
                let Some(document) = self.open.get_mut(&path) else { return Ok(None) };
                let changes = params.get("contentChanges").and_then(Value::as_array);
                for change in changes.into_iter().flatten() {
                    let by = text_at(change, "/text").unwrap_or_default();
                    document.text = match change.get("range").and_then(range_from) {
                        Some(range) => replace_range(&document.text, range, by).into(),
                        None => by.into(),
                    };
                }
                document.version = version(params);
                document.faults.clear();
            }
            "textDocument/didClose" => {
                self.open.remove(&path);
                self.stale.remove(&path);
                self.send_faults(uri, None, Vec::new())?;
            }
            "textDocument/didSave" => {}
            _ => return Ok(None),
        }
        // Other documents may use this one.
        self.stale.extend(self.open.keys().cloned());
        Ok(None)
    }

    fn library(&self) -> ScriptLibrary {
        let open = self.open.iter().map(|(path, it)| (path.clone(), it.text.clone())).collect();
        let files = EditedFiles { disk: self.setup.disk.clone(), open };
        ScriptLibrary::new(Arc::new(files), self.setup.folders.clone(), built_in::SCRIPTS)
    }

    /// What is found at the place that the parameters name; null for a document that is not open.
    fn at(
        &self,
        params: &Value,
        find: impl Fn(&EditedScript<'_>, EditorPosition, Lang) -> Value,
    ) -> Value {
        let path = text_at(params, "/textDocument/uri").map(path_of);
        let found = path.and_then(|path| Some((self.open.get(&path)?, path)));
        let (Some((document, path)), Some(at)) =
            (found, params.get("position").and_then(position_from))
        else {
            return Value::Null;
        };
        let library = self.library();
        find(&EditedScript::new(&path, &document.text, &library), at, self.setup.lang)
    }

    /// What was probably meant, for the faults in a range.
    fn quick_fixes(&self, params: &Value) -> Value {
        let uri = text_at(params, "/textDocument/uri").unwrap_or_default();
        let document = self.open.get(&path_of(uri));
        let asked = params.get("range").and_then(range_from);
        let (Some(document), Some(asked)) = (document, asked) else { return json!([]) };
        let overlaps = |range: EditorRange| range.start <= asked.end && asked.start <= range.end;
        let faults = document.faults.iter().filter(|fault| overlaps(fault.range));
        let action = |fault: &EditorFault| {
            let (range, near) = fault.fix.as_ref()?;
            let edit = json!({ "range": range_json(*range), "newText": near });
            let title = script_help::QUICK_FIX.with("near", near.as_str());
            Some(json!({
                "title": title.text(self.setup.lang),
                "kind": "quickfix",
                "diagnostics": [diagnostic(fault, self.setup.lang)],
                "edit": { "changes": { uri: [edit] } },
            }))
        };
        faults.filter_map(action).collect()
    }

    async fn publish(&mut self, path: &Path) -> io::Result<()> {
        let Some(document) = self.open.get(path).cloned() else { return Ok(()) };
        let library = self.library();
        let faults = EditedScript::new(path, &document.text, &library).faults().await;
        let told = faults.iter().map(|fault| diagnostic(fault, self.setup.lang)).collect();
        if let Some(document) = self.open.get_mut(path) {
            document.faults = faults;
        }
        self.send_faults(&document.uri, document.version, told)
    }

    fn send_faults(
        &mut self,
        uri: &str,
        version: Option<i64>,
        faults: Vec<Value>,
    ) -> io::Result<()> {
        let mut params = json!({ "uri": uri, "diagnostics": faults });
        if let Some(version) = version {
            params["version"] = json!(version);
        }
        let method = "textDocument/publishDiagnostics".to_owned();
        Message::from(Notification { method, params }).write(&mut self.out)
    }
}

fn diagnostic(fault: &EditorFault, lang: Lang) -> Value {
    json!({
        "range": range_json(fault.range),
        "severity": match fault.severity {
            ScriptFaultSeverity::Error => 1,
            ScriptFaultSeverity::Warning => 2,
        },
        "source": "avocet",
        "message": fault.message.text(lang),
    })
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
            "completionProvider": { "triggerCharacters": ["$", "[", "@", "{", "|", ">", ":", "("] },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        },
        "serverInfo": { "name": "avocet", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn completion(script: &EditedScript<'_>, position: EditorPosition, lang: Lang) -> Value {
    let (range, found) = script.completions(position);
    let items = found.into_iter().map(|item| {
        let kind = match item.kind {
            CompletionKind::Directive => 14,
            CompletionKind::Setting => 10,
            CompletionKind::Value => 12,
            CompletionKind::Script => 17,
            CompletionKind::Variable => 6,
            CompletionKind::Function => 3,
            CompletionKind::Mark => 15,
            CompletionKind::Role => 7,
        };
        let mut json = json!({
            "label": item.label,
            "kind": kind,
            "textEdit": { "range": range_json(range), "newText": item.insert },
        });
        // Where it is left out, editors compare the label, and some of them only then heed the range.
        if !item.insert.starts_with(&item.label) {
            json["filterText"] = json!(item.insert);
        }
        if let Some(about) = item.about {
            json["detail"] = json!(about.text(lang));
        }
        json
    });
    json!({ "isIncomplete": false, "items": items.collect::<Vec<_>>() })
}

fn hover(script: &EditedScript<'_>, position: EditorPosition, lang: Lang) -> Value {
    let Some(found) = script.hover(position) else { return Value::Null };
    let about = found.about.iter().map(|value: &PhraseValue| value.text(lang));
    let about = about.collect::<Vec<_>>().join("\n\n");
    let text = format!("```yaml\n{}\n```\n{about}", found.code);
    json!({ "contents": { "kind": "markdown", "value": text }, "range": range_json(found.range) })
}

fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn version(params: &Value) -> Option<i64> {
    params.pointer("/textDocument/version").and_then(Value::as_i64)
}

fn position_from(value: &Value) -> Option<EditorPosition> {
    let number = |key| value.get(key)?.as_u64().map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    Some(EditorPosition { line: number("line")?, character: number("character")? })
}

fn range_from(value: &Value) -> Option<EditorRange> {
    let of = |key| value.get(key).and_then(position_from);
    Some(EditorRange { start: of("start")?, end: of("end")? })
}

fn range_json(range: EditorRange) -> Value {
    let of = |position: EditorPosition| json!({ "line": position.line, "character": position.character });
    json!({ "start": of(range.start), "end": of(range.end) })
}

/// The path of a `file:` address; any other address is a name of its own.
fn path_of(uri: &str) -> PathBuf {
    let Some(path) = uri.strip_prefix("file://") else { return PathBuf::from(uri) };
    let path = path.split_at(path.find('/').unwrap_or(0)).1;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    normalize_path(Path::new(&*String::from_utf8_lossy(&bytes)))
}

fn uri_of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.display().to_string().bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_decoded_and_encoded() {
        let path = Path::new("/tmp/a b/你好%.ai.yaml");
        let uri = "file:///tmp/a%20b/%E4%BD%A0%E5%A5%BD%25.ai.yaml";
        assert_eq!(uri_of(path), uri);
        assert_eq!(path_of(uri), path);
        assert_eq!(path_of("file://localhost/tmp/x"), Path::new("/tmp/x"));
        assert_eq!(path_of("untitled:1"), Path::new("untitled:1"));
        assert_eq!(path_of("file:///a%zz%2"), Path::new("/a%zz%2"));
    }

    #[test]
    fn frames_are_read_past_what_is_broken() {
        let text = "garbage\r\nContent-Length: x\r\nContent-Length: 2\r\nOther: y\r\n\r\n{}Content-Length: 3\r\n\r\nabc";
        let mut input = text.as_bytes();
        assert_eq!(read_frame(&mut input).unwrap(), Some(Ok(b"{}".to_vec())));
        assert_eq!(read_frame(&mut input).unwrap(), Some(Ok(b"abc".to_vec())));
        assert_eq!(read_frame(&mut input).unwrap(), None);
        let huge = format!("Content-Length: {}\r\n\r\nrest", u64::MAX);
        assert_eq!(read_frame(&mut huge.as_bytes()).unwrap(), Some(Err("too large")));
        let long = vec![b'a'; 10_000];
        assert_eq!(read_frame(&mut long.as_slice()).unwrap(), None);
    }
}
