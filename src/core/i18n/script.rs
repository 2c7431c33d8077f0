//! Sentences of `script`: errors of templates, engines and output.

words! { "script":
    // Templates.
    TEMPLATE_BROKEN: "The template cannot be rendered, line {line}: {why}.",
        "无法渲染模板，第 {line} 行：{why}。";
    TEMPLATE_LONG: "The template is longer than {limit} bytes. Split it.",
        "模板超过 {limit} 字节，请拆分。";
    TEMPLATE_OUTPUT: "The template produces more than {limit} bytes of text, so it was stopped. Render less at once.",
        "模板生成的文本超过 {limit} 字节，已停止。请减少一次渲染的内容。";
    TEMPLATE_WORK: "The template exceeded the work limit of one rendering, so it was stopped. Look for a loop that is too long.",
        "模板的计算量超过单次渲染的上限，已停止。请检查是否有过长的循环。";
    TEMPLATE_CALLS: "The template calls its functions more than {limit} times, so it was stopped.",
        "模板调用函数超过 {limit} 次，已停止。";
    TEMPLATE_FUNCTION: "The template calls `{name}`, which is not available here.",
        "模板调用了 `{name}`，此处无法调用。";

    // JavaScript.
    ENGINE_START: "The JavaScript engine did not start: {why}.",
        "JavaScript 引擎无法启动：{why}。";
    ENGINE_GONE: "The JavaScript engine stopped after an earlier error. Run the script again.",
        "JavaScript 引擎因先前的故障已停止，请重新运行脚本。";
    ENGINE_TIME: "JavaScript ran for longer than {seconds} s without a result, so it was stopped. Look for a loop or a regular expression that does not end.",
        "JavaScript 连续计算超过 {seconds} 秒仍无结果，已停止。请检查是否有不会结束的循环或正则表达式。";
    ENGINE_MEMORY: "JavaScript needed more than {megabytes} MiB of memory, so it was stopped.",
        "JavaScript 占用的内存超过 {megabytes} MiB，已停止。";
    ENGINE_STACK: "JavaScript recursed too deeply, so it was stopped. Look for a recursion that does not end.",
        "JavaScript 调用层数过深，已停止。请检查是否有不会结束的递归。";
    ENGINE_DEEP: "A value in JavaScript is nested more than {most} levels deep, so it was not passed on. Pass on a part of it.",
        "JavaScript 中的值嵌套超过 {most} 层，无法传出。请只传出其中一部分。";
    ENGINE_STUCK: "JavaScript waits for a promise that will never settle.",
        "JavaScript 在等待一个永远不会完成的 Promise。";
    ENGINE_THREW: "JavaScript failed: {why}.",
        "JavaScript 出错：{why}。";

    // WebAssembly.
    WASM_LARGE: "The WebAssembly module is larger than {megabytes} MiB.",
        "WebAssembly 模块超过 {megabytes} MiB。";
    WASM_BROKEN: "The WebAssembly module cannot be used: {why}.",
        "无法使用该 WebAssembly 模块：{why}。";
    WASM_IMPORT: "The WebAssembly module imports `{name}`, but no imports are provided. Build it without imports.",
        "WebAssembly 模块导入了 `{name}`，但此处不提供任何外部函数。请构建不含导入的模块。";
    WASM_FUNCTION: "The WebAssembly module has no function `{name}` that takes numbers.",
        "WebAssembly 模块中没有以数字为参数的函数 `{name}`。";
    WASM_COUNT: "The WebAssembly function `{name}` takes {wanted} numbers and got {given}.",
        "WebAssembly 函数 `{name}` 需要 {wanted} 个数字，实际得到 {given} 个。";
    WASM_NUMBER: "The WebAssembly function `{name}` cannot take {value}: it is not a suitable number.",
        "WebAssembly 函数 `{name}` 无法接受 {value}：不是合适的数字。";
    WASM_FUEL: "The WebAssembly function ran for too long, so it was stopped.",
        "WebAssembly 函数计算时间过长，已停止。";
    WASM_MEMORY: "The WebAssembly module needed more than {megabytes} MiB of memory, so it was stopped.",
        "WebAssembly 模块占用的内存超过 {megabytes} MiB，已停止。";
    WASM_STACK: "The WebAssembly function recursed too deeply, so it was stopped.",
        "WebAssembly 函数调用层数过深，已停止。";

    // Permissions.
    PERMISSION_NO_MAP: "`permissions` must be a map with `ai: {call: [...]}`.",
        "`permissions` 必须是形如 `ai: {call: [...]}` 的映射。";
    PERMISSION_KEY: "`permissions` has no key `{name}`. Use one of: {list}.",
        "`permissions` 没有键 `{name}`，可用：{list}。";
    PERMISSION_PARAMETERS: "The `parameters` of a permission rule must be a map of names to patterns.",
        "权限规则的 `parameters` 必须是参数名到匹配规则的映射。";
    PERMISSION_ACTION: "`{action}` is not a permission action. Use allow, deny or confirm.",
        "`{action}` 不是有效的权限动作，请使用 allow、deny 或 confirm。";
    PERMISSION_OVERWRITE: "`overwriteAction` is ignored for safety: it would override other rules. Write a rule for each tool instead.",
        "出于安全考虑忽略 `overwriteAction`：它会使其他规则失效。请为每个工具单独写规则。";
    PERMISSION_MANY: "`permissions` has more than {limit} rules. Use globs.",
        "`permissions` 的规则超过 {limit} 条，请使用通配符。";
    PERMISSION_NO_NAME: "The permission rule {rule} has no `name`.",
        "权限规则 {rule} 缺少 `name`。";
    PERMISSION_NEGATIVE: "The permission rule `{name}` cannot be negative. Write `action: deny` instead.",
        "权限规则 `{name}` 不能使用负匹配，请改写为 `action: deny`。";
    PERMISSION_GLOB: "The permission pattern `{glob}` cannot be read: {why}.",
        "无法读取权限匹配规则 `{glob}`：{why}。";

    // The value of a reply.
    OUTPUT_LONG: "The reply is longer than {limit} bytes, so it was not read.",
        "回复超过 {limit} 字节，没有解析。";
    OUTPUT_KIND: "`{kind}` is not a reply format. Use json, yaml, nobj or text.",
        "`{kind}` 不是有效的回复格式，请使用 json、yaml、nobj 或 text。";
    OUTPUT_NOT: "The reply is not {form}: {why}. It begins: {text}",
        "回复不是 {form}：{why}。其开头为：{text}";
    OUTPUT_NO_FIELD: "The reply has none of the fields named by `output`. It begins: {text}",
        "回复中没有 `output` 所列的任何字段。其开头为：{text}";
    OUTPUT_SCHEMA: "`output` is not a JSON Schema: {why}.",
        "`output` 不是有效的 JSON Schema：{why}。";
    OUTPUT_TYPE: "`output` has the unknown type `{name}`. Did you mean `{near}`?",
        "`output` 的类型 `{name}` 无法识别。是否想写 `{near}`？";
    OUTPUT_MISFIT: "The reply does not match `output` at `{path}`: {why}.",
        "回复不符合 `output`，位置 `{path}`：{why}。";
}
