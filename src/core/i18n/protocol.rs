//! Sentences of `protocol`: errors in a reply. The model reads them as well, in English,
//! when it is asked to answer again.

words! { "protocol":
    ARGUMENTS: "The arguments of `{tool}` are not one JSON object.", "`{tool}` 的参数不是一个 JSON 对象。";
    ARGUMENTS_WHY: "The arguments of `{tool}` cannot be read. {why}", "无法读取 `{tool}` 的参数。{why}";
    NO_OBJECT: "The reply contains no JSON object.", "回复里没有 JSON 对象。";
    TWO_OBJECTS: "The reply contains more than one JSON object; it must be exactly one.", "回复里有多个 JSON 对象，只能有一个。";
    TWICE: "Duplicate key `{field}`.", "键 `{field}` 重复。";
    TOO_DEEP: "The reply is nested deeper than {most} levels.", "回复的嵌套超过 {most} 层。";
    TOO_LONG: "The reply has {bytes} bytes; the limit is {most}.", "回复有 {bytes} 字节，上限为 {most}。";
    UNKNOWN_TYPE: "`type` is `{found}`; it must be `chat`, `cmd` or `error`.", "`type` 是 `{found}`，只能是 `chat`、`cmd` 或 `error`。";
    MISSING: "`{field}` is missing.", "缺少 `{field}`。";
    EMPTY: "`{field}` must not be empty.", "`{field}` 不能为空。";
    WRONG: "`{field}` must be {wanted}, but it is {found}.", "`{field}` 必须是{wanted}，现在是{found}。";
    WRONG_ITEM: "`{field}` must be a list of strings, but `{item}` is {found}.", "`{field}` 必须是字符串列表，而 `{item}` 是{found}。";
    NO_COMMANDS: "`data.commands` is empty; a `cmd` reply must propose at least one step.", "`data.commands` 为空；`cmd` 回复至少要提出一个步骤。";
    TOO_MANY: "`data.commands` has {count} steps; at most {most} are allowed.", "`data.commands` 有 {count} 个步骤，最多允许 {most} 个。";
    BOTH: "`{field}` has both a `program` and a `tool`; it must have exactly one of them.", "`{field}` 同时写了 `program` 和 `tool`，只能写其中一个。";
    NEITHER: "`{field}` has neither a `program` nor a `tool`.", "`{field}` 既没有 `program` 也没有 `tool`。";

    NO_INPUT: "A running program gets no input here: `job_read` shows its output, `job_stop` ends it.", "运行中的程序在这里不能接收输入：`job_read` 查看输出，`job_stop` 结束它。";

    AN_OBJECT: "an object", "对象";
    IS_NULL: "null", "null";
    IS_BOOLEAN: "a boolean", "布尔值";
    IS_NUMBER: "a number", "数字";
    UNKNOWN_WORD: "(a sentence from another version: {key})", "（来自其他版本的语句：{key}）";
}
