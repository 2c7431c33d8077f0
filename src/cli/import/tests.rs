//! What the files of each client become.

use serde_json::{Value, json};

use super::session_reader::{LostPart, MAX_TEXT};
use super::*;
use avocet_core::protocol::Event;

/// The conversation in lines, for comparing.
fn lines(session: &ImportedSession) -> Vec<String> {
    let line = |event: &Event| match event {
        Event::TurnStarted { turn, text, .. } => Some(format!("{turn} user: {text}")),
        Event::Replied(reply) if reply.message.is_empty() => None,
        Event::Replied(reply) => Some(format!("model: {}", reply.message)),
        Event::StepFinished(seen) => Some(format!(
            "{}: {} -> {:?} {}",
            seen.step.id,
            seen.step.work.command_line(),
            seen.exit_code,
            seen.stdout
        )),
        Event::TurnEnded { turn, .. } => Some(format!("{turn} end")),
        _ => None,
    };
    session.events.iter().filter_map(line).collect()
}

fn jsonl(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}

fn claude_line(uuid: &str, parent: &str, role: &str, content: Value) -> Value {
    json!({
        "type": role, "uuid": uuid, "parentUuid": (!parent.is_empty()).then_some(parent),
        "isSidechain": false, "sessionId": "s-1", "cwd": "/w", "timestamp": "2026-10-01T10:00:00Z",
        "version": "2.9.0", "message": { "role": role, "content": content },
    })
}

fn claude_session() -> Vec<Value> {
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let result = |id: &str, text: &str, failed: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed }]);
    vec![
        json!({ "type": "summary", "summary": "Fix the test", "leafUuid": "a9" }),
        claude_line("u1", "", "user", json!("Fix it\u{1b}[31m now")),
        claude_line(
            "x1",
            "u1",
            "assistant",
            json!([{ "type": "text", "text": "An abandoned way." }]),
        ),
        claude_line(
            "a1",
            "u1",
            "assistant",
            json!([
                { "type": "thinking", "thinking": "Hm.", "signature": "x" },
                { "type": "text", "text": "I look." },
            ]),
        ),
        claude_line("a2", "a1", "assistant", call("t1", "Bash", json!({ "command": "ls -la" }))),
        claude_line("a3", "a2", "assistant", call("t2", "Read", json!({ "file_path": "/w/a.rs" }))),
        claude_line("r1", "a2", "user", result("t1", "a.rs", false)),
        claude_line(
            "r2",
            "a3",
            "user",
            result("t2", "no such file<system-reminder>x</system-reminder>", true),
        ),
        claude_line("a4", "r2", "assistant", json!([{ "type": "text", "text": "Done." }])),
        json!({ "type": "user", "isMeta": true, "uuid": "m", "parentUuid": "a4", "message": { "content": "Caveat" } }),
        json!({ "type": "user", "isSidechain": true, "uuid": "q", "message": { "content": "sub" } }),
        json!({ "type": "file-history-snapshot", "snapshot": {} }),
        json!({ "type": "of-the-future", "what": [1] }),
    ]
}

const CLAUDE: &[&str] = &[
    "1 user: Fix it now",
    "model: I look.",
    "cmd_001: sh -c 'ls -la' -> Some(0) a.rs",
    "cmd_002: Read /w/a.rs -> Some(1) no such file",
    "model: Done.",
    "1 end",
];

#[test]
fn a_session_of_claude_keeps_text_steps_and_results_of_its_last_branch() {
    let session = ImportClient::Claude.read(&jsonl(&claude_session()));
    assert_eq!(lines(&session), CLAUDE);
    assert_eq!((session.id.as_str(), session.folder.as_str()), ("s-1", "/w"));
    assert_eq!(session.title.as_deref(), Some("Fix the test"));
    let lost = [(LostPart::Reasoning, 1), (LostPart::Subagent, 1)];
    assert_eq!(session.lost, LostParts::from(lost));
}

#[test]
fn half_lines_and_noise_are_counted_and_the_rest_is_kept() {
    let mut bytes = b"\xff\xfe\n[1]\nnull\n{\"type\":\n\n".to_vec();
    bytes.extend(jsonl(&claude_session()));
    bytes.extend(br#"{"type":"assistant","uuid":"z","parentUuid":"a4","mess"#);
    let session = ImportClient::Claude.read(&bytes);
    assert_eq!(lines(&session), CLAUDE);
    assert_eq!(session.lost[&LostPart::Unread], 5);
}

#[test]
fn a_rollout_of_codex_keeps_calls_of_every_kind() {
    let item =
        |payload: Value| json!({ "timestamp": "t", "type": "response_item", "payload": payload });
    let message = |role: &str, kind: &str, text: &str| {
        item(
            json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }),
        )
    };
    let meta = json!({ "id": "c-1", "cwd": "/w", "timestamp": "2026-09-01", "cli_version": "1" });
    let call = |id: &str, name: &str, arguments: Value| {
        item(
            json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string() }),
        )
    };
    let output = |id: &str, output: Value| {
        item(json!({ "type": "function_call_output", "call_id": id, "output": output }))
    };
    let old = json!({ "output": "ok\n", "metadata": { "exit_code": 2 } }).to_string();
    let session = ImportClient::Codex.read(&jsonl(&[
        json!({ "timestamp": "t", "type": "session_meta", "payload": meta }),
        message("user", "input_text", "<environment_context>\n<cwd>/w</cwd>"),
        message("developer", "input_text", "rules"),
        message("user", "input_text", "Run it"),
        json!({ "timestamp": "t", "type": "event_msg", "payload": { "type": "user_message", "message": "Run it" } }),
        item(json!({ "type": "reasoning", "summary": [], "encrypted_content": "x" })),
        call("1", "shell", json!({ "command": ["bash", "-lc", "ls"] })),
        output("1", json!(old)),
        call("2", "exec_command", json!({ "cmd": "pwd" })),
        output("2", json!("Exit code: 1\nWall time: 1s\nOutput:\n/w")),
        item(json!({ "type": "custom_tool_call", "call_id": "3", "name": "apply_patch", "input": "*** Begin" })),
        message("assistant", "output_text", "It ran."),
    ]));
    let said = lines(&session);
    assert_eq!(said[0], "1 user: Run it");
    assert_eq!(said[1], "cmd_001: bash -lc ls -> Some(2) ok\n");
    assert!(said[2].starts_with("cmd_002: sh -c pwd -> Some(1) Exit code: 1"), "{said:?}");
    assert_eq!(said[3], "model: It ran.");
    assert!(said[4].starts_with("cmd_003: apply_patch") && said[4].contains("None"), "{said:?}");
    assert_eq!((session.id.as_str(), said.len()), ("c-1", 6));
    assert_eq!(session.lost, LostParts::from([(LostPart::Reasoning, 1)]));
}

#[test]
fn the_oldest_rollouts_hold_the_items_themselves() {
    let session = ImportClient::Codex.read(&jsonl(&[
        json!({ "id": "c-0", "timestamp": "2025-04-01", "instructions": null }),
        json!({ "record_type": "state" }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Hi" }] }),
        json!({ "type": "local_shell_call", "call_id": "1", "action": { "type": "exec", "command": ["ls"] } }),
        json!({ "type": "function_call_output", "call_id": "1", "output": { "content": "a", "success": true } }),
    ]));
    assert_eq!(lines(&session), ["1 user: Hi", "cmd_001: ls -> Some(0) a", "1 end"]);
}

#[test]
fn a_chat_of_gemini_keeps_its_calls() {
    let response = json!([{ "functionResponse": { "response": { "output": "a.txt" } } }]);
    let call = json!({
        "id": "1", "name": "run_shell_command", "args": { "command": "ls" }, "status": "success",
        "result": response,
    });
    let thoughts = json!([{ "subject": "s", "description": "d" }]);
    let chat = json!({
        "sessionId": "g-1", "projectHash": "h", "startTime": "2026-01-01", "messages": [
            { "id": "1", "type": "user", "content": [{ "text": "List" }] },
            { "id": "2", "type": "gemini", "content": "I list.", "thoughts": thoughts, "toolCalls": [call] },
            { "id": "3", "type": "info", "content": "x" },
        ],
    });
    let session = ImportClient::Gemini.read(chat.to_string().as_bytes());
    let expected =
        ["1 user: List", "model: I list.", "cmd_001: sh -c ls -> Some(0) a.txt", "1 end"];
    assert_eq!(lines(&session), expected);
    assert_eq!(ImportClient::Gemini.read(b"{\"sess").lost[&LostPart::Unread], 1);
}

#[test]
fn the_files_of_opencode_become_one_conversation() {
    let bytes = |value: Value| value.to_string().into_bytes();
    let about =
        json!({ "id": "ses_1", "directory": "/w", "title": "List", "time": { "created": 5 } });
    let state = json!({ "status": "completed", "input": { "command": "ls" }, "output": "a" });
    let messages = [
        OpencodeMessage {
            message: bytes(json!({ "id": "m1", "role": "user" })),
            parts: vec![
                bytes(json!({ "type": "text", "text": "List" })),
                bytes(json!({ "type": "text", "text": "hidden", "synthetic": true })),
            ],
        },
        OpencodeMessage {
            message: bytes(json!({ "id": "m2", "role": "assistant" })),
            parts: vec![
                bytes(json!({ "type": "step-start" })),
                bytes(json!({ "type": "tool", "callID": "1", "tool": "bash", "state": state })),
                bytes(json!({ "type": "text", "text": "Listed." })),
                b"{".to_vec(),
            ],
        },
    ];
    let session = ImportedSession::of_opencode(&bytes(about), &messages);
    let expected = ["1 user: List", "cmd_001: sh -c ls -> Some(0) a", "model: Listed.", "1 end"];
    assert_eq!(lines(&session), expected);
    assert_eq!(session.lost, LostParts::from([(LostPart::Unread, 1)]));
}

#[test]
fn what_is_too_long_is_cut_and_counted() {
    let long = "x".repeat(MAX_TEXT + 10);
    let session = ImportClient::Claude.read(&jsonl(&[claude_line("u", "", "user", json!(long))]));
    assert_eq!(lines(&session)[0].len(), "1 user: ".len() + MAX_TEXT);
    assert_eq!(session.lost, LostParts::from([(LostPart::Long, 1)]));
}

#[test]
fn an_id_is_the_same_each_time_and_another_for_each_client() {
    let id = ImportClient::Claude.session_id("s-1");
    assert_eq!(id, ImportClient::Claude.session_id("s-1"));
    assert!(id.len() == 8 && id != ImportClient::Codex.session_id("s-1"), "{id}");
}

#[test]
fn events_have_the_times_of_their_lines_and_a_turn_ends_before_the_next_day() {
    let line = |uuid: &str, parent: &str, at: &str| {
        let mut line = claude_line(uuid, parent, "user", json!(uuid));
        line["timestamp"] = json!(at);
        line
    };
    let session = ImportClient::Claude.read(&jsonl(&[
        line("u1", "", "1970-01-01T00:00:01Z"),
        line("u2", "u1", "1970-01-02T00:00:00.000Z"),
        line("u3", "u2", "1969-01-01T00:00:00Z"),
        line("u4", "u3", "soon"),
    ]));
    let day = 86_400_000;
    assert_eq!(session.times, [1000, 1000, day, day, day, day, day, day]);
}
