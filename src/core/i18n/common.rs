//! Sentences that several areas share.

words! { "common":
    HINT_EDIT: "edit", "修改";
    SETTINGS: "Settings", "设置";
    INDENTED_WHY: "  {why}", "  {why}";
    ABOUT_IN_USE: "{about} (in use)", "{about}（当前使用）";
    ALL_KEYS: "All keys, searchable", "所有按键，可搜索";
    A_BOOLEAN: "true or false", "true 或 false";
    A_LIST: "a list", "列表";
    A_STRING: "a string", "字符串";
    BOT: "bot", "助手";
    CONTINUE_ASK: "Continue?", "继续吗？";
    FILES: "{n} files", "{n} 个文件";
    FOLDER: "folder", "目录";
    IN_USE: "in use", "当前使用";
    INSTRUCTIONS: "project instructions", "项目说明";
    INTERRUPTED: "interrupted, outcome unknown", "被中断，结果未知";
    IS_FOLDER: "`{path}` is a folder.", "`{path}` 是目录。";
    LINES: "{n} lines", "{n} 行";
    MODE_ASK: "ask", "询问";
    MODE_ASK_ABOUT: "Steps that do more than read ask.", "超出读取的步骤都会询问。";
    MODE_EDITS: "accept edits", "接受修改";
    MODE_EDITS_ABOUT: "Changes of files in this folder run without asking, and `mkdir`, `mv`, `cp`, `rm` and formatters where they can be undone; everything else asks.", "本目录内的文件修改直接执行，可撤销的 `mkdir`、`mv`、`cp`、`rm` 和格式化工具也直接执行，其余步骤仍会询问。";
    MODE_AUTO: "auto", "自动";
    MODE_AUTO_ABOUT: "What stays inside the sandbox runs without asking, with the network closed; what leaves it, needs credentials or cannot be undone asks.", "沙盒内的步骤直接执行，网络关闭；离开沙盒、需要凭据或无法撤销的步骤仍会询问。";
    MODE_PLAN: "plan", "计划";
    MODE_PLAN_ABOUT: "The model only reads, and ends with a plan that you accept, edit or refuse.", "模型只读取，最后给出计划，由你接受、修改或拒绝。";
    MODEL: "model", "模型";
    SCRIPT_ASKS: "The script asks: {text}", "脚本提问：{text}";
    AVOCET_ASKS: "Avocet asks: {text}", "Avocet 提问：{text}";
    MODEL_ASKS: "The model asks: {text}", "模型提问：{text}";
    MODEL_TITLE: "Model", "模型";
    NOT_ENCRYPTED: "not encrypted", "未加密";
    NOT_SAVED: "not saved", "未保存";
    NOT_WRITTEN: "{file} could not be written: {why}.", "{file} 无法写入：{why}。";
    NO_PROBLEMS: "{file}: no problems found.", "{file}：没有发现问题。";
    ONE_FILE: "1 file", "1 个文件";
    ONE_LINE: "1 line", "1 行";
    PROGRAM: "program", "程序";
    NEAR: "Did you mean {near}?", "是不是想输入 {near}？";
    PROVIDER: "provider", "服务商";
    QUIT: "Quit", "退出";
    NO: "No", "拒绝";
    REJECT: "reject", "拒绝";
    REPAIRING: "The reply could not be parsed; asking again: {fault}", "回复无法解析，正在重新请求：{fault}";
    REFUSED_RUN: "To run it yourself, type `!{line}`.", "要自行运行，请输入 `!{line}`。";
    REFUSED_LIFT: "To be asked instead, add `{rule}` to the setting `safety.lift`.", "若希望改为询问，请在设置 `safety.lift` 中加入 `{rule}`。";
    REFUSED_WAYS: "{run} {lift}", "{run}{lift}";
    RUN_TESTS: "Run the tests", "运行测试";
    SEARCH: "Search the conversation", "在对话中查找";
    SEARCHING: "searching", "查找中";
    SERVER: "server", "服务器";
    SESSIONS: "Saved conversations", "已保存的对话";
    STOPPED: "Stopped.", "已停止。";
    STOP_HERE: "stop here", "到此为止";
    STOP_TURN: "stop the turn", "停止本轮";
    STRINGS: "a list of strings", "字符串列表";
    TOKENS: "tokens", "词元";
    TOKEN_COUNTS: "{input} in, {output} out", "输入 {input}，输出 {output}";
    TOKEN_ESTIMATE: "about {input} in, {output} out", "输入约 {input}，输出约 {output}";
    TOKENS_CACHED: "{tokens}, {cached} from the cache", "{tokens}，其中缓存 {cached}";
    TOKENS_COST: "{tokens}, {cost}", "{tokens}，{cost}";
    NOT_REGULAR: "`{path}` is a pipe, a socket or a device: it has no content of its own.", "`{path}` 是管道、套接字或设备，本身没有内容。";
    TRUST_ASK: "If you trust {folder}, read-only commands run without asking and remembered rules apply; its instructions for agents apply from your next message, its settings at once.",
        "如果信任 {folder}，只读命令无需询问，已记住的规则生效；其中给智能体的说明从下一条消息起生效，项目设置立即生效。";
    TRUST_PARENT: "The parent folder is {folder}. Trusting it also trusts the folders in it, except those with files that steer programs.",
        "上级目录是 {folder}。信任它时，其下的目录也受信任，含有可影响程序行为的文件者除外。";
}
