//! Sentences of the offline guide.
//!
//! Its answers are Markdown. Its suggestions are requests it understands itself.

words! { "guide":
    // Suggestions; the user may send them unchanged.
    TRY_CHANGES: "What changed?", "改了什么？";
    TRY_HISTORY: "Show the recent commits", "最近的提交";
    TRY_FIND: "Find TODO", "查找 TODO";
    TRY_SHOW_FILE: "Show {file}", "显示 {file}";
    TRY_LIST: "List the files", "列出文件";
    TRY_COUNT: "How many lines of code?", "代码有多少行？";
    TRY_CONNECT: "How do I connect a model?", "怎么连接模型？";
    TRY_TIERS: "What are the tiers?", "有哪些安全级别？";
    TRY_HELP: "What can you do?", "你能做什么？";

    HELLO: "Hello! I am the **offline guide**, not a language model: no network, no guessing. I can look around in this folder for you, and show how steps are judged before they run.", "你好！我是**离线向导**，不是语言模型：不联网，也不猜测。我可以帮你查看此目录，并演示每一步运行前如何评估风险。";
    HELP: "I am the **offline guide**, not a language model. In this folder I can:\n\n- tell **what changed**, and show the **recent commits**\n- **find** text: `find TODO in src`\n- **show** a file: `show src/main.rs:1-40`\n- **list** files, and **count** lines\n- **run the tests** – you are asked first\n- **run** a program you name: `run git fetch` – judged like everything else\n- explain the **tiers**, and how to **connect a model**\n\nAnything else needs a real model. `/help` lists the slash commands.", "我是**离线向导**，不是语言模型。在这个目录里我可以：\n\n- 说明**改了什么**，显示**最近的提交**\n- **查找**文本：`在 src 里查找 TODO`\n- **显示**文件：`显示 src/main.rs:1-40`\n- **列出文件**，**统计行数**\n- **运行测试**（会先问你）\n- **运行**你指定的程序：`运行 git fetch`（同样要经过判定）\n- 解释**安全级别**，以及怎么**连接模型**\n\n其他事情需要真正的模型。`/help` 列出全部斜杠命令。";
    OTHER: "I can't do that: I am the **offline guide**, not a language model, and only understand a few requests about this folder – pick one below. I can also show you how to connect a real model.", "这超出了我的能力：我是**离线向导**，不是语言模型，只懂少数几种关于此目录的请求（可从下面选）。我也可以告诉你怎么连接真正的模型。";
    TIERS: "Every step is judged before it runs:\n\n| a step | why | for example |\n|---|---|---|\n| **runs by itself** | it only reads | `git status`, `ls`, `rg TODO` |\n| **asks** | it may write, use the network or take long | `cargo test`, `git commit`, `npm install` |\n| **is refused** | it cannot be undone or needs more rights | `sudo …`, `rm -rf …`, `git reset --hard` |\n\nThe question shows the exact program and arguments, the rule and its reason. `/permissions` shows the rules in force; `/allow` and `/deny` change them for this session.", "每一步运行前都会先评估风险：\n\n| 步骤 | 原因 | 例如 |\n|---|---|---|\n| **直接运行** | 只读 | `git status`、`ls`、`rg TODO` |\n| **会询问** | 可能写入、联网或耗时 | `cargo test`、`git commit`、`npm install` |\n| **拒绝** | 不可恢复，或要求更高权限 | `sudo …`、`rm -rf …`、`git reset --hard` |\n\n询问时会显示确切的程序和参数、规则及其理由。`/permissions` 查看当前规则；`/allow` 和 `/deny` 在本次会话中修改。";
    CONNECT: "Type **`/connect`** here, or run `avocet login` in a shell: it lists the services, asks for a key, checks it and keeps it. With a name it is quicker, for example `avocet login anthropic`; an address (`https://…`) works too.\n\nServers on this machine are found by themselves. For one that is somewhere else:\n\n```sh\navocet --base-url http://192.168.1.20:8080/v1 --model NAME\n```\n\nNo model yet? **Ollama** runs one here:\n\n```sh\nollama pull qwen3:8b\navocet --base-url http://127.0.0.1:11434/v1 --model qwen3:8b\n```\n\nSo does **llama.cpp**:\n\n```sh\nllama-server -m model.gguf --port 8080\navocet --base-url http://127.0.0.1:8080/v1 --model default\n```\n\nAnything that speaks OpenAI's chat completions will do; OpenAI, Anthropic, Gemini, Ollama, Azure and OpenRouter are used through their own APIs.", "在这里输入 **`/connect`**，或在终端运行 `avocet login`：它会列出可用的服务，询问密钥，检查并保存。直接写名称更快，例如 `avocet login anthropic`；也可以写地址（`https://…`）。\n\n本机上的服务器会自动找到。其他地方的服务器：\n\n```sh\navocet --base-url http://192.168.1.20:8080/v1 --model 模型名\n```\n\n还没有模型？**Ollama** 可以在本机运行：\n\n```sh\nollama pull qwen3:8b\navocet --base-url http://127.0.0.1:11434/v1 --model qwen3:8b\n```\n\n**llama.cpp** 也可以：\n\n```sh\nllama-server -m model.gguf --port 8080\navocet --base-url http://127.0.0.1:8080/v1 --model default\n```\n\n任何兼容 OpenAI 对话补全接口的服务器都可以；OpenAI、Anthropic、Gemini、Ollama、Azure 和 OpenRouter 使用各自的原生格式。";

    // The reason for a step, and its expected result.
    WHY_CHANGES: "Checking what changed since the last commit.", "查看自上次提交以来的改动。";
    WANT_CHANGES: "The changed files and their line counts", "列出改动的文件和行数";
    WHY_HISTORY: "Reading the recent commits.", "读取最近的提交。";
    WANT_HISTORY: "One line per commit", "每次提交一行";
    WHY_FIND: "Searching for `{text}`.", "查找 `{text}`。";
    WHY_FIND_GREP: "`rg` is not available here, so `grep` is used instead.", "这里不能用 `rg`，改用 `grep` 查找。";
    WANT_FIND: "Files, line numbers and lines", "文件、行号和内容";
    WHY_SHOW: "Reading `{file}`.", "读取 `{file}`。";
    WANT_SHOW: "Its content", "文件内容";
    WHY_WHERE: "`{file}` is not here; searching for its name below this folder.", "这里没有 `{file}`；在子目录里按名字查找。";
    WANT_WHERE: "Paths with that name", "同名文件的路径";
    WHY_LIST: "Listing the files.", "列出文件。";
    WHY_LIST_TESTS: "Checking how this project is tested.", "查看这个项目怎么测试。";
    WANT_LIST: "File names", "文件名";
    WHY_COUNT: "Counting the lines.", "统计行数。";
    WHY_COUNT_FILES: "Checking which files there are.", "先查看有哪些文件。";
    WANT_COUNT: "The lines of each file and a total", "每个文件的行数和总数";
    WHY_TESTS: "This project is tested with `{line}`. It builds and runs project code, so you decide.", "这个项目的测试命令是 `{line}`。它会构建并运行项目代码，是否运行由你决定。";
    WANT_TESTS: "Which tests pass and which fail", "测试通过与失败的情况";
    WHY_RUN: "You asked for `{line}`.", "你要求运行 `{line}`。";
    WANT_RUN: "Its output", "它的输出";

    // Results.
    CLEAN: "No changes: the working tree is clean.", "没有改动：工作树是干净的。";
    CHANGED: "**{count} changed** on `{branch}`:", "`{branch}` 上有 **{count} 处改动**：";
    CHANGED_HERE: "**{count} changed**:", "**{count} 处改动**：";
    NO_REPOSITORY: "This folder is not a Git repository, so there is nothing to compare.", "这个目录不是 Git 仓库，没有可比较的内容。";
    LAST_COMMIT: "The only commit:", "唯一的一次提交：";
    COMMITS: "The last {n} {n:commit|commits}:", "最近 {n} 次提交：";
    NO_COMMITS: "There are no commits yet.", "还没有任何提交。";
    FOUND: "Found `{text}` on **{lines}** in {files}:", "`{text}` 出现在 {files}的 **{lines}**中：";
    FOUND_MANY: "Found `{text}` on **{lines}**; here are the first:", "`{text}` 出现在 **{lines}**中；这里是前面的部分：";
    NOT_FOUND: "`{text}` was not found here.", "这里没有找到 `{text}`。";
    FILE: "`{file}`:", "`{file}`：";
    EMPTY_FILE: "`{file}` is empty.", "`{file}` 是空的。";
    FILE_HEAD: "The first {count} lines of `{file}`. For the rest say `show {file}:START-END`.", "`{file}` 的前 {count} 行。要看其他部分，请说 `显示 {file}:起-止`。";
    NO_FILE: "There is no `{file}` here.", "这里没有 `{file}`。";
    FILES_OF_NAME: "There is no `{file}` here, but these have the same name:", "这里没有 `{file}`，但有同名文件：";
    LISTED_ONE: "**1** entry:", "共 **1** 项：";
    LISTED: "**{n}** entries:", "共 **{n}** 项：";
    NOTHING_LISTED: "It is empty.", "里面什么也没有。";
    COUNTED: "**{lines}** in {files}.", "{files}，共 **{lines}**。";
    COUNTED_LARGEST: "The largest:", "最大的几个：";
    COUNTED_PART: "Only the first {files} files were counted; there are more.", "只统计了前 {files} 个文件，还有更多。";
    NO_FILES: "There are no such files here.", "这里没有这样的文件。";
    NO_TESTS: "I can't tell how this project is tested (no Cargo.toml, package.json, go.mod, pyproject.toml or Makefile). Say `run PROGRAM ARGS`.", "看不出这个项目怎么测试（没有 Cargo.toml、package.json、go.mod、pyproject.toml 或 Makefile）。可以说“运行 程序 参数”。";
    TESTS_PASSED: "The tests passed (`{line}`).", "测试通过（`{line}`）。";
    TESTS_FAILED: "The tests failed: `{line}` ended with {code}.", "测试没有通过：`{line}` 以 {code} 结束。";
    RAN: "`{line}` finished.", "`{line}` 已完成。";
    RAN_QUIETLY: "`{line}` finished without output.", "`{line}` 已完成，没有输出。";
    FAILED: "`{line}` ended with {code}.", "`{line}` 以 {code} 结束。";
    MORE: "… and {count} more.", "……还有 {count} 项。";
    CUT: "The output was long; only its end is shown.", "输出很长，这里只是结尾。";

    // Steps that did not run.
    DECLINED: "OK, `{line}` was not run.", "好的，没有运行 `{line}`。";
    DECLINED_WORD: "OK, `{line}` was not run. You said: {word}", "好的，没有运行 `{line}`。你说：{word}";
    REFUSED: "`{line}` was refused: {reason}", "`{line}` 被拒绝：{reason}";
    REFUSED_BARE: "`{line}` was refused by the policy.", "`{line}` 被安全策略拒绝。";
    TIMED_OUT: "`{line}` took too long and was stopped.", "`{line}` 超时，已停止。";
    CANCELLED: "`{line}` was cancelled.", "`{line}` 已取消。";
    NOT_STARTED: "`{line}` could not be started. {note}", "`{line}` 无法启动。{note}";
}
