//! Words of `cli`.

words! { "cli":
    ERROR: "error", "错误";
    WARNING: "warning", "警告";
    HINT: "hint", "提示";

    // Wrong use.
    TWO_PROMPTS: "There are two prompts. Put the whole message in one pair of quotes.", "给了两条消息。请把整条消息放在一对引号里。";
    PROMPT_AND_COMMAND: "A message does not go with this command. Put it in quotes, or leave it out.", "此命令不能同时带消息。请把消息放在引号里，或去掉它。";
    TWO_BOTS: "Two different bots are named. Name one of them.", "指定了两个不同的机器人。请只指定一个。";
    NO_TERMINAL: "The screen needs a terminal. For an answer without it use `avocet -p \"…\"`.", "全屏界面需要终端。不用界面时请使用 `avocet -p \"…\"`。";
    ONLY_HEADLESS: "`{option}` works with `-p` and with piped text only.", "`{option}` 只能与 `-p` 或管道输入一起使用。";
    NO_PROMPT: "There is nothing to answer.", "没有要回答的内容。";
    NO_PROMPT_HINT: "Give a message, as in `avocet -p \"what changed?\"`, or pipe text in.", "请给出消息，例如 `avocet -p \"改了什么？\"`，或通过管道输入文本。";

    COMMAND_ON_SCREEN: "`/{name}` works on the screen only.", "`/{name}` 只能在界面中使用。";
    COMMAND_ESCAPED: "For a message that begins with `/` type `\\/`.", "若消息本身以 `/` 开头，请输入 `\\/`。";

    // On the way to an answer.
    STEP: "$ {step}", "$ {step}";
    STEP_EXIT: "  exit code {code}", "  退出码 {code}";
    STEP_NOT_STARTED: "  not started: {why}", "  未能启动：{why}";
    STEP_NO_EXIT: "  ended without an exit code", "  结束时没有退出码";
    STEP_TIMED_OUT: "  stopped after {ms} ms: it took too long", "  运行 {ms} 毫秒后停止：用时过长";
    STEP_CANCELLED: "  cancelled", "  已取消";
    STEP_DECLINED: "Not run, because it needs a yes: {step} ({why})", "未运行，因为需要同意：{step}（{why}）";
    STEP_DECLINED_HINT: "With `--approve-steps` steps like this one run without asking.", "加上 `--approve-steps`，这类步骤会直接运行。";
    STEP_EACH_ASKS: "Not run, because `safety.max_auto_steps_per_turn` is 0 and so every step needs a yes: {step}", "未运行，因为 `safety.max_auto_steps_per_turn` 为 0，每一步都需要同意：{step}";
    STEP_UNTRUSTED_HINT: "`--trust {folder}` trusts the folder for this run; `--approve-steps` approves steps like this one.", "`--trust {folder}` 可在本次运行中信任该目录；`--approve-steps` 则批准这类步骤。";
    STEP_SECRET_HINT: "It may hand out credentials, which `--approve-steps` leaves to a question; `--approve-secrets` beside it approves such steps as well.", "该步骤可能泄露凭据，`--approve-steps` 不包含此类步骤；再加上 `--approve-secrets` 才会一并批准。";
    STEP_EACH_ASKS_HINT: "Raise that setting, or approve the steps with `--approve-steps`.", "请调高该设置，或加上 `--approve-steps` 批准步骤。";
    STEP_REFUSED: "Refused: {step} ({why})", "已拒绝：{step}（{why}）";
    SAID_YES: "Allowed by {option}: {step} ({why})", "由 {option} 允许：{step}（{why}）";
    YES_TO_PIECES: "`-y`: shell commands of your templates run without a question, except those of high risk. The model's steps still ask.", "`-y`：模板中的 shell 命令将直接运行，高风险命令除外。模型提出的步骤仍会询问。";
    SCRIPT_ASKS: "its permissions leave this to you", "其权限设置将此交由你决定";
    NO_REASON: "no reason is given", "没有给出原因";
    REPAIRING: "The reply could not be understood and is asked for again: {fault}", "回复无法理解，正在重新请求：{fault}";
    RETRYING: "Trying again in {wait} ms, attempt {attempt} of {of}: {why}", "{wait} 毫秒后重试，第 {attempt} 次，共 {of} 次：{why}";
    PAUSED_HINT: "Without the screen nobody can say go on. Run it on the screen; for more steps a turn raise `safety.max_auto_steps_per_turn`.", "没有界面时无人可以确认继续。请在界面中运行；若要每回合更多步骤，请调高 `safety.max_auto_steps_per_turn`。";

    // How it ends.
    MODEL_ERROR: "The model answered with an error: {text}", "模型回答了一个错误：{text}";
    SESSION_LOST: "The session ended before the answer was complete.", "回答完成之前会话就结束了。";
    UNSAVED: "What was said in this run is not saved: {why}", "本次运行的对话未能保存：{why}";
    RESCUED: "The end of the conversation could not be saved: {why} All of it was written to `{file}`.", "对话的结尾未能保存：{why} 全部内容已写到 `{file}`。";
    LOST: "The end of the conversation could not be saved, and no other place could be written to: {why}", "对话的结尾未能保存，其他位置也无法写入：{why}";
    OUT_LOST: "The answer could not be written: {why}.", "回答无法写出：{why}。";

    // --output-schema
    SCHEMA_UNREADABLE: "The schema {file} cannot be read: {why}.", "无法读取模式文件 {file}：{why}。";
    NO_TEXT_FILE: "it is no text file of at most 1 MiB", "它不是不超过 1 MiB 的文本文件";
    SCHEMA_WRONG: "{file} is not a JSON Schema that can be used: {why}", "{file} 不是可用的 JSON Schema：{why}";
    ANSWER_NO_JSON: "The answer is not JSON: {why}.", "回答不是 JSON：{why}。";
    ANSWER_MISFIT: "The answer does not fit the schema at `{path}`: {why}.", "回答在 `{path}` 处不符合模式：{why}。";

    // config
    CONFIG_SET: "`{key}` is now {value}, in {file}.", "`{key}` 现在是 {value}，写在 {file}。";
    CONFIG_UNSET: "`{key}` was taken out of {file}.", "已从 {file} 中去掉 `{key}`。";
    CONFIG_WAS_UNSET: "`{key}` does not stand in {file}; nothing was changed.", "{file} 中没有 `{key}`，未作改动。";
    CONFIG_NO_VALUE: "`{key}` has no value.", "`{key}` 没有值。";

    // model list
    NO_SERVER: "No server is set up. `avocet config set profiles.default.base_url URL` names one.", "没有设置服务器。用 `avocet config set profiles.default.base_url 地址` 指定一个。";
    NO_MODELS: "The server offers no models.", "服务器没有提供模型。";
    BUILT_IN_MODELS: "Built in", "内置";
    MODEL_GUIDE: "the offline guide, not a language model", "离线向导，不是语言模型";
    MODEL_SCRIPTED: "replies read from a file, one after the other", "从文件逐条读取的回复";

    // doctor
    DOCTOR_PROGRAM: "Avocet", "Avocet";
    DOCTOR_VERSION: "version", "版本";
    DOCTOR_FOLDER: "folder", "目录";
    DOCTOR_TRUST: "trust", "信任";
    EXPLAIN_UNTRUSTED: "This folder is not trusted, so here every program would wait for a yes; this is what holds where it is.", "此目录不受信任，因此这里的每个程序都需确认；以下是受信任时的判定。";
    TRUSTED: "this folder is trusted", "此目录受信任";
    NOT_TRUSTED: "this folder is not trusted; `--trust DIR` trusts it for one run", "此目录不受信任；用 `--trust 目录` 可在一次运行中信任它";
    DOCTOR_FILES: "Files", "文件";
    DOCTOR_SETTINGS_FILE: "settings", "设置";
    DOCTOR_BOTS: "bots", "机器人";
    DOCTOR_DATA: "data", "数据";
    DOCTOR_LOG: "log", "日志";
    DOCTOR_SETTINGS: "Settings", "设置";
    DOCTOR_WRONG: "wrong", "有误";
    DOCTOR_VALUE: "{value} ({from})", "{value}（{from}）";
    DOCTOR_ALL_BUILT_IN: "everything is as built in", "全部为内置值";
    DOCTOR_MODEL: "Model", "模型";
    DOCTOR_PROVIDER: "provider", "类型";
    DOCTOR_SERVER: "server", "服务器";
    DOCTOR_KEY: "key", "密钥";
    KEY_SET: "taken from {name}", "取自 {name}";
    KEY_NOT_SET: "none; {name} is not set", "无；{name} 未设置";
    DOCTOR_MODELS: "models", "模型";
    LOW_AND_HIGH: "low: {low}, high: {high}", "low：{low}，high：{high}";
    DOCTOR_EXPOSED: "not encrypted", "未加密";
    DOCTOR_ANSWER: "answer", "应答";
    NOT_ASKED: "not asked", "未询问";
    REACHED: "reached; it offers {count} models", "已连通，提供 {count} 个模型";
    DOCTOR_KEPT: "Bots, commands and skills", "机器人、命令和技能";
    DOCTOR_TERMINAL: "Terminal", "终端";
    DOCTOR_SIZE: "size", "大小";
    SIZE: "{columns} columns, {rows} rows", "{columns} 列，{rows} 行";
    NO_SIZE: "not a terminal", "不是终端";
    NOT_SET: "not set", "未设置";
    DOCTOR_PROGRAMS: "Programs are looked up in", "在这些目录中查找程序";
    DOCTOR_LINE: "{text}", "{text}";
    DOCTOR_PAIR: "{label}: {value}", "{label}：{value}";
    NO_TERM: "The screen needs a terminal that can move its cursor, and `TERM` says there is none. Start with `--linear` for plain lines, set `TERM`, or use `avocet -p \"…\"`.", "全屏界面需要能移动光标的终端，而 `TERM` 表明没有。可用 `--linear` 以纯文本行运行，或设置 `TERM`，或使用 `avocet -p \"…\"`。";
    NO_PROGRAM: "There is no program to judge. Put it behind `--`: `avocet policy explain -- git push`.", "没有要判断的程序。请写在 `--` 后面：`avocet policy explain -- git push`。";
    NO_FOLDER: "`{folder}` is no folder. Name one that exists with `--cwd`.", "`{folder}` 不是文件夹。请用 `--cwd` 指定一个存在的文件夹。";
    NO_FOLDER_HERE: "The folder this was started in is gone. Name another with `--cwd`.", "启动时所在的文件夹已不存在。请用 `--cwd` 另外指定。";
    NO_ROOM: "The system gives this program too little to start: {what}. Raise the limit (`ulimit -a` shows them) or end other programs.",
        "系统给本程序的资源不足，无法启动：{what}。请提高限制（`ulimit -a` 可查看），或结束其他程序。";
    PROGRAM_BROKEN: "Avocet could not go on: {why}.", "Avocet 无法继续：{why}。";
    NO_CONNECTION: "No server is named. Start with `avocet --base-url URL --model NAME`, or write a profile into `config.toml`.", "没有指定服务器。请用 `avocet --base-url 网址 --model 名称` 启动，或在 `config.toml` 中写一个 profile。";
    TWO_SESSIONS: "One conversation at a time: `--continue`, an id, or `--no-save`.", "一次只能选一段对话：`--continue`、编号或 `--no-save`。";
    NO_SESSION_NAMED: "Name the conversation: `avocet session list` shows the ids.", "请写明是哪段对话：`avocet session list` 会列出编号。";
    ONLY_CHAT: "`{option}` is for conversations only.", "`{option}` 只能用于对话。";
    NONE_TO_CONTINUE: "No conversation was saved in `{folder}` yet.", "`{folder}` 里还没有保存过对话。";
    NONE_TO_CONTINUE_HINT: "Leave `--continue` out to begin one.", "去掉 `--continue` 即可开始新的对话。";
    SESSION_DELETED: "Deleted: {id}  {title}", "已删除：{id}  {title}";
    SESSION_EXPORTED: "The conversation is in `{file}`.", "对话已写入 `{file}`。";
    SESSION_EXISTS: "`{file}` is there already and was left as it is. Name another file.", "`{file}` 已经存在，没有改动。请换一个文件名。";
    SESSION_UNWRITTEN: "`{file}` could not be written: {why}.", "无法写入 `{file}`：{why}。";
    MODEL_ASKED: "The model asks: {text}", "模型提问：{text}";
    NOBODY_ANSWERS: "Nobody is there to answer; it goes on without.", "没有人可以回答，将在没有答案的情况下继续。";


    // Scripts.
    ARGS_UNREADABLE: "The arguments begin like an object and are none. Write JSON, or `{content: \"text\"}`; quote the whole for the shell.", "参数开头像对象但无法解析。请写 JSON 或 `{content: \"text\"}`，并为 shell 整体加引号。";
    ARGS_NO_INPUT: "The arguments cannot be read from standard input: {why}.", "无法从标准输入读取参数：{why}。";
    SCRIPT_SOUND: "{file} is sound.", "{file} 没有问题。";
    DRY_CALL: "Call {n}:", "第 {n} 次调用：";
    DRY_STANDS: "`<reply n>` stands for what the model says to call n. Where the script decides by its words, other calls may follow.", "`<reply n>` 代表模型对第 n 次调用的回答。脚本若依据回答作判断，后续调用可能不同。";
    DRY_REST: "What follows hangs on the words of the model and cannot be known: {why}", "后续调用取决于模型的回答，无法预知：{why}";
    DRY_RUN: "A dry run asks no model.", "试运行不会调用模型。";
}
