//! Messages on the pipes of a server: a header with the length, then JSON.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};
use tokio::time::Instant;

use avocet_core::i18n::{LocalizedText, lsp as phrases};

/// The largest message, and the most that is read at once before a server counts as flooding; it
/// may go on with `BYTES_PER_SECOND`.
const MAX_MESSAGE: usize = 16 << 20;
const MAX_FLOOD: f64 = (64 << 20) as f64;
const BYTES_PER_SECOND: f64 = 4e6;
const MAX_HEADER: u64 = 4096;

/// Reads messages, and fails when too much comes.
pub(crate) struct MessageReader<R> {
    inner: R,
    /// What may still be read now.
    allowance: f64,
    since: Instant,
}

impl<R: AsyncBufRead + Unpin> MessageReader<R> {
    pub fn new(inner: R) -> MessageReader<R> {
        MessageReader { inner, allowance: MAX_FLOOD, since: Instant::now() }
    }

    /// The next message.
    ///
    /// # Errors
    /// Why there are no more.
    pub async fn next(&mut self) -> Result<Value, LocalizedText> {
        let length = self.header().await?;
        self.count(length)?;
        let mut body = vec![0; length];
        self.inner.read_exact(&mut body).await.map_err(|_| LocalizedText::from(phrases::ENDED))?;
        serde_json::from_slice(&body).map_err(|_| phrases::UNREADABLE.into())
    }

    /// The length that a header names.
    async fn header(&mut self) -> Result<usize, LocalizedText> {
        let mut length = None;
        loop {
            let mut line = String::new();
            let mut limited = (&mut self.inner).take(MAX_HEADER);
            let read = limited.read_line(&mut line).await;
            match read {
                Ok(1..) if line.ends_with('\n') => {}
                Ok(0) | Err(_) => return Err(phrases::ENDED.into()),
                Ok(_) => return Err(phrases::UNREADABLE.into()),
            }
            self.count(line.len())?;
            let line = line.trim_end();
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            } else if line.is_empty() {
                let length = length.ok_or_else(|| LocalizedText::from(phrases::UNREADABLE))?;
                return if length > MAX_MESSAGE { Err(flooded()) } else { Ok(length) };
            }
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), LocalizedText> {
        let now = Instant::now();
        let earned = now.duration_since(self.since).as_secs_f64() * BYTES_PER_SECOND;
        self.allowance = (self.allowance + earned).min(MAX_FLOOD) - bytes as f64;
        self.since = now;
        if self.allowance < 0.0 { Err(flooded()) } else { Ok(()) }
    }
}

fn flooded() -> LocalizedText {
    phrases::FLOODED.into()
}

/// A message as it is sent.
pub(crate) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
