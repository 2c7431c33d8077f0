//! Sentences of the input line.

words! { "input":
    // The user's editor.
    KEY_PASTE_IMAGE: "Paste the image in the clipboard", "粘贴剪贴板中的图片";
    KEY_EDITOR: "Edit in your own editor", "用外部编辑器编辑";
    NO_EDITOR: "No editor is configured. Set `VISUAL` or `EDITOR`, for example `export EDITOR=nano`, and restart.", "没有指定编辑器。请设置 `VISUAL` 或 `EDITOR`（例如 `export EDITOR=nano`）后重新启动。";
    EDITOR_CUT: "The editor was closed with the program.", "编辑器随程序一同结束。";
    // The keys of vi.
    VIM_INSERT: "INSERT", "插入";
    VIM_NORMAL: "NORMAL", "普通";
    VIM_VISUAL: "VISUAL", "可视";
    VIM_VISUAL_LINES: "VISUAL LINES", "可视行";
    VIM_ON: "Vim mode on, also at the next start. Esc for normal mode, `/vim off` to leave it.", "vi 键位已启用，下次启动仍然有效。按 Esc 进入普通模式，`/vim off` 关闭。";
    VIM_OFF: "Vim mode off.", "vi 键位已关闭。";
    // The list of files.
    FILES_TITLE: "files", "文件";
    FILES_CUT: "of the first {n}", "仅前 {n} 个";
    HINT_TAKE_FILE: "mention", "引用";
    HINT_ENTER_FOLDER: "complete or open folder", "补全或进入目录";
    // Queued messages.
    STEER_WITH_FILES: "A message with files or images waits for the end of the turn.", "带有文件或图片的消息会等到本轮结束后再发送。";
    PLACE_QUEUE: "Keys: in the queue", "按键：查看排队消息时";
    KEY_QUEUE_EDIT: "Remove it from the queue and edit it", "移出队列并继续修改";
    KEY_QUEUE_REMOVE: "Delete it", "删除这条";
    HINT_QUEUE_REMOVE: "remove", "删除";
    QUEUE_ONE_MORE: "and 1 more", "另有 1 条";
    DRAFT_KEPT: "The text in the input was not sent when Avocet last ended here; Ctrl-C clears it.", "输入框里是上次在此退出时尚未发送的文字，按 Ctrl-C 可清除。";
    QUEUE_KEPT_ONE: "1 queued message was restored. {send} on an empty input sends it, {up} edits it; otherwise it is sent after your next message.", "上次还在排队的 1 条消息已保留。在空输入框按 {send} 发送，按 {up} 选取；否则在你下一条消息之后发送。";
    QUEUE_KEPT: "{n} queued messages were restored. {send} on an empty input sends them, {up} edits one; otherwise they are sent after your next message.", "上次还在排队的 {n} 条消息已保留。在空输入框按 {send} 依次发送，按 {up} 选取；否则在你下一条消息之后发送。";
    // Searching sent messages.
    SEARCH_LABEL: "search sent messages: ", "查找发送过的内容：";
    SEARCH_NONE: "no sent message contains this", "没有发送过包含它的内容";
    SEARCH_NONE_KEPT: "none of the last {n} {n:message|messages} contains this", "最近的 {n} 条消息中没有包含它的";
    SEARCH_OLDEST_KEPT: "nothing older among the last {n} {n:message|messages}", "最近的 {n} 条消息中没有更早的了";
    SEARCH_OLDEST: "nothing older", "没有更早的了";
    HINT_OLDER: "older", "更早";
    HINT_TAKE: "use", "采用";
    HINT_AS_IT_WAS: "restore", "恢复原样";
    KEY_SEARCH: "Search your sent messages", "查找发送过的内容";
    KEY_OLDER: "Older match", "更早的一条";
    KEY_NEWER: "Newer match", "更新的一条";
    KEY_TAKE: "Copy it into the input", "填入输入框";
    KEY_AS_IT_WAS: "Restore the input", "输入框恢复原样";
    PLACE_SEARCH: "Keys: searching sent messages", "按键：查找发送过的内容时";
}
