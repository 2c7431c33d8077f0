//! The declarations of a script, checked: its inputs, its base, its functions, its imports and
//! exports. A [`Manifest`] is the plan; nothing of it has run.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{LocatedError, Location};
use super::output;
use super::permission::CallNames;
use super::source::{ScriptLibrary, ScriptOrigin, ScriptSource};
use super::syntax::{ScriptValue, Tree};
use super::tool_protocol::{Param, ToolHelp};
use avocet_core::i18n::{LocalizedText, script_run as phrases};

pub mod imports;
pub mod input;
pub mod input_type;

pub use imports::{Export, Import, ImportKind, ImportPick, Picks};
pub use input::DeclaredInput;
pub use input_type::fit_args;

/// Longest chain of `type:` and `extends:`.
const MAX_LENGTH: usize = 16;
/// Types that only classify a script and do not refer to another script.
const PLAIN_TYPES: &[&str] = &[
    "type", "lib", "script", "function", "agent", "app", "tool", "toolset", "package", "prompt",
    "char",
];

/// A function declared in the body.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredFunction {
    pub source: String,
    /// `!fn#`: for templates.
    pub template: bool,
    pub location: Location,
    /// How far below its place its text begins, in lines.
    pub first_line: u32,
}

/// One instruction and its file: those of a base come before the script's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub node: ScriptValue,
    pub file: Arc<str>,
}

/// A script, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub origin: ScriptOrigin,
    /// The settings merged over those of the bases.
    pub config: Map<String, Value>,
    /// The head as written, for the functions in it.
    pub front_matter: ScriptValue,
    /// Its types, its own first.
    pub types: Vec<String>,
    pub inputs: Vec<DeclaredInput>,
    pub body: Vec<Instruction>,
    pub functions: Vec<DeclaredFunction>,
    pub imports: Vec<Import>,
    pub exports: Option<Vec<Export>>,
}

impl Manifest {
    /// Reads the declarations of a script and of its bases.
    pub fn load(source: ScriptSource, library: &ScriptLibrary) -> Result<Manifest, LocatedError> {
        let manifest = Manifest::read(source, library)?;
        match manifest.output_fault() {
            Some(fault) => Err(fault),
            None => Ok(manifest),
        }
    }

    /// The same for an editor, which reports a fault of the output with the others.
    pub fn read(source: ScriptSource, library: &ScriptLibrary) -> Result<Manifest, LocatedError> {
        let (manifest, faults) = Manifest::read_all(source, library);
        faults.into_iter().next().map_or(Ok(manifest), Err)
    }

    /// What can be read of the declarations, and everything that is wrong with them.
    pub fn read_all(
        source: ScriptSource,
        library: &ScriptLibrary,
    ) -> (Manifest, Vec<LocatedError>) {
        let seen = vec![source.origin.file.clone()];
        let mut loading = Loading { library, seen, faults: Vec::new() };
        let manifest = loading.load_with_bases(source);
        (manifest, loading.faults)
    }

    pub fn output_fault(&self) -> Option<LocatedError> {
        let what = output::misspelt_type(self.output()?)?;
        Some(LocatedError::with_location(what, key_location(self, "output")))
    }

    pub fn id(&self) -> &str {
        &self.origin.id
    }

    /// The names a permission may know it by: its ID, its file's name, that of its package, and
    /// those of the call.
    pub fn call_names<'a>(
        &'a self,
        written: &str,
        others: impl IntoIterator<Item = &'a str>,
    ) -> CallNames {
        let file = Path::new(&self.origin.file).file_name().and_then(|name| name.to_str());
        let package = self.origin.package.as_deref();
        let own = [Some(self.id()), file.filter(|_| package.is_none()), package];
        CallNames::new(written, own.into_iter().flatten().chain(others))
    }

    pub fn text_setting(&self, key: &str) -> Option<&str> {
        self.config.get(key).and_then(Value::as_str)
    }

    /// The name it uses in a chat.
    pub fn name(&self) -> &str {
        let character = self.config.get("character").and_then(|it| it.get("name"));
        let named = self.text_setting("name").or(character.and_then(Value::as_str));
        named.unwrap_or(self.id())
    }

    /// Chat role to script ID.
    pub fn roles(&self) -> Map<String, Value> {
        let inside = self.config.get("character").and_then(|it| it.get("roles"));
        match self.config.get("roles").or(inside) {
            Some(Value::Object(roles)) => roles.clone(),
            _ => Map::new(),
        }
    }

    pub fn has_input(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.name == name)
    }

    /// The value that the script itself gives an input: its setting, that of its character card, or
    /// the input's default.
    pub fn own_value<'a>(&'a self, input: &'a DeclaredInput) -> Option<&'a Value> {
        let card = self.config.get("character").and_then(|card| card.get(&input.name));
        let set = self.config.get(&input.name).or(card);
        set.filter(|value| !value.is_null()).or(input.default.as_ref())
    }

    pub fn has_type(&self, kind: &str) -> bool {
        self.types.iter().any(|known| known == kind)
    }

    /// Its description for a model; `None` if it does not say what it is for.
    pub fn help(&self) -> Option<ToolHelp> {
        let title = self.text_setting("title").or(self.text_setting("description"))?;
        let title = title.lines().next().unwrap_or_default().to_owned();
        Some(ToolHelp { id: self.id().to_owned(), title, params: self.params(&Map::new()) })
    }

    /// Its inputs for a model; the caller's defaults take precedence.
    pub fn params(&self, defaults: &Map<String, Value>) -> Vec<Param> {
        let param = |input: &DeclaredInput| {
            let set = defaults.get(&input.name).or_else(|| self.own_value(input));
            Param {
                name: input.name.clone(),
                required: input.required,
                default: set.cloned(),
                about: input.about.clone(),
            }
        };
        self.inputs.iter().map(param).collect()
    }

    /// What it takes and what it gives, for its users.
    pub fn interface(&self) -> [LocalizedText; 2] {
        let shown = |input: &DeclaredInput| {
            let name = if input.required {
                phrases::REQUIRED.with("name", input.name.clone()).to_string()
            } else {
                input.name.clone()
            };
            let set = self.own_value(input).map(|it| format!(" = {it}"));
            let about = input.about.get("description").and_then(Value::as_str);
            let about = about.map(|about| format!(": {about}"));
            name + &set.unwrap_or_default() + &about.unwrap_or_default()
        };
        let inputs: Vec<String> = self.inputs.iter().map(shown).collect();
        let takes = if inputs.is_empty() {
            phrases::TAKES_NOTHING.into()
        } else {
            phrases::TAKES.with("inputs", inputs.join("; "))
        };
        let gives = match self.output() {
            Some(output) => phrases::GIVES.with("output", output.to_string()),
            None => phrases::GIVES_TEXT.into(),
        };
        [takes, gives]
    }

    pub fn output(&self) -> Option<&Value> {
        self.config.get("output").filter(|output| !output.is_null())
    }
}

/// The reading of a script and its bases.
struct Loading<'a> {
    library: &'a ScriptLibrary,
    /// The files that led here.
    seen: Vec<String>,
    faults: Vec<LocatedError>,
}

impl Loading<'_> {
    fn load_with_bases(&mut self, source: ScriptSource) -> Manifest {
        let ScriptSource { origin, document } = source;
        let mut manifest =
            parse_declarations(&origin, document.front_matter, document.body, &mut self.faults);
        let mut types = Vec::new();
        if let Some(kind) = manifest.text_setting("type").map(str::to_owned) {
            types.push(kind.clone());
            if let Some(base) = self.load_type(&kind, &manifest) {
                types.extend(base.types.iter().cloned());
                manifest = merge_over_base(base, manifest);
            }
        }
        if let Some(id) =
            manifest.front_matter.get("extends").and_then(ScriptValue::as_text).map(str::to_owned)
            && let Some(base) = self.load_base(&id, &manifest)
        {
            types.extend(base.types.iter().cloned());
            manifest = merge_over_base(base, manifest);
        }
        manifest.types = types;
        let wrong =
            manifest.front_matter.get("input").map(input::wrong_entries).unwrap_or_default();
        self.faults.extend(wrong.into_iter().map(|place| {
            let location = Location::new(&manifest.origin.file, place);
            LocatedError::with_location(phrases::INPUT_NO_LIST, location)
        }));
        manifest.inputs = input::parse_inputs(manifest.config.get("input"));
        manifest
    }

    /// The type script that `type:` names; `None` for a type that is only a label.
    fn load_type(&mut self, kind: &str, manifest: &Manifest) -> Option<Manifest> {
        if kind == "type" {
            return None;
        }
        let found = self.library.find(kind, &manifest.origin.folder);
        let is_type = |value: &ScriptValue| value.get("type").is_some();
        let is_plain = PLAIN_TYPES.contains(&kind);
        let source = match found {
            // A script without a type of its own is not a type: the word stays a label.
            Ok(source) if !is_type(&source.document.front_matter) && is_plain => return None,
            Ok(source) if self.seen.contains(&source.origin.file) && is_plain => return None,
            Ok(source) => source,
            Err(failure) if failure.location.is_some() => {
                self.faults.push(failure);
                return None;
            }
            Err(_) if is_plain => return None,
            Err(_) => {
                self.fault(
                    phrases::NO_TYPE.with("name", super::error::quoted(kind)),
                    manifest,
                    "type",
                );
                return None;
            }
        };
        let base = self.load_without_cycle(source, manifest, "type")?;
        if !base.has_type("type") {
            self.fault(
                phrases::NOT_A_TYPE.with("name", super::error::quoted(kind)),
                manifest,
                "type",
            );
            return None;
        }
        Some(base)
    }

    fn load_base(&mut self, id: &str, manifest: &Manifest) -> Option<Manifest> {
        match self.library.find(id, &manifest.origin.folder) {
            Ok(source) => self.load_without_cycle(source, manifest, "extends"),
            Err(failure) => {
                let place = value_location(manifest, "extends").position;
                self.faults.push(failure.or_location(&manifest.origin.file, place));
                None
            }
        }
    }

    fn load_without_cycle(
        &mut self,
        source: ScriptSource,
        manifest: &Manifest,
        key: &str,
    ) -> Option<Manifest> {
        if self.seen.contains(&source.origin.file) || self.seen.len() >= MAX_LENGTH {
            self.fault(phrases::CIRCLE.with("name", source.origin.file.clone()), manifest, key);
            return None;
        }
        self.seen.push(source.origin.file.clone());
        let base = self.load_with_bases(source);
        self.seen.pop();
        Some(base)
    }

    fn fault(&mut self, text: LocalizedText, manifest: &Manifest, key: &str) {
        self.faults.push(LocatedError::with_location(text, value_location(manifest, key)));
    }
}

/// The place of the value of a key in the head.
fn value_location(manifest: &Manifest, key: &str) -> Location {
    let node = manifest.front_matter.get(key);
    let place = node.map_or(manifest.front_matter.position, |node| node.position);
    Location::new(&manifest.origin.file, place)
}

/// The place of a key in the head.
pub fn key_location(manifest: &Manifest, key: &str) -> Location {
    let pair = manifest
        .front_matter
        .pairs()
        .iter()
        .find(|(name, _)| name.key_text().as_deref() == Some(key));
    let place = pair.map_or(manifest.front_matter.position, |(name, _)| name.position);
    Location::new(&manifest.origin.file, place)
}

/// The declarations of one file, without its bases.
fn parse_declarations(
    origin: &ScriptOrigin,
    value: ScriptValue,
    values: Vec<ScriptValue>,
    errors: &mut Vec<LocatedError>,
) -> Manifest {
    let mut config = match value.to_value() {
        Value::Object(config) => config,
        _ => Map::new(),
    };
    normalise_input(&mut config);
    let (functions, items) = split_body(origin, values, errors);
    let imports = imports::parse_imports(value.get("import"), &origin.file, errors);
    let exports =
        value.get("export").map(|node| imports::parse_exports(node, &origin.file, errors));
    Manifest {
        origin: origin.clone(),
        config,
        front_matter: value,
        types: Vec::new(),
        inputs: Vec::new(),
        body: items,
        functions,
        imports,
        exports,
    }
}

/// The functions of a script, and its instructions.
fn split_body(
    origin: &ScriptOrigin,
    values: Vec<ScriptValue>,
    errors: &mut Vec<LocatedError>,
) -> (Vec<DeclaredFunction>, Vec<Instruction>) {
    let file: Arc<str> = Arc::from(origin.file.as_str());
    let mut functions = Vec::new();
    let mut items = Vec::new();
    for node in values {
        match (node.tag.as_deref(), &node.tree) {
            (Some("fn" | "fn#"), Tree::Text(source)) => functions.push(DeclaredFunction {
                source: source.clone(),
                template: node.tag.as_deref() == Some("fn#"),
                location: Location::new(&origin.file, node.position),
                first_line: node.text_below,
            }),
            (Some(tag), _) => {
                let what = phrases::UNKNOWN_TAG.with("tag", super::error::quoted(tag));
                let location = Location::new(&origin.file, node.position);
                errors.push(LocatedError::with_location(what, location));
            }
            (None, _) => items.push(Instruction { node, file: file.clone() }),
        }
    }
    (functions, items)
}

/// Converts to the list form, so that a base's inputs and the script's own can be joined.
fn normalise_input(config: &mut Map<String, Value>) {
    if let Some(Value::Object(inputs)) = config.get("input") {
        let list = inputs.iter().map(|(name, about)| match about {
            Value::Null => Value::String(name.clone()),
            about => serde_json::json!({ name: about }),
        });
        let list = Value::Array(list.collect());
        config.insert("input".to_owned(), list);
    }
}

/// Keys that apply to one file and are not inherited.
const OWN: &[&str] = &["_id", "type", "extends", "import", "export", "创", "签"];

/// Merges a script over its base: its own settings win, the base's instructions come first.
fn merge_over_base(manifest: Manifest, child_manifest: Manifest) -> Manifest {
    let mut config = child_manifest.config;
    for (key, value) in manifest.config {
        if !OWN.contains(&key.as_str()) {
            merge_setting(&mut config, key, value);
        }
    }
    let is_sealed = manifest.origin.is_sealed || child_manifest.origin.is_sealed;
    Manifest {
        origin: ScriptOrigin { is_sealed, ..child_manifest.origin },
        config,
        body: manifest.body.into_iter().chain(child_manifest.body).collect(),
        functions: manifest.functions.into_iter().chain(child_manifest.functions).collect(),
        imports: manifest.imports.into_iter().chain(child_manifest.imports).collect(),
        ..child_manifest
    }
}

fn merge_setting(into: &mut Map<String, Value>, key: String, base: Value) {
    match (into.get_mut(&key), base) {
        (None | Some(Value::Null), base) => {
            into.insert(key, base);
        }
        (Some(Value::Object(own)), Value::Object(base)) => {
            for (key, value) in base {
                merge_setting(own, key, value);
            }
        }
        (Some(Value::Array(own)), Value::Array(mut base)) => {
            let added = own.drain(..).filter(|item| !base.contains(item)).collect::<Vec<_>>();
            base.extend(added);
            *own = base;
        }
        (Some(_), _) => {}
    }
}
