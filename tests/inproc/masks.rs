//! Masks by class: texts that hold secrets, and harmless ones that look like it.
//!
//! In the tables `⟦…⟧` is a secret, `⏎` the end of a line, `␛` and `␇` the signs of terminal
//! sequences. `{a:8}` are eight letters and digits, `{b:8}` of base64, `{d:8}` digits, `{h:8}` of
//! hexadecimal, `{u:8}` capitals and digits; `{64:…}` and `{16:…}` a text in base64 and in
//! hexadecimal. So no scanner takes the tables for a leak.

use avocet::safety::redact::Redactor;

const SECRETS: &str = include_str!("../fixtures/masks/secrets.txt");
const HARMLESS: &str = include_str!("../fixtures/masks/harmless.txt");

/// Digits that repeat only after long, the same in each run.
struct Digits(u64);

impl Digits {
    fn take(&mut self, len: usize, alphabet: &str) -> String {
        let next = |_| {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (self.0 >> 33) as usize % alphabet.len();
            char::from(alphabet.as_bytes()[at])
        };
        (0..len).map(next).collect()
    }
}

fn fill(template: &str, digits: &mut Digits) -> String {
    let mut text = template.replace('⏎', "\n").replace('␛', "\x1b").replace('␇', "\x07");
    // From the last: an encoding comes after what is in it.
    let mut end = text.len();
    while let Some(at) = text[..end].rfind('{') {
        end = at;
        let Some((kind, rest)) = text[at + 1..].split_once(':') else { continue };
        let Some((inner, _)) = rest.split_once('}') else { continue };
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let alphabet = match kind {
            "a" => letters,
            "b" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            "d" => "123456789",
            "h" => "0123456789abcdef",
            "u" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            _ => "",
        };
        let filled = match (kind, inner.parse()) {
            ("64", _) => base64(inner),
            ("16", _) => inner.bytes().map(|byte| format!("{byte:02x}")).collect(),
            (_, Ok(len)) if !alphabet.is_empty() => digits.take(len, alphabet),
            _ => continue,
        };
        text.replace_range(at..at + 1 + kind.len() + 1 + inner.len() + 1, &filled);
    }
    text
}

/// Without the signs that fill it up.
fn base64(text: &str) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> =
        text.bytes().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let letter = |six: &[u8]| {
        let value = (0..6).fold(0, |value, at| value * 2 + six.get(at).copied().unwrap_or(0));
        char::from(letters[usize::from(value)])
    };
    bits.chunks(6).map(letter).collect()
}

fn fresh() -> Redactor {
    Redactor::new([("PROVIDER_KEY", "a-key-of-our-own-42")], [7; 16])
}

/// What remains to be seen of the secrets of a text.
fn leaks(text: &str) -> Option<String> {
    let plain = text.replace(['⟦', '⟧'], "");
    let masked = fresh().mask(&plain).into_owned();
    let visible = |text: &str| avocet::safety::sanitize::clean(text, Default::default());
    let shown = visible(&masked);
    let secrets = text.split('⟦').skip(1).filter_map(|part| part.split_once('⟧'));
    let parts = secrets.flat_map(|(secret, _)| secret.split('\n'));
    let seen = parts.map(visible).find(|part| {
        let piece = part.get(..part.len().min(16)).unwrap_or(part);
        let rest = part.get(part.len().saturating_sub(16)..).unwrap_or(part);
        shown.contains(piece) || shown.contains(rest)
    });
    seen.map(|part| format!("{part}  in  {shown:?}"))
}

#[test]
fn secrets_of_every_class_are_masked() {
    let mut digits = Digits(7);
    let (mut class, mut count, mut seen) = ("", 0, Vec::new());
    for line in SECRETS.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            class = name;
            continue;
        }
        count += 1;
        if let Some(leak) = leaks(&fill(line, &mut digits)) {
            seen.push(format!("{class}: {leak}"));
        }
    }
    println!("{} of {count} secrets are masked", count - seen.len());
    assert!(count >= 134, "{count}");
    assert!(seen.is_empty(), "{} of {count} seen:\n{}", seen.len(), seen.join("\n"));
}

#[test]
fn harmless_texts_that_speak_of_secrets_stay_as_they_are() {
    let mut digits = Digits(11);
    let mut changed = Vec::new();
    for line in HARMLESS.lines() {
        let text = fill(line, &mut digits);
        let masked = fresh().mask(&text).into_owned();
        if masked != text {
            changed.push(format!("{text:?}  →  {masked:?}"));
        }
    }
    println!("{} of {} harmless texts are masked", changed.len(), HARMLESS.lines().count());
    assert!(HARMLESS.lines().count() >= 83);
    assert!(changed.is_empty(), "{}:\n{}", changed.len(), changed.join("\n"));
}
