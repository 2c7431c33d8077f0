//! Sentences about bots, commands and skills as files.

words! { "library":
    // Kinds of files; these are parts of a sentence.
    A_COMMAND: "command", "命令";
    A_SKILL: "skill", "技能";

    // Owners.
    OF_PROJECT: "the project's", "项目的";
    OF_USER: "yours", "你自己的";
    OF_PROJECT_IN: "the project's, in {name}", "项目的，位于 {name}";
    OF_USER_IN: "yours, in {name}", "你自己的，位于 {name}";

    // States of a file.
    LOADED: "loaded", "已加载";
    LOADED_BUT: "loaded; {remark}", "已加载；{remark}";
    CLASH: "`/{name}` {why}", "`/{name}` {why}";
    ALIAS_UNUSABLE: "`/{alias}` cannot be typed as a command, so it is not another name of `/{name}`", "`/{alias}` 不能作为命令输入，不作为 `/{name}` 的别名";
    NO_SUCH_SWITCH: "`/{name}` works in a chat only if `{setting}` is true, but `{setting}` is not a setting that can be true", "`/{name}` 只有在 `{setting}` 为 true 时才能在聊天中使用，但 `{setting}` 不是可以为 true 的设置";
    ALIAS_DROPPED: "`/{alias}` is taken, so it is not another name of `/{name}`", "`/{alias}` 已被占用，不作为 `/{name}` 的别名";
    OF_PLUGIN: "a plugin", "插件";
    AND_ALSO: "{first}; {more}", "{first}；{more}";
    SHADOWED: "not used: {file} has the same name and takes precedence", "未使用：{file} 同名且优先";
    SHADOWED_BUILT_IN: "a built-in command has the same name", "与内置命令同名";
    SHADOWED_NAME: "`/{name}` is a built-in command, so the file of that name is not used. Rename the file.", "`/{name}` 是内置命令，因此同名文件未被使用。请换一个名称。";
    SKILL_BEHIND_COMMAND: "typing `/` and this name runs a command; the model can still use the skill", "输入 `/` 加此名称会运行同名命令；模型仍可使用该技能";
    SCRIPT_BEHIND_COMMAND: "a command or skill has the same name; `/run` runs the script", "与某个命令或技能同名；可用 `/run` 运行该脚本";
    REFUSED: "refused: {why}", "已拒绝：{why}";

    // Unknown and unusable names.
    BAD_ASCII_NAME: "`{name}` is not a usable name ({kind}). Names begin with a letter or digit and contain only letters, digits, `.`, `_` and `-`, 64 characters at most.", "`{name}` 不能用作{kind}名称。名称以字母或数字开头，只含字母、数字、`.`、`_` 和 `-`，最多 64 个字符。";
    BAD_COMMAND_NAME: "`{name}` is not a usable name for a command. Names begin with a letter or digit of any script and contain only letters, digits, `.`, `_` and `-`, 64 characters at most.", "`{name}` 不能用作命令名称。名称以任意文字的字母或数字开头，只含字母、数字、`.`、`_` 和 `-`，最多 64 个字符。";
    LONG_NAME: "`{name}` is too long for a name: {most} characters at most.", "名称 `{name}` 太长：最多 {most} 个字符。";
    BAD_NAME: "`{name}` is not a usable name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit", "`{name}` 不是可用的名称：只能含字母、数字、`.`、`_` 和 `-`，并以字母或数字开头";
    DISPLAY_NAME: "`{name}` can only be shown, not typed; the skill is named `{folder}` after its folder", "`{name}` 只能用于显示，无法输入；技能以目录名 `{folder}` 命名";
    BAD_NAME_IN: "{place}: `{name}` is not a usable name for a skill. Begin it with a letter or digit, and use letters, digits and `-`.", "{place}：`{name}` 不能用作技能名称。请以字母或数字开头，并使用字母、数字和 `-`。";
    WAITING: "{what} of this folder will be used once you trust it: `/trust`, or `--trust` for one run.", "此目录有{what}，信任后才会使用：输入 `/trust`，或单次运行时用 `--trust`。";
    WAIT_AND: "{one} and {other}", "{one}和{other}";
    WAIT_SKILL: "1 skill", "1 个技能";
    WAIT_SKILLS: "{n} skills", "{n} 个技能";
    WAIT_COMMAND: "1 command", "1 个命令";
    WAIT_COMMANDS: "{n} commands", "{n} 个命令";
    WAIT_BOT: "1 bot", "1 个助手";
    WAIT_BOTS: "{n} bots", "{n} 个助手";
    NONE_WAITING: "{none} {waiting}", "{none}{waiting}";
    NONE: "There is no {kind} `{name}`. Yours are in {folder}.", "没有名为 `{name}` 的{kind}。你的文件放在 {folder}。";
    NONE_NEAR: "There is no {kind} `{name}`. Did you mean {near}?", "没有名为 `{name}` 的{kind}。是不是想用 {near}？";

    // Reasons why a file is not read.
    LEADS_OUT: "its link points outside what was shown when the folder was trusted", "其链接指向信任此目录时未展示的位置";
    MANY_FOLDERS: "{folder} has more than {most} folders; the rest was not searched", "{folder} 下的目录超过 {most} 个，其余未查看";
    MANY_ENTRIES: "{folder} has more than {most} entries; the rest was not searched", "{folder} 下的条目超过 {most} 个，其余未查看";
    NOT_YAML: "{place}: the front matter is not valid YAML: {why}.", "{place}：文件头不是有效的 YAML：{why}。";
    NO_FRONT: "{place}: the front matter is missing. A skill begins with `---`, then `name:` and `description:`, then `---`.", "{place}：没有文件头。技能文件以 `---` 开头，接着是 `name:` 和 `description:`，再以 `---` 结束。";
    FRONT_TOO_LONG: "{place}: the front matter does not end within 64 KiB.", "{place}：文件头在 64 KiB 内没有结束。";
    NO_DESCRIPTION: "{place}: `description` is missing or empty. It says when the skill is useful.", "{place}：缺少 `description`，或它是空的。它说明技能在何时有用。";
    TEMPLATE_WRONG: "{place}: {why}", "{place}：{why}";
    NO_TEMPLATE: "{place}: there is no text to send.", "{place}：没有可发送的文本。";
    SKILL_GONE: "{place}: the skill no longer exists.", "{place}：该技能已不存在。";

    RENAME_SKILL: "{file} is not read: rename it to `SKILL.md`.", "未读取 {file}：请将它改名为 `SKILL.md`。";

    // Harmless oddities.
    FRONT_MENDED: "the front matter is not valid YAML; it was read with its values quoted", "文件头不是有效的 YAML；已给其中的值加上引号后读取";
    NO_SKILL_NAME: "it has no `name`, so it is named after its folder `{folder}`", "没有 `name`，因此按目录名叫作 `{folder}`";
    ODD_NAME: "`{name}` should be lower-case letters, digits and single hyphens", "`{name}` 应只含小写字母、数字和单个连字符";
    NAME_IS_NOT_FOLDER: "its name is `{name}`, but its folder is `{folder}`", "名称是 `{name}`，而目录是 `{folder}`";
    LONG_DESCRIPTION: "its description was cut at {most} characters", "描述已截断为 {most} 个字符";
    MODEL_IGNORED: "its `model` ({model}) is ignored: the settings choose the model", "其中的 `model`（{model}）不起作用：模型由设置决定";
    KEYS_IGNORED: "unknown keys are ignored: {keys}", "此处不识别的键不起作用：{keys}";

    // Creating, changing, deleting.
    THERE_ALREADY: "{file} already exists and was not changed. Change it with `edit`.", "{file} 已经存在，没有改动。可用 `edit` 修改。";
    NOT_DELETED: "{file} could not be deleted: {why}.", "{file} 无法删除：{why}。";

    // On the command line.
    LABEL: "{kind} {name}", "{kind} {name}";
    STATE_OF: "{state} ({file})", "{state}（{file}）";
    NOT_USED: "Not used", "未使用";
    NONE_AT_ALL: "None yet. Yours go in {folder}; `avocet init-home` copies examples there.", "还没有。你的文件放在 {folder}；`avocet init-home` 会把示例复制过去。";
    NOTHING_KEPT: "No bots, commands or skills yet; `avocet init-home` copies examples.", "还没有助手、命令或技能；`avocet init-home` 会复制一些示例。";
    SHOWN_FROM: "{file} ({from})", "{file}（{from}）";
    MADE: "The new {kind} is in {file}.", "新的{kind}已写入 {file}。";
    CHANGED: "{file} was changed.", "{file} 已修改。";
    NOTHING_CHANGED: "Nothing was changed.", "没有改动。";
    NOTHING_WRITTEN: "Nothing was written, so nothing was created.", "没有写入内容，因此没有新建。";
    PIPED_TOO_LONG: "Standard input is longer than {most} KiB; nothing was created.", "标准输入超过 {most} KiB，没有新建。";
    NO_EDITOR: "No editor is configured.", "没有指定编辑器。";
    NO_EDITOR_HINT: "Set `VISUAL` or `EDITOR`, as in `EDITOR=nano`; the text of a new file can also be given with `--prompt` or on standard input.", "请设置 `VISUAL` 或 `EDITOR`，例如 `EDITOR=nano`；新建时也可用 `--prompt` 或标准输入给出内容。";
    EDIT_AGAIN: "Edit it again? [Y/n]", "再编辑一次吗？[Y/n]";
    DELETE_ASK: "Delete {file}? [y/N]", "删除 {file} 吗？[y/N]";
    DELETED: "{file} was deleted.", "{file} 已删除。";
    NOT_DELETED_NO: "Not deleted.", "已保留。";
    DELETE_NOBODY: "{file} was not deleted: no user is present to confirm.", "{file} 没有删除：没有用户在场确认。";
    DELETE_HOW: "`-y` deletes it without asking.", "加上 `-y` 则直接删除，不再询问。";
    WRITTEN: "written", "已写入";
    KEPT: "already exists, not changed", "已存在，未改动";
    CHECKED_ODD: "{file}: {remark}.", "{file}：{remark}。";
    DRAFT_BOT: "A bot: `system_prompt` says who the model is and how it answers.\nOptional: temperature, top_p, max_tokens, presence_penalty, frequency_penalty.", "助手：`system_prompt` 说明模型是谁、怎样回答。\n还可以写：temperature、top_p、max_tokens、presence_penalty、frequency_penalty。";
    DRAFT_COMMAND: "A command: `prompt` is the message to send. {{args}} stands for the text after the\nname, !{command} for the output of a shell command, @{path} for a file.", "命令：`prompt` 是要发送的消息。{{args}} 代表名称后面输入的内容，\n!{command} 代表一条 shell 命令的输出，@{path} 代表一个文件。";
    DRAFT_SKILL: "A skill: `description` says when it is useful, as in \"This skill should be used when …\".\nThe model reads it to decide. Below the second `---` the text says how to do it.", "技能：`description` 说明何时有用，例如“This skill should be used when …”。\n模型据此决定是否使用。第二个 `---` 之后的正文说明怎样做。";
    EXAMPLES_OFFERED: "`avocet init-home` copies example bots, commands and skills to start with.", "运行 `avocet init-home` 可获得一些现成的助手、命令和技能。";
}
