//! The language server of scripts, as a child process over its standard input and output.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::bench::TestDir;

const PATIENCE: Duration = Duration::from_secs(120);

struct Editor {
    bench: TestDir,
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: i32,
}

impl Editor {
    fn start(lang: &str) -> Editor {
        let bench = TestDir::new();
        let mut command = bench.command(&["--lang", lang, "script", "lsp"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if out.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    match line.trim().strip_prefix("Content-Length: ") {
                        Some(number) => length = number.parse().unwrap(),
                        None if line.trim().is_empty() => break,
                        None => {}
                    }
                }
                let mut body = vec![0; length];
                out.read_exact(&mut body).unwrap();
                if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Editor { bench, child, input, messages, next: 1 }
    }

    fn ready(lang: &str) -> Editor {
        let mut editor = Editor::start(lang);
        let result = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        editor
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn read(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server answers")
    }

    fn reply(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.reply(method, params);
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].take()
    }

    fn uri(&self, name: &str) -> String {
        let folder = self.bench.work().canonicalize().unwrap();
        format!("file://{}/{name}", folder.display())
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.bench.work().join(name), text).unwrap();
    }

    fn open(&mut self, name: &str, text: &str) {
        let document =
            json!({ "uri": self.uri(name), "languageId": "yaml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, name: &str, version: i32, changes: Value) {
        let document = json!({ "uri": self.uri(name), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    /// The faults of a version of a document: where they begin, and what they say.
    fn faults(&self, name: &str, version: i32) -> Vec<(u64, u64, String)> {
        let uri = self.uri(name);
        loop {
            let message = self.read();
            let params = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == json!(uri)
                && params["version"] == json!(version)
            {
                let list = params["diagnostics"].as_array().unwrap();
                let at = |fault: &Value, key: &str| fault["range"]["start"][key].as_u64().unwrap();
                let text = |fault: &Value| fault["message"].as_str().unwrap().to_owned();
                return list
                    .iter()
                    .map(|it| (at(it, "line"), at(it, "character"), text(it)))
                    .collect();
            }
        }
    }

    /// Asks at the mark `¦` of a text, which is opened without it.
    fn at(&mut self, method: &str, name: &str, marked: &str) -> Value {
        let before = marked.split('¦').next().unwrap();
        let line = before.matches('\n').count();
        let last = before.rsplit('\n').next().unwrap();
        self.open(name, &marked.replacen('¦', "", 1));
        let position = json!({ "line": line, "character": last.encode_utf16().count() });
        let document = json!({ "uri": self.uri(name) });
        self.ask(method, json!({ "textDocument": document, "position": position }))
    }

    /// The labels proposed at the mark, and what the first match of `wanted` would write.
    fn proposes(&mut self, marked: &str, wanted: &[&str]) {
        let found = self.at("textDocument/completion", "complete.ai.yaml", marked);
        let items = found["items"].as_array().unwrap();
        let labels: Vec<&str> = items.iter().map(|it| it["label"].as_str().unwrap()).collect();
        for label in wanted {
            assert!(labels.contains(label), "{marked}: no {label} in {labels:?}");
        }
    }

    fn hovers(&mut self, marked: &str, parts: &[&str]) {
        let found = self.at("textDocument/hover", "hover.ai.yaml", marked);
        let text = found["contents"]["value"].as_str().unwrap_or_default();
        for part in parts {
            assert!(text.contains(part), "{marked}: no {part} in {found}");
        }
    }

    /// The file and the line a definition is in.
    fn defines(&mut self, marked: &str) -> Option<(String, u64)> {
        let found = self.at("textDocument/definition", "define.ai.yaml", marked);
        let uri = found["uri"].as_str()?;
        let name = uri.rsplit('/').next().unwrap().to_owned();
        Some((name, found["range"]["start"]["line"].as_u64().unwrap()))
    }

    /// The exit code after the input has ended.
    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn faults_are_those_of_the_check_at_utf16_positions() {
    let mut editor = Editor::ready("en");
    editor.open("a.ai.yaml", "user: \"你好😀\"\n$nosuch: 1\n$other: 2\n");
    let faults = editor.faults("a.ai.yaml", 1);
    let lines: Vec<_> = faults.iter().map(|fault| fault.0).collect();
    assert_eq!(lines, [1, 2], "{faults:?}");
    assert!(faults[0].2.contains("nosuch"), "{faults:?}");

    // Behind a letter that is two units long.
    let text = "---\n\"名😀\": 1\nrun_mode: both\n---\n{\"用户\": \"😀\", 角: 2}\n";
    editor.change("a.ai.yaml", 2, json!([{ "text": text }]));
    let faults = editor.faults("a.ai.yaml", 2);
    assert!(
        faults.iter().any(|(line, at, text)| (*line, *at) == (2, 10) && text.contains("both")),
        "{faults:?}"
    );

    let text = "- {user: \"😀😀\", $nosuch: 1}\n";
    editor.change("a.ai.yaml", 3, json!([{ "text": text }]));
    assert!(!editor.faults("a.ai.yaml", 3).is_empty());

    editor.change("a.ai.yaml", 4, json!([{ "text": "user: 你好\n" }]));
    assert_eq!(editor.faults("a.ai.yaml", 4), []);
}

#[test]
fn the_column_of_a_fault_counts_surrogate_pairs_twice() {
    let mut editor = Editor::ready("en");
    let text = "---\n{a: \"😀😀\", run_mode: both}\n---\nuser: \"{{a}}\"\n";
    editor.open("a.ai.yaml", text);
    let faults = editor.faults("a.ai.yaml", 1);
    let wanted = "{a: \"😀😀\", run_mode: ".encode_utf16().count() as u64;
    assert_eq!(
        faults.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(),
        [(1, wanted)],
        "{faults:?}"
    );
}

#[test]
fn an_edit_in_part_of_a_text_is_applied_by_utf16_units() {
    let mut editor = Editor::ready("en");
    editor.open("a.ai.yaml", "user: \"😀你\"\n$nosuch: 1\n");
    assert_eq!(editor.faults("a.ai.yaml", 1).len(), 1);
    let range = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    let changes = json!([
        { "range": range(0, 7, 9), "text": "好" },
        { "range": range(1, 0, 7), "text": "$echo" },
    ]);
    editor.change("a.ai.yaml", 2, changes);
    assert_eq!(editor.faults("a.ai.yaml", 2), []);
    let document = json!({ "uri": editor.uri("a.ai.yaml") });
    let position = json!({ "line": 1, "character": 2 });
    let params = json!({ "textDocument": document, "position": position });
    let found = editor.ask("textDocument/hover", params);
    assert!(found["contents"]["value"].as_str().unwrap().contains("$echo"), "{found}");
}

#[test]
fn faults_follow_the_scripts_that_are_open_beside() {
    let mut editor = Editor::ready("zh");
    editor.open("a.ai.yaml", "-> helper\n");
    let faults = editor.faults("a.ai.yaml", 1);
    assert!(faults[0].2.contains("helper"), "{faults:?}");
    assert!(faults[0].2.contains(|c: char| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{faults:?}");
    editor.file("helper.ai.yaml", "$ret: 1\n");
    editor.open("helper.ai.yaml", "$ret: 1\n");
    assert_eq!(editor.faults("a.ai.yaml", 1), []);
}

#[test]
fn what_can_be_written_at_a_place_is_proposed() {
    let mut editor = Editor::ready("en");
    editor.file("my-helper.ai.yaml", "---\ntitle: T\n---\n$ret: 1\n");
    editor.proposes("$f¦\n", &["$for", "$fetchUrl", "$if"]);
    editor.proposes("---\nti¦\n", &["title", "shouldThink", "parameters"]);
    editor.proposes("---\nparameters:\n  te¦\n---\nuser: x\n", &["temperature", "max_tokens"]);
    editor.proposes("---\ninput: [{a: {re¦}}]\n---\nuser: x\n", &["required", "enum"]);
    editor.proposes("---\nrun_mode: ¦\n---\nuser: x\n", &["parallel", "cascaded"]);
    editor.proposes("---\ntype: ¦\n---\nuser: x\n", &["char", "my-helper"]);
    editor.proposes("---\ntools: [¦]\n---\nuser: x\n", &["my-helper", "file.read"]);
    editor.proposes("user: x\n-> my-h¦\n", &["my-helper", "translator"]);
    editor.proposes("user: \"[[@my¦]]\"\n", &["my-helper"]);
    editor.proposes("$set: {count: 1}\nuser: \"你好 {{co¦}}\"\n", &["count", "LatestResult"]);
    editor.proposes("user: \"{{content | up¦}}\"\n", &["upper", "join"]);
    editor.proposes("user: \"[[¦]]\"\n", &["[[NAME:|yes|no]]", "RESPONSE"]);
    editor.proposes("!fn |-\n  [js]double(n) { return 2 * n }\n$echo: \"?=$d¦\"\n", &["$double"]);
    editor.proposes("us¦\n", &["user", "assistant", "$set", "---"]);

    let found = editor.at("textDocument/completion", "c.ai.yaml", "user: \"😀 {{con¦\"\n");
    let item = &found["items"][0]["textEdit"]["range"];
    let start = "user: \"😀 {{".encode_utf16().count();
    assert_eq!(item["start"]["character"], json!(start), "{found}");
    assert_eq!(item["end"]["character"], json!(start + 3), "{found}");
}

const GREETER: &str = "---\ntype: char\ntitle: Greets\ninput: [{who: {description: the person, enum: [Ann, Bob]}}, lang]\n---\nuser: x\n";

#[test]
fn the_inputs_of_a_called_script_and_the_roles_are_proposed_and_explained() {
    let mut editor = Editor::ready("en");
    editor.file("greet.ai.yaml", GREETER);
    editor.proposes("user: x\n-> greet(¦\n", &["who", "lang"]);
    editor.proposes("user: x\n-> greet(who=\"Ann\", la¦)\n", &["lang"]);
    editor.proposes("user: \"[[@greet(w¦)]]\"\n", &["who"]);
    editor.proposes("$set: {name: 1}\n-> greet(who=¦)\n", &["\"Ann\"", "name"]);
    editor.hovers("-> greet(wh¦o=1)\n", &["greet(who=…)", "the person"]);
    let head = "---\nroles: {tom: greet}\n---\n";
    editor.proposes(&format!("{head}user: \"@t¦\"\n"), &["tom", "all"]);
    editor.hovers(&format!("{head}user: \"@to¦m, hi\"\n"), &["Greets"]);
    let found = editor.defines(&format!("{head}user: \"@to¦m, hi\"\n"));
    assert_eq!(found, Some(("greet.ai.yaml".to_owned(), 0)));
}

#[test]
fn a_name_is_found_wherever_it_is_used() {
    let mut editor = Editor::ready("en");
    let mut lines = |marked: &str| -> Vec<(u64, u64)> {
        let found = editor.at("textDocument/references", "refer.ai.yaml", marked);
        let place = |it: &Value| {
            let start = &it["range"]["start"];
            (start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
        };
        found.as_array().unwrap().iter().map(place).collect()
    };
    let text = "$set: {count: 1}\nuser: \"{{cou¦nt}} count\"\n$echo: \"?=count + 1\"\n";
    assert_eq!(lines(text), [(0, 7), (1, 9), (2, 10)]);
    let text = "!fn |-\n  [js]double(n) { return 2 * n }\n$dou¦ble(2)\n$echo: \"?=$double(1)\"\n";
    assert_eq!(lines(text), [(2, 1), (3, 11)]);
    assert_eq!(lines("user: wo¦rd\n"), []);
}

#[test]
fn what_was_probably_meant_is_offered_as_a_quick_fix() {
    let mut editor = Editor::ready("en");
    let text = "user: x\n$pritn: 1\n";
    editor.open("fix.ai.yaml", text);
    assert_eq!(editor.faults("fix.ai.yaml", 1).len(), 1);
    let uri = editor.uri("fix.ai.yaml");
    let mut fixes = |line: u64| {
        let place = json!({ "line": line, "character": 2 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": [] },
        });
        editor.ask("textDocument/codeAction", params)
    };
    assert_eq!(fixes(0), json!([]));
    let fix = fixes(1);
    assert_eq!(fix[0]["title"], "Change to `print`", "{fix}");
    let edit = &fix[0]["edit"]["changes"][editor.uri("fix.ai.yaml")][0];
    assert_eq!(edit["newText"], "print");
    assert_eq!(edit["range"]["start"], json!({ "line": 1, "character": 1 }), "{fix}");
    assert_eq!(edit["range"]["end"], json!({ "line": 1, "character": 6 }), "{fix}");
}

#[test]
fn a_name_says_what_it_means() {
    let mut editor = Editor::ready("en");
    editor.file("my-helper.ai.yaml", "---\ntitle: Helps a lot\ninput: [a]\n---\n$ret: 1\n");
    editor.hovers("$fo¦r: [1]\n", &["$for: ITEMS", "Repeats"]);
    editor.hovers("---\nrun_mo¦de: serial\n---\nuser: x\n", &["run_mode", "cascaded"]);
    editor.hovers("user: x\n-> my-he¦lper\n", &["my-helper", "Helps a lot"]);
    editor.hovers("$set: {count: 1}\nuser: \"{{co¦unt}}\"\n", &["count", "line 1"]);
    editor
        .hovers("!fn |-\n  [js]double(n) { return 2 * n }\n$dou¦ble(2)\n", &["$double", "line 1"]);
    let text = "---\ninput: [{city: {description: a big city}}]\n---\nuser: \"在 {{ci¦ty}}\"\n";
    editor.hovers(text, &["city", "a big city"]);
    let mut chinese = Editor::ready("zh");
    chinese.hovers("$fo¦r: [1]\n", &["重复"]);
}

#[test]
fn a_name_leads_to_where_it_is_defined() {
    let mut editor = Editor::ready("en");
    editor.file("my-helper.ai.yaml", "---\nexport: [$inner]\n---\n!fn |-\n  [js]inner() {}\n");
    editor.file("tools.mjs", "export function half(n) { return n / 2 }\n");
    let here = |line| Some(("define.ai.yaml".to_owned(), line));
    assert_eq!(editor.defines("user: x\n-> my-he¦lper\n"), Some(("my-helper.ai.yaml".into(), 0)));
    assert_eq!(editor.defines("user: x\n-> trans¦lator\n"), None, "it is no file");
    assert_eq!(editor.defines("user: x\n$set: {n: 1}\nuser: \"{{n¦}}\"\n"), here(1));
    assert_eq!(
        editor.defines("user: x\nassistant: \"[[ANSWER]]\"\n$echo: \"?=ANS¦WER\"\n"),
        here(1)
    );
    assert_eq!(
        editor.defines("---\ninput:\n  - city: {index: 0}\n---\nuser: \"{{ci¦ty}}\"\n"),
        here(2)
    );
    assert_eq!(
        editor.defines("user: x\n!fn |-\n  [js]double(n) { return 2 * n }\n$dou¦ble(2)\n"),
        here(1)
    );
    assert_eq!(
        editor.defines("---\nimport: [{./tools.mjs: [half]}]\n---\n$ha¦lf(2)\n"),
        Some(("tools.mjs".into(), 0))
    );
    assert_eq!(
        editor.defines("---\nroles: {ana: my-helper}\n---\nan¦a: \"[[AI]]\"\n"),
        Some(("my-helper.ai.yaml".into(), 0))
    );
    assert_eq!(editor.defines("user: \"{{nosu¦ch}}\"\n"), None);
}

#[test]
fn bad_messages_are_answered_and_the_server_goes_on() {
    let mut editor = Editor::start("en");
    assert_eq!(editor.reply("textDocument/hover", json!({}))["error"]["code"], json!(-32002));
    editor.raw(b"nonsense\r\nContent-Length: 4\r\n\r\n{]}x");
    assert_eq!(editor.read()["error"]["code"], json!(-32700));
    editor.raw(b"Content-Length: 2\r\nContent-Type: x\r\n\r\n\xff\xfe");
    assert_eq!(editor.read()["error"]["code"], json!(-32700));
    editor.raw(b"Content-Length: 9\r\n\r\n{\"id\": 7}");
    let refused = editor.read();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(7)));
    let deep = "[".repeat(100_000);
    editor.raw(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert_eq!(editor.read()["error"]["code"], json!(-32700));

    editor.ask("initialize", json!({}));
    assert_eq!(editor.reply("no/such", json!({}))["error"]["code"], json!(-32601));
    for params in [json!(null), json!([]), json!({ "textDocument": 3, "position": "x" })] {
        assert_eq!(editor.ask("textDocument/completion", params.clone()), Value::Null);
        editor.tell("textDocument/didChange", params.clone());
        editor.tell("textDocument/didOpen", params);
    }
    let far = json!({ "line": u64::MAX, "character": u64::MAX });
    let uri = editor.uri("a.ai.yaml");
    editor.open("a.ai.yaml", "user: x\n");
    let params = json!({ "textDocument": { "uri": uri }, "position": far });
    assert!(editor.ask("textDocument/completion", params)["items"].is_array());
    editor.change("a.ai.yaml", 2, json!([{ "range": { "start": far, "end": far }, "text": "$x" }]));
    assert!(!editor.faults("a.ai.yaml", 2).is_empty());

    assert_eq!(editor.ask("shutdown", json!(null)), Value::Null);
    assert_eq!(editor.reply("shutdown", json!(null))["error"]["code"], json!(-32600));
    editor.tell("exit", json!(null));
    assert_eq!(editor.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_server_ends_with_its_input() {
    assert_eq!(Editor::ready("en").end(), Some(1), "it was not asked to");
    let mut editor = Editor::ready("en");
    editor.ask("shutdown", json!(null));
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_closed_document_has_no_faults_left() {
    let mut editor = Editor::ready("en");
    editor.open("a.ai.yaml", "$nosuch\n");
    assert_eq!(editor.faults("a.ai.yaml", 1).len(), 1);
    let document = json!({ "uri": editor.uri("a.ai.yaml") });
    editor.tell("textDocument/didClose", json!({ "textDocument": document }));
    let last = editor.read();
    assert_eq!(last["params"]["diagnostics"], json!([]), "{last}");
    assert!(!Path::new(&editor.bench.work().join("a.ai.yaml")).exists(), "it writes nothing");
}

#[test]
fn a_message_without_a_readable_length_is_answered_and_skipped() {
    let mut editor = Editor::ready("en");
    editor
        .raw(b"Content-Length: abc\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"shutdown\"}");
    let found = editor.reply("textDocument/hover", json!({}));
    assert!(found.get("id").is_some(), "{found}");
    editor.open("a.ai.yaml", "$nosuch: 1\n");
    assert_eq!(editor.faults("a.ai.yaml", 1).len(), 1);
}

#[test]
fn parameters_targets_and_functions_are_explained_and_keys_of_a_directive_proposed() {
    let mut editor = Editor::ready("en");
    editor.file("sub.ai.yaml", "---\ntitle: Does something\n---\n$echo: 1\n");
    let text = "user: q\nassistant: \"[[A:temperature=1]]\"\n$exec: {id: sub}\n- $if: \"A\"\n  \n";
    editor.open("a.ai.yaml", text);
    let at = |editor: &mut Editor, what: &str, line: u32, character: u32| {
        let document = json!({ "uri": editor.uri("a.ai.yaml") });
        let position = json!({ "line": line, "character": character });
        editor
            .ask(
                &format!("textDocument/{what}"),
                json!({ "textDocument": document, "position": position }),
            )
            .to_string()
    };
    let hover = at(&mut editor, "hover", 1, 18);
    assert!(hover.contains("temperature: number"), "{hover}");
    let hover = at(&mut editor, "hover", 2, 13);
    assert!(hover.contains("Does something"), "{hover}");
    let found = at(&mut editor, "completion", 4, 2);
    assert!(found.contains("\"then\"") && found.contains("\"else\""), "{found}");
    assert!(!found.contains("\"assistant\""), "{found}");

    // Not YAML at all.
    let text = "!fn |-\n  bar(a) { return a }\nuser: a: b\n$bar: 1\nuser: @x\n";
    editor.change("a.ai.yaml", 2, json!([{ "text": text }]));
    let hover = at(&mut editor, "hover", 3, 2);
    assert!(hover.contains("$bar"), "{hover}");

    let text = "---\ntype: \ntools: [\n---\n";
    editor.change("a.ai.yaml", 3, json!([{ "text": text }]));
    let found = at(&mut editor, "completion", 1, 6);
    assert!(found.contains("\"char\"") && !found.contains("file.read"), "{found}");
    let found = at(&mut editor, "completion", 2, 8);
    assert!(found.contains("file.read"), "{found}");
}
