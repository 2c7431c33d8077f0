//! The names of files that usually hold credentials, as one table of globs.
//!
//! The same table answers for one name ([`is_sensitive_name`]) and gives the patterns
//! that a recursive reader leaves out ([`sensitive_globs`]). All is lower case here and
//! compared without regard to case.

use avocet_core::text::short_name;

/// Names of one class: each stem, as it is or with each of the endings.
struct CredentialNames {
    stems: &'static [&'static str],
    endings: &'static [&'static str],
    /// Whether a sample of such a file (`.env.example`) holds no credentials.
    samples: bool,
}

/// Whether a name alone says that the file holds credentials.
pub fn is_sensitive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut name = name.as_str();
    while let Some(shorter) = COPIES.iter().find_map(|end| name.strip_suffix(end)) {
        name = shorter;
    }
    // The half of a key that anybody may read.
    if name.ends_with(".pub") {
        return false;
    }
    // Most names match no row, and the rest is not looked at for them.
    let is_harmless = || is_sample(name) || matches_any_glob(ORDINARY, name);
    TABLE.iter().any(|row| row.matches(name) && !(row.samples && is_harmless()))
}

/// The globs of the names, for programs that can leave files out. They may leave out a
/// sample too, never less than [`is_sensitive_name`] knows, copies of files apart.
pub fn sensitive_globs() -> impl Iterator<Item = String> {
    TABLE.iter().flat_map(CredentialNames::globs)
}

/// A glob that fits in any case, for programs that know no option for it: `.[eE][nN][vV]`.
pub fn case_insensitive_glob(glob: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(glob.len() * 4);
    for c in glob.chars() {
        inside = (inside || c == '[') && c != ']';
        match c {
            'a'..='z' if inside => out.extend([c, c.to_ascii_uppercase()]),
            'a'..='z' => out.extend(['[', c, c.to_ascii_uppercase(), ']']),
            _ => out.push(c),
        }
    }
    out
}

/// Folders that are left out as a whole: those of secrets, and those with a file of
/// credentials that its name alone does not tell.
pub fn excluded_folders() -> impl Iterator<Item = &'static str> {
    let pairs = SENSITIVE_PAIRS.iter().filter(|(_, file)| !is_sensitive_name(file));
    secret_folders().chain(pairs.map(|(folder, _)| *folder))
}

/// Whether a pattern of file names is after files of credentials: it fits some of them,
/// and no everyday name.
pub fn targets_credentials(glob: &str) -> bool {
    let glob = glob.to_ascii_lowercase();
    expand_braces(&glob).iter().any(|glob| {
        let name = short_name(glob);
        let secret = |secret: &str| matches_glob(name.as_bytes(), secret.as_bytes());
        is_sensitive_name(name)
            || AIMS.iter().any(|aim| secret(aim)) && !EVERYDAY.iter().any(|name| secret(name))
    })
}

/// A pattern once for each of the words between its braces; one level is enough.
fn expand_braces(glob: &str) -> Vec<String> {
    let parts = glob.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        Some((before, inner, after))
    });
    match parts {
        Some((before, inner, after)) => inner
            .split(',')
            .flat_map(|word| expand_braces(&format!("{before}{word}{after}")))
            .collect(),
        None => vec![glob.to_owned()],
    }
}

/// Names that a pattern may be after.
#[rustfmt::skip]
const AIMS: &[&str] = &[
    ".env", ".env.local", ".env.production", "prod.env", ".envrc", ".npmrc", ".netrc", ".pgpass",
    ".htpasswd", ".git-credentials", ".bash_history", ".token", ".secrets", ".dev.vars",
    "credentials", "credentials.json", "secrets.yml", "secrets.json", "secrets.txt",
    "passwords.txt", "service-account.json", "kubeconfig", "kubeconfig.yaml", "terraform.tfstate",
    "prod.tfvars", "server.pem", "server.key", "master.key", "cert.p12", "cert.pfx", "key.p8",
    "release.jks", "release.keystore", "db.kdbx", "id_rsa", "id_ed25519", "deploy_rsa",
    "wp-config.php", "cookies.txt", "rclone.conf", "key.properties",
];

/// Names of every project: what fits one of these is after something else, and leaves the
/// credentials out.
#[rustfmt::skip]
const EVERYDAY: &[&str] = &[
    "main.rs", "a.py", "index.js", "index.ts", "a.go", "a.c", "a.h", "a.sh", "a.java", "a.kt",
    "a.php", "a.pl", "a.properties", "readme.md", "notes.txt", "package.json", "schema.json",
    "config.json", "config.yml", "a.yaml", "a.toml", "a.xml", "a.ini", "a.conf", "a.cfg", "a.sql",
    "makefile", "dockerfile", "a.html", "a.css", "a.lock", "a.log", "a.csv",
];

/// The folders whose every file is a secret.
pub fn secret_folders() -> impl Iterator<Item = &'static str> {
    SECRET_FOLDERS.iter().copied()
}

/// Names without a wildcard.
pub(super) fn plain_names() -> impl Iterator<Item = String> {
    sensitive_globs().filter(|glob| !glob.contains(['*', '?', '[']))
}

impl CredentialNames {
    fn matches(&self, name: &str) -> bool {
        if self.endings.is_empty() {
            return matches_any_glob(self.stems, name);
        }
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            matches_any_glob(self.endings, ending) && matches_any_glob(self.stems, stem)
        })
    }

    fn globs(&self) -> impl Iterator<Item = String> {
        let alone = self.endings.is_empty().then_some(self.stems).into_iter().flatten();
        let ended = self
            .stems
            .iter()
            .flat_map(|stem| self.endings.iter().map(move |ending| format!("{stem}.{ending}")));
        alone.flat_map(|stem| globs_without_samples(stem)).chain(ended)
    }
}

/// `.env*` without the samples that everyone has and may read: a glob cannot express
/// exclusions, so it is spelled out letter by letter.
fn globs_without_samples(stem: &str) -> Vec<String> {
    const SAMPLE: [&str; 3] = ["example", "sample", "template"];
    if stem != ".env*" {
        return vec![stem.to_owned()];
    }
    let mut out = [".env", ".env[!.]*", ".env.", ".env.[!est]*"].map(str::to_owned).to_vec();
    for word in SAMPLE {
        for at in 1..word.len() {
            let (start, rest) = word.split_at(at);
            let next = rest.get(..1).unwrap_or_default();
            out.extend([format!(".env.{start}"), format!(".env.{start}[!{next}]*")]);
        }
        out.push(format!(".env.{word}[!._-]*"));
    }
    out
}

fn is_sample(name: &str) -> bool {
    name.split(['.', '-', '_']).any(|word| SAMPLES.contains(&word))
}

fn matches_any_glob(globs: &[&str], name: &str) -> bool {
    globs.iter().any(|glob| matches_glob(glob.as_bytes(), name.as_bytes()))
}

/// Whether a glob of `*`, `?` and `[…]` matches a whole name. Goes back to the last `*`
/// only, which is enough and takes at most the one length times the other.
pub(super) fn matches_glob(glob: &[u8], name: &[u8]) -> bool {
    let mut g = 0;
    let mut n = 0;

    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if glob.get(g) == Some(&b'*') {
            star = Some((g + 1, n));
            g += 1;
        } else if let Some(len) = match_byte(glob.get(g..).unwrap_or_default(), name[n]) {
            (g, n) = (g + len, n + 1);
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (g, n) = (after, from + 1);
        } else {
            return false;
        }
    }
    glob.get(g..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// How long the part of a glob is that fits one byte.
fn match_byte(glob: &[u8], byte: u8) -> Option<usize> {
    match glob.first()? {
        b'?' => Some(1),
        b'[' => {
            let end = glob.iter().position(|byte| *byte == b']')?;
            let inner = glob.get(1..end)?;
            let fits = match inner.strip_prefix(b"!") {
                Some(others) => !others.contains(&byte),
                None => inner.contains(&byte),
            };
            fits.then_some(end + 1)
        }
        first => (*first == byte).then_some(1),
    }
}

/// Suffixes that editors and users append to the name of a copy.
pub(super) const COPIES: &[&str] = &["~", ".bak", ".old", ".orig", ".save", ".backup", ".swp"];

/// Words that say: this shows what such a file looks like.
const SAMPLES: &[&str] =
    &["example", "sample", "template", "tmpl", "tpl", "dist", "defaults", "schema"];

/// Files that speak of secrets and hold none.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "*password*reset*", "*reset*password*", "*password*change*", "*change*password*",
    "*forgot*password*", "*password*polic*", "*secret*polic*", "external*secret*", "sealed*secret*",
    "*secretproviderclass*", "*secretstore*", "*-crd.y*", ".secretlint*", ".secrets.baseline",
];

#[rustfmt::skip]
const DATA: &[&str] = &[
    "json*", "y*ml", "toml", "txt", "ini", "c[fs][gv]", "conf*", "xml", "xls*", "properties",
    "p[gl]*", "d[ab]*", "b*k*", "en[cv]",
];

#[rustfmt::skip]
const TABLE: &[CredentialNames] = &[
    // Environment files.
    CredentialNames { samples: true, endings: &[], stems: &[
        ".env*", "*.env", "*.env.local", "env.local", "env.prod*", "env.stag*", ".flaskenv",
        ".dev.vars*", "*.dev.vars", ".secret*", ".credential*", ".password*", ".passwd*", ".token*",
        ".api_key*", ".apikey*", ".api-key*",
    ] },
    // Files whose names describe their contents.
    CredentialNames { samples: true, endings: DATA, stems: &[
        "*secret*", "*credential*", "*password*", "*passwd*", "creds", "*[-_.]creds",
    ] },
    CredentialNames { samples: true, endings: &["txt", "ini", "conf", "csv"], stems: &[
        "token", "access*token*", "auth*token*", "api*token*", "api*key*", "tokens",
    ] },
    CredentialNames { samples: true, endings: &["json"], stems: &[
        "token", "auth", "access*token*", "api*key", "api*keys", "key", "*[-_]key", "keyfile",
        "service[-_]account*", "serviceaccount*", "*service[-_]account*", "*adminsdk*", "gcp*key*",
        "*azureauth*", "azureprofile", "*publishsettings*", "adc", "local.settings", "sftp",
        "sftp-config", "docker-config",
    ] },
    CredentialNames { samples: true, endings: &[], stems: &[
        // Of clouds and clusters.
        "kubeconfig*", "*.kubeconfig", "*[-_]kubeconfig*", "kube.config", "kube-config*",
        "k3s.yaml", "rootkey.csv", "*accesskeys.csv", "*.publishsettings", "rclone.conf", ".s3cfg",
        ".boto", "*passwd-s3fs", ".terraformrc", "terraform.rc", "*.tfstate", "*.tfstate.*",
        "*.tfvars", "*.tfvars.json", ".dockercfg", ".dockerconfigjson", "*vault-token",
        "*vault[-_]pass*", "*.publishprofile", "*.kubeconfig.y*ml",
        // Of packages, databases, mail and the web.
        ".npmrc", ".yarnrc.yml", ".pypirc", ".netrc*", "_netrc", ".git-credentials", "*.htpasswd",
        ".htpasswd*", ".pgpass*", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".msmtprc", "msmtprc",
        ".mbsyncrc", ".fetchmailrc", ".offlineimaprc", "sasl_passwd*", ".authinfo*",
        ".rediscli_auth", ".ftpconfig", "sitemanager.xml", "recentservers.xml", "cookies.txt",
        "*[-_.]cookies.txt", "cookie.txt", "cookies.sqlite", "cookies.json", "*cookie[-_]jar*",
        "cookiejar*", "wp-config.php", "wp-config.*.php", "wp-config-*.php", "local_settings.py",
        "localsettings.php", "settings.local.php", "settings-security.xml",
        // Of builds that sign.
        "key.properties", "keystore.properties", "signing.properties",
        // As they are.
        "credentials",
    ] },
    // Keys, key stores, and histories of typed input. A key that is called a sample opens
    // something.
    CredentialNames { samples: false, endings: &[], stems: &[
        "*?.pem", "*?.key", "*?.p12", "*?.pfx", "*?.p8", "*?.pkcs12", "*?.kdbx", "*?.kdb", "*?.jks",
        "*?.bks", "*?.keystore", "*?.ppk", "*?.pvk", "*?.snk", "*?.keytab", "*?.ovpn", "*?.agekey",
        "*?.keychain", "*?.keychain-db", "*?.psafe3", "*?.1pux", "*?.pem.*", "keystore",
        "wallet.dat", "*?.wallet", "secring.gpg", ".*_history", "id_rsa", "id_dsa", "id_ecdsa",
        "id_ed25519", "id_xmss", "id_rsa[-_.0-9]*", "id_dsa[-_.0-9]*", "id_ecdsa[-_.0-9]*",
        "id_ed25519[-_.0-9]*", "*[-_]rsa", "*[-_]ed25519", "*[-_]ecdsa", "*[-_]dsa",
    ] },
];

pub(super) const SENSITIVE_PAIRS: &[(&str, &str)] = &[
    (".git", "config"),
    (".docker", "config.json"),
    (".kube", "config"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".gem", "credentials"),
    (".bundle", "config"),
    (".m2", "settings.xml"),
    (".vscode", "sftp.json"),
];

pub(super) const SECRET_FOLDERS: &[&str] = &[".ssh", ".aws", ".gnupg", ".azure", ".password-store"];

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const SENSITIVE: &[&str] = &[
        ".env", ".ENV", ".env.local", ".env-prod", ".env_prod", ".env.production.local", ".env2",
        ".envrc", ".env~", ".env.bak", "prod.env", "web.env.local", "env.local", "env.production",
        ".flaskenv", ".dev.vars", ".dev.vars.staging", "secrets.txt", "secret.json", "Secrets.YML",
        "secrets.prod.yaml", "prod-secrets.yaml", "secrets.toml", "passwords.txt", "password.txt",
        "db_password.txt", "passwords.csv", "passwords.xlsx", "passwd.txt", "credentials",
        "credentials.json", "aws_credentials.csv", "my-credentials.ini", "creds.json",
        "db.creds.yml", "client_secret.json", "client_secret_123-abc.apps.googleusercontent.com.json",
        "client_secrets.json", "service-account.json", "service_account.json",
        "service_account_prod.json", "serviceAccountKey.json", "my-app-firebase-adminsdk-x1-2b.json",
        "gcp-key.json", "deploy-key.json", "key.json", "token.json", "auth.json", "token.txt",
        "api_keys.txt", "api-key.txt", "access_token.json", "local.settings.json", "kubeconfig",
        "kubeconfig.yaml", "kubeconfig-prod", "prod.kubeconfig", "AuthKey_ABC.p8", "server.key",
        "cert.pem", "cert.pem.old", "cert.p12", "release.jks", "release.keystore", "upload.pfx",
        "db.kdbx", "x.ppk", "krb5.keytab", "id_rsa", "id_rsa_work", "id_ed25519.old", "deploy_rsa",
        "key.properties", "keystore.properties", "rclone.conf", "cookies.txt", "site_cookies.txt",
        "wp-config.php", "wp-config.bak.php", "local_settings.py", ".npmrc", ".netrc", ".pgpass",
        "pgpass.conf", ".my.cnf", ".msmtprc", "sasl_passwd", ".htpasswd", "site.htpasswd",
        "terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", "prod.auto.tfvars.json",
        ".terraformrc", "rootkey.csv", "dev_accessKeys.csv", ".bash_history", ".psql_history",
        "wallet.dat", "secring.gpg", ".vault_pass", "vault-password.txt", ".secrets",
        ".secrets.toml", ".token", "master.key", "example.key", "sftp-config.json",
        "azureauth.json", ".env.vault", "database.secret.yml", "smtp_password.conf",
    ];

    #[rustfmt::skip]
    const ORDINARY_NAMES: &[&str] = &[
        "a.rs", "main.py", "README.md", "package.json", "tsconfig.json", "Cargo.toml", "env.d.ts",
        "environment.yml", "environment.ts", "env.rs", "env.yml", "prod.env.js", "vite-env.d.ts",
        ".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example",
        "example.env", "env.example", "secrets.example.yaml", "wp-config-sample.php", "secrets.py",
        "secret.rs", "secrets.ts", "password.rs", "passwords.php", "password_reset_email.txt",
        "password-policy.yaml", "credentials.rs", "credentials.go", "Secret.java", "token.rs",
        "tokens.json", "tokenizer.json", "token.py", "tokenizer.rs", "key.rs", "keys.py",
        "keyboard.json", "keymap.json", "keybindings.json", "id_rsa.pub", "id_ed25519.pub", "id.rs",
        "authors.txt", "author.json", "auth.rs", "auth.ts", "oauth.py", "cookies.ts", "cookies.js",
        "config.json", "settings.json", "settings.py", "database.yml", "external-secret.yaml",
        "secret.schema.json", "credential.schema.json", ".secretlintrc.json", ".secrets.baseline",
        "Makefile", "notes.txt", "history.txt", "_history", "kube.rs", "wallet.rs", "pem.rs",
        "key.md", "passwordless.md", "secretary.md", ".gitignore", ".editorconfig", ".prettierrc",
    ];

    #[test]
    fn a_pattern_for_credentials_is_distinguished_from_one_that_also_matches_them() {
        for aims in [
            "*nv",
            "?env",
            ".e*",
            ".*",
            "[.]env",
            "*.pem",
            "*.PEM",
            "id_*",
            "*.{rs,env}",
            "s*ets.y*",
            "**/.env",
            "a/*.key",
            ".npm*",
            "*_history",
            "*rsa",
            "credential*",
        ] {
            assert!(targets_credentials(aims), "{aims}");
        }
        for broad in ["*", "*.*", "*.json", "*.y*ml", "*.rs", "src/**", "*.{ts,json}", "a*", "*.p*"]
        {
            assert!(!targets_credentials(broad), "{broad}");
        }
    }

    #[test]
    fn credential_names_are_recognised_by_class() {
        for name in SENSITIVE {
            assert!(is_sensitive_name(name), "{name}");
        }
        for name in ORDINARY_NAMES {
            assert!(!is_sensitive_name(name), "{name}");
        }
    }

    #[test]
    fn the_globs_fit_every_name_that_is_not_a_copy() {
        let globs: Vec<String> = sensitive_globs().collect();
        for name in SENSITIVE.iter().filter(|name| !COPIES.iter().any(|end| name.ends_with(end))) {
            let name = name.to_ascii_lowercase();
            assert!(
                globs.iter().any(|glob| matches_glob(glob.as_bytes(), name.as_bytes())),
                "{name}"
            );
        }
        // Each is one more argument of a program, and one more comparison for each file.
        assert!(globs.len() < 300, "{}", globs.len());
        assert_eq!(case_insensitive_glob("*.e[nv]?1"), "*.[eE][nNvV]?1");
    }

    #[test]
    fn samples_of_environment_files_are_left_in() {
        let fitted = |name: &str| {
            sensitive_globs().any(|glob| matches_glob(glob.as_bytes(), name.as_bytes()))
        };
        for sample in [".env.example", ".env.sample", ".env.template", ".env.example.local"] {
            assert!(!fitted(sample), "{sample}");
        }
        for name in [
            ".env",
            ".env.local",
            ".env2",
            ".env.",
            ".env.e",
            ".env.exam",
            ".env.staging",
            ".env.test",
            ".env.examples",
            ".env.production",
        ] {
            assert!(fitted(name), "{name}");
        }
    }

    #[test]
    fn a_glob_matches_as_in_a_shell() {
        for (glob, name, fit) in [
            ("a*b", "ab", true),
            ("a*b", "axxb", true),
            ("a*b", "axxbc", false),
            ("*a*a*", "xaxax", true),
            ("*a*a*", "xax", false),
            ("[ab]?", "bz", true),
            ("[ab]?", "cz", false),
            ("[ab]?", "b", false),
            ("[!ab]?", "cz", true),
            ("[!ab]?", "bz", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_glob(glob.as_bytes(), name.as_bytes()), fit, "{glob} {name}");
        }
    }
}
