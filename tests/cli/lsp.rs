//! Language servers through the program: a server that is a script finds what an edit made wrong.

use std::fs;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};

use super::mcp::{call, program};
use super::native_tools::{ask, says, text};

/// A server for files of Rust that says of each version whether `bad` is in it, and of a name that
/// it is `new`.
const SERVER: &str = r#"#!/bin/sh
send() { printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"; }
while IFS= read -r line; do
  length=$(printf '%s' "$line" | tr -dc 0-9)
  IFS= read -r line
  body=$(dd bs=1 count="$length" 2>/dev/null)
  id=$(printf '%s' "$body" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  uri=$(printf '%s' "$body" | sed -n 's/.*"uri":"\([^"]*\)".*/\1/p')
  version=$(printf '%s' "$body" | sed -n 's/.*"version":\([0-9][0-9]*\).*/\1/p')
  range='{"start":{"line":0,"character":3},"end":{"line":0,"character":6}}'
  case "$body" in
  *'"method":"initialize"'*)
    send '{"jsonrpc":"2.0","id":'"$id"',"result":{"capabilities":{}}}' ;;
  *'"method":"textDocument/didOpen"'*|*'"method":"textDocument/didChange"'*)
    found=''
    case "$body" in *bad*) found='{"range":'"$range"',"severity":1,"message":"bad"}' ;; esac
    send '{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"'"$uri"'","version":'"$version"',"diagnostics":['"$found"']}}' ;;
  *'"method":"textDocument/rename"'*)
    send '{"jsonrpc":"2.0","id":'"$id"',"result":{"changes":{"'"$uri"'":[{"range":'"$range"',"newText":"new"}]}}}' ;;
  esac
done
"#;

/// A folder whose user has the server.
fn with_server(settings: &str) -> TestDir {
    let bench = TestDir::new();
    let path = program(&bench, "server.sh", SERVER);
    fs::write(bench.work().join("a.rs"), "fn old() {}\n").unwrap();
    bench.settings(&format!("[lsp.fake]\ncommand = {path:?}\nlanguages = [\"rs\"]\n{settings}"));
    bench
}

fn edit(old: &str, new: &str) -> Reply {
    let edits = json!([{ "old": old, "new": new }]);
    call("file_edit", &json!({ "path": "a.rs", "edits": edits }))
}

/// The texts of the results of a request, and the tools that the model gets with it.
fn results(body: &Value) -> (String, Vec<String>) {
    let messages = body["messages"].as_array().unwrap().iter();
    let texts = messages.filter(|message| message["role"] == "tool");
    let texts: Vec<&str> = texts.map(|message| message["content"].as_str().unwrap()).collect();
    let tools = body["tools"].as_array().unwrap().iter();
    let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
    (texts.join("\n"), names.collect())
}

#[test]
fn the_result_of_an_edit_has_what_a_language_server_finds_in_it() {
    let bench = with_server("");
    let server = Server::start(vec![edit("old", "bad"), says("Done.")]);
    let done = ask(&bench, &server, &["-p", "edit it", "--mode", "edits"]);
    let [first, second] = &server.requests()[..] else { panic!("{}", text(&done.stderr)) };
    let (found, tools) = results(&second.json());
    assert!(found.contains("a.rs:1: error: bad"), "{found}");
    assert!(tools.iter().any(|name| name == "code_references"), "{tools:?}");
    let (_, tools) = results(&first.json());
    assert!(!tools.iter().any(|name| name.starts_with("code_")), "{tools:?}");
}

#[test]
fn a_renaming_is_a_change_that_is_judged_and_made_as_one() {
    for (options, is_made) in [(vec!["--mode", "edits"], true), (vec![], false)] {
        let bench = with_server("");
        let rename = json!({ "path": "a.rs", "symbol": "old", "new_name": "new" });
        let read = call("file_read", &json!({ "path": "a.rs" }));
        let server = Server::start(vec![read, call("code_rename", &rename), says("Done.")]);
        let done = ask(&bench, &server, &[vec!["-p", "rename it"], options].concat());
        let now = fs::read_to_string(bench.work().join("a.rs")).unwrap();
        let expected = if is_made { "fn new() {}\n" } else { "fn old() {}\n" };
        assert_eq!(now, expected, "{}", text(&done.stderr));
    }
}

#[test]
fn a_server_that_is_switched_off_or_gone_changes_nothing() {
    let bench = with_server("enabled = false\n");
    fs::remove_file(bench.work().join("server.sh")).unwrap();
    let server = Server::start(vec![edit("old", "bad"), says("Done.")]);
    ask(&bench, &server, &["-p", "edit it", "--mode", "edits"]);
    let (found, tools) = results(&server.requests()[1].json());
    assert!(!found.contains("error") && !found.contains("language server"), "{found}");
    assert!(!tools.iter().any(|name| name.starts_with("code_")), "{tools:?}");
}
