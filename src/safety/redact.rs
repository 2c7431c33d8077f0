//! Masks secrets in text before it leaves the machine or is kept.
//!
//! Known values come first (keys of the settings, secrets of the environment), then
//! the shapes that tokens are known by. A mask names the kind and four hex digits of
//! a hash keyed for the session, so that two equal secrets can be seen to be equal:
//! `‹redacted:github-token #a1b2›`. Ordinary code must come through untouched, so the
//! loose shapes (`password = …`) are looked at twice.
//!
//! Not in here: where the secrets come from (`config`), and what may be shown at all
//! (`clean`).

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::protocol::Observation;

mod shapes;

use shapes::{Hint, Hit, SHAPES, Shape};

/// Shorter values are too likely to be ordinary words.
const SHORTEST: usize = 8;

/// How much of an unfinished line a [`Masking`] holds back, in bytes.
const WINDOW: usize = 4 * 1024;

/// The most a [`Masking`] ever holds back, in bytes; past it, it lets go.
const HELD_MOST: usize = 64 * 1024;

/// Values that stand in variables with secret-sounding names and are none.
const WORDS: &[&str] =
    &["disabled", "required", "optional", "password", "anonymous", "undefined", "changeme"];

/// Endings of variable names that hold a secret.
const SECRET_ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "COOKIE",
    "PRIVATE",
];

/// Last words of names that say where something lies, not what it is.
const PLACES: &[&str] = &["SOCK", "FILE", "PATH", "DIR", "HOME", "TTY", "URL", "HOST", "NAME"];

/// True when a variable of this name holds a secret (`OPENAI_API_KEY`, `DB_PASSWORD`;
/// not `SSH_AUTH_SOCK`, `GIT_AUTHOR_NAME`).
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(['_', '-', '.']);
    let place = words.next_back().is_some_and(|last| PLACES.contains(&last));
    !place
        && name
            .split(['_', '-', '.'])
            .any(|word| SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Knows the secrets of a session.
pub struct Redactor {
    /// Name and form, longest form first.
    values: Vec<(String, String)>,
    salt: [u8; 16],
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    /// All values in one, longer forms first; `None` without values.
    values: Option<AhoCorasick>,
    /// The words of all hints, in the order of `hints`.
    words: Option<AhoCorasick>,
    /// Each with the number of its shape.
    hints: Vec<(usize, Hint)>,
    /// Each is compiled when one of its hints was met: most never are.
    shapes: Vec<OnceLock<Option<Regex>>>,
}

impl Redactor {
    /// Takes the exact values, each with the name it is masked under.
    pub fn new<N: Into<String>, V: AsRef<str>>(
        secrets: impl IntoIterator<Item = (N, V)>,
        salt: [u8; 16],
    ) -> Redactor {
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in secrets {
            let (name, value) = (name.into(), value.as_ref().trim());
            if value.len() < SHORTEST || WORDS.contains(&value.to_ascii_lowercase().as_str()) {
                continue;
            }
            for form in forms(value) {
                if !values.iter().any(|(_, known)| *known == form) {
                    values.push((name.clone(), form));
                }
            }
        }
        values.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
        Redactor { values, salt, compiled: OnceLock::new() }
    }

    /// The text with its secrets replaced; borrowed when there were none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits = self.hits(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for hit in hits {
            out.push_str(text.get(at..hit.start).unwrap_or_default());
            let secret = text.get(hit.start..hit.end).unwrap_or_default();
            out.push_str(&self.stand_in(&hit.kind, secret));
            at = hit.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Masks every string inside a JSON value; keys stay.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|item| self.mask_value(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Masks what a step put out. What was proposed stays: it is the person's to read.
    pub fn mask_output(&self, observation: &mut Observation) {
        for text in [&mut observation.stdout, &mut observation.stderr] {
            if let Cow::Owned(masked) = self.mask(text) {
                *text = masked;
            }
        }
        if let Some(change) = &mut observation.change
            && let Cow::Owned(masked) = self.mask(&change.diff)
        {
            change.diff = masked;
        }
        if let Some(parsed) = &mut observation.parsed {
            parsed.items.iter_mut().for_each(|item| self.mask_value(item));
        }
    }

    /// Masks a text that comes in pieces.
    pub fn masking(self: &Arc<Self>) -> Masking {
        Masking { redactor: Arc::clone(self), held: String::new() }
    }

    /// What is to be masked, in order, without overlaps.
    fn hits(&self, text: &str) -> Vec<Hit> {
        let compiled = self.compiled.get_or_init(|| Compiled::new(&self.values));
        let mut hits = Vec::new();
        for found in compiled.values.iter().flat_map(|values| values.find_iter(text)) {
            let kind = self.values.get(found.pattern().as_usize());
            hits.push(Hit {
                kind: kind.map_or_else(|| "secret".into(), |(name, _)| name.clone()),
                from: found.start(),
                start: found.start(),
                end: found.end(),
            });
        }
        for (index, shape) in compiled.hinted(text) {
            if let Some(regex) = compiled.shape(index) {
                shapes::find(shape, regex, text, &mut hits);
            }
        }
        merged(hits)
    }

    fn stand_in(&self, kind: &str, secret: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(secret.as_bytes());
        let hash = hash.finalize();
        format!("{MARK}{kind} #{:02x}{:02x}›", hash[0], hash[1])
    }
}

/// `ſ` and the sign of Kelvin: small, they are an `s` and a `k`.
const FOLDED: [char; 2] = ['\u{17f}', '\u{212a}'];

/// How what stands for a secret begins.
const MARK: &str = "‹redacted:";

/// True for a text in which something stands for a secret.
pub fn is_masked(text: &str) -> bool {
    text.contains(MARK)
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl Compiled {
    fn new(values: &[(String, String)]) -> Compiled {
        let forms = values.iter().map(|(_, form)| form);
        let values = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(forms).ok();
        let hinted = |(index, shape): (usize, &'static Shape)| {
            shape.hints.iter().map(move |hint| (index, *hint))
        };
        let hints: Vec<(usize, Hint)> = SHAPES.iter().enumerate().flat_map(hinted).collect();
        // What is quick to build, not what is quickest to search: most runs mask little.
        let words = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(hints.iter().map(|(_, hint)| hint.word))
            .ok();
        Compiled {
            values: values.filter(|values| values.patterns_len() > 0),
            words,
            hints,
            shapes: SHAPES.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The shapes that may stand in the text, in the order of the table.
    fn hinted(&self, text: &str) -> impl Iterator<Item = (usize, &'static Shape)> {
        // Without the words nothing can be ruled out, nor where a letter that is not ASCII
        // counts as one that is.
        let all = self.words.is_none() || text.contains(FOLDED);
        let mut met = vec![all; SHAPES.len()];
        for found in self.words.iter().flat_map(|words| words.find_overlapping_iter(text)) {
            if let Some((index, hint)) = self.hints.get(found.pattern().as_usize())
                && let Some(met) = met.get_mut(*index)
                && !*met
            {
                *met = text.get(found.end()..).is_some_and(|rest| hint.holds(rest));
            }
        }
        SHAPES.iter().enumerate().zip(met).filter_map(|(shape, met)| met.then_some(shape))
    }

    fn shape(&self, index: usize) -> Option<&Regex> {
        let shape = || Regex::new(SHAPES.get(index)?.regex).ok();
        self.shapes.get(index)?.get_or_init(shape).as_ref()
    }
}

/// The forms a value is written in: as it is, base64, URL-encoded, in JSON.
fn forms(value: &str) -> Vec<String> {
    let url: String = value
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    let json = Value::from(value).to_string();
    let json = json.trim_matches('"').to_owned();
    vec![
        value.to_owned(),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
        url.to_ascii_lowercase(),
        url,
        json,
    ]
}

/// Sorts, and joins what overlaps under the name of what begins first.
fn merged(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut out: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match out.last_mut() {
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                last.from = last.from.min(hit.from);
            }
            _ => out.push(hit),
        }
    }
    out
}

/// Masks a stream: holds back the unfinished line, and a key block that goes on, so
/// that a secret cut by the pieces it came in is still seen whole.
#[derive(Debug)]
pub struct Masking {
    redactor: Arc<Redactor>,
    held: String,
}

impl Masking {
    /// Takes a piece, gives what can be shown by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let rest = self.held.split_off(self.cut());
        let ready = std::mem::replace(&mut self.held, rest);
        self.redactor.mask(&ready).into_owned()
    }

    /// The end of the stream: what was held back.
    pub fn finish(&mut self) -> String {
        self.redactor.mask(&std::mem::take(&mut self.held)).into_owned()
    }

    /// Up to where the held text can be judged already.
    fn cut(&self) -> usize {
        let held = self.held.as_str();
        let mut cut = held.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        if held.len() - cut > WINDOW {
            cut = held.floor_char_boundary(held.len() - WINDOW);
        }
        if cut == 0 {
            return 0;
        }
        for hit in self.redactor.hits(held).iter().rev() {
            if hit.from < cut && cut < hit.end {
                cut = hit.from;
            }
        }
        cut = cut.min(shapes::open_block(held).unwrap_or(cut)).min(self.begun_value());
        if held.len() - cut > HELD_MOST { held.len() } else { cut }
    }

    /// Where a known value of several lines may have begun at the end of the text.
    fn begun_value(&self) -> usize {
        let held = self.held.as_str();
        let many = self.redactor.values.iter().filter(|(_, form)| form.contains(['\n', '\r']));
        many.flat_map(|(_, form)| {
            let longest = form.len().min(held.len());
            (1..=longest).rev().find_map(|len| {
                let begun = form.get(..len)?;
                held.ends_with(begun).then_some(held.len() - len)
            })
        })
        .min()
        .unwrap_or(held.len())
    }
}

#[cfg(test)]
mod tests;
