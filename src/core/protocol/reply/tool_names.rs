//! The names of tools: ours, those of the wire, and those by which other agents call the same.

use super::super::{ContentBlock, Message};

/// A line for a shell, which is not offered as a tool.
pub(super) const LINE: &str = "shell";

/// Names of other agents in lower case without signs, and the tool that each means.
#[rustfmt::skip]
const OTHERS: &[(&str, &[&str])] = &[
    (LINE, &[
        "bash", "shell", "sh", "zsh", "runshellcommand", "execcommand", "localshell", "execbash",
        "executebash", "executecommand", "runcommand", "runterminalcmd", "runinterminal",
        "shellcommand", "terminal", "containerexec", "unifiedexec", "executeshell", "runbash",
        "runterminalcommand", "runinterminalcmd", "executeshellcommand", "bashcommand",
    ]),
    ("exec", &["exec", "cmd"]),
    ("job.start", &["jobstart"]),
    ("job.list", &["joblist"]),
    ("job.read", &["jobread", "bashoutput", "readbackground", "taskoutput"]),
    ("job.stop", &["jobstop", "killshell", "killbash", "taskstop"]),
    ("file.read", &["fileread", "read", "readfile", "view", "viewfile", "viewimage", "cat", "openfile", "notebookread", "viewlinerange", "fsread", "filereader"]),
    ("file.edit", &[
        "fileedit", "edit", "editfile", "strreplace", "strreplacebasededittool",
        "strreplaceeditor", "texteditor", "replace", "replaceinfile", "multiedit", "searchreplace",
        "applypatch", "applydiff", "patch", "searchandreplace", "replacestring", "replacestringinfile",
        "editblock",
    ]),
    ("file.write", &["filewrite", "write", "writefile", "createfile", "create", "writetofile", "savefile", "fswrite"]),
    ("file.search", &["filesearch", "grep", "search", "rg", "ripgrep", "searchfiles", "searchfilecontent", "grepsearch", "codesearch", "grepfiles", "searchtext", "searchcode", "greptool"]),
    ("file.list", &["filelist", "glob", "ls", "list", "listfiles", "listdirectory", "listdir", "findfiles", "globfilesearch", "findpath", "globtool", "printtree", "listdirectorycontents"]),
    ("plan", &["plan", "updateplan", "todowrite", "writetodos"]),
    ("ask", &["ask", "askuser", "askuserquestion", "askfollowupquestion", "askquestion"]),
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
];

/// What may precede the dot of a tool's name.
const FAMILIES: &[&str] = &["file", "config", "plugin", "script", "job"];

/// A name longer than this is refused by servers.
const LONGEST: usize = 64;

/// The name of a tool as every wire format allows it: letters, digits, `_` and `-`, no digit first.
/// A call that goes back in the history has it too, whatever the model wrote.
pub fn wire_name(tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut name: String = without_prefix(tool).chars().map(plain).take(LONGEST).collect();
    if name.trim_matches('_').is_empty() {
        return "unnamed".to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        name.insert(0, '_');
        name.truncate(LONGEST);
    }
    name
}

/// The name of a tool from the name a model calls it by.
pub fn tool_name(called: &str) -> String {
    let name = without_prefix(called);
    let bare: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let bare = bare.to_lowercase();
    if let Some((tool, _)) = OTHERS.iter().find(|(_, names)| names.contains(&bare.as_str())) {
        return (*tool).to_owned();
    }
    match name.split_once('_') {
        Some((family, rest)) if FAMILIES.contains(&family) => format!("{family}.{rest}"),
        _ => name.to_owned(),
    }
}

fn without_prefix(called: &str) -> &str {
    // Marks of a chat template that a server left in the name.
    let called = called.trim();
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
            ("file_read", "file.read"),
            ("FileRead", "file.read"),
            ("config_json_patch", "config.json_patch"),
            ("job.read", "job.read"),
            ("browser_open", "browser_open"),
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
            ("9lives", "_9lives"),
            ("a b:c", "a_b_c"),
        ] {
            assert_eq!(wire_name(called), name, "{called}");
            assert_eq!(wire_name(name), name);
        }
        assert_eq!(wire_name(&"x".repeat(80)).len(), 64);
    }
}
