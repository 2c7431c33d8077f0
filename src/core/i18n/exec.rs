//! Sentences of `exec`.

words! { "exec":
    /// The tool's line in `/tools`.
    ABOUT: "Runs a program with its arguments, never through a shell",
        "运行一个程序及其参数，从不经过 shell";

    // Reasons why a step did not start.
    NOT_FOUND: "`{program}` was not found in the trusted program folders. /doctor lists them, `program_folders` under `[safety]` adds others, and folders made since the start count after a restart.",
        "在受信任的程序目录中找不到 `{program}`。/doctor 会列出这些目录，`[safety]` 下的 `program_folders` 可加入其他目录；启动之后才新建的目录要重新启动才会计入。";
    NOT_FOUND_HERE: "`{program}` is in `{folder}`, which is not a trusted program folder. To use programs from there, the user adds it: `program_folders = [\"{folder}\"]` under `[safety]` in config.toml.",
        "`{program}` 位于 `{folder}`，该目录不在受信任的程序目录之列。若要使用其中的程序，请由用户在 config.toml 的 `[safety]` 中加入 `program_folders = [\"{folder}\"]`。";
    NOT_AS_JUDGED: "The step no longer matches what was judged, so it was not started.", "将要运行的内容与判定时不一致，因此没有启动。";
    CHANGED: "`{path}` changed after it was judged, so it was not started. Propose the step again.",
        "`{path}` 在判定之后被改动，因此没有启动。请重新提出这一步。";
    GONE: "`{path}`, or the interpreter in its first line, does not exist.",
        "`{path}`（或其首行指定的解释器）不存在。";
    NOT_PERMITTED: "The system does not allow running `{path}`.",
        "系统不允许运行 `{path}`。";
    WRONG_FORMAT: "`{path}` is not a program this machine can run.",
        "`{path}` 不是本机可以运行的程序。";
    NO_INTERPRETER: "`{path}` is text, and its first line names no interpreter (`#!/…`), so it was not started. Pass it to its interpreter as an argument, or add that line.",
        "`{path}` 是文本，首行没有指定解释器（`#!/…`），因此没有启动。请把它作为参数交给解释器，或补上这一行。";
    EMPTY_FILE: "`{path}` is empty, so there is nothing to start.", "`{path}` 是空文件，没有可启动的内容。";
    INTERPRETER_RETURN: "The first line of `{path}` has a Windows line ending, so its interpreter is not found. Convert the line endings of the file.",
        "`{path}` 的首行是 Windows 换行符，因此找不到它指定的解释器。请转换该文件的换行符。";
    NOT_EXECUTABLE: "`{path}` exists but is not executable (`chmod +x` would make it so). If it is a script, pass it to its interpreter as an argument.",
        "`{path}` 存在，但没有执行权限（可用 `chmod +x` 添加）。如果它是脚本，请把它作为参数交给解释器。";
    NOT_A_FILE: "`{path}` is a folder, not a program.", "`{path}` 是目录，不是程序。";
    FOLDER_CLOSED: "The permissions of `{path}` do not allow entering it, so nothing was started.",
        "目录 `{path}` 没有进入的权限，因此没有启动任何程序。";
    NO_ROOM: "The system cannot start another program now, so `{path}` was not started: {why}.",
        "系统目前无法再启动程序，因此没有启动 `{path}`：{why}。";
    NO_PROCESSES: "this user has no processes or threads left", "该用户可用的进程或线程已用尽";
    NO_DESCRIPTORS: "no more files can be opened", "已无法再打开文件";
    NO_MEMORY: "out of memory", "内存已用尽";
    TOO_LONG: "The arguments are longer than the system allows. Use fewer or shorter ones.",
        "参数总长度超过系统上限，请减少或缩短参数。";
    NUL_BYTE: "An argument contains a NUL byte, which no program can receive.",
        "某个参数含有 NUL 字节，任何程序都无法接收。";
    NO_FOLDER: "The folder `{path}` does not exist, so nothing was started.",
        "目录 `{path}` 不存在，因此没有启动任何程序。";
    NOT_STARTED: "`{path}` did not start: {why}.",
        "`{path}` 未能启动：{why}。";
    NOT_A_PROGRAM: "`{tool}` is not a program, so exec did not run it.",
        "`{tool}` 不是程序，exec 没有运行它。";

    NEEDS_TERMINAL: "`{program}` needs a terminal, and there is none here, so it was not started. Run it in a terminal of your own, or on Avocet's full screen, where a line that begins with `!` gets the terminal.",
        "`{program}` 需要终端，而这里没有，因此没有启动。请在自己的终端中运行它，或在 Avocet 的全屏界面中用 `!` 开头的一行运行，那里会把终端交给它。";
    STEP_NEEDS_TERMINAL: "`{program}` needs a terminal with a user at it, which a step does not have, so it was not started. Use a form that asks nothing (an option with the text, a script, a file tool), or ask the user to run it with `!`.",
        "`{program}` 需要有人操作的终端，而步骤没有终端，因此没有启动。请改用无需交互的形式（用选项给出文本、脚本或文件工具），或请用户用 `!` 运行它。";

    MISSED_TERMINAL: "`{program}` may have failed because it needs a terminal, which it does not have here. Run it in a terminal of your own, or on Avocet's full screen, where a line that begins with `!` gets the terminal.",
        "`{program}` 可能因为需要终端而失败，而这里没有终端。请在自己的终端中运行它，或在 Avocet 的全屏界面中用 `!` 开头的一行运行，那里会把终端交给它。";
    STEP_MISSED_TERMINAL: "`{program}` may have failed because it needs a terminal with a user at it, which a step does not have. Use a form that asks nothing (an option with the text, a script, a file tool), or ask the user to run it with `!`.",
        "`{program}` 可能因为需要有人操作的终端而失败，而步骤没有终端。请改用无需交互的形式（用选项给出文本、脚本或文件工具），或请用户用 `!` 运行它。";

    // The end of a step, if the exit code does not tell it.
    HAD_TERMINAL: "It had the terminal; what it showed there is not kept.",
        "它使用了终端；其中显示的内容没有保留。";
    TIMED_OUT: "It was stopped after {seconds} s, the time limit of a step.",
        "已运行 {seconds} 秒（单步时限），因此被停止。";
    TIMED_OUT_STEP: "It was stopped after {seconds} s. `timeout_s` gives it more time (up to {most}), and `background: true` lets it run on.",
        "已运行 {seconds} 秒，因此被停止。可用 `timeout_s` 延长时限（最多 {most} 秒），或用 `background: true` 让它在后台继续运行。";
    OUTGREW: "It was stopped because it had more than {most} processes and threads, the limit for a step that runs without asking.",
        "它的进程与线程超过 {most} 个（无需询问的步骤的上限），因此被停止。";
    CANCELLED: "The user stopped it.",
        "用户停止了这一步。";
    SIGNAL: "It was killed by signal {signal}.",
        "它被信号 {signal} 终止。";
    UNKILLABLE: "It does not respond to any signal and was abandoned.",
        "它对任何信号都没有反应，只好放弃等待。";
    KEPT_OPEN: "A background process held the output open; it was ended with the step.",
        "有后台进程一直占用输出，已随这一步一起结束。";
    LEFT_BEHIND: "Processes that it left in the background ended with the step: {count}.",
        "遗留在后台的进程已随这一步一起结束，数量：{count}。";
    PUT_BACK: "It changed files that steer what runs later, which nobody was asked about; they were put back as they were: {files}.", "它更改了会影响之后运行内容的文件，而此事未经询问；这些文件已恢复原状：{files}。";
    OTHERS_UNSEEN: "In the sandbox it sees only the files and sockets of its own step.", "在沙箱中它只能看到本步骤自己的文件和套接字。";
    KEPT: "It outlives the session.", "它会在会话结束后继续运行。";
    LEFT_RUNNING: "It left this running in the background, as it is meant to: {names}.",
        "它按设计在后台留下了：{names}。";
    WAIT_FAILED: "The system could not report how it ended: {why}.",
        "系统无法告知它是如何结束的：{why}。";

    /// The last line of live output.
    NOT_LIVE: "… more output follows; it is no longer shown live.",
        "……后面还有输出，不再实时显示。";
    EDITOR_NOT_STARTED: "Your editor `{editor}` could not be started ({why}); the input is unchanged. Check `VISUAL` and `EDITOR`.", "无法启动编辑器 `{editor}`（{why}），输入内容保持原样。请检查 `VISUAL` 与 `EDITOR`。";
    EDITOR_FAILED: "Your editor `{editor}` failed ({why}); the input is unchanged.", "编辑器 `{editor}` 异常结束（{why}），输入内容保持原样。";
    EDITOR_UNREADABLE: "Your editor's text is in `{file}`, but it could not be read back: {why}. The input is unchanged.", "编辑器写下的内容在 `{file}`，但无法读回：{why}。输入内容保持原样。";
    USER_PROGRAM_MISSING: "`{program}` is not a program in your PATH.", "`{program}` 不是 PATH 中的程序。";
    USER_PROGRAM_FAILED: "`{program}` failed: {why}", "`{program}` 失败：{why}";
    USER_PROGRAM_SLOW: "`{program}` took longer than {seconds} s and was stopped.", "`{program}` 超过 {seconds} 秒，已被停止。";
}
