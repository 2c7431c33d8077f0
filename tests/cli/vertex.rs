//! Models of Vertex AI against a server that gives tokens and one that wants them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::json;

use crate::native_tools::text;
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, event};

const PROJECT: &str = "projects/p-1/locations/global";

fn ask(bench: &TestDir, server: &Server, model: &str, variables: &[(&str, &str)]) -> Output {
    let url = server.base_url();
    bench.settings(&format!(
        "[profiles.default]\nprovider = \"vertex\"\nbase_url = \"{url}/{PROJECT}\"\nhigh = \"{model}\"\n"
    ));
    bench.command(&["-p", "hi"]).envs(variables.iter().copied()).output().unwrap()
}

fn claude_says(words: &str) -> Reply {
    let delta = json!({ "type": "text_delta", "text": words });
    Reply::events([
        event(&json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1 } } })),
        event(&json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
        event(&json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } })),
        event(&json!({ "type": "message_stop" })),
    ])
}

#[test]
fn a_service_account_is_exchanged_for_a_token() {
    let bench = TestDir::new();
    let tokens =
        Server::start(vec![Reply::json(200, &json!({ "access_token": "ya29.token-1234567890" }))]);
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/src/model/google_token/test_key.pem");
    let account = json!({
        "type": "service_account", "project_id": "p-1", "client_email": "me@p-1.iam.gserviceaccount.com",
        "private_key": fs::read_to_string(key).unwrap(), "token_uri": tokens.base_url(),
    });
    let file = bench.path("account.json");
    fs::write(&file, account.to_string()).unwrap();
    let server = Server::start(vec![claude_says("Hello.")]);
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap())];
    let done = ask(&bench, &server, "claude-sonnet-4-5@20250929", &variables);
    assert_eq!(text(&done.stdout).trim(), "Hello.", "{}", text(&done.stderr));
    let grant = &tokens.requests()[0].body;
    assert!(grant.contains("jwt-bearer&assertion=ey"), "{grant}");
    let request = &server.requests()[0];
    let path = "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict";
    assert_eq!(request.line, format!("POST /v1/{PROJECT}/{path}"));
    assert_eq!(request.header("authorization"), Some("Bearer ya29.token-1234567890"));
    let body = request.json();
    assert_eq!(
        (&body["anthropic_version"], &body["stream"]),
        (&json!("vertex-2023-10-16"), &json!(true))
    );
    assert!(body.get("model").is_none());
}

#[test]
fn a_refused_account_is_one_sentence() {
    let bench = TestDir::new();
    let refused =
        json!({ "error": "invalid_grant", "error_description": "Invalid JWT Signature." });
    let tokens = Server::start(vec![Reply::json(400, &refused)]);
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/src/model/google_token/test_key.pem");
    let account = json!({
        "type": "service_account", "project_id": "p-1", "client_email": "me@p-1.iam.gserviceaccount.com",
        "private_key": fs::read_to_string(key).unwrap(), "token_uri": tokens.base_url(),
    });
    let file = bench.path("account.json");
    fs::write(&file, account.to_string()).unwrap();
    let server = Server::start(vec![]);
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap())];
    let said = text(&ask(&bench, &server, "gemini-3.1-pro", &variables).stderr);
    assert!(said.contains("gave no token") && said.contains("Invalid JWT Signature."), "{said}");
    assert!(server.requests().is_empty());
}

#[test]
fn gcloud_is_asked_for_a_token_and_gemini_answers_in_its_own_format() {
    let bench = TestDir::new();
    let folder = bench.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let gcloud = folder.join("gcloud");
    fs::write(
        &gcloud,
        "#!/bin/sh\n[ \"$*\" = \"auth print-access-token\" ] && echo ya29.from-gcloud-1234\n",
    )
    .unwrap();
    fs::set_permissions(&gcloud, fs::Permissions::from_mode(0o755)).unwrap();
    let part = json!({ "content": { "role": "model", "parts": [{ "text": "Hi." }] }, "finishReason": "STOP" });
    let server = Server::start(vec![Reply::events([event(&json!({ "candidates": [part] }))])]);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let done = ask(&bench, &server, "gemini-3.1-pro", &[("PATH", &path)]);
    assert_eq!(text(&done.stdout).trim(), "Hi.", "{}", text(&done.stderr));
    let request = &server.requests()[0];
    let path = "publishers/google/models/gemini-3.1-pro:streamGenerateContent?alt=sse";
    assert_eq!(request.line, format!("POST /v1/{PROJECT}/{path}"));
    assert_eq!(request.header("authorization"), Some("Bearer ya29.from-gcloud-1234"));
}
