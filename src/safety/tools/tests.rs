//! Tests how the tools are judged, against a machine made of a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::*;
use crate::{
    Machine, Policy, PolicyContext, PolicyRule, Program, Verdict, Workspace, assess, assess_restore,
};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{ApprovalMode, Requires, Step};

/// Files by their path, and links.
#[derive(Default)]
pub(super) struct FakeFiles {
    pub secrets: Option<crate::redact::Redactor>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    links: BTreeMap<PathBuf, PathBuf>,
    seen: BTreeMap<PathBuf, String>,
    node: bool,
}

impl FakeFiles {
    pub fn with(files: &[(&str, &str)]) -> FakeFiles {
        let files =
            files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()));
        FakeFiles { files: files.collect(), node: true, ..FakeFiles::default() }
    }

    pub fn assess(&self, name: &str, input: Value) -> Verdict {
        self.assess_with(&Policy::default(), name, input)
    }

    pub fn assess_with(&self, policy: &Policy, name: &str, input: Value) -> Verdict {
        let work = StepAction::Tool { name: name.into(), input };
        let step = Step { id: "x".into(), work, requires: Requires::default(), cwd: None };
        assess(step, PolicyContext { policy, place: &place(), world: self })
    }

    fn suggested_rule(&self, verdict: &Verdict) -> Option<String> {
        let (policy, place) = (Policy::default(), place());
        let policy_cx = PolicyContext { policy: &policy, place: &place, world: self };
        crate::grant::suggest_grant(verdict.judgement(), policy_cx)
            .map(|grant| grant.rule.to_string())
    }
}

pub(super) fn place() -> Workspace {
    Workspace::new("/w", "/h")
}

impl Machine for FakeFiles {
    fn resolve(&self, path: &Path) -> PathBuf {
        let plain = crate::paths::normalize(path);
        for (link, target) in &self.links {
            if let Ok(rest) = plain.strip_prefix(link) {
                return if rest.as_os_str().is_empty() {
                    target.clone()
                } else {
                    target.join(rest)
                };
            }
        }
        plain
    }

    fn kind(&self, path: &Path) -> PathKind {
        if self.files.contains_key(path) {
            PathKind::File
        } else if path == Path::new("/w") {
            PathKind::Folder
        } else {
            PathKind::Missing
        }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new("/usr/bin").join(name);
        self.node.then_some(Program { path, device: 1, inode: 1, modified: 0, link: None })
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        match self.files.get(path) {
            Some(bytes) if bytes.len() > most => Contents::Unreadable,
            Some(bytes) => Contents::Bytes(bytes.clone()),
            None => Contents::Missing,
        }
    }

    fn last_known_digest(&self, path: &Path) -> Option<String> {
        self.seen.get(path).cloned()
    }

    fn redactor(&self) -> Option<&crate::redact::Redactor> {
        self.secrets.as_ref()
    }

    fn is_job_of_model(&self, id: u64) -> bool {
        id == 1
    }
}

fn tier(verdict: &Verdict) -> Tier {
    verdict.judgement().risk.tier
}

pub(super) fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.judgement().risk.reasons.iter().map(|reason| reason.rule.as_str()).collect()
}

pub(super) fn input_error(verdict: &Verdict) -> String {
    match &verdict.judgement().task {
        Some(ToolTask::Fault(fault)) => fault.say.text(Lang::En),
        other => panic!("no fault: {other:?}"),
    }
}

#[test]
fn reading_inside_runs_and_everything_else_asks() {
    let mut table = FakeFiles::with(&[("/w/a", "x"), ("/h/.ssh/id_rsa", "k")]);
    table.links.insert("/w/out".into(), "/etc".into());
    for (tool, path, expected) in [
        ("file.read", "a", Tier::L0),
        ("file.read", "/w/sub/../a", Tier::L0),
        ("file.read", "missing", Tier::L0),
        ("file.list", ".", Tier::L0),
        ("file.search", ".", Tier::L0),
        ("file.read", ".env", Tier::L1),
        ("file.read", ".env.example", Tier::L0),
        ("file.read", "../b", Tier::L1),
        ("file.read", "/etc/passwd", Tier::L1),
        ("file.read", "~/.ssh/id_rsa", Tier::L1),
        ("file.read", "$HOME/x", Tier::L1),
        ("file.list", "/", Tier::L1),
        ("file.search", "~", Tier::L1),
        ("file.read", "out/passwd", Tier::L1),
        ("file.list", "out", Tier::L1),
        ("file.search", "out", Tier::L1),
        ("file.write", "out/passwd", Tier::L2),
    ] {
        let verdict = table.assess(tool, json!({"path": path, "query": "q", "content": "c"}));
        assert_eq!(tier(&verdict), expected, "{tool} {path}: {:?}", rules(&verdict));
    }
}

#[test]
fn writing_always_asks_and_shows_the_new_content() {
    let table = FakeFiles::with(&[("/w/a.rs", "one\ntwo\n"), ("/w/.env", "K=1\n")]);
    let verdict = table.assess("file.edit", json!({"path": "a.rs", "old": "two", "new": "2"}));
    assert!(matches!(verdict, Verdict::Ask(_)));
    let change = verdict.judgement().change().expect("a change");
    assert_eq!(change.diff, "--- a.rs\n+++ a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_eq!((change.added, change.removed), (1, 1));
    assert_eq!(change.after.as_deref(), Some(digest(b"one\n2\n").as_str()));
    assert_eq!(table.suggested_rule(&verdict).as_deref(), Some("file.edit *"));

    for (path, tier_then, rule) in [
        ("new.rs", Tier::L1, "file.write"),
        (".env", Tier::L1, "path.sensitive.write"),
        (".git/hooks/pre-commit", Tier::L1, "path.git"),
        (".avocet/config.toml", Tier::L1, "path.steers"),
        ("/etc/hosts", Tier::L1, "path.outside.write"),
        ("/h/.ssh/authorized_keys", Tier::L2, "path.secret.write"),
    ] {
        let verdict = table.assess("file.write", json!({"path": path, "content": "x\n"}));
        assert_eq!(tier(&verdict), tier_then, "{path}");
        assert!(rules(&verdict).contains(&rule), "{path}: {:?}", rules(&verdict));
        let offered = table.suggested_rule(&verdict).is_some();
        assert_eq!(
            offered,
            path == "new.rs",
            "{path}: only a plain file of ours can be remembered"
        );
    }
}

#[test]
fn a_remembered_approval_of_edits_covers_only_plain_files_of_the_workspace() {
    let mut table =
        FakeFiles::with(&[("/w/a", "one\n"), ("/w/.git/config", "one\n"), ("/o/a", "one\n")]);
    let allowed = vec![PolicyRule::parse("file.edit *").expect("a rule")];
    let policy = Policy { allowed, ..Policy::default() };
    let runs = |table: &FakeFiles, path: &str| {
        let input = json!({"path": path, "old": "one", "new": "two"});
        matches!(table.assess_with(&policy, "file.edit", input), Verdict::Run(_))
    };
    assert!(runs(&table, "a"));
    for path in [".git/config", "/o/a"] {
        assert!(!runs(&table, path), "{path}");
    }
    table.seen.insert("/w/a".into(), digest(b"other"));
    assert!(!runs(&table, "a"), "it was changed since the model read it");
}

#[test]
fn a_file_changed_on_disk_since_it_was_read_is_reported() {
    let mut table = FakeFiles::with(&[("/w/a", "one\n")]);
    let write = || json!({"path": "a", "content": "two\n"});
    assert!(rules(&table.assess("file.write", write())).contains(&"file.unread"));
    table.seen.insert("/w/a".into(), digest(b"one\n"));
    assert_eq!(rules(&table.assess("file.write", write())), ["file.write"]);
    table.seen.insert("/w/a".into(), digest(b"zero\n"));
    assert!(rules(&table.assess("file.write", write())).contains(&"file.changed"));
    let edit = table.assess("file.edit", json!({"path": "a", "old": "one", "new": "1"}));
    assert!(rules(&edit).contains(&"file.changed"));
}

#[test]
fn an_invalid_input_is_reported_and_does_nothing() {
    let table = FakeFiles::with(&[("/w/a", "one\n"), ("/w/b", "\u{1}")]);
    for (tool, input, part) in [
        ("file.read", json!({}), "needs the field `path`; given: -"),
        ("file.read", json!({"pth": "a"}), "given: pth"),
        ("file.read", json!({"path": 7}), "`path` must be a string, not 7"),
        ("file.read", json!({"path": "a", "from": 9, "to": 2}), "`9-2` is not a line range"),
        ("file.edit", json!({"path": "a", "old": "one"}), "needs the field `new`"),
        (
            "file.edit",
            json!({"path": "a", "edits": [{"old": "one"}]}),
            "edits[0]` needs the field `new`",
        ),
        ("file.edit", json!({"path": "a", "old": "1", "new": "2"}), "is not in the file"),
        ("file.edit", json!({"path": "no", "old": "1", "new": "2"}), "There is no file `no`"),
        ("file.edit", json!({"path": ".", "old": "1", "new": "2"}), "There is no file `.`"),
        ("file.write", json!({"path": "a", "content": "one\n"}), "nothing would change"),
        ("ask", json!({"question": " "}), "needs the field `question`"),
        ("plan", json!({"items": [{"text": "x", "state": "soon"}]}), "`soon` is not a state"),
    ] {
        let verdict = table.assess(tool, input);
        assert!(matches!(verdict, Verdict::Run(_)), "{tool}: nothing to ask about");
        let said = input_error(&verdict);
        assert!(said.contains(part), "{tool}: {said}");
    }
    let said = input_error(&table.assess("file.move", json!({})));
    assert!(
        said.contains("Unknown tool `file.move`") && said.contains("exec, file_read"),
        "{said}"
    );
}

#[test]
fn a_field_that_is_filled_in_with_nothing_was_not_given() {
    let table = FakeFiles::with(&[("/w/a", "one\ntwo\n")]);
    let task = |tool: &str, input| table.assess(tool, input).judgement().task.clone();
    for (tool, plain, filled) in [
        ("file.read", json!({"path": "a"}), json!({"path": "a", "from": 0, "to": -1})),
        (
            "file.list",
            json!({"path": "."}),
            json!({"path": ".", "glob": "", "depth": 0, "all": false}),
        ),
        (
            "file.search",
            json!({"query": "one"}),
            json!({"query": "one", "path": "", "glob": null, "literal": false, "ignore_case": false, "context": 0}),
        ),
        (
            "file.edit",
            json!({"path": "a", "edits": [{"old": "one", "new": ""}]}),
            json!({"path": "a", "edits": [{"old": "one", "new": "", "all": false}], "from": 0, "to": 0}),
        ),
        ("job.read", json!({"id": 1}), json!({"id": 1, "page": 0, "query": "", "wait_s": 0})),
        ("ask", json!({"question": "q"}), json!({"question": "q", "choices": []})),
    ] {
        let expected = task(tool, plain);
        assert!(!matches!(expected, None | Some(ToolTask::Fault(_))), "{tool}: {expected:?}");
        assert_eq!(task(tool, filled), expected, "{tool}");
    }
}

#[test]
fn small_models_may_name_fields_their_own_way() {
    let table = FakeFiles::with(&[("/w/a", "one\ntwo\n")]);
    for input in [
        json!({"file_path": "a", "old_string": "two", "new_string": "2"}),
        json!({"file": "a", "edits": [{"search": "two", "replace": "2"}]}),
        json!({"path": "a", "edits": "[{\"old\":\"two\",\"new\":\"2\"}]"}),
        json!({"path": "a", "edits": {"old": "two", "new": "2"}, "all": "false"}),
        json!({"filePath": "a", "oldString": "two", "newString": "2", "replaceAll": false}),
        json!({"target_file": "a", "OldText": "two", "new-text": "2"}),
        json!({"path": ["a"], "edits": "{\"old\":\"two\",\"new\":\"2\"}"}),
        json!({"path": "a", "edits": ["{\"old\":\"two\",\"new\":\"2\"}"]}),
        json!({"path": "a", "edits": [{"old": "two", "new": "2", "all": 0}]}),
        json!({"path": "a", "edits": [], "old": "two", "new": "2"}),
        json!({"edits": [{"path": "a", "old": "two", "new": "2"}]}),
        json!({"path": "@a", "old": "two", "new": "2"}),
        json!({"path": "a", "diff": "<<<<<<< SEARCH\n:start_line:2\n-------\ntwo\n=======\n2\n>>>>>>> REPLACE"}),
    ] {
        let verdict = table.assess("file.edit", input.clone());
        assert!(verdict.judgement().change().is_some(), "{input}: {:?}", verdict.judgement().task);
    }
    for (input, from, to) in [
        (json!({"path": "a", "range": "2-5"}), 2, Some(5)),
        (json!({"path": "a", "range": [2, 5]}), 2, Some(5)),
        (json!({"path": "a", "view_range": "[2, 5]"}), 2, Some(5)),
        (json!({"path": "a", "lines": "2-5"}), 2, Some(5)),
        (json!({"path": "a", "from": 2, "lines": 4}), 2, Some(5)),
        (json!({"path": "a:2-5"}), 1, None),
        (json!({"path": "/a"}), 1, None),
        (json!({"path": "a", "start_line": "2", "end_line": 5.0}), 2, Some(5)),
        (json!({"path": "a", "offset": 2, "limit": 4}), 2, Some(5)),
        (json!({"absolute_path": "a", "offset": 2, "limit": 4}), 2, Some(5)),
        (json!({"filePath": "a", "startLine": 2, "endLine": 5}), 2, Some(5)),
        (json!({"AbsolutePath": "a", "StartLine": 2, "EndLine": 5}), 2, Some(5)),
        (
            json!({"target_file": "a", "start_line_one_indexed": 2, "end_line_one_indexed_inclusive": 5}),
            2,
            Some(5),
        ),
        (json!({"path": "a", "view_range": [2, 5]}), 2, Some(5)),
        (json!({"path": "a", "view_range": [2, -1]}), 2, None),
        (json!({"path": "a"}), 1, None),
    ] {
        let verdict = table.assess("file.read", input);
        let Some(ToolTask::Read(read)) = &verdict.judgement().task else { panic!("reads") };
        assert_eq!((read.from, read.to), (from, to));
    }
}

#[test]
fn what_other_agents_ask_for_by_other_fields_is_not_left_out() {
    let table = FakeFiles::with(&[("/w/sub/a", "one\n")]);
    let listed = |input: Value| match table.assess("file.list", input).judgement().task.clone() {
        Some(ToolTask::List(list)) => (list.spot.shown, list.glob),
        other => panic!("{other:?}"),
    };
    for name in ["dir_path", "relative_workspace_path", "target_directory", "DirectoryPath"] {
        assert_eq!(listed(json!({ name: "sub" })).0, "sub", "{name}");
    }
    let glob = listed(json!({ "glob_pattern": "*.rs", "target_directory": "sub" }));
    assert_eq!(glob.1.as_deref(), Some("*.rs"));
    let verdict = table.assess("file.search", json!({ "query": "x", "include_pattern": "*.py" }));
    let Some(ToolTask::Search(search)) = &verdict.judgement().task else { panic!("searches") };
    assert_eq!(search.glob.as_deref(), Some("*.py"));
    let input =
        json!({ "q": ["x"], "glob": ["*.py"], "case_sensitive": false, "multiline": "yes" });
    let verdict = table.assess("file.search", input);
    let Some(ToolTask::Search(search)) = &verdict.judgement().task else { panic!("searches") };
    assert_eq!((search.query.as_str(), search.glob.as_deref()), ("x", Some("*.py")));
    assert!(search.fold && search.multiline);
    let verdict = table.assess("file.read", json!({ "path": "." }));
    assert!(matches!(&verdict.judgement().task, Some(ToolTask::List(_))), "{verdict:?}");
    let two = json!({ "edits": [{ "path": "a", "old": "1", "new": "2" }, { "path": "b", "old": "1", "new": "2" }] });
    let verdict = table.assess("file.edit", two);
    assert!(matches!(&verdict.judgement().task, Some(ToolTask::Fault(_))), "{verdict:?}");
    let questions =
        json!({ "questions": [{ "question": "Which?", "options": [{ "label": "A" }] }] });
    let verdict = table.assess("ask", questions);
    let Some(ToolTask::Ask(ask)) = &verdict.judgement().task else { panic!("asks") };
    assert_eq!((ask.text.as_str(), ask.choices.as_slice()), ("Which?", &["A".to_owned()][..]));
}

#[test]
fn an_error_about_a_file_outside_is_not_reported_without_approval() {
    let table = FakeFiles::with(&[("/o/secret", "hush\n")]);
    let verdict = table.assess("file.edit", json!({"path": "/o/secret", "old": "hus", "new": "x"}));
    assert!(matches!(verdict, Verdict::Ask(_)));
    let verdict = table.assess("file.edit", json!({"path": "/o/secret", "old": "zz", "new": "x"}));
    assert!(matches!(verdict, Verdict::Ask(_)), "it would say what stands there");
}

#[test]
fn only_listed_settings_are_patched_and_always_after_approval() {
    let text = "{\n  \"b\": 1,\n  \"a\": [1, 2]\n}\n";
    let mut table = FakeFiles::with(&[("/h/.slothtool/settings.json", text), ("/o/x.json", text)]);
    table.links.insert("/h/.slothtool/plugin-configs/evil.json".into(), "/h/.bashrc".into());
    let patch = |path: &str| json!({"path": path, "set": {"b": 2}});
    let verdict = table.assess("config.json_patch", patch("~/.slothtool/settings.json"));
    assert!(matches!(verdict, Verdict::Ask(_)), "{:?}", rules(&verdict));
    assert!(table.suggested_rule(&verdict).is_none(), "it is asked each time");
    let Some(ToolTask::Change(write)) = &verdict.judgement().task else { panic!("changes") };
    assert_eq!(write.after.as_deref(), Some(text.replace("1,\n", "2,\n").as_bytes()));
    assert!(write.backup);

    for path in [
        "~/.slothtool/registry.json",
        "~/.slothtool/plugin-configs/../../.bashrc",
        "~/.slothtool/plugin-configs/deep/x.json",
        "~/.slothtool/plugin-configs/evil.json",
        "/o/x.json",
        "x.json",
    ] {
        assert_eq!(tier(&table.assess("config.json_patch", patch(path))), Tier::L2, "{path}");
    }
    let policy = Policy { config_files: vec!["/o/x.json".into()], ..Policy::default() };
    assert_eq!(
        tier(&table.assess_with(&policy, "config.json_patch", patch("/o/x.json"))),
        Tier::L1
    );
    let new = table.assess("config.json_patch", patch("~/.slothtool/plugin-configs/new.json"));
    let Some(ToolTask::Change(write)) = &new.judgement().task else { panic!("makes it") };
    assert_eq!(write.after.as_deref(), Some(&b"{\"b\":2}\n"[..]));
}

#[test]
fn a_patch_is_all_or_nothing_and_never_loosens_the_policy() {
    let text =
        "{\"a\":{\"b\":1},\"safety\":{\"allowSudo\":true,\"allowedPrograms\":[\"x\",\"y\"]}}";
    let table = FakeFiles::with(&[("/h/.slothtool/plugin-configs/ai.json", text)]);
    let judged = |change: Value| {
        let mut input = json!({"path": "~/.slothtool/plugin-configs/ai.json"});
        for (name, value) in change.as_object().expect("an object") {
            input[name] = value.clone();
        }
        table.assess("config.json_patch", input)
    };
    let ops = json!({"patch": [
        {"op": "test", "path": "/a/b", "value": 1},
        {"op": "add", "path": "/a/c", "value": [true]},
        {"op": "remove", "path": "/a/b"},
    ]});
    let verdict = judged(ops);
    let Some(ToolTask::Change(write)) = &verdict.judgement().task else {
        panic!("{:?}", verdict.judgement())
    };
    let after = String::from_utf8_lossy(write.after.as_deref().expect("content")).into_owned();
    assert!(after.starts_with("{\"a\":{\"c\": [true]},\"safety\""), "{after}");
    let half = json!({"patch": [
        {"op": "add", "path": "/x", "value": 1}, {"op": "remove", "path": "/no/such"},
    ]});
    assert!(input_error(&judged(half)).starts_with("The patch cannot be applied"));
    for (change, expected) in [
        (json!({"set": {"safety.allowSudo": false}}), Tier::L1),
        (json!({"set": {"safety.allowedPrograms": ["x"]}}), Tier::L1),
        (json!({"set": {"safety.allowedPrograms": ["x", "z"]}}), Tier::L2),
        (json!({"set": {"allowNetwork": true}}), Tier::L2),
        (json!({"set": {"profiles.x": {"base_url": "http://evil"}}}), Tier::L2),
        (json!({"unset": ["safety.allowSudo"]}), Tier::L2),
    ] {
        assert_eq!(tier(&judged(change.clone())), expected, "{change}");
    }
}

const REGISTRY: &str = r#"{"plugins": {
    "loc": {"name": "@x/plugin-loc", "version": "1.0.0", "binPath": "/h/.slothtool/plugins/loc/bin/loc.js"},
    "out": {"name": "out", "version": "1", "binPath": "/tmp/evil.js"},
    "empty": {"name": "empty"}
}}"#;

#[test]
fn plugins_are_found_by_the_registry_and_always_asked_about() {
    let mut table = FakeFiles::with(&[
        ("/h/.slothtool/registry.json", REGISTRY),
        ("/h/.slothtool/plugins/loc/package.json", r#"{"slothtool": {"interactive": true}}"#),
    ]);
    let run = |alias: &str, args: Value| json!({"alias": alias, "args": args});
    let verdict = table.assess("plugin.run", run("loc", json!(["src"])));
    assert!(matches!(verdict, Verdict::Ask(_)));
    let judged = verdict.judgement();
    assert_eq!(
        judged.program.as_ref().map(|program| program.path.clone()),
        Some("/usr/bin/node".into())
    );
    let Some(ToolTask::Plugin(plugin)) = &judged.task else { panic!("a plugin") };
    assert_eq!(plugin.node_args(), ["/h/.slothtool/plugins/loc/bin/loc.js", "src"]);
    assert!(!plugin.interactive && table.suggested_rule(&verdict).is_none());
    let talking = r#"{"slothtool": {"interactive": true, "interactiveFlags": ["--tui"]}}"#;
    let package = "/h/.slothtool/plugins/loc/package.json";
    table.files.insert(package.into(), talking.as_bytes().to_vec());
    for (args, interactive) in [
        (json!([]), true),
        (json!(["-i"]), true),
        (json!(["src", "--interactive"]), true),
        (json!(["--interactive=true"]), true),
        (json!(["--interactive=false"]), false),
        (json!(["--tui"]), true),
        (json!(["--top", "5"]), false),
        (json!(["--help", "-version"]), false),
        (json!(["x"]), false),
    ] {
        let verdict = table.assess("plugin.run", run("@x/plugin-loc", args));
        let Some(ToolTask::Plugin(plugin)) = &verdict.judgement().task else { panic!("a plugin") };
        assert_eq!(plugin.interactive, interactive);
    }
    let path = table.assess("plugin.run", run("loc", json!(["--in=/etc/passwd"])));
    assert!(rules(&path).contains(&"path.outside"));
    assert_eq!(tier(&table.assess("plugin.run", run("out", json!([])))), Tier::L2);
    assert!(
        input_error(&table.assess("plugin.run", run("empty", json!([]))))
            .contains("no plugin `empty`")
    );
    table.node = false;
    assert!(
        input_error(&table.assess("plugin.run", run("loc", json!([])))).contains("need `node`")
    );
    table.files.insert("/h/.slothtool/registry.json".into(), b"[]".to_vec());
    assert!(input_error(&table.assess("plugin.run", run("loc", json!([])))).contains("registry"));
}

#[test]
fn undo_runs_unless_the_file_was_changed_since() {
    let table = FakeFiles::with(&[("/w/a", "two\n")]);
    let back = |after: &[u8]| Restore {
        path: "/w/a".into(),
        before: Some(b"one\n".to_vec()),
        after: Some(digest(after)),
        executable: false,
    };
    let policy = Policy::default();
    let place = place();
    let policy_cx = PolicyContext { policy: &policy, place: &place, world: &table };
    assert!(matches!(assess_restore("u", &back(b"two\n"), policy_cx), Verdict::Run(_)));
    let verdict = assess_restore("u", &back(b"else\n"), policy_cx);
    assert!(matches!(verdict, Verdict::Ask(_)));
    assert_eq!(
        verdict.judgement().change().map(|change| change.diff.clone()).as_deref(),
        Some("--- a\n+++ a\n@@ -1 +1 @@\n-two\n+one\n")
    );
    // No model can ask for it.
    let task = table.assess("file.restore", json!({"path": "a"})).judgement().task.clone();
    assert!(matches!(task, Some(ToolTask::Fault(fault)) if fault.is_form));
}

#[test]
fn the_whole_of_a_large_change_is_shown() {
    let content: String = (0..60_000).map(|at| format!("line {at} of a large file\n")).collect();
    let verdict =
        FakeFiles::with(&[]).assess("file.write", json!({"path": "a.txt", "content": content}));
    let change = verdict.judgement().change().unwrap();
    assert!(!change.cut && change.diff.ends_with("+line 59999 of a large file\n"));
    let kept = change.clone().into_stored();
    assert!(kept.cut && kept.diff.len() <= 192 * 1024 && kept.diff.ends_with('\n'));
}

#[test]
fn the_model_stops_its_own_jobs_and_asks_for_those_of_the_user() {
    let desk = FakeFiles::with(&[]);
    let stop = |policy: &Policy, id: u64| desk.assess_with(policy, "job.stop", json!({ "id": id }));
    let asking = Policy::default();
    assert!(matches!(stop(&asking, 1), Verdict::Run(_)));
    assert!(matches!(stop(&asking, 2), Verdict::Ask(_)));
    let edits = Policy { approval: ApprovalMode::Edits, ..Policy::default() };
    assert!(matches!(stop(&edits, 2), Verdict::Ask(_)));
    let plans = Policy { approval: ApprovalMode::Plan, ..Policy::default() };
    assert!(matches!(stop(&plans, 1), Verdict::Run(_)));
    assert!(matches!(stop(&plans, 2), Verdict::Refuse(_)));
}
