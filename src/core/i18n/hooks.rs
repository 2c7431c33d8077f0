//! Sentences about hooks.

words! { "hooks":
    TITLE: "Hooks", "钩子";
    NONE: "No hook is configured. `avocet help hooks` says where they are read from.", "没有配置钩子。`avocet help hooks` 说明从哪些文件读取。";
    ABOUT_COMMAND: "List hooks, and why one did not run", "列出钩子，以及未运行的原因";
    IN_FILE: "{file}: {why}", "{file}：{why}";
    NO_TABLE: "`hooks` is not a table", "`hooks` 不是表";
    ALL_DISABLED: "its hooks are not used: the file sets `disableAllHooks`", "该文件设置了 `disableAllHooks`，其中的钩子未被使用";
    UNKNOWN_EVENT: "the event `{event}` does not occur here, so its hooks do not run", "这里没有事件 `{event}`，其钩子不会运行";
    NOT_USED: "a hook for `{event}` is not used: {why}", "`{event}` 的一个钩子未被使用：{why}";
    NO_COMMAND: "only hooks of the type `command` run here, not `{type}`", "这里只运行 `command` 类型的钩子，不支持 `{type}`";
    UNKNOWN_KEY: "`{key}` is not understood, and without it the hook would run too often", "无法理解 `{key}`，忽略它会让钩子运行过于频繁";
    BAD_COMMAND: "it has no command, or one of more than {limit} bytes", "没有命令，或命令超过 {limit} 字节";
    BAD_MATCHER: "its matcher `{matcher}` is no regular expression", "匹配模式 `{matcher}` 不是正则表达式";
    TOO_MANY: "only the first {limit} hooks are used", "只使用前 {limit} 个钩子";
    FAILED: "The hook `{hook}` failed: {why}", "钩子 `{hook}` 失败：{why}";
    EXITED: "exit {code} {text}", "退出码 {code} {text}";
    TOO_LONG: "it printed more than {limit}", "输出超过 {limit}";
    NO_JSON: "its output begins like JSON and cannot be read", "其输出开头像 JSON，但无法读取";
    SAYS: "The hook `{hook}` says: {text}", "钩子 `{hook}` 提示：{text}";
    DENIED: "A hook declined this step: {reason}", "钩子拒绝了此步骤：{reason}";
    NO_REASON: "it gave no reason", "未说明原因";
    HALTED: "A hook ended the turn: {reason}", "钩子结束了本轮：{reason}";
    ASKS: "A hook wants you to decide about this step: {reason}", "钩子要求由你决定此步骤：{reason}";
    CHANGED: "A hook changed the step to `{step}`.", "钩子把步骤改为 `{step}`。";
    BAD_INPUT: "its `updatedInput` cannot be read: {why}", "无法读取其 `updatedInput`：{why}";
    PROMPT_BLOCKED: "A hook did not let the message pass: {reason}", "钩子没有放行这条消息：{reason}";
    ADDED: "A hook added to the message: {text}", "钩子为消息添加了：{text}";
    TELLS_MODEL: "A hook says: {text}", "钩子提示：{text}";
    GOES_ON: "A hook wants the turn to go on: {reason}", "钩子要求本轮继续：{reason}";
    COMPACTION_BLOCKED: "A hook prevented it: {reason}", "钩子阻止了压缩：{reason}";
    ASK: "`{file}` of this project defines hooks, which run by themselves: {commands}. They run in the sandbox, where they write only in this folder, and the network is open. Run them, now and in later sessions?", "该项目的 `{file}` 定义了会自动运行的钩子：{commands}。它们在沙箱中运行，只能写入此目录，网络开放。现在及以后的会话中都运行它们吗？";
    ASK_YES: "Run them", "运行";
    ASK_NO: "Don't run them", "不运行";
    NOT_ASKED: "The hooks of this project do not run: {files}.", "未运行该项目的钩子：{files}。";
    USED: "hooks: {count} ({events})", "{count} 个钩子（{events}）";
    STATE_ON: "runs at this event", "在该事件时运行";
    STATE_UNTRUSTED: "does not run: this folder is not trusted", "不运行：此目录不受信任";
    STATE_WAITS: "does not run: this project's file waits for your approval", "不运行：该项目的文件等待你的批准";
    STATE_DECLINED: "does not run: you declined it", "不运行：你已拒绝";
    STATE_CHANGED: "does not run: what it would run has changed since you approved it", "不运行：自你批准后其内容已改变";
    STATE_NO_SUBAGENTS: "does not run: there are no subagents", "不运行：没有子智能体";
    REFUSED: "its command is refused: {why}", "其命令被拒绝：{why}";
    WAITS: "Avocet waits for your answer", "Avocet 正在等待你的回答";
    LAST_RUN: "last run", "上次运行";
    LAST_EXIT: "exit {code}, {ms} ms", "退出码 {code}，{ms} 毫秒";
    LAST_FAILED: "{why}, {ms} ms", "{why}，{ms} 毫秒";
}
