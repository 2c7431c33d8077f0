//! What a script costs besides its model: its start, rendered messages, expressions of a loop,
//! growing lists, the start of the JavaScript engine, marks of a long text.

#![allow(clippy::unwrap_used, reason = "benches")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use avocet::i18n::LocalizedText;
use avocet::protocol::StepAction;
use avocet::script::js::{Engine, JsLimits, JsScope, JsTask, TaskOutcome};
use avocet::script::manifest::input::ScriptArgs;
use avocet::script::source::{ScriptEntry, ScriptLibrary, SourceFiles};
use avocet::script::syntax;
use avocet::script::template::{Format, render};
use avocet::script::text::MessageText;
use avocet::script::{
    AnswerPart, ModelCall, ProgramOutput, RunRequest, ScriptEvent, ScriptHost, StepError, built_in,
    run,
};
use divan::Bencher;
use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

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
        let engine = Engine::start(JsLimits::default(), CancellationToken::new()).unwrap();
        let ended = runtime.block_on(engine.compute(JsTask::eval("1"), JsScope::new()));
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(json!(1))));
    });
}

/// A loop reads its condition and adds to a value at each turn.
#[divan::bench(sample_count = 5)]
fn ten_thousand_loop_turns(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let engine = Engine::start(JsLimits::default(), CancellationToken::new()).unwrap();
    bencher.bench(|| {
        runtime.block_on(async {
            let mut scope: JsScope = data().as_object().unwrap().clone();
            scope.insert("n".to_owned(), json!(0));
            for _ in 0..10_000 {
                let task = JsTask::eval("(this.n = n + 1) < 10000");
                engine.compute(task, scope.clone()).await.changes.apply(&mut scope);
            }
            assert_eq!(scope["n"], json!(10_000));
        });
    });
}

/// The script under test, as the only file of a trusted disk.
struct OneFile(String);

impl SourceFiles for OneFile {
    fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText> {
        Ok(path.ends_with("s.ai.yaml").then(|| self.0.clone()))
    }

    fn read_bytes(&self, _: &Path) -> Result<Option<Vec<u8>>, LocalizedText> {
        Ok(None)
    }

    fn list(&self, _: &Path) -> Vec<ScriptEntry> {
        vec![ScriptEntry { name: "s.ai.yaml".to_owned(), is_folder: false }]
    }

    fn is_trusted(&self, _: &Path) -> bool {
        true
    }
}

/// A host whose model says one word.
struct OneWord;

impl ScriptHost for OneWord {
    fn call_model(
        &mut self,
        _: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>> {
        stream::iter([Ok(AnswerPart::Text("word".to_owned()))]).boxed()
    }

    fn emit(&mut self, _: ScriptEvent) {}

    fn confirm(&mut self, _: LocalizedText) -> BoxFuture<'_, bool> {
        Box::pin(future::ready(true))
    }

    fn run_step(
        &mut self,
        _: StepAction,
        _: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        Box::pin(future::ready(Ok(ProgramOutput::default())))
    }
}

fn result_of(runtime: &Runtime, script: &str) -> Value {
    let files = Arc::new(OneFile(script.to_owned()));
    let library = ScriptLibrary::new(files, Vec::<PathBuf>::new(), built_in::SCRIPTS);
    let order = RunRequest {
        script: "/bench/s.ai.yaml".to_owned(),
        from: PathBuf::from("/bench"),
        args: ScriptArgs::default(),
        streams: true,
        asks_inputs: false,
    };
    runtime.block_on(run(order, library, Box::new(OneWord))).unwrap().value
}

/// Ten thousand turns of a loop, by what each of them does.
const LOOPS: &[(&str, &str)] = &[
    ("nothing but the turn", "- $for: 10000\n  do: [1]\n$echo: 10000\n"),
    ("a plain name", "- $for: 10000\n  do: [{$set: {n: \"?=value\"}}]\n$echo: \"?=n\"\n"),
    ("one sum", "$set: {n: 0}\n- $for: 10000\n  do: [{$set: {n: \"?=n+1\"}}]\n$echo: \"?=n\"\n"),
    (
        "a condition and a sum",
        "$set: {n: 0}\n- $while: \"n < 10000\"\n  do: [{$set: {n: \"?=n+1\"}}]\n$echo: \"?=n\"\n",
    ),
    (
        "a call of a pure function",
        "$set: {n: 0}\n- $for: 10000\n  do: [{$set: {n: \"?=Math.max(n, value)\"}}]\n$echo: \"?=n\"\n",
    ),
    (
        "a template literal and two methods",
        "$set: {s: ''}\n- $for: 10000\n  do: [{$set: {s: \"?=`item ${value.toString().padStart(5, '0')}`\"}}]\n$echo: \"?=+s.slice(5)\"\n",
    ),
    (
        "a bit operation",
        "$set: {n: 0}\n- $for: 10000\n  do: [{$set: {n: \"?=value | 0\"}}]\n$echo: \"?=n\"\n",
    ),
    (
        "a power",
        "$set: {n: 0}\n- $for: 10000\n  do: [{$set: {n: \"?=value ** 1\"}}]\n$echo: \"?=n\"\n",
    ),
    (
        "a regular expression",
        "$set: {n: 0, s: item 7}\n- $for: 10000\n  do: [{$set: {n: \"?=/\\\\d/.test(s) ? value : 0\"}}]\n$echo: \"?=n\"\n",
    ),
    (
        "a function of the script",
        "!fn |-\n  same(n) { return n }\n$set: {n: 0}\n- $for: 10000\n  do: [{$set: {n: \"?=$same(value)\"}}]\n$echo: \"?=n\"\n",
    ),
];

#[divan::bench(args = 0..LOOPS.len(), sample_count = 10)]
fn loops_of_scripts(bencher: Bencher<'_, '_>, which: usize) {
    let runtime = waiting();
    let (name, script) = LOOPS[which];
    bencher.bench(|| assert_eq!(result_of(&runtime, script), json!(10_000), "{name}"));
}

#[divan::bench(sample_count = 5)]
fn thirty_thousand_pushes(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let script = "$set: {l: []}\n- $for: 30000\n  do: [{$push: {l: \"?=value * 2\"}}]\n$echo: \"?=l.length\"\n";
    bencher.bench(|| assert_eq!(result_of(&runtime, script), json!(30_000)));
}

#[divan::bench(sample_count = 5)]
fn three_thousand_pushes_of_engine_values(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let script = "$set: {l: []}\n- $for: 3000\n  do: [{$push: {l: \"?=Math.abs(value)\"}}]\n$echo: \"?=l.length\"\n";
    bencher.bench(|| assert_eq!(result_of(&runtime, script), json!(3000)));
}

#[divan::bench]
fn start_of_a_script(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let script = "---\ninput: [who]\nwho: you\n---\nsystem: S\nuser: \"Hello {{who}}\"\n";
    bencher.bench(|| assert_eq!(result_of(&runtime, script), json!("word")));
}

#[divan::bench]
fn start_of_a_script_with_a_function(bencher: Bencher<'_, '_>) {
    let runtime = waiting();
    let script = "!fn |-\n  twice(n) { return n * 2 }\n$twice(21)\n";
    bencher.bench(|| assert_eq!(result_of(&runtime, script), json!(42)));
}
