//! The search for the secrets that are known from the start, as they are and in their encodings.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::encodings;

/// How many encodings of encodings are searched for.
const TWOFOLD: usize = 2_000;

pub(super) struct Compiled {
    /// All forms in one, longer ones first; `None` without values.
    pub values: Option<AhoCorasick>,
    /// The value of each form.
    pub owners: Vec<usize>,
}

impl Compiled {
    /// The values are there in their encodings already; base64 of hexadecimal, or base64 that is
    /// URL-encoded, is an encoding of one of these.
    pub fn new(values: &[(String, String)]) -> Compiled {
        let once = values.iter().enumerate().map(|(at, (_, form))| (at, form.clone()));
        let twofold = once.clone().flat_map(|(at, form)| {
            let forms = encodings::forms(&form).into_iter().skip(1);
            forms.map(move |form| (at, form))
        });
        let mut all: Vec<(usize, String)> = once.clone().chain(twofold.take(TWOFOLD)).collect();
        all.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
        let search = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostFirst)
            .build(all.iter().map(|(_, form)| form))
            .ok();
        let owners = all.into_iter().map(|(at, _)| at).collect();
        Compiled { values: search.filter(|search| search.patterns_len() > 0), owners }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::super::Redactor;
    use super::*;

    const KEY: &str = "aB3dE6gH9kLmN2pQ5rS8?+/=x";

    fn hex(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_known_secret_is_masked_under_two_encodings() {
        let redactor = Redactor::new([("OWN_KEY", KEY)], [7; 16]);
        let reversed: String = STANDARD.encode(KEY).chars().rev().collect();
        for form in [
            STANDARD.encode(hex(KEY)),
            STANDARD.encode(STANDARD.encode(KEY)),
            hex(&STANDARD.encode(KEY)),
            hex(&hex(KEY)),
            URL_SAFE_NO_PAD.encode(hex(KEY)),
            STANDARD.encode(KEY).replace('/', "%2F").replace('+', "%2B").replace('=', "%3D"),
            STANDARD.encode(format!("x:{}\n", STANDARD.encode(format!("key={KEY};")))),
            reversed,
        ] {
            let masked = redactor.mask(&format!("value {form} end")).into_owned();
            assert!(masked.contains("‹secret:OWN_KEY #"), "{form}: {masked}");
            let rest = masked.split(['‹', '›', ' ']).filter(|part| part.len() > 24);
            assert_eq!(rest.count(), 0, "{form}: {masked}");
        }
    }

    #[test]
    fn many_secrets_cost_no_more_than_so_many_forms() {
        let secrets: Vec<(String, String)> =
            (0..200).map(|at| (format!("K{at}"), format!("{at:03}aB3dE6gH9kLmN2pQ5rS8"))).collect();
        let compiled = Compiled::new(&secrets);
        assert_eq!(compiled.owners.len(), secrets.len() + TWOFOLD);
    }
}
