//! Agents of a run without a screen: what each really gets.

use std::fs;

use serde_json::{Value, json};

use super::native_tools::{ask, says, text};
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, event, finish};

/// A reply that hands a task to this agent.
fn hands_to(agent: &str) -> Reply {
    let input = json!({ "description": "Look", "prompt": "What is here?", "agent": agent });
    let function = json!({ "name": "task", "arguments": input.to_string() });
    let call = json!([{ "index": 0, "id": "call_0", "function": function }]);
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": call } }] });
    Reply::events([event(&call), event(&finish("tool_calls"))])
}

#[test]
fn an_agent_gets_the_model_the_effort_the_mode_and_the_tools_of_its_definition_and_no_more() {
    let bench = TestDir::new();
    let agents = bench.path("avocet/agents");
    fs::create_dir_all(&agents).unwrap();
    let definition = "description = \"Looks\"\nprompt = \"You scout.\"\nmodel = \"gpt-5-mini\"\n\
        effort = \"low\"\nmode = \"auto\"\ntools = [\"file.read\", \"file.write\"]\n";
    fs::write(agents.join("scout.toml"), definition).unwrap();
    let server = Server::start(vec![hands_to("scout"), says("Nothing."), says("It is empty.")]);
    let args = ["--mode", "plan", "--json", "-p", "ask an agent what is here"];
    let done = ask(&bench, &server, &args);
    let [first, agent, last] = &server.requests()[..] else {
        panic!("three requests: {}", text(&done.stderr))
    };
    let models = [first, agent, last].map(|request| request.json()["model"].clone());
    assert_eq!(models, ["gpt-4o", "gpt-5-mini", "gpt-4o"]);
    let agent = agent.json();
    assert_eq!(agent["reasoning_effort"], "low", "{agent}");
    let tools: Vec<&str> = agent["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    // Asking, and the jobs of the session, are for each.
    assert_eq!(tools, ["file_read", "file_write", "ask", "job_list", "job_read", "job_stop"]);
    let stdout = text(&done.stdout);
    let events = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started: Vec<Value> = events.filter(|event| event["event"] == "subagent_started").collect();
    let [started] = &started[..] else { panic!("{stdout}") };
    let given = ["name", "model", "effort", "mode"].map(|key| started[key].clone());
    assert_eq!(given, ["scout", "gpt-5-mini", "low", "plan"], "never wider than the session");
    assert_eq!(started["tools"], json!(["file.read", "file.write"]));
}
