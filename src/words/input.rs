//! Words of `input`.

words! { "input":
    // The person's own editor.
    KEY_EDITOR: "Write in your own editor", "用自己的编辑器书写";
    NO_EDITOR: "No editor is named. Set `VISUAL` or `EDITOR`, for example `export EDITOR=nano`, and start again.", "没有指定编辑器。请设置 `VISUAL` 或 `EDITOR`（例如 `export EDITOR=nano`）后重新启动。";
    EDITOR_CUT: "The editor was ended with the program.", "编辑器随程序一同结束。";
    // The keys of vi.
    VIM_INSERT: "INSERT", "插入";
    VIM_NORMAL: "NORMAL", "普通";
    VIM_VISUAL: "VISUAL", "可视";
    VIM_ON: "The input has vi's keys from now on. Esc leaves writing, `/vim off` ends it.", "输入框已启用 vi 按键，下次启动仍然有效。按 Esc 退出插入模式，`/vim off` 关闭。";
    VIM_OFF: "The input has its plain keys again.", "输入框已恢复普通按键。";
    // The list of files.
    FILES_TITLE: "files", "文件";
    FILES_LOOKING: "looking", "查找中";
    FILES_CUT: "of the first {n}", "仅前 {n} 个";
    HINT_TAKE_FILE: "mention it", "引用";
    HINT_ENTER_FOLDER: "complete, or into the folder", "补全或进入目录";
    // Messages that wait.
    PLACE_QUEUE: "Keys: going through what is queued", "按键：查看排队消息时";
    KEY_QUEUE_EDIT: "Take it out and write on", "取出并继续修改";
    KEY_QUEUE_REMOVE: "Take it out", "删除这条";
    HINT_QUEUE_EDIT: "edit", "修改";
    HINT_QUEUE_REMOVE: "remove", "删除";
    QUEUE_ONE_MORE: "and 1 more", "另有 1 条";
    QUEUE_KEPT_ONE: "1 message that was still queued is kept. Enter in the empty input sends it, Up picks it; else it follows your next message.", "上次还在排队的 1 条消息已保留。在空输入框按回车发送，按上箭头选取；否则在你下一条消息之后发送。";
    QUEUE_KEPT: "{n} messages that were still queued are kept. Enter in the empty input sends them, Up picks one; else they follow your next message.", "上次还在排队的 {n} 条消息已保留。在空输入框按回车依次发送，按上箭头选取；否则在你下一条消息之后发送。";
    // Looking for what was sent before.
    SEARCH_LABEL: "find what you sent: ", "查找发送过的内容：";
    SEARCH_NONE: "nothing sent before holds this", "没有发送过包含它的内容";
    SEARCH_OLDEST: "nothing older", "没有更早的了";
    HINT_OLDER: "older", "更早";
    HINT_TAKE: "take it", "取用";
    HINT_AS_IT_WAS: "as it was", "恢复原样";
    KEY_SEARCH: "Look for what you sent before", "查找发送过的内容";
    KEY_OLDER: "An older one", "更早的一条";
    KEY_NEWER: "A newer one", "更新的一条";
    KEY_TAKE: "Take it into the input", "取用到输入框";
    KEY_AS_IT_WAS: "Leave the input as it was", "输入框恢复原样";
    PLACE_SEARCH: "Keys: looking for what you sent", "按键：查找发送过的内容时";
}
