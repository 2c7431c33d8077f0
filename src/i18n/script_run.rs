//! Sentences of `script`: why a script cannot be read or run.

words! { "script_run":
    AT: "{file}:{line}:{column}: {what}", "{file}:{line}:{column}：{what}";
    CALLED_AT: "{what}\n  called at {file}:{line}:{column}", "{what}\n  调用处 {file}:{line}:{column}";
    TOO_LONG: "The script is longer than {most} MiB; split it.", "脚本超过 {most} MiB，请拆分。";
    FRONT_NO_MAP: "The settings between the `---` lines must be a map, `key: value`.", "两行 `---` 之间的配置必须是 `键: 值` 形式的映射。";
    BODY_NO_LIST: "The script must be a list of instructions, each starting at the beginning of a line.", "脚本正文必须是指令列表，每条指令从行首开始。";
    NOT_YAML: "This is not YAML: {why}", "此处不符合 YAML 语法：{why}";
    TWO_DOCUMENTS: "A second YAML document begins here; a script may have only one.", "此处开始了第二个 YAML 文档，而脚本只能有一个。";
    TOO_DEEP: "Nested more than {most} levels deep.", "嵌套超过 {most} 层。";
    TOO_MANY: "More than {most} values after expanding aliases.", "展开别名后超过 {most} 个值。";
    NO_ANCHOR: "This alias refers to an anchor that is not defined above it.", "该别名引用的锚点在前文中不存在。";
    KEY_NO_TEXT: "A list or a map cannot be a key; quote the text, as in `\"{{name}}\"` or `\"[[VAR]]\"`.", "列表或映射不能作为键；请给文本加引号，例如 `\"{{name}}\"` 或 `\"[[VAR]]\"`。";

    // Finding and checking.
    NO_SCRIPT_FILE: "`{name}` is a file but no script: the name of a script ends in `.ai.yaml` or `.ai.yml`.", "`{name}` 是文件但不是脚本：脚本的文件名须以 `.ai.yaml` 或 `.ai.yml` 结尾。";
    NO_SCRIPT: "There is no script `{name}`: not next to the script, in the folders given with `-s`, or among the built-in ones.", "找不到脚本 `{name}`：脚本所在目录、`-s` 指定的目录和内置脚本中都没有。";
    NO_SCRIPT_HERE: "There is no script `{name}`: not in the working folder, next to the calling script, in `.avocet/scripts` of a trusted folder, among your own scripts, or among the built-in ones.", "找不到脚本 `{name}`：工作目录、调用它的脚本所在目录、受信任目录的 `.avocet/scripts`、你自己的脚本和内置脚本中都没有。";
    NO_FILE: "There is no file `{name}` next to the script.", "脚本所在目录中没有文件 `{name}`。";
    NO_TYPE: "`type: {name}` does not match a script. Write the type script, or add its folder with `-s`.", "`type: {name}` 没有对应的脚本。请编写该类型脚本，或用 `-s` 加上它所在的目录。";
    NO_TYPE_HERE: "`type: {name}` does not match a script. Write the type script next to this one, or in a scripts folder.", "`type: {name}` 没有对应的脚本。请在该脚本旁边或脚本目录中编写此类型脚本。";
    NOT_A_TYPE: "`{name}` is not a type: its settings do not contain `type: type`.", "`{name}` 不是类型脚本：其配置中没有 `type: type`。";
    CIRCLE: "`{name}` leads back to itself through `type` or `extends`.", "`{name}` 经 `type` 或 `extends` 又回到了自身。";
    UNKNOWN_TAG: "Unknown tag `!{tag}`; functions are written with `!fn` or `!fn#`.", "无法识别 `!{tag}`；函数用 `!fn` 或 `!fn#` 编写。";
    INPUT_NO_LIST: "`input` must be a list of names, or of `name: settings`.", "`input` 必须是名称列表，或 `名称: 配置` 列表。";
    INPUT_MISSING: "The input `{name}` is required and has no value. Pass it as an argument.", "缺少必填输入 `{name}`，请通过参数传入。";
    INPUT_TYPE: "The input `{name}` must be of type {type}, not `{value}`.", "输入 `{name}` 的类型须为 {type}，不能是 `{value}`。";
    PARAMETER_VALUE: "`{name}` cannot be `{value}`, so it has no effect.", "`{name}` 不能是 `{value}`，因此不起作用。";
    NO_MESSAGES: "The model gets no message: none was written, or all of them are empty.", "没有消息发给模型：没有写消息，或者消息全部为空。";
    ARG_UNREAD: "The script does not read the argument `{name}`.", "脚本没有读取参数 `{name}`。";
    INPUT_NOT_LISTED: "The input `{name}` cannot be `{value}`; it must be one of: {list}.", "输入 `{name}` 不能是 `{value}`，只能是以下之一：{list}。";
    LINK_UNCLEAR: "An import or export must be a name, a list of names, or `name: what`.", "导入或导出项应为名称、名称列表，或 `名称: 内容`。";
    FOREIGN_LANGUAGE: "`{name}` is not JavaScript, wasm or an AI script; no other language can be run.", "`{name}` 不是 JavaScript、wasm 或 AI 脚本，其他语言无法运行。";
    MODULE_OUTSIDE: "`{name}` points outside the script's folder, so it is not imported.", "`{name}` 指向脚本目录之外，不予导入。";
    MODULE_CIRCLE: "`{name}` imports itself, directly or through other files.", "`{name}` 直接或间接导入了自身。";
    TOO_MANY_FILES: "More than {most} files are imported below `{name}`.", "`{name}` 之下导入的文件超过 {most} 个。";
    NO_EXPORT: "`{name}` is not exported there.", "该处没有导出 `{name}`。";
    FUNCTION_NO_NAME: "This function has no name, so nothing can call it.", "该函数没有名称，无法被调用。";
    UNTRUSTED: "{file} is in a folder you do not trust, so only its messages may be used, not {what}. Check the script, then trust the folder with `--trust`.", "{file} 所在的目录未被信任，只能使用其中的消息，不能使用 {what}。请先检查脚本，再用 `--trust` 信任该目录。";

    UNTRUSTED_HERE: "{file} is in a folder you do not trust, so only its messages may be used, not {what}. Check the script, then trust the folder with `/trust`.", "{file} 所在的目录未被信任，只能使用其中的消息，不能使用 {what}。请先检查脚本，再用 `/trust` 信任该目录。";

    // Instructions.
    LIST_ITEM: "A list is not an instruction. A text that begins with `[` must be quoted, as in `\"[[VAR]]\"`.", "列表不是指令。以 `[` 开头的文本必须加引号，例如 `\"[[VAR]]\"`。";
    UNKNOWN_OBJECT: "This is neither a message nor a call: {keys}. A message is `role: text` or has `role` and `content`; a call begins with `$`.", "这既不是消息也不是调用：{keys}。消息写作 `角色: 文本`，或包含 `role` 和 `content`；调用以 `$` 开头。";
    NO_ROLE: "This message has no role.", "该消息没有角色。";
    CONTENT_NO_TEXT: "The message of `{role}` is a list or a map. Quote the text, as in `\"[[VAR]]\"`.", "`{role}` 的消息是列表或映射。请给文本加引号，例如 `\"[[VAR]]\"`。";
    SYSTEM_NO_PARTS: "A structured system message is a map of `background`, `content`, `output` and `notes`.", "结构化系统消息应为包含 `background`、`content`、`output`、`notes` 的映射。";
    SYSTEM_PART: "A system message has no part `{key}`; it has `background`, `content`, `output` and `notes`.", "系统消息没有 `{key}` 部分，只有 `background`、`content`、`output`、`notes`。";
    NO_MESSAGE_AT: "There is no message at position {at}.", "位置 {at} 没有消息。";
    NO_CALL: "`{name}` is not a valid call.", "`{name}` 无法识别为调用。";
    NO_CHAIN: "`{text}` is not a valid chain, `-> id(args) -> $name`.", "`{text}` 无法识别为链式调用 `-> id(参数) -> $名称`。";
    NO_DIRECTIVE: "There is no directive, function or import `${name}`.", "没有名为 `${name}` 的指令、函数或导入项。";
    NO_EXPRESSION: "`{text}` is not an expression: {why}.", "`{text}` 不是有效的表达式：{why}。";
    NO_FORMAT: "Unknown `templateFormat: {name}`; use hf, golang or fstring.", "未知的 `templateFormat: {name}`，可用 hf、golang、fstring。";
    BAD_PATTERN: "The regular expression `{pattern}` failed: {why}.", "正则表达式 `{pattern}` 出错：{why}。";
    DID_YOU_MEAN: "{what} Did you mean `{near}`?", "{what}是否想写 `{near}`？";
    SETTING_TWICE: "The setting `{name}` is there twice; the last one counts.", "配置 `{name}` 出现了两次，以最后一次为准。";
    SETTING_UNKNOWN: "There is no setting `{name}`, so this is a variable. Did you mean `{near}`?", "没有配置项 `{name}`，此处视为变量。是否想写 `{near}`？";
    SETTING_VALUE: "`{name}` cannot be `{value}`; use one of: {list}.", "`{name}` 不能是 `{value}`，可用：{list}。";
    HEAD_NOT_CLOSED: "The settings that begin here have no closing `---`, so they are sent as messages.", "此处开始的配置缺少结尾的 `---`，因此会作为消息发送。";
    VARIABLE_NOT_SET: "Nothing sets the variable `{name}`.", "没有任何地方设置变量 `{name}`。";
    KEY_UNKNOWN: "`{of}` has no key `{name}`, so it is ignored.", "`{of}` 没有键 `{name}`，会被忽略。";
    KEY_MISSPELT: "`{of}` has no key `{name}`. Did you mean `{near}`?", "`{of}` 没有键 `{name}`。是否想写 `{near}`？";
    VALUE_KIND: "`{name}` must be of type {kinds}, which `{value}` is not.", "`{name}` 的类型须为 {kinds}，`{value}` 不符合。";
    VALUE_RANGE: "`{name}` must be between {low} and {high}, not {value}.", "`{name}` 应在 {low} 到 {high} 之间，不能是 {value}。";
    VALUE_MISSPELT: "`{name}` is not known here. Did you mean `{near}`?", "此处无法识别 `{name}`。是否想写 `{near}`？";
    INPUT_TWICE: "The input `{name}` is declared twice.", "输入 `{name}` 声明了两次。";
    INDEX_TWICE: "The inputs `{one}` and `{other}` have the same index {index}.", "输入 `{one}` 和 `{other}` 的 index 同为 {index}。";
    EVENT_UNKNOWN: "Nothing emits the event `{name}`.", "没有任何地方触发事件 `{name}`。";
    REGEX_FLAG: "`{flag}` is not a flag of a regular expression.", "`{flag}` 不是正则表达式的标志。";
    FILTER_UNKNOWN: "Templates have no filter `{name}`.", "模板没有过滤器 `{name}`。";
    TEST_UNKNOWN: "Templates have no test `{name}` after `is`.", "模板的 `is` 之后没有测试 `{name}`。";
    CALL_INPUT_UNKNOWN: "The script `{script}` has no input `{name}`.", "脚本 `{script}` 没有输入 `{name}`。";
    CALL_INPUT_MISSING: "The script `{script}` requires the input `{name}`, which is not passed here.", "脚本 `{script}` 需要输入 `{name}`，此处没有传入。";
    CALL_NOT_CLOSED: "`{text}` is sent as a message, because it is not a valid call. Check its brackets and quotes.", "`{text}` 不是有效的调用，会作为消息发送。请检查括号和引号。";
    NO_PACKAGE: "There is no module `{name}`: it is not built in, and not in `node_modules`.", "没有模块 `{name}`：既非内置，也不在 `node_modules` 中。";
    TAKES: "Takes {inputs}.", "输入：{inputs}。";
    TAKES_NOTHING: "Takes no inputs.", "没有输入。";
    GIVES: "Gives {output}.", "输出：{output}。";
    GIVES_TEXT: "Gives text, or the value of its last instruction.", "输出：文本，或最后一条指令的值。";
    REQUIRED: "{name} (required)", "{name}（必填）";
    IF_NEEDS: "`$if` needs a `then`: the instructions for a condition that holds.", "`$if` 需要 `then`：条件成立时执行的指令。";
    NO_DIRECTIVE_NEAR: "There is no directive, function or import `${name}`. Did you mean `${near}`?", "没有名为 `${name}` 的指令、函数或导入项。是否想写 `${near}`？";
    NAME_NOT_SET: "`{text}` stays as text: nothing sets `{name}`.", "`{text}` 保持原样：没有任何地方设置 `{name}`。";
    NO_CONDITION: "A condition is missing.", "缺少条件。";
    NO_ITEMS: "`$for` needs a count, a list, a map or a range such as `1..5`.", "`$for` 需要次数、列表、映射，或 `1..5` 这样的范围。";
    NOT_ITEMS: "`{what}` is not a count, list, map or range to loop over.", "`{what}` 不是可供循环的次数、列表、映射或范围。";
    NOT_A_LIST: "`{name}` is not a list, so nothing can be appended to it.", "`{name}` 不是列表，无法在末尾追加。";
    ON_NEEDS: "`$on` needs an `event` and a `callback`.", "`$on` 需要 `event` 和 `callback`。";
    EXEC_NEEDS: "`$exec` needs the `id` of a script.", "`$exec` 需要脚本的 `id`。";
    EXEC_PROGRAM: "The tool `exec` needs a `program`.", "工具 `exec` 需要 `program`。";
    FILE_NEEDS: "A `path` is missing.", "缺少 `path`。";
    URL_NEEDS: "A `url` is missing.", "缺少 `url`。";
    NO_URL: "`{url}` is not an address that begins with http:// or https://.", "`{url}` 不是以 http:// 或 https:// 开头的地址。";
    NO_STORE: "Nothing can be saved here: no storage is available.", "此处无法保存内容：没有可用的存储。";
    KEEP_NEEDS: "`$remember` needs an `id` and a `value`; `$forget` needs an `id`.", "`$remember` 需要 `id` 和 `value`；`$forget` 需要 `id`。";
    NOT_KEPT: "`{name}` could not be saved: {why}", "无法保存 `{name}`：{why}";
    NO_KNOWLEDGE: "Nothing is saved under `{name}`.", "`{name}` 下没有保存任何内容。";
    THROWN: "The script stopped itself: {message}", "脚本主动中止：{message}";

    // The model, roles and tools.
    MODEL_FAILED: "The model did not answer: {why}", "模型未能作答：{why}";
    TIMED_OUT: "The model's answer took longer than {seconds} s. Raise `parameters.timeout` (in ms).", "模型作答超过 {seconds} 秒。可调大 `parameters.timeout`（毫秒）。";
    NO_CHOICE: "The model answered `{reply}`, which is not one of: {list}.", "模型回答了 `{reply}`，不在可选项之内：{list}。";
    NO_ROLE_SCRIPT: "The role `{role}` is addressed but not listed under `roles`.", "被点名的角色 `{role}` 没有列在 `roles` 中。";
    ROLE_NO_CHAR: "The role `{role}` must be a script of `type: char`, but {file} is not.", "角色 `{role}` 必须是 `type: char` 的脚本，而 {file} 不是。";
    TOOL_NO_TITLE: "`{name}` cannot be used as a tool: it has neither `title` nor `description`.", "`{name}` 不能用作工具：缺少 `title` 或 `description`。";
    TOOLSET_FUNCTION: "The toolset `{toolset}` exports the function `${name}`, which is not a tool: tools are scripts. Export a script that calls it.", "工具集 `{toolset}` 导出的函数 `${name}` 不是工具：工具须为脚本。请导出一个调用它的脚本。";
    OTHER_MODEL: "`{name}` is written for {pattern}, but the model is `{model}`: its answers may not be what the script expects.", "`{name}` 面向的模型是 {pattern}，而当前模型是 `{model}`，回答可能不符合脚本预期。";
    TEMPLATE_OF_SERVER: "`SystemTemplate` is ignored: the model's server chooses the template.", "忽略 `SystemTemplate`：模型使用哪个模板由其服务器决定。";
    NO_RUN_MODE: "Unknown `run_mode: {mode}`; use parallel, sequential, cascaded or planer.", "未知的 `run_mode: {mode}`，可用 parallel、sequential、cascaded、planer。";
    ANSWER_WAITS: "`concurrent_answer` is ignored: the answer is based on the tools' results, so it waits for them.", "忽略 `concurrent_answer`：回答以工具结果为依据，因此会等待工具执行完。";
    TOOL_FAILED: "The tool `{name}` failed: {why}", "工具 `{name}` 执行失败：{why}";
    NOT_ALLOWED: "MethodNotAllowed: permission denied for `{name}`.", "MethodNotAllowed：没有调用 `{name}` 的权限（permission denied）。";
    MAY_CALL: "`{script}` wants to call `{name}` with {args}. Allow it?", "`{script}` 想以 {args} 调用 `{name}`，是否允许？";

    // Limits.
    TOO_MANY_SCRIPTS: "`{name}` would nest more than {most} scripts. Look for scripts that call each other endlessly.", "`{name}` 的嵌套将超过 {most} 层脚本。请检查脚本是否在无休止地互相调用。";
    TOO_MANY_STEPS: "More than {most} instructions in one run, so it was stopped. Look for a loop that does not end.", "一次运行超过 {most} 条指令，已停止。请检查是否有不会结束的循环。";
    TOO_MANY_TURNS: "A loop ran more than {most} times, so it was stopped.", "循环超过 {most} 次，已停止。";
    TOO_MANY_CALLS: "More than {most} model calls in one run, so it was stopped.", "一次运行调用模型超过 {most} 次，已停止。";
    TOO_MANY_MESSAGES: "More than {most} messages in one dialogue, so it was stopped.", "一段对话超过 {most} 条消息，已停止。";
    TOO_MANY_TOOLS: "More than {most} tools for one script.", "一个脚本的工具超过 {most} 个。";
    CHATS_BROKEN: "The value saved under `{name}` is not a list of messages.", "`{name}` 下保存的内容不是消息列表。";
    TEXT_TOO_LONG: "A text exceeded {most} MiB, so the script was stopped.", "文本超过 {most} MiB，脚本已停止。";

    RUN_TIME: "The script ran longer than {seconds} s (`limits.script_timeout_s`), so it was stopped.", "脚本运行超过 {seconds} 秒（`limits.script_timeout_s`），已停止。";

    // Questions to the user.
    INPUT_OPEN: "{script} asks for an input.", "{script} 需要输入。";
    INPUT_NO_ANSWER: "`{text}` was not answered, or there is no user to ask. Pass the value as an argument.", "`{text}` 没有得到回答：没有可询问的用户，或用户未作答。请改为通过参数传入。";
    INPUT_DESCRIBED: "{name}: {text}", "{name}：{text}";
    INPUT_WRONG: "{text}\n{why}", "{text}\n{why}";
    INPUT_NUMBER: "The answer must be a number.", "回答须为数字。";
    INPUT_JSON: "The answer must be an object such as {a: 1}.", "回答须为 {a: 1} 这样的对象。";
    INPUT_ONE_OF: "The answer must be one of: {list}.", "回答须为以下之一：{list}。";
    FORM_ASKS: "The script `{script}` needs {n} values:", "脚本 `{script}` 需要填写 {n} 项：";
    FORM_ASKS_ONE: "The script `{script}` needs a value:", "脚本 `{script}` 需要填写一项：";
    FIELD_LINE: "{name} ({kind})", "{name}（{kind}）";
    FIELD_ABOUT: "{field}: {about}", "{field}：{about}";
    KIND_TEXT: "text", "文本";
    KIND_NUMBER: "number", "数字";
    KIND_LIST: "texts with commas between them", "用逗号分隔的文本";
    KIND_OBJECT: "object such as {a: 1}", "{a: 1} 这样的对象";
    KIND_ONE_OF: "one of {list}", "可选 {list}";
    INPUT_REQUIRED: "An answer is required.", "必须作答。";
    INPUT_KIND: "`$input` cannot ask for `{kind}`; use one of: {list}.", "`$input` 不能询问 `{kind}`，可用：{list}。";
    VARIABLE_CLOSED: "Scripts may not read the environment variable `{name}`; add it to `scripts.environment` if they should.", "脚本不能读取环境变量 `{name}`；如需允许，请加入 `scripts.environment`。";
    WRITE_NEEDS: "`$writeFile` needs a `path` and a `content`.", "`$writeFile` 需要 `path` 和 `content`。";

    // Steps and files.
    NO_REASON: "reason unknown", "原因未知";
    STEP_REFUSED: "The safety policy refuses this step of the script: {why}", "安全策略拒绝了脚本的这一步：{why}";
    STEP_DECLINED: "This step of the script needs an approval it did not get: {why} `-y` approves steps of low risk, and `--approve-secrets` with it those that may expose credentials.", "脚本的这一步需要批准但未获批准：{why} `-y` 可批准低风险步骤，再加 `--approve-secrets` 可批准可能泄露凭据的步骤。";
    FILE_CUT: "{name} is longer than {most} KiB: its middle was left out of the message.", "{name} 超过 {most} KiB：消息中省略了它的中间部分。";
    STEP_DECLINED_HERE: "You rejected this step of the script: {why}", "你拒绝了脚本的这一步：{why}";
    STEP_BROKEN: "The step ended without a result.", "该步骤没有返回结果就结束了。";
    STEP_NO_TOOL: "There is no tool `{name}` for this step.", "没有可执行该步骤的工具 `{name}`。";
    STEP_FAILED: "`{name}` failed: {why}", "`{name}` 执行失败：{why}";
    NOT_TEXT: "{name} is not UTF-8 text.", "{name} 不是 UTF-8 文本。";
    UNREADABLE: "{name} could not be read: {why}.", "无法读取 {name}：{why}。";
}
