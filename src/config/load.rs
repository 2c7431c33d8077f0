//! Merges the layers of settings: the command line overrides the environment, then the project, the
//! user and the built-in values. Each value remembers the layer it came from.
//!
//! A project's file may only tighten safety. An invalid safety key falls back to its strictest
//! value, and an unreadable settings file makes every safety key do so: a typing error must not
//! allow what the user meant to forbid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::keys::KEYS;
use super::problem::{Fault, Problem, Written};
use super::settings::Settings;
use super::strict::{self, Found, Key, Reading, Value};
use super::{Environment, Paths, saved};
use crate::protocol::SandboxMode;
use crate::words::{self, Localize, LocalizedText};

/// The sources of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    pub paths: &'a Paths,
    pub environment: &'a Environment,
    /// Key and value of each given option.
    pub line: &'a [(&'static str, String)],
    /// The project's files, outermost first; empty unless the folder is trusted.
    pub project: &'a [PathBuf],
}

/// The layer that set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    BuiltIn,
    User(PathBuf),
    Project(PathBuf),
    Variable(String),
    CommandLine,
    /// The strictest value, because the value in this file is invalid.
    Strictest(PathBuf),
}

impl Localize for Layer {
    fn say(&self) -> LocalizedText {
        use words::config as w;
        let shown = |file: &Path| file.display().to_string();
        match self {
            Layer::BuiltIn => w::FROM_BUILT_IN.into(),
            Layer::User(file) => w::FROM_USER.with("file", shown(file)),
            Layer::Project(file) => w::FROM_PROJECT.with("file", shown(file)),
            Layer::Variable(name) => w::FROM_VARIABLE.with("name", name.as_str()),
            Layer::CommandLine => w::FROM_COMMAND_LINE.into(),
            Layer::Strictest(file) => w::FROM_STRICTEST.with("file", shown(file)),
        }
    }
}

/// The settings in force, and their origin.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    pub problems: Vec<Problem>,
    stack: Stack,
}

impl Loaded {
    /// The current value of a key, `None` if it has none or the key is unknown.
    pub fn get(&self, path: &str) -> Option<Value> {
        self.stack.get(path)
    }

    /// The layer that won for a key.
    pub fn where_from(&self, path: &str) -> Layer {
        self.stack.layer(path)
    }

    /// Every key that has a value, in the order of the table.
    pub fn all(&self) -> Vec<(String, Value, Layer)> {
        let row = |path: &str| Some((path.to_owned(), self.get(path)?, self.where_from(path)));
        let mut rows = Vec::new();
        for key in KEYS {
            if key.path.contains('*') {
                let of_key =
                    |path: &&String| strict::find(KEYS, path).is_some_and(|k| k.path == key.path);
                rows.extend(self.stack.values.keys().filter(of_key).filter_map(|path| row(path)));
            } else {
                rows.extend(row(key.path));
            }
        }
        rows
    }
}

/// Reads every layer. Never fails: an invalid part becomes a problem in the result, and the rest
/// counts.
pub fn load(sources: Sources<'_>) -> Loaded {
    let mut stack = Stack::default();
    let mut problems = user(sources.paths, &mut stack);
    for file in sources.project {
        problems.extend(project(file, &mut stack));
    }
    problems.extend(variables(sources.environment, &mut stack));
    problems.extend(command_line(sources.line, &mut stack));
    let settings = Settings::of(&stack, sources.environment, &mut problems);
    Loaded { settings, problems, stack }
}

/// Values by their dotted path, each with the layer that has won so far.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    values: BTreeMap<String, (Value, Layer)>,
}

impl Stack {
    pub fn get(&self, path: &str) -> Option<Value> {
        match self.values.get(path) {
            Some((value, _)) => Some(value.clone()),
            None => strict::find(KEYS, path).and_then(built_in),
        }
    }

    pub fn text(&self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::Text(text) => Some(text).filter(|text| !text.is_empty()),
            Value::Flag(_) | Value::Count(_) | Value::Number(_) | Value::List(_) => None,
        }
    }

    pub fn flag(&self, path: &str) -> bool {
        self.get(path) == Some(Value::Flag(true))
    }

    /// Zero for a key that is not a number; a test of the table checks that none is requested.
    pub fn count(&self, path: &str) -> u64 {
        match self.get(path) {
            Some(Value::Count(count)) => count,
            _ => 0,
        }
    }

    pub fn list(&self, path: &str) -> Vec<String> {
        match self.get(path) {
            Some(Value::List(items)) => items,
            _ => Vec::new(),
        }
    }

    pub fn layer(&self, path: &str) -> Layer {
        self.values.get(path).map_or(Layer::BuiltIn, |(_, layer)| layer.clone())
    }

    /// The names in place of the `*` of `profiles.*`.
    pub fn profiles(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .values
            .keys()
            .filter_map(|path| path.strip_prefix("profiles.")?.split('.').next())
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    fn set(&mut self, path: &str, value: Value, layer: Layer) {
        self.values.insert(path.to_owned(), (value, layer));
    }
}

fn built_in(key: &Key) -> Option<Value> {
    match key.kind {
        strict::Kind::List(_) => Some(Value::List(Vec::new())),
        _ if key.built_in.is_empty() => None,
        kind => kind.parse(key.built_in).ok(),
    }
}

fn user(paths: &Paths, stack: &mut Stack) -> Vec<Problem> {
    let file = paths.settings();
    let reading = read(&file);
    for Found { path, value, .. } in reading.found {
        stack.set(&path, value, Layer::User(file.clone()));
    }
    fall_back(&reading.problems, &file, stack);
    reading.problems
}

fn read(file: &Path) -> Reading {
    match saved::read(file) {
        Ok(None) => Reading::default(),
        Ok(Some(text)) => strict::read(file, &text, KEYS),
        Err(fault) => Reading { found: Vec::new(), problems: vec![Problem::of_file(file, fault)] },
    }
}

/// Makes safety keys as strict as possible if the file is invalid.
fn fall_back(problems: &[Problem], file: &Path, stack: &mut Stack) {
    for problem in problems {
        let meant = match &problem.fault {
            // The rule itself was handled when it was read.
            Fault::Rule(_) => continue,
            // A misspelt key was probably meant to be the similar one.
            Fault::Unknown { near } => near.as_deref().or(problem.key.as_deref()),
            fault if fault.is_whole() => None,
            _ => problem.key.as_deref(),
        };
        match meant {
            None => strictest(|_| true, file, stack),
            Some(path) if !path.starts_with("safety") => {}
            Some(path) => match strict::find(KEYS, path) {
                Some(Key { path, strictest: Some(_), .. }) => {
                    strictest(|key| key.path == *path, file, stack);
                }
                // A list that forbids cannot be made stricter automatically.
                _ if matches!(
                    problem.fault,
                    Fault::Wrong(_) | Fault::Unknown { near: Some(_) }
                ) =>
                {
                    strictest(|_| true, file, stack);
                }
                _ => {}
            },
        }
    }
}

fn strictest(which: impl Fn(&Key) -> bool, file: &Path, stack: &mut Stack) {
    for key in KEYS.iter().filter(|key| which(key)) {
        if let Some(value) = key.strictest.and_then(|text| key.kind.parse(text).ok()) {
            stack.set(key.path, value, Layer::Strictest(file.to_owned()));
        }
    }
}

fn project(file: &Path, stack: &mut Stack) -> Vec<Problem> {
    let reading = read(file);
    let mut problems = reading.problems;
    fall_back(&problems, file, stack);
    for Found { path, value, place } in reading.found {
        let fault = if path.starts_with("project.") {
            // The project's own data; its commands are judged like any step.
            stack.set(&path, value, Layer::Project(file.to_owned()));
            continue;
        } else if path.starts_with("safety.") {
            match tighter(&path, value, stack) {
                Tighter::Yes(value) => {
                    stack.set(&path, value, Layer::Project(file.to_owned()));
                    continue;
                }
                Tighter::Same => continue,
                Tighter::No => Fault::Loosens,
            }
        } else {
            Fault::NotForProjects
        };
        let written = Written::File(file.to_owned());
        problems.push(Problem { written, place, key: Some(path), fault });
    }
    problems
}

enum Tighter {
    Yes(Value),
    Same,
    No,
}

/// Applies a project's value to the current one.
fn tighter(path: &str, value: Value, stack: &Stack) -> Tighter {
    let now = stack.get(path);
    if now.as_ref() == Some(&value) {
        return Tighter::Same;
    }
    match (path, value, now) {
        ("safety.max_auto_steps_per_turn", Value::Count(new), Some(Value::Count(now))) => {
            if new < now { Tighter::Yes(Value::Count(new)) } else { Tighter::No }
        }
        ("safety.allowed_programs", Value::List(new), Some(Value::List(mut now))) => {
            // Only removing programs is certainly stricter.
            if !new.iter().all(|name| name.starts_with('-')) {
                return Tighter::No;
            }
            now.extend(new);
            Tighter::Yes(Value::List(now))
        }
        ("safety.deny", Value::List(new), Some(Value::List(mut now))) => {
            now.extend(new);
            Tighter::Yes(Value::List(now))
        }
        ("safety.sandbox", Value::Text(new), Some(Value::Text(now))) => {
            let held = |word: &str| SandboxMode::parse(word).map(SandboxMode::strictness);
            if held(&new) > held(&now) { Tighter::Yes(Value::Text(new)) } else { Tighter::No }
        }
        // One of two words or flags: the stricter one is the strictest value in the table.
        (path, value @ (Value::Text(_) | Value::Flag(_)), _) => {
            let strictest =
                strict::find(KEYS, path).and_then(|key| key.kind.parse(key.strictest?).ok());
            if strictest.as_ref() == Some(&value) { Tighter::Yes(value) } else { Tighter::No }
        }
        _ => Tighter::No,
    }
}

fn variables(environment: &Environment, stack: &mut Stack) -> Vec<Problem> {
    let mut problems = Vec::new();
    for key in KEYS {
        let set = key.variables.iter().find_map(|name| Some((*name, environment.get(name)?)));
        let Some((name, text)) = set else { continue };
        let text = match key.path {
            // `NO_COLOR` counts if it is set, whatever its value.
            "color" => "never",
            // Values are shown to users; the key itself is passed only to the connection.
            "api_key" => "…",
            _ => text,
        };
        match key.kind.parse(text) {
            Ok(value) => stack.set(key.path, value, Layer::Variable(name.to_owned())),
            Err(found) => problems.push(wrong(key, Written::Variable(name.to_owned()), found)),
        }
    }
    problems
}

fn command_line(line: &[(&'static str, String)], stack: &mut Stack) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in line {
        let Some(key) = strict::find(KEYS, path) else { continue };
        match key.kind.parse(text) {
            Ok(value) => stack.set(path, value, Layer::CommandLine),
            Err(found) => problems.push(wrong(key, Written::CommandLine, found)),
        }
    }
    problems
}

fn wrong(key: &Key, written: Written, found: LocalizedText) -> Problem {
    let fault = Fault::wrong(key.kind.expected(), found);
    Problem { written, place: None, key: Some(key.path.to_owned()), fault }
}
