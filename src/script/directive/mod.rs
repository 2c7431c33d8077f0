//! The table of `$directives`. A directive is a row here and a function in one of the files of this
//! folder.

use futures_util::future::BoxFuture;

use super::error::CallResult;
use super::run::arguments::{ArgValues, CallSyntax};
use super::run::frame::{Frame, ScriptRun};

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

/// How a directive runs; without a value it leaves the last result unchanged.
#[derive(Clone, Copy)]
pub enum DirectiveFn {
    /// Needs the script's own state alone.
    Local(fn(&mut Frame, ArgValues) -> CallResult),
    Eager(for<'a> fn(&'a mut ScriptRun, &'a mut Frame, ArgValues) -> DirectiveFuture<'a>),
    /// Evaluates its arguments itself.
    Lazy(for<'a> fn(&'a mut ScriptRun, &'a mut Frame, CallSyntax<'a>) -> DirectiveFuture<'a>),
}

pub type DirectiveFuture<'a> = BoxFuture<'a, CallResult>;

#[derive(Clone, Copy)]
pub struct DirectiveSpec {
    pub name: &'static str,
    pub flush: Flush,
    pub run: DirectiveFn,
}

impl DirectiveSpec {
    pub fn is_lazy(&self) -> bool {
        matches!(self.run, DirectiveFn::Lazy(_))
    }

    /// Runs it with these arguments.
    pub async fn run_with(
        &self,
        run: &mut ScriptRun,
        frame: &mut Frame,
        args: ArgValues,
    ) -> CallResult {
        match self.run {
            DirectiveFn::Local(start) => start(frame, args),
            DirectiveFn::Eager(start) => start(run, frame, args).await,
            DirectiveFn::Lazy(start) => start(run, frame, CallSyntax::new(self.name, &[])).await,
        }
    }
}

const fn local(
    name: &'static str,
    flush: Flush,
    run: fn(&mut Frame, ArgValues) -> CallResult,
) -> DirectiveSpec {
    DirectiveSpec { name, flush, run: DirectiveFn::Local(run) }
}

macro_rules! eager {
    ($name:literal, $flush:expr, $run:path) => {
        DirectiveSpec {
            name: $name,
            flush: $flush,
            run: DirectiveFn::Eager(|run, frame, args| Box::pin($run(run, frame, args))),
        }
    };
}

macro_rules! lazy {
    ($name:literal, $flush:expr, $run:path) => {
        DirectiveSpec {
            name: $name,
            flush: $flush,
            run: DirectiveFn::Lazy(|run, frame, call| Box::pin($run(run, frame, call))),
        }
    };
}

/// All directives.
pub const TABLE: &[DirectiveSpec] = &[
    // Values.
    eager!("print", Flush::All, values::print),
    local("echo", Flush::All, values::echo),
    local("ret", Flush::All, values::ret),
    local("set", Flush::All, values::set),
    local("get", Flush::All, values::get),
    local("unset", Flush::Placeholders, values::unset),
    local("push", Flush::Placeholders, values::push),
    eager!("format", Flush::Placeholders, values::format),
    local("ctx", Flush::Placeholders, values::ctx),
    local("cleanResult", Flush::Placeholders, values::clean_result),
    local("prompt", Flush::Placeholders, values::prompt),
    local("parameters", Flush::Placeholders, values::parameters),
    // Flow.
    lazy!("if", Flush::Placeholders, control::run_if),
    lazy!("for", Flush::Placeholders, control::run_for),
    lazy!("while", Flush::Placeholders, control::run_while),
    lazy!("match", Flush::Placeholders, matching::run_match),
    lazy!("on", Flush::Placeholders, control::on),
    lazy!("once", Flush::Placeholders, control::once),
    lazy!("off", Flush::Placeholders, control::off),
    eager!("emit", Flush::Placeholders, control::emit),
    local("break", Flush::Nothing, control::break_loop),
    local("continue", Flush::Nothing, control::continue_loop),
    local("throw", Flush::Placeholders, control::throw),
    local("exit", Flush::All, control::exit),
    // Messages.
    eager!("AI", Flush::Nothing, messages::ai),
    eager!("tool", Flush::Nothing, messages::tool),
    eager!("interact", Flush::All, messages::interact),
    eager!("initDone", Flush::Nothing, messages::init_done),
    local("pushMessage", Flush::Nothing, messages::push_message),
    local("replaceMessage", Flush::Nothing, messages::replace_message),
    local("getMessages", Flush::All, messages::get_messages),
    // Other scripts, files and steps.
    eager!("exec", Flush::Placeholders, io::exec),
    eager!("pipe", Flush::All, io::pipe),
    local("ready", Flush::Nothing, io::ready),
    eager!("remember", Flush::All, memory::remember),
    eager!("forget", Flush::All, memory::forget),
    eager!("saveChats", Flush::All, memory::save_chats),
    eager!("loadChats", Flush::Placeholders, memory::load_chats),
    local("abort", Flush::Nothing, memory::abort),
    local("tokenize", Flush::Placeholders, memory::tokenize),
    local("countTokens", Flush::Placeholders, memory::count_tokens),
    eager!("readFile", Flush::Nothing, io::read_file),
    eager!("fetchUrl", Flush::Nothing, io::fetch_url),
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
