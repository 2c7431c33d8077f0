//! Masks secrets in text before it leaves the machine or is saved.
//!
//! Known values come first (keys of the settings, secrets of the environment), then the
//! known shapes of tokens. A mask names the kind and four hex digits of a hash keyed for
//! the session, so that two equal secrets can be seen to be equal: `‹secret:github-token
//! #a1b2›`. It is a token for the value: where a file is written it is turned back
//! ([`Redactor::reveal`]). Ordinary code must come through untouched, so a value after a
//! name (`password = …`) is checked twice.
//!
//! Not in here: where the secrets come from (`config`), and what may be shown at all
//! (`sanitize`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use avocet_core::protocol::Observation;

mod compiled;
mod encodings;
mod key_blocks;
mod lines;
mod names;
mod shapes;
mod tables;
mod tokens;
mod values;
mod vault;
mod view;
mod words;

use compiled::Compiled;
use shapes::{RequiredSuffix, SHAPES, SecretPattern};
use values::SecretSpan;
use vault::{MARK, OLD_MARK, Vault};
use view::NormalizedText;

/// Shorter values are too likely to be ordinary words.
const MIN_LENGTH: usize = 8;

/// How much of an unfinished line a [`Masking`] holds back, in bytes.
const WINDOW: usize = 4 * 1024;

/// The most a [`Masking`] ever holds back, in bytes; past it, it lets go.
const MAX_HELD: usize = 64 * 1024;

/// Values of variables with secret-sounding names that are not secrets.
const WORDS: &[&str] =
    &["disabled", "required", "optional", "password", "anonymous", "undefined", "changeme"];

/// Endings of variable names that hold a secret.
#[rustfmt::skip]
const SECRET_ENDINGS: &[&str] = &[
    "KEY", "TOKEN", "SECRET", "PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",
    "CREDENTIALS", "AUTH", "COOKIE", "PRIVATE",
];

/// Last words of names that say where something is, not what it is.
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

/// Whether a variable of the user holds a secret, by its name or by its value: what only some
/// steps get.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let is_place =
        value.starts_with('/') && value.rfind('/') > Some(0) && !value.contains(['+', '=']);
    let is_harmless = is_place || value.len() < MIN_LENGTH;
    let has_shape = || {
        let redactor = Redactor::new(std::iter::empty::<(&str, &str)>(), [0; 16]);
        matches!(redactor.mask(value), Cow::Owned(_))
    };
    !is_harmless && (is_secret_name(name) || has_shape())
}

/// Knows the secrets of a session.
pub struct Redactor {
    /// Name and form, longest form first.
    values: Arc<[(String, String)]>,
    salt: [u8; 16],
    compiled: Arc<OnceLock<Compiled>>,
    vault: Vault,
}

/// What another process needs to mask the same values. It is for a pipe, and for nothing that stays.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct RedactorSeed {
    values: Vec<(String, String)>,
    salt: [u8; 16],
    learned: Vec<String>,
    encodings: Vec<String>,
}

/// A text whose masks were turned back.
#[derive(PartialEq, Eq)]
pub struct Revealed {
    pub text: String,
    /// The masks, each once, with the values they replace.
    pub masks: Vec<(String, Arc<str>)>,
}

/// A mask that does not belong to a secret of this session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMask(pub String);

/// The table of shapes, the same for all sessions.
static PATTERNS: LazyLock<CompiledShapes> = LazyLock::new(CompiledShapes::new);

struct CompiledShapes {
    /// The words of all hints, in the order of `hints`.
    words: Option<AhoCorasick>,
    /// Each with the number of its shape.
    hints: Vec<(usize, RequiredSuffix)>,
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
            let name = name.into();
            let value = value.as_ref().trim();

            if value.len() < MIN_LENGTH || WORDS.contains(&value.to_ascii_lowercase().as_str()) {
                continue;
            }
            for form in encodings::forms(value) {
                if !values.iter().any(|(_, known)| *known == form) {
                    values.push((name.clone(), form));
                }
            }
        }
        values.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
        Redactor { values: values.into(), salt, compiled: Arc::default(), vault: Vault::default() }
    }

    /// All that it masks.
    pub fn seed(&self) -> RedactorSeed {
        let values = self.values.to_vec();
        let salt = self.salt;

        let (learned, encodings) = self.vault.learned();
        RedactorSeed { values, salt, learned, encodings }
    }

    pub fn from_seed(seed: RedactorSeed) -> Redactor {
        let values = seed.values.into();
        let compiled = Arc::default();

        let vault = Vault::default();
        vault.learn(seed.learned.iter().map(String::as_str));
        vault.learn_encodings(seed.encodings.into_iter());
        Redactor { values, salt: seed.salt, compiled, vault }
    }

    /// Knows the same values, and nothing that a session learned. What is compiled is shared.
    #[must_use]
    pub fn for_new_session(&self) -> Redactor {
        Redactor {
            values: Arc::clone(&self.values),
            salt: self.salt,
            compiled: Arc::clone(&self.compiled),
            vault: Vault::default(),
        }
    }

    /// The text with its secrets replaced; borrowed when there were none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hits = self.secret_spans(text);
        if self.learn(text, &hits) {
            hits = self.secret_spans(text);
        }
        self.replace_spans(text, &hits)
    }

    /// Both texts with the secrets of the first replaced in either. Secrets only the second
    /// has stay visible.
    pub fn mask_both<'t>(&self, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
        self.mask(old);
        let of_old = self.secret_spans(old);
        let values: HashSet<Cow<'_, str>> = of_old.iter().map(|hit| secret_in(old, hit)).collect();
        let mut of_new = if values.is_empty() { Vec::new() } else { self.secret_spans(new) };
        of_new.retain(|hit| values.contains(&secret_in(new, hit)));
        (self.replace_spans(old, &of_old), self.replace_spans(new, &of_new))
    }

    /// Turns masks of this session back into their values. One that already appears
    /// literally in `known` is text and stays.
    ///
    /// # Errors
    /// A mask without a value.
    pub fn reveal(&self, text: &str, known: &str) -> Result<Revealed, UnknownMask> {
        let mut revealed = Revealed { text: String::with_capacity(text.len()), masks: Vec::new() };
        let mut at = 0;
        for place in vault::masks(text) {
            let mask = text.get(place.clone()).unwrap_or_default();
            revealed.text.push_str(text.get(at..place.start).unwrap_or_default());
            at = place.end;
            match self.vault.value(mask) {
                Some(value) => {
                    revealed.text.push_str(&value);
                    if !revealed.masks.iter().any(|(known, _)| known == mask) {
                        revealed.masks.push((mask.to_owned(), value));
                    }
                }
                None if known.contains(mask) => revealed.text.push_str(mask),
                None => return Err(UnknownMask(mask.to_owned())),
            }
        }
        revealed.text.push_str(text.get(at..).unwrap_or_default());
        Ok(revealed)
    }

    /// Masks these values from now on wherever they appear.
    pub fn learn_values<'t>(&self, values: impl Iterator<Item = &'t str>) {
        self.vault.learn(values);
    }

    /// Learns the secrets of a text. A word is one only after its name, but its encodings are no
    /// words.
    pub fn learn_text(&self, text: &str) {
        let hits = self.secret_spans(text);
        self.learn(text, &hits);
        let values = hits.iter().filter(|hit| hit.learned).map(|hit| secret_in(text, hit));
        let encodings = values.filter(|value| value.len() >= MIN_LENGTH).flat_map(|value| {
            let other = |form: &String| !form.eq_ignore_ascii_case(&value);
            encodings::forms(&value).into_iter().filter(other).collect::<Vec<_>>()
        });
        self.vault.learn_encodings(encodings);
    }

    /// How many values are masked wherever they appear: a text masked before there was another may
    /// need it again.
    pub fn learned_count(&self) -> usize {
        self.vault.learned_count()
    }

    /// The first mask in a text that belongs to a secret of this session.
    pub fn find_mask<'t>(&self, text: &'t str) -> Option<&'t str> {
        vault::masks(text)
            .filter_map(|place| text.get(place))
            .find(|mask| self.vault.value(mask).is_some())
    }

    fn replace_spans<'t>(&self, text: &'t str, spans: &[SecretSpan]) -> Cow<'t, str> {
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for hit in spans {
            out.push_str(text.get(at..hit.start).unwrap_or_default());
            let secret = secret_in(text, hit);
            out.push_str(&self.vault.mask(&hit.kind, &secret, &self.salt));
            at = hit.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Masks every string inside a JSON value; keys of plain words stay.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|item| self.mask_value(item));
                let plain = |key: &str| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
                let odd: Vec<String> = fields.keys().filter(|key| !plain(key)).cloned().collect();
                for key in odd {
                    if let Cow::Owned(masked) = self.mask(&key)
                        && let Some(item) = fields.remove(&key)
                    {
                        fields.insert(masked, item);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Masks the output of a step. The proposal stays as it is: the user must be able to
    /// read it.
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
        Masking { redactor: Arc::clone(self), pending: String::new() }
    }

    /// The ranges to mask, in order, without overlaps. Looked for in what can be seen of the
    /// text, so that colours between its letters hide no secret.
    fn secret_spans(&self, text: &str) -> Vec<SecretSpan> {
        match NormalizedText::visible(text) {
            Some(view) => merge_spans(view.originals(self.visible_spans(&view.text))),
            None => self.visible_spans(text),
        }
    }

    fn visible_spans(&self, text: &str) -> Vec<SecretSpan> {
        let mut hits = self.unsplit_spans(text);
        if let Some(view) = NormalizedText::unwrapped(text) {
            let split = view.only_split(self.unsplit_spans(&view.text));
            let mut split = view.originals(split);
            split.retain(|hit| view::is_wrapped(text, hit, &hits));
            hits.extend(split);
        }
        if let Some(view) = self.knows_values().then(|| NormalizedText::compact(text)).flatten() {
            let mut known = Vec::new();
            self.find_values(&view.text, &mut known);
            self.find_learned(&view.text, &mut known);
            known.retain(|hit| view.text.get(hit.start..hit.end).is_some_and(is_random));
            hits.extend(view.originals(view.only_split(known)));
        }
        merge_spans(hits)
    }

    /// The secrets that nothing splits.
    fn unsplit_spans(&self, text: &str) -> Vec<SecretSpan> {
        let mut hits = Vec::new();
        self.find_values(text, &mut hits);
        find_in_plain_text(text, &mut hits);
        for (run, decoded) in encodings::decoded_runs(text) {
            let mut inner = Vec::new();
            find_in_plain_text(&decoded, &mut inner);
            if !inner.is_empty() {
                hits.push(SecretSpan::new("encoded".into(), run.start, run.end));
            }
        }
        self.find_learned(text, &mut hits);
        merge_spans(hits)
    }

    fn knows_values(&self) -> bool {
        !self.values.is_empty() || self.vault.learned_count() > 0
    }

    fn find_values(&self, text: &str, spans: &mut Vec<SecretSpan>) {
        let compiled = self.compiled.get_or_init(|| Compiled::new(&self.values));
        for found in compiled.values.iter().flat_map(|values| values.find_iter(text)) {
            let owner = compiled.owners.get(found.pattern().as_usize());
            let kind = owner.and_then(|owner| self.values.get(*owner));
            let kind = kind.map_or_else(|| "secret".into(), |(name, _)| name.clone());
            spans.push(SecretSpan::new(kind, found.start(), found.end()));
        }
    }

    fn find_learned(&self, text: &str, spans: &mut Vec<SecretSpan>) {
        if let Some(learned) = self.vault.matcher() {
            let found = learned.find_iter(text);
            spans.extend(found.map(|it| SecretSpan::new("secret".into(), it.start(), it.end())));
        }
    }

    /// A long random value is a secret from now on wherever it appears; a word is one only
    /// after its name. True: there is a new one.
    fn learn(&self, text: &str, spans: &[SecretSpan]) -> bool {
        let values = spans.iter().filter(|hit| hit.learned).map(|hit| secret_in(text, hit));
        let values: Vec<Cow<'_, str>> = values.filter(|value| is_random(value)).collect();
        self.vault.learn(values.iter().map(|value| &**value))
    }
}

/// The value of a span: without the colours in it.
fn secret_in<'t>(text: &'t str, span: &SecretSpan) -> Cow<'t, str> {
    let secret = text.get(span.start..span.end).unwrap_or_default();
    NormalizedText::visible(secret).map_or(Cow::Borrowed(secret), |view| Cow::Owned(view.text))
}

/// What shows by itself that it is a secret.
fn find_in_plain_text(text: &str, spans: &mut Vec<SecretSpan>) {
    for (index, shape) in PATTERNS.candidate_patterns(text, spans) {
        if let Some(regex) = PATTERNS.regex_at(index) {
            shapes::find_matches(shape, regex, text, spans);
        }
    }
    shapes::find_literals(text, spans);
    key_blocks::find_key_blocks(text, spans);
    lines::find_named_secrets(text, spans);
    tables::find_in_tables(text, spans);
    let wallets = encodings::wallet_keys(text);
    spans.extend(wallets.map(|key| SecretSpan::new("wallet-key".into(), key.start, key.end)));
}

/// The salt of the sessions of one folder, from a value saved on this machine.
pub fn salt(kept: &str, folder: &Path) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(kept.trim().as_bytes());
    hash.update(folder.to_string_lossy().as_bytes());
    let mut salt = [0; 16];
    salt.iter_mut().zip(hash.finalize()).for_each(|(to, byte)| *to = byte);
    salt
}

/// Whether a value is so long and so mixed that it does not appear anywhere by chance. A
/// word is not, whatever variable holds it.
pub fn is_random(value: &str) -> bool {
    let distinct: HashSet<char> = value.chars().take(256).collect();
    let long = value.len() >= 16 && distinct.len() >= 8;
    let worded = value.chars().all(|c| c.is_ascii_alphabetic() || "_-./: ".contains(c));
    let place = value.starts_with(['/', '~', '.']) || value.contains("://");
    (long && !worded || value.len() >= 12 && values::is_varied(value))
        && !place
        && !is_masked(value)
        && values::has_letter_and_digit(value)
}

/// `ſ` and the sign of Kelvin: small, they are an `s` and a `k`.
const FOLDED: [char; 2] = ['\u{17f}', '\u{212a}'];

/// True for a text that contains a placeholder for a secret.
pub fn is_masked(text: &str) -> bool {
    text.contains(MARK) || text.contains(OLD_MARK)
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl CompiledShapes {
    fn new() -> CompiledShapes {
        let hinted = |(index, shape): (usize, &'static SecretPattern)| {
            shape.hints.iter().map(move |hint| (index, *hint))
        };
        let hints: Vec<(usize, RequiredSuffix)> =
            SHAPES.iter().enumerate().flat_map(hinted).collect();
        // Quick to build rather than quickest to search: most runs mask little.
        let words = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(hints.iter().map(|(_, hint)| hint.word).chain(tokens::beginnings()))
            .ok();
        CompiledShapes { words, hints, shapes: SHAPES.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The shapes that may occur in the text, in the order of the table. Adds the tokens that are
    /// known by how they begin.
    fn candidate_patterns(
        &self,
        text: &str,
        spans: &mut Vec<SecretSpan>,
    ) -> impl Iterator<Item = (usize, &'static SecretPattern)> + use<> {
        // Without the words nothing can be ruled out, nor where a letter that is not ASCII
        // counts as one that is.
        let all = self.words.is_none() || text.contains(FOLDED);
        let mut met = vec![all; SHAPES.len()];
        for found in self.words.iter().flat_map(|words| words.find_overlapping_iter(text)) {
            let number = found.pattern().as_usize();
            if let Some(token) = number.checked_sub(self.hints.len()) {
                tokens::find_token(text, token, found.range(), spans);
            } else if let Some((index, hint)) = self.hints.get(number)
                && let Some(met) = met.get_mut(*index)
                && !*met
            {
                *met = text.get(found.end()..).is_some_and(|rest| hint.allows_match(rest));
            }
        }
        SHAPES.iter().enumerate().zip(met).filter_map(|(shape, met)| met.then_some(shape))
    }

    fn regex_at(&self, index: usize) -> Option<&Regex> {
        let shape = || Regex::new(SHAPES.get(index)?.regex).ok();
        self.shapes.get(index)?.get_or_init(shape).as_ref()
    }
}

/// Sorts, and joins what overlaps under the name of what begins first.
fn merge_spans(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut secret_spans: Vec<SecretSpan> = Vec::with_capacity(spans.len());
    for hit in spans {
        match secret_spans.last_mut() {
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                last.learned |= hit.learned;
                last.from = last.from.min(hit.from);
            }
            _ => secret_spans.push(hit),
        }
    }
    secret_spans
}

/// Masks a stream: holds back the unfinished line, and a key block that goes on, so
/// that a secret cut by the pieces it came in is still seen whole.
#[derive(Debug)]
pub struct Masking {
    redactor: Arc<Redactor>,
    pending: String,
}

impl Masking {
    /// Takes a piece, gives what can be shown by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.pending.push_str(piece);
        let rest = self.pending.split_off(self.safe_prefix_len());
        let ready = std::mem::replace(&mut self.pending, rest);
        self.redactor.mask(&ready).into_owned()
    }

    /// The end of the stream: returns the held-back text.
    pub fn finish(&mut self) -> String {
        self.redactor.mask(&std::mem::take(&mut self.pending)).into_owned()
    }

    /// The end of the part of the held-back text that can be judged already.
    fn safe_prefix_len(&self) -> usize {
        let held = self.pending.as_str();
        let mut cut = held.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        if held.len() - cut > WINDOW {
            cut = held.floor_char_boundary(held.len() - WINDOW);
        }
        if cut == 0 {
            return 0;
        }
        for hit in self.redactor.secret_spans(held).iter().rev() {
            if hit.from < cut && cut < hit.end {
                cut = hit.from;
            }
        }
        cut = cut
            .min(key_blocks::find_open_key_block(held).unwrap_or(cut))
            .min(self.partial_value_start());
        if held.len() - cut > MAX_HELD { held.len() } else { cut }
    }

    /// Where a known value of several lines may have begun at the end of the text.
    fn partial_value_start(&self) -> usize {
        let held = self.pending.as_str();
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
