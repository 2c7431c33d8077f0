//! Writes the output of a step that runs in the background to its file: masked, gathered, and
//! bounded in what it costs, so that a flood is counted and not written.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::capture::CapturedText;
use super::live_output::Decoder;
use crate::output_file::OutputFile;
use avocet_safety::redact::Redactor;

/// How long output is gathered, and the most of it that is written then, in bytes.
const GATHER: Duration = Duration::from_millis(50);
const MAX_BYTES: usize = 256 * 1024;

/// `None` in it: nothing is written, because the step is not in the background or the file failed.
#[derive(Debug, Default)]
pub(super) struct StepLog(Option<OpenLog>);

#[derive(Debug)]
struct OpenLog {
    file: OutputFile,
    streams: [PendingOutput; 2],
    since: Option<Instant>,
}

#[derive(Debug)]
struct PendingOutput {
    bytes: VecDeque<u8>,
    dropped: u64,
    decoder: Decoder,
}

impl OpenLog {
    fn new(file: OutputFile, redactor: Option<&Arc<Redactor>>) -> OpenLog {
        let stream = || PendingOutput {
            bytes: VecDeque::new(),
            dropped: 0,
            decoder: Decoder::new(redactor),
        };
        OpenLog { file, streams: [stream(), stream()], since: None }
    }
}

impl StepLog {
    /// Begins with what the step wrote before.
    pub(super) fn open(
        &mut self,
        path: &Path,
        redactor: Option<&Arc<Redactor>>,
        texts: [CapturedText; 2],
    ) {
        let Ok(mut file) = OutputFile::create(path) else { return };
        for text in texts {
            let text = match redactor {
                Some(redactor) => text.map(|part| redactor.mask(part).into_owned()),
                None => text,
            };
            let _ = file.write(&text.whole());
        }
        self.0 = Some(OpenLog::new(file, redactor));
    }

    /// Goes on with the file of a step that was handed over.
    pub(super) fn append(path: &Path, redactor: Option<&Arc<Redactor>>) -> StepLog {
        StepLog(OutputFile::append(path).ok().map(|file| OpenLog::new(file, redactor)))
    }

    pub(super) fn push(&mut self, stream: usize, bytes: &[u8]) {
        let Some(log) = &mut self.0 else { return };
        if let Some(pending) = log.streams.get_mut(stream) {
            pending.bytes.extend(bytes);
            let over = pending.bytes.len().saturating_sub(MAX_BYTES);
            pending.bytes.drain(..over);
            pending.dropped += over as u64;
            log.since.get_or_insert_with(Instant::now);
        }
    }

    /// When the gathered output is due; `None` when there is none.
    pub(super) fn flush_deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.since.map(|since| since + GATHER)
    }

    pub(super) fn flush(&mut self) {
        let Some(log) = &mut self.0 else { return };
        log.since = None;
        for pending in &mut log.streams {
            let mut text = String::new();
            if std::mem::take(&mut pending.dropped) > 0 {
                text += "\n[… a part of the output left out …]\n";
            }
            text += &pending.decoder.push(pending.bytes.make_contiguous());
            pending.bytes.clear();
            let _ = log.file.write(&text);
        }
    }

    pub(super) fn finish(&mut self) {
        self.flush();
        if let Some(mut log) = self.0.take() {
            for pending in &mut log.streams {
                let _ = log.file.write(&pending.decoder.finish());
            }
        }
    }
}
