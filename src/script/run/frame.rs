//! The state of a run: the limits all its scripts share, and for each script what it declares, says
//! and can call.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::error::{
    ErrorCause, LocatedError, Location, ScriptFlow, ScriptResult, SourcePosition, quoted,
};
use super::super::host::ScriptHost;
use super::super::js::{Engine, JsScope};
use super::super::manifest::input::{self, ScriptArgs};
use super::super::manifest::{Instruction, Manifest, input_type};
use super::super::output;
use super::super::permission::{CallNames, CallVerdict, Rules};
use super::super::source::ScriptLibrary;
use super::super::text::mentions;
use super::super::wasm;
use super::dialogue::{Dialogue, DialogueMessage};
use super::expression::ExpressionCache;
use super::limits::RunLimits;
use super::scope::ScopeValues;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// Largest text in bytes.
pub const MAX_TEXT: usize = 16 << 20;

/// Maximum number of handlers of one script.
const MAX_HANDLERS: usize = 256;

/// One run of a script with everything it calls.
pub struct ScriptRun {
    pub host: Box<dyn ScriptHost>,
    pub library: ScriptLibrary,
    pub limits: RunLimits,
    /// Answers are streamed as they arrive.
    pub streams: bool,
    pub expressions: ExpressionCache,
}

/// One running script.
pub struct Frame {
    pub manifest: Arc<Manifest>,
    pub values: ScopeValues,
    pub dialogue: Dialogue,
    pub bindings: ScriptBindings,
    pub handlers: Vec<Handler>,
    /// The permissions of this script and of its callers.
    pub permissions: Vec<Arc<Value>>,
    /// An unnamed text that no input takes.
    pub unbound_arg: Option<Value>,
    /// The file of the running instruction: a base has its own.
    pub file: Arc<str>,
    /// The place of the running instruction.
    pub position: SourcePosition,
    /// The parameters without effect that were reported.
    pub noted_params: BTreeSet<String>,
}

/// The handler of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    pub event: String,
    /// The name of a function, or `?=` and an expression.
    pub callback: String,
    pub once: bool,
    /// Where it is declared.
    pub location: Location,
}

/// The target of a name.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function of the script's engine.
    Js {
        name: String,
        takes_object: bool,
    },
    Wasm {
        module: usize,
        name: String,
    },
    Script(Arc<Manifest>),
    /// `$id.interact({message})`.
    Interact(Arc<Manifest>),
    /// A function of another script.
    OtherScript {
        module: usize,
        name: String,
    },
}

/// Everything a script can call by name, its own functions and imported ones, and the engine that
/// runs them.
#[derive(Default)]
pub struct ScriptBindings {
    pub callees: BTreeMap<String, Callee>,
    /// Template functions: their name in templates, and their name in the engine.
    templates: BTreeMap<String, String>,
    pub engine: Option<Engine>,
    /// The values as the engine has them, so that only changes are sent.
    pub engine_values: JsScope,
    /// How many names were known when the engine last got them.
    pub sent_names: Option<usize>,
    /// The script's JavaScript reads `prompt.messages`.
    pub reads_messages: bool,
    /// The folders of imported files, by the ID of their module.
    pub js_folders: BTreeMap<String, PathBuf>,
    modules: Vec<Option<Frame>>,
    pub wasm: Vec<wasm::Module>,
    pub roles: BTreeMap<String, Frame>,
    pub agents: BTreeMap<String, Frame>,
    pub anonymous_count: usize,
    /// The files of the toolsets whose instructions have run.
    pub started_toolsets: BTreeSet<String>,
}

impl ScriptBindings {
    pub fn has_function(&self, name: &str) -> bool {
        self.callees.contains_key(name)
    }

    pub fn callee(&self, name: &str) -> Option<Callee> {
        self.callees.get(name).cloned()
    }

    /// The name of a function where it is declared, if it is imported under another.
    pub fn original_name(&self, name: &str) -> Option<&str> {
        let inside = match self.callees.get(name)? {
            Callee::Js { name, .. }
            | Callee::Wasm { name, .. }
            | Callee::OtherScript { name, .. } => name,
            Callee::Script(_) | Callee::Interact(_) => return None,
        };
        Some(inside.rsplit('.').next().unwrap_or(inside)).filter(|inside| *inside != name)
    }

    pub fn template_names(&self) -> Vec<String> {
        self.templates.keys().cloned().collect()
    }

    pub fn template_function(&self, name: &str) -> Option<String> {
        self.templates.get(name).cloned()
    }

    /// Adds a name for a function; an existing name stays.
    pub fn add(&mut self, name: &str, callee: Callee) {
        self.callees.entry(name.to_owned()).or_insert(callee);
    }

    pub fn add_template(&mut self, name: &str, function: &str) {
        self.templates.entry(name.to_owned()).or_insert_with(|| function.to_owned());
    }

    /// Calls a function of a wasm module.
    pub fn call_wasm(&mut self, module: usize, name: &str, args: &[Value]) -> ScriptResult<Value> {
        let module = self.wasm.get_mut(module);
        let module = module.ok_or_else(|| phrases::NO_DIRECTIVE.with("name", quoted(name)))?;
        Ok(module.call(name, args)?)
    }

    pub fn take_module(&mut self, at: usize) -> Option<Frame> {
        self.modules.get_mut(at)?.take()
    }

    pub fn put_module(&mut self, at: usize, frame: Frame) {
        if let Some(place) = self.modules.get_mut(at) {
            *place = Some(frame);
        }
    }

    pub fn add_module(&mut self, frame: Frame) -> usize {
        self.modules.push(Some(frame));
        self.modules.len() - 1
    }
}

impl Frame {
    /// A script that is about to start, with its arguments checked.
    pub fn new(
        manifest: Arc<Manifest>,
        args: ScriptArgs,
        callers: &[Arc<Value>],
    ) -> Result<Frame, LocatedError> {
        let (mut args, left) = input::bind(&manifest.inputs, args);
        let front = manifest.front_matter.position;
        input_type::fit_args(&manifest.inputs, &mut args)
            .map_err(|failure| failure.or_location(&manifest.origin.file, front))?;
        let mut config = manifest.config.clone();
        let prompt = take_map(&mut config, "prompt");
        let parameters = take_map(&mut config, "parameters");
        add_defaults(&mut config, &manifest);
        let mut frame = Frame {
            permissions: callers.to_vec(),
            values: ScopeValues {
                constants: file_constants(&manifest),
                args,
                prompt,
                parameters,
                config,
                ..ScopeValues::default()
            },
            dialogue: Dialogue::default(),
            bindings: ScriptBindings::default(),
            handlers: Vec::new(),
            unbound_arg: None,
            file: Arc::from(manifest.origin.file.as_str()),
            position: front,
            noted_params: BTreeSet::new(),
            manifest,
        };
        frame.assign_unbound_arg(left);
        let values = &frame.values;
        let known = |name: &str| values.args.get(name).or_else(|| values.config.get(name));
        input::check(&frame.manifest.inputs, known).map_err(|failure| {
            failure.or_location(&frame.manifest.origin.file, frame.manifest.front_matter.position)
        })?;
        if let Some(rules) = frame.manifest.config.get("permissions") {
            frame.permissions.push(Arc::new(rules.clone()));
        }
        add_prompt_messages(&mut frame);
        Ok(frame)
    }

    /// A text that no input takes becomes the script's `content` if the script mentions that,
    /// otherwise one more message of the user.
    fn assign_unbound_arg(&mut self, left: Option<Value>) {
        let Some(left) = left else { return };
        let reads = |instruction: &Instruction| mentions::reads_name(&instruction.node, "content");
        let knows = self.manifest.has_input("content")
            || self.manifest.body.iter().any(reads)
            || self
                .manifest
                .functions
                .iter()
                .any(|function| mentions::has_name(&function.source, "content"));
        if knows && !self.values.args.contains_key("content") {
            self.values.args.insert("content".to_owned(), left);
        } else {
            self.unbound_arg = Some(left)
        }
    }

    /// A script of an untrusted folder may contain messages, and nothing else.
    pub fn require_trust(&self, what: impl Display) -> ScriptResult {
        if self.manifest.origin.trusted {
            Ok(())
        } else {
            Err(phrases::UNTRUSTED
                .with("file", self.manifest.origin.file.clone())
                .with("what", quoted(&what.to_string()))
                .into())
        }
    }

    /// Whether the script and all its callers allow a call; the user is asked where they leave it
    /// to them.
    pub async fn check_permission(
        &self,
        host: &mut dyn ScriptHost,
        names: &CallNames,
        args: &Map<String, Value>,
    ) -> ScriptResult {
        let Some(question) = self.permission_question(names, args)? else { return Ok(()) };
        if host.confirm(question).await { Ok(()) } else { Err(not_allowed_error(names.written())) }
    }

    /// The question to the user before a call that the script and all its callers allow; `None` if
    /// they leave nothing to the user.
    pub fn permission_question(
        &self,
        names: &CallNames,
        args: &Map<String, Value>,
    ) -> ScriptResult<Option<LocalizedText>> {
        let mut asks = false;
        for permissions in self.permissions.iter().rev() {
            match Rules::read(permissions)?.judge(names, args) {
                CallVerdict::Allow => {}
                CallVerdict::Deny => return Err(not_allowed_error(names.written())),
                CallVerdict::Confirm => asks = true,
            }
        }
        let shown = Value::Object(args.clone()).to_string();
        Ok(asks.then(|| {
            phrases::MAY_CALL
                .with("script", quoted(self.manifest.id()))
                .with("name", quoted(names.written()))
                .with("args", quoted(&shown))
        }))
    }

    /// The same for a step of a directive. The call of a built-in script was judged already: for
    /// its steps only a denial counts.
    pub fn step_question(
        &self,
        names: &CallNames,
        args: &Map<String, Value>,
    ) -> ScriptResult<Option<LocalizedText>> {
        if self.manifest.origin.is_built_in {
            self.check_not_denied(names, args).map(|()| None)
        } else {
            self.permission_question(names, args)
        }
    }

    /// Whether no rule forbids a call, for what no rule has to allow: the functions of another
    /// script are its author's code.
    pub fn check_not_denied(&self, names: &CallNames, args: &Map<String, Value>) -> ScriptResult {
        let denied = Some(CallVerdict::Deny);
        self.check_rules(names, |rules| rules.judge_by_rules(names, args) == denied)
    }

    /// Whether a tool can be used at all.
    pub fn check_usable(&self, names: &CallNames) -> ScriptResult {
        self.check_rules(names, |rules| rules.forbids_always(names))
    }

    /// Whether no rule forbids these arguments, as the other form of what was judged already.
    pub fn check_not_forbidden(
        &self,
        names: &CallNames,
        args: &Map<String, Value>,
    ) -> ScriptResult {
        self.check_rules(names, |rules| rules.forbids(names, args))
    }

    /// An error if the rules of this script, or of one that called it, refuse a call.
    fn check_rules(&self, names: &CallNames, refuse: impl Fn(&Rules) -> bool) -> ScriptResult {
        for permissions in &self.permissions {
            if refuse(&Rules::read(permissions)?) {
                return Err(not_allowed_error(names.written()));
            }
        }
        Ok(())
    }

    /// The script a name refers to, as seen from this one.
    pub fn find_script(&self, library: &ScriptLibrary, name: &str) -> ScriptResult<Arc<Manifest>> {
        if name == self.manifest.id() {
            return Ok(self.manifest.clone());
        }
        let source = library.find(name, &self.manifest.origin.folder)?;
        let mut found = Manifest::load(source, library)?;
        if found.origin.is_built_in {
            found.origin.acts_for = Some(self.manifest.id().to_owned());
        }
        Ok(Arc::new(found))
    }

    /// The script's output, as a model reads about it.
    pub fn described_output(&self) -> Option<String> {
        let schema = self.manifest.output()?;
        Some(if self.describes_output() { output::describe(schema) } else { schema.to_string() })
    }

    /// Whether an output is described in words.
    pub fn describes_output(&self) -> bool {
        self.values.flag("naturalOutput").unwrap_or(true)
    }

    /// The script of a chat role.
    pub fn role_script(&self, role: &str) -> Option<String> {
        let script = self.manifest.roles().get(role)?.as_str()?.to_owned();
        Some(script)
    }

    /// Whether an event has a handler.
    pub fn has_handler(&self, event: &str) -> bool {
        self.handlers.iter().any(|handler| handler.event == event)
    }

    pub fn add_handler(&mut self, event: &str, callback: &str, once: bool, location: Location) {
        if self.handlers.len() < MAX_HANDLERS {
            let callback = callback.strip_prefix('$').unwrap_or(callback).to_owned();
            self.handlers.push(Handler { event: event.to_owned(), callback, once, location });
        }
    }

    pub fn remove_handlers(&mut self, event: &str, callback: Option<&str>) {
        let callback = callback.map(|name| name.strip_prefix('$').unwrap_or(name));
        self.handlers.retain(|handler| {
            handler.event != event || callback.is_some_and(|name| name != handler.callback)
        });
    }
}

pub fn not_allowed_error(name: &str) -> ScriptFlow {
    let why = phrases::NOT_ALLOWED.with("name", quoted(name));
    LocatedError::new(why).caused_by(ErrorCause::Declined).into()
}

/// Adds `prompt.messages` to the dialogue.
pub fn add_prompt_messages(frame: &mut Frame) {
    let Some(Value::Array(messages)) = frame.values.prompt.shift_remove("messages") else { return };
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("user").to_owned();
        // A plain text is the user's.
        let text = message.is_string().then_some(&message);
        if let Some(content) = message.get("content").or(text) {
            frame.dialogue.push(DialogueMessage::from_value(&role, content));
        }
    }
}

/// The settings of a character card, and the defaults of the inputs.
fn add_defaults(config: &mut Map<String, Value>, manifest: &Manifest) {
    // A character card keeps in `character` what other scripts declare at the top level.
    if let Some(Value::Object(character)) = config.get("character").cloned() {
        for (name, value) in character {
            config.entry(name).or_insert(value);
        }
    }
    for input in &manifest.inputs {
        let unset = config.get(&input.name).is_none_or(Value::is_null);
        if let Some(default) = input.default.clone().filter(|_| unset) {
            config.insert(input.name.clone(), default);
        }
    }
}

fn file_constants(manifest: &Manifest) -> Map<String, Value> {
    let of = |name: &str, value: String| (name.to_owned(), Value::from(value));
    // Public scripts write `__dirname + "README.md"`.
    let folder = format!("{}/", manifest.origin.folder.display());
    [of("__dirname", folder), of("__filename", manifest.origin.file.clone())].into_iter().collect()
}

fn take_map(config: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match config.shift_remove(key) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
