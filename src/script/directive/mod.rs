//! The table of `$directives`. A directive is a row here and a function in one of the files of this
//! folder.

use futures_util::future::BoxFuture;

use super::error::{CallResult, quoted};
use super::run::arguments::{ArgValues, CallSyntax};
use super::run::frame::{Frame, ScriptRun};
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, Phrase, script_help as docs, script_run as phrases};

mod attempt;
mod control;
mod input;
mod io;
mod language;
mod matching;
mod memory;
mod messages;
mod values;

pub use control::MAX_TURNS;
pub use input::ask_missing_inputs;
pub use messages::separate;

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
    /// What is written after its name.
    pub usage: &'static str,
    pub about: Phrase,
    pub flush: Flush,
    pub run: DirectiveFn,
}

impl DirectiveSpec {
    /// How it is written.
    pub fn signature(&self) -> String {
        let gap = if self.usage.is_empty() { "" } else { ": " };
        format!("${}{gap}{}", self.name, self.usage)
    }

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
    usage: &'static str,
    phrase: Phrase,
    flush: Flush,
    run: fn(&mut Frame, ArgValues) -> CallResult,
) -> DirectiveSpec {
    DirectiveSpec { name, usage, about: phrase, flush, run: DirectiveFn::Local(run) }
}

macro_rules! eager {
    ($name:literal, $usage:literal, $about:expr, $flush:expr, $run:path) => {
        DirectiveSpec {
            name: $name,
            usage: $usage,
            about: $about,
            flush: $flush,
            run: DirectiveFn::Eager(|run, frame, args| Box::pin($run(run, frame, args))),
        }
    };
}

macro_rules! lazy {
    ($name:literal, $usage:literal, $about:expr, $flush:expr, $run:path) => {
        DirectiveSpec {
            name: $name,
            usage: $usage,
            about: $about,
            flush: $flush,
            run: DirectiveFn::Lazy(|run, frame, call| Box::pin($run(run, frame, call))),
        }
    };
}

/// All directives.
pub const TABLE: &[DirectiveSpec] = &[
    // Values.
    eager!("print", "VALUE", docs::PRINT, Flush::All, values::print),
    local("echo", "VALUE", docs::ECHO, Flush::All, values::echo),
    local("ret", "VALUE", docs::RET, Flush::All, values::ret),
    local("set", "{name: VALUE}", docs::SET, Flush::All, values::set),
    local("get", "name", docs::GET, Flush::All, values::get),
    local("unset", "name", docs::UNSET, Flush::Placeholders, values::unset),
    local("push", "{list: VALUE}", docs::PUSH, Flush::Placeholders, values::push),
    eager!("format", "TEXT", docs::FORMAT, Flush::Placeholders, values::format),
    local("ctx", "", docs::CTX, Flush::Placeholders, values::ctx),
    local("cleanResult", "", docs::CLEAN_RESULT, Flush::Placeholders, values::clean_result),
    local("prompt", "{name: VALUE}", docs::PROMPT, Flush::Placeholders, values::prompt),
    local("parameters", "{name: VALUE}", docs::PARAMETERS, Flush::Placeholders, values::parameters),
    // Flow.
    lazy!("if", "CONDITION, then:, else:", docs::IF, Flush::Placeholders, control::run_if),
    lazy!("for", "ITEMS, do:, as:", docs::FOR, Flush::Placeholders, control::run_for),
    lazy!("while", "CONDITION, do:", docs::WHILE, Flush::Placeholders, control::run_while),
    lazy!("try", "BLOCK, catch:, retry:", docs::TRY, Flush::Placeholders, attempt::run_try),
    lazy!("match", "VALUE, \":PATTERN\":", docs::MATCH, Flush::Placeholders, matching::run_match),
    lazy!("on", "{event, callback}", docs::ON, Flush::Placeholders, control::on),
    lazy!("once", "{event, callback}", docs::ONCE, Flush::Placeholders, control::once),
    lazy!("off", "event", docs::OFF, Flush::Placeholders, control::off),
    eager!("emit", "{event, args}", docs::EMIT, Flush::Placeholders, control::emit),
    local("break", "", docs::BREAK, Flush::Nothing, control::break_loop),
    local("continue", "", docs::CONTINUE, Flush::Nothing, control::continue_loop),
    local("throw", "TEXT", docs::THROW, Flush::Placeholders, control::throw),
    local("exit", "VALUE", docs::EXIT, Flush::All, control::exit),
    // Messages.
    eager!("AI", "{parameter: VALUE}", docs::AI, Flush::Nothing, messages::ai),
    eager!("tool", "{name, argument: VALUE}", docs::TOOL, Flush::Nothing, messages::tool),
    eager!("interact", "TEXT", docs::INTERACT, Flush::All, messages::interact),
    eager!("initDone", "", docs::INIT_DONE, Flush::Nothing, messages::init_done),
    local(
        "pushMessage",
        "{role, content}",
        docs::PUSH_MESSAGE,
        Flush::Nothing,
        messages::push_message,
    ),
    local(
        "replaceMessage",
        "{index, role, content}",
        docs::REPLACE_MESSAGE,
        Flush::Nothing,
        messages::replace_message,
    ),
    local("getMessages", "", docs::GET_MESSAGES, Flush::All, messages::get_messages),
    // Other scripts, files and steps.
    eager!("exec", "{id, args}", docs::EXEC, Flush::Placeholders, io::exec),
    eager!("agent", "{task, tools, mode, agent}", docs::AGENT, Flush::Placeholders, io::agent),
    eager!("pipe", "{name, argument: VALUE}", docs::PIPE, Flush::All, io::pipe),
    local("ready", "", docs::READY, Flush::Nothing, io::ready),
    eager!("remember", "{id, value}", docs::REMEMBER, Flush::All, memory::remember),
    eager!("forget", "id", docs::FORGET, Flush::All, memory::forget),
    eager!("saveChats", "name", docs::SAVE_CHATS, Flush::All, memory::save_chats),
    eager!("loadChats", "name", docs::LOAD_CHATS, Flush::Placeholders, memory::load_chats),
    local("abort", "", docs::ABORT, Flush::Nothing, memory::abort),
    local("tokenize", "TEXT", docs::TOKENIZE, Flush::Placeholders, memory::tokenize),
    local("countTokens", "TEXT", docs::COUNT_TOKENS, Flush::Placeholders, memory::count_tokens),
    eager!("readFile", "path", docs::READ_FILE, Flush::Nothing, io::read_file),
    eager!("fetchUrl", "url", docs::FETCH_URL, Flush::Nothing, io::fetch_url),
    eager!("writeFile", "{path, content}", docs::WRITE_FILE, Flush::All, io::write_file),
    eager!(
        "listFilenames",
        "{dir, extname}",
        docs::LIST_FILENAMES,
        Flush::Placeholders,
        io::list_filenames
    ),
    eager!("isDir", "path", docs::IS_DIR, Flush::Placeholders, io::is_dir),
    local("detectLang", "TEXT", docs::DETECT_LANG, Flush::Placeholders, language::detect_language),
    eager!(
        "input",
        "{content, inputType, choices}",
        docs::INPUT,
        Flush::Placeholders,
        input::input
    ),
    eager!(
        "consoleInput",
        "{content, inputType, choices}",
        docs::CONSOLE_INPUT,
        Flush::Placeholders,
        input::console_input
    ),
];

/// The row for a name, written without `$`.
pub fn find(name: &str) -> Option<&'static DirectiveSpec> {
    TABLE.iter().find(|row| row.name == name)
}

/// The sentence for a name that is neither a directive nor one of the script's own.
pub fn unknown_name_text<'a>(name: &str, own: impl Iterator<Item = &'a str>) -> LocalizedText {
    let known = TABLE.iter().map(|row| row.name).chain(own);
    // A name of two letters is near to any other one.
    let near = if name.chars().count() < 3 { Vec::new() } else { suggest::nearest(name, known) };
    let said = match near.first() {
        Some(near) => phrases::NO_DIRECTIVE_NEAR.with("near", quoted(near)),
        None => phrases::NO_DIRECTIVE.into(),
    };
    said.with("name", quoted(name))
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
