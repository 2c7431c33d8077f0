//! Words of `agent`: what a turn says about itself.

words! { "agent":
    LIMIT: "{n} steps ran without a question, the limit for one turn. Shall it go on?", "已连续自动执行 {n} 步，达到一轮的上限。要继续吗？";
    SAME_STEP: "The model proposes the same step for the third time: `{step}`. Shall it go on?", "模型第三次提出同样的步骤：`{step}`。要继续吗？";
    SAME_FAILURE: "`{program}` failed three times in a row. Shall it go on?", "`{program}` 连续失败了三次。要继续吗？";
    SKIPPED: "Not run: an earlier step of the same reply was not done.", "没有运行：同一回复中前面的步骤没有完成。";
    CANCELLED: "Not run: the turn was stopped.", "没有运行：这一轮已被停止。";
    DECLINED: "The user said no.", "用户拒绝了。";
    DECLINED_WORD: "The user said no: {word}", "用户拒绝了：{word}";
    EDITED: "The user ran this instead of `{step}`.", "用户改成了这一步，原来是 `{step}`。";
    CUT_BROKEN: "The answer broke off; what came of it was not acted on.", "回答中断了，其中的内容没有执行。";
    CUT_LENGTH: "The answer reached the server's limit of tokens and broke off. Ask for less at once, or raise `max_tokens`.", "回答达到服务器的长度上限而中断。请一次少要一些，或调大 `max_tokens`。";
    CUT_FILTERED: "The server's filter cut the answer off.", "回答被服务器的过滤器截断了。";
    NO_JSON: "The answer was not a JSON object.", "回答不是 JSON 对象。";
    NO_COMMANDS: "`data.commands` is empty.", "`data.commands` 是空的。";
}
