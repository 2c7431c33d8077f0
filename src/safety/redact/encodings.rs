//! The simple encodings of secrets: how a known value looks in them, and what a run of letters
//! and digits says once they are taken off.

use std::ops::Range;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::values::has_letter_and_digit;

/// A shorter run is not decoded.
const MIN_RUN: usize = 24;
/// A longer one holds a picture or a program.
const MAX_RUN: usize = 64 * 1024;
/// How much of a run is decoded first: it must be text.
const TRIED: usize = 24;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The forms a value is written in: as it is, base64 at any place of a text, hexadecimal,
/// URL-encoded, in JSON, back to front, with its letters moved by half of the alphabet, in one
/// case.
pub(super) fn forms(value: &str) -> Vec<String> {
    let hex = |byte: u8| format!("{byte:02x}");
    let lower: String = value.bytes().map(hex).collect();
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
    let mut forms = vec![
        value.to_owned(),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
        url.to_ascii_lowercase(),
        url,
        json.trim_matches('"').to_owned(),
        value.chars().rev().collect(),
        value.chars().map(rotated).collect(),
        lower.to_ascii_uppercase(),
        lower,
    ];
    // A word in another case is a word.
    if has_letter_and_digit(value) {
        forms.extend([value.to_ascii_uppercase(), value.to_ascii_lowercase()]);
    }
    for shift in 0..3 {
        // Letters that also depend on their neighbours do not count.
        let padded = [&vec![b'0'; shift], value.as_bytes()].concat();
        let (from, to) = ((shift * 8).div_ceil(6), padded.len() * 8 / 6);
        for text in [STANDARD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            forms.extend(text.get(from..to).map(str::to_owned));
        }
    }
    let mut distinct: Vec<String> = Vec::with_capacity(forms.len());
    for form in forms {
        if form.len() >= value.len() && !distinct.contains(&form) {
            distinct.push(form);
        }
    }
    distinct
}

fn rotated(letter: char) -> char {
    match letter {
        'a'..='m' | 'A'..='M' => char::from(letter as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(letter as u8 - 13),
        _ => letter,
    }
}

/// The long runs of base64 or hexadecimal digits that are text, with that text.
pub(super) fn decoded_runs(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    long_runs(text, MIN_RUN, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
    })
    .filter(|run| run.len() <= MAX_RUN)
    .filter_map(|run| Some((run.clone(), decode(text.get(run)?)?)))
}

fn decode(run: &str) -> Option<String> {
    if run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = run.as_bytes().chunks_exact(2).map(byte).collect();
        return readable(bytes?);
    }
    let alphabet = if run.contains(['-', '_']) { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let engine = GeneralPurpose::new(alphabet, LENIENT);
    // Most runs are not text: that shows at once.
    readable(engine.decode(run.get(..TRIED)?).ok()?)?;
    // One letter alone is not a byte.
    let whole = if run.len() % 4 == 1 { run.get(..run.len() - 1)? } else { run };
    readable(engine.decode(whole).ok()?)
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    bytes.iter().all(plain).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Keys of wallets in base 58: the checksum in them rules out chance.
pub(super) fn wallet_keys(text: &str) -> impl Iterator<Item = Range<usize>> {
    long_runs(text, 51, |byte| byte.is_ascii_alphanumeric())
        .filter(|run| (51..=52).contains(&run.len()))
        .filter(|run| text.get(run.clone()).is_some_and(has_checksum))
}

fn has_checksum(run: &str) -> bool {
    const DIGITS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut bytes = [0_u8; 40];
    for digit in run.bytes() {
        let Some(value) = DIGITS.iter().position(|known| *known == digit) else { return false };
        let mut carry = value;
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 58;
            *byte = u8::try_from(carry & 0xff).unwrap_or_default();
            carry >>= 8;
        }
    }
    let begin = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let Some((body, sum)) = bytes.get(begin..).and_then(<[u8]>::split_last_chunk::<4>) else {
        return false;
    };
    Sha256::digest(Sha256::digest(body)).starts_with(sum)
}

/// Runs of at least so many of these characters. Looks at every so manieth only, until one is met.
fn long_runs(
    text: &str,
    least: usize,
    is_part: impl Fn(u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = least - 1;
    let mut done = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            if !is_part(*byte) {
                at += least;
                continue;
            }
            let before = bytes.get(done..at)?.iter().rev().take_while(|byte| is_part(**byte));
            let begin = at - before.count();
            let after = bytes.get(at..)?.iter().take_while(|byte| is_part(**byte));
            let end = at + after.count();
            (at, done) = (end + least, end);
            if end - begin >= least {
                return Some(begin..end);
            }
        }
        None
    })
}
