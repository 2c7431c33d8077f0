//! Words of `script`: what its templates, its engines and its output say.

words! { "script":
    // Templates.
    TEMPLATE_BROKEN: "The template cannot be rendered, line {line}: {why}.",
        "无法渲染模板，第 {line} 行：{why}。";
    TEMPLATE_LONG: "The template is longer than {limit} bytes. Split it.",
        "模板超过 {limit} 字节，请拆分。";
    TEMPLATE_OUTPUT: "The template makes more than {limit} bytes of text, so it was stopped. Render less at once.",
        "模板生成的文本超过 {limit} 字节，已停止。请减少一次渲染的内容。";
    TEMPLATE_WORK: "The template does more work than one rendering may do, so it was stopped. Look for a loop that is too long.",
        "模板的计算量超过单次渲染的上限，已停止。请检查是否有过长的循环。";
    TEMPLATE_CALLS: "The template calls its functions more than {limit} times, so it was stopped.",
        "模板调用函数超过 {limit} 次，已停止。";
    TEMPLATE_FUNCTION: "The template calls `{name}`, which cannot be called here.",
        "模板调用了 `{name}`，此处无法调用。";

    // JavaScript.
    ENGINE_START: "The JavaScript engine did not start: {why}.",
        "JavaScript 引擎无法启动：{why}。";
    ENGINE_GONE: "The JavaScript engine has stopped after an earlier fault. Run the script again.",
        "JavaScript 引擎因先前的故障已停止，请重新运行脚本。";
    ENGINE_TIME: "JavaScript computed for longer than {seconds} s without a result, so it was stopped. Look for a loop or a regular expression that does not end.",
        "JavaScript 连续计算超过 {seconds} 秒仍无结果，已停止。请检查是否有不会结束的循环或正则表达式。";
    ENGINE_MEMORY: "JavaScript needed more than {megabytes} MiB of memory, so it was stopped.",
        "JavaScript 占用的内存超过 {megabytes} MiB，已停止。";
    ENGINE_STACK: "JavaScript calls itself too deep, so it was stopped. Look for a recursion that does not end.",
        "JavaScript 调用层数过深，已停止。请检查是否有不会结束的递归。";
    ENGINE_STUCK: "JavaScript waits for a promise that nothing will ever settle.",
        "JavaScript 在等待一个永远不会完成的 Promise。";
    ENGINE_THREW: "JavaScript failed: {why}.",
        "JavaScript 出错：{why}。";
}
