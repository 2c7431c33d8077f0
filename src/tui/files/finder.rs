//! Finds files on a thread while a mention is typed: walks the folder, matches the names, reports
//! the best as soon as there are any. It ends, wherever it is, when the list closes.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc as news;

use super::sieve::{FileMatcher, FileMatches, MatchCoverage};
use crate::tools::walk;
use crate::tui::Millis;

/// Names that are read in all.
const MOST: usize = 200_000;
/// Names between two checks for a new query.
const STRIDE: usize = 512;
/// How often results so far are reported.
const TELL: Duration = Duration::from_millis(40);
/// How long a frame may wait for the first names.
const HOLD: Millis = 12;

#[derive(Debug, Default)]
pub struct Finder {
    work: Option<Work>,
    /// The frame that opens the list waits until this time, or until there are names.
    hold: Option<Millis>,
}

#[derive(Debug)]
struct Work {
    query: String,
    asks: mpsc::Sender<String>,
    found: news::Receiver<FileMatches>,
}

impl Finder {
    /// Searches for the current query in the folder `root`.
    pub fn look(&mut self, wanted: Option<&str>, root: &str, now: Millis) {
        let Some(wanted) = wanted else {
            *self = Finder::default();
            return;
        };
        match &mut self.work {
            Some(work) if work.query == wanted => {}
            Some(work) => {
                wanted.clone_into(&mut work.query);
                let _ = work.asks.send(wanted.to_owned());
            }
            None => {
                self.work = start(wanted.to_owned(), PathBuf::from(root));
                self.hold = Some(now + HOLD);
            }
        }
    }

    /// Until when the next frame should wait.
    pub fn holds_until(&self) -> Option<Millis> {
        self.hold
    }

    /// The next results; waits for ever while no search runs.
    pub async fn found(&mut self) -> Option<FileMatches> {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let found = work.found.recv().await;
        self.hold = None;
        if found.is_none() {
            // The thread is gone: do not wait for it any more.
            self.work = None;
        }
        found
    }
}

fn start(query: String, root: PathBuf) -> Option<Work> {
    let (asks, asked) = mpsc::channel();
    let (tell, found) = news::channel(2);
    let first = query.clone();
    let work = move || SearchJob::new(first, asked, tell).run(&root);
    thread::Builder::new().name("files".into()).spawn(work).ok()?;
    Some(Work { query, asks, found })
}

/// One walk, and its query.
struct SearchJob {
    asked: mpsc::Receiver<String>,
    tell: news::Sender<FileMatches>,
    sieve: FileMatcher,
    names: Vec<String>,
    reach: MatchCoverage,
    /// When results for this query were last reported.
    told: Option<Instant>,
}

/// The list was closed.
struct Gone;

impl SearchJob {
    fn new(
        query: String,
        asked: mpsc::Receiver<String>,
        tell: news::Sender<FileMatches>,
    ) -> SearchJob {
        let (sieve, names) = (FileMatcher::new(query), Vec::new());
        SearchJob { asked, tell, sieve, names, reach: MatchCoverage::Looking, told: None }
    }

    /// Ends with the mention.
    fn run(mut self, root: &Path) {
        let mut walk = walk::names(root);
        while self.stride(&mut walk).is_ok() {}
    }

    fn stride(&mut self, walk: &mut impl Iterator<Item = String>) -> Result<(), Gone> {
        self.hear()?;
        if self.sieve.seen() < self.names.len() {
            self.sieve.look(&self.names, STRIDE);
        } else if self.reach == MatchCoverage::Looking {
            self.walk_on(walk)?;
        }
        let all = self.sieve.seen() == self.names.len() && self.reach != MatchCoverage::Looking;
        let due = match self.told {
            None => self.sieve.seen() > 0,
            Some(told) => told.elapsed() >= TELL,
        };
        if all || due {
            self.tell()?;
        }
        if all { self.wait() } else { Ok(()) }
    }

    /// Reads a few more names; fewer at first, so that something is shown at once.
    fn walk_on(&mut self, walk: &mut impl Iterator<Item = String>) -> Result<(), Gone> {
        let most = if self.told.is_none() { STRIDE / 8 } else { STRIDE };
        let began = Instant::now();
        for _ in 0..most {
            match walk.next() {
                None => self.reach = MatchCoverage::Whole,
                Some(_) if self.names.len() >= MOST => self.reach = MatchCoverage::Cut,
                Some(name) => self.names.push(name),
            }
            if self.reach != MatchCoverage::Looking || began.elapsed() >= TELL {
                break;
            }
        }
        self.sieve.look(&self.names, STRIDE);
        if self.tell.is_closed() { Err(Gone) } else { Ok(()) }
    }

    /// Takes a new query, if there is one.
    fn hear(&mut self) -> Result<(), Gone> {
        loop {
            match self.asked.try_recv() {
                Ok(query) => self.turn_to(query),
                Err(mpsc::TryRecvError::Empty) => return Ok(()),
                Err(mpsc::TryRecvError::Disconnected) => return Err(Gone),
            }
        }
    }

    fn wait(&mut self) -> Result<(), Gone> {
        let query = self.asked.recv().map_err(|_| Gone)?;
        self.turn_to(query);
        Ok(())
    }

    fn turn_to(&mut self, query: String) {
        self.sieve = FileMatcher::new(query);
        self.told = None;
    }

    fn tell(&mut self) -> Result<(), Gone> {
        self.told = Some(Instant::now());
        let found = self.sieve.found(&self.names, self.reach);
        self.tell.blocking_send(found).map_err(|_| Gone)
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
            let found = finder.found().await.expect("the finder lives");
            if found.query == query && found.reach == MatchCoverage::Whole {
                return found.hits.into_iter().map(|hit| hit.path).collect();
            }
        }
    }

    #[tokio::test]
    async fn names_are_reported_and_another_query_reuses_them() {
        let root = tree();
        let path = root.path().to_string_lossy().into_owned();
        let mut finder = Finder::default();
        finder.look(Some(""), &path, 0);
        assert_eq!(finder.holds_until(), Some(HOLD));
        assert_eq!(all(&mut finder, "").await, ["README.md", "src/", "src/lib.rs", "src/main.rs"]);
        assert_eq!(finder.holds_until(), None);
        finder.look(Some("main"), &path, 1);
        assert_eq!(all(&mut finder, "main").await, ["src/main.rs"]);
    }

    #[tokio::test]
    async fn the_thread_ends_when_its_requests_are_dropped() {
        let root = tree();
        let mut finder = Finder::default();
        finder.look(Some(""), &root.path().to_string_lossy(), 0);
        let tell = finder.work.take().map(|work| work.found);
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
        while errand.reach == MatchCoverage::Looking {
            assert!(errand.hear().and_then(|()| errand.walk_on(&mut walk)).is_ok());
        }
        assert_eq!((errand.reach, errand.names.len()), (MatchCoverage::Cut, MOST));
        assert!(errand.tell().is_ok());
        assert_eq!(found.try_recv().map(|found| found.reach), Ok(MatchCoverage::Cut));
        drop(found);
        assert!(errand.walk_on(&mut walk).is_err(), "closed");
    }
}
