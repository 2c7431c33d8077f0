//! Words that follow the names of secrets and are none.

#[rustfmt::skip]
pub(super) const SCHEMES: &[&str] = &[
    "basic", "digest", "oauth", "oauth2", "bearer", "token", "ldap", "saml", "md5", "trust", "peer",
    "scram", "scram-sha-256", "password", "plain", "login", "jwt", "session", "local", "external",
    "negotiate", "aws4-hmac-sha256",
];

#[rustfmt::skip]
pub(super) const NOTHING: &[&str] = &[
    "true", "false", "yes", "no", "on", "off", "none", "null", "nil", "undefined", "disabled",
    "enabled", "required", "optional", "default", "0", "1", "empty", "unset", "n/a", "na", "ask",
    "prompt", "auto", "never", "always", "erforderlich", "requis", "obligatoire", "obligatorio",
];

#[rustfmt::skip]
pub(super) const COMMON: &[&str] = &[
    "string", "str", "text", "bytes", "byte", "any", "object", "number", "int", "integer", "float",
    "bool", "boolean", "char", "varchar", "void", "unknown", "never", "symbol", "array", "list",
    "map", "input", "hidden", "masked", "visible", "invalid", "valid", "incorrect", "wrong",
    "value", "val", "hash", "hashed", "pw", "pwd", "pass", "passwd", "data", "raw", "arg", "args",
    "argv", "result", "res", "req", "request", "response", "body", "params", "form", "field",
    "fields", "config", "options", "opts", "self", "this", "user", "username", "name", "env",
    "event", "current", "next", "prev", "buf", "buffer", "s", "p", "x", "y", "t", "k", "v", "_",
    "identifier", "ident", "literal", "keyword", "operator", "comma", "colon", "eof", "id", "key",
    "type", "kind", "label", "title", "description", "header", "cookie", "query", "path", "bearer",
    "apikey", "basic", "oauth", "jwt", "new", "old", "update", "reset", "change", "forgot", "login",
    "logout", "signin", "signup", "register", "contains", "matches", "equals", "async", "await",
    "function", "lambda", "return", "if", "else", "let", "const", "var", "def", "fn", "int64",
    "uint64", "string1", "base64", "base64url", "utf-8", "utf8", "sha256", "sha512", "hs256",
    "rs256", "es256", "argon2", "argon2id", "aws4-hmac-sha256", "bcrypt", "pbkdf2", "md5", "sha1",
];

/// Words that prose has after the words of settings.
#[rustfmt::skip]
pub(super) const PROSE: &[&str] = &[
    "public", "is", "the", "to", "and", "or", "must", "directive", "option", "setting", "settings", "by",
];

/// Words of sentences.
#[rustfmt::skip]
pub(super) const GLUE: &[&str] = &[
    "the", "and", "for", "not", "you", "your", "must", "may", "can", "cannot", "are", "was", "has",
    "have", "with", "from", "this", "that", "than", "then", "too", "enter", "should", "does", "did",
    "will", "used", "use", "please", "when", "what", "where", "which", "its", "least", "more",
    "pass", "field", "required", "forgot", "user", "email", "characters",
];
