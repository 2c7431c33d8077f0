//! Sentences about saving sessions.

words! { "store":
    NOT_SAVED: "This conversation cannot be saved right now: {why} It continues in memory and saving is retried; `/export` writes it elsewhere.", "目前无法保存这段对话：{why} 对话会留在内存中继续，并会再次尝试保存；也可以用 `/export` 写到别处。";
    SAVED_AGAIN: "The conversation is saved again, including everything since.", "对话已恢复保存，期间的内容也一并保存了。";
    RECOVERED: "The file of saved conversations was damaged and moved to `{aside}`; {sessions} conversations with {events} entries were recovered from it.", "保存对话的文件已损坏，现移到 `{aside}`；从中恢复了 {sessions} 段对话，共 {events} 条记录。";
    RECOVERED_REMOVED: "The file of saved conversations was damaged and moved to `{aside}`; {sessions} conversations with {events} entries were recovered from it. Only the newest damaged files are kept; older ones removed: {removed}.", "保存对话的文件已损坏，现移到 `{aside}`；从中恢复了 {sessions} 段对话，共 {events} 条记录。只保留最近的损坏文件，已删除较旧的 {removed} 个。";
    PUT_BACK: "The file of saved conversations was missing. Everything was written to `{file}` again.", "保存对话的文件不见了，已将其全部内容重新写入 `{file}`。";
    REPLACED: "`{file}` was replaced by another file. This conversation goes on in it.", "`{file}` 被换成了另一个文件，本次对话将继续写入其中。";
    REPLACED_ASIDE: "`{file}` was replaced by another file, in which this conversation goes on. What had been saved before is in `{aside}`.", "`{file}` 被换成了另一个文件，本次对话将继续写入其中；此前保存的内容在 `{aside}`。";
    OF_FILE: "`{file}`: {why}", "`{file}`：{why}";
    NEWER: "`{file}` was written by a newer Avocet. Update this one to use it.", "`{file}` 由更新版本的 Avocet 写成。请先升级再使用。";
    DAMAGED: "`{file}` is damaged, and another window has it open. Close that window and restart.", "`{file}` 已损坏，且正被另一个窗口打开。请关闭那个窗口后重新启动。";
    NO_SESSION: "There is no saved conversation `{id}`.", "没有保存过编号为 `{id}` 的对话。";
    SEVERAL: "Several saved conversations begin with `{id}`. Type more of the id.", "有多段对话的编号以 `{id}` 开头，请多输入几位。";
    HELD: "The conversation `{id}` is open in another window.", "对话 `{id}` 正在另一个窗口中打开。";
    NOTHING_THERE: "It no longer exists.", "该内容已经不在了。";
    TOO_LONG: "It is too long to be saved.", "内容过长，无法保存。";
    DISK: "Disk error: {why}.", "磁盘错误：{why}。";
    FULL: "The disk is full.", "磁盘已满。";
    READ_ONLY: "The disk is read-only.", "磁盘不可写。";
    CANNOT_OPEN: "The file cannot be opened.", "无法打开该文件。";
    BUSY: "Another window has been writing for too long.", "另一个窗口写入时间过长。";
}
