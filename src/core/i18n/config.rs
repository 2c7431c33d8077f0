//! Sentences of `config`.

words! { "config":
    HOME_RELATIVE: "`HOME` is `{path}`, which is not an absolute path, so settings would depend on the current folder. Set it to an absolute path, or set `AVOCET_HOME` to a folder of yours.", "`HOME` 的值 `{path}` 不是绝对路径，设置会随所在目录变动。请改为绝对路径，或把 `AVOCET_HOME` 设为你自己的一个目录。";
    STATE_REFUSED: "Input history and unsent drafts of this session will not be saved: `{folder}` is not writable: {why}.", "本次会话输入的内容和未发送的草稿不会保留：`{folder}` 无法写入：{why}。";
    NO_HOME: "There is no home folder for the settings. Set `AVOCET_HOME` to a folder of yours.", "找不到存放设置的主目录。请把 `AVOCET_HOME` 设为你自己的一个目录。";

    // Locations.
    AT_PLACE: "{file}, line {line}, column {column}", "{file} 第 {line} 行第 {column} 列";
    AT_VARIABLE: "The variable `{name}`", "环境变量 `{name}`";
    AT_COMMAND_LINE: "The command line", "命令行";

    // Errors. `{place}` is one of the above, or a file.
    UNREADABLE: "{place}: cannot be read: {why}.", "{place}：无法读取：{why}。";
    NOT_A_FILE: "{place}: is not a regular file, so it was not read.", "{place}：不是普通文件，因此没有读取。";
    NOT_TEXT: "{place}: is not UTF-8 text, so it was not read.", "{place}：不是 UTF-8 文本，因此没有读取。";
    DAMAGED: "{place}: is damaged, or was written by another version.", "{place}：已损坏，或由其他版本写入。";
    TOO_MANY: "{place}: only the first {limit} files are used; {more} more are left out.", "{place}：只使用前 {limit} 个文件，另有 {more} 个未使用。";
    TOO_LONG: "{place}: is longer than {limit} bytes, so it was not read.", "{place}：超过 {limit} 字节，因此没有读取。";
    SYNTAX: "{place}: not valid TOML: {why}.", "{place}：不是有效的 TOML：{why}。";
    UNKNOWN: "{place}: there is no key `{key}`.", "{place}：没有名为 `{key}` 的键。";
    UNKNOWN_NEAR: "{place}: there is no key `{key}`. Did you mean `{near}`?", "{place}：没有名为 `{key}` 的键。是不是想写 `{near}`？";
    ELSEWHERE: "{place}: `{key}` does not belong here. {where}", "{place}：`{key}` 不应写在这里。{where}";
    WRONG: "{place}: `{key}` must be {expected}, not {found}.", "{place}：`{key}` 应为{expected}，而这里是{found}。";
    BAD_NAME: "{place}: `{key}` is not a usable name. Use letters, digits, `-` and `_`.", "{place}：`{key}` 不能用作名称。请使用字母、数字、`-` 和 `_`。";
    MISSING: "{place}: `{key}` is missing or empty.", "{place}：缺少 `{key}`，或它是空的。";
    LOOSENS: "{place}: a project may only tighten safety, so its `{key}` is ignored.", "{place}：项目只能收紧安全设置，因此其中的 `{key}` 不生效。";
    NOT_FOR_PROJECTS: "{place}: a project may only set safety keys, so its `{key}` is ignored.", "{place}：项目只能设置安全相关的键，因此其中的 `{key}` 不生效。";
    NO_PROFILE: "{place}: there is no profile `{key}`. Available: {known}.", "{place}：没有名为 `{key}` 的配置方案。现有：{known}。";
    NO_PROFILE_AT_ALL: "{place}: there is no profile `{key}`. Define it in the settings file under `[profiles.{key}]`.", "{place}：没有名为 `{key}` 的配置方案。请在设置文件的 `[profiles.{key}]` 下定义它。";

    HINT_WHOLE: "Until you fix it, it is ignored and the strictest safety settings apply. The file was not changed.", "修好之前忽略该文件，并采用最严格的安全设置。文件没有改动。";
    HINT_STRICTEST: "Until you fix it, this key has its strictest value.", "修好之前，这个键取最严格的值。";

    // Expected values; these are parts of a sentence.
    A_TEXT: "a quoted string", "带引号的字符串";
    A_CHOICE: "one of {choices}", "以下之一：{choices}";
    SOME_WORDS: "some of {words}, in groups divided by `|`", "由以下名称组成，用 `|` 分组：{words}";
    A_FLAG: "`true` or `false`", "`true` 或 `false`";
    A_COUNT: "a whole number from {min} to {max}", "{min} 到 {max} 之间的整数";
    A_NUMBER: "a number from {min} to {max}", "{min} 到 {max} 之间的数";
    A_VARIABLE: "the name of a variable that holds it, as in `TELEGRAM_BOT_TOKEN`", "存放它的环境变量的名称，例如 `TELEGRAM_BOT_TOKEN`";
    A_HEADER_TABLE: "a table of headers, as in `{ x-team = \"web\" }`", "请求头的表，例如 `{ x-team = \"web\" }`";
    A_FIELD_TABLE: "a table of fields, as in `{ top_k = 20 }`", "字段的表，例如 `{ top_k = 20 }`";
    SET_VARIABLES: "made of variables that are set", "由已设置的环境变量组成";
    A_TABLE: "a table, as in `[{key}]`", "表，例如 `[{key}]`";
    A_LIST_OF_PROGRAMS: "a list of programs, as in `[\"+just\", \"-curl\"]`", "程序列表，例如 `[\"+just\", \"-curl\"]`";
    A_LIST_OF_RULE_IDS: "a list of rule ids, as in `[\"git.reset.hard\"]`", "规则编号列表，例如 `[\"git.reset.hard\"]`";
    A_LIST_OF_RULES: "a list of rules, as in `[\"git push *\"]`, or with tests `{ rule = \"just *\", match = [\"just test\"] }`", "规则列表，例如 `[\"git push *\"]`，也可带测试：`{ rule = \"just *\", match = [\"just test\"] }`";
    RULE_FAILS: "{place}: `{key}`: {why}", "{place}：`{key}`：{why}";
    RULE_MUST_MATCH: "the rule `{rule}` does not cover `{line}`, but its tests say it must", "规则 `{rule}` 没有覆盖 `{line}`，与其自带的测试不符";
    RULE_MUST_NOT_MATCH: "the rule `{rule}` covers `{line}`, but its tests say it must not", "规则 `{rule}` 覆盖了 `{line}`，与其自带的测试不符";
    HINT_RULE: "An allow rule is ignored until it passes its tests; a deny rule stays in force.", "允许类规则在通过自带测试之前不生效，禁止类规则仍然有效。";
    A_LIST_OF_PATHS: "a list of paths that begin with `/` or `~/`, as in `[\"~/.tool/bin\"]`", "以 `/` 或 `~/` 开头的路径列表，例如 `[\"~/.tool/bin\"]`";
    A_LIST_OF_WORDS: "a program and its arguments, as in `[\"cargo\", \"check\"]`", "程序及其参数，例如 `[\"cargo\", \"check\"]`";
    A_LIST_OF_NAMES: "a list of commands, as in `[\"help\", \"status\"]`", "命令列表，例如 `[\"help\", \"status\"]`";
    A_LIST_OF_IDS: "a list of user ids (not names), as in `[\"123456789\"]`", "用户编号（不是名称）的列表，例如 `[\"123456789\"]`";

    // Values found instead; also parts of a sentence.
    FOUND_VALUE: "`{value}`", "`{value}`";
    FOUND_NO_VARIABLE: "a key or token itself", "密钥或令牌本身";
    FOUND_OWN_HEADER: "a table with `{name}`, which Avocet or the connection sets", "含有 `{name}` 的表，而它由 Avocet 或连接设置";
    FOUND_BAD_HEADER: "a table with `{name}`, whose name or value cannot be sent", "含有 `{name}` 的表，其名称或值无法发送";
    FOUND_UNSET: "a text with `{name}`, which is not set", "含有未设置的 `{name}` 的文本";
    FOUND_DATE: "a date", "日期";
    FOUND_TABLE: "a table", "表";
    FOUND_MANY: "a list of {count} {count:item|items}", "含 {count} 项的列表";

    // The right place for a key.
    MODEL_IN_PROFILE: "In the settings file a model is the `low` or `high` of a profile; for one run use `--model`.", "在设置文件里，模型写作某个配置方案的 `low` 或 `high`；只用一次可加 `--model`。";
    EFFORT_IN_PROFILE: "In the settings file it is the `effort` of a profile; for one run use `--effort`.", "在设置文件里，它写作某个配置方案的 `effort`；只用一次可加 `--effort`。";
    BASE_URL_IN_PROFILE: "In the settings file it is the `base_url` of a profile; for one run use `--base-url`.", "在设置文件里，它写作某个配置方案的 `base_url`；只用一次可加 `--base-url`。";
    KEY_IN_ENVIRONMENT: "Keys belong in the environment: name the variable with `api_key_env` in a profile.", "密钥应放在环境变量里：在配置方案中用 `api_key_env` 写出变量名。";
    TOKEN_IN_ENVIRONMENT: "Tokens belong in the environment or the keyring: name the variable with `token_env`, or save the token with `avocet gateway token`.", "令牌应放在环境变量或钥匙串里：用 `token_env` 写出变量名，或用 `avocet gateway token` 保存。";
    PROMPT_IN_BOT: "Write the text itself as `system_prompt`.", "请把文本直接写进 `system_prompt`。";
    MODEL_OUTSIDE_BOT: "A bot does not choose the model: use `--model`, `AVOCET_MODEL` or a profile in the settings file.", "助手不决定模型：请用 `--model`、`AVOCET_MODEL` 或设置文件中的配置方案。";
    BASE_URL_OUTSIDE_BOT: "A bot does not choose the server: use `--base-url`, `AVOCET_BASE_URL` or a profile in the settings file.", "助手不决定服务器：请用 `--base-url`、`AVOCET_BASE_URL` 或设置文件中的配置方案。";

    // The layer a value comes from.
    FROM_BUILT_IN: "built in", "内置";
    FROM_USER: "your settings, {file}", "你的设置，{file}";
    FROM_PROJECT: "the project, {file}", "项目，{file}";
    FROM_VARIABLE: "the variable {name}", "环境变量 {name}";
    OF_USER: "your file", "你的设置";
    OF_PROJECT: "this folder", "本目录";
    OF_VARIABLE: "a variable", "环境变量";
    OF_STRICTEST: "the strictest value", "最严格的值";
    FROM_COMMAND_LINE: "the command line", "命令行";
    FROM_STRICTEST: "the strictest value, because {file} could not be parsed", "最严格的值，因为 {file} 无法解析";

    // Changing a key.
    BAD_VALUE: "`{key}` must be {expected}, not {found}.", "`{key}` 应为{expected}，而不是{found}。";
    NO_KEY: "There is no setting `{key}`. `avocet config get` lists them all.", "没有名为 `{key}` 的设置。`avocet config get` 会列出全部设置。";
    NO_KEY_NEAR: "There is no setting `{key}`. Did you mean `{near}`?", "没有名为 `{key}` 的设置。是不是想写 `{near}`？";
    KEY_ELSEWHERE: "`{key}` cannot be set in the file. {where}", "`{key}` 不能写进设置文件。{where}";


    APPROVALS_BROKEN: "The remembered rules for this folder do not apply. {file}", "为此目录记住的规则都不生效。{file}";

    TRUST_BROKEN: "The list of trusted folders is not used, so no folder is trusted. {file}", "受信任目录的记录未被采用，因此暂不信任任何目录。{file}";

    // System errors; these are parts of a sentence.
    IO_NOT_FOUND: "no such file or folder", "文件或目录不存在";
    IO_PERMISSION: "permission denied", "没有权限";
    IO_NOT_A_FILE: "it is not a regular file", "它不是普通文件";
    IO_FULL: "the disk is full", "磁盘已满";
    IO_READ_ONLY: "the file system is read-only", "文件系统只读";
    IO_LOCKED: "another Avocet has been changing it for too long; try again", "另一个 Avocet 占用该文件的时间过长，请重试";
    IO_OTHER: "{why}", "{why}";
    HAZARD_ROOT: "Careful: this is the root of the file system, not a project.", "注意：这是文件系统的根目录，不是一个项目。";
    HAZARD_HOME: "Careful: this contains your home folder and all your files, not just a project.", "注意：其中包含你的主目录和全部个人文件，不只是一个项目。";
    HAZARD_WRITABLE: "Careful: every user of this machine can change its contents.", "注意：本机的任何用户都可以更改其中的内容。";
    HAZARD_OWNER: "Careful: it belongs to another user of this machine.", "注意：它属于本机的另一个用户。";
    HAZARD_WIDE: "Careful: this is a system folder, not a project.", "注意：这是系统目录，不是一个项目。";
}
