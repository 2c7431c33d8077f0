//! Words of `script`: why a script cannot be read or run.

words! { "script_run":
    AT: "{file}:{line}:{column}: {what}", "{file}:{line}:{column}：{what}";
    TOO_LONG: "The script is longer than {most} MiB; split it.", "脚本超过 {most} MiB，请拆分。";
    FRONT_NO_MAP: "The settings between the `---` lines must be a map, `key: value`.", "两行 `---` 之间的配置必须是 `键: 值` 形式的映射。";
    BODY_NO_LIST: "The script must be a list of instructions, one at each line start.", "脚本正文必须是指令列表，每条指令从行首开始。";
    NOT_YAML: "This is not YAML: {why}", "此处不符合 YAML 语法：{why}";
    TWO_DOCUMENTS: "A second YAML document begins here; a script is one.", "此处开始了第二个 YAML 文档，而脚本只能有一个。";
    TOO_DEEP: "Nested more than {most} levels deep.", "嵌套超过 {most} 层。";
    TOO_MANY: "More than {most} values, with what aliases stand for.", "展开别名后超过 {most} 个值。";
    NO_ANCHOR: "This alias names an anchor that does not stand above it.", "该别名引用的锚点在前文中不存在。";
    KEY_NO_TEXT: "A list or a map cannot be a key; quote the text, as in `\"{{name}}\"` or `\"[[VAR]]\"`.", "列表或映射不能作为键；请给文本加引号，例如 `\"{{name}}\"` 或 `\"[[VAR]]\"`。";
}
