//! Words of `library`: bots, commands and skills as files.

words! { "library":
    // What a file is; these stand inside a sentence.
    A_BOT: "bot", "机器人";
    A_COMMAND: "command", "命令";
    A_SKILL: "skill", "技能";

    // Whose it is.
    OF_PROJECT: "the project's", "项目的";
    OF_USER: "your own", "你自己的";
    OF_PROJECT_IN: "the project's, in {name}", "项目的，位于 {name}";
    OF_USER_IN: "your own, in {name}", "你自己的，位于 {name}";

    // What became of it.
    LOADED: "loaded", "已加载";
    LOADED_BUT: "loaded; {remark}", "已加载；{remark}";
    AND_ALSO: "{first}; {more}", "{first}；{more}";
    SHADOWED: "not used: {file} has this name and comes first", "未使用：{file} 同名且优先";
    SHADOWED_BUILT_IN: "a built-in command has this name", "与内置命令同名";
    SHADOWED_NAME: "A built-in command is called `/{name}`, so the file of that name is not used. Give it another name.", "`/{name}` 是内置命令，因此同名文件未被使用。请换一个名称。";
    SKILL_BEHIND_COMMAND: "`/` with this name runs a command; the model can still enter the skill", "输入 `/` 加此名称会运行同名命令；模型仍可使用该技能";
    REFUSED: "refused: {why}", "已拒绝：{why}";

    // There is none of that name.
    BAD_ASCII_NAME: "`{name}` is not a usable name for a {kind}. Names begin with a letter or digit and hold letters, digits, `.`, `_` and `-`.", "`{name}` 不能用作{kind}名称。名称以字母或数字开头，只含字母、数字、`.`、`_` 和 `-`。";
    BAD_COMMAND_NAME: "`{name}` is not a usable name for a command. Names begin with a letter or digit of any script and hold letters, digits, `.`, `_` and `-`.", "`{name}` 不能用作命令名称。名称以任意文字的字母或数字开头，只含字母、数字、`.`、`_` 和 `-`。";
    BAD_NAME: "`{name}` is not a usable name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit", "`{name}` 不是可用的名称：只能含字母、数字、`.`、`_` 和 `-`，并以字母或数字开头";
    BAD_NAME_IN: "{place}: `{name}` is not a usable name for a skill. Use letters, digits and `-`.", "{place}：`{name}` 不能用作技能名称。请使用字母、数字和 `-`。";
    WAITING: "{what} of this folder wait for trust: `/trust`, or `--trust` for one run.", "此目录有{what}，信任后才会使用：输入 `/trust`，或单次运行时用 `--trust`。";
    WAIT_AND: "{one} and {other}", "{one}和{other}";
    WAIT_SKILL: "1 skill", "1 个技能";
    WAIT_SKILLS: "{n} skills", "{n} 个技能";
    WAIT_COMMAND: "1 command", "1 个命令";
    WAIT_COMMANDS: "{n} commands", "{n} 个命令";
    WAIT_BOT: "1 bot", "1 个机器人";
    WAIT_BOTS: "{n} bots", "{n} 个机器人";
    NONE_WAITING: "{none} {waiting}", "{none}{waiting}";
    NONE: "There is no {kind} `{name}`. Yours lie in {folder}.", "没有名为 `{name}` 的{kind}。你的文件放在 {folder}。";
    NONE_NEAR: "There is no {kind} `{name}`. Did you mean {near}?", "没有名为 `{name}` 的{kind}。是不是想用 {near}？";

    // Why a file is not read.
    LEADS_OUT: "its link leads out of what was shown when the folder was trusted", "其链接指向信任此目录时未展示的位置";
    MANY_FOLDERS: "{folder} has more than {most} folders; the rest was not looked into", "{folder} 下的文件夹超过 {most} 个，其余未查看";
    NOT_YAML: "{place}: the front matter is not valid YAML: {why}.", "{place}：文件头不是有效的 YAML：{why}。";
    NO_FRONT: "{place}: there is no front matter. A skill begins with `---`, then `name:` and `description:`, then `---`.", "{place}：没有文件头。技能文件以 `---` 开头，接着是 `name:` 和 `description:`，再以 `---` 结束。";
    FRONT_TOO_LONG: "{place}: the front matter does not end within 64 KiB.", "{place}：文件头在 64 KiB 内没有结束。";
    NO_DESCRIPTION: "{place}: `description` is missing or empty. It says when the skill is of use.", "{place}：缺少 `description`，或它是空的。它说明技能在何时有用。";
    TEMPLATE_WRONG: "{place}: {why}", "{place}：{why}";
    NO_TEMPLATE: "{place}: there is no text to send.", "{place}：没有可发送的文本。";
    SKILL_GONE: "{place}: the skill is not there any more.", "{place}：该技能已不存在。";

    // What is odd and does no harm.
    FRONT_MENDED: "the front matter is no valid YAML; it was read with its values in quotes", "文件头不是有效的 YAML；已给其中的值加上引号后读取";
    NO_SKILL_NAME: "it has no `name`, so it is called `{folder}` like its folder", "没有 `name`，因此按文件夹名叫作 `{folder}`";
    ODD_NAME: "`{name}` should be lower-case letters, digits and single hyphens", "`{name}` 应只含小写字母、数字和单个连字符";
    NAME_IS_NOT_FOLDER: "it is called `{name}`, and its folder `{folder}`", "名称是 `{name}`，而文件夹是 `{folder}`";
    LONG_DESCRIPTION: "its description is longer than {most} characters and was cut", "描述超过 {most} 个字符，已截断";
    MODEL_IGNORED: "its `model` ({model}) is left aside: the settings choose the model", "其中的 `model`（{model}）不起作用：模型由设置决定";
    KEYS_IGNORED: "keys that are not known here are left aside: {keys}", "此处不识别的键不起作用：{keys}";

    // Making, changing, deleting.
    THERE_ALREADY: "{file} is there already and was left as it is. Change it with `edit`.", "{file} 已经存在，没有改动。可用 `edit` 修改。";
    NOT_SAVED: "{file} could not be written: {why}.", "{file} 无法写入：{why}。";
    NOT_DELETED: "{file} could not be deleted: {why}.", "{file} 无法删除：{why}。";

    // On the command line.
    LABEL: "{kind} {name}", "{kind} {name}";
    STATE_OF: "{state} ({file})", "{state}（{file}）";
    NOT_USED: "Not used", "未使用";
    NONE_AT_ALL: "There are none yet. Yours lie in {folder}; `avocet init-home` copies examples there.", "还没有。你的文件放在 {folder}；`avocet init-home` 会把示例复制过去。";
    NOTHING_KEPT: "There are no bots, commands or skills yet; `avocet init-home` copies examples.", "还没有机器人、命令或技能；`avocet init-home` 会复制一些示例。";
    SHOWN_FROM: "{file} ({from})", "{file}（{from}）";
    MADE: "The new {kind} is in {file}.", "新的{kind}已写入 {file}。";
    CHANGED: "{file} was changed.", "{file} 已修改。";
    NOTHING_CHANGED: "Nothing was changed.", "没有改动。";
    NOTHING_WRITTEN: "Nothing was written, so nothing was made.", "没有写入内容，因此没有新建。";
    PIPED_TOO_LONG: "Standard input is longer than {most} KiB; nothing was made.", "标准输入超过 {most} KiB，没有新建。";
    NO_EDITOR: "No editor is named.", "没有指定编辑器。";
    NO_EDITOR_HINT: "Set `VISUAL` or `EDITOR`, as in `EDITOR=nano`; a new file can also be given with `--prompt` or on standard input.", "请设置 `VISUAL` 或 `EDITOR`，例如 `EDITOR=nano`；新建时也可用 `--prompt` 或标准输入给出内容。";
    EDIT_AGAIN: "Edit it again? [Y/n]", "再编辑一次吗？[Y/n]";
    DELETE_ASK: "Delete {file}? [y/N]", "删除 {file} 吗？[y/N]";
    DELETED: "{file} was deleted.", "{file} 已删除。";
    NOT_DELETED_NO: "It was kept.", "已保留。";
    DELETE_NOBODY: "{file} was kept: nobody is there to say yes.", "{file} 已保留：没有人可以确认。";
    DELETE_HOW: "With `-y` it is deleted without a question.", "加上 `-y` 则直接删除，不再询问。";
    WRITTEN: "written", "已写入";
    KEPT: "there already, left as it is", "已存在，未改动";
    CHECKED: "{file}: nothing is wrong.", "{file}：没有问题。";
    CHECKED_ODD: "{file}: {remark}.", "{file}：{remark}。";
    DRAFT_BOT: "A bot: `system_prompt` says who the model is and how it answers.\nAlso known: temperature, top_p, max_tokens, presence_penalty, frequency_penalty.", "机器人：`system_prompt` 说明模型是谁、怎样回答。\n还可以写：temperature、top_p、max_tokens、presence_penalty、frequency_penalty。";
    DRAFT_COMMAND: "A command: `prompt` is the message that is sent. {{args}} stands for what is typed\nbehind the name, !{command} for what a shell command writes, @{path} for a file.", "命令：`prompt` 是要发送的消息。{{args}} 代表名称后面输入的内容，\n!{command} 代表一条 shell 命令的输出，@{path} 代表一个文件。";
    EXAMPLES_OFFERED: "`avocet init-home` gives you bots, commands and skills to begin with.", "运行 `avocet init-home` 可获得一些现成的机器人、命令和技能。";
}
