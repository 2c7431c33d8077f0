//! Calls of directives, of functions, of other scripts. Every name is resolved here, so a script's
//! permissions are also enforced here.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::directive::{self, DirectiveCall, Flush};
use super::super::fault::quoted;
use super::super::host::ScriptEvent;
use super::super::permission::{self, CallVerdict};
use super::super::shape::Manifest;
use super::super::shape::input::ScriptArgs;
use super::super::syntax::ScriptNode;
use super::super::text::Invoke;
use super::super::text::args::Arg;
use super::import::Callee;
use super::own;
use super::tools::is_missing;
use super::values::{merge, text_of};
use super::{Frame, ScriptFlow, ScriptRun};
use crate::words::script_run as words;

/// A call as written in the script.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    pub name: &'a str,
    /// `$|name`: the last result is passed in.
    pub pipe: bool,
    /// The arguments in brackets.
    pub args: &'a [Arg],
    /// The value of the key.
    pub head: Option<&'a ScriptNode>,
    /// The other keys.
    pub more: &'a [(&'a ScriptNode, &'a ScriptNode)],
}

/// The evaluated arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArgValues {
    pub by_place: Vec<Value>,
    pub named: Map<String, Value>,
    /// Plain variables that were passed by position, under their names.
    pub also: Map<String, Value>,
}

impl ArgValues {
    pub fn first(&self) -> Option<&Value> {
        self.by_place.first()
    }

    /// An argument by name, including one inside a single map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let inside = match self.by_place.as_slice() {
            [Value::Object(map)] => map.get(name),
            _ => None,
        };
        self.named.get(name).or(inside)
    }

    /// An argument by name, or the first one.
    pub fn one(&self, name: &str) -> Option<&Value> {
        self.get(name).or_else(|| self.first())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.one(name).filter(|value| !value.is_null()).map(text_of)
    }

    /// All named arguments, including those of a single map.
    pub fn map(&self) -> Map<String, Value> {
        let mut map = match self.by_place.as_slice() {
            [Value::Object(map)] => map.clone(),
            _ => Map::new(),
        };
        map.extend(self.named.clone());
        map
    }

    /// In the form a script takes.
    pub fn for_script(self) -> ScriptArgs {
        let mut named = self.map();
        for (name, value) in self.also {
            named.entry(name).or_insert(value);
        }
        let by_place = match self.by_place.as_slice() {
            [Value::Object(_)] => Vec::new(),
            _ => self.by_place,
        };
        ScriptArgs { by_place, named }
    }

    /// In the form a function takes: by position, or as one object.
    pub fn for_function(self) -> Vec<Value> {
        if self.named.is_empty() {
            return self.by_place;
        }
        let mut map = Map::new();
        for (at, value) in self.by_place.iter().enumerate() {
            match value {
                Value::Object(inside) if self.by_place.len() == 1 => map.extend(inside.clone()),
                value => {
                    map.insert(at.to_string(), value.clone());
                }
            }
        }
        map.extend(self.named);
        vec![Value::Object(map)]
    }

    /// Adds the last result to the arguments; explicit arguments win.
    pub fn pipe(&mut self, latest: &Value) {
        match latest {
            Value::Null => {}
            Value::Object(map) => {
                let mut piped = map.clone();
                merge(&mut piped, std::mem::take(&mut self.named));
                self.named = piped;
            }
            latest => {
                let given = self.get("content").is_some();
                if !given {
                    self.named.insert("content".to_owned(), latest.clone());
                }
            }
        }
    }
}

impl ScriptRun {
    /// Whether a name can be called.
    pub fn knows(&self, frame: &Frame, name: &str) -> bool {
        directive::find(name).is_some() || frame.reach.has_function(name)
    }

    /// Runs a call as an instruction: its value is the last result.
    pub async fn directive(
        &mut self,
        frame: &mut Frame,
        called: Called<'_>,
    ) -> Result<(), ScriptFlow> {
        if let Some(value) = self.call(frame, called).await? {
            frame.values.hidden.clear();
            frame.values.latest = value;
        }
        Ok(())
    }

    /// Runs a call; `None` if it has no value.
    pub fn call<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        called: Called<'a>,
    ) -> BoxFuture<'a, Result<Option<Value>, ScriptFlow>> {
        Box::pin(async move {
            self.step()?;
            if called.name != "initDone" {
                self.needs_trust(frame, &format!("${}", called.name))?;
            }
            let row = match frame.reach.has_function(called.name) {
                true => None,
                false => directive::find(called.name),
            };
            let flush = row.map_or(Flush::Asks, |row| row.flush);
            match flush {
                Flush::All => self.flush(frame).await?,
                Flush::Asks => self.flush_asks(frame).await?,
                Flush::Nothing => {}
            }
            if called.pipe {
                self.flush(frame).await?;
            }
            match row {
                Some(row) if row.lazy => {
                    (row.run)(self, frame, DirectiveCall { called, passed: ArgValues::default() })
                        .await
                }
                Some(row) => {
                    let passed = self.given(frame, &called).await?;
                    (row.run)(self, frame, DirectiveCall { called, passed }).await
                }
                None => {
                    let passed = self.given(frame, &called).await?;
                    self.function(frame, called.name, passed).await
                }
            }
        })
    }

    /// All arguments of a call: in brackets, under the key, and in the other keys.
    async fn given(
        &mut self,
        frame: &mut Frame,
        called: &Called<'_>,
    ) -> Result<ArgValues, ScriptFlow> {
        let mut passed = self.passed(frame, called.args).await?;
        if let Some(head) = called.head {
            match self.value(frame, head).await? {
                Value::Null => {}
                Value::Object(map) if !called.args.is_empty() || !called.more.is_empty() => {
                    for (key, value) in map {
                        passed.named.entry(key).or_insert(value);
                    }
                }
                value => passed.by_place.push(value),
            }
        }
        for (key, node) in called.more {
            if let Some(key) = key.key() {
                let value = self.value(frame, node).await?;
                passed.named.insert(key, value);
            }
        }
        if called.pipe {
            let latest = frame.values.latest.clone();
            passed.pipe(&latest);
        }
        Ok(passed)
    }

    /// Calls a function of the script, an imported one, or an imported script.
    pub async fn function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        passed: ArgValues,
    ) -> Result<Option<Value>, ScriptFlow> {
        match frame.reach.callee(name) {
            Some(Callee::Js { name, .. }) => self.js(frame, &name, passed.for_function()).await,
            Some(Callee::Wasm { module, name }) => {
                self.wasm(frame, module, &name, passed.for_function()).map(Some)
            }
            Some(Callee::Script(shape)) => {
                let args = passed.for_script();
                self.permit(frame, shape.id(), &args.named).await?;
                self.shape(frame, shape, args).await.map(Some)
            }
            Some(Callee::Interact(shape)) => {
                let message = passed.text("message").unwrap_or_default();
                self.permit(frame, shape.id(), &passed.map()).await?;
                self.interact(frame, shape, Map::new(), message).await.map(Some)
            }
            Some(Callee::Foreign { module, name }) => {
                let Some(mut other) = frame.reach.take_module(module) else { return Ok(None) };
                let came = Box::pin(self.function(&mut other, &name, passed)).await;
                frame.reach.put_module(module, other);
                came
            }
            None => Err(words::NO_DIRECTIVE.with("name", quoted(name)).into()),
        }
    }

    /// `[[@id(args)]]` and `[[@$name(args)]]`.
    pub async fn invoke(
        &mut self,
        frame: &mut Frame,
        invoke: &Invoke,
    ) -> Result<Value, ScriptFlow> {
        let Invoke { name, directive, args } = invoke;
        if *directive {
            let called = Called { name, pipe: false, args, head: None, more: &[] };
            return Ok(self.call(frame, called).await?.unwrap_or(Value::Null));
        }
        self.needs_trust(frame, &format!("@{name}"))?;
        let passed = Box::pin(self.passed(frame, args)).await?;
        match passed.named.get("message") {
            Some(message) if *message != Value::Bool(false) => {
                let message = match message {
                    Value::Bool(_) => self.said_last(frame),
                    message => text_of(message),
                };
                let mut args = passed.for_script().named;
                args.shift_remove("message");
                let script = frame.role_script(name).unwrap_or_else(|| name.clone());
                self.permit(frame, &script, &args).await?;
                let shape = self.find(frame, &script)?;
                self.interact(frame, shape, args, message).await
            }
            _ => self.script(frame, name, passed.for_script()).await,
        }
    }

    /// The latest text: the last result, or else the last message.
    fn said_last(&self, frame: &Frame) -> String {
        match &frame.values.latest {
            Value::Null => frame.talk.lines.iter().rev().find(|line| !line.is_pending()),
            latest => return text_of(latest),
        }
        .map(super::talk::DialogueMessage::text)
        .unwrap_or_default()
    }

    /// Finds a script and runs it with these arguments.
    pub fn script<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        name: &'a str,
        args: ScriptArgs,
    ) -> BoxFuture<'a, Result<Value, ScriptFlow>> {
        Box::pin(async move {
            self.needs_trust(frame, &format!("@{name}"))?;
            self.permit(frame, name, &args.named).await?;
            if frame.reach.has_function(name) {
                let ScriptArgs { by_place, named } = args;
                let passed = ArgValues { by_place, named, also: Map::new() };
                return Ok(self.function(frame, name, passed).await?.unwrap_or(Value::Null));
            }
            let shape = match (self.find(frame, name), own::find(name)) {
                (Err(halt), Some(own)) if is_missing(&halt) => {
                    return self.own_tool(own, &args.named).await;
                }
                (found, _) => found?,
            };
            self.shape(frame, shape, args).await
        })
    }

    /// The script a name refers to, as seen from another one.
    pub fn find(&self, frame: &Frame, name: &str) -> Result<Arc<Manifest>, ScriptFlow> {
        if name == frame.shape.id() {
            return Ok(frame.shape.clone());
        }
        let source = self.library.find(name, &frame.shape.origin.folder)?;
        Ok(Arc::new(Manifest::of(source, &self.library)?))
    }

    /// Runs a script on behalf of another one.
    pub async fn shape(
        &mut self,
        caller: &Frame,
        shape: Arc<Manifest>,
        args: ScriptArgs,
    ) -> Result<Value, ScriptFlow> {
        self.host.tell(ScriptEvent::Calling(shape.id().to_owned()));
        let mut frame = Frame::new(shape, args, &caller.guards)?;
        self.frame(&mut frame).await
    }

    /// Whether the script and all its callers allow a call.
    pub async fn permit(
        &mut self,
        frame: &Frame,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<(), ScriptFlow> {
        for rules in frame.guards.iter().rev() {
            match permission::judge(rules, name, args)? {
                CallVerdict::Allow => {}
                CallVerdict::Deny => {
                    return Err(words::NOT_ALLOWED.with("name", quoted(name)).into());
                }
                CallVerdict::Confirm => {
                    let shown = Value::Object(args.clone()).to_string();
                    let question = words::MAY_CALL
                        .with("script", quoted(frame.shape.id()))
                        .with("name", quoted(name))
                        .with("args", quoted(&shown));
                    if !self.host.confirm(question).await {
                        return Err(words::NOT_ALLOWED.with("name", quoted(name)).into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends a message to an agent that remembers, and returns its answer.
    pub async fn interact(
        &mut self,
        caller: &mut Frame,
        shape: Arc<Manifest>,
        args: Map<String, Value>,
        message: String,
    ) -> Result<Value, ScriptFlow> {
        let key = shape.origin.file.clone();
        let mut agent = match caller.reach.take_agent(&key) {
            Some(agent) => agent,
            None => {
                let args = ScriptArgs { by_place: Vec::new(), named: args };
                let mut agent = Frame::new(shape, args, &caller.guards)?;
                self.begin(&mut agent).await?;
                agent
            }
        };
        agent.talk.push(super::talk::DialogueMessage::settled("user", message));
        let came = self.answer(&mut agent, &Map::new()).await;
        let said = agent.values.latest.clone();
        caller.reach.put_agent(key, agent);
        came?;
        Ok(said)
    }

    /// Runs a script to its end without the automatic answer.
    pub fn begin<'a>(&'a mut self, frame: &'a mut Frame) -> BoxFuture<'a, Result<(), ScriptFlow>> {
        Box::pin(async move {
            self.prepare(frame).await?;
            match self.body(frame).await {
                Ok(()) | Err(ScriptFlow::Return(_) | ScriptFlow::Break | ScriptFlow::Continue) => {}
                Err(halt) => return Err(halt),
            }
            self.flush(frame).await
        })
    }
}
