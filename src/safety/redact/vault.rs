//! Keeps the masks of a session: each value has one mask, and each mask one value.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use sha2::{Digest, Sha256};

use super::encodings;

/// How a mask begins.
pub(super) const MARK: &str = "‹secret:";
/// How masks began in sessions of older versions.
pub(super) const OLD_MARK: &str = "‹redacted:";

/// All values that are remembered, in bytes. What comes later is masked for good.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Values that are masked wherever they appear.
const LEARNED: usize = 2_000;
/// Of them, those that are known in their encodings too.
const ENCODED: usize = 250;
/// Digits of a tag, unless another value has the same.
const DIGITS: usize = 4;
/// The longest mask, in bytes.
const MAX_LENGTH: usize = 160;
/// The longest name in one, in bytes: beside it there is room for the longest tag.
const MAX_NAME: usize = 64;

/// The values are in memory and nowhere else.
#[derive(Default)]
pub(super) struct Vault(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    tags: HashMap<Arc<str>, String>,
    /// The owner of a tag.
    owners: HashMap<String, Arc<str>>,
    masks: HashMap<String, Arc<str>>,
    bytes: usize,
    learned: Vec<Arc<str>>,
    /// Encodings of values that are not masked themselves wherever they appear.
    encodings: BTreeSet<String>,
    /// Of both; `None`: there are none, or it is not built yet.
    matcher: Option<Arc<AhoCorasick>>,
}

impl Vault {
    /// The mask for a value from now on.
    pub fn mask(&self, kind: &str, value: &str, salt: &[u8]) -> String {
        let mut inner = self.lock();
        let tag = match inner.tags.get(value) {
            Some(tag) => tag.clone(),
            None => inner.assign_tag(value, salt),
        };
        let mask = format!("{MARK}{} #{tag}›", mask_name(kind));
        if let Some(value) = inner.owners.get(&tag).filter(|owner| ***owner == *value).cloned() {
            inner.masks.entry(mask.clone()).or_insert(value);
        }
        mask
    }

    /// The value of a mask.
    pub fn value(&self, mask: &str) -> Option<Arc<str>> {
        self.lock().masks.get(mask).cloned()
    }

    /// Masks these values wherever they appear from now on. True: one is new.
    pub fn learn<'t>(&self, values: impl Iterator<Item = &'t str>) -> bool {
        let mut inner = self.lock();
        let before = inner.learned.len();
        for value in values {
            let full = inner.learned.len() >= LEARNED;
            if !full && !inner.learned.iter().any(|known| **known == *value) {
                inner.learned.push(value.into());
                inner.matcher = None;
            }
        }
        inner.learned.len() > before
    }

    /// Masks these encodings of values wherever they appear from now on.
    pub fn learn_encodings(&self, encodings: impl Iterator<Item = String>) {
        let mut inner = self.lock();
        for form in encodings {
            if inner.encodings.len() < LEARNED && inner.encodings.insert(form) {
                inner.matcher = None;
            }
        }
    }

    /// The values, and the encodings of others, that are masked wherever they appear.
    pub fn learned(&self) -> (Vec<String>, Vec<String>) {
        let inner = self.lock();
        let values = inner.learned.iter().map(|value| (**value).to_owned());
        (values.collect(), inner.encodings.iter().cloned().collect())
    }

    /// How many values are masked wherever they appear.
    pub fn learned_count(&self) -> usize {
        let inner = self.lock();
        inner.learned.len() + inner.encodings.len()
    }

    /// The search for the learned values; `None`: there are none.
    pub fn matcher(&self) -> Option<Arc<AhoCorasick>> {
        let mut inner = self.lock();
        if inner.learned.is_empty() && inner.encodings.is_empty() {
            return None;
        }
        if inner.matcher.is_none() {
            let (first, rest) = inner.learned.split_at(inner.learned.len().min(ENCODED));
            let encoded = first.iter().flat_map(|value| encodings::forms(value));
            let rest = rest.iter().map(|value| (**value).to_owned());
            let mut longest_first: Vec<String> =
                encoded.chain(rest).chain(inner.encodings.iter().cloned()).collect();
            longest_first.sort_by_key(|value| std::cmp::Reverse(value.len()));
            // Built again with each new value: quick to build counts more than quick to search.
            let search = AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .match_kind(MatchKind::LeftmostFirst)
                .build(longest_first);
            inner.matcher = search.ok().map(Arc::new);
        }
        inner.matcher.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Every change of it is whole, so what another thread left is sound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Gives a value its tag; remembers both while there is room.
    fn assign_tag(&mut self, value: &str, salt: &[u8]) -> String {
        let mut hash = Sha256::new();
        hash.update(salt);
        hash.update(value.as_bytes());
        let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let lengths = (DIGITS..=hash.len()).step_by(2);
        let tags = lengths.filter_map(|len| hash.get(..len));
        let tag = tags.into_iter().find(|tag| !self.owners.contains_key(*tag));
        let tag = tag.unwrap_or(&hash).to_owned();
        if self.bytes + value.len() <= MAX_BYTES {
            self.bytes += value.len();
            let value: Arc<str> = value.into();
            self.owners.insert(tag.clone(), Arc::clone(&value));
            self.tags.insert(value, tag.clone());
        }
        tag
    }
}

/// The positions of masks in a text: `‹secret:KIND #TAG›`, also of masks that no session
/// issued.
pub(super) fn masks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let at = from + rest.find('‹')?;
            let rest = text.get(at..)?;
            from = at + '‹'.len_utf8();
            let inner = rest.strip_prefix(MARK).or_else(|| rest.strip_prefix(OLD_MARK));
            let Some(inner) = inner else { continue };
            let begun = rest.len() - inner.len();
            let end = inner.find(|c: char| !is_name_char(c));
            let Some(end) = end.filter(|end| *end > 0 && begun + end < MAX_LENGTH) else {
                continue;
            };
            if inner.get(end..).is_some_and(|rest| rest.starts_with('›')) {
                let end = at + begun + end + '›'.len_utf8();
                from = end;
                return Some(at..end);
            }
        }
    })
}

/// The name of a mask, in letters and at a length by which it is known again: some
/// variables are called `npm_config_//registry.npmjs.org/:_authToken`.
fn mask_name(kind: &str) -> Cow<'_, str> {
    if kind.len() <= MAX_NAME && kind.chars().all(is_name_char) {
        return kind.into();
    }
    let mut name = String::new();
    for c in kind.chars().map(|c| if is_name_char(c) { c } else { '_' }) {
        if name.len() + c.len_utf8() > MAX_NAME {
            break;
        }
        name.push(c);
    }
    name.into()
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.# ".contains(c)
}
