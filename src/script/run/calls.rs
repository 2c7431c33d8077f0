//! Calls of directives, of functions, of other scripts. Every name is resolved here, so a script's
//! permissions are also enforced here.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::directive::{self, DirectiveFn, DirectiveSpec, Flush};
use super::super::fault::quoted;
use super::super::host::ScriptEvent;
use super::super::manifest::Manifest;
use super::super::manifest::input::ScriptArgs;
use super::super::permission::{self, CallVerdict};
use super::super::text::CallMark;
use super::arguments::{ArgValues, CallSyntax};
use super::builtin_tools;
use super::dialogue::DialogueMessage;
use super::frame::{CallResult, Callee, Frame, ScriptFlow, ScriptResult, ScriptRun};
use super::scope::text_of;
use super::tools::is_not_found;
use crate::i18n::script_run as words;

impl ScriptRun {
    /// Whether a name can be called.
    pub fn is_callable(&self, frame: &Frame, name: &str) -> bool {
        directive::find(name).is_some() || frame.imports.has_function(name)
    }

    /// Runs a call as an instruction: its value is the last result.
    pub async fn run_directive(
        &mut self,
        frame: &mut Frame,
        called: CallSyntax<'_>,
    ) -> ScriptResult {
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
        called: CallSyntax<'a>,
    ) -> BoxFuture<'a, CallResult> {
        Box::pin(async move {
            self.count_instruction()?;
            if called.name != "initDone" {
                self.require_trust(frame, &format!("${}", called.name))?;
            }
            let row = match frame.imports.has_function(called.name) {
                true => None,
                false => directive::find(called.name),
            };
            let flush = row.map_or(Flush::Placeholders, |row| row.flush);
            match flush {
                Flush::All => self.flush(frame).await?,
                Flush::Placeholders => self.flush_placeholders(frame).await?,
                Flush::Nothing => {}
            }
            if called.pipe {
                self.flush(frame).await?;
            }
            if let Some(DirectiveSpec { run: DirectiveFn::Lazy(start), .. }) = row {
                return start(self, frame, called).await;
            }
            let args = self.evaluate_call_args(frame, &called).await?;
            match row {
                Some(row) => row.run_with(self, frame, args).await,
                None => self.call_function(frame, called.name, args).await,
            }
        })
    }

    /// All arguments of a call: in brackets, under the key, and in the other keys.
    async fn evaluate_call_args(
        &mut self,
        frame: &mut Frame,
        called: &CallSyntax<'_>,
    ) -> ScriptResult<ArgValues> {
        let mut passed = self.evaluate_args(frame, called.args).await?;
        if let Some(head) = called.head {
            match self.evaluate_value(frame, head).await? {
                // `$ret:` without a value returns null, unlike `$ret`.
                Value::Null if called.name != "ret" || called.pipe => {}
                Value::Object(map) if !called.args.is_empty() || !called.other_keys.is_empty() => {
                    for (key, value) in map {
                        passed.named.entry(key).or_insert(value);
                    }
                }
                value => passed.positional.push(value),
            }
        }
        for (key, node) in called.other_keys {
            if let Some(key) = key.key_text() {
                let value = self.evaluate_value(frame, node).await?;
                passed.named.insert(key, value);
            }
        }
        if called.pipe {
            let latest = frame.values.latest.clone();
            passed.add_latest(&latest);
        }
        Ok(passed)
    }

    /// Calls a function of the script, an imported one, or an imported script.
    pub async fn call_function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        passed: ArgValues,
    ) -> CallResult {
        match frame.imports.callee(name) {
            Some(Callee::Js { name, .. }) => {
                self.call_js(frame, &name, passed.into_function_args()).await
            }
            Some(Callee::Wasm { module, name }) => {
                self.call_wasm(frame, module, &name, passed.into_function_args()).map(Some)
            }
            Some(Callee::Script(shape)) => {
                let args = passed.into_script_args();
                self.check_permission(frame, shape.id(), &args.named).await?;
                self.run_manifest(frame, shape, args).await.map(Some)
            }
            Some(Callee::Interact(shape)) => {
                let message = passed.text("message").unwrap_or_default();
                self.check_permission(frame, shape.id(), &passed.to_map()).await?;
                self.interact(frame, shape, Map::new(), message).await.map(Some)
            }
            Some(Callee::OtherScript { module, name }) => {
                let Some(mut other) = frame.imports.take_module(module) else { return Ok(None) };
                let came = Box::pin(self.call_function(&mut other, &name, passed)).await;
                frame.imports.put_module(module, other);
                came
            }
            None => Err(words::NO_DIRECTIVE.with("name", quoted(name)).into()),
        }
    }

    /// `[[@id(args)]]` and `[[@$name(args)]]`.
    pub async fn invoke(&mut self, frame: &mut Frame, invoke: &CallMark) -> ScriptResult<Value> {
        let CallMark { name, directive, args } = invoke;
        if *directive {
            let called = CallSyntax { name, pipe: false, args, head: None, other_keys: &[] };
            return Ok(self.call(frame, called).await?.unwrap_or(Value::Null));
        }
        self.require_trust(frame, &format!("@{name}"))?;
        let passed = Box::pin(self.evaluate_args(frame, args)).await?;
        match passed.named.get("message") {
            Some(message) if *message != Value::Bool(false) => {
                let message = match message {
                    Value::Bool(_) => self.latest_text(frame),
                    message => text_of(message),
                };
                let mut args = passed.into_script_args().named;
                args.shift_remove("message");
                let script = frame.role_script(name).unwrap_or_else(|| name.clone());
                self.check_permission(frame, &script, &args).await?;
                let shape = self.find_script(frame, &script)?;
                self.interact(frame, shape, args, message).await
            }
            _ => self.call_script(frame, name, passed.into_script_args()).await,
        }
    }

    /// The latest text: the last result, or else the last message.
    fn latest_text(&self, frame: &Frame) -> String {
        match &frame.values.latest {
            Value::Null => frame.dialogue.messages.iter().rev().find(|line| !line.is_pending()),
            latest => return text_of(latest),
        }
        .map(DialogueMessage::text)
        .unwrap_or_default()
    }

    /// Finds a script and runs it with these arguments.
    pub fn call_script<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        name: &'a str,
        args: ScriptArgs,
    ) -> BoxFuture<'a, ScriptResult<Value>> {
        Box::pin(async move {
            self.require_trust(frame, &format!("@{name}"))?;
            self.check_permission(frame, name, &args.named).await?;
            if frame.imports.has_function(name) {
                let ScriptArgs { positional: by_place, named } = args;
                let passed =
                    ArgValues { positional: by_place, named, passed_variables: Map::new() };
                return Ok(self.call_function(frame, name, passed).await?.unwrap_or(Value::Null));
            }
            let shape = match (self.find_script(frame, name), builtin_tools::find(name)) {
                (Err(halt), Some(own)) if is_not_found(&halt) => {
                    return self.run_builtin_tool(own, &args.named).await;
                }
                (found, _) => found?,
            };
            self.run_manifest(frame, shape, args).await
        })
    }

    /// The script a name refers to, as seen from another one.
    pub fn find_script(&self, frame: &Frame, name: &str) -> ScriptResult<Arc<Manifest>> {
        if name == frame.manifest.id() {
            return Ok(frame.manifest.clone());
        }
        let source = self.library.find(name, &frame.manifest.origin.folder)?;
        Ok(Arc::new(Manifest::load(source, &self.library)?))
    }

    /// Runs a script on behalf of another one.
    pub async fn run_manifest(
        &mut self,
        caller: &Frame,
        shape: Arc<Manifest>,
        args: ScriptArgs,
    ) -> ScriptResult<Value> {
        self.host.emit(ScriptEvent::ScriptCalled(shape.id().to_owned()));
        let mut frame = Frame::new(shape, args, &caller.permissions)?;
        self.run_frame(&mut frame).await
    }

    /// Whether the script and all its callers allow a call.
    pub async fn check_permission(
        &mut self,
        frame: &Frame,
        name: &str,
        args: &Map<String, Value>,
    ) -> ScriptResult {
        for rules in frame.permissions.iter().rev() {
            match permission::judge(rules, name, args)? {
                CallVerdict::Allow => {}
                CallVerdict::Deny => {
                    return Err(words::NOT_ALLOWED.with("name", quoted(name)).into());
                }
                CallVerdict::Confirm => {
                    let shown = Value::Object(args.clone()).to_string();
                    let question = words::MAY_CALL
                        .with("script", quoted(frame.manifest.id()))
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
    ) -> ScriptResult<Value> {
        let key = shape.origin.file.clone();
        let mut agent = match caller.imports.agents.remove(&key) {
            Some(agent) => agent,
            None => {
                let args = ScriptArgs { positional: Vec::new(), named: args };
                let mut agent = Frame::new(shape, args, &caller.permissions)?;
                self.run_without_answer(&mut agent).await?;
                agent
            }
        };
        agent.dialogue.push(DialogueMessage::rendered("user", message));
        let came = self.answer(&mut agent, &Map::new()).await;
        let said = agent.values.latest.clone();
        caller.imports.agents.insert(key, agent);
        came?;
        Ok(said)
    }

    /// Runs a script to its end without the automatic answer.
    pub fn run_without_answer<'a>(
        &'a mut self,
        frame: &'a mut Frame,
    ) -> BoxFuture<'a, ScriptResult> {
        Box::pin(async move {
            self.prepare(frame).await?;
            match self.run_body(frame).await {
                Ok(()) | Err(ScriptFlow::Return(_) | ScriptFlow::Break | ScriptFlow::Continue) => {}
                Err(halt) => return Err(halt),
            }
            self.flush(frame).await
        })
    }
}
