//! Models that call tools in their wire format's own way, with the real program and a real server.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, delta, event, finish};

/// A model of which it is known that it takes tools.
const MODEL: &str = "gpt-4o";

/// A reply that says this and calls `exec` with these lines.
fn calls(says: &str, lines: &[&[&str]]) -> Reply {
    let calls: Vec<Value> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let arguments = json!({ "program": line[0], "args": line[1..] }).to_string();
            let function = json!({ "name": "exec", "arguments": arguments });
            json!({ "index": index, "id": format!("call_{index}"), "function": function })
        })
        .collect();
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] });
    Reply::events([event(&delta(says)), event(&call), event(&finish("tool_calls"))])
}

pub(crate) fn says(text: &str) -> Reply {
    Reply::events([event(&delta(text)), event(&finish("stop"))])
}

pub(crate) fn ask(bench: &TestDir, server: &Server, args: &[&str]) -> Output {
    let url = server.base_url();
    let model = if args.contains(&"--model") { &[][..] } else { &["--model", MODEL] };
    let common = [&["--base-url", url.as_str()], model].concat();
    bench.command(&[&common[..], args].concat()).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_model_that_takes_tools_calls_them_and_gets_results() {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "hello from a\n").unwrap();
    let server = Server::start(vec![
        calls("I look.", &[&["cat", "a.txt"], &["ls"]]),
        says("It says **hello**, in {braces}."),
    ]);
    let done = ask(&bench, &server, &["-p", "what does a.txt say?"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "It says **hello**, in {braces}.");
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let names = tools(&first.json());
    for expected in ["exec", "file_read", "file_edit", "ask", "plan"] {
        assert!(names.iter().any(|name| name == expected), "{names:?}");
    }
    assert_eq!(first.json()["response_format"], Value::Null);
    assert!(first.body.len() <= 6_000, "{} bytes", first.body.len());
    let messages = second.json()["messages"].clone();
    let last: Vec<&Value> = messages.as_array().unwrap().iter().rev().take(3).collect();
    assert_eq!(last[2]["tool_calls"][1]["function"]["name"], "exec");
    assert_eq!((&last[1]["role"], &last[1]["tool_call_id"]), (&json!("tool"), &json!("call_0")));
    assert!(last[1]["content"].as_str().unwrap().contains("hello from a"));
    assert!(last[0]["content"].as_str().unwrap().contains("a.txt"));
}

fn tools(body: &Value) -> Vec<String> {
    let all = body["tools"].as_array().unwrap();
    all.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn requests_of_a_turn_begin_with_the_one_before_and_a_step_adds_little() {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "x\n").unwrap();
    let steps = 6;
    let mut replies: Vec<Reply> =
        (0..steps).map(|n| calls("", &[&["head", "-n", &n.to_string(), "a.txt"]])).collect();
    replies.push(says("Done."));
    let server = Server::start(replies);
    let done = ask(&bench, &server, &["-p", "look at it"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let requests = server.requests();
    assert_eq!(requests.len(), steps + 1);
    for pair in requests.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|request| request.json());
        assert_eq!(before["tools"], after["tools"]);
        let (old, new) = (before["messages"].as_array(), after["messages"].as_array());
        assert!(new.unwrap().starts_with(old.unwrap()), "the prefix changed");
        let added = pair[1].body.len() - pair[0].body.len();
        assert!(added <= 300, "a step adds {added} bytes");
    }
}

#[test]
fn a_server_that_refuses_tools_gets_the_json_dialect() {
    let bench = TestDir::new();
    let refusal = json!({ "error": { "message": "this model does not support tools" } });
    let server = Server::start(vec![Reply::json(400, &refusal), Reply::chat("In JSON.")]);
    let done = ask(&bench, &server, &["-p", "hello"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "In JSON.");
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    assert!(first.json()["tools"].is_array() && second.json()["tools"].is_null());
}

#[test]
fn a_call_that_is_not_allowed_is_declined_in_its_result() {
    let bench = TestDir::new();
    let server = Server::start(vec![calls("", &[&["touch", "made"]]), says("I could not.")]);
    let done = ask(&bench, &server, &["-p", "make it"]);
    assert!(!bench.work().join("made").exists());
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{}", text(&done.stderr));
    let messages = requests[1].json()["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool");
    assert!(last["content"].as_str().unwrap().starts_with("declined"), "{last}");
}

#[test]
fn a_session_goes_on_in_the_other_dialect() {
    let bench = TestDir::new();
    bench.settings("[models.\"unknown-1\"]\ntools = false\n");
    fs::write(bench.work().join("a.txt"), "hello from a\n").unwrap();
    let server = Server::start(vec![
        calls("", &[&["cat", "a.txt"]]),
        says("It says hello."),
        Reply::chat("As I said."),
        says("And again."),
    ]);
    let done = ask(&bench, &server, &["-p", "what does a.txt say?"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let url = server.base_url();
    let other = ["--base-url", &url, "--model", "unknown-1", "-c", "-p", "say it again"];
    let done = bench.command(&other).output().unwrap();
    assert_eq!(text(&done.stdout).trim(), "As I said.", "{}", text(&done.stderr));
    let done = ask(&bench, &server, &["-c", "-p", "and again"]);
    assert_eq!(text(&done.stdout).trim(), "And again.", "{}", text(&done.stderr));
    let requests = server.requests();
    let json = requests[2].json().to_string();
    assert!(json.contains("It says hello.") && !json.contains("tool_calls"), "{json}");
    let native = requests[3].json();
    let messages = native["messages"].as_array().unwrap();
    assert!(messages.iter().any(|message| message["tool_calls"].is_array()), "{native}");
    assert!(native.to_string().contains("As I said."), "{native}");
}

/// What the first request says of reasoning, and what is said of it.
fn effort(bench: &TestDir, model: &str, args: &[&str]) -> (Value, String) {
    let server = Server::start(vec![says("Yes.")]);
    let url = server.base_url();
    let common = ["--base-url", url.as_str(), "--model", model, "-p", "hi"];
    let done = bench.command(&[&common[..], args].concat()).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    (server.requests()[0].json()["reasoning_effort"].clone(), text(&done.stderr))
}

#[test]
fn the_effort_is_asked_for_as_the_model_knows_it_and_anything_else_is_said() {
    let bench = TestDir::new();
    assert_eq!(effort(&bench, "gpt-5-mini", &[]), (Value::Null, String::new()));
    let (asked, said) = effort(&bench, "gpt-5-mini", &["--effort", "high"]);
    assert_eq!((asked, said.as_str()), (json!("high"), ""));
    let (asked, said) = effort(&bench, "gpt-5-mini", &["--effort", "max"]);
    assert_eq!(asked, "high");
    assert!(said.contains("supports minimal, low, medium, high; using `high`"), "{said}");
    let (asked, said) = effort(&bench, "gpt-4o", &["--effort", "high"]);
    assert_eq!(asked, Value::Null);
    assert!(said.contains("`gpt-4o` cannot be told"), "{said}");
    let (asked, said) = effort(&bench, "some-model-of-mine", &["--effort", "low"]);
    assert_eq!(asked, "low");
    assert!(said.contains("doesn't know"), "{said}");
}

#[test]
fn a_profile_has_an_effort_and_the_command_line_another() {
    let bench = TestDir::new();
    bench.settings("profiles.default.effort = \"low\"\n");
    assert_eq!(effort(&bench, "gpt-5-mini", &[]).0, "low");
    assert_eq!(effort(&bench, "gpt-5-mini", &["--effort", "medium"]).0, "medium");
    assert_eq!(effort(&bench, "gpt-5-mini", &["--effort", "auto"]).0, Value::Null);
    let wrong = bench.command(&["--effort", "much", "-p", "hi"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn an_effort_that_the_server_refuses_is_left_out() {
    let bench = TestDir::new();
    let refusal =
        json!({ "error": { "message": "Unrecognized request argument: reasoning_effort" } });
    let server = Server::start(vec![Reply::json(400, &refusal), says("Yes.")]);
    let done = ask(&bench, &server, &["--model", "gpt-5", "--effort", "high", "-p", "hi"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    assert_eq!(first.json()["reasoning_effort"], "high");
    assert_eq!(second.json()["reasoning_effort"], Value::Null);
}

/// An image of 3 by 2 pixels.
fn write_image(bench: &TestDir, name: &str) {
    let file = fs::File::create(bench.work().join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, 3, 2);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[0, 50, 100, 150, 200, 250]).unwrap();
}

fn images(body: &Value) -> usize {
    let messages = body["messages"].as_array().unwrap().iter();
    let parts = messages.filter_map(|message| message["content"].as_array()).flatten();
    let url = |part: &&Value| {
        let url = part["image_url"]["url"].as_str().unwrap_or_default();
        url.starts_with("data:image/png;base64,iVBOR")
    };
    parts.filter(url).count()
}

#[test]
fn an_image_goes_with_the_message_that_mentions_it_and_stays_in_the_conversation() {
    for json_dialect in [false, true] {
        let bench = TestDir::new();
        write_image(&bench, "shot.png");
        let reply = |text| if json_dialect { Reply::chat(text) } else { says(text) };
        if json_dialect {
            bench.settings("profiles.default.dialect = \"json\"\n");
        }
        let server = Server::start(vec![reply("A picture."), reply("Still."), says("Cannot see.")]);
        let done = ask(&bench, &server, &["-p", "look @shot.png"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let done = ask(&bench, &server, &["-c", "-p", "and now?"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        // A model that takes none gets a word in its place.
        let done = ask(&bench, &server, &["--model", "gpt-3.5-turbo", "-c", "-p", "and you?"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let bodies: Vec<Value> = server.requests().iter().map(|it| it.json()).collect();
        let counts: Vec<usize> = bodies.iter().map(images).collect();
        assert_eq!(counts, [1, 1, 0], "json dialect: {json_dialect}");
        assert!(bodies[0].to_string().contains("look @shot.png"));
        assert!(bodies[0].to_string().contains("[Attached @shot.png: image, 3x2]"));
        assert!(bodies[2].to_string().contains("this model cannot see"), "{}", bodies[2]);
    }
}

#[test]
fn an_image_that_the_server_refuses_does_not_end_the_conversation() {
    let bench = TestDir::new();
    write_image(&bench, "shot.png");
    let server = Server::start_answering(|requests| {
        let body = requests.last().unwrap().json();
        let refusal = json!({ "error": { "message": "image exceeds 5 MB maximum" } });
        if images(&body) > 0 { Reply::json(400, &refusal) } else { says("I go on.") }
    });
    for args in [&["-p", "look @shot.png"][..], &["-c", "-p", "and now?"], &["-c", "-p", "now?"]] {
        let done = ask(&bench, &server, args);
        assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
        assert_eq!(text(&done.stdout).trim(), "I go on.", "{args:?}");
    }
}

/// A reply that calls this tool.
pub(crate) fn call(name: &str, input: &Value) -> Reply {
    let function = json!({ "name": name, "arguments": input.to_string() });
    let call = json!({ "index": 0, "id": "call_0", "function": function });
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    Reply::events([event(&call), event(&finish("tool_calls"))])
}

#[test]
fn an_image_that_the_model_reads_comes_with_the_result_if_it_can_see() {
    for (model, count) in [(MODEL, 1), ("gpt-3.5-turbo", 0)] {
        let bench = TestDir::new();
        write_image(&bench, "shot.png");
        bench.settings("profiles.default.dialect = \"tools\"\n");
        let read = call("file_read", &json!({ "path": "shot.png" }));
        let server = Server::start(vec![read, says("Grey."), says("Still grey.")]);
        for args in [&["-p", "what is on it?"][..], &["-c", "-p", "and now?"]] {
            let done = ask(&bench, &server, &[&["--model", model], args].concat());
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
        let bodies: Vec<Value> = server.requests().iter().map(|it| it.json()).collect();
        assert_eq!(bodies.iter().map(images).collect::<Vec<_>>(), [0, count, count], "{model}");
        let second = bodies[1].to_string();
        assert!(second.contains("`shot.png` is an image of 3x2; it follows."), "{second}");
        assert_eq!(second.contains("this model cannot see"), count == 0, "{second}");
    }
}

#[test]
fn only_what_can_be_used_is_offered_and_patches_to_models_that_write_them() {
    for (model, writes_patches) in [("gpt-5", true), (MODEL, false)] {
        for has_slothtool in [false, true] {
            let bench = TestDir::new();
            if has_slothtool {
                let folder = bench.path("home/.slothtool");
                fs::create_dir(&folder).unwrap();
                fs::write(folder.join("registry.json"), "{\"plugins\": {}}").unwrap();
            }
            let server = Server::start(vec![says("Hello.")]);
            let done = ask(&bench, &server, &["--model", model, "-p", "hi"]);
            assert!(done.status.success(), "{}", text(&done.stderr));
            let names = tools(&server.requests()[0].json());
            let has = |name: &str| names.iter().any(|offered| offered == name);
            assert_eq!(has("plugin_run"), has_slothtool, "{names:?}");
            assert_eq!(has("config_json_patch"), has_slothtool, "{names:?}");
            assert_eq!(has("apply_patch"), writes_patches, "{model}: {names:?}");
            assert!(has("job_read") && has("recall"), "from the first request on: {names:?}");
        }
    }
}

#[test]
fn every_description_of_a_tool_begins_after_its_parameters() {
    let bench = TestDir::new();
    let server = Server::start(vec![says("Hello.")]);
    ask(&bench, &server, &["-p", "hi"]);
    let body = server.requests()[0].json();
    let tools = body["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "plan"), "{body}");
    for tool in tools {
        let about = tool["function"]["description"].as_str().unwrap();
        assert!(about.matches('{').count() == about.matches('}').count(), "{tool}");
        assert!(about.starts_with(|c: char| c.is_ascii_lowercase()), "{tool}");
    }
}

#[test]
fn a_first_request_with_ten_tools_is_small() {
    let bench = TestDir::new();
    let server = Server::start(vec![says("Hello.")]);
    let done = ask(&bench, &server, &["-p", "hi"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let first = &server.requests()[0];
    let body = first.json();
    let all = body["tools"].as_array().unwrap();
    let is_more = |tool: &&Value| {
        ["job_list", "job_stop"].iter().any(|name| tool["function"]["name"] == *name)
    };
    let more: Vec<usize> = all.iter().filter(is_more).map(|it| it.to_string().len() + 1).collect();
    assert_eq!(all.len() - more.len(), 10, "{:?}", tools(&body));
    let folder = bench.work().display().to_string().len();
    let size = first.body.len() - more.iter().sum::<usize>() - folder;
    assert!(size <= 5_500, "{size} bytes");
}

#[test]
fn the_tool_for_pages_is_described_once_a_message_has_an_address() {
    for (message, is_there) in [("hi", false), ("read https://docs.rs/serde", true)] {
        let bench = TestDir::new();
        let server = Server::start(vec![says("Hello.")]);
        let done = ask(&bench, &server, &["-p", message]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let body = server.requests()[0].json();
        assert_eq!(tools(&body).iter().any(|name| name == "web_fetch"), is_there, "{message}");
    }
}

#[test]
fn the_tool_for_searching_is_described_once_a_service_can_be_asked() {
    for (settings, is_there) in [
        ("", false),
        ("[web]\nsearch = \"searxng\"", false),
        ("[web]\nsearch = \"provider\"", false),
        ("[web]\nsearch = \"searxng\"\nsearch_url = \"http://localhost:8888\"", true),
    ] {
        let bench = TestDir::new();
        bench.settings(settings);
        let server = Server::start(vec![says("Hello.")]);
        let done = ask(&bench, &server, &["-p", "hi"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let body = server.requests()[0].json();
        assert_eq!(tools(&body).iter().any(|name| name == "web_search"), is_there, "{settings}");
    }
}

/// A call of `apply_patch` as a provider streams it, and the answer after it.
fn patch_replies(provider: &str, given: &Value) -> Vec<Reply> {
    let all = |events: &[Value]| Reply::events(events.iter().map(event));
    match provider {
        "openai-responses" => {
            let done =
                json!({ "type": "response.completed", "response": { "status": "completed" } });
            let item =
                json!({ "type": "response.output_item.done", "output_index": 0, "item": given });
            let text = json!({ "type": "response.output_text.delta", "delta": "Done." });
            vec![all(&[item, done.clone()]), all(&[text, done])]
        }
        "anthropic" => {
            let reply = |block: Value, delta: Value, stop: &str| {
                all(&[
                    json!({ "type": "message_start", "message": { "id": "m", "role": "assistant" } }),
                    json!({ "type": "content_block_start", "index": 0, "content_block": block }),
                    json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
                    json!({ "type": "content_block_stop", "index": 0 }),
                    json!({ "type": "message_delta", "delta": { "stop_reason": stop } }),
                    json!({ "type": "message_stop" }),
                ])
            };
            let call = json!({ "type": "tool_use", "id": "c", "name": "apply_patch", "input": {} });
            let input = json!({ "type": "input_json_delta", "partial_json": given });
            let words = json!({ "type": "text_delta", "text": "Done." });
            let text = json!({ "type": "text", "text": "" });
            vec![reply(call, input, "tool_use"), reply(text, words, "end_turn")]
        }
        _ => {
            let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [given] } }] });
            vec![all(&[call, finish("tool_calls")]), says("Done.")]
        }
    }
}

#[test]
fn a_patch_changes_files_in_every_form_in_which_models_send_it() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch";
    let quoted = json!(patch).to_string();
    let function = |arguments: &str| {
        let function = json!({ "name": "apply_patch", "arguments": arguments });
        json!({ "index": 0, "id": "c", "type": "function", "function": function })
    };
    let custom = json!({ "name": "apply_patch", "input": patch });
    let item = |kind: &str, field: &str, text: &str| json!({ "type": kind, "id": "i", "call_id": "c", "name": "apply_patch", field: text });
    for (provider, given) in [
        ("openai", function(&json!({ "input": patch }).to_string())),
        ("openai", function(&json!({ "patch": patch }).to_string())),
        ("openai", function(&quoted)),
        ("openai", function(patch)),
        ("openai", json!({ "index": 0, "id": "c", "type": "custom", "custom": custom })),
        ("openai-responses", item("custom_tool_call", "input", patch)),
        ("openai-responses", item("function_call", "arguments", &quoted)),
        ("anthropic", json!(quoted)),
    ] {
        let bench = TestDir::new();
        fs::write(bench.work().join("a.txt"), "one\ntwo\n").unwrap();
        let server = Server::start(patch_replies(provider, &given));
        bench.settings(&format!("[profiles.default]\nprovider = \"{provider}\"\n"));
        let url = server.base_url();
        let args = ["--base-url", &url, "--model", "gpt-5", "--mode", "edits", "-p", "change it"];
        let mut command = bench.command(&args);
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
        let done = command.envs(keys.map(|key| (key, "key-of-a-test"))).output().unwrap();
        assert!(done.status.success(), "{given}: {}", text(&done.stderr));
        let file = fs::read_to_string(bench.work().join("a.txt")).unwrap();
        assert_eq!(file, "one\n2\n", "{provider} {given}: {}", text(&done.stderr));
        // What goes back is an object, which every server takes.
        let sent = &server.requests()[1].body;
        assert!(
            sent.contains("apply_patch") && !sent.contains("\"arguments\":\"\\\"***"),
            "{sent}"
        );
    }
}

#[test]
fn a_model_without_images_is_told_apart_before_anything_is_sent() {
    let bench = TestDir::new();
    write_image(&bench, "shot.png");
    let server = Server::start_with_models(vec![], &["gpt-3.5-turbo"]);
    let done = ask(&bench, &server, &["--model", "gpt-3.5-turbo", "-p", "look @shot.png"]);
    assert!(!done.status.success());
    let said = text(&done.stderr);
    assert!(said.contains("takes no images") && said.contains("@shot.png"), "{said}");
    let posts = server.requests().iter().filter(|request| request.line.contains("chat")).count();
    assert_eq!(posts, 0);
}

#[test]
fn a_server_that_says_its_model_sees_gets_the_image() {
    let bench = TestDir::new();
    write_image(&bench, "shot.png");
    let list = json!({ "data": [{ "id": "my-eyes", "owned_by": "llamacpp" }] });
    let props = json!({ "modalities": { "vision": true, "audio": false } });
    let pages = vec![("/v1/models", Reply::json(200, &list)), ("/props", Reply::json(200, &props))];
    let server = Server::start_with_pages(vec![Reply::chat("A picture.")], pages);
    let done = ask(&bench, &server, &["--model", "my-eyes", "-p", "look @shot.png"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(images(&server.requests()[0].json()), 1);
}

#[test]
fn a_file_that_only_claims_to_be_an_image_is_said_and_the_message_goes_without_it() {
    let bench = TestDir::new();
    fs::write(bench.work().join("shot.png"), b"\x89PNG\r\n\x1a\n and nothing").unwrap();
    let server = Server::start(vec![says("There is none.")]);
    let done = ask(&bench, &server, &["-p", "look @shot.png"]);
    let said = text(&done.stderr);
    assert!(done.status.success() && said.contains("cannot be read"), "{said}");
    assert_eq!(images(&server.requests()[0].json()), 0);
}

#[test]
fn large_images_come_back_whole_with_the_conversation() {
    let bench = TestDir::new();
    let mut random = fastrand::Rng::with_seed(3);
    for name in ["a.png", "b.png", "c.png"] {
        // As large as an image that is sent as it is may be; nothing after its head is read.
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\0\0\0\x03\0".to_vec();
        bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(1_400_000));
        fs::write(bench.work().join(name), bytes).unwrap();
    }
    let server = Server::start(vec![says("Three."), says("Still three.")]);
    let done = ask(&bench, &server, &["-p", "look @a.png @b.png @c.png"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = ask(&bench, &server, &["-c", "-p", "and now?"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let (first, second) = (first.json(), second.json());
    assert_eq!((images(&first), images(&second)), (3, 3));
    let sent = |body: &Value| body["messages"][1]["content"].clone();
    assert_eq!(sent(&first), sent(&second), "not a letter of them was masked");
}

#[test]
fn a_line_for_a_shell_runs_without_a_question_if_all_of_its_commands_do() {
    let bench = TestDir::new();
    for (name, text) in [("src/a.txt", "foo one\nbar\nfoo two\n"), ("sub/b.txt", "b\n")] {
        fs::create_dir_all(bench.work().join(name).parent().unwrap()).unwrap();
        fs::write(bench.work().join(name), text).unwrap();
    }
    let canary = bench.path("canary");
    fs::write(bench.path("home/.bash_profile"), format!("touch '{}'\n", canary.display())).unwrap();
    let mut git = std::process::Command::new("git");
    assert!(git.current_dir(bench.work()).args(["init", "-q"]).status().unwrap().success());
    let server = Server::start(vec![
        calls(
            "I look.",
            &[
                &["bash", "-lc", "grep -rn foo src | head -1"],
                &["bash", "-lc", "cd sub && git status --short && ls"],
            ],
        ),
        calls("And more.", &[&["bash", "-lc", "ls > out.txt"]]),
        says("Done."),
    ]);
    let done = ask(&bench, &server, &["-p", "look around"]);
    let requests = server.requests();
    let results: Vec<String> = requests
        .last()
        .map(|last| last.json()["messages"].clone())
        .and_then(|messages| messages.as_array().cloned())
        .unwrap_or_default()
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str().map(str::to_owned))
        .collect();
    assert!(results[0].contains("src/a.txt:1:foo one"), "{results:?} {}", text(&done.stderr));
    assert!(!results[0].contains("foo two") && results[1].contains("b.txt"), "{results:?}");
    assert!(!canary.exists() && !bench.work().join("out.txt").exists());
}

#[test]
fn a_task_is_offered_once_a_message_speaks_of_agents_and_json_names_its_agent() {
    let bench = TestDir::new();
    let input = json!({ "description": "Look", "prompt": "What is here?", "agent": "explore" });
    let function = json!({ "name": "task", "arguments": input.to_string() });
    let call = json!([{ "index": 0, "id": "call_0", "function": function }]);
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": call } }] });
    let begins = Reply::events([event(&call), event(&finish("tool_calls"))]);
    let server = Server::start(vec![begins, says("Nothing."), says("It is empty.")]);
    let done = ask(&bench, &server, &["--json", "-p", "ask an agent what is here"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let [first, agent, last] = &server.requests()[..] else { panic!("three requests") };
    let offered = first.json()["tools"].to_string();
    assert!(offered.contains("\"task\"") && offered.contains("- explore: "), "{offered}");
    let agent = agent.json();
    assert!(!tools(&agent).iter().any(|name| ["task", "file_edit"].contains(&&**name)), "{agent}");
    assert!(agent["messages"].to_string().contains("You look into a project"), "{agent}");
    assert!(last.json()["messages"].to_string().contains("Nothing."), "{}", last.body);
    let events: Vec<Value> =
        text(&done.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(of("subagent_started"), 1, "{}", text(&done.stdout));
    assert!(events.iter().any(|event| event["event"] == "subagent" && event["agent"] == "cmd_001"));
}
