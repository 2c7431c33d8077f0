//! Sentences of `tools`, except `exec` and the sandbox.

words! { "tools":
    ABOUT_READ: "Reads lines of a text file", "读取文本文件的若干行";
    ABOUT_LIST: "Lists the names below a folder", "列出目录之下的名称";
    ABOUT_SEARCH: "Finds lines that contain a text", "查找含有某段文本的行";
    ABOUT_EDIT: "Replaces exact text in a file, with a diff to approve", "替换文件中的指定文本，先显示差异供确认";
    ABOUT_WRITE: "Creates or replaces a file, with a diff to approve", "新建或替换文件，先显示差异供确认";
    ABOUT_NOTE: "Proposes a line for the project's instructions", "为项目说明提议一行内容";
    ABOUT_PATCH: "Changes the settings of plugins", "更改插件的设置";

    ABOUT_ASK: "Lets the model ask you something", "让模型向你提问";
    ABOUT_PLAN: "Shows what the model is going to do", "显示模型打算做什么";
    ABOUT_PLUGIN: "Runs an installed plugin", "运行已安装的插件";
    PLUGIN_SIGNAL: "The plugin `{alias}` was killed by a signal.", "插件 `{alias}` 被信号终止。";
    PLUGIN_TALKED: "It interacted with the user in the terminal; none of that was captured.", "它在终端中直接与用户对话，内容没有被记录。";
    NOBODY_HERE: "No user is present.", "没有用户在场。";
    NO_TERMINAL: "This plugin needs a terminal of its own to interact with the user, and none is available here.", "此插件需要独占终端与用户对话，而这里没有可用的终端。";
    NOT_AS_JUDGED: "The step no longer matches what was judged, so nothing was done.", "将要执行的内容与判定时不符，因此未执行。";
    NOT_A_FILE_TOOL: "This is not a file operation.", "这不是文件操作。";
    BROKE: "The tool failed: {why}.", "工具中断：{why}。";
    NOT_THERE: "`{path}` does not exist.", "`{path}` 不存在。";
    NOT_THERE_NEAR: "`{path}` does not exist. Next to it: {near}.", "`{path}` 不存在。同目录下有：{near}。";
    NOT_PERMITTED: "`{path}`: not permitted by the system ({why}).", "`{path}`：系统不允许（{why}）。";
    IS_NO_FOLDER: "A part of `{path}` is a link or not a folder.", "`{path}` 中有一段不是目录，或是链接。";
    DISK_FULL: "`{path}`: the disk is full; nothing was changed.", "`{path}`：磁盘已满，未作任何修改。";
    DISK_READ_ONLY: "`{path}` is on a read-only disk; nothing was changed.", "`{path}` 所在磁盘只读，未作任何修改。";
    FILE_FAILED: "`{path}`: {why}.", "`{path}`：{why}。";
    EDITOR_NOT_WRITTEN: "The editor did not write `{path}`: {why}", "编辑器没有写入 `{path}`：{why}";
    READ_ONLY: "`{path}` is marked as read-only; nothing was changed.", "`{path}` 标为只读，未作任何修改。";
    NOT_KEPT: "The old content of `{path}` could not be backed up ({why}), so nothing was changed.", "无法保留 `{path}` 的旧内容（{why}），因此未作任何修改。";
    LARGE_EDITED: "The file is too large for a copy of its old content: `/undo` does not restore it.", "文件过大，没有保留旧内容：`/undo` 无法还原。";
    CHANGED_ON_DISK: "`{path}` changed on disk after the question was asked, so it was not overwritten. Read it again, then propose the change again.", "提出询问之后，`{path}` 在磁盘上已被改动，因此没有覆盖它。请重新读取后再提出修改。";
    SYNTAX_FAULT: "`{path}` is not valid {format} now, line {line}: {why}.", "`{path}` 现在不是有效的 {format}，第 {line} 行：{why}。";
    IMAGE_READ: "`{path}` is an image of {width}x{height}; it follows.", "`{path}` 是 {width}x{height} 的图片，附在后面。";
    DOCUMENT_READ: "`{path}` is a PDF document of {bytes} bytes; it follows.", "`{path}` 是 {bytes} 字节的 PDF 文档，附在后面。";
    NOTEBOOK: "A notebook of {n} {n:cell|cells}, long outputs cut. `from` reads its JSON, which an edit changes.", "共有 {n} 个单元的笔记本，过长的输出已截断。用 `from` 读取它的 JSON，编辑改动的是 JSON。";
    BINARY: "`{path}` is not text: {kind}, {bytes} bytes.", "`{path}` 不是文本：{kind}，{bytes} 字节。";
    EMPTY_FILE: "The file is empty.", "文件为空。";
    PAST_THE_END: "The file has {total} {total:line|lines}; line {from} is past its end.", "文件共有 {total} 行，第 {from} 行已超出末尾。";
    LINES_OF: "Lines {from} to {to} of {total}.", "第 {from} 至 {to} 行，共 {total} 行。";
    SIZE: "`{path}` is a file of {bytes} bytes.", "`{path}` 是文件，{bytes} 字节。";
    LIST_CUT: "These are the first of {total} names. Narrow it with path, glob or depth.", "共 {total} 个名称，仅列出前面一部分。请用 path、glob 或 depth 缩小范围。";
    LIST_NOTHING: "Nothing there, or nothing matches.", "没有内容，或没有符合的名称。";
    GLOB_WRONG: "`{glob}` is not a valid name pattern: {why}.", "`{glob}` 不是有效的通配符：{why}。";
    QUERY_WRONG: "The query cannot be searched for: {why}.", "无法查找该内容：{why}。";
    QUERY_LITERAL: "The query is not a valid regular expression ({why}), so it was searched for literally.", "查询不是有效的正则表达式（{why}），因此按原文查找。";
    SEARCH_NONE: "No line matches /{query}/ in {files} {files:file|files}.", "{files} 个文件中没有与 /{query}/ 匹配的行。";
    SEARCH_NONE_LITERAL: "No line has `{query}` in {files} {files:file|files}.", "{files} 个文件中没有含 `{query}` 的行。";
    TYPE_UNKNOWN: "There is no type `{kind}` of files. Use glob.", "没有 `{kind}` 这种文件类型，请用 glob。";
    SEARCH_CUT: "{total} {total:match|matches} in {files} {files:file|files}; these are the first. Narrow it with path or glob.", "{files} 个文件中共有 {total} 处匹配，仅列出前面一部分。请用 path 或 glob 缩小范围。";
}
