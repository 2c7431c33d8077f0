//! The names a script has before it runs: its functions and imports, and the variables that
//! something sets.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

use super::near::with_near;
use crate::directive;
use crate::error::{LocatedError, ScriptFlow, SourcePosition, quoted};
use crate::js::{function_name, function_source};
use crate::manifest::imports::strip_dollar;
use crate::manifest::{Export, Import, ImportKind, Manifest, Picks};
use crate::run::modules::{JsFile, npm_package, read_js_files};
use crate::source::ScriptLibrary;
use crate::syntax::{ScriptValue, Tree};
use crate::text::{MessageText, PlaceholderMark, TextSpan, args};
use crate::wasm;
use avocet_core::i18n::script_run as phrases;

/// Variables that a run always has, or that a caller, a loop, a chain or a trigger gives.
pub const GIVEN: &[&str] = &[
    "LatestResult",
    "RESPONSE",
    "prompt",
    "parameters",
    "content",
    "result",
    "message",
    "value",
    "index",
    "items",
    "error",
    "output",
    "memory",
    "operation",
    "keyword",
    "env",
    "__dirname",
    "__filename",
    "loop",
    "range",
    "dict",
    "namespace",
    "debug",
    "raise_exception",
];

/// Modules that the engine itself has, with their functions.
#[rustfmt::skip]
pub const ENGINE_MODULES: &[(&str, &[&str])] = &[
    ("path", &["basename", "dirname", "extname", "format", "isAbsolute", "join", "normalize",
        "parse", "relative", "resolve"]),
    ("os", &["homedir", "platform", "tmpdir", "type"]),
    ("child_process", &["exec", "execFile", "execFileSync", "execSync", "spawn", "spawnSync"]),
    ("fs", &["access", "accessSync", "existsSync", "readFile", "readFileSync", "readdir",
        "readdirSync", "writeFile", "writeFileSync"]),
    ("fs/promises", &["access", "readFile", "readdir", "writeFile"]),
    ("util", &["promisify"]),
    ("process", &["cwd"]),
];

/// The functions of a module of the engine.
fn engine_functions(name: &str) -> Option<&'static [&'static str]> {
    let name = name.strip_prefix("node:").unwrap_or(name);
    ENGINE_MODULES.iter().find(|(known, _)| *known == name).map(|(_, functions)| *functions)
}

pub fn is_engine_module(name: &str) -> bool {
    engine_functions(name).is_some()
}

/// A module whose files are compiled.
pub struct CheckedModule {
    pub folder: PathBuf,
    pub files: Vec<JsFile>,
}

#[derive(Default)]
pub struct KnownNames {
    pub functions: BTreeSet<String>,
    pub variables: BTreeSet<String>,
    pub faults: Vec<LocatedError>,
    pub modules: Vec<CheckedModule>,
    /// A module exports names that only running it would show.
    is_open: bool,
    /// Code sets variables whose names only running it would show.
    opens_variables: bool,
}

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static EXPORTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s*([\p{L}_$][\p{L}\p{N}_$]*)|\bexports\.([\p{L}_$][\p{L}\p{N}_$]*)\s*=|^\s*export\s*\{([^}]*)\}|module\.exports\s*=\s*\{([^}]*)\}").unwrap()
});

/// Exports whose names are not written: those of another file, of an object with others in it, of a
/// pattern, or several in one declaration.
#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static OPEN_EXPORTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\bexport\s*\*|(?:module\.exports\s*=|\bexport\s+default)\s*\{[^}]*\.\.\.|\bexport\s+default\s*\{|\bexport\s+(?:const|let|var)\s*[\[{]|\bexport\s+(?:const|let|var)\s[^;\n(]*,|Object\.(?:assign|defineProperty)\(\s*(?:module\.)?exports|\bexports\[",
    )
    .unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bthis\.(?:prompt\.)?([\p{L}_][\p{L}\p{N}_]*)").unwrap());

/// `this["zz"]`, `this.$set({zz: 1})`, `$push({zz: 1})`, `Object.assign(this, {zz: 1})`: every word in
/// what is passed may be a name.
#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static SET_BY_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\bthis\[\s*["'`]([^"'`]*)["'`]\s*\]|\$(?:set|push|prompt|parameters)\s*\(([^;]*)|\bObject\.assign\(\s*this\s*,([^;]*)"#,
    )
    .unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{L}_][\p{L}\p{N}_]*").unwrap());

/// The script's values under another name, or names that are computed.
#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static HANDED_ON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"=\s*this\s*(?:[;,)}\n]|$)|[(,]\s*this\s*\)|\bthis\[\s*(?:[^"'`\s]|`[^`]*\$\{)|\$(?:set|push)\s*\(\s*[^{"'`\s]|\bObject\.assign\(\s*this\s*,\s*[^{\s]|\$(?:set|push)\s*\([^;]*\.\.\.|\bassign\(\s*this[^;]*\.\.\."#,
    )
    .unwrap()
});

/// The names that an expression calls without `$`, as in `foo(1)`. A text with functions of its own
/// may declare any.
pub fn called_names(text: &str) -> Vec<&str> {
    if ["=>", "function", "let ", "const ", "var ", "class "].iter().any(|it| text.contains(it)) {
        return Vec::new();
    }
    let names = CALLED_BARE.captures_iter(text).filter_map(|found| found.get(1));
    names.map(|name| name.as_str()).filter(|name| !KEYWORDS.contains(name)).collect()
}

const KEYWORDS: &[&str] = &[
    "typeof",
    "await",
    "void",
    "new",
    "delete",
    "in",
    "of",
    "instanceof",
    "return",
    "super",
    "import",
];

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static CALLED_BARE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(?:^|[^\p{L}\p{N}_$.?\s])\s*([\p{L}_][\p{L}\p{N}_]*)\("#)
        .unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:^|[^\p{L}\p{N}_$.])\$([\p{L}_][\p{L}\p{N}_.]*)\s*\("#)
        .unwrap()
});

/// The functions `$name(…)` that an expression calls, outside of quoted texts.
pub fn called_functions(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;

    while let Some(found) = CALLED.captures_at(text, at) {
        let name = found.get(1);
        names.extend(name.map(|it| it.as_str()));
        // The bracket after a name may begin the next call.
        at = name.or(found.get(0)).map_or(text.len(), |it| it.end());
    }
    names
}

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static CALLED_IN_SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*(?s:.*?)\*/|(?:\bthis\.|(?:^|[^\p{L}\p{N}_$.\s])\s*|\b(?:return|await|in|of|typeof|yield|else|do)\s+|\n\s*)\$([\p{L}_][\p{L}\p{N}_]*)\s*\("#)
        .unwrap()
});

/// The functions `$name(…)` and `this.$name(…)` that a function calls, without those whose name it
/// also uses in another way: it may have declared them, or asked whether they exist.
pub fn called_in_source(source: &str) -> Vec<String> {
    let (mut names, mut at): (Vec<String>, usize) = (Vec::new(), 0);
    while let Some(found) = CALLED_IN_SOURCE.captures_at(source, at) {
        let name = found.get(1);
        if let Some(name) = name.map(|it| it.as_str()) {
            let sign = format!("${name}");
            let mut uses = source.match_indices(&sign).map(|(at, _)| {
                let after = source.split_at(at).1.strip_prefix(&sign).unwrap_or_default();
                after.trim_start()
            });
            let is_part =
                |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let only_called = uses.all(|after| after.starts_with('(') || is_part(after));
            let is_declared = source.contains(&format!("function {sign}"));
            if only_called && !is_declared && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        at = name.or(found.get(0)).map_or(source.len(), |it| it.end().max(at + 1));
    }
    names
}

/// Names that JavaScript itself has.
#[rustfmt::skip]
const LANGUAGE: &[&str] = &[
    "Math", "JSON", "Date", "Object", "Array", "String", "Number", "Boolean", "BigInt", "RegExp",
    "Map", "Set", "WeakMap", "WeakSet", "Symbol", "Promise", "Error", "Intl", "Reflect", "Proxy",
    "console", "process", "require", "module", "exports", "crypto", "performance", "globalThis",
    "parseInt", "parseFloat", "isNaN", "isFinite", "encodeURIComponent", "decodeURIComponent",
    "encodeURI", "decodeURI", "structuredClone", "setTimeout", "clearTimeout", "setInterval",
    "queueMicrotask", "fetch", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "Buffer",
    "atob", "btoa", "Uint8Array", "ArrayBuffer", "COND__", "messages", "undefined", "NaN",
    "Infinity",
];

/// Whether JavaScript or every run has a name.
pub fn is_language_name(name: &str) -> bool {
    LANGUAGE.contains(&name)
}

impl KnownNames {
    /// Whether a text is written like a call of something that exists, but is not one.
    pub fn is_broken_call(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix('$') else { return false };
        let rest = rest.strip_prefix('|').unwrap_or(rest);
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_known = directive::find(name).is_some() || self.functions.contains(name);
        starts && (after.starts_with('(') || is_known && after.starts_with(':'))
    }

    pub fn of(manifest: &Manifest, library: &ScriptLibrary) -> KnownNames {
        let mut names = KnownNames::default();
        names.variables.extend(GIVEN.iter().map(|name| (*name).to_owned()));
        names.variables.extend(manifest.inputs.iter().map(|input| input.name.clone()));
        names.variables.extend(manifest.config.keys().cloned());
        for key in ["prompt", "parameters", "character"] {
            let inside = manifest.config.get(key).and_then(serde_json::Value::as_object);
            names.variables.extend(inside.into_iter().flatten().map(|(name, _)| name.clone()));
        }
        for function in &manifest.functions {
            let name = function_source(&function.source).ok().and_then(function_name);
            names.functions.extend(name.map(strip_dollar));
            names.add_assigned(&function.source);
            let short = name.and_then(|name| name.strip_prefix("template$")).map(str::to_owned);
            names.variables.extend(short.or(name.map(str::to_owned)));
        }
        for import in &manifest.imports {
            if let Err(fault) = names.add_import(manifest, library, import) {
                let file = &import.location.file;
                let place = import.location.position;

                names.faults.push(fault.or_location(file, place));
            }
        }
        // Handlers of events in the head set variables as well.
        manifest.front_matter.get("on").into_iter().for_each(|on| names.add_set(on));
        manifest.body.iter().for_each(|item| names.add_set(&item.node));
        names
    }

    /// A script without inputs may be passed any variable by what calls it.
    #[must_use]
    pub fn called(mut self, passes_any: bool) -> KnownNames {
        self.opens_variables |= passes_any;
        self
    }

    pub fn has_function(&self, name: &str) -> bool {
        self.is_open
            || self.functions.contains(name)
            || self.functions.contains(&first_name(name)) && name.contains('.')
    }

    /// Whether a name is one of the script's own functions, whatever directive has it as well.
    pub fn is_own(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    pub fn has_variable(&self, name: &str) -> bool {
        self.opens_variables || self.variables.contains(name) || self.functions.contains(name)
    }

    fn add_assigned(&mut self, source: &str) {
        let found = ASSIGNED.captures_iter(source).filter_map(|found| found.get(1));
        self.variables.extend(found.map(|name| name.as_str().to_owned()));
        for found in SET_BY_CODE.captures_iter(source) {
            let names =
                found.iter().skip(1).flatten().flat_map(|part| WORD.find_iter(part.as_str()));
            self.variables.extend(names.map(|name| name.as_str().to_owned()));
        }
        self.opens_variables |= HANDED_ON.is_match(source);
    }

    fn add_import(
        &mut self,
        manifest: &Manifest,
        library: &ScriptLibrary,
        import: &Import,
    ) -> Result<(), LocatedError> {
        let folder = &manifest.origin.folder;
        let exported = match &import.kind {
            ImportKind::Module(name) if is_engine_module(name) => {
                let all = engine_functions(name).filter(|_| matches!(import.picks, Picks::All));
                let all = all.map(|all| all.iter().map(|name| (*name).to_owned()).collect());
                return self.add_picked(import, name, all);
            }
            ImportKind::Module(name) => {
                let package = npm_package(library.files(), folder, name);
                let known = ENGINE_MODULES.iter().map(|(known, _)| *known);
                let missing =
                    || with_near(phrases::NO_PACKAGE.with("name", quoted(name)), name, known);
                let package = package.ok_or_else(missing)?;
                let read = read_js_files(library.files(), &package.folder, &package.main);
                self.add_files(read.map_err(failed)?)
            }
            ImportKind::File(name) => {
                let path = library.resolve_import(name, folder);
                let read = read_js_files(library.files(), folder, &path);
                self.add_files(read.map_err(failed)?)
            }
            ImportKind::Wasm(name) => {
                let path = library.resolve_import(name, folder);
                let bytes = library.files().read_bytes(&path)?;
                let bytes = bytes.ok_or_else(|| phrases::NO_FILE.with("name", quoted(name)))?;
                wasm::Module::read(&bytes)?.functions()
            }
            ImportKind::Script(name) => {
                let source = library.find(name, folder)?;
                let shape = Manifest::load(source, library)?;
                self.script_exports(&shape)
            }
        };
        self.add_picked(import, kind_name(&import.kind), Some(exported))
    }

    /// The names an entry brings in; `exported` is `None` if they are not known.
    fn add_picked(
        &mut self,
        import: &Import,
        name: &str,
        exported: Option<Vec<String>>,
    ) -> Result<(), LocatedError> {
        match &import.picks {
            Picks::All => self.functions.extend(exported.into_iter().flatten()),
            Picks::Namespace => drop(self.functions.insert(stem(name))),
            Picks::Alias(alias) => drop(self.functions.insert(alias.clone())),
            Picks::Selected(picks) => {
                for pick in picks {
                    let known = exported.as_ref().is_none_or(|all| {
                        let of = |it: &String| {
                            *it == pick.name || *it == format!("template${}", pick.name)
                        };
                        all.iter().any(of)
                    });
                    if !known && !self.is_open {
                        return Err(phrases::NO_EXPORT.with("name", quoted(&pick.name)).into());
                    }
                    let alias = pick.alias.as_ref().unwrap_or(&pick.name).clone();
                    self.variables.insert(alias.clone());
                    self.functions.insert(alias);
                }
            }
        }
        Ok(())
    }

    fn add_files(&mut self, (folder, files): (PathBuf, Vec<JsFile>)) -> Vec<String> {
        let mut out = Vec::new();
        for file in &files {
            self.add_assigned(&file.source);
        }
        if let Some(main) = files.last() {
            self.is_open |= OPEN_EXPORTS.is_match(&main.source);
            self.opens_variables |= self.is_open && main.source.contains("template$");
            for found in EXPORTED.captures_iter(&main.source) {
                out.extend(found.get(1).or(found.get(2)).map(|it| strip_dollar(it.as_str())));
                let list = found.get(3).or(found.get(4)).map_or("", |it| it.as_str());
                let last = |part: &str| {
                    let part = part.split(':').next().unwrap_or(part);
                    part.split_whitespace().last().map(strip_dollar)
                };
                out.extend(list.split(',').filter_map(last));
            }
            self.is_open |= main.source.contains("module.exports =") && out.is_empty();
        }
        let templates: Vec<String> = out
            .iter()
            .filter_map(|name| name.strip_prefix("template$"))
            .map(str::to_owned)
            .collect();
        self.variables.extend(templates);
        self.modules.push(CheckedModule { folder, files });
        out
    }

    fn script_exports(&mut self, manifest: &Manifest) -> Vec<String> {
        let mut out = vec![manifest.id().to_owned()];
        for export in manifest.exports.iter().flatten() {
            match export {
                Export::Itself => {}
                Export::Function { name, alias } => {
                    out.push(alias.as_ref().unwrap_or(name).clone())
                }
                Export::Import(import) => match (&import.picks, &import.kind) {
                    (Picks::Selected(picks), _) => out.extend(
                        picks.iter().map(|pick| pick.alias.as_ref().unwrap_or(&pick.name).clone()),
                    ),
                    (_, ImportKind::Script(name)) => out.push(stem(name)),
                    (Picks::All, ImportKind::Module(name)) if is_engine_module(name) => {
                        let all = engine_functions(name).into_iter().flatten();
                        out.extend(all.map(|name| (*name).to_owned()));
                    }
                    _ => self.is_open = true,
                },
            }
        }
        out
    }

    /// The variables that an instruction sets: by its marks, by `$set` and `$push`, by loops.
    fn add_set(&mut self, script_value: &ScriptValue) {
        match &script_value.tree {
            Tree::Text(text) => self.add_set_by_text(text),
            Tree::List(items) => items.iter().for_each(|item| self.add_set(item)),
            Tree::Map(pairs) => {
                for (key, value) in pairs {
                    let name = key.key_text().unwrap_or_default();
                    let call = args::parse_call(&name).filter(|_| name.starts_with('$'));
                    if let Some(call) = &call {
                        self.add_set_by_call(call);
                    }
                    match call.map_or(name.clone(), |call| call.name).as_str() {
                        "set" | "push" | "prompt" | "parameters" => {
                            let entries = named_entries(value).into_iter();
                            self.variables.extend(entries.map(|(name, _)| first_name(&name)));
                        }
                        "as" => {
                            let inside = value.pairs().iter().filter_map(|(_, it)| it.key_text());
                            self.variables.extend(value.key_text().into_iter().chain(inside));
                        }
                        // Arguments of a call are template data.
                        "AI" | "format" => {
                            let entries = named_entries(value).into_iter();
                            self.variables.extend(entries.map(|(name, _)| name));
                        }
                        _ => {}
                    }
                    if let (Some(_), Some(source)) = (&value.tag, value.as_text()) {
                        self.add_assigned(source);
                    }
                    self.add_set(value);
                }
            }
            _ => {}
        }
    }

    fn add_set_by_text(&mut self, text: &str) {
        let calls = if text.starts_with("->") {
            args::parse_chain(text).unwrap_or_default()
        } else {
            args::parse_call(text).filter(|_| text.starts_with('$')).into_iter().collect()
        };
        calls.iter().for_each(|call| self.add_set_by_call(call));
        for span in MessageText::read(text).spans() {
            if let TextSpan::Mark { mark: PlaceholderMark::Placeholder(ask), .. } = span {
                self.variables.insert(ask.name.clone());
            }
        }
        self.add_assigned(text);
    }

    fn add_set_by_call(&mut self, call: &args::CallExpr) {
        let sets = matches!(call.name.as_str(), "set" | "push" | "prompt");
        for arg in &call.args {
            match &arg.name {
                Some(name) if name == "!as" => {
                    self.variables.insert(arg.expr.trim_matches(['"', '\'']).to_owned());
                }
                Some(name) if sets => drop(self.variables.insert(first_name(name))),
                None if sets => {
                    self.variables.insert(arg.expr.trim_matches(['"', '\'']).to_owned());
                }
                _ => {}
            }
        }
    }
}

/// The names that a list or a map of settings begins its entries with, and their places.
pub fn named_entries(node: &ScriptValue) -> Vec<(String, SourcePosition)> {
    let of = |value: &ScriptValue| value.key_text().map(|name| (name, value.position));
    match &node.tree {
        Tree::List(items) => items.iter().flat_map(named_entries).collect(),
        Tree::Map(_) if node.get("id").is_some() => {
            node.get("id").and_then(of).into_iter().collect()
        }
        Tree::Map(pairs) => pairs.iter().filter_map(|(key, _)| of(key)).collect(),
        Tree::Text(_) => of(node).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The name that an import is written with.
fn kind_name(kind: &ImportKind) -> &str {
    match kind {
        ImportKind::Module(name)
        | ImportKind::File(name)
        | ImportKind::Wasm(name)
        | ImportKind::Script(name) => name,
    }
}

/// A name up to its first dot, without its `$`.
fn first_name(name: &str) -> String {
    let name = strip_dollar(name);
    name.split('.').next().unwrap_or_default().to_owned()
}

fn failed(flow: ScriptFlow) -> LocatedError {
    match flow {
        ScriptFlow::Failed(failure) => *failure,
        _ => LocatedError::new(phrases::LINK_UNCLEAR),
    }
}

/// `./lib/my.mjs` is `my`.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', ':']).next().unwrap_or(name);
    file.split('.').next().unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_an_expression_are_found_outside_of_texts() {
        assert_eq!(called_functions("'$no(1)' + $f(1) + $a.b($g())"), ["f", "a.b", "g"]);
        assert_eq!(called_functions("x$y(1) + this.$z(2)"), [] as [&str; 0]);
    }

    #[test]
    fn calls_in_a_function_are_found_unless_it_knows_of_their_absence() {
        let source = "f() {\n  // $no(1)\n  const a = '$no(1)' + `$no(1)`\n  $one(1); this.$two(a)\n  if (this.$three) this.$three()\n  const $four = x => x\n  return $four($five(1))\n}";
        assert_eq!(called_in_source(source), ["one", "two", "five"]);
        assert_eq!(called_in_source("f() { x.$six(1); y$seven(2) }"), [] as [&str; 0]);
    }

    #[test]
    fn the_names_a_module_exports_are_found() {
        let source =
            "export function f() {}\nexport const g = 1\nexport { h, i as j }\nexports.k = 2\n";
        let files = vec![JsFile { name: "m.mjs".into(), source: source.into() }];
        let mut names = KnownNames::default();
        assert_eq!(names.add_files((PathBuf::new(), files)), ["f", "g", "h", "j", "k"]);
    }
}
