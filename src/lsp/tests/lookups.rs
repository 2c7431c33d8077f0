//! Tests questions about code.

use super::*;
use crate::question::CodeAnswer;

fn task(project: &Project, lookup: CodeLookup, symbol: &str) -> CodeTask {
    let path = Some(project.path("a.rs"));
    let new_name = "renamed".to_owned();
    CodeTask { lookup, path, line: None, symbol: symbol.to_owned(), new_name }
}

fn range(line: usize, from: usize, to: usize) -> Value {
    let place = |character| json!({ "line": line, "character": character });
    json!({ "start": place(from), "end": place(to) })
}

/// A project whose server answers one question with this.
fn answering(
    method: &'static str,
    result: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> Project {
    let result = Arc::new(result);
    let project = Project::new(move |mut server| {
        let result = Arc::clone(&result);
        async move {
            let Some(request) = server.until(method).await else { return };
            let answer = result(&request["params"]);
            server.answer(&request, answer).await;
            server.until("never").await;
        }
    });
    project.write("a.rs", "// été\nfn name() {}\nfn other() { name(); name() }\n");
    project
}

async fn text(project: &Project, lookup: CodeLookup, symbol: &str) -> String {
    let asked = project.servers.ask(task(project, lookup, symbol));
    match tokio::time::timeout(PATIENCE, asked).await.unwrap() {
        Ok(CodeAnswer::Text(text) | CodeAnswer::Edit(text)) => text,
        Err(why) => why.text(Lang::En),
    }
}

fn beside(uri: &Value, name: &str) -> String {
    uri.as_str().unwrap().replace("a.rs", name)
}

#[tokio::test]
async fn places_are_shown_with_their_lines_and_none_outside_of_the_workspace() {
    let project = answering("textDocument/references", |params| {
        assert_eq!(params["position"], json!({ "line": 1, "character": 3 }));
        let uri = params["textDocument"]["uri"].clone();
        json!([
            { "uri": uri, "range": range(1, 3, 7) },
            { "uri": uri, "range": range(2, 13, 17) },
            { "uri": "file:///etc/passwd", "range": range(0, 0, 1) },
            { "uri": beside(&uri, "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd"), "range": range(0, 0, 1) },
            { "uri": beside(&uri, "link"), "range": range(0, 0, 1) },
            { "uri": beside(&uri, ".env"), "range": range(0, 0, 1) },
        ])
    });
    std::os::unix::fs::symlink("/etc/passwd", project.path("link")).unwrap();
    project.write(".env", "KEY=value\n");
    let found = text(&project, CodeLookup::References, "name").await;
    let lines = ["a.rs:2: fn name() {}", "a.rs:3: fn other() { name(); name() }"];
    assert_eq!(found, format!("{}\noutside of the workspace: 4", lines.join("\n")));
}

#[tokio::test]
async fn the_symbols_of_a_file_are_listed_with_their_kinds() {
    let project = answering("textDocument/documentSymbol", |_| {
        let inner = json!({ "name": "x\u{1b}[31m", "kind": 8, "range": range(3, 0, 1) });
        let last = json!({ "line": 4, "character": 0 });
        let all = json!({ "start": { "line": 2, "character": 0 }, "end": last });
        json!([{ "name": "Thing", "kind": 23, "range": all, "children": [inner] }])
    });
    let found = text(&project, CodeLookup::Symbols, "").await;
    assert!(found.starts_with("3-5: struct Thing\n  4: field x"), "{found}");
    assert!(!found.contains('\u{1b}'), "{found:?}");
}

#[tokio::test]
async fn a_name_that_is_not_there_is_said() {
    let project = answering("textDocument/hover", |_| json!({ "contents": "fn name()" }));
    let found = text(&project, CodeLookup::Hover, "nam").await;
    assert!(found.contains("`nam` is not there"), "{found}");
    assert_eq!(text(&project, CodeLookup::Hover, "name").await, "fn name()");
}

#[tokio::test]
async fn a_renaming_is_a_diff_of_the_changed_lines() {
    let project = answering("textDocument/rename", |params| {
        assert_eq!(params["newName"], "renamed");
        let edit = |line, from, to| json!({ "range": range(line, from, to), "newText": "renamed" });
        let edits = json!([edit(2, 21, 25), edit(1, 3, 7), edit(2, 13, 17)]);
        let document = json!({ "uri": params["textDocument"]["uri"], "version": 1 });
        json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] })
    });
    let found = text(&project, CodeLookup::Rename, "name").await;
    let diff = "--- a/a.rs\n+++ b/a.rs\n@@ -2,1 +2,1 @@\n-fn name() {}\n+fn renamed() {}\n\
                @@ -3,1 +3,1 @@\n-fn other() { name(); name() }\n+fn other() { renamed(); renamed() }\n";
    assert_eq!(found, diff);
}

#[tokio::test]
async fn a_renaming_that_makes_or_touches_other_files_is_refused() {
    for change in [
        json!({ "documentChanges": [{ "kind": "create", "uri": "file:///x" }] }),
        json!({ "changes": { "file:///etc/passwd": [{ "range": range(0, 0, 1), "newText": "" }] } }),
    ] {
        let project = answering("textDocument/rename", move |_| change.clone());
        let found = text(&project, CodeLookup::Rename, "name").await;
        assert!(found.contains("change"), "{found}");
    }
}

#[tokio::test]
async fn a_file_without_a_server_is_said() {
    let project = answering("never", |_| Value::Null);
    let mut task = task(&project, CodeLookup::Hover, "name");
    task.path = Some(project.write("a.py", "name"));
    let why = project.servers.ask(task).await.unwrap_err();
    assert_eq!(why.text(Lang::En), "No language server runs for this file.");
}

#[tokio::test]
async fn only_texts_of_a_size_are_opened() {
    let project = answering("never", |_| Value::Null);
    let large = project.write("large.rs", &"x".repeat(2 << 20));
    assert!(FileOnDisk::read(&large).await.is_none());
    assert!(FileOnDisk::read(&project.path("")).await.is_none());
    assert!(FileOnDisk::read(&project.path("a.rs")).await.is_some());
}
