//! Encodes pictures on a thread of its own, one at a time.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::encode::{EncodeResult, EncodedPicture, PictureRequest};
use super::graphics::GraphicsReply;
use super::size::CellSize;

/// An event for the screen: an answer of the terminal about graphics, or a result of the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum PictureEvent {
    /// The terminal answered; with the size of a cell as the system knows it.
    Reply(GraphicsReply, Option<CellSize>),
    /// An image was encoded, or not.
    Encoded(EncodeResult),
}

#[derive(Debug, Default)]
pub struct PictureWorker {
    work: Option<(EncodeResult, JoinHandle<Option<EncodedPicture>>)>,
}

impl PictureWorker {
    /// Begins with the next request, unless there is still work.
    pub fn request_next(&mut self, next: impl FnOnce() -> Option<PictureRequest>) {
        if self.work.is_some() {
            return;
        }
        let Some(PictureRequest { source, image, size, protocol, id }) = next() else { return };
        let result = EncodeResult { source, protocol, picture: None };
        let work = move || EncodedPicture::new(&image, size, protocol, id);
        self.work = Some((result, tokio::task::spawn_blocking(work)));
    }

    /// The next result; waits for ever while there is none.
    pub async fn next_result(&mut self) -> PictureEvent {
        let Some((_, work)) = &mut self.work else { return std::future::pending().await };
        let picture = work.await.ok().flatten().map(Arc::new);
        match self.work.take() {
            Some((result, _)) => PictureEvent::Encoded(EncodeResult { picture, ..result }),
            None => std::future::pending().await,
        }
    }
}
