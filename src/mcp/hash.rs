//! A name for a text that is the same only for the same text.

use sha2::{Digest, Sha256};

/// The first `length` letters of its hash, in hexadecimal.
pub(crate) fn short_hash(text: &str, length: usize) -> String {
    let digest = Sha256::digest(text);
    let letters = digest.iter().flat_map(|byte| format!("{byte:02x}").into_bytes());
    letters.map(char::from).take(length).collect()
}
