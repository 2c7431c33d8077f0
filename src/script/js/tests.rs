//! The engine from outside: values, functions, modules, requests, and every limit.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::ScriptError;

fn engine() -> Engine {
    Engine::start(JsLimits::default(), CancellationToken::new()).unwrap()
}

fn scope(value: Value) -> JsScope {
    value.as_object().unwrap().clone()
}

async fn eval_in(engine: &Engine, expr: &str, values: Value) -> TaskEnd {
    engine.compute(JsTask::eval(expr), scope(values)).await
}

async fn eval(expr: &str, values: Value) -> Result<TaskOutcome, ScriptError> {
    eval_in(&engine(), expr, values).await.outcome
}

async fn value(expr: &str, values: Value) -> Value {
    match eval(expr, values).await {
        Ok(TaskOutcome::Value(value)) => value,
        other => panic!("{expr}: {other:?}"),
    }
}

async fn define(engine: &Engine, name: &str, source: &str) {
    let task = JsTask::Define { name: name.to_owned(), source: source.to_owned() };
    assert_eq!(
        engine.compute(task, JsScope::new()).await.outcome,
        Ok(TaskOutcome::Value(json!(true))),
        "{source}"
    );
}

async fn call(engine: &Engine, name: &str, args: Value) -> Result<TaskOutcome, ScriptError> {
    let args = args.as_array().unwrap().clone();
    engine.compute(JsTask::Call { name: name.to_owned(), args }, JsScope::new()).await.outcome
}

/// ISDK-151: expressions see the values of the script.
#[tokio::test]
async fn isdk_151_an_expression_sees_the_values_by_name_and_through_this() {
    let values = json!({"lang": "zh", "list": [1, 2], "prompt": {"a": {"b": 1}}, "class": 1});
    assert_eq!(value("23+5", json!({})).await, json!(28));
    assert_eq!(
        value("this.lang + lang + list.length + prompt.a.b", values.clone()).await,
        json!("zhzh21")
    );
    assert_eq!(value("{a: 1, b: [lang]}", values.clone()).await, json!({"a": 1, "b": ["zh"]}));
    assert_eq!(value("list.map(x => x * 2) // twice", values.clone()).await, json!([2, 4]));
    assert_eq!(value("await Promise.resolve(list)", values.clone()).await, json!([1, 2]));
    assert_eq!(value("Object.keys(this).length", values.clone()).await, json!(4));
    assert_eq!(value("typeof nothing", values).await, json!("undefined"));
}

#[tokio::test]
async fn a_result_that_is_not_a_value_is_reported_without_an_error() {
    assert_eq!(
        eval("nothing + 1", json!({})).await,
        Ok(TaskOutcome::Unknown("nothing".to_owned()))
    );
    assert_eq!(eval("file.txt", json!({})).await, Ok(TaskOutcome::Unknown("file".to_owned())));
    assert_eq!(
        eval("await nothing", json!({})).await,
        Ok(TaskOutcome::Unknown("nothing".to_owned()))
    );
    assert_eq!(eval("this.nothing", json!({})).await, Ok(TaskOutcome::Undefined));
    assert!(matches!(eval("two words", json!({})).await, Ok(TaskOutcome::Invalid(_))));
    assert!(matches!(eval("", json!({})).await, Ok(TaskOutcome::Invalid(_))));
    let Ok(TaskOutcome::Function(name)) = eval("x => x", json!({})).await else { panic!() };
    assert!(name.starts_with("fn#"));
    let fault = eval("this.nothing.x", json!({})).await.unwrap_err();
    assert!(fault.to_string().starts_with("JavaScript failed: TypeError"), "{fault}");
    assert!(
        eval("(() => { throw 'plain' })()", json!({}))
            .await
            .unwrap_err()
            .to_string()
            .contains("plain")
    );
}

#[tokio::test]
async fn a_changed_value_comes_back_once() {
    let engine = engine();
    let ended = eval_in(
        &engine,
        "(this.n = n + 1, this.list.push(3), delete this.old, n)",
        json!({"n": 1, "list": [1], "old": 0, "same": {}}),
    )
    .await;
    assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(2))));
    assert_eq!(ended.changes.set, [("n".to_owned(), json!(2)), ("list".to_owned(), json!([1, 3]))]);
    assert_eq!(ended.changes.removed, ["old"]);
    let mut after = scope(json!({"n": 1, "list": [1], "old": 0}));
    ended.changes.apply(&mut after);
    let ended = engine.compute(JsTask::eval("[n, list, this.old]"), after).await;
    assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!([2, [1, 3], null]))));
    assert!(ended.changes.is_empty());
    let ended = eval_in(&engine, "this.n", json!({})).await;
    assert_eq!(ended.outcome, Ok(TaskOutcome::Undefined));
}

/// ISDK-164, 165: every way to write a function.
#[tokio::test]
async fn isdk_165_every_way_to_write_a_function_is_accepted() {
    let engine = engine();
    for source in [
        "add({a, b = 3}) { return a + b }",
        "function add({a, b = 3}) { return a + b }",
        "async add({a, b = 3}) { await null; return a + b }",
        "async function add({a, b = 3}) { return a + b }",
        "({a, b = 3}) { return a + b }",
        "({a, b = 3}) => a + b",
        "async ({a, b = 3}) => a + b",
        "o => o.a + (o.b ?? 3)",
        "// a note\n/* and more */ add({a, b = 3}) { return a + b } // end",
        "delete({a, b = 3}) { return a + b }",
    ] {
        define(&engine, "add", source).await;
        assert_eq!(
            call(&engine, "add", json!([{"a": 1}])).await,
            Ok(TaskOutcome::Value(json!(4))),
            "{source}"
        );
    }
    define(&engine, "sum", "sum(a, b) { return a + b }").await;
    assert_eq!(call(&engine, "sum", json!([1, 2])).await, Ok(TaskOutcome::Value(json!(3))));
    define(&engine, "twice", "twice(a) { return $sum(a, this.$sum(a, 0)) }").await;
    assert_eq!(call(&engine, "twice", json!([2])).await, Ok(TaskOutcome::Value(json!(4))));
    assert_eq!(
        eval_in(&engine, "$sum(1, $twice(2)) + 1", json!({})).await.outcome,
        Ok(TaskOutcome::Value(json!(6)))
    );
    assert_eq!(call(&engine, "nope", json!([])).await, Ok(TaskOutcome::Unknown("nope".to_owned())));
    let task = JsTask::Define { name: "bad".to_owned(), source: "bad( {".to_owned() };
    assert!(
        engine
            .compute(task, JsScope::new())
            .await
            .outcome
            .unwrap_err()
            .to_string()
            .contains("SyntaxError")
    );
}

#[tokio::test]
async fn a_returned_function_can_be_called_by_its_name() {
    let engine = engine();
    let Ok(TaskOutcome::Function(name)) = eval_in(&engine, "n => n + 1", json!({})).await.outcome
    else {
        panic!()
    };
    assert_eq!(call(&engine, &name, json!([1])).await, Ok(TaskOutcome::Value(json!(2))));
}

/// ISDK-118, 119: modules and their names.
#[tokio::test]
async fn isdk_118_a_module_exports_its_functions() {
    let engine = engine();
    let ok = |value: Value| Ok(TaskOutcome::Value(value));
    let module = |id: &str, kind, source: &str| JsTask::Module {
        id: id.to_owned(),
        kind,
        file: String::new(),
        source: source.to_owned(),
    };
    let listed = json!({"functions": ["one", "two"], "values": ["n"]});
    for (id, source) in [
        (
            "a",
            "let seen = 0\nexport function one(x) { seen += x; return seen }\nexport const two = () => 2, n = 1",
        ),
        ("b", "let seen = 0\nexports.one = x => seen += x\nexports.two = () => 2\nexports.n = 1"),
        ("c", "let seen = 0\nmodule.exports = { one: x => seen += x, two() { return 2 }, n: 1 }"),
    ] {
        let ended = engine.compute(module(id, ModuleKind::Auto, source), JsScope::new()).await;
        assert_eq!(ended.outcome, ok(listed.clone()), "{id}");
        assert_eq!(call(&engine, &format!("{id}.one"), json!([2])).await, ok(json!(2)));
        assert_eq!(call(&engine, &format!("{id}.one"), json!([2])).await, ok(json!(4)));
        let bind = JsTask::Bind { name: "lib".to_owned(), to: id.to_owned() };
        assert!(engine.compute(bind, JsScope::new()).await.outcome.is_ok());
        assert_eq!(eval_in(&engine, "$lib.two()", json!({})).await.outcome, ok(json!(2)));
        let bind = JsTask::Bind { name: "uno".to_owned(), to: format!("{id}.one") };
        assert!(engine.compute(bind, JsScope::new()).await.outcome.is_ok());
        assert_eq!(eval_in(&engine, "$uno(0)", json!({})).await.outcome, ok(json!(4)));
    }
    let plain = engine
        .compute(
            module("d", ModuleKind::Auto, "function one() {}\nasync function two() {}"),
            JsScope::new(),
        )
        .await;
    assert_eq!(plain.outcome, ok(json!({"functions": ["one", "two"], "values": []})));
    let import = "import path, { join as j } from 'node:path'\nexport function one() { return path.basename(j('a', 'b')) }";
    let imported = engine.compute(module("e", ModuleKind::Module, import), JsScope::new()).await;
    assert!(imported.outcome.is_ok());
    assert_eq!(call(&engine, "e.one", json!([])).await, ok(json!("b")));
}

#[tokio::test]
async fn a_module_that_fails_is_an_error_and_the_engine_stays_usable() {
    let engine = engine();
    for bad in [
        "import fs from 'fs'\nexport const x = fs.readFileSync('x')",
        "const { readFileSync } = require('fs'); readFileSync('x')",
        "const { execSync } = require('node:child_process'); execSync('ls')",
        "export function {",
        "throw new Error('no')",
        "export const a = 1; await new Promise(() => {})",
    ] {
        let task = JsTask::Module {
            id: "x".to_owned(),
            kind: ModuleKind::Auto,
            file: String::new(),
            source: bad.to_owned(),
        };
        let ended = engine.compute(task, JsScope::new()).await;
        assert!(ended.outcome.is_err(), "{bad}");
    }
    let next = eval_in(&engine, "1", json!({})).await.outcome;
    assert_eq!(next, Ok(TaskOutcome::Value(json!(1))));
}

#[tokio::test]
async fn the_path_module_is_built_in() {
    let engine = engine();
    let task = JsTask::Module {
        id: "path".to_owned(),
        kind: ModuleKind::Builtin,
        file: String::new(),
        source: "path".to_owned(),
    };
    let ended = engine.compute(task, JsScope::new()).await;
    assert_eq!(
        ended.outcome,
        Ok(TaskOutcome::Value(
            json!({"functions": ["basename", "dirname", "extname", "join", "normalize", "isAbsolute", "resolve", "relative", "parse", "format"], "values": ["sep", "delimiter"]})
        ))
    );
    for (expr, made) in [
        ("$path.basename('/x/y.txt')", "y.txt"),
        ("$path.basename('/x/y.txt', '.txt')", "y"),
        ("$path.dirname('/x/y.txt')", "/x"),
        ("$path.dirname('/x')", "/"),
        ("$path.dirname('x')", "."),
        ("$path.extname('a/b.tar.gz')", ".gz"),
        ("$path.extname('.rc')", ""),
        ("$path.join('a', '..', '/b/', './c')", "b/c"),
        ("$path.join('/a', '../../b')", "/b"),
        ("$path.join()", "."),
    ] {
        assert_eq!(
            eval_in(&engine, expr, json!({})).await.outcome,
            Ok(TaskOutcome::Value(json!(made))),
            "{expr}"
        );
    }
}

#[tokio::test]
async fn a_runtime_call_is_plain_data_and_the_engine_serves_other_runs_meanwhile() {
    let engine = engine();
    define(&engine, "work", "async work(a) { this.seen = a; const b = await this.$load({id: a}, [1]); return b + this.given }").await;
    let mut run = engine
        .run(JsTask::Call { name: "work".to_owned(), args: vec![json!("x")] }, JsScope::new());
    let TaskEvent::Call(want) = run.next().await else { panic!("it wants `load`") };
    assert_eq!((want.name.as_str(), want.args), ("load", vec![json!({"id": "x"}), json!([1])]));
    assert_eq!(want.changes.set, [("seen".to_owned(), json!("x"))]);
    assert_eq!(
        eval_in(&engine, "this.seen", json!({"seen": "x"})).await.outcome,
        Ok(TaskOutcome::Value(json!("x")))
    );
    run.answer(want.id, Ok(json!("y")), scope(json!({"given": "z"})));
    let TaskEvent::Ended(ended) = run.next().await else { panic!() };
    assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!("yz"))));
}

#[tokio::test]
async fn a_rejected_call_can_be_caught_and_several_can_run_at_once() {
    let engine = engine();
    let text =
        "Promise.all([$a(1), this.$agent.interact({message: 'm'}), $b().catch(e => e.message)])";
    let mut run = engine.run(JsTask::eval(text), JsScope::new());
    let mut names = Vec::new();
    let got = loop {
        match run.next().await {
            TaskEvent::Call(want) => {
                let result = if want.name == "b" {
                    Err(json!({ "message": "no b" }))
                } else {
                    Ok(json!(want.name))
                };
                run.answer(want.id, result, JsScope::new());
                names.push(want.name);
            }
            TaskEvent::Ended(ended) => break ended.outcome,
            TaskEvent::Log(_) => {}
        }
    };
    assert_eq!(names, ["a", "agent.interact", "b"]);
    assert_eq!(got, Ok(TaskOutcome::Value(json!(["a", "agent.interact", "no b"]))));
}

#[tokio::test]
async fn logged_lines_are_reported() {
    let engine = engine();
    let mut run = engine.run(JsTask::eval("console.log('a', {b: 1}, 2)"), JsScope::new());
    assert_eq!(run.next().await, TaskEvent::Log("a {\"b\":1} 2".to_owned()));
    assert!(matches!(
        run.next().await,
        TaskEvent::Ended(TaskEnd { outcome: Ok(TaskOutcome::Undefined), .. })
    ));
}

#[tokio::test]
async fn no_host_api_is_defined() {
    for name in [
        "process",
        "require",
        "fetch",
        "std",
        "os",
        "Deno",
        "XMLHttpRequest",
        "WebAssembly",
        "navigator",
        "scriptArgs",
        "print",
    ] {
        assert_eq!(value(&format!("typeof {name}"), json!({})).await, json!("undefined"), "{name}");
    }
    assert!(eval("import('fs')", json!({})).await.is_err());
    assert_eq!(value("Object.keys(globalThis).includes('console')", json!({})).await, json!(false));
}

/// A short time limit only where time is the limit under test.
fn tight_limits(sentence: &str) -> JsLimits {
    let time = if sentence.contains("0.2 s") {
        Duration::from_millis(200)
    } else {
        Duration::from_secs(20)
    };
    JsLimits { memory: 16 * 1024 * 1024, stack: 256 * 1024, time }
}

#[tokio::test]
async fn a_stopped_run_ends_what_it_computes_without_waiting_for_the_limit() {
    let stop = CancellationToken::new();
    let limits = JsLimits { time: Duration::from_secs(600), ..JsLimits::default() };
    let engine = Engine::start(limits, stop.clone()).unwrap();
    stop.cancel();
    assert!(eval_in(&engine, "(() => { for (;;) {} })()", json!({})).await.outcome.is_err());
}

#[tokio::test]
async fn every_limit_has_its_own_error_and_the_engine_stays_usable() {
    let time = "ran for longer than 0.2 s";
    for (expr, sentence) in [
        ("(() => { for (;;) {} })()", time),
        ("(() => { try { for (;;) {} } catch { return 1 } finally { return 2 } })()", time),
        ("/^(a+)+$/.test('a'.repeat(40) + 'b')", time),
        ("'x'.repeat(200).replace(/(x+x+)+y/, '')", time),
        (
            "(() => { const l = []; for (;;) l.push('x'.repeat(100000) + l.length) })()",
            "more than 16 MiB",
        ),
        ("'x'.repeat(500000000)", "more than 16 MiB"),
        ("new Array(5000000).fill('x').join('y').length", "more than 16 MiB"),
        ("(function f() { return f() + 1 })()", "too deep"),
        ("(async function f() { return await f() + 1 })()", "too deep"),
        ("new Promise(() => {})", "will never settle"),
        ("((a) => { a.a = a; return a })({})", "circular"),
        ("(this.x = {}, this.x.x = x, 1)", "`x` cannot be kept"),
        ("this.x = ((a) => { a.a = a; return a })({})", "circular"),
    ] {
        let engine = Engine::start(tight_limits(sentence), CancellationToken::new()).unwrap();
        let fault = eval_in(&engine, expr, json!({})).await.outcome.expect_err(expr);
        assert!(fault.to_string().contains(sentence), "{expr}: {fault}");
        let next = eval_in(&engine, "1 + 1", json!({})).await.outcome;
        assert_eq!(next, Ok(TaskOutcome::Value(json!(2))), "{expr}");
    }
}

#[tokio::test]
async fn endless_jobs_stop_the_engine_with_an_error() {
    let engine = Engine::start(tight_limits("0.2 s"), CancellationToken::new()).unwrap();
    // Two endless jobs: if the clock is noticed inside a job, only that job ends, and with the last
    // of them the engine would be free again.
    let endless = "(() => { const go = async () => { for (;;) await 0 }; go(); return go() })()";
    let fault = eval_in(&engine, endless, json!({})).await.outcome.unwrap_err();
    assert!(fault.to_string().contains("0.2 s"), "{fault}");
    let fault = eval_in(&engine, "1", json!({})).await.outcome.unwrap_err();
    assert!(fault.to_string().contains("Run the script again"), "{fault}");
}

#[tokio::test]
async fn a_value_that_is_too_large_is_rejected() {
    let limits = JsLimits { memory: 256 * 1024 * 1024, ..JsLimits::default() };
    let engine = Engine::start(limits, CancellationToken::new()).unwrap();
    let fault =
        eval_in(&engine, "'x'.repeat(17 * 1024 * 1024)", json!({})).await.outcome.unwrap_err();
    assert!(fault.to_string().contains("larger than"), "{fault}");
}

#[tokio::test]
async fn names_of_object_properties_are_ordinary_variable_names() {
    let values = json!({"__proto__": {"x": 1}, "constructor": 2, "then": 3, "toString": 4, "hasOwnProperty": 5});
    assert_eq!(
        value("[constructor, then, toString, hasOwnProperty, this.__proto__.x]", values).await,
        json!([2, 3, 4, 5, 1])
    );
    assert_eq!(eval("this", json!({"a": 1})).await, Ok(TaskOutcome::Value(json!({"a": 1}))));
}

#[tokio::test]
async fn usual_expressions_have_their_value_and_change_nothing() {
    let values = json!({
        "n": 4, "half": 0.5, "minus": -3, "s": "ab", "empty": "", "words": " one, two , three ",
        "list": [1, [2, 3], "x"], "map": {"a": 1, "deep": {"b": [5]}}, "nil": null,
        "people": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 4}],
    });
    let engine = engine();
    for (text, value) in [
        ("n+1", json!(5)),
        ("s == 'ab' && !empty", json!(true)),
        ("list.length > 2 ? 'many' : 'few'", json!("many")),
        ("map.deep.b[0] * 2", json!(10)),
        ("'no. ' + n", json!("no. 4")),
        ("this.n % 3 === 1", json!(true)),
        ("people.filter(p => p.age > 18).map(p => p.name).join(', ')", json!("Ann")),
        ("people.find(p => p.name === 'Cid')?.age ?? 'nobody'", json!("nobody")),
        ("`${s}: ${list.length}`", json!("ab: 3")),
        ("words.trim().split(',').length", json!(3)),
        ("Math.max(n, half) + Math.round(2.5)", json!(7)),
        ("JSON.stringify({n, s})", json!("{\"n\":4,\"s\":\"ab\"}")),
        ("people.reduce((sum, p) => sum + p.age, 0)", json!(35)),
        ("{...map, b: 2}.b", json!(2)),
        ("Object.entries(map).map(([key]) => key)", json!(["a", "deep"])),
        ("(~minus << 4 | 3) & 255", json!(35)),
        ("/^\\w+$/.test(s) ? n : 0", json!(4)),
        ("s.at(-1) + typeof nil", json!("bobject")),
        ("[n, s].map(n => n + 1)", json!([5, "ab1"])),
        ("isNaN(words) ? 'no' : 'yes'", json!("no")),
    ] {
        let ended = eval_in(&engine, text, values.clone()).await;
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(value)), "{text}");
        assert!(ended.changes.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_name_that_gets_or_loses_its_value_between_two_turns_is_read_anew() {
    let engine = engine();
    for _ in 0..2 {
        let ended = eval_in(&engine, "~n + 0", json!({})).await;
        assert_eq!(ended.outcome, Ok(TaskOutcome::Unknown("n".to_owned())));
        let ended = eval_in(&engine, "~n + 0", json!({"n": 4})).await;
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(-5))));
    }
}

#[tokio::test]
async fn a_function_is_called_once_and_what_it_logs_and_throws_is_reported() {
    let engine = engine();
    define(
        &engine,
        "count",
        "count(n) { count.total = (count.total || 0) + n; return [count.total] }",
    )
    .await;
    for expected in [1, 2, 3] {
        let ended = eval_in(&engine, "$count(n)", json!({"n": 1})).await;
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!([expected]))));
    }
    define(&engine, "later", "async later(n) { await null; return n }").await;
    let ended = eval_in(&engine, "$later(n)", json!({"n": 3})).await;
    assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(3))));
    define(&engine, "say", "say(n) { console.log('said', n); return n }").await;
    let mut run = engine.run(JsTask::eval("$say(n)"), scope(json!({"n": 3})));
    assert_eq!(run.next().await, TaskEvent::Log("said 3".to_owned()));
    define(&engine, "fail", "fail(n) {\n  throw new Error('no ' + n)\n}").await;
    let ended = eval_in(&engine, "$fail(n)", json!({"n": 3})).await;
    assert!(ended.outcome.unwrap_err().to_string().contains("no 3"));
    assert_eq!(ended.place.unwrap().line, 2);
}

#[tokio::test]
async fn a_function_that_is_declared_anew_takes_the_place_of_the_old_one() {
    let engine = engine();
    for (source, expected) in
        [("f(n) { return n }", 1), ("f(n) { return -n }", -1), ("f(n) { return n + this.x }", 6)]
    {
        define(&engine, "f", source).await;
        let ended = eval_in(&engine, "$f(n)", json!({"n": 1, "x": 5})).await;
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(expected))));
    }
}
