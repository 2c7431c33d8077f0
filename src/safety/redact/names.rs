//! Names of variables, settings and fields that hold secrets.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What a name says about its value, from the least proof needed to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// Any word may be one.
    Password,
    Secret,
    Key,
    Token,
    /// The name of a service alone: `MAILGUN=…`.
    Service,
}

impl NameClass {
    /// The kind in its mask.
    pub fn kind(self) -> &'static str {
        match self {
            NameClass::Password => "password",
            NameClass::Key => "key",
            NameClass::Token => "token",
            NameClass::Secret | NameClass::Service => "secret",
        }
    }
}

/// The class of a name in any spelling: `DB_PASS`, `clientSecret`, `api-key`,
/// `AWS_SECRET_ACCESS_KEY2`; `None` for `PASSWORD_MIN_LENGTH` or `sortKey`.
pub(super) fn classify(name: &str) -> Option<NameClass> {
    let lower = name.to_lowercase();
    if let Some((_, class)) = FOREIGN.iter().find(|(word, _)| lower.ends_with(word)) {
        return Some(*class);
    }
    let words = words(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while words.len() > 1
        && words.last().is_some_and(|last| VARIANTS.contains(last) || is_number(last))
    {
        words.pop();
    }
    let (last, before) = words.split_last()?;
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    if before.iter().any(|word| OPEN.contains(word)) {
        return None;
    }
    let ends = |list: &[&str]| list.iter().any(|end| last.ends_with(end));
    let is = |list: &[&str]| list.contains(&last);
    let known = if (ends(PASSWORDS) || is(SHORT_PASSWORDS)) && !is(NO_PASSWORDS) {
        NameClass::Password
    } else if is(&["phrase", "words"]) {
        return before
            .last()
            .is_some_and(|word| PHRASES.contains(word))
            .then_some(NameClass::Secret);
    } else if is(&["key", "keys"]) {
        return before.last().is_some_and(|word| !NO_KEYS.contains(word)).then_some(NameClass::Key);
    } else if ends(KEYS) {
        NameClass::Key
    } else if (ends(TOKENS) || is(SHORT_TOKENS)) && !is(NO_TOKENS) {
        NameClass::Token
    } else if ends(SECRETS) || is(SHORT_SECRETS) {
        NameClass::Secret
    } else if is(SERVICES) {
        NameClass::Service
    } else {
        let pair = |(one, two, _): &&(&str, &str, NameClass)| {
            *two == last && before.last().is_some_and(|word| word == one)
        };
        return PAIRS.iter().find(pair).map(|(.., class)| *class);
    };
    Some(known)
}

/// Whether a text contains a word that the name of a secret has.
pub(super) fn may_name_secret(text: &str) -> bool {
    static STEMS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let stems = [PASSWORDS, SHORT_PASSWORDS, KEYS, TOKENS, SHORT_TOKENS, SECRETS];
        let stems = stems.into_iter().chain([SHORT_SECRETS, &["key"]]).flatten().copied();
        let stems = stems.chain(FOREIGN.iter().map(|(word, _)| *word));
        AhoCorasick::builder().ascii_case_insensitive(true).build(stems).ok()
    });
    STEMS.as_ref().is_none_or(|stems| stems.is_match(text))
}

/// Whether a name in lower case speaks of a key that opens something, and not of one by
/// which things are found.
pub(super) fn is_opening_key(name: &str) -> bool {
    let words = words(name);
    words.iter().rev().skip(1).any(|word| OPENING.contains(&word.as_str()))
        || words.last().is_some_and(|last| KEYS.iter().any(|key| last.ends_with(key)))
}

/// Whether the name is one whose long value anybody may read: a checksum, an identifier.
pub(super) fn is_fingerprint(name: &str) -> bool {
    words(name).iter().any(|word| FINGERPRINTS.contains(&word.as_str()))
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        // `ſ` and the sign of Kelvin are an `s` and a `k`.
        let c = match c {
            '\u{17f}' => 's',
            '\u{212a}' => 'K',
            other => other,
        };
        let begins = !c.is_ascii_alphanumeric()
            || c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words of languages that do not write with these letters, or not with all of them.
#[rustfmt::skip]
const FOREIGN: &[(&str, NameClass)] = &[
    ("密码", NameClass::Password), ("密碼", NameClass::Password), ("口令", NameClass::Password), ("パスワード", NameClass::Password),
    ("비밀번호", NameClass::Password), ("암호", NameClass::Password), ("пароль", NameClass::Password), ("contraseña", NameClass::Password),
    ("hasło", NameClass::Password), ("şifre", NameClass::Password), ("lösenord", NameClass::Password), ("mật khẩu", NameClass::Password),
    ("密钥", NameClass::Token), ("密鑰", NameClass::Token), ("秘钥", NameClass::Token), ("私钥", NameClass::Token), ("令牌", NameClass::Token),
    ("授权码", NameClass::Token), ("トークン", NameClass::Token), ("シークレット", NameClass::Token), ("토큰", NameClass::Token), ("токен", NameClass::Token),
];
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passcode", "pass", "pwd"];
#[rustfmt::skip]
const SHORT_PASSWORDS: &[&str] = &[
    "pin", "pw", "passwort", "contrasena", "pswd", "psk", "storepass", "keypass", "rootpw", "bindpw",
    "passkey", "passe", "senha", "kennwort", "wachtwoord", "salasana", "heslo",
];
/// Two words that name a secret together.
#[rustfmt::skip]
const PAIRS: &[(&str, &str, NameClass)] = &[
    ("sdk", "sk", NameClass::Secret), ("cloud", "sk", NameClass::Secret), ("auth", "ident", NameClass::Secret),
    ("recovery", "code", NameClass::Password), ("recovery", "codes", NameClass::Password),
    ("backup", "code", NameClass::Password), ("backup", "codes", NameClass::Password), ("pin", "code", NameClass::Password),
];
/// Words before `phrase` that say it opens something.
const PHRASES: &[&str] =
    &["seed", "recovery", "secret", "backup", "mnemonic", "pass", "wallet", "key"];
const NO_PASSWORDS: &[&str] =
    &["bypass", "compass", "surpass", "overpass", "underpass", "trespass", "oldpwd", "cwd"];
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "apikey", "accesskey", "secretkey", "privatekey", "encryptionkey", "signingkey", "masterkey",
    "authkey", "sshkey", "appkey", "sharedkey", "hmackey", "jwtkey",
];
/// Words before `key` that make it no secret.
#[rustfmt::skip]
const NO_KEYS: &[&str] = &[
    "primary", "socket", "gpg", "foreign", "sort", "cache", "partition", "row", "public", "pub", "publishable",
    "registry", "hot", "short", "shortcut", "group", "order", "index", "unique", "natural",
    "composite", "candidate", "range", "hash", "map", "dict", "object", "json", "config", "env",
    "i18n", "translation", "locale", "message", "lookup", "route", "query", "react",
    "idempotency", "issue", "project", "menu", "item", "column", "field", "prop", "data", "next",
    "prev", "last", "first", "min", "max", "any", "up", "down", "left", "right", "on", "meta",
    "modifier", "by", "the", "is", "has", "get", "set",
];
/// Words before `key` that say it opens something, where the case of the name does not.
#[rustfmt::skip]
const OPENING: &[&str] = &[
    "api", "access", "secret", "private", "encryption", "encrypt", "signing", "sign", "master",
    "auth", "ssh", "app", "application", "shared", "hmac", "jwt", "account", "service", "client",
    "server", "session", "deploy", "license", "webhook", "cipher", "crypto", "aes", "rsa", "admin",
    "root", "subscription", "function", "host", "tls", "ssl", "write", "ingest", "preshared", "wep",
    "wpa", "storage", "consumer", "fernet", "wallet", "oauth", "recovery", "kms", "peer",
];
const TOKENS: &[&str] = &["token"];
const SHORT_TOKENS: &[&str] =
    &["auth", "authorization", "jwt", "otp", "bearer", "authtoken", "pat"];
const NO_TOKENS: &[&str] = &["nexttoken", "pagetoken", "eostoken", "bostoken"];
const SECRETS: &[&str] = &["secret", "secrets"];
#[rustfmt::skip]
const SHORT_SECRETS: &[&str] = &[
    "credential", "credentials", "creds", "cred", "signing", "salt", "pepper", "cookie",
    "private", "setcookie", "mnemonic", "sas", "seckey", "privkey", "wif",
];
/// Services whose bare name is used for their key.
#[rustfmt::skip]
const SERVICES: &[&str] = &[
    "mailgun", "twilio", "sendgrid", "stripe", "openai", "anthropic", "github", "gitlab", "slack",
    "discord", "telegram", "heroku", "datadog", "sentry", "newrelic", "algolia", "mailchimp",
    "mapbox", "cloudflare", "digitalocean", "firebase", "supabase", "postmark", "mandrill",
    "pusher", "segment", "mixpanel", "rollbar", "bugsnag", "braintree", "paypal", "plaid",
    "huggingface", "replicate", "cohere", "mistral", "groq", "deepseek", "pinecone", "nexmo",
    "vonage", "airtable", "notion", "linear", "jira", "okta", "auth0", "zhipu", "dashscope",
    "moonshot", "openrouter", "perplexity", "elevenlabs", "deepgram", "tavily", "wandb",
];
/// Endings that say which of several it is.
#[rustfmt::skip]
const VARIANTS: &[&str] = &[
    "prod", "production", "dev", "development", "stage", "staging", "test", "testing", "local",
    "live", "sandbox", "old", "new", "current", "previous", "backup", "main", "default", "value",
    "string", "str", "raw", "plain", "plaintext", "base64", "b64", "hex", "encoded", "enc", "hash",
    "hashed", "digest", "a", "b", "rw", "ro", "read", "write", "v", "v1", "v2", "v3", "eu", "us",
    "this", "data", "base", "material",
];
/// Words that make whatever follows them no secret.
const OPEN: &[&str] = &["public", "publishable", "pub", "no", "without", "missing", "invalid"];
#[rustfmt::skip]
const FINGERPRINTS: &[&str] = &[
    "commit", "sha", "sha1", "sha256", "sha512", "md5", "checksum", "digest", "hash", "uuid",
    "guid", "id", "ids", "version", "revision", "rev", "build", "tag", "ref", "etag", "integrity",
    "fingerprint", "gpg", "colors", "colours", "path", "flags", "cflags", "image", "arn", "url",
    "uri", "name", "host", "cert", "certificate", "public", "pub", "date", "time", "timestamp",
    "user", "agent", "args", "options", "opts", "dsn", "head", "base", "tree", "hostname",
];
