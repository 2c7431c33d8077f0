use super::*;

fn redactor() -> Redactor {
    Redactor::new([("PROVIDER_KEY", "very+secret/value=42"), ("SHORT", "abc")], [7; 16])
}

/// The kinds masked in a text, in order.
fn kinds(text: &str) -> Vec<String> {
    let masked = redactor().mask(text).into_owned();
    masked
        .split("‹redacted:")
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
fn each_shape_is_masked_wherever_it_stands() {
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

/// What is ruled out by its hints is never looked at.
#[test]
fn what_a_shape_matches_holds_one_of_its_hints() {
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
    texts.extend(
        ["pa\u{17f}\u{17f}word=", "TO\u{212a}EN="].map(|name| format!("{name}{}", many(40))),
    );
    texts.push(key_block());
    texts.push(key_block().split_once('\n').unwrap().1.into());
    let compiled = Compiled::new(&[]);
    let mut seen = vec![0; SHAPES.len()];
    for text in texts {
        let text = format!("see {text} there");
        let hinted: Vec<usize> = compiled.hinted(&text).map(|(index, _)| index).collect();
        let mut any = false;
        for (index, shape) in SHAPES.iter().enumerate() {
            if compiled.shape(index).unwrap().is_match(&text) {
                assert!(hinted.contains(&index), "{}: {text}", shape.kind);
                any = true;
                seen[index] += 1;
            }
        }
        assert!(any, "no shape matches {text}");
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
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
    assert!(masked.starts_with("-----BEGIN RSA PRIVATE KEY-----‹redacted:private-key #"));
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
    assert_eq!(kinds("https://hooks.slack.com/services/T0/B0/abc"), ["slack-webhook"]);
    assert_eq!(kinds("https://discord.com/api/webhooks/12/abcdef"), ["discord-webhook"]);
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
fn ordinary_code_comes_through_untouched() {
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
fn an_endless_line_is_let_go_and_its_secrets_are_still_caught() {
    let redactor = Arc::new(redactor());
    let (_, secret) = samples().remove(1);
    let text = format!("{}{secret}{}", "- ".repeat(5000), " -".repeat(5000));
    let mut masking = redactor.masking();
    let mut out = String::new();
    for piece in text.as_bytes().chunks(700) {
        out.push_str(&masking.push(std::str::from_utf8(piece).expect("ascii")));
        assert!(masking.held.len() <= WINDOW + 700);
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
fn names_of_secrets_are_told_from_names_of_places() {
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
    assert!(value["token"][0].as_str().is_some_and(|text| text.starts_with("‹redacted:github")));
}

#[test]
fn what_only_looks_like_a_service_token_stays() {
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
