//! Files as the client has them: steps that read and write files ask the client, which may hold text
//! that is not saved. The steps wait on threads of their own; the session of the client carries the
//! requests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as threads;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, FileSystemCapabilities, ReadTextFileRequest, ReadTextFileResponse,
    SessionId, WriteTextFileRequest,
};
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::wire::MessageSender;
use avocet_core::i18n::{LocalizedText, acp as phrases};
use avocet_tools::file_host::FileHost;

/// Requests that wait for the session.
const MAX_WAITING: usize = 16;
const READ_TIMEOUT: Duration = Duration::from_secs(5);
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest text that is taken of the client, in bytes.
const MAX_TEXT: usize = 4 << 20;
/// The numbers of these requests, which no permission reaches.
const FIRST_CALL: u64 = 1 << 32;

/// The tools' side.
#[derive(Debug)]
pub struct EditorFiles {
    offers: FileSystemCapabilities,
    requests: Sender<FileRequest>,
    /// It did not answer in time: it is not waited for again where the disk will do.
    is_silent: AtomicBool,
}

/// What a step wants of the client.
#[derive(Debug)]
pub struct FileRequest {
    path: PathBuf,
    /// To be written; `None`: the file is read.
    text: Option<String>,
    reply: threads::SyncSender<Option<Box<RawValue>>>,
}

/// Why a request has no result.
enum NoAnswer {
    /// The client answered with an error.
    Refused,
    Late,
}

impl EditorFiles {
    /// `None`: the client offers no files.
    pub fn new(offers: &FileSystemCapabilities) -> Option<(EditorFiles, Receiver<FileRequest>)> {
        if !offers.read_text_file && !offers.write_text_file {
            return None;
        }
        let (requests, waiting) = channel(MAX_WAITING);
        let is_silent = AtomicBool::new(false);
        Some((EditorFiles { offers: offers.clone(), requests, is_silent }, waiting))
    }

    fn ask(
        &self,
        path: &Path,
        text: Option<String>,
        patience: Duration,
    ) -> Result<Box<RawValue>, NoAnswer> {
        let (reply, answered) = threads::sync_channel(1);
        let request = FileRequest { path: path.to_owned(), text, reply };
        self.requests.try_send(request).map_err(|_| NoAnswer::Late)?;
        match answered.recv_timeout(patience) {
            Ok(answer) => answer.ok_or(NoAnswer::Refused),
            Err(_) => Err(NoAnswer::Late),
        }
    }
}

impl FileHost for EditorFiles {
    fn read(&self, path: &Path) -> Option<String> {
        if !self.offers.read_text_file || self.is_silent.load(Ordering::Relaxed) {
            return None;
        }
        let path_shown = path.display();
        let answer = match self.ask(path, None, READ_TIMEOUT) {
            Ok(answer) => answer,
            Err(NoAnswer::Refused) => {
                tracing::info!(path = %path_shown, "the editor does not read it; read from the disk");
                return None;
            }
            Err(NoAnswer::Late) => {
                self.is_silent.store(true, Ordering::Relaxed);
                tracing::warn!(path = %path_shown, "the editor did not answer; read from the disk");
                return None;
            }
        };
        let read: Option<ReadTextFileResponse> = serde_json::from_str(answer.get()).ok();
        read.map(|read| read.content).filter(|content| content.len() <= MAX_TEXT)
    }

    fn can_write(&self) -> bool {
        self.offers.write_text_file
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), LocalizedText> {
        match self.ask(path, Some(text.to_owned()), WRITE_TIMEOUT) {
            Ok(_) => {
                let shorter = text.strip_suffix('\n').filter(|_| adds_line_end(path, text));
                // If that is refused, what is there is right but for an empty line.
                let _ = shorter.map(|text| self.ask(path, Some(text.to_owned()), WRITE_TIMEOUT));
                Ok(())
            }
            Err(NoAnswer::Refused) => Err(phrases::FILE_REFUSED.into()),
            Err(NoAnswer::Late) => Err(phrases::FILE_LATE.with("seconds", WRITE_TIMEOUT.as_secs())),
        }
    }
}

/// Whether the editor put one more line end after the last one: some take what follows it for a
/// line, and end that too.
fn adds_line_end(path: &Path, text: &str) -> bool {
    let is_longer = |length: u64| length == text.len() as u64 + 1;
    path.metadata().is_ok_and(|found| found.is_file() && is_longer(found.len()))
        && std::fs::read_to_string(path).is_ok_and(|found| found.strip_suffix('\n') == Some(text))
}

/// The client's side: the requests that it has not answered.
pub struct PendingFiles {
    requests: Option<Receiver<FileRequest>>,
    pending: HashMap<u64, threads::SyncSender<Option<Box<RawValue>>>>,
    next: u64,
}

impl PendingFiles {
    pub fn new(requests: Option<Receiver<FileRequest>>) -> PendingFiles {
        PendingFiles { requests, pending: HashMap::new(), next: FIRST_CALL }
    }

    /// The next request of a step.
    pub async fn next(&mut self) -> FileRequest {
        match &mut self.requests {
            Some(requests) => match requests.recv().await {
                Some(request) => request,
                None => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// Sends a request to the client.
    pub async fn send(
        &mut self,
        request: FileRequest,
        session: &SessionId,
        sender: &MessageSender,
    ) {
        let FileRequest { path, text, reply } = request;
        let call = self.next;
        self.next += 1;
        self.pending.insert(call, reply);
        let id = format!("{session}/{call}");
        match text {
            None => {
                let method = CLIENT_METHOD_NAMES.fs_read_text_file;
                sender.request(&id, method, &ReadTextFileRequest::new(session.clone(), path)).await;
            }
            Some(text) => {
                let method = CLIENT_METHOD_NAMES.fs_write_text_file;
                let params = WriteTextFileRequest::new(session.clone(), path, text);
                sender.request(&id, method, &params).await;
            }
        }
    }

    /// Takes the answer to a request; false: it is the answer to something else.
    pub fn answer(&mut self, call: u64, result: Option<&RawValue>) -> bool {
        if let Some(reply) = self.pending.remove(&call) {
            // A step that waits no longer needs none.
            let _ = reply.try_send(result.map(RawValue::to_owned));
        }
        call >= FIRST_CALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_answer_is_not_waited_for_twice_where_the_disk_will_do() {
        let offers = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
        let (files, requests) = EditorFiles::new(&offers).unwrap();
        drop(requests);
        assert_eq!(files.read(Path::new("/w/a")), None);
        assert!(files.is_silent.load(Ordering::Relaxed));
        assert_eq!(files.read(Path::new("/w/a")), None);
        assert!(files.write(Path::new("/w/a"), "x").is_err());
    }

    #[test]
    fn a_client_without_files_is_not_asked() {
        assert!(EditorFiles::new(&FileSystemCapabilities::new()).is_none());
    }
}
