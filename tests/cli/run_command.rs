//! `avocet run` through the real program: what is written where, and how it exits.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

mod planted;

use crate::support::bench::TestDir;
use planted::{PLANTED, SOUND};

struct ScriptFixture {
    bench: TestDir,
    trusts: bool,
}

fn place() -> ScriptFixture {
    ScriptFixture { bench: TestDir::new(), trusts: true }
}

impl ScriptFixture {
    fn file(self, name: &str, text: &str) -> ScriptFixture {
        let path: PathBuf = self.bench.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn untrusted(mut self) -> ScriptFixture {
        self.trusts = false;
        self
    }

    fn command(&self, args: &[&str], model: Option<&str>) -> Command {
        let root: &Path = self.bench.root.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        if self.trusts {
            command.arg("--trust").arg(self.bench.work());
        }
        if let Some(model) = model {
            command.arg("--model").arg(model);
        }
        command
            .arg("run")
            .args(args)
            .current_dir(self.bench.work())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", root.join("home"))
            .env("AVOCET_HOME", root.join("avocet"))
            .env("LANG", "en_US.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// Runs the script with replies from a file outside the folder.
    fn run(&self, args: &[&str], replies: &[&str]) -> Output {
        let file = self.bench.root.path().join("replies.txt");
        fs::write(&file, replies.join("\n---\n")).unwrap();
        let model = format!("scripted:{}", file.display());
        self.command(args, Some(&model)).output().unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const TWO: &str = "system: S\n---\n\"10 plus 18?\"\nassistant: \"[[result]]\"\n$print: \"?=result\"\n---\nuser: \"10 plus 12?\"\nassistant: \"[[result]]\"\n";

#[test]
fn prints_and_the_result_go_to_standard_output() {
    let ran = place()
        .file("two.ai.yaml", TWO)
        .run(&["two.ai.yaml", "--no-stream"], &["is 28.", "is 22."]);
    assert_eq!(out(&ran), "is 28.\nis 22.\n", "{}", err(&ran));
    assert_eq!(ran.status.code(), Some(0));
    let by_id = place().file("two.ai.yaml", TWO).run(&["two"], &["is 28.", "is 22."]);
    assert_eq!(out(&by_id), "is 28.\nis 22.\n", "{}", err(&by_id));
}

#[test]
fn json_output_is_one_object_per_line() {
    let place = place().file("two.ai.yaml", TWO);
    let ran = place.run(&["two", "--json", "--no-stream"], &["is 28.", "is 22."]);
    let expected = [
        json!({"type": "print", "text": "is 28."}),
        json!({"type": "messages", "messages": [
            {"role": "user", "content": "10 plus 12?"},
            {"role": "assistant", "content": "is 22."},
        ]}),
        json!({"type": "result", "value": "is 22."}),
    ];
    assert_eq!(lines(&ran), expected);
    let streamed = place.run(&["two", "--json"], &["is 28.", "is 22."]);
    let deltas: Vec<Value> =
        lines(&streamed).into_iter().filter(|it| it["type"] == "delta").collect();
    assert_eq!(deltas[0]["text"], json!("is 28."));
    assert_eq!(lines(&streamed).last().unwrap()["value"], json!("is 22."));
}

#[test]
fn arguments_are_accepted_in_every_form() {
    let script = "---\ninput: [lang, {content: {index: 0}}]\n---\n$echo: \"?=content + '/' + (lang || '')\"\n";
    let place = place().file("e.ai.yaml", script);
    for (typed, made) in [
        ("{content: \"x\", lang: 'en'}", "x/en\n"),
        ("{\"content\": \"y\"}", "y/\n"),
        ("plain {text}", "plain {text}/\n"),
    ] {
        let ran = place.run(&["e", typed], &[]);
        assert_eq!(out(&ran), made, "{}", err(&ran));
    }
    let ran = place.run(&["e", "{content: "], &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(err(&ran).starts_with("error: The arguments"), "{}", err(&ran));
}

#[test]
fn an_error_is_one_sentence_with_its_position_and_exit_1() {
    let place = place().file("bad.ai.yaml", "user: ok\nuser: A: b\n");
    let ran = place.run(&["bad"], &[]);
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(1), ""));
    assert!(err(&ran).contains("bad.ai.yaml:2:"), "{}", err(&ran));
    let ran = place.run(&["bad", "--json"], &[]);
    let said = lines(&ran);
    assert_eq!((ran.status.code(), said.len(), &said[0]["type"]), (Some(1), 1, &json!("error")));
    assert!(said[0]["message"].as_str().unwrap().contains("bad.ai.yaml:2:"));
    let ran = place.run(&["nowhere"], &[]);
    assert!(err(&ran).contains("`nowhere`") && ran.status.code() == Some(1), "{}", err(&ran));
}

#[test]
fn a_failing_model_is_reported() {
    let ran =
        place().file("q.ai.yaml", "user: q\n").run(&["q", "--json"], &["#! {\"status\": 401}"]);
    assert_eq!(ran.status.code(), Some(5));
    assert_eq!(lines(&ran).last().unwrap()["type"], json!("error"));
}

#[test]
fn a_folder_can_be_searched() {
    let place = place().file("lib/deep/hello.ai.yaml", "$echo: hello\n");
    let ran = place.run(&["hello", "-s", "lib"], &[]);
    assert_eq!(out(&ran), "hello\n", "{}", err(&ran));
    assert_eq!(place.run(&["hello"], &[]).status.code(), Some(1));
}

#[test]
fn a_dry_run_shows_the_messages_and_asks_no_model() {
    let script = "---\nw: Ann\n---\nsystem: S\nuser: \"Hi {{w}}\"\n";
    let place = place().file("d.ai.yaml", script);
    let ran = place.run(&["d", "--dry-run"], &[]);
    assert_eq!((out(&ran).as_str(), ran.status.code()), ("system: S\nuser: Hi Ann\n", Some(0)));
    let ran = place.run(&["d", "--dry-run", "--json"], &[]);
    assert_eq!(lines(&ran)[0]["messages"][1], json!({"role": "user", "content": "Hi Ann"}));
    assert_eq!(lines(&ran).last().unwrap(), &json!({"type": "result", "value": null}));
}

#[test]
fn a_dry_run_shows_every_predictable_call_and_explains_the_rest() {
    let place = place()
        .file("two.ai.yaml", TWO)
        .file("json.ai.yaml", "---\noutput: {type: object}\nparameters: {response_format: {type: json}}\n---\nuser: q\n$AI\nuser: more\n")
        .file("loop.ai.yaml", "- $while: \"A != 'stop'\"\n  do:\n    - user: again\n    - assistant: \"[[A]]\"\n")
        .file("does.ai.yaml", "$exec: {id: exec, args: {program: touch, args: [made.txt]}}\nuser: \"it said {{LatestResult}}\"\n");
    let ran = place.run(&["two", "--dry-run"], &[]);
    let text = out(&ran);
    assert!(text.contains("Call 1:") && text.contains("10 plus 18?"), "{text}");
    assert!(text.contains("Call 2:") && text.contains("10 plus 12?"), "{text}");
    assert!(err(&ran).contains("<reply n>"), "{}", err(&ran));
    let ran = place.run(&["two", "--dry-run", "--json"], &[]);
    assert_eq!(lines(&ran).iter().filter(|it| it["type"] == "messages").count(), 2);
    let ran = place.run(&["json", "--dry-run"], &[]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(out(&ran).contains("Call 2:"), "{}", out(&ran));
    let ran = place.run(&["loop", "--dry-run"], &[]);
    assert!(out(&ran).contains("Call 32:") && !out(&ran).contains("Call 33:"));
    let ran = place.run(&["does", "--dry-run"], &[]);
    assert!(out(&ran).contains("it said <output of exec>"), "{}{}", out(&ran), err(&ran));
    assert!(!place.bench.work().join("made.txt").exists());
}

#[test]
fn handlers_of_a_streamed_answer_run_whether_it_is_shown_or_not() {
    let script = "---\nparameters: {stream: true}\n---\n$set: {seen: nothing}\n!fn |-\n  onPart(event, part, content) { this.seen = content }\n$on:\n  event: llmStream\n  callback: onPart\nuser: q\n$AI\n$echo: \"?='seen: ' + seen\"\n";
    let place = place().file("s.ai.yaml", script);
    for options in [&["s"][..], &["s", "--no-stream"]] {
        let ran = place.run(options, &["hello"]);
        assert_eq!(out(&ran), "seen: hello\n", "{options:?} {}", err(&ran));
    }
}

#[test]
fn a_scripts_memory_persists_to_the_next_run() {
    let place = place()
        .file("keep.ai.yaml", "---\n_id: notes\n---\n$remember: {id: fig, value: {n: 7}}\n")
        .file(
            "read.ai.yaml",
            "---\n_id: notes\n---\n$readFile: pack://fig\n$echo: \"?=LatestResult.n\"\n",
        )
        .file("other.ai.yaml", "$readFile: pack://fig\n");
    assert_eq!(place.run(&["keep"], &[]).status.code(), Some(0));
    let ran = place.run(&["./read.ai.yaml"], &[]);
    assert_eq!(out(&ran), "7\n", "{}", err(&ran));
    let ran = place.run(&["other"], &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(err(&ran).contains("pack://fig"), "{}", err(&ran));
}

#[test]
fn a_file_too_long_for_a_message_is_truncated_and_reported() {
    let long = (0..60_000).map(|n| format!("row {n}\n")).collect::<String>();
    let short = (0..8_000).map(|n| format!("row {n}\n")).collect::<String>();
    let place = place()
        .file("long.txt", &long)
        .file("short.txt", &short)
        .file("l.ai.yaml", "user: \"[[@file(long.txt)]]\"\n")
        .file("s.ai.yaml", "user: \"[[@file(short.txt)]]\"\n");
    let ran = place.run(&["l", "--dry-run"], &[]);
    assert!(err(&ran).contains("long.txt") && err(&ran).contains("256 KiB"), "{}", err(&ran));
    assert!(out(&ran).contains("left out") && out(&ran).contains("row 59999"));
    let ran = place.run(&["s", "--dry-run"], &[]);
    assert_eq!((err(&ran).as_str(), out(&ran).contains("left out")), ("", false));
    assert!(out(&ran).contains("row 4000\n"));
}

#[test]
fn a_script_runs_built_in_tools_under_the_policy() {
    let script = "---\ntools: [exec, file.list]\n---\nuser: what is here?\nassistant: \"[[A]]\"\n$echo: \"?=A\"\n";
    let place = place().file("t.ai.yaml", script).file("notes.txt", "x");
    let ran = place.run(&["t"], &["@file.list()", "there are notes"]);
    assert_eq!(out(&ran), "there are notes\n", "{}", err(&ran));
    let ran = place.run(&["t"], &["@exec(program=\"rm\", args=[\"-rf\", \"/\"])", "I could not"]);
    assert!(err(&ran).contains("exec"), "{}", err(&ran));
    assert_eq!(out(&ran), "I could not\n");
    let ran = place.run(&["t"], &["@exec(program=\"mkdir\", args=[\"made\"])", "no"]);
    assert!(!place.bench.work().join("made").exists(), "{}", err(&ran));
}

#[test]
fn a_check_runs_nothing() {
    let place = place()
        .file("ok.ai.yaml", "user: q\n$print: x\n")
        .file("wrong.ai.yaml", "user: q\n$pritn: x\n");
    let ran = place.run(&["ok", "--check"], &[]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(out(&ran).contains("ok.ai.yaml: no problems found"), "{}", out(&ran));
    let ran = place.run(&["wrong", "--check"], &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        err(&ran).contains("wrong.ai.yaml:2:1") && err(&ran).contains("$pritn"),
        "{}",
        err(&ran)
    );
}

#[test]
fn a_check_reports_a_wrong_output_with_all_other_faults() {
    let script =
        "---\noutput: {type: objekt}\nparamters: {}\n---\nuser: \"{{typo}}\"\n$nosuch: 1\n";
    let ran = place().file("s.ai.yaml", script).run(&["s", "--check"], &[]);
    for place in ["s.ai.yaml:2:16", "s.ai.yaml:3:1", "s.ai.yaml:5:7", "s.ai.yaml:6:1"] {
        assert!(err(&ran).contains(place), "{place}: {}", err(&ran));
    }
}

#[test]
fn a_check_finds_names_that_do_not_exist_in_blocks_chains_and_roles() {
    let wrong = [
        ("- $if: 1\n  then:\n    - $pritn: x\n", "3:7", "$print"),
        ("user: q\n- $for: 2\n  do:\n    - $on: {event: e}\n    - $nowhere: x\n", "5:7", "nowhere"),
        ("user: q\n-> missing(a=1)\n", "2:1", "missing"),
        ("user: q\n$echo: 1\n-> $missing\n", "3:1", "missing"),
        ("- [a, b]\n", "1:3", "A list is not an instruction"),
        ("---\nroles: {dobby: nobody-here}\n---\nuser: q\n", "", "nobody-here"),
    ];
    for (script, position, part) in wrong {
        let ran = place().file("s.ai.yaml", script).run(&["s", "--check"], &[]);
        let said = err(&ran);
        assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(1), ""), "{script}{said}");
        assert!(said.contains(position) && said.contains(part), "{script}{said}");
    }
    let right = "---\nimport: ./m.mjs\n---\n$imported: x\n-> imported\n";
    let own = "!fn |-\n  mine(a) { return a }\n$mine: 1\n-> s\n-> $mine\n";
    for script in [right, own] {
        let place = place().file("m.mjs", "export function imported() {}\n");
        let ran = place.file("s.ai.yaml", script).run(&["s", "--check"], &[]);
        assert_eq!(ran.status.code(), Some(0), "{script}{}", err(&ran));
    }
}

#[test]
fn a_check_has_nothing_against_what_is_left_open_on_purpose() {
    for script in SOUND {
        let ran = place().file("s.ai.yaml", script).run(&["s", "--check"], &[]);
        assert_eq!(ran.status.code(), Some(0), "{script}{}", err(&ran));
    }
}

#[test]
fn a_check_reports_all_wrong_shapes_of_a_head_at_once() {
    let script = "---\ninput: [a, [b], true]\nimport: [5, \"./no.js\"]\nexport: [[x]]\ntype: nosuch\nextends: nowhere\noutput: {type: objekt}\npermissions: {ai: {cal: []}}\n---\n$pritn: 1\n";
    let ran = place().file("s.ai.yaml", script).run(&["s", "--check"], &[]);
    let said = err(&ran);
    for place in ["2:12", "2:17", "3:10", "3:13", "4:10", "5:7", "6:10", "7:16", "8:20", "10:1"] {
        assert!(said.contains(&format!("s.ai.yaml:{place}:")), "{place}: {said}");
    }
    assert_eq!(said.matches("s.ai.yaml:2:12").count(), 1, "{said}");
}

#[test]
fn a_check_finds_every_planted_fault_at_its_place() {
    let mut wrong = Vec::new();
    for (script, position, part) in PLANTED {
        let place = place()
            .file("m.mjs", "export function f() {}\n")
            .file("bad.mjs", "export function f() {\n  const a = ;\n}\n")
            .file("s.ai.yaml", script);
        let ran = place.run(&["s", "--check"], &[]);
        let said = err(&ran);
        let found = said.contains(part)
            && said
                .lines()
                .any(|line| line.contains(&format!(":{position}")) || line.contains(position));
        // Warnings alone are no failure.
        let is_told = ran.status.code() == Some(i32::from(said.contains("error: ")));
        if !is_told || !found {
            wrong.push(format!("{script}  {position} {part}\n  {said}{}", out(&ran)));
        }
    }
    assert!(wrong.is_empty(), "{} not found:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_check_finds_the_faults_of_what_is_called_and_imported_once_in_their_own_files() {
    let place = place()
        .file("a.ai.yaml", "---\nimport: [\"./c.ai.yaml\"]\n---\n-> b\nuser: \"[[@b]]\"\n-> s\n")
        .file("b.ai.yaml", "$prnt: 1\nuser: \"{{given}}\"\n-> deep\n")
        .file("c.ai.yaml", "---\ninput: [x]\n---\nuser: \"{{typo}} {{x}}\"\n")
        .file("deep.ai.yaml", "usr: x\n-> a\n")
        .file("s.ai.yaml", "user: sound\n");
    let ran = place.run(&["a", "--check"], &[]);
    let said = err(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    for fault in ["b.ai.yaml:1:1", "c.ai.yaml:4:7", "deep.ai.yaml:1:1"] {
        assert_eq!(said.matches(fault).count(), 1, "{fault}: {said}");
    }
    assert_eq!(said.matches(".ai.yaml:").count(), 3, "{said}");
}

#[test]
fn a_limit_in_dollars_on_a_model_without_a_price_is_reported_once() {
    let place = place().file("s.ai.yaml", "user: q\nassistant: \"[[A]] [[B]]\"\n");
    let said = |args: &[&str]| err(&place.run(args, &["a", "b"]));
    assert_eq!(said(&["s", "--max-cost", "1"]).matches("is not known").count(), 1);
    assert!(!said(&["s"]).contains("is not known"));
}

#[test]
fn a_run_without_time_is_wrong_use() {
    let ran = place().file("s.ai.yaml", "$echo: 1\n").run(&["s", "--max-time", "0"], &[]);
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(2), ""), "{}", err(&ran));
}

#[test]
fn scripts_that_call_each_other_endlessly_end_with_the_exit_code_of_a_limit() {
    let place = place()
        .file("e.ai.yaml", "!fn |-\n  async f(e) { await this.$emit('my') }\n$on: {event: my, callback: $f}\n$emit: my\n")
        .file("t.ai.yaml", "!fn# |-\n  async tf(x) { return await this.$format(\"{{ tf(1) }}\") }\nuser: \"{{ tf(1) }}\"\n")
        .file("r.ai.yaml", "---\ntype: char\nname: A\nroles: {a: r}\n---\n---\nuser: \"@a, hi\"\n");
    for name in ["e", "t", "r"] {
        let ran = place.run(&[name], &[]);
        assert_eq!(ran.status.code(), Some(4), "{name}: {}", err(&ran));
        assert!(err(&ran).contains("would nest"), "{name}: {}", err(&ran));
    }
}

#[test]
fn a_check_reports_all_faults_in_order_and_what_a_sound_script_takes() {
    let place = place()
        .file("two.ai.yaml", "$nosuch: 1\nuser: \"{{typo}}\"\n$prnt: 2\n")
        .file("ok.ai.yaml", "---\ninput: [{lang: {required: true, description: a language}}]\n---\nuser: \"{{lang}}\"\n");
    let said = err(&place.run(&["two", "--check"], &[]));
    let places: Vec<Option<usize>> = ["1:1", "2:7", "3:1"].iter().map(|at| said.find(at)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{said}");
    assert!(said.contains("Did you mean `$print`"), "{said}");
    let ran = place.run(&["ok", "--check"], &[]);
    assert!(out(&ran).contains("lang (required): a language"), "{}", out(&ran));
}

#[test]
fn a_run_tells_of_misspelt_and_doubled_settings() {
    let place =
        place().file("s.ai.yaml", "---\nparamters: {}\ntitle: a\ntitle: b\n---\n$echo: 1\n");
    let ran = place.run(&["s"], &[]);
    assert_eq!(out(&ran), "1\n");
    assert!(err(&ran).contains("`parameters`") && err(&ran).contains("twice"), "{}", err(&ran));
}

#[test]
fn a_step_that_is_refused_or_declined_or_fails_ends_the_script_with_its_reason() {
    let exec = |call: &str| format!("$exec: {{id: exec, args: {{{call}}}}}\n$print: never\n");
    let place = place()
        .file("refused.ai.yaml", &exec("program: rm, args: ['-rf', '/']"))
        .file("declined.ai.yaml", &exec("program: mkdir, args: [made]"))
        .file("failed.ai.yaml", &exec("program: ls, args: [not-here]"))
        .file("nameless.ai.yaml", &exec("args: [made]"));
    let error = |code: i32, args: &[&str]| {
        let ran = place.run(args, &[]);
        assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(code), ""), "{}", err(&ran));
        err(&ran)
    };
    let said = error(3, &["refused", "-y"]);
    assert!(said.contains("The safety policy refuses this step of the script"), "{said}");
    let said = error(3, &["declined"]);
    assert!(said.contains("needs an approval it did not get") && said.contains("-y"), "{said}");
    assert!(!place.bench.work().join("made").exists());
    let said = error(1, &["failed"]);
    assert!(
        said.contains("failed.ai.yaml:1:1: `exec` ended with exit code 2.\nstderr:\n")
            && said.contains("not-here"),
        "{said}"
    );
    let said = error(1, &["nameless"]);
    assert!(said.contains("nameless.ai.yaml:1:1"), "{said}");
}

#[test]
fn a_script_that_is_no_text_is_named() {
    let place = place();
    fs::write(place.bench.work().join("b.ai.yaml"), b"user: \xff\xfe\n").unwrap();
    let ran = place.run(&["b"], &[]);
    assert!(err(&ran).contains("b.ai.yaml is not UTF-8 text"), "{}", err(&ran));
    let ran = place.run(&["nowhere"], &[]);
    assert!(err(&ran).contains("There is no script `nowhere`"), "{}", err(&ran));
}

#[test]
fn an_untrusted_script_can_only_send_messages() {
    let place = place().file("m.ai.yaml", "user: q\n").file("p.ai.yaml", "$print: x\n").untrusted();
    assert_eq!(out(&place.run(&["m"], &["hi"])), "hi\n");
    let ran = place.run(&["p"], &[]);
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(1), ""));
    assert!(err(&ran).contains("--trust"), "{}", err(&ran));
}

#[test]
fn files_are_read_as_assessed_steps() {
    let place = place()
        .file("note.txt", "line one\nline two\n")
        .file("s.ai.yaml", "user: |-\n  Sum up:\n  [[@file(note.txt)]]\n")
        .file("out.ai.yaml", "user: \"[[@file(/etc/shadow)]]\"\n");
    let ran = place.run(&["s", "--dry-run"], &[]);
    assert!(out(&ran).contains("line one\nline two"), "{}{}", out(&ran), err(&ran));
    let ran = place.run(&["out"], &["never"]);
    assert_eq!(ran.status.code(), Some(3));
    assert!(err(&ran).contains("-y"), "{}", err(&ran));
}

#[test]
fn a_script_runs_without_a_model_until_it_needs_one() {
    let place = place().file("a.ai.yaml", "$echo: 1\n").file("q.ai.yaml", "user: q\n");
    let run = |name: &str| place.command(&[name], None).output().unwrap();
    assert_eq!(out(&run("a")), "1\n");
    let ran = run("q");
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(5), ""));
    assert!(err(&ran).contains("--base-url"), "{}", err(&ran));
}

#[test]
fn an_unknown_option_is_a_usage_error() {
    let ran = place().file("a.ai.yaml", "$echo: 1\n").run(&["a", "--nostream"], &[]);
    assert_eq!(ran.status.code(), Some(2));
}

/// Runs the script with this text on standard input.
fn piped(place: &ScriptFixture, args: &[&str], text: &str) -> Output {
    let mut child = place
        .command(args, None)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn piped_text_is_text_and_may_stand_beside_named_arguments() {
    let script = "---\ninput: [{content: {index: 0, required: true}}, lang]\n---\n$echo: \"?='<' + content + '>' + (lang || '')\"\n";
    let both = "---\ninput: [a, b]\n---\n$echo: \"?=[a, b].join()\"\n";
    let place = place().file("e.ai.yaml", script).file("both.ai.yaml", both);
    for (args, text, made) in [
        (&["e", "-"][..], "one\n", "<one>\n"),
        (&["e", "-"], "{\"name\": \"left-pad\"}\n", "<{\"name\": \"left-pad\"}>\n"),
        (&["e", "-"], "[ ] todo\n[x] done\n", "<[ ] todo\n[x] done>\n"),
        (&["e", "-", "{lang: zh}"], "a diff", "<a diff>zh\n"),
        (&["e", "-", "{lang:", "zh}"], "a diff", "<a diff>zh\n"),
        (&["e", "{lang: zh}", "-"], "a diff", "<a diff>zh\n"),
        (&["e", "{content: two words, lang: en}"], "", "<two words>en\n"),
        (&["both", "-"], "{\"a\": 1, \"b\": 2}", "1,2\n"),
        (&["both", "-", "{b: 3}"], "{\"a\": 1, \"b\": 2}", "1,3\n"),
    ] {
        let ran = piped(&place, args, text);
        assert_eq!(out(&ran), made, "{args:?} {text}: {}", err(&ran));
    }
}

#[test]
fn a_script_that_asks_fails_where_nobody_can_answer() {
    let place = place().file("ask.ai.yaml", "$input: \"Your name?\"\n");
    let ran = place.run(&["ask"], &[]);
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(1), ""));
    assert!(err(&ran).contains("`Your name?` was not answered"), "{}", err(&ran));
    let dry = place.run(&["ask", "--dry-run"], &[]);
    assert_eq!(dry.status.code(), Some(0), "{}", err(&dry));
}

#[test]
fn the_scripts_own_messages_are_shown_with_verbose() {
    let place = place().file("q.ai.yaml", "system: S\nuser: \"2 + 2?\"\n");
    let ran = place.run(&["q", "-v"], &["4"]);
    assert_eq!((out(&ran).as_str(), err(&ran).as_str()), ("4\n", "system: S\nuser: 2 + 2?\n"));
    assert_eq!(err(&place.run(&["q"], &["4"])), "");
    let json = lines(&place.run(&["q", "-v", "--json"], &["4"]));
    assert_eq!(json[1], json!({"type": "message", "role": "user", "content": "2 + 2?"}));
}

#[test]
fn a_run_ends_when_its_time_or_its_tokens_are_spent() {
    let endless = "!fn |-\n  [js]async f() { await new Promise(r => setTimeout(r, 9000)) }\n$f\n";
    let place = place().file("endless.ai.yaml", endless);
    let place = place.file("two.ai.yaml", "user: a\nassistant: \"[[A]]\"\nuser: b\n");
    let late = place.run(&["endless", "--max-time", "1"], &[]);
    assert_eq!(late.status.code(), Some(4), "{}", err(&late));
    assert!(err(&late).contains("limits.script_timeout_s"), "{}", err(&late));
    let mut command = place.command(&["two"], None);
    let file = place.bench.root.path().join("replies.txt");
    fs::write(&file, "#! {\"usage\":[3,4]}\none\n---\ntwo").unwrap();
    command.env("AVOCET_MODEL", format!("scripted:{}", file.display()));
    let spent = command.env("AVOCET_MAX_TOKENS", "7").output().unwrap();
    assert_eq!(spent.status.code(), Some(4), "{} {}", out(&spent), err(&spent));
    assert!(err(&spent).contains("limits.tokens.run"), "{}", err(&spent));
}

#[test]
fn a_script_reads_variables_that_the_user_lists() {
    let script = "$echo: \"?=[env.HOME !== undefined, env.AVOCET_HOME === undefined].join()\"\n";
    let ran = place().file("e.ai.yaml", script).run(&["e"], &[]);
    assert_eq!(out(&ran), "true,true\n", "{}", err(&ran));
}
