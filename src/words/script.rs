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
}
