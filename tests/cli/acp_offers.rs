//! What an editor offers its sessions: the files that it holds, and the MCP servers of its user.

use std::fs;

use serde_json::{Value, json};

use super::acp::{AcpClient, DONE};
use super::mcp::{ECHO, program};
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};

fn step(tool: &str, input: &Value) -> String {
    let commands = json!([{ "tool": tool, "input": input }]);
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    json!({ "type": "cmd", "message": "I do it.", "data": data }).to_string()
}

fn edit() -> String {
    let edits = json!([{ "old": "typed", "new": "changed" }]);
    step("file.edit", &json!({ "path": "a.txt", "edits": edits }))
}

/// A folder with a file that is saved in another state than the editor has it in.
fn with_file() -> TestDir {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "saved\n").unwrap();
    bench
}

/// Answers each request for the text of a file with this, until another message comes.
fn serve(client: &mut AcpClient, content: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let is_read = |message: &Value| message["method"] == "fs/read_text_file";
    loop {
        let message = client.wait_for("message", |message| is_read(message) || is_it(message));
        if !is_read(&message) {
            return message;
        }
        assert!(message["params"]["path"].as_str().unwrap().ends_with("a.txt"), "{message}");
        reply(client, &message, &json!({ "content": content }));
    }
}

fn is_write(message: &Value) -> bool {
    message["method"] == "fs/write_text_file"
}

fn is_permission(message: &Value) -> bool {
    message["method"] == "session/request_permission"
}

/// A client that is asked whether the edit may be made, and says yes.
fn approved_edit(bench: &TestDir) -> (AcpClient, u64) {
    let mut client = AcpClient::scripted(bench, &[&edit(), DONE]);
    let session = client.open_with(bench, true, json!([]));
    let prompt = client.begin_prompt(&session, "change it");
    let permission = serve(&mut client, "typed\n", is_permission);
    assert!(permission.to_string().contains("changed"), "{permission}");
    client.choose(&permission, "allow_once");
    (client, prompt)
}

fn reply(client: &mut AcpClient, request: &Value, result: &Value) {
    client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
}

fn refuse(client: &mut AcpClient, request: &Value) {
    let error = json!({ "code": -32603, "message": "no" });
    client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
}

#[test]
fn a_step_reads_the_text_that_is_not_saved_in_the_editor() {
    let bench = with_file();
    let read = step("file.read", &json!({ "path": "a.txt" }));
    let mut client = AcpClient::scripted(&bench, &[&read, &read, DONE]);
    let session = client.open_with(&bench, true, json!([]));
    let prompt = client.begin_prompt(&session, "read it");
    let is_read = |message: &Value| message["method"] == "fs/read_text_file";
    let request = client.wait_for("read", is_read);
    assert_eq!(request["params"]["sessionId"], session);
    reply(&mut client, &request, &json!({ "content": "typed\n" }));
    // What the editor does not read is read from the disk.
    let request = client.wait_for("read", is_read);
    refuse(&mut client, &request);
    assert_eq!(client.ended(prompt), "end_turn");
    let updates = json!(client.updates("tool_call_update")).to_string();
    assert!(updates.contains("typed") && updates.contains("saved"), "{updates}");
}

#[test]
fn a_mentioned_file_is_read_as_the_editor_has_it() {
    let bench = with_file();
    let server = Server::start(vec![Reply::chat("Well."), Reply::chat("Well.")]);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open_with(&bench, true, json!([]));
    let prompt = client.begin_prompt(&session, "what is in @a.txt ?");
    let is_end = |message: &Value| message["id"] == prompt && message["method"].is_null();
    let end = serve(&mut client, "typed\n", is_end);
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    let sent = server.requests()[0].json()["messages"].to_string();
    assert!(sent.contains("\\ntyped\\n") && !sent.contains("\\nsaved\\n"), "{sent}");
}

/// What the model reads of the answer to its question, from a client that shows forms.
fn answer_of_form(answer: &Value) -> String {
    let bench = TestDir::new();
    let ask = step("ask", &json!({ "question": "Which one?" }));
    let server = Server::start(vec![Reply::text(&ask, 3), Reply::chat("Well.")]);
    let mut client = AcpClient::served(&bench, &server);
    let offers = json!({ "elicitation": { "form": {} } });
    client.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": offers }));
    let new = client.ask("session/new", json!({ "cwd": bench.work(), "mcpServers": [] }));
    let session = new["sessionId"].as_str().unwrap().to_owned();
    let prompt = client.begin_prompt(&session, "choose");
    let form = client.wait_for("form", |message| message["method"] == "elicitation/create");
    assert!(form["params"]["message"].as_str().unwrap().contains("Which one?"), "{form}");
    reply(&mut client, &form, answer);
    assert_eq!(client.ended(prompt), "end_turn");
    server.requests()[1].json()["messages"].to_string()
}

#[test]
fn a_question_that_needs_words_is_a_form_of_the_editor() {
    let words = json!({ "action": "accept", "content": { "answer": "the second of them" } });
    assert!(answer_of_form(&words).contains("the second of them"));
    let declined = answer_of_form(&json!({ "action": "decline" }));
    assert!(!declined.contains("the second of them"), "{declined}");
}

#[test]
fn an_edit_is_judged_and_made_in_the_editor() {
    let bench = with_file();
    let (mut client, prompt) = approved_edit(&bench);
    let request = serve(&mut client, "typed\n", is_write);
    assert_eq!(request["params"]["content"], "changed\n");
    reply(&mut client, &request, &json!({}));
    assert_eq!(client.ended(prompt), "end_turn");
    let kept = fs::read_to_string(bench.work().join("a.txt")).unwrap();
    assert_eq!(kept, "saved\n", "the editor writes it");
}

/// As CodeCompanion in Neovim does with a file that is open.
#[test]
fn an_editor_that_adds_an_empty_line_is_sent_the_text_without_it() {
    let bench = with_file();
    let file = bench.work().join("a.txt");
    let (mut client, prompt) = approved_edit(&bench);
    for content in ["changed\n", "changed"] {
        let request = serve(&mut client, "typed\n", is_write);
        assert_eq!(request["params"]["content"], content);
        fs::write(&file, format!("{content}\n")).unwrap();
        reply(&mut client, &request, &Value::Null);
    }
    assert_eq!(client.ended(prompt), "end_turn");
    assert_eq!(fs::read_to_string(file).unwrap(), "changed\n");
}

#[test]
fn a_write_that_the_editor_refuses_fails_and_leaves_the_file() {
    let bench = with_file();
    let (mut client, prompt) = approved_edit(&bench);
    let request = serve(&mut client, "typed\n", is_write);
    refuse(&mut client, &request);
    assert_eq!(client.ended(prompt), "end_turn");
    let updates = json!(client.updates("tool_call_update")).to_string();
    assert!(updates.contains("The editor did not write"), "{updates}");
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "saved\n");
}

#[test]
fn a_text_that_changed_in_the_editor_since_it_was_judged_is_not_overwritten() {
    let bench = with_file();
    let (mut client, prompt) = approved_edit(&bench);
    let is_end = |message: &Value| message["id"] == prompt && message["method"].is_null();
    let is_over = |message: &Value| is_end(message) || is_permission(message) || is_write(message);
    let mut end = serve(&mut client, "typed on\n", is_over);
    // Seen before the step began, the change brings the question back, about the text of now.
    if is_permission(&end) {
        assert!(end.to_string().contains("changed on"), "{end}");
        client.choose(&end, "reject_once");
        end = serve(&mut client, "typed on\n", is_over);
    }
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    let updates = json!(client.updates("tool_call_update")).to_string();
    assert!(updates.contains("failed") && !updates.contains("completed"), "{updates}");
}

#[test]
fn the_servers_of_the_editor_run_and_their_prompts_are_commands() {
    let bench = TestDir::new();
    let command = program(&bench, "echo.sh", ECHO);
    let mut client = AcpClient::scripted(&bench, &[DONE]);
    let server = json!({ "name": "echo", "command": command, "args": [], "env": [] });
    let session = client.open_with(&bench, false, json!([server]));
    let has_prompt = |message: &Value| {
        let commands = message["params"]["update"]["availableCommands"].as_array();
        commands.is_some_and(|all| all.iter().any(|command| command["name"] == "echo:greet"))
    };
    client.wait_for("command of the server", has_prompt);
    assert_eq!(client.prompt(&session, "/echo:greet Ada"), "end_turn");
    assert_eq!(client.said(), "All done.");
}

#[test]
fn a_session_is_deleted_with_all_that_is_saved_for_it() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[DONE, DONE]);
    let session = client.open(&bench);
    assert_eq!(client.prompt(&session, "hello"), "end_turn");
    let list = client.ask("session/list", json!({ "cwd": bench.work() }));
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
    client.ask("session/delete", json!({ "sessionId": session }));
    let list = client.ask("session/list", json!({ "cwd": bench.work() }));
    assert_eq!(list["sessions"], json!([]));
    let gone = json!({ "sessionId": session });
    assert_eq!(client.refusal("session/delete", gone)["code"], -32602);
}

#[test]
fn the_help_in_an_editor_lists_what_works_there() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[]);
    let session = client.open(&bench);
    assert_eq!(client.prompt(&session, "/help"), "end_turn");
    let said = client.said();
    assert!(said.contains("/status") && said.contains("/help mcp"), "{said}");
    assert!(!said.contains("/exit") && !said.contains("/theme"), "{said}");
}
