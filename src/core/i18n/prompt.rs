//! Sentences about sent prompts: templates, attachments and questions about shell commands.

words! { "prompt":
    TEMPLATE_LONG: "The template is longer than {most} KiB.", "模板超过 {most} KiB。";
    TEMPLATE_SHELL_MANY: "The template has more than {most} shell commands.", "模板中的 shell 命令超过 {most} 个。";
    TEMPLATE_SHELL_OPEN: "Line {line}: the shell command has no closing brace.", "第 {line} 行：shell 命令缺少闭合的花括号。";
    TEMPLATE_SHELL_EMPTY: "Line {line}: the shell command is empty.", "第 {line} 行：shell 命令是空的。";
    TEMPLATE_ARG_PLACE: "Line {line}: an argument there would not stay one word. Put it where quotes protect it, for example into a variable first.", "第 {line} 行：参数放在那里无法保持为一个整体。请把它放在引号能够保护的位置，例如先存入一个变量。";
    TEMPLATE_FILE_OPEN: "Line {line}: the file name has no closing brace on the same line.", "第 {line} 行：文件名在同一行内缺少闭合的花括号。";
    TEMPLATE_FILE_EMPTY: "Line {line}: the file name is empty.", "第 {line} 行：文件名是空的。";
    // Skills.
    SKILL_ABOUT: "Uses a skill: reads how something is done", "使用技能：读取某件事的做法";
    SKILL_MALFORMED: "A skill is requested by `name`, with `args` as one text.", "使用技能需要 `name`，`args` 应为一段文本。";
    SKILL_UNKNOWN: "There is no skill `{name}`.", "没有名为 `{name}` 的技能。";
    SKILL_ENTERS: "Using `{name}` only reads its text.", "使用 `{name}` 只是读取它的文本。";
    SKILL_CLOSED: "`{name}` may be used only with the user's approval.", "`{name}` 须经用户同意才能使用。";
    SKILL_TOOLS: "`{name}` uses `{tool}`, which does more than read.", "`{name}` 会用到 `{tool}`，它不只是读取。";
    SKILL_SHELL: "`{name}` contains a shell command that does more than read: `{line}`.", "`{name}` 含有不只是读取的 shell 命令：`{line}`。";
    SKILL_NARROWS: "The skill `{name}` in use does not allow this tool.", "正在使用的技能 `{name}` 不允许使用此工具。";
    // Scripts as steps.
    SCRIPT_ABOUT: "Runs a script; each of its steps is judged separately", "运行脚本；脚本的每一步都单独判定";
    SCRIPT_MALFORMED: "A script is run by `script`, with `args` as a map or a text.", "运行脚本需要 `script`，`args` 应为映射或文本。";
    SCRIPT_UNKNOWN: "There is no script `{name}` that may be run as a step.", "没有可作为步骤运行的脚本 `{name}`。";
    SCRIPT_RUNS: "Running the script `{name}` only has the model answer its messages; each of its steps is judged separately.", "运行脚本 `{name}` 只是让模型回答其中的消息；它的每一步都单独判定。";
    // The dialog for shell commands of a template.
    PIECES_TITLE: "Run the shell commands of {of}?", "运行 {of} 中的 shell 命令？";
    PIECE_GRAVE: "High risk: only a capital Y on its row marks it.", "高风险：只有在这一行按大写 Y 才会标记。";
    PIECE_CAPITAL: "This command is high risk: only a capital Y marks it.", "这一条是高风险命令：只有大写 Y 才会标记。";
    PIECES_NONE: "None are marked. Mark one, or run none of them.", "没有标记任何一条。请先标记，或选择全部不运行。";
    PICK_NONE: "Run none of them, send nothing", "都不运行，也不发送";
    PICK_MARKED: "Run the marked ones", "运行已标记的";
    PICK_MARKED_SHORT: "Run marked", "运行标记项";
    HINT_MARK: "mark or not (1-9 too)", "标记或取消（也可按 1-9）";
    PIECES_ALLOWED: "Allowed by -y: the shell commands of {of} ({n}).", "由 -y 允许：{of} 的 shell 命令（{n} 条）。";
    // The same in plain mode.
    LINE_PIECES: "{of} wants to run shell commands: {n}. Their output becomes part of your message.", "{of} 要运行 shell 命令：{n} 条，其输出会成为消息的一部分。";
    LINE_PIECE: "  {n}, {tier}: {line}", "  {n}，{tier}：{line}";
    LINE_PIECE_NOW: "Command {n}, {tier}: {line}. Run it? [y/n]", "第 {n} 条，{tier}：{line}。运行吗？[y/n]";
    LINE_PIECE_GRAVE: "Command {n}, {tier}: {line}. Only the word YES runs it; n skips it.", "第 {n} 条，{tier}：{line}。只有输入 YES 才会运行；输入 n 跳过。";
    LINE_ALL: "Run all except the high-risk ones", "运行所有非高风险的命令";
    LINE_EACH: "Decide one by one", "逐条决定";
    LINE_ATTACHED: "Attached {name}: {size}.", "已附上 {name}：{size}。";
    // Without a screen.
    TOLD_PIECE_SAFE: "{of} runs in the shell, {tier}: {line}", "{of} 要在 shell 中运行，{tier}：{line}";
    TOLD_PIECE: "{of} runs in the shell, {tier}: {line} ({why})", "{of} 要在 shell 中运行，{tier}：{line}（{why}）";
    PIECES_NEED_YES: "Nothing was sent: {of} contains shell commands, and no user is present to approve them.", "没有发送：{of} 含有 shell 命令，而没有用户在场批准。";
    PIECES_NEED_YES_HINT: "`-y` approves them, but never a high-risk one; where standard input and standard error are a terminal, Avocet asks about each", "用 `-y` 表示同意，但高风险命令不在其内；标准输入和标准错误都是终端时会逐条询问";
    TERMINAL_PIECE: "Run `{line}` ({tier})? [y/n] ", "运行 `{line}`（{tier}）吗？[y/n] ";
    TERMINAL_GRAVE: "Run `{line}` ({tier})? Only the word YES runs it, n skips it: ", "运行 `{line}`（{tier}）吗？只有输入 YES 才会运行，n 为不运行：";
    TERMINAL_STEP: "Run it? [y/n]", "运行吗？[y/n]";
    TERMINAL_STEP_GRAVE: "Only the word YES runs it, n skips it:", "只有输入 YES 才会运行，n 为不运行：";
    TERMINAL_TOO_SOON: "Input typed before the question could be read is not taken as an answer. Answer after the prompt sign.", "在来得及阅读问题之前输入的内容不作为回答。请在提示符出现后回答。";
    TERMINAL_Y_OR_N: "Type y to run it, n to skip it.", "输入 y 运行，输入 n 不运行。";
    PIECE_NOT_BY_FLAG: "Nothing was sent: `{line}` is high risk, and `-y` does not approve it.", "没有发送：`{line}` 是高风险命令，`-y` 不足以批准。";
    PIECE_NOT_BY_FLAG_HINT: "run it in a terminal, where you can approve it on its own", "请在终端中运行，可在那里单独批准";
    // Sizes of attachments.
    SIZE_ENTRY: "1 name", "1 项";
    SIZE_ENTRIES: "{n} {n:name|names}", "{n} 项";
    SIZE_CUT: "{size}, middle left out", "{size}，中间部分略去";
    SIZE_DOCUMENT: "PDF, {size}", "PDF，{size}";
    DOCUMENT_TOO_LARGE: "{name} is too large a document ({size}; {most} at most).", "{name} 文档太大（{size}，最多 {most}）。";
    DOCUMENTS_NOT_TAKEN: "`{model}` takes no PDF documents, so {name} was not sent, nor the message. Choose another model with `/model`, or attach its text.", "`{model}` 不接受 PDF 文档，因此没有发送 {name}，也没有发送消息。可用 `/model` 换一个模型，或附上其文本。";
    SIZE_IMAGE: "image, {width}x{height}", "图片，{width}x{height}";
    IMAGE_BROKEN: "{name} is an image that cannot be read.", "{name} 是图片，但无法读取。";
    IMAGE_TOO_LARGE: "{name} is too large an image ({size}).", "{name} 图片太大（{size}）。";
    IMAGES_MANY: "A message has at most {most} images; the others are left out.", "一条消息最多带 {most} 张图片，其余的不会发送。";
    IMAGES_NOT_TAKEN: "`{model}` takes no images, so {name} was not sent, nor the message. Choose another model with `/model`; if it does take them, set `images = true` under `[models.\"{model}\"]`.", "`{model}` 不接受图片，因此没有发送 {name}，也没有发送消息。可用 `/model` 换一个模型；如果它其实支持图片，请在 `[models.\"{model}\"]` 中设置 `images = true`。";
    // Attachments.
    ATTACH_UNREADABLE: "`{name}` could not be read: {why}.", "无法读取 `{name}`：{why}。";
    ATTACH_SPECIAL: "`{name}` is neither a file nor a folder.", "`{name}` 既不是文件也不是目录。";
    ATTACH_LONG: "`{name}` is too long to extract lines from: {size}.", "`{name}` 太大（{size}），无法按行截取。";
    ATTACH_BINARY: "`{name}` is not text and was not attached: {kind}, {size}.", "`{name}` 不是文本（{kind}，{size}），没有附上。";
    ATTACH_NO_LINES: "`{name}` has only {n} {n:line|lines}.", "`{name}` 只有 {n} 行。";
    ATTACH_MISSING: "There is no `{name}` here; the text was sent as it is.", "这里没有 `{name}`，文字已按原样发送。";
    ATTACH_DECLINED: "`{name}` was not attached: Avocet does not read it without approval, and it was not approved.", "没有附上 `{name}`：读取它需要批准，而这次没有获得批准。";
    ATTACH_MANY: "Only the first {most} files were attached.", "只附上了前 {most} 个文件。";
    // Messages that could not be built.
    FILE_TOO_LARGE_TO_SEND: "`{name}` is {size}; at most {most} can be sent.", "`{name}` 大小为 {size}；最多只能发送 {most}。";
    FILE_FOLDER: "`{name}` is a folder: name a file in it.", "`{name}` 是目录：请指定其中的文件。";
    FILE_SECRETS: "`{name}` contains secrets, so it was not sent. `/file {name} masked` sends it without them.", "`{name}` 含有密钥等机密，没有发送。`/file {name} masked` 会遮盖后再发送。";
    FILE_NO_TEXT: "`{name}` contains secrets and is not text, so it cannot be sent without them.", "`{name}` 含有密钥等机密且不是文本，无法遮盖后发送。";
    INSERT_MISSING: "Nothing was sent: there is no file `{name}`.", "没有发送：找不到文件 `{name}`。";
    NOT_SENT: "Nothing was sent: {why}", "没有发送：{why}";
    PIECE_EXITED: "`{line}` ended with exit code {code}. {tail}", "`{line}` 以退出码 {code} 结束。{tail}";
    PIECE_KILLED: "`{line}` did not finish. {tail}", "`{line}` 没有正常结束。{tail}";
    PIECE_LONG: "`{line}` wrote more than {most} KiB.", "`{line}` 的输出超过 {most} KiB。";
    PIECE_REFUSED: "`{line}` is not a valid shell line.", "`{line}` 不是可以交给 shell 的一行命令。";
    NOTHING_LEFT: "there is nothing left to send.", "其中没有可以发送的内容。";
    PIECES_DECLINED: "Nothing was sent: its shell commands were not approved.", "没有发送：其中的 shell 命令未获批准。";
}
