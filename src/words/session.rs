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
    NEW: "A fresh conversation. Nothing of the last one goes to the model.", "新的对话开始了，之前的内容不会再发给模型。";
    ALLOWED: "`{rule}` runs without asking in this session.", "本次会话中，`{rule}` 不再询问，直接运行。";
    ALLOWED_PROJECT: "`{rule}` runs without asking in this folder from now on.", "今后在这个文件夹里，`{rule}` 不再询问，直接运行。";
    DENIED: "`{rule}` is refused in this session.", "本次会话中，`{rule}` 一律拒绝。";
    RULE_BAD: "`{rule}` is no rule. A rule is a program and the start of its arguments: `git push *`.", "`{rule}` 不是规则。规则由程序和开头的参数组成，例如 `git push *`。";
    RULE_NEVER: "`{rule}` cannot be allowed in general: with other arguments it can do anything. Approve it each time.", "`{rule}` 不能一概允许：换一组参数它什么都能做。请每次单独批准。";
    RULE_NOT_KEPT: "The rule holds for this session only; it could not be saved: {why}.", "规则只在本次会话有效，保存失败：{why}。";
    FOUND: "Found {name} at {url}. Type `/model {model}` to use it.", "在 {url} 找到 {name}。输入 `/model {model}` 即可使用。";
    FOUND_MORE: "{n} models there: {names}.", "那里有 {n} 个模型：{names}。";
    FOUND_KEY: "`{key}` is set. Type `/model {model}` to use {name}.", "已设置 `{key}`。输入 `/model {model}` 即可使用 {name}。";
    GUIDE: "No model is connected: the offline guide answers. It is not a language model.", "还没有连接模型，由离线向导回答。它不是语言模型。";
    GUIDE_HINT: "`avocet --base-url URL --model NAME`, or ask it \"how do I connect a model?\"", "用 `avocet --base-url 网址 --model 名称` 连接，或者直接问它“怎样连接模型？”";
    NO_MODELS: "The server names no models.", "服务器没有列出任何模型。";
    MODELS: "Models at {url}", "{url} 上的模型";
    DOCTOR: "Doctor", "体检";
    TURN_CRASHED: "The turn broke off because of a fault in Avocet: {why}. The conversation goes on.", "这一轮因 Avocet 内部错误中断：{why}。对话可以继续。";
    SHELL_BUSY: "`{line}` was not run: a turn is running. Stop it with Esc, then try again.", "`{line}` 没有运行：当前一轮还在进行。请先按 Esc 停止，再试一次。";
    REVOKED: "The rule `{rule}` counts no more.", "规则 `{rule}` 已撤销。";
    REVOKED_SETTINGS: "If it stands in the settings file, it counts again at the next start.", "若它写在设置文件中，下次启动时会重新生效。";
    RULE_NOT_THERE: "There is no rule `{rule}`.", "没有规则 `{rule}`。";
    RULE_NOT_FORGOTTEN: "The rule counts no more in this session; it could not be taken from the file: {why}.", "规则在本次会话不再生效，但无法从文件中移除：{why}。";
    TRUST_NEW: "Avocet has not worked here before.", "Avocet 还没有在这里工作过。";
    TRUST_CHANGED: "You trusted this folder, but files in it that can steer programs are new or have changed.", "您曾信任此目录，但其中可影响程序行为的文件有新增或改动。";
    TRUST_IS: "This folder is trusted now.", "此目录目前受信任。";
    TRUST_IS_NOT: "This folder is not trusted now.", "此目录目前不受信任。";
    TRUST_GIVEN: "This folder is trusted from now on.", "从现在起信任此目录。";
    TRUST_SETTINGS: "The project's own settings count from the next start.", "项目自身的设置从下次启动起生效。";
    TRUST_HELD_BACK: "This folder is not trusted: every program waits for your yes, and the project's settings do not count.", "此目录不受信任：每个程序都需您确认，项目设置不生效。";
    TRUST_HOW: "`/trust` asks again.", "输入 `/trust` 可重新选择。";
    TRUST_HOW_HEADLESS: "`--trust {folder}` trusts it for this run.", "用 `--trust {folder}` 可在本次运行中信任它。";
    TRUST_NOT_KEPT: "The answer holds for this session only; it could not be saved: {why}.", "此选择只在本次会话有效，保存失败：{why}。";
    TRUST_FIRST: "`{line}` was not run: say first whether this folder is trusted.", "`{line}` 没有运行：请先决定是否信任此目录。";
    NO_TOOL: "There is no tool `{tool}`.", "没有名为 `{tool}` 的工具。";
}
