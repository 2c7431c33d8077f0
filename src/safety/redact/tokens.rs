//! Tokens whose services gave them a beginning nothing else has.

use std::ops::Range;
use std::sync::LazyLock;

use super::values::{SecretSpan, is_varied};

/// What the characters after the beginning are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Hex,
    Upper,
    /// Letters and digits.
    Plain,
    /// And `_` and `-`.
    Key,
    /// And the signs of base64, of words joined by points, and `~`.
    Joined,
}

use Alphabet::{Hex, Joined, Key, Plain, Upper};

/// The kind, the characters and how many there are at least, and the beginnings. One with `*`
/// counts inside a word too.
#[rustfmt::skip]
const TOKENS: &[(&str, Alphabet, usize, &str)] = &[
    ("aws-key", Upper, 16, "*AKIA *ASIA"), ("aws-key", Joined, 60, "ABSK"),
    ("github-token", Plain, 36, "*ghp_ *gho_ *ghu_ *ghs_ *ghr_"), ("github-token", Key, 22, "*github_pat_"),
    ("gitlab-token", Key, 20, "*glpat-"),
    ("slack-token", Key, 10, "*xoxa- *xoxb- *xoxe- *xoxp- *xoxr- *xoxs- *xapp-"),
    ("google-key", Key, 35, "*AIza"), ("google-token", Key, 16, "*ya29."), ("google-token", Key, 40, "1//0"),
    ("google-secret", Key, 20, "*GOCSPX-"), ("google-key", Key, 40, "AQ.Ab"),
    ("npm-token", Plain, 36, "*npm_"), ("pypi-token", Key, 50, "*pypi-"), ("huggingface-token", Plain, 30, "*hf_"),
    ("digitalocean-token", Hex, 64, "*dop_v1_ doo_v1_ dor_v1_"),
    ("sendgrid-key", Joined, 66, "SG."), ("stripe-key", Joined, 24, "*whsec_"),
    ("stripe-key", Plain, 16, "*sk_live_ *sk_test_ *rk_live_ *rk_test_"),
    ("atlassian-token", Joined, 40, "*ATATT3 *ATCTT3"), ("atlassian-token", Plain, 28, "ATBB"),
    ("vault-token", Key, 24, "hvs. hvb. hvr."), ("shop-token", Hex, 32, "*shpat_ *shpca_ *shppa_ *shpss_"),
    ("shop-token", Key, 22, "*sq0atp- *sq0csp-"), ("age-key", Upper, 58, "*AGE-SECRET-KEY-1"),
    ("wallet-key", Plain, 80, "xprv yprv zprv tprv"),
    ("api-key", Key, 20, "sk-"), ("api-key", Plain, 40, "gsk_ xai- pplx- csk-"), ("api-key", Plain, 24, "r8_ fw_"),
    ("api-key", Key, 40, "nvapi- lsv2_pt_ lsv2_sk_ tgp_v1_ KEY0"), ("api-key", Key, 20, "tvly-"), ("api-key", Hex, 40, "e2b_ sk_"),
    ("api-key", Plain, 50, "jina_"),
    ("api-key", Plain, 40, "pcsk_ pa-"), ("api-key", Hex, 32, "fc- ls__"), ("api-key", Plain, 16, "esecret_"),
    ("cloud-key", Plain, 16, "LTAI"), ("cloud-key", Plain, 32, "AKID AKLT"),
    ("service-token", Hex, 32, "dapi key- cal_live_ SK"), ("service-token", Hex, 64, "SEC"),
    ("service-token", Hex, 40, "sbp_ pul- bkua_ sqp_ squ_ sqa_ sgp_ rubygems_ CLOJARS_"),
    ("service-token", Key, 36, "sdk- access-sandbox- access-development- access-production-"),
    ("service-token", Plain, 80, "EAAC EAAB EAAG"), ("service-token", Key, 100, "IGQV v1.0-"), ("service-token", Key, 60, "xkeysib- fio-u-"), ("service-token", Key, 32, "duffel_test_ duffel_live_ FLWSECK_TEST- FLWSECK_LIVE- FLWSECK-"),
    ("service-token", Plain, 40, "cmVmdGtu"), ("service-token", Key, 20, "GR1348941"),
    ("service-token", Joined, 40, "access_token$production$ access_token$sandbox$"),
    ("service-token", Upper, 27, "NRAK-"),
    ("service-token", Plain, 28, "lin_api_ ntn_ nfp_ rnd_ napi_ phx_ fo1_ cio oy2 vcp_ vck_ ddp_ ddw_ pnu_ pnb_ aio_"),
    ("service-token", Plain, 60, "AKCp rdme_"), ("service-token", Plain, 54, "EZAK EZTK EAAA"),
    ("service-token", Key, 20, "dckr_pat_ dckr_oat_ glrt- gldt- glptt- glsoat- glcbt- glft- glagent- glimt- tskey-"),
    ("service-token", Key, 30, "figd_ glsa_ PMAK- re_ syt_ vercel_blob_rw_ CFPAT- CCIPAT_ CCIPRJ_ HRKU- SWMTKN-1- tfp_"),
    ("service-token", Joined, 30, "sntrys_ sntryu_ pscale_tkn_ pscale_pw_ pscale_oauth_ dp.pt. dp.st. dp.ct. dp.sa. fm2_"),
    ("service-token", Joined, 60, "glc_eyJ ops_eyJ sk.eyJ sl.u. sl.B dt0c01."),
];

type Row = (&'static str, Alphabet, usize);

/// Each beginning with its row, and whether it counts inside a word.
static BEGINNINGS: LazyLock<Vec<(&'static str, bool, Row)>> = LazyLock::new(|| {
    let split = |(kind, alphabet, least, words): &(&'static str, Alphabet, usize, &'static str)| {
        let row = (*kind, *alphabet, *least);
        words.split(' ').map(move |word| (word.trim_start_matches('*'), word.starts_with('*'), row))
    };
    TOKENS.iter().flat_map(split).collect()
});

/// The beginnings, in the order that [`find_token`] knows them by.
pub(super) fn beginnings() -> impl Iterator<Item = &'static str> {
    BEGINNINGS.iter().map(|(word, ..)| *word)
}

/// Adds the token that begins with this, in capitals or not.
pub(super) fn find_token(text: &str, number: usize, at: Range<usize>, spans: &mut Vec<SecretSpan>) {
    let Some((word, inside, (kind, alphabet, least))) = BEGINNINGS.get(number) else { return };
    if text.get(at.clone()) != Some(*word) || !inside && !begins_word(text.as_bytes(), at.start) {
        return;
    }
    let rest = text.get(at.end..).unwrap_or_default();
    let len = rest.bytes().take_while(|byte| alphabet.contains(*byte)).count();
    let token = rest.get(..len).unwrap_or_default().trim_end_matches(['.', '-', '/']);
    if token.len() >= *least && has_digit(token) && (*inside || alphabet.is_likely(token)) {
        let span = SecretSpan::new((*kind).into(), at.start, at.end + token.len());
        spans.push(SecretSpan { learned: true, ..span });
    }
}

/// Nothing of a word is before it; text inside JSON has `\n` there.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| text.get(at));
    let is_part = before(1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !is_part || before(1).is_some_and(|byte| b"nrt".contains(byte)) && before(2) == Some(&b'\\')
}

fn has_digit(token: &str) -> bool {
    token.contains(|c: char| c.is_ascii_digit())
}

impl Alphabet {
    fn contains(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Plain => byte.is_ascii_alphanumeric(),
            Key => Plain.contains(byte) || b"_-".contains(&byte),
            Joined => Key.contains(byte) || b".+/=~$".contains(&byte),
        }
    }

    /// Names have other letters than keys.
    fn is_likely(self, token: &str) -> bool {
        matches!(self, Hex | Upper) || is_varied(token)
    }
}
