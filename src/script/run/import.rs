//! The names a running script can call: its own functions, imported modules, other scripts and
//! their exports.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::error::{ScriptFlow, ScriptResult, quoted};
use super::super::manifest::imports::strip_dollar;
use super::super::manifest::input::ScriptArgs;
use super::super::manifest::{Export, Import, ImportKind, ImportPick, Manifest, Picks};
use super::super::source::{self, ScriptLibrary};
use super::super::wasm;
use super::arguments::ArgValues;
use super::frame::{Callee, Frame, ScriptRun};
use super::js::{bind_js, call_js, load_js_module};
use super::modules::{npm_package, read_js_files};
use avocet_core::i18n::script_run as phrases;

/// The name of a module's initialiser.
const INIT: &str = "initializeExec";

/// Loads the imports of the script, and runs their initialisers.
pub async fn load_imports(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    let shape = frame.manifest.clone();
    for import in &shape.imports {
        frame.require_trust("import")?;
        let came = load_import(run, frame, import).await;
        let spot = &import.location;

        came.map_err(|halt| halt.leave_script(None).or_location(&spot.file, spot.position))?;
    }
    Ok(())
}

async fn load_import(run: &mut ScriptRun, frame: &mut Frame, import: &Import) -> ScriptResult {
    match &import.kind {
        ImportKind::Module(name) => {
            let package = npm_package(run.library.files(), &frame.manifest.origin.folder, name);
            let (folder, files) = match &package {
                Some(package) => read_js_files(run.library.files(), package.root(), &package.main)?,
                None => Default::default(),
            };
            let (id, names) = load_js_module(run, frame, name, folder, files).await?;
            import_functions(run, frame, import, &id, &camel_case(name), names).await
        }
        ImportKind::File(name) => {
            let path = run.library.resolve_import(name, &frame.manifest.origin.folder);
            let own = &frame.manifest.origin.folder;
            let (folder, files) = read_js_files(run.library.files(), own, &path)?;
            let (id, names) = load_js_module(run, frame, name, folder, files).await?;
            import_functions(run, frame, import, &id, &module_name(name), names).await
        }
        ImportKind::Wasm(name) => import_wasm(&run.library, frame, import, name),
        ImportKind::Script(name) => import_script(run, frame, import, name).await,
    }
}

/// Adds the functions of a module, under the names the entry sets.
async fn import_functions(
    run: &mut ScriptRun,
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
                // The default of a module has the module's name.
                let alias = if *name == "default" { short.to_owned() } else { strip_dollar(name) };
                import_function(run, frame, &inside(name), &alias, false).await?;
            }
        }
        Picks::Namespace | Picks::Alias(_) => {
            let object = match &import.picks {
                Picks::Alias(name) => name.clone(),
                _ => short.to_owned(),
            };
            for name in &plain {
                let full = format!("{object}.{}", strip_dollar(name));
                frame.bindings.add(&full, Callee::Js { name: inside(name), takes_object: false });
            }
            bind_js(run, frame, &object, module).await?;
        }
        Picks::Selected(picks) => {
            for pick in picks {
                let name = find_export(&plain, pick)
                    .ok_or_else(|| phrases::NO_EXPORT.with("name", quoted(&pick.name)))?;
                let alias = pick.alias.clone().unwrap_or_else(|| strip_dollar(name));
                import_function(run, frame, &inside(name), &alias, pick.template).await?;
            }
        }
    }
    match names.iter().find(|name| strip_dollar(name) == INIT) {
        Some(init) if !import.skips_init => call_initialiser(run, frame, &inside(init)).await,
        _ => Ok(()),
    }
}

async fn call_initialiser(run: &mut ScriptRun, frame: &mut Frame, name: &str) -> ScriptResult {
    let data = Value::Object(init_data(frame));
    let caller = json!({ "id": frame.manifest.id() });
    call_js(run, frame, name, vec![data, caller]).await.map(|_| ())
}

async fn import_function(
    run: &mut ScriptRun,
    frame: &mut Frame,
    inside: &str,
    name: &str,
    template: bool,
) -> ScriptResult {
    match name.strip_prefix("template$").or(template.then_some(name)) {
        Some(name) => frame.bindings.add_template(name, inside),
        // An existing name stays.
        None if frame.bindings.has_function(name) => {}
        None => {
            bind_js(run, frame, name, inside).await?;
            let callee = Callee::Js { name: inside.to_owned(), takes_object: false };
            frame.bindings.add(name, callee);
        }
    }
    Ok(())
}

fn import_wasm(
    library: &ScriptLibrary,
    frame: &mut Frame,
    import: &Import,
    name: &str,
) -> ScriptResult {
    let path = library.resolve_import(name, &frame.manifest.origin.folder);
    let bytes = library.files().read_bytes(&path)?;
    let bytes = bytes.ok_or_else(|| phrases::NO_FILE.with("name", quoted(name)))?;
    let module = wasm::Module::read(&bytes)?;
    let at = frame.bindings.wasm.len();
    let names = module.functions();
    frame.bindings.wasm.push(module);
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
        frame.bindings.add(&alias, Callee::Wasm { module: at, name: function });
    }
    Ok(())
}

/// Imports another script: itself as a function, or its exports.
async fn import_script(
    run: &mut ScriptRun,
    frame: &mut Frame,
    import: &Import,
    name: &str,
) -> ScriptResult {
    let source = run.library.find(name, &frame.manifest.origin.folder)?;
    let is_package = source.origin.package.is_some() && !name.contains('#');
    let shape = Arc::new(Manifest::load(source, &run.library)?);
    let given: Vec<(String, Callee)> =
        script_exports(run, frame, import, &shape, is_package).await?;
    if let Picks::Selected(picks) = &import.picks {
        for pick in picks {
            let callee = given.iter().find(|(name, _)| *name == pick.name);
            let (name, callee) =
                callee.ok_or_else(|| phrases::NO_EXPORT.with("name", quoted(&pick.name)))?;
            frame.bindings.add(pick.alias.as_ref().unwrap_or(name), callee.clone());
        }
        return Ok(());
    }
    for (name, callee) in given {
        let name = match (&import.picks, name.strip_prefix(shape.id())) {
            (Picks::Alias(alias), Some(rest)) if shape.exports.is_none() => {
                format!("{alias}{rest}")
            }
            (Picks::Alias(alias), _) => format!("{alias}.{name}"),
            _ => name,
        };
        frame.bindings.add(&name, callee);
    }
    Ok(())
}

/// The names a script exports; it is started if it has anything to run.
async fn script_exports(
    run: &mut ScriptRun,
    frame: &mut Frame,
    import: &Import,
    shape: &Arc<Manifest>,
    is_package: bool,
) -> ScriptResult<Vec<(String, Callee)>> {
    let itself = |manifest: &Arc<Manifest>| {
        vec![
            (manifest.id().to_owned(), Callee::Script(manifest.clone())),
            (format!("{}.interact", manifest.id()), Callee::Interact(manifest.clone())),
        ]
    };
    if shape.exports.is_none() && !is_package {
        return Ok(itself(shape));
    }
    let mut data = init_data(frame);
    data.insert("_initCaller".to_owned(), json!({ "id": frame.manifest.id() }));
    let args = ScriptArgs::from(data.clone());
    check_start(frame, shape)?;
    // An initialiser reads the values it needs; inputs are for calls.
    let started = Arc::new(Manifest { inputs: Vec::new(), ..shape.as_ref().clone() });
    let mut module = Frame::new(started, args, &frame.permissions)?;
    prepare_module(run, &mut module).await?;
    let mut given = Vec::new();
    let mut foreign = Vec::new();
    for export in shape.exports.iter().flatten() {
        match export {
            Export::Itself => given.extend(itself(shape)),
            Export::Function { name, alias } => {
                if !module.bindings.has_function(name) {
                    return Err(phrases::NO_EXPORT.with("name", quoted(name)).into());
                }
                let shown = alias.clone().unwrap_or_else(|| name.clone());
                foreign.push((shown, name.clone()));
            }
            Export::Import(import) => {
                let before: Vec<String> = module.bindings.callees.keys().cloned().collect();
                Box::pin(load_import(run, &mut module, import)).await?;
                let new = module.bindings.callees.keys().filter(|name| !before.contains(name));
                foreign.extend(new.map(|name| (name.clone(), name.clone())));
            }
        }
    }
    // The script itself can always be called, whatever it exports.
    let own = itself(shape);
    if given.iter().all(|(name, _)| *name != own[0].0) {
        given.extend(own);
    }
    if !import.skips_init {
        run_initialiser(run, &mut module, Value::Object(data)).await?;
    }
    let at = frame.bindings.add_module(module);
    given.extend(
        foreign.into_iter().map(|(shown, name)| (shown, Callee::OtherScript { module: at, name })),
    );
    Ok(given)
}

/// Sets up a script that is imported, which may import others.
async fn prepare_module(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    run.limits.enter(frame.manifest.id())?;
    let came = Box::pin(run.prepare(frame)).await;
    run.limits.leave();
    came
}

/// A script that is forbidden is not started either.
fn check_start(frame: &Frame, manifest: &Manifest) -> ScriptResult {
    frame.check_not_denied(&manifest.call_names(manifest.id(), []), &Map::new())
}

/// Runs the initialiser of a toolset, with the defaults for its tools.
pub async fn start_toolset(
    run: &mut ScriptRun,
    frame: &Frame,
    manifest: Arc<Manifest>,
    defaults: Map<String, Value>,
) -> ScriptResult {
    check_start(frame, &manifest)?;
    let mut data = init_data(frame);
    data.extend(defaults);
    data.insert("_initCaller".to_owned(), json!({ "id": frame.manifest.id() }));
    let file = manifest.origin.clone();
    let started = Arc::new(Manifest { inputs: Vec::new(), ..manifest.as_ref().clone() });
    let mut module = Frame::new(started, ScriptArgs::from(data.clone()), &frame.permissions)?;
    let came = async {
        prepare_module(run, &mut module).await?;
        run_initialiser(run, &mut module, Value::Object(data)).await
    };
    came.await.map_err(|flow: ScriptFlow| flow.leave_script(file.built_in_file()))
}

/// Runs the initialiser of an imported script.
async fn run_initialiser(run: &mut ScriptRun, frame: &mut Frame, data: Value) -> ScriptResult {
    let setting = frame.manifest.front_matter.get("$initializeExec").cloned();
    if setting.as_ref().is_some_and(|node| node.to_value() == Value::Bool(false)) {
        return Ok(());
    }
    let own = setting.filter(|node| node.as_text().is_some());
    let has_function = own.is_some() || frame.bindings.has_function(INIT);
    if !has_function || frame.values.flag("runSelfBeforeInitializeExec") == Some(true) {
        Box::pin(run.run_without_answer(frame)).await?;
    }
    if has_function {
        let name = match &own {
            Some(node) => strip_dollar(&run.callback_name(frame, node).await?),
            None => INIT.to_owned(),
        };
        Box::pin(run.call_function(frame, &name, ArgValues::from(vec![data]))).await?;
    }
    Ok(())
}

/// The data of an initialiser: the arguments of the importing script, or their defaults.
fn init_data(frame: &Frame) -> Map<String, Value> {
    let mut data = Map::new();
    for input in &frame.manifest.inputs {
        if let Some(value) = frame.values.config.get(&input.name) {
            data.insert(input.name.clone(), value.clone());
        }
    }
    data.extend(frame.values.args.clone());
    data
}

fn find_export<'a>(names: &[&'a String], pick: &ImportPick) -> Option<&'a String> {
    let wanted = [pick.name.clone(), format!("template${}", pick.name)];
    names.iter().find(|name| wanted.contains(&strip_dollar(name))).copied()
}

/// `left-pad` is `leftPad`.
fn camel_case(name: &str) -> String {
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut out = words.next().unwrap_or(name).to_owned();
    for word in words {
        let mut chars = word.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}

/// `./lib/my.mjs` is `my`.
fn module_name(name: &str) -> String {
    let file = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_else(|| name.to_owned());
    let file = source::stem(&file).to_owned();
    file.split('.').next().unwrap_or(&file).to_owned()
}
