//! The known shapes of secrets, as a table.
//!
//! Word boundaries are ASCII ones: a key right after a Chinese character is a key. Prefixes
//! that cannot be anything else have no boundary in front, because text inside JSON has
//! `\n` before them.

use regex::Regex;

use super::lines;
use super::values::{SecretSpan, has_letter_and_digit, is_placeholder};

/// One kind of secret. The group `s`, where there is one, is the secret; else all is. A group `n`
/// is its name.
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
    /// The rest of a name, then a quoted text: in a call, in brackets or after a blank.
    Literal,
    /// So many characters that keys are made of, a point, and more of them.
    Parts(usize, usize),
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

const fn literal(word: &'static str) -> RequiredSuffix {
    RequiredSuffix { word, following: Following::Literal }
}

impl RequiredSuffix {
    /// Whether the text after the word allows a match.
    pub fn allows_match(self, rest: &str) -> bool {
        match self.following {
            Following::Anything => true,
            Following::Run(of) => is_key_run(rest, of),
            Following::Parts(first, second) => {
                let rest = rest.get(..=first + second).and_then(|rest| rest.split_once('.'));
                rest.is_some_and(|(head, rest)| head.len() == first && is_key_run(rest, second))
            }
            Following::Literal => {
                let name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
                // Looked at from each word in a long name, all of it would take squared time.
                let end = rest.char_indices().nth(LONGEST_NAME).map_or(rest.len(), |(at, _)| at);
                let rest = rest.get(..end).unwrap_or_default();
                let rest = rest.trim_start_matches(name).trim_start_matches(QUOTES);
                let value = rest.trim_start_matches([',', '(', ' ', '\t', '\n', '\r']);
                value.len() < rest.len() && value.starts_with(QUOTES)
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

/// The most characters from a word in a name to the quoted text it is given.
const LONGEST_NAME: usize = 128;

const QUOTES: [char; 4] = ['"', '\'', '`', '\\'];

fn is_key_run(text: &str, of: usize) -> bool {
    let key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    text.bytes().take(of).filter(key).count() == of
}

struct PatternMatch<'t> {
    text: &'t str,
    secret: &'t str,
    end: usize,
    name: Option<regex::Match<'t>>,
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
    SecretPattern { kind: "stripe-key", hints: &[run("sk_live_", 16), run("sk_test_", 16), run("rk_live_", 16), run("rk_test_", 16), run("whsec_", 24)],
            regex: r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}|whsec_[0-9A-Za-z+/]{24,}=*", confirm: always },
    SecretPattern { kind: "telegram-token", hints: &[run(":", 35)],
            regex: r"(?:(?-u:\b)|bot)(?P<s>[0-9]{8,10}:[0-9A-Za-z_-]{35})", confirm: is_token_end },
    SecretPattern { kind: "discord-token", hints: &[RequiredSuffix { word: ".", following: Following::Parts(6, 27) }],
            regex: r"[A-Za-z0-9_-]{24,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", confirm: is_token_end },
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
    SecretPattern { kind: "authorization", hints: &[word("authorization")],
            regex: AUTHORIZATION, confirm: is_not_placeholder },
    SecretPattern { kind: "authorization", hints: &[word("bearer ")],
            regex: r"(?i:bearer)[ \t]+(?P<s>[0-9A-Za-z._~+/-]{20,}=*)", confirm: has_digit },
    SecretPattern { kind: "signature", hints: &[sign("sig"), sign("signature"), sign("x-amz-security-token")],
            regex: r"(?i)(?:[?&;]|\\u0026)(?:sig|signature|x-(?:amz|goog)-signature|x-amz-security-token)=(?P<s>[0-9A-Za-z%+/_.-]{16,}=*)", confirm: is_not_placeholder },
    SecretPattern { kind: "password-hash", hints: &[run("$2a$", 2), run("$2b$", 2), run("$2y$", 2), word("$1$"), word("$5$"), word("$6$"), word("$7$"), word("$y$"), word("$apr1$"), word("$argon2"), word("$scrypt"), word("$pbkdf2"), word("pbkdf2_sha"), word("scram-sha-"), word("{sha"), word("{ssha")],
            regex: PASSWORD_HASH, confirm: always },
    SecretPattern { kind: "wallet-key", hints: &[run("xprv", 80), run("yprv", 80), run("zprv", 80), run("tprv", 80)],
            regex: r"[xyzt]prv[0-9A-Za-z]{80,}", confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("Private-Lines:")],
            regex: r"Private-Lines: [0-9]+\s+(?P<s>(?:[0-9A-Za-z+/=]{4,}\s+)+)", confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("\"kty\"")],
            regex: r#""(?:d|p|q|dp|dq|qi|k)"\s*:\s*"(?P<s>[0-9A-Za-z_-]{20,})""#, confirm: always },
    SecretPattern { kind: "secret", hints: &[word("::add-mask::")],
            regex: r"::add-mask::(?P<s>\S+)", confirm: is_not_placeholder },
    SecretPattern { kind: "secret", hints: LITERAL_HINTS,
            regex: LITERAL, confirm: is_given_literal },
    SecretPattern { kind: "password", hints: &[word("identified "), word("password for")],
            regex: r#"(?i)(?:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?(?:by|as)(?:[ \t]+password)?|password[ \t]+for[ \t]+\S+[ \t]*=)[ \t]+(?:password\()?["']?(?P<s>[^\s"';,)]{3,})"#, confirm: is_unlike_word },
    SecretPattern { kind: "password", hints: DIRECTIVE_HINTS,
            regex: DIRECTIVE, confirm: is_unlike_word },
    SecretPattern { kind: "secret", hints: SETTING_HINTS,
            regex: SETTING, confirm: is_given_bare },
    SecretPattern { kind: "secret", hints: &[sign("value"), sign("val"), word("</key>"), word("name=\""), word("key=\"")],
            regex: PAIR, confirm: is_given_quoted },
    SecretPattern { kind: "password", hints: &[word("auth"), word("login"), literal("credentials"), word("authentication(")],
            regex: r#"(?i)(?:auth|login|credentials|authentication)["']?(?:\s*[=:]\s*)?\(\s*["'][^"'\n]{1,64}["']\s*,\s*["'](?P<s>[^"'\s]{3,})["']\s*\)"#, confirm: is_unlike_word },
    SecretPattern { kind: "url-password", hints: &[RequiredSuffix { word: "://", following: Following::Login }],
            regex: r#"[A-Za-z]://[^/\s:@"'`]*:(?P<s>[^/\s@"'`<>{}$*‹]{3,})@"#, confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("login "), word("<auth-user-pass>"), word("machine ")],
            regex: r"(?:login[ \t]+\S+(?:\s+account\s+\S+)?\s+password|machine[ \t]+\S+\s+password|<auth-user-pass>\s+\S+)\s+(?P<s>\S+)", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word(":54"), word(":64"), word(":*:")],
            regex: r"(?m)^(?:[A-Za-z0-9_-]+|\*|[^:/\s]+\.[^:/\s.]{5,}|[^:/\s]+\.[^:/\s]+\.[^:/\s]+):(?:[56]4[0-9]{2}|\*):[^:/\s]+:[^:/\s]+:(?P<s>[^\s:]+)[ \t]*$", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("\" \"")],
            regex: r#"(?m)^"[^"\s]+" "(?P<s>[^"\s]{4,})"[ \t]*$"#, confirm: has_digit },
    SecretPattern { kind: "password", hints: COMMAND_HINTS,
            regex: COMMAND, confirm: is_option_value },
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

const AUTHORIZATION: &str = concat!(
    r#"(?i:authorization)\\?["']?[ \t]*[:=,]?[ \t]*\\?["']?"#,
    r#"(?i:bearer|basic|token|apikey|bot|key)[ \t]+(?P<s>[^\s"'`\\,;<>{}$‹]{8,})"#,
);

/// What a system keeps of a password.
const PASSWORD_HASH: &str = concat!(
    r"\$(?:1|2[abxy]|5|6|7|y|apr1|argon2id?|argon2d|scrypt|pbkdf2[0-9a-z-]*)\$[0-9A-Za-z./$=,+-]{20,}",
    r"|pbkdf2_sha[0-9]+\$[0-9]+\$[0-9A-Za-z./$=+-]{20,}|SCRAM-SHA-[0-9]+\$[0-9]+:[0-9A-Za-z+/=$:]{20,}",
    r"|\{S?SHA(?:256|512)?\}[0-9A-Za-z+/=]{20,}",
);

/// `define('DB_PASSWORD', 'x')`, `setPassword("x")`, `WITH PASSWORD 'x'`
const LITERAL: &str = concat!(
    r#"(?P<n>[A-Za-z_][A-Za-z0-9_.-]{1,64})(?:\\?["'`]\s*,\s*|[ \t]*\(\s*|[ \t]+)"#,
    r#"\\?["'`](?P<s>[^"'`\n\\]{2,256})\\?["'`]"#,
);

#[rustfmt::skip]
const LITERAL_HINTS: &[RequiredSuffix] = &[
    literal("password"), literal("passwd"), literal("pwd"), literal("pass"), literal("passphrase"),
    literal("passcode"), literal("secret"), literal("token"), literal("key"), literal("auth"),
    literal("psk"), literal("credential"), literal("pat"), literal("cookie"), literal("salt"),
];

/// Words of settings and protocols that a secret follows.
const DIRECTIVE: &str = concat!(
    r"(?i)(?-u:\b)(?:requirepass|masterauth|(?:root)?bindpw|rootpw(?:[ \t]+--(?:plaintext|iscrypted))?|r[ow]community6?|snmp-server[ \t]+community",
    r"|(?:enable[ \t]+|username[ \t]+\S+[ \t]+(?:privilege[ \t]+[0-9]+[ \t]+)?)(?:password|secret)(?:[ \t]+[0-9])?|neighbor[ \t]+\S+[ \t]+password(?:[ \t]+[0-9])?",
    r"|pre-shared-key|key-string(?:[ \t]+[0-9])?|wpa-psk|set[ \t]+(?:psk|ppp-password)|user[ \t]+\S+[ \t]+on(?:[ \t]+[~+&]\S+)*)",
    r#"[ \t]+["'>]?(?P<s>[^\s"';,<{]{3,})"#,
);

#[rustfmt::skip]
const DIRECTIVE_HINTS: &[RequiredSuffix] = &[
    word("requirepass "), word("masterauth "), word("bindpw "), word("rootpw "), word("community"),
    word("enable "), word("username "), word("neighbor "), word("pre-shared-key "), word("key-string "),
    word("wpa-psk "), word("set psk "), word(" on >"), word(" on ~"),
];

/// `setenv DB_PASSWORD x`
const SETTING: &str = concat!(
    r"(?-u:\b)(?:setenv|setx|SetEnv|putenv|set[ \t]+-[a-zU]*x[a-z]*|(?:config(?:ure)?|variable|secret)[ \t:](?:set|add)|ENV|fastcgi_param|env)",
    r#"[ \t]+(?:--?[a-z]+[ \t]+)*["']?(?P<n>[A-Za-z0-9_.:/-]{2,96})["']?[ \t]+["']?(?P<s>[^\s"';]{3,})"#,
);

#[rustfmt::skip]
const SETTING_HINTS: &[RequiredSuffix] = &[
    word("setenv "), word("setx "), word("set -"), word("config set "), word("configure set "),
    word("config:set "), word("variable set "), word("secret set "), word("env "), word("fastcgi_param "),
];

/// `name="DB_PASSWORD" value="x"`, `<string name="token">x</string>`, `<key>token</key><string>x`
const PAIR: &str = concat!(
    r#"(?i)(?:["']?(?-u:\b)(?:key|name|id|property|variable|field|header|parameter)\\?["']?\s*[=:]\s*\\?["']?|<key>)"#,
    r#"(?P<n>[A-Za-z0-9_.:/-]{2,64})"#,
    r#"(?:\\?["']?\s*[,;]?\s*(?:[A-Za-z]+=["'][^"'\n]*["']\s+)?\\?["']?(?-u:\b)(?:default_?)?val(?:ue)?\\?["']?\s*[=:]\s*\\?["']?|["'][^<>\n]{0,128}>|</key>\s*<string>)"#,
    r#"(?P<s>[^\s"'<>,\\]{3,})"#,
);

/// Passwords in the words of a command, which have no name there.
const COMMAND: &str = concat!(
    r#"(?-u:\b)(?:sshpass -p ?|(?:mysql|mariadb)[a-z-]*(?: [^\n|;&]{0,200}?)? -p|7z[ar]? [^\n|;&]{0,200}?-p|(?:openssl|-pass(?:in|out)?)[^\n|;&]{0,200}? pass:"#,
    r#"|redis-cli [^\n|;&]{0,200}?-a |ldap[a-z]+ [^\n|;&]{0,200}?-w |smbclient [^\n|;&]{0,200}?-U ?["']?[^\s%"']+%|(?:un)?zip [^\n|;&]{0,200}?-P ?"#,
    r#"|(?:docker|podman|helm|az|oc|cf)(?: registry)? login [^\n|;&]{0,200}?-p |mongo[a-z]* [^\n|;&]{0,200}?-p |htpasswd -[A-Za-z]*b[A-Za-z]* \S+ \S+ |net user \S+ "#,
    r#"|snmp[a-z]+ [^\n|;&]{0,200}?-c |(?:plink|pscp|psftp) [^\n|;&]{0,200}?-pw |curl [^\n]{0,128}?(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\s:"']{1,128}:"#,
    r#"|echo ["']?[a-z_][a-z0-9_-]{0,31}:)["']?(?P<s>[^\s"'<>{}$‹|]{3,})"#,
);

#[rustfmt::skip]
const COMMAND_HINTS: &[RequiredSuffix] = &[
    word("sshpass "), word("mysql"), word("mariadb"), word("7z "), word("7za "), word("pass:"), word("redis-cli "),
    word("ldap"), word("smbclient "), word("zip "), word(" login "), word("mongo"), word("htpasswd "),
    word("net user "), word("snmp"), word("plink "), word("pscp "), word("psftp "), word("curl "), word("chpasswd"),
];

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
        let name = groups.name("n");
        let found = PatternMatch { text, secret: secret.as_str(), end: secret.end(), name };
        if (shape.confirm)(&found) {
            hits.push(SecretSpan {
                kind: shape.kind.into(),
                from: whole.start(),
                start: secret.start(),
                end: secret.end(),
                learned: shape.kind != "private-key",
            });
            at = secret.end();
        } else {
            // A supposed value may contain a name and a value of its own.
            let inner = Some(secret.start()).filter(|inner| *inner > whole.start());
            at = inner.unwrap_or_else(|| next_offset(text, whole.start()));
        }
    }
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

/// A quoted text given to a name by a call or a statement.
fn is_given_literal(found: &PatternMatch<'_>) -> bool {
    let Some(name) = found.name else { return false };
    let sign = found.text.get(name.end()..).unwrap_or_default();
    let sign = sign.trim_start_matches('\\');
    let text = found.text.get(..name.start()).unwrap_or_default();
    let last = name.as_str().rsplit('.').next().unwrap_or_default();
    let sign = if sign.trim_start().starts_with('(') { sign.trim_start() } else { sign };
    let opens = match sign.chars().next() {
        // `define('DB_PASSWORD', 'x')`: the first words of a list are not values.
        Some('"' | '\'' | '`') => {
            let call = text.trim_end_matches(QUOTES).trim_end().strip_suffix('(');
            call.is_some_and(|call| gives_value(call, found.secret))
        }
        Some('(') => is_setter(name.as_str(), text),
        Some(',') => false,
        _ => last.to_ascii_lowercase().contains("pass") || last.contains(['_', '-']),
    };
    opens && is_judged(last, found.secret, true)
}

/// `setPassword`, `withToken`, `builder.password`, `PASSWORD` of a database.
fn is_setter(name: &str, before: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let lower = last.to_ascii_lowercase();
    let verbs = ["set", "with", "use", "add", "put"];
    let sets = verbs.iter().any(|verb| lower.starts_with(verb));
    let builds = (name.contains('.') || before.ends_with(['.', '>']))
        && ["password", "passwd", "pass", "secret", "token", "passphrase", "bearerauth", "apikey"]
            .contains(&lower.replace('_', "").as_str());
    sets || builds || last == "PASSWORD"
}

/// Whether a call of two arguments gives the second to the name in the first.
fn gives_value(call: &str, value: &str) -> bool {
    const VERBS: &[&str] = &[
        "define", "env", "set", "put", "add", "append", "with", "config", "param", "property",
        "header", "insert", "store", "default", "setting", "option", "getenv", "assign",
    ];
    let start = call.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let function = call.get(start..).unwrap_or_default().to_ascii_lowercase();
    VERBS.iter().any(|verb| function.contains(verb))
        || !function.is_empty() && has_letter_and_digit(value)
}

fn is_given_quoted(found: &PatternMatch<'_>) -> bool {
    found.name.is_some_and(|name| is_judged(name.as_str(), found.secret, true))
}

fn is_given_bare(found: &PatternMatch<'_>) -> bool {
    found.name.is_some_and(|name| is_judged(name.as_str(), found.secret, false))
}

fn is_judged(name: &str, value: &str, quoted: bool) -> bool {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or_default();
    lines::is_given_secret(last, value, quoted).is_some()
}

/// An option of a command, and no option that follows it.
fn is_option_value(found: &PatternMatch<'_>) -> bool {
    !found.secret.starts_with('-') && is_not_placeholder(found)
}

/// No word that prose goes on with.
fn is_unlike_word(found: &PatternMatch<'_>) -> bool {
    !is_placeholder(found.secret)
        && !found.secret.starts_with('/')
        && !lines::is_common_word(&found.secret.to_ascii_lowercase())
}
