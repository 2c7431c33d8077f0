//! Words of `linear`: full sentences, because they are read aloud.

words! { "linear":
    HELLO: "Avocet. The model is {model}. The folder is {folder}.", "Avocet。模型：{model}。目录：{folder}。";
    HELLO_HOW: "Type a message and press Enter. /help lists the commands, Ctrl-C stops, /exit leaves.", "输入消息后按回车。/help 列出命令，Ctrl-C 停止，/exit 退出。";
    STOPPING: "Stopping.", "正在停止。";
    STOPPED: "Stopped.", "已停止。";
    CLEARED: "A fresh conversation.", "已开始新的会话。";
    NEEDS_SCREEN: "That needs the full screen, which is off here.", "此功能需要全屏界面，这里没有。";
    QUEUED: "Waiting for the turn to end: {n}.", "等待本轮结束的消息：{n} 条。";
    REPAIRING: "The reply could not be read and is asked for once more: {fault}", "回复无法解析，正在重新请求：{fault}";
    RETRYING: "{why} Trying again, {attempt} of {of}.", "{why}正在重试，第 {attempt} 次，共 {of} 次。";
    CUT: "The answer was cut off here.", "回答到此中断。";
    SUGGESTION: "Suggestion {n}: {text}", "建议 {n}：{text}";
    RUNS: "Running, {tier}: {step}", "正在运行，{tier}：{step}";
    WORKED: "It worked.", "运行成功。";
    EXITED: "It ended with exit code {code}.", "已结束，退出码 {code}。";
    KILLED: "It ended without an exit code.", "已结束，没有退出码。";
    TIMED_OUT: "It took too long and was stopped.", "用时过长，已停止。";
    DECLINED: "Not run, as you said, {tier}: {step}", "按你的决定未运行，{tier}：{step}";
    CANCELLED: "Not run, {tier}: {step}", "未运行，{tier}：{step}";
    REFUSED: "Refused: {step}. The reason: {why}", "已拒绝：{step}。原因：{why}";
    MORE_OUTPUT: "  and {n} more lines", "  另有 {n} 行";
    ASKS: "A step asks, {n} of {of}, {tier}.", "步骤等待决定，第 {n} 个，共 {of} 个，{tier}。";
    STEP: "  It would run: {step}", "  将运行：{step}";
    PROGRAM: "  The program is {path}", "  程序：{path}";
    FOLDER: "  In the folder {folder}", "  目录：{folder}";
    BECAUSE: "  It asks because it {why} ({rule})", "  原因：{why}（{rule}）";
    PIECE: "  It holds, {tier}: {text}", "  其中包含，{tier}：{text}";
    BEHIND: "  Behind it in the list, {tier}: {step}", "  列表中随后，{tier}：{step}";
    RULE: "  Its rule is {rule}", "  规则：{rule}";
    MODEL_SAYS: "  The model says: {why}", "  模型说：{why}";
    PAUSE: "Shall it go on?", "继续吗？";
    CHOICE: "  {n}: {choice}", "  {n}：{choice}";
    HOW: "Type the number of a choice.", "请输入选项的编号。";
    HOW_GRAVE: "Type the number of a choice. This is high risk: only the word YES runs it.", "请输入选项的编号。这是高风险操作：只有输入 YES 才会运行。";
    NEEDS_YES: "This is high risk: only the word YES, in capitals, runs it.", "这是高风险操作：只有输入大写的 YES 才会运行。";
    NO_CHOICE: "That is no number of a choice. Nothing runs until you choose.", "没有这个编号的选项。在你选择之前什么都不会运行。";
    WORD: "What should the model know? Type it and press Enter.", "想对模型说什么？输入后按回车。";
    PICK_REJECT: "reject", "拒绝";
    PICK_WORD: "reject and say why", "拒绝并说明原因";
    PICK_STOP: "stop the turn", "停止本轮";
    PICK_RUN: "run once", "运行一次";
    PICK_ALL: "run it and all that is listed behind it", "运行它和列出的后续步骤";
    PICK_SESSION: "run, and don't ask again in this session", "运行，本次会话不再询问";
    PICK_PROJECT: "run, and don't ask again in this project", "运行，本项目不再询问";
    PICK_HALT: "stop here", "到此为止";
    PICK_GO_ON: "go on", "继续";
}
