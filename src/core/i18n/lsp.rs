//! Sentences about language servers.

words! { "lsp":
    ABOUT_COMMAND: "Show language servers", "显示语言服务器";
    ABOUT_SYMBOLS: "Lists what code defines", "列出代码中定义的符号";
    ABOUT_DEFINITION: "Finds where a name is defined", "查找名称的定义处";
    ABOUT_REFERENCES: "Finds where a name is used", "查找名称的引用处";
    ABOUT_HOVER: "Shows the type of a name", "显示名称的类型";
    ABOUT_RENAME: "Renames a name wherever it is used, with a diff to approve", "重命名某个名称的所有引用，先显示差异供确认";
    LOOKS_UP: "Asks a language server about code of the workspace.", "向语言服务器查询工作区中的代码。";
    OUTSIDE: "`{path}` is outside of the workspace, where no language server is asked about.", "`{path}` 在工作区之外，不会就它查询语言服务器。";
    NO_NAME: "A name has only one line.", "名称只能有一行。";

    FOUND: "In the changed code:\n{lines}", "更改后的代码中：\n{lines}";
    MORE: "\nFound as well, not shown: {n}.", "\n另有 {n} 处未显示。";
    OLD: "\nThere before, left out: {n}.", "\n已略去原有的 {n} 处。";
    UNSURE: "\nIt was not checked before the change: some of that may have been there.", "\n更改之前没有检查过：其中一些可能原本就有。";
    CLEAN: "`{files}` is checked by now: nothing new was found.", "`{files}` 现已检查完毕：没有新问题。";
    LATE: "`{files}` is still being checked; what is found comes with a later result.", "`{files}` 仍在检查中；发现的问题会随后面的结果给出。";

    NO_SERVER: "No language server runs for this file.", "没有用于此文件的语言服务器在运行。";
    NO_SYMBOL: "`{symbol}` is not there in the file, or not in that line.", "文件中或该行中没有 `{symbol}`。";
    NOTHING_FOUND: "Nothing was found.", "没有找到。";
    EDIT_UNUSABLE: "The language server proposed a change that cannot be made here.", "语言服务器提出的更改无法在这里执行。";
    EDIT_OUTSIDE: "The change would touch `{path}`, which is outside of the workspace or cannot be read.", "该更改会涉及 `{path}`，它在工作区之外或无法读取。";
    RENAME_AGAIN: "The language server was not ready. Propose the renaming again.", "语言服务器尚未就绪，请再次提出重命名。";
    LOADING: "`{name}` still reads the project. Try again later.", "`{name}` 仍在读取项目，请稍后再试。";
    NO_ANSWER: "`{name}` did not answer in time.", "`{name}` 没有及时回答。";
    NOT_RUNNING: "`{name}` ended before it answered.", "`{name}` 在回答之前结束了。";
    REFUSED: "The language server says: {why}", "语言服务器提示：{why}";

    ENDED: "its process ended", "其进程已结束";
    UNREADABLE: "it sent what cannot be read", "它发来无法读取的内容";
    FLOODED: "it sent too much", "它发来的内容过多";
    NOT_READING: "it does not read what it is sent", "它不读取发给它的内容";
    START_TIMEOUT: "it did not start within {seconds} s", "它没有在 {seconds} 秒内启动";
    NO_SANDBOX: "this system has no sandbox to run it in", "此系统上没有可用的沙箱";
    WHY_LINE: "{why}: {line}", "{why}：{line}";
    FAILED: "The language server `{name}` failed: {why}.", "语言服务器 `{name}` 失败：{why}。";

    TITLE: "Language servers", "语言服务器";
    NONE: "No language server runs.", "没有语言服务器在运行。";
    BUSY: "reads or checks the project", "正在读取或检查项目";
    RUNNING: "runs, open files: {n}", "运行中，打开的文件：{n}";
    STOPPED: "ended, starts again when it is needed", "已结束，需要时会再次启动";
    GIVEN_UP: "failed too often, does not start again", "失败次数过多，不再启动";
    WAITS: "installed, starts with the first file of its language", "已安装，遇到其语言的第一个文件时启动";
    UNTRUSTED: "None starts: this folder is not trusted.", "都不会启动：此目录不受信任。";
    MEMORY: "memory: {used} MiB; each of its processes may have {limit}", "内存：{used} MiB；每个进程最多 {limit}";
    LAST_ERROR: "last error: {why}", "最近的错误：{why}";
    BAD_SETTING: "`{key}` of the settings is not understood.", "无法理解设置中的 `{key}`。";
    INCOMPLETE: "`[lsp.{name}]` needs `command` and `languages`.", "`[lsp.{name}]` 需要 `command` 和 `languages`。";
    HOW: "`[lsp.NAME]` in `config.toml` adds one or switches one off: `avocet help lsp`.", "可在 `config.toml` 的 `[lsp.名称]` 中添加或关闭：`avocet help lsp`。";
}
