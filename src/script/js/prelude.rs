//! The part of an engine that is written in JavaScript, as the Rust side sees it.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Object};

use super::task::JsPlace;

const PRELUDE: &str = include_str!("prelude.js");
const BUILTINS: &str = include_str!("builtins.js");
/// Maximum number of random bytes of one call.
const MAX_RANDOM: usize = 64 * 1024;
/// Longest value that is passed in or out, in bytes of its JSON.
const MAX_VALUE: usize = 16 * 1024 * 1024;

/// The functions of the prelude.
pub(super) struct Prelude<'c, 'js> {
    pub ctx: &'c Ctx<'js>,
    pub start: &'c Function<'js>,
    pub answer: &'c Function<'js>,
    pub modules: &'c Function<'js>,
    pub drain: &'c Function<'js>,
}

/// The functions, in the order in which they are stored.
const NAMES: [&str; 4] = ["start", "answer", "modules", "drain"];

/// Runs the prelude in a new context, which keeps its functions.
pub(super) fn install(
    ctx: &Ctx<'_>,
    ask: impl Fn(String) -> String + Send + 'static,
) -> rquickjs::Result<()> {
    let make: Function<'_> = ctx.eval(PRELUDE)?;
    let builtins: Function<'_> = ctx.eval(BUILTINS)?;
    let compile = Function::new(ctx.clone(), compile_named)?;
    let random = Function::new(ctx.clone(), random_bytes)?;
    let ask = Function::new(ctx.clone(), ask)?;
    let made: Object<'_> = make.call((MAX_VALUE, compile, random, ask, builtins, platform()))?;
    let functions = NAMES.map(|name| made.get(name)).into_iter();
    let functions: Vec<Function<'_>> = functions.collect::<rquickjs::Result<_>>()?;
    ctx.store_userdata(functions).map_err(|_| rquickjs::Error::Unknown)?;
    Ok(())
}

impl<'c, 'js> Prelude<'c, 'js> {
    /// The prelude of a context, from what the context keeps; `None` if that is something else.
    pub fn of(ctx: &'c Ctx<'js>, functions: &'c [Function<'js>]) -> Option<Prelude<'c, 'js>> {
        let [start, answer, modules, drain] = functions else { return None };
        Some(Prelude { ctx, start, answer, modules, drain })
    }

    /// The reason the last call failed, as text.
    pub fn exception_text(&self, error: rquickjs::Error) -> String {
        self.exception(error).0
    }

    /// The same, with the place that its stack begins with.
    pub fn exception(&self, error: rquickjs::Error) -> (String, Option<JsPlace>) {
        if !error.is_exception() {
            return (error.to_string(), None);
        }
        let value = self.ctx.catch();
        match value.as_exception() {
            Some(exception) => {
                let stack = exception.stack().unwrap_or_default();
                (exception.message().unwrap_or_default(), stack.lines().find_map(stack_place))
            }
            None => ("unknown".to_owned(), None),
        }
    }
}

/// `    at f (module1/a.mjs:2:10)`.
fn stack_place(line: &str) -> Option<JsPlace> {
    let place = line.trim().trim_end_matches(')');
    let place = place.rsplit(['(', ' ']).next()?;
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let is_function = file.starts_with("fn:");
    let line = line.parse::<u32>().ok()?;

    // The prelude puts a line above a function.
    let line = if is_function { line.saturating_sub(1).max(1) } else { line };
    let place = JsPlace { file: file.to_owned(), line, column: column.parse().ok()? };
    (is_function || file.starts_with("module")).then_some(place)
}

/// Compiles a text under a name that errors in it give as their file.
fn compile_named<'js>(
    ctx: Ctx<'js>,
    text: String,
    file: String,
) -> rquickjs::Result<rquickjs::Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file);
    ctx.eval_with_options(text, options)
}

/// The name of the system, as scripts know it.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn random_bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count.min(MAX_RANDOM)];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}
