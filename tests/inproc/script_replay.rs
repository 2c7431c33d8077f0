//! Runs the scripts of a folder with canned replies, and records what they ask and report.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::i18n::LocalizedText;
use avocet::protocol::{Message, StepAction, Truncation};
use avocet::script::host::{InputAnswer, InputQuestion, PackKey};
use avocet::script::manifest::input::ScriptArgs;
use avocet::script::run::RunRequest;
use avocet::script::source::{ScriptEntry, ScriptLibrary, SourceFiles};
use avocet::script::{
    AnswerPart, LocatedError, ModelCall, ProgramOutput, RunResult, ScriptEvent, ScriptHost,
    StepError, built_in, run,
};
use futures_util::FutureExt;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value, json};

/// The disk, every folder of it trusted or none.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    pub trusted: bool,
}

impl SourceFiles for Disk {
    fn read(&self, path: &Path) -> Result<Option<String>, LocalizedText> {
        Ok(std::fs::read_to_string(path).ok())
    }

    fn read_bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, LocalizedText> {
        Ok(std::fs::read(path).ok())
    }

    fn list(&self, folder: &Path) -> Vec<ScriptEntry> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut out: Vec<ScriptEntry> = entries
            .map(|entry| ScriptEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_folder: entry.path().is_dir(),
            })
            .collect();
        out.sort_by(|a, b| a.name.cmp(&b.name));
        out
    }

    fn is_trusted(&self, _: &Path) -> bool {
        self.trusted
    }
}

/// What a run asked and told.
#[derive(Clone, Debug, Default)]
pub struct HostLog {
    pub calls: Vec<ModelCall>,
    pub printed: Vec<Value>,
    pub deltas: String,
    /// The reasoning that was shown.
    pub thought: String,
    pub asked: Vec<String>,
    pub steps: Vec<StepAction>,
    pub noted: Vec<String>,
    /// The messages of the script's author.
    pub messages: Vec<String>,
    /// The questions for inputs.
    pub questions: Vec<InputQuestion>,
    /// Scripts in the order they began.
    pub called: Vec<String>,
}

/// A world with canned replies.
pub struct ReplayHost {
    pub replies: VecDeque<Value>,
    pub seen: Arc<Mutex<HostLog>>,
    /// What a person says to a question.
    pub says: bool,
    /// The user's answers to questions for inputs.
    pub answers: VecDeque<InputAnswer>,
    /// What scripts remember.
    pub kept: BTreeMap<String, Value>,
}

fn named(key: &PackKey) -> String {
    format!("{}/{}/{}", key.database, key.table, key.id)
}

impl ScriptHost for ReplayHost {
    fn call_model(
        &mut self,
        call: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>> {
        self.seen.lock().unwrap().calls.push(call);
        let Some(reply) = self.replies.pop_front() else {
            return stream::iter([Err(word("no reply is left"))]).boxed();
        };
        if let Some(status) = reply.get("status").and_then(Value::as_u64).filter(|it| *it >= 400) {
            return stream::iter([Err(word(&format!("HTTP status {status}")))]).boxed();
        }
        if reply.get("hangs").is_some() {
            return stream::pending().boxed();
        }
        let text =
            |value: &Value| Ok(AnswerPart::Text(value.as_str().unwrap_or_default().to_owned()));
        let mut parts: Vec<Result<AnswerPart, LocalizedText>> = match (&reply, reply.get("chunks"))
        {
            (Value::String(_), _) => vec![text(&reply)],
            (_, Some(Value::Array(chunks))) => chunks.iter().map(text).collect(),
            _ => vec![text(&reply["content"])],
        };
        if let Some(thought) = reply.get("reasoning_content").and_then(Value::as_str) {
            parts.insert(0, Ok(AnswerPart::Reasoning(thought.to_owned())));
        }
        let cut =
            (reply.get("finish_reason") == Some(&json!("length"))).then_some(Truncation::Length);
        parts.push(Ok(AnswerPart::Finished(cut)));
        stream::iter(parts).boxed()
    }

    fn emit(&mut self, told: ScriptEvent) {
        let mut seen = self.seen.lock().unwrap();
        match told {
            ScriptEvent::Print(value) => seen.printed.push(value),
            ScriptEvent::Delta(text) => seen.deltas.push_str(&text),
            ScriptEvent::ScriptCalled(id) => seen.called.push(id),
            ScriptEvent::Note(say) => seen.noted.push(say.to_string()),
            ScriptEvent::Reasoning(text) => seen.thought.push_str(&text),
            ScriptEvent::Message(role, text) => seen.messages.push(format!("{role}: {text}")),
            ScriptEvent::AnswerStarted(_)
            | ScriptEvent::AnswerEnded
            | ScriptEvent::ModelCallStarted
            | ScriptEvent::TokensUsed(_)
            | ScriptEvent::StepStarted(_)
            | ScriptEvent::Output(..)
            | ScriptEvent::StepFinished(_) => {}
        }
    }

    fn confirm(&mut self, question: LocalizedText) -> BoxFuture<'_, bool> {
        self.seen.lock().unwrap().asked.push(question.to_string());
        let says = self.says;
        async move { says }.boxed()
    }

    fn model_name(&self) -> Option<String> {
        Some("canned-7b".to_owned())
    }

    fn load_value(&mut self, key: PackKey) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        let found = self.kept.get(&named(&key)).cloned();
        async move { Ok(found) }.boxed()
    }

    fn store_value(
        &mut self,
        key: PackKey,
        value: Option<Value>,
    ) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        let before = match value {
            Some(value) => self.kept.insert(named(&key), value),
            None => self.kept.remove(&named(&key)),
        };
        async move { Ok(before) }.boxed()
    }

    fn ask_input(&mut self, question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        self.seen.lock().unwrap().questions.push(question);
        let answer = self.answers.pop_front();
        async move { answer }.boxed()
    }

    fn environment(&self) -> Map<String, Value> {
        [("HOME".to_owned(), json!("/home/ann"))].into_iter().collect()
    }

    fn run_step(
        &mut self,
        work: StepAction,
        permission: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        self.seen.lock().unwrap().asked.extend(permission.map(|question| question.to_string()));
        self.seen.lock().unwrap().steps.push(work.clone());
        async move {
            match work {
                StepAction::Tool { name, input } if name == "file.read" => {
                    let path = input["path"].as_str().unwrap_or_default().to_owned();
                    std::fs::read_to_string(&path)
                        .map(ProgramOutput::of_text)
                        .map_err(|error| word(&error.to_string()).into())
                }
                StepAction::Exec { program, .. } if program == "fail" => {
                    let [stdout, stderr] = ["1 failed\n", "why\n"].map(str::to_owned);
                    let output =
                        ProgramOutput { code: Some(3), stdout, stderr, ..ProgramOutput::default() };
                    Err(StepError::Exited("exec".to_owned(), Box::new(output)))
                }
                StepAction::Exec { program, args } => {
                    Ok(ProgramOutput::of_text(format!("ran {program} {}", args.join(" "))))
                }
                StepAction::Tool { name, input } if name == "task" => {
                    Ok(ProgramOutput::of_text(input.to_string()))
                }
                StepAction::Tool { name, .. } if name == "file.write" => {
                    Ok(ProgramOutput::default())
                }
                other => Err(word(&format!("{other:?}")).into()),
            }
        }
        .boxed()
    }
}

/// Any sentence, as a test says it.
fn word(text: &str) -> LocalizedText {
    avocet::i18n::Phrase { key: "test.SAID", en: "{text}", zh: "{text}" }.with("text", text)
}

/// Runs the script of a folder, with what a person would say and whether the folder is
/// trusted.
pub fn play_in(
    folder: &Path,
    script: &str,
    args: Value,
    replies: &[Value],
    (trusted, says): (bool, bool),
    answers: &[InputAnswer],
) -> (Result<RunResult, LocatedError>, HostLog) {
    let seen = Arc::new(Mutex::new(HostLog::default()));
    let host = ReplayHost {
        replies: replies.iter().cloned().collect(),
        seen: seen.clone(),
        says,
        answers: answers.iter().cloned().collect(),
        kept: BTreeMap::new(),
    };
    let library =
        ScriptLibrary::new(Arc::new(Disk { trusted }), Vec::<PathBuf>::new(), built_in::SCRIPTS);
    let order = RunRequest {
        script: script.to_owned(),
        from: folder.to_owned(),
        args: ScriptArgs::from_value(args),
        streams: true,
        asks_inputs: true,
    };
    // A debug build takes much stack for each script inside a script.
    let came = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run(order, library, Box::new(host)))
        })
        .unwrap()
        .join()
        .unwrap();
    let seen = seen.lock().unwrap().clone();
    (came, seen)
}

/// Neighbours of one role joined by a blank line, and trimmed: what cases compare.
pub fn joined<'a>(messages: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for (role, content) in messages {
        match out.last_mut() {
            Some((last, text)) if last == role => {
                text.push_str("\n\n");
                text.push_str(content);
            }
            _ => out.push((role.to_owned(), content.to_owned())),
        }
    }
    out.into_iter().map(|(role, text)| (role, text.trim().to_owned())).collect()
}

/// The messages of a call as cases compare them.
pub fn sent(messages: &[Message]) -> Vec<(String, String)> {
    let pairs: Vec<(String, String)> = messages
        .iter()
        .map(|message| {
            let role = serde_json::to_value(message.role).unwrap();
            (role.as_str().unwrap().to_owned(), message.text().into_owned())
        })
        .collect();
    joined(pairs.iter().map(|(role, text)| (role.as_str(), text.as_str())))
}
