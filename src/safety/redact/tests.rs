use super::*;

fn redactor() -> Redactor {
    Redactor::new([("PROVIDER_KEY", "very+secret/value=42"), ("SHORT", "abc")], [7; 16])
}

/// The kinds masked in a text, in order.
fn kinds(text: &str) -> Vec<String> {
    let masked = redactor().mask(text).into_owned();
    masked
        .split("‹secret:")
        .skip(1)
        .filter_map(|part| part.split_once(" #").map(|(kind, _)| kind.to_owned()))
        .collect()
}

/// Built from parts, so that no scanner takes this file for a leak.
fn samples() -> Vec<(&'static str, String)> {
    let many = |len: usize| "aB3dE6gH9k".chars().cycle().take(len).collect::<String>();
    vec![
        ("aws-key", format!("AKIA{}", "ABCDEFGH12345678")),
        ("github-token", format!("ghp_{}", many(36))),
        ("github-token", format!("github_pat_{}", many(30))),
        ("gitlab-token", format!("glpat-{}", many(20))),
        ("slack-token", format!("xoxb-{}", many(24))),
        ("slack-token", format!("xapp-1-{}", many(24))),
        ("api-key", format!("sk-{}", many(40))),
        ("api-key", format!("sk-ant-{}", many(40))),
        ("google-key", format!("AIza{}", many(35))),
        ("google-token", format!("ya29.{}", many(40))),
        ("npm-token", format!("npm_{}", many(36))),
        ("pypi-token", format!("pypi-{}", many(60))),
        ("huggingface-token", format!("hf_{}", many(34))),
        ("digitalocean-token", format!("dop_v1_{}", "0123456789abcdef".repeat(4))),
        ("sendgrid-key", format!("SG.{}.{}", many(22), many(43))),
        ("stripe-key", format!("sk_live_{}", many(24))),
        ("telegram-token", format!("123456789:{}", many(35))),
        ("api-key", format!("gsk_{}", many(52))),
        ("api-key", format!("xai-{}", many(80))),
        ("api-key", format!("nvapi-{}", many(60))),
        ("google-secret", format!("GOCSPX-{}", many(28))),
        ("atlassian-token", format!("ATATT3{}", many(180))),
        ("vault-token", format!("hvs.{}", many(90))),
        ("shop-token", format!("shpat_{}", "0123456789abcdef".repeat(2))),
        ("service-token", format!("lin_api_{}", many(40))),
        ("service-token", format!("dapi{}", "0123456789abcdef".repeat(2))),
        ("service-token", format!("dckr_pat_{}", many(27))),
        ("service-token", format!("dp.pt.{}", many(43))),
        ("service-token", format!("rubygems_{}", "0123456789abcdef".repeat(3))),
        ("service-token", format!("glrt-{}", many(20))),
        (
            "age-key",
            format!(
                "AGE-SECRET-KEY-1{}",
                "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2).get(..58).unwrap()
            ),
        ),
        ("jwt", format!("eyJ{}.eyJ{}.{}", many(20), many(30), many(40))),
    ]
}

fn key_block() -> String {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(3);
    format!("-----BEGIN {0}-----\n{body}abc=\n-----END {0}-----\n", "RSA PRIVATE KEY")
}

#[test]
fn a_new_session_knows_the_same_values_and_nothing_that_another_learned() {
    let first = Redactor::new([("TOKEN", "k3J9-qX2v-77Lm-PzQ4")], [7; 16]);
    first.learn_values(["hunter2-of-this-chat"].into_iter());
    let second = first.for_new_session();
    let text = "k3J9-qX2v-77Lm-PzQ4 and hunter2-of-this-chat";
    assert!(!first.mask(text).contains("hunter2"), "{}", first.mask(text));
    let seen = second.mask(text);
    assert!(!seen.contains("k3J9") && seen.contains("hunter2-of-this-chat"), "{seen}");
    let mask = first.mask("hunter2-of-this-chat").into_owned();
    assert!(second.reveal(&mask, "").is_err());
}

#[test]
fn each_pattern_is_masked_anywhere_in_a_text() {
    for (kind, secret) in samples() {
        for text in [
            secret.clone(),
            format!("before {secret} after"),
            format!("密钥{secret}。"),
            format!(r#"{{"log":"line\n{secret}"}}"#),
        ] {
            if kind == "telegram-token" && text.contains(r"\n1") {
                continue;
            }
            assert_eq!(kinds(&text), [kind], "{text}");
            assert!(!redactor().mask(&text).contains(&secret), "{text}");
        }
    }
}

/// How secrets begin that `samples` has none of.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "gho_", "ghu_", "ghs_", "ghr_", "xoxa-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "sk-proj-",
    "sk-or-", "sk_test_", "rk_live_", "rk_test_", "pplx-", "r8_", "fw_", "ATCTT3", "hvb.", "hvr.",
    "ABCDEFGHIJKLMN.atlasv1.", "ntn_", "dp.st.", "dp.ct.", "dp.sa.", "dckr_oat_", "pscale_tkn_",
    "pscale_pw_", "pscale_oauth_", "figd_", "gldt-", "glptt-", "glsoat-", "glcbt-", "sq0atp-",
    "sq0csp-", "sntrys_", "sntryu_", "https://hooks.slack.com/", "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/", "AccountKey=", "SharedAccessKey=", "Authorization: Bearer ",
    "\"authorization\" : \"Basic ", "\\\"authorization\\\":\\\"token ", "password=", "PASSWD := ",
    "passphrase: ", "api_key = ", "api-key: ", "apiKey => ", "access_key=", "access-key=",
    "accessKey=", "secret_key=", "secret-key=", "secretKey=", "SECRET=", "token=",
    "\"token\" : \"", "\\\"secret\\\":\\\"", "'password': '",
];

/// Puts digits in the place of `{a:8}`.
fn fill(mut text: String, (sign, digits): (&str, String)) -> String {
    while let Some((before, rest)) = text.split_once(sign) {
        let (len, after) = rest.split_once('}').unwrap();
        let digits: String = digits.chars().take(len.parse().unwrap()).collect();
        text = format!("{before}{digits}{after}");
    }
    text
}

/// A shape ruled out by its hints is never looked for.
#[test]
fn every_match_of_a_shape_contains_one_of_its_hints() {
    let many = |len: usize| "aB3dE6gH9k".chars().cycle().take(len).collect::<String>();
    let hex = |len: usize| "0123456789abcdef".chars().cycle().take(len).collect::<String>();
    let great = |len: usize| "A1B2C3D4".chars().cycle().take(len).collect::<String>();
    let mut texts: Vec<String> = samples().into_iter().map(|(_, text)| text).collect();
    texts.extend(BEGINNINGS.iter().map(|prefix| {
        let quote = prefix.chars().next_back().filter(|c| "'\"".contains(*c));
        format!("{prefix}{}{}", many(90), quote.map_or(String::new(), String::from))
    }));
    let in_hex =
        ["shpca_", "shppa_", "shpss_", "key-", "sbp_", "doo_v1_", "dor_v1_", "PMAK-", "csk-"];
    texts.extend(in_hex.iter().map(|prefix| format!("{prefix}{}", hex(90))));
    texts.extend(["ASIA", "NRAK-"].iter().map(|prefix| format!("{prefix}{}", great(40))));
    texts.push(format!("glsa_{}_{}", many(32), hex(8)));
    texts.push("postgres://user:pa55word@host/db".into());
    texts.push("redis://:pa55word@host".into());
    texts.push("machine x login me password pa55word".into());
    texts.push("curl -s -u me:pa55word https://host".into());
    texts.extend(
        ["pa\u{17f}\u{17f}word=", "TO\u{212a}EN="].map(|name| format!("{name}{}", many(40))),
    );
    texts.extend(include_str!("../../../tests/fixtures/masks/secrets.txt").lines().map(|line| {
        let filled = line.replace(['⟦', '⟧'], "").replace('⏎', "\n");
        let digits =
            [("{a:", many(128)), ("{b:", many(128)), ("{h:", hex(128)), ("{u:", great(60))];
        digits.into_iter().chain([("{d:", "1234567890123456789".into())]).fold(filled, fill)
    }));
    texts.push(key_block());
    texts.push(key_block().split_once('\n').unwrap().1.into());
    let compiled = CompiledShapes::new();
    let mut seen = vec![0; SHAPES.len()];
    for text in texts {
        let text = format!("see {text} there\n{text}\n");
        let hinted: Vec<usize> =
            compiled.candidate_patterns(&text, &mut Vec::new()).map(|(index, _)| index).collect();
        for (index, shape) in SHAPES.iter().enumerate() {
            let mut matches = Vec::new();
            shapes::find_matches(shape, compiled.regex_at(index).unwrap(), &text, &mut matches);
            if !matches.is_empty() {
                assert!(hinted.contains(&index), "{}: {text}", shape.kind);
                seen[index] += 1;
            }
        }
    }
    let unseen = seen.iter().zip(SHAPES).filter(|(times, _)| **times == 0);
    let unseen: Vec<&str> = unseen.map(|(_, shape)| shape.regex).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn known_values_are_masked_in_every_form() {
    for form in
        ["very+secret/value=42", "very%2Bsecret%2Fvalue%3D42", "dmVyeStzZWNyZXQvdmFsdWU9NDI"]
    {
        let text = format!("x {form} y");
        assert_eq!(kinds(&text), ["PROVIDER_KEY"], "{form}");
    }
    assert_eq!(redactor().mask("abc stays"), "abc stays");
}

#[test]
fn equal_secrets_look_equal_and_only_within_a_session() {
    let (_, secret) = samples().remove(1);
    let text = format!("{secret} {secret}");
    let masked = redactor().mask(&text).into_owned();
    let (first, second) = masked.split_once("› ").expect("two masks");
    assert_eq!(format!("{first}›"), second);
    let other = Redactor::new([("", "")], [8; 16]);
    assert_ne!(other.mask(&text), masked);
}

#[test]
fn a_private_key_is_masked_between_its_marks() {
    let masked = redactor().mask(&key_block()).into_owned();
    assert!(masked.starts_with("-----BEGIN RSA PRIVATE KEY-----‹secret:private-key #"));
    assert!(!masked.contains("MII") && masked.contains("-----END RSA PRIVATE KEY-----"));
    let in_json = key_block().replace('\n', r"\n");
    assert_eq!(kinds(&in_json), ["private-key"]);
    let (_, rest) = key_block()
        .split_once("-----\n")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("a line");
    assert_eq!(kinds(&rest), ["private-key"], "the beginning is cut off");
    assert_eq!(kinds(key_block().split("-----END").next().expect("a part")), ["private-key"]);
}

#[test]
fn headers_urls_and_webhooks_are_masked() {
    assert_eq!(kinds("Authorization: Bearer abcdef123456"), ["authorization"]);
    assert_eq!(kinds(r#""authorization": "Basic dXNlcjpwYXNz""#), ["authorization"]);
    assert_eq!(kinds("postgres://app:s3cr3t@db/x"), ["url-password"]);
    assert_eq!(kinds("redis://:hunter2@cache"), ["url-password"]);
    assert_eq!(kinds("https://hooks.slack.com/services/T0/B0/abc"), ["webhook"]);
    assert_eq!(kinds("https://discord.com/api/webhooks/12/abcdef"), ["webhook"]);
}

#[test]
fn secrets_that_are_written_out_are_masked() {
    for text in [
        "DB_PASSWORD=supersecretpw",
        "export API_KEY=abcdef0123456789",
        r#"password = "hunterhunter""#,
        r#""client_secret": "9f8e7d6c5b4a""#,
        r#"{\"token\":\"9f8e7d6c5b4a\"}"#,
        "password: hunter22",
        "token: a1B2c3D4e5F6g7",
        "--token=9f8e7d6c5b4a",
        "'secret' => 'abc12345678'",
    ] {
        assert_eq!(kinds(text).len(), 1, "{text}");
    }
}

#[test]
fn ordinary_code_stays_unchanged() {
    for text in [
        "password: String,",
        "pub api_key: Option<String>,",
        "let token = lexer.next();",
        "token = parser.current_token()",
        "token: TokenKind::Identifier,",
        "const secret = process.env.CLIENT_SECRET;",
        "API_KEY=$OPENAI_API_KEY",
        "TOKEN=${GITHUB_TOKEN}",
        r#"token: "access_token""#,
        r#"label: { password: "Enter your password" }"#,
        r#""password": "your-password-here1""#,
        "MAX_TOKENS=40960000",
        "password = self.password2,",
        "if token == next_token {",
        "PASSWORD=getPassword()",
        "https://user:password@example.com",
        "https://host:8080/path@v2",
        "class=\"sk-folding-cube-container-of-things\"",
        "task-2024-some-long-name-of-a-thing",
        "Authorization: Bearer $TOKEN_VALUE",
        "Authorization: Bearer <your-token>",
        r#"const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";"#,
        "1700000000: a line that is a log line and goes on",
        "commit 0123456789abcdef0123456789abcdef01234567",
    ] {
        assert_eq!(redactor().mask(text), text);
    }
}

#[test]
fn masking_twice_changes_nothing() {
    for (_, secret) in samples() {
        for text in [
            secret.clone(),
            format!("token={secret}"),
            format!("x://u:{secret}@h"),
            format!("Authorization: Bearer {secret}"),
        ] {
            let once = redactor().mask(&text).into_owned();
            assert_eq!(redactor().mask(&once), once);
        }
    }
}

#[test]
fn a_secret_cut_at_any_byte_is_caught_in_a_stream() {
    let redactor = Arc::new(Redactor::new([("PEM", "line one 12\nline two 34")], [7; 16]));
    let mut texts: Vec<String> = samples()
        .into_iter()
        .map(|(_, secret)| format!("行 x={secret}\nnext {secret} end"))
        .collect();
    texts.push(format!("a\n{}b\n", key_block()));
    texts.push("x\nline one 12\nline two 34\ny".into());
    texts.push("DB_PASSWORD=supersecretpw\nAuthorization: Bearer abcdef123456\n".into());
    for text in texts {
        let whole = redactor.mask(&text).into_owned();
        assert_ne!(whole, text);
        for (cut, _) in text.char_indices() {
            let (first, second) = text.split_at_checked(cut).expect("a boundary");
            let mut masking = redactor.masking();
            let mut out = masking.push(first);
            out.push_str(&masking.push(second));
            out.push_str(&masking.finish());
            assert_eq!(out, whole, "cut at {cut}");
        }
        let mut masking = redactor.masking();
        let mut out: String = text.chars().map(|c| masking.push(&c.to_string())).collect();
        out.push_str(&masking.finish());
        assert_eq!(out, whole, "one by one");
    }
}

#[test]
fn an_endless_line_is_released_with_its_secrets_masked() {
    let redactor = Arc::new(redactor());
    let (_, secret) = samples().remove(1);
    let text = format!("{}{secret}{}", "- ".repeat(5000), " -".repeat(5000));
    let mut masking = redactor.masking();
    let mut out = String::new();
    for piece in text.as_bytes().chunks(700) {
        out.push_str(&masking.push(std::str::from_utf8(piece).expect("ascii")));
        assert!(masking.pending.len() <= WINDOW + 700);
    }
    out.push_str(&masking.finish());
    assert_eq!(out, redactor.mask(&text));
}

#[test]
fn complete_lines_are_not_held_back() {
    let redactor = Arc::new(redactor());
    let mut masking = redactor.masking();
    assert_eq!(masking.push("Compiling a\nComp"), "Compiling a\n");
    assert_eq!(masking.push("iling b\n"), "Compiling b\n");
}

#[test]
fn names_of_secrets_are_distinguished_from_names_of_places() {
    for name in ["OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "GHTOKEN", "AWS_SECRET_ACCESS_KEY"] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in [
        "SSH_AUTH_SOCK",
        "GIT_AUTHOR_NAME",
        "XAUTHORITY",
        "KEYBOARD_LAYOUT",
        "PATH",
        "TOKENIZERS_PARALLELISM",
    ] {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn strings_inside_json_are_masked_and_keys_stay() {
    let (_, secret) = samples().remove(1);
    let mut value = serde_json::json!({ "token": [secret, 1], "n": null });
    redactor().mask_value(&mut value);
    assert!(value["token"][0].as_str().is_some_and(|text| text.starts_with("‹secret:github")));
}

#[test]
fn text_that_only_looks_like_a_service_token_stays() {
    for text in [
        "fw_rules_for_the_default_zone_of_the_machine",
        "key-value stores and key-0123456789",
        "import hvs.client.session_manager_of_things",
        "dapi docs, dp.pt.x, xai-python-sdk-examples",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "gsk_kernel_launch_parameters_for_the_second_pass",
    ] {
        assert_eq!(kinds(text), Vec::<String>::new(), "{text}");
    }
    let stored = format!("AccountName=x;AccountKey={}==;", "aB3dE6gH9k".repeat(8));
    assert_eq!(kinds(&stored), ["storage-key"]);
}

/// Lines that hold a secret, with the part of each that must not be seen.
#[rustfmt::skip]
const SECRET_LINES: &[(&str, &str)] = &[
    ("DB_PASS=s3cr3t", "s3cr3t"), ("ENCRYPTION_KEY=abcdefabcdef", "abcdefabcdef"),
    ("SESSION_SIGNING=zyxwvu987", "zyxwvu987"), ("TWILIO_AUTH=0123abcd4567", "0123abcd4567"),
    ("MAILGUN=key1a2b3c4d", "key1a2b3c4d"), ("AWS_SECRET_ACCESS_KEY2=wJalrXUtnFEMI", "wJalrXUtnFEMI"),
    ("POSTGRES_PASSWORD=postgres", "=postgres"), ("RABBITMQ_DEFAULT_PASS=rabbitmq", "=rabbitmq"),
    ("export MYSQL_PWD=hunter", "hunter"), ("set SECRET=topsecret", "topsecret"), ("PIN=4711", "4711"),
    ("DB_PASS=\"my pass\"", "nothing"), ("JWT_SECRET='abc-def-ghi'", "abc-def-ghi"),
    ("SECRET_KEY_BASE=deadbeef", "nothing"), ("$env:API_TOKEN = \"tok12345\"", "tok12345"),
    ("API_KEY_PROD=qwertyui", "qwertyui"), ("REDIS_PASSWORD_OLD=rediss", "rediss"),
    ("PGPASSWORD=pw1 psql -h db", "pw1"), ("  - POSTGRES_PASSWORD=postgres", "=postgres"),
    ("      POSTGRES_PASSWORD: postgres", ": postgres"), ("      MINIO_ROOT_PASSWORD: minioadmin", "minioadmin"),
    ("password: hunter", "hunter"), ("password: hunter2", "hunter2"), ("  password: \"p w\"", "nothing"),
    ("db_password: 'swordfish'", "swordfish"), ("token: a1b2c3d4", "a1b2c3d4"),
    ("api_key: 9f8e7d6c", "9f8e7d6c"), ("client_secret: 8a7b6c", "8a7b6c"), ("password: p@ss!", "p@ss!"),
    (r#"{"password": "x7"}"#, "x7"), (r#"  "token": "abc123","#, "abc123"), (r#""password": "postgres","#, "\"postgres\""),
    (r#""apiKey": "a1b2c3d4e5","#, "a1b2c3d4e5"), (r#""clientSecret": "correcthorse""#, "correcthorse"),
    (r#"{\"password\":\"hunter\"}"#, "hunter"), (r#""pin": 4711"#, "4711"),
    ("password = \"hunter\"", "hunter"), ("secret_key = 'k3yk3yk3y'", "k3yk3yk3y"), ("password = hunter22", "hunter22"),
    ("password=hunter", "hunter"), ("spring.datasource.password=swordfish", "swordfish"),
    ("db.password = s3cr3t", "s3cr3t"), ("//registry.npmjs.org/:_authToken=abcdef", "abcdef"),
    ("_auth=dXNlcjpwYXNz", "dXNlcjpwYXNz"), ("SECRET_KEY = 'django-insecure-1a2b'", "1a2b"),
    ("DB_PASSWORD = \"hunter\"", "hunter"), ("const password = 'hunter';", "hunter"),
    ("const apiToken: string = \"tok3n-abcd\";", "tok3n-abcd"), ("let api_key: &str = \"k1k2k3k4\";", "k1k2k3k4"),
    ("  password: 'hunter',", "hunter"), ("'password' => 'hunter',", "hunter"), ("define('DB_PASSWORD', 'x'); $password = 'hunter';", "hunter"),
    ("config[\"password\"] = \"hunter\"", "hunter"), ("$cfg['db']['passwd'] = 'swordfish';", "swordfish"),
    ("mysql --password=hunter2 db", "hunter2"), ("tool --password hunter2 --yes", "hunter2"),
    ("tool --token abc123def", "abc123def"), ("curl -u admin:swordfish https://x", "swordfish"),
    ("machine x login me password swordfish", "swordfish"), ("<password>swordfish</password>", "swordfish"),
    ("<add name=\"x\" password=\"swordfish\"/>", "swordfish"), ("Server=db;User=sa;Password=swordf1sh;", "swordf1sh"),
    ("GET /x?api_key=a1b2c3d4e5&x=1", "a1b2c3d4e5"), ("postgres://app:pw1@db/x", "pw1"),
    (".env:3:DB_PASS=s3cr3t", "s3cr3t"), ("+DB_PASS=s3cr3t", "s3cr3t"), ("   12  DB_PASS=s3cr3t", "s3cr3t"),
    ("ENV ADMIN_PASSWORD=letmein", "letmein"), ("password := \"hunter\"", "hunter"), ("WEBHOOK_SIGNING_SECRET=whsec", "whsec"),
    ("ADMIN_CREDENTIALS=root:toor", "root:toor"), ("COOKIE_SALT=pepper", "pepper"), ("RAILS_MASTER_KEY=0a1b2c", "0a1b2c"),
    ("{\"_authToken\": \"npmtok3n\"}", "npmtok3n"), ("PASS: \"swordfish\"", "swordfish"),
];

/// Lines of code and prose that speak of secrets and hold none.
#[rustfmt::skip]
const ORDINARY_LINES: &[&str] = &[
    "key = event.key", "token = lexer.next()", "password: String", "password: String,", "let secret = compute();",
    "PASSWORD_MIN_LENGTH = 8", "PASSWORD_MIN_LENGTH=8", "MAX_TOKENS=4096", "max_tokens: 4096", "TOKEN_TTL=3600",
    "\"password\": \"Password\",", "\"password\": \"Passwort\"", "\"password\": \"密码\"", "label.password=Password",
    "\"passwordLabel\": \"Enter your password\"", "password: \"Mot de passe\",", "\"forgot_password\": \"Forgot?\"",
    "password: str", "password: string;", "password: str = Field(...)", "password?: string", "api_key: Optional[str] = None",
    "secret: SecretStr", "token: Token,", "pub token: TokenKind,", "token: TokenKind::Ident", "const token = next();",
    "password = args.password", "password = getpass.getpass()", "self.password = password", "password=password,",
    "connect(user=user, password=pw)", "login(password=password)", "if password == other:", "if token != \"end\" {",
    "assert token == 'abc123def456'", "secret = os.environ[\"SECRET\"]", "API_KEY = os.getenv(\"API_KEY\")",
    "API_KEY=$OPENAI_API_KEY", "TOKEN=${GITHUB_TOKEN}", "TOKEN: ${{ secrets.GITHUB_TOKEN }}", "PASSWORD=$(cat pw.txt)",
    "PASSWORD=<your password>", "API_KEY=your-api-key-here", "API_KEY=changeme", "DB_PASSWORD=", "SSL_KEY=/etc/ssl/site.key",
    "SSH_KEY_PATH=~/.ssh/id_rsa", "SSH_AUTH_SOCK=/tmp/agent.1", "PWD=/home/me", "OLDPWD=/home/me/x", "primary_key=True",
    "sort_key: created_at", "cache_key = \"users:all\"", "<input type=\"password\" name=\"password\">", "type: password",
    "public_key: abcdef0123456789", "STRIPE_PUBLISHABLE_KEY=pk_x", "token: \"access_token\"", "{\"token\": \"the\", \"start\": 0}",
    "\"unk_token\": \"<unk>\"", "token = \"end_of_statement\"", "KEYBOARD_LAYOUT=us", "keyboard: qwerty123", "monkey=bonobo12",
    "compass: north", "bypass = enabled1", "auth: basic", "AUTH=ldap", "author: someone1", "key: value1", "key = \"item-12\"",
    "STORAGE_KEY = \"theme\"", "\"key\": \"abc123\"", "idempotency_key: req-12", "hotkey = ctrl1", "the password: it is long",
    "password -> hash", "secretName: my-app-tls1", "tokens: 1234567890", "password: required", "\"password\": \"required|min:8\"",
    "image: postgres:15", "postgres", "rabbitmq: running", "user=postgres", "use postgres::Client;", "jwt.algorithm=HS256",
    "- name: token", "std::string token = next;", "token::Kind", "https://host/token?x=1", "PASS tests/a.rs 12", "pass: 12, fail: 0",
    "let key = map.keys().next();", "for key in keys:", "case TOKEN: return 1;", "GIT_COMMIT=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
];

#[test]
fn a_value_after_the_name_of_a_secret_is_masked() {
    let mut seen = Vec::new();
    for (line, secret) in SECRET_LINES {
        let fresh = Redactor::new([("", ""); 0], [7; 16]);
        let masked = fresh.mask(line).into_owned();
        if *secret != "nothing" && (!is_masked(&masked) || masked.contains(secret)) {
            seen.push(format!("{line}  →  {masked}"));
        }
    }
    assert!(seen.is_empty(), "{} of {}:\n{}", seen.len(), SECRET_LINES.len(), seen.join("\n"));
}

#[test]
fn code_and_prose_about_secrets_stay_unchanged() {
    let mut seen = Vec::new();
    for line in ORDINARY_LINES {
        let fresh = Redactor::new([("", ""); 0], [7; 16]);
        let masked = fresh.mask(line).into_owned();
        if masked != *line {
            seen.push(format!("{line}  →  {masked}"));
        }
    }
    assert!(seen.is_empty(), "{} of {}:\n{}", seen.len(), ORDINARY_LINES.len(), seen.join("\n"));
}

#[test]
fn a_word_is_a_secret_after_its_name_only_and_a_random_value_everywhere() {
    let redactor = Redactor::new([("", ""); 0], [7; 16]);
    let masked = redactor.mask("POSTGRES_PASSWORD=postgres\nimage: postgres:15\n").into_owned();
    assert!(masked.starts_with("POSTGRES_PASSWORD=‹secret:password #"), "{masked}");
    assert!(masked.ends_with("\nimage: postgres:15\n"), "{masked}");
    let random = "q7Zp2Lx9Vb4Tn8Rc";
    let masked = redactor.mask(&format!("said {random}\nDB_PASS={random}\n")).into_owned();
    assert!(!masked.contains(random), "{masked}");
    assert!(!redactor.mask(&format!("later: <{random}>")).contains(random));
    for word in
        ["postgres", "rabbitmq", "minioadmin", "password1", "correct-horse-battery", "p4ssw0rd"]
    {
        assert!(!is_random(word), "{word}");
    }
    assert!(is_random(random) && is_random("9f86d081884c7d659a2feaa0c55ad015"));
}

#[test]
fn a_mask_is_revealed_and_one_without_a_value_is_an_error() {
    let redactor = redactor();
    for (kind, secret) in samples() {
        let text = format!("a {secret} b");
        let masked = redactor.mask(&text).into_owned();
        let back = redactor.reveal(&masked, "").unwrap();
        assert!(back.text == text && back.masks.len() == 1, "{kind}");
    }
    let block = key_block();
    let masked = redactor.mask(&block).into_owned();
    assert!(redactor.reveal(&masked, "").unwrap().text == block);
    for made_up in ["‹secret:api-key #dead›", "‹secret:api-key›", "‹redacted:api-key #7bdf›"]
    {
        let text = format!("x {made_up} y");
        assert_eq!(redactor.reveal(&text, "").err(), Some(UnknownMask(made_up.into())));
        assert!(redactor.reveal(&text, &text).unwrap().text == text, "it is text of the file");
        assert_eq!(redactor.find_mask(&text), None);
    }
    for text in ["‹secret:{kind} #{tag}›", "‹secret:", "‹quoted›", "‹secret:a #1\n›"]
    {
        assert!(redactor.reveal(text, "").unwrap().text == text, "{text}");
    }
}

#[test]
fn no_two_secrets_share_a_tag() {
    let redactor = Redactor::new([("", ""); 0], [7; 16]);
    let values: Vec<String> = (0..3_000).map(|n| format!("v{n}x{}", n * 7919)).collect();
    let mut masks = HashSet::new();
    for value in &values {
        let masked = redactor.mask(&format!("DB_PASS={value}")).into_owned();
        let tag = masked.rsplit_once('#').unwrap().1.to_owned();
        assert!(masks.insert(tag), "{masked}");
        assert!(redactor.reveal(&masked, "").unwrap().text == format!("DB_PASS={value}"));
    }
    let again = redactor.mask("DB_PASS=v0x0").into_owned();
    assert!(redactor.reveal(&again, "").unwrap().text == "DB_PASS=v0x0");
}

#[test]
fn a_change_masks_secrets_of_the_file_and_shows_new_ones() {
    let redactor = redactor();
    let (old, new) =
        ("DB_PASS=s3cr3t\na\n", "DB_PASS=s3cr3t\nAPI_KEY=$(curl x)1\nOTHER_PASS=n3w\n");
    let (old, new) = redactor.mask_both(old, new);
    assert!(!old.contains("s3cr3t") && !new.contains("s3cr3t"));
    assert!(new.contains("OTHER_PASS=n3w") && new.contains("$(curl x)1"), "{new}");
}

#[test]
fn a_mask_is_recognised_whatever_the_variable_name() {
    let long = "N".repeat(300);
    for name in ["npm_config_//registry.npmjs.org/:_authToken", "MY KEY (new)", "密钥/一", &long]
    {
        let secret = "q8Zr2LkP0vTn5WxY7bGd";
        let redactor = Redactor::new([(name, secret)], [7; 16]);
        let masked = redactor.mask(secret).into_owned();
        assert_ne!(masked, secret);
        assert_eq!(redactor.find_mask(&masked), Some(masked.as_str()), "{name}");
        assert_eq!(redactor.reveal(&masked, "").map(|it| it.text).ok().as_deref(), Some(secret));
    }
}

#[test]
fn a_secret_that_is_the_key_of_an_object_is_masked_too() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let redactor = Redactor::new([("", ""); 0], [7; 16]);
    let mut value = serde_json::json!({ "type": "x", "sets": { secret: [1, { secret: "b" }] } });
    redactor.mask_value(&mut value);
    assert!(!value.to_string().contains(secret), "{value}");
    assert_eq!(value["type"], "x");
}

#[test]
fn what_a_text_holds_is_masked_in_its_encodings_and_a_word_only_in_them() {
    let key = "aB3dE6gH9kLmN2pQ5rS8";
    let redactor = redactor();
    redactor.learn_text(&format!("service_token = {key}\nDB_PASSWORD=swordfishes\n"));
    for form in [
        key,
        "8Sr5Qp2NmLk9Hg6Ed3Ba",
        "sehsifdrows",
        "fjbeqsvfurf",
        "nO3qR6tU9xYzA2cD5eF8",
        "AB3DE6GH9KLMN2PQ5RS8",
        "c3dvcmRmaXNoZXM",
        "N3b3JkZmlzaGVz",
        "73776f7264666973686573",
        "6142336445366748396b4c6d4e32705135725338",
        "a B 3 d E 6 g H 9 k L m N 2 p Q 5 r S 8",
        "61 42 33 64 45 36 67 48\n39 6b 4c 6d 4e 32 70 51\n35 72 53 38",
    ] {
        let text = format!("x {form} y");
        let masked = redactor.mask(&text).into_owned();
        assert!(masked.contains("‹secret:") && !masked.contains(form), "{masked}");
    }
    assert_eq!(redactor.mask("two swordfishes swim"), "two swordfishes swim");
    let other = Redactor::from_seed(redactor.seed());
    assert!(other.mask("c3dvcmRmaXNoZXM sehsifdrows").contains("‹secret:"));
    assert_eq!(other.mask("two swordfishes swim"), "two swordfishes swim");
}
