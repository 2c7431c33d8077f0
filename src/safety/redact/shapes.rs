//! The known shapes of secrets, as a table.
//!
//! Word boundaries are ASCII ones: a key right after a Chinese character is a key. Prefixes
//! that cannot be anything else have no boundary in front, because text inside JSON has
//! `\n` before them.

use regex::Regex;

/// One kind of secret. The group `s`, where there is one, is the secret; else all is.
pub(super) struct SecretPattern {
    pub kind: &'static str,
    /// Every match of the expression contains one of these. Looking for them is cheap, and
    /// most texts have none.
    pub hints: &'static [RequiredSuffix],
    pub regex: &'static str,
    /// Whether a match is a secret after all.
    confirm: fn(&PatternMatch<'_>) -> bool,
}

/// A word that every match of an expression contains, and what must follow it directly.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequiredSuffix {
    /// ASCII, in capitals or not.
    pub word: &'static str,
    following: Following,
}

#[derive(Clone, Copy, Debug)]
enum Following {
    Anything,
    /// So many characters that keys are made of.
    Run(usize),
    /// A sign that gives a name its value.
    Sign,
    /// Something with an `@` before the next `/`.
    Login,
}

const fn word(word: &'static str) -> RequiredSuffix {
    RequiredSuffix { word, following: Following::Anything }
}

const fn run(word: &'static str, of: usize) -> RequiredSuffix {
    RequiredSuffix { word, following: Following::Run(of) }
}

const fn sign(word: &'static str) -> RequiredSuffix {
    RequiredSuffix { word, following: Following::Sign }
}

impl RequiredSuffix {
    /// Whether the text after the word allows a match.
    pub fn allows_match(self, rest: &str) -> bool {
        match self.following {
            Following::Anything => true,
            Following::Run(of) => {
                let key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
                rest.bytes().take(of).filter(key).count() == of
            }
            Following::Sign => {
                let rest = rest.strip_prefix('\\').unwrap_or(rest);
                let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
                rest.trim_start_matches([' ', '\t']).starts_with([':', '='])
            }
            Following::Login => {
                let ends = |c: char| c == '@' || c == '/' || c.is_whitespace();
                rest.find(ends).is_some_and(|at| rest.as_bytes().get(at) == Some(&b'@'))
            }
        }
    }
}

/// A secret in a text: byte offsets. `from` is where its name or scheme begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub kind: String,
    pub from: usize,
    pub start: usize,
    pub end: usize,
    /// Its name says that it is one: where it is random, it is one elsewhere too.
    pub learned: bool,
}

impl SecretSpan {
    pub fn new(kind: String, start: usize, end: usize) -> SecretSpan {
        SecretSpan { kind, from: start, start, end, learned: false }
    }
}

struct PatternMatch<'t> {
    text: &'t str,
    secret: &'t str,
    end: usize,
}

#[rustfmt::skip]
pub(super) const SHAPES: &[SecretPattern] = &[
    SecretPattern { kind: "aws-key", hints: &[run("AKIA", 16), run("ASIA", 16)],
            regex: r"(?:AKIA|ASIA)[0-9A-Z]{16}", confirm: always },
    SecretPattern { kind: "github-token", hints: &[run("ghp_", 36), run("gho_", 36), run("ghu_", 36), run("ghs_", 36), run("ghr_", 36), run("github_pat_", 22)],
            regex: r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[0-9A-Za-z_]{22,}", confirm: always },
    SecretPattern { kind: "gitlab-token", hints: &[run("glpat-", 20)],
            regex: r"glpat-[0-9A-Za-z_-]{20,}", confirm: always },
    SecretPattern { kind: "slack-token", hints: &[run("xox", 12), run("xapp-", 3)],
            regex: r"xox[abeprs]-[0-9A-Za-z_-]{10,}|xapp-[0-9]-[0-9A-Za-z_-]+", confirm: has_digit },
    SecretPattern { kind: "api-key", hints: &[run("sk-", 20)],
            regex: r"(?:(?-u:\b)|\\[nrt])(?P<s>sk-(?:ant-|proj-|or-)?[0-9A-Za-z_-]{20,})", confirm: has_digit },
    SecretPattern { kind: "google-key", hints: &[run("AIza", 35)],
            regex: r"AIza[0-9A-Za-z_-]{35}", confirm: always },
    SecretPattern { kind: "google-token", hints: &[run("ya29.", 16)],
            regex: r"ya29\.[0-9A-Za-z_-]{16,}", confirm: always },
    SecretPattern { kind: "npm-token", hints: &[run("npm_", 36)],
            regex: r"npm_[A-Za-z0-9]{36}", confirm: always },
    SecretPattern { kind: "pypi-token", hints: &[run("pypi-", 50)],
            regex: r"pypi-[0-9A-Za-z_-]{50,}", confirm: always },
    SecretPattern { kind: "huggingface-token", hints: &[run("hf_", 30)],
            regex: r"hf_[A-Za-z0-9]{30,}", confirm: always },
    SecretPattern { kind: "digitalocean-token", hints: &[run("dop_v1_", 64)],
            regex: r"dop_v1_[0-9a-f]{64}", confirm: always },
    SecretPattern { kind: "sendgrid-key", hints: &[run("SG.", 22)],
            regex: r"SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}", confirm: always },
    SecretPattern { kind: "stripe-key", hints: &[run("sk_live_", 16), run("sk_test_", 16), run("rk_live_", 16), run("rk_test_", 16)],
            regex: r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}", confirm: always },
    SecretPattern { kind: "telegram-token", hints: &[run(":", 35)],
            regex: r"(?-u:\b)[0-9]{8,10}:[0-9A-Za-z_-]{35}", confirm: is_token_end },
    SecretPattern { kind: "slack-webhook", hints: &[word("hooks.slack.com/")],
            regex: r#"https://hooks\.slack\.com/(?P<s>[^\s"'`<>\\)]{8,})"#, confirm: is_not_masked },
    SecretPattern { kind: "discord-webhook", hints: &[word("/api/webhooks/")],
            regex: r#"discord(?:app)?\.com/api/webhooks/(?P<s>[^\s"'`<>\\)]{8,})"#, confirm: is_not_masked },
    SecretPattern { kind: "api-key", hints: &[run("gsk_", 40), run("xai-", 40), run("pplx-", 40), run("r8_", 30), run("nvapi-", 40), run("fw_", 24), run("csk-", 40)],
            regex: r"(?:(?-u:\b)|\\[nrt])(?P<s>gsk_[0-9A-Za-z]{40,}|xai-[0-9A-Za-z]{40,}|pplx-[0-9A-Za-z]{40,}|r8_[0-9A-Za-z]{30,}|nvapi-[0-9A-Za-z_-]{40,}|fw_[0-9A-Za-z]{24,}|csk-[0-9a-z]{40,})", confirm: has_digit },
    SecretPattern { kind: "google-secret", hints: &[run("GOCSPX-", 20)],
            regex: r"GOCSPX-[0-9A-Za-z_-]{20,}", confirm: always },
    SecretPattern { kind: "atlassian-token", hints: &[word("ATATT3"), word("ATCTT3")],
            regex: r"ATATT3[0-9A-Za-z_=-]{40,}|ATCTT3[0-9A-Za-z_=-]{40,}", confirm: always },
    SecretPattern { kind: "vault-token", hints: &[run("hvs.", 24), run("hvb.", 24), run("hvr.", 24), word(".atlasv1.")],
            regex: r"(?:(?-u:\b)|\\[nrt])(?P<s>hv[sbr]\.[0-9A-Za-z_-]{24,}|[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{50,})", confirm: always },
    SecretPattern { kind: "shop-token", hints: &[run("shpat_", 32), run("shpca_", 32), run("shppa_", 32), run("shpss_", 32), run("sq0atp-", 22), run("sq0csp-", 22)],
            regex: r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[0-9A-Za-z_-]{22,}", confirm: always },
    SecretPattern { kind: "service-token", hints: SERVICE_HINTS,
            regex: SERVICES, confirm: has_digit },
    SecretPattern { kind: "age-key", hints: &[run("AGE-SECRET-KEY-1", 58)],
            regex: r"AGE-SECRET-KEY-1[0-9A-Z]{58}", confirm: always },
    SecretPattern { kind: "storage-key", hints: &[word("AccountKey="), word("SharedAccessKey=")],
            regex: r"(?:AccountKey|SharedAccessKey)=(?P<s>[0-9A-Za-z+/]{40,}={0,2})", confirm: always },
    SecretPattern { kind: "jwt", hints: &[run("eyJ", 10)],
            regex: r"eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]+", confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("-----BEGIN ")],
            regex: PRIVATE_KEY, confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("-----END ")],
            regex: PRIVATE_KEY_REST, confirm: always },
    SecretPattern { kind: "authorization", hints: &[sign("authorization")],
            regex: AUTHORIZATION, confirm: is_not_placeholder },
    SecretPattern { kind: "url-password", hints: &[RequiredSuffix { word: "://", following: Following::Login }],
            regex: r#"[A-Za-z]://[^/\s:@"'`]*:(?P<s>[^/\s@"'`<>{}$*‹]{3,})@"#, confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("login ")],
            regex: r"login[ \t]+\S+[ \t]+password[ \t]+(?P<s>\S+)", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("curl ")],
            regex: r#"curl [^\n]{0,128}?(?:-u|--user)[ =]?["']?[^\s:"']{1,128}:(?P<s>[^\s"'<>{}$‹]{3,})"#, confirm: is_not_placeholder },
];

/// Tokens whose services gave them a prefix nothing else begins with.
const SERVICES: &str = concat!(
    r"(?:(?-u:\b)|\\[nrt])(?P<s>lin_api_[0-9A-Za-z]{32,}|ntn_[0-9A-Za-z]{40,}|dp\.(?:pt|st|ct|sa)\.[0-9A-Za-z_.-]{36,}",
    r"|dapi[0-9a-f]{32}|PMAK-[0-9a-f-]{50,}|NRAK-[0-9A-Z]{27}|sntry[su]_[0-9A-Za-z_=+/-]{30,}",
    r"|dckr_(?:pat|oat)_[0-9A-Za-z_-]{20,}|pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.-]{30,}|rubygems_[0-9a-f]{48}",
    r"|figd_[0-9A-Za-z_-]{30,}|glsa_[0-9A-Za-z]{32}_[0-9a-f]{8}|gl(?:rt|dt|ptt|soat|cbt)-[0-9A-Za-z_-]{20,}",
    r"|key-[0-9a-f]{32}|sbp_[0-9a-f]{40}|do[or]_v1_[0-9a-f]{64})",
);

#[rustfmt::skip]
const SERVICE_HINTS: &[RequiredSuffix] = &[
    run("lin_api_", 32), run("ntn_", 40), word("dp.pt."), word("dp.st."), word("dp.ct."), word("dp.sa."),
    run("dapi", 32), run("PMAK-", 50), run("NRAK-", 27), word("sntrys_"), word("sntryu_"),
    run("dckr_pat_", 20), run("dckr_oat_", 20), word("pscale_tkn_"), word("pscale_pw_"),
    word("pscale_oauth_"), run("rubygems_", 48), run("figd_", 30), run("glsa_", 32),
    run("glrt-", 20), run("gldt-", 20), run("glptt-", 20), run("glsoat-", 20), run("glcbt-", 20),
    run("key-", 32), run("sbp_", 40), run("doo_v1_", 64), run("dor_v1_", 64),
];

/// The body of a key block, also inside a JSON string; the end may be cut off.
const PRIVATE_KEY: &str = concat!(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    r"(?P<s>(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n]*\n\s*)*[A-Za-z0-9+/=]{16,}(?:[A-Za-z0-9+/=\s]|\\[nr])*)",
);

/// The rest of a key block whose beginning was cut off.
const PRIVATE_KEY_REST: &str =
    r"(?P<s>(?:[A-Za-z0-9+/=]{40,}\r?\n)+[A-Za-z0-9+/=]*\r?\n?)-----END [A-Z0-9 ]*PRIVATE KEY";

const AUTHORIZATION: &str = concat!(
    r#"(?i:authorization)\\?["']?[ \t]*[:=][ \t]*\\?["']?"#,
    r#"(?i:bearer|basic|token)[ \t]+(?P<s>[^\s"'`\\,;<>{}$‹]{8,})"#,
);

/// Placeholders for secrets in documentation.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "your", "example", "xxxx", "****", "....", "placeholder", "changeme", "dummy", "redacted",
    "insert", "replace", "todo",
];

/// Names of secrets: a value that is made of them names a secret and is not one itself.
const NAMES: &[&str] = &["password", "passwd", "secret", "token", "apikey", "api_key", "key"];

/// Adds the matches of one shape in a text.
pub(super) fn find_matches(
    shape: &SecretPattern,
    regex: &Regex,
    text: &str,
    hits: &mut Vec<SecretSpan>,
) {
    let mut at = 0;
    while let Some(groups) = regex.captures_at(text, at) {
        let Some(whole) = groups.get(0) else { return };
        let secret = groups.name("s").unwrap_or(whole);
        let found = PatternMatch { text, secret: secret.as_str(), end: secret.end() };
        if (shape.confirm)(&found) {
            hits.push(SecretSpan {
                kind: shape.kind.into(),
                from: whole.start(),
                start: secret.start(),
                end: secret.end(),
                learned: matches!(shape.kind, "url-password" | "authorization" | "password"),
            });
            at = secret.end();
        } else {
            // A supposed value may contain a name and a value of its own.
            at = next_offset(text, secret.start().max(whole.start()));
        }
    }
}

/// Where a key block begins whose end has not come yet.
pub(super) fn find_open_key_block(text: &str) -> Option<usize> {
    let begin = text.rfind("-----BEGIN ")?;
    let rest = text.get(begin..)?;
    let body = rest.trim_start_matches("-----BEGIN ");
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "+/=\\:,- \r\n\t".contains(c);
    (!rest.contains("-----END ") && body.chars().all(goes_on)).then_some(begin)
}

/// The offset after the character at `at`.
fn next_offset(text: &str, at: usize) -> usize {
    let next = text.get(at..).and_then(|rest| rest.chars().next());
    at + next.map_or(1, char::len_utf8)
}

fn always(_: &PatternMatch<'_>) -> bool {
    true
}

fn has_digit(found: &PatternMatch<'_>) -> bool {
    found.secret.contains(|c: char| c.is_ascii_digit())
}

fn is_not_masked(found: &PatternMatch<'_>) -> bool {
    !found.secret.contains('‹')
}

/// Nothing of the token's own alphabet follows, and it is not a long name.
fn is_token_end(found: &PatternMatch<'_>) -> bool {
    let next = found.text.get(found.end..).and_then(|rest| rest.chars().next());
    let goes_on = next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    !goes_on && found.secret.contains(|c: char| c.is_ascii_uppercase())
}

fn is_not_placeholder(found: &PatternMatch<'_>) -> bool {
    !is_placeholder(found.secret)
}

pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.starts_with(['$', '<', '{', '%', '‹', '&', '*', '@'])
        || lower.contains("${")
        || lower.contains("{{")
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || NAMES.contains(&lower.as_str())
        || matches!(lower.as_str(), "pass" | "pwd" | "user")
}

/// `access_token`, `password-reset`, `newPassword`: speaks of a secret.
pub(super) fn contains_secret_word(value: &str) -> bool {
    let plain = value.chars().all(|c| c.is_ascii_alphabetic() || "_-./: ".contains(c));
    let mut spaced = String::with_capacity(value.len() * 2);
    for c in value.chars() {
        if c.is_ascii_uppercase() {
            spaced.push(' ');
        }
        spaced.push(c.to_ascii_lowercase());
    }
    let mut words = spaced.split(|c: char| !c.is_ascii_alphabetic());
    plain && words.any(|word| NAMES.contains(&word))
}

/// Begins with the name of a secret and goes on with no more than a number: `token2`.
pub(super) fn starts_with_secret_name(lower: &str) -> bool {
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    NAMES.contains(&stem) || ["pass", "pwd", "auth", "jwt"].contains(&stem)
}

/// Letters and digits both.
pub(super) fn has_letter_and_digit(value: &str) -> bool {
    value.contains(|c: char| c.is_ascii_alphabetic())
        && value.contains(|c: char| c.is_ascii_digit())
}

/// Long, and changing often between lower case, upper case and digits: variables are not
/// named like that.
pub(super) fn is_varied(value: &str) -> bool {
    let class = |c: char| match c {
        'a'..='z' => 1,
        'A'..='Z' => 2,
        '0'..='9' => 3,
        _ => 4,
    };
    let classes: Vec<u8> = value.chars().map(class).filter(|class| *class < 4).collect();
    let changes = classes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    value.len() >= 12 && has_letter_and_digit(value) && changes >= 4
}

/// `camelCaseLike`: small letters and great ones change often.
pub(super) fn changes_case(value: &str) -> bool {
    let letters: Vec<bool> =
        value.bytes().filter(u8::is_ascii_alphabetic).map(|b| b.is_ascii_uppercase()).collect();
    letters.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 5
}

pub(super) fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '?' || c == '!')
}
