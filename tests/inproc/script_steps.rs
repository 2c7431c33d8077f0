//! What a script asks the user and does by itself: inputs, steps, the environment.

use crate::script_case::case;
use avocet::protocol::StepAction;
use avocet::script::ErrorCause;
use avocet::script::host::{InputAnswer, InputForm};
use serde_json::{Value, json};

fn text(typed: &str) -> InputAnswer {
    InputAnswer::Text(typed.to_owned())
}

#[test]
fn a_script_asks_the_user_and_goes_on_with_the_answer() {
    for script in [
        "$input: \"Your name?\"\n$set: {n: \"?=LatestResult\"}\n$echo: \"#Hello {{n}}\"\n",
        "- $set: {n: \"[[@input(content='Your name?')]]\"}\n- $echo: \"#Hello {{n}}\"\n",
        "$input: {content: \"Your name?\"}\n$echo: \"#Hello {{LatestResult}}\"\n",
        "-> input(content=\"Your name?\") -> $set(n)\n$echo: \"#Hello {{n}}\"\n",
    ] {
        let ran = case(script).answers(&[text(" Ann ")]).run();
        assert_eq!(ran.value(), json!("Hello Ann"), "{script}");
        let asked = &ran.seen.questions[0];
        assert_eq!(
            (asked.text.to_string(), asked.script.as_str()),
            ("Your name?".into(), "script")
        );
    }
}

#[test]
fn an_input_in_a_message_is_the_answer() {
    let ran = case("user: \"I am [[@input]]\"\n").answers(&[text("Ann")]).replies(&["hi"]).run();
    assert_eq!(ran.sent(0), ["user: I am Ann"]);
}

#[test]
fn an_input_without_a_user_is_an_error_even_with_a_default() {
    for script in ["user: \"[[@input]]\"\n", "$input: {content: Q, value: 5}\n"] {
        let ran = case(script).run();
        assert!(ran.error().contains("was not answered"), "{}", ran.error());
        assert_eq!(ran.seen.calls.len(), 0);
    }
}

#[test]
fn an_answer_has_the_kind_that_the_script_asks_for() {
    let answer = |script: &str, answers: &[InputAnswer]| case(script).answers(answers).run();
    let number = answer("$input: {content: N, type: number}\n", &[text("many"), text("7.5")]);
    assert_eq!((number.value(), number.seen.questions.len()), (json!(7.5), 2));
    assert!(number.seen.questions[1].text.to_string().contains("number"));
    let sure = "- $if: \"[[@input(inputType='confirm', content='Sure?')]]\"\n  then: [{$ret: yes}]\n  else: [{$ret: no}]\n";
    assert_eq!(answer(sure, &[InputAnswer::Picked(0)]).value(), json!("yes"));
    assert_eq!(answer(sure, &[InputAnswer::Picked(1)]).value(), json!("no"));
    let pick = "$input: {content: Which, choices: [red, {title: Green, value: 2}]}\n";
    let picked = answer(pick, &[InputAnswer::Picked(1)]);
    let labels = vec!["red".to_owned(), "Green".to_owned()];
    assert_eq!(picked.seen.questions[0].form, InputForm::Choice { labels, free: false });
    assert_eq!(picked.value(), json!(2));
    let list = answer("$input: {content: L, inputType: list}\n", &[text("a, b，c")]);
    assert_eq!(list.value(), json!(["a", "b", "c"]));
    let some = "$input: {content: L, value: dark}\n";
    assert_eq!(answer(some, &[text("")]).value(), json!("dark"));
    assert_eq!(answer(some, &[InputAnswer::Picked(0)]).value(), json!("dark"));
    let must = answer("$input: {content: L, required: true}\n", &[text(""), text("x")]);
    assert_eq!(must.value(), json!("x"));
    let kind = answer("$input: {content: L, type: colour}\n", &[text("x")]);
    assert!(
        kind.error().contains("`colour`") && kind.error().contains("select"),
        "{}",
        kind.error()
    );
}

#[test]
fn the_public_input_script_works() {
    let lib = "---\ntype: lib\ninput:\n  - inputType\n  - content\n  - value\n---\n- $set:\n    result: $consoleInput\n- $echo: ?=result.answer\n";
    let ran = case("$echo: \"[[@ask(content='Q')]]\"\n").file("ask.ai.yaml", lib);
    assert_eq!(ran.answers(&[text("A")]).run().value(), json!("A"));
}

#[test]
fn required_inputs_that_are_missing_are_asked_for() {
    let script = "---\ninput:\n  - who: {required: true, description: whom to greet}\n  - how: {required: true, enum: [hi, bye]}\n  - n: {required: true, type: number}\n  - free\n---\n$echo: \"#{{how}} {{who}} {{n + 1}}\"\n";
    let given = case(script).args(json!({"how": "hi"}));
    let ran = given.answers(&[text("Ann"), text("4")]).run();
    assert_eq!(ran.value(), json!("hi Ann 5"));
    let asked: Vec<String> = ran.seen.questions.iter().map(|it| it.text.to_string()).collect();
    assert_eq!(asked, ["who: whom to greet", "n"]);
    let listed = case(script).answers(&[text("Ann"), InputAnswer::Picked(1), text("4")]).run();
    assert_eq!(listed.value(), json!("bye Ann 5"));
    let unanswered = case(script).answers(&[text("Ann")]).run();
    assert!(unanswered.error().contains("`how` is required"), "{}", unanswered.error());
}

#[test]
fn a_script_runs_a_program_and_writes_a_file_as_steps() {
    let run =
        case("$exec: {program: git, args: [status, -s]}\n$echo: \"#<{{LatestResult}}>\"\n").run();
    assert_eq!(run.seen.steps, [StepAction::exec("git", &["status", "-s"])]);
    assert_eq!(run.value(), json!("<ran git status -s>"));
    let js = "!fn |-\n  [js]async f() { return await $exec({program: 'ls', args: ['-l']}) }\n$f\n";
    assert_eq!(case(js).run().value(), json!("ran ls -l"));
    for script in [
        "user: q\nassistant: \"[[A]]\"\n$writeFile: {path: a.txt, content: \"?=A\"}\n",
        "user: q\nassistant: \"[[A]]\"\n$writeFile('a.txt', A)\n",
        "user: q\nassistant: \"[[A]]\"\n-> $writeFile(path='a.txt')\n",
    ] {
        let ran = case(script).replies(&["text"]).run();
        let input = json!({"path": "a.txt", "content": "text"});
        let step = StepAction::Tool { name: "file.write".into(), input };
        assert_eq!((ran.value(), &ran.seen.steps[..]), (json!("text"), &[step][..]), "{script}");
    }
    let data = case("$writeFile: {path: a.json, content: {a: [1]}}\n").run();
    let StepAction::Tool { input, .. } = &data.seen.steps[0] else {
        panic!("{:?}", data.seen.steps)
    };
    assert_eq!(input["content"], json!("{\n  \"a\": [\n    1\n  ]\n}\n"));
    assert!(case("$writeFile: {path: a.txt}\n").run().error().contains("`content`"));
}

#[test]
fn an_imported_file_runs_programs_and_reads_files_as_steps() {
    let module = "import os from 'os'\nimport { exec, execFile } from 'node:child_process'\nimport fs from 'fs/promises'\nimport { promisify } from 'util'\nimport other from 'not-installed'\n\
        export const shell = () => new Promise((resolve) => exec('ls -l | wc', (error, out) => resolve(out)))\n\
        export async function file() { return (await promisify(execFile)('git', ['status'])).stdout }\n\
        export async function read() { await fs.writeFile('b.txt', 'B'); return await fs.readFile('a.txt') }\n\
        export const about = () => [os.type(), process.platform, process.env.LANG]\n\
        export const broken = () => other.thing()\n";
    let script = |body: &str| {
        case(&format!("---\nimport: [./m.mjs]\n---\n{body}\n")).file("m.mjs", module).run()
    };
    let shell = script("$shell");
    assert_eq!(shell.seen.steps, [StepAction::exec("sh", &["-c", "ls -l | wc"])]);
    assert_eq!(shell.value(), json!("ran sh -c ls -l | wc"));
    let file = script("$file");
    assert_eq!(file.seen.steps, [StepAction::exec("git", &["status"])]);
    assert_eq!(file.value(), json!("ran git status"));
    let read = script("$read").seen.steps;
    let names: Vec<&str> = read.iter().map(StepAction::tool).collect();
    assert_eq!(names, ["file.write", "file.read"]);
    let about = script("$about").value();
    assert_eq!(about[1].as_str().map(str::is_empty), Some(false), "{about}");
    let broken = script("$broken").error();
    assert!(broken.contains("no module `not-installed`"), "{broken}");
}

#[test]
fn a_program_that_fails_leaves_its_exit_code_and_both_streams() {
    let all = json!({"code": 3, "stdout": "1 failed\n", "stderr": "why\n"});
    for exec in ["{program: fail, check: false}", "{id: exec, args: {program: fail, check: false}}"]
    {
        assert_eq!(case(&format!("$exec: {exec}\n")).run().value(), all, "{exec}");
    }
    let passed = case("$exec: {program: ls, check: false}\n").run().value();
    assert_eq!(passed, json!({"code": 0, "stdout": "ran ls ", "stderr": ""}));
    let error = case("$exec: {program: fail}\n").run().error();
    assert!(
        error.ends_with("`exec` ended with exit code 3.\nstdout:\n1 failed\nstderr:\nwhy"),
        "{error}"
    );
    let caught = "!fn |-\n  async f() { try { await this.$exec({program: 'fail'}) } catch (e) { return [e.code, e.stdout, e.stderr] } }\n$f\n";
    assert_eq!(case(caught).run().value(), json!([3, "1 failed\n", "why\n"]));
    let module = "import { exec, execFile } from 'child_process'\nimport { promisify } from 'util'\n\
        export const f = async () => { try { await promisify(execFile)('fail') } catch (e) { return [e.code, e.stdout, e.stderr] } }\n\
        export const g = () => new Promise((resolve) => execFile('fail', [], (e, out, err) => resolve([e.code, out, err])))\n";
    for name in ["f", "g"] {
        let script = format!("---\nimport: [./m.mjs]\n---\n${name}\n");
        let ran = case(&script).file("m.mjs", module).run();
        assert_eq!(ran.value(), json!([3, "1 failed\n", "why\n"]), "{name}");
    }
}

#[test]
fn a_model_reads_what_its_program_said_before_it_failed() {
    let script = "---\ntools: [exec]\n---\nuser: q\nassistant: \"[[A]]\"\n";
    let ran = case(script).replies(&["@exec(program=\"fail\")", "none", "done"]).run();
    let error = "error: `exec` ended with exit code 3.\nstdout:\n1 failed\nstderr:\nwhy";
    let second = ran.sent(1).join("\n");
    assert!(second.contains(error), "{second}");
}

#[test]
fn permissions_and_trust_hold_for_the_steps_of_a_script() {
    for (script, tool) in
        [("$exec: {program: ls}\n", "exec"), ("$writeFile: {path: a, content: b}\n", "file.write")]
    {
        let untrusted = case(script).untrusted().run();
        assert!(untrusted.error().contains("do not trust"), "{}", untrusted.error());
        let rules =
            |rule: &str| format!("---\npermissions: {{ai: {{call: [\"{rule}\"]}}}}\n---\n{script}");
        let denied = case(&rules(&format!("!{tool}"))).run();
        assert!(denied.error().contains("MethodNotAllowed"), "{}", denied.error());
        assert_eq!(denied.came.unwrap_err().cause, ErrorCause::Declined);
        assert_eq!((untrusted.seen.steps.len(), denied.seen.steps.len()), (0, 0));
        let asked = case(&rules("w*")).run();
        assert_eq!((asked.seen.asked.len(), asked.seen.steps.len()), (1, 1));
        assert_eq!(case(&rules(tool)).run().seen.asked.len(), 0);
        let mid = case("---\npermissions: {ai: {call: [mid, \"!*\"]}}\n---\n-> mid\n");
        assert!(mid.file("mid.ai.yaml", script).run().came.is_err());
    }
}

#[test]
fn a_script_reads_only_the_listed_variables_of_the_environment() {
    let value = |script: &str| case(script).run().value();
    assert_eq!(value("$echo: \"?=env.HOME\"\n"), json!("/home/ann"));
    assert_eq!(value("$echo: \"#{{env.HOME}}\"\n"), json!("/home/ann"));
    assert_eq!(value("---\nenv: mine\n---\n$echo: \"?=env\"\n"), json!("mine"));
    assert_eq!(value("$echo: \"?=env.PATH === undefined\"\n"), json!(true));
    assert_eq!(value("$echo: \"?=typeof process\"\n"), json!("undefined"));
    for script in ["user: \"[[@file($HOME/x)]]\"\n", "user: \"[[@file('~/x')]]\"\n"] {
        let ran = case(script).run();
        let path = |step: &StepAction| match step {
            StepAction::Tool { input, .. } => input["path"].clone(),
            _ => Value::Null,
        };
        assert_eq!(
            ran.seen.steps.iter().map(path).collect::<Vec<_>>(),
            ["/home/ann/x"],
            "{script}"
        );
    }
    let closed = case("user: \"[[@file($API_KEY/x)]]\"\n").run();
    assert!(
        closed.error().contains("`API_KEY`") && closed.seen.steps.is_empty(),
        "{}",
        closed.error()
    );
}
