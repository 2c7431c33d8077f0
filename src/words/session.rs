//! Words of a session: what it says beside the conversation.

words! { "session":
    EXPORT_TITLE: "Avocet conversation", "Avocet 对话";
    EXPORT_YOU: "You", "你";
    EXPORTED: "The conversation is in `{path}`.", "对话已写入 `{path}`。";
    EXPORT_EXISTS: "`{path}` is there already and was left as it is. Name another file.", "`{path}` 已经存在，没有改动。请换一个文件名。";
    EXPORT_FAILED: "The conversation could not be written to `{path}`: {why}.", "无法把对话写入 `{path}`：{why}。";
    EXPORT_EMPTY: "There is nothing to export yet.", "还没有可以导出的内容。";
    MODEL_SET: "`{model}` answers from now on.", "从现在起由 `{model}` 回答。";
    MODE_SET: "Mode {mode}: `{model}` answers from now on.", "模式 {mode}：从现在起由 `{model}` 回答。";
    STEER_WAITS: "The model hears that at its next step.", "模型会在下一步听到这句话。";
    NOTHING_TO_RETRY: "There is no message to ask again.", "没有可以重新提问的消息。";
    CONTEXT: "The next request", "下一次请求";
    CONTEXT_SYSTEM: "system prompt", "系统提示";
    CONTEXT_HISTORY: "history", "历史";
    CONTEXT_TURN: "this turn", "当前回合";
    CONTEXT_FREE: "free", "空余";
    CONTEXT_BOUND: "at most", "上限";
    CONTEXT_TURNS: "Past turns that go with it: {n}; too old for it: {out}.", "随请求发送的回合：{n}；太旧而不发送的：{out}。";
    USAGE: "Tokens", "词元";
    USAGE_TURN: "turn {n}", "第 {n} 回合";
    USAGE_ALL: "in all", "合计";
    USAGE_TOKENS: "{input} in, {output} out", "输入 {input}，输出 {output}";
    USAGE_ABOUT: "about {input} in, {output} out", "输入约 {input}，输出约 {output}";
    ALLOWED: "`{rule}` runs without asking in this session.", "本次会话中，`{rule}` 不再询问，直接运行。";
    ALLOWED_PROJECT: "`{rule}` runs without asking in this folder from now on.", "今后在这个文件夹里，`{rule}` 不再询问，直接运行。";
    DENIED: "`{rule}` is refused in this session.", "本次会话中，`{rule}` 一律拒绝。";
    RULE_NOT_KEPT: "The rule holds for this session only; it could not be saved: {why}.", "规则只在本次会话有效，保存失败：{why}。";
    FOUND: "Found {name} at {url}. Type `/model {model}` to use it.", "在 {url} 找到 {name}。输入 `/model {model}` 即可使用。";
    FOUND_MORE: "{n} models there: {names}.", "那里有 {n} 个模型：{names}。";
    FOUND_KEY: "`{key}` is set. Type `/model {model}` to use {name}.", "已设置 `{key}`。输入 `/model {model}` 即可使用 {name}。";
    GUIDE: "No model is connected: the offline guide answers. It is not a language model.", "还没有连接模型，由离线向导回答。它不是语言模型。";
    GUIDE_HINT: "`avocet --base-url URL --model NAME`, or ask it \"how do I connect a model?\"", "用 `avocet --base-url 网址 --model 名称` 连接，或者直接问它“怎样连接模型？”";
    NO_MODELS: "The server names no models.", "服务器没有列出任何模型。";
    MODELS_HERE: "Models", "模型";
    MODEL_NOW: "answers now", "当前使用";
    MODELS: "Models at {url}", "{url} 上的模型";
    DOCTOR: "Doctor", "体检";
    TURN_CRASHED: "The turn broke off because of a fault in Avocet: {why}. The conversation goes on.", "这一轮因 Avocet 内部错误中断：{why}。对话可以继续。";
    SHELL_BUSY: "`{line}` was not run: a turn is running. Stop it with Esc, then try again.", "`{line}` 没有运行：当前一轮还在进行。请先按 Esc 停止，再试一次。";
    NO_TOOL: "There is no tool `{tool}`.", "没有名为 `{tool}` 的工具。";
}
