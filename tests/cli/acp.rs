//! `avocet acp` as an editor meets it: a client of the Agent Client Protocol that starts the program,
//! with a scripted model behind it.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::wait::{PATIENCE, wait_until};

pub(super) const DONE: &str = r#"{"type":"chat","message":"All done.","data":{"format":"plain"}}"#;

pub(super) fn write_file(path: &str) -> String {
    let input = json!({ "path": path, "content": "new\n" });
    let data = json!({ "cwd": null, "commands": [{ "tool": "file.write", "input": input }],
        "expected_effect": "" });
    json!({ "type": "cmd", "message": "I write it.", "data": data }).to_string()
}

/// An editor with the program as its agent.
pub(super) struct AcpClient {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    errors: Option<JoinHandle<String>>,
    next: u64,
    /// Everything that came and was not waited for.
    seen: Vec<Value>,
}

impl AcpClient {
    /// Another program, which takes ops and events as they are.
    pub(super) fn program(bench: &TestDir, args: &[&str]) -> AcpClient {
        AcpClient::start(bench, args, &["serve", "--stdio"])
    }

    pub(super) fn start(bench: &TestDir, args: &[&str], subcommand: &[&str]) -> AcpClient {
        let mut command = bench.command(&[args, subcommand].concat());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut err = child.stderr.take().unwrap();
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Nothing but the protocol is on standard output.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = err.read_to_string(&mut text);
            text
        });
        let (input, errors) = (child.stdin.take(), Some(errors));
        AcpClient { child, input, messages, errors, next: 1, seen: Vec::new() }
    }

    pub(super) fn scripted(bench: &TestDir, replies: &[&str]) -> AcpClient {
        AcpClient::start(bench, &["--model", &bench.script(replies)], &["acp"])
    }

    pub(super) fn served(bench: &TestDir, server: &Server) -> AcpClient {
        AcpClient::start(bench, &["--base-url", &server.base_url(), "--model", "own"], &["acp"])
    }

    pub(super) fn raw(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message of this kind; what comes before it is kept.
    pub(super) fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.seen.iter().position(&is_it) {
            return self.seen.remove(at);
        }
        loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) if is_it(&message) => return message,
                Ok(message) => self.seen.push(message),
                Err(_) => panic!("no {what} came: {:#?}", self.seen),
            }
        }
    }

    pub(super) fn answer(&mut self, id: u64) -> Value {
        self.wait_for("answer", |message| message["id"] == id && message["method"].is_null())
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let mut answer = self.answer(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(super) fn refusal(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let mut answer = self.answer(id);
        assert!(answer["result"].is_null(), "{method}: {answer}");
        answer["error"].take()
    }

    /// A new session in this folder.
    pub(super) fn open(&mut self, bench: &TestDir) -> String {
        self.open_with(bench, false, json!([]))
    }

    /// The same for an editor that holds files, or does not, with these MCP servers.
    pub(super) fn open_with(
        &mut self,
        bench: &TestDir,
        holds_files: bool,
        servers: Value,
    ) -> String {
        let files = json!({ "readTextFile": holds_files, "writeTextFile": holds_files });
        let start = json!({ "protocolVersion": 1, "clientCapabilities": { "fs": files } });
        let agent = self.ask("initialize", start);
        assert_eq!(agent["protocolVersion"], 1);
        assert_eq!(agent["agentCapabilities"]["loadSession"], true);
        assert_eq!(agent["agentCapabilities"]["promptCapabilities"]["image"], true);
        let new = self.ask("session/new", json!({ "cwd": bench.work(), "mcpServers": servers }));
        assert_eq!(new["modes"]["currentModeId"], "ask", "{new}");
        new["sessionId"].as_str().unwrap().to_owned()
    }

    pub(super) fn begin_prompt(&mut self, session: &str, text: &str) -> u64 {
        let blocks = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": blocks }))
    }

    pub(super) fn ended(&mut self, prompt: u64) -> String {
        let answer = self.answer(prompt);
        let reason = answer["result"]["stopReason"].as_str();
        reason.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(super) fn prompt(&mut self, session: &str, text: &str) -> String {
        let id = self.begin_prompt(session, text);
        self.ended(id)
    }

    pub(super) fn permission(&mut self) -> Value {
        self.wait_for("permission", |message| message["method"] == "session/request_permission")
    }

    pub(super) fn choose(&mut self, permission: &Value, kind: &str) {
        let options = permission["params"]["options"].as_array().unwrap();
        let option = options.iter().find(|option| option["kind"] == kind).unwrap();
        let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
        let result = json!({ "outcome": outcome });
        self.send(&json!({ "jsonrpc": "2.0", "id": permission["id"], "result": result }));
    }

    /// The updates of a kind that came so far.
    pub(super) fn updates(&mut self, kind: &str) -> Vec<Value> {
        self.seen.extend(self.messages.try_iter());
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    pub(super) fn wait_for_update(&mut self, kind: &str) -> Value {
        let is_it = |message: &Value| message["params"]["update"]["sessionUpdate"] == kind;
        self.wait_for(kind, is_it)["params"]["update"].take()
    }

    /// The text of the chunks of a kind.
    pub(super) fn text(&mut self, kind: &str) -> String {
        let chunks = self.updates(kind);
        chunks.iter().map(|update| update["content"]["text"].as_str().unwrap()).collect()
    }

    pub(super) fn said(&mut self) -> String {
        self.text("agent_message_chunk")
    }

    /// The editor closes its end. The exit code, and what was on standard error.
    pub(super) fn close(mut self) -> (Option<i32>, String) {
        self.input = None;
        wait_until("the program ends", || self.child.try_wait().unwrap().is_some());
        let code = self.child.wait().unwrap().code();
        (code, self.errors.take().unwrap().join().unwrap())
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_prompt_streams_its_answer_and_ends() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[DONE]);
    let session = client.open(&bench);
    let commands = client.wait_for_update("available_commands_update");
    let names: Vec<&str> = commands["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"status") && !names.contains(&"exit"), "{names:?}");
    assert_eq!(client.prompt(&session, "hello"), "end_turn");
    assert_eq!(client.said(), "All done.");
    let usage = client.wait_for_update("usage_update");
    assert!(usage["used"].as_u64().unwrap() <= usage["size"].as_u64().unwrap(), "{usage}");
    assert_eq!(client.close().0, Some(0));
}

#[test]
fn a_step_shows_its_diff_and_runs_once_it_is_permitted() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[&write_file("a.txt"), DONE]);
    let session = client.open(&bench);
    let prompt = client.begin_prompt(&session, "write it");
    let permission = client.permission();
    let file = bench.work().canonicalize().unwrap().join("a.txt");
    let call = &permission["params"]["toolCall"];
    assert_eq!(call["kind"], "edit");
    assert_eq!(call["locations"][0]["path"], json!(file));
    let diff = json!({ "type": "diff", "path": file, "newText": "new\n" });
    assert_eq!(call["content"][0], diff);
    assert!(!file.exists());
    client.choose(&permission, "allow_once");
    assert_eq!(client.ended(prompt), "end_turn");
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    let states: Vec<Value> =
        client.updates("tool_call_update").iter().map(|update| update["status"].clone()).collect();
    assert_eq!(states, ["in_progress", "completed"]);
    assert!(client.said().ends_with("All done."), "{}", client.said());
}

#[test]
fn the_folder_of_trust_counts_wherever_the_program_was_started() {
    let bench = TestDir::new();
    fs::create_dir_all(bench.path("home")).unwrap();
    let home = bench.path("home").display().to_string();
    let model = bench.script(&[DONE]);
    let mut client = AcpClient::start(&bench, &["--cwd", &home, "--model", &model], &["acp"]);
    client.open(&bench);
    let (_, said) = client.close();
    assert!(!said.contains("not trusted"), "{said}");
}

#[test]
fn a_rejected_step_goes_back_to_the_model_as_declined() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::text(&write_file("a.txt"), 3), Reply::chat("Well.")]);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open(&bench);
    let prompt = client.begin_prompt(&session, "write it");
    let permission = client.permission();
    client.choose(&permission, "reject_once");
    assert_eq!(client.ended(prompt), "end_turn");
    assert!(!bench.work().join("a.txt").exists());
    let told = server.requests().last().unwrap().json().to_string();
    assert!(told.contains("declined"), "{told}");
    assert_eq!(client.updates("tool_call_update").last().unwrap()["status"], "failed");
}

#[test]
fn a_cancelled_prompt_ends_as_cancelled_and_the_session_goes_on() {
    let bench = TestDir::new();
    let replies = vec![Reply::chat("late").held(), Reply::text(&write_file("a.txt"), 3)];
    let server = Server::start(replies);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open(&bench);
    // While the model answers.
    let prompt = client.begin_prompt(&session, "wait");
    server.wait_for_requests(1);
    client.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(client.ended(prompt), "cancelled");
    // While a question is open, which its answer then comes too late for.
    let prompt = client.begin_prompt(&session, "write it");
    let permission = client.permission();
    client.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(client.ended(prompt), "cancelled");
    client.choose(&permission, "allow_once");
    server.push(Reply::chat("Here I am."));
    assert_eq!(client.prompt(&session, "are you there?"), "end_turn");
    assert!(client.said().contains("Here I am."));
    assert!(!bench.work().join("a.txt").exists());
}

#[test]
fn a_saved_session_is_listed_loaded_and_resumed() {
    let bench = TestDir::new();
    let mut first = AcpClient::scripted(&bench, &[&write_file("a.txt"), DONE]);
    let session = first.open(&bench);
    let prompt = first.begin_prompt(&session, "write it down");
    let permission = first.permission();
    first.choose(&permission, "allow_once");
    first.ended(prompt);
    assert_eq!(first.close().0, Some(0));

    let mut client = AcpClient::scripted(&bench, &[DONE, DONE]);
    let listed = client.ask("session/list", json!({ "cwd": bench.work() }));
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str(), "{listed}");
    assert_eq!(listed["sessions"][0]["title"], "write it down");
    assert!(listed["nextCursor"].is_null());
    let elsewhere = client.ask("session/list", json!({ "cwd": bench.path("home") }));
    assert_eq!(elsewhere["sessions"], json!([]));

    let saved = json!({ "sessionId": session, "cwd": bench.work(), "mcpServers": [] });
    let loaded = client.ask("session/load", saved.clone());
    assert_eq!(loaded["modes"]["currentModeId"], "ask");
    assert_eq!(client.text("user_message_chunk"), "write it down");
    assert!(client.said().ends_with("All done."), "{}", client.said());
    assert_eq!(client.updates("tool_call_update").last().unwrap()["status"], "completed");
    // All of it came before the answer, and the session is as open as a new one.
    client.seen.clear();
    assert_eq!(client.prompt(&session, "go on"), "end_turn");
    // Once more, in the same connection and without its history.
    client.seen.clear();
    client.ask("session/resume", saved);
    assert_eq!(client.text("user_message_chunk"), "");
    assert_eq!(client.prompt(&session, "and on"), "end_turn");
    assert_eq!(client.close().0, Some(0));

    let shown = bench.command(&["session", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("write it down"));
}

#[test]
fn a_mode_is_set_shown_and_counts() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[&write_file("a.txt"), DONE]);
    let session = client.open(&bench);
    let mode = |mode: &str| json!({ "sessionId": session, "modeId": mode });
    client.ask("session/set_mode", mode("edits"));
    assert_eq!(client.wait_for_update("current_mode_update")["currentModeId"], "edits");
    assert_eq!(client.refusal("session/set_mode", mode("yolo"))["code"], -32602);
    assert_eq!(client.prompt(&session, "write it"), "end_turn");
    assert!(bench.work().join("a.txt").exists(), "no question was asked");
}

#[test]
fn a_plan_of_the_model_is_shown_as_one() {
    let bench = TestDir::new();
    let steps =
        json!([{ "text": "Look", "status": "done" }, { "text": "Mend", "status": "doing" }]);
    let commands = json!([{ "tool": "plan", "input": { "steps": steps } }]);
    let plan = json!({ "type": "cmd", "message": "A plan.", "data": { "commands": commands } });
    let mut client = AcpClient::scripted(&bench, &[&plan.to_string(), DONE]);
    let session = client.open(&bench);
    assert_eq!(client.prompt(&session, "plan it"), "end_turn");
    let entries = client.wait_for_update("plan")["entries"].clone();
    assert_eq!(
        (&entries[0]["content"], &entries[0]["status"]),
        (&json!("Look"), &json!("completed"))
    );
    assert_eq!(
        (&entries[1]["content"], &entries[1]["status"]),
        (&json!("Mend"), &json!("in_progress"))
    );
}

#[test]
fn slash_commands_work_as_prompts() {
    let bench = TestDir::new();
    fs::create_dir_all(bench.path("avocet/commands")).unwrap();
    let greet = "prompt = \"Greet {{args}} kindly.\"\n";
    fs::write(bench.path("avocet/commands/greet.toml"), greet).unwrap();
    let server = Server::start(vec![Reply::chat("Hello, Ada.")]);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open(&bench);
    for (line, says) in [
        ("/status", "own"),
        ("/usage", "0"),
        ("/exit", "does not work in an editor"),
        ("/nosuch", "/nosuch"),
        ("/retry", "no message to retry"),
        ("/undo", "No step"),
        ("/mode edits", ""),
    ] {
        client.seen.clear();
        assert_eq!(client.prompt(&session, line), "end_turn", "{line}");
        let said = client.said();
        assert!(said.contains(says), "{line}: {said}");
    }
    assert_eq!(client.wait_for_update("current_mode_update")["currentModeId"], "edits");
    assert_eq!(server.requests().len(), 0, "no model was asked");
    assert_eq!(client.prompt(&session, "/greet Ada"), "end_turn");
    assert!(server.requests()[0].json().to_string().contains("Greet Ada kindly."));
}

#[test]
fn an_image_an_embedded_file_and_a_linked_one_reach_the_model() {
    let bench = TestDir::new();
    fs::write(bench.work().join("linked.txt"), "the linked text\n").unwrap();
    let server = Server::start(vec![Reply::chat("I see.")]);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open(&bench);
    let uri = |name: &str| format!("file://{}", bench.work().join(name).display());
    let blocks = json!([
        { "type": "text", "text": "look at " },
        { "type": "resource_link", "uri": uri("linked.txt"), "name": "linked.txt" },
        { "type": "resource", "resource": { "uri": uri("open.rs"), "text": "fn unsaved() {}" } },
    ]);
    let id = client.request("session/prompt", json!({ "sessionId": session, "prompt": blocks }));
    assert_eq!(client.ended(id), "end_turn");
    let sent = server.requests()[0].json().to_string();
    assert!(sent.contains("the linked text") && sent.contains("fn unsaved() {}"), "{sent}");
    let broken = json!([{ "type": "image", "mimeType": "image/png", "data": "no" }]);
    let broken = json!({ "sessionId": session, "prompt": broken });
    assert_eq!(client.refusal("session/prompt", broken)["code"], -32602);
}

#[test]
fn what_is_no_message_of_the_protocol_gets_one_clear_error_each() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[DONE]);
    let session = client.open(&bench);
    let mut refused = |line: &[u8]| {
        client.raw(line);
        let error = client.wait_for("error", |message| !message["error"].is_null());
        (error["id"].clone(), error["error"]["code"].as_i64().unwrap())
    };
    let long = [br#"{"jsonrpc":"2.0","id":1,"method":""#.as_slice(), &[b'x'; 10 << 20]].concat();
    let nested = "[".repeat(100_000);
    for (line, code) in [
        (br#"{"jsonrpc":"2.0","id":7,"meth"#.as_slice(), -32700),
        (b"\xff\xfe", -32700),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#, -32600),
        (b"[]", -32600),
        (b"3", -32600),
        (br#"{"jsonrpc":"1.0","id":7,"method":"initialize"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":{},"method":"initialize"}"#, -32600),
        (br#"["2.0",1,"initialize",{}]"#, -32600),
        (nested.as_bytes(), -32700),
        (&long, -32600),
    ] {
        let (_, came) = refused(line);
        assert_eq!(came, code, "{}", String::from_utf8_lossy(&line[..line.len().min(60)]));
    }
    let named = refused(br#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#);
    assert_eq!(named, (json!("x"), -32601));
    let prompt = json!({ "sessionId": "nobody", "prompt": [] });
    assert_eq!(client.refusal("session/prompt", prompt)["code"], -32002);
    assert_eq!(client.refusal("session/prompt", json!({ "sessionId": 3 }))["code"], -32602);
    let relative = json!({ "cwd": "work", "mcpServers": [] });
    assert_eq!(client.refusal("session/new", relative)["code"], -32602);
    let missing = json!({ "cwd": "/no/such/folder", "mcpServers": [] });
    assert_eq!(client.refusal("session/new", missing)["code"], -32602);
    let unknown = json!({ "sessionId": "zzzz", "cwd": bench.work(), "mcpServers": [] });
    assert_eq!(client.refusal("session/load", unknown)["code"], -32602);
    // Unknown notifications, and answers that no request waits for, are ignored.
    client.notify("no/such", json!(null));
    client.notify("session/cancel", json!({ "sessionId": session }));
    client.send(&json!({ "jsonrpc": "2.0", "id": format!("{session}/9"), "result": {} }));
    assert_eq!(client.prompt(&session, "still there?"), "end_turn");
}

#[test]
fn a_second_prompt_is_refused_while_one_runs() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("First.").held(), Reply::chat("Third.")]);
    let mut client = AcpClient::served(&bench, &server);
    let session = client.open(&bench);
    let first = client.begin_prompt(&session, "one");
    server.wait_for_requests(1);
    for _ in 0..100 {
        let second = client.begin_prompt(&session, "two");
        assert_eq!(client.answer(second)["error"]["code"], -32600);
    }
    server.release();
    assert_eq!(client.ended(first), "end_turn");
    assert_eq!(client.prompt(&session, "three"), "end_turn");
    assert!(client.said().contains("Third."));
}

#[test]
fn a_client_that_vanishes_in_a_permission_leaves_nothing_done_and_nothing_running() {
    let bench = TestDir::new();
    let mut client = AcpClient::scripted(&bench, &[&write_file("a.txt"), DONE]);
    let session = client.open(&bench);
    client.begin_prompt(&session, "write it");
    client.permission();
    let (code, _) = client.close();
    assert_eq!(code, Some(0));
    assert!(!bench.work().join("a.txt").exists());
    // It is saved, and another one may have it.
    let mut client = AcpClient::scripted(&bench, &[DONE]);
    let saved = json!({ "sessionId": session, "cwd": bench.work(), "mcpServers": [] });
    client.ask("session/load", saved);
    assert_eq!(client.text("user_message_chunk"), "write it");
}

#[test]
fn text_of_the_model_reaches_the_client_without_control_characters() {
    let bench = TestDir::new();
    let reply = json!({ "type": "chat", "message": "\u{1b}[31mred\u{1b}[0m \u{202e}x\u{7}",
        "data": { "format": "plain" } });
    let mut client = AcpClient::scripted(&bench, &[&reply.to_string()]);
    let session = client.open(&bench);
    assert_eq!(client.prompt(&session, "colour"), "end_turn");
    let said = client.said();
    assert!(said.starts_with("red"), "{said:?}");
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
}
