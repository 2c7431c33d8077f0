//! Words of `commands`.

words! { "commands":
    CATEGORY_SESSION: "Session", "会话";
    CATEGORY_CONFIGURATION: "Configuration", "设置";
    CATEGORY_TOOLS: "Tools & Skills", "工具与技能";
    CATEGORY_INFO: "Info", "信息";
    CATEGORY_EXIT: "Exit", "退出";

    // What each command does, one line.
    ABOUT_NEW: "Start a fresh conversation", "开始新的对话";
    ABOUT_STOP: "Stop the running turn", "停止当前回合";
    ABOUT_QUEUE: "Send a message when the running turn is over", "当前回合结束后再发送一条消息";
    ABOUT_STEER: "Say something to the running turn", "对正在进行的回合说句话";
    ABOUT_COMPRESS: "Sum up earlier turns, keeping what the focus names", "总结较早的对话，保留重点内容";
    ABOUT_RECALL: "Bring a part back that is no longer sent", "取回不再发送的内容";
    ABOUT_RETRY: "Ask the last message again, without its answer", "去掉上一条回答，重新提问";
    ABOUT_UNDO: "Put files back as they were before the last turn that changed any, or the last n", "把文件还原到最近一轮（或最近 n 轮）修改之前";
    ABOUT_PLUGINS: "List the plugins of slothtool", "列出 slothtool 的插件";
    NO_TURNS: "`{found}` is no number of turns: 1 takes back the last one that changed files.", "`{found}` 不是轮数：1 表示撤销最近一轮的文件修改。";
    ABOUT_INIT: "Let the model propose an AGENTS.md for this folder", "让模型为此目录起草 AGENTS.md";
    ABOUT_DIFF: "Show what changed in this folder", "查看此目录的改动";
    ABOUT_CONTEXT: "Show how the next request divides", "查看下一次请求的构成";
    ABOUT_USAGE: "Show the tokens of each turn and of all", "查看每个回合和合计的词元";
    ABOUT_COPY: "Copy the last answer, or the n-th from the end", "复制最后一条回答，或倒数第 n 条";
    ABOUT_SEARCH: "Search the conversation", "在对话中查找";
    ABOUT_RAW: "Print the conversation on the normal screen", "把对话打印到普通屏幕";
    ABOUT_EXPORT: "Write the conversation to a file", "把对话写入文件";
    ABOUT_MODEL: "Choose the model that answers", "选择回答的模型";
    ABOUT_MODE: "Use the profile's small or large model", "使用配置档中的小模型或大模型";
    ABOUT_LANG: "Speak English or Chinese", "切换英文或中文";
    ABOUT_THEME: "Choose the colours", "选择配色";
    ABOUT_TIMESTAMPS: "Show when things were said and done, or hide it", "显示或隐藏各条消息的时间";
    ABOUT_VIM: "Write with vi's keys, or with the plain ones", "用 vi 按键或普通按键书写";
    ABOUT_ALLOW: "Run what a rule covers without asking, in this session", "在本次会话中，规则涵盖的步骤不再询问";
    ABOUT_DENY: "Refuse what a rule covers, in this session", "在本次会话中，拒绝规则涵盖的步骤";
    ABOUT_TRUST: "Show or change trust in this folder", "查看或更改对此目录的信任";
    ABOUT_PERMISSIONS: "Show what runs, what asks and what is refused", "查看哪些会运行、哪些会询问、哪些会拒绝";
    ABOUT_TOOLS: "List what the model can work with", "列出模型可用的工具";
    ABOUT_HELP: "List the commands, or explain one", "列出命令，或说明其中一个";
    ABOUT_KEYS: "Every key, searched by typing", "列出所有按键，输入可查找";
    ABOUT_STATUS: "Show the model, the folder and the counts so far", "查看模型、目录和目前的计数";
    ABOUT_DOCTOR: "Check settings, model and terminal", "检查设置、模型和终端";
    ABOUT_VERSION: "Say which version this is", "显示版本";
    ABOUT_EXIT: "Leave", "退出";

    NO_SWITCH: "`/{name}` takes on or off, not `{found}`.", "`/{name}` 只接受 on 或 off，而不是 `{found}`。";
    IN_USE: "in use", "使用中";

    // What is wrong with a line.
    UNKNOWN: "There is no command `/{name}`.", "没有 `/{name}` 这个命令。";
    UNKNOWN_HINT: "`/help` lists the commands.", "`/help` 会列出所有命令。";
    NEAR: "Did you mean {near}?", "是不是想输入 {near}？";
    OUT_OF_REACH: "`/{name}` cannot be used from here.", "这里不能使用 `/{name}`。";
    NO_ARGS: "`/{name}` takes nothing behind it.", "`/{name}` 后面不需要内容。";
    MISSING: "`/{name}` needs {what} behind it.", "`/{name}` 后面需要 {what}。";
    NO_CHOICE: "`/{name}` takes one of {choices}, not `{found}`.", "`/{name}` 只接受 {choices}，不接受 `{found}`。";
    USAGE: "Usage: {usage}", "用法：{usage}";
    BUSY: "`/{name}` does not work while a turn runs.", "回合进行中不能使用 `/{name}`。";
    BUSY_HINT: "Stop it first with `/stop`, or wait until it is over.", "请先用 `/stop` 停止，或等它结束。";
    WAITS: "`/{name}` follows when the turn is over.", "本回合结束后执行 `/{name}`。";
    NOTHING_RUNS: "Nothing is running.", "当前没有正在进行的回合。";
    NO_NUMBER: "`{found}` is not the number of an answer: 1 is the last one.", "`{found}` 不是回答的编号：1 表示最后一条。";
    NO_TOPIC: "There is no help about `{name}`.", "没有关于 `{name}` 的帮助。";
    NO_THEME: "There is no theme `{name}`.", "没有名为 `{name}` 的配色。";
    THEMES: "There are: {themes}.", "现有：{themes}。";
    MODEL_NOT_LISTED: "The server does not list a model `{name}`; it is asked all the same.", "服务器没有列出模型 `{name}`；仍会尝试使用它。";
    RULE_NEEDS_PROGRAM: "A rule begins with the name of a program.", "规则要以程序名开头。";
    RULE_EXAMPLE: "For example: `git push *`, or exactly `git push`.", "例如：`git push *`，或者只写 `git push`。";

    // Pages.
    HELP_TITLE: "Commands", "命令";
    HELP_ABOUT: "The command /{name}", "命令 /{name}";
    HELP_USAGE: "usage", "用法";
    HELP_ALIASES: "also", "别名";
    HELP_CATEGORY: "category", "类别";
    VERSION: "Avocet {version}", "Avocet {version}";
    STATUS_TITLE: "This session", "本次会话";
    STATUS_MODEL: "model", "模型";
    STATUS_PROVIDER: "provider", "类型";
    STATUS_SERVER: "server", "服务器";
    STATUS_PROFILE: "profile", "配置档";
    STATUS_MODE: "mode", "模式";
    STATUS_LANG: "language", "语言";
    STATUS_BOT: "bot", "机器人";
    STATUS_FOLDER: "folder", "目录";
    STATUS_NOTES: "project notes", "项目说明";
    STATUS_BRANCH: "branch", "分支";
    STATUS_TURNS: "turns", "回合";
    STATUS_STEPS: "steps", "步骤";
    STATUS_TOKENS: "tokens", "词元";
    TOKENS: "{input} in, {output} out", "输入 {input}，输出 {output}";
    TOKENS_ESTIMATED: "about {input} in, {output} out", "输入约 {input}，输出约 {output}";
    TOOLS_TITLE: "Tools", "工具";
    NO_TOOLS: "There are none.", "没有。";
    PERMISSIONS_TITLE: "Permissions", "权限";
    PERMISSIONS_TIERS: "Tiers", "等级";
    TIER_L0: "only reads, inside this folder: runs", "只读，且在此目录内：直接运行";
    TIER_L1: "writes, reaches the network or is not surely harmless: asks", "会写入、会联网，或不能确定无害：先询问";
    TIER_L2: "destroys, needs more rights or is not on the allow-list: refused", "具破坏性、需要更高权限，或不在允许列表：拒绝";
    PERMISSIONS_ALLOWED: "Run without asking", "不再询问";
    PERMISSIONS_DENIED: "Refused", "一律拒绝";
    NO_RULES: "no rules", "没有规则";
    PERMISSIONS_LIMITS: "Limits", "限制";
    LIMIT_STEPS: "A turn pauses and asks after {steps} steps.", "一个回合在 {steps} 步之后暂停并询问。";
    LIMIT_NONE: "A turn pauses and asks at each step.", "一个回合在每一步都暂停并询问。";
    HOW_TO_RULE: "Add with `/allow <rule>` and `/deny <rule>`, such as `git add *`; take back with `/permissions revoke <number>`.", "用 `/allow <规则>` 和 `/deny <规则>` 添加，例如 `git add *`；用 `/permissions revoke <编号>` 撤销。";
    REVOKE_LOCAL: "Rules can be taken back only where Avocet runs.", "只能在运行 Avocet 的机器上撤销规则。";
    NO_RULE_NUMBER: "There is no rule number `{number}`. `/permissions` shows them.", "没有编号为 `{number}` 的规则。输入 `/permissions` 查看。";
}
