//! Sentences of `import`.

words! { "import":
    SESSION_ROW: "{title} ({folder}; {turns} {turns:message|messages}, {steps} {steps:step|steps})", "{title}（{folder}；{turns} 条消息，{steps} 个步骤）";
    NOTHING: "No conversation of `{client}` was found in `{folder}`, and no settings.", "在 `{folder}` 中没有找到 `{client}` 的对话，也没有找到设置。";
    NOTHING_NEW: "`{client}` has nothing new: {count} {count:conversation was|conversations were} copied before.", "`{client}` 的 {count} 段对话之前都已导入。";
    TO_COPY: "Conversations to copy", "要导入的对话";
    KNOWN: "Copied before", "之前已导入";
    SETTINGS_TO_COPY: "Settings to copy", "要导入的设置";
    SETTINGS_KEPT: "Not copied, because you have set it yourself", "你已自行设置，不会导入";
    SETTINGS_IN_PLACE: "Used where they are, and not copied: {names}", "直接使用原处的设置，不导入：{names}";
    SETTINGS_UNUSED: "Settings without a meaning here: {names}", "在这里没有意义的设置：{names}";
    SETTINGS_UNREAD: "Settings in `{file}`: {why}", "`{file}` 中的设置：{why}";
    NOT_VALID: "it is not valid TOML or JSON", "不是有效的 TOML 或 JSON";
    SETTINGS_ASK: "Write {count} {count:setting|settings} into `{file}`?", "把 {count} 项设置写入 `{file}`？";
    SETTINGS_DONE: "Wrote {count} {count:setting|settings} into `{file}`.", "已把 {count} 项设置写入 `{file}`。";
    NOT_COPIED: "Not copied", "不会导入的内容";
    LOST_UNREAD: "{count} {count:line or part|lines or parts} that cannot be read", "无法读取的行或部分：{count}";
    LOST_REASONING: "{count} {count:piece|pieces} of reasoning, which only its own model can use", "只有原模型能用的思考内容：{count}";
    LOST_IMAGES: "{count} {count:image or file|images or files}", "图片或文件：{count}";
    LOST_SUBAGENTS: "{count} {count:line|lines} of subagents", "子代理的记录：{count} 行";
    LOST_LONG: "{count} {count:text|texts} beyond the limit, as far as they are", "超出长度限制而截断的文本：{count}";
    LOST_FILES: "{count} {count:file|files} above {mib} MiB, or unreadable", "超过 {mib} MiB 或无法读取的文件：{count}";
    ASK: "Copy {count} {count:conversation|conversations} into the saved ones?", "把这 {count} 段对话导入已保存的对话？";
    NEEDS_YES: "Nothing was copied: without a terminal, `--yes` says that it may be.", "没有导入任何内容：没有终端时，请用 `--yes` 确认。";
    NOT_WANTED: "Nothing was copied.", "没有导入任何内容。";
    DONE: "Copied {count} {count:conversation|conversations}. `avocet resume ID` goes on with one.", "已导入 {count} 段对话。用 `avocet resume ID` 可继续其中一段。";
    UNSAVED: "`{id}` could not be saved: {why}", "无法保存 `{id}`：{why}";
    DATABASE_UNKNOWN: "Conversations in opencode's database, whose form is not known", "opencode 数据库中的对话（格式未知）";
    DATABASE_UNREAD: "Conversations in opencode's database, which cannot be read: {why}", "无法读取 opencode 数据库中的对话：{why}";
}
