//! The known shapes of secrets, as a table.
//!
//! Word boundaries are ASCII ones: a key right after a Chinese character is a key. Prefixes
//! that cannot be anything else have no boundary in front, because text inside JSON has
//! `\n` before them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::lines;
use super::values::{SecretSpan, has_letter_and_digit, is_placeholder, is_varied};

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
                rest.as_bytes().get(first) == Some(&b'.')
                    && is_key_run(rest, first)
                    && rest.get(first + 1..).is_some_and(|rest| is_key_run(rest, second))
            }
            Following::Literal => {
                let name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
                // Looked at from each word in a long name, all of it would take squared time.
                let end = rest.char_indices().nth(MAX_NAME).map_or(rest.len(), |(at, _)| at);
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
const MAX_NAME: usize = 128;

const QUOTES: [char; 4] = ['"', '\'', '`', '\\'];

fn is_key_run(text: &str, of: usize) -> bool {
    let key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    text.as_bytes().get(..of).is_some_and(|run| run.iter().all(key))
}

struct PatternMatch<'t> {
    text: &'t str,
    secret: &'t str,
    end: usize,
    name: Option<regex::Match<'t>>,
}

#[rustfmt::skip]
pub(super) const SHAPES: &[SecretPattern] = &[
    SecretPattern { kind: "service-token", hints: &[word(".atlasv1."), word("8Q~"), word("7Q~"), word(":APA91b"), word("AZDO"), word("FFFFNRAL"), word("-us"), run("st.", 24), run("1/", 16), run("2/", 16), RequiredSuffix { word: "pat", following: Following::Parts(14, 60) }],
            regex: r"(?:(?-u:\b)|\\[nrt])(?P<s>[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{50,}|[0-9A-Za-z]{3}[78]Q~[0-9A-Za-z_~.-]{31,}|pat[0-9A-Za-z]{14}\.[0-9a-f]{60,}|[0-9A-Za-z_-]{11}:APA91b[0-9A-Za-z_-]{100,}|[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}|[0-9a-f]{36}FFFFNRAL|[0-9a-f]{32}-us[0-9]{1,2}|st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}|[12]/[0-9]{16}/(?:[0-9]{16}:)?[0-9a-f]{32})", confirm: always },
    SecretPattern { kind: "service-token", hints: NAMED_TOKEN_HINTS,
            regex: r"(?:(?-u:\b)|\\[nrt])(?P<s>(?:[a-z0-9]{1,12}[_-]){0,2}(?:sk|rk|pat|key|api|secret|token|tkn|auth|priv)[_-](?:[a-z0-9]{1,8}[_-]){0,2}[0-9A-Za-z]{20,}(?:[_-][0-9A-Za-z]+)*)", confirm: is_named_token },
    SecretPattern { kind: "webhook", hints: &[word("hooks.slack.com/"), word("/api/webhooks/"), word("/bot/v2/hook/"), word("/webhook/send?key="), word(".office.com/webhook"), word("/hooks/catch/")],
            regex: r#"(?:hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|/open-apis/bot/v2/hook/|/webhook/send\?key=|\.office\.com/webhookb?2?/|hooks\.zapier\.com/hooks/catch/)(?P<s>[^\s"'`<>\\)]{8,})"#, confirm: is_not_masked },
    SecretPattern { kind: "telegram-token", hints: &[run(":", 35)],
            regex: r"(?:(?-u:\b)|bot)(?P<s>[0-9]{8,10}:[0-9A-Za-z_-]{35})", confirm: is_token_end },
    SecretPattern { kind: "discord-token", hints: &[RequiredSuffix { word: ".", following: Following::Parts(6, 27) }],
            regex: r"[A-Za-z0-9_-]{24,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", confirm: is_token_end },
    SecretPattern { kind: "storage-key", hints: &[word("AccountKey="), word("SharedAccessKey=")],
            regex: r"(?:AccountKey|SharedAccessKey)=(?P<s>[0-9A-Za-z+/]{40,}={0,2})", confirm: always },
    SecretPattern { kind: "jwt", hints: &[run("eyJ", 10)],
            regex: r"eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]+", confirm: always },
    SecretPattern { kind: "authorization", hints: &[word("authorization")],
            regex: AUTHORIZATION, confirm: is_not_placeholder },
    SecretPattern { kind: "authorization", hints: &[word("bearer "), word("bearer, "), word("ssws "), word("apikey "), word("oauth:")],
            regex: r"(?i:bearer,?[ \t]+|ssws[ \t]+|apikey[ \t]+|oauth:)(?P<s>[0-9A-Za-z._~+/%-]{20,}=*)", confirm: has_digit },
    SecretPattern { kind: "cookie", hints: &[word("cookie")],
            regex: r#"(?i)cookie["']?[ \t]*[:,=]?[ \t]*["']?(?:[^\s;"'=]+=[^;"'\n]*;[ ]?){0,32}?[a-z0-9_.-]*(?:sid|sess|auth|token|jwt)[a-z0-9_.-]*=(?P<s>[^\s;,"']{16,})"#, confirm: is_long_random },
    SecretPattern { kind: "secret", hints: &[word("jwt."), word("hmac"), word("keyspec(")],
            regex: r#"(?i)(?:jwts?\.[a-z]+\(\s*[^"'(),\n]{1,64},\s*|hmac\(\s*["'][a-z0-9-]{2,12}["']\s*,\s*|hmac\.new\(\s*|keyspec\(\s*)b?["'](?P<s>[^"'\n]{6,})["']"#, confirm: is_unlike_word },
    SecretPattern { kind: "signature", hints: &[sign("sig"), sign("signature"), sign("x-amz-security-token")],
            regex: r"(?i)(?:[?&;]|\\u0026)(?:sig|signature|x-(?:amz|goog)-signature|x-amz-security-token)=(?P<s>[0-9A-Za-z%+/_.-]{16,}=*)", confirm: is_not_placeholder },
    SecretPattern { kind: "password-hash", hints: &[run("$2a$", 2), run("$2b$", 2), run("$2y$", 2), word("$1$"), word("$5$"), word("$6$"), word("$7$"), word("$y$"), word("$apr1$"), word("$argon2"), word("$scrypt"), word("$pbkdf2"), word("pbkdf2_sha"), word("scram-sha-"), word("{sha"), word("{ssha"), word("'*"), word("\"*")],
            regex: PASSWORD_HASH, confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("Private-Lines:")],
            regex: r"Private-Lines: [0-9]+\s+(?P<s>(?:[0-9A-Za-z+/=]{4,}\s+)+)", confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("\"kty\"")],
            regex: r#""(?:d|p|q|dp|dq|qi|k)"\s*:\s*"(?P<s>[0-9A-Za-z_-]{20,})""#, confirm: always },
    SecretPattern { kind: "private-key", hints: &[word("<d>"), word("<p>"), word("<q>"), word("<dp>"), word("<dq>"), word("<inverseq>")],
            regex: r"<(?:D|P|Q|DP|DQ|InverseQ)>(?P<s>[0-9A-Za-z+/=]{20,})</", confirm: always },
    SecretPattern { kind: "token", hints: &[word("unseal key "), word("root token")],
            regex: r"(?i)(?:unseal key [0-9]+|root token)[^:\n]{0,20}:[ \t]+(?P<s>[0-9A-Za-z+/=._-]{20,})", confirm: is_long_random },
    SecretPattern { kind: "password", hints: &[word("password is"), word("passphrase is"), word("passcode is"), word("密码")],
            regex: r#"(?im)(?:(?:password|passphrase|passcode)[ \t]+is(?:[ \t]+now)?|密码[是为])[ \t]*[:：]?[ \t]*["'`]?(?P<s>[^\s"'`,;，。]{3,}?)["'`]?[.!。！]?[ \t]*$"#, confirm: is_long_random },
    SecretPattern { kind: "secret", hints: &[word("::add-mask::")],
            regex: r"::add-mask::(?P<s>\S+)", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("identified "), word("password for")],
            regex: r#"(?i)(?:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?(?:by|as)(?:[ \t]+password)?|password[ \t]+for[ \t]+\S+[ \t]*=)[ \t]+(?:password\()?["']?(?P<s>[^\s"';,)]{3,})"#, confirm: is_unlike_word },
    SecretPattern { kind: "password", hints: DIRECTIVE_HINTS,
            regex: DIRECTIVE, confirm: is_unlike_word },
    SecretPattern { kind: "secret", hints: SETTING_HINTS,
            regex: SETTING, confirm: is_given_bare },
    SecretPattern { kind: "secret", hints: &[sign("value"), sign("val"), word("</key>"), word("name=\""), word("key=\""), word("variable \"")],
            regex: PAIR, confirm: is_given_quoted },
    SecretPattern { kind: "password", hints: &[word("auth"), word("login"), literal("credential"), word("connect"), word("wifi.begin")],
            regex: r#"(?i)(?:(?:auth|login|credentials?|authentication|wifi\.begin)["']?(?:\s*[=:]\s*)?\(\s*|connect(?:ion)?\(\s*["'][^"'\n]{1,128}:[^"'\n]{0,128}["']\s*,\s*)["'][^"'\n]{1,64}["']\s*,\s*["'](?P<s>[^"'\s]{3,})["']\s*[,)]"#, confirm: is_unlike_word },
    SecretPattern { kind: "url-password", hints: &[RequiredSuffix { word: "://", following: Following::Login }],
            regex: r#"[0-9A-Za-z]://[^/\s:@"'`]*:(?P<s>[^/\s@"'`<>{}$*‹]{3,})@"#, confirm: is_not_placeholder },
    SecretPattern { kind: "url-token", hints: &[RequiredSuffix { word: "://", following: Following::Login }],
            regex: r"[0-9A-Za-z]://(?P<s>[0-9A-Za-z_-]{20,}):(?:x|x-oauth-basic)?@", confirm: is_long_random },
    SecretPattern { kind: "url-token", hints: &[word("alchemy.com/v2/"), word(".infura.io/v3/"), word("quiknode.pro/")],
            regex: r"(?:alchemy\.com/v2/|\.infura\.io/v3/|quiknode\.pro/)(?P<s>[0-9A-Za-z_-]{20,})", confirm: is_long_random },
    SecretPattern { kind: "token", hints: &[word("token "), word("login "), word("api key "), word("secret_access_key ")],
            regex: r#"(?i)(?-u:\b)(?:token|api key|login|secret_access_key) [ \t]*["'`]?(?P<s>[0-9A-Za-z_+/=-]{28,}|[a-z0-9]{6}\.[a-z0-9]{16})(?:[\s"'`.,]|$)"#, confirm: is_varied_token },
    SecretPattern { kind: "password", hints: &[word("send \""), word("send '")],
            regex: r#"(?i)assword[^\n]{0,64}send ["'](?P<s>[^"'\s\\]{3,})"#, confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("login "), word("<auth-user-pass>"), word("machine ")],
            regex: r"(?:login[ \t]+\S+(?:\s+account\s+\S+)?\s+password|machine[ \t]+\S+\s+password|<auth-user-pass>\s+\S+)\s+(?P<s>\S+)", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word(":54"), word(":64"), word(":*:"), word("]:"), word("] ")],
            regex: r"(?m)^(?:(?:[A-Za-z0-9_-]+|\*|[^:/\s]+\.[^:/\s.]{5,}|[^:/\s]+\.[^:/\s]+\.[^:/\s]+):(?:[56]4[0-9]{2}|\*):[^:/\s]+:[^:/\s]+|\[[^\]\s]+\.[^\]\s]+\](?::[0-9]+)?[ \t]+[^\s:]+):(?P<s>[^\s:]+)[ \t]*$", confirm: is_not_placeholder },
    SecretPattern { kind: "password", hints: &[word("\" \"")],
            regex: r#"(?m)^"[^"\s]+" "(?P<s>[^"\s]{4,})"[ \t]*$"#, confirm: has_digit },
    SecretPattern { kind: "password", hints: COMMAND_HINTS,
            regex: COMMAND, confirm: is_option_value },
    SecretPattern { kind: "password", hints: &[word("sudo -S"), word("-stdin"), word("--with-token")],
            regex: r#"(?:echo|printf)[ \t]+(?:-n[ \t]+)?["']?(?P<s>[^\s"'$`|<>]{3,})["']?[ \t]*\|[^\n|;]{0,80}(?:sudo -S|-stdin|--with-token)"#, confirm: is_option_value },
];

#[rustfmt::skip]
const NAMED_TOKEN_HINTS: &[RequiredSuffix] = &[
    run("sk_", 20), run("sk-", 20), run("rk_", 20), run("pat_", 20), run("pat-", 20), run("key_", 20), run("key-", 20), run("api_", 20),
    run("api-", 20), run("secret_", 20), run("secret-", 20), run("token_", 20), run("token-", 20), run("tkn_", 20), run("auth_", 20),
    run("auth-", 20), run("priv_", 20), run("rk-", 20), run("tkn-", 20), run("priv-", 20),
];

const AUTHORIZATION: &str = concat!(
    r#"(?i:authorization)\\?["']?[ \t]*[:=,]?[ \t]*\\?["']?"#,
    r#"(?i:bearer|basic|token|apikey|bot|key|ssws|client-id|sso-key|geniekey|apitoken|splunk|negotiate|ntlm)[ \t]+(?P<s>[^\s"'`\\,;<>{}$‹]{8,})"#,
);

/// What a system keeps of a password.
const PASSWORD_HASH: &str = concat!(
    r"\$(?:1|2[abxy]|5|6|7|y|apr1|argon2id?|argon2d|scrypt|pbkdf2[0-9a-z-]*)\$[0-9A-Za-z./$=,+-]{20,}",
    r"|pbkdf2_sha[0-9]+\$[0-9]+\$[0-9A-Za-z./$=+-]{20,}|SCRAM-SHA-[0-9]+\$[0-9]+:[0-9A-Za-z+/=$:]{20,}",
    r"|\{S?SHA(?:256|512)?\}[0-9A-Za-z+/=]{20,}|['\x22]\*[0-9A-F]{40}['\x22]",
);

/// `define('DB_PASSWORD', 'x')`, `setPassword("x")`, `WITH PASSWORD 'x'`
static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"^[A-Za-z0-9_.-]{1,64}(?:\\?["'`]\s*,\s*|[ \t]*\(\s*|[ \t]+)"#,
        r#"\\?["'`](?P<s>[^"'`\n\\]{2,256})\\?["'`]"#,
    ))
    .ok()
});

/// Words in the names of what is given by a quoted text.
static LITERAL_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = [
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "auth",
        "psk",
        "credential",
        "pat",
        "cookie",
        "salt",
    ];
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});

/// Looks at each such name alone: there are many quoted texts, and few with one.
pub(super) fn find_literals(text: &str, spans: &mut Vec<SecretSpan>) {
    let part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut done = 0;
    for found in LITERAL_WORDS.iter().flat_map(|words| words.find_iter(text)) {
        let hint = literal("");
        if found.start() < done || !text.get(found.end()..).is_some_and(|it| hint.allows_match(it))
        {
            continue;
        }
        let head = text.get(..found.start()).unwrap_or_default();
        let start = head.len() - head.chars().rev().take(64).take_while(|c| part(*c)).count();
        let begun = text.get(start..found.start()).unwrap_or_default();
        let digits = |c: char| !c.is_ascii_alphabetic() && c != '_';
        let start = found.start() - begun.trim_start_matches(digits).len();
        let near = text.get(start..).unwrap_or_default();
        let near = near.get(..near.floor_char_boundary(4 * MAX_NAME)).unwrap_or_default();
        let Some(groups) = LITERAL.as_ref().and_then(|regex| regex.captures(near)) else {
            continue;
        };
        let Some(secret) = groups.name("s") else { continue };
        let name = near.get(..near.find(|c| !part(c)).unwrap_or(0)).unwrap_or_default();
        done = start + name.len();
        if is_given_literal(text, start, name, secret.as_str()) {
            let span =
                SecretSpan::new("secret".into(), start + secret.start(), start + secret.end());
            spans.push(SecretSpan { from: start, learned: true, ..span });
            done = start + secret.end();
        }
    }
}

/// Words of settings and protocols that a secret follows.
const DIRECTIVE: &str = concat!(
    r"(?i)(?-u:\b)(?:requirepass|masterauth|(?:root)?bindpw|rootpw(?:[ \t]+--(?:plaintext|iscrypted))?|r[ow]community6?|snmp-server[ \t]+community",
    r"|(?:enable[ \t]+|username[ \t]+\S+[ \t]+(?:privilege[ \t]+[0-9]+[ \t]+)?)(?:password|secret)(?:[ \t]+[0-9])?|neighbor[ \t]+\S+[ \t]+password(?:[ \t]+[0-9])?",
    r"|pre-shared-key|key-string(?:[ \t]+[0-9])?|wpa-psk|set[ \t]+(?:psk|ppp-password)|convertto-securestring(?:[ \t]+-string)?|createuser[ \t]+\S+[ \t]+(?:md5|sha[0-9-]*)|socks[45][ \t]+[0-9.]+[ \t]+[0-9]+[ \t]+\S+|user[ \t]+\S+[ \t]+on(?:[ \t]+[~+&]\S+)*)",
    r#"[ \t]+["'>]?(?P<s>[^\s"';,<{]{3,})"#,
);

#[rustfmt::skip]
const DIRECTIVE_HINTS: &[RequiredSuffix] = &[
    word("requirepass "), word("masterauth "), word("bindpw "), word("rootpw "), word("community"),
    word("enable "), word("username "), word("neighbor "), word("pre-shared-key "), word("key-string "),
    word("wpa-psk "), word("set psk "), word("securestring "), word("createuser "), word("socks5 "), word("socks4 "), word(" on >"), word(" on ~"),
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
    r#"(?i)(?:["']?(?-u:\b)(?:key|name|id|property|variable|field|header|parameter)\\?["']?\s*[=:]\s*\\?["']?|<key>|(?-u:\b)variable[ \t]+["'])"#,
    r#"(?P<n>[A-Za-z0-9_.:/-]{2,64})"#,
    r#"(?:\\?["']?\s*[,;]?\s*(?:[A-Za-z]+=["'][^"'\n]*["']\s+)?\\?["']?(?-u:\b)(?:default_?)?val(?:ue)?\\?["']?\s*[=:]\s*\\?["']?|["'][^<>\n]{0,128}>|["'][ \t]*\{[^{}]{0,200}?default\s*=\s*["']|</key>\s*<string>)"#,
    r#"(?P<s>[^\s"'<>,\\]{3,})"#,
);

/// Passwords in the words of a command, which have no name there.
const COMMAND: &str = concat!(
    r#"(?-u:\b)(?:sshpass -p ?|(?:mysql|mariadb)[a-z-]*(?: [^\n|;&]{0,200}?)? -p|7z[ar]? [^\n|;&]{0,200}?-p|(?:openssl|-pass(?:in|out)?)[^\n|;&]{0,200}? pass:"#,
    r#"|redis-cli [^\n|;&]{0,200}?-a |ncat [^\n|;&]{0,200}?--proxy-auth [^\s:]+:|influx [^\n|;&]{0,200}?(?:-t|--token) |(?:sqlplus|impdp|expdp) [^\s/@]+/|mc alias set \S+ \S+ \S+ |net use \S+ |(?:cmdkey|[xw]freerdp) [^\n]{0,200}?/p(?:ass)?:|lftp [^\n|;&]{0,200}?-u [^\s,]+,|nmcli [^\n|;&]{0,200}?password |(?:https?|xhs?) (?:-a|--auth)[ =]["']?[^\s:"']+:|stats auth [^\s:]+:|ldap[a-z]+ [^\n|;&]{0,200}?-w |rabbitmqctl (?:add_user|change_password|authenticate_user) \S+ |rar [^\n|;&]{0,200}?-h?p|openssl enc [^\n|;&]{0,200}?-[kK] |ssh-keygen [^\n|;&]{0,200}?-[NP] |gh secret set [^\n]{0,64}?(?:--body|-b)[ =]|smbclient [^\n|;&]{0,200}?-U ?["']?[^\s%"']+%|(?:zip|unzip|sqlcmd|bcp|mosquitto_[a-z]+) [^\n|;&]{0,200}?-P ?"#,
    r#"|(?:docker|podman|helm|az|oc|cf)(?: registry)? login [^\n|;&]{0,200}?-p |(?:mongo[a-z]*|cqlsh|twine) [^\n|;&]{0,200}?-p |htpasswd -[A-Za-z]*b[A-Za-z]* \S+ \S+ |net user \S+ "#,
    r#"|snmp[a-z]+ [^\n|;&]{0,200}?-c |(?:plink|pscp|psftp) [^\n|;&]{0,200}?-pw |curl [^\n]{0,128}?(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\s:"']{1,128}:"#,
    r#"|echo ["']?[a-z_][a-z0-9_-]{0,31}:)["']?(?P<s>[^\s"'<>{}$‹|]{3,})"#,
);

#[rustfmt::skip]
const COMMAND_HINTS: &[RequiredSuffix] = &[
    word("sshpass "), word("mysql"), word("mariadb"), word("7z "), word("7za "), word("pass:"), word("redis-cli "), word("ncat "), word("influx "),
    word("ldap"), word("rabbitmqctl "), word("rar "), word("openssl enc "), word("ssh-keygen "), word("gh secret "), word("mosquitto_"), word("smbclient "), word("zip "), word(" login "), word("mongo"), word("htpasswd "),
    word("net use"), word("sqlplus "), word("impdp "), word("expdp "), word("mc alias "), word("cmdkey "), word("freerdp "),
    word("lftp "), word("nmcli "), word("http -"), word("https -"), word("xh -"), word("xhs -"), word("stats auth "), word("sqlcmd "), word("bcp "), word("cqlsh "), word("twine "), word("snmp"), word("plink "), word("pscp "), word("psftp "), word("curl "), word("chpasswd"),
];

/// Adds the matches of one shape in a text.
pub(super) fn find_matches(
    pattern: &SecretPattern,
    regex: &Regex,
    text: &str,
    spans: &mut Vec<SecretSpan>,
) {
    let mut at = 0;
    while let Some(groups) = regex.captures_at(text, at) {
        let Some(whole) = groups.get(0) else { return };
        let secret = groups.name("s").unwrap_or(whole);
        let name = groups.name("n");
        let pattern_match = PatternMatch { text, secret: secret.as_str(), end: secret.end(), name };
        if (pattern.confirm)(&pattern_match) {
            spans.push(SecretSpan {
                kind: pattern.kind.into(),
                from: whole.start(),
                start: secret.start(),
                end: secret.end(),
                learned: pattern.kind != "private-key",
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

fn has_digit(pattern_match: &PatternMatch<'_>) -> bool {
    pattern_match.secret.contains(|c: char| c.is_ascii_digit())
}

fn is_not_masked(pattern_match: &PatternMatch<'_>) -> bool {
    !pattern_match.secret.contains('‹')
}

/// Nothing of the token's own alphabet follows, and it is not a long name.
fn is_token_end(pattern_match: &PatternMatch<'_>) -> bool {
    let next = pattern_match.text.get(pattern_match.end..).and_then(|rest| rest.chars().next());
    let goes_on = next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    !goes_on && pattern_match.secret.contains(|c: char| c.is_ascii_uppercase())
}

fn is_not_placeholder(pattern_match: &PatternMatch<'_>) -> bool {
    !is_placeholder(pattern_match.secret)
}

/// A quoted text given to a name by a call or a statement.
fn is_given_literal(text: &str, at: usize, name: &str, secret: &str) -> bool {
    let (before, sign) = text.split_at(at);
    let sign = sign.get(name.len()..).unwrap_or_default().trim_start_matches('\\');
    let last = name.rsplit('.').next().unwrap_or_default();
    let sign = if sign.trim_start().starts_with('(') { sign.trim_start() } else { sign };
    let opens = match sign.chars().next() {
        // `define('DB_PASSWORD', 'x')`: the first words of a list are not values.
        Some('"' | '\'' | '`') => {
            let call = before.trim_end_matches(QUOTES).trim_end().strip_suffix('(');
            call.is_some_and(|call| gives_value(call, secret))
        }
        Some('(') => is_secret_setter(name, before),
        Some(',') => false,
        _ => {
            last.to_ascii_lowercase().contains("pass")
                || last.contains(['_', '-'])
                || last == "PSK"
                || is_varied(secret)
        }
    };
    opens && is_judged(last, secret, true)
}

/// `setPassword`, `withToken`, `builder.password`, `PASSWORD` of a database.
fn is_secret_setter(name: &str, before: &str) -> bool {
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

fn is_given_quoted(pattern_match: &PatternMatch<'_>) -> bool {
    pattern_match.name.is_some_and(|name| is_judged(name.as_str(), pattern_match.secret, true))
}

fn is_given_bare(pattern_match: &PatternMatch<'_>) -> bool {
    pattern_match.name.is_some_and(|name| is_judged(name.as_str(), pattern_match.secret, false))
}

fn is_judged(name: &str, value: &str, quoted: bool) -> bool {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or_default();
    lines::is_given_secret(last, value, quoted).is_some()
}

/// It ends in what no name ends in: digits of a key, or many of a hash.
fn is_named_token(pattern_match: &PatternMatch<'_>) -> bool {
    let parts = || pattern_match.secret.split(['_', '-']).filter(|part| part.len() >= 20);
    let hex = |part: &str| part.len() >= 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mixed = |part: &str| part.contains(|c: char| c.is_ascii_uppercase()) && is_varied(part);
    parts().any(|part| mixed(part) || hex(part) && has_letter_and_digit(part))
}

fn is_long_random(pattern_match: &PatternMatch<'_>) -> bool {
    has_letter_and_digit(pattern_match.secret) && is_not_placeholder(pattern_match)
}

/// Random letters and digits after a word that names a secret.
fn is_varied_token(pattern_match: &PatternMatch<'_>) -> bool {
    is_varied(pattern_match.secret) && is_not_placeholder(pattern_match)
}

/// An option of a command, and no option that follows it.
fn is_option_value(pattern_match: &PatternMatch<'_>) -> bool {
    !pattern_match.secret.starts_with(['-', '/', '\\']) && is_not_placeholder(pattern_match)
}

/// No word that prose goes on with.
fn is_unlike_word(pattern_match: &PatternMatch<'_>) -> bool {
    !is_placeholder(pattern_match.secret)
        && !pattern_match.secret.starts_with('/')
        && !lines::is_common_word(&pattern_match.secret.to_ascii_lowercase())
}
