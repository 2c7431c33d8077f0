//! The table of `$directives`. A directive is a row here and a function in one of the files of this
//! folder.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::run::calls::{ArgValues, CallSyntax};
use super::run::{Frame, ScriptFlow, ScriptRun};

mod control;
mod io;
mod matching;
mod memory;
mod messages;
mod values;

/// The messages to settle before a directive runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Render and answer every message.
    All,
    /// Answer messages that wait for a reply; others may be rendered later.
    Placeholders,
    Nothing,
}

/// The call of a directive.
#[derive(Clone, Debug)]
pub struct DirectiveCall<'a> {
    pub call: CallSyntax<'a>,
    /// Its arguments as values; empty for a lazy directive.
    pub args: ArgValues,
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

const fn eager(name: &'static str, flush: Flush, run: DirectiveFn) -> DirectiveSpec {
    DirectiveSpec { name, flush, lazy: false, run }
}

const fn lazy(name: &'static str, run: DirectiveFn) -> DirectiveSpec {
    DirectiveSpec { name, flush: Flush::Placeholders, lazy: true, run }
}

/// All directives.
pub const TABLE: &[DirectiveSpec] = &[
    // Values.
    eager("print", Flush::All, values::print),
    eager("echo", Flush::All, values::echo),
    eager("ret", Flush::All, values::ret),
    eager("set", Flush::All, values::set),
    eager("get", Flush::All, values::get),
    eager("unset", Flush::Placeholders, values::unset),
    eager("push", Flush::Placeholders, values::push),
    eager("format", Flush::Placeholders, values::format),
    eager("ctx", Flush::Placeholders, values::ctx),
    eager("cleanResult", Flush::Placeholders, values::clean_result),
    eager("prompt", Flush::Placeholders, values::prompt),
    eager("parameters", Flush::Placeholders, values::parameters),
    // Flow.
    lazy("if", control::run_if),
    lazy("for", control::run_for),
    lazy("while", control::run_while),
    lazy("match", matching::run_match),
    lazy("on", control::on),
    lazy("once", control::once),
    eager("off", Flush::Placeholders, control::off),
    eager("emit", Flush::Placeholders, control::emit),
    eager("break", Flush::Nothing, control::break_loop),
    eager("continue", Flush::Nothing, control::continue_loop),
    eager("throw", Flush::Placeholders, control::throw),
    eager("exit", Flush::All, control::exit),
    // Messages.
    eager("AI", Flush::Nothing, messages::ai),
    eager("tool", Flush::Nothing, messages::tool),
    eager("interact", Flush::All, messages::interact),
    eager("initDone", Flush::Nothing, messages::init_done),
    eager("pushMessage", Flush::Nothing, messages::push_message),
    eager("replaceMessage", Flush::Nothing, messages::replace_message),
    eager("getMessages", Flush::All, messages::get_messages),
    // Other scripts, files and steps.
    eager("exec", Flush::Placeholders, io::exec),
    eager("pipe", Flush::All, io::pipe),
    eager("ready", Flush::Nothing, io::ready),
    eager("remember", Flush::All, memory::remember),
    eager("forget", Flush::All, memory::forget),
    eager("saveChats", Flush::All, memory::save_chats),
    eager("loadChats", Flush::Placeholders, memory::load_chats),
    eager("abort", Flush::Nothing, memory::abort),
    eager("tokenize", Flush::Placeholders, memory::tokenize),
    eager("countTokens", Flush::Placeholders, memory::count_tokens),
    eager("readFile", Flush::Nothing, io::read_file),
    eager("fetchUrl", Flush::Nothing, io::fetch_url),
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
