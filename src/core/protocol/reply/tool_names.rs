//! The names of tools: ours, those of the wire, and those by which other agents call the same.

use std::borrow::Cow;

use serde_json::Value;

use super::super::{ContentBlock, Message, ToolCall};

/// A line for a shell, which is not offered as a tool.
pub(super) const LINE: &str = "shell";
/// What other agents have a tool for, and we another form of one.
pub(super) const INPUT: &str = "job.write";
pub(super) const READ_MANY: &str = "file.read_many";
pub(super) const DELETE: &str = "file.delete";
pub(super) const MOVE: &str = "file.move";
pub(super) const MAKE_FOLDER: &str = "folder.make";
/// The answer to the user as a call.
const ANSWER: &str = "call.answer";
/// A thought as a call.
const THOUGHT: &str = "call.thought";

/// Names of other agents in lower case without signs, and the tool that each means.
#[rustfmt::skip]
const OTHERS: &[(&str, &[&str])] = &[
    (LINE, &[
        "bash", "shell", "sh", "zsh", "runshellcommand", "execcommand", "localshell", "execbash",
        "executebash", "executecommand", "runcommand", "runterminalcmd", "runinterminal",
        "shellcommand", "terminal", "containerexec", "unifiedexec", "executeshell", "runbash",
        "runterminalcommand", "runinterminalcmd", "executeshellcommand", "bashcommand", "run",
        "execute", "runshell", "execshell", "shellexec",
        "runcommandinterminal", "executebashcommand", "executecommandline", "commandline",
        "executeterminalcommand", "runbashcommand", "developershell", "systemrun",
    ]),
    ("exec", &["exec", "cmd"]),
    ("job.start", &["jobstart"]),
    ("job.list", &["joblist", "listbash", "listshells", "listprocesses", "listterminals"]),
    ("job.read", &[
        "jobread", "bashoutput", "readbackground", "taskoutput", "getterminaloutput", "readbash",
        "readterminal", "readterminaloutput", "commandstatus", "getcommandoutput", "readoutput",
        "shelloutput", "readprocessoutput", "readshelloutput", "awaitshell", "awaitterminal",
        "getbackgroundoutput", "checkcommandstatus",
    ]),
    ("job.stop", &[
        "jobstop", "killshell", "killbash", "taskstop", "stopbash", "killterminal", "killprocess",
        "stopcommand", "stopprocess", "killsession", "closesession", "killcommand", "terminate",
    ]),
    (INPUT, &[
        "writestdin", "sendinput", "writebash", "sendstdin", "sendterminalinput", "sendcommandinput",
        "writetoterminal", "interactwithprocess", "bashinput", "writetoprocess",
    ]),
    ("file.read", &[
        "fileread", "read", "readfile", "view", "viewfile", "viewimage", "cat", "openfile",
        "notebookread", "viewlinerange", "fsread", "filereader", "readtextfile", "readmediafile",
        "getfilecontents", "catfile", "getfilecontent", "viewcode", "viewsource", "readfilecontent",
        "readfilelines", "showfile", "openfileread", "readnotebook", "displayfile", "readimage",
    ]),
    (READ_MANY, &[
        "readmanyfiles", "readmultiplefiles", "readfiles", "batchread", "viewfiles", "multiread",
        "fsreadmany", "openfiles",
    ]),
    ("file.edit", &[
        "fileedit", "edit", "editfile", "strreplace", "strreplacebasededittool",
        "strreplaceeditor", "texteditor", "replace", "replaceinfile", "multiedit", "searchreplace",
        "applypatch", "applydiff", "patch", "searchandreplace", "replacestring", "replacestringinfile",
        "editblock", "multireplacestringinfile", "multiedits", "updatefile", "modifyfile",
        "patchfile", "smartedit", "replacefilecontent",
        "multireplacefilecontent", "applyedit", "searchreplacefile", "editfiles",
    ]),
    ("file.write", &[
        "filewrite", "write", "writefile", "createfile", "create", "writetofile", "savefile",
        "fswrite", "newfile", "createnewfile", "overwritefile", "putfile", "addfile",
    ]),
    (DELETE, &[
        "deletefile", "removefile", "filedelete", "fsdelete", "unlinkfile", "rmfile", "deletefiles",
        "deletepath",
    ]),
    (MOVE, &["movefile", "renamefile", "filemove", "filerename", "fsmove", "fsrename", "movepath"]),
    (MAKE_FOLDER, &[
        "createdirectory", "createfolder", "makedirectory", "makedir", "mkdir", "createdir",
    ]),
    ("file.search", &[
        "filesearch", "grep", "search", "rg", "ripgrep", "searchfiles", "searchfilecontent",
        "grepsearch", "codesearch", "grepfiles", "searchtext", "searchcode",
        "findinfiles", "searchinfiles", "textsearch", "regexsearch", "searchfilecontents",
        "searchproject", "searchinfile", "findtext", "searchforpattern", "searchdir", "greprepo",
    ]),
    ("file.list", &[
        "filelist", "glob", "ls", "list", "listfiles", "listdirectory", "listdir", "findfiles",
        "globfilesearch", "findpath", "printtree", "listdirectorycontents",
        "findbyname", "findfile", "directorytree", "listfolder", "viewdirectory", "tree", "fslist",
        "globfiles", "globsearch", "readdir", "readdirectory", "getdirectorytree", "listpath",
        "viewfolder", "findfilesbyname", "filetree",
    ]),
    ("code.symbols", &[
        "codesymbols", "documentsymbols", "workspacesymbols", "findsymbol", "getsymbols",
        "listsymbols", "documentsymbol", "workspacesymbol", "getsymbolsoverview",
    ]),
    ("code.definition", &["codedefinition", "gotodefinition", "finddefinition", "getdefinition"]),
    ("code.references", &[
        "codereferences", "findreferences", "getreferences", "findreferencingsymbols", "listreferences",
    ]),
    ("code.hover", &["codehover", "hover", "gethover", "hoverinfo"]),
    ("code.rename", &["coderename", "renamesymbol", "lsprename"]),
    ("web.fetch", &[
        "webfetch", "fetch", "fetchurl", "urlfetch", "readurl", "readurlcontent", "fetchwebpage",
        "openurl", "webreader", "readwebpage", "browse", "visiturl",
    ]),
    ("web.search", &[
        "websearch", "searchweb", "googlewebsearch", "googlesearch", "internetsearch", "searchtheweb",
    ]),
    ("note", &["note", "savememory", "addnote", "addmemory", "remember"]),
    ("task", &[
        "task", "agent", "subagent", "dispatchagent", "spawnagent", "launchagent", "runsubagent",
        "delegate", "newtask",
    ]),
    ("plan", &[
        "plan", "updateplan", "todowrite", "writetodos", "updatetodolist", "settodolist",
        "managetodolist", "todolist", "createplan", "updatetodos", "todo", "writetodo",
        "tasktracker", "setplan",
    ]),
    ("ask", &[
        "ask", "askuser", "askuserquestion", "askfollowupquestion", "askquestion", "askquestions",
        "askhuman", "requestuserinput", "clarify", "userinput",
    ]),
    (ANSWER, &[
        "attemptcompletion", "finish", "finalanswer", "taskdone", "taskcomplete", "taskcompleted",
        "completetask", "submitanswer", "submitfinalanswer", "finishtask", "done", "markcomplete",
    ]),
    (THOUGHT, &[
        "think", "thinking", "thought", "sequentialthinking", "reflect", "scratchpad",
        "reasoning",
    ]),
];

/// What servers and models put before the name of a tool.
const PREFIXES: &[&str] = &[
    "functions.",
    "default_api:",
    "default_api.",
    "mcp__avocet__",
    "avocet__",
    "avocet.",
    "tools.",
    "tool.",
    "repo_browser.",
    "default.",
    "developer__",
    "functions/",
    "tools/",
    "filesystem__",
    "filesystem.",
];

/// What may precede the dot of a tool's name.
const FAMILIES: &[&str] = &["file", "config", "plugin", "script", "job", "mcp", "web", "code"];

/// What precedes the server and the tool in the name of an MCP server's tool, in the wire formats and
/// in a step.
const MCP_WIRE: &str = "mcp__";
const MCP_STEP: &str = "mcp.";

/// A name longer than this is refused by servers.
const MAX_LENGTH: usize = 64;

/// The name of a tool as every wire format allows it: letters, digits, `_` and `-`, no digit first.
/// A call that goes back in the history has it too, whatever the model wrote.
pub fn wire_name(tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let tool = without_prefix(tool);
    let of_server = tool.strip_prefix(MCP_STEP).and_then(|rest| rest.split_once('.'));
    let tool = match of_server {
        Some((server, name)) => Cow::Owned(format!("{MCP_WIRE}{server}__{name}")),
        None => Cow::Borrowed(tool),
    };
    let mut name: String = tool.chars().map(plain).take(MAX_LENGTH).collect();
    if name.trim_matches('_').is_empty() {
        return "unnamed".to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        name.insert(0, '_');
        name.truncate(MAX_LENGTH);
    }
    name
}

/// The name of a tool from the name a model calls it by.
pub fn tool_name(called: &str) -> String {
    let name = without_prefix(called);
    if let Some((server, tool)) = name.strip_prefix(MCP_WIRE).and_then(|rest| rest.split_once("__"))
    {
        return format!("{MCP_STEP}{server}.{tool}");
    }
    let bare: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let bare = bare.to_lowercase();
    let other =
        |bare: &str| OTHERS.iter().find(|(_, names)| names.contains(&bare)).map(|(tool, _)| *tool);
    if let Some(tool) = other(&bare).or_else(|| other(bare.strip_suffix("tool")?)) {
        return tool.to_owned();
    }
    match name.split_once('_') {
        Some((family, rest)) if FAMILIES.contains(&family) => format!("{family}.{rest}"),
        _ => name.to_owned(),
    }
}

/// Whether this is a name of a tool, ours or another agent's.
pub(super) fn is_alias(called: &str) -> bool {
    let tool = tool_name(called);
    OTHERS.iter().any(|(known, _)| *known == tool)
}

/// Whether a tool is understood though no tool of this name runs.
pub fn is_translated(tool: &str) -> bool {
    [LINE, INPUT, READ_MANY, DELETE, MOVE, MAKE_FOLDER, ANSWER, THOUGHT].contains(&tool)
}

/// Whether a call is nothing but a thought.
pub fn is_thought(called: &str) -> bool {
    tool_name(called) == THOUGHT
}

/// The text of a call that ends the work with an answer.
pub fn call_answer(call: &ToolCall) -> Option<String> {
    const TEXTS: [&str; 9] = [
        "result",
        "answer",
        "message",
        "summary",
        "final_answer",
        "text",
        "response",
        "output",
        "content",
    ];
    if tool_name(&call.name) != ANSWER {
        return None;
    }
    match serde_json::from_str(&call.arguments).ok()? {
        Value::String(text) => Some(text),
        Value::Object(fields) => {
            let text = TEXTS.iter().find_map(|name| fields.get(*name)?.as_str());
            Some(text.unwrap_or_default().to_owned())
        }
        _ => None,
    }
}

fn without_prefix(called: &str) -> &str {
    // Marks of a chat template that a server left in the name.
    let called = called.rsplit_once("to=").map_or(called, |(_, name)| name).trim();
    let called = called.split_once("<|").map_or(called, |(name, _)| name).trim();
    // The number that some models give each of their calls.
    let is_number = |end: &&(&str, &str)| end.1.chars().all(|c| c.is_ascii_digit());
    let called = called.rsplit_once(':').as_ref().filter(is_number).map_or(called, |end| end.0);
    let cut = PREFIXES.iter().find_map(|prefix| called.strip_prefix(prefix));
    match cut {
        Some(rest) if !rest.is_empty() => without_prefix(rest),
        _ => called,
    }
}

impl ContentBlock {
    /// Gives a call and its result a name that servers take back, whatever the model wrote.
    pub fn mend_name(&mut self) {
        match self {
            ContentBlock::ToolCall(call) => call.name = wire_name(&call.name),
            ContentBlock::ToolResult(result) => result.name = wire_name(&result.name),
            ContentBlock::Text(_) | ContentBlock::Reasoning(_) | ContentBlock::Image(_) => {}
        }
    }
}

/// Messages of a record: those of earlier versions have the names as the models wrote them.
pub fn with_wire_names(messages: &[Message]) -> Vec<Message> {
    let mut messages = messages.to_vec();
    messages.iter_mut().flat_map(|message| &mut message.blocks).for_each(ContentBlock::mend_name);
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_agents_mean_our_tools() {
        for (called, tool) in [
            ("Bash", LINE),
            ("run_shell_command", LINE),
            ("exec_command", LINE),
            ("local_shell", LINE),
            ("functions.exec", "exec"),
            ("default_api:exec", "exec"),
            ("mcp__avocet__Read", "file.read"),
            ("exec<|channel|>commentary", "exec"),
            ("functions.exec:0", "exec"),
            ("assistant<|channel|>analysis to=functions.exec", "exec"),
            ("tools/file_read", "file.read"),
            ("file_read_tool", "file.read"),
            ("BashTool", LINE),
            ("filesystem__read_file", "file.read"),
            ("developer__shell", LINE),
            ("grep_files", "file.search"),
            ("glob_file_search", "file.list"),
            ("replace_string_in_file", "file.edit"),
            ("ask_followup_question", "ask"),
            ("view", "file.read"),
            ("str_replace_based_edit_tool", "file.edit"),
            ("MultiEdit", "file.edit"),
            ("apply_patch", "file.edit"),
            ("create_file", "file.write"),
            ("Grep", "file.search"),
            ("LS", "file.list"),
            ("TodoWrite", "plan"),
            ("find_references", "code.references"),
            ("code_hover", "code.hover"),
            ("WebFetch", "web.fetch"),
            ("fetch", "web.fetch"),
            ("web_fetch", "web.fetch"),
            ("google_web_search", "web.search"),
            ("read_url", "web.fetch"),
            ("file_read", "file.read"),
            ("FileRead", "file.read"),
            ("config_json_patch", "config.json_patch"),
            ("job.read", "job.read"),
            ("browser_open", "browser_open"),
            ("list_dir", "file.list"),
            ("read_many_files", READ_MANY),
            ("write_stdin", INPUT),
            ("deleteFile", DELETE),
            ("rename_file", MOVE),
            ("create_directory", MAKE_FOLDER),
            ("attempt_completion", ANSWER),
            ("sequential_thinking", THOUGHT),
            ("update_plan", "plan"),
            ("manage_todo_list", "plan"),
            ("get_terminal_output", "job.read"),
            ("KillShell", "job.stop"),
            ("mcp__git__git_status", "mcp.git.git_status"),
            ("mcp.git.git_status", "mcp.git.git_status"),
            ("mcp_find", "mcp.find"),
        ] {
            assert_eq!(tool_name(called), tool, "{called}");
        }
    }

    #[test]
    fn what_goes_back_is_a_name_that_every_server_takes() {
        for (called, name) in [
            ("file.read", "file_read"),
            ("functions.exec", "exec"),
            ("读取文件", "unnamed"),
            ("", "unnamed"),
            ("mcp.git.git_status", "mcp__git__git_status"),
            ("mcp.find", "mcp_find"),
            ("9lives", "_9lives"),
            ("a b:c", "a_b_c"),
        ] {
            assert_eq!(wire_name(called), name, "{called}");
            assert_eq!(wire_name(name), name);
        }
        assert_eq!(wire_name(&"x".repeat(80)).len(), 64);
    }
}
