//! `script test`: runs scripts with canned replies, and compares what comes of it.

use std::collections::VecDeque;
use std::path::Path;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::script_check::script_files;
use super::startup::{self, Startup};
use super::subcommands::print_text;
use crate::cli::Exit;
use avocet_core::i18n::{Localize, LocalizedText, script_help as phrases};
use avocet_core::protocol::{Message, Notice, StepAction};
use avocet_script::host::{InputAnswer, InputForm, InputQuestion};
use avocet_script::manifest::input::ScriptArgs;
use avocet_script::source::{ENDINGS, ScriptLibrary};
use avocet_script::{
    AnswerPart, LocatedError, ModelCall, ProgramOutput, RunRequest, RunResult, ScriptEvent,
    ScriptHost, StepError, run,
};
use avocet_session::script_host::STACK;
use avocet_session::script_turn::display_value;

/// The ending of the file with the tests of a script.
const REPLIES: &str = ".replies.json";

/// One test: what the script gets, and what must come of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ScriptTest {
    name: String,
    args: Value,
    /// The answers of the model, in their order; all but texts are sent as JSON.
    replies: VecDeque<Value>,
    /// The answers of the user.
    inputs: VecDeque<String>,
    /// What steps give: a text, or `{code, stdout, stderr}`.
    steps: VecDeque<Value>,
    expect: Expectation,
}

/// Whatever is left out may be anything; without `error` there must be none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expectation {
    result: Option<Value>,
    printed: Option<Value>,
    /// A part of the error.
    error: Option<String>,
    /// A part of each request, in their order.
    requests: Option<Vec<String>>,
}

/// A list of replies alone, one test, or several.
fn parse_tests(text: &str) -> Result<Vec<ScriptTest>, serde_json::Error> {
    match serde_json::from_str(text)? {
        Value::Array(list) if list.iter().all(|one| !one.is_object()) => {
            Ok(vec![ScriptTest { replies: list.into(), ..ScriptTest::default() }])
        }
        list @ Value::Array(_) => serde_json::from_value(list),
        one => serde_json::from_value(one).map(|one| vec![one]),
    }
}

/// Runs the tests of scripts, and of all scripts of folders.
pub fn test_scripts(
    startup: &Startup,
    named: &[String],
    library: &ScriptLibrary,
    json: bool,
) -> Exit {
    let mut all = 0;
    let mut passed = 0;
    let scripts = match script_files(startup, named, library) {
        Ok(scripts) => scripts,
        Err(failed) => return failed,
    };
    for script in scripts {
        let found = library.find(&script, &startup.folder);
        let file = found.map(|source| source.origin.file).unwrap_or(script);
        let stem = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending));
        let replies = startup.folder.join(format!("{}{REPLIES}", stem.unwrap_or(&file)));
        let tests = match library.files().read(&replies) {
            Ok(None) => continue,
            Ok(Some(text)) => parse_tests(&text).map_err(|error| error.to_string()),
            Err(why) => Err(why.text(startup.lang())),
        };
        let tests = match tests {
            Ok(tests) => tests,
            Err(why) => {
                let say = phrases::TEST_FILE.with("file", replies.display().to_string());
                return startup.fail(&Notice::error(say.with("why", why)), Exit::Failed);
            }
        };
        for (at, test) in tests.into_iter().enumerate() {
            let title = if test.name.is_empty() { (at + 1).to_string() } else { test.name.clone() };
            let fault = run_test(&startup.folder, &file, library, test);
            all += 1;
            passed += usize::from(fault.is_none());
            print_test(startup, format!("{file}: {title}"), fault, json);
        }
    }
    if all == 0 {
        return startup.fail(&Notice::error(phrases::NO_TESTS), Exit::Failed);
    }
    let said = if json {
        json!({ "type": "result", "tests": all, "passed": passed }).to_string()
    } else {
        phrases::TESTED.with("passed", passed).with("all", all).text(startup.lang())
    };
    let said = print_text(startup, &format!("{said}\n"));
    if passed < all { Exit::Failed } else { said }
}

fn print_test(startup: &Startup, name: String, text: Option<LocalizedText>, json: bool) {
    let why = text.as_ref().map(|text| text.text(startup.lang()));
    let text = if json {
        json!({ "type": "test", "name": name, "passed": why.is_none(), "why": why }).to_string()
    } else {
        let say =
            text.map_or(phrases::TEST_PASSED.into(), |why| phrases::TEST_FAILED.with("why", why));
        say.with("name", name).text(startup.lang())
    };
    print_text(startup, &(startup::clean(&text) + "\n"));
}

/// What is wrong with the run of a test, if anything is.
fn run_test(
    folder: &Path,
    script: &str,
    library: &ScriptLibrary,
    test: ScriptTest,
) -> Option<LocalizedText> {
    let ScriptTest { args, replies, inputs, steps, expect, .. } = test;
    let request = RunRequest {
        script: script.to_owned(),
        from: folder.to_owned(),
        args: ScriptArgs::from_value(args),
        streams: false,
        asks_inputs: true,
    };
    let (calls, sent) = mpsc::unbounded_channel();
    let (events, printed) = mpsc::unbounded_channel();
    let (left, unused) = mpsc::unbounded_channel();
    let host = CannedHost { replies, inputs, steps, calls, events, left };
    let library = library.clone();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        Some(runtime.block_on(run(request, library, Box::new(host))))
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).ok();
    let Some(ended) = thread.and_then(|thread| thread.join().ok().flatten()) else {
        return Some(avocet_core::i18n::session::SCRIPT_BROKE.into());
    };
    let fault = expect.fault(&ended, received(printed).into(), &received(sent));
    let unused = received(unused).iter().sum::<usize>();
    fault.or_else(|| (unused > 0).then(|| phrases::TEST_REPLIES_LEFT.with("n", unused)))
}

fn received<T>(mut from: UnboundedReceiver<T>) -> Vec<T> {
    std::iter::from_fn(|| from.try_recv().ok()).collect()
}

impl Expectation {
    fn fault(
        &self,
        ended: &Result<RunResult, LocatedError>,
        printed: Value,
        sent: &[String],
    ) -> Option<LocalizedText> {
        let differs = |what: &str, wanted: &Value, got: &Value| {
            let text = phrases::TEST_WANTED.with("what", what).with("wanted", wanted.to_string());
            text.with("got", got.to_string())
        };
        let said = ended.as_ref().err().map(|error| error.localized().to_string());
        match (&self.error, &said) {
            (None, Some(_)) => return ended.as_ref().err().map(LocatedError::localized),
            (Some(part), said) if said.as_ref().is_none_or(|said| !said.contains(part)) => {
                return Some(differs("error", &json!(part), &json!(said)));
            }
            _ => {}
        }
        let value = ended.as_ref().map_or(Value::Null, |done| done.value.clone());
        let pairs = [("result", &self.result, value), ("printed", &self.printed, printed)];
        let differing = pairs.iter().find_map(|(what, wanted, got)| {
            let wanted = wanted.as_ref().filter(|wanted| *wanted != got)?;
            Some(differs(what, wanted, got))
        });
        let is_sent = |parts: &Vec<String>| {
            let is_in = |(part, sent): (&String, &String)| sent.contains(part.as_str());
            parts.len() == sent.len() && parts.iter().zip(sent).all(is_in)
        };
        let missing = self.requests.as_ref().filter(|parts| !is_sent(parts));
        differing.or(missing.map(|parts| differs("requests", &json!(parts), &json!(sent))))
    }
}

/// A host that has nothing but the answers of a test: no model, no step, no user.
struct CannedHost {
    replies: VecDeque<Value>,
    inputs: VecDeque<String>,
    steps: VecDeque<Value>,
    calls: UnboundedSender<String>,
    events: UnboundedSender<Value>,
    /// Gets the number of replies that were not used.
    left: UnboundedSender<usize>,
}

impl Drop for CannedHost {
    fn drop(&mut self) {
        // The test waits for it.
        let _ = self.left.send(self.replies.len());
    }
}

fn used_up(kind: &str) -> LocalizedText {
    phrases::TEST_NOTHING_LEFT.with("kind", kind)
}

impl ScriptHost for CannedHost {
    fn call_model(
        &mut self,
        call: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>> {
        let line = |message: &Message| {
            format!("{}: {}", display_value(&json!(message.role)), message.text())
        };
        let lines: Vec<String> = call.messages.iter().map(line).collect();
        // The test waits for it.
        let _ = self.calls.send(lines.join("\n"));
        let Some(reply) = self.replies.pop_front() else {
            return stream::iter([Err(used_up("replies"))]).boxed();
        };
        let answer = AnswerPart::Text(display_value(&reply));
        stream::iter([Ok(answer), Ok(AnswerPart::Finished(None))]).boxed()
    }

    fn emit(&mut self, event: ScriptEvent) {
        if let ScriptEvent::Print(value) = event {
            // The test waits for it.
            let _ = self.events.send(value);
        }
    }

    fn confirm(&mut self, _: LocalizedText) -> BoxFuture<'_, bool> {
        future::ready(true).boxed()
    }

    fn ask_input(&mut self, question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        let answer = self.inputs.pop_front().map(|text| match question.form {
            InputForm::Choice { labels, .. } if labels.contains(&text) => {
                InputAnswer::Picked(labels.iter().position(|it| *it == text).unwrap_or_default())
            }
            InputForm::Confirm => InputAnswer::Picked(usize::from(text != "yes")),
            _ => InputAnswer::Text(text),
        });
        future::ready(answer).boxed()
    }

    fn run_step(
        &mut self,
        action: StepAction,
        _: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        let step = self.steps.pop_front().ok_or_else(|| StepError::from(used_up("steps")));
        let done = step.and_then(|value| {
            let Value::Object(output) = &value else {
                return Ok(ProgramOutput::of_text(display_value(&value)));
            };
            let text = |name| output.get(name).map(display_value).unwrap_or_default();
            let code = output.get("code").map_or(Some(0), Value::as_i64);
            let code = code.and_then(|code| i32::try_from(code).ok());
            let (stdout, stderr) = (text("stdout"), text("stderr"));
            let output = ProgramOutput { code, stdout, stderr, ..ProgramOutput::default() };
            match code {
                Some(0) => Ok(output),
                _ => Err(StepError::Exited(action.tool().to_owned(), Box::new(output))),
            }
        });
        future::ready(done).boxed()
    }
}
