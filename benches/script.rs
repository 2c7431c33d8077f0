//! What a script costs besides its model: rendered messages, expressions of a loop, the
//! start of the JavaScript engine, marks of a long text.

#![allow(clippy::unwrap_used, reason = "benches")]

use avocet::script::js::{Engine, JsLimits, JsScope, JsTask, TaskOutcome};
use avocet::script::syntax;
use avocet::script::template::{Format, render};
use avocet::script::text::MessageText;
use divan::Bencher;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

fn main() {
    divan::main();
}

fn data() -> Value {
    let messages: Vec<Value> =
        (0..20).map(|n| json!({"role": "user", "content": format!("message {n}")})).collect();
    json!({"name": "Dobby", "lang": "English", "messages": messages})
}

const HF: &str = "{{name}}: {% if lang %}in {{lang}}{% endif %}\n{% for m in messages %}\n{{m.role}}: {{m.content}}\n{% endfor %}";
const GO: &str = "{{.name}}: {{if .lang}}in {{.lang}}{{end}}\n{{range .messages}}{{.role}}: {{.content}}\n{{end}}";

#[divan::bench(args = [Format::Hf, Format::Golang])]
fn a_thousand_message_renderings(bencher: Bencher<'_, '_>, format: Format) {
    let data = data();
    let text = if format == Format::Hf { HF } else { GO };
    bencher.bench(|| {
        for _ in 0..1000 {
            assert!(render(format, text, &data).unwrap().contains("message 19"));
        }
    });
}

#[divan::bench]
fn a_thousand_plain_messages(bencher: Bencher<'_, '_>) {
    let data = data();
    bencher.bench(|| {
        for _ in 0..1000 {
            assert_eq!(render(Format::Hf, "Hello, who are you?", &data).unwrap().len(), 19);
        }
    });
}

#[divan::bench]
fn marks_of_a_thousand_lines(bencher: Bencher<'_, '_>) {
    let text =
        "Say [[JOKE:temperature=0.1]] and [[@file(a.txt)]] then [[/a(.)/:JOKE]]\n".repeat(330);
    bencher.bench(|| MessageText::read(&text).spans().len());
}

#[divan::bench]
fn parse_of_a_thousand_lines(bencher: Bencher<'_, '_>) {
    let part = "system: \"You are {{name}}.\"\n---\nuser: |-\n  one\n  two\nassistant: \"[[A]]\"\n- $if: \"A == 'x'\"\n  then:\n    - $set: {n: \"?=n+1\"}\n-> translator(target=\"en\") -> $print\n";
    let text = part.repeat(100);
    bencher.bench(|| syntax::parse("bench.ai.yaml", &text).unwrap().body.len());
}

fn waiting() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

#[divan::bench]
fn start_of_the_engine(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    bencher.bench(|| {
        let engine = Engine::start(JsLimits::default()).unwrap();
        let ended = runtime.block_on(engine.compute(JsTask::Eval("1".to_owned()), JsScope::new()));
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(1))));
    });
}

/// A loop reads its condition and adds to a value at each turn.
#[divan::bench(sample_count = 5)]
fn ten_thousand_loop_turns(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let engine = Engine::start(JsLimits::default()).unwrap();
    bencher.bench(|| {
        runtime.block_on(async {
            let mut scope: JsScope = data().as_object().unwrap().clone();
            scope.insert("n".to_owned(), json!(0));
            for _ in 0..10_000 {
                let task = JsTask::Eval("(this.n = n + 1) < 10000".to_owned());
                engine.compute(task, scope.clone()).await.changes.apply(&mut scope);
            }
            assert_eq!(scope["n"], json!(10_000));
        });
    });
}
