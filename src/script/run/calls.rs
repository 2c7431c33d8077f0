//! Calls of directives, of functions, of other scripts. Every name is resolved here, so a script's
//! permissions are also enforced here.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::super::check::GIVEN;
use super::super::check::near::with_near;
use super::super::directive::{self, DirectiveFn, DirectiveSpec, Flush};
use super::super::error::{CallResult, ScriptResult, quoted};
use super::super::host::ScriptEvent;
use super::super::manifest::Manifest;
use super::super::manifest::input::ScriptArgs;
use super::super::permission::CallNames;
use super::super::settings::{directive_keys, takes_data};
use super::super::syntax::{ScriptValue, Tree};
use super::super::text::CallMark;
use super::arguments::{ArgValues, CallSyntax};
use super::dialogue::DialogueMessage;
use super::frame::{Callee, Frame, ScriptRun};
use super::js::{call_js, unknown_name_error};
use super::model_call::note_once;
use super::scope::text_of;
use super::script_tool::ToolKind;
use super::unread_args::unread_names;
use avocet_core::i18n::script_run as phrases;

impl ScriptRun {
    /// Runs a call as an instruction: its value is the last result.
    pub async fn run_directive(
        &mut self,
        frame: &mut Frame,
        called: CallSyntax<'_>,
    ) -> ScriptResult {
        if let Some(value) = call(self, frame, called).await? {
            frame.values.set_latest(value);
        }
        Ok(())
    }

    /// Calls a function of the script, an imported one, or an imported script.
    pub async fn call_function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        values: ArgValues,
    ) -> CallResult {
        match frame.bindings.callee(name) {
            Some(Callee::Js { name, .. }) => {
                call_js(self, frame, &name, values.into_function_args()).await
            }
            Some(Callee::Wasm { module, name }) => {
                frame.bindings.call_wasm(module, &name, &values.into_function_args()).map(Some)
            }
            Some(Callee::Script(shape)) => {
                let args = values.into_script_args();
                let names = shape.call_names(shape.id(), [name]);
                frame.check_permission(self.host.as_mut(), &names, &args.named).await?;
                self.run_manifest(&frame.permissions, shape, args).await.map(Some)
            }
            Some(Callee::Interact(shape)) => {
                let message = values.text("message").unwrap_or_default();
                let names = shape.call_names(shape.id(), [name]);
                frame.check_permission(self.host.as_mut(), &names, &values.to_map()).await?;
                interact(self, frame, shape, Map::new(), message).await.map(Some)
            }
            Some(Callee::OtherScript { module, name: inside }) => {
                let names = CallNames::new(name, [inside.as_str()]);
                frame.check_not_denied(&names, &Map::new())?;
                let name = inside;
                let Some(mut other) = frame.bindings.take_module(module) else { return Ok(None) };
                let came = Box::pin(self.call_function(&mut other, &name, values)).await;
                frame.bindings.put_module(module, other);
                came
            }
            None => Err(unknown_name_error(frame, name)),
        }
    }

    /// `[[@id(args)]]` and `[[@$name(args)]]`.
    pub async fn invoke(&mut self, frame: &mut Frame, mark: &CallMark) -> ScriptResult<Value> {
        let CallMark { name, directive, args } = mark;
        if *directive {
            return Ok(call(self, frame, CallSyntax::new(name, args))
                .await?
                .unwrap_or(Value::Null));
        }
        frame.require_trust(format_args!("@{name}"))?;
        let passed = Box::pin(self.evaluate_args(frame, args)).await?;
        match passed.named.get("message") {
            Some(message) if *message != Value::Bool(false) => {
                let message = match message {
                    Value::Bool(_) => latest_text(frame),
                    message => text_of(message),
                };
                let mut args = passed.into_script_args().named;
                args.shift_remove("message");
                let script = frame.role_script(name).unwrap_or_else(|| name.clone());
                let found = frame.find_script(&self.library, &script);
                let names = match &found {
                    Ok(shape) => shape.call_names(&script, [name.as_str()]),
                    Err(_) => CallNames::new(&script, []),
                };
                frame.check_permission(self.host.as_mut(), &names, &args).await?;
                let shape = found?;
                interact(self, frame, shape, args, message).await
            }
            _ => self.call_script(frame, name, passed.into_script_args()).await,
        }
    }

    /// Finds a script and runs it with these arguments.
    pub fn call_script<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        name: &'a str,
        args: ScriptArgs,
    ) -> BoxFuture<'a, ScriptResult<Value>> {
        Box::pin(async move {
            frame.require_trust(format_args!("@{name}"))?;
            if frame.bindings.has_function(name) {
                let names = CallNames::new(name, []).denied_as(frame.bindings.original_name(name));
                frame.check_permission(self.host.as_mut(), &names, &args.named).await?;
                let ScriptArgs { positional, named, .. } = args;
                let values = ArgValues { positional, named, passed_variables: Map::new() };
                return Ok(self.call_function(frame, name, values).await?.unwrap_or(Value::Null));
            }
            let found = ToolKind::find(frame, &self.library, name);
            let names = match &found {
                Ok(found) => found.call_names(name),
                Err(_) => CallNames::new(name, []),
            };
            let asked = frame.permission_question(&names, &args.named)?;
            let found = found?;
            if let ToolKind::Script(shape) = &found {
                note_unread_args(self, frame, shape, &args.named);
            }
            let asked = found.confirm_call(self.host.as_mut(), name, asked).await?;
            found.run(self, &frame.permissions, args, asked).await
        })
    }

    /// Runs a script on behalf of another one.
    pub async fn run_manifest(
        &mut self,
        callers: &[Arc<Value>],
        manifest: Arc<Manifest>,
        args: ScriptArgs,
    ) -> ScriptResult<Value> {
        self.host.emit(ScriptEvent::ScriptCalled(manifest.id().to_owned()));
        let origin = manifest.origin.clone();
        let file = origin.built_in_file();
        let mut frame = Frame::new(manifest, args, callers).map_err(|it| it.leave_script(file))?;
        let came = self.run_frame(&mut frame).await;
        came.map_err(|halt| halt.leave_script(file))
    }
}

/// Whether a name can be called.
pub fn is_callable(frame: &Frame, name: &str) -> bool {
    directive::find(name).is_some() || frame.bindings.has_function(name)
}

/// Runs a call; `None` if it has no value.
fn call<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    called: CallSyntax<'a>,
) -> BoxFuture<'a, CallResult> {
    Box::pin(async move {
        run.limits.count_instruction()?;
        if called.name != "initDone" {
            frame.require_trust(format_args!("${}", called.name))?;
        }
        let row = if frame.bindings.has_function(called.name) {
            None
        } else {
            directive::find(called.name)
        };
        if row.is_some() {
            note_unknown_keys(run, frame, &called);
        }
        let flush = row.map_or(Flush::Placeholders, |row| row.flush);
        match flush {
            Flush::All => run.flush(frame).await?,
            // Pending messages may read the new values.
            Flush::Placeholders if called.name == "prompt" && is_literal(&called) => {}
            Flush::Placeholders => run.flush_placeholders(frame).await?,
            Flush::Nothing => {}
        }
        if called.pipe {
            run.flush(frame).await?;
        }
        if let Some(DirectiveSpec { run: DirectiveFn::Lazy(start), .. }) = row {
            return start(run, frame, called).await;
        }
        let args = evaluate_call_args(run, frame, &called).await?;
        match row {
            Some(row) => row.run_with(run, frame, args).await,
            None if called.pipe && is_script(run, frame, called.name) => {
                run.call_script(frame, called.name, args.into_script_args()).await.map(Some)
            }
            None => Box::pin(run.call_function(frame, called.name, args)).await,
        }
    })
}

/// Whether a call reads nothing.
fn is_literal(called: &CallSyntax<'_>) -> bool {
    fn reads_nothing(value: &ScriptValue) -> bool {
        match &value.tree {
            Tree::Text(text) => {
                value.tag.is_none() && !text.contains(['$', '{', '[', '?', '#', '!'])
            }
            Tree::List(items) => items.iter().all(reads_nothing),
            Tree::Map(pairs) => {
                pairs.iter().flat_map(|(key, value)| [key, value]).all(reads_nothing)
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => true,
        }
    }
    let others = called.other_keys.iter().map(|(_, value)| *value);
    called.args.is_empty()
        && !called.pipe
        && called.head.into_iter().chain(others).all(reads_nothing)
}

/// Says which keys of a directive mean nothing to it: they may be a message that is lost.
fn note_unknown_keys(run: &mut ScriptRun, frame: &mut Frame, called: &CallSyntax<'_>) {
    let Some(known) = directive_keys(called.name) else { return };
    let data = takes_data(called.name);
    let inside = called.head.filter(|_| !data && called.args.is_empty());
    let inside = inside.map_or(&[][..], ScriptValue::pairs).iter().map(|(key, _)| key);
    let has_value = called.head.is_some_and(|head| head.tree != Tree::Null);
    let beside = called.other_keys.iter().map(|(key, _)| *key).filter(|_| !data || has_value);
    let names = beside.chain(inside).filter_map(ScriptValue::key_text);
    for name in names.filter(|name| !name.starts_with('$') && !known.contains(&name.as_str())) {
        let what = phrases::KEY_UNKNOWN.with("of", format!("${}", called.name));
        let what = what.with("name", quoted(&name));
        note_once(run, frame, with_near(what, &name, known.iter().copied()));
    }
}

/// Says that a called script does nothing with an argument. What is passed on from the last result
/// is not meant for every script.
fn note_unread_args(
    run: &mut ScriptRun,
    frame: &mut Frame,
    manifest: &Manifest,
    named: &Map<String, Value>,
) {
    let is_passed_on = |name: &str| {
        GIVEN.contains(&name) || name.starts_with('!') || frame.values.latest.get(name).is_some()
    };
    let unread: Vec<&String> = unread_names(manifest, named.keys()).collect();
    let unread: Vec<&String> = unread.into_iter().filter(|name| !is_passed_on(name)).collect();
    for name in unread {
        let said = phrases::SCRIPT_ARG_UNREAD.with("script", quoted(manifest.id()));
        let inputs = manifest.inputs.iter().map(|input| input.name.as_str());
        note_once(run, frame, with_near(said.with("name", quoted(name)), name, inputs));
    }
}

/// Whether a name means a script or one of the program's own tools, not a function.
fn is_script(run: &ScriptRun, frame: &Frame, name: &str) -> bool {
    !frame.bindings.has_function(name) && ToolKind::find(frame, &run.library, name).is_ok()
}

/// All arguments of a call: in brackets, under the key, and in the other keys.
async fn evaluate_call_args(
    run: &mut ScriptRun,
    frame: &mut Frame,
    called: &CallSyntax<'_>,
) -> ScriptResult<ArgValues> {
    let mut passed = match called.args {
        [] => ArgValues::default(),
        args => Box::pin(run.evaluate_args(frame, args)).await?,
    };
    if let Some(head) = called.head {
        match run.evaluate_value(frame, head).await? {
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
            let value = run.evaluate_value(frame, node).await?;
            passed.named.insert(key, value);
        }
    }
    if called.pipe {
        let latest = frame.values.latest.clone();
        passed.add_latest(&latest);
    }
    Ok(passed)
}

/// The latest text: the last result, or else the last message.
fn latest_text(frame: &Frame) -> String {
    match &frame.values.latest {
        Value::Null => frame.dialogue.messages.iter().rev().find(|line| !line.is_pending()),
        latest => return text_of(latest),
    }
    .map(DialogueMessage::text)
    .unwrap_or_default()
}

/// Sends a message to an agent that remembers, and returns its answer.
async fn interact(
    run: &mut ScriptRun,
    frame: &mut Frame,
    manifest: Arc<Manifest>,
    args: Map<String, Value>,
    message: String,
) -> ScriptResult<Value> {
    let key = manifest.origin.file.clone();
    let mut agent = match frame.bindings.agents.remove(&key) {
        Some(agent) => agent,
        None => run.start_agent(frame, manifest, ScriptArgs::from(args)).await?,
    };
    agent.dialogue.push(DialogueMessage::rendered("user", message));
    let came = run.answer(&mut agent, &Map::new()).await;
    let said = agent.values.latest.clone();
    frame.bindings.agents.insert(key, agent);
    came?;
    Ok(said)
}
