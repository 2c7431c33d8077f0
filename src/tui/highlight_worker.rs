//! Highlights code on a thread of its own. Idle until code is in view; the syntaxes are loaded
//! there, for the first piece, never before a frame.

use tokio::task::JoinHandle;

use super::Millis;
use super::state::State;
use super::transcript::{HighlightedCode, Highlighter, Snippet};

/// Growing code is requested again at most this often.
const PAUSE: Millis = 250;

#[derive(Debug, Default)]
pub struct HighlightWorker {
    work: Option<JoinHandle<(Box<Highlighter>, HighlightedCode)>>,
    /// Kept between two pieces, since loading the syntaxes is slow.
    highlighter: Option<Box<Highlighter>>,
    /// When the last piece was requested.
    last_request: Option<Millis>,
    /// True when a piece waits for its time.
    is_waiting: bool,
}

impl HighlightWorker {
    /// Requests the next piece, if it is time for one.
    pub fn request_next(&mut self, state: &State, now: Millis) {
        self.is_waiting = false;
        if self.work.is_some() {
            return;
        }
        let Some(snippet) = state.next_unhighlighted() else { return };
        if self.last_request.is_some_and(|asked| now < asked + PAUSE) {
            self.is_waiting = true;
            return;
        }
        self.last_request = Some(now);
        let highlighter = self.highlighter.take();
        self.work = Some(tokio::task::spawn_blocking(move || paint(highlighter, &snippet)));
    }

    /// When to look again even if no event comes.
    pub fn next_wakeup(&self) -> Option<Millis> {
        self.last_request.filter(|_| self.is_waiting).map(|asked| asked + PAUSE)
    }

    /// The colours of a piece; waits for ever while there is none.
    pub async fn next_result(&mut self) -> Option<HighlightedCode> {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let done = work.await;
        self.work = None;
        // A piece that cannot be highlighted stays plain.
        let (highlighter, painted) = done.ok()?;
        self.highlighter = Some(highlighter);
        Some(painted)
    }
}

fn paint(
    highlighter: Option<Box<Highlighter>>,
    snippet: &Snippet,
) -> (Box<Highlighter>, HighlightedCode) {
    let highlighter = highlighter.unwrap_or_default();
    let painted = highlighter.highlight(snippet);
    (highlighter, painted)
}
