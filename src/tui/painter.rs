//! Highlights code on a thread of its own. Idle until code is in view; the syntaxes are loaded
//! there, for the first piece, never before a frame.

use tokio::task::JoinHandle;

use super::Millis;
use super::transcript::{Highlighter, Painted, Snippet, Transcript};

/// Growing code is requested again at most this often.
const PAUSE: Millis = 250;

#[derive(Debug, Default)]
pub struct Painter {
    work: Option<JoinHandle<(Box<Highlighter>, Painted)>>,
    /// Kept between two pieces, since loading the syntaxes is slow.
    highlighter: Option<Box<Highlighter>>,
    /// When the last piece was requested.
    asked: Option<Millis>,
    /// True when a piece waits for its time.
    waiting: bool,
}

impl Painter {
    /// Requests the next piece, if it is time for one.
    pub fn look(&mut self, transcript: &Transcript, now: Millis) {
        self.waiting = false;
        if self.work.is_some() {
            return;
        }
        let Some(snippet) = transcript.uncoloured() else { return };
        if self.asked.is_some_and(|asked| now < asked + PAUSE) {
            self.waiting = true;
            return;
        }
        self.asked = Some(now);
        let highlighter = self.highlighter.take();
        self.work = Some(tokio::task::spawn_blocking(move || paint(highlighter, &snippet)));
    }

    /// When to look again even if no event comes.
    pub fn wakes_at(&self) -> Option<Millis> {
        self.asked.filter(|_| self.waiting).map(|asked| asked + PAUSE)
    }

    /// The colours of a piece; waits for ever while there is none.
    pub async fn painted(&mut self) -> Option<Painted> {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let done = work.await;
        self.work = None;
        // A piece that cannot be highlighted stays plain.
        let (highlighter, painted) = done.ok()?;
        self.highlighter = Some(highlighter);
        Some(painted)
    }
}

fn paint(highlighter: Option<Box<Highlighter>>, snippet: &Snippet) -> (Box<Highlighter>, Painted) {
    let highlighter = highlighter.unwrap_or_default();
    let painted = highlighter.paint(snippet);
    (highlighter, painted)
}
