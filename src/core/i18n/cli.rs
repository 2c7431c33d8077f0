//! Sentences of `cli`.

words! { "cli":
    PLATFORMS: "Chat platforms", "聊天平台";
    PLATFORM_STATE: "gateway", "网关";
    PLATFORM_ON: "enabled", "已启用";
    PLATFORM_OFF: "off", "未启用";
    PLATFORM_WHO: "who may talk", "可使用者";
    PLATFORM_USERS: "{users} {users:user|users} and {admins} {admins:admin|admins} in the settings, {paired} paired", "设置中有 {users} 个用户、{admins} 个管理员，另有 {paired} 个已配对";
    TOKEN_SET: "set", "已设置";
    ERROR: "error", "错误";
    WARNING: "warning", "警告";
    HINT: "hint", "提示";

    // Wrong usage.
    TWO_PROMPTS: "Two prompts were given. Put the whole message in one pair of quotes.", "给了两条消息。请把整条消息放在一对引号里。";
    PROMPT_AND_COMMAND: "This command does not take a message. Put the message in quotes, or leave it out.", "此命令不接受消息。请把消息放在引号里，或去掉它。";
    TWO_BOTS: "Two different bots were given. Name only one.", "指定了两个不同的助手。请只指定一个。";
    NO_TERMINAL: "The full screen needs a terminal. To get an answer without one, use `avocet -p \"…\"`.", "全屏界面需要终端。不用界面时请使用 `avocet -p \"…\"`。";
    ONLY_HEADLESS: "`{option}` works only with `-p` or piped input.", "`{option}` 只能与 `-p` 或管道输入一起使用。";
    MISSPELT_COMMAND: "There is no command `{given}`. Did you mean `avocet {nearest}`? To send it as a message: `avocet -p {given}`", "没有 `{given}` 这个命令。是想用 `avocet {nearest}` 吗？若要作为消息发送，请用 `avocet -p {given}`。";
    WORD_UPDATE: "Avocet is updated the way it was installed: with `cargo install`, the package, or the install script once more. `avocet --version` says which one runs.", "Avocet 用安装时的方式更新：再次运行 `cargo install`、软件包管理器或安装脚本。`avocet --version` 显示当前版本。";
    WORD_EXIT: "Nothing is running here. In a conversation, /exit ends Avocet.", "这里没有正在运行的会话。在对话中用 /exit 退出 Avocet。";
    STDIN_SILENT: "Standard input is open but nothing comes; going on without it.", "标准输入已打开但没有内容，将不再等待。";
    STDIN_AWAITED: "Waiting for the message on standard input.", "正在等待从标准输入读取消息。";
    NO_PROMPT: "There is nothing to answer.", "没有要回答的内容。";
    NO_PROMPT_HINT: "Give a message, as in `avocet -p \"what changed?\"`, or pipe text in.", "请给出消息，例如 `avocet -p \"改了什么？\"`，或通过管道输入文本。";

    COMMAND_ON_SCREEN: "`/{name}` works only on the full screen.", "`/{name}` 只能在全屏界面中使用。";
    COMMAND_ESCAPED: "To send a message that begins with `/`, type `\\/`.", "若消息本身以 `/` 开头，请输入 `\\/`。";

    // Progress.
    STEP: "$ {step}", "$ {step}";
    STEP_EXIT: "  exit code {code}", "  退出码 {code}";
    STEP_NOT_STARTED: "  not started: {why}", "  未能启动：{why}";
    MAN_PAGE: "This is a page for `man`: `avocet man | man -l -` shows it, `avocet man > avocet.1` keeps it.", "这是供 `man` 使用的手册页：`avocet man | man -l -` 显示它，`avocet man > avocet.1` 保存它。";
    STEP_NO_EXIT: "  ended without an exit code", "  结束时没有退出码";
    STEP_TIMED_OUT: "  timed out and stopped after {ms} ms", "  运行 {ms} 毫秒后停止：用时过长";
    STEP_CANCELLED: "  cancelled", "  已取消";
    STEP_DECLINED: "Not run, needs approval: {step} ({why})", "未运行，需要批准：{step}（{why}）";
    STEP_DECLINED_HINT: "With `--approve-steps`, steps like this one run without asking.", "加上 `--approve-steps`，这类步骤会直接运行。";
    UNSENT_FILE: "Nothing was sent, because this needs approval: {step} ({why})", "没有发送，因为这需要批准：{step}（{why}）";
    UNSENT_FILE_HINT: "`--approve-steps` approves reading it; for a file outside the folder, `--add-dir` adds its folder to this run.", "`--approve-steps` 可批准读取；如果文件不在工作目录内，也可用 `--add-dir` 在本次运行中加入它所在的目录。";
    STEP_UNTRUSTED_HINT: "`--trust {folder}` trusts the folder for this run; `--approve-steps` approves steps like this one.", "`--trust {folder}` 可在本次运行中信任该目录；`--approve-steps` 则批准这类步骤。";
    STEP_SECRET_HINT: "It may expose credentials, which `--approve-steps` does not cover; add `--approve-secrets` to approve such steps too.", "该步骤可能泄露凭据，`--approve-steps` 不包含此类步骤；再加上 `--approve-secrets` 才会一并批准。";
    STEP_OUTSIDE_HINT: "It changes a file outside the folder, which no option approves; `--add-dir` makes a folder part of the run.", "该步骤会修改目录之外的文件，任何选项都不会批准；可用 `--add-dir` 将目录加入本次运行。";
    STEP_REFUSED: "Refused: {step} ({why})", "已拒绝：{step}（{why}）";
    SAID_YES: "Allowed by {option}: {step} ({why})", "由 {option} 允许：{step}（{why}）";
    YES_TO_PIECES: "`-y`: shell commands of your templates run without asking, except high-risk ones. The model's steps still ask.", "`-y`：模板中的 shell 命令将直接运行，高风险命令除外。模型提出的步骤仍会询问。";
    SCRIPT_ASKS: "its permissions require your approval", "其权限设置要求由你批准";
    NO_REASON: "no reason given", "没有给出原因";
    RETRYING: "Trying again in {wait} s ({attempt} of {of}): {why}", "{wait} 秒后重试（第 {attempt} 次，共 {of} 次）：{why}";
    PAUSED_LOOP_HINT: "On the full screen you can tell the model what to do instead.", "在全屏界面中可以告诉模型改做什么。";
    PAUSED_HINT: "Continuing needs the full screen: run it there, or raise the limit (for steps, `--max-steps` or `safety.max_auto_steps_per_turn`).", "没有界面时无法确认继续。请在全屏界面中运行，或调高相应的限制（步数为 `--max-steps` 或 `safety.max_auto_steps_per_turn`）。";

    // Results.
    CONFIG_ROW: "{value}   {origin}", "{value}   {origin}";
    PLAN_TAKEN: "The plan is carried out, because of {option}.", "按 {option} 执行该计划。";
    NO_MODEL: "No model is connected, so nothing can answer.", "还没有连接模型，无法作答。";
    NO_SUCH_TOOL: "`--tools`: unknown tool `{name}`. Available: {known}.", "`--tools`：没有工具 `{name}`。可用：{known}。";
    MODEL_ERROR: "The model returned an error: {text}", "模型返回了错误：{text}";
    SESSION_LOST: "The session ended before the answer was complete.", "回答完成之前对话就结束了。";
    UNSAVED: "The conversation of this run was not saved: {why}", "本次运行的对话未能保存：{why}";
    RESCUED: "The end of the conversation could not be saved: {why} The whole conversation was written to `{file}`.", "对话的结尾未能保存：{why} 完整对话已写入 `{file}`。";
    LEFT_LATE: "The session did not end in time and was dropped: what it had not saved by then is lost.", "对话未能及时结束，已被放弃：此前尚未保存的内容已丢失。";
    LOST: "The end of the conversation could not be saved, and nowhere else was writable: {why}", "对话的结尾未能保存，其他位置也无法写入：{why}";
    OUT_LOST: "The answer could not be written: {why}.", "回答无法写出：{why}。";

    // --input-format
    STREAM_UNREAD: "Standard input cannot be read: {why}", "无法读取标准输入：{why}";
    STREAM_LINE: "Line {line} of standard input is no message. Write `{form}`.", "标准输入的第 {line} 行不是消息。请写成 `{form}`。";
    // --output-schema
    SCHEMA_UNREADABLE: "The schema {file} could not be read: {why}.", "无法读取模式文件 {file}：{why}。";
    NO_TEXT_FILE: "it is not a text file of at most 1 MiB", "它不是不超过 1 MiB 的文本文件";
    SCHEMA_WRONG: "{file} is not a usable JSON Schema: {why}", "{file} 不是可用的 JSON Schema：{why}";
    ANSWER_NO_JSON: "The answer is not JSON: {why}.", "回答不是 JSON：{why}。";
    ANSWER_AGAIN: "{why} It is asked for once more.", "{why} 现在再请求一次。";
    ANSWER_REPAIR: "{why} Give your final answer again: only one JSON value that fits the schema.", "{why} 请重新给出最终回答：只给一个符合模式的 JSON 值。";
    ANSWER_MISFIT: "The answer does not match the schema at `{path}`: {why}.", "回答在 `{path}` 处不符合 JSON Schema：{why}。";

    // config
    CONFIG_SET: "Set `{key}` to {value} in {file}.", "已在 {file} 中把 `{key}` 设为 {value}。";
    CONFIG_UNSET: "Removed `{key}` from {file}.", "已从 {file} 中移除 `{key}`。";
    CONFIG_WAS_UNSET: "`{key}` is not set in {file}; nothing was changed.", "{file} 中没有设置 `{key}`，未作改动。";
    CONFIG_NO_VALUE: "`{key}` has no value.", "`{key}` 没有值。";

    // model list
    NO_MODELS: "The server offers no models.", "服务器没有提供模型。";
    MODEL_AND: "{a}, {b}", "{a}，{b}";
    MODEL_WINDOW: "{n} tokens", "{n} 个词元";
    MODEL_CONTEXT: "context", "上下文";
    MODEL_ANSWER: "longest answer", "最长回答";
    MODEL_TOOLS: "tools", "工具";
    MODEL_IMAGES: "images", "图片";
    MODEL_EFFORT: "reasoning levels", "推理级别";
    MODEL_NO_EFFORT: "none to choose", "无可选级别";
    MODEL_CACHE: "prompt cache", "提示缓存";
    MODEL_CACHE_AUTOMATIC: "automatic", "自动";
    MODEL_CACHE_MARKED: "at marks in the request", "按请求中的标记";
    MODEL_PARAMETERS: "parameters", "参数量";
    MODEL_PRICES: "price per million tokens", "每百万词元价格";
    MODEL_PRICES_LONG: "the same above {n} tokens", "超过 {n} 个词元时";
    MODEL_ALL_PRICES: "{input} in, {output} out, {cached} from the cache, {written} into the cache", "输入 {input}，输出 {output}，读缓存 {cached}，写缓存 {written}";
    MODEL_PRICE: "{input} in and {output} out per million", "每百万输入 {input}、输出 {output}";
    MODEL_UNKNOWN: "not known", "未知";
    MODEL_GUESSED: "Nothing is known of this model; these are careful guesses. Describe it in `[models.\"NAME\"]`.", "对这个模型一无所知，以上为保守估计。可在 `[models.\"名称\"]` 中说明。";
    YES: "yes", "是";
    NO: "no", "否";
    MODEL_NOT_NAMED: "Name a model, or configure one.", "请指定一个模型，或先配置一个。";
    TEST_FIRST: "first token after", "首个词元用时";
    TEST_WHOLE: "whole answer after", "完整回答用时";
    TEST_MS: "{ms} ms", "{ms} 毫秒";
    TEST_TOOLS: "native tool calls", "原生工具调用";
    TEST_JSON: "JSON in text", "文本中的 JSON";
    TEST_WORKS: "work", "可用";
    TEST_NOT: "do not work", "不可用";
    TEST_NOT_NEEDED: "not tried", "未测试";
    DOCTOR_UNLISTED: "`{model}` is not among them.", "其中没有 `{model}`。";
    BUILT_IN_MODELS: "Built in", "内置";
    MODEL_GUIDE: "the offline guide, not a language model", "离线向导，不是语言模型";
    MODEL_SCRIPTED: "replies read from a file, in order", "从文件逐条读取的回复";

    // doctor
    DOCTOR_PROGRAM: "Avocet", "Avocet";
    DOCTOR_VERSION: "version", "版本";
    DOCTOR_TRUST: "trust", "信任";
    EXPLAIN_UNTRUSTED: "This folder is not trusted, so here Avocet asks before everything except plain reads. Below is the verdict for a trusted folder.", "此目录未受信任，因此除单纯的读取外，运行前都会先询问。以下是受信任时的判定。";
    TRUSTED: "this folder is trusted", "此目录受信任";
    NOT_TRUSTED: "this folder is not trusted; `--trust DIR` trusts it for one run", "此目录不受信任；用 `--trust 目录` 可在一次运行中信任它";
    DOCTOR_FILES: "Files", "文件";
    DOCTOR_SETTINGS_FILE: "settings", "设置";
    DOCTOR_BOTS: "bots", "助手";
    DOCTOR_DATA: "data", "数据";
    DOCTOR_LOG: "log", "日志";
    DOCTOR_WRONG: "invalid", "无效";
    DOCTOR_VALUE: "{value} ({from})", "{value}（{from}）";
    DOCTOR_ALL_BUILT_IN: "all defaults", "全部为默认值";
    DOCTOR_KEY: "key", "密钥";
    KEY_SET: "from {name}", "取自 {name}";
    KEY_NOT_SET: "none; {name} is not set", "无；{name} 未设置";
    DOCTOR_MODELS: "models", "模型";
    LOW_AND_HIGH: "low: {low}, high: {high}", "low：{low}，high：{high}";
    DOCTOR_ANSWER: "answer", "应答";
    NOT_ASKED: "not contacted", "未连接";
    REACHED: "reachable; models: {count}", "已连通；模型 {count} 个";
    DOCTOR_KEPT: "Bots, commands and skills", "助手、命令和技能";
    DOCTOR_TERMINAL: "Terminal", "终端";
    DOCTOR_SIZE: "size", "大小";
    SIZE: "{columns} columns, {rows} rows", "{columns} 列，{rows} 行";
    NO_SIZE: "not a terminal", "不是终端";
    NOT_SET: "not set", "未设置";
    DOCTOR_PROGRAMS: "Trusted program folders", "受信任的程序目录";
    DOCTOR_LINE: "{text}", "{text}";
    DOCTOR_PAIR: "{label}: {value}", "{label}：{value}";
    NO_TERM: "The full screen needs a terminal with a movable cursor, but `TERM` names one without. Start with `--linear` for plain lines, set `TERM`, or use `avocet -p \"…\"`.", "全屏界面需要能移动光标的终端，而 `TERM` 表明没有。可用 `--linear` 以纯文本行运行，或设置 `TERM`，或使用 `avocet -p \"…\"`。";
    NO_PROGRAM: "No program was given. Write it after `--`: `avocet policy explain -- git push`.", "没有给出程序。请写在 `--` 后面：`avocet policy explain -- git push`。";
    NO_FOLDER: "`{folder}` is not a folder. Choose an existing one with `--cwd`.", "`{folder}` 不是目录。请用 `--cwd` 指定一个存在的目录。";
    CONTAINER_NONE: "`--container` is for machines that are thrown away, and this is no container: steps would run without the sandbox, and none would be refused. If that is meant, name the machine: `--container={host}`.", "`--container` 用于用后即弃的机器，而这里不是容器：步骤将不受沙箱限制，也不会被拒绝。若确实如此，请写明本机名称：`--container={host}`。";
    CONTAINER_SHARED: "This container shares `{place}` with the machine around it, so not all of it is thrown away. If `--container` is meant all the same, name the machine: `--container={host}`.", "此容器与外面的机器共用 `{place}`，因此并非全部用后即弃。若仍要使用 `--container`，请写明本机名称：`--container={host}`。";
    CONTAINER_OTHER: "`--container={given}` names another machine. This one is `{host}`.", "`--container={given}` 指的是另一台机器。本机是 `{host}`。";
    CONTAINER_CHATS: "`--container` is not for chats: those who write there do not own this machine.", "`--container` 不适用于聊天：聊天中的人并不拥有这台机器。";
    TRUST_NO_FOLDER: "`--trust` names `{folder}`, which is not a folder.", "`--trust` 指定的 `{folder}` 不是目录。";
    NO_FOLDER_HERE: "The current folder no longer exists. Choose another with `--cwd`.", "当前目录已不存在。请用 `--cwd` 另外指定。";
    NO_ROOM: "Not enough system resources to start: {what}. Raise the limit (`ulimit -a` lists them) or close other programs.",
        "系统给本程序的资源不足，无法启动：{what}。请提高限制（`ulimit -a` 可查看），或结束其他程序。";
    PROGRAM_BROKEN: "Avocet cannot continue: {why}.", "Avocet 无法继续：{why}。";
    TWO_SESSIONS: "Choose only one of `--continue`, an id and `--no-save`.", "`--continue`、编号和 `--no-save` 只能选其一。";
    NO_SESSION_NAMED: "Which conversation? `avocet session list` shows the ids.", "请写明是哪段对话：`avocet session list` 会列出编号。";
    ONLY_CHAT: "`{option}` works only with conversations.", "`{option}` 只能用于对话。";
    NONE_TO_CONTINUE: "No conversation has been saved in `{folder}` yet.", "`{folder}` 里还没有保存过对话。";
    NONE_TO_CONTINUE_HINT: "Leave out `--continue` to start one.", "去掉 `--continue` 即可开始新的对话。";
    SESSION_DELETED: "Deleted: {id}  {title}", "已删除：{id}  {title}";
    SESSION_EXPORTED: "The conversation was written to `{file}`.", "对话已写入 `{file}`。";
    SESSION_EXISTS: "`{file}` already exists and was not changed. Choose another file.", "`{file}` 已经存在，没有改动。请换一个文件名。";
    SESSION_UNWRITTEN: "`{file}` could not be written: {why}.", "无法写入 `{file}`：{why}。";
    FALLBACK: "No user is present to answer, so this counts: {choice}.", "没有用户在场回答，因此采用：{choice}。";
    JOB_ENDS: "Job {id} `{line}` was still at work and ends with this run.", "任务 {id} `{line}` 仍在工作，随本次运行结束。";
    NOBODY_ANSWERS: "No user is present to answer; continuing without an answer.", "没有用户在场回答，将在没有答案的情况下继续。";


    // Scripts.
    ARGS_UNREADABLE: "The arguments look like an object but could not be parsed. Write JSON, or `{content: \"text\"}`, and quote all of it for the shell.", "参数开头像对象但无法解析。请写 JSON 或 `{content: \"text\"}`，并为 shell 整体加引号。";
    ARGS_LONG_INPUT: "Standard input is longer than {most} MiB, so it was not read. Pass a part of it.", "标准输入超过 {most} MiB，没有读取。请只传入其中一部分。";
    ARGS_NO_INPUT: "The arguments could not be read from standard input: {why}.", "无法从标准输入读取参数：{why}。";
    DRY_CALL: "Call {n}:", "第 {n} 次调用：";
    DRY_STANDS: "`<reply n>` stands for the model's reply to call n. Where the script decides by a reply, the later calls may differ.", "`<reply n>` 代表模型对第 n 次调用的回答。脚本若依据回答作判断，后续调用可能不同。";
    DRY_REST: "The later calls depend on the model's replies and cannot be predicted: {why}", "后续调用取决于模型的回答，无法预知：{why}";
    DRY_RUN: "A dry run does not call the model.", "试运行不会调用模型。";
}
