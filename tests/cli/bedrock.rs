//! Models of AWS Bedrock against a server that checks what it gets as AWS does: signature, headers,
//! and the fields of the body by the types of the vendor's own client.

use std::fmt::Write as _;
use std::process::Output;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::native_tools::text;
use crate::support::bench::TestDir;
use crate::support::server::{ReceivedRequest, Reply, Server};

const NOVA: &str = "us.amazon.nova-lite-v1:0";
const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEBYaDExampleSessionToken123456";

fn ask(server: &Server, model: &str, variables: &[(&str, &str)]) -> Output {
    ask_in(&TestDir::new(), server, model, variables)
}

fn ask_in(bench: &TestDir, server: &Server, model: &str, variables: &[(&str, &str)]) -> Output {
    std::fs::write(bench.work().join("a.txt"), "hello\n").unwrap();
    let url = server.base_url().replace("/v1", "");
    bench.settings(&format!(
        "[profiles.default]\nprovider = \"bedrock\"\nbase_url = \"{url}\"\nhigh = \"{model}\"\n"
    ));
    bench.command(&["-p", "hi"]).envs(variables.iter().copied()).output().unwrap()
}

fn crc32(bytes: &[u8]) -> [u8; 4] {
    let sum = bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1))
        })
    });
    (!sum).to_be_bytes()
}

fn frame(headers: &[(&str, &str)], payload: &Value) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap());
        head.extend(name.as_bytes());
        head.push(7);
        head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend(value.as_bytes());
    }
    let payload = payload.to_string();
    let total = u32::try_from(16 + head.len() + payload.len()).unwrap();
    let mut out = total.to_be_bytes().to_vec();
    out.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
    out.extend(crc32(&out));
    out.extend(head);
    out.extend(payload.bytes());
    out.extend(crc32(&out));
    out
}

fn event(name: &str, payload: &Value) -> Vec<u8> {
    let json = (":content-type", "application/json");
    frame(&[(":event-type", name), json, (":message-type", "event")], payload)
}

fn frames(frames: Vec<Vec<u8>>) -> Reply {
    let kind = "application/vnd.amazon.eventstream";
    Reply::status(200).header("content-type", kind).pieces(frames)
}

fn converse(content: &[Vec<u8>], reason: &str) -> Reply {
    let usage = json!({ "inputTokens": 9, "outputTokens": 3, "totalTokens": 12 });
    let start = event("messageStart", &json!({ "role": "assistant", "p": "abc" }));
    let stop = event("messageStop", &json!({ "stopReason": reason }));
    let end = event("metadata", &json!({ "usage": usage, "metrics": { "latencyMs": 1 } }));
    frames([&[start], content, &[stop, end]].concat())
}

fn says(words: &str) -> Reply {
    let delta = json!({ "contentBlockIndex": 0, "delta": { "text": words } });
    let stop = event("contentBlockStop", &json!({ "contentBlockIndex": 0 }));
    converse(&[event("contentBlockDelta", &delta), stop], "end_turn")
}

fn calls() -> Reply {
    let call = json!({ "toolUse": { "toolUseId": "tooluse_a-1", "name": "exec" } });
    let start = json!({ "contentBlockIndex": 0, "start": call });
    let piece = |text: &str| {
        let delta = json!({ "toolUse": { "input": text } });
        event("contentBlockDelta", &json!({ "contentBlockIndex": 0, "delta": delta }))
    };
    let stop = event("contentBlockStop", &json!({ "contentBlockIndex": 0 }));
    let pieces = [piece("{\"program\":\"cat\","), piece("\"args\":[\"a.txt\"]}")];
    converse(&[&[event("contentBlockStart", &start)], &pieces[..], &[stop]].concat(), "tool_use")
}

/// Faults of a body by the types of `ConverseStreamRequest`.
fn faults(body: &Value) -> Vec<String> {
    const FIELDS: &[&str] = &[
        "messages",
        "system",
        "inferenceConfig",
        "toolConfig",
        "additionalModelRequestFields",
        "serviceTier",
    ];
    const BLOCKS: &[&str] =
        &["text", "image", "document", "toolUse", "toolResult", "reasoningContent"];
    let mut faults: Vec<String> = body.as_object().unwrap().keys().cloned().collect();
    faults.retain(|field| !FIELDS.contains(&field.as_str()));
    let mut open = Vec::new();
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        if message["role"] != if at % 2 == 0 { "user" } else { "assistant" } {
            faults.push(format!("role of message {at}"));
        }
        for block in message["content"].as_array().unwrap() {
            let fields: Vec<&String> = block.as_object().unwrap().keys().collect();
            if fields.len() != 1 || !BLOCKS.contains(&fields[0].as_str()) || block["text"] == "" {
                faults.push(block.to_string());
            }
            if let Some(id) = block.pointer("/toolUse/toolUseId") {
                open.push(id.clone());
                let input = block["toolUse"]["input"].is_object();
                faults.extend((!input).then(|| block.to_string()));
            }
            if let Some(id) = block.pointer("/toolResult/toolUseId") {
                let known =
                    open.contains(id) && block["toolResult"]["content"][0]["text"].is_string();
                faults.extend((!known).then(|| block.to_string()));
            }
        }
    }
    for tool in body["toolConfig"]["tools"].as_array().unwrap() {
        let is_whole = tool["toolSpec"]["inputSchema"]["json"]["type"] == "object";
        faults.extend((!is_whole).then(|| tool.to_string()));
    }
    faults
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The authorization that the server computes for the request it received.
fn authorization(request: &ReceivedRequest) -> String {
    let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
    let (method, path) = request.line.split_once(' ').unwrap();
    let names = "host;x-amz-date;x-amz-security-token";
    let headers: String =
        names.split(';').map(|name| format!("{name}:{}\n", header(name))).collect();
    let body = hex(&Sha256::digest(request.body.as_bytes()));
    let path = path.replace('%', "%25");
    let canonical = format!("{method}\n{path}\n\n{headers}\n{names}\n{body}");
    let date = header("x-amz-date");
    let scope = format!("{}/us-east-1/bedrock/aws4_request", date.get(..8).unwrap());
    let hash = hex(&Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    let first = format!("AWS4{SECRET}").into_bytes();
    let key = scope.split('/').fold(first, |key, part| hmac(&key, part));
    let signature = hex(&hmac(&key, &text));
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={names}, Signature={signature}"
    )
}

#[test]
fn a_bearer_key_reaches_a_model_that_calls_a_tool_and_gets_its_result() {
    let server = Server::start(vec![calls(), says("It says hello.")]);
    let done = ask(&server, NOVA, &[("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1234")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "It says hello.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.line, "POST /model/us.amazon.nova-lite-v1%3A0/converse-stream");
        assert_eq!(request.header("authorization"), Some("Bearer bedrock-api-key-1234"));
        assert_eq!(faults(&request.json()), Vec::<String>::new());
    }
    assert!(requests[1].body.contains("hello"), "{}", requests[1].body);
}

#[test]
fn a_saved_key_comes_after_its_variable_and_before_the_credentials_of_all_programs() {
    let credentials = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let bearer = ("AWS_BEARER_TOKEN_BEDROCK", "of-the-variable");
    let profile = ("AWS_PROFILE", "work");
    for (variables, expected) in [
        (vec![credentials[0], credentials[1]], "Bearer saved-1234"),
        (vec![profile], "Bearer saved-1234"),
        (vec![bearer, credentials[0], credentials[1]], "Bearer of-the-variable"),
    ] {
        let bench = TestDir::new();
        let server = Server::start(vec![says("Hi.")]);
        let place = server.base_url().replace("/v1", "");
        std::fs::create_dir_all(bench.path("avocet/data")).unwrap();
        let saved = format!("\"{place}\" = {{ key = \"saved-1234\" }}\n");
        std::fs::write(bench.path("avocet/data/keys.toml"), saved).unwrap();
        let done = ask_in(&bench, &server, NOVA, &variables);
        assert!(done.status.success(), "{variables:?}: {}", text(&done.stderr));
        assert_eq!(server.requests()[0].header("authorization"), Some(expected), "{variables:?}");
    }
}

#[test]
fn credentials_sign_the_request_and_claude_gets_its_own_format() {
    let chunk =
        |data: &Value| event("chunk", &json!({ "bytes": base64_of(&data.to_string()), "p": "ab" }));
    let delta = json!({ "type": "text_delta", "text": "Hello." });
    let server = Server::start(vec![frames(vec![
        chunk(&json!({ "type": "message_start", "message": { "usage": { "input_tokens": 3 } } })),
        chunk(&json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
        chunk(&json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } })),
        chunk(&json!({ "type": "message_stop" })),
    ])]);
    let credentials = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", TOKEN),
    ];
    let done = ask(&server, CLAUDE, &credentials);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "Hello.");
    let request = &server.requests()[0];
    let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream";
    assert_eq!(request.line, format!("POST {path}"));
    assert_eq!(request.header("x-amz-security-token"), Some(TOKEN));
    assert_eq!(request.header("authorization"), Some(authorization(request).as_str()));
    let body = request.json();
    assert_eq!(body["anthropic_version"], "bedrock-2023-05-31");
    assert!(body["max_tokens"].is_u64() && body.get("model").is_none());
    assert!(body.get("stream").is_none() && body.get("cache_control").is_none());
}

fn base64_of(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |three: &[u8], at: usize| {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        let letter = char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]);
        if at <= three.len() { letter } else { '=' }
    };
    let pieces = text.as_bytes().chunks(3);
    pieces.flat_map(|three| (0..4).map(move |at| letter(three, at))).collect()
}

#[test]
fn each_refusal_is_one_sentence_that_says_what_to_do() {
    let refusal = |status: u16, kind: &str, said: &str| {
        Reply::json(status, &json!({ "message": said })).header("x-amzn-errortype", kind)
    };
    let credentials = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let cases = [
        (
            refusal(
                403,
                "ExpiredTokenException",
                "The security token included in the request is expired",
            ),
            "does not accept the key. Check AWS_ACCESS_KEY_ID",
        ),
        (
            refusal(
                403,
                "AccessDeniedException",
                "You don't have access to the model with the specified model ID.",
            ),
            "does not allow this key to use",
        ),
        (
            refusal(400, "ValidationException", "The provided model identifier is invalid."),
            "has no model",
        ),
    ];
    for (reply, expected) in cases {
        let server = Server::start(vec![reply]);
        let said = text(&ask(&server, NOVA, &credentials).stderr);
        assert!(said.contains(expected) && !said.contains(SECRET), "{said}");
    }
}

#[test]
fn throttling_is_waited_for_and_a_damaged_frame_is_asked_for_again() {
    let throttled = frame(
        &[(":exception-type", "throttlingException"), (":message-type", "exception")],
        &json!({ "message": "Too many requests" }),
    );
    let mut damaged = event("messageStart", &json!({ "role": "assistant" }));
    damaged[20] ^= 1;
    let server =
        Server::start(vec![frames(vec![throttled]), frames(vec![damaged]), says("Hello.")]);
    let done = ask(&server, NOVA, &[("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1234")]);
    assert_eq!(text(&done.stdout).trim(), "Hello.", "{}", text(&done.stderr));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_profile_with_a_login_is_asked_for_credentials_through_the_vendors_program() {
    use std::os::unix::fs::PermissionsExt;
    let bench = TestDir::new();
    let folder = bench.path("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("aws");
    let credentials = json!({
        "Version": 1, "AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": SECRET, "SessionToken": TOKEN,
    });
    let printed = format!("#!/bin/sh\ncat <<'END'\n{credentials:#}\nEND\n");
    std::fs::write(&program, printed).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = Server::start(vec![says("Hello.")]);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let done = ask(&server, NOVA, &[("AWS_PROFILE", "work"), ("PATH", &path)]);
    assert_eq!(text(&done.stdout).trim(), "Hello.", "{}", text(&done.stderr));
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some(authorization(request).as_str()));
}
