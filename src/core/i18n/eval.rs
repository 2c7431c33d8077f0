//! Sentences of `eval`.

words! { "eval":
    UNREAD: "`{path}` cannot be read: {why}", "无法读取 `{path}`：{why}";
    NO_TASK: "There is no task `{task}`.", "没有任务 `{task}`。";
    NO_TASKS: "`{folder}` has no task: each is a folder with a `task.toml`.", "`{folder}` 中没有任务：每个任务是一个含 `task.toml` 的文件夹。";
    IN_TASK: "Task `{task}`: {why}", "任务 `{task}`：{why}";
    BAD_TASK: "its `task.toml` is wrong: {why}", "`task.toml` 有误：{why}";
    NO_CHECK: "nothing says when it is solved. Add a `check` or an `answer`.", "没有写明何时算解决。请添加 `check` 或 `answer`。";
    BAD_COST: "`limits.cost` must be an amount in dollars from 0 to 1000000.", "`limits.cost` 必须是 0 到 1000000 之间的美元金额。";
    OUT_BUSY: "Another run writes its results to `{path}`.", "另一次运行正在把结果写入 `{path}`。";
    UNCOPIED: "Its files could not be copied: {why}", "无法复制它的文件：{why}";
    SETUP_FAILED: "`{line}` of its setup failed.", "准备步骤 `{line}` 失败。";
    NO_PATCH: "The patch could not be made; the same command runs the task again: {why}", "无法生成补丁，再次运行同一命令会重做此任务：{why}";
    UNWRITTEN: "`{path}` cannot be written: {why}", "无法写入 `{path}`：{why}";
    LEFT: "Its worktree is left: {why}", "保留其工作树：{why}";
    STOPPED: "Stopped. Tasks without a result: {left}. The same command goes on with them.", "已停止。还没有结果的任务：{left} 个。再次运行同一命令即可继续。";
    CHECK_LATE: "The check took too long.", "检查超时。";
}
