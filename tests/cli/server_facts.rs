//! What servers say of their models is asked beside the conversation, and fits the requests to them.

use std::process::{Output, Stdio};

use avocet::model::{Endpoint, HttpModel, Model, ServerFacts, learn_facts};
use avocet::protocol::Provider;
use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, event, finish};
use crate::support::wait::wait_until;

fn page(value: &Value) -> Reply {
    Reply::json(200, value)
}

/// A llama.cpp server whose model takes tools or not.
fn llama_cpp(replies: Vec<Reply>, tools: bool) -> Server {
    let meta = json!({ "n_ctx_train": 32_768, "n_params": 7_615_616_512_u64 });
    let list = json!({ "data": [{ "id": "coder", "owned_by": "llamacpp", "meta": meta }] });
    let props = json!({
        "default_generation_settings": { "n_ctx": 8_192 },
        "chat_template_caps": { "supports_tool_calls": tools },
    });
    let pages = vec![("/v1/models", page(&list)), ("/props", page(&props))];
    Server::start_with_pages(replies, pages)
}

fn endpoint(server: &Server, model: &str) -> Endpoint {
    Endpoint { model: model.into(), ..Endpoint::at(server.base_url()) }
}

#[tokio::test]
async fn a_llama_cpp_server_tells_context_tools_and_size_whatever_the_model_is_called() {
    let server = llama_cpp(vec![], true);
    let model = HttpModel::new(endpoint(&server, "any")).unwrap();
    assert_eq!(model.facts(), None, "nothing is asked before it is time");
    model.learn().await;
    let expected = ServerFacts {
        window: Some(8_192),
        tools: Some(true),
        parameters: Some(7_615_616_512),
        ..ServerFacts::default()
    };
    assert_eq!(model.facts(), Some(&expected));
    let asked: Vec<String> = server.lookups().into_iter().map(|seen| seen.line).collect();
    assert_eq!(asked, ["GET /v1/models", "GET /props?model=coder&autoload=false"]);
}

#[tokio::test]
async fn an_ollama_server_tells_what_the_model_can_have_and_what_it_is_loaded_with() {
    let show = json!({
        "model_info": { "general.parameter_count": 8_190_735_360_u64, "qwen3.context_length": 40_960 },
        "capabilities": ["completion", "tools", "thinking"],
    });
    let running = json!({ "models": [
        { "name": "other:latest", "context_length": 2_048 },
        { "name": "qwen3:latest", "context_length": 32_768 },
    ] });
    let list = json!({ "data": [{ "id": "qwen3:latest", "owned_by": "library" }] });
    let pages =
        vec![("/api/show", page(&show)), ("/api/ps", page(&running)), ("/v1/models", page(&list))];
    let server = Server::start_with_pages(vec![], pages);
    let base_url = server.base_url().replace("/v1", "");
    let native = Endpoint {
        provider: Some(Provider::Ollama),
        model: "qwen3".into(),
        ..Endpoint::at(base_url)
    };
    let facts = learn_facts(native).await.unwrap();
    assert_eq!((facts.window, facts.loaded), (Some(40_960), Some(32_768)));
    assert_eq!((facts.tools, facts.images), (Some(true), Some(false)));
    assert_eq!(server.lookups()[0].json(), json!({ "model": "qwen3" }));
    let compatible = learn_facts(endpoint(&server, "qwen3:latest")).await.unwrap();
    assert_eq!(compatible.window, Some(32_768), "only what is loaded: no larger one can be had");
}

#[tokio::test]
async fn other_servers_tell_in_their_lists_and_a_server_that_tells_nothing_is_no_error() {
    let list = json!({ "data": [
        { "id": "a", "max_model_len": 16_384, "owned_by": "vllm" },
        { "id": "b", "owned_by": "vllm" },
    ] });
    let server = Server::start_with_pages(vec![], vec![("/v1/models", page(&list))]);
    let window = async |model: &str| learn_facts(endpoint(&server, model)).await.unwrap().window;
    assert_eq!((window("a").await, window("b").await), (Some(16_384), None));
    assert_eq!(window("c").await, None, "not the window of another one");
    let silent = Server::start(vec![]);
    let model = HttpModel::new(endpoint(&silent, "m")).unwrap();
    model.learn().await;
    assert_eq!(model.facts(), None);
}

#[tokio::test]
async fn sessions_that_share_a_model_ask_its_server_once_together() {
    let server = llama_cpp(vec![], true);
    let model = HttpModel::new(endpoint(&server, "any")).unwrap();
    let other = model.clone();
    tokio::join!(model.learn(), other.learn());
    other.learn().await;
    assert_eq!(model.facts(), other.facts());
    assert!(model.facts().is_some());
    assert_eq!(server.lookups().len(), 2, "the list and the properties, each once");
    let silent = Server::start(vec![]);
    let model = HttpModel::new(endpoint(&silent, "m")).unwrap();
    model.learn().await;
    model.clone().learn().await;
    assert_eq!(silent.lookups().len(), 1, "one that says nothing is left alone for a while");
}

fn ask(bench: &TestDir, server: &Server, model: &str, args: &[&str]) -> Output {
    let url = server.base_url();
    let common = ["--base-url", url.as_str(), "--model", model];
    let done = bench.command(&[&common[..], args].concat()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done
}

#[test]
fn a_first_request_waits_only_a_moment_for_what_a_near_server_says_of_its_model() {
    let bench = TestDir::new();
    let pages = vec![("/v1/models", Reply::status(200).hang_after(0))];
    let server = Server::start_with_pages(vec![Reply::chat("Hello.")], pages);
    ask(&bench, &server, "own", &["-p", "hi"]);
    let sent = server.requests()[0].json();
    assert!(sent["tools"].is_array(), "they are tried: {sent}");
    assert_eq!(sent["max_tokens"], 8_192, "an answer of a near server has an end");
}

#[test]
fn a_session_learns_what_the_server_says_and_remembers_it() {
    let bench = TestDir::new();
    // The server is asked beside the first answer, which waits until all is written.
    let server = llama_cpp(vec![Reply::text("Hello.", 8).held()], true);
    let url = server.base_url();
    let mut first = bench.command(&["--base-url", &url, "--model", "own", "-p", "hi"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    server.wait_for_lookups(2);
    let file = bench.path("avocet/state/models.json");
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    wait_until("what the server says is stored", || {
        let known = read();
        known.contains(&url) && known.contains("8192")
    });
    let known = read();
    server.release();
    assert!(first.wait().unwrap().success());
    // The same address without the facts: what it said before still counts.
    let says = Reply::text("Hello again.", 2);
    let hangs = ("/v1/models", Reply::status(200).hang_after(0));
    let again = Server::start_with_pages(vec![says.clone(), says], vec![hangs]);
    let moved = known.replace(&url, &again.base_url());
    std::fs::write(&file, moved).unwrap();
    ask(&bench, &again, "own", &["-p", "hi"]);
    let sent = again.requests()[0].json();
    assert!(sent["tools"].is_array(), "{sent}");
    let limit = sent["max_tokens"].as_u64().unwrap();
    assert!((256..=4_096).contains(&limit), "half of its window at most: {limit}");
    bench.settings("[models.own]\ntools = false\n");
    ask(&bench, &again, "own", &["-p", "hi"]);
    let mine = again.requests()[1].json();
    assert!(mine.get("tools").is_none(), "the user's word counts more: {mine}");
}

#[test]
fn the_first_request_already_fits_what_a_near_server_says_of_its_model() {
    for tools in [true, false] {
        let bench = TestDir::new();
        let server = llama_cpp(vec![Reply::cmd("I look.", "pwd", &[]), Reply::chat("Hi.")], tools);
        ask(&bench, &server, "own", &["-p", "hi"]);
        let [first, second] = &server.requests()[..] else { panic!("two requests") };
        let [first, second] = [first.json(), second.json()];
        assert_eq!(first["tools"].is_array(), tools, "{first}");
        assert!(first["max_tokens"].as_u64().is_some_and(|limit| limit <= 4_096), "{first}");
        for part in ["tools", "response_format", "max_tokens"] {
            assert_eq!(first[part], second[part], "{part}");
        }
        assert_eq!(first["messages"][0], second["messages"][0], "the system prompt");
    }
}

#[test]
fn a_refusal_of_tools_is_remembered_for_the_next_run_and_a_test_that_works_lifts_it() {
    let bench = TestDir::new();
    let refusal = json!({ "error": { "message": "this model does not support tools" } });
    let call = json!({ "index": 0, "id": "a", "function": { "name": "ping", "arguments": "{\"word\":\"pong\"}" } });
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    let works = Reply::events([event(&call), event(&finish("tool_calls"))]);
    let says = || Reply::chat("Hello.");
    let replies = vec![Reply::json(400, &refusal), says(), says(), works, says()];
    let server = Server::start(replies);
    ask(&bench, &server, "own", &["-p", "hi"]);
    ask(&bench, &server, "own", &["-p", "hi"]);
    let url = server.base_url();
    let tested = bench.command(&["model", "test", "own", "--base-url", &url]).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    ask(&bench, &server, "own", &["-p", "hi"]);
    let has_tools: Vec<bool> =
        server.requests().iter().map(|sent| sent.json()["tools"].is_array()).collect();
    assert_eq!(has_tools, [true, false, false, true, true]);
}

#[test]
fn a_refused_parameter_is_left_out_of_the_first_request_of_the_next_run() {
    let bench = TestDir::new();
    let refusal = json!({ "error": { "message": "Unsupported value: 'temperature'", "param": "temperature" } });
    let says = || Reply::chat("Hello.");
    let server = Server::start(vec![Reply::json(400, &refusal), says(), says(), says()]);
    for name in ["SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct", "SmolLM2-360M-Instruct"] {
        ask(&bench, &server, name, &["-p", "hi"]);
    }
    let has_temperature: Vec<bool> =
        server.requests().iter().map(|sent| sent.json()["temperature"].is_number()).collect();
    assert_eq!(has_temperature, [true, false, false, true]);
}

#[test]
fn a_parameter_refused_for_its_value_is_tried_again_in_the_next_run() {
    let bench = TestDir::new();
    let message = "temperature must be less than or equal to 0.1";
    let refusal = json!({ "error": { "message": message, "param": "temperature" } });
    let says = || Reply::chat("Hello.");
    let server = Server::start(vec![Reply::json(400, &refusal), says(), says()]);
    for _ in 0..2 {
        ask(&bench, &server, "SmolLM2-135M-Instruct", &["-p", "hi"]);
    }
    let has_temperature: Vec<bool> =
        server.requests().iter().map(|sent| sent.json()["temperature"].is_number()).collect();
    assert_eq!(has_temperature, [true, false, true]);
}

#[test]
fn tools_are_tried_at_every_kind_of_server_with_a_model_of_unknown_name() {
    for provider in ["openai", "openai-responses", "anthropic", "gemini", "ollama", "azure"] {
        let bench = TestDir::new();
        let refusal = json!({ "error": { "message": "stop here", "type": "x" } });
        let pages = vec![("/api/show", page(&json!({}))), ("/api/ps", page(&json!({})))];
        let server = Server::start_with_pages(vec![Reply::json(403, &refusal)], pages);
        bench.settings(&format!(
            "[profiles.default]\nprovider = \"{provider}\"\nbase_url = \"{}\"\nhigh = \"my-alias\"\n",
            server.base_url().trim_end_matches("/v1")
        ));
        bench.command(&["-p", "hi"]).output().unwrap();
        let sent = server.requests()[0].clone();
        assert!(sent.json()["tools"].is_array(), "{provider}: {}", sent.body);
    }
}

#[test]
fn a_small_model_gets_the_short_prompt_its_schema_and_steady_sampling() {
    let server = Server::start(vec![Reply::chat("Hello."), Reply::chat("Hello.")]);
    let bench = TestDir::new();
    let settings = "[models.\"SmolLM2*\"]\ntools = false\n";
    bench.settings(settings);
    ask(&bench, &server, "SmolLM2-135M-Instruct", &["-p", "hi"]);
    let small = server.requests()[0].json();
    let system = small["messages"][0]["content"].as_str().unwrap();
    assert!(system.len() < 2_000 && !system.contains("requires"), "{system}");
    let schema = &small["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["anyOf"][0]["properties"]["message"]["maxLength"], 2_000);
    assert_eq!(
        (&small["temperature"], &small["frequency_penalty"], &small["max_tokens"]),
        (&json!(0.2), &json!(0.3), &json!(1_024))
    );
    let profile = format!(
        "{settings}[profiles.default]\nbase_url = \"{}\"\nhigh = \"SmolLM2-135M-Instruct\"\nprompt = \"full\"\n",
        server.base_url()
    );
    bench.settings(&profile);
    assert!(bench.command(&["-p", "hi"]).output().unwrap().status.success());
    let full = server.requests()[1].json();
    assert!(full["messages"][0]["content"].as_str().unwrap().contains("requires"));
    assert!(full.get("temperature").is_none());
}

#[test]
fn a_session_keeps_its_key_for_the_providers_cache_of_prompts() {
    let replies = (0..3).map(|_| Reply::text("Hello.", 1)).collect();
    let server = Server::start(replies);
    let bench = TestDir::new();
    // A model whose provider takes the key.
    for args in [&["-p", "one"][..], &["-c", "-p", "two"], &["-p", "three"]] {
        ask(&bench, &server, "kimi-k2", args);
    }
    let keys: Vec<Value> =
        server.requests().iter().map(|seen| seen.json()["prompt_cache_key"].clone()).collect();
    assert!(keys[0].as_str().is_some_and(|key| !key.is_empty() && key.len() <= 64), "{keys:?}");
    assert_eq!(keys[0], keys[1], "the same session");
    assert_ne!(keys[0], keys[2], "another one");
}
