//! Finds files on a thread while a mention is typed: walks the folder, matches the names, reports
//! the best as soon as there are any. It ends, wherever it is, when the list closes.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc as news;

use super::matcher::{FileMatcher, FileMatches, MatchCoverage};
use crate::Millis;
use avocet_tools::walk;

/// Names that are read in all.
const MAX_NAMES: usize = 200_000;
/// Names between two checks for a new query.
const STRIDE: usize = 512;
/// How often results so far are reported.
const TELL: Duration = Duration::from_millis(40);
/// How long a frame may wait for the first names.
const HOLD: Millis = 12;

#[derive(Debug, Default)]
pub struct Finder {
    search: Option<RunningSearch>,
    /// The frame that opens the list waits until this time, or until there are names.
    hold_until: Option<Millis>,
}

#[derive(Debug)]
struct RunningSearch {
    query: String,
    queries: mpsc::Sender<String>,
    matches: news::Receiver<FileMatches>,
}

impl Finder {
    /// Searches for the current query in the folder `root`.
    pub fn set_query(&mut self, wanted: Option<&str>, root: &str, now: Millis) {
        let Some(wanted) = wanted else {
            *self = Finder::default();
            return;
        };
        match &mut self.search {
            Some(work) if work.query == wanted => {}
            Some(work) => {
                wanted.clone_into(&mut work.query);
                let _ = work.queries.send(wanted.to_owned());
            }
            None => {
                self.search = start(wanted.to_owned(), PathBuf::from(root));
                self.hold_until = Some(now + HOLD);
            }
        }
    }

    /// Until when the next frame should wait.
    pub fn frame_hold(&self) -> Option<Millis> {
        self.hold_until
    }

    /// The next results; waits for ever while no search runs.
    pub async fn next_matches(&mut self) -> Option<FileMatches> {
        let Some(work) = &mut self.search else { return std::future::pending().await };
        let found = work.matches.recv().await;
        self.hold_until = None;
        if found.is_none() {
            // The thread is gone: do not wait for it any more.
            self.search = None;
        }
        found
    }
}

fn start(query: String, root: PathBuf) -> Option<RunningSearch> {
    let (asks, asked) = mpsc::channel();
    let (tell, found) = news::channel(2);
    let first = query.clone();
    let work = move || SearchJob::new(first, asked, tell).run(&root);
    thread::Builder::new().name("files".into()).spawn(work).ok()?;
    Some(RunningSearch { query, queries: asks, matches: found })
}

/// One walk, and its query.
struct SearchJob {
    queries: mpsc::Receiver<String>,
    results: news::Sender<FileMatches>,
    matcher: FileMatcher,
    names: Vec<String>,
    coverage: MatchCoverage,
    /// When results for this query were last reported.
    last_report: Option<Instant>,
}

/// The list was closed.
struct ListClosed;

impl SearchJob {
    fn new(
        query: String,
        asked: mpsc::Receiver<String>,
        sender: news::Sender<FileMatches>,
    ) -> SearchJob {
        let sieve = FileMatcher::new(query);
        let names = Vec::new();

        SearchJob {
            queries: asked,
            results: sender,
            matcher: sieve,
            names,
            coverage: MatchCoverage::Searching,
            last_report: None,
        }
    }

    /// Ends with the mention.
    fn run(mut self, root: &Path) {
        let mut walk = walk::names(root);
        while self.run_slice(&mut walk).is_ok() {}
    }

    fn run_slice(&mut self, walk: &mut impl Iterator<Item = String>) -> Result<(), ListClosed> {
        self.poll_query()?;
        if self.matcher.names_read() < self.names.len() {
            self.matcher.match_next(&self.names, STRIDE);
        } else if self.coverage == MatchCoverage::Searching {
            self.read_names(walk)?;
        }
        let all = self.matcher.names_read() == self.names.len()
            && self.coverage != MatchCoverage::Searching;
        let due = match self.last_report {
            None => self.matcher.names_read() > 0,
            Some(told) => told.elapsed() >= TELL,
        };
        if all || due {
            self.report()?;
        }
        if all { self.wait() } else { Ok(()) }
    }

    /// Reads a few more names; fewer at first, so that something is shown at once.
    fn read_names(&mut self, walk: &mut impl Iterator<Item = String>) -> Result<(), ListClosed> {
        let most = if self.last_report.is_none() { STRIDE / 8 } else { STRIDE };
        let began = Instant::now();
        for _ in 0..most {
            match walk.next() {
                None => self.coverage = MatchCoverage::Complete,
                Some(_) if self.names.len() >= MAX_NAMES => {
                    self.coverage = MatchCoverage::Truncated
                }
                Some(name) => self.names.push(name),
            }
            if self.coverage != MatchCoverage::Searching || began.elapsed() >= TELL {
                break;
            }
        }
        self.matcher.match_next(&self.names, STRIDE);
        if self.results.is_closed() { Err(ListClosed) } else { Ok(()) }
    }

    /// Takes a new query, if there is one.
    fn poll_query(&mut self) -> Result<(), ListClosed> {
        loop {
            match self.queries.try_recv() {
                Ok(query) => self.start_query(query),
                Err(mpsc::TryRecvError::Empty) => return Ok(()),
                Err(mpsc::TryRecvError::Disconnected) => return Err(ListClosed),
            }
        }
    }

    fn wait(&mut self) -> Result<(), ListClosed> {
        let query = self.queries.recv().map_err(|_| ListClosed)?;
        self.start_query(query);
        Ok(())
    }

    fn start_query(&mut self, query: String) {
        self.matcher = FileMatcher::new(query);
        self.last_report = None;
    }

    fn report(&mut self) -> Result<(), ListClosed> {
        self.last_report = Some(Instant::now());
        let found = self.matcher.matches(&self.names, self.coverage);
        self.results.blocking_send(found).map_err(|_| ListClosed)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("src")).expect("a folder");
        for name in ["README.md", "src/lib.rs", "src/main.rs"] {
            fs::write(root.path().join(name), "").expect("a file");
        }
        root
    }

    async fn all(finder: &mut Finder, query: &str) -> Vec<String> {
        loop {
            let found = finder.next_matches().await.expect("the finder lives");
            if found.query == query && found.coverage == MatchCoverage::Complete {
                return found.hits.into_iter().map(|hit| hit.path).collect();
            }
        }
    }

    #[tokio::test]
    async fn names_are_reported_and_another_query_reuses_them() {
        let root = tree();
        let path = root.path().to_string_lossy().into_owned();
        let mut finder = Finder::default();
        finder.set_query(Some(""), &path, 0);
        assert_eq!(finder.frame_hold(), Some(HOLD));
        assert_eq!(all(&mut finder, "").await, ["README.md", "src/", "src/lib.rs", "src/main.rs"]);
        assert_eq!(finder.frame_hold(), None);
        finder.set_query(Some("main"), &path, 1);
        assert_eq!(all(&mut finder, "main").await, ["src/main.rs"]);
    }

    #[tokio::test]
    async fn the_thread_ends_when_its_requests_are_dropped() {
        let root = tree();
        let mut finder = Finder::default();
        finder.set_query(Some(""), &root.path().to_string_lossy(), 0);
        let tell = finder.search.take().map(|work| work.matches);
        let mut found = tell.expect("it works");
        // The requests are dropped: results already sent still arrive, then the end.
        while found.recv().await.is_some() {}
    }

    #[test]
    fn an_endless_tree_is_left_at_the_limit() {
        let (asks, asked) = mpsc::channel();
        let (tell, mut found) = news::channel(100);
        let mut errand = SearchJob::new(String::new(), asked, tell);
        let mut walk = (0..).map(|n| format!("f{n}"));
        asks.send("f".into()).expect("asked");
        while errand.coverage == MatchCoverage::Searching {
            assert!(errand.poll_query().and_then(|()| errand.read_names(&mut walk)).is_ok());
        }
        assert_eq!((errand.coverage, errand.names.len()), (MatchCoverage::Truncated, MAX_NAMES));
        assert!(errand.report().is_ok());
        assert_eq!(found.try_recv().map(|found| found.coverage), Ok(MatchCoverage::Truncated));
        drop(found);
        assert!(errand.read_names(&mut walk).is_err(), "closed");
    }
}
