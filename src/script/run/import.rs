//! The names a running script can call: its own functions, imported modules, other scripts and
//! their exports.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::failure::LocatedError;
use super::super::fault::quoted;
use super::super::manifest::imports::strip_dollar;
use super::super::manifest::input::ScriptArgs;
use super::super::manifest::{Export, Import, ImportKind, ImportPick, Manifest, Picks};
use super::super::source;
use super::super::wasm;
use super::arguments::ArgValues;
use super::frame::{Callee, Frame, ScriptFlow, ScriptResult, ScriptRun};
use crate::i18n::script_run as words;

/// The name of a module's initialiser.
const INIT: &str = "initializeExec";

impl ScriptRun {
    /// Loads the imports of the script, and runs their initialisers.
    pub async fn load_imports(&mut self, frame: &mut Frame) -> ScriptResult {
        let shape = frame.manifest.clone();
        for import in &shape.imports {
            self.require_trust(frame, "import")?;
            self.load_import(frame, import).await.map_err(|halt| match halt {
                ScriptFlow::Failed(failure) => {
                    failure.or_location(&import.location.file, import.location.position).into()
                }
                other => other,
            })?;
        }
        Ok(())
    }

    async fn load_import(&mut self, frame: &mut Frame, import: &Import) -> ScriptResult {
        match &import.kind {
            ImportKind::Module(name) => {
                let (id, names) = self.load_js_module(frame, name, Vec::new()).await?;
                self.import_functions(frame, import, &id, name, names).await
            }
            ImportKind::File(name) => {
                let path = self.library.resolve_import(name, &frame.manifest.origin.folder);
                let files = self.read_js_files(frame, &path)?;
                let (id, names) = self.load_js_module(frame, name, files).await?;
                self.import_functions(frame, import, &id, &module_name(name), names).await
            }
            ImportKind::Wasm(name) => self.import_wasm(frame, import, name),
            ImportKind::Script(name) => self.import_script(frame, import, name).await,
        }
    }

    /// Adds the functions of a module, under the names the entry sets.
    async fn import_functions(
        &mut self,
        frame: &mut Frame,
        import: &Import,
        module: &str,
        short: &str,
        names: Vec<String>,
    ) -> ScriptResult {
        let inside = |name: &str| format!("{module}.{name}");
        let plain: Vec<&String> = names.iter().filter(|name| strip_dollar(name) != INIT).collect();
        match &import.picks {
            Picks::All => {
                for name in &plain {
                    self.import_function(frame, &inside(name), &strip_dollar(name), false).await?;
                }
            }
            Picks::Namespace | Picks::Alias(_) => {
                let object = match &import.picks {
                    Picks::Alias(name) => name.clone(),
                    _ => short.to_owned(),
                };
                for name in &plain {
                    let full = format!("{object}.{}", strip_dollar(name));
                    frame
                        .imports
                        .add(&full, Callee::Js { name: inside(name), takes_object: false });
                }
                self.bind_js(frame, &object, module).await?;
            }
            Picks::Selected(picks) => {
                for pick in picks {
                    let name = find_export(&plain, pick)
                        .ok_or_else(|| words::NO_EXPORT.with("name", quoted(&pick.name)))?;
                    let alias = pick.alias.clone().unwrap_or_else(|| strip_dollar(name));
                    self.import_function(frame, &inside(name), &alias, pick.template).await?;
                }
            }
        }
        let init =
            names.iter().find(|name| strip_dollar(name) == INIT).filter(|_| !import.skips_init);
        if let Some(init) = init {
            let data = init_data(frame);
            let caller = json!({ "id": frame.manifest.id() });
            self.call_js(frame, &inside(init), vec![data, caller]).await?;
        }
        Ok(())
    }

    async fn import_function(
        &mut self,
        frame: &mut Frame,
        inside: &str,
        name: &str,
        template: bool,
    ) -> ScriptResult {
        match name.strip_prefix("template$").or(template.then_some(name)) {
            Some(name) => frame.imports.add_template(name, inside),
            // An existing name stays.
            None if frame.imports.has_function(name) => {}
            None => {
                self.bind_js(frame, name, inside).await?;
                let callee = Callee::Js { name: inside.to_owned(), takes_object: false };
                frame.imports.add(name, callee);
            }
        }
        Ok(())
    }

    fn import_wasm(&mut self, frame: &mut Frame, import: &Import, name: &str) -> ScriptResult {
        let path = self.library.resolve_import(name, &frame.manifest.origin.folder);
        let bytes = self
            .library
            .files()
            .read_bytes(&path)?
            .ok_or_else(|| words::NO_FILE.with("name", quoted(name)))?;
        let module = wasm::Module::read(&bytes)?;
        let at = frame.imports.wasm.len();
        let names = module.functions();
        frame.imports.wasm.push(module);
        let object = match &import.picks {
            Picks::Namespace => Some(module_name(name)),
            Picks::Alias(name) => Some(name.clone()),
            Picks::All | Picks::Selected(_) => None,
        };
        for function in names {
            let alias = match &import.picks {
                Picks::Selected(picks) => match picks.iter().find(|pick| pick.name == function) {
                    Some(pick) => pick.alias.clone().unwrap_or_else(|| function.clone()),
                    None => continue,
                },
                _ => match &object {
                    Some(object) => format!("{object}.{function}"),
                    None => function.clone(),
                },
            };
            frame.imports.add(&alias, Callee::Wasm { module: at, name: function });
        }
        Ok(())
    }

    /// Imports another script: itself as a function, or its exports.
    async fn import_script(
        &mut self,
        frame: &mut Frame,
        import: &Import,
        name: &str,
    ) -> ScriptResult {
        let source = self.library.find(name, &frame.manifest.origin.folder)?;
        let is_package = source.origin.package.is_some() && !name.contains('#');
        let shape = Arc::new(Manifest::load(source, &self.library)?);
        let given: Vec<(String, Callee)> =
            self.script_exports(frame, import, &shape, is_package).await?;
        match &import.picks {
            Picks::All | Picks::Namespace => {
                for (name, callee) in given {
                    frame.imports.add(&name, callee);
                }
            }
            Picks::Alias(alias) => {
                let has_self = shape.exports.is_none();
                for (name, callee) in given {
                    let name = match name.strip_prefix(shape.id()) {
                        Some(rest) if has_self => format!("{alias}{rest}"),
                        _ => format!("{alias}.{name}"),
                    };
                    frame.imports.add(&name, callee);
                }
            }
            Picks::Selected(picks) => {
                for pick in picks {
                    let callee = given.iter().find(|(name, _)| *name == pick.name);
                    let (name, callee) = callee
                        .ok_or_else(|| words::NO_EXPORT.with("name", quoted(&pick.name)))?
                        .clone();
                    frame.imports.add(&pick.alias.clone().unwrap_or(name), callee);
                }
            }
        }
        Ok(())
    }

    /// The names a script exports; it is started if it has anything to run.
    async fn script_exports(
        &mut self,
        frame: &mut Frame,
        import: &Import,
        shape: &Arc<Manifest>,
        is_package: bool,
    ) -> ScriptResult<Vec<(String, Callee)>> {
        let itself = |shape: &Arc<Manifest>| {
            vec![
                (shape.id().to_owned(), Callee::Script(shape.clone())),
                (format!("{}.interact", shape.id()), Callee::Interact(shape.clone())),
            ]
        };
        if shape.exports.is_none() && !is_package {
            return Ok(itself(shape));
        }
        let mut data = match init_data(frame) {
            Value::Object(data) => data,
            _ => serde_json::Map::new(),
        };
        data.insert("_initCaller".to_owned(), json!({ "id": frame.manifest.id() }));
        let args = ScriptArgs { positional: Vec::new(), named: data.clone() };
        // An initialiser reads the values it needs; inputs are for calls.
        let started = Arc::new(Manifest { inputs: Vec::new(), ..shape.as_ref().clone() });
        let mut module = Frame::new(started, args, &frame.permissions)?;
        Box::pin(self.prepare(&mut module)).await?;
        let mut given = Vec::new();
        let mut foreign = Vec::new();
        for export in shape.exports.iter().flatten() {
            match export {
                Export::Itself => given.extend(itself(shape)),
                Export::Function { name, alias } => {
                    if !module.imports.has_function(name) {
                        return Err(words::NO_EXPORT.with("name", quoted(name)).into());
                    }
                    let shown = alias.clone().unwrap_or_else(|| name.clone());
                    foreign.push((shown, name.clone()));
                }
                Export::Import(import) => {
                    let before: Vec<String> = module.imports.callees.keys().cloned().collect();
                    Box::pin(self.load_import(&mut module, import)).await?;
                    let new = module.imports.callees.keys().filter(|name| !before.contains(name));
                    foreign.extend(new.map(|name| (name.clone(), name.clone())));
                }
            }
        }
        if shape.exports.is_none() {
            given.extend(itself(shape));
        }
        if !import.skips_init {
            self.run_initialiser(&mut module, Value::Object(data)).await?;
        }
        let at = frame.imports.add_module(module);
        given.extend(
            foreign
                .into_iter()
                .map(|(shown, name)| (shown, Callee::OtherScript { module: at, name })),
        );
        Ok(given)
    }

    /// Runs the initialiser of an imported script.
    async fn run_initialiser(&mut self, module: &mut Frame, data: Value) -> ScriptResult {
        let setting = module.manifest.front_matter.get("$initializeExec").cloned();
        let before = module.values.flag("runSelfBeforeInitializeExec") == Some(true);
        match setting {
            Some(node) if node.to_value() == Value::Bool(false) => return Ok(()),
            Some(node) if node.as_text().is_some() => {
                if before {
                    Box::pin(self.run_body_and_flush(module)).await?;
                }
                let name = self.callback_name(module, &node).await?;
                let passed = ArgValues::from(vec![data]);
                Box::pin(self.call_function(module, &strip_dollar(&name), passed)).await?;
                return Ok(());
            }
            _ => {}
        }
        if module.imports.has_function(INIT) {
            if before {
                Box::pin(self.run_body_and_flush(module)).await?;
            }
            let passed = ArgValues::from(vec![data]);
            Box::pin(self.call_function(module, INIT, passed)).await?;
            return Ok(());
        }
        Box::pin(self.run_body_and_flush(module)).await
    }

    async fn run_body_and_flush(&mut self, module: &mut Frame) -> ScriptResult {
        match self.run_body(module).await {
            Ok(()) | Err(ScriptFlow::Return(_) | ScriptFlow::Break | ScriptFlow::Continue) => {}
            Err(halt) => return Err(halt),
        }
        self.flush(module).await
    }

    /// Calls a function of a wasm module.
    pub fn call_wasm(
        &mut self,
        frame: &mut Frame,
        module: usize,
        name: &str,
        args: Vec<Value>,
    ) -> ScriptResult<Value> {
        let module = frame
            .imports
            .wasm
            .get_mut(module)
            .ok_or_else(|| LocatedError::new(words::NO_DIRECTIVE.with("name", quoted(name))))?;
        Ok(module.call(name, &args)?)
    }
}

/// The data of an initialiser: the arguments of the importing script, or their defaults.
fn init_data(frame: &Frame) -> Value {
    let mut data = serde_json::Map::new();
    for input in &frame.manifest.inputs {
        if let Some(value) = frame.values.config.get(&input.name) {
            data.insert(input.name.clone(), value.clone());
        }
    }
    data.extend(frame.values.args.clone());
    Value::Object(data)
}

fn find_export<'a>(names: &[&'a String], pick: &ImportPick) -> Option<&'a String> {
    let wanted = [pick.name.clone(), format!("template${}", pick.name)];
    names.iter().find(|name| wanted.contains(&strip_dollar(name))).copied()
}

/// `./lib/my.mjs` is `my`.
fn module_name(name: &str) -> String {
    let file = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_else(|| name.to_owned());
    let file = source::stem(&file).to_owned();
    file.split('.').next().unwrap_or(&file).to_owned()
}
