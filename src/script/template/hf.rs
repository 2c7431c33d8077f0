//! Jinja2 as HuggingFace's chat templates use it: blocks are trimmed, nothing is escaped, undefined
//! values print nothing.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};

use super::limits::{self, MAX_OUTPUT, output_limit_error, template_error};
use super::py_methods::{self, value_text};
use super::tags::{self, TemplateFault, TemplateNames};
use crate::error::ScriptError;
use avocet_core::i18n::script as phrases;

/// Maximum number of instructions of one rendering.
const FUEL: u64 = 200_000;
/// Maximum number of bytes that those instructions may copy out of the template.
const COPIES: u64 = 512 * 1024 * 1024;
/// Deepest nesting of macros and recursive loops.
const DEPTH: usize = 100;

/// The filters of a template, besides those of the script itself.
#[rustfmt::skip]
pub const FILTERS: &[&str] = &[
    "abs", "attr", "batch", "bool", "capitalize", "default", "dictsort", "escape", "first", "float",
    "groupby", "indent", "int", "items", "join", "last", "length", "lines", "list", "lower", "map",
    "max", "min", "pprint", "reject", "rejectattr", "replace", "reverse", "round", "select",
    "selectattr", "slice", "sort", "split", "string", "sum", "title", "tojson", "trim", "unique",
    "upper", "zip",
];

/// The template functions of a script, and the results of their calls so far.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    names: Vec<String>,
    pub(super) results: Vec<(TemplateCall, serde_json::Value)>,
}

/// A call of a template function.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateCall {
    pub name: String,
    pub args: Vec<serde_json::Value>,
}

impl Functions {
    /// The functions that may be called, by the names templates use.
    pub fn new(names: impl IntoIterator<Item = String>) -> Functions {
        Functions { names: names.into_iter().collect(), results: Vec::new() }
    }

    /// Stores the result of a call, so that the next rendering has it.
    pub fn add_result(&mut self, call: TemplateCall, value: serde_json::Value) {
        self.results.push((call, value));
    }

    fn find(&self, name: &str, args: &[serde_json::Value]) -> Option<&serde_json::Value> {
        self.results
            .iter()
            .find(|(call, _)| call.name == name && call.args == args)
            .map(|(_, value)| value)
    }
}

/// The result of a rendering.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    Done(String),
    /// It needs the value of this call: [`Functions::add_result`] it and render again.
    NeedsCall(TemplateCall),
}

pub(super) fn render(
    text: &str,
    data: &serde_json::Value,
    functions: &Functions,
) -> Result<Rendered, ScriptError> {
    let text = fix_triple_braces(text);
    let Some(measured) = limits::rewrite(&text) else {
        return Err(ScriptError::limit(phrases::TEMPLATE_WORK));
    };
    let env = environment(measured.len(), functions)?;
    let template =
        env.template_from_named_str("text", &measured).map_err(|error| render_error(&error))?;
    let mut output = LimitedOutput::default();
    match template.render_captured_to(Serde(data), &mut output) {
        Ok(_) => Ok(Rendered::Done(String::from_utf8_lossy(&output.bytes).into_owned())),
        Err(_) if output.is_full => Err(output_limit_error()),
        Err(error) => match needed_call(&error) {
            Some(call) => Ok(Rendered::NeedsCall(call)),
            None => Err(render_error(&error)),
        },
    }
}

/// Compiles templates without rendering them: what makes up the engine is made once.
pub(super) struct HfCompiler(Environment<'static>);

impl HfCompiler {
    pub fn new() -> Result<HfCompiler, ScriptError> {
        environment(0, &Functions::default()).map(HfCompiler)
    }

    /// The names that a template needs and does not define itself.
    pub fn compile(&self, text: &str) -> Result<TemplateNames, TemplateFault> {
        let text = fix_triple_braces(text);
        let compiled = self.0.template_from_named_str("text", &text);
        let template = compiled
            .map_err(|error| TemplateFault { line: error.line(), why: render_error(&error) })?;
        let inside = tags::read(&text);
        let filters = self.unknown(&inside.filters, "|", ErrorKind::UnknownFilter);
        let tests = self.unknown(&inside.tests, "is", ErrorKind::UnknownTest);
        let read = template.undeclared_variables(false).into_iter();
        let mut variables: Vec<String> =
            read.filter(|name| !inside.optional.contains(&name.as_str())).collect();
        variables.sort_unstable();
        Ok(TemplateNames { variables, filters, tests, unclosed: None })
    }

    /// The names that the engine does not know: it has no list of them, but an error.
    fn unknown(&self, names: &[&str], before: &str, kind: ErrorKind) -> Vec<String> {
        let mut out: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        out.sort_unstable();
        out.dedup();
        out.retain(|name| {
            let tried = self.0.render_str(&format!("{{{{ 1 {before} {name} }}}}"), ());
            tried.is_err_and(|error| error.kind() == kind)
        });
        out
    }
}

/// `{{{name}}` and `{{{name}}}` mean `{{name}}`: authors write three braces by habit, and Jinja
/// would read a map that never closes.
fn fix_triple_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{{") {
        out.push_str(before);
        let gap = after.split_once("}}").filter(|(name, _)| {
            let name = name.trim();
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        });
        match gap {
            Some((name, tail)) => {
                out.push_str(&format!("{{{{{name}}}}}"));
                rest = tail.strip_prefix('}').unwrap_or(tail);
            }
            None => {
                out.push_str("{{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn environment(length: usize, functions: &Functions) -> Result<Environment<'static>, ScriptError> {
    let mut env = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    env.set_syntax(syntax.build().map_err(|error| render_error(&error))?);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_debug(false);
    let copies = COPIES / u64::try_from(length.max(1)).unwrap_or(u64::MAX);
    env.set_fuel(Some(FUEL.min(copies.max(1000))));
    env.set_recursion_limit(DEPTH);
    env.set_formatter(write_value);
    env.set_unknown_method_callback(py_methods::call_method);
    env.add_filter(limits::FILTER, py_methods::check_size);
    env.add_filter("replace", |text: &str, old: &str, new: &str| {
        py_methods::replace(text, old, new, None)
    });
    env.add_filter("join", py_methods::join);
    env.add_filter("indent", py_methods::indent);
    env.add_filter("tojson", py_methods::tojson);
    env.add_filter("string", |value: Value| value_text(&value));
    env.add_function("raise_exception", |why: &str| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, why.to_owned()))
    });
    for name in &functions.names {
        let known: Vec<_> =
            functions.results.iter().filter(|(call, _)| call.name == *name).cloned().collect();
        let functions = Functions { names: Vec::new(), results: known };
        let own = name.clone();
        let call = move |rest: Rest<Value>| call_script_function(&own, &rest, &functions);
        env.add_filter(name.clone(), call.clone());
        env.add_function(name.clone(), call);
    }
    Ok(env)
}

/// A template function: its value if the call was answered, otherwise an error that holds the call.
fn call_script_function(name: &str, args: &[Value], functions: &Functions) -> Result<Value, Error> {
    let plain: Vec<serde_json::Value> =
        args.iter().map(|arg| serde_json::to_value(arg).unwrap_or_default()).collect();
    match functions.find(name, &plain) {
        Some(value) => Ok(Value::from(Serde(value))),
        None => {
            let call = TemplateCall { name: name.to_owned(), args: plain };
            Err(Error::new(ErrorKind::InvalidOperation, "not answered yet")
                .with_source(NeededCall(call)))
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a template function is called")]
struct NeededCall(TemplateCall);

fn needed_call(error: &Error) -> Option<TemplateCall> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(NeededCall(call)) = inner.downcast_ref() {
            return Some(call.clone());
        }
        source = inner.source();
    }
    None
}

fn write_value(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let written = match value.as_str() {
        Some(text) => out.write_str(text),
        None => out.write_str(&value_text(value)),
    };
    written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the text got too long"))
}

fn render_error(error: &Error) -> ScriptError {
    match error.kind() {
        ErrorKind::OutOfFuel => ScriptError::limit(phrases::TEMPLATE_WORK),
        kind => {
            let why = match (error.detail(), kind) {
                (Some(detail), _) => detail.to_owned(),
                (None, kind) => kind.to_string(),
            };
            template_error(error.line().unwrap_or(1), why)
        }
    }
}

/// Collects rendered output up to the limit.
#[derive(Default)]
struct LimitedOutput {
    bytes: Vec<u8>,
    is_full: bool,
}

impl io::Write for LimitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_OUTPUT {
            self.is_full = true;
            return Err(io::Error::other("full"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
