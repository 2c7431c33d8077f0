//! Sentences of `acp`.

words! { "acp":
    FILE_REFUSED: "it answered with an error", "它返回了错误";
    FILE_LATE: "it did not answer within {seconds} s", "它没有在 {seconds} 秒内应答";
    NOT_ABSOLUTE: "`{folder}` is not an absolute path.", "`{folder}` 不是绝对路径。";
    TOO_MANY: "At most {most} sessions are open at once.", "最多同时打开 {most} 个会话。";
    TOO_FAST: "Too many messages are waiting in this session.", "此会话中等待的消息过多。";
    NOT_OPENED: "The session could not be opened: {why}", "无法打开会话：{why}";
    ENDED: "it ended", "会话已结束";
    ONE_PROMPT: "A prompt is running in this session. Wait for its end, or cancel it.", "此会话中已有一条消息在处理。请等待其结束，或取消它。";
    NOT_HERE: "`/{name}` does not work in an editor.", "`/{name}` 不能在编辑器中使用。";
    NO_AUDIO: "Avocet takes text, images and files, and no sound.", "Avocet 接受文字、图片和文件，不接受声音。";
    NO_OP: "There is no op `{name}`, or its fields are wrong. See `avocet serve --schema`.", "没有操作 `{name}`，或其字段有误。参见 `avocet serve --schema`。";
    NO_PROMPT: "The prompt is empty.", "消息为空。";
    ONLY_CHOICES: "The editor can show choices only. Ask with choices, or ask in a message.", "编辑器只能显示选项。请提供选项，或在消息中提问。";
}
