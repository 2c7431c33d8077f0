//! What a profile adds to each request, and what other clients' variables mean here.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;

use serde_json::json;

use crate::native_tools::{says, text};
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, event};

fn ask(bench: &TestDir, variables: &[(&str, &str)]) -> Output {
    bench.command(&["-p", "hi"]).envs(variables.iter().copied()).output().unwrap()
}

fn profile(server: &Server, more: &str) -> String {
    format!("[profiles.default]\nbase_url = \"{}\"\nhigh = \"gpt-4o\"\n{more}", server.base_url())
}

#[test]
fn headers_and_fields_of_a_profile_go_with_each_request_and_are_not_shown() {
    let bench = TestDir::new();
    let server = Server::start(vec![says("Hello.")]);
    bench.settings(&profile(
        &server,
        "temperature = 0.3\nmax_output = 500\nservice_tier = \"flex\"\n\
         api_key_env = \"GATE_KEY\"\nextra_body = { provider = { sort = \"price\" } }\n\
         headers = { x-team = \"zebra\", x-gate = \"Token ${GATE}\", x-key = \"${key}\" }\n",
    ));
    let variables = [("GATE", "wq8v-1kd2-zzt7-p0m4"), ("GATE_KEY", "k1-2b3c-4d5e-6f7a")];
    let done = ask(&bench, &variables);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let request = &server.requests()[0];
    assert_eq!(request.header("x-team"), Some("zebra"));
    assert_eq!(request.header("x-gate"), Some("Token wq8v-1kd2-zzt7-p0m4"));
    assert_eq!(request.header("x-key"), Some("k1-2b3c-4d5e-6f7a"));
    assert_eq!(request.header("authorization"), Some("Bearer k1-2b3c-4d5e-6f7a"));
    let body = request.json();
    assert_eq!(body["provider"]["sort"], "price");
    assert_eq!(body["temperature"], 0.3);
    assert_eq!(body["max_tokens"], 500);
    assert_eq!(body["service_tier"], "flex");

    let shown = bench.command(&["config", "get"]).output().unwrap();
    assert!(text(&shown.stdout).contains("${GATE}") && !text(&shown.stdout).contains("zebra"));
}

#[test]
fn a_header_of_the_connection_is_refused_in_one_sentence_and_projects_set_none() {
    let bench = TestDir::new();
    let server = Server::start(vec![says("Hello."), says("Hello.")]);
    bench.settings(&profile(&server, "headers = { Host = \"evil\", x-team = \"web\" }\n"));
    let done = ask(&bench, &[]);
    let said = text(&done.stderr);
    assert!(said.contains("`profiles.default.headers`") && said.contains("`host`"), "{said}");
    assert_eq!(server.requests()[0].header("x-team"), None);

    bench.settings(&profile(&server, "headers = { x-team = \"${TEAM}\" }\n"));
    let said = text(&ask(&bench, &[]).stderr);
    assert!(said.contains("`TEAM`, which is not set"), "{said}");

    let own = bench.work().join(".avocet");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("config.toml"), "[profiles.default]\nextra_body = { a = 1 }\n")
        .unwrap();
    let server = Server::start(vec![says("Hello.")]);
    bench.settings(&profile(&server, ""));
    let said = text(&ask(&bench, &[]).stderr);
    assert!(said.contains("profiles.default.extra_body"), "{said}");
    assert!(server.requests()[0].json().get("a").is_none());
}

#[test]
fn the_variables_of_anthropics_own_client_reach_its_gateway_with_a_token() {
    let bench = TestDir::new();
    let start = json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1 } } });
    let delta = json!({
        "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Hi." },
    });
    let stop = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } });
    let end = json!({ "type": "message_stop" });
    let reply = Reply::events([event(&start), event(&delta), event(&stop), event(&end)]);
    let server = Server::start(vec![reply]);
    let address = server.base_url().replace("/v1", "");
    let done = ask(
        &bench,
        &[
            ("ANTHROPIC_BASE_URL", address.as_str()),
            ("ANTHROPIC_AUTH_TOKEN", "gate-1234-token-5678"),
            ("ANTHROPIC_API_KEY", "not-this-one-1234"),
            ("ANTHROPIC_MODEL", "deepseek-chat"),
            ("ANTHROPIC_CUSTOM_HEADERS", "x-team: web\nhost: evil"),
        ],
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "Hi.");
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /v1/messages");
    assert_eq!(request.header("authorization"), Some("Bearer gate-1234-token-5678"));
    assert_eq!((request.header("x-api-key"), request.header("x-team")), (None, Some("web")));
    assert_eq!(request.json()["model"], "deepseek-chat");
}

/// Serves one connection as a SOCKS proxy that leads to `target`, and returns the name asked for.
fn serve_socks(mut client: TcpStream, target: &str) -> Option<String> {
    let take = |client: &mut TcpStream, count: usize| {
        let mut bytes = vec![0; count];
        client.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let methods = take(&mut client, 2)?[1];
    take(&mut client, methods.into())?;
    client.write_all(&[5, 0]).ok()?;
    let length = take(&mut client, 5)?[4];
    let name = take(&mut client, length.into())?;
    take(&mut client, 2)?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    let far = TcpStream::connect(target).ok()?;
    let pairs = [(far.try_clone().ok()?, client.try_clone().ok()?), (client, far)];
    for (mut from, mut to) in pairs {
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    }
    String::from_utf8(name).ok()
}

#[test]
fn requests_go_through_a_socks_proxy_of_the_environment() {
    let bench = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("socks5h://{}", listener.local_addr().unwrap());
    let server = Server::start(vec![says("Hello.")]);
    let target = server.base_url().replace("http://", "").replace("/v1", "");
    let (names, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let _ = names.send(serve_socks(client, &target));
        }
    });
    bench
        .settings("[profiles.default]\nbase_url = \"http://box.internal/v1\"\nhigh = \"gpt-4o\"\n");
    let done = ask(&bench, &[("ALL_PROXY", &proxy), ("NO_PROXY", "")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let name = asked.recv().unwrap();
    assert_eq!(name.as_deref(), Some("box.internal"), "the proxy looks the name up");
}
