//! The table of `$directives`. A directive is a row here and a function in one of the files of this
//! folder.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::run::calls::{ArgValues, Called};
use super::run::{Frame, ScriptFlow, ScriptRun};

mod flow;
mod matching;
mod memory;
mod talk;
mod values;
mod world;

/// The messages to settle before a directive runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Render and answer every message.
    All,
    /// Answer messages that wait for a reply; others may be rendered later.
    Asks,
    Nothing,
}

/// The call of a directive.
#[derive(Clone, Debug)]
pub struct DirectiveCall<'a> {
    pub called: Called<'a>,
    /// Its arguments as values; empty for a lazy directive.
    pub passed: ArgValues,
}

/// The function of a directive; `None` leaves the last result unchanged.
pub type DirectiveFn =
    for<'a> fn(&'a mut ScriptRun, &'a mut Frame, DirectiveCall<'a>) -> DirectiveResult<'a>;
pub type DirectiveResult<'a> = BoxFuture<'a, Result<Option<Value>, ScriptFlow>>;

#[derive(Clone, Copy)]
pub struct DirectiveSpec {
    pub name: &'static str,
    pub flush: Flush,
    /// Its arguments are not evaluated before it runs.
    pub lazy: bool,
    pub run: DirectiveFn,
}

const fn row(name: &'static str, flush: Flush, run: DirectiveFn) -> DirectiveSpec {
    DirectiveSpec { name, flush, lazy: false, run }
}

const fn lazy(name: &'static str, run: DirectiveFn) -> DirectiveSpec {
    DirectiveSpec { name, flush: Flush::Asks, lazy: true, run }
}

/// All directives.
pub const TABLE: &[DirectiveSpec] = &[
    // Values.
    row("print", Flush::All, values::print),
    row("echo", Flush::All, values::echo),
    row("ret", Flush::All, values::ret),
    row("set", Flush::All, values::set),
    row("get", Flush::All, values::get),
    row("unset", Flush::Asks, values::unset),
    row("push", Flush::Asks, values::push),
    row("format", Flush::Asks, values::format),
    row("ctx", Flush::Asks, values::ctx),
    row("cleanResult", Flush::Asks, values::clean_result),
    row("prompt", Flush::Asks, values::prompt),
    row("parameters", Flush::Asks, values::parameters),
    // Flow.
    lazy("if", flow::when),
    lazy("for", flow::each),
    lazy("while", flow::during),
    lazy("match", matching::cases),
    lazy("on", flow::on),
    lazy("once", flow::once),
    row("off", Flush::Asks, flow::off),
    row("emit", Flush::Asks, flow::emit),
    row("break", Flush::Nothing, flow::leave),
    row("continue", Flush::Nothing, flow::next),
    row("throw", Flush::Asks, flow::throw),
    row("exit", Flush::All, flow::exit),
    // Messages.
    row("AI", Flush::Nothing, talk::ai),
    row("tool", Flush::Nothing, talk::tool),
    row("interact", Flush::All, talk::interact),
    row("initDone", Flush::Nothing, talk::init_done),
    row("pushMessage", Flush::Nothing, talk::push_message),
    row("replaceMessage", Flush::Nothing, talk::replace_message),
    row("getMessages", Flush::All, talk::get_messages),
    // Other scripts, files and steps.
    row("exec", Flush::Asks, world::exec),
    row("pipe", Flush::All, world::pipe),
    row("ready", Flush::Nothing, world::ready),
    row("remember", Flush::All, memory::remember),
    row("forget", Flush::All, memory::forget),
    row("saveChats", Flush::All, memory::save_chats),
    row("loadChats", Flush::Asks, memory::load_chats),
    row("abort", Flush::Nothing, memory::abort),
    row("tokenize", Flush::Asks, memory::tokenize),
    row("countTokens", Flush::Asks, memory::count_tokens),
    row("readFile", Flush::Nothing, world::read_file),
    row("fetchUrl", Flush::Nothing, world::fetch_url),
];

/// The row for a name, written without `$`.
pub fn find(name: &str) -> Option<&'static DirectiveSpec> {
    TABLE.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_unique() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(TABLE.iter().skip(at + 1).all(|other| other.name != row.name), "{}", row.name);
        }
    }
}
