//! Sentences of `acp`.

words! { "acp":
    NO_MCP: "The editor named {n} MCP {n:server|servers}. Avocet does not use those of an editor yet.", "编辑器指定了 {n} 个 MCP 服务器。Avocet 目前还不使用编辑器提供的服务器。";
    NOT_ABSOLUTE: "`{folder}` is not an absolute path.", "`{folder}` 不是绝对路径。";
    TOO_MANY: "At most {most} sessions are open at once.", "最多同时打开 {most} 个会话。";
    TOO_FAST: "Too many messages are waiting in this session.", "此会话中等待的消息过多。";
    NOT_OPENED: "The session could not be opened: {why}", "无法打开会话：{why}";
    ENDED: "it ended", "会话已结束";
    ONE_PROMPT: "A prompt is running in this session. Wait for its end, or cancel it.", "此会话中已有一条消息在处理。请等待其结束，或取消它。";
    NOT_HERE: "`/{name}` does not work in an editor.", "`/{name}` 不能在编辑器中使用。";
    NO_AUDIO: "Avocet takes text, images and files, and no sound.", "Avocet 接受文字、图片和文件，不接受声音。";
    NO_PROMPT: "The prompt is empty.", "消息为空。";
    ONLY_CHOICES: "The editor can show choices only. Ask with choices, or ask in a message.", "编辑器只能显示选项。请提供选项，或在消息中提问。";
}
