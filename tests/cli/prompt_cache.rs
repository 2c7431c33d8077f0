//! How much of the requests a provider reads from its cache of prompts, over 30 turns. The server
//! counts as providers do: what a request has in common with the beginning of an earlier one, in
//! whole blocks.
//!
//! `cargo test --test cli prompt_cache:: -- --nocapture` prints the table.

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{ReceivedRequest, Reply, Server, delta, event, finish};

const TURNS: usize = 30;

/// A token is about four bytes; fewer than 1024 tokens are not kept, and only blocks of 128 are.
const TOKEN: usize = 4;
const BLOCK: usize = 128;
const LEAST: usize = 1_024;

/// What the model reads, in the order it is kept: tools, then messages.
fn prompt(request: &ReceivedRequest) -> String {
    let body = request.json();
    format!("{}{}", body["tools"], body["messages"])
}

fn common(one: &str, two: &str) -> usize {
    one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count()
}

/// The tokens of the last request, and how many of them an earlier request began with.
fn counted(requests: &[ReceivedRequest]) -> (usize, usize) {
    let prompts: Vec<String> = requests.iter().map(prompt).collect();
    let (last, earlier) = prompts.split_last().unwrap();
    let longest = earlier.iter().map(|before| common(before, last)).max().unwrap_or(0);
    let cached = longest / TOKEN / BLOCK * BLOCK;
    (last.len() / TOKEN, if cached < LEAST { 0 } else { cached })
}

fn usage(requests: &[ReceivedRequest]) -> Value {
    let (tokens, cached) = counted(requests);
    let details = json!({ "cached_tokens": cached });
    let usage = json!({
        "prompt_tokens": tokens, "completion_tokens": 20, "prompt_tokens_details": details,
    });
    json!({ "choices": [], "usage": usage })
}

fn has_result(request: &ReceivedRequest) -> bool {
    let body = request.json();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    last["role"] == "tool" || last.to_string().contains("tool_result")
}

/// A step, and once its result is there, an answer.
fn with_tools(requests: &[ReceivedRequest]) -> Reply {
    let last = requests.last().unwrap();
    let says = if has_result(last) {
        delta("It counts herons, and there are three of them.")
    } else {
        let arguments = json!({ "program": "cat", "args": ["notes.txt"] }).to_string();
        let function = json!({ "name": "exec", "arguments": arguments });
        let id = format!("call_{}", requests.len());
        let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] })
    };
    let end = if has_result(last) { "stop" } else { "tool_calls" };
    Reply::events([event(&says), event(&finish(end)), event(&usage(requests))])
}

fn with_json(requests: &[ReceivedRequest]) -> Reply {
    let last = requests.last().unwrap();
    let says = if last.body.contains("You summarize") {
        json!({ "summary": "They count herons.", "keyFacts": ["three herons"], "openTasks": [] })
    } else if has_result(last) {
        json!({ "type": "chat", "message": "It counts herons: three of them.", "data": {} })
    } else {
        let command = json!({ "program": "cat", "args": ["notes.txt"] });
        json!({ "type": "cmd", "message": "I read it.", "data": { "commands": [command] } })
    };
    let says = delta(&says.to_string());
    Reply::events([event(&says), event(&finish("stop")), event(&usage(requests))])
}

/// How much of a request is the beginning of the next one, on average over these.
fn unchanged(requests: &[ReceivedRequest]) -> f64 {
    let prompts: Vec<String> = requests.iter().map(prompt).collect();
    let pairs = prompts.windows(2);
    // The last bytes close the list.
    let shares = pairs.map(|pair| (common(&pair[0], &pair[1]) + 2) as f64 / pair[0].len() as f64);
    shares.sum::<f64>() / (prompts.len() - 1) as f64
}

/// The share of the input that came from the cache: in all, and as Avocet reports it of each turn;
/// and how much of the requests stayed unchanged.
fn share(model: &str, responder: fn(&[ReceivedRequest]) -> Reply) -> (f64, Vec<f64>, f64) {
    let bench = TestDir::new();
    bench.settings("[models.\"own-model\"]\ntools = false\n");
    std::fs::write(bench.work().join("notes.txt"), "three herons\n".repeat(40)).unwrap();
    let server = Server::start_answering(responder);
    let url = server.base_url();
    let common = ["--base-url", url.as_str(), "--model", model, "--json"];
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        let goes_on: &[&str] = if turn == 0 { &[] } else { &["-c"] };
        let prompt = format!("Question {turn}: what is in notes.txt, and how many are there?");
        let args = [&common[..], goes_on, &["-p", &prompt]].concat();
        let done = bench.command(&args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        let ended = out.lines().find(|line| line.contains("\"turn_ended\"")).unwrap();
        let usage = serde_json::from_str::<Value>(ended).unwrap()["usage"].take();
        let of = |field: &str| usage[field].as_u64().unwrap_or(0) as f64;
        turns.push(of("cached_tokens") / of("input_tokens"));
    }
    let requests = server.requests();
    assert!(requests.len() >= 2 * TURNS, "and those that sum up the conversation");
    let counts = (1..=requests.len()).map(|count| counted(&requests[..count]));
    let (tokens, cached) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let talk: Vec<ReceivedRequest> =
        requests.into_iter().filter(|request| !request.body.contains("You summarize")).collect();
    (cached as f64 / tokens as f64, turns, unchanged(&talk))
}

fn print(dialect: &str, all: f64, turns: &[f64]) {
    let at = |turn: usize| format!("{:.0} %", turns[turn - 1] * 100.0);
    let shown: Vec<String> = [1, 2, 5, 10, 20, 30].map(at).to_vec();
    println!("| {dialect} | {:.1} % | {} |", all * 100.0, shown.join(" | "));
}

#[test]
fn most_of_thirty_turns_with_tools_comes_from_the_cache() {
    let (all, turns, unchanged) = share("gpt-4o", with_tools);
    print("tools", all, &turns);
    println!("unchanged: {:.1} %", unchanged * 100.0);
    assert!(all > 0.9, "{all}: {turns:?}");
    assert!(turns[5..].iter().all(|share| *share > 0.85), "each turn: {turns:?}");
}

#[test]
fn the_beginning_of_thirty_turns_in_json_comes_from_the_cache() {
    let (all, turns, unchanged) = share("own-model", with_json);
    print("json", all, &turns);
    println!("unchanged: {:.1} %", unchanged * 100.0);
    assert!(unchanged > 0.9, "{unchanged}");
    assert!(all > 0.75, "{all}: {turns:?}");
}
