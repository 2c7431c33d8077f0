//! Sentences that explain the script language: its help, and what an editor shows.

words! { "script_help":
    // Directives.
    PRINT: "Shows a value.", "显示一个值。";
    ECHO: "Makes a value the last result.", "把一个值作为最近的结果。";
    RET: "Ends the script with a value; without one, with the last result.", "以一个值结束脚本；没有值时用最近的结果。";
    SET: "Sets variables; with a name alone, to the last result.", "设置变量；只给名称时设为最近的结果。";
    GET: "Returns a variable; for a list of names, a map of them.", "返回一个变量；给出名称列表时返回映射。";
    UNSET: "Removes variables.", "删除变量。";
    PUSH: "Appends a value to a list.", "向列表追加一个值。";
    FORMAT: "Renders a template now.", "立即渲染模板。";
    CTX: "Returns all variables.", "返回所有变量。";
    CLEAN_RESULT: "Clears the last result.", "清除最近的结果。";
    PROMPT: "Adds values to the prompt; `messages` among them are appended.", "向 prompt 添加值；其中的 `messages` 会追加为消息。";
    PARAMETERS: "Changes the parameters of the following model calls.", "修改之后模型调用的参数。";
    IF: "Runs `then` if a condition is true, otherwise `else`.", "条件为真时执行 `then`，否则执行 `else`。";
    FOR: "Repeats `do` for a list, a map, a number or a range such as `2..5`; in it are `value` and `index`, or the names of `as`.", "对列表、映射、数字或 `2..5` 这样的范围重复 `do`；其中有 `value` 和 `index`，或 `as` 给出的名称。";
    WHILE: "Repeats `do` while a condition is true.", "条件为真时重复 `do`。";
    CHECKED: "scripts: {scripts}, errors: {errors}, warnings: {warnings}", "{scripts} 个脚本：{errors} 个错误，{warnings} 个警告";
    TESTED: "tests passed: {passed} of {all}", "{all} 个测试通过了 {passed} 个";
    TEST_PASSED: "passed: {name}", "通过：{name}";
    TEST_FAILED: "failed: {name}: {why}", "失败：{name}：{why}";
    NO_TESTS: "There is no test: replies stand beside a script, as `NAME.replies.json`.", "没有测试：模拟回复放在脚本旁边，文件名为 `名称.replies.json`。";
    FOLDER_TOO_LARGE: "`{folder}` has more than {most} files and folders, too many to look through: name a folder in it.", "`{folder}` 中的文件和文件夹超过 {most} 个，无法全部查找：请指定其中的一个文件夹。";
    TEST_FILE: "The tests in {file} cannot be read: {why}", "无法读取 {file} 中的测试：{why}";
    TEST_WANTED: "{what} should be {wanted}, but is {got}", "{what} 应为 {wanted}，实际为 {got}";
    TEST_REPLIES_LEFT: "replies that were not used: {n}", "有 {n} 条回复未被使用";
    TEST_NOTHING_LEFT: "the test has no further {kind}", "测试中没有更多的 {kind}";
    TRY: "Runs a block. If it fails, it is run again up to `retry` times, and then `catch` instead, which has `error.message` and of a program `error.code`, `error.stdout` and `error.stderr`.", "执行一个代码块。失败时最多重试 `retry` 次，仍失败则执行 `catch`；其中有 `error.message`，程序出错时还有 `error.code`、`error.stdout` 和 `error.stderr`。";
    MATCH: "Runs the first case that fits: a value, a list, a range, a regular expression; `_` is any other.", "执行第一个匹配的分支：值、列表、范围、正则表达式；`_` 表示其他情况。";
    ON: "Calls a function at an event.", "在事件发生时调用函数。";
    ONCE: "The same as `$on`, for the first time only.", "与 `$on` 相同，但只执行一次。";
    OFF: "Removes the handlers of an event.", "移除事件的处理函数。";
    EMIT: "Triggers an event of your own.", "触发自定义事件。";
    BREAK: "Leaves the loop.", "跳出循环。";
    CONTINUE: "Goes to the next turn of the loop.", "进入循环的下一轮。";
    THROW: "Ends the script with an error.", "以错误结束脚本。";
    EXIT: "Ends this script and those that called it.", "结束本脚本以及调用它的脚本。";
    AI: "Lets the model answer now, with these parameters and template values.", "让模型立即回答，可带参数和模板值。";
    TOOL: "`$AI` for the name `llm`, otherwise a call of a script.", "名称为 `llm` 时即 `$AI`，否则调用脚本。";
    INTERACT: "Adds a user message and lets the model answer it.", "添加一条用户消息并让模型回答。";
    INIT_DONE: "What the separator `---` does: returns to the messages above the first one.", "即分隔符 `---` 的作用：回到第一个分隔符以上的消息。";
    PUSH_MESSAGE: "Appends a message.", "追加一条消息。";
    REPLACE_MESSAGE: "Replaces a message, by default the last.", "替换一条消息，默认为最后一条。";
    GET_MESSAGES: "Returns the messages as a list.", "以列表返回消息。";
    EXEC: "Runs another script, or a program as a step.", "运行另一个脚本，或作为步骤运行程序。";
    AGENT: "Gives the agent a task, as a turn with a context of its own; the value is its last message. `tools` and `mode` narrow what it may do, and `agent` names its definition.", "把任务交给智能体，作为拥有独立上下文的一轮；值是它的最后一条消息。`tools` 和 `mode` 限制它可做的事，`agent` 指定其定义。";
    PIPE: "Passes the last result to a function or a script; `$|name` for short.", "把最近的结果传给函数或脚本；可简写为 `$|name`。";
    READY: "Does nothing; older scripts wait with it.", "不做任何事；旧脚本用它等待。";
    REMEMBER: "Stores a value beyond the run; `pack://id` reads it.", "跨运行保存一个值；用 `pack://id` 读取。";
    FORGET: "Removes a stored value.", "删除已保存的值。";
    SAVE_CHATS: "Saves the messages below the separator.", "保存分隔符以下的消息。";
    LOAD_CHATS: "Inserts saved messages; its value is their number.", "插入已保存的消息；值为消息数。";
    ABORT: "Ends the running model call; what has arrived is the answer.", "结束正在进行的模型调用；已收到的内容即为回答。";
    TOKENIZE: "Splits a text roughly into tokens.", "把文本大致切分为词元。";
    COUNT_TOKENS: "Estimates the tokens of a text.", "估算文本的词元数。";
    READ_FILE: "Reads a text file, or a `pack://` value, under the safety policy.", "按安全策略读取文本文件或 `pack://` 值。";
    WRITE_FILE: "Writes a whole file, as a step.", "作为步骤写入整个文件。";
    LIST_FILENAMES: "The names of the files below a folder.", "文件夹下的文件名。";
    IS_DIR: "Whether there is such a folder.", "是否存在该文件夹。";
    DETECT_LANG: "The language of a text, by its English name.", "文本所用语言的英文名称。";
    INPUT: "Asks the user for a value. Fails where there is no user.", "向用户询问一个值；无人可答则出错。";
    CONSOLE_INPUT: "The same, with the question: `{question, answer}`.", "同上，并包含问题：`{question, answer}`。";
    FETCH_URL: "Fetches a web page; asks first.", "获取网页；会先询问。";

    // Settings.
    SETTING_ID: "The ID; by default the file name without `.ai.yaml`.", "ID；默认是去掉 `.ai.yaml` 的文件名。";
    SETTING_TITLE: "What it does, in one line; a tool needs it.", "用途，一行；作为工具时必需。";
    SETTING_DESCRIPTION: "What it does, at length; for a role, who it is.", "详细说明；对角色而言是其身份。";
    SETTING_NAME: "The name of the role in a group.", "角色在群聊中的名字。";
    SETTING_VERSION: "The version; only for readers.", "版本；仅供阅读。";
    SETTING_TYPE: "The type script it is built on, such as `char`; `type` for a type itself, `lib` and the like are labels.", "所基于的类型脚本，如 `char`；类型本身写 `type`，`lib` 等只是标签。";
    SETTING_EXTENDS: "The script whose settings and instructions come before its own.", "其设置和指令排在本脚本之前的脚本。";
    SETTING_INPUT: "The inputs: a list of names, or of names with their attributes.", "输入：名称列表，或带属性的名称。";
    SETTING_OUTPUT: "The form of the result, as a JSON Schema.", "结果的形式，写作 JSON Schema。";
    SETTING_IMPORT: "Functions and scripts it uses: JavaScript, wasm, scripts, packages.", "所用的函数和脚本：JavaScript、wasm、脚本、包。";
    SETTING_EXPORT: "What an importing script gets; a toolset lists its tools here.", "导入它的脚本能得到什么；工具集在此列出工具。";
    SETTING_PROMPT: "Template values, and `messages` that come first.", "模板值，以及排在最前的 `messages`。";
    SETTING_PARAMETERS: "The parameters of its model calls.", "模型调用的参数。";
    SETTING_TOOLS: "Scripts and built-in tools that the model may call.", "模型可以调用的脚本和内置工具。";
    SETTING_ROLES: "The roles of a group: name and script.", "群聊的角色：名字与脚本。";
    SETTING_CHARACTER: "More about a role, by name.", "角色的更多信息，按名称列出。";
    SETTING_PERMISSIONS: "Which calls are allowed, denied or asked for.", "哪些调用被允许、拒绝或需要询问。";
    SETTING_TEMPLATE_FORMAT: "The template syntax of its messages.", "消息的模板语法。";
    SETTING_STRATEGY: "When messages are rendered: never, when sent, at once.", "消息何时渲染：从不、发送时、立即。";
    SETTING_CONTENT_TYPE: "Ignored; always a script.", "忽略；总是脚本。";
    SETTING_MODEL_PATTERN: "The models it is made for; another one gives a note.", "适用的模型；使用其他模型时会提示。";
    SETTING_ON: "Functions to call at events: `[\"llmStream:$f\"]`, `{llmStream: $f}`, or `[{event: llmStream, callback: $f}]`.", "事件发生时调用的函数：`[\"llmStream:$f\"]`、`{llmStream: $f}` 或 `[{event: llmStream, callback: $f}]`。";
    SETTING_THINK: "Whether and how the model reasons before or after it answers.", "模型是否以及如何在回答前后思考。";
    SETTING_KEEP_THINKING: "Keeps the reasoning in the result, as `_thinking` or under a name.", "在结果中保留思考，存为 `_thinking` 或指定的名称。";
    SETTING_KEEP_ORIGINAL: "Keeps the text before its conversion, as `_original` or under a name.", "保留转换前的文本，存为 `_original` 或指定的名称。";
    SETTING_FORCE_JSON: "Whether an answer that cannot be converted is an error.", "无法转换的回答是否算错误。";
    SETTING_STREAM: "Whether the server is asked to send its answer in parts.", "是否要求服务器分段发送回答。";
    SETTING_RETURN: "What a model call returns: `.` is all, a name is that part: content, finishReason, stop or thinking.", "模型调用返回什么：`.` 为全部，名称为相应部分：content、finishReason、stop 或 thinking。";
    SETTING_AUTO_RUN: "Whether the model answers at the end if a message waits for it.", "结尾有未回答的消息时是否自动调用模型。";
    SETTING_AUTO_OUTPUT: "Whether `output` is explained to the model.", "是否向模型说明 `output`。";
    SETTING_APPEND: "Whether an answer is a new message or goes on with the last.", "回答是新消息，还是接在最后一条之后。";
    SETTING_NO_REQUEST: "Turns the event `llmRequest` off.", "关闭事件 `llmRequest`。";
    SETTING_DELIMITER: "A mark that ends the answer; also a stop word.", "结束回答的标记；同时是停止词。";
    SETTING_STOP: "Texts at which the answer ends.", "遇到即结束回答的文本。";
    SETTING_FORMAT: "The format of the answer: text, json, yaml, nobj.", "回答的格式：text、json、yaml、nobj。";
    SETTING_RUN_MODE: "How the calls of tools run.", "工具调用的执行方式。";
    SETTING_PLANNER: "Of the mode `planer`: `advanced` has the model plan the calls first.", "用于 `planer` 方式：`advanced` 让模型先规划调用。";
    SETTING_CONCURRENCY: "How many tools run at once in the mode `parallel`.", "`parallel` 方式下同时运行的工具数。";
    SETTING_CONCURRENT: "Whether the model answers while tools run; their results come with the next answer.", "工具运行时模型是否同时回答；工具的结果从下一次回答起可用。";
    SETTING_NOTES_TITLE: "The title of the notes of a system message.", "系统消息中注意事项的标题。";
    SETTING_OUTPUT_TITLE: "The title of the output of a system message, with `{{type}}`.", "系统消息中输出约定的标题，须含 `{{type}}`。";
    SETTING_SYSTEM_TEMPLATE: "The chat template of a model server; it chooses it itself here.", "模型服务器的对话模板；此处由服务器自行选择。";
    SETTING_TRIGGER: "When this tool runs.", "此工具何时运行。";
    SETTING_KEYWORDS: "The words that run a tool with the trigger `Keyword`.", "触发 `Keyword` 工具的词。";
    SETTING_DEFAULTS: "Values for the inputs of a tool.", "工具输入的值。";
    SETTING_RUN_FIRST: "Whether it runs before its `$initializeExec`.", "是否先于其 `$initializeExec` 运行。";
    SETTING_INITIALIZE: "The function that an importing script calls once; `false`: none.", "导入它的脚本调用一次的函数；`false` 表示没有。";

    // Parameters of a call.
    PARAMETER_TEMPERATURE: "How much chance is in the answer: 0 to 2.", "回答的随机程度：0 到 2。";
    PARAMETER_TOP_P: "The share of likely words to choose from: 0 to 1.", "候选词的概率范围：0 到 1。";
    PARAMETER_MAX_TOKENS: "The longest answer, in tokens; 2048 by default, 0 for no limit.", "回答的最大词元数；默认 2048，0 表示不限。";
    PARAMETER_CONTINUE: "Goes on with an answer that was cut off; off by default, never for JSON.", "续写被截断的回答；默认关闭，JSON 从不续写。";
    PARAMETER_RETRY: "How often a cut answer is continued; 7 by default.", "截断的回答最多续写几次；默认 7 次。";
    PARAMETER_TIMEOUT: "How long to wait for an answer, in milliseconds; 120000 by default.", "等待回答的时间，单位毫秒；默认 120000。";
    PARAMETER_TAIL: "How often the end of an answer may repeat before it is cut; 7 by default, 0 for no limit.", "回答结尾重复多少次后截断；默认 7，0 表示不限。";
    PARAMETER_NATURAL: "Whether `{{output}}` is a text and not JSON; true by default.", "`{{output}}` 是否写成文字而非 JSON；默认为真。";

    // Attributes of an input.
    INPUT_REQUIRED: "Whether it must be given.", "是否必须给出。";
    INPUT_INDEX: "The place of the argument it takes, from 0.", "对应的参数位置，从 0 开始。";
    INPUT_DESCRIPTION: "What it is, for users and for models.", "说明，供用户和模型阅读。";
    INPUT_DEFAULT: "Its value if none is given.", "未给出时的值。";
    INPUT_TYPE: "Its type as in JSON Schema; a text by default.", "类型，同 JSON Schema；默认为文本。";
    INPUT_ENUM: "The only values it may have.", "只允许的值。";
    INPUT_EXAMPLE: "One example, or a list of them.", "一个或多个示例。";
    INPUT_HIDDEN: "Whether a model does not see it.", "是否对模型隐藏。";
    INPUT_HIDDEN_RESULT: "Whether it is left out of what a tool reports.", "是否不写入工具的结果。";

    // Keys of `shouldThink`.
    THINK_MODE: "`first`: thinks, then answers. `last`: answers, then thinks. `deep`: thinks in steps. `off`.", "`first`：先思考后回答。`last`：先回答后思考。`deep`：分步思考。`off`：关闭。";
    THINK_VISIBLE: "Whether the reasoning is shown.", "是否显示思考过程。";
    THINK_DEPTH: "How deep it thinks at most.", "最大思考深度。";
    THINK_STEPS: "How many steps it thinks at most.", "最多思考步数。";
    THINK_TAG: "What encloses the reasoning: a tag, two texts, or a regular expression.", "思考内容的标记：标签、两段文本或正则表达式。";
    THINK_ANSWER_TAG: "The same for the answer.", "回答内容的标记，写法相同。";
    THINK_SKIP: "Sends no instruction to think.", "不发送思考提示。";
    THINK_PROMPT: "Your own instruction to think.", "自己的思考提示。";

    // Keys of an entry of `tools`.
    TOOL_TITLE: "What the model reads of it.", "模型看到的说明。";
    TOOL_DEFAULTS: "Arguments that the model need not give.", "模型无需给出的参数。";
    TOOL_TRIGGER: "When it runs by itself: {list}.", "何时自动运行：{list}。";
    TOOL_KEYWORDS: "The words for the trigger `Keyword`.", "用于触发 `Keyword` 的词。";

    // Prefixes.
    PREFIX_EXPRESSION: "A JavaScript expression; its value is used.", "JavaScript 表达式，取其值。";
    PREFIX_RAW: "Never rendered.", "从不渲染。";
    PREFIX_NOW: "Rendered at once, not when it is sent.", "立即渲染，而不是发送时。";
    PREFIX_REPLACE: "Replaces a message; -1 is the last one.", "替换一条消息；-1 为最后一条。";
    PREFIX_INSERT: "Inserts a message at this place.", "在此位置插入一条消息。";

    // Marks.
    MARK_ANSWER: "The model answers here; the variable has the answer.", "模型在此回答；变量保存其回答。";
    MARK_PARAMETERS: "The same, with parameters for this one answer.", "同上，并为这次回答指定参数。";
    MARK_CHOICE: "The answer is one of these.", "回答是其中之一。";
    MARK_RANDOM: "One of these by chance, without a model.", "随机取其一，不调用模型。";
    MARK_SCRIPT: "The result of a script.", "脚本的结果。";
    MARK_DIRECTIVE: "The result of a directive or function.", "指令或函数的结果。";
    MARK_PATTERN: "What a regular expression finds in a variable; optionally one group of it.", "正则表达式在变量中匹配的内容；可选某个分组。";
    MARK_ADDRESS: "At the start of a message: speaks to a role; `(PM)` privately.", "位于消息开头：对某个角色说话；`(PM)` 为私聊。";
    MARK_BIAS: "Makes words likelier (`20%`), or forbids them (`never`), on a local model.", "在本地模型上提高（`20%`）或禁止（`never`）某些词。";

    // Limits.
    LIMIT_SIZE: "the size of a script, in MiB", "脚本大小（MiB）";
    LIMIT_INSTRUCTIONS: "instructions of a run", "一次运行的指令数";
    LIMIT_TURNS: "turns of one loop", "一个循环的轮数";
    LIMIT_CALLS: "model calls of a run", "一次运行的模型调用数";
    LIMIT_DEPTH: "scripts that call each other", "脚本嵌套调用的层数";
    LIMIT_NESTED: "calls of scripts, functions and events inside each other", "脚本、函数与事件相互嵌套的调用层数";
    LIMIT_MESSAGES: "messages of one dialogue", "一段对话的消息数";
    LIMIT_LEVELS: "levels of the YAML of a script", "脚本 YAML 的嵌套层数";
    LIMIT_EXPRESSION: "seconds for one piece of JavaScript", "单段 JavaScript 的运行秒数";
    LIMIT_RENDERED: "MiB of text from one template", "单个模板生成的文本（MiB）";
    LIMIT_TOOL_ROUNDS: "rounds of tool calls for one answer", "一次回答的工具调用轮数";
    LIMIT_WASM_MEMORY: "MiB of memory for a wasm module", "wasm 模块的内存（MiB）";
    LIMIT_TEMPLATE: "KiB of one template", "单个模板的大小（KiB）";

    // Titles.
    CHAPTER: "Scripts: {name}", "脚本：{name}";
    EXAMPLE: "Example", "示例";
    UNKNOWN_CHAPTER: "There is no chapter `{name}`.", "没有章节 `{name}`。";
    KNOWN_CHAPTERS: "Chapters: {list}", "章节：{list}";
    TITLE_SETTINGS: "Settings of a script", "脚本的设置";
    TITLE_INPUTS: "Attributes of an input", "输入的属性";
    TITLE_PARAMETERS: "Parameters of a model call", "模型调用的参数";
    TITLE_PREFIXES: "Prefixes", "前缀";
    TITLE_MARKS: "Marks", "标记";
    TITLE_DIRECTIVES: "Directives", "指令";
    TITLE_FILTERS: "Filters", "过滤器";
    TITLE_THINK: "Keys of `shouldThink`", "`shouldThink` 的键";
    TITLE_TOOL: "Keys of a tool", "工具的键";
    TITLE_TOOLS: "Built-in tools", "内置工具";
    TITLE_SCRIPTS: "Built-in scripts", "内置脚本";
    TITLE_LIMITS: "What ends a run", "会结束运行的上限";

    // Chapters: what each is about.
    ABOUT_MESSAGES: "Lines that are messages, and separators", "作为消息的行与分隔符";
    ABOUT_SETTINGS: "The head of a file: inputs, output, parameters", "文件头：输入、输出、参数";
    ABOUT_TEMPLATES: "Texts with variables", "带变量的文本";
    ABOUT_MARKS: "`[[…]]`: answers, calls and patterns inside a text", "`[[…]]`：文本中的回答、调用与正则";
    ABOUT_DIRECTIVES: "`$…`: conditions, loops, variables", "`$…`：条件、循环、变量";
    ABOUT_CHAINS: "`->`: passing a result to other scripts", "`->`：把结果交给其他脚本";
    ABOUT_INHERITANCE: "Types, and scripts built on others", "类型，以及基于其他脚本的脚本";
    ABOUT_GROUPS: "Roles that talk to each other", "互相交谈的角色";
    ABOUT_TOOLS: "Scripts that a model may call, and permissions", "模型可调用的脚本与权限";
    ABOUT_FUNCTIONS: "JavaScript, expressions, imports and events", "JavaScript、表达式、导入与事件";
    ABOUT_THINKING: "Reasoning before or after the answer", "回答前后的思考";
    ABOUT_LIMITS: "What a run may use, and how it ends", "一次运行的上限与结束方式";


    // Messages.
    MESSAGES_1: "`role: text` is a message of that role: `system`, `user`, `assistant`, or a role of a group. A line without a role is the user's. Quote a text that contains `: ` or begins with a sign of YAML (`@`, `[`, `{`, `#`, `!`); `|-` begins a text of several lines.",
        "`role: text` 是该角色的一条消息：`system`、`user`、`assistant` 或群聊角色。没有角色的行属于用户。含有 `: ` 或以 YAML 符号（`@`、`[`、`{`、`#`、`!`）开头的文本要加引号；`|-` 开始多行文本。";
    MESSAGES_2: "`---` or `***` begins a new dialogue: only the messages above the first one stay. They are the instructions of all dialogues and are not shown. If the last message is the user's, the model answers it at the end; the value of the last line is the result.",
        "`---` 或 `***` 开始新的对话：只保留第一个分隔符以上的消息。它们是所有对话的说明，不会显示。若最后一条消息属于用户，结尾时由模型回答；最后一行的值即为结果。";
    MESSAGES_3: "System messages are joined into one. One may be a map with `background`, `content`, `output` and `notes`. A prefix of a text changes how it is meant:",
        "多条系统消息会合并为一条，也可写成含 `background`、`content`、`output`、`notes` 的映射。文本的前缀改变其含义：";

    // Settings.
    SETTINGS_1: "The head is a map between `---` and `---`. Keys of the table are settings; any other key is a variable with its default value. Arguments are `{name: value}`, or plain values for inputs with an `index`. An input without a value is null, also in JavaScript.",
        "文件头是两个 `---` 之间的映射。表中的键是设置，其他键是带默认值的变量。参数写成 `{name: value}`，有 `index` 的输入也可直接给值。没有值的输入是 null，在 JavaScript 中也一样。";
    SETTINGS_2: "With `output` and `response_format`, the answer is converted to data and checked; one that cannot be converted is an error, unless `forceJson` is false.",
        "同时有 `output` 和 `response_format` 时，回答会转换为数据并检查；无法转换即出错，除非 `forceJson` 为 false。";

    // Templates.
    TEMPLATES_1: "`{{name}}` is replaced by a variable, `{% if %}`, `{% for %}` and `{% set %}` are as in Jinja2, and `|` applies a filter. A template is rendered when its message is sent, at the latest before `$set`, `$get`, `$echo`, `$print` and `$ret`; with `#` in front at once.",
        "`{{name}}` 替换为变量，`{% if %}`、`{% for %}`、`{% set %}` 同 Jinja2，`|` 使用过滤器。模板在消息发送时渲染，最迟在 `$set`、`$get`、`$echo`、`$print`、`$ret` 之前；前面加 `#` 则立即渲染。";
    TEMPLATES_2: "Values come from the arguments of the call first, then from `prompt`, then from the variables. What a model, a file or an argument brings in is never rendered itself. `templateFormat: golang` and `fstring` have other syntaxes.",
        "取值顺序：调用参数、`prompt`、变量。来自模型、文件或参数的内容本身从不渲染。`templateFormat: golang` 和 `fstring` 使用其他语法。";

    // Marks.
    MARKS_1: "A mark is replaced where it is. Calls are made first, then patterns, then the template is rendered, then the model answers the marks from left to right: what is before a mark is the beginning of its answer.",
        "标记在原处被替换。先执行调用，再匹配正则，然后渲染模板，最后由模型从左到右回答：标记前的文字是该回答的开头。";
    MARKS_2: "Without a mark the answer is in `RESPONSE`. `\\[[` is a plain text.", "没有标记时回答保存在 `RESPONSE`。`\\[[` 表示普通文本。";

    // Directives.
    DIRECTIVES_1: "`$name: value`, `$name(a, b=c)` and `$name` call a directive or a function of your own. A directive with several keys is written as a list item: `- $if: …`, below it `  then: …`. A text that begins with `?=` is an expression; conditions always are.",
        "`$name: value`、`$name(a, b=c)` 和 `$name` 调用指令或自己的函数。带多个键的指令写成列表项：`- $if: …`，下一行 `  then: …`。以 `?=` 开头的文本是表达式；条件总是表达式。";
    DIRECTIVES_2: "The value of the last directive is `LatestResult`.", "最近一条指令的值是 `LatestResult`。";

    // Chains.
    CHAINS_1: "`-> script` calls a script with the last result: a text becomes its input `content`, a map its inputs. Arguments in brackets are added: `-> translator(target_lang=\"French\")`. Links may follow each other, and `-> $name` is a directive. A function gets the last result, or what is in brackets, where the result is `content`: `-> $basename(content, '.txt')`.",
        "`-> script` 以最近的结果调用脚本：文本作为输入 `content`，映射作为各输入。括号中的参数会并入：`-> translator(target_lang=\"French\")`。可以连续书写，`-> $name` 是指令。函数得到最近的结果，或括号中的参数，其中的结果名为 `content`：`-> $basename(content, '.txt')`。";
    CHAINS_2: "A script is found by its ID in its own folder, in folders of `-s`, in your folder of scripts and, if you trust it, in `.avocet/scripts`; then among the built-in ones:",
        "按 ID 查找脚本：同目录、`-s` 的目录、你的脚本目录，以及受信任项目的 `.avocet/scripts`；最后是内置脚本：";

    // Inheritance.
    INHERITANCE_1: "`type: NAME` builds a script on a type, which is itself a script with `type: type`. Its settings are the defaults, its instructions come first, its inputs are inputs here as well. `extends: NAME` does the same with any script.",
        "`type: NAME` 让脚本基于一个类型，类型本身是 `type: type` 的脚本。其设置作为默认值，其指令排在前面，其输入也是这里的输入。`extends: NAME` 可基于任何脚本。";
    INHERITANCE_2: "`char` is built in: it plays the role of `name` as `description` says. A folder with `index.ai.yaml`, or with a script of its own name, is a package. `avocet script seal FILE` encrypts a script with `age`: who has one of the keys can run it, with a model of this machine or its network, and its messages are neither shown nor saved. The steps that it takes are.",
        "内置的 `char` 会按 `description` 扮演 `name`。含有 `index.ai.yaml` 或同名脚本的目录是一个包。`avocet script seal 文件` 用 `age` 加密脚本：持有任一密钥的人可以运行它，模型限于本机或本地网络，其消息既不显示也不保存；它执行的步骤照常显示和保存。";

    // Groups.
    GROUPS_1: "`roles` maps names to scripts of the type `char`. A message that begins with `@name`, or whose role is `user[@name]`, is answered by that role; `@all` are all of them. Each sees the dialogue from its own side. `@name(PM)` is private: no other role sees the message or its answer.",
        "`roles` 把名字对应到 `char` 类型的脚本。以 `@name` 开头的消息，或角色写成 `user[@name]` 的消息，由该角色回答；`@all` 为全部角色。每个角色从自己的角度看到对话。`@name(PM)` 是私聊：其他角色看不到消息及其回答。";
    GROUPS_2: "`name: \"[[AI]]\"` lets a role speak without being addressed.", "`name: \"[[AI]]\"` 让角色主动发言。";

    // Tools.
    TOOLS_1: "`tools` names scripts that the model may call before it answers; each needs a `title`. It works with any model, since calls are plain text. A script that exports others is a toolset; `$name` is a function that returns the list.",
        "`tools` 列出模型回答前可调用的脚本，每个都需要 `title`。调用只是文本，任何模型都可用。导出其他脚本的脚本是工具集；`$name` 是返回列表的函数。";
    TOOLS_2: "`permissions: {ai: {call: [\"w*\", \"!delete_*\", {read_file: {action: confirm}}]}, defaultAction: deny}` limits calls: `!` denies and always wins, also over scripts called from here. In such a block a call that no rule names asks; without `permissions`, a script calls its tools unasked. The built-in tools are steps under the safety policy besides.",
        "`permissions: {ai: {call: [\"w*\", \"!delete_*\", {read_file: {action: confirm}}]}, defaultAction: deny}` 限制调用：`!` 为拒绝且始终优先，对被调用的脚本也有效。写了 `permissions` 而没有匹配规则的调用会询问；没有 `permissions` 时脚本可直接调用其工具。内置工具还受安全策略约束。";

    // Functions.
    FUNCTIONS_1: "`!fn |-` declares a JavaScript function, which is called as `$name`; `!fn# |-` one for templates. Conditions and `?=` texts are JavaScript expressions, in which all variables have their names. `this` has them too, and `await` waits for other functions.",
        "`!fn |-` 声明 JavaScript 函数，以 `$name` 调用；`!fn# |-` 声明模板函数。条件和 `?=` 文本是 JavaScript 表达式，可直接使用所有变量。`this` 也包含它们，`await` 等待其他函数。";
    FUNCTIONS_2: "`import: [./tools.mjs, {\"js:path\": [basename]}, {helper.ai.yaml: help}]` brings in files, modules and scripts; `export` says what others get. JavaScript has no network; `exec` of `child_process` and the functions of `fs/promises` are steps that may be asked for, and `path`, `os`, `util` and `process` are there as well.",
        "`import: [./tools.mjs, {\"js:path\": [basename]}, {helper.ai.yaml: help}]` 导入文件、模块和脚本；`export` 决定他人能得到什么。JavaScript 不能访问网络；`child_process` 的 `exec` 和 `fs/promises` 的函数是可能需要询问的步骤，另有 `path`、`os`、`util` 和 `process`。";
    FUNCTIONS_3: "`$on: {event: llmStream, callback: $name}` calls a function at each part of an answer, `llmRequest` before a request.", "`$on: {event: llmStream, callback: $name}` 在每段回答到达时调用函数，`llmRequest` 在请求之前。";

    // Thinking.
    THINKING_1: "`shouldThink: first` lets any model think before it answers, and takes its thoughts out of the answer; `true` is `last`. `keepThinking` keeps them in the result, `visible` shows them.",
        "`shouldThink: first` 让任何模型先思考再回答，并把思考从回答中分离；`true` 即 `last`。`keepThinking` 在结果中保留思考，`visible` 显示思考。";

    // Limits.
    LIMITS_1: "A run that exceeds a limit ends with a sentence and its place, and with exit code 4. An answer that was cut is not continued unless `continueOnLengthLimit` is true. Files outside the folder, programs and web pages are steps that the safety policy judges, and in a folder you have not trusted only messages run.",
        "超过上限的运行会给出说明和位置并结束，退出码为 4。除非 `continueOnLengthLimit` 为真，被截断的回答不会续写。目录外的文件、程序和网页都是由安全策略判定的步骤；在不受信任的目录中只有消息有效。";

    // `avocet script`.
    NEW_WRITTEN: "{file} is written. Try `avocet run {name} --dry-run`; `avocet help scripts` explains the language.", "已写入 {file}。可试 `avocet run {name} --dry-run`；`avocet help scripts` 讲解语言。";
    SEAL_DONE: "Sealed for {keys}: {file}", "已为 {keys} 加密：{file}";
    SEAL_ALREADY: "{file} is sealed already.", "{file} 已经加密。";
    SEAL_NO_AGE: "`{program}` did not do its work: {why}. It is part of age, https://age-encryption.org.", "`{program}` 未能完成：{why}。它属于 age，见 https://age-encryption.org。";
    SEAL_NO_KEY: "No key for sealed scripts is saved here.", "此处没有保存加密脚本的密钥。";
    QUICK_FIX: "Change to `{near}`", "改为 `{near}`";
    NEW_EXISTS: "{file} exists already and stays as it is.", "{file} 已存在，保持不变。";
    NEW_SHADOWS: "`{name}` is also the name of a built-in script; yours is now found in its place.", "`{name}` 也是内置脚本的名称，今后会找到你的脚本而不是它。";
    NEW_NAME: "`{name}` cannot be the name of a script: use letters, digits, `_` and `-`.", "`{name}` 不能作为脚本名：请使用字母、数字、`_` 和 `-`。";
    SCRIPT_FILE: "{file}:", "{file}：";
    NO_TITLE: "no title", "没有标题";
    UNREADABLE_SCRIPT: "cannot be read: {why}", "无法读取：{why}";
    HOVER_SET_AT: "set in line {line}", "在第 {line} 行设置";
    HOVER_GIVEN: "a variable that every run has", "每次运行都有的变量";
    OWN_FUNCTION: "a function of this script or of an import", "本脚本或导入的函数";
    HOVER_FUNCTION: "a function of this script, line {line}", "本脚本的函数，第 {line} 行";
}
