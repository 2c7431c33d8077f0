//! Keeps what must outlive the screen, on a thread of its own: each line as it is sent,
//! and at the end what stood in the input.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::config::draft::{self, Draft};
use crate::config::history::History;

/// How long the last words may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where to keep what; `None`: it is not kept.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub history: Option<PathBuf>,
    pub draft: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Clerk {
    desk: Sender<Paper>,
    done: oneshot::Receiver<()>,
}

#[derive(Debug)]
enum Paper {
    Line(String),
    Draft(Draft),
}

impl Clerk {
    /// `offered` is the draft that the input began with.
    pub fn start(files: Files, offered: Draft) -> Clerk {
        let (desk, papers) = channel();
        let (over, done) = oneshot::channel();
        let work = move || {
            file_away(&files, &offered, &papers);
            // Nobody may be waiting any more.
            let _ = over.send(());
        };
        // Without a thread nothing is kept: a pity, not a fault to stop for.
        let _ = thread::Builder::new().name("clerk".into()).spawn(work);
        Clerk { desk, done }
    }

    /// A line that was sent.
    pub fn line(&self, line: String) {
        let _ = self.desk.send(Paper::Line(line));
    }

    /// The last paper. Waits until all is written, for a moment at most.
    pub async fn close(self, draft: Draft) {
        let _ = self.desk.send(Paper::Draft(draft));
        drop(self.desk);
        let _ = timeout(FAREWELL, self.done).await;
    }
}

fn file_away(files: &Files, offered: &Draft, papers: &Receiver<Paper>) {
    let mut history = None;
    for paper in papers {
        let written = match (paper, &files.history, &files.draft) {
            (Paper::Line(line), Some(file), _) => {
                history.get_or_insert_with(|| History::open(file.clone())).add(&line)
            }
            (Paper::Draft(draft), _, Some(file)) => draft::keep(file, offered, &draft),
            (Paper::Line(_), None, _) | (Paper::Draft(_), _, None) => Ok(()),
        };
        if let Err(error) = written {
            tracing::warn!("not kept: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_handed_in_is_written_when_the_clerk_closes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (history, kept) = (folder.path().join("history"), folder.path().join("d.json"));
        let files = Files { history: Some(history.clone()), draft: Some(kept.clone()) };
        let clerk = Clerk::start(files, Draft::default());
        clerk.line("一".into());
        clerk.line("two".into());
        clerk.close(Draft::of("half a")).await;
        assert_eq!(History::open(history).entries(), ["一", "two"]);
        assert_eq!(draft::read(&kept), Draft::of("half a"));
    }

    #[tokio::test]
    async fn without_files_nothing_is_kept_and_nothing_fails() {
        let clerk = Clerk::start(Files::default(), Draft::default());
        clerk.line("one".into());
        clerk.close(Draft::of("half")).await;
    }
}
