//! Matches names against the query, and keeps the best of them.

use std::cmp::Reverse;

use crate::fuzzy_list::FuzzyMatcher;

/// Matching names that are kept.
const MAX_MATCHES: usize = 100;

/// The best names for a query: plain data for the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileMatches {
    pub query: String,
    /// The best ones, best first.
    pub hits: Vec<FileMatch>,
    /// The number of names that match.
    pub match_count: usize,
    /// The number of names that were read.
    pub names_read: usize,
    pub coverage: MatchCoverage,
}

/// Whether there may be more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchCoverage {
    #[default]
    Searching,
    Complete,
    /// There are more names than are read.
    Truncated,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatch {
    pub path: String,
    /// Characters of the path that were typed.
    pub positions: Vec<u32>,
}

/// How well a name matches, best first.
type Rank = (Reverse<u32>, usize);

pub struct FileMatcher {
    query: String,
    fuzzy: FuzzyMatcher,
    /// The best, best first, by their index among the names.
    best: Vec<(Rank, usize)>,
    match_count: usize,
    names_read: usize,
}

impl FileMatcher {
    pub fn new(query: String) -> FileMatcher {
        let fuzzy = FuzzyMatcher::for_paths(&query);
        FileMatcher { query, fuzzy, best: Vec::new(), match_count: 0, names_read: 0 }
    }

    /// The number of names it has read.
    pub fn names_read(&self) -> usize {
        self.names_read
    }

    /// Reads the next `count` names.
    pub fn match_next(&mut self, names: &[String], count: usize) {
        for (at, name) in names.iter().enumerate().skip(self.names_read).take(count) {
            self.names_read += 1;
            let Some(score) = self.fuzzy.score(name) else { continue };
            self.match_count += 1;
            self.insert((Reverse(score), weight(&self.query, name)), at, names);
        }
    }

    fn insert(&mut self, rank: Rank, at: usize, names: &[String]) {
        let order = |(other, place): &(Rank, usize)| {
            other.cmp(&rank).then_with(|| names.get(*place).cmp(&names.get(at)))
        };
        let place = self.best.binary_search_by(order).unwrap_or_else(|place| place);
        if place < MAX_MATCHES {
            self.best.truncate(MAX_MATCHES - 1);
            self.best.insert(place.min(self.best.len()), (rank, at));
        }
    }

    /// The results so far.
    pub fn matches(&mut self, names: &[String], coverage: MatchCoverage) -> FileMatches {
        let matches: Vec<FileMatch> = self
            .best
            .iter()
            .filter_map(|(_, at)| names.get(*at))
            .map(|name| FileMatch {
                positions: self.fuzzy.positions(name).unwrap_or_default().1,
                path: name.clone(),
            })
            .collect();
        FileMatches {
            query: self.query.clone(),
            hits: matches,
            match_count: self.match_count,
            names_read: self.names_read,
            coverage,
        }
    }
}

impl FileMatches {
    /// Adds names that are no files: those that begin with the query come first, the others last.
    pub fn add_names(&mut self, names: &[String]) {
        let mut fuzzy = FuzzyMatcher::for_paths(&self.query);
        let matching = names.iter().filter_map(|name| {
            let (_, positions) = fuzzy.positions(name)?;
            Some(FileMatch { path: name.clone(), positions })
        });
        let (first, last): (Vec<FileMatch>, Vec<FileMatch>) = matching
            .take(MAX_MATCHES)
            .partition(|hit| !self.query.is_empty() && hit.path.starts_with(&self.query));
        self.match_count += first.len() + last.len();
        self.names_read += names.len();
        self.hits.splice(0..0, first);
        self.hits.extend(last);
    }

    /// Filters and sorts the results by a query typed since.
    pub fn narrow(&mut self, query: &str) {
        let mut fuzzy = FuzzyMatcher::for_paths(query);
        let mut kept: Vec<(Rank, FileMatch)> = std::mem::take(&mut self.hits)
            .into_iter()
            .filter_map(|hit| {
                let (score, positions) = fuzzy.positions(&hit.path)?;
                let rank = (Reverse(score), weight(query, &hit.path));
                Some((rank, FileMatch { positions, ..hit }))
            })
            .collect();
        kept.sort_by(|(one, a), (other, b)| one.cmp(other).then_with(|| a.path.cmp(&b.path)));
        self.hits = kept.into_iter().map(|(_, hit)| hit).collect();
        self.match_count = self.hits.len();
        self.query = query.to_owned();
        self.coverage = MatchCoverage::Searching;
    }
}

/// Of names that match equally well, short ones come first; with an empty query, near ones.
fn weight(query: &str, name: &str) -> usize {
    if query.is_empty() { name.trim_end_matches('/').matches('/').count() } else { name.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut sieve = FileMatcher::new(query.into());
        sieve.match_next(&names, usize::MAX);
        sieve
            .matches(&names, MatchCoverage::Complete)
            .hits
            .into_iter()
            .map(|hit| hit.path)
            .collect()
    }

    #[test]
    fn the_best_match_comes_first() {
        let names = ["docs/library.md", "src/tui/lib.rs", "src/lib.rs", "Cargo.toml"];
        assert_eq!(found("lib.rs", &names), ["src/lib.rs", "src/tui/lib.rs"]);
        assert_eq!(found("srclib", &names), ["src/lib.rs", "src/tui/lib.rs"]);
        assert_eq!(found("说明", &["docs/说明.md", "README.md"]), ["docs/说明.md"]);
    }

    #[test]
    fn a_name_that_is_no_file_comes_first_once_its_beginning_is_typed() {
        let resources = ["notes:a://main".to_owned()];
        let found = |query: &str| {
            let mut matcher = FileMatcher::new(query.into());
            let files = ["src/main.rs".to_owned(), "notes.md".to_owned()];
            matcher.match_next(&files, usize::MAX);
            let mut matches = matcher.matches(&files, MatchCoverage::Complete);
            matches.add_names(&resources);
            matches.hits.into_iter().map(|hit| hit.path).collect::<Vec<_>>()
        };
        assert_eq!(found("main"), ["src/main.rs", "notes:a://main"]);
        assert_eq!(found("notes"), ["notes:a://main", "notes.md"]);
        assert_eq!(found("zz"), Vec::<String>::new());
    }

    #[test]
    fn with_an_empty_query_near_names_come_first() {
        assert_eq!(found("", &["b/c/d", "b/", "b/c", "a"]), ["a", "b/", "b/c", "b/c/d"]);
    }

    #[test]
    fn of_many_matches_the_best_are_kept() {
        let names: Vec<String> = (0..1_000).rev().map(|n| format!("file{n:04}")).collect();
        let mut sieve = FileMatcher::new("file".into());
        while sieve.names_read() < names.len() {
            sieve.match_next(&names, 7);
        }
        let found = sieve.matches(&names, MatchCoverage::Complete);
        assert_eq!((found.match_count, found.hits.len()), (1_000, MAX_MATCHES));
        assert_eq!(found.hits.first().map(|hit| hit.path.as_str()), Some("file0000"));
        assert_eq!(found.hits.last().map(|hit| hit.path.as_str()), Some("file0099"));
    }

    #[test]
    fn the_typed_letters_are_marked() {
        let names = ["中/lib.rs".to_owned()];
        let mut sieve = FileMatcher::new("lib".into());
        sieve.match_next(&names, 1);
        let hits = sieve.matches(&names, MatchCoverage::Complete).hits;
        assert_eq!(hits.first().map(|hit| hit.positions.clone()), Some(vec![2, 3, 4]));
    }
}
