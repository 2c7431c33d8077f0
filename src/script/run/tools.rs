//! Tools by text: the model is told which scripts there are, names the calls it wants,
//! they are run, and the answer is made from what they gave. Any model can do that.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::fault::quoted;
use super::super::shape::input::Args;
use super::super::shape::{Export, Kind, Shape};
use super::super::tool_text::{self, Call, Help, Param};
use super::answer::{Reply, Wish};
use super::calls::Passed;
use super::talk::Parts;
use super::values::{merge, text_of};
use super::{Frame, Halt, Run};
use crate::protocol::Message;
use crate::words::script_run as words;

/// Most tools of one script, most calls of one answer, most rounds of calls.
const MOST_TOOLS: usize = 100;
const MOST_CALLS: usize = 20;
const MOST_ROUNDS: usize = 5;
/// Longest result of one call that goes to the model, in characters.
const LONGEST: usize = 20_000;

/// A script the model may call.
#[derive(Clone, Debug)]
pub struct Tool {
    pub id: String,
    pub title: String,
    pub defaults: Map<String, Value>,
    pub triggers: Vec<String>,
    pub keywords: Vec<String>,
    pub shape: Arc<Shape>,
}

/// The events of a script at which a tool can run without the model's wish.
const STARTUP: &str = "AtStartup";
const SHUTDOWN: &str = "BeforeShutdown";
const AFTER_USER: &str = "AfterUserMessage";
const AFTER_AI: &str = "AfterAIResponse";
const KEYWORD: &str = "Keyword";

impl Run {
    /// Answers the user's last message with the help of tools; `None` when the model
    /// wants none, or there are none.
    pub async fn with_tools(
        &mut self,
        frame: &mut Frame,
        end: usize,
    ) -> Result<Option<Reply>, Halt> {
        let asked = end.checked_sub(1).and_then(|at| frame.talk.lines.get(at));
        let Some(said) = asked.filter(|line| line.role == "user").map(|line| line.text()) else {
            return Ok(None);
        };
        let tools = self.tools(frame, &said).await?;
        if tools.is_empty() {
            return Ok(None);
        }
        let mut calls: Vec<String> = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for tool in tools.iter().filter(|tool| tool.fires(AFTER_USER) || tool.sees(&said)) {
            let mut args = json!({ "message": said });
            if tool.fires(KEYWORD) {
                args["keyword"] =
                    tool.keywords.iter().find(|word| said.contains(*word)).cloned().into();
            }
            self.run_tool(frame, tool, args, &mut calls, &mut results).await?;
        }
        let free: Vec<&Tool> = tools.iter().filter(|tool| tool.is_free()).collect();
        let mode = frame.values.option("run_mode").map(|mode| text_of(&mode)).unwrap_or_default();
        let rounds = if matches!(mode.as_str(), "cascaded" | "planer") { MOST_ROUNDS } else { 1 };
        for _ in 0..rounds {
            if free.is_empty() {
                break;
            }
            let wanted = self.wanted_calls(frame, end, &free, &calls, &results).await?;
            if wanted.is_empty() {
                break;
            }
            for call in wanted {
                let Some(tool) = free.iter().find(|tool| tool.id == call.id) else { continue };
                let given = Value::Object(tool.help().named(&call));
                self.run_tool(frame, tool, given, &mut calls, &mut results).await?;
            }
        }
        let reply = match calls.is_empty() {
            true => None,
            false => {
                let mut sent = self.sent(frame, end, None, &Parts::default());
                sent.push(Message::assistant(calls.join("\n")));
                sent.push(Message::user(results.join("\n")));
                Some(self.complete(frame, sent, Wish::default()).await?)
            }
        };
        if let Some(reply) = &reply {
            for tool in tools.iter().filter(|tool| tool.fires(AFTER_AI)) {
                let args = json!({ "message": reply.text });
                let (mut calls, mut results) = (Vec::new(), Vec::new());
                self.run_tool(frame, tool, args, &mut calls, &mut results).await?;
            }
        }
        Ok(reply)
    }

    /// Asks the model which calls it wants.
    async fn wanted_calls(
        &mut self,
        frame: &mut Frame,
        end: usize,
        tools: &[&Tool],
        calls: &[String],
        results: &[String],
    ) -> Result<Vec<Call>, Halt> {
        let mut sent: Vec<Message> = self.sent(frame, end, None, &Parts::default());
        sent.retain(|message| message.role != crate::protocol::Role::System);
        sent.insert(0, Message::system(help(tools)));
        if !calls.is_empty() {
            sent.push(Message::assistant(calls.join("\n")));
            sent.push(Message::user(results.join("\n")));
        }
        let wish = Wish { quiet: true, ..Wish::default() };
        let reply = self.complete(frame, sent, wish).await?;
        // The helper's own call does not count as an answer of the script.
        frame.talk.calls = frame.talk.calls.saturating_sub(1);
        let mut wanted = tool_text::calls(&reply.text, |id| tools.iter().any(|tool| tool.id == id));
        wanted.truncate(MOST_CALLS);
        Ok(wanted)
    }

    async fn run_tool(
        &mut self,
        frame: &mut Frame,
        tool: &Tool,
        given: Value,
        calls: &mut Vec<String>,
        results: &mut Vec<String>,
    ) -> Result<(), Halt> {
        let mut args = tool.defaults.clone();
        if let Value::Object(given) = given {
            merge(&mut args, given);
        }
        let help = tool.help();
        let shown = args.iter().filter(|(name, _)| {
            !help.params.iter().any(|it| it.name == **name && it.is_hidden_in_result())
        });
        let shown = shown.map(|(name, value)| (Some(name.clone()), value.clone()));
        calls.push(Call { id: tool.id.clone(), args: shown.collect() }.text());
        let given = args.clone();
        // What is forbidden is not tried in another way: the script is over.
        self.permit(frame, &tool.id, &args).await?;
        let args = Args { by_place: Vec::new(), named: args };
        let result = match Box::pin(self.shape(frame, tool.shape.clone(), args)).await {
            Ok(value) => value,
            // The model hears what went wrong, and answers with that.
            Err(Halt::Failed(failure)) => {
                self.note(
                    words::TOOL_FAILED
                        .with("name", tool.id.clone())
                        .with("why", failure.what.clone()),
                );
                Value::String(format!("error: {}", failure.what))
            }
            Err(halt) => return Err(halt),
        };
        results.push(help.result(&given, &result).chars().take(LONGEST).collect());
        Ok(())
    }

    /// The tools of a script, as its settings name them.
    async fn tools(&mut self, frame: &mut Frame, said: &str) -> Result<Vec<Tool>, Halt> {
        let Some(wanted) = frame.shape.config.get("tools").cloned() else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (id, about) in entries(&wanted) {
            if let Some(route) = id.strip_prefix('$') {
                let defaults = about.get("globalDefaults").or(about.get("defaults")).cloned();
                let args = vec![Value::from(said), defaults.unwrap_or(Value::Null)];
                let passed = Passed { by_place: args, ..Passed::default() };
                let listed = Box::pin(self.function(frame, route, passed)).await?;
                for (id, about) in entries(&listed.unwrap_or(Value::Null)) {
                    self.tool(frame, &id, &about, &Map::new(), &mut out)?;
                }
                continue;
            }
            self.tool(frame, &id, &about, &Map::new(), &mut out)?;
        }
        Ok(out)
    }

    /// One entry: a script, or every script of a toolset.
    fn tool(
        &self,
        frame: &Frame,
        id: &str,
        about: &Value,
        over: &Map<String, Value>,
        out: &mut Vec<Tool>,
    ) -> Result<(), Halt> {
        if out.len() >= MOST_TOOLS {
            return Err(words::TOO_MANY_TOOLS.with("most", MOST_TOOLS).into());
        }
        let shape = self.find(frame, id)?;
        let mut defaults = over.clone();
        if let Some(Value::Object(own)) = about.get("defaults") {
            merge(&mut defaults, own.clone());
        }
        if let Some(exports) = &shape.exports {
            // The toolset's own settings are the weakest defaults.
            let mut weak: Map<String, Value> = shape
                .inputs
                .iter()
                .filter_map(|it| Some((it.name.clone(), shape.config.get(&it.name)?.clone())))
                .collect();
            if let Some(Value::Object(own)) = shape.config.get("defaults") {
                merge(&mut weak, own.clone());
            }
            merge(&mut weak, defaults);
            let folder = shape.origin.folder.clone();
            for export in exports {
                if let Export::Of(import) = export
                    && let Kind::Script(name) = &import.kind
                {
                    let source = self.library.find(name, &folder)?;
                    let inner = Arc::new(Shape::of(source, &self.library)?);
                    out.push(described(inner, &Value::Null, weak.clone())?);
                }
            }
            return Ok(());
        }
        out.push(described(shape, about, defaults)?);
        Ok(())
    }

    /// Tools that run when the script begins.
    pub async fn startup(&mut self, frame: &mut Frame) -> Result<(), Halt> {
        self.at(frame, STARTUP).await
    }

    /// Tools that run when it ends.
    pub async fn shutdown(&mut self, frame: &mut Frame) -> Result<(), Halt> {
        self.at(frame, SHUTDOWN).await
    }

    async fn at(&mut self, frame: &mut Frame, event: &str) -> Result<(), Halt> {
        let named =
            frame.shape.config.get("tools").is_some_and(|it| it.to_string().contains(event));
        if !named {
            return Ok(());
        }
        for tool in self.tools(frame, "").await?.iter().filter(|tool| tool.fires(event)) {
            let args = Value::Object(frame.values.args.clone());
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            self.run_tool(frame, tool, args, &mut calls, &mut results).await?;
        }
        Ok(())
    }
}

impl Tool {
    /// As the model sees it: what the script that uses it wants as defaults comes first.
    fn help(&self) -> Help {
        let params = self.shape.inputs.iter().map(|input| {
            let set = self.defaults.get(&input.name).or(self.shape.config.get(&input.name));
            Param {
                name: input.name.clone(),
                required: input.required,
                default: set.or(input.default.as_ref()).cloned(),
                about: input.about.clone(),
            }
        });
        Help { id: self.id.clone(), title: self.title.clone(), params: params.collect() }
    }

    fn fires(&self, event: &str) -> bool {
        self.triggers.iter().any(|known| known.eq_ignore_ascii_case(event))
    }

    fn sees(&self, said: &str) -> bool {
        self.fires(KEYWORD) && self.keywords.iter().any(|word| said.contains(word))
    }

    /// The model decides when it runs.
    fn is_free(&self) -> bool {
        let free = self.triggers.is_empty() || self.fires("AI") || self.fires("Auto");
        free && !self.fires(AFTER_USER)
    }
}

fn described(shape: Arc<Shape>, about: &Value, defaults: Map<String, Value>) -> Result<Tool, Halt> {
    let own = shape.text("title").or(shape.text("description"));
    let title = about.get("title").and_then(Value::as_str).or(own);
    let Some(title) = title.map(|title| title.lines().next().unwrap_or("").to_owned()) else {
        return Err(words::TOOL_NO_TITLE.with("name", quoted(shape.id())).into());
    };
    let list = |key: &str| match about.get(key).or(shape.config.get(key)) {
        Some(Value::Array(items)) => items.iter().map(text_of).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(one) => vec![text_of(one)],
    };
    let (triggers, keywords) = (list("trigger"), list("keywords"));
    Ok(Tool { id: shape.id().to_owned(), title, defaults, triggers, keywords, shape })
}

/// `tools` as pairs of an ID and what is said of it.
fn entries(wanted: &Value) -> Vec<(String, Value)> {
    match wanted {
        Value::String(id) => vec![(id.clone(), Value::Null)],
        Value::Array(items) => items.iter().flat_map(entry).collect(),
        Value::Object(map) => map.iter().map(|(id, about)| (id.clone(), about.clone())).collect(),
        _ => Vec::new(),
    }
}

fn entry(item: &Value) -> Vec<(String, Value)> {
    match item {
        Value::String(id) => vec![(id.clone(), Value::Null)],
        Value::Object(map) => match map.get("id").and_then(Value::as_str) {
            Some(id) => vec![(id.to_owned(), item.clone())],
            None => map.iter().map(|(id, about)| (id.clone(), about.clone())).collect(),
        },
        _ => Vec::new(),
    }
}

/// What the model is told of the tools.
fn help(tools: &[&Tool]) -> String {
    let helps: Vec<Help> = tools.iter().map(|tool| tool.help()).collect();
    format!(
        concat!(
            "You can have these tools run before you answer:\n\n{}\n\n",
            "Read the conversation. If tools are needed to answer its last message, reply with the ",
            "calls alone, one `@id(param=value, ...)` on each line, strings in double quotes, and ",
            "nothing else. If none is needed, reply with `none`.",
        ),
        tool_text::help(&helps)
    )
}
